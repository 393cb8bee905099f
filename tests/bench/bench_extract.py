"""Measure the extraction of read_page.py on pages with known main text: `make bench-extract`.

BENCH_DATA names the folder with the pages: NAME/SPLIT/manifest.jsonl, one page a line, with `html`
(a gzip file beside it), `url`, and either `gold` (the full text) or `with` and `without` (snippets
that the text must and must not hold). `type` groups pages. Sets are scored in their own metric:

aeb, moz    4-gram shingles: F1 of mean precision and mean recall
wcxb        bag of words: mean F1 of the pages, also by type
traf        snippets: F1 over all of them

Peers that are installed are measured in the same run: trafilatura, readability-lxml, resiliparse.
Each extractor runs in a process of its own, so that its memory is its own. BENCH_PAGES limits the
pages of a set; BENCH_PYTHON names the interpreter that has the peers.

usage: bench_extract.py [NAME ...]     (names of extractors; all by default)
"""

from __future__ import annotations

import gzip
import importlib
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WORD = re.compile(r"\w+")
SHINGLE = 4  # words
WARM_UP = (
    "<html><body><article><p>" + "A page to warm up with. " * 20 + "</p></article></body></html>"
)
TYPES = ("article", "documentation", "service", "forum", "collection", "listing", "product")


# ===== extractors =================================================================================


def load_ours() -> Any:
    """Return extract of the module of this repository that finds the content of a page."""
    sys.path.insert(0, str(ROOT / "scripts"))
    return importlib.import_module("websearch.pages.extract.content").extract


def load_trafilatura() -> Any:
    import trafilatura  # type: ignore[import-not-found, unused-ignore]

    return lambda html, url: trafilatura.extract(html, url=url) or ""


def load_readability() -> Any:
    import lxml.html  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from readability import Document  # type: ignore[import-not-found, unused-ignore]

    def extract(html: str, url: str) -> str:
        tree = lxml.html.fromstring(Document(html, url=url).summary())
        return "\n".join(text.strip() for text in tree.itertext() if text.strip())

    return extract


def load_resiliparse() -> Any:
    from resiliparse.extract.html2text import (  # type: ignore[import-not-found, unused-ignore]
        extract_plain_text,
    )

    return lambda html, _url: extract_plain_text(html, main_content=True)


EXTRACTORS = {
    "read_page": load_ours,
    "trafilatura": load_trafilatura,
    "readability-lxml": load_readability,
    "resiliparse": load_resiliparse,
}


def work(name: str) -> int:
    """Extract the pages whose lines come on stdin; print text, seconds and peak memory of each."""
    try:
        extract = EXTRACTORS[name]()
    except ImportError:
        print(json.dumps({"missing": name}))
        return 0
    extract(WARM_UP, "http://example.org/")
    for line in sys.stdin:
        page = json.loads(line)
        with gzip.open(page["path"]) as file:
            html = file.read().decode("utf-8", "replace")
        started = time.perf_counter()
        try:
            text = extract(html, page["url"]) or ""
        except Exception:  # noqa: BLE001  a page that raises counts as empty
            text = ""
        seconds = time.perf_counter() - started
        print(json.dumps({"text": text, "seconds": seconds, "kilobytes": peak_memory()}))
    return 0


def peak_memory() -> int:
    """Return the most memory that this process ever held, in kilobytes.

    Linux hands ru_maxrss on from the process that started this one, so its own counter goes first.
    """
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(status.partition("VmHWM:")[2].split()[0])


# ===== scores =====================================================================================


def shares(gold: Counter[Any], found: Counter[Any]) -> tuple[float, float]:
    """Return precision and recall of what was found; nothing found of nothing is right."""
    common = sum((gold & found).values())
    precision = common / found.total() if found else float(not gold)
    return precision, common / gold.total() if gold else float(not found)


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def shingles(text: str) -> Counter[Any]:
    """Return the runs of four words of a text; of a shorter one, the whole."""
    words = WORD.findall(text)
    count = max(1, len(words) - SHINGLE + 1)
    return Counter(tuple(words[at : at + SHINGLE]) for at in range(count) if words)


