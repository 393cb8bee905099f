"""Read OpenDocument texts and presentations (.odt, .odp; OpenDocument 1.3)."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple
from xml.etree import ElementTree as ET

from websearch.base.html_tree import texts_below
from websearch.kit import one_line
from websearch.pages.extract.formulas import FORMULA, UNREADABLE, mathml_text
from websearch.pages.office.archive import number_of, part_name
from websearch.pages.office.blocks import (
    Cell,
    Item,
    Piece,
    has_text,
    hidden_note,
    image,
    numbered,
    paragraph,
    slide,
    table,
    with_code,
    with_lists,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from websearch.base.html_tree import Node
    from websearch.pages.office.archive import Archive

MAX_PARENTS = 20  # length of a chain of parent styles
MAX_REPEATED = 10_000  # copies of table cells per file
MAX_REPEATED_CHARS = 5_000_000  # characters of text in these copies
MAX_LEVELS = 20  # levels per list definition
MAX_FORMULA = 1_000  # characters of a formula
MAX_SPACES = 100  # spaces per element
# Tracked changes, comments, pronunciation, index templates, hidden text, declarations.
OMITTED = frozenset(
    "tracked-changes annotation annotation-end ruby-text hidden-paragraph forms "
    "sequence-decls variable-decls user-field-decls note-citation "
    "table-column table-columns settings script title desc table-of-content-source".split()
)
BLOCKS = frozenset("p h list table section index-body text-box frame note-body".split())
MARKS = {
    ("font-weight", "bold"): "strong", ("font-style", "italic"): "em",
    ("text-line-through-style", "solid"): "del",
}  # fmt: skip
_CODE = r"(?i)preformatted|source|code"
_QUOTE = r"(?i)quotations?$|block ?text"


class Style(NamedTuple):
    """A style. names: its name and its parents' names; marks: see blocks.Piece."""

    names: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    is_hidden: bool = False
    level: int = 0


