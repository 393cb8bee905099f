"""Search APIs as data: what a request contains, and where the response has the results.

A row (class SearchApi) describes an API that takes one request and returns one list of results.
engines/search_apis.py contains this program's rows; engines.json in the configuration folder may
add rows in the same form (own_engines.py).

A request is written as the API documents it, with placeholders where the caller's parameters go.
A field is omitted if one of its placeholders has no value:

  {query} {count}               with the filters site and exclude_site as operators in the query,
                                unless the request has {site}
  {site} {exclude_site}         lists of hosts
  {country} {COUNTRY} {language} {LANGUAGE}    codes in lower and upper case
  {safe} {is_safe}              off, moderate or strict; false for off
  {since}                       day, week, month or year; no value for a range of dates
  {freshness}                   the same, or a range written as 2026-01-01to2026-01-31
  {first_day} {first_moment}    the start of the period: YYYY-MM-DD, ISO 8601
  {last_day} {last_moment}      the end of a range of dates; the end of any period
  {range_start}                 the first day of a range of dates
  {has_since} {has_language}    true if the filter is set
  {key}                         in headers

The text of a refusal is partly advertising, some of it addressed to agents. Errors state the
problem in this program's words; only the reason for rejecting a query is quoted.
"""

from __future__ import annotations

import re
import time

from websearch.base.durations import spoken
from websearch.base.http_client import identified_agent
from websearch.engines.base.days import day_of_text, period
from websearch.engines.base.engine import DAYS, HOURS, SAFE
from websearch.engines.base.filters import (
    country_code,
    language_code,
    query_with_sites,
    site_filter,
)
from websearch.engines.base.messages import EngineRequest, ResultPage
from websearch.engines.base.open_sources import raw_text, utc_time
from websearch.engines.base.result_pages import get_request, tidy_url, within_limit
from websearch.kit import (
    USER_AGENT,
    SearchError,
    configured_key,
    drop_empty,
    json_answer,
    json_object,
    object_field,
    one_line,
    plain_text,
    retry_after,
    shorten,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.engine import Engine, Filters, SearchApi
    from websearch.kit import Response

PROGRAM = USER_AGENT.partition("/")[0]  # the name that identifies callers without a key
MAX_SNIPPET = 400  # characters: highlights and excerpts are long pieces of pages
MAX_REASON = 200  # characters of a provider's reason for rejecting a query
LONGEST_LIMIT = 3_600.0  # seconds; a longer wait means a used-up quota
MOMENT = "%Y-%m-%dT%H:%M:%S.000Z"
PLACEHOLDERS = (
    "query", "count", "site", "exclude_site", "country", "COUNTRY", "language", "LANGUAGE", "safe",
    "is_safe", "since", "freshness", "first_day", "first_moment", "last_day", "last_moment",
    "range_start", "has_since", "has_language",
)  # fmt: skip
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_REASONS = ("message", "msg", "detail", "error", "errors", "title", "code")  # fields of errors


class ApiEngine:
    """Does the work of an engine's module for a row: see engine.EngineModule."""

    def __init__(self, engine: Engine) -> None:
        assert engine.api  # noqa: S101  callers check it
        self.ENGINE, self.api = engine, engine.api

    def first_request(self, params: dict[str, Any]) -> EngineRequest:
        """Return the request of a search. Raises SearchError (invalid_input, auth)."""
        api, key = self.api, self.ENGINE.key()
        values = request_values(self.ENGINE, params)
        own_headers = api.headers if key else api.keyless_headers
        headers = {
            "Accept": "application/json",
            "User-Agent": identified_agent(),
            **(filled(dict(own_headers), {"key": key, "program": PROGRAM}) or {}),
        }
        path = api.path if key or not api.keyless_path else api.keyless_path
        url, sent = f"{self.ENGINE.base_url()}{path}", filled(dict(api.send), values) or {}
        if api.method == "POST":
            return EngineRequest(url, headers, "POST", json=sent)
        return get_request(url, {name: str(value) for name, value in sent.items()}, headers, 0)

    def read_answer(self, _: EngineRequest, response: Response) -> ResultPage:
        """Return the result page in a response. Raises SearchError."""
        if refused := keyless_refusal(self.ENGINE, response):
            raise refused
        if response.status != 200:
            raise refusal(self.ENGINE, response)
        items = listed_results(self.ENGINE, json_answer(response, self.ENGINE.title))
        return ResultPage([api_result(self.api, item) for item in items], credits=1)


# ===== requests ===================================================================================


def filled(template: Any, values: dict[str, Any]) -> Any:
    """Return a template with its placeholders replaced; None if a value is missing.

    In an object, fields without a value and objects without fields are omitted.
    """
    if isinstance(template, dict):
        fields = {name: filled(item, values) for name, item in template.items()}
        return {name: item for name, item in fields.items() if item is not None} or None
    if isinstance(template, list):
        items = [filled(item, values) for item in template]
        return None if None in items else items
    if not isinstance(template, str):
        return template
    names = _PLACEHOLDER.findall(template)
    if any(values.get(name) is None for name in names):
        return None
    if names and template == f"{{{names[0]}}}":
        return values[names[0]]
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), template)


