"""Read CMaps, which map codes to text and glyph numbers (ISO 32000-1, 9.7.5 and 9.10.3)."""

from __future__ import annotations

import bisect
import functools
import operator
import re

from websearch.pages.pdf.limits import MAX_CMAP_BYTES, MAX_CMAP_ENTRIES, MAX_CODE_TEXT, Budget
from websearch.pages.pdf.syntax import parse_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SECTION = re.compile(
    rb"begin(codespacerange|bfchar|bfrange|cidchar|cidrange)\b([\s\S]*?)(?=\bend\1|\bbegin|\Z)"
)
ITEM = re.compile(rb"<([^<>]{0,600})>|(\[)|(\])|(\d{1,10})|/([^\s<>\[\]/]+)")
MAX_CODE_RANGES = 20  # ranges per CMap; real CMaps have up to ten
FIRST = operator.itemgetter(0)  # sort key: the first code of a range

VERTICAL = re.compile(rb"/WMode\s+1\b")
# Pattern for names of predefined CMaps -> the codec for their codes. CMaps without a codec are
# omitted: CNS-EUC, and Identity, whose codes are not characters.
CODECS = (
    ("UTF16|UCS2", "utf-16-be"), ("UTF32", "utf-32-be"), ("UTF8", "utf-8"), ("RKSJ", "cp932"),
    ("GBK|GBpc|GB-EUC|GBT", "gb18030"), ("B5|HKscs", "big5hkscs"), ("KSC", "cp949"),
    ("^EUC", "euc_jp"), ("^(?:Ext-|Add-|78-)?[HV]$", "jis"),
)  # fmt: skip


class CMap:
    """A CMap: the ranges of valid codes, and the text or glyph number for each code.

    Ranges are not expanded, so a short CMap cannot take up much memory.
    """

    def __init__(self) -> None:
        self.sizes: list[tuple[int, int, int]] = []  # bytes, first code and last code
        self.texts: dict[int, str] = {}
        self.text_ranges: list[tuple[int, int, str]] = []
        self.glyphs: dict[int, int] = {}
        self.glyph_ranges: list[tuple[int, int, int]] = []
        self.vertical = False

    def text(self, code: int) -> str:
        """Return the text for a code; "" if the map has no text for it."""
        if code in self.texts:
            return self.texts[code]
        first, _, start = find_range(self.text_ranges, code) or (code, code, "\0")
        point = ord(start[-1]) + code - first
        good = 0x20 <= point < 0x110000 and not (0x7F <= point < 0xA0 or 0xD800 <= point < 0xE000)
        text = start[:-1] + chr(point) if good else ""
        if code < MAX_CMAP_ENTRIES:
            self.texts[code] = text
        return text

    def glyph(self, code: int) -> int:
        """Return the glyph number for a code."""
        if code in self.glyphs:
            return self.glyphs[code]
        first, _, glyph = find_range(self.glyph_ranges, code) or (code, code, 0)
        return int(glyph) + code - first

    def split(self, data: bytes) -> list[int]:
        """Return the codes in a string, two bytes each unless the ranges specify other sizes."""
        if not self.sizes or all(size == 2 for size, _, _ in self.sizes):
            return two_byte_codes(data)
        codes = []
        position = 0
        while position < len(data):
            size = self.code_size(data, position)
            codes.append(int.from_bytes(data[position : position + size], "big"))
            position += size
        return codes

    def code_size(self, data: bytes, position: int) -> int:
        """Return the number of bytes in the code at a position."""
        for size, first, last in self.sizes:
            code = data[position : position + size]
            low, high = first.to_bytes(size, "big"), last.to_bytes(size, "big")
            within = zip(low, code, high, strict=False)
            if len(code) == size and all(least <= byte <= most for least, byte, most in within):
                return size
        return min(size for size, _, _ in self.sizes)


def find_range(ranges: list[Any], code: int) -> Any:
    """Return the range (first, last, value) that contains a code in sorted ranges, or None."""
    position = bisect.bisect_right(ranges, code, key=FIRST) - 1
    return ranges[position] if position >= 0 and code <= ranges[position][1] else None


def two_byte_codes(data: bytes) -> list[int]:
    """Return the codes in a string of two-byte codes."""
    return [data[position] << 8 | data[position + 1] for position in range(0, len(data) - 1, 2)]


def parse_cmap(data: bytes, budget: Budget) -> CMap:
    """Return the CMap in a stream's first MAX_CMAP_BYTES. Raises OutOfBudgetError."""
    data = data[:MAX_CMAP_BYTES]
    cmap = CMap()
    cmap.vertical = bool(VERTICAL.search(data))
    left = MAX_CMAP_ENTRIES
    for section in budget.watch(SECTION.finditer(data)):
        kind, body = section.groups()
        items = read_items(body, left)
        left -= len(items)
        if kind == b"codespacerange":
            for low, high in zip(items[::2], items[1::2], strict=False):
                if isinstance(low, bytes) and isinstance(high, bytes) and 0 < len(low) <= 4:
                    size = (len(low), int.from_bytes(low, "big"), int.from_bytes(high, "big"))
                    good = len(high) == len(low) and len(cmap.sizes) < MAX_CODE_RANGES
                    cmap.sizes += [size] if good else []
        else:
            READERS[kind](cmap, items)
    cmap.text_ranges.sort(key=FIRST)
    cmap.glyph_ranges.sort(key=FIRST)
    return cmap


