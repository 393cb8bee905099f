"""The servers with real clients: `make e2e-mcp`.

Installs the official Python client from PyPI, and the Inspector, the conformance suite and a Node
that is new enough for them from npm, each in one fixed version, into
${XDG_CACHE_HOME:-~/.cache}/web-search-dev/mcp. Then the Python client calls every tool in both
eras of the protocol, over stdio and over HTTP; the Inspector lists and calls from its command line,
both ways, too; the conformance suite asks http_server.py what each version requires; and
http_openapi.py holds the HTTP API against its description. A fake server answers; nothing but
loopback is used: a proxy that does not exist catches every other address.

What the suite finds and may find stands in mcp_expected_failures.json, each with its reason: it
depends on tools and features of the suite's own example server, or on sessions. An entry that
passes is a failure, too. The suite also runs scenarios that no version requires (tasks,
x-mcp-header, json-schema-2020-12), and does not count them.

Prints a line for each check, and at the end: N passed, N failed. What cannot be installed for lack
of a registry is skipped, with a line that says so; the exit code is then 0.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.e2e import http_openapi, installing, skill
from tests.e2e.scenarios import perform_all
from tests.fake_server.server import FakeServer
from tests.support import clean_environment, small_web_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.scenarios import Check

CACHE = installing.CACHE / "mcp"
MODULES = CACHE / "node_modules"
PYTHON = CACHE / "venv/bin/python"
CLIENT_VERSION = "2.3.0"  # the package mcp
PACKAGES = {
    "@modelcontextprotocol/conformance": "0.2.0-alpha.12",
    "@modelcontextprotocol/inspector": "2.12.0",
}
INSPECTOR = MODULES / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
CONFORMANCE = MODULES / "@modelcontextprotocol/conformance/dist/index.js"
EXPECTED_FAILURES = Path(__file__).with_name("mcp_expected_failures.json")
SERVER = skill.ROOT / "scripts/mcp_server.py"
RUN_TIMEOUT = 120.0  # seconds
OPENAPI_TIMEOUT = 600.0  # seconds
LATE_ANSWER = 2.0  # seconds; the page of the cancelled call comes after 0.6
KEYS = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY")
KEY = "good-e2e-canary"
MODERN, LEGACY = "2026-07-28", "2025-11-25"
MAX_TEXT = 9_000  # characters of a result
QUERY = {"query": "python asyncio timeout"}
# Tool -> what stands in its text, and the paths of the requests that the APIs receive.
TOOLS: dict[str, tuple[str, tuple[str, ...]]] = {
    "web_search": ("Where opinions differ", ("/res/v1/web/search", "/web/")),
    "read_page": ("wild yeasts", ("/site/articles/sourdough",)),
    "grounded_search": ("### Sources", ("/v1beta/models/",)),
    "google_search": ("## Answer", ("/search",)),
    "brave_web_search": ("## Web", ("/res/v1/web/search",)),
    "brave_summarizer": ("create_task", ("/res/v1/summarizer/search",)),
    "brave_context": ("asyncio.timeout()", ("/res/v1/llm/context",)),
    "recall": ("asyncio", ()),
    "check_quotes": ("altered, line 1", ("/site/articles/sourdough",)),
    "clear_cache": ("Removed from the cache", ()),
}
BRIEF: dict[str, Any] = {"queries": ["python asyncio", "asyncio event loop"], "count": 3}
# Keeps what goes through a server's stdin and stdout in two files.
RECORDER = 'received=$1 sent=$2; shift 2; tee "$received" | "$@" | tee "$sent"'


# ----- a fake server and a home for each scenario


class Workplace:
    """A temporary folder, a fake server, and the environment that leads every script to it."""

    def __init__(self, folder: Path, server: FakeServer) -> None:
        self.folder = folder
        self.server = server
        self.variables = {
            **small_web_environment(server.url),
            **dict.fromkeys(KEYS, KEY),
            "WEB_SEARCH_TOOLS": "all",
            "SEARXNG_BASE_URL": "",
            "HOME": str(folder),
            "GLSI_DB_PATH": str(folder / "cache.db"),
            "HTTP_PROXY": skill.DEAD_PROXY,
            "HTTPS_PROXY": skill.DEAD_PROXY,
            "NO_PROXY": "127.0.0.1,localhost",
            "UV_PYTHON_DOWNLOADS": "never",
            "PATH": skill.program_path(),
        }

    def run(self, command: list[str], given: str = "") -> subprocess.CompletedProcess[str]:
        """Run a client in the folder; return it with its output."""
        return subprocess.run(
            command,
            cwd=self.folder,
            env=clean_environment(**self.variables),
            input=given,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT,
            check=False,
        )


@contextlib.contextmanager
def workplace() -> Iterator[Workplace]:
    """A workplace of its own, gone afterwards."""
    with (
        tempfile.TemporaryDirectory(prefix="mcp-e2e-") as folder,
        FakeServer(local_links=True) as server,
    ):
        yield Workplace(Path(folder), server)


def http_server(place: Workplace, token: str = skill.TOKEN) -> Any:
    """A context with the address of MCP on an http_server.py of its own, and its process."""
    return skill.http_server(clean_environment(**place.variables), place.folder, token)


def text_of(result: Any) -> str:
    """The text of a tool's result that is one text and nothing else; else empty."""
    content = result.get("content") or []
    if len(content) != 1 or content[0]["type"] != "text" or "structuredContent" in result:
        return ""
    return str(content[0]["text"])


