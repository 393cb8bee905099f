"""Apply stream filters (ISO 32000-1, 7.4); keep the output before damaged data."""

from __future__ import annotations

import itertools
import re
import zlib

from websearch.pages.pdf.limits import MAX_FILTERS, MAX_SLOW_INPUT, Budget
from websearch.pages.pdf.syntax import parse_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

INFLATE_CHUNK = 4_096  # bytes; in a damaged chunk, bytes are tried one by one
CLEAR_TABLE, END_OF_DATA, MAX_CODES = 256, 257, 4_096  # codes for LZW
NOT_ASCII85 = bytes(set(range(256)) - set(range(ord("!"), ord("u") + 1)) - set(b"z~"))
MAX_COLUMNS = 1_000_000  # samples per row for a predictor
MAX_PREDICTED = 2_000_000  # bytes, which take 2 s; cross-references for 300,000 objects have fewer


def apply_filters(
    data: bytes, names: list[str], params: list[dict[str, Any]], limit: int, budget: Budget
) -> bytes | None:
    """Return a stream's bytes after its filters, at most limit bytes.

    Return None if a filter is only for images or there are more than MAX_FILTERS. Raises
    OutOfBudgetError.
    """
    if len(names) > MAX_FILTERS:
        return None
    for name, options in zip(names, params, strict=True):
        if name == "Crypt":  # decryption comes before the filters
            continue
        if name not in FILTERS:
            return None
        budget.check_time()
        data = FILTERS[name](data, options, limit, budget)
    return data


def inflate(data: bytes, options: dict[str, Any], limit: int, budget: Budget) -> bytes:
    """Inflate data; tolerate a bad checksum, a missing end and a bad or missing header."""
    for bits, start in ((15, 0), (-15, 2), (-15, 0)):
        unpacked = inflate_as(data[start:] if start else data, bits, limit)
        if unpacked:
            return undo_predictor(unpacked, options, budget)
    stripped = data.lstrip(b"\r\n")  # some writers put a second line break after "stream"
    return inflate(stripped, options, limit, budget) if len(stripped) < len(data) else b""


def inflate_as(data: bytes, bits: int, limit: int) -> bytes:
    """Return data inflated up to the limit or the first damage."""
    try:
        return zlib.decompressobj(bits).decompress(data, limit)
    except zlib.error:
        pass
    unpacker = zlib.decompressobj(bits)
    unpacked = bytearray()
    for start in range(0, len(data), INFLATE_CHUNK):
        before = unpacker.copy()
        try:
            unpacked += unpacker.decompress(data[start : start + INFLATE_CHUNK], limit)
        except zlib.error:
            for position in range(start, min(start + INFLATE_CHUNK, len(data))):
                try:
                    unpacked += before.decompress(data[position : position + 1], limit)
                except zlib.error:  # noqa: PERF203  the damaged byte
                    break
            break
        if len(unpacked) >= limit:
            break
    return first_bytes(unpacked, limit)


def decode_lzw(data: bytes, options: dict[str, Any], limit: int, budget: Budget) -> bytes:
    """Decode LZW data: codes of 9 to 12 bits, highest bit first."""
    early = options.get("EarlyChange", 1) != 0
    base = [bytes([value]) for value in range(256)] + [b"", b""]
    table = base[:]
    unpacked = bytearray()
    width, previous, held, bits = 9, b"", 0, 0
    for byte in budget.watch(data[:MAX_SLOW_INPUT]):
        held = (held << 8 | byte) & 0xFFFFFF
        bits += 8
        if bits < width:
            continue
        bits -= width
        code = (held >> bits) & ((1 << width) - 1)
        if code == CLEAR_TABLE:
            table, width, previous = base[:], 9, b""
            continue
        if code == END_OF_DATA or code > len(table) or (code == len(table) and not previous):
            break
        entry = table[code] if code < len(table) else previous + previous[:1]
        unpacked += entry
        if len(unpacked) >= limit:
            break
        if previous and len(table) < MAX_CODES:
            table.append(previous + entry[:1])
        previous = entry
        if len(table) + early >= 1 << width and width < 12:
            width += 1
    return undo_predictor(first_bytes(unpacked, limit), options, budget)


