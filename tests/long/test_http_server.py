"""http_server.py against clients that take their time, and many requests on one process.

The only module to notice a server that slow clients fill.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

from tests.support import SLACK
from tests.ways_in.http_support import ServerCase, read_all, request, responses
from websearch.ways_in import http_connection as limits

REQUESTS, AT_ONCE = 3_000, 8
SOAK_CALLS = 1_000
# The idle connection has the file, its journal and an index; SQLite reuses the others.
STORE_FILES = 3 + 2 * AT_ONCE


class SlowClients(ServerCase):
    def test_one_that_takes_no_answer_is_dropped_and_others_are_served_meanwhile(self) -> None:
        with self.api.connect() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            client.settimeout(3 * limits.SEND_TIMEOUT)
            with self.assertRaises(ConnectionError):  # reset, while it still sends requests
                while True:
                    started = time.monotonic()  # of the last requests that the server has taken
                    client.sendall(request("/openapi.json") * 100)
                    self.assertEqual(self.api.fetch("/health").status, 200)
            # Its system may take one more piece some 7 s later, when it is asked whether it can.
            self.assertLess(time.monotonic() - started, 1.5 * limits.SEND_TIMEOUT + SLACK)


class HangingRequestCase(ServerCase):
    def start_hanging(self) -> socket.socket:
        """Begin a request for a page that never comes."""
        client = self.api.connect()
        url = quote(self.page("slow/hang"))
        client.sendall(request(f"/read?url={url}&page_timeout=60&timeout=60"))
        deadline = time.monotonic() + SLACK
        while not self.server.requests and time.monotonic() < deadline:
            time.sleep(0.01)
        return client


class FirstSignal(HangingRequestCase):
    def test_a_request_that_does_not_end_gets_a_503_within_the_limit(self) -> None:
        with self.start_hanging() as client:
            started = time.monotonic()
            code, document, _ = self.api.stop()
            taken = time.monotonic() - started
            [answer] = responses(read_all(client))
        self.assertEqual((code, document["ok"]), (0, True))
        self.assertEqual((answer.status, answer.headers["connection"]), (503, "close"))
        self.assertEqual(answer.document["details"]["kind"], "interrupted")
        self.assertGreater(taken, limits.STOP_TIMEOUT - 2)
        self.assertLess(taken, limits.STOP_TIMEOUT + SLACK)


class SecondSignal(HangingRequestCase):
    number: int = signal.SIGINT

    def test_ends_the_wait_for_a_running_request(self) -> None:
        with self.start_hanging():
            started = time.monotonic()
            self.api.process.send_signal(self.number)
            time.sleep(0.5)
            code, document, _ = self.api.stop(self.number)
            self.assertLess(time.monotonic() - started, 0.5 + SLACK)
        self.assertEqual((code, document["details"]["kind"]), (130, "interrupted"))


class SecondTermination(SecondSignal):
    number = signal.SIGTERM


class ProcessCase(ServerCase):
    """A test case that looks at the server's process."""

    def open_files(self) -> tuple[int, int]:
        """Return how many files of the store, and how many others, the server has open."""
        folder = Path(f"/proc/{self.api.process.pid}/fd")
        names = []
        for descriptor in folder.iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                names.append(os.readlink(descriptor))
        of_store = sum(".db" in name for name in names)
        return of_store, len(names) - of_store

    def resident(self) -> int:
        """Return the kilobytes of memory that the server holds."""
        with open(f"/proc/{self.api.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

    def threads(self) -> int:
        return len([*Path(f"/proc/{self.api.process.pid}/task").iterdir()])


@unittest.skipUnless(sys.platform == "linux", "reads /proc")
class Soak(ProcessCase):
    """SOAK_CALLS mixed calls of eight clients, each with a question or words of its own."""

    def call(self, number: int) -> None:
        """Search and read pages, ask again, recall, or forget; check the answer."""
        query = f"tides {number // 5}"
        kind = number % 5
        if kind in (0, 1):
            found = self.api.fetch(f"/search?q={quote(query)}&engine=searxng&timeout=60").document
            self.assertEqual((found["ok"], found["result_count"]), (True, 2), found)
            self.assertIn("sourdough", found["content"].lower())
        elif kind == 2:
            page = quote(self.page("articles/sourdough"))
            found = self.api.fetch(f"/read?url={page}").document
            self.assertIn("sourdough", found["pages"][0]["text"].lower())
        elif kind == 3:
            found = self.api.fetch("/recall?q=sourdough")
            self.assertIn(found.status, (200, 404), found)
        else:
            found = self.api.fetch(f"/cache?q={quote(query)}", "DELETE")
            self.assertEqual(found.status, 200, found)

    def test_leaves_memory_files_and_threads_bounded_and_each_answer_right(self) -> None:
        self.let_searxng_find("articles/tides", "articles/sourdough")
        self.call(0)
        before, threads = self.open_files()[1], self.threads()
        sizes = []
        for part in range(2):
            numbers = range(part * SOAK_CALLS // 2, (part + 1) * SOAK_CALLS // 2)
            with ThreadPoolExecutor(AT_ONCE) as pool:
                for future in [pool.submit(self.call, number) for number in numbers]:
                    future.result()
            sizes.append(self.resident())
        deadline = time.monotonic() + SLACK
        while self.threads() > threads and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertLessEqual(self.threads(), threads)
        of_store, others = self.open_files()
        self.assertLessEqual(others, before)
        self.assertLessEqual(of_store, STORE_FILES)
        self.assertLess(sizes[1], sizes[0] * 1.15)
        self.assertLess(sizes[1], 150_000)
        store = Path(self.folder, "cache.db")
        self.assertLess(store.stat().st_size + Path(f"{store}-wal").stat().st_size, 20_000_000)


@unittest.skipUnless(sys.platform == "linux", "reads /proc")
class ManyRequests(ProcessCase):
    def work(self, number: int) -> list[int]:
        """Send one client's requests, good and bad, some on connections of their own."""
        statuses = []
        connection = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=60)
        targets = (
            "/health",
            "/none",
            "/search?q=",
            "/search?q=flat&engine=searxng",
            "/recall?q=tides",
        )
        for turn in range(REQUESTS // AT_ONCE // 2):
            connection.request("GET", targets[(number + turn) % len(targets)])
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
            if turn % 7 == 0:
                connection.close()
        connection.close()
        return statuses

    def test_leave_memory_flat_and_no_descriptor_open(self) -> None:
        self.let_searxng_find("articles/tides")
        self.search("flat", engine="searxng")
        before = self.open_files()[1]
        sizes = []
        for _ in range(2):
            with ThreadPoolExecutor(AT_ONCE) as pool:
                statuses = [status for one in pool.map(self.work, range(AT_ONCE)) for status in one]
            self.assertEqual(set(statuses), {200, 400, 404})
            sizes.append(self.resident())
        deadline = time.monotonic() + SLACK
        while self.open_files()[1] > before and time.monotonic() < deadline:
            time.sleep(0.05)
        of_store, others = self.open_files()
        self.assertLessEqual(others, before)
        self.assertLessEqual(of_store, STORE_FILES)
        self.assertLess(sizes[1], sizes[0] * 1.1)
