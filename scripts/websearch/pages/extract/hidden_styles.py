"""Find text that a page's styles hide: transparent, tiny, clipped or off-screen text.

The styles are style attributes and the simple rules of <style> elements (style_rules). Text with
any other style counts as visible, as does text that a script, a click or the pointer usually shows.
"""

from __future__ import annotations

import re
from colorsys import hls_to_rgb

from websearch.base.html_tree import Node, name_set, texts_below
from websearch.pages.extract.element_names import HIDDEN_CLASSES, opens_by_click
from websearch.pages.extract.style_rules import PageStyles, Styles, declarations

MAX_LABEL = 80  # characters of a screen-reader text that replaces an icon
MAX_WALK = 200_000  # elements to examine below and next to suspects
FADING = 4  # kinds of transparent elements which show that a script fades in the page
FAR = 900  # pixels beyond the edge; menus that slide in are closer
# Words in names of elements that a script fades in when the reader scrolls to them.
_ANIMATED = (
    r"(?i)(?:^|[-_ ])(?:aos|wow|fade|fades|fadein|reveal|animate|animated|animation|lazy|js|sal"
    r"|gsap|scroll|appear|motion|inview|transition|slide|carousel|swiper|tooltip|dropdown|framer"
    r"|w-id)|hover|popover|preview"
)
_LENGTH = r"(-?[\d.]{1,12})(px|em|rem|vw|vh|pt|%)?"
_PIXELS = {"": 1.0, "px": 1.0, "pt": 1.3, "em": 16.0, "rem": 16.0, "vw": 10.0, "vh": 8.0}
WHITE = "#ffffff"
_COLORS = {"white": WHITE, "black": "#000000"}
_GONE = r"scale(?:3d|x|y)?\(0(?:\.0{1,9})?[%\s,)]|opacity\(0(?:\.0{1,9})?%?\)"
_NO_COLOR = ("", "none", "0", "transparent", "inherit", "initial", "unset")
_FADES = ("transition", "animation", "animation-name", "will-change", "transition-property")
_WHOLE = name_set("html body main")  # a page that hides these shows them by script


def unseen_elements(nodes: list[Node]) -> set[Node]:
    """Return the elements of a page whose text its styles hide; nodes: in document order."""
    unseen = {node for node in nodes if node.tag == "figcaption" and "hidden" in node.attributes}
    page = HiddenText(PageStyles(nodes))
    suspects = page.styles.suspects(nodes, page.may_hide)
    page.find_fading(suspects)
    for node in suspects:
        if node.parent not in page.inside and page.is_unseen(node):
            page.add(node)
            unseen.add(node)
    return unseen - wrappers(nodes) if unseen else unseen


def wrappers(nodes: list[Node]) -> set[Node]:
    """Return a page's body, its main element, its main heading and all elements around them."""
    found: set[Node] = set()
    for node in nodes:
        around: Node | None = node if node.tag in ("h1", "main", "body") else None
        if around and around.tag == "h1":
            around = around.parent
        while around and around not in found:
            found.add(around)
            around = around.parent
    return found


