"""Whether a quotation stands in a text, literally, and which words are nearest to it if not.

Both are compared in the form of websearch.core.matching, in lower case and without marks of notes.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from websearch.core.matching import normal_text_with_map
from websearch.core.words import STOP_WORDS, UNSPACED
from websearch.kit import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from websearch.kit import Document

NEAR = 0.6  # share of a quotation's words that stand in the text, in order, if it is altered
COMMON_WEIGHT = 0.3  # of "the" and "of", which stand in any page; another word has 1
SHORT_PART = 3  # words; a shorter part beside a gap stands near the other one
NEAR_CHARS = 1_000
MOST_TRIES = 100  # places of the first part of a quotation
PIECE_WORDS = 150  # that are aligned at once: aligning takes quadratic time
MOST_PLACES = 4_000  # of the words of one piece, that are looked at
BEST_PLACES = 3  # that are aligned
ADDED_WORDS = 8  # of the text in a row, inside of words that are the quotation's
MOST_DIFFERENCES = 10  # that are told
SOURCE_CHARS = 1_500  # of the words of the text that are told

# Marks of notes and sources, which are no part of what is quoted.
_NOTE = re.compile(r"\\?\[(?:\^?\d{1,3}|[a-z]|(?:note|nb|n) \d{1,3}|citation needed)\\?\](?!\w)")
# What an author leaves out or puts in: "...", "[...]", "(…)", "[the company]"; "[t]his" is no gap.
_DOTS = r"(?:…|\.(?:\s?\.){2,3})"
_GAP = re.compile(rf"[\[(]\s?{_DOTS}\s?[\])]|{_DOTS}|\[[^\[\]]{{2,60}}\](?!\()")
_LETTER = rf"[^\W{UNSPACED}]"
_TOKEN = re.compile(rf"[{UNSPACED}]|{_LETTER}+(?:'{_LETTER}+|(?<=\d)[.,]\d+)*|[^\w\s]")
# A line end stands for the place between two characters that belong to one word or number.
_INSIDE = re.compile(
    rf"{_LETTER}\n{_LETTER}|\d[.,]\n\d|\d\n[.,]\d|{_LETTER}'\n{_LETTER}|{_LETTER}\n'{_LETTER}"
)
_EDGES = " .,;:"  # a sentence's own signs at the ends of a quotation belong to the draft


class Nearest(NamedTuple):
    """The words of a text that are nearest to a piece of a quotation, and what differs."""

    same: float  # the weight of its words that agree
    text: str
    differences: list[tuple[str, str]]  # (words of the quotation, words of the text)


class ComparedText:
    """A text in the form in which it is compared: compared, and the offset of each character."""

    def __init__(self, text: str) -> None:
        self.text = text
        unmarked = _NOTE.sub(lambda note: "\u200b" * len(note[0]), text)  # counts as nothing
        normal, self.offsets = normal_text_with_map(unmarked)
        self.compared = normal.lower()
        if len(self.compared) != len(normal):  # of a few capitals, two characters come
            lower = ((sign.lower(), sign) for sign in normal)
            self.compared = "".join(low if len(low) == 1 else sign for low, sign in lower)

    @functools.cached_property
    def tokens(self) -> list[re.Match[str]]:
        """Return the words, numbers and signs of the text; of the signs at its ends none."""
        end = len(self.compared.rstrip(_EDGES))
        start = len(self.compared) - len(self.compared.lstrip(_EDGES))
        return list(_TOKEN.finditer(self.compared, start, end))

    @functools.cached_property
    def words(self) -> list[str]:
        """Return the tokens as text."""
        return [token[0] for token in self.tokens]

    @functools.cached_property
    def places(self) -> dict[str, list[int]]:
        """Return the indexes of each word among the tokens."""
        places: dict[str, list[int]] = {}
        for index, word in enumerate(self.words):
            if word[0].isalnum():
                places.setdefault(word, []).append(index)
        return places

    def original(self, first: int, last: int) -> str:
        """Return the text from one token to before another one, in one line."""
        if first >= last:
            return ""
        start, end = self.tokens[first].start(), self.tokens[last - 1].end()
        return " ".join(self.text[self.offsets[start] : self.offsets[end - 1] + 1].split())

    # ----- literally

    def find(self, part: str, start: int, limit: int | None = None) -> Iterator[int]:
        """Yield where a compared part ends that stands here as whole words, up to a limit."""
        while (start := self.compared.find(part, start, limit)) >= 0:
            end = start + len(part)
            if not any(self.is_inside_word(border) for border in (start, end)):
                yield end
            start += 1

    def is_inside_word(self, index: int) -> bool:
        """Return whether a word or number goes on over an index."""
        text = self.compared
        around = f"{text[max(0, index - 2) : index]}\n{text[index : index + 2]}"
        return bool(_INSIDE.search(around))

    def holds(self, parts: list[ComparedText]) -> bool:
        """Return whether parts of a quotation stand here in order, short ones near to others."""
        texts = [part.compared.strip(_EDGES) for part in parts]
        is_short = [len(part.words) < SHORT_PART for part in parts]
        for tries, end in enumerate(self.find(texts[0], 0)):
            for index, text in enumerate(texts[1:], 1):
                is_near = is_short[index] or is_short[index - 1]
                limit = end + NEAR_CHARS + len(text) if is_near else None
                end = next(self.find(text, end, limit), -1)  # noqa: PLW2901
                if end < 0:
                    break
            else:
                return True
            if tries == MOST_TRIES or not any(is_short):
                break
        return False

    # ----- nearly

    def nearest(self, part: ComparedText) -> list[Nearest]:
        """Return the nearest words of this text to each piece of a part of a quotation."""
        starts = range(0, len(part.words), PIECE_WORDS)
        return [self.nearest_to(part, start, part.words[start:][:PIECE_WORDS]) for start in starts]

    def nearest_to(self, part: ComparedText, offset: int, words: list[str]) -> Nearest:
        """Return the nearest words of this text to words of a part from a token on."""
        best = Nearest(0, "", [])
        margin = len(words) // 3 + ADDED_WORDS
        for start in self.likely_starts(words):
            first = max(0, start - margin)
            window = self.words[first : start + len(words) + margin]
            blocks = agreeing_blocks(words, window)
            same = sum(
                map(weight_of, (word for a, _, size in blocks for word in words[a : a + size]))
            )
            if same <= best.same:
                continue
            # Words that differ at the ends stand for as many words of the text.
            begin = blocks[0][1] - min(blocks[0][1], blocks[0][0])
            last_a, last_b, size = blocks[-1]
            end = min(len(window), last_b + len(words) - last_a)
            borders = [(0, begin, 0), *blocks, (len(words), end, 0)]
            differences = []
            for (a, b, size), (next_a, next_b, _) in pairwise(borders):
                own = part.original(offset + a + size, offset + next_a)
                its = self.original(first + b + size, first + next_b)
                differences += [(own, its)] if own or its else []
            best = Nearest(same, self.original(first + begin, first + end), differences)
        return best

    def likely_starts(self, words: list[str]) -> list[int]:
        """Return where most of some words would begin together, the rare ones asked first."""
        known = [
            (self.places[word], index) for index, word in enumerate(words) if word in self.places
        ]
        votes: Counter[int] = Counter()
        left = MOST_PLACES
        for places, index in sorted(known, key=lambda item: len(item[0])):
            votes.update(place - index for place in places[:left])
            left -= min(left, len(places))
        sums = {start: sum(votes.get(start + step, 0) for step in (-1, 0, 1)) for start in votes}
        starts: list[int] = []
        for start in sorted(sums, key=lambda start: -sums[start]):
            if all(abs(start - other) > 2 for other in starts):
                starts.append(start)
            if len(starts) == BEST_PLACES:
                break
        return starts


def weight_of(word: str) -> float:
    """Return what a word counts that a quotation and a text share; signs count nothing."""
    return COMMON_WEIGHT if word in STOP_WORDS else float(word[0].isalnum())


def agreeing_blocks(words: list[str], window: list[str]) -> list[tuple[int, int, int]]:
    """Return the blocks (start in words, start in window, size) that agree, around the largest.

    A block that stands further from the next one than ADDED_WORDS more is another use of the word.
    """
    matcher = SequenceMatcher(None, words, window, autojunk=False)
    blocks = [(a, b, size) for a, b, size in matcher.get_matching_blocks() if size]
    if not blocks:
        return []
    largest = blocks.index(max(blocks, key=lambda block: block[2]))
    first = last = largest
    while first and added_between(blocks[first - 1], blocks[first]) <= ADDED_WORDS:
        first -= 1
    while last + 1 < len(blocks) and added_between(blocks[last], blocks[last + 1]) <= ADDED_WORDS:
        last += 1
    return blocks[first : last + 1]


def added_between(block: tuple[int, int, int], following: tuple[int, int, int]) -> int:
    """Return how many more tokens the window has between two blocks than the words."""
    return (following[1] - block[1]) - (following[0] - block[0])


# ===== the verdict ================================================================================


class Quotation:
    """A quotation as it is compared: whole, and its parts between what was left out or put in."""

    def __init__(self, text: str) -> None:
        self.whole = ComparedText(text)
        pieces = _GAP.split(_NOTE.sub("", text))
        parts = (ComparedText(piece.strip(f"{_EDGES}\n\t")) for piece in pieces)
        self.parts = [part for part in parts if part.words]

    def stands_in(self, page: ComparedText) -> bool:
        """Return whether it stands in a page literally."""
        return bool(self.parts) and (page.holds([self.whole]) or page.holds(self.parts))

    def judged(self, page: ComparedText) -> Document:
        """Return {verdict, source_text?, differs?, note?}: verbatim, altered or absent in a page.

        differs: {quote, source} of the first words that differ; "" stands for none.
        """
        if self.stands_in(page):
            return {"verdict": "verbatim"}
        nearest = [near for part in self.parts for near in page.nearest(part)]
        whole = sum(weight_of(word) for part in self.parts for word in part.words)
        if sum(near.same for near in nearest) < max(COMMON_WEIGHT, NEAR * whole):
            return {"verdict": "absent"}
        differences = [pair for near in nearest for pair in near.differences]
        if not differences and len(nearest) == 1:  # nothing but spaces
            return {"verdict": "verbatim"}
        text = " […] ".join(near.text for near in nearest if near.text)
        answer = {"verdict": "altered", "source_text": shorten(text, SOURCE_CHARS)}
        if not differences:
            return {**answer, "note": "The parts stand in another order, or far apart."}
        differs = [{"quote": own, "source": its} for own, its in differences[:MOST_DIFFERENCES]]
        return {**answer, "differs": differs}
