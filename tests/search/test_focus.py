"""focus: sources of a kind beside the general engine; and who answers if no engine does.

The only module to notice a focus that asks the wrong engines.
"""

from __future__ import annotations

import json
import unittest
from typing import Any
from urllib.parse import parse_qsl

from tests.fake_server import duckduckgo as fake_duckduckgo
from tests.support import CANARY, CannedServer, SmallWebCase, new_folder
from tests.ways_in.http_support import ServerProcess
from tests.ways_in.mcp_support import Client
from websearch.engines import table as engines
from websearch.engines.base import pacing
from websearch.kit import SearchError
from websearch.search import commands as brief
from websearch.search import commands as search
from websearch.ways_in import mcp_tools as tools

QUESTION = "sourdough bread"
SOURCES = {
    "code": {"stackexchange", "github", "duckduckgo"},
    "papers": {"crossref", "arxiv"},
    "discussions": {"hackernews", "stackexchange", "duckduckgo"},
    "reference": {"wikipedia", "duckduckgo"},
}
KEY = f"good-{CANARY}"
NOBODY = "http://127.0.0.1:9"  # an address where nobody listens


class FocusCase(SmallWebCase):
    """A small web without any key; DuckDuckGo is the general engine."""

    blocker: CannedServer

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.blocker = CannedServer()
        cls.addClassCleanup(cls.blocker.close)
        challenge = fake_duckduckgo.FAULTS["blocked"]()
        cls.blocker.status, cls.blocker.body = challenge.status, challenge.body

    def setUp(self) -> None:
        super().setUp()
        self.use()

    def use(self, **variables: str) -> None:
        """Begin with an empty store and these variables."""
        self.store = f"{new_folder(self)}/cache.db"
        self.variables = {"GLSI_DB_PATH": self.store, "SEARXNG_BASE_URL": "", **variables}
        self.set_environment(**self.variables)
        pacing._LOCAL.clear()

    def block_duckduckgo(self, **variables: str) -> None:
        """Let DuckDuckGo answer every request with its challenge."""
        self.use(DUCKDUCKGO_BASE_URL=self.blocker.url, **variables)

    def search(self, query: str = QUESTION, **params: Any) -> dict[str, Any]:
        """The document of a search that reads no pages unless it is told to."""
        document: dict[str, Any] = search.run_search({"query": query, "no_pages": True, **params})
        return document

    def fields(self, path: str) -> dict[str, str]:
        """The fields of the one request for a path."""
        (sent,) = [one for one in self.server.requests if one.path == path]
        return dict(parse_qsl(sent.body.decode()) if sent.body else sent.query_pairs)


