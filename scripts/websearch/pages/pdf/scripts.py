"""Write superscripts and subscripts on a line as on HTML pages: 10^6, x_i, footnote [7]."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.pdf.shown_text import Piece

SMALLER = 0.8  # share of the neighbor's size; larger text is not a script
RAISED, LOWERED = 0.15, -0.08  # distance across, relative to the neighbor's size
MAX_SCRIPT = 12  # characters of a script
# Ordinals and trademark symbols, which need no marker.
_JOINED = (
    r"(?i)st|nd|rd|th|n?de|er|ers|[eè]re?s?|[eè]?mes?|[aoº°ª]|tm|sm|[\u00ae\u2122\u2120\u00a9]"
)
_FRACTION = r"(?<=\d)\^(\d{1,4})\u2044_?(\d{1,4})"  # a raised and a lowered number
_NOTE = r"\d{1,3}(?:[,\u2013-]\d{1,3}){0,3}"
_OPERATION = r"\w\s?[-+\u2212*/]\s?\w"
_AFTER_WORDS = r"[^\W\d_]{4}\Z|[.,;:!?)\"\u201d\u2019]\Z"  # text before a footnote number


class LineText:
    """Builds the text of a line from its pieces; base: the last piece that is not a script."""

    def __init__(self, base: Piece, marks_scripts: bool) -> None:
        self.parts = [base.text]
        self.base = base
        self.marks_scripts = marks_scripts
        self.before = self.script = ""  # script at the end of the line, and the text before it
        self.across = 0.0  # position of the script

    def add(self, piece: Piece, gap: str) -> None:
        """Add a piece after a gap; join adjacent pieces of one superscript or subscript."""
        is_near = abs(piece.across - self.across) < -LOWERED * piece.size
        continues = bool(self.script) and is_near and not gap and len(self.script) < MAX_SCRIPT
        script = self.script + piece.text if continues else piece.text
        marked = ""
        if self.marks_scripts and piece.size < SMALLER * self.base.size:
            before = self.before if continues else "".join(self.parts[-8:])[-4:] + gap
            marked = marked_script(before, self.base, piece, script)
        if marked:
            self.before, self.script, self.across = before, script, piece.across
            self.parts[-1:] = [marked] if continues else [self.parts[-1], gap, marked]
        else:
            self.script, self.base = "", piece
            self.parts += [gap, piece.text]

    def text(self) -> str:
        """Return the text of the line."""
        return re.sub(_FRACTION, r" \1/\2", "".join(self.parts))


def marked_script(before: str, base: Piece, piece: Piece, script: str) -> str:
    """Return a superscript or subscript with its marker; "" for other text.

    before: the last characters before the script. base: the larger piece before the script. piece:
    the script's last piece. A numeric index after a letter (H2O) gets no marker.
    """
    text = script.strip()
    is_glued = before and not before[-1].isspace() and not script[:1].isspace()
    if not is_glued or not text or len(text) > MAX_SCRIPT:
        return ""
    shift = (piece.across - base.across) / base.size
    if LOWERED <= shift <= RAISED or not any(map(str.isalnum, text)):
        return ""
    if shift < 0:
        return script if text.isdigit() and before[-1].isalpha() else f"_{script}"
    if text[0] in "([^" or re.fullmatch(_JOINED, text):
        return script
    if re.fullmatch(_NOTE, text) and re.search(_AFTER_WORDS, before[-4:]):
        return f"[{text}]{script[len(text) :]}"
    return f"^({text})" if re.search(_OPERATION, text) else f"^{script}"
