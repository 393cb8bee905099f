"""Choose the passages of a page that answer a query."""

from __future__ import annotations

import re

from websearch.common import dump_json, shorten
from websearch.pages.content import name_set

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections import Counter
    from typing import Any

# ===== passages that answer a query ===============================================================

MAX_CODE_PASSAGE = 4_000  # characters of a code block that stays in one piece
MAX_SOURCE = 500_000  # characters of a page that passages are chosen from: a long book, in 0.1 s
PASSAGE_CHARS = 700  # of a passage that is ranked; neighbours are joined afterwards
TERM_SATURATION, LENGTH_WEIGHT = 1.2, 0.75  # BM25's usual k1 and b
# Scripts that put no spaces between words: Thai, Lao, Khmer, Burmese, Chinese, Japanese.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_LONE_IDEOGRAPH = r"(?<![\u4e00-\u9fff])[\u4e00-\u9fff](?![\u4e00-\u9fff])"
_TERM = rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+"
_SENTENCE_END = r"[.!?]\s|[\u3002\uff01\uff1f]|\n"
STOP_WORDS = name_set(
    "a an and are as at be by can do does for from how i in is it of on or that the this to was "
    "what when where which who why will with you"
)


def terms_of(text: str) -> list[str]:
    """Return the terms of a text: words without case, accents and plural s.

    Of scripts without spaces between words, pairs of characters and lone ideographs.
    """
    import unicodedata

    plain = unicodedata.normalize("NFKD", text.casefold())
    plain = unicodedata.normalize("NFC", re.sub(r"[\u0300-\u036f]", "", plain))
    found = []
    for word in re.findall(_TERM, plain):
        if re.match(rf"[{_UNSPACED}]", word):
            found += [word[place : place + 2] for place in range(max(1, len(word) - 1))]
            found += re.findall(_LONE_IDEOGRAPH, word)
        else:
            ends = len(word) > 3 and word.endswith("s") and not word.endswith("ss")
            found.append(word[:-1] if ends else word)
    return found


def split_passages(markdown: str) -> list[dict[str, str]]:
    """Return Markdown as passages {heading, text} in order: split at headings, then paragraphs.

    heading is the path of headings, outer ones first. Code stays whole; a paragraph longer than
    a passage is split at sentences.
    """
    path: list[tuple[int, str]] = []
    passages: list[dict[str, str]] = []
    heading = ""
    for block in split_blocks(markdown):
        match = re.match(r"(#{1,6}) (.+)", block)
        if match:
            path = [one for one in path if one[0] < len(match[1])]
            path.append((len(match[1]), match[2].strip()))
            heading = " > ".join(text for _, text in path)
            passages.append({"heading": heading, "text": ""})
            continue
        for piece in split_long(block):
            last = passages[-1] if passages else None
            room = PASSAGE_CHARS - len(last["text"]) if last else 0
            if last and last["heading"] == heading and (not last["text"] or len(piece) <= room):
                last["text"] = f"{last['text']}\n\n{piece}".strip()
            else:
                passages.append({"heading": heading, "text": piece})
    return [passage for passage in passages if passage["text"]]


def split_blocks(markdown: str) -> list[str]:
    """Return the blocks of Markdown: what stands between empty lines, a code block in one piece."""
    blocks: list[str] = []
    code: list[str] = []  # the parts of an open code block
    fence = ""
    for part in re.split(r"\n{2,}", markdown):
        if fence:
            code.append(part)
        elif part.strip():
            blocks.append(part.strip("\n"))
        for mark in re.findall(r"(?m)^(`{3,})", part):
            if not fence:
                fence = mark
            elif len(mark) >= len(fence):
                fence = ""
        if code and not fence:
            blocks[-1] = "\n\n".join([blocks[-1], *code])
            code = []
    if code:
        blocks[-1] = "\n\n".join([blocks[-1], *code])
    return blocks


def split_long(block: str) -> list[str]:
    """Return a block as pieces of about a passage's length, cut after sentences or at spaces.

    Code is cut only where it is so long that no budget would hold it.
    """
    if len(block) <= (MAX_CODE_PASSAGE if block.startswith("```") else 2 * PASSAGE_CHARS):
        return [block]
    pieces = []
    start = 0
    while len(block) - start > 2 * PASSAGE_CHARS:
        window = block[start : start + PASSAGE_CHARS]
        ends = [match.end() for match in re.finditer(_SENTENCE_END, window)]
        cut = ends[-1] if ends else window.rfind(" ", 1) + 1 or PASSAGE_CHARS
        pieces.append(window[:cut].strip())
        start += cut
    return [piece for piece in [*pieces, block[start:].strip()] if piece]


