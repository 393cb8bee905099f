"""An MCP server over HTTP that answers each tools/call by itself; Exa and Parallel have one."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .messages import RecordedRequest, Reply, json_reply

if TYPE_CHECKING:
    from collections.abc import Callable

EVENT_STREAM = "text/event-stream"


def called_arguments(request: RecordedRequest, tool: str) -> dict[str, Any] | Reply:
    """The arguments of a call of a tool, or the refusal of what is no such call."""
    accepted = request.header("accept") or ""
    if "application/json" not in accepted or EVENT_STREAM not in accepted:
        return Reply(HTTPStatus.NOT_ACCEPTABLE, b"Not Acceptable", "text/plain")
    message = request.json()
    params = message.get("params", {})
    if message.get("jsonrpc") != "2.0" or message.get("method") != "tools/call":
        return json_reply({"jsonrpc": "2.0", "error": {"code": -32601, "message": "?"}, "id": 1})
    if params.get("name") != tool:
        return event(tool_result(f"MCP error -32602: Tool {params.get('name')} not found", True))
    arguments: dict[str, Any] = params.get("arguments", {})
    return arguments


def tool_result(text: str, is_error: bool = False) -> dict[str, Any]:
    """The answer to a call whose result is a text."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
    if is_error:
        result["isError"] = True
    return {"result": result, "jsonrpc": "2.0", "id": 1}


def rpc_error(code: int, message: str) -> dict[str, Any]:
    """The answer to a call that failed."""
    return {"jsonrpc": "2.0", "error": {"code": code, "message": message}, "id": None}


def event(message: dict[str, Any]) -> Reply:
    """A message as the only event of a stream."""
    body = f"event: message\ndata: {json.dumps(message, ensure_ascii=False)}\n\n"
    return Reply(HTTPStatus.OK, body.encode(), EVENT_STREAM)


def advertisement(text: str) -> Callable[[], Reply]:
    """A refusal that is told as an ordinary result."""
    return lambda: event(tool_result(text))
