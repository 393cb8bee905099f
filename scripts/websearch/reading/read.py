"""Read web pages: fetch them at once, extract their text, fit it into one document."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from dataclasses import replace

from websearch.base.calls import is_bug, put, result_or_error, start_thread, take, waits
from websearch.base.site_rules import check_site, refusing_rule
from websearch.kit import MIN_TIMEOUT, DryRun, SearchError, deadline_of, run_operation
from websearch.pages.extract.thin_pages import wants_browser
from websearch.pages.fetch.fetch import (
    Fetched,
    RobotsCache,
    SharedAnswers,
    fetch_page,
    is_gone,
    normal_url,
    page_headers,
)
from websearch.pages.sites.dispatch import read_through_api
from websearch.reading.finding import MAX_TEXTS
from websearch.reading.markdown_sources import (
    fetch_llms,
    is_documentation,
    is_text,
    is_twin,
    listed_twin,
)
from websearch.reading.one_page import (
    MAX_DROPPED,
    in_time,
    is_refused,
    read_page,
)
from websearch.reading.page import Page, stored_page
from websearch.reading.pages_document import pages_document, to_markdown
from websearch.reading.schedule import MAX_HOST_CONNECTIONS, ByteCount, HostSchedule, Item
from websearch.store.history import COMMAND_LINE, READ, note
from websearch.store.page_store import PART_SECONDS, PageStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.kit import Command, Document, ProgressCallback
    from websearch.pages.fetch.browser import Browser

__all__ = ["COMMANDS", "run_read", "to_markdown"]
MAX_URLS = 50  # of one call
# In one text with several addresses; a comma inside an address is a part of it.
BETWEEN_ADDRESSES = r"[\s,]{1,9}(?=https?://)|,\s|[\r\n]"
MAX_CONNECTIONS = 8  # at once
CALL_HOST_CONNECTIONS = 6  # of those to one host: as many as a browser opens for one page
READERS = 4  # pages that are made texts at once in a process, which has one processor to give
MAX_UNREAD = 8  # pages that are fetched and not read yet; one can have 5 MB, a PDF file more
PAGE_TIMEOUT = 3.0  # seconds for one page, redirects included
BROWSER_NOTE = "The text is what a browser showed after it had run the scripts of the page."
PARTS = ("outline", "section", "find", "query")
# Parameters with which the text of a page is another than the one that the store has.
OTHER_TEXTS = (
    "links", "comments", "pages", "raw", "raw_html", "llms", "browser", "archived", "explain",
)  # fmt: skip
# For an archived copy in a search: further results come sooner than a second copy's turn.
COPY_SECONDS = 4.0
STORING_SECONDS = 1.0  # after the deadline, in which pages of a search are still stored
TWIN_SECONDS = 2.0  # for the Markdown source of a page, which was read already
LISTED_NOTE = (
    "The page itself could not be read; this is the source that the site's llms.txt lists."
)
ALTERNATE_NOTE = "The page itself has next to no text; this is the version that it names."


# ===== commands and their parameters ==============================================================

# fmt: off
COMMANDS: dict[str, Command] = {
    "read": {
        "help": "fetch pages and return their content as Markdown",
        "params": [
            {"name": "urls", "type": "list", "positional": True, "required": True,
             "aliases": ["url"], "between": BETWEEN_ADDRESSES,
             "help": f"URLs or files, up to {MAX_URLS}"},
            {"name": "query", "type": "str", "aliases": ["q"], "flags": ["-q"],
             "help": "return the passages that answer this question, not the start of the page"},
            {"name": "offset", "type": "int", "min": 0, "max": 10_000_000, "default": 0,
             "help": "characters to skip; pass next_offset from an earlier call to continue"},
            {"name": "pages", "type": "str",
             "help": "pages of PDF files to read, such as 3-7 or 1,4-6 (default: all)"},
            {"name": "outline", "type": "bool",
             "help": "list the headings, not the text (with find or query: those with its words)"},
            {"name": "section", "type": "str",
             "help": "the section with the heading nearest to this, such as Timeouts"},
            {"name": "find", "type": "list", "verbatim": True, "max_items": MAX_TEXTS,
             "help": "find a text: its place, with the sentence or row around it; repeatable"},
            {"name": "llms", "type": "str", "choices": ("index", "full"),
             "help": "read the site's llms.txt (index) or llms-full.txt (full), not the page"},
            {"name": "raw", "type": "bool",
             "help": "print the response as it came: HTML, JSON, CSV, source code"},
            {"name": "force", "type": "bool", "flags": ["-f"],
             "help": "ignore the stored page; fetch it again"},
            {"name": "links", "type": "bool", "help": "keep the URLs of links and images"},
            {
                "name": "comments",
                "type": "bool",
                "help": "add the comments of a Word file at its end",
            },
            {"name": "raw_html", "type": "bool",
             "help": "read the HTML page of GitHub, Stack Exchange, Hacker News and arXiv, not "
                     "their API"},
            {"name": "robots", "type": "bool",
             "help": "refuse pages that robots.txt disallows"},
            {"name": "page_timeout", "type": "float", "min": 0.1, "max": 120,
             "default": PAGE_TIMEOUT,
             "help": f"seconds for each page, redirects included (default: {PAGE_TIMEOUT:g})"},
            {"name": "browser", "type": "bool",
             "help": "render pages that need JavaScript in an installed Chromium or Chrome, with "
                     "the same address limits"},
            {"name": "archived", "type": "bool",
             "help": "if a page is gone, blocked or its server fails, read its newest copy in the "
                     "Internet Archive"},
            {"name": "explain", "type": "bool",
             "help": f"also list the {MAX_DROPPED} largest elements that a rule dropped"},
        ],
        "expendable": ("warnings",),
        "cannot": dict.fromkeys(
            ("urls_from", "connections", "host_pause"),
            "It is for a list of addresses (urls_from), on the command line only.",
        )
        | dict.fromkeys(
            ("site", "exclude_site", "since", "freshness", "engine", "count", "focus", "language"),
            "It is for a search; a page is read as it is.",
        ),
    },
}
# fmt: on


# ===== many pages at once =========================================================================


def run_read(
    params: dict[str, Any],
    report: ProgressCallback = None,
    *,
    local_files: bool = False,
    caller: str = COMMAND_LINE,
) -> Document:
    """Fetch pages; return {ok, pages: [{url, final_url, title, ..., text} or {url, error}]}.

    params: those of COMMANDS["read"], and timeout, max_chars, dry_run, verbose. Never raises. ok
    is true if one page was read; else the first page's error is the document's. local_files lets
    urls name files of this machine, too; only the command line sets it. caller: who asks, for the
    history, which notes pages of the web alone.
    """

    def operation(params: dict[str, Any]) -> Document:
        if len(params["urls"]) > MAX_URLS:
            message = f"urls holds {len(params['urls'])} addresses; up to {MAX_URLS} are allowed."
            hint = "Split them into several calls. Or give a file with them as {urls_from}."
            raise SearchError("invalid_input", message, hint)
        urls = list(dict.fromkeys(params["urls"]))
        if "pages" in params:
            from websearch.pages.pdf.read_pdf import parse_page_ranges

            parse_page_ranges(params["pages"])
        if params.get("dry_run"):
            headers = page_headers()
            requests = [
                {"method": "GET", "url": target_of(url, local_files), "headers": headers}
                for url in urls
            ]
            raise DryRun(requests[0] if len(requests) == 1 else {"requests": requests})
        deadline = deadline_of(params)
        targets = {url: result_or_error(target_of, url, local_files) for url in urls}
        keeps_links = params.get("links") or "llms" in params
        reading = {**params, "links": keeps_links}
        with contextlib.closing(PageStore()) as store:
            if any(params.get(name) for name in OTHER_TEXTS):
                pages = read_pages(targets, reading, deadline, report)
            else:
                pages = read_with_store(targets, reading, deadline, report, store)
            document = pages_document(pages, params, deadline)
            if "pages" in document and all(url.startswith("http") for url in urls):
                note(store, caller, READ, params, document["ok"])
        return document

    return run_operation("read_page.read", COMMANDS["read"], params, operation)


def read_for_search(
    urls: list[str],
    caller_params: dict[str, Any],
    deadline: float,
    report: ProgressCallback,
    store: PageStore,
) -> list[Page]:
    """Return pages whose whole texts a search or a check wants, as read_pages does.

    caller_params: of which page_timeout and verbose count. store: takes the good pages.
    """
    params = {
        "urls": urls,
        "max_chars": 0,
        "page_timeout": caller_params["page_timeout"],
        "timeout": max(MIN_TIMEOUT, deadline - time.monotonic()),
        "archived": True,
        "verbose": caller_params.get("verbose"),
    }
    targets = {url: result_or_error(target_of, url, False) for url in urls}
    pages = read_pages(targets, params, deadline, report, hurries=True)
    good = [page.to_store() for page in pages if not page.error]
    store.put_pages(good, deadline + STORING_SECONDS)
    return pages


def target_of(url: str, local_files: bool) -> str:
    """Return the address to read for what a caller gave; raises SearchError."""
    if local_files:
        from websearch.pages.fetch.local_files import is_local, local_url, refuse_file_name

        if is_local(url):
            return local_url(url)
        refuse_file_name(url)
    target = normal_url(url)
    check_site(target)
    return target


def fetch_target(
    url: str,
    limit: float,
    robots: RobotsCache | None,
    params: dict[str, Any],
    shared: SharedAnswers,
) -> Fetched | Document:
    """Fetch a page, or read the local file that target_of has allowed; raises SearchError.

    A page of a site whose API is known comes as what that says of it (a Document); the HTML page
    takes its place if the API fails.
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
        page: Fetched | Document = answer
        return page
    fetched = fetch_page(url, limit, robots)
    fetched.api_error = answer.message if answer else ""
    return fetched


