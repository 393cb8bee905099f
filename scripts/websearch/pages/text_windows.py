"""Split Markdown into windows of a few sentences or lines, which passages are made of."""

from __future__ import annotations

import re

from websearch.common import shorten
from websearch.html_tree import name_set
from websearch.words import PHRASED, UNSPACED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Passages of 500 characters answer 88.5 % of questions with windows of 100 characters, 88.8 % with
# 150 and 200, 88.9 % with 250, as measured in ranking.py.
WINDOW_CHARS = 200
LINES_TOGETHER = 400  # characters of code, a table or a list that is one window
MAX_PIECE = 700  # characters of a sentence or line; a longer one is cut at spaces
LEAST_WORDS = 5  # of a window; a shorter one is joined to its neighbour
FRAGMENT_CHARS = 60  # a text of this length is no fragment, however few its words are
HEADING_CHARS = 80  # of one heading in a path
PATH_CHARS = 170  # of a path; the outermost headings are left out first
TABLE_HEAD_CHARS = 200  # of the head of a table that is repeated where the table is cut

_COUNTED_WORD = rf"[{UNSPACED}]{{1,2}}|[^\s{UNSPACED}]+"
_BLOCK_BREAK = r"\n\s*\n|\n(?=#{1,6} )"
_HEADING = r"(#{1,6}) +([^\n]+)"
_FENCE = r"(?m)^(`{3,20}|~{3,20})"
_CODE_HEAD = r"[ \t]{0,12}(`{3,20}|~{3,20})[^\n]{0,100}\n"
_LINE_MARK = r"(?m)^[ \t]{0,12}(?:[-*+] |\||\d{1,3}[.)] |```|~~~)"  # of a list, table or code
_TABLE_HEAD = r"\|[^\n]*\n\|[-:| ]+\n"
# The marks of the second group need no space behind them.
_SENTENCE_END = r"(?:[.!?…؟۔։।॥။።។]+|([。！？｡]+))[\"'”’»）)\]」』]*"
# Words with a full stop that a capital letter or a number may follow.
_ABBREVIATIONS = name_set(
    "al approx ca capt cf co col corp dept dr etc fig gen hon inc jr lt ltd mr mrs ms no prof rev "
    "sgt sr st vol vs bspw bzw evtl geb gest ggf hl jh jhd nr sog str usw vgl art aprox av dra núm "
    "pág sra srta ud uds alb bkz doç op vb yy ör вв гг им млн млрд обл рис стр тыс ул"
)


class Window:
    """A few sentences or lines of a page.

    start, end: its place in the Markdown. section, block: the numbers of the section and the block
    that it stands in. heading: the section's path of headings, "" before the first heading.
    is_lines: it is of code, a table or a list. opening, closing: what goes before and after it
    where the rest of its block is left out, such as the fences of code. score: how well it answers
    a query.
    """

    __slots__ = ("block", "closing", "end", "heading", "is_lines", "opening", "score", "section",
                 "start")  # fmt: skip

    def __init__(
        self, span: tuple[int, int], block: int, section: int, heading: str, is_lines: bool
    ) -> None:
        self.start, self.end = span
        self.block, self.section, self.heading, self.is_lines = block, section, heading, is_lines
        self.opening = self.closing = ""
        self.score = 0.0


def split_windows(markdown: str) -> list[Window]:
    """Return the windows of Markdown, in order. Headings are in the windows' paths only."""
    windows: list[Window] = []
    path: list[tuple[int, str]] = []
    section, heading = 0, ""
    for number, (start, end) in enumerate(split_blocks(markdown)):
        match = re.compile(_HEADING).match(markdown, start, end)
        if match:
            path = [one for one in path if one[0] < len(match[1])]
            path.append((len(match[1]), shorten(match[2].strip(), HEADING_CHARS)))
            section, heading = section + 1, joined_path([name for _, name in path])
        begin = match.end() if match else start
        found = block_windows(markdown, (begin, end), number, section, heading)
        last = windows[-1] if windows and windows[-1].section == section else None
        if found and last and not last.is_lines and is_fragment(markdown[last.start : last.end]):
            found[0].start = windows.pop().start  # a label goes with what follows it
        windows += found
    return windows


def split_blocks(markdown: str) -> list[tuple[int, int]]:
    """Return where the blocks of Markdown start and end: paragraphs, lists, tables, whole code."""
    blocks: list[tuple[int, int]] = []
    fence = ""  # of the code block that is open
    start = 0
    for match in (*re.finditer(_BLOCK_BREAK, markdown), None):
        end = match.start() if match else len(markdown)
        if fence:
            blocks[-1] = (blocks[-1][0], end)
        elif start < end:
            blocks.append((start, end))
        for mark in re.findall(_FENCE, markdown[start:end]):
            if not fence:
                fence = mark
            elif mark.startswith(fence):
                fence = ""
        start = match.end() if match else end
    return blocks


