"""Select the passages of a result that a person sees first: those with the most query words.

A result's text is written for models, in page order and with gaps. A person reads two or three
passages before deciding to read more.
"""

from __future__ import annotations

import re
import textwrap

from websearch.base.words import STOP_WORDS
from websearch.markdown.fences import FENCES
from websearch.markdown.units import split_blocks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

PIECE_CHARS = 600  # characters per passage; longer lists and paragraphs are split
GAP = "[…]"  # replaces omitted text
_HEADING = re.compile(r"#{1,6} +\S[^\n]*")


def query_words(query: str) -> list[str]:
    """Return a query's words that distinguish passages: no stop words or single ASCII letters."""
    words = dict.fromkeys(re.findall(r"\w{2,}|[^\W\x00-\x7f]", query.lower()))
    return [word for word in words if word not in STOP_WORDS]


def best_passages(text: str, words: Sequence[str], count: int) -> tuple[list[str], str]:
    """Return the best passages of a text, in page order, and the others joined, as Markdown.

    words: the words of the query. A heading appears only above its own passages.
    """
    passages = passages_of(text)
    pattern = re.compile("|".join(rf"\b{re.escape(word)}" for word in words) or r"(?!)")

    def score(index: int) -> tuple[int, int]:
        return -len(set(pattern.findall(" ".join(passages[index]).lower()))), index

    best = set(sorted(range(len(passages)), key=score)[:count])
    shown, above = list[str](), ""
    for heading, passage in (passages[index] for index in sorted(best)):
        shown.append(joined([("" if heading == above else heading, passage)]))
        above = heading
    return shown, joined([each for index, each in enumerate(passages) if index not in best])


def passages_of(text: str) -> list[tuple[str, str]]:
    """Return the (heading, passage) pairs in a text.

    A one-line paragraph that ends with a colon belongs to the next passage.
    """
    passages: list[tuple[str, str]] = []
    heading = lead = ""
    for start, end in split_blocks(text):
        block = text[start:end].strip("\n")
        if match := _HEADING.match(block):
            heading, block = match[0], block[match.end() :].strip("\n")
        if block.strip() in ("", GAP):
            continue
        if block.endswith(":") and "\n" not in block and not lead:
            lead = f"{block}\n\n"
            continue
        passages += [(heading, lead + piece) for piece in pieces_of(block)]
        lead = ""
    return [*passages, (heading, lead.strip())] if lead else passages


def pieces_of(block: str) -> list[str]:
    """Return a block in pieces of up to about PIECE_CHARS; tables and code stay whole."""
    start = block.lstrip()
    if len(block) <= PIECE_CHARS or start.startswith("|") or FENCES.match(start):
        return [block]
    pieces = [""]
    for line in block.split("\n"):
        if pieces[-1] and len(pieces[-1]) + len(line) > PIECE_CHARS:
            pieces.append("")
        pieces[-1] += f"\n{line}" if pieces[-1] else line
    return pieces


def joined(passages: list[tuple[str, str]]) -> str:
    """Return passages as Markdown; a heading that they share appears once."""
    parts: list[str] = []
    above = ""
    for heading, text in passages:
        parts += [heading] if heading and heading != above else []
        parts.append(textwrap.dedent(text))
        above = heading
    return "\n\n".join(parts)