def read_with_store(
    targets: dict[str, str | SearchError],
    params: dict[str, Any],
    deadline: float,
    report: ProgressCallback,
    store: PageStore,
) -> list[Page]:
    """Return pages as read_pages does; parts of a page that was read before need no request.

    A page that stands in the store whole, and was fetched within PART_SECONDS, is taken from there
    if a part of it is wanted and not with force. What was read is stored.
    """
    wants_part = params["offset"] or any(params.get(name) for name in PARTS)
    wants_part = wants_part and not params.get("force")
    known = store.get_pages(list(targets), PART_SECONDS) if wants_part else {}
    known = {url: page for url, page in known.items() if is_reusable(page, targets[url])}
    missing = {url: target for url, target in targets.items() if url not in known}
    fetched = {page.url: page for page in read_pages(missing, params, deadline, report)}
    good = [page.to_store() for page in fetched.values() if is_storable(page)]
    store.put_pages(good, deadline)
    return [fetched.get(url) or stored_page(known[url]) for url in targets]


def is_reusable(page: dict[str, Any], target: str | SearchError) -> bool:
    """Return whether a stored page can stand for one that would be fetched: whole and allowed.

    The text of a PDF file lacks the file's own outline.
    """
    is_whole = bool(page["text"]) and not page["truncated"]
    is_whole = is_whole and not refusing_rule(page["final_url"] or page["url"])
    return is_whole and isinstance(target, str) and not page["text"].startswith("## [page ")


