"""Parallel: POST /parallel/v1/search with a key, POST /parallel/mcp (web_search) without one."""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .answer_engines import Wish, found_documents, is_host_list, is_refused, refusals, unknown_field
from .engine_pages import published, query_fault, snippet
from .mcp_door import advertisement, called_arguments, event, rpc_error, tool_result
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {"search_queries", "objective", "mode", "advanced_settings", "max_chars_total"}
SETTINGS = {"max_results", "location", "source_policy", "excerpt_settings"}
POLICY = {"include_domains", "exclude_domains", "after_date"}
MCP_RESULTS = 13  # a caller cannot say how many


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


def answer_mcp(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a call of web_search, without a key."""
    arguments = called_arguments(request, "web_search")
    if isinstance(arguments, Reply):
        return arguments
    query = " ".join(arguments.get("search_queries", []))
    if not (query and arguments.get("objective")):
        return event(tool_result("MCP error -32602: objective and search_queries", True))
    if fault := query_fault(query, request, state, MCP_FAULTS):
        return fault
    answer = found(Wish(query), MCP_RESULTS)
    result = {
        "content": [{"type": "text", "text": json.dumps(answer, ensure_ascii=False)}],
        "structuredContent": answer,
        "isError": False,
    }
    return json_reply({"jsonrpc": "2.0", "id": 1, "result": result})


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
MCP_FAULTS = {
    **FAULTS,
    "invalid": lambda: event(tool_result("MCP error -32602: Invalid arguments", True)),
    "inband": lambda: json_reply(rpc_error(-32603, "Internal error")),
    "layout": advertisement("Something quite different"),
}
ROUTES: tuple[Route, ...] = (
    route("/parallel/v1/search", ("POST",), answer_search),
    route("/parallel/mcp", ("POST",), answer_mcp),
)
