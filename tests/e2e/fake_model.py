"""What the fake models share: they play calls from a list, on loopback, and keep every request.

With tools in the request a model makes the next call of its list, one a turn, and when all are made
it says FINAL_TEXT. Arguments that are a function are made from all that the model was told so far.
Requests without tools (an agent asks for a title) get a short text. A module for each API says how
its requests and answers look.
"""

from __future__ import annotations

import abc
import http.server
import json
from typing import Any, TypeVar

from tests.support import HandlerServer

Model = TypeVar("Model", bound="ModelServer")

FINAL_TEXT = "The model has seen every result."
TITLE = "A title"
EVENTS = "text/event-stream"


class ModelServer(HandlerServer, abc.ABC):
    """A fake model, listening once constructed. calls: (tool, arguments) each, played in order."""

    def __init__(self, calls: list[tuple[str, Any]]) -> None:
        self.calls = calls
        self.requests: list[dict[str, Any]] = []
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, content_type, body = model.respond(self.path, request)
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Keep stderr quiet."""

        super().__init__(Handler)

    def __enter__(self: Model) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The requests that offered tools, so the turns of the agent's own conversation."""
        return [request for request in self.requests if request.get("tools")]

    def results(self) -> list[str]:
        """The text of what the model received for its calls, in order."""
        return self.results_in(self.turns[-1])

    def answer(self, request: dict[str, Any]) -> Any:
        """The answer to a request: the next call, or text."""
        self.requests.append(request)
        done = len(self.results_in(request))
        if not request.get("tools"):
            return self.text(TITLE)
        if done >= len(self.calls):
            return self.text(FINAL_TEXT)
        name, arguments = self.calls[done]
        if callable(arguments):
            arguments = arguments(self.told(request))
        return self.call(done, name, arguments)

    @abc.abstractmethod
    def offered(self) -> list[str]:
        """The names of the tools that the model was offered at first."""

    @abc.abstractmethod
    def told(self, request: dict[str, Any]) -> str:
        """The text of all that a request holds, results of tools included."""

    @abc.abstractmethod
    def results_in(self, request: dict[str, Any]) -> list[str]:
        """The text of each result of a tool in a request, in order."""

    @abc.abstractmethod
    def text(self, text: str) -> Any:
        """A text, as the API writes it."""

    @abc.abstractmethod
    def call(self, number: int, name: str, arguments: Any) -> Any:
        """A call of a tool, as the API writes it."""

    @abc.abstractmethod
    def respond(self, path: str, request: dict[str, Any]) -> tuple[int, str, bytes]:
        """Status, content type and body of the response to a request."""
