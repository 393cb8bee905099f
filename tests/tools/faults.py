"""Every command of every script x every fault of the fake server x every way in, as a table.

usage: faults.py [--sample] [WORD ...]

WORD keeps the rows whose name contains one of the words. With --sample, each provider meets each of
its faults once by each way in, its commands in turn: a fifth of the table, for every push. What of
it tests/contract/test_faults.py tries is left out.

The commands come from the scripts' own COMMANDS, so that a new one is missed in SAMPLES; the faults
from EXPECTED. Each cell is one call:

  alone     the script's main in a process that makes many calls
  process   a process of its own, for one command of each script
  batch     the same queries in a batch, for commands that have one
  mcp       a tool of one mcp_server.py, whose secrets.yaml changes from fault to fault
  http      a path of one http_server.py, likewise

and is held against: one document, its kind, exit code or HTTP status, the deadline, no traceback,
the key in no output and no log. Exit code 1 if a cell is wrong.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import json
import multiprocessing
import os
import queue
import re
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.fake_server import small_web
from tests.fake_server.corpus import CORPUS
from tests.fake_server.gemini_answers import SHAPES
from tests.fake_server.serper_results import place_ids
from tests.fake_server.server import FakeServer
from tests.support import (
    CANARY,
    PROCESS_TIMEOUT,
    SCRIPTS,
    SLACK,
    Run,
    call_main,
    clean_environment,
    forget_rests,
    load_script,
    run_script,
    small_web_environment,
)
from tests.ways_in.http_support import ServerProcess
from tests.ways_in.mcp_support import Client

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# ----- what each kind means outside

EXIT_CODES = {"ok": 0, **load_script("websearch.kit").EXIT_CODES}
HTTP_STATUSES = {"ok": 200, **load_script("websearch.ways_in.http_messages").STATUSES}

# ----- what each fault becomes: the kind, or several where the moment decides

# These never end, so that they are met with a short deadline; the others get time for their tries.
ENDLESS = ("hang", "drip")
SHORT_TIMEOUT, LONG_TIMEOUT = 2.0, 15.0  # seconds
DEFAULT_TIMEOUT = 30.0  # seconds, of the MCP tools, which take none

TRANSPORT = {
    "hang": "timeout",
    "drip": "timeout",
    "reset": "network",
    "trunc": "network",
    "huge": "provider",
    "bomb": "provider",
    "html": "provider",
    "garbage": "provider",
    "redirect": "provider",
}
# An engine's wall, and what it answers to a client that it takes for a program, is a block.
ENGINE = {
    **TRANSPORT,
    "blocked": "blocked",
    "denied": "blocked",
    "limit": "blocked",
    "busy": "blocked",
    "empty": "no_results",
    "layout": "provider",
    "nothing": "provider",
    "down": "provider",
    "flaky": "ok",
}
# What an API with a key answers: what its double knows is in answer_engines.py.
API = {
    **TRANSPORT,
    "denied": "auth",
    "invalid": "invalid_input",
    "spent": "quota",
    "toofast": "rate_limit",
    "empty": "no_results",
    "down": "provider",
    "busy": "ok",
    "flaky": "ok",
}
EXPECTED: dict[str, dict[str, str]] = {
    "brave": {
        **TRANSPORT,
        "bad": "auth",
        "plan": "auth",
        "missing": "auth",
        "broke": "quota",
        "quota": "quota",
        "busy": "ok",
        "flaky": "ok",
    },
    "serper": {
        **TRANSPORT,
        "bad": "auth",
        "empty": "quota",
        "contact": "provider",
        "busy": "ok",
        "flaky": "ok",
    },
    "gemini": {
        **TRANSPORT,
        **dict.fromkeys(("bad", "standard", "leaked", "disabled", "denied"), "auth"),
        "place": "provider",
        "busy": "ok",
        "quota": "quota",
        "free": "ok",  # another model answers, which such a key may ask, and a warning says so
        "crowded": "rate_limit",
        "flaky": "ok",
        "overloaded": "provider",
        "late": "timeout",
        # Shapes of an answer: what has words is an answer, with or without sources.
        **dict.fromkeys(("ungrounded", "sourceless", "hollow", "drifted", "thoughtful"), "ok"),
        **dict.fromkeys(("cut", "continued", "unthinking", "lazy", "stubborn"), "ok"),
        **dict.fromkeys(("blocked", "stopped", "armored"), "blocked"),
        "empty": "provider",
        "silent": "no_results",
    },
    "duckduckgo": {
        **ENGINE,
        "wall": "blocked",
        "quiet": "no_results",
        **dict.fromkeys(("accepted", "second", "ends"), "ok"),
    },
    "google": {
        **ENGINE,
        **dict.fromkeys(("refresh", "sorry", "captcha", "oops", "consent", "agree"), "blocked"),
        **dict.fromkeys(("old", "classic"), "ok"),
    },
    # The user's own server: a refusal is its setting, and its limits are to be waited for.
    "searxng": {
        **ENGINE,
        "denied": "provider",
        "limit": "rate_limit",
        "busy": "ok",
        "password": "auth",
        "moved": "provider",
        "failed": "provider",
        **dict.fromkeys(("nojson", "partly"), "ok"),
        "answers": "no_results",  # the calculator's answer stands beside it
    },
    "wikipedia": {
        **ENGINE,
        "limit": "rate_limit",
        "ratelimited": "rate_limit",
        "busy": "ok",
        "error": "provider",
    },
    # Open sources: what names a time is waited for, another refusal is a block.
    "stackexchange": {
        **ENGINE,
        **dict.fromkeys(("busy", "backoff", "spent", "unsaid"), "ok"),
        **dict.fromkeys(("throttled", "violation"), "rate_limit"),
        "broken": "provider",
    },
    "hackernews": {**ENGINE, "busy": "ok"},
    "github": {
        **ENGINE,
        "busy": "ok",
        **dict.fromkeys(("spent", "secondary"), "rate_limit"),
        "abuse": "blocked",
        "unfinished": "provider",
        "unknown": "invalid_input",
    },
    "crossref": {
        **ENGINE,
        "busy": "ok",
        "limit": "rate_limit",
        "invalid": "invalid_input",
        "lost": "provider",
    },
    "arxiv": {
        **ENGINE,
        **dict.fromkeys(("exceeded", "overloaded"), "blocked"),
        "busy": "ok",
        "vanished": "ok",
        "malformed": "invalid_input",
    },
    "kagi": {**API, "spent": "rate_limit"},
    # A page's server: what it answers instead of a page is "http"; a page is cut, not refused.
    "pages": {
        **dict.fromkeys(
            ("403", "404", "410", "429", "500", "503", "busy", "flaky", "loop"), "http"
        ),
        **dict.fromkeys(small_web.GONE_FAULTS, "http"),
        **dict.fromkeys(("wall", "captcha", "shell"), "blocked"),
        **dict.fromkeys(("empty", "binary", "scan"), "unsupported"),
        # Unpacked to the limit there is no text in it, which takes seconds of work to find out.
        "bomb": "unsupported timeout",
        **dict.fromkeys(("hang", "drip"), "timeout"),
        "reset": "network",
        **dict.fromkeys(("huge", "slow", "data", "trunc"), "ok"),  # trunc: what came, with a note
        **dict.fromkeys(("redirect", "locked"), "refused"),
    },
}
# (script, command, fault) -> kind where a command means something else by it.
EXCEPTIONS = {
    ("serper_search", "account", "empty"): "ok",  # a balance of 0 is the answer
    **{
        ("gemini_search", "models", fault): "ok"  # a list of models has no shape of an answer
        for fault in (*SHAPES, "free", "unthinking", "lazy", "stubborn")
    },
}
# ----- what is tried

QUERY = "sourdough coffee guide"  # finds something of each kind
REST_OF_QUERY = "sourdough bread"  # beside the word that asks an engine for a fault
TWO_MORE = ["python asyncio", "guide"]  # further queries of a batch
PHOTO = "https://photos.example.net/p/sourdough-crust.jpg"
PAGE = next(document for document in CORPUS.documents if document.web).url
CID = place_ids(next(document for document in CORPUS.documents if document.place))["cid"]
# (script, command) -> parameters with which it finds something.
SAMPLES: dict[tuple[str, str], dict[str, Any]] = {
    **{
        ("brave_search", command): {"query": QUERY}
        for command in (
            "web summarizer context news images videos places spellcheck answers"
        ).split()
    },
    ("brave_search", "suggest"): {"query": "sour"},
    ("brave_search", "rich"): {"callback_key": b"weather:weather berlin".hex()},
    **{
        ("serper_search", command): {"query": QUERY}
        for command in "search news images videos places maps shopping scholar patents".split()
    },
    ("serper_search", "autocomplete"): {"query": "guide"},
    ("serper_search", "lens"): {"url": PHOTO},
    ("serper_search", "reviews"): {"cid": CID},
    ("serper_search", "scrape"): {"url": PAGE},
    ("serper_search", "account"): {},
    ("serper_search", "batch"): {"queries": [QUERY, *TWO_MORE]},
    **{
        ("gemini_search", command): {"query": QUERY} for command in "search dev docs reddit".split()
    },
    ("gemini_search", "batch"): {"queries": [QUERY, *TWO_MORE], "workers": 3},
    ("gemini_search", "models"): {},
    ("keyless_search", "search"): {"query": REST_OF_QUERY},
    ("read_page", "read"): {},
    ("web_search", "search"): {"query": REST_OF_QUERY, "count": 3, "force": True},
    ("web_search", "brief"): {"queries": [REST_OF_QUERY, "bread"], "count": 3, "force": True},
}
# A brief asks an engine as a search does: one with a key and one without tell of all.
ENGINES_OF_A_BRIEF = ("brave", "duckduckgo")
# Commands and scripts that ask no provider, or that are a way in themselves: a batch is searches.
LOCAL = {("web_search", name) for name in ("recall", "cache", "batch", "check")}
NOT_TRIED = {
    "http_server",
    "doctor",
}  # one is a way in; the other reports faults, as its tests show
ENGINE_TABLE: dict[str, Any] = load_script("websearch.engines.table").ENGINES
# The APIs with a script of their own: a key asks their doubles for a fault, elsewhere the query.
KEYS = {name: engine.keys[0] for name, engine in ENGINE_TABLE.items() if engine.function}
KEYS |= {"gemini": "GEMINI_API_KEY"}
# The APIs without one: their keys are good.
GOOD_KEYS = {
    name: engine.keys[0]
    for name, engine in ENGINE_TABLE.items()
    if engine.keys and name not in KEYS
}
PROVIDER_OF_SCRIPT = {
    "brave_search": "brave",
    "serper_search": "serper",
    "gemini_search": "gemini",
    "read_page": "pages",
}
ASKED_BY_QUERY = [name for name in ENGINE_TABLE if name not in KEYS]
# An engine without rows of its own above meets the faults of every transport, and those of APIs.
for engine_name in ENGINE_TABLE:
    EXPECTED.setdefault(engine_name, API if engine_name in GOOD_KEYS else TRANSPORT)


class Subject(NamedTuple):
    """What is tried: a command with its parameters, and the provider whose faults it meets."""

    script: str
    command: str
    provider: str
    params: dict[str, Any]
    note: str = ""  # tells several subjects of one command apart

    @property
    def name(self) -> str:
        note = f" {self.note}" if self.note else ""
        return f"{self.script}.{self.command}{note}"


class Cell(NamedTuple):
    """One call: a subject, a fault, a way in."""

    subject: Subject
    fault: str
    way: str


class Outcome(NamedTuple):
    """What came of a cell: the kind ("ok" for a result), and what is wrong with it."""

    cell: Cell
    kind: str
    wrong: list[str]


def scripts_with_commands() -> Iterator[Any]:
    """The scripts that run commands of a table, as modules."""
    for path in sorted(SCRIPTS.glob("*.py")):
        module = load_script(path.stem)
        runs_commands = hasattr(module, "COMMANDS") and hasattr(module, "main")
        if runs_commands and path.stem not in NOT_TRIED:
            yield module


def subjects_of(module: Any) -> Iterator[Subject]:
    """The subjects of a script. KeyError: a new command needs its entry in SAMPLES or LOCAL."""
    script = module.__name__
    for command, spec in module.COMMANDS.items():
        if (script, command) in LOCAL:
            continue
        params = SAMPLES[script, command]
        engines = [parameter for parameter in spec["params"] if parameter["name"] == "engine"]
        if not engines:
            yield Subject(script, command, PROVIDER_OF_SCRIPT[script], params)
            continue
        bare = {"no_pages": True} if (script, command) == ("web_search", "search") else {}
        of_brief = ENGINES_OF_A_BRIEF if command == "brief" else ()
        for engine in of_brief or engines[0]["choices"]:
            if engine in ("all", "keyless"):  # their engines are subjects of their own
                continue
            # auto goes on to an engine that answers, whatever befell the first one: Brave.
            provider = "brave" if engine == "auto" else engine
            yield Subject(script, command, provider, {**params, **bare, "engine": engine}, engine)
        if script == "web_search":
            pages = {**params, "engine": "duckduckgo"}
            yield Subject(script, command, "pages", pages, "pages")


def faults_of(provider: str) -> list[str]:
    """The faults of a provider in the order of EXPECTED."""
    return list(EXPECTED[provider])


def expected_kind(subject: Subject, fault: str) -> str:
    """The kind that a fault must become."""
    if subject.note == "auto":
        return "ok"  # another engine answers, and the attempt is listed
    if subject.note == "pages":
        return "ok"  # results without the texts of these pages
    exception = EXCEPTIONS.get((subject.script, subject.command, fault))
    return exception or EXPECTED[subject.provider][fault]


def ways_of(subject: Subject, commands: dict[str, Any], tools: Any, routes: Any) -> Iterator[str]:
    """The ways in that a subject has; commands: the COMMANDS of its script."""
    yield "alone"
    if subject.command == next(iter(commands)) and subject.note in ("", "duckduckgo", "pages"):
        yield "process"
    # A batch of web_search is its searches, which are run alone already.
    is_engine = subject.command != "batch" and subject.script != "web_search"
    if is_engine and subject.command in batch_types(commands):
        yield "batch"
    if tool_of(subject, tools):
        yield "mcp"
    if route_of(subject, routes):
        yield "http"


def batch_types(commands: dict[str, Any]) -> list[str]:
    """The commands of which a script's batch can hold queries; [] if it has no batch."""
    if "batch" not in commands:
        return []
    kinds = [param for param in commands["batch"]["params"] if param["name"] == "type"]
    return list(kinds[0]["choices"]) if kinds else [next(iter(commands))]


