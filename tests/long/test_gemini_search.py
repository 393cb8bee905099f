"""What takes longer with gemini_search.py: cited texts of any shape, many processes and queries.

The only module to notice citations that go wrong in a text of a rare shape.
"""

from __future__ import annotations

import concurrent.futures
import random
import time
import unittest
from typing import Any

import gemini_search as gemini
from tests.engines.gemini_support import GeminiCase, answer, chunk
from tests.support import SLACK

SCRIPT = "gemini_search.py"


class CitedTexts(unittest.TestCase):
    def test_of_random_pieces_keep_every_character_of_the_text(self) -> None:
        chance = random.Random(10)
        pieces = ["é", "日", "🙂", "\u200d", *"`\n []().", "```", "~~~", "](", "e\u0301"]
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


class Many(GeminiCase):
    def test_forty_processes_at_once_all_answer(self) -> None:
        def run(number: int) -> Any:
            return self.run_script(
                SCRIPT, f"sourdough {number}", "--resolve-urls", "--timeout", "60"
            )

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(run, range(40)))
        self.assertEqual({(run.code, run.stderr) for run in runs}, {(0, "")})

    def test_a_batch_of_two_hundred_keeps_order_and_answers_all(self) -> None:
        queries = [f"python {number % 150}" for number in range(200)]
        document = gemini.run_batch({"queries": queries, "max_chars": 0})
        self.assertEqual([item["query"] for item in document["results"]], queries)
        self.assertEqual(document["succeeded"], 200)
        self.assertEqual(len(self.server.requests), 150)


if __name__ == "__main__":
    unittest.main()
