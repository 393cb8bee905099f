"""Errors and providers of gemini_search.py: what an answer means, and who is asked next."""

from __future__ import annotations

import time
import unittest
from typing import Any

from tests.engines.gemini_support import GeminiCase, gemini
from tests.fake_server import gemini_errors as bodies
from tests.support import CANARY, SLACK, call_main

QUESTION = {"query": "sourdough"}
RPC = "type.googleapis.com/google.rpc."


def judged(status: int, status_text: str, *details: Any, message: str = "Words.") -> Any:
    """Return the error that an answer with this status and these details means."""
    reply = bodies.error_reply(status, status_text, message, list(details))
    credential = {"provider": "gemini", "name": "GEMINI_API_KEY"}
    return gemini.api_error(gemini.Response(status, {}, reply.body), credential, "gemini-x")


class ErrorAnswers(GeminiCase):
    def test_are_classified_by_status_text_and_details(self) -> None:
        help_only = {"@type": RPC + "Help", "links": []}
        daily = {"@type": RPC + "QuotaFailure", "violations": [{"quotaId": "RequestsPerDay-Free"}]}
        minute = {"@type": RPC + "QuotaFailure", "violations": [{"quotaId": "RequestsPerMinute"}]}
        none = {"@type": RPC + "QuotaFailure", "violations": [{"quotaValue": "0"}]}
        limit = {"@type": RPC + "ErrorInfo", "metadata": {"quota_limit_value": "0"}}
        soon = {"@type": RPC + "RetryInfo", "retryDelay": "34.4s"}
        bad_key = {"@type": RPC + "ErrorInfo", "reason": "API_KEY_INVALID"}
        for status, text, details, kind, retryable in (
            (400, "INVALID_ARGUMENT", [bad_key], "auth", False),
            (401, "UNAUTHENTICATED", [], "auth", False),
            (403, "PERMISSION_DENIED", [], "auth", False),
            (400, "INVALID_ARGUMENT", [], "invalid_input", False),
            (400, "FAILED_PRECONDITION", [], "provider", False),
            (404, "NOT_FOUND", [], "invalid_input", False),
            (429, "RESOURCE_EXHAUSTED", [help_only], "quota", False),
            (429, "RESOURCE_EXHAUSTED", [daily, soon], "quota", False),
            (429, "RESOURCE_EXHAUSTED", [none, help_only], "quota", False),
            (429, "RESOURCE_EXHAUSTED", [limit, help_only], "quota", False),
            (429, "RESOURCE_EXHAUSTED", [minute, help_only, soon], "rate_limit", True),
            (429, "RESOURCE_EXHAUSTED", [], "rate_limit", True),
            (500, "INTERNAL", [], "provider", True),
            (503, "UNAVAILABLE", [], "provider", True),
            (501, "UNIMPLEMENTED", [], "provider", False),
            (504, "DEADLINE_EXCEEDED", [], "timeout", True),
        ):
            error = judged(status, text, *details)
            with self.subTest(status=status, details=details):
                self.assertEqual((error.kind, error.retryable), (kind, retryable))

    def test_are_never_classified_by_a_word_in_the_message(self) -> None:
        misleading = "rate limit quota exceeded 429 timeout API key authentication generate"
        self.assertEqual(judged(400, "INVALID_ARGUMENT", message=misleading).kind, "invalid_input")
        self.assertEqual(judged(503, "UNAVAILABLE", message=misleading).kind, "provider")
        self.assertEqual(judged(429, "RESOURCE_EXHAUSTED", message="timeout").kind, "rate_limit")

    def test_name_the_wait_in_seconds_or_milliseconds(self) -> None:
        for delay, seconds in (("34.4s", 34.4), ("900ms", 0.9), ("68940s", 68940.0), ("x", None)):
            detail = {"@type": RPC + "RetryInfo", "retryDelay": delay}
            error = judged(429, "RESOURCE_EXHAUSTED", detail)
            self.assertEqual(error.retry_after, seconds)

    def test_the_wait_is_named_in_markdown_and_sentences_end_with_a_full_stop(self) -> None:
        error = judged(429, "RESOURCE_EXHAUSTED", {"@type": RPC + "RetryInfo", "retryDelay": "34s"})
        text = gemini.to_markdown(gemini.error_document(error))
        self.assertIn("Try again in 34 s.", text)
        credential = {"provider": "gemini", "name": "GEMINI_API_KEY"}
        body = b'{"error": {"code": 403, "message": "Permission denied"}}'
        error = gemini.api_error(gemini.Response(403, {}, body), credential, "gemini-x")
        self.assertIn("Permission denied. Check GEMINI_API_KEY", error.message)

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

    def test_have_their_exit_codes_and_sentences_on_the_command_line(self) -> None:
        for key, code, kind, words in (
            ("bad", 3, "auth", "API key not valid"),
            ("standard", 3, "auth", "invalid authentication credentials"),
            ("leaked", 3, "auth", "reported as leaked"),
            ("disabled", 3, "auth", "not been used"),
            ("nonsense", 3, "auth", "API key not valid"),
            ("place", 5, "provider", "location is not supported"),
            ("quota", 4, "quota", "Error: API quota exceeded. Try again later."),
            ("crowded", 4, "rate_limit", "Error: API quota exceeded. Try again later."),
            ("overloaded", 5, "provider", "high demand"),
            ("late", 5, "timeout", "timed out on the server"),
            ("html", 5, "provider", "502"),
            ("garbage", 5, "provider", "no JSON object"),
            ("trunc", 5, "network", "broke"),
            ("reset", 5, "network", "broke"),
            ("redirect", 5, "provider", "redirect"),
            ("drip", 5, "timeout", "timed out after 1 s"),
        ):
            self.set_environment(GEMINI_API_KEY=f"{key}-{CANARY}")
            started = time.monotonic()
            run = call_main(gemini, "sourdough", "--timeout", "1")
            with self.subTest(key):
                self.assertLess(time.monotonic() - started, 1 + SLACK)
                self.assertEqual((run.code, run.document["details"]["kind"]), (code, kind))
                self.assertIn(words, run.document["error"])
                self.assertNotIn("attempts", run.document["details"])

    def test_a_wait_that_fits_the_deadline_is_waited_out(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"busy-waited-{CANARY}")
        started = time.monotonic()
        document = gemini.run_search({**QUESTION, "timeout": 20})
        self.assertTrue(document["ok"], document)
        self.assertGreaterEqual(time.monotonic() - started, 2 * bodies.RETRY_SECONDS)
        self.assertEqual(len(self.server.requests), 3)

    def test_a_wait_beyond_the_deadline_is_told(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"busy-hurried-{CANARY}")
        document = gemini.run_search({**QUESTION, "timeout": 0.6})
        self.assertEqual(document["details"]["kind"], "rate_limit")
        self.assertEqual(document["details"]["retry_after"], bodies.RETRY_SECONDS)
        self.assertTrue(document["details"]["retryable"])

    def test_a_fault_that_passes_is_tried_again(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"flaky-once-{CANARY}")
        self.assertTrue(gemini.run_search(QUESTION)["ok"])
        self.assertEqual(len(self.server.requests), 3)

    def test_what_waiting_does_not_mend_is_asked_once(self) -> None:
        for key in ("bad", "quota", "leaked", "place"):
            self.server.clear()
            self.set_environment(GEMINI_API_KEY=f"{key}-{CANARY}")
            gemini.run_search(QUESTION)
            self.assertEqual(len(self.server.requests), 1, key)


