"""Choose the page units that answer the questions best, within a character budget (room)."""

from __future__ import annotations

import itertools
import re
from collections import Counter, deque
from dataclasses import dataclass, field

from websearch.kit import dump_json
from websearch.markdown.inline import cells_of
from websearch.markdown.units import (
    ITEM,
    JOINED_CHARS,
    LIST_ITEM,
    STRONG,
    is_line,
    items_around,
)
from websearch.passages.ranking import asked_share, calls_in, is_entry_of
from websearch.passages.terms import (
    WORD,
    asked_text,
    content_words,
    count_terms,
    fold_text,
    plain_text,
    symbols_in,
    term_weights,
    terms_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from websearch.markdown.units import PageText, Piece
    from websearch.passages.ranking import Scores

LEAST_ROOM = 40  # characters; a smaller remainder is left empty
LONG_SENTENCE = 100  # characters; a shorter sentence is never cut
LEAST_CUT = 40  # minimum characters left in a cut sentence
MOST_INDENT = 8  # characters of indentation that a cut sentence keeps
LEAD_SHARE = 8  # a heading that takes more than 1/8 of the budget is omitted
LEAST_REPEATED = 40  # characters; a unit this long is shown only once, while labels may repeat
LEAST_BOILERPLATE, LEAST_TIMES = 20, 3  # minimum characters and occurrences of repeated sentences
LEAST_HOLE = 80  # characters; a shorter gap would save little more than its marker takes
DEFINITION_CHARS = 700  # maximum characters shown between an option and a unit below it
LEAD_IN_CHARS = 160  # longest introduction that is shown with its table or list
LONGEST_LIST = 40  # items searched upward for the introduction of their list
MAX_ANNOUNCED = 4  # pieces after an announcement that are searched for its first unit
MAX_BEFORE = 2  # preceding sentences shown because the next one needs them
# Characters up to which a list, table or code block, and a section that a question names, are shown
# whole, because readers cannot see that a part is missing. For a list of entries, DEFINITION_CHARS
# is the limit.
WHOLE_BLOCK, WHOLE_SECTION = 2_000, 4_000
LEAST_OUTSIDE = 0.8  # minimum score outside an entry that a question names
LIST_WITHIN = 6_000  # characters below a heading in which its first list must end
BEFORE_SHARE = 3  # preceding sentences are omitted if the unit would take over 1/3 of the space
PAIR = 2  # cells in a row with a name and its value
FEW_UNITS = 2  # units shown per page that is not about the question
MOST_CUT = 2  # partly shown sections that are named per page
GAP = "[…]"  # replaces omitted text
ITEM_GAPS = f"{GAP}\n\n{GAP}"  # before the first shown item of a list and after the last shown item
PARAGRAPH_GAP = f"\n\n{GAP}\n\n"
ROWS_GAP = "\n| [… 99999 rows] |\n"  # the longest marker for omitted rows or lines
LONGEST_ALIKE = 20  # maximum characters of a word whose omitted rows are counted
# Questions whose answer depends on several rows of a table.
_ORDER = (
    r"(?i)\b(?:last|first|next|before|after|previous|most|least|how many|total|number of|all|each"
    r"|only|\w+est|consecutive|zuletzt|erste[nrs]?|letzte[nrs]?|nächste[nrs]?|wie viele)\b"
)
# Ends of sentences that mean nothing without the text that follows.
_ANNOUNCING = (
    r"(?i)(?:[:：?？]|\b(?:as follows|(?:shown|listed|given|described) below)\.)[\"'”’*_)]*$"
)
SENTENCE_WORDS = 4  # minimum words in a sentence; a shorter text is a label
# Beginnings of sentences that cannot be understood without the previous one.
_LEANING = (
    r"(?:This|That|These|Those|It|Its|They|Their|He|She|His|Her|Such|Both|However|Therefore|Thus"
    r"|Hence|Otherwise|Instead|Then|Also|In (?:this|that|these|such|both)|The (?:default|latter"
    r"|former|same|other)|Dies(?:e[mnrs]?)?|Er|Sie|Es|Ihre?|Seine?|Jedoch|Daher|Il|Elle|Ils|Elles"
    r"|Ces?|Cette|Este|Esta|Esto|Ella|Ello)\b(?! is (?:a|an|the)\b)"
)


@dataclass(slots=True)
class Excerpt:
    """The shown part of a page.

    shown: indexes of its pieces. cuts: texts of pieces that are not shown whole. questions: numbers
    of the questions, from 0, that the pieces were chosen for. repeated: texts of sentences that the
    page repeats, by index. said: indexes of repeated sentences that are already shown elsewhere.
    named: indexes of the headings already compared with the questions. entries: the leads of the
    entries, such as options, that questions name, by question number. whole: the leads of the
    entries and sections that a question names and that are shown whole. alike: the asked word in
    rows of a partly shown table that share it with a shown row. is_aside: whether the page is not
    about any question. has_lists: whether the page has lists.
    """

    page: PageText
    shown: set[int] = field(default_factory=set)
    cuts: dict[int, str] = field(default_factory=dict)
    questions: set[int] = field(default_factory=set)
    repeated: dict[int, str] = field(init=False)
    said: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)
    entries: dict[int, list[Piece]] = field(default_factory=dict)
    whole: list[Piece] = field(default_factory=list)
    alike: dict[int, str] = field(default_factory=dict)
    is_aside: bool = False
    has_lists: bool = field(init=False)

    def __post_init__(self) -> None:
        """Find the repeated sentences."""
        self.repeated = repeated_units(self.page)
        self.has_lists = any(piece.item or piece.kind == "item" for piece in self.page.pieces)


