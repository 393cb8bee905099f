"""Find tables without ruled lines: lines of text with parts in the same columns.

Prose in columns looks similar but differs in its words and its order in the page content: a
table is drawn row by row, prose column by column. Distances are in font sizes.
"""

from __future__ import annotations

import bisect
import itertools
import operator
import re
import statistics
from collections import Counter

from websearch.pages.pdf.text_lines import Chunk, text_lines, visible_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.shown_text import Piece
    from websearch.pages.pdf.text_lines import TextLine

    Column = tuple[float, float]  # start and end
    Cells = list[list[str]]  # a row: each column's texts, from top to bottom

MIN_ROWS = 3  # lines with matching columns
MAX_COLUMNS = 60  # columns per table
MAX_CUTS = 3  # blocks of text that may be separated from a table
MAX_DROP = 3.0  # distance between two lines of a table
MAX_SINGLES = 3  # lines with a single cell between lines with several cells
MAX_SINGLE_WORDS = 12  # words on such a line
RECENT = 5  # lines with several cells whose columns the next line must share
MAX_HEADING_LINES = 8
MAX_HEADING_DROP = 2.2  # distance between two lines of a heading
MAX_HEADING_WORDS = 8  # words per cell of the heading
SPANNED = 0.12  # maximum share of lines that cross the gap between two columns
MIN_GUTTER = 0.3  # distance between two columns
EDGE = 0.5  # edges within this distance are at the same position
CLOSER = 0.9  # share of the usual row distance; closer lines are in the same row
# Limits that separate a table from prose, lists and drawings.
MIN_FILLED = 0.45  # share of cells that contain text
MIN_ALIGNED = 0.6  # share of a column's cells that begin, end or are centered at the same position
MAX_WORDS = 9.0  # average words per cell
MAX_WORDS_OF_TWO = 5.0  # the same in a table with two columns
MIN_NUMBERS = 0.25  # share of cells with a number in tables with two columns or few rows
FEW_ROWS = 5
MIN_IN_ORDER = 0.5  # share of neighbors on a line that are consecutive in the content
COLUMN_WISE_WORDS, COLUMN_WISE_NUMBERS = 2.5, 0.4  # the other limits for a table with a lower share
MAX_FOREIGN_ORDER = 0.1  # the same share between a table and text next to it
PROSE_WORDS = 4  # average words per chunk of running text
START, END = operator.itemgetter(0), operator.itemgetter(1)  # edges of a column
_NUMBER = r"[^\w\s]{0,3}\s?[.,]?\d"
_MARKER = r"[\u2022\u25aa\u25cf\u25e6\u2013*-]|[\[(]?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[\])]?[.)]?"


def column_tables(
    pieces: list[Piece], order: dict[Piece, int], cuts: int = MAX_CUTS
) -> list[tuple[list[Cells], set[Piece]]]:
    """Return the rows and pieces of each table in pieces with the same direction.

    order: each piece's position in the page content. cuts: how many more texts may be separated
    from tables next to them.
    """
    lines = text_lines(pieces)
    tables = []
    free = 0  # the first line that is not in a table yet
    for begin, end in regions(lines):
        start = heading_start(lines, free, begin)
        more = region_tables(lines[start:end], begin - start, order, cuts)
        if more:
            tables += more
            free = end
    return tables


# ===== where tables may be ========================================================================


def regions(lines: list[TextLine]) -> list[tuple[int, int]]:
    """Return the start and end of each run of lines that may be a table.

    Most lines in a run have several chunks in the same columns.
    """
    runs: list[tuple[int, int]] = []
    begin = end = 0  # bounds of the current run, which is empty if these are equal
    recent: list[TextLine] = []
    for index, line in enumerate(lines):
        is_row = 1 < len(line.chunks) <= MAX_COLUMNS
        before = lines[index - 1]
        far = before.across - line.across > MAX_DROP * max(line.size, before.size)
        over = index - end >= MAX_SINGLES or line.word_count() > MAX_SINGLE_WORDS
        if recent and (far or (over and not is_row) or (is_row and not fits(line, recent))):
            runs.append((begin, end))
            recent = []
        if is_row:
            begin = begin if recent else index
            end = index + 1
            recent = [*recent[1 - RECENT :], line]
    return [*runs, (begin, end)] if recent else runs


def fits(line: TextLine, recent: list[TextLine]) -> bool:
    """Return whether a line has the same columns as the lines above it."""
    columns = find_columns([other.chunks for other in recent], line.size)
    count = len(line.chunks)
    spanning = sum(len(overlapped(chunk, columns)) > 1 for chunk in line.chunks)
    return spanning * 2 <= count < 2 * len(columns) or count == len(columns)


def heading_start(lines: list[TextLine], free: int, begin: int) -> int:
    """Return the first line of the heading above a run of lines, which may have other columns."""
    start = begin
    for index in range(begin - 1, max(free, begin - MAX_HEADING_LINES) - 1, -1):
        line, below = lines[index], lines[index + 1]
        is_far = line.across - below.across > MAX_HEADING_DROP * below.size
        if is_far or max(len(chunk.text.split()) for chunk in line.chunks) > MAX_HEADING_WORDS:
            break
        if len(line.chunks) > 1:
            start = index
    return start


