"""Parallel: POST /parallel/v1/search with a key."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .answer_engines import Wish, found_documents, is_host_list, is_refused, refusals, unknown_field
from .engine_pages import published, query_fault, snippet
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {"search_queries", "objective", "mode", "advanced_settings", "max_chars_total"}
SETTINGS = {"max_results", "location", "source_policy", "excerpt_settings"}
POLICY = {"include_domains", "exclude_domains", "after_date"}


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search with a key: key, fields, fault, results, in this order."""
    if is_refused(request.header("x-api-key") or ""):
        return failed(HTTPStatus.UNAUTHORIZED, "Invalid API key (C.1)")
    body = request.json()
    settings = body.get("advanced_settings", {})
    policy = settings.get("source_policy", {})
    unknown = (
        unknown_field(body, FIELDS)
        or unknown_field(settings, SETTINGS)
        or unknown_field(policy, POLICY)
    )
    hosts = [policy.get(name, []) for name in ("include_domains", "exclude_domains")]
    day = policy.get("after_date", "2024-01-01")
    if unknown or not (all(map(is_host_list, hosts)) and re.fullmatch(r"\d{4}-\d\d-\d\d", day)):
        return failed(HTTPStatus.UNPROCESSABLE_ENTITY, f"Invalid {unknown}")
    query = " ".join(body["search_queries"])
    if fault := query_fault(query, request, state, FAULTS):
        return fault
    wish = Wish(query, policy.get("after_date", ""), "", tuple(hosts[0]), tuple(hosts[1]))
    return json_reply(found(wish, settings.get("max_results", 10)))


def found(wish: Wish, count: int) -> dict[str, Any]:
    """What the API finds, in the form that REST and MCP share."""
    documents, terms = found_documents(wish)
    return {
        "search_id": "search_7726",
        "session_id": "s",
        "results": [result(document, terms) for document in documents[:count]],
        "warnings": None,
        "usage": [{"name": "sku_search", "count": 1}],
    }


def result(document: Document, terms: frozenset[str]) -> dict[str, Any]:
    """One result; its excerpts are lines of the page."""
    date = published(document)
    return {
        "url": document.url,
        "title": document.title,
        "publish_date": f"{date:%Y-%m-%d}" if date else None,
        "excerpts": [snippet(document, terms), document.text[-1]],
    }


def failed(status: int, text: str, headers: dict[str, str] | None = None) -> Reply:
    """An error as the API writes it."""
    body = {"type": "error", "error": {"ref_id": "0", "message": text}}
    return json_reply(body, status, headers)


FAULTS = refusals(
    failed, "Invalid API key (C.1)", (422, "Invalid after_date"), (402, "Out of credit")
)
ROUTES: tuple[Route, ...] = (route("/parallel/v1/search", ("POST",), answer_search),)
