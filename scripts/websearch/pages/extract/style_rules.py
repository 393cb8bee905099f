"""Compute the styles that a page's <style> elements and style attributes set for an element.

Selectors of tags, classes, ids, attributes, their combinations and descendants are supported. Rules
with other selectors and rules inside @media are never applied, but may_set() considers them.
"""

from __future__ import annotations

import re
import zlib

from websearch.base.html_tree import Node, name_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Styles = dict[str, str]

MAX_CSS = 500_000  # characters of a page's style elements
MAX_RULES = 5_000  # rules per page
MAX_STEPS = 200_000  # comparisons of rules with elements; after these, no more rules apply
MAX_DEPTH = 6  # parts of a selector
FILTER_BITS = 2_048  # bits in the set of names around an element
MAX_BLOCK = 2_000  # characters of the selectors, and of the declarations, in a hiding rule
# Properties that decide whether text is visible, or suggest that a script changes this.
SEEN_BY = name_set(
    "opacity font-size text-indent position left right top margin-left clip clip-path width height "
    "max-width max-height overflow transform filter color background background-color "
    "background-image background-clip -webkit-background-clip -webkit-text-fill-color text-shadow "
    "transition animation animation-name will-change transition-property"
)
_COMPOUND = (
    r"([a-zA-Z][\w-]{0,40}|\*)?"
    r"((?:[.#][\w-]{1,100}|\[[\w-]{1,40}(?:[~|^$*]?=[^\]]{0,100})?\])*)"
)
_SIMPLE = r"([.#])([\w-]+)|\[([\w-]+)(?:([~|^$*]?)=[\"']?([^\]\"']*)[\"']?)?\]"
# Values that may hide text, in groups, and the properties for each group; see hiding_blocks.
_HIDING_VALUE = (
    r":\s{0,3}(?:(0(?!\d)|\.\d|1(?![.\d]))|(-\d{2})|(transparent|white|black|#|rgb|hsl)"
    r"|(rect|inset|circle|polygon)|(scale|translate|opacity))"
)
_HIDING_PROPERTIES = (
    ("opacity", "font-size", "width", "height"), ("left", "right", "top", "text-indent"),
    ("color",), ("clip", "clip-path"), ("transform", "filter"),
)  # fmt: skip
_KEY = r"[.#][\w-]{1,100}"


class Rule:
    """A style sheet rule: the parts of its selector, last part first, and its styles.

    parts is empty if the selector is not supported.
    """

    __slots__ = ("parts", "styles", "weight")

    def __init__(self, selector: str, styles: Styles, order: int) -> None:
        self.parts = read_selector(selector)
        self.styles = styles
        tests = [test for part in self.parts for test in part]
        ids = sum(test[0] == "#" for test in tests)
        tags = sum(test[0] == "tag" for test in tests)
        self.weight = (ids, len(tests) - ids - tags, tags, order)


class RuleIndex:
    """Rules by the keys in the last part of their selectors, parsed on first use."""

    def __init__(self, blocks: Iterable[tuple[str, str]]) -> None:
        self.unread: dict[str, list[tuple[str, str, int]]] = {}
        self.read: dict[str, list[Rule]] = {}
        count = 0
        for head, text in blocks:
            for selector in head.split(",") if count < MAX_RULES else ():
                count += 1
                for key in selector_keys(selector):
                    entry = ("@" if head[0] == "@" else selector, text, count)
                    self.unread.setdefault(key, []).append(entry)

    def get(self, key: str) -> list[Rule]:
        """Return the rules for a key."""
        if key in self.unread:
            self.read[key] = [
                Rule(selector, styles, order)
                for selector, text, order in self.unread.pop(key)
                if (styles := declarations(text))
            ]
        return self.read.get(key, [])

    def keys(self) -> set[str]:
        """Return all keys."""
        return set(self.unread) | set(self.read)


