"""Carry out the operators of content streams to collect the text of a page.

ISO 32000-1, 8.4 (graphics state), 8.10 (forms), 9.3 and 9.4 (text), 14.9.4 (actual text).
"""

from __future__ import annotations

import re

from websearch.pages.pdf.bidi import RIGHT_TO_LEFT
from websearch.pages.pdf.fonts import Font, make_font, usable_text
from websearch.pages.pdf.layers import hidden_layers, is_off
from websearch.pages.pdf.layout import PageText
from websearch.pages.pdf.limits import MAX_FORM_DEPTH, MAX_ITEMS, MAX_SHOWN, MAX_STATES
from websearch.pages.pdf.operations import Operation, operations
from websearch.pages.pdf.shown_text import Frame, ShownText, State, multiply
from websearch.pages.pdf.syntax import Reference, Stream, decode_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.pages.pdf.file import PdfFile
    from websearch.pages.pdf.shown_text import Matrix, Piece

IDENTITY = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
TEXT_OPERATOR = re.compile(rb"T[jJ]|['\"]|Do")
MAX_FONT_ENTRIES = 150_000  # widths and texts in all cached fonts: about 30 MB
HYPHENS = ("-", "\u2010")


class ActualText:
    """The replacement text for a marked sequence, and the first piece shown in the sequence."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.piece: Piece | None = None
        self.end = 0.0  # end of the last piece

    def add(self, piece: Piece) -> None:
        """Record a shown piece."""
        self.piece = self.piece or piece
        self.end = piece.end


class ContentReader:
    """Reads the content streams of pages.

    shown counts the displayed codes, unknown the codes that have no known text. image_area is
    the area of all images on the current page, in the page's units.
    """

    def __init__(self, file: PdfFile) -> None:
        self.file = file
        self.off = hidden_layers(file)
        self.fonts: dict[int, tuple[Any, Font]] = {}
        self.font_entries = 0
        self.forms_without_text: set[int] = set()
        self.shown = self.unknown = 0
        self.begin(PageText())

    def begin(self, page: PageText) -> None:
        """Begin a page."""
        self.page = page
        self.resources: dict[str, Any] = {}
        self.state = State(IDENTITY)
        self.states: list[State] = []  # states saved by q in the current content stream
        self.text_matrix = self.line_matrix = IDENTITY
        self.marks: list[ActualText | bool] = []  # open marked content; True: layer is off
        self.hidden = 0  # number of open marked contents whose layer is off
        self.actual: ActualText | None = None
        self.active_forms: set[int] = set()
        self.held_bytes = 0  # data of the active form XObjects
        self.image_area = 0.0

    # ----- operators

    def run(self, data: bytes, resources: dict[str, Any]) -> None:
        """Carry out the operators of a content stream. Raises OutOfBudgetError."""
        outer = self.resources, self.states
        self.resources, self.states = resources, []
        for operation in operations(data, OPERATORS, self.file.budget):
            OPERATORS[operation.name](self, operation)
        self.resources, self.states = outer

    def save_state(self, _: Operation) -> None:
        """Carry out q."""
        if len(self.states) < MAX_STATES:
            self.states.append(self.state.copy())

    def restore_state(self, _: Operation) -> None:
        """Carry out Q."""
        if self.states:
            self.state = self.states.pop()

    def add_matrix(self, operation: Operation) -> None:
        """Carry out cm."""
        a, b, c, d, e, f = operation.numbers(6)
        self.state.matrix = multiply((a, b, c, d, e, f), self.state.matrix)

    def note_image(self, _: Operation) -> None:
        """Record an image, which fills the unit square of the current matrix."""
        a, b, c, d, _e, _f = self.state.matrix
        self.image_area += abs(a * d - b * c)

    def begin_text(self, _: Operation) -> None:
        """Carry out BT."""
        self.text_matrix = self.line_matrix = IDENTITY

    def set_font(self, operation: Operation) -> None:
        """Carry out Tf."""
        if operation.name_operand():
            self.state.font = self.font(operation.name_operand())
            self.state.font_size = operation.numbers(1)[0]

    def set_text_matrix(self, operation: Operation) -> None:
        """Carry out Tm."""
        a, b, c, d, e, f = operation.numbers(6)
        self.text_matrix = self.line_matrix = (a, b, c, d, e, f)

    def move(self, x: float, y: float) -> None:
        """Begin a line at a distance from the start of the previous line."""
        a, b, c, d, e, f = self.line_matrix
        self.line_matrix = (a, b, c, d, e + x * a + y * c, f + x * b + y * d)
        self.text_matrix = self.line_matrix

    def move_line(self, operation: Operation) -> None:
        """Carry out Td, and TD, which also sets the leading."""
        x, y = operation.numbers(2)
        if operation.name == b"TD":
            self.state.leading = -y
        self.move(x, y)

    def next_line(self, _: Operation) -> None:
        """Carry out T*."""
        self.move(0.0, -self.state.leading)

    # ----- lines

    def draw(self, operation: Operation) -> None:
        """Carry out m, l, re and h."""
        path, matrix = self.page.path, self.state.matrix
        if path.is_full():
            return
        if operation.name == b"re":
            x, y, width, height = operation.numbers(4)
            path.rectangle(x, y, width, height, matrix)
        elif operation.name == b"m":
            x, y = operation.numbers(2)
            path.move(x, y)
        else:
            x, y = path.start if operation.name == b"h" else operation.numbers(2)
            path.line(x, y, matrix)

    def paint(self, operation: Operation) -> None:
        """Carry out the operators that stroke or fill; some close the path first."""
        if operation.name in (b"s", b"b", b"b*"):
            self.page.path.line(*self.page.path.start, self.state.matrix)
        self.page.path.paint()

    def drop_path(self, _: Operation) -> None:
        """Carry out n."""
        self.page.path.drop()

    # ----- showing text

    def show_strings(self, operation: Operation) -> None:
        """Carry out Tj, TJ, ' and "; the last two first begin a line."""
        if operation.name == b'"':
            self.state.word_space, self.state.char_space = operation.numbers(2)
        if operation.name in (b"'", b'"'):
            self.next_line(operation)
        for items in operation.operands[-1:]:
            self.show(items if isinstance(items, list) else [items])

    def show(self, items: list[Any]) -> None:
        """Show strings; a number moves the next string back by thousandths of the font size."""
        font = self.state.font or self.font("")
        frame = Frame(font, self.state, multiply(self.text_matrix, self.state.matrix))
        shown = ShownText(frame)
        for item in items:
            if isinstance(item, (int, float)):
                shown.skip(item / 1000 if font.vertical else -item / 1000)
            elif isinstance(item, bytes) and frame.is_spread:
                for code in font.codes(item[:MAX_SHOWN]):
                    shown.skip_spacing()
                    shown.add(code)
            elif isinstance(item, bytes) and frame.splits_words:
                for part in re.split(rb"( +)", item[:MAX_SHOWN]):
                    shown.end_piece()
                    shown.add(part)
            elif isinstance(item, bytes):
                shown.add(item[:MAX_SHOWN])
        shown.end_piece()
        self.shown += shown.count
        self.unknown += shown.unknown
        for piece in [] if self.hidden else shown.pieces:
            if self.actual is None:
                self.page.add(piece)
            else:
                self.actual.add(piece)
        if self.actual and not shown.pieces and shown.count and not self.hidden:
            piece_without_text = frame.piece("", 0.0, shown.place)
            if piece_without_text:  # only the actual text gives their meaning
                self.actual.add(piece_without_text)
        x, y = (0.0, -shown.place) if font.vertical else (shown.place, 0.0)
        a, b, c, d, e, f = self.text_matrix
        self.text_matrix = (a, b, c, d, e + x * a + y * c, f + x * b + y * d)

    # ----- fonts

    def font(self, name: str) -> Font:
        """Return a font from the resources; a standard font if the name is unknown.

        Raises OutOfBudgetError.
        """
        listed = self.file.fields(self.resources, "Font").get(name)
        fields = self.file.resolve(listed)
        fields = fields if isinstance(fields, dict) else {}
        key = listed.number if isinstance(listed, Reference) else -id(fields) if fields else 0
        if key not in self.fonts:
            self.file.budget.check_time()
            font = make_font(self.file, fields)
            self.font_entries += font.entries()
            if self.font_entries > MAX_FONT_ENTRIES:
                self.fonts.clear()
                self.font_entries = font.entries()
            self.fonts[key] = (fields, font)  # keep the fields alive, so their id stays unique
        return self.fonts[key][1]

    # ----- marked content

    def begin_mark(self, operation: Operation) -> None:
        """Carry out BMC and BDC; if actual texts are nested, use the outermost text."""
        properties = operation.operands[-1] if len(operation.operands) > 1 else None
        is_hidden = False
        if isinstance(properties, str):
            listed = self.file.fields(self.resources, "Properties")
            is_layer = operation.operands[0] == "OC"
            is_hidden = is_layer and is_off(self.file, listed, properties, self.off)
            properties = self.file.field(listed, properties)
        text = self.file.field(properties, "ActualText")
        mark: ActualText | bool = is_hidden
        if isinstance(text, bytes) and self.actual is None:
            mark = self.actual = ActualText(usable_text(decode_text(text)))
        if len(self.marks) < MAX_ITEMS:
            self.marks.append(mark)
            self.hidden += is_hidden

    def end_mark(self, _: Operation) -> None:
        """Carry out EMC: show an actual text instead of the glyphs it replaces."""
        mark = self.marks.pop() if self.marks else False
        if isinstance(mark, bool):
            self.hidden -= mark
            return
        self.actual = None
        piece = mark.piece
        if piece is None:
            return
        # An empty string that replaces a hyphen at the end of a line would split the word.
        if mark.text or piece.text.strip() in HYPHENS:
            piece.text = mark.text or piece.text
            piece.end = max(piece.end, mark.end)
            piece.glyphs = None
            if RIGHT_TO_LEFT.search(piece.text):
                piece.glyphs = [(piece.text, piece.start, piece.end)]
            self.page.add(piece)

    # ----- form XObjects and annotations

    def show_object(self, operation: Operation) -> None:
        """Carry out Do."""
        listed = self.file.fields(self.resources, "XObject")
        stream = self.file.field(listed, operation.name_operand())
        if isinstance(stream, Stream) and stream.fields.get("Subtype") == "Image":
            self.note_image(operation)
        elif isinstance(stream, Stream) and stream.fields.get("Subtype") != "PS":
            self.show_form(stream, IDENTITY)

    def show_form(self, stream: Stream, placed: Matrix) -> None:
        """Carry out the operators of a form XObject; placed: matrix to the current space."""
        number = stream.number
        if is_off(self.file, stream.fields, "OC", self.off):
            return
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
            self.run(data, own or self.resources)
        finally:
            self.active_forms.discard(number)
            self.held_bytes -= len(data)
            self.state, self.text_matrix, self.line_matrix = saved


