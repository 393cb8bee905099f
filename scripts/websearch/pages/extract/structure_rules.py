"""Apply rules for a page's structure, regardless of names: its core, repeated boxes and ends.

The core is the element with the most running text in its child paragraphs.
"""

from __future__ import annotations

import re

from websearch.base.html_tree import (
    BLOCKS,
    HEADINGS,
    Node,
    children_of,
    elements_below,
    name_set,
)
from websearch.pages.extract.element_names import (
    TAB_WORDS,
    has_hidden_class,
    is_hidden,
    is_unseen,
    words_of,
)
from websearch.pages.extract.page_data import VALUE
from websearch.pages.extract.page_tree import (
    MIN_ARTICLE_PROSE,
    TEXT_BLOCKS,
    PageTree,
    ancestors,
    look_of,
    places,
    text_of,
)
from websearch.pages.extract.unfolding import is_only_child

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEASER = 400  # characters; a longer box that begins with a link is part of the text
MAX_COMMENT = 2_000  # characters; a longer dated box is more likely a post
MIN_BOXES = 4  # boxes per list
BOX_SHARE = 0.8  # minimum share of boxes that are teasers or comments
BOX_TAGS = name_set("div li article section a aside")
PLAIN_BOX_TAGS = BOX_TAGS - {"a", "li"}  # "a" and "li" without blocks are lists in a text
MIN_HEADLINE = 15  # characters of a link that is not a label
MAX_DATE = 60  # characters of a date, perhaps with author and time
DATE_TAGS = name_set("p div section header")  # a date in a table or list is part of the text
_DATE = (
    r"\b(?:19|20)\d\d\b|\b\d\d?[./-]\d\d?[./-]\d|\b\d\d?:\d\d\b|\bago\b"
    r"|^\s{0,9}(?:vor|il y a|hace) \d"
)
NO_CORE = name_set("footer nav aside form")  # legal notices in these can be long
# Minimum characters in a core for dropping repeated lists; introductions to lists are shorter.
MIN_CORE = 400
# Minimum characters in a core, and minimum share of the prose, for dropping boxes next to it; pages
# that are not declared articles have text in many places.
CORE_OF_ARTICLE = (250, 0.4)
CORE_OF_OTHERS = (800, 0.6)
MIN_PART = 500  # minimum characters of prose in a box after the core that is part of the text
PART_SHARE = 0.4  # the same as a share of the core
MAX_END = 200  # characters of prose in a box at the end of the core, such as an author's note
MAX_TABS = 30  # tabs per row; a longer row is something else
MIN_COPY = 60  # minimum characters of a box that no page repeats on purpose
OWN_WORDS = name_set("li dl table blockquote pre")  # tags that may repeat text on purpose
# Elements that are part of the text regardless of length.
TEXT_TAGS = name_set("p pre blockquote table ul ol dl figure h1 h2 h3 h4 h5 h6")


def beginnings(page: PageTree) -> dict[Node, str]:
    """Return the kind of each element's first text: "link" to another page, "text" or "label".

    Labels are short texts such as a date or category; they are skipped if other text follows.
    """
    found: dict[Node, str] = {}
    for node in reversed(page.nodes):
        if node.dropped:
            continue
        found[node] = "label"
        if node.tag == "a" and node.chars >= MIN_HEADLINE:
            inside = node.attributes.get("href", "#").startswith(("#", "javascript:"))
            found[node] = "text" if inside else "link"
            continue
        for child in node.children:
            if isinstance(child, str):
                kind = "text" if len(child.strip()) >= MIN_HEADLINE else "label"
            else:
                kind = found.get(child, "label")
            if kind != "label":
                found[node] = kind
                break
    return found


def with_dates(page: PageTree) -> set[Node]:
    """Return the elements that contain a date or time outside sentences."""
    found: set[Node] = set()
    for node in reversed(page.nodes):
        if node.dropped or not node.parent:
            continue
        if node in found or (0 < node.own <= MAX_DATE and has_date(node)):
            found.add(node.parent)
    return found


