"""What the measures of `make bench` share: the world that they run in, pairs of runs, the table.

A measure has a name and a function that takes the World and returns a Result. A module of measures
runs alone, too: its main is that of this module.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support import clean_environment, small_web_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "web-search-dev"
LEAST_PAIRS = 9  # a median of fewer says little on a busy machine
RUN_SECONDS = 120.0  # after which a run that hangs is a failure
KEYS = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY")
KEY = "good"
# What a client sends by itself, and the compression that a short script does not undo.
OWN_HEADERS = ("host", "connection", "content-length", "accept-encoding")


class Result(NamedTuple):
    """A row of the table without its name; met is None where there is no bar."""

    ours: str
    peer: str = ""
    ratio: float | None = None
    bar: str = ""
    met: bool | None = None


class Measure(NamedTuple):
    """What is measured, and how."""

    name: str
    take: Callable[[World], Result]


class Medians(NamedTuple):
    """Of interleaved pairs: the median of each side, and of the ratios of neighbours."""

    ours: float
    other: float
    ratio: float


class World:
    """Interpreter and uv by their real paths, a fake server in a process of its own, a folder.

    quick: one pair and small amounts, to see that everything runs; its numbers mean nothing.
    """

    def __init__(self, address: str, folder: Path, pairs: int, quick: bool, python: str) -> None:
        self.address = address
        self.folder = folder
        self.pairs = 1 if quick else max(pairs, LEAST_PAIRS)
        self.quick = quick
        self.python = python  # a version manager's shim would add 100 ms
        self.uv = uv_command(python)
        self._kept: dict[str, Any] = {}
        # The pause between requests to one engine is kept in a file even where it is short.
        environment = clean_environment(
            **small_web_environment(address),
            **dict.fromkeys(KEYS, KEY),
            GLSI_DB_PATH=str(folder / "glsi/cache.db"),
        )
        environment |= {"GLSI_RATE_LIMIT": "1ms", "SEARXNG_BASE_URL": ""}
        environment["UV_CACHE_DIR"] = str(folder / "uv")  # the home may not be writable
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # byte code is cached, as it is for users
        self.environment = environment
        self.keyless = {name: value for name, value in environment.items() if name not in KEYS}

    def amount(self, usual: int, quick: int) -> int:
        """Return how many there are to be: of a quick run, fewer."""
        return quick if self.quick else usual

    def kept(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what make returns, made once for the measures that share it."""
        if name not in self._kept:
            self._kept[name] = make()
        return self._kept[name]

    def written(self, name: str, text: str) -> str:
        """Write a file into the folder; return its path."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    def script(self, name: str, *arguments: str) -> list[str]:
        """Return the command that runs a script."""
        return [self.python, str(SCRIPTS / name), *arguments]

    def received(self) -> list[dict[str, Any]]:
        """Return the requests that the fake server got since the last call, and forget them."""
        address = self.address + "/__requests"
        with urllib.request.urlopen(address, timeout=RUN_SECONDS) as answer:
            requests: list[dict[str, Any]] = json.load(answer)
        with urllib.request.urlopen(urllib.request.Request(address, method="DELETE")):
            return requests


def uv_command(python: str) -> list[str]:
    """Return `uv run --script` for an interpreter; empty where uv is not installed."""
    beside = CACHE / "uv/bin/uv"
    uv = os.environ.get("UV") or shutil.which("uv") or (str(beside) if beside.exists() else "")
    if not uv:
        return []
    return [os.path.realpath(uv), "run", "--offline", "--python", python, "--script"]


@contextlib.contextmanager
def world(pairs: int = LEAST_PAIRS, quick: bool = False, python: str = "") -> Iterator[World]:
    """Start the fake server, whose results lead to its own pages, and end it again."""
    python = os.path.realpath(python or sys.executable)
    command = [python, str(ROOT / "tests/fake_server/server.py"), "--local-links"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            if server.stdout is None:
                raise RuntimeError("the fake server has no stdout")
            address = server.stdout.readline().decode().strip()
            with tempfile.TemporaryDirectory(prefix="web-search-bench-") as folder:
                where = World(address, Path(folder), pairs, quick, python)
                yield where
        finally:
            server.terminate()


# ===== runs =======================================================================================


def output_of(command: list[str], environment: Mapping[str, str], stdin: bytes = b"") -> bytes:
    """Run a command and return its stdout; raises RuntimeError with its end if it failed."""
    finished = subprocess.run(
        command,
        env=dict(environment),
        input=stdin,
        capture_output=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    if finished.returncode:
        said = (finished.stdout + finished.stderr)[-300:].decode("utf-8", "replace")
        raise RuntimeError(f"{Path(command[0]).name} ended with {finished.returncode}: {said}")
    return finished.stdout


def milliseconds(action: Callable[[], Any]) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1_000


def process_time(command: list[str], environment: Mapping[str, str]) -> Callable[[], float]:
    """Return a function that runs a command and returns the milliseconds of its process."""
    return lambda: milliseconds(lambda: output_of(command, environment))


def interleaved(ours: Callable[[], float], other: Callable[[], float], pairs: int) -> Medians:
    """Take turns (ours, other, ours, other, ...) after one of each that warms the caches."""
    ours()
    other()
    times = [(ours(), other()) for _ in range(pairs)]
    return Medians(
        statistics.median(mine for mine, _ in times),
        statistics.median(theirs for _, theirs in times),
        statistics.median(mine / theirs for mine, theirs in times),
    )


def against(times: Medians, bar: float = 0.0) -> Result:
    """Return the row of a pair in milliseconds. bar: the highest ratio, if there is one."""
    return Result(
        f"{times.ours:.1f} ms",
        f"{times.other:.1f} ms",
        times.ratio,
        f"<= {bar} x" if bar else "",
        times.ratio <= bar if bar else None,
    )


# ===== the table ==================================================================================


def row(name: str, result: Result) -> str:
    """Return a line of the table."""
    ratio = "" if result.ratio is None else f"{result.ratio:.2f}"
    met = {None: "", True: "yes", False: "NO"}[result.met]
    return f"| {name} | {result.ours} | {result.peer} | {ratio} | {result.bar} | {met} |"


def taken(measure: Measure, where: World) -> tuple[Result, bool]:
    """Return the result of a measure, and whether it could be taken: a failure is a row, too."""
    try:
        return measure.take(where), True
    except Exception as error:  # noqa: BLE001  one that fails must not end the run
        text = " ".join(f"{type(error).__name__}: {error}".split())[:300].replace("|", "\\|")
        return Result(f"failed: {text}"), False


def print_table(measures: Iterable[Measure], where: World) -> int:
    """Print a row for each measure as soon as it is there; return how many failed."""
    print("| measure | ours | peer or bare | ratio | bar | met? |\n|---|---|---|---|---|---|")
    failed = 0
    for measure in measures:
        result, works = taken(measure, where)
        failed += not works
        print(row(measure.name, result), flush=True)
    return failed


def main(measures: list[Measure], arguments: list[str] | None = None) -> int:
    """Take the measures that the arguments choose.

    The exit code tells whether all could be taken, not what they say: that is for reading.
    """
    parser = argparse.ArgumentParser(description="Measure, and print a Markdown table.")
    parser.add_argument("--only", metavar="WORD", help="the rows whose name holds WORD")
    parser.add_argument("--pairs", type=int, default=LEAST_PAIRS, help="of runs; 9 or more")
    parser.add_argument("--python", default="", help="interpreter (default: this one)")
    parser.add_argument("--quick", action="store_true", help="see that it runs; no numbers")
    chosen = parser.parse_args(arguments)
    wanted = [one for one in measures if (chosen.only or "").lower() in one.name.lower()]
    if not wanted:
        print(f"no row holds {chosen.only!r}; there are: {', '.join(one.name for one in measures)}")
        return 2
    started = time.monotonic()
    with world(chosen.pairs, chosen.quick, chosen.python) as where:
        version = output_of([where.python, "--version"], {}).decode().strip()
        print(f"Medians of {where.pairs} interleaved pairs; {version}, {sys.platform}, ", end="")
        print(f"{os.cpu_count()} processors, load {load()}\n")
        failed = print_table(wanted, where)
    print(f"\n{time.monotonic() - started:.0f} s; load {load()}")
    return 1 if failed else 0


def load() -> str:
    """Return how busy the machine is: processes that want to run, on average of a minute."""
    return f"{os.getloadavg()[0]:.1f}"
