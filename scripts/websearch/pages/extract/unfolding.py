"""Find the elements that controls open; a click shows them, so they are content.

A control refers to its target (aria-controls, data-target, a fragment, an id in its script) or is
right next to it: a button in a heading or term, "Read more". Hidden elements without a control stay
hidden, as do menus, tooltips and dialogs without a table.
"""

from __future__ import annotations

import re

from websearch.base.html_tree import HEADINGS, Node, children_of, name_set, text_beginning
from websearch.pages.extract.element_names import (
    TAB_WORDS,
    has_hidden_class,
    is_hidden,
    opens_by_click,
    words_of,
)
from websearch.pages.extract.page_tree import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TARGETS = 10  # ids per attribute of a control
MAX_SCRIPT = 300  # characters of a control's script to search for ids
MAX_LABEL = 200  # characters of a control's text
MAX_MORE = 50  # characters of a control such as "Read more"
MIN_ANSWER = 20  # characters of text that a heading may open; a question may open less
MIN_ROWS = 3  # rows with several cells that make a dialog more than a form
MAX_IN_CONTROL = 6  # elements around a control to search for a heading or term
NAMING = ("aria-controls", "data-target", "data-bs-target")
ACTING = frozenset(("onclick", "aria-expanded", "data-toggle", "data-bs-toggle", *NAMING))
QUESTIONS = HEADINGS | {"dt"}  # a button inside unfolds the next element
# Declared targets of controls that are not part of the page's text.
OTHER_TARGETS = name_set("menu listbox dialog tree grid modal dropdown tooltip offcanvas true")
OTHER_ROLES = name_set(
    "menu menubar listbox dialog alertdialog tooltip navigation search alert status combobox"
)
OTHER_TAGS = name_set("nav dialog form menu select footer header script style template aside input")
_SCRIPT_NAME = r"""["']#?([A-Za-z][\w-]{0,60})["']"""
_QUESTION = r"[?\uff1f]\W{0,9}$"
_MORE = (
    r"(?i)\W{0,3}(?:(?:read|show|see|view) (?:the )?(?:more|less|all|full|rest|answer|solution"
    r"|details|text|transcript)|continue reading|expand|spoiler|(?:show|reveal) spoiler"
    r"|mehr (?:lesen|anzeigen)|weiterlesen|lire la suite|voir plus|leer más|ver más|leggi tutto"
    r"|mostra altro|ler mais|lees meer|czytaj więcej|читать далее|показать|もっと見る|続きを読む"
    r"|展开)"
)


def find_unfolded(nodes: list[Node]) -> set[Node]:
    """Return the elements that controls open, hidden or not; nodes: a page's elements, in order.

    A button that asks a question becomes a summary, as in a details element.
    """
    found = dialogs_with_tables(nodes)
    controls = [node for node in nodes if is_control(node)]
    if not controls:
        return found
    ids = {node.attributes["id"]: node for node in nodes if "id" in node.attributes}
    answers: dict[Node, bool] = {}  # many controls may open one element
    for control in controls:
        opened = [ids[name] for name in targets_of(control) if name in ids]
        opened = [node for node in opened if is_text_part(node)]
        if asks(control):
            opened += [node for node in next_to_controls([control]) if node not in opened]
            answers.update(dict.fromkeys(opened, True))
        answers.update({node: is_answer(node) for node in opened if node not in answers})
        found.update(opened)
        if any(answers[node] for node in opened) and is_question(control):
            control.tag = "summary"
            control.children = list(filter(has_word, control.children))
    found.update(next_to_controls(controls))
    return found


def dialogs_with_tables(nodes: list[Node]) -> set[Node]:
    """Return the dialogs that show a table, such as a size guide."""
    dialogs: dict[Node | None, Node] = {}  # element -> the dialog around it
    rows: dict[Node, int] = {}
    for node in nodes:
        is_dialog = node.tag == "dialog" or node.attributes.get("role") == "dialog"
        dialog = node if is_dialog else dialogs.get(node.parent)
        if dialog:
            dialogs[node] = dialog
            is_row = node.tag == "tr" and len(children_of(node)) > 1
            rows[dialog] = rows.get(dialog, 0) + is_row
    return {dialog for dialog, count in rows.items() if count >= MIN_ROWS}


def is_text_part(node: Node) -> bool:
    """Return whether an element's tag and role allow it to contain the page's text."""
    return node.tag not in OTHER_TAGS and node.attributes.get("role", "") not in OTHER_ROLES


