"""Numbers in text, in any notation: 1,200 is 1.200 is 1 200 is 1200 is 1.2 thousand.

A number has values (the possible meanings of its digits or words), a scale, a unit and a position.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from decimal import Decimal, InvalidOperation
from typing import NamedTuple

from websearch.base.number_words import number_words
from websearch.base.words import UNSPACED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_GROUPING = " \u00a0\u2009\u202f'’"
_LETTER = rf"[^\W{UNSPACED}]"
# Beginnings of words for multipliers, in a few languages.
SCALES = {
    "hundred|hundert": 2,
    "thousand|tausend|mil(?:le)?\\b|k\\b|тыс": 3,
    "m(?:illi?[oó]n|io\\b|ln\\b|n\\b|\\b(?![/²³]))|милл?и|млн": 6,
    "milliard|mrd|billion|bn\\b|b\\b|млрд": 9, "trillion|tn\\b": 12, "[万萬]": 4, "[亿億]": 8,
}  # fmt: skip
_SCALE = "|".join(f"({words})" for words in SCALES)
_WRITTEN_SCALE = re.compile(rf"(?i)(?<!{_LETTER})(?<!\d)(?<!\d[\s-])(?:{_SCALE})")
# Where digits may begin: not in a word and not in an exponent. Versions may follow letters (v4.7,
# go1.21.5), or "^" in a list of packages.
_BEGIN = (
    rf"(?:(?:(?<!{_LETTER})|(?<=[¼½¾]))(?:(?<!\^)|[vV](?=\d{{1,9}}\.\d))"
    r"|(?<!\d)(?=\d{1,9}\.\d{1,9}\.\d))"
)
_DIGITS = (
    rf"(?<!\d[.,])(?:\d{{1,3}}(?:[{_GROUPING}]\d{{3}}){{1,6}}(?!\d)(?:[.,]\d{{1,20}})?"
    r"|\d{1,3}(?::[0-5]\d){1,2}(?!:?\d)(?:[.,]\d{1,6})?"  # a time: 1:20.502
    r"|\d{1,20}(?:[.,]\d{1,20}){0,8})(?!\d)"
)
# A power of ten: 10^9, 3 × 10⁸, 1.5e-3. After a bare 10, it applies to the 10 itself.
_POWER = (
    r"(?:(?:(?<=(?<!\d)10)|\s?[×x·*]\s?10)(?:(?:\^|\*\*)\{?[-−+]?\d{1,2}|⁻?[⁰¹²³⁴-⁹]{1,2})"
    r"|[eE][-+]?\d{1,2})"
    rf"(?!\d|{_LETTER})"
)
_SIGN = r"[\s-]?(?:[%％٪]|per\s?cent|prozent|pour cent|por ciento|процент)"
# A range or list before the percent sign: 37 to 70 %.
_PERCENTS = re.compile(
    r"(?i)(?:\s?(?:[-\u2013\u2014,]|to|and|or|bis|und|à|et|y|и)\s?\d[\d.,]{0,9}){0,3}" + _SIGN
)
_PERCENT = re.compile(rf"(?i){_SIGN}")
# Units, one per line: in English, then in German, French, Spanish and Italian.
_UNITS = """
second seconds sec secs sekunde sekunden seconde secondes segundo segundos secondo secondi
minute minutes min mins minuten minuto minutos minuti
hour hours hr hrs h stunde stunden heure heures hora horas ora ore
day days tag tage tagen jour jours día días giorno giorni
week weeks wk wks woche wochen semaine semaines semana semanas settimana settimane
month months monat monate monaten mois mes meses mese mesi
year years yr yrs jahr jahre jahren ans année années año años anno anni
ms millisecond milliseconds msec millisekunde millisekunden
us µs μs microsecond microseconds
ns nanosecond nanoseconds
mm millimeter millimeters millimetre millimetres millimètre millimètres milímetros millimetri
cm centimeter centimeters centimetre centimetres zentimeter centimètre centimètres centimetri
m meter meters metre metres metern mètre mètres metros metri
km kilometer kilometers kilometre kilometres kilomètre kilomètres kilómetros chilometri
m² m2 sqm
km² km2
mile miles mi meile meilen milles millas miglia
foot feet ft fuß pied pieds pies piedi
inch inches zoll pouces pulgadas pollici
ug µg μg mcg microgram micrograms
mg milligram milligrams milligramm milligramme milligrammes miligramos milligrammi
g gram grams gramme grammes gramm gramos grammi
kg kilogram kilograms kilo kilos kilogramm kilogramme kilogrammes kilogramos chilogrammi
ton tons tonne tonnes tonnen toneladas tonnellate
lb lbs pounds
bit bits
byte bytes
kb kilobyte kilobytes
mb megabyte megabytes
gb gigabyte gigabytes
tb terabyte terabytes
kib kibibyte kibibytes
mib mebibyte mebibytes
gib gibibyte gibibytes
kbit kbps kbit/s kilobit kilobits
mbit mbps mbit/s megabit megabits
gbit gbps gbit/s gigabit gigabits
hz hertz
khz kilohertz
mhz megahertz
ghz gigahertz
w watt watts
kw kilowatt kilowatts
mw megawatt megawatts
gw gigawatt gigawatts
kwh
mwh
gwh
twh
km/h kmh kph
mph
m/s
ml milliliter milliliters millilitre millilitres
gallon gallons gal
l liter liters litre litres litern litros litri
hectare hectares ha hektar hectáreas ettari
knot knots kn knoten nœuds nudos nodi
hp horsepower ps pferdestärken
cent cents
$ usd dollar dollars us$
€ eur euro euros
£ gbp
¥ yen jpy yuan rmb
crown crowns krone kroner kronor kronen couronnes
°c celsius
°f fahrenheit
"""
UNITS = {word: line.split()[0] for line in _UNITS.strip().split("\n") for word in line.split()}
# Units of one dimension, as multiples of the first unit.
_RATIOS = {
    "second": "second 1 minute 60 hour 3600 day 86400 week 604800 ms 0.001 us 0.000001 ns 1e-9",
    "m": "m 1 km 1000 cm 0.01 mm 0.001", "g": "g 1 kg 1000 mg 0.001 ug 0.000001 ton 1000000",
    "l": "l 1 ml 0.001", "hz": "hz 1 khz 1e3 mhz 1e6 ghz 1e9",
    "w": "w 1 kw 1e3 mw 1e6 gw 1e9", "kwh": "kwh 1 mwh 1e3 gwh 1e6 twh 1e9",
    "kbit": "kbit 1 mbit 1e3 gbit 1e6", "$": "$ 1 cent 0.01",
}  # fmt: skip
RATIOS = {
    unit: (base, Decimal(ratio))
    for base, text in _RATIOS.items()
    for unit, ratio in zip(text.split()[::2], text.split()[1::2], strict=True)
}
VERSION = "version"  # the unit of v4.7, 17.0.0 and v17.0.0
_UNIT = re.compile(
    r"(?i)[\s-]?(?:(?:" + "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True)) + r")"
    rf"(?!{_LETTER}))"
)
# A unit that is not listed, such as mSv, µmol or g/dl; it matches itself.
_OTHER_UNIT = re.compile(
    r"[\s-]?([µμ]?[A-Za-z]{1,4}/[a-zA-Z]{1,4}|[kMGTmnpµμ][A-Z][a-z]{0,2}|[µμ][a-z]{1,4}|[a-z]{1,3}[²³])(?!\w|/)"
)
_AREA = re.compile(r"(?i)[\s-]?(?:(square|sq\.?)|cubic)[\s-]([a-z]{1,12})(?!\w)")  # square miles
_POINTS = re.compile(r"(?i)[\s-]?(?:percentage|per\s?cent|%)[\s-]points?\b")
_MINUS = re.compile(r"(?:\A|[\s(\[|=<>≤≥:,~`\"'])(?<!\d\s)[-\u2010-\u2012\u2212–](?:[$€£]\s?)?\Z")
_RANGE = re.compile(r"(?i)\s?(?:[-–—]|to|bis|à|a|and|und|et|y)\s?[$€£¥]?")
_CURRENCY = re.compile(r"(?i)(?:us\$|[$€£¥]|\b(?:usd|eur|gbp|jpy))\s?-?\Z")
# Footnote numbers such as [12] or [3, 5–7] refer to sources; they state nothing.
_REFERENCES = re.compile(r"\[\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3}){0,20}\](?!\()")


class Number(NamedTuple):
    """A number in text: its position and its possible meanings.

    plain: the values of its digits; scaled: these times the word after it ("1.2 million"), empty
    without such a word. unit: "%", "day", "$", ..., or VERSION; "" if there is no unit next to it.
    is_negative: whether a minus sign precedes it; its values do not include the sign.
    """

    start: int
    end: int
    text: str
    plain: frozenset[str]
    scaled: frozenset[str]
    power: int
    unit: str
    is_word: bool
    is_negative: bool = False


@functools.cache
def _pattern(language: str) -> re.Pattern[str]:
    """Return the pattern for numbers in digits and in a language's words."""
    words = sorted(number_words(language), key=len, reverse=True)
    named = "|".join(re.sub(r"\\?[ -]", r"[\\s-]", re.escape(word)) for word in words)
    return re.compile(
        rf"(?:{_BEGIN}(?P<digits>{_DIGITS})(?P<power>{_POWER})?|(?i:(?<!{_LETTER})(?P<word>{named})(?!{_LETTER})))"
        rf"(?:[\s-]?(?i:{_SCALE}))?"
    )


