"""The skill in real agents, against local fakes of their models: `make e2e-agents`.

Installs Claude Code, Codex, Gemini CLI, the skills CLI and opencode, each in one fixed version,
from npm into ${XDG_CACHE_HOME:-~/.cache}/web-search-dev. Then every check runs in a temporary
project with a temporary HOME: the installer puts the skill there, a fake model loads it and runs
what it teaches, a fake server answers. Nothing but loopback is used: a proxy that does not exist
catches every other address.

Prints a line for each check, and at the end: N passed, N failed. Without npm, or without a
registry to install from, it says so, and the exit code is 0.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.e2e import (
    claude_code,
    codex,
    gemini_cli,
    installing,
    opencode,
    opencode_skill,
    packages,
    skill,
    skills_cli,
)
from tests.e2e.scenarios import perform_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.scenarios import Check

PACKAGES = {
    "@anthropic-ai/claude-code": "2.1.330",
    "skills": "1.7.4",
    "@openai/codex": "0.169.0",
    "@google/gemini-cli": "0.61.0",
    "@anthropic-ai/mcpb": "2.1.2",
}


def available() -> list[Callable[[], list[Check]]]:
    """The scenarios whose programs are there; says which versions, and what is skipped."""
    scenarios: list[Callable[[], list[Check]]] = []
    pip, npm = installing.pip_reaches_registry, installing.npm_reaches_registry
    if installing.installed(
        "Claude Code", lambda: installing.npm_packages(skill.AGENTS, PACKAGES, node=True), npm
    ):
        print(f"Claude Code {PACKAGES['@anthropic-ai/claude-code']}")
        scenarios += claude_code.SCENARIOS
        print(f"Codex {PACKAGES['@openai/codex']}")
        scenarios += codex.SCENARIOS
        print(f"mcpb {PACKAGES['@anthropic-ai/mcpb']}")
        scenarios.append(packages.desktop_bundle)
        if skills_cli.node():
            print(f"skills {PACKAGES['skills']}, Gemini CLI {PACKAGES['@google/gemini-cli']}")
            scenarios += [*skills_cli.SCENARIOS, *gemini_cli.SCENARIOS]
        else:
            print("skipped: the skills CLI and Gemini CLI, which need Node 22.20 or newer")
    if installing.installed("skillsaw", packages.install_linter, pip):
        print(f"skillsaw {packages.LINTER_VERSION}")
        scenarios.append(packages.registry_entry)
    if installing.installed("opencode", opencode.install_packages, npm):
        opencode.ripgrep_folder()  # before the scenarios, which would all at once
        print(f"opencode {opencode.PACKAGES['opencode-ai']}")
        scenarios += opencode_skill.SCENARIOS
    if not skill.uv_folder():
        print("uv is not here: python3 runs the commands instead")
    return scenarios


def main() -> int:
    """Run the scenarios that the arguments name, else all; return 1 if a check failed."""
    if not shutil.which("npm"):
        print("skipped: npm is not there, and the agents come from npm")
        return 0
    try:
        scenarios = available()
    except (OSError, subprocess.SubprocessError) as error:
        print(f"the agents could not be installed: {error}\n{getattr(error, 'stderr', '') or ''}")
        return 1
    if not scenarios:
        return 0
    names = {one: f"{one.__module__.rpartition('.')[2]}.{one.__name__}" for one in scenarios}
    chosen = [one for one in scenarios if not sys.argv[1:] or names[one] in sys.argv[1:]]
    return perform_all(chosen)


if __name__ == "__main__":
    raise SystemExit(main())
