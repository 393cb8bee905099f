#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Fetch web pages and files and print their content as Markdown in one JSON document.

Examples:
  read_page.py https://example.org/manual --query 'how to set a timeout' --md
  read_page.py ./paper.pdf --pages 3-7
  read_page.py --urls-from urls.txt --skip-done pages.jsonl --output pages.jsonl

It reads HTML, PDF, Word, Excel, PowerPoint, OpenDocument and EPUB files, and omits navigation and
advertising. A path to a file begins with ./, ../, / or ~. Private addresses are refused, except
those in the environment variable WEB_SEARCH_ALLOW_PRIVATE=host:port,...

Exit codes: 0 a page was read, 1 the text or section was not found, 2 bad input, 5 no page could be
read (timeout, network, blocked, refused, no text, HTTP error), 70 bug, 130 interrupted.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH omits it

from websearch.kit import end_process, run_command_line
from websearch.reading.pages_document import to_markdown
from websearch.reading.read_list import COMMANDS, run_command, with_table_number
from websearch.ways_in.terminal import for_saving, to_terminal


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    words = with_table_number(sys.argv[1:] if argv is None else argv)
    script = {
        "name": "read_page.py",
        "description": __doc__,
        "commands": COMMANDS,
        "run": {"read": run_command},
        "to_markdown": for_saving(to_markdown, words),
        "to_terminal": to_terminal,
    }
    return run_command_line(script, words)


if __name__ == "__main__":
    end_process(main())
