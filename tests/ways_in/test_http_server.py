"""http_server.py as a process: GLSI's HTTP API, refused requests, starting and stopping.

The only module to notice a wrong status, a smuggled request, and a client that holds others up.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import re
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock
from urllib.parse import quote, urlencode

import http_server as command
from tests.support import (
    PROCESS_TIMEOUT,
    SLACK,
    EnvironmentCase,
    call_main,
    load_script,
    new_folder,
    run_script,
)
from tests.ways_in.http_support import (
    SCRIPT,
    TOKEN,
    Answer,
    ServerCase,
    ServerProcess,
    damaged,
    read_all,
    request,
    responses,
)
from websearch import kit
from websearch.ways_in import http_connection as limits
from websearch.ways_in import http_messages as messages

CHUNKED = "Transfer-Encoding: chunked"


class GlsiPhaseSeven(ServerCase):
    """The endpoints of GLSI's HTTP API, as its plan names them."""

    def test_get_health_says_that_the_status_is_ok(self) -> None:
        answer = self.api.fetch("/health")
        self.assertEqual((answer.status, answer.document), (200, {"status": "ok"}))

    def test_search_returns_page_text_and_then_a_stored_answer(
        self,
    ) -> None:
        self.let_searxng_find("articles/sourdough", "articles/tides")
        first = self.search("why does bread rise", engine="searxng", count=2)
        self.assertEqual(first.status, 200, first)
        document = first.document
        self.assertEqual(
            (document["status"], document["result_count"], document["from_cache"]), ("ok", 2, False)
        )
        sections = document["content"].split("\n\n---\n\n")
        self.assertEqual(len(sections), 2)
        self.assertTrue(sections[0].startswith(f"## {self.page('articles/sourdough')}\n\n"))
        self.assertIn("gluten network", sections[0])
        received = len(self.server.requests)
        second = self.search("Why does bread rise ", engine="searxng", count=2)
        self.assertTrue(second.document["from_cache"])
        self.assertEqual(second.document["content"], document["content"])
        self.assertEqual(len(self.server.requests), received)

    def test_search_sends_page_text_only_in_content(self) -> None:
        self.let_searxng_find("articles/tides", "status/404")
        document = self.search("tides", engine="searxng").document
        self.assertEqual(document["result_count"], 2)
        self.assertNotIn("text", json.dumps(document["results"]))
        self.assertIn("404", document["results"][1]["error"])
        self.assertEqual(document["content"].count("## http"), 1)

    def test_search_sends_whole_page_texts_and_max_chars_cuts_them(self) -> None:
        self.let_searxng_find("articles/lighthouse")
        whole = self.search("keeper", engine="searxng").document
        self.assertNotIn("truncated", whole)
        page = self.api.fetch("/read?url=" + quote(self.page("articles/lighthouse")))
        text = re.sub(r"(?m)^##", "###", page.document["pages"][0]["text"])  # below "## address"
        self.assertIn(text, whole["content"])
        again = self.search("keeper", engine="searxng").document
        self.assertEqual((again["from_cache"], again["content"]), (True, whole["content"]))
        cut = self.search("keeper", engine="searxng", max_chars=3_000)
        self.assertTrue(cut.document["results"][0]["truncated"])
        self.assertLess(len(kit.dump_json(cut.document)), 3_200)

    def test_force_asks_again_and_count_limits_the_results(self) -> None:
        self.let_searxng_find("articles/sourdough", "articles/tides", "list/news")
        self.search("force", engine="searxng", count=1)
        answer = self.search("force", engine="searxng", count=1, force="true")
        self.assertEqual(answer.document["result_count"], 1)
        self.assertFalse(answer.document["from_cache"])

    def test_delete_cache_with_q_clears_only_that_query(self) -> None:
        self.let_searxng_find("articles/sourdough")
        for query in ("first words", "second words"):
            self.search(query, engine="searxng")
        answer = self.api.fetch("/cache?q=first+words", "DELETE")
        self.assertEqual(answer.status, 200)
        self.assertEqual(
            (answer.document["status"], answer.document["query"]), ("ok", "first words")
        )
        self.assertEqual(answer.document["answers"], 1)
        self.assertFalse(self.search("first words", engine="searxng").document["from_cache"])
        self.assertTrue(self.search("second words", engine="searxng").document["from_cache"])

    def test_delete_cache_without_q_flushes_everything(self) -> None:
        self.let_searxng_find("articles/sourdough")
        self.search("flush", engine="searxng")
        self.assertGreaterEqual(self.api.fetch("/cache", "DELETE").document["answers"], 1)
        again = self.api.fetch("/cache", "DELETE").document
        self.assertEqual((again["answers"], again["pages"]), (0, 0))

    def test_every_answer_is_json(self) -> None:
        for target, method in (("/health", "GET"), ("/x", "GET"), ("/search", "POST")):
            answer = self.api.fetch(target, method)
            self.assertEqual(answer.headers["content-type"], "application/json")
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")

    def test_port_is_that_of_the_flag_or_glsi_port_or_8080(self) -> None:
        for words, variables, port in (
            (["-p", "3000"], {"GLSI_PORT": "4000"}, 3000),
            (["--port=3000"], {}, 3000),
            ([], {"GLSI_PORT": "4000"}, 4000),
            ([], {}, 8080),
        ):
            with self.subTest(words=words, variables=variables):
                self.set_environment(**variables)
                run = call_main(command, *words, "--dry-run")
                self.assertEqual(run.document["request"]["listen"], f"http://127.0.0.1:{port}")

    def test_web_search_serve_starts_it(self) -> None:
        server = ServerProcess(script="web_search.py")
        self.assertEqual(server.fetch("/health").document, {"status": "ok"})
        self.assertEqual(server.stop()[0], 0)


