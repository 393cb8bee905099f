"""Number the paragraphs of Word files as Word does (ECMA-376, part 1, 17.9)."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from websearch.pages.office.archive import number_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MAX_LEVELS = 20  # children per list definition
MAX_LABEL = 60  # characters of a label's format
LARGEST = 4_000  # from this number on, labels are decimal
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
OFF = ("0", "false", "off", "none")


class Level(NamedTuple):
    """A list level: its first number, the format of its numbers, and the text around them.

    restart: the level from which upward items restart this level; -1 for all levels above it.
    """

    start: int = 1
    format: str = "bullet"
    text: str = ""
    restart: int = -1
    is_decimal: bool = False  # whether all numbers in its labels are decimal


class Numbering:
    """The lists in a Word file, by id: their levels and current numbers."""

    def __init__(self, root: Element) -> None:
        abstract = {item.get("abstractNumId"): item for item in root.findall("abstractNum")}
        linked = {value(item, "styleLink"): item for item in abstract.values()}
        self.counts: dict[str, dict[int, int]] = {}
        self.levels: dict[str, dict[int, Level]] = {}
        for number in root.findall("num"):
            base = abstract.get(value(number, "abstractNumId"))
            style = value(base, "numStyleLink")
            base = linked.get(style, base) if style else base
            levels: dict[int, Level] = {}
            for item in itertools.islice(base if base is not None else (), MAX_LEVELS):
                if item.tag == "lvl":
                    levels[number_of(item.get("ilvl"))] = read_level(item)
            for override in number.findall("lvlOverride"):
                depth = number_of(override.get("ilvl"))
                own = override.find("lvl")
                level = read_level(own) if own is not None else levels.get(depth, Level())
                start = number_of(value(override, "startOverride"), level.start)
                levels[depth] = level._replace(start=start)
            self.levels[number.get("numId", "")] = levels

    def next(self, number_id: str, depth: int) -> tuple[int, str]:
        """Count a list item; return its number (0 for a bullet) and the label that Word shows."""
        levels = self.levels[number_id]
        level = levels.get(depth, Level())
        if level.format in ("bullet", "none", ""):
            return 0, ""
        counts = self.counts.setdefault(number_id, {})
        number = counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [level for level in counts if level > depth]:
            restart = levels.get(deeper, Level()).restart
            if restart < 0 or depth < restart:
                del counts[deeper]

        def shown(found: re.Match[str]) -> str:
            other = levels.get(int(found[1]) - 1, Level())
            kind = "decimal" if level.is_decimal else other.format
            return number_label(counts.get(int(found[1]) - 1, other.start), kind)

        return number, re.sub(r"%([1-9])", shown, level.text)[:MAX_LABEL].strip()


def read_level(level: Element) -> Level:
    """Return the level that an element defines."""
    is_decimal = level.find("isLgl") is not None and value(level, "isLgl") not in OFF
    restart = number_of(value(level, "lvlRestart")) if value(level, "lvlRestart") else -1
    start = number_of(value(level, "start"), 1)
    text = value(level, "lvlText")[:MAX_LABEL]
    return Level(start, value(level, "numFmt"), text, restart, is_decimal)


def number_label(number: int, kind: str) -> str:
    """Return a number in one of Word's number formats; decimal if the format is unknown."""
    if not 0 < number < LARGEST:
        return str(number)
    if kind == "decimalZero":
        return f"{number:02d}"
    if kind == "ordinal":
        ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number // 10 % 10 != 1 else 0)
        return f"{number}{ending or 'th'}"
    if kind.endswith("Letter"):  # a to z, then aa, bb
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif kind.endswith("Roman"):
        text, left = "", number
        for size, digits in _ROMAN:
            text += digits * (left // size)
            left %= size
    else:
        return str(number)
    return text.upper() if kind.startswith("upper") else text


def value(parent: Element | None, name: str) -> str:
    """Return the value of a property; "" if the property is not set."""
    found = parent.find(name) if parent is not None else None
    return found.get("val", "") if found is not None else ""
