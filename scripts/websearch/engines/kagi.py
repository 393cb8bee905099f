"""Kagi: a paid search API.

Source of the parameters: https://help.kagi.com/kagi/api/search.html
"""

from __future__ import annotations

from websearch.engines.base.engine import DAYS, SAFE, Engine
from websearch.engines.base.filters import country_code
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.result_pages import api_text, within_limit
from websearch.engines.base.search_apis import (
    api_answer,
    api_page,
    days_of,
    hosts_of,
    json_post,
    no_list,
)
from websearch.kit import SearchError, drop_empty, list_field, object_field, retry_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="kagi",
    title="Kagi",
    module=__name__,
    keys=("KAGI_API_KEY",),
    key_site="https://kagi.com/settings/api",
    address=("KAGI_BASE_URL", "https://kagi.com"),
    paid=True,
    usd=0.012,
    stored="if allowed",
    sources=("web",),
    auto=True,
    hosts_only=True,
    filters={
        "since": (*DAYS, "range"),
        "country": None,
        "site": None,
        "exclude_site": None,
        "safe": SAFE,
    },
    instead={"language": "Set {country}: Kagi filters by region."},
    max_query=2_000,
    max_count=50,
)
LIMIT_HINT = "Check the account's limit, or try again in a minute."


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the POST of a search. Raises SearchError (invalid_input, auth)."""
    first, last = days_of(params["since"]) if "since" in params else ("", "")
    filters = {
        "region": country_code(params.get("country", "")).upper(),
        "after": first,
        "before": last if ".." in params.get("since", "") else "",
    }
    lens = {
        "sites_included": hosts_of(params, "site"),
        "sites_excluded": hosts_of(params, "exclude_site"),
    }
    body = {
        "query": within_limit(ENGINE, params["query"]),
        "limit": params["count"],
        "safe_search": params.get("safe", "moderate") != "off",
        "filters": drop_empty(filters),
        "lens": drop_empty(lens),
    }
    headers = {"Authorization": f"Bearer {ENGINE.key()}"}
    return json_post(f"{ENGINE.base_url()}/api/v1/search", drop_empty(body), **headers)


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response; Kagi omits an empty list of results."""
    if response.status == 429 and retry_after(response) is None:
        message = "Kagi asked for fewer requests, or the account's spending limit is reached."
        raise SearchError("rate_limit", message, LIMIT_HINT, status=429, retryable=True)
    answer = api_answer(ENGINE, response)
    if not isinstance(answer.get("data"), dict):
        raise no_list(ENGINE)
    items = list_field(object_field(answer, "data"), "search")
    return ResultPage(results=[page_result(item) for item in items], credits=1)


def page_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of the response as a result; its texts contain HTML entities."""
    title, snippet = (api_text(item.get(name)) for name in ("title", "snippet"))
    return api_page(title, item.get("url"), snippet, item.get("time"))
