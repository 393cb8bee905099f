"""A local fake of a model behind the Gemini API."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.e2e.fake_model import EVENTS, ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}


class FakeGemini(ModelServer):
    """The fake model, listening on loopback once constructed."""

    def offered(self) -> list[str]:
        tools = self.turns[0]["tools"]
        return [one["name"] for tool in tools for one in tool.get("functionDeclarations", [])]

    def told(self, request: dict[str, Any]) -> str:
        system = [part.get("text", "") for part in request["systemInstruction"]["parts"]]
        return "\n".join([*system, *(_text_of(part) for part in _parts(request))])

    def results_in(self, request: dict[str, Any]) -> list[str]:
        return [_text_of(part) for part in _parts(request) if part.get("functionResponse")]

    def text(self, text: str) -> Any:
        return {"text": text}

    def call(self, number: int, name: str, arguments: Any) -> Any:
        return {"functionCall": {"name": name, "args": arguments, "id": f"call_{number}"}}

    def respond(self, path: str, request: dict[str, Any]) -> tuple[int, str, bytes]:
        content = {"role": "model", "parts": [self.answer(request)]}
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        body = json.dumps({"candidates": [candidate], "usageMetadata": USAGE}).encode()
        if ":streamGenerateContent" in path:
            return 200, EVENTS, b"data: " + body + b"\r\n\r\n"
        return 200, "application/json", body


def _parts(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every part of a request's contents, in order."""
    for content in request["contents"]:
        yield from content["parts"]


def _text_of(part: dict[str, Any]) -> str:
    """The text of a part, or of the tool's response that it holds."""
    if "functionResponse" not in part:
        return str(part.get("text", ""))
    response = part["functionResponse"]["response"]
    return str(response.get("output") or response.get("error") or response)
