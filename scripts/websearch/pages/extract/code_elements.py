"""Elements that hold code though they are no pre: they become one; numbers of lines go.

Documentation tools put a block of code into a div that says so by its class or names the language,
and forges put each line of a file into a row of a table.
"""

from __future__ import annotations

import functools
import re

from websearch.base.html_tree import BLOCKS, HEADINGS, Node, name_set, text_beginning

LANGUAGES = name_set(
    "ada apache applescript arduino asm assembly awk bash basic bat batch c c++ c# clojure cmake "
    "cobol console cpp crystal csharp css cuda cypher d dart diff django docker dockerfile elixir "
    "elm erlang f# fish fortran fsharp gherkin glsl go golang gradle graphql groovy haml hbs "
    "haskell hcl html http ini ipython java javascript jinja jinja2 js json json5 jsonc jsx julia "
    "kotlin latex less lisp lua makefile markdown matlab md mdx mermaid mysql nginx nim nix objc "
    "objective-c ocaml octave pascal perl pgsql php plsql postgresql powershell prolog proto "
    "protobuf ps1 pug puppet py pycon python python3 r racket rb reason rest rs rst ruby rust sass "
    "scala scheme scss sh shell solidity sparql sql stylus svelte swift tcl terraform tex toml ts "
    "tsx twig typescript vb vba verilog vhdl vim vue wasm xml yaml yml zig zsh"
)
# Classes, whole, of the number before a line of code.
GUTTER_CLASSES = name_set(
    "ln lnt lineno line-number line-num linenum linenumber blob-num hljs-ln-numbers hljs-ln-n "
    "code-line-number react-syntax-highlighter-line-number rouge-gutter"
)
# A part named after the block ("codeblock__content") may be the code; its header is not.
_CODE_NAME = (
    r"(?i)(?:^|[\s_])code[-_]?(?:block|snippet|sample|listing|example)"
    r"(?:__(?!header|head|title|label|caption|toolbar|button|copy|lang|name|foot)\w{1,20})?(?:\s|$)"
)
_CODE_SIGN = r"(?i)code|\bln|\blineno|line-?num|blob-num|hljs-ln|rouge-gutter"
LANGUAGE_NAMES = frozenset(("data-lang", "data-language", "data-code-lang"))
BOX_TAGS = name_set("div figure section code span code-block")
# What is in no block of code, or is one already.
NO_CODE = HEADINGS | name_set(
    "pre textarea p ul ol dl table blockquote img picture video iframe form article"
)
NEAR = name_set("pre code table")
MAX_NEAR = 6  # elements around a number that tell whether it is one of a line of code
MAX_NUMBER = 8  # characters
MAX_CODE_LABEL = 40  # characters of a language or file name in a pre, next to its code
MAX_LABEL_PARTS = 30  # elements in a pre outside of its code
MAX_LOOKS = 200_000  # elements of a page that are looked at in boxes that say they hold code


def mark_code(nodes: list[Node]) -> None:
    """Make a pre of each element that holds code, and clear the numbers of its lines.

    nodes: the elements of a page in document order.
    """
    rows: dict[Node, list[Node]] = {}  # row of a table -> its numbers
    looks = MAX_LOOKS
    for node in nodes:
        if node.tag == "pre":
            drop_code_label(node)
        if not node.attributes or not may_be_code(node.attributes):
            continue
        if is_number(node):
            node.children = []
            if node.tag == "td" and node.parent:
                rows.setdefault(node.parent, []).append(node)
        elif node.tag in BOX_TAGS and looks > 0 and says_code(node):
            inside = elements_in(node, looks)
            looks -= len(inside) + 1
            if is_code(node, inside):
                node.tag = "pre"
    mark_code_tables(rows)


def drop_code_label(pre: Node) -> None:
    """Reduce a pre to its one code element if the rest is a short label in a box of its own.

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
    """Return whether attributes can be those of code or of a number before it: a quick look."""
    is_named = "class" in attributes and has_code_sign(attributes["class"])
    return is_named or not LANGUAGE_NAMES.isdisjoint(attributes)


@functools.lru_cache(maxsize=4096)  # most classes of a page are those of other elements, too
def has_code_sign(classes: str) -> bool:
    """Return whether a class has a part of the names of code and of numbers of lines."""
    return re.search(_CODE_SIGN, classes) is not None


def is_number(node: Node) -> bool:
    """Return whether an element is the number of a line of code, or the empty cell for one."""
    classes = node.attributes.get("class", "").split()
    if GUTTER_CLASSES.isdisjoint(classes):
        return False
    text = text_beginning(node, MAX_NUMBER)
    if text and not text.isdigit():
        return False
    around = node.parent
    for _ in range(MAX_NEAR):
        if not around or around.tag in NEAR:
            break
        around = around.parent
    return around is not None and around.tag in NEAR


def mark_code_tables(rows: dict[Node, list[Node]]) -> None:
    """Make a pre of each table in which every row is a number and a line of code."""
    lines: dict[Node, int] = {}  # of each table
    for row, numbers in rows.items():
        table = row.parent
        while table and table.tag in ("tbody", "thead"):
            table = table.parent
        cells = sum(isinstance(child, Node) for child in row.children)
        if table and table.tag == "table" and cells == len(numbers) + 1:
            lines[table] = lines.get(table, 0) + 1
    for table, count in lines.items():
        if count == count_rows(table):
            table.tag = "pre"


def count_rows(table: Node) -> int:
    """Return how many rows a table and its parts have."""
    parts = [child for child in table.children if isinstance(child, Node)]
    inside = [row for part in parts if part.tag != "tr" for row in part.children]
    return sum(isinstance(row, Node) and row.tag == "tr" for row in [*parts, *inside])


def says_code(node: Node) -> bool:
    """Return whether an element says by its class that it holds code, or names its language."""
    get = node.attributes.get
    languages = (get(name, "").lower() for name in LANGUAGE_NAMES)
    if any(language in LANGUAGES for language in languages):
        return True
    return re.search(_CODE_NAME, get("class", "")) is not None


def elements_in(node: Node, limit: int) -> list[Node]:
    """Return the elements below another, at most about limit of them."""
    found: list[Node] = []
    waiting = [node]
    while waiting and len(found) < limit:
        inside = [child for child in waiting.pop().children if isinstance(child, Node)]
        found += inside
        waiting += inside
    return found


def is_code(node: Node, inside: list[Node]) -> bool:
    """Return whether an element that says so holds code and nothing else; inside: what is in it.

    What is in a line of text, and has no lines itself, is a span of code.
    """
    if any(one.tag in NO_CODE or (one.attributes and says_code(one)) for one in inside):
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
    is_alone = all(one is node or (isinstance(one, str) and not one.strip()) for one in siblings)
    texts = (child for one in (node, *inside) for child in one.children if isinstance(child, str))
    has_lines = any(one.tag in ("br", "div") for one in inside) or any(
        "\n" in text.strip() for text in texts
    )
    return is_alone and has_lines
