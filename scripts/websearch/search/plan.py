"""Plan a call: its questions, their engines, and the requests that a dry run shows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from websearch.base.durations import seconds_of_duration
from websearch.base.words import script_language
from websearch.engines.base.engine import FILTERS
from websearch.engines.base.ledger import planned_cost
from websearch.engines.table import (
    ENGINES,
    budgets,
    chosen_engines,
    engine_order,
    focused_filters,
)
from websearch.kit import DryRun, SearchError, drop_empty, quoted
from websearch.search.defaults import SOFT_FILTERS, user_defaults
from websearch.search.engine_calls import planned_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


MIN_QUESTIONS, MAX_QUESTIONS = 2, 8  # of a brief
NEWS = 10  # minimum results per engine, because they are sorted by their moment
RESULTS_OF_A_QUESTION = 10  # in a brief: one result page per engine, which costs one request
# Words for "newest" and "now" in the languages of most queries. A query with one of them and a past
# year asks for the latest from a year that is over.
_NOW_WORDS = (
    r"(?i)\b(latest|newest|current(?:ly)?|today|recent|neueste[nrs]?|aktuell\w*|heute|derni(?:er|ère)s?"
    r"|actuel\w*|aujourd'hui|último\w*|última\w*|actual(?:es)?|hoy|ultim[aoei]|attual[ei]|oggi"
    r"|atual|hoje|laatste|nieuwste|vandaag|najnowsz\w*|aktualn\w*|dzisiaj|последн\w*|сегодня"
    r"|son|güncel|bugün)\b|最新|今日|今天|현재|오늘|最近"
)
STALE_HINT = "Name one {engine} and omit {focus}. Or omit {stale}."


@dataclass(frozen=True, slots=True)
class Question:
    """A call's question and its engines.

    number: from 1. engines: names; "auto" means the first configured engine that answers.
    filters: from the caller. soft_filters: sent only to engines that support them
    (soft_filters_for). max_age: the age in seconds up to which a stored answer or page is used
    (0: never). stale: whether to use a stored answer of any age if no engine answers; None: the
    call does not allow it. verbose: requests are logged to stderr.
    """

    number: int
    text: str
    engines: tuple[str, ...]
    filters: dict[str, Any]
    soft_filters: dict[str, Any]
    focus: str
    count: int
    max_age: float
    stale: bool | None = None
    verbose: bool = False

    def for_engine(self, engine: str) -> dict[str, Any]:
        """Return the parameters for an EngineCall."""
        asked = {"query": self.text, "count": self.count, "verbose": self.verbose}
        asked |= {"focus": self.focus} if self.is_news(engine) else {}
        return {**asked, **self.filters_for(engine)}

    def is_news(self, engine: str) -> bool:
        """Return whether an engine is queried for news, not for pages."""
        return self.focus == "news" and bool(ENGINES[engine].news)

    def filters_for(self, engine: str) -> dict[str, Any]:
        """Return the filters for an engine, from the caller, the user's defaults and the focus."""
        can = ENGINES[engine].present_filters()
        soft_filters = {name: value for name, value in self.soft_filters.items() if name in can}
        return {**soft_filters, **self.filters, **focused_filters(engine, self.focus, self.filters)}


def plan(params: dict[str, Any], is_brief: bool) -> list[Question]:
    """Return the questions of a search (query) or a brief (queries). Raises SearchError."""
    budgets()  # a malformed budget is an error before any request
    queries = distinct_queries(params["queries"]) if is_brief else [params["query"]]
    engines = tuple(chosen_engines(params["engine"], params["focus"]))
    if len(engines) > 1 and params.get("stale"):
        message = f"stale works with a single engine or auto, not {quoted(', '.join(engines))}."
        raise SearchError("invalid_input", message, STALE_HINT)
    max_age = seconds_of_duration("ttl", params["ttl"], "30m, 24h or 7d")
    is_news = params["focus"] == "news"
    can_be_stale = not is_brief and len(engines) == 1
    return [
        Question(
            number,
            query,
            engines,
            {name: params[name] for name in FILTERS if name in params},
            soft_filters_for(query, params),
            params["focus"],
            RESULTS_OF_A_QUESTION if is_brief else max(params["count"], NEWS if is_news else 0),
            0.0 if params["force"] else max_age,
            bool(params.get("stale")) if can_be_stale else None,
            bool(params.get("verbose")),
        )
        for number, query in enumerate(queries, 1)
    ]


