"""Read fonts, which determine the text and width of shown strings (ISO 32000-1, 9.5 to 9.10)."""

from __future__ import annotations

import re

from websearch.pages.pdf.cids import collection_texts
from websearch.pages.pdf.cmaps import (
    CMap,
    codec_of,
    decode_string,
    find_range,
    parse_cmap,
    two_byte_codes,
)
from websearch.pages.pdf.encodings import encoding_table, glyph_text, standard_widths
from websearch.pages.pdf.fontfiles import FontProgram, read_font_program
from websearch.pages.pdf.limits import MAX_CMAP_ENTRIES
from websearch.pages.pdf.syntax import Stream, decode_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.pdf.file import PdfFile

DEFAULT_WIDTH = 500.0  # thousandths of the font size, for glyphs without a width
TEX_LIGATURES = {11: "ff", 12: "fi", 13: "fl", 14: "ffi", 15: "ffl"}
NARROW_END = "\u0250"  # end of the Latin letters
MAX_FONT_FILE = 4_000_000  # bytes to read from an embedded program
# Code points of glyphs in symbol fonts.
PRIVATE_USE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
# Ligatures, second codes for space and hyphen, and bullets in the most common symbol fonts.
MEANINGS = str.maketrans(
    {
        "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
        "\ufb05": "st", "\ufb06": "st", "\u00a0": " ", "\u00ad": "-",
        "\uf0b7": "\u2022", "\uf0a7": "\u2022",
    }
)  # fmt: skip


class Font:
    """A font for shown strings.

    vertical: whether lines run downward. em: height of letters in font sizes; 1 except in Type 3
    fonts.
    """

    vertical = is_composite = False
    em = 1.0

    def entries(self) -> int:
        """Return the approximate number of texts and widths in memory."""
        return 256

    def glyphs(self, data: bytes) -> list[tuple[str, float, bool]]:
        """Return (text, width, whether word spacing applies) for each code in a string.

        The text for an unknown code is "". Widths are in thousandths.
        """
        raise NotImplementedError

    def codes(self, data: bytes) -> list[bytes]:
        """Split a string into its codes."""
        return [data[position : position + 1] for position in range(len(data))]

    def measure(self, data: bytes) -> tuple[list[str], float, int]:
        """Return the texts of a string's codes, the string's width and its number of spaces."""
        glyphs = self.glyphs(data)
        width = sum(advance for _, advance, _ in glyphs)
        return [text for text, _, _ in glyphs], width, sum(space for _, _, space in glyphs)


class SimpleFont(Font):
    """A font with one-byte codes: Type 1, TrueType or Type 3."""

    def __init__(self, file: PdfFile, fields: dict[str, Any]) -> None:
        self.texts = simple_texts(file, fields)
        self.widths = simple_widths(file, fields, self.texts)
        if fields.get("Subtype") == "Type3":
            matrix = file.numbers(fields, "FontMatrix", 6) or [0.001, 0, 0, 0.001, 0, 0]
            self.widths = [width * abs(matrix[0]) * 1000 for width in self.widths]
            self.em = self.drawn_size(file.numbers(fields, "FontBBox", 4), matrix)

    def drawn_size(self, box: list[float] | None, matrix: list[float]) -> float:
        """Return the height of a Type 3 font's letters, from its box or its widths."""
        height = abs(box[3] - box[1]) * abs(matrix[3]) if box else 0.0
        widths = [width for width in self.widths if width]
        broad = 2 * sum(widths) / len(widths) / 1000 if widths else 1.0
        return height if 0.5 * broad < height < 3 * broad else broad

    def glyphs(self, data: bytes) -> list[tuple[str, float, bool]]:
        """See Font."""
        return [(self.texts[code], self.widths[code], code == 32) for code in data]

    def measure(self, data: bytes) -> tuple[list[str], float, int]:
        """See Font."""
        texts, widths = self.texts, self.widths
        return (
            [texts[code] for code in data],
            sum([widths[code] for code in data]),
            data.count(b" "),
        )


def simple_texts(file: PdfFile, fields: dict[str, Any]) -> list[str]:
    """Return the text for each code in a simple font.

    ToUnicode takes precedence over the names in Differences, and these names over the encoding.
    """
    to_unicode = unicode_map(file, fields)
    texts = base_texts(file, fields, reads_program=to_unicode is None)
    encoding = file.field(fields, "Encoding")
    code = 0
    for item in file.items(encoding, "Differences"):
        if isinstance(item, int):
            code = item
        elif isinstance(item, str) and 0 <= code < 256:
            texts[code] = glyph_text(item) or numbered_glyph(item, code)
            code += 1
    if to_unicode:
        texts = [usable_text(to_unicode.text(code)) or text for code, text in enumerate(texts)]
    return [usable_text(text) for text in texts]


