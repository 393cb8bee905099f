"""Find a quotation in a text, or else the words in the text that are closest to it.

Both are compared in the form of websearch.base.matching, in lower case and without footnote
numbers.
"""

from __future__ import annotations

import functools
import math
import re
import time
from array import array
from bisect import bisect_left
from collections import Counter
from difflib import SequenceMatcher
from itertools import chain, pairwise
from typing import NamedTuple

from websearch.base.matching import FORMULA_SIGN, MINUS, normal_text_with_map
from websearch.base.words import NEGATIONS, STOP_WORDS, UNSPACED
from websearch.kit import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from websearch.kit import Document

NEAR = 0.6  # minimum share of an altered quotation's words that the text has in order
COMMON_WEIGHT = 0.3  # weight of words such as "the" that any page contains; other words weigh 1
SHORT_PART = 3  # words; a shorter part next to a gap must be near the other part
NEAR_CHARS = 1_000  # maximum distance between such parts
MOST_TRIES = 100  # attempted positions of a quotation's first part
PIECE_WORDS = 150  # words aligned at once: alignment takes quadratic time
MOST_PLACES = 4_000  # positions examined for the words of one piece
BEST_PLACES = 3  # positions aligned per piece
ADDED_WORDS = 8  # consecutive words that the text may have inside a quotation's words
MOST_DIFFERENCES = 10  # differences listed per quotation
SOURCE_CHARS = 1_500  # characters of the text that are shown
FAR_CHARS = 1_500  # distance between two parts from which both positions are reported
LEFT_OUT_CHARS = 300  # characters shown per gap
SHORT_GAP = 8  # words; a negation in a gap this short denies the text around it
NEXT_WORDS = 2  # last words of a gap over several sentences that may deny quoted text
NEGATION_REACH = 4  # last words of a longer gap in one sentence that may deny quoted text
JOINED_CHARS = 100  # distance beyond which positions count as joined; below it, words were omitted
LEAST_JOINED = 3  # minimum words in each half of a quotation joined from two positions
SHORTEST_GAP = 4  # words; a word such as "may" in a gap this short changes the text around it
HEDGES = frozenset("against may might could unlikely supposedly allegedly far fails failed".split())
# Words that deny the text directly after them.
_DENIES = re.compile(
    r"(?:\b(?:no|not|never|without|cannot|kein(?:e[nrms]?)?|nicht|ohne|pas|sans|sin|nunca)|n't)\W{1,2}\Z"
)
GLUE_NOTE = "Only spaces, or hyphens at the ends of lines, differ."
LATE_ERROR = "There was no time left to compare it."
LATE = {"verdict": "unread", "error": LATE_ERROR}

# Footnote numbers and source markers, which are not quoted.
_NOTE = re.compile(
    r"\\?\[(?:\^?\d{1,3}(?:\s?[,;\u2013-]\s?\d{1,3}){0,20}|[a-z]|(?:note|nb|n) \d{1,3}"
    r"|citation needed)\\?\](?![\w'\u2019])"
)
# A formula between dollar signs, which quotations omit. "US$5 (A$7)" has prices, not a formula.
_FORMULA = re.compile(
    rf"(?<!\\)(\${{1,2}})(?=[^\W\d_]|[^\s$][^$\n]{{0,300}}{FORMULA_SIGN})"
    r"([^\s$](?:[^$\n]{0,300}[^\s$])?)\1(?![\dA-Z_{$])"
)
# An author's omissions and insertions: "...", "[...]", "(…)", "[the company]", but not "[t]his".
_DOTS = r"(?:…|\.(?:\s?\.){2,3})"
_GAP = re.compile(rf"[\[(]\s?{_DOTS}\s?[\])]|{_DOTS}|\[[^\[\]]{{2,60}}\](?!\()")
_IN_CODE = re.compile(r"`([^`\n]{1,500})`")
_LETTER = rf"[^\W{UNSPACED}]"
_TOKEN = re.compile(rf"[{UNSPACED}]|{_LETTER}+(?:'{_LETTER}+|(?<=\d)[.,]\d+)*|[^\w\s]")
# A line end marks the position between two characters of one word or number.
_INSIDE = re.compile(
    rf"{_LETTER}\n{_LETTER}|\d[.,]\n\d|\d\n[.,]\d|{_LETTER}'\n{_LETTER}|{_LETTER}\n'{_LETTER}"
    rf"|{MINUS}\n[\d.$€£¥]"
)
_SPACE = re.compile(r"(?<=\d)\s(?=\d{3}(?!\d))|(?<!\d)\s|\s(?!\d)")
# Symbols for minutes or feet, and for seconds or inches; a closing quotation mark follows another.
_PRIME = re.compile(r"""(?<=\d)(?:(['\u2032])|(["\u2033]))(?!\w)""")
_OPENED = re.compile(r"""(?<![\w.,;:!?])['"](?=\w)""")
_EDGES = " .,;:"  # at either end of a quotation, these belong to the draft


