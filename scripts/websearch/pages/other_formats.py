"""Turn the bytes of a page into text, and feeds, JSON and XML into Markdown."""

from __future__ import annotations

import codecs
import itertools
import json
import re

from websearch.common import SearchError, markdown_link, one_line, plain_text
from websearch.html_tree import unescape
from websearch.pages.fetch import MAX_PAGE_BYTES
from websearch.pages.markdown import MarkdownWriter, backticks
from websearch.pages.page_tree import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.common import Document

MAX_MEDIA_TYPE = 100  # characters of a Content-Type that a message names
MAX_JSON = 50_000  # characters; longer data is shown as it stands
MAX_INDENTED = 200_000  # characters of indented JSON; deep data grows a thousandfold
MAX_ENTRIES = 200  # of a feed
MAX_ENTRY_CHARS = 500_000  # of the texts of a feed's entries
MAX_FEED_HEAD = 50_000  # characters before the first entry that are searched for the title
MAX_FIELD = 300  # characters of a title, address or date of an entry
FEED_DATES = ("pubdate", "published", "updated", "dc:date")
FEED_TEXTS = ("content:encoded", "content", "description", "summary")
# Labels of the WHATWG encoding standard that Python does not have or understands differently.
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
# Python's codecs that no page is written in. Decoding punycode takes time in proportion to the
# square of the length; utf-7 hides markup from filters, so browsers do not read it either.
NO_CHARSETS = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
_LINK_ADDRESS = r"""(?i)<link\s[^<>]{0,2000}?href\s{0,9}=\s{0,9}["']([^"'<>]{1,8000})"""
_HEADER_CHARSET = r"""(?i)charset\s{0,9}=[\s"']{0,9}([\w:.-]{1,40})"""
_META_CHARSET = rb"""(?i)<meta[^<>]{1,300}?charset\s{0,9}=[\s"']{0,9}([a-z0-9_:.-]{2,40})"""
_XML_CHARSET = (
    rb"""(?i)^\s{0,9}<\?xml[^<>]{1,100}?encoding\s{0,9}=\s{0,9}["']([a-z0-9_:.-]{2,40})"""
)
BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"),
)  # fmt: skip
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

# ===== from bytes to text =========================================================================


def check_binary(body: bytes, content_type: str, host: str) -> None:
    """Raise SearchError (unsupported) if a body is not text, whatever its header says."""
    start = body[:1024].lstrip()
    media_type = content_type.partition(";")[0]
    what = next((name for sign, name in BINARY_STARTS if start.startswith(sign)), "")
    if body[:4] == b"RIFF" or body[4:8] == b"ftyp":
        what = "a media file"
    elif not what and b"\0" in body[:4096] and not body.startswith((b"\xff\xfe", b"\xfe\xff")):
        what = "a binary file" if body[:4096].count(b"\0") > len(body[:4096]) // 50 else ""
    elif not what and re.match(
        r"(?:image/(?!svg)|audio/|video/|font/|application/pdf)", media_type
    ):
        what = f"a file of type {one_line(media_type, MAX_MEDIA_TYPE)}"
    if what:
        message = f"{host} sent {what}, which holds no text that can be read here."
        raise SearchError("unsupported", message, "Look for an HTML version of it.")


def decode_body(body: bytes, content_type: str) -> str:
    """Return a body as text, its encoding decided as browsers do.

    Byte order mark, then the header, then a meta element or XML declaration in the first bytes,
    then UTF-8 if it is valid, else windows-1252. Unknown labels are ignored.
    """
    for mark, codec in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return body.decode(codec, "replace")
    label = re.search(_HEADER_CHARSET, content_type)
    declared = re.search(_META_CHARSET, body[:4096]) or re.search(_XML_CHARSET, body[:200])
    labels = [label[1].lower()] if label else []
    if declared:
        name = declared[1].decode("ascii").lower()
        labels.append("utf-8" if name.startswith("utf-16") else name)
    for name in labels:
        codec = charset_codec(name)
        text = body.decode(codec, "replace") if codec else ""
        # If UTF-8 is the wrong label, most other bytes are not valid UTF-8.
        if codec and (codec != "utf-8" or text.count("\ufffd") <= 1 + len(body) // 500):
            return text
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        # A body that was cut at the limit may end in the middle of a letter.
        cut_inside = len(body) >= MAX_PAGE_BYTES and error.start >= len(body) - 4
        return body.decode("utf-8" if cut_inside else "cp1252", "replace")


def charset_codec(label: str) -> str:
    """Return the name of Python's codec for the label of a character set, "" if there is none."""
    try:
        codec = codecs.lookup(CHARSETS.get(label, label)).name
        b"a".decode(codec, "replace")
    except (LookupError, ValueError):  # unknown, or a codec that does not make text
        return ""
    return "" if codec in NO_CHARSETS else codec


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


def fenced(text: str, language: str) -> str:
    """Return text as a fenced block."""
    fence = backticks(text, 3)
    return f"{fence}{language}\n{text.strip()}\n{fence}"


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
        page = Page(f"<div>{body}</div>")
        heading = markdown_link(title or "Untitled", address) if address else title or "Untitled"
        blocks = [f"## {heading}", one_line(date, MAX_FIELD), *writer.blocks(page.root)]
        sections.append("\n\n".join(block for block in blocks if block))
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
