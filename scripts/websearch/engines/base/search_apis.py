"""Shared code for the modules of search APIs: keys, days, snippets, refusals.

These APIs take a key; most also work without one (`keyless` in the table of engines). The text in
their refusals is advertising, partly addressed to agents. Errors therefore state the problem in
this program's words, and the provider's text is neither shown nor acted on.
"""

from __future__ import annotations

import re
import time

from websearch.base.durations import spoken
from websearch.base.http_client import identified_agent
from websearch.engines.base.days import day_of_text, period
from websearch.engines.base.filters import site_filter
from websearch.engines.base.messages import EngineRequest
from websearch.engines.base.open_sources import raw_text, utc_time
from websearch.engines.base.result_pages import tidy_url
from websearch.kit import (
    USER_AGENT,
    SearchError,
    configured_key,
    json_answer,
    retry_after,
    shorten,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.engine import Engine
    from websearch.kit import Response

PROGRAM = USER_AGENT.partition("/")[0]  # identifies callers without a key
MAX_SNIPPET = 400  # characters: highlights and excerpts are long pieces of pages
LONGEST_LIMIT = 3_600.0  # seconds: a longer wait means a used-up allowance, not a pace

# ===== requests ===================================================================================


def json_post(url: str, body: dict[str, Any], **headers: str) -> EngineRequest:
    """Return a POST of JSON that identifies its caller. Raises SearchError (invalid_input)."""
    sent = {"Accept": "application/json", "User-Agent": identified_agent(), **headers}
    return EngineRequest(url, sent, "POST", json=body)


def days_of(since: str) -> tuple[str, str]:
    """Return the first and last day (YYYY-MM-DD, UTC) of a period word or a range of dates."""
    first, last = period(since, time.time())
    return utc_time(first), utc_time(last)


def hosts_of(params: dict[str, Any], name: str) -> list[str]:
    """Return a site filter's hosts; raises SearchError (invalid_input)."""
    return [site_filter(name, site) for site in params.get(name, [])]


# ===== results ====================================================================================


def api_page(
    title: object, url: object, snippet: str, moment: object, text: str = ""
) -> dict[str, Any]:
    """Return a result; {} without a web URL.

    snippet: a piece of the page, of any length. moment: a date as ISO 8601 or RFC 1123. text: the
    page's text, if the provider returned it.
    """
    if not isinstance(url, str) or not re.match(r"https?://\w", url):
        return {}
    result = {
        "title": raw_text(title) or url,
        "url": tidy_url(url),
        "snippet": shorten(raw_text(snippet), MAX_SNIPPET),
        "date": day_of_text(moment),
    }
    return {**result, "text": text} if text else result


# ===== refusals ===================================================================================


def api_answer(
    engine: Engine, response: Response, spent: tuple[int, ...] = (402,)
) -> dict[str, Any]:
    """Return the JSON object of a response with status 200; raises SearchError for others.

    spent: statuses that mean that the credits or the plan's allowance are used up.
    """
    if response.status != 200:
        raise refusal(engine, response, spent)
    return json_answer(response, engine.title)


def refusal(engine: Engine, response: Response, spent: tuple[int, ...] = (402,)) -> SearchError:
    """Return the SearchError for a status other than 200."""
    status, title = response.status, engine.title
    if status in spent:
        return used_up(engine, status)
    if status in (401, 403):
        return refused_key(engine, status)
    if status == 429:
        return too_many(engine, status, retry_after(response))
    if status in (400, 413, 422):
        message = f"{title} rejected the query or one of its filters (HTTP {status})."
        hint = "Rephrase the query, or drop filters."
        return SearchError("invalid_input", message, hint, status=status)
    message = f"{title} answered with HTTP {status}."
    passes = status in (500, 502, 503, 504)
    hint = "Try again later, or use another engine."
    return SearchError("provider", message, hint, status=status, retryable=passes)


def refused_key(engine: Engine, status: int) -> SearchError:
    """Return the error for a rejected key, or for a rejected caller without a key."""
    name, key = configured_key(*engine.keys)
    if key:
        message = f"{engine.title} refused {name}."
        hint = f"Check the key at {engine.key_site}."
    else:
        message = f"{engine.title} does not answer this machine without a key."
        hint = f"Set {engine.keys[0]} (a key is at {engine.key_site}), or use another engine."
    return SearchError("auth", message, hint, status=status)


def used_up(engine: Engine, status: int, seconds: float | None = None) -> SearchError:
    """Return the error for used-up credits or a used-up allowance; seconds: until renewal."""
    name, key = configured_key(*engine.keys)
    what = f"the credits of {name} are" if key else "the allowance without a key is"
    renewed = f" for another {spoken(seconds)}" if seconds else ""
    hint = "Use another engine" + ("." if key else f", or set {engine.keys[0]}.")
    return SearchError("quota", f"{engine.title}: {what} used up{renewed}.", hint, status=status)


def too_many(engine: Engine, status: int, seconds: float | None) -> SearchError:
    """Return the error for too many requests; seconds: until the next request, if known."""
    if seconds and seconds > LONGEST_LIMIT:
        return used_up(engine, status, seconds)
    message = f"{engine.title} asked for fewer requests (HTTP {status})."
    hint = "Wait, then try again. Or use another engine."
    details = {"status": status, "retry_after": seconds}
    return SearchError("rate_limit", message, hint, retryable=True, **details)


def no_list(engine: Engine) -> SearchError:
    """Return the error for a response without results that is not a refusal."""
    message = f"{engine.title}'s response has no list of results."
    return SearchError("provider", message, "Try again later, or use another engine.", status=200)
