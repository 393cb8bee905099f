"""Dates of results: settled by their pages, read from what engines write; warnings on years."""

from __future__ import annotations

import re
import time

from websearch.kit import drop_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DAY = 86_400.0  # seconds
# Days that a period reaches back; a day more, because dates and days of time zones differ.
PERIOD_DAYS = {"hour": 2, "day": 2, "week": 8, "month": 32, "year": 367}
CHANGED_LATER = 31 * DAY  # after which the change of a page is told beside its date

# Words for "newest" and "now" in the languages of most queries. A query with one of them and a past
# year asks for the newest of a year that is over.
_NOW_WORDS = (
    r"(?i)\b(latest|newest|current(?:ly)?|today|recent|neueste[nrs]?|aktuell\w*|heute|derni(?:er|ère)s?"
    r"|actuel\w*|aujourd'hui|último\w*|última\w*|actual(?:es)?|hoy|ultim[aoei]|attual[ei]|oggi"
    r"|atual|hoje|laatste|nieuwste|vandaag|najnowsz\w*|aktualn\w*|dzisiaj|последн\w*|сегодня"
    r"|son|güncel|bugün)\b|最新|今日|今天|현재|오늘|最近"
)


def utc_day(moment: float) -> str:
    """Return the day of a time (seconds since 1970) as YYYY-MM-DD."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


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
    """Return date and changed of a page from the store, as far as they are known."""
    published, updated = page["published"], page.get("updated", "")
    changed = changed_day(published, updated, today)
    return drop_empty({"date": parse_day(published, today), "changed": changed})


def parse_day(text: str, today: str) -> str:
    """Return a date as YYYY-MM-DD, "" if it is not understood.

    Understood: ISO 8601, "3 days ago" and the like, "May 2, 2024", "2 May 2024".
    """
    text = text.strip()[:60]
    if iso := re.match(r"(\d{4}-\d\d-\d\d)(?!\d)", text):
        return iso[1] if seconds_of(iso[1]) else ""
    lengths = {"minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}
    if ago := re.match(r"(?i)(\d{1,4}) (minute|hour|day|week|month|year)s? ago", text):
        return utc_day(seconds_of(today) - int(ago[1]) * lengths[ago[2].lower()] * DAY)
    months = "jan feb mar apr may jun jul aug sep oct nov dec".split()
    month, day, year = r"(?P<month>[A-Za-z]{3})[a-z]*\.?", r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
    spelled = re.match(f"{month} {day},? {year}", text) or re.match(f"{day} {month} {year}", text)
    if not spelled or spelled["month"].lower() not in months:
        return ""
    number = months.index(spelled["month"].lower()) + 1
    written = f"{spelled['year']}-{number:02}-{int(spelled['day']):02}"
    return written if seconds_of(written) else ""


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


def seconds_of(day: str) -> float:
    """Return the seconds since 1970 of a day (YYYY-MM-DD) in UTC; 0.0 if it does not exist."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
    except (ValueError, OverflowError):
        return 0.0


def dated_result(result: dict[str, Any], page: dict[str, Any], today: str) -> dict[str, Any]:
    """Return a result with its date settled by its page, and marked if that is an archived copy."""
    from websearch.fetching.archive import archived_fields

    date = settled_date(str(result.get("date", "")), str(page.get("published") or ""), today)
    address = str(page.get("final_url") or "")
    copy = archived_fields(address)
    if copy:
        copy["archived_url"] = address
    changed = changed_day(date, str(page.get("updated") or ""), today)
    return {**result, **drop_empty({"date": date, "changed": changed}), **copy}
