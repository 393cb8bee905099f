"""Choose the next URL to fetch: few connections per host, and pauses between requests."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush

from websearch.base.calls import POLL_SECONDS
from websearch.pages.fetch.fetch import host_and_port

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_HOST_CONNECTIONS = 2  # connections at once to one host and port, for a list of any length
MAX_UNREAD_BYTES = 24 * 1024 * 1024  # bytes of fetched pages that are not yet read
MAX_REST = 60.0  # seconds that a list waits for a host that asks for a pause (Retry-After)
MAX_RESTS = 3  # consecutive pauses without a page between them


@dataclass(slots=True)
class Item:
    """A URL to fetch, and the caller's line that contains it."""

    number: int
    line: str
    address: str


@dataclass(slots=True)
class Host:
    """A host's URLs, and the time of its next request, as time.monotonic()."""

    waiting: deque[Item] = field(default_factory=deque)
    busy: int = 0
    free_at: float = 0.0
    rests: int = 0  # consecutive pauses that it requested
    aside_until: float = 0.0
    listed: bool = False  # whether it is in the schedule's heap


class HostSchedule:
    """Hands out URLs to connections, at a limited pace for each host.

    Each host has at most host_connections URLs handed out, with pause seconds between two of them.
    A host without URLs is removed once its pause is over.
    """

    def __init__(self, pause: float, host_connections: int = MAX_HOST_CONNECTIONS) -> None:
        import threading

        self.pause = pause
        self.host_connections = host_connections
        self.hosts: dict[tuple[str, int], Host] = {}
        self.heap: list[tuple[float, tuple[str, int]]] = []  # hosts with a free connection
        self.size = 0
        self.closed = False
        self.changed = threading.Condition()

    def put(self, item: Item, limit: int = 0) -> bool:
        """Add an item; return False if its host already has `limit` items waiting (0: no limit)."""
        name = host_and_port(item.address)
        with self.changed:
            host = self.hosts.setdefault(name, Host())
            if limit and len(host.waiting) >= limit:
                return False
            host.waiting.append(item)
            self.size += 1
            self.list_host(name, host)
        return True

    def list_host(self, name: tuple[str, int], host: Host) -> None:
        """Put a host into the heap if it has a free connection; the caller must hold the lock."""
        if not host.listed and host.busy < self.host_connections:
            host.listed = True
            heappush(self.heap, (host.free_at, name))
            self.changed.notify()

    def take(self) -> Item | None:
        """Return the next item as soon as its host accepts a request; None at the end."""
        with self.changed:
            while self.size or not self.closed:
                now = time.monotonic()
                if not self.heap or self.heap[0][0] > now:
                    self.changed.wait(self.heap[0][0] - now if self.heap else None)
                    continue
                name = heappop(self.heap)[1]
                host = self.hosts[name]
                host.listed = False
                if host.free_at > now:  # it asked for a pause after it was put into the heap
                    self.list_host(name, host)
                elif host.waiting:
                    host.busy += 1
                    host.free_at = now + (0.0 if host.aside_until > now else self.pause)
                    self.size -= 1
                    self.list_host(name, host)
                    return host.waiting.popleft()
                elif not host.busy and host.aside_until <= now:
                    del self.hosts[name]
            self.changed.notify_all()
        return None

    def give_back(self, item: Item) -> None:
        """Release an item's connection to its host after a response."""
        name = host_and_port(item.address)
        with self.changed:
            host = self.hosts[name]
            host.busy, host.rests = host.busy - 1, 0
            self.list_host(name, host)

    def rest(self, item: Item, seconds: float) -> bool:
        """Release the connection to a host that asks for a pause; return whether the item waits.

        A host that asks for more than MAX_REST, or too often, is set aside for that time, or for
        MAX_REST.
        """
        name, now = host_and_port(item.address), time.monotonic()
        with self.changed:
            host = self.hosts[name]
            host.busy, host.rests = host.busy - 1, host.rests + 1
            waits = seconds <= MAX_REST and host.rests <= MAX_RESTS * self.host_connections
            if waits:
                host.free_at = max(host.free_at, now + seconds)
                host.waiting.appendleft(item)
                self.size += 1
            else:
                host.free_at, host.aside_until = now, now + max(seconds, MAX_REST)
            self.list_host(name, host)
        return waits

    def seconds_aside(self, address: str) -> float:
        """Return the seconds for which a handed-out URL's host is set aside."""
        with self.changed:
            return max(0.0, self.hosts[host_and_port(address)].aside_until - time.monotonic())

    def close(self) -> None:
        """Close the schedule: no more items follow."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()


class ByteCount:
    """Counts the bytes of fetched pages that are not yet read, to delay more downloads."""

    def __init__(self) -> None:
        import threading

        self.bytes = 0
        self.changed = threading.Condition()

    def add(self, size: int) -> None:
        """Count a fetched page, or with a negative size a page that was read."""
        with self.changed:
            self.bytes += size
            self.changed.notify_all()

    def wait(self, is_over: Callable[[], bool]) -> None:
        """Wait until a download may begin or time is up."""
        with self.changed:
            while self.bytes > MAX_UNREAD_BYTES and not is_over():
                self.changed.wait(POLL_SECONDS)
