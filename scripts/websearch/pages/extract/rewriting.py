"""Rewrite elements that convey information by means other than their text.

Ruby readings, quotation marks, tables made with roles, line breaks that styles keep, check boxes,
icons in cells and texts for screen readers become plain text or elements that the other modules
support. Each step visits an element a bounded number of times.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import re

from websearch.base.html_tree import (
    BLOCKS,
    CELLS,
    HEADINGS,
    Node,
    children_of,
    elements_below,
    name_set,
    text_beginning,
)
from websearch.base.words import NEGATIONS
from websearch.pages.extract.code_elements import KEEPING_STYLE, mark_code
from websearch.pages.extract.element_names import is_decorative_alt, is_hidden, words_of
from websearch.pages.extract.placing import fill_slots, is_shadow, place_streamed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STATE = "#state"  # tag of an element with the state of a check box; pages cannot use it
CHECKED, UNCHECKED = "[x]", "[ ]"
CHECK, CROSS = "\u2713", "\u2717"
MAX_LABEL = 200  # characters of a text for screen readers
MAX_CELL_NODES = 60  # elements to examine in a cell without text
MAX_AROUND = 4  # elements around a check box or row to search for its list or table
MAX_PIECES = 6  # elements before and after a screen-reader text to search for its twin
MAX_OPTIONS = 40  # options in a choice; lists of countries and years are longer
FILTER_WORDS = name_set("sort sorter filter filters limiter limit language currency search")
_MEASURE = r"[$\u20ac\u00a3\u00a5\u20b9]\s?\d|\d\s?(?:[%\u20ac\u00a3\"'\u2032\u2033]|[^\W\d_])"
# Classes of Tailwind and others that keep line breaks, or that undo this inside such elements.
KEEPING_CLASSES = name_set(
    "whitespace-pre-line whitespace-pre-wrap whitespace-pre whitespace-break-spaces"
    " white-space-pre-line white-space-pre-wrap pre-line pre-wrap text-pre-line text-pre-wrap"
)
COLLAPSING_CLASSES = name_set("whitespace-normal whitespace-nowrap text-nowrap")
# A class whose rule in a style element keeps line breaks.
_KEEPING_RULE = r"\.([\w-]{1,100})\s{0,9}\{[^{}]{0,300}" + KEEPING_STYLE
MAX_CSS = 200_000  # characters of each style element
MAX_BREAKS = 20_000  # line breaks per page
AS_WRITTEN = name_set("pre code textarea script style svg math title select") | {STATE}
SCREEN_READER_CLASSES = name_set(
    "sr-only visually-hidden visuallyhidden screen-reader-text screen-reader element-invisible "
    "offscreen a-offscreen u-visually-hidden u-hiddenvisually assistive-text"
)
# Role -> tag for elements with that role.
ROLE_TAGS = {
    "table": "table", "grid": "table", "treegrid": "table", "row": "tr", "rowgroup": "tbody",
    "cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th",
}  # fmt: skip
NATIVE = CELLS | name_set("table tr thead tbody tfoot")
SPEAKING = CELLS | name_set("ruby q template input ul ol")
# Tag -> kind of an element that is always rewritten.
REWRITTEN_TAGS = {"td": "cell", "th": "cell", "ul": "list", "ol": "list", "ruby": "ruby"}
ICONS = name_set("svg i span em b")
CONTROLS = name_set("a button label summary nav") | HEADINGS
NO_ICONS = name_set("a button img ul ol") | {STATE}  # begin an item but are not icons
READINGS = name_set("rt rtc")  # in ruby; rp has parentheses for browsers without ruby
_ADDRESS = r"[!-~]{1,99}@[!-~]{1,99}"
_QUOTED = "[\"'\u00ab\u2018\u2019\u201a\u201c\u201d\u201e\u300c\u300e\u2039]"
# An alternative text that looks like its image: a check mark, a cross, a flag.
EMOJI = "[\u2190-\u2bff\u3030\u303d\ufe0f\u200d\U0001f000-\U0001faff]{1,8}"
# Class words of icons for yes and no.
_ICON = r"(?i)(?:^|[\s_-])(?:(check|checkmark|tick)|cross|times|xmark)(?:$|[\s_-])"
_BOX_ICON = r"(?i)(?:^|\s)[\w-]{1,20}?-(check-)?square(?:-o)?(?:$|\s)"  # a task, done or not

# A time before now, in the most common languages of web pages, and its value: date, time, zone.
_AGO = r"(?i)\d.{0,20}\b(?:ago|fa|geleden|temu|назад)$|^(?:vor|hace|il y a|há)\b.{0,9}\d"
_MOMENT = r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::[\d.]{2,20})?(Z|[+-]\d\d:?\d\d)?$"
MAX_AGO = 40  # characters of such a time


def rewrite(nodes: list[Node]) -> list[Node]:
    """Rewrite a page's elements and return them; nodes: all elements, in document order."""
    nodes = write_breaks(place_streamed(nodes))
    rewrite_roles(nodes)
    write_plainly(nodes)
    nodes = lift_tables(nodes)
    mark_code(nodes)
    found: dict[str, list[Node]] = {kind: [] for kind in REWRITERS}
    boxes: list[Node] = []
    for node in nodes:
        tag, attributes = node.tag, node.attributes
        if tag in SPEAKING:
            if tag in REWRITTEN_TAGS:
                found[REWRITTEN_TAGS[tag]].append(node)
            elif tag == "q" and node.parent:
                found["quoting"].append(node.parent)
            elif tag == "input" and attributes.get("type", "").lower() == "checkbox":
                boxes.append(node)
            elif is_shadow(node):
                found["template"].append(node)
        elif "aria-label" in attributes:
            found["label"].append(node)
        elif "data-cfemail" in attributes:
            found["mail"].append(node)
        elif "class" in attributes and is_screen_reader_class(attributes["class"]) and node.parent:
            found["twin"].append(node.parent)
    write_states(boxes)
    for kind, rewriter in REWRITERS.items():
        for node in dict.fromkeys(found[kind]):
            rewriter(node)
    return [nodes[0], *elements_below(nodes[0])] if found["template"] else nodes