class Search(ServerCase):
    def test_status_follows_the_failure_and_retry_after_is_sent(self) -> None:
        for word, status, kind, retry in (
            ("bad", 503, "auth", None),
            ("fault", 502, "provider", None),
            ("limit", 429, "rate_limit", "60"),
        ):
            answer = self.search_that_fails(word)
            with self.subTest(kind):
                self.assert_error(answer, status, kind)
                self.assertEqual(answer.headers.get("retry-after"), retry)

    def search_that_fails(self, word: str) -> Answer:
        """A search whose SearXNG answers with a failure."""
        self.searxng.headers = {"Retry-After": "60"} if word == "limit" else {}
        self.searxng.status = {"bad": 401, "fault": 402, "limit": 429}[word]
        return self.search(f"fails by {word}", engine="searxng", timeout=2)

    def test_nothing_found_is_not_a_server_error(self) -> None:
        self.searxng.body = {"query": "x", "results": [], "unresponsive_engines": []}
        answer = self.search("nothing at all", engine="searxng")
        self.assertEqual(answer.status, 200, answer)
        document = answer.document
        self.assertEqual((document["status"], document["content"]), ("no_results", ""))
        self.assertEqual((document["result_count"], document["from_cache"]), (0, False))
        self.assertEqual(document["details"]["kind"], "no_results")

    def test_filters_reach_the_engine_and_query_is_another_name_of_q(self) -> None:
        answer = self.api.fetch(
            "/search?query=python&engine=brave&since=week&country=us&language=en&safe=strict"
            "&site=docs.python.org,github.com&no_pages=true&count=3"
        )
        self.assertEqual((answer.status, answer.document["status"]), (200, "no_results"), answer)
        sent = dict(self.server.requests[0].query_pairs)
        self.assertEqual((sent["freshness"], sent["safesearch"]), ("pw", "strict"))
        self.assertIn("site=github.com", sent["goggles"])

    def test_recall_finds_pages_read_before_and_sends_them_whole(self) -> None:
        self.let_searxng_find("articles/sourdough")
        self.search("bread to recall", engine="searxng")
        answer = self.api.fetch("/recall?q=gluten&count=1")
        self.assertEqual((answer.status, answer.document["ok"]), (200, True), answer)
        self.assertEqual(answer.document["results"][0]["url"], self.page("articles/sourdough"))
        self.assertTrue(answer.document["results"][0]["text"])
        self.let_searxng_find("articles/lighthouse")
        content = self.search("a light at sea", engine="searxng").document["content"]
        recalled = self.api.fetch("/recall?q=lighthouse").document["results"][0]
        self.assertGreater(len(recalled["text"]), 9_000)
        self.assertIn(re.sub(r"(?m)^##", "###", recalled["text"]), content)
        nothing = self.api.fetch("/recall?q=zzyzxqwerty")
        self.assertEqual(nothing.document["details"]["kind"], "no_results")
        self.assertEqual((nothing.status, nothing.document["status"]), (200, "no_results"))


class Read(ServerCase):
    def read(self, *paths: str, **params: Any) -> Answer:
        pairs = [("url", self.page(path)) for path in paths]
        return self.api.fetch("/read?" + urlencode([*pairs, *params.items()]))

    def test_reads_one_page_or_several(self) -> None:
        answer = self.read("articles/sourdough", "articles/tides")
        self.assertEqual((answer.status, answer.document["status"]), (200, "ok"))
        titles = [page["title"] for page in answer.document["pages"]]
        self.assertEqual(titles[0], "Why sourdough rises")
        self.assertEqual(len(titles), 2)

    def test_read_with_a_query_returns_the_passages_that_answer(self) -> None:
        answer = self.read("docs/timeouts", query="timeout")
        self.assertIn("passages", answer.document["pages"][0])

    def test_status_follows_the_kind_of_failure(self) -> None:
        for path, params, status, kind in (
            ("status/404", {}, 502, "http"),
            ("wall/captcha", {}, 502, "blocked"),
            ("binary/photo", {}, 502, "unsupported"),
            ("slow/hang", {"page_timeout": 0.3}, 504, "timeout"),
            ("status/429", {}, 502, "http"),
        ):
            with self.subTest(path):
                answer = self.read(path, **params)
                self.assert_error(answer, status, kind)
                retry = "7" if path == "status/429" else None
                self.assertEqual(answer.headers.get("retry-after"), retry)

    def test_private_addresses_are_refused_under_read_page_s_guard(self) -> None:
        for url in ("http://127.0.0.1:1/", "http://169.254.169.254/latest/", "file:///etc/passwd"):
            with self.subTest(url):
                self.assert_error(self.api.fetch(f"/read?url={quote(url)}"), 502, "refused")

    def test_pages_come_whole_and_max_chars_cuts_them(self) -> None:
        whole = self.read("articles/lighthouse").document["pages"][0]
        self.assertEqual(len(whole["text"]), whole["chars"])
        self.assertGreater(whole["chars"], 9_000)  # what agents get
        page = self.read("articles/lighthouse", max_chars=3_000).document["pages"][0]
        self.assertTrue(page["truncated"])
        self.assertLess(len(page["text"]), 3_000)

    def test_hints_name_parameters_not_flags(self) -> None:
        late = self.read("slow/hang", timeout=0.3)
        self.assertEqual(late.status, 504)
        self.assertNotIn("--", json.dumps(late.document["details"]))


