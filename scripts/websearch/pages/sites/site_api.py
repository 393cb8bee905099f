"""Send paced requests to a site's API; write posts as Markdown."""

from __future__ import annotations

from websearch.base.http_client import send_within
from websearch.engines.base.pacing import PAGES
from websearch.engines.base.turns import PacedEngine
from websearch.kit import DEFAULT_MAX_CHARS
from websearch.markdown.sections import demote_headings
from websearch.pages.extract.markdown import MarkdownWriter
from websearch.pages.extract.page_tree import PageTree
from websearch.pages.fetch.fetch import guarded_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response
    from websearch.pages.fetch.fetch import RobotsCache, SharedAnswers

MAX_BODY_HTML = 300_000  # characters per post


class SiteApi(PacedEngine):
    """The connection to a site's API for the requests of one page.

    Each request waits for its turn, passes the address guard and, if robots is set, obeys
    robots.txt.
    site: the engine whose pace applies, and the page's host
    urls, shared: the URLs and shared answers of all pages in the call, which share an hourly quota
    budget: the maximum number of characters in the text; 0: no limit
    """

    def __init__(
        self,
        site: tuple[str, str],
        deadline: float,
        robots: RobotsCache | None,
        params: dict[str, Any],
        shared: SharedAnswers,
    ) -> None:
        engine, self.host = site
        super().__init__(engine, deadline, [], use=PAGES)
        self.robots = robots
        self.writer = MarkdownWriter("", bool(params.get("links")))
        self.urls: list[str] = params["urls"]
        self.shared = shared
        limit = params.get("max_chars", DEFAULT_MAX_CHARS)
        self.budget = 0 if "query" in params else limit // len(self.urls)

    def send(self, request: EngineRequest) -> Response:
        """Send a request when its turn comes. Raises SearchError."""
        if self.robots:
            self.robots.check(request.url, self.deadline)
        return send_within(guarded_request(request.for_http()), self.deadline)

    def markdown(self, html: str) -> str:
        """Return a post's HTML as Markdown, with its headings below the thread's headings."""
        page = PageTree(f"<div>{html[:MAX_BODY_HTML]}</div>")
        return demote_headings(self.writer.markdown(page.root))


# ===== Markdown of threads ========================================================================


def facts_line(*facts: str) -> str:
    """Return the nonempty facts on one line."""
    return " · ".join(" ".join(fact.split()) for fact in facts if fact)


def post(heading: str, body: str) -> str:
    """Return a post in a thread: a heading and its text."""
    return f"## {heading}\n\n{body}".strip()
