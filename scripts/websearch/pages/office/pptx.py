"""Read PowerPoint files (.pptx): each slide as a heading and its content (ECMA-376, part 1)."""

from __future__ import annotations

import itertools
import re

from websearch.pages.office.archive import address_of, children, number_of
from websearch.pages.office.blocks import (
    PRIVATE,
    Cell,
    Item,
    Piece,
    element,
    hidden_note,
    image,
    line,
    slide,
    symbol_table,
    table,
    with_lists,
    with_symbols,
)
from websearch.pages.office.equations import equation_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from websearch.base.html_tree import Node
    from websearch.pages.office.archive import Archive, Relation

MAX_CHART_ROWS = 200  # rows per chart
TITLES = ("title", "ctrTitle")
FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")  # placeholders repeated on every slide
FOOTERS = ("dt", "ftr")  # placeholders that contain text written by a person
ON, OFF = ("1", "true"), ("0", "false")
NO_STRIKE = "noStrike"
# Letters that PowerPoint writes in Wingdings for "-->", "<--", "==>", "<==" and "<=>"; languages in
# which one of them is a word.
_ARROW = r"(?<!\S)[\u00e0\u00df\u00e8\u00e7\u00f3](?!\S)"
ACCENTED = ("fr", "it", "pt")
LISTS = ("", "body", "obj")  # placeholders whose paragraphs are list items


class SlideReader:
    """Reads PowerPoint slides. title: the first slide's; note: about hidden slides and shapes.

    Each footer text appears once, below the first slide that has it.
    """

    def __init__(self, archive: Archive, name: str) -> None:
        self.archive = archive
        self.slides = archive.relations(name)
        self.title = self.note = ""
        self.relations: dict[str, Relation] = {}  # relations of the current slide
        self.hidden_slides = self.hidden_shapes = 0
        self.footers: set[str] = set()  # texts and layouts read so far

    def blocks_of(self, presentation: Element) -> list[Node]:
        """Return the content of the slides, in order."""
        blocks: list[Node] = []
        entries = list(presentation.iter("sldId"))
        for number, entry in enumerate(entries, len(entries) > 1):
            if self.archive.is_late():
                break
            if relation := self.slides.get(entry.get("r:id", "")):
                blocks += self.archive.contained(self.slide, relation.target, number)
        self.note = hidden_note(slide=self.hidden_slides, shape=self.hidden_shapes)
        return blocks

    def slide(self, name: str, number: int) -> list[Node]:
        """Return a slide's heading, text and speaker notes; [] for a hidden slide."""
        self.relations = self.archive.relations(name)
        root = self.archive.tree(name)
        if root.get("show") in OFF:
            self.hidden_slides += 1
            return []
        shapes = self.shapes(root.find("cSld/spTree"))
        titles = [" ".join(texts(shape)) for shape in shapes if placeholder(shape) in TITLES]
        title = " ".join(" ".join(titles).split())
        self.title = self.title or title
        blocks = self.text_of(shapes) + self.footer(shapes, self.archive.part(name, "slideLayout"))
        notes = self.archive.part(name, "notesSlide")
        self.relations = self.archive.relations(notes)
        shapes = self.shapes(self.archive.tree(notes).find("cSld/spTree"))
        return slide(title, number, blocks, self.text_of(shapes))

    def footer(self, shapes: list[Element], layout: str) -> list[Node]:
        """Return the footer texts of a slide and its layout, except those on earlier slides."""
        if layout not in self.footers:
            self.footers.add(layout)
            shapes = [*shapes, *self.shapes(self.archive.tree(layout).find("cSld/spTree"))]
        blocks = []
        for shape in shapes:
            body = shape.find("txBody") if placeholder(shape) in FOOTERS else None
            runs = body.iter("r") if body is not None else ()  # not fields: numbers, today's date
            text = " ".join(" ".join("".join(texts(run)) for run in runs).split())
            if text and text not in self.footers:
                self.footers.add(text)
                blocks.append(element("p", text))
        return blocks

    def text_of(self, shapes: list[Element]) -> list[Node]:
        """Return the text in shapes, except titles and repeated placeholders."""
        others = (shape for shape in shapes if placeholder(shape) not in (*TITLES, *FURNITURE))
        return [block for shape in others for block in self.shape(shape)]

    def shapes(self, parent: Element | None) -> list[Element]:
        """Return the visible shapes of a slide or group in reading order.

        Placeholders come first in file order, then the others from top to bottom and left to right.
        """
        shapes = children(parent) if parent is not None else ()
        ordered = sorted(shapes, key=lambda shape: (placeholder(shape) is None, *position(shape)))
        shown = [shape for shape in ordered if properties_of(shape).get("hidden") not in ON]
        self.hidden_shapes += len(ordered) - len(shown)
        return [inner for shape in shown
                for inner in (self.shapes(shape) if shape.tag == "grpSp" else [shape])]  # fmt: skip

    def shape(self, shape: Element) -> list[Node]:
        """Return the content of a shape: text, a table, a chart, a diagram or a description."""
        if shape.tag == "graphicFrame":
            if (grid := shape.find(".//tbl")) is not None:
                return table([self.row(row) for row in grid.findall("tr")], 1)
            if (chart := shape.find(".//chart")) is not None:
                return chart_blocks(self.related(chart, "r:id"))
            diagram = shape.find(".//relIds")
            return self.diagram(self.related(diagram, "r:dm")) if diagram is not None else []
        if shape.tag == "pic":
            return image(properties_of(shape).get("descr", ""))
        body = shape.find("txBody")
        is_list = placeholder(shape) in LISTS
        return with_lists(self.paragraphs(body, is_list)) if body is not None else []

    def related(self, shape: Element, name: str) -> Element:
        """Return the part that an attribute of a shape refers to."""
        relation = self.relations.get(shape.get(name, ""))
        return self.archive.tree(relation.target if relation else "")

    def row(self, row: Element) -> list[Cell]:
        """Return the cells of a table row, without the cells covered by a merged cell."""
        cells: list[Cell] = []
        for cell in row.findall("tc"):
            if cell.get("hMerge") not in ON and cell.get("vMerge") not in ON:
                body = cell.find("txBody")
                blocks = with_lists(self.paragraphs(body, False)) if body is not None else []
                spans = [number_of(cell.get(name), 1) for name in ("gridSpan", "rowSpan")]
                cells.append(Cell(blocks, *spans))
        return cells

    def paragraphs(self, body: Element, is_list: bool) -> Iterator[Node | Item]:
        """Yield the paragraphs in a shape. is_list: whether paragraphs are items by default."""
        counts: dict[int, int] = {}
        items = [item for item in body.findall("p") if "".join(texts(item)).strip()]
        for paragraph in items:
            block = element("p", *line(self.pieces(paragraph)))
            properties = paragraph.find("pPr")
            tags = {part.tag for part in properties} if properties is not None else set()
            depth = number_of(properties.get("lvl"), 0, 8) if properties is not None else 0
            counts = {level: count for level, count in counts.items() if level <= depth}
            if "buAutoNum" in tags:
                counts[depth] = counts.get(depth, 0) + 1
                yield Item(depth, counts[depth], [block])
            elif "buChar" in tags or (is_list and len(items) > 1 and "buNone" not in tags):
                yield Item(depth, 0, [block])
            else:
                yield block

    def pieces(self, paragraph: Element) -> Iterator[Piece]:
        """Yield the pieces of a paragraph with their links."""
        for run in children(paragraph):
            if run.tag in ("r", "fld"):
                link = run.find("rPr/hlinkClick")
                address = address_of(self.relations, link) if link is not None else ""
                yield Piece(run_text(run), run_marks(run), address)
            elif run.tag == "br":
                yield Piece("\n")
            elif run.tag == "m":
                yield from equation_pieces(run, ())

    def diagram(self, data: Element) -> list[Node]:
        """Return the texts in a diagram (SmartArt) as a list."""
        points = (point for point in data.iter("pt") if "".join(texts(point)).strip())
        return with_lists(
            Item(0, 0, [element("p", " ".join(" ".join(texts(point)).split()))]) for point in points
        )


