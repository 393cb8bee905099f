"""Everything that is measured, as one Markdown table: `make bench`.

usage: bench.py [--only WORD] [--pairs N] [--python PATH] [--quick]

Each row compares what stands in it in one run, in interleaved pairs, so that a machine that is
slower or busier moves both sides; medians of 9 pairs at least. The scripts ask the fake server, a
process of its own on loopback. A row that cannot be taken says why, and the others go on.

BENCH_SAMPLES names a folder with recorded answers.
Extraction by what it keeps of real pages: bench_extract.py; of PDF files: bench_pdf.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.bench import (
    bench_brief,
    bench_budget,
    bench_parallel,
    bench_process,
    bench_servers,
    bench_store,
    bench_tokens,
)
from tests.bench.harness import main

MEASURES = [
    *bench_process.MEASURES,
    *bench_brief.MEASURES,
    *bench_parallel.MEASURES,
    *bench_servers.MEASURES,
    *bench_store.MEASURES,
    *bench_tokens.MEASURES,
    *bench_budget.MEASURES,
]

if __name__ == "__main__":
    raise SystemExit(main(MEASURES))
