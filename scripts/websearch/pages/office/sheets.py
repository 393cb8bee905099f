"""Write Excel and OpenDocument sheets as Markdown: the code that both formats share."""

from __future__ import annotations

import bisect
import itertools

from websearch.kit import one_line, quoted
from websearch.markdown.escapes import as_cell, escape, mark_line_starts, mark_signs
from websearch.pages.extract.tables import MAX_HEAD_ROWS, joined_names
from websearch.pages.office.blocks import hidden_note
from websearch.pages.page_content import PageContent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.markdown import MarkdownWriter

MAX_CELLS = 500_000  # nonempty cells per file
MAX_ROWS = 50_000  # rows per sheet, as in a CSV file
MAX_CELL = 2_000  # characters per cell
MAX_COLUMNS = 500  # columns per table

Row = dict[int, str]  # the cells of a row that have a value, by column from 0
Merge = tuple[int, int, int, int]  # merged cells: first and last row, first and last column


def head_rows(merges: list[Merge]) -> dict[int, int]:
    """Return row -> number of header rows that begin there, where merged cells show several.

    Some cells of such a row span rows, and others columns.
    """
    wide = {top for top, bottom, left, right in merges if right > left and bottom == top}
    heads: dict[int, int] = {}
    for top, bottom, _, _ in merges:
        if top in wide and top < bottom < top + MAX_HEAD_ROWS:
            heads[top] = max(heads.get(top, 1), bottom - top + 1)
    return heads


class LeftOut:
    """Counts a sheet's hidden rows and columns with values, and its formulas without a value."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []  # hidden columns: the first, the next visible
        self.columns: set[int] = set()  # hidden columns that have a value
        self.rows = self.formulas = 0

    def hide(self, begin: int, end: int) -> None:
        """Record hidden columns."""
        if len(self.ranges) < MAX_COLUMNS:
            self.ranges.append((begin, end))

    def shown(self, row: Row, is_hidden: bool) -> Row:
        """Return a row's visible cells; count the row or its columns if they are hidden."""
        if is_hidden:
            self.rows += bool(row)
            return {}
        if not self.ranges:
            return row
        hidden = {column for column in row if any(a <= column < b for a, b in self.ranges)}
        self.columns |= hidden
        return {column: text for column, text in row.items() if column not in hidden}

    def notes(self, name: str) -> list[str]:
        """Return the notes on a sheet."""
        hidden = hidden_note(f" in the sheet {name}", row=self.rows, column=len(self.columns))
        formula = f"The sheet {name} has formulas without stored values; the formulas are shown."
        return [hidden] * bool(hidden) + [formula] * bool(self.formulas)


class SheetWriter:
    """Writes a file's sheets as tables.

    rows: the current sheet's rows with their numbers; merges: its merged cells. spare: the number
    of cells that may still be read. Each copy of a cell or row counts as if the file contained it.
    """

    def __init__(self, writer: MarkdownWriter) -> None:
        self.writer = writer
        self.blocks: list[str] = []
        self.rows: list[tuple[int, Row]] = []
        self.merges: list[Merge] = []
        self.spare = MAX_CELLS
        self.is_full = False
        self.notes: dict[str, None] = {}
        self.is_cut = False

    def add_row(self, number: int, row: Row) -> bool:
        """Add a row to the current sheet; return whether more rows fit."""
        signs = sum(map(len, row.values()))
        is_too_large = len(row) > self.spare or signs > self.writer.chars_left
        self.is_full = self.is_full or len(self.rows) >= MAX_ROWS or is_too_large
        if row and not self.is_full:
            self.rows.append((number, row))
            self.spare -= len(row)
            self.writer.reserve(signs)
        return not self.is_full

    def end_sheet(
        self, name: str, is_hidden: bool = False, left_out: LeftOut | None = None
    ) -> None:
        """Write the current sheet: its name as a heading, then its rows.

        Empty rows separate tables; a sheet without values is omitted.
        """
        name = one_line(name, MAX_CELL)
        rows, self.rows = self.rows, []
        merges, self.merges = self.merges, []
        is_cut, self.is_full = self.is_full, False
        if is_hidden:
            for _, row in rows:
                self.spare += len(row)
                self.writer.chars_left += sum(map(len, row.values()))
            return
        for note in left_out.notes(quoted(name)) if left_out else []:
            self.notes[note] = None
        if is_cut:
            self.is_cut = True
            note = f"Only {len(rows)} rows of the sheet {quoted(name)} were read."
            self.notes[note if rows else "Some sheets were not read."] = None
        if not rows:
            return
        self.blocks.append(f"## {mark_signs(name)}")
        heads = head_rows(merges)
        self.repeat_merged(dict(rows), merges, heads)
        # In consecutive rows, number minus index is constant.
        for _, group in itertools.groupby(enumerate(rows), lambda pair: pair[1][0] - pair[0]):
            numbered = [row for _, row in group]
            self.blocks += self.table([row for _, row in numbered], heads.get(numbered[0][0], 1))

    def repeat_merged(
        self, rows: dict[int, Row], merges: list[Merge], heads: dict[int, int]
    ) -> None:
        """Repeat merged values in each row, and header names in each column, that they span."""
        last_heads = {first + count - 1 for first, count in heads.items()}
        in_heads = {first + more for first, count in heads.items() for more in range(count)}
        numbers = sorted(rows)
        for top, bottom, left, right in merges:
            text = rows.get(top, {}).get(left, "")
            is_name = top in in_heads and top not in last_heads
            first, end = bisect.bisect_left(numbers, top), bisect.bisect(numbers, bottom)
            for number in numbers[first : end if text else first]:
                for column in range(left, right + 1 if is_name else left + 1):
                    if self.spare <= 0 or not self.writer.reserve(len(text)):
                        return
                    self.spare -= 1
                    rows[number].setdefault(column, text)

    def table(self, rows: list[Row], heads: int) -> list[str]:
        """Return rows as a table without empty columns; a single column becomes paragraphs.

        heads: number of header rows, which are joined. If the table is too wide or exceeds the
        budget, empty cells and the delimiter row are omitted.
        """
        columns = sorted(set(itertools.chain(*rows)))
        if len(columns) == 1:
            return [mark_line_starts(row[columns[0]]) for row in rows]
        if 1 < heads < len(rows):
            names = joined_names([[row.get(column, "") for column in columns]
                                  for row in rows[:heads]])  # fmt: skip
            rows = [dict(zip(columns, names, strict=True)), *rows[heads:]]
        signs = 3 * len(columns) * (len(rows) + 1)
        if len(columns) > MAX_COLUMNS or signs > self.writer.chars_left:
            return ["\n".join(f"| {' | '.join(row.values())} |" for row in rows)]
        self.writer.reserve(signs)
        lines = [f"| {' | '.join(row.get(column, '') for column in columns)} |" for row in rows]
        return ["\n".join([lines[0], f"|{' --- |' * len(columns)}", *lines[1:]])]

    def cell(self, text: str, address: str = "") -> str:
        """Return a cell's text on one line, escaped, with the cell's link if links are kept."""
        shown = as_cell(mark_signs(one_line(text, MAX_CELL)))
        target = self.writer.target(address) if address and self.writer.keep_links else ""
        return f"[{shown}]({target})" if target else shown

    def content(self) -> PageContent:
        """Return the content of the file."""
        is_cut = self.is_cut or self.writer.cut
        return PageContent(escape("\n\n".join(self.blocks)), {}, " ".join(self.notes), is_cut)
