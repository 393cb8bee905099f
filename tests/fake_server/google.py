"""Google's result page: GET /search, told from SearXNG's by its hl parameter (keyless.py).

By default it has results in the markup of 2026, which the real one shows to browsers only.
Advertisements stand in their own container and once among the results, told by the target. Pages
hold ten results; links are direct and wrapped (/url?q=) in turn.

Faults beside those of engine_pages.py (blocked is the page that needs JavaScript):
  old          the markup without JavaScript of 2023
  classic      the markup of 2016, with the link in the heading
  refresh      the page that needs JavaScript, in the form with a refresh
  sorry        302 to /sorry/; captcha: 429 with the page from there; oops: the same with 503
  consent      302 to consent.google.com; agree: 200 with its form
"""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote

from .engine_pages import (
    fault_word,
    highlighted,
    html_reply,
    published,
    query_fault,
    ranked,
    redirect,
    snippet,
)

if TYPE_CHECKING:
    from .corpus import Document
    from .messages import Answer, RecordedRequest, Reply, ServerState

PAGE_SIZE = 10
PERIODS = {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"}
_DAY = r"(1[0-2]|[1-9])/(3[01]|[12]\d|[1-9])/\d{4}"
FIELDS = {
    "q": r"(?s).*\S.*",
    "num": "10",
    "hl": "en",
    "lr": r"lang_[a-z]{2,3}(-[A-Z]{2})?",
    "gl": "[a-z]{2}",
    "tbs": rf"qdr:[hdwmy]|cdr:1,cd_min:{_DAY},cd_max:{_DAY}",
    "safe": "active|off",
    "start": r"[1-9]\d*",
}


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: fields, fault, results, in this order."""
    fields = dict(request.query_pairs)
    for name, value in request.query_pairs:
        if name not in FIELDS or not re.fullmatch(FIELDS[name], value):
            return html_reply(f"<p>Error 400: {escape(name)}</p>", HTTPStatus.BAD_REQUEST)
    query = fields["q"]
    fault = query_fault(query, request, state, FAULTS)
    if fault is not None:
        return fault
    period = PERIODS.get(fields.get("tbs", "").removeprefix("qdr:"), "")
    documents, terms = ranked(
        query, fields.get("lr", "")[5:7], period, fields.get("safe") != "active"
    )
    start = int(fields.get("start", 0))
    shown = documents[start : start + PAGE_SIZE]
    if not shown:
        return nothing_found()
    block = {"old": old_block, "classic": classic_block}.get(fault_word(query), new_block)
    blocks = [
        block(document, terms, wrapped=number % 2 == 0) for number, document in enumerate(shown)
    ]
    return html_reply(page(advertisements() + image_block() + "".join(blocks)))


def page(blocks: str) -> str:
    """The frame around the results."""
    return (
        '<!doctype html><html lang="en"><head><title>x - Google Search</title>'
        "<script>var h = '<h3>';</script><style>.g{color:red}</style></head><body>"
        f'<div id="search"><div id="rso">{blocks}</div></div>'
        '<div id="botstuff"><a href="/search?q=more"><div>More</div></a></div></body></html>'
    )


def link(document: Document, wrapped: bool) -> str:
    """A result's href."""
    if not wrapped:
        return escape(document.url)
    return escape(f"/url?q={quote(document.url, safe=':/')}&sa=U&ved=2ahUKE&usg=AOv")


def new_block(document: Document, terms: frozenset[str], wrapped: bool) -> str:
    """A result in the markup of 2026."""
    date = published(document)
    day = f'<span class="YrbPuc"><span>{date:%b %d, %Y}</span> — </span>' if date else ""
    text = highlighted(snippet(document, terms), terms, "<em>", "</em>")
    href = link(document, wrapped)
    return (
        '<div class="MjjYud"></div><div class="MjjYud"><div class="A6K0A">'
        '<div class="wHYlTd Ww4FFb tF2Cxc asEBEc"><div class="yuRUbf"><div class="b8lM7">'
        f'<span class="V9tjod"><a class="zReHs" href="{href}"><h3 class="LC20lb">'
        f"{escape(document.title)}</h3><br/><div><cite>{escape(document.host)}</cite></div></a>"
        f'</span></div></div><div class="kb0PBd"><div class="VwiC3b yXK7lf">{day}<span>{text}'
        "</span></div></div></div></div></div>"
    )


def old_block(document: Document, terms: frozenset[str], wrapped: bool) -> str:
    """A result in the markup that clients without JavaScript got in 2023."""
    text = highlighted(snippet(document, terms), terms, "", "")
    return (
        '<div><div class="Gx5Zad xpd EtOod pkphOe"><div class="egMi0 kCrYT">'
        f'<a href="{link(document, True)}"><div><div><h3 class="zBAuLc l97dzf">'
        f'<div class="BNeawe vvjwJb AP7Wnd">{escape(document.title)}</div></h3></div>'
        f'<div><div class="BNeawe UPmit AP7Wnd">{escape(document.host)}</div></div></div></a></div>'
        '<div class="kCrYT"><div><div class="BNeawe s3v9rd AP7Wnd"><div>'
        f'<div class="BNeawe s3v9rd AP7Wnd">{text}</div></div></div></div></div></div></div>'
    )


def classic_block(document: Document, terms: frozenset[str], wrapped: bool) -> str:
    """A result in the markup of 2016."""
    text = highlighted(snippet(document, terms), terms, "<b>", "</b>")
    return (
        f'<div class="g"><h3 class="r"><a href="{link(document, wrapped)}">'
        f'{escape(document.title)}</a></h3><div class="s"><cite>{escape(document.host)}</cite>'
        f'<span class="st">{text}</span></div></div>'
    )


def advertisements() -> str:
    """What was paid for: one in its container, one by its class, one told by its target only."""
    return (
        '<div id="tads"><div class="g"><a href="https://shop.example.com/1"><h3>Buy it</h3></a>'
        '</div></div><div class="uEierd"><a href="https://shop.example.com/2"><h3>Buy this</h3></a>'
        '</div><div class="MjjYud"><a href="https://www.googleadservices.com/pagead/aclk?sa=L&amp;'
        'adurl=https://shop.example.com/3"><h3>Buy that</h3></a></div>'
        '<div class="MjjYud"><a href="/aclk?sa=l"><h3>Buy more</h3></a></div>'
    )


def image_block() -> str:
    """A heading that leads to Google's own pages, which are no results."""
    return '<div class="g"><a href="/search?q=x&amp;udm=2"><h3>Images for x</h3></a></div>'


def nothing_found() -> Reply:
    """The page that says so."""
    text = "Your search - <em>it</em> - did not match any documents."
    return html_reply(page(f'<div class="mnr-c"><p>{text}</p></div>'))


def needs_javascript() -> Reply:
    """What plain clients get in 2026, with status 200."""
    return html_reply(
        '<html><head><title>x - Google Search</title></head><body><noscript><iframe src="'
        '/httpservice/retry/enablejs?sei=1" height="100%"></iframe>Wait.</noscript>'
        '<div id="main"></div></body></html>'
    )


def refresh_page() -> Reply:
    """The same, with a refresh."""
    return html_reply(
        "<!DOCTYPE html><html><head><title>Google Search</title><noscript><style>table,div"
        '{display:none}</style><meta content="0;url=/httpservice/retry/enablejs?sei=2" '
        'http-equiv="refresh"></noscript></head><body><script>go()</script></body></html>'
    )


def sorry_page(status: HTTPStatus) -> Reply:
    """The page with the captcha."""
    return html_reply(
        '<html><head><title>x</title></head><body><form id="captcha-form" action="index" '
        'method="post"><div id="recaptcha" class="g-recaptcha"></div></form>Traffic that is '
        "unusual has come from your network.</body></html>",
        status,
    )


def consent_page() -> Reply:
    """The page that asks for consent."""
    return html_reply(
        "<html><head><title>Before you go on</title></head><body>"
        '<form action="https://consent.google.com/save" method="POST"><button>OK</button></form>'
        "</body></html>"
    )


FAULTS = {
    "blocked": needs_javascript,
    "refresh": refresh_page,
    "empty": nothing_found,
    "sorry": lambda: redirect("https://www.google.com/sorry/index?continue=https://x.example"),
    "captcha": lambda: sorry_page(HTTPStatus.TOO_MANY_REQUESTS),
    "oops": lambda: sorry_page(HTTPStatus.SERVICE_UNAVAILABLE),
    "consent": lambda: redirect("https://consent.google.com/ml?continue=https://x.example"),
    "agree": consent_page,
}
