"""scripts/keyless_search.py: the promises of its origin, pages and walls of any kind, its pacing.

Requests and documents: test_keyless_wire.py.

Where ENGINE_SAMPLES names folders with saved result pages, those are also read.
The only module to notice a wall that is read as an empty page, or an engine that is asked too
often.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import html
import html.parser
import json
import os
import random
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock
from urllib.parse import parse_qsl, quote

import keyless_search as command
from tests.engines.clock import PACING, skipped_waits
from tests.fake_server.engine_pages import ranked
from tests.support import (
    CANARY,
    PYTHON,
    ROOT,
    SCRIPTS,
    SLACK,
    CannedCase,
    FakeServerCase,
    Run,
    call_main,
    clean_environment,
    mutations,
    new_folder,
    run_script,
    samples_folder,
)
from tests.tools.faults import EXPECTED
from websearch import kit
from websearch.base import durations, html_tree, http_client
from websearch.engines import duckduckgo, google, searxng
from websearch.engines import table as engines
from websearch.engines.base import messages, pacing, result_pages
from websearch.search import engine_calls, keyless
from websearch.store import database as store_file

REQUEST = messages.EngineRequest("https://engine.example/", {})
SCRIPT = "keyless_search.py"
ENGINES = ["duckduckgo", "google", "searxng", "wikipedia"]
ADDRESSES = [f"{engine.upper()}_BASE_URL" for engine in ENGINES]


def keyless_environment(url: str, _key: str = "") -> dict[str, str]:
    """Variables that send every engine's requests to a server, without pauses."""
    return {**dict.fromkeys(ADDRESSES, url), "GLSI_RATE_LIMIT": "0s"}


def urls(query: str, **filters: Any) -> list[str]:
    """The corpus's URLs for a query, best first."""
    return [document.url for document in ranked(query, **filters)[0]]


def addresses(run: Run) -> list[str]:
    """The URLs in a run's document."""
    return [item["url"] for item in run.document["results"]]


class KeylessCase(FakeServerCase):
    """A fake server, and a separate pacing database per test."""

    environment_of = staticmethod(keyless_environment)

    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self)
        self.variables = {"GLSI_DB_PATH": str(self.folder / "glsi/cache.db")}
        self.set_environment(**self.variables)
        pacing._LOCAL.clear()

    def search(self, *words: str) -> Run:
        """Run the script in this process."""
        return call_main(command, *words)

    def process(self, *words: str, **variables: str) -> Run:
        """Run the script as a process."""
        return self.run_script(SCRIPT, *words, **{**self.variables, **variables})

    def sent(self) -> list[dict[str, str]]:
        """The fields of every request that the server received."""
        return [
            dict(parse_qsl(request.body.decode(), keep_blank_values=True))
            if request.body
            else dict(request.query_pairs)
            for request in self.server.requests
        ]


