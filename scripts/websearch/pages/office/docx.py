"""Read Word files (.docx): paragraphs, lists, tables and notes (ECMA-376, part 1)."""

from __future__ import annotations

import re
from typing import NamedTuple

from websearch.kit import one_line
from websearch.pages.extract.rewriting import CHECKED, UNCHECKED
from websearch.pages.office.archive import address_of, children, number_of
from websearch.pages.office.blocks import (
    PRIVATE,
    Cell,
    Item,
    Piece,
    cell_line,
    element,
    flattened,
    numbered,
    paragraph,
    symbol_table,
    table,
    with_code,
    with_lists,
    with_symbols,
)
from websearch.pages.office.equations import equation_pieces
from websearch.pages.office.numbering import OFF, Numbering, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from websearch.base.html_tree import Node
    from websearch.pages.office.archive import Archive

MAX_LEVEL = 8  # deepest list level, from 0
BODY_LEVEL = 9  # outline level of text that is not a heading
MAX_SPAN = 63  # columns, as in Word
MAX_INSTRUCTION = 4_000  # characters of a field's instruction
MAX_QUOTED = 200  # characters of the text that a comment refers to, and of an author's name
MAX_OPEN_COMMENTS = 20  # comments on the same text
MAX_BASES = 20  # length of a chain of base styles
# Transparent containers; elements without visible text, such as tracked deletions and moves.
WRAPPERS = frozenset("ins moveTo sdt sdtContent smartTag customXml dir bdo oMath oMathPara".split())
GONE = frozenset(("del", "moveFrom", "pPr", "rPr", "rt", "delText"))
COMMENT_MARKS = ("commentRangeStart", "commentRangeEnd")
MARKERS = frozenset(
    ("sym", "fldChar", "instrText", "footnoteReference", "endnoteReference", *COMMENT_MARKS)
)
MARKS = {"b": "strong", "i": "em", "strike": "del", "dstrike": "del"}
RAISED = {"superscript": "sup", "subscript": "sub"}
CHARACTERS = {
    "tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "\u2011", "ptab": " ",
}  # fmt: skip
# Kinds of styles, by English names, which files in all languages contain.
STYLES = {
    "title": "title$",
    "quote": "(?:intense )?quote$|quotations?$|block ?text$",
    "code": "html preformatted|preformatted|source ?code|code(?: ?block)?$|verbatim|plain ?text$",
}
_LINK_FIELD = r'\s*HYPERLINK\s+(?:\\[nt]\s+)*"([^"]+)"(?:\s+\\l\s+"([^"]+)")?'


class Style(NamedTuple):
    """A style. heading: its level from 1, or 0 for no heading; kind: a key of STYLES, or ""."""

    heading: int = 0
    kind: str = ""
    numbering: tuple[str, str] = ("", "")
    is_hidden: bool = False


