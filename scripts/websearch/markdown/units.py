"""Split a page's Markdown into units: sentences, list items, table rows and lines of code.

A unit is the smallest part of a page that can be shown. It is shown with the pieces that it needs
to make sense: the headings, terms and list items above it, its table's header or its code's fences.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass

from websearch.base.html_tree import name_set
from websearch.base.words import PHRASED, STOP_WORDS, UNSPACED
from websearch.markdown.fences import NESTED_FENCE, after_fence
from websearch.markdown.inline import cells_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int]  # start and end of a piece of Markdown

MAX_SOURCE = 500_000  # characters searched per page: a long book
JOINED_CHARS = 150  # characters up to which short sentences are joined into a unit
MAX_SENTENCE = 700  # characters; a longer sentence is cut at a space
# Maximum characters of a line in a card, and of a unit made from joined lines.
LINE_CHARS, CARD_CHARS = 80, 250
CODE_CHARS = 100  # characters up to which lines of code are joined into a unit
LEAD_CHARS = 80  # maximum length of a term or list item that introduces the text below it
LEAST_WORDS = 5  # words per sentence; a shorter sentence is joined to its neighbor
FRAGMENT_CHARS = 60  # characters; a longer text is not a fragment, even if it has few words
MAX_COLUMNS = 50  # columns per table that are searched for extremes
EXTREMES = 3  # highest and lowest numbers of a column; questions ask for the largest few
# Levels of leads below the six heading levels: a term, a term directly below a term, and a list
# item (plus its indentation).
STRONG, SECOND_STRONG, ITEM = 7, 8, 9
LIST_ITEM = r"[ \t]{0,40}(?:[-*+]|\d{1,9}[.)]) +"  # the beginning of a list item

_COUNTED_WORD = rf"[{UNSPACED}]{{1,2}}|[^\s{UNSPACED}]+"
_BLOCK_BREAK = r"\n\s*\n|\n(?=#{1,6} )"
_HEADING = r"(#{1,6}) +([^\n]+)"
_ROW = rf"(?:{LIST_ITEM})?[ \t]{{0,40}}\|"  # in a list, the first row of a table is an item
_TABLE_RULE = r"[ \t]{0,40}\|[-:| \t]+"
_CODE_ROW = r"[ \t]{0,40}\|[ \t]{0,40}`"
# A line with only bold text or code: a term, or a heading without heading markup.
_TERM = r"\*\*[^*\n]+\*\*:?|`[^`\n]+`:?"
# The group matches punctuation that needs no space after it.
_SENTENCE_END = r"(?:[.!?…؟۔։।॥။።]+|([。！？｡]+))[\"'”’»）)\]」』]*"
# Abbreviations whose period may precede a capital letter or a number.
_ABBREVIATIONS = name_set(
    "al approx ca capt cf co col corp dept dr etc fig gen hon inc jr lt ltd mr mrs ms no prof rev "
    "sgt sr st vol vs bspw bzw evtl geb gest ggf hl jh jhd nr sog str usw vgl art aprox av dra núm "
    "pág sra srta ud uds alb bkz doç op vb yy ör вв гг им млн млрд обл рис стр тыс ул"
)


@dataclass(eq=False, slots=True)
class Piece:
    """A piece of a page; only white space separates it from the next piece.

    kind: "sentence", "item", "row" or "line" (of code) for a unit; "lead" (a heading, term or
        item), "head" (a table header or an opening fence) or "tail" (a closing fence) for the
        context shown with units
    index: number of the piece in the page
    block: number of its paragraph, list, table or code block
    section: number of its section
    leads: the leads above it, outermost first
    level, words: level and plain text of a lead
    frames: the head and the tail of its table or code block
    above: the text directly above its table or list
    item: the first piece of the list item that it continues or is nested in
    """

    index: int
    start: int
    end: int
    kind: str
    block: int
    section: int
    leads: tuple[Piece, ...] = ()
    level: int = 0
    words: str = ""
    frames: tuple[Piece, ...] = ()
    above: str = ""
    item: Piece | None = None


class PageText:
    """The searched text of a page: its Markdown, its pieces and its title.

    beside: the parts beside the page's text, which are put after it; no heading of the text
    is above them. own_end: where the text ends. host: of its URL, "" if unknown.
    """

    def __init__(self, text: str, title: str = "", beside: str = "", host: str = "") -> None:
        both = "\n\n".join(filter(None, (text, beside)))
        self.text, self.title, self.host = both[:MAX_SOURCE], title, host
        self.own_end = min(len(text), MAX_SOURCE)
        self.pieces = Splitter(self.text, len(text)).split()
        make_units_of_lone_leads(self)
        self.pieces = with_cards(self)
        self.units = [piece for piece in self.pieces if piece.kind not in ("lead", "head", "tail")]

    def of(self, piece: Piece) -> str:
        """Return a piece's text."""
        return self.text[piece.start : piece.end]

    def section(self, lead: Piece) -> list[Piece]:
        """Return a heading, another lead or a list item with everything below it."""
        below = itertools.islice(self.pieces, lead.index + 1, None)
        around = ((*piece.leads, *items_around(piece)) for piece in below)
        inside = itertools.takewhile(lambda leads: lead in leads, around)
        return self.pieces[lead.index : lead.index + 1 + sum(1 for _ in inside)]


