"""What gemini_search.py sends for any model and at any time; line by line: test_gemini_wire.py.

The only module to notice a request that is wrong only for some models or on some days.
"""

from __future__ import annotations

import calendar
import itertools
import re
import time
import unittest

import gemini_search as gemini
from tests.engines.gemini_support import GeminiCase
from tests.fake_server.gemini_requests import MODELS
from tests.support import CANARY, ROOT, load_script

SCRIPT = "gemini_search.py"


class Request(GeminiCase):
    def test_system_instruction_has_the_date_in_utc(self) -> None:
        before = time.strftime("%Y-%m-%d", time.gmtime())
        gemini.run_search({"query": "python"})
        after = time.strftime("%Y-%m-%d", time.gmtime())
        instruction = self.last_body()["systemInstruction"]["parts"][0]["text"]
        self.assertRegex(instruction, f"({before}|{after}) .UTC.")
        moment = calendar.timegm((2027, 1, 1, 0, 30, 0))
        self.assertIn("Friday, 2027-01-01 (UTC)", gemini.system_instruction(moment))

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
        """The time range filter of the last search."""
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

    def test_low_is_the_default_of_every_model_that_takes_a_level(self) -> None:
        for name, model in MODELS.items():
            if "generateContent" in model.methods:
                document = gemini.run_search({"query": "sourdough", "model": name})
                expected = {"thinkingConfig": {"thinkingLevel": "LOW"}} if model.levels else {}
                with self.subTest(name):
                    self.assertNotIn("warnings", document)
                    self.assertEqual(self.last_body()["generationConfig"], expected)
        self.assertEqual(gemini.thinking_config({}, "gemma-4-31b"), ({}, ""))

    def test_the_default_level_is_documented(self) -> None:
        reference = (ROOT / "references/gemini_grounding.md").read_text(encoding="utf-8")
        (row,) = re.findall(r"(?m)^\| `thinking`.*$", reference)
        self.assertIn("| low |", row)
        tools = load_script("websearch.ways_in.mcp_tools").tool_definitions()
        (tool,) = [tool for tool in tools if tool["name"] == "grounded_search"]
        self.assertEqual(tool["inputSchema"]["properties"]["thinking_level"]["default"], "low")


if __name__ == "__main__":
    unittest.main()
