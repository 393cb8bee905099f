"""HTTP: keys, addresses, one request with its retries and its deadline, what an answer means.

The three single files carry a copy of the block; see common.py.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
import time

from websearch.core.common import VERSION, SearchError, clean_tree, dump_json, one_line, quoted
from websearch.core.parameters import MAX_INPUT_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.core.common import Fields

# ===== shared block: http (edit websearch/core/http_client.py, then run `make sync`) ==============

USER_AGENT = f"web-search-skill/{VERSION}"
MAX_BODY = 8_000_000  # bytes of one answer after decompression; real ones stay under 1 MB
MAX_HEADER = 8_192  # characters of a header's value; http.client lets 65,536 through
CONNECT_TIMEOUT = 5.0  # seconds for one address: a dead IPv6 route must not eat the whole deadline
FAULT_TRIES = 3  # of a request that meets a fault (connection, 500, 502, 503, 504)
BACKOFF = 0.3  # seconds before the second try; doubled for each further one
KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "x-subscription-token")
SHORTEST_KEY = 8  # characters: a shorter value may be a word of the answer itself
# Where systems keep their certificates, for an interpreter that was built to look elsewhere.
CA_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem "
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/cert.pem "
    "/opt/homebrew/etc/ca-certificates/cert.pem"
).split()


class Response:
    """An HTTP answer: status, headers (lower-case names), body (decompressed bytes).

    cut: whether the body was longer than the request's max_body and ends there. key: the key that
    the request carried; text() and json() replace it where the answer quotes it.
    """

    def __init__(
        self, status: int, headers: dict[str, str], body: bytes, cut: bool = False, key: str = ""
    ) -> None:
        self.status, self.headers, self.body = status, headers, body
        self.cut, self.key = cut, key

    def text(self) -> str:
        """Return the body as text; bytes that are no UTF-8 become U+FFFD."""
        text = self.body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
        return text.replace(self.key, "[key]") if self.key else text

    def json(self) -> Any:
        """Return the body as JSON data; raises ValueError or RecursionError."""
        data = json.loads(self.text(), parse_constant=lambda _: None)
        if self.key and b"\\" in self.body:  # JSON can spell a character as \/ or \u003d
            # Not dump_json, which refuses what 1e999 becomes.
            plain, key = json.dumps(data, ensure_ascii=False), json.dumps(self.key)[1:-1]
            data = json.loads(plain.replace(key, "[key]")) if key in plain else data
        return data

    def excerpt(self) -> str:
        """Return the start of the body without tags, scripts and styles, for an error message."""
        text = re.sub(r"(?is)<(script|style)\b.*?(?:</\1\s{0,9}>|\Z)", " ", self.text()[:40_000])
        return one_line(re.sub(r"<[^<>]{1,200}>", " ", text[:4_000]), 200)


def secrets_path() -> str:
    """Return where secrets.yaml is looked for; it need not exist."""
    path = os.environ.get("WEB_SEARCH_SECRETS")
    folder = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(folder):  # the XDG specification: a relative path is ignored
        folder = "~/.config"
    return os.path.expanduser(path or os.path.join(folder, "web-search", "secrets.yaml"))


@functools.cache
def warn_once(text: str) -> None:
    """Write a warning to stderr, the first time that it is given."""
    sys.stderr.write(f"warning: {text}\n")


def read_secrets() -> dict[str, str]:
    """Return the NAME: value lines of secrets.yaml; {} if the file cannot be read."""
    path = secrets_path()
    try:
        return secrets_in(path, os.stat(path).st_mtime_ns)
    except OSError:
        return {}


@functools.cache
def secrets_in(path: str, _: int) -> dict[str, str]:
    """Return what secrets.yaml holds, read once for each time at which it was changed."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            lines = file.read(MAX_INPUT_BYTES).splitlines()
            mode = os.fstat(file.fileno()).st_mode
            if os.name == "posix" and mode & 0o077 and mode & 0o170000 == 0o100000:  # a file
                warn_once(f"others can read {path}; run: chmod 600 {path}")
    except OSError:
        return {}
    pattern = r"""\s*([A-Z][A-Z0-9_]*)\s*:\s*(?:"([^"]*)"|'([^']*)'|([^\s#'"].*))\s*(?:#.*)?"""
    matches = (re.fullmatch(pattern, line[:10_000]) for line in lines)
    return {
        match[1]: match[2] or match[3] or re.split(r"\s#", match[4] or "", maxsplit=1)[0].strip()
        for match in matches
        if match
    }


