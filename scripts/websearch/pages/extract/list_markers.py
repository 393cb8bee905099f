"""Choose the markers of list items: dashes, numbers, letters or Roman numerals."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.base.html_tree import Node

LIST_STYLES = {
    "loweralpha": "a", "lowerlatin": "a", "upperalpha": "A", "upperlatin": "A",
    "lowerroman": "i", "upperroman": "I",
}  # fmt: skip
_LIST_STYLE = r"(?i)list-style(?:-type)?\s{0,9}:\s{0,9}([a-z-]{1,30})"
MAX_LETTER, MAX_ROMAN = 26 * 4, 4_000  # highest numbers written as letters and as Roman numerals
ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
    (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def item_markers(node: Node, items: list[tuple[Node | None, list[str]]]) -> list[str]:
    """Return the marker for each item of a list: "- ", "3. ", or "- c. " for letters.

    Numbers count up from the previous item, or down in a reversed list. If each item begins with
    its own number as a block, because its style hides the marker, remove these blocks.
    """
    if node.tag != "ol":
        return ["- "] * len(items)
    is_reversed = "reversed" in node.attributes
    number = list_number(node, "start", len(items) if is_reversed else 1)
    kind = list_kind(node)
    markers: list[str] = []
    for item, blocks in items:
        number = list_number(item, "value", number) if item else number
        label = item_label(number, kind)
        markers.append(f"{number}. " if label == str(number) else f"- {label}. ")
        is_list = len(blocks) == 1 and blocks[0].startswith("- ")
        number = max(0, number - 1) if is_reversed else number + (not (is_list and not kind))
    labels = [re.sub(r"\W", "", marker) for marker in markers]
    firsts = [re.sub(r"\W", "", blocks[0]) if blocks[1:] else "" for _, blocks in items]
    if labels == firsts and len(items) > 1:
        for _, blocks in items:
            del blocks[0]
    return markers


def list_number(node: Node, name: str, default: int) -> int:
    """Return the number in an attribute of a list or item, or the default."""
    value = node.attributes.get(name, "").strip() if node.attributes else ""
    return int(value) if re.fullmatch(r"\d{1,8}", value) else default


def list_kind(node: Node) -> str:
    """Return "a", "A", "i" or "I" for a list with letters or Roman numerals, else ""."""
    kind = node.attributes.get("type", "")
    style = re.search(_LIST_STYLE, node.attributes.get("style", ""))
    names = style[1] if style else node.attributes.get("class", "")
    found = (LIST_STYLES.get(name.replace("-", "")) for name in names.lower().split())
    kind = next(filter(None, found), "" if style else kind)
    return kind if kind in LIST_STYLES.values() else ""


def item_label(number: int, kind: str) -> str:
    """Return an item's number in the style of its list."""
    if kind in ("a", "A") and 0 < number <= MAX_LETTER:
        rounds, letter = divmod(number - 1, 26)
        text = chr(ord("a") + letter) * (rounds + 1)
    elif kind in ("i", "I") and 0 < number < MAX_ROMAN:
        text = ""
        for size, digits in ROMAN:
            text += digits * (number // size)
            number %= size
    else:
        return str(number)
    return text.upper() if kind in ("A", "I") else text
