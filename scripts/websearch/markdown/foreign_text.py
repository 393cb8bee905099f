"""Make untrusted Markdown harmless: it must not load, link to or hide anything."""

from __future__ import annotations

import re

from websearch.base.untrusted import without_live_html
from websearch.kit import without_live_links

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_FENCE = r"([ \t]*)(`{3,}(?=[^`]*$)|~{3,})(.*)"
_CODE_SPAN = r"(`[^`\n]{1,1000}`)"
_LIVE_IN_SPAN = r"<(?=[a-zA-Z/!?])|\](?=\()"
CLOSING_INDENT = 3  # maximum extra spaces before a closing fence, compared with the opening fence


def harmless_markdown(markdown: str) -> str:
    """Return untrusted Markdown made harmless; code blocks keep their text.

    Code blocks lose their indentation and get a blank line before them and a closing fence, so
    every renderer shows them as code, even inside lists, quotations or HTML. Renderers may disagree
    on code spans, so a space breaks any markup in a span that would be active outside it.
    """
    parts: list[str] = []
    for lines, opening in split_code(markdown):
        if opening:
            has_gap = not parts or re.search(r"(?:\A|\n)[ \t]*\Z", parts[-1])
            parts += [code_block(lines, opening)] if has_gap else ["", code_block(lines, opening)]
            continue
        pieces = re.split(_CODE_SPAN, "\n".join(lines))
        pieces[::2] = map(without_live_html, pieces[::2])
        pieces[1::2] = (re.sub(_LIVE_IN_SPAN, r"\g<0> ", span) for span in pieces[1::2])
        parts.append(without_live_links("".join(pieces)))
    return "\n".join(parts)


def outside_code(markdown: str, change: Callable[[str], str]) -> str:
    """Apply change to Markdown outside code blocks."""
    parts = (
        "\n".join(lines) if opening else change("\n".join(lines))
        for lines, opening in split_code(markdown)
    )
    return "\n".join(parts)


def split_code(markdown: str) -> Iterator[tuple[list[str], re.Match[str] | None]]:
    """Yield (lines, opening) for each part of Markdown; opening: a code block's _FENCE match.

    An unclosed code block ends with the text.
    """
    lines: list[str] = []
    opening: re.Match[str] | None = None
    for line in markdown.split("\n"):
        fence = re.match(_FENCE, line)
        if fence and not opening:
            if lines:
                yield lines, None
            lines, opening = [line], fence
            continue
        lines.append(line)
        if fence and opening and closes(fence, opening):
            yield lines, opening
            lines, opening = [], None
    if lines:
        yield lines, opening


def closes(fence: re.Match[str], opening: re.Match[str]) -> bool:
    """Return whether a fence closes the code block that opening begins."""
    is_as_long = fence[2].startswith(opening[2]) and not fence[3].strip()
    return is_as_long and len(fence[1]) <= len(opening[1]) + CLOSING_INDENT


def code_block(lines: list[str], opening: re.Match[str]) -> str:
    """Return a code block without the indentation of its fence, and with a closing fence."""
    last = re.match(_FENCE, lines[-1])
    is_closed = len(lines) > 1 and last and closes(last, opening)
    inner = lines[1 : -1 if is_closed else None]
    indent = rf"[ \t]{{1,{len(opening[1])}}}" if opening[1] else ""
    inner = [re.sub(rf"\A{indent}", "", line) for line in inner] if indent else inner
    return "\n".join([opening[2] + opening[3], *inner, opening[2]])
