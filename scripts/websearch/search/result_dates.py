"""Dates of results: settled by their pages, compared with periods; warnings on years."""

from __future__ import annotations

import re

from websearch.engines.base.days import DAY, parse_day, seconds_of
from websearch.kit import drop_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Days that a period reaches back; a day more, because dates and days of time zones differ.
PERIOD_DAYS = {"hour": 2, "day": 2, "week": 8, "month": 32, "year": 367}
CHANGED_LATER = 31 * DAY  # after which the change of a page is shown with its date

# Words for "newest" and "now" in the languages of most queries. A query with one of them and a past
# year asks for the newest of a year that is over.
_NOW_WORDS = (
    r"(?i)\b(latest|newest|current(?:ly)?|today|recent|neueste[nrs]?|aktuell\w*|heute|derni(?:er|ère)s?"
    r"|actuel\w*|aujourd'hui|último\w*|última\w*|actual(?:es)?|hoy|ultim[aoei]|attual[ei]|oggi"
    r"|atual|hoje|laatste|nieuwste|vandaag|najnowsz\w*|aktualn\w*|dzisiaj|последн\w*|сегодня"
    r"|son|güncel|bugün)\b|最新|今日|今天|현재|오늘|最近"
)


def year_warning(query: str, today: str) -> str:
    """Return a warning if a query asks for the latest of a past year, else "".

    Models search for the "latest" of the year that their training ended in.
    """
    years = [int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", query)]
    this_year = int(today[:4])
    if not years or max(years) >= this_year or not re.search(_NOW_WORDS, query):
        return ""
    return f"The query names {max(years)} and asks for the latest: it is {this_year} now."


def settled_date(date: str, published: str, today: str) -> str:
    """Return the date of a result: the engine's, or the page's if the engine has none.

    If the two differ by more than a day, the page's own date wins and "(page)" says so.
    """
    page_day = parse_day(published, today)
    if not page_day or not date:
        return date or page_day
    engine_day = parse_day(date, today)
    if not engine_day or abs(seconds_of(engine_day) - seconds_of(page_day)) <= DAY:
        return date
    return f"{page_day} (page)"


def changed_day(date: str, updated: str, today: str) -> str:
    """Return on which day a page was changed, if that is more than a month after its date."""
    changed = parse_day(updated, today)
    later = seconds_of(changed) - seconds_of(parse_day(date, today))
    return changed if later > CHANGED_LATER else ""


def dates_of(page: dict[str, Any], today: str) -> dict[str, str]:
    """Return date and changed of a page from the store, if known."""
    published, updated = page["published"], page.get("updated", "")
    changed = changed_day(published, updated, today)
    return drop_empty({"date": parse_day(published, today), "changed": changed})


def is_in_period(date: str, since: str, today: str) -> bool:
    """Return whether a date may be within a period; one that is not understood may be.

    since: a word of PERIOD_DAYS, a range of days (A..B), or "" for any time.
    """
    day = parse_day(date, today)
    if not day or not since:
        return True
    first, _, last = since.partition("..")
    if last:
        return seconds_of(first) - DAY <= seconds_of(day) <= seconds_of(last) + DAY
    return seconds_of(day) >= seconds_of(today) - PERIOD_DAYS[since] * DAY


def dated_result(result: dict[str, Any], page: dict[str, Any], today: str) -> dict[str, Any]:
    """Return a result with its date settled by its page, and marked if that is an archived copy."""
    from websearch.pages.fetch.archive import archived_fields

    date = settled_date(str(result.get("date", "")), str(page.get("published") or ""), today)
    address = str(page.get("final_url") or "")
    copy = archived_fields(address)
    if copy:
        copy["archived_url"] = address
    changed = changed_day(date, str(page.get("updated") or ""), today)
    return {**result, **drop_empty({"date": date, "changed": changed}), **copy}
