"""Parameters of the Brave Search API: their bounds as tables, and the check of a request."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from .brave_errors import RefusedError, invalid_parameters, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .messages import RecordedRequest


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


COUNTRIES = _names(
    "ALL AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA "
    "ZA ES SE CH TW TR GB US"
)
LANGUAGES = _names(
    "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de el gu he hi hu is it ja "
    "jp kn ko lv lt ms ml mr nb pl pt-br pt-pt pa ro ru sr sk sl es sv ta te th tr uk vi"
)
UI_LANGUAGES = _names(
    "es-AR en-AU de-AT nl-BE fr-BE pt-BR en-CA fr-CA es-CL da-DK fi-FI fr-FR de-DE el-GR zh-HK "
    "en-IN en-ID it-IT ja-JP ko-KR en-MY es-MX nl-NL en-NZ no-NO zh-CN pl-PL en-PH ru-RU en-ZA "
    "es-ES sv-SE fr-CH de-CH zh-TW tr-TR en-GB en-US es-US"
)
# "rich" is not in the reference, but Brave's own MCP server sends it.
SECTIONS = _names("discussions faq infobox news query rich summarizer videos web locations")
FRESHNESS_DAYS = {"pd": 1, "pw": 7, "pm": 31, "py": 365}
MAX_GOGGLES = 3
MAX_IDS = 20
Number = TypeVar("Number", int, float)
_TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
_FALSE = frozenset({"0", "false", "f", "no", "n", "off"})
_DATE_RANGE = re.compile(r"(\d{4}-\d{2}-\d{2})to(\d{4}-\d{2}-\d{2})")


class InvalidError(Exception):
    """A value is not allowed: the kind of problem, and a sentence about it."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass(frozen=True)
class Parameter:
    """One parameter: how its text becomes a value, and the value when it is absent."""

    name: str
    parse: Callable[[Any], Any]
    default: Any = None
    required: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class Period:
    """From the first to the last day, both included."""

    first: dt.date
    last: dt.date

    def contains(self, day: dt.date) -> bool:
        """Whether the day lies in the period."""
        return self.first <= day <= self.last


