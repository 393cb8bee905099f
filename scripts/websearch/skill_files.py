"""The skill's files and folders: what belongs to it, where copies go, what a copy holds.

The files may come from a clone of the repository or from a copy that was installed or unpacked.
FILES.sha256 in a copy lists what is ours (`sha256sum -c` checks it). Any other file there is the
user's.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent  # the folder with SKILL.md
NAME = "web-search"  # of the skill, and of its folder, which must be the same
MANIFEST = "FILES.sha256"
# Where agents look for skills, below the home folder -> which agents.
SKILLS_FOLDERS = {
    ".claude/skills": "Claude Code",
    ".agents/skills": "Codex, Gemini CLI, Cursor, opencode",
}
# What an agent or a user needs; patterns of pathlib. Evaluations are for developers.
PARTS = ("SKILL.md", "LICENSE", "scripts/**/*.py", "references/**/*", "assets/**/*")
LEFT_OUT = ("assets/evals",)
# Endings of the skill's files ("" is for LICENSE); files with other endings are left out.
SUFFIXES = ("", ".md", ".py", ".yaml", ".yml", ".json", ".toml", ".ts")
EXECUTABLE, PLAIN = 0o755, 0o644  # everyone may read the skill, only its owner may change it


class InstallError(Exception):
    """Why something was left as it was; the message says what to do."""


def skill_files() -> dict[str, bytes]:
    """Return path -> content of every file of the skill, FILES.sha256 included, in order.

    Raises InstallError if a part is missing, is a link, or is not as it was installed.
    """
    names = part_names() if is_clone() else sorted(read_manifest(ROOT))
    missing, changed = damaged_files(ROOT)
    if missing or changed:
        damaged = ", ".join([*missing, *changed][:5])
        raise InstallError(f"{ROOT} is not as it was installed: {damaged}. Install it anew.")
    files = {name: (ROOT / name).read_bytes() for name in names}
    lines = [f"{sha256_of(data)}  {name}\n" for name, data in files.items()]
    return {**files, MANIFEST: "".join(lines).encode()}


def sha256_of(data: bytes) -> str:
    """Return the SHA-256 digest of data in hexadecimal digits."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def is_clone() -> bool:
    """Return whether this program runs in a clone: an installed copy has a list of its files."""
    return not (ROOT / MANIFEST).is_file()


def part_names() -> list[str]:
    """Return the paths of the skill's files in the repository, in order; raises InstallError."""
    names = []
    for pattern in PARTS:
        paths = [path for path in ROOT.glob(pattern) if is_part(path.relative_to(ROOT))]
        if not paths:
            raise InstallError(f"{ROOT} holds no {pattern}. Run this in the whole repository.")
        for path in paths:
            if path.is_symlink():
                raise InstallError(f"{path} is a link; the skill holds none. Put a file there.")
            if path.is_file():
                names.append(path.relative_to(ROOT).as_posix())
    return sorted(names)


def is_part(path: Path) -> bool:
    """Return whether a path below a part is the skill's: no cache, no secret, no editor's copy."""
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    private = path.name == "secrets.yaml" or path.suffix not in SUFFIXES
    evaluation = path.as_posix().startswith(LEFT_OUT)
    return not (hidden or private or evaluation)


def mode_of(name: str, data: bytes) -> int:
    """Return a file's permissions, which do not depend on those of the repository."""
    return EXECUTABLE if name.startswith("scripts/") and data.startswith(b"#!") else PLAIN


def skill_version(skill: bytes) -> str:
    """Return the version that the text of SKILL.md names."""
    match = re.search(rb'(?m)^  version: "(.*)"', skill)
    return match[1].decode() if match else "without a version"


def is_skill(folder: Path) -> bool:
    """Return whether a folder holds this skill, of any version."""
    try:
        text = (folder / "SKILL.md").read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return False
    head = text.partition("\n---")[0]  # without the text below
    return bool(re.search(rf"""(?m)^name:\s*["']?{NAME}["']?\s*$""", head))


def present_files(folder: Path) -> set[str]:
    """Return the paths of all files below a folder; a link is a file, wherever it leads."""
    paths = set()
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        for name in [*names, *links]:
            paths.add(Path(parent, name).relative_to(folder).as_posix())
    return paths


def is_cache(path: str) -> bool:
    """Return whether a file is Python's byte code of a script, which comes back by itself."""
    return bool(re.fullmatch(r"scripts/(.+/)?__pycache__/[^/]+\.pyc", path))


def read_manifest(folder: Path) -> dict[str, str]:
    """Return path -> SHA-256 of what FILES.sha256 lists; {} without a list."""
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {name: digest for digest, name in re.findall(r"(?m)^([0-9a-f]{64})  (.+)$", text)}


def damaged_files(folder: Path) -> tuple[list[str], list[str]]:
    """Return which listed files of a copy are missing, and which are not as they were installed.

    A path that leads out of the folder, or through a link, counts as missing.
    """
    listed, present = read_manifest(folder), present_files(folder)
    changed = [
        name
        for name, digest in listed.items()
        if name in present
        and ((folder / name).is_symlink() or sha256_of((folder / name).read_bytes()) != digest)
    ]
    return [name for name in listed if name not in present], changed


def replace_file(path: Path, data: bytes) -> None:
    """Write a file, whole or not at all; a link is replaced by the file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as folder:
        part = Path(folder, path.name)
        part.write_bytes(data)
        part.replace(path)