def write_plainly(nodes: list[Node]) -> None:
    """Turn struck-through spans into s elements, fields, buttons and past times into text.

    A page may be read long after it said "9 minutes ago".
    """
    for node in nodes:
        if node.tag == "span" and "line-through" in node.attributes.get("style", ""):
            node.tag = "s"
        elif node.tag == "button" and is_word(node):
            node.tag = "span"
        elif node.tag == "label" and "for" in node.attributes and is_panel_label(node):
            node.tag = "summary"
        elif node.tag == "textarea" and "readonly" in node.attributes:
            node.tag = "pre"
        elif node.tag == "input" and is_read_only_text(node.attributes):
            node.tag, node.children = "span", [node.attributes.get("value", "")]
        elif node.tag == "select" and (options := choice_of(node)):
            node.tag, node.attributes = "p", {"role": "listbox"}
            node.children = [", ".join(options)]
        elif node.tag == "time" and (moment := past_moment(node)):
            node.children = [moment]


def past_moment(node: Node) -> str:
    """Return the date and time of an element that says how long ago it was, or ""."""
    moment = re.match(_MOMENT, node.attributes.get("datetime", ""))
    if not moment or not re.search(_AGO, text_beginning(node, MAX_AGO)):
        return ""
    zone = " UTC" if moment[3] == "Z" else moment[3] or ""
    return f"{moment[1]} {moment[2]}{zone}"


def is_panel_label(label: Node) -> bool:
    """Return whether a label is between a radio button and the panel that the button shows."""
    around = label.parent.children[:MAX_OPTIONS] if label.parent else []
    siblings = [child for child in around if isinstance(child, Node)]
    place = siblings.index(label) if label in siblings else 0
    near = siblings[place - 1 : place + 2] if place else []
    return len(near) == 3 and near[0].attributes.get("type") == "radio" and near[2].tag == "div"


