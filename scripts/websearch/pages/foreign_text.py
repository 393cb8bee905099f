"""Markdown that strangers wrote, made harmless: nothing in it loads, links or hides anything."""

from __future__ import annotations

import re

from websearch.common import make_harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def harmless_markdown(markdown: str) -> str:
    """Return a stranger's Markdown made harmless; blocks of code stay: nothing in them is live."""
    return outside_code(markdown, make_harmless)


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Return Markdown of which change has changed all but the blocks of code.

    A fence that is not closed ends with the text.
    """
    parts: list[str] = []
    position = 0
    for opening in re.finditer(r"(?m)^ {0,3}(`{3,50}|~{3,50})[^`\n]*$", markdown):
        if opening.start() < position:
            continue  # inside of the block before
        closing = re.compile(rf"(?m)^ {{0,3}}{re.escape(opening[1])}[`~]*[ \t]*$")
        end = closing.search(markdown, opening.end())
        stop = end.end() if end else len(markdown)
        parts.append(change(markdown[position : opening.start()]))
        parts.append(markdown[opening.start() : stop])
        position = stop
    return "".join([*parts, change(markdown[position:])])