class Parameters(ServerCase):
    def test_wrong_parameters_are_refused_by_name(self) -> None:
        for target, words in (
            ("/search", "query is missing"),
            ("/search?q=", "q is empty"),
            ("/search?q=a&cuont=3", "There is no parameter 'cuont'"),
            ("/search?q=a&query=b", "q is set twice"),
            ("/search?q=a&verbose=true", "no parameter 'verbose'"),
            ("/search?q=a&timeout=500", "timeout must be a number from 0.1 to 120"),
            ("/search?q=a&max_chars=499", "max_chars must be 0 or 500 or more, not 499"),
            ("/search?q=%ff", "is not percent-encoded UTF-8"),
            ("/search?q=Ume%00e5", "must be text without control characters, not 'Ume\\x00e5'"),
            ("/search?q=a&engine=gogle", "engine must be one of auto"),
            ("/cache?action=stats", "no parameter 'action'"),
            ("/cache?q=", "q is empty"),
            ("/read?url=", "url is empty"),
            ("/health?x=1", "no parameter 'x'"),
        ):
            with self.subTest(target):
                method = "DELETE" if target.startswith("/cache") else "GET"
                answer = self.api.fetch(target, method)
                self.assert_error(answer, 400)
                self.assertIn(words, answer.document["error"])

    def test_empty_optional_parameters_count_as_not_given(self) -> None:
        plain = "/search?q=a&engine=brave&no_pages=1"
        self.api.fetch(plain)
        sent = self.server.requests[-1].query_pairs
        empty = "&exclude_site=[]&since="
        for more in ("&since=&site=&country=%20", "&count=null&max_chars=&format=", empty):
            with self.subTest(more):
                self.server.clear()
                answer = self.api.fetch(plain + more + "&force=1")
                self.assertEqual(answer.status, 200, answer.document)
                self.assertEqual(self.server.requests[-1].query_pairs, sent)

    def test_the_nearest_name_is_hinted_at(self) -> None:
        answer = self.api.fetch("/search?q=a&cuont=3")
        self.assertIn("count", answer.document["details"]["hint"])
        self.assertIn("/search", self.api.fetch("/serach?q=a").document["details"]["hint"])

    def test_letters_may_come_encoded_or_as_plain_utf_8(self) -> None:
        for target in ("/search?q=caf%C3%A9+au&n%6F_pages=1", "/search?q=café%20au&no_pages=1"):
            self.server.clear()
            data = request(f"{target}&engine=brave", "GET", "Connection: close")
            answer = responses(self.api.talk(data, ends=False))[0]
            with self.subTest(target):
                self.assertEqual(dict(self.server.requests[-1].query_pairs)["q"], "café au", answer)

    def test_a_letter_whose_bytes_are_white_space_to_python_is_kept(self) -> None:
        data = request("/search?q=voilà&engine=brave&no_pages=1", "GET", "Connection: close")
        self.api.talk(data, ends=False)
        self.assertEqual(dict(self.server.requests[-1].query_pairs)["q"], "voilà")
        [answer] = responses(self.api.talk(request("/search?q=x").replace(b"x", b"\xff\xfe")))
        self.assertIn("is not percent-encoded UTF-8", answer.document["error"])

    def test_hints_name_the_parameters_of_the_api(self) -> None:
        shell = self.api.fetch("/read?url=" + quote(self.page("shell"))).document
        self.assertIn("Set browser to run its scripts.", shell["details"]["hint"])
        late = self.api.fetch("/read?timeout=0.5&url=" + quote(self.page("slow/late"))).document
        self.assertEqual("Raise timeout.", late["details"]["hint"])

    def test_format_markdown_is_accepted_where_json_is(self) -> None:
        self.let_searxng_find("articles/sourdough", "articles/tides")
        query = "q=why+bread+rises&engine=searxng&format=markdown"
        for target, words in (
            (f"/search?{query}", "Title of articles/sourdough"),
            ("/read?url=" + quote(self.page("articles/sourdough")) + "&format=markdown", "gluten"),
            ("/recall?q=gluten&format=markdown", "gluten"),
            ("/recall?q=zzyzxqwerty&format=markdown", "**Nothing found:**"),
        ):
            with self.subTest(target):
                answer = self.api.fetch_raw(target)
                self.assertEqual(answer.status, 200)
                self.assertEqual(answer.headers["content-type"], "text/markdown; charset=utf-8")
                self.assertIn(words, answer.document)
        self.assert_error(self.api.fetch("/recall?q=a&format=xml"), 400)

    def test_a_browser_gets_a_page_that_says_how_to_call_the_server(self) -> None:
        answer = self.api.fetch_raw("/docs", Accept="text/html,*/*;q=0.8")
        self.assertEqual(answer.headers["content-type"], "text/html; charset=utf-8")
        self.assertIn("default-src 'none'", answer.headers["content-security-policy"])
        self.assertEqual(answer.document.count("curl "), 5)
        self.assertIn(f"http://127.0.0.1:{self.api.port}/search?q=", answer.document)
        self.assertIn('href="/openapi.json"', answer.document)
        self.assert_error(self.api.fetch("/docs"), 404)
        refused = self.api.fetch("/", Accept="text/html", Host='"><script>')
        self.assert_error(refused, 403, "refused")

    def test_unknown_path_and_method_get_404_and_405_with_allow(self) -> None:
        self.assert_error(self.api.fetch("/"), 404)
        self.assert_error(self.api.fetch("/none/"), 404)
        for path, method, allow in (
            ("/search", "POST", "GET, HEAD"),
            ("/cache", "GET", "DELETE"),
            ("/cache", "HEAD", "DELETE"),
            ("/cache", "OPTIONS", "DELETE"),
            ("/health", "BREW", "GET, HEAD"),
        ):
            answer = self.api.fetch(path, method)
            self.assertEqual((answer.status, answer.headers["allow"]), (405, allow))

    def test_slash_at_the_end_of_a_path_makes_no_difference(self) -> None:
        self.assertEqual(self.api.fetch("/health/").status, 200)
        self.assert_error(self.api.fetch("/search/"), 400, "invalid_input")
        initialize = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
        lines = ("Content-Type: application/json", f"Content-Length: {len(initialize)}")
        raw = self.api.talk(request("/mcp/", "POST", *lines, "Connection: close") + initialize)
        self.assertIn(b'"result":{}', raw)

    def test_head_answers_as_get_does_without_the_body(self) -> None:
        answer = self.api.fetch("/health", "HEAD")
        self.assertEqual((answer.status, answer.document), (200, None))
        self.assertEqual(answer.headers["content-length"], "16")