class WordReader:
    """Reads a Word file's text. title: the first paragraph in the style Title.

    with_comments: whether to add the comments at the end.
    """

    def __init__(self, archive: Archive, name: str, with_comments: bool = False) -> None:
        self.archive = archive
        self.relations = archive.relations(name)
        styles = archive.tree(archive.part(name, "styles")).findall("style")
        self.style_elements = {style.get("styleId", ""): style for style in styles}
        self.styles: dict[str, Style] = {}
        self.numbering = Numbering(archive.tree(archive.part(name, "numbering")))
        self.notes = {
            kind: {note.get("id"): note for note in archive.tree(archive.part(name, f"{kind}s"))}
            for kind in ("footnote", "endnote")
        }
        # The instruction of each open field, and the URL to which its text links.
        self.fields: list[tuple[str, str]] = []
        self.note_numbers: dict[tuple[str, str | None], int] = {}  # notes by kind and id
        self.title = self.note = ""
        self.after: list[Node] = []  # notes and text boxes of the current paragraph
        self.in_note = self.in_margin = False
        comments = archive.tree(archive.part(name, "comments") if with_comments else "")
        self.comments = {comment.get("id", ""): comment for comment in comments}
        self.quoted: dict[str, str] = {}  # comment id -> text that it refers to
        self.open_comments: set[str] = set()
        self.is_hidden = False  # whether the current paragraph's style hides it

    def blocks_of(self, parent: Element) -> list[Node]:
        """Return the paragraphs, lists and tables in the body, a cell, a note or a text box."""
        return with_code(with_lists(self.parts_of(parent)))

    def body(self, parent: Element) -> list[Node]:
        """Return the blocks of the body between headers and footers, then the comments.

        Each comment has its author and the text that it refers to.
        """
        head, foot = (self.margin(parent, f"{name}Reference") for name in ("header", "footer"))
        blocks = [*head, *self.blocks_of(parent), *foot]
        self.open_comments.clear()
        items = []
        for number, comment in self.comments.items():
            blocks_of_comment = self.blocks_of(comment)
            author = one_line(comment.get("author", ""), MAX_QUOTED)
            quoted = one_line(self.quoted.get(number, ""), MAX_QUOTED)
            label = author + (f" on \u201c{quoted}\u201d" if quoted else "")
            if blocks_of_comment and label and blocks_of_comment[0].tag == "p":
                blocks_of_comment[0].children.insert(0, f"{label}: ")
            items += [Item(0, 0, blocks_of_comment)] if blocks_of_comment else []
        heading = [element("h2", "Comments")] if items else []
        return [*blocks, *heading, *with_lists(items)]

    def margin(self, body: Element, tag: str) -> list[Node]:
        """Return the paragraphs in page headers or footers, each once, without page numbers."""
        targets = (self.relations.get(reference.get("r:id", "")) for reference in body.iter(tag))
        names = dict.fromkeys(relation.target for relation in targets if relation)
        trees = [self.archive.tree(name) for name in names]
        for field in (inner for tree in trees for inner in tree.iter("sdt")):
            if field.find("sdtPr/showingPlcHdr") is not None:
                field.clear()  # "[Type here]"
        self.in_margin = True
        blocks = [block for tree in trees for block in self.blocks_of(tree)]
        self.in_margin = False
        lines = filter(None, (cell_line(part) for block in blocks for part in flattened(block)))
        words = (line for line in lines if any(map(str.isalpha, line)))  # not a typed page number
        return [element("p", line) for line in dict.fromkeys(words)]

    def comment(self, mark: Element) -> None:
        """Record the beginning or the end of the text that a comment refers to."""
        number = mark.get("id", "")
        is_known = number in self.comments and len(self.open_comments) < MAX_OPEN_COMMENTS
        if mark.tag == "commentRangeStart" and is_known:
            self.open_comments.add(number)
        else:
            self.open_comments.discard(number)

    def parts_of(self, parent: Element) -> Iterator[Node | Item]:
        """Yield the same blocks as blocks_of, but each list item separately."""
        for child in children(parent):
            if child.tag == "p":
                if self.archive.is_late():
                    return
                yield from self.archive.contained(self.paragraph, child)
            elif child.tag == "tbl":
                yield from self.archive.contained(self.table, child)
            elif child.tag in WRAPPERS:
                yield from self.parts_of(child)
            elif child.tag in COMMENT_MARKS:
                self.comment(child)

    def paragraph(self, parent: Element) -> Iterator[Node | Item]:
        """Yield a paragraph or list item, with its notes and text boxes after it."""
        outer, self.after = self.after, []
        properties = parent.find("pPr")
        style = self.style(value(properties, "pStyle"))
        level = number_of(value(properties, "outlineLvl"), BODY_LEVEL)
        heading = level + 1 if level < BODY_LEVEL else style.heading or int(style.kind == "title")
        was_hidden, self.is_hidden = self.is_hidden, style.is_hidden
        pieces = list(self.pieces(parent, (), ""))
        self.is_hidden = was_hidden
        blocks = paragraph(pieces, heading, style.kind)
        if style.kind == "title" and not self.title:
            self.title = "".join(piece.text for piece in pieces)
        after, self.after = self.after, outer
        item = self.item(properties, style, blocks) if blocks else None
        yield from [item._replace(blocks=[*blocks, *after])] if item else [*blocks, *after]

    def style(self, style_id: str, depth: int = 0) -> Style:
        """Return a style with the properties that it inherits."""
        definition = self.style_elements.get(style_id)
        if definition is None or depth > MAX_BASES:
            return Style()
        if style_id not in self.styles:
            base = self.style(value(definition, "basedOn"), depth + 1)
            name = value(definition, "name").lower()
            heading = re.fullmatch(r"heading ([1-9])", name)
            level = number_of(value(definition.find("pPr"), "outlineLvl"), BODY_LEVEL)
            numbers, look = definition.find("pPr/numPr"), definition.find("rPr")
            is_set = look is not None and look.find("vanish") is not None
            inherited = "" if base.kind == "title" else base.kind  # subtitles and authors
            self.styles[style_id] = Style(
                int(heading[1]) if heading else (level + 1) % (BODY_LEVEL + 1) or base.heading,
                next((kind for kind, names in STYLES.items() if re.match(names, name)), inherited),
                base.numbering if numbers is None
                else (value(numbers, "numId"), value(numbers, "ilvl")),
                is_on(look, "vanish") if is_set else base.is_hidden,
            )  # fmt: skip
        return self.styles[style_id]

    def item(self, properties: Element | None, style: Style, blocks: list[Node]) -> Item | None:
        """Return the list item for a paragraph, without its blocks; None if there is no list item.

        A heading's label, or a label that a Markdown list cannot show, is put before the text.
        """
        numbering = properties.find("numPr") if properties is not None else None
        number_id = value(numbering, "numId") or style.numbering[0]
        depth = number_of(value(numbering, "ilvl") or style.numbering[1], 0, MAX_LEVEL)
        if number_id not in self.numbering.levels or blocks[0].tag in ("pre", "blockquote"):
            return None
        number, label = self.numbering.next(number_id, depth)
        is_item = blocks[0].tag == "p"
        if label and not (is_item and label.rstrip(".)") == str(number)):
            blocks[0].children.insert(0, f"{label} ")
            number = 0
        return Item(depth, number, []) if is_item else None

    def pieces(self, parent: Element, marks: tuple[str, ...], target: str) -> Iterator[Piece]:
        """Yield the pieces in a paragraph or in an element inside it."""
        for child in children(parent):
            tag = child.tag
            if tag == "r":
                if not self.is_hidden_run(child):
                    yield from self.pieces(child, run_marks(child) or marks, target)
            elif tag == "t":
                text = with_symbols(child.text or "", font_of(parent))
                for number in self.open_comments:
                    self.quoted[number] = (self.quoted.get(number, "") + text)[:MAX_QUOTED]
                if not (self.in_margin and any(map(is_page_number, self.fields))):
                    yield Piece(text, marks, target or self.field_target())
            elif tag in CHARACTERS:
                ends_page = child.get("type") in ("page", "column")
                yield Piece(" " if ends_page else CHARACTERS[tag], marks, target)
            elif tag in MARKERS:
                yield from self.marker(child, marks)
            elif tag == "txbxContent":
                self.after += self.blocks_of(child)
            elif tag not in GONE:
                yield from self.inner(child, marks, target)

    def marker(self, marker: Element, marks: tuple[str, ...]) -> Iterator[Piece]:
        """Yield the text of a symbol, note reference or check box; record other markers."""
        tag = marker.tag
        if tag == "sym":
            yield Piece(symbol(marker.get("char", ""), marker.get("font", "")), marks)
        elif tag in COMMENT_MARKS:
            self.comment(marker)
        elif tag.endswith("Reference"):
            yield from self.note_mark(tag.removesuffix("Reference"), marker.get("id"))
        else:
            self.field(marker)
            if (box := marker.find("ffData/checkBox")) is not None:
                name = "checked" if box.find("checked") is not None else "default"
                yield Piece(CHECKED if is_on(box, name) else UNCHECKED, marks)

    def is_hidden_run(self, run: Element) -> bool:
        """Return whether a run, its style or its paragraph's style hides its text."""
        properties = run.find("rPr")
        if properties is not None and properties.find("vanish") is not None:
            return is_on(properties, "vanish")
        return self.is_hidden or self.style(value(properties, "rStyle")).is_hidden

    def inner(self, child: Element, marks: tuple[str, ...], target: str) -> Iterator[Piece]:
        """Yield the pieces of a link, an equation or a container."""
        if child.tag == "hyperlink":
            target = address_of(self.relations, child, child.get("anchor", "")) or target
        elif child.tag == "fldSimple":
            if self.in_margin and is_page_number((child.get("instr", ""), "")):
                return
            target = link_target(child.get("instr", "")) or target
        elif child.tag == "oMath":
            yield from equation_pieces(child, marks)
            return
        yield from self.pieces(child, marks, target)

    def field(self, part: Element) -> None:
        """Open, extend or close a field that spans several runs, such as a link."""
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
        """Return the URL that text in the open fields links to, or ""."""
        return self.fields[-1][1] if self.fields else ""

    def note_mark(self, kind: str, note_id: str | None) -> Iterator[Piece]:
        """Yield a note's number; the note's text follows the paragraph with the first reference."""
        note = self.notes[kind].get(note_id)
        if note is None or self.in_note:
            return
        if (kind, note_id) not in self.note_numbers:
            number = self.note_numbers[kind, note_id] = len(self.note_numbers) + 1
            self.in_note = True
            self.after += numbered(number, self.blocks_of(note))
            self.in_note = False
        number = self.note_numbers[kind, note_id]
        yield Piece(str(number), ("sup",), f"#note-{number}")

    def table(self, parent: Element) -> list[Node]:
        """Return a table; a cell that continues the cells above makes the first of them higher."""
        merged: dict[int, Cell] = {}  # column -> the merged cell that begins in it
        rows: list[list[Cell]] = []
        heads = 0
        for row in rows_of(parent):
            if self.archive.is_late():
                break
            properties = row.find("trPr")
            heads += is_on(properties, "tblHeader") and heads == len(rows)
            column = number_of(value(properties, "gridBefore"), 0, MAX_SPAN)
            rows.append([Cell([], column)] if column else [])
            for part in cells_of(row):
                look = part.find("tcPr")
                width = number_of(value(look, "gridSpan"), 1, MAX_SPAN)
                merge = look.find("vMerge") if look is not None else None
                is_merged = merge is not None and merge.get("val", "continue") == "continue"
                if is_merged and column in merged:
                    merged[column].height += 1
                else:
                    cell = Cell([] if is_merged else self.blocks_of(part), width)
                    rows[-1].append(cell)
                    merged.pop(column, None)
                    if merge is not None and not is_merged:
                        merged[column] = cell
                column += width
        return table(rows, heads, self.archive.is_late)


