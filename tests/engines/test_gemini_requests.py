"""What gemini_search.py sends: prompts, tools, thinking, time, models, keys; what it refuses."""

from __future__ import annotations

import calendar
import itertools
import json
import re
import time
import unittest

from tests.engines.gemini_support import GeminiCase, gemini
from tests.fake_server.gemini_requests import MODELS
from tests.support import CANARY, ROOT, call_main, load_script

SCRIPT = "gemini_search.py"
EVERY_COMMAND: tuple[tuple[str, ...], ...] = (
    ("search", "python"), ("dev", "python"), ("docs", "python"), ("reddit", "python"),
    ("batch", "--query", "python"), ("models",),
)  # fmt: skip


class Request(GeminiCase):
    def test_goes_to_generate_content_with_the_key_in_the_header_only(self) -> None:
        for key in (
            f"AQ.good-{CANARY}",
            f"AIzagood-{CANARY}",
            self.key,
        ):  # the form of a key is never checked
            self.set_environment(GEMINI_API_KEY=key)
            gemini.run_search({"query": "python"})
            request = self.server.requests[-1]
            self.assertEqual(request.target, "/v1beta/models/gemini-3.8-flash:generateContent")
            self.assertEqual(request.header("x-goog-api-key"), key)
            self.assertIsNone(request.header("authorization"))

    def test_has_the_query_in_the_prompt_and_only_search_in_tools(self) -> None:
        gemini.run_search({"query": "python timeouts"})
        body = self.last_body()
        self.assertEqual(body["tools"], [{"googleSearch": {}}])
        self.assertTrue(self.last_prompt().startswith("python timeouts\n\n"))
        self.assertEqual(body["contents"][0]["role"], "user")
        self.assertNotIn("toolConfig", body)

    def test_says_nothing_about_temperature(self) -> None:
        for command, query in EVERY_COMMAND[:4]:
            call_main(gemini, command, query)
            self.assertNotRegex(json.dumps(self.last_body()).lower(), "temperature|topp|topk")

    def test_system_instruction_has_the_date_in_utc(self) -> None:
        before = time.strftime("%Y-%m-%d", time.gmtime())
        gemini.run_search({"query": "python"})
        after = time.strftime("%Y-%m-%d", time.gmtime())
        instruction = self.last_body()["systemInstruction"]["parts"][0]["text"]
        self.assertRegex(instruction, f"({before}|{after}) .UTC.")
        moment = calendar.timegm((2027, 1, 1, 0, 30, 0))
        self.assertIn("Friday, 2027-01-01 (UTC)", gemini.system_instruction(moment))

    def test_url_adds_url_context_and_names_the_pages(self) -> None:
        pages = ["https://encyclopedia.example.org/wiki/Sourdough", "https://b.example/?a=1,2"]
        document = gemini.run_search({"query": "sourdough", "url": pages})
        self.assertEqual(self.last_body()["tools"], [{"googleSearch": {}}, {"urlContext": {}}])
        for page in pages:
            self.assertIn(page, self.last_prompt())
        self.assertEqual([one["status"] for one in document["pages"]], ["success", "error"])

    def test_urls_that_cannot_be_read_are_refused_by_name(self) -> None:
        redirect = gemini.REDIRECT_LINK + "x"
        for urls, word in (
            (["ftp://a.example/"], "ftp://a.example/"),
            (["a.example"], "a.example"),
            (["https://a b"], "https://a b"),
            ([redirect], "redirect"),
            (["https://a.example/"] * 21, "at most 20"),
        ):
            document = gemini.run_search({"query": "x", "url": urls})
            self.assertEqual(document["details"]["kind"], "invalid_input")
            self.assertIn(word, document["error"])
        self.assertEqual(self.server.requests, [])

    def test_dry_run_prints_it_without_the_key_and_sends_nothing(self) -> None:
        for command in EVERY_COMMAND:
            run = self.run_script(SCRIPT, *command, "--dry-run")
            self.assertEqual(run.code, 0)
            self.assertNotIn(CANARY, run.stdout.decode())
            self.assertIn("/v1beta/models", run.stdout.decode())
        self.assertEqual(self.server.requests, [])

    def test_dry_run_needs_no_key(self) -> None:
        run = self.run_script(SCRIPT, "python", "--dry-run", GEMINI_API_KEY="")
        self.assertEqual((run.code, run.document["request"]["method"]), (0, "POST"))

    def test_no_key_or_token_is_seen_anywhere_else(self) -> None:
        names = (
            "good", "bad", "leaked", "quota", "overloaded", "garbage", "html", "redirect",
            "thoughtful", "trunc",
        )  # fmt: skip
        for name in names:
            run = self.run_script(
                SCRIPT, "sourdough", "--verbose", "--timeout", "6", key=f"{name}-{CANARY}"
            )
            self.assertNotIn(CANARY, run.stdout.decode() + run.stderr)
        for request in self.server.requests + self.server.other_requests:
            headers = [pair for pair in request.headers if pair[0].lower() != "x-goog-api-key"]
            self.assertNotIn(CANARY, f"{request.target}{headers}{request.body!r}")
        self.assertEqual(self.server.other_requests, [])  # no redirect took the key elsewhere


