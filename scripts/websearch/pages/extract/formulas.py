"""Write each formula of a page once, as TeX between $ characters.

A page often contains a formula several times: as MathML for screen readers, as drawn boxes for
browsers, as TeX in an attribute or script. If the page has TeX, it is used; otherwise the MathML is
converted (mathml.py). The run time is linear, because each element is read once.
"""

from __future__ import annotations

import functools
import itertools
import re

from websearch.base.html_tree import MATHML, MAX_VALUE_CHARS, Node, name_set, text_beginning
from websearch.base.untrusted import unescape
from websearch.pages.extract.mathml import MAX_MATHML, mathml_tex

FORMULA = "#formula"  # tag of an element that contains a formula's TeX; pages cannot use it
UNREADABLE = "[formula]"
MAX_TEX = 20_000  # characters of a formula; a longer formula is unreadable
MAX_NUMBER = 20  # characters of an equation's number
ROW, NUMBER = "ltx_eqn_row", "ltx_eqn_eqno"  # LaTeXML's classes for an equation's row and number
# Complete class names of the element around a formula in KaTeX, MathJax, MediaWiki and Hurmet.
BOXES = name_set(
    "katex katex-display mjx-container mjx-chtml MathJax MathJax_Display MathJax_Preview "
    "MathJax_SVG MathJax_SVG_Display MathJax_CHTML MJXc-display mwe-math-element hurmet-tex"
) | {ROW}
DRAWN = name_set("katex-html math mjx-math svg")  # tags and classes of a drawn formula
# Elements of running text; an element that contains them is not a formula's box.
TEXT_ELEMENTS = name_set("p h1 h2 h3 h4 h5 h6 ul ol dl table pre article section main form")
# Classes for TeX that a script will draw, \(x\); used by Pandoc, Arithmatex and Stack Exchange.
RAW_CLASSES = name_set("math arithmatex math-container")
SURE_ATTRIBUTES = ("data-math", "data-latex", "data-tex")
TEX_ATTRIBUTES = (*SURE_ATTRIBUTES, "data-expr", "data-entry")  # the last two also have other uses
SOURCE_TAGS = name_set("math img script mjx-container")
LITERAL = name_set("pre code script style textarea title kbd samp tt xmp math svg")
# Values of TEX_ATTRIBUTES that are not TeX: a switch, or data.
_NO_TEX = r"(?:true|false|yes|no|on|off|\d|inline|block|display|\[?\{\s*[\"'].*)"
_SURE_TEX = r"\\[a-zA-Z]|\^|_\{"
_TEX = r"\\[a-zA-Z]+\s*[{_^(\\]|[_^]\{|^\\[(\[]|^\$.+\$$|^\\[a-zA-Z]+$"  # TeX in an image's alt
_IMAGE_CLASS = r"(?i)(?:^|[\s-])(?:latex|math|tex|mwe-math|equation|formula)(?:$|[\s-])"
# URLs of images that contain TeX as the query, as a query value or as the file name.
_IMAGE_QUERY = r"(?i)(?:codecogs\.com/[^?]{1,40}|(?:math|mime)tex\.cgi)\?(.+)"
_IMAGE_VALUE = r"(?i)[?&](?:latex|tex|math|formula|chl)=([^&]+)"
_IMAGE_NAME = r"(?i)%5C[a-z]+(?:%7B|%5E|[{^])"
_IMAGE_LOOK = r"&space;|\\(?:inline|dpi\{\d+\}|(?:bg|fg)_\w+)"
_DISPLAY = r"(?i)(?<!inline)(?:^|[\s_-])(?:display|block)(?:$|\s)"  # in a class attribute
_ANNOTATION = r"(?i)<(?:\w{1,9}:)?annotation\s([^<>]*)>"
_RAW = r"(?s)\s*(?:\\\(.*\\\)|\\\[.*\\\]|\$.+\$)\s*"
_WRAPPED = r"\$\$(.*)\$\$|\$(.*)\$|\\\[(.*)\\\]|\\\((.*)\\\)|\{\\(?:display|text)style\b(.*)\}"
_DELIMITED = r"(\\\((?:[^\\]|\\[^()]){1,2000}\\\)|\\\[(?:[^\\]|\\[^\[\]]){1,4000}\\\])"
_COMMENT = r"(?<!\\)%[^\n]*(?:\n|$)"
_MARKUP = r"(?<=<)(?=[a-zA-Z/!?])|(?<=\])(?=[(\[])|(?<=!)(?=\[)"  # Markdown that a space breaks


# ===== which elements are formulas ================================================================