def tool_of(subject: Subject, tools: Any) -> tuple[str, dict[str, Any]] | None:
    """The MCP tool that runs a subject's command, with fixed arguments."""
    for name, tool in tools.TOOLS.items():
        for entry in (tool.command, *tool.instead.values()):
            if same_command(entry, subject):
                return name, {}
        for label, choices in tool.more_choices.items():
            entry = tool.command._replace(name=subject.command)
            if subject.command in choices and same_command(entry, subject):
                return name, {label: subject.command}
    return None


def route_of(subject: Subject, routes: Any) -> tuple[str, dict[str, str]] | None:
    """The path of the HTTP API that runs a subject's command, and its names of parameters."""
    for path, methods in routes.items():
        operation = methods.get("GET")
        if operation and operation.command and same_command(operation.command, subject):
            return path, operation.names
    return None


def same_command(served: Any, subject: Subject) -> bool:
    """Whether a served command is the subject's, which a script may take from the same table.

    The script's may have further parameters, which only the command line takes.
    """
    if served.name != subject.command:
        return False
    own = load_script(subject.script).COMMANDS[subject.command]["params"]
    params = served.spec()["params"]
    return all(mine is other for mine, other in zip(params, own, strict=False))


def sampled(cells: list[Cell]) -> list[Cell]:
    """The cells in which each fault of a provider comes by each way once, its rows in turn."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.subject.provider, cell.way), []).append(cell)
    chosen = []
    for (provider, _), group in groups.items():
        rows = list(dict.fromkeys(cell.subject.name for cell in group))
        columns = faults_of(provider)
        turn = min(len(rows), len(columns))  # each row and each column is met at least once
        chosen += [
            cell
            for cell in group
            if (rows.index(cell.subject.name) - columns.index(cell.fault)) % turn == 0
        ]
    return chosen


def is_in_tests(cell: Cell) -> bool:
    """Whether a cell of the sample is tried by `make test`.

    What takes seconds, and the same code for every provider, comes from a few of them there.
    """
    is_slow = cell.fault in ("bomb", "huge", *ENDLESS)
    is_tried = not is_slow or cell.subject.provider in ("brave", "duckduckgo", "pages")
    return cell.way == "alone" and is_tried


def all_cells(words: Iterable[str] = ()) -> list[Cell]:
    """Every cell of the table, or of the rows whose name contains one of the words."""
    tools, server = (
        load_script("websearch.ways_in.mcp_tools"),
        load_script("websearch.ways_in.http_api"),
    )
    wanted = list(words)
    return [
        Cell(subject, fault, way)
        for module in scripts_with_commands()
        for subject in subjects_of(module)
        if not wanted or any(word in subject.name for word in wanted)
        for way in ways_of(subject, module.COMMANDS, tools, server.ROUTES)
        for fault in faults_of(subject.provider)
    ]


# ----- one call


def params_of(cell: Cell, url: str) -> dict[str, Any]:
    """The parameters of a cell: those of its subject, with the fault where a query asks for it."""
    subject, fault = cell.subject, cell.fault
    params = dict(subject.params)
    words = ""
    if subject.provider in ASKED_BY_QUERY:
        words = f" fault{fault}{own_number(cell)}"
    elif subject.note == "pages":
        words = f" pagefault:{fault}:all {own_word(cell)}"
    if words and "queries" in params:
        params["queries"] = [query + words for query in params["queries"]]
    elif words:
        params["query"] += words
    elif subject.script == "read_page":
        # A path of its own for each way, because a passing fault passes for each path.
        params["urls"] = [f"{url}/web/fault-{fault}/{page}" for page in pages_for(cell.way)]
    if cell.way == "batch":
        params = {"queries": [params["query"], *TWO_MORE]}
        if subject.script == "serper_search":
            params["type"] = subject.command
    return params


def own_word(cell: Cell) -> str:
    """A word of a query that no other cell has: a passing fault passes for each query."""
    return re.sub(r"\W|_", "", f"{cell.way}{cell.subject.name}")


def own_number(cell: Cell) -> int:
    """The same for a word that asks for a fault; engines that want every word find no other one."""
    return zlib.crc32(own_word(cell).encode())


def pages_for(way: str) -> list[str]:
    """The page that a way in reads."""
    known = sorted(small_web.DOCUMENTS)
    return [known[("alone", "process", "mcp", "http").index(way)]]


def timeout_of(cell: Cell) -> float:
    """The seconds that a cell's call gets."""
    if cell.way == "mcp":
        return DEFAULT_TIMEOUT
    return SHORT_TIMEOUT if cell.fault in ENDLESS else LONG_TIMEOUT


