"""Walk untrusted Markdown and render it, here as HTML for the desk's pages.

The renderer supports headings, paragraphs, lists, tables, quotations, rules, code, links and
emphasis. Anything else is escaped as text. Only http and https links remain; an image becomes its
description. The terminal's renderer overrides the methods that write blocks.
"""

from __future__ import annotations

import html
import re
from functools import partial

from websearch.markdown.fences import FENCE, is_closing
from websearch.markdown.inline import INLINE, cells_of, is_table_rule, plain_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHOWN_ROWS = 12  # rows shown per table; the others are folded, except those with a query word
MAX_DEPTH = 6  # levels of lists and quotations; deeper text is shown at this level
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])[ \t]+(.*)")
RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}")


class Page:
    """A renderer that collects the headings as (level, id, text).

    has_anchors: whether headings get ids; an HTML page may contain only one such text.
    """

    mark = "<mark>{}</mark>"  # tags around a query word
    blank, rule = "", "<hr>\n"

    def __init__(
        self, words: Sequence[str] = (), first_level: int = 2, has_anchors: bool = False
    ) -> None:
        self.first_level = first_level
        self.above: list[int] = []  # levels of the headings above, so no HTML level is skipped
        self.has_anchors = has_anchors
        self.headings: list[tuple[int, str, str]] = []
        escaped = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
        self.words = re.compile(rf"(?i)\b(?:{escaped})\w{{0,20}}") if escaped else None

    # ===== blocks =================================================================================

    def blocks(self, lines: list[str], depth: int = 0) -> str:
        """Return lines as HTML blocks; depth: the number of lists and quotations around them."""
        parts: list[str] = []
        paragraph: list[str] = []
        index = 0
        while index < len(lines):
            block, end = self.block_at(lines, index, depth)
            if end == index:
                paragraph.append(lines[index])
                index += 1
                continue
            parts += [self.paragraph(paragraph), block]
            paragraph = []
            index = end
        return "".join([*parts, self.paragraph(paragraph)])

    def paragraph(self, lines: list[str]) -> str:
        """Return a paragraph's lines as HTML; "" if there are none."""
        return f"<p>{self.inline(' '.join(map(str.strip, lines)))}</p>\n" if lines else ""

    def block_at(self, lines: list[str], index: int, depth: int) -> tuple[str, int]:
        """Return the HTML for the block that begins at a line, and the index after the block.

        The index is unchanged if the line belongs to a paragraph.
        """
        line = lines[index]
        if not line.strip():
            return self.blank, index + 1
        if fence := FENCE.match(line):
            end = next_line(lines, index + 1, partial(is_closing, fence[1]))
            return self.code(lines[index + 1 : end]), end + 1
        if heading := HEADING.match(line):
            return self.heading(len(heading[1]), heading[2]), index + 1
        if RULE.fullmatch(line):
            return self.rule, index + 1
        if is_table_at(lines, index):
            end = next_line(lines, index + 2, lambda text: "|" not in text)
            rows = [cells_of(row) for row in lines[index + 2 : end]]
            return self.table(cells_of(line), rows), end
        return self.nested_at(lines, index, depth) if depth < MAX_DEPTH else ("", index)

    def nested_at(self, lines: list[str], index: int, depth: int) -> tuple[str, int]:
        """Return a quotation or list, and the index after it, as block_at does."""
        if ITEM.match(lines[index]):
            return self.list_at(lines, index, depth)
        if not lines[index].lstrip().startswith(">"):
            return "", index
        end = next_line(lines, index, lambda text: not text.lstrip().startswith(">"))
        inner = [text.lstrip()[1:].removeprefix(" ") for text in lines[index:end]]
        return self.quotation(inner, depth), end

    def list_at(self, lines: list[str], index: int, depth: int) -> tuple[str, int]:
        """Return a list, and the index after it; indented lines belong to their item."""
        first = ITEM.match(lines[index])
        indent = len(first[1]) if first else 0
        is_numbered = bool(first and first[2][0].isdigit())
        items: list[tuple[str, list[str]]] = []
        while index < len(lines):
            line = lines[index]
            item = ITEM.match(line)
            if item and len(item[1]) <= indent + 1:
                if len(item[1]) < indent or item[2][0].isdigit() != is_numbered:
                    break
                items.append((item[2], [item[3]]))
            elif not line.strip() or line.startswith(" " * (indent + 2)) or is_gap_row(line, items):
                items[-1][1].append(line[indent + 2 :] if line[:1] in ("", " ") else line)
            else:
                break
            index += 1
        return self.listing(items, depth), index

    def quotation(self, lines: list[str], depth: int) -> str:
        """Return the lines of a quotation as HTML."""
        return f"<blockquote>\n{self.blocks(lines, depth + 1)}</blockquote>\n"

    def code(self, lines: list[str]) -> str:
        """Return the lines of a code block as HTML."""
        code = html.escape("\n".join(lines))
        return f'<pre tabindex="0"><code>{code}</code></pre>\n'

    def heading(self, level: int, text: str) -> str:
        """Return a heading as HTML, at a level below the desk's own headings."""
        self.above = [other for other in self.above if other < level]
        shown = min(6, self.first_level + len(self.above))
        self.above.append(level)
        name = f"section-{len(self.headings) + 1}"
        self.headings.append((level, name, plain_text(text)))
        anchor = f' id="{name}"' if self.has_anchors else ""
        return f"<h{shown}{anchor}>{self.inline(text)}</h{shown}>\n"

    def table(self, head: list[str], rows: list[list[str]]) -> str:
        """Return a table as HTML; rows are cut to the header's cells.

        Short rows are not filled, so there are never more cells than bars in the text.
        """

        def row(cells: list[str], tag: str) -> str:
            return "".join(f"<{tag}>{self.inline(cell)}</{tag}>" for cell in cells[: len(head)])

        body = "".join(f"<tr>{row(cells, 'td')}</tr>\n" for cells in rows)
        table = f"<table>\n<thead><tr>{row(head, 'th')}</tr></thead>\n<tbody>\n{body}</tbody>\n"
        folded = f"{SHOWN_ROWS} of {len(rows)} rows, show all"
        more = f'<label class="more"><input type="checkbox"> {folded}</label>\n'
        more = more if len(rows) > SHOWN_ROWS else ""
        return f'<div class="wide" tabindex="0">{table}</table></div>\n{more}'

    def listing(self, items: list[tuple[str, list[str]]], depth: int) -> str:
        """Return the items of a list, given as (marker, lines), as HTML."""
        tag = "ol" if items[0][0][0].isdigit() else "ul"
        shown = "".join(f"<li>{self.list_item(lines, depth)}</li>\n" for _, lines in items)
        return f"<{tag}>\n{shown}</{tag}>\n"

    def list_item(self, lines: list[str], depth: int) -> str:
        """Return a list item's content as HTML; a single line is not a paragraph."""
        if is_table_at(lines, 0):
            return self.blocks(lines, depth + 1)
        if not any(line.strip() for line in lines[1:]):
            return self.inline(lines[0])
        return self.inline(lines[0]) + "\n" + self.blocks(lines[1:], depth + 1)

    # ===== text in a block ========================================================================

    def inline(self, text: str, depth: int = 0) -> str:
        """Return text with code, links and emphasis as HTML; depth counts links and emphasis."""
        parts: list[str] = []
        end = 0
        for match in INLINE.finditer(text):
            parts += [self.marked(text[end : match.start()]), self.span(match, depth)]
            end = match.end()
        return "".join([*parts, self.marked(text[end:])])

    def span(self, match: re.Match[str], depth: int) -> str:
        """Return the HTML for a match of INLINE."""
        if match["escaped"]:
            return html.escape(match["escaped"])
        if match["ticks"]:
            return f"<code>{html.escape(match['code'].strip())}</code>"
        if match["bare"]:
            return link(match["bare"], html.escape(match["bare"]))
        if match["text"] is not None:
            inner = match["text"]
            text = self.marked(inner) if depth else self.inline(inner, depth + 1)
            return text if match["picture"] else link(match["address"], text)
        tag = "strong" if match["strong"] else "em"
        inner = match["strong"] or match["emphasis"]
        return f"<{tag}>{self.marked(inner) if depth else self.inline(inner, depth + 1)}</{tag}>"

    def escape(self, text: str) -> str:
        """Return plain text as HTML."""
        return html.escape(text)

    def marked(self, text: str) -> str:
        """Return plain text as HTML, with the query words marked."""
        if not self.words:
            return self.escape(text)
        parts: list[str] = []
        end = 0
        for match in self.words.finditer(text):
            parts += [
                self.escape(text[end : match.start()]),
                self.mark.format(self.escape(match[0])),
            ]
            end = match.end()
        return "".join([*parts, self.escape(text[end:])])


