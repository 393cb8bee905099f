"""Read office files: detect their kind; return their text as Markdown and their metadata."""

from __future__ import annotations

import re
import time
from dataclasses import replace

from websearch.pages.extract.markdown import MarkdownWriter
from websearch.pages.office.archive import Archive, unreadable
from websearch.pages.office.blocks import element
from websearch.pages.page_content import PageContent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any
    from xml.etree.ElementTree import Element

    from websearch.base.html_tree import Node
    from websearch.kit import Document

OLE_START = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Usual paths of the main part, for Office Open XML files that do not specify it.
MAIN_PARTS = ("word/document.xml", "xl/workbook.xml", "ppt/presentation.xml")
# Streams in old and encrypted office files -> kind of the file.
OLE_STREAMS = (
    ("EncryptedPackage", "an encrypted office file, which opens only with its password"),
    ("WordDocument", "an old Word file (.doc), which this program cannot read"),
    ("Workbook", "an old Excel file (.xls), which this program cannot read"),
    ("Book", "an old Excel file (.xls), which this program cannot read"),
    ("PowerPoint Document", "an old PowerPoint file (.ppt), which this program cannot read"),
)
MAX_MIMETYPE = 1_000  # bytes
READING_SHARE = 0.5  # share of the time for reading; writing Markdown gets the remainder
# Creation dates of the templates in python-docx and python-pptx, not of files made from them.
TEMPLATE_DATES = ("2013-12-23T23:15:00Z", "2013-01-27T09:14:16Z", "2013-01-27T09:15:58Z")
HINT = "Look for a .docx, .xlsx, .pptx, .odt, PDF or HTML version of it."


def read_office(data: bytes, url: str, params: Document, deadline: float) -> PageContent | None:
    """Return the content of an office file, with title, author, published, updated and language.

    published is the creation date. Returns None for other archives. url, params: as for
    read_bytes. Raises SearchError (unsupported) for files that cannot be read.
    """
    if data.startswith(OLE_START):
        raise unreadable(ole_kind(data), HINT)
    begin = time.monotonic()
    limit = begin + READING_SHARE * (deadline - begin)
    archive = Archive(data, limit, verbose=bool(params.get("verbose")))
    writer = MarkdownWriter(url, bool(params.get("links")))
    content = read_archive(archive, writer, bool(params.get("comments")))
    notes = list(archive.notes)
    if content is None and not notes:
        return None
    if content is None or not content.text.strip():
        raise unreadable(" ".join(["an office file without text.", *notes]).rstrip("."))
    content.note = " ".join(filter(None, [content.note, *notes]))
    content.is_cut = content.is_cut or bool(notes)
    return content


def read_archive(archive: Archive, writer: MarkdownWriter, comments: bool) -> PageContent | None:
    """Return the document in an archive; None if it is not an office file.

    comments: whether to include the comments of a Word file.
    """
    if "meta-inf/container.xml" in archive.parts:
        from websearch.pages.office.epub import read_epub

        package, text = read_epub(archive, writer)
        fields = described(package, "creator", "date", "modified")
        return PageContent(text, fields, is_cut=writer.cut)
    if "content.xml" in archive.parts:
        return read_open_document(archive, writer)
    main = archive.part("", "officeDocument")
    main = main or next(filter(archive.parts.__contains__, MAIN_PARTS), "")
    if main.endswith(".bin"):
        raise unreadable("a binary Excel file (.xlsb), which this program cannot read", HINT)
    root = archive.tree(main)
    core = archive.tree(archive.part("", "core-properties"))
    fields = described(core, "creator", "created", "modified")
    if root.tag == "workbook":
        from websearch.pages.office.xlsx import read_workbook

        return replace(read_workbook(archive, main, root, writer), fields=fields)
    if root.tag == "document":
        from websearch.pages.office.docx import WordReader

        word, body = WordReader(archive, main, comments), root.find("body")
        return written(word.body(body) if body is not None else [], word, fields, writer)
    if root.tag == "presentation":
        from websearch.pages.office.pptx import SlideReader

        slides = SlideReader(archive, main)
        return written(slides.blocks_of(root), slides, fields, writer)
    return None


def read_open_document(archive: Archive, writer: MarkdownWriter) -> PageContent:
    """Return the document in an OpenDocument file: a text, a presentation or sheets."""
    manifest = archive.tree("meta-inf/manifest.xml")
    if next(manifest.iter("encryption-data"), None) is not None:
        raise unreadable("an encrypted office file, which opens only with its password", HINT)
    fields = described(archive.tree("meta.xml"), "initial-creator", "creation-date", "date")
    if b"spreadsheet" in archive.read("mimetype", MAX_MIMETYPE):
        from websearch.pages.office.ods import read_sheets

        return replace(read_sheets(archive, writer), fields=fields)
    from websearch.pages.office.odt import OpenTextReader

    content = archive.tree("content.xml")
    body = content.find("body")
    reader = OpenTextReader(archive, content)
    return written(reader.blocks_of(body if body is not None else []), reader, fields, writer)


def written(
    blocks: list[Node], reader: Any, fields: Document, writer: MarkdownWriter
) -> PageContent:
    """Return a file's blocks as Markdown, with the title and note from its reader."""
    text = writer.markdown(element("div", *blocks))
    fields["title"] = fields["title"] or reader.title
    return PageContent(text, fields, reader.note, writer.cut)


def ole_kind(data: bytes) -> str:
    """Return the kind of a file in Microsoft's old container, detected from its streams."""
    for name, kind in OLE_STREAMS:
        if name.encode("utf-16-le") in data:
            return kind
    return "an old office file, which this program cannot read"


def described(root: Element, author: str, created: str, modified: str) -> Document:
    """Return title, author, published, updated and language from metadata.

    author, created, modified: the names of their elements, which vary between formats.
    """
    texts: dict[str, list[str]] = {}
    for part in root.iter():
        if text := (part.text or "").strip():
            texts.setdefault(part.tag, []).append(text)
    return {
        "title": texts.get("title", [""])[0],
        "author": ", ".join(texts.get(author) or texts.get("creator", [])),
        "published": day(texts.get(created, [""])[0]),
        "updated": day(texts.get(modified, [""])[0]),
        "language": texts.get("language", [""])[0],
    }


def day(date: str) -> str:
    """Return the day in a date such as 2024-01-31T12:00:00Z, or its month or year; else ""."""
    match = re.match(r"(?:19|20)\d\d(?:-[01]\d(?:-[0-3]\d)?)?(?![0-9])", date)
    return match[0] if match and date not in TEMPLATE_DATES else ""
