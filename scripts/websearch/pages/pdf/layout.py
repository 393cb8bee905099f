"""Build lines and paragraphs from pieces of shown text, in the order of the content stream.

PDF writers draw each column as a whole, so the content stream is closer to the reading order than
pieces sorted by position. All distances are measured along and across the direction of the text, so
rotated text needs no extra rules.
"""

from __future__ import annotations

import itertools
import operator
import re
import statistics

from websearch.pages.pdf.bidi import WORD_GAP, plain_letters, reading_order
from websearch.pages.pdf.limits import (
    MAX_LINE_GLYPHS,
    MAX_LINE_PIECES,
    MAX_PAGE_LINES,
    MAX_TEXT,
    OutOfBudgetError,
)
from websearch.pages.pdf.prose_columns import down_columns
from websearch.pages.pdf.rulings import Path
from websearch.pages.pdf.scripts import LineText
from websearch.pages.pdf.tables import MAX_PIECES, find_tables
from websearch.pages.pdf.text_lines import SPACE_WIDTH, text_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.shown_text import Piece
    from websearch.pages.pdf.text_lines import Chunk, TextLine

# Distances in font sizes.
LINE_SHIFT = 0.5  # vertical distance: a larger distance starts a new line; superscripts are closer
BACK_JUMP = 1.5  # along, backward: a larger distance starts a new line
CELL_GAP = 2.0  # along: a larger gap separates table cells
RTL_GAP = 4.0  # along: a larger gap separates right-to-left pieces into different lines
TWIN_DISTANCE = 0.12  # between a text and a copy that makes it look bold
PARAGRAPH_DROP = 1.8  # vertical distance: a larger distance starts a paragraph (normal spacing)
ROW_DROP = 4.0  # across: the same between rows of a table
WIDER_DROP = 1.35  # the same, as a multiple of the page's usual line distance
SIZE_CHANGE = 1.25  # ratio of a heading's size to the text's size
# The same for Markdown headings, largest first, with their markers.
HEADINGS = ((1.4, "### "), (1.15, "#### "))
MAX_HEADING = 150  # characters per heading
LEAST_LETTERS = 3  # letters per heading; a shorter text is a page number or a drop cap
HORIZONTAL = 0.99  # minimum cosine of a heading's direction
INDENT = 0.9  # indentation of a paragraph's first line
FULL_MARGIN = 2.0  # along: lines that end closer to the right margin are full
WIDE = 20.0  # along: a block of at least this width is running text
ALMOST_FULL = 0.2  # maximum free share of the block's width in a line that continues

# Line numbers in the margins.
LINE_NUMBER = re.compile(r"\d{1,4}")
STEPS = (1, 2, 5, 10)  # lines from one number to the next
MIN_BESIDE = 0.9  # share of lines whose text is beside the numbers, not above or below them
MIN_NUMBERED = 0.5  # share of lines with a number; a step of 5 counts as five lines
MIN_WRAPPED = 0.25  # share of lines that are empty or continue the line above
MIN_WRAPS = 2  # lines that continue the line above
MIN_TEXT = 25  # characters of a line that continues
CONTINUED = re.compile(r"[^\W\d_][,\u2010-]?$")  # the end of such a line
LONG_PARAGRAPH = 100  # characters
MAX_TWINS = 5_000  # texts whose positions are remembered
PARALLEL = 0.99  # cosine of the angle between pieces on a line
# Leader dots between an entry and its page number or price.
LEADER = re.compile(r"(?:[.\u00b7\u2026][ \t]?){5,}")
BROKEN_WORD = re.compile(r"[^\W\d_][-\u2010]$")
LIST_ITEM = re.compile(r"[\u2022\u25aa\u25cf\u25e6]\s|\(?\d{1,3}[.)]\s|\([a-z]\)\s")
SENTENCE_END = re.compile(r"[.!?:;\u3002][\"'\u201d\u2019)\]]*$")
# Scripts without spaces between words: Thai, Chinese, Japanese and their punctuation.
UNSPACED = re.compile("[\u0e00-\u0eff\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")


