"""Small font programs for tests: a TrueType one with two character maps, and a CFF one."""

from __future__ import annotations

import struct


def truetype_program(unicode_map: dict[int, int], code_map: dict[int, int]) -> bytes:
    """Return a program with a Windows Unicode map and a Macintosh map of codes."""
    segments = [*sorted(unicode_map.items()), (0xFFFF, 0)]
    count = len(segments)
    ends = b"".join(struct.pack(">H", character) for character, _ in segments)
    deltas = b"".join(
        struct.pack(">H", (glyph - character) & 0xFFFF) for character, glyph in segments
    )
    format4 = struct.pack(">HHHHHHH", 4, 16 + 8 * count, 0, 2 * count, 0, 0, 0)
    format4 += ends + bytes(2) + ends + deltas + bytes(2 * count)
    codes = bytes(code_map.get(code, 0) for code in range(256))
    format0 = struct.pack(">HHH", 0, 262, 0) + codes
    head = struct.pack(">HH", 0, 2)
    head += struct.pack(">HHI", 1, 0, 20) + struct.pack(">HHI", 3, 1, 20 + len(format0))
    return with_tables([(b"cmap", head + format0 + format4)])


def with_tables(tables: list[tuple[bytes, bytes]]) -> bytes:
    """Return a TrueType program with these tables; tables with the same content share it."""
    contents = dict.fromkeys(content for _, content in tables)
    place = 12 + 16 * len(tables)
    offsets = {}
    for content in contents:
        offsets[content] = place
        place += len(content)
    directory = struct.pack(">IHHHH", 0x00010000, len(tables), 0, 0, 0)
    for tag, content in tables:
        directory += struct.pack(">4sIII", tag, 0, offsets[content], len(content))
    return directory + b"".join(contents)


def repeated_table(tag: bytes, count: int, size: int) -> bytes:
    """Return a TrueType program that lists one table again and again."""
    directory = struct.pack(">IHHHH", 0x00010000, count, 0, 0, 0)
    return directory + struct.pack(">4sIII", tag, 0, 12, size) * count + bytes(size)


def with_map(subtable: bytes) -> bytes:
    """Return a TrueType program whose Unicode map is this subtable."""
    return with_tables([(b"cmap", struct.pack(">HHHHI", 0, 1, 3, 1, 12) + subtable)])


def overlapping_segments(count: int) -> bytes:
    """Return a subtable of format 4 whose segments all hold every character."""
    head = struct.pack(">HHHHHHH", 4, 0, 0, 2 * count, 0, 0, 0)
    return head + b"\xff\xfe" * count + bytes(2) + bytes(6 * count)


def overlapping_groups(count: int) -> bytes:
    """Return a subtable of format 12 whose groups all hold the same characters."""
    head = struct.pack(">HHIII", 12, 0, 0, 0, count)
    return head + struct.pack(">III", 32, 30_000, 1) * count


def overlapping_index(count: int, size: int) -> bytes:
    """Return a CFF program whose first index has count items, every second one of size bytes."""
    offsets = [1, 1 + size] * (count // 2) + [1]
    packed = b"".join(struct.pack(">I", offset) for offset in offsets)
    return b"\1\0\4\2" + struct.pack(">HB", len(offsets) - 1, 4) + packed + bytes(size)


def cff_program(names: list[str], codes: list[int]) -> bytes:
    """Return a program with these glyphs, each with its code."""

    def index(items: list[bytes]) -> bytes:
        offsets = [1]
        for item in items:
            offsets.append(offsets[-1] + len(item))
        packed = b"".join(struct.pack(">H", offset) for offset in offsets)
        return struct.pack(">HB", len(items), 2) + packed + b"".join(items)

    def number(value: int) -> bytes:
        return b"\x1d" + struct.pack(">i", value)

    header = b"\1\0\4\2"
    strings = index([name.encode() for name in names])
    size = len(header + index([b"Test"]) + strings + index([])[:2])
    size += len(index([(number(0) + b"\0") * 3]))
    charset_at = size
    charset = b"\0" + b"".join(struct.pack(">H", 391 + place) for place in range(len(names)))
    encoding_at = charset_at + len(charset)
    encoding = bytes([0, len(codes), *codes])
    glyphs = index([b"\x0e"] * (len(names) + 1))
    top = number(charset_at) + b"\x0f" + number(encoding_at) + b"\x10"
    top += number(encoding_at + len(encoding)) + b"\x11"
    return (
        header + index([b"Test"]) + index([top]) + strings + b"\0\0" + charset + encoding + glyphs
    )
