#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Search the web without a key and print one JSON document.

Examples:
  keyless_search.py 'rust async runtimes'
  keyless_search.py 'rust async runtimes' --since month --site docs.rs --count 20
  keyless_search.py 'Brotteig' --country de --language de --md
  keyless_search.py 'alan turing' --engine wikipedia
  keyless_search.py 'rust async runtimes' --engine searxng

searxng is your own server (SEARXNG_BASE_URL); google has blocked plain clients since 2025. All
processes together send an engine at most one request per GLSI_RATE_LIMIT (default: 1s); after a
block, the engine is paused for all processes.

Exit codes: 0 found, 1 nothing found, 2 bad input, 3 SEARXNG_BASE_URL missing, 4 queue too long or
rate limit, 5 blocked, timeout, network or server error, 70 bug, 130 interrupted.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH omits it

from websearch.kit import end_process, run_command_line
from websearch.search.keyless import COMMANDS, RUN, to_markdown
from websearch.ways_in.terminal import to_terminal


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    script = {
        "name": "keyless_search.py",
        "description": __doc__,
        "commands": COMMANDS,
        "run": RUN,
        "to_markdown": to_markdown,
        "to_terminal": to_terminal,
    }
    return run_command_line(script, argv)


if __name__ == "__main__":
    end_process(main())
