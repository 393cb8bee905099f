"""The fake server as a small web: results of every engine lead to pages that read_page reads."""

from __future__ import annotations

import re
import subprocess
import sys
import unittest
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.fake_server.corpus import CORPUS, Document, parse_query
from tests.fake_server.engine_pages import ranked
from tests.fake_server.local_links import page_fault, rewritten
from tests.fake_server.open_sources import DOCUMENTS as OPEN_DOCUMENTS
from tests.fake_server.server import FakeServer
from tests.fake_server.small_web import ARTICLES, DOCUMENTS, FAULTS, GONE_FAULTS, OTHER_FAULTS
from tests.support import (
    CANARY,
    ROOT,
    SmallWebCase,
    clean_environment,
    load_script,
    small_web_environment,
)

brave: Any = load_script("brave_search")
keyless: Any = load_script("websearch.engines.keyless")
pacing: Any = load_script("websearch.engines.pacing")
wikipedia: Any = load_script("websearch.engines.wikipedia")
read: Any = load_script("websearch.pages.read")
serper: Any = load_script("serper_search")

KEYLESS = ("duckduckgo", "google", "searxng", "wikipedia")
ENGINES = ("brave", "serper", *KEYLESS)
KEYS = dict.fromkeys(("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY"), f"good-{CANARY}")
FURNITURE = ("partners use cookies", "Newsletter archive", "Most read this week", "All rights")
STARTER = "kitchen.example.com/bread/sourdough-starter-guide"
# What read_page says of each fault; "" where it reads the page.
KINDS = {
    "403": "http", "404": "http", "410": "http", "429": "http", "500": "http", "503": "http",
    **dict.fromkeys(GONE_FAULTS, "http"),
    "wall": "blocked", "captcha": "blocked", "shell": "blocked",
    "empty": "unsupported", "binary": "unsupported", "bomb": "unsupported",
    "scan": "unsupported", "locked": "refused",
    "hang": "timeout", "drip": "timeout",
    "reset": "network", "trunc": "network",
    "redirect": "refused", "loop": "http",
    "busy": "http", "flaky": "http",
    "huge": "", "slow": "", "data": "",
}  # fmt: skip
ENCODED_IN = {"duckduckgo": "uddg=http%3A%2F%2F127.0.0.1", "google": "/url?q=http://127.0.0.1"}