class Line:
    """A line on a page. Its text is built from its pieces when the line ends.

    is_entry: whether leader dots connect its words to a number, as in a table of contents.
    """

    __slots__ = ("across", "direction", "end", "glyph_count", "has_cells", "is_entry", "is_rtl",
                 "pieces", "size", "start", "text")  # fmt: skip

    def __init__(self, piece: Piece) -> None:
        self.direction, self.across, self.size = piece.direction, piece.across, piece.size
        self.start, self.end = piece.start, piece.end
        self.pieces = [piece]
        self.is_rtl = piece.glyphs is not None
        self.glyph_count = len(piece.glyphs or ())
        self.has_cells = self.is_entry = False
        self.text = ""

    def continues_with(self, piece: Piece) -> bool:
        """Return whether a piece continues this line."""
        if len(self.pieces) >= MAX_LINE_PIECES or self.glyph_count >= MAX_LINE_GLYPHS:
            return False
        dx, dy = self.direction
        size = max(self.size, piece.size)
        if dx * piece.direction[0] + dy * piece.direction[1] < PARALLEL:
            return False
        if abs(piece.across - self.across) > LINE_SHIFT * size:
            return False
        if self.is_rtl or piece.glyphs:
            gap = max(piece.start - self.end, self.start - piece.end)
            return gap < RTL_GAP * size
        return piece.start > self.pieces[-1].end - BACK_JUMP * size

    def append(self, piece: Piece) -> None:
        """Add a piece."""
        self.pieces.append(piece)
        if piece.size > self.size:
            self.size, self.across = piece.size, piece.across
        self.start, self.end = min(self.start, piece.start), max(self.end, piece.end)
        self.is_rtl = self.is_rtl or piece.glyphs is not None
        self.glyph_count += len(piece.glyphs or ())

    def close(self, as_markdown: bool) -> None:
        """Build the line's text and drop its pieces. as_markdown: see joined_text."""
        if self.is_rtl:
            glyphs = [glyph for piece in self.pieces for glyph in piece.glyphs or piece.spread()]
            text = plain_letters(reading_order(glyphs, self.size))
        else:
            text = self.joined_text(as_markdown)
        text = re.sub(r"[ \t]*\t[ \t]*| {4,}", "\t", text.strip())
        parts = [part.strip() for part in LEADER.split(re.sub(" {2,}", " ", text))]
        self.text = " \u2026 ".join(parts).strip()
        self.is_entry = len(parts) > 1
        self.has_cells = "\t" in self.text
        self.pieces = self.pieces[:1]

    def joined_text(self, as_markdown: bool) -> str:
        """Return the pieces' texts with a space for each gap and a tab for each wide gap.

        as_markdown: whether to mark superscripts and subscripts.
        """
        line = LineText(self.pieces[0], as_markdown)
        for before, piece in itertools.pairwise(self.pieces):
            gap = piece.start - before.end
            size = max(piece.size, before.size)
            has_space = before.text.endswith(" ") or piece.text.startswith(" ")
            is_word = gap > WORD_GAP * size and not has_space
            line.add(piece, "\t" if gap > CELL_GAP * size else " " if is_word else "")
        return line.text()


