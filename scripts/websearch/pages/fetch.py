"""Fetch web pages: which addresses may be fetched, redirects, robots.txt, bot walls."""

from __future__ import annotations

import os
import re
import time

from websearch.common import SearchError, drop_empty, exchange, is_loopback, retry_after, shorten

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Response

MAX_PAGE_BYTES = 5_000_000  # of one page after decompression; what follows is cut off and said
MAX_REDIRECTS = 5  # for one page; RFC 9309 asks for at least as many for a robots.txt
ROBOTS_TIMEOUT = 2.0  # seconds for one robots.txt
MAX_ROBOTS_BYTES = 512_000  # RFC 9309 asks for at least 500 KiB
MAX_ERROR_HTML = 200_000  # characters of an error page that are searched for the signs of a wall
PAGE_AGENT = "web-search-skill"  # the product token that robots.txt rules may name
PAGE_HEADERS = {
    "User-Agent": f"Mozilla/5.0 (compatible; {PAGE_AGENT}/1.0)",
    "Accept": "text/markdown,text/html;q=0.9,text/plain;q=0.8,*/*;q=0.5",
    "Accept-Language": "en,*;q=0.5",
    "Accept-Encoding": "gzip",
}


# ===== addresses: what may be fetched =============================================================

# IANA's special-purpose networks and multicast, listed because ipaddress knows another part of
# them in every Python version, and one metadata service with a public address.
REFUSED_NETWORKS = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 "
    "192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 "
    "224.0.0.0/4 240.0.0.0/4 168.63.129.16/32 "
    "::/127 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16 fc00::/7 fe80::/10 "
    "fec0::/10 ff00::/8"
).split()
ALLOW_VARIABLE = "WEB_SEARCH_ALLOW_PRIVATE"


def normal_url(text: str) -> str:
    """Return an address ready to be sent: ASCII, without fragment; raises SearchError.

    A name without a scheme gets https. Refused: other schemes and credentials in the address.
    """
    from urllib.parse import quote, urlsplit, urlunsplit

    hint = "Give an address such as https://example.org/page."
    cleaned = re.sub(r"[\t\r\n]", "", text.strip())
    if "://" not in cleaned and re.match(r"[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)", cleaned):
        cleaned = "https://" + cleaned
    try:
        parts = urlsplit(cleaned)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise SearchError(
            "invalid_input", f"{shorten(text, 200)!r} is no web address.", hint
        ) from None
    if parts.scheme not in ("http", "https"):
        message = f"{shorten(text, 200)!r} is no http:// or https:// address."
        raise SearchError("refused" if parts.scheme else "invalid_input", message, hint)
    if parts.username is not None or parts.password is not None:
        message = "The address holds a user name or password, which are never sent."
        raise SearchError("refused", message, "Give the address without them.")
    try:
        name = host if ":" in host else host.rstrip(".").encode("idna").decode("ascii").lower()
    except UnicodeError:
        name = ""
    if not re.fullmatch(r"[a-z0-9_.-]+|[0-9a-f:.]+(?:%25[\w.~-]+)?", name) or port == 0:
        raise SearchError("invalid_input", f"{shorten(text, 200)!r} names no host.", hint)
    netloc = (f"[{name}]" if ":" in name else name) + (f":{port}" if port else "")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]{}|^`\\")
    query = re.sub(r"[{}|^`\\\[\]]", lambda match: f"%{ord(match[0]):02X}", query)
    return urlunsplit((parts.scheme, netloc, path, query, ""))


