"""Check whether the numbers in a draft's sentence are in a page and count the same thing.

A number in a page proves a number in the draft if it has the same value, no other unit or scale,
and a sentence or row about the same thing. If another sentence, row or column fits better and has
another number, the number is doubtful.
"""

from __future__ import annotations

import functools
import math
import re
import time
from collections import defaultdict
from decimal import Decimal
from heapq import nlargest
from itertools import islice, pairwise
from typing import NamedTuple

from websearch.base.numbers import (
    UNITS,
    VERSION,
    Number,
    decimals,
    numbers_of,
    scale_powers,
    shown,
)
from websearch.base.words import STOP_WORDS
from websearch.check.page_numbers import (
    BORDER,
    WORD,
    Occurrence,
    PageNumbers,
    as_grouped,
    days_of,
    kind_of,
    names_in_order,
    near_words,
    noun_after,
    stem_of,
    stems,
    values_of,
)
from websearch.check.rounded import Rounding, rounding_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


TOGETHER = 0.7  # weight per other number of the sentence in the same piece of the page
NEARER = 1.8  # factor by which another number must fit better than the proof to cause a doubt
CLEARLY = 1.0  # words by which another row must fit better to cause a doubt
MUCH = 1.5  # the same for another sentence; one of two words may be in its headings
MOST_TOLD = 5  # rivals to examine
NAMED_BEFORE = 3  # sentences before a number that may name its subject
MOST_OCCURRENCES = 500  # per value and page
BEST_OCCURRENCES = 20  # occurrences whose nearest words are compared
MOST_DOUBTED = 50  # numbers per sentence
MOST_RIVALS = 2_000  # pieces of a page per word of the sentence

# Parts, steps, versions and standards: the number is a label, not an amount. without_label keeps
# versions with two points: they are as exact as an amount.
_LABEL = re.compile(
    r"(?i)\b(?:fig(?:ure)?s?\.?|tables?|sections?|sec\.|chapters?|steps?|pages?|pp?\.|lines?|eqs?\.|equations?"
    r"|appendix|vol(?:ume)?\.?|(versions?)|nos?\.|nr\.|items?|abb(?:ildung)?\.?|tabelle|abschnitt|kapitel|schritt"
    r"|seiten?|tableau|chapitre|étape|tabla|capítulo|paso|figura|capitolo|passo|§+)\s?\d[\d.]*"
    r"(?:\s?(?:[-–,]|and|und|et|y|e|to)\s?\d[\d.]*)*"
    r"|\b(?-i:ISO|RFC|IEC|IEEE|DIN|EN|PEP|CVE|BCP|ANSI|ECMA|UTF|SHA)(?:/[A-Z]+)?[ -]?\d[\d.:-]*"
    r"|\b((?-i:[A-Z])[^\W\d_]*-)\d[\d.]*"
    r"|\bv\d{1,9}\.\d{1,9}(?!\d|\.\d)"
)
_DOTTED = re.compile(r"(\d{1,20}(?:\.\d{1,20}){2,8})|[\s\S]")
# A name and its version or year: Python 3.12, Windows 11, Web Summit 2023. Months are not names.
_NAMED = re.compile(
    r"(?<=[^\W\d_] )([A-Z][^\W\d_]+(?:\.js)?) (\d{1,9}(?:\.\d{1,9})?)(?![\d%]|[.,]\d)(?=\W|$)"
)
_YEAR_NAME = re.compile(r"\b[A-Z][^\W\d_]{1,30} [A-Z][^\W\d_]{1,30} (?:19|20)\d\d\Z")
_VERSION = re.compile(r"\b[A-Z][\w+#]+(?:\.js)? \d{1,9}\.\d{1,9}(?![\d%]|\.\d)(?= [a-z]|\W|$)")
_AND = re.compile(r"(?i)[,;/&\s]{0,3}(?:and|or|und|oder|et|ou|y|o|e|en|и|или)?\s{0,3}")
_NAMES = re.compile(r"\b[A-Z][^\W\d_]{2,}(?: [A-Z][^\W\d_]{2,}){0,5}")
_FROM = re.compile(r"(?i)\b(?:from|von|de|da|van|od|с|от)\W{1,4}\Z")
FROM_CHARS = 12  # characters before a number that are searched for "from"
NAME_CHARS = 70  # maximum length of two words and a year
_NAME = re.compile(r"\b[A-Z][^\W\d_]{2,}")
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


