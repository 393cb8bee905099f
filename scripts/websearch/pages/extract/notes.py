"""Gather footnotes outside the content: after the article, hidden or next to their reference.

Readers see such a note after a click or on hover. It is written once, after the content, as
"[1]: ...", and its reference becomes "[1]". Notes in the content, such as a list at its end, stay
there.
"""

from __future__ import annotations

import re
from copy import copy

from websearch.base.html_tree import BLOCKS, Node, name_set, text_beginning
from websearch.pages.extract.element_names import is_hidden, words_of
from websearch.pages.extract.inline_rules import NOTE_LINK_WORDS, NOTE_MARK
from websearch.pages.extract.page_tree import ancestors
from websearch.pages.extract.structure_rules import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.pages.extract.page_tree import PageTree

MAX_NOTES = 500  # notes per page
MAX_NOTE = 4_000  # characters; a longer element is not a note
MIN_NOTE = 3  # characters; if a target has fewer, its parent is the note
MAX_MARK = 20  # characters of a reference
MAX_BEGINNING = 4  # levels and children to search for the first text of a note
MARK_TAGS = name_set("a sup button label span")
NOTE_TAGS = name_set("span small aside div section p")
# Class words of a note directly after its reference; SIDE_WORDS are used only for notes.
AFTER_WORDS = name_set("note fn tooltip tooltiptext popover footnotecontent footnotetext")
SIDE_WORDS = name_set("sidenote marginnote footnote")
MARK_WORDS = NOTE_LINK_WORDS | SIDE_WORDS
# The text of a reference before its note, but not "i" or "?", which open explanations.
_NUMBERED_MARK = r"\[?(?:\d{1,3}|[*\u2020\u2021\u00a7]{1,3}|[a-h])\]?|"
# Rules that drop lists of sources and links; references to them are clear without their targets.
LINK_RULES = ("links", "related heading")
PLACES = ("id", "name")
NAMING = ("aria-describedby", "popovertarget", "aria-controls", "data-target")


class NoteGatherer:
    """Gathers the notes that a page's content refers to but does not contain, in order."""

    def __init__(self, page: PageTree, content: Node) -> None:
        self.inside = [content, *shown(page, content)]
        self.shown = set(self.inside)
        self.around = set(ancestors(content))
        self.page = page
        self.ids: dict[str, Node] = {}  # filled at the first reference with a target
        self.places: dict[Node, Node | None] = {}  # target of a reference -> its note
        self.notes: list[Node] = []
        self.known: set[Node] = set()
        self.count = 0  # notes directly after references; style sheets number them

    def gather(self) -> list[Node]:
        """Return the notes, each as a paragraph that begins with its number."""
        for node in self.inside:
            if len(self.notes) < MAX_NOTES and node not in self.known:
                self.look_at(node)
        return self.notes

    def look_at(self, parent: Node) -> None:
        """Gather the notes for references that are children of an element."""
        mark: Node | None = None
        for place, child in enumerate(parent.children):
            if isinstance(child, str):
                mark = None if child.strip() else mark
                continue
            may_be_note = mark is not None or "note" in child.attributes.get("class", "")
            if may_be_note and child.tag in NOTE_TAGS and is_after_mark(child, mark):
                if self.take_after_mark(mark, child):
                    parent.children[place] = "" if mark else f"[{self.count}]"
                mark = None
            elif child.tag in MARK_TAGS and is_mark(child):
                self.take_target(child)
                is_known = re.fullmatch(_NUMBERED_MARK, text_beginning(child, MAX_MARK))
                mark = child if is_known else None
            elif child.tag != "input":
                mark = None

    def take_after_mark(self, mark: Node | None, note: Node) -> bool:
        """Take the note directly after a reference, if it qualifies; return whether it did."""
        self.count += 1
        label = (label_of(mark) if mark else "") or str(self.count)
        is_taken = self.take(label, note)
        if mark and is_taken:
            rewrite_mark(mark, label)
        return is_taken

    def take_target(self, mark: Node) -> None:
        """Take the note that a reference points to, unless it is in the content."""
        label, names = label_of(mark), names_of_target(mark)
        if names and not self.ids:
            self.ids = places_of(self.page)
        place = next((self.ids[name] for name in names if name in self.ids), None)
        note = self.note_at(place) if place else None
        if not label or not note or note in self.shown or note.dropped in LINK_RULES:
            return
        if note in self.known or self.take(label, note):
            rewrite_mark(mark, label)

    def note_at(self, place: Node) -> Node | None:
        """Return the note at a reference's target, which is the target or its parent; else None."""
        if place not in self.places:  # many references may point to one note
            is_short = len(text_beginning(place, MIN_NOTE + MAX_MARK)) < MIN_NOTE
            note = place.parent if is_short else place
            self.places[place] = note if note and is_note(note) else None
        return self.places[place]

    def take(self, label: str, note: Node) -> bool:
        """Add a note of suitable length that does not contain the content; return whether added."""
        if note in self.around or not is_note(note):
            return False
        self.known.add(note)
        show(note)
        begin_with(note, label)
        note.tag = "div"
        self.notes.append(copy(note))
        note.children = []  # a hidden note in the content must not be written twice
        return True


