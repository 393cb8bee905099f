"""Shared code for the modules of open sources: query words, periods, requests, refusals.

An open source is a site's own API that needs no key. It asks its callers to identify themselves
and to respect its limits. Its headers or responses report when a limit was exceeded.
"""

from __future__ import annotations

import re
import time

from websearch.base.durations import spoken
from websearch.base.http_client import identified_agent
from websearch.base.words import ENGLISH_STOP_WORDS
from websearch.engines.base.result_pages import (
    MAX_TEXT,
    api_text,
    get_request,
    header_signal,
    tidy_url,
    wall_error,
    within_limit,
)
from websearch.kit import (
    SearchError,
    drop_empty,
    json_answer,
    list_field,
    one_line,
    retry_after,
    shorten,
    status_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.engine import Engine
    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

MOST_WORDS = 6  # words per query: these APIs require every word, so a whole question finds nothing
FEWER_WORDS = 3  # words of a second request, if the first one finds nothing
MAX_AUTHORS = 3  # authors shown per paper
# Words in a question that say nothing about its subject.
_FILLING_WORDS = ENGLISH_STOP_WORDS | frozenset(
    "after anyone best cannot else ever get gets getting give help like make makes mean means need "
    "one please tell thing things us use used using want way without".split()
)

# ===== queries ====================================================================================


def key_words(query: str, most: int = MOST_WORDS) -> str:
    """Return a query's most distinctive words in order; qualifiers such as repo:a/b stay.

    A query with a quoted phrase is unchanged. The most distinctive words are names with digits,
    symbols or inner capitals, then long words.
    """
    if '"' in query:
        return query
    stripped = (word.strip("?!.,;:()…") for word in query.split())
    words = [word for word in stripped if word]
    telling = [word for word in words if word.lower() not in _FILLING_WORDS] or words
    plain = [word for word in telling if not is_qualifier(word)]
    best = {*sorted(plain, key=lambda word: (is_name(word), len(word)), reverse=True)[:most]}
    return " ".join(word for word in telling if is_qualifier(word) or word in best)


def is_name(word: str) -> bool:
    """Return whether a word has a digit or symbol after a letter, or an inner capital."""
    letter = re.search("[a-zA-Z]", word)
    # Two searches: a single pattern is slow on a long word.
    has_sign = letter and re.search(r"[\d_.#+/-]", word[letter.end() :])
    return bool(has_sign or re.search(r"\w[A-Z]", word))


def is_qualifier(word: str) -> bool:
    """Return whether a word is an operator of a search API, such as is:issue or -label:bug."""
    return bool(re.match(r"-?[a-z_]+:[^\s:/]", word))


def utc_time(moment: float, form: str = "%Y-%m-%d") -> str:
    """Return a timestamp (seconds since 1970) as a date, or in another time.strftime format."""
    return time.strftime(form, time.gmtime(moment))


def api_request(engine: Engine, path: str, fields: dict[str, Any], **headers: str) -> EngineRequest:
    """Return the GET request for a search that identifies its caller. Raises SearchError."""
    sent = {"Accept": "application/json", "User-Agent": identified_agent(), **headers}
    return get_request(f"{engine.base_url()}{path}", drop_empty(fields), sent, max_body=0)


def search_words(engine: Engine, query: str, most: int = MOST_WORDS) -> str:
    """Return a query's keywords; raises SearchError (invalid_input) if they are too long."""
    return within_limit(engine, key_words(query, most))


# ===== responses ==================================================================================


def raw_text(text: object) -> str:
    """Return an API's plain text on one line: anything that looks like markup is text."""
    return one_line(text, MAX_TEXT) if isinstance(text, str) else ""


def text_of_html(html: object) -> str:
    """Return the text of an API's HTML on one line: tags removed, then entities decoded once."""
    if not isinstance(html, str):
        return ""
    return api_text(re.sub(r"</?[a-zA-Z][^<>]{0,2000}>", " ", html[: 20 * MAX_TEXT]))


def source_result(title: str, url: object, facts: list[str], **fields: Any) -> dict[str, Any]:
    """Return a result; {} without a web URL. facts: parts of its snippet; "" is left out."""
    if not isinstance(url, str) or not re.match(r"https?://\w", url):
        return {}
    snippet = shorten(" · ".join(fact for fact in facts if fact), MAX_TEXT)
    return {"title": title or url, "url": tidy_url(url), "snippet": snippet, **fields}


def counted(number: object, noun: str) -> str:
    """Return a number with its noun: 1 point, 3 answers; "" for anything else."""
    if not isinstance(number, int) or isinstance(number, bool):
        return ""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def named_authors(names: list[str]) -> str:
    """Return a paper's first authors, with "et al." if there are more."""
    known = [name for name in names if name]
    return ", ".join(known[:MAX_AUTHORS]) + (" et al." if len(known) > MAX_AUTHORS else "")


def listed_items(engine: Engine, answer: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the objects in a response's list; raises SearchError (provider) without a list."""
    if isinstance(answer.get(name), list):
        return list_field(answer, name)
    message = f"{engine.title}'s response has no list of results ({name})."
    raise SearchError("provider", message, "Try again later.", status=200)


def good_answer(engine: Engine, response: Response) -> dict[str, Any]:
    """Return the JSON object of a response with status 200; raises SearchError for others."""
    if response.status != 200 or header_signal(response):
        raise refusal(engine, response)
    return json_answer(response, engine.title)


# ===== refusals ===================================================================================


def refusal(engine: Engine, response: Response) -> SearchError:
    """Return the SearchError for a source's status.

    A refusal that names a wait is a rate limit, and the caller waits. After any other refusal, the
    source is paused, like an engine after a bot wall.
    """
    signal = header_signal(response)
    if response.status in (403, 429) or signal:
        seconds = retry_after(response)
        if seconds is not None and not signal:
            return too_fast(engine, response.status, seconds)
        reason = raw_text(response.excerpt())
        signal = signal or f"HTTP {response.status}" + (
            f" ({shorten(reason, 80)})" if reason else ""
        )
        return wall_error(engine, response, signal)
    return status_error(response, engine.title)


def too_fast(engine: Engine, status: int, seconds: float) -> SearchError:
    """Return the error for a source that asks clients to send nothing for some seconds."""
    message = f"{engine.title} asked for no requests for {spoken(seconds)}."
    hint = "Wait, then try again. Or use another source."
    details = {"status": status, "retry_after": round(seconds, 1)}
    return SearchError("rate_limit", message, hint, retryable=True, **details)


def bad_query(engine: Engine, response: Response, reason: str, hint: str) -> SearchError:
    """Return the error for a query that a source rejects; reason: the source's own words."""
    message = f"{engine.title} rejected the query: {shorten(raw_text(reason), 200)}"
    return SearchError("invalid_input", message, hint, status=response.status)
