"""Recognize numbers that a draft rounds: "about 4.5 million" for 4,512,000."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from websearch.base.numbers import decimals
from websearch.base.words import UNSPACED, rounding_words
from websearch.check.page_numbers import kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.base.numbers import Number

_EITHER, _DOWN, _UP = rounding_words()
_HEDGE = re.compile(
    rf"(?i)(?:(?<![^\W{UNSPACED}])(?:(?P<either>{_EITHER})|(?P<down>{_DOWN})|(?P<up>{_UP}))|[~≈])"
    r"\W{0,3}\Z"
)
HEDGE_CHARS = 20  # characters before a number that are searched for a word such as "about"


class Rounding(NamedTuple):
    """The range of values from which a number in a draft may be rounded.

    low, high: the range. is_hedged: a word such as "about" precedes the number; without it, the
    range is the values that round to the last written digit, or to the second digit if only zeros
    follow (is_open).
    """

    low: Decimal
    high: Decimal
    number: Number
    is_hedged: bool
    is_open: bool

    def fits(self, found: Number) -> bool:
        """Return whether the draft may have rounded a number from a page within the range."""
        is_year, is_own_year = kind_of(found)[1], kind_of(self.number)[1]
        is_equal = not self.number.plain.isdisjoint(found.plain)  # then it counts something else
        return not (is_year or is_equal) and (self.is_hedged or not is_own_year)


def rounding_of(number: Number, sentence: str) -> Rounding | None:
    """Return the range from which a number in a draft may be rounded; None if it is exact."""
    value = max(decimals(number.scaled if number.power else number.plain), default=Decimal(0))
    hedge = _HEDGE.search(sentence, max(0, number.start - HEDGE_CHARS), number.start)
    if not value or (number.is_word and not hedge):
        return None
    last = int(value.normalize().as_tuple().exponent)  # power of ten of the last nonzero digit
    written = min(last, number.power)
    if hedge:
        step = Decimal(1).scaleb(last)
        low = value - step / 2 * (hedge.lastgroup != "down")
        high = value + step / (1 if hedge.lastgroup == "down" else 2) * (hedge.lastgroup != "up")
        return Rounding(low, high, number, is_hedged=True, is_open=False)
    if value.adjusted() == written and not number.power:
        return None  # the number has only one digit
    second = min(last, value.adjusted() - 1)
    step = Decimal(1).scaleb(max(second, written))
    is_open = second > written
    return Rounding(value - step / 2, value + step / 2, number, is_hedged=False, is_open=is_open)
