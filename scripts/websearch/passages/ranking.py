"""Rank the units of all pages of a question together, by BM25 over their words and their context.

A unit is scored with its own words, a part of its neighbours', and those of its context: the
headings and terms that it stands below, its page's title, and for rows and items the head of their
table and the text right above it. Long answers go on, and a page that answers well is likely to
hold the rest: so the unit after a good one, its block and its page raise a score, too.

The constants were chosen by 200 questions over five whole pages each (tables of encyclopedia pages,
papers), the same as agents type them, 668 questions over long papers, and paragraphs in twelve
languages. Near these values, results differ by one or two questions.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from websearch.markdown.units import cells_of, columns_of_extremes
from websearch.passages.terms import (
    count_terms,
    fold_text,
    folded_stop_words,
    telling_terms,
    term_weights,
    terms_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.markdown.units import PageText, Piece
    from websearch.passages.terms import Counts

    Scores = list[list[float]]  # of each unit of each page

NEIGHBOUR_WEIGHT = 0.3  # of the words of the unit before and after, in the same section
# Of the words of the nearest heading, of a table's head and of what stands above it; and of the
# words of headings further out.
CONTEXT_WEIGHT, OUTER_WEIGHT = 1.0, 0.7
TITLE_WEIGHT = 0.3
SATURATION = 1.0  # BM25's k1
LENGTH_WEIGHT, PARAGRAPH_LENGTH_WEIGHT = 0.3, 0.75  # BM25's b
CONTINUATION = 0.9  # of a unit's score is the least that the next one of its block gets
PARAGRAPH_WEIGHT = 0.3  # of the score of a paragraph or list, which is added to its units
TABLE_WEIGHT = 0.5  # of the best score in a table or code, which is added to all of it
# Of the score of a heading for the unit right below it, and what is left of it for the next one. It
# counts by the share of its words that were asked for, and by a power of the share of the question
# that the headings hold: a heading that is what was asked for, not one with a common word. The
# lower power is for a heading all of whose words were asked for, such as a function's name.
HEADING_BONUS, HEADING_DECAY = 2.0, 0.85
HEADING_POWER, NAMED_POWER = 3.0, 1.5
# Of the question's words, by rarity, the share that the headings hold of an entry that was asked
# for: it counts twice as much, and does not decay below 1.
ENTRY_SHARE = 0.8
# For a question for the most or least: what a row gets that holds the extreme of a column, for each
# word of the question (two at most) in the head of the column.
EXTREME_BONUS = 2.0
_SUPERLATIVE = (
    r"\b(?:most|least|more|less|higher|lower|best|worst|top|maximum|minimum|newer|recent|\w+est)\b"
)
_ASIDE = (
    r"(?i)(?:table of )?contents|(?:notes and )?(?:references|footnotes|citations|bibliography"
    r"|works cited|see also|external links|further reading"
    r"|einzelnachweise|weblinks|literatur|siehe auch|références|liens externes|voir aussi"
    r"|bibliographie|referencias|enlaces externos|véase también"
    r"|collegamenti esterni|voci correlate|referências|ligações externas|przypisy"
    r"|linki zewnętrzne|примечания|ссылки|литература|脚注|参考文献|外部リンク|関連項目|参考资料"
    r"|外部链接|参见)\W{0,9}"
)
# Of a menu: its entries, and the words of one with its mark; lists of names have longer ones.
LEAST_ENTRIES, LONGEST_ENTRY = 5, 2
_NUMBERING = r"^(?:[A-Z]{1,3}\.|\d{1,3}(?:\.|\b))[\d.]{0,20}\s"  # of a heading: 8.14., F.28.2.
# Of a signature: its name, and what stands around it.
_ARGUMENTS = (
    r"^`?(?:(?:async|class|const|def|function|method|new|static) ){0,3}"
    r"([\w$]{1,60}(?:[.#:]{1,2}[\w$]{1,60}){0,5})`?[(\[].{0,500}$"
)
# A function in a question, as people write it: test(), os.path.join().
_CALL = r"([\w$]{1,60}(?:[.#:]{1,2}[\w$]{1,60}){0,5})\(\)"
_NOTICE_WORDS = (
    "etrieved", "rchived from", "is a stub", "is incomplete", "expanding it", "[image: ",
    "xpand description", "[-]", "[−]", "[–]", "[+]",
)  # fmt: skip
_NOTICE = (
    r"(?i)\bretrieved (?:on |in )?(?:\d|[a-z]{3,9} \d|\")|\barchived from the original\b"
    r"|\b(?:article|biography)\b[^.\n]{0,80}\bis a stub\b|\blist is incomplete\b"
    r"|\byou can help\b[^.\n]{0,40}\bby expanding it\b"
    r"|^\W{0,9}(?:\[image: [^\]\n]{0,200}\]|expand description|\[[−–+-]\])\W{0,9}$"
)


def rank_units(
    question: str, pages: list[PageText], deadline: float | None = None
) -> tuple[Scores, list[set[str]]]:
    """Return the score of each unit of each page, and the terms of the question that pages hold.

    Menus do not count there: they name what a page is not about. The best unit of all has 1. A unit
    scores 0 if neither it nor its context holds a telling term of the question. deadline: of
    time.monotonic(); what could not be counted by then scores 0.
    """
    weights = term_weights(question)
    telling = telling_terms(weights)
    own = [count_terms([page.of(unit) for unit in page.units], weights, deadline) for page in pages]
    held_by_pages = [terms_in_text(page, counts) for page, counts in zip(pages, own, strict=True)]
    asides = [units_aside(page) for page in pages]
    leave_to_text(own, asides)
    contexts = count_contexts(pages, weights, deadline)
    for page, held in zip(pages, held_by_pages, strict=True):
        leads = {piece.words for piece in page.pieces if piece.kind == "lead"}
        above = {cell for unit in page.units for cell in head_cells(page, unit)}
        held.update(*(contexts.get(text, ()) for text in (page.title, *leads, *above)))
    rarity = rarities(weights, own)
    lengths = [unit.end - unit.start for page in pages for unit in page.units]
    mean = sum(lengths) / len(lengths) if lengths else 1.0
    calls = re.findall(_CALL, question.casefold())
    asks_extreme = bool(re.search(_SUPERLATIVE, question.lower()))
    paragraphs = paragraph_scores(pages, own, weights)
    scores: Scores = []
    bests: list[float] = []  # of each page: what a page has best is a factor of its units
    for page, counts, aside in zip(pages, own, asides, strict=True):
        of_page = [
            0.0 if telling.isdisjoint(held) else bm25(held, rarity, (unit.end - unit.start) / mean)
            for unit, held in zip(page.units, with_context(page, counts, contexts), strict=True)
        ]
        if asks_extreme:
            add_extremes(of_page, page, contexts)
        for place in aside:
            of_page[place] *= bool(counts[place])
        bests.append(max(of_page, default=0.0))
        add_headings(of_page, page, contexts, rarity, calls)
        scores.append(with_blocks(of_page, page, paragraphs))
    scores = [
        [score * best for score in of_page] for of_page, best in zip(scores, bests, strict=True)
    ]
    highest = max((max(of_page, default=0.0) for of_page in scores), default=0.0) or 1.0
    return [[score / highest for score in of_page] for of_page in scores], held_by_pages


# ===== terms of units and contexts ================================================================


def contexts_of(page: PageText, unit: Piece) -> list[str]:
    """Return the texts of a unit's context, the title excepted.

    A lead that is nothing but markup, such as "- ***", has an empty text: it is counted like the
    others, because its words are looked up, too.
    """
    return [*(lead.words for lead in unit.leads), unit.above, *head_cells(page, unit)]


def head_cells(page: PageText, unit: Piece) -> list[str]:
    """Return the cells of the head of a row's table; [] for another unit."""
    if unit.kind != "row" or not unit.frames:
        return []
    return cells_of(page.of(unit.frames[0]).partition("\n")[0])