def has_date(node: Node) -> bool:
    """Return whether a text directly in an element has a date or time near its start."""
    texts = (child for child in node.children if isinstance(child, str) and not child.isspace())
    return any(re.search(_DATE, text[:200]) for text in texts)


def before_text(page: PageTree) -> set[Node]:
    """Return the elements that come before a sibling paragraph of running text."""
    found: set[Node] = set()
    for node in page.nodes:
        if len(node.children) < 2 or node.dropped:
            continue
        is_followed = False
        for child in reversed(node.children):
            if isinstance(child, Node) and not child.dropped:
                if is_followed:
                    found.add(child)
                is_followed = is_followed or bool(child.tag in TEXT_BLOCKS and child.prose)
    return found


def look_alikes(node: Node) -> list[list[Node]]:
    """Return an element's child boxes grouped by tag, if there are enough for a list."""
    if node.dropped or len(node.children) < MIN_BOXES:
        return []
    alike: dict[str, list[Node]] = {}
    for child in node.children:
        if isinstance(child, str) or child.dropped or not child.chars:
            continue
        tags = BOX_TAGS if child.has_block else PLAIN_BOX_TAGS
        if child.tag in tags:
            alike.setdefault(child.tag, []).append(child)
    return [boxes for boxes in alike.values() if len(boxes) >= MIN_BOXES]


def drop_repeated(page: PageTree) -> None:
    """Drop lists of teasers and threads of comments from an article, regardless of their names.

    On other pages, drop only threads that answer a longer text.

    Teasers are boxes that begin with a link to another page; if text follows in the same parent,
    the list is part of the article. Comments are dated and come after the article. A page without
    other text is a list or a thread and keeps its boxes.
    """
    lists = [(node, boxes) for node in page.nodes for boxes in look_alikes(node)]
    if not lists:
        return
    begins, dated, followed = beginnings(page), with_dates(page), before_text(page)
    teasers: list[Node] = []
    threads: list[list[Node]] = []
    for node, boxes in lists:
        linked = [box for box in boxes if begins[box] == "link" and box.chars <= MAX_TEASER]
        comments = [box for box in boxes if box in dated and box.chars <= MAX_COMMENT]
        if len(linked) >= BOX_SHARE * len(boxes):
            if not followed & {node, linked[-1]}:
                teasers += linked
        elif len(comments) >= BOX_SHARE * len(boxes) and not page.keeps_comments:
            threads.append(comments)
    if not teasers and not threads:
        return
    core, prose = find_core(page, {*teasers, *(box for boxes in threads for box in boxes)})
    if not page.is_article:  # lists may be the page's content
        teasers = []
        threads = [boxes for boxes in threads if are_replies(boxes, begins, prose)]
    if prose < MIN_CORE:
        return
    around, earlier = set(ancestors(core)), set(page.nodes[: page.nodes.index(core)])
    for boxes in [teasers, *threads]:
        if boxes is teasers or not (boxes[0].parent in around or boxes[0] in earlier):
            for box in boxes:
                box.dropped = "repeated"
    page.spread()
    page.measure()


def are_replies(boxes: list[Node], begins: dict[Node, str], prose: int) -> bool:
    """Return whether dated boxes are comments: all contain prose, but less than the text."""
    is_prose = all(box.prose and begins[box] != "link" for box in boxes)
    return is_prose and prose > max(box.prose for box in boxes)


