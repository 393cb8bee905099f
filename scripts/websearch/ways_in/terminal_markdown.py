"""Render Markdown for a terminal: styled, wrapped at words, with tables in columns.

The desk's renderer walks the Markdown.
Each word has its own style codes, so lines can be wrapped and a pager can start at any line.
"""

from __future__ import annotations

import itertools
import os
import re
import unicodedata

from websearch.ways_in.desk.markdown_html import Page

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

BOLD, DIM, ITALIC, RED, MAGENTA, PLAIN = (  # readable on both white and black
    f"\x1b[{number}m" for number in (1, 2, 3, 31, 35, 0)
)
NARROWEST_COLUMN = 8  # characters; a table that needs narrower columns becomes a list
LONGEST_NUMBER = 16  # characters of a cell with digits that does not wrap
LONGEST_WORD = 16  # columns of a word that does not wrap in a table with enough space
LARGEST_INDENT = 12  # columns
MAX_CELLS = 20_000  # per table shown in columns
_STYLE = re.compile(r"\x1b\[\d{0,2}m")
_TOKEN = re.compile(r"\x1b\[\d{0,2}m|[\s\S]")


def styled(code: str, text: str) -> str:
    """Return a text in a style; unchanged if NO_COLOR is set."""
    return f"{code}{text}{PLAIN}" if text and not os.environ.get("NO_COLOR") else text


def columns_of(text: str) -> int:
    """Return the number of terminal columns that a text takes up, ignoring its styles."""
    text = _STYLE.sub("", text)
    if text.isascii():
        return len(text)
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else not unicodedata.combining(char)
        for char in text
    )


class Renderer(Page):
    """Renders Markdown for terminals.

    width: columns for text. words: query words to highlight. table_width: columns for tables
    (default: width). cell_lines: maximum lines per table cell; 0 means no limit.
    """

    blank, rule = "\n", "---\n"

    def __init__(self, width: int, words: Sequence[str] = (), table_width: int = 0,
                 cell_lines: int = 0) -> None:  # fmt: skip
        super().__init__(words)
        self.width, self.query, self.mark = width, words, styled(RED, "{}")
        self.table_width, self.cell_lines = max(width, table_width), cell_lines

    def escape(self, text: str) -> str:
        """Return the text unchanged, because kit.clean_text has removed control characters."""
        return text

    def lines(self, markdown: str) -> list[str]:
        """Return Markdown as terminal lines."""
        return self.blocks(markdown.split("\n")).removesuffix("\n").split("\n")

    def paragraph(self, lines: list[str]) -> str:
        """Return a paragraph; its lines stay separate, because some lines list facts."""
        starts = [line[: len(line) - len(line.lstrip())] for line in lines]
        texts = [self.inline(line.strip()) for line in lines]
        shown = [filled(text, self.width, start[:LARGEST_INDENT])
                 for text, start in zip(texts, starts, strict=True)]  # fmt: skip
        return joined(line for part in shown for line in part)

    def heading(self, level: int, text: str) -> str:  # noqa: ARG002  for the desk
        """Return a heading in bold."""
        return joined(filled(styled_words(BOLD, self.inline(text)), self.width))

    def code(self, lines: list[str]) -> str:
        """Return the lines of a code block, indented."""
        return joined(f"    {line}" for line in lines)

    def quotation(self, lines: list[str], depth: int) -> str:
        """Return the lines of a quotation, each with a quotation character in front."""
        return joined(f"> {line}" for line in self.nested(lines, depth, 2))

    def listing(self, items: list[tuple[str, list[str]]], depth: int) -> str:
        """Return the items of a list, given as (marker, lines), below their markers."""
        shown = []
        for marker, lines in items:
            indent = len(marker) + 1
            first, *others = self.nested(lines, depth, indent)
            shown += [f"{marker} {first}", *(" " * indent + line for line in others)]
        return joined(line.rstrip() for line in shown)

    def nested(self, lines: list[str], depth: int, indent: int) -> list[str]:
        """Return lines of Markdown, rendered so they can be indented by this number of columns."""
        width = max(LARGEST_INDENT, self.width - indent)
        inner = Renderer(width, self.query, self.table_width - indent, self.cell_lines)
        return inner.blocks(lines, depth + 1).removesuffix("\n").split("\n")

    def table(self, head: list[str], rows: list[list[str]]) -> str:
        """Return a table in columns with wrapped cells, without its empty columns."""
        if len(head) * len(rows) > MAX_CELLS:
            return joined(" | ".join(row) for row in (head, *rows))
        body = [[*row, *[""] * len(head)][: len(head)] for row in rows]
        kept = [n for n in range(len(head)) if not body or any(row[n] for row in body)]
        shown = [[self.inline(row[n]) for n in kept] for row in body]
        names = [styled_words(BOLD, self.inline(head[n])) for n in kept]
        widths = column_widths([names, *shown], self.table_width)
        if not widths:  # the table has too many columns
            texts = (" · ".join(f"{name}: {cell}" if name else cell
                                for name, cell in zip(names, row, strict=True) if cell)
                     for row in shown)  # fmt: skip
            return joined(line for text in texts for line in filled(text, self.width, "", 2))
        lines = []
        for row in (names, *shown):
            cells = [self.cell(cell, size) for cell, size in zip(row, widths, strict=True)]
            for parts in itertools.zip_longest(*cells, fillvalue=""):
                padded = (
                    part + " " * (size - columns_of(part))
                    for part, size in zip(parts, widths, strict=True)
                )
                lines.append("  ".join(padded).rstrip())
        return joined(lines)

    def cell(self, text: str, width: int) -> list[str]:
        """Return a table cell as lines; a truncated cell ends with "…"."""
        lines = filled(text, width)
        if not self.cell_lines or len(lines) <= self.cell_lines:
            return lines
        kept = lines[: self.cell_lines]
        return [*kept[:-1], filled(kept[-1], width - 1)[0] + "…"]

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


