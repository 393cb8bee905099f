"""Choose the passages of a page that answer a query: its best windows, in the page's order."""

from __future__ import annotations

import sys

from websearch.pages.ranking import rank_windows, telling_part
from websearch.pages.text_windows import WINDOW_CHARS, is_fragment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.text_windows import Window

HEADING_SHARE = 4  # a path of headings takes at most this part of the room, or is left out
# Of a window that is shown; the best one has 1. With 0, 4,000 characters of long papers take 3,937
# and answer 93.6 %; with 0.15, 3,372 and 93.6; with 0.2, 3,039 and 93.4; with 0.3, 2,358 and 93.0.
LEAST_SCORE = 0.15
ALWAYS = 3  # windows that are shown with any score: a short page may answer without the words
LEAST_ROOM = 40  # characters; a smaller rest of the room is left empty
GAP = "[…]"  # stands for what is left out
PARAGRAPH_GAP = f"\n\n{GAP}\n\n"


def select_passages(
    markdown: str, query: str, max_chars: int, deadline: float | None = None
) -> list[dict[str, str]]:
    """Return the passages of Markdown that answer a query, in the page's order.

    Each is {heading, text}: heading is the path of headings, "" before the first one. Several
    questions stand on lines of their own. max_chars is for texts and headings, with two characters
    between them; 0 means no limit. deadline, of time.monotonic(): what could not be ranked by then
    is not chosen. [] if no passage holds a term of the query.
    """
    return join_best(markdown, rank_windows(markdown, query, deadline), max_chars)


def join_best(
    markdown: str, windows: list[Window], max_chars: int, fill: bool = False
) -> list[dict[str, str]]:
    """Return the windows with the best scores as passages, neighbours joined and gaps marked.

    max_chars: as in select_passages. fill: windows that do not answer are chosen, too.
    """
    limit = max_chars or sys.maxsize
    chosen = choose_windows(markdown, windows, limit, fill)
    passages: list[dict[str, str]] = []
    last = -1
    for index in sorted(chosen):
        window, before = windows[index], windows[last]
        if passages and before.section == window.section:
            is_next = last == index - 1 and len(chosen[last]) == before.end - before.start
            passages[-1]["text"] += joint(markdown, before, window, is_next)
        else:
            if passages:
                passages[-1]["text"] += before.closing
            passages.append({"heading": shown_heading(window, limit), "text": window.opening})
        passages[-1]["text"] += chosen[index]
        last = index
    if passages:
        passages[-1]["text"] += windows[last].closing
    return passages


def choose_windows(markdown: str, windows: list[Window], limit: int, fill: bool) -> dict[int, str]:
    """Return the texts of the best windows by their indexes.

    A window that does not fit is cut to the room that is left.
    """
    ranks = sorted(
        (index for index, window in enumerate(windows) if window.score >= 0),
        key=lambda index: -windows[index].score,
    )
    chosen: dict[int, str] = {}
    sections: set[int] = set()
    left = limit
    for rank, index in enumerate(ranks):
        window = windows[index]
        if not fill and (not window.score or (rank >= ALWAYS and window.score < LEAST_SCORE)):
            break
        text = markdown[window.start : window.end]
        cost = len(window.opening + window.closing) + len(PARAGRAPH_GAP)
        if window.section not in sections:
            heading = shown_heading(window, limit)
            cost += (len(heading) + 2 if heading else 0) - len(PARAGRAPH_GAP)
        beside = (windows[near].section for near in (index - 1, index + 1) if near in chosen)
        if window.section in beside and len(text) + len("\n\n") <= left:
            cost = len("\n\n")
        elif len(text) + cost > left:
            text = cut_window(window, text, left - cost)
        if text:
            chosen[index] = text
            sections.add(window.section)
            left -= len(text) + cost
        if left < LEAST_ROOM:
            break
    return chosen


def shown_heading(window: Window, limit: int) -> str:
    """Return the path of headings that is shown with a window; "" if it is too long."""
    return window.heading if len(window.heading) * HEADING_SHARE <= limit else ""


def cut_window(window: Window, text: str, room: int) -> str:
    """Return the part of a window's text that holds the most of the query's terms.

    Of lines it is the beginning; a line is cut only if it is longer than a window. "" if the part
    would be a fragment.
    """
    if room < LEAST_ROOM:
        return ""
    if window.is_lines:
        lines = text[: room - len("\n…")].rpartition("\n")[0].rstrip()
        if lines or len(text) <= WINDOW_CHARS:
            return f"{lines}\n…" if lines else ""
    room -= len("… …")
    last = len(text) - room  # from here on, all fits
    start = min(telling_part(text, room, window.weights), text.find(" ", last) + 1 or last)
    end = len(text)
    if start < last:
        end = start + room
        end = max(text.rfind(" ", start + room * 2 // 3, end), 0) or end  # no space in some scripts
    part = text[start:end].strip()
    if is_fragment(part):
        return ""
    return "… " * (start > 0) + part + "…" * (end < len(text))


def joint(markdown: str, before: Window, after: Window, is_next: bool) -> str:
    """Return what stands between two windows of a section that are shown one after the other."""
    is_same_block = before.block == after.block
    if is_next and is_same_block:
        between = markdown[before.end : after.start]
        return between if len(between) <= len("\n\n") else "\n" if "\n" in between else " "
    gap = "\n\n" if is_next else PARAGRAPH_GAP
    if is_same_block and not before.is_lines:
        gap = f" {GAP} "
    return before.closing + gap + after.opening
