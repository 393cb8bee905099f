"""Shared code for engine modules: result pages as trees, URLs, bot walls."""

from __future__ import annotations

import re

from websearch.base.html_tree import BLOCKS, Node, TreeBuilder
from websearch.base.site_rules import matches, plain_address
from websearch.engines.base.days import day_of_text
from websearch.engines.base.filters import site_filter
from websearch.engines.base.messages import EngineRequest
from websearch.kit import WEB_ADDRESS, SearchError, clean_text, plain_text, retry_after, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from websearch.engines.base.engine import Engine
    from websearch.kit import Response

MAX_BYTES = 2_000_000  # characters per result page; real pages stay under 600,000
MAX_TEXT = 1_000  # characters per title or snippet
MAX_PIECES = 1_000  # elements and strings in one title or snippet
FILTERED_HINT = "Remove filters, or use another engine."  # used if filters excluded every result
UNSEEN = ("script", "style", "template", "textarea")  # elements whose text is not shown
# Parameters that track a visitor or change a page's appearance; they do not identify the page.
_TRACKING = (
    r"(?i)(utm_\w+|gclid|gbraid|wbraid|fbclid|msclkid|dclid|yclid|igshid|mc_cid|mc_eid|_hsenc|_hsmi"
    r"|vero_id|oly_\w+|ref_src|ref_url|cmpid|ocid|amp|amp_\w+|usqp|outputtype)(=|$)"
)
# The ends of bot walls' titles; a site may put its name first.
_WALL_TITLES = {"Just a moment": "Cloudflare", "Verifying your request": "a bot check"}
_WALL_TITLE = rf"\b({'|'.join(_WALL_TITLES)})[\s.…]*$"
# First parts of a host that serves another version of the same site: phones, AMP.
_MOBILE_HOST = r"^(?:www\d?|m|mobile|amp|touch)\.(?=[^.]+\.[^.]+)"
# Pages that a cache serves for another host: the page's URL is in the path.
_AMP_CACHES = (
    r"^(?:www\.)?google\.[a-z.]+/amp/(?:s/)?(?P<page>.+)",
    r"^[\w-]+\.cdn\.ampproject\.org/[cvr]/(?:s/)?(?P<page>.+)",
)

# ===== elements on a result page ==================================================================


def read_nodes(html: str) -> list[Node]:
    """Return a result page's elements in document order."""
    builder = TreeBuilder(html)
    builder.build()
    return builder.nodes


def has_class(node: Node, *names: str) -> bool:
    """Return whether an element has one of the classes."""
    classes = node.attributes.get("class", "")
    return bool(classes) and not set(names).isdisjoint(classes.split())


def nodes_below(nodes: list[Node], start: int, end: int) -> list[Node]:
    """Return nodes[start] and the elements below it, up to nodes[end]."""
    inside = {nodes[start]}
    for index in range(start + 1, end):
        if nodes[index].parent not in inside:
            return nodes[start:index]
        inside.add(nodes[index])
    return nodes[start:end]


def result_blocks(nodes: list[Node], tag: str) -> Iterator[list[Node]]:
    """Yield the elements of each block with the class "result", the block itself first.

    An unclosed block ends where the next one begins.
    """
    starts = [
        index for index, node in enumerate(nodes) if node.tag == tag and has_class(node, "result")
    ]
    # Not strict: without any block, there is one end too many.
    for start, end in zip(starts, [*starts[1:], len(nodes)], strict=False):
        yield nodes_below(nodes, start, end)


def with_class(nodes: list[Node], *names: str) -> Node | None:
    """Return the first element with one of the classes, or None."""
    return next((node for node in nodes if has_class(node, *names)), None)


def shown_text(node: Node | None) -> str:
    """Return an element's text on one line, cleaned and limited in length; "" for None."""
    pieces: list[str] = []
    waiting: list[Node | str] = [node] if node else []
    for _ in range(MAX_PIECES):
        if not waiting:
            break
        piece = waiting.pop()
        if isinstance(piece, str):
            pieces.append(piece[: 4 * MAX_TEXT])
        elif piece.tag not in UNSEEN:
            inner = piece.children[MAX_PIECES::-1]
            separates = piece.tag in BLOCKS or piece.tag in ("br", "cite")
            waiting += [" ", *inner, " "] if separates else inner
    return shorten(" ".join(clean_text("".join(pieces)).split()), MAX_TEXT)


