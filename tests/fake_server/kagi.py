"""Kagi: POST /kagi/api/v1/search, with a key."""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .answer_engines import (
    Wish,
    bearer,
    found_documents,
    is_host_list,
    is_refused,
    refusals,
    unknown_field,
)
from .engine_pages import published, query_fault, snippet
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {"query", "workflow", "page", "limit", "safe_search", "filters", "lens"}
FILTERS = {
    "region": "[A-Z]{2}|no_region",
    "after": r"\d{4}-\d\d-\d\d",
    "before": r"\d{4}-\d\d-\d\d",
}
LENS = {"sites_included", "sites_excluded"}
PAGE_SIZE = 20


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: key, fields, fault, results, in this order."""
    if is_refused(bearer(request)):
        return failed(HTTPStatus.UNAUTHORIZED, "auth.invalid")
    body = request.json()
    filters, lens = body.get("filters", {}), body.get("lens", {})
    unknown = unknown_field(body, FIELDS) or unknown_field(lens, LENS)
    good = all(re.fullmatch(FILTERS.get(name, "(?!)"), value) for name, value in filters.items())
    if unknown or not good or not all(map(is_host_list, lens.values())):
        return failed(HTTPStatus.BAD_REQUEST, "request.invalid")
    if fault := query_fault(body["query"], request, state, FAULTS):
        return fault
    wish = Wish(
        body["query"],
        filters.get("after", ""),
        filters.get("before", ""),
        tuple(lens.get("sites_included", ())),
        tuple(lens.get("sites_excluded", ())),
        mature=not body.get("safe_search", True),
    )
    documents, terms = found_documents(wish)
    start = (body.get("page", 1) - 1) * PAGE_SIZE
    shown = documents[start : start + PAGE_SIZE][: body.get("limit", 1024)]
    data = {"search": [result(document, terms) for document in shown]} if shown else {}
    return json_reply({"meta": {"trace": "t", "node": "n", "ms": 120}, "data": data})


def result(document: Document, terms: frozenset[str]) -> dict[str, Any]:
    """One result; its texts hold entities of HTML."""
    date = published(document)
    return {
        "url": document.url,
        "title": escape(document.title),
        "snippet": escape(snippet(document, terms)),
        **({"time": f"{date:%Y-%m-%dT%H:%M:%SZ}"} if date else {}),
    }


def failed(status: int, code: str, headers: dict[str, str] | None = None) -> Reply:
    """An error as the API writes it."""
    error = [{"code": code, "url": "https://help.kagi.example/", "message": f"{code} happened"}]
    return json_reply({"meta": {}, "data": [], "error": error}, status, headers)


FAULTS = refusals(failed, "auth.invalid", (400, "request.invalid"), (429, "rate.limit"))
ROUTES: tuple[Route, ...] = (route("/kagi/api/v1/search", ("POST",), answer_search),)
