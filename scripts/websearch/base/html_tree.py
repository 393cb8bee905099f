"""Read HTML into a tree of elements, in linear time for every page.

html.parser rescans the rest of the page at every unclosed tag, so 24 KB of "<a " block the
interpreter for seconds, and no deadline stops such a loop. Here, a search that finds nothing is
remembered or can fail only once, so the work grows linearly with the page.
"""

from __future__ import annotations

import re

from websearch.base.untrusted import unescape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def name_set(words: str) -> frozenset[str]:
    """Return the words in a string as a set."""
    return frozenset(words.split())


MAX_DEPTH = 120  # open elements; browsers stop at 512, and real pages stay below 80
MAX_NODES = 100_000  # elements per page; there the tree ends and is marked as cut
MAX_TAGS = 300_000  # tags per page, including end tags and comments; the tree also ends there
MAX_TAG_CHARS = 20_000  # characters read per tag; longer tags contain images as data: URLs
MAX_VALUE_CHARS = 2_000  # characters of an attribute's value; a longer value is truncated
MAX_ADDRESS_CHARS = 8_000  # characters of a value that may be a URL; a longer value is omitted
MAX_SVG_START = 2_000  # characters of an image to search for its title
MATHML = "#mathml"  # attribute that contains a math element's source
STREAMED = '<template id="B:'  # placeholder that React fills with a part from later in the page
STREAMED_END = "<!--/$-->"  # end of the content that React shows there until then
STREAM_END = "#streamend"  # attribute of an empty template that marks such an end

# fmt: off
VOID = name_set(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source "
    "track wbr")
# Elements whose content is not markup; the second group's content is kept as text.
RAW_TEXT = name_set(
    "script style textarea title iframe noembed noframes xmp template svg math mml:math")
FOREIGN = name_set("svg math mml:math")  # elements that a slash closes, as in XML
KEPT_RAW_TEXT = name_set("script style textarea title xmp")
BLOCKS = name_set(
    "address article aside blockquote body button canvas caption center col colgroup dd details "
    "dialog dir div dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header "
    "hgroup hr html iframe legend li main menu nav object ol optgroup option p pre search section "
    "select summary table tbody td template textarea tfoot th thead title tr ul video")
ENDS_PARAGRAPH = BLOCKS - name_set(
    "body button canvas caption col colgroup html iframe object optgroup option select tbody td "
    "template textarea tfoot th thead title tr video")
HEADINGS = name_set("h1 h2 h3 h4 h5 h6")
CELLS = name_set("td th")
TABLE_PARTS = name_set("table thead tbody tfoot tr td th")
SCOPES = name_set("table td th caption")
# A start tag ends an open element of the first group, unless one of the second is in between.
IMPLIED_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (name_set(ended), name_set(barrier))
    for name, ended, barrier in (
        ("li", "li", "ul ol menu dir table"),
        ("dt", "dt dd", "dl table"), ("dd", "dt dd", "dl table"),
        ("td", "td th", "tr table"), ("th", "td th", "tr table"),
        ("tr", "tr caption", "table"), ("thead", "thead tbody tfoot", "table"),
        ("tbody", "thead tbody tfoot", "table"), ("tfoot", "thead tbody tfoot", "table"),
        ("option", "option", "select"), ("optgroup", "optgroup option", "select"),
    )
}
# fmt: on
# NUL, and the noncharacters that the Markdown writers use; references to these are dropped.
NO_TEXT = "\0\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5\ufdd6"
ADDRESSES = frozenset(("href", "src", "content"))  # attributes that are useless if truncated
_TAG_NAME = r"/?([a-zA-Z][^\s/>]{0,99})"
_ATTRIBUTE = r"""([^\s/>="'][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)))?"""
_ATTRIBUTE_REFERENCE = r"&(?:#\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|[a-zA-Z][a-zA-Z0-9]{1,31};)"
_SVG_TITLE = r"(?i)<title[^<>]{0,200}>\s{0,20}([^<>]{1,200})</title"
_QUOTED_VALUE = r"""=\s*["']|>"""


# ===== elements and their attributes ==============================================================


class Node:
    """An element with its attributes, its parent and its children, which are elements and strings.

    dropped: the rule that removed it, or "". The counts exclude dropped parts. chars: characters of
    text below it; own: characters directly in it or in inline elements below; link and own_link:
    the same counts for links; prose: characters of running text outside links. has_block: whether
    there is a block element below. label: the label of the tab that shows it.
    """

    __slots__ = (
        "attributes", "chars", "children", "dropped", "has_block", "label", "link", "own",
        "own_link", "parent", "prose", "tag",
    )  # fmt: skip

    def __init__(self, tag: str, attributes: dict[str, str], parent: Node | None) -> None:
        self.tag = tag
        self.attributes = attributes
        self.parent = parent
        self.children: list[Node | str] = []
        self.dropped = ""
        self.label: Node | None = None
        self.has_block = False
        self.chars = self.link = self.own = self.own_link = self.prose = 0


