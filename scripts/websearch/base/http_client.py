"""The package's HTTP client: guarded, cancellable, and limited to the addresses that it resolved.

The standalone scripts have a smaller client, kit.send_once. Requests here can also have max_body (a
longer response is truncated, not refused), connect (replaces socket.create_connection) and wait
(replaces threading.Event.wait).
"""

from __future__ import annotations

import functools
import os
import re
import sys
import time

from websearch import kit
from websearch.kit import (
    MAX_BODY,
    NAME_NOT_RESOLVED,
    USER_AGENT,
    Response,
    SearchError,
    dump_json,
    hide_credentials,
    is_loopback,
    proxy_for,
    quoted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Fields

READ_SIZE = 65_536  # bytes per read
MAX_HEADER = 8_192  # characters of a header's value; http.client accepts 65,536
CONNECT_TIMEOUT = 5.0  # seconds to connect, counted from the start of the last attempt
NEXT_ADDRESS_SECONDS = 0.25  # seconds until the next address is tried in parallel (RFC 8305)
NO_ENCODINGS = ("", "identity", "none", "utf-8", "utf8")  # encodings that mean no compression
# Compression -> zlib's wbits. Servers send deflate as a zlib stream or a raw stream (RFC 9110,
# 8.4.1.2).
FORMATS = {"gzip": (31,), "x-gzip": (31,), "deflate": (15, -15)}
MAX_ENCODINGS = 3  # per response

# Usual certificate paths, for an interpreter that was built with different paths.
CA_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem "
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/cert.pem "
    "/opt/homebrew/etc/ca-certificates/cert.pem"
).split()


class BrokenBodyError(SearchError):
    """The connection ended before the whole body arrived; response contains the received part."""

    def __init__(self, response: Response, url: str) -> None:
        message = f"The connection to {url.split('/')[2]} broke before the whole response arrived."
        super().__init__("network", message, "Try again.", retryable=True)
        response.cut = True
        self.response = response


@functools.cache
def warn_once(text: str) -> None:
    """Write a warning to stderr, but only the first time."""
    sys.stderr.write(f"warning: {text}\n")


