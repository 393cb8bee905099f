"""What takes longer: sixteen processes on one store, and kills at any moment.

STORE_SECONDS (10): how long the processes write.
The only module to notice what one process writes and another never finds.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import sys
import time
import unittest
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support import PYTHON, SCRIPTS, EnvironmentCase, clean_environment
from websearch.store import page_store

SECONDS = float(os.environ.get("STORE_SECONDS", "10"))
PROCESSES = 16
KILLS = 40
SEED = 6_003

# Writes answers and pages that say what they must hold, and reads what others wrote. Each number
# on stdout was written before it is printed. It ends when its standard input does.
WRITER = """
import hashlib, json, random, sys, threading, time
sys.path.insert(0, sys.argv[1])
from websearch.store import page_store

path, name, processes, seconds = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
source = random.Random(name)

def body(key):
    return " ".join([key, hashlib.sha256(key.encode()).hexdigest()] * source.randint(1, 40))

def check(key, text):
    words = text.split(" ")
    digest = hashlib.sha256(key.encode()).hexdigest()
    assert words == [key, digest] * (len(words) // 2) and words, (key, text[:200])

number, faults, slowest = 0, [], 0.0
end = time.monotonic() + seconds
while time.monotonic() < end:
    store = page_store.PageStore(path)
    for _ in range(source.randint(1, 4)):  # a few calls on one store, as a search makes
        key = f"{name}-{number}"
        started = time.monotonic()
        store.put_answer(key, {"query": key, "urls": [f"https://{key}.test/"], "body": body(key)})
        urls = [f"https://{key}.test/{part}" for part in (1, 2)]
        store.put_pages([{"url": url, "text": body(key)} for url in urls])
        slowest = max(slowest, time.monotonic() - started)
        if not store.warnings:
            print(number, flush=True)
        other = f"{source.randrange(processes)}-{source.randrange(number + 1)}"
        answer = store.get_answer(other, None)
        if answer:
            check(other, answer["content"]["body"])
        for url, page in store.get_pages([f"https://{other}.test/1"], None).items():
            check(other, page["text"])
        for page in store.recall(f"{source.randrange(number + 1)} test", 1):
            check(page["url"][8:].partition(".")[0], page["text"])
        number += 1
    faults += store.warnings
    store.close()
print(json.dumps({"faults": faults, "slowest": slowest}), flush=True)
"""


class LongStoreCase(EnvironmentCase):
    def setUp(self) -> None:
        super().setUp()
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "cache.db"

    def writer(self, name: int, seconds: float) -> subprocess.Popen[str]:
        arguments = [str(SCRIPTS), str(self.path), str(name), str(PROCESSES), str(seconds)]
        return subprocess.Popen(
            [sys.executable, "-c", WRITER, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )

    def assert_kept(self, name: int, numbers: list[int]) -> None:
        """Every answer and page that was reported as written is there, whole and right."""
        store = page_store.PageStore(str(self.path))
        for number in numbers:
            key = f"{name}-{number}"
            answer = store.get_answer(key, None)
            self.assertTrue(answer, key)
            texts = [answer["content"]["body"]]
            urls = [f"https://{key}.test/{part}" for part in (1, 2)]
            texts += [page["text"] for page in store.get_pages(urls, None).values()]
            self.assertEqual(len(texts), 3, key)
            for text in texts:
                self.assertEqual(set(text.split(" ")[::2]), {key})
        store.close()
        self.assertEqual(store.warnings, [])

    def assert_sound(self) -> None:
        """SQLite's own checks of the file and of the index find nothing."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            self.assertEqual(db.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            counts = [
                db.execute(f"SELECT count(*) FROM {table}").fetchone()
                for table in ("pages", "page_index_docsize")
            ]
            self.assertEqual(counts[0], counts[1])