class PageText:
    """Collects the pieces of a page and builds lines and paragraphs.

    as_markdown: whether to mark large lines as headings, and superscripts and subscripts.
    line_number: the last line number in the margins of the previous pages; markdown() updates it.
    """

    def __init__(self, as_markdown: bool = False, line_number: int = 0) -> None:
        self.as_markdown, self.line_number = as_markdown, line_number
        self.lines: list[Line] = []
        self.line: Line | None = None
        self.pieces: list[Piece] = []  # at most MAX_PIECES + 1
        self.path = Path()
        self.characters = 0
        self.places: dict[str, list[tuple[float, float]]] = {}  # positions of texts, to find twins

    def add(self, piece: Piece) -> None:
        """Add a piece to the current line, or begin a new one. Raises OutOfBudgetError."""
        is_space = not piece.text.strip()
        if not is_space and self.is_twin(piece):
            return
        self.characters += len(piece.text)
        if len(self.pieces) <= MAX_PIECES:
            self.pieces.append(piece)
        if len(self.lines) > MAX_PAGE_LINES or self.characters > MAX_TEXT:
            raise OutOfBudgetError("the page has too much text")
        if self.line and self.line.continues_with(piece):
            self.line.append(piece)
        elif not is_space:
            self.end_line()
            self.line = Line(piece)

    def markdown(self) -> str:
        """Return the text of the page as Markdown with tables and headings."""
        if len(self.pieces) > MAX_PIECES:
            return self.text()
        pieces, self.line_number = without_line_numbers(self.pieces, self.line_number)
        tables = find_tables(pieces, self.path.segments)
        if not tables and down_columns(pieces) is self.pieces:
            return self.text()
        table_of = {piece: table for table in tables for piece in table.pieces}
        parts: list[str] = []
        free: list[Piece] = []  # pieces since the last table
        for piece in pieces:
            table = table_of.get(piece)
            if table is None:
                free.append(piece)
            elif table in tables:
                tables.remove(table)
                parts += [free_text(free), table.markdown()]
                free = []
        return "\n\n".join(part for part in (*parts, free_text(free)) if part)

    def is_twin(self, piece: Piece) -> bool:
        """Return whether the page already has the same text in almost the same position."""
        near = TWIN_DISTANCE * piece.size
        places = self.places.setdefault(piece.text, [])
        for start, across in places:
            if abs(start - piece.start) < near and abs(across - piece.across) < near:
                return True
        del places[:-3]
        places.append((piece.start, piece.across))
        if len(self.places) > MAX_TWINS:
            self.places.clear()
        return False

    def end_line(self) -> None:
        """Finish the current line, so the next piece begins a new line."""
        if self.line:
            self.line.close(self.as_markdown)
            if self.line.text:
                self.lines.append(self.line)
            self.line = None

    def text(self) -> str:
        """Return the text of the page, with empty lines between paragraphs."""
        self.end_line()
        blocks: list[list[Line]] = []
        usual = usual_drop(self.lines)
        for line in self.lines:
            if blocks and not begins_block(blocks[-1][-1], line, usual):
                blocks[-1].append(line)
            else:
                blocks.append([line])
        texts = [join_lines(block) for block in blocks]
        if self.as_markdown:
            size = usual_size(self.lines)
            texts = [
                as_heading(block, text, size) or escape_markdown(text)
                for block, text in zip(blocks, texts, strict=True)
            ]
        return join_blocks(texts)


def free_text(pieces: list[Piece]) -> str:
    """Return the text of pieces outside tables. Raises OutOfBudgetError."""
    page = PageText(True)
    for piece in down_columns(pieces):
        page.add(piece)
    return page.text()


def without_line_numbers(pieces: list[Piece], last: int) -> tuple[list[Piece], int]:
    """Return the pieces of a page without line numbers in the margins, and the last line number.

    Line numbers interrupt sentences and look like a column of a table. last: the last line number
    on the previous pages, or 0. If the page has no line numbers, return the same list.
    """
    shown = [piece for piece in pieces if piece.text.strip()]
    if not any(LINE_NUMBER.fullmatch(piece.text.strip()) for piece in shown):
        return pieces, last
    direction = statistics.mode(piece.direction for piece in shown)
    lines = text_lines([piece for piece in shown if piece.direction == direction])
    sides = [(side, rising_numbers(lines, side)) for side in (0, -1)]
    found = {number for _, number_of in sides for number in number_of.values()}
    texts = [[chunk for chunk in line.chunks if chunk not in found] for line in lines]
    dropped: set[Piece] = set()
    for side, number_of in sides:
        if is_margin(texts, number_of, side, last):
            dropped.update(piece for number in number_of.values() for piece in number.pieces)
            last = int(number_of[max(number_of)].text)
    return [piece for piece in pieces if piece not in dropped] if dropped else pieces, last


