"""Read HTML tables: distinguish data from layout, and make every row readable on its own."""

from __future__ import annotations

import re
from itertools import islice

from websearch.base.html_tree import HEADINGS, Node, children_of, elements_below, name_set
from websearch.pages.extract.element_names import words_of
from websearch.pages.extract.name_rules import NOTE_WORDS
from websearch.pages.extract.page_tree import collect_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MAX_COLUMNS = 40  # columns; a wider table is for layout, or data for programs
MAX_ROW_SPAN = 2_000  # maximum number of rows that repeat a cell's value
MAX_HEAD_ROWS = 4  # header rows whose names are joined
ROWS_PER_BLOCK = 10  # rows per heading or nested table that a data table may contain
MAX_CELL = 4_000  # characters per cell; a table with a longer cell is for layout
MAX_PLAIN_CELL = 1_500  # the same for a table without header cells and caption
# Characters of the first cell and of all cells in a data table with one row.
MAX_NAME, MAX_ROW = 60, 600
PICTURES = name_set("i img span svg")
MAX_IN_ROW = 100  # elements in a cell of the only row of a table
MAX_BOXES = 4  # elements around the code in a cell


def is_shown(node: Node) -> bool:
    """Return whether an element appears in the Markdown, which, unlike plain text, has captions."""
    return node.dropped in ("", "caption")


def table_parts(node: Node) -> list[Node]:
    """Return a table's caption, rows and cells in order, without those of nested tables."""
    found: list[Node] = []
    for child in node.children:
        if isinstance(child, Node) and is_shown(child):
            if child.tag in ("td", "th", "caption"):
                found.append(child)
            elif child.tag == "tr":
                found += [child, *table_parts(child)]
            elif child.tag in ("thead", "tbody", "tfoot", "form", "div", "span"):
                found += table_parts(child)
    return found


def rows_of(parts: list[Node]) -> list[list[Node]]:
    """Return the cells of each row; parts: the parts of a table."""
    rows: list[list[Node]] = [[]]
    for part in parts:
        if part.tag == "tr":
            rows.append([])
        elif part.tag != "caption":
            rows[-1].append(part)
    return rows


# ===== tables of data =============================================================================


def is_data_table(node: Node, parts: list[Node]) -> bool:
    """Return whether cells show that a table is data, not layout; parts: its rows and cells.

    Cells in a pipe table cannot contain headings, lines of code or tables. A row that contains only
    code is layout for line numbers, and a picture next to all rows is a note's icon.
    """
    if node.attributes.get("role") in ("presentation", "none"):
        return False
    rows = [row for row in rows_of(parts) if row]
    says_data = any(part.tag in ("th", "caption") for part in parts)
    cells = [cell for row in rows for cell in row]
    longest = MAX_CELL if says_data else MAX_PLAIN_CELL
    if (
        any(sum(span_of(cell, "colspan") for cell in row) > MAX_COLUMNS for row in rows)
        or any(cell.chars > longest for cell in cells)
        or (len(rows) == 1 and (is_in_note(node) or not is_named_row(rows[0])))
        or any(map(is_code_row, rows))
        or (1 < len(rows) == span_of(rows[0][0], "rowspan") and not rows[0][0].chars)
    ):
        return False
    spare = (len(parts) - len(cells)) // ROWS_PER_BLOCK if says_data else 0
    waiting: list[Node | str] = [*cells]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, str) or not is_shown(inner):
            continue
        spare -= inner.tag == "table" or inner.tag in HEADINGS
        if spare < 0:
            return False
        if inner.tag == "pre" and is_in_lines(inner):
            return False
        waiting += inner.children
    return True


def is_in_note(table: Node) -> bool:
    """Return whether the box around a table is a note, whose label is in the first cell."""
    return table.parent is not None and not words_of(table.parent).isdisjoint(NOTE_WORDS)


def is_named_row(cells: list[Node]) -> bool:
    """Return whether the only row of a table consists of a name and its values.

    The name is not the picture of a note, and no cell has more than one paragraph.
    """
    pictures = [child for child in children_of(cells[0]) if child.tag in PICTURES]
    if pictures and not any(picture.chars for picture in pictures):
        return False
    is_short = cells[0].chars <= MAX_NAME and sum(cell.chars for cell in cells) <= MAX_ROW
    is_filled = sum(bool(cell.chars) for cell in cells) > 1
    inside = (islice(elements_below(cell), MAX_IN_ROW) for cell in cells)
    paragraphs = max(sum(node.tag == "p" for node in below) for below in inside)
    return is_short and is_filled and paragraphs < 2


