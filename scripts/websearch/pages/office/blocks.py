"""Build HTML elements from office files, for the writer that converts pages to Markdown."""

from __future__ import annotations

import functools
import itertools
import re
from dataclasses import dataclass
from typing import NamedTuple

from websearch.base.html_tree import Node, texts_below
from websearch.kit import one_line
from websearch.pages.extract.element_names import is_decorative_alt
from websearch.pages.extract.rewriting import CHECKED, UNCHECKED
from websearch.pages.pdf.encodings import encoding_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

RAISED = (("sup",), ("sub",))  # tags for superscript and subscript
MAX_DESCRIPTION = 500  # characters in a picture's description
ARROWS = "←→↑↓↖↗↙↘"
CIRCLED = "⓪①②③④⑤⑥⑦⑧⑨⑩"
FILLED = "⓿❶❷❸❹❺❻❼❽❾❿"
# Code in a symbol font -> text, for boxes, check marks, arrows, numbers, bullets and faces.
DINGBATS: dict[str, dict[int, str]] = {
    "Wingdings": {
        **dict.fromkeys((0x78, 0xFD, 0xFE), CHECKED),
        **dict.fromkeys((0x6F, 0x71, 0x72, 0xA8), UNCHECKED),
        **dict(zip(range(0x80, 0x8B), CIRCLED, strict=True)),
        **dict(zip(range(0x8B, 0x96), FILLED, strict=True)),
        **dict(zip(range(0xDF, 0xE7), ARROWS, strict=True)),
        **dict(zip(range(0xE7, 0xEF), ARROWS, strict=True)),
        **dict(zip(range(0xEF, 0xF5), "⇦⇨⇧⇩⬄⇳", strict=True)),
        0x28: "☎", 0x2A: "✉", 0x4A: "☺", 0x4C: "☹", 0x6C: "●",
        0x6E: "■", 0x75: "◆", 0x76: "❖", 0x9F: "•", 0xA7: "▪",
        0xAB: "★", 0xD8: "➢", 0xFB: "✗", 0xFC: "✓",
    },
    "Wingdings 2": {
        **dict.fromkeys((0x51, 0x52, 0x53, 0x54), CHECKED),
        **dict.fromkeys((0x2A, 0xA3), UNCHECKED),
        **dict(zip(range(0x69, 0x74), CIRCLED, strict=True)),
        **dict(zip(range(0x74, 0x7F), FILLED, strict=True)),
        0x4F: "✗", 0x50: "✓",
    },
    "Webdings": {0x61: "✓", 0x72: "✗"},
}  # fmt: skip
PRIVATE = 0xF000  # added to the code of a character in a symbol font
_FILE_NAME = r"(?i)(?:fig: )?\S{0,300}\.(?:png|jpe?g|gif|svg|emf|wmf|bmp|tiff?|webp)"


class Piece(NamedTuple):
    """A piece of a line. marks: the tags around it; target: the URL that it links to."""

    text: str
    marks: tuple[str, ...] = ()
    target: str = ""


@dataclass(slots=True)
class Cell:
    """A table cell: its blocks, and the columns and rows that it spans."""

    blocks: list[Node]
    width: int = 1
    height: int = 1


class Item(NamedTuple):
    """A list item: its level from 0, its number (0 for a bullet) and its blocks."""

    level: int
    number: int
    blocks: list[Node]


@functools.cache
def symbol_table(font: str) -> Mapping[int, str]:
    """Return character code + PRIVATE -> text for a symbol font; empty for other fonts."""
    table = DINGBATS.get(font, {})
    if font == "Symbol":
        table = {code: text for code, text in enumerate(encoding_table(font)) if text.strip()}
    return {PRIVATE + code: text for code, text in table.items()}


def with_symbols(text: str, font: str) -> str:
    """Return text with the characters of a symbol font converted to Unicode."""
    return text if text.isascii() else text.translate(symbol_table(font))


def element(tag: str, *children: Node | str, **attributes: str) -> Node:
    """Return an HTML element."""
    node = Node(tag, attributes, None)
    node.children = list(children)
    for child in children:
        if isinstance(child, Node):
            child.parent = node
    return node


def paragraph(pieces: list[Piece], heading: int = 0, kind: str = "") -> list[Node]:
    """Return pieces as a list with one block: a heading, code, quotation or paragraph.

    heading: the level, or 0. kind: "code", "quote" or "". The list is empty if there is no text,
    except in code, where lines may be empty. Headings and code have no emphasis.
    """
    text = "".join(piece.text for piece in pieces)
    if kind == "code":
        return [element("pre", text)]
    if not text.strip():
        return []
    if heading:
        plain = (
            piece._replace(marks=piece.marks if piece.marks in RAISED else ()) for piece in pieces
        )
        return [element(f"h{min(heading, 6)}", *line(plain))]
    block = element("p", *line(pieces))
    return [element("blockquote", block)] if kind == "quote" else [block]


def line(pieces: Iterable[Piece]) -> list[Node | str]:
    """Return pieces as the content of a block; join adjacent pieces with the same format."""
    content: list[Node | str] = []
    for target, linked in itertools.groupby(pieces, key=lambda piece: piece.target):
        inside: list[Node | str] = []
        for marks, same in itertools.groupby(linked, key=lambda piece: piece.marks):
            inside += marked("".join(piece.text for piece in same), marks)
        content += [element("a", *inside, href=target)] if target else inside
    return content


