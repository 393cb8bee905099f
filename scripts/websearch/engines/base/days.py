"""Days of results: convert dates of engines and pages to YYYY-MM-DD in UTC."""

from __future__ import annotations

import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DAY = 86_400.0  # seconds
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_LENGTHS = {  # days
    "minute": 0, "min": 0, "hour": 0, "hr": 0, "day": 1, "week": 7, "month": 30, "year": 365,
}  # fmt: skip
_AGO = r"(?i)(\d{1,4}|an?) (minute|min|hour|hr|day|week|month|year)s? ago"


def utc_day(moment: float) -> str:
    """Return the day of a time (seconds since 1970) as YYYY-MM-DD."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def seconds_of(day: str) -> float:
    """Return the seconds since 1970 of a day (YYYY-MM-DD) in UTC; 0.0 if it does not exist."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
    except (ValueError, OverflowError):
        return 0.0


def day_of(moment: Any) -> str:
    """Return the day of a time (seconds since 1970), "" if it is not plausible."""
    is_number = isinstance(moment, (int, float)) and not isinstance(moment, bool)
    return utc_day(moment) if is_number and 0 < moment < 4_000_000_000 else ""


def day_of_text(moment: object) -> str:
    """Return the day of a date as ISO 8601 or RFC 1123, "" if it is neither."""
    if not isinstance(moment, str):
        return ""
    if iso := re.match(r"\d{4}-\d\d-\d\d", moment):
        return iso[0]
    from email.utils import parsedate

    parts = parsedate(moment[:60])
    return f"{parts[0]:04}-{parts[1]:02}-{parts[2]:02}" if parts else ""


def parse_day(text: str, today: str) -> str:
    """Return a written date as YYYY-MM-DD, "" if it is not understood.

    Understood: ISO 8601, "3 days ago", "yesterday" and the like, "May 2, 2024", "2 May 2024".
    """
    text = text.strip()[:60]
    if iso := re.match(r"(\d{4}-\d\d-\d\d)(?!\d)", text):
        return iso[1] if seconds_of(iso[1]) else ""
    ago = re.match(_AGO, "a day ago" if text.lower() == "yesterday" else text)
    if ago:
        number = int(ago[1]) if ago[1].isdecimal() else 1
        return utc_day(seconds_of(today) - number * _LENGTHS[ago[2].lower()] * DAY)
    month, day, year = r"(?P<month>[A-Za-z]{3})[a-z]*\.?", r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
    spelled = re.match(f"{month} {day},? {year}", text) or re.match(f"{day} {month} {year}", text)
    if not spelled or spelled["month"].lower() not in _MONTHS:
        return ""
    number = _MONTHS.index(spelled["month"].lower()) + 1
    written = f"{spelled['year']}-{number:02}-{int(spelled['day']):02}"
    return written if seconds_of(written) else ""


def with_day(result: dict[str, Any], today: str) -> dict[str, Any]:
    """Return a result whose date is an ISO day, with the engine's own words as age.

    Words without a day, such as "2 months ago", are the age only.
    """
    words = str(result.get("date") or "").strip()
    if not words or re.fullmatch(r"\d{4}(-\d\d){0,2}", words):
        return result
    ago = re.match(_AGO, words)
    day = "" if ago and ago[2].lower() in ("month", "year") else parse_day(words, today)
    others = {name: value for name, value in result.items() if name != "date"}
    if day and words.startswith(day):
        return {**others, "date": day}
    return {**others, **({"date": day} if day else {}), "age": words}


def is_lasting(words: str) -> bool:
    """Return whether words for a date stay true on later days: they contain a year."""
    return bool(re.search(r"(?<!\d)\d{4}(?!\d)", words)) and not re.match(_AGO, words)
