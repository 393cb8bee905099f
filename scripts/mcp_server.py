#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Offer the scripts as MCP tools over standard input and output.

  mcp_server.py                                      serve one client until its end of input
  mcp_server.py tools                                list the tools and their arguments
  mcp_server.py call TOOL '{"query": "..."}'         run one tool and print its text

The arguments of call may also be @FILE, or - for standard input. Keys come from the environment or
from secrets.yaml, as for the scripts. Many clients do not pass their environment to a server, so
set the variables for this server in the client's configuration.

Protocol: MCP 2026-07-28 (server/discover, each request names its version) and, with initialize,
2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05. Each request may use a different version.

Exit codes of call: 0 found, 1 nothing found, 2 bad input, 3 key missing or refused, 4 rate limit
or quota, 5 blocked, timeout, network or server error, 70 bug, 130 interrupted.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))  # PYTHONSAFEPATH omits it

from websearch.kit import end_process
from websearch.ways_in import mcp_stdio


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    return mcp_stdio.main(__doc__ or "", argv)


if __name__ == "__main__":
    end_process(main())