def items_around(piece: Piece) -> list[Piece]:
    """Return the first pieces of the list items around a piece, innermost first."""
    items = []
    while piece.item:
        piece = piece.item
        items.append(piece)
    return items


def make_units_of_lone_leads(page: PageText) -> None:
    """Turn leads without text below them into units if they are lines of a card (see with_cards).

    Examples are a price in bold, and specifications whose names and values are all headings.
    """
    above = {lead for piece in page.pieces if piece.kind != "lead" for lead in piece.leads}
    lone = {piece for piece in page.pieces if piece.kind == "lead" and piece not in above}
    lines: set[Piece] = set()
    for before, after in itertools.pairwise(page.pieces):
        if after in lone and (
            before in lone or (before.kind != "lead" and is_line(page.of(before)))
        ):
            lines |= {before, after} & lone
    for piece in lines:
        piece.kind = "item" if piece.level >= ITEM else "sentence"
        piece.level = 0
    for piece in page.pieces:
        piece.leads = tuple(lead for lead in piece.leads if lead not in lines)


def with_cards(page: PageText) -> list[Piece]:
    """Return a page's pieces, numbered again, with consecutive lines of cards joined into units.

    Such lines are short paragraphs: a name, its price and its rating.
    """
    sizes = Counter(piece.block for piece in page.pieces)
    kept: list[Piece] = []
    was_line = False
    for piece, after in itertools.zip_longest(page.pieces, page.pieces[1:]):
        has_line = piece.kind == "sentence" and sizes[piece.block] == 1 and is_line(page.of(piece))
        has_line = has_line and (not after or after.kind in ("lead", "sentence"))
        before = kept[-1] if kept else piece
        is_card = has_line and was_line and piece.leads == before.leads
        if is_card and piece.end - before.start <= CARD_CHARS:
            before.end = piece.end
        else:
            piece.index = len(kept)
            kept.append(piece)
        was_line = has_line
    return kept


def is_line(text: str) -> bool:
    """Return whether a paragraph is a line of a card: short and not a sentence."""
    return len(text) <= LINE_CHARS and (is_fragment(text) or not re.search(r"[.!?。]\W*\Z", text))


def without_title(text: str, title: str) -> str:
    """Return Markdown without its first heading if the heading repeats the page's title."""
    match = re.match(rf"{_HEADING}\n*", text)
    words = match[2].strip().casefold() if match else ""
    is_title = words and title.casefold().startswith(words)
    return text[match.end() :] if match and is_title else text


