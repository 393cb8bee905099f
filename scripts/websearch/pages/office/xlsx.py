"""Read Excel files (.xlsx): the values in visible sheets, formatted as in Excel (ECMA-376)."""

from __future__ import annotations

import datetime as dt
import re

from websearch.pages.office.archive import address_of, number_of
from websearch.pages.office.blocks import PRIVATE, symbol_table
from websearch.pages.office.number_formats import BUILT_IN, number_text
from websearch.pages.office.sheets import LeftOut, SheetWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from websearch.pages.extract.markdown import MarkdownWriter
    from websearch.pages.office.archive import Archive
    from websearch.pages.office.sheets import Merge, Row
    from websearch.pages.page_content import PageContent

MAX_STRINGS = 1_000_000  # shared strings per file
MAX_LINKS = 50_000  # links per sheet
ON = ("1", "true")
_RANGE = r"([A-Za-z]{1,3})(\d{1,7}):([A-Za-z]{1,3})(\d{1,7})"
_ESCAPED = r"_x([0-9a-fA-F]{4})_"


def read_workbook(
    archive: Archive, name: str, workbook: Element, writer: MarkdownWriter
) -> PageContent:
    """Return the content of an Excel file. name, workbook: the main part."""
    relations = archive.relations(name)
    properties = workbook.find("workbookPr")
    is_1904 = properties is not None and properties.get("date1904") in ON
    reader = CellReader(archive, name, dt.date(1904, 1, 1) if is_1904 else None)
    sheets = SheetWriter(writer)
    for sheet in workbook.iter("sheet"):
        relation = relations.get(sheet.get("r:id", ""))
        if relation and relation.kind == "worksheet" and sheet.get("state", "") in ("", "visible"):
            reader.left_out = LeftOut()
            archive.contained(read_rows, reader, relation.target, sheets)
            name = sheet.get("name", "")
            archive.contained(sheets.end_sheet, name, False, reader.left_out)
    return sheets.content()


def read_rows(reader: CellReader, name: str, sheets: SheetWriter) -> None:
    """Add the rows of a sheet. name: the sheet's part."""
    links = reader.links(name) if sheets.writer.keep_links else {}
    shown: dict[int, int] = {}  # row number in the file -> row number without hidden rows
    for number, row in reader.rows(name):
        cells = {column: sheets.cell(text, links.get((number, column), ""))
                 for column, text in row.items()}  # fmt: skip
        # Do not count hidden rows, because only a visible empty row separates tables.
        shown[number] = number - reader.left_out.rows
        if not sheets.add_row(shown[number], cells):
            return
    sheets.merges = [
        (shown[top], shown.get(bottom, shown[top] + bottom - top), left, right)
        for top, bottom, left, right in reader.merges
        if top in shown
    ]


