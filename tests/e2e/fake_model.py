"""What the fake models share: a server on loopback that keeps every request."""

from __future__ import annotations

import http.server
import threading
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from types import TracebackType

Model = TypeVar("Model", bound="ModelServer")

FINAL_TEXT = "The model has seen every result."


class ModelServer:
    """A fake model, listening once constructed. calls: (tool, arguments) each, played in order."""

    def __init__(
        self, calls: list[tuple[str, Any]], handler: type[http.server.BaseHTTPRequestHandler]
    ) -> None:
        self.calls = calls
        self.requests: list[dict[str, Any]] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self: Model) -> Model:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def turns(self) -> list[dict[str, Any]]:
        """The requests that offered tools, so the turns of the agent's own conversation."""
        return [request for request in self.requests if request.get("tools")]
