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

from websearch.common import SearchError
from websearch.http_client import read_secrets

ALLOW, BLOCK = "WEB_SEARCH_ALLOW_SITES", "WEB_SEARCH_BLOCK_SITES"
OWNER_HINT = "Only the owner of this machine can change that."
ARCHIVE = re.compile(r"https?://web\.archive\.org/web/\d{1,14}[a-z_]{0,5}/(?P<page>.+)", re.DOTALL)


def rules(variable: str) -> list[str]:
    """Return the rules of a variable, in the form in which addresses are compared."""
    value = os.environ.get(variable, "").strip() or read_secrets().get(variable, "")
    return [plain_address(rule) for rule in value.replace(",", " ").split()]


def plain_address(url: str) -> str:
    """Return host/path of an address: host in lower case, as IDNA, without port and last dot."""
    text = url if "://" in url else f"https://{url}"
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").rstrip(".")
    except ValueError:
        return ""
    try:
        star = "*." if host.startswith("*.") else ""
        host = star + host.removeprefix("*.").encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = host.lower()
    path = posixpath.normpath(f"/{unquote(parts.path)}").lstrip("/")  # "//" and ".." are resolved
    return f"{host}/{path}".rstrip("/.")


def matches(address: str, rule: str) -> bool:
    """Return whether an address (host/path) falls under a rule."""
    host, _, path = address.partition("/")
    rule_host, _, rule_path = rule.partition("/")
    if rule_path and not f"{path}/".startswith(f"{rule_path}/"):
        return False
    if rule_host.startswith("*."):
        return host.endswith(rule_host[1:])
    return host == rule_host or host.endswith(f".{rule_host}")


def refusing_rule(url: str) -> str:
    """Return the variable whose rules keep an address out, "" if it may be shown and read."""
    copy = ARCHIVE.match(url)
    address = plain_address(copy["page"] if copy else url)
    allowed = rules(ALLOW)
    if allowed and not any(matches(address, rule) for rule in allowed):
        return ALLOW
    return BLOCK if any(matches(address, rule) for rule in rules(BLOCK)) else ""


def check_site(url: str) -> None:
    """Raise SearchError (refused) for an address that the owner's rules keep out."""
    if variable := refusing_rule(url):
        message = f"{plain_address(url).partition('/')[0]} is kept out by {variable}."
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
