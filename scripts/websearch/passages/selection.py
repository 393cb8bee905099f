"""Choose the units of pages that answer questions, within a room, the best first."""

from __future__ import annotations

import itertools
import re
from collections import Counter, deque
from dataclasses import dataclass, field

from websearch.kit import dump_json
from websearch.markdown.units import ITEM, STRONG
from websearch.passages.ranking import asked_share
from websearch.passages.terms import WORD, count_terms, fold_text, term_weights, terms_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from websearch.markdown.units import PageText, Piece
    from websearch.passages.ranking import Scores

LEAST_ROOM = 40  # characters; a smaller rest of the room is left empty
LONG_SENTENCE = 100  # characters; a shorter one is whole or absent
LEAST_CUT = 40  # characters of a sentence that is cut to the rest of the room
MOST_INDENT = 8  # characters that are left of its indentation
LEAD_SHARE = 8  # a heading takes at most this part of the room, or is left out
LEAST_REPEATED = 40  # characters of a unit that is shown once only; labels may stand often
LEAST_BOILERPLATE, LEAST_TIMES = 20, 3  # characters of a sentence that repeats, and how often
DEFINITION_CHARS = 700  # between an option and text below it, with which they are shown
LEAD_IN_CHARS = 160  # of a sentence that introduces a table or list, and is shown with it
LONGEST_LIST = 40  # items above one that is shown with the sentence that introduces the list
MAX_ANNOUNCED = 4  # pieces after a sentence in which the first unit of what it announces is found
MAX_BEFORE = 2  # sentences that are shown because the next one needs them
# Characters of a list, table or code, and of a section that a question names, that are shown whole:
# what is cut looks finished.
WHOLE_BLOCK, WHOLE_SECTION = 2_000, 4_000
LIST_WITHIN = 6_000  # characters below a heading in which its first list ends
BEFORE_SHARE = 3  # they are left out where more than this part of the room would go
FEW_UNITS = 3  # of a page, for a question whose main words no page has
MOST_CUT = 2  # sections of a page that are named because they are shown in part
GAP = "[…]"  # stands for what is left out
PARAGRAPH_GAP = f"\n\n{GAP}\n\n"
ROWS_GAP = "\n| [… 99999 rows] |\n"  # the longest mark for the rows or lines that are missing
# Sentences that end so say nothing without what follows them.
_ANNOUNCING = (
    r"(?i)(?:[:：?？]|\b(?:as follows|(?:shown|listed|given|described) below)\.)[\"'”’*_)]*$"
)
SENTENCE_WORDS = 4  # of a text that ends as a sentence does: fewer are a label
# Sentences that begin so say something else, or nothing, without the one before.
_LEANING = (
    r"(?:This|That|These|Those|It|Its|They|Their|He|She|His|Her|Such|Both|However|Therefore|Thus"
    r"|Hence|Otherwise|Instead|Then|Also|In (?:this|that|these|such|both)|The (?:default|latter"
    r"|former|same|other)|Dies(?:e[mnrs]?)?|Er|Sie|Es|Ihre?|Seine?|Jedoch|Daher|Il|Elle|Ils|Elles"
    r"|Ces?|Cette|Este|Esta|Esto|Ella|Ello)\b(?! is (?:a|an|the)\b)"
)


@dataclass(slots=True)
class Excerpt:
    """What is shown of a page.

    shown: indexes of its pieces. cuts: texts of pieces that are not shown whole. questions: numbers
    of the questions, from 0, that the pieces were chosen for. repeated: texts of sentences that the
    page repeats, by index. said: indexes of those that are not shown because another place says so.
    named: indexes of the headings that were looked at for their names. is_aside: whether the page
    is of something else than all questions.
    """

    page: PageText
    shown: set[int] = field(default_factory=set)
    cuts: dict[int, str] = field(default_factory=dict)
    questions: set[int] = field(default_factory=set)
    repeated: dict[int, str] = field(init=False)
    said: set[int] = field(default_factory=set)
    named: set[int] = field(default_factory=set)
    is_aside: bool = False

    def __post_init__(self) -> None:
        """Find what repeats."""
        self.repeated = repeated_units(self.page)


