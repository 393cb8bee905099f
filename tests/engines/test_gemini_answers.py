"""gemini_search.py: citation markers in any text, long answers, redirect links.

The shapes are those of real answers (recorded by SDK test suites and quoted in issues), with
texts of our own.
The only module to notice a citation at a wrong character.
"""

from __future__ import annotations

import base64
import json
import random
import re
import time
import unittest
from typing import Any

import gemini_search as gemini
from tests.engines.gemini_support import GeminiCase, answer, chunk, support
from tests.fake_server.gemini_answers import redirect_link
from tests.support import CANARY, SLACK, CannedCase, call_main

REDIRECT = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
# Words whose UTF-8 is longer than their number of characters, in the ways that matter.
WORDS = (
    "plain text 12° café naïve e\u0301tude 🙂 👩\u200d👩\u200d👧 👍🏽 ❤\ufe0f 日本語 京都の紅葉 "
    "עברית हिन्दी Ελλάδα Привет \u00a0 x² — “quoted” [brackets] (round) `code` *bold* a_b"
).split(" ")


def cited(text: str, *supports: dict[str, Any], chunks: int = 3, **options: Any) -> dict[str, Any]:
    """Return the parsed answer of a text with supports, its chunks being pages of their own."""
    pages = [chunk(f"https://{name}.example/") for name in "abcdefghij"[:chunks]]
    metadata = {"groundingChunks": pages, "groundingSupports": list(supports)}
    result: dict[str, Any] = gemini.parse_search_response(answer(text, metadata), **options)
    return result