class Nearest(NamedTuple):
    """The words in a text that are closest to a piece of a quotation, and the differences."""

    same: float  # weight of the words that agree
    text: str
    differences: list[tuple[str, str]]  # (words of the quotation, words of the text)
    start: int = 0  # indexes of the text's tokens
    end: int = 0


class ComparedText:
    """A text in the form for comparing (compared), with the original offset of each character.

    lead: the number of characters before the page's own text, where reported offsets start.
    """

    def __init__(self, text: str, lead: int = 0) -> None:
        self.text = text
        self.lead = lead
        unmarked = _NOTE.sub(lambda note: ignored(note[0]), text)
        unmarked = _FORMULA.sub(lambda own: ignored(own[1]) + own[2] + ignored(own[1]), unmarked)
        normal, self.offsets = normal_text_with_map(unmarked)
        self.compared = normal.lower()
        if len(self.compared) != len(normal):  # a few capitals become two characters
            lower = ((sign.lower(), sign) for sign in normal)
            self.compared = "".join(low if len(low) == 1 else sign for low, sign in lower)

    @functools.cached_property
    def tokens(self) -> list[re.Match[str]]:
        """Return the words, numbers and punctuation, except punctuation at either end."""
        end = len(self.compared.rstrip(_EDGES))
        start = len(self.compared) - len(self.compared.lstrip(_EDGES))
        return list(_TOKEN.finditer(self.compared, start, end))

    @functools.cached_property
    def words(self) -> list[str]:
        """Return the tokens as strings."""
        return [token[0] for token in self.tokens]

    @functools.cached_property
    def places(self) -> dict[str, list[int]]:
        """Return each word's indexes among the tokens."""
        places: dict[str, list[int]] = {}
        for index, word in enumerate(self.words):
            if word[0].isalnum():
                places.setdefault(word, []).append(index)
        return places

    def original(self, first: int, last: int) -> str:
        """Return the text of the tokens from first up to last (exclusive), on one line."""
        if first >= last:
            return ""
        return self.slice(self.tokens[first].start(), self.tokens[last - 1].end())

    @functools.cached_property
    def glued(self) -> GluedText:
        """Return the text without spaces."""
        return GluedText(self)

    # ----- literally

    def find(self, part: str, start: int, limit: int | None = None) -> Iterator[int]:
        """Yield the end of each position where the text contains a part as whole words."""
        while (start := self.compared.find(part, start, limit)) >= 0:
            end = start + len(part)
            if not any(self.is_inside_word(border) for border in (start, end)):
                yield end
            start += 1

    def is_inside_word(self, index: int) -> bool:
        """Return whether an index is inside a word or number."""
        text = self.compared
        around = f"{text[max(0, index - 2) : index]}\n{text[index : index + 2]}"
        return bool(_INSIDE.search(around))

    def spans_of(
        self, parts: Sequence[ComparedText], deadline: float
    ) -> Iterator[list[tuple[int, int]]]:
        """Yield the positions of a quotation's parts, in order, with short parts close to others.

        Place parts as close to the previous part as possible, because the text between was omitted.
        Raises TimeoutError after the deadline.
        """
        texts = [part.compared.strip(_EDGES) for part in parts]
        is_short = [len(part.words) < SHORT_PART for part in parts]
        for tries, first_end in enumerate(self.find(texts[0], 0)):
            spans = [(first_end - len(texts[0]), first_end)]
            for index, text in enumerate(texts[1:], 1):
                if time.monotonic() > deadline:
                    raise TimeoutError
                is_near = is_short[index] or is_short[index - 1]
                last = spans[-1][1]
                limit = last + NEAR_CHARS + len(text) if is_near else None
                end = next(self.find(text, last, limit), -1)
                if end < 0 and not is_near:  # nor does it occur later
                    return
                if end < 0:
                    break
                spans.append((end - len(text), end))
            else:
                yield self.drawn_together(texts, spans)
            if tries == MOST_TRIES:
                break

    def drawn_together(
        self, texts: list[str], spans: list[tuple[int, int]]
    ) -> list[tuple[int, int]]:
        """Return the spans of texts, each moved as close to the next span as the page allows."""
        for index in range(len(texts) - 2, -1, -1):
            start, following = spans[index][0], spans[index + 1][0]
            near = max(start, following - NEAR_CHARS)
            ends = list(self.find(texts[index], near, following)) or [spans[index][1]]
            spans[index] = (ends[-1] - len(texts[index]), ends[-1])
        return spans

    def slice(self, start: int, end: int) -> str:
        """Return the original text for some compared characters, on one line."""
        if start >= end:
            return ""
        return " ".join(self.text[self.offsets[start] : self.offsets[end - 1] + 1].split())

    def offset(self, index: int) -> int:
        """Return the offset of a compared character in the page's text."""
        return max(0, self.offsets[index] - self.lead)

    # ----- nearly

    def nearest(self, part: ComparedText, deadline: float) -> list[Nearest]:
        """Return the words in this text that are closest to each piece of a quotation's part.

        Raises TimeoutError after the deadline.
        """
        pieces = []
        for start in range(0, len(part.words), PIECE_WORDS):
            if time.monotonic() > deadline:
                raise TimeoutError
            pieces.append(self.nearest_to(part, start, part.words[start : start + PIECE_WORDS]))
        return pieces

    def nearest_to(self, part: ComparedText, offset: int, words: list[str]) -> Nearest:
        """Return the words in this text closest to a piece; offset: its first token in the part."""
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
            # Words that differ at either end replace the same number of words in the text.
            begin = blocks[0][1] - min(blocks[0][1], blocks[0][0])
            last_a, last_b, size = blocks[-1]
            end = min(len(window), last_b + len(words) - last_a)
            borders = [(0, begin, 0), *blocks, (len(words), end, 0)]
            differences = []
            for (a, b, size), (next_a, next_b, _) in pairwise(borders):
                own = part.original(offset + a + size, offset + next_a)
                its = self.original(first + b + size, first + next_b)
                if (a + size, b + size) != (next_a, next_b):
                    differences.append((own, its))
            begin, end = first + begin, first + end
            if begin < end and self.is_inside_word(self.tokens[begin].start()):  # after a minus
                differences.insert(0, ("", self.original(begin - 1, begin)))
            best = Nearest(same, self.original(begin, end), differences, begin, end)
        return best

    def likely_starts(self, words: list[str]) -> list[int]:
        """Return the likeliest positions where a group of words starts; rare words count first."""
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


