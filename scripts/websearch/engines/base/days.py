"""Dates of results: parse what engines and pages write, and compare it with a period."""

from __future__ import annotations

import functools
import re
import time

from websearch.kit import drop_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DAY = 86_400.0  # seconds
MAX_CHARS = 60  # in a written date
CHANGED_LATER = 31 * DAY  # seconds between a page's date and a later change that is also shown
# Seconds in the periods of the parameter since.
_PERIODS = {
    "hour": 3_600, "day": 86_400, "week": 604_800, "month": 2_678_400, "year": 31_622_400,
}  # fmt: skip
# Seconds of a unit -> its words: en, de, es, fr, pt, it, nl, sv, pl, ru, tr, id, zh, ja, ko.
_UNITS = {
    1: "second seconds sec secs sekunde sekunden segundo segundos seconde secondes secondi seconden"
    " sekunder sekund секунд секунды saniye detik 秒 초",
    60: "minute minutes min mins minuten minuto minutos minuti minuter minut minuty минут минуты"
    " минуту dakika menit 分 分钟 分鐘 분",
    3_600: "hour hours hr hrs h stunde stunden std hora horas heure heures ora ore uur uren timme"
    " timmar godzina godziny godzin godzinę час часа часов saat jam 時間 小时 小時 시간",
    86_400: "day days d tag tage tagen día días dia dias jour jours giorno giorni dag dagen dagar"
    " dni dzień день дня дней gün hari 日 天 일",
    604_800: "week weeks woche wochen semana semanas semaine semaines settimana settimane weken"
    " vecka veckor tydzień tygodnie tygodni неделя неделю недели недель hafta minggu"
    " 週間 周 週 주 星期",
    2_592_000: "month months mo monat monate monaten mes meses mês mois mese mesi maand maanden"
    " månad månader miesiąc miesiące miesięcy месяц месяца месяцев ay bulan か月 ヶ月 カ月 个月"
    " 個月 月 개월 달",
    31_536_000: "year years yr yrs jahr jahre jahren año años ano anos an ans année années anno"
    " anni jaar år rok lata lat год года лет yıl tahun 年 년",
}  # fmt: skip
_ONE = "a an one ein eine einem einer un una une uma um een en ett bir".split()
_BEFORE = r"(?:vor|hace|il y a|há|för) "
_AFTER = r" ?(?:ago|atrás|fa|geleden|sedan|temu|назад|önce|(?:yang )?lalu|以前|之前|前|전)"
_AGO = (
    rf"(?P<before>{_BEFORE})?(?P<number>\d{{1,4}}|[^\W\d_]{{1,5}}(?= )) ?"
    rf"(?P<unit>[^\W\d]+?)(?P<after>{_AFTER})?"
)
# Days ago -> the words for such a day.
_NEAR_DAYS = {
    0: "today heute hoy aujourd'hui hoje oggi vandaag dzisiaj сегодня bugün 今日 今天 오늘",
    1: "yesterday gestern ayer hier ontem ieri gisteren wczoraj вчера dün 昨日 昨天 어제",
}
_ISO = (
    r"(\d{4}-\d\d-\d\d)(?!\d)"
    r"(?:[T ](\d\d):(\d\d)(?::(\d\d))?(?:[.,]\d{1,9})?\s?([+-]\d\d)?)?"
)


def utc_day(moment: float) -> str:
    """Return the date of a timestamp (seconds since 1970) as YYYY-MM-DD."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def seconds_of(day: str) -> float:
    """Return the start of a date (YYYY-MM-DD, UTC) in seconds since 1970; 0.0 if it is invalid."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
    except (ValueError, OverflowError):
        return 0.0


def day_of(moment: Any) -> str:
    """Return the date of a timestamp (seconds since 1970), "" if it is not plausible."""
    is_number = isinstance(moment, (int, float)) and not isinstance(moment, bool)
    return utc_day(moment) if is_number and 0 < moment < 4_000_000_000 else ""


def day_of_text(moment: object) -> str:
    """Return the date in an ISO 8601 or RFC 1123 time, "" if it is neither."""
    if not isinstance(moment, str):
        return ""
    if iso := re.match(r"\d{4}-\d\d-\d\d", moment):
        return iso[0]
    from email.utils import parsedate

    parts = parsedate(moment[:MAX_CHARS])
    return f"{parts[0]:04}-{parts[1]:02}-{parts[2]:02}" if parts else ""