def texts_below(node: Node) -> Iterator[str]:
    """Yield the text below an element in order, including dropped text, with spaces around blocks.

    Scripts, styles and templates contain no text.
    """
    waiting: list[Node | str] = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif one.tag not in ("script", "style", "template"):
            inside = one.children[::-1]
            waiting += [" ", *inside, " "] if one.tag in BLOCKS else inside


def elements_below(node: Node) -> Iterator[Node]:
    """Yield the descendants of an element in document order."""
    waiting = children_of(node)[::-1]
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting += children_of(inner)[::-1]


def children_of(node: Node) -> list[Node]:
    """Return the child elements of an element."""
    return [child for child in node.children if isinstance(child, Node)]


def text_beginning(node: Node, limit: int) -> str:
    """Return roughly the first limit characters of texts_below, on one line."""
    pieces: list[str] = []
    for text in texts_below(node):
        # At most limit runs of spaces fit in limit characters.
        pieces.append(re.sub(r"\s+", " ", text, count=limit)[:limit])
        limit -= len(pieces[-1])
        if limit <= 0:
            break
    return " ".join("".join(pieces).split())


def read_attributes(raw: str) -> dict[str, str]:
    """Return a tag's attributes by lower-case name; if a name is repeated, the first one counts.

    No value is longer than MAX_VALUE_CHARS, or MAX_ADDRESS_CHARS for ADDRESSES.
    """
    found: dict[str, str] = {}
    for name, double, single, bare in re.findall(_ATTRIBUTE, raw[:MAX_TAG_CHARS]):
        key, value = name.lower(), double or single or bare
        if key not in ADDRESSES:
            value = value[:MAX_VALUE_CHARS]
        elif len(value) > MAX_ADDRESS_CHARS:
            value = ""
        found.setdefault(key, decode_attribute(value))
    return found


def decode_attribute(value: str) -> str:
    """Return an attribute's value with its character references decoded.

    A name counts only with its semicolon: ?a=1&copy=2 is a query string, not a copyright symbol.
    """
    if "&" not in value:
        return value
    return re.sub(_ATTRIBUTE_REFERENCE, lambda found: unescape(found[0]), value)