def numbers_of(text: str, language: str = "en", *, has_ranges: bool = False) -> list[Number]:
    """Return the numbers in text in order, except footnote numbers.

    has_ranges: in "37 to 70 %" both are percentages.

    Of a language's number words, two to ninety-nine, hundred and thousand are recognized.
    """
    text = _REFERENCES.sub(blank, text)
    words = number_words(language)
    numbers = []
    for found in _pattern(language).finditer(text):
        scales = zip(found.groups()[3:], SCALES.values(), strict=True)
        scale, power = next(((word, power) for word, power in scales if word), ("", 0))
        if found["word"]:
            name = re.sub(r"\s|-", " ", found["word"].lower())
            value = next(value for word, value in words.items() if word.replace("-", " ") == name)
            plain = {str(value)}
        else:
            plain = readings(re.sub(f"[{_GROUPING}]", "", found["digits"]))
            plain = with_power(plain, found["power"]) if found["power"] else plain
        scaled = {shown(value.scaleb(power)) for value in decimals(plain)}
        is_letter = len(scale) == 1 and scale.isascii()  # 5 m is 5 meters or 5 million
        unit = unit_beside(text, found.start(), found.end(), has_ranges and not scale)
        if not found["word"] and is_version(found[0], found["digits"], plain):
            unit = VERSION
        is_negative = bool(_MINUS.search(text, max(0, found.start() - 4), found.start()))
        numbers.append(
            Number(
                found.start(), found.end(), " ".join(found[0].split()), frozenset(plain),
                frozenset(scaled if scale else ()), 0 if is_letter else power, unit,
                bool(found["word"]), is_negative,
            )
        )  # fmt: skip
    return joined(numbers, text)


