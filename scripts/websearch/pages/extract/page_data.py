"""Read the text in the data and Markdown that a page contains for its scripts.

Frameworks put the content of a page into it a second time as data: Next.js as JSON or as a React
server payload, Nuxt as JSON or JavaScript, others as an assignment to a variable. If the page
shows hardly any text, its data replaces it. Slides and notes are often Markdown that a script of
the page converts: reveal.js, remark, HedgeDoc, Editor.md. No script is run here.
"""

from __future__ import annotations

import itertools
import json
import re
import textwrap

from websearch.pages.extract.content import Content
from websearch.pages.extract.element_names import is_hidden
from websearch.pages.extract.markdown import content_markdown
from websearch.pages.extract.page_tree import PageTree
from websearch.pages.extract.script_data import (
    MAX_DEPTH,
    MAX_VALUES,
    NEXT_PUSH,
    is_flat,
    parse_json,
    payload_rows,
    pushed_text,
    quoted_texts,
    rows_as_html,
    short_number,
    unflatten,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.base.html_tree import Node

SCRIPT_TYPES = ("text/markdown", "text/x-markdown")
# A line of Markdown that is not a paragraph.
_MARKDOWN_LINE = r"(?m)^[ \t]{0,9}(?:#{1,6} |[-*+] |\d{1,3}[.)] |```|\|.|> )"
MIN_LINES = 3  # such lines that make a text Markdown
MAX_SCRIPTS = 200  # scripts to examine per page
MAX_TEXT = 500_000  # characters of text per value
MAX_NAME_OFFSET = 2_000  # characters of a script to search for its variable
MIN_WORDS = 8  # words that make a text prose under any name
MIN_NAMED_WORDS = 3  # words that make a text prose under a name in _TEXT_NAMES
MIN_LETTERS = 0.7  # share of letters and spaces in prose; code and URLs have less
MAX_WORD = 25  # mean characters per word; longer words are URLs, hashes and class names
MAX_TITLE = 200  # characters
MAX_VALUE, MAX_VALUES_TEXT = 200, 5_000  # characters of one value, and of all values
_CODED = r"://|[<>{}]"  # characters of URLs and markup
VARIABLE = r"\b__\w{1,60}\s{0,9}=[^=]"
# Names of values that are not page content.
_OTHER_VALUES = (
    r"(?i)^(?:_?(?:seo|meta\w*|i18n|locales?|translations?|messages|labels|dictionary|footer\w*|"
    r"header|nav\w*|menu\w*|cookie\w*|consent\w*|config\w*|runtimeConfig|env|query|params|css|"
    r"styles?|class(?:Name)?|scripts?|tracking|analytics|alt\w*|captions?|credits?|schema\w*|"
    r"json_?ld|breadcrumbs?|related\w*|recommend\w*|recirculation|popular\w*|trending|sidebar\w*|"
    r"advert\w*|ads?|newsletter\w*|copyright|legal|errors?|og\w*|twitter\w*|features?|flags))$"
)
_TEXT_NAMES = (
    r"(?i)(?:text|body|content|html|markdown|paragraph|description|summary|excerpt|abstract|"
    r"answer|value|article|lead|intro|instructions?|review)"
)
_TITLE_NAMES = ("title", "headline", "heading", "name")
_MARKUP = r"(?i)<(?:p|div|h[1-6]|[uo]l|li|br|table|section|article|blockquote|pre|strong|em|a)\b"
_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"  # writing systems without spaces between words
_HEADING = r"\bh(?:eading)?[-_ ]?([1-6])\b"
# Fields of a piece of rich text: its text, its styles and the editor's bookkeeping.
_PIECE_FIELDS = frozenset(
    "text value type nodeType _type _key marks data bold italic underline code strikethrough "
    "detail format mode style version".split()
)


def data_markdown(html: str, page: PageTree, base: str, keep_links: bool) -> str:
    """Return the text in a page's data or noscript elements, or "".

    If several places have text, the longest text is used, because the others are parts of it.
    base: URL to which links are relative.
    """

    def markdown(fragment: str) -> str:
        inner = PageTree(fragment)
        return content_markdown(Content(inner, inner.root, []), base, keep_links)[0].strip()

    texts = [markdown(longest_noscript(html))]
    pushed: list[str] = []
    for text, attributes in scripts_of(page):
        if "json" in attributes.get("type", "") and "ld+json" not in attributes["type"]:
            texts.append(json_text(text, markdown))
        elif NEXT_PUSH in text[:MAX_NAME_OFFSET]:
            pushed.append(text)
        elif variable := re.search(VARIABLE, text[:MAX_NAME_OFFSET]):
            texts.append(script_text(text, variable.end() - 1, markdown))
    if pushed:
        rows = payload_rows([pushed_text(script) for script in pushed])
        texts += [markdown(rows_as_html(rows)), prose_of(list(rows.values()), markdown)]
    return max(texts, key=len)


def with_sources(page: PageTree, text: str) -> str:
    """Return the text of a page with the Markdown that a script of the page would convert.

    Markdown that the page shows as it is replaces the text if it is most of it, because its lines
    are lost in the text. Markdown in hidden elements follows, unless the text contains it.
    """
    slides, hidden, shown = markdown_sources(page)
    source = "\n\n".join(shown)
    text = source if len(source) * 2 > len(text) else text
    letters = re.sub(r"\W+", "", text)
    for source in hidden:
        longest = max(source.split("\n"), key=len)
        if re.sub(r"\W+", "", longest) not in letters:
            slides.append(source)
    return "\n\n".join(filter(None, (text, *slides)))


def markdown_sources(page: PageTree) -> tuple[list[str], list[str], list[str]]:
    """Return the Markdown of slides, in hidden elements, and in elements that show it as text."""
    slides: list[str] = []
    hidden: list[str] = []
    shown: list[str] = []
    for node in page.nodes:
        text = node.children[0] if len(node.children) == 1 else ""
        if not isinstance(text, str) or "\n" not in text:
            continue
        get, parent = node.attributes.get, node.parent
        if node.tag in ("script", "textarea") and parent and "data-markdown" in parent.attributes:
            found = slides
        elif node.tag == "script":
            found = slides if get("type", "").lower() in SCRIPT_TYPES else []
        elif len(re.findall(_MARKDOWN_LINE, text)) < MIN_LINES:
            continue
        elif node.tag == "textarea":
            found = hidden if get("id") == "source" or is_hidden(node.attributes) else []
        else:
            found = shown if node.tag in ("div", "article", "xmp") else []
        found.append(textwrap.dedent(text).strip())
    return slides, hidden, shown


def data_values(page: PageTree, text: str) -> str:
    """Return the values from a page's JSON scripts and microdata that its text lacks, as a list.

    Each value follows the names of its field and the enclosing field: "offers price: 12.50".
    """
    waiting: list[tuple[str, str, Any]] = [
        ("", "", parse_json(script))
        for script, attributes in scripts_of(page)
        if "json" in attributes.get("type", "")
    ]
    waiting += [
        ("", node.attributes["itemprop"], node.attributes.get("content", ""))
        for node in page.nodes
        if "itemprop" in node.attributes
    ]
    lines: dict[str, None] = {}
    room = MAX_VALUES_TEXT
    for outer, name, value in itertools.islice(waiting, MAX_VALUES):  # the loop extends waiting
        if isinstance(value, dict):
            inner = (field for field in value if not re.match(_OTHER_VALUES, field))
            waiting += [(name, field, value[field]) for field in inner if field[:1] not in "@_"]
        elif isinstance(value, list):
            waiting += [(outer, name, item) for item in value]
        elif room > 0 and (shown := shown_value(value)) and shown not in text:
            line = f"- {' '.join(filter(None, (outer, name)))}: {shown}"[:MAX_VALUE]
            room -= len(line) if line not in lines else 0
            lines[line] = None
    return "\n".join(lines)


def shown_value(value: object) -> str:
    """Return a number or short text from a page's data; "" for switches, URLs and markup."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    shown = " ".join(str(value)[: MAX_VALUE + 1].split())
    is_readable = max(map(len, shown.split()), default=0) <= MAX_WORD
    return shown if is_readable and len(shown) <= MAX_VALUE and not re.search(_CODED, shown) else ""


# ===== places with data ===========================================================================


def longest_noscript(html: str) -> str:
    """Return the content of the page's longest noscript element, or ""."""
    opening, closing = re.compile(r"(?i)<noscript"), re.compile(r"(?i)</noscript")
    longest, match = "", opening.search(html)
    while match:
        start = html.find(">", match.end()) + 1
        end = closing.search(html, start) if start else None
        if not end:
            break
        longest = max(longest, html[start : end.start()], key=len)
        match = opening.search(html, end.end())
    return longest


def scripts_of(page: PageTree) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the text and attributes of a page's first MAX_SCRIPTS inline scripts."""
    nodes: list[Node] = [node for node in page.nodes if node.tag == "script" and node.children]
    for node in nodes[:MAX_SCRIPTS]:
        yield "".join(child for child in node.children if isinstance(child, str)), node.attributes


def json_text(text: str, markdown: Callable[[str], str]) -> str:
    """Return the prose in a JSON script; unflatten the flat list of Nuxt 3 first."""
    data = parse_json(text)
    if isinstance(data, list) and data and is_flat(data):
        data = unflatten(data)
    return prose_of(data, markdown)


def script_text(text: str, start: int, markdown: Callable[[str], str]) -> str:
    """Return the prose in the value that a script assigns; start: where the value begins.

    If the value is not JSON (Nuxt 2 calls a function), its quoted texts are used in order.
    """
    decoder = json.JSONDecoder(strict=False, parse_int=short_number)
    start += len(text[start:]) - len(text[start:].lstrip())
    try:
        return prose_of(decoder.raw_decode(text, start)[0], markdown)
    except (ValueError, RecursionError):
        pass
    return prose_of(list(quoted_texts(text, start)), markdown)


# ===== prose in data ==============================================================================


def prose_of(data: object, markdown: Callable[[str], str]) -> str:
    """Return the prose in data as Markdown; markdown: function that converts HTML to Markdown."""
    reader = ProseReader(markdown)
    reader.read(data, "", 0)
    return "\n\n".join(filter(None, reader.blocks))


class ProseReader:
    """Collects the prose in JSON data as Markdown, in order and without duplicate blocks."""

    def __init__(self, markdown: Callable[[str], str]) -> None:
        self.markdown = markdown
        self.blocks: list[str] = []
        self.known: set[str] = set()
        self.values = MAX_VALUES
        self.room = MAX_TEXT

    def read(self, value: object, name: str, depth: int) -> None:
        """Collect the prose in a value; name: name of its field."""
        self.values -= 1
        if depth > MAX_DEPTH or self.values < 0 or self.room <= 0:
            return
        if isinstance(value, str):
            self.read_text(value, name, depth)
        elif isinstance(value, list):
            for item in value:
                self.read(item, name, depth + 1)
        elif isinstance(value, dict):
            self.read_fields(value, name, depth)

    def read_fields(self, fields: dict[str, Any], name: str, depth: int) -> None:
        """Collect the prose in an object: a paragraph of rich text, or the prose in its fields."""
        pieces = rich_text_pieces(fields)
        if pieces is not None:
            text = " ".join("".join(self.inline(piece, depth) for piece in pieces).split())
            self.add(prefix_of(fields) + text if text else "")
            return
        position = len(self.blocks)
        self.blocks.append("")  # for a heading
        for inner, value in fields.items():
            if not re.match(_OTHER_VALUES, inner):
                own_name = name if inner.isdigit() else inner
                self.read(value, own_name, depth + 1)
        values = (fields.get(field) for field in _TITLE_NAMES)
        title = next((text for text in values if isinstance(text, str) and text.strip()), "")
        heading = f"## {' '.join(title.split())}"
        if len(self.blocks) == position + 1:
            self.blocks.pop()
        elif title and len(title) <= MAX_TITLE and heading not in self.known:
            self.known.add(heading)
            self.blocks[position] = heading

    def inline(self, value: object, depth: int) -> str:
        """Return the text of a piece of rich text, including nested pieces such as links."""
        self.values -= 1
        if depth > MAX_DEPTH or self.values < 0:
            return ""
        if isinstance(value, str):
            return value
        if not isinstance(value, dict):
            return ""
        text = value.get("text", value.get("value"))
        if isinstance(text, str):
            return text
        children = value.get("children", value.get("content"))
        inner = children if isinstance(children, list) else []
        return "".join(self.inline(piece, depth + 1) for piece in inner)

    def read_text(self, text: str, name: str, depth: int) -> None:
        """Collect a text if it is prose, HTML with prose or JSON with prose."""
        text = text.strip()
        if len(text) > 20 and text[0] in "{[":
            data = parse_json(text)
            if data is not None:
                self.read(data, name, depth + 1)
                return
        if "<" in text and re.search(_MARKUP, text):
            text = self.markdown(text)
        if is_prose(text, name):
            self.add(text)

    def add(self, block: str) -> None:
        """Add a block unless it is empty or a duplicate."""
        if block and block not in self.known and self.room > 0:
            self.known.add(block)
            self.blocks.append(block[: self.room])
            self.room -= len(block)


def is_prose(text: str, name: str) -> bool:
    """Return whether a text is running text, not a URL, a class name or code."""
    words = text.split()
    least = MIN_NAMED_WORDS if re.search(_TEXT_NAMES, name) else MIN_WORDS
    if len(words) < least:
        return len(re.findall(_CJK, text)) >= 2 * least
    letters = sum(letter.isalpha() or letter.isspace() for letter in text)
    return letters >= MIN_LETTERS * len(text) and len(text) <= MAX_WORD * len(words)


def kind_of(fields: dict[str, Any]) -> str:
    """Return the kind of a piece of rich text, or ""."""
    for name in ("nodeType", "_type", "type", "tag"):
        if isinstance(fields.get(name), str):
            return str(fields[name]).lower()
    return ""


def rich_text_pieces(fields: dict[str, Any]) -> list[Any] | None:
    """Return the pieces of a paragraph of rich text; None for other objects.

    Editors (Contentful, Portable Text, ProseMirror, Slate, Lexical) split a paragraph at every
    change of style.
    """
    pieces = fields.get("children", fields.get("content"))
    if not isinstance(pieces, list):
        return None
    return pieces if any(map(is_piece, pieces)) else None


def is_piece(value: object) -> bool:
    """Return whether a value is a piece of a paragraph: only text and style."""
    if not isinstance(value, dict) or not _PIECE_FIELDS.issuperset(value):
        return False
    text = value.get("text", value.get("value"))
    return isinstance(text, str) and kind_of(value) in ("", "text", "span")


def prefix_of(fields: dict[str, Any]) -> str:
    """Return the Markdown prefix of a paragraph of rich text: "## ", "> ", "- " or ""."""
    kind = kind_of(fields)
    style = fields.get("style")
    tag = fields.get("tag")
    names = " ".join(word for word in (kind, style, tag) if isinstance(word, str))
    attributes = fields.get("attrs")
    level = attributes.get("level") if isinstance(attributes, dict) else fields.get("level")
    if match := re.search(_HEADING, names):
        return "#" * int(match[1]) + " "
    if "heading" in kind:
        return "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 2) + " "
    if "quote" in names:
        return "> "
    return "- " if "listItem" in fields else ""
