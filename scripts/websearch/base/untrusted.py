"""Untrusted page text: decode references, disable HTML and Markdown, escape URLs.

kit.make_harmless removes every tag from a snippet. disarm_text keeps inactive tags, because page
text may contain program code, such as List<String>.
"""

from __future__ import annotations

import re

from websearch.kit import clean_text, without_live_links

# Tags that load, link, run or hide something, and comments.
_LIVE_HTML = (
    r"(?is)<!--.*?(?:-->|\Z)|</?(?:a|applet|area|audio|base|bgsound|body|button|embed|form|frame|"
    r"frameset|head|html|iframe|image|img|input|link|map|math|meta|no(?:embed|frames|script)|object|"
    r"picture|plaintext|pre|script|select|source|style|svg|template|textarea|title|track|video|xmp)"
    r"(?=[\s/>]|\Z)[^<>]*>?"
)
# Attributes of other tags, which can also load or run something.
_ATTRIBUTES = (
    r"(<[a-zA-Z][a-zA-Z0-9-]*)"
    r"(?:\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?)+\s*/?>"
)
# Other text that lenient parsers treat as HTML: broken tags, declarations, other URL schemes.
_BROKEN_HTML = (
    r"<(?=[!?]|[a-zA-Z][a-zA-Z0-9-]*[\s/\"'][^<>]*(?:[=<]|\Z)|"
    r"(?!https?:|mailto:)[a-zA-Z][\w+.-]{1,31}:[^\s<>]*>)"
)


def unescape(text: str) -> str:
    """Return text with its character references decoded once.

    Numbers with ten or more digits are not characters; html.unescape would raise ValueError for
    thousands of digits.
    """
    import html

    too_long = r"&#(?:\d{10,}|[xX][0-9a-fA-F]{10,});?"
    return html.unescape(re.sub(too_long, "\ufffd", text) if "&#" in text else text)


def plain_address(url: str) -> str:
    """Return a URL on one line with encoded Markdown characters, without deceptive characters."""
    signs = r"[<>`\\]|\](?=[(\[])"
    return re.sub(signs, lambda sign: f"%{ord(sign[0]):02X}", "%20".join(clean_text(url).split()))


def disarm_text(text: str) -> str:
    """Return page text without active Markdown and HTML: images, links, comments, active tags.

    Link texts and inactive tags are kept.
    """
    return without_live_links(without_live_html(text))


def without_live_html(text: str) -> str:
    """Return untrusted text without active HTML; other tags lose their attributes."""
    if "<" not in text:
        return text
    text = re.sub(_LIVE_HTML, " ", text)
    text = re.sub(_ATTRIBUTES, lambda tag: f"{tag[1]}>" if "=" in tag[0] else tag[0], text)
    return re.sub(_BROKEN_HTML, "< ", text)