def plain(text: str) -> str:
    """A text without Markdown's backslashes and without what read_page takes out or joins."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\u200b\u202a-\u202e\ufeff\U000e0000-\U000e007f]", "", text)
    text = re.sub(r"\[3[01]m|\[0m", "", text)  # the visible part of an ANSI escape
    return re.sub(r"\s+", " ", text.replace("\\", ""))


class FakeWebCase(SmallWebCase):
    """Searches with every engine, in this process."""

    def setUp(self) -> None:
        super().setUp()
        self.set_environment(**KEYS, GLSI_DB_PATH=self.store)
        pacing._LOCAL.clear()

    def search(self, engine: str, query: str, count: int = 5, **params: Any) -> dict[str, Any]:
        """The document of a search."""
        params = {"query": query, "count": count, **params}
        if engine == "brave":
            document: dict[str, Any] = brave.run_web_search(params)
        elif engine == "serper":
            document = serper.run_search(params)
        else:
            document = keyless.run_search({**params, "engine": engine})
        return document

    def urls(self, engine: str, query: str, count: int = 5, **params: Any) -> list[str]:
        """The addresses that a search finds."""
        document = self.search(engine, query, count, **params)
        self.assertTrue(document["ok"], document)
        module = {"brave": brave, "serper": serper}.get(engine, keyless)
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


class Results(FakeWebCase):
    def test_every_engine_leads_to_pages_that_are_read_into_the_text_of_their_documents(
        self,
    ) -> None:
        documents = ranked("sourdough starter")[0][:3]
        for engine in ENGINES:
            with self.subTest(engine):
                urls = self.urls(engine, "sourdough starter", 3)
                self.assertEqual(urls, [self.local(one, engine) for one in documents])
                for page, document in zip(self.read(*urls), documents, strict=True):
                    self.assert_holds(page, document)

    def test_scripts_as_processes_find_and_read_a_page(self) -> None:
        found = self.run_script("keyless_search.py", "black holes", "--count", "1")
        self.assertEqual(found.code, 0, found.document)
        url = found.document["results"][0]["url"]
        self.assertEqual(url, f"{self.server.url}/web/space.example.org/black-holes")
        read = self.run_script("read_page.py", url)
        self.assertEqual(read.code, 0, read.document)
        self.assert_holds(read.document["pages"][0], DOCUMENTS["space.example.org/black-holes"])

    def test_links_that_engines_wrap_hold_the_encoded_address_of_the_page(self) -> None:
        for engine, start in ENCODED_IN.items():
            with self.subTest(engine):
                self.urls(engine, "sourdough")
                (sent,) = self.server.requests
                data = sent.body or None
                request = urllib.request.Request(
                    self.server.url + sent.target, data, dict(sent.headers), method=sent.method
                )
                request.remove_header("Accept-encoding")
                with urllib.request.urlopen(request) as answer:
                    text = answer.read().decode()
                self.assertIn(start, text)
                self.assertNotRegex(unquote(text), "https://(kitchen|encyclopedia|forum|news)")
                self.server.clear()

    def test_further_pages_of_results_lead_here_too_and_repeat_no_page(self) -> None:
        for engine in KEYLESS:
            documents = ranked("guide", mature=engine == "google")[0][:14]
            with self.subTest(engine):
                urls = self.urls(engine, "guide", 14)
                self.assertEqual(urls, [self.local(one, engine) for one in documents])

    def test_the_scraper_knows_pages_by_the_addresses_that_results_gave(self) -> None:
        (url, *_) = self.urls("serper", "sourdough")
        document = serper.RUN["scrape"]({"url": url})
        self.assertTrue(document["ok"], document)
        self.assertIn("leavened by wild yeast", document["markdown"])

    def test_faultempty_finds_nothing_with_every_engine(self) -> None:
        for engine in ENGINES:
            with self.subTest(engine):
                document = self.search(engine, "sourdough faultempty")
                self.assertFalse(document["ok"])
                self.assertEqual(document["details"]["kind"], "no_results")

    def test_without_the_switch_addresses_stay_as_they_are(self) -> None:
        with FakeServer() as server:
            self.set_environment(
                **KEYS, **small_web_environment(server.url), GLSI_DB_PATH=self.store
            )
            documents = ranked("sourdough")[0]
            for engine in ENGINES:
                with self.subTest(engine):
                    urls = self.urls(engine, "sourdough pagefault:hang")
                    if engine == "wikipedia":
                        wanted = [wikipedia.article_url(server.url, one.title) for one in documents]
                    else:
                        wanted = [one.url for one in documents]
                    self.assertEqual(urls, wanted)


class PageFaults(FakeWebCase):
    def test_a_word_of_the_query_makes_every_second_page_fail_and_keeps_the_order(self) -> None:
        for engine in ENGINES:
            with self.subTest(engine):
                before = self.urls(engine, "sourdough", 4)
                after = self.urls(engine, "sourdough pagefault:404", 4)
                self.assertEqual([url.replace("/fault-404", "") for url in after], before)
                self.assertEqual(
                    ["/fault-404/" in url for url in after], [False, True, False, True]
                )
                pages = self.read(*after)
                self.assertEqual([page["ok"] for page in pages], [True, False, True, False])
                self.assertEqual(pages[1]["details"]["kind"], "http")

    def test_words_choose_single_pages_or_all_of_them(self) -> None:
        for query, faults in (
            ("q pagefault:wall", ["", "wall", "", "wall"]),
            ("pagefault:hang:1 q pagefault:404:3", ["hang", "", "404", ""]),
            ("q pagefault:hang:3 pagefault:500:all", ["500", "500", "hang", "500"]),
            ("q pagefault:hang:0 pagefault: pagefault:wall:x xpagefault:wall", [""] * 4),
        ):
            with self.subTest(query):
                self.assertEqual([page_fault(query, place) for place in range(1, 5)], faults)
        for engine in ENGINES:
            with self.subTest(engine):
                urls = self.urls(engine, "sourdough pagefault:500:1 pagefault:wall:3", 3)
                found = [re.findall(r"/fault-(\w+)/", url) for url in urls]
                self.assertEqual(found, [["500"], [], ["wall"]])

    def test_a_page_keeps_its_fault_on_further_pages_of_results(self) -> None:
        for engine in KEYLESS:
            with self.subTest(engine):
                urls = self.urls(engine, "guide pagefault:404", 14)
                self.assertEqual(["/fault-404/" in url for url in urls], [False, True] * 7)
                bare = [url.replace("/fault-404", "") for url in urls]
                self.assertEqual(len(set(bare)), 14)

    def test_the_words_are_not_searched_for(self) -> None:
        self.assertEqual(
            parse_query("sourdough pagefault:hang:2 bread").terms,
            parse_query("sourdough bread").terms,
        )

    def test_each_fault_is_read_as_the_error_that_it_is(self) -> None:
        self.assertEqual(set(KINDS), {*FAULTS, *OTHER_FAULTS})
        silent = [fault for fault, kind in KINDS.items() if kind == "timeout"]
        for faults, timeout in ((silent, 0.4), (KINDS.keys() - silent, 60.0)):
            urls = {f"{self.server.url}/web/fault-{fault}/{STARTER}": fault for fault in faults}
            for page in self.read(*urls, page_timeout=timeout, timeout=120.0):
                fault = urls[page["url"]]
                with self.subTest(fault):
                    kind = "" if page["ok"] else page["details"]["kind"]
                    self.assertEqual(kind, KINDS[fault], page)
                    if fault.isdecimal():
                        self.assertEqual(page["details"]["status"], int(fault))

    def test_passing_faults_pass_for_each_path_alone(self) -> None:
        for fault, status in (("busy", 429), ("flaky", 503)):
            for path in ("space.example.org/northern-lights", "space.example.org/black-holes"):
                with self.subTest(f"{fault} {path}"):
                    url = f"{self.server.url}/web/fault-{fault}/{path}"
                    answers = [self.status(url) for _ in range(4)]
                    self.assertEqual(answers, [status, status, 200, 200])

    def test_what_is_not_there_is_404_and_an_unknown_fault_is_refused(self) -> None:
        for path, status in (
            (f"web/{STARTER}", 200),
            ("web/kitchen.example.com/bread", 404),
            ("web/", 404),
            ("wiki/Sourdough", 200),
            ("wiki/Sourdoughs", 404),
            ("wiki/fault-404/Sourdough", 404),
            (f"web/fault-hang/x{STARTER}", 404),
            (f"web/fault-nonsense/{STARTER}", 400),
            (f"web/fault-/{STARTER}", 200),
        ):
            with self.subTest(path):
                self.assertEqual(self.status(f"{self.server.url}/{path}"), status)

    def status(self, url: str) -> int:
        """The status with which an address is answered."""
        try:
            with urllib.request.urlopen(url) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code


class Pages(FakeWebCase):
    def test_every_document_is_a_page_whose_text_is_its_own(self) -> None:
        documents = [*CORPUS.documents, *OPEN_DOCUMENTS]
        addresses = {one.host + one.path for one in documents}
        # Papers also have the addresses without a version, which clients make of theirs.
        papers = {re.sub(r"v\d+$", "", one) for one in addresses if one.startswith("arxiv.org/")}
        self.assertEqual(set(DOCUMENTS), addresses | papers)
        self.assertEqual(len(addresses), len(documents))
        self.assertEqual(len(ARTICLES), len(CORPUS.documents))  # Wikipedia has those alone
        addresses = [self.local(one, "brave") for one in documents]
        pages = [
            page for start in (0, 40, 80) for page in self.read(*addresses[start : start + 40])
        ]
        for page, document in zip(pages, documents, strict=True):
            with self.subTest(document.url):
                self.assert_holds(page, document)
                self.assertTrue(300 <= len(page["text"]) <= 6_000, len(page["text"]))
                self.assertEqual(plain(page["title"]), plain(document.title))
                self.assertEqual(page["language"], document.language)
                if len(document.text) > 1:
                    self.assertGreaterEqual(page["text"].count("\n## "), 2)

    def test_articles_are_found_under_the_addresses_that_titles_become(self) -> None:
        documents = [one for one in CORPUS.documents if not one.title.isascii() or "?" in one.title]
        self.assertGreater(len(documents), 10)
        pages = self.read(*[self.local(one, "wikipedia") for one in documents])
        for page, document in zip(pages, documents, strict=True):
            with self.subTest(document.title):
                self.assert_holds(page, document)

    def test_pages_are_html_with_what_surrounds_an_article_and_stay_the_same(self) -> None:
        url = f"{self.server.url}/web/{STARTER}"
        texts = []
        for _ in range(2):
            with urllib.request.urlopen(url) as answer:
                self.assertEqual(answer.headers.get_content_type(), "text/html")
                texts.append(answer.read().decode())
        self.assertEqual(texts[0], texts[1])
        self.assertTrue(texts[0].startswith("<!DOCTYPE html>"))
        for words in (*FURNITURE, "<nav>", "<h1>", "<article>", "<footer", "<script>"):
            self.assertIn(words, texts[0])

    def test_passages_that_answer_a_query_are_chosen_among_others(self) -> None:
        url = f"{self.server.url}/web/{STARTER}"
        (page,) = self.read(url, query="rye flour", max_chars=1_500)
        text = " ".join(passage["text"] for passage in page["passages"])
        self.assertIn("Whole rye flour wakes a tired sourdough culture", text)
        self.assertNotIn("None of this needs talent", text)
        self.assertTrue(page["truncated"])

    def test_only_whole_addresses_of_documents_are_rewritten(self) -> None:
        web = "http://127.0.0.1:9/web/"
        for before, after in (
            ('"https://goldencrumb.example.com/"', f'"{web}goldencrumb.example.com/"'),
            ('"https://goldencrumb.example.com/book"', '"https://goldencrumb.example.com/book"'),
            (f"https://archive.example.org/https://{STARTER}",) * 2,
            (f"q=https://{STARTER}&amp;sa=U", f"q={web}{STARTER}&amp;sa=U"),
            (f"https://{STARTER}.pdf",) * 2,
            (f"http://{STARTER}",) * 2,
        ):
            with self.subTest(before):
                self.assertEqual(rewritten(before, web, lambda _: ""), after)

    def test_results_are_counted_before_what_stands_above_them(self) -> None:
        other = "space.example.org/black-holes"
        text = (
            f'"answerBox":{{"link":"https://{STARTER}"}},"organic":[{{"link":"https://{other}"}},'
        )
        seen: list[str] = []
        rewritten(text, "http://127.0.0.1:9/web/", lambda rest: seen.append(rest) or "")
        self.assertEqual(list(dict.fromkeys(seen)), [other, STARTER])


class Program(unittest.TestCase):
    def test_the_server_is_a_small_web_with_a_flag(self) -> None:
        server = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/fake_server/server.py"), "--local-links"],
            env=clean_environment(),
            stdout=subprocess.PIPE,
            text=True,
        )
        with server:
            try:
                assert server.stdout is not None
                url = server.stdout.readline().strip()
                with urllib.request.urlopen(f"{url}/searxng/search?q=sourdough") as answer:
                    text = answer.read().decode()
            finally:
                server.terminate()
        self.assertIn(f'href="{url}/web/{STARTER}"', text)
        self.assertTrue(urlsplit(url).port)

    def test_every_variable_of_an_address_leads_to_the_server(self) -> None:
        variables = small_web_environment("http://127.0.0.1:8123")
        self.assertEqual(variables["WEB_SEARCH_ALLOW_PRIVATE"], "127.0.0.1:8123")
        scripts = "".join(path.read_text("utf-8") for path in (ROOT / "scripts").rglob("*.py"))
        named = set(re.findall(r"""["']([A-Z]+(?:_[A-Z]+)*_BASE_URL)["']""", scripts))
        self.assertEqual({name for name in variables if name.endswith("_BASE_URL")}, named)


if __name__ == "__main__":
    unittest.main()