def repeated_units(page: PageText) -> dict[int, str]:
    """Return the texts of sentences that a page repeats, by index.

    An example is boilerplate below each entry ("See also INCOMPATIBLE OPTIONS below."). The first
    sentence of a list item or below a heading, option or term never counts as repeated, because it
    describes that entry. Neither does a sentence that always follows the same text, unless that
    text is also repeated, because it is part of an entry that the page has several times.
    """
    places: dict[str, list[int]] = {}
    previous: dict[str, set[str]] = {}
    for before, unit in itertools.pairwise(page.pieces):
        may_repeat = unit.kind in ("sentence", "item") and before.kind != "lead"
        may_repeat = may_repeat and not begins_item(page, unit)
        if may_repeat and unit.end - unit.start >= LEAST_BOILERPLATE:
            text = page.of(unit).strip()
            places.setdefault(text, []).append(unit.index)
            previous.setdefault(text, set()).add(page.of(before).strip())
    repeated: dict[str, list[int]] = {}
    for text, indexes in places.items():
        is_alike = len(previous[text]) < LEAST_TIMES and previous[text].isdisjoint(repeated)
        if len(indexes) >= LEAST_TIMES and is_sentence(text) and not is_alike:
            repeated[text] = indexes
    return {index: text for text, indexes in repeated.items() for index in indexes}


def begins_item(page: PageText, piece: Piece) -> bool:
    """Return whether a piece begins a list item."""
    is_in_list = piece.kind == "item" or piece.level >= ITEM
    return is_in_list and bool(re.compile(LIST_ITEM).match(page.text, piece.start))


def item_of(page: PageText, piece: Piece) -> list[Piece]:
    """Return the first paragraph of the list item that a piece belongs to; [] without an item."""
    first = piece if begins_item(page, piece) else piece.item
    if not first:
        return []
    item = [first]
    for index in range(first.index + 1, len(page.pieces)):
        own = page.pieces[index]
        if own.item is not first or own.block != first.block or begins_item(page, own):
            break
        item.append(own)
    return item


def is_sentence(text: str) -> bool:
    """Return whether a text ends like a sentence and has more words than a label."""
    return text.endswith((".", "!", "?", ":")) and len(text.split()) >= SENTENCE_WORDS


def json_size(text: str) -> int:
    """Return the number of characters that a text takes up in JSON."""
    return len(dump_json(text)) - 2


