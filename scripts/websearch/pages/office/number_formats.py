"""Format numbers in sheets as their number formats specify (ECMA-376, 18.8.30 and 18.8.31).

A date with a day is always written as 2024-01-31, which sorts well and is unambiguous.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

MAX_FORMAT = 255  # characters of a format, as in Excel
MAX_SERIAL = 2_958_466.0  # the number of the first day after the year 9999
LARGEST = 1e15  # numbers from here on have more digits than Excel keeps
MAX_PLACES = 12  # decimal places
GENERAL = "General"
# Formats that files do not define. In Excel, those for money and dates depend on the country.
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 14: "yyyy-mm-dd",
    15: "yyyy-mm-dd", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
    37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    # Money without its symbol, which depends on the country setting of the program.
    **dict.fromkeys((5, 6, 41, 42), "#,##0"), **dict.fromkeys((7, 8, 43, 44), "#,##0.00"),
    **dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd"),  # East Asian dates
}  # fmt: skip
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]{0,255})"|\\(?P<escaped>.)|(?P<skipped>_.|\*.)'
    r"|\[\$(?P<currency>[^\]-]{0,40})(?:-[^\]]{0,40})?\]|\[(?P<elapsed>[hH]+|[mM]+|[sS]+)\]"
    r"|(?P<bracket>\[[A-Za-z0-9 ]{0,40}\])"
    r"|(?P<half>(?i:AM/PM|A/P))|(?P<general>(?i:General))"
    r"|(?P<digit>[0#?])|(?P<sign>[.,/%@;])"
    r"|(?P<moment>[yY]+|[mM]+|[dD]+|[hH]+|[sS]+)|(?P<literal>[^A-Za-z\[])|(?P<unknown>.)"
)


class Token(NamedTuple):
    """A part of a format. kind: a group of _TOKEN."""

    kind: str
    text: str


class Section(NamedTuple):
    """A section of a format: for positive numbers, negative numbers or zero."""

    tokens: list[Token]
    kinds: frozenset[str]  # kinds of the tokens
    simple: tuple[str, str, int, str] | None  # see simple_parts


_UNITS = {"h": (3_600, 24), "n": (60, 60), "s": (1, 60)}  # seconds per unit, and its limit
COMMA, POINT, SEMICOLON = Token("sign", ","), Token("sign", "."), Token("sign", ";")


def number_text(text: str, code: str, first_day: dt.date | None) -> str:
    """Return a formatted number; unformatted if the format cannot be read.

    code: the format. first_day: day 0 of dates (None: Excel's day 0, in 1899).
    """
    try:
        number = float(text)
    except ValueError:
        return text
    if not math.isfinite(number):
        return text
    try:
        shown = None if code in ("", GENERAL, "@") else formatted(number, code, first_day)
    except (ArithmeticError, ValueError):  # too many digits or days, malformed conditions
        shown = None
    return general(number) if shown is None else shown


def general(number: float) -> str:
    """Return an unformatted number with as many digits as a sheet keeps."""
    return str(int(number)) if abs(number) < LARGEST and number % 1 == 0 else f"{number:.15g}"


def formatted(number: float, code: str, first_day: dt.date | None) -> str | None:
    """Return a number in a format.

    Return None if the format cannot be read, such as one for fractions or powers of ten or one with
    conditions.
    """
    sections = sections_of(code)
    index = 1 if number < 0 else 2 if number == 0 else 0
    index = index if index < len(sections) else 0
    tokens, kinds, simple = sections[index]
    if "unknown" in kinds or abs(number) >= LARGEST:
        return None
    if kinds & {"moment", "elapsed"}:
        return moment_text(number, tokens, first_day) if 0 <= number < MAX_SERIAL else None
    if "digit" in kinds and ("sign", "/") in tokens:
        return None
    value = Decimal(f"{abs(number):.15g}")
    if simple:  # the usual case, which takes a third of the time this way
        before, group, places, after = simple
        rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
        shown = f"{before}{rounded:{group}f}{after}"
    else:
        shown = figure(value, tokens)
    # A second section writes the minus sign itself.
    is_signed = number < 0 and index == 0 and re.search("[1-9]", shown)
    return ("-" if is_signed else "") + " ".join(shown.split())


@functools.lru_cache(maxsize=1_000)
def sections_of(code: str) -> list[Section]:
    """Return the sections of a number format."""
    parts: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code[:MAX_FORMAT]):
        kind = match.lastgroup or ""
        token = Token(kind, match[kind] or "")
        if token == SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    return [
        Section(part, frozenset(token.kind for token in part), simple_parts(part))
        for part in parts[:3]
    ]


def simple_parts(tokens: list[Token]) -> tuple[str, str, int, str] | None:
    """Return the prefix, grouping, decimal places and suffix of a format such as #,##0.00.

    Return None for other formats.
    """
    shape = "".join(token.text if token.kind in ("digit", "sign") else "_" for token in tokens)
    found = re.fullmatch(r"(_{0,255})(0|#,##0)(?:\.(0{1,9}))?(_{0,255})", shape)
    if not found:
        return None
    before, after = tokens[: len(found[1])], tokens[len(tokens) - len(found[4]) :]
    group = "," if "," in found[2] else ""
    return "".join(map(literal, before)), group, len(found[3] or ""), "".join(map(literal, after))


# ===== numbers ====================================================================================


def figure(value: Decimal, tokens: list[Token]) -> str:
    """Return a nonnegative number as formatted by a section's tokens."""
    value = value.scaleb(2 * sum(token == ("sign", "%") for token in tokens))
    if not any(token.kind == "digit" for token in tokens):
        return "".join(
            general(float(value)) if token.kind == "general" or token == ("sign", "@")
            else literal(token)
            for token in tokens
        )  # fmt: skip
    return decimal(value, tokens)


def literal(token: Token) -> str:
    """Return the text for a token that is not a digit."""
    kinds = ("quoted", "escaped", "currency", "literal", "sign")
    return token.text if token.kind in kinds and token != COMMA else ""


def decimal(value: Decimal, tokens: list[Token]) -> str:
    """Return a number in a format such as #,##0.0, including literals among its digits."""
    point = next((at for at, token in enumerate(tokens) if token == POINT), len(tokens))
    whole, rest = tokens[:point], tokens[point + 1 :]
    digits = [at for at, token in enumerate(whole) if token.kind == "digit"]
    first, last = (digits[0], digits[-1]) if digits else (len(whole), len(whole))
    is_comma = [token == COMMA for token in whole]
    is_grouped = any(is_comma[first:last])
    thousands = sum(is_comma[last:]) + sum(token == COMMA for token in rest)
    places = [token.text for token in rest if token.kind == "digit"][:MAX_PLACES]
    value = value.scaleb(-3 * thousands)
    rounded = value.quantize(Decimal(1).scaleb(-len(places)), ROUND_HALF_UP)
    before, _, after = f"{rounded:f}".partition(".")
    while after and places[len(after) - 1] != "0" and after[-1] == "0":
        after = after[:-1]
    left = list(before.lstrip("0"))
    shown = [] if digits else left[::-1]
    count = 0
    for at in range(len(whole) - 1, -1, -1):  # from the ones digit to the left
        if whole[at].kind != "digit":
            shown.append(literal(whole[at]))
            continue
        taken = [left.pop()] if left else ["0"] if whole[at].text == "0" else []
        for digit in [*taken, *(left[::-1] if at == first else [])]:
            shown.append(f"{digit}," if is_grouped and count and count % 3 == 0 else digit)
            count += 1
    following = iter(after)
    tail = [next(following, "") if token.kind == "digit" else literal(token) for token in rest]
    return "".join(reversed(shown)) + ("." if after else "") + "".join(tail)


# ===== dates and times ============================================================================


def moment_text(number: float, tokens: list[Token], first_day: dt.date | None) -> str:
    """Return a number of days as a date, time or duration: 2024-01-31 13:45, 30:00.

    A date is 2024-01 or 2024 if its format has no day. Midnight is omitted after a date.
    """
    places = min(sum(token.text == "0" for token in tokens), MAX_PLACES)
    seconds = round(Decimal(f"{number:.15g}") * 86_400, places)
    # Excel counts February 29, 1900, which never existed, so earlier days are numbered one lower.
    base = first_day or dt.date(1899, 12, 31 if number < 60 else 30)
    letters = moments(tokens)
    shown = ""
    if {"y", "m", "d"} & set(letters):
        shown = (base + dt.timedelta(int(seconds) // 86_400)).isoformat()
        if "d" not in letters and "y" in letters:
            shown = shown[: 7 if "m" in letters else 4]
    units = [letter for letter in "hns" if letter in letters]
    if not units or (shown and not seconds % 86_400):
        return shown
    is_total = any(token.kind == "elapsed" for token in tokens)
    counts = [int(seconds) // _UNITS[unit][0] % _UNITS[unit][1] for unit in units]
    if is_total:
        counts[0] = int(seconds) // _UNITS[units[0]][0]
    clock = ":".join(f"{count:02d}" for count in (counts if units != ["h"] else [*counts, 0]))
    return f"{shown} {clock}".strip() + (f"{seconds % 1:f}"[1:] if places else "")


def moments(tokens: list[Token]) -> list[str]:
    """Return the letters of a format, with n for minutes: an m after hours or before seconds."""
    units = [token for token in tokens if token.kind in ("moment", "elapsed")]
    letters = [unit.text[0].lower() for unit in units]
    for index, unit in enumerate(units):
        is_near = "h" in letters[max(0, index - 1) : index] or "s" in letters[index + 1 :][:1]
        is_minute = unit.kind == "elapsed" or is_near
        if letters[index] == "m" and is_minute:
            letters[index] = "n"
    return letters
