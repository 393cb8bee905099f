"""The search APIs for agents: keys, every filter and refusal of the table, the owner's order.

Requests and documents: test_keyless_wire.py.

Where ENGINE_SAMPLES names folders with recorded answers, those are also read.
The only module to notice a filter that is neither sent nor refused.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

import web_search as command
from tests.support import (
    CANARY,
    CannedServer,
    EnvironmentCase,
    FakeServerCase,
    Run,
    call_main,
    new_folder,
    samples_folder,
    small_web_environment,
)
from websearch.engines import table as engines
from websearch.engines.base import pacing

KEYS = {
    name: engine.keys[0]
    for name, engine in engines.ENGINES.items()
    if engine.keys and not engine.function
}
KEYLESS = [name for name in KEYS if engines.ENGINES[name].keyless]
KEY = f"good-{CANARY}"
ADVERTISEMENTS = ("sign up", "dashboard", "buy", "bonus", "pay ", "documentation")


class SearchApiCase(FakeServerCase):
    """A fake server with the APIs, and a separate store per test. No key is set."""

    environment_of = staticmethod(lambda url, _: small_web_environment(url))

    def setUp(self) -> None:
        super().setUp()
        self.store = f"{new_folder(self)}/cache.db"
        self.use()

    def use(self, **variables: str) -> None:
        """Start again with these variables in addition to those for the server."""
        self.set_environment(**{"GLSI_DB_PATH": self.store, **variables})
        pacing._LOCAL.clear()

    def search(self, engine: str, query: str, *words: str) -> Run:
        """Query one engine for results, regardless of the store."""
        return call_main(command, query, "--engine", engine, "--no-pages", "--force", *words)

    def sent(self) -> dict[str, Any]:
        """The JSON body, or the query's fields, of the last request received."""
        request = self.server.requests[-1]
        body: dict[str, Any] = request.json() if request.body else dict(request.query_pairs)
        return body

    def use_key(self, engine: str, key: str = KEY) -> None:
        self.use(**{KEYS[engine]: key})


class Answers(SearchApiCase):
    def test_each_engine_sends_its_key_only_in_a_header(self) -> None:
        for engine in KEYS:
            with self.subTest(engine):
                self.use_key(engine)
                run = self.search(engine, "sourdough starter", "-n", "3")
                self.assertEqual(run.code, 0, run.stdout)
                self.assertEqual(run.document["engine"], engine)
                self.assertEqual(run.document["billed"], {engine: 1})
                self.assertEqual(len(run.document["results"]), 3)
                for result in run.document["results"]:
                    self.assertTrue(result["title"] and result["url"].startswith("https://"))
                    self.assertLessEqual(len(result["snippet"]), 400)
                    self.assertRegex(result.get("date", "2026-01-01"), r"^\d{4}-\d\d-\d\d$")
                request = self.server.requests[-1]
                self.assertIn(KEY, " ".join(value for _, value in request.headers))
                self.assertNotIn(KEY, request.target + request.body.decode() + str(run.stdout))

    def test_named_engine_identifies_the_program_without_a_key(self) -> None:
        for engine in KEYLESS:
            with self.subTest(engine):
                run = self.search(engine, "sourdough starter", "-n", "3")
                self.assertEqual(run.code, 0, run.stdout)
                self.assertNotIn("billed", run.document)
                self.assertEqual(len(run.document["results"]), 3)
                headers = " ".join(value for _, value in self.server.requests[-1].headers)
                self.assertIn("web-search-skill", headers)
                self.assertNotIn("Mozilla", headers)

    def test_a_real_zero_is_no_results(self) -> None:
        for engine in KEYS:
            for key in ("", KEY) if engine in KEYLESS else (KEY,):
                with self.subTest(engine, key=bool(key)):
                    self.use_key(engine, key)
                    run = self.search(engine, "sourdough faultempty")
                    self.assertEqual((run.code, run.document["details"]["kind"]), (1, "no_results"))

    def test_text_from_a_provider_replaces_the_page(self) -> None:
        self.use_key("tavily")
        run = call_main(command, "sourdough starter", "--engine", "tavily", "-n", "2", "--force")
        self.assertEqual(run.code, 0, run.stdout)
        self.assertIn("once a day", run.document["results"][0]["text"])
        self.assertEqual({one.path for one in self.server.requests}, {"/tavily/search"})


