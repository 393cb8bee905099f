"""Plan a call: its questions, their engines and the requests that a dry run shows."""

from __future__ import annotations

import contextlib
import re
from typing import NamedTuple

from websearch.base.words import script_language
from websearch.engines.base.engine import FILTER_PARAMS, FILTERS
from websearch.engines.base.filters import (
    country_code,
    language_code,
    query_with_sites,
    site_filter,
)
from websearch.engines.table import ENGINES, budgets, chosen_engines, focused_filters
from websearch.kit import SearchError, check_value, drop_empty, quoted
from websearch.search.defaults import SOFT_FILTERS, checked_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


MIN_QUESTIONS, MAX_QUESTIONS = 2, 8  # questions in a brief
NEWS = 10  # minimum news results per engine, because results are sorted by their moment
RESULTS_OF_A_QUESTION = 10  # in a brief: one result page per engine, which costs one request
# Words for "newest" and "now" in the languages of most queries. A query with such a word and a past
# year asks for the latest from a year that is over.
_NOW_WORDS = (
    r"(?i)\b(latest|newest|current(?:ly)?|today|recent|neueste[nrs]?|aktuell\w*|heute|derni(?:er|ère)s?"
    r"|actuel\w*|aujourd'hui|último\w*|última\w*|actual(?:es)?|hoy|ultim[aoei]|attual[ei]|oggi"
    r"|atual|hoje|laatste|nieuwste|vandaag|najnowsz\w*|aktualn\w*|dzisiaj|последн\w*|сегодня"
    r"|son|güncel|bugün)\b|最新|今日|今天|현재|오늘|最近"
)
# Operators that become filters, and other operators; models write both into queries.
_FILTERING = r"(?i)(?<![^\s(])(?P<name>-?site|after|before):(?P<value>[^\s()]+)"
_OPERATOR = r"(?i)(?<!\S)(?:filetype|ext|intitle|allintitle|inurl|allinurl|intext):(?=\S)"
# Characters around operators; repetition is limited, because the time would grow quadratically.
_LEFT_OVER = r"\(\s?(?:OR\s){0,9}(?:OR)?\s?\)|^\s?(?:OR\s)+|(?<!\S)OR(?:\sOR){0,9}\s?$"
SITES = ("site", "exclude_site")
CODES = {"country": country_code, "language": language_code}  # checks for codes
STALE_HINT = "Name one {engine} and omit {focus}. Or omit {stale}."


class Question(NamedTuple):
    """A call's question and its engines.

    number: from 1. text: as the caller wrote it. words: without the operators that became filters.
    engines: names; "auto" means the first configured engine that answers. filters: from the caller.
    soft_filters: sent only to engines that support them (soft_filters_for). wanted: the number of
    results. stale: whether to use a stored answer of any age if no engine answers; None: the call
    does not allow this.
    """

    number: int
    text: str
    words: str
    engines: tuple[str, ...]
    filters: dict[str, Any]
    soft_filters: dict[str, Any]
    focus: str
    wanted: int
    stale: bool | None = None

    def for_engine(self, engine: str) -> dict[str, Any]:
        """Return the parameters for an EngineCall."""
        filters, words = self.filters_for(engine), self.words
        if compares_dates(engine, filters.get("since", "")):
            del filters["since"]
        if not words:  # the text has only operators
            words = query_with_sites("", filters).strip()
            filters = {name: filters[name] for name in filters if name not in SITES}
        if not ENGINES[engine].operators:
            words = plain_words(words)
            if not self.words:
                title = ENGINES[engine].title
                message = f"{title} needs words; {quoted(self.text)} has only operators."
                raise SearchError("invalid_input", message, "Add a word to the query.")
        focus = {"focus": self.focus} if self.is_news(engine) else {}
        return {"query": words, "count": self.wanted, **focus, **filters}

    def is_news(self, engine: str) -> bool:
        """Return whether an engine is queried for news, not for pages."""
        return self.focus == "news" and bool(ENGINES[engine].news)

    def filters_for(self, engine: str) -> dict[str, Any]:
        """Return the filters for an engine, from the caller, the user's defaults and the focus."""
        soft_filters = {
            name: value
            for name, value in self.soft_filters.items()
            if ENGINES[engine].can_filter(name, value)
        }
        return {**soft_filters, **self.filters, **focused_filters(engine, self.focus, self.filters)}


