"""Read the inline Markdown of a line: its markup, its plain text and the cells of a table row.

Every repetition in the patterns is bounded, so the time grows linearly with the text.
"""

from __future__ import annotations

import re

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
CELL_BORDER = re.compile(r"(?<!\\)\|")


def plain_text(text: str) -> str:
    """Return a line of Markdown without markup; links and emphasis may be nested."""

    def plain(match: re.Match[str]) -> str:
        literal = match["escaped"] or match["code"] or match["bare"]
        return literal or plain_text(match["text"] or match["strong"] or match["emphasis"] or "")

    return INLINE.sub(plain, text)


def cells_of(row: str) -> list[str]:
    """Return the Markdown of each cell in a table row; an escaped bar does not separate cells."""
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip() for cell in CELL_BORDER.split(inner)]


def is_table_rule(line: str) -> bool:
    """Return whether a line separates a table's header from its rows, such as |---|:-:|."""
    return all(re.fullmatch(r":?-+:?", cell) for cell in cells_of(line))
