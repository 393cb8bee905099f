"""The open sources: every fault and filter, odd answers, and that their limits are kept.

Requests and documents: test_keyless_wire.py.

Where ENGINE_SAMPLES names folders with recorded answers, those are also read.
The only module to notice requests beyond an open source's limits.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import time
import unittest
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest import mock

import keyless_search as command
from tests.engines.clock import PACING, skipped_waits
from tests.fake_server import stackexchange as fake_stackexchange
from tests.fake_server.server import FakeServer
from tests.support import (
    CANARY,
    CannedServer,
    EnvironmentCase,
    FakeServerCase,
    Run,
    call_main,
    new_folder,
    run_script,
    samples_folder,
    small_web_environment,
)
from tests.tools.faults import EXPECTED
from websearch import kit
from websearch.engines import table as engines
from websearch.engines.base import messages, open_sources, pacing, turns
from websearch.search import engine_calls

SCRIPT = "keyless_search.py"
SOURCES = ("stackexchange", "hackernews", "github", "crossref", "arxiv")
TOKEN = f"ghp-{CANARY}"
DAY = 86_400.0


def status_of(url: str, **headers: str) -> int:
    """The status of the response at a URL."""
    request = urllib.request.Request(url, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


class OpenSourceCase(FakeServerCase):
    """A fake server with the open sources' APIs, and a separate pacing database per test."""

    environment_of = staticmethod(lambda url, _: small_web_environment(url))

    def setUp(self) -> None:
        super().setUp()
        self.use_folder()

    def use_folder(self, **variables: str) -> None:
        """Start with an empty store and pacing database."""
        self.store = f"{new_folder(self)}/cache.db"
        self.set_environment(GLSI_DB_PATH=self.store, **variables)
        pacing._LOCAL.clear()

    def search(self, engine: str, query: str, *words: str) -> Run:
        """Search with one engine in this process."""
        return call_main(command, query, "--engine", engine, *words)

    def results(self, engine: str, query: str, *words: str) -> list[dict[str, Any]]:
        """The results of a search."""
        run = self.search(engine, query, *words)
        self.assertEqual(run.code, 0, run.stdout)
        found: list[dict[str, Any]] = run.document["results"]
        return found

    def fields(self, path: str = "") -> list[dict[str, str]]:
        """The fields of the requests received, for one path or all."""
        return [dict(one.query_pairs) for one in self.server.requests if path in one.path]


class Results(OpenSourceCase):
    def test_each_source_answers_as_a_process_without_a_key(self) -> None:
        hosts = {
            "stackexchange": "stackoverflow.com", "hackernews": "example", "github": "github.com",
            "crossref": "doi.org", "arxiv": "arxiv.org",
        }  # fmt: skip
        for engine in SOURCES:
            with self.subTest(engine):
                run = self.run_script(
                    SCRIPT, "sourdough bread", "--engine", engine, GLSI_DB_PATH=self.store
                )
                self.assertEqual((run.code, run.stderr), (0, ""), run.stdout)
                for item in run.document["results"]:
                    self.assertIn(hosts[engine], item["url"])
                    self.assertTrue(item["title"] and item["snippet"])
                    self.assertRegex(item["date"], r"^\d{4}(-\d\d){0,2}$")

    def test_empty_search_is_repeated_once_with_fewer_words(self) -> None:
        for engine in ("stackexchange", "hackernews", "arxiv"):
            with self.subTest(engine):
                self.server.clear()
                self.search(engine, "sourdough bread fermentation kettle wrench microbial")
                sent = [one.get("q") or one.get("query") or one["search_query"]
                        for one in self.fields()]  # fmt: skip
                self.assertEqual(len(sent), 2)
                words = sent[1].replace("all:", "").replace(" AND", "").split()
                self.assertEqual(words, ["sourdough", "fermentation", "microbial"])

    def test_words_that_say_something_are_kept_and_quotes_stay(self) -> None:
        for query, words in (
            ("what is the best way to parse JSON in C++", "parse JSON C++"),
            ('"borrowed value does not live long enough" how to', None),
            ("why does useEffect run twice in React 18.2", "useEffect run twice React 18.2"),
            ("the and of", "the and of"),
            ("is:pr label:bug why does the crash happen", "is:pr label:bug crash happen"),
        ):  # fmt: skip
            with self.subTest(query):
                found = open_sources.key_words(query, 7)
                self.assertEqual(found, words or query)

    def test_query_of_any_length_is_cut_to_key_words_or_refused(self) -> None:
        for query in ("a" * 32_000, "a_" * 16_000, "a." * 16_000, "é" * 32_000, "A " * 16_000):
            for engine in SOURCES:
                with contextlib.suppress(kit.SearchError):
                    engines.load_module(engine).first_request({"query": query, "count": 5})

    def test_since_is_a_filter_of_each_source(self) -> None:
        # The only document of the query is some days old: one period holds it, one does not.
        for engine, query, inside, outside in (
            ("stackexchange", "sourdough bread python", "year", "week"),
            ("hackernews", "rust worth learning", "year", "month"),
            ("github", "lifetimes borrow is:issue", "year", "month"),
            ("crossref", "quantum", "2024-01-01..2026-12-31", "month"),
            ("arxiv", "sourdough fermentation", "2024-01-01..2026-12-31", "month"),
        ):
            with self.subTest(engine):
                self.assertEqual(len(self.results(engine, query, "--since", inside)), 1)
                run = self.search(engine, query, "--since", outside)
                self.assertEqual(run.document["details"]["kind"], "no_results")


