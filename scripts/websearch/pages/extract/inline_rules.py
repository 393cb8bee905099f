"""Write the parts of a line that are not plain text: powers, footnote numbers, gaps, images."""

from __future__ import annotations

import re

from websearch.base.html_tree import BLOCKS, CELLS, HEADINGS, Node, name_set
from websearch.markdown.escapes import mark_signs, without_marks
from websearch.pages.extract.element_names import words_of
from websearch.pages.extract.page_tree import ancestors, text_of

# Markers around superscripts and subscripts; html_tree.py removes these characters from pages.
RAISED, LOWERED, NOTE, SCRIPT_END = "\ufdd3", "\ufdd4", "\ufdd5", "\ufdd6"
MAX_SCRIPTS = 3  # levels of nesting
# A fraction with a raised and a lowered part; with the fraction slash, the lower part may be
# plain.
_TOP, _BOTTOM = rf"{RAISED}(\d{{1,4}}){SCRIPT_END}", rf"{LOWERED}(\d{{1,4}}){SCRIPT_END}"
_FRACTION = rf"(\w?){_TOP}\s?(?:[/\u2044\u2215]\s?{_BOTTOM}|\u2044(\d{{1,4}}))"
_SCRIPT = rf"([{RAISED}{LOWERED}{NOTE}])([^{RAISED}{LOWERED}{NOTE}{SCRIPT_END}]*){SCRIPT_END}"
# Raised endings of ordinals and abbreviations; trademark symbols.
_JOINED = (
    r"(?i)st|nd|rd|th|n?de|er|ers|[eè]re?s?|[eè]?mes?|lles?|os|as|[aoderªº]|gr|te|tm|sm|m[cd]"
    r"|[\u00ae\u2122\u2120\u00a9]"
)
_OPERATION = r"[^\W_]\s?[-+\u2212\u2013*/\u00b7\u00d7]\s?[^\W_]|[\s^]"
EMPHASIS_MARKS = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "cite": "*", "del": "~~", "s": "~~",
    "strike": "~~",
}  # fmt: skip
_STRUCK = r"(?i)text-decoration(?:-line)?\s{0,9}:[^;]{0,99}line-through"
# Class words of separate labels.
APART_WORDS = name_set("attributes badge label tag type verb version")
CELL_IMAGE_CHARS = 40  # characters of image text in a table cell, such as a flag or symbol
# Boxes whose children are parts such as a name and a date, if they have no text of their own.
PART_BOXES = name_set("a li div td dd section article summary figcaption footer")
LINE_BOXES = HEADINGS | {"p"}  # the same, but only for parts with different class names
_WRITTEN = "[A-Za-z]{3}"  # in a class name that a person wrote, unlike c12
QUOTES = "\"'\u201c\u2018\u201e\u00ab"
# The number of a section, step or paragraph: 4.1, (2), [14], b)
_NUMBER = r"[(\[]?(?:\d{1,4}(?:\.\d{1,3}){0,3}|[a-z]{1,4}(?=[)\]]))[)\].]?"
# Class words of the decimals of a price, which a style sheet raises.
DECIMAL_WORDS = name_set("fraction fractional cents decimals pence centimes")
PARTS = name_set("a span time small strong b em i cite")
EMPHASIS = name_set("strong b em i")
_CURRENCY = r"(?:[$\u20ac\u00a3]|\b(?:EUR|USD|CHF|kr|z\u0142|K\u010d|lei)\b)"
CURRENCIES = ("$", "\u20ac", "\u00a3")
MAX_PARTS = 12  # children of such a box
LINES_WORDS = name_set("lines")  # class words of an element whose children are lines
NOTE_LINK_WORDS = name_set("footnote noteref fnref footnoteref")  # class words
# One or more footnote numbers: "[3]", "a, b".
NOTE_MARK = r"[\[(]?(?:[^\W_]{1,4}|[*\u2020\u2021])(?:, ?[^\W_]{1,4}){0,5}[\])]?"


