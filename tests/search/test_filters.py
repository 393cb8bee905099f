"""What a caller asked for holds: sites and dates of results, the language of a question.

The only module to notice a result from outside of what was asked for.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
import unittest
from urllib.parse import parse_qs, urlsplit

from tests.support import CANARY, CannedCase, Run, SmallWebCase, run_script
from websearch.base import words
from websearch.search import plan

TODAY = time.strftime("%Y-%m-%d", time.gmtime())
FOUND = {
    "https://gov.example/a": "",
    "https://www.gov.example/b": TODAY,
    "https://data.gov.example/c": "2019-01-01",
    "https://notgov.example/d": "",
    "https://other.example/gov.example/e": "",
}
ENGINES = ("searxng", "serper", "keyless")
# Flags -> the last letters of the addresses that are left, and how many warnings leave out.
KEPT = {
    ("--site", "gov.example"): ("abc", ["2"]),
    ("--site", "www.gov.example,notgov.example"): ("abcd", ["1"]),
    ("--site", "other.example/gov.example"): ("e", ["4"]),
    ("--site", "example"): ("abcde", []),
    ("--exclude-site", "gov.example"): ("de", ["3"]),
    ("--site", "gov.example", "--exclude-site", "data.gov.example"): ("ab", ["3"]),
    ("--since", "week"): ("abde", ["1"]),
}
LANGUAGES = {
    "面包 怎么做": "zh", "パンの作り方": "ja", "빵 만드는 법": "ko", "как испечь хлеб": "ru",
    "كيف تصنع الخبز": "ar", "איך אופים לחם": "he", "πώς φτιάχνω ψωμί": "el", "วิธีทำขนมปัง": "th",
    "रोटी कैसे बनाएं": "hi", "Python asyncio 教程": "zh", "iPhone 15 価格を比較": "ja",
    "brot backen": "", "crème brûlée": "", "what does 你好 mean": "", "µTorrent γδ T": "",
}  # fmt: skip


class Questions(unittest.TestCase):
    def test_are_the_same_in_any_case_but_for_operators(self) -> None:
        for one, other, are_same in (
            ("Cats or dogs", " cats OR dogs", False),
            ("Cats or dogs ", "cats or DOGS", True),
            ("cats NOT dogs", "cats not dogs", False),
            ("ORDER AND law", "order AND LAW", True),
        ):
            self.assertEqual(len(plan.distinct_queries([one, other, "x"])), 3 - are_same)

    def test_a_language_of_any_spelling_leaves_no_configured_engine(self) -> None:
        environment = {"BRAVE_SEARCH_API_KEY": f"good-{CANARY}"}
        for given, sent in (
            ("en_US", "en"), ("zh_TW", "zh-hant"), ("zh-Hant-TW", "zh-hant"), ("pt", "pt-br"),
            ("fr-CA", "fr"), ("pt_PT", "pt-pt"),
        ):  # fmt: skip
            with self.subTest(given):
                run = run_script(
                    "web_search.py", "otter", "--dry-run", "--language", given, env=environment
                )
                self.assertEqual(run.document["engine"], "brave")
                self.assertIn(f"search_lang={sent}&", run.document["request"]["url"] + "&")

    def test_an_engine_that_auto_passes_over_is_named(self) -> None:
        environment = {"BRAVE_SEARCH_API_KEY": f"good-{CANARY}", "SERPER_API_KEY": f"x-{CANARY}"}
        words = ("otter", "--dry-run", "--since", "hour")
        run = run_script("web_search.py", *words, env=environment)
        self.assertEqual(run.document["engine"], "serper")
        self.assertEqual([one["engine"] for one in run.document["attempts"]], ["brave"])


class Filters(CannedCase):
    """Engines do not always obey filters; the document does."""

    def search(self, engine: str, *flags: str) -> Run:
        """Search with an engine that gives the results of FOUND, whatever it is asked for."""
        results = [
            {"url": url, "link": url, "title": url, "date": day} for url, day in FOUND.items()
        ]
        self.server.body = {
            "results": [{**result, "publishedDate": result["date"]} for result in results],
            "organic": results,
        }
        store = tempfile.TemporaryDirectory()
        self.addCleanup(store.cleanup)
        environment = {
            "SEARXNG_BASE_URL": self.server.url, "SERPER_BASE_URL": self.server.url,
            "SERPER_API_KEY": f"good-{CANARY}", "GLSI_RATE_LIMIT": "0s",
            "GLSI_DB_PATH": f"{store.name}/cache.db",
        }  # fmt: skip
        script, *pages = ("web_search.py", "--no-pages")
        if engine == "keyless":
            script, engine, pages = "keyless_search.py", "searxng", []
        return run_script(script, "otter", "--engine", engine, *pages, *flags, env=environment)

    def test_results_outside_sites_or_days_are_omitted_and_counted(self) -> None:
        for flags, (kept, left_out) in KEPT.items():
            for engine in ENGINES if "--since" not in flags else ENGINES[:2]:
                with self.subTest(flags, engine=engine):
                    run = self.search(engine, *flags)
                    self.assertEqual(run.code, 0, run.document)
                    paths = [result["url"][-1] for result in run.document["results"]]
                    self.assertEqual("".join(paths), kept)
                    warnings = " ".join(run.document.get("warnings", []))
                    self.assertEqual(
                        re.findall(r"(\d) results? from .* left out", warnings), left_out
                    )

    def test_nothing_left_is_no_result_and_says_why(self) -> None:
        for engine in ENGINES:
            run = self.search(engine, "--site", "none.example")
            self.assertEqual((run.code, run.document["details"]["kind"]), (1, "no_results"))
            self.assertRegex(run.document["error"], r"^5 results .*: gov\.example, .*, \.\.\.\.")


class RefusedFilter(SmallWebCase):
    def test_what_every_engine_refuses_is_said_once(self) -> None:
        key = f"good-{CANARY}"
        document = self.run_script(
            "web_search.py", "python", "--site", r"docs.python.org\x", BRAVE_SEARCH_API_KEY=key
        ).document
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertRegex(document["error"], r"^site must be a host [^:]*\.$")


class Language(SmallWebCase):
    """A question in a script of its own asks for results of its language."""

    def asked(self, query: str, *flags: str, engine: str = "searxng", **variables: str) -> str:
        """The language that a search asks its engine for."""
        flags = ("--engine", engine, "--dry-run", *flags)
        document = self.run_script("web_search.py", query, *flags, **variables).document
        request = json.dumps(document["request"])
        self.assertTrue(document["ok"], document)
        if engine == "searxng":
            fields = parse_qs(urlsplit(document["request"]["url"]).query)
            return fields.get("language", [""])[0]
        return request

    def test_the_script_alone_tells_it(self) -> None:
        for query, language in LANGUAGES.items():
            with self.subTest(query):
                self.assertEqual(words.script_language(query), language)
        self.assertEqual(self.asked("面包 怎么做"), "zh")
        self.assertEqual(self.asked("brot backen"), "")

    def test_what_the_caller_says_goes_before(self) -> None:
        self.assertEqual(self.asked("面包 怎么做", "--language", "de"), "de")

    def test_duckduckgo_is_asked_in_the_language_with_or_without_a_region(self) -> None:
        self.assertIn("kl=jp-jp", self.asked("パンの作り方", engine="duckduckgo"))
        thai = self.asked("วิธีทำขนมปัง", engine="duckduckgo")
        self.assertIn("kl=wt-wt", thai)
        self.assertIn('"Accept-Language": "th,', thai)

    def test_engines_without_a_key_are_asked_the_same_by_their_own_command(self) -> None:
        run = self.run_script("keyless_search.py", "как испечь хлеб", "--dry-run")
        self.assertIn("kl=ru-ru", run.document["request"]["body"])


if __name__ == "__main__":
    unittest.main()
