"""DuckDuckGo's html endpoint: /html/, a form sent by POST (GET works, too).

Ten results on the first page, fifteen on each further one, which needs the hidden form of the page
before it. The token in it (vqd) holds for one query and one User-Agent; without it, or without the
headers of a browser, the answer is the challenge. Links are wrapped and direct in turn. A first
page has advertisements: two with their class, one that only its target gives away. A further page
begins with the last result of the page before it.

Faults beside those of engine_pages.py:
  wall      the challenge with status 200; blocked has it with 202, as usual
  quiet     202 with the page for "nothing found"
  accepted  202 with results
  second    results on the first page, the challenge on the second
  ends      more results than fit, but no form that leads to them
"""

from __future__ import annotations

import re
import zlib
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from .engine_pages import (
    fault_word,
    highlighted,
    html_reply,
    published,
    query_fault,
    ranked,
    snippet,
)
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, route

if TYPE_CHECKING:
    from .corpus import Document

FIRST_PAGE, FURTHER_PAGE = 10, 15
LONGEST_QUERY = 499
PERIODS = {"d": "day", "w": "week", "m": "month", "y": "year"}
_REGION = r"[a-z]{2}-([a-z]{2}|tzh)"
FIRST_FIELDS = {"q": r"(?s).+", "b": "", "kl": _REGION, "df": "[dwmy]", "kp": "1|-1|-2"}
FURTHER_FIELDS = {
    "q": r"(?s).+",
    "s": r"\d+",
    "nextParams": "",
    "v": "l",
    "o": "json",
    "dc": r"\d+",
    "api": r"d\.js",
    "vqd": r"4-\d+",
    "kl": _REGION,
    "df": "[dwmy]",
    "kp": "1|-1|-2",
}


