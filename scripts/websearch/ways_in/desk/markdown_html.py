"""Render untrusted Markdown as HTML for the desk's pages.

The renderer supports headings, paragraphs, lists, tables, quotations, rules, code, links and
emphasis. Anything else is escaped as text. Only http and https links remain; an image becomes its
description. Every repetition in the patterns is bounded, so the time grows linearly with the text.
"""

from __future__ import annotations

import html
import re
from functools import partial

from websearch.markdown.fences import FENCE, is_closing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_DEPTH = 6  # nested lists and quotations; deeper text is shown at this depth
LANGUAGE = re.compile(r"[ \t]*([\w+#.-]{0,40})")
HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
ITEM = re.compile(r"( *)([-*+]|\d{1,9}[.)])[ \t]+(.*)")
RULE = re.compile(r" {0,3}(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}")
CELL_BORDER = re.compile(r"(?<!\\)\|")
# Limits in characters: 500 for link text; 2,000 for URLs, code and emphasized text.
INLINE = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|(?P<ticks>`{1,8})(?P<code>(?:(?!(?P=ticks)).){1,2000})(?P=ticks)(?!`)"
    r"|(?P<picture>!?)\[(?P<text>(?:\\.|[^\[\]\\]|\[[^\[\]]{0,200}\]){0,500})\]"
    r"\((?P<address>[^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)"
    r"(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
    r"|<(?P<bare>https?://[^\s<>]{1,2000})>"
    r"|\*\*(?P<strong>[^*\s](?:[^*]{0,2000}[^*\s])?)\*\*"
    r"|(?<![\w*])[*_](?P<emphasis>[^*_\s](?:[^*_]{0,2000}[^*_\s])?)[*_](?![\w*])"
)


