"""The skill and its MCP server in the real Claude Code, against a fake model on loopback."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.e2e import skill
from tests.e2e.fake_anthropic import FakeAnthropic
from tests.e2e.fake_model import FINAL_TEXT
from tests.e2e.skill import NAME, QUESTION, ROOT

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator

    from tests.e2e.scenarios import Check
    from tests.fake_server.server import FakeServer

CLAUDE = str(skill.AGENTS / "node_modules/.bin/claude")
MCP_FILE = ROOT / "assets/mcp/claude_code.json"
GOOD_KEY, BAD_KEY = "good-0123456789abcdef", "bad-0123456789abcdef"


class Workplace(skill.Workplace):
    """A workplace for Claude Code. settings: what ~/.claude/settings.json holds."""

    def __init__(self, folder: Path, server: FakeServer) -> None:
        super().__init__(folder, server, [CLAUDE], ".claude/settings.json")
        self.settings: dict[str, Any] = {}
        self.variables |= {
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def allow_scripts(self, folder: Path, name: str = NAME) -> None:
        """Allow what references/keys_and_installing.md recommends: the skill and its scripts."""
        rules = [f"Skill({name})", f"Bash({skill.runner()} {folder}/scripts/*)"]
        self.settings["permissions"] = {"allow": rules}

    def command(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Claude Code; what it writes into its settings is kept."""
        finished = super().command(*words, **variables)
        with contextlib.suppress(FileNotFoundError):
            self.settings |= json.loads(self.settings_file.read_text(encoding="utf-8"))
        return finished

    def run(self, calls: list[tuple[str, Any]], *flags: str) -> tuple[FakeAnthropic, Any]:
        """Run Claude Code with a fake model that makes the calls; return it and the outcome."""
        self.settings_file.write_text(json.dumps(self.settings), encoding="utf-8")
        with FakeAnthropic(calls) as model:
            words = ["-p", "search, please", "--output-format", "json", *flags]
            finished = super().command(*words, ANTHROPIC_BASE_URL=model.url)
        try:
            outcome = json.loads(finished.stdout)
        except ValueError:
            outcome = None
        if finished.returncode or not model.turns or not outcome:
            raise RuntimeError(f"claude failed: {finished.stdout}{finished.stderr}")
        return model, outcome[-1] if isinstance(outcome, list) else outcome


@contextlib.contextmanager
def workplace() -> Iterator[Workplace]:
    """A workplace with a fake server of its own, gone afterwards."""
    with skill.small_web() as (folder, server):
        yield Workplace(folder, server)


LOAD = ("Skill", {"skill": NAME})
PLUGIN = f"{NAME}:{NAME}"  # the skill's name, as the plugin's
GIT_CONFIG = """\
[url "file://{folder}/"]
    insteadOf = https://github.com/example/
    insteadOf = git@github.com:example/
"""  # git takes the repository from the folder, and Claude Code believes that it is on GitHub


def skill_for_the_user() -> list[Check]:
    """The skill in ~/.claude/skills: listed, loaded, its commands run."""
    with workplace() as place:
        folder = skill.install(place.home / ".claude/skills")
        place.allow_scripts(folder)
        before = skill.files_of(place.project)
        page = f"{place.server.url}/site/docs/timeouts"
        calls = [
            LOAD,
            *skill.skill_calls("Bash"),
            skill.shell_call("Bash", skill.script_command, "read_page.py", page),
        ]
        model, outcome = place.run(calls)
        loaded, *results = model.results()
        *taught, read = map(skill.output_of, results)
        return [
            (
                "Claude Code lists the skill with its whole description",
                skill.description(folder) in skill.plain(model.first_texts()),
                model.first_texts()[-3_000:],
            ),
            (
                "Claude Code: the Skill tool delivers the body of SKILL.md and its folder",
                skill.body(folder) in model.all_told()
                and skill.announced_folder(model.all_told()) == str(folder),
                (loaded, model.all_told()[-3_000:]),
            ),
            (
                "Claude Code runs the skill's commands without a permission problem",
                not outcome["permission_denials"] and outcome["result"] == FINAL_TEXT,
                outcome,
            ),
            *skill.skill_checks("Claude Code", taught, place.server),
            (
                "Claude Code: read_page.py brings the text of a page",
                isinstance(read.document, dict) and read.document["ok"] is True,
                read.text,
            ),
            (
                "Claude Code: uv leaves nothing in the user's project",
                skill.files_of(place.project) == before,
                skill.files_of(place.project),
            ),
        ]


