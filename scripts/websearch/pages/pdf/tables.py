"""Find the tables on a page: first in grids of ruled lines, then in columns of text.

A wrong grid is worse than plain lines, so anything that may be a drawing, prose or a list stays
text.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter

from websearch.pages.pdf.columns import (
    MIN_FILLED,
    MIN_ROWS,
    are_rows,
    column_tables,
    filled,
    find_columns,
    has_number,
    join,
    join_rows,
)
from websearch.pages.pdf.rulings import Grid, find_grids
from websearch.pages.pdf.text_lines import Chunk, TextLine, text_lines, visible_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.columns import Cells
    from websearch.pages.pdf.rulings import Ruling, Segment
    from websearch.pages.pdf.shown_text import Piece

MAX_PIECES = 20_000  # pieces on a page that is searched for tables; small print has 6,000
MAX_HEADING_ROWS = 8  # rows per table that are searched for repeated headings


class Table:
    """One table or several tables side by side. parts: rows of cell texts for each table."""

    __slots__ = ("parts", "pieces")

    def __init__(self, rows: list[Cells], pieces: set[Piece]) -> None:
        self.parts = side_by_side([[" ".join(texts) for texts in row] for row in rows])
        self.pieces = pieces

    def markdown(self) -> str:
        """Return the table as Markdown, with its first row as the heading."""
        tables = []
        for rows in self.parts:
            escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
            heading, *lines = [f"| {' | '.join(row)} |" for row in escaped]
            tables.append("\n".join([heading, "|" + " --- |" * len(rows[0]), *lines]))
        return "\n\n".join(tables)


def find_tables(pieces: list[Piece], segments: list[Segment]) -> list[Table]:
    """Return the tables on a page. segments: the page's ruled lines.

    Pages with right-to-left text get no tables. Tables contain only text in the direction of most
    text on the page.
    """
    shown = [piece for piece in pieces if piece.text.strip()]
    if not shown or any(piece.glyphs for piece in shown):
        return []
    direction = Counter(piece.direction for piece in shown).most_common(1)[0][0]
    free = [piece for piece in shown if piece.direction == direction]
    tables = []
    for grid in find_grids(segments, direction):
        table = ruled_table(grid, free)
        if table:
            tables.append(table)
            free = [piece for piece in free if piece not in table.pieces]
    order = {piece: index for index, piece in enumerate(shown)}
    return [*tables, *(Table(rows, pieces) for rows, pieces in column_tables(free, order))]


# ===== ruled tables ===============================================================================


def ruled_table(grid: Grid, pieces: list[Piece]) -> Table | None:
    """Return the table in a grid of ruled lines; None if it is not a table."""
    lines = text_lines([piece for piece in pieces if piece_cell(grid, [piece])])
    grid.add_edges(inner_edges(lines, grid))
    bands: dict[int, list[tuple[TextLine, Cells]]] = {}  # lines in each row of the grid
    contained: set[Piece] = set()
    for line in lines:
        for row, cells in line_cells(line, grid).items():
            contained.update(piece for part in cells.values() for piece in part)
            texts = [
                [Chunk(cells[column]).text] if column in cells else []
                for column in range(len(grid.columns))
            ]
            bands.setdefault(row, []).append((line, texts))
    table = [cells for row in sorted(bands) for cells in band_rows(bands[row], grid)]
    used = [column for column in range(len(grid.columns)) if any(row[column] for row in table)]
    table = [[row[column] for column in used] for row in table]
    enough = sum(map(filled, table)) >= MIN_FILLED * len(used) * len(table)
    several = sum(filled(row) > 1 for row in table)
    if len(used) < 2 or several < 2 or several * 2 <= len(table) or not enough:
        return None
    return Table(table, contained)


def band_rows(band: list[tuple[TextLine, Cells]], grid: Grid) -> list[Cells]:
    """Return the row between two level lines, or several rows if each line has its own numbers."""
    lines, cells = [line for line, _ in band], [texts for _, texts in band]
    if any(are_rows(above, below) for above, below in itertools.pairwise(cells)):
        return join_rows(lines, cells, list(itertools.pairwise(grid.columns)))
    return [functools.reduce(join, cells)]


def line_cells(line: TextLine, grid: Grid) -> dict[int, dict[int, list[Piece]]]:
    """Return the pieces on a line by their row and column in the grid."""
    cells: dict[int, dict[int, list[Piece]]] = {}
    for chunk in line.chunks:
        is_cut = grid.is_cut(chunk.start, chunk.end, line.across + line.size / 4)
        for part in [[piece] for piece in chunk.pieces] if is_cut else [chunk.pieces]:
            cell = piece_cell(grid, part)
            if cell:
                cells.setdefault(cell[0], {}).setdefault(cell[1], []).extend(part)
    return cells


def piece_cell(grid: Grid, pieces: list[Piece]) -> tuple[int, int] | None:
    """Return the row and column of the cell that contains the middle of adjacent pieces."""
    along = (pieces[0].start + visible_end(pieces[-1])) / 2
    return grid.cell(along, pieces[0].across + pieces[0].size / 4)


def inner_edges(lines: list[TextLine], grid: Grid) -> list[Ruling]:
    """Return upright lines for the gaps in ruled columns that contain several number columns."""
    edges: list[Ruling] = []
    for left, right in itertools.pairwise(grid.columns):
        inside = [
            (line, [chunk for chunk in line.chunks if left < chunk.middle() < right])
            for line in lines
        ]
        several = [(line, chunks) for line, chunks in inside if len(chunks) > 1]
        numbers = [has_number([chunk.text]) for _, chunks in several for chunk in chunks]
        if len(several) < MIN_ROWS or sum(numbers) * 2 < len(numbers):
            continue
        if len(several) * 2 < sum(bool(chunks) for _, chunks in inside):
            continue
        top, bottom = several[0][0], several[-1][0]
        columns = find_columns([chunks for _, chunks in several], top.size)
        edges += [
            ((before[1] + after[0]) / 2, bottom.across, top.across + top.size)
            for before, after in itertools.pairwise(columns)
        ]
    return edges


def side_by_side(rows: list[list[str]]) -> list[list[list[str]]]:
    """Return the tables in rows: several if tables with the same headings are side by side.

    Such tables have equal headings in their last columns and, unless the first columns contain
    names, in their first columns.
    """
    count = len(rows[0])
    for width in range(2, count // 2 + 1):
        starts = range(0, count, width)
        if count % width:
            continue
        firsts = [row[start] for row in rows for start in starts]
        are_names = sum(bool(re.match(r"[\d.,\s]+$", text)) for text in firsts) * 4 < len(firsts)
        for heading in rows[:MAX_HEADING_ROWS]:
            is_same = are_names or len(set(heading[::width])) == 1
            if is_same and heading[-1] and len(set(heading[width - 1 :: width])) == 1:
                parts = [[row[start : start + width] for row in rows] for start in starts]
                return [[row for row in part if any(row)] for part in parts]
    return [rows]
