"""Show the chosen passages of pages as Markdown, in page order, with marked gaps."""

from __future__ import annotations

import heapq
import itertools
import re
import sys
import time

from websearch.markdown.units import ITEM, MAX_SOURCE, PageText
from websearch.passages.ranking import contexts_of, rank_units
from websearch.passages.selection import (
    GAP,
    PARAGRAPH_GAP,
    Selection,
    choose_units,
    complete_excerpts,
    margin,
)
from websearch.passages.terms import (
    WORD,
    asked_text,
    content_words,
    count_terms,
    fold_text,
    misses_the_point,
    missing_words,
    plain_text,
    subjects_in,
    symbols_in,
    telling_terms,
    term_weights,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.markdown.units import Piece
    from websearch.passages.ranking import Scores
    from websearch.passages.selection import Excerpt

# Minimum score of a shown unit; the best unit of all pages has 1. It starts at LEAST_SCORE and
# rises by ENOUGH over USUAL_ROOM characters, because weak units matter less once others are shown.
# With a larger budget, it starts lower and rises more slowly.
LEAST_SCORE, ENOUGH, USUAL_ROOM = 0.33, 0.2, 9_000
# The same if no page is about the question, or after so many characters if no page has one of its
# other words: such a word, often a verb, must not hide the page that answers.
LEAST_IF_LACKING, USUAL_IF_LACKING = 0.6, 1_500
# The same for a page that the caller chose; after USUAL_CHARS, a unit must answer nearly as well as
# the best, unless the budget is hardly larger.
USUAL_CHARS, LEAST_OF_MORE = 3_000, 0.6
WHOLE_PAGE = 2_500  # characters up to which the text of a page that answers is shown whole
WHOLE_CHOSEN = 1_500  # the same for a page that the caller chose, whose rest is seldom needed
WHOLE_PARAGRAPH = 1_000  # the same for the paragraph of the best unit of a chosen page
LEAST_ROWS = 5  # rows of a table that is marked as complete
BEST_PLACES = 3  # units searched for the words of a question
PATH_CHARS = 170  # characters per path of headings; the outermost headings are omitted first
# Limits of a query. Ranking half a million characters takes 0.1 s per question.
MAX_QUESTIONS = 8
MAX_QUERY_CHARS = 2_000


def limit_query(query: str) -> tuple[list[str], str]:
    """Return the questions of a query, within the limits, and a note if some were cut."""
    lines = [line.strip() for line in query.splitlines() if line.strip()]
    questions = "\n".join(lines[:MAX_QUESTIONS])[:MAX_QUERY_CHARS].split("\n")
    if questions == lines or not lines:
        return lines, ""
    note = (
        f"The query is long: only its first {MAX_QUESTIONS} lines, up to {MAX_QUERY_CHARS:,} "
        "characters, were used to choose the passages."
    )
    return questions, note


def rank_pages(
    pages: list[PageText],
    questions: list[str],
    found: list[list[int]] | None = None,
    deadline: float | None = None,
) -> tuple[list[Scores], list[list[str]]]:
    """Return, for each question, the scores of the pages' units and the words that no page has.

    found: for each question, the indexes of the pages that may answer it; None: all pages.
    deadline: on time.monotonic()'s clock. If nothing is ranked by then, the beginnings of the pages
    score highest, because they are better than no text.
    """
    scores: list[Scores] = []
    missing: list[list[str]] = []
    is_late = False
    for number, question in enumerate(questions):
        own = found[number] if found else range(len(pages))
        ranked, held = rank_units(question, [pages[index] for index in own], deadline)
        of_pages = dict(zip(own, ranked, strict=True))
        scores.append(
            [of_pages.get(index, [0.0] * len(page.units)) for index, page in enumerate(pages)]
        )
        is_late = deadline is not None and time.monotonic() > deadline
        for index, terms in zip(own, held, strict=True):
            terms.update(re.findall(WORD, pages[index].host))  # a site rarely names itself
        texts = [f"{pages[index].title}\n{pages[index].text}" for index in own]
        missing.append([] if is_late else missing_words(question, held, texts))
    if is_late and not any(score for of_question in scores for own in of_question for score in own):
        first = [[1 - place / MAX_SOURCE for place, _ in enumerate(page.units)] for page in pages]
        return [first], missing
    return scores, missing


def answered_share(pages: list[PageText], question: str, scores: Scores) -> float:
    """Return the largest share of a question's words found in one part of the pages, 0 to 1.

    A part is a unit with its neighbors, its context and its page's title.
    """
    places = (
        (score, number, place)
        for number, of_page in enumerate(scores)
        for place, score in enumerate(of_page)
        if score
    )
    texts = []
    for _, number, place in heapq.nlargest(BEST_PLACES, places):
        page = pages[number]
        around = page.units[max(0, place - 1) : place + 2]
        own = [page.title, *map(page.of, around), *contexts_of(page, page.units[place])]
        texts.append("\n".join(own))
    return max(held_shares(texts, question), default=0.0)


def held_shares(texts: list[str], question: str) -> list[float]:
    """Return the share of a question's words that each text contains."""
    words = [telling_terms(term_weights(word)) for word in content_words(asked_text(question))]
    return [
        sum(not terms.isdisjoint(held) for terms in words) / max(1, len(words))
        for held in count_terms(texts, set().union(*words))
    ]


def excerpts_of(
    pages: list[PageText],
    questions: list[str],
    scores: list[Scores],
    room: int,
    missing: list[list[str]] | None = None,
) -> list[Excerpt]:
    """Return the excerpts of pages that answer the questions, within room characters of JSON.

    Units far weaker than the best are not shown, even if space remains. That space completes the
    sections, lists, tables and code shown in part. missing: for each question, the words that no
    page has. A page about something else shows only a few units.
    """
    large = max(room, USUAL_ROOM)

    def weakest(question: int, used: int) -> float:
        least = LEAST_SCORE * USUAL_ROOM / large + ENOUGH * used / large
        is_lacking = not all(map(str.isdecimal, told[question]))
        is_strict = len(aside[question]) == len(pages) or used >= USUAL_IF_LACKING
        return max(least, LEAST_IF_LACKING) if is_lacking and is_strict else least

    selection, asked = Selection(pages, room, completes=True), questions[: len(scores)]
    told = (missing or []) + [[] for _ in asked]
    aside = [pages_aside(own, words, pages) for own, words in zip(asked, told, strict=False)]
    few = {(number, index) for number, indexes in enumerate(aside) for index in indexes}
    scores = [scaled(of_question, own) for of_question, own in zip(scores, aside, strict=True)]
    excerpts = choose_units(selection, asked, scores, weakest, few)
    for index, excerpt in enumerate(excerpts):
        pairs = zip(aside, scores, strict=True)
        found = [own for own, of_question in pairs if any(of_question[index])]
        excerpt.is_aside = bool(found) and all(index in own for own in found)
    complete_excerpts(selection, asked)
    for number in range(len(excerpts)):
        complete_page(selection, number, WHOLE_PAGE)
    return excerpts


def complete_page(selection: Selection, number: int, most: int) -> None:
    """Show the text of a page whole if it answers and repeats nothing shown elsewhere.

    most: characters up to which the text is short enough.
    """
    excerpt = selection.excerpts[number]
    page = excerpt.page
    own = [piece for piece in page.pieces if piece.end <= page.own_end]
    is_short = page.own_end <= most and excerpt.shown and not excerpt.is_aside
    if is_short and own and not any(selection.is_repeated(number, unit) for unit in own):
        selection.complete(excerpt, own)


def pages_aside(question: str, missing: list[str], pages: list[PageText]) -> set[int]:
    """Return the indexes of the pages that are not about a question.

    If the question's main words are missing, return all pages. Otherwise, return the pages without
    its symbols (or names and numbers if it has no symbols), if another page has any.
    """
    if misses_the_point(question, missing, [page.text for page in pages]):
        return set(range(len(pages)))
    wanted = [symbol.casefold() for symbol in symbols_in(asked_text(question))]
    wanted = wanted or subjects_in(question)
    texts = [plain_text(f"{page.title}\n{page.text}") for page in pages if wanted]
    without = {
        index
        for index, text in enumerate(texts)
        if not any(word in text for word in wanted)
        and (text.isascii() or not any(word in fold_text(text) for word in wanted))
    }
    return without if len(without) < len(texts) else set()


def scaled(scores: Scores, aside: set[int]) -> Scores:
    """Return scores relative to the best unit of the pages that are about the question.

    Relative to a page aside, the units of the right page might all count as weak.
    """
    bests = [max(own, default=0.0) for own in scores]
    best = max((one for index, one in enumerate(bests) if index not in aside), default=0.0) or 1.0
    return [[min(1.0, score / best) for score in own] for own in scores]


def complete_paragraph(selection: Selection, excerpt: Excerpt, scores: list[float]) -> None:
    """Show the paragraph of a page's best unit whole, if it is short and fits."""
    score, best = max(zip(scores, excerpt.page.units, strict=True), key=lambda pair: pair[0])
    own = [piece for piece in excerpt.page.pieces if piece.block == best.block]
    is_short = own[-1].end - own[0].start <= WHOLE_PARAGRAPH
    if score and best.kind == "sentence" and is_short:
        selection.complete(excerpt, own)


def passages_within(
    page: PageText, query: str, room: int, size: Callable[[Any], int], deadline: float | None = None
) -> list[dict[str, str]]:
    """Return a page's passages that answer a query, in order.

    Each passage is {heading, text}; heading is the path of headings, "" before the first heading. A
    query has one question per line. room: the budget; 0 means no limit. size: counts the characters
    of passages. The list is empty if no passage contains a term of the query.
    """
    questions = limit_query(query)[0]
    scores = [rank_units(question, [page], deadline)[0] for question in questions]
    left = room or sys.maxsize
    usual = USUAL_CHARS if left > 2 * USUAL_CHARS else left

    def weakest(_: int, used: int) -> float:
        return LEAST_SCORE if used < usual else LEAST_OF_MORE

    while left > 0:
        selection = Selection([page], left, completes=True)
        (excerpt,) = choose_units(selection, questions, scores, weakest)
        for (of_page,) in scores if excerpt.shown else ():
            complete_paragraph(selection, excerpt, of_page)
        complete_excerpts(selection, questions)
        complete_page(selection, 0, WHOLE_CHOSEN)
        passages = passages_of(excerpt)
        over = size(passages) - room if room else 0
        if over <= 0:
            return passages
        left -= over
    return []


def select_passages(markdown: str, query: str, max_chars: int) -> list[dict[str, str]]:
    """Return the passages of Markdown that answer a query, as passages_within does.

    max_chars limits the texts and headings, plus two characters per passage; 0 means no limit.
    """

    def size(passages: list[dict[str, str]]) -> int:
        return sum(len(passage["heading"]) + len(passage["text"]) + 2 for passage in passages)

    return passages_within(PageText(markdown), query, max_chars, size)


# ===== from pieces to Markdown ====================================================================


def excerpt_text(excerpt: Excerpt) -> str:
    """Return an excerpt as Markdown: the shown pieces, or the whole text if nothing is omitted."""
    page = excerpt.page
    if len(excerpt.shown) == len(page.pieces) and not excerpt.cuts:
        return page.text
    return shown_text(excerpt, [page.pieces[index] for index in sorted(excerpt.shown)])


def passages_of(excerpt: Excerpt) -> list[dict[str, str]]:
    """Return the shown pieces of a page by section, as {heading, text}."""
    pieces = [excerpt.page.pieces[index] for index in sorted(excerpt.shown)]
    in_text = [piece for piece in pieces if piece.level not in range(1, ITEM)]
    passages = []
    for leads, group in itertools.groupby(in_text, headings_above):
        names = [lead.words for lead in leads if lead.words and lead.index in excerpt.shown]
        while names and len(" > ".join(names)) > PATH_CHARS:
            names = names[1:]
        passages.append({"heading": " > ".join(names), "text": shown_text(excerpt, [*group])})
    return passages


def headings_above(piece: Piece) -> list[Piece]:
    """Return the headings above a piece, the outermost first."""
    return [lead for lead in piece.leads if lead.level < ITEM]


def shown_text(excerpt: Excerpt, pieces: list[Piece]) -> str:
    """Return pieces of a page as Markdown, in page order, with marked gaps."""
    page, text = excerpt.page, ""
    before: Piece | None = None
    for piece in pieces:
        text += joint(excerpt, before, piece) if before else opening(excerpt, piece)
        own = excerpt.cuts.get(piece.index) or page.of(piece)
        is_in_no_item = all(lead.level < ITEM for lead in piece.leads) and (
            not piece.item or piece.item.index not in excerpt.shown
        )
        if (not text or text.endswith(PARAGRAPH_GAP)) and is_in_no_item:
            own = own.lstrip(" ")  # without the item above it, its indentation would make it code
        text += own
        before = piece
    return text + (closing(excerpt, before) if before else "")


def opening(excerpt: Excerpt, first: Piece) -> str:
    """Return a gap if the first shown piece continues a paragraph, list or list item, else ""."""
    page, before = excerpt.page, excerpt.page.pieces[max(0, first.index - 1)]
    is_marked = excerpt.cuts.get(first.index, "").lstrip().startswith("…")
    is_part = first.item and first.item.index not in excerpt.shown
    is_part = is_part or (before is not first and is_in_same_text(before, first))
    if not is_part or is_marked:
        return ""
    return f"{margin(page, first)}{GAP} " if ends_within_line(page, before) else f"{GAP}\n"


def is_in_same_text(before: Piece, after: Piece) -> bool:
    """Return whether two consecutive pieces are in the same paragraph or list."""
    return before.block == after.block and after.kind in ("sentence", "item")


def closing(excerpt: Excerpt, last: Piece) -> str:
    """Return the text after the last shown piece: a gap if its list, table or code continues."""
    page = excerpt.page
    counted = counted_gap(excerpt, last, len(page.pieces))
    is_marked = excerpt.cuts.get(last.index, "").endswith("…")
    if counted or is_marked or last.index + 1 == len(page.pieces):
        return counted
    after = page.pieces[last.index + 1]
    is_in_list = last.kind == "item" and after.block == last.block
    if not is_in_list and (not after.item or after.item not in (last, last.item)):
        return ""
    return f"\n{GAP}" if "\n" in page.text[last.end : after.start] else f" {GAP}"


def joint(excerpt: Excerpt, before: Piece, after: Piece) -> str:
    """Return the text between two consecutive shown pieces: white space or a gap."""
    page = excerpt.page
    between = page.text[before.end : after.start]
    if after.index == before.index + 1:
        return f"{whole_table(excerpt, before)}\n\n" if between.count("\n") > 1 else between
    missing = page.pieces[before.index + 1 : after.index]
    if all(piece.index in excerpt.said and piece.kind == "sentence" for piece in missing):
        return "\n\n" if between.count("\n") > 1 else "\n" if "\n" in between else " "
    counted = counted_gap(excerpt, before, after.index)
    is_within = ends_within_line(page, page.pieces[after.index - 1])  # after begins within a line
    if before.block == after.block:
        if counted or "\n" not in between:
            return f"{counted}\n" if counted else f" {GAP} "
        begin = f" {GAP}\n" if ends_within_line(page, before) else "\n"
        end = f"{GAP} " if is_within else f"{GAP}\n" if begin == "\n" else ""
        return begin + end
    if counted:
        missing = [piece for piece in missing if piece.block != before.block]
    needs_no_gap = (piece.kind == "tail" or piece.level in range(1, ITEM) for piece in missing)
    if all(needs_no_gap):
        return f"{counted}\n\n"
    return counted + (f"\n\n{margin(page, after)}{GAP} " if is_within else PARAGRAPH_GAP)


def ends_within_line(page: PageText, piece: Piece) -> bool:
    """Return whether the next piece continues a paragraph or list item on the same line."""
    after = page.pieces[piece.index + 1]
    return is_in_same_text(piece, after) and "\n" not in page.text[piece.end : after.start]


def counted_gap(excerpt: Excerpt, before: Piece, end: int) -> str:
    """Return a marker that counts the rows or code lines omitted directly after a piece, or ""."""
    page = excerpt.page
    missing = [
        piece
        for piece in page.pieces[before.index + 1 : end]
        if piece.block == before.block and piece.kind in ("row", "line")
    ]
    count = sum(page.of(piece).count("\n") + 1 for piece in missing)
    if not count:
        return whole_table(excerpt, before)
    several = "s" if count > 1 else ""
    if missing[0].kind == "line":
        return f"\n[… {count} line{several}]"
    words = [excerpt.alike[piece.index] for piece in missing if piece.index in excerpt.alike]
    alike = f", {len(words)} with {words[0]}" if words else ""
    return f"\n| [… {count} row{several}{alike}] |"


def whole_table(excerpt: Excerpt, last: Piece) -> str:
    """Return a marker to follow the last row of a complete table in an incomplete page, or ""."""
    pieces, shown = excerpt.page.pieces, excerpt.shown
    after = pieces[last.index + 1 : last.index + 2]
    if last.kind != "row" or any(piece.block == last.block for piece in after):
        return ""
    rows = [piece.index for piece in pieces if piece.block == last.block and piece.kind == "row"]
    is_part = len(rows) < LEAST_ROWS or len(shown) == len(pieces) or not shown.issuperset(rows)
    return "" if is_part else f"\n| [all {len(rows)} rows] |"
