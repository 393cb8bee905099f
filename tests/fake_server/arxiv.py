"""arXiv's API: GET /api/query, a search or a list of papers, answered by Atom feeds.

One request in three seconds is allowed. Faults beside those of engine_pages.py (blocked stands for
exceeded):
  exceeded   429 and the words "Rate exceeded."; overloaded: the same with 503
  vanished   a feed without entries, once for each query, then the answer
  malformed  400, a feed with one entry titled Error
"""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING

from .engine_pages import fault_word, query_fault
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, route
from .open_sources import created, documents_on, is_too_fast, matching, utc

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {
    "search_query": r"(?s).+",
    "id_list": r".*",
    "start": r"\d+",
    "max_results": r"\d{1,3}|1\d{3}|2000",
    "sortBy": "relevance|submittedDate|lastUpdatedDate",
    "sortOrder": "ascending|descending",
}
_TERM = (
    r'(?:-?(?:ti|au|abs|co|jr|cat|rn|all):(?:"[^"]*"|[^\s"]+)|submittedDate:\[\d{12} TO \d{12}\])'
)
SECONDS = 3.0  # that must lie between two requests


def answer_query(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: limit, fields, fault, results, in this order."""
    fields = dict(request.query_pairs)
    query = fields.get("search_query", "")
    if is_too_fast("arxiv", request, state, 1, SECONDS):
        return exceeded(HTTPStatus.TOO_MANY_REQUESTS)
    for name, value in request.query_pairs:
        if name not in FIELDS or not re.fullmatch(FIELDS[name], value):
            return malformed(f"{name} has a wrong value")
    if not re.fullmatch(rf"{_TERM}(?: (?:AND|OR|ANDNOT) {_TERM})*", query):
        return malformed("malformed query")
    if fault := query_fault(query, request, state, FAULTS):
        return fault
    if fault_word(query) == "vanished" and state.count(f"arxiv {query}") == 1:
        return feed([])
    words = re.sub(r"submittedDate:\[[^\]]*\]|\b(AND|OR|ANDNOT)\b|\b[a-z]+:", " ", query)
    dates = re.search(r"submittedDate:\[(\d{12}) TO (\d{12})\]", query)
    found = [
        one
        for one in matching(words.replace('"', " "), documents_on("arxiv.org"))
        if not dates or dates[1] <= re.sub(r"\D", "", utc(created(one)))[:12] <= dates[2]
    ]
    return feed([entry(one) for one in found[: int(fields.get("max_results", 10))]], len(found))


def answer(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search, or a request for papers by their identifiers."""
    is_list = "id_list" in request.query
    return answer_list(request, state) if is_list else answer_query(request, state)


def answer_list(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a request for papers; unknown ones are silently absent."""
    if is_too_fast("arxiv", request, state, 1, SECONDS):
        return exceeded(HTTPStatus.TOO_MANY_REQUESTS)
    wanted = request.query["id_list"][0].split(",")
    if not all(re.fullmatch(r"\d{4}\.\d{4,5}(v\d+)?", one) for one in wanted):
        return malformed(f"incorrect id format for {wanted[0]}")
    found = [
        one
        for one in documents_on("arxiv.org")
        if re.sub(r"v\d+$", "", one.path.removeprefix("/abs/"))
        in [re.sub(r"v\d+$", "", identifier) for identifier in wanted]
    ]
    return feed([entry(one) for one in found], len(found))


def entry(document: Document) -> str:
    """A paper; its title and summary are broken over lines, as in older answers."""
    title = escape(document.title).replace(": ", ":\n  ")
    summary = escape(" ".join(document.text)).replace(". ", ".\n")
    day = utc(created(document))
    return (
        f"<entry><id>http://arxiv.org{document.path}</id><title>{title}</title><updated>{day}"
        f'</updated><link href="{document.url}" rel="alternate" type="text/html"/>'
        f'<link href="{document.url.replace("/abs/", "/pdf/")}" rel="related" title="pdf"/>'
        f'<summary>{summary}</summary><category term="cs.LG" scheme="x"/>'
        "<arxiv:comment>12 pages, 3 figures</arxiv:comment>"
        f'<published>{day}</published><arxiv:primary_category term="cs.LG"/>'
        "<author><name>Ada Baker</name></author><author><name>Jos\u00e9 M\u00fcller</name></author>"
        "</entry>"
    )


def feed(entries: list[str], total: int = 0, status: int = HTTPStatus.OK) -> Reply:
    """An Atom feed."""
    body = (
        "<?xml version='1.0' encoding='UTF-8'?>\n"
        '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" '
        'xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">'
        "<id>https://arxiv.org/api/fake</id><title>arXiv Query</title>"
        f"<opensearch:totalResults>{total}</opensearch:totalResults>{''.join(entries)}</feed>"
    )
    return Reply(status, body.encode(), "application/atom+xml; charset=utf-8")


def malformed(reason: str) -> Reply:
    """400: a feed whose only entry is the error."""
    error = (
        "<entry><id>https://arxiv.org/api/errors#malformed</id><title>Error</title>"
        f"<summary>{escape(reason)}</summary></entry>"
    )
    return feed([error], 1, HTTPStatus.BAD_REQUEST)


def exceeded(status: HTTPStatus) -> Reply:
    """The refusal of what comes too fast."""
    return Reply(status, b"Rate exceeded.", "text/plain")


FAULTS = {
    "blocked": lambda: exceeded(HTTPStatus.TOO_MANY_REQUESTS),
    "empty": lambda: feed([]),
    "exceeded": lambda: exceeded(HTTPStatus.TOO_MANY_REQUESTS),
    "overloaded": lambda: exceeded(HTTPStatus.SERVICE_UNAVAILABLE),
    "malformed": lambda: malformed("malformed query"),
}
OTHER_FAULTS = frozenset({"vanished"})

ROUTES: tuple[Route, ...] = (route("/api/query", ("GET",), answer),)