def lift_tables(nodes: list[Node]) -> list[Node]:
    """Put tables in cells below the table around them; return the page's elements.

    Both have names of columns. The name of the row becomes the label of what is lifted: the table
    and the rest of the cell from the heading above it.
    """
    named = {node: names_columns(node) for node in nodes if node.tag == "table"}
    lifted: dict[Node, list[Node]] = {}  # table -> what comes below it
    for row in nodes if len(named) > 1 else ():
        box = row.parent
        outer = box.parent if box and box.tag == "tbody" else box
        if row.tag != "tr" or not outer or not named.get(outer):
            continue
        name, *cells = children_of(row) or [row]
        for below in filter(None, (take_from_table(cell, named) for cell in cells)):
            below[0].label = name
            lifted.setdefault(outer, []).extend(below)
    for outer, below in lifted.items():
        table = Node("table", outer.attributes, outer)
        table.children, outer.children = outer.children, [table, *below]
        outer.tag, outer.attributes = "div", {}
        for box in (table, outer):
            for child in children_of(box):
                child.parent = box
    return [nodes[0], *elements_below(nodes[0])] if lifted else nodes


def take_from_table(cell: Node, named: dict[Node, bool]) -> list[Node]:
    """Remove from a cell its first table with names of columns and all after it; return them.

    A heading above the table goes with it. named: table -> whether it has names of columns.
    """
    inside = children_of(cell)
    start = next((index for index, child in enumerate(inside) if named.get(child)), None)
    if start is None:
        return []
    below = inside[start - (start > 0 and inside[start - 1].tag in HEADINGS) :]
    gone = set(below)
    cell.children = [child for child in cell.children if child not in gone]
    return below


def names_columns(table: Node) -> bool:
    """Return whether the first row of a table consists of several header cells."""
    below = itertools.islice(elements_below(table), MAX_CELL_NODES)
    first = next((part for part in below if part.tag == "tr"), None)
    cells = children_of(first) if first else []
    return len(cells) > 1 and all(cell.tag == "th" for cell in cells)


def is_read_only_text(attributes: dict[str, str]) -> bool:
    """Return whether an input shows text to copy, such as a code."""
    return "readonly" in attributes and attributes.get("type", "text") == "text"


def choice_of(select: Node) -> list[str]:
    """Return the options of a choice of sizes, models or prices; [] for any other choice."""
    below = itertools.islice(elements_below(select), 2 * MAX_OPTIONS)
    options = [node for node in below if node.tag == "option"]
    if not 1 < len(options) <= MAX_OPTIONS or not words_of(select).isdisjoint(FILTER_WORDS):
        return []
    texts = [text for option in options if (text := text_beginning(option, MAX_LABEL))]
    is_choice = 2 * sum(re.search(_MEASURE, text) is not None for text in texts) > len(texts)
    return texts if is_choice else []


def is_word(button: Node) -> bool:
    """Return whether a button is a word in a sentence, such as a term with an explanation."""
    siblings = button.parent.children[:MAX_PIECES] if button.parent else []
    is_number = not re.search(r"[^\W\d_]{2}", text_beginning(button, MAX_LABEL))  # a note's number
    if button not in siblings[1:] or is_number:
        return False
    index = siblings.index(button)
    around = (siblings[index - 1], *siblings[index + 1 : index + 2], "")[:2]
    return all(isinstance(text, str) and re.search(r"\w", text) for text in around)


# ===== e-mail addresses, ruby, quotations =========================================================


