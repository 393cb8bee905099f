"""Read web pages: fetch them at once, extract their text, fit it into one document."""

from __future__ import annotations

import re
import time

from websearch.common import (
    DEFAULT_MAX_CHARS,
    DryRun,
    SearchError,
    clean_text,
    deadline_of,
    drop_empty,
    dump_json,
    error_document,
    error_markdown,
    fence_untrusted,
    markdown_link,
    run_operation,
    shorten,
)
from websearch.html_tree import unescape
from websearch.pages.content import find_content
from websearch.pages.fetch import (
    PAGE_HEADERS,
    Fetched,
    RobotsCache,
    blocked_error,
    check_status,
    fetch_page,
    find_wall,
    host_and_port,
    normal_url,
    proxy_for,
)
from websearch.pages.markdown import content_markdown
from websearch.pages.metadata import find_metadata, linked_data, meta_values
from websearch.pages.other_formats import (
    check_binary,
    decode_body,
    feed_markdown,
    fenced,
    json_markdown,
    sniff_kind,
)
from websearch.pages.passages import json_size, select_passages, share_room, slice_end

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Document, ProgressCallback
    from websearch.pages.content import Page

MAX_URLS = 50  # of one call
MAX_CONNECTIONS = 8  # at once
MAX_HOST_CONNECTIONS = 2  # at once to one host and port
PAGE_TIMEOUT = 3.0  # seconds for one page, redirects included
LARGE_PAGE = 200_000  # bytes; a smaller one is read too quickly to tell the pace
MAX_WALL_CHARS = 1_500  # a page with more text than this is no bot wall, whatever it mentions
MAX_WALL_HTML = 100_000  # characters; the same for a page with more HTML: walls are small
MIN_PAGE_CHARS = 200  # a page with less text may be a shell that JavaScript fills
# Characters of JSON that a page's document takes besides its text (truncated, next_offset, a note),
# and the whole document besides its pages: what is kept free when max_chars is shared out.
PAGE_FIELDS_CHARS, DOCUMENT_FIELDS_CHARS = 70, 120
PROXY_NOTE = (
    "Fetched through a proxy, which resolves names itself: names that lead to private addresses "
    "could not be refused."
)


# ===== commands and their parameters ==============================================================

COMMANDS: dict[str, dict[str, Any]] = {
    "read": {
        "help": "fetch pages and return their content as Markdown",
        "params": [
            {
                "name": "urls",
                "type": "list",
                "positional": True,
                "required": True,
                "aliases": ["url"],
                "help": f"addresses of web pages, up to {MAX_URLS}; http:// or https://",
            },
            {
                "name": "query",
                "type": "str",
                "aliases": ["q"],
                "flags": ["-q"],
                "help": "return the passages that answer this instead of the head of the page",
            },
            {
                "name": "offset",
                "type": "int",
                "min": 0,
                "max": 10_000_000,
                "default": 0,
                "help": "characters of the text to skip; next_offset of an earlier call goes on",
            },
            {
                "name": "links",
                "type": "bool",
                "help": "keep the targets of links and images",
            },
            {
                "name": "robots",
                "type": "bool",
                "help": "obey robots.txt: refuse pages that it disallows",
            },
            {
                "name": "page_timeout",
                "type": "float",
                "min": 0.1,
                "max": 120,
                "default": PAGE_TIMEOUT,
                "help": f"seconds for each page, redirects included (default: {PAGE_TIMEOUT:g})",
            },
        ],
        "expendable": ("warnings",),
    },
}


# ===== from a fetched page to its part of the document ============================================

# What a page without text says to clients without JavaScript.
_NEEDS_SCRIPT = (
    r"(?i)(?:enable|requires?|need|activate|turn on|without)\W+(?:\w+\W+){0,4}javascript"
    r"|javascript\W+(?:\w+\W+){0,4}(?:disabled|required|enabled|deaktiviert|aktivieren)"
    r"|<div[^>]{0,200}\bid=[\"']?(?:root|app|__next|__nuxt|___gatsby|svelte)\b[^>]{0,200}>\s*</div>"
    r"|<app-root[^>]{0,200}>\s*</app-root>"
)


