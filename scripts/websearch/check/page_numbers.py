"""Find the numbers in a page: their positions, and the words that show what they count."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from decimal import Decimal
from operator import itemgetter
from typing import NamedTuple

from websearch.base.numbers import (
    UNITS,
    Number,
    blank,
    decimals,
    numbers_of,
    readings,
    scale_powers,
    shown,
)
from websearch.base.words import STOP_WORDS, UNSPACED, language_of
from websearch.kit import one_line
from websearch.markdown.inline import cells_of
from websearch.markdown.units import PageText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from websearch.markdown.units import Piece

PROOF_CHARS = 300  # characters per sentence or row shown
STEM_CHARS = 6  # with these, prove, proved and proof differ; number and numbers do not
SCALE_POWERS = (0, 3, 6, 9)  # for table headers such as "in thousands" or "in millions"
MOST_DATED = 2_000  # characters per sentence searched for dates
NEAR_WEIGHT = 0.5  # weight of words in headings and in the previous sentence
OTHER_CLAUSE = 0.3  # factor per BORDER between a word and the number
NEAR_CHARS = 300  # characters on each side of a number
FROM_CHARS = 12  # characters before a number that are searched for "from"
FROM_WEIGHT = 0.7  # weight of "from" before a number, unlike the number after "to"
MOST_NEAR = 12  # words on each side of a number
LEAST_YEARS = 3  # years in a row that dates the columns of its table
IN_ORDER = 1.0  # weight of the word to which a number in a list belongs
MOST_BETWEEN = 2  # words between two numbers in a list: a unit and "and"
WORD = re.compile(rf"[{UNSPACED}]{{2}}|[^\W\d_{UNSPACED}]+(?:['’-][^\W\d_{UNSPACED}]+)*")
_AND = "and und et y e en i и och og".split()
BORDER = re.compile(
    rf"[,;:.](?!\d)|\d[\d.,]*|\b(?:{'|'.join(_AND)}"
    r"|while|whereas|but|während|aber|mais|pero|mientras|ma|mentre|maar|terwijl|но|а)\b"
)
_FROM = re.compile(r"(?i)\b(?:from|von|de|da|van|od|с|от)\W{1,4}\Z")
_CONVERTED = re.compile(r"\([^()]{0,20}\d[^()]{0,40}\)")  # 60 m (197 ft) wide, 5.0 (95% CI: 4, 6)
ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")
_NUMBER = r"\d{1,2}(?:(?:st|nd|rd|th)\b|\.)?"
_TO = r"(?:\s?[-–—]\s?|,?\s(?:to|and|or|until|bis|und|et|au|al|y)\s|,\s)"
_LIST = rf"{_NUMBER}(?:{_TO}{_NUMBER}){{0,3}}"
# 27 May 2007, 2 to 4 February; May 27, 1937: days, month, year.
_DAY_FIRST = re.compile(
    rf"(?<![\d.,])(?P<days>{_LIST})\s(?:of\s|de\s)?(?P<month>[^\W\d_]{{3,10}})\b\.?"
    r"(?:,?\s(?:de\s)?(?P<year>\d{4})\b)?"
)
_MONTH_FIRST = re.compile(
    rf"\b(?P<month>[A-Z][^\W\d_]{{2,9}})\.?\s(?P<days>{_LIST})(?!\d|[.,]\d)(?:,?\s(?P<year>\d{{4}})\b)?"
)
_MONTH_OF_YEAR = re.compile(
    rf"\b(?:(?P<first>[A-Z][^\W\d_]{{2,9}})\.?(?:\s{_NUMBER})?{_TO}(?:{_NUMBER}\s)?)?"
    rf"(?P<second>[A-Z][^\W\d_]{{2,9}})\.?(?:\s{_LIST})?,?\s(?:of\s)?(?P<year>(?:1[5-9]|20)\d\d)\b"
)
_NUMERIC_DAY = re.compile(r"(?<![\w./])(\d{1,2})[./](\d{1,2})[./](\d{4}|\d\d)(?![\d./])")
# A version after a product's name or the word "version": Python 3.9, x<3.0, CMake version 3.24.
VERSION_OF = re.compile(
    r"(?<![\w#-])([A-Za-z][\w#-]{0,40}\+{0,2})(?:\.js)?(?:,?\s(?P<word>[Vv]ersions?|[Rr]elease))?[\s:(]{0,2}"
    r"(?:(?P<operator>[<>=~^≥≤!]{1,2})\s?|[\s(-])[vV]?(?P<number>\d{1,4}(?:\.\d{1,4}){1,3}|(?(word)\d{1,4}|(?!)))(?:\+|\.[xX*])?(?![\d%]|[.,]\d|\s?(?:%|per\s?cent|[mb]illion))"
)
_YEAR = re.compile(r"(?<![\d.,$€£])(?:1[5-9]|20)\d\d(?![\d%]|[.,]\d)")
_MODEL = re.compile(r"\b([A-Z][^\W\d_]{1,30})[ -](\d{1,4})(?![\w.,]?\d|\s?%)")
_ALTERNATIVE = re.compile(r"[^\w.;]{0,3}(?:to|or|[-–—])[^\w.;]{0,3}")
_CLAUSE = re.compile(r"[,;:](?!\d)|[.!?]\s|\b(?:and|while|whereas|but)\b")
_RAISED_POINT = re.compile(r"(?<=\d)[·Á](?=\d)")  # 48·0 %; Á is a misread point
# Units of a mark behind a number: 2' 16" is a time or a length.
_MARKED = {
    **dict.fromkeys("'′", ("minute", "foot")),
    **dict.fromkeys('"″', ("second", "inch")),
}
_GLUED_NOTE = re.compile(r"(\d[\d,.]*\d|\d)\.\d{1,2}")
_NOUNS = re.compile(rf"[\s-]{{1,2}}({WORD.pattern})(?:[\s-]{{1,2}}({WORD.pattern}))?")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3}){1,6}")
# Units, scales and words that introduce a source.
NOT_TELLING = {*UNITS} | set(
    """
