"""Work for a client that has gone stops: over HTTP, MCP over HTTP, at the desk, and over stdio.

The only module to notice work for nobody.
"""

from __future__ import annotations

import json
import re
import select
import time
import unittest
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.support import SLACK, SmallWebCase
from tests.ways_in.http_support import ServerProcess, request
from tests.ways_in.mcp_support import Client

if TYPE_CHECKING:
    import socket

READS = 70  # more than the connections that are served at the same time
CALL_SECONDS = 60  # that each call may take
PACE = 1.0  # seconds between two requests to a keyless engine


def threads_of(process: int) -> int:
    """The threads of a process."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.partition("Threads:")[2].split()[0])


@unittest.skipUnless(Path("/proc/self/status").exists(), "threads are counted in /proc")
class ClientsThatLeave(SmallWebCase):
    def setUp(self) -> None:
        super().setUp()
        self.variables = {
            **self.environment_of(self.server.url, ""),
            "GLSI_DB_PATH": self.store,
            "GLSI_RATE_LIMIT": f"{PACE}s",
        }
        self.api = ServerProcess(**self.variables)
        self.addCleanup(self.api.stop)
        self.api.fetch("/health")
        self.threads = threads_of(self.api.process.pid)

    def leave(self, count: int, data: bytes) -> None:
        """Send a request on each of several connections; leave when they have begun to work.

        In each, "#" becomes another digit, so the questions differ.
        """
        clients: list[socket.socket] = []
        for number in range(count):
            clients.append(self.api.connect())
            clients[-1].sendall(data.replace(b"#", b"%d" % (number % 10)))
        deadline = time.monotonic() + SLACK
        while not self.server.requests and time.monotonic() < deadline:
            time.sleep(0.01)
        for client in clients:
            client.close()

    def assert_idle(self) -> None:
        """The work ends long before the time of its calls, and others are answered meanwhile."""
        deadline = time.monotonic() + CALL_SECONDS / 3
        while threads_of(self.api.process.pid) > self.threads:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertEqual(self.api.fetch("/health").status, 200)

    def test_pages_that_hang_are_waited_for_no_longer(self) -> None:
        url = quote(f"{self.server.url}/site/slow/hang")
        target = f"/read?url={url}&timeout={CALL_SECONDS}&page_timeout={CALL_SECONDS}"
        self.leave(READS, request(target))
        self.assert_idle()
        self.server.clear()
        self.leave(1, request(target, "GET", "Accept: text/html"))
        self.assert_idle()

    def test_many_readers_of_a_large_page_leave_others_room(self) -> None:
        # Large enough to be worked on when its clients leave, and ended soon on a busy machine.
        url = quote(f"{self.server.url}/site/huge/megabyte")
        target = f"/read?url={url}&timeout={CALL_SECONDS}&page_timeout=30"
        clients = [self.api.connect() for _ in range(READS - 10)]
        for client in clients:
            client.sendall(request(target))
        self.assertEqual({self.api.fetch("/health").status for _ in range(5)}, {200})
        unanswered = [one for one in clients if not select.select([one], [], [], 0)[0]]
        self.assertGreater(len(unanswered), len(clients) // 2)
        for client in clients:
            client.close()
        self.assert_idle()

    def test_engines_are_not_asked_any_more(self) -> None:
        arguments = {"query": "python #", "engine": "duckduckgo"}
        params = {"name": "web_search", "arguments": arguments, "_meta": {"progressToken": 1}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        body = json.dumps(message).encode()
        lines = ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        for name, data in {
            "api": request(f"/search?q=python+#&engine=duckduckgo&timeout={CALL_SECONDS}"),
            "desk": request("/?q=python+#&engine=duckduckgo", "GET", "Accept: text/html"),
            "mcp": request("/mcp", "POST", *lines) + body,
            "stream": request("/mcp", "POST", *lines, "Accept: text/event-stream") + body,
        }.items():
            self.server.clear()
            self.leave(6, data)
            with self.subTest(name):
                self.assert_idle()
                asked = [one for one in self.server.requests if re.match("/html|/lite", one.path)]
                self.assertLess(len(asked), 3)

    def test_a_cancelled_call_over_stdio_asks_no_engine_any_more(self) -> None:
        client = Client(self.variables)
        self.addCleanup(client.close)
        calls = [
            client.start_request(
                "tools/call",
                {"name": "web_search", "arguments": {"query": query, "engine": "duckduckgo"}},
            )
            for query in ("python", "sourdough", "coffee")
        ]
        for number in calls[1:]:
            params = {"requestId": number}
            client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
        self.assertEqual(client.receive()["id"], calls[0])
        deadline = time.monotonic() + 3 * PACE
        while time.monotonic() < deadline:
            self.assertTrue(client.is_alive())
            time.sleep(0.2)
        asked = [one for one in self.server.requests if re.match("/html|/lite", one.path)]
        self.assertEqual(len(asked), 1)


if __name__ == "__main__":
    unittest.main()
