#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Fetch web pages and print their content as readable Markdown, in one JSON document.

Examples:
  read_page.py https://example.org/article
  read_page.py https://example.org/one https://example.net/two --page-timeout 5
  read_page.py https://example.org/manual --query 'how to set a timeout'
  read_page.py https://example.org/long --offset 8000
  read_page.py https://example.org/list --links --md
  read_page.py https://example.org/report.pdf --pages 3-7
  read_page.py ./paper.pdf --query 'sample size'
  read_page.py --urls-from urls.txt --skip-done pages.jsonl >> pages.jsonl

All pages are fetched at once, each with a time limit of its own. Navigation, advertising, cookie
notices and the like are left out. The text of PDF files is read page by page; Word, Excel,
PowerPoint, OpenDocument and EPUB files are read like pages. Files of this machine are read if they
are given as a path that begins with ./, ../, / or ~, or as a file: address. A list of addresses can
be as long as it likes; each of its pages becomes a line of JSON, and the same command goes on where
it ended. Private and local addresses are refused; the environment variable
WEB_SEARCH_ALLOW_PRIVATE=host:port,... names exceptions.

Exit codes: 0 at least one page was read, 2 bad input, 5 no page could be read (timeout, network,
blocked, refused, no text, HTTP error), 70 defect of this script, 130 interrupted.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH leaves it out

from websearch.kit import end_process, run_command_line
from websearch.reading.pages_document import to_markdown
from websearch.reading.read_list import COMMANDS, run_command
from websearch.ways_in.terminal import for_saving, to_terminal


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    script = {
        "name": "read_page.py",
        "description": __doc__,
        "commands": COMMANDS,
        "run": {"read": run_command},
        "to_markdown": for_saving(to_markdown, sys.argv[1:] if argv is None else argv),
        "to_terminal": to_terminal,
    }
    return run_command_line(script, argv)


if __name__ == "__main__":
    end_process(main())
