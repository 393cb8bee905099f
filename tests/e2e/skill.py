"""The installed skill, as the runs with real agents see it: where it is, what it teaches.

Everything an agent does here follows from what it was told: the command comes out of the text that
its skill tool delivered, and the placeholder becomes the folder that the agent announced.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.e2e import installing
from tests.fake_server.server import FakeServer
from tests.support import small_web_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.e2e.scenarios import Check

ROOT = Path(__file__).resolve().parents[2]
NAME = "web-search"
PLACEHOLDER = "/path/to/web-search"
TOKEN = "a-token-of-e2e-0123456789"
DEAD_PROXY = "http://127.0.0.1:9"  # catches every address that is not on loopback
INSTALL_TIMEOUT = 60.0  # seconds
AGENTS = installing.CACHE / "agents"  # where agents.py installs them
RUN_TIMEOUT = 180.0  # seconds for one run of an agent, some of which take 5 to start
QUESTION = "python asyncio timeout"
PAGE_QUESTION = "sourdough starter"
# What a shell, or an agent that inspects commands, could stumble over; in single quotes it is text.
AWKWARD_QUESTION = 'what\'s "asyncio" in python: $HOME `timeout`; a && b | c > d (e) #f 100%'
BLOCKED_QUESTION = "python faultblocked"  # the fake engine answers with its bot wall


class Output(NamedTuple):
    """The JSON document in the text of a tool result, if there is one, and that text."""

    document: Any
    text: str


@functools.cache
def uv_folder() -> Path | None:
    """The folder that holds uv, from PATH or from the cache of .ci/run; None if there is none."""
    found = shutil.which("uv") or shutil.which("uv", path=str(installing.CACHE / "uv/bin"))
    return Path(found).parent if found else None


def runner() -> str:
    """How commands begin here: `uv run`, or `python3` where uv is not, as SKILL.md says."""
    return "uv run" if uv_folder() else "python3"


def program_path(*folders: Path) -> str:
    """PATH for an agent: these folders, uv, this Python, then the rest."""
    found = [*folders, *filter(None, [uv_folder()]), Path(sys.executable).parent]
    return os.pathsep.join([*map(str, found), os.environ.get("PATH", os.defpath)])


def search_variables(server: FakeServer, folder: Path) -> dict[str, str]:
    """The variables that lead every script to the fake server; no key is among them."""
    return {
        **small_web_environment(server.url),
        "SEARXNG_BASE_URL": "",  # as on a fresh machine: DuckDuckGo is what there is
        "GLSI_DB_PATH": str(folder / "store" / "cache.db"),
        "UV_PYTHON_DOWNLOADS": "never",
        "HTTP_PROXY": DEAD_PROXY,
        "HTTPS_PROXY": DEAD_PROXY,
        "NO_PROXY": "127.0.0.1,localhost",
    }


@contextlib.contextmanager
def small_web() -> Iterator[tuple[Path, FakeServer]]:
    """A temporary folder and a fake server whose results lead to pages on it."""
    with (
        tempfile.TemporaryDirectory(prefix="agents-e2e-") as folder,
        FakeServer(local_links=True) as server,
    ):
        yield Path(folder), server


class Workplace:
    """A temporary HOME and a project of the user's, in which an agent runs.

    program: how the agent starts. settings: its file below HOME. variables: the environment of
    what runs here; a scenario may change it.
    """

    def __init__(self, folder: Path, server: FakeServer, program: list[str], settings: str) -> None:
        self.folder, self.server, self.program = folder, server, program
        self.home, self.project = folder / "home", folder / "project"
        self.settings_file = self.home / settings
        self.settings_file.parent.mkdir(parents=True)
        make_project(self.project)
        self.variables = {
            **search_variables(server, folder),
            "PATH": program_path(),
            "HOME": str(self.home),
            "CI": "1",
            "NO_COLOR": "1",
        }

    def command(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the agent with these words; return it with its output."""
        return self.capture([*self.program, *words], **variables)

    def capture(self, command: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the project; return it with its output."""
        return subprocess.run(
            command,
            cwd=self.project,
            env={**self.variables, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT,
            check=False,
        )


def install(skills: Path) -> Path:
    """Install the skill into a folder of skills with the project's installer; return its folder."""
    command = [sys.executable, str(ROOT / "scripts/install.py"), "install", "--dir", str(skills)]
    subprocess.run(command, check=True, capture_output=True, timeout=INSTALL_TIMEOUT)
    return skills / NAME


def make_repository(folder: Path) -> Path:
    """Make a git repository of this checkout, as it is, in a folder; return it.

    Its name is that of the repository on a server: web-search.git.
    """
    repository = folder / f"{NAME}.git"
    ignored = shutil.ignore_patterns(".git", "__pycache__", ".*_cache", "dist", "node_modules")
    shutil.copytree(ROOT, repository, ignore=ignored)
    git = ["git", "-C", str(repository), "-c", "user.name=e2e", "-c", "user.email=e2e@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "as it is"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return repository


def make_project(project: Path) -> None:
    """Make a project of the user's, a Python package in git: uv must leave it alone."""
    project.mkdir(parents=True, exist_ok=True)
    text = '[project]\nname = "users-own"\nversion = "1"\nrequires-python = ">=3.10"\n'
    (project / "pyproject.toml").write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(project)], check=True)


