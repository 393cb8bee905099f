"""A local fake of a model behind OpenAI's Responses API. A namespace's tool: NAMESPACE/TOOL."""

from __future__ import annotations

import json
from typing import Any

from tests.e2e.fake_model import EVENTS, ModelServer

USAGE = {
    "input_tokens": 1, "input_tokens_details": None, "output_tokens": 1,
    "output_tokens_details": None, "total_tokens": 2,
}  # fmt: skip


class FakeResponses(ModelServer):
    """The fake model, listening on loopback once constructed."""

    def __init__(self, calls: list[tuple[str, Any]]) -> None:
        super().__init__(calls)
        self.url += "/v1"

    def offered(self) -> list[str]:
        names = []
        for tool in self.turns[0]["tools"]:
            inner = [f"{tool.get('name')}/{one['name']}" for one in tool.get("tools", [])]
            names += inner or [str(tool.get("name", tool["type"]))]
        return names

    def told(self, request: dict[str, Any]) -> str:
        parts = [
            _text_of(one.get("content") or one.get("output") or "") for one in request["input"]
        ]
        return "\n".join([str(request.get("instructions", "")), *parts])

    def results_in(self, request: dict[str, Any]) -> list[str]:
        items = request["input"]
        return [_text_of(one["output"]) for one in items if one["type"] == "function_call_output"]

    def text(self, text: str) -> Any:
        content = [{"type": "output_text", "text": text}]
        return {"type": "message", "role": "assistant", "id": "m", "content": content}

    def call(self, number: int, name: str, arguments: Any) -> Any:
        namespace, _, tool = name.rpartition("/")
        call = {"type": "function_call", "call_id": f"call_{number}", "name": tool}
        call["arguments"] = json.dumps(arguments)
        return {**call, "namespace": namespace} if namespace else call

    def respond(self, path: str, request: dict[str, Any]) -> tuple[int, str, bytes]:  # noqa: ARG002
        events = [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "item": self.answer(request)},
            {"type": "response.completed", "response": {"id": "r", "usage": USAGE}},
        ]
        lines = [f"event: {one['type']}\ndata: {json.dumps(one)}\n\n" for one in events]
        return 200, EVENTS, "".join(lines).encode()


def _text_of(content: Any) -> str:
    """The text of a message or result: text, or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)