class Callers(ServerCase):
    """Requests of web pages in the user's browser are refused."""

    def test_foreign_host_names_are_refused(self) -> None:
        hosts = ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "10.0.0.1",
                 "localhost.evil.example", "[::2]", "[:::]", "[1.2.3.4]", "[]", "", ":80",
                 "local host", "a@localhost")  # fmt: skip
        for host in hosts:
            with self.subTest(host):
                answer = self.api.fetch("/health", Host=host)
                self.assert_error(answer, 403, "refused")

    def test_loopback_names_are_accepted_with_any_port(self) -> None:
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1:9", "[::1]:8080", "127.5.5.5"):
            with self.subTest(host):
                self.assertEqual(self.api.fetch("/health", Host=host).status, 200)

    def test_a_target_may_be_the_whole_url(self) -> None:
        for url in ("http://localhost", "http://127.0.0.1:9", "https://[::1]:8080"):
            with self.subTest(url):
                self.assertEqual(self.api.fetch_raw(f"{url}/health").status, 200)
        for url, host in (("evil.example", "localhost"), ("localhost", "evil.example")):
            answer = self.api.fetch(f"http://{url}/health", Host=host)
            self.assert_error(answer, 403, "refused")
        self.assert_error(self.api.fetch("http://localhost/search?q="), 400, "invalid_input")

    def test_foreign_origins_are_refused_and_its_own_is_not(self) -> None:
        own = f"127.0.0.1:{self.api.port}"
        for origin, status in (
            (f"http://{own}", 200),
            ("https://evil.example", 403),
            ("http://localhost:1", 403),
            ("http://127.0.0.1:1", 403),
            ("null", 403),
        ):
            with self.subTest(origin):
                self.assertEqual(self.api.fetch("/health", Origin=origin).status, status)

    def test_requests_that_browsers_label_cross_site_are_refused(self) -> None:
        for site, status in (("cross-site", 403), ("same-site", 403), ("none", 200)):
            answer = self.api.fetch("/health", Sec_Fetch_Site=site)
            self.assertEqual(answer.status, status, site)