class PageStyles:
    """The styles of a page, parsed on first use.

    nodes: the page's elements in document order.
    """

    def __init__(self, nodes: list[Node]) -> None:
        self.steps = MAX_STEPS
        self.styled: list[Node] = []
        self.has_sheets = False  # whether the page links to style sheets
        texts: list[str] = []
        for node in nodes:
            attributes = node.attributes
            if node.tag == "style":
                texts.append("".join(map(str, node.children)))
            elif "style" in attributes:
                self.styled.append(node)
            elif node.tag == "link" and "stylesheet" in attributes.get("rel", "").lower():
                self.has_sheets = True
        self.css = without_comments("\n".join(texts)[:MAX_CSS])
        self.index: RuleIndex | None = None
        self.known: dict[Node, Styles] = {}
        self.above: dict[Node, int] = {}

    def of(self, node: Node) -> Styles:
        """Return the styles that the rules and the style attribute set for an element."""
        found = self.known.get(node)
        if found is None:
            found = {}
            for rule in self.applying(node, self.rules()):
                found |= rule.styles
            if "style" in node.attributes:
                found |= declarations(node.attributes["style"])
            self.known[node] = found
        return found

    def may_set(self, node: Node, name: str) -> Iterator[str]:
        """Yield a property's values in rules that name an element's class or id but do not apply.

        Such rules are for a different state (.open .answer, .slide:hover) or screen.
        """
        for key in names_of(node):
            for rule in self.rules().get(key):
                self.steps -= 1
                if self.steps < 0 or name not in rule.styles:
                    continue
                if not rule.parts or not self.applies(rule, node):
                    yield rule.styles[name]

    def backgrounds(self) -> Iterator[str]:
        """Yield the values of all backgrounds on the page."""
        yield from re.findall(r"background(?:-color|-image)?\s{0,3}:([^;}]{0,200})", self.css)
        for node in self.styled:
            if "background" in node.attributes["style"]:
                found = declarations(node.attributes["style"])
                yield from (value for name, value in found.items() if name.startswith("background"))

    def suspects(self, nodes: list[Node], may_hide: Callable[[Styles], bool]) -> list[Node]:
        """Return the elements that a block of declarations may hide if no other style applies."""
        value = re.compile(_HIDING_VALUE)
        found = {
            node
            for node in self.styled
            if value.search(node.attributes["style"])
            and may_hide(declarations(node.attributes["style"]))
        }
        blocks = [block for block in hiding_blocks(self.css) if may_hide(declarations(block[1]))]
        if blocks:
            found |= self.named_elements(nodes, RuleIndex(blocks))
        return [node for node in nodes if node in found] if found else []

    def named_elements(self, nodes: list[Node], index: RuleIndex) -> set[Node]:
        """Return the elements with content to which a rule in an index applies."""
        keys = index.keys()
        has_key: dict[str, bool] = {}  # per class attribute, because these repeat
        others = {key.partition(" ")[2] for key in keys if key[0] != "."}
        found = set()
        for node in nodes:
            attributes = node.attributes
            classes = attributes.get("class", "")
            if classes not in has_key:
                has_key[classes] = any(f". {name}" in keys for name in classes.split())
            is_near = has_key[classes] or node.tag in others
            if not is_near and others and attributes:
                is_near = attributes.get("id") in others or not others.isdisjoint(attributes)
            if is_near and node.children and self.applying(node, index):
                found.add(node)
        return found

    def rules(self) -> RuleIndex:
        """Return the rules of the page."""
        if self.index is None:
            self.index = RuleIndex(style_blocks(self.css))
        return self.index

    def applying(self, node: Node, index: RuleIndex) -> list[Rule]:
        """Return the rules in an index that apply to an element, least specific first."""
        matched = [
            rule
            for key in (keys_of(node) if self.steps > 0 else ())
            for rule in index.get(key)
            if rule.parts and self.applies(rule, node)
        ]
        return sorted(matched, key=lambda rule: rule.weight) if len(matched) > 1 else matched

    def applies(self, rule: Rule, node: Node) -> bool:
        """Return whether a rule's selector matches an element."""
        self.steps -= 1
        if self.steps < 0 or not all(passes(test, node) for test in rule.parts[0]):
            return False
        above = node.parent
        wanted = 0
        for part in rule.parts[1:]:
            wanted |= bits_of([f"{part[-1][0]} {part[-1][1]}"]) if part else 0
        if wanted and wanted & ~self.keys_above(node):
            return False
        for part in rule.parts[1:]:
            while above and not all(passes(test, above) for test in part):
                above = above.parent
                self.steps -= 1
            if not above:
                return False
            above = above.parent
        return True

    def keys_above(self, node: Node) -> int:
        """Return the combined bits_of the keys of all elements around an element."""
        missing: list[Node] = []
        around = node.parent
        while around and around not in self.above:
            missing.append(around)
            around = around.parent
        bits = self.above[around] if around else 0
        for outer in reversed(missing):
            bits = self.above[outer] = bits | bits_of(keys_of(outer))
        return bits


def bits_of(keys: list[str]) -> int:
    """Return a small set of keys as bits; two keys may share a bit, as in browsers' filters.

    A set of names for each element would need memory that is quadratic in the page.
    """
    bits = 0
    for key in keys:
        bits |= 1 << zlib.crc32(key.encode("utf-8", "replace")) % FILTER_BITS
    return bits


def without_comments(css: str) -> str:
    """Return a style sheet without its comments."""
    if "/*" not in css:
        return css
    first, *others = css.split("/*")
    return first + "".join(piece.partition("*/")[2] for piece in others)