def rising_numbers(lines: list[TextLine], side: int) -> dict[int, Chunk]:
    """Return the aligned integers at the left (side 0) or right (side -1) ends of lines, by line.

    Each is one step higher than the integer above or one step lower than the integer below.
    """
    ends = [(at, line.chunks[side]) for at, line in enumerate(lines)]
    integers = [(at, chunk) for at, chunk in ends if LINE_NUMBER.fullmatch(chunk.text)]
    numbers: list[tuple[int, Chunk]] = []
    for edge in (operator.attrgetter("start"), operator.attrgetter("end")):
        middle = statistics.median([edge(chunk) for _, chunk in integers] or [0.0])
        aligned = [
            (at, chunk)
            for at, chunk in integers
            if abs(edge(chunk) - middle) < LINE_SHIFT * chunk.pieces[0].size
        ]
        numbers = max(numbers, aligned, key=len)
    steps = [int(b.text) - int(a.text) for (_, a), (_, b) in itertools.pairwise(numbers)]
    step = statistics.mode(steps or [0])
    if step not in STEPS:
        return {}
    around = zip(numbers, [0, *steps], [*steps, 0], strict=True)
    return dict(number for number, before, after in around if step in (before, after))


def is_margin(texts: list[list[Chunk]], numbers: dict[int, Chunk], side: int, last: int) -> bool:
    """Return whether rising numbers are beside the text and number its lines.

    Numbers that continue those on the previous pages also number headings and references. texts:
    the lines of the page without the numbers. last: see without_line_numbers.
    """
    if not numbers:
        return False
    rows = [row for row in texts[min(numbers) : max(numbers) + 1] if row]
    start = min(number.start for number in numbers.values())
    end = max(number.end for number in numbers.values())
    beside = sum(row[-1].end < start if side else row[0].start > end for row in rows)
    first, second = (int(number.text) for number in itertools.islice(numbers.values(), 2))
    is_next = 0 < last == first - (second - first)
    is_beside = bool(rows) and beside > MIN_BESIDE * len(rows)
    return is_beside and (is_next or number_prose(texts, numbers, side, second - first))


def number_prose(texts: list[list[Chunk]], numbers: dict[int, Chunk], side: int, step: int) -> bool:
    """Return whether numbers are those of lines of prose: many of the lines continue a sentence.

    Table rows, list items, paragraphs and lines of code rarely continue the line above.
    """
    first, last = min(numbers), max(numbers)
    rows = [row for row in texts[first : last + 1] if row]
    left, right = min(row[0].start for row in rows), max(row[-1].end for row in rows)
    pairs = [
        (texts[at - 1][-1], texts[at][side])
        for at in (numbers if step == 1 else range(first + 1, last + 1))
        if at and texts[at - 1] and texts[at]
    ]
    wrapped = sum(
        right - above.end < ALMOST_FULL * (right - left)
        and len(above.text) > MIN_TEXT
        and bool(CONTINUED.search(above.text))
        and line.text[0].islower()
        for above, line in pairs
    )
    empty = sum(not texts[at] and {at - 1, at + 1} <= numbers.keys() for at in numbers)
    is_dense = MIN_NUMBERED < len(numbers) * step / len(rows) < 1 / MIN_NUMBERED
    is_prose = wrapped + empty > MIN_WRAPPED * (len(pairs) + empty)
    return is_dense and is_prose and wrapped >= MIN_WRAPS


def join_blocks(blocks: list[str]) -> str:
    """Join blocks with empty lines between them.

    If a paragraph ends within a word or sentence, the next block, in another column, continues it.
    """
    parts: list[str] = []
    length = 0  # length of the paragraph with the last block
    for block in blocks:
        is_long = length > LONG_PARAGRAPH and len(block) > LONG_PARAGRAPH // 2
        end = parts[-1][-1] if parts else ""
        if parts and block[0].islower() and BROKEN_WORD.search(parts[-1], len(parts[-1]) - 2):
            parts[-1] = parts[-1][:-1]
        elif block[0].islower() and is_long and (end.isalpha() or end == ","):
            parts.append(" ")
        else:
            parts.append("\n\n" if parts else "")
            length = 0
        parts.append(block)
        length += len(block)
    return "".join(parts)


def usual_size(lines: list[Line]) -> float:
    """Return the font size of most characters on a page."""
    characters: dict[float, int] = {}
    for line in lines:
        characters[line.size] = characters.get(line.size, 0) + len(line.text)
    return max(characters, key=lambda size: characters[size], default=1.0)