def numbered_glyph(name: str, code: int) -> str:
    """Return the text of a glyph whose name contains its code, such as a65; "" for other glyphs.

    TeX's bitmap fonts have such names and ASCII at its usual codes.
    """
    if not re.fullmatch(rf"[A-Za-z]{{1,2}}0*{code}", name):
        return ""
    return TEX_LIGATURES.get(code) or (chr(code) if 32 < code < 127 else "")


def base_texts(file: PdfFile, fields: dict[str, Any], reads_program: bool) -> list[str]:
    """Return the text for each code in a simple font's base encoding.

    reads_program: whether the embedded program may add to the standard encoding.
    """
    encoding = file.field(fields, "Encoding")
    name = encoding if isinstance(encoding, str) else file.field(encoding, "BaseEncoding")
    if name in ("WinAnsiEncoding", "MacRomanEncoding", "StandardEncoding"):
        return encoding_table(name)[:]
    font_name = str(file.field(fields, "BaseFont") or "")
    for symbol_font in ("Symbol", "ZapfDingbats"):
        if re.fullmatch(rf"(?:[A-Z]{{6}}\+)?{symbol_font}(?:MT)?(?:,\w+)?", font_name):
            return encoding_table(symbol_font)[:]
    if fields.get("Subtype") == "Type3":
        return [""] * 256
    is_truetype = fields.get("Subtype") == "TrueType"
    table = encoding_table("WinAnsiEncoding" if is_truetype else "StandardEncoding")[:]
    if reads_program:
        program = font_program(file, file.fields(fields, "FontDescriptor"))
        for code, text in program.codes.items():
            if text and code < 256:
                table[code] = text
    return table


def usable_text(text: str) -> str:
    """Return the text that a glyph shows, without private-use characters."""
    return PRIVATE_USE.sub("", text.translate(MEANINGS))


def unicode_map(file: PdfFile, fields: dict[str, Any]) -> CMap | None:
    """Return a font's ToUnicode map; None if it is missing or empty."""
    stream = file.field(fields, "ToUnicode")
    data = file.stream_data(stream) if isinstance(stream, Stream) else None
    cmap = parse_cmap(data, file.budget) if data else None
    return cmap if cmap and (cmap.texts or cmap.text_ranges) else None


def font_program(file: PdfFile, descriptor: dict[str, Any]) -> FontProgram:
    """Return a font's embedded program."""
    for name in ("FontFile", "FontFile2", "FontFile3"):
        stream = file.field(descriptor, name)
        if isinstance(stream, Stream):
            return read_font_program(file.stream_data(stream, MAX_FONT_FILE) or b"")
    return FontProgram()


def simple_widths(file: PdfFile, fields: dict[str, Any], texts: list[str]) -> list[float]:
    """Return the width of each code, taken from a standard font if the font has no widths."""
    descriptor = file.fields(fields, "FontDescriptor")
    listed = file.items(fields, "Widths")
    if listed:
        missing = file.field(descriptor, "MissingWidth")
        widths = [float(missing) if isinstance(missing, (int, float)) else 0.0] * 256
        first = file.field(fields, "FirstChar")
        start = first if isinstance(first, int) else 0
        for code, width in enumerate(listed[: 256 - start], start):
            if 0 <= code < 256 and isinstance(width, (int, float)):
                widths[code] = float(width)
        return widths
    known = standard_widths(str(file.field(fields, "BaseFont") or ""))
    return [float(standard_width(text, known)) for text in texts]


def standard_width(text: str, known: dict[str, int]) -> float:
    """Return the width of a character, or of the base letter for a letter with an accent."""
    import unicodedata

    plain = unicodedata.normalize("NFD", text)[:1]
    return known.get(plain, DEFAULT_WIDTH)