class CannedKeylessCase(CannedCase):
    """A server whose response the test sets."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.environment = keyless_environment(cls.server.url)

    def setUp(self) -> None:
        super().setUp()
        self.set_environment(GLSI_DB_PATH=f"{new_folder(self)}/cache.db")
        pacing._LOCAL.clear()


class SeedTest(KeylessCase):
    """GLSI's phase 3: results scraped from an engine's own page, without a paid API."""

    def test_search_returns_url_and_title_for_query_count_and_engine(self) -> None:
        for engine in ("google", "duckduckgo"):
            run = self.process("sourdough", "--count", "3", "--engine", engine)
            self.assertEqual((run.code, run.stderr), (0, ""), run.stdout)
            self.assertEqual(addresses(run), urls("sourdough")[:3])
            for item in run.document["results"]:
                self.assertTrue(item["title"])
        self.assertEqual([one.path for one in self.server.requests], ["/search", "/html/"])

    def test_no_key_is_needed_and_no_package(self) -> None:
        run = subprocess.run(
            [sys.executable, "-I", "-S", str(SCRIPTS / SCRIPT), "guide"],
            env=clean_environment(**{**self.environment, **self.variables}),
            capture_output=True,
            check=False,
        )
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        self.assertTrue(json.loads(run.stdout)["results"])

    def test_realistic_user_agent_is_sent_unless_glsi_user_agent_is_set(self) -> None:
        self.search("guide")
        self.set_environment(**self.variables, GLSI_USER_AGENT="Mozilla/5.0 (Test) Test/1")
        self.search("guide", "--engine", "google")
        self.search("guide", "--engine", "wikipedia")
        agents = [request.header("user-agent") or "" for request in self.server.requests]
        self.assertRegex(agents[0], r"^Mozilla/5\.0 \(.+\) AppleWebKit/.+ Chrome/\d+")
        self.assertEqual(agents[1], "Mozilla/5.0 (Test) Test/1")
        self.assertRegex(agents[2], r"^web-search-skill/")  # an API that wants to know who asks

    def test_wikipedia_gets_tool_version_and_contact_in_the_user_agent(self) -> None:
        version = f"web-search-skill/{kit.VERSION}"
        self.search("guide", "--engine", "wikipedia")
        self.set_environment(**self.variables, WEB_SEARCH_CONTACT="me@example.org")
        self.search("guide", "--engine", "wikipedia")
        self.search("guide", "--engine", "searxng")
        agents = [request.header("user-agent") for request in self.server.requests]
        self.assertEqual(agents, [version, f"{version} (me@example.org)", version])
        self.set_environment(**self.variables, WEB_SEARCH_CONTACT="me\nX-Other: 1")
        run = self.search("guide", "--engine", "wikipedia")
        self.assertEqual(run.document["details"]["kind"], "invalid_input")
        self.assertIn("WEB_SEARCH_CONTACT", run.document["error"])
        self.assertEqual(len(self.server.requests), 3)

    def test_glsi_rate_limit_is_the_delay_between_requests(self) -> None:
        self.set_environment(**self.variables, GLSI_RATE_LIMIT="300ms")
        started = time.monotonic()
        for _ in range(3):
            self.assertTrue(self.search("guide").document["ok"])
        times = [request.time - started for request in self.server.requests]
        for place, moment in enumerate(times):
            self.assertGreaterEqual(moment, 0.3 * place - 0.02)

    def test_exit_code_is_not_zero_where_nothing_could_be_answered(self) -> None:
        self.assertEqual(self.process("zzzqqq").code, 1)
        self.assertEqual(self.process("faultdown").code, 5)


# ----- what is asked


class WireTest(KeylessCase):
    """Requests on the wire, recorded by a server that accepts nothing else."""

    def test_duckduckgo_gets_headers_in_a_browsers_order(self) -> None:
        self.search("guide")
        names = [name.lower() for name, _ in self.server.requests[0].headers]
        self.assertEqual(
            names,
            "host connection content-length upgrade-insecure-requests origin content-type "
            "user-agent accept sec-fetch-site sec-fetch-mode sec-fetch-user sec-fetch-dest referer "
            "accept-encoding accept-language".split(),
        )

    def test_the_query_arrives_as_it_is(self) -> None:
        hard = "\"a\" 'b' `touch x` $(touch y) ; | & 100% + 京都 العربية 😀\nnext тab %00"
        for engine in ENGINES:
            with self.subTest(engine):
                self.server.clear()
                run = self.process("--engine", engine, "--", hard)
                name = "srsearch" if engine == "wikipedia" else "q"
                self.assertEqual(self.sent()[0][name], hard)
                self.assertTrue(run.document["provider"])

    def test_a_query_that_is_too_long_is_refused(self) -> None:
        for words, said in (
            (("g" * 480, "--site", "docs.python.org"), "at most 499 characters, not 501"),
            (("g" * 301, "--engine", "wikipedia"), "at most 300 characters, not 301"),
        ):
            run = self.search(*words)
            self.assertEqual(run.code, 2)
            self.assertIn(said, run.document["error"])
        self.assertEqual(self.server.requests, [])

    def test_variables_with_wrong_values_are_refused_by_name(self) -> None:
        table = {
            ("GLSI_RATE_LIMIT", "fast"): "must be a duration such as 1s or 500ms, not 'fast'",
            ("GLSI_RATE_LIMIT", "-1s"): "not '-1s'",
            ("GLSI_RATE_LIMIT", "1"): "not '1'",
            ("GLSI_USER_AGENT", "Mozilla\r\nX: y"): "GLSI_USER_AGENT",
            ("DUCKDUCKGO_BASE_URL", "http://duckduckgo.example.com"): "DUCKDUCKGO_BASE_URL",
        }
        for (name, value), said in table.items():
            with self.subTest(name=name, value=value):
                self.set_environment(**{**self.variables, name: value})
                run = self.search("guide")
                self.assertEqual(run.code, 2, run.stdout)
                self.assertIn(said, run.document["error"])
        self.assertEqual(self.server.requests, [])

    def test_dry_run_sends_nothing_and_leaves_no_file(self) -> None:
        for engine in ENGINES:
            run = self.search("guide", "--engine", engine, "--dry-run")
            self.assertEqual((run.code, run.document["dry_run"]), (0, True))
        self.assertEqual(self.server.requests, [])
        self.assertFalse((self.folder / "glsi").exists())


# ----- results


class ResultsTest(KeylessCase):
    def test_each_engine_returns_results_in_order_without_ads(self) -> None:
        wanted = urls("guide")
        for engine in ("duckduckgo", "google", "searxng"):
            with self.subTest(engine):
                safe = [] if engine != "google" else ["--safe", "strict"]
                run = self.search("guide", "--engine", engine, "--count", "10", *safe)
                self.assertEqual(addresses(run), wanted[:10])
                self.assertEqual(run.document["provider"], engine)
                for item in run.document["results"]:
                    names = {"title", "url", "snippet", "date", "age", "file_type"}
                    self.assertLessEqual(item.keys(), names)
                    self.assertTrue(item["title"] and item["snippet"])
                    self.assertNotRegex(item["title"] + item["snippet"], r"<\w|&amp;|&quot;")

    def test_titles_snippets_and_dates_are_those_of_the_page(self) -> None:
        documents, _ = ranked("sourdough starter")
        for engine in ENGINES:
            run = self.search("sourdough starter", "--engine", engine, "-n", "3")
            for item, document in zip(run.document["results"], documents[:3], strict=True):
                with self.subTest(engine, title=document.title):
                    self.assertEqual(item["title"], document.title)
                    self.assertIn(item["snippet"][:40], " ".join(document.text))
                    self.assertEqual("date" in item, document.age_days is not None)
            if engine != "google":  # it shows dates in words
                dates = [item["date"] for item in run.document["results"] if "date" in item]
                self.assertTrue(dates)
                for date in dates:
                    self.assertRegex(date, r"^\d{4}-\d\d-\d\d$")

    def test_fake_result_pages_contain_advertisements_and_wrapped_links(self) -> None:
        table = {
            "duckduckgo": ["result--ad", "/y.js", "y.js%3F", "/l/?uddg=", 'href="https://'],
            "google": ['id="tads"', "uEierd", "/aclk", "/url?q=", 'href="https://', "Images for"],
        }
        for engine, parts in table.items():
            params = {"engine": engine, "query": "guide", "count": 10}
            request = engines.load_module(engine).first_request(params)
            text = http_client.send_within(request.for_http(), time.monotonic() + 10).text()
            for part in parts:
                self.assertIn(part, text)

    def test_googles_page_without_scripts_gives_every_result(self) -> None:
        block = (
            '<div class="Gx5Zad fP1Qef xpd EtOod pkphOe"><div class="egMi0 kCrYT"><a href="/url?q='
            'https://{name}.example/1%3Fx%3D2&amp;sa=U"><div class="DnJfK"><h3 class="zBAuLc"><div '
            'class="BNeawe vvjwJb AP7Wnd">Title of {name}</div></h3><div class="BNeawe UPmit">x'
            '</div></div></a></div><div class="kCrYT"><div class="BNeawe s3v9rd AP7Wnd"><div><div '
            'class="BNeawe s3v9rd AP7Wnd">About {name}</div><a href="/url?q=https://{name}.example/'
            'more&amp;sa=U"><span class="XLloXe AP7Wnd">More</span></a></div></div></div></div>'
        )
        quoted = (
            '<div class="Gx5Zad xpd"><div class="kCrYT"><h3><div class="BNeawe deIvCb">Otters</div>'
            '</h3></div><div class="kCrYT"><a href="/url?q=https://quoted.example/&amp;sa=U"><span>'
            '<div class="BNeawe vvjwJb AP7Wnd">Title of quoted</div></span></a></div></div>'
        )
        names = ("first", "second", "third")
        page = google.parse_result_page(quoted + "".join(block.format(name=one) for one in names))
        found = [(one["title"], one["url"], one["snippet"][:11]) for one in page.results]
        self.assertEqual(found, [
            *((f"Title of {one}", f"https://{one}.example/1?x=2", f"About {one}"[:11])
              for one in names),
            ("Title of quoted", "https://quoted.example/", ""),
        ])  # fmt: skip

    def test_more_results_come_from_later_pages_each_once(self) -> None:
        wanted = urls("guide python sourdough coffee")
        for engine in ("duckduckgo", "searxng"):
            with self.subTest(engine):
                self.server.clear()
                run = self.search(
                    "guide python sourdough coffee", "--engine", engine, "--count", "30"
                )
                self.assertGreater(len(wanted), 25)
                self.assertEqual(addresses(run), wanted[:30])
                self.assertEqual(len(self.server.requests), 3)

    def test_only_the_needed_result_pages_are_requested(self) -> None:
        for engine in ENGINES:
            self.server.clear()
            self.search("guide", "--engine", engine, "--count", "10")
            self.assertEqual(len(self.server.requests), 1, engine)
        self.server.clear()
        run = self.search("faultends guide", "--count", "30")  # no form leads further
        self.assertEqual((len(run.document["results"]), len(self.server.requests)), (10, 1))

    def test_since_and_safe_filter(self) -> None:
        for engine in ("duckduckgo", "google", "searxng"):
            for since in ("week", "year"):
                run = self.search("guide python", "--engine", engine, "--since", since,
                                  "--safe=strict", "-n", "5")  # fmt: skip
                self.assertEqual(addresses(run), urls("guide python", period=since)[:5])
            run = self.search("cabaret adults", "--engine", engine, "--safe", "off")
            self.assertIn("https://nightlife.example.com/cabaret-guide", addresses(run))
            run = self.search("cabaret adults", "--engine", engine, "--safe", "strict")
            found = [item["url"] for item in run.document.get("results", [])]
            self.assertNotIn("https://nightlife.example.com/cabaret-guide", found)

    def test_progress_is_reported_for_later_pages_and_waiting(self) -> None:
        self.set_environment(**self.variables, GLSI_RATE_LIMIT="1s")
        seen: list[str] = []
        params = {"query": "guide python sourdough coffee", "count": 20}
        keyless.run_search(params, lambda text, _done, _total: seen.append(text))
        self.assertIn("DuckDuckGo: results", seen)
        self.assertTrue(any("waiting" in text for text in seen), seen)


# ----- three things that must not be confused: results, nothing found, a wall or a new layout

# (engine, fault) -> kind; "" for an answer. What ends at the deadline has a test of its own.
OUTCOMES = {
    (engine, fault): kind.removeprefix("ok")
    for engine in ENGINES
    for fault, kind in EXPECTED[engine].items()
    if kind != "timeout"
}


class OutcomeTest(KeylessCase):
    def test_each_fault_of_each_engine_has_its_kind(self) -> None:
        for (engine, fault), kind in OUTCOMES.items():
            self.variables = {"GLSI_DB_PATH": str(self.folder / engine / fault / "cache.db")}
            self.set_environment(**self.variables)
            with self.subTest(engine, fault=fault), skipped_waits(*PACING):
                run = self.search(f"fault{fault} sourdough loaf", "--engine", engine)
                found = run.document.get("details", {}).get("kind", "")
                self.assertEqual(found, kind, run.document)
                self.assertEqual(run.document["ok"], not kind)
                self.assertEqual(bool(run.document.get("results")), not kind)
                if kind:
                    self.assertTrue(run.document["error"])
                    self.assertTrue(run.document["details"].get("hint"))

    def test_hint_suggests_no_paused_engine(self) -> None:
        first = self.search("faultblocked", "--engine", "duckduckgo").document["details"]["hint"]
        self.assertIn("wikipedia", first)
        self.search("faultdenied", "--engine", "wikipedia")
        second = self.search("again", "--engine", "duckduckgo").document["details"]["hint"]
        self.assertNotIn("wikipedia", second)
        self.assertIn("SERPER_API_KEY", second)

    def test_a_page_that_speaks_of_walls_is_not_taken_for_one(self) -> None:
        words = "anomaly.js challenge-form captcha-form /sorry/ enablejs Just a moment... sourdough"
        for engine in ENGINES:
            run = self.search(words, "--engine", engine)
            self.assertEqual(run.code, 0, run.document)
            run = self.search(f"faultempty {words}", "--engine", engine)
            self.assertEqual(run.document["details"]["kind"], "no_results")

    def test_block_on_a_later_page_keeps_results_and_pauses_the_engine(self) -> None:
        run = self.search("faultsecond guide python", "--count", "20")
        self.assertEqual((run.code, len(run.document["results"])), (0, 10))
        self.assertRegex(run.document["warnings"][0], "Only 10 of 20 results: DuckDuckGo blocked")
        self.assertEqual(self.search("guide").document["details"]["kind"], "blocked")

    def test_a_server_that_hangs_or_drips_is_left_at_the_deadline(self) -> None:
        for engine, fault in (("duckduckgo", "hang"), ("google", "drip"), ("searxng", "hang"),
                              ("wikipedia", "drip")):  # fmt: skip
            started = time.monotonic()
            run = self.search(f"fault{fault}", "--engine", engine, "--timeout", "0.4")
            self.assertLess(time.monotonic() - started, 0.4 + SLACK)
            self.assertEqual(run.document["details"]["kind"], "timeout", run.document)

    def test_temporary_errors_are_retried_each_in_its_turn(self) -> None:
        self.set_environment(**self.variables, GLSI_RATE_LIMIT="200ms")
        started = time.monotonic()
        self.assertEqual(self.search("faultflaky sourdough bread").code, 0)
        times = [request.time - started for request in self.server.requests]
        self.assertEqual(len(times), 3)
        for place, moment in enumerate(times):
            self.assertGreaterEqual(moment, 0.2 * place - 0.02)

    def test_retry_after_is_waited_for_or_reported(self) -> None:
        with skipped_waits(*PACING) as clock:
            self.assertEqual(self.search("faultbusy sourdough", "--engine", "wikipedia").code, 0)
            waited = clock.skipped
            self.assertGreater(waited, 0.9)
            run = self.search("faultbusy other", "--engine", "wikipedia", "--timeout", "1.5")
            self.assertEqual((run.code, run.document["details"]["retry_after"]), (4, 1.0))
            self.assertEqual(self.search("sourdough", "--engine", "wikipedia").code, 0)
        self.assertGreater(clock.skipped, waited + 0.5)  # a later call waits as well


class CannedAnswers(CannedKeylessCase):
    """Responses that no engine should send."""

    def kind(self, engine: str) -> str:
        document = keyless.run_search({"query": "x", "engine": engine})
        return str(document.get("details", {}).get("kind", ""))

    def test_unsupported_encoding_is_a_provider_error(self) -> None:
        self.server.body = b"\x1f\x8bno gzip at all"
        for engine in ENGINES:
            for encoding in ("gzip", "br"):
                with self.subTest(engine, encoding=encoding):
                    self.server.headers = {"Content-Encoding": encoding}
                    self.assertEqual(self.kind(engine), "provider")

    def test_walls_of_others_are_recognised(self) -> None:
        table: list[tuple[int, dict[str, str], bytes]] = [
            (403, {"cf-mitigated": "challenge"}, b""),
            (200, {}, b"<script src='/cdn-cgi/challenge-platform/h/b/orchestrate'></script>"),
            (200, {}, b"<title>Just a moment...</title>"),
            (200, {}, b"<title>Verifying your request</title>"),
            (200, {}, b"<title>searx.be | Verifying your request</title>"),
            (403, {}, b"<title>search.example - Verifying your request...</title>"),
            (429, {}, b"<title>searx.be | Verifying your request</title>"),
            (503, {}, b"<title>searx.be | Just a moment...</title>"),
            (200, {}, b"<altcha-widget challengeurl=x></altcha-widget>"),
            (302, {"Location": "https://ipv4.google.com/sorry/index"}, b""),
        ]
        for engine in ("duckduckgo", "google", "searxng"):
            for status, headers, body in table:
                with self.subTest(engine, body=body, headers=headers), self.fresh():
                    self.server.status, self.server.headers = status, headers
                    self.server.body = body
                    self.assertEqual(self.kind(engine), "blocked")

    def test_bot_check_pauses_searxng_and_is_quoted_without_styles(self) -> None:
        self.server.status = 200
        style = b"<style>body{color:red}</style>"
        self.server.body = b"<title>searx.be | Verifying your request</title>" + style
        run = call_main(command, "tea", "--engine", "searxng")
        self.assertEqual(run.document["details"]["kind"], "blocked")
        self.assertIn("a bot check", run.document["error"])
        self.assertTrue(pacing.present_state("searxng").rest_seconds())
        self.assertNotIn("color:red", run.stdout.decode())

    def test_page_with_a_title_about_checks_is_not_a_wall(self) -> None:
        self.server.body = b"<title>Verifying your request body in Flask - SearXNG</title>"
        self.assertEqual(self.kind("searxng"), "provider")  # a layout that nobody knows

    def test_empty_page_behind_cloudflare_is_not_a_wall(self) -> None:
        script = b"<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>"
        table = {
            "duckduckgo": b"<div class='result result--no-result'>-</div>",
            "google": b"<p>Your search - x - did not match any documents.</p>",
            "searxng": b"<div class=dialog-error>Sorry!</div>",
        }
        for engine, page in table.items():
            self.server.body = page + script
            self.assertEqual(self.kind(engine), "no_results")

    def test_query_with_googles_no_results_message_hides_no_wall(self) -> None:
        self.server.body = (
            b"<title>did not match any documents - Google Search</title><noscript>"
            b"<iframe src='/httpservice/retry/enablejs?sei=1'></iframe></noscript>"
        )
        self.assertEqual(self.kind("google"), "blocked")

    def fresh(self) -> tempfile.TemporaryDirectory[str]:
        folder = tempfile.TemporaryDirectory()
        self.set_environment(GLSI_DB_PATH=f"{folder.name}/cache.db")
        return folder

    def test_retry_after_of_a_block_prolongs_the_rest(self) -> None:
        self.server.status, self.server.headers = 429, {"Retry-After": "1800"}
        document = keyless.run_search({"query": "x"})
        self.assertEqual(document["details"]["retry_after"], 1800)
        self.assertIn("Wait 30 min", document["details"]["hint"])

    def test_malformed_json_never_breaks_the_script(self) -> None:
        good: dict[str, Any] = {
            "searxng": {
                "query": "x",
                "results": [
                    {"url": "https://a.example/1", "title": "A", "content": "a",
                     "publishedDate": "2026-03-01T00:00:00Z"},
                    {"url": "gopher://a.example", "title": "G", "content": ""},
                ],
                "answers": [{"answer": "42"}, "43"], "corrections": ["y"], "suggestions": ["z"],
                "unresponsive_engines": [["b", "timeout"]],
            },
            "wikipedia": {
                "batchcomplete": True,
                "query": {
                    "searchinfo": {"suggestion": "y"},
                    "search": [{"title": "A b", "snippet": "s", "timestamp": "2026-03-01T0:0Z"}],
                },
            },
        }  # fmt: skip
        source = random.Random(6)
        self.server.body = good["searxng"]
        document = keyless.run_search({"query": "x", "engine": "searxng"})
        self.assertEqual([item["url"] for item in document["results"]], ["https://a.example/1"])
        self.assertEqual(document["answers"], ["42", "43"])
        self.assertEqual(document["suggestions"], ["y", "z"])
        for engine, answer in good.items():
            request = messages.EngineRequest("https://w.example/w/api.php?x", {})
            for broken in mutations(answer, source, 400):
                response = kit.Response(200, {}, json.dumps(broken).encode())
                try:
                    page = engines.load_module(engine).read_answer(request, response)
                except kit.SearchError as error:
                    self.assertEqual(error.kind, "provider", broken)
                else:
                    self.assertTrue(all(one["url"] for one in page.results), broken)


# ----- links

WRAPPED = "//duckduckgo.com/l/?uddg={}&rut=ab"
DUCKDUCKGO_LINKS = {
    "https://a.example/x?a=1&b=2#c": "https://a.example/x?a=1&b=2#c",
    " https://a.example/x\ny z ": "https://a.example/xy%20z",
    WRAPPED.format("https%3A%2F%2Fa.example%2F"): "https://a.example/",
    WRAPPED.format("https%3A%2F%2Fa.example%2Fx%3Fa%3D1%26b%3D2"): "https://a.example/x?a=1&b=2",
    # what is encoded in the address itself stays encoded
    WRAPPED.format("https%3A%2F%2Fa.example%2Fa%2526b%252Fc"): "https://a.example/a%26b%2Fc",
    WRAPPED.format("https%3A%2F%2Fa.example%2F%3Fq%3Dc%2B%2B"): "https://a.example/?q=c++",
    WRAPPED.format("https%3A%2F%2Fa.example%2Fa+b"): "https://a.example/a+b",
    WRAPPED.format("https%3A%2F%2Fa.example%2Fa%20b"): "https://a.example/a%20b",
    WRAPPED.format("https%3A%2F%2Fa.example%2F%E4%BA%AC"): "https://a.example/京",
    "/l/?uddg=https%3A%2F%2Fa.example%2F": "https://a.example/",
    "https://duckduckgo.com/l/?kh=-1&uddg=https%3A%2F%2Fa.example%2F": "https://a.example/",
    # unwrapped once: what it wraps is a page like others
    WRAPPED.format(quote("https://a.example/l/?uddg=https%3A%2F%2Fb.example", safe="")): (
        "https://a.example/l/?uddg=https%3A%2F%2Fb.example"
    ),
    "https://a.example/l/?uddg=https%3A%2F%2Fb.example": (
        "https://a.example/l/?uddg=https%3A%2F%2Fb.example"
    ),
    "https://duckduckgo.com/about": "https://duckduckgo.com/about",
    # advertisements
    "https://duckduckgo.com/y.js?ad_domain=a.example": "",
    "//duckduckgo.com/y.js?ad_domain=a.example": "",
    WRAPPED.format(quote("https://duckduckgo.com/y.js?ad_domain=a", safe="")): "",
    WRAPPED.format(quote("https://www.bing.com/aclick?ld=x", safe="")): "",
    # no web addresses
    WRAPPED.format(""): "",
    WRAPPED.format("javascript%3Aalert(1)"): "",
    "javascript:alert(1)": "",
    "mailto:a@b.example": "",
    "https://[": "",
    "": "",
}
GOOGLE_LINKS = {
    "https://a.example/?a=1&b=2": "https://a.example/?a=1&b=2",
    "/url?q=https://a.example/x%3Fa%3D1%26b%3D2&sa=U&ved=2ah": "https://a.example/x?a=1&b=2",
    "/url?sa=t&url=https%3A%2F%2Fa.example%2F%2526&usg=x": "https://a.example/%26",
    "https://www.google.de/url?q=https://a.example/": "https://a.example/",
    "https://www.google.co.uk/url?q=https://a.example/": "https://a.example/",
    "https://cloud.google.com/run": "https://cloud.google.com/run",
    "https://developers.google.com/search": "https://developers.google.com/search",
    "https://www.google.com/intl/en/chrome/": "https://www.google.com/intl/en/chrome/",
    "/search?q=x&udm=2": "",
    "/url?q=/search%3Fq%3Dx": "",
    "/aclk?sa=l&adurl=https://a.example": "",
    "/url?q=https://www.googleadservices.com/pagead/aclk%3Fsa%3DL": "",
    "https://www.googleadservices.com/pagead/aclk?sa=L": "",
    "https://webcache.googleusercontent.com/search?q=cache:x": "",
    "https://translate.google.com/translate?u=https://a.example": "",
    "#": "",
}


class LinksTest(unittest.TestCase):
    def test_duckduckgos_redirects_are_unwrapped_once_and_exactly(self) -> None:
        for href, target in DUCKDUCKGO_LINKS.items():
            with self.subTest(href):
                self.assertEqual(duckduckgo.result_target(href), target)

    def test_googles_redirects_are_unwrapped_once_and_exactly(self) -> None:
        for href, target in GOOGLE_LINKS.items():
            with self.subTest(href):
                self.assertEqual(google.result_target(href), target)

    def test_any_address_survives_wrapping_in_either_way(self) -> None:
        source = random.Random(3)
        letters = "abc/?&=+%.-_~#:@!$'()*,;京é"
        for _ in range(500):
            tail = "".join(source.choices(letters, k=source.randint(0, 30)))
            url = f"https://a{source.randint(0, 9)}.example/{tail}"
            wrapped = html.escape(WRAPPED.format(quote(url, safe="")))
            href = html_tree.decode_attribute(wrapped)
            self.assertEqual(duckduckgo.result_target(href), url)
            self.assertEqual(google.result_target(f"/url?q={quote(url, safe='')}&sa=U"), url)

    def test_urls_of_one_page_are_recognized_as_duplicates(self) -> None:
        same = [
            "https://www.a.example/x", "http://a.example/x/", "https://A.example:443/x#part",
            "https://a.example/x?utm_source=feed&gclid=1", "https://m.a.example/x",
            "https://mobile.a.example/x/", "https://amp.a.example/x", "https://a.example/x/amp/",
            "https://a.example/amp/x", "https://a.example/x.amp.html", "https://a.example/x?amp=1",
            "https://a.example/x/index.html", "https://www.google.com/amp/s/www.a.example/x",
            "https://a-example.cdn.ampproject.org/v/s/a.example/x?amp_js_v=0.1&usqp=mq331",
        ]  # fmt: skip
        self.assertEqual(len({result_pages.canonical_url(url) for url in same}), 1)
        mobile = ["https://en.m.wikipedia.org/wiki/Tea", "http://en.wikipedia.org/wiki/Tea#Use"]
        self.assertEqual(len({result_pages.canonical_url(url) for url in mobile}), 1)
        swapped = ["https://a.example/x?b=1&a=2", "https://a.example/x?a=2&b=1&fbclid=3"]
        self.assertEqual(len({result_pages.canonical_url(url) for url in swapped}), 1)
        other = ["https://a.example/x", "https://a.example/X", "https://a.example/x?id=1",
                 "https://a.example:8080/x", "https://b.example/x", "https://a.example/camp",
                 "https://m.example/x", "https://shop.a.example/x"]  # fmt: skip
        self.assertEqual(len({result_pages.canonical_url(url) for url in other}), len(other))

    def test_duplicates_and_advertisements_are_removed(self) -> None:
        block = '<div class="result"><a class="result__a" href="{}">T</a></div>'
        hrefs = ["https://a.example/", "http://www.a.example", "https://duckduckgo.com/y.js?x=1",
                 "https://b.example/"]  # fmt: skip
        page = duckduckgo.parse_result_page("".join(map(block.format, hrefs)))
        merged = engine_calls.merged_results([page, page])
        self.assertEqual([item["url"] for item in merged], [hrefs[0], hrefs[3]])


# ----- result pages as trees


class Oracle(html.parser.HTMLParser):
    """A page's start tags according to the standard library's parser."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.tags: list[Any] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        named: dict[str, str] = {}
        for name, value in attrs:
            named.setdefault(name, value or "")
        self.tags.append((tag, named))


