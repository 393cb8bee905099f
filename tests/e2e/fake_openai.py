"""A local fake of a model behind OpenAI's chat completions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.e2e.fake_model import EVENTS, ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

MODEL = "fake-model"
HEAD = {"id": "chatcmpl-1", "created": 1, "model": MODEL}
USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


class FakeOpenAi(ModelServer):
    """The fake model, listening on loopback once constructed."""

    def __init__(self, calls: list[tuple[str, Any]]) -> None:
        super().__init__(calls)
        self.url += "/v1"

    def offered(self) -> list[str]:
        return [one["function"]["name"] for one in self.turns[0]["tools"]]

    def schema(self, name: str) -> dict[str, Any]:
        """The function definition (name, description, parameters) of an offered tool."""
        tools = [one["function"] for one in self.turns[0]["tools"]]
        return next(one for one in tools if one["name"] == name)

    def told(self, request: dict[str, Any]) -> str:
        contents = [message.get("content") or "" for message in request["messages"]]
        parts = [[{"text": one}] if isinstance(one, str) else one for one in contents]
        return "\n".join(part.get("text", "") for content in parts for part in content)

    def results_in(self, request: dict[str, Any]) -> list[str]:
        return [one["content"] for one in request["messages"] if one["role"] == "tool"]

    def text(self, text: str) -> Any:
        return {"content": text}

    def call(self, number: int, name: str, arguments: Any) -> Any:
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {
            "tool_calls": [{"id": f"call_{number + 1}", "type": "function", "function": function}]
        }

    def respond(self, path: str, request: dict[str, Any]) -> tuple[int, str, bytes]:  # noqa: ARG002
        message = self.answer(request)
        if request.get("stream"):
            body = b"".join(b"data: " + chunk + b"\n\n" for chunk in _chunks(message))
            return 200, EVENTS, body + b"data: [DONE]\n\n"
        message = {"role": "assistant", "content": None, **message}
        choice = {"index": 0, "message": message, "finish_reason": _finish_reason(message)}
        document = {**HEAD, "object": "chat.completion", "choices": [choice], "usage": USAGE}
        return 200, "application/json", json.dumps(document).encode()


def _finish_reason(message: dict[str, Any]) -> str:
    return "tool_calls" if "tool_calls" in message else "stop"


def _chunks(message: dict[str, Any]) -> Iterator[bytes]:
    """The events of a streamed answer: role, content or calls, end with usage."""
    calls = [{"index": 0, **call} for call in message.get("tool_calls", ())]
    delta = {"tool_calls": calls} if calls else message
    ending = {"index": 0, "delta": {}, "finish_reason": _finish_reason(message)}
    for choice, more in (
        ({"index": 0, "delta": {"role": "assistant"}, "finish_reason": None}, {}),
        ({"index": 0, "delta": delta, "finish_reason": None}, {}),
        (ending, {"usage": USAGE}),
    ):
        event = {**HEAD, "object": "chat.completion.chunk", "choices": [choice], **more}
        yield json.dumps(event).encode()
