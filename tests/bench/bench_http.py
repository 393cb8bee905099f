"""Time the HTTP API: requests a second, and how long one takes, at many connections at once.

usage: bench_http.py [--requests N] [--connections N] [--python PATH]

Each connection sends its next request when the last one is answered; one process with one thread
sends them all, on the same machine, so that half of the time is the client's. /search is asked for
an answer of five pages that the store holds. It is measured alone, while another client has the
server read long pages one after the other (which computes in another thread of the server), and
while another process computes. The bar: 99 of 100 take less than 3 times the median.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.support import CannedServer, clean_environment  # noqa: E402  the path is set just above

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

BAR_RATIO = 3.0
PAGES = ("articles/sourdough", "articles/tides", "articles/bridges", "list/news", "docs/timeouts")
SEARCH = "/search?q=bread&engine=searxng"
# What is asked for, and its part of the requests: each is to be measured for more than a second,
# since shorter runs differ by a factor of two.
TARGETS = {"/health": ("/health", 1.0), "/search, kept": (SEARCH, 0.2)}
LONG_PAGE = "huge/six-megabytes"  # its content takes the server more than a second
READER = """
import sys, urllib.request
while True:
    urllib.request.urlopen(sys.argv[1]).read()
"""
# What runs beside the measured requests: a row's addition to the name -> the program of a process,
# which is given the URL by which the server reads LONG_PAGE.
LOADS = {"": "", ", while pages are read": READER, ", beside a busy process": "while True: pass"}


class Client:
    """One connection, with one request under way."""

    def __init__(self, port: int, target: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.data = f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        self.received = b""
        self.started = 0.0

    def send(self) -> None:
        """Send the request."""
        self.received = b""
        self.started = time.perf_counter()
        self.socket.sendall(self.data)

    def is_answered(self) -> bool:
        """Read what came; return whether the answer is whole. Raises RuntimeError if it is none."""
        self.received += self.socket.recv(262_144)
        head, ended, body = self.received.partition(b"\r\n\r\n")
        if not ended:
            return False
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(self.received[:500])
        return len(body) == int(head.partition(b"Content-Length: ")[2].split(b"\r\n")[0])


def measure(port: int, target: str, requests: int, connections: int) -> tuple[float, list[float]]:
    """Return (requests a second, the milliseconds of each request in ascending order)."""
    clients = [Client(port, target) for _ in range(connections)]
    waiting = selectors.DefaultSelector()
    times: list[float] = []
    started = time.perf_counter()
    for client in clients:
        waiting.register(client.socket, selectors.EVENT_READ, client)
        client.send()
    while len(times) < requests:
        for key, _ in waiting.select():
            client = key.data
            if client.is_answered():
                times.append((time.perf_counter() - client.started) * 1_000)
                client.send()
    rate = len(times) / (time.perf_counter() - started)
    waiting.close()
    for client in clients:
        client.socket.close()
    return rate, sorted(times)


@contextlib.contextmanager
def process(
    command: list[str], environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block ends; its first line, on stdout or stderr, can be read."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as running:
        try:
            yield running
        finally:
            running.terminate()


def last_word(running: subprocess.Popen[bytes]) -> str:
    """Return the last word of a program's first line: the address of a server."""
    if running.stdout is None:
        raise RuntimeError("the process has no stdout")
    return running.stdout.readline().decode().split()[-1]


def keep_answer(address: str, site: str, searxng: CannedServer) -> int:
    """Let the server keep the answer to SEARCH; return how many characters of text it has."""
    urls = [f"{site}/site/{page}" for page in PAGES]
    found = [{"url": url, "title": "A page", "content": "What it says."} for url in urls]
    searxng.body = {"query": "bread", "results": found}
    with urllib.request.urlopen(address + SEARCH) as answer:
        return len(json.load(answer)["content"])


def print_rows(address: str, long_page: str, load: str, arguments: argparse.Namespace) -> None:
    """Print the rows of a load: one for each target."""
    port = int(address.rpartition(":")[2])
    for name, (target, part) in TARGETS.items():
        requests = int(arguments.requests * part)
        with contextlib.ExitStack() as ends:
            if LOADS[load]:
                url = f"{address}/read?url={long_page}"
                ends.enter_context(process([arguments.python, "-c", LOADS[load], url]))
            measure(port, target, requests // 10, arguments.connections)
            rate, times = measure(port, target, requests, arguments.connections)
        median, slow = statistics.median(times), times[len(times) * 99 // 100]
        within = "yes" if slow < BAR_RATIO * median else "NO"
        print(
            f"| {name}{load} | {rate:.0f} | {median:.1f} | {slow:.1f} | {slow / median:.2f} "
            f"| {within} |",
            flush=True,
        )


def main() -> int:
    """Print the table; the exit code is 0 whatever the numbers say: they are for reading."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=40_000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--python", default=os.path.realpath(sys.executable))
    arguments = parser.parse_args()
    searxng = CannedServer()
    with contextlib.ExitStack() as ends:
        ends.callback(searxng.close)
        folder = ends.enter_context(tempfile.TemporaryDirectory())
        command = [arguments.python, str(ROOT / "tests/fake_server/server.py")]
        site = last_word(ends.enter_context(process(command)))
        environment = clean_environment(
            GLSI_DB_PATH=f"{folder}/cache.db",
            SEARXNG_BASE_URL=searxng.url,
            WEB_SEARCH_ALLOW_PRIVATE=site.removeprefix("http://"),
        )
        command = [arguments.python, str(ROOT / "scripts/http_server.py"), "--port", "0"]
        address = last_word(ends.enter_context(process(command, environment)))
        print(f"{arguments.connections} connections, {arguments.python}")
        kept = keep_answer(address, site, searxng)
        print(f"a kept answer has {kept} characters of text\n")
        print("| request | a second | median (ms) | 99 of 100 (ms) | ratio | within the bar |")
        print("|---|---|---|---|---|---|")
        for load in LOADS:
            print_rows(address, f"{site}/site/{LONG_PAGE}", load, arguments)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