class Selection:
    """A selection of units within a budget. room: the remaining characters, as counted by size.

    completes: sections that a question names are completed before any weaker unit is shown.
    """

    def __init__(
        self,
        pages: list[PageText],
        room: int,
        size: Callable[[str], int] = json_size,
        *,
        completes: bool = False,
    ) -> None:
        self.pages, self.excerpts = pages, [Excerpt(page) for page in pages]
        self.room, self.size, self.completes = room, size, completes
        self.longest_lead = room // LEAD_SHARE
        self.keys: dict[str, tuple[int, int]] = {}  # shown text -> (page, unit)

    def choose(self, number: int, unit: Piece, question: str) -> int | None:
        """Show a unit of a page with the pieces that it needs; return the space that they take.

        If a sentence is too long, it is cut to the remaining space. A list item is cut only if
        nothing else is shown, because its end may be its default. Returns None if the unit does not
        fit even then.
        """
        excerpt = self.excerpts[number]
        pieces = self.needed(excerpt, unit, MAX_BEFORE)
        if self.cost(excerpt, pieces) * BEFORE_SHARE > self.room:
            pieces = self.needed(excerpt, unit, 0)
        pieces = self.with_item(excerpt, pieces, item_of(excerpt.page, unit))
        cost = self.cost(excerpt, pieces)
        if cost > self.room:
            text = excerpt.page.of(unit)
            rest = self.room - cost + self.size(text)
            may_cut = unit.kind == "sentence" or (
                unit.kind == "item" and not any(other.shown for other in self.excerpts)
            )
            if not may_cut or len(text) <= LONG_SENTENCE or rest < LEAST_CUT:
                return None
            excerpt.cuts[unit.index] = telling_part(text, rest, question, self.size)
            cost = self.room
        excerpt.shown |= {piece.index for piece in pieces}
        self.room -= cost
        return cost

    def is_repeated(self, number: int, unit: Piece) -> bool:
        """Return whether another shown unit has the same text."""
        excerpt = self.excerpts[number]
        text = excerpt.repeated.get(unit.index) or " ".join(excerpt.page.of(unit).split())
        own = (number, unit.index)
        if len(text) < LEAST_REPEATED and unit.index not in excerpt.repeated:
            return False
        is_repeated = self.keys.setdefault(text, own) != own
        if is_repeated and unit.index in excerpt.repeated:
            excerpt.said.add(unit.index)
        return is_repeated

    def needed(self, excerpt: Excerpt, unit: Piece, most_before: int) -> list[Piece]:
        """Return the pieces to add for a unit, in the page's order.

        most_before: the maximum number of preceding sentences to add.
        """
        page, units = excerpt.page, [unit]
        while len(units) <= most_before and needs_the_one_before(page, units[0]):
            units.insert(0, page.pieces[units[0].index - 1])
        around = [piece for one in units for piece in (*one.leads, *one.frames, one)]
        around += [] if len(units) > 1 else lead_in(page, unit)
        around += bridges(excerpt, unit)
        if most_before:
            around += [*announced(page, unit), *definition(page, unit), *items_around(unit)]
        pieces = {piece.index: piece for piece in around}
        return [
            piece
            for _, piece in sorted(pieces.items())
            if piece.index not in excerpt.shown
            and (piece.kind != "lead" or self.size(page.of(piece)) <= self.longest_lead)
        ]

    def with_item(self, excerpt: Excerpt, pieces: list[Piece], item: list[Piece]) -> list[Piece]:
        """Return pieces plus the rest of their list item, if the item is short and fits.

        An item may end with its default value.
        """
        if not item or item[-1].end - item[0].start > DEFINITION_CHARS:
            return pieces
        both = {piece.index: piece for piece in (*pieces, *item)}
        whole = [both[index] for index in sorted(both) if index not in excerpt.shown]
        return whole if self.cost(excerpt, whole) <= self.room else pieces

    def complete(self, excerpt: Excerpt, pieces: list[Piece]) -> bool:
        """Show all these pieces if the missing pieces fit, except sentences already shown.

        Returns whether they fit.
        """
        told = {excerpt.repeated[index] for index in excerpt.shown if index in excerpt.repeated}
        rest, said = [], set()
        for piece in pieces:
            text = excerpt.repeated.get(piece.index, "")
            if piece.index in excerpt.shown and piece.index not in excerpt.cuts:
                continue
            if text in told:
                said.add(piece.index)
                continue
            told |= {text} - {""}
            rest.append(piece)
        cost = self.cost(excerpt, rest) if rest else 0
        fits = cost <= self.room
        if fits:
            excerpt.said |= said
            excerpt.shown |= {piece.index for piece in rest}
            for piece in rest:
                excerpt.cuts.pop(piece.index, None)
            self.room -= cost
        return fits

    def cost(self, excerpt: Excerpt, pieces: list[Piece]) -> int:
        """Return the maximum space that pieces take up, including the gaps around them."""
        indexes = excerpt.shown | {piece.index for piece in pieces}
        first = None if excerpt.shown else pieces[0]
        cost = 0
        for piece in pieces:
            if piece.kind == "tail":
                gap = "\n"
            elif piece is first and pieces[-1].kind in ("sentence", "item"):
                gap = ITEM_GAPS if excerpt.has_lists else f"{GAP} "  # no text precedes it
            elif piece.kind == "head":
                gap = PARAGRAPH_GAP + ROWS_GAP  # also for omitted rows after the last shown row
            elif piece.index - 1 in indexes or piece.index + 1 in excerpt.shown:
                gap = "\n\n"
            else:
                gap = ROWS_GAP if piece.kind in ("row", "line") else PARAGRAPH_GAP
            gap += margin(excerpt.page, piece)
            cost += self.size(excerpt.page.of(piece)) + self.size(gap)
        return cost


