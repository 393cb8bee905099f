"""Read web pages: fetch them at once, extract their text, fit it into one document."""

from __future__ import annotations

import itertools
import re
import time

from websearch.common import (
    DEFAULT_MAX_CHARS,
    DryRun,
    SearchError,
    deadline_of,
    drop_empty,
    error_document,
    error_markdown,
    fence_untrusted,
    frame_markdown,
    markdown_link,
    one_line,
    run_operation,
)
from websearch.pages.budget import fit_json, json_size, share_room, slice_end
from websearch.pages.fetch import (
    Fetched,
    RobotsCache,
    SharedAnswers,
    fetch_page,
    host_and_port,
    is_gone,
    normal_url,
    page_headers,
    proxy_for,
)
from websearch.pages.page_document import (
    MAX_DROPPED,
    in_time,
    page_document,
    result_or_error,
)
from websearch.pages.passages import PARAGRAPH_GAP, join_best
from websearch.pages.ranking import rank_windows
from websearch.pages.sites import read_through_api
from websearch.pages.thin_pages import wants_browser

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.common import Document, ProgressCallback
    from websearch.pages.browser import Browser

MAX_URLS = 50  # of one call
MAX_CONNECTIONS = 8  # at once
MAX_HOST_CONNECTIONS = 2  # at once to one host and port
MAX_UNREAD = 8  # pages that are fetched and not read yet; one can have 5 MB, a PDF file more
PAGE_TIMEOUT = 3.0  # seconds for one page, redirects included
# Characters of JSON that are kept free when max_chars is shared out: in each page for truncated,
# next_offset and a note, and in the document for everything outside of its pages.
PAGE_FIELDS_CHARS, DOCUMENT_FIELDS_CHARS = 70, 120
SEARCH_SPEED = 500_000  # characters a second that are searched for passages on a slow machine
ALWAYS_SEARCHED = 500_000  # characters of a page that are searched even at the deadline
MAX_LATENESS = 1.0  # seconds after the deadline in which passages may be searched for
# Of a query that pages are searched for: a longer one is a text, and each word takes time.
MAX_QUERY_CHARS, MAX_QUERY_WORDS = 2_000, 100
BROWSER_NOTE = "The text is what a browser showed after it had run the scripts of the page."
ALTERNATE_NOTE = "The page itself has next to no text; this is the version that it names."
PROXY_NOTE = (
    "Fetched through a proxy, which resolves names itself: names that lead to private addresses "
    "could not be refused."
)


# ===== commands and their parameters ==============================================================

# fmt: off
COMMANDS: dict[str, dict[str, Any]] = {
    "read": {
        "help": "fetch pages and return their content as Markdown",
        "params": [
            {"name": "urls", "type": "list", "positional": True, "required": True,
             "aliases": ["url"],
             "help": f"addresses of web pages, up to {MAX_URLS}; http:// or https://"},
            {"name": "query", "type": "str", "aliases": ["q"], "flags": ["-q"],
             "help": "return the passages that answer this instead of the head of the page"},
            {"name": "offset", "type": "int", "min": 0, "max": 10_000_000, "default": 0,
             "help": "characters of the text to skip; next_offset of an earlier call goes on"},
            {"name": "pages", "type": "str",
             "help": "pages of PDF files to read, such as 3-7 or 1,4-6; all by default"},
            {"name": "links", "type": "bool", "help": "keep the targets of links and images"},
            {"name": "raw_html", "type": "bool",
             "help": "read the HTML page of sites that are read through their API otherwise: "
                     "GitHub, Stack Exchange, Hacker News, arXiv"},
            {"name": "robots", "type": "bool",
             "help": "obey robots.txt: refuse pages that it disallows"},
            {"name": "page_timeout", "type": "float", "min": 0.1, "max": 120,
             "default": PAGE_TIMEOUT,
             "help": f"seconds for each page, redirects included (default: {PAGE_TIMEOUT:g})"},
            {"name": "browser", "type": "bool",
             "help": "let an installed Chromium or Chrome fill pages that only a script fills; it "
                     "reaches what read_page may reach, and nothing else"},
            {"name": "archived", "type": "bool",
             "help": "read the newest copy of the Internet Archive if a page is gone (404, 410, or "
                     "a name that no longer exists)"},
            {"name": "explain", "type": "bool",
             "help": f"also list the elements that a rule dropped, the {MAX_DROPPED} largest"},
        ],
        "expendable": ("warnings",),
        "cannot": dict.fromkeys(
            ("urls_from", "connections", "host_pause"),
            "It is for a list of addresses (urls_from), on the command line only.",
        ),
    },
}
# fmt: on