def column_widths(rows: list[list[str]], space: int) -> list[int]:
    """Return the widths of a table's columns within this space; [] if there are too many columns.

    A column is as wide as its cells, numbers never wrap, words wrap only if they must, and the
    longest columns share the rest.
    """
    columns = list(zip(*rows, strict=True))
    natural = [max(map(columns_of, column)) for column in columns]
    codes = [max(NARROWEST_COLUMN, *map(code_columns, column)) for column in columns]
    words = [max(map(longest_word, column[1:]), default=0) for column in columns]
    space -= 2 * (len(columns) - 1)
    for whole in range(LONGEST_WORD, -1, -1):
        least = [min(size, max(code, min(word, whole)))
                 for size, code, word in zip(natural, codes, words, strict=True)]  # fmt: skip
        if sum(least) <= space:
            break
    else:
        return []

    def shared(limit: int) -> list[int]:
        return [max(low, min(limit, size)) for low, size in zip(least, natural, strict=True)]

    limit = next(n for n in range(max(natural), -1, -1) if sum(shared(n)) <= space)
    widths = shared(limit)
    longest = natural.index(max(natural))
    widths[longest] = min(natural[longest], widths[longest] + space - sum(widths))
    return widths


def code_columns(cell: str) -> int:
    """Return the width of a cell that is a number, a date or another short code; else 0."""
    text = _STYLE.sub("", cell)
    return columns_of(text) if len(text) <= LONGEST_NUMBER and re.search(r"\d", text) else 0


def longest_word(cell: str) -> int:
    """Return the width of a cell's longest word."""
    return max(map(columns_of, cell.split()), default=0)


def joined(lines: Iterable[str]) -> str:
    """Return lines as a text in which each line ends with a line feed."""
    return "".join(f"{line}\n" for line in lines)


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
    for word in re.split(r"\s", text):  # several spaces stay: they align columns
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
    """Return a word in pieces of at most width columns; URLs stay whole so they can be copied."""
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
