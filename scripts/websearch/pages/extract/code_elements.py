"""Turn elements that contain code into pre elements; remove line numbers.

Documentation tools put a code block into a div whose class marks it as code or contains the
language. Code hosts put each line of a file into a table row.
"""

from __future__ import annotations

import functools
import re

from websearch.base.html_tree import (
    BLOCKS,
    HEADINGS,
    Node,
    children_of,
    name_set,
    text_beginning,
)
from websearch.pages.extract.element_names import words_of

LANGUAGES = name_set(
    "ada apache applescript arduino asm assembly awk bash basic bat batch c c++ c# clojure cmake "
    "cobol console cpp crystal csharp css cuda cypher d dart diff django docker dockerfile elixir "
    "elm erlang f# fish fortran fsharp gherkin glsl go golang gradle graphql groovy haml hbs "
    "haskell hcl html http ini ipython java javascript jinja jinja2 js json json5 jsonc jsx julia "
    "kotlin latex less lisp lua makefile markdown matlab md mdx mermaid mysql nginx nim nix objc "
    "objective-c ocaml octave pascal perl pgsql php plsql postgresql powershell prolog proto "
    "protobuf ps1 pug puppet py pycon python python3 qml r racket rb reason rest rs rst ruby rust "
    "sass scala scheme scss sh shell solidity sparql sql stylus svelte swift tcl terraform tex "
    "toml ts tsx twig typescript vb vba verilog vhdl vim vue wasm xml yaml yml zig zsh"
)
# Complete class names of line numbers in code.
GUTTER_CLASSES = name_set(
    "ln lnt lineno line-number line-numbers line-num linenum linenumber blob-num "
    "hljs-ln-numbers hljs-ln-n code-line-number react-syntax-highlighter-line-number rouge-gutter "
    "gutter code-block-line-gutter"
)
# A part of a block ("codeblock__content") may be the code, but its header is not.
_CODE_NAME = (
    r"(?i)(?:^|[\s_])code[-_]?(?:block|snippet|sample|listing|example)"
    r"(?:__(?!header|head|title|label|caption|toolbar|button|copy|lang|name|foot)\w{1,20})?(?:\s|$)"
)
_CODE_SIGN = r"(?i)code|gutter|\bln|\blineno|line-?num|blob-num|hljs-ln|rouge-gutter"
KEEPING_STYLE = r"white-space\s{0,9}:\s{0,9}(?:pre|break-spaces)"  # keeps line breaks
LANGUAGE_NAMES = ("data-lang", "data-language", "data-code-lang", "data-syntax")
BOX_TAGS = name_set("div figure section code span code-block")
# Elements that never appear in code blocks or already are code blocks.
NO_CODE = HEADINGS | name_set(
    "pre textarea p ul ol dl table blockquote img picture video iframe form article"
)
NEAR = name_set("pre code table")
MAX_NEAR = 6  # enclosing elements to search for the code of a line number
MAX_NUMBER = 8  # characters
MAX_NUMBERS = 100_000  # characters of a column of line numbers
MAX_CODE_LABEL = 40  # characters of a language or file name next to the code in a pre
MAX_LABEL_PARTS = 30  # elements in a pre outside its code
REMOVED_WORDS = name_set("deletion del remove removed")  # class words of a diff line
ADDED_WORDS = name_set("addition ins add added")
MAX_LOOKS = 200_000  # elements per page to examine inside boxes with a name for code


def mark_code(nodes: list[Node]) -> None:
    """Turn each element that contains code into a pre, and empty its line numbers.

    nodes: the elements of a page in document order.
    """
    rows: dict[Node, list[Node]] = {}  # table row -> its line numbers
    looks = MAX_LOOKS
    for node in nodes:
        if node.tag == "pre" and is_number_column(node):
            node.children = []
        elif node.tag == "pre":
            drop_code_label(node)
        elif node.tag == "code" and (lists := [n for n in children_of(node) if n.tag == "ul"]):
            mark_json(node, lists)
        elif node.tag == "code":
            mark_diff(node)
        is_boxed = node.tag == "code" and node.parent is not None and node.parent.tag == "div"
        if not is_boxed and not (node.attributes and may_be_code(node.attributes)):
            continue
        if is_number(node):
            node.children = []
            if node.tag == "td" and node.parent:
                rows.setdefault(node.parent, []).append(node)
        elif node.tag in BOX_TAGS and looks > 0 and (is_boxed or says_code(node)):
            inside = elements_in(node, looks)
            looks -= len(inside) + 1
            if is_code(node, inside):
                node.tag = "pre"
    mark_code_tables(rows)


