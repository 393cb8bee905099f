"""Find code blocks in Markdown by their fences."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A fence and the text after it. A line such as "```npm install```" is a code span.
_FENCE = r"(`{3,}(?=[^`\n]*$)|~{3,})([^\n]*)"
FENCE = re.compile(rf" {{0,3}}{_FENCE}")
FENCES = re.compile(rf"(?m)^ {{0,3}}{_FENCE}")
# A fence at any position, including quotations and the beginnings of list items.
NESTED_FENCE = rf"[ \t]{{0,12}}(?:> )?(?:(?:[-*+]|\d{{1,9}}[.)]) +){{0,3}}{_FENCE}"


def after_fence(fence: str, mark: str, info: str) -> str:
    """Return the fence that is open after a line that contains a fence, or "".

    fence: the fence open before the line, or "". mark, info: the groups of _FENCE in the line.
    """
    if not fence:
        return mark
    return "" if mark.startswith(fence) and not info.strip() else fence


def is_closing(fence: str, line: str) -> bool:
    """Return whether a line closes the code block that a fence opened."""
    mark = FENCE.match(line)
    return mark is not None and not after_fence(fence, *mark.groups())


def lines_with_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of a text, and whether it belongs to a code block, including its fences."""
    fence = ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        yield line, bool(fence or mark)
        fence = after_fence(fence, *mark.groups()) if mark else fence


def code_begin(text: str, end: int) -> int | None:
    """Return the start of the code block that is open at an offset of a text, or None."""
    fence, begin = "", 0
    for mark in FENCES.finditer(text, 0, end):
        begin = begin if fence else mark.start()
        fence = after_fence(fence, *mark.groups())
    return begin if fence else None


def fences_at(text: str, place: int) -> tuple[str, str]:
    """Return the opening line and closing fence of the code block open at an offset, or "", ""."""
    begin = code_begin(text, place)
    opening = FENCES.match(text, begin) if begin is not None else None
    return (f"{opening[0]}\n", opening[1]) if opening else ("", "")
