"""Read EPUB books: their chapters in reading order, as HTML pages."""

from __future__ import annotations

import posixpath

from websearch.pages.extract.page_tree import PageTree
from websearch.pages.fetch.charsets import decode_page
from websearch.pages.fetch.fetch import MAX_PAGE_BYTES
from websearch.pages.office.archive import part_name, unreadable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from websearch.pages.extract.markdown import MarkdownWriter
    from websearch.pages.office.archive import Archive

NO_CHAPTERS = ("cover", "toc")  # entry types in a book's guide
CHAPTER_TYPE = "application/xhtml+xml"
LOCKED = "a book with copy protection (DRM), which opens only in its own reader"


def read_epub(archive: Archive, writer: MarkdownWriter) -> tuple[Element, str]:
    """Return the element with a book's metadata, and the text of its chapters."""
    rootfile = next(archive.tree("META-INF/container.xml").iter("rootfile"), None)
    name = part_name("", rootfile.get("full-path", "") if rootfile is not None else "")
    package = archive.tree(name)
    names = chapters(package, posixpath.dirname(name))
    encryption = archive.tree("META-INF/encryption.xml")
    protected = {part_name("", link.get("URI", "")) for link in encryption.iter("CipherReference")}
    if protected.intersection(names):
        raise unreadable(LOCKED, "Look for another edition or another source.")
    writer.base = ""  # links between chapters have no target outside the book
    texts: list[str] = []
    for chapter in names:
        if archive.is_late():
            break
        texts += archive.contained(chapter_texts, archive, chapter, writer)
    return package, "\n\n".join(filter(None, texts))


def chapter_texts(archive: Archive, chapter: str, writer: MarkdownWriter) -> list[str]:
    """Return a list with the text of a chapter."""
    html, _ = decode_page(archive.read(chapter, MAX_PAGE_BYTES), CHAPTER_TYPE)
    page = PageTree(html)
    mark_notes(page)
    return [writer.markdown(page.root)]


def mark_notes(page: PageTree) -> None:
    """Give a book's note references, even across chapters, the form of a page's references."""
    for node in page.nodes:
        get = node.attributes.get
        if node.tag == "a" and "noteref" in f"{get('epub:type')} {get('role')}":
            address = get("href", "")
            node.attributes |= {"role": "doc-noteref", "href": f"#{address.rpartition('#')[2]}"}


def chapters(package: Element, folder: str) -> list[str]:
    """Return a book's parts in reading order, without cover and contents if it has other parts."""
    omitted = {
        part_name(folder, entry.get("href", ""))
        for entry in package.iter("reference")
        if entry.get("type", "").lower() in NO_CHAPTERS
    }
    items = {item.get("id", ""): item for item in package.iter("item")}
    names = []
    for reference in package.iter("itemref"):
        item = items.get(reference.get("idref", ""))
        if item is None or "nav" in item.get("properties", "").split():
            continue
        name = part_name(folder, item.get("href", ""))
        if "html" in item.get("media-type", CHAPTER_TYPE):
            names.append(name)
    names = list(dict.fromkeys(names))
    return [name for name in names if name not in omitted] or names
