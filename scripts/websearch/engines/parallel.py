"""Parallel: a search API with a key, and its MCP server for callers without a key.

Source of the parameters: https://docs.parallel.ai/api-reference/search
"""

from __future__ import annotations

from websearch.engines.base.engine import DAYS, Engine
from websearch.engines.base.filters import country_code
from websearch.engines.base.mcp_door import tool_request, tool_result
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.open_sources import listed_items
from websearch.engines.base.result_pages import within_limit
from websearch.engines.base.search_apis import api_answer, api_page, days_of, hosts_of, json_post
from websearch.kit import drop_empty, list_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="parallel",
    title="Parallel",
    module=__name__,
    keys=("PARALLEL_API_KEY",),
    key_site="https://platform.parallel.ai",
    keyless=True,
    address=("PARALLEL_BASE_URL", "https://api.parallel.ai"),
    mcp=("PARALLEL_MCP_BASE_URL", "https://search.parallel.ai"),
    paid=True,
    usd=0.001,
    stored="if allowed",
    sources=("web",),
    auto=True,
    hosts_only=True,
    filters={"since": DAYS, "country": None, "site": None, "exclude_site": None},
    keyless_filters={},
    instead={"since": "Parallel filters by first day only: use day, week, month or year."},
    operators=False,
    max_query=2_000,
    max_count=20,
)


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the POST of a search or, without a key, a call of the MCP server's tool.

    Raises SearchError (invalid_input, auth).
    """
    key, query = ENGINE.key(), within_limit(ENGINE, params["query"])
    if not key:
        arguments = {"objective": query, "search_queries": [query]}
        return tool_request(f"{ENGINE.mcp_url()}/mcp", "web_search", arguments)
    policy = {
        "include_domains": hosts_of(params, "site"),
        "exclude_domains": hosts_of(params, "exclude_site"),
        "after_date": days_of(params["since"])[0] if "since" in params else "",
    }
    settings = {
        "max_results": params["count"],
        "location": country_code(params.get("country", "")),
        "source_policy": drop_empty(policy),
    }
    body = {
        "objective": query,
        "search_queries": [query],
        "mode": "fast",  # the default, advanced, costs five times as much
        "advanced_settings": drop_empty(settings),
    }
    return json_post(f"{ENGINE.base_url()}/v1/search", body, **{"x-api-key": key})


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    if request.url.endswith("/mcp"):
        answer = tool_result(ENGINE, response)[0]
        return ResultPage(results=read_items(answer))
    return ResultPage(results=read_items(api_answer(ENGINE, response)), credits=1)


def read_items(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results in a response; excerpts are pieces of the page's Markdown."""
    results = []
    for item in listed_items(ENGINE, answer, "results"):
        excerpts = list_field(item, "excerpts", str)
        snippet, text = " … ".join(excerpts), "\n\n[…]\n\n".join(excerpts)
        results.append(
            api_page(item.get("title"), item.get("url"), snippet, item.get("publish_date"), text)
        )
    return results
