"""Time the HTTP API: requests a second, and how long one takes, at many connections at once.

usage: bench_http.py [--requests N] [--connections N] [--python PATH]

Each connection sends its next request when the last one is answered; one process with one thread
sends them all, on the same machine, so that half of the time is the client's. /search is asked for
an answer of five pages that the store holds. The bar: 99 of 100 take less than 3 times the median.
"""

from __future__ import annotations

import argparse
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

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.fake_server.server import FakeServer  # noqa: E402  the path is set just above
from tests.support import CannedServer, clean_environment  # noqa: E402

BAR_RATIO = 3.0
PAGES = ("articles/sourdough", "articles/tides", "articles/bridges", "list/news", "docs/timeouts")
SEARCH = "/search?q=bread&engine=searxng"
# What is asked for, and its part of the requests: each is to be measured for more than a second,
# since shorter runs differ by a factor of two.
TARGETS = {"/health": ("/health", 1.0), "/search, kept": (SEARCH, 0.1)}


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


def main() -> int:
    """Print the table; the exit code is 0 whatever the numbers say: they are for reading."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=40_000)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--python", default=os.path.realpath(sys.executable))
    arguments = parser.parse_args()
    site, searxng = FakeServer(), CannedServer()
    urls = [f"{site.url}/site/{page}" for page in PAGES]
    found = [{"url": url, "title": "A page", "content": "What it says."} for url in urls]
    searxng.body = {"query": "bread", "results": found}
    with tempfile.TemporaryDirectory() as folder:
        environment = clean_environment(
            GLSI_DB_PATH=f"{folder}/cache.db",
            SEARXNG_BASE_URL=searxng.url,
            WEB_SEARCH_ALLOW_PRIVATE=site.url.removeprefix("http://"),
        )
        command = [arguments.python, str(ROOT / "scripts/http_server.py"), "--port", "0"]
        server = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        try:
            if server.stderr is None:
                raise RuntimeError("the server has no stderr")
            address = server.stderr.readline().decode().split()[-1]
            port = int(address.rpartition(":")[2])
            with urllib.request.urlopen(address + SEARCH) as answer:
                print(f"{arguments.connections} connections, {arguments.python}")
                print(f"a kept answer has {len(json.load(answer)['content'])} characters of text\n")
            print("| request | a second | median (ms) | 99 of 100 (ms) | ratio | within the bar |")
            print("|---|---|---|---|---|---|")
            for name, (target, part) in TARGETS.items():
                requests = int(arguments.requests * part)
                measure(port, target, requests // 10, arguments.connections)
                rate, times = measure(port, target, requests, arguments.connections)
                median, slow = statistics.median(times), times[len(times) * 99 // 100]
                within = "yes" if slow < BAR_RATIO * median else "NO"
                print(
                    f"| {name} | {rate:.0f} | {median:.1f} | {slow:.1f} | {slow / median:.2f} "
                    f"| {within} |"
                )
        finally:
            server.terminate()
            server.wait()
            searxng.close()
            site.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
