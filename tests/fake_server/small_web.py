"""The small web: every document of the corpus as a page that can be read.

/web/HOST/PATH                 the page of the document whose address is https://HOST/PATH
/wiki/TITLE                    the same for its title, blanks as underscores: Wikipedia's articles
/web/fault-NAME/HOST/PATH      that page with a fault, likewise /wiki/fault-NAME/TITLE

A page has what pages have: a cookie notice, navigation, an article with sections, what is related,
a footer and scripts. Its text is the document's, spread over paragraphs among sentences of
page_texts.json in its language; the same at each request. Results lead here where the server was
told so: see local_links.py.

Faults of pages (others are refused with 400, so that a misspelt name is seen):
  403 404 410 429 500 503   that status; 429 with Retry-After: 7
  gone                      410, and the archive has a copy; gone-NAME: with a fault of wayback.py
  data                      a page that a script fills, and that holds its text as data
  wall, captcha             a bot wall with 403, and one with 200
  shell, empty, binary      a page that JavaScript fills, one without text, a broken PDF
  scan, locked              a PDF without text, one that needs a password
  hang, drip, reset, trunc  never an answer, a byte at a time, a reset, a body that breaks off
  huge, bomb                HTML without end, 200 MB compressed
  redirect, loop            a redirect to the foreign port (which is refused), one without end
  busy, flaky               429 with Retry-After: 1 or 503, twice for each path, then the page
  slow                      the page, 0.6 seconds late
"""

from __future__ import annotations

import json
import re
import zlib
from dataclasses import replace
from datetime import timedelta
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import script_pages, website
from .corpus import CORPUS, Document, load_documents
from .engine_pages import html_reply, published, status_page
from .faults import fault_answer
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, route

if TYPE_CHECKING:
    from collections.abc import Callable

OLD_DAYS = 1_250  # a page that is older says that it was changed yesterday
FAULT_PREFIX = "fault-"
DOCUMENTS = {
    f"{document.host}{document.path}": document
    for document in (*CORPUS.documents, *load_documents("open_documents.json"))
}
# Clients leave out the version of a paper: arxiv.org/abs/2401.00101v2.
DOCUMENTS |= {
    re.sub(r"v\d+$", "", address): document
    for address, document in DOCUMENTS.items()
    if document.host == "arxiv.org"
}
ARTICLES = {document.title.replace(" ", "_"): document for document in CORPUS.documents}
TEXTS: dict[str, Any] = json.loads(Path(__file__).with_name("page_texts.json").read_text("utf-8"))
# Fewest paragraphs of page_texts.json in a page, where its language has more to choose from.
LEAST_PARAGRAPHS = 4

STATUSES = ("403", "404", "410", "500", "503")
GONE_FAULTS = ("gone", "gone-never", "gone-busy", "gone-broken", "gone-odd", "gone-hang")
FAULTS: dict[str, Callable[[], Answer]] = {
    "429": website.SPECIAL["status/429"],
    **dict.fromkeys(GONE_FAULTS, website.SPECIAL["status/410"]),
    "data": lambda: Reply(HTTPStatus.OK, *script_pages.PAGES["article-body"]),
    "wall": website.SPECIAL["wall/challenge"],
    "captcha": lambda: html_reply(_file("captcha.html")),
    "shell": lambda: html_reply(_file("shell.html")),
    "empty": website.SPECIAL["empty"],
    "binary": website.SPECIAL["binary/report"],
    "scan": website.SPECIAL["papers/scan.pdf"],
    "locked": website.SPECIAL["papers/locked.pdf"],
    "drip": website.SPECIAL["slow/drip"],
    "huge": website.SPECIAL["huge/endless"],
    "bomb": website.SPECIAL["huge/bomb"],
    "loop": lambda: Reply(
        HTTPStatus.FOUND, b"", "text/plain", (("Location", "/site/redirect/loop"),)
    ),
    "busy": lambda: status_page(HTTPStatus.TOO_MANY_REQUESTS, "1"),
    "flaky": lambda: status_page(HTTPStatus.SERVICE_UNAVAILABLE),
}
# These come from faults.py, or are made here of the page itself.
OTHER_FAULTS = frozenset({"hang", "reset", "trunc", "redirect", "slow", *STATUSES})


def answer_page(request: RecordedRequest, state: ServerState) -> Answer:
    """GET /web/...: the page of a document, by its address, of which a query may be a part.

    A query that is part of no address is ignored, so one page has many addresses.
    """
    address = request.path.removeprefix("/web/")
    query = request.target.partition("?")[2]
    return _answer(request, state, DOCUMENTS, f"{address}?{query}" if query else address)


def answer_article(request: RecordedRequest, state: ServerState) -> Answer:
    """GET /wiki/...: the page of a document, by its title."""
    return _answer(request, state, ARTICLES, request.path.removeprefix("/wiki/"))