class Page:
    """A renderer that collects the headings as (level, id, text).

    has_anchors: whether headings get ids; an HTML page may contain only one such text.
    """

    mark = "<mark>{}</mark>"  # around a query word

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
                paragraph.append(lines[index].strip())
                index += 1
                continue
            parts += [self.paragraph(paragraph), block]
            paragraph = []
            index = end
        return "".join([*parts, self.paragraph(paragraph)])

    def paragraph(self, lines: list[str]) -> str:
        """Return a paragraph's lines as HTML; "" if there are none."""
        return f"<p>{self.inline(' '.join(lines))}</p>\n" if any(lines) else ""

    def block_at(self, lines: list[str], index: int, depth: int) -> tuple[str, int]:
        """Return the HTML for the block that begins at a line, and the index after the block.

        The index is unchanged if the line belongs to a paragraph.
        """
        line = lines[index]
        if not line.strip():
            return "", index + 1
        if fence := FENCE.match(line):
            return code_block(lines, index + 1, *fence.groups())
        if heading := HEADING.match(line):
            return self.heading(len(heading[1]), heading[2]), index + 1
        if RULE.fullmatch(line):
            return "<hr>\n", index + 1
        if "|" in line and index + 1 < len(lines) and is_table_rule(lines[index + 1]):
            return self.table(lines, index)
        return self.nested_at(lines, index, depth) if depth < MAX_DEPTH else ("", index)

    def nested_at(self, lines: list[str], index: int, depth: int) -> tuple[str, int]:
        """Return the HTML for a quotation or list, and the index after it, as block_at does."""
        if ITEM.match(lines[index]):
            return self.list_at(lines, index, depth)
        if not lines[index].lstrip().startswith(">"):
            return "", index
        end = next_line(lines, index, lambda text: not text.lstrip().startswith(">"))
        inner = [text.lstrip()[1:].removeprefix(" ") for text in lines[index:end]]
        return f"<blockquote>\n{self.blocks(inner, depth + 1)}</blockquote>\n", end

    def heading(self, level: int, text: str) -> str:
        """Return a heading as HTML, at a level below the desk's own headings."""
        self.above = [other for other in self.above if other < level]
        shown = min(6, self.first_level + len(self.above))
        self.above.append(level)
        name = f"section-{len(self.headings) + 1}"
        self.headings.append((level, name, plain_text(text)))
        anchor = f' id="{name}"' if self.has_anchors else ""
        return f"<h{shown}{anchor}>{self.inline(text)}</h{shown}>\n"

    def table(self, lines: list[str], index: int) -> tuple[str, int]:
        """Return a table as HTML, and the index after it; rows are cut to the header's cells.

        Short rows are not filled, so there are never more cells than bars in the text.
        """
        end = next_line(lines, index + 2, lambda text: "|" not in text)
        head = table_cells(lines[index])
        rows = [table_cells(line)[: len(head)] for line in lines[index + 2 : end]]

        def row(cells: list[str], tag: str) -> str:
            return "".join(f"<{tag}>{self.inline(cell)}</{tag}>" for cell in cells)

        body = "".join(f"<tr>{row(cells, 'td')}</tr>\n" for cells in rows)
        table = f"<table>\n<thead><tr>{row(head, 'th')}</tr></thead>\n<tbody>\n{body}</tbody>\n"
        return f'<div class="wide" tabindex="0">{table}</table></div>\n', end

    def list_at(self, lines: list[str], index: int, depth: int) -> tuple[str, int]:
        """Return a list as HTML, and the index after it; indented lines belong to their item."""
        first = ITEM.match(lines[index])
        indent = len(first[1]) if first else 0
        tag = "ol" if first and first[2][0].isdigit() else "ul"
        items: list[list[str]] = []
        while index < len(lines):
            line = lines[index]
            item = ITEM.match(line)
            if item and len(item[1]) <= indent + 1:
                is_other = ("ol" if item[2][0].isdigit() else "ul") != tag
                if len(item[1]) < indent or is_other:
                    break
                items.append([item[3]])
            elif not line.strip() or line.startswith(" " * (indent + 2)):
                items[-1].append(line[indent + 2 :])
            else:
                break
            index += 1
        shown = "".join(f"<li>{self.list_item(item, depth)}</li>\n" for item in items)
        return f"<{tag}>\n{shown}</{tag}>\n", index

    def list_item(self, lines: list[str], depth: int) -> str:
        """Return a list item's content as HTML; a single line is not a paragraph."""
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
    """Return a link with this HTML text; only the text if the address is not a web URL."""
    if not re.match(r"(?i)https?://[^\s/]", address):
        return text or html.escape(address)
    shown = text or html.escape(address)
    return f'<a href="{html.escape(address)}" rel="noreferrer noopener">{shown}</a>'


def plain_text(text: str) -> str:
    """Return a line of Markdown without markup, for an outline."""
    return INLINE.sub(
        lambda match: next(
            (
                match[name]
                for name in ("escaped", "code", "text", "bare", "strong", "emphasis")
                if match[name] is not None
            ),
            "",
        ),
        text,
    )


def table_cells(line: str) -> list[str]:
    """Return the cells in a table row; an escaped bar does not separate cells."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip() for cell in CELL_BORDER.split(inner)]


def is_table_rule(line: str) -> bool:
    """Return whether a line separates a table's header from its rows, such as |---|:-:|."""
    return all(re.fullmatch(r":?-+:?", cell) for cell in table_cells(line))


def code_block(lines: list[str], start: int, fence: str, info: str) -> tuple[str, int]:
    """Return a code block as HTML, and the index after it; an unclosed block ends with the text."""
    end = next_line(lines, start, partial(is_closing, fence))
    language = LANGUAGE.match(info)
    name = f' class="language-{html.escape(language[1])}"' if language and language[1] else ""
    code = html.escape("\n".join(lines[start:end]))
    return f'<pre tabindex="0"><code{name}>{code}</code></pre>\n', end + 1


def next_line(lines: list[str], start: int, ends: Callable[[str], bool]) -> int:
    """Return the index of the first line, from start on, for which ends is true; or len(lines)."""
    return next((index for index in range(start, len(lines)) if ends(lines[index])), len(lines))