def configured_key(*names: str) -> tuple[str, str]:
    """Return (name, key) of the first name that is set, or ("", "").

    Environment first, then secrets.yaml. Raises SearchError (auth) for what cannot be a key.
    """
    for load in (lambda: os.environ, read_secrets):
        values = load()
        for name in names:
            key = values.get(name, "").strip()
            if key and not re.fullmatch(r"[!-~]+", key):  # else http.client quotes it in an error
                message = f"{name} holds characters that no key has."
                raise SearchError("auth", message, f"Copy the key into {name} again.")
            if key:
                return name, key
    return "", ""


def find_key(*names: str, message: str = "", **details: Any) -> tuple[str, str]:
    """Return (name, key) of the first name that is set, or raise SearchError (auth).

    The error names the variable and the file, never a key; message and details are what else it
    says.
    """
    name, key = configured_key(*names)
    if key:
        return name, key
    where = f"a line {names[0]}: ... in {secrets_path()}"
    hint = f"Set the environment variable {names[0]}, or {where}."
    raise SearchError("auth", message or f"{names[0]} is not set", hint, **details)


def base_url(variable: str, default: str) -> str:
    """Return the API's address: $variable if set (https, or http on loopback), else the default."""
    address = os.environ.get(variable, "").strip().rstrip("/") or default
    scheme = scheme_of(address)
    if scheme != "https" and not (scheme == "http" and is_loopback(address)):
        shown = quoted(hide_credentials(address))
        message = f"{variable} is {shown}; an API address begins with https://."
        raise SearchError("invalid_input", message, "Plain http:// is accepted on loopback only.")
    return address


def scheme_of(address: str) -> str:
    """Return the scheme of a server's address; "" if the address is invalid.

    An address with credentials, a query or a fragment is invalid, too.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        plain = address.isascii() and not (parts.query or parts.fragment or "@" in parts.netloc)
        valid = plain and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        return ""
    return parts.scheme if valid else ""


def hide_credentials(address: str) -> str:
    """Return an address for a message: without user name, password and query, which may be keys."""
    address = re.sub(r"^([a-zA-Z][\w+.-]*://)?.*@", r"\1[hidden]@", address)
    return re.sub(r"\?.+", "?[hidden]", address)


def is_loopback(url: str) -> bool:
    """Return whether a URL names this machine."""
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))


def exchange(
    request: Fields, deadline: float, find_error: Callable[[Response], SearchError | None]
) -> Response:
    """Send a request until it is answered, fails for good, or the deadline passes.

    request: method, url, headers (dict), and optional: json or body (bytes), max_body (a longer
    answer is cut there instead of refused), connect (called in place of socket.create_connection),
    wait (called in place of threading.Event.wait).
    deadline: on time.monotonic()'s clock. find_error(response) returns the error that an answer
    means, None for a good one. Faults get FAULT_TRIES tries; an error with retry_after is waited
    out as long as the deadline allows. Raises SearchError.
    """
    tries = 0
    error: SearchError | None = None
    while True:
        tries += 1
        try:
            response = send_within(request, deadline)
            error = find_error(response)
        except SearchError as fault:
            # If the time ends during a further try, what the try before met says more.
            error = error if error and fault.kind == "timeout" else fault
        if error is None:
            return response
        pause = pause_before_retry(error, tries)
        if pause is None or time.monotonic() + pause >= deadline:
            raise error
        time.sleep(pause)


def pause_before_retry(error: SearchError, tries: int) -> float | None:
    """Return the seconds to wait before the next try, with jitter; None to give up."""
    if not error.retryable or (tries >= FAULT_TRIES and error.retry_after is None):
        return None
    from random import random  # parallel callers must not come back all at once

    if error.retry_after is not None:
        return error.retry_after + 0.05 + 0.25 * random()
    return float(BACKOFF * 2 ** (tries - 1) * (0.5 + random()))


def send_within(request: Fields, deadline: float) -> Response:
    """Send one request and return its answer, whatever its status, before the deadline.

    The request runs in a thread of its own: a socket timeout is per read, so a dripping server
    outlives it, and a name lookup has none at all. Raises SearchError (timeout, network, provider).
    """
    import threading
    from contextlib import suppress

    outcome: list[Response | Exception] = []
    sockets: list[Any] = []
    done = threading.Event()

    def work() -> None:
        try:
            outcome.append(send_once(request, deadline, sockets, done))
        except Exception as error:  # noqa: BLE001  handed over to the waiting thread
            outcome.append(error)
        done.set()

    left, in_time = deadline - time.monotonic(), False
    if left > 0:
        threading.Thread(target=work, daemon=True).start()
    try:
        in_time = left > 0 and request.get("wait", threading.Event.wait)(done, left)
    finally:
        done.set()  # given up: a connection that is made from now on is not used
        for socket in [] if in_time else sockets:
            with suppress(OSError):  # it may be closed already
                socket.shutdown(2)  # wakes the thread's read, which a close would not
    host = request["url"].split("/")[2]
    if not in_time:
        hint = "Try again. A higher {timeout} gives it more time."
        raise SearchError("timeout", f"{host} did not answer in time.", hint, retryable=True)
    if isinstance(outcome[0], Response):
        return outcome[0]
    raise transport_error(outcome[0], request["url"]) from None


def send_once(request: Fields, deadline: float, sockets: list[Any], done: Any) -> Response:
    """Send one request over urllib.request, following no redirect; append its socket to sockets.

    done: an event that is set when the request is given up.
    The opener has no redirect handler, because urllib's hands the key to the new host, and no error
    handler, so that every status comes back as an answer.
    """
    import http.client
    import urllib.request

    def connected(connection_class: Any) -> Any:
        class Connection(connection_class):  # type: ignore[misc]
            def connect(self) -> None:
                if "connect" in request:  # http.client's own hook for it, since Python 2.7
                    self._create_connection = request["connect"]
                super().connect()
                # One second late, so that the waiting thread times out first.
                self.sock.settimeout(max(0.0, deadline - time.monotonic()) + 1)
                sockets.append(self.sock)
                if done.is_set():
                    raise TimeoutError

            def request(self, method: str, path: str, body: Any, sent: Fields, **more: Any) -> None:
                super().request(method, path, body, in_order(sent, request["headers"]), **more)

        return Connection

    class Handler(urllib.request.AbstractHTTPHandler):
        def http_open(self, sent: urllib.request.Request) -> Any:
            return self.do_open(connected(http.client.HTTPConnection), sent)

        def https_open(self, sent: urllib.request.Request) -> Any:
            secure = connected(http.client.HTTPSConnection)
            return self.do_open(secure, sent, context=tls_context())

        http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    opener = urllib.request.OpenerDirector()
    no_proxies: dict[str, str] | None = {} if is_loopback(request["url"]) else None
    opener.add_handler(urllib.request.ProxyHandler(no_proxies))  # None: those of the environment
    opener.add_handler(Handler())
    headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip", **request["headers"]}
    body = request.get("body")
    if "json" in request:
        headers["Content-Type"] = "application/json"
        body = dump_json(request["json"]).encode()
    sent = urllib.request.Request(request["url"], body, headers, method=request["method"])
    with opener.open(sent, timeout=CONNECT_TIMEOUT) as answer:
        received = {name.lower(): value[:MAX_HEADER] for name, value in answer.headers.items()}
        content = read_body(answer, received.get("content-encoding", ""), request.get("max_body"))
    keys = [value for name, value in headers.items() if name.lower() in KEY_HEADERS]
    key = keys[0].removeprefix("Bearer ") if keys and len(keys[0]) >= SHORTEST_KEY else ""
    limit = request.get("max_body", MAX_BODY)
    return Response(answer.status, received, content[:limit], len(content) > limit, key)


def in_order(headers: Fields, named: Fields) -> Fields:
    """Return headers with Host first, then as a request names them: urllib's order is its own."""
    order = ["Host", "Connection", "Content-Length", *named]
    return {name: headers[name] for name in order if name in headers} | headers


