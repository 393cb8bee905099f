"""Content streams: from operators to pieces of text (ISO 32000-1, 8.4, 8.10, 9.3, 9.4, 14.9.4)."""

from __future__ import annotations

import math
import re

from websearch.pdf.bidi import RIGHT_TO_LEFT, WORD_GAP
from websearch.pdf.fonts import Font, make_font
from websearch.pdf.layout import CELL_GAP, PageText, Piece
from websearch.pdf.limits import MAX_FORM_DEPTH, MAX_ITEMS, MAX_STATES
from websearch.pdf.syntax import (
    REGULAR,
    SPACE,
    Reference,
    Stream,
    decode_text,
    parse_hex,
    parse_name,
    parse_number,
    parse_string,
    parse_value,
)

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.pdf.bidi import Glyph
    from websearch.pdf.file import PdfFile

    Matrix = tuple[float, float, float, float, float, float]

IDENTITY = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
LARGEST = 1e6  # of a coordinate; beyond, nothing is on a page
# Numbers are kept as they stand, because most belong to drawing operators, which are skipped.
TOKEN = re.compile(
    rb"[%(space)b]*(?:"
    rb"(?P<numbers>[-+.\d][-+.\d\t\n\f\r ]*)"
    rb"|(?P<operator>[A-Za-z'\"][A-Za-z0-9*'\"]*)"
    rb"|\((?P<plain>[^()\\\r]{0,10000})\)"
    rb"|(?P<string>\()"
    rb"|<(?P<hex>[0-9A-Fa-f%(space)b]{0,100000})>"
    rb"|/(?P<name>%(regular)b*)"
    rb"|(?P<open>\[)"
    rb"|(?P<close>\])"
    rb"|(?P<dictionary><<)"
    rb"|(?P<comment>%%[^\r\n]*)"
    rb"|(?P<end>\Z)"
    rb"|(?P<junk>[\s\S]))" % {b"space": SPACE, b"regular": REGULAR}
)
IMAGE_DATA = re.compile(rb"[%b]ID[%b]" % (SPACE, SPACE))
# The end of an inline image; behind it, text rather than bytes of the image.
IMAGE_END = re.compile(rb"[%b]EI(?=[%b]|\Z)(?![\s\S]{0,10}[\x80-\xff\x01-\x08])" % (SPACE, SPACE))
TEXT_OPERATOR = re.compile(rb"T[jJ]|['\"]|Do")
CHECK_EVERY = 2_000  # operators between two looks at the clock
MAX_FONT_ENTRIES = 150_000  # widths and texts of codes in all fonts that are kept: about 30 MB
SPREAD = 0.5  # font sizes of character spacing; more sets single characters apart
HYPHENS = ("-", "\u2010", "\u00ad")


def multiply(one: Matrix, two: Matrix) -> Matrix:
    """Return the matrix that applies one first, then two."""
    a, b, c, d, e, f = one
    g, h, i, j, k, m = two
    return (
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + m,
    )


def parse_numbers(raw: bytes) -> list[float]:
    """Return the numbers in a piece of a content stream."""
    try:
        return [float(token) for token in raw.split()]
    except ValueError:
        return [float(parse_number(token)) for token in raw.split()]


class State:
    """The graphics state, as far as it concerns text."""

    __slots__ = ("char_space", "font", "font_size", "leading", "matrix", "rise", "scale",
                 "word_space")  # fmt: skip

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.font: Font | None = None
        self.font_size, self.scale = 0.0, 1.0
        self.char_space = self.word_space = self.leading = self.rise = 0.0

    def copy(self) -> State:
        """Return a copy, for the operator q."""
        twin = State(self.matrix)
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin


