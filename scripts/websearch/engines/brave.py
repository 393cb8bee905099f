"""Brave's entry in the table of engines; brave_search.py sends the requests."""

from __future__ import annotations

from websearch.engines.base.engine import DAYS, PLACES, SAFE, Engine

ENGINE = Engine(
    name="brave",
    title="Brave",
    module="brave_search",
    function="run_web_search",
    news="run_news",
    params={"result_filter": "web"},
    keys=("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"),
    key_site="https://api-dashboard.search.brave.com",
    address=("BRAVE_SEARCH_BASE_URL", "https://api.search.brave.com"),
    paid=True,
    usd=0.005,
    stored="if allowed",
    sources=("web", "news"),
    auto=True,
    filters={"since": (*DAYS, "range"), **PLACES, "safe": SAFE},
    hosts_only=True,
    instead={"since": "Brave filters by days: use day, week, month, year or a range."},
    max_query=600,
    max_count=20,
)