class TreeTest(unittest.TestCase):
    def test_well_formed_pages_are_read_like_the_standard_library(self) -> None:
        source = random.Random(5)
        values = ['"x y"', "'a > b'", "plain", '"&amp;&quot;"', '""', '"a=b"', "'\"'"]
        for _ in range(400):
            parts: list[str] = []
            for _ in range(source.randint(1, 12)):
                name = source.choice(["div", "A", "p", "span", "h3", "custom-tag", "br"])
                attributes = "".join(
                    source.choice([" ", "\n ", "  "]) + source.choice(["class", "HREF", "x-y", "b"])
                    + source.choice(["", f"={source.choice(values)}",
                                     f" = {source.choice(values)}"])
                    for _ in range(source.randint(0, 3))
                )  # fmt: skip
                parts += [f"<{name}{attributes}>", source.choice(["text", "", "1 < 2", "&lt;"]),
                          source.choice([f"</{name}>", f"</{name} >", "", "<!-- <a> -->"]),
                ]  # fmt: skip
            page = "".join(parts)
            oracle = Oracle()
            oracle.feed(page)
            oracle.close()
            nodes = result_pages.read_nodes(page)[1:]
            self.assertEqual([(node.tag, node.attributes) for node in nodes], oracle.tags, page)

    def test_tags_in_scripts_styles_comments_and_values_are_text(self) -> None:
        page = (
            "<!DOCTYPE html><script>a = '<div class=\"result\">';</script x><style><a></style>"
            "<!-- <b> --><textarea><i></textarea><a title='<u>' href=\"x>y\">t</a>"
        )
        nodes = result_pages.read_nodes(page)[1:]
        self.assertEqual([node.tag for node in nodes], ["script", "style", "textarea", "a"])
        self.assertEqual(nodes[-1].attributes["href"], "x>y")
        self.assertEqual(result_pages.shown_text(nodes[0].parent), "t")

    def test_an_element_ends_with_its_end_tag_or_with_its_parent(self) -> None:
        root, div, paragraph, bold, _ = result_pages.read_nodes("<div><p>a<b>c</div>d</p><br>e")
        for node, text in ((div, "ac"), (paragraph, "ac"), (bold, "c"), (root, "ac d e")):
            self.assertEqual(result_pages.shown_text(node), text)

    def test_entities_of_attributes_are_decoded_as_browsers_do(self) -> None:
        table = {
            "/?a=1&amp;b=2": "/?a=1&b=2", "/?a=1&copy=2": "/?a=1&copy=2", "&#x26;&#38;": "&&",
            "&amp;amp;": "&amp;", "a&b": "a&b", "&nosuch;": "&nosuch;", "&eacute;": "é",
        }  # fmt: skip
        for value, decoded in table.items():
            self.assertEqual(html_tree.decode_attribute(value), decoded)

    def test_stray_end_tags_in_many_open_elements_take_linear_time(self) -> None:
        page = "<div></p></b><i>" * 30_000
        self.assertEqual(len(result_pages.read_nodes(page)), 60_001)

    def test_next_page_form_is_not_the_previous_page_form(self) -> None:
        form = (
            "<form><input type=hidden name=q value=x><input type=hidden name=s value={}>"
            "<input type=hidden name=vqd value=4-1></form>"
        )
        for offsets in (("10", "40"), ("40", "10")):
            page = duckduckgo.parse_result_page("".join(map(form.format, offsets)))
            self.assertEqual(page.next_form, {"q": "x", "s": "40", "vqd": "4-1"})
        for offset in ("0", "-10", "x", "9" * 9):
            self.assertEqual(duckduckgo.parse_result_page(form.format(offset)).next_form, {})
        without_token = form.format("10").replace("vqd", "other")
        self.assertEqual(duckduckgo.parse_result_page(without_token).next_form, {})

    def test_broken_pages_never_break_a_parser(self) -> None:
        source = random.Random(8)
        pieces = ["<", ">", "/", "=", '"', "'", " ", "a", "div", "class=", "result", "result__a",
                  "href=", "h3", "<a ", "</a>", "<!--", "-->", "<script", "&amp;", "\x00", "京",
                  'href="https://a.example/"', '<div class="result">', "https://[", "article",
                  "<h3>", "tF2Cxc", "VwiC3b", "\ud800", "<input type=hidden name=s value=",
                  "9" * 5_000]  # fmt: skip
        for _ in range(1_500):
            page = "".join(source.choices(pieces, k=source.randint(0, 40)))
            for parse in (
                duckduckgo.parse_result_page,
                google.parse_result_page,
                searxng.parse_html,
            ):
                found = parse(page)
                self.assertTrue(all(one["url"] and one["title"] for one in found.results))