def code_lines(text: str) -> list[str]:
    """The lines of fenced blocks, found line by line, without indentation and blank lines."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        if fence:
            lines.append(line)
            if re.fullmatch(f"{fence[0]}{{{len(fence)},}}", bare):
                fence = ""
        elif opening := re.match(r"(`{3,})[^`]*$|(~{3,})", bare):
            fence = opening[1] or opening[2]
            lines.append(line)
    return [line.strip() for line in lines if line.strip()]


class Markers(unittest.TestCase):
    def test_random_markers_follow_their_segments_exactly(self) -> None:
        chance = random.Random(4)
        for _ in range(400):
            sentences = [
                " ".join(chance.choices(WORDS, k=chance.randint(1, 6))) + f" s{number}."
                for number in range(chance.randint(1, 8))
            ]
            text = chance.choice((" ", "\n\n", "\n- ")).join(sentences)
            chosen = [one for one in sentences if chance.random() < 0.7]
            supports = [
                support(text, one, chance.randrange(3), drift=chance.choice((0, 0, 1, -1, 2, -2)))
                for one in chosen
            ]
            for one in supports:  # an offset below 0 is no offset
                one["segment"]["startIndex"] = max(0, one["segment"].get("startIndex", 0))
            result = cited(text, *chance.sample(supports, len(supports)))
            expected = text
            for one in chosen:
                expected = expected.replace(one, one + "[#]", 1)
            found = re.sub(r"(?<=s\d\.)\[\d\]", "[#]", result["cited_text"] or result["text"])
            self.assertEqual(found, expected.strip())
            self.assertEqual(result["text"], text.strip())

    def test_those_that_the_model_wrote_itself_are_removed(self) -> None:
        text = "[cite_start]Feed it daily [cite: 1, 12]. Keep it warm[cite: 2-4]. See [cite] (x)."
        meant = "Feed it daily. Keep it warm. See [cite] (x)."
        self.assertEqual(cited(text)["text"], meant)
        call = '```tool_code\nprint(google_search.search(queries=["rye"]))\n```'
        self.assertEqual(cited(call)["text"], "")
        self.assertEqual(cited(f"{call}\nRye is a grain.")["text"], "Rye is a grain.")
        result = cited(text, support(text, "Keep it warm[cite: 2-4].", 1))
        self.assertEqual(
            (result["text"], result["cited_text"]), (meant, meant.replace("m.", "m.[1]"))
        )

    def test_without_their_numbers_leave_the_text_as_it_was(self) -> None:
        chance = random.Random(5)
        for _ in range(300):
            text = "".join(
                chance.choices(["é", "日", "🙂", "`", "\n", "~~~\n", "```\n", "w "], k=30)
            )
            data = text.encode()
            supports = []
            for _ in range(5):
                start, end = sorted(chance.choices(range(len(data) + 1), k=2))
                words = data[start:end].decode(errors="ignore")
                segment = {"startIndex": start, "endIndex": end, "text": words}
                supports.append({"segment": segment, "groundingChunkIndices": [0]})
            result = cited(text, *supports)
            marked = result["cited_text"] or result["text"]
            self.assertEqual(re.sub(r"\[1\]|\s", "", marked), re.sub(r"\s", "", result["text"]))

    def test_markers_are_never_inside_a_code_block(self) -> None:
        chance = random.Random(6)
        blocks = [
            "```python\nx = [1]\n\ny\n```",
            "~~~\na\n```\nb\n~~~",
            "  ````\n```\n````",
            "word. ",
        ]
        for _ in range(300):
            text = "\n".join(chance.choices(blocks, k=5)) + chance.choice(
                ["", "\n```\nnever closed"]
            )
            ends = [len(text[:place].encode()) for place in chance.choices(range(len(text)), k=6)]
            supports = [
                {"segment": {"endIndex": end}, "groundingChunkIndices": [0]} for end in ends
            ]
            result = cited(text, *supports)
            self.assertEqual(code_lines(result["cited_text"] or text), code_lines(text))

    def test_markers_of_a_cut_block_are_omitted(self) -> None:
        text = "Do this:\n```sh\nrun it\nand then"
        self.assertEqual(cited(text, support(text, "run it", 0))["cited_text"], "")

    def test_offsets_wrong_by_a_few_bytes_are_corrected(self) -> None:
        text = "The same. The same. Another one."
        for drift in (-3, -2, -1, 1, 2, 3):
            marked = cited(text, support(text, "Another one.", 0, drift=drift))["cited_text"]
            self.assertEqual(marked, text + "[1]")
        start = text.rindex("The same.")
        segment = {"startIndex": start + 1, "endIndex": start + 10, "text": "The same."}
        marked = cited(text, {"segment": segment, "groundingChunkIndices": [0]})["cited_text"]
        self.assertEqual(marked, "The same. The same.[1] Another one.")

    def test_character_offsets_are_corrected_for_unique_words(self) -> None:
        text = "京都の紅葉は美しい。" * 20 + " Only once."
        start = text.index("Only once.")
        segment = {"startIndex": start, "endIndex": start + 10, "text": "Only once."}
        result = cited(text, {"segment": segment, "groundingChunkIndices": [0]})
        self.assertEqual(result["cited_text"], text + "[1]")

    def test_markers_of_segments_not_in_the_text_are_omitted(self) -> None:
        text = "Something else."
        segment = {"startIndex": 2, "endIndex": 9, "text": "Not in it."}
        result = cited(text, {"segment": segment, "groundingChunkIndices": [0]})
        self.assertEqual((result["cited_text"], len(result["sources"])), ("", 3))

    def test_offsets_without_a_text_never_split_a_character(self) -> None:
        text = "a🙂b"
        for end, expected in ((1, "a[1]🙂b"), (3, ""), (5, "a🙂[1]b"), (6, "a🙂b[1]"), (7, "")):
            segment = {"segment": {"endIndex": end}, "groundingChunkIndices": [0]}
            self.assertEqual(cited(text, segment)["cited_text"], expected)

    def test_markers_follow_whole_words_and_numbers(self) -> None:
        for cut, rest in (
            ("The town of Mar", "cus grew."), ("It is 40", ".5 m high."), ("It has 1,", "000."),
            ("नद", "ी पर बाँध।"), ("1931年に", "建った。"), ("It stands", ". It holds."),
        ):  # fmt: skip
            with self.subTest(cut):
                marked = cited(cut + rest, support(cut + rest, cut, 0))["cited_text"]
                whole = {"Mar": "Marcus", "40": "40.5", "1,": "1,000", "नद": "नदी"}
                end = next((word for part, word in whole.items() if cut.endswith(part)), cut)
                self.assertIn(f"{end}[1]", marked)
                self.assertEqual(marked.replace("[1]", ""), cut + rest)

    def test_markers_are_inside_table_cells(self) -> None:
        head = "| what | year |\n|---|---|\n"
        table = f"{head}| dam | 1931 |\n| mill | 1950 |"
        for words, expected in (
            ("| dam | 1931 |", "| dam | 1931[1] |"),
            ("| dam |", "| dam[1] | 1931 |"),
            (head, "| what | year[1] |\n|---|---|\n"),
            (table, "| mill | 1950[1] |"),
        ):
            with self.subTest(words):
                for text in (table, f"{table}\n\nBoth stand."):
                    marked = cited(text, support(text, words, 0))["cited_text"]
                    self.assertIn(expected, marked)
                    self.assertEqual(marked.replace("[1]", ""), text)

    def test_markers_are_in_the_part_of_their_segment(self) -> None:
        texts = ("The mill is old. ", "The dam holds. The mill is old. Boats pass.")
        pieces = [{"text": "hm", "thought": True}, *({"text": text} for text in texts)]
        for said in (True, False):
            supports = [
                support(texts[1], words, 0) for words in ("The dam holds.", texts[0].strip())
            ]
            for one in supports:
                one["segment"]["partIndex"] = 2
                if not said:
                    del one["segment"]["text"]
            body = answer("-", {"groundingChunks": [chunk("https://a.example/")],
                               "groundingSupports": supports})  # fmt: skip
            body["candidates"][0]["content"]["parts"] = pieces
            self.assertEqual(
                gemini.parse_search_response(body)["cited_text"],
                "The mill is old. The dam holds.[1] The mill is old.[1] Boats pass.",
            )


class OddShapes(CannedCase):
    """Whole answers with unusual content, read by a process."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.environment = GeminiCase.environment_of(cls.server.url, "good-" + CANARY)

    def ask(self, body: Any, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Return exit code and document of a search answered with this body."""
        self.server.body = body
        run = call_main(gemini, "question", *arguments)
        return run.code, run.document

    def test_a_long_answer_keeps_its_text_before_its_extras(self) -> None:
        text = "Wörter and words. " * 300
        metadata = {
            "groundingChunks": [
                chunk(REDIRECT + "A" * 300 + str(n), "a.example") for n in range(6)
            ],
            "groundingSupports": [support(text, text[:17], 0)],
        }
        self.server.body = answer(text, metadata)
        run = call_main(gemini, "question")
        self.assertLess(len(run.stdout.decode()), 10_000)
        self.assertEqual(run.document["text"].replace("[1]", ""), text.strip())
        self.assertEqual(len(run.document["sources"]), 6)
        self.assertNotIn("truncated", run.document)

    def test_long_answer_loses_repetitions_then_sources_then_text(self) -> None:
        text = "Wörter and words. " * 200
        chunks = [chunk(REDIRECT + "A" * 300 + str(n), "a.example") for n in range(30)]
        self.server.body = answer(text, {"groundingChunks": chunks})
        document = call_main(gemini, "question").document
        self.assertEqual(document["text"], text.strip())
        self.assertEqual(document["truncated"]["left_out"], ["domain"])
        self.assertGreater(document["truncated"]["items_dropped"]["sources"], 10)
        self.assertIn("[a.example](", gemini.to_markdown(document))
        document = call_main(gemini, "question", "--max-chars", "2500").document
        self.assertGreaterEqual(len(document["text"]), 1_000)
        self.assertGreaterEqual(len(document["sources"]), 1)

    def test_markdown_is_cut_by_its_own_length(self) -> None:
        self.server.body = answer('"\n' * 4_400, {})  # twice as long as JSON
        run = call_main(gemini, "question", "--format", "markdown")
        self.assertNotIn("--max-chars", run.stdout.decode())
        run = call_main(gemini, "question", "--format", "markdown", "--max-chars", "3000")
        self.assertLessEqual(len(run.stdout.decode()), 3_001)
        self.assertIn("--max-chars", run.stdout.decode())

    def test_a_python_function_returns_everything(self) -> None:
        text = "Wörter and words. " * 2_000
        self.server.body = answer(text, {})
        self.assertEqual(gemini.run_search({"query": "x"})["text"], text.strip())
        document = gemini.run_search({"query": "x", "max_chars": 5_000})
        self.assertLessEqual(len(json.dumps(document, ensure_ascii=False)), 5_200)

    def test_ungrounded_answer_is_not_retried_near_the_deadline(self) -> None:
        self.server.delay = 0.6
        self.addCleanup(setattr, self.server, "delay", 0.0)
        started = time.monotonic()
        code, document = self.ask(answer("From memory."), "--timeout", "1.1")
        self.assertLess(time.monotonic() - started, 1.1 + SLACK)
        self.assertEqual((code, document["grounded"]), (0, False))
        self.assertNotIn("attempts", document)

    def test_non_object_answer_is_a_provider_error(self) -> None:
        for body in ([], "text", 3, None, b"", b"{", b"[" * 100_000):
            code, document = self.ask(body)
            self.assertEqual((code, document["details"]["kind"]), (5, "provider"), body)


class RedirectLinks(GeminiCase):
    """--resolve-urls: only Google's redirect host is asked for the target of a link."""

    def test_links_to_anything_but_a_page_are_unchanged(self) -> None:
        targets = (
            "javascript:alert(1)", "ftp://a.example/", "/relative", "file:///etc/passwd", "",
            "https://user:pw@a.example/", "http://[bad", REDIRECT + "AUZIYQloop", "fault:html",
        )  # fmt: skip
        links = [redirect_link(target, number) for number, target in enumerate(targets)]
        self.assertEqual(gemini.resolve_links(links, time.monotonic() + 10), {})

    def test_links_to_other_hosts_are_never_requested(self) -> None:
        links = [
            self.server.url + "/grounding-api-redirect/x",
            "https://vertexaisearch.cloud.google.com.evil.example/grounding-api-redirect/x",
            "https://vertexaisearch.cloud.google.com/other/x",
        ]
        self.assertEqual(gemini.resolve_links(links, time.monotonic() + 10), {})
        self.assertEqual(self.server.requests, [])

    def test_redirects_use_googles_host_for_any_api_address(self) -> None:
        self.set_environment(
            GEMINI_BASE_URL="https://gateway.example.com", https_proxy=self.server.other_url
        )
        links = [redirect_link("https://a.example/", 1)]
        self.assertEqual(gemini.resolve_links(links, time.monotonic() + 2), {})
        (request, *_) = self.server.other_requests
        self.assertEqual(request.target, "vertexaisearch.cloud.google.com:443")

    def test_hanging_links_take_five_seconds_in_total_eight_at_once(self) -> None:
        links = [redirect_link("https://a.example/", 0)]
        links += [redirect_link("fault:hang", number) for number in range(1, 20)]
        started = time.monotonic()
        found = gemini.resolve_links(links, time.monotonic() + 60)
        self.assertLess(time.monotonic() - started, gemini.RESOLVE_TIMEOUT + SLACK)
        self.assertEqual(found, {links[0]: "https://a.example/"})
        # The one that was answered made room for one more; each of the others keeps its place.
        self.assertEqual(len(self.server.requests), 8 + 1)

    def test_that_could_not_be_resolved_are_counted_in_a_warning(self) -> None:
        pages = [chunk(redirect_link("fault:html", 1), "a.example"), chunk("https://b.example/")]
        data = answer("x", {"groundingChunks": pages})
        _, warning = gemini.read_answer({"resolve_urls": True}, data, time.monotonic() + 10)
        self.assertEqual(warning, "1 of 1 redirect links did not resolve.")

    def test_a_token_is_that_of_the_real_shape(self) -> None:
        token = redirect_link("https://a.example/", 7).removeprefix(REDIRECT)
        self.assertTrue(token.startswith("AUZIYQ"))
        self.assertEqual(json.loads(base64.urlsafe_b64decode(token[6:]))[1], "https://a.example/")


if __name__ == "__main__":
    unittest.main()
