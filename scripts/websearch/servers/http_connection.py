"""Connections of the HTTP API, on http.server: time limits, a bound on threads, a clean stop.

Each connection has a thread of ThreadingHTTPServer, which reads requests one after the other and
answers them in this order. This module does not know what requests ask for: the server is given a
function that turns an HttpRequest into an Answer.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import re
import socket
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from websearch import command_line, common, http_client
from websearch.servers.http_messages import (
    MAX_HEAD,
    MAX_TARGET,
    HttpError,
    HttpRequest,
    body_of,
    check_body,
    check_caller,
    error_answer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.servers.http_messages import Answer

MAX_CONNECTIONS = 64  # served at the same time, each by a thread; more get a 503
BACKLOG = 128  # connections that the system keeps until they are accepted
HEAD_TIMEOUT = 5.0  # seconds from a request's first byte to the end of its headers
BODY_TIMEOUT = 10.0  # seconds from the end of the headers to that of the body
IDLE_TIMEOUT = 15.0  # seconds that a connection may wait for its next request
SEND_TIMEOUT = 20.0  # seconds for a client to take a piece of an answer
LINGER_TIMEOUT = 1.0  # seconds for a client to take the answer before a connection is closed
STOP_TIMEOUT = 10.0  # seconds that running requests get after a signal to stop
LOOK_SECONDS = 0.1  # the server looks this often whether a signal came
# Both patterns are linear: no two neighbouring parts match the same byte.
TOKEN = rb"[!#$%&'*+.^_`|~\w-]+"  # RFC 9110, section 5.6.2: a method, or a header's name
REQUEST_LINE = rb"%s (?:/|https?:/|\*)[!-~\x80-\xff]* HTTP/[1-9]\.\d\r\n" % TOKEN
HEADER_LINE = rb"%s:[\t -~\x80-\xff]*\r\n" % TOKEN


class TimedSocket(io.RawIOBase):
    """What a client sends, until a deadline that holds for all reads together.

    A socket's own timeout is for one read: a client that sends a byte now and then never meets it.
    deadline: on time.monotonic()'s clock.
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.deadline = 0.0

    def readable(self) -> bool:
        """Return True: io.BufferedReader asks."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read what has come into a buffer; return its size, 0 at the end. Raises OSError."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


class RequestReader(io.BufferedReader):
    """Hands http.client the header lines of a request, and refuses those that it would let through.

    Those are bare line feeds, folded lines, blanks before the colon, control characters and heads
    of megabytes: two servers may read such a message differently (RFC 9112, section 11).
    room: bytes that the head may still have.
    """

    room = MAX_HEAD

    def request_line(self) -> bytes:
        """Return the first line of a request, with its letters percent-encoded; raises HttpError.

        Empty lines before it are skipped (RFC 9112, section 2.2). http.server splits the line at
        all white space, and 0xA0 counts, which is a part of "à" as curl sends it.
        """
        while (line := super().readline(MAX_TARGET + 1)) == b"\r\n":
            pass
        self.room = MAX_HEAD - len(line)
        if len(line) > MAX_TARGET:
            message = f"The request line is longer than {MAX_TARGET} bytes."
            raise HttpError(414, message, "Shorten the query.")
        if not re.fullmatch(REQUEST_LINE, line):
            message = f"This is not the first line of an HTTP request: {common.quoted(line)[1:]}."
            hint = "A request begins with a line such as: GET /search?q=words HTTP/1.1"
            raise HttpError(400, message, hint)
        return re.sub(rb"[\x80-\xff]", lambda match: b"%%%02X" % match[0][0], line)

    def readline(self, size: int | None = -1) -> bytes:  # noqa: ARG002  room is the limit
        """Return the next header line; raises HttpError."""
        line = super().readline(self.room + 1)
        self.room -= len(line)
        if self.room < 0:
            message = f"The headers are longer than {MAX_HEAD} bytes."
            raise HttpError(431, message, "Send fewer or shorter ones.")
        if not line:
            raise HttpError(400, "The request ends in the middle of its head.")
        if line != b"\r\n" and not re.fullmatch(HEADER_LINE, line):
            message = f"This is not a header line: {common.quoted(line)[1:]}."
            raise HttpError(400, message, "A header is Name: value.")
        return line


class ApiHandler(BaseHTTPRequestHandler):
    """Reads the requests of one connection and sends the answers."""

    server: ApiServer
    rfile: RequestReader
    protocol_version = "HTTP/1.1"
    default_request_version = request_version = "HTTP/1.1"  # HTTP/0.9 would get no headers
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Put the reader that checks lines and time in the place of the library's."""
        super().setup()
        self.rfile.close()
        self.stream = TimedSocket(self.connection)
        self.rfile = RequestReader(self.stream)

    def handle(self) -> None:
        """Serve the connection, or refuse it if there are too many."""
        if self.server.connections > MAX_CONNECTIONS:
            message = f"{MAX_CONNECTIONS} connections are being served."
            busy = HttpError(503, message, "Try again in a second.", {"Retry-After": "1"})
            self.close_connection = True
            self.send_answer(None, error_answer(busy), time.monotonic())
        else:
            super().handle()

    def handle_one_request(self) -> None:
        """Read a request and answer it. Sets close_connection if the connection ends with it."""
        self.close_connection = True
        request = None
        self.set_time_limit(IDLE_TIMEOUT)
        try:
            if not self.rfile.peek(1):
                return
            started = time.monotonic()
            request = self.read_request()
            find_answer = functools.partial(self.server.answer, request)
        except HttpError as error:
            self.close_connection = True  # what follows may belong to the refused request
            find_answer = functools.partial(error_answer, error)
        except OSError:  # the client has gone, or sent nothing for IDLE_TIMEOUT
            return
        with self.server.running_request() as may_run:
            if may_run:
                self.send_answer(request, find_answer(), started)

    # ----- reading

    def set_time_limit(self, seconds: float) -> None:
        """Let all reads from now on last so long together."""
        self.stream.deadline = time.monotonic() + seconds

    def read_request(self) -> HttpRequest:
        """Return the request that comes next, checked; raises HttpError and OSError."""
        part = "head"
        self.set_time_limit(HEAD_TIMEOUT)
        try:
            self.raw_requestline = self.rfile.request_line()
            self.parse_request()
            request = HttpRequest(self.command, self.path, self.request_version, self.headers)
            check_body(request)
            check_caller(request, self.server.settings)
            if request.takes_body():
                part = "body"
                self.set_time_limit(BODY_TIMEOUT)
                request.body = self.read_body(request)
        except TimeoutError:
            raise HttpError(408, f"The request's {part} did not come in time.") from None
        if request.has_body() and request.body is None:
            self.close_connection = True  # it is never read
        return request

    def read_body(self, request: HttpRequest) -> bytes:
        """Return the body of a request that check_body has passed; raises HttpError and OSError."""
        if request.header("expect"):
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        length = int(request.header("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            raise HttpError(400, "The request ends in the middle of its body.")
        return body

    def handle_expect_100(self) -> bool:
        """Return True: read_body lets the client go on, once the request has been checked."""
        return True

    def send_error(self, code: int, message: str | None = None, _: str | None = None) -> None:
        """Raise an HttpError for what the library refuses."""
        raise HttpError(code, f"{common.one_line(message or '', 200)}.")

    # ----- answering

    def send_answer(self, request: HttpRequest | None, answer: Answer, started: float) -> None:
        """Send an answer, count it, and log it on stderr if verbose, without its headers."""
        status, content, headers = answer
        body, about = body_of(content)
        headers = {**about, **headers}
        if self.close_connection or self.server.stop_deadline or "Connection" in headers:
            headers["Connection"] = "close"  # send_header sets close_connection
        self.server.count_answer()
        # RFC 9110: a server with a clock sends Date.
        headers = {"Date": self.date_time_string(), "Cache-Control": "no-store", **headers}
        self.send_response_only(status)
        for name, value in {**headers, "X-Content-Type-Options": "nosniff"}.items():
            self.send_header(name, value)
        try:
            self.connection.settimeout(SEND_TIMEOUT)
            self.end_headers()
            for piece in () if request and request.method == "HEAD" else body:
                self.wfile.write(piece)
        except OSError:  # the client has gone, or takes too long
            self.close_connection = True
        else:
            if self.close_connection:
                self.linger()
        if self.server.settings["verbose"]:
            what = f"{request.method} {request.target}" if request else "(no request)"
            taken = (time.monotonic() - started) * 1_000
            sys.stderr.write(f"{common.one_line(what, 500)} -> {status} in {taken:.0f} ms\n")

    def linger(self) -> None:
        """Say that there are no more answers, and drop what the client still sends for a moment.

        A socket that is closed with unread data resets the connection, and the client may lose the
        answer.
        """
        self.set_time_limit(LINGER_TIMEOUT)
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.stream.read(http_client.READ_SIZE):
                pass


class ApiServer(ThreadingHTTPServer):
    """Accepts connections, each served by a thread, until a signal stops it.

    answer: turns a request into an answer, and never raises. settings: those of check_caller, and
    verbose. connections: how many are open. running: requests that are being answered.
    stop_deadline: when running requests are left alone, on time.monotonic()'s clock; 0 while the
    server need not stop.
    """

    daemon_threads = True  # a request that outlives STOP_TIMEOUT does not hold the process
    block_on_close = False  # serve waits for the requests itself, for a limited time
    request_queue_size = BACKLOG
    timeout = LOOK_SECONDS  # of handle_request
    allow_reuse_address = os.name == "posix"  # elsewhere it would let two servers share the port
    allow_reuse_port = False

    def __init__(
        self,
        family: int,
        address: tuple[Any, ...],
        answer: Callable[[HttpRequest], Answer],
        settings: dict[str, Any],
    ) -> None:
        """Listen on an address; raises OSError."""
        self.address_family = family
        self.answer = answer
        self.settings = settings
        self.stop_deadline = 0.0
        self.connections = self.running = self.requests = 0
        self.changed = threading.Condition()  # guards these three
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
            left = self.stop_deadline - time.monotonic()
            self.changed.wait_for(lambda: not self.running, timeout=left)

    def stop(self, number: int, _: Any) -> None:
        """Stop: the handler of SIGTERM and SIGINT. A second signal raises Stopped."""
        if self.stop_deadline:
            raise command_line.Stopped(number)
        self.stop_deadline = time.monotonic() + STOP_TIMEOUT

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection; raises OSError."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(LOOK_SECONDS)  # out of descriptors, which ending connections give back
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start the thread of a connection.

        In a flood of connections, the rest are closed without a word, so that threads stay few.
        """
        with self.changed:
            self.connections += 1
        if self.connections > 2 * MAX_CONNECTIONS:
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self.changed:
            self.connections -= 1
        super().shutdown_request(request)

    @contextlib.contextmanager
    def running_request(self) -> Any:
        """Count a request that runs; yield whether it may, or the server is stopping."""
        with self.changed:
            self.running += 1
            may_run = not self.stop_deadline
        try:
            yield may_run
        finally:
            with self.changed:
                self.running -= 1
                self.changed.notify_all()

    def count_answer(self) -> None:
        """Count an answer."""
        with self.changed:
            self.requests += 1
