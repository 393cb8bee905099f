"""Compare the version that a page documents with the versions that a question names."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.search.rank import Source

# A segment of a URL: /3.12/, /v2/, /8.x/, /en/release-4.2/, /docs/16/; no years or dates.
_IN_PATH = (
    r"(?i)(?<=/)(?:v|(?:version|release|stable)[-_/])?(\d{1,3}(?:\.\d{1,3}){1,2})(?:\.x)?(?=/|$)"
    r"|(?<=/)v(\d{1,3})(?:\.x)?(?=/|$)|(?<=/)(\d{1,3})\.x(?=/|$)|(?<=/docs/)(\d{1,3})(?=/)"
)
_IN_TITLE = (
    r"(?i)\b(?:v|version |release )(\d{1,3}(?:\.\d{1,3}){0,2})\b"
    r"|\b(\d{1,3}(?:\.\d{1,3}){1,2}) (?:documentation|docs|manual|reference)\b"
)
_IN_QUESTION = r"(?i)(?<![\w.,$€£-])v?(\d{1,3}(?:\.\d{1,3}){0,2})(?:\.x)?(?![\w%]|[.,]\d)"


def version_of(source: Source) -> str:
    """Return the version that a page's URL or title names; "" if there is none."""
    path = urlsplit(str(source.result["url"])).path
    title = str(source.result.get("title", ""))
    match = re.search(_IN_PATH, path) or re.search(_IN_TITLE, title)
    return next(filter(None, match.groups())) if match else ""


def has_version(source: Source, words: str) -> bool | None:
    """Return whether a page documents a version named in a question's words; None if unknown.

    Versions are the same if one begins with the other: 4.2 and 4, but not 3.12 and 3.1.
    """
    asked = [number.split(".") for number in re.findall(_IN_QUESTION, words)]
    own = version_of(source).split(".")
    if not (asked and own[0]):
        return None
    return any(all(a == b for a, b in zip(number, own, strict=False)) for number in asked)
