"""How scripts/brave_search.py judges error bodies, how long it waits, what it logs.

The only module to notice an error that is judged by its words, or a wait that is not the one Brave
asks for.
"""

from __future__ import annotations

import contextlib
import io
import json
import time
from email.utils import formatdate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import brave_search as brave
from tests.support import CANARY, SLACK, CannedCase, EnvironmentCase, FakeServerCase, call_main

SCRIPT = "brave_search.py"


# What a command needs instead of a query.
BASE: dict[str, dict[str, Any]] = {
    "summarizer": {"key": "k"},
    "rich": {"callback_key": b"weather:berlin".hex()},
    "places": {"location": "berlin"},
}


class WaitTest(FakeServerCase):
    """Waits and deadlines; kinds of faults: the matrix of faults."""

    def test_rate_limit_beyond_the_deadline_is_an_error_with_the_wait(
        self,
    ) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY=f"busy-short-{CANARY}")
        document = brave.run_web_search({"query": "bread", "timeout": 0.7})
        details = document["details"]
        self.assertEqual((details["kind"], details["retryable"]), ("rate_limit", True))
        self.assertEqual((details["code"], details["retry_after"]), ("RATE_LIMITED", 1.0))
        self.assertEqual(len(self.server.requests), 1)

    def test_a_set_proxy_does_not_take_requests_to_loopback(self) -> None:
        proxies = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), "http://127.0.0.1:1")
        self.set_environment(**proxies)
        self.assertIs(brave.run_web_search({"query": "bread"})["ok"], True)

    def test_many_deadlines_leave_the_whole_call_within_one(self) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY=f"hang-{CANARY}")
        for command in ("web", "answers", "summarizer"):
            started = time.monotonic()
            given = {"query": "bread", "timeout": 0.4}
            document = brave.RUN[command](given)
            self.assertEqual(document["details"]["kind"], "timeout", command)
            self.assertLess(time.monotonic() - started, 0.4 + SLACK)


def error_body(code: str, detail: str, status: int = 0, **more: Any) -> bytes:
    """An error in the shape of the live API."""
    error = {"id": "0f1e2d3c", "status": status, "code": code, "detail": detail, **more}
    return json.dumps({"type": "ErrorResponse", "error": error, "time": 1_700_000_000}).encode()


def response(status: int, body: bytes = b"", **headers: str) -> Any:
    """A response as exchange returns it; rate_limit becomes x-ratelimit-..."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return brave.Response(status, names, body)


class ErrorBodyTest(CannedCase):
    """Brave's error bodies, classified by their code."""

    def error(self, status: int, body: bytes, endpoint: str = "web") -> Any:
        return brave.answer_error(response(status, body), endpoint, "BRAVE_SEARCH_API_KEY")

    def test_error_without_details_shows_status_and_body(self) -> None:
        error = self.error(504, b"<html><body>Gateway <b>Timeout</b></body></html>")
        self.assertEqual(error.message, "Brave answered 504: Gateway Timeout")

    def test_unknown_code_shows_only_braves_detail(self) -> None:
        for status, code in ((404, "NOT_FOUND"), (418, "TEAPOT"), (500, "INTERNAL")):
            error = self.error(status, error_body(code, "The key is unknown.", status))
            self.assertEqual(error.message, f"Brave answered {status}: The key is unknown.")

    def test_braves_text_on_a_parameter_follows_the_error_sentence(self) -> None:
        state = {"type": "too_long", "loc": ["header", "x-loc-state"], "msg": "Input is too long"}
        count = {"loc": ["query", "count"], "msg": "Input is too large"}
        detail, meta = "Unable to validate request parameter(s)", {"errors": [state, count]}
        self.server.status = 422
        self.server.body = error_body("VALIDATION", detail, meta=meta)
        run = call_main(brave, "bread", "--state", "California")
        self.assertEqual(
            run.document["error"],
            f"Brave refused the request: {detail} "
            "(x-loc-state: Input is too long; count: Input is too large)",
        )

    def test_a_code_decides_and_not_the_status(self) -> None:
        for code, (kind, _) in brave.CODES.items():
            for status in (400, 403, 422, 429, 500):
                self.assertEqual(self.error(status, error_body(code, "x")).kind, kind)

    def test_bodies_of_broken_shapes_fall_back_to_the_status(self) -> None:
        bodies: tuple[Any, ...] = (
            {"error": None}, {"error": "text"}, {"error": []}, {"errors": []}, {"errors": [None]},
            {"errors": {}}, {"error": {"code": None}}, {"error": {"code": 7}}, [], "text", None,
        )  # fmt: skip
        for body in bodies:
            error = self.error(503, json.dumps(body).encode())
            self.assertEqual((error.kind, error.retryable), ("provider", True), body)
        lists = (None, [None], [{"loc": 3}])
        metas: list[Any] = [None, [], "x", *({"errors": errors} for errors in lists)]
        for meta in metas:
            error = self.error(422, error_body("VALIDATION", "no", meta=meta))
            self.assertEqual(error.kind, "invalid_input", meta)

    def test_a_long_page_instead_of_an_error_is_cut(self) -> None:
        error = self.error(502, b"<p>" + b"word " * 5_000)
        self.assertLess(len(error.message), 300)

    def test_an_answer_that_quotes_the_key_does_not_pass_it_on(self) -> None:
        body = error_body("SUBSCRIPTION_TOKEN_INVALID", f"good-{CANARY} is wrong", 422)
        self.server.status, self.server.body = 422, body
        run = call_main(brave, "bread")
        self.assertNotIn(CANARY.encode(), run.stdout)
        self.assertIn("[key] is wrong", run.document["error"])