def integer(low: int, high: int) -> Callable[[str], int]:
    """A whole number within bounds."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"[+-]?\d{1,9}", text):
            raise InvalidError("int_parsing", "Input should be a valid integer")
        return _bounded(int(text), low, high)

    return parse


def number(low: float, high: float) -> Callable[[str], float]:
    """A number within bounds."""

    def parse(text: str) -> float:
        if not re.fullmatch(r"[+-]?\d{1,9}(\.\d+)?", text):
            raise InvalidError("float_parsing", "Input should be a valid number")
        return _bounded(float(text), low, high)

    return parse


def boolean(text: str) -> bool:
    """A truth value in any of the usual spellings."""
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise InvalidError("bool_parsing", "Input should be a valid boolean")


def choice(values: frozenset[str]) -> Callable[[str], str]:
    """One of some values, in exactly this spelling."""

    def parse(text: str) -> str:
        if text not in values:
            raise InvalidError("enum", f"Input should be one of: {', '.join(sorted(values))}")
        return text

    return parse


def query_text(max_characters: int, max_words: int) -> Callable[[str], str]:
    """A query: not blank, and not too long."""

    def parse(text: str) -> str:
        if not text.strip():
            raise InvalidError("string_too_short", "String should have at least 1 character")
        if len(text) > max_characters:
            raise InvalidError(
                "string_too_long", f"String should have at most {max_characters} characters"
            )
        if len(text.split()) > max_words:
            raise InvalidError("value_error", f"Value error, at most {max_words} words are allowed")
        return text

    return parse


def plain_text(text: str) -> str:
    """Any text."""
    return text


def short_text(max_characters: int) -> Callable[[str], str]:
    """Text up to a length."""

    def parse(text: str) -> str:
        if len(text) > max_characters:
            raise InvalidError(
                "string_too_long", f"String should have at most {max_characters} characters"
            )
        return text

    return parse


def freshness(text: str) -> Period:
    """pd, pw, pm, py or a range of real dates."""
    today = dt.datetime.now(dt.timezone.utc).date()
    if text in FRESHNESS_DAYS:
        return Period(today - dt.timedelta(days=FRESHNESS_DAYS[text]), today)
    match = _DATE_RANGE.fullmatch(text)
    try:
        if match:
            first, last = (dt.date.fromisoformat(part) for part in match.groups())
            if first <= last:
                return Period(first, last)
    except ValueError:  # a date that the calendar lacks
        pass
    raise InvalidError(
        "value_error", "Value error, expected pd, pw, pm, py or YYYY-MM-DDtoYYYY-MM-DD"
    )


def sections(text: str) -> frozenset[str]:
    """A comma-separated list of result sections."""
    names = [name.strip() for name in text.split(",")]
    return frozenset(choice(SECTIONS)(name) for name in names)


def goggles(texts: list[str]) -> list[str]:
    """Hosted goggles or inline rules."""
    if len(texts) > MAX_GOGGLES:
        raise InvalidError("too_long", f"List should have at most {MAX_GOGGLES} items")
    return texts


def identifiers(texts: list[str]) -> list[str]:
    """Identifiers of places."""
    if len(texts) > MAX_IDS:
        raise InvalidError("too_long", f"List should have at most {MAX_IDS} items")
    if not all(texts):
        raise InvalidError("string_too_short", "String should have at least 1 character")
    return texts


def coordinate_pair(text: str) -> tuple[float, float]:
    """Latitude and longitude in the form LATxLONG."""
    latitude, _, longitude = text.partition("x")
    return number(-90, 90)(latitude), number(-180, 180)(longitude)


def _bounded(value: Number, low: float, high: float) -> Number:
    if value < low:
        raise InvalidError("greater_than_equal", f"Input should be greater than or equal to {low}")
    if value > high:
        raise InvalidError("less_than_equal", f"Input should be less than or equal to {high}")
    return value


Q = Parameter("q", query_text(400, 50), required=True)
COUNTRY = Parameter("country", choice(COUNTRIES), "US")
SEARCH_LANG = Parameter("search_lang", choice(LANGUAGES), "en")
UI_LANG = Parameter("ui_lang", choice(UI_LANGUAGES), "en-US")
OFFSET = Parameter("offset", integer(0, 9), 0)
SPELLCHECK = Parameter("spellcheck", boolean, True)
FRESHNESS = Parameter("freshness", freshness)
GOGGLES = Parameter("goggles", goggles, (), repeated=True)
EXTRA_SNIPPETS = Parameter("extra_snippets", boolean, False)
FETCH_METADATA = Parameter("include_fetch_metadata", boolean, False)
OPERATORS = Parameter("operators", boolean, True)
UNITS = Parameter("units", choice(_names("metric imperial")), "metric")
IDS = Parameter("ids", identifiers, required=True, repeated=True)


def count(high: int, default: int) -> Parameter:
    """The number of results."""
    return Parameter("count", integer(1, high), default)


def safesearch(default: str, levels: str = "off moderate strict") -> Parameter:
    """The filter for adult content."""
    return Parameter("safesearch", choice(_names(levels)), default)


_SHARED = (COUNTRY, SEARCH_LANG, SPELLCHECK)
_PAGED = (*_SHARED, UI_LANG, OFFSET, FRESHNESS, FETCH_METADATA, OPERATORS)
WEB_POST = (
    Q, *_PAGED, count(20, 20), safesearch("moderate"), GOGGLES, EXTRA_SNIPPETS, UNITS,
    Parameter("text_decorations", boolean, True), Parameter("result_filter", sections),
    Parameter("summary", boolean, False), Parameter("enable_rich_callback", boolean, False),
)  # fmt: skip
# The longer query is documented for GET on this endpoint only.
WEB = (Parameter("q", query_text(600, 75), required=True), *WEB_POST[1:])
NEWS = (Q, *_PAGED, count(50, 20), safesearch("strict"), GOGGLES, EXTRA_SNIPPETS)
VIDEOS = (Q, *_PAGED, count(50, 20), safesearch("moderate"))
IMAGES = (Q, *_SHARED, count(200, 50), safesearch("strict", "off strict"))
CONTEXT = (
    Q, *_SHARED, count(50, 20), safesearch("moderate"), FRESHNESS, GOGGLES,
    Parameter("maximum_number_of_urls", integer(1, 50), 20),
    Parameter("maximum_number_of_tokens", integer(1024, 32768), 8192),
    Parameter("maximum_number_of_snippets", integer(1, 256), 50),
    Parameter("maximum_number_of_tokens_per_url", integer(512, 8192), 4096),
    Parameter("maximum_number_of_snippets_per_url", integer(1, 100), 50),
    Parameter(
        "context_threshold_mode",
        choice(_names("disabled strict lenient balanced")), "balanced",
    ),
    Parameter("enable_local", boolean), Parameter("enable_source_metadata", boolean, False),
)  # fmt: skip
PLACES = (
    *_SHARED, UI_LANG, UNITS, count(100, 20), safesearch("strict"),
    Parameter("q", short_text(400), ""), Parameter("location", short_text(400), ""),
    Parameter("latitude", number(-90, 90)), Parameter("longitude", number(-180, 180)),
    Parameter("radius", number(0, 1e9)), Parameter("geoloc", coordinate_pair),
)  # fmt: skip
POIS = (IDS, SEARCH_LANG, UI_LANG, UNITS)
DESCRIPTIONS = (IDS,)
RICH = (Parameter("callback_key", query_text(2_000, 1), required=True),)
SUMMARIZER = (
    Parameter("key", query_text(4_000, 1_000), required=True),
    Parameter("entity_info", boolean, False), Parameter("inline_references", boolean, False),
)  # fmt: skip
SUGGEST = (
    Q, Parameter("lang", choice(LANGUAGES), "en"), COUNTRY, count(20, 5),
    Parameter("rich", boolean, False),
)  # fmt: skip
SPELLING = (Q, Parameter("lang", choice(LANGUAGES), "en"), COUNTRY)
ANSWERS = (
    COUNTRY, safesearch("moderate"), Parameter("stream", boolean, True),
    Parameter("model", choice(_names("brave brave-pro")), "brave"),
    Parameter("language", choice(LANGUAGES), "en"),
    Parameter("enable_citations", boolean, False), Parameter("enable_entities", boolean, False),
    Parameter("enable_research", boolean, False),
    Parameter("research_allow_thinking", boolean, True),
    Parameter("research_maximum_number_of_tokens_per_query", integer(1024, 16384), 8192),
    Parameter("research_maximum_number_of_queries", integer(1, 50), 20),
    Parameter("research_maximum_number_of_iterations", integer(1, 5), 4),
    Parameter("research_maximum_number_of_seconds", integer(1, 300), 180),
    Parameter("research_maximum_number_of_results_per_query", integer(1, 60), 60),
)  # fmt: skip
LOCATION_HEADERS = (
    Parameter("x-loc-lat", number(-90, 90)), Parameter("x-loc-long", number(-180, 180)),
    Parameter("x-loc-city", plain_text, ""), Parameter("x-loc-state", short_text(3), ""),
    Parameter("x-loc-state-name", plain_text, ""), Parameter("x-loc-country", short_text(2), ""),
    Parameter("x-loc-postal-code", plain_text, ""), Parameter("x-loc-timezone", plain_text, ""),
)  # fmt: skip


def check(request: RecordedRequest, parameters: tuple[Parameter, ...]) -> dict[str, Any]:
    """The values of all parameters and location headers; refuses what the API refuses.

    A POST request carries its parameters in a JSON body. Unknown names are ignored.
    """
    origin = "body" if request.method == "POST" else "query"
    given = _body_values(request) if request.method == "POST" else request.query
    problems: list[dict[str, Any]] = []
    values = _parse_all(parameters, given, origin, problems)
    headers = {name.lower(): [value] for name, value in request.headers}
    values |= _parse_all(LOCATION_HEADERS, headers, "header", problems)
    if problems:
        raise RefusedError(invalid_parameters(problems))
    return values


def _parse_all(
    parameters: tuple[Parameter, ...],
    given: Mapping[str, list[str]],
    origin: str,
    problems: list[dict[str, Any]],
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for parameter in parameters:
        location: list[str | int] = [origin, parameter.name]
        texts = given.get(parameter.name, [])
        values[parameter.name] = parameter.default
        if not texts:
            if parameter.required:
                problems.append(problem(location, "missing", "Field required"))
            continue
        # Of a parameter that is not a list, the last one counts.
        value = texts if parameter.repeated else texts[-1]
        try:
            values[parameter.name] = parameter.parse(value)
        except InvalidError as invalid:
            problems.append(problem(location, invalid.kind, invalid.message, value))
    return values


def _body_values(request: RecordedRequest) -> dict[str, list[str]]:
    """The members of a JSON body as texts, so that they pass the same checks as a query."""
    document = json_object(request)
    values = {}
    for name, value in document.items():
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