def repeated_units(page: PageText) -> dict[int, str]:
    """Return the texts of sentences that a page repeats, by index.

    They are what its makers put below each entry ("See also INCOMPATIBLE OPTIONS below."). The
    first words below a heading, option or term are what is said of it, however often.
    """
    places: dict[str, list[int]] = {}
    for before, unit in itertools.pairwise(page.pieces):
        may_repeat = unit.kind in ("sentence", "item") and before.kind != "lead"
        if may_repeat and unit.end - unit.start >= LEAST_BOILERPLATE:
            places.setdefault(page.of(unit).strip(), []).append(unit.index)
    return {
        index: text
        for text, indexes in places.items()
        if len(indexes) >= LEAST_TIMES and is_sentence(text)
        for index in indexes
    }


def is_sentence(text: str) -> bool:
    """Return whether a text ends as a sentence does and has more words than a label."""
    return text.endswith((".", "!", "?", ":")) and len(text.split()) >= SENTENCE_WORDS


def json_size(text: str) -> int:
    """Return how many characters a text takes inside of JSON."""
    return len(dump_json(text)) - 2


class Selection:
    """Fills a room with units. room: what is left of it, as size counts characters.

    completes: sections that a question names are shown whole, before anything that answers worse
    than what is shown of them.
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
        self.keys: dict[str, tuple[int, int]] = {}  # what is shown, and where

    def choose(self, number: int, unit: Piece, question: str) -> int | None:
        """Show a unit of a page with what it needs; return the room it takes.

        None: it does not fit. A sentence may be cut then, if there is room for a part of it.
        """
        excerpt = self.excerpts[number]
        pieces = self.needed(excerpt, unit, MAX_BEFORE)
        if self.cost(excerpt, pieces) * BEFORE_SHARE > self.room:
            pieces = self.needed(excerpt, unit, 0)
        cost = self.cost(excerpt, pieces)
        if cost > self.room:
            text = excerpt.page.of(unit)
            rest = self.room - cost + self.size(text)
            is_long = unit.kind in ("sentence", "item") and len(text) > LONG_SENTENCE
            if not is_long or rest < LEAST_CUT:
                return None
            excerpt.cuts[unit.index] = telling_part(text, rest, question, self.size)
            cost = self.room
        excerpt.shown |= {piece.index for piece in pieces}
        self.room -= cost
        return cost

    def is_repeated(self, number: int, unit: Piece) -> bool:
        """Return whether another unit that is shown says the same."""
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
        """Return the pieces to show for a unit, in the page's order, those shown excepted.

        most_before: sentences before it that it may need.
        """
        page, units = excerpt.page, [unit]
        while len(units) <= most_before and needs_the_one_before(page, units[0]):
            units.insert(0, page.pieces[units[0].index - 1])
        around = [piece for one in units for piece in (*one.leads, *one.frames, one)]
        around += [] if len(units) > 1 else lead_in(page, unit)
        around += [*announced(page, unit), *definition(page, unit)] if most_before else []
        pieces = {piece.index: piece for piece in around}
        return [
            piece
            for _, piece in sorted(pieces.items())
            if piece.index not in excerpt.shown
            and (piece.kind != "lead" or self.size(page.of(piece)) <= self.longest_lead)
        ]

    def complete(self, excerpt: Excerpt, pieces: list[Piece]) -> None:
        """Show all of these pieces if what is missing of them fits; what is said already is not."""
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
        if cost <= self.room:
            excerpt.said |= said
            excerpt.shown |= {piece.index for piece in rest}
            for piece in rest:
                excerpt.cuts.pop(piece.index, None)
            self.room -= cost

    def cost(self, excerpt: Excerpt, pieces: list[Piece]) -> int:
        """Return the room that pieces take at most, what joins them to others included."""
        indexes = excerpt.shown | {piece.index for piece in pieces}
        first = None if excerpt.shown else pieces[0]
        cost = 0
        for piece in pieces:
            if piece.kind == "tail":
                gap = "\n"
            elif piece is first and pieces[-1].kind in ("sentence", "item"):
                gap = ""  # nothing stands before it
            elif piece.kind == "head":
                gap = PARAGRAPH_GAP + ROWS_GAP  # of what is missing below the last row, too
            elif piece.index - 1 in indexes or piece.index + 1 in excerpt.shown:
                gap = "\n\n"
            else:
                gap = ROWS_GAP if piece.kind in ("row", "line") else PARAGRAPH_GAP
            cost += self.size(excerpt.page.of(piece)) + self.size(gap)
        return cost


def lead_in(page: PageText, unit: Piece) -> list[Piece]:
    """Return the short sentence with a colon that introduces the table or list of a unit."""
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
    """Return what a sentence announces, up to the first unit of it; [] if it announces nothing.

    It ends with a colon or a question mark, or says that something follows.
    """
    if unit.kind not in ("sentence", "item") or not re.search(_ANNOUNCING, page.of(unit)):
        return []
    following: list[Piece] = []
    for piece in page.pieces[unit.index + 1 : unit.index + 1 + MAX_ANNOUNCED]:
        if piece.level in range(1, STRONG):  # a heading: nothing follows
            return []
        following.append(piece)
        if piece.kind not in ("lead", "head", "tail"):
            return [*following, *piece.frames]
    return []


def definition(page: PageText, unit: Piece) -> list[Piece]:
    """Return the text between an item, such as an option, and a unit below it: it defines it."""
    lead = unit.leads[-1] if unit.leads else unit
    if lead.level < ITEM or unit.start - lead.end > DEFINITION_CHARS:
        return []
    return page.pieces[lead.index + 1 : unit.index]


def needs_the_one_before(page: PageText, unit: Piece) -> bool:
    """Return whether a sentence is not understood without the one before it."""
    if not unit.index or unit.kind not in ("sentence", "item"):
        return False
    before = page.pieces[unit.index - 1]
    is_after = before.kind == unit.kind and before.leads == unit.leads
    return is_after and bool(re.compile(rf"\W{{0,9}}{_LEANING}").match(page.text, unit.start))


def choose_units(
    selection: Selection,
    questions: list[str],
    scores: list[Scores],
    weakest: Callable[[int], float],
    few: Collection[tuple[int, int]] = (),
) -> list[Excerpt]:
    """Return the excerpts of a selection's pages that answer questions; some may be empty.

    scores: of each question. Questions share the room: the one that has used the least of it is
    next, so that what one does not need the others get. weakest: returns the score of the weakest
    unit that is shown, when an answer has so many characters. few: (number of the question,
    of the page), from 0, for which FEW_UNITS at most are shown.
    """
    waiting = [ranked(selection.pages, of_question) for of_question in scores]
    used = [0] * len(questions)
    chosen: Counter[tuple[int, int]] = Counter()  # units, by question and page
    while selection.room >= LEAST_ROOM and any(waiting):
        active = [number for number, queue in enumerate(waiting) if queue]
        question = min(active, key=lambda number: used[number])
        score, number, unit = waiting[question].popleft()
        if score < weakest(used[question] * len(questions)):
            waiting[question].clear()
        elif (question, number) in few and chosen[question, number] == FEW_UNITS:
            continue
        elif not selection.is_repeated(number, unit):
            cost = selection.choose(number, unit, questions[question])
            if cost is not None:
                before = selection.room
                if selection.completes and (question, number) not in few:
                    complete_named(selection, number, unit, questions)
                used[question] += cost + before - selection.room
                chosen[question, number] += 1
                selection.excerpts[number].questions.add(question)
    return selection.excerpts


def complete_named(selection: Selection, number: int, unit: Piece, questions: list[str]) -> None:
    """Show whole the sections of a unit whose headings a question names.

    Of a long section its first list comes whole: that of its parameters.
    """
    excerpt = selection.excerpts[number]
    for heading in unit.leads:
        if heading.index not in excerpt.named:
            excerpt.named.add(heading.index)
            if any(is_named(heading, term_weights(question)) for question in questions):
                whole = section_below(excerpt.page, heading)
                selection.complete(excerpt, whole or first_list(excerpt.page, heading))


def first_list(page: PageText, heading: Piece) -> list[Piece]:
    """Return the first list right below a heading; [] if there is none, or it is long."""
    below = (piece for piece in page.pieces[heading.index + 1 :] if heading in piece.leads)
    own = [*itertools.takewhile(lambda one: one.end - heading.end <= LIST_WITHIN, below)]
    block = next((piece.block for piece in own if piece.kind == "item"), 0)
    found = [piece for piece in own if piece.block == block]
    is_short = bool(found) and found[-1].end - found[0].start <= WHOLE_SECTION
    return [heading, *found] if is_short else []


def complete_excerpts(selection: Selection) -> None:
    """Show whole, as far as the room goes, lists, tables and code that are begun and are short."""
    for excerpt in selection.excerpts:
        if excerpt.is_aside:
            continue
        for block in blocks_begun(excerpt):
            if block[-1].end - block[0].start <= WHOLE_BLOCK:
                selection.complete(excerpt, block)


def is_named(heading: Piece, weights: dict[str, float]) -> bool:
    """Return whether a question, of which the terms are given, holds all words of a heading."""
    (held,) = count_terms([heading.words], weights)
    return asked_share(heading.words, held) == 1


def section_below(page: PageText, heading: Piece) -> list[Piece]:
    """Return a heading with all that stands below it; [] if that is too long to be shown whole."""
    section = [heading]
    for piece in page.pieces[heading.index + 1 :]:
        if piece.kind == "lead" and piece.level <= heading.level:
            break
        if piece.end - heading.start > WHOLE_SECTION:
            return []
        section.append(piece)
    return section


def blocks_begun(excerpt: Excerpt) -> list[list[Piece]]:
    """Return the lists, tables and code that are shown in part or that a colon announces."""
    blocks: dict[int, list[Piece]] = {}
    for piece in excerpt.page.pieces:
        blocks.setdefault(piece.block, []).append(piece)
    return [
        block
        for block in blocks.values()
        if any(piece.kind in ("item", "row", "line") for piece in block)
        and (any(piece.index in excerpt.shown for piece in block) or is_announced(excerpt, block))
    ]


def cut_sections(excerpt: Excerpt, questions: list[str], strong: list[Piece]) -> list[str]:
    """Return the headings, up to MOST_CUT, of sections that look whole in an excerpt and are not.

    These are sections that a question names, and those of a list, table or code, which are shown in
    part; of these, the ones of which most is shown come first. strong: units that answer well;
    sections without one are not wanted whole.
    """
    shown = excerpt.shown
    wanted = {lead.index: lead for unit in strong for lead in unit.leads if lead.level < STRONG}
    weights = [term_weights(question) for question in questions]
    missing: Counter[str] = Counter()
    for block in blocks_begun(excerpt):
        headings = [lead for lead in block[-1].leads if lead.level < STRONG]
        count = sum(piece.index in shown | excerpt.said for piece in block)
        if headings and headings[-1].index in wanted and count < len(block):
            missing[headings[-1].words] += count
    for index, heading in sorted(wanted.items()):
        is_asked = index in shown and any(is_named(heading, one) for one in weights)
        if is_asked and not is_whole(excerpt, heading):
            missing[heading.words] += len(shown)
    return [words for words, _ in missing.most_common(MOST_CUT)]


def is_whole(excerpt: Excerpt, heading: Piece) -> bool:
    """Return whether all that stands below a heading is shown."""
    for piece in excerpt.page.pieces[heading.index + 1 :]:
        if piece.kind == "lead" and piece.level <= heading.level:
            break
        if piece.index not in excerpt.shown | excerpt.said:
            return False
    return True


def is_announced(excerpt: Excerpt, block: list[Piece]) -> bool:
    """Return whether the sentence right before a block is shown and ends with a colon."""
    before = block[0].index - 1
    pieces = excerpt.page.pieces
    return before in excerpt.shown and excerpt.page.of(pieces[before]).endswith((":", "："))


def ranked(pages: list[PageText], scores: Scores) -> deque[tuple[float, int, Piece]]:
    """Return (score, number of the page, unit) of the units that answer, the best first."""
    found = [
        (score, number, unit)
        for number, (page, of_page) in enumerate(zip(pages, scores, strict=True))
        for unit, score in zip(page.units, of_page, strict=True)
        if score > 0
    ]
    return deque(sorted(found, key=lambda unit: -unit[0]))


def telling_part(text: str, room: int, question: str, size: Callable[[str], int]) -> str:
    """Return the part of a text that holds the most of a question's terms within a room.

    It begins at the beginning of the text or at a word that holds a term, as far in as the text.
    """
    weights = term_weights(question)
    indent = " " * min(MOST_INDENT, len(text) - len(text.lstrip(" ")))
    room -= len(f"{indent}… …")
    start, total, most = 0, 0.0, 0.0
    part: deque[tuple[int, float]] = deque()  # where its words begin, and their weights
    for match in re.finditer(WORD, text):
        terms = terms_of(fold_text(match[0]))
        if weight := max((weights.get(term, 0.0) for term in terms), default=0.0):
            part.append((match.start(), weight))
            total += weight
        while part and match.end() - part[0][0] > room:
            total -= part.popleft()[1]
        if total > most:
            most, start = total, part[0][0] if match.end() > room else 0
    last = max(0, len(text) - room)  # from here on, all fits
    start = min(start, text.find(" ", last) + 1 or last)
    end = min(len(text), start + room)
    while size(text[start:end]) > room:
        end -= size(text[start:end]) - room
    if end < len(text):
        end = max(text.rfind(" ", start + room * 2 // 3, end), 0) or end  # some scripts have none
    return indent + "… " * (start > 0) + text[start:end].strip() + "…" * (end < len(text))