def read_fetched(fetched: Fetched, keep_links: bool) -> Document:
    """Return what a fetched page says: final_url, title, author, published, language, text.

    text is the whole page as Markdown; cut says that the page went on. Raises SearchError.
    """
    check_status(fetched)
    response = fetched.response
    content_type = response.headers.get("content-type", "").lower()
    host = host_and_port(fetched.url)[0]
    check_binary(response.body, content_type, host)
    source = decode_body(response.body, content_type)
    kind = sniff_kind(source, content_type, fetched.url)
    fields: Document = {"final_url": fetched.url}
    cut = response.cut
    if kind == "html":
        page_fields, text, page_cut = read_html(source, fetched, keep_links)
        fields |= page_fields
        cut = cut or page_cut
    elif kind == "feed":
        fields["title"], text = feed_markdown(source, fetched.url, keep_links)
    elif kind == "json":
        text = json_markdown(source)
    elif kind == "xml":
        text = fenced(clean_text(source), "xml")
    else:
        text = clean_text(source.replace("\r\n", "\n").replace("\r", "\n")).strip()
        heading = re.match(r"#\s+(.+)", text)
        fields["title"] = heading[1].strip() if heading else ""
    if not text.strip():
        hint = "Open the page in a browser, or use another source."
        raise SearchError("unsupported", f"{host} sent a page without any text.", hint)
    return drop_empty({**fields, "text": text, "cut": cut or None})


def read_html(html: str, fetched: Fetched, keep_links: bool) -> tuple[Document, str, bool]:
    """Return metadata, Markdown and whether it was cut, of an HTML page.

    Raises SearchError (blocked) for a bot wall and for a shell that only JavaScript fills.
    """
    content = find_content(html)
    page = content.page
    base = base_address(page, fetched.url)
    text = content_markdown(content, base, keep_links)
    data = linked_data(page)
    if len(text) < MIN_PAGE_CHARS or len(text) * 4 < len(data.get("text", "")):
        article = clean_text(unescape(re.sub(r"<[^<>]*>", " ", data.get("text", ""))))
        text = article.strip() if len(article) > len(text) else text
    host = host_and_port(fetched.url)[0]
    onward = refresh_target(page, base) if len(text) < MIN_PAGE_CHARS else ""
    if onward:
        message = f"{host} sent no page but one that leads on to {shorten(onward, 200)}."
        raise SearchError("http", message, "Give that address.", status=fetched.response.status)
    if len(text) < MAX_WALL_CHARS:
        wall = find_wall(fetched.response, html) if len(html) < MAX_WALL_HTML else ""
        if wall and (len(text) < MIN_PAGE_CHARS or page.root.prose < MIN_PAGE_CHARS):
            raise blocked_error(host, wall, fetched.response.status)
    if len(text) < MIN_PAGE_CHARS and re.search(_NEEDS_SCRIPT, html):
        message = f"{host} sent a page that only JavaScript fills with text."
        hint = "Open it in a browser, or look for the site's API, feed or another source."
        raise SearchError("blocked", message, hint, status=fetched.response.status)
    return find_metadata(page), text, page.cut


def refresh_target(page: Page, base: str) -> str:
    """Return the address that a page without text sends a browser to at once, or ""."""
    from urllib.parse import urljoin

    match = re.match(
        r"""(?i)[0-5]?\s*[;,]\s*url\s*=\s*['"]?([^'"]+)""", meta_values(page).get("refresh", "")
    )
    try:
        return urljoin(base, match[1].strip()) if match else ""
    except ValueError:  # an IPv6 address that is none
        return ""


def base_address(page: Page, url: str) -> str:
    """Return what relative links of a page are relative to."""
    from urllib.parse import urljoin

    for node in page.nodes:
        if node.tag == "base" and node.attributes.get("href"):
            try:
                return urljoin(url, node.attributes["href"])
            except ValueError:
                return url
    return url


# ----- many pages at once


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
                for place, (index, url) in enumerate(self.waiting):
                    host = host_and_port(url)
                    if self.busy.get(host, 0) < MAX_HOST_CONNECTIONS:
                        self.busy[host] = self.busy.get(host, 0) + 1
                        del self.waiting[place]
                        return index, url
                self.changed.wait()
        return None

    def give_back(self, url: str) -> None:
        """Free the connection to a URL's host."""
        with self.changed:
            self.busy[host_and_port(url)] -= 1
            self.changed.notify_all()


