"""What the engines that need no key share: faults by a word in the query, and ranked documents.

A word of the query that begins with "fault" asks for a fault and is not searched for. A number at
its end tells queries apart: faultflaky7. Every engine knows these (NAME stands for the word
faultNAME):
  blocked     the engine's own bot wall
  empty       the engine's own page for "nothing found"
  layout      200 with a page in a markup that nobody knows
  nothing     200 with an empty body
  down        503, always; flaky: 503 twice for each query, then the answer
  limit       429 without Retry-After, always; busy: 429 with Retry-After: 1, twice, then the answer
  denied      403
  hang, drip, reset, trunc, huge, bomb, html, redirect: those of the transport, see faults.py
What an engine knows beside these stands in its module. Other words are searched for, such as
"faulty".
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING

from .corpus import CORPUS, Document, matched_spans, of_kind, parse_query, sentences_by_relevance
from .faults import HTML_BODY, fault_answer
from .messages import Answer, RecordedRequest, Reply, ServerState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HTML_TYPE = "text/html; charset=UTF-8"
MAX_AGE_DAYS = {"hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 31.0, "year": 366.0}
_FAULT = re.compile(r"\bfault([a-z]+)\d*")


def html_reply(html: str, status: int = HTTPStatus.OK) -> Reply:
    """A reply with a page."""
    return Reply(status, html.encode("utf-8"), HTML_TYPE)


def redirect(location: str) -> Reply:
    """A redirect."""
    return Reply(HTTPStatus.FOUND, b"", "text/html", (("Location", location),))


def unknown_layout() -> Reply:
    """A page that has nothing of what any engine sends."""
    return html_reply(
        "<!DOCTYPE html><html><head><title>Search, all new</title></head><body><main>"
        '<section class="tile"><a href="https://new.example.com/"><b>A tile</b></a></section>'
        "</main></body></html>"
    )


def status_page(status: HTTPStatus, retry_after: str = "") -> Reply:
    """A plain page for a status."""
    html = f"<!doctype html><title>{status:d} {status.phrase}</title><h1>{status.phrase}</h1>"
    headers = (("Retry-After", retry_after),) if retry_after else ()
    return Reply(status, html.encode(), HTML_TYPE, headers)


COMMON_FAULTS: dict[str, Callable[[], Reply]] = {
    "layout": unknown_layout,
    "nothing": lambda: html_reply(""),
    "down": lambda: Reply(HTTPStatus.SERVICE_UNAVAILABLE, HTML_BODY, HTML_TYPE),
    "flaky": lambda: Reply(HTTPStatus.SERVICE_UNAVAILABLE, HTML_BODY, HTML_TYPE),
    "limit": lambda: status_page(HTTPStatus.TOO_MANY_REQUESTS),
    "busy": lambda: status_page(HTTPStatus.TOO_MANY_REQUESTS, "1"),
    "denied": lambda: status_page(HTTPStatus.FORBIDDEN),
}


def fault_word(query: str) -> str:
    """The name of the fault that a query asks for, or ""."""
    found = _FAULT.search(query)
    return found[1] if found else ""


def searched_words(query: str) -> str:
    """A query without the words that ask for a fault."""
    return _FAULT.sub(" ", query)


def query_fault(
    query: str,
    request: RecordedRequest,
    state: ServerState,
    bodies: Mapping[str, Callable[[], Reply]],
) -> Answer | None:
    """The answer of the fault that a query asks for; None when the request is to succeed."""
    name = fault_word(query)
    if not name:
        return None
    return fault_answer(f"{name}-{query}", request, state, {**COMMON_FAULTS, **bodies})


def ranked(
    query: str, language: str = "", period: str = "", mature: bool = False
) -> tuple[list[Document], frozenset[str]]:
    """The pages that match a query, best first, and the terms that were searched for."""
    words = re.sub(r"[()]|\bOR\b", " ", searched_words(query))
    parsed = parse_query(words)
    documents = of_kind(CORPUS.rank(parsed, language), "web")
    limit = MAX_AGE_DAYS.get(period)
    kept = [
        document
        for document in documents
        if (mature or not document.mature)
        and (limit is None or (document.age_days is not None and document.age_days <= limit))
    ]
    return kept, parsed.terms


def snippet(document: Document, terms: frozenset[str]) -> str:
    """The two most relevant sentences of a document, as plain text."""
    return " ".join(sentences_by_relevance(document, terms)[:2])


def highlighted(text: str, terms: frozenset[str], before: str, after: str) -> str:
    """A text as HTML, its matches between two marks."""
    pieces, end = [], 0
    for start, stop in matched_spans(text, terms):
        pieces += [escape(text[end:start]), before, escape(text[start:stop]), after]
        end = stop
    return "".join([*pieces, escape(text[end:])])


def published(document: Document) -> datetime | None:
    """When a document was published; None where that is not known."""
    if document.age_days is None:
        return None
    return datetime.now(timezone.utc) - timedelta(days=document.age_days)
