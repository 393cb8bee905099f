"""Recognize the frames and tables that documentation generators write around and in their text.

The rules apply only to pages that identify their generator as Doxygen, Haddock, Javadoc, mdBook,
rustdoc or Nim's docgen, because their class names are known. Generators that add only the usual
links (prev and next, permalinks, "[source]") need no rules.
"""

from __future__ import annotations

import re

from websearch.base.html_tree import (
    HEADINGS,
    Node,
    children_of,
    elements_below,
    name_set,
    text_beginning,
)

# Comments and scripts that identify the generator of a page without a generator meta element.
_SIGNS = (
    r"(?i)<!--\s{0,9}(?:this file is |book )?generated (?:by|using) (nim|doxygen|mdbook)\b"
    r"|\b(haddock)-(?:bundle|util)\."
)
MAX_SIGN_START = 5_000  # characters of a page to search for _SIGNS
# Generator -> ids (#) and classes (.) of its frames: graphs, lists for the whole project, source
# locations, labels for parts that a click unfolds.
FRAMES = {
    "doxygen": name_set(
        "#top #titlearea #main-nav #nav-path #side-nav .navpath .tabs .tabs2 .tabs3"
        " .dynheader .dyncontent .definition .legend .ttc .mlabels-right .summary"
        " .levels .arrow .icon"
    ),
    "haddock": name_set("#package-header #footer .hide-when-js-enabled .selflink"),
    "mdbook": name_set("#mdbook-help-container #menu-bar #mdbook-menu-bar .nav-wrapper"),
    "nim": name_set("#global-links #searchInputDiv .pragmadots .link-seesrc .theme-select-wrapper"),
    "rustdoc": name_set("#toggle-all-docs .collapse-toggle .hideme .out-of-band .rightside"),
}
MAX_VERSION = 100  # characters of a version
MAX_BEFORE_NAME = 10  # children of an item's box before its version
# Generator -> the complete text of its "read more" links.
MORE = {"doxygen": "More...", "rustdoc": "Read more"}


def named_program(start: str, generator: str) -> str:
    """Return the generator of a page if FRAMES has rules for it, or "".

    start: the beginning of the page's HTML. generator: the content of its generator meta element.
    """
    name = re.match(r"[a-z]*", generator.lower())
    if name and name[0] in FRAMES:
        return name[0]
    sign = re.search(_SIGNS, start[:MAX_SIGN_START])
    return (sign[1] or sign[2]).lower() if sign else ""


def write_versions(nodes: list[Node]) -> list[Node]:
    """Put the versions since which rustdoc's items are stable below their names; return the nodes.

    Before the heading is "1.6.0 · Source". Most items have the same version as the page's own item,
    which comes first; it is not repeated. Some only show that they are not yet const.
    """
    signs = [node for node in nodes if node.attributes.get("class") == "since"]
    texts = [text_beginning(sign, MAX_VERSION) for sign in signs]
    for sign, text in zip(signs, texts, strict=True):
        box = sign.parent
        around = box.parent if box else None
        if not box or not around or box not in around.children[:MAX_BEFORE_NAME]:
            continue
        if not text[:1].isdigit() or (sign is not signs[0] and text == texts[0]):
            continue
        place = around.children.index(box)
        after = [child for child in around.children[place + 1 : place + 3] if has_content(child)]
        box.tag, box.attributes, box.children = "p", {}, ["Since ", sign]
        if after and isinstance(after[0], Node) and after[0].tag in HEADINGS:
            around.children.remove(box)
            around.children.insert(around.children.index(after[0]) + 1, box)
    return [nodes[0], *elements_below(nodes[0])] if signs else nodes


def write_summaries(nodes: list[Node]) -> list[Node]:
    """Turn Javadoc's summaries, whose cells a style arranges, into tables; return the nodes.

    The last cell of a row has the class "col-last".
    """
    for table in nodes:
        if "summary-table" not in table.attributes.get("class", "").split():
            continue
        rows: list[Node | str] = []
        row = None
        for cell in children_of(table):
            names = cell.attributes.get("class", "").split()
            if row is None:
                row = Node("tr", {}, table)
                rows.append(row)
            cell.tag, cell.parent = "th" if "table-header" in names else "td", row
            row.children.append(cell)
            row = None if "col-last" in names else row
        table.tag, table.children = "table", rows
    return [nodes[0], *elements_below(nodes[0])]


def has_content(child: Node | str) -> bool:
    """Return whether a child is neither white space nor an empty element, such as an anchor."""
    return bool(child.children if isinstance(child, Node) else child.strip())


def is_frame(node: Node, program: str) -> bool:
    """Return whether an element is a frame or a "read more" link of the generator."""
    get = node.attributes.get
    marks = {f"#{get('id', '')}", *(f".{name}" for name in get("class", "").split())}
    if not marks.isdisjoint(FRAMES[program]):
        return True
    more = MORE.get(program)
    return node.tag == "a" and bool(more) and text_beginning(node, len(more or "") + 1) == more