def plugin() -> list[Check]:
    """The repository as a marketplace, and as the plugin in it; installed by the README's line."""
    with workplace() as place:
        repository = skill.make_repository(place.folder)
        config = GIT_CONFIG.format(folder=place.folder)
        (place.home / ".gitconfig").write_text(config, encoding="utf-8")
        validated = place.command("plugin", "validate", "--strict", str(repository))
        added = place.command("plugin", "marketplace", "add", f"example/{NAME}")
        installed = place.command("plugin", "install", f"{NAME}@{NAME}")
        details = place.command("plugin", "details", NAME)
        [listed] = json.loads(place.command("plugin", "list", "--json").stdout)
        folder = Path(listed["installPath"])
        place.allow_scripts(folder, PLUGIN)
        model, outcome = place.run(
            [("Skill", {"skill": PLUGIN}), skill.shell_call("Bash", skill.taught_command)]
        )
        found = skill.output_of(model.results()[1])
        removed = place.command("plugin", "uninstall", NAME)
        line = place.command("plugin", "install", NAME, "--marketplace", f"example/{NAME}")
        return [
            (
                "Claude Code: the manifests of plugin and marketplace are valid",
                validated.returncode == 0,
                validated,
            ),
            (
                "Claude Code: plugin marketplace add and plugin install do what they say",
                "Successfully added marketplace: web-search" in added.stdout
                and "Successfully installed plugin: web-search@web-search" in installed.stdout
                and folder.is_relative_to(place.home / ".claude/plugins"),
                (added, installed, listed),
            ),
            (
                "Claude Code: the plugin has one skill, and nothing else that costs anything",
                "Skills (1)  web-search" in details.stdout and "MCP servers (0)" in details.stdout,
                details.stdout,
            ),
            (
                "Claude Code lists the plugin's skill, loads it and runs the taught command",
                PLUGIN in model.first_texts()
                and skill.description(folder) in skill.plain(model.first_texts())
                and skill.body(folder) in model.all_told()
                and skill.announced_folder(model.all_told()) == str(folder)
                and skill.has_results(found)
                and not outcome["permission_denials"],
                (model.all_told()[-3_000:], found.text, outcome),
            ),
            (
                "Claude Code: one line installs it, where the marketplace is not known, too",
                removed.returncode == 0
                and "Successfully installed plugin: web-search@web-search" in line.stdout,
                (removed, line),
            ),
        ]


def failing_searches() -> list[Check]:
    """What fails is told so that the model can act on it."""
    with workplace() as place:
        place.allow_scripts(skill.install(place.home / ".claude/skills"))
        calls = [
            LOAD,
            skill.shell_call("Bash", skill.script_command, "brave_search.py", QUESTION),
            skill.shell_call("Bash", skill.script_command, "web_search.py", QUESTION, "--cuont=3"),
            skill.shell_call("Bash", skill.taught_command, skill.BLOCKED_QUESTION),
            skill.shell_call("Bash", skill.taught_command),
        ]
        model, outcome = place.run(calls)
        keyless, wrong, blocked, resting = map(skill.output_of, model.results()[1:])
        return [
            (
                "Claude Code runs what fails without a permission problem",
                not outcome["permission_denials"],
                outcome,
            ),
            *skill.failure_checks("Claude Code", keyless, blocked),
            (
                "Claude Code: of a mistyped flag the model gets the right one",
                skill.is_failure(wrong, "invalid_input", "--count"),
                wrong.text,
            ),
            (
                "Claude Code: the next search says how long the engine rests",
                skill.is_failure(resting, "blocked", "wait", "try again in"),
                resting.text,
            ),
        ]