def placeholders(template: object) -> set[str]:
    """Return the names of the placeholders in a template."""
    if isinstance(template, dict):
        template = list(template.values())
    if isinstance(template, list):
        return set().union(*map(placeholders, template))
    return set(_PLACEHOLDER.findall(template)) if isinstance(template, str) else set()


def request_values(engine: Engine, params: dict[str, Any]) -> dict[str, Any]:
    """Return the values of the placeholders, None for filters that are not set.

    Raises SearchError (invalid_input).
    """
    assert engine.api  # noqa: S101  callers check it
    has_field = "site" in placeholders(dict(engine.api.send))
    query = params["query"] if has_field else query_with_sites(params["query"], params)
    codes = engine.api.codes
    country = country_code(params.get("country", ""))
    language = language_code(params.get("language", ""))
    values = {
        "query": within_limit(engine, query),
        "count": params["count"],
        "site": hosts_of(params, "site"),
        "exclude_site": hosts_of(params, "exclude_site"),
        "country": codes.get(country, country),
        "COUNTRY": codes.get(country, country.upper()),
        "language": codes.get(language, language),
        "LANGUAGE": codes.get(language, language.upper()),
        "safe": params.get("safe"),
        "has_language": bool(language),
        **period_values(params.get("since", "")),
    }
    safe = {"is_safe": params["safe"] != "off"} if "safe" in params else {}
    return {name: value or None for name, value in values.items()} | safe


def period_values(since: str) -> dict[str, Any]:
    """Return the values for a period word or a range of dates; {} for ""."""
    if not since:
        return {}
    first, last = period(since, time.time())
    is_range = ".." in since
    first_day, last_day = utc_time(first), utc_time(last)
    return {
        "has_since": True,
        "since": "" if is_range else since,
        "freshness": f"{first_day}to{last_day}" if is_range else since,
        "first_day": first_day,
        "first_moment": utc_time(first, MOMENT),
        "last_day": last_day if is_range else "",
        "last_moment": utc_time(last, MOMENT),
        "range_start": first_day if is_range else "",
    }


def hosts_of(params: dict[str, Any], name: str) -> list[str]:
    """Return a site filter's hosts; its paths are applied to the results later."""
    sites = [site_filter(name, site) for site in params.get(name, [])]
    if name == "exclude_site":  # the host itself stays
        return [site for site in sites if "/" not in site]
    return list(dict.fromkeys(site.partition("/")[0] for site in sites))


def filters_of(api: SearchApi) -> Filters:
    """Return the filters that a row's request supports."""
    names = placeholders(dict(api.send))
    periods = ("since", "freshness", "first_day", "first_moment")
    words = HOURS if "first_moment" in names else DAYS
    ends = {"freshness", "last_day", "last_moment", "range_start"}
    filters: dict[str, tuple[str, ...] | None] = {"site": None, "exclude_site": None}
    if not names.isdisjoint(periods):
        filters["since"] = (*words, "range") if names & ends else words
    if names & {"country", "COUNTRY"}:
        filters["country"] = api.countries or None
    if names & {"language", "LANGUAGE"}:
        filters["language"] = None
    if names & {"safe", "is_safe"}:
        filters["safe"] = SAFE
    return filters


# ===== results ====================================================================================


