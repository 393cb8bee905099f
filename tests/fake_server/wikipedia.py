"""MediaWiki's search API: GET /w/api.php; every document of the corpus is an article.

Faults beside those of engine_pages.py (denied is how it answers a client without a name):
  error        200 with an error object; ratelimited: the same with that code
There is no bot wall: blocked stands for denied. Callers that name a contact may ask 200 times a
minute, others ten times.

Titles carry the fault of their page (local_links.py), since clients make its address of the title.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any

from .corpus import correct_spelling
from .engine_pages import highlighted, published, query_fault, ranked, snippet, status_page
from .local_links import page_fault
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route
from .open_sources import has_contact, is_too_fast
from .small_web import FAULT_PREFIX

LONGEST_QUERY = 300
EACH_MINUTE, EACH_MINUTE_WITH_CONTACT = 10, 200  # requests
MAX_RESULTS = 500
FIELDS = {
    "action": "query",
    "list": "search",
    "srsearch": r"(?s).*",
    "srlimit": r"[1-9]\d*",
    "sroffset": r"\d+",
    "srprop": "snippet|timestamp",
    "srinfo": "suggestion",
    "format": "json",
    "formatversion": "2",
}


def answer_api(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a call: client, fields, fault, results, in this order."""
    agent = request.header("user-agent") or ""
    if not agent or agent.lower().startswith(("python", "mozilla", "curl")):
        return status_page(HTTPStatus.FORBIDDEN)
    fields = dict(request.query_pairs)
    query = fields.get("srsearch", "")
    refused = refusal(request, query)
    if refused is not None:
        return refused
    fault = query_fault(query, request, state, FAULTS)
    if fault is not None:
        return fault
    most = EACH_MINUTE_WITH_CONTACT if has_contact(request) else EACH_MINUTE
    if is_too_fast("wikipedia", request, state, most, 60.0):
        return status_page(HTTPStatus.TOO_MANY_REQUESTS, "60")
    offset = int(fields.get("sroffset", 0))
    answer = search_answer(query, int(fields["srlimit"]), offset)
    if state.local_links:
        for place, item in enumerate(answer["query"]["search"], offset + 1):
            name = page_fault(query, place)
            item["title"] = f"{FAULT_PREFIX}{name}/{item['title']}" if name else item["title"]
    return json_reply(answer)


def refusal(request: RecordedRequest, query: str) -> Reply | None:
    """The error of a request that cannot be answered; None for a good one."""
    for name, value in request.query_pairs:
        if name not in FIELDS:
            return error("badvalue", f"Unrecognized parameter: {name}.")
        allowed = FIELDS[name] if name != "srprop" else re.escape(FIELDS[name])
        if not re.fullmatch(allowed, value):
            return error("badvalue", f'Unrecognized value for parameter "{name}": {value}.')
    if not query.strip():
        return error("missingparam", 'The "srsearch" parameter must be set.')
    if len(query) > LONGEST_QUERY:
        return error("cirrussearch-query-too-long", "Search request is too long.")
    return None


def search_answer(query: str, limit: int, offset: int) -> dict[str, Any]:
    """The answer to a search."""
    documents, terms = ranked(query)
    shown = documents[offset : offset + min(limit, MAX_RESULTS)]
    corrected = correct_spelling(query)
    items = []
    for number, document in enumerate(shown, 1):
        mark = '<span class="searchmatch">'
        text = highlighted(snippet(document, terms), terms, mark, "</span>")
        item = {"ns": 0, "title": document.title, "pageid": number, "snippet": text}
        date = published(document)
        items.append(item | ({"timestamp": f"{date:%Y-%m-%dT%H:%M:%SZ}"} if date else {}))
    info = {"suggestion": corrected, "suggestionsnippet": corrected} if corrected else {}
    answer: dict[str, Any] = {"batchcomplete": True}
    if offset + limit < len(documents):
        answer["continue"] = {"sroffset": offset + limit, "continue": "-||"}
    return {**answer, "query": {"searchinfo": info, "search": items}}


def error(code: str, info: str) -> Reply:
    """An error, whose status is 200 as in the real one."""
    body = {"code": code, "info": info, "docref": "See the documentation of the API."}
    return json_reply({"error": body, "servedby": "fake"}, headers={"MediaWiki-API-Error": code})


FAULTS = {
    "blocked": lambda: status_page(HTTPStatus.FORBIDDEN),
    "empty": lambda: json_reply({"batchcomplete": True, "query": {"searchinfo": {}, "search": []}}),
    "layout": lambda: json_reply({"batchcomplete": True}),
    "error": lambda: error("internal_api_error_Exception", "Caught exception."),
    "ratelimited": lambda: error("ratelimited", "You've exceeded your rate limit."),
}

ROUTES: tuple[Route, ...] = (route(r"/w/api\.php", ("GET",), answer_api),)
