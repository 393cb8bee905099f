"""Format the numbers in sheets as their number formats specify (ECMA-376, 18.8.30 and 18.8.31).

A date with a day is always written as 2024-01-31, which sorts and is not ambiguous.
"""

from __future__ import annotations

import datetime as dt
import functools
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import NamedTuple

MAX_FORMAT = 255  # characters, as in Excel
MAX_SERIAL = 2_958_466.0  # the number of the day after the year 9999
LARGEST = 1e15  # from this number on, there are more digits than Excel keeps
MAX_PLACES = 12  # decimal places
MAX_DENOMINATOR = 4  # digits
GENERAL = "General"
# Formats that files do not define. In Excel, those for money and dates depend on the country.
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00",
    12: "# ?/?", 13: "# ??/??", 14: "yyyy-mm-dd", 15: "yyyy-mm-dd", 16: "d-mmm", 17: "mmm-yy",
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm",
    37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)",
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0",
    # Money, without its sign, which depends on the country of the program.
    **dict.fromkeys((5, 6, 41, 42), "#,##0"), **dict.fromkeys((7, 8, 43, 44), "#,##0.00"),
    **dict.fromkeys((*range(27, 37), *range(50, 59)), "yyyy-mm-dd"),  # East Asian dates
}  # fmt: skip
_CONDITION = r"(?:\[[^\]]{0,40}\] )?\[(<=|>=|<>|<|>|=)(-?[0-9.]{1,20})\]"
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]{0,255})"|\\(?P<escaped>.)|(?P<skipped>_.|\*.)'
    r"|\[\$(?P<currency>[^\]-]{0,40})(?:-[^\]]{0,40})?\]|\[(?P<elapsed>[hH]+|[mM]+|[sS]+)\]"
    r"|(?P<bracket>\[[^\]]{0,40}\])"
    r"|(?P<half>(?i:AM/PM|A/P))|(?P<general>(?i:General))|(?P<exponent>[Ee][+-])"
    r"|(?P<digit>[0#?])|(?P<sign>[.,/%@;])"
    r"|(?P<moment>[yY]+|[mM]+|[dD]+|[hH]+|[sS]+)|(?P<literal>[^A-Za-z])|(?P<unknown>.)"
)
_MONTHS = (
    "January February March April May June July August September October November December"
).split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_COMPARE = {
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "=": lambda a, b: a == b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "<>": lambda a, b: a != b,
}  # fmt: skip


class Token(NamedTuple):
    """A part of a format. kind: a group of _TOKEN."""

    kind: str
    text: str


class Section(NamedTuple):
    """A section of a format. condition: the numbers that it applies to, such as [<1000]."""

    tokens: list[Token]
    condition: tuple[str, float] | None
    kinds: frozenset[str]  # of the tokens
    simple: tuple[str, str, int, str] | None  # see simple_parts


COMMA, POINT, SEMICOLON = Token("sign", ","), Token("sign", "."), Token("sign", ";")


