"""What a handler receives and what it answers. Nothing here knows a provider or a socket."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .connection import Connection

JSON_TYPE = "application/json"


@dataclass(frozen=True)
class RecordedRequest:
    """One request as it arrived. `listener` is "main" or "other" (the foreign port)."""

    method: str
    target: str
    path: str
    query_pairs: list[tuple[str, str]]
    headers: list[tuple[str, str]]
    body: bytes
    version: str
    listener: str
    port: int
    time: float

    @property
    def query(self) -> dict[str, list[str]]:
        """The query as name -> values, in the order in which they were sent."""
        values: dict[str, list[str]] = {}
        for name, value in self.query_pairs:
            values.setdefault(name, []).append(value)
        return values

    def header(self, name: str) -> str | None:
        """The first header of this name, in any case of letters; None when it is absent."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def json(self) -> Any:
        """The body parsed as JSON."""
        return json.loads(self.body)

    def as_json(self) -> dict[str, Any]:
        """The record as GET /__requests shows it: the body as text."""
        return {
            "method": self.method,
            "target": self.target,
            "path": self.path,
            "query": self.query_pairs,
            "headers": self.headers,
            "body": self.body.decode("utf-8", "replace"),
            "listener": self.listener,
            "port": self.port,
            "time": self.time,
        }


@dataclass(frozen=True)
class Reply:
    """A whole answer; the server adds Content-Length and compresses it on request."""

    status: int
    body: bytes
    content_type: str = JSON_TYPE
    headers: tuple[tuple[str, str], ...] = ()
    delay: float = 0.0


@dataclass(frozen=True)
class Stream:
    """A 200 answer that is sent piece by piece, each piece in a chunk of its own."""

    pieces: Iterable[bytes]
    content_type: str
    delay: float = 0.0


Behaviour = Callable[["Connection"], None]
"""A transport fault: it does what it likes with the connection, which is closed afterwards."""

Answer = Reply | Stream | Behaviour


class ServerState:
    """What one server remembers between requests; safe to use from every thread."""

    def __init__(self, foreign_url: str, local_links: bool = False, limits: bool = False) -> None:
        self.foreign_url = foreign_url
        self.local_links = local_links
        self.limits = limits
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}
        self._notes: dict[str, str] = {}
        self._lists: dict[str, list[str]] = {}
        self._times: dict[str, list[float]] = {}

    def count(self, name: str) -> int:
        """Count one more event of this name and return how many there were."""
        with self._lock:
            self._counts[name] = self._counts.get(name, 0) + 1
            return self._counts[name]

    def rate(self, name: str, moment: float, seconds: float) -> int:
        """How many events of this name there were in the seconds before a moment, this one too."""
        with self._lock:
            earlier = [one for one in self._times.get(name, []) if one > moment - seconds]
            self._times[name] = [*earlier, moment]
            return len(earlier) + 1

    def note(self, name: str, text: str) -> None:
        """Remember a text under a name, and count the events of this name from zero again."""
        with self._lock:
            self._notes[name] = text
            self._counts.pop(name, None)

    def place(self, name: str, item: str) -> int:
        """The place, from 1, of an item in the list of this name; a new item goes to its end."""
        with self._lock:
            items = self._lists.setdefault(name, [])
            if item not in items:
                items.append(item)
            return items.index(item) + 1

    def noted(self, name: str) -> str | None:
        """The text remembered under a name."""
        with self._lock:
            return self._notes.get(name)


Handler = Callable[[RecordedRequest, ServerState], Answer]


@dataclass(frozen=True)
class Route:
    """A handler for paths that match a pattern; an empty set of methods stands for all."""

    pattern: re.Pattern[str]
    methods: frozenset[str]
    handler: Handler

    def matches(self, request: RecordedRequest) -> bool:
        """Whether the path fits; the method is looked at separately, for 405."""
        return self.pattern.fullmatch(request.path) is not None


def route(pattern: str, methods: Iterable[str], handler: Handler) -> Route:
    """A route whose pattern is a regular expression for the whole path."""
    return Route(re.compile(pattern), frozenset(methods), handler)


def json_reply(
    document: Any, status: int = HTTPStatus.OK, headers: Mapping[str, str] | None = None
) -> Reply:
    """A reply with a JSON body."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    return Reply(status, body, headers=tuple((headers or {}).items()))