def marked(text: str, marks: tuple[str, ...]) -> list[Node | str]:
    """Return text inside the elements listed in marks, with line breaks outside those elements."""
    content: list[Node | str] = []
    for number, part in enumerate(text.split("\n")):
        content += [element("br")] if number else []
        if part.strip():
            inner: Node | str = part
            for mark in marks:
                inner = element(mark, inner)
            content.append(inner)
        elif part:
            content.append(part)
    return content


def numbered(number: int, blocks: list[Node]) -> list[Node]:
    """Return a note's blocks with its number in front."""
    if blocks and blocks[0].tag == "p":
        blocks[0].children.insert(0, f"[{number}] ")
    return blocks


def slide(title: str, number: int, blocks: list[Node], notes: list[Node]) -> list[Node]:
    """Return a slide's heading and blocks, and the speaker notes as a quotation.

    number: the slide's number, or 0 for the only slide. A slide without text returns
    [].
    """
    if any(map(has_text, notes)):
        label = element("p", element("strong", "Notes"))
        blocks = [*blocks, element("blockquote", label, *notes)]
    if title or any(map(has_text, blocks)):
        heading = title or (f"Slide {number}" if number else "")
        return [*([element("h2", heading)] if heading else []), *blocks]
    return []


def image(description: str) -> list[Node]:
    """Return a list with a picture's description; [] if it is decorative or only a file name."""
    text = one_line(description, MAX_DESCRIPTION)
    if not text or re.fullmatch(_FILE_NAME, text) or is_decorative_alt(text):
        return []
    return [element("p", f"[image: {text}]")]


def hidden_note(where: str = "", **counts: int) -> str:
    """Return a note that counts hidden things; "" if there are none. counts: name -> number."""
    hidden = [f"{count} {name}{'s' * (count > 1)}" for name, count in counts.items() if count]
    return f"Omitted because hidden{where}: {' and '.join(hidden)}." if hidden else ""


def has_text(node: Node) -> bool:
    """Return whether an element contains text."""
    return any(text.strip() for text in texts_below(node))


def with_lists(blocks: Iterable[Node | Item]) -> list[Node]:
    """Return blocks with items combined into nested lists."""
    result: list[Node] = []
    lists: list[tuple[int, Node]] = []  # the open lists and their levels
    for block in blocks:
        if isinstance(block, Node):
            lists.clear()
            result.append(block)
            continue
        tag = "ol" if block.number else "ul"
        while lists and lists[-1][0] > block.level:
            lists.pop()
        if lists and lists[-1][0] == block.level and not continues(lists[-1][1], tag, block.number):
            lists.pop()
        if not lists or lists[-1][0] < block.level:
            opened = element(tag, start=str(block.number))
            above = lists[-1][1].children[-1] if lists else None
            if isinstance(above, Node):
                above.children.append(opened)
            else:
                result.append(opened)
            lists.append((block.level, opened))
        lists[-1][1].children.append(element("li", *block.blocks))
    return result


def continues(opened: Node, tag: str, number: int) -> bool:
    """Return whether an item continues an open list, by its kind and number."""
    next_number = int(opened.attributes["start"]) + len(opened.children)
    return opened.tag == tag and (tag == "ul" or number == next_number)


def with_code(blocks: Iterable[Node]) -> list[Node]:
    """Return blocks with consecutive code blocks, and consecutive quotations, merged."""
    result: list[Node] = []
    for block in blocks:
        before = result[-1] if result else None
        if before and before.tag == block.tag == "pre":
            before.children += ["\n", *block.children]
        elif before and before.tag == block.tag == "blockquote":
            before.children += block.children
        else:
            result.append(block)
    return result


def table(
    rows: Iterable[list[Cell]], heads: int, is_late: Callable[[], bool] = lambda: False
) -> list[Node]:
    """Return rows of cells as a table like those of web pages; a single column becomes its blocks.

    heads: number of header rows; 0 if the file does not say. Then it is 1, or the number of rows
    that cells of the first row span if others span columns. is_late: returns whether to omit the
    remaining rows.
    """
    filled: list[list[Cell]] = []
    below = 0  # column -> number of rows that a cell above still spans
    for row in rows:
        if below or any(has_text(block) for cell in row for block in cell.blocks):
            filled.append(row)
            below = max([below, *(cell.height for cell in row)]) - 1
    if max((sum(cell.width for cell in row) for row in filled), default=0) < 2:
        return [block for row in filled for cell in row for block in cell.blocks]
    is_wide = any(cell.width > 1 and cell.height == 1 for cell in filled[0])
    heads = heads or (max(cell.height for cell in filled[0]) if is_wide else 1)
    parts: list[Node] = []
    for number, row in enumerate(filled):
        if is_late():
            break
        cells = []
        for part in row:
            flat = (inner for block in part.blocks for inner in flattened(block))
            spans = {"colspan": str(part.width), "rowspan": str(part.height)}
            cell = element("td" if number >= heads else "th", *flat, **spans)
            cell.chars = sum(len(text.strip()) for text in texts_below(cell))
            cells.append(cell)
        parts.append(element("tr", *cells))
    return [element("table", *parts)]


def flattened(block: Node) -> list[Node]:
    """Return a block in a cell as paragraphs: cells cannot contain headings, tables or code."""
    if block.tag == "table":
        rows = (row for row in block.children if isinstance(row, Node))
        return [element("p", "; ".join(filter(None, map(cell_line, row.children)))) for row in rows]
    if block.tag[0] == "h" or block.tag == "pre":
        return [element("p", *block.children)]
    return [block]


def cell_line(cell: Node | str) -> str:
    """Return the text of a cell on one line."""
    return "" if isinstance(cell, str) else " ".join("".join(texts_below(cell)).split())
