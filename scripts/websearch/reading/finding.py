"""Find strings in a page in any notation; if a string is absent, find the nearest passage.

Offsets count characters in the whole text, like the parameter offset.
"""

from __future__ import annotations

import bisect
import functools
import re

from websearch.base.matching import FORMULA_SIGN, normal_text_with_map
from websearch.base.words import STOP_WORDS, UNSPACED, language_of
from websearch.kit import drop_empty, one_line, shorten
from websearch.markdown.foreign_text import harmless_markdown
from websearch.markdown.units import ITEM, STRONG, PageText
from websearch.passages.selection import GAP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document
    from websearch.markdown.units import Piece

MAX_TEXTS = 20  # strings per call
# Places shown for a single string, and for each of several; the total is always reported.
MAX_PLACES, PLACES_OF_SEVERAL = 20, 5
AROUND = 200  # characters on each side of a match in a sentence or row that is too long
MAX_SHOWN = 700  # characters of a sentence or row
MAX_CODE = 2_000  # characters of a code block, which is shown whole
MAX_ENTRY = 2_000  # characters of an entry, such as an option; a longer one is cut after a piece
PATH_CHARS = 170  # characters of the headings above a match
COMMON_WORD = 0.1  # weight of a common word when searching for the nearest passage
MAX_WANTED = 500  # characters of a string to compare with the nearest passage
MAX_FORMULA = 300  # characters of a formula; its spaces are ignored
_FORMULA_GAP = r"[ {}$]{0,4}"  # allowed between the symbols of a formula
_WORD = rf"[{UNSPACED}]|[^\W_{UNSPACED}]+(?:[.,:/'-][^\W_{UNSPACED}]+)*|[%‰°$€£¥]"


