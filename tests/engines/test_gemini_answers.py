"""How gemini_search.py reads answers: sources, citation markers, odd shapes, Markdown.

The shapes are those of real answers (recorded by SDK test suites and quoted in issues), with
texts of our own.
"""

from __future__ import annotations

import base64
import json
import random
import re
import time
import unittest
from typing import Any

from tests.engines.gemini_support import GeminiCase, answer, chunk, gemini, support
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
    """The lines of fenced blocks without indentation, blank ones left out, found line by line."""
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
    def test_stand_at_the_byte_offsets_of_accents_emoji_and_cjk(self) -> None:
        text = "Es ist 19° warm. 京都は晴れ。 Party 🎉 now. Ende."
        supports = [support(text, words, 0) for words in ("京都は晴れ。", "Party 🎉 now.", "Ende.")]
        self.assertEqual(
            cited(text, *supports)["cited_text"],
            "Es ist 19° warm. 京都は晴れ。[1] Party 🎉 now.[1] Ende.[1]",
        )

    def test_of_random_texts_and_supports_stand_exactly_behind_their_segments(self) -> None:
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

    def test_never_stand_inside_a_block_of_code(self) -> None:
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

    def test_of_a_block_of_code_get_a_line_of_their_own_behind_it(self) -> None:
        text = "Do this:\n```sh\nrun\n```\nThen rest."
        words = "Do this:\n```sh\nrun\n```"
        self.assertEqual(
            cited(text, support(text, words, 0))["cited_text"],
            "Do this:\n```sh\nrun\n```\n[1]\n\nThen rest.",
        )

    def test_of_a_block_that_was_cut_off_are_left_out(self) -> None:
        text = "Do this:\n```sh\nrun it\nand then"
        self.assertEqual(cited(text, support(text, "run it", 0))["cited_text"], "")

    def test_do_not_break_code_spans_links_or_characters(self) -> None:
        text = "Use `a b` and [the docs](https://x.example/a) 👍🏽 e\u0301."
        for words, expected in (
            ("Use `a", "Use `a b`[1] and"),
            ("[the docs](https", "(https://x.example/a)[1] "),
            ("👍", "👍🏽[1] e"),
            ("👍🏽 e", "👍🏽 e\u0301[1]."),
        ):
            with self.subTest(words):
                self.assertIn(expected, cited(text, support(text, words, 0))["cited_text"])

    def test_before_a_parenthesis_do_not_become_a_link(self) -> None:
        text = "True.(see there)"
        self.assertEqual(
            cited(text, support(text, "True.", 0))["cited_text"], "True.[1] (see there)"
        )

    def test_of_offsets_that_are_off_by_a_few_bytes_are_mended(self) -> None:
        text = "The same. The same. Another one."
        for drift in (-3, -2, -1, 1, 2, 3):
            marked = cited(text, support(text, "Another one.", 0, drift=drift))["cited_text"]
            self.assertEqual(marked, text + "[1]")
        start = text.rindex("The same.")
        segment = {"startIndex": start + 1, "endIndex": start + 10, "text": "The same."}
        marked = cited(text, {"segment": segment, "groundingChunkIndices": [0]})["cited_text"]
        self.assertEqual(marked, "The same. The same.[1] Another one.")

    def test_of_offsets_that_count_characters_are_mended_where_the_words_occur_once(self) -> None:
        text = "京都の紅葉は美しい。" * 20 + " Only once."
        start = text.index("Only once.")
        segment = {"startIndex": start, "endIndex": start + 10, "text": "Only once."}
        result = cited(text, {"segment": segment, "groundingChunkIndices": [0]})
        self.assertEqual(result["cited_text"], text + "[1]")

    def test_of_segments_that_are_not_in_the_text_are_left_out(self) -> None:
        text = "Something else."
        segment = {"startIndex": 2, "endIndex": 9, "text": "Not in it."}
        result = cited(text, {"segment": segment, "groundingChunkIndices": [0]})
        self.assertEqual((result["cited_text"], len(result["sources"])), ("", 3))

    def test_of_offsets_without_a_text_never_split_a_character(self) -> None:
        text = "a🙂b"
        for end, expected in ((1, "a[1]🙂b"), (3, ""), (5, "a🙂[1]b"), (6, "a🙂b[1]"), (7, "")):
            segment = {"segment": {"endIndex": end}, "groundingChunkIndices": [0]}
            self.assertEqual(cited(text, segment)["cited_text"], expected)

    def test_count_only_text_parts_that_are_no_thoughts(self) -> None:
        data = answer("", {"groundingChunks": [chunk("https://a.example/")]})
        text = "Ä first. Ö second."
        data["candidates"][0]["content"] = {
            "parts": [
                {"text": "A thought, ß.", "thought": True},
                {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB"}},
                {"text": "Ä first. "},
                {"text": "Another thought.", "thought": True},
                {"text": "Ö second.", "thoughtSignature": "c2ln"},
            ]
        }
        data["candidates"][0]["groundingMetadata"]["groundingSupports"] = [
            support(text, "Ö second.", 0)
        ]
        result = gemini.parse_search_response(data)
        self.assertEqual(result["text"], text)
        self.assertEqual(result["cited_text"], "Ä first. Ö second.[1]")
        self.assertEqual(result["thoughts"], "A thought, ß.\nAnother thought.")

    def test_offsets_count_the_text_as_it_was_sent_before_controls_are_removed(self) -> None:
        text = "One.\r\nTwo\x07.\r\nTwo.\r\nThree."
        segment = support(text, "Three.", 0)
        self.assertEqual(cited(text, segment)["cited_text"], "One.\nTwo.\nTwo.\nThree.[1]")


class Sources(unittest.TestCase):
    def test_are_numbered_in_order_of_first_use(self) -> None:
        text = "One. Two. Three."
        result = cited(
            text, support(text, "Three.", 0), support(text, "One.", 2), support(text, "Two.", 1, 2)
        )
        self.assertEqual(
            [one["domain"] for one in result["sources"]], ["c.example", "b.example", "a.example"]
        )
        self.assertEqual(result["cited_text"], "One.[1] Two.[1][2] Three.[3]")

    def test_that_are_left_out_lose_their_markers(self) -> None:
        text = "One. Two."
        result = cited(text, support(text, "One.", 1), support(text, "Two.", 0, 2), max_sources=2)
        self.assertEqual(len(result["sources"]), 2)
        self.assertEqual(result["cited_text"], "One.[1] Two.[2]")

    def test_with_one_url_share_a_number_and_a_marker(self) -> None:
        text = "One."
        pages = [chunk("https://a.example/"), chunk("https://a.example/")]
        metadata = {"groundingChunks": pages, "groundingSupports": [support(text, "One.", 0, 1)]}
        result = gemini.parse_search_response(answer(text, metadata))
        self.assertEqual((result["cited_text"], len(result["sources"])), ("One.[1]", 1))

    def test_indices_out_of_range_and_of_empty_chunks_have_no_marker(self) -> None:
        text = "One. Two."
        metadata = {
            "groundingChunks": [{}, chunk("https://a.example/")],
            "groundingSupports": [support(text, "One.", 0, 7), support(text, "Two.", 1)],
        }
        result = gemini.parse_search_response(answer(text, metadata))
        self.assertEqual(result["cited_text"], "One. Two.[1]")
        self.assertEqual([one["number"] for one in result["sources"]], [1])

    def test_domain_is_the_host_or_for_a_redirect_link_the_title(self) -> None:
        pages = [
            chunk(REDIRECT + "AUZIYQx", "weather.example"),
            chunk("https://www.example.org/a", "A page"),
            {"web": {"uri": REDIRECT + "AUZIYQy", "title": "A title", "domain": "site.example"}},
            chunk(REDIRECT + "AUZIYQz"),
            {"maps": {"uri": "https://maps.example.com/?cid=1", "title": "A café"}},
        ]
        sources = gemini.parse_search_response(answer("x", {"groundingChunks": pages}))["sources"]
        self.assertEqual(
            [(one["title"], one["domain"]) for one in sources],
            [
                ("weather.example", "weather.example"),
                ("A page", "www.example.org"),
                ("A title", "site.example"),
                ("vertexaisearch.cloud.google.com", "vertexaisearch.cloud.google.com"),
                ("A café", "maps.example.com"),
            ],
        )

    def test_that_are_no_web_addresses_are_left_out(self) -> None:
        pages = [
            chunk(url)
            for url in ("javascript:alert(1)", "ftp://a.example/", "", "http://[bad", "//a.example")
        ]
        result = gemini.parse_search_response(answer("x", {"groundingChunks": pages}))
        self.assertEqual((result["sources"], result["grounded"]), ([], False))

    def test_titles_and_urls_lose_what_could_deceive_a_reader(self) -> None:
        page = chunk("https://a.example/\u202e\u200bx", "Safe\u202e\x1b[31m \U000e0041title\n")
        (source,) = gemini.parse_search_response(answer("x", {"groundingChunks": [page]}))[
            "sources"
        ]
        self.assertEqual((source["title"], source["url"]), ("Safe title", "https://a.example/x"))

    def test_of_a_search_that_google_answers_itself_keep_a_url_that_works(self) -> None:
        url = "https://www.google.com/search?q=weather+in+San Francisco, CA,+US"
        data = answer("x", {"groundingChunks": [chunk(url, "Weather (San Francisco) [now]")]})
        text = gemini.format_search_result(gemini.parse_search_response(data))
        self.assertIn(
            "1. [Weather (San Francisco) \\[now\\]](https://www.google.com/search?q=weather+in+"
            "San%20Francisco,%20CA,+US) (www.google.com)",
            text,
        )

    def test_links_survive_brackets_spaces_and_parentheses(self) -> None:
        page = chunk("https://a.example/x_(y) z", "A [b] (c)")
        data = answer("x", {"groundingChunks": [page]})
        text = gemini.format_search_result(gemini.parse_search_response(data))
        self.assertIn("[A \\[b\\] (c)](https://a.example/x_%28y%29%20z)", text)


class OddShapes(CannedCase):
    """Whole answers as a process meets them."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.environment = GeminiCase.environment_of(cls.server.url, "good-" + CANARY)

    def ask(self, body: Any, *arguments: str) -> tuple[int, dict[str, Any]]:
        """Return exit code and document of a search that is answered with the body."""
        self.server.body = body
        run = call_main(gemini, "question", *arguments)
        return run.code, run.document

    def test_queries_and_suggestions_without_chunks_are_not_grounded_and_say_so(self) -> None:
        metadata = {
            "webSearchQueries": ["some query"],
            "searchEntryPoint": {"renderedContent": "<div>chip</div>"},
        }
        code, document = self.ask(answer("Some answer.", metadata))
        self.assertEqual((code, document["grounded"], document["sources"]), (0, False, []))
        self.assertEqual(document["search_queries"], ["some query"])
        self.assertIn("names no sources", document["warnings"][0])

    def test_empty_or_missing_metadata_is_not_grounded_and_says_so(self) -> None:
        for metadata in ({}, None):
            code, document = self.ask(answer("From memory.", metadata))
            self.assertEqual((code, document["grounded"]), (0, False))
            self.assertIn("without a search", document["warnings"][0])

    def test_empty_chunks_are_no_sources(self) -> None:
        text = "Cloudy. 19°C."
        metadata = {"groundingChunks": [{}, {}], "groundingSupports": [support(text, "19°C.", 0)]}
        _, document = self.ask(answer(text, {**metadata, "webSearchQueries": ["london weather"]}))
        self.assertEqual((document["sources"], document["grounded"]), ([], False))
        self.assertNotIn("cited_text", document)

    def test_url_context_with_every_offset_one_too_high_is_mended(self) -> None:
        text = "The site lists reports. It links to letters."
        metadata = {
            "groundingChunks": [chunk("https://company.example", "COMPANY")],
            "groundingSupports": [
                support(text, "The site lists reports.", 0, drift=1),
                support(text, "It links to letters.", 0, drift=1),
            ],
        }
        pages = [
            {
                "retrievedUrl": "https://company.example",
                "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS",
            },
            {
                "retrievedUrl": "https://b.example",
                "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_PAYWALL",
            },
        ]
        body = answer(text, metadata, urlContextMetadata={"urlMetadata": pages})
        _, document = self.ask(body)
        self.assertEqual(document["text"], "The site lists reports.[1] It links to letters.[1]")
        self.assertEqual([one["status"] for one in document["pages"]], ["success", "paywall"])

    def test_a_blocked_prompt_is_an_error_even_without_a_reason(self) -> None:
        for feedback, candidates in (
            ({"blockReasonMessage": "Message"}, []),
            ({"blockReason": "PROHIBITED_CONTENT"}, None),
        ):
            body = {"candidates": candidates, "promptFeedback": feedback}
            code, document = self.ask(body)
            self.assertEqual((code, document["details"]["kind"]), (5, "blocked"))
            self.assertIn(*feedback.values(), document["error"])

    def test_a_stopped_answer_is_an_error_although_it_has_words(self) -> None:
        for reason in (
            "SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII", "BLOCKLIST", "MODEL_ARMOR",
        ):  # fmt: skip
            code, document = self.ask(answer("The first words", reason=reason))
            self.assertEqual((code, document["details"]["kind"]), (5, "blocked"))
            self.assertIn(reason, document["error"])

    def test_an_answer_without_content_says_why(self) -> None:
        body = answer(reason="OTHER", finishMessage="Model failed to generate content.")
        code, document = self.ask(body)
        self.assertEqual((code, document["details"]["kind"]), (5, "provider"))
        self.assertIn("OTHER Model failed to generate content.", document["error"])

    def test_no_words_at_all_are_no_results(self) -> None:
        for body in (answer(), answer("  \n"), {"candidates": []}, {}):
            code, document = self.ask(body)
            self.assertEqual((code, document["error"]), (1, "No results found."))

    def test_cut_off_answers_say_so(self) -> None:
        for reason in ("MAX_TOKENS", "CONTINUATION"):
            code, document = self.ask(answer("first segment …", reason=reason))
            self.assertEqual((code, document["finish_reason"]), (0, reason))
            self.assertIn(f"The answer is cut off ({reason}).", document["warnings"])
        code, document = self.ask(answer(reason="MAX_TOKENS"))
        self.assertEqual((code, document["details"]["kind"]), (5, "provider"))
        self.assertIn("use --thinking low", document["details"]["hint"])

    def test_another_model_than_the_one_asked_is_reported(self) -> None:
        body = {**answer("x"), "modelVersion": "gemini-3.9-flash"}
        _, document = self.ask(body)
        self.assertEqual(
            (document["model"], document["requested_model"]),
            ("gemini-3.9-flash", "gemini-3.8-flash"),
        )
        _, document = self.ask(answer("x"))
        self.assertNotIn("requested_model", document)

    def test_billed_queries_are_the_different_ones_that_are_not_blank(self) -> None:
        queries = ["a", "", "b", " ", "a"]
        metadata = {"webSearchQueries": queries, "groundingChunks": [chunk("https://a.example/")]}
        _, document = self.ask(answer("x", metadata))
        self.assertEqual((document["search_queries"], document["billed_queries"]), (["a", "b"], 2))
        body = {**answer("x", metadata), "modelVersion": "gemini-2.5-flash-lite"}
        self.assertEqual(self.ask(body)[1]["billed_queries"], 1)  # by answer, not by query

    def test_usage_counts_thoughts_and_tools_apart(self) -> None:
        usage = {
            "promptTokenCount": 17,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 11,
            "toolUsePromptTokenCount": 7,
            "totalTokenCount": 40,
        }
        metadata = {"groundingChunks": [chunk("https://a.example/")]}
        _, document = self.ask({**answer("x", metadata), "usageMetadata": usage})
        self.assertEqual(
            document["usage"],
            {
                "prompt_tokens": 17,
                "tool_prompt_tokens": 7,
                "thinking_tokens": 11,
                "output_tokens": 5,
                "total_tokens": 40,
            },
        )

    def test_suggestions_are_given_on_request_and_unchanged(self) -> None:
        html = '<style>\n.chip { color: #fff; }\n</style>\n<div class="container">a &amp; b</div>'
        body = answer("x", {"searchEntryPoint": {"renderedContent": html}})
        self.assertNotIn("suggestions_html", self.ask(body)[1])
        self.assertEqual(self.ask(body, "--suggestions")[1]["suggestions_html"], html)

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

    def test_a_site_is_named_beside_its_title_once_and_those_of_reddit_are_known(self) -> None:
        chunks = [
            chunk("https://old.reddit.com/r/bread/1", "A thread"),
            chunk(REDIRECT + "1", "reddit.com"),
            chunk(REDIRECT + "2", "notreddit.com"),
        ]
        self.server.body = answer("Bread.", {"groundingChunks": chunks})
        text = call_main(gemini, "reddit", "bread", "--md").stdout.decode()
        self.assertIn("\n> 1 of 3 sources are not from Reddit.\n", text)
        self.assertIn("1. [A thread](https://old.reddit.com/r/bread/1) (old.reddit.com)\n", text)
        self.assertRegex(text, r"2\. \[reddit\.com\]\(\S+\)\n3\. ")

    def test_of_a_long_answer_goes_what_is_repeated_then_sources_then_text(self) -> None:
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

    def test_one_without_sources_is_not_asked_for_again_if_too_little_time_is_left(self) -> None:
        self.server.delay = 0.6
        self.addCleanup(setattr, self.server, "delay", 0.0)
        started = time.monotonic()
        code, document = self.ask(answer("From memory."), "--timeout", "1.1")
        self.assertLess(time.monotonic() - started, 1.1 + SLACK)
        self.assertEqual((code, document["grounded"]), (0, False))
        self.assertNotIn("attempts", document)

    def test_an_answer_that_is_no_object_is_the_provider_s_fault(self) -> None:
        for body in ([], "text", 3, None, b"", b"{", b"[" * 100_000):
            code, document = self.ask(body)
            self.assertEqual((code, document["details"]["kind"]), (5, "provider"), body)


class RedirectLinks(GeminiCase):
    """--resolve-urls: Google's redirect host is asked where a link leads, and nobody else."""

    def test_are_not_resolved_unless_asked_for(self) -> None:
        document = gemini.run_search({"query": "sourdough"})
        self.assertEqual(len(self.server.requests), 1)
        self.assertTrue(all(one["url"].startswith(REDIRECT) for one in document["sources"]))

    def test_become_pages_that_are_then_listed_once(self) -> None:
        document = gemini.run_search({"query": "sourdough", "resolve_urls": True})
        self.assertEqual(
            [one["url"] for one in document["sources"]],
            [
                "https://encyclopedia.example.org/wiki/Sourdough",
                "https://kitchen.example.com/bread/sourdough-starter-guide",
                "https://forum.example.com/t/flat-sourdough/4711",
            ],
        )
        self.assertRegex(document["text"], r"baker's yeast\.\[1\].*mild sour taste\.\[1\]")
        self.assertNotIn("warnings", document)

    def test_max_sources_counts_pages(self) -> None:
        document = gemini.run_search({"query": "sourdough", "resolve_urls": True, "max_sources": 2})
        self.assertEqual(
            [one["domain"] for one in document["sources"]],
            ["encyclopedia.example.org", "kitchen.example.com"],
        )

    def test_are_asked_with_head_and_without_the_key_and_not_followed(self) -> None:
        gemini.run_search({"query": "sourdough", "resolve_urls": True})
        heads = [one for one in self.server.requests if one.method != "POST"]
        self.assertEqual([one.method for one in heads], ["HEAD"] * 4)
        for request in heads:
            self.assertNotIn(CANARY, str(request.headers))
            self.assertTrue(request.path.startswith("/grounding-api-redirect/"))

    def test_that_lead_to_something_else_than_a_page_stay_as_they_are(self) -> None:
        targets = (
            "javascript:alert(1)", "ftp://a.example/", "/relative", "file:///etc/passwd", "",
            "https://user:pw@a.example/", "http://[bad", REDIRECT + "AUZIYQloop", "fault:html",
        )  # fmt: skip
        links = [redirect_link(target, number) for number, target in enumerate(targets)]
        self.assertEqual(gemini.resolve_links(links, time.monotonic() + 10), {})

    def test_of_any_other_host_are_never_asked(self) -> None:
        links = [
            self.server.url + "/grounding-api-redirect/x",
            "https://vertexaisearch.cloud.google.com.evil.example/grounding-api-redirect/x",
            "https://vertexaisearch.cloud.google.com/other/x",
        ]
        self.assertEqual(gemini.resolve_links(links, time.monotonic() + 10), {})
        self.assertEqual(self.server.requests, [])

    def test_are_asked_at_google_s_host_whatever_the_address_of_the_api(self) -> None:
        self.set_environment(
            GEMINI_BASE_URL="https://gateway.example.com", https_proxy=self.server.other_url
        )
        links = [redirect_link("https://a.example/", 1)]
        self.assertEqual(gemini.resolve_links(links, time.monotonic() + 2), {})
        (request, *_) = self.server.other_requests
        self.assertEqual(request.target, "vertexaisearch.cloud.google.com:443")

    def test_that_hang_cost_five_seconds_in_all_and_are_asked_at_most_eight_at_once(self) -> None:
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
        self.assertEqual(warning, "1 of 1 redirect links lead nowhere.")

    def test_a_token_is_that_of_the_real_shape(self) -> None:
        token = redirect_link("https://a.example/", 7).removeprefix(REDIRECT)
        self.assertTrue(token.startswith("AUZIYQ"))
        self.assertEqual(json.loads(base64.urlsafe_b64decode(token[6:]))[1], "https://a.example/")


if __name__ == "__main__":
    unittest.main()
