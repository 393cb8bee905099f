"""Keep dropped parts of a page that may answer a question: facts next to the text.

A stock's figures, a player's profile or a product's specifications are often in boxes that look
like boilerplate on other pages. No rule can tell these apart, so their text is kept separately.
"""

from __future__ import annotations

from websearch.base.html_tree import Node, name_set
from websearch.pages.extract.markdown import MarkdownWriter
from websearch.pages.extract.name_rules import element_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.page_tree import PageTree

MAX_OUTSIDE = 20_000  # characters of Markdown
MIN_BLOCK = 20  # characters per block
MAX_LINKED = 0.5  # share of a block's text in links; lists of links have more
# Rules whose blocks are kept; rules for menus, footers, consent, advertisements, forms, hidden
# parts, readers' comments and copies are missing.
KEPT_RULES = name_set(
    "sidebar related related_heading utility byline caption repeated links next_to_the_core"
)
_NEVER = name_set("nav footer form script style template title noscript button select dialog")


def outside_markdown(page: PageTree, base: str) -> str:
    """Return the blocks that KEPT_RULES dropped as Markdown, in page order, or "".

    Call this last: the returned blocks are no longer dropped in the tree.
    """
    blocks: list[Node] = []
    budget = MAX_OUTSIDE
    for node in page.nodes:
        is_outermost = is_kept(node) and not (node.parent and node.parent.dropped)
        if not is_outermost or budget <= 0 or node.tag in _NEVER:
            continue
        chars = restore(node, page)
        if chars >= MIN_BLOCK:
            blocks.append(node)
            budget -= chars
    return MarkdownWriter(base).markdown(*blocks)[:MAX_OUTSIDE] if blocks else ""


def is_kept(node: Node) -> bool:
    """Return whether a rule of KEPT_RULES dropped an element."""
    return bool(node.dropped) and node.dropped.replace(" ", "_") in KEPT_RULES


def restore(block: Node, page: PageTree) -> int:
    """Restore a dropped block; return its characters, or 0 for a list of links.

    Inner elements that match other rules stay dropped.
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
        texts = (child for child in node.children if isinstance(child, str))
        size = sum(len(" ".join(text.split())) for text in texts)
        chars += size
        linked += size if in_link else 0
        waiting += [(child, in_link) for child in node.children if isinstance(child, Node)]
    return chars if linked <= MAX_LINKED * chars else 0
