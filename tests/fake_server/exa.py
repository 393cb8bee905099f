"""Exa: POST /exa/search with a key, POST /exa/mcp (web_search_exa) without one.

Beside the faults of answer_engines.py the MCP server has told (its refusal as an ordinary result).
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .answer_engines import Wish, found_documents, is_host_list, is_refused, refusals, unknown_field
from .engine_pages import published, query_fault, snippet
from .mcp_door import advertisement, called_arguments, event, rpc_error, tool_result
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {
    "query", "type", "numResults", "includeDomains", "excludeDomains", "startPublishedDate",
    "endPublishedDate", "userLocation", "moderation", "contents",
}  # fmt: skip
LIMIT_TEXT = (
    "You've hit Exa's free MCP rate limit. To continue using without limits, create your own Exa "
    "API key.\n\nFix: Create API key at https://dashboard.exa.example/api-keys"
)
NO_RESULTS = "No search results found. Please try a different query."


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


def answer_mcp(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a call of web_search_exa, without a key."""
    arguments = called_arguments(request, "web_search_exa")
    if isinstance(arguments, Reply):
        return arguments
    query = arguments.get("query", "")
    if fault := query_fault(query, request, state, MCP_FAULTS):
        return fault
    documents, terms = found_documents(Wish(query))
    blocks = [text_block(one, terms) for one in documents[: arguments.get("numResults", 8)]]
    return event(tool_result("\n\n---\n\n".join(blocks) or NO_RESULTS))


def text_block(document: Document, terms: frozenset[str]) -> str:
    """One result as the MCP server writes it; highlights hold raw Markdown, rules included."""
    date = published(document)
    return (
        f"Title: {document.title}\nURL: {document.url}\n"
        f"Published: {f'{date:%Y-%m-%dT%H:%M:%S.000Z}' if date else 'N/A'}\nAuthor: N/A\n"
        f"Highlights:\n{snippet(document, terms)}\n...\n---\nlayout: page\n---\n{document.title}"
    )


def failed(status: int, tag: str, headers: dict[str, str] | None = None) -> Reply:
    """An error as the API writes it."""
    body = {"requestId": "0", "error": f"{tag}. Buy credits at once.", "tag": tag}
    return json_reply(body, status, headers)


def spent_mcp(wait: str) -> Reply:
    """The refusal of the MCP server's allowance."""
    headers = {"retry-after": wait, "x-ratelimit-limit": "0", "x-ratelimit-remaining": "0"}
    return json_reply(rpc_error(-32000, LIMIT_TEXT), HTTPStatus.TOO_MANY_REQUESTS, headers)


FAULTS = refusals(
    failed, "INVALID_API_KEY", (400, "INVALID_REQUEST_BODY"), (402, "NO_MORE_CREDITS")
)
MCP_FAULTS = {
    **FAULTS,
    "denied": lambda: event(tool_result("web_search_exa error (401): Invalid API key.", True)),
    "invalid": lambda: event(tool_result("MCP error -32602: Input validation error", True)),
    "told": advertisement(LIMIT_TEXT),
    "spent": lambda: spent_mcp("44016"),
    "toofast": lambda: spent_mcp("1"),
    "busy": lambda: spent_mcp("1"),
    "limit": lambda: json_reply(rpc_error(-32000, LIMIT_TEXT), HTTPStatus.TOO_MANY_REQUESTS),
    "layout": advertisement("Something quite different"),
}
ROUTES: tuple[Route, ...] = (
    route("/exa/search", ("POST",), answer_search),
    route("/exa/mcp", ("POST",), answer_mcp),
)