class OpenTextReader:
    """Reads texts and presentations. title: the first slide or paragraph in the style Title."""

    def __init__(self, archive: Archive, content: Element) -> None:
        self.archive = archive
        roots = (archive.tree("styles.xml"), content)
        kinds = ("style", "list-style")
        named = [style for root in roots for tag in kinds for style in root.iter(tag)]
        self.elements = {(style.tag, style.get("name", "")): style for style in named}
        self.styles: dict[str, Style] = {}
        self.title = self.note = ""
        self.counts: dict[str, int] = {}  # last item numbers, which a later list may continue
        self.after: list[Node] = []  # notes and text boxes of the current paragraph
        self.note_number = self.hidden_slides = 0
        self.slide_number = -(sum(1 for _ in content.iter("page")) == 1)  # see blocks.slide
        self.spare_cells, self.spare_chars = MAX_REPEATED, MAX_REPEATED_CHARS

    def blocks_of(self, parent: Iterable[Element]) -> list[Node]:
        """Return the paragraphs, lists and tables in the body, a cell, a note or a text box."""
        return with_code(with_lists(self.parts_of(parent)))

    def parts_of(self, parent: Iterable[Element]) -> Iterator[Node | Item]:
        """Yield the same blocks as blocks_of, but each list item separately."""
        for child in parent:
            if child.tag in ("p", "h"):
                if self.archive.is_late():
                    return
                yield from self.archive.contained(self.paragraph, child)
            elif child.tag == "list":
                yield from self.items(child, 0, child.get("style-name", ""))
            elif child.tag == "page":
                yield from self.archive.contained(self.slide, child)
            elif child.tag in ("footer-decl", "date-time-decl"):  # a footer, once for all slides
                fixed = child.text if child.get("source", "fixed") == "fixed" else ""
                yield from paragraph([Piece(squeezed(fixed))])
            elif child.tag == "frame":
                yield from self.parts_of([part for part in child if part.tag != "image"])
                words = child.findtext("desc") or child.findtext("title") or ""
                yield from image(words if child.find("image") is not None else "")
            elif child.tag == "table":
                heads = len(child.findall("table-header-rows/table-row"))
                rows, is_late = self.rows(child), self.archive.is_late
                yield from self.archive.contained(table, rows, heads, is_late)
            elif child.tag not in OMITTED and not is_hidden(child):
                yield from self.parts_of(child)

    def paragraph(self, parent: Element) -> Iterator[Node]:
        """Yield a paragraph or heading, then the notes and text boxes in it."""
        outer, self.after = self.after, []
        style = self.style(parent.get("style-name", ""))
        hides = parent.find("hidden-paragraph")  # hides the whole paragraph
        is_gone = style.is_hidden or (hides is not None and hides.get("is-hidden") != "false")
        pieces = [] if is_gone else list(self.pieces(parent, ()))
        is_title = "Title" in style.names
        if is_title and not self.title:
            self.title = "".join(piece.text for piece in pieces)
        level = number_of(parent.get("outline-level"), 1) if parent.tag == "h" else style.level
        names = " ".join(style.names)
        kind = "code" if re.search(_CODE, names) else "quote" if re.search(_QUOTE, names) else ""
        yield from paragraph(pieces, level or int(is_title), kind)
        yield from self.after
        self.after = outer

    def style(self, name: str, depth: int = 0) -> Style:
        """Return a style with the properties that it inherits."""
        definition = self.elements.get(("style", name))
        if definition is None or depth > MAX_PARENTS:
            return Style((name.replace("_20_", " "),))
        if name not in self.styles:
            parent = self.style(definition.get("parent-style-name", ""), depth + 1)
            marks, is_hidden = dict.fromkeys(parent.marks), parent.is_hidden
            for properties in definition.iterfind("text-properties"):
                get = properties.get
                marks |= {mark: None for (key, value), mark in MARKS.items() if get(key) == value}
                position = get("text-position", "").partition(" ")[0]
                if position not in ("", "0%"):
                    marks["sub" if position.startswith(("sub", "-")) else "sup"] = None
                is_hidden = is_hidden or get("display") == "none"
            level = number_of(definition.get("default-outline-level"), parent.level)
            names = (name.replace("_20_", " "), *parent.names)
            self.styles[name] = Style(names, tuple(marks), is_hidden, level)
        return self.styles[name]

    def items(self, parent: Element, level: int, style_name: str) -> Iterator[Item]:
        """Yield the items of a list, each followed by the items of its nested lists."""
        style = self.elements.get(("list-style", style_name))
        labels = itertools.islice(style if style is not None else (), MAX_LEVELS)
        label = next((item for item in labels if item.get("level") == str(level + 1)), None)
        is_numbered = label is not None and label.tag.endswith("number") and label.get("num-format")
        start = number_of(label.get("start-value"), 1) if label is not None else 1
        continues = parent.get("continue-numbering") == "true" or parent.get("continue-list")
        count = self.counts.get(f"{style_name} {level}", start - 1) if continues else start - 1
        for child in parent:
            parts = [part for part in child if part.tag not in ("list", "number")]
            blocks = self.blocks_of(parts)
            if any(map(has_text, blocks)):
                count = number_of(child.get("start-value"), count + 1)
                is_header = child.tag == "list-header"
                yield Item(level, count if is_numbered and not is_header else 0, blocks)
            for inner in child.iterfind("list"):
                if level < 9:
                    yield from self.items(inner, level + 1, inner.get("style-name", style_name))
        self.counts[f"{style_name} {level}"] = count

    def pieces(self, parent: Element, marks: tuple[str, ...]) -> Iterator[Piece]:
        """Yield the pieces in a paragraph or in an element inside it."""
        yield Piece(squeezed(parent.text), marks)
        for child in parent:
            if child.tag not in OMITTED:
                yield from self.inline(child, marks)
            yield Piece(squeezed(child.tail), marks)

    def inline(self, child: Element, marks: tuple[str, ...]) -> Iterator[Piece]:
        """Yield the pieces in an element within a line."""
        tag = child.tag
        if tag == "s":
            yield Piece(" " * number_of(child.get("c"), 1, MAX_SPACES), marks)
        elif tag in ("tab", "line-break"):
            yield Piece(" " if tag == "tab" else "\n", marks)
        elif tag == "span":
            style = self.style(child.get("style-name", ""))
            if not style.is_hidden:
                yield from self.pieces(child, tuple(dict.fromkeys((*marks, *style.marks))))
        elif tag == "a":
            target = child.get("href", "")
            for piece in self.pieces(child, marks):
                yield piece._replace(target=piece.target or target)
        elif tag == "note":
            self.note_number += 1
            number = self.note_number
            self.after += numbered(number, self.blocks_of(child.iterfind("note-body")))
            yield Piece(str(number), ("sup",), f"#note-{number}")
        elif tag == "frame" and (formula := self.formula(child)):
            yield formula._replace(marks=(*marks, *formula.marks))
        elif tag in BLOCKS:
            self.after += self.blocks_of([child])
        elif not is_hidden(child):
            yield from self.pieces(child, marks)

    def formula(self, frame: Element) -> Piece | None:
        """Return the formula in a frame; None if the frame has no formula.

        StarMath text that the author typed stays unchanged, because it is readable. A formula
        without typed text or with TeX is written like formulas in web pages.
        """
        shown = frame.find("object")
        if shown is None:
            return None
        name = part_name("", f"{shown.get('href', '')}/content.xml")
        root = next(iter(shown), None) if len(shown) else self.archive.tree(name)
        if root is None or root.tag != "math":
            return None
        note = root.find(".//annotation")
        typed = one_line(note.text or "", MAX_FORMULA) if note is not None else ""
        if typed and note is not None and "tex" not in note.get("encoding", "").lower():
            return Piece(typed)
        text = mathml_text(ET.tostring(root, encoding="unicode"))
        if text == UNREADABLE:
            text = one_line(" ".join(root.itertext()), MAX_FORMULA)
            return Piece(text) if text else None
        return Piece(text, (FORMULA,))

    def rows(self, parent: Element) -> Iterator[list[Cell]]:
        """Yield the rows of a table, without the cells covered by a merged cell."""
        for row in parent:
            if row.tag in ("table-header-rows", "table-rows", "table-row-group"):
                yield from self.rows(row)
            elif row.tag == "table-row":
                if self.archive.is_late():
                    return
                cells: list[Cell] = []
                for part in row.iterfind("table-cell"):
                    names = ("number-columns-spanned", "number-rows-spanned")
                    cell = Cell(self.blocks_of(part), *(number_of(part.get(n), 1) for n in names))
                    cells += [cell] * self.repeats(part, "number-columns-repeated", [cell])
                yield from [cells] * self.repeats(row, "number-rows-repeated", cells)

    def repeats(self, part: Element, name: str, cells: list[Cell]) -> int:
        """Return how often a row or cell occurs, limited by the file's budget for copies.

        cells: the cells in each copy. Their text counts, because a copied cell may contain a table.
        """
        if number_of(part.get(name), 1) < 2:
            return 1
        blocks = (block for cell in cells for block in cell.blocks)
        texts = (text for block in blocks for text in texts_below(block))
        chars = sum(map(len, texts))
        most = min(self.spare_cells // max(1, len(cells)), self.spare_chars // max(1, chars))
        count = max(1, number_of(part.get(name), 1, 1 + most))
        self.spare_cells -= (count - 1) * len(cells)
        self.spare_chars -= (count - 1) * chars
        return count

    def slide(self, page: Element) -> list[Node]:
        """Return a slide's heading, text and speaker notes; [] for a hidden slide."""
        self.slide_number += 1
        style = self.elements.get(("style", page.get("style-name", "")))
        look = style.find("drawing-page-properties") if style is not None else None
        if look is not None and look.get("visibility") == "hidden":
            self.hidden_slides += 1
            self.note = hidden_note(slide=self.hidden_slides)
            return []
        frames = [part for part in page if part.get("class") == "title"]
        title = " ".join(" ".join(text for part in frames for text in part.itertext()).split())
        self.title = self.title or title
        notes = [block for part in page.iterfind("notes") for block in self.blocks_of(part)]
        others = (part for part in page if part.get("class") != "title" and part.tag != "notes")
        return slide(title, self.slide_number, self.blocks_of(others), notes)


def is_hidden(part: Element) -> bool:
    """Return whether a section, field or shape is hidden, according to its stored condition."""
    default = "true" if part.tag == "hidden-text" else ""
    return part.get("display") == "none" or part.get("is-hidden", default) == "true"


def squeezed(text: str | None) -> str:
    """Return text with each run of white space replaced by one space (section 6.1.2)."""
    return re.sub(r"\s+", " ", text or "")