def permissions_and_keys() -> list[Check]:
    """What the rule allows and what it does not; a key from settings.json."""
    with workplace() as place:
        folder = skill.install(place.home / ".claude/skills")
        place.settings["permissions"] = {"allow": [f"Skill({NAME})"]}
        refused, _ = place.run([LOAD, skill.shell_call("Bash", skill.taught_command)])
        asked_when_refused = skill.asked(place.server)
        place.allow_scripts(folder)
        other = f"{skill.runner()} {folder.parent}/other/scripts/x.py"
        outside, outcome = place.run([LOAD, skill.shell_call("Bash", lambda _: other)])
        place.settings["env"] = {"BRAVE_SEARCH_API_KEY": GOOD_KEY}
        search = skill.shell_call("Bash", skill.script_command, "brave_search.py", QUESTION)
        good, _ = place.run([LOAD, search])
        place.settings["env"] = {"BRAVE_SEARCH_API_KEY": BAD_KEY}
        bad, _ = place.run([LOAD, search])
        answer, failure = (skill.output_of(model.results()[1]) for model in (good, bad))
        return [
            (
                "Claude Code asks before it runs a script where no rule allows it",
                "requires approval" in refused.results()[1] and not asked_when_refused,
                refused.results(),
            ),
            (
                "Claude Code: the rule allows the skill's scripts and nothing beside them",
                len(outcome["permission_denials"]) == 1
                and "requires approval" in outside.results()[1],
                outcome,
            ),
            (
                'Claude Code: a key from "env" of settings.json reaches the script',
                isinstance(answer.document, dict) and bool(answer.document.get("web_results")),
                answer.text,
            ),
            (
                "Claude Code: of a refused key the model gets kind auth and a hint, not the key",
                skill.is_failure(failure, "auth", "key") and BAD_KEY not in failure.text,
                failure.text,
            ),
        ]


def mcp_configuration(folder: Path) -> dict[str, Any]:
    """The configuration of assets/mcp for Claude Code, for the skill in this folder.

    Where that file is not, one that says the same; where uv is not, python3 starts the server.
    """
    words = ["run", f"{skill.PLACEHOLDER}/scripts/mcp_server.py"]
    server = {"type": "stdio", "command": "uv", "args": words}
    text = json.dumps({"mcpServers": {NAME: server}})
    if MCP_FILE.exists():
        text = MCP_FILE.read_text(encoding="utf-8")
    configuration: dict[str, Any] = json.loads(text.replace(skill.PLACEHOLDER, str(folder)))
    if not skill.uv_folder():
        for server in configuration["mcpServers"].values():
            server |= {"command": "python3", "args": server["args"][-1:]}
    return configuration


def mcp_server() -> list[Check]:
    """The MCP server in Claude Code: tools listed, called, and a failure told."""
    with workplace() as place:
        folder = skill.install(place.home / ".claude/skills")
        configuration = mcp_configuration(folder)
        file = place.folder / "mcp.json"
        file.write_text(json.dumps(configuration), encoding="utf-8")
        [name] = configuration["mcpServers"]
        tool = f"mcp__{name}__web_search"
        place.settings["permissions"] = {"allow": [f"mcp__{name}"]}
        calls: list[tuple[str, Any]] = [
            ("ToolSearch", {"query": f"select:{tool}"}),
            *skill.mcp_calls(tool),
        ]
        model, outcome = place.run(calls, "--mcp-config", str(file), "--strict-mcp-config")
        goes_on = not outcome["permission_denials"] and outcome["result"] == FINAL_TEXT
        return [
            (
                "Claude Code lists the MCP server's tools",
                tool in model.first_texts() or tool in model.offered(),
                (model.offered(), model.first_texts()[-2_000:]),
            ),
            *skill.mcp_checks("Claude Code", model.results()[1:], place.server, goes_on),
        ]


def mcp_over_http() -> list[Check]:
    """The MCP server in Claude Code, over HTTP and with a token."""
    with workplace() as place, skill.http_server(place.variables, place.folder) as (url, _):
        header = f"Authorization: Bearer {skill.TOKEN}"
        words = ["--scope", "user", "--transport", "http", NAME, url, "--header", header]
        added = place.command("mcp", "add", *words)
        tool = f"mcp__{NAME}__web_search"
        place.settings["permissions"] = {"allow": [f"mcp__{NAME}"]}
        calls: list[tuple[str, Any]] = [
            ("ToolSearch", {"query": f"select:{tool}"}),
            (tool, {"query": QUESTION}),
            (tool, {"query": " "}),
        ]
        model, outcome = place.run(calls)
        _, found, blank = model.results()
        return [
            skill.http_check("Claude Code", added, found, place.server.url),
            (
                "Claude Code: over HTTP there is no permission problem",
                not outcome["permission_denials"],
                outcome,
            ),
            (
                "Claude Code: over HTTP, too, a failure says what to do",
                "Pass query for one question" in blank,
                blank,
            ),
        ]


SCENARIOS = [
    skill_for_the_user, plugin, failing_searches, permissions_and_keys, mcp_server, mcp_over_http,
]  # fmt: skip
