"""Find a page's metadata: title, author, dates, language."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass

from websearch.base.html_tree import BLOCKS, elements_below, text_beginning
from websearch.kit import drop_empty
from websearch.pages.extract.dates import find_dates
from websearch.pages.extract.element_names import MAX_NAMES, SIDEBAR_WORDS, words_of
from websearch.pages.extract.name_rules import IMAGE_WORDS
from websearch.pages.extract.page_tree import ancestors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from websearch.base.html_tree import Node
    from websearch.kit import Document
    from websearch.pages.extract.page_tree import PageTree

AUTHOR_NAMES = (
    "author", "article:author", "dc.creator", "parsely-author", "sailthru.author",
    "twitter:creator",
)  # fmt: skip
MAX_DATA_CHARS = 1_000_000  # characters per JSON-LD script
MAX_DATA_ITEMS = 2_000  # items to examine per JSON-LD script
MAX_AUTHORS = 5  # authors to return
MAX_AUTHOR_MARKS = 10  # elements to examine for the author
MAX_NAME = 60  # characters of an author's name in the markup
MAX_LIST = 1_000  # entries to examine per list in JSON-LD
MAX_TEXT = 400  # characters of a title or name
# Types of JSON-LD items that can be the subject of a page, unlike organizations and sites; articles
# come first.
_ARTICLES = r"Article|Posting|Report|Recipe|Question"
_SUBJECTS = rf"{_ARTICLES}|Product|Review|Video|Event|Course|HowTo"
_PAGES = r"Page$"  # types of items that describe the page itself
# Words before an author's name; the short words in other languages may be part of a name.
_BYLINE = (
    r"(?i)^(?:(?:written|post(?:ed)?|published|words|story|text|recipe)\s{0,9})?"
    r"(?:by\b|(?-i:[Bb]y(?=[A-Z]))|authors?\s{0,9}:)[\s:]{0,9}"
)
_FOREIGN_BYLINE = (
    r"(?i)^(?:(?:beitrag|message|mensaje|messaggio|bericht)\s?(?:von|par|por|da|door)"
    r"|von|par|por|di|autore?s?|auteure?|skribent)\s{0,9}:?\s"
)
# Classes of an author's name: "author vcard", "tech-author", "author__name".
_AUTHOR_CLASS = r"(?i)(?:^|[\s_-])(?:author|byline)(?:[_-]{1,2}name)?(?:\s|$)"
# Separators between a name and a date, a reading time or a control.
_AFTER_NAME = (
    r"(?i)\s{0,9}[|\u2022\u00b7\u00bb]|\s[\u2013\u2014-]\s|\s\d|\s\((?:\d|author\))"
    r"|\sfull bio\b|\sfollow(?:\s|$)"
    r"|,?\s(?:last )?(?:updated|published|posted)\b"
    r"|\s(?:see|view|read|show) (?:full|more|all|author|profile|bio)\b"
)
_DATE_WORD = (
    r"(?i)(?:on|at|the|le|am|den|jan\w*|feb\w*|m[a\u00e4]r\w*|apr\w*|ma[iy]|june?|july?|aug\w*|sep\w*"
    r"|o[ck]t\w*|nov\w*|de[cz]\w*|(?:mon|tues|wednes|thurs|fri|satur|sun)day)[.,]{0,2}"
)
_LANGUAGE = r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,4}"


@dataclass(slots=True)
class Metadata:
    """A page's metadata as untrusted text.

    fields: title, author, published, updated and language, if known. For pages without visible
    text: article, the text in the page's data, and refresh, the value of its refresh element.
    """

    fields: Document
    article: str
    refresh: str


def find_metadata(page: PageTree, address: str = "") -> Metadata:
    """Return a page's metadata.

    schema.org data (JSON-LD) takes precedence over Open Graph and meta elements, and these over the
    markup; see dates.py for dates. address: URL of the page.
    """
    items = data_items(page)
    data = subject_fields(items)
    meta = meta_values(page)
    title = data.get("title") or meta.get("og:title") or meta.get("twitter:title")
    site = meta.get("og:site_name", "")
    named = (data.get("author", ""), *(meta.get(name, "") for name in AUTHOR_NAMES))
    authors = [author_name(text, site) for text in named] + [marked_author(page)]
    authors.sort(key=lambda name: name[:1] == "@" or name.lower() == site.lower())
    languages = (
        page.root.attributes.get("lang"), meta.get("og:locale"), meta.get("content-language"),
    )  # fmt: skip
    language = next(filter(None, languages), "").strip().replace("_", "-")
    language = language if re.fullmatch(_LANGUAGE, language) else ""
    dates = find_dates(page, address, meta, items, language)
    fields = {
        "title": title or page_heading(page),
        "author": next(filter(None, authors), ""),
        "published": dates.published,
        "updated": dates.updated,
        "language": language,
    }
    return Metadata(drop_empty(fields), data.get("text", ""), meta.get("refresh", ""))


def meta_values(page: PageTree) -> dict[str, str]:
    """Return the contents of meta elements by lower-case name; the first value per name wins."""
    values: dict[str, str] = {}
    for node in page.nodes:
        if node.tag == "meta":
            get = node.attributes.get
            name = get("property") or get("name") or get("itemprop") or get("http-equiv") or ""
            if get("content", "").strip():
                values.setdefault(name.strip().lower(), get("content", "").strip())
    return values


def data_items(page: PageTree) -> list[dict[str, Any]]:
    """Return the JSON-LD items that describe the page or its subject.

    Articles come first, pages last.
    """
    items = [item for data in linked_data(page) for item in described_items(data)]
    ranked = (_ARTICLES, _SUBJECTS)
    return sorted(
        items, key=lambda item: [not re.search(types, types_of(item)) for types in ranked]
    )


def linked_data(page: PageTree, needed: str = "") -> Iterator[Any]:
    """Yield the values in a page's JSON-LD scripts; needed: text that a script must contain."""
    for node in page.nodes:
        if node.tag == "script" and "ld+json" in node.attributes.get("type", ""):
            text = "".join(child for child in node.children if isinstance(child, str))
            if needed in text:
                yield parse_data(text[:MAX_DATA_CHARS])