def keys_of(fault: str, mark: str) -> dict[str, str]:
    """The keys of all providers: each asks for the fault if its provider knows it."""
    return {
        variable: f"{fault if fault in EXPECTED[provider] else 'good'}-{mark}-{CANARY}"
        for provider, variable in KEYS.items()
    } | dict.fromkeys(GOOD_KEYS.values(), f"good-{mark}-{CANARY}")


def environment_of(cell: Cell, url: str, folder: str) -> dict[str, str]:
    """The variables of a cell's call: its keys, the server, a store and a log of its own."""
    own = Path(folder) / re.sub(r"\W+", "-", f"{cell.way} {cell.subject.name} {cell.fault}")
    own.mkdir(parents=True, exist_ok=True)
    provider, mark = cell.subject.provider, own.name.replace("-", ".")
    keys = {}
    if provider in KEYS:
        keys = {KEYS[provider]: f"{cell.fault}-{mark}-{CANARY}"}
    elif provider in GOOD_KEYS:
        keys = {GOOD_KEYS[provider]: f"good-{mark}-{CANARY}"}
    return {
        **small_web_environment(url),
        **keys,
        "GLSI_DB_PATH": str(own / "cache.db"),
        "WEB_SEARCH_LOG": str(own / "log"),
    }


def kind_of(document: Any) -> str:
    """The kind of a document: "ok", that of its error, or "none" for something else."""
    if not isinstance(document, dict) or "ok" not in document:
        return "none"
    return "ok" if document["ok"] else str(document.get("details", {}).get("kind"))


