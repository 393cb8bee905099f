"""A local fake of a model behind the Gemini API: it plays calls from a list.

Each turn makes the next call; when all are made it says FINAL_TEXT. Arguments that are a function
are made from all that the model was told so far.
"""

from __future__ import annotations

import http.server
import json
from typing import TYPE_CHECKING, Any

from tests.e2e.fake_model import FINAL_TEXT, ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator

USAGE = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}


class FakeGemini(ModelServer):
    """The fake model, listening on loopback once constructed. calls: (tool, arguments) each."""

    def __init__(self, calls: list[tuple[str, Any]]) -> None:
        super().__init__(calls, _handler(self))

    def offered(self) -> list[str]:
        """The names of the tools that the model was offered."""
        tools = self.turns[0]["tools"]
        return [one["name"] for tool in tools for one in tool.get("functionDeclarations", [])]

    def results(self) -> list[str]:
        """What the model received for its calls, in order, as text."""
        answers = [part.get("functionResponse") for part in parts_of(self.turns[-1])]
        return [response_text(answer) for answer in answers if answer]

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """The part that answers a request: the next call, or text."""
        self.requests.append(request)
        done = sum("functionResponse" in part for part in parts_of(request))
        if not request.get("tools") or done >= len(self.calls):
            return {"text": FINAL_TEXT}
        name, arguments = self.calls[done]
        if callable(arguments):
            arguments = arguments(told(request))
        return {"functionCall": {"name": name, "args": arguments, "id": f"call_{done}"}}


def parts_of(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every part of a request's contents, in order."""
    for content in request["contents"]:
        yield from content["parts"]


def response_text(answer: dict[str, Any]) -> str:
    """The text of a tool's response."""
    response = answer["response"]
    return str(response.get("output") or response.get("error") or response)


def told(request: dict[str, Any]) -> str:
    """The system's text and that of all contents and results of a request."""
    system = [part.get("text", "") for part in request["systemInstruction"]["parts"]]
    texts = [
        response_text(part["functionResponse"])
        if "functionResponse" in part
        else part.get("text", "")
        for part in parts_of(request)
    ]
    return "\n".join([*system, *texts])


def _handler(model: FakeGemini) -> type[http.server.BaseHTTPRequestHandler]:
    """A request handler for one fake model."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = {"role": "model", "parts": [model.answer(request)]}
            candidate = {"content": content, "finishReason": "STOP", "index": 0}
            body = json.dumps({"candidates": [candidate], "usageMetadata": USAGE}).encode()
            streamed = ":streamGenerateContent" in self.path
            self.send_response(200)
            kind = "text/event-stream" if streamed else "application/json"
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(b"data: " + body + b"\r\n\r\n" if streamed else body)

        def log_message(self, *_: Any) -> None:
            """Keep stderr quiet."""

    return Handler
