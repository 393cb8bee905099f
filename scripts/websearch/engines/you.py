"""You.com: a search API that needs no key for 100 requests per day, and takes one for more.

Source of the parameters: https://docs.you.com/api-reference/search
"""

from __future__ import annotations

from websearch.base.http_client import identified_agent
from websearch.engines.base.engine import DAYS, PLACES, SAFE, Engine
from websearch.engines.base.filters import country_code, language_code, query_with_sites
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.result_pages import get_request, within_limit
from websearch.engines.base.search_apis import api_answer, api_page, days_of, no_list, used_up
from websearch.kit import SearchError, drop_empty, list_field, object_field, quoted, retry_after

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="you",
    title="You.com",
    module=__name__,
    keys=("YDC_API_KEY",),
    key_site="https://you.com/platform",
    keyless=True,
    address=("YOU_BASE_URL", "https://api.you.com"),
    paid=True,
    usd=0.005,
    sources=("web",),
    auto=True,
    filters={"since": (*DAYS, "range"), **PLACES, "safe": SAFE},
    instead={"since": "Use day, week, month, year or a range of dates."},
    max_query=2_000,
    max_count=50,
)
COUNTRIES = (
    "ar at au be br ca ch cl cn de dk es fi fr gb hk id in it jp kr mx my nl no nz ph pl pt ru sa "
    "se tr tw us za"
).split()
LANGUAGES = {"ja": "JP", "zh": "ZH-HANS", "zh-cn": "ZH-HANS", "zh-tw": "ZH-HANT"}  # the API's


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET of a search. Raises SearchError (invalid_input, auth).

    A key is never sent to the address for callers without a key, which would refuse it.
    """
    country = country_code(params.get("country", ""))
    if country and country not in COUNTRIES:
        message = f"You.com has no country {quoted(country)}."
        raise SearchError("invalid_input", message, f"It has {', '.join(COUNTRIES)}.")
    language = language_code(params.get("language", ""))
    fields = {
        "query": within_limit(ENGINE, query_with_sites(params["query"], params)),
        "count": str(params["count"]),
        "freshness": freshness(params.get("since", "")),
        "country": country.upper(),
        "language": LANGUAGES.get(language, language.upper()),
        "safesearch": params.get("safe"),
    }
    key = ENGINE.key()
    path = "/v1/search" if key else "/v1/agents/search"
    headers = drop_empty(
        {"Accept": "application/json", "User-Agent": identified_agent(), "X-API-Key": key}
    )
    return get_request(f"{ENGINE.base_url()}{path}", drop_empty(fields), headers, max_body=0)


def freshness(since: str) -> str:
    """Return a period in the API's form: day to year, or "DAYtoDAY"."""
    return "to".join(days_of(since)) if ".." in since else since


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response; a section without results is missing or null."""
    if response.status == 429 and not ENGINE.key() and retry_after(response) is None:
        raise used_up(ENGINE, response.status)  # requests per day; the renewal is not stated
    answer = api_answer(ENGINE, response)
    if not isinstance(answer.get("results"), dict):
        raise no_list(ENGINE)
    items = list_field(object_field(answer, "results"), "web")
    return ResultPage(results=[page_result(item) for item in items], credits=1)


def page_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of the response as a result."""
    pieces = [piece for piece in list_field(item, "snippets", str) if piece]
    snippet = " … ".join(pieces) or str(item.get("description") or "")
    return api_page(item.get("title"), item.get("url"), snippet, item.get("page_age"))
