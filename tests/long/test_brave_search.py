"""What takes longer: fuzzed parameters and answers, many processes at once, kills at any moment."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from tests.support import (
    CANARY,
    SCRIPTS,
    CannedCase,
    FakeServerCase,
    clean_environment,
    load_script,
    mutations,
    run_script,
)

brave = load_script("brave_search")
SEED = 20_260
# FUZZ_SECONDS prolongs each fuzz test; without it each makes a fixed number of rounds.
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
SCRIPT = "brave_search.py"


def rounds(number: int) -> Any:
    """Yield round numbers: `number` of them, and more until FUZZ_SECONDS have passed."""
    end = time.monotonic() + SECONDS
    count = 0
    while count < number or time.monotonic() < end:
        yield count
        count += 1


def random_value(source: random.Random, depth: int = 0) -> Any:
    """Return random JSON data, of the kinds that break careless code."""
    texts = [
        "", " ", "x", "京都", "\ud800", "\x00", "a" * 5_000, "-1", "1e999", "true", "@/etc/passwd",
        "http://x.y", "https://x.y/z.goggle", "$discard", "2024-02-30..2024-01-01", "pd",
    ]  # fmt: skip
    leaves: list[Any] = [None, True, False, 0, -1, 21, 10**30, 1.5, float("inf"), *texts]
    if depth < 2 and source.random() < 0.2:
        items = [random_value(source, depth + 1) for _ in range(source.randint(0, 3))]
        return items if source.random() < 0.6 else {"k": items}
    return source.choice(leaves)


class Fuzz(CannedCase):
    def check(self, document: Any) -> None:
        """A document of any kind but a defect of ours, that JSON can hold."""
        self.assertIsInstance(document["ok"], bool)
        if not document["ok"]:
            self.assertNotEqual(document["details"]["kind"], "internal", document)
            self.assertTrue(document["error"])
        json.dumps(document, allow_nan=False).encode()
        self.assertTrue(brave.to_markdown(document) if document["ok"] else document["error"])
        brave.as_results(document)

    def test_random_parameters_never_break_a_command(self) -> None:
        source = random.Random(SEED)
        for _ in rounds(3_000):
            command = source.choice(list(brave.COMMANDS))
            names = [item["name"] for item in brave.COMMANDS[command]["params"]]
            names += ["timeout", "max_chars", "verbos", "q", ""]
            chosen = source.sample(names, source.randint(0, min(5, len(names))))
            params = {name: random_value(source) for name in chosen}
            params = {"query": "x", **params} if source.random() < 0.5 else params
            params["dry_run"] = True
            with self.subTest(command=command, params=params):
                self.check(brave.RUN[command](params))

    def test_random_command_lines_never_break_the_script(self) -> None:
        source = random.Random(SEED)
        flags = [
            "--count",
            "-n",
            "--since",
            "--site=",
            "--no-spellcheck",
            "--",
            "-",
            "--params-json",
        ]
        words = [
            *brave.COMMANDS,
            *flags,
            "5",
            "x",
            "{",
            '{"query": "x"}',
            "@x",
            "--pretty",
            "\udcff",
        ]
        for _ in rounds(2_000):
            argv = [*source.choices(words, k=source.randint(0, 6)), "--dry-run"]
            with self.subTest(argv=argv):
                options: dict[str, Any] = {}
                script = {"name": "x", "commands": brave.COMMANDS}
                known = argv[0] in brave.COMMANDS
                command, rest = (argv[0], argv[1:]) if known else ("web", argv)
                if "-" in rest:  # would read this process's standard input
                    continue
                try:
                    params = brave.parse_arguments(script, command, rest, options)
                    self.assertIsInstance(params, dict)
                except brave.SearchError as error:
                    self.assertEqual(error.kind, "invalid_input")

    def test_broken_answers_never_break_a_command(self) -> None:
        source = random.Random(SEED)
        for command, answer in self.answers().items():
            params = {"query": "x", "timeout": 5}
            if command in ("rich", "summarizer"):
                params = {"callback_key" if command == "rich" else "key": "k", "timeout": 5}
            if command == "summarizer":
                params |= {"max_attempts": 1, "inline_references": True}
            for broken in mutations(answer, source, 150):
                self.server.body = broken
                with self.subTest(command=command, answer=broken):
                    self.check(brave.RUN[command](params))

    def answers(self) -> dict[str, Any]:
        """Return one real answer of the fake server for each command."""
        from urllib.request import Request, urlopen

        from tests.fake_server.server import FakeServer

        answers = {}
        with FakeServer() as server:
            for command, query in (
                ("web", "sourdough"), ("news", "python"), ("images", "mountain"),
                ("videos", "python"), ("context", "coffee"), ("suggest", "pyth"),
                ("spellcheck", "pyhton"), ("places", "coffee"),
            ):  # fmt: skip
                url = f"{server.url}{brave.PATHS[command]}?q={query}"
                sent = Request(url, headers={"X-Subscription-Token": "good", "X-Loc-City": "x"})
                with urlopen(sent) as response:
                    answers[command] = json.load(response)
        answers["summarizer"] = {
            "status": "complete",
            "title": "t",
            "summary": [
                {"type": "token", "data": "a "},
                {"type": "enum_start", "data": {"type": "ol"}},
                {"type": "enum_item", "data": {"name": "n", "text": "x"}},
                {"type": "inline_reference", "data": {"url": "https://e.org"}},
            ],
            "followups": ["f"],
            "enrichments": {"qa": []},
        }
        answers["rich"] = {"results": [{"type": "rich", "weather": {"t": 1}}]}
        answers["answers"] = {
            "choices": [{"message": {"content": 'a <citation>{"number": 1}</citation>'}}],
            "usage": {"X-Request-Total-Cost": 0.1},
        }
        return answers

    def test_random_bytes_are_a_providers_error(self) -> None:
        source = random.Random(SEED)
        for _ in rounds(300):
            self.server.body = source.randbytes(source.randint(0, 200))
            document = brave.run_web_search({"query": "x", "timeout": 5})
            self.assertFalse(document["ok"])
            self.assertEqual(document["details"]["kind"], "provider")

    def test_deeply_nested_answers_are_a_providers_error(self) -> None:
        for depth in (500, 5_000, 100_000):
            self.server.body = b'{"web": ' + b"[" * depth + b"]" * depth + b"}"
            document = brave.run_web_search({"query": "x", "timeout": 10})
            self.assertIn(document["details"]["kind"], ("provider", "no_results"))


class ManyAtOnce(FakeServerCase):
    def test_sixty_processes_at_once_get_the_right_document_each(self) -> None:
        queries = ["python", "sourdough", "coffee", "guide", "京都"]
        processes = [
            subprocess.Popen(
                [sys.executable, str(SCRIPTS / SCRIPT), queries[number % 5], "--timeout", "60"],
                stdout=subprocess.PIPE,
                env=clean_environment(**self.environment),
            )
            for number in range(60)
        ]
        expected: dict[str, Any] = {}
        for number, process in enumerate(processes):
            stdout, _ = process.communicate(timeout=120)
            document = json.loads(stdout)
            query = queries[number % 5]
            self.assertEqual((process.returncode, document["query"]), (0, query))
            urls = [item["url"] for item in document["web_results"]]
            self.assertEqual(expected.setdefault(query, urls), urls)

    def test_threads_of_one_process_do_not_mix_their_answers(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        queries = ["python", "sourdough", "coffee", "mountain"] * 50
        with ThreadPoolExecutor(16) as pool:
            documents = list(pool.map(lambda query: brave.run_news({"query": query}), queries))
        for query, document in zip(queries, documents, strict=True):
            self.assertEqual(document.get("query", query), query)
            self.assertTrue(document["ok"] or document["details"]["kind"] == "no_results")


class Killed(FakeServerCase):
    def test_a_kill_at_any_moment_leaves_no_half_document_under_the_final_name(self) -> None:
        source = random.Random(SEED)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "result.json"
            for _ in range(40):
                process = subprocess.Popen(
                    [
                        sys.executable,
                        str(SCRIPTS / SCRIPT),
                        "guide",
                        "-n",
                        "20",
                        "--output",
                        str(path),
                    ],
                    stdout=subprocess.DEVNULL,
                    env=clean_environment(**self.environment),
                )
                time.sleep(source.uniform(0.0, 0.25))
                process.send_signal(signal.SIGKILL)
                process.wait()
                if path.exists():
                    self.assertTrue(json.loads(path.read_text("utf-8"))["ok"])
            run = run_script(SCRIPT, "guide", "--output", str(path), env=self.environment)
            self.assertEqual(run.code, 0)
            self.assertTrue(json.loads(path.read_text("utf-8"))["web_results"])

    def test_an_interrupt_at_any_moment_after_the_start_ends_with_a_document(self) -> None:
        for _ in range(10):
            process = subprocess.Popen(
                [sys.executable, str(SCRIPTS / SCRIPT), "python"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=clean_environment(
                    **{**self.environment, "BRAVE_SEARCH_API_KEY": "drip-" + CANARY}
                ),
            )
            seen, limit = len(self.server.requests), time.monotonic() + 20
            while len(self.server.requests) == seen and time.monotonic() < limit:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=20)
            self.assertEqual((process.returncode, stderr), (130, b""))
            self.assertEqual(json.loads(stdout)["details"]["kind"], "interrupted")


if __name__ == "__main__":
    unittest.main()