class TreeBuilder:
    """Builds a page's tree; nodes contains its elements in document order, root first.

    cut: whether the page was truncated after MAX_NODES elements or MAX_TAGS tags.
    """

    def __init__(self, html: str) -> None:
        for character in NO_TEXT:
            html = html.replace(character, "")
        self.html = html
        self.root = Node("html", {}, None)
        self.nodes = [self.root]
        self.stack = [self.root]
        self.open: dict[str, int] = {"html": 1}  # name -> count on the stack
        self.too_deep: dict[str, int] = {}  # name -> open elements that did not fit on the stack
        self.unclosed: set[str] = set()  # names of raw text elements without a later end tag
        self.last_quote = {'"': html.rfind('"'), "'": html.rfind("'")}
        self.is_streamed = STREAMED in html
        self.is_xml = html[:MAX_SVG_START].lstrip("\ufeff \t\r\n").startswith("<?xml")
        self.cut = False

    def build(self) -> None:
        """Read the page from start to end; no character is read more than a few times.

        A "<" that does not begin a tag is text, and so is everything after the last ">".
        """
        html, find = self.html, self.html.find
        tag_name = re.compile(_TAG_NAME)
        last_end = html.rfind(">")
        comments_end = html.rfind("-->")
        position = text_start = 0
        for _ in range(MAX_TAGS):
            start = find("<", position)
            if start < 0 or start > last_end:
                self.add_text(html[text_start:])
                return
            sign = html[start + 1]
            match = None if sign in "!?" else tag_name.match(html, start + 1)
            if not match and sign not in "!?/":
                position = start + 1
                continue
            if start > text_start:
                self.add_text(html[text_start:start])
            if not match:
                position = self.end_of_comment(start, comments_end)
            elif sign == "/":
                position = find(">", match.end()) + 1
                self.end_element(match[1].lower())
            else:
                position = self.start_element(match[1].lower(), match.end())
            if self.cut:
                return
            text_start = position
        self.cut = True

    def add_text(self, text: str) -> None:
        """Append text to the innermost open element."""
        self.stack[-1].children.append(unescape(text))

    def end_of_comment(self, start: int, comments_end: int) -> int:
        """Return the end of a comment, declaration or broken end tag.

        An unclosed comment ends at its first ">".
        """
        html = self.html
        if self.is_streamed and html.startswith(STREAMED_END, start):
            sign = Node("template", {STREAM_END: ""}, self.stack[-1])
            self.stack[-1].children.append(sign)
            self.nodes.append(sign)
            return start + len(STREAMED_END)
        if html.startswith("<!--", start) and not html.startswith(("<!-->", "<!--->"), start):
            if start + 4 <= comments_end:
                return html.find("-->", start + 4) + 3
        elif html.startswith("<![CDATA[", start):
            end = html.find(">", start)
            self.add_text(html[start + 9 : end].removesuffix("]]"))
        return html.find(">", start) + 1

    def end_of_tag(self, start: int) -> int:
        """Return the offset of the ">" that ends a tag whose name ends at start.

        A ">" in a quoted value does not count, unless the quotation is never closed.
        """
        html = self.html
        end = html.find(">", start)
        if html.count('"', start, end) % 2 == 0 and html.count("'", start, end) % 2 == 0:
            return end
        position = start
        quoted_value = re.compile(_QUOTED_VALUE)
        while match := quoted_value.search(html, position):
            if match[0] == ">":
                return match.start()
            quote = match[0][-1]
            position = match.end()
            if position <= self.last_quote[quote]:
                position = html.find(quote, position) + 1
        self.last_quote = {'"': -1, "'": -1}  # the page's quotes are broken: stop searching
        return end

    def start_element(self, name: str, name_end: int) -> int:
        """Open an element; return the offset at which to continue."""
        end = self.end_of_tag(name_end)
        raw = self.html[name_end:end]
        attributes = read_attributes(raw) if len(raw) > 1 else {}
        if name in ("html", "body"):
            self.root.attributes = {**attributes, **self.root.attributes}
        if name in ("html", "body", "head"):
            return end + 1
        self.close_implied(name)
        parent = self.stack[-1]
        if len(self.stack) == MAX_DEPTH and self.changes_nothing(name):
            self.too_deep[name] = self.too_deep.get(name, 0) + 1
            return end + 1
        node = Node(name, attributes, parent)
        parent.children.append(node)
        self.nodes.append(node)
        self.cut = len(self.nodes) > MAX_NODES
        if name in VOID:
            return end + 1
        if name in RAW_TEXT and "shadowrootmode" not in attributes:
            if raw.endswith("/") and (name in FOREIGN or self.is_xml):
                return end + 1
            if name not in self.unclosed:
                return self.raw_text(node, end + 1)
        if len(self.stack) < MAX_DEPTH:
            self.stack.append(node)
            self.open[name] = self.open.get(name, 0) + 1
        else:
            self.too_deep[name] = self.too_deep.get(name, 0) + 1
        return end + 1

    def changes_nothing(self, name: str) -> bool:
        """Return whether an element that does not fit on the stack leaves the text as it is.

        Such an element has no content: a span is nothing, and a div after a div ends no more.
        """
        last = self.stack[-1].children[-1:]
        after_div = bool(last) and isinstance(last[0], Node) and last[0].tag == "div"
        return name == "span" or (name == "div" and after_div)

    def raw_text(self, node: Node, start: int) -> int:
        """Read the content of a RAW_TEXT element; return the offset at which to continue.

        Without an end tag, a script or style contains the rest of the page, unless its tag ends
        with a slash, and other elements contain nothing. Later elements of that name also contain
        nothing, so only one search is made.
        """
        html, name = self.html, node.tag
        end = start - 2
        while (end := html.find("</", end + 2)) >= 0:
            if html[end + 2 : end + 2 + len(name)].lower() == name:
                break
        if end < 0:
            self.unclosed.add(name)
            takes_rest = name in ("script", "style") and html[start - 2] != "/"
            return len(html) if takes_rest else start
        if name in KEPT_RAW_TEXT:
            text = html[start:end]
            node.children.append(text if name == "script" else unescape(text))
        elif name == "svg":
            title = re.search(_SVG_TITLE, html[start : min(end, start + MAX_SVG_START)])
            if title and "aria-label" not in node.attributes:
                node.attributes["aria-label"] = unescape(title[1])
        elif name in ("math", "mml:math"):  # some publishers write the prefix
            node.tag = "math"
            node.attributes[MATHML] = html[start:end]
        return html.find(">", end) + 1 or len(html)

    def close_implied(self, name: str) -> None:
        """Close the paragraph, list item, cell or link that this start tag ends implicitly."""
        stack = self.stack
        if name in ENDS_PARAGRAPH and self.open.get("p"):
            self.close_nearest(frozenset(("p",)), BLOCKS)
        if name in IMPLIED_ENDS:
            self.close_nearest(*IMPLIED_ENDS[name])
        elif name == "a" and self.open.get("a"):
            self.close_nearest(frozenset(("a",)), BLOCKS)
        elif name in HEADINGS and stack[-1].tag in HEADINGS:
            self.pop_to(len(stack) - 1)

    def close_nearest(self, names: frozenset[str], barrier: frozenset[str]) -> None:
        """Close the innermost open element with one of the names, unless a barrier is nearer."""
        if not any(self.open.get(name) for name in names):
            return
        for index in range(len(self.stack) - 1, 0, -1):
            tag = self.stack[index].tag
            if tag in names:
                self.pop_to(index)
                return
            if tag in barrier:
                return

    def end_element(self, name: str) -> None:
        """Close the innermost open element of this name; ignore an end tag without one.

        Only table tags close elements outside the cell or table that contains the tag.
        """
        if self.too_deep.get(name):
            self.too_deep[name] -= 1
            return
        if not self.open.get(name) or name in ("html", "body"):
            return
        barrier = frozenset(("table",)) if name in TABLE_PARTS else SCOPES
        self.close_nearest(frozenset((name,)), barrier)

    def pop_to(self, index: int) -> None:
        """Remove the stack's elements from index on."""
        for node in self.stack[index:]:
            self.open[node.tag] -= 1
        del self.stack[index:]
