"""Pages that are gone: the copy of the Internet Archive, read or only named.

The only module that detects a wrong copy or an unnecessary request to the archive.
"""

from __future__ import annotations

import json
import socket
import threading
import unittest
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from tests.reading.test_read_page import SiteCase, read_for_search
from tests.support import SmallWebCase, load_script
from websearch.pages.fetch import archive, fetch
from websearch.reading import read
from websearch.search import commands as brief
from websearch.search import commands as search
from websearch.search import show_markdown

DAY = "2024-01-31"


class ArchiveCase(SiteCase):
    """A test case whose Internet Archive is the fake server; every test has its own pacing."""

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:  # noqa: ARG004  no key here
        return {
            "WEB_SEARCH_ALLOW_PRIVATE": urlsplit(url).netloc,
            "WAYBACK_BASE_URL": url,
            "GLSI_RATE_LIMIT": "0s",
            "GLSI_DB_PATH": ":memory:",
        }

    def setUp(self) -> None:
        super().setUp()
        load_script("websearch.engines.base.pacing")._LOCAL.clear()

    def asked(self) -> list[str]:
        """Return the paths of the requests to the archive."""
        paths = [request.path for request in self.server.requests]
        return [path for path in paths if path.startswith(("/cdx/", "/web/"))]


class Reading(ArchiveCase):
    def test_a_gone_page_is_replaced_by_its_newest_good_copy(self) -> None:
        page = self.page("gone/bread", archived=True)
        copy = f"{self.server.url}/web/20240131120000/{self.address('gone/bread')}"
        self.assertEqual((page["archived"], page["final_url"]), (DAY, copy))
        self.assertEqual(page["url"], self.address("gone/bread"))
        self.assertIn("flour", page["text"])

    def test_gone_pages_do_not_delay_other_pages_of_their_host(self) -> None:
        good = self.address("articles/sourdough")
        good_is_read = threading.Event()
        waited: list[bool] = []

        def replace(error: Any, *_: Any) -> Any:
            waited.append(good_is_read.wait(5))
            return error

        def report(url: str, *_: int) -> None:
            if url == good:
                good_is_read.set()

        urls = [*(self.address(f"gone/bread?{number}") for number in range(2)), good]
        with mock.patch.object(archive, "newest_copy_of", replace):
            document = read.run_read({"urls": urls, "archived": True}, report)
        self.assertEqual([page["ok"] for page in document["pages"]], [False, False, True])
        self.assertEqual(waited, [True, True])

    def test_links_of_a_copy_point_to_the_site_not_the_archive(self) -> None:
        text = self.page("gone/bread", archived=True, links=True)["text"]
        self.assertIn(f"]({self.server.url}/", text)
        self.assertNotIn("/web/2024", text)

    def test_markdown_names_the_date_of_a_copy(self) -> None:
        run = self.run_script(
            "read_page.py", self.address("gone/bread"), "--archived", "--format", "markdown"
        )
        self.assertIn(b"archived 2024-01-31", run.stdout)

    def test_the_archive_is_not_asked_about_existing_pages(self) -> None:
        page = self.page("articles/sourdough", archived=True)
        self.assertNotIn("archived", page)
        self.assertEqual(self.asked(), [])

    def test_the_archive_is_not_asked_about_slow_pages(self) -> None:
        for path in ("status/429", "slow/hang"):
            with self.subTest(path):
                self.read(path, archived=True, page_timeout=0.5)
        self.assertEqual(self.asked(), [])

    def test_an_error_suggests_the_copy_and_archived_reads_it(self) -> None:
        for path in ("status/500", "wall/challenge", "wall/captcha"):
            with self.subTest(path):
                self.assertIn("With {archived}", self.read(path)["details"]["hint"])
                self.assertEqual(self.asked(), [])
                self.assertEqual(self.page(path, archived=True)["archived"], DAY)
                self.server.clear()

    def test_a_search_reads_copies_of_gone_pages_only(self) -> None:
        urls = [self.address("wall/challenge"), self.address("gone/bread")]
        self.assertEqual([page["ok"] for page in read_for_search(urls)], [False, True])

    def test_without_a_copy_the_error_of_the_page_says_so(self) -> None:
        for name in ("never", "refused"):
            document = self.read(f"gone/{name}", archived=True)
            details = document["details"]
            self.assertEqual((details["kind"], details["status"]), ("http", 410))
            self.assertIn("The Internet Archive has no copy.", details["hint"])
            self.assertFalse(details["retryable"])

    def test_a_failing_archive_makes_the_error_retryable(self) -> None:
        for name in ("busy", "broken", "hang"):
            with self.subTest(name):
                load_script("websearch.engines.base.pacing")._LOCAL.clear()
                document = self.read(f"gone/{name}", archived=True, timeout=3)
                details = document["details"]
                self.assertEqual(details["kind"], "http")
                self.assertTrue(details["retryable"], document)

    def test_a_refusal_pauses_the_next_calls(self) -> None:
        self.read("gone/busy", archived=True)
        count = len(self.asked())
        hint = self.read("gone/bread", archived=True, timeout=5)["details"]["hint"]
        self.assertEqual(len(self.asked()), count)
        self.assertIn("accepts the next request in", hint)


