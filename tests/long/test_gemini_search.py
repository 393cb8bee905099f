"""What takes longer with gemini_search.py: broken answers by the hundred, floods, processes."""

from __future__ import annotations

import concurrent.futures
import json
import random
import time
import unittest
from typing import Any

from tests.engines.gemini_support import GeminiCase, answer, chunk, gemini, support
from tests.fake_server.gemini_answers import SHAPES
from tests.support import CANARY, SLACK, CannedCase, call_main, mutations

SCRIPT = "gemini_search.py"
TEXT = "Ä first. A second with `code`.\n```\nblock\n```\nThe third."
USUAL = {
    **answer(
        TEXT,
        {
            "webSearchQueries": ["one", "", "two"],
            "groundingChunks": [
                chunk(gemini.REDIRECT_LINK + "x", "a.example"),
                chunk("https://b.example/", "B"),
                {"maps": {"uri": "https://maps.example/", "title": "M"}},
            ],
            "groundingSupports": [
                support(TEXT, "Ä first.", 0, 1),
                support(TEXT, "block", 1),
                support(TEXT, "The third.", 2),
            ],
            "searchEntryPoint": {"renderedContent": "<div></div>"},
        },
        urlContextMetadata={"urlMetadata": [{"retrievedUrl": "https://b.example/"}]},
    ),
    "usageMetadata": {"promptTokenCount": 1, "totalTokenCount": 2},
    "promptFeedback": {"safetyRatings": []},
}
ERROR = {
    "error": {
        "code": 429,
        "message": "Words.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "x.QuotaFailure", "violations": [{"quotaId": "PerDay", "quotaValue": "1"}]},
            {"@type": "x.ErrorInfo", "reason": "R", "metadata": {"quota_limit_value": "1"}},
            {"@type": "x.RetryInfo", "retryDelay": "1s"},
        ],
    }
}
MODELS = {
    "models": [{"name": "models/a", "supportedGenerationMethods": ["generateContent"]}],
    "nextPageToken": "",
}


