"""Render Markdown for a terminal: styled, wrapped at words, with tables in columns.

Each word has its own style codes, so lines can be wrapped and a pager can start at any line.
"""

from __future__ import annotations

import itertools
import os
import re
import unicodedata
from functools import partial

from websearch.markdown.fences import FENCE, is_closing
from websearch.ways_in.desk.markdown_html import (
    HEADING,
    Page,
    is_table_rule,
    next_line,
    table_cells,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BOLD, DIM, ITALIC, RED, MAGENTA, PLAIN = (  # readable on both white and black
    f"\x1b[{number}m" for number in (1, 2, 3, 31, 35, 0)
)
NARROWEST_COLUMN = 8  # characters; a table that needs narrower columns becomes a list
MAX_CELLS = 20_000  # per table shown in columns
_STYLE = re.compile(r"\x1b\[\d{0,2}m")
_TOKEN = re.compile(r"\x1b\[\d{0,2}m|[\s\S]")
# The start of a line: indentation, quotation characters, a list marker.
_START = re.compile(r"[ \t]{0,40}(?:> ?){0,6}(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")


def styled(code: str, text: str) -> str:
    """Return a text in a style; unchanged if NO_COLOR is set."""
    return f"{code}{text}{PLAIN}" if text and not os.environ.get("NO_COLOR") else text


def columns_of(text: str) -> int:
    """Return the number of terminal columns of a text, ignoring its styles."""
    text = _STYLE.sub("", text)
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else not unicodedata.combining(char)
        for char in text
    )


class Renderer(Page):
    """A renderer for terminals. width: in columns. words: query words to highlight."""

    def __init__(self, width: int, words: Sequence[str] = ()) -> None:
        super().__init__(words)
        self.width, self.query, self.mark = width, words, styled(RED, "{}")

    def escape(self, text: str) -> str:
        """Return the text unchanged, because kit.clean_text has removed control characters."""
        return text

    def lines(self, markdown: str) -> list[str]:
        """Return Markdown as terminal lines."""
        lines, shown, index = markdown.split("\n"), list[str](), 0
        while index < len(lines):
            line = lines[index]
            fence = FENCE.match(line.lstrip(" "))
            if fence:
                end = next_line(lines, index + 1, partial(is_code_end, fence[1]))
                shown += [f"    {code}" for code in lines[index + 1 : end]]
                index = end + 1
                continue
            if "|" in line and index + 1 < len(lines) and is_table_rule(lines[index + 1]):
                end = next_line(lines, index + 2, lambda text: "|" not in text)
                shown += self.columns([lines[index], *lines[index + 2 : end]])
                index = end
                continue
            start = _START.match(line)
            prefix = start[0] if start and len(start[0]) < self.width // 2 else ""
            heading = HEADING.match(line, len(prefix))
            text = (
                styled_words(BOLD, self.inline(heading[2]))
                if heading
                else self.inline(line[len(prefix) :])
            )
            shown += filled(text, self.width, prefix)
            index += 1
        return shown

    def columns(self, rows: list[str]) -> list[str]:
        """Return a table in columns with wrapped cells; the first row is the header."""
        head = [styled_words(BOLD, self.inline(cell)) for cell in table_cells(rows[0])]
        if len(head) * len(rows) > MAX_CELLS:
            return rows
        body = [[self.inline(cell) for cell in table_cells(row)] for row in rows[1:]]
        body = [[*row, *[""] * len(head)][: len(head)] for row in body]
        natural = [max(map(columns_of, column)) for column in zip(head, *body, strict=True)]
        space = self.width - 2 * (len(head) - 1)
        limits = range(self.width, NARROWEST_COLUMN - 1, -1)
        limit = next((n for n in limits if sum(min(n, size) for size in natural) <= space), 0)
        if not limit:  # too many columns
            pairs = (pair for row in body for pair in (*zip(head, row, strict=True), ("", "")))
            texts = (f"{name}: {cell}" if name else "" for name, cell in pairs)
            return [line for text in texts for line in filled(text, self.width)]
        widths = [min(limit, size) for size in natural]
        shown = []
        for row in (head, *body):
            cells = [filled(cell, size) for cell, size in zip(row, widths, strict=True)]
            for parts in itertools.zip_longest(*cells, fillvalue=""):
                padded = (
                    part + " " * (size - columns_of(part))
                    for part, size in zip(parts, widths, strict=True)
                )
                shown.append("  ".join(padded).rstrip())
        return shown

    def span(self, match: re.Match[str], depth: int) -> str:
        """Return the styled text for a match of INLINE; a link becomes its text and URL."""
        if match["ticks"]:
            return styled_words(MAGENTA, match["code"].strip())
        if match["text"] is not None:
            address = "" if match["picture"] else styled(DIM, f"({match['address']})")
            return " ".join(filter(None, [self.marked(match["text"]), address]))
        if match["strong"] or match["emphasis"]:
            code = BOLD if match["strong"] else ITALIC
            inner = match["strong"] or match["emphasis"]
            return styled_words(code, self.marked(inner) if depth else self.inline(inner, 1))
        return match["escaped"] or match["bare"]


def is_code_end(fence: str, line: str) -> bool:
    """Return whether a line closes a code block, even in a list."""
    return is_closing(fence, line.lstrip(" "))


def styled_words(style: str, text: str) -> str:
    """Return a text with a style applied to each word."""
    words = text.replace(PLAIN, PLAIN + style).split(" ")
    return " ".join(styled(style, word) for word in words)


def filled(text: str, width: int, prefix: str = "", hang: int | None = None) -> list[str]:
    """Return a text as lines of at most width columns, wrapped at words.

    prefix: the start of the first line. hang: the indentation of the other lines (default: the
    first line's, with its quotation characters).
    """
    if columns_of(prefix + text) <= width:
        return [prefix + text]
    indent = re.sub(r"[^>\s]", " ", prefix) if hang is None else " " * hang
    lines, line, used = [], prefix, columns_of(prefix)
    has_word = False
    for word in text.split():
        for part in broken(word, max(1, width - len(indent))):
            size = columns_of(part)
            if has_word and used + 1 + size > width:
                lines.append(line)
                line, used, has_word = indent, len(indent), False
            line += f" {part}" if has_word else part
            used += size + has_word
            has_word = True
    return [*lines, line]


def broken(word: str, width: int) -> list[str]:
    """Return a word in pieces of at most width columns; URLs stay whole for copying."""
    if "://" in word or columns_of(word) <= width:
        return [word]
    pieces, used = [""], 0
    for token in _TOKEN.findall(word):
        size = columns_of(token)
        if used + size > width:
            pieces.append("")
            used = 0
        pieces[-1] += token
        used += size
    return pieces
