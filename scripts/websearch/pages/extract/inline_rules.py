"""What a line of a page says beside its letters: powers, marks of notes, gaps, decorations."""

from __future__ import annotations

import re

from websearch.base.html_tree import Node, name_set
from websearch.markdown.escapes import mark_signs, without_marks
from websearch.pages.extract.element_names import words_of
from websearch.pages.extract.page_tree import ancestors, text_of

# Characters that no page holds, around what is not on the line; see html_tree.py.
RAISED, LOWERED, NOTE, SCRIPT_END = "\ufdd3", "\ufdd4", "\ufdd5", "\ufdd6"
MAX_SCRIPTS = 3  # in each other
_SCRIPT = rf"([{RAISED}{LOWERED}{NOTE}])([^{RAISED}{LOWERED}{NOTE}{SCRIPT_END}]*){SCRIPT_END}"
# Ordinals and abbreviations that end in raised letters, and marks of trade.
_JOINED = (
    r"(?i)st|nd|rd|th|n?de|er|ers|[eè]re?s?|[eè]?mes?|lles?|os|as|[aoderªº]|gr|te|tm|sm|m[cd]"
    r"|[\u00ae\u2122\u2120\u00a9]"
)
_OPERATION = r"[^\W_]\s?[-+\u2212\u2013*/\u00b7\u00d7]\s?[^\W_]|[\s^]"
APART_WORDS = name_set("badge label type version")  # of what stands apart from its neighbours
DECORATION = name_set(  # words of images that say nothing
    "arrow avatar background banner bullet button decoration decorative divider external graphic "
    "hero icon image img link logo photo picture placeholder spacer symbol thumbnail"
)
CELL_IMAGE_CHARS = 40  # of an image's text in a table: a flag, a symbol
LINES_WORDS = name_set("lines")  # in the class of what shows each element inside on a line
NOTE_WORDS = name_set("footnote noteref fnref footnoteref")  # in the class of a link to a note
# The text of such a link, or of several: "[3]", "a, b".
NOTE_MARK = r"[\[(]?(?:[^\W_]{1,4}|[*\u2020\u2021])(?:, ?[^\W_]{1,4}){0,5}[\])]?"


def image_text(node: Node, alt: str, *, in_cell: bool) -> str:
    """Return the text of an image, marked as such; in tables, short texts are words of the cell."""
    if not in_cell or len(alt) > CELL_IMAGE_CHARS:
        return f"[image: {alt}]"
    cell = next((around for around in ancestors(node) if around.tag in ("td", "th")), node)
    return f"({alt})" if cell.chars else alt


def write_scripts(text: str) -> str:
    """Return a line in which what is raised or lowered is written as on a line."""
    for _ in range(MAX_SCRIPTS if SCRIPT_END in text else 0):  # the innermost first
        text = re.sub(_SCRIPT, write_script, text)
    return text


def write_script(found: re.Match[str]) -> str:
    """Return raised or lowered text: 10^6, x^(n+1), Prefix_name, a mark of a note as [3].

    It stays as it is where nothing is before it, and where it is an ordinal (1st), a trade mark or
    an index in figures (H2O).
    """
    kind, text = found.groups()
    before = found.string[max(0, found.start() - 4) : found.start()].rstrip("*")[-1:].strip("\0")
    plain = without_marks(text).rstrip()
    is_glued = bool(before) and not before.isspace() and bool(plain) and not plain[0].isspace()
    if kind == NOTE:
        is_bare = "[" not in plain and (is_glued or (before.isspace() and plain.isdigit()))
        return f"{mark_signs('[')}{text.strip()}{mark_signs(']')}" if is_bare else text
    sign = ""
    if is_glued and kind == LOWERED:
        sign = "_" if plain.isalpha() else ""
    elif is_glued and plain[0] not in "([^" and not re.fullmatch(_JOINED, plain):
        sign = "^"
    if sign and re.search(_OPERATION, plain):
        text = f"({text.rstrip()})"
    return sign + text


def gap_between(before: Node | str, after: Node | str, is_glued: bool, in_cell: bool) -> str:
    """Return what a style sheet shows between two neighbours in a line, as far as names tell.

    Labels, versions and the like stand apart from what they are said of, links and lines from each
    other. is_glued: whether a word would go on from the one to the other.
    """
    elements = [one for one in (before, after) if isinstance(one, Node)]
    if len(elements) == 2 and elements[1].parent:
        if not words_of(elements[1].parent).isdisjoint(LINES_WORDS):
            return ", "
        if elements[0].tag == elements[1].tag == "a":
            return ", " if in_cell else " "
    is_apart = any(not words_of(one).isdisjoint(APART_WORDS) for one in elements)
    is_image = any(one.tag == "img" for one in elements)
    return " " if is_image or (is_apart and (len(elements) == 2 or is_glued)) else ""


def plain_words(text: str) -> str:
    """Return the words of a text in small letters, each with a space before and after it."""
    words = re.findall(r"[^\W_]+", text.lower())
    return f" {' '.join(words)} "


def says_nothing(alt: str) -> bool:
    """Return whether the text of an image only names what kind of image it is."""
    return DECORATION.issuperset(plain_words(alt).split())


def is_note_mark(node: Node, base: str) -> bool:
    """Return whether an element is the mark of a note on the page: raised, and a link to it."""
    if node.tag == "sup":
        near = [node.parent, *node.children]
        links = [one for one in near if isinstance(one, Node) and one.tag == "a"]
    elif node.tag == "a":
        is_named = not words_of(node).isdisjoint(NOTE_WORDS)
        links = [node] if is_named or node.attributes.get("role") == "doc-noteref" else []
    else:
        return False
    is_here = all(leads_here(link.attributes.get("href", ""), base) for link in links)
    return bool(links) and is_here and re.fullmatch(NOTE_MARK, text_of(node)) is not None


def is_classifier(node: Node) -> bool:
    """Return whether an element is the type of a term, before which Sphinx shows a colon."""
    return "classifier" in words_of(node)


def leads_here(address: str, base: str) -> bool:
    """Return whether a link leads to a place on its own page, whose address is base."""
    page, sign, place = address.partition("#")
    return bool(sign and place) and page in ("", base.partition("#")[0])