def emphasis_of(node: Node) -> str:
    """Return the Markdown mark around the text of an element, or ""."""
    style = node.attributes.get("style", "")
    is_struck = "line-through" in style and re.search(_STRUCK, style)
    return EMPHASIS_MARKS.get(node.tag) or ("~~" if is_struck else "")


def image_text(node: Node, alt: str, *, in_cell: bool) -> str:
    """Return an image's text, marked as an image; in a table, write short texts as words."""
    if not in_cell or len(alt) > CELL_IMAGE_CHARS:
        return f"[image: {alt}]"
    cell = next((around for around in ancestors(node) if around.tag in CELLS), node)
    return f"({alt})" if cell.chars else alt


def write_scripts(text: str) -> str:
    """Return a line with its superscripts, subscripts and fractions (1 3/4) as plain text."""
    if SCRIPT_END in text:
        text = re.sub(_FRACTION, write_fraction, text)
    for _ in range(MAX_SCRIPTS if SCRIPT_END in text else 0):  # innermost first
        text = re.sub(_SCRIPT, write_script, text)
    return text


def write_fraction(found: re.Match[str]) -> str:
    """Return a fraction as plain text, with a space after a preceding whole number: 1 3/4."""
    before, top, *bottom = found.groups()
    return f"{before and before + ' '}{top}/{bottom[0] or bottom[1]}"


def write_script(found: re.Match[str]) -> str:
    """Return a superscript or subscript as plain text: 10^6, x^(n+1), Prefix_name, footnote [3].

    The text is unchanged if nothing comes before it, or if it is an ordinal (1st), a trademark or
    a numeric index (H2O).
    """
    kind, text = found.groups()
    before = found.string[max(0, found.start() - 4) : found.start()].rstrip("*")[-1:].strip("\0")
    plain = without_marks(text).rstrip()
    is_glued = bool(before) and not before.isspace() and bool(plain) and not plain[0].isspace()
    if kind == NOTE:
        is_bare = (
            "[" not in before + plain
            and before != "("
            and (is_glued or (before.isspace() and plain.isdigit()))
        )
        return f"{mark_signs('[')}{text.strip()}{mark_signs(']')}" if is_bare else text
    sign = ""
    if kind == RAISED and before.isdigit() and re.fullmatch(r"[.,]?\d\d", plain):
        if plain[0] in ".,":
            return text
        if is_price(found.string, found.start(), found.end()):
            return f".{text}"
    if is_glued and kind == LOWERED:
        sign = "_" if plain.isalpha() else ""
    elif is_glued and plain[0] not in "([^" and not re.fullmatch(_JOINED, plain):
        sign = "^"
    if sign and re.search(_OPERATION, plain):
        text = f"({text.rstrip()})"
    return sign + text


def is_price(line: str, start: int, end: int) -> bool:
    """Return whether the raised decimals in line[start:end] belong to a price: $8^95, 8^95 €."""
    return bool(
        re.search(rf"{_CURRENCY}\s?\d{{1,6}}$", line[max(0, start - 12) : start])
        or re.match(rf"\s?{_CURRENCY}", line[end : end + 6])
    )