# ----- pacing: the rules


class PacingRules(unittest.TestCase):
    """The rules for a state, with the test's own clock."""

    def setUp(self) -> None:
        self.state = pacing.EngineState()

    def at(self, now: float) -> Any:
        """The state at a time."""
        with mock.patch.object(pacing.time, "time", return_value=now):
            return self.state.set_clock()

    def reserve(self, now: float, interval: float, left: float) -> float:
        wait: float = self.at(now).reserve("duckduckgo", (interval, 1), left, False)
        return wait

    def test_callers_get_slots_one_interval_apart(self) -> None:
        waits = [self.reserve(1000.0, 1.0, 99) for _ in range(4)]
        self.assertEqual(waits, [0, 1, 2, 3])
        self.assertEqual(self.reserve(1003.5, 1.0, 99), 0.5)
        self.assertEqual(self.reserve(2000.0, 1.0, 99), 0)

    def test_unused_slot_is_given_back_if_it_was_the_last(self) -> None:
        for later, wait in ((False, 1.0), (True, 3.0)):
            self.setUp()
            for _ in range(2):
                self.reserve(1000.0, 1.0, 99)
            slot = self.state.free_at
            if later:
                self.reserve(1000.0, 1.0, 99)
            self.state.give_back(slot, 1.0)
            self.assertEqual(self.reserve(1000.0, 1.0, 99), wait)

    def test_slots_are_never_closer_than_the_interval_for_any_callers(self) -> None:
        source = random.Random(1)
        for _ in range(200):
            self.setUp()
            now, last, interval = 5000.0, 0.0, source.choice([0.5, 1.0, 2.0])
            for _ in range(30):
                now += source.choice([0, 0.001, 0.3, 1, 5]) * source.random()
                slot = now + self.reserve(now, interval, 1e9)
                self.assertGreaterEqual(slot - last, interval - 1e-6)
                last = slot

    def test_queue_beyond_the_deadline_is_an_error_with_the_wait(self) -> None:
        for _ in range(30):
            self.reserve(1000.0, 1.0, 99)
        before = copy.copy(self.state)
        with self.assertRaises(kit.SearchError) as caught:
            self.reserve(1000.0, 1.0, 20)
        error = caught.exception
        self.assertEqual((error.kind, error.retry_after), ("rate_limit", 30.0))
        self.assertIn(
            "accepts the next request in 30 s, but this call has only 20 s", error.message
        )
        self.assertIn("Raise {timeout} to 60 seconds", error.hint)
        self.assertEqual(self.state, before)  # nothing was taken

    def test_without_an_interval_only_a_limit_is_waited_for(self) -> None:
        self.assertEqual([self.reserve(1000.0, 0.0, 10) for _ in range(2)], [0, 0])
        self.state.note_limit(5, (0.0, 1))
        self.assertEqual(self.reserve(1000.0, 0.0, 10), 5)

    def test_pause_doubles_with_each_block_up_to_a_limit(self) -> None:
        now, rests = 0.0, []
        for _ in range(8):
            rests.append(self.at(now).note_block("sign", 0).rest_seconds() / 60)
            now = self.state.rest_until + 1
        self.assertEqual(rests, [10, 20, 40, 80, 160, 320, 360, 360])

    def test_blocks_of_requests_that_were_on_their_way_count_once(self) -> None:
        self.assertEqual(self.at(100.0).note_block("sign", 0).rest_seconds(), 600)
        self.assertEqual(self.at(105.0).note_block("sign", 0).rest_seconds(), 595)
        self.assertEqual(self.state.blocks, 1)

    def test_good_answer_resets_pause_growth_but_not_a_pause(self) -> None:
        answer, pace = messages.EngineAnswer(), (1.0, 1)
        self.at(100.0).note_block("sign", 0)
        self.at(150.0).note_answer(answer, pace)  # sent before the block
        self.assertEqual((self.state.blocks, self.state.rest_until), (1, 700.0))
        self.at(800.0).note_answer(answer, pace)
        self.assertEqual((self.state.blocks, self.state.signal), (0, ""))
        self.assertEqual(self.at(900.0).note_block("sign", 0).rest_seconds(), 600)

    def test_failures_pause_an_engine_until_a_good_answer(self) -> None:
        for moments, seconds in (
            ([0, 100], 0), ([0, 100, 599], 300), ([0, 100, 601], 0), ([0, 2, 3, 304], 300),
            ([0, 0.1, 0.2, 0.3], 0),  # all were on their way when the first failed
        ):  # fmt: skip
            with self.subTest(moments):
                self.setUp()
                for moment in moments:
                    self.at(1000.0 + moment).note_failure(1.0 if moment else 0.0)
                self.assertEqual(self.state.rest_seconds(), seconds)
        self.setUp()
        for moment in (0, 10, 20):
            self.at(1000.0 + moment).note_failure(0.0)
        with self.assertRaises(kit.SearchError) as caught:
            self.reserve(self.state.now, 1.0, 99)
        error = caught.exception
        self.assertEqual((error.kind, error.retry_after), ("provider", 300))
        self.assertIn("for another 5 min because 3 calls failed within 10 min", error.message)
        self.state.note_answer(messages.EngineAnswer(), (1.0, 1))  # was on its way
        self.state.note_failure(0.0)
        self.assertEqual(self.state.rest_seconds(), 0)

    def test_paused_engine_is_refused_with_the_time_left(self) -> None:
        self.state = pacing.EngineState(rest_until=1300.0, signal="a sign")
        with self.assertRaises(kit.SearchError) as caught:
            self.reserve(1000.0, 1.0, 99)
        self.assertEqual((caught.exception.kind, caught.exception.retry_after), ("blocked", 300))
        self.assertIn("paused for another 5 min", caught.exception.message)
        self.assertIn("a sign", caught.exception.message)
        self.assertEqual(self.reserve(1300.5, 1.0, 99), 0)

    def test_a_clock_that_is_set_back_makes_no_wait_longer(self) -> None:
        for _ in range(3):
            self.reserve(90_000.0, 1.0, 99)
        self.assertEqual(self.reserve(10_000.0, 1.0, 99), 3)
        self.at(10_000.0).note_block("sign", 0)
        self.assertEqual(self.at(500.0).rest_until, 1100.0)

    def test_durations_are_those_of_go(self) -> None:
        table = {"1s": 1, "500ms": 0.5, "2m": 120, "1m30s": 90, "0s": 0, "0": 0, "1.5s": 1.5,
                 "1h": 3600, "1d": 86_400, "": 1, " 2s ": 2}  # fmt: skip
        for text, seconds in table.items():
            with mock.patch.dict(os.environ, {"GLSI_RATE_LIMIT": text}):
                self.assertAlmostEqual(pacing.request_interval(), seconds)
        for text in ("s", "1", "1 s", "1w", "-1s", "1s2", "1e3s"):
            with (
                mock.patch.dict(os.environ, {"GLSI_RATE_LIMIT": text}),
                self.assertRaises(kit.SearchError),
            ):
                pacing.request_interval()

    def test_durations_for_people(self) -> None:
        table = {0.44: "0.4 s", 42: "42 s", 60: "1 min", 580: "9 min 40 s", 7_500: "2 h 5 min",
                 3_600: "1 h", 3_629: "1 h"}  # fmt: skip
        for seconds, text in table.items():
            self.assertEqual(durations.spoken(seconds), text)