def mark_json(code: Node, lists: list[Node]) -> None:
    """Turn JSON in nested lists, as Redoc shows it, into a pre with one line per value."""
    if text_beginning(code, MAX_NUMBER)[:1] not in ("{", "["):
        return
    code.tag, code.attributes = "pre", {"data-lang": "json"}
    waiting = [(inner, 1) for inner in lists]
    while waiting:
        inner, depth = waiting.pop()
        if inner.tag == "li":
            line = next((child for child in children_of(inner) if child.tag == "div"), inner)
            line.children.insert(0, "  " * depth)
        elif inner.tag == "ul" and inner.parent:
            place = inner.parent.children.index(inner)
            inner.parent.children.insert(place + 1, "  " * (depth - 1))
        deeper = depth + (inner.tag == "li")
        waiting += [(child, deeper) for child in children_of(inner)]
        inner.tag = "div" if inner.tag in ("li", "ul") else inner.tag


def drop_code_label(pre: Node) -> None:
    """Reduce a pre to its only code element if its other text is a short label in a box.

    Chat programs put the language and a copy button into the pre, as divs above the code.
    """
    codes: list[Node] = []
    label, waiting = "", [pre]
    for box in waiting:
        for child in box.children:
            if isinstance(child, str):
                label += child.strip()
            elif child.tag == "code":
                codes.append(child)
            elif box is pre and child.tag not in BLOCKS:
                return
            else:
                waiting.append(child)
        has_own_text = any(isinstance(child, str) and child.strip() for child in pre.children)
        is_long = len(label) > MAX_CODE_LABEL or len(waiting) > MAX_LABEL_PARTS
        if has_own_text or is_long or len(codes) > 1:
            return
    if codes and len(text_beginning(codes[0], 2 * MAX_CODE_LABEL)) > len(label):
        pre.children = [codes[0]]


def may_be_code(attributes: dict[str, str]) -> bool:
    """Return whether the attributes may belong to code or a line number; a quick test."""
    is_named = "class" in attributes and has_code_sign(attributes["class"])
    keeps_lines = "white-space" in attributes.get("style", "")
    return is_named or keeps_lines or any(name in attributes for name in LANGUAGE_NAMES)


@functools.lru_cache(maxsize=4096)  # a page repeats most of its classes
def has_code_sign(classes: str) -> bool:
    """Return whether a class attribute contains part of a name used for code or line numbers."""
    return re.search(_CODE_SIGN, classes) is not None


def is_number(node: Node) -> bool:
    """Return whether an element is a line number in code, or an empty cell for a line number."""
    classes = node.attributes.get("class", "").split()
    if GUTTER_CLASSES.isdisjoint(classes) or node.tag in ("pre", "code"):
        return False
    text = text_beginning(node, MAX_NUMBER)
    if re.search(r"[^\d\s]", text):
        return False
    around = node.parent
    for _ in range(MAX_NEAR):
        if not around or around.tag in NEAR:
            break
        around = around.parent
    return around is not None and around.tag in NEAR


def is_number_column(pre: Node) -> bool:
    """Return whether a pre in a cell contains the line numbers of the code in the next cell."""
    row = pre.parent.parent if pre.parent and pre.parent.tag == "td" else None
    around = row.children[:MAX_NEAR] if row else []
    cells = [child for child in around if isinstance(child, Node)]
    if len(cells) != 2 or cells[0] is not pre.parent:
        return False
    inside = cells[1].children[:MAX_NEAR]
    has_code = any(isinstance(child, Node) and child.tag == "pre" for child in inside)
    return has_code and all(map(str.isdigit, text_beginning(pre, MAX_NUMBERS).split()))


