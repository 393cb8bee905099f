"""Read the text of codes and glyphs from embedded font programs, if they contain it.

Fonts without a ToUnicode map need this. Type 1 programs have an encoding in plain text, CFF
programs have an encoding with glyph names, and TrueType programs map characters to glyphs.
"""

from __future__ import annotations

import itertools
import re
import struct

from websearch.pages.pdf.encodings import MAX_NAME, encoding_table, glyph_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_GLYPHS = 65_536  # glyphs per font, the limit of the formats
# Platform and encoding of useful maps in a TrueType program: from Unicode characters to glyphs,
# best first, and from codes to glyphs.
UNICODE_MAPS = ((3, 10), (3, 1), (0, 3), (0, 4))
CODE_MAPS = ((3, 0), (1, 0))
TYPE1_CODE = re.compile(rb"dup\s+(\d{1,3})\s*/([^\s/]{1,60})\s+put")
# Glyphs 150 to 228 of the standard CFF glyph names.
CFF_STANDARD = "¹¬µ™Ð½±Þ¼÷¦°þ¾²®−ð×³©ÁÂÄÀÅÃÇÉÊËÈÍÎÏÌÑÓÔÖÒÕŠÚÛÜÙÝŸŽáâäàåãçéêëèíîïìñóôöòõšúûüùýÿž"


class FontProgram:
    """A font program: the texts for codes (in simple fonts) and for glyph numbers."""

    def __init__(self) -> None:
        self.codes: dict[int, str] = {}
        self.glyphs: dict[int, str] = {}


def read_font_program(data: bytes) -> FontProgram:
    """Return a Type 1, CFF, TrueType or OpenType program; empty if the data is damaged."""
    program = FontProgram()
    try:
        if data[:4] in (b"\0\1\0\0", b"true", b"OTTO"):
            read_truetype(data, program)
        elif data[:1] == b"\1":
            read_cff(data, program)
        else:
            for code, name in TYPE1_CODE.findall(data[:100_000]):
                program.codes[int(code)] = glyph_text(name.decode("latin-1"))
    except (struct.error, ArithmeticError, LookupError, ValueError):
        pass
    return program


# ----- TrueType and OpenType


def read_truetype(data: bytes, program: FontProgram) -> None:
    """Read the cmap and post tables of a TrueType program and the CFF table of OpenType."""
    places: dict[bytes, tuple[int, int]] = {}
    (count,) = struct.unpack_from(">H", data, 4)
    for position in range(12, 12 + 16 * count, 16):
        tag, _, offset, length = struct.unpack_from(">4sIII", data, position)
        places.setdefault(tag, (offset, length))
    tables = {  # not all tables, because each of thousands could cover the whole program
        tag: data[offset : offset + length]
        for tag, (offset, length) in places.items()
        if tag in (b"cmap", b"post", b"CFF ")
    }
    if b"CFF " in tables:
        read_cff(tables[b"CFF "], program)
    maps = dict(character_maps(tables.get(b"cmap", b"")))
    unicode_map = next((maps[kind] for kind in UNICODE_MAPS if maps.get(kind)), None)
    if unicode_map:
        for character, glyph in unicode_map.items():
            good = character >= 0x20 and not 0xD800 <= character < 0xF900
            if good and glyph not in program.glyphs:
                program.glyphs[glyph] = chr(character)
    elif not program.glyphs:
        program.glyphs = post_names(tables.get(b"post", b""))
    by_code = next((maps[kind] for kind in CODE_MAPS if maps.get(kind)), {})
    roman = encoding_table("MacRomanEncoding")
    for code, glyph in by_code.items():
        text = program.glyphs.get(glyph, "")
        if not text and (3, 0) not in maps and not unicode_map:
            text = roman[code & 255]
        if text:
            program.codes[code & 255] = text


def character_maps(table: bytes) -> Iterator[tuple[tuple[int, int], dict[int, int]]]:
    """Yield the platform, encoding and map to glyphs of each known cmap subtable."""
    if not table:
        return
    (count,) = struct.unpack_from(">H", table, 2)
    for position in range(4, 4 + 8 * min(count, 20), 8):
        platform, encoding, offset = struct.unpack_from(">HHI", table, position)
        (kind,) = struct.unpack_from(">H", table, offset)
        name = (platform, encoding)
        if kind in CHARACTER_MAPS and name in UNICODE_MAPS + CODE_MAPS:
            yield name, CHARACTER_MAPS[kind](table[offset:])


