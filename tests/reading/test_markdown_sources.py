"""Markdown that sites serve for programs: sources of pages, true and false, and llms.txt.

The only module to notice a wrong source that replaces its page.
"""

from __future__ import annotations

import threading
import unittest
from typing import Any
from unittest import mock

import read_page
from tests.fake_server import docs_sites
from tests.reading.test_read_page import read_for_search
from tests.support import SmallWebCase, call_main, load_script
from websearch.reading import markdown_sources as sources
from websearch.reading import page_reading

TRUE = ("link-element", "link-header", "mintlify", "gitbook")
FALSE = (
    "soft-404", "labelled-html", "not-found", "login", "other-language", "summary", "huge",
    "led-to-private", "paper",
)  # fmt: skip
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
        """The paths requested after the page itself."""
        return [request.path.rpartition("/")[2] for request in self.server.requests][1:]


class Twins(DocsCase):
    def test_source_linked_by_a_page_replaces_it(self) -> None:
        for kind in TRUE:
            with self.subTest(kind):
                page = self.page(kind)
                self.assertEqual(page.get("source"), "markdown")
                self.assertNotIn("final_url", page)
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

    def test_text_that_is_not_the_page_is_omitted_from_its_source(self) -> None:
        text = self.page("mintlify")["text"]
        for absent in ("<Note", "theme=", "donation", "Documentation Index", "import {", "title:"):
            self.assertNotIn(absent, text)
        self.assertIn("**Beware**", text)
        self.assertIn("```py\nclient.get(timeout=3)\n```", text)

    def test_links_of_a_source_are_absolute(self) -> None:
        text = self.page("link-element", "--links")["text"]
        self.assertIn(f"[retries]({self.url('link-element', 'retries')})", text)

    def test_a_slow_source_does_not_cost_the_page(self) -> None:
        with mock.patch.object(page_reading, "TWIN_SECONDS", 0.0):
            self.assertNotIn("source", self.page("link-element"))

    def test_page_still_waiting_for_its_source_is_shown(self) -> None:
        never = threading.Event()
        self.addCleanup(never.set)
        with mock.patch.object(page_reading.PageReading, "read_twin", lambda *_: never.wait()):
            page = self.page("link-element", "--timeout", "1")
        self.assertIn(docs_sites.SENTENCES[-1], page["text"])

    def test_the_owners_rules_apply_to_sources(self) -> None:
        path = self.url("link-element").partition("://")[2]
        self.set_environment(WEB_SEARCH_BLOCK_SITES=f"{path}.md")
        self.assertNotIn("source", self.page("link-element"))
        self.assertEqual(self.asked(), [])

    def test_spans_of_code_are_not_components(self) -> None:
        text = "Use `Option<T>` and `Vec<String>`.\n\n<Tip>Or `Box<T>`.</Tip>\n"
        shown = sources.read_markdown(text, "https://docs.example.com/a", False).text
        self.assertEqual(shown, "Use `Option<T>` and `Vec<String>`.\n\nOr `Box<T>`.")

    def test_links_below_a_long_address_do_not_fill_the_memory(self) -> None:
        text = sources.absolute_links("[a](b)\n" * 100_000, f"https://x.io/{'long' * 2_000}/a")
        self.assertTrue(text.startswith("[a](https://x.io/long"))
        self.assertLess(len(text), 2 * sources.MAX_GROWTH)
        with mock.patch.object(sources, "MAX_GROWTH", 13 * 40):  # each link grows by 13 characters
            text = sources.absolute_links("[a](b)\n" * 100, "https://x.io/a")
        self.assertEqual(text.count("https://"), 40)

    def test_page_section_is_not_mistaken_for_agent_instructions(self) -> None:
        page_class = load_script("websearch.reading.page").Page
        text = "# A\n\n## Agent Instructions\n\nWrite them."
        page = page_class(text=text, fields={"final_url": "https://x.io/a"})
        twin = page_class(text="# A", fields={"source": "markdown", "title": "A"})
        fetched = load_script("websearch.pages.fetch.fetch").fetched_bytes(
            "https://x.io/a.md", b"# A"
        )
        self.assertFalse(sources.is_twin(page, twin, fetched))

    def test_searches_do_not_ask_for_sources(self) -> None:
        (page,) = read_for_search([self.url("link-element")])
        self.assertNotIn("source", page)
        self.assertEqual(self.asked(), [])


