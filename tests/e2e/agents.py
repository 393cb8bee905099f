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

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.e2e import (
    claude_code,
    codex,
    gemini_cli,
    mcp,
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
NODE_VERSION = "22.23.3"  # for the skills CLI, where the system's Node is older


def is_installed(name: str, version: str) -> bool:
    """Whether a package is in the cache folder in this version."""
    try:
        text = (skills_cli.MODULES / name / "package.json").read_text(encoding="utf-8")
    except OSError:
        return False
    return bool(json.loads(text)["version"] == version)


def install_packages() -> None:
    """Install Claude Code, the skills CLI and its Node, unless these versions are there."""
    if all(is_installed(name, version) for name, version in PACKAGES.items()):
        return
    optional = {skills_cli.node_package(): NODE_VERSION}  # not every machine has such a package
    wanted = {"private": True, "dependencies": PACKAGES, "optionalDependencies": optional}
    folder = skill.AGENTS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
    print(f"installing Claude Code and the skills CLI into {folder} ...", flush=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=opencode.NPM_TIMEOUT,
        check=True,
    )


def registry_answers() -> bool:
    """Whether npm reaches its registry."""
    with tempfile.TemporaryDirectory() as cache:  # npm's own cache would answer for it
        command = ["npm", "view", "skills", "version", "--fetch-retries=0", f"--cache={cache}"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=60)
        except (OSError, subprocess.SubprocessError):
            return False
    return True


def installed(
    install: Callable[[], None], what: str, reachable: Callable[[], bool] = registry_answers
) -> bool:
    """Install programs; False, said, where there is no registry. Other failures are raised."""
    try:
        install()
    except (OSError, subprocess.SubprocessError):
        if reachable():
            raise
        print(f"skipped: {what} is not installed, and there is no registry", flush=True)
        return False
    return True


def available() -> list[Callable[[], list[Check]]]:
    """The scenarios whose programs are there; says which versions, and what is skipped."""
    scenarios: list[Callable[[], list[Check]]] = []
    if installed(install_packages, "Claude Code"):
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
    if installed(packages.install_linter, "skillsaw", mcp.pip_reaches_registry):
        print(f"skillsaw {packages.LINTER_VERSION}")
        scenarios.append(packages.registry_entry)
    if installed(opencode.install_packages, "opencode"):
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
