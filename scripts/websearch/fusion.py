"""Join ranked lists of results: one address counts once, and so does one text.

Pure functions: reciprocal rank fusion over canonical addresses, and texts compared by shingles.
"""

from __future__ import annotations

import re

from websearch.engines.result_pages import canonical_url

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

# Cormack, Clarke and Büttcher (2009) chose 60 for reciprocal rank fusion; later work kept it.
RANK_CONSTANT = 60
SHINGLE_WORDS = 5  # words in a row that are compared: a shorter run stands in unrelated texts
SAME_TEXT = 0.8  # share of the smaller text's shingles that makes two texts the same
MIN_SHINGLES = 20  # a shorter text (an error page, a notice) says nothing about sameness
MAX_SHINGLES = 2_000  # of one text: some 2,000 words tell articles apart


def fuse(lists: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the results of several ranked lists as one, the best first.

    Each is {result, lists, score}: the result as the list that ranks it best has it, the indexes of
    all lists that hold it, and the sum of 1 / (RANK_CONSTANT + rank) over them. Equal scores keep
    the order of the lists. An address counts once in each list.
    """
    found: dict[str, dict[str, Any]] = {}
    for index, results in enumerate(lists):
        seen: set[str] = set()
        for rank, result in enumerate(results, 1):
            key = canonical_url(result["url"])
            if key in seen:
                continue
            seen.add(key)
            entry = found.setdefault(key, {"result": result, "rank": rank, "lists": [], "score": 0})
            entry["lists"].append(index)
            entry["score"] += 1 / (RANK_CONSTANT + rank)
            if rank < entry["rank"]:
                entry["result"], entry["rank"] = result, rank
            add_missing(entry, result)
    ranked = sorted(found.values(), key=lambda entry: -entry["score"])
    return [{name: entry[name] for name in ("result", "lists", "score")} for entry in ranked]


def add_missing(entry: dict[str, Any], other: dict[str, Any]) -> None:
    """Give an entry's result the fields that only another list has, such as a date."""
    missing = {name: value for name, value in other.items() if name not in entry["result"]}
    if missing:
        entry["result"] = {**entry["result"], **missing}


def shingles(text: str) -> frozenset[int]:
    """Return the runs of SHINGLE_WORDS words of a text, as hashes of this process."""
    words = re.findall(r"\w+", text[: 20 * MAX_SHINGLES].lower())[:MAX_SHINGLES]
    runs = range(len(words) - SHINGLE_WORDS + 1)
    return frozenset(hash(tuple(words[place : place + SHINGLE_WORDS])) for place in runs)


def same_texts(texts: list[str]) -> list[int]:
    """Return for each text the index of the first text that is the same, its own if there is none.

    Two texts are the same if SAME_TEXT of the smaller one's shingles stand in the other: syndicated
    articles differ in what surrounds them.
    """
    sets = [shingles(text) for text in texts]
    first: list[int] = []
    for index, own in enumerate(sets):
        same = index
        for earlier in range(index):
            smaller = min(len(own), len(sets[earlier]))
            if first[earlier] != earlier or smaller < MIN_SHINGLES:
                continue
            if len(own & sets[earlier]) >= SAME_TEXT * smaller:
                same = earlier
                break
        first.append(same)
    return first
