"""Serve HTTP connections with http.server, with time limits, few threads and a clean stop.

Each connection has a thread, which reads requests and sends responses in order. A function that
turns an HttpRequest into an Answer is passed to the server; this module is independent of the API.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import selectors
import socket
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from websearch import kit
from websearch.base import http_client
from websearch.base.calls import cancelled_if
from websearch.ways_in.http_messages import (
    MAX_HEAD,
    MAX_TARGET,
    HttpError,
    HttpRequest,
    body_of,
    check_caller,
    error_answer,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, BinaryIO

    from websearch.ways_in.http_messages import Answer

MAX_CONNECTIONS = 64  # connections served at once, each by a thread; more get a 503
BACKLOG = 128  # connections waiting to be accepted
HEAD_TIMEOUT = 5.0  # seconds from a request's first byte to the end of its headers
BODY_TIMEOUT = 10.0  # seconds from the end of the headers to the end of the body
IDLE_TIMEOUT = 15.0  # seconds that a connection may wait for its next request
SEND_TIMEOUT = 20.0  # seconds for a client to accept a piece of a response
LINGER_TIMEOUT = 1.0  # seconds for a client to accept the response before the connection closes
STOP_TIMEOUT = 10.0  # seconds for running requests after a signal to stop
LAST_SECONDS = 1.0  # the last seconds of STOP_TIMEOUT, in which running requests are cancelled
MAX_CHUNK_LINE, MAX_TRAILERS = 1_000, 20  # bytes per line, trailer lines in a chunked body
POLL_SECONDS = 0.1  # seconds between checks for a signal
# These patterns take linear time, because no two adjacent parts match the same byte.
TOKEN = rb"[!#$%&'*+.^_`|~\w-]+"  # RFC 9110, section 5.6.2: a method, or a header's name
# A client behind a proxy sends the whole URL (RFC 9112, section 3.2.2).
REQUEST_LINE = rb"%s (?:https?://[\w.:\[\]-]+)?/[!-~\x80-\xff]* HTTP/[1-9]\.\d\r\n" % TOKEN
HEADER_LINE = rb"(?:%s:[\t -~\x80-\xff]*)?\r\n" % TOKEN


class TimedSocket(io.RawIOBase):
    """A socket as a stream with one deadline for all reads.

    A socket's timeout applies to each read, so a client that sends a byte now and then never
    exceeds it. deadline: as time.monotonic().
    """

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.deadline = 0.0

    def readable(self) -> bool:
        """Return True, which io.BufferedReader requires."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read available bytes into a buffer; return their number, 0 at the end. Raises OSError."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


def read_head(stream: BinaryIO) -> tuple[bytes, bytes]:
    """Return a request's first line and its header lines. Raises HttpError and OSError.

    Refuses requests that http.server accepts but that other servers may read differently (RFC 9112,
    section 11): bare line feeds, folded lines, spaces before the colon, control characters.
    Non-ASCII bytes in the first line are percent-encoded, because http.server treats some of them
    as white space.
    """
    while (first := stream.readline(MAX_TARGET + 1)) == b"\r\n":
        pass  # skip empty lines before a request (RFC 9112, section 2.2)
    if len(first) > MAX_TARGET:
        message = f"The request line is longer than {MAX_TARGET} bytes."
        raise HttpError(414, message, "Shorten the query.")
    if not re.fullmatch(REQUEST_LINE, first):
        message = f"This is not the first line of an HTTP request: {kit.quoted(first)[1:]}."
        hint = "A request begins with a line such as: GET /search?q=words HTTP/1.1"
        raise HttpError(400, message, hint)
    headers = line = b""
    while line != b"\r\n":
        line = stream.readline(MAX_HEAD + 1)
        headers += line
        if len(headers) > MAX_HEAD:
            message = f"The headers are longer than {MAX_HEAD} bytes."
            raise HttpError(431, message, "Send fewer or shorter ones.")
        if not re.fullmatch(HEADER_LINE, line):
            message = f"This is not a header line: {kit.quoted(line)[1:]}."
            raise HttpError(400, message, "A header is Name: value.")
    return re.sub(rb"[\x80-\xff]", lambda match: b"%%%02X" % match[0][0], first), headers


