"""What the structure of a page says, whatever its names are: its core, what repeats, its ends.

The core is the element with the most running text directly below it.
"""

from __future__ import annotations

import re

from websearch.base.html_tree import BLOCKS, HEADINGS, Node, name_set
from websearch.pages.extract.element_names import is_unseen
from websearch.pages.extract.page_tree import (
    MIN_ARTICLE_PROSE,
    TEXT_BLOCKS,
    PageTree,
    ancestors,
    look_of,
    places,
)

MAX_TEASER = 400  # characters; longer boxes that begin with a link are parts of a text
MAX_COMMENT = 2_000  # characters; longer dated boxes are more likely posts of their own
MIN_BOXES = 4  # of one list
BOX_SHARE = 0.8  # share of the boxes that must be teasers or comments
BOX_TAGS = name_set("div li article section a aside")
PLAIN_BOX_TAGS = BOX_TAGS - {"a", "li"}  # without blocks, those make lists in a text
MIN_HEADLINE = 15  # characters of a link that is no label
MAX_DATE = 60  # characters of a text that is a date, perhaps with who wrote and when
DATE_TAGS = name_set("p div section header")  # a date in a table or list is a part of the text
_DATE = (
    r"\b(?:19|20)\d\d\b|\b\d\d?[./-]\d\d?[./-]\d|\b\d\d?:\d\d\b|\bago\b"
    r"|^\s{0,9}(?:vor|il y a|hace) \d"
)
NO_CORE = name_set("footer nav aside form")  # legal notices there can be long
MIN_CORE = 400  # characters of a text beside which lists go; introductions to lists are shorter
# Characters of the core beside which boxes go, and the share of the prose that it must hold; pages
# that do not say that they are an article have text in many places.
CORE_OF_ARTICLE = (250, 0.4)
CORE_OF_OTHERS = (800, 0.6)
MIN_PART = 500  # characters of prose that make a box after the core a part of the text
PART_SHARE = 0.4  # the same as a share of the core
MAX_END = 200  # characters of prose of a box at the end of the core, such as a note on the author
MAX_TABS = 30  # in a row; more are no row of tabs
MIN_COPY = 60  # characters of a box that no page repeats on purpose
OWN_WORDS = name_set("li dl table blockquote pre")  # what is in these may say a thing again
# Parts of a text, however short.
TEXT_TAGS = name_set("p pre blockquote table ul ol dl figure h1 h2 h3 h4 h5 h6")


def beginnings(page: PageTree) -> dict[Node, str]:
    """Return what the text of each element begins with: a "link" to a page, "text" or "label".

    Labels are short texts, such as a date or a category; they are passed over.
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
    """Return the elements with a date or time below that stands apart from sentences."""
    found: set[Node] = set()
    for node in reversed(page.nodes):
        if node.dropped or not node.parent:
            continue
        if node in found or (0 < node.own <= MAX_DATE and has_date(node)):
            found.add(node.parent)
    return found


def has_date(node: Node) -> bool:
    """Return whether a text right below an element has a date or time at its beginning."""
    texts = (one[:200] for one in node.children if isinstance(one, str) and not one.isspace())
    return any(re.search(_DATE, text) for text in texts)


def before_text(page: PageTree) -> set[Node]:
    """Return the elements that a paragraph of running text follows in the same parent."""
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
    """Return the boxes below an element by their tag, where they are enough for a list."""
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
    """Drop lists of teasers and threads of comments from an article, whatever their names are.

    From other pages only threads that answer a longer text go.

    A teaser begins with a link to another page, again and again; text that follows in the same
    parent makes the list a part of the article. Comments are dated and come after the article. A
    page without a text beside them is a list or a thread by itself, and keeps them.
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
    if not page.is_article:  # its lists may be what it is for
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
    """Return whether dated boxes answer a text with so much prose: each says less, in sentences."""
    is_said = all(box.prose and begins[box] != "link" for box in boxes)
    return is_said and prose > max(box.prose for box in boxes)