# ===== many pages at once =========================================================================


class Schedule:
    """Hands out the pages of a call to its connections, at most MAX_HOST_CONNECTIONS to a host."""

    def __init__(self, urls: list[str]) -> None:
        import threading

        self.waiting = list(enumerate(urls))
        self.busy: dict[tuple[str, int], int] = {}
        self.changed = threading.Condition()

    def take(self) -> tuple[int, str] | None:
        """Return the next (index, URL) whose host has a free connection, or None at the end."""
        with self.changed:
            while self.waiting:
                for position, (index, url) in enumerate(self.waiting):
                    host = host_and_port(url)
                    if self.busy.get(host, 0) < MAX_HOST_CONNECTIONS:
                        self.busy[host] = self.busy.get(host, 0) + 1
                        del self.waiting[position]
                        return index, url
                self.changed.wait()
        return None

    def give_back(self, url: str) -> None:
        """Free the connection to a URL's host."""
        with self.changed:
            self.busy[host_and_port(url)] -= 1
            self.changed.notify_all()


def run_read(
    params: dict[str, Any], report: ProgressCallback = None, *, local_files: bool = False
) -> Document:
    """Fetch pages; return {ok, pages: [{url, final_url, title, ..., text} or {url, error}]}.

    params: those of COMMANDS["read"], and timeout, max_chars, dry_run, verbose. Never raises. ok
    is true if one page was read; else the first page's error is the document's. local_files lets
    urls name files of this machine, too; only the command line sets it.
    """

    def operation(params: dict[str, Any]) -> Document:
        if len(params["urls"]) > MAX_URLS:
            message = f"urls holds {len(params['urls'])} addresses; up to {MAX_URLS} are allowed."
            raise SearchError("invalid_input", message, "Split them into several calls.")
        urls = list(dict.fromkeys(params["urls"]))
        if "pages" in params:
            from websearch.pages.pdf import parse_page_ranges

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
        pages = read_pages(targets, params, deadline, report)
        return pages_document(pages, params, deadline)

    return run_operation("read_page.read", COMMANDS["read"], params, operation)


def target_of(url: str, local_files: bool) -> str:
    """Return the address to read for what a caller gave; raises SearchError."""
    if local_files:
        from websearch.pages.local_files import is_local, local_url

        if is_local(url):
            return local_url(url)
    return normal_url(url)


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
        from websearch.pages.local_files import read_local_file

        return read_local_file(url)
    if params.get("raw_html"):
        return fetch_page(url, limit, robots)
    answer = result_or_error(read_through_api, url, limit, robots, params, shared)
    if answer is not None and not isinstance(answer, SearchError):
        page: Fetched | Document = answer
        return page
    fetched = fetch_page(url, limit, robots)
    fetched.api_error = answer.message if answer else ""
    return fetched


def read_pages(
    checked: dict[str, str | SearchError],
    params: dict[str, Any],
    deadline: float,
    report: ProgressCallback,
) -> list[Document]:
    """Return one page document for each URL: with the whole text, or with error and details.

    checked: for each URL the address to read, or what is wrong with it.
    """
    pages: dict[str, Document] = {}
    normal: dict[str, str] = {}
    for url, target in checked.items():
        if isinstance(target, SearchError):
            pages[url] = error_document(target)
        else:
            normal[url] = target
    targets = list(dict.fromkeys(normal.values()))
    read: dict[str, Document] = {}
    for index, page in read_at_once(targets, params, deadline):
        read[targets[index]] = page
        if report:
            report(targets[index], len(read), len(targets))
    message = "The page was not read before the time of the call was over."
    late = SearchError("timeout", message, "Raise timeout.", retryable=True)
    for url, target in normal.items():
        pages[url] = dict(read.get(target) or error_document(late))
    return [{"url": url, **pages[url]} for url in checked]