class Sources(FocusCase):
    def test_a_focus_asks_its_sources_and_the_general_engine(self) -> None:
        for focus, expected in SOURCES.items():
            with self.subTest(focus):
                self.use()
                self.server.clear()
                document = self.search(focus=focus, count=10)
                answered = set(document["engines"])
                answered |= {attempt["engine"] for attempt in document.get("attempts", [])}
                self.assertEqual(answered, expected)
                for item in document["results"]:
                    self.assertTrue(item["engines"])
                    self.assertLessEqual(set(item["engines"]), expected)

    def test_without_a_focus_one_engine_answers(self) -> None:
        for params in ({}, {"focus": "general"}):
            document = self.search(**params)
            self.assertEqual(document["engine"], "duckduckgo")
            self.assertNotIn("engines", document)

    def test_results_of_several_sources_are_fused_by_rank(self) -> None:
        document = self.search(focus="reference", no_pages=False)
        first = document["results"][0]
        self.assertEqual(first["engines"], ["duckduckgo", "wikipedia"])
        document = self.search(focus="code", count=6)
        kinds = [tuple(item["engines"]) for item in document["results"][:3]]
        self.assertEqual(sorted(kinds), [("duckduckgo",), ("github",), ("stackexchange",)])

    def test_discussions_ask_the_general_engine_for_forums_unless_sites_are_given(self) -> None:
        self.search(focus="discussions")
        for site in engines.FORUM_SITES:
            self.assertIn(f"site:{site}", self.fields("/html/")["q"])
        self.use()
        self.server.clear()
        self.search(focus="discussions", site=["stackexchange.com"])
        self.assertEqual(self.fields("/html/")["q"], f"{QUESTION} site:stackexchange.com")

    def test_a_focus_asks_only_engines_that_the_caller_allows(self) -> None:
        paid = [name for name, engine in engines.ENGINES.items() if engine.paid]
        self.use(**{engines.ENGINES[name].keys[0]: KEY for name in paid})
        lists = [[name] for name in ("auto", "keyless", "all", *engines.ENGINES)]
        lists += [[name, "duckduckgo"] for name in engines.ENGINES]
        for focus in engines.FOCUSES:
            for names in lists:
                with self.subTest(focus=focus, engine=names):
                    allowed = {"auto": engines.ENGINES, "all": engines.ENGINES}.get(names[0], names)
                    if names == ["keyless"]:
                        allowed = ["keyless", *filter(engines.is_keyless, engines.ENGINES)]
                    try:
                        chosen = engines.chosen_engines(names, focus)
                    except SearchError as error:
                        self.assertEqual(error.kind, "invalid_input")
                        self.assertRegex(error.hint, r"^Set \{engine\} to \w+ or \w+\. ")
                        chosen = []
                    self.assertLessEqual({*chosen}, {*allowed, "auto"})

    def test_by_every_way_in_keyless_and_named_engines_stay_alone(self) -> None:
        self.use(BRAVE_SEARCH_API_KEY=KEY, SERPER_API_KEY=KEY)
        paid = {"/res/v1/web/search", "/res/v1/news/search", "/search", "/news"}
        lines = json.dumps({"query": "python", "engine": "keyless", "focus": "news"})
        for engine in ("keyless", "duckduckgo", "wikipedia,hackernews"):
            for focus in engines.FOCUSES:
                asked = {"focus": focus, "engine": engine}
                self.search("python", **asked)
                brief.run_brief({"queries": ["python", "otter"], **asked})
                tools.call_tool("web_search", {"query": "python", **asked})
                search.run_batch({"queries": ["python", lines], "no_pages": True, **asked})
        self.assertEqual(paid & {sent.path for sent in self.server.requests}, set())
        document = self.search("python", focus="news", engine="keyless")
        self.assertIn("focus news needs brave or serper", document["error"])
        self.assertIn("Set {engine} to brave or serper.", document["details"]["hint"])

    def test_a_focus_pays_no_engine_that_the_owner_left_out(self) -> None:
        keys = {"BRAVE_SEARCH_API_KEY": KEY, "SERPER_API_KEY": KEY}
        for variables, asked in (
            ({"WEB_SEARCH_BUDGET": "brave:25"}, ["/res/v1/news/search"]),
            ({"WEB_SEARCH_ENGINES": "serper,duckduckgo"}, ["/news"]),
            ({"WEB_SEARCH_ENGINES": "duckduckgo"}, []),
        ):
            self.use(**keys, **variables)
            self.server.clear()
            self.search("python", focus="news")
            self.assertEqual([sent.path for sent in self.server.requests], asked)

    def test_news_asks_the_engines_that_find_news_and_sorts_by_date(self) -> None:
        document = self.search("python", focus="news")
        self.assertEqual(document["details"]["kind"], "auth")
        self.assertIn("BRAVE_SEARCH_API_KEY or SERPER_API_KEY", document["details"]["hint"])
        self.assertEqual(self.server.requests, [])
        self.use(BRAVE_SEARCH_API_KEY=KEY, SERPER_API_KEY=KEY)
        document = self.search("python", focus="news")
        asked = {sent.path for sent in self.server.requests}
        self.assertEqual(asked, {"/res/v1/news/search", "/news"})
        dates = [item["date"] for item in document["results"]]
        self.assertEqual(dates, sorted(dates, reverse=True))
        urls = [item["url"] for item in document["results"]]
        self.assertEqual(len(urls), len(set(urls)))
        self.server.clear()
        self.search("python", focus="news", engine=["serper"], force=True)
        self.assertEqual([sent.path for sent in self.server.requests], ["/news"])

    def test_pages_and_news_of_one_engine_are_stored_apart(self) -> None:
        self.use(SERPER_API_KEY=KEY)
        for focus, path in (("news", "/news"), ("general", "/search"), ("news", "")):
            self.server.clear()
            self.search("python", focus=focus, engine=["serper"])
            self.assertEqual([sent.path for sent in self.server.requests], [path] if path else [])

    def test_a_source_that_fails_is_an_attempt_and_costs_no_other(self) -> None:
        self.use(GITHUB_BASE_URL=NOBODY, STACKEXCHANGE_BASE_URL=NOBODY)
        document = self.search(focus="code")
        self.assertTrue(document["ok"], document)
        failed = {one["engine"]: one["kind"] for one in document["attempts"]}
        self.assertEqual(failed, {"github": "network", "stackexchange": "network"})
        self.use()
        pacing.change_state("github", lambda state: state.note_block("HTTP 403", 0), [])
        document = self.search(focus="code")
        (attempt,) = document["attempts"]
        self.assertEqual((attempt["engine"], attempt["kind"]), ("github", "blocked"))

    def test_if_every_source_fails_the_error_names_each(self) -> None:
        self.use(CROSSREF_BASE_URL=NOBODY, ARXIV_BASE_URL=NOBODY)
        document = self.search(focus="papers")
        self.assertEqual(document["details"]["kind"], "network")
        attempts = {one["engine"] for one in document["details"]["attempts"]}
        self.assertEqual(attempts, {"crossref", "arxiv"})
        self.assertRegex(document["error"], "^No engine answered: crossref: .+; arxiv: ")

    def test_results_have_author_and_license_in_json_and_markdown(self) -> None:
        run = self.run_script(
            "web_search.py", QUESTION, "--focus", "code", "--format", "markdown", **self.variables
        )
        self.assertIn("· Ada & Bo · CC BY-SA 4.0 · stackexchange", run.stdout.decode())

    def test_a_dry_run_shows_the_request_to_each_source(self) -> None:
        document = self.search(focus="papers", dry_run=True)
        asked = {one["engine"]: one["url"] for one in document["request"]["requests"]}
        self.assertIn("/works?query=sourdough", asked["crossref"])
        self.assertIn("/api/query?search_query=", asked["arxiv"])
        self.assertEqual(self.server.requests, [])

    def test_an_unknown_focus_is_refused_by_name(self) -> None:
        document = self.search(focus="paper")
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertIn("focus must be one of general, code, papers", document["error"])

    def test_stored_answers_of_each_source_serve_the_next_search(self) -> None:
        first = self.search(focus="papers", no_pages=False)
        self.server.clear()
        again = self.search(focus="papers", no_pages=False)
        self.assertEqual(self.server.requests, [])
        self.assertTrue(again["from_cache"])
        self.assertEqual([one["url"] for one in first["results"]],
                         [one["url"] for one in again["results"]])  # fmt: skip


