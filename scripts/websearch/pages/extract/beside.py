"""Decide the verdict on each element: text, beside the text, site furniture or unseen.

Elements beside the text may answer a question: a price, a product's specifications, a player's
figures, an author, opening hours. No rule can tell these from boilerplate by position or name,
so they are kept separately: in page order, with their headings, without menus.
"""

from __future__ import annotations

import itertools
import re

from websearch.base.html_tree import (
    BLOCKS,
    CELLS,
    HEADINGS,
    Node,
    children_of,
    elements_below,
    texts_below,
)
from websearch.kit import one_line
from websearch.pages.extract.element_names import is_unseen
from websearch.pages.extract.link_rules import links_to_neighbors
from websearch.pages.extract.markdown import MarkdownWriter
from websearch.pages.extract.name_rules import element_rule
from websearch.pages.extract.page_data import VALUE, stated_pattern, with_stated
from websearch.pages.extract.page_tree import UNSEEN_REASONS, ancestors, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Document
    from websearch.pages.extract.content import Content

TEXT, BESIDE, FURNITURE, UNSEEN = "text", "beside", "furniture", "unseen"
# Reason -> verdict; all other reasons put an element beside the text.
VERDICTS = {
    "": TEXT,
    **dict.fromkeys((*UNSEEN_REASONS, "hidden", "hidden class", "control", "gutter", "title",
                     "picture"), UNSEEN),
    **dict.fromkeys(("menu", "consent", "previous and next", "copy", "empty section"),
                    FURNITURE),
}  # fmt: skip
# Reasons that make an element furniture only if it has neither a value nor running text.
DOUBTFUL = frozenset(
    ("navigation", "signup", "share", "landmark", "overlay", "advertisement", "end of the page")
)
HIDDEN_IS_TEXT = 2  # page.leniency from which hidden parts count as text
MAX_BESIDE = 20_000  # characters of Markdown
MAX_EXPLAINED, MAX_EXPLAINED_TEXT = 100, 60  # elements, and characters of each text
MENU_SHARE = 0.8  # share of a box's text in links that makes it a menu, unless it has a value
MIN_MENU = 3  # links in a menu
MAX_NEIGHBORS = 5  # links in a box that links to the previous, next and parent pages
GROUPS = ("dl", "details")  # a label with its links
MENU_ITEMS = ("li", "a", "nav")
MAX_LABEL = 40  # mean characters of a menu's links; cards have more
MIN_TEXT = 60  # characters of text outside links that make a box more than labels
MAX_CARD = 120  # characters of a link that is written on one line
MAX_TEXT = 300  # characters of a box that are searched for a value split among its elements


def new_parts(parts: list[str], known: set[str]) -> list[str]:
    """Return the parts that are new, and repeated values directly below new parts.

    Two products may have the same price; a copy also repeats the name.
    """
    found: list[str] = []
    is_new = False
    for part in parts:
        has_value = VALUE.search(part) is not None
        is_new = part not in known or (is_new and has_value and len(part) <= MAX_LABEL)
        found += [part] if is_new and (has_value or re.search(r"[^\W\d_]", part)) else []
        known.add(part)
    return found


def is_link_block(node: Node) -> bool:
    """Return whether a block that is not a cell consists of links, with or without a label."""
    is_links = node.link == node.chars or node.tag in GROUPS
    return is_links and node.tag in BLOCKS and node.tag not in CELLS


def verdict_of(reason: str) -> str:
    """Return the verdict for the reason that an element was dropped or kept."""
    return VERDICTS.get(reason, BESIDE)


