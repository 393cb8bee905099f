"""Put prose in two columns that was drawn row by row into reading order.

Most PDF writers draw a column as a whole, so the page content has the right order. Prose that was
drawn row by row has equally spaced rows with an empty gutter between two parts. These parts fill
their columns, begin at the same two positions and are words. A table fails one of these tests.
"""

from __future__ import annotations

import itertools
import re
import statistics

from websearch.pages.pdf.text_lines import SAME_LINE, visible_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.shown_text import Piece

    Row = tuple[list[Piece], list[Piece]]  # the parts of a row in the left and the right column

HORIZONTAL = 0.99  # minimum cosine of a row's direction
MIN_ROWS = 4
MIN_GUTTER = 1.0  # font sizes
SAME_DROP, SAME_SIZE = 1.2, 1.1  # ratios of the distances and sizes of rows
MIN_WORDS = 3.5  # average words per part of a row
MIN_FULL, FULL = 0.6, 0.75  # share of parts that fill the share FULL of their column's width
MAX_INDENT = 0.5  # font sizes between parts that count as beginning at the same position
MIN_ALIGNED = 0.7  # share of parts that begin at the same position
MAX_NUMBERS = 0.15  # maximum share of words that are numbers


def down_columns(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces of a page with its columns of prose one after the other.

    If the page has no such columns, return the same list.
    """
    result: list[Piece] = []
    run: list[Row] = []
    gutter = (0.0, 0.0)  # gutter of the current run
    for row in [*rows_of(pieces), []]:
        parts = in_parts(row)
        shared = gutter_of(parts, gutter if run else None) if parts else None
        if run and not (parts and shared and follows(run, parts)):
            result += in_columns(run)
            run = []
        if parts:
            gutter = (shared if run else None) or gutter_of(parts, None) or gutter
            run.append(parts)
        else:
            result += row
    return pieces if result == pieces else result


def rows_of(pieces: list[Piece]) -> list[list[Piece]]:
    """Return the runs of consecutive pieces on a baseline from left to right."""
    rows: list[list[Piece]] = []
    for piece in pieces:
        before = rows[-1][-1] if rows else piece
        near = abs(piece.across - before.across) < SAME_LINE * piece.size
        if rows and near and piece.direction == before.direction and piece.start >= before.start:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def in_parts(row: list[Piece]) -> Row | None:
    """Return the parts of a row left and right of its widest gap; None if no gap is wide."""
    pairs = enumerate(itertools.pairwise(row), 1)
    gaps = [(right.start - visible_end(left), at) for at, (left, right) in pairs]
    width, at = max(gaps, default=(0.0, 0))
    if not at or width < MIN_GUTTER * row[0].size or row[0].direction[0] < HORIZONTAL:
        return None
    return row[:at], row[at:]


def gutter_of(row: Row, shared: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the start and end of the gap in a row; None if the gap is too narrow.

    shared: the gap shared by previous rows, which limits the gap in this row.
    """
    begin, end = visible_end(row[0][-1]), row[1][0].start
    if shared:
        begin, end = max(begin, shared[0]), min(end, shared[1])
    return (begin, end) if end - begin > MIN_GUTTER * row[0][0].size else None


def follows(run: list[Row], row: Row) -> bool:
    """Return whether a row continues a run, by its distance and size."""
    sizes = [parts[0][0].size for parts in (run[-1], row)]
    drop = run[-1][0][0].across - row[0][0].across
    first = run[0][0][0].across - run[1][0][0].across if len(run) > 1 else drop
    is_same = first / SAME_DROP < drop < first * SAME_DROP
    return drop > 0 and is_same and max(sizes) < SAME_SIZE * min(sizes)


def in_columns(run: list[Row]) -> list[Piece]:
    """Return the pieces in rows, column by column if they are prose."""
    if len(run) < MIN_ROWS or not all(is_prose([row[side] for row in run]) for side in (0, 1)):
        return [piece for row in run for part in row for piece in part]
    return [piece for side in (0, 1) for row in run for piece in row[side]]


def is_prose(parts: list[list[Piece]]) -> bool:
    """Return whether the parts of rows in one column are lines of prose."""
    words = " ".join(piece.text for part in parts for piece in part).split()
    starts = [part[0].start for part in parts]
    begin, end = statistics.median(starts), max(visible_end(part[-1]) for part in parts)
    full = sum(visible_end(part[-1]) - part[0].start > FULL * (end - begin) for part in parts)
    aligned = sum(abs(start - begin) < MAX_INDENT * parts[0][0].size for start in starts)
    numbers = sum(bool(re.match(r"\W{0,3}\d", word)) for word in words)
    return (
        len(words) >= MIN_WORDS * len(parts)
        and full >= MIN_FULL * len(parts)
        and aligned >= MIN_ALIGNED * len(parts)
        and numbers <= MAX_NUMBERS * len(words)
    )
