"""The opencode tool in the real opencode: `make e2e-opencode`.

Installs opencode, bun and TypeScript from npm, and ripgrep from Debian where there is none, into
${XDG_CACHE_HOME:-~/.cache}/web-search-dev/opencode. Then every check runs in a temporary project
with a temporary HOME: the installer puts the tool there, a fake model calls it, a fake Serper
answers. Nothing but loopback is used: a proxy that does not exist catches every other address.

Prints a line for each check, and at the end: N passed, N failed. Without npm it says so, and the
exit code is 0.
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
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.e2e import installing
from tests.e2e.fake_model import FINAL_TEXT
from tests.e2e.fake_openai import MODEL, FakeOpenAi
from tests.e2e.scenarios import perform_all
from tests.fake_server.server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.e2e.scenarios import Check

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "@opencode-ai/plugin": "1.18.33",
    "@types/bun": "1.4.4",
    "bun": "1.4.5",
    "opencode-ai": "1.18.33",
    "typescript": "5.9.3",
}
CACHE = installing.CACHE / "opencode"
MODULES = CACHE / "node_modules"
RUN_TIMEOUT = 180.0  # seconds for one run of opencode
DEAD_PROXY = "http://127.0.0.1:9"
OPENCODE, BUN = str(MODULES / ".bin/opencode"), str(MODULES / ".bin/bun")
NODE = shutil.which("node") or "node"  # comes with npm
RUNTIMES = {OPENCODE: "opencode's Bun", BUN: "newest Bun", NODE: "Node"}
KEY = "good-e2e"
TOOL = "google_search"
SCRIPTS = {
    "google_search": "serper_search.py",
    "brave_web_search": "brave_search.py",
    "grounded_search": "gemini_search.py",
    "read_page": "read_page.py",
    "web_search": "web_search.py",
    "check_quotes": "web_search.py",
}
# 1,000 characters that a shell, a command line or a careless encoding would change.
_PIECES = "\"double\" 'single' `touch x` $(touch x) ${HOME} $HOME ; touch x | & > x\n\\n %s * ? ~ "
_PIECES += "{a,b} !! #no -- --count=1 日本語 한국어 Ελληνικά עברית हिन्दी 🔎\t"
HOSTILE = (_PIECES * 10)[:999] + "."
COMPILER_OPTIONS = {
    "strict": True,
    "noEmit": True,
    "target": "es2023",
    "lib": ["es2023", "esnext"],
    "types": ["bun"],
    "module": "preserve",
    "moduleResolution": "bundler",
    "allowImportingTsExtensions": True,  # Node needs the extension, which Bun does not mind
    "erasableSyntaxOnly": True,  # Node only removes types
    "verbatimModuleSyntax": True,
    "noUncheckedIndexedAccess": True,
    "noUnusedLocals": True,
    "skipLibCheck": True,  # the plugin's own declarations need the DOM's
}


# ----- programs from outside


def install_packages() -> None:
    """Install the npm packages into the cache folder, unless these versions are there."""
    installing.npm_packages(CACHE, PACKAGES)


@functools.cache
def ripgrep_folder() -> Path | None:
    """Return a folder with ripgrep from Debian for PATH; None if it is on PATH, or not to be had.

    opencode downloads one from elsewhere when it misses it; these checks get along without.
    """
    if shutil.which("rg"):
        return None
    folder = CACHE / "ripgrep"
    if not (folder / "usr/bin/rg").exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(
                "apt-get download ripgrep && dpkg-deb -x ripgrep_*.deb .",
                shell=True,
                cwd=folder,
                check=True,
                capture_output=True,
                timeout=installing.INSTALL_TIMEOUT,
            )
        except subprocess.CalledProcessError:
            print("ripgrep could not be had from Debian; going on without")
            return None
    return folder / "usr/bin"


# ----- a project and a home of its own for each scenario


class Workplace:
    """A temporary project and HOME, with opencode's packages linked in, so that it installs none.

    variables: the environment of whatever runs here; a test may change it.
    """

    def __init__(self, folder: Path, server: FakeServer) -> None:
        self.folder = folder
        self.project = folder / "project"
        self.home = folder / "home"
        self.server = server
        for config in (self.project / ".opencode", self.home / ".config/opencode"):
            config.mkdir(parents=True)
            (config / "node_modules").symlink_to(MODULES)
            needs = {"dependencies": {"@opencode-ai/plugin": "*"}}
            lock = {"lockfileVersion": 3, "packages": {"": needs}}
            (config / "package.json").write_text(json.dumps(needs), encoding="utf-8")
            (config / "package-lock.json").write_text(json.dumps(lock), encoding="utf-8")
        kept = ("PATH", "LANG", "TERM")  # opencode believes PWD, and OPENCODE_* change it
        self.variables = {
            **{name: os.environ[name] for name in kept if name in os.environ},
            "HOME": str(self.home),
            **{
                f"XDG_{name}_HOME": str(self.home / f".{name.lower()}")
                for name in ("DATA", "STATE")
            },
            "XDG_CACHE_HOME": str(self.home / ".cache"),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "SERPER_BASE_URL": server.url,
            "SERPER_API_KEY": KEY,
            "BRAVE_SEARCH_BASE_URL": server.url,
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            "HTTP_PROXY": DEAD_PROXY,
            "HTTPS_PROXY": DEAD_PROXY,
            "NO_PROXY": "127.0.0.1,localhost",
            "NO_COLOR": "1",
            "CI": "1",
        }
        if rg := ripgrep_folder():
            self.variables["PATH"] = f"{rg}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)

    @property
    def tools(self) -> Path:
        """The project's folder of tools."""
        return self.project / ".opencode/tool"

    def install(self, *arguments: str) -> str:
        """Run the installer; return what it said."""
        command = [sys.executable, str(ROOT / "scripts/install.py"), "opencode", *arguments]
        return self.capture(command).stdout

    def install_in_project(self) -> None:
        """Install tool and plugin into the project."""
        self.install("--dir", str(self.project))

    def make_skill(self, folder: Path, *scripts: str) -> Path:
        """Make a skill folder with scripts of this bundle; those it lacks are empty files."""
        (folder / "scripts").mkdir(parents=True)
        for name in scripts:
            source = ROOT / "scripts" / name
            target = folder / "scripts" / name
            target.write_bytes(source.read_bytes() if source.exists() else b"")
        return folder

    def capture(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command in the project; return it with its output."""
        return subprocess.run(
            command,
            cwd=self.project,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_TIMEOUT,
            check=False,
        )

    def run_agent(self, calls: list[tuple[str, Any]], **config: Any) -> tuple[FakeOpenAi, str]:
        """Run opencode with a fake model that makes the calls; return the model and the output."""
        with FakeOpenAi(calls) as model:
            settings = {"$schema": "https://opencode.ai/config.json", **_model_settings(model)}
            text = json.dumps({**settings, **config})
            (self.project / "opencode.json").write_text(text, encoding="utf-8")
            command = [OPENCODE, "run", "--format", "json", "search, please"]
            finished = self.capture(command)
            if finished.returncode or not model.turns:
                raise RuntimeError(f"opencode run failed: {finished.stdout}{finished.stderr}")
        return model, finished.stdout

    def run_tool(self, arguments: Any) -> Any:
        """Run the tool with opencode's `debug agent`, without a model; return the document."""
        return self.debug(["--tool", TOOL, "--params", json.dumps(arguments)])

    def debug(self, words: list[str]) -> Any:
        """Run `opencode debug agent build` with these words; return the tool's document."""
        finished = self.capture([OPENCODE, "debug", "agent", "build", *words])
        if finished.returncode:
            raise RuntimeError(f"opencode debug failed: {finished.stdout}{finished.stderr}")
        return json.loads(json.loads(finished.stdout)["result"]["output"])

    def call_tool(self, *jobs: dict[str, Any], runtime: str = BUN) -> list[dict[str, Any]]:
        """Perform jobs of call_tool.mjs in a runtime; return what each printed."""
        caller = self.tools / "shared/call_tool.mjs"  # there it finds the packages
        shutil.copy(Path(__file__).with_name("call_tool.mjs"), caller)
        module = self.tools / "shared/search_tools.ts"
        if runtime == NODE:
            module = self.node_module(module)
        finished = self.capture([runtime, str(caller), str(module), *map(json.dumps, jobs)])
        lines = [json.loads(line) for line in finished.stdout.splitlines()]
        if len(lines) != len(jobs) or any(line["bun"] == (runtime == NODE) for line in lines):
            raise RuntimeError(f"call_tool failed: {finished.stdout}{finished.stderr}")
        return lines

    def node_module(self, module: Path) -> Path:
        """Return the module, as JavaScript for a Node that removes no types by itself (< 22.18)."""
        if self.capture([NODE, "-p", "process.features.typescript"]).stdout.strip() == "strip":
            return module
        built = module.with_suffix(".mjs")
        command = [BUN, "build", str(module), "--target=node"]
        self.capture([*command, "--packages=external", f"--outfile={built}"])
        return built


def _model_settings(model: FakeOpenAi) -> dict[str, Any]:
    """The part of opencode.json that makes a fake model the only one."""
    limits = {"context": 100_000, "output": 4_096}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": {"baseURL": model.url, "apiKey": "none"},
        "models": {MODEL: {"name": "Fake", "tool_call": True, "limit": limits}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": f"fake/{MODEL}",
        "small_model": f"fake/{MODEL}",
        "enabled_providers": ["fake"],
        "provider": {"fake": provider},
    }


@contextlib.contextmanager
def workplace() -> Iterator[Workplace]:
    """A workplace with a fake server of its own, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="opencode-e2e-") as folder, FakeServer() as server:
        yield Workplace(Path(folder), server)


def queries(server: FakeServer) -> list[str]:
    """The queries that the fake Serper received, in order."""
    return [one.json()["q"] for one in server.requests if one.path == "/search"]


def is_error(result: Any, kind: str, *words: str) -> bool:
    """Whether a result is an error document of this kind whose text holds the words."""
    document = json.loads(result) if isinstance(result, str) else result
    details = document.get("details", {})
    said = f"{document.get('error')} {details.get('hint')}"
    return (
        document["ok"] is False
        and details["kind"] == kind
        and all(word.lower() in said.lower() for word in words)
    )


# ----- scenarios: each returns its checks

WRONG_CALLS: list[tuple[Any, tuple[str, ...]]] = [
    ({"query": 5}, ("query must be text", "not 5")),
    ({"query": ["a", "b"]}, ("query must be text", '["a","b"]')),
    ({}, ("query is missing",)),
    ({"query": None}, ("query is missing",)),
    ({"query": ""}, ("query is blank",)),
    ({"query": " \n "}, ("query is blank",)),
    ({"query": "a\0b"}, ("query must be valid text",)),
    ({"query": "python", "num": 3}, ("no argument num", "it takes query, count")),
    ({"query": "python", "count": 0}, ("count must be a whole number from 1 to 100", "not 0")),
    ({"query": "python", "count": "ten"}, ("count must be", 'not "ten"')),
    ({"query": "python", "count": 2.5}, ("count must be", "not 2.5")),
    ({"query": "python", "since": "decade"}, ("since must be", "decade")),
]
GOOD_CALLS: list[dict[str, Any]] = [
    {"query": "python asyncio"},
    {"query": HOSTILE},
    {"query": "--help"},
    {"query": "-n 3 python"},
    {"query": "news"},
    {"query": "@/etc/hostname"},
    {"query": "python", "count": "3", "page": None},
    {"query": "python", "country": "de", "language": "de", "since": "week", "site": "example.com"},
]


def whole_agent() -> list[Check]:
    """A whole run of the agent, the tool installed in the project and the skill beside it."""
    with workplace() as place:
        place.install_in_project()
        skill = place.project / ".opencode/skills/web-search"
        place.make_skill(skill, *SCRIPTS.values())
        calls = [*GOOD_CALLS, *(arguments for arguments, _ in WRONG_CALLS)]
        model, output = place.run_agent([(TOOL, arguments) for arguments in calls])
        results = model.results()
        schema = model.schema(TOOL)["parameters"]
        first = json.loads(results[0])
        wire = [one.json() for one in place.server.requests]
        files = sorted(path.name for path in place.project.iterdir())
        agents = {one.header("user-agent") or "" for one in place.server.requests}
        properties = schema["properties"]
        wrong = [
            (str(result), is_error(result, "invalid_input", *words))
            for result, (_, words) in zip(results[len(GOOD_CALLS) :], WRONG_CALLS, strict=True)
        ]
        return [
            (
                "tool discovery: the tool is in the list that the model gets, once",
                [name for name in model.offered() if TOOL in name] == [TOOL],
                model.offered(),
            ),
            (
                "tool schema validation: query is a required string, nothing has a default",
                properties["query"]["type"] == "string"
                and schema["required"] == ["query"]
                and not any("default" in one for one in properties.values()),
                schema,
            ),
            (
                "every argument is described and has a plain type",
                all(one.get("description") and one.get("type") for one in properties.values()),
                properties,
            ),
            (
                "tool schema validation: a query that is no string is refused in words",
                is_error(results[len(GOOD_CALLS)], "invalid_input", "query must be text, not 5"),
                results[len(GOOD_CALLS)],
            ),
            (
                f"{len(WRONG_CALLS)} wrong calls (number, missing, empty, ...) get readable errors",
                all(right for _, right in wrong),
                [text for text, right in wrong if not right],
            ),
            (
                "script execution: the script is run with the query",
                queries(place.server)[0] == "python asyncio"
                and all(agent.startswith("web-search-skill/") for agent in agents),
                (queries(place.server)[:1], agents),
            ),
            (
                "wrong calls send no request",
                len(wire) == len(GOOD_CALLS),
                [one.get("q") for one in wire],
            ),
            (
                "return type: every result is text that holds one JSON document",
                all(isinstance(json.loads(result)["ok"], bool) for result in results),
                [type(result).__name__ for result in results],
            ),
            (
                "tool invocation: the model gets 5 results with title, link and snippet",
                first["ok"] is True
                and len(first["results"]) == 5
                and all({"title", "link", "snippet"} <= one.keys() for one in first["results"]),
                first,
            ),
            ("the agent goes on to its answer", FINAL_TEXT in output, output[-300:]),
            (
                "1,000 characters with quotes, backticks, $(touch x), newlines, non-Latin arrive",
                len(HOSTILE) == 1_000 and queries(place.server)[1] == HOSTILE,
                queries(place.server)[1],
            ),
            (
                "nothing of a query is executed: no file appears in the project",
                files == [".git", ".opencode", "opencode.json"],
                files,
            ),
            (
                "a query that looks like a flag, a command or a file is a query",
                queries(place.server)[2:6] == ["--help", "-n 3 python", "news", "@/etc/hostname"],
                queries(place.server)[2:6],
            ),
            (
                "a number as text is taken as the number, null as not given",
                wire[6] == {"q": "python", "num": 3}
                and len(json.loads(results[6])["results"]) == 3,
                wire[6],
            ),
            (
                "every optional argument reaches Google",
                wire[7]
                == {
                    "q": "python site:example.com",
                    "num": 5,
                    "gl": "de",
                    "hl": "de",
                    "tbs": "qdr:w",
                },
                wire[7],
            ),
        ]


def offered_tools() -> list[Check]:
    """Which tools are offered, through which way in."""
    with workplace() as place:
        place.install_in_project()
        folder = place.folder
        one = place.make_skill(folder / "one", "serper_search.py")
        five = place.make_skill(folder / "five", *SCRIPTS.values())
        lists: dict[str, list[str]] = {}

        def offer(name: str, skill: Path | None) -> None:
            place.variables["WEB_SEARCH_SKILL_DIR"] = str(skill or folder / "none")
            model, _ = place.run_agent([])
            ours = [tool for tool in model.offered() if any(known in tool for known in SCRIPTS)]
            lists[name] = sorted(ours)

        offer("both", five)
        offer("none", None)
        (place.tools / "google_search.ts").unlink()
        offer("plugin", five)
        offer("plugin one", one)
        model, _ = place.run_agent([(TOOL, {"query": HOSTILE})])
        received = queries(place.server)
        return [
            (
                "tool and plugin together list every tool whose script is there, once",
                lists["both"] == sorted(SCRIPTS),
                lists["both"],
            ),
            (
                "the plugin alone lists every tool whose script is there, once",
                lists["plugin"] == sorted(SCRIPTS),
                lists["plugin"],
            ),
            (
                "the plugin offers no tool whose script is missing",
                lists["plugin one"] == [TOOL],
                lists["plugin one"],
            ),
            (
                "without any script google_search stays, to say where it looked",
                lists["none"] == [TOOL],
                lists["none"],
            ),
            (
                "through the plugin the tool works the same: the hostile query arrives unchanged",
                received == [HOSTILE] and isinstance(json.loads(model.results()[0])["ok"], bool),
                received,
            ),
        ]


def one_file() -> list[Check]:
    """google_search.ts, copied into the project alone."""
    with workplace() as place:
        place.tools.mkdir(parents=True)
        shutil.copy(ROOT / "assets/opencode/tool/google_search.ts", place.tools)
        place.make_skill(place.project / ".claude/skills/web-search", "serper_search.py")
        found = place.run_tool({"query": "python", "count": 2})
        wrong = place.run_tool({"query": " "})
        model, _ = place.run_agent([(TOOL, {"query": HOSTILE})])
        ours = [tool for tool in model.offered() if any(known in tool for known in SCRIPTS)]
        return [
            (
                "google_search.ts works as the one file that it is",
                found["ok"] is True and len(found["results"]) == 2,
                found,
            ),
            (
                "google_search.ts alone checks its arguments",
                is_error(wrong, "invalid_input", "query is blank"),
                wrong,
            ),
            (
                "google_search.ts alone is listed once, and a session calls it",
                ours == [TOOL]
                and queries(place.server)[-1] == HOSTILE
                and json.loads(model.results()[0])["ok"] is True,
                (ours, model.results()),
            ),
        ]


def documented_words() -> list[str]:
    """The words after `opencode debug agent build` in the reference's own example."""
    reference = (ROOT / "references/opencode.md").read_text(encoding="utf-8")
    example = re.search(r"(?m)^opencode debug agent build (.*)$", reference)
    return shlex.split(example[1]) if example else []


def debug_command() -> list[Check]:
    """`opencode debug agent build --tool google_search`, installed for the user."""
    with workplace() as place:
        said = place.install()
        missing = place.run_tool({"query": "python"})
        place.make_skill(place.home / ".claude/skills/web-search", "serper_search.py")
        found = place.debug(documented_words())
        place.variables["SERPER_API_KEY"] = "bad"
        refused = place.run_tool({"query": "python"})
        del place.variables["SERPER_API_KEY"]
        keyless = place.run_tool({"query": "python"})
        place.variables |= {"SERPER_API_KEY": KEY, "SERPER_BASE_URL": DEAD_PROXY}
        unreachable = place.run_tool({"query": "python"})
        looked = missing["error"]
        return [
            (
                "installed for the user, the reference's example runs it in any project",
                ".config/opencode/tool/google_search.ts" in said
                and found["ok"] is True
                and len(found["results"]) == 3,
                (said, found),
            ),
            (
                "a script that is not found: the message lists where it was looked for",
                is_error(
                    missing, "internal", "serper_search.py was not found", "WEB_SEARCH_SKILL_DIR"
                )
                and f"{place.project}/.opencode/skills/web-search/scripts/serper_search.py"
                in looked
                and f"{place.home}/.claude/skills/web-search/scripts/serper_search.py" in looked,
                missing,
            ),
            (
                "a missing key is an error document: SERPER_API_KEY is not set.",
                keyless["error"] == "SERPER_API_KEY is not set." and is_error(keyless, "auth"),
                keyless,
            ),
            (
                "a refused key is an error document of kind auth",
                is_error(refused, "auth", "serper.dev") and refused["details"]["status"] == 403,
                refused,
            ),
            (
                "an API that cannot be reached is an error document of kind network",
                is_error(unreachable, "network", "refused the connection"),
                unreachable,
            ),
        ]


def whose_script() -> list[Check]:
    """Where a script may come from, in whose hands the user's keys would be."""
    with workplace() as place:
        place.install()
        above = place.make_skill(place.folder / ".claude/skills/web-search", "serper_search.py")
        shutil.rmtree(place.project / ".git")
        climbed = place.run_tool({"query": "python"})
        subprocess.run(["git", "init", "-q", str(place.folder)], check=True)
        inside = place.run_tool({"query": "python", "count": 1})
        os.chown(above / "scripts/serper_search.py", 1 if os.geteuid() == 0 else -1, -1)
        foreign = place.run_tool({"query": "python"})
        own = place.make_skill(place.home / ".claude/skills/web-search", "serper_search.py")
        (above / "scripts/serper_search.py").write_text("print('{\"ok\": true}')")
        os.chown(above / "scripts/serper_search.py", os.geteuid(), -1)
        first = place.run_tool({"query": "python", "count": 1})
        return [
            (
                "outside of a repository no folder above the project is looked into",
                is_error(climbed, "internal", "was not found")
                and f"{place.folder}/.claude" not in climbed["error"],
                climbed,
            ),
            ("inside of a repository the folders up to its own are", inside["ok"] is True, inside),
            (
                "a script of another user is not run, and the message says why",
                os.geteuid() != 0 or is_error(foreign, "internal", "another user's"),
                foreign,
            ),
            (
                "the user's own skill goes before the project's",
                "results" in first and own.is_dir(),
                first,
            ),
        ]


def permissions() -> list[Check]:
    """opencode's own permissions hold for the tool."""
    with workplace() as place:
        place.install_in_project()
        place.variables["WEB_SEARCH_SKILL_DIR"] = str(ROOT)
        denied, _ = place.run_agent([], permission={TOOL: "deny"})
        asked, output = place.run_agent([(TOOL, {"query": "python"})], permission={TOOL: "ask"})
        rules = {"*": "allow", "*secret*": "deny"}
        calls = [(TOOL, {"query": "our secret plan"}), (TOOL, {"query": "python"})]
        sent_when_asked = queries(place.server)
        place.server.clear()
        some, _ = place.run_agent(calls, permission={TOOL: rules})
        return [
            (
                '"google_search": "deny" takes the tool out of the list',
                TOOL not in denied.offered(),
                denied.offered(),
            ),
            (
                '"google_search": "ask" asks: where nobody can answer, nothing is run',
                "rejected" in output.lower() and TOOL in asked.offered() and not sent_when_asked,
                (sent_when_asked, output[-500:]),
            ),
            (
                "a denied pattern stops that query and no other",
                queries(place.server) == ["python"] and json.loads(some.results()[1])["ok"] is True,
                (queries(place.server), some.results()),
            ),
        ]


def type_check() -> list[Check]:
    """tsc --strict over the files as they are installed."""
    with workplace() as place:
        place.install_in_project()
        config = {
            "compilerOptions": COMPILER_OPTIONS,
            "include": ["tool/**/*.ts", "plugin/**/*.ts"],
        }
        folder = place.project / ".opencode"
        (folder / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
        compiler = [str(MODULES / ".bin/tsc"), "--project", str(folder)]
        listed = place.capture([*compiler, "--listFilesOnly"]).stdout.splitlines()
        ours = [
            path for path in listed if path.startswith(str(folder)) and "node_modules" not in path
        ]
        accepted = place.capture(compiler)
        broken = folder / "tool/google_search.ts"
        broken.write_text(
            broken.read_text(encoding="utf-8") + "\nmakeTool(5, GOOGLE_SEARCH)\n", encoding="utf-8"
        )
        refused = place.capture(compiler)
        return [
            (
                "tsc --strict accepts the tool, the plugin and what they share",
                accepted.returncode == 0 and len(ours) == 3,
                (accepted.stdout, ours),
            ),
            (
                "and it would see a mistake in them",
                refused.returncode != 0 and "TS2345" in refused.stdout,
                refused.stdout,
            ),
        ]


# A script in the place of a real one: says how it was called, or sleeps for a minute.
STAND_IN = """\
import json, os, sys, time
if sys.argv[-1] == "sleep":
    with open(os.environ["PID_FILE"], "w") as file:
        file.write(str(os.getpid()))
    time.sleep(60)
print(json.dumps({"ok": True, "words": sys.argv[1:], "by": os.environ.get("STARTED_BY", "")}))
"""


def make_program(folder: Path, name: str, text: str) -> None:
    """Make a shell script that can be executed."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


def ended(pid_file: Path) -> bool:
    """Whether the process whose number stands in a file ends within some seconds."""
    number = int(pid_file.read_text())
    for _ in range(50):
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def in_runtime(runtime: str) -> list[Check]:
    """Starting, stopping and limiting the script, with Bun.$ or (Node) node:child_process."""
    name = RUNTIMES[runtime]
    with workplace() as place:
        place.install_in_project()
        skill = place.make_skill(place.folder / "skill")
        script = skill / "scripts/serper_search.py"
        script.write_text(STAND_IN, encoding="utf-8")
        programs = place.folder / "bin"
        programs.mkdir()
        pid_file = place.folder / "pid"
        (programs / "sh").symlink_to(shutil.which("sh") or "/bin/sh")
        place.variables |= {
            "PATH": str(programs),
            "WEB_SEARCH_SKILL_DIR": str(skill),
            "PID_FILE": str(pid_file),
            "BUN_BE_BUN": "1",  # the program opencode is then the Bun that it carries
        }
        plain = {"tool": TOOL, "args": {"query": HOSTILE, "count": 7}}
        words = ["--timeout=30", "--count=7", "--", HOSTILE]

        def document(*jobs: dict[str, Any]) -> Any:
            return json.loads(place.call_tool(*jobs, runtime=runtime)[0]["result"])

        nothing = document(plain)
        make_program(programs, "python3", f'STARTED_BY=python3 exec {sys.executable} "$@"')
        by_python = document(plain)
        make_program(
            programs, "uv", f'[ "$1" = run ] && shift && STARTED_BY=uv exec {sys.executable} "$@"'
        )
        by_uv = document(plain)
        loose = {
            "site": ["a.example", "", "b.example"],
            "since": " ",
            "country": "null",
            "page": [],
        }
        one_text = json.dumps({"query": HOSTILE, "count": "7", "language": "None", **loose})
        as_text = document({"tool": TOOL, "args": one_text})
        sleep = {"tool": TOOL, "args": {"query": "sleep"}, "abortAfter": 4_000}
        aborted = place.call_tool(sleep, runtime=runtime)[0]
        aborted_ended = ended(pid_file)
        limited_job = {"script": str(script), "words": ["sleep"], "seconds": 4}
        limited = place.call_tool(limited_job, runtime=runtime)[0]
        limited_ended = ended(pid_file)
        make_program(programs, "uv", "echo 'no Python found' >&2; exit 2")
        after_uv = document(plain)
        script.write_text("print(1); raise SystemExit('broken')", encoding="utf-8")
        broken = document(plain)
        return [
            (
                f"{name}: uv run starts the script where uv is, the query unchanged after --",
                by_uv == {"ok": True, "words": words, "by": "uv"},
                by_uv,
            ),
            (
                f"{name}: empty arguments are not given; lists and all as JSON text are read",
                as_text["words"] == [*words[:2], "--site=a.example,b.example", *words[2:]],
                as_text,
            ),
            (
                f"{name}: python3 starts it where uv is not",
                by_python == {"ok": True, "words": words, "by": "python3"},
                by_python,
            ),
            (
                f"{name}: python3 starts it where uv fails",
                after_uv == {"ok": True, "words": words, "by": "python3"},
                after_uv,
            ),
            (
                f"{name}: without uv and Python the error names what was tried",
                is_error(nothing, "internal", "could not be run", "Python 3.10")
                and [one.split(":")[0] for one in nothing["details"]["attempts"]]
                == ["uv", "python3", "python"],
                nothing,
            ),
            (
                f"{name}: a script that prints no document is an error that quotes it",
                is_error(broken, "internal", "could not be run")
                and "broken" in broken["details"]["attempts"][1],
                broken,
            ),
            (
                f"{name}: an abort ends the call and the script",
                is_error(aborted["result"], "interrupted")
                and aborted["seconds"] < 9
                and aborted_ended,
                (aborted, aborted_ended),
            ),
            (
                f"{name}: the time limit ends the call and the script",
                is_error(limited["result"], "timeout", "4 seconds")
                and limited["seconds"] < 9
                and limited_ended,
                (limited, limited_ended),
            ),
        ]


def in_opencodes_bun() -> list[Check]:
    """The Bun that opencode carries."""
    return in_runtime(OPENCODE)


def in_newest_bun() -> list[Check]:
    """A Bun of its own, as opencode will carry it one day."""
    return in_runtime(BUN)


def in_node() -> list[Check]:
    """Node, which opencode's desktop app has in the place of Bun."""
    return in_runtime(NODE)


def table() -> list[Check]:
    """The table of tools against the scripts themselves, and the real uv where it is there."""
    with workplace() as place:
        place.install_in_project()
        place.variables |= {"WEB_SEARCH_SKILL_DIR": str(ROOT), "BRAVE_SEARCH_API_KEY": "good"}
        listed, *called = place.call_tool(
            {"list": True},
            {"tool": TOOL, "args": {"query": HOSTILE}},
            {"tool": "brave_web_search", "args": {"query": "python", "count": 3}},
        )
        tools = listed["result"]
        unknown = []
        for name, tool in tools.items():
            words = [tool["script"], *filter(None, [tool.get("command")]), "--help"]
            command = [sys.executable, str(ROOT / "scripts" / words[0]), *words[1:]]
            known = set(re.findall(r"--[\w-]+", place.capture(command).stdout))
            flags = {f"--{one}" for one in tool["args"] if one != tool["positional"]}
            unknown += [f"{name} {flag}" for flag in sorted((flags | {"--timeout"}) - known)]
        brave = json.loads(called[1]["result"])
        checks = [
            (
                "the table names the tools and their scripts",
                {name: tool["script"] for name, tool in tools.items()} == SCRIPTS,
                tools,
            ),
            ("every argument of a tool is a flag of its script", not unknown, unknown),
            (
                "brave_web_search brings Brave's results",
                brave["ok"] is True and len(brave["web_results"]) == 3,
                brave,
            ),
        ]
        if shutil.which("uv"):
            sleep = place.make_skill(place.folder / "skill")
            script = sleep / "scripts/serper_search.py"
            script.write_text(STAND_IN, encoding="utf-8")
            pid_file = place.folder / "pid"
            place.variables |= {"WEB_SEARCH_SKILL_DIR": str(sleep), "PID_FILE": str(pid_file)}
            job = {"tool": TOOL, "args": {"query": "sleep"}, "abortAfter": 4_000}
            aborted = place.call_tool(job)[0]
            checks.append(
                ("an abort reaches the script through the real uv", ended(pid_file), aborted)
            )
        return checks


SCENARIOS: list[Callable[[], list[Check]]] = [
    whole_agent,
    one_file,
    offered_tools,
    debug_command,
    whose_script,
    permissions,
    in_opencodes_bun,
    in_newest_bun,
    in_node,
    table,
    type_check,
]


def main() -> int:
    """Run the scenarios that the arguments name, else all; return 1 if a check failed."""
    if not shutil.which("npm"):
        print("skipped: npm is not there, and opencode comes from npm")
        return 0
    try:
        install_packages()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"npm could not install the programs: {error}")
        return 1
    ripgrep_folder()  # before the scenarios, which would all at once
    chosen = [one for one in SCENARIOS if not sys.argv[1:] or one.__name__ in sys.argv[1:]]
    return perform_all(chosen)


if __name__ == "__main__":
    raise SystemExit(main())
