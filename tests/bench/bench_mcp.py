"""Time the start of mcp_server.py through uv run against uv run of an empty script.

usage: bench_mcp.py [--pairs N] [--python PATH]

Runs are interleaved; the table gives medians and the median of the ratios of neighbouring runs.
The server's time is that from its start to the answer to initialize; tools/list follows at once,
then one call that needs no network. The interpreter is started by its real path, because a version
manager's shim adds 100 ms; byte code is cached, as it is for users. uv is $UV, or found on PATH.
The bar: 1.6 times the empty script.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BAR_RATIO = 1.6
EMPTY_SCRIPT = '# /// script\n# requires-python = ">=3.10"\n# dependencies = []\n# ///\n'
REQUESTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("initialize", {"protocolVersion": "2025-11-25"}),
    ("tools/list", {}),
    ("tools/call", {"name": "brave_web_search", "arguments": {"query": ""}}),
)


def served(command: list[str], environment: dict[str, str]) -> list[float]:
    """Return the milliseconds until each of REQUESTS is answered, the first since the start."""
    times = []
    started = time.perf_counter()
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("the server has no pipes")
    for number, (method, params) in enumerate(REQUESTS):
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        times.append((time.perf_counter() - started) * 1_000)
        if "result" not in answer:
            raise RuntimeError(answer)
        started = time.perf_counter()
    process.stdin.close()
    process.wait()
    process.stdout.close()
    return times


def elapsed(command: list[str], environment: dict[str, str]) -> float:
    """Return the milliseconds that a command takes as a whole process."""
    started = time.perf_counter()
    subprocess.run(command, env=environment, check=True)
    return (time.perf_counter() - started) * 1_000


def main() -> int:
    """Print the table; the exit code is 0 whatever the numbers say: they are for reading."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--python", default=os.path.realpath(sys.executable))
    arguments = parser.parse_args()
    pairs = max(arguments.pairs, 9)
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    launchers = [("python", [arguments.python])]
    uv = os.environ.get("UV") or shutil.which("uv")
    if uv:
        command = [os.path.realpath(uv), "run", "--offline", "--python", arguments.python]
        launchers.append(("uv run", [*command, "--script"]))
    else:
        print("uv is not installed: $UV or PATH; only the interpreter is measured\n")
    server = str(ROOT / "scripts/mcp_server.py")
    print(f"{pairs} interleaved pairs, {arguments.python}\n")
    print("| launcher | initialize (ms) | empty (ms) | ratio | tools/list | a call | in the bar |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder) / "empty.py"
        empty.write_text(EMPTY_SCRIPT, encoding="utf-8")
        for name, launcher in launchers:
            runs = [
                (
                    served([*launcher, server], environment),
                    elapsed([*launcher, str(empty)], environment),
                )
                for _ in range(pairs + 1)
            ][1:]  # the first one warms byte code and the file cache
            first, listed, called = (
                statistics.median(mine[index] for mine, _ in runs) for index in range(3)
            )
            bare = statistics.median(other for _, other in runs)
            ratio = statistics.median(mine[0] / other for mine, other in runs)
            within = "" if name == "python" else "yes" if ratio <= BAR_RATIO else "NO"
            print(
                f"| {name} | {first:.1f} | {bare:.1f} | {ratio:.2f} | {listed:.1f} "
                f"| {called:.2f} | {within} |"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