def write_address(node: Node) -> None:
    """Write the e-mail address that Cloudflare's script shows for "[email protected]".

    Cloudflare also replaces "git@github.com" in code. Every byte is XORed with the first byte. Text
    that is not an address stays hidden, because it could contain the marks of escapes.py.
    """
    with contextlib.suppress(ValueError):
        key, *letters = bytes.fromhex(node.attributes["data-cfemail"][: 2 * MAX_LABEL])
        address = bytes(letter ^ key for letter in letters).decode("ascii")
        if re.fullmatch(_ADDRESS, address):
            node.children = [address]


def write_reading(ruby: Node) -> None:
    """Write the reading of a ruby element after its text, in parentheses: 東京(とうきょう)."""
    readings = [
        text_beginning(child, MAX_LABEL) for child in children_of(ruby) if is_reading(child)
    ]
    base = [
        child
        for child in ruby.children
        if (
            child.strip() if isinstance(child, str) else child.tag != "rp" and not is_reading(child)
        )
    ]
    joint = " " if "".join(readings).isascii() else ""
    reading = joint.join(filter(None, readings))
    ruby.children = [*base, f"({reading})"] if reading else base


def is_reading(node: Node) -> bool:
    """Return whether an element inside ruby is a reading."""
    return node.tag in READINGS


def quote(parent: Node) -> None:
    """Put quotation marks around the q elements in an element, as a browser does.

    Skip elements with quotation marks inside or directly before them, and blocks, which are not
    inline quotations.
    """
    before: Node | str = ""
    for child in parent.children:
        if isinstance(child, Node) and child.tag == "q":
            is_quoted = isinstance(before, str) and re.search(_QUOTED + r"\Z", before)
            is_block = any(inner.tag in BLOCKS for inner in children_of(child))
            if not (is_quoted or is_block or re.match(_QUOTED, text_beginning(child, 2))):
                add_quotation_marks(child)
        before = child


def add_quotation_marks(node: Node) -> None:
    """Add quotation marks to an element; inside another quotation, add single quotation marks."""
    depth = 0
    parent = node.parent
    while parent and depth < 2:
        depth += parent.tag == "q"
        parent = parent.parent
    first, last = "\u2018\u2019" if depth % 2 else "\u201c\u201d"
    node.children = [first, *node.children, last]


# ===== tables made of roles =======================================================================


def rewrite_roles(nodes: list[Node]) -> None:
    """Turn elements with roles of tables, rows and cells into tables.

    Leave a table unchanged if no row has several cells, because it is a list.
    """
    table_of: dict[Node | None, Node] = {}
    row_of: dict[Node | None, Node] = {}
    parts: dict[Node, list[Node]] = {}  # per table
    cells: dict[Node, int] = {}  # number of cells per row
    for node in nodes:
        if not table_of and "role" not in node.attributes:
            continue
        role = node.attributes.get("role", "")
        tag = ROLE_TAGS.get(role, "") if node.tag not in NATIVE else ""
        table, row = table_of.get(node.parent), row_of.get(node.parent)
        if tag == "table":
            table, row, parts[node] = node, None, [node]
        elif table and tag:
            parts[table].append(node)
            if tag == "tr":
                row = node
            elif row and tag in CELLS:
                cells[row] = cells.get(row, 0) + 1
        if table:
            table_of[node] = table
        if row:
            row_of[node] = row
    for table in {table_of[row] for row, count in cells.items() if count > 1}:
        for part in parts[table]:
            part.tag = ROLE_TAGS[part.attributes["role"]]


# ===== check boxes ================================================================================


def write_states(boxes: list[Node]) -> None:
    """Write the states of check boxes in cells and at the beginning of list items.

    Do this only if a box in the same list or table is checked or disabled; other boxes are
    controls that select rows or filter.
    """
    scopes: dict[Node, list[Node]] = {}
    for box in boxes:
        if scope := scope_of(box):
            scopes.setdefault(scope, []).append(box)
    for inside in scopes.values():
        if any("checked" in box.attributes or "disabled" in box.attributes for box in inside):
            for box in inside:
                state = CHECKED if "checked" in box.attributes else UNCHECKED
                box.tag, box.attributes, box.children = STATE, {}, [f"{state} "]


