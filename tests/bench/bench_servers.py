"""The servers: the start of the MCP server and its answers; the HTTP API at 32 connections.

usage: bench_servers.py [--only WORD] [--pairs N] [--python PATH] [--quick]

The bars: `uv run` of the MCP server answers initialize within 1.6 times `uv run` of an empty
script; 99 of 100 HTTP requests take less than 3 times the median, also beside other work.
"""

from __future__ import annotations

import functools
import re
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.bench import bench_http, bench_mcp
from tests.bench.harness import Measure, Result, main, output_of

if TYPE_CHECKING:
    from tests.bench.harness import World

HTTP_REQUESTS, QUICK_REQUESTS = 30_000, 2_000


class McpRuns(NamedTuple):
    """Milliseconds of each run: of the server to each of bench_mcp.REQUESTS, and of the other."""

    served: list[list[float]]
    empty: list[float]


def mcp_runs(where: World, launcher: list[str]) -> McpRuns:
    """Return interleaved runs of the MCP server and of an empty script, the same for all rows."""

    def run() -> McpRuns:
        empty = where.written("empty.py", bench_mcp.EMPTY_SCRIPT)
        server = str(bench_mcp.ROOT / "scripts/mcp_server.py")
        pairs = [
            (
                bench_mcp.served([*launcher, server], where.environment),
                bench_mcp.elapsed([*launcher, empty], where.environment),
            )
            for _ in range(where.pairs + 1)
        ][1:]  # the first one warms byte code and the file cache
        return McpRuns([mine for mine, _ in pairs], [other for _, other in pairs])

    runs: McpRuns = where.kept(" ".join(launcher), run)
    return runs


def mcp_start(where: World, by_uv: bool) -> Result:
    """Compare the time until initialize is answered with an empty script."""
    launcher = where.uv if by_uv else [where.python]
    if not launcher:
        return Result("uv is not installed")
    runs = mcp_runs(where, launcher)
    ratio = statistics.median(
        mine[0] / other for mine, other in zip(runs.served, runs.empty, strict=True)
    )
    return Result(
        f"{statistics.median(mine[0] for mine in runs.served):.1f} ms",
        f"{statistics.median(runs.empty):.1f} ms",
        ratio,
        f"<= {bench_mcp.BAR_RATIO} x" if by_uv else "",
        ratio <= bench_mcp.BAR_RATIO if by_uv else None,
    )


def mcp_request(where: World, number: int) -> Result:
    """Return the time of one of the requests that follow initialize."""
    runs = mcp_runs(where, where.uv or [where.python])
    return Result(f"{statistics.median(mine[number] for mine in runs.served):.1f} ms")


def http_rows(where: World) -> dict[str, list[str]]:
    """Return the cells of bench_http's table by its rows' names.

    It runs in a process of its own: its one thread sends all requests, so that whatever else this
    process keeps would be in the times.
    """

    def run() -> dict[str, list[str]]:
        requests = str(where.amount(HTTP_REQUESTS, QUICK_REQUESTS))
        program = str(Path(bench_http.__file__))
        table = output_of([where.python, program, "--requests", requests], where.environment)
        rows = re.findall(r"^\| (/.*?) \|(.*)\|$", table.decode(), re.MULTILINE)
        return {name: [cell.strip() for cell in cells.split("|")] for name, cells in rows}

    found: dict[str, list[str]] = where.kept("http", run)
    return found


def http_requests(where: World, row: str) -> Result:
    """Return requests a second, and how far the slow ones are from the median."""
    rate, median, slow, ratio, _within = http_rows(where)[row]
    return Result(
        f"{rate}/s, 99 of 100 within {slow} ms",
        f"median {median} ms",
        float(ratio),
        f"< {bench_http.BAR_RATIO} x",
        float(ratio) < bench_http.BAR_RATIO,
    )


MEASURES = [
    Measure("mcp_server.py: start, uv run", functools.partial(mcp_start, by_uv=True)),
    Measure("mcp_server.py: start", functools.partial(mcp_start, by_uv=False)),
    Measure("mcp_server.py: tools/list", functools.partial(mcp_request, number=1)),
    Measure("mcp_server.py: a call", functools.partial(mcp_request, number=2)),
    *(
        Measure(f"http_server.py: {row}", functools.partial(http_requests, row=row))
        for row in (target + load for load in bench_http.LOADS for target in bench_http.TARGETS)
    ),
]

if __name__ == "__main__":
    raise SystemExit(main(MEASURES))