def hiding_blocks(css: str) -> list[tuple[str, str]]:
    """Return the selectors and declarations of blocks with a value that may hide text.

    Search for the values first, because most style sheets are long and contain few of them.
    """
    blocks: list[tuple[str, str]] = []
    last = -1
    for found in re.finditer(_HIDING_VALUE, css):
        start = found.start()
        properties = _HIDING_PROPERTIES[(found.lastindex or 1) - 1]
        if start < last or not css[start - 12 : start].rstrip().endswith(properties):
            continue
        begin = css.rfind("{", max(0, start - MAX_BLOCK), start)
        last = css.find("}", start, start + MAX_BLOCK)
        if begin > 0 and last > 0:
            before = max(css.rfind(mark, max(0, begin - MAX_BLOCK), begin) for mark in "{};")
            blocks.append((css[before + 1 : begin].strip() or "*", css[begin + 1 : last]))
    return blocks


def style_blocks(css: str) -> Iterator[tuple[str, str]]:
    """Yield the selectors and declarations of a style sheet; selectors in @media begin with "@"."""
    depth, head = 0, ""
    for piece in re.findall(r"[^{}]*[{}]?", css):
        text, mark = (piece[:-1], piece[-1:]) if piece[-1:] in ("{", "}") else (piece, "")
        if mark == "{":
            head = text.rpartition(";")[2].strip()
            head = f"@ {head}" if depth and head[:1] != "@" else head
            depth += 1
        elif mark == "}":
            if head:
                yield head, text
            depth, head = max(0, depth - 1), ""


def selector_keys(selector: str) -> list[str]:
    """Return the keys in the last part of a selector: its classes and ids, or an attribute or tag.

    Rules with :focus do not count, because they are for links that only the keyboard reaches.
    """
    parts = selector.split()
    if not parts or ":focus" in selector:
        return []
    names = re.findall(_KEY, parts[-1])
    if names:
        return [f"{name[0]} {name[1:]}" for name in names]
    last = re.fullmatch(_COMPOUND, parts[-1])
    tests = compound_tests(last[1], last[2]) if last else []
    return [" ".join(tests[-1][:2])] if tests else []


def read_selector(selector: str) -> list[list[tuple[str, ...]]]:
    """Return the tests for a selector's parts, last part first; [] if it is not supported."""
    compounds = selector.split()
    if len(compounds) > MAX_DEPTH:
        return []
    read = [re.fullmatch(_COMPOUND, compound) for compound in compounds]
    parts = [compound_tests(found[1], found[2]) for found in reversed(read) if found]
    return parts if len(parts) == len(read) and parts and parts[0] else []


def compound_tests(tag: str | None, rest: str) -> list[tuple[str, ...]]:
    """Return the tests in a part of a selector: (kind, name, operator, value), tag first."""
    tests: list[tuple[str, ...]] = [("tag", tag.lower())] if tag and tag != "*" else []
    for sign, name, attribute, operator, value in re.findall(_SIMPLE, rest):
        tests.append((sign, name) if sign else ("[", attribute.lower(), operator, value))
    return tests


def names_of(node: Node) -> list[str]:
    """Return an element's classes and id as rule keys."""
    names = [f". {name}" for name in dict.fromkeys(node.attributes.get("class", "").split())]
    return [*names, f"# {node.attributes['id']}"] if "id" in node.attributes else names


def keys_of(node: Node) -> list[str]:
    """Return the keys of the rules that may apply to an element."""
    others = [f"[ {name}" for name in node.attributes]
    return [f"tag {node.tag}", *names_of(node), *others]


def passes(test: tuple[str, ...], node: Node) -> bool:
    """Return whether an element passes a test for a tag, class, id or attribute."""
    kind, name = test[:2]
    if kind == "tag":
        return node.tag == name
    if kind == ".":
        classes = node.attributes.get("class", "")
        return name in classes and name in classes.split()
    if kind == "#":
        return node.attributes.get("id") == name
    value = node.attributes.get(name)
    if value is None or test[2] not in ("", "^", "$", "*", "~"):
        return False
    wanted = test[3]
    return {
        "": not wanted or value == wanted,
        "^": value.startswith(wanted),
        "$": value.endswith(wanted),
        "*": wanted in value,
        "~": wanted in value.split(),
    }[test[2]]


def declarations(text: str) -> Styles:
    """Return the properties in SEEN_BY that a list of declarations sets, in lower case."""
    found: Styles = {}
    for declaration in text.split(";") if ":" in text else ():
        name, _, value = declaration.partition(":")
        name = name.strip().lower()
        if name in SEEN_BY:
            found[name] = value.replace("!important", "").strip().lower()
    return found
