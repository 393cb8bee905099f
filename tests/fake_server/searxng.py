"""A SearXNG: GET /search, as JSON where format=json is asked for, else as its page.

Faults beside those of engine_pages.py (blocked is a bot wall before the server, as public ones
have it; denied is its limiter):
  nojson    403 for JSON (how a fresh SearXNG is configured), the page works
  failed    no results, and every engine of it failed
  partly    results, and one engine failed
  password  401; moved: 302 to /searxng/; answers: a calculator's answer without results
The last four work for the page, too; so does empty.
"""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .engine_pages import (
    fault_word,
    highlighted,
    html_reply,
    published,
    query_fault,
    ranked,
    redirect,
    snippet,
    status_page,
)
from .messages import Answer, RecordedRequest, Reply, ServerState, json_reply

if TYPE_CHECKING:
    from .corpus import Document

PAGE_SIZE = 10
SAFE_OFF = "0"
FIELDS = {
    "q": r"(?s).*",
    "categories": "general",
    "language": "auto|all|[a-z]{2,3}(-[a-zA-Z]{2})?",
    "time_range": "day|week|month|year",
    "safesearch": "[012]",
    "pageno": r"[1-9]\d*",
    "format": "json|csv|rss|html",
}
# The words of a query that SearXNG takes as commands and does not search for (its query.py): engine
# or category, language, time-out. A word that names none of these is searched for.
COMMAND = r"(?i)!(?:w|g|news|images)|:(?P<language>all|auto|[a-z]{2}([_-][a-z]{2})?)|<\d+"
FAILURES = [["fakesearch", "CAPTCHA"], ["otherfake", "Suspended: too many requests"]]


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: fields, fault, results, in this order."""
    fields = dict(request.query_pairs)
    query = fields.get("q", "")
    refused = refusal(request, query)
    if refused is not None:
        return refused
    as_json, word = fields.get("format") == "json", fault_word(query)
    if word == "nojson" and as_json:
        return status_page(HTTPStatus.FORBIDDEN)
    fault = query_fault(query, request, state, JSON_FAULTS if as_json else FAULTS)
    if fault is not None:
        return fault
    period = fields.get("time_range", "")
    words = {word: re.fullmatch(COMMAND, word) for word in query.split()}
    commands = [match["language"] for match in words.values() if match]
    language = (next(filter(None, commands), "") or fields.get("language", ""))[:2]
    searched = " ".join(word for word, match in words.items() if not match)
    documents, terms = ranked(searched, language, period, fields.get("safesearch") == SAFE_OFF)
    if word in ("empty", "failed", "answers"):
        documents = []
    start = (int(fields.get("pageno", 1)) - 1) * PAGE_SIZE
    shown = documents[start : start + PAGE_SIZE]
    failures = FAILURES if word == "failed" else FAILURES[:1] if word == "partly" else []
    if as_json:
        return json_reply(json_answer(query, shown, terms, failures))
    return html_reply(page(query, shown, terms, failures))


def refusal(request: RecordedRequest, query: str) -> Answer | None:
    """The answer to a request that no server would search for; None for a good one."""
    if not query.strip():
        return json_reply({"error": "No query"}, HTTPStatus.BAD_REQUEST)
    for name, value in request.query_pairs:
        if name not in FIELDS or not re.fullmatch(FIELDS[name], value):
            text = {"error": f'Invalid value "{value}" for parameter {name}'}
            return json_reply(text, HTTPStatus.BAD_REQUEST)
    leaves = any(word.startswith("!!") for word in query.split())
    return redirect("https://elsewhere.example.com/") if leaves else None


def json_answer(
    query: str, documents: list[Document], terms: frozenset[str], failures: list[list[str]]
) -> dict[str, Any]:
    """The JSON of a search."""
    answers = [{"answer": "2 + 2 = 4", "url": None, "template": "answer/legacy.html"}]
    return {
        "query": query,
        "results": [
            json_result(place, document, terms) for place, document in enumerate(documents, 1)
        ],
        "answers": answers if fault_word(query) == "answers" else [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [f"{query} guide"] if documents else [],
        "unresponsive_engines": failures,
    }


def json_result(place: int, document: Document, terms: frozenset[str]) -> dict[str, Any]:
    """One result of the JSON."""
    date = published(document)
    return {
        "url": document.url,
        "title": document.title,
        "content": snippet(document, terms),
        "engine": "fakesearch",
        "template": "default.html",
        "parsed_url": ["https", document.host, document.path, "", "", ""],
        "img_src": "",
        "thumbnail": "",
        "priority": "",
        "engines": ["fakesearch"],
        "positions": [place],
        "score": 1 / place,
        "category": "general",
        "publishedDate": f"{date:%Y-%m-%dT%H:%M:%S}" if date else None,
    }


def page(
    query: str, documents: list[Document], terms: frozenset[str], failures: list[list[str]]
) -> str:
    """SearXNG's own page."""
    articles = "".join(article(document, terms) for document in documents)
    if not documents:
        articles = '<div class="dialog-error" role="alert"><p>Sorry!</p></div>'
    rows = "".join(
        f'<tr><td class="engine-name"><a href="/stats?engine={escape(name)}">{escape(name)}</a>'
        f'</td><td class="response-error">{escape(reason)}</td></tr>'
        for name, reason in failures
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta name="endpoint" content="results">'
        f'<title>fake</title></head><body><input id="q" name="q" value="{escape(query)}">'
        f'<div id="sidebar"><table>{rows}</table></div><div id="urls" role="main">{articles}</div>'
        "</body></html>"
    )


def article(document: Document, terms: frozenset[str]) -> str:
    """One result of the page."""
    mark = '<span class="highlight">'
    url, date = escape(document.url), published(document)
    title = highlighted(document.title, terms, mark, "</span>")
    day = f'<time class="published_date" datetime="{date:%Y-%m-%d %H:%M:%S}">{date:%x}</time>'
    return (
        f'<article class="result result-default category-general"><a href="{url}" '
        f'class="url_header"><div class="url_wrapper">{escape(document.host)}</div></a>'
        f'<h3><a href="{url}" rel="noreferrer">{title}'
        f'</a></h3>{day if date else ""}<p class="content">\n    '
        f"{highlighted(snippet(document, terms), terms, mark, '</span>')}\n  </p>"
        f'<div class="engines"><span>fakesearch</span><a class="cache_link" '
        f'href="https://archive.example.org/{url}">cached</a></div></article>'
    )


def bot_wall() -> Reply:
    """A proof-of-work page, as before many public servers."""
    return html_reply(
        "<!doctype html><html><head><title>Making sure</title><link rel=stylesheet "
        'href="/.within.website/x/xess/xess.css"></head><body><script '
        'src="/.within.website/x/cmd/anubis/main.mjs"></script></body></html>'
    )


FAULTS = {
    "blocked": bot_wall,
    "password": lambda: status_page(HTTPStatus.UNAUTHORIZED),
    "moved": lambda: redirect("/searxng/search"),
}
JSON_FAULTS = {**FAULTS, "layout": lambda: json_reply({"items": []})}