def scope_of(box: Node) -> Node | None:
    """Return the list or table of a check box in a cell or at the start of an item, or None.

    In a list, a box with a name is a form field, so the result is None.
    """
    around = box.parent
    for _ in range(MAX_AROUND):
        if not around or around.tag in CELLS or around.tag == "li":
            break
        around = around.parent
    if not around or not (around.tag in CELLS or is_task(around, box)):
        return None
    scope = around.parent
    for _ in range(MAX_AROUND):
        if scope and scope.tag in ("tr", "tbody", "thead", "tfoot"):
            scope = scope.parent
    return scope


def is_task(item: Node, box: Node) -> bool:
    """Return whether a check box without a name begins a list item."""
    return item.tag == "li" and "name" not in box.attributes and begins(item, box)


def begins(item: Node, node: Node) -> bool:
    """Return whether an element comes before all text in a list item."""
    while node is not item and node.parent:
        near = node.parent.children[:MAX_PIECES]
        if node not in near or any(map(says_something, near[: near.index(node)])):
            return False
        node = node.parent
    return True


def says_something(child: Node | str) -> bool:
    """Return whether a child contains text."""
    return bool(child.strip() if isinstance(child, str) else text_beginning(child, 1))


# ===== texts for screen readers ===================================================================


def is_for_screen_readers(node: Node) -> bool:
    """Return whether an element is only for screen readers."""
    return "class" in node.attributes and is_screen_reader_class(node.attributes["class"])


@functools.lru_cache(maxsize=4096)  # a page repeats most of its classes
def is_screen_reader_class(classes: str) -> bool:
    """Return whether a class attribute marks screen-reader text."""
    return not SCREEN_READER_CLASSES.isdisjoint(classes.lower().split())


def is_visual_only(node: Node) -> bool:
    """Return whether an element is hidden only from screen readers."""
    return node.attributes.get("aria-hidden") == "true"


def keep_one_twin(parent: Node) -> None:
    """Show the screen-reader texts in an element that repeat visual-only neighbors.

    Other rules drop these neighbors, which are often split: "$", "19". A neighbor with a different
    number is text of its own.
    """
    children = children_of(parent)
    for place, node in enumerate(children):
        if is_for_screen_readers(node):
            near = children[max(0, place - MAX_PIECES) : place + MAX_PIECES + 1]
            pieces = list(filter(is_visual_only, near))
            if is_twin(text_beginning(node, MAX_LABEL), pieces):
                node.attributes = {}
                continue
            for piece in pieces:  # says something different
                if re.search(r"\d", text_beginning(piece, MAX_LABEL)):
                    del piece.attributes["aria-hidden"]


def is_twin(text: str, pieces: Iterable[Node]) -> bool:
    """Return whether a text contains the text of the elements, all or one, or the reverse."""
    own = letters_of(text)
    others = [letters_of(text_beginning(piece, MAX_LABEL)) for piece in pieces]
    others = [*(other for other in others if len(other) > 1), "".join(others)]
    return any(own and other and (own in other or other in own) for other in others)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()


def write_label(node: Node) -> None:
    """Replace an element's visual-only text, or a drawing, by its label."""
    label = node.attributes["aria-label"][:MAX_LABEL].strip()
    children = children_of(node)
    is_drawn = 0 < len(children) <= MAX_PIECES and all(map(is_visual_only, children))
    if has_words(node):
        return
    if is_drawn and is_twin(label, children):
        node.children = [label]
    elif node.attributes.get("role") == "img" and is_told_by_label(node, label):
        node.tag, node.attributes, node.children = "span", {}, [label]


def is_told_by_label(image: Node, label: str) -> bool:
    """Return whether only the label says what an image shows; link labels describe an action."""
    parent = around = image.parent
    for _ in range(MAX_AROUND):
        if around and around.tag in CONTROLS:
            return False
        around = around.parent if around else None
    if not parent or is_visual_only(image) or is_decorative_alt(label):
        return False
    if re.fullmatch(r"\w+(?:[-_.]\w+)+", label):  # the name of a file
        return False
    return letters_of(label) not in letters_of(text_beginning(parent, MAX_LABEL))


