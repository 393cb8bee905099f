"""The owner's rules: which sites may be shown and read. Nothing that an agent sets changes them.

WEB_SEARCH_ALLOW_SITES and WEB_SEARCH_BLOCK_SITES hold rules with commas between: a host (which
stands for its subdomains, too), *.host (its subdomains alone), or host/path. They are looked up in
the environment, then in secrets.yaml. A rule holds for results, pages, redirects, copies in the
Internet Archive, PDF files and what a browser loads.
"""

from __future__ import annotations

import os
import posixpath
import re
from urllib.parse import unquote, urlsplit

from websearch.kit import SearchError, read_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ALLOW, BLOCK = "WEB_SEARCH_ALLOW_SITES", "WEB_SEARCH_BLOCK_SITES"
OWNER_HINT = "Only the owner of this machine can change that."
# A copy in the Internet Archive, as plain_address writes its address: the time may be missing or
# be a sign for any, and so may the scheme of the page.
ARCHIVE = re.compile(
    r"(?:[\w-]+\.)?archive\.org/(?:(?:web|save|screenshot)/|(?=\d+/https?:))(?:[\d*]{1,15}[a-z_]{0,5}/)?"
    r"(?:https?:/+)?(?P<page>.+)",
    re.DOTALL | re.IGNORECASE,
)


def rules(variable: str) -> list[str]:
    """Return the rules of a variable, in the form in which addresses are compared."""
    value = os.environ.get(variable, "").strip() or read_secrets().get(variable, "")
    return [plain_address(rule) for rule in value.replace(",", " ").split()]


def plain_address(url: str) -> str:
    """Return host/path of an address: host in lower case, as IDNA, without port and last dot.

    "" if programs read its host differently: see has_unclear_host.
    """
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
    r"""Return whether the authority of an address has a backslash or user information.

    A browser takes https://evil.example\\@docs.example/ to evil.example, urllib to docs.example.
    """
    authority = re.match(r"[^/?#]*:/*([^/?#]*)", url)
    return bool(authority and re.search(r"[\\@]", authority[1]))


def matches(address: str, rule: str) -> bool:
    """Return whether an address (host/path) falls under a rule."""
    host, _, path = address.partition("/")
    rule_host, _, rule_path = rule.partition("/")
    if rule_path and not f"{path}/".startswith(f"{rule_path}/"):
        return False
    if rule_host.startswith("*."):
        return host.endswith(rule_host[1:])
    return host == rule_host or host.endswith(f".{rule_host}")


def shown_addresses(url: str) -> list[str]:
    """Return an address as host/path and, if it is that of a copy in the archive, the page's, too.

    The page itself comes last. A copy of a copy is one, and signs may be encoded several times.
    """
    addresses = [plain_address(url)]
    while True:
        decoded = addresses[-1]
        while (once_more := unquote(decoded)) != decoded:
            decoded = once_more
        copy = ARCHIVE.fullmatch(decoded)
        if not copy:
            return addresses
        page = copy["page"]
        if re.match(r"(?i)(?:web|save|screenshot)/", page):  # a path of the archive itself
            page = f"web.archive.org/{page}"
        addresses.append(plain_address(page))


def refusing_rule(url: str) -> str:
    """Return the variable whose rules keep an address out, "" if it may be shown and read.

    A copy in the archive may be if its page may, unless the archive itself is blocked.
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
    """Remove what the owner's rules keep out of a document; return how many parts that were.

    An object goes with an address of its own (url, link, website), a text or a key that is one.
    """
    removed = 0

    def is_refused(value: Any) -> bool:
        if isinstance(value, dict):
            names = (name for name in value if re.search("url|link|website", name))
            return any(is_refused(value[name]) for name in names if isinstance(value[name], str))
        is_address = isinstance(value, str) and re.fullmatch(r"(?i)https?:\S+", value)
        return bool(is_address and refusing_rule(value))

    def clean(value: Any) -> Any:
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
    """Return the sentence that counts the results that the owner's rules keep out."""
    results = "1 result was" if left_out == 1 else f"{left_out} results were"
    return f"{results} omitted by the owner's rules ({ALLOW}, {BLOCK})."


def check_site(url: str) -> None:
    """Raise SearchError (refused) for an address that the owner's rules keep out."""
    if variable := refusing_rule(url):
        host = shown_addresses(url)[-1].partition("/")[0]
        message = f"{host} is kept out by {variable}."
        raise SearchError("refused", message, OWNER_HINT)


def check_blocked_site(host: str) -> None:
    """Raise SearchError (refused) for a host that WEB_SEARCH_BLOCK_SITES keeps out.

    For what a page loads in a browser: only the page itself has to be on the list of allowed sites.
    """
    if any(matches(plain_address(host), rule) for rule in rules(BLOCK)):
        raise SearchError("refused", f"{host} is kept out by {BLOCK}.", OWNER_HINT)


def allowed_sites() -> list[str]:
    """Return the allowed sites as values of the filter site, [] if every site is allowed."""
    return [rule.removeprefix("*.") for rule in rules(ALLOW)]