def terms_in_text(page: PageText, counts: list[Counts]) -> set[str]:
    """Return the terms of a page's units, those excepted that are nothing but a menu's.

    A menu is a list of several items, all of one word.
    """
    lengths: dict[int, list[int]] = {}
    for unit in page.units:
        size = len(page.of(unit).split()) if unit.kind == "item" else LONGEST_ENTRY + 1
        lengths.setdefault(unit.block, []).append(size)
    menus = {
        block
        for block, sizes in lengths.items()
        if len(sizes) >= LEAST_ENTRIES and max(sizes) <= LONGEST_ENTRY
    }
    return {
        term
        for unit, held in zip(page.units, counts, strict=True)
        if unit.block not in menus
        for term in held
    }


def count_contexts(
    pages: list[PageText], weights: Counts, deadline: float | None
) -> dict[str, Counts]:
    """Return the terms of each text of a context; none for a text that holds none."""
    texts = {page.title: None for page in pages}
    for page in pages:
        for unit in page.units:
            texts |= dict.fromkeys(contexts_of(page, unit))
    return dict(zip(texts, count_terms(list(texts), weights, deadline), strict=True))


def units_aside(page: PageText) -> set[int]:
    """Return the places of units of lists of references or links, and of notices about the page."""
    leads = {
        piece.index
        for piece in page.pieces
        if piece.kind == "lead" and re.fullmatch(_ASIDE, piece.words)
    }
    aside = set()
    for place, unit in enumerate(page.units):
        text = page.of(unit)
        if any(lead.index in leads for lead in unit.leads) or (
            any(word in text for word in _NOTICE_WORDS) and re.search(_NOTICE, text)
        ):
            aside.add(place)
    return aside