class Frame:
    """Where a string is shown: the direction of its text, and its scale on the page.

    unit: one em along the text, in text space. char_space: what is added to each glyph's width.
    """

    def __init__(self, font: Font, state: State, matrix: Matrix) -> None:
        self.font, self.matrix, self.rise = font, matrix, state.rise
        a, b, c, d, _, _ = matrix
        if font.vertical:
            self.unit, sign = state.font_size, -1.0  # negative spacing spreads vertical text
            x, y, height = -c, -d, math.hypot(a, b)
        else:
            self.unit, sign = state.font_size * state.scale, state.scale
            x, y, height = a, b, math.hypot(c, d)
        self.char_space, self.word_space = state.char_space * sign, state.word_space * sign
        # Whether single characters are set far apart, as in the boxes of a form.
        self.is_spread = self.char_space > SPREAD * abs(self.unit) > 0
        self.length = math.hypot(x, y)  # on the page, of one unit of text space
        self.size = abs(state.font_size) * height * font.em
        forward = math.copysign(self.length, self.unit) or 1.0
        self.direction = (x / forward, y / forward)

    def advance(self, width: float, count: int, spaces: int) -> float:
        """Return how far so many glyphs of this width together lead, in text space."""
        return width / 1000 * self.unit + count * self.char_space + spaces * self.word_space

    def piece(self, text: str, start: float, end: float) -> Piece | None:
        """Return the piece of a text between two places; None if it cannot be seen."""
        x, y = (0.0, -start) if self.font.vertical else (start, self.rise)
        a, b, c, d, e, f = self.matrix
        origin = (x * a + y * c + e, x * b + y * d + f)
        length = abs(end - start) * self.length
        if not (0 < self.size < LARGEST and 0 < self.length and length < LARGEST):
            return None
        if not (-LARGEST < origin[0] < LARGEST and -LARGEST < origin[1] < LARGEST):
            return None
        return Piece(text, origin, self.direction, length, self.size)

    def glyphs(self, strings: list[tuple[bytes, float]], piece: Piece, start: float) -> list[Glyph]:
        """Return each glyph of a piece that began at a place, with its start and end."""
        scale = math.copysign(self.length, self.unit)
        glyphs: list[Glyph] = []
        for data, place in strings:
            for text, width, is_space in self.font.glyphs(data):
                begin = piece.start + (place - start) * scale
                place += self.advance(width, 1, is_space)  # noqa: PLW2901
                if text:
                    glyphs.append((text, begin, begin + width / 1000 * abs(self.unit) * self.length))
        return glyphs


class ShownText:
    """Strings that are shown one after the other, and the pieces that they make.

    place: where the next glyph goes, in text space. count and unknown: of all codes, and of those
    without a known meaning.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.pieces: list[Piece] = []
        self.place = self.start = self.end = 0.0
        self.count = self.unknown = 0
        self.texts: list[str] = []  # of the current piece
        self.strings: list[tuple[bytes, float]] = []  # of the current piece, and where each starts

    def add(self, data: bytes) -> None:
        """Add a string."""
        if not self.strings:
            self.start = self.place
        found, width, spaces = self.frame.font.measure(data)
        self.strings.append((data, self.place))
        self.count += len(found)
        self.unknown += found.count("")
        text = "".join(found)
        if text[:1] == " " and self.texts and self.texts[-1] == " ":
            self.texts.pop()
        if text:
            self.texts.append(text)
        self.place += self.frame.advance(width, len(found), spaces)
        self.end = self.place - self.frame.char_space

    def skip(self, gap: float) -> None:
        """Leave a gap, in ems."""
        self.place += gap * self.frame.unit
        if gap > CELL_GAP or gap < -WORD_GAP:
            self.end_piece()
        elif gap > WORD_GAP * self.frame.font.em and self.texts and self.texts[-1][-1:] != " ":
            self.texts.append(" ")

    def skip_spacing(self) -> None:
        """Take notice of the gap that character spacing has left after the glyph before."""
        if self.strings:
            gap = self.frame.char_space / abs(self.frame.unit)
            self.skip(gap)
            self.place -= gap * self.frame.unit

    def end_piece(self) -> None:
        """Make a piece of what was shown since the last one."""
        text = "".join(self.texts)
        piece = self.frame.piece(text, self.start, self.end) if text else None
        if piece:
            if RIGHT_TO_LEFT.search(text):
                piece.glyphs = self.frame.glyphs(self.strings, piece, self.start)
            self.pieces.append(piece)
        self.texts, self.strings = [], []


class ActualText:
    """The text that a marked sequence stands for, and the pieces that are shown for it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces: list[Piece] = []