def byte_map(table: bytes) -> dict[int, int]:
    """Return the map from a subtable of format 0: a glyph for each of 256 codes."""
    return {code: glyph for code, glyph in enumerate(table[6:262]) if glyph}


def segment_map(table: bytes) -> dict[int, int]:
    """Return the map from a subtable of format 4: segments of characters."""
    count = struct.unpack_from(">H", table, 6)[0] // 2
    ends = struct.unpack_from(f">{count}H", table, 14)
    starts = struct.unpack_from(f">{count}H", table, 16 + 2 * count)
    deltas = struct.unpack_from(f">{count}H", table, 16 + 4 * count)
    where = 16 + 6 * count
    offsets = struct.unpack_from(f">{count}H", table, where)
    glyphs: dict[int, int] = {}
    left = MAX_GLYPHS  # overlapping segments could take hours
    for segment in range(count):
        characters = range(starts[segment], min(ends[segment], 0xFFFE) + 1)
        left -= len(characters)
        if left < 0:
            break
        for character in characters:
            glyph = character
            if offsets[segment]:
                position = where + 2 * segment + offsets[segment]
                position += 2 * (character - starts[segment])
                if position + 2 > len(table):
                    break
                (glyph,) = struct.unpack_from(">H", table, position)
                if not glyph:
                    continue
            glyphs[character] = (glyph + deltas[segment]) & 0xFFFF
    return glyphs


def trimmed_map(table: bytes) -> dict[int, int]:
    """Return the map from a subtable of format 6: glyphs for consecutive characters."""
    first, count = struct.unpack_from(">HH", table, 6)
    glyphs = struct.unpack_from(f">{count}H", table, 10)
    return {first + position: glyph for position, glyph in enumerate(glyphs) if glyph}


def group_map(table: bytes) -> dict[int, int]:
    """Return the map from a subtable of format 12: groups of consecutive characters and glyphs."""
    (count,) = struct.unpack_from(">I", table, 12)
    glyphs: dict[int, int] = {}
    left = MAX_GLYPHS  # characters in all groups, which may overlap
    for position in range(16, 16 + 12 * min(count, MAX_GLYPHS), 12):
        first, last, glyph = struct.unpack_from(">III", table, position)
        left -= last - first + 1
        if last > 0x10FFFF or first > last or left < 0:
            break
        glyphs.update(
            zip(range(first, last + 1), range(glyph, glyph + last - first + 1), strict=True)
        )
    return glyphs


CHARACTER_MAPS = {0: byte_map, 4: segment_map, 6: trimmed_map, 12: group_map}


def post_names(table: bytes) -> dict[int, str]:
    """Return the text of each glyph with a name in the post table (format 2)."""
    if len(table) < 34 or table[:4] != b"\0\2\0\0":
        return {}
    (count,) = struct.unpack_from(">H", table, 32)
    numbers = struct.unpack_from(f">{count}H", table, 34)
    names = []
    position = 34 + 2 * count
    while position < len(table):
        end = position + 1 + table[position]
        names.append(table[position + 1 : end].decode("latin-1"))
        position = end
    glyphs = {}
    for glyph, number in enumerate(numbers):
        # Glyph names below 258 are the Macintosh glyphs, which have ASCII in order.
        name = names[number - 258] if 258 <= number < 258 + len(names) else ""
        text = chr(number + 29) if 3 <= number <= 97 else glyph_text(name)
        if text:
            glyphs[glyph] = text
    return glyphs


# ----- CFF (Adobe Technical Note 5176)


