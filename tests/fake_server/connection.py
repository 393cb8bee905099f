"""One accepted connection: reads HTTP/1.1 requests from it and writes answers to it."""

from __future__ import annotations

import contextlib
import gzip
import socket
import struct
import time
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from .messages import RecordedRequest, Reply, Stream

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_HEAD_BYTES = 65_536
MAX_BODY_BYTES = 10_000_000
# Small bodies grow when compressed; error bodies are compressed all the same, as Brave does.
MIN_COMPRESSED_BYTES = 500
RECEIVE_BYTES = 65_536


class BadRequestError(Exception):
    """The bytes received are no request that this server understands."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class Connection:
    """A socket with a read buffer. `abort` may be called from another thread."""

    def __init__(self, sock: socket.socket, listener: str, port: int) -> None:
        self._socket = sock
        self._listener = listener
        self._port = port
        self._buffer = bytearray()
        # Answers are written in one piece; waiting to fill a packet would only add delay.
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def read_request(self) -> RecordedRequest | None:
        """The next request; None when the client has closed the connection."""
        head = self._read_head()
        if head is None:
            return None
        first_line, *header_lines = head.decode("latin-1").split("\r\n")
        words = first_line.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise BadRequestError(HTTPStatus.BAD_REQUEST)
        method, target, version = words
        headers = [_parse_header(line) for line in header_lines]
        body = self._read_body(headers)
        path, query = _split_target(target)
        return RecordedRequest(
            method=method,
            target=target,
            path=path,
            query_pairs=parse_qsl(query, keep_blank_values=True),
            headers=headers,
            body=body,
            version=version,
            listener=self._listener,
            port=self._port,
            time=time.monotonic(),
        )

    def send_reply(self, reply: Reply, request: RecordedRequest | None, keep_alive: bool) -> None:
        """Write head and body with one call."""
        headers = dict(reply.headers)
        body = reply.body
        if _wants_gzip(reply, request):
            body = gzip.compress(body, compresslevel=1, mtime=0)
            headers["Content-Encoding"] = "gzip"
        headers["Content-Length"] = str(len(body))
        if not keep_alive:
            headers["Connection"] = "close"
        if request is not None and request.method == "HEAD":
            body = b""
        self.send(head_bytes(reply.status, reply.content_type, headers) + body)

    def send_stream(self, stream: Stream) -> None:
        """Write a head, then every piece as one chunk."""
        headers = {"Transfer-Encoding": "chunked", "Cache-Control": "no-cache"}
        self.send(head_bytes(HTTPStatus.OK, stream.content_type, headers))
        for chunk in _chunks(stream.pieces):
            self.send(chunk)

    def send(self, data: bytes) -> None:
        """Write bytes as they are."""
        self._socket.sendall(data)

    def closed_within(self, seconds: float | None) -> bool:
        """Wait until either side closes the connection, or until the time is over.

        The wait reads from the socket, because a close is only seen that way; what arrives
        meanwhile is kept for the next request.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            while True:
                if deadline is not None:
                    self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
                data = self._socket.recv(RECEIVE_BYTES)
                if not data:
                    return True
                self._buffer += data
        except TimeoutError:
            return False
        finally:
            self._socket.settimeout(None)

    def reset(self) -> None:
        """Close so that the client receives RST instead of FIN."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def abort(self) -> None:
        """End every read and write in progress; the thread that serves it then closes it."""
        with contextlib.suppress(OSError):  # the other side was faster
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def _read_head(self) -> bytes | None:
        end = self._buffer.find(b"\r\n\r\n")
        while end < 0:
            if len(self._buffer) > MAX_HEAD_BYTES:
                raise BadRequestError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            if not self._receive():
                return None
            end = self._buffer.find(b"\r\n\r\n")
        return self._take(end, skip=4)

    def _read_body(self, headers: list[tuple[str, str]]) -> bytes:
        fields = {name.lower(): value for name, value in headers}
        if "transfer-encoding" in fields:
            raise BadRequestError(HTTPStatus.LENGTH_REQUIRED)
        length_text = fields.get("content-length", "0")
        if not length_text.isdecimal():
            raise BadRequestError(HTTPStatus.BAD_REQUEST)
        length = int(length_text)
        if length > MAX_BODY_BYTES:
            raise BadRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        while len(self._buffer) < length:
            if not self._receive():
                raise BadRequestError(HTTPStatus.BAD_REQUEST)
        return self._take(length)

    def _receive(self) -> bool:
        data = self._socket.recv(RECEIVE_BYTES)
        self._buffer += data
        return bool(data)

    def _take(self, length: int, skip: int = 0) -> bytes:
        data = bytes(self._buffer[:length])
        del self._buffer[: length + skip]
        return data


def head_bytes(status: int, content_type: str, headers: dict[str, str]) -> bytes:
    """The status line and the headers of an answer, with the empty line after them."""
    known = status in HTTPStatus.__members__.values()  # Tavily has statuses of its own
    phrase = HTTPStatus(status).phrase if known else ""
    lines = [f"HTTP/1.1 {status:d} {phrase}", f"Content-Type: {content_type}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _parse_header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name or name != name.strip():
        raise BadRequestError(HTTPStatus.BAD_REQUEST)
    return name, value.strip()


def _split_target(target: str) -> tuple[str, str]:
    """Path (decoded) and query (raw) of a request target.

    A client that was told to use a proxy sends a whole URL; a plain target is not given to
    urlsplit, which would take a leading double slash for a host.
    """
    if target.startswith("/"):
        path, _, query = target.partition("?")
        return unquote(path), query
    parts = urlsplit(target)
    return unquote(parts.path) or "/", parts.query


def _wants_gzip(reply: Reply, request: RecordedRequest | None) -> bool:
    if request is None or "gzip" not in (request.header("accept-encoding") or "").lower():
        return False
    if any(name == "Content-Encoding" for name, _ in reply.headers):
        return False
    return len(reply.body) > MIN_COMPRESSED_BYTES or reply.status >= HTTPStatus.BAD_REQUEST


def _chunks(pieces: Iterable[bytes]) -> Iterable[bytes]:
    for piece in pieces:
        yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"
