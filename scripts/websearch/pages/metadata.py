"""Find what a page says about itself: title, author, date, language."""

from __future__ import annotations

import itertools
import json
import re

from websearch.common import drop_empty
from websearch.html_tree import text_beginning

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.page_tree import Page

AUTHOR_NAMES = (
    "author", "article:author", "dc.creator", "parsely-author", "sailthru.author",
    "twitter:creator",
)  # fmt: skip
DATE_NAMES = (
    "article:published_time", "date", "datepublished", "dc.date.issued", "dc.date", "pubdate",
    "publish-date", "parsely-pub-date", "sailthru.date", "citation_publication_date",
    "og:published_time",
)  # fmt: skip
MAX_DATA_CHARS = 1_000_000  # of one JSON-LD script
MAX_DATA_ITEMS = 2_000  # that are looked at in one JSON-LD script
MAX_AUTHORS = 5  # that are named
MAX_AUTHOR_MARKS = 10  # elements marked as the author that are looked at
MAX_DATE_CHARS = 40  # a longer text is not only a date
MAX_LIST = 1_000  # entries of a list in JSON-LD that are looked at
MAX_TEXT = 400  # characters of an element's text that may be a title or name
_SUBJECTS = (  # types of JSON-LD items that a page is about, unlike organizations and sites
    r"Article|Posting|Recipe|Product|Question|Review|Report|Video|Event|Course|HowTo"
)
_LANGUAGE = r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,4}"
_DATE = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)?"


def find_metadata(page: Page) -> dict[str, str]:
    """Return what a page says about itself, as it says it: a stranger's text.

    title, author, published and language, and for pages that show no text: article, the text in
    the page's data, and refresh, the value of its refresh element. Fields that a page does not name
    are left out. schema.org data (JSON-LD) goes first, then Open Graph and meta elements, then the
    markup.
    """
    data = linked_data(page)
    meta = meta_values(page)
    title = data.get("title") or meta.get("og:title") or meta.get("twitter:title")
    authors = (data.get("author"), *(meta.get(name) for name in AUTHOR_NAMES), marked_author(page))
    marked = (node.attributes.get("datetime") for node in page.nodes if node.tag == "time")
    dates = (data.get("published"), *(meta.get(name) for name in DATE_NAMES), *marked)
    languages = (
        page.root.attributes.get("lang"), meta.get("og:locale"), meta.get("content-language"),
    )  # fmt: skip
    language = next(filter(None, languages), "").strip()
    fields = {
        "title": title or first_text(page, "h1") or first_text(page, "title"),
        "author": next((name for name in authors if name and not name.startswith("http")), ""),
        "published": next(filter(None, map(tidy_date, dates)), ""),
        "language": language.replace("_", "-") if re.fullmatch(_LANGUAGE, language) else "",
        "article": data.get("text", ""),
        "refresh": meta.get("refresh", ""),
    }
    return drop_empty(fields)


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
        try:  # no int: a number of a million digits would take seconds
            items = [json.loads(text[:MAX_DATA_CHARS], strict=False, parse_int=float)]
        except (ValueError, RecursionError):
            continue
        for item in itertools.islice(items, MAX_DATA_ITEMS):  # items grows meanwhile
            if isinstance(item, list):
                items += item
            elif isinstance(item, dict):
                names = ("@graph", "mainEntity", "mainEntityOfPage")
                items += [item[name] for name in names if name in item]
                for name, value in described(item).items():
                    found.setdefault(name, value)
    return found


def described(item: dict[str, Any]) -> dict[str, str]:
    """Return what a JSON-LD item says of the page's subject; {} if it describes something else."""
    kinds = item.get("@type")
    kinds = kinds[:MAX_LIST] if isinstance(kinds, list) else [kinds]
    if not re.search(_SUBJECTS, " ".join(kind for kind in kinds if isinstance(kind, str))):
        return {}
    authors = item.get("author")
    names = []
    for author in authors[:MAX_LIST] if isinstance(authors, list) else [authors]:
        name = author.get("name") if isinstance(author, dict) else author
        if isinstance(name, str) and name.strip():
            names.append(name.strip())
    fields = {
        "title": item.get("headline") or item.get("name"),
        "author": ", ".join(names[:MAX_AUTHORS]),
        "published": item.get("datePublished"),
        "text": item.get("articleBody"),
    }
    return {
        name: value for name, value in fields.items() if isinstance(value, str) and value.strip()
    }


def first_text(page: Page, tag: str) -> str:
    """Return the beginning of the text of the first element of this name, or ""."""
    return next((text_beginning(node, MAX_TEXT) for node in page.nodes if node.tag == tag), "")


def marked_author(page: Page) -> str:
    """Return the name in the first element that is marked as the author, if it is short."""
    marks = (
        node
        for node in page.nodes
        if node.attributes.get("rel") == "author"
        or node.attributes.get("itemprop") == "author"
        or node.attributes.get("class") in ("author", "byline")
    )
    for node in itertools.islice(marks, MAX_AUTHOR_MARKS):
        name = re.sub(r"(?i)^(?:by|von|par|por|di) ", "", text_beginning(node, MAX_TEXT))
        if 1 < len(name) <= 60:
            return name
    return ""


def tidy_date(date: str | None) -> str:
    """Return a date in ISO 8601 if it is written so, another date as it stands, or "".

    A text with a year that is short enough counts as a date.
    """
    text = (date or "").strip()
    match = re.match(_DATE, text)
    if match:
        return match[0]
    is_date = len(text) <= MAX_DATE_CHARS and re.search(r"\b(?:19|20)\d\d\b", text)
    return text if is_date else ""