def is_control(node: Node) -> bool:
    """Return whether an element controls the page other than by opening a menu or dialog.

    A link to a fragment or a script also acts on its page.
    """
    attributes, tag = node.attributes, node.tag
    is_acting = tag == "button" or not ACTING.isdisjoint(attributes)
    if not (is_acting or attributes.get("role") == "button"):
        return tag == "a" and attributes.get("href", "").startswith(("#", "javascript:"))
    kinds = map(attributes.get, ("aria-haspopup", "data-toggle", "data-bs-toggle"))
    return tag != "input" and OTHER_TARGETS.isdisjoint(kinds)


# ===== controls that refer to their targets =======================================================


def targets_of(control: Node) -> list[str]:
    """Return the ids that a control refers to as its targets.

    The fragment of a link without a script is a position to scroll to, not a target.
    """
    get = control.attributes.get
    names = [name.lstrip("#") for key in NAMING for name in get(key, "").split()[:MAX_TARGETS]]
    if not ACTING.isdisjoint(control.attributes):
        names.append(get("href", "").partition("#")[2])
        names += re.findall(_SCRIPT_NAME, get("onclick", "")[:MAX_SCRIPT])
    return [name for name in names if name]


def is_answer(node: Node) -> bool:
    """Return whether an element is initially hidden and has enough text for an answer."""
    is_closed = is_hidden(node.attributes) or has_hidden_class(node) or opens_by_click(node)
    return is_closed and len(text_beginning(node, 2 * MIN_ANSWER)) >= MIN_ANSWER


def has_word(child: Node | str) -> bool:
    """Return whether a child of a question is not an icon, such as a plus sign."""
    return isinstance(child, str) or re.search(r"\w", text_beginning(child, MAX_LABEL)) is not None


def asks(control: Node) -> bool:
    """Return whether a control's text is a question, or its names mark a button of an accordion."""
    is_unfolding = control.tag == "button" and opens_by_click(control)
    return is_unfolding or re.search(_QUESTION, text_beginning(control, MAX_LABEL)) is not None


def is_question(control: Node) -> bool:
    """Return whether a button without adjacent text is a question or a heading."""
    parent = control.parent
    if control.tag != "button" or not parent or parent.tag in QUESTIONS or not is_text_part(parent):
        return False
    is_tab = control.attributes.get("role") == "tab" or not words_of(control).isdisjoint(TAB_WORDS)
    if is_tab or any(isinstance(child, str) and child.strip() for child in parent.children):
        return False
    text = text_beginning(control, MAX_LABEL)
    return (len(text.split()) > 1 or asks(control)) and not re.match(_MORE, text)


# ===== controls next to their targets =============================================================


def next_to_controls(controls: list[Node]) -> Iterator[Node]:
    """Yield the elements directly after headings and terms that contain a control.

    Also yield the elements directly before and after a control such as "Read more", or its parent.
    """
    titles = [title for control in controls if (title := title_of(control))]
    titles += filter(asks, controls)
    more = [control for control in controls if says_more(control)]
    more += [control.parent for control in more if control.parent and is_only_child(control)]
    place = places(dict.fromkeys(node.parent for node in (*titles, *more) if node.parent))
    for node in dict.fromkeys((*titles, *more)):
        siblings = node.parent.children if node.parent else []
        index = place.get(node, 0)
        near = [nearest(siblings[index + 1 : index + 3])]
        if node not in titles:
            near.append(nearest(siblings[max(0, index - 2) : index][::-1]))
        yield from (target for target in near if target and is_text_part(target))


def title_of(control: Node) -> Node | None:
    """Return the heading or term that contains or is the control, or None."""
    around: Node | None = control
    for _ in range(MAX_IN_CONTROL):
        if not around or around.tag in QUESTIONS:
            return around
        around = around.parent
    return None


def says_more(control: Node) -> bool:
    """Return whether a control's text promises more text, as "Read more" does."""
    text = text_beginning(control, 2 * MAX_MORE)
    return len(text) <= MAX_MORE and re.match(_MORE, text) is not None


def is_only_child(node: Node) -> bool:
    """Return whether an element is its parent's only content."""
    siblings = node.parent.children[:MAX_TARGETS] if node.parent else []
    return sum(isinstance(child, Node) or bool(child.strip()) for child in siblings) == 1


def nearest(siblings: list[Node | str]) -> Node | None:
    """Return the first sibling that is not white space if it is an element, else None."""
    for sibling in siblings:
        if isinstance(sibling, Node):
            return sibling
        if sibling.strip():
            break
    return None
