"""Exa: a search API with a key, and its MCP server for callers without a key.

Source of the parameters: https://docs.exa.ai/reference/search
"""

from __future__ import annotations

import re
import time

from websearch.engines.base.days import period
from websearch.engines.base.engine import HOURS, SAFE, Engine
from websearch.engines.base.filters import country_code
from websearch.engines.base.mcp_door import tool_request, tool_result
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.open_sources import listed_items, utc_time
from websearch.engines.base.result_pages import within_limit
from websearch.engines.base.search_apis import (
    PROGRAM,
    api_answer,
    api_page,
    hosts_of,
    json_post,
    no_list,
    used_up,
)
from websearch.kit import drop_empty, list_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="exa",
    title="Exa",
    module=__name__,
    keys=("EXA_API_KEY",),
    key_site="https://dashboard.exa.ai",
    keyless=True,
    address=("EXA_BASE_URL", "https://api.exa.ai"),
    mcp=("EXA_MCP_BASE_URL", "https://mcp.exa.ai"),
    paid=True,
    usd=0.007,
    stored="if allowed",
    sources=("web",),
    auto=True,
    hosts_only=True,
    filters={
        "since": (*HOURS, "range"),
        "country": None,
        "site": None,
        "exclude_site": None,
        "safe": SAFE,
    },
    keyless_filters={},
    instead={"language": "Write the query in the pages' language."},
    operators=False,
    max_query=2_000,
    max_count=50,
)
MOMENT = "%Y-%m-%dT%H:%M:%S.000Z"
TEXT_CHARS = 10_000  # per page: the maximum that a search's price includes
NOTHING_FOUND = "No search results found"  # the MCP server's message
# Highlights contain Markdown from pages, including rules; only its fields start a block.
BLOCK_BORDER = re.compile(r"\n---\n{1,9}(?=Title: [^\n]{0,2000}\nURL: )")
BLOCK = re.compile(
    r"Title: (?P<title>[^\n]*)\nURL: (?P<url>\S+)\n(?:Published: (?P<date>[^\n]*)\n)?"
    r"(?:Author: [^\n]*\n)?(?:Highlights|Text):[ \n]*(?P<text>.*)",
    re.DOTALL,
)


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the POST of a search or, without a key, a call of the MCP server's tool.

    Raises SearchError (invalid_input, auth).
    """
    key, query = ENGINE.key(), within_limit(ENGINE, params["query"])
    if not key:
        arguments = {"query": query, "numResults": params["count"]}
        url = f"{ENGINE.mcp_url()}/mcp"
        return tool_request(url, "web_search_exa", arguments, **{"x-exa-source": PROGRAM})
    body: dict[str, Any] = {
        "query": query,
        "numResults": params["count"],
        "includeDomains": hosts_of(params, "site"),
        "excludeDomains": hosts_of(params, "exclude_site"),
        "userLocation": country_code(params.get("country", "")).upper(),
        "contents": {"highlights": True, "text": {"maxCharacters": TEXT_CHARS}},
    }
    if "since" in params:
        first, last = period(params["since"], time.time())
        body["startPublishedDate"] = utc_time(first, MOMENT)
        body["endPublishedDate"] = utc_time(last, MOMENT)
    if "safe" in params:
        body["moderation"] = params["safe"] != "off"
    url = f"{ENGINE.base_url()}/search"
    return json_post(url, drop_empty(body), **{"x-api-key": key})


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    if request.url.endswith("/mcp"):
        return ResultPage(results=read_blocks(tool_result(ENGINE, response)[1]))
    answer = api_answer(ENGINE, response)
    results = [page_result(item) for item in listed_items(ENGINE, answer, "results")]
    return ResultPage(results=results, credits=1)


def page_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of the API's response as a result."""
    highlights = " … ".join(list_field(item, "highlights", str))
    text = str(item.get("text") or "")
    return api_page(
        item.get("title"), item.get("url"), highlights or text, item.get("publishedDate"), text
    )


def read_blocks(text: str) -> list[dict[str, Any]]:
    """Return the results in the MCP server's text.

    Any text except results and the "no results" message means that the allowance is used up; the
    server sends this as an ordinary result (2026-09-24). Raises SearchError.
    """
    if text.startswith(NOTHING_FOUND):
        return []
    blocks = [BLOCK.match(block) for block in BLOCK_BORDER.split(text.strip())]
    results = [
        api_page(
            block["title"], block["url"], block["text"].replace("\n...\n", " … "), block["date"]
        )
        for block in blocks
        if block
    ]
    if results:
        return results
    raise used_up(ENGINE, 200) if re.search(r"\brate limit\b", text[:200]) else no_list(ENGINE)