def margin(page: PageText, piece: Piece) -> str:
    """Return the indentation and quotation marks of the line that a piece continues."""
    start = page.text.rfind("\n", 0, piece.start) + 1
    marks = re.compile(r"[ \t>]*").match(page.text, start, piece.start)
    return marks[0] if marks else ""


def bridges(excerpt: Excerpt, unit: Piece) -> list[Piece]:
    """Return the few rows or lines between a unit and the closest shown ones in its block."""
    pieces, found = excerpt.page.pieces, []
    for step in (-1, 1) if unit.kind in ("row", "line") else ():
        between, index = [], unit.index + step
        while 0 <= index < len(pieces) and pieces[index].kind == unit.kind:
            piece = pieces[index]
            is_near = max(unit.start - piece.start, piece.end - unit.end) <= LEAST_HOLE
            if piece.block != unit.block or piece.index in excerpt.shown or not is_near:
                break
            between.append(piece)
            index += step
        is_edge = not 0 <= index < len(pieces) or pieces[index].block != unit.block
        if is_edge or pieces[index] in unit.frames or index in excerpt.shown:
            found += between
    return found


def lead_in(page: PageText, unit: Piece) -> list[Piece]:
    """Return the short sentence ending with a colon that introduces a unit's table or list."""
    if not unit.above:
        return []
    first = unit.frames[0].index if unit.frames else unit.index
    end = max(0, first - LONGEST_LIST)
    while first > end and page.pieces[first].block == unit.block:
        first -= 1
    before = page.pieces[first]
    text = page.of(before)
    is_short = before.kind == "sentence" and len(text) <= LEAD_IN_CHARS and text in unit.above
    return [before] if is_short and text.endswith((":", "：")) else []


def announced(page: PageText, unit: Piece) -> list[Piece]:
    """Return the pieces that a sentence announces, up to the first unit; [] if there are none.

    Such a sentence ends with a colon, a question mark or a phrase such as "as follows".
    """
    if unit.kind not in ("sentence", "item") or not re.search(_ANNOUNCING, page.of(unit)):
        return []
    following: list[Piece] = []
    for piece in page.pieces[unit.index + 1 : unit.index + 1 + MAX_ANNOUNCED]:
        if piece.level in range(1, STRONG):  # a heading: nothing is announced
            return []
        following.append(piece)
        if piece.kind not in ("lead", "head", "tail"):
            return [*following, *piece.frames]
    return []


def definition(page: PageText, unit: Piece) -> list[Piece]:
    """Return the text between an item, such as an option, and a unit below it: its definition."""
    lead = unit.leads[-1] if unit.leads else unit
    if lead.level < ITEM or unit.start - lead.end > DEFINITION_CHARS:
        return []
    return page.pieces[lead.index + 1 : unit.index]


def needs_the_one_before(page: PageText, unit: Piece) -> bool:
    """Return whether a sentence cannot be understood without the previous one."""
    if not unit.index or unit.kind not in ("sentence", "item"):
        return False
    before = page.pieces[unit.index - 1]
    is_after = before.kind == unit.kind and before.leads == unit.leads
    return is_after and bool(re.compile(rf"\W{{0,9}}{_LEANING}").match(page.text, unit.start))


