"""Find what a page says about itself: title, author, date, language."""

from __future__ import annotations

import json
import re

from websearch.common import clean_text, shorten
from websearch.html_tree import Node

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.content import Page

# ----- what a page says about itself


def find_metadata(page: Page) -> dict[str, str]:
    """Return title, author, published and language as far as the page names them.

    schema.org data (JSON-LD) goes first, then Open Graph and meta elements, then the markup.
    """
    data = linked_data(page)
    meta = meta_values(page)
    title = data.get("title") or meta.get("og:title") or meta.get("twitter:title")
    title = title or first_text(page, "h1") or first_text(page, "title")
    authors = (data.get("author"), *(meta.get(name) for name in AUTHOR_NAMES), marked_author(page))
    author = next((name for name in authors if name and not name.startswith("http")), "")
    dates = (data.get("published"), *(meta.get(name) for name in DATE_NAMES), marked_date(page))
    published = next((date for date in map(tidy_date, dates) if date), "")
    language = (
        page.root.attributes.get("lang")
        or meta.get("og:locale")
        or meta.get("content-language")
        or ""
    )
    if not re.fullmatch(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*", language.strip()):
        language = ""
    fields = {
        "title": shorten(title, 300), "author": shorten(author, 200), "published": published,
        "language": language.strip().replace("_", "-"),
    }  # fmt: skip
    return {
        name: " ".join(clean_text(value).split()) for name, value in fields.items() if value.strip()
    }


AUTHOR_NAMES = (
    "author",
    "article:author",
    "dc.creator",
    "parsely-author",
    "sailthru.author",
    "twitter:creator",
)
DATE_NAMES = (
    "article:published_time", "date", "datepublished", "dc.date.issued", "dc.date", "pubdate",
    "publish-date", "parsely-pub-date", "sailthru.date", "citation_publication_date",
    "og:published_time",
)  # fmt: skip
MAX_DATA_CHARS = 1_000_000  # of one JSON-LD script
MAX_DATA_ITEMS = 2_000  # looked at in JSON-LD


def meta_values(page: Page) -> dict[str, str]:
    """Return the contents of the meta elements by lower-case name; the first one wins."""
    found: dict[str, str] = {}
    for node in page.nodes:
        if node.tag == "meta":
            get = node.attributes.get
            name = get("property") or get("name") or get("itemprop") or get("http-equiv") or ""
            if get("content", "").strip():
                found.setdefault(name.strip().lower(), get("content", "").strip())
    return found


def linked_data(page: Page) -> dict[str, str]:
    """Return title, author, published and text of the page's main JSON-LD item."""
    found: dict[str, str] = {}
    for node in page.nodes:
        if node.tag != "script" or "ld+json" not in node.attributes.get("type", ""):
            continue
        text = "".join(child for child in node.children if isinstance(child, str))
        try:
            items = [json.loads(text[:MAX_DATA_CHARS], strict=False)]
        except (ValueError, RecursionError):
            continue
        for _ in range(MAX_DATA_ITEMS):
            if not items:
                break
            item = items.pop(0)
            if isinstance(item, list):
                items += item
            elif isinstance(item, dict):
                items += [
                    item[name]
                    for name in ("@graph", "mainEntity", "mainEntityOfPage")
                    if name in item
                ]
                for name, value in described(item).items():
                    found.setdefault(name, value)
    return found


def described(item: dict[str, Any]) -> dict[str, str]:
    """Return what a JSON-LD item of a page's subject says; {} for organizations and such."""
    kinds = item.get("@type")
    kinds = " ".join(map(str, kinds)) if isinstance(kinds, list) else str(kinds)
    if not re.search(
        r"Article|Posting|Recipe|Product|Question|Review|ProgressCallback|Video|Event|Course|HowTo",
        kinds,
    ):
        return {}
    authors = item.get("author")
    names = []
    for author in authors if isinstance(authors, list) else [authors]:
        name = author.get("name") if isinstance(author, dict) else author
        if isinstance(name, str) and name.strip():
            names.append(name.strip())
    fields = {
        "title": item.get("headline") or item.get("name"), "author": ", ".join(names[:5]),
        "published": item.get("datePublished"), "text": item.get("articleBody"),
    }  # fmt: skip
    return {
        name: value for name, value in fields.items() if isinstance(value, str) and value.strip()
    }


def first_text(page: Page, tag: str) -> str:
    """Return the text of the first element of this name, or ""."""
    return next((text_start(node) for node in page.nodes if node.tag == tag), "")


def text_start(node: Node, limit: int = 400) -> str:
    """Return the first characters of an element's text, whatever rule dropped it."""
    parts: list[str] = []
    waiting: list[Node | str] = [node]
    while waiting and limit > 0:
        one = waiting.pop()
        if isinstance(one, Node):
            waiting += reversed(one.children)
        else:
            parts.append(one)
            limit -= len(one.strip())
    return " ".join(" ".join(parts).split())


def marked_author(page: Page) -> str:
    """Return the name in the first element that is marked as the author, if it is short."""
    for node in page.nodes:
        get = node.attributes.get
        if (
            get("rel") == "author"
            or get("itemprop") == "author"
            or get("class") in ("author", "byline")
        ):
            name = re.sub(r"(?i)^\s*(?:by|von|par|por|di)\s+", "", text_start(node))
            if 1 < len(name) <= 60:
                return name
    return ""


def marked_date(page: Page) -> str:
    """Return the first date in a time element."""
    dates = (node.attributes.get("datetime", "") for node in page.nodes if node.tag == "time")
    return next((date for date in dates if date), "")


def tidy_date(date: str | None) -> str:
    """Return a date as ISO 8601 text if it is so written, or as it stands if it holds a year."""
    text = (date or "").strip()
    match = re.match(
        r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?", text
    )
    if match:
        return match[0]
    return text if re.search(r"\b(?:19|20)\d\d\b", text) and len(text) <= 40 else ""