class PageFinder:
    """Finds strings in the Markdown of one page."""

    def __init__(self, text: str) -> None:
        self.text = text

    @functools.cached_property
    def page(self) -> PageText:
        """The page's sentences, rows and headings."""
        return PageText(self.text)

    @functools.cached_property
    def starts(self) -> list[int]:
        """Return the offsets at which the page's pieces begin."""
        return [piece.start for piece in self.page.pieces]

    @functools.cached_property
    def normal(self) -> Any:
        """The text normalized for comparison, with the offsets in the original: see matching.py."""
        return normal_text_with_map(self.text)

    def find(self, wanted: str, most: int) -> Document:
        """Return {find, places_in_all, places: [{offset, heading?, text}]}, up to most places.

        in_longer_words: the number of matches inside longer words, if any; they are places only if
        there are no others. A sentence with several matches appears once. Without a match, the
        nearest passage is returned: {find, places_in_all: 0, nearest: {offset, heading?, text,
        differs?}}.
        """
        places: list[Document] = []
        shown_until = table = 0
        further: set[int] = set()  # places that are not shown
        matches = self.matches(wanted)
        whole = [(start, end) for start, end in matches if not self.is_part(start, end)]
        for start, end in whole or matches:
            if start < shown_until:
                continue
            if len(places) < most:
                place, shown_until = self.place(start, end, shown_table=table)
                table = self.piece_at(start).block
                places.append(place)
            else:
                further.add(bisect.bisect_right(self.starts, start))
        result: Document = {"find": wanted, "places_in_all": len(places) + len(further)}
        result |= drop_empty({"in_longer_words": len(matches) - len(whole) or None})
        return {**result, **({"places": places} if places else self.nearest(wanted))}

    def matches(self, wanted: str) -> list[tuple[int, int]]:
        """Return the ranges that match a string literally or, failing that, after normalization.

        Normalization loses code symbols. Case is ignored. A number is found in any notation.
        """
        pattern = re.escape(wanted)
        literal = [found.span() for found in re.finditer(pattern, self.text, re.IGNORECASE)]
        compared = normal_text_with_map(wanted)[0].strip()
        if literal or not compared:
            return literal
        if other := self.numbers(wanted) or self.formulas(wanted):
            return other
        normal, offsets = self.normal
        found = re.finditer(re.escape(compared), normal, re.IGNORECASE)
        return [(offsets[one.start()], offsets[one.end() - 1] + 1) for one in found]

    def numbers(self, wanted: str) -> list[tuple[int, int]]:
        """Return the ranges of a number in any notation; [] if the string is not a number."""
        from websearch.base.numbers import numbers_of

        own = numbers_of(wanted)
        if len(own) != 1 or own[0].text != " ".join(wanted.split()):
            return []
        values = own[0].scaled or own[0].plain
        found = numbers_of(self.text, language_of(self.text) or "en")
        return [(one.start, one.end) for one in found if (one.scaled or one.plain) & values]

    def formulas(self, wanted: str) -> list[tuple[int, int]]:
        """Return the ranges of a formula; spaces, braces and $ characters are ignored."""
        symbols = re.sub(r"[\s{}$]+", "", wanted)
        if not (re.search(FORMULA_SIGN, symbols) and 2 < len(symbols) <= MAX_FORMULA):
            return []
        pattern = _FORMULA_GAP.join(map(re.escape, symbols))
        return [found.span() for found in re.finditer(pattern, self.text, re.IGNORECASE)]

    def piece_at(self, place: int) -> Piece:
        """Return the piece at an offset in the text."""
        return self.page.pieces[max(0, bisect.bisect_right(self.starts, place) - 1)]

    def is_part(self, start: int, end: int) -> bool:
        """Return whether a match is part of a longer word."""
        around = (self.text[max(0, start - 1) : start + 1], self.text[end - 1 : end + 1])
        return any(re.fullmatch(r"[^\W_]{2}", two) for two in around)

    def place(self, start: int, end: int, shown_table: int = 0) -> tuple[Document, int]:
        """Return a match with its headings and its sentence, row or code block, and their end.

        A row includes its table's header unless it was already shown (shown_table: the number of
        that table's block).
        """
        first = self.piece_at(start)
        last = self.page.pieces[max(0, bisect.bisect_left(self.starts, end) - 1)]
        from_, to, head, gap = first.start, max(end, last.end), "", ""
        if code := self.code_around(first):
            from_, to = code.start, max(end, code.stop)
        elif to - from_ > MAX_SHOWN or end > len(self.page.text):
            from_, to = max(0, start - AROUND), min(len(self.text), end + AROUND)
        elif first.kind == "row" and first.frames and first.block != shown_table:
            head = self.page.of(first.frames[0])
        elif first.level >= STRONG:  # a term or option: include its entry
            entry = self.page.section(first)
            to = max(to, *(piece.end for piece in entry if piece.end - from_ <= MAX_ENTRY))
            gap = f"\n\n{GAP}" if to < entry[-1].end else ""
        before = "…" if from_ > first.start else ""
        after = "…" if to < last.end else gap
        text = f"{before}{self.text[from_:to].strip()}{after}"
        if "…" in (before, after):  # it may be cut inside code or a link
            text = harmless_markdown(text)
        if first.kind == "line" and not code:
            text = f"```\n{text}\n```"
        if head and len(head) <= MAX_SHOWN:
            text = f"{head}\n{text}"
        path = " > ".join(lead.words for lead in first.leads if lead.level < ITEM)
        heading = one_line(path, PATH_CHARS)
        return {"offset": start, **drop_empty({"heading": heading}), "text": text}, to

    def code_around(self, piece: Piece) -> range | None:
        """Return the start and end of a piece's code block; None for other text or long code."""
        if piece.kind not in ("line", "head", "tail") or not self.page.of(piece):
            return None
        block = [one for one in self.page.pieces if one.block == piece.block]
        is_code = any(one.kind == "line" for one in block)
        is_short = block[-1].end - block[0].start <= MAX_CODE
        return range(block[0].start, block[-1].end) if is_code and is_short else None

    def nearest(self, wanted: str) -> Document:
        """Return {nearest: the passage with most of a string's words}; {} if no word matches."""
        words = {word.lower() for word in words_of(wanted[:MAX_WANTED])}
        weights = {word: COMMON_WORD if word in STOP_WORDS else 1.0 for word in words}

        def score(unit: Piece) -> float:
            own = set(re.findall(_WORD, self.page.of(unit).lower()))
            return sum(weights[word] for word in own & words)

        unit = max(self.page.units, key=score, default=None)
        if not unit or score(unit) < 1:
            return {}
        passage, _ = self.place(unit.start, unit.end)
        differs = differences(wanted[:MAX_WANTED], self.page.of(unit)[:MAX_SHOWN])
        return {"nearest": {**passage, **drop_empty({"differs": differs})}}


def differences(wanted: str, passage: str) -> str:
    """Describe how a passage differs from a string: 'no "x"; "y", not "z"'."""
    from difflib import SequenceMatcher

    ours, theirs = (words_of(text) for text in (wanted, passage))
    lower_ours, lower_theirs = ([word.lower() for word in words] for words in (ours, theirs))
    steps = SequenceMatcher(None, lower_ours, lower_theirs, autojunk=False).get_opcodes()
    parts = []
    for number, (kind, start, end, first, last) in enumerate(steps):
        text, other = " ".join(ours[start:end]), " ".join(theirs[first:last])
        is_outside = number in (0, len(steps) - 1)  # text before and after the string
        if kind == "delete" or (kind == "replace" and is_outside):
            parts.append(f'no "{text}"')
        elif kind == "replace":
            parts.append(f'"{other}", not "{text}"')
        elif kind == "insert" and not is_outside:
            parts.append(f'also "{other}"')
    return shorten("; ".join(parts), MAX_WANTED)


def words_of(text: str) -> list[str]:
    """Return the words and symbols in a string to compare."""
    return re.findall(_WORD, normal_text_with_map(text)[0])
