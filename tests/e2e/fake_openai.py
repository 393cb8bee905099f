"""A local fake of a model behind OpenAI's chat completions: it plays calls from a list.

With tools in the request it makes the next call of its list, one a turn, and when all are made
it says FINAL_TEXT. Arguments that are a function are made from all that the model was told so far.
Requests without tools (an agent asks for a title) get a short text. Every request's body is kept
in `requests`.
"""

from __future__ import annotations

import http.server
import json
from typing import TYPE_CHECKING, Any

from tests.e2e.fake_model import FINAL_TEXT, ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "fake-model"
TITLE = "A title"


class FakeModel(ModelServer):
    """The fake model, listening on loopback once constructed. calls: (tool, arguments) each."""

    def __init__(self, calls: list[tuple[str, Any]]) -> None:
        super().__init__(calls, _handler(self))
        self.url += "/v1"

    def offered(self) -> list[str]:
        """The names of the tools that the model was offered, in order, as often as they came."""
        return [one["function"]["name"] for one in self.turns[0]["tools"]]

    def schema(self, name: str) -> dict[str, Any]:
        """The function definition (name, description, parameters) of an offered tool."""
        tools = [one["function"] for one in self.turns[0]["tools"]]
        return next(one for one in tools if one["name"] == name)

    def results(self) -> list[Any]:
        """What the model received for its calls, in order."""
        messages = self.turns[-1]["messages"]
        return [one["content"] for one in messages if one["role"] == "tool"]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The message for a request: the next call, or text."""
        self.requests.append(request)
        if not request.get("tools"):
            return {"content": TITLE}
        done = sum(one["role"] == "tool" for one in request["messages"])
        if done >= len(self.calls):
            return {"content": FINAL_TEXT}
        name, arguments = self.calls[done]
        if callable(arguments):
            arguments = arguments(told(request))
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {
            "tool_calls": [{"id": f"call_{done + 1}", "type": "function", "function": function}]
        }


def told(request: dict[str, Any]) -> str:
    """The text of all messages of a request, results of tools included."""
    contents = [message.get("content") or "" for message in request["messages"]]
    parts = [[{"text": one}] if isinstance(one, str) else one for one in contents]
    return "\n".join(part.get("text", "") for content in parts for part in content)


def _handler(model: FakeModel) -> type[http.server.BaseHTTPRequestHandler]:
    """A request handler for one fake model."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = model.answer(request)
            if request.get("stream"):
                body = b"".join(b"data: " + chunk + b"\n\n" for chunk in _chunks(message))
                self._send("text/event-stream", body + b"data: [DONE]\n\n")
            else:
                self._send("application/json", json.dumps(_whole(message)).encode())

        def _send(self, content_type: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Keep stderr quiet."""

    return Handler


_HEAD = {"id": "chatcmpl-1", "created": 1, "model": MODEL}
_USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _finish_reason(message: dict[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in message else "stop"


def _whole(message: dict[str, Any]) -> dict[str, Any]:
    """An answer that is not streamed."""
    message = {"role": "assistant", "content": None, **message}
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(message)}
    return {**_HEAD, "object": "chat.completion", "choices": [choice], "usage": _USAGE}


def _chunks(message: dict[str, Any]) -> Iterator[bytes]:
    """The events of a streamed answer: role, content or calls, end with usage."""
    calls = [{"index": 0, **call} for call in message.get("tool_calls", ())]
    delta = {"tool_calls": calls} if calls else message
    ending = {"index": 0, "delta": {}, "finish_reason": _finish_reason(message)}
    for choice, more in (
        ({"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}, {}),
        ({"index": 0, "delta": delta, "finish_reason": None}, {}),
        (ending, {"usage": _USAGE}),
    ):
        event = {**_HEAD, "object": "chat.completion.chunk", "choices": [choice], **more}
        yield json.dumps(event).encode()