class HiddenText:
    """Decides which suspects are hidden; inside: the hidden elements and their descendants."""

    def __init__(self, styles: PageStyles) -> None:
        self.styles = styles
        self.inside: set[Node | None] = set()
        self.walk = MAX_WALK
        self.words: dict[Node, int] = {}  # number of words in each suspect's parent
        self.is_white: bool | None = None  # whether every background of the page is white
        self.fades = False  # whether a script fades in the page's elements

    def add(self, node: Node) -> None:
        """Add a hidden element and its descendants to inside."""
        waiting = [node]
        while waiting:
            self.inside.add(inner := waiting.pop())
            waiting += [child for child in inner.children if isinstance(child, Node)]

    def find_fading(self, suspects: list[Node]) -> None:
        """Set fades if many kinds of elements, or the main heading, are transparent."""
        looks = {
            (node.tag, node.attributes.get("class", ""))
            for node in suspects
            if is_transparent(declarations(node.attributes.get("style", ""))) and has_text(node)
        }
        self.fades = len(looks) >= FADING or any(tag == "h1" for tag, _ in looks)

    def may_hide(self, own: Styles) -> bool:
        """Return whether a block of declarations is sufficient to hide text."""
        if is_transparent(own):
            return True
        if size_name(own) or is_far_or_clipped(
            {"position": "absolute", "overflow": "hidden", **own}
        ):
            return True
        color = color_of(own.get("color", ""))
        background = own.get("background-color", own.get("background", ""))
        if not color or background:
            return bool(color) and color_of(background) == color
        return color == "transparent" or (color == WHITE and self.is_white_page())

    def is_white_page(self) -> bool:
        """Return whether a page sets only white backgrounds, so white text is invisible."""
        if self.is_white is None:
            self.is_white = not self.styles.has_sheets and all(
                color_of(value) == WHITE or value in _NO_COLOR
                for value in (
                    text.split("!")[0].strip().lower() for text in self.styles.backgrounds()
                )
            )
        return self.is_white

    def is_unseen(self, node: Node) -> bool:
        """Return whether a browser hides an element and no script or click will show it."""
        if node.tag in _WHOLE or is_dropped_anyway(node) or opens_by_click(node):
            return False
        own = self.styles.of(node)
        if self.is_tiny_or_transparent(node, own):
            return True
        if is_far_or_clipped(own):
            return not (self.comes_later(node, own) or self.is_only_label(node))
        return is_transparent(own) and not self.fades and not self.comes_later(node, own)

    def comes_later(self, node: Node, own: Styles) -> bool:
        """Return whether an element's styles or names make it fade or move in later."""
        if any(own.get(name, "none") != "none" for name in _FADES) or node.tag == "figcaption":
            return True  # captions in slideshows
        transform = own.get("transform", "")
        if "translate" in transform and "-9999" not in transform:
            return True
        values = [value for name, value in node.attributes.items() if name.startswith("data-")]
        names = " ".join((node.attributes.get("class", ""), *node.attributes, *values))[:1_000]
        if any(re.search(_ANIMATED, name.removeprefix("data-")) for name in names.split()):
            return True
        return self.has_other_state(node, own)

    def has_other_state(self, node: Node, own: Styles) -> bool:
        """Return whether a rule shows an element in a different state, or a sibling is visible.

        Slideshows show one picture at a time: .slide.active, or opacity: 1 next to 0.
        """
        for name in ("opacity", "transform", "clip", "clip-path", "left", "position"):
            value = own.get(name)
            if value and any(other != value for other in self.styles.may_set(node, name)):
                return True
        if not is_transparent(own) or not node.parent:
            return False
        for sibling in node.parent.children:
            self.walk -= 1
            if self.walk < 0:
                break
            if not isinstance(sibling, Node) or sibling.tag != node.tag:
                continue
            if number(self.styles.of(sibling).get("opacity", "0")) > 0:
                return True
        return False

    def is_only_label(self, node: Node) -> bool:
        """Return whether an element is short and contains all text of its parent."""
        parent = node.parent
        text = " ".join(texts_below(node)).split()
        if not parent or len(" ".join(text)) > MAX_LABEL:
            return False
        if parent.tag not in ("td", "th", "span", "a", "button", "li", "i", "dd", "label"):
            return False
        if parent not in self.words:
            self.words[parent] = sum(len(piece.split()) for piece in texts_below(parent))
        return self.words[parent] == len(text)

    def is_tiny_or_transparent(self, node: Node, own: Styles) -> bool:
        """Return whether letters have no size, no distinct color or a position far off the screen.

        Descendants inherit this. If a descendant may undo it, the element counts as visible.
        """
        name = size_name(own) or ("color" if self.is_background_colored(node, own) else "")
        return bool(name) and not self.is_undone(node, name)

    def is_undone(self, node: Node, name: str) -> bool:
        """Return whether a descendant sets or may set a property again."""
        waiting = [node]
        while waiting:
            for child in waiting.pop().children:
                if not isinstance(child, Node):
                    continue
                self.walk -= 1
                is_styled = self.styles.has_sheets and "class" in child.attributes
                if is_styled or self.walk < 0 or name in self.styles.of(child):
                    return True
                waiting.append(child)
        return any(value != self.styles.of(node)[name] for value in self.styles.may_set(node, name))

    def is_background_colored(self, node: Node, own: Styles) -> bool:
        """Return whether letters are transparent or have the same color as their background."""
        clip = own.get("background-clip", "") + own.get("-webkit-background-clip", "")
        is_drawn = "text" in clip or "text-shadow" in own or "-webkit-text-fill-color" in own
        color = color_of(own.get("color", ""))
        if not color or is_drawn:
            return False
        if color == "transparent":
            return not self.comes_later(node, own)
        if "background-image" in own or "bgcolor" in node.attributes:
            return False
        background = own.get("background-color", own.get("background", ""))
        if background:
            return color_of(background) == color
        return self.is_white_page() and not self.has_lost_styles(node)

    def has_lost_styles(self, node: Node) -> bool:
        """Return whether a page was saved without the style sheets for its classes."""
        around: Node | None = node
        while around and not self.styles.css:
            if "class" in around.attributes:
                return True
            around = around.parent
        return False