def read_body(answer: Any, encoding: str, max_body: int | None) -> bytes:
    """Read an answer's body, decompressed; raises SearchError (provider).

    A body longer than max_body is returned longer than that; without max_body, one longer than
    MAX_BODY is refused.
    """
    import gzip
    import zlib

    encoding = encoding.lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        message = f"The answer is encoded as {quoted(encoding)}, which was not asked for."
        raise SearchError("provider", message, "Nothing here can decode it.")
    limit = max_body or MAX_BODY
    try:
        reader = gzip.GzipFile(fileobj=answer) if "gzip" in encoding else answer
        body: bytes = reader.read(limit + 1)
    except (gzip.BadGzipFile, zlib.error):
        raise SearchError("provider", "The answer could not be decompressed.") from None
    if len(body) > limit and not max_body:
        message = f"The answer is longer than {limit} bytes."
        raise SearchError("provider", message, "Ask for less.")
    if len(body) <= limit and answer.length:
        raise EOFError  # http.client's read(n) returns a cut body without an error
    return body


@functools.cache
def tls_context() -> Any:
    """Return the TLS context, made once: reading the certificates takes 20 ms."""
    import ssl

    context = ssl.create_default_context()
    bundles = [] if context.cert_store_stats()["x509_ca"] else CA_BUNDLES
    for bundle in [path for path in bundles if os.path.exists(path)][:1]:
        context.load_verify_locations(bundle)
    return context


PROXY_HINT = "Set https_proxy to an address such as http://proxy.example:8080."


def proxy_for(url: str) -> str:
    """Return the address of the proxy that urllib takes for a URL, or ""."""
    import urllib.request

    scheme, _, rest = url.partition("://")
    proxy = urllib.request.getproxies().get(scheme, "")
    bypassed = is_loopback(url) or urllib.request.proxy_bypass(rest.split("/")[0])
    return "" if bypassed else proxy