def decode_ascii85(data: bytes, options: dict[str, Any], limit: int, budget: Budget) -> bytes:
    """Decode ASCII85 data: five characters are four bytes; z is four zero bytes."""
    text = data[:MAX_SLOW_INPUT].translate(None, NOT_ASCII85)
    text = text.removeprefix(b"<~").partition(b"~")[0]
    unpacked = bytearray()
    for group in budget.watch(re.finditer(rb"z|[!-u]{1,5}", text)):
        digits = group[0]
        if digits == b"z":
            unpacked += bytes(4)
            continue
        value = 0
        for digit in digits.ljust(5, b"u"):
            value = value * 85 + digit - 33
        unpacked += (value & 0xFFFFFFFF).to_bytes(4, "big")[: len(digits) - 1]
        if len(unpacked) >= limit:
            break
    return first_bytes(unpacked, limit)


def decode_hex(data: bytes, options: dict[str, Any], limit: int, budget: Budget) -> bytes:
    """Decode hexadecimal data; a missing last digit counts as 0."""
    return parse_hex(data.partition(b">")[0])[:limit]


def decode_run_length(data: bytes, options: dict[str, Any], limit: int, budget: Budget) -> bytes:
    """Decode run-length data: a length byte, then bytes to copy or a byte to repeat."""
    data = data[:MAX_SLOW_INPUT]
    unpacked = bytearray()
    position = 0
    for _ in budget.watch(itertools.count()):
        if position >= len(data) or data[position] == 128 or len(unpacked) >= limit:
            break
        length = data[position]
        if length < 128:
            unpacked += data[position + 1 : position + 2 + length]
            position += 2 + length
        else:
            unpacked += data[position + 1 : position + 2] * (257 - length)
            position += 2
    return first_bytes(unpacked, limit)


def first_bytes(data: bytearray, limit: int) -> bytes:
    """Return at most limit bytes with a single copy."""
    return bytes(memoryview(data)[:limit])


FILTERS: dict[str, Callable[[bytes, dict[str, Any], int, Budget], bytes]] = {
    "FlateDecode": inflate, "Fl": inflate, "LZWDecode": decode_lzw, "LZW": decode_lzw,
    "ASCII85Decode": decode_ascii85, "A85": decode_ascii85, "ASCIIHexDecode": decode_hex,
    "AHx": decode_hex, "RunLengthDecode": decode_run_length, "RL": decode_run_length,
}  # fmt: skip


# ----- predictors (7.4.4.4)


def undo_predictor(data: bytes, options: dict[str, Any], budget: Budget) -> bytes:
    """Undo the predictor that was applied before compression."""
    predictor = options.get("Predictor", 1)
    colors, depth, columns = (
        value if isinstance(value := options.get(name, default), int) else default
        for name, default in (("Colors", 1), ("BitsPerComponent", 8), ("Columns", 1))
    )
    if not isinstance(predictor, int) or predictor < 2 or depth not in (1, 2, 4, 8, 16):
        return data
    if not 0 < columns * colors <= MAX_COLUMNS:
        return data
    pixel = max(1, colors * depth // 8)
    row = (colors * depth * columns + 7) // 8
    data = data[:MAX_PREDICTED]
    if predictor >= 10:
        return undo_png(data, row, pixel, budget)
    return undo_tiff(data, row, pixel, budget) if depth == 8 else data


def undo_tiff(data: bytes, row: int, pixel: int, budget: Budget) -> bytes:
    """Undo TIFF predictor 2: each byte is the difference from the previous pixel."""
    out = bytearray(data)
    for start in range(0, len(out), row):
        for position in budget.watch(range(start + pixel, min(start + row, len(out)))):
            out[position] = (out[position] + out[position - pixel]) & 255
    return bytes(out)


def undo_png(data: bytes, row: int, pixel: int, budget: Budget) -> bytes:
    """Undo the PNG predictors; each row begins with its predictor's number."""
    out = bytearray()
    above = bytes(row)
    for start in budget.watch(range(0, len(data), row + 1)):
        line = bytearray(data[start + 1 : start + 1 + row])
        kind = data[start]
        if kind == 2:
            line = bytearray([(value + up) & 255 for value, up in zip(line, above, strict=False)])
        elif kind in (1, 3, 4):
            undo_png_row(line, above, kind, pixel, budget)
        out += line
        above = bytes(line).ljust(row, b"\0")
    return bytes(out)


def undo_png_row(line: bytearray, above: bytes, kind: int, pixel: int, budget: Budget) -> None:
    """Undo the predictors Sub, Average and Paeth in one row."""
    for position in budget.watch(range(len(line))):
        left = line[position - pixel] if position >= pixel else 0
        up = above[position]
        if kind == 1:
            guess = left
        elif kind == 3:
            guess = (left + up) // 2
        else:
            corner = above[position - pixel] if position >= pixel else 0
            estimate = left + up - corner
            guess = min((left, up, corner), key=lambda value: abs(estimate - value))
        line[position] = (line[position] + guess) & 255
