"""The skill and its MCP server in the real Codex, against a fake model on loopback."""

from __future__ import annotations

import contextlib
import json
import re
from typing import TYPE_CHECKING, Any

from tests.e2e import skill
from tests.e2e.fake_model import FINAL_TEXT
from tests.e2e.fake_responses import FakeResponses
from tests.e2e.skill import NAME, PLACEHOLDER, QUESTION, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.scenarios import Check
    from tests.fake_server.server import FakeServer

CODEX = str(skill.AGENTS / "node_modules/.bin/codex")
NAMESPACE = "mcp__web_search"
# The model is the fake one; nothing is asked, because nobody is there.
CONFIG = """\
model = "fake-model"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.fake]
name = "fake"
base_url = "{url}"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
"""


class Workplace(skill.Workplace):
    """A workplace for Codex."""

    def __init__(self, folder: Path, server: FakeServer) -> None:
        super().__init__(folder, server, [CODEX], ".codex/config.toml")
        self.variables["FAKE_KEY"] = "none"

    def run(self, calls: list[tuple[str, Any]]) -> tuple[FakeResponses, list[dict[str, Any]]]:
        """Run Codex with a fake model that makes the calls; return it and Codex's own events."""
        file = self.settings_file
        servers = file.read_text(encoding="utf-8") if file.exists() else ""
        with FakeResponses(calls) as model:
            text = CONFIG.format(url=model.url) + servers
            file.write_text(text, encoding="utf-8")
            words = ["exec", "--json", "--skip-git-repo-check", "search, please"]
            finished = self.command(*words)
        if finished.returncode or not model.turns:
            raise RuntimeError(f"codex failed: {finished.stdout}{finished.stderr}")
        events = [json.loads(line) for line in finished.stdout.splitlines() if line[:1] == "{"]
        return model, events


@contextlib.contextmanager
def workplace() -> Iterator[Workplace]:
    """A workplace with a fake server of its own, gone afterwards."""
    with skill.small_web() as (folder, server):
        yield Workplace(folder, server)


def final_text(events: list[dict[str, Any]]) -> str:
    """What Codex printed of the model's last message."""
    items = [one["item"] for one in events if one["type"] == "item.completed"]
    texts = [item["text"] for item in items if item["type"] == "agent_message"]
    return str(texts[-1]) if texts else ""


def listed_file(text: str) -> str:
    """The path of the skill's SKILL.md, as Codex announced it: (file: ROOT/NAME/SKILL.md)."""
    roots = dict(re.findall(r"`(r\d+)` = `([^`]+)`", text))
    found = re.search(rf"\(file: (\w+)/{NAME}/SKILL\.md\)", text)
    return f"{roots.get(found[1], '')}/{NAME}/SKILL.md" if found else "/not-announced/SKILL.md"


def shell(text: str) -> dict[str, Any]:
    """Arguments of Codex's shell tool; not a login shell, which sets PATH anew."""
    return {"cmd": text, "login": False, "yield_time_ms": 30_000}


def taught(text: str) -> dict[str, Any]:
    """The first command that SKILL.md teaches, after it was read, in the announced folder."""
    folder = listed_file(text).removesuffix("/SKILL.md")
    return shell(skill.taught_command(f"{text}\nBase directory for this skill: {folder}"))


def skill_for_the_user() -> list[Check]:
    """The skill, installed for the user: listed, read, its command run."""
    with workplace() as place:
        folder = skill.install(place.home / ".agents/skills")
        calls: list[tuple[str, Any]] = [
            ("exec_command", lambda text: shell(f"cat '{listed_file(text)}'")),
            ("exec_command", taught),
        ]
        model, events = place.run(calls)
        first = model.told(model.turns[0])
        loaded, printed = model.results()
        return [
            (
                "Codex lists the skill with its whole description",
                skill.description(folder) in skill.plain(first),
                first[-3_000:],
            ),
            (
                "Codex: the model reads SKILL.md where Codex says that it is",
                "# Web search" in loaded,
                loaded[:2_000],
            ),
            (
                "Codex runs the command that SKILL.md teaches, and the model gets results",
                skill.has_results(skill.output_of(printed))
                and QUESTION in skill.asked(place.server)
                and final_text(events) == FINAL_TEXT,
                (printed, events[-3:]),
            ),
        ]


def mcp_server() -> list[Check]:
    """The MCP server as assets/mcp has it for Codex: tools listed, called, and a failure told."""
    with workplace() as place:
        folder = skill.install(place.home / ".agents/skills")
        text = (ROOT / "assets/mcp/codex.toml").read_text(encoding="utf-8")
        text = text.replace(PLACEHOLDER, str(folder))
        if not skill.uv_folder():
            text = text.replace('command = "uv"', 'command = "python3"').replace('"run", ', "")
        text += "".join(
            f"env.{name} = {json.dumps(value)}\n"
            for name, value in skill.search_variables(place.server, place.folder).items()
        )
        place.settings_file.write_text(text, encoding="utf-8")
        tool = f"{NAMESPACE}/web_search"
        model, events = place.run(skill.mcp_calls(tool))
        goes_on = final_text(events) == FINAL_TEXT
        return [
            ("Codex lists the MCP server's tools", tool in model.offered(), model.offered()),
            *skill.mcp_checks("Codex", model.results(), place.server, goes_on),
        ]


def one_line() -> list[Check]:
    """The line of the README that adds the MCP server, with the fake web's variables."""
    with workplace() as place:
        folder = skill.install(place.home / ".agents/skills")
        variables = skill.search_variables(place.server, place.folder)
        given = [word for name, value in variables.items() for word in ("--env", f"{name}={value}")]
        words = [*skill.runner().split(), f"{folder}/scripts/mcp_server.py"]
        added = place.command("mcp", "add", NAME, *given, "--", *words)
        listed = place.command("mcp", "list", "--json")
        model, _ = place.run([(f"{NAMESPACE}/web_search", {"query": QUESTION})])
        return [
            (
                "Codex: `codex mcp add` takes the server in one line, and its tool answers",
                added.returncode == 0
                and [one["name"] for one in json.loads(listed.stdout)] == [NAME]
                and place.server.url in model.results()[0],
                (added, listed, model.results()),
            )
        ]


def mcp_over_http() -> list[Check]:
    """The MCP server in Codex, over HTTP and with a token."""
    with workplace() as place, skill.http_server(place.variables, place.folder) as (url, _):
        words = ["--url", url, "--bearer-token-env-var", "WEB_SEARCH_TOKEN"]
        added = place.command("mcp", "add", NAME, *words)
        place.variables["WEB_SEARCH_TOKEN"] = skill.TOKEN
        model, _ = place.run([(f"{NAMESPACE}/web_search", {"query": QUESTION})])
        return [skill.http_check("Codex", added, model.results()[0], place.server.url)]


SCENARIOS = [skill_for_the_user, mcp_server, one_line, mcp_over_http]