def _answer(
    request: RecordedRequest, state: ServerState, documents: dict[str, Document], rest: str
) -> Answer:
    fault = ""
    if rest.startswith(FAULT_PREFIX):
        fault, _, rest = rest.removeprefix(FAULT_PREFIX).partition("/")
    document = documents.get(rest) or documents.get(rest.partition("?")[0])
    if document is None:
        return status_page(HTTPStatus.NOT_FOUND)
    if fault and fault not in FAULTS and fault not in OTHER_FAULTS:
        return status_page(HTTPStatus.BAD_REQUEST)
    if fault in STATUSES:
        return status_page(HTTPStatus(int(fault)))
    found = fault_answer(fault, request, state, FAULTS) if fault else None
    if found is not None:
        return found
    page = html_reply(page_of(document))
    return replace(page, delay=website.LATE_SECONDS) if fault == "slow" else page


def _file(name: str) -> str:
    return (website.PAGES / name).read_text("utf-8")


def page_of(document: Document) -> str:
    """The HTML of a document's page."""
    title, host = escape(document.title), escape(document.host)
    date = published(document)
    day = f'<meta property="article:published_time" content="{date:%Y-%m-%d}">' if date else ""
    age = document.age_days or 0
    if date and age > OLD_DAYS:
        change = date + timedelta(days=age - 1)
        day += f'<meta property="article:modified_time" content="{change:%Y-%m-%d}">'
    links = "".join(
        f'<li><a href="/web/{escape(one.host + one.path)}">{escape(one.title)}</a></li>'
        for one in CORPUS.documents
        if one.host == document.host and one is not document
    )
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(document.language)}"><head><meta charset="utf-8">'
        f'<title>{title} | {host}</title><meta property="og:type" content="article">'
        f'<meta property="og:title" content="{title}">{day}<style>.x {{ color: red }}</style>'
        "<script>window.dataLayer = window.dataLayer || [];</script></head>\n<body>"
        '<div id="cookie-notice" class="cookie-banner"><p>We and our 86 partners use cookies to '
        "make this site better for you. Accept them all?</p><button>Accept all</button></div>\n"
        f'<header class="site-header"><a href="/">{host}</a><nav><ul><li><a href="/about">About '
        'this site</a></li><li><a href="/archive">Newsletter archive</a></li><li><a '
        'href="/contact">Write to us</a></li></ul></nav></header>\n'
        f"<main><article><h1>{title}</h1>\n{_body(document)}</article></main>\n"
        '<aside class="sidebar"><h3>Most read this week</h3><ul class="related-links">'
        f"{links}</ul></aside>\n"
        '<footer class="site-footer"><p>All rights reserved. Imprint, privacy and terms of use.'
        '</p></footer><script>var tracking = "<p>sent</p>";</script></body></html>\n'
    )


def _body(document: Document) -> str:
    """The sections of the article: each holds sentences of the document among others."""
    headings, others = _chosen_texts(document)
    first, *sentences = document.text
    html = f'<p class="standfirst">{escape(first)} {escape(others[0])}</p>\n'
    count = len(headings)
    for number, heading in enumerate(headings):
        own, filling = sentences[number::count], others[1:][number::count]
        paragraphs = [
            f"<p>{escape(' '.join(texts))}</p>"
            for texts in zip(own, filling, strict=False)  # what is left over follows on its own
        ]
        left = max(own, filling, key=len)[len(paragraphs) :]
        paragraphs += [f"<p>{escape(text)}</p>" for text in left]
        html += f"<h2>{escape(heading)}</h2>\n{''.join(paragraphs)}\n"
    if document.infobox:
        rows = [[escape(cell) for cell in row] for row in document.infobox["attributes"]]
        cells = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows)
        html += f"<table>{cells}</table>\n"
    for entry in document.faq:
        html += f"<h2>{escape(entry['question'])}</h2>\n<p>{escape(entry['answer'])}</p>\n"
    return html


def _chosen_texts(document: Document) -> tuple[list[str], list[str]]:
    """The headings and further paragraphs of a page: another choice for each address."""
    texts = TEXTS[document.language]
    number = zlib.crc32(document.url.encode())
    paragraphs = texts["paragraphs"]
    least = min(LEAST_PARAGRAPHS, len(paragraphs))
    wanted = least + number % (len(paragraphs) - least + 1)
    start = number % len(paragraphs)
    chosen = (paragraphs[start:] + paragraphs[:start])[:wanted]
    return texts["headings"][: wanted - 1], chosen


ROUTES: tuple[Route, ...] = (
    route("/web/.*", ("GET",), answer_page),
    route("/wiki/.*", ("GET",), answer_article),
)