# ----- pacing: between processes, and where the database cannot be used


class PacingTest(KeylessCase):
    def test_processes_at_once_keep_the_pause_between_them(self) -> None:
        started = time.monotonic()
        with ThreadPoolExecutor(5) as pool:
            runs = list(
                pool.map(lambda _: self.process("guide", GLSI_RATE_LIMIT="400ms"), range(5))
            )
        self.assertEqual([run.code for run in runs], [0] * 5)
        times = sorted(request.time - started for request in self.server.requests)
        self.assertEqual(len(times), 5)
        for place, moment in enumerate(times):
            self.assertGreaterEqual(moment, 0.4 * place - 0.02)

    def test_queue_beyond_the_deadline_fails_at_once_with_the_wait(self) -> None:
        self.set_environment(**self.variables, GLSI_RATE_LIMIT="2m")
        self.assertEqual(self.search("guide").code, 0)
        started = time.monotonic()
        run = self.process("guide", "--timeout", "20", GLSI_RATE_LIMIT="2m")
        self.assertLess(time.monotonic() - started, 2 + SLACK)
        self.assertEqual((run.code, run.document["details"]["kind"]), (4, "rate_limit"))
        self.assertRegex(
            run.document["error"],
            r"next request in (2 min|1 min 5\d s), but this call has only 2?\d",
        )
        self.assertTrue(100 < run.document["details"]["retry_after"] <= 120)
        self.assertEqual(len(self.server.requests), 1)

    def test_engines_do_not_wait_for_each_other(self) -> None:
        self.set_environment(**self.variables, GLSI_RATE_LIMIT="2m")
        for engine in ENGINES:
            self.assertEqual(self.search("sourdough", "--engine", engine).code, 0)

    def test_after_a_block_other_processes_fail_without_a_request(self) -> None:
        self.assertEqual(self.process("faultblocked").document["details"]["kind"], "blocked")
        run = self.process("guide")
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "blocked"))
        self.assertRegex(run.document["error"], r"paused for another (10 min|9 min 5\d s)")
        self.assertIn("challenge", run.document["details"]["signal"])
        self.assertTrue(run.document["details"]["resting"])
        self.assertTrue(580 < run.document["details"]["retry_after"] <= 600)
        self.assertEqual(len(self.server.requests), 1)
        self.assertEqual(self.process("guide", "--engine", "google").code, 0)

    def test_waiting_caller_fails_when_another_is_blocked(self) -> None:
        # The process must start before its slot comes, also on a busy machine.
        self.set_environment(**self.variables, GLSI_RATE_LIMIT="60s")
        self.search("guide")
        runs: list[Run] = []

        def wait() -> None:
            runs.append(self.process("guide python", "--timeout", "150", GLSI_RATE_LIMIT="60s"))

        waiting = threading.Thread(target=wait)
        waiting.start()
        end = time.monotonic() + 60
        while pacing.present_state("duckduckgo").queue_seconds((60.0, 1)) <= 60:  # its slot, too
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        pacing.change_state("duckduckgo", lambda state: state.note_block("a sign", 0), [])
        waiting.join()
        self.assertTrue(runs[0].document["details"]["resting"])
        self.assertEqual(len(self.server.requests), 1)

    def test_the_rest_grows_and_a_good_answer_resets_it(self) -> None:
        def end_rest() -> None:
            pacing.change_state("duckduckgo", lambda state: setattr(state, "rest_until", 0.0), [])

        for minutes in (10, 20, 40):
            run = self.search("faultblocked")
            self.assertEqual(run.document["details"]["retry_after"], minutes * 60)
            end_rest()
        self.assertEqual(self.search("guide").code, 0)
        self.assertEqual(self.search("faultblocked").document["details"]["retry_after"], 600)

    def test_states_show_paused_engines_with_time_and_reason(self) -> None:
        states = pacing.engine_states()
        self.assertLessEqual({*engines.keyless_engines()}, {*states})
        self.assertEqual({state.rest_seconds() for state in states.values()}, {0.0})
        self.assertFalse((self.folder / "glsi").exists())  # looking leaves no file
        self.search("faultblocked")
        self.set_environment(**self.variables, GLSI_RATE_LIMIT="2m")
        self.search("guide", "--engine", "google")
        states = pacing.engine_states()
        duckduckgo, google = states["duckduckgo"], states["google"]
        self.assertTrue(590 < duckduckgo.rest_seconds() <= 600)
        self.assertEqual(duckduckgo.blocks, 1)
        self.assertIn("challenge", duckduckgo.signal)
        self.assertTrue(100 < google.queue_seconds((120.0, 1)) <= 120)
        self.set_environment(SEARXNG_BASE_URL="")
        self.assertNotIn("searxng", pacing.engine_states())

    def test_a_block_by_one_address_does_not_rest_another(self) -> None:
        self.search("faultblocked")
        self.set_environment(**self.variables, DUCKDUCKGO_BASE_URL="")
        self.assertEqual(pacing.present_state("duckduckgo").rest_seconds(), 0.0)

    def test_unusable_store_causes_a_warning_and_keeps_the_answer(self) -> None:
        foreign = self.folder / "foreign.db"
        with contextlib.closing(sqlite3.connect(foreign)) as database:
            database.execute("CREATE TABLE mine (name)")
        (self.folder / "file").touch()
        home = self.folder / "home"
        home.mkdir(mode=0o500)
        for variables, said in (
            ({"GLSI_DB_PATH": str(foreign)}, "another program"),
            ({"GLSI_DB_PATH": str(self.folder / "file/cache.db")}, "exists|directory"),
            # For root, too, it cannot be made.
            ({"GLSI_DB_PATH": "/proc/nowhere/cache.db"}, "No such file|denied"),
            ({"GLSI_DB_PATH": ":memory:"}, ":memory:"),
            ({"GLSI_DB_PATH": "", "HOME": "/proc"}, "No such file|denied|not permitted"),
            *([({"GLSI_DB_PATH": "", "HOME": str(home)}, "denied")] if os.geteuid() else []),
        ):
            with self.subTest(variables):
                run = self.process("guide", **variables)
                self.assertEqual((run.code, run.stderr), (0, ""), run.document)
                reason, effect = run.document["warnings"]
                self.assertIn("within this process only", effect)
                self.assertRegex(reason, said)

    def test_without_a_database_pacing_works_within_the_process(self) -> None:
        for path in (":memory:", "/proc/nowhere/cache.db"):
            with self.subTest(path):
                pacing._LOCAL.clear()
                self.server.clear()
                self.set_environment(GLSI_DB_PATH=path, GLSI_RATE_LIMIT="300ms")
                started = time.monotonic()
                with ThreadPoolExecutor(3) as pool:
                    runs = list(
                        pool.map(lambda _: keyless.run_search({"query": "guide"}), range(3))
                    )
                self.assertEqual([run["ok"] for run in runs], [True] * 3)
                times = sorted(request.time - started for request in self.server.requests)
                for place, moment in enumerate(times):
                    self.assertGreaterEqual(moment, 0.3 * place - 0.02)
                self.search("faultblocked")
                run = self.search("guide")
                self.assertTrue(run.document["details"]["resting"])
                self.assertIn("within this process only", run.document["details"]["warnings"][1])
                self.assertTrue(pacing.present_state("duckduckgo").rest_seconds())

    def test_a_locked_store_is_waited_for_and_then_done_without(self) -> None:
        self.search("guide")
        database = sqlite3.connect(self.folder / "glsi/cache.db", isolation_level=None)
        self.addCleanup(database.close)
        database.execute("BEGIN IMMEDIATE")
        with mock.patch.object(store_file, "LOCK_SECONDS", 0.2):
            run = self.search("guide")
        self.assertEqual(run.code, 0)
        self.assertIn("locked", run.document["warnings"][0])

    def test_simultaneous_changes_are_applied_in_turn(self) -> None:
        warnings: list[str] = []

        def add(state: Any) -> None:
            state.blocks += 1

        def work(_: int) -> None:
            for _ in range(20):
                pacing.change_state("duckduckgo", add, warnings)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))
        self.assertEqual((pacing.present_state("duckduckgo").blocks, warnings), (160, []))

    def test_a_row_that_makes_no_sense_counts_as_none(self) -> None:
        self.search("guide")
        path = self.folder / "glsi/cache.db"
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
            for state in ("soon", '{"free_at": "soon", "rest_until": null, "more": 1}', "[]", 5):
                database.execute("UPDATE engines SET state = ?", (state,))
                run = self.search("guide")
                self.assertEqual((run.code, run.document.get("warnings")), (0, None))

    def test_sqlite_is_not_needed(self) -> None:
        code = (
            "import sys; sys.modules['sqlite3'] = None; "
            f"sys.path.insert(0, {str(SCRIPTS)!r}); import keyless_search; "
            "sys.exit(keyless_search.main(['guide']))"
        )
        run = subprocess.run(
            [*PYTHON, "-c", code],
            env=clean_environment(**{**self.environment, **self.variables}),
            capture_output=True,
            check=False,
        )
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        self.assertIn("within this process only", json.loads(run.stdout)["warnings"][1])


