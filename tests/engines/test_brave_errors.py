"""What scripts/brave_search.py does when something fails: faults, error bodies, and the log."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import time
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import (
    CANARY,
    SLACK,
    CannedCase,
    EnvironmentCase,
    FakeServerCase,
    Run,
    call_main,
    load_script,
)

if TYPE_CHECKING:
    from tests.fake_server.messages import RecordedRequest

brave = load_script("brave_search")
SCRIPT = "brave_search.py"
TIMEOUT = 1.5  # seconds, for the faults that never end
BOUNDED = ("drip", "hang")


class Expected(NamedTuple):
    """What a fault becomes: the kind (None: it passes), exit code, requests that were sent."""

    kind: str | None
    code: int
    requests: int
    said: str = ""  # in error or hint


FAULTS = {
    "bad": Expected("auth", 3, 1, "BRAVE_SEARCH_API_KEY"),
    "plan": Expected("auth", 3, 1, "a Search plan"),
    "missing": Expected("auth", 3, 1, "No subscription found"),
    "broke": Expected("quota", 4, 1, "spending limit"),
    "quota": Expected("quota", 4, 1, "month's requests"),
    "busy": Expected(None, 0, 3),
    "flaky": Expected(None, 0, 3),
    "html": Expected("provider", 5, 3, "502: 502 Bad Gateway"),
    "trunc": Expected("network", 5, 3, "broke"),
    "garbage": Expected("provider", 5, 1, "no JSON object"),
    "drip": Expected("timeout", 5, 1, "A higher --timeout"),
    "hang": Expected("timeout", 5, 1, "A higher --timeout"),
    "reset": Expected("network", 5, 3, "broke"),
    "huge": Expected("provider", 5, 1, "longer than"),
    "bomb": Expected("provider", 5, 1, "longer than"),
    "redirect": Expected("provider", 5, 1, "redirect"),
}


class FaultRun(NamedTuple):
    """One fault, run as a process: the key, what came out, the log, how long it took."""

    key: str
    run: Run
    log: str
    seconds: float


class FaultTest(FakeServerCase):
    """Every fault through a process of its own, verbose and with a log, all run once."""

    runs: dict[str, FaultRun]
    records: list[RecordedRequest]
    foreign_records: list[RecordedRequest]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        with ThreadPoolExecutor(4) as pool:
            runs = pool.map(lambda fault: cls.run_fault(cls(), fault, folder.name), FAULTS)
            cls.runs = dict(zip(FAULTS, runs, strict=True))
        cls.records = cls.server.requests
        cls.foreign_records = cls.server.other_requests

    def run_fault(self, fault: str, folder: str) -> FaultRun:
        key, log = f"{fault}-{CANARY}", Path(folder) / fault
        words = ["web", "sourdough bread", "--verbose"]
        words += ["--timeout", str(TIMEOUT)] if fault in BOUNDED else []
        started = time.monotonic()
        run = self.run_script(SCRIPT, *words, key=key, WEB_SEARCH_LOG=str(log))
        seconds = time.monotonic() - started
        return FaultRun(key, run, log.read_text(encoding="utf-8"), seconds)

    def test_every_fault_gives_exactly_one_json_document(self) -> None:
        for fault, found in self.runs.items():
            with self.subTest(fault=fault):
                self.assertIsInstance(found.run.document, dict, found.run.stdout)
                self.assertEqual(found.run.stdout.count(b"\n"), 1)
                self.assertTrue(found.run.stdout.endswith(b"\n"))

    def test_every_fault_has_its_kind_and_exit_code_and_says_what_to_do(self) -> None:
        for fault, expected in FAULTS.items():
            with self.subTest(fault=fault):
                run = self.runs[fault].run
                details = run.document.get("details", {})
                self.assertEqual((run.code, details.get("kind")), (expected.code, expected.kind))
                self.assertIs(run.document["ok"], expected.kind is None)
                self.assertIn(expected.said, run.document.get("error", "") + str(details))

    def test_no_fault_shows_a_traceback(self) -> None:
        for fault, found in self.runs.items():
            for text in (found.run.stdout.decode(), found.run.stderr, found.log):
                self.assertNotIn("Traceback", text, fault)
                self.assertNotIn("Exception", text, fault)

    def test_the_key_is_in_no_output_no_log_and_no_address(self) -> None:
        for fault, found in self.runs.items():
            for text in (found.run.stdout.decode(), found.run.stderr, found.log):
                self.assertNotIn(CANARY, text, fault)
        self.assertTrue(all(CANARY not in request.target for request in self.records))

    def test_a_redirect_is_not_followed(self) -> None:
        self.assertEqual(self.foreign_records, [])
        self.assertEqual(self.runs["redirect"].run.document["details"]["status"], 302)

    def test_passing_faults_are_tried_again_and_permanent_ones_are_not(self) -> None:
        for fault, expected in FAULTS.items():
            key = self.runs[fault].key
            sent = [one for one in self.records if one.header("X-Subscription-Token") == key]
            self.assertEqual(len(sent), expected.requests, fault)

    def test_a_rate_limit_is_waited_out_for_the_time_that_the_headers_name(self) -> None:
        key = self.runs["busy"].key
        times = [one.time for one in self.records if one.header("X-Subscription-Token") == key]
        for earlier, later in itertools.pairwise(times):
            self.assertGreaterEqual(later - earlier, 1.0)

    def test_an_answer_that_never_ends_is_given_up_at_the_deadline(self) -> None:
        for fault in BOUNDED:
            self.assertGreaterEqual(self.runs[fault].seconds, TIMEOUT)
            self.assertLess(self.runs[fault].seconds, TIMEOUT + SLACK)

    def test_every_fault_is_in_the_log_with_its_error(self) -> None:
        for fault, found in self.runs.items():
            record = json.loads(found.log)
            self.assertEqual(record["hasResults"], FAULTS[fault].kind is None)
            self.assertEqual(record.get("error"), found.run.document.get("error"))


# What a command needs instead of a query.
BASE: dict[str, dict[str, Any]] = {
    "summarizer": {"key": "k"},
    "rich": {"callback_key": b"weather:berlin".hex()},
    "places": {"location": "berlin"},
}


class CommandFaultTest(FakeServerCase):
    """The faults that end at once, for every command."""

    def test_every_command_gives_the_kind_of_every_fault_and_asks_once(self) -> None:
        faults = ("bad", "plan", "missing", "broke", "quota", "garbage", "bomb", "redirect")
        for command, fault in itertools.product(brave.COMMANDS, faults):
            with self.subTest(command=command, fault=fault):
                self.server.clear()
                self.set_environment(BRAVE_SEARCH_API_KEY=f"{fault}-{CANARY}")
                document = brave.RUN[command](BASE.get(command, {"query": "bread"}))
                self.assertEqual(document["details"]["kind"], FAULTS[fault].kind)
                self.assertEqual(len(self.server.requests), 1)
                self.assertEqual(self.server.other_requests, [])
                self.assertNotIn(CANARY, json.dumps(document))

    def test_answers_are_asked_again_after_a_passing_fault(self) -> None:
        key = f"flaky-answers-{CANARY}"
        run = self.run_script(SCRIPT, "answers", "sourdough bread", key=key)
        self.assertEqual((run.code, run.document["ok"]), (0, True), run)
        self.assertEqual(len(self.requests_with_key(key)), 3)

    def test_a_plan_problem_names_the_plan_that_the_command_needs(self) -> None:
        plans = {
            "answers": "BRAVE_ANSWERS_API_KEY", "suggest": "BRAVE_SUGGEST_API_KEY",
            "spellcheck": "BRAVE_SPELLCHECK_API_KEY", "context": "BRAVE_SEARCH_API_KEY",
        }  # fmt: skip
        for command, variable in plans.items():
            plan = "search" if command != "context" else "answers"
            self.set_environment(BRAVE_SEARCH_API_KEY=f"{plan}-{CANARY}")
            document = brave.RUN[command]({"query": "bread"})
            self.assertEqual(document["details"]["kind"], "auth")
            self.assertIn(variable, document["details"]["hint"])

    def test_a_rate_limit_that_outlasts_the_deadline_is_an_error_with_the_waiting_time(
        self,
    ) -> None:
        self.set_environment(BRAVE_SEARCH_API_KEY=f"busy-short-{CANARY}")
        document = brave.run_web_search({"query": "bread", "timeout": 0.7})
        details = document["details"]
        self.assertEqual((details["kind"], details["retryable"]), ("rate_limit", True))
        self.assertEqual((details["code"], details["retry_after"]), ("RATE_LIMITED", 1.0))
        self.assertEqual(len(self.server.requests), 1)

    def test_a_server_that_is_not_there_is_a_network_error(self) -> None:
        self.set_environment(BRAVE_SEARCH_BASE_URL="http://127.0.0.1:1")
        document = brave.run_web_search({"query": "bread"})
        self.assertEqual(document["details"]["kind"], "network")
        self.assertIn("127.0.0.1:1 refused the connection", document["error"])

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


class RefusedValueTest(FakeServerCase):
    """What passes the script's own checks and is refused by the API."""

    def test_the_refused_parameter_is_named(self) -> None:
        found = brave.run_web_search({"query": "x" * 601})
        self.assertEqual(found["details"]["kind"], "invalid_input")
        self.assertEqual(found["details"]["code"], "VALIDATION")
        self.assertTrue(found["error"].endswith("(q)"), found)
        found = brave.run_places({"lat": 1, "query": "coffee"})
        self.assertTrue(found["error"].endswith("(longitude)"), found)

    def test_a_refused_header_is_named(self) -> None:
        found = brave.run_web_search({"query": "bread", "state": "California"})
        self.assertEqual(found["details"]["kind"], "invalid_input")
        self.assertTrue(found["error"].endswith("(x-loc-state)"), found)


