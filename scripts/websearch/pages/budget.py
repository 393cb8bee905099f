"""Share a document's room among the texts of pages."""

from __future__ import annotations

import time

from websearch.common import dump_json
from websearch.pages.passages import PARAGRAPH_GAP, join_best
from websearch.pages.ranking import REPEATED, rank_windows, window_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.pages.text_windows import Window

MAX_SOURCE = 500_000  # characters of a page that passages are chosen from: a long book, in 0.3 s
# A page's weight is its rank to this power. Within 3,000 characters, -0.5 answers 46 of the 51
# questions of `make bench`, -0.75 47 of them, -1 all.
RANK_EXPONENT = -1.0
LEAST_SHARE = 150  # characters of a text; less answers hardly anything
SMALLEST_REST = 60  # characters: a smaller rest of the room is not handed out again
UNLIMITED = (
    100_000_000  # characters of room in which all texts are shown, whether they answer or not
)


def fill_texts(
    items: list[dict[str, Any]],
    texts: list[str],
    queries: list[str],
    room: int,
    deadline: float | None = None,
) -> bool:
    """Put the texts of pages into items ("text") within room characters of JSON.

    items: in order of rank; the first gets the most. queries: one for each text; several questions
    stand on lines of their own. deadline: of time.monotonic().

    A text that does not fit becomes its passages that answer, and its item is marked truncated. A
    text that no passage of answers gives nothing, and room that no answer needs stays empty. What
    an earlier text has shown is not repeated. Texts that could not be ranked by the deadline give
    their beginning. Returns whether a text was marked.
    """
    excerpts = texts if room >= UNLIMITED else share_texts(texts, queries, room, deadline)
    is_cut = False
    for item, text, shown in zip(items, texts, excerpts, strict=True):
        if shown:
            item["text"] = shown
        if shown is not None and shown != text:
            item["truncated"] = is_cut = True
    return is_cut


def share_texts(
    texts: list[str], queries: list[str], room: int, deadline: float | None
) -> list[str | None]:
    """Return what is shown of texts within room characters of JSON; None for one without answer."""
    ranked = [rank_text(text, query, deadline) for text, query in zip(texts, queries, strict=True)]
    sizes = [
        0 if windows == [] else json_size(text) for text, windows in zip(texts, ranked, strict=True)
    ]
    weights = [(rank + 1) ** RANK_EXPONENT for rank in range(len(texts))]
    shares = share_room(sizes, room, weights)
    for index in range(len(texts) - 1, 0, -1):  # the last ones for a query leave room to the first
        if shares[index] < min(sizes[index], LEAST_SHARE) and queries[index] in queries[:index]:
            sizes[index] = 0
            shares = share_room(sizes, room, weights)
    shown: list[str | None] = [None] * len(texts)
    repeats: list[set[str]] = [set() for _ in texts]  # keys of the windows that each text shows

    def show(index: int, room: int) -> int:
        """Show a text within a room; return how much of the room it takes."""
        text, windows = texts[index], ranked[index]
        if windows == []:
            return 0
        shown[index] = ""
        if not shares[index] and room < LEAST_SHARE:
            return 0
        if windows is None:
            shown[index] = part = text[: slice_end(text, 0, room)]
            return json_size(part)
        leave_out(text, windows, set().union(*repeats[:index], *repeats[index + 1 :]))
        shown[index] = part = excerpt(text, windows, room)
        keys = {text[window.start : window.end]: window_key(text, window) for window in windows}
        repeats[index] = {key for passage, key in keys.items() if key and passage in part}
        return json_size(part)

    spare = 0
    for index, share in enumerate(shares):
        spare += share - show(index, share + spare)
    for index, text in enumerate(texts):  # what the last ones left over
        part = shown[index]
        if part is not None and part != text and spare >= SMALLEST_REST:
            spare += json_size(part) if part else 0
            spare -= show(index, spare)
    return shown


def rank_text(text: str, query: str, deadline: float | None) -> list[Window] | None:
    """Return the ranked windows of a text: [] if none answers, None if there was no time."""
    windows = rank_windows(text[:MAX_SOURCE], query, deadline)
    if any(window.score > 0 for window in windows):
        return windows
    return None if deadline is not None and time.monotonic() > deadline else []


def leave_out(text: str, windows: list[Window], keys: set[str]) -> None:
    """Mark the windows of a text that other texts have shown."""
    for window in windows:
        if window_key(text, window) in keys:
            window.score = REPEATED


def share_room(wanted: list[int], room: int, weights: list[float]) -> list[int]:
    """Return a share of room for each wish, in proportion to its weight.

    What one does not need, the others get: a share is never larger than the wish.
    """
    shares = [0] * len(wanted)
    waiting = list(range(len(wanted)))
    while waiting:
        total = sum(weights[index] for index in waiting)
        fair = {index: room * weights[index] / total for index in waiting}
        content = [index for index in waiting if wanted[index] <= fair[index]]
        for index in content or waiting:
            shares[index] = wanted[index] if content else int(fair[index])
        if not content:
            return shares
        room -= sum(wanted[index] for index in content)
        waiting = [index for index in waiting if index not in content]
    return shares


def excerpt(text: str, windows: list[Window], room: int) -> str:
    """Return a text, or its passages that answer, within room characters of JSON.

    "" if the room is too small for a few words.
    """
    is_whole = json_size(text) <= room
    if is_whole and all(window.score != REPEATED for window in windows):
        return text

    def choose(limit: int) -> str:
        passages = join_best(text, windows, limit, fill=is_whole)
        return PARAGRAPH_GAP.join(
            f"{passage['heading']}\n\n{passage['text']}".strip() for passage in passages
        )

    return fit_json(choose, room) or ""


def fit_json(choose: Callable[[int], Any], room: int) -> Any:
    """Return the first of choose(room), choose(less) and so on whose JSON fits room; else None."""
    limit = room
    while limit > 0:
        chosen = choose(limit)
        size = json_size(chosen)
        if size <= room:
            return chosen
        limit = min(limit - 1, limit * room // size)
    return None


def json_size(value: Any) -> int:
    """Return how many characters a value takes in JSON."""
    return len(dump_json(value))


def slice_end(text: str, start: int, room: int) -> int:
    """Return where a slice of text ends that takes at most room characters of JSON (0: no limit).

    It ends after a paragraph, line, sentence or word if one ends in its last third.
    """
    piece = text[start:]
    if not room or json_size(piece) <= room:
        return len(text)
    low, high = 0, min(room, len(piece))
    while low < high:
        middle = (low + high + 1) // 2
        if json_size(piece[:middle]) <= room:
            low = middle
        else:
            high = middle - 1
    for pattern in ("\n\n", "\n", ". ", "。", " "):
        place = piece.rfind(pattern, low * 2 // 3, low)
        if place > 0:
            return start + place + len(pattern)
    return start + max(low, 1)
