"""Use the data that a page contains for search engines and scripts.

Pages state facts in schema.org data (Recipe, Product, Event, ...): a visible value from it, such
as an ingredient, a price or an address, is at least beside the text, regardless of the name and
position of its box. Values that the text lacks are appended.
"""

from __future__ import annotations

import itertools
import json
import re
from html import unescape

from websearch.base.html_tree import (
    BLOCKS,
    Node,
    children_of,
    elements_below,
    name_set,
    text_beginning,
)
from websearch.pages.extract.metadata import linked_data, types_of
from websearch.pages.extract.page_tree import UNSEEN, PageTree, look_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_SCRIPTS = 200  # scripts to examine per page
MAX_WORD = 25  # mean characters per word; words in URLs, hashes and class names are longer
MAX_VALUE, MAX_VALUES_TEXT = 200, 5_000  # characters of one value, and of all values
_CODED = r"://|[<>{}]"  # characters that only URLs and markup contain
_OTHER_VALUES = (
    r"(?i)^(?:_?(?:seo|meta\w*|i18n|locales?|translations?|messages|labels|dictionary|footer\w*|"
    r"header|nav\w*|menu\w*|cookie\w*|consent\w*|config\w*|runtimeConfig|env|query|params|css|"
    r"styles?|class(?:Name)?|scripts?|tracking|analytics|alt\w*|captions?|credits?|schema\w*|"
    r"json_?ld|breadcrumbs?|related\w*|recommend\w*|recirculation|popular\w*|trending|sidebar\w*|"
    r"advert\w*|ads?|(?-i:\w*Ids?)|\w*nonce|newsletter\w*|copyright|legal|errors?|og\w*|twitter\w*|features?|flags))$"
)
MAX_VALUES = 100_000  # values to examine
# schema.org type -> properties whose values a page shows; "": properties of any type.
SHOWN = {
    "Recipe": name_set("recipeIngredient ingredients recipeInstructions"),
    "HowTo": name_set("step supply tool"),
    "Product": name_set("additionalProperty"),
    "SoftwareApplication": name_set("featureList"),
    "JobPosting": name_set("responsibilities qualifications skills jobBenefits"),
    "ItemList": name_set("itemListElement"),
    "": name_set(
        "startDate endDate doorTime datePosted validThrough location streetAddress postalCode "
        "addressLocality telephone email openingHours opens closes author price lowPrice highPrice "
        "priceRange baseSalary minValue maxValue ratingValue reviewCount amenityFeature"
    ),
}
INNER = name_set("itemListElement name value unitText text")  # properties of the values
MARKED = frozenset().union(*SHOWN.values())  # itemprop values of elements
MAX_TEXT = 3_000  # characters of a value to search for lines
MIN_STATED, MAX_STATED = 3, 100  # characters of a value to look for
# A price, measure, date, time, rating or other figure, or an e-mail address.
VALUE = re.compile(
    r"[$\u20ac\u00a3\u00a5\u20b9]\s?\d|\d\s?[%\u20ac\u00a3\u00a5$]|\d[.,:/]\d|\d{3}"
    r"|\d\s?[^\W\d_]|\w@\w"
)
MAX_PATTERN = 200  # values to look for, in texts of at most MAX_VALUE characters
MAX_ROW = 120  # letters in a row that is written on one line
MIN_PAIRS = 3  # pairs in boxes that look alike
MAX_PARTS = 6  # elements and texts in a label and its value
MAX_HEADING = 60  # characters of a heading in a pair
PAIR_HEADINGS = name_set("h4 h5 h6")
PAIR_TAGS = PAIR_HEADINGS | name_set("div p span b strong em i a time")
ROW_BREAKS = PAIR_HEADINGS | name_set("p a")  # tags that are not part of a row with a pair
_AMOUNT = r"(?:about |ca\. )?[\d\u00bc-\u00be\u2150-\u215e][^\n]{0,15}"


# ===== values that the page shows =================================================================


def stated_pattern(page: PageTree) -> re.Pattern[str]:
    """Return a pattern for the values in the page's JSON-LD, with or without their time."""
    values = {value.strip() for value in stated_values(page)}
    values |= {
        value[: len("2026-05-04")] for value in values if re.match(r"\d{4}-\d\d-\d\d", value)
    }
    fitting = sorted(value for value in values if MIN_STATED <= len(value) <= MAX_STATED)
    known = "|".join(map(re.escape, fitting[:MAX_PATTERN])) or "(?!)"
    return re.compile(rf"(?i)(?<!\w)(?:{known})(?!\w)")


def with_stated(page: PageTree, pattern: re.Pattern[str]) -> set[Node]:
    """Return the elements that show such values or have their itemprop, and those around them."""
    found: set[Node] = set()
    for node in page.nodes:
        get = node.attributes.get
        texts = [text for text in node.children if isinstance(text, str) and len(text) <= MAX_VALUE]
        is_marked = texts and get("itemprop") in MARKED
        around: Node | None = node
        if is_marked or any(map(pattern.search, [get("datetime", ""), *texts])):
            while around and around not in found:
                found.add(around)
                around = around.parent
    return found


