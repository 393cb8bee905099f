"""Classify pages with hardly any text, and find links to their other versions."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from websearch.base.html_tree import text_beginning
from websearch.kit import SearchError, shorten
from websearch.pages.extract.interstitials import interstitial, interstitial_error
from websearch.pages.fetch.fetch import BROWSER_VARIABLE, REFRESH, host_and_port, normal_url
from websearch.pages.fetch.walls import find_wall, wall_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.extract.page_tree import PageTree
    from websearch.pages.fetch.fetch import Fetched

MAX_FRAMES = 3  # frames that an error names
MAX_FRAME_URL = 300  # characters; longer URLs are not named
MIN_PAGE_CHARS = 200  # characters; a page with less text may be a shell that JavaScript fills
MAX_WALL_PAGE = 100_000  # characters of HTML; bot walls are shorter
MAX_SHELL_TEXT = 20_000  # characters of text to search for a request to enable JavaScript
# Requests to enable JavaScript.
_NEEDS_SCRIPT = (
    r"(?i)(?:enable|requires?|need|activate|turn on|without)\W{1,9}"
    r"(?:\w{1,30}\W{1,9}){0,4}javascript|javascript\W{1,9}(?:\w{1,30}\W{1,9}){0,4}"
    r"(?:disabled|required|enabled|deaktiviert|aktivieren)"
)
# The complete text of an element until a script fills it.
_LOADING = (
    r"(?i)(?:(?:now )?loading(?: \w{1,20}){0,2}|please wait|wird geladen|lädt|bitte warten"
    r"|chargement(?: en cours)?|cargando|caricamento(?: in corso)?|carregando|laden|ładowanie"
    r"|wczytywanie|загрузка|yükleniyor|加载中|載入中|読み込み中|로딩 ?중)"
    r"(?:, please wait)?[\s.\u2026]*"
)
MAX_LOADING = 40  # characters of such a text
MENU_SHARE = 0.7  # share of text in links that makes a page only a menu
_SHELL_ID = r"(?:root|app|__next|__nuxt|___gatsby|svelte)\b"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherVersions:
    """Other locations of a page's text.

    twin: URL of the Markdown source, or ""
    is_thin: whether the page has hardly any text and is not a bot wall; a browser may show more
    alternate: URL of the Markdown or print version that a thin page links to, or ""
    frames: URLs of the pages that a frameset shows
    """

    twin: str = ""
    is_thin: bool = False
    alternate: str = ""
    frames: tuple[str, ...] = ()


class ThinPageError(SearchError):
    """The error for a page that may be readable in another version."""

    def __init__(self, error: SearchError, versions: OtherVersions) -> None:
        details = {"retryable": error.retryable, **error.details}
        super().__init__(error.kind, error.message, error.hint, **details)
        self.versions = versions


def check_content(
    page: PageTree, html: str, text: str, onward: str, fetched: Fetched
) -> OtherVersions:
    """Return the other versions of a page with little text.

    The caller finds twin and frames.

    Raise SearchError if the page is more than just short: http if it redirects browsers to onward;
    blocked for a bot wall or a shell that JavaScript fills (ThinPageError); or the error for an
    interstitial (interstitials.py).
    """
    host, status = host_and_port(fetched.url)[0], fetched.response.status
    has_no_text = len(text) < MIN_PAGE_CHARS
    if has_no_text and onward:
        message = f"{host} sent a page that only redirects to {shorten(onward, 200)}."
        raise SearchError("http", message, "Read that URL.", status=status)
    wall = find_wall(fetched.response, html) if len(html) < MAX_WALL_PAGE else ""
    if wall and (has_no_text or page.root.prose < MIN_PAGE_CHARS):
        raise wall_error(host, wall, status)
    if kind := interstitial(page, html, text):
        error = interstitial_error(host, kind, status)
        raise ThinPageError(error, OtherVersions(is_thin=True)) if kind == "script" else error
    if not has_no_text:
        return OtherVersions()
    versions = OtherVersions(is_thin=True, alternate=alternate_address(page, fetched.url))
    if needs_script(page):
        message = f"{host} sent a page without text; only JavaScript fills it."
        hint = "Set {browser} to run its scripts. Or use the site's API or feed, or another source."
        error = SearchError("blocked", message, hint, status=status)
        raise ThinPageError(error, versions)
    return versions


def needs_script(page: PageTree) -> bool:
    """Return whether a page asks for JavaScript or has an element that JavaScript should fill."""
    if is_unfilled(page):
        return True
    return bool(re.search(_NEEDS_SCRIPT, text_beginning(page.root, MAX_SHELL_TEXT)))


def is_menu(page: PageTree) -> bool:
    """Return whether a page shows only a menu and an element that a script has not filled yet."""
    whole = page.root
    return not whole.prose and whole.link >= MENU_SHARE * whole.chars and is_unfilled(page)


def is_unfilled(page: PageTree) -> bool:
    """Return whether a page has an element that a script has not filled yet.

    The element is empty and has a name that frameworks use, or it shows a loading message.
    """
    for node in page.nodes:
        is_div = node.tag == "div" and re.match(_SHELL_ID, node.attributes.get("id", ""))
        is_root = is_div or node.tag == "app-root"
        has_own = any(isinstance(child, str) and child.strip() for child in node.children)
        text = text_beginning(node, MAX_LOADING) if is_root or has_own else ""
        if (is_root and not text) or re.fullmatch(_LOADING, text):
            return True
    return False


def refresh_target(refresh: str, base: str) -> str:
    """Return the URL to which a refresh element's value immediately redirects browsers, or ""."""
    match = re.match(REFRESH, refresh)
    return linked_address(base, match[1].strip()) if match else ""


def linked_address(base: str, target: str) -> str:
    """Return a link's normalized URL; "" if the link does not point to a page."""
    from urllib.parse import urljoin

    try:
        return normal_url(urljoin(base, target)) if target else ""
    except (ValueError, SearchError):
        return ""


def alternate_address(page: PageTree, url: str) -> str:
    """Return the URL of the Markdown or print version that a page links to, or ""."""
    versions: dict[str, str] = {}
    for node in page.nodes:
        get = node.attributes.get
        if node.tag == "link" and "alternate" in get("rel", "").lower().split() and get("href"):
            kind = get("type", "").lower()
            kind = kind if kind == "text/markdown" else get("media", "").lower()
            versions.setdefault(kind, get("href", ""))
    target = versions.get("text/markdown") or versions.get("print", "")
    address = linked_address(url, target)
    return "" if address == url else address


def frame_addresses(page: PageTree, base: str) -> tuple[str, ...]:
    """Return the URLs of a page's frames, at most MAX_FRAMES, those of the base's host first."""
    frames = (node for node in page.nodes if node.tag == "frame")
    found = (linked_address(base, node.attributes.get("src", "")) for node in frames)
    urls = [url for url in dict.fromkeys(found) if 0 < len(url) <= MAX_FRAME_URL and url != base]
    host = host_and_port(base)[0]
    return tuple(sorted(urls, key=lambda url: host_and_port(url)[0] != host)[:MAX_FRAMES])


def wants_browser(params: dict[str, Any]) -> bool:
    """Return whether to read thin pages in a browser, from params or else the environment."""
    if "browser" in params:
        return bool(params["browser"])
    return os.environ.get(BROWSER_VARIABLE, "").strip().lower() not in ("", "0", "false", "no")