class Filters(SearchApiCase):
    def test_every_filter_works_or_is_refused_before_a_request(self) -> None:
        values = {
            "since": "hour", "country": "us", "language": "en", "site": "example.com",
            "exclude_site": "example.com", "safe": "strict",
        }  # fmt: skip
        for engine in KEYS:
            for key in ("", KEY) if engine in KEYLESS else (KEY,):
                self.use_key(engine, key)
                filters = engines.ENGINES[engine].filters
                for name, value in values.items():
                    allowed = filters.get(name, ())
                    can = allowed is None or value in allowed
                    with self.subTest(engine, key=bool(key), filter=name):
                        self.server.clear()
                        flag = "--" + name.replace("_", "-")
                        run = self.search(engine, "sourdough", flag, value)
                        sent = len(self.server.requests)
                        self.assertEqual((run.code in (0, 1), sent), (can, int(can)), run.stdout)

    def test_a_dry_run_shows_the_body_and_no_key(self) -> None:
        for engine in KEYS:
            with self.subTest(engine):
                self.use_key(engine)
                run = self.search(engine, "sourdough", "--dry-run")
                self.assertIn("sourdough", json.dumps(run.document["request"]))
                self.assertNotIn(KEY, str(run.stdout))
        self.assertEqual(self.server.requests, [])


class Requests(SearchApiCase):
    def test_a_request_asks_for_no_more_results_than_the_api_allows(self) -> None:
        most = {"tavily": ("max_results", 20), "exa": ("numResults", 50), "kagi": ("limit", 50)}
        for engine, (field, count) in most.items():
            with self.subTest(engine):
                self.use_key(engine)
                self.search(engine, "sourdough", "-n", "50")
                self.assertEqual(self.sent()[field], count)

    def test_each_filter_is_in_the_field_that_the_api_documents(self) -> None:
        days = ("--since", "2016-01-01..2016-03-01")
        rows: tuple[tuple[str, tuple[str, ...], dict[str, Any]], ...] = (
            ("exa", (*days, "--site", "example.com"), {
                "query": "sourdough", "numResults": 5, "includeDomains": ["example.com"],
                "contents": {"highlights": True, "text": {"maxCharacters": 10000}},
                "startPublishedDate": "2016-01-01T00:00:00.000Z",
                "endPublishedDate": "2016-03-01T23:59:59.000Z",
            }),
            ("exa", ("--exclude-site", "a.com", "--country", "uk", "--safe", "moderate"), {
                "query": "sourdough", "numResults": 5, "excludeDomains": ["a.com"],
                "userLocation": "GB", "moderation": True,
                "contents": {"highlights": True, "text": {"maxCharacters": 10000}},
            }),
            ("parallel", ("--site", "example.com", "--country", "us"), {
                "objective": "sourdough", "search_queries": ["sourdough"], "mode": "fast",
                "advanced_settings": {
                    "max_results": 5, "location": "us",
                    "source_policy": {"include_domains": ["example.com"]},
                },
            }),
            ("kagi", (*days, "--country", "us", "--site", "docs.python.org/3"), {
                "query": "sourdough", "limit": 5,
                "filters": {"region": "US", "after": "2016-01-01", "before": "2016-03-01"},
                "lens": {"sites_included": ["docs.python.org"]},
            }),
            ("kagi", ("--exclude-site", "a.com", "--safe", "off"), {
                "query": "sourdough", "limit": 5, "safe_search": False,
                "lens": {"sites_excluded": ["a.com"]},
            }),
        )  # fmt: skip
        for engine, flags, body in rows:
            with self.subTest(engine, flags=flags):
                self.use_key(engine)
                run = self.search(engine, "sourdough", *flags, "--dry-run")
                self.assertEqual(run.document["request"]["body"], body)

    def test_country_that_an_api_does_not_have_is_refused_with_those_it_has(self) -> None:
        self.use_key("you")
        run = self.search("you", "sourdough", "--country", "is")
        self.assertEqual((run.code, len(self.server.requests)), (2, 0))
        self.assertIn("Available countries: ar, at, au", run.document["details"]["hint"])