# ----- the reference


class ReferenceTest(KeylessCase):
    text = "".join(
        (ROOT / f"references/{name}.md").read_text(encoding="utf-8")
        for name in ("search", "engines", "troubleshooting")
    )
    settings = (ROOT / "references/keys_and_installing.md").read_text(encoding="utf-8")

    def test_each_command_in_it_works_from_an_empty_folder(self) -> None:
        place = "uv run /path/to/web-search/scripts/keyless_search.py "
        lines = [line for line in self.text.splitlines() if line.startswith(place)]
        self.assertGreater(len(lines), 0)
        for line in lines:
            with self.subTest(line), tempfile.TemporaryDirectory() as folder:
                words = shlex.split(line.removeprefix(place))
                variables = {**self.environment, **self.variables}
                run = run_script("keyless_search.py", *words, env=variables, cwd=folder)
                self.assertEqual((run.code, run.stderr), (0, ""), run.stdout)
                self.assertEqual(os.listdir(folder), [])

    def test_it_lists_every_field_and_kind_of_a_document(self) -> None:
        for name in (
            "file_type", "suggestions", "answers", "unresponsive_engines", "warnings",
            "signal", "details.resting", "retry_after", "author", "license",
        ):  # fmt: skip
            self.assertIn(f"`{name}`", self.text)
        for name in (
            "GLSI_RATE_LIMIT", "GLSI_USER_AGENT", "GLSI_DB_PATH", "GITHUB_TOKEN",
            "WEB_SEARCH_CONTACT",
            *(engines.ENGINES[engine].address[0] for engine in engines.keyless_engines()),
        ):  # fmt: skip
            self.assertIn(f"`{name}`", self.settings)
        for kind in sorted({kind for kind in OUTCOMES.values() if kind} | {"timeout"}):
            self.assertRegex(self.text, rf"\| `{kind}`")