class PlanTest(FakeServerCase):
    def test_a_key_without_summaries_is_led_to_context(self) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY=f"search-{CANARY}")
        hint = brave.run_summarizer({"key": "k"})["details"]["hint"]
        self.assertTrue("Pro AI" in hint and "context" in hint, hint)


class RateLimitTest(EnvironmentCase):
    """How long a rate limit is waited for."""

    def test_the_waiting_time_is_that_of_the_exhausted_window(self) -> None:
        for limit, remaining, reset, seconds in (
            ("1, 15000", "0, 14000", "1, 1000000", 1.0),  # the second is used up
            ("1, 15000", "1, 0", "1, 1000000", 1_000_000.0),  # the month is used up
            ("1, 15000", "0, 0", "1, 1000000", 1_000_000.0),  # both: the later one
            ("50, 0", "0, 0", "1, 2408219", 1.0),  # a limit of 0 is uncapped
            ("50, 0", "49, 0", "1, 2408219", None),  # nothing is used up
            ("1", "0", "1", 1.0),
            ("1,15000", "0,14000", "2,3", 2.0),
            ("", "", "", None),
            ("one, two", "0, 0", "1, 1", None),
            ("1, 15000", "0", "1", 1.0),  # a list that ends early
            ("1", "0", "", None),
            ("1", "-1", "1", None),
        ):
            values = {"limit": limit, "remaining": remaining, "reset": reset}
            headers = {f"x_ratelimit_{name}": value for name, value in values.items()}
            answer = response(429, b"", **headers)
            with self.subTest(limit=limit, remaining=remaining, reset=reset):
                self.assertEqual(brave.rate_limit_wait(answer), seconds)

    def test_without_an_exhausted_window_retry_after_counts(self) -> None:
        for value, seconds in (("7", 7.0), ("0", 0.0), ("soon", None), ("", None), ("-1", None)):
            self.assertEqual(brave.rate_limit_wait(response(429, retry_after=value)), seconds)
        date = formatdate(time.time() + 60, usegmt=True)
        wait = brave.rate_limit_wait(response(429, retry_after=date))
        self.assertTrue(50 < wait <= 60, wait)
        past = formatdate(time.time() - 60, usegmt=True)
        self.assertEqual(brave.rate_limit_wait(response(429, retry_after=past)), 0.0)

    def test_the_error_carries_the_waiting_time(self) -> None:
        answer = response(
            429, error_body("RATE_LIMITED", "x"), x_ratelimit_limit="1", x_ratelimit_remaining="0",
            x_ratelimit_reset="2",
        )  # fmt: skip
        error = brave.answer_error(answer, "web", "BRAVE_SEARCH_API_KEY")
        self.assertEqual((error.retry_after, error.details["retry_after"]), (2.0, 2.0))

    def test_a_quota_is_not_waited_for(self) -> None:
        answer = response(429, error_body("QUOTA_LIMITED", "x"), retry_after="1")
        error = brave.answer_error(answer, "web", "BRAVE_SEARCH_API_KEY")
        self.assertEqual((error.kind, error.retryable, error.retry_after), ("quota", False, None))