def api_text(text: object) -> str:
    """Return text from an API on one line, without highlighting; "" if it is not a string."""
    return shorten(" ".join(plain_text(text).split()), MAX_TEXT) if isinstance(text, str) else ""


def api_texts(items: object, name: str) -> list[str]:
    """Return a list's strings; an item is a string, or an object with the string under a name."""
    listed = items if isinstance(items, list) else []
    texts = [item.get(name) if isinstance(item, dict) else item for item in listed]
    return [text for text in map(api_text, texts) if text]


def api_result(title: object, url: object, snippet: object, moment: object) -> dict[str, Any]:
    """Return a result from an API's fields; {} without a web URL."""
    if not isinstance(url, str) or not split_url(url):
        return {}
    return {
        "title": api_text(title) or url,
        "url": tidy_url(url),
        "snippet": api_text(snippet),
        "date": day_of_text(moment),
    }


# ===== URLs =======================================================================================


def absolute_url(href: str, engine_host: str) -> str:
    """Return a link's target as an http or https URL, "" if it has none.

    engine_host completes a link without a host or scheme.
    """
    href = tidy_url(href)
    if href.startswith("//"):
        href = "https:" + href
    elif href.startswith("/"):
        href = f"https://{engine_host}{href}"
    return href if split_url(href) else ""


def split_url(url: str) -> tuple[str, str, str] | None:
    """Return (host, path, query) of an http or https URL; None if it is neither."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            return None
        return parts.hostname.lower(), parts.path, parts.query
    except ValueError:  # a misplaced bracket
        return None


def query_value(query: str, *names: str) -> str:
    """Return the first named value of a query string, decoded once.

    A plus sign is kept: in a URL it is a plus sign, and spaces are written as %20.
    """
    from urllib.parse import unquote

    for field in query.split("&"):
        name, _, value = field.partition("=")
        if name in names and value:
            return unquote(value)
    return ""


def tidy_url(url: str) -> str:
    """Return a URL without white space, which may come from decoding: a space becomes %20."""
    return re.sub(r"\s", lambda blank: "%20" if blank[0] == " " else "", clean_text(url).strip())


def is_on_host(host: str, name: str) -> bool:
    """Return whether a host is the named host or a subdomain of it."""
    return host == name or host.endswith(f".{name}")


def is_advertisement(url: str) -> bool:
    """Return whether a URL is an advertisement click of DuckDuckGo, Bing or Google."""
    host, path, _ = split_url(url) or ("", "", "")
    clicks = {"duckduckgo.com": "/y.js", "bing.com": "/aclick", "google.com": "/aclk"}
    sold = any(is_on_host(host, name) and path.startswith(at) for name, at in clicks.items())
    return sold or is_on_host(host, "googleadservices.com") or is_on_host(host, "doubleclick.net")


def canonical_url(url: str) -> str:
    """Return the common form of a page's URLs.

    It omits scheme, default port, fragment, tracking parameters, trailing slash, www and the hosts
    of mobile and AMP versions; hosts such as Wikipedia's en.m become en.
    """
    rest = re.sub(r"^[a-zA-Z][a-zA-Z0-9+.-]*://", "", url.strip()).partition("#")[0]
    for pattern in _AMP_CACHES:
        if cached := re.match(pattern, rest):
            rest = cached["page"]
    address, _, query = rest.partition("?")
    host, slash, path = address.partition("/")
    host = re.sub(r":(80|443)$", "", host.lower().rpartition("@")[2]).rstrip(".")
    host = re.sub(_MOBILE_HOST, "", host)
    host = re.sub(r"^([a-z-]{2,12})\.m\.(?=wiki)", r"\1.", host)
    amp_or_index = r"^/amp(?=/.)|[/.]amp(?:\.html)?/?$|/index\.(?:html?|php)$"
    path = re.sub(amp_or_index, "", f"{slash}{path}")
    fields = sorted(field for field in query.split("&") if field and not re.match(_TRACKING, field))
    return f"{host}{path.rstrip('/')}{'?' if fields else ''}{'&'.join(fields)}"


def on_asked_sites(
    engine: Engine, results: list[dict[str, Any]], params: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return the results that match the filters site and exclude_site of params.

    Engines for the whole web do not always obey these filters; the APIs of single sources do.
    """
    if "web" not in engine.sources:
        return results
    return [result for result in results if is_on_asked_site(result["url"], params)]


