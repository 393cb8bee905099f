"""Fetch web pages: the address guard, redirects, robots.txt."""

from __future__ import annotations

import functools
import os
import re
import time

from websearch.base.calls import check_cancelled, wait_for
from websearch.base.http_client import (
    BrokenBodyError,
    connect_to_first,
    exchange,
    identified_agent,
)
from websearch.base.site_rules import check_site
from websearch.kit import (
    USER_AGENT,
    Response,
    SearchError,
    drop_empty,
    hide_credentials,
    proxy_for,
    quoted,
    retry_after,
    shorten,
)
from websearch.pages.fetch.walls import find_wall, is_reddit, wall_error
from websearch.pages.pdf.limits import MAX_FILE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

MAX_PAGE_BYTES = 5_000_000  # bytes per page after decompression; longer pages are cut
BROWSER_VARIABLE = "WEB_SEARCH_BROWSER"  # 1: use a browser; a path: use this browser; 0: use none
MAX_URL_CHARS = 8_000  # most servers refuse longer URLs
MAX_STUB = 20_000  # bytes in a page that only redirects by Refresh
MAX_STUB_TEXT = 250  # characters of text in such a page, including the title
# Value of a Refresh header or element: a delay of up to 5 seconds, then the URL.
REFRESH = r"""(?i)\s{0,9}[0-5]?\s{0,9}[;,]\s{0,9}url\s{0,9}=\s{0,9}['"]?([^'"]{1,8000})"""
_COOKIE = r"[\w.%-]{1,100}=[^;,\s\"\x00-\x1f\x7f-\U0010ffff]{0,2000}"
MAX_REDIRECTS = 5  # redirects per page; RFC 9309 asks for at least 5 for a robots.txt
ROBOTS_TIMEOUT = 2.0  # seconds per robots.txt
FIRST_ENTRIES = 8_192  # bytes of an archive to search for entries of office files
OFFICE_ENTRY = (
    rb"PK\x03\x04[\s\S]{26}(?:\[Content_Types\]\.xml|_rels/|docProps/|word/|xl/|ppt/|mimetype"
    rb"|META-INF/(?:container|manifest)\.xml|content\.xml)"
)
MAX_SHARED = 1_000  # answers to keep for other pages, up to 512 KB each
MAX_ROBOTS_CHARS = 512_000  # RFC 9309 asks for at least 500 KiB
ROBOTS_NAME = USER_AGENT.partition("/")[0]  # product token in robots.txt rules
ALLOW_VARIABLE = "WEB_SEARCH_ALLOW_PRIVATE"
# IANA's special-purpose networks and multicast, which some Python versions' ipaddress knows only
# in part; and a metadata service with a public address.
REFUSED_NETWORKS = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 "
    "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 "
    "224.0.0.0/4 240.0.0.0/4 168.63.129.16/32 "
    "::/127 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16 fc00::/7 fe80::/10 "
    "fec0::/10 ff00::/8"
).split()
# Programs such as Clash, Surge and sing-box answer each name with an address in this network and
# connect to the name themselves. No real name ends with .invalid (RFC 6761).
FAKE_ADDRESSES = "198.18.0.0/15"
IMPOSSIBLE_NAME = "web-search-check.invalid"
# Suffixes of names that only private networks resolve (RFC 6762, RFC 8375, and by custom).
PRIVATE_DOMAINS = (
    ".localhost", ".local", ".internal", ".intranet", ".private", ".corp", ".home", ".lan",
    ".localdomain", ".home.arpa",
)  # fmt: skip


# ===== addresses ==================================================================================


def copied_url(text: str) -> str:
    """Return a URL copied from HTML or Markdown without &amp;, link, <>, quotes or backticks."""
    pattern = r"""\[[^\[\]]{0,300}\]\((\S+)\)|<(\S+)>|(["'`])(\S+)\3"""
    match = re.fullmatch(pattern, text.strip())
    url = (match[1] or match[2] or match[4]) if match else text
    address, mark, query = url.partition("?")
    return address + mark + query.replace("&amp;", "&")