# (engine, fault) -> kind; "" for an answer. What ends at the deadline has a test of its own.
OUTCOMES = {
    (engine, fault): kind.removeprefix("ok")
    for engine in SOURCES
    for fault, kind in EXPECTED[engine].items()
    if kind != "timeout"
}


class Outcomes(OpenSourceCase):
    def test_results_nothing_and_a_refusal_are_three_things(self) -> None:
        for (engine, fault), kind in OUTCOMES.items():
            with self.subTest(f"{engine} {fault}"), skipped_waits(*PACING):
                self.use_folder()
                document = self.search(engine, f"fault{fault} sourdough bread").document
                self.assertEqual("" if document["ok"] else document["details"]["kind"], kind)

    def test_throttle_is_reported_and_observed_by_every_process(self) -> None:
        for engine, fault, seconds in (
            ("stackexchange", "throttled", 82_235),
            ("stackexchange", "violation", 60),
            ("github", "spent", 40),
            ("github", "secondary", 60),
            ("crossref", "limit", 5),
        ):
            with self.subTest(f"{engine} {fault}"):
                self.use_folder(GITHUB_TOKEN="")
                run = self.search(engine, f"fault{fault} sourdough bread", "--timeout", "2")
                self.assertAlmostEqual(run.document["details"]["retry_after"], seconds, delta=1.5)
                sent = len(self.server.requests)
                environment = {**self.environment, "GLSI_DB_PATH": self.store}
                words = ("sourdough bread", "--engine", engine, "--timeout", "2")
                later = run_script(SCRIPT, *words, env=environment)
                self.assertEqual(later.document["details"]["kind"], "rate_limit")
                self.assertIn("accepts the next request in", later.document["error"])
                self.assertEqual(len(self.server.requests), sent)

    def test_backoff_in_a_good_answer_is_a_pause(self) -> None:
        with FakeServer(limits=True) as server:  # it remembers that it wants no request
            self.use_folder(STACKEXCHANGE_BASE_URL=server.url)
            self.results("stackexchange", "faultbackoff sourdough bread")
            run = self.search("stackexchange", "sourdough bread", "--timeout", "3")
            self.assertEqual(run.document["details"]["kind"], "rate_limit")
            seconds = fake_stackexchange.BACKOFF
            self.assertAlmostEqual(run.document["details"]["retry_after"], seconds, delta=2)
            self.assertEqual(len(server.requests), 1)

    def test_used_up_quota_in_a_good_answer_pauses_until_renewal(self) -> None:
        self.results("stackexchange", "faultspent sourdough bread")
        run = self.search("stackexchange", "sourdough bread", "--timeout", "3")
        self.assertEqual(run.document["details"]["kind"], "rate_limit")
        self.assertEqual(len(self.fields()), 1)
        state = pacing.present_state("stackexchange")
        self.assertEqual(state.remaining, 0)
        self.assertAlmostEqual(state.renewal - state.now, DAY, delta=5)

    def test_refusal_without_a_time_pauses_the_source(self) -> None:
        for engine, fault, signal in (
            ("hackernews", "limit", "HTTP 429"),
            ("github", "abuse", "secondary rate limit"),
            ("arxiv", "exceeded", "Rate exceeded"),
        ):
            with self.subTest(engine):
                self.use_folder()
                details = self.search(engine, f"fault{fault} sourdough").document["details"]
                self.assertIn(signal, details["signal"])
                self.assertEqual(details["retry_after"], 600)
                self.assertNotIn(engine, re.findall(r"\w+", details["hint"]))
                again = self.search(engine, "sourdough bread").document["details"]
                self.assertTrue(again["resting"])

    def test_rejected_query_shows_the_sources_own_words(self) -> None:
        for engine, query, words in (
            ("stackexchange", "sourdough", "No site found for name `cooking`"),
            ("github", "sourdough repo:nobody/nothing", "do not exist or you do not have perm"),
        ):
            with self.subTest(engine):
                site = ("--site", "cooking") if engine == "stackexchange" else ()
                run = self.search(engine, query, *site)
                self.assertEqual(run.document["details"]["kind"], "invalid_input")
                self.assertIn(words, run.document["error"])

    def test_fakes_refuse_the_same_requests_as_the_apis(self) -> None:
        table = (
            ("/search/issues?q=sourdough", {"User-Agent": "x (a@b.org)"}, 422),
            ("/search/issues?q=sourdough+is:issue", {"User-Agent": ""}, 403),
            ("/2.3/search/advanced?q=sourdough&site=nosite", {}, 400),
            ("/2.3/search/advanced?q=sourdough", {}, 400),
            ("/api/query?search_query=a+b", {}, 400),
            ("/works?query=a&nothing=1", {}, 400),
        )
        for path, headers, status in table:
            with self.subTest(path):
                self.assertEqual(status_of(self.server.url + path, **headers), status)


