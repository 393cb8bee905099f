"""Waits of gemini_search.py, gcloud's tokens, and faults after which another provider is asked.

The only module to notice a provider that is skipped, or called twice, after another failed.
"""

from __future__ import annotations

import time
import unittest
from typing import Any

import gemini_search as gemini
from tests.engines.gemini_support import GeminiCase
from tests.fake_server import gemini_errors as bodies
from tests.fake_server.faults import SLOWER_SECONDS
from tests.support import CANARY, SLACK

QUESTION = {"query": "sourdough"}


class ErrorAnswers(GeminiCase):
    def test_are_read_in_any_wrapping(self) -> None:
        credential = {"provider": "gemini", "name": "GEMINI_API_KEY"}
        for status, body, kind in (
            (429, b'[{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED"}}]', "rate_limit"),
            (429, b'{"error": "text"}', "rate_limit"),
            (429, b'{"error": {"details": "text"}}', "rate_limit"),
            (429, b'{"error": {"details": [null, {"violations": [1]}, 3]}}', "rate_limit"),
            (403, b"<html><body>Forbidden</body></html>", "auth"),
            (404, b"", "provider"),
            (400, b"[]", "invalid_input"),
        ):
            error = gemini.api_error(gemini.Response(status, {}, body), credential, "gemini-x")
            with self.subTest(body):
                self.assertEqual(error.kind, kind)

    def test_a_wait_that_fits_the_deadline_is_waited_out(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"busy-waited-{CANARY}")
        started = time.monotonic()
        document = gemini.run_search({**QUESTION, "timeout": 20})
        self.assertTrue(document["ok"], document)
        self.assertGreaterEqual(time.monotonic() - started, 2 * bodies.RETRY_SECONDS)
        self.assertEqual(len(self.server.requests), 3)

    def test_wait_beyond_the_deadline_is_reported(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"busy-hurried-{CANARY}")
        document = gemini.run_search({**QUESTION, "timeout": 0.6})
        self.assertEqual(document["details"]["kind"], "rate_limit")
        self.assertEqual(document["details"]["retry_after"], bodies.RETRY_SECONDS)
        self.assertTrue(document["details"]["retryable"])

    def test_of_an_overloaded_model_name_another_one_and_another_engine(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"overloaded-{CANARY}")
        for model, other in (
            (gemini.DEFAULT_MODEL, gemini.FREE_MODEL),
            (gemini.FREE_MODEL, "gemini-2.5-flash"),
        ):
            document = gemini.run_search({**QUESTION, "model": model, "timeout": 3})
            hint = document["details"]["hint"]
            self.assertTrue(f" {other}, " in hint and "web_search.py" in hint, hint)

    def test_do_not_send_a_key_back_to_the_model_that_refused_it(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"unpaid-{CANARY}")
        for model, names_it in ((gemini.DEFAULT_MODEL, True), (gemini.FREE_MODEL, False)):
            hint = gemini.run_search({**QUESTION, "model": model})["details"]["hint"]
            self.assertEqual(f"use model {gemini.FREE_MODEL}" in hint, names_it, hint)
            self.assertIn("enable billing", hint)


class Vertex(GeminiCase):
    def test_without_a_token_asks_gcloud_for_one_and_never_logs_in(self) -> None:
        path = self.fake_gcloud(
            '[ "$*" = "auth print-access-token" ] && [ "$CLOUDSDK_CORE_DISABLE_PROMPTS" = 1 ] '
            f"&& echo good-from-gcloud-{CANARY}"
        )
        self.set_environment(GOOGLE_CLOUD_PROJECT="p1", PATH=path)
        document = gemini.run_search({**QUESTION, "provider": "vertex"})
        self.assertTrue(document["ok"], document)
        token = self.server.requests[-1].header("authorization")
        self.assertEqual(token, f"Bearer good-from-gcloud-{CANARY}")

    def test_gcloud_without_an_account_is_an_authentication_error(self) -> None:
        path = self.fake_gcloud("echo 'ERROR: no active account selected.' >&2; exit 1")
        self.set_environment(GOOGLE_CLOUD_PROJECT="p1", PATH=path)
        document = gemini.run_search({**QUESTION, "provider": "vertex"})
        self.assertEqual(document["details"]["kind"], "auth")
        self.assertIn("no active account selected", document["error"])
        self.assertIn("gcloud auth login yourself", document["details"]["hint"])

    def test_gcloud_that_hangs_ends_with_its_children_at_the_deadline(self) -> None:
        path = self.fake_gcloud("sleep 60 & wait")
        self.set_environment(GOOGLE_CLOUD_PROJECT="p1", PATH=path)
        started = time.monotonic()
        document = gemini.run_search({**QUESTION, "provider": "vertex", "timeout": 0.5})
        self.assertLess(time.monotonic() - started, 0.5 + SLACK)
        self.assertEqual(document["details"]["kind"], "timeout")

    def test_gcloud_is_not_started_with_a_key_or_for_a_dry_run(self) -> None:
        path = self.fake_gcloud("echo started; exit 1")
        self.set_environment(
            GOOGLE_CLOUD_PROJECT="p1", PATH=path, VERTEX_API_KEY=f"good-x-{CANARY}"
        )
        self.assertTrue(gemini.run_search({**QUESTION, "provider": "vertex"})["ok"])
        self.set_environment(GOOGLE_CLOUD_PROJECT="p1", PATH=path)
        document = gemini.run_search({**QUESTION, "provider": "vertex", "dry_run": True})
        self.assertIn("/projects/p1/", document["request"]["url"])