def choose_units(
    selection: Selection,
    questions: list[str],
    scores: list[Scores],
    weakest: Callable[[int, int], float],
    few: Collection[tuple[int, int]] = (),
) -> list[Excerpt]:
    """Return an excerpt for each page of a selection; some may be empty.

    scores: those for each question. Questions share the space: the question that has used the least
    is next, and space that it does not need goes to the others. weakest: returns the minimum score
    of a unit for a question, from the number of characters used. few: pairs (question number, page
    number), from 0, for which at most FEW_UNITS are shown. Once an entry that a question names is
    shown, only units that answer nearly as well as the best are shown outside it.
    """
    waiting = [ranked(selection.pages, of_question) for of_question in scores]
    used = [0] * len(questions)
    chosen: Counter[tuple[int, int]] = Counter()  # units, by question and page
    while selection.room >= LEAST_ROOM and any(waiting):
        active = [number for number, queue in enumerate(waiting) if queue]
        question = min(active, key=lambda number: used[number])
        score, number, unit = waiting[question].popleft()
        entries = [excerpt.entries.get(question, []) for excerpt in selection.excerpts]
        is_outside = any(entries) and not any(lead in unit.leads for lead in entries[number])
        if score < weakest(question, used[question] * len(questions)):
            waiting[question].clear()
        elif (is_outside and score < LEAST_OUTSIDE) or (
            (question, number) in few and chosen[question, number] == FEW_UNITS
        ):
            continue
        elif not selection.is_repeated(number, unit):
            cost = selection.choose(number, unit, questions[question])
            if cost is not None:
                before = selection.room
                if selection.completes:
                    complete_named(selection, number, unit, questions)
                used[question] += cost + before - selection.room
                chosen[question, number] += 1
                selection.excerpts[number].questions.add(question)
    return selection.excerpts


def complete_named(selection: Selection, number: int, unit: Piece, questions: list[str]) -> None:
    """Complete the innermost section around a unit whose heading a question names.

    In a section that is too long or does not fit, only the first list, usually the parameters, is
    completed.
    """
    excerpt = selection.excerpts[number]
    for heading in reversed(unit.leads):
        if heading in excerpt.whole:
            return
        if heading.index in excerpt.named:
            continue
        excerpt.named.add(heading.index)
        asking = {at for at, question in enumerate(questions) if is_named(heading, question)}
        if not asking:
            continue
        about = [at for at in asking if is_entry(heading.words, questions[at])]
        for question in about:
            excerpt.entries.setdefault(question, []).append(heading)
        whole = excerpt.page.section(heading)
        is_long = whole[-1].end - heading.start > WHOLE_SECTION
        if is_long or not selection.complete(excerpt, whole):
            selection.complete(excerpt, first_list(excerpt.page, heading))
        elif about or heading.level < STRONG:
            excerpt.whole.append(heading)
            return


def first_list(page: PageText, heading: Piece) -> list[Piece]:
    """Return a heading and the first list below it; [] if there is no list or the list is long."""
    own = [one for one in page.section(heading) if one.end - heading.end <= LIST_WITHIN]
    block = next((piece.block for piece in own if piece.kind == "item"), 0)
    found = [piece for piece in own if piece.block == block]
    is_short = bool(found) and found[-1].end - found[0].start <= WHOLE_SECTION
    return [heading, *found] if is_short else []


def complete_excerpts(selection: Selection, questions: list[str]) -> None:
    """Complete lists, tables and other blocks that are partly shown, if space allows.

    The order is: rows that a question about an order or number needs, list items, then short lists,
    tables and code blocks, then the text around a label, then small gaps.
    """
    for excerpt in selection.excerpts:
        if excerpt.is_aside:
            continue
        for block in tables_begun(excerpt):
            for question in questions:
                complete_rows(selection, excerpt, block, question)
        for parts in (items_begun, blocks_begun, around_label, small_gaps):
            for pieces in parts(excerpt):
                has_entries = any(piece.level >= ITEM for piece in pieces)
                limit = DEFINITION_CHARS if has_entries else WHOLE_BLOCK
                if pieces[-1].end - pieces[0].start <= limit:
                    selection.complete(excerpt, pieces)


def tables_begun(excerpt: Excerpt) -> list[list[Piece]]:
    """Return the rows of each partly shown table."""
    blocks = [[piece for piece in one if piece.kind == "row"] for one in blocks_begun(excerpt)]
    return [rows for rows in blocks if any(row.index not in excerpt.shown for row in rows)]


