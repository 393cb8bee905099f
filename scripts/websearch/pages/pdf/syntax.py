"""Parse PDF objects (ISO 32000-1, 7.2 and 7.3).

In Python, a name is a str, a string is bytes, null is None, arrays are lists, dictionaries are
dicts, and references and streams have their own classes.
"""

from __future__ import annotations

import re

from websearch.pages.pdf.limits import MAX_DEPTH, MAX_ITEMS, MAX_STRING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SPACE = rb"\0\t\n\f\r "
REGULAR = rb"[^\0\t\n\f\r ()<>\[\]{}/%]"  # a byte of a name or keyword
TOKEN = re.compile(
    rb"[%(space)b]*(?:"
    rb"(?P<reference>\d{1,10}[%(space)b]{1,9}\d{1,5}[%(space)b]{1,9}R(?!%(regular)b))"
    rb"|(?P<number>[-+.\d]{1,40})"
    rb"|/(?P<name>%(regular)b*)"
    rb"|(?P<open><<|\[)"
    rb"|(?P<close>>>|\])"
    rb"|\((?P<plain>[^()\\\r]{0,10000})\)"
    rb"|(?P<string>\()"
    rb"|<(?P<hex>[^<>]{0,%(longest)d})>?"
    rb"|(?P<comment>%%[^\r\n]*)"
    rb"|(?P<keyword>%(regular)b+)"
    rb"|(?P<end>\Z)"
    rb"|(?P<junk>[\s\S]))" % {b"space": SPACE, b"regular": REGULAR, b"longest": MAX_STRING}
)
NOT_HEX = bytes(set(range(256)) - set(b"0123456789ABCDEFabcdef"))
STRING_MARK = re.compile(rb"\\[\s\S]|[()]")
ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|(\r\n|\r|\n)|([\s\S]))|\r\n?")
ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
# Codes 128 to 160 in PDFDocEncoding.
DOCUMENT_ENCODING = dict(
    enumerate(
        "\u2022\u2020\u2021\u2026\u2014\u2013\u0192\u2044\u2039\u203a\u2212\u2030\u201e\u201c\u201d\u2018"
        "\u2019\u201a\u2122\ufb01\ufb02\u0141\u0152\u0160\u0178\u017d\u0131\u0142\u0153\u0161\u017e\ufffd\u20ac",
        128,
    )
)
KEYWORDS: dict[bytes, Any] = {b"true": True, b"false": False, b"null": None}


class Reference:
    """A reference to an indirect object; number: the object's number."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


class Stream:
    """A stream: its dictionary and where its bytes start in the file.

    number and generation: the object's, for decryption.
    """

    def __init__(self, fields: dict[str, Any], start: int, number: int, generation: int) -> None:
        self.fields, self.start = fields, start
        self.number, self.generation = number, generation


def parse_value(data: bytes, position: int) -> tuple[Any, int, int]:
    """Return the object at a position, the position after it and the number of its items.

    Damage is tolerated: containers without an end are closed at a keyword such as endobj, at the
    end of the data or after MAX_ITEMS. Anything that is not an object counts as null.
    """
    containers: list[list[Any]] = [[]]
    kinds = [b""]
    for count in range(1, MAX_ITEMS + 1):
        match = TOKEN.match(data, position)
        if match is None:  # the position is past the end, because TOKEN matches every byte
            break
        kind, token = match.lastgroup or "", match[match.lastgroup or 0]
        if kind == "end" or (kind == "keyword" and token not in KEYWORDS):
            if len(containers) == 1:
                return None, match.end(), count
            break
        position = match.end()
        if kind == "open":
            if len(containers) > MAX_DEPTH:
                break
            containers.append([])
            kinds.append(token)
            continue
        if kind in ("comment", "junk") or (kind == "close" and len(containers) == 1):
            continue
        if kind == "close":
            value = close_container(containers.pop(), kinds.pop())
        elif kind == "string":
            value, position = parse_string(data, position)
        else:
            value = SCALARS[kind](token)
        containers[-1].append(value)
        if len(containers) == 1:
            return value, position, count
    while len(containers) > 1:
        value = close_container(containers.pop(), kinds.pop())
        containers[-1].append(value)
    return (containers[0] or [None])[0], position, count


def close_container(items: list[Any], kind: bytes) -> Any:
    """Return an array as a list, or a dictionary as a dict without malformed keys."""
    if kind == b"[":
        return items
    fields: dict[str, Any] = {}
    place = 0
    while place + 1 < len(items):
        if isinstance(items[place], str):
            fields[items[place]] = items[place + 1]
            place += 2
        else:
            place += 1
    return fields


def parse_string(data: bytes, start: int) -> tuple[bytes, int]:
    """Return the literal string that begins at start, and the position after it."""
    depth = 1
    end = min(len(data), start + MAX_STRING)
    for mark in STRING_MARK.finditer(data, start, end):
        if mark[0] == b"(":
            depth += 1
        elif mark[0] == b")":
            depth -= 1
            if not depth:
                return ESCAPE.sub(unescape, data[start : mark.start()]), mark.end()
    return ESCAPE.sub(unescape, data[start:end]), end


def unescape(match: re.Match[bytes]) -> bytes:
    """Return the bytes that an escape sequence in a literal string represents."""
    octal, line_end, other = match.groups()
    if octal:
        return bytes([int(octal, 8) & 255])
    if line_end:
        return b""
    return ESCAPED.get(other, other) if other else b"\n"


def parse_number(token: bytes) -> int | float:
    """Return a number; read malformed numbers ("--5", "1.2.3") as PDF viewers do."""
    try:
        return float(token) if b"." in token else int(token)
    except ValueError:
        match = re.search(rb"\d*\.?\d+|\d+", token)
        number = float(match[0]) if match else 0.0
        return -number if token.startswith(b"-") else number


def parse_name(token: bytes) -> str:
    """Return a name, with escapes such as #20 decoded."""
    if b"#" in token:
        token = re.sub(rb"#([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), token)
    return token.decode("latin-1")


def parse_hex(token: bytes) -> bytes:
    """Return the bytes of a hexadecimal string; a missing last digit counts as 0."""
    digits = token.translate(None, NOT_HEX).decode("ascii")
    return bytes.fromhex(digits + "0" * (len(digits) % 2))


SCALARS: dict[str, Any] = {
    "reference": lambda token: Reference(int(re.split(rb"\D", token, maxsplit=1)[0])),
    "number": parse_number,
    "name": parse_name,
    "plain": bytes,
    "hex": parse_hex,
    "keyword": KEYWORDS.get,
}


def decode_text(value: bytes) -> str:
    """Return a text string: UTF-16 or UTF-8 with a byte order mark, else PDFDocEncoding (7.9.2)."""
    if value.startswith(b"\xfe\xff"):
        return value[2:].decode("utf-16-be", "replace")
    if value.startswith(b"\xff\xfe"):
        return value[2:].decode("utf-16-le", "replace")
    if value.startswith(b"\xef\xbb\xbf"):
        return value[3:].decode("utf-8", "replace")
    # PDFDocEncoding is Latin-1 except for a few characters, which have other codes in cp1252.
    return value.decode("latin-1").translate(DOCUMENT_ENCODING)