def parse_data(text: str) -> Any:
    """Return the JSON value in a script, ignoring text around it; None if there is no value."""
    text = text.replace("<![CDATA[", "")
    start = re.search(r'\{\s{0,99}"|\[\s{0,99}\{', text)
    try:  # not int: a million digits would take seconds
        return json.JSONDecoder(strict=False, parse_int=float).raw_decode(
            text, start.start() if start else 0
        )[0]
    except (ValueError, RecursionError):
        return None


def described_items(data: object) -> list[dict[str, Any]]:
    """Return the items in a JSON-LD value that describe a subject or a page."""
    items = [data]
    described = []
    for item in itertools.islice(items, MAX_DATA_ITEMS):  # the loop extends items
        if isinstance(item, list):
            items += item
        elif isinstance(item, dict):
            names = ("@graph", "mainEntity", "mainEntityOfPage")
            items += [item[name] for name in names if name in item]
            if re.search(f"{_SUBJECTS}|{_PAGES}", types_of(item)):
                described.append(item)
    return described


def types_of(item: dict[str, Any]) -> str:
    """Return the types of a JSON-LD item."""
    types = item.get("@type")
    types = types[:MAX_LIST] if isinstance(types, list) else [types]
    return " ".join(name for name in types if isinstance(name, str))[:MAX_TEXT]


def subject_fields(items: list[dict[str, Any]]) -> dict[str, str]:
    """Return the title, author and text of a page's subject, each from the first item with it."""
    fields: dict[str, str] = {}
    for item in items:
        if re.search(_SUBJECTS, types_of(item)):
            for name, value in item_fields(item).items():
                fields.setdefault(name, value)
    return fields


def item_fields(item: dict[str, Any]) -> dict[str, str]:
    """Return the title, author and text of a JSON-LD item."""
    authors = item.get("author")
    names = []
    for author in authors[:MAX_LIST] if isinstance(authors, list) else [authors]:
        name = author.get("name") if isinstance(author, dict) else author
        if isinstance(name, str) and name.strip():
            names.append(name.strip())
    fields = {
        "title": item.get("headline") or item.get("name"),
        "author": ", ".join(names[:MAX_AUTHORS]),
        "text": item.get("articleBody"),
    }
    return {
        name: value for name, value in fields.items() if isinstance(value, str) and value.strip()
    }


