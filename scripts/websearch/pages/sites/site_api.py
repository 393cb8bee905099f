"""How pages are read through the API of their site: requests in their turn, posts as Markdown."""

from __future__ import annotations

import re

from websearch.base.http_client import send_within
from websearch.engines.base.pacing import PAGES
from websearch.engines.base.turns import PacedEngine
from websearch.kit import DEFAULT_MAX_CHARS
from websearch.pages.extract.markdown import MarkdownWriter
from websearch.pages.extract.page_tree import PageTree
from websearch.pages.fetch.fetch import SharedAnswers, guarded_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response
    from websearch.pages.fetch.fetch import RobotsCache

MAX_BODY_HTML = 300_000  # characters of one post


class SiteApi(PacedEngine):
    """Sends the requests that read one page through the API of its site.

    Each takes its turn, is checked by the address guard, and obeys robots.txt if that is wanted.
    host: of the page. urls and shared: of all pages of the call, which share the requests of an
    hour. budget: characters that the text should have at most; 0: no limit.
    """

    def __init__(
        self,
        engine: str,
        host: str,
        deadline: float,
        robots: RobotsCache | None,
        params: dict[str, Any],
    ) -> None:
        super().__init__(engine, deadline, [], use=PAGES)
        self.host = host
        self.robots = robots
        self.writer = MarkdownWriter("", bool(params.get("links")))
        self.urls: list[str] = params["urls"]
        self.shared = SharedAnswers()
        limit = params.get("max_chars", DEFAULT_MAX_CHARS)
        self.budget = 0 if "query" in params else limit // len(self.urls)

    def send(self, request: EngineRequest) -> Response:
        """Send a request whose turn has come; raises SearchError."""
        if self.robots:
            self.robots.check(request.url, self.deadline)
        return send_within(guarded_request(request.for_http()), self.deadline)

    def markdown(self, html: str) -> str:
        """Return the HTML of a post as Markdown below the headings of its thread."""
        page = PageTree(f"<div>{html[:MAX_BODY_HTML]}</div>")
        return demoted(self.writer.markdown(page.root))


# ===== Markdown of threads ========================================================================


def facts_line(*facts: str) -> str:
    """Return facts on one line, those that are "" left out."""
    return " · ".join(" ".join(fact.split()) for fact in facts if fact)


def post(heading: str, body: str) -> str:
    """Return a post of a thread: its heading and its text."""
    return f"## {heading}\n\n{body}".strip()


def demoted(markdown: str) -> str:
    """Return a post's Markdown whose headings are two levels lower: those above are the thread's.

    So no post can look like the beginning of another one. Blocks of code stay as they are.
    """
    lines, fence = [], ""
    for line in markdown.split("\n"):
        mark = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
        heading = not fence and re.match(r" {0,3}(#{1,6})(?=\s)", line)
        lines.append(
            f"{'#' * min(6, 2 + len(heading[1]))}{line[heading.end() :]}" if heading else line
        )
    return "\n".join(lines)