def as_heading(block: list[Line], text: str, usual: float) -> str:
    """Return a block as a heading if its font is large enough, else ""."""
    if len(text) > MAX_HEADING or sum(map(str.isalpha, text)) < LEAST_LETTERS:
        return ""
    if any(line.has_cells or line.is_entry or line.direction[0] < HORIZONTAL for line in block):
        return ""
    size = min(line.size for line in block)
    mark = next((mark for factor, mark in HEADINGS if size >= factor * usual), "")
    return mark + " ".join(text.split()) if mark else ""


def escape_markdown(text: str) -> str:
    """Escape lines that look like headings or fences."""
    return re.sub(r"(?m)^(#{1,6} |```)", r"\\\1", text)


def usual_drop(lines: list[Line]) -> float:
    """Return the usual distance between adjacent lines on a page, in font sizes."""
    drops = [
        (before.across - line.across) / line.size
        for before, line in itertools.pairwise(lines)
        if before.direction == line.direction and before.size == line.size
    ]
    near = [drop for drop in drops if LINE_SHIFT < drop < 2 * PARAGRAPH_DROP]
    return statistics.median(near) if near else 1.0


def begins_block(before: Line, line: Line, usual: float) -> bool:
    """Return whether a line begins a new paragraph, heading, column or table."""
    size = max(before.size, line.size)
    drop = before.across - line.across
    same = before.direction == line.direction and size < SIZE_CHANGE * min(before.size, line.size)
    far = drop > max(PARAGRAPH_DROP if usual < 1.4 else 0, WIDER_DROP * usual) * size
    apart = line.start > before.end or line.end < before.start
    if abs(drop) <= LINE_SHIFT * size:  # another cell of the same row
        return not same
    if before.has_cells and line.has_cells:  # rows of a table, which may be far apart
        return not same or drop > ROW_DROP * size or drop < 0
    return not same or far or drop < 0 or apart


def join_lines(lines: list[Line]) -> str:
    """Join the lines of a block; rejoin wrapped lines and broken words."""
    left, right = min(line.start for line in lines), max(line.end for line in lines)
    size = lines[0].size
    full = sum(line.end > right - FULL_MARGIN * size for line in lines[:-1])
    is_running = full > 1 or right - left > WIDE * size  # not part of an address or a list
    parts = [lines[0].text]
    for place in range(1, len(lines)):
        before, line = lines[place - 1], lines[place]
        after = lines[place + 1] if place + 1 < len(lines) else None
        if BROKEN_WORD.search(before.text) and line.text[0].isalpha():
            if line.text[0].islower():
                parts[-1] = parts[-1][:-1]
        elif not (is_running or line.text[0].islower()) or not wraps(before, line, left, right):
            parts.append("\n\n" if is_indented(line, after, left) else "\n")
        elif is_indented(line, after, left) and SENTENCE_END.search(before.text):
            parts.append("\n\n")
        elif not UNSPACED.match(before.text[-1] + line.text[0]):
            parts.append(" ")
        parts.append(line.text)
    return "".join(parts)


def wraps(before: Line, line: Line, left: float, right: float) -> bool:
    """Return whether text wraps into the next line, because that line's first word did not fit.

    Text also wraps after a wide line that is almost full, unless a sentence ends there.
    """
    if before.has_cells or before.is_entry or line.has_cells or LIST_ITEM.match(line.text):
        return False
    if before.across - line.across < LINE_SHIFT * line.size:
        return False
    word = len(line.text.split(None, 1)[0])
    needed = SPACE_WIDTH * line.size + (line.end - line.start) * word / len(line.text)
    room = before.start - left if before.is_rtl else right - before.end
    almost_full = right - left > WIDE * line.size and room < ALMOST_FULL * (right - left)
    return needed > room or (almost_full and not SENTENCE_END.search(before.text))


def is_indented(line: Line, after: Line | None, left: float) -> bool:
    """Return whether a line is indented relative to its block and the next line."""
    indent = INDENT * line.size
    return line.start - left > indent and (after is None or line.start - after.start > indent)
