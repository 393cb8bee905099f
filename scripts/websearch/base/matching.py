"""The form in which texts are compared: how a text is set makes no difference, its words do.

What a page says and what somebody copied from it differ in quotation marks, dashes, spaces, line
ends and Markdown. Both sides are brought into one form, with the way back to the text.
"""

from __future__ import annotations

import re
import unicodedata
from array import array

from websearch.base.words import UNSPACED

# Marks at the beginning of a line: quotations, headings, lists.
_BLOCKS = r"(?:\A|\s{0,50}\n)[ \t]{0,20}(?:(?:#{1,6}|[-+*>])[ \t]{1,20}|>){1,5}"
_GAP = rf"(?<=[{UNSPACED}])\s{{1,50}}(?=[{UNSPACED}])"  # in a script without spaces
# The address of a link, which may have a title.
_TARGET = r"\]\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?: [\"'][^\"'\n]{0,300}[\"'])?\)"
_REFERENCE = r"\]\[[^\[\]]{0,100}\]"
_QUOTES = "\"'\u00ab\u00b4\u00bb\u2018-\u201f\u2032\u2033\u2039\u203a\u300c-\u300f\uff02\uff07"
_INVISIBLE = "\u00ad\u200b-\u200f\u2060\ufeff"
_DASHES = "\\-\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
# A dash right before a number and right behind a space: -12, but neither 5-12 nor "5 - 12".
# m^2 and m² are m2 as it is copied; after a digit the exponent counts: 10⁶ is 10^6, not 106.
_RAISED = "\u00b2\u00b3\u00b9\u2070\u2074-\u2079"
_MINUS = rf" ?(?<![^\s(\[|*_>{_QUOTES}])(?<!\d\s)[{_DASHES}](?=[$€£¥]?\.?\d)"
_PIECES = (
    rf"(?P<gap>{_GAP})|(?P<space>{_BLOCKS}|\s\s+|[^\S ])"
    rf"|(?P<minus>{_MINUS})|(?P<dash> ?[{_DASHES}]+ ?)"
    # A product; elsewhere a star is a mark of Markdown.
    r"|(?P<times>(?<=[\d)])(?:\\?\*){1,2}(?=[\d(])|(?<=[\w)] )\\?\*(?= [\w(]))"
    r"|(?P<dots>\u2026|\.(?: ?\.){2,9})"
    r"|(?P<apostrophe>(?:(?<=\w)|(?<=\w[*_\]])|(?<=\w\*\*))['\u2019\u02bc\uff07](?=\w))"
    rf"|(?P<nothing>{_TARGET}|{_REFERENCE}|!?\[|\]|[{_QUOTES}*`{_INVISIBLE}]|~~|\\(?=[!-/:-@\[-`{{-~])"
    rf"|(?<![^\W_])_+|_+(?![^\W_])|(?<=[^\W\d_])\^(?=\w))"
    rf"|(?P<raised>(?<=\d)[{_RAISED}]+)"
    f"|(?P<letter>\\w[\u0300-\u036f]{{1,5}})|(?P<form>[{_RAISED}\u2080-\u2089\ufb00-\ufb06\uff01-\uff5e])"
)
MINUS = "\u2212"
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
    """Return a text in the form in which texts are compared, and each character's offset in text.

    Of no account are quotation marks, the kind of a dash and the spaces around it, the kind and
    number of spaces and line ends, spaces between characters of scripts without spaces, marks of
    Markdown, square brackets, targets of links, soft hyphens, ligatures. Upper and lower case stay,
    and a minus before a number is another character than a dash.
    A match from start to end stands at offsets[start] to offsets[end - 1] + 1. Signs of code are
    lost ("**kwargs", "x[0]"): look for the literal text first. Linear in the length of the text.
    """
    pieces: list[str] = []
    offsets: array[int] = array("l")
    last = " "  # so that the text does not begin with a space

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
        else:  # composed letters; ligatures and wide forms as plain characters
            form = unicodedata.normalize("NFC" if kind == "letter" else "NFKC", found[0])
            add(f"^{form}" if kind == "raised" else form, found.start(), 0)
        end = found.end()
    add(text[end:], end, 1)
    return "".join(pieces), offsets