LATE = "took"  # begins the complaint about a deadline


def judge(cell: Cell, kind: str, seconds: float, outputs: Iterable[str | bytes]) -> list[str]:
    """What is wrong with a call, whatever its way in: kind, deadline, traceback, key."""
    wrong = []
    allowed = expected_kind(cell.subject, cell.fault)
    if kind not in allowed.split():
        wrong.append(f"is {kind}, not {allowed}")
    if seconds > timeout_of(cell) + SLACK:
        wrong.append(f"{LATE} {seconds:.1f} s of {timeout_of(cell):.0f} s")
    for output in outputs:
        text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
        if "Traceback" in text:
            wrong.append("shows a traceback")
        if CANARY in text:
            wrong.append("shows the key")
    return wrong


def judge_run(cell: Cell, run: Run, seconds: float, log: str) -> Outcome:
    """The outcome of a command line: one document, its exit code, and what every way must keep."""
    kind = kind_of(run.document)
    wrong = judge(cell, kind, seconds, (run.stdout, run.stderr, log))
    if run.stdout.count(b"\n") != 1:
        wrong.append(f"printed {run.stdout.count(bytes([10]))} lines")
    if run.code != EXIT_CODES.get(kind):
        wrong.append(f"has exit code {run.code}")
    if kind not in {"ok", "none"} and not run.document["details"].get("hint"):
        wrong.append("gives no hint")
    return Outcome(cell, kind, wrong)