def answer_page(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer the form: headers, fields, fault, token, results, in this order."""
    text = request.body.decode("utf-8", "replace") if request.method == "POST" else ""
    pairs = parse_qsl(text, keep_blank_values=True) if text else request.query_pairs
    form = dict(pairs)
    query = form.get("q", "")
    if not is_browser(request):
        return challenge()
    known = FURTHER_FIELDS if "s" in form else FIRST_FIELDS
    wrong = [
        name for name, value in pairs if name not in known or not re.fullmatch(known[name], value)
    ]
    if wrong or len(pairs) != len(form) or len(query) > LONGEST_QUERY or not query.strip():
        return html_reply(f"<p>unknown field: {escape(','.join(wrong))}</p>", 400)
    if re.search(r"(?<!\S)([!\\])\w", query):  # a bang leads to another site
        location = ("Location", "https://elsewhere.example.com/")
        return Reply(HTTPStatus.SEE_OTHER, b"", "text/plain", (location,))
    fault = query_fault(query, request, state, {**FAULTS, **PAGE_FAULTS.get("s" in form, {})})
    if fault is not None:
        return fault
    if "s" in form and form.get("vqd") != token(request, query):
        return challenge()
    status = HTTPStatus.ACCEPTED if fault_word(query) == "accepted" else HTTPStatus.OK
    return html_reply(result_page(request, form), status)


def is_browser(request: RecordedRequest) -> bool:
    """Whether the headers are those of a browser that sends the form of the page."""
    agent = request.header("user-agent") or ""
    return (
        re.match(r"Mozilla/5\.0 \(.+\) .+", agent) is not None
        and bool(request.header("referer"))
        and request.header("sec-fetch-mode") == "navigate"
        and bool(request.header("accept-language"))
    )


def token(request: RecordedRequest, query: str) -> str:
    """The vqd of a query: bound to it and to the User-Agent."""
    agent = request.header("user-agent") or ""
    return f"4-{zlib.crc32(f'{query}//{agent}'.encode()):030d}"


def result_page(request: RecordedRequest, form: dict[str, str]) -> str:
    """The page of results, with the form that leads to the next one."""
    query = form["q"]
    language = form.get("kl", "").partition("-")[2].replace("jp", "ja")
    documents, terms = ranked(
        query, language, PERIODS.get(form.get("df", ""), ""), form.get("kp") == "-2"
    )
    start = int(form.get("s", 0))
    size = FURTHER_PAGE if start else FIRST_PAGE
    blocks = [] if start else advertisements(documents)
    blocks += [
        result_block(document, terms, wrapped=number % 2 == 0)
        for number, document in enumerate(documents[max(0, start - 1) : start + size])
    ]
    if not documents:
        return page(query, no_results(query))
    more = start + size < len(documents) and fault_word(query) != "ends"
    return page(
        query,
        "".join(blocks),
        (back_form(form) if start else "")
        + (next_form(request, form, start + size) if more else ""),
    )


def page(query: str, blocks: str, forms: str = "") -> str:
    """The frame around the results."""
    return (
        "<!DOCTYPE html><!--[if gt IE 8]><!--><html><!--<![endif]--><head>"
        f"<title>{escape(query)} at DuckDuckGo</title><script>var a = '<div class=\"result\">';"
        '</script></head><body class="body--html"><form action="/html/" method="post">'
        f'<input name="q" type="text" value="{escape(query)}" /><select name="kl">'
        '<option value="" >All Regions</option></select></form>'
        f'<div class="serp__results"><div id="links" class="results">{blocks}{forms}'
        '<div class="feedback-btn"><a href="//duckduckgo.com/feedback.html">Feedback</a></div>'
        "</div></div></body></html>"
    )


def result_block(document: Document, terms: frozenset[str], wrapped: bool) -> str:
    """One result."""
    href = document.url
    if wrapped:
        # Like the real one, which writes even a hyphen as its code.
        target = quote(document.url, safe="").replace("-", "%2D")
        href = f"//duckduckgo.com/l/?uddg={target}&rut={'ab' * 32}"
    href = escape(href)
    date = published(document)
    day = f"<span>&nbsp; &nbsp; {date:%Y-%m-%d}T00:00:00.0000000</span>" if date else ""
    kind = '<span class="result__type">PDF</span> ' if document.path.endswith(".pdf") else ""
    text = highlighted(snippet(document, terms), terms, "<b>", "</b>")
    return (
        '<div class="result results_links results_links_deep web-result ">'
        '<div class="links_main links_deep result__body"> <!-- This is the visible part -->'
        f'<h2 class="result__title"><a rel="nofollow" class="result__a" href="{href}">{kind}'
        f"{escape(document.title)}</a></h2>"
        '<div class="result__extras"><div class="result__extras__url"><span class="result__icon">'
        f'<a rel="nofollow" href="{href}"><img alt="" src="//icons.example.net/i.ico" /></a></span>'
        f'<a class="result__url" href="{href}"> {escape(document.host + document.path)} </a>{day}'
        f'</div></div><a class="result__snippet" href="{href}">{text}</a>'
        '<div class="clear"></div></div></div>'
    )


def advertisements(documents: list[Document]) -> list[str]:
    """What was paid for: the last one looks like a result, and its link is wrapped."""
    if not documents:
        return []
    click = "https://duckduckgo.com/y.js?ad_domain=shop.example.com&ad_provider=bing&u3=x"
    wrapped = f"//duckduckgo.com/l/?uddg={quote(click, safe='')}&rut={'cd' * 32}"
    blocks = []
    for name, href in (
        ("result--ad", click),
        ("result--ad result--ad--small", "https://shop.example.com/?ref=ad"),
        ("web-result", wrapped),
    ):
        blocks.append(
            f'<div class="result results_links results_links_deep {name}">'
            f'<h2 class="result__title"><a class="result__a" href="{escape(href)}">Buy it all</a>'
            f'</h2><a class="result__snippet" href="{escape(href)}">Cheap.</a></div>'
        )
    return blocks


def no_results(query: str) -> str:
    """The block that says that nothing was found."""
    return (
        '<div class="result results_links results_links_deep result--no-result">'
        f'<div class="no-results">Nothing found for <b>{escape(query)}</b></div></div>'
    )


def next_form(request: RecordedRequest, form: dict[str, str], offset: int) -> str:
    """The form with the button that leads to the next page."""
    fields = {
        "q": form["q"],
        "s": str(offset),
        "nextParams": "",
        "v": "l",
        "o": "json",
        "dc": str(offset + 1),
        "api": "d.js",
        "vqd": token(request, form["q"]),
    }
    fields |= {name: form[name] for name in ("kl", "df", "kp") if name in form}
    return hidden_form("Next", fields)


def back_form(form: dict[str, str]) -> str:
    """The form with the button that leads to the page before."""
    return hidden_form("Previous", {**form, "s": "0", "dc": "-10"})


def hidden_form(label: str, fields: dict[str, str]) -> str:
    """A form with a button and hidden fields."""
    inputs = "".join(
        f'<input type="hidden" name="{name}" value="{escape(value)}" />'
        for name, value in fields.items()
    )
    return (
        '<div class="nav-link"><form action="/html/" method="post">'
        f'<input type="submit" class=\'btn btn--alt\' value="{label}" />{inputs}</form></div>'
    )


def challenge(status: int = HTTPStatus.ACCEPTED) -> Reply:
    """The page that asks for a proof that a person is there."""
    action = "//duckduckgo.com/anomaly.js?sv=html&cc=botnet&st=1&gk=0&q=x"
    return html_reply(
        '<!DOCTYPE html><html lang="en"><head><title>\n DuckDuckGo\n</title></head><body><center>'
        f'<form id="img-form" action="{action}" target="ifr" method="POST"></form>'
        f'<form id="challenge-form" action="{action}" method="POST">'
        '<div class="anomaly-modal__mask"><div class="anomaly-modal__modal  is-ie">'
        '<div class="anomaly-modal__title">A person or a program?</div>'
        '<div class="anomaly-modal__instructions">Choose the birds:</div>'
        '<input type="checkbox" class="anomaly-modal__check" name="image-check_1">'
        "</div></div></form></center></body></html>",
        status,
    )


FAULTS = {
    "blocked": challenge,
    "wall": lambda: challenge(HTTPStatus.OK),
    "empty": lambda: html_reply(page("", no_results("it"))),
    "quiet": lambda: html_reply(page("", no_results("it")), HTTPStatus.ACCEPTED),
}
# Whether it is a further page -> faults of that page alone.
PAGE_FAULTS = {True: {"second": challenge}}

ROUTES: tuple[Route, ...] = (route("/html/?", ("GET", "POST"), answer_page),)
