"""Turn bytes into text, and feeds, JSON and XML into Markdown."""

from __future__ import annotations

import json
import re

from websearch.common import SearchError, clean_text, dump_json, markdown_link, plain_text
from websearch.html_tree import unescape
from websearch.pages.content import Page
from websearch.pages.fetch import MAX_PAGE_BYTES
from websearch.pages.markdown import MarkdownWriter, backticks

# ===== from bytes to text =========================================================================

# Labels of the WHATWG encoding standard that Python lacks or means otherwise.
CHARSETS = {
    "iso-8859-1": "cp1252", "latin1": "cp1252", "latin-1": "cp1252", "l1": "cp1252",
    "ascii": "cp1252", "us-ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030",
    "x-gbk": "gb18030", "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932",
    "x-sjis": "cp932", "windows-31j": "cp932", "ms_kanji": "cp932", "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949", "korean": "cp949", "big5": "big5hkscs", "x-x-big5": "big5hkscs",
    "x-euc-jp": "euc_jp", "windows-874": "cp874", "tis-620": "cp874", "iso-8859-11": "cp874",
    "iso-8859-9": "cp1254", "latin5": "cp1254", "iso-8859-8-i": "iso-8859-8",
    "x-mac-cyrillic": "mac-cyrillic", "x-mac-roman": "mac-roman", "macintosh": "mac-roman",
    "unicode-1-1-utf-8": "utf-8", "utf8": "utf-8", "utf8mb4": "utf-8", "x-user-defined": "cp1252",
}  # fmt: skip
_META_CHARSET = rb"""(?i)<meta[^>]{1,300}?charset\s*=\s*["']?\s*([a-z0-9_:.-]{2,40})"""
_XML_CHARSET = rb"""(?i)^\s*<\?xml[^>]{1,100}?encoding\s*=\s*["']([a-z0-9_:.-]{2,40})"""
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
# What files begin with that hold no text.
BINARY_STARTS = (
    (b"%PDF-", "a PDF file"), (b"\x89PNG", "an image"), (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"), (b"PK\x03\x04", "an archive"), (b"\x1f\x8b", "an archive"),
    (b"Rar!", "an archive"), (b"7z\xbc\xaf", "an archive"), (b"BZh", "an archive"),
    (b"\xfd7zXZ", "an archive"), (b"\x28\xb5\x2f\xfd", "an archive"), (b"ID3", "a sound file"),
    (b"OggS", "a media file"), (b"fLaC", "a sound file"), (b"\x1aE\xdf\xa3", "a video"),
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"\0asm", "a program"),
    (b"\xd0\xcf\x11\xe0", "an office file"), (b"wOF2", "a font"), (b"SQLite format", "a database"),
)  # fmt: skip


def check_binary(body: bytes, content_type: str, host: str) -> None:
    """Raise SearchError (unsupported) if a body is no text, whatever its header says."""
    start = body[:1024].lstrip()
    what = next((name for sign, name in BINARY_STARTS if start.startswith(sign)), "")
    if b"%PDF-" in start:
        what = "a PDF file"
    elif body[:4] == b"RIFF" or body[4:8] == b"ftyp":
        what = "a media file"
    elif not what and b"\0" in body[:4096] and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        what = "a binary file" if body[:4096].count(b"\0") > len(body[:4096]) // 50 else ""
    elif not what and re.match(
        r"(?:image/(?!svg)|audio/|video/|font/|application/pdf)", content_type
    ):
        what = f"a file of type {content_type}"
    if what:
        message = f"{host} sent {what}, which holds no text that can be read here."
        raise SearchError("unsupported", message, "Look for an HTML version of it.")