def read_body(stream: BinaryIO, request: HttpRequest, length: int) -> bytes:
    """Return a request's body: length bytes, or chunks within its limit.

    Trailers are dropped. Raises HttpError and OSError.
    """
    if not request.is_chunked():
        body = stream.read(length)
        if len(body) < length:
            raise HttpError(400, "The request ends in the middle of its body.")
        return body
    chunks = bytearray()
    while size := chunk_size(stream.readline(MAX_CHUNK_LINE)):
        if len(chunks) + size > request.longest_body():
            raise HttpError(413, f"The body is longer than {request.longest_body()} bytes.")
        chunk = stream.read(size + 2)
        if chunk[size:] != b"\r\n":
            raise HttpError(400, "The request ends in the middle of a chunk.")
        chunks += chunk[:size]
    for _ in range(MAX_TRAILERS):
        if (line := stream.readline(MAX_CHUNK_LINE)) == b"\r\n":
            return bytes(chunks)
        if not re.fullmatch(HEADER_LINE, line):
            break
    raise HttpError(400, "The chunked body has no valid end.")


def chunk_size(line: bytes) -> int:
    """Return the size from a chunk's first line, ignoring extensions. Raises HttpError."""
    match = re.fullmatch(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n", line)
    if not match:
        raise HttpError(400, f"This is not the size of a chunk: {kit.quoted(line)[1:]}.")
    return int(match[1], 16)


def busy_answer() -> Answer:
    """Return the response to a connection beyond MAX_CONNECTIONS."""
    message = f"{MAX_CONNECTIONS} connections are being served."
    hint = "Try again in a second."
    return error_answer(HttpError(503, message, hint, {"Retry-After": "1"}))


def refuse(connection: socket.socket) -> None:
    """Send the busy_answer without a thread and without waiting for the client."""
    status, content, headers = busy_answer()
    body, about = body_of(content)
    lines = [f"HTTP/1.1 {status} Service Unavailable", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in {**about, **headers}.items()]
    with contextlib.suppress(OSError):
        connection.setblocking(False)
        connection.send("\r\n".join([*lines, "", ""]).encode() + b"".join(body))
        connection.recv(MAX_HEAD)  # unread data would reset the connection


class ApiHandler(BaseHTTPRequestHandler):
    """A handler that reads a connection's requests and sends the responses."""

    server: ApiServer
    protocol_version = default_request_version = request_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self) -> None:
        """Add a stream with a deadline; the library's stream is used only to parse headers."""
        super().setup()
        self.socket_input = TimedSocket(self.connection)
        self.stream = io.BufferedReader(self.socket_input)
        self.started = time.monotonic()

    def handle(self) -> None:
        """Serve the connection, or refuse it if there are too many."""
        if self.server.connections > MAX_CONNECTIONS:
            self.close_connection = True
            self.send_answer(None, busy_answer())
        else:
            super().handle()

    def handle_one_request(self) -> None:
        """Read and answer a request; set close_connection if the connection must then be closed."""
        self.close_connection = True
        self.set_time_limit(IDLE_TIMEOUT)
        try:
            if not self.stream.peek(1):
                return
            self.started = time.monotonic()
            request = self.read_request()
        except HttpError as error:
            self.close_connection = True  # the next bytes may belong to the refused request
            self.send_answer(None, error_answer(error))
        except OSError:  # the client disconnected, or sent nothing for IDLE_TIMEOUT
            return
        else:
            with self.server.running_request(), cancelled_if(self.is_cancelled):
                self.send_answer(request, self.server.answer(request))

    def is_cancelled(self) -> bool:
        """Return whether the client has disconnected, or the server is about to stop.

        At the end of its input, a client counts as disconnected; later requests stay unread.
        """
        end = self.server.stop_deadline
        if end and time.monotonic() > end - LAST_SECONDS:
            return True
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self.connection, selectors.EVENT_READ)
                return bool(selector.select(0)) and not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):  # reset or closed
            return True

    # ----- reading

    def set_time_limit(self, seconds: float) -> None:
        """Limit the total time of all reads from now on."""
        self.socket_input.deadline = time.monotonic() + seconds

    def read_request(self) -> HttpRequest:
        """Return the next request, checked. Raises HttpError and OSError."""
        part = "head"
        self.set_time_limit(HEAD_TIMEOUT)
        try:
            self.raw_requestline, headers = read_head(self.stream)
            self.rfile = io.BytesIO(headers)
            self.parse_request()
            if self.request_version == "HTTP/1.0" and "host" not in self.headers:
                self.headers["Host"] = "localhost"  # proxies' health checks omit it
            request = HttpRequest(self.command, self.path, self.headers)
            length = request.body_length()
            if request.is_chunked() and self.request_version == "HTTP/1.0":
                raise HttpError(400, "HTTP/1.0 has no chunks.")
            check_caller(request, self.server.settings)
            if request.longest_body():
                part = "body"
                self.set_time_limit(BODY_TIMEOUT)
                request.body = read_body(self.stream, request, length)
            elif length:
                self.close_connection = True  # the body is never read
        except TimeoutError:
            raise HttpError(408, f"The request's {part} did not arrive in time.") from None
        return request

    def send_error(self, code: int, message: str | None = None, _: str | None = None) -> None:
        """Raise an HttpError for an error from the library."""
        raise HttpError(code, f"{kit.one_line(message or '', 200)}.")

    # ----- answering

    def send_answer(self, request: HttpRequest | None, answer: Answer) -> None:
        """Send a response; if verbose, log it to stderr without its headers."""
        status, content, headers = answer
        body, about = body_of(content)
        headers = {**about, **headers}
        if self.close_connection or self.server.stop_deadline:
            headers["Connection"] = "close"
        self.send_response_only(status)
        # RFC 9110: a server with a clock sends Date.
        fixed = {"Date": self.date_time_string(), "Cache-Control": "no-store"}
        for name, value in {**fixed, **headers, "X-Content-Type-Options": "nosniff"}.items():
            self.send_header(name, value)  # this also sets close_connection
        try:
            self.connection.settimeout(SEND_TIMEOUT)
            self.end_headers()
            for piece in () if request and request.method == "HEAD" else body:
                self.wfile.write(piece)
            if self.close_connection:
                self.linger()
        except OSError:  # the client disconnected or is too slow
            self.close_connection = True
        if self.server.settings["verbose"]:
            what = f"{request.method} {request.target}" if request else "(no request)"
            taken = (time.monotonic() - self.started) * 1_000
            sys.stderr.write(f"{kit.one_line(what, 500)} -> {status} in {taken:.0f} ms\n")

    def linger(self) -> None:
        """End the response, then read and discard input for a moment. Raises OSError.

        Closing a socket with unread data resets the connection, and the client may lose the
        response.
        """
        self.set_time_limit(LINGER_TIMEOUT)
        self.connection.shutdown(socket.SHUT_WR)
        while self.stream.read(http_client.READ_SIZE):
            pass