# ----- saved pages of the real engines, where they are at hand

SAMPLES = samples_folder("searxng/search_hello_world.json")
if SAMPLES:

    class SavedPages(unittest.TestCase):
        """At least as many correct results as ddgs and SearXNG, and block pages named as such."""

        def answer(self, name: str, status: int = 200) -> Any:
            """A saved page as a response; some begin with their original headers."""
            text = (SAMPLES / name).read_text(encoding="utf-8")
            if text.startswith("HTTP/"):
                status = int(text.split()[1])
                text = text.partition("\n\n")[2]
            return kit.Response(status, {}, text.encode())

        def page(self, engine: str, name: str) -> Any:
            """The script's result for a saved page."""
            return engines.load_module(engine).read_answer(REQUEST, self.answer(name))

        def assert_wall(self, engine: str, name: str, signal: str, status: int) -> None:
            with self.assertRaises(kit.SearchError) as caught:
                engines.load_module(engine).read_answer(REQUEST, self.answer(name, status))
            self.assertEqual(caught.exception.kind, "blocked")
            self.assertIn(signal, caught.exception.details["signal"])

        def test_duckduckgo_returns_ten_unwrapped_complete_results(self) -> None:
            page = self.page("duckduckgo", "duckduckgo/danilo-ddg_html_pagina_1.html")
            self.assertGreaterEqual(len(engine_calls.merged_results([page])), 10)
            self.assertEqual(page.results[0]["url"], "https://rust-lang.org/")
            wiki = "https://en.wikipedia.org/wiki/Rust_(programming_language)"
            self.assertEqual(page.results[1]["url"], wiki)
            for item in page.results:
                self.assertTrue(item["title"] and item["snippet"])
                self.assertNotIn("duckduckgo.com", item["url"])
            self.assertEqual(page.next_form["s"], "10")
            self.assertRegex(page.next_form["vqd"], r"^4-\d{20,}$")

        def test_duckduckgos_block_page_is_a_block_under_any_status(self) -> None:
            name = "duckduckgo/danilo-interstitial_cloudflare_anomaly_2026.html"
            for status in (202, 200, 403, 418):
                self.assert_wall("duckduckgo", name, "challenge", status)

        def test_googles_page_of_2026_gives_ten_results(self) -> None:
            page = self.page("google", "google/openserp-search_results.html")
            self.assertGreaterEqual(len(page.results), 10)
            titles = [item["title"] for item in page.results]
            self.assertEqual(titles[0], "Using the Fetch API - MDN Web Docs")
            self.assertEqual(len(set(titles)), len(titles))
            self.assertEqual(page.results[0]["date"], "20.08.2025")

        def test_googles_captcha_and_javascript_pages_are_blocks(self) -> None:
            for status in (200, 429, 503):
                self.assert_wall("google", "google/openserp-captcha.html", "captcha-form", status)
            self.assert_wall("google", "google/openserp-soft_block.html", "enablejs", 200)

        def test_searxngs_json_and_page_give_the_same_five_results(self) -> None:
            by_json = self.page("searxng", "searxng/search_hello_world.json")
            by_page = self.page("searxng", "searxng/search_hello_world.html")
            self.assertEqual(len(by_json.results), 5)
            self.assertEqual(by_json.results, by_page.results)
            self.assertTrue(self.page("searxng", "searxng/search_page2.json").results)
            self.assertEqual(len(self.page("searxng", "searxng/scout.json").results), 2)
            self.assertEqual(by_json.unresponsive_engines[0]["engine"], "wikipedia")
            self.assertEqual(by_page.unresponsive_engines[0]["engine"], "wikipedia")

        def test_searxngs_failures_are_errors_and_not_empty_results(self) -> None:
            with self.assertRaises(kit.SearchError) as caught:
                self.page("searxng", "searxng/search_engine_down.json")
            self.assertIn("Suspended: HTTP connection error", caught.exception.message)
            with self.assertRaises(kit.SearchError) as caught:
                self.page("searxng", "searxng/json_disabled_403.txt")
            self.assertEqual(caught.exception.details["status"], 403)


