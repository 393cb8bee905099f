#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Serve search, page reading and the page store as a small HTTP API that speaks JSON.

Examples:
  http_server.py
  http_server.py --port 3000 --verbose
  http_server.py --host 0.0.0.0 --token-file ~/.config/web-search/token

  curl 'http://127.0.0.1:8080/search?q=golang+concurrency&count=3'
  curl 'http://127.0.0.1:8080/read?url=https://example.org/article'
  curl 'http://127.0.0.1:8080/recall?q=golang'
  curl -X DELETE 'http://127.0.0.1:8080/cache?q=golang+concurrency'

GET /openapi.json describes every path and parameter, GET /health reports that the server is up. It
listens only on this machine; any other address for --host needs --token-file, and requests then
need the header "Authorization: Bearer TOKEN". --timeout and --max-chars set the defaults for
requests (30 seconds, no limit). SIGTERM or Ctrl-C ends the server after running requests finish.

Exit codes: 0 stopped by a signal, 2 bad input (or the port is in use), 70 bug, 130 a second signal
(SIGINT or SIGTERM) before running requests were answered.
"""

import functools
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH omits it

from websearch.kit import end_process, run_command_line
from websearch.ways_in.http_api import COMMANDS, run_serve, to_markdown
from websearch.ways_in.terminal import to_terminal


def check_machine() -> "dict[str, object]":
    """Return the report of doctor, for the desk."""
    from websearch.machine.doctor import run_check

    return {**run_check({})}


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    script = {
        "name": "http_server.py",
        "description": __doc__,
        "commands": COMMANDS,
        "run": {"serve": functools.partial(run_serve, check_machine=check_machine)},
        "to_markdown": to_markdown,
        "errors_on_stderr": True,  # like serve of GLSI, a Go program
        "to_terminal": to_terminal,
    }
    return run_command_line(script, argv)


if __name__ == "__main__":
    end_process(main())