def scheme_of(address: str) -> str:
    """Return the scheme of a server's address; "" if the address is invalid.

    An address with credentials, a query or a fragment is also invalid.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        plain = address.isascii() and not (parts.query or parts.fragment or "@" in parts.netloc)
        valid = plain and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        return ""
    return parts.scheme if valid else ""


def exchange(
    request: Fields, deadline: float, find_error: Callable[[Response], SearchError | None]
) -> Response:
    """Send a request as kit.exchange does, with this client; raises SearchError."""
    return kit.exchange(request, deadline, find_error, send_within)


def send_within(request: Fields, deadline: float) -> Response:
    """Send one request and return its response, with any status, before the deadline.

    The request has its own thread: a socket timeout applies per read, so a slow server can exceed
    it, and a name lookup has no timeout. Raises SearchError (timeout, network, provider).
    """
    import threading
    from contextlib import suppress

    outcome: list[Response | Exception] = []
    sockets: list[Any] = []
    done = threading.Event()

    def work() -> None:
        try:
            outcome.append(send_once(request, deadline, sockets, done))
        except Exception as error:  # noqa: BLE001  passed on to the waiting thread
            outcome.append(error)
        done.set()

    left, in_time = deadline - time.monotonic(), False
    if left > 0:
        threading.Thread(target=work, daemon=True).start()
    try:
        in_time = left > 0 and request.get("wait", threading.Event.wait)(done, left)
    finally:
        done.set()  # abandoned: later connections are not used
        for socket in [] if in_time else sockets:
            with suppress(OSError):  # it may already be closed
                socket.shutdown(2)  # wakes the thread's read; close would not
    if not in_time:
        raise kit.timeout_error(request["url"], "")
    if isinstance(outcome[0], Response):
        return outcome[0]
    raise transport_error(outcome[0], request["url"]) from None


def send_once(request: Fields, deadline: float, sockets: list[Any], done: Any) -> Response:
    """Send one request with urllib.request, without redirects; append its socket to sockets.

    done: an event that is set when the request is abandoned.
    The opener has no redirect handler, because urllib's would send the key to the new host. It has
    no error handler, so a response with any status is returned.
    """
    import http.client
    import urllib.request

    def connected(connection_class: Any) -> Any:
        class Connection(connection_class):  # type: ignore[misc]
            def connect(self) -> None:
                # http.client's own hook, since Python 2.7
                self._create_connection = request.get("connect", connect_to_name)
                super().connect()
                # One second late, so the waiting thread times out first.
                self.sock.settimeout(max(0.0, deadline - time.monotonic()) + 1)
                sockets.append(self.sock)
                if done.is_set():
                    raise TimeoutError

            def request(
                self, method: str, path: str, body: object, sent: Fields, **more: Any
            ) -> None:
                super().request(method, path, body, in_order(sent, request["headers"]), **more)

        return Connection

    class Handler(urllib.request.AbstractHTTPHandler):
        def http_open(self, sent: urllib.request.Request) -> Any:
            return self.do_open(connected(http.client.HTTPConnection), sent)

        def https_open(self, sent: urllib.request.Request) -> Any:
            secure = connected(http.client.HTTPSConnection)
            return self.do_open(secure, sent, context=tls_context())

        http_request = https_request = urllib.request.AbstractHTTPHandler.do_request_

    if proxy_for(request["url"]).lower().startswith("socks"):
        raise OSError("SOCKS")  # urllib would use HTTP with it
    opener = urllib.request.OpenerDirector()
    proxies = {} if is_loopback(request["url"]) else kit.proxies()
    opener.add_handler(urllib.request.ProxyHandler(proxies))
    opener.add_handler(Handler())
    headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip", **request["headers"]}
    body = request.get("body")
    if "json" in request:
        headers["Content-Type"] = "application/json"
        body = dump_json(request["json"]).encode()
    sent = urllib.request.Request(request["url"], body, headers, method=request["method"])
    with opener.open(sent, timeout=CONNECT_TIMEOUT) as answer:
        received = {name.lower(): value[:MAX_HEADER] for name, value in answer.headers.items()}
        encoding = received.get("content-encoding", "")
        content, is_broken = read_body(answer, encoding, request.get("max_body"))
    limit = request.get("max_body", MAX_BODY)
    is_cut = len(content) > limit
    response = Response(answer.status, received, content[:limit], is_cut, keys_in(headers))
    if is_broken:
        raise BrokenBodyError(response, request["url"])
    return response


def keys_in(headers: Fields) -> list[str]:
    """Return the secrets that a response may quote: the keys, and the parts of a Basic login."""
    keys: list[str] = []
    for value in (value for name, value in headers.items() if is_key_header(name)):
        scheme, _, key = value.rpartition(" ")
        keys.append(key)
        if scheme == "Basic":
            from base64 import b64decode
            from urllib.parse import quote

            login = b64decode(key).decode("utf-8", "replace")
            password = login.partition(":")[2]
            keys += [login, quote(password, safe=""), password]
    return [*filter(None, keys)]


def is_key_header(name: str) -> bool:
    """Return whether a header contains a key, whose value no dry run or error may show."""
    return name.lower() == "authorization" or name.lower().endswith(("key", "token"))


def connect_to_name(
    address: tuple[str, int], timeout: float, source_address: object = None
) -> socket.socket:
    """Return a connection to a host; replaces socket.create_connection. Raises OSError."""
    import socket

    return connect_to_first(socket.getaddrinfo(*address, type=socket.SOCK_STREAM), timeout)


def connect_to_first(addresses: list[Any], timeout: float) -> socket.socket:
    """Return a connection to the first of some addresses that answers.

    The next address is tried as soon as one fails, or in parallel after NEXT_ADDRESS_SECONDS: a
    dead IPv6 route does not answer. addresses: as from socket.getaddrinfo. timeout: seconds from
    the last attempt. Raises OSError.
    """
    import selectors
    import socket

    failure: OSError = TimeoutError("timed out")
    waiting, end = list(addresses), time.monotonic() + timeout
    with selectors.DefaultSelector() as selector:
        try:
            while (waiting or selector.get_map()) and time.monotonic() < end:
                if waiting:
                    family, kind, protocol, _, target = waiting.pop(0)
                    end = time.monotonic() + timeout
                    connection = socket.socket(family, kind, protocol)
                    selector.register(connection, selectors.EVENT_WRITE)
                    connection.setblocking(False)
                    try:
                        connection.connect(target)
                    except BlockingIOError:
                        pass
                    except OSError as error:
                        failure = error
                        selector.unregister(connection)
                        connection.close()
                        continue
                pause = NEXT_ADDRESS_SECONDS if waiting else max(0.0, end - time.monotonic())
                for key, _ in selector.select(pause):
                    connection = selector.unregister(key.fileobj).fileobj  # type: ignore[assignment]
                    code = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                    if not code:
                        connection.settimeout(timeout)
                        return connection
                    failure = OSError(code, os.strerror(code))
                    connection.close()
        finally:
            for key in list(selector.get_map().values()):
                key.fileobj.close()  # type: ignore[union-attr]
    raise failure


def in_order(headers: Fields, named: Fields) -> Fields:
    """Return headers with Host first, then in the request's order, unlike urllib."""
    order = ["Host", "Connection", "Content-Length", *named]
    return {name: headers[name] for name in order if name in headers} | headers


