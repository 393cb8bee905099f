"""Read web pages: choose the store or the web for each, and build one document."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace

from websearch.base.calls import result_or_error
from websearch.base.site_rules import check_site, refusing_rule
from websearch.kit import (
    DEFAULT_MAX_CHARS,
    MIN_TIMEOUT,
    DryRun,
    SearchError,
    deadline_of,
    run_operation,
)
from websearch.pages.extract.beside import MAX_EXPLAINED
from websearch.pages.fetch.fetch import (
    copied_url,
    normal_url,
    page_headers,
)
from websearch.reading.finding import MAX_TEXTS
from websearch.reading.page import Page, stored_page
from websearch.reading.page_reading import PageReading, late_error
from websearch.reading.pages_document import SECTION_MAX_CHARS, pages_document, to_markdown
from websearch.reading.schedule import HostSchedule, Item
from websearch.store.history import COMMAND_LINE, READ, note
from websearch.store.page_store import PART_SECONDS, PageStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Command, Document, ProgressCallback
    from websearch.reading.page import Call

__all__ = ["COMMANDS", "run_read", "to_markdown"]
MAX_URLS = 50  # URLs per call
# Separates several URLs in one string; a comma inside a URL belongs to it.
BETWEEN_ADDRESSES = r"[\s,]{1,9}(?=https?://)|,\s|[\r\n]"
MAX_CONNECTIONS = 8  # connections at once
CALL_HOST_CONNECTIONS = 6  # of these, to one host: as many as a browser opens for one page
PAGE_TIMEOUT = 3.0  # seconds per page, redirects included
PARTS = ("outline", "section", "find", "query")
# Parameters that make a page's text differ from the stored text.
OTHER_TEXTS = (
    "links", "comments", "pages", "raw", "raw_html", "llms", "browser", "archived", "explain",
)  # fmt: skip
STORING_SECONDS = 1.0  # seconds after the deadline in which a search's pages are still stored


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
             "help": "list the headings, not the text (with find or query: only those that match)"},
            {"name": "section", "type": "list", "verbatim": True, "max_items": MAX_TEXTS,
             "help": "the section whose heading is closest to TEXT, such as Timeouts; repeatable: "
                     "several of one page, or one for each of the URLs"},
            {"name": "find", "type": "list", "verbatim": True, "max_items": MAX_TEXTS,
             "help": "text to find; prints its position and the sentence or row around it; "
                     "repeatable"},
            {"name": "tables", "type": "int", "min": 0, "max": 100_000, "metavar": "[N]",
             "help": "the table with this number; 0: list the tables"},
            {"name": "llms", "type": "str", "rare": True, "choices": ("index", "full"),
             "help": "read the site's llms.txt (index) or llms-full.txt (full), not the page"},
            {"name": "raw", "type": "bool",
             "help": "print the unconverted response: HTML, JSON, CSV, source code"},
            {"name": "force", "type": "bool", "flags": ["-f"],
             "help": "ignore the stored page; fetch it again"},
            {"name": "links", "type": "bool", "help": "keep the URLs of links and images"},
            {
                "name": "comments",
                "type": "bool",
                "rare": True,
                "help": "append the comments in a Word file",
            },
            {"name": "raw_html", "type": "bool", "rare": True,
             "help": "read the HTML page of GitHub, Stack Exchange, Hacker News, arXiv, Reddit and "
                     "X, not their API"},
            {"name": "robots", "type": "bool", "rare": True,
             "help": "refuse pages that robots.txt disallows"},
            {"name": "page_timeout", "type": "float", "min": 0.1, "max": 120,
             "default": PAGE_TIMEOUT,
             "help": f"seconds for each page, redirects included (default: {PAGE_TIMEOUT:g})"},
            {"name": "browser", "type": "bool",
             "help": "render pages that need JavaScript in an installed Chromium or Chrome, with "
                     "the same address limits"},
            {"name": "archived", "type": "bool",
             "help": "if a page is gone or blocked, or its server fails, read its newest copy in "
                     "the Internet Archive"},
            {"name": "explain", "type": "bool", "rare": True,
             "help": f"also list the {MAX_EXPLAINED} largest elements outside the text, and why"},
        ],
        "expendable": ("warnings",),
        "cannot": dict.fromkeys(
            ("urls_from", "connections", "host_pause"),
            "It is for a list of URLs (urls_from), on the command line only.",
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

    params: from COMMANDS["read"], and timeout, max_chars, dry_run, verbose. Never raises. ok
    is true if at least one page was read; else the document has the first page's error.
    local_files allows local files in urls; only the command line sets it. caller: the user of
    this call, for the history, which records only web pages.
    """

    def operation(params: dict[str, Any]) -> Document:
        if len(params["urls"]) > MAX_URLS:
            message = f"urls has {len(params['urls'])} URLs; up to {MAX_URLS} are allowed."
            hint = "Split them into several calls. Or pass a file that lists them as {urls_from}."
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
            if store.warnings:
                document["warnings"] = [*document.get("warnings", []), *store.warnings]
        return document

    limit = SECTION_MAX_CHARS if "section" in params else DEFAULT_MAX_CHARS
    return run_operation("read_page.read", COMMANDS["read"], params, operation, limit)


