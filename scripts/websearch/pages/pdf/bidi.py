"""Put the glyphs of right-to-left text into reading order.

Files contain glyphs in drawing order, usually from left to right in every script. The rules are the
Unicode bidirectional algorithm, applied in reverse.
"""

from __future__ import annotations

import re
import unicodedata

TYPE_CHECKING = False
if TYPE_CHECKING:
    Glyph = tuple[str, float, float]  # text, start and end along the line

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
PRESENTATION_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
OPENING, CLOSING = "([{<«", ")]}>»"
MIRRORED = str.maketrans(OPENING + CLOSING, CLOSING + OPENING)
WORD_GAP = 0.16  # font sizes between the glyphs of different words
RIGHT, LEFT, NUMBER, SEPARATOR, SIGN, MARK, NEUTRAL = "R", "L", "N", "S", "T", "M", ""
DIRECTIONS = {
    "R": RIGHT, "AL": RIGHT, "L": LEFT, "EN": NUMBER, "AN": NUMBER, "ES": SEPARATOR,
    "CS": SEPARATOR, "ET": SIGN, "NSM": MARK,
}  # fmt: skip


def reading_order(glyphs: list[Glyph], size: float) -> str:
    """Return the text of a line with right-to-left letters in reading order.

    glyphs: glyphs in any order; each glyph's text, such as a ligature, is in reading order.
    size: font size.
    """
    texts: list[str] = []
    units = attach_marks(sorted(glyphs, key=lambda glyph: glyph[1]))
    end = units[0][1]
    for text, start, stop in units:
        if start - end > WORD_GAP * size and texts and texts[-1] != " " and text != " ":
            texts.append(" ")
        texts.append(text)
        end = max(end, stop)
    kinds = [kind_of(text) for text in texts]
    if kinds.count(RIGHT) >= kinds.count(LEFT):
        return "".join(from_right(texts, kinds))
    ordered: list[str] = []
    index = 0
    while index < len(texts):
        if kinds[index] == RIGHT:
            end_of_run = last_of_run(kinds, index) + 1
            ordered += from_right(texts[index:end_of_run], kinds[index:end_of_run])
            index = end_of_run
        else:
            ordered.append(texts[index])
            index += 1
    return "".join(ordered)


def attach_marks(glyphs: list[Glyph]) -> list[Glyph]:
    """Return the glyphs, with each combining mark after its letter."""
    units: list[Glyph] = []
    waiting = ""  # marks that begin before their letter
    for text, start, end in glyphs:
        if kind_of(text) != MARK:
            units.append((text + waiting, start, end))
            waiting = ""
        elif units and start < units[-1][2]:
            units[-1] = (units[-1][0] + text, units[-1][1], units[-1][2])
        else:
            waiting += text
    return units or glyphs


def kind_of(text: str) -> str:
    """Return the kind of a glyph's text: the kind of its first letter or digit."""
    kind = NEUTRAL
    for character in text:
        kind = DIRECTIONS.get(unicodedata.bidirectional(character), NEUTRAL)
        if kind in (RIGHT, LEFT, NUMBER):
            break
    return kind


def last_of_run(kinds: list[str], index: int) -> int:
    """Return the last right-to-left index before the next left-to-right letter."""
    last = index
    while index < len(kinds) and kinds[index] != LEFT:
        if kinds[index] == RIGHT:
            last = index
        index += 1
    return last


def from_right(texts: list[str], kinds: list[str]) -> list[str]:
    """Return texts from right to left; runs of Latin letters and numbers keep their order.

    Some files store brackets by shape, others by meaning. Mirror brackets unless they
    already open before they close.
    """
    ordered: list[str] = []
    brackets: list[int] = []  # indexes in ordered
    index = len(texts) - 1
    while index >= 0:
        if kinds[index] in (LEFT, NUMBER) or kinds[max(0, index - 1) : index + 1] == [NUMBER, SIGN]:
            first = first_of_run(kinds, index)
            ordered += texts[first : index + 1]
            index = first - 1
        else:
            if texts[index] in OPENING + CLOSING:
                brackets.append(len(ordered))
            ordered.append(texts[index])
            index -= 1
    seen = "".join(ordered[index] for index in brackets)
    if not (seen[:1] in OPENING and any(text in CLOSING for text in seen)):
        for index in brackets:
            ordered[index] = ordered[index].translate(MIRRORED)
    return ordered


def first_of_run(kinds: list[str], last: int) -> int:
    """Return the first index of the left-to-right run that ends at an index.

    A run may contain anything between Latin letters or a letter and a number, a single separator
    between numbers, and a symbol such as $ before a number.
    """
    first = last
    has_letters = kinds[last] == LEFT
    index = last - 1
    while index >= 0 and kinds[index] != RIGHT:
        if kinds[index] in (LEFT, NUMBER):
            between = kinds[index + 1 : first]
            has_letters = has_letters or kinds[index] == LEFT
            if not has_letters and between not in ([], [SEPARATOR], [SIGN]):
                break
            first = index
        index -= 1
    return first - 1 if first and kinds[first - 1] == SIGN and kinds[first] == NUMBER else first


def plain_letters(text: str) -> str:
    """Return text with plain letters instead of presentation forms."""
    return PRESENTATION_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
