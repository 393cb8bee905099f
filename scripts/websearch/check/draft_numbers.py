"""Find the numbers in a draft's sentence, and decide whether a number in a page fits them."""

from __future__ import annotations

import functools
import re
from decimal import Decimal

from websearch.base.numbers import (
    RATIOS,
    UNITS,
    VERSION,
    Number,
    decimals,
    numbers_of,
    scale_powers,
    shown,
)
from websearch.base.words import STOP_WORDS
from websearch.check.page_numbers import (
    ISO_DAY,
    VERSION_OF,
    WORD,
    Occurrence,
    PageNumbers,
    as_grouped,
    dates_in,
    is_version,
    near_words,
    nouns_after,
    values_of,
)
from websearch.check.rounded import Rounding, rounding_of

# Parts, steps, versions and standards: the number is a label, not an amount. without_label keeps
# versions with two points, because they are as exact as an amount.
_LABEL = re.compile(
    r"(?i)\b(?:fig(?:ure)?s?\.?|tables?|sections?|sec\.|chapters?|steps?|pages?|pp?\.|lines?|eqs?\.|equations?"
    r"|appendix|vol(?:ume)?\.?|(versions?)|nos?\.|nr\.|items?|abb(?:ildung)?\.?|tabelle|abschnitt|kapitel|schritt"
    r"|seiten?|tableau|chapitre|étape|tabla|capítulo|paso|figura|capitolo|passo|§+)\s?\d[\d.]*"
    r"(?:\s?(?:[-–,]|and|und|et|y|e|to)\s?\d[\d.]*)*"
    r"|\b(?-i:ISO|RFC|IEC|IEEE|DIN|EN|PEP|CVE|BCP|ANSI|ECMA|UTF|SHA)(?:/[A-Z]+)?[ -]?\d[\d.:-]*"
    r"|\b((?-i:[A-Z])[^\W\d_]*-)\d[\d.]*"
    r"|\bv\d{1,9}\.\d{1,9}(?!\d|\.\d)"
    r"|\b9\d(?:\.\d)?\s?%\s?(?:CI\b|confidence)"
    r"|\b(?:ctrl|alt|shift|cmd|option|meta|win)\s?[-+]\s?\d"
    r"|\b(?:one|1) (?:in|out of) (?:every )?"
    r"(?:two|three|four|five|six|seven|eight|nine|ten|\d{1,3})\b"
    r"|\b(?:two|three|four|five|six|seven|eight|nine)[ -]"
    r"(?:third|quarter|fourth|fifth|sixth|eighth|tenth)s"
)
_SHARE_WORD = re.compile(r"(?i)\b(?:half|twice|doubled?|tripled?|dozens?)\b")
PART = re.compile(r"(?!version)" + _LABEL.pattern.removeprefix("(?i)"), re.IGNORECASE)
_DOTTED = re.compile(r"(\d{1,20}(?:\.\d{1,20}){2,8})|[\s\S]")
# A name and its version or year: Python 3.12, Windows 11, Web Summit 2023. Months are not names.
_NAMED = re.compile(
    r"(?<=[^\W\d_] )([A-Z][^\W\d_]+(?:\.js)?) (\d{1,9}(?:\.\d{1,9})?)(?!\s?[\d%]|[.,]\d)(?=\W|$)"
)
_YEAR_NAME = re.compile(r"\b[A-Z][^\W\d_]{1,30} [A-Z][^\W\d_]{1,30} (?:19|20)\d\d\Z")
NAME_CHARS = 70  # maximum length of two words and a year