def read_formulas(nodes: list[Node]) -> list[Node]:
    """Return a page's elements in order, with each formula as a FORMULA element without children.

    nodes: the elements in document order. A box keeps its position; the elements in it are omitted.
    """
    kept: list[Node] = []
    is_scripted = any(map(is_math_program, nodes))
    around: set[Node] | None = None
    twins: set[Node] = set()
    start = 0
    while start < len(nodes):
        node = nodes[start]
        kept.append(node)
        start += 1
        if is_scripted and node.tag not in LITERAL:
            kept += split_formulas(node)
        if not may_be_formula(node):
            continue
        if around is None:
            around, twins = around_text(nodes), twins_of_scripts(nodes)
        source = tex_of(node)
        if node in around or not (source[1] or is_box(node)):
            continue
        inside, end = {node}, start
        while end < len(nodes) and nodes[end].parent in inside:
            inside.add(nodes[end])
            end += 1
        below, start = nodes[start:end], end
        if ROW in classes_of(node):
            kept.append(write_row(node, below))
        elif node in twins:
            node.children, node.attributes = [], {}
        elif not put_formula(node, [node, *below], [source, *map(tex_of, below)]):
            kept += below
    return kept


def is_math_program(node: Node) -> bool:
    """Return whether an element loads a script that draws TeX in a page's text."""
    source = node.attributes.get("src", "") if node.tag == "script" else ""
    return re.search(r"(?i)mathjax|katex", source) is not None


def split_formulas(node: Node) -> list[Node]:
    """Turn TeX between backslash delimiters in an element's own text into formulas; return them."""
    found: list[Node] = []
    children: list[Node | str] = []
    for child in node.children:
        if isinstance(child, Node) or "\\" not in child:
            children.append(child)
            continue
        for place, part in enumerate(re.split(_DELIMITED, child)):
            if place % 2 == 0:
                children.append(part)
                continue
            formula = Node(FORMULA, {}, node)
            formula.children = [formula_text(part, part.startswith("\\["))]
            found.append(formula)
            children.append(formula)
    node.children = children
    return found


def may_be_formula(node: Node) -> bool:
    """Return whether an element may be a formula; a quick test, called for every element."""
    if node.tag in SOURCE_TAGS:
        return node.tag != "script" or is_script(node)
    attributes = node.attributes
    if "class" in attributes and has_formula_class(attributes["class"]):
        return True
    return bool(attributes) and any(name in attributes for name in TEX_ATTRIBUTES)


@functools.lru_cache(maxsize=4096)
def has_formula_class(names: str) -> bool:
    """Return whether a class attribute has a class of BOXES or RAW_CLASSES."""
    classes = names.split()
    return not (BOXES.isdisjoint(classes) and RAW_CLASSES.isdisjoint(classes))


def around_text(nodes: list[Node]) -> set[Node]:
    """Return the elements around running text, which are not formula boxes."""
    around: set[Node] = set()
    for node in nodes:
        parent = node.parent if node.tag in TEXT_ELEMENTS else None
        while parent and parent not in around:
            around.add(parent)
            parent = parent.parent
    return around


def is_box(node: Node) -> bool:
    """Return whether an element is a formula or the box around a formula."""
    return node.tag in ("math", "mjx-container") or not BOXES.isdisjoint(classes_of(node))


def classes_of(node: Node) -> list[str]:
    """Return the classes of an element."""
    return node.attributes["class"].split() if "class" in node.attributes else []


def is_script(node: Node) -> bool:
    """Return whether an element is a script that contains a formula for MathJax 2."""
    return node.tag == "script" and node.attributes.get("type", "").lower().startswith("math/")


def is_display(node: Node) -> bool:
    """Return whether an element marks its formula as displayed, not inline."""
    get = node.attributes.get
    if get("display") in ("block", "true") or "mode=display" in get("type", ""):
        return True
    return re.search(_DISPLAY, get("class", "")) is not None


def twins_of_scripts(nodes: list[Node]) -> set[Node]:
    """Return the boxes that MathJax 2 puts directly before the scripts that contain their TeX."""
    twins: set[Node] = set()
    for parent in {node.parent for node in nodes if is_script(node)}:
        before: list[Node] = []
        for child in parent.children if parent else ():
            if isinstance(child, str):
                before = [] if child.strip() else before
            elif is_script(child):
                twins.update(before)
                before = []
            else:
                before = [*before, child] if is_box(child) else []
    return twins


# ===== finding the TeX ============================================================================


def tex_of(node: Node) -> tuple[int, str]:
    """Return (rank, TeX or "") for an element without its descendants; the lowest rank is best."""
    mathml = node.attributes.get(MATHML, "")
    if is_script(node) and node.children:
        mathml = str(node.children[0])
        if "mml" not in node.attributes["type"]:
            return 2, re.sub(r"^\s*<!\[CDATA\[|\]\]>\s*$", "", mathml).strip()
    if mathml or node.tag == "math":
        annotation, alt = annotated_tex(mathml), whole_value(node, "alttext")
        return (0, annotation) if annotation else (1, alt) if alt else (5, mathml_tex(mathml))
    value = attribute_tex(node)
    return (3, value) if value or node.tag != "img" else (4, image_tex(node))


def annotated_tex(mathml: str) -> str:
    """Return the TeX in an annotation of MathML, or ""."""
    for found in re.finditer(_ANNOTATION, mathml):
        if re.search(r"(?i)encoding=[\"']?[^\"']{0,40}tex", found[1]):
            end = mathml.find("</", found.end())
            return unescape(mathml[found.end() : end if end >= 0 else len(mathml)]).strip()
    return ""