def label_panels(page: PageTree) -> None:
    """Label each panel in a set of tabs with its tab, which opens it, and drop the row of tabs.

    Either the tabs refer to their panels, or the row is followed by one panel for each tab or by
    the panel of the selected tab.
    """
    ids = {node.attributes["id"]: node for node in page.nodes if node.attributes.get("id")}
    panel_of = {
        ids.get(node.attributes["aria-labelledby"]): node
        for node in page.nodes
        if "aria-labelledby" in node.attributes and is_panel(node)
    }
    around = [
        node if is_tab_list(node) else row_around(node)
        for node in page.nodes
        if is_tab_list(node) or is_tab(node, panel_of)
    ]
    rows = [
        (row, tabs) for row in dict.fromkeys(around) if row and (tabs := tabs_of(row, panel_of))
    ]
    boxes = {row: outermost(row) for row, _ in rows}
    place = places({box.parent for box in boxes.values() if box.parent})
    labels: set[Node] = set()
    for row, tabs in rows:
        panels = [ids.get(panel_name(tab)) or panel_of.get(tab) for tab in tabs]
        for tab, panel in labels_of_panels(boxes[row], place.get(boxes[row], 0), tabs, panels):
            page.tab_rows.add(row)
            page.unfolded.add(panel)
            if tab.parent and panel not in ancestors(tab):
                tab.parent.children.remove(tab)
                panel.label = tab
                labels.update((tab, *elements_below(tab)))
    if page.tab_rows:
        page.nodes = [node for node in page.nodes if node not in labels]
        page.drop_unseen()
        page.measure()


def is_tab_list(node: Node) -> bool:
    """Return whether an element has the role of a row of tabs."""
    return node.attributes.get("role") == "tablist"


def is_tab(node: Node, panel_of: Mapping[Node | None, Node]) -> bool:
    """Return whether an element may be a tab without the role of one.

    It owns a panel or is a button, a label for an input or a link to a position on the page.
    """
    is_owner = node in panel_of or node.tag == "button" or "for" in node.attributes
    return is_owner or is_fragment_link(node)


def is_fragment_link(node: Node) -> bool:
    """Return whether an element is a link to a position on its page, without the role of a tab."""
    is_fragment = re.match("#.", node.attributes.get("href", "")) is not None
    return node.tag == "a" and is_fragment and node.attributes.get("role") != "tab"


def row_around(tab: Node) -> Node | None:
    """Return the element that may be the row of a tab, which may be in an item of a list."""
    around = tab.parent
    return around.parent if around and around.tag == "li" else around


def outermost(row: Node) -> Node:
    """Return the largest element that contains only a row of tabs."""
    while row.parent and is_only_child(row):
        row = row.parent
    return row


def labels_of_panels(
    row: Node, place: int, tabs: list[Node], panels: list[Node | None]
) -> list[tuple[Node, Node]]:
    """Return the tabs of a row with their panels. panels: those that the tab or the panel names."""
    if len(set(panels)) == 1 and None not in panels:
        return []  # the tabs filter one list
    if all(map(is_fragment_link, tabs)) and not are_panels(panels):
        return []  # links to sections
    if None in panels or len(set(panels)) < len(tabs):
        is_named = any(panel and is_panel(panel) for panel in panels)
        panels = [*panels_after(row, place, tabs)] or (panels if is_named else [])
    if len(panels) == 1:
        tabs = [tab for tab in tabs if tab.attributes.get("aria-selected") == "true"] or tabs
    if any(panel and row in ancestors(panel) for panel in panels):
        return []  # each tab contains its panel
    return [(tab, panel) for tab, panel in zip(tabs, panels, strict=False) if panel]


def panel_name(tab: Node) -> str:
    """Return the id of the panel that a tab controls or links to, or ""."""
    get = tab.attributes.get
    return get("aria-controls", "") or get("href", "").partition("#")[2]


def is_panel(node: Node) -> bool:
    """Return whether an element's role or class marks it as a tab's panel."""
    return node.attributes.get("role") == "tabpanel" or "tabpanel" in words_of(node)


def are_panels(targets: list[Node | None]) -> bool:
    """Return whether the targets of links are siblings, and one is hidden or named as a tab's."""
    parents = {target.parent if target else None for target in targets}
    is_opened = any(
        is_hidden(target.attributes) or has_hidden_class(target) or words_of(target) & TAB_WORDS
        for target in targets
        if target and target.tag not in HEADINGS
    )
    return is_opened and len(parents) == 1 and None not in parents


