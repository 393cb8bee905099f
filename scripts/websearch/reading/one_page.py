"""Convert a fetched response to a page: title, author, date, language, and text as Markdown."""

from __future__ import annotations

import re
import time
from dataclasses import replace

from websearch.base.calls import result_or_error
from websearch.base.untrusted import unescape
from websearch.kit import SearchError, clean_text, drop_empty, one_line, shorten
from websearch.markdown.foreign_text import harmless_markdown
from websearch.pages.extract.beside import BesideText
from websearch.pages.extract.content import find_content
from websearch.pages.extract.interstitials import MAX_WALL_TEXT, address_wall, interstitial_error
from websearch.pages.extract.markdown import content_markdown
from websearch.pages.extract.metadata import find_metadata
from websearch.pages.extract.offers import offer_line
from websearch.pages.extract.other_formats import (
    calendar_markdown,
    check_binary,
    feed_markdown,
    fenced,
    json_markdown,
    notebook_markdown,
    read_csv,
    read_mail,
    sniff_kind,
)
from websearch.pages.extract.thin_pages import (
    MIN_PAGE_CHARS,
    OtherVersions,
    ThinPageError,
    check_content,
    frame_addresses,
    is_menu,
    refresh_target,
)
from websearch.pages.fetch.charsets import decode_page
from websearch.pages.fetch.fetch import (
    Fetched,
    check_status,
    fetched_bytes,
    host_and_port,
    is_gone,
    is_office,
    is_pdf,
)
from websearch.pages.page_content import PageContent
from websearch.reading.markdown_sources import is_markdown, read_markdown, twin_address
from websearch.reading.page import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from websearch.kit import Document
    from websearch.pages.extract.page_tree import PageTree

    Result = TypeVar("Result")

PDF_TIME_SHARE = 0.8  # share of the remaining time, so a partly read long file is not late
# Characters per field; a page's own description can have any length.
MAX_FINAL_URL = 1_000  # characters of the URL after redirects
FIELD_CHARS = {
    "title": 300, "author": 200, "published": 40, "updated": 40, "license": 60, "language": 40,
}  # fmt: skip
RAW_NOTE = "The unconverted response."
PAYWALL_NOTE = "The page says that its full text is for subscribers only; this may be a part of it."
_PAYWALL = r"(?i)\"isAccessibleForFree\"\s{0,9}:\s{0,9}\"?(?:https?://schema\.org/)?false"
BROKEN_NOTE = "The connection broke before the whole page arrived: this is its beginning."


def read_bytes(
    url: str, body: bytes, content_type: str, params: dict[str, Any], deadline: float
) -> Document:
    """Return the document of a page or file from its bytes, without a request.

    url: the base for relative links. content_type: as a server would send it; "" if unknown.
    params: parameters of read_page; only links, pages and explain are used. deadline: as
    time.monotonic(). The result is a Page's document, with the whole page as its text.
    """
    return read_page(fetched_bytes(url, body, content_type), params, deadline).document()


def read_page(
    answer: Fetched | PageContent | SearchError, params: dict[str, Any], deadline: float
) -> Page:
    """Return the fetched page, or its error; the caller sets its url.

    answer: the response, or a PageContent if the site's API was used.
    """
    verbose = bool(params.get("verbose"))
    content = (
        answer
        if isinstance(answer, SearchError)
        else result_or_error(read_answer, answer, params, deadline, verbose=verbose)
    )
    if isinstance(content, SearchError):
        if isinstance(answer, Fetched) and answer.api_error:
            add_hint(content, f"Its API: {answer.api_error}")
        is_gone_or_refused = not isinstance(answer, PageContent) and (
            is_gone(answer) or is_refused(content)
        )
        if is_gone_or_refused and not params.get("archived"):
            add_hint(content, "With {archived}, a copy from the Internet Archive is read.")
        versions = content.versions if isinstance(content, ThinPageError) else None
        return Page(error=content, versions=versions)
    if isinstance(answer, Fetched) and answer.copy:
        from websearch.pages.fetch.archive import archived_fields

        content.fields |= {"final_url": answer.copy, **archived_fields(answer.copy)}
    return Page(
        text=content.text,
        is_cut=content.is_cut,
        fields=content.fields,
        outside=harmless_markdown(clean_text(content.outside)),
        versions=content.versions,
        bookmarks=content.bookmarks,
    )