class Vertex(GeminiCase):
    def test_with_a_project_and_a_token_asks_the_project(self) -> None:
        self.set_environment(
            GOOGLE_CLOUD_PROJECT="project-1", VERTEX_ACCESS_TOKEN=f"good-token-{CANARY}"
        )
        document = gemini.run_search({**QUESTION, "provider": "vertex"})
        self.assertEqual((document["ok"], document["provider"]), (True, "vertex"))
        request = self.server.requests[-1]
        self.assertEqual(
            request.path,
            "/v1/projects/project-1/locations/global/publishers/google/models/"
            "gemini-3.8-flash:generateContent",
        )
        self.assertEqual(request.header("authorization"), f"Bearer good-token-{CANARY}")
        self.assertIsNone(request.header("x-goog-api-key"))

    def test_with_a_key_alone_is_asked_in_express_mode(self) -> None:
        self.set_environment(VERTEX_API_KEY=f"good-express-{CANARY}")
        document = gemini.run_search({**QUESTION, "provider": "vertex"})
        self.assertTrue(document["ok"], document)
        request = self.server.requests[-1]
        path = "/v1beta1/publishers/google/models/gemini-3.8-flash:generateContent"
        self.assertEqual(request.path, path)
        self.assertEqual(request.header("x-goog-api-key"), f"good-express-{CANARY}")

    def test_location_is_in_the_path_and_in_the_host(self) -> None:
        for location, host in (
            ("", "https://aiplatform.googleapis.com"),
            ("global", "https://aiplatform.googleapis.com"),
            ("europe-west4", "https://europe-west4-aiplatform.googleapis.com"),
            ("eu", "https://aiplatform.eu.rep.googleapis.com"),
        ):
            self.set_environment(
                GOOGLE_CLOUD_PROJECT="p1", GOOGLE_CLOUD_LOCATION=location, VERTEX_BASE_URL=""
            )
            url = gemini.build_search_request("x", "vertex", {"model": "gemini-x"})["url"]
            place = f"/v1/projects/p1/locations/{location or 'global'}/"
            self.assertTrue(url.startswith(host + place), url)

    def test_a_project_that_is_none_is_refused_before_any_request(self) -> None:
        self.set_environment(GOOGLE_CLOUD_PROJECT="../evil", VERTEX_ACCESS_TOKEN=f"good-{CANARY}")
        document = gemini.run_search({**QUESTION, "provider": "vertex"})
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertIn("GOOGLE_CLOUD_PROJECT", document["error"])
        self.assertEqual(self.server.requests, [])

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

    def test_gcloud_is_not_started_when_a_key_is_given_or_for_a_dry_run(self) -> None:
        path = self.fake_gcloud("echo started; exit 1")
        self.set_environment(
            GOOGLE_CLOUD_PROJECT="p1", PATH=path, VERTEX_API_KEY=f"good-x-{CANARY}"
        )
        self.assertTrue(gemini.run_search({**QUESTION, "provider": "vertex"})["ok"])
        self.set_environment(GOOGLE_CLOUD_PROJECT="p1", PATH=path)
        document = gemini.run_search({**QUESTION, "provider": "vertex", "dry_run": True})
        self.assertIn("/projects/p1/", document["request"]["url"])

    def test_a_refused_token_names_its_variable(self) -> None:
        self.set_environment(GOOGLE_CLOUD_PROJECT="p1", VERTEX_ACCESS_TOKEN=f"denied-x-{CANARY}")
        document = gemini.run_search({**QUESTION, "provider": "vertex"})
        self.assertEqual(document["details"]["kind"], "auth")
        self.assertIn("VERTEX_ACCESS_TOKEN", document["error"])
        self.assertEqual(document["details"]["reasons"], ["IAM_PERMISSION_DENIED"])


