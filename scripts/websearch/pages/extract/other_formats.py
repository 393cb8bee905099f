"""Recognize text formats; convert feeds, notebooks, CSV, JSON, mail and calendars to Markdown."""

from __future__ import annotations

import html
import io
import itertools
import json
import re
from collections import Counter
from typing import NamedTuple

from websearch.base.untrusted import disarm_text, unescape
from websearch.kit import (
    SearchError,
    json_fields,
    list_field,
    markdown_link,
    object_field,
    one_line,
    plain_text,
)
from websearch.markdown.escapes import as_cell, backticks, escape, mark_signs
from websearch.pages.extract.markdown import MarkdownWriter
from websearch.pages.extract.page_tree import PageTree
from websearch.pages.fetch.charsets import decode_body, wide_codec, wide_label
from websearch.pages.page_content import PageContent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


MAX_START = 2_000  # characters of a text to examine for its format
MAX_JSON = 50_000  # characters; longer data is not indented
MAX_INDENTED = 200_000  # characters of indented JSON; deeply nested data can grow a thousandfold
MAX_ENTRIES = 200  # entries per feed
MAX_ENTRY_CHARS = 500_000  # characters of all entry texts in a feed
MAX_FEED_HEAD = 50_000  # characters before the first entry to search for the title
MAX_OUTPUT = 2_000  # characters per output of a notebook cell
# Lines of a mail times its nested parts: the cost of parsing it.
MAX_MAIL_WORK = 1_000_000
_MAIL_LEVEL = rb"(?i)boundary|message/"
MAIL_HEAD = ("From", "To", "Cc", "Date")
MAX_PARTS = 100  # parts per mail
MAX_EVENTS = 500  # events per calendar
_MOMENT = r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?"
_CALENDAR_LINE = r"([A-Za-z-]{1,40})((?:;[^:\"]{0,200}(?:\"[^\"]{0,200}\")?){0,20}):(.*)"
MAX_FIELD = 300  # characters of an entry's title, URL or date
CSV_TYPES = ("text/csv", "text/tab-separated-values", "application/csv")
SEPARATORS = ("\t", ";", "|", ",")  # field separators; on a tie, the first wins
MAX_SAMPLE = 50_000  # characters to search for the separator
_SEPARATOR_LINE = r"\ufeff?sep=([;,\t|])\r?\n"  # first line that Excel writes and does not show
MAX_ROWS = 50_000  # rows per table
MAX_CELL = 2_000  # characters
MAX_COLUMNS = 500  # columns; the header is padded to the widest row, which may have millions
FEED_DATES = ("pubdate", "published", "updated", "dc:date")
FEED_TEXTS = ("content:encoded", "content", "description", "summary")
_PLAIN_TYPE = r"""\stype=["']text["']"""  # attribute of an Atom text without HTML
_TERMINAL_CODE = r"\x1b\[[0-9;]{0,20}[A-Za-z]"  # codes for colors in a terminal
_NOTEBOOK = r'\{\s{0,99}"(?:cells|metadata|nbformat\w{0,6}|worksheets)":'
_JSON_FEED = r'"version":\s{0,9}"https?://jsonfeed\.org/'
_LINK_ADDRESS = r"""(?i)<link\s[^<>]{0,2000}?href\s{0,9}=\s{0,9}["']([^"'<>]{1,8000})"""
# Beginnings of files without text.
BINARY_STARTS = (
    (b"\x89PNG", "an image"), (b"\xff\xd8\xff", "an image"),
    (b"GIF8", "an image"), (b"PK\x03\x04", "an archive"), (b"\x1f\x8b", "an archive"),
    (b"Rar!", "an archive"), (b"7z\xbc\xaf", "an archive"), (b"BZh", "an archive"),
    (b"\xfd7zXZ", "an archive"), (b"\x28\xb5\x2f\xfd", "an archive"), (b"ID3", "a sound file"),
    (b"OggS", "a media file"), (b"fLaC", "a sound file"), (b"\x1aE\xdf\xa3", "a video"),
    (b"\x7fELF", "a program"), (b"MZ", "a program"), (b"\0asm", "a program"),
    (b"\x80\x02", "pickled data"), (b"\x80\x03", "pickled data"), (b"\x80\x04", "pickled data"),
    (b"\x80\x05", "pickled data"), (b"\xd0\xcf\x11\xe0", "an office file"),
    (b"wOF2", "a font"), (b"SQLite format", "a database"),
)  # fmt: skip
_CONTROLS = bytes(code for code in range(32) if code not in b"\t\n\f\r\x1b")
MIN_CONTROLS = 3  # tolerated control characters
# Pattern for media types -> kind in the error, because the server chooses the type's text.
MEDIA_TYPES = (
    (r"image/(?!svg)", "an image"), (r"audio/", "a sound file"), (r"video/", "a video"),
    (r"font/", "a font"), (r"application/pdf", "an invalid PDF file"),
)  # fmt: skip