def gather_notes(page: PageTree, content: Node) -> list[Node]:
    """Return the notes that a page's content refers to but does not contain."""
    return NoteGatherer(page, content).gather()


def places_of(page: PageTree) -> dict[str, Node]:
    """Return the elements of a page by their ids and names."""
    nodes = (node for node in page.nodes if node.attributes)
    return {
        node.attributes[key]: node for node in nodes for key in PLACES if key in node.attributes
    }


def is_note(node: Node) -> bool:
    """Return whether the length of an element fits a note."""
    return MIN_NOTE <= len(text_beginning(node, MAX_NOTE + 1)) <= MAX_NOTE


def is_mark(node: Node) -> bool:
    """Return whether an element refers to a note, by its position, name or role.

    The label of a check box may be empty, because a style sheet numbers it.
    """
    if node.tag == "label":
        return "for" in node.attributes and not text_beginning(node, MAX_MARK)
    near = [node, node.parent, *node.children[:MAX_BEGINNING]]
    is_raised = any(isinstance(other, Node) and other.tag == "sup" for other in near)
    if not is_raised and not node.attributes:
        return False
    is_named = not words_of(node).isdisjoint(MARK_WORDS)
    role = node.attributes.get("role") or node.attributes.get("epub:type") or ""
    is_button = node.tag == "button" and bool(names_of_target(node))
    is_marked = is_raised or is_named or is_button or role in ("doc-noteref", "noteref")
    return is_marked and re.fullmatch(NOTE_MARK, text_beginning(node, MAX_MARK)) is not None


def label_of(mark: Node) -> str:
    """Return the number or character of a reference, without brackets."""
    return text_beginning(mark, MAX_MARK).strip("[]() ")


def names_of_target(mark: Node) -> list[str]:
    """Return the ids that a reference or its children point to."""
    found: list[str] = []
    for node in (mark, *mark.children):
        if isinstance(node, Node):
            get = node.attributes.get
            found.append(get("href", "").partition("#")[2])
            found += [get(name, "").lstrip("#") for name in NAMING]
    return [name for name in found if name]


def is_after_mark(note: Node, mark: Node | None) -> bool:
    """Return whether an element after a reference is its note, by its class, role or style.

    If there is no reference, only SIDE_WORDS count.
    """
    if is_mark(note) and not note.has_block:
        return False
    words = words_of(note)
    if not words.isdisjoint(SIDE_WORDS):
        is_in_line = mark is not None and note.tag not in ("div", "section", "p")
        return is_in_line or "footnote" not in words  # a block could be part of a list of notes
    if mark is None:
        return False
    is_role = note.attributes.get("role") in ("tooltip", "note", "doc-footnote")
    return is_role or not words.isdisjoint(AFTER_WORDS) or is_hidden(note.attributes)


def rewrite_mark(mark: Node, label: str) -> None:
    """Turn an element into a reference to a gathered note."""
    mark.tag, mark.attributes, mark.dropped = "span", {}, ""
    mark.children, mark.has_block = [f"[{label}]"], False


def show(note: Node) -> None:
    """Restore an element and its dropped parts, except links back to the reference."""
    rule, waiting = note.dropped, [note]
    while waiting:
        node = waiting.pop()
        if node.dropped == rule:
            node.dropped = ""
        if node.tag == "a" and node.attributes.get("href", "")[:1] == "#":
            is_sign = not re.search(r"[^\W\d_]{2}", text_beginning(node, MAX_MARK))
            node.dropped = "control" if is_sign else node.dropped
        waiting += [child for child in node.children if isinstance(child, Node)]


def begin_with(note: Node, label: str) -> None:
    """Put the label before a note's first text and remove the note's original number."""
    first = note
    for _ in range(MAX_BEGINNING):
        inside = list(filter(has_text, first.children[:MAX_BEGINNING]))
        if not inside or not isinstance(inside[0], Node) or not is_box(inside[0]):
            break
        first = inside[0]
    for place, head in enumerate(first.children[:MAX_BEGINNING]):
        if not has_text(head):
            continue
        if isinstance(head, str):
            own = rf"\s{{0,99}}[\[(]?{re.escape(label)}[.:)\]]\s"
            first.children[place] = re.sub(own, "", head, count=1) if re.match(own, head) else head
        elif label_of(head).rstrip(".:") == label:
            head.dropped = "control"
        break
    first.children.insert(0, f"[{label}]: ")


def is_box(node: Node) -> bool:
    """Return whether an element is a block or has a block as a child."""
    inside = (child for child in node.children if isinstance(child, Node))
    return node.tag in BLOCKS or any(child.tag in BLOCKS for child in inside)


def has_text(child: Node | str) -> bool:
    """Return whether a child of an element is or contains text."""
    return bool(child.strip() if isinstance(child, str) else text_beginning(child, MAX_MARK))