class CellReader:
    """Reads cells, with the file's shared strings, formats and first day.

    left_out: counts for the current sheet. merges: its merged cells, numbered as in the file.
    """

    def __init__(self, archive: Archive, workbook: str, first_day: dt.date | None) -> None:
        self.archive = archive
        self.first_day = first_day
        self.left_out = LeftOut()
        self.merges: list[Merge] = []
        self.strings = []
        for item in archive.elements(archive.part(workbook, "sharedStrings"), "si"):
            self.strings.append(string(item))
            if len(self.strings) >= MAX_STRINGS:
                break
        styles = archive.tree(archive.part(workbook, "styles"))
        self.formats = read_formats(styles)
        self.fonts = read_fonts(styles)

    def rows(self, name: str) -> Iterator[tuple[int, Row]]:
        """Yield each row's number in a sheet, and its visible cells that have a value.

        After the last row, merges is filled.
        """
        merges = self.merges = []
        number = 0
        for row in self.archive.elements(name, "row", "col", "mergeCell"):
            if row.tag == "mergeCell":  # these come after the rows
                if (found := re.fullmatch(_RANGE, row.get("ref", ""))) and len(merges) < MAX_LINKS:
                    columns = column_of(found[1]), column_of(found[3])
                    merges.append((int(found[2]), int(found[4]), *columns))
                continue
            if row.tag == "col":  # these come before the rows
                if row.get("hidden") in ON:
                    self.left_out.hide(number_of(row.get("min"), 1) - 1, number_of(row.get("max")))
                continue
            number = number_of(row.get("r"), number + 1)
            column = -1
            cells: Row = {}
            for cell in row:
                place = cell.get("r", "")
                column = column_of(place) if place else column + 1
                if text := self.value(cell):
                    cells[column] = self.with_symbols(text, cell)
            yield number, self.left_out.shown(cells, row.get("hidden") in ON)

    def links(self, name: str) -> dict[tuple[int, int], str]:
        """Return (row, column) -> URL for the links in a sheet."""
        relations = self.archive.relations(name)
        links: dict[tuple[int, int], str] = {}
        if any(relation.kind == "hyperlink" for relation in relations.values()):
            for link in self.archive.elements(name, "row", "hyperlink"):
                place = re.match(r"([A-Za-z]{1,3})(\d{1,7})", link.get("ref", ""))
                if place and len(links) < MAX_LINKS:
                    address = address_of(relations, link, link.get("location", ""))
                    links[int(place[2]), column_of(place[1])] = address
        return links

    def with_symbols(self, text: str, cell: Element) -> str:
        """Return a cell's text as its font shows it, if a symbol font applies to all of it."""
        style = number_of(cell.get("s"))
        table = symbol_table(self.fonts[style]) if style < len(self.fonts) else {}
        symbols = [table.get(PRIVATE | ord(letter), "") for letter in text] if table else []
        return "".join(symbols) if symbols and all(symbols) else text

    def value(self, cell: Element) -> str:
        """Return a cell's value as text; "" if it is empty."""
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            found = cell.find("is")
            return string(found) if found is not None else ""
        text = cell.findtext("v") or ""
        if not text and kind == "n" and (formula := cell.findtext("f")):
            self.left_out.formulas += 1
            return f"={formula}"
        if kind == "s":
            index = number_of(text, len(self.strings))
            return self.strings[index] if index < len(self.strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        if kind != "n":  # text of a formula, an error, a date
            return plain(text)
        style = number_of(cell.get("s"))
        code = self.formats[style] if style < len(self.formats) else ""
        return number_text(text, code, self.first_day) if text else ""


def string(item: Element) -> str:
    """Return a string's text without the pronunciation hints in Japanese files."""
    runs = [item, *item.iterfind("r")]
    return plain("".join(part.text or "" for run in runs for part in run.iterfind("t")))


def plain(text: str) -> str:
    """Return text with character escapes decoded: _x000D_ is a carriage return."""
    return re.sub(_ESCAPED, lambda code: chr(int(code[1], 16)), text) if "_x" in text else text


def column_of(place: str) -> int:
    """Return the column number of a cell name such as AB12, from 0."""
    column = 0
    for letter in re.match("[A-Za-z]{0,3}", place)[0].upper():  # type: ignore[index]
        column = column * 26 + ord(letter) - 64
    return max(0, column - 1)


def read_formats(styles: Element) -> list[str]:
    """Return the number format for each cell format; "" if it has no number format."""
    codes = {item.get("numFmtId", ""): item.get("formatCode", "") for item in styles.iter("numFmt")}
    formats = styles.find("cellXfs")
    ids = [item.get("numFmtId", "") for item in (formats if formats is not None else ())]
    return [codes.get(key) or BUILT_IN.get(number_of(key), "") for key in ids]


def read_fonts(styles: Element) -> list[str]:
    """Return the font's name for each cell format."""
    fonts, formats = styles.find("fonts"), styles.find("cellXfs")
    names = [item.find("name") for item in (fonts if fonts is not None else ())]
    fonts_of = [number_of(item.get("fontId")) for item in (formats if formats is not None else ())]
    found = [names[number] if number < len(names) else None for number in fonts_of]
    return [name.get("val", "") if name is not None else "" for name in found]
