"""Read the outline of a PDF file: its entries and their target pages (ISO 32000-1, 12.3)."""

from __future__ import annotations

from websearch.kit import one_line
from websearch.pages.pdf.syntax import Reference, decode_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.pdf.file import PdfFile

MAX_BOOKMARKS = 1_000
MAX_TITLE = 300  # characters of a title
MAX_NAMES = 50_000  # named destinations; large manuals have about 10,000
MAX_NAME_NODES = 5_000


def info_text(value: object) -> str:
    """Return a text string on one line; "" for other values."""
    return one_line(decode_text(value), MAX_TITLE) if isinstance(value, bytes) else ""


def read_bookmarks(file: PdfFile) -> list[tuple[int, str, int]]:
    """Return (level, title, page) for each outline entry; level and page count from 1.

    Entries for pages that have not been reached are omitted.
    """
    outlines = file.fields(file.root(), "Outlines")
    if "First" not in outlines:
        return []
    pages = {number: index for index, number in enumerate(file.page_objects, 1)}
    names = named_destinations(file)
    bookmarks: list[tuple[int, str, int]] = []
    visited: set[int] = set()
    waiting: list[tuple[Any, int]] = [(outlines["First"], 1)]
    while waiting and len(visited) < MAX_BOOKMARKS:
        reference, level = waiting.pop()
        if not isinstance(reference, Reference) or reference.number in visited:
            continue
        visited.add(reference.number)
        entry = file.resolve(reference)
        if not isinstance(entry, dict):
            continue
        waiting += [(entry.get("Next"), level), (entry.get("First"), level + 1)]
        title = info_text(file.field(entry, "Title"))
        page = pages.get(page_object(file, entry, names))
        if title and page:
            bookmarks.append((level, title, page))
    return bookmarks


def page_object(file: PdfFile, entry: dict[str, Any], names: dict[str, Any]) -> int:
    """Return the number of the page object that an entry points to, or 0."""
    target = file.field(entry, "Dest") or file.field(file.fields(entry, "A"), "D")
    if isinstance(target, (str, bytes)):
        target = file.resolve(names.get(plain_name(target)))
    if isinstance(target, dict):
        target = file.field(target, "D")
    page = target[0] if isinstance(target, list) and target else None
    return page.number if isinstance(page, Reference) else 0


def named_destinations(file: PdfFile) -> dict[str, Any]:
    """Return the named destinations in the catalog and the name tree."""
    names: dict[str, Any] = dict(file.fields(file.root(), "Dests"))
    waiting = [file.field(file.fields(file.root(), "Names"), "Dests")]
    for _ in range(MAX_NAME_NODES):
        if not waiting or len(names) > MAX_NAMES:
            break
        node = file.resolve(waiting.pop())
        kids, pairs = file.field(node, "Kids"), file.field(node, "Names")
        waiting += kids if isinstance(kids, list) else []
        pairs = pairs if isinstance(pairs, list) else []
        for name, target in zip(pairs[::2], pairs[1::2], strict=False):
            if isinstance(name, (str, bytes)):
                names[plain_name(name)] = target
    return names


def plain_name(name: str | bytes) -> str:
    """Return a name or string as text, so both kinds of names can be compared."""
    return name.decode("latin-1") if isinstance(name, bytes) else name
