"""Rank the units of a question's pages together, by BM25 over their words and their context.

A unit is scored by its words, a fraction of its neighbors' words and the words of its context: the
headings and terms above it, its page's title and, for rows and items, the table's header and the
text right above it. Long answers span several units, usually on the same page. That is why a good
preceding unit, block or page also raises a score.

The constants were tuned on 200 questions over five whole pages each (tables in encyclopedia pages,
papers), the same questions as agents type them, 668 questions over long papers, and paragraphs in
twelve languages. Near these values, results differ by one or two questions.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from websearch.markdown.inline import cells_of
from websearch.markdown.units import columns_of_extremes
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
    from collections.abc import Collection

    from websearch.markdown.units import PageText, Piece
    from websearch.passages.terms import Counts

    Scores = list[list[float]]  # per page, one for each unit

NEIGHBOUR_WEIGHT = 0.3  # for words in the previous and next unit of the same section
# Weights for words in the nearest heading, the table's header and the text above a table or list,
# and for words in outer headings.
CONTEXT_WEIGHT, OUTER_WEIGHT = 1.0, 0.7
TITLE_WEIGHT = 0.3
SATURATION = 1.0  # BM25's k1
LENGTH_WEIGHT, PARAGRAPH_LENGTH_WEIGHT = 0.3, 0.75  # BM25's b
CONTINUATION = 0.9  # minimum share of a unit's score that the next unit of its block gets
PARAGRAPH_WEIGHT = 0.3  # share of a paragraph's or list's score that is added to its units
TABLE_WEIGHT = 0.5  # share of the best score in a table or code block that is added to its units
# Weight of a heading's score for the unit directly below it, and its decay per following unit. The
# score depends on the share of the heading's words that the question contains, and on a power of
# the share of the question that the headings contain, because one common word must not count much.
# The lower power applies if the question contains all words of the heading, such as a function's
# name.
HEADING_BONUS, HEADING_DECAY = 2.0, 0.85
HEADING_POWER, NAMED_POWER = 3.0, 1.5
# Minimum share of the question's words, by rarity, in the headings of an entry that the question
# is about. Its bonus is doubled and does not decay below 1.
ENTRY_SHARE = 0.8
# Bonus of a row with an extreme value of a column, if the question asks for the most or least: per
# word of the question (two at most) in the column's header.
EXTREME_BONUS = 2.0
# Factor for a unit that contains a value as the question asks for: the words of such a question,
# and the form of the value.
VALUE_FACTOR = 1.25
_VALUES = (
    (
        r"price|costs?|how much|fees?|salary|pays?|charges?|kostet|preis|prix|coûte|precio|cuesta",
        r"[$€£¥₹]\s?\d|\d\s?(?:[$€£¥₹]|(?:USD|EUR|GBP|CHF|kr)\b)",
    ),
    (
        r"when|date|day|year|since|until|wann|datum|quand|cuándo|fecha",
        r"\b(?:1\d|20)\d\d\b|\b\d{1,2}[./:]\d{2}\b",
    ),
    (r"how \w+|rating|number|score|percent|wie \w+|combien|cuánt[oa]s?", r"\d"),
)
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
# A menu: its minimum number of entries, and the maximum number of words per entry, including the
# bullet. Entries in lists of names are longer.
LEAST_ENTRIES, LONGEST_ENTRY = 5, 2
_NUMBERING = r"^(?:[A-Z]{1,3}\.|\d{1,3}(?:\.|\b))[\d.]{0,20}\s"  # a heading's number: 8.14., F.2.
# A signature; the group captures its name.
_ARGUMENTS = (
    r"^`?(?:(?:async|class|const|def|function|method|new|static) ){0,3}"
    r"([\w$]{1,60}(?:[.#:]{1,2}[\w$]{1,60}){0,5})`?[(\[].{0,500}$"
)
# A function in a question, as people write it: test(), os.path.join(); an option: --dry-run, -v,
# dry-run; and an option in a heading.
_CALL = (
    r"([\w$]{1,60}(?:[.#:]{1,2}[\w$]{1,60}){0,5})\(\)"
    r"|(?<![\w-])-{0,2}(\w{1,40}(?:-\w{1,40}){1,9}|(?<=-)\w{1,40})(?![\w-])"
)
_OPTION = r"(?<![\w-])--?(?:\[no-\])?(\w[\w-]{0,60})"  # --[no-]color is --color
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
    """Return the score of each unit of each page, and the question's terms that each page contains.

    These terms exclude those in menus, which name the topics of other pages. The best unit of all
    pages scores 1. A unit scores 0 if neither it nor its context contains a significant term of the
    question. deadline: on time.monotonic()'s clock; units not counted by then score 0.
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
    calls = calls_in(question)
    asks_extreme = bool(re.search(_SUPERLATIVE, question.lower()))
    forms = [form for words, form in _VALUES if re.search(rf"(?i)\b(?:{words})\b", question)]
    paragraphs = paragraph_scores(pages, own, weights)
    scores: Scores = []
    bests: list[float] = []  # for each page: its best score, by which its units are multiplied
    for page, counts, aside in zip(pages, own, asides, strict=True):
        of_page = [
            0.0 if telling.isdisjoint(held) else bm25(held, rarity, (unit.end - unit.start) / mean)
            for unit, held in zip(page.units, with_context(page, counts, contexts), strict=True)
        ]
        for place, unit in enumerate(page.units if forms else ()):
            if any(re.search(form, page.of(unit)) for form in forms):
                of_page[place] *= VALUE_FACTOR
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
    """Return the texts of a unit's context, except the page's title.

    A lead that consists of markup, such as "- ***", has an empty text, which is included because
    its counts are also looked up.
    """
    return [*(lead.words for lead in unit.leads), unit.above, *head_cells(page, unit)]


