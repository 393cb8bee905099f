#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Search the web, read the pages that are found, and print what answers, in one JSON document.

Examples:
  web_search.py 'how do tokio and async-std differ'
  web_search.py 'kernel release notes' -n 3 --since month --site kernel.org
  web_search.py 'sourdough hydration' --engine duckduckgo --md
  web_search.py 'rust async runtimes' --engine brave,duckduckgo
  web_search.py brief 'how do tokio and async-std differ' 'is async-std maintained'
  web_search.py recall 'tokio scheduler'
  web_search.py read https://example.org/article --query 'how to set a timeout'
  web_search.py check draft.md
  web_search.py cache stats
  web_search.py doctor

It works without a key. With --engine auto (default) the first configured engine answers: those that
WEB_SEARCH_ENGINES names, else those whose key is set, your SearXNG, DuckDuckGo. Answers and pages
are stored in ~/.glsi/cache.db (GLSI_DB_PATH) and used again for 24 hours; recall searches them.

It is the front door: web_search.py doctor and web_search.py key are doctor.py, web_search.py
install is install.py, web_search.py serve the HTTP API and the pages for people, web_search.py mcp
the MCP server, web_search.py completion the shell's words (bash, zsh or fish). --urls prints the
addresses of the results, one a line; --open N opens the N-th in the browser.

check reports which quotations and numbers of a draft are in the pages that it cites. Its exit code
is 0 if all are; 1 if a quotation is altered, absent or unread, a number is missing, unread or
wrongly computed, a link is dead, there is nothing to check, or (with --strict) a number is
doubtful; 2 if there is no draft.

Exit codes: 0 found, 1 nothing found, 2 bad input, 3 key missing or refused, 4 rate limit or quota,
5 blocked, timeout, network or server fault, 70 defect of this script, 130 interrupted.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH leaves it out

from websearch import kit
from websearch.search.commands import COMMANDS, RUN
from websearch.ways_in import front_door


def settings(program: str) -> str:
    """Return the settings and where each comes from as Markdown; program: as it is called."""
    from websearch.machine.doctor import settings_markdown

    return settings_markdown(program)


def main(argv: list[str] | None = None) -> int:
    """Run the command line, or hand over to another command; return the exit code."""
    script = {
        "name": "web_search.py",
        "description": __doc__,
        "commands": COMMANDS,
        "run": RUN,
        "settings": settings,
        "errors_on_stderr": True,  # for compatibility with GLSI, a Go program with these commands
    }
    return front_door.run(script, argv)


if __name__ == "__main__":
    kit.end_process(main())
