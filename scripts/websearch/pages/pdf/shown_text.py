"""Turn shown strings into pieces of text with positions on the page.

ISO 32000-1, 9.3 and 9.4.4.
"""

from __future__ import annotations

import math

from websearch.pages.pdf.bidi import RIGHT_TO_LEFT, WORD_GAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.bidi import Glyph
    from websearch.pages.pdf.fonts import Font

    Matrix = tuple[float, float, float, float, float, float]

LARGEST = 1e6  # coordinate; larger coordinates are outside the page
PIECE_GAP = 0.4  # ems; text with a wider gap may be two table cells
SPREAD = 0.5  # font sizes; wider character spacing separates single characters


class Piece:
    """The text of a shown string and its position.

    origin: position of the first glyph. direction: a unit vector. start and end: positions along
    the direction. across: the baseline's distance to the left of the direction. glyphs: each
    glyph's text, start and end if some letters run from right to left, else None.
    """

    __slots__ = ("across", "direction", "end", "glyphs", "size", "start", "text")

    def __init__(
        self,
        text: str,
        origin: tuple[float, float],
        direction: tuple[float, float],
        length: float,
        size: float,
    ) -> None:
        x, y = origin
        dx, dy = direction
        self.text, self.direction, self.size = text, direction, size
        self.start = x * dx + y * dy
        self.end = self.start + length
        self.across = y * dx - x * dy
        self.glyphs: list[Glyph] | None = None

    def spread(self) -> list[Glyph]:
        """Return the piece's characters as glyphs of equal width."""
        width = (self.end - self.start) / max(1, len(self.text))
        starts = [self.start + index * width for index in range(len(self.text))]
        return [(text, start, start + width) for text, start in zip(self.text, starts, strict=True)]


def multiply(first: Matrix, second: Matrix) -> Matrix:
    """Return the matrix that applies first, then second."""
    a, b, c, d, e, f = first
    g, h, i, j, k, m = second
    return (
        a * g + b * i,
        a * h + b * j,
        c * g + d * i,
        c * h + d * j,
        e * g + f * i + k,
        e * h + f * j + m,
    )


class State:
    """The text-related part of the graphics state."""

    __slots__ = ("char_space", "font", "font_size", "leading", "matrix", "rise", "scale",
                 "word_space")  # fmt: skip

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.font: Font | None = None
        self.font_size, self.scale = 0.0, 1.0
        self.char_space = self.word_space = self.leading = self.rise = 0.0

    def copy(self) -> State:
        """Return a copy for the operator q."""
        twin = State(self.matrix)
        for name in self.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin


class Frame:
    """The position of a string: the direction and scale of its text on the page.

    unit: an em along the text, in text space. char_space: spacing added to each glyph's width.
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
        # Whether single characters are far apart, as in the boxes of a form.
        self.is_spread = bool(self.unit) and self.char_space > SPREAD * abs(self.unit)
        # Whether words are as far apart as table cells. Word spacing applies to one-byte codes.
        self.splits_words = not font.is_composite and self.word_space > PIECE_GAP * abs(self.unit)
        self.length = math.hypot(x, y)  # length of a text space unit on the page
        self.size = abs(state.font_size) * height * font.em
        forward = math.copysign(self.length, self.unit) or 1.0
        self.direction = (x / forward, y / forward)

    def advance(self, width: float, count: int, spaces: int) -> float:
        """Return the advance in text space for count glyphs with this total width."""
        return width / 1000 * self.unit + count * self.char_space + spaces * self.word_space

    def piece(self, text: str, start: float, end: float) -> Piece | None:
        """Return the piece for a text between two positions; None if the text is invisible."""
        x, y = (0.0, -start) if self.font.vertical else (start, self.rise)
        a, b, c, d, e, f = self.matrix
        origin = (x * a + y * c + e, x * b + y * d + f)
        length = abs(end - start) * self.length
        if not (0 < self.size < LARGEST and self.length > 0 and length < LARGEST):
            return None
        if not (-LARGEST < origin[0] < LARGEST and -LARGEST < origin[1] < LARGEST):
            return None
        return Piece(text, origin, self.direction, length, self.size)

    def glyphs(self, strings: list[tuple[bytes, float]], piece: Piece, start: float) -> list[Glyph]:
        """Return each glyph in a piece with its start and end; start: where the piece begins."""
        scale = math.copysign(self.length, self.unit)
        glyphs: list[Glyph] = []
        for data, place in strings:
            for text, width, is_space in self.font.glyphs(data):
                begin = piece.start + (place - start) * scale
                place += self.advance(width, 1, is_space)  # noqa: PLW2901
                if text:
                    glyphs.append(
                        (text, begin, begin + width / 1000 * abs(self.unit) * self.length)
                    )
        return glyphs


class ShownText:
    """Makes pieces from strings that are shown one after another.

    place: position of the next glyph, in text space. count and unknown: the number of all codes
    and of codes that have no known text.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.pieces: list[Piece] = []
        self.place = self.start = self.end = 0.0
        self.count = self.unknown = 0
        self.texts: list[str] = []  # texts of the current piece
        self.strings: list[tuple[bytes, float]] = []  # the piece's strings with their starts

    def add(self, data: bytes) -> None:
        """Add a string."""
        if not self.strings:
            self.start = self.place
        texts, width, spaces = self.frame.font.measure(data)
        self.strings.append((data, self.place))
        self.count += len(texts)
        self.unknown += texts.count("")
        text = "".join(texts)
        if text[:1] == " " and self.texts and self.texts[-1] == " ":
            self.texts.pop()
        if text:
            self.texts.append(text)
        self.place += self.frame.advance(width, len(texts), spaces)
        self.end = self.place - self.frame.char_space

    def skip(self, gap: float) -> None:
        """Leave a gap, in ems."""
        self.place += gap * self.frame.unit
        if gap > PIECE_GAP or gap < -WORD_GAP:
            self.end_piece()
        elif gap > WORD_GAP * self.frame.font.em and self.texts and self.texts[-1][-1:] != " ":
            self.texts.append(" ")

    def skip_spacing(self) -> None:
        """Account for character spacing after the previous glyph."""
        if self.strings:
            gap = self.frame.char_space / abs(self.frame.unit)
            self.skip(gap)
            self.place -= gap * self.frame.unit

    def end_piece(self) -> None:
        """Make a piece from the text shown since the previous piece."""
        text = "".join(self.texts)
        piece = self.frame.piece(text, self.start, self.end) if text else None
        if piece:
            if RIGHT_TO_LEFT.search(text):
                piece.glyphs = self.frame.glyphs(self.strings, piece, self.start)
            self.pieces.append(piece)
        self.texts, self.strings = [], []
