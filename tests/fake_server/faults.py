"""Faults that a key can ask for. A key is `NAME` or `NAME-anything`; the name picks the fault.

The faults of the transport are complete here. For the others the provider gives its bodies, by
name; those in PASSING are answered twice for each full key and path, and then go away.
"""

from __future__ import annotations

import threading
import zlib
from dataclasses import replace
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING

from .connection import Connection, head_bytes
from .messages import JSON_TYPE, Answer, Behaviour, RecordedRequest, Reply, ServerState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PASSING = frozenset({"busy", "flaky"})
PASSING_TIMES = 2
SLOW_SECONDS = 0.2
SLOWER_SECONDS = 1.0
DRIP_SECONDS = 1.0
BOMB_BYTES = 200_000_000
HUGE_PIECE = b'{"filler": "' + b"x" * 65_536 + b'"}, '
HTML_BODY = (
    b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>"
    b"<body><h1>Bad Gateway</h1><p>The upstream server did not answer.</p></body></html>"
)


def fault_name(key: str) -> str:
    """The name in a key: what stands before the first dash."""
    return key.partition("-")[0]


def fault_answer(
    key: str,
    request: RecordedRequest,
    state: ServerState,
    bodies: Mapping[str, Callable[[], Answer]],
) -> Answer | None:
    """The answer of the fault that the key asks for; None when the request is to succeed."""
    name = fault_name(key)
    if name in PASSING and state.count(f"{key} {request.path}") > PASSING_TIMES:
        return None
    if name in bodies:
        return bodies[name]()
    if name in _BEHAVIOURS:
        return _BEHAVIOURS[name]
    return _transport_reply(name, request, state)


def delayed(answer: Answer, key: str) -> Answer:
    """The same answer, later if the key is a slow one."""
    seconds = {"slow": SLOW_SECONDS, "slower": SLOWER_SECONDS}.get(fault_name(key))
    return answer if seconds is None or callable(answer) else replace(answer, delay=seconds)


def _transport_reply(name: str, request: RecordedRequest, state: ServerState) -> Reply | None:
    if name == "html":
        return Reply(HTTPStatus.BAD_GATEWAY, HTML_BODY, "text/html; charset=utf-8")
    if name == "garbage":
        return Reply(HTTPStatus.OK, b'}{ this is not JSON, whatever the header says "\xff')
    if name == "redirect":
        location = ("Location", state.foreign_url + request.target)
        return Reply(HTTPStatus.FOUND, b"", "text/plain", (location,))
    if name == "bomb":
        return Reply(HTTPStatus.OK, _bomb_bytes(), headers=(("Content-Encoding", "gzip"),))
    return None


def _truncate(connection: Connection) -> None:
    """A body that is shorter than its Content-Length says."""
    body = b'{"type": "search", "web": {"results": [{"title": "cut of'
    head = head_bytes(HTTPStatus.OK, JSON_TYPE, {"Content-Length": str(len(body) + 4_000)})
    connection.send(head + body)


def _drip(connection: Connection) -> None:
    """One byte a second, for ever: each read succeeds, so only a total deadline ends it."""
    connection.send(head_bytes(HTTPStatus.OK, JSON_TYPE, {"Connection": "close"}))
    while not connection.closed_within(DRIP_SECONDS):
        connection.send(b" ")


def _hang(connection: Connection) -> None:
    """Never an answer; ends when the client gives up or the server is closed."""
    connection.closed_within(None)


def _reset(connection: Connection) -> None:
    connection.reset()


def _flood(connection: Connection) -> None:
    """A body without end, as fast as the client reads."""
    connection.send(head_bytes(HTTPStatus.OK, JSON_TYPE, {"Connection": "close"}) + b"[")
    while True:  # sending fails, and so ends this, when either side closes
        connection.send(HUGE_PIECE)


_BEHAVIOURS: dict[str, Behaviour] = {
    "trunc": _truncate,
    "drip": _drip,
    "hang": _hang,
    "reset": _reset,
    "huge": _flood,
}

_bomb_lock = threading.Lock()


def _bomb_bytes() -> bytes:
    """The compressed bomb; the lock keeps parallel first requests from building it twice."""
    with _bomb_lock:
        return _build_bomb()


@cache
def _build_bomb() -> bytes:
    gzip_format = 16 + zlib.MAX_WBITS
    compressor = zlib.compressobj(level=9, wbits=gzip_format)
    piece = b" " * 1_000_000
    pieces = [compressor.compress(piece) for _ in range(BOMB_BYTES // len(piece))]
    return b"".join(pieces) + compressor.flush()