def read_at_once(
    urls: list[str], params: dict[str, Any], deadline: float
) -> Iterator[tuple[int, Document]]:
    """Fetch pages at once and read each; yield (index, page document) as they come.

    Ends at the deadline.
    """
    import queue

    reading = PageReading(urls, params, deadline)
    reading.start()
    try:
        for _ in urls:
            yield reading.done.get(timeout=reading.seconds_left())
    except queue.Empty:
        return
    finally:
        reading.stop()


class PageReading:
    """The work of one call: threads that fetch pages, and one that reads them.

    One thread reads all pages, because reading is work for the processor and not waiting: of the
    pages that are fetched, the smallest is next, so that a huge page delays no other. If it is
    still reading at the deadline, it is left behind. done: (index, page document).
    """

    def __init__(self, urls: list[str], params: dict[str, Any], deadline: float) -> None:
        import queue
        import threading

        self.urls = urls
        self.params = params
        self.deadline = deadline
        self.schedule = Schedule(urls)
        self.robots = RobotsCache() if params.get("robots") else None
        self.shared = SharedAnswers()
        self.fetched: queue.PriorityQueue[tuple[int, int, Any]] = queue.PriorityQueue(MAX_UNREAD)
        self.done: queue.Queue[tuple[int, Document]] = queue.Queue()
        self.seats = threading.Semaphore(MAX_HOST_CONNECTIONS)  # for pages that are read otherwise
        self.browsers: set[Browser] = set()  # that run

    def start(self) -> None:
        """Start the threads."""
        connections = min(MAX_CONNECTIONS, len(self.urls))
        for work in [self.fetch_pages] * connections + [self.read_what_comes]:
            start_thread(work)

    def stop(self) -> None:
        """End the browsers that still run; threads end by themselves."""
        for browser in list(self.browsers):
            browser.close()

    def fetch_pages(self) -> None:
        """Fetch pages until there are no more, or the time is over."""
        import queue

        while (taken := self.schedule.take()) is not None:
            index, url = taken
            answer = self.fetch(url)
            self.schedule.give_back(url)  # asking the archive may take long
            reads_copy = bool(self.params.get("archived"))
            if reads_copy and not isinstance(answer, dict) and is_gone(answer):
                from websearch.pages.archive import replace_gone

                answer = result_or_error(replace_gone, answer, url, self.deadline)
            size = len(answer.response.body) if isinstance(answer, Fetched) else 0
            try:
                self.fetched.put((size, index, answer), timeout=self.seconds_left())
            except queue.Full:
                return

    def seconds_left(self) -> float:
        """Return the seconds until the deadline."""
        return max(0.0, self.deadline - time.monotonic())

    def fetch(self, url: str) -> Fetched | Document | SearchError:
        """Fetch one page within its time, or return what failed."""
        limit = min(self.deadline, time.monotonic() + self.params["page_timeout"])
        answer: Fetched | Document | SearchError = result_or_error(
            fetch_target, url, limit, self.robots, self.params, self.shared
        )
        if isinstance(answer, SearchError) and answer.kind == "timeout":
            name = "timeout" if limit == self.deadline else "page_timeout"
            answer.details["hint"] = f"Raise {name}, or skip this page."
        return answer

    def read(self, answer: Fetched | Document | SearchError) -> Document:
        """Return the document of what was fetched."""
        return page_document(answer, self.params, self.deadline)

    def read_what_comes(self) -> None:
        """Read each page that was fetched; a thin one is left to a thread of its own."""
        import queue

        for _ in self.urls:
            try:
                _, index, answer = self.fetched.get(timeout=self.seconds_left())
            except queue.Empty:
                return
            if not self.seconds_left():
                return
            page = self.read(answer)
            if isinstance(answer, Fetched) and answer.is_thin:
                start_thread(self.read_thin, index, answer, page)
            else:
                self.done.put((index, page))

    def read_thin(self, index: int, answer: Fetched, page: Document) -> None:
        """Read a page with next to no text in another way, if there is one."""
        with self.seats:
            if time.monotonic() < self.deadline:
                other = result_or_error(self.read_otherwise, answer, page)
                page = page if isinstance(other, SearchError) else other
        self.done.put((index, page))

    def read_otherwise(self, thin: Fetched, page: Document) -> Document:
        """Return the document of a thin page, read in another way if that gives more.

        page: its document so far.
        """
        if thin.url.startswith("file:"):
            return page
        if thin.alternate:
            other = self.read(self.fetch(thin.alternate))
            if len(other.get("text", "")) > len(page.get("text", "")):
                return {"note": ALTERNATE_NOTE, **other}
        return self.filled_by_browser(thin, page) if wants_browser(self.params) else page

    def filled_by_browser(self, thin: Fetched, page: Document) -> Document:
        """Return the document of a thin page as a browser shows it, or why there is none."""
        from websearch.pages.browser import read_in_browser

        try:
            shown = read_in_browser(thin.url, self.deadline, self.browsers)
        except SearchError as error:
            failed = f"In a browser it was not read: {error}"
            return {**page, "note": failed} if page["ok"] else error_document(error)
        other = self.read(shown)
        if other["ok"] and len(other["text"]) >= len(page.get("text", "")):
            return {"note": BROWSER_NOTE, **other}
        return page