class OwnEngines(SearchApiCase):
    """Engines in engines.json: each run is a process, because the file is read at its start."""

    ROW: ClassVar[dict[str, Any]] = {
        "title": "Acme Search",
        "key": "ACME_API_KEY",
        "headers": {"X-API-Key": "{key}", "Authorization": "Bearer {key}"},
        "send": {"query": "{query}", "limit": "{count}", "lens": {"sites_included": "{site}"}},
        "results": "data.search",
        "fields": {"snippet": ["summary", "snippet"], "date": "time"},
    }

    def run_with(self, rows: Any, *words: str, script: str = "web_search.py") -> Run:
        """Run a script with these rows in engines.json, as JSON unless they are text."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        text = rows if isinstance(rows, str) else json.dumps(rows)
        Path(folder, "engines.json").write_text(text, encoding="utf-8")
        return self.run_script(
            script,
            *words,
            **small_web_environment(self.server.url),
            WEB_SEARCH_SECRETS=f"{folder}/secrets.yaml",
            GLSI_DB_PATH=":memory:",
            ACME_API_KEY=KEY,
        )

    def row(self, **changes: Any) -> dict[str, Any]:
        """A good row, served by the double of Kagi, with some fields changed; None: without."""
        row = {"url": f"{self.server.url}/kagi/api/v1/search", **self.ROW, **changes}
        return {"acme": {name: value for name, value in row.items() if value is not None}}

    def test_row_of_ones_own_is_an_engine(self) -> None:
        words = ("sourdough", "--engine", "acme", "--no-pages", "-n", "3", "--site", "example.com")
        run = self.run_with(self.row(), *words)
        self.assertEqual(run.code, 0, run.stdout)
        self.assertEqual((run.document["engine"], run.document["billed"]), ("acme", {"acme": 1}))
        self.assertTrue(all("example.com" in one["url"] for one in run.document["results"]))
        self.assertEqual(
            self.sent(),
            {"query": "sourdough", "limit": 3, "lens": {"sites_included": ["example.com"]}},
        )
        shown = self.run_with(self.row(), *words, "--dry-run").stdout
        self.assertNotIn(KEY, str(shown))

    def test_own_engine_is_in_auto_doctor_and_mcp(self) -> None:
        run = self.run_with(self.row(auto=True), "sourdough", "--no-pages")
        self.assertEqual(run.document.get("engine"), "acme", run.stdout)
        report = str(self.run_with(self.row(), script="doctor.py").stdout)
        self.assertIn("acme key", report)
        tools = str(self.run_with(self.row(), "tools", script="mcp_server.py").stdout)
        self.assertIn("all, acme, brave", tools)

    def test_mistake_names_the_file_and_the_field(self) -> None:
        rows: tuple[tuple[Any, str], ...] = (
            ("{", "engines.json cannot be read"),
            ([], "the file must be an object"),
            ({"brave": {}}, "'brave' is a built-in name"),
            ({"Acme": {}}, "'Acme' cannot name an engine"),
            ({"acme": 1}, "acme must be an object"),
            (self.row(url=None), "acme needs url"),
            (self.row(url="http://api.example.com/x"), "acme.url must use https"),
            (self.row(url="https://api.example.com/x?key=1"), "acme.url must be an address"),
            (self.row(method="PUT"), "acme.method must be GET or POST, not 'PUT'"),
            (self.row(max_count=True), "acme.max_count must be a whole number"),
            (self.row(sned={}), "acme.sned is unknown"),
            (self.row(send={"q": "{qurey}"}), "acme.send.qurey is unknown"),
            (self.row(send={"q": "x"}), "acme.send has no {query}"),
            (self.row(fields={"link": "url"}), "acme.fields.link is unknown"),
            (self.row(headers={"X-Acme": "{key}"}), "acme.headers.X-Acme cannot have {key}"),
            (self.row(key=None), "acme.headers.X-API-Key cannot have {key}"),
            (self.row(key="secret-value"), "acme.key must name a variable"),
        )
        for content, message in rows:
            with self.subTest(message):
                run = self.run_with(content, "sourdough", "--no-pages")
                self.assertEqual(run.code, 2, run.stdout)
                self.assertIn(message, run.document["error"])
        report = str(self.run_with("{", script="doctor.py").stdout)
        self.assertIn("engines.json cannot be read", report)


class Refusals(SearchApiCase):
    def test_the_providers_reason_for_rejecting_a_query_is_told(self) -> None:
        for engine, reason in {
            "tavily": "Invalid topic", "exa": "INVALID_REQUEST_BODY", "parallel": "after_date",
        }.items():  # fmt: skip
            with self.subTest(engine):
                self.use_key(engine)
                run = self.search(engine, "sourdough faultinvalid", "--timeout", "1")
                self.assertIn(reason, run.document["error"])

    def refused(self, engine: str, fault: str, key: str) -> dict[str, Any]:
        """The details of an error; its text is only this program's."""
        self.use(**{KEYS[engine]: key, "GLSI_DB_PATH": ":memory:"})
        run = self.search(engine, f"sourdough fault{fault}", "--timeout", "1")
        self.assertFalse(run.document["ok"], run.stdout)
        for words in ADVERTISEMENTS:
            self.assertNotIn(words, run.document["error"].lower())
        details: dict[str, Any] = run.document["details"]
        return details

    def test_each_refusal_is_of_its_kind_with_a_key(self) -> None:
        kinds = {
            "denied": "auth", "blocked": "auth", "spent": "quota", "invalid": "invalid_input",
            "limit": "rate_limit", "layout": "provider",
        }  # fmt: skip
        for engine in KEYS:
            for fault, kind in kinds.items():
                # Kagi has one status for both limits.
                wanted = "rate_limit" if (engine, fault) == ("kagi", "spent") else kind
                with self.subTest(engine, fault=fault):
                    self.assertEqual(self.refused(engine, fault, KEY)["kind"], wanted)

    def test_each_refusal_is_of_its_kind_without_a_key(self) -> None:
        kinds = {"denied": "auth", "spent": "quota", "layout": "provider"}
        for engine in KEYLESS:
            for fault, kind in kinds.items():
                with self.subTest(engine, fault=fault):
                    self.assertEqual(self.refused(engine, fault, "")["kind"], kind)

    def test_a_refusal_that_looks_like_success_is_none(self) -> None:
        self.assertEqual(self.refused("tavily", "told", "")["kind"], "quota")

    def test_a_limit_that_names_its_wait_is_waited_out(self) -> None:
        for engine, key in (("tavily", KEY), ("keenable", "")):  # each way of asking
            with self.subTest(engine):
                self.use_key(engine, key)
                run = self.search(engine, "sourdough faultbusy", "--timeout", "20")
                self.assertEqual(run.code, 0, run.stdout)
        self.assertEqual(self.refused("you", "toofast", "")["kind"], "rate_limit")


