"""Tavily: a search API for agents, with a key or, for a small monthly allowance, without one.

Source of the parameters: https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

from __future__ import annotations

from websearch.engines.base.engine import DAYS, SAFE, Engine
from websearch.engines.base.filters import language_code
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.open_sources import listed_items
from websearch.engines.base.result_pages import within_limit
from websearch.engines.base.search_apis import (
    PROGRAM,
    api_answer,
    api_page,
    days_of,
    hosts_of,
    json_post,
    used_up,
)
from websearch.kit import drop_empty, json_object, list_field, object_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response, SearchError

ENGINE = Engine(
    name="tavily",
    title="Tavily",
    module=__name__,
    keys=("TAVILY_API_KEY",),
    key_site="https://app.tavily.com",
    keyless=True,
    address=("TAVILY_BASE_URL", "https://api.tavily.com"),
    paid=True,
    usd=0.008,
    credits={0: 1},
    sources=("web",),
    auto=True,
    hosts_only=True,
    filters={
        "since": (*DAYS, "range"),
        "language": None,
        "site": None,
        "exclude_site": None,
        "safe": SAFE,
    },
    instead={
        "since": "Use day, week, month, year or a range of dates.",
        "country": "Add the country to the query: for Tavily the filter is only a preference.",
    },
    operators=False,
    max_query=400,
    max_count=20,
)
SPENT = (402, 432, 433)  # 432: the plan or key, 433: what is paid as it goes


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the POST of a search. Raises SearchError (invalid_input, auth)."""
    body: dict[str, Any] = {
        "query": within_limit(ENGINE, params["query"]),
        "max_results": params["count"],
        "include_published_date": True,
        "include_raw_content": "markdown",
        "include_domains": hosts_of(params, "site"),
        "exclude_domains": hosts_of(params, "exclude_site"),
        "language": language_code(params.get("language", "")),
    }
    if body["language"]:
        body["filter_by_language"] = True
    if "safe" in params:
        body["safe_search"] = params["safe"] != "off"
    if "since" in params:
        body |= period_fields(params["since"])
    key = ENGINE.key()
    headers = {"Authorization": f"Bearer {key}"} if key else {"X-Tavily-Access-Mode": "keyless"}
    url = f"{ENGINE.base_url()}/search"
    return json_post(url, drop_empty(body), **{"X-Client-Name": PROGRAM, **headers})


def period_fields(since: str) -> dict[str, Any]:
    """Return the fields for a period; without the end date, undated pages would stay."""
    if ".." not in since:
        return {"time_range": since, "filter_by_published_date": True}
    first, last = days_of(since)
    return {"start_date": first, "end_date": last, "filter_by_published_date": True}


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    if notice := keyless_notice(response):
        raise notice
    answer = api_answer(ENGINE, response, SPENT)
    results = [page_result(item) for item in listed_items(ENGINE, answer, "results")]
    used = object_field(answer, "usage").get("credits", 1)
    return ResultPage(results=results, credits=used if isinstance(used, int) else 1)


def page_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of the response as a result; its content has pieces joined by " [...] "."""
    content, text = (str(item.get(name) or "") for name in ("content", "raw_content"))
    return api_page(item.get("title"), item.get("url"), content, item.get("published_date"), text)


def keyless_notice(response: Response) -> SearchError | None:
    """Return the error if the allowance without a key is used up; else None.

    The notice is under "error", or it is the only content of a response that looks successful.
    """
    answer = json_object(response) or {}
    notice = object_field(answer, "error") or answer
    seconds = notice.get("retry_after_seconds")
    if "next_actions" not in notice and not isinstance(seconds, (int, float)):
        return None
    if list_field(answer, "results"):
        return None
    known = float(seconds) if isinstance(seconds, (int, float)) else None
    return used_up(ENGINE, response.status, known)
