"""Read the exact text and the language of HTML code blocks."""

from __future__ import annotations

import functools
import re

from websearch.base.html_tree import BLOCKS, CELLS, TABLE_PARTS, Node, children_of, name_set
from websearch.pages.extract.code_elements import LANGUAGE_NAMES, LANGUAGES
from websearch.pages.extract.element_names import words_of
from websearch.pages.extract.page_tree import ancestors
from websearch.pages.extract.tables import is_shown

# Class names that contain the code's language. Matches of the first pattern are certain; matches
# of the second may also be a human language or another kind of source.
_CODE_LANGUAGE = (
    r"(?i)(?:^|\s)(?:language|highlight-source|highlight|brush|sourceCode)(?:-|:\s?|\s)"
    r"([a-z][\w+#.-]{0,19})(?=[\s;]|$)"
)
_CODE_LANGUAGE_ALSO = (
    r"(?i)(?<![^\s-])(?:lang|source|hljs|sh|src|user|tab)[-_:\s]\s?(?=([\w+#.-]{1,20})(?:[\s;]|$))"
)
_OF_CODE = r"(?i)(?:^|\s)lang-([a-z][\w+#.-]{2,19})(?=\s|$)"  # certain on the code itself
CONFLUENCE = "data-syntaxhighlighter-params"
NO_LANGUAGES = name_set(
    "default none plain plaintext text txt output literal literal-block block wrapper wrap code "
    "notranslate nohighlight fallback highlight source-code example nowrap linenums tab"
)
EXAMPLES = name_set("example listing")  # classes of a box whose other class is a language
MAX_INSIDE = 3  # levels inside a code block to search for its language
MAX_ABOVE = 3  # elements around a code block to search for its language
CODE_BOX_WORDS = name_set("fragment highlight code codeblock syntaxhighlighter container listing")
COPY_WORDS = name_set("copy clipboard")  # class words of a control in a code block
LINE_WORDS = name_set("line codeline")  # class words of an element that is a line of code


def code_language(node: Node) -> str:
    """Return the language that a code block, its code or an enclosing element specifies, or ""."""
    nearest = [node]
    while len(nearest) <= MAX_INSIDE:
        inside = [child for child in nearest[-1].children if isinstance(child, Node)]
        code = next((child for child in inside if child.tag in ("pre", "code")), None)
        if not code:
            break
        nearest.append(code)
    nearest.sort(key=lambda element: not any(map(element.attributes.get, LANGUAGE_NAMES)))
    boxes = [element for element in ancestors(node)[1:] if element.tag not in TABLE_PARTS]
    above = boxes[:MAX_ABOVE]  # skip parts of tables: a table may put line numbers next to the code
    for element in nearest + above:
        get = element.attributes.get
        name = next(filter(None, map(get, (*LANGUAGE_NAMES, "language"))), "").strip()
        if not name or name.lower() in NO_LANGUAGES:
            names = f"{get('class', '')} {get(CONFLUENCE, '')}"
            name = class_language(names, element in nearest)
        if language := re.sub(r"[^A-Za-z0-9+#_-]", "", name[:20]):
            return language
    return ""


@functools.lru_cache(maxsize=1024)  # one box may contain a thousand code blocks
def class_language(names: str, is_code: bool) -> str:
    """Return the language that a class attribute such as "language-python" names, or "".

    is_code: whether this is the class of the code itself, where a bare "rust" also counts.
    """
    of_code = re.findall(_OF_CODE, names) if is_code else []
    for language in re.findall(_CODE_LANGUAGE, names) + of_code:
        if language.lower() not in NO_LANGUAGES:
            return str(language)
    is_code = is_code or not EXAMPLES.isdisjoint(names.split())
    words = re.findall(_CODE_LANGUAGE_ALSO, names) + (names.split() if is_code else [])
    return next((word for word in words if word.lower() in LANGUAGES), "")


def is_code_box(node: Node) -> bool:
    """Return whether an element without a pre is a code box, whose children are lines of code."""
    if words_of(node).isdisjoint(CODE_BOX_WORDS):
        return False
    lines = shown_children(node)
    is_lines = all(
        line.tag == "div" and words_of(line) & LINE_WORDS and not line.has_block for line in lines
    )
    return bool(lines) and is_lines


def has_lines(node: Node) -> bool:
    """Return whether an element's children are lines of code without text between them.

    Style sheets display line elements, and several code elements in a pre, as blocks.
    """
    lines = shown_children(node)
    if len(lines) < 2 or any(
        isinstance(child, str) and child.strip(" ") for child in node.children
    ):
        return False
    if all(line.tag == "code" for line in lines):
        return True
    return all(line.tag == "span" and words_of(line) & LINE_WORDS for line in lines)


def has_only_blocks(node: Node) -> bool:
    """Return whether all text in an element is in blocks."""
    shown = shown_children(node)
    if not any(child.tag in BLOCKS for child in shown):
        return False
    is_own = any(isinstance(child, str) and child.strip() for child in node.children)
    return not (is_own or any(child.chars and child.tag not in BLOCKS for child in shown))


def shown_children(node: Node) -> list[Node]:
    """Return an element's children that are elements and not dropped."""
    return [child for child in children_of(node) if is_shown(child)]


def collect_code(node: Node, parts: list[str]) -> None:
    """Append the exact text of a pre element to parts; end lines after rows and line elements."""
    # Browsers do not show the source's line breaks between the line elements of a box.
    is_box = has_only_blocks(node)
    is_lines = not is_box and has_lines(node)
    before_child: Node | str = ""
    for child in node.children:
        last, before_child = before_child, child
        if isinstance(child, str):
            is_numbered = (
                isinstance(last, Node)
                and last.tag != "br"
                and not (is_shown(last) and last.children)
            )
            text = child.removeprefix("\xa0") if is_numbered else child  # Doxygen's lines
            if not (is_box and child.isspace() and "\n" in child):
                parts.append(text.replace("\r\n", "\n"))
        elif child.tag == "br":
            parts.append("\n")
        elif child.tag == "img":  # the number of an explanation below
            number = child.attributes.get("alt", "").strip("()")
            parts.append(f"({number})" if number.isdigit() else "")
        elif is_shown(child) and words_of(child).isdisjoint(COPY_WORDS):
            ends_line = is_lines or (child.tag in BLOCKS and child.tag not in CELLS)
            if ends_line and parts and not parts[-1].endswith("\n"):
                parts.append("\n")
            before = len(parts)
            collect_code(child, parts)
            is_empty_row = child.tag == "tr" and len(parts) == before
            if is_empty_row or (ends_line and parts and not parts[-1].endswith("\n")):
                parts.append("\n")