def gap_between(before: Node | str, after: Node | str, is_glued: bool, in_cell: bool) -> str:
    """Return the gap that a style sheet probably shows between two neighbors in a line.

    A gap separates labels and versions from the text that they describe, and links and lines from
    each other. is_glued: whether the neighbors would form one word.
    """
    elements = [node for node in (before, after) if isinstance(node, Node)]
    if len(elements) == 2 and elements[1].parent:
        if not words_of(elements[1].parent).isdisjoint(LINES_WORDS):
            return ", "
        tags = {node.tag for node in elements}
        if tags == {"a"}:
            return ", " if in_cell else " "
        if all("-" in tag for tag in tags):  # custom elements: rows, or a name and its value
            return ", " if len(tags) == 1 else " "
        if is_price_split(*elements):
            return "."
        if are_parts(*elements):
            return " "
    is_apart = any(
        node.tag == "label" or not words_of(node).isdisjoint(APART_WORDS) for node in elements
    ) and all(re.search(r"\w", text_of(node)) for node in elements)  # not signs of code
    is_box = any(node.tag == "img" or node.tag in BLOCKS for node in elements)
    is_note = (
        is_glued and any(node.tag == "a" for node in elements) and do_digits_meet(before, after)
    )
    return " " if is_box or is_note or (is_apart and (len(elements) == 2 or is_glued)) else ""


def do_digits_meet(before: Node | str, after: Node | str) -> bool:
    """Return whether two neighbors would form one number, such as note F1 before "4 metres"."""
    first, second = (part if isinstance(part, str) else text_of(part) for part in (before, after))
    return first[-1:].isdigit() and second[:1].isdigit()


def are_parts(before: Node, after: Node) -> bool:
    """Return whether neighbors are parts of different kinds in a box that has only such parts.

    Examples are "Ada Holt" and "Engineer", or the number of a section and its title, not pieces of
    a word in different styles or colors.
    """
    box, tags = after.parent, {before.tag, after.tag}
    if not box or before.parent is not box or len(box.children) > MAX_PARTS:
        return False
    if not tags <= PARTS or tags <= EMPHASIS:
        return False
    if any(isinstance(child, str) and child.strip() for child in box.children):
        return False
    first, second = text_of(before), text_of(after)
    if second[:1] in CURRENCIES and first[-1:].isdigit():
        return True
    names = [node.attributes.get("class") for node in (before, after)]
    if box.tag == "span" or (len(tags) == 1 and None in names):
        is_new = second[:1].isupper() or second[:1].isdigit()  # not a piece of a word or number
        return len(first) > 2 and first[-1:].islower() and is_new
    are_named = names[0] != names[1] and all(re.search(_WRITTEN, name or "") for name in names)
    is_box = box.tag in PART_BOXES or (are_named and box.tag in LINE_BOXES)
    is_number = are_named and re.fullmatch(_NUMBER, first) is not None
    is_whole = is_number or (len(first) > 1 and first[-1:].isalnum())
    begins = second[:1].isalnum() or (is_number and second[:1] in QUOTES)
    is_piece = box.tag in LINE_BOXES and first[-1:].islower() and second[:1].islower()  # Th|ese
    return is_box and is_whole and begins and not is_piece


def is_price_split(before: Node, after: Node) -> bool:
    """Return whether neighbors are the whole number and the decimals of a price."""
    is_named = not words_of(after).isdisjoint(DECIMAL_WORDS)
    return is_named and text_of(before).isdigit() and text_of(after).isdigit()


def is_note_mark(node: Node, base: str) -> bool:
    """Return whether an element is a footnote number that links to a note on the page."""
    if node.tag == "sup":
        near = [node.parent, *node.children]
        links = [link for link in near if isinstance(link, Node) and link.tag == "a"]
    elif node.tag == "a":
        is_named = not words_of(node).isdisjoint(NOTE_LINK_WORDS)
        links = [node] if is_named or node.attributes.get("role") == "doc-noteref" else []
    else:
        return False
    is_here = all(is_same_page_link(link.attributes.get("href", ""), base) for link in links)
    return bool(links) and is_here and re.fullmatch(NOTE_MARK, text_of(node)) is not None


def is_classifier(node: Node) -> bool:
    """Return whether an element contains a term's type, which Sphinx shows after a colon."""
    return "classifier" in words_of(node)


def is_same_page_link(address: str, base: str) -> bool:
    """Return whether a link points to a position on the page whose URL is base."""
    page, _, place = address.partition("#")
    return bool(place) and page in ("", base.partition("#")[0])
