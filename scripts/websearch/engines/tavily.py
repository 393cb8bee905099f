"""Tavily: a search API for agents, with a key, or with a small monthly allowance without one.

Source of the parameters: https://docs.tavily.com/documentation/api-reference/endpoint/search
"""

from __future__ import annotations

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
from websearch.engines.table import engine_address, engine_key
from websearch.kit import drop_empty, json_object, list_field, object_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response, SearchError

NAME = "tavily"
SPENT = (402, 432, 433)  # 432: the plan or key, 433: what is paid as it goes


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the POST of a search. Raises SearchError (invalid_input, auth)."""
    body: dict[str, Any] = {
        "query": within_limit(NAME, params["query"]),
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
    key = engine_key(NAME)
    headers = {"Authorization": f"Bearer {key}"} if key else {"X-Tavily-Access-Mode": "keyless"}
    url = f"{engine_address(NAME)}/search"
    return json_post(url, drop_empty(body), **{"X-Client-Name": PROGRAM, **headers})


def period_fields(since: str) -> dict[str, Any]:
    """Return the fields of a period; without the last one, pages without a date would stay."""
    if ".." not in since:
        return {"time_range": since, "filter_by_published_date": True}
    first, last = days_of(since)
    return {"start_date": first, "end_date": last, "filter_by_published_date": True}


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page that an answer is. Raises SearchError."""
    if notice := keyless_notice(response):
        raise notice
    answer = api_answer(NAME, response, SPENT)
    results = [page_result(item) for item in listed_items(NAME, answer, "results")]
    used = object_field(answer, "usage").get("credits", 1)
    return ResultPage(results=results, credits=used if isinstance(used, int) else 1)


def page_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of the answer as a result; its content is pieces joined by " [...] "."""
    content, text = (str(item.get(name) or "") for name in ("content", "raw_content"))
    return api_page(item.get("title"), item.get("url"), content, item.get("published_date"), text)


def keyless_notice(response: Response) -> SearchError | None:
    """Return the error of the notice that the allowance without a key is spent; None without one.

    The notice stands under "error", or alone in an answer that looks like success.
    """
    answer = json_object(response) or {}
    notice = object_field(answer, "error") or answer
    seconds = notice.get("retry_after_seconds")
    if "next_actions" not in notice and not isinstance(seconds, (int, float)):
        return None
    if list_field(answer, "results"):
        return None
    known = float(seconds) if isinstance(seconds, (int, float)) else None
    return used_up(NAME, response.status, known)