def is_storable(page: Page) -> bool:
    """Return whether a page was read, is one of the web, and whole."""
    return not page.error and page.url.startswith("http") and not page.is_cut


def read_pages(
    checked: dict[str, str | SearchError],
    params: dict[str, Any],
    deadline: float,
    report: ProgressCallback,
    *,
    hurries: bool = False,
) -> list[Page]:
    """Return the page of each URL: its whole text, or its error.

    checked: for each URL the address to read, or what is wrong with it. hurries: see PageReading.
    """
    pages: dict[str, Page] = {}
    normal: dict[str, str] = {}
    for url, target in checked.items():
        if isinstance(target, SearchError):
            pages[url] = Page(error=target)
        else:
            normal[url] = target
    targets = list(dict.fromkeys(normal.values()))
    schedule = HostSchedule(0.0, CALL_HOST_CONNECTIONS)
    for number, target in enumerate(targets):
        schedule.put(Item(number, target, target))
    schedule.close()
    read: dict[str, Page] = {}
    connections = min(MAX_CONNECTIONS, len(targets))
    reading = PageReading(schedule, params, connections, deadline, hurries=hurries)
    for item, page in reading.pages():
        read[item.address] = page
        if report:
            report(item.address, len(read), len(targets))
    for url, target in normal.items():
        pages[url] = read.get(target) or Page(error=late_error())
    return [replace(pages[url], url=url) for url in checked]