def is_on_asked_site(url: str, params: dict[str, Any]) -> bool:
    """Return whether a URL matches the filters site and exclude_site of params, paths included."""
    address = plain_address(url)
    wanted, unwanted = (
        [plain_address(site_filter(name, site)).removeprefix("www.") for site in params[name]]
        if name in params
        else []
        for name in ("site", "exclude_site")
    )
    is_wanted = not wanted or any(matches(address, site) for site in wanted)
    return is_wanted and not any(matches(address, site) for site in unwanted)


def other_sites_warning(engine: Engine, left_out: list[dict[str, Any]]) -> str:
    """Return the sentence that counts the results that are not on the requested sites.

    It contains the first three sites: one of them may be the intended site.
    """
    sites = dict.fromkeys(canonical_url(result["url"]).partition("/")[0] for result in left_out)
    named = ", ".join([*list(sites)[:3], *(["..."] if len(sites) > 3 else [])])
    results = "1 result" if len(left_out) == 1 else f"{len(left_out)} results"
    return f"{results} from {engine.title} left out, on other sites: {named}."


def with_address(results: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results whose URL a browser would open as a page."""
    return [result for result in results if re.match(WEB_ADDRESS, str(result.get("url")))]


# ===== requests ===================================================================================


def within_limit(engine: Engine, query: str) -> str:
    """Return a query with its operators; raises SearchError (invalid_input) if it is too long."""
    title, longest = engine.title, engine.max_query
    if len(query) <= longest:
        return query
    message = f"{title} accepts queries of at most {longest} characters, not {len(query)}."
    raise SearchError("invalid_input", message, "Use fewer words; site filters also count.")


def get_request(
    url: str, fields: dict[str, str], headers: dict[str, str], max_body: int = MAX_BYTES
) -> EngineRequest:
    """Return the GET request for a result page; its fields are kept for the next page."""
    from urllib.parse import urlencode

    address = f"{url}?{urlencode(fields)}" if fields else url
    return EngineRequest(address, headers, fields=fields, max_body=max_body)


# ===== bot walls, and pages with neither results nor a known "no results" message =================


def wall_signal(nodes: list[Node], is_empty: bool) -> str:
    """Return the signal of a bot wall that any site may use, or "".

    An engine's "no results" page is not a wall, even if Cloudflare added its script.
    """
    paths = {"/cdn-cgi/challenge-platform/": "Cloudflare", "/.within.website/": "Anubis"}
    for node in [] if is_empty else nodes:
        if node.tag == "altcha-widget":
            return "a bot wall (Altcha)"
        if node.tag == "title":
            title = re.search(_WALL_TITLE, shown_text(node))
            name = _WALL_TITLES[title[1]] if title else None
        else:
            target = node.attributes.get("src") or node.attributes.get("href") or ""
            name = next((wall for path, wall in paths.items() if path in target), None)
        if name:
            return f"a bot wall ({name})"
    return ""


def header_signal(response: Response) -> str:
    """Return the signal of a bot wall in a response's headers, or ""."""
    location = response.headers.get("location", "")
    if 300 <= response.status < 400 and re.search(r"/sorry/|//sorry\.google\.", location):
        return "a redirect to its block page (/sorry/)"
    if 300 <= response.status < 400 and "//consent.google." in location:
        return "a redirect to its consent page (consent.google)"
    if response.headers.get("cf-mitigated", "").lower() == "challenge":
        return "a bot wall (Cloudflare)"
    return ""


def wall_error(engine: Engine, response: Response, signal: str) -> SearchError:
    """Return the error for a response that is a bot wall; pacing adds the pause."""
    message = f"{engine.title} answered with {signal}."
    details = {"status": response.status, "retry_after": retry_after(response)}
    return SearchError("blocked", message, "", signal=signal, **details)


def layout_error(engine: Engine, response: Response) -> SearchError:
    """Return the error for a page with neither results nor the engine's "no results" message."""
    message = (
        f'{engine.title}\'s page has neither results nor a "no results" message; it '
        f"begins: {response.excerpt() or '(nothing)'}"
    )
    hint = "The layout may have changed, or a proxy answered instead. Use another engine."
    return SearchError("provider", message, hint, status=response.status)
