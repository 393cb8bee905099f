"""Markdown that strangers wrote, made harmless: nothing in it loads, links or hides anything."""

from __future__ import annotations

import re

from websearch.common import make_harmless


def harmless_markdown(markdown: str) -> str:
    """Return a stranger's Markdown made harmless; blocks of code stay: nothing in them is live.

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
        parts.append(make_harmless(markdown[position : opening.start()]))
        parts.append(markdown[opening.start() : stop])
        position = stop
    return "".join([*parts, make_harmless(markdown[position:])])