def fetch_all(
    urls: list[str], params: dict[str, Any], deadline: float, done: Callable[[int, Any], None]
) -> None:
    """Fetch pages at once and call done(index, Fetched or SearchError) for each, the small first.

    done is called in this thread, where it may take its time: of the pages that are there, the
    smallest is handed over first, so that a huge one delays no other. Ends at the deadline.
    """
    import queue
    import threading

    answers: queue.Queue[tuple[int, Fetched | SearchError]] = queue.Queue()
    schedule = Schedule(urls)
    robots = RobotsCache() if params.get("robots") else None

    def work() -> None:
        while (taken := schedule.take()) is not None:
            index, url = taken
            limit = min(deadline, time.monotonic() + params["page_timeout"])
            answer = attempt(lambda: fetch_page(url, limit, robots))  # noqa: B023
            if isinstance(answer, SearchError) and answer.kind == "timeout":
                answer.details["hint"] = "Give it more time with --page-timeout, or skip it."
            answers.put((index, answer))
            schedule.give_back(url)

    for _ in range(min(MAX_CONNECTIONS, len(urls))):
        threading.Thread(target=work, daemon=True).start()
    there: list[tuple[int, int, Fetched | SearchError]] = []
    for _ in urls:
        while not there or not answers.empty():
            try:
                index, answer = answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                return
            size = len(answer.response.body) if isinstance(answer, Fetched) else 0
            there.append((size, index, answer))
        smallest = min(there, key=lambda one: one[:2])
        there.remove(smallest)
        done(smallest[1], smallest[2])


def attempt(work: Callable[[], Any]) -> Any:
    """Return what work returns, or the SearchError that it raises; a defect of ours becomes one."""
    try:
        return work()
    except SearchError as error:
        return error
    except Exception as error:  # noqa: BLE001  one page's trouble must not cost the others
        message = f"This page could not be read ({type(error).__name__})."
        return SearchError(
            "internal", message, "ProgressCallback the address; other pages are not affected."
        )