def words_of(cell: Cell, url: str) -> list[str]:
    """The command line of a cell, without the script."""
    params = {**params_of(cell, url), "timeout": timeout_of(cell), "verbose": True}
    command = "batch" if cell.way == "batch" else cell.subject.command
    return [command, "--params-json", json.dumps(params)]


def run_in_process(cell: Cell, url: str, folder: str) -> Outcome:
    """Run a cell by its script's main in this process, which has no other work meanwhile."""
    environment = environment_of(cell, url, folder)
    os.environ.clear()
    os.environ.update(clean_environment(**environment))
    module = load_script(cell.subject.script)
    started = time.monotonic()
    run = call_main(module, *words_of(cell, url))
    outcome = judge_run(cell, run, time.monotonic() - started, read_log(environment))
    if run.document is not None:
        own = getattr(module, "COMMANDS", {}).get(words_of(cell, url)[0], {})
        shown = (own.get("to_markdown") or module.to_markdown)(run.document)
        outcome.wrong.extend([] if shown and CANARY not in shown else ["has no good Markdown"])
    return outcome


def run_as_process(cell: Cell, url: str, folder: str) -> Outcome:
    """Run a cell as a process of its own."""
    environment = environment_of(cell, url, folder)
    started = time.monotonic()
    try:
        run = run_script(f"{cell.subject.script}.py", *words_of(cell, url), env=environment)
    except subprocess.TimeoutExpired:
        return Outcome(cell, "none", [f"did not end within {PROCESS_TIMEOUT:.0f} s"])
    return judge_run(cell, run, time.monotonic() - started, read_log(environment))


