"""Read pages through their site's API: GitHub, Stack Exchange, Hacker News, arXiv, Reddit, X.

Each site is a module with two functions:

- known_page(path, query) -> a dict that identifies the page, or None if the API does not cover it
- read_site_page(api, wanted) -> the PageContent; or the Fetched file that the page shows. Raises
  SearchError.
"""

from __future__ import annotations

import re
import time

from websearch.pages.page_content import PageContent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.fetch.fetch import Fetched, RobotsCache, SharedAnswers

API_SHARE = 0.7  # the API's share of a page's time; the remainder is for the HTML if the API fails
# Pattern of hosts -> (engine whose pace applies to the API, module).
SITES = {
    r"(?:www\.)?github\.com": ("github", "github"),
    r"(?:[a-z0-9-]{1,60}\.){1,3}stackexchange\.com|(?:(?:www|meta|[a-z]{2})\.)?stackoverflow\.com"
    r"|(?:(?:www|meta)\.)?(?:superuser|serverfault|askubuntu)\.com|stackapps\.com"
    r"|(?:meta\.)?mathoverflow\.net": ("stackexchange", "stackexchange"),
    r"news\.ycombinator\.com": ("hackernews", "hackernews"),
    r"(?:(?:www|export)\.)?arxiv\.org": ("arxiv", "arxiv"),
    r"(?:(?:www|old|new|np|sh)\.)?reddit\.com": ("reddit", "reddit"),
    r"(?:(?:www|mobile)\.)?(?:x|twitter)\.com": ("x", "x"),
}


def read_through_api(
    url: str,
    deadline: float,
    robots: RobotsCache | None,
    params: dict[str, Any],
    shared: SharedAnswers,
) -> PageContent | Fetched | None:
    """Return a page from its site's API; None if no API covers it.

    params: those of read_page. shared: answers that all pages in the call share. Raises
    SearchError.
    """
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    host = parts.hostname or ""
    match = next((site for hosts, site in SITES.items() if re.fullmatch(hosts, host)), None)
    if not match or parts.port:
        return None
    import importlib

    from websearch.pages.sites.site_api import SiteApi

    engine, module_name = match
    site = importlib.import_module(f"websearch.pages.sites.{module_name}")
    wanted = site.known_page(parts.path, parts.query)
    if wanted is None:
        return None
    now = time.monotonic()
    limit = now + API_SHARE * (deadline - now)
    api = SiteApi((engine, host.removeprefix("www.")), limit, robots, params, shared)
    page: PageContent | Fetched = site.read_site_page(api, wanted)
    if isinstance(page, PageContent):
        page.fields["final_url"] = url
        page.is_cut, page.is_foreign = page.is_cut or api.writer.cut, True
    return page
