"""Write the packages in dist/: the skill, a bundle for Claude Desktop, an MCP registry entry.

The packages are reproducible byte for byte.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile

from websearch.machine.skill_files import (
    NAME,
    ROOT,
    InstallError,
    kind_of_copy,
    mode_of,
    replace_file,
    skill_files,
    skill_version,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DATE = (1980, 1, 1, 0, 0, 0)  # time of every file, to make packages reproducible
BUNDLE_VERSION = "0.4"  # version of the manifest: the first with servers of type uv
SERVER = "scripts/mcp_server.py"
LEAST_PYTHON = ">=3.10"
REGISTRY_FILE = "server.json"


def package() -> list[str]:
    """Write the packages; return a line per step. Raises InstallError and OSError."""
    files = skill_files()
    if "LICENSE" not in files or not (ROOT / REGISTRY_FILE).is_file():
        raise InstallError(f"{ROOT} is {kind_of_copy()}. Run package in a clone of the repository.")
    registry = json.loads((ROOT / REGISTRY_FILE).read_bytes())
    bundle = archive(bundle_files(files, registry))
    # The registry requires the digest of the bundle.
    registry["packages"][0]["fileSha256"] = hashlib.sha256(bundle).hexdigest()
    packages = {
        f"{NAME}.skill": archive(files, f"{NAME}/"),
        f"{NAME}.mcpb": bundle,
        REGISTRY_FILE: as_json(registry),
    }
    lines, version = [], skill_version(files["SKILL.md"])
    for name, data in packages.items():
        path = ROOT / "dist" / name
        replace_file(path, data)
        lines.append(f"written: {path} ({len(data)} bytes, version {version})")
        lines.append(f"  sha256: {hashlib.sha256(data).hexdigest()}")
    return lines


def archive(files: dict[str, bytes], folder: str = "") -> bytes:
    """Return a zip file with these files; folder: a prefix for their names, with its slash.

    Files are not compressed, because zlib's output depends on its version and the skill is small.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as packed:
        for name, data in files.items():
            entry = zipfile.ZipInfo(folder + name, DATE)
            entry.create_system = 3  # Unix, for the permissions below
            entry.external_attr = (0o100000 | mode_of(name, data)) << 16
            packed.writestr(entry, data)
    return buffer.getvalue()


def as_json(document: dict[str, Any]) -> bytes:
    """Return a document encoded as a JSON file."""
    return (json.dumps(document, indent=2) + "\n").encode()


def bundle_files(files: dict[str, bytes], registry: dict[str, Any]) -> dict[str, bytes]:
    """Return path -> content for the bundle: the server and the files that its host reads.

    registry: the MCP registry entry. Hosts require a pyproject.toml for servers of type uv; uv
    itself uses the block at the start of the script.
    """
    version = skill_version(files["SKILL.md"])
    project = (
        f'[project]\nname = "{NAME}"\nversion = "{version}"\n'
        f'requires-python = "{LEAST_PYTHON}"\ndependencies = []\n'
    )
    return {
        "manifest.json": as_json(bundle_manifest(version, registry)),
        "pyproject.toml": project.encode(),
        "LICENSE": files["LICENSE"],
        **{name: data for name, data in files.items() if name.startswith("scripts/")},
    }


def bundle_manifest(version: str, registry: dict[str, Any]) -> dict[str, Any]:
    """Return the bundle's manifest; the host asks for the keys and stores them.

    version: the skill's version. registry: as in bundle_files. Each key has a default, because
    otherwise a host passes the unfilled placeholder to the server.
    """
    from websearch.ways_in.mcp_tools import TOOLS

    keys = registry["packages"][0]["environmentVariables"]
    options = {
        key["name"].lower(): {
            "type": "string",
            "title": key["name"],
            "description": f"{key['description']} (optional)",
            "sensitive": True,
            "required": False,
            "default": "",
        }
        for key in keys
    }
    return {
        "manifest_version": BUNDLE_VERSION,
        "name": NAME,
        "display_name": registry["title"],
        "version": version,
        "description": registry["description"],
        "author": {"name": "The web-search authors"},
        "license": "MIT",
        "keywords": ["search", "web", "research"],
        "server": {
            "type": "uv",
            "entry_point": SERVER,
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--script", f"${{__dirname}}/{SERVER}"],
                "env": {name.upper(): f"${{user_config.{name}}}" for name in options},
            },
        },
        "user_config": options,
        "tools": [{"name": name, "description": TOOLS[name].description} for name in TOOLS],
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": LEAST_PYTHON},
        },
    }
