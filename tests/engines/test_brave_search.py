"""scripts/brave_search.py: its Python function, its tables against the API's, its summarizer.

What it sends and prints, line by line: test_brave_wire.py.
The only module to notice a table of values that differs from Brave's API.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import time
import unittest
from typing import Any, ClassVar

import brave_search as brave
from tests.fake_server import brave_parameters as api
from tests.support import SLACK, FakeServerCase, call_main, run_script

COMMANDS = brave.COMMANDS


def flags(command: str, given: dict[str, Any]) -> list[str]:
    """Parameters as flags of a command line."""
    words: list[str] = []
    for name, value in given.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            items = value if isinstance(value, list) else [value]
            words += [f"{flag}={item}" for item in items]
    return [command, *words]


# What a command needs instead of a query.
BASE: dict[str, dict[str, Any]] = {
    "summarizer": {"key": "k"},
    "rich": {"callback_key": b"weather:berlin".hex()},
}


def base(command: str) -> dict[str, Any]:
    """The required parameters of a command."""
    return BASE.get(command, {"query": "bread"})


class IssueRequestTest(FakeServerCase):
    """issue_request, the function for other programs, and goggles from standard input."""

    def seen(self, index: int = -1) -> dict[str, list[str]]:
        """The query string of a request that was sent."""
        return self.server.requests[index].query

    def test_goggles_flag_reads_rules_from_standard_input(self) -> None:
        rules = "! my rules\n$discard,site=b.org\n"
        words = ("web", "bread", "--goggles", "@-")
        run_script("brave_search.py", *words, env=self.environment, stdin=rules)
        self.assertEqual(self.seen()["goggles"], [rules.strip()])

    def test_issue_request_takes_the_names_of_endpoints(self) -> None:
        answer = brave.issue_request("web", {"query": "bread", "count": None, "summary": True})
        self.assertEqual(self.seen(), {"q": ["bread"], "summary": ["true"]})
        self.assertEqual(answer["type"], "search")
        self.server.clear()
        brave.issue_request("summarizer", {"key": answer["summarizer"]["key"]})
        self.assertEqual(self.seen(), {"key": [answer["summarizer"]["key"]]})

    def test_issue_request_omits_goggles_without_https_and_warns(self) -> None:
        good, bad = ["https://goggles.example.org/a", "$boost=2,site=a.org"], "http://x.example/b"
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr):
            brave.issue_request("web", {"query": "bread", "goggles": [good[0], bad, good[1]]})
            brave.issue_request("web", {"query": "bread", "goggles": good[0]})
        self.assertEqual(self.seen(0)["goggles"], good)
        self.assertEqual(self.seen(1)["goggles"], good[:1])
        warning = f"warning: Omitted goggles that are not https: {bad!r}.\n"
        self.assertEqual(stderr.getvalue(), warning)

    def test_issue_request_refuses_goggles_if_none_is_https(self) -> None:
        for goggles in ("http://x.example/a", ["http://x.example/a", "ftp://x.example/b"]):
            with self.assertRaises(brave.SearchError) as caught:
                brave.issue_request("web", {"query": "bread", "goggles": goggles})
            self.assertEqual(caught.exception.kind, "invalid_input")
            self.assertIn("'http://x.example/a'", caught.exception.message)
        self.assertEqual(self.server.requests, [])

    def test_issue_request_raises_the_error_of_the_api(self) -> None:
        with self.assertRaises(brave.SearchError) as caught:
            brave.issue_request("web", {"query": "bread", "count": "many"})
        self.assertEqual((caught.exception.kind, len(self.server.requests)), ("invalid_input", 1))
        self.assertIn("count", caught.exception.message)


class ApiDefaultTest(unittest.TestCase):
    """Brave's defaults for missing parameters, compared with the fake server's tables."""

    TABLES: ClassVar = {
        "web": api.WEB, "summarizer": api.SUMMARIZER, "context": api.CONTEXT, "news": api.NEWS,
        "images": api.IMAGES, "videos": api.VIDEOS, "places": api.PLACES, "rich": api.RICH,
        "suggest": api.SUGGEST, "spellcheck": api.SPELLING, "answers": api.ANSWERS,
    }  # fmt: skip
    # Where Brave's documents name no fixed value.
    DESCRIBED: ClassVar = {"units", "threshold", "enable_local", "result_filter"}

    def test_every_default_of_the_api_is_in_the_table_of_parameters(self) -> None:
        for command, table in self.TABLES.items():
            defaults = {
                name: None if value is api.REQUIRED else value for name, value in table.items()
            }
            for parameter in COMMANDS[command]["params"]:
                if parameter["wire"] in defaults and parameter["name"] not in self.DESCRIBED:
                    with self.subTest(command=command, parameter=parameter["name"]):
                        default = defaults[parameter["wire"]]
                        if isinstance(default, bool):
                            default = str(default).lower()
                        expected = None if default in ("", ()) else default
                        self.assertEqual(parameter["api_default"], expected)

    def test_help_shows_it_unless_the_script_sends_its_own_default(self) -> None:
        for command, spec in COMMANDS.items():
            text = call_main(brave, command, "--help").stdout.decode()
            for parameter in spec["params"]:
                name, known = parameter["name"].replace("_", "-"), parameter["api_default"]
                [line] = re.findall(rf"(?m)^  (?:-\w, )?--{name}[, :].*", text)
                if {"default", "documented_default"} & parameter.keys():
                    known = None  # the script's own default is a part of the help
                shown = [] if known in (None, "false") else [f"default: {known})"]
                with self.subTest(command=command, parameter=name):
                    found = re.findall(r"[(; ](default: .*\))$", line)
                    self.assertEqual([] if known is None else found, shown)

    def test_help_is_short_and_lists_the_commands_and_flags_of_web(self) -> None:
        text = call_main(brave, "--help").stdout.decode()
        self.assertLess(len(text), 2_500)
        for command in COMMANDS:
            self.assertIn(f"\n  {command}: ", text)
        self.assertIn("--since PERIOD: age of pages: day, week, month, year, 7d", text)
        for command, bounds in (
            ("context", "--max-tokens N: .*, 1024 to 32768 "),
            ("answers", "--research-max-seconds N: .*, 1 to 300 "),
        ):
            text = call_main(brave, command, "--help").stdout.decode()
            self.assertRegex(text, f"(?m)^  {bounds}")


class ValidationTest(FakeServerCase):
    """Rules for every parameter in the tables; messages one by one: snapshots/brave."""

    def tearDown(self) -> None:
        self.assertEqual(self.server.requests, [])

    def refused(self, command: str, given: dict[str, Any], *parts: Any, hint: str = "") -> None:
        """Check that the input is refused, with every part in the message, and hint in the hint."""
        document = brave.RUN[command](given)
        self.assertIs(document["ok"], False, given)
        self.assertEqual(document["details"]["kind"], "invalid_input", document)
        self.assertIs(document["details"]["retryable"], False)
        for text in parts:
            self.assertIn(str(text), document["error"])
        self.assertIn(hint, document["details"].get("hint", ""))

    def accepted(self, command: str, given: dict[str, Any]) -> None:
        document = brave.RUN[command]({**given, "dry_run": True})
        self.assertIs(document["ok"], True, document)

    def parameters(self, *types: str) -> list[tuple[str, dict[str, Any]]]:
        """(command, parameter) for every parameter of these types, including common ones."""
        return [
            (command, parameter)
            for command, spec in COMMANDS.items()
            for parameter in [*spec["params"], *brave.COMMON_PARAMS]
            if parameter["type"] in types
        ]

    def test_numbers_at_their_bounds_are_accepted_also_as_text(self) -> None:
        for command, parameter in self.parameters("int", "float"):
            name = parameter["name"]
            for value in (parameter["min"], parameter["max"], str(parameter["max"])):
                given = {**base(command), name: value}
                if command == "places" and name in ("lat", "long"):
                    given = {**given, "lat": 1, "long": 1, name: value}
                with self.subTest(command=command, parameter=name, value=value):
                    self.accepted(command, given)

    def test_every_choice_is_accepted_in_any_case(self) -> None:
        for command, parameter in self.parameters("str", "csv"):
            for choice in parameter.get("choices", ()):
                for value in (choice, choice.upper(), f" {choice.lower()} "):
                    self.accepted(command, {**base(command), parameter["name"]: value})

    def test_unsupported_parameters_are_refused_not_ignored(self) -> None:
        for command, spec in COMMANDS.items():
            for name, reason in spec.get("cannot", {}).items():
                with self.subTest(command=command, parameter=name):
                    given = {**base(command), name: "x"}
                    message = f"{command} has no parameter {name!r}."
                    self.refused(command, given, message, hint=reason)
                    flag = "--" + name.replace("_", "-")
                    words = flags(command, base(command))
                    for word in ([flag, "x"], [f"{flag}=x"]):
                        run = call_main(brave, *words, *word)
                        self.assertEqual((run.code, run.document["details"]["hint"]), (2, reason))

    def test_a_location_that_no_header_can_carry_is_refused(self) -> None:
        for name in ("city", "state", "state_name", "location_country", "postal_code", "timezone"):
            for value in ("Zürich", "a\nX-Evil: 1", "a-\u0144"):
                message = f"{name} must be plain ASCII text, not {value!r}."
                hint = "Write it without accents, or pass lat and long."
                self.refused("web", {"query": "a", name: value}, message, hint=hint)

    def test_params_json_that_is_not_an_object_is_refused(self) -> None:
        for text in ("{", "[]", "3", '"text"', "null", "{'query': 'a'}", "[" * 100_000):
            run = call_main(brave, "web", "--params-json", text)
            self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
            self.assertIn("params_json", run.document["error"])
            self.assertIn('{"query": "..."}', run.document["details"]["hint"])


class SummarizerTest(FakeServerCase):
    """The polling and the text of a summary."""

    def polls(self, key: str = "") -> list[Any]:
        """The requests for a summary."""
        path = brave.PATHS["summarizer"]
        found = self.requests_with_key(key) if key else self.server.requests
        return [one for one in found if one.path == path]

    def summary_key(self, query: str) -> str:
        found = brave.run_web_search({"query": query, "summary": True})
        self.server.clear()
        key = found["summarizer_key"]
        assert isinstance(key, str)
        return key

    def test_it_polls_until_complete_at_least_an_interval_apart(self) -> None:
        key = self.summary_key("sourdough bread")
        found = brave.run_summarizer({"key": key, "poll_interval_ms": 120})
        self.assertIs(found["ok"], True, found)
        times = [one.time for one in self.polls()]
        self.assertEqual(len(times), 3)
        for earlier, later in itertools.pairwise(times):
            self.assertGreaterEqual(later - earlier, 0.12)

    def test_the_interval_is_50_milliseconds_unless_given(self) -> None:
        brave.run_summarizer({"key": self.summary_key("sourdough bread")})
        times = [one.time for one in self.polls()]
        self.assertTrue(all(b - a >= 0.05 for a, b in itertools.pairwise(times)), times)

    def test_attempts_are_20_unless_given_and_then_it_is_a_timeout(self) -> None:
        key = self.summary_key("summarynever bread")
        for given, attempts in (({}, 20), ({"max_attempts": 3}, 3), ({"max_attempts": 1}, 1)):
            self.server.clear()
            found = brave.run_summarizer({"key": key, "poll_interval_ms": 1, **given})
            self.assertEqual(found["error"], brave.NO_SUMMARY)
            self.assertEqual(found["details"]["kind"], "timeout")
            self.assertIs(found["details"]["retryable"], True)
            self.assertIn(f"after {attempts} tries; raise max_att", found["details"]["hint"])
            self.assertEqual(len(self.polls()), attempts)

    def test_the_deadline_ends_it_before_the_attempts_are_used_up(self) -> None:
        key = self.summary_key("summarynever bread")
        started = time.monotonic()
        given = {"key": key, "poll_interval_ms": 100, "max_attempts": 1000, "timeout": 0.6}
        found = brave.run_summarizer(given)
        self.assertLess(time.monotonic() - started, 0.6 + SLACK)
        self.assertEqual(found["details"]["kind"], "timeout")
        self.assertIn("raise timeout", found["details"]["hint"])
        self.assertLessEqual(len(self.polls()), 6)

    def test_every_field_from_brave_is_in_the_document(self) -> None:
        found = brave.run_summarizer({"query": "sourdough bread", "entity_info": True})
        sent = ["raw", "images", "qa", "entities", "context"]
        self.assertEqual(list(found["enrichments"]), sent)
        self.assertIn("Sourdough is bread", found["enrichments"]["raw"])
        self.assertEqual(found["summary_raw"][0]["type"], "token")
        self.assertEqual(len(found["entities_infos"]), len(found["followups"]))

    def test_the_text_once_more_goes_first_from_a_long_document(self) -> None:
        words = ("summarizer", "--query", "sourdough bread", "--max-chars")
        whole = call_main(brave, *words, "0").stdout.decode()
        document = call_main(brave, *words, str(len(whole) - 10)).document
        self.assertEqual(document["truncated"]["left_out"], ["raw"])
        self.assertEqual(list(document["enrichments"]), ["images", "qa", "entities", "context"])

    def test_both_ways_give_the_same_text(self) -> None:
        first = brave.run_summarizer({"key": self.summary_key("sourdough bread")})
        second = brave.run_summarizer({"query": "sourdough bread"})
        self.assertEqual(first["summary_text"], second["summary_text"])
        third = call_main(brave, "summarizer", "--query", "sourdough bread").document
        self.assertEqual(first["summary_text"], third["summary_text"])

    def test_progress_is_reported_for_every_try(self) -> None:
        seen: list[tuple[str, int, int]] = []
        key = self.summary_key("sourdough bread")
        brave.run_summarizer({"key": key}, lambda *progress: seen.append(progress))
        self.assertEqual([(done, total) for _, done, total in seen], [(1, 20), (2, 20), (3, 20)])