class CodeAssist(GeminiCase):
    def test_wraps_the_request_and_unwraps_the_answer(self) -> None:
        self.set_environment(
            CODE_ASSIST_ACCESS_TOKEN=f"good-token-{CANARY}", GOOGLE_CLOUD_PROJECT="p1"
        )
        document = gemini.run_search({**QUESTION, "provider": "code-assist"})
        self.assertEqual((document["ok"], document["provider"]), (True, "code-assist"))
        self.assertIn("Sourdough is bread", document["text"])
        request = self.server.requests[-1]
        self.assertEqual(request.path, "/v1internal:generateContent")
        self.assertEqual(request.header("authorization"), f"Bearer good-token-{CANARY}")
        self.assertEqual(sorted(request.json()), ["model", "project", "request"])

    def test_runs_only_when_it_is_named(self) -> None:
        self.set_environment(GEMINI_API_KEY="", CODE_ASSIST_ACCESS_TOKEN=f"good-token-{CANARY}")
        document = gemini.run_search(QUESTION)
        self.assertEqual(document["error"], "GEMINI_API_KEY not set in secrets.yaml")
        self.assertEqual(self.server.requests, [])
        self.set_environment(
            GEMINI_API_KEY=f"quota-{CANARY}", CODE_ASSIST_ACCESS_TOKEN=f"good-token-{CANARY}"
        )
        self.assertEqual(gemini.run_search(QUESTION)["details"]["kind"], "quota")

    def test_without_its_token_names_the_variable(self) -> None:
        document = gemini.run_search({**QUESTION, "provider": "code-assist"})
        self.assertEqual(document["details"]["kind"], "auth")
        self.assertIn("CODE_ASSIST_ACCESS_TOKEN", document["error"])


