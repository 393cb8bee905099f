"""Find the ruled lines on a page and the grids that they form (ISO 32000-1, 8.5).

Drawn lines and the edges of rectangles are treated alike. All positions are in the page's units;
along and across have the same meaning as for text.
"""

from __future__ import annotations

import bisect

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.shown_text import Matrix

    Segment = tuple[float, float, float, float]  # x and y of the lower left and upper right end
    Ruling = tuple[float, float, float]  # position, start and end

MAX_SEGMENTS = 20_000  # lines per page; a page with more is a drawing
MAX_RULINGS = 200  # lines per direction, after collinear lines are joined
MAX_EDGES = 60  # vertical lines per grid
SNAP = 2.5  # points between lines that count as equal or touching
MIN_CELL = 8.0  # points; minimum width of a column and height of a row
THIN = 3.0  # points; thinner rectangles are lines, and shorter lines are ignored


class Path:
    """Collects the horizontal and vertical lines on a page. segments: the painted lines."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self.pending: list[Segment] = []
        self.point = self.start = (0.0, 0.0)

    def move(self, x: float, y: float) -> None:
        """Begin a line."""
        self.point = self.start = (x, y)

    def line(self, x: float, y: float, matrix: Matrix) -> None:
        """Draw a line from the current point."""
        a, b, c, d, e, f = matrix
        u, v = self.point
        x0, y0, x1, y1 = a * u + c * v + e, b * u + d * v + f, a * x + c * y + e, b * x + d * y + f
        self.point = (x, y)
        width, height = abs(x1 - x0), abs(y1 - y0)
        if min(width, height) < 1 and max(width, height) > THIN:
            self.pending.append((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))

    def rectangle(self, x: float, y: float, width: float, height: float, matrix: Matrix) -> None:
        """Draw the edges of a rectangle, or only its middle line if it is thin."""
        a, b, c, d, _, _ = matrix
        if abs(width) * (abs(a) + abs(b)) < THIN:
            lines = [(x + width / 2, y, x + width / 2, y + height)]
        elif abs(height) * (abs(c) + abs(d)) < THIN:
            lines = [(x, y + height / 2, x + width, y + height / 2)]
        else:
            right, top = x + width, y + height
            lines = [(x, y, right, y), (x, top, right, top), (x, y, x, top), (right, y, right, top)]
        for x0, y0, x1, y1 in lines:
            self.move(x0, y0)
            self.line(x1, y1, matrix)
        self.move(x, y)

    def paint(self) -> None:
        """Paint the drawn lines."""
        self.segments += self.pending
        self.pending = []

    def is_full(self) -> bool:
        """Return whether the path has more than MAX_SEGMENTS lines."""
        return len(self.segments) + len(self.pending) > MAX_SEGMENTS

    def drop(self) -> None:
        """Discard the drawn lines without painting them."""
        self.pending = []


class Grid:
    """A grid of lines that cross each other.

    edges: vertical lines as (along, bottom, top). levels: horizontal lines as (across, left,
    right).
    columns and rows: the sorted positions of edges and levels, without duplicates.
    """

    def __init__(self, levels: list[Ruling], edges: list[Ruling]) -> None:
        self.levels, self.edges = levels, edges
        self.columns = open_ends({along for along, _, _ in edges}, levels)
        self.rows = open_ends({across for across, _, _ in levels}, edges)

    def add_edges(self, edges: list[Ruling]) -> None:
        """Add upright lines."""
        self.edges = [*self.edges, *edges]
        self.columns = sorted({*self.columns, *(along for along, _, _ in edges)})

    def cell(self, along: float, across: float) -> tuple[int, int] | None:
        """Return the row and column of the cell around a point; None outside the grid.

        For a merged cell, these are its first row and column. Rows count from the top.
        """
        column = bisect.bisect(self.columns, along) - 1
        row = bisect.bisect(self.rows, across) - 1
        if not (0 <= column < len(self.columns) - 1 and 0 <= row < len(self.rows) - 1):
            return None
        passed = [line[0] for line in self.edges if line[1] <= across <= line[2]]
        if any(self.columns[0] < place < self.columns[-1] for place in passed):
            while column and self.columns[column] not in passed:
                column -= 1
        passed = [line[0] for line in self.levels if line[1] <= along <= line[2]]
        while row < len(self.rows) - 2 and self.rows[row + 1] not in passed:
            row += 1
        return len(self.rows) - 2 - row, column

    def is_cut(self, start: float, end: float, across: float) -> bool:
        """Return whether an upright line passes between two positions on a line of text."""
        return any(start < line[0] < end and line[1] <= across <= line[2] for line in self.edges)


def open_ends(places: set[float], crossing: list[Ruling]) -> list[float]:
    """Return the sorted positions of lines, plus the edges of a grid without a border."""
    ends = [min(line[1] for line in crossing), max(line[2] for line in crossing)]
    ordered = sorted(places)
    return [
        *(ends[:1] if ordered[0] - ends[0] > MIN_CELL else []),
        *ordered,
        *(ends[1:] if ends[1] - ordered[-1] > MIN_CELL else []),
    ]


def find_grids(segments: list[Segment], direction: tuple[float, float]) -> list[Grid]:
    """Return the grids on a page that have at least two rows and columns."""
    if len(segments) > MAX_SEGMENTS:
        return []
    dx, dy = direction
    level: list[Ruling] = []
    upright: list[Ruling] = []
    for x0, y0, x1, y1 in segments:
        left, right = sorted((x0 * dx + y0 * dy, x1 * dx + y1 * dy))
        bottom, top = sorted((y0 * dx - x0 * dy, y1 * dx - x1 * dy))
        if top - bottom < right - left:
            level.append(((bottom + top) / 2, left, right))
        else:
            upright.append(((left + right) / 2, bottom, top))
    levels, edges = joined(level), joined(upright)
    if len(levels) > MAX_RULINGS or len(edges) > MAX_RULINGS:
        return []
    grids = connected(levels, edges)
    return [grid for grid in grids if 2 < len(grid.columns) <= MAX_EDGES and len(grid.rows) > 2]


def joined(rulings: list[Ruling]) -> list[Ruling]:
    """Join collinear lines that touch."""
    groups: list[list[Ruling]] = []
    for ruling in sorted(rulings):
        if groups and ruling[0] - groups[-1][-1][0] < SNAP:
            groups[-1].append(ruling)
        else:
            groups.append([ruling])
    result: list[Ruling] = []
    for group in groups:
        place = group[0][0]
        for start, end in sorted(ruling[1:] for ruling in group):
            if result and result[-1][0] == place and start - result[-1][2] < SNAP:
                result[-1] = (place, result[-1][1], max(result[-1][2], end))
            else:
                result.append((place, start, end))
    return result


def connected(levels: list[Ruling], edges: list[Ruling]) -> list[Grid]:
    """Return a grid for each group of lines that cross each other."""
    parents = list(range(len(levels) + len(edges)))

    def root(index: int) -> int:
        while parents[index] != index:
            parents[index] = index = parents[parents[index]]
        return index

    for row, (across, start, end) in enumerate(levels):
        for column, (along, bottom, top) in enumerate(edges, len(levels)):
            if start - SNAP <= along <= end + SNAP and bottom - SNAP <= across <= top + SNAP:
                parents[root(column)] = root(row)
    groups: dict[int, tuple[list[Ruling], list[Ruling]]] = {}
    for index, ruling in enumerate([*levels, *edges]):
        groups.setdefault(root(index), ([], []))[index >= len(levels)].append(ruling)
    return [Grid(*group) for group in groups.values() if all(group)]