# ----- scenarios: each returns its checks


def in_legacy_mode() -> list[Check]:
    """The Python client with the handshake, the server started by uv where it is."""
    return python_client("legacy", LEGACY, "initialize", skill.runner().split())


def in_modern_mode() -> list[Check]:
    """The Python client as it is by default: it asks server/discover, and finds the new version."""
    return python_client("auto", MODERN, "server/discover", [sys.executable])


def python_client(mode: str, version: str, opening: str, runner: list[str]) -> list[Check]:
    """The checks of one mode of the Python client."""
    with workplace() as place:
        received, sent = place.folder / "received", place.folder / "sent"
        recorder = ["sh", "-c", RECORDER, "sh", str(received), str(sent)]
        server = {"command": [*recorder, *runner, str(SERVER)], "environment": place.variables}
        finished = run_client(place, mode, server)
        label = f"Python client, {version}"
        if finished.returncode:
            return [(f"{label}: it comes to its end", False, finished.stderr)]
        seen = json.loads(finished.stdout)
        wire = [json.loads(line) for line in received.read_text(encoding="utf-8").splitlines()]
        answers = [json.loads(line) for line in sent.read_text(encoding="utf-8").splitlines()]
        paths = [one.path for one in place.server.requests]
        checks = [
            (f"it begins with {opening}", wire[0]["method"] == opening, wire[0]),
            *opening_checks(seen, version),
            *call_checks(seen, paths),
            *cancel_checks(seen, wire, answers),
            (
                "no key in anything that the server wrote",
                KEY not in sent.read_text(encoding="utf-8") + finished.stderr,
                finished.stderr,
            ),
        ]
        return [(f"{label}: {name}", holds, what) for name, holds, what in checks]


def over_http() -> list[Check]:
    """The Python client over HTTP in both eras; the server wants a token."""
    checks: list[Check] = []
    for mode, version in (("legacy", LEGACY), ("auto", MODERN)):
        with workplace() as place, http_server(place) as (url, process):
            headers = {"Authorization": f"Bearer {skill.TOKEN}"}
            finished = run_client(place, mode, {"url": url, "headers": headers})
            refused = run_client(place, mode, {"url": url, "headers": {}})
            label = f"Python client over HTTP, {version}"
            if finished.returncode:
                return [(f"{label}: it comes to its end", False, finished.stderr)]
            seen = json.loads(finished.stdout)
            found = [
                *opening_checks(seen, version),
                *call_checks(seen, [one.path for one in place.server.requests]),
                *after_checks(seen),
                (
                    "without the token the client learns nothing",
                    refused.returncode != 0 and not refused.stdout and process.poll() is None,
                    refused,
                ),
            ]
        checks += [(f"{label}: {name}", holds, what) for name, holds, what in found]
    return checks


def calls_of(place: Workplace) -> tuple[list[Any], list[Any]]:
    """A call of every tool and a brief, which must work, and calls that must not."""
    page = f"{place.server.url}/site/articles/sourdough"
    arguments = {"read_page": {"urls": [page], "query": "sourdough yeast"}}
    arguments["check_quotes"] = {"text": f"“Why the sourdough rises” {page}"}
    good = [[name, arguments.get(name, QUERY)] for name in TOOLS] + [["web_search", BRIEF]]
    return good, [["google_search", {**QUERY, "count": 5_000}], ["no_such_tool", {}]]


def run_client(
    place: Workplace, mode: str, server: dict[str, Any]
) -> subprocess.CompletedProcess[str]:
    """Run the Python client in one mode against a server; return it with its output."""
    good, bad = calls_of(place)
    job = {
        **server,
        "mode": mode,
        "calls": [*good, *bad],
        "cancel": ["read_page", {"urls": [f"{place.server.url}/site/slow/late"]}],
        "wait": LATE_ANSWER,
        "after": ["clear_cache", {}],
    }
    program = Path(__file__).with_name("mcp_client.py")
    return place.run([str(PYTHON), str(program)], json.dumps(job))