class Fallback(GeminiCase):
    def providers(
        self, gemini_key: str, vertex_key: str = "good-v", timeout: float = 4.0
    ) -> dict[str, Any]:
        """The document of a search with keys for two providers that begin with these words."""
        self.server.clear()
        keys = [key and f"{key}-{CANARY}" for key in (gemini_key, vertex_key)]
        self.set_environment(GEMINI_API_KEY=keys[0], VERTEX_API_KEY=keys[1])
        document: dict[str, Any] = gemini.run_search({**QUESTION, "timeout": timeout})
        return document

    def test_falls_back_after_provider_errors_and_lists_attempts(self) -> None:
        for key, kind in (
            ("crowded", "rate_limit"), ("overloaded", "provider"), ("reset", "network"),
        ):  # fmt: skip
            document = self.providers(key)
            with self.subTest(key):
                self.assertEqual((document["ok"], document.get("provider")), (True, "vertex"))
                (attempt,) = document["attempts"]
                self.assertEqual((attempt["provider"], attempt["kind"]), ("gemini", kind))

    def test_a_deadline_too_short_for_two_is_the_firsts(self) -> None:
        document = self.providers("slower", timeout=SLOWER_SECONDS * 1.5)
        self.assertEqual((document["ok"], document.get("provider")), (True, "gemini"))
        self.assertNotIn("attempts", document)

    def test_a_provider_that_hangs_leaves_time_for_the_next(self) -> None:
        document = self.providers("hang", timeout=4.0)
        self.assertEqual((document["ok"], document.get("provider")), (True, "vertex"))
        for left, later, kept in (
            (1.9, 1, 0.0), (4.0, 1, 2.0), (10.0, 1, 5.0), (30.0, 1, 7.5), (60.0, 1, 15.0),
            (30.0, 2, 15.0), (30.0, 0, 0.0),
        ):  # fmt: skip
            self.assertEqual(gemini.seconds_for(later, left), kept, (left, later))

    def test_a_rate_limit_is_not_waited_for_if_another_provider_is_configured(self) -> None:
        limit = bodies.error_reply(429, "RESOURCE_EXHAUSTED", "Slow down.", [{"retryDelay": "60s"}])
        self.server.answers[:] = [limit]
        document = self.providers("good", timeout=90.0)
        self.assertEqual((document["ok"], document.get("provider")), (True, "vertex"))
        self.server.clear()
        self.server.answers[:] = [limit]
        queries = [f"guide {number}" for number in range(3)]
        found = gemini.run_batch({"queries": queries, "workers": 1, "timeout": 90.0})
        self.assertEqual({one["provider"] for one in found["results"]}, {"vertex"})
        self.assertEqual(len(self.server.requests), 4)  # gemini rests: it is asked once
        document = self.providers("crowded", "busy-v", timeout=20.0)  # the last one is waited for
        self.assertEqual((document["ok"], document.get("provider")), (True, "vertex"))

    def test_no_provider_is_tried_in_the_last_second(self) -> None:
        for key, kind, timeout in (("hang", "timeout", 0.5), ("quota", "quota", 0.9)):
            document = self.providers(key, timeout=timeout)
            with self.subTest(key):
                self.assertEqual(document["details"]["kind"], kind)
                note = "vertex was not tried, because less than 1 s was left."
                self.assertIn(note, document["details"]["hint"])
                self.assertEqual(len(self.server.requests), 1)
        hint = self.providers("hang", vertex_key="", timeout=0.3)["details"]["hint"]
        self.assertNotIn("vertex", hint)  # it is not configured

    def test_that_all_have_failed_is_one_error_with_each_ones_own(self) -> None:
        for first, second, kind, words in (
            ("quota", "place", "quota", ("gemini: Error: API quota exceeded", "User location")),
            ("crowded", "invalid", "rate_limit", ("API quota exceeded", "vertex: Google refused")),
            ("silent", "bad", "auth", ("gemini: No results found", "vertex: Error: Google")),
            ("bad", "silent", "auth", ("gemini: Error: Google", "vertex: No results found")),
            ("silent", "silent", "provider", ("gemini: No results", "vertex: No results")),
        ):
            document = self.providers(first, second)
            with self.subTest(first=first, second=second):
                self.assertTrue(document["error"].startswith("No Providers Available: "), document)
                self.assertEqual(document["details"]["kind"], kind)
                for part in words:
                    self.assertIn(part, document["error"])
                tried = [attempt["provider"] for attempt in document["details"]["attempts"]]
                self.assertEqual(tried, ["gemini", "vertex"])


if __name__ == "__main__":
    unittest.main()
