"""Text of pages: its references decoded, its live HTML and Markdown broken, addresses for Markdown.

kit.make_harmless removes every tag from a snippet. disarm_text leaves tags that do nothing, because
the text of a page may be program code, such as List<String>.
"""

from __future__ import annotations

import html
import re

from websearch.kit import without_live_links

# Tags that load, link, run or hide something, and comments.
_LIVE_HTML = (
    r"(?is)<!--.*?(?:-->|\Z)|</?(?:a|applet|area|audio|base|bgsound|body|button|embed|form|frame|"
    r"frameset|head|html|iframe|image|img|input|link|map|math|meta|no(?:embed|frames|script)|object|"
    r"picture|plaintext|pre|script|select|source|style|svg|template|textarea|title|track|video|xmp)"
    r"(?=[\s/>]|\Z)[^<>]*>?"
)
# The attributes of other tags, which can load and run something as well.
_ATTRIBUTES = (
    r"(<[a-zA-Z][a-zA-Z0-9-]*)"
    r"(?:\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+))?)+\s*/?>"
)
# What else a lenient reader takes for HTML: broken tags, declarations, addresses of other schemes.
_BROKEN_HTML = (
    r"<(?=[!?]|[a-zA-Z][a-zA-Z0-9-]*[\s/\"'][^<>]*(?:[=<]|\Z)|"
    r"(?!https?:|mailto:)[a-zA-Z][\w+.-]{1,31}:[^\s<>]*>)"
)


def unescape(text: str) -> str:
    """Return text with its character references decoded once.

    References to numbers of ten digits and more name no character; html.unescape would raise
    ValueError for those of thousands of digits.
    """
    too_long = r"&#(?:\d{10,}|[xX][0-9a-fA-F]{10,});?"
    return html.unescape(re.sub(too_long, "\ufffd", text) if "&#" in text else text)


def plain_address(url: str) -> str:
    """Return an address on one line, with those signs encoded that can be markup in Markdown."""
    signs = r"[<>`\\]|\](?=[(\[])"
    return re.sub(signs, lambda sign: f"%{ord(sign[0]):02X}", "%20".join(url.split()))


def disarm_text(text: str) -> str:
    """Return text of a page without live Markdown and HTML: images, links, comments, live tags.

    The words of a link stay, and so do tags that do nothing.
    """
    return without_live_links(without_live_html(text))


def without_live_html(text: str) -> str:
    """Return a stranger's text without live HTML; other tags lose their attributes."""
    if "<" not in text:
        return text
    text = re.sub(_LIVE_HTML, " ", text)
    text = re.sub(_ATTRIBUTES, lambda tag: f"{tag[1]}>" if "=" in tag[0] else tag[0], text)
    return re.sub(_BROKEN_HTML, "< ", text)
