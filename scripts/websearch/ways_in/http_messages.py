"""Check the HTTP API's requests, and choose the status of its responses.

All functions are pure: they turn bytes or a request into a value or an HttpError. This module
contains the size limits; http_connection.py contains the time limits.
"""

from __future__ import annotations

import math
import re

from websearch import kit
from websearch.kit import SearchError, object_field, quoted
from websearch.ways_in.mcp_protocol import MAX_MESSAGE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from email.message import Message
    from typing import Any

    from websearch.kit import Document

    # JSON data, text (with its type in the headers), None, or the pieces of a streamed body.
    Content = Document | str | Iterator[bytes] | None
    Answer = tuple[int, Content, dict[str, str]]  # status, content, additional headers

MAX_TARGET = 8_100  # bytes of a request line (RFC 9110 recommends 8,000 or more)
MAX_HEAD = 16_384  # bytes of all header lines; a browser sends about 1,000
MAX_DRAFT = 4_000_000  # bytes: 1 MB of text, encoded as a form or JSON
# Path whose POST takes a body -> the body's maximum length in bytes.
BODY_PATHS = {
    "/mcp": MAX_MESSAGE, "/check": MAX_DRAFT, "/history/forget": 4_000, "/sign-in": 4_000,
}  # fmt: skip
# Paths that need no token, because they reveal nothing: the health check, the pages' style and the
# sign-in form.
OPEN_PATHS = ("/health", "/desk.css", "/desk.js", "/sign-in")
COOKIE = "web_search_session"

# HTTP status for each kind of failure.
STATUSES = {
    "no_results": 200, "invalid_input": 400, "auth": 503, "rate_limit": 429, "quota": 429,
    "timeout": 504, "network": 502, "provider": 502, "blocked": 502, "refused": 502,
    "unsupported": 502, "http": 502, "internal": 500, "interrupted": 503,
}  # fmt: skip
# Status of an HttpError -> kind of failure (default: invalid_input).
STATUS_KINDS = {401: "auth", 403: "refused", 408: "timeout", 503: "provider"}

OTHER_PAGES_HINT = "Web pages of other sites may not use this server."


class HttpError(SearchError):
    """A refused request, with its own HTTP status."""

    def __init__(
        self, status: int, message: str, hint: str = "", headers: dict[str, str] | None = None
    ) -> None:
        kind = STATUS_KINDS.get(status, "invalid_input")
        super().__init__(kind, message, hint, retryable=status in (408, 503))
        self.status = status
        self.headers = headers or {}


class HttpRequest:
    """A request: method, authority, path, query string, headers and body (None until read).

    authority: HOST[:PORT] of a target that is a whole URL, else "".
    """

    def __init__(self, method: str, target: str, headers: Message) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        url = re.match(r"https?://([^/]*)", target)
        self.authority = url[1].lower() if url else ""
        target = target[url.end() :] if url else target
        path, _, self.query = target.partition("#")[0].partition("?")
        self.path = path.rstrip("/") or "/"  # some clients add a slash
        self.body: bytes | None = None

    def header(self, name: str) -> str:
        """Return a header's value, "" if it is missing; repeated headers are joined with commas."""
        return ", ".join(value.strip() for value in self.headers.get_all(name, []))

    def longest_body(self) -> int:
        """Return the maximum length of the body in bytes; 0 if the request takes no body."""
        return BODY_PATHS.get(self.path, 0) if self.method == "POST" else 0

    def is_chunked(self) -> bool:
        """Return whether the body is sent in chunks (RFC 9112, section 7.1)."""
        return self.header("transfer-encoding").lower() == "chunked"

    def body_length(self) -> int:
        """Return the length of the body in bytes, 0 for chunks.

        Raises HttpError if it is ambiguous or too long: servers may disagree on a message with two
        lengths, or with a length and chunks (RFC 9112, section 11).
        """
        coding = self.header("transfer-encoding")
        length = self.header("content-length")  # two headers become a list, not a number
        limit = self.longest_body()
        if coding and not (self.is_chunked() and limit):
            raise HttpError(411, "A body needs a Content-Length.")
        if coding and length:
            raise HttpError(400, "A body has either a Content-Length or chunks, not both.")
        if not re.fullmatch(r"[0-9]{0,20}", length):
            raise HttpError(400, f"Content-Length is not a number: {quoted(length)}.")
        if limit and int(length or 0) > limit:
            raise HttpError(413, f"The body is longer than {limit} bytes.")
        return int(length or 0)


# ===== access =====================================================================================