def decode_body(body: bytes, content_type: str) -> str:
    """Return a body as text, its encoding decided as browsers do.

    Byte order mark, then the header, then a meta element or XML declaration in the first bytes,
    then UTF-8 if it is valid, else windows-1252. An unknown label counts as none.
    """
    for mark, codec in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace")
    named = re.search(r"(?i)charset\s*=\s*[\"']?\s*([\w:.-]+)", content_type)
    declared = re.search(_META_CHARSET, body[:4096]) or re.search(_XML_CHARSET, body[:200])
    labels = [named[1]] if named else []
    if declared:
        label = declared[1].decode("ascii").lower()
        labels.append("utf-8" if label.startswith("utf-16") else label)
    for label in labels:
        codec = CHARSETS.get(label.lower(), label)
        try:
            text = b"".decode(codec) + body.decode(codec, "replace")
        except (LookupError, ValueError):  # unknown, or a codec that makes no text
            continue
        # A label that lies about UTF-8 shows: most other bytes are no valid UTF-8.
        if codec.lower() not in ("utf-8", "utf8") or text.count("\ufffd") <= 1 + len(body) // 500:
            return text
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body that was cut at the cap may end in the middle of a letter.
        cut_inside = len(body) >= MAX_PAGE_BYTES and error.start >= len(body) - 4
        return body.decode("utf-8" if cut_inside else "cp1252", "replace")


def sniff_kind(text: str, content_type: str, url: str) -> str:
    """Return what a text is: html, json, feed, xml or text (Markdown is text)."""
    start = text[:2000].lstrip("\ufeff \t\r\n").lower()
    media = content_type.partition(";")[0].strip().lower()
    bare = re.sub(r"(?s)<!--.*?-->|<\?xml[^>]*>", "", start).lstrip()
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
    return "xml" if start.startswith("<?xml") or media.endswith(("/xml", "+xml")) else "text"


# ===== other kinds of text ========================================================================

MAX_INDENTED = 50_000  # characters of JSON; deep data grows a thousandfold when it is indented
MAX_ENTRIES = 200  # of a feed
MAX_ENTRY_CHARS = 500_000  # of the texts of a feed's entries


def fenced(text: str, language: str) -> str:
    """Return text as a fenced block."""
    fence = backticks(text, 3)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


def json_markdown(text: str) -> str:
    """Return JSON text indented; as it stands if it is none, or so long that depth would tell."""
    try:
        shown = dump_json(json.loads(text), pretty=True) if len(text) <= MAX_INDENTED else text
    except (ValueError, RecursionError):
        shown = text
    return fenced(clean_text(shown), "json")


def feed_markdown(text: str, url: str, keep_links: bool) -> tuple[str, str]:
    """Return title and first entries of an RSS or Atom feed; each entry is a section."""
    starts = [match.start() for match in re.finditer(r"(?i)<(?:item|entry)[\s>]", text)]
    head = text[: starts[0]] if starts else text
    sections = []
    room = MAX_ENTRY_CHARS
    ends = [*starts[1:], len(text)]
    for start, end in zip(starts[:MAX_ENTRIES], ends, strict=False):
        entry = text[start:end]
        title = " ".join(plain_text(element_text(entry, "title")).split()) or "Untitled"
        link = element_text(entry, "link") or link_target(entry)
        date = next(filter(None, (element_text(entry, name) for name in FEED_DATES)), "")
        body = next(filter(None, (element_text(entry, name) for name in FEED_TEXTS)), "")
        page = Page(f"<div>{body[:room]}</div>")
        room -= len(body[:room])
        inner = "\n\n".join(MarkdownWriter(url, keep_links).blocks(page.root))
        heading = markdown_link(title, link) if re.match(r"https?://", link) else title
        sections.append("\n\n".join(part for part in (f"## {heading}", date, inner) if part))
    return element_text(head, "title"), clean_text("\n\n".join(sections))


FEED_DATES = ("pubdate", "published", "updated", "dc:date")
FEED_TEXTS = ("content:encoded", "content", "description", "summary")


def element_text(text: str, name: str) -> str:
    """Return what the first element of this name in a piece of XML holds, entities decoded once."""
    start = re.search(rf"(?i)<{name}(?:\s[^<>]*)?>", text)
    end = re.search(rf"(?i)</{name}\s*>", text[start.end() :]) if start else None
    if not start or not end:
        return ""
    inner = text[start.end() : start.end() + end.start()].strip()
    if inner.startswith("<![CDATA["):
        return inner[9:].removesuffix("]]>").strip()
    return unescape(inner).strip()


def link_target(entry: str) -> str:
    """Return the address in the first link element of an Atom entry."""
    match = re.search(r"""(?i)<link\s[^<>]*?href\s*=\s*["']([^"'<>]+)""", entry)
    return unescape(match[1]) if match else ""