def call_checks(seen: Any, paths: list[str]) -> list[Check]:
    """The calls of calls_of, and their progress."""
    good, brief, bad = seen["calls"][: len(TOOLS)], seen["calls"][len(TOOLS)], seen["calls"][-2:]
    return [
        *[tool_check(one, paths) for one in good],
        brief_check(brief),
        *progress_checks([*good, brief]),
        *failure_checks(*bad),
    ]


def brief_check(call: Any) -> Check:
    """Several questions in one call: the questions and numbered sources, in one text."""
    text = text_of(call.get("result", {}))
    questions = [f"{number}. {one}" for number, one in enumerate(BRIEF["queries"], 1)]
    numbers = re.findall(r"(?m)^\[(\d+)\] \*\*", text)
    holds = (
        call.get("result", {}).get("isError") is False
        and all(one in text for one in questions)
        and numbers == [str(number) for number in range(1, len(numbers) + 1)]
        and len(numbers) >= 1
        and len(text) < MAX_TEXT
    )
    return "web_search with queries answers with one brief", holds, call


def opening_checks(seen: Any, version: str) -> list[Check]:
    """What they agree on, and what the server says of itself."""
    names = [tool["name"] for tool in seen["tools"]]
    return [
        ("they agree on the version", seen["version"] == version, seen["version"]),
        (
            "name, capabilities (tools only) and instructions arrive",
            seen["server"]["name"] == "web-search"
            and set(seen["capabilities"]) == {"tools"}
            and "web_search" in seen["instructions"],
            seen,
        ),
        (f"it lists {len(TOOLS)} tools", sorted(names) == sorted(TOOLS), names),
    ]


def tool_check(call: Any, paths: list[str]) -> Check:
    """A call that must work: one text with what is expected, and the requests behind it."""
    words, wanted = TOOLS[call["tool"]]
    text = text_of(call.get("result", {}))
    return (
        f"{call['tool']} answers with one text",
        call.get("result", {}).get("isError") is False
        and words in text
        and len(text) < MAX_TEXT
        and all(any(path.startswith(want) for path in paths) for want in wanted),
        (call, paths),
    )


def progress_checks(calls: list[Any]) -> list[Check]:
    """Progress of the calls that work."""
    grows = True
    for call in calls:
        numbers = [number for number, _, _ in call["progress"]]
        grows = grows and bool(numbers) and numbers == sorted(set(numbers))
    pages = [message for _, _, message in calls[0]["progress"] if "pages read" in message]
    return [
        ("every call reports progress, which grows", grows, calls),
        ("web_search counts its pages", len(pages) > 1, calls[0]["progress"]),
    ]


def failure_checks(bad_argument: Any, unknown_tool: Any) -> list[Check]:
    """What a model can mend is a result; what the client did wrong is an error."""
    result = bad_argument.get("result", {})
    return [
        (
            "a bad argument is an isError text that names it and what is allowed",
            result.get("isError") is True
            and "count must be a whole number from 1 to 100" in text_of(result),
            bad_argument,
        ),
        (
            "an unknown tool is error -32602",
            unknown_tool.get("error", {}).get("code") == -32602,
            unknown_tool,
        ),
    ]


def cancel_checks(seen: Any, wire: list[Any], answers: list[Any]) -> list[Check]:
    """A call that the client gave up, and the one after it."""
    given_up = [
        message["params"]["requestId"]
        for message in wire
        if message["method"] == "notifications/cancelled"
    ]
    return [
        (
            "a cancelled call is not answered",
            not seen["answered"]
            and len(given_up) == 1
            and not any(answer.get("id") in given_up for answer in answers),
            (given_up, answers),
        ),
        *after_checks(seen),
    ]


def after_checks(seen: Any) -> list[Check]:
    """The call after the one that was given up."""
    said = text_of(seen["after"].get("result", {}))
    return [
        (
            "a call that was given up brings no answer, and the next one does",
            not seen["answered"] and said.startswith("Removed"),
            seen["after"],
        )
    ]


def inspector() -> list[Check]:
    """The Inspector's command line in both eras, over stdio and over HTTP."""
    checks: list[Check] = []
    with workplace() as place, http_server(place) as (url, _):
        pairs = [f"{name}={value}" for name, value in place.variables.items() if value]
        variables = [word for pair in pairs for word in ("-e", pair)]
        place.variables["MCP_INSPECTOR_SECRET_STORE"] = "memory"
        over_stdio = [sys.executable, str(SERVER), *variables]
        header = f"Authorization: Bearer {skill.TOKEN}"
        servers = {"stdio": over_stdio, "HTTP": [url, "--transport", "http", "--header", header]}
        for way, server in servers.items():
            for era in ("legacy", "modern"):
                program = [
                    installing.node(CACHE),
                    str(INSPECTOR),
                    "--cli",
                    *server,
                    "--format",
                    "json",
                ]
                found = inspector_checks(place, [*program, "--protocol-era", era, "--method"])
                checks += [(f"Inspector, {way}, {era}: {name}", *rest) for name, *rest in found]
    return checks