def is_dropped_anyway(node: Node) -> bool:
    """Return whether an element has no text or is already dropped by another rule (most are)."""
    if not HIDDEN_CLASSES.isdisjoint(node.attributes.get("class", "").lower().split()):
        return True
    around: Node | None = node
    while around and around.tag not in ("nav", "footer"):
        around = around.parent
    return around is not None or not has_text(node)


def has_text(node: Node) -> bool:
    """Return whether an element contains text at any depth."""
    return any(text.strip() for text in texts_below(node))


def size_name(own: Styles) -> str:
    """Return the property that makes letters too small or moves them off the screen, or ""."""
    size = own.get("font-size", "")
    if size and 0 <= length(size, 16.0) <= 1 and not size.endswith("%"):
        return "font-size"
    return "text-indent" if length(own.get("text-indent", ""), 0.0) <= -FAR else ""


def is_transparent(own: Styles) -> bool:
    """Return whether an element has zero opacity or zero size."""
    drawn = f"{own.get('transform', '')} {own.get('filter', '')}"
    return number(own.get("opacity", "")) == 0 or bool(re.search(_GONE, drawn))


def is_far_or_clipped(own: Styles) -> bool:
    """Return whether an element is far off the screen or clipped to nothing."""
    is_loose = own.get("position", "") in ("absolute", "fixed")
    if is_loose and any(
        length(own.get(side, ""), 0.0) <= -FAR for side in ("left", "right", "top")
    ):
        return True
    if length(own.get("margin-left", ""), 0.0) <= -FAR or "-9999" in own.get("transform", ""):
        return True
    clip = re.sub(r"px|[\s,]+", " ", own.get("clip", ""))
    if is_loose and re.fullmatch(r"rect\( ?([01]) (?: ?\1 ){2} ?\1 ?\)", clip):
        return True
    if re.match(r"inset\((?:50|100)%|circle\(0|polygon\(0 0, ?0 0", own.get("clip-path", "")):
        return True
    width = own.get("width", own.get("max-width", ""))
    height = own.get("height", own.get("max-height", ""))
    is_cut = own.get("overflow", "") in ("hidden", "clip")
    return (
        is_cut
        and 0 <= length(width, 99.0) <= 1
        and 0 <= length(height, 99.0) <= 1
        and ("%" not in width + height)
    )


def number(text: str) -> float:
    """Return a CSS number or percentage as a number; 1 if it is neither."""
    try:
        return float(text.removesuffix("%"))
    except ValueError:
        return 1.0


def length(text: str, otherwise: float, percent: float = 0.0) -> float:
    """Return the approximate pixels of a CSS length; otherwise: the result for any other value."""
    found = re.match(_LENGTH, text)
    try:
        return float(found[1]) * {**_PIXELS, "%": percent}[found[2] or ""] if found else otherwise
    except ValueError:
        return otherwise


def color_of(text: str) -> str:
    """Return a color as #rrggbb or "transparent"; "" for unsupported values."""
    text = _COLORS.get(text, text)
    if text == "transparent" or re.fullmatch(r"#.{3}0|#.{6}00", text):
        return "transparent"
    if re.fullmatch(r"#[0-9a-f]{3}", text):
        return "#" + "".join(digit * 2 for digit in text[1:])
    if found := re.fullmatch(r"(rgb|hsl)a?\(([^()]{1,60})\)", text):
        return color_of_parts(found[1], re.split(r"[\s,/]+", found[2].strip()))
    return text if re.fullmatch(r"#[0-9a-f]{6}", text) else ""


def color_of_parts(kind: str, parts: list[str]) -> str:
    """Return the color for a function's parts: red, green, blue or hue, saturation, lightness."""
    *_, alpha = (*parts, "") if len(parts) == 3 else parts
    if len(parts) not in (3, 4) or number(alpha) not in (0, 1, 100):
        return ""
    if number(alpha) == 0:
        return "transparent"
    values = [length(part, 0.0, percent=2.55 if kind == "rgb" else 0.01) for part in parts[:3]]
    if kind == "hsl":
        red, green, blue = hls_to_rgb(values[0] / 360, values[2], values[1])
        values = [255 * red, 255 * green, 255 * blue]
    return "#" + "".join(f"{min(255, max(0, round(value))):02x}" for value in values)
