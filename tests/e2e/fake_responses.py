"""A local fake of a model behind OpenAI's Responses API: it plays calls from a list.

Each turn makes the next call; when all are made it says FINAL_TEXT. A tool of a namespace is named
NAMESPACE/TOOL. Arguments that are a function are made from all that the model was told so far.
"""

from __future__ import annotations

import http.server
import json
from typing import Any

from tests.e2e.fake_model import FINAL_TEXT, ModelServer

USAGE = {
    "input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
    "output_tokens_details": None, "total_tokens": 2,
}  # fmt: skip


class FakeResponses(ModelServer):
    """The fake model, listening on loopback once constructed. calls: (tool, arguments) each."""

    def __init__(self, calls: list[tuple[str, Any]]) -> None:
        super().__init__(calls, _handler(self))
        self.url += "/v1"

    def offered(self) -> list[str]:
        """The names of the tools that the model was offered, those of a namespace after it."""
        names = []
        for tool in self.turns[0]["tools"]:
            inner = [f"{tool.get('name')}/{one['name']}" for one in tool.get("tools", [])]
            names += inner or [str(tool.get("name", tool["type"]))]
        return names

    def results(self) -> list[str]:
        """What the model received for its calls, in order, as text."""
        items = self.turns[-1]["input"]
        return [text_of(one["output"]) for one in items if one["type"] == "function_call_output"]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The item that answers a request: the next call, or text."""
        self.requests.append(request)
        done = sum(one["type"] == "function_call_output" for one in request["input"])
        if done >= len(self.calls):
            content = [{"type": "output_text", "text": FINAL_TEXT}]
            return {"type": "message", "role": "assistant", "id": "m", "content": content}
        name, arguments = self.calls[done]
        if callable(arguments):
            arguments = arguments(told(request))
        namespace, _, tool = name.rpartition("/")
        call = {"type": "function_call", "call_id": f"call_{done}", "name": tool}
        call["arguments"] = json.dumps(arguments)
        return {**call, "namespace": namespace} if namespace else call


def told(request: dict[str, Any]) -> str:
    """The text of all messages and results of a request."""
    parts = [text_of(one.get("content") or one.get("output") or "") for one in request["input"]]
    return "\n".join([str(request.get("instructions", "")), *parts])


def text_of(content: Any) -> str:
    """The text of a message or result: text, or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def _handler(model: FakeResponses) -> type[http.server.BaseHTTPRequestHandler]:
    """A request handler for one fake model."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            done = {"id": "r", "usage": USAGE}
            events = [
                {"type": "response.created", "response": {"id": "r"}},
                {"type": "response.output_item.done", "item": model.answer(request)},
                {"type": "response.completed", "response": done},
            ]
            lines = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events]
            body = "".join(lines).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep stderr quiet."""

    return Handler
