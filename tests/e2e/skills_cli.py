"""`npx skills add` with the real skills CLI, from this checkout, and what it installs."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from tests.e2e import claude_code, installing, skill
from tests.e2e.skill import NAME, ROOT

if TYPE_CHECKING:
    import subprocess

    from tests.e2e.claude_code import Workplace
    from tests.e2e.scenarios import Check

MODULES = skill.AGENTS / "node_modules"
PROGRAM = MODULES / "skills/bin/cli.mjs"


def node() -> str:
    """A Node that is new enough for the agents; empty if there is none."""
    return installing.node(skill.AGENTS)


def run(place: Workplace, command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command in the project; return it with its output."""
    return place.capture(command, DO_NOT_TRACK="1")


def skills_add() -> list[Check]:
    """Installed into a project by the skills CLI, the skill works there, for Claude Code, too."""
    with claude_code.workplace() as place:
        words = ["add", str(ROOT), "--yes", "--json", "--agent", "claude-code", "opencode"]
        added = run(place, [node(), str(PROGRAM), *words])
        folder = place.project / ".agents/skills" / NAME
        if added.returncode or not folder.is_dir():
            return [("npx skills add installs the skill", False, added.stdout + added.stderr)]
        told = f"Base directory for this skill: {folder}\n{skill.body(folder)}"
        ran = run(place, shlex.split(skill.taught_command(told)))
        for_claude = place.project / ".claude/skills" / NAME
        place.allow_scripts(for_claude)
        search = skill.shell_call("Bash", skill.taught_command)
        model, outcome = place.run([claude_code.LOAD, search])
        found = skill.output_of(model.results()[1])
        return [
            (
                "npx skills add installs the skill under its name, once",
                [one["name"] for one in json.loads(added.stdout)] == [NAME],
                added.stdout,
            ),
            (
                "npx skills add: the command that SKILL.md teaches works from there",
                ran.returncode == 0 and skill.has_results(skill.output_of(ran.stdout)),
                ran.stdout + ran.stderr,
            ),
            (
                "npx skills add: Claude Code lists what it installed, and runs the command",
                skill.description(folder) in skill.plain(model.first_texts())
                and skill.has_results(found)
                and not outcome["permission_denials"],
                (skill.announced_folder(model.all_told()), found.text, outcome),
            ),
        ]


def one_line() -> list[Check]:
    """The README's line for each agent puts the skill where that agent looks for it."""
    checks: list[Check] = []
    for agent in ("codex", "cursor", "opencode"):
        with claude_code.workplace() as place:
            words = ["add", str(ROOT), "-g", "-y", "--agent", agent]
            added = run(place, [node(), str(PROGRAM), *words])
            folders = [
                *place.home.glob(f".*/skills/{NAME}"),
                *place.home.glob(f".config/*/skills/{NAME}"),
            ]
            told = f"Base directory for this skill: {place.home}/.agents/skills/{NAME}\n"
            command = skill.taught_command(told + skill.body(folders[0]) if folders else told)
            ran = run(place, shlex.split(command))
            checks.append(
                (
                    f"npx skills add: one line installs it for {agent}, and its command works",
                    added.returncode == 0 and skill.has_results(skill.output_of(ran.stdout)),
                    (added.stdout[-2_000:], added.stderr, folders, ran),
                )
            )
    return checks


SCENARIOS = [skills_add, one_line]
