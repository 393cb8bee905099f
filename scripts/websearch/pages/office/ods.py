"""Read OpenDocument sheets (.ods): the values in visible sheets, as a spreadsheet shows them."""

from __future__ import annotations

import re

from websearch.pages.office.archive import number_of
from websearch.pages.office.number_formats import number_text
from websearch.pages.office.sheets import MAX_COLUMNS, LeftOut, SheetWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from websearch.pages.extract.markdown import MarkdownWriter
    from websearch.pages.office.archive import Archive
    from websearch.pages.office.sheets import Row
    from websearch.pages.page_content import PageContent

_DURATION = r"-?PT(\d{1,6})H(\d{1,2})M(\d{1,2})(?:[.,]\d*)?S"
HIDDEN = ("collapse", "filter")  # visibility of hidden rows and columns
_REFERENCE = r"\[\.|(?<=:)\.|\]"  # characters around cell names: [.A1:.A2]
_MOMENT = r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(:\d\d)?(?:\.\d*)?Z?"


def read_sheets(archive: Archive, writer: MarkdownWriter) -> PageContent:
    """Return the content of a spreadsheet file."""
    sheets = SheetWriter(writer)
    hidden: set[str] = set()
    number = column = 0
    left_out = LeftOut()
    for part in archive.elements("content.xml", "style", "table-column", "table-row", "table"):
        if part.tag == "style":
            properties = part.find("table-properties")
            if properties is not None and properties.get("display") == "false":
                hidden.add(part.get("name", ""))
        elif part.tag == "table-column":
            before, column = column, column + number_of(part.get("number-columns-repeated"), 1)
            if part.get("visibility") in HIDDEN:
                left_out.hide(before, column)
        elif part.tag == "table-row":
            repeats = number_of(part.get("number-rows-repeated"), 1)
            is_hidden = part.get("visibility") in HIDDEN
            for row in archive.contained(read_row, part, number, sheets, left_out):
                cells = left_out.shown(row, is_hidden)
                for more in range(repeats if cells else 0):
                    if not sheets.add_row(number + more, cells):
                        break
            number += 0 if is_hidden else repeats  # hidden rows do not separate tables
        else:
            is_hidden = part.get("style-name", "") in hidden
            archive.contained(sheets.end_sheet, part.get("name", ""), is_hidden, left_out)
            number, column, left_out = 0, 0, LeftOut()
    sheets.end_sheet("Sheet")  # a sheet cut short by damage or the deadline
    return sheets.content()


def read_row(row: Element, number: int, sheets: SheetWriter, left_out: LeftOut) -> Iterator[Row]:
    """Yield one row: its cells that have a value. number: the row's number."""
    cells: Row = {}
    column = 0
    for cell in row:
        repeats = number_of(cell.get("number-columns-repeated"), 1)
        text = cell_text(cell) if cell.tag == "table-cell" else ""
        if not text and (formula := cell.get("formula", "")):
            left_out.formulas += 1
            text = "=" + re.sub(_REFERENCE, "", formula.partition("=")[2])
        if text:
            link = next(cell.iter("a"), None)
            wide, high = (number_of(cell.get(f"number-{name}-spanned"), 1)
                          for name in ("columns", "rows"))  # fmt: skip
            if max(wide, high) > 1:
                sheets.merges.append((number, number + high - 1, column, column + wide - 1))
            shown = sheets.cell(text, link.get("href", "") if link is not None else "")
            for place in range(column, column + min(repeats, MAX_COLUMNS)):
                cells[place] = shown
        column += repeats
        if len(cells) > sheets.spare:
            break
    yield cells


def cell_text(cell: Element) -> str:
    """Return a cell's value as text."""
    kind, value = cell.get("value-type", ""), cell.get("value", "")
    if kind == "date":
        return date_text(cell.get("date-value", ""))
    if kind == "time" and (match := re.fullmatch(_DURATION, cell.get("time-value", ""))):
        hours, minutes, seconds = (int(part) for part in match.groups())
        return f"{hours:02d}:{minutes:02d}:{seconds:02d}".removesuffix(":00")
    if kind == "boolean":
        return cell.get("boolean-value", "").upper()
    text = "\n".join("".join(texts(part)) for part in cell.iterfind("p"))  # formatted numbers
    if not text and value:
        return number_text(value, "0.##%" if kind == "percentage" else "", None)
    return text or cell.get("string-value", "")


def date_text(value: str) -> str:
    """Return a date as 2024-01-31, with a time as 2024-01-31 13:45."""
    match = re.fullmatch(_MOMENT, value)
    if not match:
        return value
    seconds = "" if match[3] in (None, ":00") else match[3]
    has_time = match[2] != "00:00" or seconds
    return f"{match[1]} {match[2]}{seconds}" if has_time else match[1]


def texts(parent: Element) -> Iterator[str]:
    """Yield the texts in a paragraph, with a space for each element that represents white space."""
    yield parent.text or ""
    for child in parent:
        if child.tag in ("s", "tab", "line-break"):
            yield " "
        elif child.tag not in ("annotation", "note"):
            yield from texts(child)
        yield child.tail or ""
