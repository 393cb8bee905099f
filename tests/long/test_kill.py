"""Processes that are killed, told to end, or interrupted, at any moment: what stays behind.

The only module to notice what a process leaves behind that had no time to tidy up.
"""

from __future__ import annotations

import contextlib
import json
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import threading
import time
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from tests.ways_in.http_support import ServerProcess, read_all, request
from tests.ways_in.mcp_support import Client

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 9_012
KILLS = 30  # for each target
KEY = "good-" + CANARY
SLOW_KEY = "slow-" + CANARY  # each answer takes 0.2 s
QUERIES = [f"python {number}" for number in range(20)]
# For each script with a batch: its variables for the fake server, words that make it slow enough
# to be met in the middle, and how many queries come at once.
BATCHES: dict[str, tuple[str, list[str], list[str]]] = {
    "gemini_search.py": ("GEMINI_API_KEY", ["--workers", "1"], QUERIES),
    "serper_search.py": ("SERPER_API_KEY", [], [f"python {number}" for number in range(900)]),
}


class KillCase(SmallWebCase):
    preexec: Callable[[], None] | None = None  # called in each child before it becomes a script

    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self)
        self.source = random.Random(f"{self.id()} {SEED}")

    def variables(self, **more: str) -> dict[str, str]:
        return {**small_web_environment(self.server.url), "GLSI_DB_PATH": self.store, **more}

    def start(self, script: str, *arguments: str, **more: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*PYTHON, str(SCRIPTS / script), *arguments],
            env=clean_environment(**self.variables(**more)),
            bufsize=0,  # communicate() would not see what readline() has read ahead
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=self.preexec,  # noqa: PLW1509  it takes no lock
        )

    def queries_file(self, queries: list[str]) -> str:
        path = self.folder / "queries.txt"
        path.write_text("\n".join(queries), encoding="utf-8")
        return str(path)

    def start_batch(self, script: str, *words: str, key: str = SLOW_KEY) -> subprocess.Popen[bytes]:
        name, usual, queries = BATCHES[script]
        arguments = ["batch", "--input", self.queries_file(queries), *usual, *words]
        return self.start(script, *arguments, "--max-chars", "0", **{name: key})


class SearchesKilled(KillCase):
    def test_while_they_write_leave_a_store_that_is_sound_and_a_next_run_that_works(self) -> None:
        words = ("asyncio", "guide", "sourdough", "coffee", "tides")
        for number in range(KILLS):
            with self.subTest(number, seed=SEED):
                query = f"python {self.source.choice(words)} {number % 7}"
                flags = self.source.choice([[], ["--force"], ["--no-pages"]])
                process = self.start("web_search.py", query, *flags)
                time.sleep(self.source.uniform(0.05, 0.6))
                process.kill()
                process.communicate()
                if number % 5 == 4:
                    self.check_next_run(query)
        with contextlib.closing(sqlite3.connect(self.store)) as db:
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])

    def check_next_run(self, query: str) -> None:
        run = self.run_script("web_search.py", query)
        self.assertEqual((run.code, run.stderr), (0, ""), run.document)
        warnings = run.document.get("warnings", [])
        self.assertEqual([one for one in warnings if not one.startswith("Not in the ")], [])
        for item in run.document["results"]:
            shown = {"text", "snippet", "error"} & {*item}  # a snippet: nothing of it answers
            self.assertTrue(shown, item)
        self.assertTrue(self.run_script("web_search.py", query).document["from_cache"])

    def test_while_they_clear_the_store_leave_it_sound(self) -> None:
        for number in range(KILLS // 3):
            self.assertTrue(self.run_script("web_search.py", "python asyncio").document["ok"])
            process = self.start("web_search.py", "cache", "clear")
            time.sleep(self.source.uniform(0.03, 0.2))
            process.kill()
            process.communicate()
            with self.subTest(number, seed=SEED):
                stats = self.run_script("web_search.py", "cache", "stats")
                self.assertEqual((stats.code, stats.document.get("warnings")), (0, None))


class BatchesKilled(KillCase):
    """--output of a batch: the next run writes its whole result."""

    def test_do_not_hurt_the_next_run(self) -> None:
        for script, (name, usual, queries) in BATCHES.items():
            target = self.folder / f"{script}.out"
            few = queries[:5]
            for lines in (False, True):
                words = ["--output", str(target), "--overwrite", *(["--jsonl"] if lines else [])]
                arguments = ["batch", "--input", self.queries_file(few), *usual, *words]
                for _ in range(KILLS // 4):
                    process = self.start(script, *arguments, **{name: KEY})
                    time.sleep(self.source.uniform(0.05, 0.35))
                    process.kill()
                    process.communicate()
                run = self.start(script, *arguments, **{name: KEY})
                stdout, stderr = run.communicate(timeout=60)
                with self.subTest(script, lines=lines, seed=SEED):
                    self.assertEqual((run.returncode, stderr), (0, b""))
                    self.assertTrue(json.loads(stdout)["ok"])
                    self.check_whole(target.read_bytes(), len(few), lines)

    def check_whole(self, data: bytes, count: int, lines: bool) -> None:
        if lines:
            documents = [json.loads(line) for line in data.splitlines()]
        else:
            documents = json.loads(data)["results"]
        self.assertEqual(len(documents), count)

    def test_that_meet_a_full_disk_print_the_result(self) -> None:
        def small_files() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))

        self.preexec = small_files
        for script, (name, usual, queries) in BATCHES.items():
            target = self.folder / f"{script}.full"
            arguments = ["batch", "--input", self.queries_file(queries[:5]), *usual]
            process = self.start(script, *arguments, "--output", str(target), **{name: KEY})
            stdout, stderr = process.communicate(timeout=60)
            with self.subTest(script):
                document = json.loads(stdout)
                self.assertEqual((process.returncode, stderr), (2, b""))
                self.assertIn("could not be written", document["error"])
                self.assertEqual(len(document["document"]["results"]), 5)


