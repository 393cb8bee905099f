"""Put parts of a page where a browser shows them: in slots of shadow roots, in streamed places."""

from __future__ import annotations

import itertools

from websearch.base.html_tree import STREAM_END, Node, children_of, elements_below

MAX_SLOTS = 100  # slots per shadow root
MAX_SLOT_DEPTH = 40  # elements around a host, and around a slot in its shadow root
MAX_PARTS = 500  # streamed parts per page


# ===== shadow roots ===============================================================================


def fill_slots(template: Node) -> None:
    """Put the elements of a host into the slots of its shadow root, as a browser does.

    Elements without a slot are not shown, and a host's second shadow root is ignored. A very deep
    host keeps its elements, because nested shadow roots could make the tree too deep.
    """
    host = template.parent
    if not host or is_deep(host) or template not in host.children:
        return
    template.tag = "span"
    light = [child for child in host.children if child is not template]
    for slot in slots_of(template):
        name = slot.attributes.get("name", "")
        taken = [child for child in light if slot_name(child) == name]
        if any(isinstance(child, Node) or child.strip() for child in taken):
            light = [child for child in light if slot_name(child) != name]
            slot.children = taken
            for child in taken:
                if isinstance(child, Node):
                    child.parent = slot
    host.children = [template]


def slot_name(child: Node | str) -> str:
    """Return the name of the slot for a host's child; "" for the default slot."""
    return child.attributes.get("slot", "") if isinstance(child, Node) else ""


def is_deep(node: Node) -> bool:
    """Return whether an element has more than MAX_SLOT_DEPTH ancestors."""
    around = node.parent
    for _ in range(MAX_SLOT_DEPTH):
        around = around.parent if around else None
    return around is not None


def slots_of(template: Node) -> list[Node]:
    """Return the slots of a shadow root, except very deep slots and slots of nested roots."""
    found: list[Node] = []
    level = [template]
    for _ in range(MAX_SLOT_DEPTH):
        level = [child for node in level for child in children_of(node) if not is_shadow(child)]
        found += [node for node in level if node.tag == "slot"]
        if not level or len(found) >= MAX_SLOTS:
            break
    return found[:MAX_SLOTS]


def is_shadow(node: Node) -> bool:
    """Return whether an element is a declarative shadow root."""
    return node.tag == "template" and "shadowrootmode" in node.attributes


# ===== streamed parts =============================================================================


def place_streamed(nodes: list[Node]) -> list[Node]:
    """Put the parts of a page that React streamed in their positions; return the page's elements.

    The part with the id "S:1" replaces the template "P:1", or the template "B:1" and what the page
    shows there until the part arrives. Parts inside parts are placed after them, and nothing is
    placed in a very deep element, because the tree would become too deep.
    """
    if not any(STREAM_END in node.attributes for node in nodes):
        return nodes
    found = itertools.islice((node for node in nodes if is_part(node)), MAX_PARTS)
    parts = {node.attributes["id"]: node for node in found}
    for template in elements_below(nodes[0]):
        name = template.attributes.get("id", "") if template.tag == "template" else ""
        part = parts.get(f"S:{name[2:]}") if name[:2] in ("B:", "P:") else None
        parent = template.parent
        if not part or not parent or is_deep(template) or is_in_part(template, parts):
            continue
        del parts[part.attributes["id"]]
        siblings = parent.children
        start = end = siblings.index(template)
        if name[0] == "B":
            end = end_of_place(siblings, start)
        for child in children_of(part):
            child.parent = parent
        siblings[start : end + 1] = template.children = part.children  # for elements_below
        part.children = []
    return [nodes[0], *elements_below(nodes[0])]


def is_part(node: Node) -> bool:
    """Return whether an element contains a streamed part of the page."""
    return node.attributes.get("id", "")[:2] == "S:" and node.tag != "template"


def is_in_part(node: Node, parts: dict[str, Node]) -> bool:
    """Return whether an element is in a part that is not yet placed; node is not very deep."""
    around = node.parent
    while around:
        if parts.get(around.attributes.get("id", "")) is around:
            return True
        around = around.parent
    return False


def end_of_place(siblings: list[Node | str], start: int) -> int:
    """Return the index where the place that begins at start ends; start if it has no end."""
    for index in range(start, len(siblings)):
        sibling = siblings[index]
        if isinstance(sibling, Node) and STREAM_END in sibling.attributes:
            return index
    return start