def joined(numbers: list[Number], text: str) -> list[Number]:
    """Join pairs of number words ("hundred and nineteen"), and give ranges a single scale."""
    found: list[Number] = []
    for number in numbers:
        before = found[-1] if found else None
        between = text[before.end : number.start] if before else ""
        if before and before.is_word and number.is_word and between in (" ", "-", " and "):
            first, second = (min(decimals(one.scaled or one.plain)) for one in (before, number))
            power = number.power if number.scaled and number.power > before.power else 0
            own = min(decimals(number.plain)) if power else second
            if first >= 100 and own < first:
                values = frozenset({shown((first + own).scaleb(power))})
                found[-1] = number._replace(
                    start=before.start, plain=values, scaled=frozenset(), power=0,
                    text=" ".join(text[before.start : number.end].split()),
                )  # fmt: skip
                continue
        if before and _RANGE.fullmatch(between) and not before.scaled:
            values = frozenset(shown(one.scaleb(number.power)) for one in decimals(before.plain))
            if number.scaled and number.unit in (before.unit, ""):
                found[-1] = before._replace(scaled=values)
        found.append(number)
    return found


def blank(found: re.Match[str]) -> str:
    """Return as many spaces as a match has characters."""
    return " " * len(found[0])


def is_version(text: str, digits: str, values: set[str]) -> bool:
    """Return whether a number is a version: at least two points, or "v" and one.

    Points that group digits, such as 1.200.300, do not count.
    """
    points = digits.count(".")
    return (points == 1 and text[0] in "vV") or (
        points > 1 and "," not in digits and not decimals(values)
    )