def render(markdown: str, words: Sequence[str] = (), first_level: int = 2) -> str:
    """Return Markdown as HTML.

    words: words to mark, including longer words that begin with them. first_level: the HTML level
    of the highest headings.
    """
    return Page(words, first_level).blocks(markdown.split("\n"))


def link(address: str, text: str) -> str:
    """Return a link with this HTML text; return only the text if the address is not a web URL."""
    if not re.match(r"(?i)https?://[^\s/]", address):
        return text or html.escape(address)
    shown = text or html.escape(address)
    return f'<a href="{html.escape(address)}" rel="noreferrer noopener">{shown}</a>'


def is_table_at(lines: list[str], index: int) -> bool:
    """Return whether a table begins at a line; a list item that contains a table does not count."""
    line, below = lines[index], "".join(lines[index + 1 : index + 2])
    return "|" in line and not ITEM.match(line) and bool(below) and is_table_rule(below)


def is_gap_row(line: str, items: list[tuple[str, list[str]]]) -> bool:
    """Return whether a line marks rows omitted from the table in the last list item."""
    return line.startswith("| […") and is_table_at(items[-1][1], 0)


def next_line(lines: list[str], start: int, ends: Callable[[str], bool]) -> int:
    """Return the index of the first line, from start on, for which ends is true, or len(lines)."""
    return next((index for index in range(start, len(lines)) if ends(lines[index])), len(lines))
