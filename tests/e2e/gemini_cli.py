"""The skill and its MCP server in the real Gemini CLI, against a fake model on loopback."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any

from tests.e2e import skill, skills_cli
from tests.e2e.fake_gemini import FakeGemini
from tests.e2e.fake_model import FINAL_TEXT
from tests.e2e.skill import NAME, PLACEHOLDER, QUESTION, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.scenarios import Check
    from tests.fake_server.server import FakeServer

GEMINI = str(skill.AGENTS / "node_modules/.bin/gemini")
MODEL = "gemini-2.5-pro"
TOOL = f"mcp_{NAME}_web_search"


class Workplace(skill.Workplace):
    """A workplace for Gemini CLI."""

    def __init__(self, folder: Path, server: FakeServer) -> None:
        super().__init__(folder, server, [skills_cli.node(), GEMINI], ".gemini/settings.json")
        settings = {
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
            "telemetry": {"enabled": False},
        }
        self.settings_file.write_text(json.dumps(settings), encoding="utf-8")
        self.variables["GEMINI_API_KEY"] = "none"

    def run(self, calls: list[tuple[str, Any]]) -> tuple[FakeGemini, dict[str, Any]]:
        """Run Gemini CLI with a fake model that makes the calls; return it and the outcome."""
        with FakeGemini(calls) as model:
            words = ["-p", "search, please", "--yolo", "--output-format", "json", "-m", MODEL]
            finished = self.command(*words, GOOGLE_GEMINI_BASE_URL=model.url)
        start = finished.stdout.find("{")
        if finished.returncode or not model.turns or start < 0:
            raise RuntimeError(f"gemini failed: {finished.stdout}{finished.stderr}")
        outcome: dict[str, Any] = json.loads(finished.stdout[start:])
        return model, outcome


@contextlib.contextmanager
def workplace() -> Iterator[Workplace]:
    """A workplace with a fake server of its own, gone afterwards."""
    with skill.small_web() as (folder, server):
        yield Workplace(folder, server)


def taught(text: str) -> dict[str, Any]:
    """The first command that the activated skill teaches, in the folder that was announced."""
    found = re.search(rf"<location>([^<]*/{NAME})/SKILL\.md</location>", text)
    folder = found[1] if found else "/not-announced"
    return {"command": skill.taught_command(f"{text}\nBase directory for this skill: {folder}")}


def skill_for_the_user() -> list[Check]:
    """The skill, installed for the user: listed, activated, its command run."""
    with workplace() as place:
        folder = skill.install(place.home / ".agents/skills")
        listed = place.command("skills", "list")
        model, outcome = place.run(
            [("activate_skill", {"name": NAME}), ("run_shell_command", taught)]
        )
        loaded, printed = model.results()
        system = model.told(model.turns[0])
        return [
            (
                "Gemini CLI: `gemini skills list` names the skill",
                f"{NAME} [Enabled]" in listed.stdout
                and skill.description(folder) in skill.plain(listed.stdout),
                listed,
            ),
            (
                "Gemini CLI tells the model of the skill",
                skill.description(folder) in skill.plain(system),
                system[-3_000:],
            ),
            (
                "Gemini CLI activates the skill, and the model gets the whole SKILL.md",
                skill.plain(skill.body(folder))[-300:] in skill.plain(loaded),
                loaded[-2_000:],
            ),
            (
                "Gemini CLI runs the command that SKILL.md teaches, and the model gets results",
                skill.has_results(skill.output_of(printed.replace("Output: {", "\n{")))
                and QUESTION in skill.asked(place.server)
                and outcome["response"] == FINAL_TEXT,
                (printed, outcome),
            ),
        ]


def mcp_server() -> list[Check]:
    """The MCP server as assets/mcp has it for Gemini CLI: tools listed, called, a failure told."""
    with workplace() as place:
        folder = skill.install(place.home / ".agents/skills")
        text = (ROOT / "assets/mcp/gemini_cli.json").read_text(encoding="utf-8")
        configuration = json.loads(text.replace(PLACEHOLDER, str(folder)))
        for server in configuration["mcpServers"].values():
            server["env"] |= skill.search_variables(place.server, place.folder)
            if not skill.uv_folder():
                server |= {"command": "python3", "args": server["args"][-1:]}
        settings = json.loads(place.settings_file.read_text(encoding="utf-8")) | configuration
        place.settings_file.write_text(json.dumps(settings), encoding="utf-8")
        model, outcome = place.run(skill.mcp_calls(TOOL))
        goes_on = outcome["response"] == FINAL_TEXT
        return [
            ("Gemini CLI lists the MCP server's tools", TOOL in model.offered(), model.offered()),
            *skill.mcp_checks("Gemini CLI", model.results(), place.server, goes_on),
        ]


def one_line() -> list[Check]:
    """The lines of the README: the skill by a link, the MCP server by a command."""
    with workplace() as place:
        folder = skill.install(place.folder / "copy")
        linked = place.command("skills", "link", str(folder), "--consent")
        listed = place.command("skills", "list")
        variables = skill.search_variables(place.server, place.folder)
        given = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        program, *words = [*skill.runner().split(), f"{folder}/scripts/mcp_server.py"]
        added = place.command("mcp", "add", "--scope", "user", *given, NAME, program, *words)
        model, _ = place.run([(TOOL, {"query": QUESTION})])
        return [
            (
                "Gemini CLI: `gemini skills link` installs the skill in one line",
                linked.returncode == 0 and f"{NAME} [Enabled]" in listed.stdout,
                (linked, listed),
            ),
            (
                "Gemini CLI: `gemini mcp add` takes the server in one line, and its tool answers",
                added.returncode == 0 and place.server.url in model.results()[0],
                (added, model.results()),
            ),
        ]


def mcp_over_http() -> list[Check]:
    """The MCP server in Gemini CLI, over HTTP and with a token."""
    with workplace() as place, skill.http_server(place.variables, place.folder) as (url, _):
        header = f"Authorization: Bearer {skill.TOKEN}"
        words = ["--scope", "user", "--transport", "http", "--header", header, NAME, url]
        added = place.command("mcp", "add", *words)
        model, _ = place.run([(TOOL, {"query": QUESTION})])
        return [skill.http_check("Gemini CLI", added, model.results()[0], place.server.url)]


SCENARIOS = [skill_for_the_user, mcp_server, one_line, mcp_over_http]
