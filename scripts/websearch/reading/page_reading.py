"""Fetch pages in parallel threads and convert them to text in one additional thread."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from dataclasses import replace

from websearch.base.calls import is_bug, put, result_or_error, start_thread, take, waits
from websearch.base.site_rules import check_site
from websearch.kit import SearchError, deadline_of
from websearch.pages.extract.thin_pages import wants_browser
from websearch.pages.fetch.fetch import (
    Fetched,
    RobotsCache,
    SharedAnswers,
    fetch_page,
    is_gone,
)
from websearch.pages.page_content import PageContent
from websearch.pages.sites.dispatch import read_through_api
from websearch.reading.markdown_sources import (
    fetch_llms,
    is_documentation,
    is_text,
    is_twin,
    listed_twin,
)
from websearch.reading.one_page import (
    is_refused,
    read_page,
    result_by_deadline,
)
from websearch.reading.page import Page
from websearch.reading.schedule import MAX_HOST_CONNECTIONS, ByteCount, HostSchedule, Item

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.pages.fetch.browser import Browser

READERS = 4  # pages converted to text at once per process; Python uses one processor for it
MAX_UNREAD = 8  # fetched pages not yet read; a page can have 5 MB, a PDF file more
BROWSER_NOTE = "The text is from a browser that ran the page's scripts."
# For an archived copy in a search: reading the next results is quicker than a second copy.
COPY_SECONDS = 4.0
TWIN_SECONDS = 2.0  # for the Markdown source of a page that has already been read
LISTED_NOTE = "The page itself could not be read; this is the source listed in the site's llms.txt."
ALTERNATE_NOTE = "The page itself has almost no text; this is the version that it links to."


def fetch_target(
    url: str,
    limit: float,
    robots: RobotsCache | None,
    params: dict[str, Any],
    shared: SharedAnswers,
) -> Fetched | PageContent:
    """Fetch a page, or read a local file allowed by target_of; raises SearchError.

    If a site's API is known, its answer is returned as a PageContent; if the API fails, the HTML
    page is fetched instead.
    """
    if url.startswith("file:"):
        from websearch.pages.fetch.local_files import read_local_file

        return read_local_file(url)
    if "llms" in params:
        return fetch_llms(params["llms"], url, limit, robots)
    if params.get("raw_html") or params.get("raw"):
        return fetch_page(url, limit, robots)
    answer = result_or_error(read_through_api, url, limit, robots, params, shared)
    if answer is not None and not isinstance(answer, SearchError):
        page: Fetched | PageContent = answer
        return page
    fetched = fetch_page(url, limit, robots)
    fetched.api_error = answer.message if answer else ""
    return fetched


def body_bytes(answer: object) -> int:
    """Return a fetched page's size in bytes; 0 for an error or a document."""
    return len(answer.response.body) if isinstance(answer, Fetched) else 0


def late_error() -> SearchError:
    """Return the error for a page that the call did not have time to read."""
    message = "The call's time ran out before the page was read."
    return SearchError("timeout", message, "Raise {timeout}.", retryable=True)


@functools.cache
def reader_slots() -> threading.Semaphore:
    """Return the process-wide semaphore for converting pages to text.

    This is CPU-bound: more threads would slow each other and delay a server's answers.
    """
    import threading

    return threading.Semaphore(READERS)