class DraftNumber:
    """A number in a sentence of a draft, and the words near it. is_day: it is in a date."""

    def __init__(self, number: Number, sentence: str, is_day: bool) -> None:
        self.number = number
        self.text = number.text
        self.sentence = sentence
        self.is_day = is_day

    @functools.cached_property
    def near(self) -> dict[str, float]:
        """Return the significant words around the number; nearer words weigh more."""
        return near_words(self.sentence, self.number.start, self.number.end)

    @functools.cached_property
    def nouns(self) -> list[str]:
        """Return the two words after the number, as nouns_after does."""
        return nouns_after(self.sentence, self.number)

    def fits(self, found: Occurrence, page: PageNumbers) -> bool:
        """Return whether a number in a page has this number's value, scale and unit."""
        own, its = self.number, found.number
        values = its.scaled or values_of(its)
        if own.unit != its.unit and (ratio := ratio_of(own.unit, its.unit)):
            return any(shown(v * ratio) in values for v in decimals(own.scaled or own.plain))
        if own.unit == "%" and its.unit not in ("%", VERSION):
            shares = {shown(value / 100) for value in decimals(own.plain)}
            if found.cell < 0 or values & (shares - {"0", "1"}):
                return bool(values & (shares - {"0", "1"}))
        if its.unit == "%" and not own.unit:
            parts = {shown(value * 100) for value in decimals(own.plain)}
            if {value for value in own.plain if "." in value} and values & parts:
                return True
        if values & own.scaled or (not its.power and its.scaled and its.plain & own.plain):
            is_same = True
        elif values & own.plain:
            is_same = not own.power or own.power in scale_powers(page.label(found))
        else:
            return False
        if own.unit and its.unit and own.unit != its.unit:
            return False
        is_named = not own.unit or its.unit or has_decimals(own, found)
        return is_same and bool(is_named or page.has_unit(found, own.unit))

    @functools.cached_property
    def rounding(self) -> Rounding | None:
        """Return the range from which the number may be rounded; None if the number is exact."""
        return rounding_of(self.number, self.sentence)

    def rounds(self, found: Occurrence, page: PageNumbers) -> bool:
        """Return whether this number may be rounded from a number in a page within its range."""
        unit, its = self.number.unit, found.number.unit
        is_named = unit and not its and (unit != "%" or found.cell >= 0)
        is_same = unit == its or (is_named and page.has_unit(found, unit))
        return bool(is_same and self.rounding and self.rounding.fits(found.number))

    def note(self, found: Occurrence, page: PageNumbers) -> str:
        """Return a note about the number rounded to this one; "" if the values are equal."""
        return "" if self.fits(found, page) else f"Rounded from {found.number.text}."


# ===== numbers in a draft =========================================================================


def numbers_in(text: str, language: str = "en") -> tuple[list[DraftNumber], list[str]]:
    """Return the numbers in a draft's sentence, and the labels and shares that are not checked."""
    skipped: list[str] = []

    def cover(found: re.Match[str]) -> str:
        if found.re is VERSION_OF and not is_version(found):
            return found[0]
        covered = without_label(found) if found.re is not _NAMED else without_name(found)
        if covered != found[0] and found.re not in (ISO_DAY, VERSION_OF):
            skipped.append(" ".join(found[0].split()))
        return covered

    for pattern in (ISO_DAY, _LABEL, VERSION_OF, _NAMED):
        text = pattern.sub(cover, text)
    skipped += [found[0] for found in _SHARE_WORD.finditer(text)]
    numbers = [as_grouped(number, language) for number in numbers_of(text, language or "en")]
    dates = dates_in(text) if numbers else []
    return [
        DraftNumber(number, text, any(start <= number.start < end for start, end, _ in dates))
        for number in numbers
    ], skipped


def without_label(found: re.Match[str]) -> str:
    """Return a label with its number covered; keep two-point versions unless they name a part."""
    if found.lastindex:  # a version
        return _DOTTED.sub(lambda part: part[1] or "\u2060", found[0])
    return "\u2060" * len(found[0])


def without_name(found: re.Match[str]) -> str:
    """Return a name and number, with the number covered unless it is an amount or in a date."""
    from websearch.base.written_dates import month_number

    behind = WORD.match(found.string, found.end() + 1)
    counted = behind and (behind[0] in UNITS or behind[0].lower() not in STOP_WORDS)
    start = max(0, found.end(2) - NAME_CHARS)
    if _YEAR_NAME.search(found.string, start, found.end(2)):  # "Web Summit 2023 showed"
        counted = False
    if counted or month_number(found[1].lower()) or found[1].lower() in STOP_WORDS:
        return found[0]
    return found[1] + "\u2060" * (len(found[0]) - len(found[1]))


def ratio_of(unit: str, other: str) -> Decimal:
    """Return a unit's value in another unit; 0 if they differ in dimension."""
    (base, ratio), (same, its) = (RATIOS.get(name, (name, Decimal(0))) for name in (unit, other))
    return ratio / its if base == same and its else Decimal(0)


def has_decimals(number: Number, found: Occurrence) -> bool:
    """Return whether a number has decimals and is compared with a cell, which may omit its unit.

    Equal decimals are hardly a coincidence: "+2.739" in a column of gaps is 2.739 seconds.
    """
    return found.cell >= 0 and number.unit != "%" and "." in min(number.plain)