class WaysIn(FocusCase):
    def test_a_search_as_a_process_reads_the_pages_of_its_sources(self) -> None:
        run = self.run_script("web_search.py", QUESTION, "--focus", "code", **self.variables)
        self.assertEqual((run.code, run.stderr), (0, ""), run.stdout)
        texts = {
            item["url"].partition("/web/")[2]: item["text"] for item in run.document["results"]
        }
        page = "stackoverflow.com/questions/70100102/scale-a-sourdough-bread-recipe-with-fractions"
        self.assertIn("fractions.Fraction", texts[page])

    def test_a_brief_asks_each_question_at_each_source(self) -> None:
        questions = (QUESTION, "python asyncio task")
        words = [word for one in questions for word in ("-q", one)]
        run = self.run_script("web_search.py", "brief", *words, "--focus", "code", **self.variables)
        self.assertEqual(run.code, 0, run.stdout)
        for state in run.document["queries"]:
            self.assertEqual(set(state["engines"]), SOURCES["code"])
        named = {engine for one in run.document["sources"] for engine in one["engines"]}
        self.assertEqual(named, SOURCES["code"])

    def test_over_mcp(self) -> None:
        client = Client({**self.environment, **self.variables})
        self.addCleanup(client.close)
        text = client.text("web_search", query=QUESTION, focus="papers")
        self.assertIn("doi.org/10.5555/bread.2019.0101", text)
        self.assertIn("arxiv.org/abs/2401.00101", text)
        listed = client.request("tools/list")["result"]["tools"]
        (tool,) = [one for one in listed if one["name"] == "web_search"]
        focus = tool["inputSchema"]["properties"]["focus"]
        self.assertEqual(focus["enum"], ["general", *SOURCES])
        self.set_environment(SERPER_API_KEY=KEY)
        choices = tools.tool_parameters("web_search")["focus"]["choices"]
        self.assertEqual(choices, ["general", *SOURCES, "news"])

    def test_over_http(self) -> None:
        server = ServerProcess(**{**self.environment, **self.variables})
        self.addCleanup(server.stop)
        answer = server.fetch("/search?q=sourdough+bread&focus=papers")
        self.assertEqual(answer.status, 200)
        text = json.dumps(answer.document)
        self.assertIn("doi.org/10.5555/bread.2019.0101", text)
        self.assertIn("arxiv.org/abs/2401.00101", text)


