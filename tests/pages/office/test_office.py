"""Office files: the Markdown of each part of each kind, damaged and hostile files, all interfaces.

No other module notices a part of an office file that is not read.
"""

from __future__ import annotations

import tempfile
import time
import tracemalloc
import unittest
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlencode
from xml.sax.saxutils import escape

from tests.fake_server import office_builder as office
from tests.fake_server.office_builder import PROPERTIES, cells, docx, epub, pptx, shape, xlsx
from tests.reading.test_read_page import SCRIPT, SiteCase
from tests.search.brief_support import BriefCase
from tests.search.scripted_web import story
from tests.support import SLACK, run_script
from tests.ways_in.mcp_support import Client
from tests.ways_in.test_http_server import ServerProcess
from websearch.pages.fetch import fetch
from websearch.pages.office import archive, sheets
from websearch.pages.office import docx as docx_reader
from websearch.pages.office import pptx as pptx_reader
from websearch.reading import one_page

URL = "https://example.org/files/report"


def read(data: bytes, seconds: float = 20.0, **params: Any) -> dict[str, Any]:
    """Return the document of a file whose kind neither name nor type show."""
    params = {"links": True, **params}
    deadline = time.monotonic() + seconds
    document = one_page.read_bytes(URL, data, "application/octet-stream", params, deadline)
    return dict(document)


def text_of(data: bytes, **params: Any) -> str:
    """Return the text of a readable file."""
    return str(read(data, **params)["text"])


def p(text: str, style: str = "", more: str = "") -> str:
    """Return a paragraph of a Word file from text or the XML of its runs."""
    runs = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{style}{more}</w:pPr>{runs}</w:p>"


