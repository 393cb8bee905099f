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

searxng is your own server (SEARXNG_BASE_URL); google has answered plain clients with a block since
2025. Requests to an engine are at least GLSI_RATE_LIMIT (1s) apart, whichever process sends them;
after a block the engine rests for every process.

Exit codes: 0 found, 1 nothing found, 2 bad input, 3 SEARXNG_BASE_URL missing, 4 queue too long or
rate limit, 5 blocked, timeout, network or server fault, 70 defect of this script, 130 interrupted.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH leaves it out

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
