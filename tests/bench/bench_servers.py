"""The servers: the start of the MCP server and its answers; the HTTP API at eight connections.

The MCP server's time is that from its start to the answer to initialize; tools/list follows, then
a call that needs no network. The bar: 1.8 times `uv run` of an empty script. /search is asked for
an answer that the store holds.
"""

from __future__ import annotations

import concurrent.futures
import functools
import http.client
import json
import statistics
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.bench.harness import Measure, Result, milliseconds, process_time

if TYPE_CHECKING:
    from tests.bench.harness import World

MCP_BAR = 1.8
EMPTY_SCRIPT = '# /// script\n# requires-python = ">=3.10"\n# dependencies = []\n# ///\n'
MCP_REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25"}),
    ("tools/list", {}),
    ("tools/call", {"name": "brave_web_search", "arguments": {"query": ""}}),
)
CONNECTIONS = 8
HTTP_REQUESTS, QUICK_REQUESTS = 4_000, 80
TARGETS = {"/health": "/health", "/search, kept": "/search?q=sourdough&engine=duckduckgo"}


def mcp_times(command: list[str], environment: dict[str, str]) -> list[float]:
    """Return the milliseconds until each of MCP_REQUESTS is answered, the first since the start."""
    times = []
    started = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the server has no pipes")
        for number, (method, params) in enumerate(MCP_REQUESTS):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            times.append((time.perf_counter() - started) * 1_000)
            if "result" not in answer:
                raise RuntimeError(answer)
            started = time.perf_counter()
        process.stdin.close()
    return times


def mcp_runs(where: World) -> list[tuple[list[float], float]]:
    """Return interleaved (times of the server, milliseconds of an empty script), for all rows."""

    def run() -> list[tuple[list[float], float]]:
        launcher = where.uv or [where.python]
        server = str(Path(__file__).resolve().parents[2] / "scripts/mcp_server.py")
        empty = process_time(
            [*launcher, where.written("empty.py", EMPTY_SCRIPT)], where.environment
        )
        runs = [
            (mcp_times([*launcher, server], where.environment), empty())
            for _ in range(where.pairs + 1)
        ]
        return runs[1:]  # the first one warms byte code and the file cache

    runs: list[tuple[list[float], float]] = where.kept("mcp", run)
    return runs


def mcp_start(where: World) -> Result:
    """Compare the time until initialize is answered with an empty script."""
    runs = mcp_runs(where)
    ratio = statistics.median(times[0] / empty for times, empty in runs)
    return Result(
        f"{statistics.median(times[0] for times, _ in runs):.1f} ms",
        f"{statistics.median(empty for _, empty in runs):.1f} ms",
        ratio,
        f"<= {MCP_BAR} x",
        ratio <= MCP_BAR,
    )


def mcp_request(where: World, number: int) -> Result:
    """Return the time of one of the requests that follow initialize."""
    return Result(f"{statistics.median(times[number] for times, _ in mcp_runs(where)):.1f} ms")


def http_requests(where: World, target: str) -> Result:
    """Return requests a second at CONNECTIONS connections, and how long one takes."""
    count = where.amount(HTTP_REQUESTS, QUICK_REQUESTS) // CONNECTIONS
    process = subprocess.Popen(
        where.script("http_server.py", "--port", "0"),
        env=where.environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    with process:
        try:
            line = process.stderr.readline().decode() if process.stderr else ""
            port = int(line.rpartition(":")[2])

            def work(requests: int) -> list[float]:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

                def ask() -> None:
                    connection.request("GET", target)
                    answer = connection.getresponse()
                    if answer.status != http.HTTPStatus.OK:
                        raise RuntimeError(answer.read()[:300])
                    answer.read()

                times = [milliseconds(ask) for _ in range(requests)]
                connection.close()
                return times

            work(1)  # the store has the answer from here on
            started = time.perf_counter()
            with concurrent.futures.ThreadPoolExecutor(CONNECTIONS) as pool:
                shares = pool.map(work, [count] * CONNECTIONS)
                times = sorted(elapsed for share in shares for elapsed in share)
            seconds = time.perf_counter() - started
        finally:
            process.terminate()
    slow = times[len(times) * 99 // 100]
    return Result(
        f"{len(times) / seconds:.0f}/s, median {statistics.median(times):.1f} ms",
        f"99 of 100 within {slow:.1f} ms",
    )


MEASURES = [
    Measure("mcp_server.py: start", mcp_start),
    Measure("mcp_server.py: tools/list", functools.partial(mcp_request, number=1)),
    Measure("mcp_server.py: a call", functools.partial(mcp_request, number=2)),
    *(
        Measure(f"http_server.py: {name}", functools.partial(http_requests, target=target))
        for name, target in TARGETS.items()
    ),
]