def head_cells(page: PageText, unit: Piece) -> list[str]:
    """Return the header cells of a row's table; [] for any other unit."""
    if unit.kind != "row" or not unit.frames:
        return []
    return cells_of(page.of(unit.frames[0]).partition("\n")[0])


def terms_in_text(page: PageText, counts: list[Counts]) -> set[str]:
    """Return the terms in a page's units, except terms that occur only in menus.

    A menu is a list of at least LEAST_ENTRIES items, each of a single word.
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
    """Return the counts of terms in each context text, including the titles."""
    texts = {page.title: None for page in pages}
    for page in pages:
        for unit in page.units:
            texts |= dict.fromkeys(contexts_of(page, unit))
    return dict(zip(texts, count_terms(list(texts), weights, deadline), strict=True))


def units_aside(page: PageText) -> set[int]:
    """Return the indexes of units in lists of references or links, and of notices on the page."""
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
    """Remove from these units all terms that also occur elsewhere in the pages."""
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
    """Return the weight of each term: the fewer units contain it, the higher the weight."""
    holding = Counter(term for counts in own for held in counts for term in held)
    total = sum(map(len, own))
    return {
        term: weight * math.log(1 + (total - holding[term] + 0.5) / (holding[term] + 0.5))
        for term, weight in weights.items()
    }


def with_context(page: PageText, counts: list[Counts], contexts: dict[str, Counts]) -> list[Counts]:
    """Return each unit's counts combined with the counts of its neighbors and its context."""
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
    """Return a text's BM25 score.

    length: relative to the mean length; weight: how much the length matters.
    """
    norm = SATURATION * (1 - weight + weight * length)
    return sum(rarity[term] * count / (count + norm) for term, count in held.items())


def add_extremes(scores: list[float], page: PageText, contexts: dict[str, Counts]) -> None:
    """Raise the scores of rows with the highest or lowest values in a column named in a question.

    The first such row gets the whole bonus, the next ones a little less, because their order
    counts, but shorter rows must not displace them.
    """
    columns = columns_of_extremes(page)
    for place, unit in enumerate(page.units):
        of_row = columns.get(unit.index, {}) if scores[place] else {}
        cells = head_cells(page, unit) if of_row else []
        named = [
            min(2, len({term[:3] for term in contexts.get(cells[column], ()) if " " not in term}))
            / (1 + rank / 8)
            for column, rank in of_row.items()
            if column < len(cells)
        ]
        scores[place] += EXTREME_BONUS * max(named, default=0)


def add_headings(
    scores: list[float],
    page: PageText,
    contexts: dict[str, Counts],
    rarity: Counts,
    calls: list[str],
) -> None:
    """Add the scores of headings to the units below them, the most to the first unit.

    calls: functions and options in the question; their sections get the highest scores.
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
            fits[lead.index] = asked_share(lead.words, contexts[lead.words], calls)
        terms = {term for one in unit.leads for term in contexts[one.words]} - titled
        held = sum(rarity[term] for term in terms)
        power = NAMED_POWER if fits[lead.index] == 1 else HEADING_POWER
        share = held / whole
        is_entry = fits[lead.index] == 1 and share >= ENTRY_SHARE
        is_called = bool(calls) and any(is_entry_of(one.words, calls) for one in unit.leads)
        factor = max(2 * bonus, 1.0) if is_entry or is_called else bonus
        fit = whole if is_called else fits[lead.index] * held * share**power
        scores[place] += factor * fit


def calls_in(question: str) -> list[str]:
    """Return the functions and options in a question, without parentheses and leading dashes.

    Other words with hyphens count as options, because people omit the dashes.
    """
    found = re.findall(_CALL, question.casefold())
    return [function or option for function, option in found]


def entry_names(heading: str) -> list[str]:
    """Return the names in a heading that is a signature or option: test([name]); -n, --count=N.

    For any other heading, return the text after its numbering.
    """
    options = re.findall(_OPTION, heading) if heading.startswith("-") else []
    return options or [re.sub(_ARGUMENTS, r"\1", re.sub(_NUMBERING, "", heading))]


def is_entry_of(heading: str, calls: list[str]) -> bool:
    """Return whether a heading is the signature of a function in calls, or an option in calls.

    The function's module is ignored.
    """
    names = [name.casefold() for name in entry_names(heading) if len(name) < len(heading)]
    return any(call == name or call.endswith(f".{name}") for name in names for call in calls)


def asked_share(heading: str, held: Collection[str], calls: list[str]) -> float:
    """Return the share of a heading's words that a question contains; held: the terms in both.

    In a signature, such as test([name][, fn]) or def f(x), or an option, only the name counts. A
    heading that is only part of an option in calls does not count: Description for
    --cover-from-description.
    """
    common = folded_stop_words()
    best = 0.0
    for name in entry_names(heading):
        terms = {term for term in terms_of(fold_text(name)) if " " not in term} - common
        options = [{*call.split("-")} - common for call in calls]
        is_part = any(terms & option and not option <= terms for option in options)
        if terms and not is_part:
            best = max(best, len(terms.intersection(held)) / len(terms))
    return best


def paragraph_scores(
    pages: list[PageText], own: list[list[Counts]], weights: Counts
) -> dict[tuple[PageText, int], float]:
    """Return the BM25 score of each paragraph and list, by page and block number."""
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
    """Return scores raised by the score of the previous unit and of the paragraph or table."""
    raised, units = list(scores), page.units
    for place in range(len(units) - 1, 0, -1):  # backward, so a raise is not passed on
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