# ===== their columns ==============================================================================


def find_columns(lines: list[list[Chunk]], size: float) -> list[Column]:
    """Return the columns of lines, with almost no text between them; [] if there are too many.

    size: font size.
    """
    edges = [(chunk.start, 1) for line in lines for chunk in line]
    edges += [(chunk.end, -1) for line in lines for chunk in line]
    allowed = int(SPANNED * len(lines))
    columns: list[Column] = []
    count, start = 0, 0.0  # lines with text at the current position, start of a column
    for place, step in sorted(edges):
        if step > 0 and count == allowed:
            start = place
        count += step
        if step < 0 and count == allowed:
            if columns and start - columns[-1][1] < MIN_GUTTER * size:
                start = columns.pop()[0]
            columns.append((start, place))
    for chunk in itertools.chain.from_iterable(lines):  # columns that have few cells
        if len(columns) > MAX_COLUMNS:
            return []
        if not overlapped(chunk, columns):
            bisect.insort(columns, (chunk.start, chunk.end))
    return columns


def overlap(start: float, end: float, column: Column) -> float:
    """Return how much of a column a text covers; 0 or less if it does not overlap."""
    return min(end, column[1]) - max(start, column[0])


def overlapped(chunk: Chunk, columns: list[Column]) -> list[int]:
    """Return the indexes of the columns that a chunk overlaps."""
    first = bisect.bisect(columns, chunk.start, key=END)
    return list(range(first, bisect.bisect_left(columns, chunk.end, key=START)))


def line_cells(line: TextLine, columns: list[Column]) -> Cells:
    """Return the texts of a line in each column; a string across columns is in only one of them."""
    cells: Cells = [[] for _ in columns]
    for chunk in line.chunks:
        indexes = overlapped(chunk, columns) or [nearest(chunk, columns)]
        parts: dict[int, list[Piece]] = {}
        for piece in chunk.pieces if len(indexes) > 1 else []:
            end = visible_end(piece)
            index = max(indexes, key=lambda at: overlap(piece.start, end, columns[at]))
            parts.setdefault(index, []).append(piece)
        for index, pieces in (parts or {indexes[0]: chunk.pieces}).items():
            cells[index].append(Chunk(pieces).text)
    return cells


def nearest(chunk: Chunk, columns: list[Column]) -> int:
    """Return the index of the column whose middle is closest to a chunk's middle."""
    return min(range(len(columns)), key=lambda index: abs(sum(columns[index]) / 2 - chunk.middle()))


# ===== tables =====================================================================================


def region_tables(
    lines: list[TextLine], heading: int, order: dict[Piece, int], cuts: int
) -> list[tuple[list[Cells], set[Piece]]]:
    """Return the tables in a run of lines. heading: the number of lines above the columns."""
    region = lines[heading:]
    rows = [line for line in region if len(line.chunks) > 1]
    if len(rows) < MIN_ROWS:
        return []
    rows, columns = below_heading(rows)
    pieces = [piece for line in lines for piece in line.pieces()]
    border = foreign_border(rows, columns, order) if cuts else None
    if border is not None:
        left = [piece for piece in pieces if piece.start < border]
        right = [piece for piece in pieces if piece.start >= border]
        return [table for part in (left, right) for table in column_tables(part, order, cuts - 1)]
    if len(columns) < 2 or not is_table(rows, columns, order):
        return []
    grid = [line_cells(line, columns) for line in lines]
    return [(join_rows(lines, grid, columns), set(pieces))]


def below_heading(rows: list[TextLine]) -> tuple[list[TextLine], list[Column]]:
    """Return the lines below any headings that span columns, and the columns of these lines."""
    columns = find_columns([line.chunks for line in rows], rows[0].size)
    for index in range(1, min(MAX_HEADING_LINES, len(rows) - MIN_ROWS + 1)):
        more = find_columns([line.chunks for line in rows[index:]], rows[index].size)
        if len(more) > len(columns):
            return rows[index:], more
    return rows, columns


def foreign_border(
    rows: list[TextLine], columns: list[Column], order: dict[Piece, int]
) -> float | None:
    """Return the border between a table and text next to it; None if there is no such text.

    In the page content, a table's cells follow each other, but the other text does not follow
    the table's rows. A single column may contain names, so it is other text only if it is prose.
    """
    pairs = [
        (before[-1], after[0], follows(left, right, order))
        for line in rows
        for left, right in itertools.pairwise(line.chunks)
        if (before := overlapped(left, columns)) and (after := overlapped(right, columns))
    ]
    shares: dict[int, float] = {}
    for index in range(1, len(columns)):
        crossing = [is_next for left, right, is_next in pairs if left < index <= right]
        if len(crossing) >= MIN_ROWS:
            shares[index] = sum(crossing) / len(crossing)
    if not shares or max(shares.values()) < MIN_IN_ORDER:
        return None
    index = min(shares, key=lambda index: shares[index])
    border = (columns[index - 1][1] + columns[index][0]) / 2
    if index in (1, len(columns) - 1):
        chunks = [chunk for line in rows for chunk in line.chunks]
        single = [chunk for chunk in chunks if (chunk.start < border) == (index == 1)]
        if sum(len(chunk.text.split()) for chunk in single) < PROSE_WORDS * len(single):
            return None
    return border if shares[index] < MAX_FOREIGN_ORDER else None


