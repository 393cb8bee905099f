"""Select the parts of results that a person sees first: the sentences and rows that answer.

A result's text is written for models, in page order and with gaps. A person reads a few lines of
each page before deciding to read more.
"""

from __future__ import annotations

import re
from collections import Counter

from websearch.base.words import STOP_WORDS
from websearch.markdown.inline import cells_of
from websearch.markdown.units import ITEM, PageText
from websearch.passages.excerpts import LEAST_SCORE, rank_pages, shown_text
from websearch.passages.selection import Excerpt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from websearch.kit import Document
    from websearch.markdown.units import Piece

# "[… 9 rows]", "[… 9 rows, 2 with 1887]", "[all 9 rows]".
_COUNTED_GAP = re.compile(r"(?m)^[ |]*\[(?:…|all) [\d,]+ (?:row|line)s?(?:,[^\[\]\n]*)?\][ |]*\n?")
MORE_ROWS = "\n| … |"  # after the rows of a table of which others are omitted
ONLY_AROUND = 0.25  # share of its score that a row or item keeps if only its surroundings match
FIRST_SIZE = 3  # space kept for each page that has no part yet
_GAP = re.compile(r"(?m)^\[…\]\n?|\[(…)\]")  # replaces omitted text
# A question about the rows next to the row that it names.
_NEXT_TO = r"(?i)\b(?:after|before|next|previous|preceding|following|preceded|followed)\b"
_MARKED_HEAD = re.compile(r"(?m)^[ \t]{0,40}(?:[-*+]|\d{1,9}[.)]) +(?=\|)")  # a list marker


def query_words(query: str) -> list[str]:
    """Return the words in a query that distinguish passages: no stop words or ASCII letters."""
    words = dict.fromkeys(re.findall(r"\w{2,}|[^\W\x00-\x7f]", query.lower()))
    return [word for word in words if word not in STOP_WORDS]


def best_passages(
    pages: Sequence[tuple[str, str]],
    questions: list[str],
    size: Callable[[str], int],
    room: int,
    total: int,
) -> list[str]:
    """Return the parts of each page that best answer the questions, as Markdown, best first.

    pages: (title, text) of each page. size: measures Markdown, for example in lines. room: the
    size per page; only a single sentence or row may be larger. total: the size of all pages, except
    that each page has at least one sentence or row.
    """
    texts = [PageText(_COUNTED_GAP.sub("", text), title) for title, text in pages]
    by_question = rank_pages(texts, questions)[0]
    scores = [[max(each) for each in zip(*of_page, strict=True)]
              for of_page in zip(*by_question, strict=True)]  # fmt: skip
    asked = " ".join(questions)
    scores = [by_row(page, own, asked) for page, own in zip(texts, scores, strict=True)]
    chosen: list[dict[Piece, float]] = [{} for _ in texts]
    rows = [Counter(unit.block for unit in page.units if unit.kind == "row") for page in texts]
    shown, used = [""] * len(texts), [0] * len(texts)
    ranked = sorted(
        ((score, number, unit) for number, page in enumerate(texts)
         for unit, score in zip(page.units, scores[number], strict=True)),
        key=lambda each: (-each[0], each[1], each[2].index),
    )  # fmt: skip
    for score, number, unit in ranked:
        is_first = not chosen[number]
        own = texts[number].of(unit)
        if not is_first and (score < LEAST_SCORE or used[number] >= room or not tells(unit, own)):
            continue
        text = shown_parts(texts[number], {**chosen[number], unit: score}, rows[number])
        needed, waiting = size(text), sum(not units for units in chosen)
        left = total - sum(used) + used[number] - FIRST_SIZE * waiting
        if is_first or needed <= min(room, left):
            chosen[number][unit] = score
            shown[number], used[number] = text, needed
    return shown


def by_row(page: PageText, scores: list[float], asked: str) -> list[float]:
    """Return the scores of a page's units, corrected for table rows and list items.

    They also score by the words around them. An item or row scores less if neither it nor the
    header and the heading above it contain a word of the questions that is not in the page's title;
    in a table of names and values whose names contain words of the questions, if the row contains
    none. If the questions ask for the row before or after another one, the neighbors of the best
    row score as much as that row.
    """
    words = query_words(asked)
    about = query_words(page.title)
    telling = pattern_of([word for word in words if word not in about] or words)
    any_word = pattern_of(words)
    rows = {place: cells_of(page.of(unit)) for place, unit in enumerate(page.units)
            if unit.kind == "row"}  # fmt: skip
    named = {page.units[place].block for place, cells in rows.items()
             if len(cells) == 2 and any_word.search(cells[0])}  # fmt: skip
    raised = list(scores)
    for place, unit in enumerate(page.units):
        if unit.kind not in ("row", "item"):
            continue
        around = (unit, *unit.leads[-1:], *unit.frames)
        is_other = place in rows and unit.block in named and not any_word.search(page.of(unit))
        if is_other or not any(telling.search(page.of(piece)) for piece in around):
            raised[place] *= ONLY_AROUND
    best = max(range(len(raised)), key=raised.__getitem__, default=0)
    for place in (best - 1, best + 1) if best in rows and re.search(_NEXT_TO, asked) else ():
        if place in rows and page.units[place].block == page.units[best].block:
            raised[place] = raised[best]
    return raised


def pattern_of(words: list[str]) -> re.Pattern[str]:
    """Return the pattern of any of the words, also inside longer ones; no words: of any text."""
    return re.compile("|".join(map(re.escape, words)), re.IGNORECASE)


def tells(unit: Piece, text: str) -> bool:
    """Return whether a unit has meaning on its own: a row, or a text with a word."""
    return unit.kind == "row" or bool(re.search(r"[^\W\d_]{2}", text))


def shown_parts(page: PageText, chosen: dict[Piece, float], rows: Counter[int]) -> str:
    """Return the chosen units of a page by block; the block with the highest score comes first.

    rows: the number of rows in each block that is a table.
    """
    blocks: dict[int, list[Piece]] = {}
    for unit in sorted(chosen, key=lambda unit: -chosen[unit]):
        blocks.setdefault(unit.block, []).append(unit)
    excerpt, parts = Excerpt(page), list[str]()
    for units in blocks.values():
        terms = {lead for unit in units for lead in unit.leads[-1:] if lead.level > ITEM}
        frames = {frame for unit in units for frame in unit.frames}
        pieces = sorted({*units, *terms, *frames}, key=lambda piece: piece.index)
        excerpt.shown = {piece.index for piece in pieces}
        text = _COUNTED_GAP.sub("", shown_text(excerpt, pieces))
        text = _MARKED_HEAD.sub("", _GAP.sub(r"\1", text)).strip("\n")
        parts.append(text + MORE_ROWS * (rows[units[0].block] > len(units)))
    return "\n\n".join(parts)


def unanswered_questions(document: Document) -> list[str]:
    """Return the numbered questions in a brief that no source's text answers."""
    sources = [item for item in document.get("sources", []) if "text" in item]
    answered = {number for item in sources for number in item["queries"]}
    queries = enumerate(document.get("queries", []), 1)
    return [f"{n}. {query['query']}" for n, query in queries if n not in answered]
