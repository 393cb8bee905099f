"""Find the visible lines on a page, regardless of their order in the content stream.

A line is the text on a baseline. Its chunks are the parts between gaps that are as wide as those
between columns.
"""

from __future__ import annotations

import itertools

from websearch.pages.pdf.bidi import WORD_GAP
from websearch.pages.pdf.scripts import LineText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.shown_text import Piece

# Distances in font sizes.
SAME_LINE = 0.4  # vertical distance: a larger distance starts another line
CHUNK_GAP = 0.65  # along: a smaller gap is between words
NUMBER_GAP = 0.4  # along: the same between two numbers
SPACE_WIDTH = 0.25


class Chunk:
    """Pieces of a line without a wide gap between them: a cell of a table or part of a cell."""

    __slots__ = ("end", "pieces", "start", "text")

    def __init__(self, pieces: list[Piece]) -> None:
        self.pieces = pieces
        self.start, self.end = pieces[0].start, max(map(visible_end, pieces))
        line = LineText(pieces[0], True)
        for before, piece in itertools.pairwise(pieces):
            line.add(piece, " " if piece.start - before.end > WORD_GAP * piece.size else "")
        self.text = " ".join(line.text().split())

    def middle(self) -> float:
        """Return the position of the chunk's middle."""
        return (self.start + self.end) / 2


class TextLine:
    """A line: its chunks from left to right, its size and the height of its baseline (across)."""

    __slots__ = ("across", "chunks", "size")

    def __init__(self, pieces: list[Piece]) -> None:
        pieces.sort(key=lambda piece: piece.start)
        self.across = pieces[0].across
        self.size = max(piece.size for piece in pieces)
        groups = [pieces[:1]]
        end = visible_end(pieces[0])
        for before, piece in itertools.pairwise(pieces):
            numbers = before.text.rstrip()[-1:].isdigit() and piece.text.lstrip()[:1].isdigit()
            if piece.start - end > (NUMBER_GAP if numbers else CHUNK_GAP) * piece.size:
                groups.append([])
            groups[-1].append(piece)
            end = max(end, visible_end(piece))
        self.chunks = [Chunk(group) for group in groups]

    def pieces(self) -> list[Piece]:
        """Return the pieces on the line."""
        return [piece for chunk in self.chunks for piece in chunk.pieces]

    def word_count(self) -> int:
        """Return the number of words on the line."""
        return sum(len(chunk.text.split()) for chunk in self.chunks)


def text_lines(pieces: list[Piece]) -> list[TextLine]:
    """Return the lines of pieces with the same direction, from top to bottom."""
    groups: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: -piece.across):
        if groups and groups[-1][0].across - piece.across < SAME_LINE * piece.size:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return [TextLine(group) for group in groups]


def visible_end(piece: Piece) -> float:
    """Return the end of a piece without its trailing spaces."""
    spaces = len(piece.text) - len(piece.text.rstrip())
    return piece.end - spaces * SPACE_WIDTH * piece.size
