"""Excel files (.xlsx): the values of their visible sheets as a person sees them (ECMA-376)."""

from __future__ import annotations

import datetime as dt
import re

from websearch.extraction.office.archive import address_of, number_of
from websearch.extraction.office.sheets import SheetWriter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from websearch.extraction.markdown import MarkdownWriter
    from websearch.extraction.office.archive import Archive
    from websearch.extraction.office.sheets import Row
    from websearch.kit import Document

MAX_STRINGS = 1_000_000  # that cells share
MAX_LINKS = 50_000  # of one sheet
MAX_SERIAL = 2_958_466.0  # the number of the day after the year 9999
# Formats that need no definition: dates and times (18.8.30), those of East Asia too, percentages.
DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
PERCENT_FORMATS = frozenset((9, 10))
MAX_FORMAT = 255  # characters, as in Excel
# What is no letter of a format: quoted text, signs, colours; but not [h], hours beyond a day.
_NOT_LETTERS = r'"[^"]{0,255}"|\\.|_.|\*.|\[(?![hms]{1,3}\])[^\[\]]{0,255}\]'
_ESCAPED = r"_x([0-9a-fA-F]{4})_"


def read_workbook(
    archive: Archive, name: str, workbook: Element, writer: MarkdownWriter
) -> Document:
    """Return text, note and cut of an Excel file. name, workbook: its main part."""
    relations = archive.relations(name)
    properties = workbook.find("workbookPr")
    is_1904 = properties is not None and properties.get("date1904") in ("1", "true")
    reader = CellReader(archive, name, dt.date(1904, 1, 1) if is_1904 else None)
    sheets = SheetWriter(writer)
    for sheet in workbook.iter("sheet"):
        relation = relations.get(sheet.get("r:id", ""))
        if relation and relation.kind == "worksheet" and sheet.get("state", "") in ("", "visible"):
            links = reader.links(relation.target) if writer.keep_links else {}
            for number, row in reader.rows(relation.target):
                cells = {column: sheets.cell(text, links.get((number, column), ""))
                         for column, text in row.items()}  # fmt: skip
                if not sheets.add_row(number, cells):
                    break
            sheets.end_sheet(sheet.get("name", ""))
    return sheets.document()


class CellReader:
    """Reads cells: the texts that they share, their formats, and the day that they count from."""

    def __init__(self, archive: Archive, workbook: str, first_day: dt.date | None) -> None:
        self.archive = archive
        self.first_day = first_day
        self.strings = []
        for item in archive.elements(archive.part(workbook, "sharedStrings"), "si"):
            self.strings.append(string(item))
            if len(self.strings) >= MAX_STRINGS:
                break
        self.formats = read_formats(archive.tree(archive.part(workbook, "styles")))

    def rows(self, name: str) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a sheet with their numbers, and in them the cells that have a value."""
        number = 0
        for row in self.archive.elements(name, "row"):
            number = number_of(row.get("r"), number + 1)
            column = -1
            cells: Row = {}
            for cell in row:
                place = cell.get("r", "")
                column = column_of(place) if place else column + 1
                if text := self.value(cell):
                    cells[column] = text
            yield number, cells

    def links(self, name: str) -> dict[tuple[int, int], str]:
        """Return the addresses that cells of a sheet link to, by their rows and columns."""
        relations = self.archive.relations(name)
        links: dict[tuple[int, int], str] = {}
        if any(one.kind == "hyperlink" for one in relations.values()):
            for link in self.archive.elements(name, "row", "hyperlink"):
                place = re.match(r"([A-Za-z]{1,3})(\d{1,7})", link.get("ref", ""))
                if place and len(links) < MAX_LINKS:
                    address = address_of(relations, link, link.get("location", ""))
                    links[int(place[2]), column_of(place[1])] = address
        return links

    def value(self, cell: Element) -> str:
        """Return the value of a cell as text, "" if it is empty."""
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            found = cell.find("is")
            return string(found) if found is not None else ""
        text = cell.findtext("v") or ""
        if kind == "s":
            index = number_of(text, len(self.strings))
            return self.strings[index] if index < len(self.strings) else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(text, text)
        if kind != "n":  # text of a formula, an error, a date
            return plain(text)
        style = number_of(cell.get("s"))
        kind = self.formats[style] if style < len(self.formats) else ""
        return number_text(text, kind, self.first_day)


def string(item: Element) -> str:
    """Return the text of a string; how it is spoken, which Japanese files say, is left out."""
    runs = [item, *item.iterfind("r")]
    return plain("".join(one.text or "" for run in runs for one in run.iterfind("t")))


def plain(text: str) -> str:
    """Return text with the characters that XML cannot hold: _x000D_ is a line break."""
    return re.sub(_ESCAPED, lambda code: chr(int(code[1], 16)), text) if "_x" in text else text


def column_of(place: str) -> int:
    """Return the column of a cell such as AB12, from 0 on."""
    column = 0
    for letter in re.match("[A-Za-z]{0,3}", place)[0].upper():  # type: ignore[index]
        column = column * 26 + ord(letter) - 64
    return max(0, column - 1)


def read_formats(styles: Element) -> list[str]:
    """Return for each format of cells what its numbers are: "date", "time", "percent" or ""."""
    codes = {one.get("numFmtId", ""): one.get("formatCode", "") for one in styles.iter("numFmt")}
    formats = styles.find("cellXfs")
    ids = [one.get("numFmtId", "") for one in (formats if formats is not None else ())]
    return [format_kind(one, codes.get(one, "")) for one in ids]


def format_kind(number: str, code: str) -> str:
    """Return what the numbers of a format are; code: its definition, "" if it needs none."""
    if not code:
        built_in = number_of(number)
        if built_in in DATE_FORMATS:
            return "time" if built_in in (18, 19, 20, 21, 45, 46, 47) else "date"
        return "percent" if built_in in PERCENT_FORMATS else ""
    letters = re.sub(_NOT_LETTERS, "", code[:MAX_FORMAT].partition(";")[0]).lower()
    if "general" in letters:
        return ""
    if re.search("[dy]", letters) or ("m" in letters and not re.search("[hs]", letters)):
        return "date"
    if re.search("[hs]", letters):
        return "time"
    return "percent" if "%" in letters else ""


def number_text(text: str, kind: str, first_day: dt.date | None) -> str:
    """Return a number as a person sees it. first_day: day 0; None for that of Excel, in 1899."""
    try:
        number = float(text)
    except ValueError:
        return text
    if kind == "percent" and abs(number) < 1e12:
        return f"{number * 100:.10g}%"
    if kind in ("date", "time") and 0 <= number < MAX_SERIAL:
        return moment_text(number, kind, first_day)
    if number.is_integer() and abs(number) < 1e15:
        return str(int(number))
    return repr(number) if abs(number) < float("inf") else text


def moment_text(number: float, kind: str, first_day: dt.date | None) -> str:
    """Return a number of days as 2024-01-31, as 2024-01-31 13:45, or as a time alone: 13:45."""
    days, seconds = divmod(round(number * 86_400), 86_400)
    if kind == "time" and days < 366:
        hours, rest = divmod(days * 86_400 + seconds, 3_600)
        return f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}".removesuffix(":00")
    # Excel counts a 29 February 1900, which never was: days before it have one number less.
    base = first_day or dt.date(1899, 12, 31 if number < 60 else 30)
    try:
        date = (base + dt.timedelta(days)).isoformat()
    except OverflowError:
        return repr(number)
    clock = f" {seconds // 3_600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return date + (clock.removesuffix(":00") if seconds else "")