class Callers(OpenSourceCase):
    def test_every_source_gets_tool_and_contact_not_a_browser(self) -> None:
        for contact in ("", "ada@example.org"):
            self.use_folder(WEB_SEARCH_CONTACT=contact)
            self.server.clear()
            for engine in SOURCES:
                self.search(engine, "sourdough bread")
            for request in self.server.requests:
                agent = request.header("user-agent") or ""
                self.assertRegex(agent, r"^web-search-skill/\d+\.\d+\.\d+( |$)")
                self.assertNotIn("Mozilla", agent)
                self.assertIn(contact, agent)

    def test_github_works_without_a_token_and_alone_gets_it(self) -> None:
        self.use_folder(GITHUB_TOKEN=TOKEN)
        for engine in SOURCES:
            self.assertTrue(self.search(engine, "sourdough bread").document["ok"])
        for request in self.server.requests:
            expected = f"Bearer {TOKEN}" if request.path.startswith("/search/") else None
            self.assertEqual(request.header("authorization"), expected)
            if expected:
                self.assertIn("is:public", dict(request.query_pairs)["q"])
        self.use_folder()
        self.server.clear()
        self.assertTrue(self.search("github", "sourdough bread").document["ok"])
        self.assertIsNone(self.server.requests[0].header("authorization"))

    def test_a_token_is_in_no_output_log_or_store(self) -> None:
        folder = new_folder(self)
        log = folder / "log.jsonl"
        bad = f"bad-{TOKEN}"
        environment = {**self.environment, "GLSI_DB_PATH": f"{folder}/cache.db"}
        environment |= {"WEB_SEARCH_LOG": str(log)}
        words = ("sourdough bread", "--engine", "github", "--verbose")
        shown = ""
        for token in (TOKEN, bad):
            for more in ((), ("--dry-run",)):
                run = run_script(SCRIPT, *words, *more, env={**environment, "GITHUB_TOKEN": token})
                shown += run.stdout.decode() + run.stderr
        self.assertEqual(
            run_script(SCRIPT, *words, env={**environment, "GITHUB_TOKEN": bad}).code, 3
        )
        self.assertIn("GITHUB_TOKEN", shown)  # the hint names the variable
        for path in folder.iterdir():
            shown += path.read_bytes().decode("latin-1")
        self.assertNotIn(CANARY, shown)

    def test_a_token_that_an_answer_repeats_is_hidden(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        for status in (200, 401, 403, 422):
            server.status, server.body = status, {"message": f"Bad: {TOKEN}", "errors": [
                {"message": f"Bad {TOKEN}"}]}  # fmt: skip
            self.use_folder(GITHUB_BASE_URL=server.url, GITHUB_TOKEN=TOKEN)
            run = self.search("github", "sourdough bread")
            self.assertFalse(run.document["ok"])
            self.assertNotIn(CANARY, run.stdout.decode() + run.stderr)

    def test_a_refusal_with_errors_of_a_broken_shape_still_says_why(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        self.use_folder(GITHUB_BASE_URL=server.url)
        server.status = 422
        for errors in (5, "no", {"message": "x"}, [5, None, {"message": 5}]):
            server.body = {"message": "Validation Failed", "errors": errors}
            document = self.search("github", "sourdough bread").document
            with self.subTest(errors):
                self.assertEqual(document["details"]["kind"], "invalid_input")
                self.assertIn("Validation Failed", document["error"])

    def test_ctrl_c_while_it_waits_leaves_a_serial_source_to_others(self) -> None:
        self.use_folder(GLSI_RATE_LIMIT="100ms")  # arXiv's own interval holds, 3.1 s
        first = turns.PacedEngine("arxiv", time.monotonic() + 30, [])
        first.take_turn()
        self.assertGreater(pacing.present_state("arxiv").busy_until, time.time())
        first.end_turn()
        second = turns.PacedEngine("arxiv", time.monotonic() + 30, [])
        with (
            mock.patch.object(turns.time, "sleep", side_effect=KeyboardInterrupt),
            self.assertRaises(KeyboardInterrupt),
        ):
            second.take_turn()
        self.assertEqual(pacing.present_state("arxiv").busy_until, 0.0)

    def test_contact_counts_only_in_the_environment(self) -> None:
        secrets = new_folder(self) / "secrets.yaml"
        secrets.write_text("WEB_SEARCH_CONTACT: ada@example.org\n", encoding="utf-8")
        secrets.chmod(0o600)
        self.use_folder(GLSI_RATE_LIMIT="100ms", WEB_SEARCH_SECRETS=str(secrets))
        self.assertEqual(pacing.pace_of("wikipedia"), (7.5, 2))
        self.use_folder(GLSI_RATE_LIMIT="100ms", WEB_SEARCH_CONTACT="ada@example.org")
        self.assertEqual(pacing.pace_of("wikipedia"), (0.4, 2))

    def test_a_token_of_the_secrets_file_raises_the_pace_too(self) -> None:
        secrets = new_folder(self) / "secrets.yaml"
        secrets.write_text(f"GITHUB_TOKEN: {TOKEN}\n", encoding="utf-8")
        secrets.chmod(0o600)
        self.use_folder(GLSI_RATE_LIMIT="1s")
        self.assertEqual(pacing.pace_of("github"), (7.5, 2))
        self.use_folder(GLSI_RATE_LIMIT="1s", WEB_SEARCH_SECRETS=str(secrets))
        self.assertEqual(pacing.pace_of("github"), (2.2, 2))


class Limits(EnvironmentCase):
    """No source is queried faster than its own rules allow, by the clock of a counting server."""

    def test_fakes_refuse_requests_faster_than_their_limit(self) -> None:
        with FakeServer(limits=True) as server:
            for path, most in (
                ("/api/query?search_query=all:bread", 1),
                ("/works?query=a&rows=1", 5),
            ):
                with self.subTest(path):
                    statuses = [status_of(server.url + path) for _ in range(most + 1)]
                    self.assertEqual(statuses, [200] * most + [429])

    def test_processes_at_once_keep_each_sources_limit(self) -> None:
        with FakeServer(limits=True) as server:
            environment = {**small_web_environment(server.url), "GLSI_RATE_LIMIT": "200ms"}
            environment["GLSI_DB_PATH"] = f"{new_folder(self)}/cache.db"

            def ask(words: tuple[str, str]) -> Run:
                query, engine = words
                more = ("--engine", engine, "--timeout", "60")
                return run_script(SCRIPT, query, *more, env=environment)

            asked = [("sourdough bread", "arxiv"), ("quantum error", "arxiv")]
            asked += [(query, "crossref") for query in ("sleep", "bread", "quantum")]
            with ThreadPoolExecutor(5) as pool:
                runs = list(pool.map(ask, asked))
            self.assertEqual(
                [run.code for run in runs],
                [0] * 5,
                [run.document["error"] for run in runs if run.code],
            )
            times = sorted(one.time for one in server.requests if one.path == "/api/query")
            self.assertEqual(len(times), 2)
            self.assertGreaterEqual(times[1] - times[0], 3.0)
            times = sorted(one.time for one in server.requests if one.path == "/works")
            gaps = [after - before for before, after in itertools.pairwise(times)]
            self.assertGreaterEqual(min(gaps), 0.15)

    def test_github_gets_ten_requests_per_minute_then_waits_for_reset(self) -> None:
        # The rules alone, on a clock of their own: sixty seconds hold ten requests, not eleven.
        state, times = pacing.EngineState(now=1_000.0), []
        self.set_environment(GITHUB_TOKEN="")
        pace = pacing.pace_of("github")
        while state.now < 1_300:
            state.now += state.reserve("github", pace, 1_000.0, False)
            times.append(state.now)
        for start in times:
            self.assertLessEqual(sum(start <= one < start + 60 for one in times), 10)


# ----- answers that the real APIs gave, where they are at hand

SAMPLES = samples_folder("arxiv_query_2026.xml")
if SAMPLES:

    class RecordedAnswers(unittest.TestCase):
        def read(self, engine: str, name: str, status: int = 200) -> list[dict[str, Any]]:
            """The results of a recorded answer."""
            path = "/search/issues" if engine == "github" else "/w/api.php"
            request = messages.EngineRequest(f"https://en.wikipedia.org{path}", {})
            body = (SAMPLES / name).read_bytes()
            headers = {}
            if body.startswith(b"HTTP "):
                head, _, body = body.partition(b"\n\n")
                lines = head.decode().splitlines()
                status = int(lines[0].split()[1])
                headers = dict(line.split(": ", 1) for line in lines[1:])
            answer = kit.Response(status, headers, body)
            page = engines.load_module(engine).read_answer(request, answer)
            return list(engine_calls.merged_results([page]))

        def refused(self, engine: str, name: str, status: int) -> Any:
            """The error for a recorded answer."""
            with self.assertRaises(kit.SearchError) as caught:
                self.read(engine, name, status)
            return caught.exception

        def test_stack_exchange(self) -> None:
            items = self.read("stackexchange", "stackexchange_search_advanced_2026_5of10.json")
            self.assertEqual(len(items), 5)
            self.assertEqual(items[0]["author"], "Masood Ahmad")
            self.assertEqual({item["license"] for item in items}, {"CC BY-SA 4.0"})
            self.assertEqual(items[0]["date"], "2025-05-31")
            self.assertEqual(
                items[0]["snippet"], "claude, model-context-protocol · score 2 · 1 answer"
            )
            self.assertFalse(any("&#" in item["title"] for item in items))

        def test_hacker_news(self) -> None:
            items = self.read("hackernews", "hn_search_2026.json")
            self.assertEqual(len(items), 6)
            for item in items:
                self.assertRegex(item["date"], r"^20\d\d-\d\d-\d\d$")
                self.assertNotRegex(item["snippet"], r"</?(p|a|em)\b|&#x")
                self.assertIn("point", item["snippet"])

        def test_github(self) -> None:
            items = self.read("github", "github_search_issues_first6.json")
            self.assertEqual(len(items), 6)
            for item in items:
                self.assertRegex(item["url"], r"^https://github\.com/.+/(issues|pull)/\d+$")
                self.assertRegex(item["snippet"], r"^(open|closed) (issue|pull request) · \d+ com")
            error = self.refused("github", "github_ratelimit_403.txt", 403)
            self.assertEqual(error.kind, "blocked")
            self.assertIn("API Rate Limit Exceeded", error.details["signal"])

        def test_crossref(self) -> None:
            items = self.read("crossref", "crossref_works_query_2026.json")
            self.assertEqual(len(items), 2)
            for item in items:
                self.assertTrue(item["url"].startswith("https://doi.org/"))
                self.assertNotIn("<", item["title"] + item["snippet"])

        def test_arxiv(self) -> None:
            items = self.read("arxiv", "arxiv_query_2026.xml")
            self.assertEqual(len(items), 10)
            self.assertEqual(items[0]["url"], "https://arxiv.org/abs/2202.12139")
            self.assertTrue(all(item["author"] and item["date"] for item in items))
            self.assertTrue(items[0]["snippet"].startswith("cs.SE · Deep Learning (DL) has"))
            error = self.refused("arxiv", "arxiv_error_400.xml", 400)
            self.assertEqual(error.kind, "invalid_input")
            self.assertIn("incorrect id format for abc", error.message)

        def test_wikipedia(self) -> None:
            items = self.read("wikipedia", "wikipedia_search_2026.json")
            self.assertEqual(len(items), 10)
            address = "https://en.wikipedia.org/wiki/Python_(programming_language)"
            self.assertEqual(items[0]["url"], address)
            self.assertNotIn("<span", items[0]["snippet"])


if __name__ == "__main__":
    unittest.main()
