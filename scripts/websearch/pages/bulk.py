"""Read the pages of a list of any length, as JSON Lines.

Memory is bounded, and hosts are treated politely: few connections to each, a pause between two
requests, and rest where a host asks for it. A slow host does not hold up the others.
"""

from __future__ import annotations

import math
import time
from collections import deque

from websearch.batch import LineWriter, input_lines, wants_lines
from websearch.common import (
    SearchError,
    check_params,
    deadline_of,
    error_document,
    fit_document,
    log_operation,
)
from websearch.http_client import retry_after, warn_once
from websearch.pages.fetch import (
    Fetched,
    RobotsCache,
    fetch_page,
    host_and_port,
    is_gone,
    normal_url,
)
from websearch.pages.page_document import in_time, page_document, result_or_error
from websearch.pages.pages_document import pages_document
from websearch.pages.read import COMMANDS as READ_COMMANDS
from websearch.pages.read import MAX_HOST_CONNECTIONS, run_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from websearch.common import Document, ProgressCallback

CONNECTIONS = 16  # at once
HOST_PAUSE = 1.0  # seconds between two requests to one host; crawlers that are welcome wait as long
MAX_REST = 60.0  # seconds that a host can ask for with Retry-After
# In memory at once. Addresses are small; pages can have 5 MB.
MAX_ADDRESSES = 10_000
MAX_HOST_ADDRESSES = 100  # of one host; further ones wait in a file, so that others get their turn
MAX_IN_FILE = 100_000  # some 10 MB; if there are more, the list waits for them
MAX_AHEAD = 200  # if ordered: pages that may be read before their turn
MAX_UNREAD = 16  # pages that are fetched and not read yet
MAX_ROBOTS = 1_000  # robots.txt files that are remembered; each can have 512 KB

# fmt: off
# What the command line takes. Servers have no list to read, so they take what READ_COMMANDS says.
COMMANDS: dict[str, dict[str, Any]] = {
    "read": {
        **READ_COMMANDS["read"],
        "batch": True,
        "params": [
            *READ_COMMANDS["read"]["params"],
            {"name": "urls_from", "type": "str", "verbatim": True,
             "help": "file with an address a line, - for standard input; the answer is JSON Lines: "
                     "whole pages, unless max_chars is given; timeout is for reading one page"},
            {"name": "connections", "type": "int", "min": 1, "max": 64, "default": CONNECTIONS,
             "help": f"with urls_from: pages that are fetched at once (default: {CONNECTIONS})"},
            {"name": "host_pause", "type": "float", "min": 0, "max": 600, "default": HOST_PAUSE,
             "help": "with urls_from: seconds between two requests to one host "
                     f"(default: {HOST_PAUSE:g})"},
        ],
    },
}
# fmt: on


# ===== which address is next ======================================================================


class Host:
    """The state of a host: its addresses, its connections, and when it may be asked again."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[int, str, str]] = deque()
        self.busy = 0
        self.free_at = 0.0  # on time.monotonic()'s clock
        self.listed = False  # whether it stands in the schedule's heap


class HostSchedule:
    """Hands out addresses to connections, those of one host slowly.

    Of each host at most MAX_HOST_CONNECTIONS are out at once, and pause seconds lie between two. An
    item is (number, line, address). A host without addresses is forgotten once its pause is over.
    """

    def __init__(self, pause: float) -> None:
        import threading

        self.pause = pause
        self.hosts: dict[tuple[str, int], Host] = {}
        self.heap: list[tuple[float, tuple[str, int]]] = []  # the hosts that have a free connection
        self.size = 0
        self.closed = False
        self.changed = threading.Condition()

    def put(self, item: tuple[int, str, str], limit: int = 0) -> bool:
        """Add an item; return False if limit items of its host wait already (0: no limit)."""
        name = host_and_port(item[2])
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
        from heapq import heappush

        if not host.listed and host.busy < MAX_HOST_CONNECTIONS:
            host.listed = True
            heappush(self.heap, (host.free_at, name))
            self.changed.notify()

    def take(self) -> tuple[int, str, str] | None:
        """Return the next item as soon as its host may be asked; None at the end."""
        from heapq import heappop

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
                    host.free_at = now + self.pause
                    self.size -= 1
                    self.list_host(name, host)
                    return host.waiting.popleft()
                elif not host.busy:
                    del self.hosts[name]
            self.changed.notify_all()
        return None

    def give_back(self, address: str, rest: float) -> None:
        """Free a connection to the host of an address, which is asked again after rest seconds."""
        name = host_and_port(address)
        with self.changed:
            host = self.hosts[name]
            host.busy -= 1
            host.free_at = max(host.free_at, time.monotonic() + rest)
            self.list_host(name, host)

    def close(self) -> None:
        """End the schedule: no more items come."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()


# ===== from a list to fetched pages ===============================================================


