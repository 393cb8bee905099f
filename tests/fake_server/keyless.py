"""The engines that need no key, on one address.

DuckDuckGo lives at /html/ and Wikipedia at /w/api.php; Google and SearXNG share GET /search as
they do in the real world, and are told apart by Google's hl parameter. SearXNG is at
/searxng/search, too, for a server that lives below a path. The paths of the open sources are their
own.
"""

from __future__ import annotations

from . import (
    arxiv,
    crossref,
    duckduckgo,
    github,
    github_pages,
    google,
    hackernews,
    searxng,
    wikipedia,
)
from .messages import Answer, RecordedRequest, Route, ServerState, route


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer GET /search as Google or as SearXNG."""
    if "hl" in request.query:
        return google.answer_search(request, state)
    return searxng.answer_search(request, state)


ROUTES: tuple[Route, ...] = (
    *duckduckgo.ROUTES,
    *wikipedia.ROUTES,
    *hackernews.ROUTES,
    *github.ROUTES,
    *github_pages.ROUTES,
    *crossref.ROUTES,
    *arxiv.ROUTES,
    route("/search", ("GET",), answer_search),
    route("/searxng/search", ("GET",), searxng.answer_search),
)