def leave_to_text(own: list[list[Counts]], asides: list[set[int]]) -> None:
    """Leave to the units aside only the terms that stand nowhere else in the pages."""
    in_text = {
        term
        for counts, aside in zip(own, asides, strict=True)
        for place, held in enumerate(counts)
        if place not in aside
        for term in held
    }
    for counts, aside in zip(own, asides, strict=True):
        for place in aside:
            counts[place] = {
                term: count for term, count in counts[place].items() if term not in in_text
            }


def rarities(weights: Counts, own: list[list[Counts]]) -> Counts:
    """Return the weight of each term: the fewer units hold it, the more."""
    holding = Counter(term for counts in own for held in counts for term in held)
    total = sum(map(len, own))
    return {
        term: weight * math.log(1 + (total - holding[term] + 0.5) / (holding[term] + 0.5))
        for term, weight in weights.items()
    }


def with_context(page: PageText, counts: list[Counts], contexts: dict[str, Counts]) -> list[Counts]:
    """Return the counts of each unit with those of its neighbours and its context."""
    mixed = [dict(held) for held in counts]
    units = page.units
    for place in range(1, len(units)):
        if units[place - 1].section == units[place].section:
            add_counts(mixed[place], counts[place - 1], NEIGHBOUR_WEIGHT)
            add_counts(mixed[place - 1], counts[place], NEIGHBOUR_WEIGHT)
    for unit, held in zip(units, mixed, strict=True):
        outer = {term for lead in unit.leads[:-1] for term in contexts[lead.words]}
        around = {term for text in contexts_of(page, unit) for term in contexts[text]}
        near = around - outer
        add_counts(held, dict.fromkeys(outer, 1.0), OUTER_WEIGHT)
        add_counts(held, dict.fromkeys(near, 1.0), CONTEXT_WEIGHT)
        add_counts(held, dict.fromkeys(contexts[page.title], 1.0), TITLE_WEIGHT)
    return mixed


def add_counts(total: Counts, counts: Counts, weight: float) -> None:
    """Add the counts of another text to a total."""
    for term, count in counts.items():
        total[term] = total.get(term, 0.0) + weight * count


# ===== scores =====================================================================================


def bm25(held: Counts, rarity: Counts, length: float, weight: float = LENGTH_WEIGHT) -> float:
    """Return BM25's score of a text; length: its part of the mean length, and the weight of it."""
    norm = SATURATION * (1 - weight + weight * length)
    return sum(rarity[term] * count / (count + norm) for term, count in held.items())


def add_extremes(scores: list[float], page: PageText, contexts: dict[str, Counts]) -> None:
    """Add to rows what they get for the extremes of columns that a question names."""
    columns = columns_of_extremes(page)
    for place, unit in enumerate(page.units):
        of_row = columns.get(unit.index, []) if scores[place] else []
        cells = head_cells(page, unit) if of_row else []
        named = [
            len({term[:3] for term in contexts.get(cells[column], ()) if " " not in term})
            for column in of_row
            if column < len(cells)
        ]
        scores[place] += EXTREME_BONUS * min(2, max(named, default=0))


