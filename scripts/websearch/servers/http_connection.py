"""Connections of the HTTP API, on http.server: time limits, a bound on threads, a clean stop.

Each connection has a thread of ThreadingHTTPServer, which reads requests one after the other and
answers them in this order. This module does not know what requests ask for: the server is given a
function that turns a Request into an Answer.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import os
import socket
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from websearch import command_line, common, http_client
from websearch.servers.http_messages import (
    MAX_FIELDS,
    MAX_HEAD,
    HttpError,
    Request,
    check_body,
    check_caller,
    error_answer,
    parse_header_line,
    parse_request_line,
    response_pieces,
    target_too_long,
)

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from websearch.servers.http_messages import Answer

MAX_CONNECTIONS = 64  # served at the same time, each by a thread; more get a 503
BACKLOG = 128  # connections that the system keeps until they are accepted
HEAD_TIMEOUT = 5.0  # seconds from a request's first byte to the end of its headers
BODY_TIMEOUT = 10.0  # seconds from the end of the headers to that of the body
IDLE_TIMEOUT = 15.0  # seconds that a connection may wait for its next request
SEND_TIMEOUT = 20.0  # seconds for a client to take a whole answer
LINGER_TIMEOUT = 1.0  # seconds for a client to take the answer before a connection is closed
STOP_TIMEOUT = 10.0  # seconds that running requests get after a signal to stop
LOOK_SECONDS = 0.1  # the server looks this often whether a signal came
# Requests that compute at the same time: one goes on while the thread of the other one wakes.
MAX_TURNS = 2
TURN_SECONDS = 0.005  # an answer from the store takes less than a tenth; a longer turn is slow work

# Phases of a connection: it waits for a request or reads its head; answers it; ends.
WAITING, WORKING, CLOSING = "waiting", "working", "closing"


class ApiHandler(BaseHTTPRequestHandler):
    """Reads the requests of one connection and sends the answers.

    The library's parser takes HTTP/0.9, bare line feeds, folded headers and any number of
    Content-Lengths, splits the request line at all white space (0xA0 counts, which is a part of "à"
    in UTF-8), and gives each read a timeout of its own. So handle_one_request is replaced; the loop
    over requests and the end of the connection are the library's. unread: what came and was not
    read yet.
    """

    server: ApiServer
    unread = b""
    disable_nagle_algorithm = True

    def handle(self) -> None:
        """Serve the connection, or refuse it if there are too many."""
        if self.server.phases[self.connection] == CLOSING:
            message = f"{MAX_CONNECTIONS} connections are being served."
            busy = HttpError(503, message, "Try again in a second.", {"Retry-After": "1"})
            self.send_answer(None, error_answer(busy), time.monotonic())
        else:
            super().handle()

    def handle_one_request(self) -> None:
        """Read a request and answer it. Sets close_connection if the connection ends with it."""
        self.close_connection = True
        request = None
        started = time.monotonic()
        try:
            if not self.wait_for_request():
                return
            started = time.monotonic()
            request = self.read_request()
            check_body(request)
            check_caller(request, self.server.settings)
            if request.takes_body():
                request.body = self.read_body(request)
            find_answer = functools.partial(self.server.answer, request)
        except HttpError as error:
            find_answer = functools.partial(error_answer, error)
        except OSError:  # the client has gone, or sent nothing for IDLE_TIMEOUT
            return
        if self.server.enter(self.connection, WORKING):
            with self.server.turns.turn():
                answer = find_answer()
            self.send_answer(request, answer, started)

    # ----- reading

    def set_time_limit(self, deadline: float) -> None:
        """Let the next read last until a deadline; raises TimeoutError if that has passed."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)

    def receive(self, deadline: float) -> bool:
        """Wait for more of what the client sends; return False if it sends no more.

        A socket's timeout is for one read. Setting it anew before each makes the deadline hold for
        a client that sends a byte now and then. Raises OSError.
        """
        self.set_time_limit(deadline)
        piece = self.connection.recv(http_client.READ_SIZE)
        self.unread += piece
        return bool(piece)

    def wait_for_request(self) -> bool:
        """Wait for the first byte of a request; return False if the client sends no more.

        Empty lines before it are skipped (RFC 9112, section 2.2) and do not extend the time limit.
        Raises OSError.
        """
        deadline = time.monotonic() + IDLE_TIMEOUT
        while not (request := self.unread.lstrip(b"\r\n")):
            self.unread = b""
            if not self.receive(deadline):
                return False
        self.unread = request
        return True

    def read_request(self) -> Request:
        """Return the request whose head comes next; raises HttpError and OSError.

        Each line is checked when it has come, so that another protocol (TLS, HTTP/0.9) is refused
        at once.
        """
        deadline = time.monotonic() + HEAD_TIMEOUT
        first = self.unread[:1]
        if not first.isalpha():  # TLS, for example, may never send the end of a line
            parse_request_line(first)
        line = self.read_line(deadline, MAX_HEAD)
        if not line.endswith(b"\n"):
            raise target_too_long()
        start = parse_request_line(line)
        headers: dict[str, list[str]] = {}
        size, count = len(line), 0
        while (line := self.read_line(deadline, MAX_HEAD - size)) != b"\r\n":
            size, count = size + len(line), count + 1
            if not line.endswith(b"\n"):
                message = f"The headers are longer than {MAX_HEAD} bytes."
                raise HttpError(431, message, "Send fewer or shorter ones.", closes=True)
            if count > MAX_FIELDS:
                raise HttpError(431, f"More than {MAX_FIELDS} header lines.", closes=True)
            name, value = parse_header_line(line)
            headers.setdefault(name, []).append(value)
        return Request(*start, headers)

    def read_line(self, deadline: float, room: int) -> bytes:
        """Return the next line with its end, or room bytes of it; raises HttpError and OSError."""
        while not (end := self.unread.find(b"\n", 0, room) + 1) and len(self.unread) < room:
            self.read_on(deadline, "head")
        return self.take(end or room)

    def read_body(self, request: Request) -> bytes:
        """Return the body of a request that check_body has passed; raises HttpError and OSError."""
        deadline = time.monotonic() + BODY_TIMEOUT
        if request.header("expect"):
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(request.header("content-length") or 0)
        while len(self.unread) < length:
            self.read_on(deadline, "body")
        return self.take(length)

    def read_on(self, deadline: float, part: str) -> None:
        """Read more of a request's head or body; raises HttpError and OSError."""
        try:
            has_more = self.receive(deadline)
        except TimeoutError:
            message = f"The request's {part} did not come in time."
            raise HttpError(408, message, closes=True) from None
        if not has_more:
            message = f"The request ends in the middle of its {part}."
            raise HttpError(400, message, closes=True)

    def take(self, size: int) -> bytes:
        """Return the next bytes of what came."""
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    # ----- answering

    def send_answer(self, request: Request | None, answer: Answer, started: float) -> None:
        """Send an answer, count it, and log it on stderr if verbose, without its headers."""
        status, content, headers = answer
        if not request or not request.keeps_alive() or self.server.stop_deadline:
            headers = {**headers, "Connection": "close"}
        head_only = bool(request and request.method == "HEAD")
        self.server.count_answer()
        sent = self.send_pieces(response_pieces((status, content, headers), head_only))
        if self.server.settings["verbose"]:
            what = f"{request.method} {request.target}" if request else "(no request)"
            taken = (time.monotonic() - started) * 1_000
            sys.stderr.write(f"{common.one_line(what, 500)} -> {status} in {taken:.0f} ms\n")
        if sent and "Connection" in headers:
            with contextlib.suppress(OSError):
                self.linger()
        elif sent:
            self.close_connection = not self.server.enter(self.connection, WAITING)

    def send_pieces(self, pieces: Iterable[bytes]) -> bool:
        """Send the pieces of an answer; return False if the client has gone, or took too long."""
        try:
            self.connection.settimeout(SEND_TIMEOUT)
            for piece in pieces:
                self.connection.sendall(piece)  # its timeout is for all of the piece
        except OSError:
            return False
        return True

    def linger(self) -> None:
        """Say that there are no more answers, and drop what the client still sends for a moment.

        A socket that is closed with unread data resets the connection, and the client may lose the
        answer. Raises OSError.
        """
        self.server.enter(self.connection, CLOSING)
        deadline = time.monotonic() + LINGER_TIMEOUT
        self.connection.shutdown(socket.SHUT_WR)
        self.set_time_limit(deadline)
        while self.connection.recv(http_client.READ_SIZE):
            self.set_time_limit(deadline)