class GluedText(ComparedText):
    """A compared text without spaces and without hyphens at line ends.

    A space between two digits is kept, unless it groups thousands.
    """

    def __init__(self, source: ComparedText) -> None:
        self.text, self.lead, self.source = source.text, source.lead, source
        compared = source.compared
        dropped = {found.start() for found in _SPACE.finditer(compared)}
        for found in re.finditer(r"(?<=[^\W\d])-(?=[^\W\d])", compared):
            start = source.offsets[found.start()]
            if source.text[start - 1 : start + 2].strip() == source.text[start - 1 : start + 1]:
                dropped.add(found.start())
        self.indexes = [index for index in range(len(compared)) if index not in dropped]
        self.compared = "".join(compared[index] for index in self.indexes)
        self.offsets = array("l", (source.offsets[index] for index in self.indexes))
        self.words = source.words

    def is_inside_word(self, index: int) -> bool:
        """Return whether an index is inside a word of the original text."""
        end = self.indexes[index - 1] + 1 if index else 0
        start = self.indexes[index] if index < len(self.indexes) else end
        return end == start and self.source.is_inside_word(start)


def ignored(text: str) -> str:
    """Return equally many characters that comparing ignores."""
    return "\u200b" * len(text)


def weight_of(word: str) -> float:
    """Return the weight of a shared word; 0 for punctuation."""
    return COMMON_WEIGHT if word in STOP_WORDS else float(word[0].isalnum())