def error_body(code: str, detail: str, status: int = 0, **more: Any) -> bytes:
    """An error in the shape of the live API."""
    error = {"id": "0f1e2d3c", "status": status, "code": code, "detail": detail, **more}
    return json.dumps({"type": "ErrorResponse", "error": error, "time": 1_700_000_000}).encode()


def listed_body(code: str, detail: str, status: int) -> bytes:
    """An error in the shape of the documentation's examples: a list."""
    error = json.loads(error_body(code, detail, status))["error"]
    return json.dumps({"type": "ErrorResponse", "errors": [error]}).encode()


def missing_header_body() -> bytes:
    """The answer to a request without a key."""
    place = ["header", "x-subscription-token"]
    meta = {"errors": [{"type": "missing", "loc": place, "msg": "Field required"}]}
    return error_body("VALIDATION", "Unable to validate request parameter(s)", 422, meta=meta)


def refused_count_body() -> bytes:
    """The answer to a count that is too high."""
    meta = {"errors": [{"type": "less_than_equal", "loc": ["query", "count"], "msg": "Too big"}]}
    return error_body("VALIDATION", "Unable to validate request parameter(s)", 422, meta=meta)


RATE_META = {"plan": "Free", "rate_limit": 1, "rate_current": 1, "org_rate_limit": None}
# Shape of the body -> status, body, kind, code, retryable.
BODIES: dict[str, tuple[int, bytes, str, str | None, bool]] = {
    "wrong key": (
        422,
        error_body("SUBSCRIPTION_TOKEN_INVALID", "The token is not valid.", 422),
        "auth", "SUBSCRIPTION_TOKEN_INVALID", False,
    ),
    "wrong key, listed": (
        422,
        listed_body("SUBSCRIPTION_TOKEN_INVALID", "The token is not valid.", 422),
        "auth", "SUBSCRIPTION_TOKEN_INVALID", False,
    ),
    "no key": (422, missing_header_body(), "auth", "VALIDATION", False),
    "refused value": (422, refused_count_body(), "invalid_input", "VALIDATION", False),
    "refused, without details": (
        422,
        error_body("VALIDATION", "Unable to validate request parameter(s)", 422, meta={}),
        "invalid_input", "VALIDATION", False,
    ),
    "another plan": (
        400,
        error_body("OPTION_NOT_IN_PLAN", "Not in the plan.", 400, meta={"component": "auth"}),
        "auth", "OPTION_NOT_IN_PLAN", False,
    ),
    "resource of another plan": (
        403, error_body("RESOURCE_NOT_ALLOWED", "Not allowed.", 403),
        "auth", "RESOURCE_NOT_ALLOWED", False,
    ),
    "no credit, without id and status": (
        402, b'{"type": "ErrorResponse", "error": {"code": "CREDIT_EXHAUSTED", "detail": "none"}}',
        "quota", "CREDIT_EXHAUSTED", False,
    ),
    "402 of a payment gateway": (402, b"payment required", "quota", "CREDIT_EXHAUSTED", False),
    "no subscription": (
        404, listed_body("SUBSCRIPTION_NOT_FOUND", "None found.", 404),
        "auth", "SUBSCRIPTION_NOT_FOUND", False,
    ),
    "too fast": (
        429, error_body("RATE_LIMITED", "Too fast", 429, meta=RATE_META),
        "rate_limit", "RATE_LIMITED", True,
    ),
    "too fast, listed": (
        429, listed_body("RATE_LIMITED", "Too fast.", 429), "rate_limit", "RATE_LIMITED", True,
    ),
    "month used up": (
        429, listed_body("QUOTA_LIMITED", "Used up.", 429), "quota", "QUOTA_LIMITED", False,
    ),
    "usage limit": (
        429, error_body("USAGE_LIMIT_EXCEEDED", "the month's limit", 429),
        "quota", "USAGE_LIMIT_EXCEEDED", False,
    ),
    "429 of a proxy": (429, b"slow down", "rate_limit", None, True),
    "401 of a proxy": (401, b"who are you?", "auth", None, False),
    "403 of a proxy": (403, b"<h1>Forbidden</h1>", "auth", None, False),
    "500 of Brave": (
        500, error_body("INTERNAL", "Out of order.", 500), "provider", "INTERNAL", True,
    ),
    "503 without a body": (503, b"", "provider", None, True),
    "504 in HTML": (504, b"<html><body>Gateway Timeout</body></html>", "provider", None, True),
    "unknown path": (404, error_body("NOT_FOUND", "No.", 404), "provider", "NOT_FOUND", False),
    "unknown code": (418, error_body("TEAPOT", "Tea.", 418), "provider", "TEAPOT", False),
    "redirect": (302, b"", "provider", None, False),
}  # fmt: skip