class Lists(ArchiveCase):
    def read_list(self, *words: str) -> list[dict[str, Any]]:
        """Return the documents of a list with an existing page and a page that is gone."""
        addresses = [self.address("articles/sourdough"), self.address("gone/bread")]
        run = self.run_script("read_page.py", *addresses, "--jsonl", "--host-pause", "0", *words)
        found = [json.loads(line) for line in run.stdout.splitlines()]
        return sorted(found, key=lambda entry: str(entry.get("url")))

    def test_a_list_reads_copies(self) -> None:
        self.assertEqual(self.read_list("--archived")[1]["archived"], DAY)
        self.server.clear()
        self.assertNotIn("archived", self.read_list()[1]["details"])
        self.assertEqual(self.asked(), [])

    def test_lists_are_not_read_in_a_browser(self) -> None:
        document = self.read_list("--browser")[0]
        self.assertEqual(document["details"]["kind"], "invalid_input")


class Privacy(ArchiveCase):
    def test_without_the_parameter_the_archive_is_not_asked(self) -> None:
        document = self.read("gone/bread")
        self.assertFalse(document["ok"])
        self.assertIn("With {archived}", document["details"]["hint"])
        self.assertEqual(self.asked(), [])

    def test_queries_of_urls_are_not_sent_to_the_archive(self) -> None:
        page = self.page("gone/bread?session=topsecret", archived=True)
        self.assertEqual(page["archived"], DAY)
        paths = [request for request in self.server.requests if request.path in self.asked()]
        self.assertTrue(paths)
        self.assertNotIn("topsecret", " ".join(request.target for request in paths))

    def test_private_addresses_are_not_sent_to_the_archive(self) -> None:
        self.set_environment(WAYBACK_BASE_URL="")
        with mock.patch.object(archive, "newest_copy") as asked:
            self.assertEqual(self.kind("gone/bread", archived=True), "http")
            for name in ("wiki.corp", "intranet", "10.0.0.1"):
                answer = fetch.UnknownNameError("network", "gone", "hint")
                archive.newest_copy_of(answer, f"http://{name}/", 9e9)
        asked.assert_not_called()


class Names(ArchiveCase):
    def resolved(self, code: int, **params: Any) -> dict[str, Any]:
        """Return the document of a page whose host name does not resolve."""
        real = socket.getaddrinfo

        def resolve(host: str, *arguments: Any, **options: Any) -> Any:
            if host == "gone.example.com":
                raise socket.gaierror(code, "no")
            return real(host, *arguments, **options)

        found = mock.patch.object(archive, "newest_copy", return_value="20240131120000")
        with mock.patch("socket.getaddrinfo", resolve), found:
            document: dict[str, Any] = self.read("http://gone.example.com/old", **params)
        return document

    def test_a_name_that_does_not_exist_is_gone(self) -> None:
        for params in ({}, {"robots": True}):
            details = self.resolved(socket.EAI_NONAME, **params)["details"]
            self.assertEqual(details["kind"], "network")
            self.assertIn("With {archived}", details["hint"])

    def test_a_name_that_cannot_be_resolved_now_is_not_gone(self) -> None:
        details = self.resolved(socket.EAI_AGAIN)["details"]
        self.assertNotIn("archived", details["hint"])


class Pace(ArchiveCase):
    def test_the_archive_is_asked_at_80_percent_of_its_limit(self) -> None:
        self.set_environment(GLSI_RATE_LIMIT="", WAYBACK_BASE_URL="")
        interval, burst = load_script("websearch.engines.base.pacing").pace_of("wayback")
        self.assertLessEqual(60 / interval + burst, 30 * 0.81)


class Searches(SmallWebCase):
    def test_search_reads_the_copy_and_marks_the_result(self) -> None:
        params = {"query": "pagefault:gone:1 python asyncio", "engine": "duckduckgo", "count": 3}
        for from_store in (False, True):
            document = search.run_search(params)
            self.assertTrue(document["ok"], document)
            first = document["results"][0]
            with self.subTest(from_store=from_store):
                self.assertEqual(first["archived"], DAY)
                self.assertIn("/web/20240131120000/", first["archived_url"])
                self.assertTrue(first["text"])
                self.assertNotIn("archived", document["results"][1])
        self.assertIn(f"archived {DAY}", show_markdown.search_markdown(document))

    def test_a_stored_copy_stays_marked_as_a_copy(self) -> None:
        params = {"query": "pagefault:gone:1 python asyncio", "engine": "duckduckgo"}
        search.run_search({**params, "count": 2})
        document = search.run_search({**params, "count": 3})
        self.assertEqual(document["results"][0]["archived"], DAY)

    def test_brief_marks_its_source(self) -> None:
        document = brief.run_brief(
            {
                "queries": [
                    f"pagefault:gone:all {words}" for words in ("python asyncio", "sourdough")
                ],
                "engine": ["duckduckgo"],
                "count": 3,
            }
        )
        self.assertTrue(document["ok"], document)
        for source in document["sources"]:
            self.assertEqual(source["archived"], DAY, source)
        self.assertIn(f"archived {DAY}", show_markdown.brief_markdown(document))


if __name__ == "__main__":
    unittest.main()