def follows(left: Chunk, right: Chunk, order: dict[Piece, int]) -> bool:
    """Return whether the right chunk directly follows the left chunk in the page content."""
    return order[left.pieces[-1]] + 1 == order[right.pieces[0]]


def is_table(rows: list[TextLine], columns: list[Column], order: dict[Piece, int]) -> bool:
    """Return whether lines in columns are a table, not prose or a list."""
    grid = [cells for cells in (line_cells(line, columns) for line in rows) if filled(cells) > 1]
    texts = [" ".join(cell) for cells in grid for cell in cells if cell]
    if len(grid) < MIN_ROWS or len(texts) < MIN_FILLED * len(grid) * len(columns):
        return False
    words = sum(len(text.split()) for text in texts) / len(texts)
    numbers = sum(bool(re.match(_NUMBER, text)) for text in texts) / len(texts)
    if len(columns) == 2:
        markers = sum(bool(re.fullmatch(_MARKER, " ".join(cells[0]))) for cells in grid)
        if markers * 2 > len(grid) or words > MAX_WORDS_OF_TWO or numbers < MIN_NUMBERS:
            return False
    if words > MAX_WORDS or (numbers < MIN_NUMBERS and len(grid) < FEW_ROWS):
        return False
    pairs = [pair for line in rows for pair in itertools.pairwise(line.chunks)]
    in_order = sum(follows(left, right, order) for left, right in pairs)
    if in_order < MIN_IN_ORDER * len(pairs):
        return words <= COLUMN_WISE_WORDS and numbers >= COLUMN_WISE_NUMBERS
    return are_aligned(rows, columns)


def are_aligned(rows: list[TextLine], columns: list[Column]) -> bool:
    """Return whether most cells begin, end or are centered at the same position in their column."""
    chunks: dict[int, list[Chunk]] = {}
    for line in rows:
        for chunk in line.chunks:
            for index in overlapped(chunk, columns):
                chunks.setdefault(index, []).append(chunk)
    aligned = total = 0
    for column in chunks.values():
        places: list[Counter[int]] = [Counter(), Counter(), Counter()]
        for chunk in column:
            for counter, place in zip(
                places, (chunk.start, chunk.end, chunk.middle()), strict=True
            ):
                counter[round(place / (EDGE * rows[0].size))] += 1
        aligned += max(
            count + counter.get(place + 1, 0)
            for counter in places
            for place, count in counter.items()
        )
        total += len(column)
    return aligned >= MIN_ALIGNED * total


# ===== rows =======================================================================================


def join_rows(lines: list[TextLine], grid: list[Cells], columns: list[Column]) -> list[Cells]:
    """Return the rows of a table, with wrapped lines joined. grid: the cells of each line."""
    drops = [before.across - line.across for before, line in itertools.pairwise(lines)]
    most = max(map(filled, grid))
    full = [
        drop
        for drop, (above, cells) in zip(drops, itertools.pairwise(grid), strict=True)
        if min(filled(above), filled(cells)) * 3 > most * 2
    ]
    near = CLOSER * statistics.median(full) if full else 0.0
    rows = grid[:1]
    for line, drop, (above, cells) in zip(lines, drops, itertools.pairwise(grid), strict=False):
        spans = any(len(overlapped(chunk, columns)) > 1 for chunk in line.chunks)
        is_heading = spans and filled(cells) > 1.5 * filled(above)  # above several columns
        continues = drop < near or is_rest(rows[-1], cells)
        if continues and not is_heading and not are_rows(above, cells):
            rows[-1] = join(rows[-1], cells)
        else:
            rows.append(cells)
    return rows


def join(row: Cells, cells: Cells) -> Cells:
    """Return a row with the cells of its next line appended."""
    return [above + below for above, below in zip(row, cells, strict=True)]


def are_rows(above: Cells, cells: Cells) -> bool:
    """Return whether two lines have numbers in the same column, so they are different rows."""
    pairs = itertools.islice(zip(above, cells, strict=True), 1, None)
    return any(has_number(first) and has_number(second) for first, second in pairs)


def is_rest(row: Cells, cells: Cells) -> bool:
    """Return whether a line continues the row above it, regardless of the distance."""
    if not cells[0]:
        return filled(cells) < filled(row) and not any(map(has_number, cells))
    return filled(cells) == 1 and cells[0][0][:1].islower()


def has_number(texts: list[str]) -> bool:
    """Return whether the texts of a cell contain a digit."""
    return any(character.isdigit() for text in texts for character in text)


def filled(cells: Cells) -> int:
    """Return the number of cells in a row that have text."""
    return sum(map(bool, cells))