def start_thread(work: Callable[..., None], *arguments: Any) -> None:
    """Start a thread that does not keep the process alive."""
    import threading

    threading.Thread(target=work, args=arguments, daemon=True).start()


# ===== the document: what fits of the pages =======================================================


def pages_document(pages: list[Document], params: dict[str, Any], deadline: float) -> Document:
    """Return the document of pages, their texts cut to share out max_chars.

    Longer pages get what shorter ones do not use. With a query, a page gets passages.
    """
    good = [page for page in pages if page["ok"]]
    texts = [page.pop("text") for page in good]
    for page, text in zip(good, texts, strict=True):
        page["chars"] = len(text)
    document: Document = {"ok": True, "provider": "read_page", "pages": pages}
    if not good:
        document = {name: pages[0][name] for name in ("ok", "error", "details")}
        return {**document, "pages": pages} if len(pages) > 1 else document
    if "query" in params:
        document["query"] = searched_query(params["query"])
    if any(proxy_for(page["final_url"]) for page in good):
        document["warnings"] = [PROXY_NOTE]
    limit = params.get("max_chars", DEFAULT_MAX_CHARS)
    for page in good if limit else []:  # at most half of the room is for what was dropped
        while page.get("dropped") and json_size(page["dropped"]) > limit // (2 * len(good)):
            page["dropped"].pop()
    reserved = PAGE_FIELDS_CHARS * len(good) + DOCUMENT_FIELDS_CHARS
    room = max(0, limit - json_size(document) - reserved) if limit else 0
    wanted = [json_size(text[params["offset"] :]) for text in texts]
    shares = share_room(wanted, room, [1.0] * len(texts))
    for page, text, share in zip(good, texts, shares, strict=True):
        fill_page(page, text, params, max(1, share) if limit else 0, deadline)
    return document