class LogTest(FakeServerCase):
    """WEB_SEARCH_LOG and --verbose."""

    def setUp(self) -> None:
        super().setUp()
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / "search.log"

    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def test_each_operation_logs_span_query_and_result_size(self) -> None:
        self.set_environment(WEB_SEARCH_LOG=str(self.log))
        found = brave.run_web_search({"query": "sourdough\nbröd"})
        brave.run_context({"query": "coffee"})
        first, second = self.records()
        self.assertRegex(first.pop("time"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        size = len(json.dumps(found, ensure_ascii=False, separators=(",", ":")))
        expected = {"span": "brave.web", "query": "sourdough\nbröd"}
        self.assertEqual(first, {**expected, "hasResults": True, "resultLen": size})
        self.assertEqual(second["span"], "brave.context")

    def test_an_operation_that_failed_has_its_error(self) -> None:
        self.set_environment(WEB_SEARCH_LOG=str(self.log))
        brave.run_web_search({"query": "zzyzx qwrtp"})
        brave.RUN["news"]({"query": "a", "count": 0})
        first, second = self.records()
        self.assertEqual((first["hasResults"], first["error"]), (False, "No web results found"))
        self.assertNotIn("resultLen", first)
        self.assertEqual(second["span"], "brave.news")
        self.assertIn("count must be", second["error"])

    def test_every_command_writes_its_span(self) -> None:
        self.set_environment(WEB_SEARCH_LOG=str(self.log))
        for command in brave.COMMANDS:
            brave.RUN[command](BASE.get(command, {"query": "bread"}))
        spans = [record["span"] for record in self.records()]
        self.assertEqual(spans, [f"brave.{command}" for command in brave.COMMANDS])

    def test_the_log_is_appended_to_and_only_its_owner_can_read_it(self) -> None:
        self.set_environment(WEB_SEARCH_LOG=str(self.log))
        self.log.write_text('{"span": "other"}\n')
        brave.run_web_search({"query": "bread"})
        self.assertEqual([one["span"] for one in self.records()], ["other", "brave.web"])
        self.log.unlink()
        brave.run_web_search({"query": "bread"})
        self.assertEqual(self.log.stat().st_mode & 0o777, 0o600)

    def test_it_is_silent_unless_asked_for(self) -> None:
        run = self.run_script(SCRIPT, "sourdough bread")
        self.assertEqual((run.code, run.stderr), (0, ""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_verbose_writes_the_same_line_on_stderr(self) -> None:
        self.set_environment(WEB_SEARCH_LOG=str(self.log))
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr):
            brave.run_web_search({"query": "bread", "verbose": True})
        self.assertEqual(stderr.getvalue(), self.log.read_text("utf-8"))

    def test_a_log_that_cannot_be_written_costs_no_answer(self) -> None:
        whole = self.run_script(SCRIPT, "suggest", "sour").document
        for path in ("/no/such/folder/search.log", str(self.folder)):
            run = self.run_script(SCRIPT, "suggest", "sour", WEB_SEARCH_LOG=path)
            self.assertEqual((run.code, run.document), (0, whole))
            self.assertIn("WEB_SEARCH_LOG could not be written", run.stderr)
