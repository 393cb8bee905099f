"""Results of every engine lead to pages, and each fault of a page is read as the error it is.

It keeps the double of the web true, on which the tests of searches and pages stand.
"""

from __future__ import annotations

import re
import unittest
from typing import Any

import brave_search as brave
import serper_search as serper
from tests.fake_server.corpus import CORPUS, Document
from tests.fake_server.engine_pages import ranked
from tests.support import CANARY, ROOT, SmallWebCase, small_web_environment
from tests.tools.faults import EXPECTED
from websearch.engines import wikipedia
from websearch.engines.base import pacing
from websearch.reading import read
from websearch.search import keyless

KEYLESS = ("duckduckgo", "google", "searxng", "wikipedia")
ENGINES = ("brave", "serper", *KEYLESS)
KEYS = dict.fromkeys(("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY"), f"good-{CANARY}")
FURNITURE = ("partners use cookies", "Newsletter archive", "Most read this week", "All rights")
STARTER = "kitchen.example.com/bread/sourdough-starter-guide"


def plain(text: str) -> str:
    """A text without Markdown's backslashes and without what read_page takes out or joins."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\u200b\u202a-\u202e\ufeff\U000e0000-\U000e007f]", "", text)
    text = re.sub(r"\[3[01]m|\[0m", "", text)  # the visible part of an ANSI escape
    return re.sub(r"\s+", " ", text.replace("\\", ""))


class SmallWeb(SmallWebCase):
    def setUp(self) -> None:
        super().setUp()
        self.set_environment(**KEYS, GLSI_DB_PATH=self.store)
        pacing._LOCAL.clear()

    def urls(self, engine: str, query: str, count: int = 5) -> list[str]:
        """The addresses that a search finds."""
        params = {"query": query, "count": count}
        if engine == "brave":
            module, document = brave, brave.run_web_search(params)
        elif engine == "serper":
            module, document = serper, serper.run_search(params)
        else:
            module, document = keyless, keyless.run_search({**params, "engine": engine})
        self.assertTrue(document["ok"], document)
        return [result["url"] for result in module.as_results(document)]

    def read(self, *urls: str, **params: Any) -> list[dict[str, Any]]:
        """The pages of these addresses."""
        params = {"urls": list(urls), "max_chars": 0, "page_timeout": 10.0, **params}
        document = read.run_read(params)
        return list(document.get("pages", [document]))

    def local(self, document: Document, engine: str) -> str:
        """The address at which a document is served to an engine's results."""
        if engine == "wikipedia":
            return str(wikipedia.article_url(self.server.url, document.title))
        return f"{self.server.url}/web/{document.host}{document.path}"

    def assert_holds(self, page: dict[str, Any], document: Document) -> None:
        """The text of a page is the document's, and nothing of what surrounds it."""
        self.assertTrue(page["ok"], page)
        for sentence in document.text:
            self.assertIn(plain(sentence), plain(page["text"]))
        for words in FURNITURE:
            self.assertNotIn(words, page["text"])

    def test_every_engine_leads_to_pages_that_are_read_into_the_text_of_their_documents(
        self,
    ) -> None:
        documents = ranked("sourdough starter")[0][:3]
        for engine in ENGINES:
            with self.subTest(engine):
                urls = self.urls(engine, "sourdough starter", 3)
                self.assertEqual(urls, [self.local(document, engine) for document in documents])
                for page, document in zip(self.read(*urls), documents, strict=True):
                    self.assert_holds(page, document)

    def test_further_result_pages_lead_here_too_and_repeat_no_page(self) -> None:
        for engine in KEYLESS:
            documents = ranked("guide", mature=engine == "google")[0][:14]
            with self.subTest(engine):
                urls = self.urls(engine, "guide", 14)
                self.assertEqual(urls, [self.local(document, engine) for document in documents])

    def test_every_document_is_read_into_its_own_text_title_and_language(self) -> None:
        documents = CORPUS.documents
        addresses = [self.local(document, "brave") for document in documents]
        pages = [
            page
            for start in range(0, len(addresses), 40)
            for page in self.read(*addresses[start : start + 40])
        ]
        for page, document in zip(pages, documents, strict=True):
            with self.subTest(document.url):
                self.assert_holds(page, document)
                self.assertEqual(plain(page["title"]), plain(document.title))
                self.assertEqual(page["language"], document.language)
                if len(document.text) > 1:
                    self.assertGreaterEqual(page["text"].count("\n## "), 2)

    def test_each_fault_is_read_as_the_error_that_it_is(self) -> None:
        kinds = EXPECTED["pages"]
        endless = [fault for fault, kind in kinds.items() if kind == "timeout"]
        for faults, timeout in ((endless, 0.4), (kinds.keys() - endless, 60.0)):
            urls = {f"{self.server.url}/web/fault-{fault}/{STARTER}": fault for fault in faults}
            for page in self.read(*urls, page_timeout=timeout, timeout=120.0):
                fault = urls[page["url"]]
                with self.subTest(fault):
                    kind = "ok" if page["ok"] else page["details"]["kind"]
                    self.assertIn(kind, kinds[fault].split(), page)
                    if fault.isdecimal():
                        self.assertEqual(page["details"]["status"], int(fault))

    def test_passages_that_answer_a_query_are_chosen_among_others(self) -> None:
        url = f"{self.server.url}/web/{STARTER}"
        (page,) = self.read(url, query="rye flour", max_chars=1_500)
        text = " ".join(passage["text"] for passage in page["passages"])
        self.assertIn("Whole rye flour wakes a tired sourdough culture", text)
        self.assertNotIn("None of this needs talent", text)
        self.assertTrue(page["truncated"])


class Environment(unittest.TestCase):
    def test_every_variable_of_an_address_leads_to_the_fake_server(self) -> None:
        variables = small_web_environment("http://127.0.0.1:8123")
        self.assertEqual(variables["WEB_SEARCH_ALLOW_PRIVATE"], "127.0.0.1:8123")
        scripts = "".join(path.read_text("utf-8") for path in (ROOT / "scripts").rglob("*.py"))
        names = set(re.findall(r"""["']([A-Z]+(?:_[A-Z]+)*_BASE_URL)["']""", scripts))
        self.assertEqual({name for name in variables if name.endswith("_BASE_URL")}, names)


if __name__ == "__main__":
    unittest.main()
