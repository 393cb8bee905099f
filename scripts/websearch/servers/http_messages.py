"""Requests and answers of the HTTP API as values: what is accepted, from whom, and which status.

Every function here is pure: bytes or a request in, a value or an HttpError out. The size limits
stand here, the time limits in http_connection.py.
"""

from __future__ import annotations

import math
import re
import time

from websearch import common, http_client
from websearch.common import SearchError, object_field, quoted, shorten

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from websearch.common import Document

    # Status, JSON data or None or the pieces of a body that is sent as it comes, further headers.
    Answer = tuple[int, Document | list[Any] | Iterator[bytes] | None, dict[str, str]]

MAX_TARGET = 8_000  # bytes of a request's path and query (RFC 9110 recommends at least this)
MAX_HEAD = 16_384  # bytes of request line and headers; a browser sends some 1,000 beside the path
MAX_FIELDS = 100  # header lines; a browser sends some 15
MAX_CONTENT = 65_536  # bytes; a longer body is "too large", also where no request may have a body
# Path whose POST takes a body -> its longest body in bytes: far more than a call of a tool needs.
BODY_PATHS = {"/mcp": 1_000_000}
OPEN_PATHS = ("/health",)  # need no token: a supervisor asks without one, and it tells nothing

# HTTP status of each kind of failure.
STATUSES = {
    "no_results": 200, "invalid_input": 400, "auth": 503, "rate_limit": 429, "quota": 429,
    "timeout": 504, "network": 502, "provider": 502, "blocked": 502, "refused": 502,
    "unsupported": 502, "http": 502, "internal": 500, "interrupted": 503, "terminated": 503,
}  # fmt: skip
# Kind of failure of an HttpError with this status; the others are invalid_input.
KINDS = {401: "auth", 403: "refused", 408: "timeout", 503: "provider"}

TOKEN = rb"[!#$%&'*+.^_`|~\w-]+"  # RFC 9110, section 5.6.2: a method, or a header's name
REQUEST_LINE = rb"(%s) ([!-~\x80-\xff]+) HTTP/(\d)\.(\d)\r\n" % TOKEN
HEADER_LINE = rb"(%s):[ \t]*([\t -~\x80-\xff]*?)[ \t]*\r\n" % TOKEN
NO_BODY_HINT = "Parameters go into the query string."
OTHER_PAGES_HINT = "Web pages of other sites may not use this server."


class HttpError(SearchError):
    """A request that is answered with a status of its own.

    closes: the connection ends with the answer, because what follows on it may belong to the
    refused request.
    """

    def __init__(
        self,
        status: int,
        message: str,
        hint: str = "",
        headers: dict[str, str] | None = None,
        closes: bool = False,
    ) -> None:
        kind = KINDS.get(status, "invalid_input")
        super().__init__(kind, message, hint, retryable=status in (408, 503))
        self.status = status
        self.headers = {**(headers or {}), **({"Connection": "close"} if closes else {})}


# ===== reading a request ==========================================================================


class Request:
    """A request: method, target, path, query (text), minor version of HTTP/1, headers, body.

    headers: lower-case name -> values in the order given. authority: the host that an absolute
    target names, else the Host header, else "". body: None until it is read.
    """

    def __init__(self, method: str, target: str, minor: int, headers: dict[str, list[str]]) -> None:
        self.method = method
        self.target = target
        self.minor = minor
        self.headers = headers
        absolute = re.match(r"(?i)https?://([^/?#]*)", target)
        rest = target[absolute.end() :] if absolute else target
        self.authority = absolute[1] if absolute else self.header("host")
        path, _, self.query = rest.partition("#")[0].partition("?")
        self.path = path or "/"
        self.body: bytes | None = None

    def header(self, name: str) -> str:
        """Return a header's value, several joined by commas; "" if there is none."""
        return ", ".join(self.headers.get(name, []))

    def has_body(self) -> bool:
        """Return whether a body is announced."""
        return bool(self.header("content-length").strip("0"))

    def takes_body(self) -> bool:
        """Return whether the request is of the kind that takes a body, which is then read."""
        return self.method == "POST" and self.path in BODY_PATHS

    def keeps_alive(self) -> bool:
        """Return whether the connection may serve a further request."""
        options = [word.strip() for word in self.header("connection").lower().split(",")]
        unread = self.has_body() and self.body is None
        return self.minor >= 1 and "close" not in options and not unread