class ListReader:
    """Fetches the pages of a list; answers() yields them as they come.

    Threads read the list and fetch pages. slots bounds how many addresses are between the list and
    the caller, who releases one for each answer that is done with.
    """

    def __init__(self, params: dict[str, Any], done: set[int], ordered: bool) -> None:
        import queue
        import threading

        self.params, self.done, self.ordered = params, done, ordered
        self.schedule = HostSchedule(params["host_pause"])
        self.slots = threading.Semaphore(MAX_AHEAD if ordered else MAX_ADDRESSES)
        self.fetched: queue.Queue[tuple[int, str, Any] | None] = queue.Queue(MAX_UNREAD)
        self.robots = RobotsCache()
        self.failure: SearchError | None = None

    def answers(self) -> Iterator[tuple[int, str, Fetched | SearchError]]:
        """Yield (number, line of the list, page or error); raises SearchError for a bad list."""
        import threading

        connections = self.params["connections"]
        for work in [self.read_list, *[self.fetch_pages] * connections]:
            threading.Thread(target=work, daemon=True).start()
        while connections:
            answer = self.fetched.get()
            if answer:
                yield answer
            connections -= not answer
        if self.failure:
            raise self.failure

    def lines(self) -> Iterator[str]:
        """Yield the addresses that are given and those of the list."""
        yield from self.params.get("urls", [])
        if "urls_from" in self.params:
            yield from input_lines(self.params["urls_from"])

    def read_list(self) -> None:
        """Put every address of the list that is not done into the schedule.

        Those of a host that has many waiting are put into a file, and into the schedule at the end.
        """
        import json
        import tempfile

        try:
            with tempfile.TemporaryFile() as later:
                number = 0
                room = 0 if self.ordered else MAX_IN_FILE
                for line in self.lines():
                    if hash(line) in self.done:
                        continue
                    if not self.put(number, line, MAX_HOST_ADDRESSES if room else 0):
                        later.write(json.dumps(line).encode() + b"\n")
                        room -= 1
                    number += 1
                later.seek(0)
                for data in later:
                    self.put(number, json.loads(data), 0)
        except SearchError as error:
            self.failure = error
        except OSError as error:
            message = f"The temporary file of waiting addresses failed: {error.strerror}."
            self.failure = SearchError("internal", message, "Set TMPDIR to a folder with room.")
        finally:
            self.schedule.close()

    def put(self, number: int, line: str, limit: int) -> bool:
        """Schedule an address; return False if limit addresses of its host are waiting already."""
        self.slots.acquire()
        address = result_or_error(normal_url, line)
        if isinstance(address, SearchError):
            self.fetched.put((number, line, address))
        elif not self.schedule.put((number, line, address), limit):
            self.slots.release()
            return False
        return True

    def fetch_pages(self) -> None:
        """Fetch pages, one after the other, as long as there are any."""
        while (item := self.schedule.take()) is not None:
            number, line, address = item
            limit = time.monotonic() + self.params["page_timeout"]
            answer = result_or_error(fetch_page, address, limit, self.robots_cache())
            rest = 0.0
            if isinstance(answer, Fetched) and answer.response.status in (429, 503):
                rest = min(MAX_REST, retry_after(answer.response) or 0.0)
            self.schedule.give_back(address, rest)
            if isinstance(answer, SearchError) and answer.kind == "timeout":
                answer.details["hint"] = "Raise {page_timeout}."
            if self.params.get("archived") and is_gone(answer):
                from websearch.pages.archive import failure_of, newest_copy_of

                answer = newest_copy_of(failure_of(answer), address, math.inf)
            self.fetched.put((number, line, answer))
        self.fetched.put(None)

    def robots_cache(self) -> RobotsCache | None:
        """Return the cache of robots.txt files, a new one once it is full; None if not wanted."""
        if not self.params.get("robots"):
            return None
        if len(self.robots.values) > MAX_ROBOTS:
            self.robots = RobotsCache()
        return self.robots


# ===== from fetched pages to lines ================================================================


def run_list(params: dict[str, Any], options: dict[str, Any]) -> int:
    """Read the pages of a list and print a document for each, which names its address as url.

    Returns the exit code. Raises SearchError for bad parameters.
    """
    command = COMMANDS["read"]
    optional = [{**param, "required": False} for param in command["params"]]
    checked = check_params("read", {**command, "params": optional}, params)
    checked.setdefault("max_chars", 0)
    if checked.get("dry_run"):
        message = "dry_run shows no list of addresses."
        raise SearchError("invalid_input", message, "Give some of them as {urls}.")
    if checked.get("browser"):
        message = "browser reads no lists: it takes seconds for a page."
        raise SearchError("invalid_input", message, "Give up to 50 of the addresses as {urls}.")
    with LineWriter(options, "url") as writer:
        reader = ListReader(checked, writer.done, writer.ordered)
        for number, line, answer in reader.answers():
            for _ in range(writer.emit(number, line_document(line, answer, checked))):
                reader.slots.release()
            if writer.failure:
                break
        return writer.finish()


def line_document(line: str, answer: Fetched | SearchError, params: dict[str, Any]) -> Document:
    """Return the document of one page: {ok, url, final_url, title, ..., text}, or the error."""
    deadline = deadline_of(params)
    page = in_time(lambda: page_document(answer, params, deadline), deadline)
    if page is None:
        message = "The page was fetched, but not read before its time was over."
        page = error_document(SearchError("timeout", message, "Raise {timeout}."))
    document = pages_document([{"url": line, **page}], params, deadline)
    item = {"url": line, **(document["pages"][0] if document["ok"] else document)}
    for warning in document.get("warnings", []):
        warn_once(warning)
    fit_document(item, params["max_chars"], READ_COMMANDS["read"]["expendable"])
    log_operation("read_page.read", params, item)
    return item


def run_command(
    params: dict[str, Any],
    report: ProgressCallback,
    options: dict[str, Any],
    store: Any = None,
) -> Document | int:
    """Read the pages of the command line: as one document, or as JSON Lines.

    A last word with a blank in it, which no address has, is the question.
    """
    *urls, last = params.get("urls") or [""]
    if urls and "query" not in params and " " in last.strip():
        params = {**params, "urls": urls, "query": last}
    if "urls_from" in params or (params.get("urls") and wants_lines(options)):
        return run_list(params, options)
    return run_read(params, report, local_files=True, store=store)