def read_items(body: bytes, limit: int) -> list[bytes | int | str | list[bytes]]:
    """Return the strings, numbers, names and arrays of strings in a section of a CMap."""
    items: list[bytes | int | str | list[bytes]] = []
    array: list[bytes] | None = None
    for match in ITEM.finditer(body):
        digits, opens, closes, number, name = match.groups()
        if digits is not None:
            value = parse_hex(digits)
            if array is None:
                items.append(value)
            else:
                array.append(value)
                limit -= 1
        elif opens:
            array = []
            items.append(array)
        elif closes:
            array = None
        elif number:
            items.append(int(number))
        else:
            items.append(name.decode("latin-1"))
        if len(items) >= limit:
            break
    return items


def utf16_text(value: bytes) -> str:
    """Return the text for a ToUnicode map's value, without meaningless characters.

    Some writers map codes to NUL, U+FFFD or control characters.
    """
    text = value.decode("utf-16-be", "ignore") if len(value) > 1 else value.decode("latin-1")
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd-\uffff]", "", text)[:MAX_CODE_TEXT]


def read_text_characters(cmap: CMap, items: list[bytes | int | str | list[bytes]]) -> None:
    """Add the pairs of a code and a text in a bfchar section."""
    from websearch.pages.pdf.encodings import glyph_text

    for code, value in zip(items[::2], items[1::2], strict=False):
        if isinstance(code, bytes) and isinstance(value, (bytes, str)):
            text = utf16_text(value) if isinstance(value, bytes) else glyph_text(value)
            cmap.texts[int.from_bytes(code, "big")] = text


def read_text_ranges(cmap: CMap, items: list[bytes | int | str | list[bytes]]) -> None:
    """Add the ranges in a bfrange section, each with its first text or a list of texts."""
    for low, high, value in zip(items[::3], items[1::3], items[2::3], strict=False):
        if not isinstance(low, bytes) or not isinstance(high, bytes):
            continue
        first, last = int.from_bytes(low, "big"), int.from_bytes(high, "big")
        if isinstance(value, list):
            for code, text in zip(range(first, last + 1), value, strict=False):
                cmap.texts[code] = utf16_text(text)
        elif isinstance(value, bytes) and first == last:
            cmap.texts[first] = utf16_text(value)
        elif isinstance(value, bytes) and value:
            start = value.decode("utf-16-be", "ignore") if len(value) > 1 else chr(value[0])
            cmap.text_ranges += [(first, last, start[-MAX_CODE_TEXT:])] if start else []


def read_glyph_characters(cmap: CMap, items: list[bytes | int | str | list[bytes]]) -> None:
    """Add the pairs of a code and a glyph number in a cidchar section."""
    for code, number in zip(items[::2], items[1::2], strict=False):
        if isinstance(code, bytes) and isinstance(number, int):
            cmap.glyphs[int.from_bytes(code, "big")] = number


def read_glyph_ranges(cmap: CMap, items: list[bytes | int | str | list[bytes]]) -> None:
    """Add the ranges in a cidrange section."""
    for low, high, number in zip(items[::3], items[1::3], items[2::3], strict=False):
        if isinstance(low, bytes) and isinstance(high, bytes) and isinstance(number, int):
            first, last = int.from_bytes(low, "big"), int.from_bytes(high, "big")
            cmap.glyph_ranges.append((first, last, number))


READERS: dict[bytes, Callable[[CMap, list[bytes | int | str | list[bytes]]], None]] = {
    b"bfchar": read_text_characters,
    b"bfrange": read_text_ranges,
    b"cidchar": read_glyph_characters,
    b"cidrange": read_glyph_ranges,
}


# ----- predefined CMaps


def codec_of(name: str) -> str:
    """Return the codec for a predefined CMap's codes; "" if there is no codec."""
    return next((codec for pattern, codec in CODECS if re.search(pattern, name)), "")


@functools.lru_cache(16_384)
def decode_code(code: bytes, codec: str) -> str:
    """Return the text for a code; "" for bytes that are not a code."""
    try:
        if codec == "jis":  # JIS X 0208: two bytes without their high bits
            return bytes(byte | 0x80 for byte in code).decode("euc_jp") if len(code) == 2 else ""
        return code.decode(codec)
    except UnicodeDecodeError:
        return ""


def decode_string(data: bytes, codec: str) -> list[tuple[int, str]]:
    """Return (number of bytes, text) for each code; a code is the shortest that the codec reads."""
    smallest = 2 if codec in ("utf-16-be", "jis") else 1
    decoded = []
    position = 0
    while position < len(data):
        for size in range(smallest, 5):
            text = decode_code(data[position : position + size], codec)
            if text:
                break
        else:
            size = smallest
        decoded.append((size, text))
        position += size
    return decoded
