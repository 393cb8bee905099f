"""What a caller asked for holds: sites and dates of results, the language of a question.

The only module to notice a result from outside of what was asked for.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
import unittest
from typing import Any
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


class Operators(SmallWebCase):
    """What models write into queries is read once: sites and days are filters."""

    def requests(self, query: str, *words: str) -> dict[str, Any]:
        """engine -> its request, or its error."""
        keys = {f"{name}_API_KEY": f"good-{CANARY}" for name in ("SERPER", "EXA", "TAVILY")}
        words = (query, *words, "--engine", "serper,exa,tavily,duckduckgo,github", "--dry-run")
        run = self.run_script("web_search.py", *words, **keys)
        planned = run.document["request"]["requests"]
        return {one["engine"]: one.get("json") or one.get("body") or one for one in planned}

    def test_site_becomes_the_filter_of_each_engine(self) -> None:
        sent = self.requests("otter food site:rivers.example/a -site:pins.example")
        self.assertEqual(sent["serper"]["q"], "otter food site:rivers.example/a -site:pins.example")
        self.assertEqual(sent["exa"]["query"], "otter food")
        self.assertEqual(sent["exa"]["includeDomains"], ["rivers.example"])
        self.assertEqual(sent["exa"]["excludeDomains"], ["pins.example"])
        self.assertEqual(sent["tavily"]["include_domains"], ["rivers.example"])
        self.assertIn("GitHub cannot filter by exclude_site", sent["github"]["error"])

    def test_engines_without_operators_get_plain_words(self) -> None:
        sent = self.requests("otter filetype:pdf after:2024-05-01 before:2025-02")
        self.assertEqual(sent["serper"]["q"], "otter filetype:pdf")
        self.assertIn("cd_min:5/1/2024,cd_max:2/1/2025", sent["serper"]["tbs"])
        self.assertEqual(sent["exa"]["query"], "otter pdf")
        self.assertEqual(sent["exa"]["startPublishedDate"][:10], "2024-05-01")
        self.assertIn("otter+filetype%3Apdf", sent["duckduckgo"])  # it knows no range of dates

    def test_a_query_that_is_only_a_site_goes_where_that_is_allowed(self) -> None:
        sent = self.requests("site:rivers.example")
        self.assertEqual(sent["serper"]["q"], "site:rivers.example")
        self.assertIn("Exa needs words", sent["exa"]["error"])
        variables = {"EXA_API_KEY": f"good-{CANARY}", "SEARXNG_BASE_URL": ""}
        run = self.run_script("web_search.py", "site:rivers.example", "--dry-run", **variables)
        self.assertEqual(run.document["engine"], "duckduckgo")
        self.assertEqual(run.document["attempts"][0]["engine"], "exa")

    def test_text_that_is_no_operator_stays(self) -> None:
        for query in ("what is site: for", "C++ before:main", "cat OR dog", 'the "river bank"'):
            self.assertEqual(plan.read_operators(query), (query, {}))


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
            "web": {"results": results},
        }
        store = tempfile.TemporaryDirectory()
        self.addCleanup(store.cleanup)
        environment = {
            "SEARXNG_BASE_URL": self.server.url, "SERPER_BASE_URL": self.server.url,
            "SERPER_API_KEY": f"good-{CANARY}", "GLSI_RATE_LIMIT": "0s",
            "BRAVE_SEARCH_BASE_URL": self.server.url, "BRAVE_SEARCH_API_KEY": f"good-{CANARY}",
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
                        re.findall(r"(\d) results? from .* left out", warnings),
                        left_out,
                    )

    def test_a_path_holds_the_results_of_an_engine_that_knows_hosts_alone(self) -> None:
        for flags, kept in ((("--site", "https://other.example/gov.example"), "e"),
                            (("--exclude-site", "other.example/gov.example"), "abcd")):  # fmt: skip
            run = self.search("brave", *flags)
            paths = [result["url"][-1] for result in run.document["results"]]
            self.assertEqual("".join(paths), kept)
            self.assertNotIn("gov.example", self.server.received[0])

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

    def test_a_wrong_country_or_language_is_told_once_before_any_engine(self) -> None:
        for name, value in (("country", "zz1"), ("language", "klingon!")):
            for key in ("", f"good-{CANARY}"):
                words = ("python", f"--{name}", value)
                run = self.run_script("web_search.py", *words, BRAVE_SEARCH_API_KEY=key)
                self.assertEqual(run.code, 2)
                self.assertRegex(
                    run.document["error"], rf"^{name} must be a [^;]*, not '{value}'\.$"
                )


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