def read_body(answer: Any, encoding: str, max_body: int | None) -> tuple[bytes, bool]:
    """Return a response's decompressed body and whether it is incomplete; raises SearchError.

    A body over max_body stays longer than max_body. Without max_body, a body over MAX_BODY raises
    SearchError (provider), and an incomplete body raises EOFError.
    """
    import http.client

    names = [name.strip().lower() for name in encoding.split(",")]
    unknown = [name for name in names if name not in (*NO_ENCODINGS, *FORMATS)]
    if unknown or len(names) > MAX_ENCODINGS:
        message = f"The response has the encoding {quoted(encoding)}, which was not requested."
        raise SearchError("provider", message, "This program cannot decode it.")
    limit = max_body or MAX_BODY
    most = limit + limit // 100 + 1_000  # incompressible data grows a little
    try:
        body: bytes = answer.read(most + 1)
        is_broken = bool(len(body) <= most and answer.length)  # read(n) does not report it
    except http.client.IncompleteRead as error:
        body, is_broken = error.partial, True
    for name in reversed(names):
        if name in NO_ENCODINGS or ("gzip" in name and not body.startswith(kit.GZIP_START)):
            continue  # also for data wrongly labeled as compressed
        is_all = len(body) <= most and not is_broken
        body, ended = kit.decompressed(body, limit + 1, FORMATS[name])
        is_broken = not ended and (is_all or is_broken)
    if len(body) > limit and not max_body:
        message = f"The response is longer than {limit} bytes."
        raise SearchError("provider", message, "Request less.")
    if is_broken and not max_body:
        raise EOFError
    return body, is_broken


@functools.cache
def tls_context() -> Any:
    """Return the TLS context, created once, because reading the certificates takes 20 ms."""
    context = kit.tls_context()
    bundles = [] if context.cert_store_stats()["x509_ca"] else CA_BUNDLES
    for bundle in [path for path in bundles if os.path.exists(path)][:1]:
        context.load_verify_locations(bundle)
    return context


PROXY_HINT = "Set https_proxy to an address such as http://proxy.example:8080."


def transport_error(error: Exception, url: str) -> SearchError:
    """Return the SearchError for a failed exchange, without its text, which may contain secrets.

    Behind a proxy, the proxy is the host that was unreachable or refused the connection.
    """
    import socket
    import ssl
    from urllib.request import getproxies

    if isinstance(error, SearchError):
        return error
    host, proxy = url.split("/")[2], proxy_for(url)
    name = hide_credentials(proxy).partition("//")[2].strip("/") or host
    peer = f"The proxy {name}" if proxy else host
    reason = getattr(error, "reason", None)
    cause = reason if isinstance(reason, Exception) else error
    # http.client's text for a proxy's response to CONNECT
    tunnel = re.match(r"Tunnel connection failed: (\d{3})\b", str(cause)[:100])
    hint = "Check the network and the proxy variables, then try again."
    if isinstance(cause, ssl.SSLCertVerificationError):
        return kit.certificate_error(cause, host)
    if proxy.lower().startswith("socks"):
        scheme = url.partition(":")[0] if url.partition(":")[0] in getproxies() else "all"
        message = f"{scheme}_proxy is set to a SOCKS proxy, {name}: Python cannot use it."
        return SearchError("network", message, PROXY_HINT)
    if tunnel:
        message = f"{peer} refused to connect to {host} ({tunnel[1]})."
        hint = "Ask the proxy's operator, or add user:password@ to the address in https_proxy."
        return SearchError("network", message, hint, retryable=tunnel[1] >= "500")
    is_unknown = isinstance(cause, socket.gaierror)
    details = {"code": NAME_NOT_RESOLVED} if is_unknown else {}
    if isinstance(cause, TimeoutError):
        message = f"{peer} could not be reached in time."
    elif is_unknown:
        message = f"The name {name} could not be resolved."
    elif isinstance(cause, ConnectionRefusedError):
        message = f"{peer} refused the connection."
    else:
        message = f"The connection to {host} broke ({type(cause).__name__})."
    return SearchError("network", message, hint, retryable=not is_unknown, **details)


def identified_agent() -> str:
    """Return the User-Agent with the tool, its version and, if set, a contact.

    $WEB_SEARCH_CONTACT is an address of the person who runs the tool. Sites that ask for a contact
    can write there instead of blocking; Wikimedia allows identified callers twenty times the rate.
    Raises SearchError (invalid_input) for characters that are not allowed in a header.
    """
    contact = os.environ.get("WEB_SEARCH_CONTACT", "").strip()
    if not re.fullmatch(r"[ !-'*-\[\]-~]{0,200}", contact):  # ASCII that does not end a comment
        bad = f"characters that are not allowed in a header: {quoted(contact)}"
        message = f"WEB_SEARCH_CONTACT contains {bad}."
        hint = "Use an e-mail or web address without parentheses or accents."
        raise SearchError("invalid_input", message, hint)
    return f"{USER_AGENT} ({contact})" if contact else USER_AGENT