def response(status: int, body: bytes = b"", **headers: str) -> Any:
    """An answer as exchange hands it over; rate_limit becomes x-ratelimit-..."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return brave.Response(status, names, body)


class ErrorBodyTest(CannedCase):
    """Brave's error bodies, classified by their code."""

    def error(self, status: int, body: bytes, endpoint: str = "web") -> Any:
        return brave.answer_error(response(status, body), endpoint, "BRAVE_SEARCH_API_KEY")

    def test_a_good_answer_is_no_error(self) -> None:
        self.assertIsNone(self.error(200, b"{}"))

    def test_every_shape_of_body_has_its_kind_and_code(self) -> None:
        for shape, (status, body, kind, code, retryable) in BODIES.items():
            with self.subTest(shape=shape):
                error = self.error(status, body)
                self.assertEqual((error.kind, error.details.get("code")), (kind, code))
                self.assertEqual((error.retryable, error.details["status"]), (retryable, status))
                self.assertTrue(error.message and error.details["hint"], vars(error))

    def test_an_error_without_details_of_its_own_says_status_and_body(self) -> None:
        error = self.error(504, b"<html><body>Gateway <b>Timeout</b></body></html>")
        self.assertEqual(error.message, "Brave answered 504: Gateway Timeout")

    def test_an_unknown_code_says_the_detail_of_brave_and_not_the_whole_body(self) -> None:
        for status, code in ((404, "NOT_FOUND"), (418, "TEAPOT"), (500, "INTERNAL")):
            error = self.error(status, error_body(code, "The key is unknown.", status))
            self.assertEqual(error.message, f"Brave answered {status}: The key is unknown.")

    def test_the_detail_of_brave_and_the_refused_parameter_are_in_the_message(self) -> None:
        error = self.error(422, refused_count_body())
        self.assertIn("Unable to validate request parameter(s) (count)", error.message)

    def test_a_refused_key_is_named_by_its_variable(self) -> None:
        for shape in ("wrong key", "another plan", "no subscription"):
            status, body, *_ = BODIES[shape]
            self.assertIn("BRAVE_SEARCH_API_KEY", self.error(status, body).message)
        self.assertIn(
            "BRAVE_SEARCH_API_KEY", self.error(422, missing_header_body()).details["hint"]
        )

    def test_a_plan_problem_names_the_plan_of_the_endpoint(self) -> None:
        status, body, *_ = BODIES["another plan"]
        for endpoint, plan in (("web", "a Search plan"), ("answers", "an Answers plan")):
            self.assertIn(plan, self.error(status, body, endpoint).details["hint"])

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

    def test_every_shape_over_a_real_connection_is_one_document(self) -> None:
        for shape, (status, body, kind, _, _) in BODIES.items():
            if kind not in ("provider", "rate_limit"):  # these are tried again, which takes time
                self.server.status, self.server.body = status, body
                run = call_main(brave, "bread")
                with self.subTest(shape=shape):
                    self.assertEqual(run.code, brave.EXIT_CODES[kind])
                    self.assertEqual(run.document["details"]["kind"], kind)

    def test_an_answer_that_quotes_the_key_does_not_pass_it_on(self) -> None:
        body = error_body("SUBSCRIPTION_TOKEN_INVALID", f"good-{CANARY} is wrong", 422)
        self.server.status, self.server.body = 422, body
        run = call_main(brave, "bread")
        self.assertNotIn(CANARY.encode(), run.stdout)
        self.assertIn("[key] is wrong", run.document["error"])


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

    def test_a_line_for_each_operation_has_span_query_and_size_of_the_result(self) -> None:
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
