"""What kind of text a page is; feeds, JSON and XML as Markdown."""

from __future__ import annotations

import io
import itertools
import json
import re

from websearch.core.escapes import as_cell, backticks, escape, mark_signs
from websearch.core.untrusted import make_harmless, unescape
from websearch.extraction.markdown import MarkdownWriter
from websearch.extraction.page_tree import PageTree
from websearch.fetching.charsets import wide_codec, wide_label
from websearch.kit import SearchError, markdown_link, one_line, plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Document

MAX_START = 2_000  # characters of a text that tell what it is
MAX_JSON = 50_000  # characters; longer data is shown as it stands
MAX_INDENTED = 200_000  # characters of indented JSON; deep data grows a thousandfold
MAX_ENTRIES = 200  # of a feed
MAX_ENTRY_CHARS = 500_000  # of the texts of a feed's entries
MAX_FEED_HEAD = 50_000  # characters before the first entry that are searched for the title
MAX_FIELD = 300  # characters of a title, address or date of an entry
CSV_TYPES = ("text/csv", "text/tab-separated-values", "application/csv")
MAX_ROWS = 50_000  # of a table
MAX_CELL = 2_000  # characters
MAX_COLUMNS = 500  # the head is filled up to the widest row, which may hold millions of commas
FEED_DATES = ("pubdate", "published", "updated", "dc:date")
FEED_TEXTS = ("content:encoded", "content", "description", "summary")
_LINK_ADDRESS = r"""(?i)<link\s[^<>]{0,2000}?href\s{0,9}=\s{0,9}["']([^"'<>]{1,8000})"""
# What files begin with that hold no text.
BINARY_STARTS = (
    (b"\x89PNG", "an image"), (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"), (b"PK\x03\x04", "an archive"), (b"\x1f\x8b", "an archive"),
    (b"Rar!", "an archive"), (b"7z\xbc\xaf", "an archive"), (b"BZh", "an archive"),
    (b"\xfd7zXZ", "an archive"), (b"\x28\xb5\x2f\xfd", "an archive"), (b"ID3", "a sound file"),
    (b"OggS", "a media file"), (b"fLaC", "a sound file"), (b"\x1aE\xdf\xa3", "a video"),
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"\0asm", "a program"),
    (b"\xd0\xcf\x11\xe0", "an office file"), (b"wOF2", "a font"), (b"SQLite format", "a database"),
)  # fmt: skip
# Types, of which a message names no more than the kind: the rest is what a server wrote.
MEDIA_TYPES = (
    (r"image/(?!svg)", "an image"), (r"audio/", "a sound file"), (r"video/", "a video"),
    (r"font/", "a font"), (r"application/pdf", "what it calls a PDF file"),
)  # fmt: skip

# ===== what it is =================================================================================


def check_binary(body: bytes, content_type: str, host: str) -> None:
    """Raise SearchError (unsupported) if a body is not text, whatever its header says."""
    start = body[:1024].lstrip()
    what = next((name for sign, name in BINARY_STARTS if start.startswith(sign)), "")
    if body[:4] == b"RIFF" or body[4:8] == b"ftyp":
        what = "a media file"
    elif not what and b"\0" in body[:4096] and not is_wide(body, content_type):
        what = "a binary file" if body[:4096].count(b"\0") > len(body[:4096]) // 50 else ""
    elif not what:
        what = next((name for kind, name in MEDIA_TYPES if re.match(kind, content_type)), "")
    if what:
        message = f"{host} sent {what}, which holds no text that can be read here."
        raise SearchError("unsupported", message, "Look for an HTML version of it.")


def is_wide(body: bytes, content_type: str) -> bool:
    """Return whether a body with NULs is text in UTF-16 or UTF-32."""
    marks = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
    return body.startswith(marks) or bool(wide_codec(body) or wide_label(body, content_type))


def sniff_kind(text: str, content_type: str, url: str) -> str:
    """Return what a text is: html, json, feed, xml, csv or text (Markdown is text)."""
    start = text[:MAX_START].lstrip("\ufeff \t\r\n").lower()
    media = content_type.partition(";")[0].strip().lower()
    bare = re.sub(r"(?s)<!--.*?-->|<\?xml[^>]*>", "", start[:MAX_START]).lstrip()
    if bare.startswith(("<!doctype html", "<html")):
        return "html"
    if (
        re.search(r"<(?:rss|feed|rdf:rdf)\b", start)
        and start.startswith("<")
        and "html" not in media
    ):
        return "feed"
    is_json = start[:1] in ("{", "[") and url.partition("?")[0].endswith(".json")
    begins_html = re.match(r"<(?:head|body|title|meta|div|p|h1|table|script|!--)\b", start)
    if "html" in media or (begins_html and not media):
        return "html"
    if "json" in media or is_json:
        return "json"
    if media in CSV_TYPES or (media in ("", "text/plain") and url.endswith((".csv", ".tsv"))):
        return "csv"
    return "xml" if start.startswith("<?xml") or media.endswith(("/xml", "+xml")) else "text"


