"""Find words of opposite meaning near a number: at least and at most, increased and decreased."""

from __future__ import annotations

import re

from websearch.check.page_numbers import BORDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.base.numbers import Number

# Words for a limit directly before and after a number.
_MOST_BEFORE = re.compile(
    r"(?i)(?:([<≤])\s?|\b(at most|up to|no more than|not more than|less than|fewer than|under"
    r"|below|maximum of|only|older than|earlier than|before)\s)(?:(?:version|[A-Z]\S*)\s){0,2}\W?\Z"
)
_MOST_BEHIND = re.compile(
    r"(?i)[^.,;]{0,12}?\s?\b"
    r"((?:or|and) (?:earlier|older|lower|less|fewer|below|smaller|under)|at most)\b"
)
_LEAST_BEFORE = re.compile(
    r"(?i)(?:([>≥])\s?|\b(at least|no less than|no fewer than|not less than|more than|over|above"
    r"|exceeding|minimum of|newer than|later than)\s)(?:(?:version|[A-Z]\S*)\s){0,2}\W?\Z"
)
_LEAST_BEHIND = re.compile(
    r"(?i)[^.,;]{0,12}?\s?\b"
    r"((?:or|and) (?:later|newer|greater|higher|more|above|up|larger|over)|onwards?|at least)\b"
)
_NEGATIVE = re.compile(
    r"(?i)\b(?:minus|negative|below zero|loss|lost|deficit|decreas|declin|fell|fall|drop|reduc"
    r"|shrank|down)"
)
# Words of opposite meaning in a number's clause.
_OPPOSITES = [
    (re.compile(rf"\b(?:{one})\b"), re.compile(rf"\b(?:{two})\b"))
    for one, two in (
        ("rose|risen|increased?|increases|grew|grown|gained|climbed|up by",
         "fell|fallen|declined?|decreased?|decreases|dropped|shrank|reduced|down by"),
        ("minimum", "maximum"), ("males?|men|boys", "females?|women|girls"), ("with", "without"),
        ("symptomatic", "asymptomatic"), ("first", "last"),
    )
]  # fmt: skip
_RATE = re.compile(
    r"(?i)\b(?:(?:per|each|every) (?P<unit>second|minute|hour|day|week|month|year)"
    r"|an? (?P<time>hour|day|week|month|year)|(?P<adverb>hour|dai|week|month|annual|year)ly)\b"
)
_RATE_UNITS = {"dai": "day", "annual": "year"}


def opposite(sentence: str, own: Number, page: str, its: Number) -> str:
    """Return a note if a page has a number with the opposite word or sign, or "".

    sentence, page: the sentences with the numbers own and its; offsets count from their start.
    """
    is_said = _NEGATIVE.search(page) or _NEGATIVE.search(sentence)
    if own.is_negative != its.is_negative and not is_said:
        return f"The page has {'−' if its.is_negative else ''}{its.text}."
    mine, other = (limit_of(text, at.start, at.end) for text, at in ((sentence, own), (page, its)))
    if mine[0] * other[0] < 0:
        return f"The page says “{other[1]}”, not “{mine[1]}”."
    mine_words, other_words = (
        clause(text, at.start, at.end).lower() for text, at in ((sentence, own), (page, its))
    )
    mine_rates, other_rates = (rates_in(words) for words in (mine_words, other_words))
    if mine_rates and other_rates and mine_rates.keys().isdisjoint(other_rates):
        theirs, ours = (next(iter(rates.values())) for rates in (other_rates, mine_rates))
        return f"The page says “{theirs}”, not “{ours}”."
    for pair in _OPPOSITES:
        for word, contrary in (pair, pair[::-1]):
            said, has = word.search(mine_words), contrary.search(other_words)
            if said and has and not (contrary.search(mine_words) or word.search(other_words)):
                return f"The page says “{has[0]}”, not “{said[0]}”."
    return ""


def rates_in(text: str) -> dict[str, str]:
    """Return unit of time -> the words for a rate in a text, such as "per day" or "daily"."""
    rates = {}
    for found in _RATE.finditer(text):
        unit = found[found.lastgroup or 0].lower()
        rates[_RATE_UNITS.get(unit, unit)] = found[0]
    return rates


def limit_of(text: str, start: int, end: int) -> tuple[int, str]:
    """Return (1 for a lower limit, -1 for an upper limit, 0 for none; the words) at a number."""
    before, behind = text[max(0, start - 40) : start], text[end : end + 40]
    for sign, first, second in (
        (-1, _MOST_BEFORE, _MOST_BEHIND),
        (1, _LEAST_BEFORE, _LEAST_BEHIND),
    ):
        if found := first.search(before) or second.match(behind):
            return sign, " ".join((found[1] or found[found.lastindex or 1]).split())
    return 0, ""


def clause(text: str, start: int, end: int) -> str:
    """Return the part of a sentence between commas, numbers and conjunctions around a number."""
    borders = [found.end() for found in BORDER.finditer(text, 0, start)]
    behind = BORDER.search(text, end)
    return text[borders[-1] if borders else 0 : behind.start() if behind else len(text)]