def host_and_port(url: str) -> tuple[str, int]:
    """Return host and port that a normal URL leads to."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the public internet and to no metadata service.

    An IPv6 address that holds an IPv4 one (mapped, compatible, NAT64, 6to4) is judged by it.
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
    networks = map(ipaddress.ip_network, REFUSED_NETWORKS)
    return not any(ip.version == network.version and ip in network for network in networks)


def is_excepted(host: str, port: int) -> bool:
    """Return whether the environment names host:port as an exception from the guard."""
    named = os.environ.get(ALLOW_VARIABLE, "").lower().split(",")
    return f"{f'[{host}]' if ':' in host else host}:{port}" in [one.strip() for one in named]


def guarded_connect(host: str, port: int) -> Callable[..., Any]:
    """Return what makes the connection to host and port, in place of socket.create_connection.

    The name is resolved once, here; the connection goes to the very address that was checked, so
    a name that resolves differently the next time gains nothing.
    """

    def connect(address: tuple[str, int], timeout: Any = None, source_address: Any = None) -> Any:
        import socket

        found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
        if not is_excepted(host, port) and not all(is_public(str(one[4][0])) for one in found):
            raise refused_address(host)
        failure: OSError = OSError("no address")
        for family, kind, protocol, _, target in found:
            connection = socket.socket(family, kind, protocol)
            try:
                connection.settimeout(timeout if isinstance(timeout, (int, float)) else None)
                connection.connect(target)
            except OSError as error:
                connection.close()
                failure = error
            else:
                return connection
        raise failure

    return connect


def refused_address(host: str) -> SearchError:
    """Return the error for a host on this machine or in a private network."""
    message = f"{host} is no public address; private, local and metadata addresses are refused."
    hint = f"The user may set {ALLOW_VARIABLE}=host:port in the environment; no option can."
    return SearchError("refused", message, hint)


def proxy_for(url: str) -> str:
    """Return the address of the proxy that urllib takes for a URL, or ""."""
    import urllib.request

    scheme, _, rest = url.partition("://")
    proxy = urllib.request.getproxies().get(scheme, "")
    bypassed = is_loopback(url) or urllib.request.proxy_bypass(rest.split("/")[0])
    return "" if bypassed else proxy


def check_literal_address(host: str, port: int) -> None:
    """Refuse a private address that stands in the URL itself; raises SearchError.

    All that can be checked where a proxy resolves the name. inet_aton knows the short, octal and
    hexadecimal ways to write an address, as resolvers do.
    """
    import socket

    try:
        literal = host if ":" in host else socket.inet_ntoa(socket.inet_aton(host))
    except OSError:
        literal = ""
    local_name = host == "localhost" or host.endswith((".localhost", ".local", ".internal"))
    if not is_excepted(host, port) and (local_name or (literal and not is_public(literal))):
        raise refused_address(host)


# ===== fetching ===================================================================================


class Fetched:
    """One page as it came: the address that it was at last found at, and the server's answer."""

    def __init__(self, url: str, response: Response) -> None:
        self.url = url
        self.response = response


def page_request(url: str) -> dict[str, Any]:
    """Return the request for a page, guarded unless a proxy resolves the name for us."""
    host, port = host_and_port(url)
    request = {"method": "GET", "url": url, "headers": PAGE_HEADERS, "max_body": MAX_PAGE_BYTES}
    if proxy_for(url):
        check_literal_address(host, port)
        return request
    return {**request, "connect": guarded_connect(host, port)}


def fetch_page(url: str, deadline: float, robots: RobotsCache | None) -> Fetched:
    """Fetch a page, following up to MAX_REDIRECTS redirects, each checked again.

    Raises SearchError: refused, timeout, network, provider, http, blocked, invalid_input.
    """
    for _ in range(MAX_REDIRECTS + 1):
        if robots:
            robots.check(url, deadline)
        response = exchange(page_request(url), deadline, lambda _: None)
        target = response.headers.get("location", "").strip()
        if response.status not in (301, 302, 303, 307, 308) or not target:
            return Fetched(url, response)
        url = redirect_target(url, target)
    message = f"More than {MAX_REDIRECTS} redirects, the last one to {shorten(url, 200)}."
    raise SearchError("http", message, "Give the final address.")


def redirect_target(url: str, target: str) -> str:
    """Return the address that a Location header leads to; raises SearchError.

    http.client reads headers as Latin-1; those who send other letters send UTF-8.
    """
    from urllib.parse import urljoin

    raw = target.encode("latin-1", "replace")
    target = raw.decode("utf-8", "replace") if not target.isascii() else target
    try:
        joined = urljoin(url, target)
    except ValueError:  # an IPv6 address that is none
        joined = target
    return normal_url(joined)


def check_status(fetched: Fetched) -> None:
    """Raise SearchError if the answer is no page: a bot wall, or an error of the server."""
    response = fetched.response
    status = response.status
    if 200 <= status < 300 and status not in (204, 205):
        return
    host = host_and_port(fetched.url)[0]
    wall = find_wall(response, response.text()[:MAX_ERROR_HTML])
    if wall:
        raise blocked_error(host, wall, status)
    message = f"{host} answered {status}: {response.excerpt() or 'no text'}"
    if status == 429 or status >= 500:
        wait = drop_empty({"retry_after": retry_after(response)})
        hint = "Try again later."
        raise SearchError("http", message, hint, status=status, retryable=True, **wait)
    hint = "Check the address; search for the page's title if it has moved."
    if status in (401, 402, 403, 451):
        hint = "The site does not serve this page to programs, or asks for a login."
    raise SearchError("http", message, hint, status=status)


