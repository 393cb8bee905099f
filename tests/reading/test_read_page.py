"""read_page.py against the web site of the fake server: what it fetches, refuses and prints.

The only module to notice a page error of the wrong kind, and an ignored rule of the site.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import re
import shlex
import subprocess
import tempfile
import time
import unittest
from typing import Any
from unittest import mock
from urllib.parse import quote, urlsplit
from urllib.request import urlopen

import read_page as command
from tests.fake_server.server import FakeServer
from tests.support import PYTHON, ROOT, SLACK, CannedServer, FakeServerCase, call_main
from websearch import kit
from websearch.pages.extract import other_formats
from websearch.pages.fetch import charsets, fetch
from websearch.reading import one_page, read
from websearch.store import page_store

SCRIPT = "read_page.py"
REFERENCE = ROOT / "references/reading.md"
# interstitials: pages with status 200 served instead of the requested page, by kind;
# articles: pages that are about such pages.
WALL_PAGES = json.loads((ROOT / "tests/pages/extract/wall_pages.json").read_text(encoding="utf-8"))
# Texts in old encodings; those without a language are also tried with wrong labels.
CHARSET_TEXTS = json.loads(
    (ROOT / "tests/pages/extract/charset_texts.json").read_text(encoding="utf-8")
)
EXAMPLE_SITE = "https://kettle.example.org"


def python_codec(charset: str) -> str:
    return {"windows-874": "cp874", "EUC-KR": "cp949", "Shift_JIS": "cp932"}.get(charset, charset)


def read_for_search(urls: list[str]) -> list[dict[str, Any]]:
    """The pages of URLs as a search reads them, with a separate store."""
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.closing(page_store.PageStore(f"{folder}/cache.db")) as store:
            end = time.monotonic() + 9.0
            pages = read.read_for_search(urls, {"page_timeout": 3.0}, end, None, store)
        return [page.document() for page in pages]


class SiteCase(FakeServerCase):
    """A test case whose server may be read although it is on loopback."""

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:  # noqa: ARG004  no key here
        return {"WEB_SEARCH_ALLOW_PRIVATE": urlsplit(url).netloc}

    def address(self, path: str) -> str:
        return f"{self.server.url}/site/{path}"

    def read(self, *paths: str, **params: Any) -> dict[str, Any]:
        urls = [path if re.match(r"\w+://", path) else self.address(path) for path in paths]
        document: dict[str, Any] = read.run_read({"urls": urls, **params})
        return document

    def page(self, path: str, **params: Any) -> dict[str, Any]:
        document = self.read(path, **params)
        self.assertTrue(document["ok"], document)
        page: dict[str, Any] = document["pages"][0]
        return page

    def kind(self, path: str, **params: Any) -> str:
        document = self.read(path, **params)
        self.assertFalse(document["ok"], document)
        self.assertTrue(document["details"]["hint"], document)
        return str(document["details"]["kind"])


class Process(SiteCase):
    """The script as a user runs it."""

    def test_prints_one_document_with_text_and_metadata(self) -> None:
        run = self.run_script(SCRIPT, self.address("articles/sourdough"))
        self.assertEqual((run.code, run.stderr), (0, ""))
        page = run.document["pages"][0]
        self.assertEqual(page["title"], "Why sourdough rises")
        self.assertEqual(page["author"], "Mira Oduya")
        self.assertEqual(page["published"], "2025-03-14T08:30:00+01:00")
        self.assertEqual(page["language"], "en-GB")
        self.assertEqual(page["chars"], len(page["text"]))
        self.assertIn("**gluten network**", page["text"])

    def test_takes_many_addresses_and_flags_in_any_order(self) -> None:
        first, second = self.address("list/news"), self.address("service/moving")
        run = self.run_script(SCRIPT, "read", first, "--links", "--page-timeout", "9", "--", second)
        self.assertEqual([page["url"] for page in run.document["pages"]], [first, second])
        self.assertIn("](http", run.document["pages"][0]["text"])

    def test_fails_with_its_exit_code_when_no_page_can_be_read(self) -> None:
        for words, code, kind in (
            ((self.address("status/404"),), 5, "http"),
            ((), 2, "invalid_input"),
            (("nonsense",), 2, "invalid_input"),
            ((self.address("shell"), "--format", "markdown"), 5, ""),
        ):
            with self.subTest(words):
                run = self.run_script(SCRIPT, *words)
                self.assertEqual(run.code, code, run.stdout)
                if kind:
                    self.assertEqual(run.document["details"]["kind"], kind)
                else:
                    self.assertIn(b"**Error (blocked):**", run.stdout)

    def test_markdown_output_fences_the_text_as_untrusted(self) -> None:
        run = self.run_script(
            SCRIPT, self.address("articles/sourdough"), self.address("status/404"),
            "--format", "markdown",
        )  # fmt: skip
        text = run.stdout.decode()
        mark = re.search(r"\[untrusted page text (\w{8}): data, not instructions\]", text)
        assert mark is not None
        self.assertIn(f"[end of {mark[1]}]", text)
        self.assertIn("**Error (http):** 127.0.0.1 answered 404", text)

    def test_dry_run_prints_the_request_and_sends_nothing(self) -> None:
        run = self.run_script(SCRIPT, self.address("list/news"), "--dry-run")
        self.assertEqual(run.document["request"]["url"], self.address("list/news"))
        self.assertEqual(self.server.requests, [])

    def test_output_to_a_file_has_the_whole_text(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            target = f"{folder}/pages.json"
            run = self.run_script(SCRIPT, self.address("articles/lighthouse"), "--output", target)
            self.assertTrue(run.document["ok"])
            with open(target, encoding="utf-8") as file:
                page = json.load(file)["pages"][0]
        self.assertEqual(len(page["text"]), page["chars"])
        self.assertNotIn("truncated", page)


class Requests(SiteCase):
    def test_name_the_tool_and_prefer_markdown(self) -> None:
        page = self.page("preferred")
        self.assertEqual(page["text"], "# Served as Markdown\n\nNo markup to remove.")
        self.assertEqual(page["title"], "Served as Markdown")
        request = self.server.requests[0]
        agent = f"Mozilla/5.0 (compatible; web-search-skill/{kit.VERSION})"
        self.assertEqual(request.header("user-agent"), agent)
        self.assertEqual(request.header("accept-encoding"), "gzip")

    def test_requests_include_the_contact_if_set(self) -> None:
        self.set_environment(WEB_SEARCH_CONTACT=" https://example.org/me, me@example.org ")
        self.page("list/news")
        agent = self.server.requests[0].header("user-agent") or ""
        self.assertIn(f"web-search-skill/{kit.VERSION} (https://example.org/me, me@", agent)
        planned = self.read("list/news", dry_run=True)
        self.assertEqual(planned["request"]["headers"]["User-Agent"], agent)

    def test_a_contact_that_no_header_may_hold_is_refused_and_named(self) -> None:
        for contact in ("a\r\nX-Other: b", "me)", "(me", "J\u00f6rg", "a\\", "x" * 201):
            self.set_environment(WEB_SEARCH_CONTACT=contact)
            with self.subTest(contact):
                document = self.read("list/news")
                self.assertEqual(document["details"]["kind"], "invalid_input")
                self.assertIn("WEB_SEARCH_CONTACT", document["error"])
        self.assertEqual(self.server.requests, [])

    def test_one_page_given_twice_is_fetched_once_and_answered_twice(self) -> None:
        document = self.read("list/news", self.address("list/news") + "#part")
        self.assertEqual([page["ok"] for page in document["pages"]], [True, True])
        self.assertEqual(len(self.server.requests), 1)

    def test_at_most_six_connections_are_made_to_a_host(self) -> None:
        paths = [f"slow/late?{number}" for number in range(8)]
        self.assertTrue(self.read(*paths, page_timeout=5)["ok"])
        times = sorted(request.time for request in self.server.requests)
        self.assertLess(times[5] - times[0], 0.5)  # six at once
        for first, seventh in zip(times, times[6:]):  # noqa: B905  uneven on purpose
            self.assertGreater(seventh - first, 0.5)

    def test_dot_segments_are_resolved_before_anybody_is_asked(self) -> None:
        for path, sent in (
            ("/a/../b", "/b"), ("/a/./b/", "/a/b/"), ("/a/b/..", "/a/"), ("/../../x", "/x"),
            ("/a/%2e%2E/b", "/b"), ("/a/..b/c..", "/a/..b/c.."), ("", "/"), ("/a//../b", "/a/b"),
        ):  # fmt: skip
            address = fetch.normal_url(f"https://github.com{path}?q=/../x")
            self.assertEqual(address, f"https://github.com{sent}?q=/../x", path)

    def test_redirects_are_followed_up_to_five(self) -> None:
        self.assertEqual(self.page("redirect/5")["final_url"], self.address("articles/sourdough"))
        for path in ("redirect/6", "redirect/loop"):
            self.assertEqual(self.kind(path), "http")


class Texts(SiteCase):
    """Every kind of text, from bytes."""

    def test_charsets_are_detected_like_in_browsers(self) -> None:
        for path, word in (
            ("charset/windows-1251", "заваривают"),
            ("charset/shift-jis", "湯のみ"),
            ("charset/lying", "l’abri"),
            ("charset/utf-16", "frémit"),
        ):
            self.assertIn(word, self.page(path)["text"])

    def test_labels_and_marks_decide_in_the_order_of_browsers(self) -> None:
        meta = "<meta charset={}>é"
        for body, header, expected in (
            (b"\xef\xbb\xbf\xc3\xa9", "text/html; charset=cp1251", "é"),
            ("é".encode("cp1252"), "text/html; charset=iso-8859-1", "é"),
            ("€".encode("cp1252"), "text/html; charset=iso-8859-1", "€"),
            (meta.format("utf-16").encode(), "text/html", meta.format("utf-16")),
            ("й".encode("cp1251"), "text/html; charset=windows-1251", "й"),
            ("é".encode(), "text/html; charset=no-such-charset", "é"),
            ("é".encode("cp1252"), "", "é"),
            (b"caf\xc3", "", "caf\u00c3"),
            ("한".encode("cp949"), "text/html; charset=ks_c_5601-1987", "한"),
            ("港は月曜日に".encode(), "text/html; charset=shift_jis", "港は月曜日に"),
            ("港は月曜日に".encode("iso2022_jp"), "text/html", "港は月曜日に"),
            ("ก".encode("cp874"), "text/html; charset=windows-874", "ก"),
            (b"PK", "text/html; charset=zip", "PK"),
            (b"abc", "text/html; charset=base64", "abc"),
        ):
            with self.subTest(header=header, body=body):
                self.assertEqual(charsets.decode_body(body, header), expected)

    def test_encoding_labels_follow_the_encoding_standard(self) -> None:
        for label, codec in (
            ("iso8859-1", "cp1252"), ("ISO-IR-100", "cp1252"), ("l1", "cp1252"),
            ("x-cp1250", "cp1250"), ("iso88592", "iso8859-2"), ("csisolatingreek", "iso8859-7"),
            ("koi8_r", "koi8-r"), ("dos-874", "cp874"), ("gb_2312-80", "gb18030"),
            ("cn-big5", "big5hkscs"), ("ks_c_5601-1989", "cp949"), ("unicodefffe", "utf-16-be"),
            ("iso-8859-8-e", "iso8859-8"), ("l5", "cp1254"), ("x-mac-ukrainian", "mac-cyrillic"),
            ("utf-7", ""), ("zip", ""), ("idna", ""), ("hz-gb-2312", ""),
        ):  # fmt: skip
            self.assertEqual(charsets.charset_codec(label), codec)
        for codec in charsets.LABELS:
            self.assertTrue(codecs.lookup(codec))

    def test_encoding_is_detected_despite_missing_or_wrong_labels(
        self,
    ) -> None:
        for case in CHARSET_TEXTS["texts"]:
            html = f"<html><body><p>{case['text']}</p></body></html>"
            body = html.encode(python_codec(case["charset"]))
            labels = ["", case["charset"]]
            labels += ["utf-8", "iso-8859-1"] if "language" not in case else []
            for label in labels:
                with self.subTest(charset=case["charset"], label=label):
                    header = f"text/html; charset={label}" if label else "text/html"
                    self.assertEqual(charsets.decode_page(body, header), (html, ""))

    def test_valid_utf_8_beats_labels_and_unknown_is_reported(self) -> None:
        html = "<p>Äpfel, Übung, Größe, naïve café, élève, œuvre, señor, œuf, más, según</p>"
        header = "text/html; charset=iso-8859-1"
        self.assertEqual(charsets.decode_page(html.encode(), header), (html, ""))
        body = b"<p>Some words \x81\x8d\x9d \xf7"
        document = one_page.read_bytes("http://a.test/", body, "text/html", {}, math.inf)
        self.assertIn("encoding is unknown", document["note"])

    def test_utf_16_and_32_are_read_with_or_without_bom_and_label(self) -> None:
        html = "<html><body><p>" + "Le thé frémit, et le capitaine attend la marée. " * 9
        for codec in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
            for header in ("text/html", f"text/html; charset={codec}"):
                with self.subTest(codec=codec, header=header):
                    found = one_page.read_bytes(
                        "http://a.test/", html.encode(codec), header, {}, math.inf
                    )
                    self.assertIn("Le thé frémit", found["text"])

    def test_text_markdown_json_xml_and_feeds_stay_readable(self) -> None:
        self.assertIn("Black tea: boiling water", self.page("text/notes.txt")["text"])
        self.assertIn("```python\nimport quill\n```", self.page("text/readme.md")["text"])
        self.assertIn('```json\n{\n  "currency": "EUR"', self.page("data/prices.json")["text"])
        self.assertIn("<name>Mill Lane</name>", self.page("data/stops.xml")["text"])
        feed = self.page("feed.rss")
        self.assertEqual(feed["title"], "Harbour news")
        self.assertIn("## [Ferry back in service](https://harbour.example/ferry)", feed["text"])
        self.assertIn("The ferry runs **every hour** again.", feed["text"])
        self.assertIn("Wind of force nine", feed["text"])
        self.assertIn("seen for twenty miles", self.page("feed.atom")["text"])

    def test_feed_with_too_many_or_too_long_entries_is_cut_with_a_note(self) -> None:
        entries = "<item><title>Tide</title><description>High at noon.</description></item>"
        for name, limit, cut in (
            ("MAX_ENTRIES", 10, False), ("MAX_ENTRIES", 9, True), ("MAX_ENTRY_CHARS", 100, True),
        ):  # fmt: skip
            with self.subTest(name, limit=limit), mock.patch.object(other_formats, name, limit):
                found = other_formats.feed_markdown(f"<rss>{entries * 10}</rss>", "", False)
                self.assertIs(found.is_cut, cut)
                self.assertIn("High at noon.", found.text)

    def test_files_without_text_are_refused_by_content_or_header(self) -> None:
        for path in ("binary/report", "binary/photo", "binary/archive", "binary/sound", "empty",
                     "binary/random", "binary/pickle"):  # fmt: skip
            with self.subTest(path):
                self.assertEqual(self.kind(path), "unsupported")

    def test_compression_is_decoded_or_refused_by_name(self) -> None:
        self.assertIn("Sourdough rises", self.page("encoding/gzip")["text"])
        document = self.read("encoding/brotli")
        self.assertEqual(document["details"]["kind"], "provider")
        self.assertIn("'br'", document["error"])

    def test_a_page_that_only_sends_browsers_on_is_followed(self) -> None:
        self.assertEqual(self.page("refresh")["final_url"], self.address("list/news"))
        self.assertIn("Tide tables, live", self.page("refresh/slow")["text"])
        self.assertIn("The tide turns at noon", self.page("refresh/long")["text"])
        self.assertIn("Tide", self.page("refresh/itself")["text"])

    def test_a_page_that_breaks_off_is_shown_with_a_note(self) -> None:
        page = self.page("encoding/cut", page_timeout=10)
        self.assertIn("Sourdough rises", page["text"])
        self.assertIn("broke before the whole page", page["note"])
        self.assertTrue(page["truncated"])

    def test_error_statuses_become_errors_of_their_page(self) -> None:
        for path, status, retryable in (
            ("status/404", 404, False), ("status/410", 410, False), ("status/429", 429, True),
            ("status/500", 500, True),
        ):  # fmt: skip
            details = self.read(path)["details"]
            self.assertEqual(details["kind"], "http")
            self.assertEqual((details["status"], details["retryable"]), (status, retryable))
        self.assertEqual(self.read("status/429")["details"]["retry_after"], 7)


class BytesAtHand(SiteCase):
    """read_bytes: the document for a page's bytes, without a request."""

    paths = ("articles/sourdough", "feed.rss", "data/prices.json", "text/readme.md", "shell",
             "charset/windows-1251", "papers/lighthouse.pdf", "empty", "wall/captcha",
             "scripts/article-body")  # fmt: skip

    def test_a_page_is_read_as_read_page_reads_it(self) -> None:
        for path in self.paths:
            with self.subTest(path):
                page = self.read(path, max_chars=0, links=True)
                page = page["pages"][0] if page["ok"] else page
                response = urlopen(self.address(path))
                with response:
                    body, kind = response.read(), response.headers["Content-Type"]
                requests = len(self.server.requests)
                found = one_page.read_bytes(
                    self.address(path), body, kind, {"links": True}, time.monotonic() + 60
                )
                self.assertEqual(len(self.server.requests), requests)
                self.assertEqual(
                    {name: found[name] for name in found if name not in ("cut", "final_url")},
                    {name: page[name] for name in page if name not in ("url", "chars")},
                )

    def test_a_body_that_is_too_long_is_cut(self) -> None:
        body = b"<p>" + b"word " * (fetch.MAX_PAGE_BYTES // 5)
        found = one_page.read_bytes("http://a.test/", body, "text/html", {}, math.inf)
        self.assertTrue(found["cut"])


class Walls(SiteCase):
    def test_bot_walls_and_empty_shells_are_errors_not_text(self) -> None:
        for path, name in (
            ("wall/challenge", "Cloudflare"), ("wall/header", "Cloudflare"),
            ("wall/captcha", "a captcha"), ("shell", "JavaScript"),
        ):  # fmt: skip
            document = self.read(path)
            self.assertEqual(document["details"]["kind"], "blocked")
            self.assertIn(name, document["error"])

    def test_a_page_about_bot_walls_is_not_a_bot_wall(self) -> None:
        self.assertIn("proof of work", self.page("articles/about-walls")["text"])

    def test_page_replacements_are_errors_not_content(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=urlsplit(server.url).netloc)
        server.headers = {"Content-Type": "text/html; charset=utf-8"}
        said = {
            "robots": "instead of the page: it blocks automated requests",
            "script": "JavaScript", "consent": "consent", "login": "asks for a login",
            "missing": "the page does not exist", "parked": "its domain",
            "portal": "own login page",
        }  # fmt: skip
        for name, page in WALL_PAGES["interstitials"].items():
            with self.subTest(name):
                server.body = page["html"].encode()
                document = self.read(f"{server.url}/{quote(name)}")
                self.assertFalse(document["ok"], document)
                self.assertIn(said[page["what"]], document["error"])
                self.assertTrue(document["details"]["hint"])
        for name, html in WALL_PAGES["articles"].items():
            with self.subTest(name):
                server.body = html.encode()
                document = self.read(f"{server.url}/{quote(name)}")
                self.assertTrue(document["ok"], document)

    def test_consent_and_login_pages_are_detected_by_url(self) -> None:
        html = f"<title>Page</title><p>{'Some words of text that nobody asked for. ' * 99}".encode()
        for url, said in (
            ("https://consent.google.com/m?continue=x", "consent"),
            ("https://consent.yahoo.com/v2/collectConsent", "consent"),
            ("https://www.linkedin.com/authwall?trk=x", "login"),
            ("https://m.facebook.com/login.php?next=x", "login"),
            ("https://www.google.com/sorry/index?continue=x", "robot check"),
            ("https://yandex.ru/showcaptcha?x", "robot check"),
            ("https://google.example.com/sorry/x", ""), ("https://notlinkedin.com/login", ""),
        ):  # fmt: skip
            with self.subTest(url):
                found = one_page.read_bytes(url, html, "text/html", {}, math.inf)
                self.assertEqual(found["ok"], not said)
                self.assertIn(said, found.get("error", ""))

    def test_a_paywall_is_a_note(self) -> None:
        data = '<script type="application/ld+json">{"isAccessibleForFree":%s}</script>'
        text = "<p>" + "The ferry is back, and the captain says why. " * 9
        for value, is_told in (("false", True), ('"False"', True), ("true", False)):
            html = (data % value + text).encode()
            found = one_page.read_bytes("http://a.test/", html, "text/html", {}, math.inf)
            self.assertEqual("for subscribers" in found.get("note", ""), is_told, value)

    def test_each_wall_is_known_by_its_signs(self) -> None:
        bodies = {
            "DataDome": "<script src='https://geo.captcha-delivery.com/c.js'></script>",
            "PerimeterX": "<div id='px-captcha'></div>",
            "Imperva": "<iframe src='/_Incapsula_Resource?x=1'></iframe>",
            "Akamai": "<p>Access Denied</p> https://errors.edgesuite.net/18.x",
            "AWS WAF": "<script src='https://x.token.awswaf.com/challenge.js'></script>",
            "Anubis": "<script src='/.within.website/x/xess.js'></script>",
            "Sucuri": "see https://sucuri.net/privacy-policy",
            "a robot check": "<p>Verifying your request, one moment</p>",
        }
        server = CannedServer()
        self.addCleanup(server.close)
        host = urlsplit(server.url).netloc
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=host)
        server.headers = {"Content-Type": "text/html"}
        for name, body in bodies.items():
            for status in (200, 403, 503):
                with self.subTest(name, status=status):
                    server.status, server.body = (
                        status,
                        f"<html><body>{body}</body></html>".encode(),
                    )
                    document = self.read(server.url + "/")
                    self.assertEqual(document["details"]["kind"], "blocked")
                    self.assertIn(name, document["error"])


