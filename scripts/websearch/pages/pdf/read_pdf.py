"""Read the text of PDF files in reading order, page by page, and their metadata."""

from __future__ import annotations

import re
import time

from websearch.base.untrusted import unescape
from websearch.kit import SearchError, clean_text, one_line, quoted
from websearch.pages.page_content import PageContent
from websearch.pages.pdf.annotations import show_annotations
from websearch.pages.pdf.bookmarks import info_text, read_bookmarks
from websearch.pages.pdf.content_stream import ContentReader
from websearch.pages.pdf.file import PdfFile
from websearch.pages.pdf.layout import PageText
from websearch.pages.pdf.limits import MAX_FILE_BYTES, MAX_PAGES, MAX_TEXT, Budget, OutOfBudgetError
from websearch.pages.pdf.syntax import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document

DEFAULT_SECONDS = 15.0  # seconds per file if there is no deadline
MAX_METADATA = 1_000_000  # bytes in a file's XMP description
SCAN_WORDS = 20  # a page with fewer words and a large picture is a scan
SCAN_AREA = 0.25  # minimum share of a page that the pictures of a scan cover
DEFAULT_PAGE = [0.0, 0.0, 612.0, 792.0]  # points; the box of a page that does not specify a box
# Errors that damaged data causes while a page is read. The remaining text of the page is lost.
DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
# Field of an XMP description -> its element, and a pattern for the value after the element.
XMP_FIELDS = {
    "title": ("<dc:title", r"<rdf:li\b[^<>]*>([^<]+)<"),
    "author": ("<dc:creator", r"<rdf:li\b[^<>]*>([^<]+)<"),
    "published": ("xmp:CreateDate", r"xmp:CreateDate(?:>|\s{0,9}=\s{0,9}[\"'])([^<\"']+)"),
}


def extract_pdf(data: bytes) -> str:
    """Return the text of a PDF file, with a form feed between pages.

    Raises SearchError: refused (a password is needed), unsupported (not a PDF file).
    """
    reading = PdfReading(data, time.monotonic() + DEFAULT_SECONDS)
    reading.read_pages([])
    return "\f".join(reading.texts.values())


def read_pdf(data: bytes, pages: str = "", deadline: float | None = None) -> PageContent:
    """Return the content of a PDF file; its fields are title, author, published and so on.

    pages: the pages to read, such as "3-7" or "1,4-6" (default: all). In text, each page begins
    with a heading such as [page 3]. is_cut: whether pages are missing; note: the reason.

    Raises SearchError: refused (a password is needed), unsupported (not a PDF file, no text),
    invalid_input (pages is malformed, or the file has no such pages).
    """
    ranges = parse_page_ranges(pages)
    reading = PdfReading(data, deadline or time.monotonic() + DEFAULT_SECONDS, True)
    reading.read_pages(ranges)
    reading.check_text(pages)
    texts = [f"## [page {number}]\n\n{text}" for number, text in reading.texts.items()]
    fields = {**describe_file(reading.file), "page_count": reading.page_count}
    note, is_cut, bookmarks = " ".join(reading.notes), reading.is_cut, reading.bookmarks()
    return PageContent(
        "\n\n".join(texts), fields, note, is_cut, is_foreign=True, bookmarks=bookmarks
    )


def parse_page_ranges(pages: str) -> list[tuple[int, int]]:
    """Return the first and last page of each range in "1,4-6"; raises SearchError."""
    ranges = []
    for pages_range in pages.replace(" ", "").split(",") if pages else []:
        match = re.fullmatch(r"(\d{1,6})(?:[-\u2013](\d{1,6}))?", pages_range)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 0 < first <= last:
            hint = 'Pass page numbers and ranges such as "3-7" or "1,4-6".'
            message = f"pages must be page numbers or ranges, not {quoted(pages_range)}."
            raise SearchError("invalid_input", message, hint)
        ranges.append((first, last))
    return ranges


# ===== reading the pages ==========================================================================