def joined_path(names: list[str]) -> str:
    """Return headings as one text, the outermost left out where it is too long."""
    while len(path := " > ".join(names)) > PATH_CHARS:
        names = names[1:]
    return path


def is_fragment(text: str) -> bool:
    """Return whether a text is too short to be read alone."""
    return len(text) < FRAGMENT_CHARS and len(re.findall(_COUNTED_WORD, text)) < LEAST_WORDS


# ===== from a block to windows ====================================================================


def block_windows(
    markdown: str, span: tuple[int, int], block: int, section: int, heading: str
) -> list[Window]:
    """Return the windows of a block."""
    text = markdown[slice(*span)]
    is_lines = bool(re.search(_LINE_MARK, text))
    windows = [
        Window((span[0] + start, span[0] + end), block, section, heading, is_lines)
        for start, end in window_spans(text, is_lines)
    ]
    if is_lines and len(windows) > 1:
        frame_lines(text, windows)
    return windows


def window_spans(text: str, is_lines: bool) -> list[tuple[int, int]]:
    """Return where the windows of a block start and end.

    Neighbouring pieces are joined as long as they fit, and a fragment always.
    """
    joined: list[tuple[int, int]] = []
    for start, end in cut_pieces(text, is_lines):
        first, last = joined[-1] if joined else (0, 0)
        if joined and (end - first <= WINDOW_CHARS or is_fragment(text[first:last])):
            joined[-1] = (first, end)
        else:
            joined.append((start, end))
    if len(joined) > 1 and is_fragment(text[slice(*joined[-1])]):
        _, end = joined.pop()
        joined[-1] = (joined[-1][0], end)
    blank = "\n" if is_lines else None  # the indentation of code stays
    return [
        (end - len(text[start:end].lstrip(blank)), start + len(text[start:end].rstrip()))
        for start, end in joined
    ]


def cut_pieces(text: str, is_lines: bool) -> Iterator[tuple[int, int]]:
    """Yield where the sentences or lines of a block start and end."""
    ends: list[int] = []
    if len(text) > (LINES_TOGETHER if is_lines else WINDOW_CHARS):
        ends = line_ends(text) if is_lines else sentence_ends(text)
    start = 0
    for end in (*ends, len(text)):
        while end - start > MAX_PIECE:
            places = (text.rfind(blank, start + 1, start + MAX_PIECE) + 1 for blank in "\n ")
            cut = next(filter(None, places), start + MAX_PIECE)
            yield start, cut
            start = cut
        if text[start:end].strip():
            yield start, end
        start = end


def line_ends(text: str) -> list[int]:
    """Return the places behind the lines of a text, and behind the sentences of very long lines."""
    ends = []
    for match in re.finditer(r"[^\n]+\n*", text):
        if len(match[0]) > MAX_PIECE:
            ends += [match.start() + end for end in sentence_ends(match[0])]
        ends.append(match.end())
    return ends


def sentence_ends(text: str) -> list[int]:
    """Return the places behind the sentences of a text, and behind the phrases of PHRASED."""
    ends = [match.end() for match in re.finditer(_SENTENCE_END, text) if ends_sentence(match)]
    if len(re.findall(f"[{PHRASED}]", text[:MAX_PIECE])) > len(text[:MAX_PIECE]) / 3:
        ends = sorted({*ends, *(match.end() for match in re.finditer(r"\s+", text))})
    return ends


def ends_sentence(match: re.Match[str]) -> bool:
    """Return whether a mark ends a sentence: not inside of one, and not after an abbreviation."""
    after = match.string[match.end() : match.end() + 2]
    is_followed = after[:1].isspace() and not after[1:].islower()
    return bool(match[1]) or (is_followed and not (match[0] == "." and is_abbreviation(match)))


def is_abbreviation(full_stop: re.Match[str]) -> bool:
    """Return whether a full stop belongs to an abbreviation, an initial or an ordinal number."""
    before = full_stop.string[max(0, full_stop.start() - 20) : full_stop.start()]
    word = re.split(r"[\s(\[\"'“«]", before)[-1]
    is_ordinal = word.isdigit() and len(word) <= len("365")
    is_roman = word.isupper() and not word.strip("IVXLCDM")
    is_dotted = "." in word and word.replace(".", "").isalpha()  # e.g, z.B
    is_known = len(word) <= 1 or word.lower() in _ABBREVIATIONS
    return is_ordinal or is_roman or is_dotted or is_known


def frame_lines(text: str, windows: list[Window]) -> None:
    """Give the windows of code and tables what they need where the rest of them is left out."""
    text = text.lstrip("\n")
    opening = closing = ""
    if match := re.match(_CODE_HEAD, text):
        opening, closing = match[0], f"\n{match[1]}"
    elif (match := re.match(_TABLE_HEAD, text)) and len(match[0]) <= TABLE_HEAD_CHARS:
        opening = match[0]
    for window in windows[1:]:
        window.opening = opening
    for window in windows[:-1]:
        window.closing = closing
