"""Which address is asked next: few connections to a host, pauses, rest where it asks for that."""

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

MAX_HOST_CONNECTIONS = 2  # at once to one host and port, of a list without end
MAX_UNREAD_BYTES = 24 * 1024 * 1024  # of fetched pages that are not read yet
MAX_REST = 60.0  # seconds that a list waits for a host which asks for rest (Retry-After)
MAX_RESTS = 3  # in a row, without a page between them


@dataclass(slots=True)
class Item:
    """An address to fetch, and the line of the caller that names it."""

    number: int
    line: str
    address: str


@dataclass(slots=True)
class Host:
    """The addresses of a host, and when it may be asked, on time.monotonic()'s clock."""

    waiting: deque[Item] = field(default_factory=deque)
    busy: int = 0
    free_at: float = 0.0
    rests: int = 0  # that it has asked for in a row
    aside_until: float = 0.0
    listed: bool = False  # whether it stands in the schedule's heap


class HostSchedule:
    """Hands out addresses to connections, those of one host slowly.

    Of each host at most host_connections are out at once, and pause seconds lie between two. A host
    without addresses is forgotten once its pause is over.
    """

    def __init__(self, pause: float, host_connections: int = MAX_HOST_CONNECTIONS) -> None:
        import threading

        self.pause = pause
        self.host_connections = host_connections
        self.hosts: dict[tuple[str, int], Host] = {}
        self.heap: list[tuple[float, tuple[str, int]]] = []  # the hosts that have a free connection
        self.size = 0
        self.closed = False
        self.changed = threading.Condition()

    def put(self, item: Item, limit: int = 0) -> bool:
        """Add an item; return False if limit items of its host wait already (0: no limit)."""
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
        """Put a host into the heap if it has a free connection; the caller holds the lock."""
        if not host.listed and host.busy < self.host_connections:
            host.listed = True
            heappush(self.heap, (host.free_at, name))
            self.changed.notify()

    def take(self) -> Item | None:
        """Return the next item as soon as its host may be asked; None at the end."""
        with self.changed:
            while self.size or not self.closed:
                now = time.monotonic()
                if not self.heap or self.heap[0][0] > now:
                    self.changed.wait(self.heap[0][0] - now if self.heap else None)
                    continue
                name = heappop(self.heap)[1]
                host = self.hosts[name]
                host.listed = False
                if host.free_at > now:  # it has asked for rest since it was put into the heap
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
        """Free an item's connection to its host, which has answered."""
        name = host_and_port(item.address)
        with self.changed:
            host = self.hosts[name]
            host.busy, host.rests = host.busy - 1, 0
            self.list_host(name, host)

    def rest(self, item: Item, seconds: float) -> bool:
        """Free the connection to a host that asks for rest; return whether the item waits for it.

        If it asks for more than MAX_REST, or too often, it is set aside for as long, or MAX_REST.
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
        """Return for how long the host of an address, which was handed out, is set aside."""
        with self.changed:
            return max(0.0, self.hosts[host_and_port(address)].aside_until - time.monotonic())

    def close(self) -> None:
        """End the schedule: no more items come."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()


class ByteCount:
    """The bytes of fetched pages that are not read yet: with many, no download begins."""

    def __init__(self) -> None:
        import threading

        self.bytes = 0
        self.changed = threading.Condition()

    def add(self, size: int) -> None:
        """Count a page that was fetched; a negative size: one that was read."""
        with self.changed:
            self.bytes += size
            self.changed.notify_all()

    def wait(self, is_over: Callable[[], bool]) -> None:
        """Wait until a download may begin, or the time is over."""
        with self.changed:
            while self.bytes > MAX_UNREAD_BYTES and not is_over():
                self.changed.wait(POLL_SECONDS)