def stated_values(page: PageTree) -> Iterator[str]:
    """Yield the values in the page's JSON-LD that the page shows, also line by line."""
    waiting: list[tuple[object, bool]] = [(data, False) for data in linked_data(page)]
    for value, is_shown in itertools.islice(waiting, MAX_VALUES):  # the loop extends waiting
        if isinstance(value, list):
            waiting += [(item, is_shown) for item in value]
        elif isinstance(value, dict):
            kinds = SHOWN.keys() & {"", *types_of(value).split()}
            names = frozenset().union(*(SHOWN[kind] for kind in kinds))
            for name, item in value.items():
                waiting.append((item, (is_shown and name in INNER) or name in names))
        elif isinstance(value, str | float) and is_shown:
            written = value[:MAX_TEXT] if isinstance(value, str) else f"{value:g}"
            yield from unescape(written).split("\n")


# ===== rows and pairs on one line =================================================================


def join_rows(page: PageTree) -> None:
    """Write short boxes that belong together as one line, such as an amount and its ingredient."""
    found: dict[
        str, list[tuple[Node, list[Node]]]
    ] = {}  # look -> boxes with pairs, and their parts
    for node in page.nodes:
        if node.tag == "li" and node.has_block and node.chars <= MAX_ROW and not node.prose:
            join_row(node, ("div",))
        elif node.tag == "div" and node.has_block and node.chars <= MAX_ROW and is_labeled(node):
            join_row(node, ("div", "p"))
        elif node.tag in ("div", "section") and (parts := parts_of_pairs(node)):
            found.setdefault(look_of(node), []).append((node, parts))
    for alike in found.values():
        if sum(len(parts) for _, parts in alike) >= 2 * MIN_PAIRS:
            for node, parts in alike:
                join_pairs(node, parts)


def is_labeled(node: Node) -> bool:
    """Return whether an element consists of a label that ends with a colon and its value."""
    texts = [
        child.strip() if isinstance(child, str) else text_beginning(child, MAX_HEADING)
        for child in node.children[:MAX_PARTS]
    ]
    shown = [text for text in texts if text]
    is_whole = len(node.children) <= MAX_PARTS
    return is_whole and len(shown) == 2 and shown[0].endswith(":")


def parts_of_pairs(node: Node) -> list[Node]:
    """Return the children of a box that contains only pairs, or [].

    A pair begins with a number or amount, or consists of two headings of different levels. A row is
    one short pair of any kind, such as a day and its hours or a name and its price.
    """
    if any(isinstance(child, str) and not child.isspace() for child in node.children):
        return []
    children = [child for child in children_of(node) if child.tag not in UNSEEN]
    if any(map(has_block, children)):
        return []
    parts = [child for child in children if text_beginning(child, MAX_HEADING)]
    if len(parts) % 2:
        return []
    is_row = len(children) == 2 and not {child.tag for child in children} & ROW_BREAKS
    for first, second in zip(parts[::2], parts[1::2], strict=True):
        texts = [text_beginning(part, 2 * MAX_HEADING) for part in (first, second)]
        is_amount = re.fullmatch(_AMOUNT, texts[0]) and re.match(r"\D", texts[1])
        is_headings = {first.tag, second.tag} <= PAIR_HEADINGS and first.tag != second.tag
        is_short = max(map(len, texts)) < MAX_HEADING and not texts[1].endswith((".", "!", "?"))
        if not is_amount and not (is_short and (is_headings or is_row)):
            return []
    return parts


def has_block(node: Node) -> bool:
    """Return whether an element is a list, item or cell, or has a block as a child."""
    inside = (child.tag in BLOCKS for child in children_of(node))
    return node.tag not in PAIR_TAGS or any(inside)


def join_pairs(box: Node, parts: list[Node]) -> None:
    """Write each pair in a box as one line; write several pairs as a list."""
    if len(parts) == 2 and parts[0].tag not in PAIR_HEADINGS:
        parts[0].children.append(" ")
        join_row(box, tuple(BLOCKS))
        return
    box.tag = "ul" if len(parts) > 2 else "div"
    box.children = list(parts[::2])
    for first, second in zip(parts[::2], parts[1::2], strict=True):
        first.children.append(": " if first.tag in PAIR_HEADINGS else " ")
        first.children.append(second)
        first.tag, second.tag, second.parent = "li" if len(parts) > 2 else "div", "span", first


def join_row(row: Node, tags: tuple[str, ...]) -> None:
    """Put the boxes in a row on one line, unless there are blocks with other tags."""
    blocks = [node for node in elements_below(row) if node.tag in BLOCKS]
    if row.tag != "tr" and all(node.tag in tags for node in blocks):
        for node in blocks:
            node.tag = "span"
            node.children = [" ", *node.children, " "]


# ===== values that the text lacks =================================================================


def data_values(page: PageTree, text: str) -> str:
    """Return, as a list, the values in a page's JSON scripts and microdata that its text lacks.

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


def scripts_of(page: PageTree) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the text and attributes of a page's first MAX_SCRIPTS inline scripts."""
    nodes: list[Node] = [node for node in page.nodes if node.tag == "script" and node.children]
    for node in nodes[:MAX_SCRIPTS]:
        yield "".join(child for child in node.children if isinstance(child, str)), node.attributes


def parse_json(text: str) -> Any:
    """Parse JSON; return None if the text is not JSON."""
    try:
        return json.loads(text, strict=False, parse_int=short_number)
    except (ValueError, RecursionError):
        return None


def short_number(digits: str) -> int | float:
    """Parse an integer: an int if it is short, else a float, which is fast for a million digits."""
    return int(digits) if len(digits) < 10 else float(digits[:300])
