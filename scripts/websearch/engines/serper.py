"""Google through serper.dev: its entry in the table; serper_search.py sends the requests."""

from __future__ import annotations

from websearch.engines.base.engine import HOURS, PLACES, Engine

ENGINE = Engine(
    name="serper",
    title="Google (Serper)",
    module="serper_search",
    function="run_search",
    news="run_news",
    keys=("SERPER_API_KEY",),
    key_site="https://serper.dev",
    address=("SERPER_BASE_URL", "https://google.serper.dev"),
    paid=True,
    credits={0: 1, 11: 2, 21: 3, 31: 4, 41: 5},  # one credit for each page of 10 results
    sources=("web", "news"),
    auto=True,
    filters={"since": (*HOURS, "range"), **PLACES},
    instead={"safe": "Serper has no filter for adult content; brave has one."},
    max_query=2_048,
    max_count=100,
)