def pages(urls: list[str], call: Call) -> list[Page]:
    """Return the page for each URL in a search: from the store if recent enough, or the web.

    Fetched pages are stored. A page without text or error was not read, because the call is
    offline.
    """
    stored = {} if call.max_age == 0 else call.store.get_pages(urls, call.max_age)
    known = {
        url: stored_page(page)
        for url, page in stored.items()
        if not refusing_rule(page["final_url"] or url)
    }
    missing = [url for url in urls if url not in known]

    def report_page(_: str, fetched: int, __: int) -> None:
        if call.report:
            call.report("pages read", len(urls) - len(missing) + fetched + 1, len(urls) + 1)

    if missing and not call.is_offline:
        params = {"page_timeout": call.page_timeout, "verbose": call.verbose}
        fetched = read_for_search(missing, params, call.deadline, report_page, call.store)
        known |= {page.url: page for page in fetched}
    return [known.get(url) or Page(url) for url in urls]


def read_for_search(
    urls: list[str],
    caller_params: dict[str, Any],
    deadline: float,
    report: ProgressCallback,
    store: PageStore,
) -> list[Page]:
    """Return the pages for a search or a check, with their whole text, as read_pages does.

    caller_params: only page_timeout and verbose are used. store: receives the pages that were read.
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
    """Return the URL or file to read for a caller's input; raises SearchError."""
    if local_files:
        from websearch.pages.fetch.local_files import is_local, local_url

        if is_local(url):
            return local_url(url)
    target = normal_url(copied_url(url))
    check_site(target)
    return target


def read_with_store(
    targets: dict[str, str | SearchError],
    params: dict[str, Any],
    deadline: float,
    report: ProgressCallback,
    store: PageStore,
) -> list[Page]:
    """Return pages as read_pages does; a part of a stored page needs no request.

    A whole stored page fetched within PART_SECONDS is reused if only a part of it is requested and
    force is not set. Pages that were read are stored.
    """
    wants_part = params["offset"] or any(params.get(name) for name in PARTS) or "tables" in params
    wants_part = wants_part and not params.get("force")
    known = store.get_pages(list(targets), PART_SECONDS) if wants_part else {}
    known = {url: page for url, page in known.items() if is_reusable(page, targets[url])}
    missing = {url: target for url, target in targets.items() if url not in known}
    fetched = {page.url: page for page in read_pages(missing, params, deadline, report)}
    good = [page.to_store() for page in fetched.values() if is_storable(page)]
    store.put_pages(good, deadline)
    return [fetched.get(url) or stored_page(known[url]) for url in targets]


def is_reusable(page: dict[str, Any], target: str | SearchError) -> bool:
    """Return whether a stored page can replace a fetch: whole and allowed.

    The text of a PDF file does not include the file's own outline.
    """
    is_whole = bool(page["text"]) and not page["truncated"]
    is_whole = is_whole and not refusing_rule(page["final_url"] or page["url"])
    return is_whole and isinstance(target, str) and not page["text"].startswith("## [page ")


def is_storable(page: Page) -> bool:
    """Return whether a page was read, is from the web, and is whole."""
    return not page.error and page.url.startswith("http") and not page.is_cut


def read_pages(
    checked: dict[str, str | SearchError],
    params: dict[str, Any],
    deadline: float,
    report: ProgressCallback,
    *,
    hurries: bool = False,
) -> list[Page]:
    """Return the page for each URL: its whole text, or its error.

    checked: the URL to read for each of urls, or its error. hurries: see PageReading.
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
