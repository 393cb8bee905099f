"""Run the tests with a canary in every key, then look for it everywhere: it may be nowhere.

usage: canary.py [WORD ...]     WORD keeps the test modules whose name contains one of the words

A key of the tests ends in the canary, which is a new random one for each run. It may travel in the
header that carries a key, and nowhere else. Looked through are

  outputs      what every process that a test started wrote to stdout and stderr, what a script's
               main printed in a test's own process, and what the tests themselves print
  files        every file in every temporary folder: stores, logs, written documents, part files
  requests     to the fake server's two ports: addresses, bodies, headers other than the key's
  processes    command lines of all processes, read all the while (where there is /proc)

Files that a test writes to give a key to a script, such as secrets.yaml, are left out. Exit code 1
if the canary is found, a test fails, or there was nothing to look through.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
LOOK_SECONDS = 0.03  # between two looks at the processes; the shortest of them live 40 ms
SHOWN = 60  # characters before and after a canary
# Files that tests write to give a script a key, or to show that it takes none from there.
INPUTS = re.compile(r"(secrets|other).*\.yaml|\.env|gcloud")
# The output of a program whose work is to print a token.
TOKEN_PRINTER = "gcloud', 'auth', 'print-access-token']"


class Finding(NamedTuple):
    """A place where the canary stands, and what stands around it."""

    place: str
    text: str


def forms_of(canary: str) -> list[bytes]:
    """The canary as it is, and what is the same of it in Base64, wherever it begins there."""
    data = canary.encode()
    forms = [data]
    for offset in range(3):
        # The first and last characters of Base64 depend on what stands before and after.
        encoded = base64.b64encode(b"\0" * offset + data)
        forms.append(encoded[(0, 2, 3)[offset] : len(encoded) // 4 * 4 - 4])
    return forms


def search_bytes(place: str, data: bytes, forms: list[bytes]) -> Iterator[Finding]:
    """The places in some bytes where the canary stands, one for each form and title."""
    seen = set()
    for form in forms:
        for match in re.finditer(re.escape(form), data):
            title = data.rfind(b"\n===== ", 0, match.start())
            name = data[title + 7 : data.find(b"\n", title + 1)] if title >= 0 else b""
            if (form, name) in seen:
                continue
            seen.add((form, name))
            around = data[max(0, match.start() - SHOWN) : match.end() + SHOWN]
            shown = around.decode("utf-8", "replace")
            yield Finding(f"{place} {name.decode('utf-8', 'replace')}".strip(), repr(shown))


def search_files(folder: Path, forms: list[bytes], counts: dict[str, int]) -> Iterator[Finding]:
    """The files below a folder, and their names, that hold the canary."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or INPUTS.fullmatch(path.name):
            continue
        counts["files"] += 1
        try:
            data = path.read_bytes()
        except OSError:  # a test took away the permission to read it; nothing of ours is root's
            continue
        yield from search_bytes(str(path), data + b"\n" + os.fsencode(path), forms)


def search_requests(folder: Path, counts: dict[str, int]) -> Iterator[Finding]:
    """The requests that show the key outside its header; counts those that carry it there.

    A key without the canary is a finding as well, because its way cannot be seen.
    """
    for path in sorted(folder.glob("*")):
        for line in path.read_text("utf-8").splitlines():
            note = json.loads(line)
            counts["requests"] += not (note["wrong"] or note["bare"])
            for key in note["bare"]:
                where = f"request to {note['path']}: a key without the canary proves nothing"
                yield Finding(where, f"{key!r}; end it in tests.support.CANARY")
            for place, text in note["wrong"].items():
                where = f"request to the {note['port']} port, {note['path']}, {place}"
                yield Finding(where, repr(text[:200]))


class ProcessWatch:
    """Reads the command lines of all processes again and again, in a thread of its own."""

    def __init__(self, canary: str) -> None:
        self.canary = canary.encode()
        self.looks = 0
        self.seen: set[bytes] = set()  # command lines, for the count
        self.findings: dict[bytes, Finding] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ProcessWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(LOOK_SECONDS):
            self.look()

    def look(self) -> None:
        """Read the command line of every process there is."""
        for name in os.listdir("/proc") if Path("/proc/self/cmdline").exists() else ():
            if not name.isdecimal():
                continue
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:  # it has ended
                continue
            self.seen.add(line)
            if self.canary in line:
                shown = line.replace(b"\0", b" ").decode("utf-8", "replace")
                self.findings[line] = Finding("command line of a process", repr(shown[:300]))
        self.looks += 1


def run_tests(words: list[str], kept: Path, canary: str) -> tuple[bool, list[Finding], str]:
    """Run the tests; return whether they passed, what the watch found, and its counts as text."""
    temporary = kept / "temporary"
    temporary.mkdir()
    for folder in (kept, temporary):  # as /tmp is: some tests become another user
        folder.chmod(0o1777)
    environment = {
        **os.environ,
        "TMPDIR": str(temporary),
        "WEB_SEARCH_TEST_KEPT": str(kept),
        "WEB_SEARCH_TEST_CANARY": canary,
    }
    own = kept / "outputs" / "run"
    own.parent.mkdir()
    command = [sys.executable, str(ROOT / "tests/run.py"), *words]
    with ProcessWatch(canary) as watch, own.open("wb") as output:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=2)
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                output.write(line)
                sys.stdout.write(line.decode("utf-8", "replace"))
                sys.stdout.flush()
        passed = process.wait() == 0
    text = f"{len(watch.seen)} command lines in {watch.looks} looks"
    if not watch.seen:
        text = "no command lines (there is no /proc here)"
    return passed, list(watch.findings.values()), text


def search_kept(kept: Path, canary: str) -> tuple[list[Finding], dict[str, int]]:
    """Look through what the tests left behind; return the findings and what was looked at."""
    forms = forms_of(canary)
    counts = dict.fromkeys(("outputs", "files", "requests"), 0)
    findings: list[Finding] = []
    for path in sorted((kept / "outputs").glob("*")):
        data = path.read_bytes()
        counts["outputs"] += data.count(b"\n===== ")
        found = search_bytes("output", data, forms)
        findings += [one for one in found if not one.place.endswith(TOKEN_PRINTER)]
    findings += search_files(kept / "temporary", forms, counts)
    findings += search_requests(kept / "requests", counts)
    return findings, counts


def main() -> int:
    """Run the tests, look for the canary, and say what was found; return the exit code."""
    started = time.monotonic()
    canary = f"canary-{os.urandom(8).hex()}"
    kept = Path(tempfile.mkdtemp(prefix="web-search-secrets-"))
    try:
        passed, findings, watched = run_tests(sys.argv[1:], kept, canary)
        found, counts = search_kept(kept, canary)
        findings += found
    finally:
        shutil.rmtree(kept, ignore_errors=True)
    for finding in findings:
        print(f"found: {finding.place}: {finding.text}")
    empty = [name for name, count in counts.items() if not count]
    if empty:
        print(f"nothing was looked through: {', '.join(empty)}")
    print(
        f"{len(findings)} findings in {counts['outputs']} outputs, {counts['files']} files, "
        f"{counts['requests']} requests with a key, {watched}; "
        f"tests {'passed' if passed else 'failed'}; {time.monotonic() - started:.0f} s"
    )
    return 1 if findings or empty or not passed else 0


if __name__ == "__main__":
    raise SystemExit(main())
