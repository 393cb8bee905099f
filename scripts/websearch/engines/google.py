"""Google's own result pages: requests, results, block pages.

Google has blocked plain clients since 2025; serper_search.py is the reliable alternative.
"""

from __future__ import annotations

import re

from websearch.engines.base.browser_headers import browser_headers, judge_result_page, locale_code
from websearch.engines.base.engine import HOURS, PLACES, Engine
from websearch.engines.base.filters import (
    country_code,
    google_period,
    language_code,
    query_with_sites,
)
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.result_pages import (
    absolute_url,
    get_request,
    has_class,
    is_advertisement,
    query_value,
    read_nodes,
    shown_text,
    split_url,
    tidy_url,
    wall_signal,
    with_address,
    with_class,
    within_limit,
)
from websearch.kit import drop_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.base.html_tree import Node
    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="google",
    title="Google",
    module=__name__,
    address=("GOOGLE_BASE_URL", "https://www.google.com"),
    sources=("web",),
    filters={"since": (*HOURS, "range"), **PLACES, "safe": ("off", "strict")},
    instead={"safe": "Use off or strict."},
    max_query=2_048,
    max_count=50,
)
PAGE_SIZE = 10  # results; Google no longer supports larger pages (September 2025)
FEWEST_RESULTS = 5  # a page with fewer results is the last one
SAFE = {"strict": "active", "off": "off"}
# Google's class names over several years: around a result, its snippet and its date.
BLOCKS = ("g", "tF2Cxc", "MjjYud", "Gx5Zad")
SNIPPETS = ("VwiC3b", "IsZvec", "st", "s3v9rd")
DATES = ("YrbPuc", "LEwnzc", "f")
# A title without a heading, on the 2023 page without scripts: the title of the page that a quoted
# answer comes from.
QUOTED_TITLE = "vvjwJb"
AD_CLASSES = ("uEierd", "commercial-unit-desktop-top", "ads-ad")
AD_IDS = ("tads", "tadsb", "bottomads")
# Paths on the search hosts that are searches, settings or clicks, not pages.
_OWN_PATHS = (
    r"/?|/(?:search|url|imgres|imghp|images|webhp|preferences|setprefs|advanced_search|aclk)/?"
    r"|/(?:sorry|httpservice)/.*"
)
NOTHING_FOUND = "did not match any documents"  # the page is requested in English

# ===== requests ===================================================================================


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET request for the first result page. Raises SearchError (invalid_input).

    The page is requested in English (hl) to recognize its "nothing found" message.
    """
    language = language_code(params.get("language", ""))
    base = language.partition("-")[0]
    fields = {
        "q": within_limit(ENGINE, query_with_sites(params["query"], params)),
        "num": str(PAGE_SIZE),
        "hl": "en",
        "lr": base and f"lang_{locale_code({'language': language}) if base == 'zh' else base}",
        "gl": country_code(params.get("country", "")),
        "tbs": google_period(params.get("since", "")),
        "safe": SAFE.get(params.get("safe", "")),
    }
    address = ENGINE.base_url()
    return get_request(f"{address}/search", drop_empty(fields), browser_headers(params, address))


def next_request(
    params: dict[str, Any], request: EngineRequest, result_page: ResultPage, number: int
) -> EngineRequest | None:
    """Return the GET request for a result page (number: from 2 on), or None after the last page."""
    if len(result_page.results) < FEWEST_RESULTS:
        return None
    fields = {**request.fields, "start": str((number - 1) * PAGE_SIZE)}
    return get_request(request.url.partition("?")[0], fields, request.headers)


# ===== result pages ===============================================================================


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError (blocked, provider)."""
    return judge_result_page(ENGINE, response, parse_result_page(response.text()))


def parse_result_page(html: str) -> ResultPage:
    """Return the result page: links with a heading, regardless of their classes."""
    nodes = read_nodes(html)
    links = result_links(nodes)
    ends = [start for start, _, _ in links[1:]] + [len(nodes)]
    pairs = list(zip(links, ends, strict=False))
    pairs.sort(key=lambda pair: pair[0][2].tag != "h3")  # pages of quoted answers come last
    results = with_address(
        parse_result(nodes[start:end], link, heading) for (start, link, heading), end in pairs
    )
    texts = (child for node in nodes for child in node.children if isinstance(child, str))
    empty = any(NOTHING_FOUND in text for text in texts)
    signal = google_signal(nodes) or wall_signal(nodes, empty)
    return ResultPage(results=results, is_empty=empty, signal=signal)