# What bot walls are made of: (name, pattern in the body or headers).
WALLS = (
    ("Cloudflare", r"cf-mitigated: challenge|/cdn-cgi/challenge-platform/|cf-browser-verification"),
    ("Cloudflare", r"(?i)<title>(?:just a moment|attention required! \| cloudflare)"),
    ("DataDome", r"captcha-delivery\.com"),
    ("PerimeterX", r"(?i)px-captcha|_pxCaptcha|perimeterx"),
    ("Imperva", r"_Incapsula_Resource|Incapsula incident"),
    ("Akamai", r"errors\.edgesuite\.net|akam-logo|_sec/cp_challenge"),
    ("AWS WAF", r"x-amzn-waf-action: |awsWafCookieDomainList|\.awswaf\.com"),
    ("Anubis", r"/\.within\.website/"),
    ("DDoS-Guard", r"(?i)ddos-guard"),
    ("Sucuri", r"sucuri\.net/privacy|sucuri_cloudproxy_js"),
    ("a captcha", r"(?i)class=[\"'](?:g-recaptcha|h-captcha|cf-turnstile)|<altcha-widget|geetest"),
    (
        "a robot check",
        r"(?i)unusual traffic|verify(?:ing)? (?:that )?you are (?:a )?human|are you a robot",
    ),
    (
        "a robot check",
        r"(?i)verifying your (?:request|browser)|checking your browser|anomaly-modal",
    ),
)


def find_wall(response: Response, html: str) -> str:
    """Return whose bot wall an answer without content is, or ""."""
    headers = "\n".join(f"{name}: {value}" for name, value in response.headers.items())
    return next((name for name, sign in WALLS if re.search(sign, f"{headers}\n{html}")), "")


def blocked_error(host: str, wall: str, status: int) -> SearchError:
    """Return the error for a page behind a bot wall."""
    message = f"{host} shows {wall} instead of the page: it does not serve programs."
    hint = "Use another source, or open the page in a browser."
    return SearchError("blocked", message, hint, status=status)


# ----- robots.txt (RFC 9309)


class RobotsCache:
    """The robots.txt rules of the hosts of one call, each file fetched once."""

    def __init__(self) -> None:
        import threading

        self.lock = threading.Lock()
        self.locks: dict[str, Any] = {}
        self.rules: dict[str, str | None] = {}  # None: the file cannot be had

    def check(self, url: str, deadline: float) -> None:
        """Raise SearchError (refused) if robots.txt disallows the page to this tool.

        A file that cannot be had disallows everything, says RFC 9309.
        """
        import threading

        origin = "/".join(url.split("/")[:3])
        with self.lock:
            host_lock = self.locks.setdefault(origin, threading.Lock())
        with host_lock:  # one host's slow file must not hold up the others'
            if origin not in self.rules:
                limit = min(deadline, time.monotonic() + ROBOTS_TIMEOUT)
                self.rules[origin] = fetch_robots(origin + "/robots.txt", limit)
        text, host = self.rules[origin], host_and_port(url)[0]
        if text is None:
            message = f"robots.txt of {host} could not be read, which counts as a refusal."
        elif robots_allow(text, url[len(origin) :]):
            return
        else:
            message = f"robots.txt of {host} disallows this page."
        raise SearchError("refused", message, "Leave out --robots to read it all the same.")


def fetch_robots(url: str, deadline: float) -> str | None:
    """Return a robots.txt; "" if there is none (4xx), None if it cannot be had (5xx, network)."""
    try:
        fetched = fetch_page(url, deadline, None)
    except SearchError as error:
        if error.kind == "refused":
            raise
        return None
    status = fetched.response.status
    if status == 429 or status >= 500:
        return None
    return fetched.response.text()[:MAX_ROBOTS_BYTES] if status == 200 else ""


def robots_allow(text: str, path: str) -> bool:
    """Return whether robots.txt allows a path: the longest rule that matches decides, then Allow.

    The groups that name this tool count; without one, those for every agent ("*").
    """
    ours: list[tuple[str, str]] = []
    everyone: list[tuple[str, str]] = []
    agents: list[str] = []
    in_rules = named = False
    for line in text.splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        field, value = field.strip().lower(), value.strip()
        if field == "user-agent":
            agents = [value.lower()] if in_rules else [*agents, value.lower()]
            in_rules = False
            named = named or value.lower().split("/")[0] == PAGE_AGENT
        elif colon and field in ("allow", "disallow"):
            in_rules = True
            if any(agent.split("/")[0] == PAGE_AGENT for agent in agents):
                ours.append((field, value))
            elif "*" in agents:
                everyone.append((field, value))
    decision = (-1, True)
    for field, pattern in ours if named else everyone:
        if pattern and robots_match(pattern, path):
            decision = max(decision, (len(pattern), field == "allow"))
    return decision[1]


def robots_match(pattern: str, path: str) -> bool:
    """Return whether a robots.txt pattern matches a path from its start; * and $ are special.

    Each piece between two stars is looked for once, so no pattern can cost much time.
    """
    from urllib.parse import quote, unquote_to_bytes

    ends = pattern.endswith("$")
    pieces = [
        quote(unquote_to_bytes(one), safe="/?=&;,:@+$")
        for one in pattern.removesuffix("$").split("*")
    ]
    path = quote(unquote_to_bytes(path), safe="/?=&;,:@+$")
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