class Fallback(GeminiCase):
    def providers(self, gemini_key: str, vertex_key: str = "good-v") -> dict[str, Any]:
        """The document of a search with keys of two providers that begin with these words."""
        self.server.clear()
        keys = [key and f"{key}-{CANARY}" for key in (gemini_key, vertex_key)]
        self.set_environment(GEMINI_API_KEY=keys[0], VERTEX_API_KEY=keys[1])
        document: dict[str, Any] = gemini.run_search({**QUESTION, "timeout": 2.5})
        return document

    def test_goes_on_after_what_another_provider_may_answer_and_lists_the_attempts(self) -> None:
        for key, kind in (
            ("bad", "auth"), ("quota", "quota"), ("crowded", "rate_limit"), ("place", "provider"),
            ("overloaded", "provider"), ("reset", "network"), ("silent", "no_results"),
            ("hang", "timeout"), ("blocked", "blocked"),
        ):  # fmt: skip
            document = self.providers(key)
            with self.subTest(key):
                self.assertEqual((document["ok"], document.get("provider")), (True, "vertex"))
                (attempt,) = document["attempts"]
                self.assertEqual((attempt["provider"], attempt["kind"]), ("gemini", kind))

    def test_never_happens_on_bad_input(self) -> None:
        self.set_environment(VERTEX_API_KEY=f"good-v-{CANARY}")
        document = gemini.run_search({**QUESTION, "model": "gemini-9"})
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertFalse([one for one in self.server.requests if "publishers" in one.path])

    def test_does_not_happen_when_the_first_provider_answers(self) -> None:
        document = self.providers("good")
        self.assertEqual(document["provider"], "gemini")
        self.assertNotIn("attempts", document)
        self.assertEqual(len(self.server.requests), 1)

    def test_a_named_provider_is_used_or_fails(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"quota-{CANARY}", VERTEX_API_KEY=f"good-{CANARY}")
        document = gemini.run_search({**QUESTION, "provider": "gemini"})
        self.assertEqual(document["details"]["kind"], "quota")
        self.assertFalse([one for one in self.server.requests if "publishers" in one.path])

    def test_when_all_fail_lists_what_each_answered(self) -> None:
        document = self.providers("quota", "bad")
        self.assertTrue(document["error"].startswith("No Providers Available: gemini: Error: API"))
        self.assertIn("vertex: Error: Google refused the credential", document["error"])
        self.assertEqual(document["details"]["kind"], "quota")
        kinds = [(one["provider"], one["kind"]) for one in document["details"]["attempts"]]
        self.assertEqual(kinds, [("gemini", "quota"), ("vertex", "auth")])

    def test_when_only_one_was_configured_its_own_error_stays(self) -> None:
        document = self.providers("quota", "")
        self.assertEqual(document["error"], "Error: API quota exceeded. Try again later.")
        self.assertEqual(document["details"]["provider"], "gemini")

    def test_when_none_is_configured_lists_what_each_lacks(self) -> None:
        document = self.providers("", "")
        self.assertEqual(document["error"], "GEMINI_API_KEY not set in secrets.yaml")
        lacks = [one["lacks"] for one in document["details"]["attempts"]]
        self.assertEqual(lacks[0], "GEMINI_API_KEY")
        self.assertIn("GOOGLE_CLOUD_PROJECT", lacks[1])

    def test_the_order_is_that_of_the_variable(self) -> None:
        self.set_environment(VERTEX_API_KEY=f"good-{CANARY}", GEMINI_PROVIDERS="vertex, gemini")
        self.assertEqual(gemini.run_search(QUESTION)["provider"], "vertex")

    def test_an_unknown_provider_in_the_variable_is_named(self) -> None:
        self.set_environment(GEMINI_PROVIDERS="gemini,vertx")
        document = gemini.run_search(QUESTION)
        self.assertIn("'vertx'", document["error"])
        self.assertIn("vertex", document["details"]["hint"])

    def test_a_key_that_cannot_be_one_is_named_and_not_called_missing(self) -> None:
        self.set_environment(GEMINI_API_KEY="good key")
        document = gemini.run_search(QUESTION)
        self.assertEqual(document["error"], "GEMINI_API_KEY holds characters that no key has.")

    def test_a_provider_without_the_time_filter_is_not_used_in_its_stead(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"quota-{CANARY}", VERTEX_API_KEY=f"good-{CANARY}")
        document = gemini.run_search({**QUESTION, "since": "week"})
        self.assertEqual(document["error"], "Error: API quota exceeded. Try again later.")
        self.assertEqual(len(self.server.requests), 1)
        document = gemini.run_search({**QUESTION, "since": "week", "provider": "vertex"})
        self.assertIn("since is not possible with provider vertex", document["error"])


if __name__ == "__main__":
    unittest.main()
