"""Keenable: POST /keenable/v1/search/public without a key, /keenable/v1/search with one."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .answer_engines import Wish, found_documents, is_refused, refusals, unknown_field
from .engine_pages import published, query_fault, snippet
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {"query", "mode", "max_results", "site", "published_after", "published_before"}


def answer_keyless(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a caller without a key, who must say which program asks."""
    if not request.header("x-keenable-title"):
        return failed(HTTPStatus.BAD_REQUEST, "X-Keenable-Title is required.")
    return answer(request, state)


def answer_keyed(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a caller with a key."""
    if is_refused(request.header("x-api-key") or ""):
        return failed(HTTPStatus.UNAUTHORIZED, "Invalid API key.")
    return answer(request, state)


def answer(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: fields, fault, results, in this order."""
    body = request.json()
    days = [body.get(name, "2024-01-01") for name in ("published_after", "published_before")]
    if name := unknown_field(body, FIELDS):
        return failed(HTTPStatus.BAD_REQUEST, f"Unknown parameter {name}.")
    if not 1 <= body.get("max_results", 10) <= 50:
        return failed(HTTPStatus.BAD_REQUEST, "max_results must be 1 to 50.")
    if not all(re.fullmatch(r"\d{4}-\d\d-\d\d", day) for day in days):
        return failed(HTTPStatus.BAD_REQUEST, "Invalid date.")
    if fault := query_fault(body["query"], request, state, FAULTS):
        return fault
    wish = Wish(
        body["query"],
        body.get("published_after", ""),
        body.get("published_before", ""),
        tuple(filter(None, [body.get("site")])),
    )
    documents, terms = found_documents(wish)
    shown = documents[: body.get("max_results", 10)]
    results = [result(document, terms) for document in shown]
    return json_reply({"query": body["query"], "mode": "pro", "results": results})


def result(document: Document, terms: frozenset[str]) -> dict[str, Any]:
    """One result; the description is usually empty, the snippet is a piece of the page."""
    date = published(document)
    return {
        "title": document.title,
        "url": document.url,
        "description": "",
        "snippet": f"{document.title}\n\n{snippet(document, terms)}",
        "published_at": f"{date:%Y-%m-%dT%H:%M:%SZ}" if date else None,
        "acquired_at": "2026-11-01T00:00:00Z",
    }


def failed(status: int, text: str, headers: dict[str, str] | None = None) -> Reply:
    """An error as the API writes it."""
    return json_reply({"error": HTTPStatus(status).phrase, "message": text}, status, headers)


FAULTS = refusals(failed, "Invalid API key.", (400, "Invalid site."), (402, "No credits are left."))
ROUTES: tuple[Route, ...] = (
    route("/keenable/v1/search/public", ("POST",), answer_keyless),
    route("/keenable/v1/search", ("POST",), answer_keyed),
)