class Protocol(ServerCase):
    """Any raw bytes get a JSON answer or a closed connection, and the server continues."""

    # name -> (bytes, status of the only answer)
    REFUSED: ClassVar = {
        "http 0.9": (b"GET /health\r\n", 400),
        "no http": (b"hello there\r\n\r\n", 400),
        "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        "ssh": (b"SSH-2.0-OpenSSH_9.6\r\n", 400),
        "http 2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        "version 2": (b"GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n", 505),
        "http 1.x": (b"GET /health HTTP/1\r\nHost: localhost\r\n\r\n", 400),
        "lower-case protocol": (b"GET /health http/1.1\r\nHost: localhost\r\n\r\n", 400),
        "blank in target": (b"GET /health x HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        "two blanks": (b"GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        "tab": (b"GET\t/health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        "nul in target": (b"GET /health\0 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        "no path": (b"GET health HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        "credentials": (request("http://localhost@evil.example/health"), 400),
        "other scheme": (request("ftp://localhost/health"), 400),
        "connect": (b"CONNECT example.org:443 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
        "bare lf": (b"GET /health HTTP/1.1\nHost: localhost\n\n", 400),
        "one bare lf": (b"GET /health HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n", 400),
        "bare cr": (b"GET /health HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n", 400),
        "no host": (b"GET /health HTTP/1.1\r\n\r\n", 400),
        "two hosts": (request("/health", "GET", "Host: localhost"), 400),
        "no colon": (request("/health", "GET", "nonsense"), 400),
        "blank before colon": (request("/health", "GET", "X : y"), 400),
        "folded line": (request("/health", "GET", "X: y", " z"), 400),
        "no name": (request("/health", "GET", ": y"), 400),
        "nul in header": (request("/health", "GET", "X: a\0b"), 400),
        "control in header": (request("/health", "GET", "X: a\x01b"), 400),
        "escape in header": (request("/health", "GET", "X: \x1b[31m"), 400),
        "ends in the head": (b"GET /health HTTP/1.1\r\nHost: loc", 400),
        "huge header": (request("/health", "GET", "X: " + "y" * 20_000), 431),
        "endless header": (b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 70_000, 431),
        "many headers": (request("/health", "GET", *["X: y"] * 101), 431),
        "long target": (request("/search?q=" + "y" * 8_101), 414),
        "endless target": (b"GET /search?q=" + b"y" * 70_000, 414),
        "length and chunks": (
            request("/health", "GET", "Content-Length: 5", "Transfer-Encoding: chunked")
            + b"0\r\n\r\nGET /cache HTTP/1.1\r\n\r\n",
            411,
        ),
        "chunks": (
            request("/search", "POST", "Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n\r\n",
            411,
        ),
        "hidden chunks": (request("/health", "GET", "Transfer-Encoding:\tchunked") + b"0", 411),
        "unknown coding": (request("/health", "GET", "Transfer-Encoding: gzip, chunked"), 411),
        "chunks in http 1.0": (
            b"POST /health HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            411,
        ),
        "length and chunks of mcp": (
            request("/mcp", "POST", "Content-Length: 5", CHUNKED) + b"0\r\n\r\n", 400,
        ),
        "no size of a chunk": (request("/mcp", "POST", CHUNKED) + b"0x1\r\na\r\n0\r\n\r\n", 400),
        "long chunk": (request("/mcp", "POST", CHUNKED) + b"1\r\nab\r\n0\r\n\r\n", 400),
        "chunks beyond the limit": (request("/mcp", "POST", CHUNKED) + b"FFFFFF\r\na", 413),
        "chunks without end": (request("/mcp", "POST", CHUNKED) + b"1\r\na\r\n0\r\nno end", 400),
        "chunks of mcp in http 1.0": (
            b"POST /mcp HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
        ),
        "two lengths": (request("/health", "GET", "Content-Length: 0", "Content-Length: 5"), 400),
        "list of lengths": (request("/health", "GET", "Content-Length: 5, 5"), 400),
        "signed length": (request("/health", "GET", "Content-Length: +5"), 400),
        "negative length": (request("/health", "GET", "Content-Length: -1"), 400),
        "hex length": (request("/health", "GET", "Content-Length: 0x5"), 400),
        "long length": (request("/health", "GET", "Content-Length: " + "9" * 30), 400),
        "other digits": (request("/health", "GET", "Content-Length: ٥"), 400),
        "body": (request("/health", "GET", "Content-Length: 2") + b"{}", 400),
        "body of delete": (request("/cache", "DELETE", "Content-Length: 9") + b'{"q":"a"}', 400),
        "body not sent": (request("/health", "GET", "Content-Length: 5"), 400),
        "huge body": (request("/search", "POST", "Content-Length: 70000") + b"x" * 70_000, 405),
        "version 0.9": (b"GET /health HTTP/0.9\r\nHost: localhost\r\n\r\n", 400),
    }  # fmt: skip

    def test_broken_requests_get_a_json_error_and_are_disconnected(
        self,
    ) -> None:
        for name, (data, status) in self.REFUSED.items():
            with self.subTest(name):
                started = time.monotonic()
                answers = responses(self.api.talk(data + request("/health", "GET")))
                if name.startswith(("ends", "endless")):
                    answers = responses(self.api.talk(data))
                self.assertEqual([one.status for one in answers], [status])
                self.assertEqual(answers[0].headers["connection"], "close")
                self.assert_error(answers[0], status)
                self.assertLess(time.monotonic() - started, 2 * SLACK)
        self.assertEqual(self.api.fetch("/health").status, 200)

    def test_a_head_of_spaces_is_answered(self) -> None:
        blanks = " " * 14_000
        for line in (f"X:{blanks}", f"X:{blanks}y", f"X:{blanks}\0", f"X{blanks}:y"):
            with self.subTest(line[-3:]):
                answer = responses(self.api.talk(request("/health", "GET", line)))[0]
                self.assertEqual(answer.status, 400 if "\0" in line or "X " in line else 200)

    def test_random_bytes_and_damaged_requests_never_hang_or_end_it(self) -> None:
        seeded = random.Random(7)
        whole = request("/search?q=a&count=99", "GET", "X-One: 1", "Content-Length: 0")

        cases = list(damaged(whole, seeded, 200))
        with ThreadPoolExecutor(8) as pool:
            for case, data in zip(cases, pool.map(self.api.talk, cases), strict=True):
                with self.subTest(case):
                    for answer in responses(data):
                        self.assertIn(answer.status, range(200, 506))
                        self.assertNotEqual(answer.status, 500)
        self.assertEqual(self.api.fetch("/health").status, 200)

    def test_pipelined_requests_are_answered_in_order(self) -> None:
        data = request("/health") + request("/none") + b"\r\n" + request("/search", "DELETE")
        data += request("/health", "HEAD") + request("/health", "GET", "Connection: close")
        raw = self.api.talk(data + request("/health"))
        statuses = re.findall(rb"HTTP/1\.1 (\d+)", raw)
        self.assertEqual(statuses, [b"200", b"404", b"405", b"200", b"200"])

    def test_a_connection_serves_many_requests_without_delay(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=20)
        started = time.monotonic()
        sockets = set()
        for _ in range(300):
            connection.request("GET", "/health")
            self.assertEqual(connection.getresponse().read(), b'{"status":"ok"}\n')
            sockets.add(connection.sock.getsockname()[1])
        connection.close()
        self.assertEqual(len(sockets), 1)
        # 40 ms of delayed ACK for each would make twelve seconds.
        self.assertLess(time.monotonic() - started, 10)

    def test_http_1_0_is_answered_once_and_closed(self) -> None:
        answers = responses(self.api.talk(b"GET /health HTTP/1.0\r\n\r\n" + request()))
        self.assertEqual([one.status for one in answers], [200])
        self.assertEqual(answers[0].headers["connection"], "close")

    def test_an_empty_body_with_expect_continue_is_accepted(self) -> None:
        data = request("/health", "GET", "Content-Length: 0", "Expect: 100-continue")
        self.assertEqual([one.status for one in responses(self.api.talk(data))], [100, 200])

    def test_a_request_may_come_byte_by_byte(self) -> None:
        with self.api.connect() as client:
            for byte in request("/health", "GET", "Connection: close"):
                client.sendall(bytes([byte]))
            self.assertEqual(responses(read_all(client))[0].status, 200)

    def test_clients_that_leave_in_the_middle_end_nothing_else(self) -> None:
        for data in (b"", b"GET /hea", request(), request("/openapi.json") * 50):
            with self.api.connect() as client:
                client.sendall(data)
                if data:  # an abrupt end: the connection is reset
                    linger = (1).to_bytes(4, sys.byteorder) + bytes(4)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.assertEqual(self.api.fetch("/health").status, 200)

    def test_slow_clients_do_not_delay_others(self) -> None:
        slow = [self.api.connect() for _ in range(30)]
        try:
            for client in slow:
                client.sendall(b"GET /health HTTP/1.1\r\nHo")
            started = time.monotonic()
            self.assertEqual(self.api.fetch("/health").status, 200)
            self.assertLess(time.monotonic() - started, SLACK)
        finally:
            for client in slow:
                client.close()


class Limits(EnvironmentCase):
    def test_too_many_connections_get_503_and_later_ones_are_served(
        self,
    ) -> None:
        server = ServerProcess()
        held = [server.connect() for _ in range(limits.MAX_CONNECTIONS)]
        for client in held:
            client.sendall(request())
            client.recv(65_536)
        started = time.monotonic()
        busy = server.fetch("/health")
        self.assertLess(time.monotonic() - started, SLACK)
        self.assertEqual((busy.status, busy.headers["retry-after"]), (503, "1"))
        self.assertTrue(busy.document["details"]["retryable"])
        self.assertEqual(busy.headers["connection"], "close")
        for _ in range(2 * limits.MAX_CONNECTIONS):  # these do not close when they are refused
            client = server.connect()
            client.sendall(request())
            answer = client.recv(65_536)
            self.assertIn(b"503", answer[:20])
            self.assertIn(b"Retry-After: 1\r\n", answer)
            held.append(client)
        for client in held:
            client.close()
        deadline = time.monotonic() + SLACK
        while server.fetch("/health").status != 200:
            self.assertLess(time.monotonic(), deadline)
        code, document, stderr = server.stop()
        self.assertEqual((code, document["ok"], stderr), (0, True, ""))

    def test_a_flood_of_connections_starts_few_threads(self) -> None:
        server = ServerProcess()
        held = []
        with contextlib.suppress(ConnectionError):
            held += [server.connect() for _ in range(5 * limits.MAX_CONNECTIONS)]
        with contextlib.suppress(FileNotFoundError):  # no Linux
            status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
            threads = re.search(r"Threads:\s+(\d+)", status)
            assert threads is not None
            self.assertLessEqual(int(threads[1]), 2 * limits.MAX_CONNECTIONS + 1)
        for client in held:
            client.close()
        deadline = time.monotonic() + SLACK
        while not self.is_served(server):
            self.assertLess(time.monotonic(), deadline)
        code, document, stderr = server.stop()
        self.assertEqual((code, document["ok"], stderr), (0, True, ""))

    def is_served(self, server: ServerProcess) -> bool:
        try:
            return server.fetch("/health").status == 200
        except (ConnectionError, http.client.HTTPException):  # closed without a word
            return False


class SlowRequests(unittest.TestCase):
    """Time limits cover a whole head or body, even if it comes in small pieces."""

    def setUp(self) -> None:
        settings = {"loopback": True, "names": set(), "token": "", "session": "", "verbose": False}
        for name in ("HEAD_TIMEOUT", "BODY_TIMEOUT", "IDLE_TIMEOUT", "LINGER_TIMEOUT"):
            limit = mock.patch.object(limits, name, 0.4)
            limit.start()
            self.addCleanup(limit.stop)
        nothing = (200, {}, {})
        server = limits.ApiServer(socket.AF_INET, ("127.0.0.1", 0), lambda _: nothing, settings)
        thread = threading.Thread(target=server.serve)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.stop, signal.SIGTERM, None)
        self.address = server.server_address

    def drip(self, first: bytes, more: bytes) -> tuple[bytes, float]:
        """Send bytes, then more of them now and then; return the answer and its seconds."""
        with socket.create_connection(self.address, timeout=SLACK) as client:
            started = time.monotonic()
            client.sendall(first)
            while not select.select([client], [], [], 0.05)[0]:
                self.assertLess(time.monotonic() - started, SLACK)
                if more:
                    client.sendall(more)
            return read_all(client), time.monotonic() - started

    def test_get_408_when_the_limit_for_the_whole_part_has_passed(self) -> None:
        head = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
        for name, first, more in (
            ("a line", head + b"X: ", b"y"),
            ("lines", head, b"X: y\r\n"),
            ("empty lines", b"\r\n", b"\r\n"),
            ("body", request("/mcp", "POST", "Content-Length: 1000"), b"x"),
        ):
            with self.subTest(name):
                [answer] = responses(self.drip(first, more)[0])
                self.assertEqual(answer.status, 408)
                self.assertEqual(answer.document["details"]["kind"], "timeout")

    def test_idle_connections_are_closed_without_a_word(self) -> None:
        self.assertEqual(self.drip(b"", b"")[0], b"")
        data, seconds = self.drip(request(), b"")
        self.assertEqual([one.status for one in responses(data)], [200])
        self.assertGreater(seconds, 0.3)


class ServerDefaults(ServerCase):
    arguments = ("--max-chars", "3000")

    def test_max_chars_of_the_server_is_the_default_of_its_requests(self) -> None:
        target = "/read?url=" + quote(self.page("articles/lighthouse"))
        self.assertTrue(self.api.fetch(target).document["pages"][0]["truncated"])
        whole = self.api.fetch(target + "&max_chars=0").document["pages"][0]
        self.assertEqual(len(whole["text"]), whole["chars"])


class Tokens(ServerCase):
    @classmethod
    def setUpClass(cls) -> None:
        path = new_folder(cls) / "token"
        path.write_text(TOKEN + "\n", encoding="utf-8")
        path.chmod(0o600)
        cls.arguments = ("--host", "0.0.0.0", "--token-file", str(path), "--allow-host", "box.test")
        super().setUpClass()

    def test_only_requests_with_the_bearer_token_are_answered(self) -> None:
        for value, status in (
            (f"Bearer {TOKEN}", 200),
            (f"bearer {TOKEN}", 200),
            (f"Bearer {TOKEN}x", 401),
            (f"Bearer {TOKEN[:-1]}", 401),
            (f"Basic {TOKEN}", 401),
            (TOKEN, 401),
            ("Bearer", 401),
            ("Bearer é", 401),
        ):
            with self.subTest(value):
                answer = self.api.fetch("/openapi.json", Authorization=value)
                self.assertEqual(answer.status, status)
                if status == 401:
                    self.assert_error(answer, 401, "auth")
                    self.assertIn("Bearer", answer.headers["www-authenticate"])
                    self.assertNotIn(TOKEN, json.dumps(answer.document))

    def test_without_a_token_only_health_answers(self) -> None:
        self.assertEqual(self.api.fetch("/search?q=a").status, 401)
        self.assertEqual(self.api.fetch("/cache", "DELETE").status, 401)
        self.assertEqual(self.api.fetch("/none").status, 401)
        self.assertEqual(self.server.requests, [])
        self.assertEqual(self.api.fetch("/health").document, {"status": "ok"})

    def test_addresses_and_allowed_names_may_be_called_others_not(self) -> None:
        for host, status in (("192.0.2.7:8080", 200), ("box.test", 200), ("evil.example", 403)):
            self.assertEqual(self.api.fetch("/health", Host=host).status, status)

    def test_an_allowed_name_may_be_the_origin_whatever_the_host(self) -> None:
        for origin, status in (
            ("https://box.test", 200), ("http://BOX.test:8443", 200), ("https://a.box.test", 403),
            ("http://0.0.0.0:1", 403), ("http://127.0.0.1:1", 403), ("https://box.test.evil", 403),
        ):  # fmt: skip
            with self.subTest(origin):
                answer = self.api.fetch("/health", Host="192.0.2.7:8080", Origin=origin)
                self.assertEqual(answer.status, status)

    def test_the_description_asks_for_the_token(self) -> None:
        answer = self.api.fetch("/openapi.json", Authorization=f"Bearer {TOKEN}")
        paths = answer.document["paths"]
        self.assertEqual(paths["/search"]["get"]["security"], [{"token": []}])
        self.assertNotIn("security", paths["/health"]["get"])


class Starting(EnvironmentCase):
    def test_wrong_options_are_documents_with_exit_code_2(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            short, blank = Path(folder) / "short", Path(folder) / "blank"
            short.write_text("too-short\n", encoding="utf-8")
            blank.write_text("sixteen characters, with blanks\n", encoding="utf-8")
            for path in (short, blank):
                path.chmod(0o600)
            for words, expected in (
                (["--host", "0.0.0.0"], "Other machines can reach host"),
                (["--host", "::"], "Other machines can reach host"),
                (["--host", "no such host"], "is not an address or name"),
                (["--token-file", f"{folder}/none"], "could not be read"),
                (["--token-file", str(short)], "16 or more ASCII characters"),
                (["--token-file", str(blank)], "no spaces"),
                (["--max-chars", "400"], "max_chars must be 0 or 500 or more"),
                (["--token", "x"], "no flag '--token'"),
            ):
                with self.subTest(words):
                    run = call_main(command, *words, "--dry-run")
                    self.assertEqual(run.code, 2, run)
                    self.assertEqual(run.document["details"]["kind"], "invalid_input")
                    self.assertIn(expected, run.document["error"])
        self.set_environment(GLSI_PORT="http")
        self.assertIn("GLSI_PORT", call_main(command, "--dry-run").document["error"])

    def test_loopback_by_other_names_needs_no_token(self) -> None:
        for host in ("localhost", "127.0.0.2", "::1", "[::1]"):
            run = call_main(command, "--host", host, "-p", "1", "--dry-run")
            self.assertEqual(run.code, 0, run)

    def test_a_token_that_others_can_read_is_warned_about(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "token"
            path.write_text(TOKEN, encoding="utf-8")
            path.chmod(0o644)
            run = run_script(SCRIPT, "--token-file", str(path), "--dry-run")
        self.assertIn("others can read", run.stderr)
        self.assertNotIn(TOKEN.encode(), run.stdout)
        self.assertTrue(run.document["request"]["token"])

    def test_unusable_ports_are_named_on_stderr_with_exit_code_2(
        self,
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            for words, variables, said in (
                (["-p", str(port)], {}, f"Port {port} of 127.0.0.1 cannot be used"),
                (["-p", "99999"], {}, "port must be a whole number from 0 to 65535, not '99999'"),
                ([], {"GLSI_PORT": "99999"}, "GLSI_PORT must be a whole number from 0 to 65535"),
            ):
                for script, first in ((SCRIPT, []), ("web_search.py", ["serve"])):
                    run = run_script(script, *first, *words, env=variables)
                    with self.subTest(script, words=words):
                        self.assertEqual(run.code, 2)
                        self.assertIn(said, run.document["error"])
                        line = f"http_server.py: {run.document['error']}\n"
                        self.assertEqual(run.stderr, line)

    def test_help_and_version_are_plain_text_as_in_the_other_scripts(self) -> None:
        text = call_main(command, "--help").stdout.decode()
        for word in ("usage: http_server.py serve", "--port", "--token-file", "GLSI_PORT"):
            self.assertIn(word, text)
        self.assertIn("http_server.py ", call_main(command, "--version").stdout.decode())

    def test_the_access_log_needs_verbose_and_has_no_headers(self) -> None:
        quiet, loud = ServerProcess(), ServerProcess("--verbose")
        for server in (quiet, loud):
            server.fetch("/health?x=%1b[31m", Authorization=f"Bearer {TOKEN}")
        self.assertEqual(quiet.stop()[2], "")
        log = loud.stop()[2]
        self.assertRegex(log, r"GET /health\?x=%1b\[31m -> 400 in \d+ ms\n")
        self.assertNotIn(TOKEN, log)


class Stopping(ServerCase):
    def test_a_signal_ends_it_with_exit_code_0_and_a_summary(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            server = ServerProcess()
            server.fetch("/health")
            with server.connect() as idle, server.connect() as half:  # do not delay it
                idle.sendall(request())
                idle.recv(65_536)
                half.sendall(b"GET /health HTTP/1.1\r\nHo")
                started = time.monotonic()
                code, document, stderr = server.stop(number)
                self.assertLess(time.monotonic() - started, SLACK)
            self.assertEqual((code, stderr), (0, ""))
            self.assertEqual((document["address"], document["requests"]), (server.url, 2))

    def test_a_running_request_is_finished_but_no_new_one_accepted(self) -> None:
        data = request(f"/read?url={quote(self.page('slow/late'))}")
        with self.api.connect() as running:
            running.sendall(data)
            end = time.monotonic() + PROCESS_TIMEOUT
            while not self.server.requests and time.monotonic() < end:
                time.sleep(0.01)
            self.api.process.send_signal(signal.SIGTERM)
            deadline = time.monotonic() + SLACK
            while self.accepts_connections():
                self.assertLess(time.monotonic(), deadline)
            answers = responses(read_all(running))
        self.assertEqual([one.status for one in answers], [200])
        self.assertEqual(answers[0].headers["connection"], "close")
        code, _, stderr = self.api.wait()
        self.assertEqual((code, stderr), (0, ""))

    def accepts_connections(self) -> bool:
        try:
            self.api.connect().close()
        except ConnectionRefusedError:
            return False
        except ConnectionResetError:  # it was waiting to be accepted when the listener was closed
            return True
        return True


class Description(ServerCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.described = cls.api.fetch("/openapi.json").document

    described: dict[str, Any]

    def test_describes_every_path_and_method_and_nothing_else(self) -> None:
        self.assertEqual(self.described["openapi"], "3.1.0")
        found = {path: set(methods) for path, methods in self.described["paths"].items()}
        self.assertEqual(
            found,
            {
                "/search": {"get"}, "/brief": {"get"}, "/read": {"get"}, "/recall": {"get"},
                "/check": {"post"}, "/cache": {"delete"}, "/mcp": {"post"}, "/health": {"get"},
                "/openapi.json": {"get"},
            },
        )  # fmt: skip

    def test_every_parameter_is_described_with_its_bounds(self) -> None:
        listed = self.described["paths"]["/search"]["get"]["parameters"]
        parameters = {one["name"]: one for one in listed}
        table = load_script("web_search").COMMANDS["search"]["params"]
        names = {"query": "q"}
        expected = {names.get(one["name"], one["name"]) for one in table}
        self.assertEqual(set(parameters), expected | {"timeout", "max_chars", "format"})
        self.assertTrue(parameters["q"]["required"])
        count = parameters["count"]["schema"]
        self.assertEqual((count["minimum"], count["maximum"], count["default"]), (1, 50, 5))
        engine = parameters["engine"]
        self.assertIn("duckduckgo", engine["schema"]["items"]["enum"])
        self.assertEqual((engine["schema"]["type"], engine["explode"]), ("array", False))
        urls = self.described["paths"]["/read"]["get"]["parameters"][0]
        self.assertEqual((urls["name"], urls["explode"]), ("url", True))

    def test_references_resolve_and_every_schema_is_used(self) -> None:
        text = json.dumps(self.described)
        used = set(re.findall(r'"#/components/schemas/(\w+)"', text))
        self.assertEqual(used, set(self.described["components"]["schemas"]))

    def test_each_answer_has_a_schema_for_success_and_for_failure(self) -> None:
        for methods in self.described["paths"].values():
            for operation in methods.values():
                self.assertLessEqual({"200", "default"}, set(operation["responses"]))
        schemes = self.described["components"]["securitySchemes"]
        self.assertEqual(schemes["token"]["scheme"], "bearer")


class StatusTable(unittest.TestCase):
    def test_every_kind_of_failure_has_a_status_with_a_phrase(self) -> None:
        self.assertEqual(set(messages.STATUSES), set(kit.EXIT_CODES))
        for status in messages.STATUSES.values():
            self.assertTrue(http.HTTPStatus(status).phrase)
