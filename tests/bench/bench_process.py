"""Time one search as a whole process against a ten-line urllib script doing the same request.

usage: bench_process.py [--pairs N] [--python PATH]

Runs are interleaved (ours, bare, ours, bare, ...) against the fake server on loopback; the table
gives medians and the median of the ratios of neighbouring runs. The interpreter is started by its
real path, because a version manager's shim adds 100 ms; byte code is cached, as it is for users.
The bar: 1.3 times the bare script, or 12 ms more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BAR_RATIO, BAR_MILLISECONDS = 1.3, 12.0
BARE_SCRIPT = """\
import json
import os
import urllib.parse
import urllib.request

query = urllib.parse.urlencode({"q": "python", "count": 10})
url = os.environ["BRAVE_SEARCH_BASE_URL"] + "/res/v1/web/search?" + query
request = urllib.request.Request(url, headers={"X-Subscription-Token": "good"})
with urllib.request.urlopen(request, timeout=30) as response:
    print(json.dumps(json.load(response)["web"]["results"]))
"""


def elapsed(command: list[str], environment: dict[str, str]) -> float:
    """Return the milliseconds that a command takes as a whole process."""
    started = time.perf_counter()
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - started) * 1_000


def compare(
    ours: list[str], bare: list[str], environment: dict[str, str], pairs: int
) -> tuple[float, float, float]:
    """Return (median of ours, median of bare, median ratio) of interleaved runs."""
    elapsed(ours, environment)  # warms byte code and the file cache
    elapsed(bare, environment)
    times = [(elapsed(ours, environment), elapsed(bare, environment)) for _ in range(pairs)]
    ratio = statistics.median(mine / other for mine, other in times)
    return (
        statistics.median(mine for mine, _ in times),
        statistics.median(other for _, other in times),
        ratio,
    )


def main() -> int:
    """Print the table; the exit code is 0 whatever the numbers say: they are for reading."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--python", default=os.path.realpath(sys.executable))
    arguments = parser.parse_args()
    server = subprocess.Popen(
        [arguments.python, str(ROOT / "tests/fake_server/server.py")], stdout=subprocess.PIPE
    )
    if server.stdout is None:
        raise RuntimeError("the fake server has no stdout")
    address = server.stdout.readline().decode().strip()
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment |= {"BRAVE_SEARCH_BASE_URL": address, "BRAVE_SEARCH_API_KEY": "good"}
    script = str(ROOT / "scripts/brave_search.py")
    print(f"{arguments.pairs} interleaved pairs, {arguments.python}\n")
    print("| run | ours (ms) | bare (ms) | ratio | more (ms) | within the bar |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE_SCRIPT, encoding="utf-8")
        help_only = Path(folder) / "empty.py"
        help_only.write_text("import json, re, argparse\n", encoding="utf-8")
        runs = [
            ("brave_search.py 'python'", [arguments.python], [script, "python"], bare),
            ("brave_search.py --help", [arguments.python], [script, "--help"], help_only),
        ]
        if uv := shutil.which("uv"):
            launcher = [os.path.realpath(uv), "run", "--python", arguments.python, "--script"]
            runs.append(("the search through uv run", launcher, [script, "python"], bare))
        try:
            for name, launcher, ours, other in runs:
                mine, theirs, ratio = compare(
                    [*launcher, *ours], [*launcher, str(other)], environment, arguments.pairs
                )
                within = ratio <= BAR_RATIO or mine - theirs <= BAR_MILLISECONDS
                print(
                    f"| {name} | {mine:.1f} | {theirs:.1f} | {ratio:.2f} | {mine - theirs:.1f} "
                    f"| {'yes' if within else 'NO'} |"
                )
        finally:
            server.terminate()
            server.wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
