"""scripts/serper_search.py: the promises of its origin, its batches, its reference.

What it sends and prints, answer by answer: test_serper_wire.py.
The only module to notice a batch query that is paid for twice.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import serper_search as serper
from tests.fake_server.corpus import CORPUS
from tests.fake_server.serper_results import place_ids
from tests.support import (
    CANARY,
    PYTHON,
    ROOT,
    SCRIPTS,
    CannedCase,
    EnvironmentCase,
    FakeServerCase,
    Run,
    call_main,
    clean_environment,
    mutations,
    run_script,
)

COMMANDS = serper.COMMANDS
SCRIPT = "serper_search.py"
PLACE = place_ids(next(document for document in CORPUS.documents if document.place))
PAGE = next(document for document in CORPUS.documents if document.web).url


# A command line of every command.
WORDS = {
    **{name: [name, "guide"] for name in COMMANDS},
    "reviews": ["reviews", "--cid", PLACE["cid"]],
    "lens": ["lens", PAGE],
    "scrape": ["scrape", PAGE],
    "account": ["account"],
    "batch": ["batch", "--queries", "guide"],
}


def serper_environment(url: str, key: str) -> dict[str, str]:
    """Variables that send the script's requests to a server with both of Serper's hosts."""
    return {"SERPER_BASE_URL": url, "SERPER_SCRAPE_BASE_URL": url, "SERPER_API_KEY": key}


class SerperCase(FakeServerCase):
    environment_of = staticmethod(serper_environment)

    def bodies(self) -> list[Any]:
        """The JSON body of every request received."""
        return [request.json() if request.body else None for request in self.server.requests]

    def run_main(self, *words: str) -> Run:
        """Run the script in this process with command-line words."""
        return call_main(serper, *words)


class CannedSerperCase(CannedCase):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.environment = serper_environment(cls.server.url, "good-" + CANARY)


class ToolingSpecificationTest(SerperCase):
    """The scenarios of the document "Tooling Specification" about the script."""

    def test_successful_search_returns_5_with_title_link_and_snippet(self) -> None:
        run = self.run_script(SCRIPT, "guide")
        results = run.document["results"]
        self.assertEqual((run.code, run.document["ok"], len(results)), (0, True, 5))
        self.assertEqual([item["position"] for item in results], [1, 2, 3, 4, 5])
        for item in results:
            self.assertLessEqual(
                item.keys(), {"position", "title", "link", "url", "snippet", "date"}
            )
            self.assertEqual(item["url"], item["link"])
            self.assertTrue(item["title"] and item["snippet"])
            self.assertRegex(item["link"], r"^https://\S+$")

    def test_a_dry_run_counts_the_requests_of_all_result_pages(self) -> None:
        for words, requests, cost in (
            (["guide", "-n", "10"], 1, 1),
            (["guide", "-n", "30"], 3, 3),
            (["shopping", "guide", "-n", "20"], 2, 4),
            (["maps", "guide"], 1, 3),
            (["reviews", "--cid", "1", "-n", "10"], 2, None),
        ):
            run = self.run_script(SCRIPT, *words, "--dry-run")
            planned = (run.document["requests"], run.document.get("credits"))
            self.assertEqual(planned, (requests, cost), words)
        self.assertEqual(self.server.requests, [])

    def test_missing_api_key_is_an_error_message_and_nothing_is_sent(self) -> None:
        self.set_environment(SERPER_API_KEY="")
        runs = {name: self.run_main(*words) for name, words in WORDS.items()}
        runs["a process"] = self.run_script(SCRIPT, "guide", SERPER_API_KEY="")
        for command, run in runs.items():
            with self.subTest(command=command):
                self.assertEqual(run.code, 3)
                self.assertEqual(run.document["error"], "SERPER_API_KEY is not set.")
                self.assertEqual(run.document["details"]["kind"], "auth")
                self.assertNotIn("results", run.document)
        self.assertEqual(self.server.requests, [])

    def test_api_request_failure_is_an_error_message_with_failure_details(self) -> None:
        run = self.run_script(SCRIPT, "guide", key="contact-" + CANARY)
        self.assertEqual((run.code, run.document["ok"]), (5, False))
        self.assertIn("Query not allowed. Contact support.", run.document["error"])
        self.assertEqual(run.document["details"]["status"], 400)

    def test_standard_library_usage_no_package_is_needed(self) -> None:
        run = subprocess.run(
            [sys.executable, "-I", "-S", str(SCRIPTS / SCRIPT), "guide"],
            env=clean_environment(**self.environment),
            capture_output=True,
            check=False,
        )
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        self.assertTrue(json.loads(run.stdout)["results"])

    def test_command_line_argument_handling_the_query_is_sent_as_it_is(self) -> None:
        hard = "\"a\" 'b' `touch x` $(touch y) \\ ; | & 京都 紅葉 العربية 😀\nnext line\tтаб %00 "
        query = (hard * 20)[:999] + "."
        with TemporaryDirectory() as folder:
            for words in ([query], ["--", query], ["--query", query], ["search", query]):
                self.server.clear()
                run = run_script(SCRIPT, *words, env=self.environment, cwd=folder)
                self.assertEqual(self.bodies(), [{"q": query, "num": 5}])
                self.assertEqual(run.document["query"], query)
            self.assertEqual(os.listdir(folder), [])

    def test_python_script_execution_takes_a_query_that_looks_like_a_flag(self) -> None:
        self.run_script(SCRIPT, "--", "--count")
        self.assertEqual(self.bodies(), [{"q": "--count", "num": 5}])

    def test_string_return_type_is_one_json_document_even_for_errors(self) -> None:
        for words in (["guide"], ["zzzqqq"], ["--no-such-flag"], [""], ["news"]):
            run = self.run_script(SCRIPT, *words)
            self.assertEqual(run.stdout.count(b"\n"), 1, words)
            self.assertIn("ok", run.document, words)


class WhatWasPaidForTest(CannedSerperCase):
    def test_news_have_days_and_the_latest_of_ten_come_first(self) -> None:
        words = ("2 weeks ago", "21 hours ago", "Nov 3, 2020", "", "6 hours ago")
        self.server.body = {
            "news": [
                {"title": word, "link": f"https://a.example/{word}", "date": word} for word in words
            ]
        }
        document = serper.run_news({"query": "q", "count": 4})
        shown = [(item["title"], item.get("date"), item.get("age")) for item in document["results"]]
        moments = [time.gmtime(time.time() - hours * 3_600) for hours in (6, 21)]
        days = [time.strftime("%Y-%m-%d", moment) for moment in moments]
        self.assertEqual(
            shown,
            [
                ("6 hours ago", days[0], "6 hours ago"),
                ("21 hours ago", days[1], "21 hours ago"),
                ("2 weeks ago", "2 weeks ago", None),
                ("Nov 3, 2020", "2020-11-03", None),
            ],
        )
        self.assertIn(f"{days[0]} · 6 hours ago", serper.to_markdown(document))

    def test_reviews_are_shown_up_to_the_token(self) -> None:
        self.server.body = {
            "reviews": [
                {"id": str(number), "rating": 4, "snippet": "Fine."} for number in range(8)
            ],
            "nextPageToken": "t8",
        }
        document = serper.RUN["reviews"]({"cid": "1", "count": 3})
        self.assertEqual((len(document["results"]), document["next_page_token"]), (8, "t8"))

    def test_opening_hours_of_the_week_are_in_markdown(self) -> None:
        week = dict.fromkeys(("Monday", "Tuesday", "Wednesday"), "08:00-18:00")
        place = {"title": "Mill", "openingHours": {**week, "Sunday": "Closed"}}
        self.server.body = {"places": [place]}
        text = serper.to_markdown(serper.RUN["maps"]({"query": "mill"}))
        self.assertIn("Open: Monday-Wednesday 08:00-18:00; Sunday Closed", text)

    def test_prices_are_numbers_beside_their_text(self) -> None:
        for text, number in (
            ("$36.00", 36.0),
            ("$1,299.99 now", 1299.99),
            ("1.299,99 €", 1299.99),
            ("1 299,00 kr", 1299.0),
            ("¥4,980", 4980.0),
            ("39,5 €", 39.5),
            ("$10 - $20", None),
            ("free", None),
        ):
            self.server.body = {
                "shopping": [{"title": "Mill", "link": "https://a.example/", "price": text}]
            }
            [item] = serper.RUN["shopping"]({"query": "mill"})["results"]
            self.assertEqual((item["price"], item.get("price_number")), (text, number))


class QuotedKeyTest(CannedSerperCase):
    def test_a_key_that_the_answer_quotes_is_not_passed_on(self) -> None:
        key = "good-" + CANARY
        for status, body in (
            (400, {"message": f"bad key {key}"}),
            (200, {"organic": [{"title": key, "link": "https://a.example"}]}),
        ):
            self.server.status, self.server.body = status, body
            self.assertNotIn(CANARY, json.dumps(serper.run_search({"query": "tea"})))


# ----- batch


class BatchTest(SerperCase):
    def setUp(self) -> None:
        super().setUp()
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, text: str) -> str:
        path = self.folder / "queries.txt"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def test_standard_input_a_json_array_and_flags_are_read_alike(self) -> None:
        text = "guide\nsourdough\n"
        array = json.dumps(["guide", {"query": "sourdough"}])
        documents = [
            run_script(SCRIPT, "batch", "@-", env=self.environment, stdin=text).document,
            self.run_main("batch", self.file(text)).document,
            self.run_main("batch", self.file(array)).document,
            self.run_main("batch", "--query", "guide", "--queries", "sourdough").document,
            serper.run_batch({"queries": ["guide", "sourdough"]}),
        ]
        for document in documents:
            self.assertEqual(document["results"], documents[0]["results"])
        self.assertEqual(len(documents[0]["results"]), 2)

    def test_requests_have_at_most_100_queries_in_order(self) -> None:
        queries = [f"guide {number}" for number in range(230)]
        progress: list[tuple[int, int]] = []
        document = serper.run_batch(
            {"queries": queries, "max_chars": 0},
            lambda _, done, total: progress.append((done, total)),
        )
        self.assertEqual([len(body) for body in self.bodies()], [100, 100, 30])
        self.assertEqual([item["query"] for item in document["results"]], queries)
        self.assertEqual(progress, [(100, 230), (200, 230), (230, 230)])
        self.assertEqual(document["credits"], 230)

    def test_jsonl_goes_into_a_file_whole(self) -> None:
        out = self.folder / "out.jsonl"
        path = self.file("\n".join(f"guide {number}" for number in range(120)))
        run = self.run_script(SCRIPT, "batch", path, "--jsonl", "--output", str(out))
        self.assertEqual(run.document["bytes"], out.stat().st_size)
        lines = out.read_text(encoding="utf-8").splitlines()
        self.assertEqual([json.loads(line)["query"] for line in lines],
                         [f"guide {number}" for number in range(120)])  # fmt: skip

    def test_document_is_printed_once_all_earlier_ones_are_ready(self) -> None:
        seen: list[tuple[str, int]] = []
        queries = ["{bad", *(f"guide {number}" for number in range(150))]
        serper.run_batch(
            {"queries": queries},
            None,
            lambda _, document: seen.append((document["query"], len(self.server.requests))),
        )
        self.assertEqual([query for query, _ in seen], queries)
        self.assertEqual(seen[0][1], 0)
        self.assertEqual([requests for _, requests in seen[101:]], [2] * 50)

    def test_a_dry_run_of_a_batch_is_a_total_of_the_lines_that_are_left(self) -> None:
        out = str(self.folder / "out.jsonl")
        listed = self.file("\n".join(f"guide {number}" for number in range(130)))
        more = ["--skip-done", out, "--output", out]
        self.run_script(SCRIPT, "batch", "--queries", "guide 1", "--queries", "guide 2", *more)
        self.server.clear()
        for words, skipped, lines, requests in (
            ([], None, 130, 2), (["--jsonl"], None, 130, 2), (more, 2, 128, 2),
        ):  # fmt: skip
            planned = self.run_script(SCRIPT, "batch", listed, *words, "--dry-run").document
            self.assertEqual(planned.get("skipped"), skipped)
            self.assertEqual((planned["lines"], planned["credits"]), (lines, lines))
            self.assertEqual(planned["requests"], requests)
            self.assertNotIn("request", planned)
        run = self.run_script(SCRIPT, "batch", listed, "--dry-run", "--verbose", "--max-chars", "0")
        self.assertEqual([len(one["json"]) for one in run.document["request"]], [100, 30])
        self.assertEqual(self.server.requests, [])

    def test_batch_too_large_to_fit_is_refused_before_any_request(self) -> None:
        path = self.file("\n".join(f"guide {number}" for number in range(21)))
        run = self.run_main("batch", path)
        self.assertEqual(run.code, 2)
        self.assertIn("21 queries do not fit in 9000 characters", run.document["error"])
        self.assertIn("--max-chars 0, or --output or --jsonl", run.document["details"]["hint"])
        self.assertEqual(self.server.requests, [])
        for text, count in (("guide\n" * 1_001, 10), ("guide\n" * 101, 100)):
            words = ["--count", str(count), "--max-chars", "0"]
            run = self.run_main("batch", self.file(text), *words)
            self.assertIn("at most 1000 result pages", run.document["error"])
        self.assertEqual(self.server.requests, [])

    def test_too_long_document_is_cut_equally_for_every_query(self) -> None:
        path = self.file("\n".join(f"guide {number}" for number in range(15)))
        run = self.run_main("batch", path, "--count", "10")
        self.assertLessEqual(len(run.stdout.decode()), 9_001)
        self.assertEqual(len(run.document["results"]), 15)
        counts = [len(item["results"]) for item in run.document["results"]]
        self.assertGreaterEqual(min(counts), 1)
        self.assertLessEqual(max(counts) - min(counts), 1)
        self.assertEqual(run.document["truncated"]["items_dropped"], {"results": 150 - sum(counts)})
        self.assertIn("people_also_ask", run.document["truncated"]["left_out"])
        self.assertIn("--max-chars", run.document["truncated"]["hint"])

    def test_with_jsonl_each_querys_document_is_fitted_separately(self) -> None:
        path = self.file("\n".join(f"guide {number}" for number in range(31)))
        run = self.run_script(
            SCRIPT, "batch", path, "--count", "10", "--max-chars", "1500", "--jsonl"
        )
        lines = run.stdout.decode().splitlines()
        self.assertEqual((run.code, len(lines)), (0, 31))
        for line in lines:
            extra = len(json.dumps({"input": json.loads(line)["input"]}))
            self.assertLessEqual(len(line) - extra, 1_500)
            self.assertGreater(len(line), 1_000)
            self.assertIn("--max-chars", json.loads(line)["truncated"]["hint"])

    def test_a_refused_key_and_used_up_credits_end_the_sending(self) -> None:
        queries = [f"guide {number}" for number in range(250)]
        for fault, kind in (("bad", "auth"), ("empty", "quota")):
            self.server.clear()
            self.set_environment(SERPER_API_KEY=f"{fault}-{CANARY}")
            document = serper.run_batch({"queries": queries, "max_chars": 0})
            with self.subTest(fault):
                self.assertEqual(len(self.server.requests), 1)
                kinds = {item["details"]["kind"] for item in document["results"]}
                self.assertEqual((kinds, len(document["results"])), ({kind}, 250))

    def test_files_are_read_for_the_command_line_only(self) -> None:
        document = serper.run_batch({"input": self.file("guide")})
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertIn("command line only", document["error"])
        self.assertIs(serper.RUN["batch"], serper.run_batch)
        self.assertEqual(self.server.requests, [])

    def test_progress_is_shown_on_a_terminal_only(self) -> None:
        path = self.file("guide\nsourdough")
        self.assertEqual(self.run_script(SCRIPT, "batch", path).stderr, "")
        reading, writing = os.openpty()
        run = subprocess.run(
            [*PYTHON, str(SCRIPTS / SCRIPT), "batch", path],
            env=clean_environment(**self.environment),
            stdout=subprocess.PIPE,
            stderr=writing,
            check=False,
        )
        os.close(writing)
        shown = os.read(reading, 1_000)
        os.close(reading)
        self.assertIn(b"search queries (2 of 2)", shown)
        self.assertEqual(len(json.loads(run.stdout)["results"]), 2)


class BatchAnswerTest(CannedSerperCase):
    """Answers that do not match an array of queries."""

    def test_broken_arrays_give_a_document(self) -> None:
        good = {"organic": [{"title": "x", "link": "https://a.example"}], "credits": 1}
        for broken in mutations([good, good], random.Random(11), 100):
            self.server.body = broken
            document = serper.run_batch({"queries": ["a", "b"]})
            with self.subTest(broken):
                kind = document.get("details", {}).get("kind", "")
                self.assertIn(kind, ("", "no_results", "provider"), document)
                self.assertEqual([item["query"] for item in document["results"]], ["a", "b"])


# ----- the fake server's own strictness, on which the tests of the wire rest


class ReferenceTest(EnvironmentCase):
    text = "".join(
        (ROOT / f"references/{name}.md").read_text(encoding="utf-8")
        for name in ("serper_search", "scale")
    )

    def test_it_contains_every_command_and_result_field(self) -> None:
        for command in COMMANDS:
            self.assertRegex(self.text, rf"(?m)^## .*\b{command}\b")
        words = set(re.findall(r"""[`"](\w+)[`"]""", self.text))
        for command, answer in serper.ANSWERS.items():
            for name in answer["fields"].split():
                [field] = serper.pick({name: 1}, name)
                shown = "query" if command == "autocomplete" else field
                self.assertIn(shown, words, command)

    def test_each_command_section_contains_its_parameters(self) -> None:
        sections = re.split(r"(?m)^## ", self.text)
        for command, spec in COMMANDS.items():
            section = next(one for one in sections if re.match(rf".*\b{command}\b", one))
            same = COMMANDS["search"]["params"] if "same parameters as `search`" in section else []
            if f"serper_search.py {command} --help" in section:
                continue  # of a rarely used command: its help is the table
            for parameter in spec["params"]:
                if parameter not in same:
                    self.assertIn(f"`{parameter['name']}`", section, command)

    def test_it_contains_every_error_message(self) -> None:
        for fragment in serper.MESSAGES:
            self.assertIn(fragment, self.text.lower())


class ReferenceExamplesTest(SerperCase):
    def test_every_example_works_as_it_stands(self) -> None:
        text = ReferenceTest.text.replace("docs.python.org", "python.example.org")
        blocks = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        commands = set()
        for line in lines:
            words = shlex.split(line)
            if SCRIPT not in line or "|" in line:
                continue  # another script's
            commands.add(words[3])
            with self.subTest(line):
                self.assertEqual(words[2], f"/path/to/web-search/scripts/{SCRIPT}")
                run = self.run_main(*words[3:])
                self.assertEqual((run.code, run.stderr), (0, ""), run.stdout)
        self.assertLessEqual(set(COMMANDS) - {"search"}, commands)
