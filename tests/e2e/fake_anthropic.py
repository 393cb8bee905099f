"""A local fake of a model behind Anthropic's Messages API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.e2e.fake_model import EVENTS, ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator


class FakeAnthropic(ModelServer):
    """The fake model, listening on loopback once constructed."""

    def offered(self) -> list[str]:
        return [str(tool.get("name")) for tool in self.turns[0]["tools"]]

    def first_texts(self) -> str:
        """All that the model was told before it did anything, its tools' descriptions included."""
        first = self.turns[0]
        tools = [str(tool.get("description", "")) for tool in first["tools"]]
        return "\n".join([*_texts(first.get("system", "")), self.told(first), *tools])

    def all_told(self) -> str:
        """All that the conversation held at its end."""
        return self.told(self.turns[-1])

    def told(self, request: dict[str, Any]) -> str:
        messages = request["messages"]
        return "\n".join(text for message in messages for text in _texts(message["content"]))

    def results_in(self, request: dict[str, Any]) -> list[str]:
        return [
            "\n".join(_texts(block.get("content", "")))
            for message in request["messages"]
            if isinstance(message["content"], list)
            for block in message["content"]
            if block.get("type") == "tool_result"
        ]

    def text(self, text: str) -> Any:
        return {"type": "text", "text": text}

    def call(self, number: int, name: str, arguments: Any) -> Any:
        identity = f"toolu_{number + 1:02d}"
        return {"type": "tool_use", "id": identity, "name": name, "input": arguments}

    def respond(self, path: str, request: dict[str, Any]) -> tuple[int, str, bytes]:
        path = path.partition("?")[0]
        status, document = 200, {"input_tokens": 10}
        if path == "/v1/messages":
            block = self.answer(request)
            if request.get("stream"):
                return 200, EVENTS, b"".join(_events(request, block))
            document = {**_head(request), "content": [block], "stop_reason": _stop_reason(block)}
        elif path != "/v1/messages/count_tokens":
            error = {"type": "not_found_error", "message": path}
            status, document = 404, {"type": "error", "error": error}
        return status, "application/json", json.dumps(document).encode()


def _texts(content: Any) -> list[str]:
    """The texts in a message's content: text, or blocks that may hold blocks."""
    if isinstance(content, str):
        return [content]
    texts: list[str] = []
    for block in content:
        texts += _texts(block["content"]) if "content" in block else [block.get("text", "")]
    return texts


def _stop_reason(block: dict[str, Any]) -> str:
    return "tool_use" if block["type"] == "tool_use" else "end_turn"


def _head(request: dict[str, Any]) -> dict[str, Any]:
    """A message without its content."""
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": request["model"],
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _events(request: dict[str, Any], block: dict[str, Any]) -> Iterator[bytes]:
    """The events of a streamed answer with one content block."""
    if block["type"] == "tool_use":
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    else:
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    ending = {"stop_reason": _stop_reason(block), "stop_sequence": None}
    for event in (
        {"type": "message_start", "message": _head(request)},
        {"type": "content_block_start", "index": 0, "content_block": start},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ):
        yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
