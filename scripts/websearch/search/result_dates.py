"""Check result dates against pages and periods; warn about past years in queries."""

from __future__ import annotations

import re

from websearch.engines.base.days import DAY, parse_day, seconds_of
from websearch.kit import drop_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Days that a period reaches back, plus one because days differ between time zones.
PERIOD_DAYS = {"hour": 2, "day": 2, "week": 8, "month": 32, "year": 367}
CHANGED_LATER = 31 * DAY  # seconds between a page's date and a later change that is also shown

# Words for "newest" and "now" in the languages of most queries. A query with one of them and a past
# year asks for the latest from a year that is over.
_NOW_WORDS = (
    r"(?i)\b(latest|newest|current(?:ly)?|today|recent|neueste[nrs]?|aktuell\w*|heute|derni(?:er|ère)s?"
    r"|actuel\w*|aujourd'hui|último\w*|última\w*|actual(?:es)?|hoy|ultim[aoei]|attual[ei]|oggi"
    r"|atual|hoje|laatste|nieuwste|vandaag|najnowsz\w*|aktualn\w*|dzisiaj|последн\w*|сегодня"
    r"|son|güncel|bugün)\b|最新|今日|今天|현재|오늘|最近"
)


def year_warning(query: str, today: str) -> str:
    """Return a warning if a query asks for the latest from a past year, else "".

    Models search for the "latest" from the year in which their training ended.
    """
    years = [int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", query)]
    this_year = int(today[:4])
    if not years or max(years) >= this_year or not re.search(_NOW_WORDS, query):
        return ""
    return f"The query asks for the latest from {max(years)}, but it is {this_year} now."


def settled_date(date: str, published: str, today: str) -> str:
    """Return a result's date: the engine's, or the page's if the engine has none.

    If the two differ by more than a day, the page's date wins, followed by "(page)".
    """
    page_day = parse_day(published, today)
    if not page_day or not date:
        return date or page_day
    engine_day = parse_day(date, today)
    if not engine_day or abs(seconds_of(engine_day) - seconds_of(page_day)) <= DAY:
        return date
    return f"{page_day} (page)"


def changed_day(date: str, updated: str, today: str) -> str:
    """Return the day of a page's last change if that is over a month after its date, else ""."""
    changed = parse_day(updated, today)
    later = seconds_of(changed) - seconds_of(parse_day(date, today))
    return changed if later > CHANGED_LATER else ""


def dates_of(page: dict[str, Any], today: str) -> dict[str, str]:
    """Return the date and changed fields for a stored page, if known."""
    published, updated = page["published"], page.get("updated", "")
    changed = changed_day(published, updated, today)
    return drop_empty({"date": parse_day(published, today), "changed": changed})


def is_in_period(date: str, since: str, today: str) -> bool:
    """Return whether a date may be within a period; True if the date cannot be parsed.

    since: a key of PERIOD_DAYS, a range of days (A..B), or "" for any time.
    """
    day = parse_day(date, today)
    if not day or not since:
        return True
    first, _, last = since.partition("..")
    if last:
        return seconds_of(first) - DAY <= seconds_of(day) <= seconds_of(last) + DAY
    return seconds_of(day) >= seconds_of(today) - PERIOD_DAYS[since] * DAY


def dated_result(result: dict[str, Any], page: dict[str, Any], today: str) -> dict[str, Any]:
    """Return a result with its date checked against its page, plus any archived-copy fields."""
    from websearch.pages.fetch.archive import archived_fields

    date = settled_date(str(result.get("date", "")), str(page.get("published") or ""), today)
    address = str(page.get("final_url") or "")
    copy = archived_fields(address)
    if copy:
        copy["archived_url"] = address
    changed = changed_day(date, str(page.get("updated") or ""), today)
    return {**result, **drop_empty({"date": date, "changed": changed}), **copy}