class Proof(NamedTuple):
    """An occurrence of a draft's number in a page, and how well it fits."""

    score: float
    affinity: float
    page: PageNumbers
    occurrence: Occurrence


class DraftNumber:
    """A number in a sentence of a draft, and the words near it."""

    def __init__(self, number: Number, sentence: str) -> None:
        self.number = number
        self.text = number.text
        self.sentence = sentence

    @functools.cached_property
    def near(self) -> dict[str, float]:
        """Return the significant words around the number; nearer words weigh more."""
        return near_words(self.sentence, self.number.start, self.number.end)

    @functools.cached_property
    def noun(self) -> str:
        """Return the significant word right after the number, or ""."""
        return noun_after(self.sentence, self.number)

    @functools.cached_property
    def nouns(self) -> list[str]:
        """Return the two words after the number ("398 league games"); "" if not significant."""
        return [self.noun, noun_after(self.sentence, self.number, 2)]

    def fits(self, found: Occurrence, page: PageNumbers) -> bool:
        """Return whether a number in a page has this number's value, scale and unit."""
        own, its = self.number, found.number
        values = its.scaled or values_of(its)
        if own.unit == "%" and its.unit not in ("%", VERSION):
            shares = {shown(value / 100) for value in decimals(own.plain)}
            if values & (shares - {"0", "1"}):
                return True
            if found.cell < 0:
                return False
        if its.unit == "%" and not own.unit:
            parts = {shown(value * 100) for value in decimals(own.plain)}
            if {value for value in own.plain if "." in value} and values & parts:
                return True
        if values & own.scaled or (not its.power and its.scaled and its.plain & own.plain):
            is_same = True
        elif values & own.plain:
            is_same = not own.power or own.power in scale_powers(page.label(found))
        else:
            return False
        if own.unit and its.unit and own.unit != its.unit:
            return False
        is_named = not own.unit or its.unit or has_decimals(own, found)
        return is_same and bool(is_named or page.has_unit(found, own.unit))

    @functools.cached_property
    def rounding(self) -> Rounding | None:
        """Return the range that the number may be rounded from; None if it is exact."""
        return rounding_of(self.number, self.sentence)

    def rounds(self, found: Occurrence, page: PageNumbers) -> bool:
        """Return whether this number may be rounded from a number in a page within its range."""
        unit, its = self.number.unit, found.number.unit
        is_named = unit and not its and (unit != "%" or found.cell >= 0)
        is_same = unit == its or (is_named and page.has_unit(found, unit))
        return bool(is_same and self.rounding and self.rounding.fits(found.number))

    def note(self, proof: Proof) -> str:
        """Return a note on the number that this one is rounded from; "" if the values are equal."""
        is_exact = self.fits(proof.occurrence, proof.page)
        return "" if is_exact else f"Rounded from {proof.occurrence.number.text}."


# ===== numbers in a draft =========================================================================


def numbers_in(text: str, language: str = "en") -> tuple[list[DraftNumber], list[str]]:
    """Return the numbers in a draft's sentence, except labels, and its YYYY-MM-DD dates."""
    days = _ISO_DAY.findall(text)
    for pattern in (_ISO_DAY, _LABEL, _VERSION):
        text = pattern.sub(without_label, text)
    text = _NAMED.sub(without_name, text)
    numbers = (as_grouped(number, language) for number in numbers_of(text, language or "en"))
    return [DraftNumber(number, text) for number in numbers], days


def without_label(found: re.Match[str]) -> str:
    """Return a covered label; versions with two points in it stay, unless it names a part."""
    if found.lastindex:
        return _DOTTED.sub(lambda part: part[1] or "\u2060", found[0])
    return "\u2060" * len(found[0])