def parse_request_line(line: bytes) -> tuple[str, str, int]:
    """Return (method, target, minor version of HTTP/1) of a request line; raises HttpError."""
    found = re.fullmatch(REQUEST_LINE, line)
    if not found:
        message = f"This is not the first line of an HTTP request: {quoted(line)[1:]}."
        hint = "A request begins with a line such as: GET /search?q=words HTTP/1.1"
        raise HttpError(400, message, hint, closes=True)
    if found[3] != b"1":
        raise HttpError(505, "This server speaks HTTP/1 only.", "Use HTTP/1.1.", closes=True)
    if len(found[2]) > MAX_TARGET:
        raise target_too_long()
    try:
        target = found[2].decode()  # curl sends letters as they are typed
    except UnicodeDecodeError:
        message = "The address holds bytes that are not UTF-8."
        raise HttpError(400, message, "Percent-encode it as UTF-8.", closes=True) from None
    if not re.match(r"(?i)/|https?://|\*$", target):
        message = f"The address {quoted(target)} is not a path."
        raise HttpError(400, message, "A path begins with a slash.", closes=True)
    return found[1].decode(), target, int(found[4])


def parse_header_line(line: bytes) -> tuple[str, str]:
    """Return (lower-case name, value) of a header line; raises HttpError.

    Strict where leniency lets two servers read one message differently (RFC 9112, section 11): the
    line ends in CRLF, is not folded, and has no blank before the colon.
    """
    found = re.fullmatch(HEADER_LINE, line)
    if not found:
        message = f"This is not a header line: {quoted(line)[1:]}."
        raise HttpError(400, message, "A header is Name: value.", closes=True)
    return found[1].decode().lower(), found[2].decode("latin-1")


def target_too_long() -> HttpError:
    """Return the error for an address that is longer than MAX_TARGET."""
    message = f"The address is longer than {MAX_TARGET} bytes."
    return HttpError(414, message, "Shorten the query.", closes=True)


# ===== checking a request =========================================================================


def check_body(request: Request) -> None:
    """Refuse a body that is too long, or whose length is unclear; raises HttpError, always closing.

    Where no body is taken, none is read: the connection ends with the answer, and an Expect:
    100-continue gets its final answer at once.
    """
    length = request.header("content-length")
    hint = "Send Content-Length." if request.takes_body() else NO_BODY_HINT
    limit = BODY_PATHS[request.path] if request.takes_body() else MAX_CONTENT
    if request.header("transfer-encoding"):
        if length or not request.minor:
            message = "Transfer-Encoding contradicts Content-Length or HTTP/1.0."
            raise HttpError(400, message, "Send neither.", closes=True)
        message = "A body without Content-Length is not read."
        raise HttpError(411, message, hint, closes=True)
    if length and not re.fullmatch(r"[0-9]{1,20}", length):
        raise HttpError(400, f"Content-Length is not a number: {quoted(length)}.", closes=True)
    if request.header("expect").lower() not in ("", "100-continue"):
        message = f"This server cannot meet Expect: {shorten(request.header('expect'), 80)}."
        raise HttpError(417, message, closes=True)
    if int(length or 0) > limit:
        message = f"The body is longer than {limit} bytes."
        raise HttpError(413, message, "" if request.takes_body() else NO_BODY_HINT, closes=True)