def run_marks(run: Element) -> tuple[str, ...]:
    """Return the tags for a run's format: superscript, subscript, strikethrough."""
    properties = run.find("rPr")
    if properties is None:
        return ()
    shift = properties.get("baseline", "0").rstrip("%")
    raised = () if not shift.strip("-0") else ("sub",) if shift.startswith("-") else ("sup",)
    return raised if properties.get("strike", NO_STRIKE) == NO_STRIKE else (*raised, "del")


def run_text(run: Element) -> str:
    """Return a run's text with the characters of its symbol font converted to Unicode."""
    text = "".join(part.text or "" for part in run.iter("t"))
    properties = run.find("rPr")
    if text.isascii() or properties is None:
        return text
    fonts = [font.get("typeface", "") for tag in ("sym", "latin") for font in properties.iter(tag)]
    font = next(filter(symbol_table, fonts), "")
    if font == "Wingdings" and properties.get("lang", "")[:2] not in ACCENTED:
        text = re.sub(_ARROW, lambda letter: chr(PRIVATE + ord(letter[0])), text)
    return with_symbols(text, font)


def properties_of(shape: Element) -> Element:
    """Return the element with the name and description of a shape."""
    found = shape[0].find("cNvPr") if len(shape) else None
    return found if found is not None else shape


def placeholder(shape: Element) -> str | None:
    """Return a placeholder's type, "" for generic content; None for any other shape."""
    found = shape.find("nvSpPr/nvPr/ph")
    if found is None:
        found = shape.find("nvGraphicFramePr/nvPr/ph")
    return found.get("type", "") if found is not None else None


def position(shape: Element) -> tuple[int, int]:
    """Return a shape's distance from the top and the left; (0, 0) for placeholders."""
    offset = shape.find(".//off")
    if offset is None or placeholder(shape) is not None:
        return (0, 0)
    return number_of(offset.get("y")), number_of(offset.get("x"))


def texts(parent: Element) -> Iterator[str]:
    """Yield the texts inside an element, with a space for each line break."""
    for part in parent.iter():
        if part.tag == "t":
            yield part.text or ""
        elif part.tag == "br":
            yield " "


def chart_blocks(chart: Element) -> list[Node]:
    """Return a chart's title, and the chart's values as a table."""
    title = chart.find("chart/title")
    words = " ".join("".join(texts(title)).split()) if title is not None else ""
    series = list(chart.iter("ser"))
    names = [next((point.text or "" for point in item.iterfind("tx//v")), "") for item in series]
    labels = next(filter(None, (values(item, "cat", "xVal") for item in series)), {})
    columns = [values(item, "val", "yVal") for item in series]
    indexes = sorted(set(labels).union(*columns))
    rows = [
        [labels.get(index, ""), *(column.get(index, "") for column in columns)]
        for index in indexes[:MAX_CHART_ROWS]
    ]
    cells = [
        [Cell([element("p", text)] if text else []) for text in row]
        for row in [["", *names], *rows]
    ]
    caption = [element("p", element("strong", words))] if words else []
    return caption + (table(cells, 1) if indexes else [])


def values(series: Element, *names: str) -> dict[int, str]:
    """Return index -> value for a chart's series."""
    points = itertools.chain(*(series.iterfind(f"{name}//pt") for name in names))
    return {number_of(point.get("idx")): point.findtext("v") or "" for point in points}
