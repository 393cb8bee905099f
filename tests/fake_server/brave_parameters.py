"""Parameters of the Brave Search API: what it assumes if one is not sent, and texts as values.

Bounds and choices stand in the product's own table and in its tests; here is what the answers of
this double depend on.
"""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .brave_errors import RefusedError, invalid_parameters, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .messages import RecordedRequest

FRESHNESS_DAYS = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
REQUIRED = object()  # instead of a default


@dataclass(frozen=True)
class Period:
    """From the first to the last day, both included."""

    first: dt.date
    last: dt.date

    def contains(self, day: dt.date) -> bool:
        return self.first <= day <= self.last


def boolean(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text.lower()]


def freshness(text: str) -> Period:
    """pd, pw, pm, py or YYYY-MM-DDtoYYYY-MM-DD."""
    today = dt.datetime.now(dt.timezone.utc).date()
    if text in FRESHNESS_DAYS:
        return Period(today - dt.timedelta(days=FRESHNESS_DAYS[text]), today)
    first, _, last = text.partition("to")
    return Period(dt.date.fromisoformat(first), dt.date.fromisoformat(last))


# How texts become values where the default does not tell.
PARSERS: dict[str, Callable[[str], Any]] = {
    "freshness": freshness,
    "result_filter": lambda text: frozenset(name.strip() for name in text.split(",")),
    "enable_local": boolean,
    **dict.fromkeys(("latitude", "longitude", "radius", "x-loc-lat", "x-loc-long"), float),
}
LISTS = ("goggles", "ids")  # sent several times
LONGEST = {"q": 600, "x-loc-state": 3}  # characters: what the scripts do not check themselves
Table = dict[str, Any]  # name -> default; REQUIRED if there is none

_SHARED: Table = {"country": "US", "search_lang": "en", "spellcheck": True}
_PAGED: Table = {
    **_SHARED, "q": REQUIRED, "ui_lang": "en-US", "offset": 0, "freshness": None, "operators": True,
    "include_fetch_metadata": False, "count": 20,
}  # fmt: skip
WEB: Table = {
    **_PAGED, "safesearch": "moderate", "goggles": (), "extra_snippets": False, "units": "metric",
    "text_decorations": True, "result_filter": None, "summary": False,
    "enable_rich_callback": False,
}  # fmt: skip
NEWS: Table = {**_PAGED, "safesearch": "strict", "goggles": (), "extra_snippets": False}
VIDEOS: Table = {**_PAGED, "safesearch": "moderate"}
IMAGES: Table = {**_SHARED, "q": REQUIRED, "count": 50, "safesearch": "strict"}
CONTEXT: Table = {
    **_SHARED, "q": REQUIRED, "count": 20, "safesearch": "moderate", "freshness": None,
    "goggles": (), "maximum_number_of_urls": 20, "maximum_number_of_tokens": 8192,
    "maximum_number_of_snippets": 50, "maximum_number_of_tokens_per_url": 4096,
    "maximum_number_of_snippets_per_url": 50, "context_threshold_mode": "balanced",
    "enable_local": None, "enable_source_metadata": False,
}  # fmt: skip
PLACES: Table = {
    **_SHARED, "ui_lang": "en-US", "units": "metric", "count": 20, "safesearch": "strict", "q": "",
    "location": "", "latitude": None, "longitude": None, "radius": None,
}  # fmt: skip
DESCRIPTIONS: Table = {"ids": REQUIRED}
POIS: Table = {**DESCRIPTIONS, "search_lang": "en", "ui_lang": "en-US", "units": "metric"}
RICH: Table = {"callback_key": REQUIRED}
SUMMARIZER: Table = {"key": REQUIRED, "entity_info": False, "inline_references": False}
SPELLING: Table = {"q": REQUIRED, "lang": "en", "country": "US"}
SUGGEST: Table = {**SPELLING, "count": 5, "rich": False}
ANSWERS: Table = {
    "country": "US", "safesearch": "moderate", "stream": True, "model": "brave", "language": "en",
    "enable_citations": False, "enable_entities": False, "enable_research": False,
    "research_allow_thinking": True, "research_maximum_number_of_tokens_per_query": 8192,
    "research_maximum_number_of_queries": 20, "research_maximum_number_of_iterations": 4,
    "research_maximum_number_of_seconds": 180, "research_maximum_number_of_results_per_query": 60,
}  # fmt: skip
LOCATION_HEADERS: Table = {
    "x-loc-lat": None, "x-loc-long": None, "x-loc-city": "", "x-loc-state": "",
    "x-loc-state-name": "", "x-loc-country": "", "x-loc-postal-code": "", "x-loc-timezone": "",
}  # fmt: skip


def check(request: RecordedRequest, table: Table) -> dict[str, Any]:
    """The values of all parameters and location headers; refuses what is missing or no value.

    A POST request carries its parameters in a JSON body. Unknown names are ignored.
    """
    origin = "body" if request.method == "POST" else "query"
    texts = _body_values(request) if request.method == "POST" else request.query
    problems: list[dict[str, Any]] = []
    values = _parse_all(table, texts, origin, problems)
    headers = {name.lower(): [value] for name, value in request.headers}
    values |= _parse_all(LOCATION_HEADERS, headers, "header", problems)
    if problems:
        raise RefusedError(invalid_parameters(problems))
    return values


def _parse_all(
    table: Table, texts: Mapping[str, list[str]], origin: str, problems: list[dict[str, Any]]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, default in table.items():
        values[name] = default
        if name not in texts:
            if default is REQUIRED:
                problems.append(problem([origin, name], "missing", "Field required"))
            continue
        value = texts[name]
        if len(value[-1]) > LONGEST.get(name, 10_000):
            problems.append(problem([origin, name], "string_too_long", "Input is too long"))
            continue
        try:
            # Of a parameter that is not a list, the last text counts.
            values[name] = value if name in LISTS else _parser(name, default)(value[-1])
        except (ValueError, KeyError):
            message = f"Input should be a valid {type(default).__name__}"
            problems.append(problem([origin, name], "value_error", message, value[-1]))
    return values


def _parser(name: str, default: Any) -> Callable[[str], Any]:
    if isinstance(default, bool):
        return boolean
    return PARSERS.get(name) or (int if isinstance(default, int) else str)


def _body_values(request: RecordedRequest) -> dict[str, list[str]]:
    """The members of a JSON body as texts, so that they pass the same checks as a query."""
    values = {}
    for name, value in json_object(request).items():
        members = value if isinstance(value, list) else [value]
        if name == "result_filter":  # the one list that a query writes with commas
            members = [",".join(_as_text(member) for member in members)]
        values[name] = [_as_text(member) for member in members if member is not None]
    return values


def json_object(request: RecordedRequest) -> dict[str, Any]:
    """The JSON object in the body of a request."""
    try:
        document = request.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        kind = "model_attributes_type" if request.body else "missing"
        message = "Input should be a valid JSON object"
        raise RefusedError(invalid_parameters([problem(["body"], kind, message)]))
    return document


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