def check_caller(request: Request, settings: dict[str, Any]) -> None:
    """Refuse requests that a foreign web page could send, and those without the token.

    A page's script reaches a server on loopback under the page's own name (DNS rebinding), which
    the Host header then shows, or sends a request across origins, which the browser labels.
    Raises HttpError (400, 401, 403). settings: loopback (whether the server listens there alone),
    names (by which clients may call it), token ("" if none is needed).
    """
    hosts = request.headers.get("host", [])
    if len(hosts) > 1 or (request.minor and not hosts):
        raise HttpError(400, "A request has one Host header.", closes=True)
    if (hosts or request.authority) and not is_own_host(request.authority, settings):
        message = f"{quoted(request.authority)} is not a name of this server."
        hint = "Call the server by its address, or start it with this name in allow_host."
        raise HttpError(403, message, hint)
    origin = request.header("origin").lower()
    own = [f"{scheme}://{request.authority.lower()}" for scheme in ("http", "https")]
    if origin and origin not in own:
        raise HttpError(403, f"Requests from {quoted(origin)} are refused.", OTHER_PAGES_HINT)
    if request.header("sec-fetch-site").lower() in ("cross-site", "same-site"):
        raise HttpError(403, "A request from another site is refused.", OTHER_PAGES_HINT)
    if settings["token"] and request.path not in OPEN_PATHS:
        check_token(request, settings["token"])


def is_own_host(authority: str, settings: dict[str, Any]) -> bool:
    """Return whether HOST[:PORT] names this server.

    The port is not compared: a forwarded one differs. Where the server listens on more than
    loopback, any IP address will do: rebinding needs a name.
    """
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[\w.-]+)(?::\d{0,5})?", authority.lower(), re.ASCII)
    if not found:
        return False
    name = found[1].rstrip(".")
    if name.startswith("["):
        import ipaddress

        try:
            ipaddress.IPv6Address(name[1:-1])
        except ValueError:
            return False
    is_address = name.startswith("[") or re.fullmatch(r"[0-9.]+", name)
    return (
        name.strip("[]") in settings["names"]
        or http_client.is_loopback(f"http://{name}")
        or bool(is_address and not settings["loopback"])
    )


def check_token(request: Request, token: str) -> None:
    """Raise HttpError (401) unless the request carries the bearer token; compares in constant time.

    The scheme's case does not matter (RFC 9110, section 11.1).
    """
    import hmac

    scheme, _, given = request.header("authorization").partition(" ")
    known = hmac.compare_digest(given.strip().encode("utf-8", "replace"), token.encode())
    if scheme.lower() != "bearer" or not known:
        hint = "Send the header Authorization: Bearer TOKEN, with the token of the server's file."
        challenge = {"WWW-Authenticate": 'Bearer realm="web-search"'}
        raise HttpError(401, "The bearer token is missing or wrong.", hint, challenge)


# ===== answers ====================================================================================


def document_answer(document: Document) -> Answer:
    """Return the answer that sends a document: its HTTP status, "status" in it, Retry-After."""
    details = object_field(document, "details")
    kind = details.get("kind", "")
    status = 200 if document["ok"] else STATUSES[kind]
    word = "ok" if document["ok"] else "no_results" if kind == "no_results" else "error"
    wait = details.get("retry_after")
    headers = {} if wait is None else {"Retry-After": str(math.ceil(wait))}
    return status, {**document, "status": word}, headers


def error_answer(error: SearchError) -> Answer:
    """Return the answer to a request that failed."""
    status, document, headers = document_answer(common.error_document(error))
    if isinstance(error, HttpError):
        return error.status, document, error.headers
    return status, document, headers


def response_pieces(answer: Answer, head_only: bool) -> Iterator[bytes]:
    """Yield a response: in one piece, which waits for no delayed ACK, or as its body comes."""
    from http import HTTPStatus

    status, content, further = answer
    body = b""
    # RFC 9110: a server with a clock sends Date. strftime's names are English: no locale is set.
    headers = {"Date": time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime())}
    if isinstance(content, (dict, list)):
        body = (common.dump_json(content) + "\n").encode("utf-8", "replace")
        headers |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    headers |= {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", **further}
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    yield "\r\n".join([*lines, "", ""]).encode("latin-1") + (b"" if head_only else body)
    if not isinstance(content, (dict, list, type(None))):
        yield from content
