"""Measure the store: 10,000 pages written, found again by recall, and a cached answer read.

usage: bench_store.py [--pages N] [--pairs N] [--python PATH]

The pages are made of words of a made-up vocabulary whose frequencies fall as those of a language
do (Zipf), 5,000 characters on average, one in ten in Chinese characters without spaces. The bars:
recall under 50 ms inside the process, a hit as a whole process at most 1.5 times a bare
interpreter that imports sqlite3, json and hashlib. The exit code is 0 whatever the numbers say.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import page_store  # noqa: E402

SEED = 6_010
RECALL_BAR, HIT_BAR = 50.0, 1.5  # milliseconds; times the bare interpreter
BARE = "import sqlite3, json, hashlib"
HIT = (
    "import sys; sys.path.insert(0, {scripts!r}); import page_store; "
    "store = page_store.PageStore({path!r}); assert store.get_answer('key', 3600.0); store.close()"
)


class Vocabulary:
    """Words whose frequencies fall with their rank, and pages made of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        letters = "etaoinshrdlucmfwypvbgkqjxz"
        self.words = list(
            dict.fromkeys(
                "".join(self.random.choices(letters, k=self.random.randint(3, 10)))
                for _ in range(40_000)
            )
        )
        self.characters = [chr(0x4E00 + place * 5) for place in range(3_000)]
        self.word_weights = list(
            itertools.accumulate(1 / place for place in range(1, len(self.words) + 1))
        )
        self.character_weights = list(
            itertools.accumulate(1 / place for place in range(1, len(self.characters) + 1))
        )

    def page(self, number: int) -> dict[str, Any]:
        """Return a page of about 5,000 characters."""
        length = self.random.randint(1_000, 9_000)
        if number % 10 == 0:
            text = "".join(
                self.random.choices(
                    self.characters, cum_weights=self.character_weights, k=length // 3
                )
            )
        else:
            text = " ".join(
                self.random.choices(self.words, cum_weights=self.word_weights, k=length // 7)
            )
        return {
            "url": f"https://site{number % 100}.example/{number}",
            "final_url": f"https://site{number % 100}.example/{number}",
            "title": text[:60],
            "text": text,
            "fetched_at": time.time() - number,
        }

    def queries(self) -> dict[str, str]:
        """Return queries by name: rare words, common ones, a question, Chinese of 1 to 6."""
        common, rare = self.words[:4], self.words[2_000:2_003]
        pick = self.characters
        return {
            "one rare word": rare[0],
            "three rare words": " ".join(rare),
            "the most common word": common[0],
            "the four most common words": " ".join(common),
            "common and rare words": " ".join([*common, *rare]),
            "a word that no page holds": "zzzzzzzzzzzz",
            "one Chinese character": pick[0],
            "two Chinese characters": pick[0] + pick[1],
            "six Chinese characters": "".join(pick[3:9]),
        }


def milliseconds(action: Any) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1_000


def hit_ratio(python: str, path: str, pairs: int) -> tuple[float, float, float]:
    """Return milliseconds of a hit, of the bare interpreter, and the median ratio of neighbours."""
    hit = [python, "-c", HIT.format(scripts=str(ROOT / "scripts"), path=path)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def elapsed(command: list[str]) -> float:
        return milliseconds(lambda: subprocess.run(command, check=True, env=environment))

    elapsed(hit)
    times = [(elapsed(hit), elapsed([python, "-c", BARE])) for _ in range(pairs)]
    return (
        statistics.median(ours for ours, _ in times),
        statistics.median(bare for _, bare in times),
        statistics.median(ours / bare for ours, bare in times),
    )


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--python", default=os.path.realpath(sys.executable))
    arguments = parser.parse_args()
    vocabulary = Vocabulary(SEED)
    pages = [vocabulary.page(number) for number in range(arguments.pages)]
    characters = sum(len(page["text"]) for page in pages)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/cache.db"
        store = page_store.PageStore(path)
        print(f"{len(pages)} pages, {characters // len(pages)} characters on average\n")
        print("| writing | ms |\n|---|---|")
        batches = [pages[start : start + 10] for start in range(0, len(pages), 10)]
        times = [milliseconds(lambda batch=batch: store.put_pages(batch)) for batch in batches]
        print(f"| put_pages, all, ten at a time | {sum(times):.0f} |")
        print(f"| put_pages of ten, median / slowest | {statistics.median(times):.1f} / "
              f"{max(times):.0f} |")  # fmt: skip
        content = {"query": "q", "urls": [], "results": ["x" * 1_000] * 20}
        print(f"| put_answer | {milliseconds(lambda: store.put_answer('key', content)):.1f} |")
        found = store.stats()
        print(f"| file in MB ({characters / 1e6:.0f} MB of text) | {found['bytes'] / 1e6:.0f} |")
        print("\n| reading, open store | ms, median of 9 | slowest | within the bar |")
        print("|---|---|---|---|")
        reads = {f"recall: {name}": (lambda query=query: store.recall(query, 5))
                 for name, query in vocabulary.queries().items()}  # fmt: skip
        reads["recall on one site"] = lambda: store.recall(
            vocabulary.words[0], 5, ["site7.example"]
        )
        for name, read in reads.items():
            times = [milliseconds(read) for _ in range(9)]
            middle = statistics.median(times)
            within = "yes" if middle < RECALL_BAR else "NO"
            print(f"| {name} | {middle:.1f} | {max(times):.1f} | {within} |")
        print(f"| get_answer | {milliseconds(lambda: store.get_answer('key', None)):.2f} | | |")
        urls = [page["url"] for page in pages[:10]]
        print(f"| get_pages of ten | {milliseconds(lambda: store.get_pages(urls, None)):.2f} | | |")
        store.close()
        ours, bare, ratio = hit_ratio(arguments.python, path, arguments.pairs)
        print(
            "\n| a hit as a whole process | bare (ms) | ratio | within the bar |\n|---|---|---|---|"
        )
        print(f"| {ours:.1f} | {bare:.1f} | {ratio:.2f} | {'yes' if ratio <= HIT_BAR else 'NO'} |")
        removed = milliseconds(lambda: store.clear(""))
        print(f"\nclear: {removed:.0f} ms, {store.stats()['bytes']} bytes left; "
              f"warnings: {store.warnings or 'none'}")  # fmt: skip
        store.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
