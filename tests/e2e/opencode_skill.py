"""The skill in the real opencode, against a fake model on loopback."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from tests.e2e import opencode, skill
from tests.e2e.opencode import Workplace
from tests.e2e.skill import NAME, QUESTION

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.scenarios import Check

LOAD = ("skill", {"name": NAME})


@contextlib.contextmanager
def workplace() -> Iterator[Workplace]:
    """A workplace with a fake server of its own, gone afterwards."""
    with skill.small_web() as (folder, server):
        yield Workplace(folder, server)


def prepare(place: Workplace, skills: Path) -> Path:
    """Install the skill into a folder of skills, and lead its scripts to the fake server."""
    folder = skill.install(skills)
    skill.make_project(place.project)
    del place.variables["SERPER_API_KEY"]
    rg = opencode.ripgrep_folder()
    place.variables |= skill.search_variables(place.server, place.folder)
    place.variables["PATH"] = skill.program_path(*([rg] if rg else []))
    return folder


def permission(folder: Path) -> dict[str, Any]:
    """Rules of a careful user: of all commands only the skill's scripts run without asking."""
    return {"bash": {"*": "ask", f"{skill.runner()} {folder}/scripts/*": "allow"}}


def skill_for_the_user() -> list[Check]:
    """The skill in ~/.claude/skills: listed, loaded, its commands run, failures understood."""
    with workplace() as place:
        folder = prepare(place, place.home / ".claude/skills")
        before = skill.files_of(place.project)
        calls = [
            LOAD,
            *skill.skill_calls("bash"),
            skill.shell_call("bash", skill.script_command, "brave_search.py", QUESTION),
            skill.shell_call("bash", skill.taught_command, skill.BLOCKED_QUESTION),
        ]
        model, _ = place.run_agent(calls, permission=permission(folder))
        listing = json.dumps(model.turns[0], ensure_ascii=False).replace('\\"', '"')
        all_told = model.told(model.turns[-1])
        outputs = [skill.output_of(str(text)) for text in model.results()]
        _, *taught, keyless, blocked = outputs
        return [
            (
                "opencode lists the skill with its whole description",
                f"<name>{NAME}</name>" in listing and skill.description(folder) in listing,
                listing[:3_000],
            ),
            (
                "opencode: the skill tool delivers the body of SKILL.md and its folder",
                skill.body(folder) in all_told and skill.announced_folder(all_told) == str(folder),
                all_told[-3_000:],
            ),
            *skill.skill_checks("opencode", taught, place.server),
            *skill.failure_checks("opencode", keyless, blocked),
            (
                "opencode: uv leaves nothing in the user's project",
                skill.files_of(place.project) - {"opencode.json"} == before,
                skill.files_of(place.project),
            ),
        ]


def skill_in_the_project() -> list[Check]:
    """The skill in the project's .opencode/skills; what the rule does not allow is asked for."""
    with workplace() as place:
        folder = prepare(place, place.project / ".opencode/skills")
        calls = [LOAD, skill.shell_call("bash", skill.taught_command)]
        model, output = place.run_agent(calls, permission=permission(folder))
        found = skill.output_of(str(model.results()[1]))
        place.server.clear()
        _, refused = place.run_agent(calls, permission={"bash": {"*": "ask"}})
        return [
            (
                "opencode: installed in a project, the skill is loaded and its command works",
                skill.has_results(found),
                (found.text, output[-2_000:]),
            ),
            (
                "opencode asks before it runs a script where no rule allows it",
                "rejected" in refused.lower() and not skill.asked(place.server),
                (refused[-2_000:], skill.asked(place.server)),
            ),
        ]


SCENARIOS = [skill_for_the_user, skill_in_the_project]