class PageReading:
    """Threads that fetch the pages of a schedule, and one thread that reads them.

    One thread reads all pages, because reading is CPU-bound. If there is a deadline, the smallest
    fetched page is read next, so a huge page does not delay the others. A page still being read at
    its deadline is abandoned.

    deadline: for all pages; each page also has page_timeout (in params) for fetching and timeout
    for reading. hurries: use archived copies only for pages that no longer exist, and Markdown
    sources only for pages that cannot be read, because another search result is quicker to read.
    done: items and pages, None at the end. unfinished: the best known version of each page that is
    being read another way.
    """

    def __init__(
        self,
        schedule: HostSchedule,
        params: dict[str, Any],
        connections: int,
        deadline: float = math.inf,
        *,
        hurries: bool = False,
    ) -> None:
        import queue
        import threading

        self.schedule = schedule
        self.params = params
        self.connections = connections
        self.deadline = deadline
        self.hurries = hurries
        self.verbose = bool(params.get("verbose"))
        self.robots = RobotsCache() if params.get("robots") else None
        self.shared = SharedAnswers()
        # Sorted by size and a unique number; None means that a thread has ended.
        self.fetched: queue.PriorityQueue[tuple[float, int, Any]] = queue.PriorityQueue(MAX_UNREAD)
        self.done: queue.Queue[tuple[Item, Page] | None] = queue.Queue(MAX_UNREAD)
        self.waiting = threading.Semaphore(MAX_UNREAD)  # for pages that are read another way
        self.slots = threading.Semaphore(MAX_HOST_CONNECTIONS)  # the active readers among them
        self.browsers: set[Browser] = set()  # threads that are running
        self.unread = ByteCount()
        self.unfinished: dict[int, tuple[Item, Page]] = {}

    def pages(self) -> Iterator[tuple[Item, Page]]:
        """Yield items and pages as they arrive, until the deadline."""
        import queue

        for work in [self.fetch_pages] * self.connections + [self.read_fetched]:
            start_thread(work)
        try:
            with contextlib.suppress(queue.Empty):
                while page := take(self.done, self.deadline):
                    yield page
            yield from [*self.unfinished.values()]
        finally:
            self.deadline = 0.0  # threads start no more work
            for browser in list(self.browsers):
                browser.close()

    def is_over(self) -> bool:
        """Return whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    def fetch_pages(self) -> None:
        """Fetch pages until there are no more or time is up."""
        import queue
        import threading

        with contextlib.suppress(queue.Full, SearchError):  # time is up, or cancelled
            while (item := self.schedule.take()) is not None:
                self.unread.wait(self.is_over)
                answer = result_or_error(self.ask, item, verbose=self.verbose)
                size = body_bytes(answer)
                if answer is not None:
                    order = size if self.deadline < math.inf else 0
                    self.unread.add(size)
                    put((order, item.number, (item, answer)), self.fetched, self.deadline)
                del answer  # frees the memory before the next fetch
            put((math.inf, threading.get_ident(), None), self.fetched, self.deadline)

    def ask(self, item: Item) -> Fetched | PageContent | SearchError | None:
        """Fetch the page of an item; None if the item was put back."""
        answer = self.fetch(item.address)
        self.schedule.give_back(item)
        return answer

    def fetch(self, url: str) -> Fetched | PageContent | SearchError:
        """Fetch one page within its time limit, or return the error."""
        limit = min(self.deadline, time.monotonic() + self.params["page_timeout"])
        answer: Fetched | PageContent | SearchError = result_or_error(
            fetch_target, url, limit, self.robots, self.params, self.shared, verbose=self.verbose
        )
        if isinstance(answer, SearchError) and limit < self.deadline:
            answer.hint = answer.hint.replace("{timeout}", "{page_timeout}")
        return answer

    def read(self, answer: Fetched | PageContent | SearchError) -> Page:
        """Return the fetched page as soon as a reader is free.

        The page is an error if that takes too long. Raises SearchError (interrupted).
        """
        deadline = min(self.deadline, deadline_of(self.params))
        slots = reader_slots()
        if not any(slots.acquire(timeout=pause) for pause in waits(deadline)):
            return Page(error=late_error())
        try:
            work = functools.partial(read_page, answer, self.params, deadline)
            page: Page | SearchError | None = result_or_error(
                result_by_deadline, work, deadline, verbose=self.verbose
            )
        finally:
            slots.release()
        if page is None:
            message = "The page was fetched, but its time ran out before it was read."
            page = SearchError("timeout", message, "Raise {timeout}.", retryable=True)
        return Page(error=page) if isinstance(page, SearchError) else page

    def read_fetched(self) -> None:
        """Read fetched pages until the end or the deadline, then signal the end."""
        import queue

        with contextlib.suppress(queue.Empty, queue.Full, SearchError):  # too late, or cancelled
            try:
                self.read_all()
            finally:
                put(None, self.done, self.deadline)

    def read_all(self) -> None:
        """Read each fetched page; pass pages that can be read another way to another thread.

        Raises queue.Empty, queue.Full and SearchError (interrupted).
        """
        fetching = self.connections
        while fetching:
            fetched = take(self.fetched, self.deadline)[2]
            if self.is_over():
                return
            if fetched is None:
                fetching -= 1
                continue
            item, answer = fetched
            page = self.read(answer)
            self.unread.add(-body_bytes(answer))
            ways = result_or_error(
                self.other_ways, item.address, answer, page, verbose=self.verbose
            )
            if ways and not is_bug(ways):
                self.unfinished[item.number] = item, page
                self.wait_for_room()
                start_thread(self.read_otherwise, item, page, ways)
            else:
                put((item, page), self.done, self.deadline)
        for _ in range(MAX_UNREAD):  # until those threads have ended
            self.wait_for_room()

    def wait_for_room(self) -> bool:
        """Wait until one more page may be read another way; raises SearchError (interrupted)."""
        return any(self.waiting.acquire(timeout=pause) for pause in waits(self.deadline))

    def other_ways(
        self, url: str, answer: Fetched | PageContent | SearchError, page: Page
    ) -> list[Callable[[], Page]]:
        """Return functions that may read a page better, best first.

        Each returns the improved page, or the same page if nothing was gained.
        """
        ways: list[Callable[[], Page]] = []
        if isinstance(answer, PageContent) or url.startswith("file:") or self.params.get("raw"):
            return ways
        asks_others = not self.params.get("raw_html")
        asks_twin = asks_others and not page.error and not self.hurries
        versions = page.versions
        if versions and versions.twin and not versions.is_thin and asks_twin:
            ways.append(lambda: self.read_twin(versions.twin, page))
        is_listed = "llms" not in self.params and is_documentation(url)
        if asks_others and page.error and is_listed:
            ways.append(lambda: self.read_listed(url, page))
        if isinstance(answer, Fetched) and versions and versions.is_thin:
            if asks_others and versions.alternate:
                ways.append(lambda: self.read_alternate(versions.alternate, page))
            if wants_browser(self.params):
                ways.append(lambda: self.filled_by_browser(answer, page))
        if page.error and self.params.get("archived"):
            error = page.error
            if is_gone(answer) or (not self.hurries and is_refused(error)):
                ways.append(lambda: self.read_copy(url, error))
        return ways

    def read_otherwise(self, item: Item, page: Page, ways: list[Callable[[], Page]]) -> None:
        """Read a page with the first of the other methods that yields more."""
        import queue

        with self.slots:
            for read in ways:
                other = page if self.is_over() else result_or_error(read, verbose=self.verbose)
                if not isinstance(other, SearchError) and other is not page:
                    page = other
                    break
        with contextlib.suppress(queue.Full, SearchError):
            put((item, page), self.done, self.deadline)
        del self.unfinished[item.number]
        self.waiting.release()

    def read_twin(self, address: str, page: Page) -> Page:
        """Return a page with the text of its Markdown source, if the URL serves it."""
        twin = self.fetch_soon(address)
        if not isinstance(twin, Fetched) or not is_text(twin):
            return page
        other = self.read(twin)
        if not is_twin(page, other, twin):
            return page
        fields = {**page.fields, "source": other.fields["source"]}
        return replace(page, text=other.text, fields=fields)

    def read_listed(self, url: str, page: Page) -> Page:
        """Return the Markdown source listed for a page in a documentation's llms.txt."""
        limit = min(self.deadline, time.monotonic() + TWIN_SECONDS)
        address = listed_twin(url, limit, self.robots, self.shared)
        other = self.read(self.fetch_soon(address)) if address else page
        return with_note(other, LISTED_NOTE) if other.fields.get("source") == "markdown" else page

    def fetch_soon(self, address: str) -> Fetched | SearchError:
        """Fetch a possible replacement for a page, with a short timeout."""
        limit = min(self.deadline, time.monotonic() + TWIN_SECONDS)
        answer: Fetched | SearchError = result_or_error(fetch_page, address, limit, self.robots)
        return answer

    def read_alternate(self, address: str, page: Page) -> Page:
        """Return the version that a thin page links to, if it has more text."""
        other = self.read(self.fetch(address))
        return with_note(other, ALTERNATE_NOTE) if len(other.text) > len(page.text) else page

    def read_copy(self, url: str, error: SearchError) -> Page:
        """Return the Internet Archive's copy of a page, or the page's error with known details."""
        from websearch.pages.fetch.archive import newest_copy_of

        limit = self.deadline
        if self.hurries:
            limit = min(limit, time.monotonic() + COPY_SECONDS)
        return self.read(newest_copy_of(error, url, limit))

    def filled_by_browser(self, thin: Fetched, page: Page) -> Page:
        """Return a thin page as rendered by a browser, or the page with a note on the failure."""
        from websearch.pages.fetch.browser import read_in_browser

        try:
            shown = read_in_browser(thin.url, self.deadline, self.browsers)
        except SearchError as error:
            failed = f"Reading it in a browser failed: {error}"
            if page.error:
                return Page(error=error)
            return replace(page, fields={**page.fields, "note": failed})
        other = result_or_error(check_site, shown.url) or self.read(shown)
        if isinstance(other, SearchError):
            return Page(error=other)
        if not other.error and len(other.text) >= len(page.text):
            return with_note(other, BROWSER_NOTE)
        return page


def with_note(page: Page, note: str) -> Page:
    """Return a page with a note about how it was read; keep a note that it already has."""
    return replace(page, fields={"note": note, **page.fields})
