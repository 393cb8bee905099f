"""Measure the text of PDF files against known words: `make bench-pdf`.

PDF_DATA names the folder with the files: pdfs/NAME.pdf and reference.json, which maps each NAME.pdf
to {"words": {word: count}, "pairs": {"word word": count}, "pages": n, "expect": ...}. expect is
text (the default), empty (no text layer), password, or hostile (only has to end).

Columns, means over the files with text: recall and precision of words (multisets), order (F1 of
pairs of neighbouring words), milliseconds a page, the most memory, files that failed or gave less
than half of their words, and files of the other kinds that gave words all the same.

Peers that are installed are measured in the same run: pdftotext, pypdf, pdfminer.six. Each file is
read by a process of its own. PDF_FILES limits the number of files; BENCH_PYTHON names the
interpreter that has the peers.

usage: bench_pdf.py [NAME ...]     (names of extractors; all by default)
"""

from __future__ import annotations

import itertools
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 20  # for one file
# Scripts written without spaces between words count one word for each character.
SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
)
JOINERS = "['\u2019\\-\u2010\u2011]"
WORD = re.compile(rf"[{SINGLE}]|[^\W_{SINGLE}]+(?:{JOINERS}[^\W_{SINGLE}]+)*")
LINE_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad][ \t\r\f]*\n[ \t\r\f]*(?=[^\W\d_])")


# ===== extractors =================================================================================


def load_ours() -> Any:
    """websearch.pages.pdf.read_pdf.extract_pdf of this repository."""
    sys.path.insert(0, str(ROOT / "scripts"))
    from websearch.pages.pdf.read_pdf import extract_pdf

    return lambda path: extract_pdf(path.read_bytes())


def load_pdftotext() -> Any:
    if not shutil.which("pdftotext"):
        raise ImportError("pdftotext")
    command = ["pdftotext", "-q", "-enc", "UTF-8"]
    return lambda path: subprocess.run(
        [*command, str(path), "-"], capture_output=True, check=True, timeout=SECONDS
    ).stdout.decode("utf-8", "replace")


def load_pypdf() -> Any:
    import pypdf  # type: ignore[import-not-found, unused-ignore]

    return lambda path: "\f".join(page.extract_text() for page in pypdf.PdfReader(path).pages)


def load_pdfminer() -> Any:
    from pdfminer.high_level import (  # type: ignore[import-not-found, unused-ignore]
        extract_text,
    )

    return extract_text


EXTRACTORS = {
    "read_page": load_ours,
    "pdftotext": load_pdftotext,
    "pypdf": load_pypdf,
    "pdfminer.six": load_pdfminer,
}


def work(name: str, path: Path) -> int:
    """Print text, seconds, peak memory and error of one file as JSON."""
    try:
        extract = EXTRACTORS[name]()
    except ImportError:
        print(json.dumps({"missing": name}))
        return 0
    started = time.perf_counter()
    text, failed = "", False
    try:
        text = extract(path) or ""
    except Exception:  # noqa: BLE001  an error is a result, too
        failed = True
    used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    kilobytes = max(one.ru_maxrss for one in used)
    text = text.encode("utf-8", "replace").decode()
    seconds = time.perf_counter() - started
    answer = {"text": text, "seconds": seconds, "kilobytes": kilobytes, "failed": failed}
    print(json.dumps(answer))
    return 0


# ===== scores =====================================================================================


def words_of_text(text: str) -> list[str]:
    """Return comparable words: broken ones joined, without case, hyphens and apostrophes."""
    joined = LINE_HYPHEN.sub("", text)
    plain = unicodedata.normalize("NFKC", joined).replace("\u00ad", "").casefold()
    return [re.sub(JOINERS, "", word) for word in WORD.findall(plain)]


def score(text: str, entry: dict[str, Any]) -> tuple[float, float, float]:
    """Return recall, precision and order of a text."""
    words = words_of_text(text)
    known, known_pairs = Counter(entry["words"]), Counter(entry["pairs"])
    pairs = Counter(f"{one} {two}" for one, two in itertools.pairwise(words))
    hits = sum((Counter(words) & known).values())
    total = sum(known_pairs.values()) + sum(pairs.values())
    order = 2 * sum((pairs & known_pairs).values()) / total if total else 0.0
    return hits / max(1, sum(known.values())), hits / max(1, len(words)), order


# ===== the run ====================================================================================


def measure(name: str, path: Path) -> dict[str, Any]:
    """Return what an extractor made of one file."""
    python = os.environ.get("BENCH_PYTHON", sys.executable)
    try:
        finished = subprocess.run(
            [python, __file__, "--work", name, str(path)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS + 5, check=True,
        )  # fmt: skip
        answer: dict[str, Any] = json.loads(finished.stdout)
    except (subprocess.SubprocessError, ValueError):
        return {"text": "", "seconds": SECONDS, "kilobytes": 0, "failed": True}
    return answer


def report(name: str, folder: Path, reference: dict[str, Any]) -> None:
    """Print the line of one extractor."""
    scores, seconds, pages, low, wrong, memory = [], 0.0, 0, 0, 0, 0
    for file, entry in reference.items():
        answer = measure(name, folder / "pdfs" / file)
        if "missing" in answer:
            print(f"{name:14} not installed")
            return
        memory = max(memory, answer["kilobytes"] // 1024)
        if entry.get("expect", "text") == "text":
            scores.append(score(answer["text"], entry))
            low += answer["failed"] or scores[-1][0] < 0.5
            if not answer["failed"]:
                seconds, pages = seconds + answer["seconds"], pages + entry["pages"]
        elif entry["expect"] != "hostile":
            wrong += bool(answer["text"].strip())
    means = "  ".join(f"{statistics.mean(one):.3f}" for one in zip(*scores, strict=True))
    speed = 1000 * seconds / max(1, pages)
    print(f"{name:14} {means}  {speed:7.1f}  {memory:6}  {low:4}  {wrong:5}", flush=True)


def main() -> int:
    """Print the table of all extractors."""
    if sys.argv[1:2] == ["--work"]:
        return work(sys.argv[2], Path(sys.argv[3]))
    folder = Path(os.environ.get("PDF_DATA", ""))
    if not os.environ.get("PDF_DATA") or not (folder / "reference.json").exists():
        print("Set PDF_DATA to the folder with the files (see the head of this file).")
        return 2
    reference = json.loads((folder / "reference.json").read_text(encoding="utf-8"))
    limit = int(os.environ.get("PDF_FILES", "0"))
    reference = dict(list(reference.items())[: limit or None])
    print("extractor      recall prec   order  ms/page  MB      low   wrong")
    for name in sys.argv[1:] or EXTRACTORS:
        report(name, folder, reference)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