def item(text: str, number: int, level: int = 0) -> str:
    """Return a list item of a Word file."""
    return p(text, "", f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def run(text: str, properties: str = "") -> str:
    """Return a run of a Word file."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


RESTART = '<w:tcPr><w:vMerge w:val="restart"/></w:tcPr>'
CONTINUED = "<w:tcPr><w:vMerge/></w:tcPr>"


def row(*texts: str) -> str:
    """Return a table row of a Word file; each text may be XML."""
    cells = (f"<w:tc>{text if text.startswith('<') else p(text)}</w:tc>" for text in texts)
    return f"<w:tr>{''.join(cells)}</w:tr>"


def levels(number: int, *formats: tuple[str, ...]) -> str:
    """Return a list definition of a Word file: format and text of each level, and more."""
    written = "".join(
        f'<w:lvl w:ilvl="{level}"><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/>'
        f"{''.join(more)}</w:lvl>"
        for level, (kind, text, *more) in enumerate(formats)
    )
    return f'<w:abstractNum w:abstractNumId="{number}">{written}</w:abstractNum>'


def items(number: int, *texts: tuple[int, str]) -> str:
    """Return list items of a Word file with their levels."""
    return "".join(item(text, number, level) for level, text in texts)


STYLES = "".join(
    f'<w:style w:styleId="{name}"><w:name w:val="{shown}"/><w:basedOn w:val="{base}"/></w:style>'
    for name, shown, base in (
        ("berschrift1", "heading 1", ""),
        ("Kapitel", "Chapter", "berschrift1"),
        ("Titel", "Title", ""),
        ("Untertitel", "Subtitle", "Titel"),
        ("Code", "Source Code", ""),
        ("Zitat", "Quote", ""),
    )
) + (
    '<w:style w:styleId="Secret"><w:rPr><w:vanish/></w:rPr></w:style>'
    '<w:style w:styleId="Inner"><w:basedOn w:val="Secret"/></w:style>'
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:start w:val="3"/>'
    '<w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl>'
    "</w:abstractNum>"
    + levels(2, ("lowerLetter", "(%1)"), ("lowerRoman", "%2."), ("upperRoman", "%3)"))
    + levels(3, ("decimal", "%1."), ("decimal", "%1.%2"), ("decimal", "%1.%2.%3"))
    + levels(4, ("decimal", "Article %1"), ("ordinal", "%2 rule"), ("chicago", "%3)"))
    + levels(5, ("upperRoman", "%1."), ("decimal", "%1.%2", '<w:isLgl/><w:lvlRestart w:val="0"/>'))
    + "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="{base}"/>{more}</w:num>'
        for number, base, more in (
            (7, 1, ""),
            (8, 2, ""),
            (9, 3, ""),
            (10, 3, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'),
            (11, 4, ""),
            (12, 5, ""),
        )
    )
)
SYMBOL = '<w:r><w:sym w:font="{}" w:char="{}"/></w:r>'
FIELD = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "https://a.example/x"'
    ' \\l "part"</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
    + run("a field")
    + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
FORM_BOX = (
    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>{}</w:checkBox></w:ffData>'
    "</w:fldChar></w:r><w:r><w:instrText>FORMCHECKBOX</w:instrText></w:r>"
    '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
BOX = f"<w:txbxContent>{p('In a box.')}</w:txbxContent>"
INNER = f"<w:tbl>{row('b', 'c')}</w:tbl>"
WORD = (
    ("a style that is based on a heading", p("Harbours", "Kapitel"), "# Harbours"),
    (
        "a title and a style that is based on it",
        p("Harbours", "Titel") + p("In winter", "Untertitel") + p("Text."),
        "# Harbours\n\nIn winter\n\nText.",
    ),
    ("an outline level", p("Depth", "", '<w:outlineLvl w:val="2"/>'), "### Depth"),
    (
        "runs that an editor split",
        p(run("Bold", "<w:b/>") + run(" ones", "<w:b/>")),
        "**Bold ones**",
    ),
    ("hidden text", p(run("shown") + run(" hidden", "<w:vanish/>")), "shown"),
    ("property that is off", p(run("plain", '<w:b w:val="0"/>')), "plain"),
    (
        "tracked changes",
        p(
            f"<w:ins>{run('new')}</w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del>"
            f"<w:moveFrom>{run('moved')}</w:moveFrom>"
        ),
        "new",
    ),
    ("code", p("def f():", "Code") + p("    return 1", "Code"), "```\ndef f():\n    return 1\n```"),
    ("a quotation", p("Said.", "Zitat") + p("Twice.", "Zitat"), "> Said.\n>\n> Twice."),
    (
        "lists",
        item("three", 7) + item("inner", 7, 1) + item("four", 7),
        "3. three\n   - inner\n4. four",
    ),
    (
        "a list that goes on",
        item("three", 7) + p("between") + item("four", 7),
        "3. three\n\nbetween\n\n4. four",
    ),
    (
        "letters and roman numbers",
        items(8, (0, "heat"), (0, "water"), (1, "hot"), (1, "cold"), (2, "deep"), (0, "light")),
        "- (a) heat\n- (b) water\n  - i. hot\n  - ii. cold\n    - I) deep\n- (c) light",
    ),
    (
        "numbers of several levels",
        items(9, (0, "Scope"), (1, "Halls"), (2, "East"), (2, "West"), (1, "Yards"), (0, "Keys")),
        "1. Scope\n   - 1.1 Halls\n     - 1.1.1 East\n     - 1.1.2 West\n   - 1.2 Yards\n2. Keys",
    ),
    (
        "a list that begins elsewhere",
        items(9, (0, "one"), (0, "two")) + items(10, (0, "seven"), (0, "eight")),
        "1. one\n2. two\n\n7. seven\n8. eight",
    ),
    (
        "texts around numbers, and a format that is not known",
        items(11, (0, "Name"), (1, "of all"), (1, "of some"), (2, "note"), (0, "Se")),
        "- Article 1 Name\n  - 1st rule of all\n  - 2nd rule of some\n    1. note\n- Article 2 Se",
    ),
    (
        "a level that goes on, and is in decimals",
        items(12, (0, "One"), (1, "a"), (0, "Two"), (1, "b")),
        "- I. One\n  - 1.1 a\n- II. Two\n  - 2.2 b",
    ),
    (
        "numbers of headings",
        p("Halls", "Kapitel", '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="9"/></w:numPr>')
        + p("East", "Kapitel", '<w:numPr><w:ilvl w:val="1"/><w:numId w:val="9"/></w:numPr>'),
        "# 1. Halls\n\n# 1.1 East",
    ),
    (
        "text that a style hides",
        p("gone", "Inner")
        + p(run("shown") + run(" gone", '<w:rStyle w:val="Secret"/>'))
        + p(run("back", '<w:vanish w:val="0"/>'), "Secret"),
        "shown\n\nback",
    ),
    (
        "boxes of forms and of symbol fonts",
        p(FORM_BOX.format('<w:checked w:val="1"/>') + run(" bolts"))
        + p(FORM_BOX.format('<w:default w:val="0"/>') + run(" door"))
        + p('<w:r><w:sym w:font="Wingdings" w:char="F0FE"/></w:r>' + run(" nuts"))
        + p(run("\uf0a8", '<w:rFonts w:ascii="Wingdings"/>') + run(" keys")),
        "[x] bolts\n\n[ ] door\n\n[x] nuts\n\n[ ] keys",
    ),
    (
        "symbols of symbol fonts",
        p(
            run("Oil ")
            + SYMBOL.format("Wingdings", "F0E0")
            + run(" 5 ")
            + SYMBOL.format("Symbol", "F0B1")
            + run(" 2 \uf06dm ", '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>')
            + SYMBOL.format("Wingdings", "F0FC")
            + SYMBOL.format("Wingdings", "00FB")
            + SYMBOL.format("Unknown", "F0FB")
        ),
        "Oil \u2192 5 \u00b1 2 \u03bcm \u2713\u2717",
    ),
    (
        "a link",
        p(f'<w:hyperlink r:id="rId11">{run("here")}</w:hyperlink>'),
        "[here](https://a.example/b)",
    ),
    ("a link in a field", p(FIELD), "[a field](https://a.example/x#part)"),
    (
        "a note",
        p(run("Fog") + '<w:r><w:footnoteReference w:id="2"/></w:r>'),
        "Fog[1]\n\n[1] In May.",
    ),
    (
        "a text box once",
        p(
            f"<w:r><mc:AlternateContent><mc:Choice>{BOX}</mc:Choice><mc:Fallback>{BOX}"
            "</mc:Fallback></mc:AlternateContent></w:r>"
        ),
        "In a box.",
    ),
    (
        "a table",
        f"<w:tbl>{row('Day', 'Fog')}{row('1', p('thick') + p('a | b'))}</w:tbl>",
        "| Day | Fog |\n| --- | --- |\n| 1 | thick a \\| b |",
    ),
    (
        "merged cells",
        "<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr>" + p("wide") + "</w:tc>"
        "<w:tc>"
        + p("c")
        + "</w:tc></w:tr>"
        + row("<w:tcPr><w:vMerge/></w:tcPr>" + p("gone"), "x", "y")
        + "</w:tbl>",
        "| wide |  | c |\n| --- | --- | --- |\n|  | x | y |",
    ),
    (
        "a heading of two rows, and a cell merged downwards",
        "<w:tbl>"
        + row(f"{RESTART}{p('Boat')}", "<w:tcPr><w:gridSpan w:val='2'/></w:tcPr>" + p("2024"))
        + row(f"{CONTINUED}{p('')}", "H1", "H2")
        + row(f"{RESTART}{p('Gull')}", "1", "2")
        + row(f"{CONTINUED}{p('')}", "3", "4")
        + "</w:tbl>",
        "| Boat | 2024: H1 | 2024: H2 |\n| --- | --- | --- |\n| Gull | 1 | 2 |\n| Gull | 3 | 4 |",
    ),
    (
        "a table in a table",
        f"<w:tbl>{row('a', INNER)}{row('d', 'e')}</w:tbl>",
        "| a | b; c |\n| --- | --- |\n| d | e |",
    ),
    ("a frame", f"<w:tbl>{row(p('Framed', 'Kapitel') + p('text'))}</w:tbl>", "# Framed\n\ntext"),
    (
        "a formula",
        p(
            "<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup>"
            "</m:sSup><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>c</m:t></m:r></m:den>"
            "</m:f></m:oMath>"
        ),
        "x^2(a+b)/c",
    ),
    (
        "signs of Markdown",
        p("# no heading *and* [no](https://link.example)"),
        "\\# no heading \\*and\\* [no\\](https://link.example)",
    ),
)


FOOTNOTE = f'<w:footnote w:id="2">{p("In May.")}</w:footnote>'
WORD_PARTS = {"styles": STYLES, "numbering": NUMBERING, "footnotes": FOOTNOTE}


class Word(unittest.TestCase):
    def test_each_part_becomes_markdown(self) -> None:
        for name, body, expected in WORD:
            with self.subTest(name):
                data = docx(body, links="https://a.example/b", **WORD_PARTS)
                self.assertEqual(text_of(data), expected)

    def test_comments_come_last_and_only_on_request(self) -> None:
        body = p(
            run("The pier is ")
            + '<w:commentRangeStart w:id="0"/>'
            + run("40 metres")
            + '<w:commentRangeEnd w:id="0"/><w:r><w:commentReference w:id="0"/></w:r>'
            + run(" long.")
        )
        comment = f'<w:comment w:id="0" w:author="Ann Keeper">{p("Is it 44?")}</w:comment>'
        data = docx(body, comments=comment)
        self.assertEqual(text_of(data), "The pier is 40 metres long.")
        said = (
            "The pier is 40 metres long.\n\n## Comments\n\n- Ann Keeper on “40 metres”: Is it 44?"
        )
        self.assertEqual(text_of(data, comments=True), said)

    def test_heads_and_feet_of_pages_appear_once_without_page_numbers(self) -> None:
        field = '<w:fldSimple w:instr=" PAGE "><w:r><w:t>7</w:t></w:r></w:fldSimple>'
        prompt = (
            "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr>"
            f"<w:sdtContent>{p('[Type here]')}</w:sdtContent></w:sdt>"
        )
        references = "".join(
            f'<w:{kind}Reference r:id="rId{number}"/>'
            for kind, number in (("header", 11), ("header", 12), ("footer", 13))
        )
        sections = f"<w:sectPr>{references}</w:sectPr>"
        data = docx(p("Text.", "", sections) + p("More.") + sections, links="h1.xml h2.xml f.xml")
        parts: dict[str, str | bytes] = {
            f"word/{name}.xml": f"<w:hdr {office.PREFIXES}>{text}</w:hdr>"
            for name, text in (
                ("h1", p("Contract 5") + prompt), ("h2", p("Contract 5")),
                ("f", p(run("Secret until May ") + field)),
            )
        }  # fmt: skip
        data = office.archive({**contents(data), **parts})
        self.assertEqual(text_of(data), "Contract 5\n\nText.\n\nMore.\n\nSecret until May")

    def test_title_author_and_dates(self) -> None:
        document = read(docx(p("Text."), PROPERTIES))
        names = ("title", "author", "published", "updated")
        facts = ["The harbour report", "Ann Keeper", "2024-01-31", "2024-02-01"]
        self.assertEqual([document[name] for name in names], facts)
        document = read(docx(p("Harbours", "Titel") + p("Text."), styles=STYLES))
        self.assertEqual(document["title"], "Harbours")
        stamp = PROPERTIES.replace("2024-01-31T10:00:00Z", "2013-12-23T23:15:00Z")
        self.assertNotIn("published", read(docx(p("Text."), stamp)))


CHART = (
    "<c:chart><c:title><a:t>Fog</a:t></c:title><c:ser><c:tx><c:v>Days</c:v></c:tx><c:cat>"
    '<c:pt idx="0"><c:v>May</c:v></c:pt></c:cat><c:val><c:pt idx="0"><c:v>61</c:v></c:pt></c:val>'
    "</c:ser></c:chart>"
)
CHART = f'<c:chartSpace xmlns:c="c" xmlns:a="a">{CHART}</c:chartSpace>'
NOTES = f"<p:notes {office.PREFIXES}><p:cSld><p:spTree>{shape('Say this.', kind='body')}"
NOTES = f"{NOTES}{shape('7', kind='sldNum')}</p:spTree></p:cSld></p:notes>"
SLIDE_PARTS = {"chart/chart1": CHART, "notesSlide/notes1": NOTES}
CELL = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
GRID = "".join(
    f"<a:tr>{CELL.format(day)}{CELL.format(fog)}</a:tr>"
    for day, fog in (("Day", "Fog"), ("1", "thick"))
)
POWERPOINT = (
    (
        "title, list and foot",
        shape("Fog", kind="title") + shape("one", "two", kind="") + shape("3", kind="sldNum"),
        "## Fog\n\n- one\n- two",
    ),
    (
        "order by place",
        shape("below", place=(0, 9)) + shape("right", place=(5, 1)) + shape("left", place=(1, 1)),
        "left\n\nright\n\nbelow",
    ),
    ("a group", f"<p:grpSp>{shape('in a group')}</p:grpSp>", "in a group"),
    (
        "numbers and levels",
        shape(
            "<a:p><a:pPr><a:buAutoNum/></a:pPr><a:r><a:t>one</a:t></a:r></a:p>",
            '<a:p><a:pPr lvl="1"><a:buChar/></a:pPr><a:r><a:t>in</a:t></a:r></a:p>',
        ),
        "1. one\n   - in",
    ),
    (
        "a table",
        f"<p:graphicFrame><a:tbl>{GRID}</a:tbl></p:graphicFrame>",
        "| Day | Fog |\n| --- | --- |\n| 1 | thick |",
    ),
    (
        "raised, lowered and struck text",
        shape(
            '<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r><a:r>'
            '<a:t> x</a:t></a:r><a:r><a:rPr baseline="-25000"/><a:t>i</a:t></a:r><a:r><a:t> now '
            '</a:t></a:r><a:r><a:rPr strike="sngStrike"/><a:t>12</a:t></a:r></a:p>'
        ),
        "10^6 x_i now ~~12~~",
    ),
    (
        "a link",
        shape('<a:p><a:r><a:rPr><a:hlinkClick r:id="rId1"/></a:rPr><a:t>here</a:t></a:r></a:p>'),
        "[here](https://a.example/b)",
    ),
)


class PowerPoint(unittest.TestCase):
    def test_arrows_and_signs_of_symbol_fonts(self) -> None:
        run = '<a:r><a:rPr lang="{}"><a:{} typeface="{}"/></a:rPr><a:t>{}</a:t></a:r>'
        cases = (
            ("en-US", "sym", "Wingdings", "fog \u00e0 rain", "fog \u2192 rain"),
            ("de-DE", "sym", "Wingdings", "\uf0dfgl\u00e9e", "\u2190gl\u00e9e"),
            ("fr-FR", "sym", "Wingdings", "fog \u00e0 rain", "fog \u00e0 rain"),
            ("en-US", "latin", "Symbol", "\uf0a3 5 \uf06dm", "\u2264 5 \u03bcm"),
            ("en-US", "latin", "Arial", "fog \u00e0 rain", "fog \u00e0 rain"),
        )
        for language, kind, font, text, expected in cases:
            with self.subTest(language=language, font=font, text=text):
                data = pptx(shape(f"<a:p>{run.format(language, kind, font, text)}</a:p>"))
                self.assertEqual(text_of(data), f"{expected}")

    def test_each_shape_becomes_markdown(self) -> None:
        for name, shapes, expected in POWERPOINT:
            with self.subTest(name):
                self.assertEqual(text_of(pptx(shapes, links="https://a.example/b")), expected)

    def test_charts_and_notes_follow_the_text_of_their_slide(self) -> None:
        frame = '<p:graphicFrame><c:chart xmlns:c="c" r:id="rId1"/></p:graphicFrame>'
        text = text_of(pptx(shape("Fog", kind="title") + frame, shape("last"), parts=SLIDE_PARTS))
        notes = "> **Notes**\n>\n> Say this."
        chart = "**Fog**\n\n|  | Days |\n| --- | --- |\n| May | 61 |"
        self.assertEqual(text, f"## Fog\n\n{chart}\n\n{notes}\n\n## Slide 2\n\nlast\n\n{notes}")

    def test_hidden_slides_and_shapes_are_omitted_and_counted(self) -> None:
        gone = shape("Gone 71").replace("<p:nvPr>", '<p:cNvPr hidden="1"/><p:nvPr>')
        data = pptx(shape("Fog", kind="title") + gone, shape("Gone 72"), shape("Last"))
        data = office.replaced(data, "ppt/slides/slide2.xml", "<p:sld ", '<p:sld show="0" ')
        document = read(data)
        self.assertEqual(document["text"], "## Fog\n\n## Slide 3\n\nLast")
        self.assertEqual(document["note"], "Omitted because hidden: 1 slide and 1 shape.")
        self.assertNotIn("cut", document)

    def test_each_footer_appears_once(self) -> None:
        footer = shape("Harbor office 730", kind="ftr") + shape("4 May 2026", kind="dt")
        number = shape('<a:p><a:fld type="slidenum"><a:t>77</a:t></a:fld></a:p>', kind="sldNum")
        shapes = shape("Approved 731", kind="ftr") + shape("Click", kind="title")
        tree = f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"
        layout = f"<p:sldLayout {office.PREFIXES}>{tree}</p:sldLayout>"
        parts = {"slideLayout/layout1": layout}
        data = pptx(*[shape(text) + footer + number for text in ("One", "Two")], parts=parts)
        text = text_of(data)
        for words in ("Harbor office 730", "4 May 2026", "Approved 731"):
            self.assertEqual(text.count(words), 1)
        self.assertNotIn("77", text)
        self.assertNotIn("Click", text)

    def test_pictures_and_equations_of_slides(self) -> None:
        picture = '<p:pic><p:nvPicPr><p:cNvPr descr="{}"/></p:nvPicPr></p:pic>'
        equation = (
            "<a:p><mc:AlternateContent><mc:Choice><m><m:oMath><m:r><m:t>E=mc</m:t></m:r><m:sSup>"
            "<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></m></mc:Choice><mc:Fallback>"
            "<a:r><a:t>picture</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p>"
        )
        shapes = picture.format("A cracked bed") + picture.format("IMG_01.png") + shape(equation)
        text = text_of(pptx(shapes))
        self.assertEqual(text, "[image: A cracked bed]\n\nE=mc^2")

    def test_a_slide_without_text_has_no_heading(self) -> None:
        self.assertEqual(text_of(pptx("<p:pic/>", shape("text"))), "## Slide 2\n\ntext")


FORMATS = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 22, 10, 164, 165, 166))
EXCEL_STYLES = (
    '<numFmts><numFmt numFmtId="164" formatCode="d. mmmm yyyy"/><numFmt numFmtId="165" '
    'formatCode="[h]:mm"/><numFmt numFmtId="166" formatCode="0.0&quot; days&quot;"/></numFmts>'
    f"<cellXfs>{FORMATS}</cellXfs>"
)
VALUES = (
    ('<c t="s"><v>1</v></c>', "two words"),
    ("<c><v>3.0</v></c>", "3"),
    ("<c><v>0.1</v></c>", "0.1"),
    ('<c t="b"><v>0</v></c>', "FALSE"),
    ('<c t="str"><f>A1</f><v>made</v></c>', "made"),
    ('<c t="e"><v>#DIV/0!</v></c>', "#DIV/0!"),
    ('<c s="1"><v>45322</v></c>', "2024-01-31"),
    ('<c s="2"><v>45322.5729166667</v></c>', "2024-01-31 13:45"),
    ('<c s="3"><v>0.125</v></c>', "12.50%"),
    ('<c s="4"><v>1</v></c>', "1900-01-01"),
    ('<c s="5"><v>1.25</v></c>', "30:00"),
    ('<c s="6"><v>2</v></c>', "2.0 days"),
    ('<c s="1"><v>1e9</v></c>', "1000000000"),
    ('<c s="99"><v>5</v></c>', "5"),
)
# Formats, numbers, and what a sheet shows for them.
NUMBERS = (
    ("General", "0.30000000000000004", "0.3"),
    ("General", "-3", "-3"),
    ('"$"#,##0.00', "1234.5", "$1,234.50"),
    ("[$€-2] #,##0.00", "99.9", "€ 99.90"),
    ("#,##0.00 [$kr-41D]", "123456789.123", "123,456,789.12 kr"),
    ('_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', "-12.5", "$(12.50)"),
    ("#,##0_);(#,##0)", "-1200", "(1,200)"),
    ("[Red]0.0;-0.0", "-5.25", "-5.3"),
    ("00000", "501", "00501"),
    ("(000) 000-0000", "5551234567", "(555) 123-4567"),
    ('0.00" kg"', "2", "2.00 kg"),
    ('0.0,,"M"', "12500000", "12.5M"),
    ('[<1000]0;[>=1000]0.0,"K"', "1500", "1500"),
    ('"Yes";"Yes";"No"', "0", "No"),
    ("0.##", "2", "2"),
    ("0.0%", "0.075", "7.5%"),
    ("0.00E+00", "123456", "123456"),
    ("# ?/?", "1.5", "1.5"),
    ("[$-407]d. mmmm yyyy", "46096", "2026-03-15"),
    ("dddd, d mmmm yyyy h:mm", "46096.5", "2026-03-15 12:00"),
    ("mmm-yy", "46096", "2026-03"),
    ("yyyy", "46096", "2026"),
    ("h:mm AM/PM", "0.75", "18:00"),
    ("[h]:mm", "1.5", "36:00"),
    ("[mm]:ss", "1.0625", "1530:00"),
    ("mm:ss.0", "0.0625", "30:00.0"),
    ("unreadable", "2.50", "2.5"),
    ("%" * 250 + "0", "7", "7"),
)
STRINGS = "<si><t>one</t></si><si><r><t>two </t></r><r><t>words</t></r><rPh><t>tsu</t></rPh></si>"


EXCEL_PARTS = {"styles": EXCEL_STYLES, "sharedStrings": STRINGS}


class Excel(unittest.TestCase):
    def test_values_are_shown_as_a_person_sees_them(self) -> None:
        for xml, expected in VALUES:
            with self.subTest(xml):
                row = (
                    f'<sheetData><row>{xml}<c t="inlineStr"><is><t>x</t></is></c></row></sheetData>'
                )
                text = text_of(xlsx(row, **EXCEL_PARTS))
                self.assertEqual(text.split("\n")[2], f"| {expected} | x |")
        sheet = '<sheetData><row><c s="1"><v>0</v></c></row></sheetData>'
        data = xlsx(sheet, styles=EXCEL_STYLES, workbook='<workbookPr date1904="1"/>')
        self.assertIn("1904-01-01", text_of(data))

    def test_formats_without_a_definition_are_those_of_the_standard(self) -> None:
        numbers = range(60)
        formats = "".join(f'<xf numFmtId="{number}"/>' for number in numbers)
        row = "".join(f'<c s="{number}"><v>45322</v></c>' for number in numbers)
        sheet = f"<sheetData><row>{row}</row></sheetData>"
        text = text_of(xlsx(sheet, styles=f"<cellXfs>{formats}</cellXfs>"))
        shown = text.split("\n")[2].strip("| ").split(" | ")
        plain = [number for number, one in zip(numbers, shown, strict=True) if one == "45322"]
        # ECMA-376, 18.8.30: dates and times, with those of East Asia; digits, percentages, money;
        # 1 shows a whole number as it is; powers of ten and fractions have no format here.
        others = {*range(2, 11), *range(14, 23), *range(27, 48), *range(50, 59)}
        self.assertEqual(plain, [number for number in numbers if number not in others])
        self.assertEqual((shown[42], shown[44]), ("45,322", "45,322.00"))

    def test_numbers_are_shown_by_their_formats(self) -> None:
        codes = list(dict.fromkeys(code for code, _, _ in NUMBERS))
        definitions = "".join(
            f'<numFmt numFmtId="{number}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
            for number, code in enumerate(codes, 200)
        )
        formats = "".join(f'<xf numFmtId="{200 + at}"/>' for at in range(len(codes)))
        styles = f"<numFmts>{definitions}</numFmts><cellXfs>{formats}</cellXfs>"
        rows = "".join(
            f'<row><c s="{codes.index(code)}"><v>{value}</v></c>'
            f'<c t="inlineStr"><is><t>x</t></is></c></row>'
            for code, value, _ in NUMBERS
        )
        lines = text_of(xlsx(f"<sheetData>{rows}</sheetData>", styles=styles)).split("\n")
        del lines[:2], lines[1]  # the heading, and the line below the first row
        for (code, value, expected), line in zip(NUMBERS, lines, strict=True):
            with self.subTest(code, value=value):
                self.assertEqual(line.replace("\\", ""), f"| {expected} | x |")

    def test_cells_in_symbol_fonts_show_their_symbols(self) -> None:
        fonts = "".join(f'<font><name val="{name}"/></font>' for name in ("Arial", "Wingdings"))
        formats = '<xf fontId="0"/><xf fontId="1"/><xf fontId="7"/>'
        styles = f"<fonts>{fonts}</fonts><cellXfs>{formats}</cellXfs>"
        cell = '<c t="inlineStr" s="{}"><is><t>{}</t></is></c>'
        texts = (
            (0, "Saw"), (1, "\u00fc"), (1, "\u00fb\u00fb"), (1, "none"), (2, "\u00fc"),
        )  # fmt: skip
        rows = f"<row>{cell.format(0, 'Tool') * 5}</row>"
        rows += f"<row>{''.join(cell.format(*text) for text in texts)}</row>"
        last = text_of(xlsx(f"<sheetData>{rows}</sheetData>", styles=styles)).splitlines()[-1]
        self.assertEqual(last, "| Saw | \u2713 | \u2717\u2717 | none | \u00fc |")

    def test_hidden_cells_and_uncalculated_formulas_are_noted(self) -> None:
        sheet = (
            '<cols><col min="2" max="2" hidden="1"/></cols><sheetData>'
            "<row><c><v>1</v></c><c><v>71</v></c><c><f>A1*2</f></c></row>"
            '<row hidden="1"><c><v>72</v></c></row>'
            "<row><c><v>3</v></c><c><v>73</v></c><c><f>A3*2</f><v>6</v></c></row></sheetData>"
        )
        document = read(xlsx(sheet))
        self.assertIn("| 1 | =A1*2 |", document["text"].replace("\\", ""))
        self.assertIn("| 3 | 6 |", document["text"])
        self.assertNotIn("7", document["text"])
        self.assertIn("1 row and 1 column", document["note"])
        self.assertEqual(document["note"].count("formulas without stored values"), 1)
        self.assertNotIn("cut", document)
        sheet = (
            '<table name="Fog"><table-column/><table-column visibility="collapse"/>'
            "<table-row><table-cell><p>1</p></table-cell><table-cell><p>71</p></table-cell>"
            '</table-row><table-row visibility="filter"><table-cell><p>72</p></table-cell>'
            '</table-row><table-row><table-cell formula="of:=SUM([.A1:.A2])"/></table-row></table>'
        )
        document = read(office.open_document("spreadsheet", sheet))
        self.assertIn("=SUM(A1:A2)", document["text"])
        self.assertNotIn("7", document["text"])
        self.assertIn("1 row and 1 column", document["note"])

    def test_merged_cells_are_repeated_and_two_rows_of_names_joined(self) -> None:
        head = "| Boat | 2024: H1 | 2024: H2 |\n| --- | --- | --- |"
        expected = f"{head}\n| Gull | 1 | 2 |\n| Gull | 3 | 4 |"
        text = '<c r="{}" t="inlineStr"><is><t>{}</t></is></c>'
        rows = (
            f"<row>{text.format('A1', 'Boat')}{text.format('B1', 2024)}</row>"
            f"<row>{text.format('B2', 'H1')}{text.format('C2', 'H2')}</row>"
            f'<row hidden="1">{text.format("A3", 7)}</row>'
            f"<row>{text.format('A4', 'Gull')}{text.format('B4', 1)}{text.format('C4', 2)}</row>"
            f"<row>{text.format('B5', 3)}{text.format('C5', 4)}</row>"
        )
        merges = "".join(f'<mergeCell ref="{ref}"/>' for ref in ("A1:A2", "B1:C1", "A4:A5"))
        sheet = f"<sheetData>{rows}</sheetData><mergeCells>{merges}</mergeCells>"
        self.assertEqual(text_of(xlsx(sheet, names="Plan")), f"## Plan\n\n{expected}")
        cell, covered = "<table-cell {}><p>{}</p></table-cell>", "<covered-table-cell/>"
        high, wide = 'number-rows-spanned="2"', 'number-columns-spanned="2"'
        lines = (
            cell.format(high, "Boat") + cell.format(wide, 2024) + covered,
            covered + cell.format("", "H1") + cell.format("", "H2"),
            cell.format(high, "Gull") + cell.format("", 1) + cell.format("", 2),
            covered + cell.format("", 3) + cell.format("", 4),
        )
        sheet = "".join(f"<table-row>{line}</table-row>" for line in lines)
        for kind, title in (("spreadsheet", "## Plan\n\n"), ("text", "")):
            file = office.open_document(kind, f'<table name="Plan">{sheet}</table>')
            self.assertEqual(text_of(file), title + expected)

    def test_a_hidden_row_does_not_split_its_table(self) -> None:
        table = "| a | b |\n| --- | --- |\n| 3 | 4 |"
        rows = cells("a|b", "71|72", "3|4")
        sheet = rows.replace("<row><c><v>71", '<row hidden="1"><c><v>71')
        self.assertIn(table, read(xlsx(sheet))["text"])
        cell = "<table-cell><p>{}</p></table-cell>"
        row = f"<table-row{{}}>{cell}{cell}</table-row>"
        hidden = ' visibility="collapse" number-rows-repeated="2"'
        sheet = row.format("", "a", "b") + row.format(hidden, 71, 72) + row.format("", 3, 4)
        file = office.open_document("spreadsheet", f'<table name="Fog">{sheet}</table>')
        self.assertIn(table, read(file)["text"])

    def test_sheets_are_headings_and_their_used_ranges_tables(self) -> None:
        data = xlsx(
            '<sheetData><row r="2"><c r="C2"><v>1</v></c><c r="E2"><v>2</v></c></row>'
            '<row r="3"><c r="E3"><v>3</v></c></row>'
            '<row r="5"><c r="A5"><v>4</v></c></row></sheetData>'
            '<hyperlinks><hyperlink ref="C2" r:id="rId1"/></hyperlinks>',
            cells("hidden"),
            "<sheetData/>",
            cells("a|b", "c \\ d|e"),
            names="Fog,Hidden,Empty,Last",
        )
        expected = (
            "## Fog\n\n| 1 | 2 |\n| --- | --- |\n|  | 3 |\n\n4\n\n"
            "## Last\n\n| a | b |\n| --- | --- |\n| c \\ d | e |"
        )
        self.assertEqual(text_of(data), expected)

    def test_cells_beyond_the_limits_are_noted(self) -> None:
        data = xlsx(cells(*["1|2"] * 9), cells("last|one"), names="Long,Last")
        with mock.patch.object(sheets, "MAX_ROWS", 3):
            document = read(data)
        self.assertEqual(document["text"].count("| 1 | 2 |"), 3)
        self.assertIn("| last | one |", document["text"])
        self.assertIn("Only 3 rows of the sheet 'Long' were read.", document["note"])
        self.assertTrue(document["cut"])
        with mock.patch.object(sheets, "MAX_CELLS", 4):
            self.assertEqual(read(data)["text"].count("| 1 | 2 |"), 2)


OPEN_STYLES = (
    '<style name="P1" parent-style-name="Quotations"/>'
    '<style name="P2" parent-style-name="Preformatted_20_Text"/>'
    '<style name="T1"><text-properties font-weight="bold"/></style>'
    '<style name="T2"><text-properties display="none"/></style>'
    '<list-style name="L1"><list-level-style-number level="1" '
    'num-format="1"/><list-level-style-bullet level="2"/></list-style>'
    '<style name="ta1"><table-properties display="false"/></style>'
)
OPEN_TEXT = (
    ("a heading", '<h outline-level="2">Harbours</h>', "## Harbours"),
    ("blanks and breaks", "<p>a<s c='2'/>b  c<line-break/>d</p>", "a b c  \nd"),
    (
        "bold and hidden",
        '<p><span style-name="T1">Bold</span> text<span style-name="T2">hidden</span></p>',
        "**Bold** text",
    ),
    (
        "changes and comments",
        (
            "<tracked-changes><p>old</p></tracked-changes><p>new"
            "<annotation><p>why</p></annotation></p>"
        ),
        "new",
    ),
    (
        "lists",
        (
            '<list style-name="L1"><list-item><p>one</p><list><list-item>'
            "<p>inner</p></list-item></list></list-item><list-item><p>two</p>"
            "</list-item></list>"
        ),
        "1. one\n   - inner\n2. two",
    ),
    ("a quotation", '<p style-name="P1">Said.</p>', "> Said."),
    ("code", '<p style-name="P2">a = 1</p>', "```\na = 1\n```"),
    ("a link", '<p><a href="https://a.example/b">here</a></p>', "[here](https://a.example/b)"),
    (
        "a note",
        (
            "<p>Fog<note><note-citation>1</note-citation><note-body><p>In May."
            "</p></note-body></note></p>"
        ),
        "Fog[1]\n\n[1] In May.",
    ),
    (
        "a table",
        (
            "<table><table-row><table-cell number-columns-spanned='2'><p>wide"
            "</p></table-cell><covered-table-cell/></table-row><table-row><table-cell>"
            "<p>a</p></table-cell><table-cell><p>b</p></table-cell>"
            "</table-row></table>"
        ),
        "| wide |  |\n| --- | --- |\n| a | b |",
    ),
    ("a text box", "<p>a<frame><text-box><p>box</p></text-box></frame></p>", "a\n\nbox"),
)
OPEN_CELLS = (
    ('value-type="float" value="1.50"', "shown"),
    ('value-type="percentage" value="0.4"', "shown"),
    ('value-type="boolean" boolean-value="true"', "TRUE"),
    ('value-type="date" date-value="2024-01-31"', "2024-01-31"),
    ('value-type="date" date-value="2024-01-31T13:45:00"', "2024-01-31 13:45"),
    ('value-type="time" time-value="PT13H45M00S"', "13:45"),
    ('value-type="string"', "shown"),
)


class OpenDocument(unittest.TestCase):
    def test_each_part_becomes_markdown(self) -> None:
        for name, body, expected in OPEN_TEXT:
            with self.subTest(name):
                document = read(office.open_document("text", body, OPEN_STYLES))
                self.assertEqual(document["text"], expected)
                self.assertEqual(
                    (document["title"], document["author"]), ("The harbour report", "Ann Keeper")
                )

    def test_slides_of_a_presentation(self) -> None:
        frame = '<frame class="{}"><text-box><p>{}</p></text-box></frame>'
        notes = f"<notes>{frame.format('notes', 'Say this.')}</notes>"
        page = f"<page>{frame.format('title', 'Fog')}{frame.format('outline', 'one')}{notes}</page>"
        text = text_of(office.open_document("presentation", page))
        self.assertEqual(text, "## Fog\n\none\n\n> **Notes**\n>\n> Say this.")

    def test_formulas_stay_in_their_line(self) -> None:
        formula = (
            "<math><semantics><mrow><mi>E</mi></mrow><annotation>E = m c^2</annotation>"
            "</semantics></math>"
        )
        frame = '<frame><object href="./Object 1">{}</object><image href="./Replacement"/></frame>'
        body = f"<p>So {frame.format('')} and {frame.format(formula)} hold.</p>"
        data = office.open_document("text", body, parts={"Object 1/content.xml": formula})
        self.assertEqual(text_of(data), "So E = m c^2 and E = m c^2 hold.")

    def test_formulas_without_source_text_become_tex(self) -> None:
        root = "<msqrt><mi>x</mi></msqrt><mo>*</mo><msub><mi>a</mi><mn>1</mn></msub>"
        note = '<annotation encoding="application/x-tex">{}</annotation>'
        tex = f"<semantics><mi>x</mi>{note}</semantics>"
        for inside, text in (
            (root, "$\\sqrt{x}*a_{1}$"),
            (tex.format("b_1 * b_2"), "$b_1 * b_2$"),
            ("<foo>7 to 9</foo>", "7 to 9"),
            ("<mrow/>", ""),
        ):
            with self.subTest(inside):
                frame = f"<frame><object><math>{inside}</math></object></frame>"
                data = office.open_document("text", f"<p>So {frame} holds.</p>")
                self.assertEqual(text_of(data), f"So {text} holds.".replace("  ", " "))

    def test_fields_and_hidden_text(self) -> None:
        styles = (
            '<style name="Gone"><text-properties display="none"/></style>'
            '<style name="Inner" parent-style-name="Gone"/>'
            '<style name="Page"><drawing-page-properties visibility="hidden"/></style>'
        )
        body = (
            '<p>A<variable-set value="7" display="none">7</variable-set> <variable-get>5'
            "</variable-get> <expression>10</expression> <user-field-get>fog</user-field-get>"
            '<hidden-text is-hidden="true">71</hidden-text><hidden-text is-hidden="false"> seen'
            '</hidden-text><span style-name="Inner">72</span></p><p style-name="Inner">73</p>'
            "<p><hidden-paragraph/>74</p>"
            '<section display="condition" is-hidden="true"><p>75</p></section>'
            "<p><frame><image/><desc>A pier</desc></frame></p>"
        )
        text = text_of(office.open_document("text", body, styles))
        self.assertEqual(text, "A 5 10 fog seen\n\n[image: A pier]")
        slides = (
            "<footer-decl>Harbor office</footer-decl><page><frame><text-box><p>one</p></text-box>"
            '</frame></page><page style-name="Page"><frame><text-box><p>76</p></text-box></frame>'
            "</page>"
        )
        document = read(office.open_document("presentation", slides, styles))
        self.assertEqual(document["text"], "Harbor office\n\n## Slide 1\n\none")
        self.assertEqual(document["note"], "Omitted because hidden: 1 slide.")

    def test_cells_of_sheets(self) -> None:
        for attributes, expected in OPEN_CELLS:
            with self.subTest(attributes):
                cell = f"<table-cell {attributes}><p>shown</p></table-cell>"
                row = f"<table-row>{cell * 2}</table-row>"
                sheet = f'<table name="Fog">{row}</table>'
                text = text_of(office.open_document("spreadsheet", sheet))
                self.assertEqual(text, f"## Fog\n\n| {expected} | {expected} |\n| --- | --- |")

    def test_repetition_and_hidden_sheets_do_not_use_the_budget(self) -> None:
        cell = '<table-cell number-columns-repeated="{}">{}</table-cell>'
        row = '<table-row number-rows-repeated="{}">{}</table-row>'
        many = row.format(1_000_000_000, cell.format(1_000_000_000, "<p>x</p>"))
        sheet = '<table name="{}" style-name="{}">{}</table>'
        empty = row.format(1_000_000_000, cell.format(1_000_000_000, ""))
        few = sheet.format("Few", "", empty + row.format(2, cell.format(2, "<p>y</p>")))
        body = sheet.format("Hidden", "ta1", many) + few + sheet.format("Many", "", many)
        document = read(office.open_document("spreadsheet", body, OPEN_STYLES))
        self.assertTrue(
            document["text"].startswith("## Few\n\n| y | y |\n| --- | --- |\n| y | y |")
        )
        self.assertNotIn("Hidden", document["text"])
        self.assertIn("sheet 'Many' were read", document["note"])


class Books(unittest.TestCase):
    def test_chapters_in_order_without_cover_and_contents(self) -> None:
        guide = '<reference type="cover" href="chapter1.xhtml"/>'
        data = epub(
            "<p>Cover</p>",
            "<nav><p>Contents</p></nav>",
            "<h1>One</h1><p>First text.</p>",
            '<h1>Two</h1><p><a href="chapter3.xhtml">back</a></p>',
            guide=guide,
        )
        document = read(data)
        self.assertEqual(document["text"], "# One\n\nFirst text.\n\n# Two\n\nback")
        names = ("title", "author", "published", "language")
        facts = ["The log", "Ann Keeper", "2024-01-31", "en"]
        self.assertEqual([document[name] for name in names], facts)

    def test_note_numbers_are_separate_from_other_numbers(self) -> None:
        note = '<a epub:type="noteref" href="{}#n1">1</a>'
        text = text_of(
            epub(f"<p>Built in 191{note.format('')} for 40{note.format('x.xhtml')}.</p>")
        )
        self.assertEqual(text, "Built in 191[1] for 40[1].")

    def test_contents_are_read_if_the_book_has_nothing_else(self) -> None:
        guide = '<reference type="toc" href="chapter1.xhtml"/>'
        self.assertEqual(text_of(epub("<p>All of it.</p>", guide=guide)), "All of it.")


OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
ENCRYPTED = '<encrypted><CipherReference URI="OPS/chapter1.xhtml"/></encrypted>'
UNREADABLE = (
    (OLE + "WordDocument".encode("utf-16-le"), r"an old Word file \(\.doc\)"),
    (OLE + "Workbook".encode("utf-16-le"), r"an old Excel file \(\.xls\)"),
    (OLE + "PowerPoint Document".encode("utf-16-le"), r"an old PowerPoint file \(\.ppt\)"),
    (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
    (OLE, "an old office file"),
    (office.open_document("text", "", manifest="<encryption-data/>"), "encrypted"),
    (epub("<p>x</p>", encryption=ENCRYPTED), "copy protection"),
    (docx(p("Text."))[:-40], "damaged archive"),
    (b"PK\x03\x04" + bytes(40), "damaged archive"),
    (docx(""), "without text"),
    (office.office_xml("xl/workbook.bin", "x", {}, ""), "xlsb"),
    (office.archive({"a.txt": "text"}), "an archive"),
    (office.archive({"word/document.xml": p("x")}, zipfile.ZIP_BZIP2), "damaged"),
)


class Hostile(unittest.TestCase):
    """What cannot be read says what it is; what would take too much is not unpacked."""

    def test_unreadable_files_are_named_with_a_hint(self) -> None:
        for data, words in UNREADABLE:
            document = read(data)
            with self.subTest(words):
                self.assertEqual(document["details"]["kind"], "unsupported", document)
                self.assertRegex(document["error"], words)
                self.assertTrue(document["details"]["hint"])

    def test_xml_cannot_define_entities_or_be_too_deep(self) -> None:
        bomb = '<!DOCTYPE x [<!ENTITY a "text"><!ENTITY b "&a;&a;">]>'
        good = docx(p("Text."))
        for change in (
            lambda xml: bomb + xml.replace("Text.", "&b;"),
            lambda xml: '<!DOCTYPE x [<!ATTLIST p a CDATA "b">]>' + xml,
            lambda xml: xml.replace("<w:body>", "<w:body>" + "<w:p>" * 5_000),
        ):
            parts = contents(good)
            parts["word/document.xml"] = change(parts["word/document.xml"].decode())
            self.assertEqual(read(office.archive(parts))["details"]["kind"], "unsupported")
        parts["word/document.xml"] = (
            '<!DOCTYPE x SYSTEM "file:///etc/passwd">'
            + contents(good)["word/document.xml"].decode()
        )
        self.assertEqual(text_of(office.archive(parts)), "Text.")

    def test_damaged_xml_is_read_as_far_as_it_goes(self) -> None:
        parts = contents(docx(p("Text.") + p("More.")))
        parts["word/document.xml"] = parts["word/document.xml"].replace(b"</w:body>", b"</w:x>")
        document = read(office.archive(parts))
        self.assertEqual(document["text"], "Text.\n\nMore.")
        self.assertIn("damaged", document["note"])
        self.assertTrue(document["cut"])

    def test_bombs_are_not_unpacked(self) -> None:
        document = docx_part(p("Text."))
        for parts, limits in (
            ({"word/document.xml": document + " " * 2_000_000}, {"RATIO_FREE": 1_000_000}),
            ({"word/document.xml": document.replace("Text", "a" * 999)}, {"MAX_CHARS": 900}),
            ({"word/document.xml": document, "x": "", "y": ""}, {"MAX_ENTRIES": 2}),
            ({"word/document.xml": document}, {"MAX_PART": 300}),
            ({"word/document.xml": document}, {"MAX_UNPACKED": 300}),
            ({"word/document.xml": document}, {"MAX_ELEMENTS": 2}),
        ):  # fmt: skip
            with self.subTest(limits), mock.patch.multiple(archive, **limits):
                self.assertEqual(read(office.archive(parts))["details"]["kind"], "unsupported")

    def test_repetition_does_not_multiply_text(self) -> None:
        cell = "<table-cell number-columns-repeated='100'><p>x</p></table-cell>"
        row = f"<table-row number-rows-repeated='100'>{cell}</table-row>"
        text = text_of(office.open_document("text", f"<table>{row * 100}</table>"))
        self.assertLess(text.count("x"), 30_000)
        places = [chr(65 + number % 26) + chr(65 + number // 26) for number in range(26 * 26)]
        rows = "".join(f'<row><c r="{place}1"><v>7</v></c></row>' for place in places)
        text = text_of(xlsx(f"<sheetData>{rows}</sheetData>"))
        self.assertEqual(text.count("| 7 |"), len(places))
        self.assertLess(len(text), 10_000)

    def test_copies_do_not_fill_the_memory(self) -> None:
        """A copy counts when it is made; each file has ten times the cells that fit."""
        cell = f"<table-cell><p>{'a' * 100_000}</p></table-cell><table-cell><p>b</p></table-cell>"
        inner = f"<table><table-row>{cell}</table-row></table>"
        repeated = "<table-cell number-columns-repeated='9999'>{}</table-cell>"
        cells_of_text = f"<table-cell><p>x</p></table-cell>{repeated.format(inner)}"
        long = repeated.format(f"<p>{'a b ' * 500}</p>")
        rows = f"<table-row number-rows-repeated='99999'>{long}</table-row>"
        wide = repeated.format("<p>x</p>") * 10_000
        note = f'<w:footnote w:id="7">{p("x " * 50_000)}</w:footnote>'
        mark = '<w:r><w:t>a</w:t><w:footnoteReference w:id="7"/></w:r>'
        for name, data in (
            (
                "text",
                office.open_document(
                    "text", f"<table><table-row>{cells_of_text}</table-row></table>"
                ),
            ),
            ("rows", office.open_document("spreadsheet", f'<table name="Fog">{rows * 10}</table>')),
            (
                "columns",
                office.open_document(
                    "spreadsheet", f'<table name="Fog"><table-row>{wide}</table-row></table>'
                ),
            ),
            ("notes", docx(p(mark) * 2_000, footnotes=note)),
        ):
            with self.subTest(name):
                self.assertLess(len(data), 60_000)
                tracemalloc.start()
                try:
                    read(data)
                    peak = tracemalloc.get_traced_memory()[1]
                finally:
                    tracemalloc.stop()
                self.assertLess(peak, 100_000_000)

    def test_a_note_with_several_references_appears_once(self) -> None:
        mark = '<w:r><w:t>Fog</w:t><w:footnoteReference w:id="7"/></w:r>'
        note = f'<w:footnote w:id="7">{p("In May.")}</w:footnote>'
        text = text_of(docx(p(mark) + p(mark), footnotes=note))
        self.assertEqual(text, "Fog[1]\n\n[1] In May.\n\nFog[1]")

    def test_a_long_table_of_merged_cells_keeps_the_deadline(self) -> None:
        wide = f'<w:tc><w:tcPr><w:gridSpan w:val="63"/></w:tcPr>{p("x")}</w:tc>'
        data = docx(f"<w:tbl>{f'<w:tr>{wide}</w:tr>' * 20_000}</w:tbl>")
        begin = time.monotonic()
        read(data, seconds=1.0)
        self.assertLess(time.monotonic() - begin, 1.0 + SLACK)

    def test_wide_cells_do_not_fill_the_memory(self) -> None:
        wide = f'<w:tc><w:tcPr><w:gridSpan w:val="63"/></w:tcPr>{p("x")}</w:tc>'
        data = docx(f"<w:tbl>{f'<w:tr>{wide}</w:tr>' * 10_000}</w:tbl>")
        tracemalloc.start()
        try:
            read(data, seconds=60.0)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        self.assertLess(peak, 80_000_000)

    def test_a_bug_in_one_section_leaves_the_others(self) -> None:
        def raises(*_: object) -> None:
            raise KeyError("a bug")

        slides = [shape("Fog", kind="title"), shape("Rain", kind="title")]
        original = pptx_reader.SlideReader.slide

        def slide(reader: Any, name: str, number: int) -> Any:
            return raises() if number == 1 else original(reader, name, number)

        for document, names in (
            (
                (docx(p("Text.") + f"<w:tbl>{row('a', 'b')}</w:tbl>")),
                (docx_reader, "table", raises),
            ),
            (pptx(*slides), (pptx_reader.SlideReader, "slide", slide)),
        ):
            with mock.patch.object(*names):
                found = read(document)
            self.assertIn("Internal error: KeyError", found["note"])
            self.assertIn("bug in the program", found["note"])
            self.assertTrue(found["cut"])
            self.assertIn("Rain" if "slide" in names else "Text.", found["text"])
        original_cell = sheets.SheetWriter.cell

        def cell(writer: Any, text: str, *more: str) -> str:
            return str(raises() if text == "Fog" else original_cell(writer, text, *more))

        words = ("Fog", "Rain")
        tables = [
            f'<table name="{word}"><table-row><table-cell><p>{word}</p></table-cell></table-row>'
            "</table>"
            for word in words
        ]
        for data in (
            xlsx(*map(cells, words), names="One,Two"),
            office.open_document("spreadsheet", "".join(tables)),
        ):
            with mock.patch.object(sheets.SheetWriter, "cell", cell):
                found = read(data)
            self.assertIn("Internal error: KeyError", found["note"])
            self.assertIn("Rain", found["text"])

    def test_text_missing_for_lack_of_time_is_noted(self) -> None:
        data = docx(p("A paragraph of a long report.") * 50_000)
        document = read(data, seconds=0.3)
        if document["ok"]:
            self.assertIn("The time for this file ran out", document["note"])
            self.assertTrue(document["cut"])

    def test_part_names_never_become_paths(self) -> None:
        target = office.relations(("officeDocument", "../../../../etc/passwd"))
        self.assertFalse(read(office.archive({"_rels/.rels": target}))["ok"])


def docx_part(body: str) -> str:
    """The main part of a Word file."""
    return f"<w:document {office.PREFIXES}><w:body>{body}</w:body></w:document>"


def contents(data: bytes) -> dict[str, Any]:
    """The parts of an archive."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        with zipfile.ZipFile(file) as opened:
            return {name: opened.read(name) for name in opened.namelist()}


class Interfaces(SiteCase):
    """Every way in reads them."""

    def test_by_url_regardless_of_content_type(self) -> None:
        run = self.run_script(SCRIPT, self.address("office/report.docx"))
        page = run.document["pages"][0]
        self.assertEqual((run.code, page["title"]), (0, "The harbour report"))
        self.assertIn("| May | 61 |", page["text"])
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "urls").write_text(self.address("office/fog.xlsx"))
            run = self.run_script(SCRIPT, "--urls-from", str(Path(folder, "urls")))
        self.assertIn(b"| May | 61 |", run.stdout)
        for path in ("office/fog.xlsx", "office/fog", "office/fog.html"):
            self.assertIn("| May | 61 |", self.page(path)["text"])

    def test_reading_options_work_as_for_pages(self) -> None:
        path = "office/report.docx"
        outline = self.page(path, outline=True)["outline"]
        self.assertEqual([one["heading"] for one in outline], ["Harbours", "Fog"])
        self.assertNotIn("Harbours", self.page(path, section="fog")["text"])
        self.assertEqual(self.page(path, find="61")["places_in_all"], 1)
        passages = self.page(path, query="how many days of fog in May")["passages"]
        self.assertIn("61", passages[-1]["text"])  # the page is short, so it is shown whole
        self.assertEqual(passages[-1]["heading"], "Harbours > Fog")
        page = self.page(path, max_chars=300)
        rest = self.page(path, offset=page["next_offset"])["text"]
        self.assertEqual(page["text"] + rest, self.page(path)["text"])

    def test_a_file_beyond_the_limit_of_a_page_is_read_whole(self) -> None:
        self.assertIn("The last page.", self.page("office/large.docx", page_timeout=20)["text"])
        limit = {"MAX_FILE_BYTES": 5_500_000}
        with mock.patch.multiple(fetch, **limit), mock.patch.multiple(archive, **limit):
            document = self.read("office/large.docx", page_timeout=20)
        self.assertEqual(document["details"]["kind"], "unsupported")
        self.assertIn("more than 5 MB", document["error"])

    def test_local_files_on_the_command_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "book.epub").write_bytes(epub("<p>A local book.</p>"))
            run = run_script(SCRIPT, "./book.epub", cwd=folder)
        self.assertEqual(run.document["pages"][0]["text"], "A local book.")

    def test_over_mcp_and_http(self) -> None:
        address = self.address("office/report.docx")
        environment = {"WEB_SEARCH_ALLOW_PRIVATE": self.server.url.removeprefix("http://")}
        client = Client(environment)
        self.addCleanup(client.close)
        self.assertIn("| May | 61 |", str(client.call("read_page", urls=[address])))
        server = ServerProcess(**environment)
        self.addCleanup(server.stop)
        self.assertIn("| May | 61 |", str(server.fetch("/read?" + urlencode({"url": address}))))


class InASearch(BriefCase):
    def test_a_search_answers_from_a_sheet_and_a_document(self) -> None:
        question = "days of fog"
        first = self.web.page("/a", story("otter"))
        second = self.web.file(
            "/fog.xlsx", xlsx(cells("Month|Days of fog", "May|61 days", "June|12 days")), site=1
        )
        text = p(
            "Fog came on 61 days of the year, most of the days of fog in May, says the keeper."
        )
        third = self.web.file("/report.docx", docx(text), site=2)
        self.web.find(question, first, second, third)
        run = self.run_command(question)
        texts = {one["url"]: one.get("text", "") for one in run.document["results"]}
        self.assertIn("61 days", texts[second])
        self.assertIn("says the keeper", texts[third])