def without_name(found: re.Match[str]) -> str:
    """Return a name and number, with the number covered unless it is an amount or in a date."""
    from websearch.base.written_dates import month_number

    behind = WORD.match(found.string, found.end() + 1)
    counted = behind and (behind[0] in UNITS or behind[0].lower() not in STOP_WORDS)
    start = max(0, found.end(2) - NAME_CHARS)
    if _YEAR_NAME.search(found.string, start, found.end(2)):  # "Web Summit 2023 showed"
        counted = False
    if counted or month_number(found[1].lower()) or found[1].lower() in STOP_WORDS:
        return found[0]
    return found[1] + "\u2060" * (len(found[0]) - len(found[1]))


class ComparedNumbers:
    """The numbers in a sentence compared with its pages: missing, doubtful or proven.

    context: text in the draft that belongs to the sentence, such as a table header. Raises
    TimeoutError after the deadline.
    """

    def __init__(
        self,
        text: str,
        context: str,
        pages: Sequence[PageNumbers],
        language: str = "en",
        deadline: float = math.inf,
    ) -> None:
        self.deadline = deadline
        self.pages = pages
        self.language = language
        self.numbers, self.days = numbers_in(text, language)
        self.written_days = days_of(text) - set(self.days)
        self.words = stems(f"{text} {context}")
        names = [name for name in _NAMES.finditer(text) if not self.is_common(name[0])]
        self.names = [(stems(name[0]), name.start()) for name in names]
        powers = scale_powers(context)
        self.candidates = [self.candidates_of(number, powers) for number in self.numbers]
        self.holders: dict[tuple[PageNumbers, int], set[int]] = {}
        for index, candidates in enumerate(self.candidates):
            for page, found in candidates:
                self.holders.setdefault((page, found.piece), set()).add(index)
        self.proofs = [self.proof_of(index) for index in range(len(self.numbers))]
        self.used = {(proof.page, proof.occurrence.piece) for proof in self.proofs if proof}

    def is_common(self, word: str) -> bool:
        """Return whether a page also writes a capitalized word in lower case."""
        return any(f" {word.lower()}" in page.text for page in self.pages)

    def missing(self) -> list[str]:
        """Return the numbers and dates that no page has.

        If all numbers are words, the author may have counted, so none of them is missing.
        """
        is_counted = all(number.number.is_word for number in self.numbers)
        lost = [
            number.text
            for number, proof in zip(self.numbers, self.proofs, strict=True)
            if not (proof or is_counted)
        ]
        if not (self.days or self.written_days):
            return lost
        known = set().union(*(days for page in self.pages for days in page.days))
        # A page without any date in a month proves nothing about that month.
        months = {day[:7] for day in known}
        others = [day for day in self.written_days if day[:7] in months]
        return lost + [day for day in (*self.days, *others) if day not in known]

    def proof(self) -> list[dict[str, str]]:
        """Return {number, url, text, note?} for each proven number."""
        return [
            {
                "number": number.text,
                "url": proof.page.url,
                "text": proof.page.shown(proof.occurrence),
                **({"note": note} if (note := number.note(proof) or proof.page.note) else {}),
            }
            for number, proof in zip(self.numbers, self.proofs, strict=True)
            if proof
        ]

    def doubtful(self) -> list[dict[str, str]]:
        """Return {number, note} for each number or date that may be wrong."""
        swapped = self.swapped()
        found = []
        for index, (number, proof) in enumerate(
            zip(self.numbers[:MOST_DOUBTED], self.proofs[:MOST_DOUBTED], strict=True)
        ):
            if proof:
                is_open = number.rounding and number.rounding.is_open
                note = self.doubt(index, proof) or swapped.get(index, "")
                note = note or (number.note(proof) if is_open else "")
            else:
                is_word = all(number.number.is_word for number in self.numbers)
                note = "The page does not have it. Was it counted?" if is_word else ""
            if note:
                found.append({"number": number.text, "note": note})
        if days := {*self.days, *self.written_days}:
            named, aside = (set().union(*(one.days[side] for one in self.pages)) for side in (0, 1))
            note = "The page has this day only in a reference."
            found += [{"number": day, "note": note} for day in sorted(days & aside - named)]
        return found

    def candidates_of(
        self, number: DraftNumber, powers: set[int]
    ) -> list[tuple[PageNumbers, Occurrence]]:
        """Return the occurrences that fit a number. powers: scales found in the context."""
        if time.monotonic() > self.deadline:
            raise TimeoutError
        own = number.number
        values = {*own.plain, *own.scaled}
        plain = decimals(own.plain)
        values |= {shown(value * factor) for value in plain for factor in (Decimal("0.01"), 100)}
        values |= {shown(value.scaleb(power)) for value in plain for power in powers}
        if powers and not own.power:
            scaled = frozenset(shown(value.scaleb(power)) for value in plain for power in powers)
            number.number = own._replace(scaled=own.scaled | scaled)
        same = [
            (page, found)
            for page in self.pages
            for value in values
            for found in page.by_value.get(value, ())[:MOST_OCCURRENCES]
            if number.fits(found, page)
        ]
        rounding = number.rounding
        if same or not rounding:
            return same
        return [
            (page, found)
            for page in self.pages
            for found in islice(page.between(rounding.low, rounding.high), MOST_OCCURRENCES)
            if number.rounds(found, page)
        ]

    def proof_of(self, index: int) -> Proof | None:
        """Return the occurrence that fits a number best, or None.

        Other numbers of the sentence in the same piece improve the fit.
        """
        near = self.numbers[index].near
        scores = [
            (
                score(self.words, page.context(found.piece))
                + TOGETHER * self.others(index, page, found),
                page,
                found,
            )
            for page, found in self.candidates[index]
        ]
        best = nlargest(BEST_OCCURRENCES, scores, key=lambda item: item[0])
        proofs = [
            Proof(points, score(near, page.near(found)), page, found)
            for points, page, found in best
        ]
        return max(proofs, key=lambda proof: (proof.score, proof.affinity), default=None)

    def others(self, index: int, page: PageNumbers, found: Occurrence) -> int:
        """Count the other numbers of the sentence in a piece."""
        holders = self.holders.get((page, found.piece), set())
        return len(holders - {index})

    # ----- doubts

    def doubt(self, index: int, proof: Proof) -> str:
        """Return the reason that a proof may be about something else, or ""."""
        page, found, number = proof.page, proof.occurrence, self.numbers[index]
        if self.language != page.language:  # the words cannot be compared
            return ""
        context, noun = page.context(found.piece), number.noun
        far = (
            name
            for name, start in self.names
            if name and name <= page.words and not any(map(self.is_near, name))
            if not BORDER.search(number.sentence, number.number.end, start)  # a later clause
        )
        is_alone = not self.others(index, page, found)
        if is_alone and self.words and self.words.isdisjoint(context):
            note = "On the page, no word of the sentence is near it."
        elif any(far):
            note = "The page does not have it near the name in the sentence."
        elif noun in page.counted and not any(page.is_about(one, found) for one in number.nouns):
            note = "The page uses it for something else."
        elif self.counts_another(number, proof):
            note = "The page has another number for this."
        elif self.is_of_another_year(number, proof):
            note = "The page has it for another year."
        elif self.is_other_column(proof):
            note = "The page has it in another column."
        elif self.is_other_row(number, proof):
            note = "The page has it in another row."
        elif self.is_nearer(number, proof):
            note = "Another number in the same sentence of the page fits better."
        else:
            rival = self.rival(index, proof)
            note = f"This fits the sentence better: {rival}" if rival else ""
        return note

    def is_near(self, name: str) -> bool:
        """Return whether a name is in the context of one of the sentence's proofs, or just before.

        The sentences before a proof count only if the proof itself contains no other names.
        """
        for page, index in self.used:
            own = page.of(index)
            others = {stem_of(word.lower()) for word in _NAME.findall(own)} - self.words
            before = range(max(0, index - (0 if others else NAMED_BEFORE)), index + 1)
            if name in page.context(0) or any(name in page.context(other) for other in before):
                return True
        return False

    def counts_another(self, number: DraftNumber, proof: Proof) -> bool:
        """Return whether the proof's sentence has another number with the draft's noun."""
        page, found = proof.page, proof.occurrence
        if not number.noun or found.cell >= 0:
            return False
        nouns = {other: noun_after(page.text, other.number) for other in page.by_piece[found.piece]}
        own = nouns.pop(found, "")
        same = [other for other, noun in nouns.items() if noun == number.noun]
        is_other = bool(own or found.number.unit) and own != number.noun
        return is_other and own not in self.words and bool(same)

    def is_of_another_year(self, number: DraftNumber, proof: Proof) -> bool:
        """Return whether a number's proof has years, but not the year in the draft."""
        piece = proof.page.by_piece[proof.occurrence.piece]
        known = {other.number.text for other in piece if kind_of(other.number)[1]}
        if proof.occurrence.cell >= 0 or not known or number.text in known:
            return False
        years = {
            other.text
            for other in self.numbers
            if kind_of(other.number)[1] and other is not number and is_beside(other, number)
        }
        headings = proof.page.label(proof.occurrence)
        return bool(years) and not any(year in headings for year in years)

    def is_other_column(self, proof: Proof) -> bool:
        """Return whether the draft's sentence is about another column than the proof."""
        page, found = proof.page, proof.occurrence
        if found.cell < 0:
            return False
        used = {other.occurrence for other in self.proofs if other and other.page is page}
        _, own = page.cell_words(found)
        if not own or own & self.words:
            return False
        others = [other for other in page.by_piece[found.piece] if other not in used]
        columns = [page.cell_words(other)[1] for other in others]
        return any(column and column <= self.words for column in columns)

    def is_other_row(self, number: DraftNumber, proof: Proof) -> bool:
        """Return whether a number in the draft's sentence labels another row than the proof's.

        If the sentence has labels of several rows, only a clearly nearer label counts.
        """
        page, found = proof.page, proof.occurrence
        if found.cell < 1:
            return False
        labels = page.labels(found)
        own = labels.get(found.piece, set())
        everywhere = set().union(*labels.values())
        named = sorted(
            (distance(number.number, other.number), bool(own & other.number.plain))
            for other, proven in zip(self.numbers, self.proofs, strict=True)
            if other is not number
            and everywhere & other.number.plain
            and not (proven and proven.occurrence.cell > 0)  # then it is a value, not a label
        )
        if not (own and named):
            return False
        nearest, is_own = named[0]
        others = [away for away, is_same in named if is_same]
        return not is_own and (not others or others[0] > 2 * nearest)

    def is_nearer(self, number: DraftNumber, proof: Proof) -> bool:
        """Return whether a number not in the draft fits the draft's words better than the proof."""
        page, found = proof.page, proof.occurrence
        used = {other.occurrence for other in self.proofs if other and other.page is page}
        others = [
            other
            for other in page.beside(found)
            if other not in used and may_be_alike(other.number, found.number)
        ]
        nearest = max((score(number.near, page.near(other)) for other in others), default=0.0)
        return nearest > NEARER * proof.affinity + 0.1

    def rival(self, position: int, proof: Proof) -> str:
        """Return a sentence or row that fits better and has another number, or "".

        One with another number of the draft's sentence is about another part of that sentence.
        position: of the number among the sentence's.
        """
        number = self.numbers[position]
        scores: dict[tuple[PageNumbers, int], float] = defaultdict(float)
        for page in self.pages:
            for word in self.words:
                for index in page.by_word.get(word, ())[:MOST_RIVALS]:
                    scores[page, index] += page.context(index)[word]
        own = proof.page.piece_of(proof.occurrence)
        for (page, index), points in nlargest(MOST_TOLD, scores.items(), key=lambda item: item[1]):
            piece = page.pieces[index] if page.pieces else None
            is_row = bool(piece and own and piece.frames == own.frames and piece.kind == "row")
            kind = kind_of(number.number)
            alike = [found for found in page.by_piece[index] if kind_of(found.number) == kind]
            others = self.holders.get((page, index), set()) - {position}
            is_other = (page, index) not in self.used and alike and not others
            is_alike = is_row or bool(piece and own and "row" not in (piece.kind, own.kind))
            if is_other and is_alike and points >= proof.score + (CLEARLY if is_row else MUCH):
                return page.shown(max(alike, key=lambda one: score(number.near, page.near(one))))
        return ""

    def swapped(self) -> dict[int, str]:
        """Return notes on pairs of numbers that would fit better if swapped."""
        notes: dict[int, str] = {}
        proven = [(index, proof) for index, proof in enumerate(self.proofs[:MOST_DOUBTED]) if proof]
        for (first, one), (second, two) in pairwise(proven):
            is_turned = self.is_turned(first, second)
            is_known = one.page is two.page and one.page.language == self.language
            is_alike = is_turned or self.are_alike(first, second)
            if not (is_known and is_alike and self.may_swap(one, two)):
                continue
            own = one.affinity + two.affinity
            other = score(self.numbers[first].near, two.page.near(two.occurrence))
            other += score(self.numbers[second].near, one.page.near(one.occurrence))
            if is_turned or other > 1.1 * own + 0.03:
                notes[first] = f"Should it be {self.numbers[second].text}?"
                notes[second] = f"Should it be {self.numbers[first].text}?"
        return notes

    def are_alike(self, first: int, second: int) -> bool:
        """Return whether two numbers may count similar things and are not in a plain list."""
        numbers = (self.numbers[first], self.numbers[second])
        unit, other = (number.number.unit for number in numbers)
        is_year, is_other_year = (
            kind_of(number.number)[1] and not number.noun for number in numbers
        )
        start, end = self.numbers[first].number.end, self.numbers[second].number.start
        between = self.numbers[first].sentence[start:end]
        is_list = bool(_AND.fullmatch(between))  # in 1985 and 1990
        is_list = is_list and not names_in_order(self.numbers[first].sentence, end)
        return is_year == is_other_year and may_be_same(unit, other) and not is_list

    def is_turned(self, first: int, second: int) -> bool:
        """Return whether "from" precedes one number here and the other on the page."""
        own, its = [], []
        for index in (first, second):
            proof, number = self.proofs[index], self.numbers[index]
            own.append(is_from(number.sentence, number.number.start))
            its.append(bool(proof and is_from(proof.page.text, proof.occurrence.number.start)))
        return own == its[::-1] and own[0] != own[1]

    def may_swap(self, one: Proof, two: Proof) -> bool:
        """Return whether two proofs are different numbers in one sentence or table."""
        first, second = one.occurrence, two.occurrence
        if first.number.start == second.number.start or not one.page.pieces:
            return False
        if one.page.is_in_unclear_order(first):
            return False
        pieces = [one.page.pieces[found.piece] for found in (first, second)]
        is_table = pieces[0].kind == "row" and pieces[0].frames == pieces[1].frames
        return first.piece == second.piece or is_table