def read_log(environment: dict[str, str]) -> str:
    """What a call logged."""
    with contextlib.suppress(OSError):
        return Path(environment["WEB_SEARCH_LOG"]).read_text(encoding="utf-8")
    return ""


# ----- the servers: one process, whose keys and engines are changed from fault to fault


class Lane:
    """A folder with keys, store and log of one server process."""

    def __init__(self, url: str, folder: str) -> None:
        self.url = url
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self.secrets = self.folder / "secrets.yaml"
        self.log = self.folder / "log"
        self.environment = {
            **small_web_environment(url),
            "GLSI_DB_PATH": str(self.folder / "cache.db"),
            "WEB_SEARCH_LOG": str(self.log),
            "WEB_SEARCH_SECRETS": str(self.secrets),
        }
        self.set_fault("good")

    def set_fault(self, fault: str) -> None:
        """Use keys that ask for the fault; forget which engines are resting."""
        lines = [f"{name}: {key}\n" for name, key in keys_of(fault, self.folder.name).items()]
        part = self.secrets.with_suffix(".part")
        part.touch(0o600)
        part.write_text("".join(lines))
        part.replace(self.secrets)
        forget_rests(self.folder / "cache.db")

    def end(self, name: str, code: int, output: bytes) -> list[str]:
        """What is wrong with an ended server."""
        wrong = []
        if code:
            wrong.append(f"{name} ended with exit code {code}")
        log = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        for origin, text in (("output", output.decode("utf-8", "replace")), ("log", log)):
            if CANARY in text:
                wrong.append(f"{name} shows the key in its {origin}")
            if "Traceback" in text:
                wrong.append(f"{name} shows a traceback in its {origin}")
        return wrong


WINDOW = 6  # calls that one server gets at the same time; it runs 8


def run_mcp(cells: list[Cell], url: str, folder: str) -> tuple[list[Outcome], list[str]]:
    """Run cells through one mcp_server.py; return outcomes, and what is wrong with the server."""
    if not cells:
        return [], []
    lane = Lane(url, folder)
    client = Client(lane.environment)
    outcomes: list[Outcome] = []
    wrong: list[str] = []
    try:
        tools = load_script("websearch.ways_in.mcp_tools")
        for fault, group in grouped(cells):
            lane.set_fault(fault)
            outcomes += mcp_group(client, group, url, tools)
        if client.request("ping").get("result") != {}:
            wrong.append("mcp_server does not answer any more")
    except (EOFError, queue.Empty, OSError, AssertionError) as problem:
        wrong.append(f"mcp_server stopped answering: {type(problem).__name__} {problem}")
    code = client.close()
    return outcomes, wrong + lane.end("mcp_server", code, client.everything + client.errors)


def mcp_group(client: Client, cells: list[Cell], url: str, tools: Any) -> list[Outcome]:
    """Call the tools of cells, some at the same time."""
    waiting, outcomes = list(cells), []
    running: dict[int, tuple[Cell, float]] = {}
    while waiting or running:
        while waiting and len(running) < WINDOW:
            cell = waiting.pop(0)
            tool = tool_of(cell.subject, tools)
            assert tool is not None
            name, fixed = tool
            params = params_of(cell, url)
            arguments = {
                label: params[original] for label, original in labels_of(name, tools, params)
            }
            call = {"name": name, "arguments": {**arguments, **fixed}}
            running[client.start_request("tools/call", call)] = (cell, time.monotonic())
        line = client.lines.get(timeout=DEFAULT_TIMEOUT + 10 * SLACK)
        if not line:
            raise EOFError(client.errors.decode("utf-8", "replace")[-500:])
        message = json.loads(line)
        if "id" in message and message["id"] in running:
            cell, started = running.pop(message["id"])
            outcomes.append(judge_tool(cell, message, time.monotonic() - started, line))
    return outcomes


def labels_of(name: str, tools: Any, params: dict[str, Any]) -> list[tuple[str, str]]:
    """(A tool's name, the command's name) of the parameters that the tool has."""
    arguments = tools.TOOLS[name].arguments
    pairs = ((item, item) if isinstance(item, str) else item for item in arguments)
    return [(label, original) for label, original in pairs if original in params]


def judge_tool(cell: Cell, message: dict[str, Any], seconds: float, line: bytes) -> Outcome:
    """The outcome of a tool call: its text names the kind, and isError says whether it is one."""
    result = message.get("result", {})
    text = "".join(part.get("text", "") for part in result.get("content", []))
    kind = kind_of_text(text, expected_kind(cell.subject, cell.fault))
    wrong = judge(cell, kind, seconds, (line,))
    if bool(result.get("isError")) != (kind not in ("ok", "no_results")):
        wrong.append(f"has isError {result.get('isError')}")
    return Outcome(cell, kind, wrong)


# Headings of Gemini's Markdown, each for several kinds.
HEADINGS = {
    "## Authentication Error": "auth",
    "## Rate Limited": "rate_limit quota",
    "## Search Error": "timeout network provider blocked",
}


