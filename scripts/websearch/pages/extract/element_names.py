"""Interpret an element's class, id, role and style: its words and its visibility."""

from __future__ import annotations

import functools
import re

from websearch.base.html_tree import Node, name_set

NO_WORDS: frozenset[str] = frozenset()
SIDEBAR_WORDS = name_set("sidebar sidebars aside rail sidenav sidecol")
MAX_NAMES = 600  # characters of a class and id to examine
# Complete class names of elements that a browser does not show.
HIDDEN_CLASSES = name_set(
    "hidden hide is-hidden visually-hidden visuallyhidden sr-only screen-reader-text screen-reader "
    "d-none invisible print-only element-invisible offscreen sortkey"
)
# Elements that a click unfolds are content, although browsers initially hide them.
PANEL_WORDS = name_set(
    "accordion tab tabs tabpanel collapse collapsible toggle expander faq answer"
)
TAB_WORDS = name_set("tab tabs")  # class words of a tab or its panel
COPY_WORDS = name_set("clone cloned duplicate")  # class words of slides
# A class name with such a word shows that the element has a sidebar next to it: "and-w-sidebar".
LAYOUT_WORDS = name_set("w with and has layout")
# Prefixes of class names that describe an element's state or subject, not its role.
MODIFIERS = (
    "has-", "has_", "no-", "with-", "without-", "js-", "is-", "hide-", "show-", "tag-", "post_tag-",
    "category-", "type-", "status-", "format-", "hentry", "product_", "content-sidebar",
    "admonition-", "NavFrame", "NavHead", "NavContent",
)  # fmt: skip
NAME_WORD = r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])"
_HIDDEN_STYLE = r"(?i)display\s*:\s*none|visibility\s*:\s*hidden"
DECORATION = name_set(  # words of uninformative alternative texts
    "arrow avatar background banner bullet button decoration decorative divider external graphic "
    "hero icon image img link logo photo picture placeholder spacer symbol thumbnail"
)
USER_IMAGES = (" user avatar ", " profile picture ", " profile photo ", " profile image ")


def names_of(node: Node) -> str:
    """Return the class and id of an element, cut to MAX_NAMES."""
    get = node.attributes.get
    return f"{get('class', '')} {get('id', '')}"[:MAX_NAMES]


@functools.lru_cache(maxsize=4096)
def name_words(names: str) -> frozenset[str]:
    """Return the words of a class and id: "relatedPosts__list" -> related, posts, list."""
    found: set[str] = set()
    for part in names.split():
        # "links:underline" is a conditional style of Tailwind.
        is_style = (":" in part or "[" in part) and part != "print:hidden"
        if not part.startswith(MODIFIERS) and not is_style:
            words = {word.lower() for word in re.findall(NAME_WORD, part)}
            if words.isdisjoint(LAYOUT_WORDS) or words.isdisjoint(SIDEBAR_WORDS):
                found |= words
    return frozenset(found)


def words_of(node: Node) -> frozenset[str]:
    """Return the words of an element's class and id."""
    return name_words(names_of(node)) if node.attributes else NO_WORDS


def opens_by_click(node: Node) -> bool:
    """Return whether an element is a tab panel or another part that a click unfolds."""
    is_panel = node.attributes.get("role") in ("tabpanel", "region")
    return is_panel or not words_of(node).isdisjoint(PANEL_WORDS)


def is_slide(node: Node) -> bool:
    """Return whether an element is a slide of a carousel, except a copy of another slide."""
    words = words_of(node)
    return "slide" in words and words.isdisjoint(COPY_WORDS)


def is_hidden(attributes: dict[str, str]) -> bool:
    """Return whether an element's attributes hide it in a browser."""
    if attributes.get("hidden", "until-found") != "until-found":
        return True
    if attributes.get("aria-hidden") == "true":
        return True
    return "style" in attributes and bool(re.search(_HIDDEN_STYLE, attributes["style"]))


def has_hidden_class(node: Node) -> bool:
    """Return whether an element has a class that style sheets usually hide."""
    classes = node.attributes.get("class", "").lower().split()
    return not HIDDEN_CLASSES.isdisjoint(classes)


def is_unseen(node: Node) -> bool:
    """Return whether an element is hidden in a browser and no click unfolds it."""
    is_not_shown = is_hidden(node.attributes) or has_hidden_class(node)
    return is_not_shown and not (opens_by_click(node) or is_slide(node))


def plain_words(text: str) -> str:
    """Return a text's words in lower case, with a space before, between and after them."""
    words = re.findall(r"[^\W_]+", text.lower())
    return f" {' '.join(words)} "


def is_decorative_alt(alt: str) -> bool:
    """Return whether an image's alternative text only describes the kind of image.

    The name in "Jo's user avatar" is next to the image.
    """
    words = plain_words(alt)
    return DECORATION.issuperset(words.split()) or words.endswith(USER_IMAGES)