class StandIns(FocusCase):
    def test_open_sources_answer_if_duckduckgo_blocks_and_one_sentence_says_so(self) -> None:
        self.block_duckduckgo()
        document = self.search(no_pages=False, count=6, max_chars=0)
        self.assertTrue(document["ok"], document)
        self.assertEqual(document["engines"], ["wikipedia", "stackexchange", "hackernews"])
        self.assertTrue(all(item.get("text") for item in document["results"]))
        (attempt,) = document["attempts"]
        self.assertEqual((attempt["engine"], attempt["kind"]), ("duckduckgo", "blocked"))
        (sentence,) = document["warnings"]
        titles = "Wikipedia, Stack Exchange, Hacker News"
        self.assertEqual(
            sentence, f"No search engine answered: these results are only from {titles}."
        )

    def test_while_it_rests_they_answer_too(self) -> None:
        self.block_duckduckgo()
        self.search()
        document = self.search("python asyncio")
        self.assertTrue(document["ok"], document)
        self.assertIn("is paused for another", document["attempts"][0]["error"])

    def test_a_named_engine_that_blocks_fails_the_call(self) -> None:
        self.block_duckduckgo()
        document = self.search(engine=["duckduckgo"])
        self.assertEqual(document["details"]["kind"], "blocked")

    def test_what_the_web_does_not_hold_is_no_results_without_them(self) -> None:
        document = self.search("zzzqqq")
        self.assertEqual(document["details"]["kind"], "no_results")
        self.assertNotIn("/w/api.php", {one.path for one in self.server.requests})
        several = self.search("zzzqqq", engine=["duckduckgo", "wikipedia"])
        self.assertRegex(several["error"], "^No engine found anything: duckduckgo: .+; wikipedia: ")

    def test_with_a_focus_its_sources_answer_and_the_sentence_names_them(self) -> None:
        self.block_duckduckgo()
        document = self.search(focus="code")
        self.assertEqual(set(document["engines"]), {"stackexchange", "github"})
        (sentence,) = document["warnings"]
        self.assertTrue(sentence.endswith("only from Stack Exchange, GitHub."), sentence)

    def test_if_those_find_nothing_either_the_others_answer(self) -> None:
        self.block_duckduckgo()
        document = self.search("mechanical keyboard switches", focus="code")
        self.assertTrue(document["ok"], document)
        self.assertLessEqual(set(document["engines"]), {"wikipedia", "hackernews"})

    def test_a_brief_gets_them_for_each_question(self) -> None:
        self.block_duckduckgo()
        document = brief.run_brief({"queries": [QUESTION, "python asyncio task"]})
        self.assertTrue(document["ok"], document)
        self.assertTrue(all(state["found"] for state in document["queries"]))
        self.assertEqual(len(document["warnings"]), 1)

    def test_a_brief_names_the_questions_that_only_they_answer(self) -> None:
        self.search(count=10)
        self.set_environment(**{**self.variables, "DUCKDUCKGO_BASE_URL": self.blocker.url})
        document = brief.run_brief({"queries": [QUESTION, "python asyncio task"]})
        self.assertEqual(document["queries"][0]["engine"], "duckduckgo")
        (sentence,) = document["warnings"]
        self.assertRegex(
            sentence, r"^No search engine answered question 2: only Wikipedia\b.* did\.$"
        )

    def test_if_nothing_answers_the_block_stays_the_error_with_every_attempt(self) -> None:
        down = {engines.ENGINES[name].address[0]: NOBODY for name in engines.fallback_engines()}
        self.block_duckduckgo(**down)
        document = self.search()
        self.assertEqual(document["details"]["kind"], "blocked")
        attempts = [one["engine"] for one in document["details"]["attempts"]]
        self.assertEqual(attempts, ["duckduckgo", *engines.fallback_engines()])

    def test_in_a_brief_too_and_each_attempt_is_named_once(self) -> None:
        down = {engines.ENGINES[name].address[0]: NOBODY for name in engines.fallback_engines()}
        self.block_duckduckgo(**down)
        details = brief.run_brief({"queries": [QUESTION, "python asyncio task"]})["details"]
        self.assertEqual(details["kind"], "blocked")
        attempts = [one["engine"] for one in details["attempts"]]
        self.assertEqual(attempts, ["duckduckgo", *engines.fallback_engines()])

    def test_what_was_paid_before_they_answer_is_said(self) -> None:
        silent = CannedServer()
        self.addCleanup(silent.close)
        silent.delay = 5
        self.block_duckduckgo(SERPER_BASE_URL=silent.url, SERPER_API_KEY="test-key-of-serper")
        document = self.search(timeout=3)
        self.assertTrue(document["ok"], document)
        kinds = [(one["engine"], one["kind"]) for one in document["attempts"]]
        self.assertEqual(kinds, [("serper", "timeout"), ("duckduckgo", "blocked")])
        self.assertEqual(document["billed"], {"serper": 1})

    def test_a_kept_answer_is_offered_beside_them(self) -> None:
        self.search()
        self.set_environment(**{**self.variables, "DUCKDUCKGO_BASE_URL": self.blocker.url})
        document = self.search(force=True)
        self.assertTrue(document["ok"], document)
        self.assertTrue(
            any("is stored: use {stale} to get it" in one for one in document["warnings"])
        )
        document, _ = tools.call_tool("web_search", {"query": QUESTION, "force": 1, "stale": True})
        self.assertTrue(document.get("stale"), document)


if __name__ == "__main__":
    unittest.main()
