"""Run the test modules, several at once, and end with one line: N passed, N failed.

usage: run.py [--long] [WORD ...]

With --long only the modules of tests/long run, else all the others. WORD keeps the modules whose
path contains it, and of the other modules the tests whose class or method does. Each module runs in
a process of its own, so that one that hangs or crashes costs no other module its result. Each that
ends is a line, with how many have ended.
"""

from __future__ import annotations

import ast
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Small files that take long.
FIRST = ("test_faults", "test_patterns", "test_ledger", "test_several_engines")
NO_TESTS_RAN = 5  # unittest's exit code from Python 3.12 on
# Seconds for one module, by --long: twice what the slowest takes alone or more, for a busy machine.
MODULE_TIMEOUT = {False: 300, True: 1_200}


def run_module(
    path: Path, words: list[str], long: bool, byte_code: str
) -> tuple[int, int, int, str]:
    """Run one test module; return (passed, failed, skipped, text to show).

    words: of the tests to run, all if there are none.
    byte_code: folder for the byte code that the module and its scripts share, outside the
    repository: compiling the package anew takes a quarter of a script's time.
    """
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    started = time.monotonic()
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    try:
        finished = subprocess.run(
            [sys.executable, "-m", "unittest", name, *(f"-k={word}" for word in words)],
            cwd=ROOT,
            env={**environment, "PYTHONPYCACHEPREFIX": byte_code},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=MODULE_TIMEOUT[long],
            check=False,
        )
        output = finished.stdout.decode("utf-8", "replace")
        crashed = finished.returncode not in (0, NO_TESTS_RAN)
    except subprocess.TimeoutExpired as stuck:
        output = (stuck.stdout or b"").decode("utf-8", "replace") + "\ntimed out"
        crashed = True
    ran = re.search(r"^Ran (\d+) tests? in", output, re.MULTILINE)
    counts = re.search(r"^FAILED \((.*)\)", output, re.MULTILINE)
    faults = re.findall(
        r"(failures|errors|unexpected successes)=(\d+)", counts[1] if counts else ""
    )
    failed = sum(int(number) for _, number in faults)
    if crashed and not failed:
        failed = 1  # it did not come to its end, or could not be imported
    skips = re.search(r"^(?:OK|FAILED|NO TESTS RAN) \(.*skipped=(\d+)", output, re.MULTILINE)
    skipped = int(skips[1]) if skips else 0
    total = int(ran[1]) if ran else failed
    passed = max(0, total - failed - skipped)
    summary = f"{counted(passed, failed, skipped)} in {time.monotonic() - started:.1f} s"
    # A module that runs nothing says why, for example that a program it needs is not there.
    shown = f"\n{output}" if failed or not total else ""
    return passed, failed, skipped, f"{name}: {summary}{shown.rstrip()}"


def counted(passed: int, failed: int, skipped: int) -> str:
    """Return the counts as text; skipped tests are named only where there are some."""
    return f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")


def chosen_modules(long: bool, words: list[str]) -> dict[Path, list[str]]:
    """Return the test modules to run, each with the words of its tests, none for all of them.

    Those that take longest come first: those of FIRST, then large files.
    """
    modules: dict[Path, list[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        if long != (path.parent.name == "long"):
            continue
        if not words or any(word in path.as_posix() for word in words):
            modules[path] = []
        elif in_tests := [word for word in words if any(word in test for test in tests_of(path))]:
            modules[path] = in_tests
    first = sorted(modules, key=lambda path: (path.stem not in FIRST, -path.stat().st_size))
    return {path: modules[path] for path in first}


def tests_of(path: Path) -> list[str]:
    """Return Class.method of each test in a module, as unittest names it."""
    return [
        f"{case.name}.{method.name}"
        for case in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(case, ast.ClassDef)
        for method in case.body
        if isinstance(method, ast.FunctionDef) and method.name.startswith("test")
    ]


def main() -> int:
    """Run the modules that the arguments choose; return 1 if a test failed or none ran."""
    if {"-h", "--help"} & {*sys.argv}:
        print(__doc__)
        return 0
    started = time.monotonic()
    long = "--long" in sys.argv
    modules = chosen_modules(long, [word for word in sys.argv[1:] if not word.startswith("-")])
    # More than processors: much of the time is waiting. A long module keeps two of them busy, and
    # most assert deadlines: two at once on two processors were late by nothing but each other.
    processors = os.cpu_count() or 1
    workers = max(1, processors // 2) if long else 3 * processors
    print(f"{len(modules)} modules, {workers} at a time", flush=True)
    passed = failed = skipped = 0
    with (
        tempfile.TemporaryDirectory() as byte_code,
        concurrent.futures.ThreadPoolExecutor(max_workers=workers) as pool,
    ):
        running = [
            pool.submit(run_module, path, names, long, byte_code) for path, names in modules.items()
        ]
        for number, future in enumerate(concurrent.futures.as_completed(running), 1):
            module_passed, module_failed, module_skipped, text = future.result()
            passed += module_passed
            failed += module_failed
            skipped += module_skipped
            print(f"[{number}/{len(modules)}] {text}", flush=True)
    print(f"{len(modules)} modules in {time.monotonic() - started:.0f} s")
    print(counted(passed, failed, skipped))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    raise SystemExit(main())
