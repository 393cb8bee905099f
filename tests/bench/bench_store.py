"""The store at 1,000 and 10,000 pages: what a size or the limit costs, as ratios.

What does not depend on the size stands against itself in the smaller store. A store at its limit is
one that nobody has shrunk yet: the writes of a search stand against those of a store with room.
"""

from __future__ import annotations

import functools
import os
import random
import shutil
import sys
import time
from typing import TYPE_CHECKING, Any

from tests.bench.harness import Measure, Result, against, interleaved, milliseconds
from tests.support import SCRIPTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.harness import World

sys.path.insert(0, str(SCRIPTS))
from websearch.store.page_store import FORGET_SECONDS, PageStore

SMALL, LARGE = 1_000, 10_000  # pages; of a quick run 50 and 200
WORDS = 1_000  # per page
SEARCHES = 200  # at the limit
NO_LIMIT = 10**12
SEED = 8_500


def page(number: int, source: random.Random) -> dict[str, Any]:
    """Return a page of made-up words, the later ones rarer."""
    words = (int(source.paretovariate(0.6)) % 40_000 for _ in range(WORDS))
    text = " ".join(f"word{word}" for word in words)
    url = f"https://host{number % 97}.example/{number}"
    return {"url": url, "title": f"Page {number}", "text": text, "fetched_at": time.time() - number}


def filled(where: World, count: int) -> Path:
    """Return a store with so many pages, made once."""

    def make() -> Path:
        path = where.folder / f"store-{count}.db"
        source = random.Random(SEED)
        store = PageStore(str(path), max_bytes=NO_LIMIT)
        store.put_pages([page(number, source) for number in range(count)])
        store.close()
        return path

    path: Path = where.kept(f"store of {count} pages", make)
    return path


def both(where: World, action: str) -> Result:
    """Return the times of a call in the large and in the small store."""
    sides = []
    for usual, quick in ((LARGE, 200), (SMALL, 50)):
        store = PageStore(str(filled(where, where.amount(usual, quick))), max_bytes=NO_LIMIT)
        call = {
            "link": functools.partial(store.has_shown, "https://host7.example/unheard/of"),
            "pages": functools.partial(store.get_pages, ["https://host5.example/5"], None),
        }[action]
        sides.append(functools.partial(milliseconds, call))
    return against(interleaved(sides[0], sides[1], where.pairs), 4.0)


def forget(where: World) -> Result:
    """Return the seconds of forgetting a question with two pages, with the bound."""
    copy = where.folder / "forget.db"
    shutil.copy(filled(where, where.amount(LARGE, 200)), copy)
    store = PageStore(str(copy), max_bytes=NO_LIMIT)
    urls = [f"https://host{number}.example/{number}" for number in (1, 2)]
    store.put_answer("key", {"query": "old mill", "urls": urls})
    seconds = milliseconds(lambda: store.clear("old mill")) / 1_000
    store.close()
    bound = 1.5 * FORGET_SECONDS
    return Result(f"{seconds:.2f} s", bar=f"<= {bound:.0f} s", met=seconds <= bound)


def at_limit(where: World) -> tuple[list[float], list[float], float]:
    """Return the milliseconds of writes with room and at the limit, and the largest share of it."""
    roomy, full = (where.folder / f"{name}.db" for name in ("roomy", "full"))
    for path in (roomy, full):
        shutil.copy(filled(where, where.amount(LARGE, 200)), path)
    limit = os.path.getsize(full) * 995 // 1_000
    source, times, share = random.Random(SEED + 1), ([], []), 0.0
    for number in range(where.amount(SEARCHES, 5)):
        pages = [page(10**6 + 5 * number + part, source) for part in range(5)]
        for path, side, bound in ((roomy, times[0], NO_LIMIT), (full, times[1], limit)):
            store = PageStore(str(path), max_bytes=bound)
            begin = time.perf_counter()
            store.put_answer(f"key{number}", {"query": f"query {number}", "urls": []})
            store.put_pages([{**one, "fetched_at": time.time()} for one in pages])
            side.append((time.perf_counter() - begin) * 1_000)
            share = max(share, os.path.getsize(full) / limit)
            store.shrink(1.0)  # after the answer
            store.close()
    return *times, share


def writes(where: World) -> Result:
    """Return the 99th percentiles of a search's writes at the limit and with room."""
    roomy, full, _ = where.kept("store at its limit", lambda: at_limit(where))
    slow = [sorted(side)[len(side) * 99 // 100] for side in (full, roomy)]
    ratio = slow[0] / slow[1]
    return Result(f"{slow[0]:.0f} ms", f"{slow[1]:.0f} ms", ratio, "<= 4.0 x", ratio <= 4.0)


def size(where: World) -> Result:
    """Return the largest size of a store at its limit, as a share of the limit."""
    share = where.kept("store at its limit", lambda: at_limit(where))[2]
    return Result(f"{share:.3f} of the limit", bar="<= 1.1", met=share <= 1.1)


MEASURES = [
    Measure("store: unknown link, 10,000 to 1,000 pages", functools.partial(both, action="link")),
    Measure("store: a page, 10,000 to 1,000 pages", functools.partial(both, action="pages")),
    Measure("store: forget a question, 10,000 pages", forget),
    Measure("store: writes of a search (99 of 100) at the limit, with room", writes),
    Measure("store: largest size at the limit", size),
]