def label_cell(cell: Node) -> None:
    """Add a label to a cell without text: a screen-reader text, or yes or no from an icon.

    Labels of links and buttons do not count, because they describe an action.
    """
    if has_text(cell):
        return
    inside = list(itertools.islice(elements_below(cell), MAX_CELL_NODES))
    hidden: set[Node] = set()
    controls: set[Node] = set()
    for node in inside:
        if node.parent in controls or node.tag in ("a", "button"):
            controls.add(node)
        if node.parent in hidden or node.tag == "button" or is_unshown(node):
            hidden.add(node)
        elif has_text(node) or (node.tag == "img" and is_written(node.attributes.get("alt", ""))):
            return
    parts = [node for node in inside if node not in controls]
    labels = itertools.chain(map(label_of, [*parts, cell]), map(answer_of, parts))
    label = next(filter(None, labels), "")
    if label and len(inside) < MAX_CELL_NODES:
        cell.children.append(label)


def label_items(box: Node) -> None:
    """Write the labels of the icons that begin a list's items: "Not included: Backups".

    Write them only if they differ or one means no: the same icon in each item is decoration.
    """
    icons = list(filter(None, map(icon_of, children_of(box))))
    labels = {label for _, label in icons}
    if len(labels) < 2 and not any(map(denies, labels)):
        return
    for node, label in icons:
        text = f"{label}: " if letters_of(label) and label != CHECKED else f"{label} "
        node.tag, node.attributes, node.children = "span", {}, [text]


def denies(label: str) -> bool:
    """Return whether the label of an icon means no."""
    return label == CROSS or not NEGATIONS.isdisjoint(label.lower().split())


def icon_of(item: Node) -> tuple[Node, str] | None:
    """Return the icon or screen-reader text that begins a list item, and its label."""
    if item.tag != "li":
        return None
    for node in itertools.islice(elements_below(item), MAX_PIECES):
        if node.tag in NO_ICONS:
            return None
        label = (label_of(node) or answer_of(node)).rstrip(" :")
        is_label = label and "/" not in label and node.tag in ICONS and begins(item, node)
        if is_label and is_for_screen_readers(node):
            return node, label
        first = next((child for child in node.children if child not in ("", " ", "\n")), None)
        if isinstance(first, str) and first.strip():
            return None
        if is_label and not children_of(node):
            text = letters_of(text_beginning(item, MAX_LABEL))
            is_repeated = letters_of(label) and text.startswith(letters_of(label))
            return None if is_repeated else (node, label)
    return None


def is_written(alt: str) -> bool:
    """Return whether an image's alternative text is written instead of the image."""
    return len(alt) > 1 or re.fullmatch(EMOJI, alt) is not None


def is_unshown(node: Node) -> bool:
    """Return whether an element is hidden or only for screen readers."""
    return bool(node.attributes) and (is_for_screen_readers(node) or is_hidden(node.attributes))


def has_text(node: Node) -> bool:
    """Return whether an element other than a script, style or template directly contains text."""
    if node.tag in ("script", "style", "template"):
        return False
    return has_words(node)


def has_words(node: Node) -> bool:
    """Return whether an element directly contains text other than white space."""
    return any(isinstance(child, str) and child.strip() for child in node.children)


def label_of(node: Node) -> str:
    """Return the label of an element without visible text, or ""."""
    if node.tag in ("button", "input", "script", "style", "template"):
        return ""
    get = node.attributes.get
    if is_for_screen_readers(node):
        return text_beginning(node, MAX_LABEL)
    for name in ("aria-label", "title", "alt"):
        if label := get(name, "").strip():
            return label[:MAX_LABEL]
    if get("role") in ("checkbox", "switch") and "aria-checked" in node.attributes:
        return CHECKED if get("aria-checked") == "true" else UNCHECKED
    return ""