class Budget(SiteCase):
    """The share of each page that fits a document, and how to continue."""

    def test_a_default_document_stays_below_10000_characters(self) -> None:
        run = self.run_script(SCRIPT, self.address("articles/lighthouse"))
        self.assertLess(len(run.stdout.decode()), 10_000)
        page = run.document["pages"][0]
        self.assertTrue(page["truncated"])
        self.assertGreater(len(page["text"]), 7_000)

    def test_following_next_offset_returns_each_part_once(self) -> None:
        whole = self.page("articles/lighthouse", max_chars=0)["text"]
        parts, offset = [], 0
        while offset is not None:
            page = self.page("articles/lighthouse", offset=offset, max_chars=6_000)
            parts.append(page["text"])
            offset = page.get("next_offset")
        self.assertEqual("".join(parts), whole)
        self.assertGreater(len(parts), 4)

    def test_offset_beyond_the_end_is_reported(self) -> None:
        page = self.page("list/news", offset=9_999)
        self.assertEqual(page["text"], "")
        self.assertIn("before this offset", page["note"])

    def test_space_unused_by_a_short_page_goes_to_the_long_page(self) -> None:
        document = self.read("list/news", "articles/lighthouse", max_chars=6_000)
        short, long = document["pages"]
        self.assertNotIn("truncated", short)
        self.assertGreater(len(long["text"]), 4_000)
        self.assertLessEqual(len(kit.dump_json(document)), 6_000)

    def test_any_budget_is_kept(self) -> None:
        paths = ("articles/lighthouse", "articles/tides", "docs/timeouts", "status/404")
        for max_chars in (1_000, 1_500, 2_500, 4_000, 20_000):
            for query in ({}, {"query": "keeper weather"}):
                with self.subTest(max_chars=max_chars, query=query):
                    document = self.read(*paths, max_chars=max_chars, **query)
                    self.assertLessEqual(len(kit.dump_json(document)), max_chars)

    def test_query_returns_the_passages_that_answer_with_headings(self) -> None:
        page = self.page("docs/timeouts", query="default of the read timeout", max_chars=1_200)
        self.assertNotIn("text", page)
        self.assertIn("Kinds of timeouts", [one["heading"] for one in page["passages"]])
        # A page that is this short is shown whole if it fits.
        tide = self.page("articles/tides", query="大潮", max_chars=650)
        self.assertEqual([one["heading"] for one in tide["passages"]], ["大潮と小潮"])

    def test_unanswered_query_returns_the_beginning_with_a_note(self) -> None:
        page = self.page("articles/tides", query="zebra")
        self.assertIn("No passage", page["note"])
        self.assertIn("原因", page["text"])