def number_text(text: str, code: str, first_day: dt.date | None) -> str:
    """Return a number in a format; unformatted if the format cannot be read.

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
    """Return a number in a format; None if the format cannot be read."""
    sections = sections_of(code)
    index = section_index(number, sections)
    tokens, condition, kinds, simple = sections[index]
    if "unknown" in kinds or (abs(number) >= LARGEST and "exponent" not in kinds):
        return None
    if kinds & {"moment", "elapsed"}:
        return moment_text(number, tokens, first_day) if 0 <= number < MAX_SERIAL else None
    value = Decimal(f"{abs(number):.15g}")
    if simple:  # the usual case, which takes a third of the time this way
        before, group, places, after = simple
        rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
        shown = f"{before}{rounded:{group}f}{after}"
    else:
        shown = figure(value, tokens)
    # A second section writes the minus sign itself.
    is_signed = number < 0 and (index == 0 or condition) and re.search("[1-9]", shown)
    return ("-" if is_signed else "") + " ".join(shown.split())


@functools.lru_cache(maxsize=1_000)
def sections_of(code: str) -> list[Section]:
    """Return the sections of a format for numbers."""
    parts: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(code[:MAX_FORMAT]):
        kind = match.lastgroup or ""
        token = Token(kind, match[kind] or "")
        if token == SEMICOLON:
            parts.append([])
        else:
            parts[-1].append(token)
    found = (re.match(_CONDITION, " ".join(token.text for token in part)) for part in parts[:3])
    return [
        Section(
            part,
            (match[1], float(match[2])) if match else None,
            frozenset(kinds),
            simple_parts(part),
        )
        for part, match in zip(parts, found, strict=False)
        for kinds in [[token.kind for token in part]]
    ]


def simple_parts(tokens: list[Token]) -> tuple[str, str, int, str] | None:
    """Return the prefix, grouping, decimal places and suffix of a format such as #,##0.00.

    Returns None for other formats.
    """
    shape = "".join(token.text if token.kind in ("digit", "sign") else "_" for token in tokens)
    found = re.fullmatch(r"(_{0,255})(0|#,##0)(?:\.(0{1,9}))?(_{0,255})", shape)
    if not found or any(token.kind == "exponent" for token in tokens):
        return None
    before, after = tokens[: len(found[1])], tokens[len(tokens) - len(found[4]) :]
    group = "," if "," in found[2] else ""
    return "".join(map(literal, before)), group, len(found[3] or ""), "".join(map(literal, after))


def section_index(number: float, sections: list[Section]) -> int:
    """Return the index of the section for a number."""
    if any(section.condition for section in sections):
        for index, section in enumerate(sections):
            condition = section.condition
            if not condition or _COMPARE[condition[0]](number, condition[1]):
                return index
        return len(sections) - 1
    index = 1 if number < 0 else 2 if number == 0 else 0
    return index if index < len(sections) else 0


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
    for index, token in enumerate(tokens):
        if token.kind == "exponent":
            return scientific(value, tokens[:index], token.text, tokens[index + 1 :])
        if token == ("sign", "/") and index:
            return fraction(value, tokens[:index], tokens[index + 1 :])
    return decimal(value, tokens)


def literal(token: Token) -> str:
    """Return the text for a token that is not a digit."""
    kinds = ("quoted", "escaped", "currency", "literal", "sign")
    return token.text if token.kind in kinds and token != COMMA else ""


def decimal(value: Decimal, tokens: list[Token]) -> str:
    """Return a number in a format such as #,##0.0, with literals among its digits."""
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


def scientific(value: Decimal, mantissa: list[Token], sign: str, exponent: list[Token]) -> str:
    """Return a number as a mantissa and a power of ten."""
    point = mantissa.index(POINT) if POINT in mantissa else len(mantissa)
    step = max(1, sum(token.kind == "digit" for token in mantissa[:point]))
    places = sum(token.kind == "digit" for token in mantissa[point:])
    power = value.adjusted() // step * step if value else 0
    if value and round(value.scaleb(-power), min(places, MAX_PLACES)).adjusted() >= step:
        power += step
    width = sum(token.kind == "digit" for token in exponent)
    minus_or_plus = "-" if power < 0 else sign[1:].replace("-", "")
    rest = "".join(literal(token) for token in exponent if token.kind != "digit")
    return f"{decimal(value.scaleb(-power), mantissa)}E{minus_or_plus}{abs(power):0{width}d}{rest}"


