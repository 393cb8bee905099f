"""PDF files: their text in reading order, page by page, and what they say about themselves."""

from __future__ import annotations

import re
import time

from websearch.common import SearchError, clean_text, drop_empty
from websearch.pdf.annotations import show_annotations
from websearch.pdf.content import ContentReader
from websearch.pdf.file import PdfFile
from websearch.pdf.layout import PageText
from websearch.pdf.limits import (
    MAX_FILE_BYTES,
    MAX_PAGES,
    MAX_TEXT,
    Budget,
    OutOfBudgetError,
)
from websearch.pdf.syntax import Stream, decode_text

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from websearch.common import Document

DEFAULT_SECONDS = 15.0  # for one file whose caller sets no deadline


def extract_pdf(data: bytes) -> str:
    """Return the text of a PDF file, a form feed between two pages.

    Raises SearchError: refused (a password is needed), unsupported (no PDF file, no text).
    """
    pages, _ = read_pages_of(data, [], time.monotonic() + DEFAULT_SECONDS)
    return "\f".join(text for _, text in pages)


def read_pages_of(data, ranges, deadline):
    budget = Budget(len(data), deadline)
    file = PdfFile(data, budget)
    reader = ContentReader(file)
    pages = []
    for number, page in enumerate(file.pages(), 1):
        reader.begin(PageText())
        try:
            contents = file.field(page, "Contents")
            parts = contents if isinstance(contents, list) else [contents]
            joined = bytearray()
            for part in parts:
                stream = file.resolve(part)
                if isinstance(stream, Stream):
                    room = budget.max_stream - len(joined)
                    joined += (file.stream_data(stream, room) or b"") + b"\n" if room > 0 else b""
            reader.run(bytes(joined), file.fields(page, "Resources"))
            show_annotations(reader, page)
        except OutOfBudgetError as e:
            pages.append((number, clean_text(reader.page.text())))
            break
        pages.append((number, clean_text(reader.page.text())))
    return pages, ""