class ListsKilled(KillCase):
    def test_and_resumed_read_each_page_once(self) -> None:
        paths = ("articles/tides", "articles/bridges", "docs/timeouts", "status/404")
        addresses = [f"{self.server.url}/site/{paths[n % 4]}?{n}" for n in range(150)]
        listed = self.folder / "urls.txt"
        listed.write_text("\n".join(addresses), encoding="utf-8")
        out = str(self.folder / "pages.jsonl")
        words = ["--urls-from", str(listed), "--output", out, "--skip-done", out]
        kills = 0
        for number in range(KILLS):
            process = self.start("read_page.py", *words, "--host-pause", "0.03")
            if number < KILLS - 1:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(self.source.uniform(0.1, 0.8))
                process.kill()
            process.communicate()
            kills += process.returncode == -signal.SIGKILL
        documents = [json.loads(line) for line in Path(out).read_bytes().splitlines()]
        self.assertEqual(sorted(one["url"] for one in documents), sorted(addresses))
        self.assertGreater(kills, 3)


class BatchesEnded(KillCase):
    """--jsonl: what was answered until a signal came is on stdout, line by line."""

    def end_after_lines(
        self, script: str, number: int, *words: str
    ) -> tuple[int, list[bytes], bytes]:
        """Send a signal after the first lines; return (exit code, all lines, stderr)."""
        process = self.start_batch(script, "--jsonl", *words)
        assert process.stdout
        first = [process.stdout.readline() for _ in range(3)]
        process.send_signal(number)
        started = time.monotonic()
        rest, stderr = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - started, SLACK)
        return process.returncode, [*first, *rest.splitlines(keepends=True)], stderr

    def check_answers(self, script: str, lines: list[bytes]) -> None:
        """Each line is a whole answer, in the order of the queries, and not all are there."""
        queries = BATCHES[script][2]
        documents = [json.loads(line) for line in lines]
        self.assertEqual([one["query"] for one in documents], queries[: len(documents)])
        self.assertTrue(all(one["ok"] for one in documents))
        self.assertTrue(0 < len(documents) < len(queries), len(documents))

    def test_by_a_signal_keep_the_answers_so_far_and_say_what_ended_them(self) -> None:
        for number, code, kind in (
            (signal.SIGINT, 130, b'"kind":"interrupted"'),
            (signal.SIGTERM, 130, b'"kind":"interrupted"'),
            (signal.SIGKILL, -9, b"nothing can be said"),
        ):
            for script in BATCHES:
                with self.subTest(script, number=number):
                    ended, lines, stderr = self.end_after_lines(script, number)
                    self.assertEqual(ended, code)
                    if code < 0:
                        lines = [line for line in lines if line.endswith(b"\n")]
                    else:
                        self.assertEqual(stderr, b"")
                    answers = [line for line in lines if kind not in line]
                    self.assertLessEqual(len(lines) - len(answers), 1)
                    self.assertGreaterEqual(len(answers), 3)
                    self.check_answers(script, answers)

    def test_by_ctrl_c_with_output_keep_the_answers_so_far_in_the_file(self) -> None:
        for script in BATCHES:
            target = self.folder / f"{script}.lines"
            seen = len(self.server.requests)
            process = self.start_batch(script, "--jsonl", "--output", str(target))
            limit = time.monotonic() + 20
            while len(self.server.requests) < seen + 3 and time.monotonic() < limit:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=20)
            with self.subTest(script):
                self.assertEqual((process.returncode, stderr), (130, b""))
                self.assertEqual(json.loads(stdout)["details"]["kind"], "interrupted")
                self.check_answers(script, target.read_bytes().splitlines())

    def test_by_ctrl_c_at_any_moment_print_whole_lines_only(self) -> None:
        name, usual, queries = BATCHES["gemini_search.py"]
        arguments = ["batch", "--input", self.queries_file(queries[:8]), *usual, "--jsonl"]
        for number in range(KILLS // 2):
            key = f"{KEY}-{number}"  # a request of the process before may still arrive
            process = self.start("gemini_search.py", *arguments, **{name: key})
            while not self.requests_with_key(key) and process.poll() is None:
                time.sleep(0.002)
            time.sleep(self.source.uniform(0, 0.1))
            process.send_signal(signal.SIGINT)
            stdout, stderr = process.communicate(timeout=20)
            with self.subTest(number, seed=SEED):
                for line in stdout.splitlines(keepends=True):
                    self.assertTrue(line.endswith(b"\n"))
                    json.loads(line)
                # 0, or the interpreter's own end, where the signal met its last steps.
                self.assertIn(process.returncode, (130, 0, -signal.SIGINT), stderr)
                if process.returncode == 130:
                    self.assertEqual(stderr, b"")


class ServersKilled(KillCase):
    def test_mcp_server_gives_its_client_an_end_and_the_next_one_works_on_the_same_store(
        self,
    ) -> None:
        for number in range(KILLS // 3):
            client = Client(self.variables())
            self.addCleanup(client.close)
            client.request("tools/list")
            client.start_request(
                "tools/call",
                {"name": "web_search", "arguments": {"query": f"python asyncio {number % 3}"}},
            )
            time.sleep(self.source.uniform(0, 0.3))
            client.process.kill()
            client.process.wait()
            with self.subTest(number, seed=SEED):
                with self.assertRaises(EOFError):  # after at most its answer
                    for _ in range(3):
                        client.receive()
                self.assertEqual(client.errors, b"")
        client = Client(self.variables())
        self.addCleanup(client.close)
        answer = client.call("web_search", query="python asyncio 0")
        self.assertFalse(answer["isError"], answer)
        self.assertEqual(client.close(), 0)

    def test_http_server_ends_its_connections_and_its_port_is_free_at_once(self) -> None:
        api = ServerProcess(**self.variables())
        port = api.port
        for number in range(KILLS // 3):
            ended = threading.Event()
            got: list[bytes] = []
            target = f"/search?q=python+asyncio+{number % 3}"
            clients = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(3)]

            def read(
                clients: list[socket.socket] = clients,
                got: list[bytes] = got,
                ended: threading.Event = ended,
            ) -> None:
                got.extend(read_all(client) for client in clients)
                ended.set()

            for client in clients:
                client.sendall(request(target))
            thread = threading.Thread(target=read)
            thread.start()
            time.sleep(self.source.uniform(0, 0.3))
            api.process.kill()
            with self.subTest(number, seed=SEED):
                self.assertTrue(ended.wait(SLACK))
            thread.join(20)
            for client in clients:
                client.close()
            api.process.wait()
            self.close_streams(api)
            # --port 0 stands first among the arguments; the last one counts.
            api = ServerProcess("--port", str(port), **self.variables())
            self.assertEqual(api.port, port)
        answer = api.fetch("/search?q=python+asyncio+0")
        self.assertEqual(answer.status, 200, answer)
        code, document, errors = api.stop()
        self.assertEqual((code, document["ok"], errors), (0, True, ""))

    @staticmethod
    def close_streams(api: Any) -> None:
        api.reader.join(10)
        for stream in (api.process.stdout, api.process.stderr):
            stream.close()


if __name__ == "__main__":
    unittest.main()
