"""Check whether the numbers in a draft's sentence are in a page and count the same thing.

A number in a page proves a number in the draft if it has the same value, no different unit or scale
and a sentence or row about the same thing. If another sentence, row or column fits better and has
a different number, the draft's number is doubtful.
"""

from __future__ import annotations

import math
import re
import time
from collections import defaultdict
from decimal import Decimal
from heapq import nlargest
from itertools import islice, pairwise
from typing import NamedTuple

from websearch.base.numbers import (
    RATIOS,
    VERSION,
    Number,
    decimals,
    scale_powers,
    shown,
)
from websearch.check.draft_numbers import PART, DraftNumber, numbers_in, ratio_of
from websearch.check.opposites import limit_of, opposite
from websearch.check.page_numbers import (
    PROOF_CHARS,
    Occurrence,
    PageNumbers,
    days_of,
    kind_of,
    model_at,
    moments_in,
    months_of,
    names_in_order,
    nouns_after,
    stems,
    tokens_of,
    values_of,
    versions_of,
)
from websearch.kit import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


TOGETHER = 0.7  # weight per other number from the sentence in the same piece of the page
NEARER = 1.8  # factor by which another number must fit better than the evidence to cause a doubt
CLEARLY = 1.0  # words by which another row must fit better to cause a doubt
MUCH = 1.5  # the same for another sentence; one of two words may be in its headings
MOST_WORDS = 0.75  # share of the sentence's words in a piece that says the same
MOST_TOLD = 5  # rivals to examine
BESIDE = 0.4  # least weight of the first two words on either side of a number
CLOSE = 0.28  # least weight of the first three words on either side of a number
LEAST_SHARED = 2.0  # words that a sentence with another month shares
NEIGHBORS = 2  # sentences on either side of a number that count as near it
SWAPPED = 1.15  # factor by which swapped numbers must fit better to cause a doubt
FAR_WEIGHT = 0.01  # weight of a row's name that is not near the number
MOST_OCCURRENCES = 500  # occurrences per value and page
BEST_OCCURRENCES = 20  # occurrences whose nearest words are compared
MOST_DOUBTED = 50  # numbers per sentence
MOST_RIVALS = 2_000  # pieces of a page per word of the sentence

_LATER = re.compile(
    r"(?i)\s(?:hours?|days?|weeks?|months?|years?|decades?|centuries)\s(?:later|earlier|before|after)\b"
)
_AND = re.compile(r"(?i)[,;/&\s]{0,3}(?:and|or|und|oder|et|ou|y|o|e|en|и|или)?\s{0,3}")
_OF = re.compile(r"\s(?:[a-z]{1,20}\s)?(?:out of|of)\s(?:the\s|these\s|its\s)?")  # 8 of 16
_OF_WHOM = re.compile(r"\bof (?:whom|which|them|these)\W{1,2}(?:about |only |some )?\Z")
_RANGE_BEFORE = re.compile(r"(?i)\d\s?(?:to|and|or|[-–—])\s?\Z")
_RANGE_AFTER = re.compile(r"(?i)\s?(?:to|and|or|[-–—])\s?\d")


class Doubt(NamedTuple):
    """Why a number may be wrong, or "", and the sentence or row in the page that says so."""

    note: str
    text: str


NO_DOUBT = Doubt("", "")


class Proof(NamedTuple):
    """An occurrence of a draft's number in a page, and how well it fits."""

    score: float
    affinity: float
    page: PageNumbers
    occurrence: Occurrence