def inspector_checks(place: Workplace, program: list[str]) -> list[Check]:
    """A list, a call, and a call that fails, by the Inspector."""
    call = [*program, "tools/call", "--tool-name", "web_search", "--tool-args-json"]
    listed = place.run([*program, "tools/list", "--strict"])
    called = place.run([*call, json.dumps(QUERY)])
    failed = place.run([*call, json.dumps({"query": ""})])
    return [
        (
            "tools/list, schemas that every client understands",
            listed.returncode == 0
            and {tool["name"] for tool in result_of(listed).get("tools", [])} == set(TOOLS),
            listed,
        ),
        (
            "tools/call",
            called.returncode == 0 and TOOLS["web_search"][0] in text_of(result_of(called)),
            called,
        ),
        (
            "tools/call that fails says what to mend",
            failed.returncode == 5 and "neither is set" in text_of(result_of(failed)),
            failed,
        ),
    ]


def result_of(finished: subprocess.CompletedProcess[str]) -> Any:
    """The result that the Inspector printed; {} if it printed none."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return json.loads(finished.stdout)["result"]
    return {}


def conformance() -> list[Check]:
    """What each version requires of a server over HTTP, by the conformance suite."""
    expected = json.loads(EXPECTED_FAILURES.read_text(encoding="utf-8"))
    checks: list[Check] = []
    with workplace() as place, http_server(place, token="") as (url, process):
        for version, reasons in expected.items():
            baseline = place.folder / f"{version}.yml"
            baseline.write_text(json.dumps({"server": list(reasons)}), encoding="utf-8")
            command = [installing.node(CACHE), str(CONFORMANCE), "server", "--url", url]
            command += ["--requirements", version, "--expected-failures", str(baseline)]
            finished = place.run(command)
            output = finished.stdout + finished.stderr
            total = re.search(r"Total: (\d+) passed", output)
            name = (
                f"conformance, {version}: {total[1] if total else 'no'} checks pass, and what "
                f"fails are the {len(reasons)} scenarios and checks that are expected to"
            )
            holds = finished.returncode == 0 and "Baseline check passed" in output
            checks.append((name, holds, output))
        checks.append(("conformance: the server lives on", process.poll() is None, process))
    return checks


def http_api() -> list[Check]:
    """The HTTP API against its description; the checks are those that http_openapi.py prints."""
    finished = subprocess.run(
        [sys.executable, http_openapi.__file__],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=OPENAPI_TIMEOUT,
        check=False,
    )
    lines = finished.stdout.splitlines()
    checks: list[Check] = [
        (f"HTTP API: {line[5:]}", line.startswith("ok"), finished.stdout)
        for line in lines
        if line.startswith(("ok  ", "FAIL "))
    ]
    return checks or [("HTTP API: http_openapi.py comes to its end", False, finished.stdout)]


def install_python_client() -> None:
    """Install the Python client into an environment of its own."""
    installing.python_package(PYTHON.parents[1], "mcp", CLIENT_VERSION)


def available() -> list[Callable[[], list[Check]]]:
    """The scenarios whose programs are there; says which versions, and what is skipped."""
    scenarios: list[Callable[[], list[Check]]] = []
    pip, npm = installing.pip_reaches_registry, installing.npm_reaches_registry
    if installing.installed("schemathesis", http_openapi.install, pip):
        print(f"schemathesis {http_openapi.VERSION}")
        scenarios.append(http_api)  # it takes longest
    if installing.installed("the Python client", install_python_client, pip):
        print(f"mcp {CLIENT_VERSION}")
        scenarios += [in_legacy_mode, in_modern_mode, over_http]
    clients = "Inspector and conformance suite"
    if not shutil.which("npm"):
        print(f"skipped: {clients}: they come from npm, and npm is not there")
    elif installing.installed(
        clients, lambda: installing.npm_packages(CACHE, PACKAGES, node=True), npm
    ):
        print(", ".join(f"{name} {version}" for name, version in PACKAGES.items()))
        if installing.node(CACHE):
            scenarios += [inspector, conformance]
        else:
            print(f"skipped: {clients}: they need Node 22.20 or newer")
    return scenarios


def main() -> int:
    """Run the scenarios that the arguments name, else all; return 1 if a check failed."""
    try:
        scenarios = available()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"the clients could not be installed: {error}\n{getattr(error, 'stderr', '') or ''}")
        return 1
    chosen = [one for one in scenarios if not sys.argv[1:] or one.__name__ in sys.argv[1:]]
    return perform_all(chosen)


if __name__ == "__main__":
    raise SystemExit(main())
