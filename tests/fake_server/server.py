"""The server: listens, parses, records, routes, answers.

From a test:        with FakeServer() as server: ... server.url ... server.requests
As a program:       python3 tests/fake_server/server.py [--port N] [--local-links]
                    prints its address on one line, then serves until SIGTERM or SIGINT
Other processes:    GET /__requests lists what was received, DELETE /__requests forgets it

Each provider is a module with ROUTES, which is found by itself; its key picks a plan or a fault
(faults.py). A second port, the foreign one, takes part in the fault `redirect`: it records and
answers 200.

With local_links results lead to pages on the same server instead of hosts that do not exist:
local_links.py says how, and how a query makes some of these pages fail; small_web.py serves them.
The variables that the scripts need for this: small_web_environment in tests/support.py. As a proxy
the server answers with the pages of documents under their own addresses. With limits the engines
refuse what comes faster than their own rules say (open_sources.py).
"""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # Run by its path: start once more as a module of its package, for the relative imports.
    sys.path[0] = str(Path(__file__).resolve().parents[2])
    runpy.run_module("tests.fake_server.server", run_name="__main__", alter_sys=True)
    sys.exit()

import argparse
import contextlib
import importlib
import pkgutil
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from http import HTTPStatus
from types import TracebackType

from . import docs_sites, gemini, small_web, stackexchange, wayback, website
from .connection import BadRequestError, Connection
from .local_links import leading_here
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, Stream, json_reply

HOST = "127.0.0.1"
BACKLOG = 512
MAX_RECORDED = 10_000
JOIN_SECONDS = 5.0
REQUESTS_PATH = "/__requests"

# Their answers stay as they are, and come last: the first two lead here themselves or are streams,
# the addresses of the others are patterns, those of the archive before those of the small web.
LAST = (gemini, stackexchange, wayback, small_web, docs_sites, website)