def moment_of(text: str, now: float) -> float | None:
    """Return a written date as seconds since 1970; None if it is not recognized.

    Recognized in many languages: ISO 8601, with or without a time; "3 days ago", "yesterday"; dates
    such as "May 2, 2024" and "24.11.2026". A date without a time means its start in UTC.
    """
    text = text.strip()[:MAX_CHARS]
    if iso := re.match(_ISO, text):
        day = seconds_of(iso[1])
        hours, minutes, seconds, zone = (int(part or 0) for part in iso.groups()[1:])
        return day + 3_600 * (hours - zone) + 60 * minutes + seconds if day else None
    if ago := seconds_ago(text):
        return now - ago[0] * ago[1]
    from websearch.base.written_dates import written_dates

    written = written_dates(text)
    return seconds_of(written[0].day.isoformat()) if written else None


def seconds_ago(text: str) -> tuple[int, int] | None:
    """Return the number and the unit's seconds in text such as "3 days ago", or None."""
    words = text.lower().replace("\xa0", " ")
    for days, names in _NEAR_DAYS.items():
        if words in names.split():
            return days, int(DAY)
    match = re.fullmatch(_AGO, words)
    if not match or not (match["before"] or match["after"]):
        return None
    unit = unit_seconds().get(match["unit"])
    number = 1 if match["number"] in _ONE else match["number"]
    return (int(number), unit) if unit and str(number).isdecimal() else None


@functools.lru_cache(1)
def unit_seconds() -> dict[str, int]:
    """Return word for a unit of time -> seconds."""
    return {word: seconds for seconds, words in _UNITS.items() for word in words.split()}


def parse_day(text: str, now: float) -> str:
    """Return a written date as YYYY-MM-DD, "" if it is not recognized; see moment_of."""
    moment = moment_of(text, now)
    return utc_day(moment) if moment else ""


def with_day(result: dict[str, Any], now: float) -> dict[str, Any]:
    """Return a result whose date is an ISO date, with the engine's own words as age.

    Words that do not name a day, such as "2 months ago", become the age only.
    """
    words = str(result.get("date") or "").strip()
    if not words or re.fullmatch(r"\d{4}(-\d\d){0,2}", words):
        return result
    others = {name: value for name, value in result.items() if name != "date"}
    if re.match(_ISO, words) and seconds_of(words[:10]):
        return {**others, "date": words[:10]}
    ago = seconds_ago(words)
    day = "" if ago and ago[1] > 7 * DAY else parse_day(words, now)
    return {**others, **({"date": day} if day else {}), "age": words}


def has_time(words: str) -> bool:
    """Return whether a written date is more precise than a day."""
    ago = seconds_ago(words)
    return bool(ago and ago[1] < DAY) or bool(re.search(r"\d:\d\d", words))


def is_lasting(words: str) -> bool:
    """Return whether a written date stays true on later days: it contains a year."""
    return bool(re.search(r"(?<!\d)\d{4}(?!\d)", words)) and not seconds_ago(words)


# ===== periods ====================================================================================


def period(since: str, now: float) -> tuple[int, int]:
    """Return (start, end) for a named period or a date range, in seconds since 1970, UTC."""
    first, _, last = since.partition("..")
    if last:
        return int(seconds_of(first)), int(seconds_of(last) + DAY) - 1
    return int(now) - _PERIODS[since], int(now)


def is_in_period(moment: float | None, since: str, now: float) -> bool:
    """Return whether a date may be within a period; True if it is unknown.

    since: see period; "" means any time. Dates differ by time zone, so one extra day counts.
    """
    if moment is None or not since:
        return True
    start, end = period(since, now)
    return start - DAY <= moment <= end + DAY


# ===== results and their pages ====================================================================


def settled_date(date: str, published: str, now: float) -> str:
    """Return a result's date: the engine's, or the page's if the engine has none.

    If the two differ by more than a day, the page's date wins, followed by "(page)".
    """
    page_day = parse_day(published, now)
    if not page_day or not date:
        return date or page_day
    engine_day = parse_day(date, now)
    if not engine_day or abs(seconds_of(engine_day) - seconds_of(page_day)) <= DAY:
        return date
    return f"{page_day} (page)"


def changed_day(date: str, updated: str, now: float) -> str:
    """Return the date of a page's last change if it is over a month after its date, else ""."""
    changed = parse_day(updated, now)
    later = seconds_of(changed) - seconds_of(parse_day(date, now))
    return changed if later > CHANGED_LATER else ""


def dates_of(page: dict[str, Any], now: float) -> dict[str, str]:
    """Return the date and changed fields for a stored page, if known."""
    published, updated = page["published"], page.get("updated", "")
    changed = changed_day(published, updated, now)
    return drop_empty({"date": parse_day(published, now), "changed": changed})
