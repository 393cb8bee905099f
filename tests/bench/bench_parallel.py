"""What is done at once: batches of queries, and pages.

A batch is 100 queries that the server answers after 0.2 s each. Of 8 at once the ideal is 2.5 s
(2.6 s in whole rounds); the bar is 90 % of it, for the whole process. serper_search.py sends all
in one request. Of 20 pages on ten servers one comes 0.6 s late: they are compared with that one
alone.
"""

from __future__ import annotations

import contextlib
import functools
import json
import statistics
import subprocess
from typing import TYPE_CHECKING

from tests.bench.harness import (
    ROOT,
    Measure,
    Result,
    against,
    interleaved,
    output_of,
    process_time,
)
from tests.fake_server import small_web
from tests.fake_server.faults import SLOW_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.bench.harness import World

QUERIES, QUICK_QUERIES = 100, 8
WORKERS = 8
BATCH_BAR = 0.9  # of the ideal
PAGES = 20
PAGE_SERVERS = 10  # read_page.py asks one host and port for two pages at once
PAGE_SERVER = """\
import sys
sys.path.insert(0, sys.argv[1])
from tests.fake_server.server import FakeServer
servers = [FakeServer() for _ in range(int(sys.argv[2]))]
print(" ".join(server.url for server in servers), flush=True)
sys.stdin.read()
"""
BATCHES: dict[str, tuple[str, ...]] = {
    "serper_search.py": ("--jsonl",),
    "gemini_search.py": ("--jsonl", "--workers", str(WORKERS)),
}


def batch(where: World, name: str) -> Result:
    """Return how near a batch comes to the ideal of eight queries at once."""
    count = where.amount(QUERIES, QUICK_QUERIES)
    file = where.written("queries.txt", "".join(f"sourdough {one}\n" for one in range(count)))
    command = where.script(name, "batch", file, *BATCHES[name])
    slow = {**where.environment, "SERPER_API_KEY": "slow", "GEMINI_API_KEY": "slow"}
    documents = [json.loads(line) for line in output_of(command, slow).splitlines()]
    if [document["ok"] for document in documents] != [True] * count:
        raise RuntimeError(f"{len(documents)} documents, not all of them good")
    ideal = count * SLOW_SECONDS / WORKERS
    elapsed = process_time(command, slow)
    seconds = statistics.median(elapsed() for _ in range(where.pairs)) / 1_000
    return Result(
        f"{seconds:.2f} s",
        f"ideal {ideal:.2f} s",
        ideal / seconds,
        f">= {BATCH_BAR:.0%} of ideal",
        ideal / seconds >= BATCH_BAR,
    )


@contextlib.contextmanager
def page_servers(where: World) -> Iterator[list[str]]:
    """Start servers of pages in a process of their own; give their addresses."""
    command = [where.python, "-c", PAGE_SERVER, str(ROOT), str(PAGE_SERVERS)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        if process.stdout is None:
            raise RuntimeError("the servers have no stdout")
        yield process.stdout.readline().decode().split()


def pages_at_once(where: World) -> Result:
    """Compare twenty pages, one of them late, with the late one alone."""
    paths = list(small_web.DOCUMENTS)
    with page_servers(where) as addresses:
        urls = [f"{addresses[place % PAGE_SERVERS]}/web/{paths[place]}" for place in range(PAGES)]
        urls[0] = urls[0].replace("/web/", "/web/fault-slow/")
        hosts = ",".join(address.removeprefix("http://") for address in addresses)
        environment = {**where.environment, "WEB_SEARCH_ALLOW_PRIVATE": hosts}
        document = json.loads(output_of(where.script("read_page.py", *urls), environment))
        if not all(page["ok"] for page in document["pages"]):
            raise RuntimeError("a page could not be read")
        return against(
            interleaved(
                process_time(where.script("read_page.py", *urls), environment),
                process_time(where.script("read_page.py", urls[0]), environment),
                where.pairs,
            )
        )


MEASURES = [
    *(
        Measure(f"{name}: batch of 100 queries, 0.2 s each", functools.partial(batch, name=name))
        for name in BATCHES
    ),
    Measure("read_page.py: 20 pages at once, against the slowest alone", pages_at_once),
]
