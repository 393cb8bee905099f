"""Markdown that strangers wrote, made harmless: nothing in it loads, links or hides anything."""

from __future__ import annotations

import re

# Tags that load, link, run or hide something, and comments.
_LIVE_HTML = (
    r"(?is)<!--.*?(?:-->|\Z)|</?(?:a|audio|base|button|embed|form|frame|iframe|img|input|link|meta|"
    r"object|picture|script|source|style|svg|video)\b[^<>]*>?"
)
# A Markdown link or image; [name](argument) of program code is none.
_LIVE_LINK = (
    r"(?i)!?\[([^\[\]\n]{0,300})\]\(\s?<?(?:[a-z][a-z0-9+.-]{0,20}:|[/#.])[^()\n]{0,2000}\)"
)


def make_harmless(text: str) -> str:
    """Return a stranger's text without live Markdown and HTML: images, links, comments, tags.

    The words of a link stay. A space breaks what could be the rest of one, or its definition.
    """
    text = re.sub(_LIVE_HTML, " ", text) if "<" in text else text
    text = re.sub(_LIVE_LINK, r"\1", text) if "](" in text else text
    text = re.sub(r"\](?=[(\[])", "] ", text)
    return re.sub(r"(?m)^([ >]{0,9}\[[^\[\]\n]{1,999}\]):", r"\1 :", text)


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
