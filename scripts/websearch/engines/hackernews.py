"""Hacker News (stories and comments), through Algolia's search API."""

from __future__ import annotations

import re
import time

from websearch.engines.base.days import day_of, period
from websearch.engines.base.engine import HOURS, Engine
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.open_sources import (
    FEWER_WORDS,
    api_request,
    counted,
    good_answer,
    listed_items,
    search_words,
    source_result,
    text_of_html,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="hackernews",
    title="Hacker News",
    module=__name__,
    address=("HACKERNEWS_BASE_URL", "https://hn.algolia.com"),
    sources=("discussions",),
    is_fallback=True,
    page_interval=0.05,
    filters={"since": (*HOURS, "range")},
    instead={"site": "Add the site's name to the query."},
    operators=False,
    max_query=500,
    max_count=50,
)
ITEM = "https://news.ycombinator.com/item?id="


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET request for a search, with a search for fewer words as "if_empty"."""
    dates = ""
    if "since" in params:
        start, end = period(params["since"], time.time())
        dates = f"created_at_i>={start},created_at_i<={end}"
    fields = {
        "query": search_words(ENGINE, params["query"]),
        "tags": "(story,comment)",
        "hitsPerPage": str(params["count"]),
        "typoTolerance": "false",  # it would match other words
        "numericFilters": dates,
    }
    request = api_request(ENGINE, "/api/v1/search", fields)
    fewer = search_words(ENGINE, params["query"], FEWER_WORDS)
    if fewer != fields["query"]:
        further = api_request(ENGINE, "/api/v1/search", {**fields, "query": fewer})
        return request._replace(if_empty=further)
    return request


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    answer = good_answer(ENGINE, response)
    hits = listed_items(ENGINE, answer, "hits")
    return ResultPage(results=[hit_result(hit) for hit in hits])


def hit_result(hit: dict[str, Any]) -> dict[str, Any]:
    """Return a story or comment as a result; without its own URL, the URL is its thread."""
    number = hit.get("objectID")
    thread = f"{ITEM}{number}" if re.fullmatch(r"\d{1,12}", str(number)) else ""
    comment, url = text_of_html(hit.get("comment_text")), hit.get("url") or thread
    comments = counted(hit.get("num_comments"), "comment")
    facts = [
        "comment" if comment else "",
        counted(hit.get("points"), "point"),
        f"{comments} at {thread}" if comments and url != thread else comments,
        comment or text_of_html(hit.get("story_text")),
    ]
    title = text_of_html(hit.get("title")) or text_of_html(hit.get("story_title"))
    return source_result(title, url, facts, date=day_of(hit.get("created_at_i")))