def rows_of(parent: Element) -> Iterator[Element]:
    """Yield the rows of a table that are not deleted, including rows inside containers."""
    for row in parent:
        if row.tag in WRAPPERS:
            yield from rows_of(row)
        elif row.tag == "tr" and row.find("trPr/del") is None:
            yield row


def cells_of(row: Element) -> Iterator[Element]:
    """Yield the cells in a row, including cells inside containers."""
    for child in row:
        if child.tag == "tc":
            yield child
        elif child.tag in WRAPPERS:
            yield from cells_of(child)


def link_target(field: str) -> str:
    """Return the URL in a link field; "" for other fields."""
    link = re.match(_LINK_FIELD, field)
    return link[1] + (f"#{link[2]}" if link[2] else "") if link else ""


def is_page_number(field: tuple[str, str]) -> bool:
    """Return whether a field (instruction, URL) is a page number or the number of pages."""
    return re.match(r"(?i)\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b", field[0]) is not None


def is_on(properties: Element | None, name: str) -> bool:
    """Return whether a property is present and on."""
    found = properties.find(name) if properties is not None else None
    return found is not None and found.get("val", "1") not in OFF


def run_marks(run: Element) -> tuple[str, ...]:
    """Return the tags for a run's format: bold, italic, strikethrough, superscript, subscript."""
    properties = run.find("rPr")
    if properties is None:
        return ()
    raised = RAISED.get(value(properties, "vertAlign"), "")
    if raised:
        return (raised,)
    return tuple(dict.fromkeys(mark for name, mark in MARKS.items() if is_on(properties, name)))


def symbol(code: str, font: str) -> str:
    """Return a symbol's character; "" if its font is not known."""
    number = int(code, 16) if re.fullmatch("[0-9a-fA-F]{1,4}", code) else PRIVATE
    if number >= PRIVATE or symbol_table(font):
        return symbol_table(font).get(PRIVATE | number & 0xFF, "")
    return "" if 0xD800 <= number < 0xF900 or number < 0x20 else chr(number)


def font_of(run: Element) -> str:
    """Return the name of the font that a run sets for its symbols, or ""."""
    fonts = run.find("rPr/rFonts")
    return fonts.get("ascii", fonts.get("hAnsi", "")) if fonts is not None else ""