def result_links(nodes: list[Node]) -> list[tuple[int, Node, Node]]:
    """Return (index of the first element, link, heading) for every result except advertisements.

    The heading is in the link, or (in old pages) the link in the heading.
    """
    links: list[tuple[int, Node, Node]] = []
    advertisements: set[Node] = set()
    around: dict[Node, tuple[int, Node]] = {}  # element -> the link or heading around it
    for index, node in enumerate(nodes):
        parent = node.parent
        is_ad = has_class(node, *AD_CLASSES) or node.attributes.get("id") in AD_IDS
        if is_ad or parent in advertisements:
            advertisements.add(node)
            continue
        outer = around.get(parent) if parent else None
        is_link = node.tag == "a" and "href" in node.attributes
        is_title = node.tag == "h3" or has_class(node, QUOTED_TITLE)
        if outer and is_link != (outer[1].tag == "a") and (is_link or is_title):
            link, heading = (node, outer[1]) if is_link else (outer[1], node)
            if not links or links[-1][1] is not link:
                links.append((outer[0], link, heading))
        if is_link or node.tag == "h3":
            around[node] = (index, node)
        elif outer:
            around[node] = outer
    return links


def parse_result(nodes: list[Node], link: Node, heading: Node) -> dict[str, Any]:
    """Return a link's result; nodes: the elements up to the next link. {} without a target.

    The snippet is in the result's block, if a known Google block is around it.
    """
    url = result_target(link.attributes.get("href", ""))
    if not url:
        return {}
    block = link.parent
    while block and not has_class(block, *BLOCKS):
        block = block.parent
    snippet = with_class(nodes, *SNIPPETS)
    if block and snippet and not is_below(snippet, block):
        snippet = None
    text = shown_text(snippet)
    dated = [node for node in nodes if snippet and is_below(node, snippet)]
    day = shown_text(with_class(dated, *DATES))
    if day:
        text = text.removeprefix(day).lstrip(" —·-")
    return {
        "title": shown_text(heading) or url,
        "url": url,
        "snippet": text,
        "date": day.rstrip(" —·-"),
    }


def is_below(node: Node, above: Node) -> bool:
    """Return whether an element is inside another."""
    parent = node.parent
    while parent and parent is not above:
        parent = parent.parent
    return parent is above


def result_target(href: str) -> str:
    """Return the URL of a result: Google's redirect (/url?q=) is unwrapped once.

    "" for an advertisement, for Google's own searches, caches and translations, and for anything
    except a web URL. Google's other pages (maps, cloud.google.com) are results.
    """
    url = absolute_url(href, "www.google.com")
    host, path, query = split_url(url) or ("", "", "")
    if is_google_search(host) and path == "/url":
        url = tidy_url(query_value(query, "q", "url"))
        host, path, query = split_url(url) or ("", "", "")
    own = is_google_search(host) and bool(re.fullmatch(_OWN_PATHS, path))
    copies = ("webcache.googleusercontent.com", "translate.google.com")
    return "" if not host or own or host in copies or is_advertisement(url) else url


def is_google_search(host: str) -> bool:
    """Return whether a host is Google's search host: www.google.com, google.co.uk, ..."""
    return bool(re.fullmatch(r"(www\.)?google(\.[a-z]{2,3}){1,2}", host))


def google_signal(nodes: list[Node]) -> str:
    """Return the signal of a Google block page, or ""."""
    for node in nodes:
        if node.attributes.get("id") == "captcha-form":
            return "its CAPTCHA (captcha-form)"
        for name in ("src", "href", "action", "content"):
            target = node.attributes.get(name, "")
            if "/httpservice/retry/enablejs" in target:
                return "a page that needs JavaScript (enablejs)"
            if re.match(r"(https?://[^/]*)?/sorry/", target):
                return "its block page (/sorry/)"
            if re.match(r"https?://consent\.google\.", target):
                return "its consent page (consent.google)"
    return ""
