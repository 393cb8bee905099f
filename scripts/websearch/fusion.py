"""Join ranked lists of results: one address counts once, and so does one text.

Pure functions: reciprocal rank fusion over canonical addresses, and texts compared by shingles.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

# Cormack, Clarke and Büttcher (2009) chose 60 for reciprocal rank fusion; later work kept it.
RANK_CONSTANT = 60
SHINGLE_WORDS = 5  # words in a row that are compared: a shorter run stands in unrelated texts
SAME_TEXT = 0.8  # share of the shingles of two texts that stand in both if the texts are the same
MIN_SHINGLES = 20  # a shorter text (an error page, a notice) says nothing about sameness
MAX_SHINGLES = 2_000  # of one text: the first 2,000 words tell articles apart


def fuse(lists: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the results of several ranked lists as one, the best first.

    Each is {result, lists}: the result as the list that ranks it best has it, with the fields that
    only others have (such as a date), and the indexes of all lists that hold it. A result scores
    the sum of 1 / (RANK_CONSTANT + rank) over the lists; an address counts once in each. Equal
    scores keep the order of the lists.
    """
    from websearch.engines.result_pages import canonical_url  # not for an answer from the store

    found: dict[str, dict[str, Any]] = {}
    for index, results in enumerate(lists):
        seen: set[str] = set()
        for rank, result in enumerate(results, 1):
            key = canonical_url(result["url"])
            if key in seen:
                continue
            seen.add(key)
            new = {"result": result, "rank": rank, "lists": [], "score": 0.0}
            entry = found.setdefault(key, new)
            entry["lists"].append(index)
            entry["score"] += 1 / (RANK_CONSTANT + rank)
            if rank < entry["rank"]:
                entry["rank"], entry["result"] = rank, completed(result, entry["result"])
            else:
                entry["result"] = completed(entry["result"], result)
    ranked = sorted(found.values(), key=lambda entry: -entry["score"])
    return [{name: entry[name] for name in ("result", "lists")} for entry in ranked]


def completed(result: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return a result with the fields that only another one of the same page has.

    An error belongs to one address and is not taken over.
    """
    return {**without_error(other), **result}


def without_error(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the reason why its page could not be read."""
    return {name: value for name, value in result.items() if name != "error"}


def same_texts(sets: list[frozenset[int]]) -> list[int]:
    """Return for each text the index of the first text that is the same; it may be its own index.

    sets: the shingles of the texts. Two texts are the same if more than SAME_TEXT of their shingles
    stand in both: syndicated articles differ in a few lines only. A teaser and its article are two
    texts.
    """
    first: list[int] = []
    for index, own in enumerate(sets):
        same = (
            earlier
            for earlier in range(index)
            if first[earlier] == earlier
            and min(len(own), len(sets[earlier])) >= MIN_SHINGLES
            and len(own & sets[earlier]) > SAME_TEXT * len(own | sets[earlier])
        )
        first.append(next(same, index))
    return first


def shingles(text: str) -> frozenset[int]:
    """Return the runs of SHINGLE_WORDS terms of a text, as hashes of this process."""
    words = re.findall(r"\w+", text[: 20 * MAX_SHINGLES].lower())[:MAX_SHINGLES]
    runs = range(len(words) - SHINGLE_WORDS + 1)
    return frozenset(hash(tuple(words[place : place + SHINGLE_WORDS])) for place in runs)
