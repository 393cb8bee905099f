"""Crossref: papers, books and other works with a DOI."""

from __future__ import annotations

import time

from websearch.engines.base.days import period
from websearch.engines.base.engine import DAYS, Engine
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.open_sources import (
    api_request,
    bad_query,
    good_answer,
    listed_items,
    named_authors,
    refusal,
    source_result,
    text_of_html,
    too_fast,
    utc_time,
)
from websearch.engines.base.result_pages import within_limit
from websearch.kit import list_field, object_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response, SearchError

ENGINE = Engine(
    name="crossref",
    title="Crossref",
    module=__name__,
    address=("CROSSREF_BASE_URL", "https://api.crossref.org"),
    sources=("papers",),
    serial=True,
    filters={"since": (*DAYS, "range")},
    instead={"since": "Use day, week, month, year or a range of dates."},
    operators=False,
    max_query=1_000,
    max_count=50,
)
FIELDS = "DOI,URL,title,container-title,author,issued,abstract,type"
PAUSE_AFTER_LIMIT = 5.0  # seconds, if a refusal states no wait: the limit is per second


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET request for a search. Raises SearchError (invalid_input)."""
    dates = ""
    if "since" in params:
        start, end = map(utc_time, period(params["since"], time.time()))
        dates = f"from-pub-date:{start},until-pub-date:{end}"
    fields = {
        "query": within_limit(ENGINE, params["query"]),
        "rows": str(params["count"]),
        "select": FIELDS,
        "filter": dates,
    }
    return api_request(ENGINE, "/works", fields)


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    if response.status != 200:
        raise api_error(response)
    answer = good_answer(ENGINE, response)
    works = listed_items(ENGINE, object_field(answer, "message"), "items")
    # Components are a work's figures and tables, which have their own DOI.
    papers = [work for work in works if work.get("type") != "component"]
    return ResultPage(results=[work_result(work) for work in papers])


def api_error(response: Response) -> SearchError:
    """Return the SearchError for an API error."""
    error = refusal(ENGINE, response)
    if response.status == 429 and error.kind == "blocked":
        return too_fast(ENGINE, response.status, PAUSE_AFTER_LIMIT)
    if response.status == 400:
        return bad_query(ENGINE, response, response.excerpt(), "Use other words.")
    return error


def work_result(work: dict[str, Any]) -> dict[str, Any]:
    """Return a work as a result."""
    facts = [first_text(work.get("container-title")), text_of_html(work.get("abstract"))]
    return source_result(
        first_text(work.get("title")) or first_text(work.get("container-title")),
        work.get("URL") or doi_address(work.get("DOI")),
        facts,
        date=issue_date(object_field(work, "issued").get("date-parts")),
        author=named_authors([author_name(author) for author in list_field(work, "author")]),
    )


def doi_address(doi: Any) -> str:
    """Return the URL of a DOI; "" if it is not a DOI."""
    from urllib.parse import quote

    is_doi = isinstance(doi, str) and doi.startswith("10.")
    return f"https://doi.org/{quote(doi, safe='/:;()._-')}" if is_doi else ""


def first_text(texts: object) -> str:
    """Return a list's first string; the list may be empty or missing."""
    return text_of_html(texts[0]) if isinstance(texts, list) and texts else ""


def author_name(author: dict[str, Any]) -> str:
    """Return a person's given and family name, or an institution's name."""
    names = [text_of_html(author.get(name)) for name in ("given", "family", "name")]
    return " ".join(name for name in names if name)


def issue_date(parts: object) -> str:
    """Return date-parts such as [[2022, 7, 26]] as 2022-07-26; month and day may be missing."""
    first = parts[0] if isinstance(parts, list) and parts else None
    if not isinstance(first, list) or not first or not isinstance(first[0], int):
        return ""
    rest = [number for number in first[1:3] if isinstance(number, int)]
    return "-".join([f"{first[0]:04}", *(f"{number:02}" for number in rest)])