def files_of(project: Path) -> set[str]:
    """The names in a project's folder."""
    return {path.name for path in project.iterdir()}


@contextlib.contextmanager
def http_server(
    variables: Mapping[str, str], folder: Path, token: str = TOKEN
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """MCP over HTTP by http_server.py: its address, and its process, ended afterwards.

    token: what requests must carry; "" for none. folder: where its file is put.
    """
    words = ["--port=0"]
    if token:
        file = folder / "token"
        file.touch(mode=0o600)
        file.write_text(token, encoding="utf-8")
        words.append(f"--token-file={file}")
    process = subprocess.Popen(
        [sys.executable, str(ROOT / "scripts/http_server.py"), *words],
        env={**variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            line = process.stderr.readline().decode() if process.stderr else ""
            yield f"{line.split()[-1]}/mcp", process
        finally:
            process.terminate()


# ----- what SKILL.md says


def description(skill: Path) -> str:
    """The description in the frontmatter of an installed SKILL.md, as one line."""
    text = (skill / "SKILL.md").read_text(encoding="utf-8").split("\n---\n")[0]
    found = re.search(r"(?m)^description: *(?:[>|]-?\n)?(.*(?:\n +.*)*)", text)
    return plain(found[1]) if found else "SKILL.md has no description"


def body(skill: Path) -> str:
    """What stands below the frontmatter of an installed SKILL.md."""
    return (skill / "SKILL.md").read_text(encoding="utf-8").split("\n---\n", 1)[1].strip()


def plain(text: str) -> str:
    """Text with every run of white space as one space."""
    return " ".join(text.split())


def announced_folder(told: str) -> str:
    """The skill's folder, as the agent announced it; a folder that does not exist if it did not."""
    found = re.findall(r"Base directory for this skill: (\S.*)", told) or ["/not-announced"]
    return urllib.parse.unquote(str(found[-1]).strip().removeprefix("file://")).rstrip("/")


def taught_command(told: str, question: str = QUESTION) -> str:
    """The first command that the skill's text teaches, for a question, in the announced folder.

    A command that does not exist if the text teaches none.
    """
    lines = re.findall(rf"(?m)^uv run {re.escape(PLACEHOLDER)}/scripts/\S+ .*'[^'\n]*'.*$", told)
    command = str((lines or ["uv run not-taught ''"])[0]).replace(
        PLACEHOLDER, announced_folder(told)
    )
    command = re.sub("'[^']*'", lambda _: shlex.quote(question), command, count=1)
    return runner() + command.removeprefix("uv run")


def taught_brief(told: str) -> str:
    """The command that the skill's text teaches for research; a wrong one if it teaches none."""
    commands = re.findall(r"`web_search\.py (brief '[^`]+')`", told)
    command = str((commands or ["not-taught"])[0])
    for number, question in enumerate((QUESTION, PAGE_QUESTION), 1):
        command = command.replace(f"QUESTION {number}", question)
    return f"{runner()} {announced_folder(told)}/scripts/web_search.py {command} --md"


def script_command(told: str, script: str, *words: str) -> str:
    """A command with another script of the skill, in the announced folder."""
    return f"{runner()} {announced_folder(told)}/scripts/{script} {shlex.join(words)}"


def shell_call(tool: str, command: Callable[..., str], *words: str) -> tuple[str, Any]:
    """A call of an agent's shell tool: command(what the model was told, *words) makes its text."""
    return tool, lambda told: {"command": command(told, *words), "description": "search the web"}


# ----- what came back


def output_of(text: str) -> Output:
    """A tool result's text with the JSON document in it, whatever stands around it."""
    start = re.search(r"(?m)^\{", text)
    try:
        return Output(json.JSONDecoder().raw_decode(text, start.start() if start else 0)[0], text)
    except ValueError:
        return Output(None, text)


def has_results(output: Output) -> bool:
    """Whether an output holds results, each with title and URL: a document, or its Markdown."""
    document = output.document
    if not isinstance(document, dict):
        found = re.search(r"(?m)^## https?://\S+\n\n\*\*.+\*\*", output.text)
        return "Results from " in output.text and bool(found)
    return document["ok"] is True and all(
        one["title"] and one["url"] for one in document["results"]
    )


def has_page_text(output: Output) -> bool:
    """Whether a result of an output holds text of its page."""
    document = output.document
    return isinstance(document, dict) and any(one.get("text") for one in document["results"])


def is_brief(output: Output, server: FakeServer) -> bool:
    """Whether an output is a brief's Markdown: questions that were asked, numbered sources."""
    questions = re.findall(r"(?m)^\d+\. (.+)$", output.text.partition("[untrusted")[0])
    sources = re.findall(r"(?m)^\[(\d+)\] \*\*.+\*\*.* · questions? (\d+(?:, \d+)*)", output.text)
    answered = {number for _, numbers in sources for number in numbers.split(", ")}
    return (
        len(questions) > 1
        and set(questions) <= set(asked(server))
        and [int(number) for number, _ in sources] == [*range(1, len(sources) + 1)]
        and len(sources) > 1
        and answered == {str(number) for number in range(1, len(questions) + 1)}
    )


def is_failure(output: Output, kind: str, *words: str) -> bool:
    """Whether an output is an error of this kind with advice, and with these words."""
    document = output.document
    if isinstance(document, dict):
        details = document.get("details", {})
        said, named = f"{document.get('error')} {details.get('hint') or ''}", details.get("kind")
        if not details.get("hint"):
            return False
    else:
        _, named, said = re.split(r"\*\*Error \((\w+)\):\*\*|$", output.text, maxsplit=1)
    return named == kind and all(word.lower() in said.lower() for word in words)


def skill_checks(agent: str, outputs: list[Output], server: FakeServer) -> list[Check]:
    """What SKILL.md teaches: a search, an awkward one, one with pages, a brief; their outputs."""
    found, awkward, pages, brief = outputs
    return [
        (
            f"{agent}: the command that SKILL.md teaches brings results to the model",
            has_results(found) and QUESTION in asked(server),
            found.text,
        ),
        (
            f"{agent}: a query with quotes, $, backquotes and operators arrives unchanged",
            has_results(awkward) and AWKWARD_QUESTION in asked(server),
            (awkward.text, asked(server)),
        ),
        (
            f"{agent}: web_search.py brings the text of the pages found",
            has_results(pages) and PAGE_QUESTION in asked(server) and has_page_text(pages),
            pages.text,
        ),
        (
            f"{agent}: the brief that SKILL.md teaches brings numbered sources",
            is_brief(brief, server),
            (brief.text, asked(server)),
        ),
    ]


def skill_calls(tool: str) -> list[tuple[str, Any]]:
    """The calls of an agent's shell tool whose outputs skill_checks takes."""
    return [
        shell_call(tool, taught_command),
        shell_call(tool, taught_command, AWKWARD_QUESTION),
        shell_call(tool, script_command, "web_search.py", PAGE_QUESTION),
        shell_call(tool, taught_brief),
    ]


def failure_checks(agent: str, keyless: Output, blocked: Output) -> list[Check]:
    """What a model is told of a search without a key, and of one that an engine blocks."""
    return [
        (
            f"{agent}: of a missing key the model gets kind auth, and the variable to set",
            is_failure(keyless, "auth", "BRAVE_SEARCH_API_KEY"),
            keyless.text,
        ),
        (
            f"{agent}: of a blocked engine the model gets kind and another way",
            is_failure(blocked, "blocked", "engine brave (BRAVE_SEARCH_API_KEY)"),
            blocked.text,
        ),
    ]


def mcp_calls(tool: str) -> list[tuple[str, Any]]:
    """The calls of web_search over MCP whose results mcp_checks takes."""
    return [
        (tool, {"query": QUESTION}),
        (tool, {"query": BLOCKED_QUESTION}),
        (tool, {"query": QUESTION, "engine": "brave"}),
    ]


def mcp_checks(agent: str, results: list[str], server: FakeServer, goes_on: bool) -> list[Check]:
    """What a search over MCP brings, and what is told of two that fail; goes_on: to an answer."""
    found, blocked, keyless = results
    return [
        (
            f"{agent}: web_search, called through MCP, brings text with sources",
            QUESTION in asked(server) and server.url in found and goes_on,
            (found, goes_on),
        ),
        (
            f"{agent}: through MCP, too, a failure says what to do",
            "blocked" in blocked and "BRAVE_SEARCH_API_KEY" in keyless,
            (blocked, keyless),
        ),
    ]


def http_check(agent: str, added: subprocess.CompletedProcess[str], found: str, url: str) -> Check:
    """Whether the agent took the server's address, and a search over HTTP brought a source."""
    return (
        f"{agent}: the tools come over HTTP, too, and bring text with sources",
        added.returncode == 0 and url in found,
        (added, found),
    )


def asked(server: FakeServer) -> list[str]:
    """The queries that the fake DuckDuckGo received, in order, each once."""
    forms = [urllib.parse.parse_qs(one.body.decode()) for one in server.requests if one.body]
    queries = [form["q"][0] for form in forms if "q" in form]
    return list(dict.fromkeys(queries))