def kind_of_text(text: str, expected: str) -> str:
    """The kind that a tool's text names; of several that it may stand for, the expected one."""
    for heading, kinds in HEADINGS.items():
        if text.startswith(heading):
            return next((kind for kind in expected.split() if kind in kinds.split()), kinds)
    # A search that found nothing has its query as a heading.
    first_line = re.match(r"(?:# .*\n+)?\*\*(?:Error \((\w+)\)|Nothing found):\*\*", text)
    if first_line:
        return first_line[1] or "no_results"
    return "ok" if text else "none"


def run_http(cells: list[Cell], url: str, folder: str) -> tuple[list[Outcome], list[str]]:
    """Run cells through one http_server.py; return outcomes, and what is wrong with the server."""
    if not cells:
        return [], []
    lane = Lane(url, folder)
    server = ServerProcess(**lane.environment)
    outcomes: list[Outcome] = []
    wrong: list[str] = []
    try:
        routes = load_script("websearch.ways_in.http_api").ROUTES
        with concurrent.futures.ThreadPoolExecutor(WINDOW) as pool:
            for fault, group in grouped(cells):
                lane.set_fault(fault)
                outcomes += pool.map(lambda cell: http_cell(server, cell, url, routes), group)
        if server.fetch("/health").status != 200:
            wrong.append("http_server does not answer at /health any more")
    except OSError as problem:
        wrong.append(f"http_server stopped answering: {problem}")
    code, document, errors = server.stop()
    return outcomes, wrong + lane.end("http_server", code, f"{document}{errors}".encode())


def http_cell(server: ServerProcess, cell: Cell, url: str, routes: Any) -> Outcome:
    """One request, and the outcome of its answer."""
    route = route_of(cell.subject, routes)
    assert route is not None
    path, names = route
    params = {**params_of(cell, url), "timeout": timeout_of(cell)}
    pairs = {
        names.get(name, name): str(value).lower() if isinstance(value, bool) else value
        for name, value in params.items()
    }
    started = time.monotonic()
    try:
        answer = server.fetch_raw(f"{path}?{urlencode(pairs, doseq=True)}")
    except OSError as problem:
        return Outcome(cell, "none", [f"got no answer: {type(problem).__name__}"])
    seconds = time.monotonic() - started
    try:
        document = json.loads(answer.document)
    except ValueError:
        document = None
    kind = kind_of(document)
    wrong = judge(cell, kind, seconds, (answer.document,))
    if answer.status != HTTP_STATUSES.get(kind):
        wrong.append(f"has status {answer.status}")
    return Outcome(cell, kind, wrong)


def grouped(cells: list[Cell]) -> Iterator[tuple[str, list[Cell]]]:
    """The cells of each fault; those of pages apart, whose engine must not rest meanwhile."""

    def group_of(cell: Cell) -> tuple[str, bool]:
        return cell.fault, cell.subject.provider == "pages"

    for (fault, _), group in itertools.groupby(sorted(cells, key=group_of), key=group_of):
        yield fault, list(group)


# ----- the whole matrix

WORKERS = 8  # processes for the calls in a process; they wait most of the time
PROCESSES = 4  # processes at the same time, for calls as a process
LANES = 5  # servers of each kind for each fault without end, and for all others


def run_matrix(cells: list[Cell]) -> tuple[list[Outcome], list[str]]:
    """Run cells; return the outcomes, and what is wrong with the servers and in general."""
    by_way: dict[str, list[Cell]] = {}
    for cell in cells:
        by_way.setdefault(cell.way, []).append(cell)
    inside = [*by_way.get("alone", []), *by_way.get("batch", [])]
    inside.sort(key=lambda cell: cell.fault not in ENDLESS)  # the longest first
    lanes = [
        (run_lane, f"{way}{number}", lane)
        for run_lane, way in ((run_mcp, "mcp"), (run_http, "http"))
        for number, lane in enumerate(lanes_of(by_way.get(way, [])))
    ]
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="web-search-faults-"))
        server = stack.enter_context(FakeServer(local_links=True))
        spawning = multiprocessing.get_context("spawn")
        workers = stack.enter_context(
            concurrent.futures.ProcessPoolExecutor(WORKERS, mp_context=spawning)
        )
        threads = stack.enter_context(concurrent.futures.ThreadPoolExecutor(PROCESSES + len(lanes)))
        servers = [
            threads.submit(run_lane, lane, server.url, f"{folder}/{name}")
            for run_lane, name, lane in lanes
        ]
        futures = [workers.submit(run_in_process, cell, server.url, folder) for cell in inside]
        futures += [
            threads.submit(run_as_process, cell, server.url, folder)
            for cell in by_way.get("process", [])
        ]
        outcomes = [future.result() for future in futures]
        wrong: list[str] = []
        for future in servers:
            met, problems = future.result()
            outcomes += met
            wrong += problems
        for number, outcome in enumerate(outcomes):
            late = all(text.startswith(LATE) for text in outcome.wrong)
            if outcome.wrong and (late or outcome.kind == "timeout"):
                again, problems = run_alone(outcome.cell, workers, server.url, f"{folder}/{number}")
                outcomes[number : number + 1] = again
                wrong += problems
        if server.other_requests:
            wrong.append(f"{len(server.other_requests)} requests followed a redirect")
        if any(CANARY in request.target for request in server.requests):
            wrong.append("a key stands in an address")
    if len(outcomes) != len(cells):
        wrong.append(f"{len(cells) - len(outcomes)} cells were not run")
    return outcomes, wrong