def answer_of(node: Node) -> str:
    """Return a check mark or cross for an icon with a class that means yes or no, or ""."""
    names = node.attributes.get("class", "")[:MAX_LABEL]
    if not (node.tag in ("i", "svg") or "icon" in names):
        return ""
    if task := re.search(_BOX_ICON, names):
        return CHECKED if task[1] else UNCHECKED
    icon = re.search(_ICON, names)
    return (CHECK if icon[1] else CROSS) if icon else ""


# ===== line breaks ================================================================================


def write_breaks(nodes: list[Node]) -> list[Node]:
    """Write the line breaks that styles keep as br elements; return the page's elements."""
    sheets = (str(child) for node in nodes if node.tag == "style" for child in node.children)
    names = {
        name
        for css in sheets
        if "white-space" in css
        for name in re.findall(_KEEPING_RULE, css[:MAX_CSS].replace("\n", " "))
    }
    inside = {node for node in nodes if node.attributes and keeps_breaks(node.attributes, names)}
    if not inside:
        return nodes
    written: set[Node | None] = set()
    breaks = 0
    for node in nodes:
        if node.tag in AS_WRITTEN or node.parent in written:
            written.add(node)
        elif (
            (node in inside or node.parent in inside)
            and breaks < MAX_BREAKS
            and not collapses_breaks(node.attributes)
        ):
            inside.add(node)
            breaks += break_lines(node)
    return [nodes[0], *elements_below(nodes[0])] if breaks else nodes


def keeps_breaks(attributes: dict[str, str], names: set[str]) -> bool:
    """Return whether an element's attributes keep line breaks. names: classes that also do."""
    classes = attributes.get("class", "")
    if names or "pre" in classes or "white" in classes:
        found = classes.split()
        if not (KEEPING_CLASSES.isdisjoint(found) and names.isdisjoint(found)):
            return True
    style = attributes.get("style", "")
    return "white-space" in style and re.search(KEEPING_STYLE, style) is not None


def collapses_breaks(attributes: dict[str, str]) -> bool:
    """Return whether an element's attributes turn line breaks into spaces again."""
    style = attributes.get("style", "")
    if "white-space" in style:
        return re.search(KEEPING_STYLE, style) is None
    return not COLLAPSING_CLASSES.isdisjoint(attributes.get("class", "").split())


def break_lines(node: Node) -> int:
    """Put br elements between the lines of an element's own texts; return how many were added.

    Line breaks next to a block or at the beginning or end of a block add nothing.
    """
    is_end = node.tag in BLOCKS
    children: list[Node | str] = []
    before: Node | str | None = None
    for index, child in enumerate(node.children):
        after = node.children[index + 1] if index + 1 < len(node.children) else None
        if isinstance(child, str) and 0 < child.count("\n") < MAX_BREAKS:
            text = child.lstrip() if ends_line(before, is_end) else child
            first, *lines = (text.rstrip() if ends_line(after, is_end) else text).split("\n")
            children.append(first)
            for line in lines:
                children += [Node("br", {}, node), line]
        else:
            children.append(child)
        before = child
    added = len(children) - len(node.children)
    node.children = children
    return added


def ends_line(sibling: Node | str | None, is_end: bool) -> bool:
    """Return whether a line ends at a sibling. is_end: whether it also ends without a sibling."""
    if isinstance(sibling, Node):
        return sibling.tag in BLOCKS or sibling.tag == "br"
    return is_end and sibling is None


# Kind or tag of elements -> their rewriter, in order of application.
REWRITERS: dict[str, Callable[[Node], None]] = {
    "template": fill_slots, "ruby": write_reading, "quoting": quote, "mail": write_address,
    "twin": keep_one_twin, "label": write_label, "cell": label_cell, "list": label_items,
}  # fmt: skip
