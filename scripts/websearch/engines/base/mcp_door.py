"""One anonymous tool call at an MCP server over HTTP: a POST and its response.

There is no handshake and no session: servers for anonymous callers answer each message separately.
The response is JSON or a stream with one event. Failures are detected in this order: the status, a
JSON-RPC error, a result marked as an error. The engine's module detects a refusal that looks like a
result.
"""

from __future__ import annotations

import json

from websearch.engines.base.search_apis import json_post, no_list, refusal, refused_key, too_many
from websearch.kit import clean_tree, list_field, object_field, retry_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.engine import Engine
    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response, SearchError

LIMIT_CODE = -32000  # JSON-RPC code of Exa for a used-up allowance
BOTH_TYPES = "application/json, text/event-stream"  # without both, the response is 406


def tool_request(url: str, tool: str, arguments: dict[str, Any], **headers: str) -> EngineRequest:
    """Return the request for a tool call. url: the server's own, without a trailing slash."""
    call = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    return json_post(url, message, Accept=BOTH_TYPES, **headers)


def tool_result(engine: Engine, response: Response) -> tuple[dict[str, Any], str]:
    """Return (structured content, text) of a tool result. Raises SearchError."""
    if response.status != 200:
        raise refusal(engine, response)
    message = rpc_message(response)
    error, result = object_field(message, "error"), object_field(message, "result")
    if error.get("code") == LIMIT_CODE:
        raise too_many(engine, response.status, retry_after(response))
    if error or not result:
        raise no_list(engine)
    text = "\n".join(str(part.get("text", "")) for part in list_field(result, "content"))
    if result.get("isError"):
        raise tool_error(engine, text)
    return object_field(result, "structuredContent"), text


def rpc_message(response: Response) -> dict[str, Any]:
    """Return the JSON-RPC message in an answer, {} without one."""
    texts = [response.text()]
    if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
        events = response.text().replace("\r\n", "\n").split("\n\n")
        texts = [event_data(event) for event in events]
    for text in texts:
        try:
            message = clean_tree(json.loads(text))
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict) and not message.keys().isdisjoint(("result", "error")):
            return message
    return {}


def event_data(event: str) -> str:
    """Return the joined data lines of a stream's event."""
    lines = [line[5:] for line in event.split("\n") if line.startswith("data:")]
    return "\n".join(line.removeprefix(" ") for line in lines)


def tool_error(engine: Engine, text: str) -> SearchError:
    """Return the error of a result marked as an error; its text is not shown."""
    if "(401)" in text[:80]:
        return refused_key(engine, 401)
    return no_list(engine)
