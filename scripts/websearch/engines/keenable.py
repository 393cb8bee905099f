"""Keenable: a search API that needs no key for 1,000 requests per hour, and takes one for more."""

from __future__ import annotations

from websearch.engines.base.engine import DAYS, Engine
from websearch.engines.base.filters import query_with_sites
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.open_sources import listed_items
from websearch.engines.base.result_pages import within_limit
from websearch.engines.base.search_apis import PROGRAM, api_answer, api_page, days_of, json_post
from websearch.kit import drop_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="keenable",
    title="Keenable",
    module=__name__,
    keys=("KEENABLE_API_KEY",),
    key_site="https://keenable.ai",
    keyless=True,
    address=("KEENABLE_BASE_URL", "https://api.keenable.ai"),
    paid=True,
    usd=0.004,
    sources=("web",),
    auto=True,
    filters={"since": (*DAYS, "range"), "site": None, "exclude_site": None},
    instead={"since": "Use day, week, month, year or a range of dates."},
    max_query=2_000,
    max_count=50,
)


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the POST of a search. Raises SearchError (invalid_input, auth).

    Sites are operators in the query, because the field for sites takes only one.
    """
    first, last = days_of(params["since"]) if "since" in params else ("", "")
    body = {
        "query": within_limit(ENGINE, query_with_sites(params["query"], params)),
        "max_results": params["count"],
        "published_after": first,
        "published_before": last if ".." in params.get("since", "") else "",
    }
    key = ENGINE.key()
    path = "/v1/search" if key else "/v1/search/public"
    # Without a key, the program's name is required.
    headers = {"X-API-Key": key} if key else {"X-Keenable-Title": PROGRAM}
    return json_post(f"{ENGINE.base_url()}{path}", drop_empty(body), **headers)


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    answer = api_answer(ENGINE, response)
    results = [page_result(item) for item in listed_items(ENGINE, answer, "results")]
    return ResultPage(results=results, credits=1)


def page_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of the response as a result; its snippet is a piece of the page."""
    snippet = str(item.get("snippet") or item.get("description") or "")
    return api_page(item.get("title"), item.get("url"), snippet, item.get("published_at"))
