"""What `make package` writes, by the tools of Claude Desktop and of the MCP registry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.e2e import installing, skill
from tests.e2e.skill import NAME, QUESTION
from tests.ways_in.mcp_support import Client

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.scenarios import Check

MCPB = str(skill.AGENTS / "node_modules/.bin/mcpb")
# What Claude Desktop makes of a manifest, by the code that it shares with the tool.
HOST = """\
import { readFileSync } from "node:fs"
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb"
const [extensionPath, answers] = process.argv.slice(1)
const manifest = JSON.parse(readFileSync(extensionPath + "/manifest.json", "utf8"))
const options = { manifest, extensionPath, systemDirs: {}, pathSeparator: "/" }
const userConfig = JSON.parse(answers)
console.log(JSON.stringify(await getMcpConfigForManifest({ ...options, userConfig })))
"""
LINTER_VERSION = "0.22.0"  # of skillsaw, which carries the registry's published schemas
VENV = installing.CACHE / "skillsaw"
LINTER = VENV / "bin/skillsaw"
SCHEMA_CHECK = """\
import importlib.resources, json, sys, jsonschema
entry = json.load(open(sys.argv[1], encoding="utf-8"))
version = entry["$schema"].split("/")[-2].replace("-", "_")
folder = importlib.resources.files("skillsaw") / "schemas/mcp_registry" / f"v{version}"
schema = json.loads((folder / "server.schema.json").read_text(encoding="utf-8"))
assert schema["$id"] == entry["$schema"], schema["$id"]
jsonschema.validate(entry, schema)
"""
RUN_TIMEOUT = 120.0  # seconds
KEY = "good-0123456789abcdef"


def install_linter() -> None:
    """Install skillsaw into an environment of its own, unless it is there in its version."""
    installing.python_package(VENV, "skillsaw", LINTER_VERSION)


def run(command: list[str], folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program; return it with its output."""
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=RUN_TIMEOUT, check=False
    )


def make_packages(folder: Path) -> Path:
    """Run `install.py package` in a copy of this checkout; return its dist folder."""
    repository = skill.make_repository(folder)
    command = [sys.executable, str(repository / "scripts/install.py"), "package"]
    subprocess.run(command, check=True, capture_output=True, timeout=RUN_TIMEOUT)
    return repository / "dist"


def desktop_bundle() -> list[Check]:
    """The bundle by the official tool, and the server as Claude Desktop starts it."""
    with skill.small_web() as (folder, server):
        bundle = make_packages(folder) / f"{NAME}.mcpb"
        unpacked = folder / "extension"
        ran = [run([MCPB, "unpack", str(bundle), str(unpacked)])]
        ran.append(run([MCPB, "validate", str(unpacked)]))
        variables = skill.search_variables(server, folder) | {"SERPER_BASE_URL": server.url}
        variables["PATH"] = skill.program_path()
        blank, no_key = as_the_host_does(unpacked, {}, variables)
        filled, results = as_the_host_does(unpacked, {"serper_api_key": KEY}, variables)
        return [
            (
                "Claude Desktop: the official tool unpacks the bundle and finds it valid",
                all(one.returncode == 0 for one in ran)
                and "Manifest schema validation passes" in ran[1].stdout,
                ran,
            ),
            (
                "Claude Desktop: without any key the server starts, and searches the web",
                server.url in blank,
                blank,
            ),
            (
                "Claude Desktop: a key that was left blank counts as not set",
                "environment variable SERPER_API_KEY" in no_key,
                no_key,
            ),
            (
                "Claude Desktop: a key that was given reaches the server",
                server.url in filled and "## Answer" in results,
                (filled, results),
            ),
        ]


def as_the_host_does(
    extension: Path, answers: dict[str, str], variables: dict[str, str]
) -> tuple[str, str]:
    """Start the server as the manifest says; return what web_search and google_search bring.

    answers: what the user has filled in.
    """
    node = shutil.which("node") or "node"
    words = [node, "--input-type=module", "-e", HOST, str(extension), json.dumps(answers)]
    configuration: Any = json.loads(run(words, skill.AGENTS).stdout)
    command = [configuration["command"], *configuration["args"]]
    if not skill.uv_folder():
        command = ["python3", command[-1]]
    client = Client({**variables, **configuration["env"]}, command)
    try:
        client.request("initialize", {"protocolVersion": "2025-11-25"})
        return (
            client.text("web_search", query=QUESTION),
            client.text("google_search", query=QUESTION),
        )
    finally:
        client.close()


def registry_entry() -> list[Check]:
    """server.json by the schema that the MCP registry publishes, and by its rules."""
    with skill.small_web() as (folder, _):
        dist = make_packages(folder)
        checker = [str(VENV / "bin/python"), "-c", SCHEMA_CHECK]
        valid = [
            run([*checker, str(path)])
            for path in (skill.ROOT / "server.json", dist / "server.json")
        ]
        broken = json.loads((dist / "server.json").read_text(encoding="utf-8")) | {"name": "x"}
        (folder / "broken.json").write_text(json.dumps(broken), encoding="utf-8")
        refused = run([*checker, str(folder / "broken.json")])
        place = folder / "entry"
        place.mkdir()
        shutil.copy(dist / "server.json", place)
        linted = run([str(LINTER), "lint", "--strict", str(place)])
        return [
            (
                "MCP registry: server.json is valid by the published schema, here and in dist/",
                all(one.returncode == 0 for one in valid),
                valid,
            ),
            (
                "MCP registry: and the schema refuses another name",
                refused.returncode != 0 and "'x'" in refused.stderr,
                refused,
            ),
            (
                "MCP registry: dist/server.json has what publishing wants",
                linted.returncode == 0 and "mcp-registry" in linted.stdout,
                linted,
            ),
        ]