class Time(GeminiCase):
    def window(self, since: str) -> tuple[str, str] | None:
        """The time range filter that the last search sent."""
        document = gemini.run_search({"query": "sourdough", "since": since})
        self.assertTrue(document["ok"], document)
        search = self.last_body()["tools"][0]["googleSearch"]
        found = search.get("timeRangeFilter")
        return (found["startTime"], found["endTime"]) if found else None

    def test_since_becomes_the_time_range_filter_in_whole_seconds(self) -> None:
        for since, days in (("week", 7), ("month", 30), ("year", 365)):
            window = self.window(since)
            assert window is not None
            seconds = []
            for text in window:
                self.assertRegex(text, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                seconds.append(calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ")))
            self.assertEqual(seconds[1] - seconds[0], days * 86_400)
            self.assertAlmostEqual(seconds[1], time.time(), delta=60)

    def test_a_range_of_dates_includes_its_last_day(self) -> None:
        self.assertEqual(
            self.window("2026-01-30..2026-02-28"), ("2026-01-30T00:00:00Z", "2026-03-01T00:00:00Z")
        )
        self.assertEqual(
            gemini.time_window("0001-01-01..9999-12-31", time.time()),
            ("0001-01-01T00:00:00Z", "9999-12-31T00:00:00Z"),
        )

    def test_a_day_is_asked_for_in_words_and_the_document_says_so(self) -> None:
        for since, words in (("day", "last 24 hours"), ("2026-03-05..2026-03-05", "2026-03-05")):
            document = gemini.run_search({"query": "sourdough", "since": since})
            self.assertEqual(self.last_body()["tools"], [{"googleSearch": {}}])
            self.assertIn(words, self.last_prompt())
            self.assertIn("asked for in words", document["warnings"][0])

    def test_hour_is_refused_with_the_reason(self) -> None:
        document = gemini.run_search({"query": "sourdough", "since": "hour"})
        self.assertIn("day, week, month, year", document["error"])
        self.assertIn("no window of a day or less", document["details"]["hint"])

    def test_vertex_has_no_filter_and_says_so(self) -> None:
        document = gemini.run_search({"query": "x", "since": "week", "provider": "vertex"})
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertIn("vertex", document["error"])


class Thinking(GeminiCase):
    def test_every_level_is_taken_by_every_model_that_grounds(self) -> None:
        models = [name for name, model in MODELS.items() if "generateContent" in model.methods]
        for model, level in itertools.product(models, gemini.THINKING_LEVELS):
            params = {"query": "x", "model": model, "thinking": level, "include_thoughts": True}
            before = len(self.server.requests)
            document = gemini.run_search(params)
            with self.subTest(model=model, level=level):
                self.assertTrue(document["ok"], document)
                self.assertEqual(len(self.server.requests) - before, 1)
                config = self.last_body()["generationConfig"]["thinkingConfig"]
                self.assertEqual(
                    sorted(config.keys() - {"includeThoughts"}),
                    ["thinkingLevel" if MODELS[model].levels else "thinkingBudget"],
                )

    def test_each_family_gets_the_field_it_takes(self) -> None:
        for model, level, config in (
            ("gemini-2.5-flash", "low", {"thinkingBudget": 1024}),
            ("gemini-2.5-flash-lite", "minimal", {"thinkingBudget": 512}),
            ("gemini-2.5-pro", "minimal", {"thinkingBudget": 128}),
            ("gemini-2.5-pro", "xhigh", {"thinkingBudget": 32_768}),
            ("gemini-3.8-flash", "minimal", {"thinkingLevel": "LOW"}),
            ("gemini-3.8-flash", "xhigh", {"thinkingLevel": "HIGH"}),
            ("gemini-3.6-flash", "minimal", {"thinkingLevel": "MINIMAL"}),
            ("gemini-3.1-pro-preview", "minimal", {"thinkingLevel": "LOW"}),
            ("gemini-4-hydrogen", "xhigh", {"thinkingLevel": "XHIGH"}),
            ("gemini-4-argon", "medium", {"thinkingLevel": "MEDIUM"}),
            ("gemma-4-31b", "medium", {"thinkingLevel": "HIGH"}),
            ("gemini-flash-latest", "minimal", {"thinkingLevel": "LOW"}),
        ):
            with self.subTest(model=model, level=level):
                self.assertEqual(gemini.thinking_config({"thinking": level}, model)[0], config)

    def test_low_is_the_default_of_every_model_that_takes_a_level(self) -> None:
        for name, model in MODELS.items():
            if "generateContent" in model.methods:
                document = gemini.run_search({"query": "sourdough", "model": name})
                expected = {"thinkingConfig": {"thinkingLevel": "LOW"}} if model.levels else {}
                with self.subTest(name):
                    self.assertNotIn("warnings", document)
                    self.assertEqual(self.last_body()["generationConfig"], expected)
        self.assertEqual(gemini.thinking_config({}, "gemma-4-31b"), ({}, ""))

    def test_none_sends_nothing(self) -> None:
        for model in ("gemini-3.8-flash", "gemini-3.6-flash", "gemini-2.5-flash"):
            params = {"query": "sourdough", "model": model, "thinking_level": "none"}
            document = gemini.run_search(params)
            self.assertNotIn("warnings", document)
            self.assertEqual(self.last_body()["generationConfig"], {})

    def test_another_level_than_the_one_asked_is_said(self) -> None:
        document = gemini.run_search({"query": "x", "thinking": "minimal"})
        self.assertIn("thinking minimal was sent as low", document["warnings"][0])
        document = gemini.run_search({"query": "sourdough", "thinking": "low"})
        self.assertNotIn("warnings", document)

    def test_settings_that_the_api_refuses_are_left_out_once_with_a_note(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"unthinking--{CANARY}" + CANARY)
        document = gemini.run_search({"query": "sourdough", "thinking": "high"})
        self.assertTrue(document["ok"])
        self.assertIn("thinking settings were left out", document["warnings"][0])
        self.assertIn("thinking_level is not supported", document["warnings"][0])
        sent = [one.json()["generationConfig"] for one in self.server.requests]
        self.assertEqual(sent, [{"thinkingConfig": {"thinkingLevel": "HIGH"}}, {}])

    def test_an_unknown_model_is_not_taken_for_refused_thinking(self) -> None:
        params = {"query": "x", "thinking": "low", "model": "gemini-9"}
        self.assertEqual(gemini.run_search(params)["details"]["kind"], "invalid_input")
        asked = [one for one in self.server.requests if one.method == "POST"]
        self.assertEqual(len(asked), 1)

    def test_the_default_level_is_documented(self) -> None:
        reference = (ROOT / "references/gemini_grounding.md").read_text(encoding="utf-8")
        (row,) = re.findall(r"(?m)^\| `thinking`.*$", reference)
        self.assertIn("| low |", row)
        tools = load_script("websearch.servers.mcp_tools").tool_definitions()
        (tool,) = [tool for tool in tools if tool["name"] == "grounded_search"]
        self.assertEqual(tool["inputSchema"]["properties"]["thinking_level"]["default"], "low")

    def test_thoughts_have_a_field_of_their_own_and_never_reach_the_text(self) -> None:
        document = gemini.run_search({"query": "sourdough", "include_thoughts": True})
        self.assertEqual(document["thoughts"], "The user asks: sourdough")
        self.assertNotIn("The user asks", document["text"])
        self.set_environment(GEMINI_API_KEY=f"thoughtful-x-{CANARY}")
        document = gemini.run_search({"query": "sourdough"})
        self.assertNotIn("Secret", document["text"])
        self.assertIn("### Thoughts\n\nSecret thought one.", gemini.to_markdown(document))


class Models(GeminiCase):
    def test_the_flag_goes_before_the_variable_and_the_variable_before_the_default(self) -> None:
        self.assertEqual(gemini.chosen_model({}), ("gemini-3.8-flash", False))
        self.set_environment(GEMINI_MODEL="models/gemini-4-argon")
        self.assertEqual(gemini.chosen_model({}), ("gemini-4-argon", True))
        self.assertEqual(gemini.chosen_model({"model": "gemini-3.6-flash"})[0], "gemini-3.6-flash")

    def test_an_unknown_one_is_named_with_the_nearest_of_the_list(self) -> None:
        for model, nearest in (
            ("gemini-3.0-flash", "gemini-3.8-flash"),
            ("gemini-4-hydrogn", "gemini-4-hydrogen"),
        ):
            run = self.run_script(SCRIPT, "python", "--model", model)
            self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
            self.assertIn(repr(model), run.document["error"])
            self.assertIn(f"nearest model is {nearest}", run.document["details"]["hint"])

    def test_the_word_generate_in_its_error_is_not_taken_for_a_rate_limit(self) -> None:
        document = gemini.run_search({"query": "python", "model": "gemini-9"})
        self.assertIn("generateContent", document["error"])
        self.assertNotIn("quota", document["error"])

    def test_what_cannot_be_a_name_is_refused_before_any_request(self) -> None:
        for model in ("../x", "a/b", "a b", "x?key=1", "é", "models/"):
            document = gemini.run_search({"query": "python", "model": model})
            self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertEqual(self.server.requests, [])

    def test_are_listed_over_all_pages_without_those_that_cannot_answer(self) -> None:
        run = self.run_script(SCRIPT, "models")
        names = [one["name"] for one in run.document["models"]]
        expected = [name for name, model in MODELS.items() if "generateContent" in model.methods]
        self.assertEqual(names, expected)
        self.assertEqual(run.document["default_model"], "gemini-3.8-flash")
        self.assertEqual(len(self.server.requests), 3)
        self.assertNotIn(CANARY, str([one.target for one in self.server.requests]))

    def test_one_that_was_routed_elsewhere_is_reported(self) -> None:
        document = gemini.run_search({"query": "python", "model": "gemini-3.7-flash"})
        self.assertEqual(document["model"], "gemini-3.8-flash")
        self.assertEqual(document["requested_model"], "gemini-3.7-flash")

    def test_a_free_key_is_answered_by_the_free_model_if_none_was_named(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"free--{CANARY}" + CANARY)
        document = gemini.run_search({"query": "sourdough"})
        self.assertEqual(
            (document["model"], document["requested_model"]),
            ("gemini-2.5-flash-lite", "gemini-3.8-flash"),
        )
        self.assertIn("gemini-2.5-flash-lite answered instead", document["warnings"][0])
        asked = [re.findall("models/([^:]+)", one.path)[0] for one in self.server.requests]
        self.assertEqual(asked, ["gemini-3.8-flash", "gemini-2.5-flash-lite"])

    def test_a_free_key_with_a_named_model_gets_an_error_that_names_it(self) -> None:
        self.set_environment(GEMINI_API_KEY=f"free--{CANARY}" + CANARY)
        for given, variable in (("gemini-3.6-flash", ""), (None, "gemini-3.6-flash")):
            self.server.clear()
            self.set_environment(GEMINI_API_KEY=f"free--{CANARY}" + CANARY, GEMINI_MODEL=variable)
            document = gemini.run_search({"query": "sourdough", "model": given})
            self.assertEqual(document["details"]["kind"], "quota")
            self.assertIn("gemini-3.6-flash", document["error"])
            self.assertIn("use model gemini-2.5-flash-lite", document["details"]["hint"])
            self.assertEqual(len(self.server.requests), 1)  # waiting would not help


class Refusals(GeminiCase):
    def test_what_gemini_cannot_do_is_said_with_what_to_do_instead(self) -> None:
        for flag, word in (
            ("--count", "max_sources"),
            ("--site", "name the site"),
            ("--country", "name the country"),
            ("--language", "language of the question"),
            ("--temperature", "ignores"),
        ):
            run = call_main(gemini, "python", flag, "5")
            self.assertEqual(run.code, 2)
            self.assertIn(word, run.document["details"]["hint"])

    def test_values_out_of_bounds_are_named(self) -> None:
        for arguments, word in (
            (["--max-sources", "0"], "max_sources"),
            (["--max-sources", "101"], "max_sources"),
            (["--thinking", "deep"], "thinking"),
            (["--output-format", "xml"], "output_format"),
            (["--provider", "bing"], "provider"),
            (["--timeout", "0"], "timeout"),
            (["--context", " "], "context"),
        ):
            run = call_main(gemini, "python", *arguments)
            self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
            self.assertIn(word, run.document["error"])


if __name__ == "__main__":
    unittest.main()
