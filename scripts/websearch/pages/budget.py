"""Share a document's room among the texts of pages."""

from __future__ import annotations

import time

from websearch.common import dump_json
from websearch.pages.passages import PARAGRAPH_GAP, join_best
from websearch.pages.ranking import rank_windows

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.pages.text_windows import Window

MAX_SOURCE = 500_000  # characters of a page that passages are chosen from: a long book, in 0.3 s
# A page's weight is its rank to this power. Within 3,000 characters, -0.5 answers 46 of the 51
# questions of `make bench`, -0.75 47 of them, -1 all.
RANK_EXPONENT = -1.0
SMALLEST_REST = 60  # characters: a smaller rest of the room is not handed out again


def fill_texts(
    items: list[dict[str, Any]],
    texts: list[str],
    queries: list[str],
    room: int,
    rank_until: float = float("inf"),
) -> bool:
    """Put the texts of pages into items ("text") within room characters of JSON.

    items: in order of rank; the first gets the most. queries: one for each text; several questions
    stand on lines of their own. A text that does not fit becomes an excerpt that answers, and its
    item is marked truncated. What one text does not need, the others get. Returns whether a text
    was cut. rank_until: on time.monotonic()'s clock; of what is not ranked by then the beginning
    comes.
    """
    chosen = texts
    if sum(map(json_size, texts)) > room:
        chosen = cut_texts(texts, queries, room, rank_until)
    for item, text, found in zip(items, texts, chosen, strict=True):
        if found:
            item["text"] = found
        if found != text:
            item["truncated"] = True
    return chosen != texts


def cut_texts(
    texts: list[str], queries: list[str], room: int, rank_until: float = float("inf")
) -> list[str]:
    """Return excerpts of texts within room characters of JSON; short texts stay whole."""
    weights = [(place + 1) ** RANK_EXPONENT for place in range(len(texts))]
    shares = share_room([json_size(text) for text in texts], room, weights)
    ranked: list[list[Window] | None] = [
        rank_windows(text[:MAX_SOURCE], query) if time.monotonic() < rank_until else None
        for text, query in zip(texts, queries, strict=True)
    ]
    chosen: list[str] = []
    spare = 0
    for text, windows, share in zip(texts, ranked, shares, strict=True):
        chosen.append(excerpt(text, windows, share + spare))
        spare += share - json_size(chosen[-1])
    for place, text in enumerate(texts):  # what the last ones left over
        if chosen[place] != text and spare >= SMALLEST_REST:
            spare += json_size(chosen[place])
            chosen[place] = excerpt(text, ranked[place], spare)
            spare -= json_size(chosen[place])
    return chosen


def share_room(wanted: list[int], room: int, weights: list[float]) -> list[int]:
    """Return a share of room for each wish, in proportion to its weight.

    What one does not need, the others get: a share is never larger than the wish.
    """
    shares = [0] * len(wanted)
    waiting = list(range(len(wanted)))
    while waiting:
        total = sum(weights[one] for one in waiting)
        fair = {one: room * weights[one] / total for one in waiting}
        content = [one for one in waiting if wanted[one] <= fair[one]]
        for one in content or waiting:
            shares[one] = wanted[one] if content else int(fair[one])
        if not content:
            return shares
        room -= sum(wanted[one] for one in content)
        waiting = [one for one in waiting if one not in content]
    return shares


def excerpt(text: str, windows: list[Window] | None, room: int) -> str:
    """Return a text, or what of it answers and then its beginning, within room of JSON.

    windows: None if they were not ranked: the beginning comes alone. "" if the room is too small
    for a few words.
    """
    if json_size(text) <= room:
        return text
    if windows is None:
        return text[: slice_end(text[:room], 0, room)].rstrip() if room > SMALLEST_REST else ""

    def choose(limit: int) -> str:
        passages = join_best(text, windows, limit, fill=True)
        return PARAGRAPH_GAP.join(f"{one['heading']}\n\n{one['text']}".strip() for one in passages)

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
