"""List the tables in a page, select one table, and write it as CSV."""

from __future__ import annotations

import csv
import io
import itertools
import re

from websearch.kit import SearchError, drop_empty, one_line
from websearch.markdown.inline import cells_of, is_table_rule, plain_text
from websearch.markdown.units import ITEM, LIST_ITEM, PageText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Document
    from websearch.markdown.units import Piece

LABEL_CHARS = 120  # characters of a heading or caption in the list of tables
MAX_COLUMNS = 30  # column names in the list of tables


def tables_in(text: str) -> list[Document]:
    """Return the tables in a page: {number, heading?, caption?, columns, rows, offset, end}.

    columns: the names in the table's head. offset, end: the table's position in the text.
    """
    page = PageText(text)
    rows = (piece for piece in page.units if piece.kind == "row")
    blocks = [[*group] for _, group in itertools.groupby(rows, lambda row: row.block)]
    return [table_of(page, number, block) for number, block in enumerate(blocks, 1)]


def table_of(page: PageText, number: int, rows: list[Piece]) -> Document:
    """Return the entry for a table with these rows."""
    first, head = rows[0], rows[0].frames
    path = " > ".join(lead.words for lead in first.leads if lead.level < ITEM)
    caption = plain_text(one_line(first.above, LABEL_CHARS))
    names = cells_of(page.of(head[0]).split("\n")[0]) if head else []
    label = {"heading": one_line(path, LABEL_CHARS), "caption": caption}
    return {
        "number": number,
        **drop_empty(label),
        "columns": [*map(plain_text, names[:MAX_COLUMNS])],
        "rows": len(rows),
        "offset": head[0].start if head else first.start,
        "end": rows[-1].end,
    }


def table_with_number(tables: list[Document], number: int) -> Document:
    """Return the table with this number. Raises SearchError (no_results)."""
    for table in tables:
        if table["number"] == number:
            return table
    raise no_such_table(tables, number)


def no_such_table(tables: list[Document], number: int) -> SearchError:
    """Return the error for a number that no table has, or for a page without tables (number 0)."""
    if not tables:
        message, hint = "The page has no table.", "To see its text, omit {tables}."
        return SearchError("no_results", message, hint)
    first, last = tables[0]["number"], tables[-1]["number"]
    numbers = f"table {first}" if first == last else f"tables {first} to {last}"
    hint = "{tables} 0 lists them."
    return SearchError("no_results", f"There is no table {number}, only {numbers}.", hint)


def as_csv(markdown: str) -> str:
    """Return a Markdown table as CSV without markup; all rows have the same number of fields.

    The format is that of RFC 4180, except that lines end in a line feed.
    """
    text = io.StringIO()
    lines = [re.sub(f"^{LIST_ITEM}", "", line) for line in markdown.split("\n")]
    if len(lines) > 1 and is_table_rule(lines[1]):  # a row of the table may also have only dashes
        del lines[1]
    rows = [[*map(plain_text, cells_of(line))] for line in lines]
    width = max(map(len, rows))
    filled = ([*row, *[""] * (width - len(row))] for row in rows)
    csv.writer(text, lineterminator="\n").writerows(filled)
    return text.getvalue().removesuffix("\n")