class PdfReading:
    """The results of reading a file: texts (by page number), page_count, notes, is_cut.

    Raises SearchError if the file cannot be opened.
    """

    def __init__(self, data: bytes, deadline: float, as_markdown: bool = False) -> None:
        self.as_markdown = as_markdown
        self.texts: dict[int, str] = {}
        self.notes: list[str] = []
        self.page_count = self.pictures = self.damaged = self.line_number = 0
        self.is_cut = len(data) >= MAX_FILE_BYTES  # the fetch stops at the same limit
        if self.is_cut:
            megabytes = MAX_FILE_BYTES // 1_000_000
            self.notes.append(f"Only the first {megabytes} MB of the file were read.")
            data = data[:MAX_FILE_BYTES]
        budget = Budget(len(data), deadline)
        try:
            self.file = PdfFile(data, budget)
        except OutOfBudgetError as error:
            message = f"The PDF file could not be opened: {error}."
            hint = "Raise {timeout}. Or use another source."
            raise SearchError("unsupported", message, hint) from None
        except DAMAGE:
            message = "The PDF file is too damaged to be opened."
            raise SearchError("unsupported", message, "Use another source.") from None
        if not self.file.offsets and not self.file.packed:
            message = "This is not a PDF file: it contains no objects."
            raise SearchError("unsupported", message, "Check the URL.")
        self.reader = ContentReader(self.file)

    def read_pages(self, ranges: list[tuple[int, int]]) -> None:
        """Read the pages in the ranges; all pages if the list is empty."""
        last = max((last for _, last in ranges), default=0)
        characters = number = 0
        try:
            self.page_count = self.claimed_pages()
            for number, page in enumerate(self.file.pages(), 1):
                if last and number > last:
                    break
                self.page_count = max(number, self.page_count)
                if ranges and not any(first <= number <= last for first, last in ranges):
                    continue
                if len(self.texts) >= MAX_PAGES:
                    raise OutOfBudgetError(f"at most {MAX_PAGES} pages are read per call")
                if characters > MAX_TEXT:
                    raise OutOfBudgetError("the text is longer than a large book")
                self.texts[number] = ""
                self.read_page(number, page)
                characters += len(self.texts[number])
        except OutOfBudgetError as error:
            self.is_cut = True
            self.notes.append(f"Reading ended on page {number}: {error}.")

    def bookmarks(self) -> list[tuple[int, str, int]]:
        """Return (level, title, page) for each entry in the file's outline."""
        try:
            return read_bookmarks(self.file)
        except (OutOfBudgetError, *DAMAGE):
            return []

    def claimed_pages(self) -> int:
        """Return the number of pages that the page tree claims to have."""
        count = self.file.field(self.file.fields(self.file.root(), "Pages"), "Count")
        return count if isinstance(count, int) else 0

    def read_page(self, number: int, page: dict[str, Any]) -> None:
        """Append the page's readable text to texts."""
        text = PageText(self.as_markdown, self.line_number)
        self.reader.begin(text)
        try:
            data = page_content(self.file, page)
            self.reader.run(data, self.file.fields(page, "Resources"))
            show_annotations(self.reader, page)
        except DAMAGE:
            self.damaged += 1
        finally:
            shown = text.markdown() if self.as_markdown else text.text()
            self.texts[number] = clean_text(shown)
            self.line_number = text.line_number
        box = self.file.numbers(page, "MediaBox", 4) or DEFAULT_PAGE
        area = abs((box[2] - box[0]) * (box[3] - box[1]))
        self.pictures += self.reader.image_area > SCAN_AREA * area

    def check_text(self, pages: str) -> None:
        """Add notes on missing text; raises SearchError if there is no text."""
        if not self.texts and pages and self.page_count:
            message = f"The PDF file has {self.page_count} pages, but no page in {quoted(pages)}."
            raise SearchError("invalid_input", message, "Set {pages} to pages in the file.")
        words = sum(len(text.split()) for text in self.texts.values())
        unreadable = self.reader.unknown * 2 > self.reader.shown
        if not words and self.is_cut:
            message = f"No text was found in the PDF file. {' '.join(self.notes)}"
            raise SearchError("unsupported", message, "Set {pages}. Or raise {timeout}.")
        if not words:
            raise no_text(self.pictures, unreadable)
        if self.pictures * 2 > len(self.texts) and words < SCAN_WORDS * len(self.texts):
            self.notes.append("Most pages are pictures (a scan). Their text cannot be read.")
        elif unreadable:
            self.notes.append("The fonts do not define most of their glyphs; text is missing.")
        if self.damaged:
            self.notes.append(f"Damaged pages that were only partly read: {self.damaged}.")


def no_text(pictures: int, unreadable: bool) -> SearchError:
    """Return the error for a file without text."""
    hint = "Look for an HTML version or another source. This file needs character recognition."
    if unreadable:
        message = "The fonts in the PDF file do not define the letters for their glyphs."
    elif pictures:
        message = "The PDF file is a scan: its pages are images."
    else:
        message = "The PDF file contains no text."
    return SearchError("unsupported", message, hint)


def page_content(file: PdfFile, page: dict[str, Any]) -> bytes:
    """Return the content of a page: its streams, separated by white space."""
    contents = file.field(page, "Contents")
    content = bytearray()
    for part in contents if isinstance(contents, list) else [contents]:
        stream = file.resolve(part)
        room = file.budget.max_stream - len(content)
        if isinstance(stream, Stream) and room > 0:
            content += file.stream_data(stream, room) or b""
            content += b"\n"
    return bytes(content)


# ===== metadata ===================================================================================


def describe_file(file: PdfFile) -> Document:
    """Return a file's title, author, published and language, if known (14.3, 14.9.2)."""
    try:
        info = file.fields(file.trailer, "Info")
        metadata = file.field(file.root(), "Metadata")
        xmp = file.stream_data(metadata, MAX_METADATA) if isinstance(metadata, Stream) else None
        language = file.field(file.root(), "Lang")
    except (OutOfBudgetError, *DAMAGE):
        return {}
    description = (xmp or b"").decode("utf-8", "replace")
    fields = {
        name: info_text(file.field(info, key)) or xmp_text(description, *XMP_FIELDS[name])
        for name, key in (("title", "Title"), ("author", "Author"), ("published", "CreationDate"))
    }
    fields["published"] = plain_date(fields["published"])
    fields["language"] = info_text(language)
    return fields


def xmp_text(description: str, element: str, pattern: str) -> str:
    """Return the value of a field in an XMP description; "" if it is missing."""
    start = description.find(element)
    match = re.compile(pattern).search(description, start) if start >= 0 else None
    return one_line(unescape(match[1]), 300) if match else ""


def plain_date(date: str) -> str:
    """Return a date such as D:20240131120000Z or 2024-01-31T12:00:00Z as 2024-01-31."""
    match = re.match(r"(?:D:)?((?:19|20)\d\d)-?(\d\d)?-?(\d\d)?", date)
    return "-".join(part for part in match.groups() if part) if match else ""