def run_read(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Fetch pages; return {ok, pages: [{url, final_url, title, ..., text} or {url, error}]}.

    params: those of COMMANDS["read"], and timeout, max_chars, dry_run, verbose. Never raises. ok
    is true if one page was read; else the first page's error is the document's.
    """

    def operation(params: dict[str, Any]) -> Document:
        if len(params["urls"]) > MAX_URLS:
            message = f"urls holds {len(params['urls'])} addresses; up to {MAX_URLS} are allowed."
            raise SearchError("invalid_input", message, "Split them into several calls.")
        urls = list(dict.fromkeys(params["urls"]))
        if params.get("dry_run"):
            requests = [
                {"method": "GET", "url": normal_url(url), "headers": PAGE_HEADERS} for url in urls
            ]
            raise DryRun(requests[0] if len(requests) == 1 else {"requests": requests})
        pages = read_pages(urls, params, report)
        return pages_document(pages, params)

    return run_operation("read_page.read", COMMANDS["read"], params, operation)


def read_pages(urls: list[str], params: dict[str, Any], report: ProgressCallback) -> list[Document]:
    """Return one page document for each URL: with the whole text, or with error and details."""
    deadline = deadline_of(params)
    pages: dict[str, Document] = {}
    normal: dict[str, str] = {}
    for url in urls:
        checked = attempt(lambda: normal_url(url))  # noqa: B023
        if isinstance(checked, SearchError):
            pages[url] = error_document(checked)
        else:
            normal[url] = checked
    targets = list(dict.fromkeys(normal.values()))
    read: dict[str, Document] = {}

    pace = 0.0  # seconds for a byte, of the slowest large page so far

    def done(index: int, answer: Fetched | SearchError) -> None:
        nonlocal pace
        outcome: Any = answer
        if isinstance(answer, Fetched):
            size, begin = len(answer.response.body), time.monotonic()
            if begin + size * pace >= deadline:  # it would not be ready in time
                return
            outcome = attempt(lambda: read_fetched(answer, bool(params.get("links"))))
            if size >= LARGE_PAGE:
                pace = max(pace, (time.monotonic() - begin) / size)
        failed = isinstance(outcome, SearchError)
        read[targets[index]] = error_document(outcome) if failed else {"ok": True, **outcome}
        if report:
            report(targets[index], len(read), len(targets))

    fetch_all(targets, params, deadline, done)
    late = SearchError(
        "timeout", "The time of the whole call was over.", "Raise --timeout.", retryable=True
    )
    for url, target in normal.items():
        pages[url] = dict(read.get(target) or error_document(late))
    return [{"url": url, **pages[url]} for url in urls]


# ----- the document: what fits of the pages


def pages_document(pages: list[Document], params: dict[str, Any]) -> Document:
    """Return the document of pages, their texts cut to share out max_chars.

    What a short page does not use goes to the longer ones. A page with --query gets passages.
    """
    good = [page for page in pages if page["ok"]]
    texts = [page.pop("text") for page in good]
    for page, text in zip(good, texts, strict=True):
        page["chars"] = len(text)
    first_error = next((page for page in pages if not page["ok"]), None)
    document: Document = {"ok": True, "provider": "read_page", "pages": pages}
    if not good and first_error:
        document = {name: first_error[name] for name in ("ok", "error", "details")}
        return {**document, "pages": pages} if len(pages) > 1 else document
    if "query" in params:
        document["query"] = params["query"]
    proxies = {proxy_for(page["final_url"]) for page in good} - {""}
    if proxies:
        document["warnings"] = [PROXY_NOTE]
    limit = params.get("max_chars", DEFAULT_MAX_CHARS)
    reserved = PAGE_FIELDS_CHARS * len(good) + DOCUMENT_FIELDS_CHARS
    room = max(0, limit - json_size(document) - reserved) if limit else 0
    wanted = [json_size(text[params["offset"] :]) for text in texts]
    shares = share_room(wanted, room, [1.0] * len(texts))
    for index, (page, text) in enumerate(zip(good, texts, strict=True)):
        fill_page(page, text, params, max(1, shares[index]) if limit else 0)
    return document


def fill_page(page: Document, text: str, params: dict[str, Any], room: int) -> None:
    """Put into a page's document what it may hold of its text: passages or a slice.

    room: characters of JSON; 0 means no limit. truncated and next_offset say that there is more.
    """
    cut = page.pop("cut", None)
    if "query" in params:
        passages = select_passages(text, params["query"], room * 9 // 10)
        while room and len(passages) > 1 and json_size(passages) > room:
            passages.pop()
        if passages and not (room and json_size(passages) > room):
            page["passages"] = passages
            # Headings and the space between passages are no text that was left out.
            if sum(len(one["text"]) for one in passages) < len(text) * 9 // 10:
                page["truncated"] = True
            return
        page["note"] = "No passage holds a word of the query; this is the beginning of the page."
    start = params["offset"]
    if start and start >= len(text):
        page["note"] = f"The text ends at {len(text)}, before this offset."
    end = slice_end(text, start, room)
    page["text"] = text[start:end]
    if end < len(text):
        page |= {"truncated": True, "next_offset": end}
    elif cut:
        page["truncated"] = True
        page["note"] = "The page is longer than what was read of it; its end is missing."


# ===== the document for people and for other scripts ==============================================


def to_markdown(document: Document) -> str:
    """Return a document as Markdown, page text fenced as untrusted."""
    if "request" in document:
        return f"```json\n{dump_json(document['request'], pretty=True)}\n```"
    blocks = [] if document["ok"] else [error_markdown(document)]
    blocks += [f"> {warning}" for warning in document.get("warnings", [])]
    for page in document.get("pages", []):
        blocks += page_markdown(page)
    if document.get("truncated"):
        blocks.append(document["truncated"]["hint"])
    return "\n\n".join(blocks)


def page_markdown(page: Document) -> list[str]:
    """Return one page's part of the Markdown: heading, facts, text or passages, how to go on."""
    if not page["ok"]:
        return [f"## {page['url']}", error_markdown(page)]
    url = str(page.get("final_url", page["url"]))
    facts = [str(page[name]) for name in ("author", "published", "language") if page.get(name)]
    passages = [f"{one['heading']}\n\n{one['text']}".strip() for one in page.get("passages") or []]
    text = "\n\n[...]\n\n".join(passages) or page.get("text", "")
    blocks = [
        f"## {markdown_link(str(page.get('title') or url), url)}",
        " · ".join(facts),
        page.get("note", ""),
    ]
    blocks.append(fence_untrusted(text))
    if page.get("next_offset"):
        blocks.append(f"{page['chars']} characters in all; more with offset {page['next_offset']}")
    return [block for block in blocks if block]


RUN: dict[str, Callable[..., Document]] = {"read": run_read}