def mark_code_tables(rows: dict[Node, list[Node]]) -> None:
    """Turn a table into a pre if every row consists of a line number and a line of code."""
    lines: dict[Node, list[Node]] = {}  # rows per table
    for row, numbers in rows.items():
        table = row.parent
        while table and table.tag in ("tbody", "thead"):
            table = table.parent
        cells = sum(isinstance(child, Node) for child in row.children)
        if table and table.tag == "table" and cells == len(numbers) + 1:
            lines.setdefault(table, []).append(row)
    for table, found in lines.items():
        if len(found) == count_rows(table):
            table.tag = "pre"
            write_diff_signs([children_of(row)[-1] for row in found])


def mark_diff(code: Node) -> None:
    """Write diff signs before lines whose classes mark them as removed or added."""
    lines = children_of(code)
    removed = [line for line in lines if diff_sign(line) == "-"]
    if removed and all("line" in words_of(line) for line in lines):
        write_diff_signs(lines)


def write_diff_signs(lines: list[Node]) -> None:
    """Write the signs, which pages keep in attributes or classes, before the lines of a diff."""
    signs = [diff_sign(line) for line in lines]
    if not any(map(str.strip, signs)):
        return
    for line, sign in zip(lines, signs, strict=True):
        inside = [child for child in children_of(line) if child.tag == "div"]
        text = (inside or [line])[-1]
        if not sign or text_beginning(text, MAX_NUMBER)[:1] != sign:
            text.children.insert(0, sign or " ")


def diff_sign(line: Node) -> str:
    """Return the sign of a diff line: "+", "-" or " "; "" if it has none."""
    for part in (line, *children_of(line)):
        if sign := part.attributes.get("data-code-marker", ""):
            return sign[:1]
    names = set(re.split(r"[\s_-]", line.attributes.get("class", "")))
    return "-" if names & REMOVED_WORDS else "+" if names & ADDED_WORDS else ""


def count_rows(table: Node) -> int:
    """Return the number of rows in a table and its parts."""
    parts = [child for child in table.children if isinstance(child, Node)]
    inside = [row for part in parts if part.tag != "tr" for row in part.children]
    return sum(isinstance(row, Node) and row.tag == "tr" for row in [*parts, *inside])


def says_code(node: Node) -> bool:
    """Return whether an element's class marks it as code or an attribute names a language.

    A code element whose style keeps line breaks is code as well.
    """
    get = node.attributes.get
    languages = (get(name, "").lower() for name in LANGUAGE_NAMES)
    if any(language in LANGUAGES for language in languages):
        return True
    if node.tag == "code" and re.search(KEEPING_STYLE, get("style", "")):
        return True
    return re.search(_CODE_NAME, get("class", "")) is not None


def elements_in(node: Node, limit: int) -> list[Node]:
    """Return the descendants of an element; stop after about limit of them."""
    found: list[Node] = []
    waiting = [node]
    while waiting and len(found) < limit:
        inside = [child for child in waiting.pop().children if isinstance(child, Node)]
        found += inside
        waiting += inside
    return found


def is_code(node: Node, inside: list[Node]) -> bool:
    """Return whether an element with a name for code contains only code; inside: its descendants.

    Code without line breaks in a line of text is a code span.
    """
    if any(inner.tag in NO_CODE or (inner.attributes and says_code(inner)) for inner in inside):
        return False
    around = node.parent
    for _ in range(MAX_NEAR):
        if not around:
            break
        if around.tag == "pre":
            return False
        around = around.parent
    if node.tag not in ("code", "span"):
        return True
    siblings = node.parent.children if node.parent else []
    is_alone = all(
        child is node or (isinstance(child, str) and not child.strip()) for child in siblings
    )
    children = (child for element in (node, *inside) for child in element.children)
    texts = (child for child in children if isinstance(child, str))
    has_lines = any(inner.tag in ("br", "div") for inner in inside) or any(
        "\n" in text.strip() for text in texts
    )
    return is_alone and has_lines