def setter(name: str, factor: float = 1.0) -> Callable[[ContentReader, Operation], None]:
    """Return the function for an operator that sets a number in the state."""

    def carry_out(reader: ContentReader, operation: Operation) -> None:
        setattr(reader.state, name, operation.numbers(1)[0] * factor)

    return carry_out


OPERATORS: dict[bytes, Callable[[ContentReader, Operation], None]] = {
    **dict.fromkeys((b"m", b"l", b"re", b"h"), ContentReader.draw),
    **dict.fromkeys((b"S", b"s", b"f", b"F", b"f*", b"B", b"B*", b"b", b"b*"), ContentReader.paint),
    b"n": ContentReader.drop_path,
    b"q": ContentReader.save_state,
    b"Q": ContentReader.restore_state,
    b"cm": ContentReader.add_matrix,
    b"BI": ContentReader.note_image,
    b"Do": ContentReader.show_object,
    b"BT": ContentReader.begin_text,
    b"Tc": setter("char_space"),
    b"Tw": setter("word_space"),
    b"Tz": setter("scale", 0.01),
    b"TL": setter("leading"),
    b"Ts": setter("rise"),
    b"Tf": ContentReader.set_font,
    b"Tm": ContentReader.set_text_matrix,
    b"Td": ContentReader.move_line,
    b"TD": ContentReader.move_line,
    b"T*": ContentReader.next_line,
    b"Tj": ContentReader.show_strings,
    b"TJ": ContentReader.show_strings,
    b"'": ContentReader.show_strings,
    b'"': ContentReader.show_strings,
    b"BMC": ContentReader.begin_mark,
    b"BDC": ContentReader.begin_mark,
    b"EMC": ContentReader.end_mark,
}