def label_panels(page: PageTree) -> None:
    """Give each panel of a set of tabs the label of its tab, and drop the row of labels.

    The tabs name their panels, or as many panels as tabs come right after them.
    """
    around = [
        node if node.tag != "label" else node.parent
        for node in page.nodes
        if node.tag == "label" or node.attributes.get("role") == "tablist"
    ]
    rows = [(row, tabs) for row in dict.fromkeys(around) if row and (tabs := tabs_of(row))]
    if not rows:
        return
    ids = {node.attributes["id"]: node for node in page.nodes if "id" in node.attributes}
    place = places({row.parent for row, _ in rows if row.parent})
    for row, tabs in rows:
        panels = [ids.get(panel_name(tab)) for tab in tabs]
        if None in panels or len(set(panels)) < len(tabs):
            panels = [*panels_after(row, place.get(row, 0), len(tabs))]
        if not panels or any(panel and is_in_tab(panel) for panel in panels):
            continue
        for tab, panel in zip(tabs, panels, strict=True):
            if panel and panel not in ancestors(tab):
                move_label(tab, panel)
        row.dropped = "tabs"
    page.spread()
    page.measure()


def panel_name(tab: Node) -> str:
    """Return the id of the panel that a tab says it controls or leads to, or ""."""
    get = tab.attributes.get
    return get("aria-controls", "") or get("href", "").partition("#")[2]


def is_in_tab(panel: Node) -> bool:
    """Return whether a panel is inside of a tab, which would then be inside of itself."""
    above = ancestors(panel)
    return any(node.tag == "label" or node.attributes.get("role") == "tab" for node in above)


def move_label(tab: Node, panel: Node) -> None:
    """Make a tab the label of its panel, with all that is in it, a button's text too."""
    if tab.parent:
        tab.parent.children.remove(tab)
    tab.parent, panel.label = panel, tab
    waiting = [tab]
    while waiting:
        inner = waiting.pop()
        inner.dropped = ""
        waiting += [child for child in inner.children if isinstance(child, Node)]


def tabs_of(node: Node) -> list[Node]:
    """Return the tabs in a row of at least two, by their role or as labels of inputs, or none."""
    inside = [child for child in node.children if isinstance(child, Node) and child.tag != "input"]
    if node.attributes.get("role") == "tablist":
        tabs = [
            tab
            for child in inside
            for tab in (child, *child.children)
            if isinstance(tab, Node) and tab.attributes.get("role") == "tab"
        ]
    else:
        tabs = [child for child in inside if child.tag == "label" and "for" in child.attributes]
    return tabs if MAX_TABS >= len(tabs) > 1 and len(tabs) == len(inside) else []


def panels_after(row: Node, place: int, count: int) -> list[Node]:
    """Return the elements that the tabs of a row show: those after it, or those in the next."""
    siblings = row.parent.children if row.parent else []
    below = siblings[place + 1 : place + 2 * count + 1]  # spaces between them are texts
    after = [child for child in below if isinstance(child, Node)][:count]
    inside = [child for child in after[0].children if isinstance(child, Node)] if after else []
    if len(inside) == count and len({panel.tag for panel in inside}) == 1:
        return inside
    is_set = all(panel.attributes.get("role") == "tabpanel" for panel in after)
    return after if is_set and len(after) == count else []


def find_core(page: PageTree, left_out: set[Node]) -> tuple[Node, int]:
    """Return the element with the most text in paragraphs right below it, and their characters.

    No paragraph counts in left_out or in an element whose tag says that it is no text, nor one that
    only a control shows.
    """
    prose = {page.root: 0}
    outside: set[Node] = set()
    left_out = left_out.union(filter(is_unseen, page.unfolded))
    for node in page.nodes:
        if node.parent in outside or node in left_out or node.tag in NO_CORE:
            outside.add(node)
        elif not node.parent or node.dropped or node.tag not in BLOCKS:
            continue
        elif node.own >= MIN_ARTICLE_PROSE and node.own_link * 3 < node.own:
            prose[node.parent] = prose.get(node.parent, 0) + node.own - node.own_link
    core = max(prose, key=lambda node: prose[node])
    return core, prose[core]


