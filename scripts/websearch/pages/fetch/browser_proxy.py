"""The proxy through which a browser reaches the web: on loopback, for the time of one page.

It resolves every name itself and refuses what read_page refuses. The browser is told to resolve
nothing and to send everything through here, so a page's scripts, frames, images and redirects
reach no private address either. Of the exceptions that the environment names, a page reaches only
its own host, and only to read: another page could change something there.
"""

from __future__ import annotations

import contextlib
import select
import socketserver
import threading
import time

from websearch.base.site_rules import check_blocked_site
from websearch.kit import SearchError
from websearch.pages.fetch.fetch import ascii_host, guarded_connect, host_and_port, normal_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_HEAD = 65_536  # bytes of one line of a request's head; browsers send less
MAX_HEADERS = 200
MAX_BYTES = 50_000_000  # for one page with everything that it loads
CONNECT_SECONDS = 5.0
IDLE_SECONDS = 8.0  # a connection on which nothing comes is closed
READ_SIZE = 65_536
READING = ("GET", "HEAD", "CONNECT")  # CONNECT: of an https page, whose requests are not seen here
LEFT_OUT = ("connection", "keep-alive", "proxy-connection", "proxy-authorization", "host")


class GuardProxy(socketserver.ThreadingTCPServer):
    """A proxy on a free port of loopback for a page; refused: the targets that were refused."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, url: str, deadline: float) -> None:
        super().__init__(("127.0.0.1", 0), ProxyConnection)
        self.page_host = host_and_port(url)
        self.deadline = deadline
        self.refused: set[str] = set()
        self.room = MAX_BYTES
        self.port = int(self.server_address[1])
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        ).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Write nothing to stderr: the browser reports a broken connection."""

    def close(self) -> None:
        """Stop listening; open connections end by themselves."""
        self.deadline = 0.0
        self.shutdown()
        self.server_close()


class ProxyConnection(socketserver.StreamRequestHandler):
    """One connection of the browser: one request, or one tunnel."""

    server: GuardProxy
    timeout = IDLE_SECONDS
    rbufsize = 0  # what follows the head stays in the socket, for relay

    def handle(self) -> None:
        """Read the head of a request, connect to the checked address, pass on both directions.

        What is refused or fails gets no answer at all: a page could take one for a success.
        """
        words = self.rfile.readline(MAX_HEAD).decode("latin-1").split()
        headers = self.read_headers()
        if len(words) != 3:
            return
        method, target, _ = words
        try:
            host, port, path = split_target(method, target)
            check_blocked_site(host)
            excepts = method in READING and (host, port) == self.server.page_host
            connect = guarded_connect(host, port, excepts=excepts)
            upstream = connect((host, port), CONNECT_SECONDS)
        except SearchError as error:
            if error.kind == "refused":
                self.server.refused.add(target)
            return
        except (OSError, ValueError):
            return
        with contextlib.closing(upstream):
            if method == "CONNECT":
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                netloc = target.split("/")[2]
                lines = [f"{method} {path} HTTP/1.1", f"Host: {netloc}", "Connection: close"]
                lines += [f"{name}: {value}" for name, value in headers]
                upstream.sendall("\r\n".join([*lines, "", ""]).encode("latin-1"))
            self.relay(upstream)

    def read_headers(self) -> list[tuple[str, str]]:
        """Return the headers of a request without those that concern this connection."""
        headers = []
        for _ in range(MAX_HEADERS):
            name, colon, value = self.rfile.readline(MAX_HEAD).decode("latin-1").partition(":")
            if not colon:
                break
            if name.lower() not in LEFT_OUT:
                headers.append((name.strip(), value.strip()))
        return headers

    def relay(self, upstream: Any) -> None:
        """Pass on bytes in both directions until one side closes, or the room or time is over."""
        others = {self.connection: upstream, upstream: self.connection}
        while self.server.room > 0 and time.monotonic() < self.server.deadline:
            ready = select.select(list(others), [], [], IDLE_SECONDS)[0]
            if not ready:
                return
            for socket in ready:
                data = socket.recv(READ_SIZE)
                if not data:
                    return
                others[socket].sendall(data)
                self.server.room -= len(data)


def split_target(method: str, target: str) -> tuple[str, int, str]:
    """Return host, port and path of what a browser asks a proxy for; raises SearchError."""
    if method == "CONNECT":
        name, _, port = target.rpartition(":")
        host = ascii_host(name.strip("[]"))
        if not host or not port.isdecimal():
            raise SearchError("invalid_input", "This is no host with a port.")
        return host, int(port), ""
    url = normal_url(target)
    path = "/".join(url.split("/")[3:])
    return (*host_and_port(url), f"/{path}")
