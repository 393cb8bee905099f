"""A small web site: pages of every kind that a reader of pages meets, good, broken and hostile.

/site/...        the pages; their files are in the folder pages
/robots.txt      disallows /site/private/ for everybody, and more for one agent
"""

from __future__ import annotations

import gzip
import pickle
import random
import zlib
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from .connection import Connection, head_bytes
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, route
from .office_builder import PREFIXES, PROPERTIES, cells, docx, office_xml, xlsx
from .pdf_builder import HELVETICA, PdfBuilder, encrypt_with_rc4
from .script_pages import PAGES as SCRIPT_PAGES

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES = Path(__file__).resolve().parent / "pages"
HTML = "text/html; charset=utf-8"
# Path below /site/ -> (file, content type).
FILES = {
    "articles/sourdough": ("sourdough.html", HTML),
    "articles/bridges": ("bridges.html", HTML),
    "articles/tides": ("tides.html", HTML),
    "articles/about-walls": ("about_walls.html", HTML),
    "articles/hidden": ("hidden.html", HTML),
    "articles/plain-boxes": ("plain_boxes.html", HTML),
    "docs/timeouts": ("timeouts.html", HTML),
    "docs/install": ("install.html", "text/html"),
    "forum/thread": ("thread.html", HTML),
    "forum/question": ("question.html", HTML),
    "forum/crawler": ("crawler.html", HTML),
    "shop/kettle": ("kettle.html", HTML),
    "shop/kettles": ("kettles.html", HTML),
    "service/moving": ("moving.html", HTML),
    "list/news": ("news.html", HTML),
    "broken/tags": ("broken_tags.html", HTML),
    "broken/unclosed": ("unclosed.html", HTML),
    "text/notes.txt": ("notes.txt", "text/plain"),
    "text/readme.md": ("readme.md", "text/markdown"),
    "data/prices.json": ("prices.json", "application/json"),
    "data/stops.xml": ("stops.xml", "application/xml"),
    "feed.rss": ("feed.rss", "application/rss+xml"),
    "feed.atom": ("feed.atom", "application/atom+xml"),
    "wall/captcha": ("captcha.html", HTML),
    "shell": ("shell.html", HTML),
    "private/diary": ("diary.html", HTML),
}
ROBOTS = """# keep out
User-agent: *
Disallow: /site/private/
Allow: /site/private/$

User-agent: other-agent
Disallow: /

"""
# What the sitemaps of the site list; the first is an index.
SITEMAPS = {
    "sitemaps/index.xml": "sitemapindex sitemaps/news.xml sitemaps/docs.xml.gz sitemaps/gone.xml",
    "sitemaps/news.xml": "urlset list/news articles/sourdough http://other.example/x",
    "sitemaps/docs.xml.gz": "urlset docs/one docs/two?a=1&amp;b=2 docs/one docs2/three",
    "sitemaps/loop.xml": "sitemapindex sitemaps/loop.xml sitemaps/many.xml",
    "sitemaps/many.xml": "urlset " + " ".join(f"docs/{number}" for number in range(5_200)),
}
PARAGRAPH = (
    "<p>Paragraph {} of the long page tells of the keeper who wrote down the weather every morning "
    "for forty years, and of the books that hold his hand.</p>"
)
RUSSIAN = (
    "<html><head><meta http-equiv='Content-Type' content='text/html; charset=windows-1251'>"
    "<title>Чай</title></head><body><p>Чай заваривают горячей водой и дают ему постоять пять "
    "минут, а потом разливают по чашкам.</p></body></html>"
)
JAPANESE = (
    "<html><head><title>お茶</title></head><body><p>お茶は熱いお湯を注いで、二分ほど待ってから"
    "湯のみに分けて飲みます。</p></body></html>"
)
FRENCH = (
    "<html><head><meta charset=utf-8><title>Thé</title></head><body><p>Le thé doit infuser à "
    "l’abri de la lumière, très peu de temps, dans une eau qui frémit à peine – voilà tout.</p>"
    "</body></html>"
)
TIDES = "day,height\n1,3.1 | 3.2\n" + "".join(f"{day},{day % 7}.4\n" for day in range(2, 400))
DRIP_SECONDS = 0.2
LATE_SECONDS = 0.6
BIG_BYTES = 6_000_000
BOMB_BYTES = 200_000_000


def _page(name: str) -> bytes:
    return (PAGES / name).read_bytes()


