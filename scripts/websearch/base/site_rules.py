"""The owner's rules: which sites may be shown and read. An agent cannot change them.

WEB_SEARCH_ALLOW_SITES and WEB_SEARCH_BLOCK_SITES contain comma-separated rules: a host (with its
subdomains), *.host (only its subdomains) or host/path. They are read from the environment, then
from secrets.yaml. A rule applies to results, pages, redirects, copies in the Internet Archive, PDF
files and everything that a browser loads.
"""

from __future__ import annotations

import os
import posixpath
import re

from websearch.kit import SearchError, quoted, read_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALLOW, BLOCK = "WEB_SEARCH_ALLOW_SITES", "WEB_SEARCH_BLOCK_SITES"
OWNER_HINT = "Only the owner of this machine can change this."
# A copy in the Internet Archive, as plain_address writes its URL: the time may be missing or a
# wildcard, and the page's scheme may be missing.
ARCHIVE = re.compile(
    r"(?:[\w-]+\.)?archive\.org/(?:(?:web|save|screenshot)/|(?=\d+/https?:))(?:[\d*]{1,15}[a-z_]{0,5}/)?"
    r"(?:https?:/+)?(?P<page>.+)",
    re.DOTALL | re.IGNORECASE,
)


def rules(variable: str) -> list[str]:
    """Return a variable's rules, normalized for comparison with addresses."""
    value = os.environ.get(variable, "").strip() or read_secrets().get(variable, "")
    return [plain_address(rule) for rule in value.replace(",", " ").split()]


def plain_address(url: str) -> str:
    """Return a URL's host/path, with the host in lower case, as IDNA, without port and final dot.

    "" if programs disagree about its host: see has_unclear_host.
    """
    from urllib.parse import unquote, urlsplit

    text = url if "://" in url else f"https://{url}"
    if has_unclear_host(text):
        return ""
    try:
        parts = urlsplit(text)
        host = unquote(parts.hostname or "").rstrip(".")
    except ValueError:
        return ""
    try:
        star = "*." if host.startswith("*.") else ""
        host = star + host.removeprefix("*.").encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = host.lower()
    path = posixpath.normpath(f"/{unquote(parts.path)}").lstrip("/")  # "//" and ".." are resolved
    return f"{host}/{path}".rstrip("/.")


def has_unclear_host(url: str) -> bool:
    r"""Return whether a URL's authority has a backslash or user information.

    A browser takes https://evil.example\\@docs.example/ to evil.example, urllib to docs.example.
    """
    authority = re.match(r"[^/?#]*:/*([^/?#]*)", url)
    return bool(authority and re.search(r"[\\@]", authority[1]))


def matches(address: str, rule: str) -> bool:
    """Return whether a rule covers an address (host/path)."""
    host, _, path = address.partition("/")
    rule_host, _, rule_path = rule.partition("/")
    if rule_path and not f"{path}/".startswith(f"{rule_path}/"):
        return False
    if rule_host.startswith("*."):
        return host.endswith(rule_host[1:])
    return host == rule_host or host.endswith(f".{rule_host}")


def shown_addresses(url: str) -> list[str]:
    """Return a URL as host/path; for a copy in the archive, also the page's own.

    The page itself comes last. Copies of copies also count, and characters may be encoded twice.
    """
    from urllib.parse import unquote

    addresses = [plain_address(url)]
    while True:
        decoded = addresses[-1]
        while (once_more := unquote(decoded)) != decoded:
            decoded = once_more
        copy = ARCHIVE.fullmatch(decoded)
        if not copy:
            return addresses
        page = copy["page"]
        if re.match(r"(?i)(?:web|save|screenshot)/", page):  # one of the archive's own paths
            page = f"web.archive.org/{page}"
        addresses.append(plain_address(page))


def refusing_rule(url: str) -> str:
    """Return the variable whose rules exclude a URL; "" if it may be shown and read.

    A copy in the archive is allowed if its page is, unless the archive itself is blocked.
    """
    addresses, allowed = shown_addresses(url), rules(ALLOW)
    if allowed and not any(matches(addresses[-1], rule) for rule in allowed):
        return ALLOW
    blocked = rules(BLOCK)
    if blocked and has_unclear_host(url):
        return BLOCK
    is_blocked = any(matches(address, rule) for address in addresses for rule in blocked)
    return BLOCK if is_blocked else ""


def without_refused(document: dict[str, Any]) -> int:
    """Remove the parts of a document that the owner's rules exclude; return their number.

    Removes objects whose own URL (url, link, website) is excluded, and strings that are such a URL.
    """
    removed = 0

    def is_refused(value: Any) -> bool:
        if isinstance(value, dict):
            names = (name for name in value if re.search("url|link|website", name))
            return any(is_refused(value[name]) for name in names if isinstance(value[name], str))
        is_address = isinstance(value, str) and re.fullmatch(r"(?i)https?:\S+", value)
        return bool(is_address and refusing_rule(value))

    def clean(value: object) -> Any:
        nonlocal removed
        if not isinstance(value, (dict, list)):
            return value
        items = list(value.items()) if isinstance(value, dict) else [("", item) for item in value]
        kept = [
            (name, clean(item)) for name, item in items if not any(map(is_refused, (name, item)))
        ]
        removed += len(items) - len(kept)
        return dict(kept) if isinstance(value, dict) else [item for _, item in kept]

    if rules(ALLOW) or rules(BLOCK):
        cleaned = clean(document)
        document.clear()
        document.update(cleaned)
    return removed


def left_out_warning(left_out: int) -> str:
    """Return the sentence that counts the results excluded by the owner's rules."""
    results = "1 result was" if left_out == 1 else f"{left_out} results were"
    return f"{results} left out by the owner's rules ({ALLOW}, {BLOCK})."


def check_site(url: str) -> None:
    """Raise SearchError (refused) for a URL that the owner's rules exclude."""
    if variable := refusing_rule(url):
        host = shown_addresses(url)[-1].partition("/")[0] or quoted(url)
        message = f"{variable} does not allow {host}."
        raise SearchError("refused", message, OWNER_HINT)


def check_blocked_site(host: str) -> None:
    """Raise SearchError (refused) for a host that WEB_SEARCH_BLOCK_SITES blocks.

    For a page's requests in a browser: only the page itself must be on the list of allowed sites.
    """
    if any(matches(plain_address(host), rule) for rule in rules(BLOCK)):
        raise SearchError("refused", f"{BLOCK} does not allow {host}.", OWNER_HINT)


def allowed_sites() -> list[str]:
    """Return the allowed sites as values for the filter site; [] if every site is allowed."""
    return [rule.removeprefix("*.") for rule in rules(ALLOW)]