class ContentReader:
    """Reads the content streams of pages.

    shown and unknown count the codes that were shown, and those without a known meaning.
    largest_image is the area of the largest image of the current page, in units of the page.
    """

    def __init__(self, file: PdfFile) -> None:
        self.file = file
        self.fonts: dict[int, tuple[Any, Font]] = {}
        self.font_entries = 0
        self.forms_without_text: set[int] = set()
        self.shown = self.unknown = self.operators = 0
        self.begin(PageText())

    def begin(self, page: PageText) -> None:
        """Begin a page."""
        self.page = page
        self.state = State(IDENTITY)
        self.text_matrix = self.line_matrix = IDENTITY
        self.marks: list[ActualText | None] = []
        self.actual: ActualText | None = None
        self.active_forms: set[int] = set()
        self.held_bytes = 0  # of the form XObjects that are being read
        self.largest_image = 0.0

    # ----- the loop over operators

    def run(self, data: bytes, resources: dict[str, Any]) -> None:
        """Carry out the operators of a content stream. Raises OutOfBudgetError."""
        match = TOKEN.match
        numbers = b""
        operands: list[Any] = []
        array: list[Any] | None = None
        states: list[State] = []
        position = 0
        while token := match(data, position):
            position = token.end()
            kind = token.lastgroup
            value: Any
            if kind == "numbers":
                if array is None:
                    numbers = numbers + b" " + token["numbers"] if numbers else token["numbers"]
                elif len(array) < MAX_ITEMS:
                    array += parse_numbers(token["numbers"])
                continue
            if kind == "operator":
                name = token["operator"]
                if name in OPERATORS:
                    OPERATORS[name](self, parse_numbers(numbers), operands, resources)
                elif name == b"q":
                    self.save(states)
                elif name == b"Q":
                    self.restore(states)
                elif name == b"BI":
                    position = self.skip_image(data, position)
                numbers, array = b"", None
                if operands:
                    operands = []
                self.operators += 1
                if self.operators % CHECK_EVERY == 0:
                    self.file.budget.check_time()
                continue
            if kind == "plain":
                value = token["plain"]
            elif kind == "string":
                value, position = parse_string(data, position)
            elif kind == "hex":
                value = parse_hex(token["hex"])
            elif kind == "name":
                value = parse_name(token["name"])
            elif kind == "open":
                array = value = []
            elif kind == "close":
                array = None
                continue
            elif kind == "dictionary":
                value, position, _ = parse_value(data, token.start("dictionary"))
            elif kind == "end":
                return
            else:
                continue
            target = operands if array is None or array is value else array
            if len(target) < MAX_ITEMS:
                target.append(value)

    def save(self, states: list[State]) -> None:
        """Carry out q."""
        if len(states) < MAX_STATES:
            states.append(self.state.copy())

    def restore(self, states: list[State]) -> None:
        """Carry out Q."""
        if states:
            self.state = states.pop()

    def skip_image(self, data: bytes, position: int) -> int:
        """Return the position after an inline image."""
        self.note_image()
        begin = IMAGE_DATA.search(data, position)
        end = IMAGE_END.search(data, begin.end() - 1) if begin else None
        return end.end() if end else len(data)

    def note_image(self) -> None:
        """Take notice of an image, which fills the unit square of the current matrix."""
        a, b, c, d, _, _ = self.state.matrix
        self.largest_image = max(self.largest_image, abs(a * d - b * c))

    # ----- graphics and text state; each takes numbers, other operands, resources

    def concatenate(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out cm."""
        if len(numbers) >= 6:
            a, b, c, d, e, f = numbers[-6:]
            self.state.matrix = multiply((a, b, c, d, e, f), self.state.matrix)

    def begin_text(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out BT."""
        self.text_matrix = self.line_matrix = IDENTITY

    def set_font(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out Tf."""
        if operands and numbers and isinstance(operands[-1], str):
            self.state.font = self.font(operands[-1], resources)
            self.state.font_size = numbers[-1]

    def set_matrix(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out Tm."""
        if len(numbers) >= 6:
            a, b, c, d, e, f = numbers[-6:]
            self.text_matrix = self.line_matrix = (a, b, c, d, e, f)

    def move(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out Td."""
        if len(numbers) >= 2:
            x, y = numbers[-2:]
            a, b, c, d, e, f = self.line_matrix
            self.line_matrix = (a, b, c, d, e + x * a + y * c, f + x * b + y * d)
            self.text_matrix = self.line_matrix

    def move_and_set_leading(self, numbers: list[float], operands: list[Any], _: Any) -> None:
        """Carry out TD."""
        if len(numbers) >= 2:
            self.state.leading = -numbers[-1]
            self.move(numbers, operands, _)

    def next_line(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out T*."""
        self.move([0.0, -self.state.leading], operands, resources)

    # ----- showing text

    def show_one(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out Tj."""
        self.show([item for item in operands[-1:] if isinstance(item, bytes)])

    def show_many(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out TJ."""
        for items in operands[-1:]:
            self.show(items if isinstance(items, list) else [])

    def show_on_next_line(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out the operators ' and ", the second of which sets the spacing first."""
        if len(numbers) >= 2:
            self.state.word_space, self.state.char_space = numbers[-2:]
        self.next_line(numbers, operands, resources)
        self.show_one(numbers, operands, resources)

    def show(self, items: list[Any]) -> None:
        """Show strings; the numbers between them move the next one back, in thousandths."""
        font = self.state.font or self.font("", {})
        frame = Frame(font, self.state, multiply(self.text_matrix, self.state.matrix))
        shown = ShownText(frame)
        for item in items:
            if isinstance(item, (int, float)):
                shown.skip(item / 1000 if font.vertical else -item / 1000)
            elif isinstance(item, bytes) and frame.is_spread:
                for code in font.codes(item):
                    shown.skip_spacing()
                    shown.add(code)
            elif isinstance(item, bytes):
                shown.add(item)
        shown.end_piece()
        self.shown += shown.count
        self.unknown += shown.unknown
        for piece in shown.pieces:
            if self.actual is None:
                self.page.add(piece)
            else:
                self.actual.pieces.append(piece)
        x, y = (0.0, -shown.place) if font.vertical else (shown.place, 0.0)
        a, b, c, d, e, f = self.text_matrix
        self.text_matrix = (a, b, c, d, e + x * a + y * c, f + x * b + y * d)

    # ----- fonts

    def font(self, name: str, resources: dict[str, Any]) -> Font:
        """Return a font of the resources; a standard one if there is none with this name."""
        listed = self.file.fields(resources, "Font").get(name)
        fields = self.file.resolve(listed)
        fields = fields if isinstance(fields, dict) else {}
        key = listed.number if isinstance(listed, Reference) else -id(fields) if fields else 0
        if key not in self.fonts:
            font = make_font(self.file, fields)
            self.font_entries += font.entries()
            if self.font_entries > MAX_FONT_ENTRIES:
                self.fonts.clear()
                self.font_entries = font.entries()
            self.fonts[key] = (fields, font)  # the fields stay alive, and so their id is theirs
        return self.fonts[key][1]

    # ----- marked content

    def begin_mark(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out BMC and BDC; of nested actual texts, the outermost counts."""
        properties = operands[-1] if len(operands) > 1 else None
        if isinstance(properties, str):
            properties = self.file.field(self.file.fields(resources, "Properties"), properties)
        text = self.file.field(properties, "ActualText")
        mark = None
        if isinstance(text, bytes) and self.actual is None:
            mark = self.actual = ActualText(decode_text(text))
        if len(self.marks) < MAX_ITEMS:
            self.marks.append(mark)

    def end_mark(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out EMC: show an actual text in place of what was shown for it."""
        mark = self.marks.pop() if self.marks else None
        if mark is None:
            return
        self.actual = None
        if not mark.pieces:
            return
        first, last = mark.pieces[0], mark.pieces[-1]
        shown = "".join(piece.text for piece in mark.pieces).strip()
        # An empty text that hides a hyphen at the end of a line would leave the word in two.
        text = mark.text or (shown if shown in HYPHENS else "")
        if text:
            first.text = text
            first.end = max(first.end, last.end)
            first.glyphs = None
            if RIGHT_TO_LEFT.search(text):
                first.glyphs = [(text, first.start, first.end)]
            self.page.add(first)

    # ----- form XObjects and annotations

    def show_object(self, numbers: list[float], operands: list[Any], resources: Any) -> None:
        """Carry out Do."""
        names = self.file.fields(resources, "XObject")
        listed = names.get(operands[-1]) if operands and isinstance(operands[-1], str) else None
        stream = self.file.resolve(listed)
        if isinstance(stream, Stream) and stream.fields.get("Subtype") == "Image":
            self.note_image()
        elif isinstance(stream, Stream) and stream.fields.get("Subtype") != "PS":
            self.show_form(stream, resources, IDENTITY)

    def show_form(self, stream: Stream, resources: dict[str, Any], placed: Matrix) -> None:
        """Carry out the operators of a form XObject; placed maps its space to the current one."""
        number = stream.number
        if number in self.active_forms or number in self.forms_without_text:
            return
        if len(self.active_forms) >= MAX_FORM_DEPTH:
            return
        room = self.file.budget.max_stream - self.held_bytes
        data = self.file.stream_data(stream, room) if room > 0 else None
        if not data or not TEXT_OPERATOR.search(data):
            self.forms_without_text.add(number)
            return
        numbers = self.file.numbers(stream, "Matrix", 6) or list(IDENTITY)
        a, b, c, d, e, f = numbers
        own = self.file.fields(stream, "Resources")
        saved = self.state, self.text_matrix, self.line_matrix
        self.state = self.state.copy()
        self.state.matrix = multiply(multiply((a, b, c, d, e, f), placed), self.state.matrix)
        self.active_forms.add(number)
        self.held_bytes += len(data)
        try:
            self.run(data, own or resources)
        finally:
            self.active_forms.discard(number)
            self.held_bytes -= len(data)
            self.state, self.text_matrix, self.line_matrix = saved


def setter(name: str, factor: float = 1.0) -> Callable[..., None]:
    """Return what carries out an operator that sets one number of the state."""

    def carry_out(reader: ContentReader, numbers: list[float], _: Any, __: Any) -> None:
        if numbers:
            setattr(reader.state, name, numbers[-1] * factor)

    return carry_out


OPERATORS: dict[bytes, Callable[[ContentReader, list[float], list[Any], Any], None]] = {
    b"cm": ContentReader.concatenate,
    b"BT": ContentReader.begin_text,
    b"Tc": setter("char_space"),
    b"Tw": setter("word_space"),
    b"Tz": setter("scale", 0.01),
    b"TL": setter("leading"),
    b"Ts": setter("rise"),
    b"Tf": ContentReader.set_font,
    b"Tm": ContentReader.set_matrix,
    b"Td": ContentReader.move,
    b"TD": ContentReader.move_and_set_leading,
    b"T*": ContentReader.next_line,
    b"Tj": ContentReader.show_one,
    b"TJ": ContentReader.show_many,
    b"'": ContentReader.show_on_next_line,
    b'"': ContentReader.show_on_next_line,
    b"BMC": ContentReader.begin_mark,
    b"BDC": ContentReader.begin_mark,
    b"EMC": ContentReader.end_mark,
    b"Do": ContentReader.show_object,
}