def score(words: Iterable[str] | dict[str, float], context: dict[str, float]) -> float:
    """Return the sum of weight times context weight over the words that a context shares."""
    weights = words if isinstance(words, dict) else dict.fromkeys(words, 1.0)
    return sum(weight * context.get(word, 0.0) for word, weight in weights.items())


def has_decimals(number: Number, found: Occurrence) -> bool:
    """Return whether a number has decimals and is compared with a cell, which may omit its unit.

    Equal decimals are hardly an accident: "+2.739" in a column of gaps is 2.739 seconds.
    """
    return found.cell >= 0 and number.unit != "%" and "." in min(number.plain)


def may_be_alike(one: Number, two: Number) -> bool:
    """Return whether two numbers may count the same thing."""
    (unit, is_year), (other, is_other_year) = kind_of(one), kind_of(two)
    return is_year == is_other_year and may_be_same(unit, other)


def may_be_same(unit: str, other: str) -> bool:
    """Return whether two units may be the same.

    A missing unit matches any unit, because in a list only the last number has the unit. Only
    versions are like versions.
    """
    return unit == other or not ((unit and other) or VERSION in (unit, other))


def distance(one: Number, two: Number) -> int:
    """Return the number of characters between two numbers in a sentence."""
    return max(two.start - one.end, one.start - two.end)


def is_beside(one: DraftNumber, two: DraftNumber) -> bool:
    """Return whether two numbers in a sentence are in the same clause."""
    first, second = sorted((one.number, two.number), key=lambda number: number.start)
    return not BORDER.search(one.sentence, first.end, second.start)


def is_from(text: str, start: int) -> bool:
    """Return whether "from" precedes a place in a text."""
    return bool(_FROM.search(text[max(0, start - FROM_CHARS) : start]))
