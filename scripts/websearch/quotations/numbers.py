"""Numbers of texts, whatever their notation: 1,200 is 1.200 is 1 200 is 1200 is 1.2 thousand."""

from __future__ import annotations

import bisect
import math
import re
from decimal import Decimal, InvalidOperation

from websearch.core.words import UNSPACED

_GROUPING = " \u00a0\u2009\u202f'’"
_LETTER = rf"[^\W{UNSPACED}]"
# Words that multiply, of a few languages, at their beginning.
SCALES = {
    "thousand|tausend|mil(?:le)?\\b|k\\b|тыс": 3,
    "m(?:illi?[oó]n|io\\b|ln\\b|n\\b|\\b)|милл?и|млн": 6,
    "milliard|mrd|billion|bn\\b|b\\b|млрд": 9, "trillion|tn\\b": 12, "[万萬]": 4, "[亿億]": 8,
}  # fmt: skip
_SCALE = "|".join(f"({words})" for words in SCALES)
_NUMBER = re.compile(
    rf"(?<!{_LETTER})(?<!\d[.,])(?:\d{{1,3}}(?:[{_GROUPING}]\d{{3}}){{1,6}}(?!\d)(?:[.,]\d{{1,20}})?"
    rf"|\d{{1,20}}(?:[.,]\d{{1,20}}){{0,8}})(?!\d)(?:[\s-]?(?i:{_SCALE}))?"
)
# Small numbers that prose writes as words, in English.
NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
).split()
_NAME = re.compile(rf"(?i)\b(?:{'|'.join(NAMES)})\b(?:[\s-](?:{_SCALE}))?")
_SIGN = r"[\s-]?(?:[%％٪]|per\s?cent|prozent|pour cent|por ciento|процент)"
_PERCENT = re.compile(rf"(?i){_SIGN}")
# A range or list before the sign: 37 to 70 %.
_PERCENTS = re.compile(
    r"(?i)(?:\s?(?:[-\u2013\u2014,]|to|and|or|bis|und|à|et|y|и)\s?\d[\d.,]{0,9}){0,3}" + _SIGN
)
# Marks such as [12] or [3, 5–7] lead to the list of references; they state nothing.
_REFERENCES = re.compile(r"\[\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3}){0,20}\](?!\()")


def numbers_in(text: str) -> list[tuple[str, set[str]]]:
    """Return the numbers of a draft's sentence as they stand there, each with its possible values.

    A table may give millions without saying so in each cell: 1.2 million may be 1.2 there. What is
    a percentage here must be one there, or a share: 93 % may be 0.93.
    """
    numbers = []
    for found in _NUMBER.finditer(text):
        plain, scaled = values_of(found)
        values = plain | scaled
        if _PERCENT.match(text, found.end()):
            shares = {shown(Decimal(value) / 100) for value in plain if value.count(".") < 2}
            values = {f"{value}%" for value in plain} | (shares - {"0", "1"})
        numbers.append((" ".join(found[0].split()), values))
    return numbers


def values_in(page: str) -> set[str]:
    """Return the possible values of all numbers of a page; in "12 300", there may be two.

    Percentages stand there with their sign, too; in a row of a table any number may be one.
    """
    values: set[str] = set()
    page = _REFERENCES.sub(" ", page)
    rows = [row.span() for row in re.finditer(r"(?m)^\|[^\n]*", page)]
    for found in [*_NUMBER.finditer(page), *_NAME.finditer(page)]:
        plain, scaled = values_of(found)
        here = scaled or plain
        if " " in found[0]:
            here |= {shown(Decimal(part)) for part in found[0].split() if part.isdecimal()}
        row = bisect.bisect_right(rows, (found.start(), math.inf)) - 1
        is_cell = row >= 0 and found.start() < rows[row][1]
        if is_cell or _PERCENTS.match(page, found.end()):
            here |= {f"{value}%" for value in here}
        values |= here
    return values


def values_of(found: re.Match[str]) -> tuple[set[str], set[str]]:
    """Return the possible values of a number, 1.200 as 1200 and 1.2; and those times its scale.

    A single letter may be a unit as well: 5 m is 5 or five millions.
    """
    scales = zip(found.groups(), SCALES.values(), strict=True)
    word, power = next(((word, power) for word, power in scales if word), ("", 0))
    text = found[0][: len(found[0]) - len(word)].strip(f"{_GROUPING}-")
    if not text[0].isdigit():
        plain = {str(NAMES.index(text.lower()))}
    else:
        plain = readings(re.sub(f"[{_GROUPING}]", "", text))
    if not word:
        return plain, set()
    scaled = {shown(Decimal(value).scaleb(power)) for value in plain if value.count(".") < 2}
    return plain, scaled | (plain if len(word) == 1 and word.isascii() else set())


def readings(digits: str) -> set[str]:
    """Return what digits with commas and points may mean; of a version number, itself."""
    signs = re.sub(r"\d", "", digits)
    last = signs[-1:]
    is_grouped = re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", digits)
    values = set()
    if len(set(signs)) < 2 and is_grouped:
        values.add(re.sub("[.,]", "", digits))
    if signs.count(last) == 1 or not signs:  # a decimal sign stands once, the last one
        whole, _, rest = digits.rpartition(last) if last else (digits, "", "")
        values.add(f"{re.sub('[.,]', '', whole)}.{rest}")
    try:
        return {shown(Decimal(value)) for value in values or {digits}}
    except InvalidOperation:
        return {digits}


def shown(value: Decimal) -> str:
    """Return a number in one form: without a point or zeros that say nothing."""
    return format(value.normalize(), "f") if value else "0"