def read_cff(data: bytes, program: FontProgram) -> None:
    """Read the glyph names and the encoding of a CFF program; numbered glyphs have neither."""
    _, position = cff_index(data, data[2])
    dictionaries, position = cff_index(data, position)
    strings, _ = cff_index(data, position)
    top = cff_dictionary(dictionaries[0])
    if (12, 30) in top:  # ROS: glyphs have numbers instead of names
        return
    count = struct.unpack_from(">H", data, int(top[(17,)][0]))[0]
    standard = [text for text in encoding_table("StandardEncoding") if text]
    known: list[str] = ["", *standard, *CFF_STANDARD]

    def text_of_string(number: int) -> str:
        if number < len(known):
            return known[number]
        own = number - 391
        name = strings[own][:MAX_NAME] if 0 <= own < len(strings) else b""
        return glyph_text(name.decode("latin-1"))

    offset = int(top.get((15,), [0])[0])
    numbers = cff_charset(data, offset, count) if offset > 2 else list(range(1, count))
    program.glyphs = {glyph: text_of_string(number) for glyph, number in enumerate(numbers, 1)}
    offset = int(top.get((16,), [0])[0])
    if offset > 1:
        for code, glyph in cff_encoding(data, offset):
            program.codes[code] = program.glyphs.get(glyph, "")
    elif offset == 0:
        program.codes = {
            code: text for code, text in enumerate(encoding_table("StandardEncoding")) if text
        }


def cff_index(data: bytes, position: int) -> tuple[list[bytes], int]:
    """Return the items in an index and the position after it; ValueError if items overlap."""
    (count,) = struct.unpack_from(">H", data, position)
    if not count:
        return [], position + 2
    size = data[position + 2]
    begin = position + 3
    offsets = [
        int.from_bytes(data[begin + size * index : begin + size * (index + 1)], "big")
        for index in range(count + 1)
    ]
    if offsets != sorted(offsets):  # each of thousands could cover the whole program
        raise ValueError("the items overlap")
    begin += size * (count + 1) - 1
    items = [data[begin + start : begin + end] for start, end in itertools.pairwise(offsets)]
    return items, begin + offsets[-1]


def cff_dictionary(data: bytes) -> dict[tuple[int, ...], list[float]]:
    """Return the operators in a dictionary with the numbers before each; real numbers become 0."""
    fields: dict[tuple[int, ...], list[float]] = {}
    numbers: list[float] = []
    position = 0
    while position < len(data):
        byte = data[position]
        position += 1
        if byte <= 21:
            operator = (byte,) if byte != 12 else (12, data[position])
            position += byte == 12
            fields[operator] = numbers
            numbers = []
        elif byte in (28, 29):
            size = 2 if byte == 28 else 4
            numbers.append(int.from_bytes(data[position : position + size], "big", signed=True))
            position += size
        elif byte == 30:
            while position < len(data) and data[position] & 15 != 15:
                position += 1
            position += 1
            numbers.append(0)
        elif byte <= 246:
            numbers.append(byte - 139)
        else:
            sign, base = (1, 247) if byte <= 250 else (-1, 251)
            numbers.append(sign * ((byte - base) * 256 + data[position] + 108))
            position += 1
    return fields


def cff_charset(data: bytes, position: int, count: int) -> list[int]:
    """Return the string numbers of all glyph names except the first; ValueError if damaged."""
    kind = data[position]
    position += 1
    if kind == 0:
        return list(struct.unpack_from(f">{count - 1}H", data, position))
    if kind > 2:  # the size of a range would have more than two bytes
        raise ValueError("unknown format of the charset")
    numbers: list[int] = []
    while len(numbers) < count - 1:
        (first,) = struct.unpack_from(">H", data, position)
        left = int.from_bytes(data[position + 2 : position + 2 + kind], "big")
        numbers += range(first, first + left + 1)
        position += 2 + kind
    return numbers


def cff_encoding(data: bytes, position: int) -> Iterator[tuple[int, int]]:
    """Yield the codes and glyph numbers in a program's encoding."""
    kind, count = data[position] & 127, data[position + 1]
    position += 2
    if kind == 0:
        for glyph in range(1, count + 1):
            yield data[position + glyph - 1], glyph
        return
    glyph = 1
    for _ in range(count):
        first, left = data[position], data[position + 1]
        position += 2
        for code in range(first, first + left + 1):
            yield code, glyph
            glyph += 1
