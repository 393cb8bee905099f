"""GET /search, which Google and SearXNG share as they do in the real world.

They are told apart by Google's hl parameter. SearXNG is at /searxng/search, too, for a server that
lives below a path.
"""

from __future__ import annotations

from . import google, searxng
from .messages import Answer, RecordedRequest, Route, ServerState, route


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer GET /search as Google or as SearXNG."""
    if "hl" in request.query:
        return google.answer_search(request, state)
    return searxng.answer_search(request, state)


ROUTES: tuple[Route, ...] = (
    route("/search", ("GET",), answer_search),
    route("/searxng/search", ("GET",), searxng.answer_search),
)