# ===== other kinds of text ========================================================================


def fenced(text: str, language: str) -> str:
    """Return text as a fenced block."""
    fence = backticks(text, 3)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def read_csv(text: str) -> Document:
    """Return text and cut of CSV: a table of Markdown; what is no table stays as it is.

    Rows that are shorter than the widest one stay short.
    """
    import csv

    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        rows = [row for row in itertools.islice(reader, MAX_ROWS) if row]
        is_cut = next(reader, None) is not None
    except csv.Error:  # a field of more than 131,072 characters
        rows, is_cut = [], False
    width = max(map(len, rows), default=0)
    if not 1 < width <= MAX_COLUMNS:
        return {"text": text, "is_foreign": True}
    rows[0] += [""] * (width - len(rows[0]))
    lines = [
        f"| {' | '.join(as_cell(mark_signs(one_line(cell, MAX_CELL))) for cell in row)} |"
        for row in rows
    ]
    table = [lines[0], f"|{' --- |' * width}", *lines[1:]]
    return {"text": escape("\n".join(table)), "cut": is_cut}


def json_markdown(text: str) -> str:
    """Return JSON text as a fenced block, indented if it can be."""
    return fenced(indented_json(text) or text, "json")


def indented_json(text: str) -> str:
    """Return JSON text indented; "" if it is not valid, or is too long or too deep for that."""
    if len(text) > MAX_JSON:
        return ""
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, indent=2)
    pieces: list[str] = []
    room = MAX_INDENTED
    try:
        for piece in encoder.iterencode(json.loads(text)):
            pieces.append(piece)
            room -= len(piece)
            if room < 0:
                return ""
    except (ValueError, RecursionError):
        return ""
    return "".join(pieces)


def feed_markdown(text: str, url: str, keep_links: bool) -> Document:
    """Return title, text and cut of an RSS or Atom feed; each of its first entries is a section.

    The title is a stranger's text, as it stands in the feed.
    """
    entries = re.finditer(r"(?i)<(?:item|entry)[\s>]", text)
    starts = [match.start() for match in itertools.islice(entries, MAX_ENTRIES + 1)]
    head = text[: starts[0]] if starts else text
    writer = MarkdownWriter(url, keep_links)
    sections = []
    room = MAX_ENTRY_CHARS
    is_cut = len(starts) > MAX_ENTRIES
    ends = [*starts[1:], len(text)]
    for start, end in zip(starts[:MAX_ENTRIES], ends, strict=False):
        entry = text[start : min(end, start + MAX_ENTRY_CHARS)]
        title = one_line(plain_text(element_text(entry, "title")[: 4 * MAX_FIELD]), MAX_FIELD)
        address = writer.target(element_text(entry, "link") or link_target(entry))
        date = next(filter(None, (element_text(entry, name) for name in FEED_DATES)), "")
        body = next(filter(None, (element_text(entry, name) for name in FEED_TEXTS)), "")
        is_cut = is_cut or len(body) > room or end - start > MAX_ENTRY_CHARS
        body = body[:room]
        room -= len(body)
        page = PageTree(f"<div>{body}</div>")
        title = title or "Untitled"
        heading = markdown_link(title, address) if address else make_harmless(title)
        date = make_harmless(one_line(date, MAX_FIELD))
        parts = (f"## {heading}", date, writer.markdown(page.root))
        sections.append("\n\n".join(filter(None, parts)))
    title = element_text(head[:MAX_FEED_HEAD], "title")
    return {"title": title, "text": "\n\n".join(sections), "cut": writer.cut or is_cut}


def element_text(text: str, name: str) -> str:
    """Return the text of the first element of this name in XML, its entities decoded once."""
    start = re.search(rf"(?i)<{name}(?:\s[^<>]{{0,2000}})?>", text)
    end = re.compile(rf"(?i)</{name}\s{{0,9}}>").search(text, start.end()) if start else None
    if not start or not end:
        return ""
    inner = text[start.end() : end.start()].strip()
    if inner.startswith("<![CDATA["):
        return inner[9:].removesuffix("]]>").strip()
    return unescape(inner).strip()


def link_target(entry: str) -> str:
    """Return the address in the first link element of an Atom entry."""
    match = re.search(_LINK_ADDRESS, entry)
    return unescape(match[1]) if match else ""