def soft_filters_for(query: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the user's default filters for a question; without any, the language of its script.

    If the caller passes a soft filter, the script is ignored.
    """
    soft_filters = {name: value for name, value in user_defaults().items() if name in SOFT_FILTERS}
    if soft_filters or any(name in params for name in SOFT_FILTERS):
        return soft_filters
    return drop_empty({"language": script_language(query)})


def folded_query(query: str) -> str:
    """Return a query for comparison: trimmed, and in lower case except for operators."""
    return re.sub(r"(?!(?:AND|OR|NOT)\b)\w+", lambda word: word[0].lower(), query.strip())


def distinct_queries(queries: list[str]) -> list[str]:
    """Return each question once. Raises SearchError (invalid_input) for too few or too many."""
    if not MIN_QUESTIONS <= len(queries) <= MAX_QUESTIONS:
        limits = f"{MIN_QUESTIONS} to {MAX_QUESTIONS}"
        message = f"A brief takes {limits} questions in queries, not {len(queries)}."
        few = "For a single question, use a search with query."
        many = "Ask the others in a second brief."
        hint = few if len(queries) < MIN_QUESTIONS else many
        raise SearchError("invalid_input", message, hint)
    distinct: dict[str, str] = {}
    for query in queries:
        distinct.setdefault(folded_query(query), query.strip())
    return list(distinct.values())


def year_warning(query: str, today: str) -> str:
    """Return a warning if a query asks for the latest from a past year, else "".

    Models search for the "latest" from the year in which their training ended.
    """
    years = [int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", query)]
    this_year = int(today[:4])
    if not years or max(years) >= this_year or not re.search(_NOW_WORDS, query):
        return ""
    return f"The query asks for the latest from {max(years)}, but it is {this_year} now."


# ===== the dry run ================================================================================


def dry_run(questions: list[Question], is_brief: bool) -> DryRun:
    """Return a dry run: the first request to each engine, and the costs.

    A search with one engine shows only its request. Raises SearchError if no request is possible.
    """
    pairs = [(question, engine) for question in questions for engine in question.engines]
    planned = [first_usable_engine(question, engine) for question, engine in pairs]
    requests: list[dict[str, Any]] = []
    billed: dict[str, int] = {}
    cost: dict[str, dict[str, float]] = {}
    attempts = [attempt for _, _, refused in planned for attempt in refused]
    for (question, name), (engine, request, _) in zip(pairs, planned, strict=True):
        asked = {"query": question.text, "engine": engine or name}
        if isinstance(request, SearchError):
            requests.append({**asked, "error": request.message})
            continue
        requests.append({**asked, **request})
        if ENGINES[engine].costs_money():
            needed = ENGINES[engine].requests_for(question.count)
            billed[engine] = billed.get(engine, 0) + needed
            cost[engine] = planned_cost(engine, billed[engine], question.count)
    failures = [request for _, request, _ in planned if isinstance(request, SearchError)]
    if len(failures) == len(planned):
        raise failures[0]
    facts = drop_empty({"billed": billed, "cost": cost, "attempts": attempts})
    if len(planned) == 1 and not is_brief:
        engine, request, _ = planned[0]
        return DryRun(request, {"engine": engine, **facts})
    return DryRun({"requests": requests, **facts})


def first_usable_engine(
    question: Question, name: str
) -> tuple[str, dict[str, Any] | SearchError, list[dict[str, Any]]]:
    """Return a name's first engine that supports the question, its request and skipped engines.

    If no engine supports it, return "", the first engine's error and [].
    """
    refusals: dict[str, SearchError] = {}
    for engine in engine_order(name):
        request = planned_request(engine, question.for_engine(engine))
        if not isinstance(request, SearchError):
            passed_over = [
                {"engine": refused, "kind": error.kind, "error": error.message}
                for refused, error in refusals.items()
            ]
            return engine, request, passed_over
        refusals[engine] = request
    return "", next(iter(refusals.values())), []
