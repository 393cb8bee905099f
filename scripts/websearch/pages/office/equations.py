"""Write Word and PowerPoint equations (OMML) as pieces of a line (ECMA-376, part 1, 22.1)."""

from __future__ import annotations

import re

from websearch.pages.office.archive import children
from websearch.pages.office.blocks import Piece
from websearch.pages.office.numbering import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

GONE = ("del", "moveFrom")  # deleted or moved by tracked changes
_OPERATION = r"[^\w.]"  # an operand with such a character needs parentheses on a line


def equation_pieces(parent: Element, marks: tuple[str, ...]) -> Iterator[Piece]:
    """Yield the pieces of an equation or of a part of it. marks: see blocks.Piece."""
    if parent.tag == "nary":  # a sum, product or integral with its limits
        yield Piece(value(parent.find("naryPr"), "chr") or "\u222b", marks)
    for child in children(parent):
        if child.tag == "t":
            yield Piece(child.text or "", marks)
        elif child.tag in ("sup", "sub"):
            yield from equation_pieces(child, (child.tag,))
        elif child.tag in ("num", "den", "deg", "e") and parent.tag in ("f", "rad", "d"):
            yield from operand(child, parent, marks)
        elif child.tag not in GONE:
            yield from equation_pieces(child, marks)


def operand(part: Element, equation: Element, marks: tuple[str, ...]) -> Iterator[Piece]:
    """Yield a part of a fraction, root or bracketed expression, written on one line."""
    pieces = list(equation_pieces(part, marks))
    before, after = {"den": "/", "e": "\u221a"}.get(part.tag, ""), ""
    if equation.tag == "d":
        properties = equation.find("dPr")
        before = value(properties, "begChr") or "("
        after = value(properties, "endChr") or ")"
    elif re.search(_OPERATION, "".join(piece.text for piece in pieces).strip()):
        before, after = f"{before}(", ")"
    yield from [Piece(before, marks), *pieces, Piece(after, marks)]
