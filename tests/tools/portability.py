"""Every script in the surroundings it may meet: other locales, strict Pythons, no home, no uv.

usage: portability.py [WORD ...]     WORD keeps the settings whose name contains one of the words

Two parts. First a call or more of every script in each setting alone, so that a fault has one
cause. Then test modules that start processes, among them the contract of every script, from a copy
under a path with spaces and letters beyond ASCII, in two sets of settings at once. The scripts run
on this interpreter; the other versions of Python run this file again. Exit code 1 if a call or a
test failed.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fake_server.server import FakeServer
from tests.support import CANARY, ROOT, clean_environment, small_web_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

CALL_SECONDS = 60
UNKNOWN_USER = 54_321  # has no entry in the password file
KEYS = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY")
QUERY = "京都 紅葉"
FOUND = "京都"  # in what the fake server finds for it
# What a user without an entry in the password file meets; Python imports it at its start.
NO_PASSWORD_FILE = """
import pwd

def getpwuid(number):
    raise KeyError(f"getpwuid(): uid not found: {number}")

pwd.getpwuid = getpwuid
"""
# The test modules that start processes; with test_contract they touch every script. The others
# call functions, which the first part's settings do not reach.
MODULES = (
    "/contract/", "test_web_search.py", "test_mcp_server.py", "test_http_server.py",
    "test_doctor.py", "test_progress.py",
)  # fmt: skip
# The same for the setting that takes away what Windows lacks: no test in them is about modes of
# files, which Windows does not have.
WINDOWS_MODULES = (
    "test_streams.py", "test_read_list.py", "test_mcp_server.py", "test_progress.py",
)  # fmt: skip
LIKE_WINDOWS = ROOT / "tests/tools/like_windows.py"
UTF8_OFF = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "LANG": None}


class Setting(NamedTuple):
    """A way to run the scripts: variables (None removes one), interpreter flags, and so on."""

    name: str
    variables: dict[str, str | None] = {}  # noqa: RUF012  never changed
    flags: tuple[str, ...] = ()
    closed: tuple[int, ...] = ()  # file descriptors, stdout never: nobody would see an answer
    copied: bool = False  # under a path with spaces and letters beyond ASCII
    user: int | None = None
    encoding: str = "utf-8"  # of text for people in a pipe; JSON is UTF-8 everywhere


class Call(NamedTuple):
    """One process: words, what stands in its output, its input."""

    words: list[str]
    expected: str
    stdin: str = ""
    output: str = ""  # the file whose content counts


class Place(NamedTuple):
    """Where calls are made: interpreter, folder of the scripts, current folder, fake server."""

    python: str
    scripts: Path
    folder: Path
    url: str


def windows_variables(folder: Path) -> dict[str, str | None]:
    """The variables of a process that finds what Windows has: no POSIX, cp1252, other defaults.

    The warnings find every file that is opened in the locale's encoding.
    """
    return {
        "PYTHONPATH": str(folder / "windows"),
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "cp1252",
        "PYTHONWARNDEFAULTENCODING": "1",
        "PYTHONWARNINGS": "error::EncodingWarning",
    }


def settings(folder: Path) -> list[Setting]:
    """Every setting; folder is for the files that some need."""
    (folder / "patch").mkdir()
    (folder / "patch" / "sitecustomize.py").write_text(NO_PASSWORD_FILE)
    (folder / "windows").mkdir()
    shutil.copy(LIKE_WINDOWS, folder / "windows" / "sitecustomize.py")
    home = folder / r"C:\Users\Jürgen"
    home.mkdir()
    (folder / "file").touch()
    no_home: dict[str, str | None] = {"HOME": None, "PYTHONPATH": str(folder / "patch")}
    no_home |= {name: None for name in os.environ if name.startswith("XDG_")}
    return [
        Setting("as usual"),
        Setting("UTF-8 mode off", {"LC_ALL": "C.UTF-8"}, ("-X", "utf8=0")),
        Setting("UTF-8 mode off, LC_ALL=C", dict(UTF8_OFF)),
        Setting("PYTHONIOENCODING=ascii", {**UTF8_OFF, "PYTHONIOENCODING": "ascii"}),
        Setting("PYTHONSAFEPATH=1", {"PYTHONSAFEPATH": "1"}),
        Setting("-I (isolated)", flags=("-I",)),
        Setting("-W error, -X dev", flags=("-W", "error", "-X", "dev")),
        Setting("-OO", flags=("-OO",)),
        Setting("home below a regular file", {"HOME": str(folder / "file" / "home")}),
        Setting("home is /proc", {"HOME": "/proc"}),
        Setting("no home, no password file", no_home),
        Setting("path with spaces and letters", copied=True),
        Setting("no uv on PATH, nor anything", {"PATH": "/nowhere"}),
        Setting(
            "what Windows lacks",
            {**windows_variables(folder), "HOME": str(home)},
            encoding="cp1252",
        ),
        Setting("stdin closed", closed=(0,)),
        Setting("stderr closed", closed=(2,)),
        Setting("a user that nobody knows", {"HOME": "/"}, copied=True, user=UNKNOWN_USER),
    ]


def calls(url: str) -> list[Call]:
    """A call or more of every script; they run one after the other in one folder."""
    page = f"{url}/site/articles/tides"
    name = "Größe 京.json"
    messages = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {"protocolVersion": "2025-11-25"},
        },
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "brave_web_search", "arguments": {"query": QUERY}},
        },
    ]
    return [
        Call(["brave_search.py", QUERY, "--language", "ja"], FOUND),
        Call(["serper_search.py", QUERY], FOUND),
        Call(["gemini_search.py", QUERY], FOUND),
        Call(["keyless_search.py", QUERY, "--engine", "searxng"], FOUND),
        Call(["read_page.py", page], "tide"),
        Call(["web_search.py", QUERY, "-n", "2", "--engine", "duckduckgo"], FOUND),
        Call(["web_search.py", QUERY, "--engine", "duckduckgo", "--format", "markdown"], FOUND),
        Call(["web_search.py", "cache", "stats"], '"pages"'),
        Call(["brave_search.py", "--params-json", "@" + name], FOUND),
        Call(["brave_search.py", QUERY, "--output", name + ".out"], FOUND, output=name + ".out"),
        Call(
            ["serper_search.py", "batch", "--input", "L é.txt", "--jsonl", "--output", "é.jsonl"],
            FOUND,
            output="é.jsonl",
        ),
        Call(
            [*"gemini_search.py batch --skip-done ü.jsonl --output ü.jsonl".split(), "L é.txt"],
            FOUND,
            output="ü.jsonl",
        ),
        Call(["read_page.py", "--urls-from", "-"], "tide", f"{page}\n{page}?2\n"),
        Call(["install.py", "install", "--dir", "箱"], "installed: "),
        Call(["install.py", "uninstall", "--dir", "箱"], "removed: "),
        Call(["brave_search.py", "--help"], "usage: brave_search.py"),
        Call(["doctor.py"], '"provider":"doctor"'),
        Call(["mcp_server.py", "tools"], "web_search"),
        Call(["mcp_server.py"], FOUND, "\n".join(map(json.dumps, messages)) + "\n"),
    ]


def environment_of(setting: Setting, url: str) -> dict[str, str]:
    """The environment of a setting, which leads every script to the fake server."""
    clean = clean_environment(**small_web_environment(url), **dict.fromkeys(KEYS, f"good-{CANARY}"))
    changed = {**clean, **setting.variables}
    return {name: value for name, value in changed.items() if value is not None}


def python_for(setting: Setting) -> str | None:
    """The interpreter of a setting; None where none can be used for it."""
    if setting.user is None:
        return sys.executable
    for program in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            command = [program, "-c", "import json, sqlite3"]
            subprocess.run(command, user=setting.user, check=True, capture_output=True, cwd="/")
            return program
    return None


def run_call(setting: Setting, call: Call, place: Place) -> str:
    """Run one call; return what is wrong with it, or ""."""

    def close() -> None:
        for descriptor in setting.closed:
            os.close(descriptor)

    script, *words = call.words
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        stdin.write(call.stdin.encode())
        stdin.seek(0)
        process = subprocess.Popen(
            [place.python, *setting.flags, str(place.scripts / script), *words],
            env=environment_of(setting, place.url),
            cwd=place.folder,
            stdin=stdin,
            stdout=out,
            stderr=err,
            preexec_fn=close if setting.closed else None,  # noqa: PLW1509  no thread holds a lock
            user=setting.user,
            group=setting.user,
        )
        try:
            code = process.wait(CALL_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return f"no end after {CALL_SECONDS} s"
        out.seek(0)
        err.seek(0)
        stdout, stderr = out.read(), err.read().decode("utf-8", "replace")
    if code:
        return f"exit code {code}: {stderr[-400:] or stdout[:400].decode('utf-8', 'replace')}"
    if stderr:
        return f"on stderr: {stderr[-400:]}"
    try:
        data = (place.folder / call.output).read_bytes() if call.output else stdout
        text = data.decode(setting.encoding if script == "install.py" else "utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return f"output: {error}"
    if call.expected not in text:
        return f"{call.expected!r} is not in {text[:400]!r}"
    return ""


def serve_and_ask(setting: Setting, place: Place) -> str:
    """Start http_server.py, ask it, stop it; return what is wrong, or ""."""
    if setting.closed:
        return ""  # its address stands on stderr
    process = subprocess.Popen(
        [place.python, *setting.flags, str(place.scripts / "http_server.py"), "--port", "0"],
        env=environment_of(setting, place.url),
        cwd=place.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        user=setting.user,
        group=setting.user,
    )
    assert process.stderr
    with process:
        try:
            first = process.stderr.readline().decode()
            found = re.search(r"listening on (\S+)", first)
            if not found:
                return f"http_server.py: {first} {process.stderr.read().decode()[-400:]}"
            target = f"{found[1]}/search?q=python+asyncio&engine=searxng&count=1"
            with urllib.request.urlopen(target, timeout=CALL_SECONDS) as answer:
                document = json.load(answer)
            process.send_signal(signal.SIGTERM)
            _, stderr = process.communicate(timeout=CALL_SECONDS)
        finally:
            process.kill()
    wrong = not document["ok"] or process.returncode or stderr
    return f"http_server.py: {process.returncode} {stderr.decode()} {document}" if wrong else ""


def faults_of(setting: Setting, copied: Path, server: FakeServer) -> Iterator[str]:
    """What is wrong in one setting; "skipped: ..." where it cannot be tried."""
    python = python_for(setting)
    if python is None:
        yield "skipped: no interpreter here may be used by another user"
        return
    scripts = copied / "scripts" if setting.copied else ROOT / "scripts"
    with tempfile.TemporaryDirectory(prefix="Ordner mit ü ") as name:
        folder = Path(name)
        folder.chmod(0o777)
        if setting.variables.get("HOME", "") == "":
            (folder / "home").mkdir(mode=0o777)
            setting = setting._replace(variables={"HOME": f"{name}/home", **setting.variables})
        (folder / "Größe 京.json").write_text(json.dumps({"query": QUERY}), encoding="utf-8")
        (folder / "L é.txt").write_text(f"{QUERY}\nguide\n", encoding="utf-8")
        before = {path.name for path in folder.iterdir()}
        expected = {"箱", *(call.output for call in calls(server.url) if call.output)}
        place = Place(python, scripts, folder, server.url)
        for call in calls(server.url):
            if call.stdin and 0 in setting.closed:
                continue
            wrong = run_call(setting, call, place)
            if wrong:
                yield f"{' '.join(call.words)}: {wrong}"
        wrong = serve_and_ask(setting, place)
        if wrong:
            yield wrong
        left = {path.name for path in folder.iterdir()} - before - expected
        if left:
            yield f"left in the current folder: {sorted(left)}"


def copy_project(folder: Path) -> Path:
    """Copy the project under a path with spaces and letters beyond ASCII; return its folder."""
    copied = folder / "mein Löffel 箱" / "web search"
    ignored = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", "dist", "node_modules")
    shutil.copytree(ROOT, copied, ignore=ignored, symlinks=True)
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | 0o555)  # for another user; folders and files alike
    return copied


def run_modules(
    name: str, copied: Path, changes: dict[str, str | None], modules: tuple[str, ...] = MODULES
) -> bool:
    """Run test modules from the copy with changes in every child's environment; show failures."""
    started = time.monotonic()
    environment = {**os.environ, "TEST_CHILD_ENVIRONMENT": json.dumps(changes)}
    environment["PATH"] = path_without_uv()
    run = subprocess.run(
        [sys.executable, str(copied / "tests/run.py"), *modules],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    text = run.stdout.decode("utf-8", "replace")
    if run.returncode:
        print(text, run.stderr.decode("utf-8", "replace"))
    last = text.strip().rpartition("\n")[2]
    seconds = time.monotonic() - started
    print(f"{'wrong' if run.returncode else 'ok':6}{name}: {last}, {seconds:.0f} s")
    return run.returncode == 0


def path_without_uv() -> str:
    """PATH without the folders that hold uv, except those that also hold this Python."""
    folders = os.environ.get("PATH", "").split(os.pathsep)
    return os.pathsep.join(one for one in folders if not os.access(f"{one}/uv", os.X_OK))


def main() -> int:
    """Try the settings that the arguments choose; return 1 if something was wrong."""
    words = sys.argv[1:]
    good = True
    with (
        tempfile.TemporaryDirectory(prefix="portability-") as name,
        FakeServer(local_links=True) as server,
    ):
        folder = Path(name)
        copied = copy_project(folder)
        for setting in settings(folder):
            if words and not any(word in setting.name for word in words):
                continue
            started = time.monotonic()
            faults: list[Any] = list(faults_of(setting, copied, server))
            skipped = [one for one in faults if one.startswith("skipped")]
            state = "skip" if skipped else "wrong" if faults else "ok"
            print(f"{state:6}{setting.name}, {time.monotonic() - started:.0f} s", flush=True)
            for fault in faults:
                print(f"      {fault}")
            good = good and len(faults) == len(skipped)
        strict = {
            **UTF8_OFF, "PYTHONSAFEPATH": "1", "PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1",
        }  # fmt: skip
        # Python itself cannot take a command (-c) with letters beyond ASCII in the locale C.
        plain = "test modules: locale C, safe path, strict warnings"
        if not words or any(word in plain for word in words):
            good = run_modules(plain, ROOT, strict) and good
        odd = "test modules: odd path, no home that can be written, no uv"
        if not words or any(word in odd for word in words):
            good = run_modules(odd, copied, {"HOME": "/proc/x"}) and good
        lacking = "test modules: what Windows lacks"
        if not words or any(word in lacking for word in words):
            changes = windows_variables(folder)
            good = run_modules(lacking, ROOT, changes, WINDOWS_MODULES) and good
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