class Splitter:
    """Reads Markdown blocks in order and tracks the leads above the next block.

    text_end: where the parts beside the page's text begin.
    """

    def __init__(self, markdown: str, text_end: int) -> None:
        self.markdown, self.text_end = markdown, text_end
        self.pieces: list[Piece] = []
        self.leads: list[Piece] = []  # open leads, outermost first
        self.items: list[tuple[int, Piece]] = []  # indentation and first piece of each open item
        self.section = self.block = 0
        self.above = ""

    def split(self) -> list[Piece]:
        """Return the pieces of the Markdown, in order."""
        blocks = split_blocks(self.markdown)
        for number, (block_start, end) in enumerate(blocks):
            start = block_start
            if start >= self.text_end:
                self.leave_text()
            below = self.indent(blocks[number + 1][0]) if number + 1 < len(blocks) else 0
            if match := re.compile(_HEADING).match(self.markdown, start, end):
                self.block += 1
                self.items.clear()
                self.open_lead(len(match[1]), (start, match.end()), match[2].strip())
                start = min(match.end() + 1, end)
            for kind, first, last in self.runs(start, end):
                self.block += 1
                self.read_run(kind, first, last, below)
        return self.pieces

    def runs(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """Yield (kind, start, end) for each run of lines in a block: code, table or text."""
        run: tuple[str, int, int] | None = None
        fence = ""
        for first, last in self.lines(start, end):
            mark = re.compile(NESTED_FENCE).match(self.markdown, first, last)
            kind = "code" if fence or mark else "text"
            if kind == "text" and re.compile(_ROW).match(self.markdown, first, last):
                kind = "table"
            begins = bool(mark and not fence)
            if run and run[0] == kind and not begins:
                run = (kind, run[1], last)
            else:
                yield from [run] if run else []
                run = (kind, first, last)
            fence = after_fence(fence, *mark.groups()) if mark else fence
        yield from [run] if run else []

    def read_run(self, kind: str, start: int, end: int, below: int) -> None:
        """Add the pieces in a run of lines. below: the indentation of the next block."""
        text = self.markdown[start:end]
        self.close_items(self.indent(start))
        self.close_label(kind, self.indent(start))
        if kind == "text" and re.search(rf"(?m)^{LIST_ITEM}", text):
            self.read_list(start, end, below)
        elif kind == "text" and self.indent(start) and re.fullmatch(rf"\s*{_HEADING}", text):
            level = ITEM + self.indent(start) - 1  # a heading inside a list item
            self.open_lead(level, (start, end), text.strip("# *`:"))
        elif kind == "text" and self.is_term(text):
            is_second = bool(self.leads) and self.leads[-1] is self.pieces[-1]
            level = SECOND_STRONG if is_second and self.leads[-1].level == STRONG else STRONG
            self.open_lead(level, (start, end), text.strip(" *`:"))
        else:
            self.close_leads(ITEM + self.indent(start))
            if kind == "text":
                self.read_sentences(start, end, "sentence")
                self.above = self.markdown[self.pieces[-1].start : end] if self.pieces else ""
                return
            self.read_table(start, end) if kind == "table" else self.read_code(start, end)
        self.above = ""

    def is_term(self, text: str) -> bool:
        """Return whether a text is a term or serves as a heading without heading markup."""
        return len(text) <= LEAD_CHARS and bool(re.fullmatch(_TERM, text))

    # ----- leads

    def leave_text(self) -> None:
        """Close everything that is open at the end of the text."""
        self.text_end = len(self.markdown)
        self.close_leads(0)
        self.items.clear()
        self.section += 1
        self.above = ""

    def open_lead(self, level: int, span: Span, words: str) -> None:
        """Add a lead, a piece that introduces the pieces after it."""
        self.close_leads(level)
        if level < ITEM:
            self.section += 1
            self.above = ""
        lead = self.add(*span, "lead")
        lead.level, lead.words = level, words
        self.leads.append(lead)

    def close_leads(self, level: int) -> None:
        """Close the open leads at this level and lower levels."""
        while self.leads and self.leads[-1].level >= level:
            self.leads.pop()

    def close_label(self, kind: str, indent: int) -> None:
        """Close a term directly above a table at the table's end: the term is the table's label."""
        terms = [lead for lead in self.leads if STRONG <= lead.level < ITEM]
        after = self.pieces[terms[-1].index + 1 :][:1] if terms else []
        if kind != "table" and not indent and any(one.kind in ("head", "row") for one in after):
            self.close_leads(terms[-1].level)

    def close_items(self, indent: int) -> None:
        """Close the open list items at this indentation and deeper."""
        while self.items and self.items[-1][0] >= indent:
            self.items.pop()

    # ----- units

    def add(self, start: int, end: int, kind: str) -> Piece:
        """Add a piece below the open leads."""
        index = len(self.pieces)
        leads = tuple(self.leads)
        piece = Piece(index, start, end, kind, self.block, self.section, leads)
        piece.item = self.items[-1][1] if self.items else None
        self.pieces.append(piece)
        return piece

    def read_sentences(self, start: int, end: int, kind: str) -> None:
        """Add the sentences in a paragraph or list item; lines keep their indentation."""
        for first, last in sentence_spans(self.markdown[start:end]):
            piece = self.markdown[start + first : start + last]
            blank = "\n" if not first or "\n" in piece[: len(piece) - len(piece.lstrip())] else None
            begins = start + first + len(piece) - len(piece.lstrip(blank))
            ends = start + last - len(piece) + len(piece.rstrip())
            self.add(begins, ends, kind).above = self.above if kind == "item" else ""

    def read_list(self, start: int, end: int, below: int) -> None:
        """Add the items of a list; a short item with text below it is a lead.

        A term on a separate line inside an item is also a lead, because options may have several
        names, one per line.
        """
        lines = self.lines(start, end)
        indents = [self.indent(first) for first, _ in lines]
        for (first, last), indent, after in zip(lines, indents, [*indents[1:], below], strict=True):
            self.close_leads(ITEM + indent)
            first_piece = len(self.pieces)
            mark = re.compile(LIST_ITEM).match(self.markdown, first, last)
            if mark or indent:  # a line without a marker or indentation continues the item above
                self.close_items(indent)
            content = self.markdown[mark.end() if mark else first : last].strip()
            if mark and after > indent and 0 < len(content) <= LEAD_CHARS:
                self.open_lead(ITEM + indent, (first, last), content.strip("#* `:"))
            elif not mark and 0 < indent <= after and self.is_term(content):
                self.open_lead(ITEM + indent - 1, (first, last), content.strip(" *`:"))
            else:
                self.read_sentences(first, last, "item")
            if mark and len(self.pieces) > first_piece:
                self.items.append((indent, self.pieces[first_piece]))

    def read_table(self, start: int, end: int) -> None:
        """Add the rows of a table; the first line is the head if a delimiter row follows.

        A table of members, in which all lines start with code, has no head, and neither has a table
        of a single line, because a head is shown only with its rows.
        """
        lines = self.lines(start, end)
        frames: tuple[Piece, ...] = ()
        if len(lines) > 1 and re.compile(_TABLE_RULE).fullmatch(self.markdown, *lines[1]):
            first = (lines[0][0], lines[1][1])
            starts = (lines[0], *lines[2:3])
            is_code = all(re.compile(_CODE_ROW).match(self.markdown, *line) for line in starts)
            if is_code or len(starts) == 1:
                lines[:2] = [first]
            else:
                frames = (self.add(*first, "head"),)
                lines = lines[2:]
        rows = [self.add(first, last, "row") for first, last in lines]
        for row in rows:
            row.frames, row.above = frames, self.above

    def read_code(self, start: int, end: int) -> None:
        """Add the lines of a code block, joining short lines; the fences are their frames."""
        lines = self.lines(start, end)
        frames = [self.add(*lines[0], "head")]
        fence = (
            re.compile(NESTED_FENCE).match(self.markdown, *lines[-1]) if len(lines) > 1 else None
        )
        pieces: list[Piece] = []
        for first, last in lines[1:-1] if fence else lines[1:]:
            if pieces and last - pieces[-1].start <= CODE_CHARS:
                pieces[-1].end = last
            else:
                pieces.append(self.add(first, last, "line"))
        if fence:
            frames.append(self.add(*lines[-1], "tail"))
        for piece in pieces:
            piece.frames = tuple(frames)

    # ----- lines

    def lines(self, start: int, end: int) -> list[Span]:
        """Return the start and end of each line that is not empty."""
        lines = re.compile(r"[^\n]+").finditer(self.markdown, start, end)
        return [match.span() for match in lines if match[0].strip()]

    def indent(self, start: int) -> int:
        """Return the indentation of the line that starts at an offset."""
        blank = re.compile(r"[ \t]*").match(self.markdown, start)
        return len(blank[0]) if blank else 0


def split_blocks(markdown: str) -> list[Span]:
    """Return the start and end of each Markdown block: paragraph, list, table or code block."""
    blocks: list[Span] = []
    fence = ""  # the open code block's
    start = 0
    for match in (*re.finditer(_BLOCK_BREAK, markdown), None):
        end = match.start() if match else len(markdown)
        if fence:
            blocks[-1] = (blocks[-1][0], end)
        elif start < end:
            blocks.append((start, end))
        for mark in re.findall(rf"(?m)^{NESTED_FENCE}", markdown[start:end]):
            fence = after_fence(fence, *mark)
        start = match.end() if match else end
    return blocks


# ===== sentences ==================================================================================


def sentence_spans(text: str) -> list[Span]:
    """Return the start and end of each sentence, with short sentences joined."""
    spans: list[Span] = []
    for start, end in cut_sentences(text):
        first, last = spans[-1] if spans else (0, 0)
        if spans and (end - first <= JOINED_CHARS or is_fragment(text[first:last])):
            spans[-1] = (first, end)
        else:
            spans.append((start, end))
    if len(spans) > 1 and is_fragment(text[slice(*spans[-1])]):
        _, end = spans.pop()
        spans[-1] = (spans[-1][0], end)
    return spans


def cut_sentences(text: str) -> Iterator[Span]:
    """Yield the start and end of each sentence in a text; cut sentences that are too long."""
    start = 0
    for end in (*sentence_ends(text), len(text)):
        while end - start > MAX_SENTENCE:
            places = (text.rfind(blank, start + 1, start + MAX_SENTENCE) + 1 for blank in "\n ")
            cut = next(filter(None, places), start + MAX_SENTENCE)
            yield start, cut
            start = cut
        if text[start:end].strip():
            yield start, end
        start = end


def is_fragment(text: str) -> bool:
    """Return whether a text is too short to be understood on its own."""
    return len(text) < FRAGMENT_CHARS and len(re.findall(_COUNTED_WORD, text)) < LEAST_WORDS


def sentence_ends(text: str) -> list[int]:
    """Return the offsets where a text's sentences end.

    In a text mainly in PHRASED scripts, phrases also end at spaces.
    """
    ends = []
    marks = last = 0  # backticks so far: their number is odd inside code
    for match in re.finditer(_SENTENCE_END, text):
        marks += text.count("`", last, match.start())
        last = match.start()
        if ends_sentence(match) and marks % 2 == 0:
            ends.append(match.end())
    if len(re.findall(f"[{PHRASED}]", text[:MAX_SENTENCE])) > len(text[:MAX_SENTENCE]) / 3:
        ends = sorted({*ends, *(match.end() for match in re.finditer(r"\s+", text))})
    return ends


def ends_sentence(match: re.Match[str]) -> bool:
    """Return whether punctuation ends a sentence; not inside a word or after an abbreviation."""
    after = match.string[match.end() : match.end() + 2]
    is_followed = after[:1].isspace() and not after[1:].islower()
    return bool(match[1]) or (is_followed and not (match[0] == "." and is_abbreviation(match)))


def is_abbreviation(full_stop: re.Match[str]) -> bool:
    """Return whether a period belongs to an abbreviation, an initial or an ordinal number.

    A number or initial before a common word ends a sentence: "in 39. The".
    """
    before = full_stop.string[max(0, full_stop.start() - 20) : full_stop.start()]
    word = re.split(r"[\s(\[\"'“«]", before)[-1]
    is_dotted = "." in word and word.replace(".", "").isalpha()  # e.g, z.B
    if is_dotted or word.lower() in _ABBREVIATIONS:
        return True
    is_ordinal = word.isdigit() and len(word) <= len("365")
    is_roman = word.isupper() and not word.strip("IVXLCDM")
    is_initial = len(word) == 1 and word.isalpha()
    after = re.compile(r"\s{1,9}(\w{2,20})").match(full_stop.string, full_stop.end())
    is_before_common = bool(after and after[1].lower() in STOP_WORDS)
    return (is_ordinal or is_roman or is_initial) and not is_before_common


# ===== tables =====================================================================================


def columns_of_extremes(page: PageText) -> dict[int, dict[int, int]]:
    """Return row index -> {column: place of its number among the highest or lowest, from 0}."""
    columns: dict[int, dict[int, int]] = {}
    in_tables = (unit for unit in page.units if unit.kind == "row")
    for _, group in itertools.groupby(in_tables, lambda row: row.block):
        rows = [*group]
        table = [cells_of(page.of(row)) for row in rows]
        for column in range(min(MAX_COLUMNS, max(map(len, table)))):
            values = [number_in(cells[column]) if column < len(cells) else None for cells in table]
            known = [value for value in values if value is not None]
            order = sorted({*known})
            if len(known) < max(2, len(values) / 2) or len(order) < 2:
                continue
            place_of: dict[float | None, int] = {}
            for place in reversed(range(min(EXTREMES, len(order)))):
                place_of |= {order[place]: place, order[-1 - place]: place}
            for row, value in zip(rows, values, strict=True):
                if value in place_of:
                    columns.setdefault(row.index, {})[column] = place_of[value]
    return columns


def number_in(cell: str) -> float | None:
    """Return the number that makes up most of a cell, apart from its parentheses, or None."""
    cell = re.sub(r" ?\([^()]*\)", "", cell)
    match = re.search(r"-?\d[\d,]{0,20}(?:\.\d{1,20})?", cell.replace("−", "-"))
    if match and len(match[0]) * 4 >= len(cell):
        return float(match[0].replace(",", ""))
    return None