# ===== formats ====================================================================================


def check_binary(body: bytes, content_type: str, host: str) -> None:
    """Raise SearchError (unsupported) if a body is not text, even if its header says text."""
    start = body[:1024].lstrip()
    name = next((name for magic, name in BINARY_STARTS if start.startswith(magic)), "")
    if body[:4] == b"RIFF" or body[4:8] == b"ftyp":
        name = "a media file"
    elif not name and has_controls(body[:4096]) and not is_wide(body, content_type):
        name = "a binary file"
    elif not name:
        name = next((name for kind, name in MEDIA_TYPES if re.match(kind, content_type)), "")
    if name:
        message = f"{host} sent {name}, which has no readable text."
        raise SearchError("unsupported", message, "Look for an HTML version.")


def has_controls(start: bytes) -> bool:
    """Return whether bytes have more control characters, except white space and ESC, than text has.

    Only text in UTF-16 or UTF-32 has many; a tenth of random bytes are control characters.
    """
    return len(start) - len(start.translate(None, _CONTROLS)) > max(MIN_CONTROLS, len(start) // 50)


def is_wide(body: bytes, content_type: str) -> bool:
    """Return whether a body with NULs is text in UTF-16 or UTF-32."""
    marks = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")
    return body.startswith(marks) or bool(wide_codec(body) or wide_label(body, content_type))


def sniff_kind(text: str, content_type: str, url: str) -> str:
    """Return a text's format.

    It is html, json, feed, notebook, xml, csv, mail, calendar or text (including Markdown).
    """
    start = text[:MAX_START].lstrip("\ufeff \t\r\n").lower()
    media = content_type.partition(";")[0].strip().lower()
    bare = re.sub(r"(?s)<!--.*?-->|<\?xml[^>]*>", "", start[:MAX_START]).lstrip()
    is_html = bare.startswith(("<!doctype html", "<!doctypehtml", "<html"))
    is_feed = start.startswith("<") and re.search(r"<(?:rss|feed|rdf:rdf)\b", start)
    if is_feed and not is_html and "html" not in media:
        return "feed"
    is_json = start[:1] in ("{", "[") and url.partition("?")[0].endswith(".json")
    begins_html = re.match(r"<(?:head|body|title|meta|div|p|h1|table|script|!--)\b", start)
    if is_html or "html" in media or (begins_html and not media):
        return "html"
    path = url.partition("?")[0]
    is_unnamed = media in ("", "text/plain", "application/octet-stream")
    is_mail = media == "message/rfc822" or (is_unnamed and path.endswith(".eml"))
    is_calendar = start.startswith("begin:vcalendar")
    is_notebook = path.endswith(".ipynb") or '"cell_type"' in start
    is_notebook = is_notebook and re.match(_NOTEBOOK, start) is not None
    if is_mail or is_calendar or is_notebook:
        return "mail" if is_mail else "calendar" if is_calendar else "notebook"
    if "json" in media or is_json:
        return "feed" if re.search(_JSON_FEED, start) else "json"
    if media in CSV_TYPES or (media in ("", "text/plain") and url.endswith((".csv", ".tsv"))):
        return "csv"
    return "xml" if start.startswith("<?xml") or media.endswith(("/xml", "+xml")) else "text"


# ===== CSV, JSON and feeds ========================================================================


def fenced(text: str, language: str) -> str:
    """Return text as a fenced block."""
    text = text.strip("\n").rstrip()
    fence = backticks(text, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def read_csv(text: str) -> PageContent:
    """Return the content of a CSV file: a Markdown table, or the text itself if it is not a table.

    Only the header row is padded to the widest row.
    """
    import csv

    named = re.match(_SEPARATOR_LINE, text)
    text = text[named.end() :] if named else text
    separator = named[1] if named else separator_of(text)
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        rows = [row for row in itertools.islice(reader, MAX_ROWS) if row]
        is_cut = next(reader, None) is not None
    except csv.Error:  # a field longer than 131,072 characters
        rows, is_cut = [], False
    width = max(map(len, rows), default=0)
    if not 1 < width <= MAX_COLUMNS:
        return PageContent(text, is_foreign=True)
    rows[0] += [""] * (width - len(rows[0]))
    lines = [
        f"| {' | '.join(as_cell(mark_signs(one_line(cell, MAX_CELL))) for cell in row)} |"
        for row in rows
    ]
    table = [lines[0], f"|{' --- |' * width}", *lines[1:]]
    return PageContent(escape("\n".join(table)), is_cut=is_cut)


def separator_of(text: str) -> str:
    """Return the CSV separator that gives most rows the same number of fields.

    Prefer a separator that also gives the first row that number of fields, because decimal commas
    would split all rows except the column names.
    """
    import csv

    sample = text[:MAX_SAMPLE]
    sample = sample[: sample.rfind("\n")] if len(text) > MAX_SAMPLE and "\n" in sample else sample
    best, separator = (False, 0.0), ","
    for candidate in SEPARATORS:
        try:
            reader = csv.reader(io.StringIO(sample), delimiter=candidate)
            widths = [len(row) for row in reader if row]
        except csv.Error:
            continue
        width, count = Counter(widths).most_common(1)[0] if widths else (1, 0)
        score = (widths[0] == width, count / len(widths)) if width > 1 else (False, 0.0)
        if score > best:
            best, separator = score, candidate
    return separator


def json_markdown(text: str) -> str:
    """Return JSON text as a fenced block, indented if possible."""
    return fenced(indented_json(text) or text, "json")


def indented_json(text: str) -> str:
    """Return indented JSON text; "" if the JSON is invalid, too long or too deep."""
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


class Entry(NamedTuple):
    """A feed entry with unchanged values; the title may contain HTML, the body is HTML."""

    title: str
    address: str
    date: str
    body: str


def feed_markdown(text: str, url: str, keep_links: bool) -> PageContent:
    """Return the content of an RSS, Atom or JSON feed.

    The first MAX_ENTRIES entries become sections. The title is untrusted text.
    """
    is_json = text.lstrip("\ufeff \t\r\n").startswith("{")
    name, entries, is_cut = json_entries(text) if is_json else xml_entries(text)
    writer = MarkdownWriter(url, keep_links)
    sections = []
    room = MAX_ENTRY_CHARS
    for entry in entries:
        title = one_line(plain_text(entry.title[: 4 * MAX_FIELD]), MAX_FIELD) or "Untitled"
        address = writer.target(entry.address)
        body = entry.body[:room]
        is_cut = is_cut or len(body) < len(entry.body)
        room -= len(body)
        page = PageTree(f"<div>{body}</div>")
        heading = markdown_link(title, address) if address else disarm_text(title)
        date = disarm_text(one_line(entry.date, MAX_FIELD))
        parts = (f"## {heading}", date, writer.markdown(page.root))
        sections.append("\n\n".join(filter(None, parts)))
    return PageContent("\n\n".join(sections), {"title": name}, is_cut=writer.cut or is_cut)


def xml_entries(text: str) -> tuple[str, list[Entry], bool]:
    """Return the title and first entries of an RSS or Atom feed, and whether anything was cut."""
    found = re.finditer(r"(?i)<(?:item|entry)[\s>]", text)
    starts = [match.start() for match in itertools.islice(found, MAX_ENTRIES + 1)]
    head = text[: starts[0]] if starts else text
    is_cut = len(starts) > MAX_ENTRIES
    entries = []
    for start, end in zip(starts[:MAX_ENTRIES], [*starts[1:], len(text)], strict=False):
        entry = text[start : min(end, start + MAX_ENTRY_CHARS)]
        is_cut = is_cut or end - start > MAX_ENTRY_CHARS
        date = next(filter(None, (element_text(entry, name) for name in FEED_DATES)), "")
        name, body = next(
            ((name, body) for name in FEED_TEXTS if (body := element_text(entry, name))), ("", "")
        )
        tag = re.search(rf"(?i)<{name}\s[^<>]{{0,2000}}>", entry) if name else None
        if tag and re.search(_PLAIN_TYPE, tag[0]):
            body = as_html(body)
        address = element_text(entry, "link") or link_target(entry)
        entries.append(Entry(element_text(entry, "title"), address, date, body))
    return element_text(head[:MAX_FEED_HEAD], "title"), entries, is_cut


def json_entries(text: str) -> tuple[str, list[Entry], bool]:
    """Return a JSON Feed 1.1's (jsonfeed.org) title and first entries, and whether it was cut."""
    feed = json_fields(text.lstrip("\ufeff")) or {}
    items = list_field(feed, "items")
    entries = []
    for item in items[:MAX_ENTRIES]:
        fields = {name: value for name, value in item.items() if isinstance(value, str)}
        get = fields.get
        body = get("content_html") or as_html(get("content_text") or get("summary", ""))
        date = get("date_published") or get("date_modified", "")
        address = get("url") or get("external_url", "")
        entries.append(Entry(as_html(get("title", "")), address, date, body))
    title = feed.get("title")
    return title if isinstance(title, str) else "", entries, len(items) > MAX_ENTRIES


def as_html(text: str) -> str:
    """Return plain text as HTML; a blank line separates paragraphs."""
    return "".join(f"<p>{html.escape(part)}</p>" for part in text.split("\n\n"))


# ===== mail and calendars =========================================================================


def read_mail(body: bytes, url: str, keep_links: bool) -> PageContent | None:
    """Return a mail (RFC 5322): its headers, its text and the names of its attachments.

    Return None if the mail is nested too deeply.
    """
    import email
    import email.utils

    if body.count(b"\n") * len(re.findall(_MAIL_LEVEL, body)) > MAX_MAIL_WORK:
        return None
    try:
        message = email.message_from_bytes(body)
        parts = list(itertools.islice(message.walk(), MAX_PARTS))
    except RecursionError:
        return None
    texts: dict[str, str] = {}
    names: list[str] = []
    for part in parts:
        if name := part.get_filename():
            names.append(one_line(header_text(name), MAX_FIELD))
        elif not part.is_multipart():
            data = part.get_payload(decode=True)
            charset = f"; charset={part.get_content_charset('')}"
            text = decode_body(data, charset) if isinstance(data, bytes) else ""
            texts.setdefault(part.get_content_type(), text.strip())
    head = {name: one_line(header_text(str(message[name])), MAX_FIELD)
            for name in MAIL_HEAD if message[name]}  # fmt: skip
    lines = [f"{name}: {value}" for name, value in head.items()]
    lines += [f"Attachments: {', '.join(names)}"] if names else []
    writer = MarkdownWriter(url, keep_links)
    shown = texts.get("text/plain", "").replace("\r\n", "\n")
    if not shown:
        shown = writer.markdown(PageTree(texts.get("text/html", "")).root)
    day = email.utils.parsedate_tz(head.get("Date", ""))
    fields = {
        "title": header_text(str(message["Subject"] or "")),
        "author": email.utils.parseaddr(head.get("From", ""))[0],
        "published": "{:04}-{:02}-{:02}".format(*day[:3]) if day else "",
    }
    text = "\n\n".join(filter(None, ("  \n".join(lines), shown)))
    return PageContent(text, fields, is_cut=writer.cut, is_foreign=True)


def header_text(value: str) -> str:
    """Return the value of a mail header, with encoded words as text."""
    from email.errors import HeaderParseError
    from email.header import decode_header, make_header

    try:
        return str(make_header(decode_header(value)))
    except (HeaderParseError, LookupError, UnicodeError):
        return value


def calendar_markdown(text: str) -> PageContent:
    """Return a calendar (RFC 5545): an item per event, with time, name, place and description."""
    events: list[dict[str, str]] = []
    title = ""
    inside = ""
    for line in re.sub(r"\r?\n[ \t]", "", text).splitlines():
        match = re.fullmatch(_CALENDAR_LINE, line)
        name, value = (match[1].upper(), match[3].strip()) if match else ("", "")
        if name in ("BEGIN", "END"):
            inside = value.upper() if name == "BEGIN" else "VEVENT" if inside != "VEVENT" else ""
            events += [{}] if name == "BEGIN" and inside == "VEVENT" else []
        elif name == "X-WR-CALNAME":
            title = calendar_text(value)
        elif events and inside == "VEVENT" and match:
            zone = re.search(r"TZID=\"?([\w/+-]{1,60})", match[2])
            is_date = name.startswith("DT")
            shown = moment_text(value, zone[1] if zone else "") if is_date else value
            events[-1].setdefault(name, calendar_text(shown))
    lines = [event_line(event) for event in events[:MAX_EVENTS]]
    title = title or (events[0].get("SUMMARY", "") if len(events) == 1 else "")
    is_cut = len(events) > MAX_EVENTS
    return PageContent("\n".join(lines), {"title": title}, is_cut=is_cut, is_foreign=True)


def event_line(event: dict[str, str]) -> str:
    """Return a calendar event as a list item."""
    get = event.get
    time = " to ".join(filter(None, (get("DTSTART"), get("DTEND"))))
    rule = f"repeats: {get('RRULE')}" if get("RRULE") else ""
    facts = (get("SUMMARY"), get("LOCATION"), rule, get("STATUS", "").lower(), get("DESCRIPTION"))
    return f"- {': '.join(filter(None, (time, '. '.join(filter(None, facts)))))}"


def calendar_text(value: str) -> str:
    """Return a calendar value without escapes, on one line."""
    plain = re.sub(r"\\([nN,;\\])", lambda sign: " " if sign[1] in "nN" else sign[1], value)
    return one_line(plain, MAX_OUTPUT)


def moment_text(value: str, zone: str) -> str:
    """Return a calendar time such as 20250304T183000 as 2025-03-04 18:30, with its time zone."""
    match = re.fullmatch(_MOMENT, value)
    if not match:
        return value
    year, month, day, hour, minute, utc = match.groups()
    clock = f" {hour}:{minute}" if hour else ""
    place = " UTC" if utc else f" ({zone})" if zone else ""
    return f"{year}-{month}-{day}{clock}{place if clock else ''}"


# ===== notebooks ==================================================================================


def notebook_markdown(text: str) -> PageContent:
    """Return the content of a Jupyter notebook (nbformat 3 and 4).

    Markdown is unchanged, code is fenced, and the code's output follows. JSON that was cut or is
    not a notebook stays JSON.
    """
    book = json_fields(text.lstrip("\ufeff")) or {}
    cells = list_field(book, "cells") or [
        cell for sheet in list_field(book, "worksheets") for cell in list_field(sheet, "cells")
    ]
    about = object_field(book, "metadata")
    kernel = object_field(about, "language_info") or object_field(about, "kernelspec")
    names = (kernel.get("language"), kernel.get("name"))
    language = next((name for name in names if isinstance(name, str)), "")
    blocks = [block for cell in cells for block in cell_blocks(cell, language)]
    shown = "\n\n".join(filter(None, blocks))
    if not shown:
        return PageContent(json_markdown(text))
    heading = re.search(r"(?m)^#[ \t]{1,9}(.{1,1000})", shown)
    return PageContent(shown, {"title": heading[1] if heading else ""}, is_foreign=True)


def cell_blocks(cell: dict[str, Any], language: str) -> list[str]:
    """Return the source of a notebook cell and its text output."""
    source = lines_text(cell.get("source") or cell.get("input")).strip("\n")
    kind = cell.get("cell_type")
    if kind == "heading":  # in nbformat 3
        return [f"## {source}"]
    if kind != "code":
        return [source]
    blocks = [fenced(source, language if re.fullmatch(r"\w+", language) else "")] if source else []
    for output in list_field(cell, "outputs"):
        values = (output.get("text"), object_field(output, "data").get("text/plain"))
        shown = next(filter(None, map(lines_text, values)), "")
        if output.get("output_type") in ("error", "pyerr"):
            shown = f"{output.get('ename', '')}: {output.get('evalue', '')}"
        shown = re.sub(_TERMINAL_CODE, "", shown[: 2 * MAX_OUTPUT]).strip("\n")
        is_cut = len(shown) > MAX_OUTPUT
        shown = shown[:MAX_OUTPUT] + ("\n[\u2026]" if is_cut else "")
        blocks.append(fenced(shown, "") if shown.strip() else "")
    return blocks


def lines_text(value: object) -> str:
    """Return a notebook's text, which may be a list of lines."""
    lines = value if isinstance(value, list) else [value]
    return "".join(line for line in lines if isinstance(line, str))


def element_text(text: str, name: str) -> str:
    """Return the text of the first XML element with this name, with entities decoded once."""
    start = re.search(rf"(?i)<{name}(?:\s[^<>]{{0,2000}})?>", text)
    end = re.compile(rf"(?i)</{name}\s{{0,9}}>").search(text, start.end()) if start else None
    if not start or not end:
        return ""
    inner = text[start.end() : end.start()].strip()
    if inner.startswith("<![CDATA["):
        return inner[9:].removesuffix("]]>").strip()
    return unescape(inner).strip()


def link_target(entry: str) -> str:
    """Return the URL in an Atom entry's first link element."""
    match = re.search(_LINK_ADDRESS, entry)
    return unescape(match[1]) if match else ""
