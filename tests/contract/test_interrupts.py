"""SIGINT and SIGTERM of a batch: what was paid for is kept, and the last document counts it."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import time
import unittest
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import (
    CANARY,
    PYTHON,
    SCRIPTS,
    SLACK,
    SmallWebCase,
    clean_environment,
    new_folder,
    small_web_environment,
)

if TYPE_CHECKING:
    from tests.fake_server.messages import RecordedRequest

SEED = 4_711
SLOW, HANGS = "slow-" + CANARY, "hang-" + CANARY  # an answer takes 0.2 s; none comes


class Batch(NamedTuple):
    """A batch: its script, the variable of its key, its words, and how many lines it has."""

    script: str
    key: str
    words: tuple[str, ...]
    count: int


BRAVE = Batch(
    "web_search.py",
    "BRAVE_SEARCH_API_KEY",
    ("batch", "--engine", "brave", "--no-pages", "--workers", "3"),
    20,
)
SERPER = Batch("serper_search.py", "SERPER_API_KEY", ("batch",), 350)
GEMINI = Batch("gemini_search.py", "GEMINI_API_KEY", ("batch", "--workers", "3"), 12)
BATCHES = (BRAVE, SERPER, GEMINI)


def asked_queries(request: RecordedRequest) -> list[str]:
    """Return the queries that a request asks: one, or those of an array."""
    if "/web/search" in request.path:
        return request.query["q"]
    if "generateContent" in request.path:
        return [request.json()["contents"][0]["parts"][0]["text"].split("\n")[0]]
    return [body["q"] for body in request.json()] if request.path == "/search" else []


class InterruptCase(SmallWebCase):
    moments = 1  # at which each signal comes, for each script

    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self)
        self.out = self.folder / "out.jsonl"
        self.source = random.Random(f"{self.id()} {SEED}")

    def queries_of(self, batch: Batch) -> list[str]:
        return [f"kettle number {number}" for number in range(batch.count)]

    def start(self, batch: Batch, *words: str, key: str = SLOW) -> subprocess.Popen[bytes]:
        listed = self.folder / "queries.txt"
        listed.write_text("\n".join(self.queries_of(batch)), encoding="utf-8")
        variables = small_web_environment(self.server.url)
        variables |= {"GLSI_DB_PATH": self.store, batch.key: key}
        return subprocess.Popen(
            [*PYTHON, str(SCRIPTS / batch.script), *batch.words, "--input", str(listed), *words],
            env=clean_environment(**variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def new_run(self) -> None:
        """Forget the requests, the output and the stored answers of a run before."""
        self.server.clear()
        self.out.unlink(missing_ok=True)
        self.store = f"{self.folder}/{self.source.random()}.db"

    def asked(self) -> list[str]:
        """The queries that the server got, sorted; one that was asked twice is there twice."""
        return sorted(query for one in self.server.requests for query in asked_queries(one))

    def wait_for_requests(self, count: int) -> None:
        limit = time.monotonic() + 20
        while len(self.server.requests) < count and time.monotonic() < limit:
            time.sleep(0.005)

    def lines(self) -> list[dict[str, Any]]:
        data = self.out.read_bytes() if self.out.exists() else b""
        self.assertTrue(not data or data.endswith(b"\n"))
        return [json.loads(line) for line in data.splitlines()]


class InterruptedBatches(InterruptCase):
    def test_keep_each_answer_that_came_and_continue_without_asking_twice(self) -> None:
        for batch in BATCHES:
            for number in (signal.SIGINT, signal.SIGTERM):
                for _ in range(self.moments):
                    self.new_run()
                    with self.subTest(batch.script, number=number, seed=SEED):
                        self.interrupt_and_continue(batch, number)

    def interrupt_and_continue(self, batch: Batch, number: int) -> None:
        words = ("--skip-done", str(self.out), "--output", str(self.out))
        process = self.start(batch, *words)
        time.sleep(self.source.uniform(0.1, 1.4))
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
        kept = sorted(line["input"] for line in self.lines())
        self.assertEqual(kept, self.asked())
        if process.returncode == 130:
            document = json.loads(stdout)
            said = f"{batch.script}: {document['error']}\n".encode()
            self.assertIn(stderr, (b"", said))  # web_search.py says its errors there, too
            self.assertEqual(document["details"]["kind"], "interrupted")
            if kept:
                text = f"Interrupted: {len(kept)} sent, {len(kept)} kept, 0 lost."
                self.assertEqual(document["error"], text)
        elif process.returncode:  # the interpreter had only started
            self.assertEqual(kept, [])
        process = self.start(batch, *words)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.asked(), sorted(self.queries_of(batch)))

    def test_print_or_write_what_they_have_in_each_form(self) -> None:
        whole = self.folder / "whole.json"
        for batch, words in (
            (BRAVE, ["--jsonl"]),
            (SERPER, ["--ordered"]),
            (SERPER, []),
            (GEMINI, ["--output", str(whole)]),
        ):
            with self.subTest(batch.script, words=words):
                self.new_run()
                process = self.start(batch, *words, "--max-chars", "0")
                self.wait_for_requests(2)
                process.send_signal(signal.SIGTERM)
                stdout, stderr = process.communicate(timeout=30)
                self.assertEqual((process.returncode, stderr), (130, b""))
                count = len(self.asked())
                text = f"Interrupted: {count} sent, {count} kept, 0 lost."
                if words in (["--jsonl"], ["--ordered"]):
                    *documents, last = map(json.loads, stdout.splitlines())
                    self.assertEqual(last["error"], text)
                else:
                    document = json.loads(whole.read_bytes() if words else stdout)
                    self.assertEqual(document["warnings"], [text])
                    documents = [one for one in document["results"] if one["ok"]]
                self.assertEqual(sorted(one["query"] for one in documents), self.asked())

    def test_lose_only_what_does_not_come_in_three_seconds(self) -> None:
        process = self.start(GEMINI, "--output", str(self.out), key=HANGS)
        self.wait_for_requests(3)
        process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        stdout, _ = process.communicate(timeout=30)
        seconds = time.monotonic() - started
        self.assertEqual(json.loads(stdout)["error"], "Interrupted: 3 sent, 0 kept, 3 lost.")
        self.assertTrue(2.5 < seconds < 3 + SLACK, seconds)

    def test_end_at_once_by_a_second_signal(self) -> None:
        for batch in BATCHES:
            with self.subTest(batch.script):
                self.server.clear()
                process = self.start(batch, "--output", str(self.out), key=HANGS)
                self.wait_for_requests(1)
                process.send_signal(signal.SIGINT)
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
                started = time.monotonic()
                stdout, _ = process.communicate(timeout=30)
                self.assertLess(time.monotonic() - started, 2)
                self.assertEqual(process.returncode, 130)
                self.assertEqual(json.loads(stdout)["details"]["kind"], "interrupted")


if __name__ == "__main__":
    unittest.main()
