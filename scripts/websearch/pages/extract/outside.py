"""What rules have dropped of a page and a question may still ask for: facts beside the text.

A stock's figures, a player's profile and the specifications of a product are in boxes that look
like those of other pages. No rule tells all of them apart, so their text is kept beside the page's.
"""

from __future__ import annotations

from websearch.base.html_tree import Node, name_set
from websearch.pages.extract.markdown import MarkdownWriter
from websearch.pages.extract.name_rules import element_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.page_tree import PageTree

MAX_OUTSIDE = 20_000  # characters of Markdown
MIN_BLOCK = 20  # characters of a block
MAX_LINKED = 0.5  # share of a block's text in links; lists of links have more
# Rules of which the blocks are kept; not of menus, feet, consent, advertisements, forms, what is
# hidden, readers' comments and copies.
KEPT_RULES = name_set(
    "sidebar related related_heading utility byline caption repeated links beside_the_core"
)
_NEVER = name_set("nav footer form script style template title noscript button select dialog")


def outside_markdown(page: PageTree, base: str) -> str:
    """Return the blocks that rules have dropped, in the page's order, as Markdown; "" without any.

    It is the last that is done with a page: what it returns is dropped no more.
    """
    blocks: list[Node] = []
    room = MAX_OUTSIDE
    for node in page.nodes:
        is_outermost = is_kept(node) and not (node.parent and node.parent.dropped)
        if not is_outermost or room <= 0 or node.tag in _NEVER:
            continue
        chars = restore(node, page)
        if chars >= MIN_BLOCK:
            blocks.append(node)
            room -= chars
    return MarkdownWriter(base).markdown(*blocks)[:MAX_OUTSIDE] if blocks else ""


def is_kept(node: Node) -> bool:
    """Return whether an element was dropped by one of KEPT_RULES."""
    return bool(node.dropped) and node.dropped.replace(" ", "_") in KEPT_RULES


def restore(block: Node, page: PageTree) -> int:
    """Take back that a block was dropped; return its characters, 0 for a list of links.

    What is in it and of no use stays dropped, as it would have been by itself.
    """
    chars = linked = 0
    waiting: list[tuple[Node, bool]] = [(block, False)]
    while waiting:
        node, in_link = waiting.pop()
        own = "" if node is block else element_rule(node, page)
        if node.tag in _NEVER or (own and own.replace(" ", "_") not in KEPT_RULES):
            continue
        if node.dropped not in ("", block.dropped) and not is_kept(node):
            continue
        node.dropped = ""
        in_link = in_link or node.tag == "a"
        size = sum(len(" ".join(one.split())) for one in node.children if isinstance(one, str))
        chars += size
        linked += size if in_link else 0
        waiting += [(child, in_link) for child in node.children if isinstance(child, Node)]
    return chars if linked <= MAX_LINKED * chars else 0
