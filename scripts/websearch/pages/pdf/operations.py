"""Parse the operators of a content stream and their operands (ISO 32000-1, 7.8.2 and 8.9.7)."""

from __future__ import annotations

import re

from websearch.pages.pdf.limits import MAX_ITEMS
from websearch.pages.pdf.syntax import (
    REGULAR,
    SPACE,
    parse_hex,
    parse_name,
    parse_number,
    parse_string,
    parse_value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from typing import Any

    from websearch.pages.pdf.limits import Budget

CHECK_EVERY = 20_000  # bytes between two checks of the clock
MAX_NUMBERS = 500  # bytes of numbers before an operator

# Numbers stay unparsed, because most are operands of drawing operators, which are skipped.
TOKEN = re.compile(
    rb"[%(space)b]*(?:"
    rb"(?P<numbers>[-+.\d][-+.\d\t\n\f\r ]{0,2000})"
    rb"|(?P<operator>[A-Za-z'\"][A-Za-z0-9*'\"]*)"
    rb"|\((?P<plain>[^()\\\r]{0,10000})\)"
    rb"|(?P<string>\()"
    rb"|<(?P<hex>[0-9A-Fa-f%(space)b]{0,100000})>"
    rb"|/(?P<name>%(regular)b*)"
    rb"|(?P<open>\[)"
    rb"|(?P<close>\])"
    rb"|(?P<properties><<[^<>()]{0,1000}>>)"
    rb"|(?P<dictionary><<)"
    rb"|(?P<comment>%%[^\r\n]*)"
    rb"|(?P<end>\Z)"
    rb"|(?P<junk>[\s\S]))" % {b"space": SPACE, b"regular": REGULAR}
)
IMAGE_DATA = re.compile(rb"[%b]ID[%b]" % (SPACE, SPACE))
# The end of an inline image; the next bytes cannot be image data.
IMAGE_END = re.compile(rb"[%b]EI(?=[%b]|\Z)(?![\s\S]{0,10}[\x80-\xff\x01-\x08])" % (SPACE, SPACE))


class Operation:
    """An operator with its operands; its numbers are parsed on demand."""

    __slots__ = ("name", "operands", "raw_numbers")

    def __init__(self, name: bytes, raw_numbers: bytes, operands: list[Any]) -> None:
        self.name, self.raw_numbers, self.operands = name, raw_numbers, operands

    def numbers(self, count: int) -> list[float]:
        """Return the last count numbers before the operator; 0 for each missing number."""
        numbers = parse_numbers(self.raw_numbers)[-count:]
        return [0.0] * (count - len(numbers)) + numbers

    def name_operand(self) -> str:
        """Return the last operand if it is a name; "" otherwise."""
        last = self.operands[-1] if self.operands else None
        return last if isinstance(last, str) else ""


def parse_numbers(raw: bytes) -> list[float]:
    """Return the numbers in a piece of a content stream."""
    try:
        return [float(token) for token in raw.split()]
    except ValueError:
        return [float(parse_number(token[:40])) for token in raw.split()]


def operations(data: bytes, wanted: Container[bytes], budget: Budget) -> Iterator[Operation]:
    """Yield the operations in a content stream that have the wanted operators.

    The data of inline images is skipped. Raises OutOfBudgetError.
    """
    numbers = b""
    operands: list[Any] = []
    target = operands  # or the array that is being read
    position = next_check = 0
    while position < len(data) and (token := TOKEN.match(data, position)):
        position, kind = token.end(), token.lastgroup or ""
        if position > next_check:
            budget.check_time()
            next_check = position + CHECK_EVERY
        if kind == "operator":
            name = token["operator"]
            if name in wanted:
                yield Operation(name, numbers, operands)
            if name == b"BI":
                position = image_end(data, position)
            numbers = b""
            operands = target = []
        elif kind == "numbers" and target is operands:
            numbers = numbers[-MAX_NUMBERS:] + b" " + token["numbers"]
        elif len(target) > MAX_ITEMS:
            continue
        elif kind == "numbers":
            target += parse_numbers(token["numbers"])
        elif kind in VALUES:
            value, position = VALUES[kind](data, token)
            target.append(value)
        elif kind == "open":
            target = []
            operands.append(target)
        elif kind == "close":
            target = operands


def image_end(data: bytes, position: int) -> int:
    """Return the position after the inline image whose dictionary begins at a position."""
    begin = IMAGE_DATA.search(data, position)
    end = IMAGE_END.search(data, begin.end() - 1) if begin else None
    return end.end() if end else len(data)


def read_properties(data: bytes, token: re.Match[bytes]) -> tuple[Any, int]:
    """Return a short dictionary and its end; {} if the dictionary has no ActualText."""
    if b"ActualText" in token["properties"]:
        return parse_value(token["properties"], 0)[0], token.end()
    return {}, token.end()


VALUES: dict[str, Callable[[bytes, re.Match[bytes]], tuple[Any, int]]] = {
    "plain": lambda _, token: (token["plain"], token.end()),
    "string": lambda data, token: parse_string(data, token.end()),
    "hex": lambda _, token: (parse_hex(token["hex"]), token.end()),
    "name": lambda _, token: (parse_name(token["name"]), token.end()),
    "properties": read_properties,
    "dictionary": lambda data, token: parse_value(data, token.start("dictionary"))[:2],
}
