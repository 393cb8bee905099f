#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Search the web, read the pages found, and print the passages that answer the question as JSON.

Examples:
  web_search.py 'kernel release notes' -n 3 --since month --site kernel.org --md
  web_search.py brief 'how do tokio and async-std differ' 'is async-std maintained'
  web_search.py read https://example.org/article --query 'how to set a timeout'

It needs no key. With --engine auto (default), the first configured engine answers: the engines in
WEB_SEARCH_ENGINES, or else those with a key, your SearXNG, DuckDuckGo. Answers and pages are reused
for 24 hours and kept for 30 days in ~/.glsi/cache.db (GLSI_DB_PATH).

More commands: read, doctor, key, config, install, serve, mcp, completion (each has its --help).
Exit codes: 0 found, 1 nothing found, 2 bad input, 3 key missing or refused, 4 rate limit or quota,
5 blocked, timeout, network or server error, 70 bug, 130 interrupted.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH omits it

from websearch import kit
from websearch.search.commands import COMMANDS, RUN
from websearch.ways_in import front_door


def settings(program: str) -> str:
    """Return the settings and their sources as Markdown. program: the name of this program."""
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
        "errors_on_stderr": True,
    }
    return front_door.run(script, argv)


if __name__ == "__main__":
    kit.end_process(main())