def fraction(value: Decimal, before: list[Token], after: list[Token]) -> str:
    """Return a number as a mixed number or a fraction, depending on the format: 1 1/2, 3/2."""
    below = re.match(r"\s*([1-9]\d{0,3}|[?#0]{1,9})", "".join(token.text for token in after))
    if not below:
        raise ValueError("a fraction without a denominator")
    if below[1][0] in "?#0":
        most = 10 ** min(len(below[1]), MAX_DENOMINATOR) - 1
        number = Fraction(value).limit_denominator(most)
        top, bottom = number.numerator, number.denominator
    else:
        bottom = int(below[1])
        top = round(Fraction(value) * bottom)
    kinds = "".join("d" if token.kind == "digit" else " " for token in before).strip()
    whole, top = divmod(top, bottom) if " " in kinds else (0, top)
    parts = [str(whole)] if whole or not top else []
    parts += [f"{top}/{bottom}"] if top else []
    units = "".join(token.text for token in after if token.kind == "quoted")
    return " ".join(parts) + units


# ===== dates and times ============================================================================


def moment_text(number: float, tokens: list[Token], first_day: dt.date | None) -> str:
    """Return a number of days as a date, a time or a duration.

    A date with a day is 2024-01-31, followed by any time other than midnight: 2024-01-31 13:45.
    """
    places = sum(token.text == "0" for token in tokens)
    seconds = round(Decimal(f"{number:.15g}") * 86_400, min(places, MAX_PLACES))
    days, clock = divmod(seconds, 86_400)
    # Excel counts February 29, 1900, which never existed, so earlier days are numbered one lower.
    base = first_day or dt.date(1899, 12, 31 if number < 60 else 30)
    parts = [token.text for token in moments(tokens) if token.kind == "moment"]
    letters = {part[0].lower(): len(part) for part in parts}
    if {"y", "d"} <= letters.keys() and letters["d"] < 3:
        day = (base + dt.timedelta(int(days))).isoformat()
        time = f" {int(clock) // 3_600:02d}:{int(clock) // 60 % 60:02d}:{int(clock) % 60:02d}"
        return day + (time.removesuffix(":00") if "h" in letters and clock else "")
    is_half_day = any(token.kind == "half" for token in tokens)
    date = base + dt.timedelta(int(days))
    shown = []
    digits = iter(f"{seconds % 1:f}"[2:])
    for token in moments(tokens):
        if token.kind == "moment":
            shown.append(moment_part(token.text, date, int(clock), is_half_day))
        elif token.kind == "elapsed":
            unit = {"h": 3_600, "m": 60, "s": 1}[token.text[0].lower()]
            shown.append(str(int(seconds) // unit).zfill(len(token.text)))
        elif token.kind == "half":
            shown.append("AM" if clock < 43_200 else "PM")
        else:
            shown.append(next(digits, "0") if token.kind == "digit" else literal(token))
    return " ".join("".join(shown).split())


def moments(tokens: list[Token]) -> list[Token]:
    """Return tokens with n instead of m for minutes: after hours or before seconds."""
    result = list(tokens)
    places = [at for at, token in enumerate(tokens) if token.kind in ("moment", "elapsed")]
    letters = [tokens[at].text[0].lower() for at in places]
    for index, at in enumerate(places):
        is_minute = (
            "h" in letters[max(0, index - 1) : index] or "s" in letters[index + 1 : index + 2]
        )
        if letters[index] == "m" and tokens[at].kind == "moment" and is_minute:
            result[at] = Token("moment", "n" * len(tokens[at].text))
    return result


def moment_part(letters: str, date: dt.date, clock: int, is_half_day: bool) -> str:
    """Return a part of a date or time. letters: its letters in the format, with n for minutes."""
    kind, count = letters[0].lower(), len(letters)
    names = {"m": _MONTHS[date.month - 1], "d": _DAYS[date.weekday()]}
    if kind in names and count > 2:
        return names[kind][: 3 if count == 3 else 1 if count == 5 else None]
    hour = clock // 3_600
    value = {
        "y": date.year if count > 2 else date.year % 100,
        "m": date.month, "d": date.day, "n": clock // 60 % 60, "s": clock % 60,
        "h": (hour - 1) % 12 + 1 if is_half_day else hour,
    }[kind]  # fmt: skip
    return str(value).zfill(min(count, 2))