class Turns:
    """Lets requests compute in the order in which they came, MAX_TURNS at a time.

    Without it, all threads want the interpreter at the same time. It goes to any of them, often to
    one that came late, so that one request of 100 takes five times the median or longer. A turn
    that lasts longer than TURN_SECONDS, because the request waits for the web or a page is read,
    ends by itself: the request goes on beside the others.
    """

    def __init__(self) -> None:
        self.guard = threading.Lock()
        self.waiting: collections.deque[Any] = collections.deque()  # a locked lock for each request
        self.running: dict[Any, float] = {}  # lock of a request -> when its turn ends

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, which is over when the block ends."""
        mine = threading.Lock()
        mine.acquire()
        with self.guard:
            self.waiting.append(mine)
            self.start_next()
            patience = TURN_SECONDS * len(self.waiting)  # until the turns before it have ended
        while not mine.acquire(timeout=patience):
            with self.guard:
                self.start_next()
        try:
            yield
        finally:
            with self.guard:
                self.running.pop(mine, None)
                self.start_next()

    def start_next(self) -> None:
        """Start those that wait, as far as there is room; guard must be held."""
        now = time.monotonic()
        self.running = {one: end for one, end in self.running.items() if end > now}
        while self.waiting and len(self.running) < MAX_TURNS:
            first = self.waiting.popleft()
            self.running[first] = now + TURN_SECONDS
            first.release()


class ApiServer(ThreadingHTTPServer):
    """Accepts connections, each served by a thread, until a signal stops it.

    answer: turns a request into an answer, and never raises. settings: those of check_caller, and
    verbose. phases: the phase of each connection that is open. stop_deadline: when running requests
    are left alone, on time.monotonic()'s clock; 0 while none has to stop.
    """

    daemon_threads = True  # a request that outlives STOP_TIMEOUT does not hold the process
    block_on_close = False  # serve waits for the threads itself, for a limited time
    request_queue_size = BACKLOG
    timeout = LOOK_SECONDS  # of handle_request
    allow_reuse_address = os.name == "posix"  # elsewhere it would let two servers share the port
    allow_reuse_port = False

    def __init__(
        self,
        family: int,
        address: tuple[Any, ...],
        answer: Callable[[Request], Answer],
        settings: dict[str, Any],
    ) -> None:
        """Listen on an address; raises OSError."""
        self.address_family = family
        self.answer = answer
        self.settings = settings
        self.stop_deadline = 0.0
        self.requests = 0
        self.turns = Turns()
        self.phases: dict[Any, str] = {}
        self.changed = threading.Condition()  # guards phases and requests
        super().__init__(address, ApiHandler)

    def server_bind(self) -> None:
        """Bind without HTTPServer's search for the machine's name, which may ask a DNS server."""
        socketserver.TCPServer.server_bind(self)

    def serve(self) -> None:
        """Serve until stop is called, and then until running requests are answered."""
        while not self.stop_deadline:
            self.handle_request()
        self.server_close()
        with self.changed:
            for connection, phase in self.phases.items():
                if phase == WAITING:
                    with contextlib.suppress(OSError):  # the client was faster
                        connection.shutdown(socket.SHUT_RDWR)
            left = self.stop_deadline - time.monotonic()
            self.changed.wait_for(lambda: not self.phases, timeout=left)

    def stop(self, number: int, _: Any) -> None:
        """Stop: the handler of SIGTERM and SIGINT. A second signal raises Stopped."""
        if self.stop_deadline:
            raise command_line.Stopped(number)
        self.stop_deadline = time.monotonic() + STOP_TIMEOUT

    # ----- connections

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; raises OSError."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(LOOK_SECONDS)  # out of descriptors, which ending connections give back
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start the thread of a connection: to be served, or refused if there are too many.

        In a flood of connections, the rest are closed without a word, so that threads stay few.
        """
        with self.changed:
            flood = len(self.phases) >= 2 * MAX_CONNECTIONS
            served = sum(phase != CLOSING for phase in self.phases.values())
            self.phases[request] = WAITING if served < MAX_CONNECTIONS else CLOSING
        if flood:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def enter(self, connection: Any, phase: str) -> bool:
        """Let a connection enter a phase; return False if the server is stopping."""
        with self.changed:
            self.phases[connection] = phase
            return not self.stop_deadline

    def shutdown_request(self, request: Any) -> None:
        """Close a connection and forget it."""
        with self.changed:
            self.phases.pop(request, None)
            self.changed.notify_all()
        super().shutdown_request(request)

    def count_answer(self) -> None:
        """Count an answer."""
        with self.changed:
            self.requests += 1