class ManyProcesses(LongStoreCase):
    def test_sixteen_writing_at_once_lose_nothing_and_read_only_whole_values(self) -> None:
        writers = [self.writer(name, SECONDS) for name in range(PROCESSES)]
        written: list[list[int]] = []
        slowest = []
        for name, process in enumerate(writers):
            with self.subTest(name):
                stdout, stderr = process.communicate(timeout=SECONDS + 120)
                *lines, last = stdout.splitlines()
                report: dict[str, Any] = json.loads(last)
                self.assertEqual((process.returncode, stderr, report["faults"]), (0, "", []))
                written.append([int(line) for line in lines])
                self.assertEqual(written[-1], list(range(len(lines))))
                slowest.append(report["slowest"])
        self.assertEqual(len(written), PROCESSES)
        for name, numbers in enumerate(written):
            self.assertGreater(len(numbers), 0)
            self.assert_kept(name, numbers)
        self.assert_sound()
        total = sum(map(len, written))
        print(f"\n{total} answers, {2 * total} pages, the slowest write {max(slowest):.2f} s")


class Bound(LongStoreCase):
    def test_a_store_at_its_bound_keeps_the_newest_pages_for_good(self) -> None:
        bound = 32_000_000  # whose index is not merged as a whole by each write
        source = random.Random(SEED)
        counts = []
        for number in range(280):  # each page is seen twice, with other words
            store = page_store.PageStore(str(self.path), max_bytes=bound)
            words = " ".join(f"{source.getrandbits(40):x}" for _ in range(8_000))
            pages = [{"url": f"https://a.test/{number // 2}/{part}", "text": f"{words} {part}"}
                     for part in range(2)]  # fmt: skip
            store.put_pages(pages)
            self.assertEqual(len(store.recall(words.split()[-1], 9)), 2, number)
            self.assertLessEqual(self.path.stat().st_size, bound * 1.1)
            store.shrink(60.0)  # as after an answer
            counts.append(store.stats()["pages"])
            store.close()
            self.assertEqual(store.warnings, [])
            self.assertLessEqual(self.path.stat().st_size, bound * 1.05)  # at most an eighth goes
        with closing(page_store.PageStore(str(self.path), max_bytes=bound)) as store:
            store.shrink(60.0)
        self.assertLessEqual(self.path.stat().st_size, bound)
        self.assertGreater(min(counts[140:]), max(counts) // 2)
        self.assert_sound()


class Killed(LongStoreCase):
    def test_at_any_moment_the_file_opens_again_and_holds_what_was_written(self) -> None:
        source = random.Random(SEED)
        written = 0
        for kill in range(KILLS):
            process = self.writer(kill, 60.0)
            assert process.stdout and process.stderr
            with process:
                first = process.stdout.readline()  # a busy machine takes its time to start
                time.sleep(source.random() * 0.6)
                process.kill()
                stdout, stderr = first + process.stdout.read(), process.stderr.read()
            self.assertEqual(stderr, "")
            numbers = [int(line) for line in stdout.splitlines() if line.isdigit()]
            self.assert_kept(kill, numbers)
            written += len(numbers)
        self.assertGreater(written, KILLS)
        self.assert_sound()

    def test_while_the_file_is_made_it_can_be_made_by_the_next(self) -> None:
        source = random.Random(SEED)
        code = (
            f"import sys, time; sys.path.insert(0, {str(SCRIPTS)!r}); import sqlite3; "
            "from websearch.store import page_store\n"
            "print(flush=True)\n"
            f"store = page_store.PageStore({str(self.path)!r})\n"
            "store.put_answer('key', {'query': 'q', 'urls': []}); time.sleep(9)"
        )
        for _ in range(KILLS):
            for path in self.path.parent.iterdir():
                path.unlink()
            process = subprocess.Popen(
                [*PYTHON, "-c", code], stdout=subprocess.PIPE, env=clean_environment()
            )
            with process:
                assert process.stdout
                process.stdout.readline()
                time.sleep(source.random() * 0.02)
                process.kill()
            store = page_store.PageStore(str(self.path))
            store.put_answer("other", {"query": "q", "urls": []})
            self.assertTrue(store.get_answer("other", 60.0))
            store.put_pages([{"url": "https://a.test/", "text": "heron"}])
            self.assertEqual(len(store.recall("heron", 5)), 1)
            store.close()
            self.assertEqual(store.warnings, [])


if __name__ == "__main__":
    unittest.main()
