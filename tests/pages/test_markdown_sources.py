"""Markdown that sites serve for programs: sources of pages, true and false, and llms.txt."""

from __future__ import annotations

import time
import unittest
from typing import Any
from unittest import mock

from tests.fake_server import docs_sites
from tests.support import SmallWebCase, call_main, load_script

read_page = load_script("read_page")
read: Any = load_script("websearch.pages.read")
sources: Any = load_script("websearch.pages.markdown_sources")
TRUE = ("link-element", "link-header", "mintlify", "gitbook")
FALSE = ("soft-404", "labelled-html", "not-found", "login", "other-language", "summary")
NOT_ASKED = ("index", "elsewhere", "plain", "sphinx")


class DocsCase(SmallWebCase):
    def url(self, kind: str, name: str = "guide") -> str:
        return f"{self.server.url}/docs-site/{kind}/{name}"

    def read(self, url: str, *words: str) -> dict[str, Any]:
        """The document of one page of the documentation sites."""
        document: dict[str, Any] = call_main(read_page, url, *words).document
        return document

    def page(self, kind: str, *words: str) -> dict[str, Any]:
        document = self.read(self.url(kind), *words)
        self.assertTrue(document["ok"], document)
        page: dict[str, Any] = document["pages"][0]
        return page

    def asked(self) -> list[str]:
        """The names that were asked for after the page itself."""
        return [request.path.rpartition("/")[2] for request in self.server.requests][1:]


class Twins(DocsCase):
    def test_the_source_that_a_page_names_stands_for_it(self) -> None:
        for kind in TRUE:
            with self.subTest(kind):
                page = self.page(kind)
                self.assertEqual(page.get("source"), "markdown")
                self.assertEqual(page["final_url"], self.url(kind))
                self.assertIn(docs_sites.SENTENCES[-1], page["text"])

    def test_a_false_source_does_not(self) -> None:
        for kind in (*FALSE, *NOT_ASKED):
            with self.subTest(kind):
                page = self.page(kind)
                self.assertNotIn("source", page)
                self.assertIn(docs_sites.SENTENCES[-1], page["text"])

    def test_no_second_request_without_a_sign(self) -> None:
        for kind in NOT_ASKED:
            with self.subTest(kind):
                self.server.clear()
                self.page(kind)
                self.assertEqual(self.asked(), [])

    def test_what_is_not_the_page_is_left_out_of_its_source(self) -> None:
        text = self.page("mintlify")["text"]
        for absent in ("<Note", "theme=", "donation", "Documentation Index", "import {", "title:"):
            self.assertNotIn(absent, text)
        self.assertIn("**Beware**", text)
        self.assertIn("```py\nclient.get(timeout=3)\n```", text)

    def test_links_of_a_source_are_absolute(self) -> None:
        text = self.page("link-element", "--links")["text"]
        self.assertIn(f"[retries]({self.url('link-element', 'retries')})", text)

    def test_a_slow_source_does_not_cost_the_page(self) -> None:
        with mock.patch.object(read, "TWIN_SECONDS", 0.0):
            self.assertNotIn("source", self.page("link-element"))

    def test_searches_do_not_ask_for_sources(self) -> None:
        document = read.run_read({"urls": [self.url("link-element")]}, for_search=True)
        self.assertNotIn("source", document["pages"][0])
        self.assertEqual(self.asked(), [])


class LlmsFiles(DocsCase):
    def test_the_nearest_one_above_an_address_is_read(self) -> None:
        for which, words in (("index", "all settings"), ("full", docs_sites.SENTENCES[-1])):
            document = self.read(self.url("mintlify", "deep/er/guide"), "--llms", which)
            self.assertIn(words, document["pages"][0]["text"])

    def test_a_query_gives_the_entries_that_answer(self) -> None:
        page = self.read(self.url("mintlify"), "--llms", "index", "--query", "what is tried again")[
            "pages"
        ][0]
        self.assertIn("Retries", page["passages"][0]["text"])

    def test_a_missing_one_or_html_is_said(self) -> None:
        for kind in ("sphinx", "plain"):
            document = self.read(self.url(kind), "--llms", "index")
            self.assertEqual(document["details"]["kind"], "http")
            self.assertIn("has no llms.txt above this address", document["error"])

    def test_a_page_that_cannot_be_read_is_looked_up_in_it(self) -> None:
        with mock.patch.object(sources, "_DOCUMENTATION", ".*/docs-site/"):
            page = self.page("listed")
            self.assertEqual((page["source"], page["note"]), ("markdown", read.LISTED_NOTE))
            document = read.run_read({"urls": [self.url("listed")]}, for_search=True)
            self.assertIn(docs_sites.SENTENCES[0], document["pages"][0]["text"])

    def test_an_address_of_a_documentation_is_known(self) -> None:
        for url in ("docs.example.com/x", "x.readthedocs.io/en/", "example.com/a/docs/b"):
            self.assertTrue(sources.is_documentation(f"https://{url}"), url)
        for url in ("example.com/shop", "doctor.example.com/", "example.com/?q=/docs/"):
            self.assertFalse(sources.is_documentation(f"https://{url}"), url)

    def test_a_file_of_a_million_lines_is_searched_in_time(self) -> None:
        begin = time.process_time()
        page = self.read(f"{self.server.url}/docs-site/large/guide", "--llms", "index")["pages"][0]
        self.assertTrue(page["truncated"])
        with mock.patch.object(sources, "_DOCUMENTATION", ".*/docs-site/"):
            self.assertFalse(self.read(f"{self.server.url}/docs-site/large/guide")["ok"])
        self.assertLess(time.process_time() - begin, 30)


if __name__ == "__main__":
    unittest.main()
