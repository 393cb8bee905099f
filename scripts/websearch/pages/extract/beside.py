"""Decide the verdict on each element: text, beside the text, furniture of the site, or unseen.

What is beside the text may answer a question: a price, a product's specifications, a player's
figures, an author, opening hours. No rule can tell these from boilerplate by their place or name,
so they are kept separately: in page order, with their headings, without menus.
"""

from __future__ import annotations

import re

from websearch.base.html_tree import BLOCKS, Node, children_of, name_set
from websearch.pages.extract.markdown import MarkdownWriter
from websearch.pages.extract.name_rules import element_rule
from websearch.pages.extract.page_tree import ancestors, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.content import Content

TEXT, BESIDE, FURNITURE, UNSEEN = "text", "beside", "furniture", "unseen"
# Reason -> verdict; all other reasons put an element beside the text.
VERDICTS = {
    "": TEXT,
    **dict.fromkeys(("element", "data", "unseen", "hidden", "hidden class", "control", "gutter",
                     "generator", "nosnippet", "title", "tabs"), UNSEEN),
    **dict.fromkeys(("menu", "consent", "languages", "previous and next", "copy",
                     "empty section"), FURNITURE),
}  # fmt: skip
# Reasons that make an element furniture only if it has neither a value nor running text.
DOUBTFUL = name_set("navigation signup share landmark overlay advertisement")
MAX_BESIDE = 20_000  # characters of Markdown
MENU_SHARE = 0.8  # share of a box's text in links that makes it a menu, unless it has a value
MIN_MENU = 3  # links in a menu
MAX_LABEL = 40  # mean characters of a menu's links; cards have more
MIN_TEXT = 60  # characters of a text outside links that make a box more than labels
MAX_TEXT = 300  # characters of a box that are searched for a value split among its elements
# A price, measure, date, time, rating or other figure.
_VALUE = re.compile(
    r"[$\u20ac\u00a3\u00a5\u20b9]\s?\d|\d\s?[%\u20ac\u00a3\u00a5$]|\d[.,:/]\d|\d{3}"
    r"|\d\s?[^\W\d_]"
)


def verdict_of(reason: str) -> str:
    """Return the verdict for the reason that decided about an element."""
    return VERDICTS.get(reason, BESIDE)


class BesideText:
    """The parts of a page beside its text; blocks: the outermost ones, in page order.

    The elements of the blocks are no longer dropped in the tree, so the text must be written first.
    """

    def __init__(self, content: Content) -> None:
        self.page = content.page
        self.parts = set(content.parts)
        self.around = {node for part in content.parts for node in ancestors(part)} - self.parts
        self.values: set[Node] = set()  # elements with a value or with running text
        self.chars: dict[Node, int] = {}
        self.links: dict[Node, tuple[int, int]] = {}  # number of links and their characters
        self.blocks = self.find_blocks()

    def markdown(self, base: str, text: str) -> str:
        """Return the blocks as Markdown, without what text has or an earlier block.

        If they are too long, only those with a value are written.
        """
        if sum(self.chars[node] for node in self.blocks) > MAX_BESIDE:
            self.blocks = [node for node in self.blocks if node in self.values]
        known = set(text.split("\n\n"))
        new: list[str] = []
        for part in MarkdownWriter(base).markdown(*self.blocks)[:MAX_BESIDE].split("\n\n"):
            if part not in known:
                known.add(part)
                new.append(part)
        return "\n\n".join(new).strip()

    def find_blocks(self) -> list[Node]:
        """Return the outermost elements beside the text, without menus and unseen parts."""
        found: list[Node] = []
        taken: set[Node | None] = set()  # elements in blocks, or in furniture
        inside: set[Node | None] = set(self.parts)
        for node in self.page.nodes:
            if node.parent in inside:
                inside.add(node)
            if node.parent in taken:
                taken.add(node)
            elif node in inside and not node.dropped:
                continue
            elif node not in self.around:
                taken.add(node)
                if verdict_of(node.dropped or "outside") == BESIDE:
                    found.append(node)
        for node in found:
            self.restore(node)
        return [node for node in found if node.dropped == "" and self.chars[node]]

    def restore(self, block: Node) -> None:
        """Judge the elements of a block on their own, not by a rule for an element around them."""
        reasons = {block: block.dropped}
        order = [block]
        block.dropped = ""
        for node in order:  # the loop extends it
            for child in children_of(node):
                reason = self.page.unseen_reason(child) or element_rule(child, self.page)
                child.dropped = reason if reason and verdict_of(reason) != BESIDE else ""
                if not child.dropped:
                    reasons[child] = reason
                    order.append(child)
        for node in reversed(order):
            self.count(node)
            if node not in self.values and (reasons[node] in DOUBTFUL or self.is_menu(node)):
                node.dropped = reasons[node] or "menu"

    def is_menu(self, node: Node) -> bool:
        """Return whether an element has hardly more than links with short labels."""
        count, chars = self.links[node]
        return (
            count >= MIN_MENU
            and chars >= MENU_SHARE * self.chars[node]
            and chars <= MAX_LABEL * count
        )

    def count(self, node: Node) -> None:
        """Count the text of an element and its links, and look for a value in it."""
        chars = count = linked = 0
        texts = [child for child in node.children if isinstance(child, str)]
        for text in texts:
            size = len(" ".join(text.split()))
            chars += size
            if _VALUE.search(text) or (size >= MIN_TEXT and node.tag != "a"):
                self.values.add(node)
        for child in children_of(node):
            if not child.dropped:
                chars += self.chars[child]
                count += self.links[child][0]
                linked += self.links[child][1]
                if child in self.values:
                    self.values.add(node)
        self.chars[node] = chars
        is_verse = node.tag == "p" and any(child.tag == "br" for child in children_of(node))
        found = (1, chars) if node.tag == "a" else (0, 0) if is_verse else (count, linked)
        self.links[node] = found
        is_short = node.tag in BLOCKS and 0 < chars <= MAX_TEXT
        if is_short and node not in self.values and _VALUE.search(text_of(node)):
            self.values.add(node)