def listed_results(engine: Engine, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects in a response's list of results.

    The list may be missing only if the object around it is there: some APIs omit an empty list.
    Raises SearchError (provider).
    """
    assert engine.api  # noqa: S101  callers check it
    *objects, name = engine.api.results.split(".")
    for field in objects:
        if not isinstance(answer.get(field), dict):
            raise no_list(engine)
        answer = object_field(answer, field)
    items = answer.get(name)
    if items is None and objects:
        return []
    if not isinstance(items, list):
        raise no_list(engine)
    return [item for item in items if isinstance(item, dict)]


def api_result(api: SearchApi, item: dict[str, Any]) -> dict[str, Any]:
    """Return an item of a response as a result; {} without a web URL."""
    url = item.get(api.url)
    if not isinstance(url, str) or not re.match(r"https?://\w", url):
        return {}
    title = field_text(item, (api.title,))
    snippet = field_text(item, api.snippet)
    if api.has_entities:
        title, snippet = plain_text(title), plain_text(snippet)
    result = {
        "title": raw_text(title) or url,
        "url": tidy_url(url),
        "snippet": shorten(raw_text(snippet), MAX_SNIPPET),
        "date": day_of_text(item.get(api.date)),
    }
    return result | drop_empty({"text": field_text(item, (api.text,), "\n\n[…]\n\n")})


def field_text(item: dict[str, Any], names: tuple[str, ...], joint: str = " … ") -> str:
    """Return the first of an item's fields that contains text; join the strings of a list."""
    for name in names:
        value = item.get(name)
        pieces = value if isinstance(value, list) else [value]
        if text := joint.join(piece for piece in pieces if isinstance(piece, str) and piece):
            return text
    return ""


# ===== refusals ===================================================================================


def refusal(engine: Engine, response: Response) -> SearchError:
    """Return the SearchError for a status other than 200."""
    assert engine.api  # noqa: S101  callers check it
    status, title = response.status, engine.title
    if status in engine.api.used_up:
        return used_up(engine, status)
    if status in (401, 403):
        return refused_key(engine, status)
    if status == 429:
        return too_many(engine, status, retry_after(response))
    if status in (400, 413, 422):
        reason = reason_of(json_object(response) or response.excerpt())
        message = f"{title} rejected the query or one of its filters (HTTP {status}): {reason}"
        hint = "Rephrase the query, or remove filters."
        return SearchError("invalid_input", message.rstrip(": "), hint, status=status)
    message = f"{title} answered with HTTP {status}."
    passes = status in (500, 502, 503, 504)
    hint = "Try again later, or use another engine."
    return SearchError("provider", message, hint, status=status, retryable=passes)


def reason_of(value: object) -> str:
    """Return the provider's reason in an error's value, on one line; "" without one."""
    if isinstance(value, list):
        return next(filter(None, map(reason_of, value[:5])), "")
    if isinstance(value, dict):
        reason = next(filter(None, (reason_of(value.get(name)) for name in _REASONS)), "")
        place = value.get("loc")  # FastAPI's form: ["body", "max_results"]
        name = str(place[-1]) if isinstance(place, list) and place else ""
        return shorten(f"{name}: {reason}" if name and reason else reason, MAX_REASON)
    return one_line(value, MAX_REASON) if isinstance(value, str) else ""


def keyless_refusal(engine: Engine, response: Response) -> SearchError | None:
    """Return the error if the allowance without a key is used up; else None.

    The seconds until its renewal are in the response, under "error" or at the top level, even with
    status 200 (Tavily). If there is no time, a status in keyless_used_up means a daily allowance.
    """
    assert engine.api  # noqa: S101  callers check it
    if engine.has_key():
        return None
    answer = json_object(response) or {}
    notice = object_field(answer, "error") or answer
    seconds = notice.get("retry_after_seconds")
    if isinstance(seconds, (int, float)) or "next_actions" in notice:
        known = float(seconds) if isinstance(seconds, (int, float)) else None
        return None if answer.get("results") else used_up(engine, response.status, known)
    if response.status in engine.api.keyless_used_up and retry_after(response) is None:
        return used_up(engine, response.status)
    return None


def refused_key(engine: Engine, status: int) -> SearchError:
    """Return the error for a rejected key, or for a rejected caller without a key."""
    name, key = configured_key(*engine.keys)
    get_one = f" (a key is at {engine.key_site})" if engine.key_site else ""
    if key:
        message = f"{engine.title} refused {name}."
        hint = f"Check the key{f' at {engine.key_site}' if engine.key_site else ''}."
    elif engine.keys:
        message = f"{engine.title} does not answer this machine without a key."
        hint = f"Set {engine.keys[0]}{get_one}, or use another engine."
    else:
        message = f"{engine.title} refused the request (HTTP {status})."
        hint = "Add its key to engines.json, or use another engine."
    return SearchError("auth", message, hint, status=status)


def used_up(engine: Engine, status: int, seconds: float | None = None) -> SearchError:
    """Return the error for used-up credits or a used-up allowance. seconds: until the renewal."""
    name, key = configured_key(*engine.keys)
    what = f"the credits of {name} are" if key else "the allowance without a key is"
    renewed = f" for another {spoken(seconds)}" if seconds else ""
    other = "" if key or not engine.keys else f", or set {engine.keys[0]}"
    message = f"{engine.title}: {what} used up{renewed}."
    return SearchError("quota", message, f"Use another engine{other}.", status=status)


def too_many(engine: Engine, status: int, seconds: float | None) -> SearchError:
    """Return the error for too many requests. seconds: until the next request, if known."""
    if seconds and seconds > LONGEST_LIMIT:
        return used_up(engine, status, seconds)
    message = f"{engine.title} asked for fewer requests (HTTP {status})."
    hint = "Wait, then try again. If it lasts, check the account's limit, or use another engine."
    details = {"status": status, "retry_after": seconds}
    return SearchError("rate_limit", message, hint, retryable=True, **details)


def no_list(engine: Engine) -> SearchError:
    """Return the error for a response without results that is not a refusal."""
    message = f"{engine.title}'s response has no list of results."
    return SearchError("provider", message, "Try again later, or use another engine.", status=200)