def is_refused(error: SearchError) -> bool:
    """Return whether a site blocked the request or failed, so a copy from elsewhere may help."""
    status = error.status
    return error.kind == "blocked" or status in (403, 451) or status >= 500


def add_hint(error: SearchError, hint: str) -> None:
    """Add a sentence to an error's hint."""
    error.hint = f"{error.hint} {hint}".strip()


def result_by_deadline(work: Callable[[], Result], deadline: float) -> Result | None:
    """Return the result of work, or None if it is not ready by the deadline.

    A late thread is abandoned: nothing can stop it, but it does not keep the process alive. Raises
    what work raises.
    """
    import threading

    results: list[Result] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:  # noqa: BLE001  raised again below
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(max(0.0, min(deadline - time.monotonic(), threading.TIMEOUT_MAX)))
    if errors:
        raise errors[0]
    return results[0] if results else None


def read_answer(
    answer: Fetched | PageContent, params: dict[str, Any], deadline: float
) -> PageContent:
    """Return the content of a page, with final_url; a site's API answers with it.

    All page text passes through here: the text is cleaned, and the fields are shortened and put on
    one line. With explain, an HTML page has the field dropped. Raises SearchError.
    """
    if isinstance(answer, PageContent):
        content = answer
    else:
        check_status(answer)
        content = read_body(answer, params, deadline)
        content.fields.setdefault("final_url", answer.url)
        content.is_cut = content.is_cut or answer.response.cut
        if answer.is_broken:
            content.note = f"{BROKEN_NOTE} {content.note}".strip()
    text = clean_text(content.text)
    if content.is_foreign and not params.get("links"):
        text = harmless_markdown(text)
    own = content.fields
    if not text.strip():
        message = f"{named_host(own['final_url'])} sent a page without any text."
        hint = "Open the page in a browser, or use another source."
        if content.versions and content.versions.frames:
            hint = f"Its text is in frames. Read {', '.join(content.versions.frames)}."
        error = SearchError("unsupported", message, hint)
        raise ThinPageError(error, content.versions) if content.versions else error
    fields = {"final_url": shorten(own["final_url"], MAX_FINAL_URL)}
    fields |= {name: one_line(own.get(name, ""), limit) for name, limit in FIELD_CHARS.items()}
    ordered = {**fields, **own, **fields}  # first to set the order, last to set the values
    fields = drop_empty({**ordered, "note": content.note})
    return replace(content, text=text, fields=fields)


def read_body(fetched: Fetched, params: dict[str, Any], deadline: float) -> PageContent:
    """Return a page's content, converted according to its type. Raises SearchError.

    The text is unchanged and untrusted.
    """
    response = fetched.response
    if is_pdf(response.body):
        from websearch.pages.pdf.read_pdf import read_pdf  # 20 modules that other pages do not need

        begin = time.monotonic()
        limit = begin + PDF_TIME_SHARE * (deadline - begin)
        return read_pdf(response.body, params.get("pages", ""), limit)
    if is_office(response.body):
        from websearch.pages.office.read import read_office

        if office := read_office(response.body, fetched.url, params, deadline):
            return office
    content_type = response.headers.get("content-type", "").lower()
    check_binary(response.body, content_type, named_host(fetched.url))
    source, note = decode_page(response.body, content_type)
    if params.get("raw"):
        return PageContent(source, note=f"{RAW_NOTE} {note}".strip())
    content = read_text(source, content_type, fetched, params)
    content.note = content.note or note
    return content


