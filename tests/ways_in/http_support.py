"""Shared by the tests of http_server.py: a server process, raw requests, answers."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import threading
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from tests.support import (
    PYTHON,
    SCRIPTS,
    CannedServer,
    FakeServerCase,
    clean_environment,
    new_folder,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

SCRIPT = "http_server.py"
TOKEN = "a-token-of-tests-0123456789"
DEAD_PROXY = "http://127.0.0.1:9"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]  # lower-case names
    document: Any


class ServerProcess:
    """http_server.py on a free port, as a process of its own."""

    def __init__(self, *arguments: str, script: str = SCRIPT, **variables: str) -> None:
        words = [*([] if script == SCRIPT else ["serve"]), "--port", "0", *arguments]
        self.process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / script), *words],
            env=clean_environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stderr is not None
        lines = iter(self.process.stderr.readline, b"")
        first = next((line for line in lines if b"listening on" in line), b"").decode()
        found = re.fullmatch(r"listening on (http://[^ ]+:(\d+))\n", first)
        assert found is not None, first
        self.url, self.port = found[1], int(found[2])
        self.errors: list[bytes] = []
        self.reader = threading.Thread(target=lambda: self.errors.extend(lines), daemon=True)
        self.reader.start()

    def fetch(self, target: str, method: str = "GET", **headers: str) -> Answer:
        """Send a request of its own connection; header names with _ for -."""
        answer = self.fetch_raw(target, method, **headers)
        return answer._replace(document=json.loads(answer.document) if answer.document else None)

    def fetch_raw(self, target: str, method: str = "GET", **headers: str) -> Answer:
        """Send a request, and return its body as text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, target, headers=sent)
            answer = connection.getresponse()
            body = answer.read()
        finally:
            connection.close()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, names, body.decode())

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    def talk(self, data: bytes, ends: bool = True) -> bytes:
        """Send bytes as they are, and return all that comes back until the connection ends.

        ends: say that there are no more bytes, at which the server stops work that takes long.
        """
        with self.connect() as client:
            client.sendall(data)
            if ends:
                client.shutdown(socket.SHUT_WR)
            return read_all(client)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, Any, str]:
        """Send a signal; return exit code, the document on stdout, what else stood on stderr."""
        self.process.send_signal(number)
        return self.wait()

    def wait(self) -> tuple[int, Any, str]:
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        with self.process.stdout, self.process.stderr:
            stdout = self.process.stdout.read()
            code = self.process.wait(timeout=30)
            self.reader.join(10)
        return code, json.loads(stdout), b"".join(self.errors).decode()


def read_all(client: socket.socket) -> bytes:
    """Return the bytes of a connection until the server ends or resets it."""
    data = b""
    try:
        while piece := client.recv(65_536):
            data += piece
    except ConnectionError:
        pass
    return data


def request(target: str = "/health", method: str = "GET", *lines: str) -> bytes:
    """A well-formed request with additional header lines."""
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def damaged(whole: bytes, seeded: random.Random, count: int) -> Iterator[bytes]:
    """Yield variants of whole with a few bytes replaced, added or lost; each fourth is noise."""
    for number in range(count):
        data = bytearray(whole)
        for _ in range(seeded.randint(1, 8)):
            place = seeded.randrange(len(data))
            data[place : place + seeded.randint(0, 3)] = seeded.randbytes(seeded.randint(0, 3))
        yield bytes(data) if number % 4 else seeded.randbytes(seeded.randint(1, 400))


def responses(data: bytes) -> list[Answer]:
    """Parse the responses of one connection; fails on anything else."""
    answers = []
    while data:
        head, _, data = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        found = re.fullmatch(r"HTTP/1\.1 (\d{3}) [A-Z][A-Za-z -]+", first)
        assert found is not None, first
        headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in lines)}
        length = int(headers.get("content-length", 0))
        body, data = data[:length], data[length:]
        assert len(body) == length, (head, body)
        answers.append(Answer(int(found[1]), headers, json.loads(body) if body else None))
    return answers


class ServerCase(FakeServerCase):
    """A test case with one server process, which finds the engines and pages of the fake server."""

    arguments: tuple[str, ...] = ()
    api: ServerProcess
    searxng: CannedServer
    folder: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.searxng = CannedServer()
        cls.addClassCleanup(cls.searxng.close)
        cls.folder = str(new_folder(cls))
        cls.api = cls.start()
        cls.addClassCleanup(lambda: cls.api.process.poll() is None and cls.api.stop())

    @classmethod
    def start(cls) -> ServerProcess:
        """Return a server process that finds them."""
        return ServerProcess(
            *cls.arguments,
            BRAVE_SEARCH_BASE_URL=cls.server.url,
            BRAVE_SEARCH_API_KEY=cls.key,
            SEARXNG_BASE_URL=cls.searxng.url,
            SERPER_BASE_URL=cls.server.url,
            GLSI_DB_PATH=f"{cls.folder}/cache.db",
            GLSI_RATE_LIMIT="1ms",
            WEB_SEARCH_ALLOW_PRIVATE=urlsplit(cls.server.url).netloc,
            HTTPS_PROXY=DEAD_PROXY,
            HTTP_PROXY=DEAD_PROXY,
            NO_PROXY="127.0.0.1,localhost",
        )

    def setUp(self) -> None:
        super().setUp()
        self.searxng.status, self.searxng.headers = 200, {}
        self.searxng.body = {"query": "x", "results": []}

    def page(self, path: str) -> str:
        return f"{self.server.url}/site/{path}"

    def let_searxng_find(self, *paths: str) -> None:
        self.searxng.body = {
            "query": "bread",
            "results": [
                {"url": self.page(path), "title": f"Title of {path}", "content": f"About {path}."}
                for path in paths
            ],
        }

    def search(self, query: str, **params: Any) -> Answer:
        return self.api.fetch("/search?" + urlencode({"q": query, **params}))

    def assert_error(self, answer: Answer, status: int, kind: str = "invalid_input") -> None:
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers["content-type"], "application/json")
        document = answer.document
        self.assertIs(document["ok"], False)
        self.assertEqual((document["status"], document["details"]["kind"]), ("error", kind))
        self.assertTrue(document["error"], document)
