"""Find dates in text as people write them, in the languages of most pages."""

from __future__ import annotations

import functools
import re
from datetime import date, datetime, timedelta, timezone

FIRST_DAY = date(1990, 1, 1)  # before the first web pages
MAX_DATE_CHARS = 200  # characters of text to search for dates
LABEL_CHARS = 25  # characters before a date to search for words such as "updated"

# Month names as written next to a day: en, de, fr, es, pt, it, nl, sv and da, pl, cs, ru, uk, bs,
# tr, ro, hu, id, el, fi, ar. Three letters are enough; the first language wins.
_MONTHS = """
january february march april may june july august september october november december
januar februar märz april mai juni juli august september oktober november dezember
jänner feber maerz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
ledna února března dubna května června července srpna září října listopadu prosince
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
januar februar mart april maj jun jul avgust septembar oktobar novembar decembar
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie
január február március április május június július augusztus szeptember október november december
januari februari maret april mei juni juli agustus september oktober november desember
ιανουαρίου φεβρουαρίου μαρτίου απριλίου μαΐου ιουνίου
ιουλίου αυγούστου σεπτεμβρίου οκτωβρίου νοεμβρίου δεκεμβρίου
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta
heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
"""
_ISO = (
    r"(?<!\d)(\d{4})-(\d\d)-(\d\d)"
    r"([T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?\s?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)?)?(?!\d)"
)
_WORD = r"([^\W\d_]{3,14})\.?"
_GAP = r"[\s.,/-]{1,3}"
_OF = r"(?:(?:de|del|of|d')\s)?"
_CLOCK = r"(?:\d\d:\d\d(?::\d\d)?\s(?:(?:[A-Z]{3,5}|[+-]\d{4})\s)?)?"
_ORDINAL = r"(?:st|nd|rd|th|er|º|ª|\.)?"
# Forms of a date and the order of its numbers: y, m and d, or ? if day or month may come first.
_FORMS = (
    (_ISO, "ymd"),
    (r"(?<!\d)(\d{4})\s?[-/.年년]\s?(\d{1,2})\s?[-/.月월]\s?(\d{1,2})(?!\d)", "ymd"),
    (r"(?<![\d.])(\d{1,2})\s?\.\s?(\d{1,2})\s?\.\s?(\d{4}|\d\d)(?!\d)", "dmy"),
    (r"(?<!\d)(\d{1,2})\s?([-/])\s?(\d{1,2})\s?\2\s?(\d{4}|\d\d)(?!\d)", "?-?y"),
    (rf"(?<!\d)(\d{{1,2}}){_ORDINAL}{_GAP}{_OF}{_WORD}{_GAP}{_OF}(\d{{4}})(?!\d)", "dmy"),
    (rf"{_WORD}\s{{1,3}}(\d{{1,2}}){_ORDINAL}[\s,.]{{1,3}}{_CLOCK}(\d{{4}})(?!\d)", "mdy"),
    (rf"(?<!\d)(\d{{4}})\.?{_GAP}{_WORD}{_GAP}(\d{{1,2}})(?!\d)", "ymd"),
    (r"(?<!\d)(\d{4})(\d\d)(\d\d)(?!\d)", "ymd"),
)
# Labels before an update date.
UPDATED_LABEL = (
    r"(?i)updat|modif|aktualis|geändert|zuletzt|mis à jour|màj|actualiz|aggiornat|atualiz"
    r"|bijgewerkt|gewijzigd|oppdater|uppdater|opdater|обновл|更新|수정"
)


class Written:
    """A date on a page.

    day: the day
    text: the date in ISO 8601, with the time if the page has one
    moment: day and time if they are in UTC, else None
    is_update: whether it is an update date
    """

    __slots__ = ("day", "is_update", "moment", "text")

    def __init__(self, day: date, clock: str, is_update: bool = False) -> None:
        self.day, self.is_update = day, is_update
        clock = re.sub("UTC|GMT", "Z", "T" + re.sub(r"\s", "", clock[1:])) if clock else ""
        self.text = day.isoformat() + clock
        self.moment: datetime | None = None
        if re.search(r"(?:Z|[+-]00:?00)$", clock):
            self.moment = datetime.combine(day, datetime.min.time()) + timedelta(
                hours=int(clock[1:3]), minutes=int(clock[4:6])
            )


def written_dates(text: str, month_first: bool = False) -> list[Written]:
    """Return the possible dates at the beginning of text, in order (see is_possible).

    month_first: whether 1/2/2020 is January 2.
    """
    text = text[:MAX_DATE_CHARS]
    if not re.search(r"\d\d", text):
        return []
    dates: dict[int, Written] = {}
    for pattern, order in _FORMS:
        for match in re.finditer(pattern, text):
            groups = dict(zip(order, match.groups(""), strict=False))
            if "?" in groups:
                groups["d"], groups["m"] = match[1], match[3]
                if (month_first and int(match[1]) < 13) or int(match[3]) > 12:
                    groups["d"], groups["m"] = match[3], match[1]
            day = day_of(groups["y"], groups["m"], groups["d"])
            if day and is_possible(day):
                label = text[max(0, match.start() - LABEL_CHARS) : match.start()]
                clock = match[4] or "" if pattern is _ISO else ""
                is_update = bool(re.search(UPDATED_LABEL, label))
                dates.setdefault(match.end(3), Written(day, clock, is_update))
    return [dates[end] for end in sorted(dates)]


def is_possible(day: date) -> bool:
    """Return whether a page can have this date: neither before FIRST_DAY nor in the future."""
    tomorrow = datetime.now(timezone.utc).date() + timedelta(days=1)  # today in eastern time zones
    return FIRST_DAY <= day <= tomorrow


def day_of(year: str, month: str, day: str) -> date | None:
    """Return the date for a year, month (number or name) and day, or None."""
    number = int(month) if month.isdigit() else month_number(month.lower())
    full_year = int(year) if len(year) == 4 else 2000 + int(year)
    try:
        return date(full_year, number, int(day))
    except ValueError:
        return None


def month_number(word: str) -> int:
    """Return the month number for a word such as "marzo" or "Sept", or 0."""
    names = month_names()
    ends = (len(word), max(3, len(word) - 1), max(3, len(word) - 2))
    return next((names[word[:end]] for end in ends if word[:end] in names), 0)


@functools.lru_cache(1)
def month_names() -> dict[str, int]:
    """Return month name, or beginning of a month name -> number of the month."""
    names: dict[str, int] = {}
    for index, name in enumerate(_MONTHS.split()):
        for end in range(3, len(name) + 1):
            names.setdefault(name[:end], index % 12 + 1)
    return names
