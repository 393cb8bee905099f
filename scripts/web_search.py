#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Search the web, read the pages that are found, and print what answers, in one JSON document.

Examples:
  web_search.py 'how do tokio and async-std differ'
  web_search.py 'kernel release notes' -n 3 --since month --site kernel.org
  web_search.py 'sourdough hydration' --engine duckduckgo --format markdown
  web_search.py 'rust async runtimes' --no-pages
  web_search.py 'rust async runtimes' --engine brave,duckduckgo
  web_search.py brief 'how do tokio and async-std differ' 'is async-std maintained'
  web_search.py recall 'tokio scheduler'
  web_search.py cache stats

It works without a key. With --engine auto (default) the first of these answers: the one that
GLSI_SEARCH_ENGINE names, Brave, Google through Serper, your SearXNG (if its key or address is set),
DuckDuckGo. Answers and pages are stored in ~/.glsi/cache.db (GLSI_DB_PATH) and are used again for
24 hours; recall searches them offline.

web_search.py serve starts the HTTP API (http_server.py), web_search.py mcp the MCP server
(mcp_server.py).

Exit codes: 0 found, 1 nothing found, 2 bad input, 3 key missing or refused, 4 rate limit or quota,
5 blocked, timeout, network or server fault, 70 defect of this script, 130 interrupted.
"""

from __future__ import annotations

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH leaves it out

from websearch.command_line import end_process, run_command_line
from websearch.search.commands import COMMANDS, RUN, to_markdown

# First word that starts a server -> the command that runs it.
SERVERS = {"serve": "http_server", "mcp": "mcp_server"}


def main(argv: list[str] | None = None) -> int:
    """Run the command line, or hand over to a server; return the exit code."""
    words = sys.argv[1:] if argv is None else argv
    if words and words[0] in SERVERS:
        import importlib

        return int(importlib.import_module(SERVERS[words[0]]).main(words[1:]))
    script = {
        "name": "web_search.py",
        "description": __doc__,
        "commands": COMMANDS,
        "run": RUN,
        "to_markdown": to_markdown,
        "errors_on_stderr": True,  # for compatibility with GLSI, a Go program with these commands
    }
    return run_command_line(script, words)


if __name__ == "__main__":
    end_process(main())
