"""You.com: GET /you/v1/agents/search without a key, /you/v1/search with one."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .answer_engines import DAYS, Wish, days_ago, found_documents, is_refused, refusals
from .engine_pages import published, query_fault, snippet
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {
    "query": r"(?s).+",
    "count": r"[1-9]\d?|100",
    "offset": r"\d",
    "freshness": r"day|week|month|year|\d{4}-\d\d-\d\dto\d{4}-\d\d-\d\d",
    "country": "[A-Z]{2}",
    "language": "[A-Z]{2}(-[A-Z]{2,4})?",
    "safesearch": "off|moderate|strict",
}


def answer_keyless(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search without a key; one with a key is refused here."""
    if request.header("x-api-key") is not None:
        return detail(HTTPStatus.UNAUTHORIZED, "Keys are not taken here.")
    return answer(request, state)


def answer_keyed(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search with a key."""
    key = request.header("x-api-key")
    if key is None:
        return detail(HTTPStatus.PAYMENT_REQUIRED, "Payment required.")
    if is_refused(key):
        return detail(HTTPStatus.UNAUTHORIZED, "Invalid API key.")
    return answer(request, state)


def answer(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: fields, fault, results, in this order."""
    fields = dict(request.query_pairs)
    for name, value in fields.items():
        if not re.fullmatch(FIELDS.get(name, "(?!)"), value):
            return detail(HTTPStatus.UNPROCESSABLE_ENTITY, f"Invalid {name}.")
    if fault := query_fault(fields["query"], request, state, FAULTS):
        return fault
    first, _, last = fields.get("freshness", "").partition("to")
    wish = Wish(
        fields["query"],
        days_ago(DAYS[first]) if first in DAYS else first,
        last,
        language=fields.get("language", "")[:2].lower(),
        mature=fields.get("safesearch") == "off",
    )
    documents, terms = found_documents(wish)
    count = int(fields.get("count", 10))
    start = int(fields.get("offset", 0)) * count
    web = [result(document, terms) for document in documents[start : start + count]]
    body = {
        "results": {"web": web} if web else {},
        "metadata": {"query": fields["query"], "search_uuid": "0", "latency": 0.2},
    }
    return json_reply(body)


def result(document: Document, terms: frozenset[str]) -> dict[str, Any]:
    """One result; its date has no zone."""
    date = published(document)
    return {
        "url": document.url,
        "title": document.title,
        "description": document.text[0],
        "snippets": [snippet(document, terms)],
        **({"page_age": f"{date:%Y-%m-%dT%H:%M:%S}"} if date else {}),
    }


def detail(status: int, text: str, headers: dict[str, str] | None = None) -> Reply:
    """An error as the API writes it."""
    return json_reply({"detail": text}, status, headers)


FAULTS = refusals(detail, "Invalid API key.", (422, "Invalid value."), (402, "Payment required."))
ROUTES: tuple[Route, ...] = (
    route("/you/v1/agents/search", ("GET",), answer_keyless),
    route("/you/v1/search", ("GET",), answer_keyed),
)