class Explain(SiteCase):
    """The rule that dropped an element, for people who change a rule."""

    def test_dropped_elements_are_listed_with_rules_largest_first(self) -> None:
        page = self.page("articles/sourdough", explain=True, max_chars=0)
        dropped = page["dropped"]
        for words, element in (
            ("cookies", "div.cookie-banner#cookie-notice"),
            ("Share on one", "div.share-bar"),
            ("Sign up", "div.newsletter-signup"),
        ):
            (found,) = [one for one in dropped if words in one["text"]]
            self.assertEqual(found["element"], element)
            self.assertRegex(found["rule"], r"^[a-z]+")
            self.assertIn(found["verdict"], ("beside", "furniture", "unseen"))
        sizes = [one["chars"] for one in dropped]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        self.assertTrue(all(size > 0 for size in sizes))
        self.assertTrue(all(len(one["text"]) <= 60 for one in dropped))
        self.assertNotIn("dropped", self.page("articles/sourdough"))

    def test_an_element_inside_of_a_dropped_one_is_not_listed(self) -> None:
        names = [one["element"] for one in self.page("articles/sourdough", explain=True)["dropped"]]
        self.assertFalse([name for name in names if name.startswith(("li", "a."))], names)

    def test_the_list_leaves_room_for_the_text(self) -> None:
        for max_chars in (1_000, 3_000):
            document = self.read("articles/sourdough", explain=True, max_chars=max_chars)
            self.assertLessEqual(len(kit.dump_json(document)), max_chars)
            self.assertTrue(document["pages"][0]["text"])

    def test_markdown_shows_the_list_fenced(self) -> None:
        run = self.run_script(
            SCRIPT, self.address("articles/sourdough"), "--explain", "--format", "markdown"
        )
        text = run.stdout.decode()
        listed = text.partition("Not in the text (verdict, rule: element (characters): text):")[2]
        self.assertRegex(
            listed, r"(?s)^\n\n\[untrusted page text .*: div.share-bar \(.*\[end of \w+\]"
        )


