"""The search APIs for agents, one row each: base/search_apis.py explains the placeholders.

Sources of the parameters: docs.tavily.com/documentation/api-reference/endpoint/search,
docs.exa.ai/reference/search, docs.you.com/api-reference/search,
docs.parallel.ai/api-reference/search, help.kagi.com/kagi/api/search.html.
"""

from __future__ import annotations

from websearch.engines.base.engine import Engine, SearchApi
from websearch.engines.base.search_apis import filters_of

BEARER = {"Authorization": "Bearer {key}"}
EXA_TEXT_CHARS = 10_000  # per page: the maximum that a search's price includes
USE_DAYS = "Use day, week, month, year or a range of dates."
YOU_COUNTRIES = (
    "ar at au be br ca ch cl cn de dk es fi fr gb uk hk id in it jp kr mx my nl no nz ph pl pt ru "
    "sa se tr tw us za"
)

TAVILY = SearchApi(
    path="/search",
    headers={"X-Client-Name": "{program}", **BEARER},
    keyless_headers={"X-Client-Name": "{program}", "X-Tavily-Access-Mode": "keyless"},
    send={
        "query": "{query}",
        "max_results": "{count}",
        "include_published_date": True,
        "include_raw_content": "markdown",
        "include_domains": "{site}",
        "exclude_domains": "{exclude_site}",
        "language": "{language}",
        "filter_by_language": "{has_language}",
        "safe_search": "{is_safe}",
        "time_range": "{since}",
        "start_date": "{range_start}",
        "end_date": "{last_day}",
        "filter_by_published_date": "{has_since}",  # otherwise, undated pages stay
    },
    results="results",
    snippet=("content",),
    date="published_date",
    text="raw_content",
    used_up=(402, 432, 433),  # 432: limit of the plan or key, 433: pay-as-you-go limit
)
EXA = SearchApi(
    path="/search",
    headers={"x-api-key": "{key}"},
    send={
        "query": "{query}",
        "numResults": "{count}",
        "includeDomains": "{site}",
        "excludeDomains": "{exclude_site}",
        "userLocation": "{COUNTRY}",
        "contents": {"highlights": True, "text": {"maxCharacters": EXA_TEXT_CHARS}},
        "startPublishedDate": "{first_moment}",
        "endPublishedDate": "{last_moment}",
        "moderation": "{is_safe}",
    },
    results="results",
    snippet=("highlights", "text"),
    date="publishedDate",
    text="text",
)
YOU = SearchApi(
    method="GET",
    path="/v1/search",
    keyless_path="/v1/agents/search",  # this path refuses a key
    headers={"X-API-Key": "{key}"},
    send={
        "query": "{query}",
        "count": "{count}",
        "freshness": "{freshness}",
        "country": "{COUNTRY}",
        "language": "{LANGUAGE}",
        "safesearch": "{safe}",
    },
    countries=tuple(YOU_COUNTRIES.split()),
    codes={"ja": "JP", "zh": "ZH-HANS", "zh-cn": "ZH-HANS", "zh-tw": "ZH-HANT"},
    results="results.web",
    snippet=("snippets", "description"),
    date="page_age",
    keyless_used_up=(429,),  # a daily limit; responses do not say when it renews
)
PARALLEL = SearchApi(
    path="/v1/search",
    headers={"x-api-key": "{key}"},
    send={
        "objective": "{query}",
        "search_queries": ["{query}"],
        "mode": "fast",  # the default, advanced, costs five times as much
        "advanced_settings": {
            "max_results": "{count}",
            "location": "{country}",
            "source_policy": {
                "include_domains": "{site}",
                "exclude_domains": "{exclude_site}",
                "after_date": "{first_day}",
            },
        },
    },
    results="results",
    snippet=("excerpts",),
    date="publish_date",
    text="excerpts",
)
KEENABLE = SearchApi(
    path="/v1/search",
    keyless_path="/v1/search/public",
    headers={"X-API-Key": "{key}"},
    keyless_headers={"X-Keenable-Title": "{program}"},  # required without a key
    # Sites are operators in the query, because the field for sites takes only one.
    send={
        "query": "{query}",
        "max_results": "{count}",
        "published_after": "{first_day}",
        "published_before": "{last_day}",
    },
    results="results",
    snippet=("snippet", "description"),
    date="published_at",
)
KAGI = SearchApi(
    path="/api/v1/search",
    headers=BEARER,
    send={
        "query": "{query}",
        "limit": "{count}",
        "safe_search": "{is_safe}",
        "filters": {"region": "{COUNTRY}", "after": "{first_day}", "before": "{last_day}"},
        "lens": {"sites_included": "{site}", "sites_excluded": "{exclude_site}"},
    },
    results="data.search",
    snippet=("snippet",),
    date="time",
    has_entities=True,
)