class CompositeFont(Font):
    """A Type 0 font, whose codes may have several bytes and represent numbered glyphs."""

    is_composite = True

    def __init__(self, file: PdfFile, fields: dict[str, Any]) -> None:
        descendant = (file.items(fields, "DescendantFonts") or [{}])[0]
        encoding = file.field(fields, "Encoding")
        name = encoding if isinstance(encoding, str) else ""
        self.codec = codec_of(name) if name and "Identity" not in name else ""
        data = file.stream_data(encoding) if isinstance(encoding, Stream) else None
        self.cmap = parse_cmap(data, file.budget) if data else None
        self.vertical = name.endswith("V") or bool(self.cmap and self.cmap.vertical)
        self.to_unicode = unicode_map(file, fields)
        self.program = FontProgram()
        self.glyph_numbers = b""
        ordering = file.field(file.fields(descendant, "CIDSystemInfo"), "Ordering")
        self.collection = collection_texts(decode_text(ordering)) if ordering else {}
        if not self.to_unicode and not self.codec and not self.collection:
            self.program = font_program(file, file.fields(descendant, "FontDescriptor"))
            to_glyphs = file.field(descendant, "CIDToGIDMap")
            if isinstance(to_glyphs, Stream):
                self.glyph_numbers = file.stream_data(to_glyphs, 2 * 65_536) or b""
        vertical = file.numbers(descendant, "DW2", 2)
        default = file.field(descendant, "DW")
        if self.vertical:
            default = abs(vertical[1]) if vertical else 1000.0
        self.default_width = float(default) if isinstance(default, (int, float)) else 1000.0
        self.widths = composite_widths(file, descendant)
        self.known: dict[int, tuple[str, float, bool]] = {}

    def glyphs(self, data: bytes) -> list[tuple[str, float, bool]]:
        """See Font."""
        if self.codec and not self.cmap:
            return self.decoded_glyphs(data)
        codes = self.cmap.split(data) if self.cmap else two_byte_codes(data)
        known = self.known
        for code in codes:
            if code not in known:
                if len(known) > MAX_CMAP_ENTRIES:
                    known.clear()
                known[code] = self.glyph(code)
        return [known[code] for code in codes]

    def codes(self, data: bytes) -> list[bytes]:
        """See Font. Strings with codes of other lengths than two bytes are rare and not split."""
        if self.codec or (self.cmap and self.cmap.sizes):
            return [data]
        return [data[position : position + 2] for position in range(0, len(data), 2)]

    def entries(self) -> int:
        """See Font."""
        maps = [cmap for cmap in (self.cmap, self.to_unicode) if cmap]
        held = sum(len(cmap.texts) + len(cmap.text_ranges) + len(cmap.glyphs) for cmap in maps)
        return held + len(self.widths[0]) + len(self.widths[1]) + len(self.program.glyphs) + 256

    def glyph(self, code: int) -> tuple[str, float, bool]:
        """Return (text, width, False) for a code."""
        number = self.cmap.glyph(code) if self.cmap else code
        text = self.to_unicode.text(code) if self.to_unicode else ""
        text = text or self.collection.get(number, "")
        if not text and self.program.glyphs:
            pair = self.glyph_numbers[2 * number : 2 * number + 2]
            text = self.program.glyphs.get(int.from_bytes(pair, "big") if pair else number, "")
        return usable_text(text), self.width(number), False

    def decoded_glyphs(self, data: bytes) -> list[tuple[str, float, bool]]:
        """Return the glyphs of a string whose codes a codec reads.

        Without the CMap file, glyph numbers and widths are unknown, so Latin letters are assumed
        to be half as wide as other characters.
        """
        glyphs = []
        position = 0
        for size, decoded in decode_string(data, self.codec):
            code = int.from_bytes(data[position : position + size], "big")
            text = (self.to_unicode.text(code) if self.to_unicode else "") or decoded
            narrow = not self.vertical and decoded < NARROW_END
            width = self.default_width / 2 if narrow else self.default_width
            glyphs.append((usable_text(text), width, size == 1 and code == 32))
            position += size
        return glyphs

    def width(self, number: int) -> float:
        """Return the width of a glyph; number: its glyph number."""
        if self.vertical:
            return self.default_width
        if number in self.widths[0]:
            return self.widths[0][number]
        _, _, width = find_range(self.widths[1], number) or (0, 0, self.default_width)
        return float(width)


def composite_widths(
    file: PdfFile, descendant: dict[str, Any]
) -> tuple[dict[int, float], list[tuple[int, int, float]]]:
    """Return the widths of single glyphs and of sorted glyph ranges, from the W array."""
    single: dict[int, float] = {}
    ranges: list[tuple[int, int, float]] = []
    items = file.items(descendant, "W")
    position = 0
    left = MAX_CMAP_ENTRIES  # the same list may be referenced many times
    while position + 1 < len(items) and left > 0:
        first, second = items[position], items[position + 1]
        if isinstance(first, int) and isinstance(second, list):
            left -= len(second)
            for number, width in enumerate(second[:MAX_CMAP_ENTRIES], first):
                if isinstance(width, (int, float)):
                    single[number] = float(width)
            position += 2
            continue
        width = items[position + 2] if position + 2 < len(items) else None
        if isinstance(first, int) and isinstance(second, int) and isinstance(width, (int, float)):
            ranges.append((first, second, float(width)))
        position += 3
    return single, sorted(ranges)


def make_font(file: PdfFile, fields: dict[str, Any]) -> Font:
    """Return the font for a font dictionary."""
    is_composite = fields.get("Subtype") == "Type0" or "DescendantFonts" in fields
    return CompositeFont(file, fields) if is_composite else SimpleFont(file, fields)