class LlmsFiles(DocsCase):
    def test_the_nearest_one_above_an_address_is_read(self) -> None:
        for which, words in (("index", "all settings"), ("full", docs_sites.SENTENCES[-1])):
            document = self.read(self.url("mintlify", "deep/er/guide"), "--llms", which)
            text = document["pages"][0]["text"]
            self.assertIn(words, text)
            self.assertIn(f"[Retries]({self.url('mintlify', 'retries.md')})", text)

    def test_a_query_gives_the_entries_that_answer(self) -> None:
        page = self.read(self.url("mintlify"), "--llms", "index", "--query", "what is tried again")[
            "pages"
        ][0]
        self.assertIn("Retries", "\n".join(one["text"] for one in page["passages"]))

    def test_missing_llms_txt_or_html_is_reported(self) -> None:
        for kind in ("sphinx", "plain"):
            document = self.read(self.url(kind), "--llms", "index")
            self.assertEqual(document["details"]["kind"], "http")
            self.assertIn("has no llms.txt above this URL", document["error"])

    def test_a_page_that_cannot_be_read_is_looked_up_in_it(self) -> None:
        with mock.patch.object(sources, "_DOCUMENTATION", ".*/docs-site/"):
            page = self.page("listed")
            self.assertEqual((page["source"], page["note"]), ("markdown", page_reading.LISTED_NOTE))
            (page,) = read_for_search([self.url("listed")])
            self.assertIn(docs_sites.SENTENCES[0], page["text"])

    def test_an_address_of_a_documentation_is_known(self) -> None:
        for url in ("docs.example.com/x", "x.readthedocs.io/en/", "example.com/a/docs/b"):
            self.assertTrue(sources.is_documentation(f"https://{url}"), url)
        for url in ("example.com/shop", "doctor.example.com/", "example.com/?q=/docs/"):
            self.assertFalse(sources.is_documentation(f"https://{url}"), url)

    def test_a_file_of_a_hundred_thousand_lines_is_searched_in_time(self) -> None:
        words = ("--llms", "index", "--page-timeout", "20")
        page = self.read(f"{self.server.url}/docs-site/large/guide", *words)["pages"][0]
        self.assertTrue(page["truncated"])
        with mock.patch.object(sources, "_DOCUMENTATION", ".*/docs-site/"):
            for name in ("guide", "page"):  # a name that no link has, and that all links have
                self.assertFalse(self.read(f"{self.server.url}/docs-site/large/{name}")["ok"])

    def test_robots_rules_apply_to_the_list(self) -> None:
        with mock.patch.object(sources, "_DOCUMENTATION", ".*/docs-site/"):
            self.read(self.url("listed"), "--robots")
        self.assertIn("/robots.txt", [request.path for request in self.server.requests])
        with self.assertRaises(load_script("websearch.kit").SearchError):
            robots = mock.Mock()
            robots.check.side_effect = load_script("websearch.kit").SearchError("refused", "no")
            shared = load_script("websearch.pages.fetch.fetch").SharedAnswers()
            sources.listed_twin("https://docs.example.com/a", 9e9, robots, shared)

    def test_folders_are_those_of_the_address_however_it_is_written(self) -> None:
        for url in (
            "https://DOCS.bücher.example.:8443/a",
            "https://docs.xn--bcher-kva.example:8443/a",
        ):
            normal = load_script("websearch.pages.fetch.fetch").normal_url(url)
            self.assertEqual(
                sources.llms_addresses(normal, "llms.txt")[-1],
                "https://docs.xn--bcher-kva.example:8443/llms.txt",
            )


if __name__ == "__main__":
    unittest.main()