ENGINES = (
    Engine(
        name="tavily",
        title="Tavily",
        api=TAVILY,
        keys=("TAVILY_API_KEY",),
        key_site="https://app.tavily.com",
        keyless=True,
        address=("TAVILY_BASE_URL", "https://api.tavily.com"),
        paid=True,
        usd=0.008,
        credits={0: 1},
        sources=("web",),
        auto=True,
        filters=filters_of(TAVILY),
        instead={
            "since": USE_DAYS,
            "country": "Add the country to the query: for Tavily the filter is only a preference.",
        },
        operators=False,
        max_query=400,
        max_count=20,
    ),
    Engine(
        name="exa",
        title="Exa",
        api=EXA,
        keys=("EXA_API_KEY",),
        key_site="https://dashboard.exa.ai",
        address=("EXA_BASE_URL", "https://api.exa.ai"),
        paid=True,
        usd=0.007,
        stored="if allowed",
        sources=("web",),
        auto=True,
        filters=filters_of(EXA),
        instead={"language": "Write the query in the pages' language."},
        operators=False,
        max_query=2_000,
        max_count=50,
    ),
    Engine(
        name="you",
        title="You.com",
        api=YOU,
        keys=("YDC_API_KEY",),
        key_site="https://you.com/platform",
        keyless=True,
        address=("YOU_BASE_URL", "https://api.you.com"),
        paid=True,
        usd=0.005,
        sources=("web",),
        auto=True,
        filters=filters_of(YOU),
        instead={"since": USE_DAYS, "country": f"Available countries: {', '.join(YOU.countries)}."},
        max_query=2_000,
        max_count=50,
    ),
    Engine(
        name="parallel",
        title="Parallel",
        api=PARALLEL,
        keys=("PARALLEL_API_KEY",),
        key_site="https://platform.parallel.ai",
        address=("PARALLEL_BASE_URL", "https://api.parallel.ai"),
        paid=True,
        usd=0.001,
        stored="if allowed",
        sources=("web",),
        auto=True,
        filters=filters_of(PARALLEL),
        instead={"since": "Parallel filters by first day only: use day, week, month or year."},
        operators=False,
        max_query=2_000,
        max_count=20,
    ),
    Engine(
        name="keenable",
        title="Keenable",
        api=KEENABLE,
        keys=("KEENABLE_API_KEY",),
        key_site="https://keenable.ai",
        keyless=True,
        address=("KEENABLE_BASE_URL", "https://api.keenable.ai"),
        paid=True,
        usd=0.004,
        sources=("web",),
        auto=True,
        filters=filters_of(KEENABLE),
        instead={"since": USE_DAYS},
        max_query=2_000,
        max_count=50,
    ),
    Engine(
        name="kagi",
        title="Kagi",
        api=KAGI,
        keys=("KAGI_API_KEY",),
        key_site="https://kagi.com/settings/api",
        address=("KAGI_BASE_URL", "https://kagi.com"),
        paid=True,
        usd=0.012,
        stored="if allowed",
        sources=("web",),
        auto=True,
        filters=filters_of(KAGI),
        instead={"language": "Set {country}: Kagi filters by region."},
        max_query=2_000,
        max_count=50,
    ),
)
