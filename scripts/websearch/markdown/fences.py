"""Find the code blocks of Markdown by their fences."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
FENCES = re.compile(f"(?m)^{FENCE.pattern}")
NESTED_FENCE = r"[ \t]{0,12}(?:> )?(`{3,20}|~{3,20})"  # also in a list or quotation


def after_fence(fence: str, mark: str) -> str:
    """Return the fence that is open after a line with a mark; fence: the one open before, or ""."""
    return mark if not fence else "" if mark.startswith(fence) else fence


def lines_with_code(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line of a text, and whether it is part of a code block, fences included."""
    fence = ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        yield line, bool(fence or mark)
        fence = after_fence(fence, mark[1]) if mark else fence


def code_begin(text: str, end: int) -> int | None:
    """Return the start of the code block that is open at an offset of a text, or None."""
    fence, begin = "", 0
    for mark in FENCES.finditer(text, 0, end):
        begin = begin if fence else mark.start()
        fence = after_fence(fence, mark[1])
    return begin if fence else None
