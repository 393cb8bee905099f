"""List a site's URLs from its sitemaps (sitemaps.org; RFC 9309 for robots.txt)."""

from __future__ import annotations

import re
import time

from websearch.base.site_rules import refusing_rule
from websearch.base.untrusted import unescape
from websearch.kit import GZIP_START, SearchError, deadline_of, decompressed, drop_empty
from websearch.pages.fetch.fetch import (
    RobotsCache,
    fetch_page,
    fetch_robots,
    host_and_port,
    normal_url,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from websearch.kit import Document

MAX_ADDRESSES = 5_000
MAX_SITEMAPS = 60  # files per call
MAX_SITEMAP_BYTES = 20_000_000  # bytes per file after decompression; the protocol allows 50 MB
SITEMAP_SECONDS = 10.0  # URLs per file
NAMES = ("sitemap.xml", "sitemap_index.xml")  # used if robots.txt lists no sitemaps
_LOCATION = r"(?i)<loc>\s{0,99}(?:<!\[CDATA\[\s{0,99})?([^<\]\s]{1,8000})"
_NAMED = r"(?im)^[ \t]{0,9}sitemap[ \t]{0,9}:[ \t]{0,9}(\S{1,8000})"
_IS_SITEMAP = r"(?i)[^?]{1,8000}sitemap[^/?]{0,200}|[^?]{1,8000}\.(?:xml|xml\.gz)"


def list_addresses(target: str, params: dict[str, Any]) -> Document:
    """Return {ok, url, sitemaps, count, urls}: the pages listed below a URL.

    target: the URL of a sitemap, or of a site's folder to list only its URLs.
    Raises SearchError: no_results, or the error of the first sitemap.
    """
    walk = SitemapWalk(target, params)
    urls = list(dict.fromkeys(walk.addresses()))
    host = host_and_port(target)[0]
    if not urls:
        if walk.error and not walk.read:
            raise walk.error
        message = f"The sitemaps on {host} list no page below {target}."
        hint = "Pass the URL of the whole site or of its sitemap. Or read a page with its links."
        raise SearchError("no_results", message, hint)
    warnings = []
    if walk.is_cut:
        warnings.append(f"The list ends after {len(urls)} URLs, but there are more. Pass a folder.")
    found = {"ok": True, "url": target, "sitemaps": walk.read, "count": len(urls), "urls": urls}
    return drop_empty({**found, "warnings": warnings})


class SitemapWalk:
    """Reads a site's sitemaps; an index is read before the files that it lists.

    read: URLs of the files that were read. error: of the first file that could not be read. is_cut:
    a limit ended the search.
    """

    def __init__(self, target: str, params: dict[str, Any]) -> None:
        self.deadline = deadline_of(params)
        self.robots = RobotsCache() if params.get("robots") else None
        self.read: list[str] = []
        self.error: SearchError | None = None
        self.is_cut = False
        self.host = host_and_port(target)[0].removeprefix("www.")
        origin, path = "/".join(target.split("/")[:3]), target.partition("?")[0]
        self.is_sitemap = bool(re.fullmatch(_IS_SITEMAP, path)) and path.count("/") > 2
        self.folder = "/" if self.is_sitemap else folder_of(path[len(origin) :])
        self.waiting = [target] if self.is_sitemap else self.known_sitemaps(origin)

    def known_sitemaps(self, origin: str) -> list[str]:
        """Return the sitemaps listed in robots.txt, or their usual URLs."""
        limit = min(self.deadline, time.monotonic() + SITEMAP_SECONDS)
        text = fetch_robots(f"{origin}/robots.txt", limit) or ""
        named = [address for line in re.findall(_NAMED, text) if (address := usable(line))]
        return named or [f"{origin}/{name}" for name in NAMES]

    def addresses(self) -> Iterator[str]:
        """Yield the URLs of pages in the folder, up to MAX_ADDRESSES; some may appear twice."""
        seen = set(self.waiting)
        found: set[str] = set()
        while self.waiting:
            text = self.fetch(self.waiting.pop(0))
            is_index = "<sitemapindex" in text[:5_000].lower()
            for location in locations(text):
                address = usable(unescape(location))
                if is_index and address and address not in seen:
                    seen.add(address)
                    self.waiting.append(address)
                elif not is_index and address and self.is_wanted(address):
                    found.add(address)
                    yield address
                if len(found) >= MAX_ADDRESSES:
                    self.is_cut = True
                    return
            if is_index:  # files named after the folder come first: an index may list hundreds
                self.waiting.sort(key=lambda address: self.folder.strip("/") not in address)
            is_late = time.monotonic() >= self.deadline
            if self.waiting and (len(self.read) >= MAX_SITEMAPS or is_late):
                self.is_cut = True
                return

    def fetch(self, url: str) -> str:
        """Return the text of a sitemap; "" if it could not be read."""
        limit = min(self.deadline, time.monotonic() + SITEMAP_SECONDS)
        try:
            response = fetch_page(url, limit, self.robots).response
            if response.status != 200:
                message = f"{host_and_port(url)[0]} answered {response.status} for {url}."
                raise SearchError("http", message, "Look for its sitemap.", status=response.status)
            body = response.body
            if body.startswith(GZIP_START):
                body = decompressed(body, MAX_SITEMAP_BYTES)[0]
        except SearchError as error:
            self.error = self.error or error
            return ""
        self.read.append(url)
        return body.decode("utf-8-sig", "replace")

    def is_wanted(self, address: str) -> bool:
        """Return whether a URL is on the host, in the folder, and allowed."""
        if host_and_port(address)[0].removeprefix("www.") != self.host:
            return False
        path = "/" + address.split("/", 3)[3]
        return path.startswith(self.folder) and not refusing_rule(address)


def folder_of(path: str) -> str:
    """Return the folder of a URL's path: /docs/ also for /docs and /docs/index.html."""
    head, _, name = path.rpartition("/")
    return f"{head}/" if "." in name or not name else f"{path}/"


def locations(text: str) -> list[str]:
    """Return the URLs that a sitemap lists: the loc elements of XML, or lines of text."""
    if "<" in text[:1_000]:
        return re.findall(_LOCATION, text)
    return [line.strip() for line in text.splitlines() if line.strip().startswith("http")]


def usable(address: str) -> str:
    """Return a URL in its normal form; "" if it is invalid."""
    try:
        return normal_url(address)
    except SearchError:
        return ""