def normal_url(text: str) -> str:
    """Return a URL in the form to send: in ASCII, without a fragment, with https by default.

    Raises SearchError: refused for other schemes and for credentials in the URL, invalid_input for
    text that is not a URL.
    """
    from urllib.parse import quote, urlsplit, urlunsplit

    hint = "Pass a URL such as https://example.org/page."
    cleaned = re.sub(r"[\t\r\n]", "", text.strip())
    shown = quoted(hide_credentials(cleaned))
    if len(text) > MAX_URL_CHARS:
        message = f"{shown} is longer than {MAX_URL_CHARS} characters."
        raise SearchError("invalid_input", message, hint)
    if "://" not in cleaned and re.match(r"[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)", cleaned):
        cleaned = "https://" + cleaned
    try:
        parts = urlsplit(cleaned)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        message = f"{shown} is not a URL."
        raise SearchError("invalid_input", message, hint) from None
    if parts.scheme not in ("http", "https"):
        message = f"{shown} is not an http:// or https:// URL."
        raise SearchError("refused" if parts.scheme else "invalid_input", message, hint)
    if parts.username is not None or parts.password is not None:
        message = "The URL contains a user name or password. These are never sent."
        raise SearchError("refused", message, "Pass the URL without them.")
    name = ascii_host(host)
    if not name or port == 0:
        raise SearchError("invalid_input", f"{shown} has no valid host.", hint)
    netloc = (f"[{name}]" if ":" in name else name) + (f":{port}" if port else "")
    path = quote(without_dots(parts.path) or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def without_dots(path: str) -> str:
    """Return a path without . and .. segments, encoded or not (RFC 3986, 5.2.4)."""
    segments: list[str] = []
    names = path.split("/")
    for position, name in enumerate(names):
        plain = name.lower().replace("%2e", ".")
        if plain not in (".", ".."):
            segments.append(name)
            continue
        if plain == ".." and len(segments) > 1:
            segments.pop()
        if position == len(names) - 1:
            segments.append("")
    return "/".join(segments)


def ascii_host(host: str) -> str:
    """Return a host name or IPv6 address in ASCII and lower case; "" if it is invalid."""
    try:
        name = host if ":" in host else host.rstrip(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        return ""
    return name if re.fullmatch(r"[a-z0-9_.-]+|[0-9a-f:.]+(?:%25[\w.~-]+)?", name) else ""


def redirect_target(url: str, target: str) -> str:
    """Return the URL in a Location header; raises SearchError (refused, http).

    http.client decodes headers as Latin-1, but servers send non-ASCII letters as UTF-8.
    """
    from urllib.parse import urljoin

    raw = target.encode("latin-1", "replace")
    target = raw.decode("utf-8", "replace") if not target.isascii() else target
    try:
        joined = urljoin(url, target)
    except ValueError:  # brackets around something other than an IPv6 address
        joined = target
    try:
        return normal_url(joined)
    except SearchError as error:
        if error.kind == "refused":
            raise
        message = f"{host_and_port(url)[0]} redirects to an invalid URL: {error}"
        raise SearchError("http", message, "Use another source.") from None


def host_and_port(url: str) -> tuple[str, int]:
    """Return the host and port of a normalized URL."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def is_public(address: str) -> bool:
    """Return whether an IP address is on the public internet and not a metadata service.

    If an IPv6 address contains an IPv4 address (mapped, compatible, NAT64, 6to4), the IPv4 address
    decides.
    Raises ValueError for text that is not an IP address.
    """
    import ipaddress

    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        number = int(ip)
        if number >> 32 in (0, 0x64FF9B << 64):
            inner = ipaddress.IPv4Address(number & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    if not ip.is_global or ip.is_multicast or ip.is_reserved:
        return False
    return not any(net.version == ip.version and ip in net for net in refused_networks())


@functools.cache
def refused_networks() -> list[Any]:
    """Return REFUSED_NETWORKS as ipaddress networks."""
    import ipaddress

    return [ipaddress.ip_network(network) for network in REFUSED_NETWORKS]


def is_excepted(host: str, port: int, addresses: Iterable[str] = ()) -> bool:
    """Return whether the environment exempts host:port, or all these addresses, from the guard."""
    if f"{f'[{host}]' if ':' in host else host}:{port}" in exceptions():
        return True
    found = [*addresses]
    return bool(found) and are_within(found, excepted_networks())


def exceptions() -> set[str]:
    """Return the exceptions from the guard in the environment: host:port, addresses, networks."""
    return {*map(str.strip, os.environ.get(ALLOW_VARIABLE, "").lower().split(","))}


def excepted_networks() -> list[str]:
    """Return the exceptions that are networks or single addresses."""
    return [text for text in exceptions() if are_within([], [text])]  # false for other texts


def are_within(addresses: Iterable[str], networks: Iterable[str]) -> bool:
    """Return whether each address is in one of the networks; invalid texts never are."""
    import ipaddress

    try:
        known = [ipaddress.ip_network(network, strict=False) for network in networks]
        return all(
            any(ipaddress.ip_address(one.partition("%")[0]) in network for network in known)
            for one in addresses
        )
    except ValueError:
        return False


def has_fake_addresses() -> bool | None:
    """Return whether a proxy program on this machine or network answers every name.

    If so, even a name that cannot exist has an address. None: no name server answers.
    """
    import socket

    try:
        found = socket.getaddrinfo(IMPOSSIBLE_NAME, 80, socket.AF_INET, socket.SOCK_STREAM)
    except OSError as error:
        return None if error.errno == socket.EAI_AGAIN else False
    return are_within([str(address[4][0]) for address in found], [FAKE_ADDRESSES])


def refused_address(host: str, is_fake: bool = False) -> SearchError:
    """Return the error for a host on this machine or in a private network.

    is_fake: whether the host's addresses are FAKE_ADDRESSES.
    """
    message = f"{host} has no public address; private, local and metadata addresses are refused."
    value = FAKE_ADDRESSES if is_fake else "host:port (or an address or network)"
    hint = f"The user may set {ALLOW_VARIABLE}={value} in the environment; no parameter can."
    if is_fake:
        hint = f"A proxy program or VPN may have made up its address. {hint}"
    return SearchError("refused", message, hint)


def guarded_connect(host: str, port: int, excepts: bool = True) -> Callable[..., Any]:
    """Return a substitute for socket.create_connection that connects only to public addresses.

    The function resolves the name once and connects to the address that it checked, so an attacker
    gains nothing from a name that resolves differently the next time.
    excepts: whether the exceptions in the environment apply.
    """

    def connect(address: tuple[str, int], timeout: float, source_address: object = None) -> Any:
        import socket

        try:
            addresses = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            if error.errno not in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None)):
                raise
            hint = "Check the URL and this machine's network connection."
            message = f"The name {host} could not be resolved."
            raise UnknownNameError("network", message, hint) from None
        private = [ip for ip in (str(found[4][0]) for found in addresses) if not is_public(ip)]
        if private and not (excepts and is_excepted(host, port, private)):
            is_fake = host not in private and are_within(private, [FAKE_ADDRESSES])
            if not (is_fake and has_fake_addresses()):
                raise refused_address(host, is_fake)
            check_unresolved_host(host, port)
        return connect_to_first(addresses, timeout)

    return connect


def check_unresolved_host(host: str, port: int) -> None:
    """Raise SearchError (refused) for a host whose name shows that it is private.

    If a proxy resolves the name, nothing else can be checked. Resolvers treat a host whose last
    part is a number as an address, but disagree on 4294967296 and 010.0.0.1, so it must be a public
    address in the usual form. A name without a dot, such as metadata or ip6-localhost, is on this
    machine or its network.
    """
    import socket

    last = host.rpartition(".")[2]
    if ":" in host or re.fullmatch(r"\d+|0x[0-9a-f]*", last):
        try:
            allowed = is_public(host)
        except ValueError:
            allowed = False
    else:
        allowed = "." in host and not host.endswith(PRIVATE_DOMAINS)
        allowed = allowed and host != socket.gethostname().lower()
    if not allowed and not is_excepted(host, port, [host]):
        raise refused_address(host)


# ===== fetching ===================================================================================


class UnknownNameError(SearchError):
    """The host's name does not exist, or no longer exists."""


class Fetched:
    """A page as its server sent it: the URL after all redirects, and the response.

    api_error: why the page was not read through its site's API, or ""
    copy: URL of the archived copy if the page is an archived copy, or ""
    is_broken: whether the connection ended before the page was complete
    """

    def __init__(self, url: str, response: Response) -> None:
        self.url = url
        self.response = response
        self.api_error = ""
        self.is_broken = False
        self.copy = ""


def fetched_bytes(url: str, body: bytes, content_type: str = "") -> Fetched:
    """Return local bytes as if a server had sent them, with the same limits."""
    limit = MAX_FILE_BYTES if is_file(body) else MAX_PAGE_BYTES
    headers = {"content-type": content_type} if content_type else {}
    return Fetched(url, Response(200, headers, body[:limit], cut=len(body) > limit))


class SharedAnswers:
    """Answers that several pages in a call need; each one is requested only once."""

    def __init__(self) -> None:
        import threading

        self.lock = threading.Lock()
        self.locks: dict[str, Any] = {}
        self.values: dict[str, Any] = {}

    def get(self, key: str, ask: Callable[[], Any]) -> Any:
        """Return the result of the first ask() for a key, or raise its SearchError.

        Only pages that need the same key wait.
        """
        import threading

        with self.lock:
            if len(self.values) > MAX_SHARED:  # the pages in a list come from many sites
                self.locks, self.values = {}, {}
            lock, values = self.locks.setdefault(key, threading.Lock()), self.values
        with lock:
            if key not in values:
                try:
                    values[key] = ask()
                except SearchError as error:
                    values[key] = error
        if isinstance(values[key], SearchError):
            raise values[key]
        return values[key]


def page_headers() -> dict[str, str]:
    """Return the headers for a page request; raises SearchError (invalid_input)."""
    return {
        "User-Agent": f"Mozilla/5.0 (compatible; {identified_agent()})",
        "Accept": "text/markdown,text/html;q=0.9,text/plain;q=0.8,*/*;q=0.5",
        "Accept-Language": "en,*;q=0.5",
        "Accept-Encoding": "gzip",
    }


def guarded_request(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request that connects only to public addresses and ends if its call is cancelled.

    Raises SearchError (refused, interrupted).
    """
    check_cancelled()
    host, port = host_and_port(request["url"])
    request = {**request, "wait": wait_for}
    if proxy_for(request["url"]):
        check_unresolved_host(host, port)
        return request
    return {**request, "connect": guarded_connect(host, port)}


def fetch_page(url: str, deadline: float, robots: RobotsCache | None) -> Fetched:
    """Fetch a page, following up to MAX_REDIRECTS redirects; check each target.

    Raises SearchError: refused, timeout, network, provider, http, invalid_input.
    """
    cookie: dict[str, str] = {}  # some sites redirect until their cookie is sent back
    for _ in range(MAX_REDIRECTS + 1):
        check_site(url)
        if robots:
            robots.check(url, deadline)
        headers = {**page_headers(), **cookie}
        request = guarded_request({"method": "GET", "url": url, "headers": headers})
        response, is_broken = page_answer(request, deadline)
        target = onward_target(response, url)
        following = redirect_target(url, target) if target else url
        cookie = cookie_for(following, url, response) or (
            cookie if origin_of(following) == origin_of(url) else {}
        )
        if not target or (following == url and response.status < 300):  # the page reloads itself
            fetched = Fetched(url, response)
            fetched.is_broken = is_broken
            return fetched
        url = following
    message = f"The page redirects more than {MAX_REDIRECTS} times, last to {shorten(url, 200)}."
    raise SearchError("http", message, "Pass the final URL.")


def page_answer(request: dict[str, Any], deadline: float) -> tuple[Response, bool]:
    """Return the response for a page, and whether it is incomplete; raises SearchError.

    If the connection breaks, the beginning of a page is better than nothing.
    """
    try:
        response = exchange({**request, "max_body": MAX_PAGE_BYTES}, deadline, lambda _: None)
        if response.cut and is_file(response.body):
            request = {**request, "max_body": MAX_FILE_BYTES}
            response = exchange(request, deadline, lambda _: None)
    except BrokenBodyError as error:
        if not error.response.body.strip():
            raise
        return error.response, True
    return response, False


def onward_target(response: Response, url: str) -> str:
    """Return the URL to which a response redirects browsers, by Location or Refresh, or "".

    Refresh, as a header or an element, counts if its delay is at most 5 seconds and the page has
    hardly any text.
    """
    headers = response.headers
    if response.status in (301, 302, 303, 307, 308):
        return headers.get("location", "").strip()
    body = response.body
    if response.status != 200 or len(body) > MAX_STUB:
        return ""
    refresh = headers.get("refresh", "")
    is_html = "html" in headers.get("content-type", "html").lower()
    if is_html and (refresh or b"refresh" in body.lower()):
        refresh = refresh_of_stub(response.text(), refresh)
    found = re.match(REFRESH, refresh)
    target = found[1].strip() if found else ""
    try:
        return redirect_target(url, target) if target else ""
    except SearchError:  # such as javascript:
        return ""


def refresh_of_stub(html: str, refresh: str) -> str:
    """Return refresh, or else the value of the page's refresh element; "" if the page has text.

    A refresh element inside noscript also counts, because this client does not run scripts.
    """
    from websearch.base.html_tree import TreeBuilder, text_beginning

    builder = TreeBuilder(html)
    builder.build()
    for node in builder.nodes:
        get = node.attributes.get
        if node.tag == "meta" and get("http-equiv", "").lower() == "refresh" and not refresh:
            refresh = get("content", "")
    is_stub = len(text_beginning(builder.root, 2 * MAX_STUB_TEXT)) < MAX_STUB_TEXT
    return refresh if is_stub else ""


def origin_of(url: str) -> tuple[str, str, int]:
    """Return the scheme, host and port of a normalized URL."""
    return (url.partition(":")[0], *host_and_port(url))


def cookie_for(url: str, asked: str, response: Response) -> dict[str, str]:
    """Return the Cookie header for a redirect chain's next request, or {} without a cookie."""
    pair = re.match(_COOKIE, response.headers.get("set-cookie", ""))
    return {"Cookie": pair[0]} if pair and origin_of(url) == origin_of(asked) else {}


def is_file(body: bytes) -> bool:
    """Return whether a body is a PDF or office file, which may be longer than a page."""
    return is_pdf(body) or (is_office(body) and bool(re.search(OFFICE_ENTRY, body[:FIRST_ENTRIES])))


def is_pdf(body: bytes) -> bool:
    """Return whether a body is a PDF file, perhaps after other bytes."""
    return bool(re.search(rb"%PDF-\d", body[:1_024]))


def is_office(body: bytes) -> bool:
    """Return whether a body may be an office file: a ZIP archive or the older OLE format."""
    return body.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))


def check_status(fetched: Fetched) -> None:
    """Raise SearchError unless the response has a success status and content.

    The text of an error page goes into details.page_text, not into the message, because it is
    untrusted.
    """
    response = fetched.response
    status = response.status
    if 200 <= status < 300 and status not in (204, 205):
        return
    host = host_and_port(fetched.url)[0]
    wall = find_wall(response, response.text())
    if is_reddit(host) and status == 403:
        wall = "a network block"
    if wall:
        raise wall_error(host, wall, status)
    from http.client import responses

    phrase = f" ({responses[status]})" if status in responses else ""
    message = f"{host} answered {status}{phrase}."
    details: dict[str, Any] = drop_empty({"page_text": response.excerpt()})
    if status == 429 or status >= 500:
        details |= {"retryable": True, **drop_empty({"retry_after": retry_after(response)})}
        raise SearchError("http", message, "Try again later.", status=status, **details)
    hint = "Check the URL. If the page has moved, search for its title."
    if status in (401, 402, 403, 451):
        hint = "Use another source: the site asks for a login or blocks automated requests."
    if status == 407:
        hint = "Add user:password@ to http_proxy: the proxy asks for a login."
    raise SearchError("http", message, hint, status=status, **details)


def is_gone(answer: Fetched | SearchError) -> bool:
    """Return whether an answer means that a page or its host no longer exists."""
    if isinstance(answer, Fetched):
        return answer.response.status in (404, 410)
    return isinstance(answer, UnknownNameError)


# ===== robots.txt (RFC 9309) ======================================================================


class RobotsCache(SharedAnswers):
    """The robots.txt files for the hosts in a call; each file is fetched once."""

    def check(self, url: str, deadline: float) -> None:
        """Raise SearchError (refused) if robots.txt disallows the page for this tool.

        A file that cannot be fetched disallows everything (RFC 9309).
        """
        origin, host = "/".join(url.split("/")[:3]), host_and_port(url)[0]
        text = self.get(origin, lambda: fetch_robots(f"{origin}/robots.txt", deadline))
        if text is not None and robots_allow(text, url[len(origin) :]):
            return
        message = f"robots.txt of {host} disallows this page."
        if text is None:
            message = f"robots.txt of {host} could not be read, so nothing is allowed."
        hint = "Omit {robots} to read the page anyway."
        raise SearchError("refused", message, hint, retryable=text is None)


def fetch_robots(url: str, deadline: float) -> str | None:
    """Return a robots.txt; "" if it does not exist (4xx), None after a failure (5xx, network)."""
    try:
        fetched = fetch_page(url, min(deadline, time.monotonic() + ROBOTS_TIMEOUT), None)
    except UnknownNameError:
        return ""  # so reading the page also fails, for the same reason
    except SearchError as error:
        if error.kind == "refused":
            raise
        return None
    status = fetched.response.status
    if status == 429 or status >= 500:
        return None
    return fetched.response.text()[:MAX_ROBOTS_CHARS] if status == 200 else ""


def robots_allow(text: str, path: str) -> bool:
    """Return whether robots.txt allows a path: the longest matching rule wins; Allow wins ties.

    Only groups for this tool count; if there are none, groups for every agent ("*") count.
    """
    ours: list[tuple[str, str]] = []
    everyone: list[tuple[str, str]] = []
    for_us = for_everyone = in_rules = names_us = False
    for line in text.splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        field, value = field.strip().lower(), value.strip()
        if field == "user-agent":
            if in_rules:  # the first line of the next group
                for_us = for_everyone = in_rules = False
            agent = value.lower().partition("/")[0]
            for_us = for_us or agent == ROBOTS_NAME
            for_everyone = for_everyone or agent == "*"
            names_us = names_us or for_us
        elif colon and field in ("allow", "disallow"):
            in_rules = True
            if for_us:
                ours.append((field, value))
            elif for_everyone:
                everyone.append((field, value))
    path = robots_quoted(path)
    decision = (-1, True)
    for field, pattern in ours if names_us else everyone:
        if pattern and robots_match(pattern, path):
            decision = max(decision, (len(pattern), field == "allow"))
    return decision[1]


def robots_match(pattern: str, path: str) -> bool:
    """Return whether a robots.txt pattern matches a quoted path from its start.

    The characters * and $ are special. Each piece between asterisks is searched for only once, so
    every pattern is fast.
    """
    ends = pattern.endswith("$")
    pieces = [robots_quoted(piece) for piece in pattern.removesuffix("$").split("*")]
    if not path.startswith(pieces[0]):
        return False
    position = len(pieces[0])
    for index, piece in enumerate(pieces[1:], 2):
        last = index == len(pieces)
        if last and ends:
            return len(path) - len(piece) >= position and path.endswith(piece)
        position = path.find(piece, position)
        if position < 0:
            return False
        position += len(piece)
    return not ends or position == len(path)


def robots_quoted(text: str) -> str:
    """Return a path or pattern with uniform percent-encoding."""
    from urllib.parse import quote, unquote_to_bytes

    return quote(unquote_to_bytes(text), safe="/?=&;,:@+$")
