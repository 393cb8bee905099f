"""Several searches at once with gemini_search.py: order, duplicates, failures, rate limits.

The only module to notice answers assigned to the wrong question.
"""

from __future__ import annotations

import json
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import gemini_search as gemini
from tests.engines.gemini_support import GeminiCase
from tests.fake_server.faults import SLOW_SECONDS, SLOWER_SECONDS
from tests.fake_server.gemini_errors import RETRY_SECONDS
from tests.support import CANARY, SLACK, run_script

SCRIPT = "gemini_search.py"


class Batch(GeminiCase):
    def batch(self, *queries: Any, **params: Any) -> dict[str, Any]:
        """The document of a batch."""
        document: dict[str, Any] = gemini.run_batch({"queries": list(queries), **params})
        return document

    def test_keeps_the_order_of_the_queries(self) -> None:
        queries = ["sourdough", "aurora", "espresso", "python", "chess", "jazz", "kyoto"]
        document = self.batch(*queries)
        self.assertEqual([one["query"] for one in document["results"]], queries)
        self.assertEqual((document["count"], document["succeeded"]), (7, 7))

    def test_asks_a_duplicate_once_and_reports_it_twice(self) -> None:
        document = self.batch("sourdough", "aurora", " sourdough ")
        self.assertEqual(len(self.server.requests), 2)
        first, _, third = document["results"]
        self.assertEqual((third["text"], third["sources"]), (first["text"], first["sources"]))

    def test_one_failure_stops_no_other(self) -> None:
        document = self.batch("sourdough", "", 7, None, {"a": 1}, "aurora")
        self.assertTrue(document["ok"])
        oks = [one["ok"] for one in document["results"]]
        self.assertEqual(oks, [True, False, True, False, False, True])
        self.assertEqual(document["results"][1]["error"], "query cannot be empty")
        self.assertIn("query must be text", document["results"][4]["error"])

    def test_a_query_may_be_a_json_object_with_its_own_parameters(self) -> None:
        document = self.batch('{"query": "sourdough", "max_sources": 1}', '{"query": "x", "b": 1}')
        first, second = document["results"]
        self.assertEqual((first["query"], len(first["sources"])), ("sourdough", 1))
        self.assertIn("no parameter 'b'", second["error"])
        self.assertEqual(len(self.server.requests), 1)

    def test_sends_at_most_four_requests_at_once_by_default(self) -> None:
        self.set_environment(
            GEMINI_API_KEY=f"slow-batch-{CANARY}"
        )  # each answer takes SLOW_SECONDS
        for workers, params in ((4, {}), (2, {"workers": 2})):
            self.server.clear()
            self.batch(*(f"python {number}" for number in range(9)), **params)
            times = sorted(one.time for one in self.server.requests)
            for early, late in zip(times, times[workers:], strict=False):
                self.assertGreater(late - early, SLOW_SECONDS * 0.95)

    def test_rate_limit_delays_the_searches_not_sent_yet(self) -> None:
        self.set_environment(
            GEMINI_API_KEY=f"throttle-batch-{CANARY}"
        )  # refuses its second request
        document = self.batch(*(f"python {number}" for number in range(8)), workers=2)
        self.assertEqual(document["succeeded"], 8)
        times = sorted(one.time - self.server.requests[0].time for one in self.server.requests)
        refused = times[1]
        held = [one for one in times if refused + 0.5 < one < refused + RETRY_SECONDS * 0.95]
        self.assertEqual(held, [])
        self.assertGreaterEqual(len([one for one in times if one > refused + 0.5]), 4)

    def test_gcloud_is_asked_once_for_all(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = self.fake_gcloud(f"echo x >> {folder}/calls; echo good-token-{CANARY}")
            self.set_environment(GOOGLE_CLOUD_PROJECT="p1", PATH=path)
            document = self.batch("sourdough", "aurora", "chess", provider="vertex")
            self.assertEqual(document["succeeded"], 3, document)
            self.assertEqual((Path(folder) / "calls").read_text(), "x\n")
            path = self.fake_gcloud(f"echo y >> {folder}/calls; exit 1")
            self.set_environment(GOOGLE_CLOUD_PROJECT="p1", PATH=path)
            document = self.batch("sourdough", "aurora", "chess", provider="vertex")
            self.assertEqual((document["ok"], document["details"]["kind"]), (False, "auth"))
            self.assertEqual((Path(folder) / "calls").read_text(), "x\ny\n")

    def test_each_search_has_the_timeout_from_its_own_start(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"slower-batch-{CANARY}")
        document = self.batch("python", "aurora", "chess", timeout=SLOWER_SECONDS * 2, workers=1)
        self.assertEqual(document["succeeded"], 3, document)

    def test_a_search_that_hangs_ends_by_its_own_timeout(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"hang-batch-{CANARY}")
        for run in (lambda queries, **params: self.batch(*queries, **params), gemini.search_batch):
            started = time.monotonic()
            document = run(["a1", "a2", "a3", "a4"], timeout=0.4, workers=2)
            self.assertLess(time.monotonic() - started, 2 * 0.4 + SLACK)
            self.assertGreaterEqual(time.monotonic() - started, 2 * 0.4 - 0.01)  # two rounds
            self.assertEqual({one["details"]["kind"] for one in document["results"]}, {"timeout"})
            self.assertIn("timed out after 0.4 s", document["results"][3]["error"])

    def test_reports_its_progress(self) -> None:
        seen: list[tuple[int, int]] = []
        gemini.run_batch(
            {"queries": ["sourdough", "aurora", "sourdough"]},
            report=lambda _text, done, total: seen.append((done, total)),
        )
        self.assertEqual(seen, [(1, 2), (2, 2)])

    def test_emits_each_document_with_the_number_of_its_query(self) -> None:
        emitted: list[tuple[int, str]] = []
        queries = ["sourdough", "aurora", "sourdough", ""]
        document = gemini.run_batch(
            {"queries": queries}, emit=lambda number, one: emitted.append((number, one["query"]))
        )
        self.assertEqual(sorted(emitted), list(enumerate(queries)))
        self.assertEqual(len(document["results"]), 4)

    def test_document_stays_within_its_size_and_reports_cuts(self) -> None:
        queries = ["sourdough starter", "python asyncio", "aurora", "chess openings", "espresso"]
        words = [word for query in queries for word in ("--query", query)]
        document = self.run_script(SCRIPT, "batch", *words).document
        self.assertLess(len(json.dumps(document, ensure_ascii=False)), 10_000)
        self.assertEqual(len(document["results"]), 5)
        whole = self.batch(*queries)
        self.assertEqual(
            [one["text"] for one in document["results"]], [one["text"] for one in whole["results"]]
        )
        self.assertNotIn("truncated", whole)

    def test_short_results_leave_their_room_to_long_ones(self) -> None:
        document = self.batch("sourdough", *(f"nothingness{number}" for number in range(5)))
        self.assertNotIn("truncated", document["results"][0])


class BatchCommand(GeminiCase):
    def test_queries_are_read_from_a_file_or_standard_input_by_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "queries.txt"
            path.write_text("sourdough\n\n  aurora  \r\n", encoding="utf-8")
            for name in (str(path), f"@{path}"):
                run = self.run_script(SCRIPT, "batch", name, "--query", "chess")
                queries = [one["query"] for one in run.document["results"]]
                self.assertEqual(queries, ["chess", "sourdough", "aurora"])
        run = run_script(SCRIPT, "batch", "@-", env=self.environment, stdin="sourdough\naurora")
        queries = [one["query"] for one in run.document["results"]]
        self.assertEqual(queries, ["sourdough", "aurora"])

    def test_a_file_cannot_be_named_by_a_caller_of_the_function(self) -> None:
        document = gemini.run_batch({"input": "@/etc/hostname"})
        self.assertEqual(document["error"], "input is read on the command line only.")
        self.assertEqual(self.server.requests, [])


if __name__ == "__main__":
    unittest.main()