def drop_beside_core(page: PageTree, content: Node) -> None:
    """Drop from the content what stands beside its core and is no text of its own.

    Sites put share bars, forms, the author and calls to subscribe there, under many names.
    """
    if page.is_documentation:
        return  # sections, boxes and footnotes stand beside its longest section
    core, prose = find_core(page, set())
    path = ancestors(core)
    least, share = CORE_OF_ARTICLE if page.is_article else CORE_OF_OTHERS
    if content not in path or page.keeps_comments or prose < max(least, share * content.prose):
        return
    inner = core
    for around in path[: path.index(content) + 1]:
        below = [one for one in around.children if isinstance(one, Node) and not one.dropped]
        for one in ends_of_core(below) if around is core else beside(below, inner, prose):
            if not page.is_plain or one.link * 2 > one.chars or not is_unnamed(one):
                one.dropped = "beside the core"
        inner = around
    page.spread()


def is_unnamed(node: Node) -> bool:
    """Return whether neither class nor id of an element says what it is for; cells are columns."""
    return node.tag != "td" and not ("class" in node.attributes or "id" in node.attributes)


def ends_of_core(below: list[Node]) -> list[Node]:
    """Return the small boxes after the last paragraph, of the elements below the core."""
    found: list[Node] = []
    for one in reversed(below):
        is_box = one.has_block or (one.tag in BLOCKS and not one.prose)
        if one.tag in TEXT_TAGS or not is_box or one.prose > MAX_END or one.chars > MAX_TEASER:
            break
        found.append(one)
    return found


def beside(below: list[Node], inner: Node, prose: int) -> list[Node]:
    """Return which of the elements around inner are no text; inner holds the core.

    Before it, those without running text; after it, those with much less than the core. Elements
    that look like inner are other parts of one text.
    """
    place = below.index(inner)
    before = [one for one in below[:place] if not one.prose and one.tag not in TEXT_TAGS]
    enough = max(MIN_PART, PART_SHARE * prose)
    after = [
        one
        for one in below[place + 1 :]
        if look_of(one) != look_of(inner)
        and not (one.tag in TEXT_BLOCKS and one.prose)
        and (one.prose < enough or one.link > 0.5 * one.chars)
    ]
    return [one for one in before + after if one.tag in BLOCKS]


def drop_ends(page: PageTree, content: Node) -> None:
    """Drop dates before the text of an article, and a heading after it with nothing below."""
    blocks = [node for node in shown(page, content) if node.own and node.tag in BLOCKS]
    for block in blocks:
        if block.prose or block.tag in HEADINGS:
            break
        if block.tag in DATE_TAGS and block.own <= MAX_DATE and has_date(block):
            block.dropped = "date"
    if blocks and blocks[-1].tag in HEADINGS:
        blocks[-1].dropped = "heading over nothing"
    page.spread()


def shown(page: PageTree, content: Node) -> list[Node]:
    """Return the elements below the content that are not dropped, in order."""
    inside = {content}
    found: list[Node] = []
    for node in page.nodes:
        if node.parent in inside and not node.dropped:
            inside.add(node)
            found.append(node)
    return found


def drop_copies(page: PageTree, content: Node) -> None:
    """Drop boxes with the same text as one before, and what a thread quotes of its own posts.

    Pages hold a copy for each size of screen, and carousels one of each of their ends.
    """
    if page.is_documentation:
        return  # parameters, notes and whole sections are the same for similar functions
    below = shown(page, content)
    keys = text_keys([content, *below])
    seen: set[int] = set()
    inside = {content}
    for node in below:
        if node.parent not in inside or (node.tag in OWN_WORDS and not page.is_thread):
            continue
        is_box = node.has_block or (page.is_thread and node.tag in BLOCKS)
        # An element with nothing but one box in it is that box.
        if is_box and node.chars >= MIN_COPY and keys[node] != keys[node.parent]:
            if keys[node] in seen:
                node.dropped = "copy"
                continue
            seen.add(keys[node])
        inside.add(node)
    page.spread()


def text_keys(nodes: list[Node]) -> dict[Node, int]:
    """Return for elements in order a number that stands for the text below each, 0 for none."""
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
