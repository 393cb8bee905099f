"""What the doubles of the search APIs for agents share: keys, filtered documents, faults.

A key that begins with "refused" is refused; every other one is good. A word of the query picks a
fault (engine_pages.py); beside those each double knows
  spent     the allowance or the credits are used up
  toofast   429 with Retry-After: 1, always
  denied    the key is refused
  invalid   400, a value that the API does not take
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from .corpus import Query, on_site, parse_query
from .engine_pages import fault_word, published, ranked, searched_words
from .messages import json_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .corpus import Document
    from .messages import RecordedRequest, Reply

DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


@dataclass(frozen=True)
class Wish:
    """What a search asks for beside its words; days are YYYY-MM-DD."""

    query: str
    first_day: str = ""
    last_day: str = ""
    sites: tuple[str, ...] = ()
    excluded_sites: tuple[str, ...] = ()
    language: str = ""
    mature: bool = False
    keeps_undated: bool = False


def found_documents(wish: Wish) -> tuple[list[Document], frozenset[str]]:
    """The documents that match, best first, and the terms that were searched for."""
    documents, terms = ranked(wish.query, wish.language, "", wish.mature)
    if fault_word(wish.query) == "empty":
        return [], terms
    named = parse_query(searched_words(wish.query))
    asked = Query(
        wish.query,
        terms,
        (*named.sites, *wish.sites),
        (*named.excluded_sites, *wish.excluded_sites),
    )
    return [
        document
        for document in documents
        if asked.allows(document.host) and is_of_days(document, wish)
    ], terms


def is_of_days(document: Document, wish: Wish) -> bool:
    """Whether a document was published within the days that a search asks for."""
    if not (wish.first_day or wish.last_day):
        return True
    date = published(document)
    if date is None:
        return wish.keeps_undated
    return (wish.first_day or "0") <= f"{date:%Y-%m-%d}" <= (wish.last_day or "9")


def days_ago(days: float) -> str:
    """The day so many days before today."""
    return f"{datetime.now(timezone.utc) - timedelta(days=days):%Y-%m-%d}"


def bearer(request: RecordedRequest) -> str:
    """The key of an Authorization header, "" if there is none."""
    return (request.header("authorization") or "").removeprefix("Bearer ").strip()


def is_refused(key: str) -> bool:
    """Whether a key is one that its API does not know."""
    return not key or key.startswith("refused")


def unknown_field(body: dict[str, Any], known: Iterable[str]) -> str:
    """The first field of a body that an API does not know, "" if it knows them all."""
    return next((name for name in body if name not in set(known)), "")


def is_host_list(value: Any) -> bool:
    """Whether a value is a list of host names, without scheme or path."""
    return isinstance(value, list) and all(
        isinstance(host, str) and "." in host and on_site(host, host) and "/" not in host
        for host in value
    )


def refusals(
    failed: Callable[..., Reply], denied: str, invalid: tuple[int, str], spent: tuple[int, str]
) -> dict[str, Callable[[], Reply]]:
    """The faults that every API has, in its own words; failed(status, text, headers) writes them.

    limit, toofast, busy: 429, the last two with the seconds to wait.
    """
    wait = {"Retry-After": "1"}
    return {
        "blocked": lambda: failed(403, "This key has no right to search."),
        "denied": lambda: failed(401, denied),
        "invalid": lambda: failed(*invalid),
        "spent": lambda: failed(*spent),
        "toofast": lambda: failed(429, "Too many requests.", wait),
        "busy": lambda: failed(429, "Too many requests.", wait),
        "limit": lambda: failed(429, "Too many requests."),
        "layout": lambda: json_reply({"items": []}),
    }