def complete_rows(selection: Selection, excerpt: Excerpt, rows: list[Piece], question: str) -> None:
    """Show or count the rows of a table that contain the same word of the question as a shown row.

    The word is the one in the fewest rows. Rows of a question about an order or number are shown
    with their neighbors, because their position in the table is the answer.
    """
    texts = [fold_text(excerpt.page.of(row)) for row in rows]
    shown = [row.index in excerpt.shown for row in rows]
    places: dict[str, list[int]] = {}
    for word in content_words(asked_text(question)):
        pattern = re.compile(rf"(?<!\w){re.escape(fold_text(word))}")
        found = [place for place, text in enumerate(texts) if pattern.search(text)]
        if len(word) <= LONGEST_ALIKE and 1 < len(found) <= len(rows) / 2:
            places[word] = found if any(shown[place] for place in found) else []
    places = {word: found for word, found in places.items() if found}
    if not places:
        return
    word, alike = min(places.items(), key=lambda item: len(item[1]))
    if re.search(_ORDER, question):
        near = {place + step for place in alike for step in (-1, 0, 1)} & {*range(len(rows))}
        selection.complete(excerpt, [rows[place] for place in sorted(near)])
    shown = [row.index in excerpt.shown for row in rows]
    gaps = {sum(shown[:place]) for place in alike if not shown[place]}
    cost = len(gaps) * len(f", {len(alike)} with {word}")
    if gaps and cost <= selection.room:
        selection.room -= cost
        excerpt.alike |= {rows[place].index: word for place in alike}


def items_begun(excerpt: Excerpt) -> list[list[Piece]]:
    """Return the first paragraphs of the list items that are shown in part."""
    shown = (excerpt.page.pieces[index] for index in sorted(excerpt.shown))
    items = (item_of(excerpt.page, piece) for piece in shown)
    return [*{item[0].index: item for item in items if item}.values()]


def around_label(excerpt: Excerpt) -> list[list[Piece]]:
    """Return the sentences around an excerpt of only a label, such as one of a card."""
    page = excerpt.page
    shown = [page.pieces[index] for index in excerpt.shown]
    if sum(piece.end - piece.start for piece in shown) > JOINED_CHARS:
        return []
    return [
        [
            piece
            for piece in page.pieces
            if (piece.kind, piece.section, piece.leads) == (one.kind, one.section, one.leads)
            and one.start - piece.start <= JOINED_CHARS
            and piece.end - one.end <= JOINED_CHARS
        ]
        for one in shown
        if one.kind == "sentence" and is_line(page.of(one))
    ]


def small_gaps(excerpt: Excerpt) -> list[list[Piece]]:
    """Return the omitted pieces in each gap that saves little more than its marker takes."""
    page, gaps = excerpt.page, []
    shown = [page.pieces[index] for index in sorted(excerpt.shown)]
    for before, after in zip(shown, [*shown[1:], None], strict=False):
        gap = page.pieces[before.index + 1 : after.index if after else None]
        if not after:  # at the end, only a gap in a list, table or code block is marked
            gap = [piece for piece in gap if piece.block == before.block]
        beside = [one for one in (before, after) if one and one.level not in range(1, ITEM)]
        is_in_section = any(one.section == gap[0].section for one in beside) if gap else False
        is_in_section = is_in_section and all(one.level not in range(1, ITEM) for one in gap)
        if is_in_section and gap[-1].end - gap[0].start <= LEAST_HOLE:
            gaps.append(gap)
    return gaps


def is_named(heading: Piece, question: str) -> bool:
    """Return whether a question contains all words of a heading."""
    (held,) = count_terms([heading.words], term_weights(question))
    return asked_share(heading.words, held, calls_in(question)) == 1


def is_entry(heading: str, question: str) -> bool:
    """Return whether a heading contains a function, option or other symbol from a question."""
    words = plain_text(heading)
    symbols = (symbol.casefold() for symbol in symbols_in(asked_text(question)))
    return is_entry_of(words, calls_in(question)) or any(symbol in words for symbol in symbols)