def read_text(
    source: str, content_type: str, fetched: Fetched, params: dict[str, Any]
) -> PageContent:
    """Return the content of a plain-text page, as read_body does. Raises SearchError."""
    kind = sniff_kind(source, content_type, fetched.url)
    readers: dict[str, Callable[[], PageContent]] = {
        "html": lambda: read_html(source, fetched, params),
        "feed": lambda: feed_markdown(source, fetched.url, bool(params.get("links"))),
        "notebook": lambda: notebook_markdown(source),
        "json": lambda: PageContent(json_markdown(source)),
        "csv": lambda: read_csv(source),
        "calendar": lambda: calendar_markdown(source),
        "xml": lambda: PageContent(fenced(source, "xml")),
    }
    if kind in readers:
        return readers[kind]()
    body, keep_links = fetched.response.body, bool(params.get("links"))
    if kind == "mail" and (mail := read_mail(body, fetched.url, keep_links)):
        return mail
    if is_markdown(content_type, fetched.url):
        return read_markdown(source, fetched.url, bool(params.get("links")))
    text = source.replace("\r\n", "\n").replace("\r", "\n").strip()
    heading = re.match(r"#[ \t]{1,9}(.{1,1000})", text)
    return PageContent(text, {"title": heading[1] if heading else ""}, is_foreign=True)


def named_host(url: str) -> str:
    """Return the host of a page's URL for a message."""
    return host_and_port(url)[0] or "The file"


def read_html(html: str, fetched: Fetched, params: dict[str, Any]) -> PageContent:
    """Return the content of an HTML page.

    Raises SearchError as check_content does.
    """
    if what := address_wall(fetched.url):
        raise interstitial_error(named_host(fetched.url), what, fetched.response.status)
    if "ytInitialPlayerResponse" in html:
        from websearch.pages.sites.youtube import read_video

        if video := read_video(html, fetched.url):
            return video
    keep_links = bool(params.get("links"))
    content = find_content(html)
    page = content.page
    base = base_address(page, fetched.url)
    text, cut = ("", False) if is_menu(page) else content_markdown(content, base, keep_links)
    metadata = find_metadata(page, fetched.url)
    note, is_foreign = "", False
    article = unescape(re.sub(r"<[^<>]*>", " ", metadata.article)).strip()
    if len(article) > len(text) and (len(text) < MIN_PAGE_CHARS or len(text) * 4 < len(article)):
        text, is_foreign = article, True
    onward = refresh_target(metadata.refresh, base)
    versions = OtherVersions()
    if len(text) < MAX_WALL_TEXT:
        onward = "" if onward == fetched.url else onward  # a page that reloads itself
        versions = check_content(page, html, text, onward, fetched)
    frames = () if text else frame_addresses(page, base)
    versions = replace(versions, twin=twin_address(page, fetched), frames=frames)
    if re.search(_PAYWALL, html):
        note = note or PAYWALL_NOTE
    if text and (line := offer_line(page, text)):
        text = f"{line}\n\n{text}"
    beside = BesideText(content)
    dropped = {"dropped": beside.explain()} if params.get("explain") else {}
    outside, data = beside.markdown(base, text, keep_links), ""
    if len(text) < MAX_WALL_TEXT and ("itemprop" in html or "json" in html):
        from websearch.pages.extract.page_data import data_values

        data = data_values(page, text)
    if outside and page.shows_beside:
        text, outside = f"{text}\n\n{outside}".strip(), ""
    outside = "\n\n".join(filter(None, (outside, data)))
    fields = {**metadata.fields, **dropped}
    return PageContent(text, fields, note, cut or page.cut, is_foreign, outside, versions)


def base_address(page: PageTree, url: str) -> str:
    """Return the base URL for a page's relative links."""
    from urllib.parse import urljoin

    for node in page.nodes:
        if node.tag == "base" and node.attributes.get("href"):
            try:
                return urljoin(url, node.attributes["href"])
            except ValueError:
                return url
    return url