percent per cent prozent hundred thousand thousands million millions billion billions trillion
source sources link ref quelle according says said see via siehe laut selon según fuente fonte
""".split()
)


class Occurrence(NamedTuple):
    """A number in a page, with the index of its sentence or row and of its cell in a row."""

    number: Number
    piece: int
    cell: int  # -1 outside of tables


class Version(NamedTuple):
    """A version and its position; name: the name before it in lower case, or "version"."""

    name: str
    text: str
    start: int
    end: int


class PageNumbers:
    """The numbers in a page, with its sentences and rows."""

    def __init__(self, url: str, head: str, text: str) -> None:
        self.url = url
        self.text = f"{head}\n\n{_RAISED_POINT.sub('.', text)}"
        self.title = stems(head)
        self.language = language_of(self.text)
        self.page = PageText(self.text)
        self.pieces: list[Piece] = self.page.pieces
        self.starts = [piece.start for piece in self.pieces]
        self.contexts: dict[int, dict[str, float]] = {}
        self.date_places: dict[int, list[tuple[int, int]]] = {}  # by start of the sentence
        self.by_value: dict[str, list[Occurrence]] = {}
        self.by_piece: dict[int, list[Occurrence]] = {}
        for number in numbers_of(self.text, self.language or "en", has_ranges=True):
            index = max(0, bisect_right(self.starts, number.start) - 1)
            piece = self.pieces[index] if self.pieces else None
            is_row = piece is not None and piece.kind == "row"
            cell = self.text.count("|", piece.start, number.start) - 1 if piece and is_row else -1
            glued = _GLUED_NOTE.fullmatch(number.text)  # "2.2.9 The next": 9 is a footnote
            if glued and re.match(r" [A-Z]", self.text[number.end : number.end + 2]):
                own = number._replace(plain=number.plain | readings(glued[1]))
            else:
                own = as_grouped(number, self.language)
            found = Occurrence(own, index, cell)
            self.by_piece.setdefault(index, []).append(found)
            for value in values_of(found.number):
                self.by_value.setdefault(value, []).append(found)

    @functools.cached_property
    def by_word(self) -> dict[str, list[int]]:
        """Return word -> indexes of the pieces with numbers whose text or context has that word."""
        found: dict[str, list[int]] = {}
        for index in self.by_piece:
            for word in self.context(index):
                found.setdefault(word, []).append(index)
        return found

    @functools.cached_property
    def by_size(self) -> list[tuple[Decimal, Occurrence]]:
        """Return the values of the numbers with their occurrences, smallest first."""
        every = (found for some in self.by_piece.values() for found in some)
        values = (
            (value, found)
            for found in every
            for value in decimals(found.number.scaled if found.number.power else found.number.plain)
        )
        return sorted(values, key=itemgetter(0))

    def between(self, low: Decimal, high: Decimal) -> Iterator[Occurrence]:
        """Yield the numbers between two values, also after applying the scale in their label."""
        for power in SCALE_POWERS:
            ends = (low.scaleb(-power), high.scaleb(-power))
            start = bisect_left(self.by_size, ends[0], key=itemgetter(0))
            for value, found in self.by_size[start:]:
                if value > ends[1]:
                    break
                if not power or power in scale_powers(self.label(found)):
                    yield found

    @functools.cached_property
    def counted(self) -> dict[str, list[Occurrence]]:
        """Return noun -> the numbers directly before it, and those in the columns that it heads."""
        counted: dict[str, list[Occurrence]] = {}
        for found in (one for some in self.by_piece.values() for one in some):
            heads = stems(self.head_of(found)) if found.cell > 0 else set()
            for noun in {*nouns_after(self.text, found.number), *heads}:
                counted.setdefault(noun, []).append(found)
        return counted

    @functools.cached_property
    def row_labels(self) -> list[dict[int, set[str]]]:
        """Return, per table, row index -> significant words and numbers in the row's first cell."""
        tables: dict[tuple[int, ...], dict[int, set[str]]] = {}
        for index, piece in enumerate(self.pieces):
            if piece.kind == "row":
                first = cells_of(self.text[piece.start : piece.end])[:1]
                numbers = [one for one in self.by_piece.get(index, ()) if one.cell == 0]
                values = {value for one in numbers for value in one.number.plain}
                key = tuple(frame.start for frame in piece.frames)
                tables.setdefault(key, {})[index] = stems(" ".join(first)) | values
        return list(tables.values())

    @functools.cached_property
    def tokens(self) -> str:
        """Return the page's words and numbers, each between two spaces."""
        return tokens_of(self.text)

    @functools.cached_property
    def versions(self) -> dict[str, list[Version]]:
        """Return name -> the versions directly after it."""
        found: dict[str, list[Version]] = {}
        for version in versions_of(self.text):
            found.setdefault(version.name, []).append(version)
        return found

    @functools.cached_property
    def days(self) -> tuple[set[str], set[str]]:
        """Return the dates in the text, and the dates in its references, in the form of days_of."""
        from websearch.passages.ranking import units_aside

        aside = {self.page.units[place].index for place in units_aside(self.page)}
        days: tuple[set[str], set[str]] = (set(), set())
        for index in self.by_piece:
            days[index in aside].update(days_of(self.of(index)))
        return days

    @functools.cached_property
    def months(self) -> list[tuple[int, dict[str, str]]]:
        """Return the pieces that have months with a year: their indexes and months_of."""
        found = ((index, months_of(self.of(index))) for index in self.by_piece)
        return [(index, months) for index, months in found if months]

    def of(self, index: int) -> str:
        """Return a piece's text; for a row, include its table's header."""
        if not self.pieces:
            return self.text
        piece = self.pieces[index]
        heads = [self.text[frame.start : frame.end].split("\n")[0] for frame in piece.frames]
        own = self.text[piece.start : piece.end].strip()
        return "\n".join([*(heads if piece.kind == "row" else []), own])

    def shown(self, found: Occurrence) -> str:
        """Return an occurrence's text on one line, cut to the part around the number."""
        text = one_line(self.of(found.piece), PROOF_CHARS)
        if found.number.text in text or not self.pieces:
            return text
        start = max(self.pieces[found.piece].start, found.number.start - PROOF_CHARS // 2)
        return one_line(f"… {self.text[start : self.pieces[found.piece].end]}", PROOF_CHARS)

    def context(self, index: int) -> dict[str, float]:
        """Return the significant words in a piece and in the text above it, with their weights."""
        if index not in self.contexts:
            own = stems(self.of(index))
            above = set(self.title)
            if self.pieces:
                piece = self.pieces[index]
                above |= stems(" ".join(lead.words for lead in piece.leads))
                if index and piece.kind != "row" and self.pieces[index - 1].kind != "row":
                    above |= stems(self.of(index - 1))
            self.contexts[index] = dict.fromkeys(above, NEAR_WEIGHT) | dict.fromkeys(own, 1.0)
        return self.contexts[index]

    def label(self, found: Occurrence) -> str:
        """Return the text that describes a number: its sentence and the headings above.

        In a table, it is the column header, the row's label and the text above the table.
        """
        if not self.pieces:
            return self.text
        piece = self.pieces[found.piece]
        leads = [lead.words for lead in piece.leads]
        if found.cell < 0:
            return " ".join([*leads, self.of(found.piece)])
        first = piece.frames[0].index if piece.frames else found.piece
        above = (
            self.text[self.pieces[first - 1].start : self.pieces[first - 1].end] if first else ""
        )
        row = cells_of(self.text[piece.start : piece.end])
        return " ".join([*leads, above, self.head_of(found), *row[:1]])

    def head_of(self, found: Occurrence) -> str:
        """Return a cell's column header."""
        piece = self.pieces[found.piece]
        head = self.text[piece.frames[0].start : piece.frames[0].end] if piece.frames else ""
        cells = cells_of(head.split("\n")[0])
        return cells[found.cell] if found.cell < len(cells) else ""

    def has_unit(self, found: Occurrence, unit: str) -> bool:
        """Return whether a number's label contains a unit."""
        if unit in _MARKED.get(self.text[found.number.end : found.number.end + 1], ()):
            return True
        text = self.label(found).lower()
        words = {word for word, name in UNITS.items() if name == unit} | {unit}
        return any(
            re.search(rf"(?<![^\W\d_]){re.escape(word)}(?![^\W\d_])", text) for word in words
        )

    def is_about(self, noun: str, found: Occurrence) -> bool:
        """Return whether a number is about a noun, judging by its context and the page's title.

        A noun from the text above does not count if another noun follows the number.
        """
        weight = self.context(found.piece).get(noun, 0.0)
        is_other = found.cell < 0 and nouns_after(self.text, found.number)[0]
        return weight >= 1.0 or noun in self.title or bool(weight and not is_other)

    def cell_words(self, found: Occurrence) -> tuple[set[str], set[str]]:
        """Return the significant words in a cell's row and in its column header."""
        piece = self.pieces[found.piece]
        return stems(self.text[piece.start : piece.end]), stems(self.head_of(found))

    def piece_of(self, found: Occurrence) -> Piece | None:
        """Return the piece of the page that contains an occurrence."""
        return self.pieces[found.piece] if self.pieces else None

    def sentence_of(self, found: Occurrence) -> tuple[int, str]:
        """Return the start and the text of an occurrence's piece."""
        piece = self.piece_of(found)
        return (piece.start, self.text[piece.start : piece.end]) if piece else (0, self.text)

    def of_model(self, model: str, found: Occurrence) -> Occurrence | None:
        """Return a model's number if an occurrence's sentence has the occurrence for another model.

        For Luna 16 and 170, it is 101 in "Luna 16 returned 101 grams, and Luna 24 170 grams".
        """
        start, text = self.sentence_of(found)
        its = model_at(text, found.number.start - start)
        if found.cell >= 0 or model == its or model.split()[:1] != its.split()[:1]:
            return None
        others = (
            other
            for other in self.by_piece[found.piece]
            if kind_of(other.number) == kind_of(found.number)
            and model_at(text, other.number.start - start) == model
            and not self.is_name(other)
        )
        return next(others, None)

    def are_range(self, one: Occurrence, two: Occurrence) -> bool:
        """Return whether two numbers are the ends of a range or alternatives: 55,000 or 60,000."""
        first, last = sorted((one.number, two.number))
        return bool(_ALTERNATIVE.fullmatch(self.text, first.end, last.start))

    def is_ordinal(self, found: Occurrence) -> bool:
        """Return whether a number only gives a position in a sequence: the 17th century."""
        end = found.number.end
        return self.text[end : end + 2] in ("st", "nd", "rd", "th")

    def moments_of(self, found: Occurrence) -> set[str]:
        """Return the years and months of a cell's column, from its header or a row of years."""
        if moments := moments_in(self.head_of(found)):
            return moments
        cells = self.year_rows.get(self.pieces[found.piece].frames, [])
        return moments_in(cells[found.cell]) if found.cell < len(cells) else set()

    @functools.cached_property
    def year_rows(self) -> dict[tuple[Piece, ...], list[str]]:
        """Return table head -> the cells of the table's first row that consists of years."""
        found: dict[tuple[Piece, ...], list[str]] = {}
        for piece in (one for one in self.pieces if one.kind == "row"):
            cells = cells_of(self.text[piece.start : piece.end])
            years = [cell for cell in cells[1:] if re.fullmatch(rf"\W*{_YEAR.pattern}\W*", cell)]
            if len(years) >= LEAST_YEARS and len(years) == len(cells) - 1:
                found.setdefault(piece.frames, cells)
        return found

    def is_day(self, found: Occurrence) -> bool:
        """Return whether a number is the day of a date."""
        start, text = self.sentence_of(found)
        if start not in self.date_places:
            self.date_places[start] = [(first, last) for first, last, _ in dates_in(text)]
        place = found.number.start - start
        return any(first <= place < last for first, last in self.date_places[start])

    def is_name(self, found: Occurrence) -> bool:
        """Return whether a number is part of a name, such as Luna 16."""
        start, text = self.sentence_of(found)
        model = model_at(text, found.number.start - start)
        return bool(model) and model.endswith(f" {found.number.text}")

    def near(self, found: Occurrence) -> dict[str, float]:
        """Return the significant words around a number in the page; closer words weigh more."""
        if found.cell >= 0 and not self.beside(found):
            row, column = self.cell_words(found)
            return dict.fromkeys(row | column, 1.0)
        if not self.pieces:
            return {}
        start, end = self.pieces[found.piece].start, self.pieces[found.piece].end
        if found.cell >= 0:
            start = self.text.rfind("|", start, found.number.start) + 1
            end = self.text.find("|", found.number.end)
        own = self.text[start:end]
        return near_words(own, found.number.start - start, found.number.end - start)

    def is_in_unclear_order(self, found: Occurrence, words: set[str]) -> bool:
        """Return whether "respectively" gives a number to none of the words."""
        start, text = self.sentence_of(found)
        names = names_in_order(text, found.number.start - start)
        return "respectively" in text and words.isdisjoint(
            name for name, is_own in names.items() if is_own
        )

    def beside(self, found: Occurrence) -> list[Occurrence]:
        """Return the other numbers in the same sentence or cell."""
        others = self.by_piece[found.piece]
        return [other for other in others if other.cell == found.cell and other != found]


def model_at(text: str, place: int) -> str:
    """Return the only name with a number, such as Luna 16, in the clause at an offset; or ""."""
    ends = [0, *(border.end() for border in _CLAUSE.finditer(text)), len(text)]
    at = bisect_right(ends, place)
    found = _MODEL.findall(text, *ends[max(0, at - 1) : at + 1])
    names = {f"{name} {number}" for name, number in found if name.lower() not in STOP_WORDS}
    return names.pop() if len(names) == 1 else ""


def moments_in(text: str) -> set[str]:
    """Return the years in a text, and its months in the form "month 3"."""
    from websearch.base.written_dates import month_number

    months = (month_number(word.lower()) for word in re.findall(r"\b[A-Z][^\W\d_]{2,9}", text))
    return {*_YEAR.findall(text), *(f"month {month}" for month in months if month)}


def months_of(text: str) -> dict[str, str]:
    """Return YYYY-MM -> the words, for a text's months with a year; "May to July 2020" has two."""
    from websearch.base.written_dates import month_names

    months = {}
    for found in _MONTH_OF_YEAR.finditer(text[:MOST_DATED]):
        for name in filter(None, found.group("first", "second")):
            if month := month_names().get(name.lower(), 0):
                months[f"{found['year']}-{month:02}"] = f"{name} {found['year']}"
    return months


def days_of(text: str) -> set[str]:
    """Return the dates in a text as YYYY-MM-DD, or as MM-DD without a year."""
    return set().union(*(days for _, _, days in dates_in(text)))


def dates_in(text: str) -> list[tuple[int, int, set[str]]]:
    """Return the dates in a text: the position of their days, and the dates as days_of does."""
    from websearch.base.written_dates import month_names

    text = text[:MOST_DATED]
    dates = [(*one.span(), {one[0]}) for one in ISO_DAY.finditer(text)]
    for found in (*_DAY_FIRST.finditer(text), *_MONTH_FIRST.finditer(text)):
        month = month_names().get(found["month"].lower(), 0)
        year = f"{found['year']}-" if found["year"] else ""
        numbers = map(int, re.findall(r"\d+", found["days"]))
        days = {f"{year}{month:02}-{day:02}" for day in numbers if month and 0 < day < 32}
        dates += [(*found.span("days"), days)] if days else []
    for found in _NUMERIC_DAY.finditer(text):
        first, second = int(found[1]), int(found[2])
        year = found[3] if len(found[3]) == 4 else f"20{found[3]}"
        days = {f"{year}-{a:02}-{b:02}" for a, b in ((first, second), (second, first)) if a < 13}
        dates += [(*found.span(), days)] if days else []
    return dates


def is_version(found: re.Match[str]) -> bool:
    """Return whether a match of VERSION_OF is a version, not an amount."""
    behind = WORD.match(found.string, found.end() + 1)
    is_amount = behind and behind[0].lower() in UNITS
    is_sure = found["operator"] or found["word"] or found[1][0].isupper() or "version" in found[1]
    is_name = found[1].lower() not in STOP_WORDS or found["word"]
    return bool(is_name and (is_sure or found["number"].count(".") > 1)) and not is_amount


def versions_of(text: str) -> list[Version]:
    """Return each version directly after a name or the word "version"."""
    found = (one for one in VERSION_OF.finditer(text) if is_version(one))
    names = ((one[1].lower(), one) for one in found)
    return [
        Version("version" if name in STOP_WORDS else name, one["number"], *one.span("number"))
        for name, one in names
    ]


def tokens_of(text: str) -> str:
    """Return a text's words and numbers in lower case, each between two spaces."""
    return " ".join(["", *re.findall(r"[^\W_]+", text.lower()), ""])


def stems(text: str) -> set[str]:
    """Return a text's significant words without their endings."""
    return {stem for _, stem in stemmed(text)}


def stemmed(text: str) -> list[tuple[int, str]]:
    """Return the offset and the stem of each significant word in a text."""
    found = (one for one in WORD.finditer(text) if not text[max(0, one.start() - 1)].isdecimal())
    words = ((one.start(), one[0].lower()) for one in found)  # not the "th" of "8th"
    return [
        (start, stem_of(word))
        for start, word in words
        if len(word) > 1 and word not in STOP_WORDS and word not in NOT_TELLING
    ]


def stem_of(word: str) -> str:
    """Return a word without its ending."""
    word = re.split("['’]", word)[0]
    return word[:STEM_CHARS] if len(word) > STEM_CHARS else word.removesuffix("s")


def near_words(text: str, start: int, end: int) -> dict[str, float]:
    """Return a text's significant words and years, weighted by how close they are to a number.

    Words beyond a comma, an "and" or another number usually belong to something else.
    """
    cut = max(0, start - NEAR_CHARS)
    text, start, end = text[cut : end + NEAR_CHARS], start - cut, end - cut
    around = [_CONVERTED.sub(blank, part) for part in (text[:start], text[end:])]
    text = text[start:end].join(around)
    words = sorted([*stemmed(text), *((year.start(), year[0]) for year in _YEAR.finditer(text))])
    words = [(place, word) for place, word in words if not start <= place < end]
    before = [(word, text[place:start]) for place, word in words if place < start][::-1]
    behind = [(word, text[end:place]) for place, word in words if place >= end]
    weights: dict[str, float] = {}
    for side, first in ((before, 1.5), (behind, 1.0)):  # "12 boats": the noun follows
        for distance, (word, between) in enumerate(side[:MOST_NEAR]):
            weight = OTHER_CLAUSE ** len(BORDER.findall(between)) / (first + distance)
            weights[word] = max(weights.get(word, 0.0), weight)
    if _FROM.search(text, max(0, start - FROM_CHARS), start):
        weights["from"] = FROM_WEIGHT
    for name, is_own in names_in_order(text, start).items():
        weights[name] = IN_ORDER if is_own else 0.0
    return weights


def names_in_order(text: str, start: int) -> dict[str, bool]:
    """Return word -> whether the word belongs to the number at start, for words in a list.

    "A and B had 3 and 5 boats": 3 belongs to A. Returns {} unless there are as many words as
    numbers.
    """
    words = text.split()
    at = len(text[: start + 1].split()) - 1
    numbers = [index for index, word in enumerate(words) if any(map(str.isdecimal, word))]
    run = [at]
    for index in reversed([number for number in numbers if number < at]):
        run = [index, *run] if is_listed(words, index, run[0]) else run
    for index in [number for number in numbers if number > at]:
        run = [*run, index] if is_listed(words, run[-1], index) else run
    for last in range(run[0] - 2, max(0, run[0] - MOST_NEAR), -1):
        first = last - len(run) + 1
        names = [words[index] for index in (*range(first, last), last + 1) if index >= 0]
        commas = [name.endswith(",") for name in names[:-2]]
        if words[last] in _AND and len(names) == len(run) > 1 and all(commas):
            own = run.index(at)
            own_words = [name.strip(".,;:()").lower() for name in names]
            if STOP_WORDS.isdisjoint(own_words) and len({*own_words}) == len(names):
                return {stem_of(word): place == own for place, word in enumerate(own_words)}
    return {}


def is_listed(words: list[str], first: int, second: int) -> bool:
    """Return whether two numbers are items in the same list: "3 and 5", "3 tons, 5"."""
    between = words[first + 1 : second]
    is_joined = any(word in _AND for word in between) or words[second - 1].endswith(",")
    return is_joined and len(between) <= MOST_BETWEEN


def as_grouped(number: Number, language: str) -> Number:
    """Return a number with a single value if its commas group digits: 1,300 in English."""
    if language == "en" and not number.scaled and _GROUPED.fullmatch(number.text):
        return number._replace(plain=frozenset({number.text.replace(",", "")}))
    return number


def values_of(number: Number) -> set[str]:
    """Return the values under which a page's number can be looked up."""
    values = {*number.plain, *number.scaled}
    if not number.is_word and " " in number.text:  # "12 300" may be two numbers
        values |= {shown(Decimal(part)) for part in number.text.split() if part.isdecimal()}
    return values


def kind_of(number: Number) -> tuple[str, bool]:
    """Return a number's unit, and whether the number may be a year."""
    is_year = bool(re.fullmatch(r"1\d{3}|20\d\d", number.text)) and not number.unit
    return number.unit, is_year


def nouns_after(text: str, number: Number) -> list[str]:
    """Return the two words after a number ("398 league games"); "" for insignificant words."""
    behind = _NOUNS.match(text, number.end, number.end + 60)
    words = behind.groups() if behind and not number.unit else ()
    return [next(iter(stems(word or "")), "") for word in words] or ["", ""]
