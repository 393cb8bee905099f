"""Read the values in the data that a page contains for search engines and scripts."""

from __future__ import annotations

import itertools
import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from websearch.base.html_tree import Node
    from websearch.pages.extract.page_tree import PageTree

MAX_SCRIPTS = 200  # scripts to examine per page
MAX_WORD = 25  # mean characters per word; longer words are URLs, hashes and class names
MAX_VALUE, MAX_VALUES_TEXT = 200, 5_000  # characters of one value, and of all values
_CODED = r"://|[<>{}]"  # characters of URLs and markup
_OTHER_VALUES = (
    r"(?i)^(?:_?(?:seo|meta\w*|i18n|locales?|translations?|messages|labels|dictionary|footer\w*|"
    r"header|nav\w*|menu\w*|cookie\w*|consent\w*|config\w*|runtimeConfig|env|query|params|css|"
    r"styles?|class(?:Name)?|scripts?|tracking|analytics|alt\w*|captions?|credits?|schema\w*|"
    r"json_?ld|breadcrumbs?|related\w*|recommend\w*|recirculation|popular\w*|trending|sidebar\w*|"
    r"advert\w*|ads?|newsletter\w*|copyright|legal|errors?|og\w*|twitter\w*|features?|flags))$"
)
MAX_VALUES = 100_000  # values to examine


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


def scripts_of(page: PageTree) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the text and attributes of a page's first MAX_SCRIPTS inline scripts."""
    nodes: list[Node] = [node for node in page.nodes if node.tag == "script" and node.children]
    for node in nodes[:MAX_SCRIPTS]:
        yield "".join(child for child in node.children if isinstance(child, str)), node.attributes


def parse_json(text: str) -> Any:
    """Parse JSON; None if the text is not JSON."""
    try:
        return json.loads(text, strict=False, parse_int=short_number)
    except (ValueError, RecursionError):
        return None


def short_number(digits: str) -> int | float:
    """Parse an integer: an int if it is short, else a float, which is fast for a million digits."""
    return int(digits) if len(digits) < 10 else float(digits[:300])
