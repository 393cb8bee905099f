"""Run the loopback proxy through which a browser reaches the web for one page.

The proxy resolves every name itself and refuses the addresses that read_page refuses. The browser
resolves nothing and sends everything through the proxy, so scripts, frames, images and redirects
cannot reach private addresses either. If the environment exempts a host from the guard, only a page
from that host can reach it, and only to read, because other pages could change something on it.
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

MAX_HEAD = 65_536  # bytes per header line of a request; browsers send less
MAX_HEADERS = 200  # headers per request
MAX_BYTES = 50_000_000  # bytes per page, including everything that the page loads
CONNECT_SECONDS = 5.0
IDLE_SECONDS = 8.0  # seconds after which an idle connection is closed
READ_SIZE = 65_536  # bytes per read
READING = ("GET", "HEAD", "CONNECT")  # CONNECT tunnels https, whose requests the proxy cannot see
HOP_HEADERS = ("connection", "keep-alive", "proxy-connection", "proxy-authorization", "host")


class GuardProxy(socketserver.ThreadingTCPServer):
    """A proxy for one page, on a free loopback port; refused: the targets that were refused."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, url: str, deadline: float) -> None:
        super().__init__(("127.0.0.1", 0), ProxyConnection)
        self.page_host = host_and_port(url)
        self.deadline = deadline
        self.refused: set[str] = set()
        self.bytes_left = MAX_BYTES
        self.port = int(self.server_address[1])
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        ).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Write nothing to stderr, because the browser reports broken connections."""

    def close(self) -> None:
        """Stop listening; open connections end when they are done."""
        self.deadline = 0.0
        self.shutdown()
        self.server_close()


class ProxyConnection(socketserver.StreamRequestHandler):
    """A connection from the browser: one request or one tunnel."""

    server: GuardProxy
    timeout = IDLE_SECONDS
    rbufsize = 0  # bytes after the headers must stay in the socket for relay

    def handle(self) -> None:
        """Read a request's headers, connect to the checked address and relay bytes both ways.

        A refused or failed request gets no response, because a page could mistake any
        response for a success.
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
        """Return a request's headers, except those that apply only to this connection."""
        headers = []
        for _ in range(MAX_HEADERS):
            name, colon, value = self.rfile.readline(MAX_HEAD).decode("latin-1").partition(":")
            if not colon:
                break
            if name.lower() not in HOP_HEADERS:
                headers.append((name.strip(), value.strip()))
        return headers

    def relay(self, upstream: object) -> None:
        """Relay bytes both ways until either side closes or the byte or time limit is reached."""
        others = {self.connection: upstream, upstream: self.connection}
        while self.server.bytes_left > 0 and time.monotonic() < self.server.deadline:
            ready = select.select(list(others), [], [], IDLE_SECONDS)[0]
            if not ready:
                return
            for socket in ready:
                data = socket.recv(READ_SIZE)
                if not data:
                    return
                others[socket].sendall(data)
                self.server.bytes_left -= len(data)


def split_target(method: str, target: str) -> tuple[str, int, str]:
    """Return the host, port and path in a browser's request to its proxy; raises SearchError."""
    if method == "CONNECT":
        name, _, port = target.rpartition(":")
        host = ascii_host(name.strip("[]"))
        if not host or not port.isdecimal():
            raise SearchError("invalid_input", "CONNECT needs a host and a port.")
        return host, int(port), ""
    url = normal_url(target)
    path = "/".join(url.split("/")[3:])
    return (*host_and_port(url), f"/{path}")