def add_headings(
    scores: list[float],
    page: PageText,
    contexts: dict[str, Counts],
    rarity: Counts,
    calls: list[str],
) -> None:
    """Add the scores of headings to the units below them, most to the first unit.

    calls: functions that the question names as such; the section of one of them leads.
    """
    titled = contexts[page.title].keys()
    whole = sum(rare for term, rare in rarity.items() if term not in titled) or 1.0
    fits: dict[int, float] = {}
    bonus, section = 0.0, -1
    for place, unit in enumerate(page.units):
        bonus = bonus * HEADING_DECAY if unit.section == section else HEADING_BONUS
        section = unit.section
        if not (scores[place] and unit.leads):
            continue
        lead = unit.leads[-1]
        if lead.index not in fits:
            fits[lead.index] = asked_share(lead.words, contexts[lead.words])
        terms = {term for one in unit.leads for term in contexts[one.words]} - titled
        held = sum(rarity[term] for term in terms)
        power = NAMED_POWER if fits[lead.index] == 1 else HEADING_POWER
        share = held / whole
        is_entry = fits[lead.index] == 1 and share >= ENTRY_SHARE
        is_called = bool(calls) and any(is_signature_of(one.words, calls) for one in unit.leads)
        factor = max(2 * bonus, 1.0) if is_entry or is_called else bonus
        fit = whole if is_called else fits[lead.index] * held * share**power
        scores[place] += factor * fit


def signature_name(heading: str) -> str:
    """Return the name in a heading that is a signature, such as test([name][, fn]); else all."""
    return re.sub(_ARGUMENTS, r"\1", re.sub(_NUMBERING, "", heading))


def is_signature_of(heading: str, calls: list[str]) -> bool:
    """Return whether a heading is the signature of a function in calls, with or without module."""
    name = signature_name(heading).casefold()
    is_signature = len(name) < len(heading)
    return is_signature and any(call == name or call.endswith(f".{name}") for call in calls)


def asked_share(heading: str, held: Counts) -> float:
    """Return the share of a heading's words that a question asks for; held: its terms in both.

    Of a signature, such as test([name][, fn]) or def f(x), the name counts.
    """
    common = folded_stop_words()
    name = signature_name(heading)
    terms = {term for term in terms_of(fold_text(name)) if " " not in term} - common
    return len(terms & held.keys()) / len(terms) if terms else 0.0


def paragraph_scores(
    pages: list[PageText], own: list[list[Counts]], weights: Counts
) -> dict[tuple[PageText, int], float]:
    """Return BM25's score of each paragraph and list of pages, by page and number of the block."""
    held: dict[tuple[PageText, int], Counts] = {}
    sizes: dict[tuple[PageText, int], int] = {}
    for page, counts in zip(pages, own, strict=True):
        for unit, terms in zip(page.units, counts, strict=True):
            if unit.kind in ("sentence", "item"):
                block = (page, unit.block)
                add_counts(held.setdefault(block, {}), terms, 1.0)
                sizes[block] = sizes.get(block, 0) + unit.end - unit.start
    rarity = rarities(weights, [list(held.values())])
    mean = sum(sizes.values()) / max(1, len(sizes))
    return {
        block: bm25(terms, rarity, sizes[block] / mean, PARAGRAPH_LENGTH_WEIGHT)
        for block, terms in held.items()
    }


def with_blocks(
    scores: list[float], page: PageText, paragraphs: dict[tuple[PageText, int], float]
) -> list[float]:
    """Return scores with what the unit before, the paragraph or the table adds to them."""
    raised, units = list(scores), page.units
    for place in range(len(units) - 1, 0, -1):  # backwards: one unit alone is raised
        before, unit = units[place - 1], units[place]
        if unit.block == before.block and unit.leads[-1:] == before.leads[-1:]:
            raised[place] = max(raised[place], CONTINUATION * raised[place - 1])
    best: dict[int, float] = {}
    for unit, score in zip(units, raised, strict=True):
        best[unit.block] = max(score, best.get(unit.block, 0.0))
    added = {
        block: PARAGRAPH_WEIGHT * paragraphs[page, block]
        if (page, block) in paragraphs
        else TABLE_WEIGHT * score
        for block, score in best.items()
    }
    return [score and score + added[unit.block] for unit, score in zip(units, raised, strict=True)]