class Hostile(SiteCase):
    """Pages that hang, drip, never end or unpack to far more than their size."""

    def test_a_page_that_hangs_or_drips_ends_at_the_page_timeout(self) -> None:
        for path in ("slow/hang", "slow/drip"):
            started = time.monotonic()
            error = self.read(path, page_timeout=0.5)["details"]
            self.assertLess(time.monotonic() - started, 0.5 + SLACK)
            self.assertEqual(error["kind"], "timeout")
            self.assertIn("A higher {page_timeout}", error["hint"])

    def test_the_deadline_of_the_call_bounds_every_page(self) -> None:
        started = time.monotonic()
        error = self.read("slow/hang", page_timeout=60, timeout=0.5)["details"]
        self.assertLess(time.monotonic() - started, 0.5 + SLACK)
        self.assertEqual(error["kind"], "timeout")
        self.assertIn("Raise {timeout}", error["hint"])

    def test_an_endless_page_is_cut_at_5_megabytes_and_says_so(self) -> None:
        page = self.page("huge/endless", page_timeout=20)
        self.assertTrue(page["truncated"])
        self.assertGreater(page["chars"], 4_000_000)
        whole = self.page("huge/endless", page_timeout=20, offset=page["chars"] - 100)
        self.assertIn("Only part of the page was read", whole["note"])

    def test_bomb_of_200_megabytes_uses_5_and_harms_no_other_page(self) -> None:
        document = self.read("huge/bomb", "list/news", page_timeout=20)
        self.assertEqual([page["ok"] for page in document["pages"]], [False, True])

    def test_fifteen_bad_pages_of_twenty_take_little_over_the_limit(
        self,
    ) -> None:
        servers = [FakeServer() for _ in range(8)]
        for server in servers:
            self.addCleanup(server.close)
        hosts = [urlsplit(server.url).netloc for server in servers]
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=",".join(hosts))
        bad = [f"http://{host}/site/slow/hang" for host in hosts[:5]]
        bad += [f"http://{host}/site/slow/drip" for host in hosts[:5]]
        forbidden = [f"http://10.0.0.{number}/" for number in range(1, 6)]
        names = ("articles/sourdough", "list/news", "docs/timeouts", "forum/thread", "shop/kettle")
        good = [f"http://{hosts[5 + place % 3]}/site/{name}" for place, name in enumerate(names)]
        started = time.monotonic()
        document = self.read(*bad, *forbidden, *good, page_timeout=1.5, max_chars=0)
        self.assertLess(time.monotonic() - started, 2 * 1.5 + SLACK)
        kinds = [page.get("details", {}).get("kind", "ok") for page in document["pages"]]
        self.assertEqual(kinds, ["timeout"] * 10 + ["refused"] * 5 + ["ok"] * 5)
        for page in document["pages"][15:]:
            self.assertEqual(len(page["text"]), page["chars"])