def lanes_of(cells: list[Cell]) -> list[list[Cell]]:
    """Cells of one way, by the servers that run them: each fault is a matter of one server.

    Those of a fault without end are spread over several, which do nothing but wait.
    """
    faults = sorted({cell.fault for cell in cells})
    lanes: dict[tuple[str, int], list[Cell]] = {}
    for number, cell in enumerate(cells):
        is_endless = cell.fault in ENDLESS
        turn = number if is_endless else faults.index(cell.fault)
        lanes.setdefault((cell.fault if is_endless else "", turn % LANES), []).append(cell)
    return list(lanes.values())


def run_alone(
    cell: Cell, workers: concurrent.futures.Executor, url: str, folder: str
) -> tuple[list[Outcome], list[str]]:
    """Run a cell once more with nothing beside it: a busy machine is no fault of a script."""
    if cell.way == "mcp":
        return run_mcp([cell], url, folder)
    if cell.way == "http":
        return run_http([cell], url, folder)
    if cell.way == "process":
        return [run_as_process(cell, url, folder)], []
    return [workers.submit(run_in_process, cell, url, folder).result()], []


def table_lines(outcomes: list[Outcome]) -> Iterator[str]:
    """The outcomes as tables, one a provider; rows that are equal are one."""
    rows: dict[str, dict[tuple[str, ...], list[str]]] = {}
    lines: dict[tuple[str, str, str], dict[str, Outcome]] = {}
    for outcome in outcomes:
        subject = outcome.cell.subject
        line = (subject.provider, subject.name, outcome.cell.way)
        lines.setdefault(line, {})[outcome.cell.fault] = outcome
    for (provider, name, way), by_fault in lines.items():
        kinds = tuple(shown(by_fault.get(fault)) for fault in faults_of(provider))
        label = name if way == "alone" else f"{name} ({way})"
        rows.setdefault(provider, {}).setdefault(kinds, []).append(label)
    for provider, groups in rows.items():
        columns = faults_of(provider)
        widths = [
            max(len(column), *(len(kinds[index]) for kinds in groups))
            for index, column in enumerate(columns)
        ]
        yield f"{provider}"
        yield "  " + "  ".join(map(str.ljust, columns, widths)).rstrip()
        for kinds, names in groups.items():
            yield "  " + "  ".join(map(str.ljust, kinds, widths)).rstrip()
            yield from wrapped(names)
        yield ""


def shown(outcome: Outcome | None) -> str:
    """A cell's text: its kind, marked if something is wrong."""
    if outcome is None:
        return "(not run)"
    return f"{'!' if outcome.wrong else ''}{outcome.kind}"


def wrapped(names: list[str]) -> Iterator[str]:
    """Names of rows in lines of a bearable length."""
    line = "    <-"
    for name in names:
        if len(line) + len(name) > 150:
            yield line
            line = "      "
        line += f" {name},"
    yield line.rstrip(",")


def main() -> int:
    """Run the matrix and print it; return 1 if something is wrong."""
    started = time.monotonic()
    words = [word for word in sys.argv[1:] if word != "--sample"]
    cells = all_cells(words)
    if "--sample" in sys.argv:
        cells = [cell for cell in sampled(cells) if not is_in_tests(cell)]
    outcomes, wrong = run_matrix(cells)
    print("\n".join(table_lines(outcomes)))
    wrong = complaints(outcomes) + wrong
    for text in wrong:
        print(f"wrong: {text}")
    good = sum(not outcome.wrong for outcome in outcomes)
    seconds = time.monotonic() - started
    print(f"{len(outcomes)} cells, {good} as expected, {len(wrong)} wrong, {seconds:.0f} s")
    return 1 if wrong or not outcomes else 0


def complaints(outcomes: list[Outcome]) -> list[str]:
    """A sentence for each cell that is wrong."""
    return [
        f"{outcome.cell.subject.name} ({outcome.cell.way}), fault {outcome.cell.fault}: "
        + "; ".join(outcome.wrong)
        for outcome in outcomes
        if outcome.wrong
    ]


if __name__ == "__main__":
    raise SystemExit(main())