def tabs_of(row: Node, panel_of: Mapping[Node | None, Node]) -> list[Node]:
    """Return the tabs in a row that contains only tabs and at least two, or []."""
    inside = [child for child in children_of(row) if child.tag != "input"]
    is_list = is_tab_list(row)
    tabs = [
        tab
        for child in inside
        for tab in (child, *(children_of(child) if is_list or child.tag == "li" else ()))
        if tab.attributes.get("role") == "tab" or (not is_list and is_tab(tab, panel_of))
    ]
    return tabs if MAX_TABS >= len(tabs) > 1 and len(tabs) == len(inside) else []


def panels_after(row: Node, place: int, tabs: list[Node]) -> list[Node]:
    """Return the panels for a row of tabs: the elements after the row, or inside the next element.

    Perhaps only the selected tab has a panel. Buttons without a role or name have panels of code.
    """
    siblings = row.parent.children if row.parent else []
    count = len(tabs)
    below = siblings[place + 1 : place + 2 * count + 1]  # white space between them counts as text
    after = [child for child in below if isinstance(child, Node)][:count]
    inside = [child for child in after[0].children if isinstance(child, Node)] if after else []
    panels = [node for node in (*after, *inside) if is_panel(node)]
    if len(panels) == 1:
        return panels
    tags = {panel.tag for panel in inside}
    is_named = "role" in tabs[0].attributes or not words_of(tabs[0]).isdisjoint(TAB_WORDS)
    is_known = tabs[0].tag != "button" or is_named
    if len(inside) == count and len(tags) == 1 and (is_known or all(map(has_pre, inside))):
        return inside
    are_panels = set(after) <= set(panels) or all(map(has_pre, after))
    return after if len(after) == count and are_panels else []


def has_pre(panel: Node) -> bool:
    """Return whether an element is or contains a block of code."""
    return any(node.tag == "pre" for node in (panel, *elements_below(panel)))


def find_core(page: PageTree, excluded: set[Node]) -> tuple[Node, int]:
    """Return the element whose child paragraphs have the most text, and their characters.

    Paragraphs in excluded elements, in NO_CORE elements, or in elements that only a control shows
    do not count.
    """
    prose = {page.root: 0}
    outside: set[Node] = set()
    excluded = excluded.union(filter(is_unseen, page.unfolded))
    for node in page.nodes:
        if node.parent in outside or node in excluded or node.tag in NO_CORE:
            outside.add(node)
        elif not node.parent or node.dropped or node.tag not in BLOCKS:
            continue
        elif node.own >= MIN_ARTICLE_PROSE and node.own_link * 3 < node.own:
            prose[node.parent] = prose.get(node.parent, 0) + node.own - node.own_link
    core = max(prose, key=lambda node: prose[node])
    return core, prose[core]


def drop_around_core(page: PageTree, content: Node) -> None:
    """Drop boxes next to the content's core that are not text.

    Sites put share bars, forms, author boxes and calls to subscribe there, under many names.
    """
    if page.is_documentation:
        return  # its sections, boxes and footnotes are next to the longest section
    core, prose = find_core(page, set())
    path = ancestors(core)
    least, share = CORE_OF_ARTICLE if page.is_article else CORE_OF_OTHERS
    if content not in path or page.keeps_comments or prose < max(least, share * content.prose):
        return
    inner = core
    for around in path[: path.index(content) + 1]:
        below = [
            child for child in around.children if isinstance(child, Node) and not child.dropped
        ]
        for box in ends_of_core(below) if around is core else boxes_around(below, inner, prose):
            if not page.is_plain or box.link * 2 > box.chars or not is_unnamed(box):
                box.dropped = "next to the core"
        inner = around
    page.spread()


def is_unnamed(node: Node) -> bool:
    """Return whether an element has no class or id that describes its role; cells are columns."""
    return node.tag != "td" and not ("class" in node.attributes or "id" in node.attributes)


def ends_of_core(below: list[Node]) -> list[Node]:
    """Return the small boxes after the last paragraph; below: the children of the core."""
    found: list[Node] = []
    for box in reversed(below):
        is_box = box.has_block or (box.tag in BLOCKS and not box.prose)
        if box.tag in TEXT_TAGS or not is_box or box.prose > MAX_END or box.chars > MAX_TEASER:
            break
        found.append(box)
    return found