def compares_dates(engine: str, since: str) -> bool:
    """Return whether an engine filters by periods, but not by this range of dates.

    Results are then omitted by their own dates and by the dates of their pages.
    """
    has_periods = bool(ENGINES[engine].filters.get("since"))
    return ".." in since and has_periods and not ENGINES[engine].can_filter("since", since)


def plan(params: dict[str, Any]) -> list[Question]:
    """Return the questions of a search (query) or a brief (queries). Raises SearchError."""
    budgets()  # check the budget first: a malformed budget is an error before any request
    is_brief = "queries" in params
    queries = distinct_queries(params["queries"]) if is_brief else [params["query"]]
    engines = tuple(chosen_engines(params["engine"], params["focus"]))
    if len(engines) > 1 and params.get("stale"):
        message = f"stale works with a single engine or auto, not {quoted(', '.join(engines))}."
        raise SearchError("invalid_input", message, STALE_HINT)
    for name, check in CODES.items():
        check(params.get(name, ""))
    count = max(params["count"], NEWS if params["focus"] == "news" else 0)
    can_be_stale = not is_brief and len(engines) == 1
    questions = []
    for number, query in enumerate(queries, 1):
        words, operators = read_operators(query)
        since = {"since": operators.pop("since")} if "since" in operators else {}
        filters = {name: params[name] for name in FILTERS if name in params}
        sites = {name: [*filters.get(name, []), *value] for name, value in operators.items()}
        question = Question(
            number,
            query,
            words,
            engines,
            filters | {name: list(dict.fromkeys(value)) for name, value in sites.items()},
            {**since, **soft_filters_for(words, params)},
            params["focus"],
            RESULTS_OF_A_QUESTION if is_brief else count,
            bool(params.get("stale")) if can_be_stale else None,
        )
        questions.append(question)
    return questions


def soft_filters_for(query: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the user's default filters for a question or, without any, its script's language.

    If the caller passes a soft filter, the script does not count.
    """
    soft_filters = checked_defaults(SOFT_FILTERS, FILTER_PARAMS)
    if soft_filters or any(name in params for name in SOFT_FILTERS):
        return soft_filters
    return drop_empty({"language": script_language(query)})


def read_operators(query: str) -> tuple[str, dict[str, Any]]:
    """Return a query without the operators that are filters, and these filters.

    site:, -site: and after: (before:) become site, exclude_site and since; an operator without a
    valid value stays a word.
    """
    found: dict[str, Any] = {}
    days: dict[str, str] = {}

    def take(operator: re.Match[str]) -> str:
        name, value = operator["name"].lower(), operator["value"].strip("\"'()").rstrip(".,;")
        is_day = re.fullmatch(r"\d{4}(-\d\d(-\d\d)?)?", value)
        try:
            if name.endswith("site"):
                site = site_filter("site", value)
                found.setdefault("exclude_site" if name == "-site" else "site", []).append(site)
            elif is_day:
                days[name] = value + "-01-01"[len(value) - 4 :]
            else:
                return operator[0]
        except SearchError:
            return operator[0]
        return " "

    words = re.sub(_FILTERING, take, query)
    if found or days:
        words = " ".join(re.sub(_LEFT_OVER, " ", " ".join(words.split())).split())
    if days:
        with contextlib.suppress(SearchError):
            since = f"{days.get('after', '')}..{days.get('before', '')}"
            found["since"] = check_value(FILTER_PARAMS[0], since)
    return words, found


def plain_words(words: str) -> str:
    """Return words for an engine that does not know operators: filetype:pdf becomes pdf."""
    return " ".join(re.sub(_OPERATOR, "", words).split())


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