class BesideText:
    """The parts of a page beside its text; outermost: the elements that are not in the text.

    Elements next to the text are no longer dropped in the tree, so the text must be written first.
    """

    def __init__(self, content: Content) -> None:
        self.page = content.page
        self.parts = set(content.parts)
        self.around = {node for part in content.parts for node in ancestors(part)} - self.parts
        self.stated = stated_pattern(content.page)  # values of the page's data are never dropped
        self.with_stated = with_stated(content.page, self.stated)
        self.values = set(self.with_stated)  # elements with a value or with running text
        self.links: dict[Node, int] = {}  # number of links; node.link has their characters
        self.outermost = self.find_outermost()

    def markdown(self, base: str, text: str, keep_links: bool = False) -> str:
        """Return the blocks as Markdown, without parts that text or an earlier block contains.

        If they are too long, only blocks with a value are written. A heading directly above another
        heading of the same or a higher level belonged to a menu.
        """
        blocks = [node for node in self.outermost if not node.dropped]
        if sum(node.chars for node in blocks) > MAX_BESIDE:
            blocks = [node for node in blocks if node in self.values]
        written = MarkdownWriter(base, keep_links).markdown(*blocks)
        parts = written[:MAX_BESIDE].split("\n\n")
        parts += filter(self.stated.search, written[MAX_BESIDE:].split("\n\n"))
        new = new_parts(parts, {*text.split("\n\n"), ""})
        levels = [len(part) - len(part.lstrip("#")) for part in new] + [1]
        kept = (
            part
            for part, (level, after) in zip(new, itertools.pairwise(levels), strict=True)
            if not 0 < after <= level or VALUE.search(part)
        )
        beside = "\n\n".join(kept)
        is_label = self.page.is_documentation and len(beside) < MIN_TEXT  # "On this page"
        return "" if is_label and not VALUE.search(beside) else beside

    def explain(self) -> list[Document]:
        """Return the elements with text that are not in the text, the largest first.

        Each is {verdict, rule, element, chars, text}. At most MAX_EXPLAINED are listed.
        """
        listed: list[Document] = []
        for node, reason in self.outermost.items():
            text = " ".join("".join(texts_below(node)).split())
            names = "".join(f".{name}" for name in node.attributes.get("class", "").split())
            names += f"#{node.attributes['id']}" if node.attributes.get("id") else ""
            listed.append(
                {
                    "verdict": verdict_of(node.dropped) if node.dropped else BESIDE,
                    "rule": reason,
                    "element": one_line(node.tag + names, MAX_EXPLAINED_TEXT),
                    "chars": len(text),
                    "text": one_line(text, MAX_EXPLAINED_TEXT),
                }
            )
        listed.sort(key=lambda element: -int(element["chars"]))
        return [element for element in listed[:MAX_EXPLAINED] if element["chars"]]

    def find_outermost(self) -> dict[Node, str]:
        """Return the outermost elements missing from the text, with reasons, and judge each one."""
        found: dict[Node, str] = {}
        taken: set[Node | None] = set()  # the elements in found and inside them
        inside: set[Node | None] = set(self.parts)
        for node in self.page.nodes:
            if node.parent in inside:
                inside.add(node)
            if node.parent in taken:
                taken.add(node)
            elif node not in self.around and (node not in inside or node.dropped):
                taken.add(node)
                found[node] = self.unseen_reason(node) or node.dropped or "outside"
        for node, reason in found.items():
            is_menu = reason == "menu" and node in self.with_stated
            if verdict_of(reason) == BESIDE or is_menu or self.shows_value(node):
                self.restore(node)
            else:
                node.dropped = reason
        return found

    def restore(self, block: Node) -> None:
        """Judge the elements of a block individually, not by a rule for an element around them.

        In a menu, keep only the items that contain a value from the page's data; inside an element
        with a doubtful reason, drop the blocks that are links without a value.
        """
        reasons = {block: block.dropped}
        menus = {block} if block.dropped == "menu" else set()
        doubtful = {block} if block.dropped in DOUBTFUL else set()
        order = [block]
        block.dropped = ""
        for node in order:  # the loop extends order
            for child in children_of(node):
                reason = self.own_reason(child)
                if node in doubtful or reason in DOUBTFUL:
                    doubtful.add(child)
                if node in menus or reason == "menu":
                    menus.add(child)
                    if reason in ("", "menu") and child.tag in MENU_ITEMS:
                        reason = "" if child in self.with_stated else "menu"
                child.dropped = reason if reason and verdict_of(reason) != BESIDE else ""
                if not child.dropped:
                    reasons[child] = reason
                    order.append(child)
        for node in reversed(order):
            self.count(node)
            is_links = node in doubtful and is_link_block(node)
            is_doubtful = reasons[node] in DOUBTFUL or is_links or self.is_menu(node)
            is_frame = self.page.is_documentation and (
                reasons[node] == "end of the page"
                or (0 < self.links[node] <= MAX_NEIGHBORS and links_to_neighbors(node))
            )
            # An empty cell keeps the next cells below their headers; an empty row goes whole.
            is_empty = not node.chars and node.tag != "br" and node.tag not in CELLS
            if is_empty or is_frame or (is_doubtful and node not in self.values):
                node.dropped = "menu"

    def unseen_reason(self, node: Node) -> str:
        """Return why a reader does not see an element, or ""."""
        if node.tag == "img":
            return "picture"
        is_closed = is_unseen(node) and node not in self.page.unfolded
        is_hidden = is_closed and self.page.leniency < HIDDEN_IS_TEXT
        return self.page.unseen_reason(node) or ("hidden" if is_hidden else "")

    def shows_value(self, node: Node) -> bool:
        """Return whether an element is a button with a value, such as a row of specifications."""
        return node.tag == "button" and node in self.with_stated

    def own_reason(self, node: Node) -> str:
        """Return the reason that the element itself has for its verdict, or ""."""
        if self.shows_value(node):
            return ""
        is_control = node.dropped == "control"
        return self.unseen_reason(node) or (
            "control" if is_control else element_rule(node, self.page)
        )

    def is_menu(self, node: Node) -> bool:
        """Return whether an element contains little more than links with short labels."""
        count = self.links[node]
        return (
            count >= MIN_MENU
            and node.link >= MENU_SHARE * node.chars
            and node.link <= MAX_LABEL * count
        )

    def count(self, node: Node) -> None:
        """Count the characters in an element's text and links; note whether it contains a value."""
        node.chars = node.link = count = 0
        node.has_block = False
        for child in node.children:
            if isinstance(child, str):
                size = len(" ".join(child.split()))
                node.chars += size
                if VALUE.search(child) or (size >= MIN_TEXT and node.tag != "a"):
                    self.values.add(node)
            elif not child.dropped:
                node.chars += child.chars
                node.link += child.link
                node.has_block = node.has_block or child.has_block or child.tag in BLOCKS
                count += self.links[child]
                if child in self.values:
                    self.values.add(node)
        if node.tag == "a" and node.chars <= MAX_CARD:
            node.has_block = False  # a card on one line: its name, price and rating
        is_verse = node.tag == "p" and any(child.tag == "br" for child in children_of(node))
        inside = elements_below(node) if node.tag == "a" else ()
        titles = [inner for inner in inside if inner.tag in HEADINGS]  # titles of cards
        for title in titles:
            title.tag = title.tag if title.chars < node.chars else "p"
        count, node.link = (1, node.chars) if node.tag == "a" else (count, node.link)
        self.links[node], node.link = (0, 0) if is_verse or titles else (count, node.link)
        is_short = node.tag in BLOCKS and 0 < node.chars <= MAX_TEXT and not self.is_menu(node)
        if is_short and node not in self.values and VALUE.search(text_of(node)):
            self.values.add(node)