class ComparedNumbers:
    """Compares the numbers in a sentence with its pages: missing, doubtful or proven.

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
        self.numbers, self.skipped = numbers_in(text, language)
        self.days = days_of(text)
        self.versions = [
            one for one in versions_of(text) if not PART.match(f"{one.name} {one.text}")
        ]
        unknown = [one for one in self.versions if not any(one.name in p.versions for p in pages)]
        self.skipped += [f"{one.name} {one.text}" for one in unknown]
        self.is_versioned = len(unknown) < len(self.versions)
        known = [one.text for one in self.versions if one not in unknown]
        self.skipped = [text for text in self.skipped if text.split()[-1] not in known]
        self.text, self.tokens, self.whole = text, tokens_of(text), f"{text} {context}"
        self.words = stems(self.whole)
        powers = scale_powers(context)
        self.candidates = [self.candidates_of(number, powers) for number in self.numbers]
        self.holders: dict[tuple[PageNumbers, int], set[int]] = {}
        for index, candidates in enumerate(self.candidates):
            for page, found in candidates:
                self.holders.setdefault((page, found.piece), set()).add(index)
        self.evidence = [self.evidence_of(index) for index in range(len(self.numbers))]
        self.proofs = [next(iter(proofs), None) for proofs in self.evidence]
        self.skipped += [number.text for number in self.numbers if self.is_derived(number)]

    def missing(self) -> list[str]:
        """Return the numbers and dates that no page has.

        If all numbers are words, the author may have counted, so no number is missing.
        """
        is_counted = all(number.number.is_word for number in self.numbers)
        lost = [
            number.text
            for number, proof in zip(self.numbers, self.proofs, strict=True)
            if not (proof or is_counted or number.is_day or self.is_derived(number))
        ]
        lost += [
            version for _, version, _, is_elsewhere in self.other_versions() if not is_elsewhere
        ]
        known = set().union(*(days for page in self.pages for days in page.days))
        return lost + sorted(day for day in self.days if not is_known(day, known))

    def is_derived(self, number: DraftNumber) -> bool:
        """Return whether a number only relates two dates and no page has it: "two years later"."""
        is_later = number.number.is_word and _LATER.match(number.sentence, number.number.end)
        return bool(is_later and not self.evidence[self.numbers.index(number)])

    def proof(self) -> list[dict[str, str]]:
        """Return {number, url, text, note?} for each proven number."""
        return [
            {
                "number": number.text,
                "url": proof.page.url,
                "text": proof.page.shown(proof.occurrence),
                **({"note": note} if (note := number.note(proof.occurrence, proof.page)) else {}),
            }
            for number, proof in zip(self.numbers, self.proofs, strict=True)
            if proof
        ]

    def doubtful(self) -> list[dict[str, str]]:
        """Return {number, note, text?} for each number or date that may be wrong."""
        swapped = self.swapped()
        found: list[dict[str, str]] = []
        for index, (number, proof) in enumerate(
            zip(self.numbers[:MOST_DOUBTED], self.proofs[:MOST_DOUBTED], strict=True)
        ):
            if proof:
                is_open = number.rounding and number.rounding.is_open
                own = proof.page.shown(proof.occurrence)
                doubt = self.doubt(index, proof)
                doubt = doubt if doubt.note else Doubt(swapped.get(index, ""), own)
                doubt = (
                    doubt
                    if doubt.note or not is_open
                    else Doubt(number.note(proof.occurrence, proof.page), own)
                )
            else:
                is_word = all(number.number.is_word for number in self.numbers)
                note = "The page does not have it. Was it counted?" if is_word else ""
                doubt = Doubt(note, "")
            if doubt.note:
                text = {"text": doubt.text} if doubt.text else {}
                found.append({"number": number.text, "note": doubt.note, **text})
        found += [
            {"number": version, "note": f"For {name}, the page has {', '.join(sorted(known))}."}
            for name, version, known, is_elsewhere in self.other_versions()
            if is_elsewhere
        ]
        months = self.other_months()
        years = {month["number"].split()[-1] for month in months}
        found = [one for one in found if one["number"] not in years]
        found += [*self.limited_versions(), *months]
        named, aside = (set().union(*(one.days[side] for one in self.pages)) for side in (0, 1))
        note = "The page has this date only in a reference."
        found += [{"number": day, "note": note} for day in sorted(self.days & aside - named)]
        return found

    def other_versions(self) -> list[tuple[str, str, set[str], bool]]:
        """Return (name, version, the pages' versions, whether pages have the version elsewhere).

        Each is a version that no page has after its name, although pages have other versions.
        """
        others = []
        for name, version, *_ in self.versions:
            known = [one for page in self.pages for one in page.versions.get(name, ())]
            if known and not any(f"{one.text}.".startswith(f"{version}.") for one in known):
                digits = f" {version.replace('.', ' ')} "
                is_elsewhere = any(digits in page.tokens for page in self.pages)
                others.append((name, version, {one.text for one in known}, is_elsewhere))
        return others

    def limited_versions(self) -> list[dict[str, str]]:
        """Return {number, note, text} for each version with the opposite limit on the pages."""
        found = []
        for own in self.versions:
            mine = limit_of(self.text, own.start, own.end)
            for page in self.pages:
                same = [one for one in page.versions.get(own.name, ()) if one.text == own.text]
                limits = [limit_of(page.text, one.start, one.end) for one in same]
                if limits and all(limit[0] * mine[0] < 0 for limit in limits):
                    note = f"The page says “{limits[0][1]}”, not “{mine[1]}”."
                    found.append({"number": own.text, "note": note})
        return found

    def other_months(self) -> list[dict[str, str]]:
        """Return {number, note, text} for months whose year or month differs on the pages."""
        found = []
        every = [(page, index, months) for page in self.pages for index, months in page.months]
        known = set().union(*(months.keys() for _, _, months in every))
        for own, text in months_of(self.text).items():
            others = [
                (score(self.words, page.context(index)), months[other], page.of(index))
                for page, index, months in every
                for other in months
                if own not in known and (other[:4] == own[:4]) != (other[4:] == own[4:])
            ]
            points, other, place = max(others, default=(0.0, "", ""))
            if points >= LEAST_SHARED and self.language == "en":
                note = f"In this place the page has {other}."
                found.append({"number": text, "note": note, "text": one_line(place, PROOF_CHARS)})
        return found

    def candidates_of(
        self, number: DraftNumber, powers: set[int]
    ) -> list[tuple[PageNumbers, Occurrence]]:
        """Return the occurrences that fit a number. powers: the scales found in the context."""
        if time.monotonic() > self.deadline:
            raise TimeoutError
        own = number.number
        values = {*own.plain, *own.scaled}
        plain = decimals(own.plain)
        values |= {shown(value * factor) for value in plain for factor in (Decimal("0.01"), 100)}
        values |= {shown(value.scaleb(power)) for value in plain for power in powers}
        ratios = {ratio_of(own.unit, unit) for unit in RATIOS} if own.unit in RATIOS else set()
        values |= {shown(value * ratio) for value in decimals(values) for ratio in ratios if ratio}
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

    def evidence_of(self, index: int) -> list[Proof]:
        """Return the occurrences that fit a number best, best first.

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
        return sorted(
            proofs,
            key=lambda one: (
                one.page.is_day(one.occurrence) == self.numbers[index].is_day,
                one.score + one.affinity,
            ),
            reverse=True,
        )

    def others(self, index: int, page: PageNumbers, found: Occurrence) -> int:
        """Count the sentence's other numbers in a piece."""
        holders = self.holders.get((page, found.piece), set())
        return len(holders - {index})

    # ----- doubts

    def doubt(self, index: int, proof: Proof) -> Doubt:
        """Return why the evidence may be about something else, and where the page says so.

        The page's own sentence is never doubted, nor a sentence in another language.
        """
        page, found, number = proof.page, proof.occurrence, self.numbers[index]
        if self.language != page.language or self.tokens in page.tokens:
            return NO_DOUBT
        own = page.shown(found)
        is_alone = not self.others(index, page, found)
        if (opposed := self.opposed(index)).note:
            doubt = opposed
        elif is_alone and len(self.words) > 1 and self.words.isdisjoint(page.context(found.piece)):
            doubt = Doubt("On the page, no word of the sentence is near it.", own)
        elif other := page.of_model(model := model_at(number.sentence, number.number.start), found):
            doubt = Doubt(f"For {model}, the page has {other.number.text}.", own)
        elif counted := self.counted_by(number, proof):
            doubt = Doubt(f"For this, the page has {counted.number.text}.", page.shown(counted))
        elif self.is_other_column(proof):
            doubt = Doubt("The page has it in a different column.", own)
        elif nearer := self.nearer(number, proof):
            doubt = Doubt(f"In this place the page has {nearer.number.text}.", page.shown(nearer))
        else:
            doubt = self.rival(index, proof)
            if not doubt.note and self.is_for_another(number, proof):
                doubt = Doubt("The page has it for a different row.", own)
        return doubt

    def opposed(self, index: int) -> Doubt:
        """Return the doubt that the evidence has a word or a sign of opposite meaning.

        If the best evidence has no limit, such as "at least", similar evidence may have one.
        """
        number, proofs = self.numbers[index], self.evidence[index]
        alike = [
            one
            for one in proofs
            if one.score >= proofs[0].score - CLEARLY
            or is_same_place(number, one.page, one.occurrence)
        ]
        places = [(one, *placed(one.page, one.occurrence)) for one in alike]
        limits = [limit_of(text, its.start, its.end)[0] for _, text, its in places]
        mine = limit_of(number.sentence, number.number.start, number.number.end)[0]
        if mine and not limits[0] and mine not in limits and -mine in limits:
            places = places[limits.index(-mine) :]
        proof, text, its = places[0]
        note = opposite(number.sentence, number.number, text, its)
        return Doubt(note, proof.page.shown(proof.occurrence)) if note else NO_DOUBT

    def counted_by(self, number: DraftNumber, proof: Proof) -> Occurrence | None:
        """Return a different number that the page has for the draft's noun.

        None if the evidence is about that noun, or if the page has the draft's number for the noun.
        """
        page, found, used = proof.page, proof.occurrence, self.used_on(proof.page)
        its = nouns_after(page.text, found.number)
        is_second = its[0] == number.nouns[0] and its[1] != ""  # "771 fishing boats"
        noun, own = number.nouns[is_second], its[is_second]
        if kind_of(number.number)[1]:
            return None
        counted = page.counted.get(noun, []) if noun else []
        if any(number.fits(other, page) for other in counted):
            return None
        is_other = (own or found.number.unit) and found.cell < 0 and own not in self.words
        is_beside = is_other and any(other.piece == found.piece for other in counted)
        if not is_beside and any(page.is_about(one, found) for one in {*number.nouns[is_second:]}):
            return None
        shared = self.words - {noun}
        near = (
            other
            for other in counted
            if other not in used
            and not page.are_range(found, other)
            and (other.cell > 0 or nouns_after(page.text, other.number)[0] == noun)
            and (other.cell > 0 or found.cell < 0 or other.piece == found.piece)
            and (other.piece == found.piece or shared & page.context(other.piece).keys())
        )
        return next(near, None)

    def used_on(self, page: PageNumbers) -> set[Occurrence]:
        """Return the occurrences on a page that prove numbers in the sentence."""
        return {proof.occurrence for proof in self.proofs if proof and proof.page is page}

    def is_for_another(self, number: DraftNumber, proof: Proof) -> bool:
        """Return whether the draft names a different table row than the evidence's row or sentence.

        Numbers may name the rows of the evidence's own table.
        """
        page, found = proof.page, proof.occurrence
        named = {word: number.near.get(word, FAR_WEIGHT) for word in self.words}
        own, is_cell = number.number, found.cell > 0
        if is_cell and not page.head_of(found).strip():  # rows of facts, not of the same kind
            return False
        for other, proven in zip(self.numbers, self.proofs, strict=True):
            if is_cell and other is not number and not (proven and proven.occurrence.cell > 0):
                away = max(own.start - other.number.end, other.number.start - own.end)
                named |= dict.fromkeys(other.number.plain, 1 / (1 + max(0, away)))
        for labels in page.row_labels:
            if is_cell and found.piece not in labels:
                continue
            every = set().union(*labels.values())
            words = stems(page.sentence_of(found)[1])
            its = words & every | (labels[found.piece] if is_cell else set())
            own_words = (words if is_cell else set()) | its
            mine = max((named[word] for word in own_words & named.keys()), default=0.0)
            others = (named.keys() & every) - its
            if its and others and (is_cell or not mine):
                is_missing = is_cell or others.isdisjoint(page.context(found.piece))
                return is_missing and max(named[word] for word in others) > 2 * mine
        return False

    def is_other_column(self, proof: Proof) -> bool:
        """Return whether the draft's sentence is about a different column than the evidence."""
        page, found = proof.page, proof.occurrence
        if found.cell < 0:
            return False
        others = [other for other in page.by_piece[found.piece] if other not in self.used_on(page)]
        said, moments = moments_in(self.whole), page.moments_of(found)
        if moments and moments.isdisjoint(said):
            meant = [other for other in others if page.moments_of(other) & said]
            own = values_of(found.number)
            return bool(meant) and all(own.isdisjoint(values_of(one.number)) for one in meant)
        _, own = page.cell_words(found)
        if not own or own & self.words:
            return False
        columns = [page.cell_words(other)[1] for other in others]
        return any(column and column <= self.words for column in columns)

    def nearer(self, number: DraftNumber, proof: Proof) -> Occurrence | None:
        """Return another number in the evidence's sentence that has the draft's words beside it.

        None for the parts of a range.
        """
        page, found, used = proof.page, proof.occurrence, self.used_on(proof.page)
        text, start, end = number.sentence, number.number.start, number.number.end
        is_range = _RANGE_BEFORE.search(text, 0, start) or _RANGE_AFTER.match(text, end)
        if is_range:
            return None
        others = [
            (score(number.near, page.near(other)), other)
            for other in page.beside(found)
            if other not in used
            and is_same_place(number, page, other)
            and kind_of(other.number)[1] == kind_of(found.number)[1]
            and may_be_same(other.number.unit, found.number.unit)
            and not (other.number.is_word or page.is_name(other) or page.is_ordinal(other))
            and page.is_day(other) == number.is_day
            and not page.are_range(found, other)
            and not page.is_in_unclear_order(other, self.words)
        ]
        best, other = max(others, default=(0.0, None))
        return other if best > NEARER * proof.affinity + 0.1 else None

    def rival(self, position: int, proof: Proof) -> Doubt:
        """Return the doubt that another sentence or row fits better and has a different number.

        There is no doubt if the number is near that piece or in its headings, or if the page has it
        beside the same words. position: the number's index in the sentence.
        """
        number = self.numbers[position]
        places = (
            is_same_place(number, one.page, one.occurrence) for one in self.evidence[position]
        )
        is_placed = not number.is_day and any(places)
        scores: dict[tuple[PageNumbers, int], float] = defaultdict(float)
        for page in self.pages:
            for word in self.words:
                for index in page.by_word.get(word, ())[:MOST_RIVALS]:
                    scores[page, index] += page.context(index)[word]
        own, kind = proof.page.piece_of(proof.occurrence), kind_of(number.number)
        is_alone = not self.others(position, proof.page, proof.occurrence)
        is_bare = kind == ("", False) and not number.nouns[0] and not number.number.is_word
        for (page, index), points in nlargest(MOST_TOLD, scores.items(), key=lambda item: item[1]):
            piece = page.pieces[index] if page.pieces else None
            if not (piece and own):
                break
            is_row = piece.frames == own.frames and piece.kind == "row"
            if is_row and not page.head_of(proof.occurrence).strip():
                continue
            used = self.used_on(page)
            alike = [
                found
                for found in page.by_piece[index]
                if found not in used
                and not page.is_ordinal(found)
                and (not number.is_day or page.is_day(found))
                and (
                    found.cell == proof.occurrence.cell
                    if is_row
                    else kind_of(found.number) == kind or (is_bare and not kind_of(found.number)[1])
                )
            ]
            others = self.holders.get((page, index), set())
            is_close = page is proof.page and abs(index - proof.occurrence.piece) <= NEIGHBORS
            first, last = sorted((piece.start, own.start))
            is_beside = is_close and "\n" not in page.text[first:last]  # in the same paragraph
            is_whole = score(self.words, page.context(index)) >= MOST_WORDS * len(self.words)
            # A year in a nearby sentence may be meant, unless this one says everything else.
            is_near = (is_close and kind[1] and not is_whole) or position in others
            is_alike = is_row or "row" not in (piece.kind, own.kind)
            if alike and is_alike and not is_near and (page, index) != (proof.page, own.index):
                best = max(alike, key=lambda one: score(number.near, page.near(one)))
                is_in_heading = number.text in page.label(best) if not is_row else False
                margin = CLEARLY if is_row or len(self.words) == 1 else MUCH
                is_same = not is_placed and (is_row or is_same_place(number, page, best))
                is_same = is_same or (is_whole and is_alone and not (is_placed and is_beside))
                if (
                    is_same
                    and not is_in_heading
                    and points + TOGETHER * len(others) >= proof.score + margin
                ):
                    return Doubt(
                        f"In this place the page has {best.number.text}.", page.shown(best)
                    )
        return NO_DOUBT

    def swapped(self) -> dict[int, str]:
        """Return notes on pairs of numbers that would fit better if swapped."""
        notes: dict[int, str] = {}
        proven = [(index, proof) for index, proof in enumerate(self.proofs[:MOST_DOUBTED]) if proof]
        pairs = [*pairwise(proven), *zip(proven, proven[2:], strict=False)]
        for (first, one), (second, two) in pairs:
            is_wrong = self.is_wrong_share(first, second)
            is_known = one.page is two.page and one.page.language == self.language
            is_known = is_known and self.tokens not in one.page.tokens
            is_alike = self.are_alike(first, second) and self.may_swap(one, two)
            is_year = kind_of(self.numbers[first].number)[1]
            is_alike = is_alike and (
                not is_year
                or is_same_place(self.numbers[first], two.page, two.occurrence)
                or is_same_place(self.numbers[second], one.page, one.occurrence)
            )
            if not is_known or not (is_wrong or is_alike):
                continue
            own = one.affinity + two.affinity
            other = score(self.numbers[first].near, two.page.near(two.occurrence))
            other += score(self.numbers[second].near, one.page.near(one.occurrence))
            if is_wrong or other > SWAPPED * own + 0.03:
                notes[first] = f"Should it be {self.numbers[second].text}?"
                notes[second] = f"Should it be {self.numbers[first].text}?"
        return notes

    def are_alike(self, first: int, second: int) -> bool:
        """Return whether two numbers may count similar things and are not in a plain list."""
        numbers = (self.numbers[first], self.numbers[second])
        unit, other = (number.number.unit for number in numbers)
        is_year, is_other_year = (
            kind_of(number.number)[1] and not number.nouns[0] for number in numbers
        )
        end = self.numbers[first].number.end
        between = self.numbers[first].sentence[end : self.numbers[second].number.start]
        is_list = bool(_AND.fullmatch(between)) or bool(_OF.fullmatch(between))  # 1985 and 1990
        is_rate = between.strip().endswith("per")  # 2 per 1,000
        is_range = bool(_RANGE_AFTER.match(self.numbers[first].sentence, end))
        is_measured = bool(unit) != bool(other) and not (is_list or is_range)
        is_scaled = len({bool(number.number.scaled) for number in numbers}) == 1
        is_alike = is_year == is_other_year and may_be_same(unit, other) and is_scaled
        is_alike = is_alike and not any(number.is_day for number in numbers)
        is_list = is_list and not names_in_order(self.numbers[first].sentence, end)
        return is_alike and not (is_list or is_rate or is_measured)

    def is_wrong_share(self, first: int, second: int) -> bool:
        """Return whether a part is greater than its whole: "16 of the 8", "3 came, of whom 4"."""
        one, two = (self.numbers[index].number for index in (first, second))
        between = self.text[one.end : two.start]
        if _OF_WHOM.search(between) and kind_of(one)[1] == kind_of(two)[1]:
            one, two, between = two, one, " of "
        values = [max(decimals(number.scaled or number.plain), default=0) for number in (one, two)]
        return bool(_OF.fullmatch(between)) and values[0] > values[1] and one.unit == two.unit

    def may_swap(self, one: Proof, two: Proof) -> bool:
        """Return whether two pieces of evidence are different numbers in one sentence or table."""
        first, second = one.occurrence, two.occurrence
        if first.number.start == second.number.start or not one.page.pieces:
            return False
        if any(one.page.is_in_unclear_order(found, self.words) for found in (first, second)):
            return False
        pieces = [one.page.pieces[found.piece] for found in (first, second)]
        is_table = pieces[0].kind == "row" and pieces[0].frames == pieces[1].frames
        return first.piece == second.piece or is_table


def score(words: Iterable[str] | dict[str, float], context: dict[str, float]) -> float:
    """Return the sum of weight times context weight for the words that a context shares."""
    weights = words if isinstance(words, dict) else dict.fromkeys(words, 1.0)
    return sum(weight * context.get(word, 0.0) for word, weight in weights.items())


def is_same_place(number: DraftNumber, page: PageNumbers, found: Occurrence) -> bool:
    """Return whether a word directly beside a draft's number is close to a number in a page."""
    beside = {word for word, weight in number.near.items() if weight >= BESIDE}
    near = page.near(found)
    return any(near.get(word, 0.0) >= CLOSE for word in beside)


def placed(page: PageNumbers, found: Occurrence) -> tuple[str, Number]:
    """Return an occurrence's sentence, and its number with offsets in that sentence."""
    start, text = page.sentence_of(found)
    number = found.number
    return text, number._replace(start=number.start - start, end=number.end - start)


def may_be_same(unit: str, other: str) -> bool:
    """Return whether two units may be the same.

    A missing unit matches any unit, because in a list only the last number has the unit; so does a
    unit of the same dimension. Versions match only versions, and percentages only percentages.
    """
    is_any = not ((unit and other) or {VERSION, "%"} & {unit, other})
    return unit == other or is_any or bool(ratio_of(unit, other))


def is_known(day: str, known: set[str]) -> bool:
    """Return whether pages may have a date: they have it, perhaps without a year, or have no dates.

    day: YYYY-MM-DD or MM-DD. A page without a date in a year says nothing about that year, unless
    it has the same day in a different year.
    """
    same = {one for one in known if one[-5:] == day[-5:]}
    if len(day) == 5:
        return bool(same) or not any(
            one[-2:] == day[-2:] or one[-5:-3] == day[-5:-3] for one in known
        )
    if day in known or day[-5:] in known:
        return True
    return not (same or any(one[:4] == day[:4] and len(one) > 5 for one in known))