def body_bytes(answer: object) -> int:
    """Return the bytes that a fetched page takes, 0 for an error or a document."""
    return len(answer.response.body) if isinstance(answer, Fetched) else 0


def late_error() -> SearchError:
    """Return the error of a page that the call had no time for."""
    message = "The page was not read before the time of the call was over."
    return SearchError("timeout", message, "Raise {timeout}.", retryable=True)


@functools.cache
def reading_seats() -> threading.Semaphore:
    """Return the seats of the calls of this process that make texts of pages.

    That is work for the processor: more at once only keep each other up, and a server's answers.
    """
    import threading

    return threading.Semaphore(READERS)


class PageReading:
    """Threads that fetch the pages of a schedule, and one that reads them.

    One thread reads all pages, because reading is work for the processor and not waiting. If there
    is a deadline, the smallest of the fetched pages is next, so that a huge one delays no other. A
    page that is still being read at its deadline is left behind.

    deadline: of all pages; each page has the params' page_timeout for fetching and timeout for
    reading, too. hurries: copies are read of pages that are gone alone, and Markdown sources only
    of pages that cannot be read, because further results of a search come sooner. done: items and
    pages, None at the end. unfinished: what is known of pages that are being read in another way,
    too.
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
        # Sorted by a size and a number that no other has; None says that a thread has ended.
        self.fetched: queue.PriorityQueue[tuple[float, int, Any]] = queue.PriorityQueue(MAX_UNREAD)
        self.done: queue.Queue[tuple[Item, Page] | None] = queue.Queue(MAX_UNREAD)
        self.waiting = threading.Semaphore(MAX_UNREAD)  # for pages that are read otherwise
        self.seats = threading.Semaphore(MAX_HOST_CONNECTIONS)  # of which so many have their turn
        self.browsers: set[Browser] = set()  # that run
        self.unread = ByteCount()
        self.unfinished: dict[int, tuple[Item, Page]] = {}

    def pages(self) -> Iterator[tuple[Item, Page]]:
        """Yield items and pages as they come, until the deadline."""
        import queue

        for work in [self.fetch_pages] * self.connections + [self.read_what_comes]:
            start_thread(work)
        try:
            with contextlib.suppress(queue.Empty):
                while page := take(self.done, self.deadline):
                    yield page
            yield from [*self.unfinished.values()]
        finally:
            self.deadline = 0.0  # threads begin nothing more
            for browser in list(self.browsers):
                browser.close()

    def is_over(self) -> bool:
        """Return whether the deadline has passed."""
        return time.monotonic() >= self.deadline

    def fetch_pages(self) -> None:
        """Fetch pages until there are no more, or the time is over."""
        import queue
        import threading

        with contextlib.suppress(queue.Full, SearchError):  # the time is over, or cancelled
            while (item := self.schedule.take()) is not None:
                self.unread.wait(self.is_over)
                answer = result_or_error(self.ask, item, verbose=self.verbose)
                size = body_bytes(answer)
                if answer is not None:
                    order = size if self.deadline < math.inf else 0
                    self.unread.add(size)
                    put((order, item.number, (item, answer)), self.fetched, self.deadline)
                del answer  # before the next one is fetched
            put((math.inf, threading.get_ident(), None), self.fetched, self.deadline)

    def ask(self, item: Item) -> Fetched | Document | SearchError | None:
        """Fetch the page of an item; None if it is put back."""
        answer = self.fetch(item.address)
        self.schedule.give_back(item)
        return answer

    def fetch(self, url: str) -> Fetched | Document | SearchError:
        """Fetch one page within its time, or return what failed."""
        limit = min(self.deadline, time.monotonic() + self.params["page_timeout"])
        answer: Fetched | Document | SearchError = result_or_error(
            fetch_target, url, limit, self.robots, self.params, self.shared, verbose=self.verbose
        )
        if isinstance(answer, SearchError) and answer.kind == "timeout":
            name = "{timeout}" if limit == self.deadline else "{page_timeout}"
            answer.hint = f"Raise {name}. Or skip this page."
        return answer

    def read(self, answer: Fetched | Document | SearchError) -> Page:
        """Return the page that was fetched, as soon as there is a seat.

        It is an error if that takes too long. Raises SearchError (interrupted).
        """
        deadline = min(self.deadline, deadline_of(self.params))
        seats = reading_seats()
        if not any(seats.acquire(timeout=pause) for pause in waits(deadline)):
            return Page(error=late_error())
        try:
            work = functools.partial(read_page, answer, self.params, deadline)
            page: Page | SearchError | None = result_or_error(
                in_time, work, deadline, verbose=self.verbose
            )
        finally:
            seats.release()
        if page is None:
            message = "The page was fetched, but not read before its time was over."
            page = SearchError("timeout", message, "Raise {timeout}.", retryable=True)
        return Page(error=page) if isinstance(page, SearchError) else page

    def read_what_comes(self) -> None:
        """Read the pages that are fetched, until the end or the deadline, and say so."""
        import queue

        with contextlib.suppress(queue.Empty, queue.Full, SearchError):  # too late, or cancelled
            try:
                self.read_all()
            finally:
                put(None, self.done, self.deadline)

    def read_all(self) -> None:
        """Read each page that is fetched; what may be read otherwise is left to another thread.

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
        """Wait until one more page may be read otherwise; raises SearchError (interrupted)."""
        return any(self.waiting.acquire(timeout=pause) for pause in waits(self.deadline))

    def other_ways(
        self, url: str, answer: Fetched | Document | SearchError, page: Page
    ) -> list[Callable[[], Page]]:
        """Return the ways to read a page better than it was read, the best first.

        Each returns a page, or the same page if it gives nothing more.
        """
        ways: list[Callable[[], Page]] = []
        if isinstance(answer, dict) or url.startswith("file:") or self.params.get("raw"):
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
        """Read a page in the first other way that gives more."""
        import queue

        with self.seats:
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
        """Return a page with the text of its Markdown source, if that is at the address."""
        twin = self.fetch_soon(address)
        if not isinstance(twin, Fetched) or not is_text(twin):
            return page
        other = self.read(twin)
        if not is_twin(page, other, twin):
            return page
        fields = {**page.fields, "source": other.fields["source"]}
        return replace(page, text=other.text, fields=fields)

    def read_listed(self, url: str, page: Page) -> Page:
        """Return the Markdown source that the llms.txt of a documentation lists for a page."""
        limit = min(self.deadline, time.monotonic() + TWIN_SECONDS)
        address = listed_twin(url, limit, self.robots, self.shared)
        other = self.read(self.fetch_soon(address)) if address else page
        return noted(other, LISTED_NOTE) if other.fields.get("source") == "markdown" else page

    def fetch_soon(self, address: str) -> Fetched | SearchError:
        """Fetch a page that may stand for another one; nobody waits long for it."""
        limit = min(self.deadline, time.monotonic() + TWIN_SECONDS)
        answer: Fetched | SearchError = result_or_error(fetch_page, address, limit, self.robots)
        return answer

    def read_alternate(self, address: str, page: Page) -> Page:
        """Return the version that a thin page names, if it has more text."""
        other = self.read(self.fetch(address))
        return noted(other, ALTERNATE_NOTE) if len(other.text) > len(page.text) else page

    def read_copy(self, url: str, error: SearchError) -> Page:
        """Return the copy of the Internet Archive of a page, or its error with what is known."""
        from websearch.pages.fetch.archive import newest_copy_of

        limit = self.deadline
        if self.hurries:
            limit = min(limit, time.monotonic() + COPY_SECONDS)
        return self.read(newest_copy_of(error, url, limit))

    def filled_by_browser(self, thin: Fetched, page: Page) -> Page:
        """Return a thin page as a browser shows it, or why it cannot."""
        from websearch.pages.fetch.browser import read_in_browser

        try:
            shown = read_in_browser(thin.url, self.deadline, self.browsers)
        except SearchError as error:
            failed = f"In a browser it was not read: {error}"
            if page.error:
                return Page(error=error)
            return replace(page, fields={**page.fields, "note": failed})
        other = result_or_error(check_site, shown.url) or self.read(shown)
        if isinstance(other, SearchError):
            return Page(error=other)
        if not other.error and len(other.text) >= len(page.text):
            return noted(other, BROWSER_NOTE)
        return page


def noted(page: Page, note: str) -> Page:
    """Return a page with a note on how it was read; one that it has already stays."""
    return replace(page, fields={"note": note, **page.fields})
