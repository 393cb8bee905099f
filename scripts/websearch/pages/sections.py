"""Parts of a long text: its headings with their places, one section, literal places of a text.

All three are views of the Markdown of a page. Offsets count characters of the whole text, as the
parameter offset does.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from websearch.common import SearchError, one_line, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_HEADINGS = 1_000  # of an outline; longer ones are generated lists
MAX_PLACES = 20  # of a text that is found; the number of all is told
AROUND = 200  # characters on each side of a place
HEADING_CHARS = 200
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")


class Heading(NamedTuple):
    """A heading of a text: its level, its words, where it begins and where its section ends."""

    level: int
    text: str
    start: int
    end: int


def find_headings(text: str) -> list[Heading]:
    """Return the headings of a text in Markdown; what stands in a block of code is none.

    A section ends where a heading of its level or a higher one begins.
    """
    starts: list[tuple[int, str, int]] = []
    fence, offset = "", 0
    for line in text.split("\n"):
        if mark := FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence):
                fence = ""
        elif not fence and (heading := HEADING.match(line)) and len(starts) < MAX_HEADINGS:
            words = one_line(heading[2].rstrip("# \t"), HEADING_CHARS)
            starts.append((len(heading[1]), words, offset))
        offset += len(line) + 1
    headings: list[Heading] = []
    open_levels: list[int] = []  # indexes of headings whose end is not known yet
    ends = [len(text)] * len(starts)
    for index, (level, _, start) in enumerate(starts):
        while open_levels and starts[open_levels[-1]][0] >= level:
            ends[open_levels.pop()] = start
        open_levels.append(index)
    for (level, words, start), end in zip(starts, ends, strict=True):
        headings.append(Heading(level, words, start, end))
    return headings


def outline_of(text: str) -> list[dict[str, Any]]:
    """Return the outline of a text: {level, heading, offset, chars} of each section."""
    return [
        {
            "level": heading.level,
            "heading": heading.text,
            "offset": heading.start,
            "chars": heading.end - heading.start,
        }
        for heading in find_headings(text)
    ]


def find_section(text: str, name: str) -> Heading:
    """Return the section whose heading is nearest to a name.

    The same words win, then a heading that holds them, then the most similar one. Raises
    SearchError (no_results), whose hint lists headings, if none is near.
    """
    import difflib

    headings = find_headings(text)
    wanted = " ".join(name.lower().split())
    words = [" ".join(heading.text.lower().split()) for heading in headings]
    for is_near in (str.__eq__, str.__contains__):
        for heading, own in zip(headings, words, strict=True):
            if is_near(own, wanted):
                return heading
    near = difflib.get_close_matches(wanted[:HEADING_CHARS], words, 5, 0.6)
    if near:
        return headings[words.index(near[0])]
    listed = "; ".join(heading.text for heading in headings[:10]) or "The page has no headings"
    message = f"No heading of the page is like {quoted(name)}."
    raise SearchError("no_results", message, f"{listed}. outline lists all headings.")


def find_places(text: str, wanted: str) -> tuple[list[dict[str, Any]], int]:
    """Return (the first places of a literal text with what stands around each, how many in all).

    Each is {offset, text}; upper and lower case are the same.
    """
    places: list[dict[str, Any]] = []
    matches = re.finditer(re.escape(wanted), text, re.IGNORECASE)
    total, shown_until = 0, -1
    for match in matches:
        total += 1
        if len(places) < MAX_PLACES and match.start() >= shown_until:
            start, end = max(0, match.start() - AROUND), min(len(text), match.end() + AROUND)
            before, after = "…" if start else "", "…" if end < len(text) else ""
            shown = f"{before}{text[start:end].strip()}{after}"
            places.append({"offset": match.start(), "text": shown})
            shown_until = end
    return places, total