def score_shingles(pages: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Return F1, precision and recall of 4-grams, precision over the pages with text."""
    scored = [(shingles(page["gold"]), shingles(page["text"])) for page in pages]
    pairs = [(shares(gold, found), bool(gold), bool(found)) for gold, found in scored]
    precision = statistics.mean([pair[0] for pair, _, found in pairs if found] or [0.0])
    recall = statistics.mean([pair[1] for pair, gold, _ in pairs if gold] or [0.0])
    return f1(precision, recall), precision, recall


def score_words(pages: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Return the means of the pages' F1, precision and recall of words."""
    pairs = [
        shares(
            Counter(WORD.findall(page["gold"].lower())), Counter(WORD.findall(page["text"].lower()))
        )
        for page in pages
    ]
    return (
        statistics.mean(f1(*pair) for pair in pairs),
        statistics.mean(pair[0] for pair in pairs),
        statistics.mean(pair[1] for pair in pairs),
    )


def score_snippets(pages: list[dict[str, Any]]) -> tuple[float, float, float]:
    """Return F1, precision and recall over all snippets, white space made equal."""
    found = wrong = wanted = 0
    for page in pages:
        text = " ".join(page["text"].split())
        found += sum(" ".join(one.split()) in text for one in page["with"])
        wrong += sum(" ".join(one.split()) in text for one in page["without"])
        wanted += len(page["with"])
    precision = found / (found + wrong) if found + wrong else 0.0
    return f1(precision, found / max(1, wanted)), precision, found / max(1, wanted)


SCORES = {"aeb": score_shingles, "moz": score_shingles, "wcxb": score_words, "traf": score_snippets}


# ===== the run ====================================================================================


def load_pages(folder: Path, limit: int) -> dict[str, list[dict[str, Any]]]:
    """Return the pages of each set, of every split that is there."""
    sets: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for manifest in sorted(folder.glob("*/*/manifest.jsonl")):
        # splitlines would cut the texts at U+2028 too, which JSON leaves as it is.
        for line in manifest.read_text(encoding="utf-8").split("\n"):
            if not line:
                continue
            page = json.loads(line)
            page["path"] = str(manifest.parent / page["html"])
            sets[manifest.parent.parent.name].append(page)
    return {name: pages[: limit or None] for name, pages in sets.items() if name in SCORES}


def measure(name: str, pages: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Return each page with what an extractor made of it; None if it is not installed."""
    lines = "".join(json.dumps({"path": one["path"], "url": one["url"]}) + "\n" for one in pages)
    python = os.environ.get("BENCH_PYTHON", sys.executable)
    finished = subprocess.run(
        [python, __file__, "--work", name], input=lines.encode(), stdout=subprocess.PIPE, check=True
    )
    answers = [json.loads(line) for line in finished.stdout.splitlines()]
    if answers and "missing" in answers[0]:
        return None
    return [{**page, **answer} for page, answer in zip(pages, answers, strict=True)]


def report(name: str, label: str, pages: list[dict[str, Any]]) -> None:
    """Print the line of one extractor on one set, and its line by page type."""
    score = SCORES[label]
    values = "  ".join(f"{value:.3f}" for value in score(pages))
    speed = len(pages) / sum(page["seconds"] for page in pages)
    memory = max(page["kilobytes"] for page in pages) // 1024
    empty = sum(not page["text"].strip() for page in pages)
    print(f"{label:5} {name:18} {values}  {speed:7.1f}  {memory:6}  {empty:5}", flush=True)
    groups = {kind: [one for one in pages if one.get("type") == kind] for kind in TYPES}
    if len([one for one in groups.values() if one]) > 1:
        scored = [f"{kind} {score(one)[0]:.3f}" for kind, one in groups.items() if one]
        print(f"      {'':18} {', '.join(scored)}", flush=True)


def main() -> int:
    """Print the table of every set and extractor."""
    if sys.argv[1:2] == ["--work"]:
        return work(sys.argv[2])
    folder = os.environ.get("BENCH_DATA", "")
    sets = load_pages(Path(folder), int(os.environ.get("BENCH_PAGES", "0"))) if folder else {}
    if not sets:
        print("Set BENCH_DATA to the folder with the pages (see the head of this file).")
        return 2
    print("set   extractor          F1     prec   recall  pages/s  peak MB  empty")
    for label, pages in sets.items():
        for name in sys.argv[1:] or EXTRACTORS:
            measured = measure(name, pages)
            if measured is None:
                print(f"{label:5} {name:18} not installed")
            else:
                report(name, label, measured)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
