"""Normalize text for comparison: typography is ignored, words are not.

A page and a copied quotation may differ in quotation marks, dashes, spaces, line ends and Markdown.
Both are converted to the same form, with a map back to the original text.
"""

from __future__ import annotations

import re
import unicodedata
from array import array

from websearch.base.words import UNSPACED

# Markers at the start of a line: quotations, headings, lists.
_BLOCKS = r"(?:\A|\s{0,50}\n)[ \t]{0,20}(?:(?:#{1,6}|[-+*>])[ \t]{1,20}|>){1,5}"
_SOLID = rf"{UNSPACED}\u1100-\u11ff"  # with the parts of Korean syllables
_GAP = rf"(?<=[{_SOLID}])\s{{1,50}}(?=[{_SOLID}])"  # in a script without spaces
_PARTS = "\u0300-\u036f\u1161-\u11c2\u3099\u309a"  # that follow the first part of a letter
# A link's URL, which may have a title.
_TARGET = r"\]\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?: [\"'][^\"'\n]{0,300}[\"'])?\)"
_REFERENCE = r"\]\[[^\[\]]{0,100}\]"
_QUOTES = "\"'\u00ab\u00b4\u00bb\u2018-\u201f\u2032\u2033\u2039\u203a\u300c-\u300f\uff02\uff07"
_INVISIBLE = "\u00ad\u200b-\u200f\u2060\ufeff"
_DASHES = "\\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
# A dash right before a number and right after a space: -12, but neither 5-12 nor "5 - 12". m^2 and
# m² become m2, as in copied text; after a digit, the exponent stays: 10⁶ is 10^6, not 106.
_RAISED = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079"
_MINUS = rf" ?(?<![^\s(\[|*_>{_QUOTES}])(?<!\d\s)[{_DASHES}](?=[$€£¥]?\.?\d)"
_PIECES = (
    rf"(?P<gap>{_GAP})|(?P<space>{_BLOCKS}|\s\s+|[^\S ])"
    rf"|(?P<minus>{_MINUS})|(?P<dash> ?[{_DASHES}]+ ?)"
    # A multiplication sign; any other asterisk is Markdown.
    r"|(?P<times>(?<=[\d)])(?:\\?\*){1,2}(?=[\d(])|(?<=[\w)] )\\?\*(?= [\w(]))"
    r"|(?P<dots>\u2026|\.(?: ?\.){2,9})"
    r"|(?P<apostrophe>(?:(?<=\w)|(?<=\w[*_\]])|(?<=\w\*\*))['\u2019\u02bc\uff07](?=\w))"
    rf"|(?P<nothing>{_TARGET}|{_REFERENCE}|!?\[|\]|[{_QUOTES}*`{_INVISIBLE}]|~~|\\(?=[!-/:-@\[-`{{-~])"
    rf"|(?<![^\W_])_+|_+(?![^\W_])|(?<=[^\W\d_])\^(?=\w))"
    rf"|(?P<raised>(?<=\d)[{_RAISED}]+)"
    f"|(?P<letter>\\w[{_PARTS}]{{1,5}})|(?P<form>[{_RAISED}\u2080-\u2089\ufb00-\ufb06\uff01-\uff5e])"
)
MINUS = "\u2212"
FORMULA_SIGN = r"[=^\\<>+_]"  # in text that may be a formula
_SIGNS = {
    "gap": "",
    "space": " ",
    "dash": "-",
    "minus": MINUS,
    "dots": "\u2026",
    "apostrophe": "'",
    "nothing": "",
}


def normal_text_with_map(text: str) -> tuple[str, array[int]]:
    """Return the text normalized for comparison, and each character's offset in the original.

    These are ignored: quotation marks, the kind of a dash and the spaces around it, the kind and
    number of spaces and line ends, spaces between characters of scripts without spaces, Markdown,
    square brackets, link targets, soft hyphens and ligatures. Case is kept, and a minus sign before
    a number differs from a dash. A match from start to end covers offsets[start] to offsets[end -
    1] + 1. Symbols of code are lost ("**kwargs", "x[0]"): search for the literal text first. Linear
    in the text's length.
    """
    pieces: list[str] = []
    offsets: array[int] = array("l")
    last = " "  # so the text does not begin with a space

    def add(piece: str, start: int, step: int) -> None:
        nonlocal last
        if piece[:1] == " " and last in " -":
            piece, start = piece[1:], start + step
        if piece == "-" and last in " -" and pieces:
            pieces[-1] = pieces[-1][:-1]
            offsets.pop()
        if piece:
            pieces.append(piece)
            offsets.extend(range(start, start + len(piece)) if step else [start] * len(piece))
            last = piece[-1]

    end = 0
    for found in re.finditer(_PIECES, text):
        add(text[end : found.start()], end, 1)
        kind = found.lastgroup or ""
        start = found.start()
        if kind in ("minus", "dash") and found[0][0] == " ":
            add(" ", start, 0)
            start += 1
        if kind in _SIGNS:
            add(_SIGNS[kind], start, 0)
        elif kind == "times":
            add(found[0].replace("\\", ""), start, 0)
        else:  # composed letters; ligatures and wide forms become plain characters
            form = unicodedata.normalize("NFC" if kind == "letter" else "NFKC", found[0])
            add(f"^{form}" if kind == "raised" else form, found.start(), 0)
        end = found.end()
    add(text[end:], end, 1)
    return "".join(pieces), offsets