def _html(body: bytes, content_type: str = HTML, status: int = HTTPStatus.OK) -> Reply:
    return Reply(status, body, content_type)


@cache
def _long_page() -> bytes:
    sections = [
        f"<h2>Year {year}</h2>" + "".join(PARAGRAPH.format(f"{year}-{part}") for part in range(3))
        for year in range(1, 61)
    ]
    head = "<!DOCTYPE html><html lang=en><head><title>The lighthouse log</title></head><body><main>"
    return f"{head}<h1>The lighthouse log</h1>{''.join(sections)}</main></body></html>".encode()


@cache
def _big_page() -> bytes:
    paragraph = PARAGRAPH.format("of many").encode()
    return (
        b"<html><body><main>" + paragraph * (BIG_BYTES // len(paragraph)) + b"</main></body></html>"
    )


@cache
def _bomb() -> bytes:
    compressor = zlib.compressobj(level=9, wbits=16 + zlib.MAX_WBITS)
    piece = b"<b>" * 333_333
    pieces = [compressor.compress(piece) for _ in range(BOMB_BYTES // len(piece))]
    return b"".join(pieces) + compressor.flush()


# The leaves of a paper: the lines of each page.
PAPER = (
    ("The tower and its light", "The lamp burned oil from 1889 and was lit by hand every evening."),
    ("The log", "The keeper wrote down wind and weather, and the name of every ship he could",
     "make out, for forty years. The log fills ninety-one note-", "books, all of them kept."),
    ("Results", "Fog came on 61 days of the year, most often in May."),
)  # fmt: skip


@cache
def _paper() -> bytes:
    builder = PdfBuilder()
    for lines in PAPER:
        builder.add_text(*lines)
    info = b"<</Title(The lighthouse log)/Author(Ann Keeper)/CreationDate(D:20240131)>>"
    builder.trailer["Info"] = b"%d 0 R" % builder.add(info)
    return builder.build("stream")


@cache
def _manual() -> bytes:
    """A manual with an outline: an array, an action and a named destination."""
    builder = PdfBuilder()
    for lines in (("Setting up.",), ("The first call.",), ("Limits of calls.",)):
        builder.add_text(*lines)
    first = max(builder.objects) + 2
    pages = builder.pages
    outlines = builder.add(b"<</First %d 0 R/Count 2>>" % first)
    builder.add(b"<</Title(Setting up)/Dest[%d 0 R/Fit]/First %d 0 R/Next %d 0 R>>"
                % (pages[0], first + 1, first + 2))  # fmt: skip
    builder.add(b"<</Title(The first call)/A<</S/GoTo/D[%d 0 R/XYZ 0 0 0]>>/Next %d 0 R>>"
                % (pages[1], first + 1))  # fmt: skip
    builder.add(b"<</Title(Limits)/Dest(limits)/Next %d 0 R>>" % first)
    names = builder.add(b"<</Kids[<</Names[(limits)<</D[%d 0 R/Fit]>>]>>]>>" % pages[2])
    builder.catalog_fields = b"/Outlines %d 0 R/Names<</Dests %d 0 R>>" % (outlines, names)
    return builder.build()


@cache
def _paper_with_headings() -> bytes:
    """Two pages whose headings are larger than their text."""
    builder = PdfBuilder()
    font = b"<</Font<</F1 %b>>>>" % HELVETICA
    line = b"/F1 10 Tf (%b) Tj 0 -14 Td "
    text = line % b"The survey was made in the spring, and in the autumn once more." * 3
    heading = b"/F1 %d Tf 0 -30 Td (%b) Tj 0 -30 Td "
    builder.add_page(
        b"BT 72 720 Td " + heading % (18, b"Methods of the survey") + text
        + line % b"# no heading" + heading % (12, b"Sampling") + text + b"ET", font,
    )  # fmt: skip
    builder.add_page(
        b"BT 72 720 Td " + line % b"It went on to the second page without any heading at all."
        + text + heading % (18, b"Results") + line % b"Rain fell on sixty days." + text + b"ET",
        font,
    )  # fmt: skip
    return builder.build()


@cache
def _large_paper() -> bytes:
    """A paper of 6 MB, most of it a picture; only its last page has text."""
    builder = PdfBuilder()
    picture = builder.add_stream(bytes(BIG_BYTES), b"/Subtype/Image/Width 3000/Height 2000")
    builder.add_page(b"q 9 0 0 9 0 0 cm /I Do Q", b"<</XObject<</I %d 0 R>>>>" % picture)
    builder.add_text("The last page of a large paper.")
    return builder.build()


@cache
def _scan() -> bytes:
    builder = PdfBuilder()
    picture = builder.add_stream(b"\xff\xd8", b"/Subtype/Image/Filter/DCTDecode/Width 9/Height 9")
    builder.add_page(b"q 612 0 0 792 0 0 cm /I Do Q", b"<</XObject<</I %d 0 R>>>>" % picture)
    return builder.build()


@cache
def _locked_paper() -> bytes:
    builder = PdfBuilder()
    encrypt_with_rc4(builder, 128, password=b"needed")
    builder.add_text("Sealed.")
    return builder.build()


@cache
def _report() -> bytes:
    """A Word file with headings, a table and text."""
    paragraph = "<w:p><w:pPr>{}</w:pPr><w:r><w:t>{}</w:t></w:r></w:p>"
    heading = '<w:outlineLvl w:val="{}"/>'
    rows = ""
    for row in (("Month", "Days of fog"), ("May", "61"), ("June", "12")):
        row_cells = (f"<w:tc>{paragraph.format('', text)}</w:tc>" for text in row)
        rows += f"<w:tr>{''.join(row_cells)}</w:tr>"
    body = (
        paragraph.format(heading.format(0), "Harbours")
        + paragraph.format("", "The keeper wrote down every ship that came into the harbour. " * 3)
        + paragraph.format(heading.format(1), "Fog")
        + f"<w:tbl>{rows}</w:tbl>"
    )
    return docx(body, PROPERTIES)


@cache
def _large_report() -> bytes:
    """A Word file of 6 MB, most of it a picture that cannot be packed."""
    picture = random.Random(1).randbytes(BIG_BYTES)
    body = "<w:p><w:r><w:t>The last page.</w:t></w:r></w:p>"
    return office_xml(
        "word/document.xml",
        f"<w:document {PREFIXES}><w:body>{body}</w:body></w:document>",
        {"word/media/image1.png": picture},
        "",
    )


def _office(body: bytes, content_type: str) -> Reply:
    return Reply(HTTPStatus.OK, body, content_type)


def _sheet() -> bytes:
    return xlsx(cells("Month|Days of fog", "May|61"), names="Fog")


def _pdf(body: bytes, content_type: str = "application/pdf") -> Reply:
    return Reply(HTTPStatus.OK, body, content_type)


def old_page() -> bytes:
    """The page that stood at an address which is gone."""
    return _page("sourdough.html")


def _hang(connection: Connection) -> None:
    """Never an answer."""
    connection.closed_within(None)


def _drip(connection: Connection) -> None:
    """A page that comes a byte at a time, for ever."""
    connection.send(head_bytes(HTTPStatus.OK, HTML, {"Connection": "close"}) + b"<html><body><p>")
    while not connection.closed_within(DRIP_SECONDS):
        connection.send(b"x")


def _endless(connection: Connection) -> None:
    """A page without end, as fast as the client reads."""
    connection.send(head_bytes(HTTPStatus.OK, HTML, {"Connection": "close"}) + b"<html><body>")
    paragraph = PARAGRAPH.format("without end").encode() * 100
    while True:  # sending fails, and so ends this, when either side closes
        connection.send(paragraph)


def _preferred(request: RecordedRequest) -> Reply:
    """The same page as Markdown for clients that prefer it."""
    if "text/markdown" in (request.header("accept") or ""):
        return Reply(
            HTTPStatus.OK, b"# Served as Markdown\n\nNo markup to remove.\n", "text/markdown"
        )
    return _html(b"<html><body><h1>Served as HTML</h1></body></html>")


def _redirect(rest: str, request: RecordedRequest) -> Reply:
    """redirect/N: N more steps to an article; redirect/to?URL: to that address; redirect/loop.

    redirect/cookie: to itself until its cookie comes; redirect/refresh?URL: there, by Refresh.
    """
    if rest == "cookie":
        if ("cookie", "seen=1") in [(name.lower(), value) for name, value in request.headers]:
            return Reply(HTTPStatus.FOUND, b"", "text/plain", (("Location", "1"),))
        more = (("Location", "/site/redirect/cookie"), ("Set-Cookie", "seen=1; Path=/"))
        return Reply(HTTPStatus.FOUND, b"", "text/plain", more)
    if rest == "refresh":
        target = unquote(request.target.partition("?")[2])
        return Reply(HTTPStatus.OK, b"Wait.", "text/plain", (("Refresh", f"0; url={target}"),))
    if rest == "to":
        target = unquote(request.target.partition("?")[2])
    elif rest == "loop":
        target = "/site/redirect/loop"
    else:
        step = int(rest)
        target = f"/site/redirect/{step - 1}" if step > 1 else "/site/articles/sourdough"
    location = target.encode().decode("latin-1")  # headers are bytes; these are UTF-8
    return Reply(HTTPStatus.FOUND, b"", "text/plain", (("Location", location),))


def _with_quote() -> bytes:
    """An article beside which a box has the figures of a stock."""
    prose = (
        "<p>The company said on Monday that it had agreed to be bought, and that its shareholders "
        "would vote on the plan in the summer of the year.</p>"
    )
    rows = "<tr><th>Market Cap</th><td>$1.25B</td></tr><tr><th>Volume</th><td>3,904</td></tr>"
    box = f"<div class='column--aside'><h3>Quote</h3><table>{rows}</table></div>"
    article = f"<article><h1>A sale is agreed</h1>{prose * 6}</article>"
    head = "<title>A sale</title><meta property=og:type content=article>"
    return f"<html><head>{head}</head><body>{article}{box}</body></html>".encode()


SPECIAL: dict[str, Callable[[], Answer]] = {
    "articles/quote": lambda: _html(_with_quote()),
    "articles/lighthouse": lambda: _html(_long_page()),
    "charset/windows-1251": lambda: _html(RUSSIAN.encode("cp1251"), "text/html"),
    "charset/shift-jis": lambda: _html(JAPANESE.encode("cp932"), "text/html; charset=x-sjis"),
    "charset/lying": lambda: _html(FRENCH.encode("cp1252")),
    "charset/utf-16": lambda: _html(FRENCH.encode("utf-16"), "text/html"),
    "data/tides.csv": lambda: _html(TIDES.encode(), "text/csv"),
    "binary/report": lambda: _html(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj"),
    "papers/lighthouse.pdf": lambda: _pdf(_paper()),
    "papers/lighthouse": lambda: _pdf(b"\r\n\r\n" + _paper(), "text/html"),
    "papers/manual.pdf": lambda: _pdf(_manual()),
    "papers/headings.pdf": lambda: _pdf(_paper_with_headings()),
    "papers/large.pdf": lambda: _pdf(_large_paper()),
    "papers/scan.pdf": lambda: _pdf(_scan()),
    "papers/locked.pdf": lambda: _pdf(_locked_paper()),
    "office/report.docx": lambda: _office(_report(), "application/octet-stream"),
    "office/large.docx": lambda: _office(_large_report(), "application/octet-stream"),
    "office/fog.xlsx": lambda: _office(_sheet(), "application/zip"),
    "office/fog": lambda: _office(_sheet(), "text/plain"),
    "office/fog.html": lambda: _office(_sheet(), HTML),
    "binary/photo": lambda: Reply(HTTPStatus.OK, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
    "binary/archive": lambda: Reply(HTTPStatus.OK, b"PK\x03\x04\x14\0\0\0", "application/zip"),
    "binary/sound": lambda: Reply(HTTPStatus.OK, b"\xff\xfb\x90\x64", "audio/mpeg"),
    "slow/hang": lambda: _hang,
    "slow/drip": lambda: _drip,
    "slow/late": lambda: Reply(HTTPStatus.OK, _page("moving.html"), HTML, delay=LATE_SECONDS),
    "huge/endless": lambda: _endless,
    "huge/six-megabytes": lambda: _html(_big_page()),
    "huge/megabyte": lambda: _html(_big_page()[:1_000_000]),
    "huge/bomb": lambda: Reply(HTTPStatus.OK, _bomb(), HTML, (("Content-Encoding", "gzip"),)),
    "wall/challenge": lambda: Reply(HTTPStatus.FORBIDDEN, _page("wall.html"), HTML),
    "wall/header": lambda: Reply(
        HTTPStatus.FORBIDDEN, b"<p>No.</p>", HTML, (("cf-mitigated", "challenge"),)
    ),
    "encoding/brotli": lambda: Reply(
        HTTPStatus.OK, b"\x0b\x02\x80tea\x03", HTML, (("Content-Encoding", "br"),)
    ),
    "encoding/gzip": lambda: Reply(
        HTTPStatus.OK,
        gzip.compress(_page("sourdough.html")),
        HTML,
        (("Content-Encoding", "gzip"),),
    ),
    "encoding/cut": lambda: Reply(
        HTTPStatus.OK,
        gzip.compress(_page("sourdough.html"))[:-400],
        HTML,
        (("Content-Encoding", "gzip"),),
    ),
    "binary/random": lambda: Reply(
        HTTPStatus.OK, random.Random(7).randbytes(20_000), "text/plain; charset=utf-8"
    ),
    "binary/pickle": lambda: Reply(
        HTTPStatus.OK, pickle.dumps(["tides of the year"] * 900), "application/octet-stream"
    ),
    "refresh/slow": lambda: _html(
        b"<meta http-equiv=refresh content='30; url=/site/list/news'><p>Tide tables, live." * 9
    ),
    "refresh/long": lambda: _html(
        b"<meta http-equiv=refresh content='0; url=/site/list/news'>"
        + b"<p>The tide turns at noon, and the boats come in with it.</p>" * 9
    ),
    "refresh/itself": lambda: _html(
        b"<meta http-equiv=refresh content='5; url=itself'><p>Tide now: 3 m, and it is rising."
    ),
    "refresh": lambda: _html(
        b"<meta http-equiv=refresh content='0; url=/site/list/news'><title>Moved</title>"
    ),
    "empty": lambda: _html(b"<html><body><script>x()</script></body></html>"),
    "status/404": lambda: _html(b"<h1>Not found</h1>", status=HTTPStatus.NOT_FOUND),
    "status/410": lambda: _html(b"<h1>Gone</h1>", status=HTTPStatus.GONE),
    "status/429": lambda: Reply(
        HTTPStatus.TOO_MANY_REQUESTS, b"slow down", "text/plain", (("Retry-After", "7"),)
    ),
    "status/500": lambda: _html(b"<h1>Oops</h1>", status=HTTPStatus.INTERNAL_SERVER_ERROR),
}


def answer(request: RecordedRequest, _state: ServerState) -> Answer:
    """Answer a request for a page."""
    rest = request.path.removeprefix("/site/")
    if rest.startswith("redirect/"):
        return _redirect(rest.removeprefix("redirect/"), request)
    if rest == "preferred":
        return _preferred(request)
    if rest in FILES:
        name, content_type = FILES[rest]
        return Reply(HTTPStatus.OK, _page(name), content_type)
    if rest in SPECIAL:
        return SPECIAL[rest]()
    if rest.startswith("scripts/") and rest.removeprefix("scripts/") in SCRIPT_PAGES:
        body, content_type = SCRIPT_PAGES[rest.removeprefix("scripts/")]
        return Reply(HTTPStatus.OK, body, content_type)
    status = HTTPStatus.GONE if rest.startswith("gone/") else HTTPStatus.NOT_FOUND
    return _html(b"<h1>No such page</h1>", status=status)


def _sitemap(name: str, base: str) -> Reply:
    """A sitemap as XML; one whose name ends in .gz is compressed."""
    root, *places = SITEMAPS[name].split()
    addresses = [place if "://" in place else f"{base}/site/{place}" for place in places]
    image = "<image:image><image:loc>http://x.example/a.png</image:loc></image:image>"
    items = "".join(f"<url><loc>\n {address} </loc>{image}</url>" for address in addresses)
    body = (
        f"<?xml version='1.0'?><{root} xmlns='http://www.sitemaps.org/'>{items}</{root}>".encode()
    )
    return Reply(HTTPStatus.OK, gzip.compress(body) if name.endswith(".gz") else body, "text/xml")


def answer_robots(request: RecordedRequest, _state: ServerState) -> Answer:
    """GET /robots.txt."""
    named = f"Sitemap: http://{request.header('host')}/site/sitemaps/index.xml\n"
    return Reply(HTTPStatus.OK, (ROBOTS + named).encode(), "text/plain")


def answer_sitemap(request: RecordedRequest, _state: ServerState) -> Answer:
    """GET /site/sitemaps/NAME."""
    name = request.path.removeprefix("/site/")
    if name not in SITEMAPS:
        return _html(b"<h1>No such sitemap</h1>", status=HTTPStatus.NOT_FOUND)
    return _sitemap(name, f"http://{request.header('host')}")


ROUTES: tuple[Route, ...] = (
    route("/site/sitemaps/.*", ("GET",), answer_sitemap),
    route("/site/.*", ("GET",), answer),
    route("/robots\\.txt", ("GET",), answer_robots),
)
