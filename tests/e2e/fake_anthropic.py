"""A local fake of a model behind Anthropic's Messages API: it plays calls from a list.

With tools in the request it makes the next call of its list, one a turn, and when all are made
it says FINAL_TEXT. Arguments that are a function are made from all that the model was told so far.
Requests without tools get a short text. Every request's body is kept in `requests`.
"""

from __future__ import annotations

import http.server
import json
from typing import TYPE_CHECKING, Any

from tests.e2e.fake_model import FINAL_TEXT, ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT_TEXT = "A title"


class FakeAnthropic(ModelServer):
    """The fake model, listening on loopback once constructed. calls: (tool, arguments) each."""

    def __init__(self, calls: list[tuple[str, Any]]) -> None:
        super().__init__(calls, _handler(self))

    def offered(self) -> list[str]:
        """The names of the tools that the model was offered at first."""
        return [str(tool.get("name")) for tool in self.turns[0]["tools"]]

    def first_texts(self) -> str:
        """All that the model was told before it did anything, its tools' descriptions included."""
        tools = [str(tool.get("description", "")) for tool in self.turns[0]["tools"]]
        return "\n".join([*_texts(self.turns[0].get("system", "")), told(self.turns[0]), *tools])

    def told(self) -> str:
        """All that the conversation held at its end."""
        return told(self.turns[-1])

    def results(self) -> list[str]:
        """The text of what the model received for its calls, in order."""
        return ["\n".join(_texts(block.get("content", ""))) for block in _results(self.turns[-1])]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The content block for a request: the next call, or text."""
        self.requests.append(request)
        if not request.get("tools"):
            return {"type": "text", "text": SHORT_TEXT}
        done = len(_results(request))
        if done >= len(self.calls):
            return {"type": "text", "text": FINAL_TEXT}
        name, arguments = self.calls[done]
        if callable(arguments):
            arguments = arguments(told(request))
        return {"type": "tool_use", "id": f"toolu_{done + 1:02d}", "name": name, "input": arguments}


def told(request: dict[str, Any]) -> str:
    """The text of all messages of a request, results of tools included."""
    return "\n".join(text for message in request["messages"] for text in _texts(message["content"]))


def _texts(content: Any) -> list[str]:
    """The texts in a message's content: text, or blocks that may hold blocks."""
    if isinstance(content, str):
        return [content]
    texts: list[str] = []
    for block in content:
        texts += _texts(block["content"]) if "content" in block else [block.get("text", "")]
    return texts


def _results(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The tool_result blocks of a request, in order."""
    return [
        block
        for message in request["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]


def _handler(model: FakeAnthropic) -> type[http.server.BaseHTTPRequestHandler]:
    """A request handler for one fake model."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            path = self.path.partition("?")[0]
            if path == "/v1/messages/count_tokens":
                self._send_json({"input_tokens": 10})
            elif path != "/v1/messages":
                self.do_GET()
            elif request.get("stream"):
                self._send("text/event-stream", b"".join(_events(request, model.answer(request))))
            else:
                self._send_json(_whole(request, model.answer(request)))

        def do_GET(self) -> None:
            error = {"type": "not_found_error", "message": self.path}
            self._send_json({"type": "error", "error": error}, 404)

        def _send_json(self, document: dict[str, Any], status: int = 200) -> None:
            self._send("application/json", json.dumps(document).encode(), status)

        def _send(self, content_type: str, body: bytes, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep stderr quiet."""

    return Handler


def _stop_reason(block: dict[str, Any]) -> str:
    return "tool_use" if block["type"] == "tool_use" else "end_turn"


def _whole(request: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    """An answer that is not streamed."""
    return {**_head(request), "content": [block], "stop_reason": _stop_reason(block)}


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