def boxes_around(below: list[Node], inner: Node, prose: int) -> list[Node]:
    """Return the siblings of inner that are not text; inner contains the core.

    Before inner, these are siblings without running text; after it, siblings with much less than
    the core. Siblings that look like inner are other parts of the text.
    """
    place = below.index(inner)
    before = [box for box in below[:place] if not box.prose and box.tag not in TEXT_TAGS]
    enough = max(MIN_PART, PART_SHARE * prose)
    after = [
        box
        for box in below[place + 1 :]
        if look_of(box) != look_of(inner)
        and not (box.tag in TEXT_BLOCKS and box.prose)
        and (box.prose < enough or box.link > 0.5 * box.chars)
    ]
    return [box for box in before + after if box.tag in BLOCKS]


def drop_ends(page: PageTree, content: Node) -> None:
    """Drop dates before an article's text, and a last heading that has no text below it."""
    blocks = [node for node in shown(page, content) if node.own and node.tag in BLOCKS]
    for block in blocks:
        if block.prose or block.tag in HEADINGS:
            break
        if block.tag in DATE_TAGS and block.own <= MAX_DATE and has_date(block):
            block.dropped = "date"
    if blocks and blocks[-1].tag in HEADINGS:
        blocks[-1].dropped = "empty section"
    page.spread()


def shown(page: PageTree, content: Node) -> list[Node]:
    """Return the descendants of the content that are not dropped, in order."""
    inside = {content}
    found: list[Node] = []
    for node in page.nodes:
        if node.parent in inside and not node.dropped:
            inside.add(node)
            found.append(node)
    return found


def is_fact_of_card(node: Node, card: Node, first: Node) -> bool:
    """Return whether a box whose text came before is a fact of its own card, such as a price.

    The box is short and has a value, and the cards look alike. With links, as around an author, it
    is a fact next to prose; elsewhere it is a slide. first: the card of the earlier box.
    """
    if first is card or look_of(first) != look_of(card) or node.chars > MAX_END:
        return False
    is_named = not node.link or card.prose - node.prose >= MIN_ARTICLE_PROSE
    return is_named and VALUE.search(text_of(node)) is not None


def drop_copies(page: PageTree, content: Node) -> None:
    """Drop boxes with the same text as an earlier box and, in a thread, quotations from its posts.

    Pages contain copies for different screen sizes, and carousels copy their first and last boxes.
    Outside threads, equal facts of several cards are not copies.
    """
    if page.is_documentation:
        return  # parameters, notes and whole sections are the same for similar functions
    below = shown(page, content)
    keys = text_keys([content, *below])
    seen: dict[int, Node] = {}  # key -> the element around the first box with this text
    inside = {content}
    for node in below:
        around = node.parent
        if not around or around not in inside or (node.tag in OWN_WORDS and not page.is_thread):
            continue
        # The author's name above several posts is not a copy.
        is_quotation = node.tag in BLOCKS and (node.prose > 0 or node.chars > MAX_TEASER)
        is_box = is_quotation if page.is_thread else node.has_block
        # An element that contains only a box counts as that box.
        if is_box and node.chars >= MIN_COPY and keys[node] != keys[around]:
            first = seen.get(keys[node])
            if first and (page.is_thread or not is_fact_of_card(node, around, first)):
                node.dropped = "copy"
                continue
            seen.setdefault(keys[node], around)
        inside.add(node)
    page.spread()


def text_keys(nodes: list[Node]) -> dict[Node, int]:
    """Return the hash of each element's text, 0 for no text; nodes: elements in document order."""
    keys: dict[Node, int] = {}
    for node in reversed(nodes):
        parts: list[int] = []
        for child in node.children:
            if isinstance(child, str):
                text = " ".join(child.split())
                parts += [hash(text)] if text else []
            elif keys.get(child):
                parts.append(keys[child])
        keys[node] = parts[0] if len(parts) == 1 else hash(tuple(parts)) if parts else 0
    return keys