class OwnServer(CannedCase):
    """A SearXNG behind a login (Basic), which no output shows, or one that does not run."""

    def test_a_server_that_does_not_run_is_started_or_named(self) -> None:
        for script in ("keyless_search.py", "web_search.py"):
            with self.subTest(script):
                env = {"SEARXNG_BASE_URL": "http://127.0.0.1:9"}
                run = run_script(script, "tea", "--engine", "searxng", env=env)
                self.assertEqual(run.document["details"]["kind"], "network")
                for word in ("Start the server", "SEARXNG_BASE_URL", "container"):
                    self.assertIn(word, run.document["details"]["hint"])

    def test_a_login_is_sent_and_shown_nowhere(self) -> None:
        self.server.body = {
            "results": [{"title": "R", "url": "https://a.example/", "content": "x"}]
        }
        host = self.server.url.removeprefix("http://")
        for variables in (
            {"SEARXNG_BASE_URL": f"http://me:p%40{CANARY}@{host}/sub/"},
            {"SEARXNG_BASE_URL": f"http://{host}/sub", "SEARXNG_AUTH": f"me:p@{CANARY}"},
            {"SEARXNG_BASE_URL": f"http://{host}/sub", "SEARXNG_AUTH": f'"me:p@{CANARY}"'},
        ):
            with self.subTest(variables):
                words = ("keyless_search.py", "tea", "--engine", "searxng", "--verbose")
                run = run_script(*words, env={**variables, "GLSI_RATE_LIMIT": "0s"})
                self.assertEqual(run.code, 0, run.document)
                target, headers = self.server.received
                sent = base64.b64encode(f"me:p@{CANARY}".encode()).decode()
                self.assertEqual(headers["authorization"], f"Basic {sent}")
                self.assertTrue(target.startswith("/sub/search?"))
                plan = run_script(*words, "--dry-run", env=variables)
                shown = run.stdout + plan.stdout + (run.stderr + plan.stderr).encode()
                for secret in (CANARY, sent, "me:p"):
                    self.assertNotIn(secret.encode(), shown)

    def test_a_login_that_the_server_repeats_is_shown_nowhere(self) -> None:
        host = self.server.url.removeprefix("http://")
        for login, word in ((f"me:p%40{CANARY}", CANARY), ("me:geheim", "geheim")):
            for status in (200, 401, 500, 302):
                repeated = f"http://{login}@{host}/search, {login.replace('%40', '@')}"
                self.server.status, self.server.body = status, f"<p>{repeated}</p>".encode()
                self.server.headers = {"Location": f"http://{login}@{host}/sub/search"}
                words = ("keyless_search.py", "tea", "--engine", "searxng", "--verbose")
                variables = {"SEARXNG_BASE_URL": f"http://{login}@{host}", "GLSI_RATE_LIMIT": "0s"}
                with tempfile.TemporaryDirectory() as folder:
                    run = run_script(*words, env={**variables, "GLSI_DB_PATH": f"{folder}/db"})
                with self.subTest(login, status=status):
                    self.assertIn(run.document["details"]["status"], (status, 200), run.document)
                    self.assertNotIn(word, run.stdout.decode() + run.stderr)


if __name__ == "__main__":
    unittest.main()
