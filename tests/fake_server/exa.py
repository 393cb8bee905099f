"""Exa: POST /exa/search with a key."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .answer_engines import Wish, found_documents, is_host_list, is_refused, refusals, unknown_field
from .engine_pages import published, query_fault, snippet
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {
    "query", "type", "numResults", "includeDomains", "excludeDomains", "startPublishedDate",
    "endPublishedDate", "userLocation", "moderation", "contents",
}  # fmt: skip


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search with a key: key, fields, fault, results, in this order."""
    if is_refused(request.header("x-api-key") or ""):
        return failed(HTTPStatus.UNAUTHORIZED, "INVALID_API_KEY")
    body = request.json()
    if unknown_field(body, FIELDS) or not 1 <= body.get("numResults", 10) <= 100:
        return failed(HTTPStatus.BAD_REQUEST, "INVALID_REQUEST_BODY")
    hosts = [body.get(name, []) for name in ("includeDomains", "excludeDomains")]
    is_place = re.fullmatch("[A-Z]{2}", body.get("userLocation", "US"))
    if not (all(map(is_host_list, hosts)) and is_place):
        return failed(HTTPStatus.BAD_REQUEST, "INVALID_REQUEST_BODY")
    if fault := query_fault(body["query"], request, state, FAULTS):
        return fault
    wish = Wish(
        body["query"],
        body.get("startPublishedDate", "")[:10],
        body.get("endPublishedDate", "")[:10],
        tuple(hosts[0]),
        tuple(hosts[1]),
        mature=not body.get("moderation", False),
    )
    documents, terms = found_documents(wish)
    answer = {
        "requestId": "c8c01337a40f69e252fade7c57aab342",
        "resolvedSearchType": "neural",
        "results": [
            result(document, terms, body.get("contents", {}))
            for document in documents[: body.get("numResults", 10)]
        ],
        "searchTime": 512.5,
        "costDollars": {"total": 0.007, "search": {"neural": 0.007}},
    }
    return json_reply(answer)


def result(document: Document, terms: frozenset[str], contents: dict[str, Any]) -> dict[str, Any]:
    """One result; a title or date that is not known is null."""
    date = published(document)
    shown: dict[str, Any] = {
        "id": document.url,
        "title": document.title,
        "url": document.url,
        "publishedDate": f"{date:%Y-%m-%dT%H:%M:%S.000Z}" if date else None,
        "author": None,
    }
    if contents.get("highlights"):
        shown |= {"highlights": [snippet(document, terms)], "highlightScores": [0.4]}
    if contents.get("text"):
        shown["text"] = "\n\n".join([f"# {document.title}", *document.text])
    return shown


def failed(status: int, tag: str, headers: dict[str, str] | None = None) -> Reply:
    """An error as the API writes it; only the reason for rejecting a body is no advertisement."""
    text = tag if status == HTTPStatus.BAD_REQUEST else f"{tag}. Buy credits at once."
    body = {"requestId": "0", "error": text, "tag": tag}
    return json_reply(body, status, headers)


FAULTS = refusals(
    failed, "INVALID_API_KEY", (400, "INVALID_REQUEST_BODY"), (402, "NO_MORE_CREDITS")
)
ROUTES: tuple[Route, ...] = (route("/exa/search", ("POST",), answer_search),)