def first_text(page: PageTree, tag: str) -> str:
    """Return the beginning of the text of the first element with this tag, or ""."""
    return next((text_beginning(node, MAX_TEXT) for node in page.nodes if node.tag == tag), "")


def page_heading(page: PageTree) -> str:
    """Return the page's title according to its markup, or "".

    It is the main heading that was dropped from the content as the title, else the title element,
    unless that begins with the first main heading, which may be the site's name in a banner.
    """
    headings = [node for node in page.nodes if node.tag == "h1"]
    for node in headings:
        if node.dropped == "title":
            return heading_text(node)
    title, first = first_text(page, "title"), heading_text(headings[0]) if headings else ""
    is_first = not title or title.lower().startswith(first.lower())
    is_kept = len(headings) == 1 and not headings[0].dropped
    return first if first and (is_first or is_kept) else title


def heading_text(node: Node) -> str:
    """Return a heading's text without buttons and a permalink character such as ¶ at its ends."""
    heading = text_beginning(node, MAX_TEXT)
    for end in (*node.children[:1], *node.children[-1:]):
        sign = "" if isinstance(end, str) else text_beginning(end, MAX_TEXT)
        if isinstance(end, str) or sign == heading:
            continue
        is_link = end.attributes.get("href", "")[:1] == "#" and not re.search(r"\w", sign)
        if is_link or end.tag == "button":
            heading = heading.removeprefix(sign).removesuffix(sign).strip()
    return heading


def marked_author(page: PageTree) -> str:
    """Return the first short name in an element that is marked as the author, or "".

    Authors of comments do not count, unless the comments are the content; those in a sidebar come
    last.
    """
    remarks = set() if page.keeps_comments else page.comments
    marks = (node for node in page.nodes if node not in remarks and is_author(node, page))
    for node in sorted(itertools.islice(marks, MAX_AUTHOR_MARKS), key=is_in_sidebar):
        parts = (part for part in elements_below(node) if part.attributes.get("itemprop") == "name")
        part = next(parts, node)
        text = part.attributes.get("content") or text_beginning(part, MAX_TEXT)
        name = author_name(re.sub(_FOREIGN_BYLINE, "", text))
        if 1 < len(name) <= MAX_NAME:
            return name
    return ""


def is_author(node: Node, page: PageTree) -> bool:
    """Return whether an element is marked as the author.

    Shops name the authors of reviews similarly, articles those of pictures, and a box may also tell
    about the author.
    """
    get = node.attributes.get
    names = get("class", "")[:MAX_NAMES]
    if "author" in (get("rel"), get("itemprop")) or names in ("author", "byline"):
        return True
    if not page.says_article or not re.search(_AUTHOR_CLASS, names):
        return False
    is_box = any(inner.tag in BLOCKS for inner in elements_below(node))
    return not is_box and words_of(node).isdisjoint(IMAGE_WORDS)


def is_in_sidebar(node: Node) -> bool:
    """Return whether an element is next to the text according to the elements around it."""
    boxes = itertools.takewhile(lambda box: box.tag != "body", ancestors(node))
    return any(box.tag == "aside" or not words_of(box).isdisjoint(SIDEBAR_WORDS) for box in boxes)


def author_name(text: str, site: str = "") -> str:
    """Return the name in a byline, without dates, reading times and controls; "" without a name.

    site: name of the site, which may precede the name: "The Quay - Jo Doe".
    """
    name = re.sub(_BYLINE, "", " ".join(text[:MAX_TEXT].split())).strip()
    name = re.sub(rf"(?i)^{re.escape(site[:MAX_TEXT])}\s[|\u2013\u2014-]\s", "", name)
    if after := re.search(_AFTER_NAME, f" {name}"):
        words = name[: max(0, after.start() - 1)].split()
        while words and re.fullmatch(_DATE_WORD, words[-1]):
            words.pop()
        name = " ".join(words)
    is_name = re.search(r"[^\W\d_]", name) and not name.lower().startswith("http")
    return name.strip(" ,;:\u2013\u2014-") if is_name else ""