def agreeing_blocks(words: list[str], window: list[str]) -> list[tuple[int, int, int]]:
    """Return the matching blocks (start in words, start in window, size) around the largest.

    A block separated by more than ADDED_WORDS added words is a different use of the words.
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
    """Return how many more tokens the window has between two blocks than the quotation."""
    return (following[1] - block[1]) - (following[0] - block[0])


def primes(text: str) -> list[tuple[str, bool]]:
    """Return the numbers before a prime (feet, inches), each with whether the prime is double."""
    found = (mark for mark in _PRIME.finditer(text) if not _OPENED.search(text, 0, mark.start()))
    return [(re.findall(r"\d+", text[: mark.start()])[-1], bool(mark[2])) for mark in found]


def negation_in(gap: str) -> bool:
    """Return whether a gap contains a negation of the text around it.

    In a long gap, or a gap over several sentences, only the negations near its end or at its
    beginning count, because the others deny omitted text.
    """
    sentences = re.split(r"[.!?;。！？](?=\s|$)", gap)
    words = _TOKEN.findall(sentences[-1])
    near = words[-(NEGATION_REACH if len(sentences) == 1 else NEXT_WORDS) :]
    if len(sentences) == 1:
        near += words[: SHORT_GAP if len(words) <= SHORT_GAP else 1]
        if len(words) <= SHORTEST_GAP and not HEDGES.isdisjoint(words):
            return True
    return not NEGATIONS.isdisjoint(near) or any(word.endswith("n't") for word in near)


def contradicts(mark: str, gap: str) -> bool:
    """Return whether the words that a gap omits, or the words in its mark, change the meaning.

    mark: "[...]" or the author's words in brackets. Both may have a negation. Words in brackets may
    replace pronouns, but not a few other words.
    """
    added, dropped = ComparedText(mark).words, ComparedText(gap)
    own, its = ({one for one in some if weight_of(one) == 1} for some in (added, dropped.words))
    is_replaced = own and its and own.isdisjoint(its) and len(dropped.words) <= SHORTEST_GAP
    is_denied = negation_in(dropped.compared) or not (NEGATIONS | HEDGES).isdisjoint(added)
    return bool(is_replaced or is_denied)


def code_differences(quoted: str, page: str) -> list[tuple[str, str]]:
    """Return (quotation's code, page's code) where only one of the two has a code, sign by sign."""
    own, its = (re.sub(r"[\\\s]+", " ", text) for text in (quoted, page))
    lacked = [("", code) for code in _IN_CODE.findall(its) if code not in own]
    return [*lacked, *((code, "") for code in _IN_CODE.findall(own) if code not in its)]


# ===== the verdict ================================================================================


class Quotation:
    """A quotation in the form for comparing: the whole text, and its parts between gaps."""

    def __init__(self, text: str, deadline: float = math.inf, before: str = "") -> None:
        self.deadline = deadline
        self.is_denied = bool(
            _DENIES.search(before.lower()[-NEAR_CHARS:]) or negation_in(before.lower())
        )
        self.whole = ComparedText(text)
        self.text = _NOTE.sub("", text).strip()
        self.begins_with_gap = bool(_GAP.match(self.text))

    @functools.cached_property
    def parts(self) -> list[ComparedText]:
        """Return the parts between gaps. Raises TimeoutError after the deadline."""
        parts = []
        for piece in _GAP.split(self.text):
            if time.monotonic() > self.deadline:
                raise TimeoutError
            parts.append(ComparedText(piece.strip(f"{_EDGES}\n\t")))
        return [part for part in parts if part.words]

    def is_in(self, page: ComparedText) -> bool:
        """Return whether a page contains the quotation literally; False after the deadline."""
        try:
            return self.literally(page).get("verdict") == "verbatim"
        except TimeoutError:
            return False

    def literally(self, page: ComparedText) -> Document:
        """Return the verdict if a page contains the quotation, whole or in parts, else {}."""
        if not self.parts:
            return {}
        return self.answer_in(page, self.whole, self.parts)

    def glued(self, page: ComparedText) -> Document:
        """Return the verdict if a page contains the quotation, ignoring spaces, else {}."""
        parts = [part.glued for part in self.parts]
        answer = self.answer_in(page.glued, self.whole.glued, parts) if parts else {}
        return {"note": GLUE_NOTE, **answer} if answer else {}

    def answer_in(
        self, page: ComparedText, quoted: ComparedText, parts: Sequence[ComparedText]
    ) -> Document:
        """Return the verdict if a page contains a quotation, whole or in parts, else {}.

        The page, the quotation and the parts have the same form.
        """
        wholes = (self.measured(page, spans[0]) for spans in page.spans_of([quoted], self.deadline))
        whole = best_answer(wholes)
        if whole or (len(parts) == 1 and not self.begins_with_gap):
            return whole
        spans_of_parts = page.spans_of(parts, self.deadline)
        return best_answer(self.with_gaps(page, spans) for spans in spans_of_parts)

    def measured(self, page: ComparedText, span: tuple[int, int]) -> Document:
        """Return verbatim, or altered if the page denies it, has feet for inches or other code.

        A draft that denies the quotation itself may begin it right after the page's "not".
        """
        before = page.compared[max(0, span[0] - 20) : span[0]]
        denial = None if self.is_denied else _DENIES.search(before)
        if denial:
            text = page.slice(span[0] - len(denial[0]), span[1])
            differs = [{"quote": "", "source": denial[0].strip()}]
            return {"verdict": "altered", "source_text": text, "differs": differs}
        text = page.slice(span[0], min(span[1] + 1, len(page.compared)))
        own, its = primes(self.whole.text), dict(primes(text))
        pairs = [
            (f"{number}{'″' if double else '′'}", f"{number}{'′' if double else '″'}")
            for number, double in own
            if its.get(number, double) != double
        ]
        around = slice(max(0, page.offsets[span[0]] - 1), page.offsets[span[1] - 1] + 2)
        pairs += code_differences(self.whole.text, page.text[around])
        differs = [{"quote": quoted, "source": source} for quoted, source in pairs]
        if not differs:
            return {"verdict": "verbatim"}
        return {"verdict": "altered", "source_text": text, "differs": differs}

    def with_gaps(self, page: ComparedText, spans: list[tuple[int, int]]) -> Document:
        """Return the verdict for the parts' positions; left_out is the page's text in the gaps.

        A gap that contradicts its mark, or a negation directly before an initial gap, makes the
        verdict "altered".
        """
        gaps = [(end, start) for (_, end), (start, _) in pairwise(spans)]
        marks = _GAP.findall(self.text)[self.begins_with_gap :]
        marks += [""] * (len(gaps) - len(marks))
        denying = [
            gap
            for gap, mark in zip(gaps, marks, strict=False)
            if contradicts(mark, page.slice(*gap))
        ]
        start = spans[0][0]
        before = re.search(r"\w+[\W]?\Z", page.compared[max(0, start - 30) : start])
        if self.begins_with_gap and before and negation_in(before[0]):
            start -= len(before[0])
            denying.insert(0, (start, spans[0][0]))
        texts = [shorten(page.slice(*gap), LEFT_OUT_CHARS) for gap in gaps]
        left_out = {"left_out": [text for text in texts if text.strip(_EDGES)]}
        if denying:
            text = shorten(page.slice(start, spans[-1][1]), SOURCE_CHARS)
            differs = [{"quote": "[…]", "source": page.slice(*gap)} for gap in denying]
            note = {"note": "The omitted or replaced words say the opposite or something else."}
            answer = {"verdict": "altered", "source_text": text, "differs": differs}
            return {**answer, **left_out, **note}
        far = [gap for gap in gaps if gap[1] - gap[0] > FAR_CHARS]
        note = {"note": f"The parts are far apart: {places(page, spans)}."} if far else {}
        return {"verdict": "verbatim", **(left_out if left_out["left_out"] else {}), **note}

    def judged(self, page: ComparedText) -> Document:
        """Return {verdict, source_text?, differs?, left_out?, note?} for a page.

        The verdict is verbatim, altered, absent, or unread after the deadline. differs: {quote,
        source} for the first words that differ; "" means no word.
        """
        try:
            return self.literally(page) or self.glued(page) or self.nearly(page)
        except TimeoutError:
            return dict(LATE)

    def nearly(self, page: ComparedText) -> Document:
        """Return the verdict for a page that does not contain the quotation literally."""
        nearest = [near for part in self.parts for near in page.nearest(part, self.deadline)]
        whole = sum(weight_of(word) for part in self.parts for word in part.words)
        joined = self.joined(page)
        is_near = sum(near.same for near in nearest) >= max(COMMON_WEIGHT, NEAR * whole)
        if not (is_near or joined):
            return {"verdict": "absent"}
        differences = [pair for near in nearest for pair in near.differences]
        if not differences and all(one.end == two.start for one, two in pairwise(nearest)):
            return {"verdict": "verbatim", "note": GLUE_NOTE}
        text = shorten(" […] ".join(near.text for near in nearest if near.text), SOURCE_CHARS)
        answer = {"verdict": "altered", "source_text": text}
        if joined or not differences:
            return {**answer, "note": joined or self.apart(page)}
        differs = [{"quote": own, "source": its} for own, its in differences[:MOST_DIFFERENCES]]
        return {**answer, "differs": differs}

    def apart(self, page: ComparedText) -> str:
        """Return a note with the positions of parts that the page contains separately."""
        found = [next(page.spans_of([part], self.deadline), [(0, 0)])[0] for part in self.parts]
        if found != sorted(found):
            return f"The parts are in a different order: {places(page, found)}."
        return f"The parts are far apart: {places(page, found)}."

    def joined(self, page: ComparedText) -> str:
        """Return a note if the quotation joins two positions in a page without a gap, or ""."""
        if len(self.parts) != 1:
            return ""
        tokens = self.parts[0].tokens
        text = self.parts[0].compared

        def place(first: int, last: int) -> tuple[int, int] | None:
            part = text[tokens[first].start() : tokens[last - 1].end()].strip(_EDGES)
            end = next(page.find(part, 0), None) if part else None
            return None if end is None else (end - len(part), end)

        if len(tokens) < 2 * LEAST_JOINED:
            return ""
        counts = range(LEAST_JOINED, len(tokens) - LEAST_JOINED + 1)
        longest = bisect_left(counts, True, key=lambda count: place(0, count) is None)
        for count in reversed(counts[max(0, longest - 3) : longest]):
            first, second = place(0, count), place(count, len(tokens))
            if first and second and not 0 <= second[0] - first[1] <= JOINED_CHARS:
                return f"Joined from two places: {places(page, [first, second])}."
        return ""


def best_answer(answers: Iterator[Document]) -> Document:
    """Return the first answer that is verbatim; else the first answer, or {}."""
    first = next(answers, {})
    return next(filter(is_verbatim, chain([first], answers)), first)


def is_verbatim(answer: Document) -> bool:
    """Return whether a verdict is verbatim."""
    return bool(answer.get("verdict") == "verbatim")


def places(page: ComparedText, spans: Sequence[tuple[int, int]]) -> str:
    """Return a phrase with the offsets of positions in a page."""
    return f"offsets {' and '.join(f'{page.offset(start):,}' for start, _ in spans)}"