def is_code_row(cells: list[Node]) -> bool:
    """Return whether a row has a single cell with text, which contains only a pre element."""
    filled = [cell for cell in cells if cell.chars]
    if len(filled) != 1:
        return False
    inner = filled[0]
    for _ in range(MAX_BOXES):
        inside = [child for child in inner.children if isinstance(child, Node) and child.chars]
        if len(inside) != 1 or inside[0].chars != filled[0].chars:
            return False
        inner = inside[0]
        if inner.tag == "pre":
            return True
    return False


def is_in_lines(code: Node) -> bool:
    """Return whether a pre element has several lines."""
    texts: list[str] = []
    collect_text(code, texts)
    return "\n" in "".join(texts).strip()


# ===== rows =======================================================================================


def span_of(cell: Node, name: str) -> int:
    """Return the number of columns (name: "colspan") or rows ("rowspan") that a cell spans.

    A rowspan of 0 extends to the end of the table.
    """
    value = cell.attributes.get(name, "").strip()
    most = MAX_COLUMNS + 1 if name == "colspan" else MAX_ROW_SPAN
    if not re.fullmatch(r"\d{1,9}", value):
        return 1
    span = min(int(value), most)
    return span or (most if name == "rowspan" else 1)


def read_rows(
    parts: list[Node], write: Callable[[Node], str], again: Callable[[str], str]
) -> tuple[str, list[list[str]]]:
    """Return the title above the columns, or "", and the texts of each row's cells.

    Several header rows are joined: "2001 census: Speakers". To make every row readable on its
    own, a value that spans rows is repeated in each row, a name in each of its columns; a value
    that spans columns appears once.
    write: returns the text of a cell
    again: returns a text in the form for repetition
    """
    cells = rows_of(parts)
    cells = cells if cells[0] else cells[1:]
    heads = head_rows(cells)
    rows: list[list[str]] = []
    above: dict[int, tuple[str, int]] = {}  # column -> text, number of rows still to repeat it
    for number, row_cells in enumerate(cells):
        row: list[str] = []
        for cell in row_cells:
            take_from_above(row, above, again)
            text, high = write(cell), span_of(cell, "rowspan")
            for place in range(min(span_of(cell, "colspan"), MAX_COLUMNS + 1 - len(row))):
                if place:
                    text = again(text) if number < heads - 1 else ""
                if high > 1:
                    above[len(row)] = (text, high - 1)
                row.append(text)
        while above and len(row) <= max(above):
            take_from_above(row, above, again)
            if above and len(row) <= max(above):
                row.append("")
        rows.append(row)
    title = ""
    if heads > 1 and len(cells[0]) == 1:
        title, heads, rows = rows[0][0], heads - 1, rows[1:]
    if heads > 1:
        rows = [joined_names(rows[:heads]), *rows[heads:]]
    return title, [row for row in rows if any(row)]


def take_from_above(
    row: list[str], above: dict[int, tuple[str, int]], again: Callable[[str], str]
) -> None:
    """Append the texts from rows above that span into the next columns of the row."""
    while len(row) in above:
        text, more = above.pop(len(row))
        if more > 1:
            above[len(row)] = (text, more - 1)
        row.append(again(text))


def head_rows(rows: list[list[Node]]) -> int:
    """Return the number of leading rows that contain column names.

    These are the rows in thead, the rows with only header cells if a cell in the first row spans
    others, or else the first row if it has only header cells. If no other rows follow, it is at
    most 1.
    """
    in_head = count_first(rows, lambda cell: bool(cell.parent and is_in(cell.parent, "thead")))
    named = count_first(rows, lambda cell: cell.tag == "th")
    first = rows[0] if rows else []
    spans = any(span_of(cell, name) > 1 for cell in first for name in ("colspan", "rowspan"))
    heads = max(in_head, named if spans else min(named, 1))
    return heads if heads < len(rows) else min(heads, 1)


def count_first(rows: list[list[Node]], is_kind: Callable[[Node], bool]) -> int:
    """Count the leading rows whose cells are all of the same kind."""
    count = 0
    for row in rows[:MAX_HEAD_ROWS]:
        if not row or not all(map(is_kind, row)):
            break
        count += 1
    return count


def is_in(row: Node, tag: str) -> bool:
    """Return whether a row, or a cell's parent if there is no row, or its parent, has this tag."""
    return row.tag == tag or (row.parent is not None and row.parent.tag == tag)


def joined_names(rows: list[list[str]]) -> list[str]:
    """Return the name of each column, joined from several header rows."""
    names: list[str] = []
    for column in range(max(map(len, rows))):
        parts = dict.fromkeys(row[column] for row in rows if column < len(row) and row[column])
        names.append(": ".join(part.rstrip(": ") for part in parts))
    return names