def blocks_begun(excerpt: Excerpt) -> list[list[Piece]]:
    """Return the lists, tables and code blocks that are partly or fully shown, or announced.

    Omit a list of entries if the entry that the question names is shown whole.
    """
    blocks: dict[int, list[Piece]] = {}
    entries = [excerpt.page.section(lead) for lead in excerpt.whole if lead.level >= ITEM]
    of_entries = {piece.block for entry in entries for piece in entry}
    for piece in excerpt.page.pieces:
        if piece.block not in of_entries:
            blocks.setdefault(piece.block, []).append(piece)
    return [
        block
        for block in blocks.values()
        if any(piece.kind in ("item", "row", "line") for piece in block)
        and not is_box(excerpt.page, block)
        and (any(piece.index in excerpt.shown for piece in block) or is_announced(excerpt, block))
    ]


def is_box(page: PageText, block: list[Piece]) -> bool:
    """Return whether a block is a table of names and values, whose rows need no other rows."""
    cells = cells_of(page.of(block[0]).partition("\n")[0]) if block[0].kind == "head" else []
    return len(cells) == PAIR and not cells[1]


def cut_sections(excerpt: Excerpt, questions: list[str], strong: list[Piece]) -> list[str]:
    """Return the headings of up to MOST_CUT sections that look complete in an excerpt but are not.

    These are partly shown sections that a question names, and sections with a partly shown list,
    table or code block. Sections with the most shown pieces come first. strong: units that answer
    well; a section without such a unit is skipped.
    """
    shown = excerpt.shown
    wanted = {lead.index: lead for unit in strong for lead in unit.leads if lead.level < STRONG}
    missing: Counter[str] = Counter()
    for block in blocks_begun(excerpt):
        headings = [lead for lead in block[-1].leads if lead.level < STRONG]
        count = sum(piece.index in shown | excerpt.said for piece in block)
        if headings and headings[-1].index in wanted and count < len(block):
            missing[headings[-1].words] += count
    for index, heading in sorted(wanted.items()):
        is_asked = index in shown and any(is_named(heading, one) for one in questions)
        section = {piece.index for piece in excerpt.page.section(heading)}
        if is_asked and not section <= shown | excerpt.said:
            missing[heading.words] += len(shown)
    return [words for words, _ in missing.most_common(MOST_CUT)]


def is_announced(excerpt: Excerpt, block: list[Piece]) -> bool:
    """Return whether the sentence directly before a block is shown and ends with a colon."""
    before = block[0].index - 1
    pieces = excerpt.page.pieces
    return before in excerpt.shown and excerpt.page.of(pieces[before]).endswith((":", "："))


def ranked(pages: list[PageText], scores: Scores) -> deque[tuple[float, int, Piece]]:
    """Return (score, page number, unit) for each unit that answers, best first."""
    found = [
        (score, number, unit)
        for number, (page, of_page) in enumerate(zip(pages, scores, strict=True))
        for unit, score in zip(page.units, of_page, strict=True)
        if score > 0
    ]
    return deque(sorted(found, key=lambda unit: -unit[0]))


def telling_part(text: str, room: int, question: str, size: Callable[[str], int]) -> str:
    """Return the part of a text that has the most question terms, within room characters.

    It begins at the start of the text or at a word with a term, and keeps the text's indentation.
    """
    weights = term_weights(question)
    indent = " " * min(MOST_INDENT, len(text) - len(text.lstrip(" ")))
    room -= len(f"{indent}… …")
    start, total, most = 0, 0.0, 0.0
    part: deque[tuple[int, float]] = deque()  # positions of its words with terms, and their weights
    for match in re.finditer(WORD, text):
        terms = terms_of(fold_text(match[0]))
        if weight := max((weights.get(term, 0.0) for term in terms), default=0.0):
            part.append((match.start(), weight))
            total += weight
        while part and match.end() - part[0][0] > room:
            total -= part.popleft()[1]
        if total > most:
            most, start = total, part[0][0] if match.end() > room else 0
    last = max(0, len(text) - room)  # from here on, the remaining text fits
    start = min(start, text.find(" ", last) + 1 or last)
    end = min(len(text), start + room)
    while size(text[start:end]) > room:
        end -= size(text[start:end]) - room
    if end < len(text):
        end = max(text.rfind(" ", start + room * 2 // 3, end), 0) or end  # some scripts lack spaces
    return indent + "… " * (start > 0) + text[start:end].strip() + "…" * (end < len(text))