def fill_page(
    page: Document, text: str, params: dict[str, Any], room: int, deadline: float
) -> None:
    """Put into a page's document what fits of its text: passages, or a slice of it.

    room: characters of JSON; 0 means no limit. truncated and next_offset say that there is more.
    """
    cut = page.pop("cut", None)
    notes = [page.pop("note", "")]
    if "query" in params:
        query = searched_query(params["query"])
        if query != params["query"]:
            notes.append("The query is too long; only its beginning was searched for.")
        limit = deadline + MAX_LATENESS
        passages = in_time(lambda: fitting_passages(text, query, room, deadline), limit)
        if passages:
            page["passages"] = passages
            # Headings and the space between passages are not text that was left out.
            if cut or sum(len(passage["text"]) for passage in passages) < len(text) * 9 // 10:
                page["truncated"] = True
            page |= drop_empty({"note": " ".join(filter(None, notes))})
            return
        why = "No time was left for the query"
        if passages is not None:
            why = "No passage holds a word of the query"
        notes.append(f"{why}; this is the beginning of the page.")
    start = params["offset"]
    if start and start >= len(text):
        notes.append(f"The text ends at {len(text)}, before this offset.")
    end = slice_end(text, start, room)
    page["text"] = text[start:end]
    if end < len(text):
        page |= {"truncated": True, "next_offset": end}
    elif cut:
        page["truncated"] = True
        notes[0] = notes[0] or "The page is longer than what was read of it; its end is missing."
    page |= drop_empty({"note": " ".join(filter(None, notes))})


def searched_query(query: str) -> str:
    """Return the beginning of a query that pages are searched for, its lines as they are."""
    words = list(itertools.islice(re.finditer(r"\S+", query[:MAX_QUERY_CHARS]), MAX_QUERY_WORDS))
    end = words[-1].end() if words else 0
    return query[:end] if query[end:].strip() else query


def fitting_passages(text: str, query: str, room: int, deadline: float) -> list[dict[str, str]]:
    """Return the passages of a text that answer a query within room characters of JSON.

    If the time that is left is too short for the whole text, its beginning is searched.
    """
    left = deadline - time.monotonic()
    searched = text[: max(ALWAYS_SEARCHED, int(left * SEARCH_SPEED))]
    windows = rank_windows(searched, query)
    if not room:
        return join_best(searched, windows, 0)
    return fit_json(lambda limit: join_best(searched, windows, limit), room) or []


# ===== the document for people ====================================================================


def to_markdown(document: Document) -> str:
    """Return a document as Markdown. What the pages say stands between fences, as untrusted."""
    blocks = [block for page in document.get("pages", []) for block in page_markdown(page)]
    return frame_markdown(document, *blocks)


def page_markdown(page: Document) -> list[str]:
    """Return the Markdown of one page: heading, title, author and date, text, how to go on."""
    if not page["ok"]:
        return [f"## {one_line(page['url'], 200)}", error_markdown(page)]
    facts = [str(page[name]) for name in ("author", "published") if page.get(name)]
    facts += [f"updated {page['updated']}"] if "updated" in page else []
    facts += [str(page[name]) for name in ("license", "language") if page.get(name)]
    facts += [f"archived {page['archived']}"] if "archived" in page else []
    passages = [
        f"{passage['heading']}\n\n{passage['text']}".strip() for passage in page.get("passages", [])
    ]
    title = f"# {page['title']}" if page.get("title") else ""
    text = PARAGRAPH_GAP.join(passages) or page.get("text", "")
    parts = ["\n".join(line for line in (title, " · ".join(facts)) if line), text]
    more = f"{page['chars']} characters in all; more with offset {page.get('next_offset')}"
    source = host_and_port(page["final_url"])[0] or "file"
    return [
        f"## {markdown_link(source, page['final_url'])}",
        page.get("note", ""),
        fence_untrusted("\n\n".join(part for part in parts if part)),
        more if page.get("next_offset") else "",
        dropped_markdown(page.get("dropped", [])),
    ]


def dropped_markdown(dropped: list[Document]) -> str:
    """Return the list of dropped elements, fenced as untrusted; "" if there are none."""
    form = "{rule}: {element} ({chars}): {text}"
    lines = [form.format(**element) for element in dropped]
    listed = fence_untrusted("\n".join(lines))
    return f"Dropped (rule: element (characters): text):\n\n{listed}" if lines else ""