def found_routes() -> Iterator[Route]:
    """Yield the routes of every module here that has ROUTES; results lead to this server."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)], f"{__package__}."):
        if module.name != f"{__package__}.server":
            double = importlib.import_module(module.name)
            if double not in LAST:
                yield from map(leading_here, getattr(double, "ROUTES", ()))


ROUTES: tuple[Route, ...] = (*found_routes(), *(one for double in LAST for one in double.ROUTES))


class Listener:
    """One listening port. Every connection is served by a thread of its own."""

    def __init__(self, name: str, port: int, answer: Callable[[RecordedRequest], Answer]) -> None:
        self._name = name
        self._answer = answer
        self._records: deque[RecordedRequest] = deque(maxlen=MAX_RECORDED)
        self._lock = threading.Lock()
        self._connections: dict[threading.Thread, Connection] = {}
        self._closing = threading.Event()
        self._socket = socket.create_server((HOST, port), backlog=BACKLOG)
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://{HOST}:{self.port}"
        self._acceptor = threading.Thread(target=self._accept, name=f"{name} {port}", daemon=True)
        self._acceptor.start()

    @property
    def requests(self) -> list[RecordedRequest]:
        """What was received so far."""
        return list(self._records)

    def clear(self) -> None:
        """Forget what was received."""
        self._records.clear()

    def close(self) -> None:
        """Stop listening, end every connection, and wait for the threads."""
        if self._closing.is_set():
            return
        self._closing.set()
        # Closing a socket does not wake up a thread that waits in accept; a connection does.
        with contextlib.suppress(OSError), socket.create_connection((HOST, self.port), 1):
            pass
        self._acceptor.join(JOIN_SECONDS)
        self._socket.close()
        with self._lock:
            connections = dict(self._connections)
        for connection in connections.values():
            connection.abort()
        for thread in connections:
            thread.join(JOIN_SECONDS)

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._socket.accept()
            except ConnectionError:  # the client left before its turn came
                continue
            if self._closing.is_set():
                accepted.close()
                return
            connection = Connection(accepted, self._name, self.port)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            with self._lock:
                self._connections[thread] = connection
            thread.start()

    def _serve(self, connection: Connection) -> None:
        try:
            while self._serve_one(connection):
                pass
        except OSError:  # the client left, or the server is closing
            pass
        finally:
            connection.close()
            with self._lock:
                self._connections.pop(threading.current_thread(), None)

    def _serve_one(self, connection: Connection) -> bool:
        """Answer one request; False when the connection is to be closed."""
        try:
            request = connection.read_request()
        except BadRequestError as problem:
            connection.send_reply(_refusal(problem.status), None, keep_alive=False)
            return False
        if request is None:
            return False
        if request.path != REQUESTS_PATH:
            self._records.append(request)
        return _send(connection, request, self._answer(request))


class FakeServer:
    """The double of the outside world on two loopback ports; it listens once constructed."""

    def __init__(self, port: int = 0, local_links: bool = False, limits: bool = False) -> None:
        # What the next requests are answered with, before any route is looked for.
        self.answers: list[Answer] = []
        self._other = Listener("other", 0, _foreign_answer)
        self._state = ServerState(self._other.url, local_links, limits)
        self._main = Listener("main", port, self._answer)

    @property
    def url(self) -> str:
        """The address of the server, without a slash at the end."""
        return self._main.url

    @property
    def other_url(self) -> str:
        """The address of the foreign port."""
        return self._other.url

    @property
    def requests(self) -> list[RecordedRequest]:
        """What the server received so far."""
        return self._main.requests

    @property
    def other_requests(self) -> list[RecordedRequest]:
        """What the foreign port received so far."""
        return self._other.requests

    def clear(self) -> None:
        """Forget what both ports received; the counts of passing faults stay."""
        self._main.clear()
        self._other.clear()

    def close(self) -> None:
        """Close both ports and every connection; no thread is left."""
        self._main.close()
        self._other.close()

    def __enter__(self) -> "FakeServer":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _answer(self, request: RecordedRequest) -> Answer:
        if request.path == REQUESTS_PATH:
            return self._answer_record(request)
        if self.answers:
            return self.answers.pop(0)
        request = through_proxy(request)
        candidates = [route for route in ROUTES if route.matches(request)]
        for route in candidates:
            if not route.methods or request.method in route.methods:
                return route.handler(request, self._state)
        return _refusal(HTTPStatus.METHOD_NOT_ALLOWED if candidates else HTTPStatus.NOT_FOUND)

    def _answer_record(self, request: RecordedRequest) -> Answer:
        if request.method == "GET":
            received = sorted(self.requests + self.other_requests, key=lambda one: one.time)
            return json_reply([one.as_json() for one in received])
        if request.method == "DELETE":
            self.clear()
            return Reply(HTTPStatus.NO_CONTENT, b"")
        return _refusal(HTTPStatus.METHOD_NOT_ALLOWED)


def through_proxy(request: RecordedRequest) -> RecordedRequest:
    """A request that came to this server as a proxy: the pages of documents are in the small web.

    So http://HOST/PATH is the HTML of a document under its own address.
    """
    address = request.target.removeprefix("http://")
    if address == request.target or address not in small_web.DOCUMENTS:
        return request
    return replace(request, target=f"/web/{address}", path=f"/web/{address.partition('?')[0]}")


def _send(connection: Connection, request: RecordedRequest, answer: Answer) -> bool:
    """Send an answer; False when the connection is to be closed."""
    if not isinstance(answer, Reply | Stream):
        answer(connection)
        return False
    if answer.delay and connection.closed_within(answer.delay):
        return False
    wishes = (request.header("connection") or "").lower()
    # After its answer to CONNECT, a proxy's connection is no longer HTTP: it ends here.
    is_http = request.version == "HTTP/1.1" and request.method != "CONNECT"
    keep_alive = is_http and "close" not in wishes
    if isinstance(answer, Stream):
        connection.send_stream(answer)
    else:
        connection.send_reply(answer, request, keep_alive)
    return keep_alive


def _foreign_answer(request: RecordedRequest) -> Answer:
    return json_reply({"listener": "other", "path": request.path})


def _refusal(status: HTTPStatus) -> Reply:
    return json_reply({"detail": status.phrase}, status)


def main() -> int:
    """Serve until a signal asks to stop."""
    parser = argparse.ArgumentParser(description="Serve a local double of the search providers.")
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument(
        "--local-links", action="store_true", help="results lead to pages on this server"
    )
    arguments = parser.parse_args()
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with FakeServer(arguments.port, arguments.local_links) as server:
        print(server.url, flush=True)
        stopped.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
