"""What the fake models share: a server on loopback that keeps every request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tests.support import HandlerServer

if TYPE_CHECKING:
    import http.server

Model = TypeVar("Model", bound="ModelServer")

FINAL_TEXT = "The model has seen every result."


class ModelServer(HandlerServer):
    """A fake model, listening once constructed. calls: (tool, arguments) each, played in order."""

    def __init__(
        self, calls: list[tuple[str, Any]], handler: type[http.server.BaseHTTPRequestHandler]
    ) -> None:
        self.calls = calls
        self.requests: list[dict[str, Any]] = []
        super().__init__(handler)

    def __enter__(self: Model) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The requests that offered tools, so the turns of the agent's own conversation."""
        return [request for request in self.requests if request.get("tools")]
