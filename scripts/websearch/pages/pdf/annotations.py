"""Read the text of annotations: values of form fields, free text, stamps (12.5.5, 12.7)."""

from __future__ import annotations

import re

from websearch.pages.pdf.layers import is_off
from websearch.pages.pdf.limits import MAX_DEPTH
from websearch.pages.pdf.shown_text import Piece
from websearch.pages.pdf.syntax import Stream, decode_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.pdf.content_stream import ContentReader
    from websearch.pages.pdf.file import PdfFile
    from websearch.pages.pdf.shown_text import Matrix

HIDDEN = 2 | 32  # flags for annotations that are hidden or not shown on screen
WITHOUT_TEXT = ("Link", "Popup")  # kinds of annotations
FIELD_TEXT_SIZE = 10.0  # points


def show_annotations(reader: ContentReader, page: dict[str, Any]) -> None:
    """Add the text of a page's annotations to the reader's page. Raises OutOfBudgetError."""
    file = reader.file
    for annotation in file.items(page, "Annots"):
        file.budget.check_time()
        flags = file.field(annotation, "F")
        kind = file.field(annotation, "Subtype")
        box = file.numbers(annotation, "Rect", 4)
        if kind in WITHOUT_TEXT or not box or (isinstance(flags, int) and flags & HIDDEN):
            continue
        if is_off(file, annotation, "OC", reader.off):
            continue
        reader.page.end_line()
        appearance = appearance_stream(file, annotation)
        if appearance:
            reader.show_form(appearance, placement(file, appearance, box))
        elif kind in ("Widget", "FreeText", "Stamp"):
            text_of = field_value if kind == "Widget" else written_text
            value = " ".join(text_of(file, annotation).split())
            width = box[2] - box[0]
            if value:
                reader.page.add(Piece(value, (box[0], box[1]), (1.0, 0.0), width, FIELD_TEXT_SIZE))
        reader.page.end_line()


def appearance_stream(file: PdfFile, annotation: dict[str, Any]) -> Stream | None:
    """Return an annotation's normal appearance in its current state; None if it is missing."""
    normal = file.field(file.fields(annotation, "AP"), "N")
    if isinstance(normal, dict):
        normal = file.field(normal, str(file.field(annotation, "AS")))
    return normal if isinstance(normal, Stream) else None


def placement(file: PdfFile, appearance: Stream, box: list[float]) -> Matrix:
    """Return the matrix that maps an appearance, after its own Matrix, onto the annotation's box.

    Rotated boxes are only moved, because the text matters, not its exact position.
    """
    own = file.numbers(appearance, "BBox", 4) or box
    matrix = file.numbers(appearance, "Matrix", 6) or [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    x = own[0] * matrix[0] + own[1] * matrix[2] + matrix[4]
    y = own[0] * matrix[1] + own[1] * matrix[3] + matrix[5]
    return (1.0, 0.0, 0.0, 1.0, min(box[0], box[2]) - x, min(box[1], box[3]) - y)


def written_text(file: PdfFile, annotation: dict[str, Any]) -> str:
    """Return the text of a free text annotation or stamp that has no appearance.

    For a stamp without text, return its name, such as "Not Approved" for NotApproved.
    """
    text = file.field(annotation, "Contents")
    if isinstance(text, bytes) and text.strip():
        return decode_text(text)
    name = file.field(annotation, "Name") if file.field(annotation, "Subtype") == "Stamp" else ""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name) if isinstance(name, str) else ""


def field_value(file: PdfFile, field: dict[str, Any]) -> str:
    """Return the value of a text or choice field that has no appearance; "" for other fields."""
    kind = value = None
    for _ in range(MAX_DEPTH):
        kind = kind or file.field(field, "FT")
        value = value if value is not None else file.field(field, "V")
        parent = file.field(field, "Parent")
        if not isinstance(parent, dict):
            break
        field = parent
    return decode_text(value) if kind in ("Tx", "Ch") and isinstance(value, bytes) else ""