def attribute_tex(node: Node) -> str:
    """Return the TeX in an element's attributes, or in its text if a script will draw it."""
    for name in TEX_ATTRIBUTES:
        value = whole_value(node, name) if name in node.attributes else ""
        is_sure = value and (name in SURE_ATTRIBUTES or re.search(_SURE_TEX, value))
        if is_sure and not re.fullmatch(_NO_TEX, value):
            return value
    is_raw = len(node.children) == 1 and not RAW_CLASSES.isdisjoint(classes_of(node))
    text = str(node.children[0]) if is_raw else ""
    return text if text and re.fullmatch(_RAW, text) else ""


def whole_value(node: Node, name: str) -> str:
    """Return an attribute's value; "" if it is so long that it may have been truncated."""
    value = node.attributes.get(name, "").strip()
    return value if len(value) < MAX_VALUE_CHARS else ""


def image_tex(node: Node) -> str:
    """Return the TeX of a formula's image from its alt text or URL, or ""."""
    from urllib.parse import unquote, unquote_plus

    alt, address = whole_value(node, "alt"), node.attributes.get("src", "")
    if re.search(_TEX, alt):
        return alt
    if found := re.search(_IMAGE_QUERY, address):
        return re.sub(_IMAGE_LOOK, " ", unquote(found[1]))
    found = re.search(_IMAGE_VALUE, address)
    if found and ("chl=" not in found[0] or "cht=tx" in address):  # not a different kind of chart
        return unquote_plus(found[1])
    name = re.split(r"[?#]", address, maxsplit=1)[0].rpartition("/")[2]
    if re.search(_IMAGE_NAME, name):
        return unquote(name)
    is_named = re.search(_IMAGE_CLASS, node.attributes.get("class", ""))
    return alt if is_named and not re.search(r"[^\W\d_]{4}", alt) else ""


# ===== writing ====================================================================================


def put_formula(node: Node, inside: list[Node], sources: list[tuple[int, str]]) -> bool:
    """Turn an element into a FORMULA with its best source; return False if it contains no formula.

    inside: the element and its descendants.
    """
    tex = min((source for source in sources if source[1]), default=(9, ""))[1]
    if not tex and not any(map(is_drawn, inside)):
        return False
    is_block = tex.startswith(("$$", r"\[")) or node.tag == "div" or any(map(is_display, inside))
    kept = {key: value for key, value in node.attributes.items() if key in ("style", "hidden")}
    node.tag, node.attributes = FORMULA, kept
    node.children = [formula_text(tex, is_block)]
    return True


def is_drawn(node: Node) -> bool:
    """Return whether an element draws a formula, as MathML with text does."""
    if node.tag == "math":
        pieces = node.attributes.get(MATHML, "")[:MAX_MATHML].split("<")
        return any(piece.partition(">")[2].strip() for piece in pieces)
    return not DRAWN.isdisjoint((node.tag, *classes_of(node)))


def write_row(row: Node, below: list[Node]) -> Node:
    """Turn a row of LaTeXML's equations into a numbered display formula; return the formula."""
    sources = [tex_of(node)[1] for node in below if node.tag == "math"]
    parts = [re.sub(r"^\\displaystyle\b", "", source) for source in sources]
    numbers = [text_beginning(node, MAX_NUMBER) for node in below if NUMBER in classes_of(node)]
    number = re.sub(r"[^a-zA-Z0-9().-]", "", "".join(numbers))
    formula = Node(FORMULA, {}, row)
    formula.children = [f"{formula_text(' '.join(parts), True)} {number}".strip()]
    row.children = [formula]
    parent: Node | None = row
    while parent and parent.tag in ("table", "thead", "tbody", "tr"):
        parent.tag = "div"
        parent = parent.parent
    return formula


def mathml_text(mathml: str, is_block: bool = False) -> str:
    """Return the source of a math element as Markdown: $x^{2}$.

    TeX from an annotation is preferred. is_block: whether the formula is displayed ($$x$$).
    """
    return formula_text(annotated_tex(mathml) or mathml_tex(mathml), is_block)


def formula_text(tex: str, is_block: bool) -> str:
    """Return TeX between $ characters on one line, without Markdown markup."""
    tex = " ".join(re.sub(_COMMENT, "", tex).split())
    if found := re.fullmatch(_WRAPPED, tex):
        inner = next(part for part in found.groups() if part is not None)
        depths = itertools.accumulate((letter == "{") - (letter == "}") for letter in inner)
        tex = inner.strip() if min(depths, default=0) >= 0 else tex
    if not tex or len(tex) > MAX_TEX:
        return UNREADABLE
    tex = re.sub(_MARKUP, " ", re.sub(r"(?<!\\)\$", "", tex).replace("`", "'"))
    return f"$${tex}$$" if is_block else f"${tex}$"


def on_one_line(formula: str) -> str:
    """Return a formula for use within a line; replace bars, because they end table cells."""
    formula = formula.replace("$$", "$").replace("\\|", "\\Vert ").replace("|", "\\vert ")
    return re.sub(r" (?=\$$)", "", formula)
