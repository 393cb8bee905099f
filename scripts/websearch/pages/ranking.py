"""Rank the windows of a page by how well they answer a query.

BM25 over the terms of a window and, with less weight, of its neighbours, times the share of the
question's terms that they hold; and BM25 over the block that the window stands in is added.

Comments say what chose a constant: the percentage of questions that passages of 500 and of 1,500
characters answer (XQuAD, 12 languages, 24 articles, each hidden among 19 others on a page of 100
paragraphs), at different stages of this module: only figures of one comment can be compared.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter, deque

from websearch.common import fewer_marks
from websearch.pages.text_windows import Window, split_windows
from websearch.words import PHRASED, STOP_WORDS, UNSPACED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    Counts = dict[str, float]

# Letters of a word that stand for its stem. 5: 88.0, 96.9, and 81.8 in the worst language; 4: 88.6,
# 96.8, 82.9; 4 and 6: 88.8, 97.3, 86.3. And 4 and 6: 89.0, 97.2; 3, 4 and 6: 89.6, 97.2.
BEGINNINGS = (3, 4, 6)
HEAD_LETTERS = BEGINNINGS[0]
LONG_WORD = 4  # letters; that a longer word begins with the same HEAD_LETTERS may be chance
# Letters of two words in a row that make a pair. Without pairs: 89.8, 97.4, and 84.6 in the worst
# language; with them: 90.4, 97.4, 87.7.
PAIR_LETTERS = 5
PAIR_WEIGHT = 0.3
# Of "what", "is" and "how": pages use them rarely, so that they look telling. 1: 91.7, 97.7, and
# 67.7, 85.6 of long papers; 0.3: 92.9, 97.9, and 69.6, 86.4; 0: less than that.
STOP_WORD_WEIGHT = 0.3
# Of the windows at a distance of one and of two. None: 87.4, 96.6; 0.2 and 0.1: 88.8, 97.3; 0.3 and
# 0.15: 88.8, 97.2.
NEIGHBOUR_WEIGHTS = (0.3, 0.1)
# 0.8, and no share of the terms: 88.6, 97.6; 0.4 and the share: 89.9, 97.4.
BLOCK_WEIGHT = 0.4
HEADING_WEIGHT = 0.3  # in the text below it, a term of a heading counts as a neighbour's
# Of the score of a heading itself, for the window below it, and what is left of it for the next
# window. Of 254 sections of documentation, asked for by words of their headings, 300 and 800
# characters show with 0: 47.6, 69.3; 1: 89.4, 97.6; 2: 94.5, 98.4. Articles below titles: the same.
HEADING_BONUS = 2.0
HEADING_DECAY = 0.7
# The window right after a good one in its block has at least this part of its score. 0: 69.6, 86.4
# of long papers; 0.6: 70.0, 87.0. The articles: the same.
CONTINUATION = 0.6
# BM25's k1 and b. k1 of 0.8 and 1.2: the same; b of 0.5: 88.8, 97.2; 0.75: 88.9, 97.4.
SATURATION, LENGTH_WEIGHT = 1.0, 0.75
FOLDED_TOGETHER = 100  # texts: a few milliseconds, after which the time is looked at
# Of a query; the rest is left out. Half a million characters take 0.1 s for each question.
MAX_QUESTIONS = 8
MAX_QUERY_CHARS = 2_000
REPEATED = -1.0  # the score of a window that is shown elsewhere
LEAST_REPEATED = 40  # characters of a window that is shown once only; labels may stand often
LENGTH = ""  # among the counts of a text's terms: its characters

# Marks inside of words that are not in \w: Hebrew points, vowel signs of Indian scripts, joiners.
_MARKS = (
    r"\u0591-\u05c7\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd"
    r"\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82"
    r"\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d"
    r"\u200c\u200d"
)
_LONE_IDEOGRAPH = r"(?<![\u4e00-\u9fff])[\u4e00-\u9fff](?![\u4e00-\u9fff])"
_WORD = rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+(?:[{_MARKS}]+[^\W_{UNSPACED}]*)*"


# ===== terms ======================================================================================


def fold_text(text: str) -> str:
    """Return text without case, accents, Arabic vowel marks and the Arabic article."""
    text = text.casefold()
    if text.isascii():
        return text
    import unicodedata

    text = unicodedata.normalize("NFKD", fewer_marks(text))
    text = re.sub(r"[\u0300-\u036f\u0640\u064b-\u065f\u0670]", "", text)
    text = re.sub(r"\b\u0627\u0644(?=\w{3})", "", text)
    return unicodedata.normalize("NFC", text)


def terms_of(text: str, heads: set[str] | None = None) -> Iterator[str]:
    """Yield the terms of a folded text.

    A word gives itself, its beginnings, which do for stems in every language, and a pair with the
    word before it. Scripts without spaces between words give pairs of characters, those of
    Southeast Asia triples; a Chinese sign between Japanese ones is a word, too. heads: words that
    begin otherwise are passed over.
    """
    before = ""
    for word in re.findall(_WORD, text):
        if word[0] >= "\u0e00" and re.match(f"[{UNSPACED}]", word):
            size = 3 if re.match(f"[{PHRASED}]", word) else 2
            for place in range(max(1, len(word) - size + 1)):
                yield word[place : place + size]
            yield from re.findall(_LONE_IDEOGRAPH, word)
            before = ""
        elif heads is None or word[:HEAD_LETTERS] in heads:
            yield word
            for size in BEGINNINGS:
                if len(word) >= size:
                    yield f"{word[:size]}-"
            if before:
                yield f"{before} {word[:PAIR_LETTERS]}"
            before = word[:PAIR_LETTERS]
        else:
            before = ""


def count_terms(texts: list[str], wanted: set[str], deadline: float | None = None) -> list[Counts]:
    """Return how often each wanted term stands in each text; nothing for texts past the deadline.

    Texts are folded together, because folding costs more for each call than for each character.
    """
    heads = {term[:HEAD_LETTERS] for term in wanted}
    counts: list[Counts] = []
    for start in range(0, len(texts), FOLDED_TOGETHER):
        if deadline is not None and time.monotonic() > deadline:
            break
        together = texts[start : start + FOLDED_TOGETHER]
        folded = fold_text("\n".join(text.replace("\n", " ") for text in together)).split("\n")
        for text in folded:
            counted: Counts = {}
            for term in terms_of(text, heads):
                if term in wanted:
                    counted[term] = counted.get(term, 0.0) + 1.0
            counts.append(counted)
    return counts + [{} for _ in texts[len(counts) :]]


# ===== ranking ====================================================================================


def limit_query(query: str) -> tuple[list[str], str]:
    """Return the questions of a query that are ranked, and a note if that is not all of it."""
    lines = [line.strip() for line in query.splitlines() if line.strip()]
    questions = "\n".join(lines[:MAX_QUESTIONS])[:MAX_QUERY_CHARS].split("\n")
    if questions == lines or not lines:
        return lines, ""
    note = (
        f"The query is long: its first {MAX_QUESTIONS} lines, up to {MAX_QUERY_CHARS:,} "
        "characters, chose the passages."
    )
    return questions, note


def rank_windows(markdown: str, query: str, deadline: float | None = None) -> list[Window]:
    """Return the windows of Markdown, their scores set for a query of one line or several.

    Each line is a question of its own, whose best window scores 1. A window scores 0 if neither it
    nor what stands around it holds a telling term, if it was not reached by the deadline, and if a
    better window says the same. Of a long query, what limit_query returns is ranked.
    """
    windows = split_windows(markdown)
    if not windows or not query.strip():
        return windows
    questions = [term_weights(line) for line in limit_query(query)[0]]
    wanted = set().union(*questions)
    headings = count_headings(windows, wanted)
    texts = [markdown[window.start : window.end] for window in windows]
    counts = count_terms(texts, wanted, deadline)
    for window, counted in zip(windows, counts, strict=True):
        add_counts(counted, headings[window.heading], HEADING_WEIGHT)
        counted[LENGTH] = window.end - window.start
    blocks: dict[int, Counts] = {}
    for window, counted in zip(windows, counts, strict=True):
        add_counts(blocks.setdefault(window.block, {}), counted)
    mixed = add_neighbours(windows, counts)
    for weights in questions:
        telling = telling_terms(weights)
        rarity = rarities(counts, weights)
        among_blocks = rarities(blocks.values(), weights)
        of_windows = covered_scores(mixed, rarity, telling)
        of_blocks = dict(zip(blocks, bm25(blocks.values(), among_blocks, telling), strict=True))
        of_headings = dict(
            zip(headings, covered_scores(headings.values(), rarity, telling), strict=True)
        )
        scores = [
            score + BLOCK_WEIGHT * of_blocks[window.block]
            for window, score in zip(windows, of_windows, strict=True)
        ]
        add_headings(scores, windows, of_headings)
        raise_continuations(scores, windows)
        best = max(scores) or 1.0
        for window, score in zip(windows, scores, strict=True):
            if score / best > window.score:
                window.score, window.weights = score / best, rarity
    drop_repeats(markdown, windows)
    return windows


def drop_repeats(markdown: str, windows: list[Window]) -> None:
    """Set the scores of windows to 0 that repeat a better one."""
    keys: set[str] = set()
    for window in sorted(windows, key=lambda window: -window.score):
        if window.score and (key := window_key(markdown, window)):
            window.score *= key not in keys
            keys.add(key)


def window_key(markdown: str, window: Window) -> str:
    """Return what is equal for windows that say the same; "" for a short one or lines."""
    if window.is_lines or window.end - window.start < LEAST_REPEATED:
        return ""
    return " ".join(markdown[window.start : window.end].split())


def telling_part(text: str, room: int, weights: Counts) -> int:
    """Return where the part of a text starts that holds the most of a query's terms in its room.

    It is 0 or the beginning of a word that holds a term.
    """
    start, total, most = 0, 0.0, 0.0
    part: deque[tuple[int, float]] = deque()  # beginnings and weights of its words
    for match in re.finditer(_WORD, text):
        terms = terms_of(fold_text(match[0]))
        if weight := max((weights.get(term, 0.0) for term in terms), default=0.0):
            part.append((match.start(), weight))
            total += weight
        while part and match.end() - part[0][0] > room:
            total -= part.popleft()[1]
        if total > most:
            most, start = total, part[0][0] if match.end() > room else 0
    return start


def count_headings(windows: list[Window], wanted: set[str]) -> dict[str, Counts]:
    """Return the counts of the wanted terms in each path of headings."""
    headings = list(dict.fromkeys(window.heading for window in windows))
    counts = count_terms(headings, wanted)
    for heading, counted in zip(headings, counts, strict=True):
        counted[LENGTH] = len(heading)
    return dict(zip(headings, counts, strict=True))


def add_headings(scores: list[float], windows: list[Window], headings: Counts) -> None:
    """Add the score of each path of headings to what stands below it, most to the first window."""
    share, section = 0.0, -1
    for place, window in enumerate(windows):
        share = share * HEADING_DECAY if window.section == section else HEADING_BONUS
        section = window.section
        scores[place] += share * headings[window.heading]


def raise_continuations(scores: list[float], windows: list[Window]) -> None:
    """Raise the scores of windows that come right after a good one in its block."""
    for index in range(len(windows) - 1, 0, -1):  # backwards: one window alone is raised
        if windows[index].block == windows[index - 1].block:
            scores[index] = max(scores[index], CONTINUATION * scores[index - 1])


def add_counts(total: Counts, counts: Counts, weight: float = 1.0) -> None:
    """Add the counts of another text to a total."""
    for term, count in counts.items():
        total[term] = total.get(term, 0.0) + weight * count


def add_neighbours(windows: list[Window], counts: list[Counts]) -> list[Counts]:
    """Return the counts of each window with those of its neighbours in the same section."""
    mixed = [dict(counted) for counted in counts]
    for distance, weight in enumerate(NEIGHBOUR_WEIGHTS, 1):
        for place in range(distance, len(windows)):
            before = place - distance
            if windows[before].section == windows[place].section:
                add_counts(mixed[place], counts[before], weight)
                add_counts(mixed[before], counts[place], weight)
    return mixed


def rarities(counts: Collection[Counts], weights: Counts) -> Counts:
    """Return the weight of each term that a text holds: the fewer hold it, the more."""
    holding = Counter(term for counted in counts for term in counted if term in weights)
    return {
        term: weights[term] * math.log(1 + (len(counts) - held + 0.5) / (held + 0.5))
        for term, held in holding.items()
    }


def term_weights(question: str) -> Counts:
    """Return the terms of a question and their weights: 1, less for stop words and for pairs."""
    folded = fold_text(question)
    weights = {term: PAIR_WEIGHT if " " in term else STOP_WORD_WEIGHT for term in terms_of(folded)}
    stop_words = set(fold_text(" ".join(STOP_WORDS)).split())
    words = re.findall(_WORD, folded)
    for word in [word for word in words if word not in stop_words] or words:
        weights.update(dict.fromkeys(terms_of(word), 1.0))
    return weights


def telling_terms(weights: Counts) -> set[str]:
    """Return the terms of a question without stop words and the first letters of long words."""
    telling = {term for term, weight in weights.items() if weight == 1.0}
    long_words = [term for term in telling if len(term) > LONG_WORD and "-" not in term]
    return telling - {f"{word[:HEAD_LETTERS]}-" for word in long_words}


def bm25(counts: Collection[Counts], rarity: Counts, telling: set[str]) -> list[float]:
    """Return BM25's score of each text; 0 for one that holds no telling term."""
    average = sum(counted[LENGTH] for counted in counts) / len(counts) or 1.0
    scores = []
    for counted in counts:
        score = 0.0
        if not telling.isdisjoint(counted):
            norm = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * counted[LENGTH] / average)
            for term in rarity.keys() & counted.keys():
                score += rarity[term] * counted[term] / (counted[term] + norm)
        scores.append(score)
    return scores


def covered_scores(counts: Collection[Counts], rarity: Counts, telling: set[str]) -> list[float]:
    """Return BM25's score of each text times the share of the question's terms that it holds."""
    scores = bm25(counts, rarity, telling)
    return [
        score and score * covered_share(counted, rarity)
        for counted, score in zip(counts, scores, strict=True)
    ]


def covered_share(counted: Counts, rarity: Counts) -> float:
    """Return the share of a question's terms that a window holds, weighted by their rarity."""
    held = sum(rarity[term] * min(1.0, counted[term]) for term in rarity.keys() & counted.keys())
    return held / sum(rarity.values()) if held else 0.0