class OwnersOrder(SearchApiCase):
    def asked(self, **variables: str) -> list[str]:
        """The engines that auto queries if each of them fails, in order."""
        self.use(SEARXNG_BASE_URL="", **variables)
        run = call_main(command, "sourdough faultdenied", "--force")
        attempts = run.document.get("attempts") or run.document["details"].get("attempts", [])
        names = [attempt["engine"] for attempt in attempts]
        return names or [run.document["details"]["engine"]]

    def test_variable_sets_the_engines_of_auto_and_their_order(self) -> None:
        self.assertEqual(
            self.asked(WEB_SEARCH_ENGINES="you,tavily,duckduckgo")[:3],
            ["you", "tavily", "duckduckgo"],
        )

    def test_without_it_a_company_is_asked_with_a_key_only(self) -> None:
        self.assertEqual(self.asked(WEB_SEARCH_ENGINES="")[0], "duckduckgo")
        self.assertEqual(self.asked(TAVILY_API_KEY=KEY)[:2], ["tavily", "duckduckgo"])

    def test_a_paid_engine_never_follows_a_free_one(self) -> None:
        asked = self.asked(WEB_SEARCH_ENGINES="you,exa,duckduckgo", EXA_API_KEY=KEY)
        self.assertEqual(asked[:2], ["you", "duckduckgo"])

    def test_an_unknown_name_is_refused_with_those_that_there_are(self) -> None:
        self.use(WEB_SEARCH_ENGINES="exa,bing")
        run = call_main(command, "sourdough")
        self.assertEqual(run.code, 2)
        self.assertRegex(run.document["error"], "WEB_SEARCH_ENGINES must be one of .*'bing'")

    def test_block_suggests_companies_and_says_they_see_the_query(self) -> None:
        run = self.search("duckduckgo", "sourdough faultblocked")
        hint = run.document["details"]["hint"]
        self.assertRegex(hint, "Engines tavily, .*keenable answer without a key; their operators")


class RecordedAnswers(EnvironmentCase):
    def results(self, engine: str, name: str, content_type: str = "application/json") -> Any:
        """The results of an engine without a key for a recorded response."""
        folder = samples_folder(name)
        if folder is None:
            self.skipTest(f"no folder of ENGINE_SAMPLES holds {name}")
        server = CannedServer()
        self.addCleanup(server.close)
        server.headers = {"Content-Type": content_type}
        server.body = (folder / name).read_bytes()
        variable = engines.ENGINES[engine].address[0]
        self.set_environment(
            GLSI_DB_PATH=":memory:", GLSI_RATE_LIMIT="0s", **{variable: server.url}
        )
        words = ("--engine", engine, "--no-pages", "--force", "-n", "20")
        return call_main(command, "anything", *words).document

    def test_real_answers_are_read(self) -> None:
        rows = (
            ("tavily", "tavily_search_2026.json", "application/json", 5, "ai.pydantic.dev"),
            ("tavily", "tavily_mcp_keyless_search_2026.json", "application/json", 3, "zacks.com"),
        )
        for engine, name, content_type, count, host in rows:
            with self.subTest(name):
                document = self.results(engine, name, content_type)
                self.assertEqual(len(document["results"]), count)
                self.assertTrue(any(host in one["url"] for one in document["results"]))

    def test_recorded_notice_of_a_used_up_month_is_an_error(self) -> None:
        document = self.results("tavily", "tavily_mcp_keyless_cap_2026.json")
        self.assertEqual(document["details"]["kind"], "quota")
        self.assertNotIn("x402", json.dumps(document))


if __name__ == "__main__":
    unittest.main()
