"""Word files (.docx): paragraphs, lists, tables and notes as elements (ECMA-376, part 1)."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from websearch.extraction.office.archive import address_of, children, number_of
from websearch.extraction.office.blocks import (
    Item,
    Piece,
    numbered,
    paragraph,
    table,
    with_code,
    with_lists,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from websearch.core.html_tree import Node
    from websearch.extraction.office.archive import Archive

MAX_LEVEL = 8  # of a list; the first is 0
BODY_LEVEL = 9  # in the outline, of text that is no heading
MAX_SPAN = 63  # columns; Word allows so many
MAX_INSTRUCTION = 4_000  # characters of a field's
MAX_LEVELS = 20  # children of a definition of lists
MAX_BASES = 20  # styles that a style is based on, one on the other
# What shows only what it holds, and what tracked changes have taken away or moved elsewhere.
WRAPPERS = frozenset("ins moveTo sdt sdtContent smartTag customXml dir bdo oMath oMathPara".split())
GONE = frozenset(("del", "moveFrom", "pPr", "rPr", "rt", "delText"))
MARKS = {"b": "strong", "i": "em", "strike": "del", "dstrike": "del"}
RAISED = {"superscript": "sup", "subscript": "sub"}
CHARACTERS = {
    "tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "ptab": " ",
}  # fmt: skip
OFF = ("0", "false", "off", "none")
# Kinds of styles by their English names, which files in all languages hold.
KINDS = {
    "title": "title$",
    "quote": "(?:intense )?quote$|quotations?$|block ?text$",
    "code": "html preformatted|preformatted|source ?code|code(?: ?block)?$|verbatim|plain ?text$",
}
_LINK_FIELD = r'\s*HYPERLINK\s+(?:\\[nt]\s+)*"([^"]+)"(?:\s+\\l\s+"([^"]+)")?'
_OPERATION = r"[^\w.]"  # in a part of a formula, which needs parentheses on a line


class Style(NamedTuple):
    """What a style of paragraphs says: heading (level from 1 on, 0 for none), kind, numbering.

    kind: a key of KINDS, or "".
    """

    heading: int = 0
    kind: str = ""
    numbering: tuple[str, str] = ("", "")


class WordReader:
    """Reads the text of one Word file. title: the first paragraph in the style Title."""

    def __init__(self, archive: Archive, name: str) -> None:
        self.archive = archive
        self.relations = archive.relations(name)
        styles = archive.tree(archive.part(name, "styles")).findall("style")
        self.style_elements = {style.get("styleId", ""): style for style in styles}
        self.styles: dict[str, Style] = {}
        self.levels = read_numbering(archive.tree(archive.part(name, "numbering")))
        self.notes = {
            kind: {note.get("id"): note for note in archive.tree(archive.part(name, f"{kind}s"))}
            for kind in ("footnote", "endnote")
        }
        self.counts: dict[tuple[str, int], int] = {}  # numbers of lists that were written last
        # The instructions of fields that are open, and the address that the text in them links to.
        self.fields: list[tuple[str, str]] = []
        self.note_number = 0
        self.title = ""
        self.after: list[Node] = []  # notes and text boxes of the paragraph that is being read
        self.in_note = False

    def blocks_of(self, parent: Element) -> list[Node]:
        """Return the paragraphs, lists and tables of the body, a cell, a note or a text box."""
        return with_code(with_lists(self.parts_of(parent)))

    def parts_of(self, parent: Element) -> Iterator[Node | Item]:
        """Yield the same, each item of a list for itself."""
        for child in children(parent):
            if child.tag == "p":
                if self.archive.is_late():
                    return
                yield from self.archive.contained(self.paragraph, child)
            elif child.tag == "tbl":
                yield from self.archive.contained(self.table, child)
            elif child.tag in WRAPPERS:
                yield from self.parts_of(child)

    def paragraph(self, one: Element) -> Iterator[Node | Item]:
        """Yield a paragraph, and behind it the notes and text boxes that belong to it."""
        outer, self.after = self.after, []
        properties = one.find("pPr")
        style = self.style(value(properties, "pStyle"))
        level = number_of(value(properties, "outlineLvl"), BODY_LEVEL)
        heading = level + 1 if level < BODY_LEVEL else style.heading or style.kind == "title"
        pieces = list(self.pieces(one, (), ""))
        blocks = paragraph(pieces, heading, style.kind)
        if style.kind == "title" and not self.title:
            self.title = "".join(piece.text for piece in pieces)
        after, self.after = self.after, outer
        item = self.item(properties, style) if blocks and blocks[0].tag == "p" else None
        yield from [item._replace(blocks=[*blocks, *after])] if item else [*blocks, *after]

    def style(self, style_id: str, depth: int = 0) -> Style:
        """Return a style of paragraphs with what it takes from those that it is based on."""
        one = self.style_elements.get(style_id)
        if one is None or depth > MAX_BASES:
            return Style()
        if style_id not in self.styles:
            base = self.style(value(one, "basedOn"), depth + 1)
            name = value(one, "name").lower()
            heading = re.fullmatch(r"heading ([1-9])", name)
            level = number_of(value(one.find("pPr"), "outlineLvl"), BODY_LEVEL)
            numbers = one.find("pPr/numPr")
            self.styles[style_id] = Style(
                int(heading[1]) if heading else (level + 1) % (BODY_LEVEL + 1) or base.heading,
                next((kind for kind, names in KINDS.items() if re.match(names, name)), base.kind),
                base.numbering if numbers is None
                else (value(numbers, "numId"), value(numbers, "ilvl")),
            )  # fmt: skip
        return self.styles[style_id]

    def item(self, properties: Element | None, style: Style) -> Item | None:
        """Return the item of a list that a paragraph is, still without its text."""
        numbering = properties.find("numPr") if properties is not None else None
        number_id = value(numbering, "numId") or style.numbering[0]
        depth = number_of(value(numbering, "ilvl") or style.numbering[1], 0, MAX_LEVEL)
        if number_id not in self.levels:
            return None
        start, is_numbered = self.levels[number_id].get(depth, (1, False))
        if not is_numbered:
            return Item(depth, 0, [])
        count = self.counts.get((number_id, depth), start - 1) + 1
        self.counts[number_id, depth] = count
        for deeper in range(depth + 1, MAX_LEVEL + 1):
            self.counts.pop((number_id, deeper), None)
        return Item(depth, count, [])

    def pieces(self, parent: Element, marks: tuple[str, ...], target: str) -> Iterator[Piece]:
        """Yield the pieces of a line: of a paragraph, or of what stands in one."""
        for child in children(parent):
            tag = child.tag
            if tag == "r":
                if not is_on(child.find("rPr"), "vanish"):
                    yield from self.pieces(child, run_marks(child) or marks, target)
            elif tag == "t":
                yield Piece(child.text or "", marks, target or self.field_target())
            elif tag in CHARACTERS:
                ends_page = child.get("type") in ("page", "column")
                yield Piece(" " if ends_page else CHARACTERS[tag], marks, target)
            elif tag == "sym":
                yield Piece(symbol(child.get("char", "")), marks, target)
            elif tag in ("fldChar", "instrText"):
                self.field(child)
            elif tag in ("footnoteReference", "endnoteReference"):
                yield from self.note(tag.removesuffix("Reference"), child.get("id"))
            elif tag == "txbxContent":
                self.after += self.blocks_of(child)
            elif tag not in GONE:
                yield from self.inner(child, parent, marks, target)

    def inner(
        self, child: Element, parent: Element, marks: tuple[str, ...], target: str
    ) -> Iterator[Piece]:
        """Yield the pieces of a link, a part of a formula, or what only holds others."""
        if child.tag == "hyperlink":
            target = address_of(self.relations, child, child.get("anchor", "")) or target
        elif child.tag == "fldSimple":
            target = link_target(child.get("instr", "")) or target
        elif child.tag in ("sup", "sub"):
            marks = (child.tag,)
        elif child.tag in ("num", "den", "deg", "e") and parent.tag in ("f", "rad", "d"):
            yield from self.operand(child, parent, marks)
            return
        yield from self.pieces(child, marks, target)

    def operand(
        self, operand: Element, formula: Element, marks: tuple[str, ...]
    ) -> Iterator[Piece]:
        """Yield a part of a fraction, a root or an expression in brackets as on a line."""
        pieces = list(self.pieces(operand, marks, ""))
        before, after = {"den": "/", "e": "\u221a"}.get(operand.tag, ""), ""
        if formula.tag == "d":
            properties = formula.find("dPr")
            before = value(properties, "begChr") or "("
            after = value(properties, "endChr") or ")"
        elif re.search(_OPERATION, "".join(piece.text for piece in pieces).strip()):
            before, after = f"{before}(", ")"
        yield from [Piece(before, marks), *pieces, Piece(after, marks)]

    def field(self, part: Element) -> None:
        """Open a field, such as a link, that spans several runs, add to what it is, or close it."""
        kind = part.get("fldCharType", "")
        if kind == "begin":
            self.fields.append(("", self.field_target()))
        elif kind == "end" and self.fields:
            self.fields.pop()
        elif part.tag == "instrText" and self.fields:
            instruction, target = self.fields[-1]
            instruction = (instruction + (part.text or ""))[:MAX_INSTRUCTION]
            self.fields[-1] = instruction, link_target(instruction) or target

    def field_target(self) -> str:
        """Return the address that the text in the open fields links to, or ""."""
        return self.fields[-1][1] if self.fields else ""

    def note(self, kind: str, note_id: str | None) -> Iterator[Piece]:
        """Yield the mark of a note; its text stands behind the paragraph."""
        note = self.notes[kind].get(note_id)
        if note is None or self.in_note:
            return
        self.note_number += 1
        number = self.note_number
        self.in_note = True
        self.after += numbered(number, self.blocks_of(note))
        self.in_note = False
        yield Piece(str(number), ("sup",), f"#note-{number}")

    def table(self, parent: Element) -> list[Node]:
        """Return a table as blocks."""
        return table(list(self.rows(parent)), self.archive.is_late)

    def rows(self, parent: Element) -> Iterator[list[list[Node]]]:
        """Yield the rows of a table; a cell that is merged with others is the first of them."""
        for row in parent:
            if row.tag in WRAPPERS:
                yield from self.rows(row)
            if row.tag != "tr" or row.find("trPr/del") is not None:
                continue
            if self.archive.is_late():
                return
            before = value(row.find("trPr"), "gridBefore")
            cells: list[list[Node]] = [[]] * number_of(before, 0, MAX_SPAN)
            for cell in cells_of(row):
                properties = cell.find("tcPr")
                merge = properties.find("vMerge") if properties is not None else None
                is_merged = merge is not None and merge.get("val", "continue") == "continue"
                cells.append([] if is_merged else self.blocks_of(cell))
                cells += [[]] * (number_of(value(properties, "gridSpan"), 1, MAX_SPAN) - 1)
            yield cells


def cells_of(row: Element) -> Iterator[Element]:
    """Yield the cells of a row, also those in what only holds them."""
    for child in row:
        if child.tag == "tc":
            yield child
        elif child.tag in WRAPPERS:
            yield from cells_of(child)


def link_target(field: str) -> str:
    """Return the address of a field that is a link; "" for others."""
    link = re.match(_LINK_FIELD, field)
    return link[1] + (f"#{link[2]}" if link[2] else "") if link else ""


def value(parent: Element | None, name: str) -> str:
    """Return the value of a property, "" if it is not set."""
    found = parent.find(name) if parent is not None else None
    return found.get("val", "") if found is not None else ""


def is_on(properties: Element | None, name: str) -> bool:
    """Return whether a property that is on or off is set and on."""
    found = properties.find(name) if properties is not None else None
    return found is not None and found.get("val", "1") not in OFF


def run_marks(run: Element) -> tuple[str, ...]:
    """Return the elements that stand for the look of a run: bold, italics, struck out, raised."""
    properties = run.find("rPr")
    if properties is None:
        return ()
    raised = RAISED.get(value(properties, "vertAlign"), "")
    if raised:
        return (raised,)
    return tuple(dict.fromkeys(mark for name, mark in MARKS.items() if is_on(properties, name)))


def symbol(code: str) -> str:
    """Return the character of a symbol; those of symbol fonts have no meaning elsewhere."""
    number = int(code, 16) if re.fullmatch("[0-9a-fA-F]{1,4}", code) else 0xF000
    return "" if 0xD800 <= number < 0xF900 or number < 0x20 else chr(number)


def read_numbering(root: Element) -> dict[str, dict[int, tuple[int, bool]]]:
    """Return for each list, by its id, the start of each level, and whether it has numbers."""
    abstract = {one.get("abstractNumId"): one for one in root.findall("abstractNum")}
    lists: dict[str, dict[int, tuple[int, bool]]] = {}
    for number in root.findall("num"):
        levels: dict[int, tuple[int, bool]] = {}
        base = abstract.get(value(number, "abstractNumId"))
        overrides = [one for override in number.findall("lvlOverride") for one in override]
        for level in [*itertools.islice(base if base is not None else (), MAX_LEVELS), *overrides]:
            if level.tag == "lvl":
                is_numbered = value(level, "numFmt") not in ("bullet", "none", "")
                start = number_of(value(level, "start"), 1)
                levels[number_of(level.get("ilvl"))] = start, is_numbered
        lists[number.get("numId", "")] = levels
    return lists
