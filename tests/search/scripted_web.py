"""A small web that a test writes itself: which results an engine has, and what the pages say.

Every site listens on a port of its own, so that pages of several sites can be read at once, as in
the real web. The engines are SearXNG, Brave and Serper.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support import CANARY, small_web_environment

GOOD_KEY = "good-" + CANARY
HANG_SECONDS = 60.0  # longer than any deadline of a test
KEYS = {"brave": "BRAVE_SEARCH_API_KEY", "serper": "SERPER_API_KEY"}


class ScriptedWeb:
    """Engines and sites on loopback.

    asked: (engine, query) of each request to an engine; moments: when each of them came (seconds
    of time.monotonic); most_at_once: engine requests that were open at the same time. read: the
    address of each page that was read. delays: engine -> seconds before it answers. statuses:
    engine -> what it answers with.
    """

    def __init__(self, sites: int = 1) -> None:
        self.asked: list[tuple[str, str]] = []
        self.moments: list[float] = []
        self.most_at_once = 0
        self.read: list[str] = []
        self.delays: dict[str, float] = {}
        self.statuses: dict[str, int] = {}
        self._found: dict[tuple[str, str], list[dict[str, str]]] = {}
        self._pages: dict[str, tuple[str, float, int]] = {}
        self._files: dict[str, bytes] = {}
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._open = 0
        self._servers = [Listener(self) for _ in range(sites)]
        self._url = self._servers[0].url

    def __enter__(self) -> ScriptedWeb:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving; what hangs ends."""
        self._closing.set()
        for server in self._servers:
            server.close()

    def forget(self) -> None:
        """Forget what was asked and read."""
        self.asked, self.moments, self.read, self.most_at_once = [], [], [], 0

    def page(
        self, path: str, text: str, site: int = 0, delay: float = 0.0, status: int = 200
    ) -> str:
        """Add a page with paragraphs of text; return its address. Its title is its path.

        A query after the address changes nothing, as with tracking parameters.
        """
        paragraphs = "".join(f"<p>{one}</p>" for one in text.split("\n\n"))
        html = (
            f"<!DOCTYPE html><html lang=en><head><title>{path}</title></head><body><main><article>"
            f"<h1>{path}</h1>{paragraphs}</article></main></body></html>"
        )
        url = f"{self._servers[site].url}{path}"
        self._pages[url] = (html, delay, status)
        return url

    def file(self, path: str, data: bytes, site: int = 0) -> str:
        """Add a file, which its server calls application/octet-stream; return its address."""
        url = f"{self._servers[site].url}{path}"
        self._files[url] = data
        return url

    def find(self, query: str, *results: str | dict[str, str], engine: str = "") -> None:
        """Let an engine (default: each) find results for a query: addresses, or whole results."""
        self._found[engine, query] = [
            {"url": one, "title": f"Title of {urlsplit(one).path}", "snippet": f"About {query}."}
            if isinstance(one, str)
            else one
            for one in results
        ]

    def environment(self, *engines: str, **more: str) -> dict[str, str]:
        """The variables that lead every script here, with these engines (searxng, brave, serper)
        configured and no other one.
        """
        hosts = ",".join(server.url.removeprefix("http://") for server in self._servers)
        return {
            **small_web_environment(self._url),
            "SEARXNG_BASE_URL": f"{self._url}/searxng" if "searxng" in engines else "",
            "DUCKDUCKGO_BASE_URL": "http://127.0.0.1:9",
            "WEB_SEARCH_ALLOW_PRIVATE": hosts,
            **{KEYS[name]: GOOD_KEY for name in engines if name in KEYS},
            **more,
        }

    def answer(self, address: str, body: bytes) -> tuple[int, str, bytes]:
        """Return status, content type and body of the answer to a request."""
        parts = urlsplit(address)
        engines = {"/searxng/search": "searxng", "/res/v1/web/search": "brave", "/search": "serper"}
        if parts.path in engines:
            engine = engines[parts.path]
            values = {name: value[0] for name, value in parse_qs(parts.query).items()}
            values = json.loads(body) if body else values
            return self._results(engine, values)
        self.read.append(address)
        plain = address.partition("?")[0]
        if plain in self._files:
            return 200, "application/octet-stream", self._files[plain]
        html, delay, status = self._pages.get(plain, ("<h1>No such page</h1>", 0.0, 404))
        self._closing.wait(delay)
        return status, "text/html; charset=utf-8", html.encode()

    def _results(self, engine: str, values: dict[str, Any]) -> tuple[int, str, bytes]:
        """Return an engine's answer to a query, as its API gives it."""
        query = values["q"]
        with self._lock:
            self.asked.append((engine, query))
            self.moments.append(time.monotonic())
            self._open += 1
            self.most_at_once = max(self.most_at_once, self._open)
        self._closing.wait(self.delays.get(engine, 0.0))
        with self._lock:
            self._open -= 1
        status = self.statuses.get(engine, 200)
        found = self._found.get((engine, query), self._found.get(("", query), []))
        if values.get("pageno", "1") != "1":
            found = []
        renamed: dict[str, Any]
        if engine == "serper":
            listed = [{**one, "link": one["url"]} for one in found]
            renamed = {"organic": listed, "credits": 1}
        elif engine == "brave":
            listed = [{**one, "description": one.get("snippet", "")} for one in found]
            renamed = {"type": "search", "query": {"original": query}, "web": {"results": listed}}
        else:
            listed = [{**one, "content": one.get("snippet", "")} for one in found]
            renamed = {"query": query, "results": listed, "unresponsive_engines": []}
        if status != 200:
            renamed = {"message": "broken"}
        return status, "application/json", json.dumps(renamed).encode()


class Listener:
    """One port of a web, with a thread for each connection."""

    def __init__(self, web: ScriptedWeb) -> None:
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                port = self.server.server_address[1]
                answer = web.answer(f"http://127.0.0.1:{port}{self.path}", body)
                status, content_type, data = answer
                with contextlib.suppress(OSError):  # the client has left
                    self.send_response(status)
                    self.send_header("Content-Type", content_type)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)

            do_POST = do_GET  # noqa: N815  http.server's name

            def log_message(self, *_: Any) -> None:
                """Keep stderr quiet."""

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: Any) -> None:
                """Keep stderr quiet: a client that leaves early is what some tests are about."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def story(topic: str, sentences: int = 12, first: int = 1) -> str:
    """Return paragraphs on a topic, in words of its own; first: its first day."""
    lines = [
        f"The {topic} keeper of day {number} wrote {topic} {number} times into the {topic} log."
        for number in range(first, first + sentences)
    ]
    pairs = [" ".join(lines[place : place + 2]) for place in range(0, len(lines), 2)]
    return "\n\n".join(pairs)


def seconds_of(action: Any) -> tuple[float, Any]:
    """Return how many seconds a call takes, and what it returns."""
    begin = time.monotonic()
    outcome = action()
    return time.monotonic() - begin, outcome