def select_passages(markdown: str, query: str, max_chars: int) -> list[dict[str, str]]:
    """Return the passages of Markdown that answer a query, in the page's order.

    Each is {heading, text}: heading is the path of headings, "" before the first one. Ranked by
    BM25 over text and heading path; the best are taken until max_chars are used (0: no limit), and
    neighbours are joined. [] if no passage holds a term of the query.
    """
    passages = split_passages(markdown)
    scores = rank_passages(passages, query)
    chosen: dict[int, dict[str, str]] = {}
    left = max_chars or len(markdown) + 1
    for index in sorted(
        (one for one in range(len(passages)) if scores[one] > 0), key=lambda one: -scores[one]
    ):
        passage = passages[index]
        room = left - len(passage["heading"]) - 2
        if len(passage["text"]) > room and (chosen or room <= 0):
            continue
        text = shorten(passage["text"], room)
        chosen[index] = {"heading": passage["heading"], "text": text}
        left = room - len(text)
    joined: list[dict[str, str]] = []
    previous = -2
    for index in sorted(chosen):
        passage = chosen[index]
        if index == previous + 1 and joined[-1]["heading"] == passage["heading"]:
            joined[-1]["text"] += "\n\n" + passage["text"]
        else:
            joined.append(dict(passage))
        previous = index
    return joined


def rank_passages(passages: list[dict[str, str]], query: str) -> list[float]:
    """Return scores of passages for a query: BM25; words of the heading path count twice.

    A query of several lines holds a question a line: see joint_scores.
    """
    from collections import Counter

    questions = [set(terms_of(line)) for line in query.split("\n")]
    questions = [terms - STOP_WORDS or terms for terms in questions]
    counts = []
    for passage in passages:
        counted = Counter(terms_of(passage["text"]))
        for term in terms_of(passage["heading"]):
            counted[term] += 2
        counts.append(counted)
    return joint_scores([bm25_scores(counts, terms) for terms in questions])


def bm25_scores(counts: list[Counter[str]], terms: set[str]) -> list[float]:
    """Return the BM25 score of each passage for terms; counts: how often it holds each term."""
    import math

    lengths = [sum(counted.values()) for counted in counts]
    average = sum(lengths) / max(1, len(lengths)) or 1.0
    holding = {term: sum(term in counted for counted in counts) for term in terms}
    scores = []
    for counted, length in zip(counts, lengths, strict=True):
        norm = TERM_SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / average)
        score = 0.0
        for term in terms & counted.keys():
            rarity = math.log(1 + (len(counts) - holding[term] + 0.5) / (holding[term] + 0.5))
            score += rarity * counted[term] * (TERM_SATURATION + 1) / (counted[term] + norm)
        scores.append(score)
    return scores


def joint_scores(rankings: list[list[float]]) -> list[float]:
    """Return one score for each passage from the scores that each of several questions gives it.

    Questions take turns: the best passage of each comes first, then the second best of each, so
    that a question of rare words does not take the room of the others.
    """
    if len(rankings) == 1:
        return rankings[0]
    joint = [0.0] * len(rankings[0])
    for scores in rankings:
        answering = [place for place, score in enumerate(scores) if score > 0]
        answering.sort(key=lambda place: -scores[place])
        for turn, place in enumerate(answering, 1):
            joint[place] = max(joint[place], 1 / turn)
    return joint


# ===== texts share a document's room ==============================================================

GAP = "\n\n[…]\n\n"  # between two passages that are not neighbours
SMALLEST_REST = 60  # characters: a smaller rest of the room is not handed out again


def fill_texts(
    items: list[dict[str, Any]], texts: list[str], queries: list[str], room: int
) -> bool:
    """Put the texts of pages into items ("text") within room characters of JSON.

    items: in order of rank; the first gets the most. A text that does not fit becomes an excerpt
    that answers its query, and its item is marked truncated. What one text does not need, the
    others get. Returns whether a text was cut.
    """
    wanted = [json_size(text) for text in texts]
    weights = [(rank + 1) ** -0.5 for rank in range(len(texts))]
    shares = share_room(wanted, room, weights)
    chosen = [
        text if want <= share else excerpt(text, query, share)
        for text, query, want, share in zip(texts, queries, wanted, shares, strict=True)
    ]
    left = room - sum(map(json_size, chosen))
    for place, (text, share) in enumerate(zip(texts, shares, strict=True)):
        if left >= SMALLEST_REST and share < wanted[place]:  # what excerpts have left over
            before = json_size(chosen[place])
            chosen[place] = excerpt(text, queries[place], before + left)
            left -= json_size(chosen[place]) - before
    for item, text, found in zip(items, texts, chosen, strict=True):
        if found:
            item["text"] = found
        if found != text:
            item["truncated"] = True
    return chosen != texts


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


def excerpt(text: str, query: str, room: int) -> str:
    """Return what a page says about a query, in at most room characters of JSON.

    The passages that answer, in the page's order; else the page's beginning.
    """
    passages = select_passages(text[:MAX_SOURCE], query, room * 9 // 10)
    while passages:
        parts = [f"{one['heading']}\n\n{one['text']}".strip() for one in passages]
        chosen = GAP.join(parts)
        if json_size(chosen) <= room:
            return chosen
        passages.pop()
    return text[: slice_end(text, 0, room)]


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