def check_caller(request: HttpRequest, settings: dict[str, Any]) -> None:
    """Refuse requests that another site's page could send. Raises HttpError (400, 401, 403).

    A page's script may reach a loopback server under the page's host name (DNS rebinding), which
    the Host header reveals, or send a cross-origin request, which the browser labels. settings:
    loopback (whether the server listens only on loopback), names (by which clients may call it),
    token ("" if none is needed), session (see has_token).
    """
    if len(request.headers.get_all("host", [])) != 1:
        raise HttpError(400, "A request must have one Host header.")
    host, origin = request.header("host").lower(), request.header("origin").lower()
    for name in (host, request.authority or host):
        if not is_own_host(name, settings):
            hint = "Call the server by its address, or start it with this name in allow_host."
            raise HttpError(403, f"{quoted(name)} is not a name of this server.", hint)
    # A proxy may replace Host but not Origin. Another server on this machine is a stranger.
    name_only = r"https?://(?!(?:localhost|[\d.]+)(?::|$))([\w.-]{1,253})(?::\d{1,5})?"
    site = re.fullmatch(name_only, origin)
    own = ("", f"http://{host}", f"https://{host}")
    if origin not in own and not (site and site[1] in settings["names"]):
        raise HttpError(403, f"Requests from {quoted(origin)} are refused.", OTHER_PAGES_HINT)
    if request.header("sec-fetch-site").lower() in ("cross-site", "same-site"):
        raise HttpError(403, "Requests from other sites are refused.", OTHER_PAGES_HINT)
    if request.longest_body():  # do not read the body if the token is missing
        check_token(request, settings)


def is_own_host(authority: str, settings: dict[str, Any]) -> bool:
    """Return whether HOST[:PORT], in lower case, is a name of this server.

    The port is ignored, because a forwarded port differs. If the server listens beyond loopback,
    any IP address is accepted, because DNS rebinding needs a name.
    """
    import ipaddress

    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{0,5})?", authority, re.ASCII)
    name = match[1].rstrip(".").strip("[]") if match else ""
    if name == "localhost" or (name and name in settings["names"]):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    return address.is_loopback or not settings["loopback"]


def check_token(request: HttpRequest, settings: dict[str, Any]) -> None:
    """Raise HttpError (401) unless the request has the token or its path needs none."""
    if request.path not in OPEN_PATHS and not has_token(request, settings):
        hint = "Send the header Authorization: Bearer TOKEN, with the token of the server's file."
        challenge = {"WWW-Authenticate": 'Bearer realm="web-search"'}
        raise HttpError(401, "The bearer token is missing or wrong.", hint, challenge)


def has_token(request: HttpRequest, settings: dict[str, Any]) -> bool:
    """Return whether a request has the token or the session cookie, or the server needs neither.

    The scheme is case-insensitive (RFC 9110, section 11.1). Browsers send cookies to every port of
    a machine, so a cookie must not contain the token itself.
    """
    scheme, _, value = request.header("authorization").partition(" ")
    cookies = re.findall(rf"(?:^|[;,]) ?{COOKIE}=([\w-]+)", request.header("cookie"))
    return (
        not settings["token"]
        or (scheme.lower() == "bearer" and is_same(value.strip(), settings["token"]))
        or any(is_same(cookie, settings["session"]) for cookie in cookies)
    )


def is_same(text: str, secret: str) -> bool:
    """Compare a string with a secret in constant time."""
    import hmac

    return hmac.compare_digest(text.encode("utf-8", "replace"), secret.encode())


# ===== responses ==================================================================================


def document_answer(document: Document) -> Answer:
    """Return the response for a document, with HTTP status, field "status" and Retry-After."""
    details = object_field(document, "details")
    kind = details.get("kind", "")
    status = 200 if document["ok"] else STATUSES[kind]
    word = "ok" if document["ok"] else "no_results" if kind == "no_results" else "error"
    wait = details.get("retry_after")
    headers = {} if wait is None else {"Retry-After": str(math.ceil(wait))}
    return status, {**document, "status": word}, headers


def error_answer(error: SearchError) -> Answer:
    """Return the response to a failed request."""
    status, document, headers = document_answer(kit.error_document(error))
    if isinstance(error, HttpError):
        return error.status, document, error.headers
    return status, document, headers


def body_of(content: Content) -> tuple[Iterable[bytes], dict[str, str]]:
    """Return the pieces of a body, and the body's headers."""
    if not isinstance(content, (dict, str)):
        return (content or ()), {}
    kind = {"Content-Type": "application/json"} if isinstance(content, dict) else {}
    text = kit.dump_json(content) + "\n" if isinstance(content, dict) else content
    data = text.encode("utf-8", "replace")
    return [data], {**kind, "Content-Length": str(len(data))}