def unit_beside(text: str, start: int, end: int, has_ranges: bool) -> str:
    """Return a number's unit, which follows it, or the currency before it; "" if neither exists."""
    if (area := _AREA.match(text, end)) and area[2].lower() in UNITS:
        return UNITS[area[2].lower()] + ("²" if area[1] else "³")
    before = _CURRENCY.search(text, max(0, start - 5), start)
    found = before or _UNIT.match(text, end)
    other = None if before else _OTHER_UNIT.match(text, end)
    if other and not (found and found.end() >= other.end()):
        base = UNITS.get(other[1][:-1].lower(), "") if other[1][-1] in "²³" else ""
        return base + other[1][-1] if base else UNITS.get(other[1].lower(), other[1])
    if found:
        written = found[0].strip(" \u00a0\n-")
        unit = UNITS[written.lower()]
        is_milli = written[0] == "m" and written[1:2].isupper()  # mW is not MW
        return written if is_milli and unit in RATIOS and RATIOS[unit][1] > 1 else unit
    if _POINTS.match(text, end):
        return "percentage point"
    return "%" if (_PERCENTS if has_ranges else _PERCENT).match(text, end) else ""


def scale_powers(text: str) -> set[int]:
    """Return the powers of ten of words without a number: "in millions" is 6."""
    found = _WRITTEN_SCALE.finditer(text)
    powers = [*SCALES.values()]
    return {powers[(scale.lastindex or 1) - 1] for scale in found if len(scale[0]) > 1}


def readings(digits: str) -> set[str]:
    """Return the possible meanings of digits with commas and points; a version stays as it is.

    A time means its seconds: 1:20.502 is 80.502.
    """
    if ":" in digits:
        seconds = Decimal(0)
        for part in digits.replace(",", ".").split(":"):
            seconds = seconds * 60 + Decimal(part)
        return {shown(seconds)}
    signs = re.sub(r"\d", "", digits)
    last = signs[-1:]
    is_grouped = re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", digits)
    values = set()
    if len(set(signs)) < 2 and is_grouped:
        values.add(re.sub("[.,]", "", digits))
    if signs.count(last) == 1 or not signs:  # a decimal separator appears once, after all others
        whole, _, rest = digits.rpartition(last) if last else (digits, "", "")
        values.add(f"{re.sub('[.,]', '', whole)}.{rest}")
    try:
        return {shown(Decimal(value)) for value in values or {digits}}
    except InvalidOperation:
        return {digits}


def with_power(values: set[str], power: str) -> set[str]:
    """Return values times a power of ten as written; a bare 10 is the base itself."""
    written = unicodedata.normalize("NFKC", power).replace("\u2212", "-")  # ⁻⁹ becomes -9
    exponent = int(re.findall(r"[-+]?\d{1,2}", written)[-1])
    own = values if re.match(r"[eE]|\s?[×x·*]\s?10", power) else {"1"}
    return {shown(value.scaleb(exponent)) for value in decimals(own)}


def decimals(values: Iterable[str]) -> list[Decimal]:
    """Return the values that are decimal numbers, not versions or lists."""
    return [Decimal(value) for value in values if re.fullmatch(r"\d+(?:\.\d+)?", value)]


def shown(value: Decimal) -> str:
    """Return a number in its standard form, without a redundant point or zeros."""
    return format(value.normalize(), "f") if value else "0"