class ApiServer(ThreadingHTTPServer):
    """A server that accepts connections, each with a thread, until a signal stops it.

    answer: turns a request into a response; never raises. settings: those of check_caller, and
    verbose. connections: the number of open connections. requests: the total so far. running: the
    number in progress. stop_deadline: when running requests are abandoned, as time.monotonic(); 0
    until a signal.
    """

    daemon_threads = True  # a request longer than STOP_TIMEOUT must not keep the process alive
    block_on_close = False  # serve itself waits for running requests, for a limited time
    request_queue_size = BACKLOG
    timeout = POLL_SECONDS  # of handle_request
    allow_reuse_address = os.name == "posix"  # on Windows, two servers could share the port
    allow_reuse_port = False

    def __init__(
        self,
        family: int,
        address: tuple[Any, ...],
        answer: Callable[[HttpRequest], Answer],
        settings: dict[str, Any],
    ) -> None:
        """Listen on an address. Raises OSError."""
        self.address_family = family
        self.answer = answer
        self.settings = settings
        self.stop_deadline = 0.0
        self.connections = self.running = self.requests = 0
        self.lock = threading.Lock()  # guards the three counts
        super().__init__(address, ApiHandler)

    def server_bind(self) -> None:
        """Bind without HTTPServer's lookup of the host name, which may query a DNS server."""
        socketserver.TCPServer.server_bind(self)

    def serve(self) -> None:
        """Serve until stop is called, then wait until running requests are finished."""
        while not self.stop_deadline:
            self.handle_request()
        self.server_close()
        while self.running and time.monotonic() < self.stop_deadline:
            time.sleep(POLL_SECONDS)

    def stop(self, *_: Any) -> None:
        """Handle SIGTERM and SIGINT: stop. A second signal interrupts the wait."""
        if self.stop_deadline:
            raise KeyboardInterrupt
        self.stop_deadline = time.monotonic() + STOP_TIMEOUT

    def get_request(self) -> tuple[socket.socket, Any]:
        """Accept a connection. Raises OSError."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(POLL_SECONDS)  # no descriptors are free until connections close
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a connection's thread; if there are far too many connections, refuse it instead."""
        with self.lock:
            self.connections += 1
        if self.connections > 2 * MAX_CONNECTIONS:
            refuse(request)
            self.shutdown_request(request)
        else:
            super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        with self.lock:
            self.connections -= 1
        super().shutdown_request(request)

    @contextlib.contextmanager
    def running_request(self) -> Iterator[None]:
        """Count a request in the total, and as running while the block runs."""
        with self.lock:
            self.running += 1
            self.requests += 1
        try:
            yield
        finally:
            with self.lock:
                self.running -= 1