def transport_error(error: Exception, url: str) -> SearchError:
    """Return what a failed exchange means; never its own words, which may quote key and URL.

    Behind a proxy it is the proxy that was not reached, or that refuses.
    """
    import socket
    import ssl

    if isinstance(error, SearchError):
        return error
    host, proxy = url.split("/")[2], proxy_for(url)
    name = hide_credentials(proxy).partition("//")[2].strip("/") or host
    peer = f"The proxy {name}" if proxy else host
    reason = getattr(error, "reason", None)
    cause = reason if isinstance(reason, Exception) else error
    # http.client's words for what a proxy answers to CONNECT
    tunnel = re.match(r"Tunnel connection failed: (\d{3})\b", str(cause)[:100])
    hint = "Check the network and the proxy variables, then try again."
    if isinstance(cause, ssl.SSLCertVerificationError):
        message = f"The TLS certificate of {host} was not accepted ({cause.verify_message})."
        hint = "Set SSL_CERT_FILE to your system's or company's CA bundle."
        if cause.verify_code in (9, 10):  # of OpenSSL: not yet valid, expired
            hint = "Look at this machine's clock; if it is right, the site has to renew it."
        return SearchError("network", message, hint)
    if proxy.startswith("socks"):
        message = (
            f"{url.partition(':')[0]}_proxy names a SOCKS proxy, {name}: Python cannot use it."
        )
        return SearchError("network", message, PROXY_HINT)
    if tunnel:
        message = f"{peer} refused the way to {host} ({tunnel[1]})."
        hint = "Ask who runs the proxy, or name it with user:password@ in https_proxy."
        return SearchError("network", message, hint, retryable=tunnel[1] >= "500")
    if isinstance(cause, TimeoutError):
        message = f"{peer} could not be reached in time."
    elif isinstance(cause, socket.gaierror):
        message = f"The name {name} could not be resolved."
    elif isinstance(cause, ConnectionRefusedError):
        message = f"{peer} refused the connection."
    else:
        message = f"The connection to {host} broke ({type(cause).__name__})."
    return SearchError("network", message, hint, retryable=True)


def status_error(response: Response, provider: str) -> SearchError:
    """Return what an answer's status means, if the provider's own codes say nothing better."""
    status = response.status
    details: Fields = {"status": status}
    message = f"{provider} answered {status}: {response.excerpt()}"
    if status in (401, 403):
        return SearchError("auth", message, "Check the key and its plan.", **details)
    if status == 429:
        details |= {"retryable": True, "retry_after": retry_after(response)}
        return SearchError("rate_limit", message, "Wait, then try again.", **details)
    if status in (500, 502, 503, 504):
        return SearchError("provider", message, "Try again later.", retryable=True, **details)
    if 300 <= status < 400:
        message = f"{provider} answered with a redirect ({status}), which is not followed."
    return SearchError("provider", message, "Try another provider.", **details)


def retry_after(response: Response) -> float | None:
    """Return the seconds that a Retry-After header names (number or HTTP date), else None."""
    value = response.headers.get("retry-after", "").strip()[:100]
    if value.isdecimal():
        return float(value[:9])
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return None


def json_object(response: Response, clean: bool = True) -> Fields | None:
    """Return an answer's JSON object, its texts cleaned if clean; None for any other answer."""
    try:
        data = clean_tree(response.json()) if clean else response.json()
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def json_answer(response: Response, provider: str, clean: bool = True) -> Fields:
    """Return an answer's JSON object as json_object does; raises SearchError (provider)."""
    data = json_object(response, clean)
    if data is not None:
        return data
    message = f"{provider}'s answer is no JSON object: {response.excerpt()}"
    raise SearchError("provider", message, "Try again later.", status=response.status)


# ===== end of shared block: http ==================================================================

# ===== for the package alone ======================================================================

READ_SIZE = 65_536  # bytes read at a time


def identified_agent() -> str:
    """Return the User-Agent that names the tool, its version and, if it is set, a contact.

    $WEB_SEARCH_CONTACT is an address of the person who runs the tool. Sites that ask for one
    (Wikimedia gives identified callers twenty times the rate) can write there instead of blocking.
    Raises SearchError (invalid_input) for characters that no header may hold.
    """
    contact = os.environ.get("WEB_SEARCH_CONTACT", "").strip()
    if not re.fullmatch(r"[ !-'*-\[\]-~]{0,200}", contact):  # ASCII that ends no comment
        message = f"WEB_SEARCH_CONTACT holds characters that no header may hold: {quoted(contact)}."
        hint = "Give an e-mail or web address without parentheses and accents."
        raise SearchError("invalid_input", message, hint)
    return f"{USER_AGENT} ({contact})" if contact else USER_AGENT