class BrokenAnswers(CannedCase):
    """Any part of an answer may be missing, null or of another type."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.environment = GeminiCase.environment_of(cls.server.url, "good-" + CANARY)

    def test_are_never_a_defect_and_always_one_document(self) -> None:
        chance = random.Random(7)
        for body in mutations(USUAL, chance, 1_500):
            self.server.body = body
            output_format = chance.choice(["full", "text_only", "sources_only"])
            document = gemini.run_search({"query": "x", "output_format": output_format})
            if not document["ok"]:
                self.assertNotEqual(document["details"]["kind"], "internal", (document, body))
            self.assertTrue(gemini.to_markdown(document))

    def test_that_are_errors_are_never_a_defect(self) -> None:
        chance = random.Random(8)
        for status in (400, 403, 404, 429, 500, 302):
            self.server.status = status
            for body in mutations(ERROR, chance, 60):
                self.server.body = body
                document = gemini.run_search({"query": "x", "timeout": 0.2})
                self.assertFalse(document["ok"])
                self.assertNotEqual(document["details"]["kind"], "internal", (document, body))

    def test_of_the_model_list_are_never_a_defect(self) -> None:
        chance = random.Random(9)
        for body in mutations(MODELS, chance, 200):
            self.server.body = body
            document = gemini.run_models({})
            if not document["ok"]:
                self.assertNotEqual(document["details"]["kind"], "internal", (document, body))

    def test_of_random_texts_keep_every_character_of_the_text(self) -> None:
        chance = random.Random(10)
        pieces = [
            "é",
            "日",
            "🙂",
            "\u200d",
            "`",
            "```",
            "~~~",
            "\n",
            " ",
            "[",
            "](",
            ")",
            ".",
            "e\u0301",
        ]
        for _ in range(4_000):
            text = "".join(chance.choices(pieces, k=chance.randint(1, 40)))
            data = text.encode()
            supports = []
            for _ in range(chance.randint(1, 6)):
                start, end = sorted(chance.choices(range(len(data) + 1), k=2))
                words = data[start:end].decode(errors="ignore")
                segment = {"startIndex": start, "endIndex": end, "text": words}
                supports.append({"segment": segment, "groundingChunkIndices": [0]})
            metadata = {"groundingChunks": [chunk("https://a.example/")]}
            result = gemini.parse_search_response(
                answer(text, {**metadata, "groundingSupports": supports})
            )
            if result["cited_text"]:
                plain = result["cited_text"].replace("[1]", "")
                self.assertEqual("".join(plain.split()), "".join(text.split()))

    def test_of_degenerate_text_are_read_in_time(self) -> None:
        for piece in ("[", "`", "![a](", "> ", "```\n", "~~~\nx\n", "`a", "[a](b", "` `` "):
            text = piece * (300_000 // len(piece))
            data = answer(text, {"groundingChunks": [chunk("https://a.example/")]})
            data["candidates"][0]["groundingMetadata"]["groundingSupports"] = [
                {"segment": {"endIndex": 100 + n}, "groundingChunkIndices": [0]} for n in range(50)
            ]
            started = time.monotonic()
            gemini.parse_search_response(data)
            self.assertLess(time.monotonic() - started, 5 + SLACK, piece)


class RandomParameters(GeminiCase):
    def test_never_break_a_command(self) -> None:
        chance = random.Random(11)
        values: list[Any] = [
            None, True, False, 0, -1, 10**30, 1.5, float("inf"), "", " ", "x", "京都", "\ud800",
            "\x00", "a" * 5_000, "1e999", "@/etc/passwd", "http://x.y", "2024-02-30..2024-01-01",
            "week", "low", [], ["x"], [None], [["x"]], {}, {"k": "x"}, "vertex", "code-assist",
        ]  # fmt: skip
        for _ in range(3_000):
            command = chance.choice(list(gemini.COMMANDS))
            names = [item["name"] for item in gemini.COMMANDS[command]["params"]]
            names += ["timeout", "max_chars", "verbos", "q", ""]
            chosen = chance.sample(names, chance.randint(0, min(5, len(names))))
            params = {name: chance.choice(values) for name in chosen}
            params |= {"dry_run": True} | ({"query": "x"} if chance.random() < 0.5 else {})
            document = gemini.RUN[command](params)
            if not document["ok"]:
                self.assertNotEqual(document["details"]["kind"], "internal", (params, document))
                self.assertTrue(document["error"])
            json.dumps(document, allow_nan=False).encode()
            self.assertTrue(gemini.to_markdown(document))
        self.assertEqual(self.server.requests, [])


class Floods(GeminiCase):
    def test_answers_without_end_are_refused_within_the_deadline(self) -> None:
        for key in ("bomb", "huge"):
            self.set_environment(GEMINI_API_KEY=f"{key}-{CANARY}")
            started = time.monotonic()
            run = call_main(gemini, "sourdough", "--timeout", "20")
            self.assertLess(time.monotonic() - started, 20 + SLACK)
            self.assertEqual((run.code, run.document["details"]["kind"]), (5, "provider"))
            self.assertIn("longer than", run.document["error"])

    def test_forty_processes_at_once_all_answer(self) -> None:
        def run(number: int) -> Any:
            return self.run_script(
                SCRIPT, f"sourdough {number}", "--resolve-urls", "--timeout", "60"
            )

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(run, range(40)))
        self.assertEqual({(one.code, one.stderr) for one in runs}, {(0, "")})

    def test_a_batch_of_two_hundred_keeps_order_and_answers_all(self) -> None:
        queries = [f"python {number % 150}" for number in range(200)]
        document = gemini.run_batch({"queries": queries, "max_chars": 0})
        self.assertEqual([one["query"] for one in document["results"]], queries)
        self.assertEqual(document["succeeded"], 200)
        self.assertEqual(len(self.server.requests), 150)

    def test_every_shape_of_an_answer_prints_one_document_as_a_process(self) -> None:
        for shape in SHAPES:
            for flags in ([], ["--format", "markdown"], ["--resolve-urls", "--suggestions"]):
                run = self.run_script(SCRIPT, "sourdough", *flags, key=f"{shape}-{CANARY}")
                with self.subTest(shape, flags=flags):
                    self.assertIn(run.code, (0, 1, 5))
                    self.assertTrue(run.stdout.strip())
                    self.assertEqual(run.stderr, "")


if __name__ == "__main__":
    unittest.main()