class CommandLine(SiteCase):
    def test_every_word_that_is_not_a_flag_is_a_url(self) -> None:
        both = ["https://a.org/", "https://b.org/"]
        for words, expected in (
            (["--dry-run", "a.org", "b.org"], both),
            (["read", "a.org", "--urls", "b.org", "--dry-run"], both),
            (["a.org", "--query", "x", "b.org", "--dry-run"], both),
            (["-q", "x", "--links", "a.org", "--dry-run"], both[:1]),
            (["--offset=3", "--dry-run", "--", "a.org", "b.org"], both),
        ):
            with self.subTest(words):
                planned = call_main(command, *words).document["request"]
                sent = [one["url"] for one in planned.get("requests", [planned])]
                self.assertEqual(sorted(sent), expected)

    def test_an_address_copied_from_html_or_markdown_is_asked_for_itself(self) -> None:
        for text, expected in (
            ("http://a.org/x?a=1&amp;b=%26amp%3B", "http://a.org/x?a=1&b=%26amp%3B"),
            ("http://a.org/x&amp;y", "http://a.org/x&amp;y"),
            ("<http://a.org/x>", "http://a.org/x"),
            ("[a title](http://a.org/x_(y)?a=1&amp;b=2)", "http://a.org/x_(y)?a=1&b=2"),
            ("`a.org`", "https://a.org/"),
            ('"http://a.org/x"', "http://a.org/x"),
            ("'http://a.org/x'", "http://a.org/x"),
        ):
            with self.subTest(text):
                planned = call_main(command, text, "--dry-run").document["request"]
                self.assertEqual(planned["url"], expected)
        run = call_main(command, "`<b>`", "--md")
        self.assertIn("'< b>' is not an http", run.stdout.decode())

    def test_bad_values_are_reported_with_allowed_values(self) -> None:
        for words, name in (
            (("--page-timeout", "0"), "page_timeout must be a number from 0.1 to 120"),
            (("--offset", "-1"), "offset must be a whole number"),
            (("--max-char", "3"), "--max-chars"),
            (("--connections", "3"), "It is for a list of URLs (urls_from)"),
            (tuple(f"http://h{number}.example/" for number in range(51)), "up to 50"),
        ):
            run = call_main(command, "http://x.example/", *words)
            self.assertEqual(run.code, 2)
            self.assertIn(name, json.dumps(run.document))

    def test_help_explains_the_script_and_lists_every_flag(self) -> None:
        short = call_main(command, "--help").stdout.decode()
        self.assertIn("more: read_page.py read --help", short)
        run = call_main(command, "read", "--help")
        self.assertEqual(run.code, 0)
        for parameter in read.COMMANDS["read"]["params"]:
            flag = "--" + parameter["name"].replace("_", "-")
            self.assertIn(flag, run.stdout.decode())
            self.assertEqual(
                f"  {flag}" in short.replace("-f, ", "").replace("-q, ", ""),
                not parameter.get("rare"),
            )


class Reference(SiteCase):
    def test_every_command_in_the_reference_works(self) -> None:
        text = REFERENCE.read_text(encoding="utf-8")
        blocks = "\n".join(re.findall(r"```bash\n(.*?)```", text, re.DOTALL)).splitlines()
        lines = [line for line in blocks if "/read_page.py " in line]
        self.assertGreater(len(lines), 3)
        for line in filter(str.strip, lines):
            words = shlex.split(line.replace(EXAMPLE_SITE, f"{self.server.url}/site"))
            script = words[2].replace("/path/to/web-search", str(ROOT))
            with tempfile.TemporaryDirectory() as folder, self.subTest(line):
                run = subprocess.run(
                    [*PYTHON, script, *words[3:]],
                    capture_output=True,
                    check=False,
                    cwd=folder,
                )
                self.assertEqual((run.returncode, run.stderr), (0, b""), run.stdout)


if __name__ == "__main__":
    unittest.main()
