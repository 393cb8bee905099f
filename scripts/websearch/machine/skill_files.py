"""List the skill's files and find the folders for copies.

The files may come from a clone of the repository, an installed or unpacked copy, or any other copy.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent  # the folder with SKILL.md
NAME = "web-search"  # name of the skill and of its folder, which must match
AGENTS = ("Claude Code", "Codex, Gemini CLI, Cursor, opencode")  # agents that read target_folders
# The files for agents and users. A copy may lack the license.
FILES, FOLDERS = ("SKILL.md", "LICENSE"), ("scripts", "references", "assets")
PARTS = (
    *FILES,
    "scripts/**/*.py",
    "scripts/**/*.css",
    "scripts/**/*.js",
    "references/**/*",
    "assets/**/*",
)
DEVELOPERS_FILES = ("assets/evals",)
# Suffixes of the skill's files ("" is for LICENSE); files with other suffixes are omitted.
SUFFIXES = ("", ".css", ".js", ".md", ".py", ".yaml", ".yml", ".json", ".toml", ".ts")
EXECUTABLE, PLAIN = 0o755, 0o644  # everyone may read the skill; only its owner may change it


class InstallError(Exception):
    """Explains why nothing was changed; the message also says what to do."""


def skill_files() -> dict[str, bytes]:
    """Return path -> content for every file in the skill, in order.

    Raises InstallError if a file is missing or is a link.
    """
    names = []
    for pattern in PARTS:
        paths = [path for path in ROOT.glob(pattern) if is_part(path.relative_to(ROOT))]
        if not paths and pattern != "LICENSE":
            raise InstallError(
                f"{ROOT} contains no {pattern}. Run this in a complete copy of the skill."
            )
        if link := next(filter(Path.is_symlink, paths), None):
            raise InstallError(f"{link} is a link. Replace it with a file.")
        names += [path.relative_to(ROOT).as_posix() for path in paths if path.is_file()]
    return {name: (ROOT / name).read_bytes() for name in sorted(names)}


def is_part(path: Path) -> bool:
    """Return whether a path in a copy is the skill's; caches, secrets and hidden files are not."""
    if path.name == "secrets.yaml" or path.as_posix().startswith(DEVELOPERS_FILES):
        return False
    if path.parts[0] not in (FOLDERS if len(path.parts) > 1 else FILES):
        return False
    is_hidden = any(part.startswith((".", "__pycache__")) for part in path.parts)
    return path.suffix in SUFFIXES and not is_hidden


def kind_of_copy() -> str:
    """Return the kind of copy that this program runs in."""
    return "a clone of the repository" if (ROOT / ".git").exists() else "a copy"


def mode_of(name: str, data: bytes) -> int:
    """Return a file's permissions in a copy, independent of those in the repository."""
    return EXECUTABLE if name.startswith("scripts/") and data.startswith(b"#!") else PLAIN


def skill_version(skill: bytes) -> str:
    """Return the version from the text of SKILL.md."""
    match = re.search(rb'(?m)^  version: "(.*)"', skill)
    return match[1].decode() if match else "without a version"


def is_skill(folder: Path) -> bool:
    """Return whether a folder contains this skill, in any version."""
    try:
        text = (folder / "SKILL.md").read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return False
    head = text.partition("\n---")[0]  # without the text below the front matter
    return bool(re.search(rf"""(?m)^name:\s*["']?{NAME}["']?\s*$""", head))


def present_files(folder: Path) -> set[str]:
    """Return the paths of all files below a folder; any link counts as a file."""
    paths = set()
    for parent, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        paths |= {Path(parent, name).relative_to(folder).as_posix() for name in [*names, *links]}
    return paths


def replace_file(path: Path, data: bytes, mode: int = PLAIN) -> None:
    """Write a file atomically; the file replaces a link. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=path.parent) as folder:
        part = Path(folder, path.name)
        part.write_bytes(data)
        part.chmod(mode)
        part.replace(path)


# ===== where copies go ============================================================================


def user_path(text: str) -> Path:
    """Return a string as an absolute path; ~ is the home folder. Raises InstallError."""
    path = os.path.expanduser(text)
    if text.startswith("~") and (path.startswith("~") or os.environ.get("HOME") == ""):
        raise InstallError("There is no home folder. Set HOME, or pass a folder for --dir.")
    return Path(os.path.abspath(path))


def folder_at(text: str) -> Path:
    """Return a string as a folder's path; the folder may not exist. Raises InstallError."""
    folder = user_path(text)
    if not text.strip() or (folder.exists() and not folder.is_dir()):
        raise InstallError(f"{text!r} is not a folder. Pass another folder for --dir.")
    return folder


def target_folders(skills_folder: str | None) -> list[Path]:
    """Return the folders for the skill: in a skills folder, or by default in those of AGENTS.

    Claude Code keeps its skills in $CLAUDE_CONFIG_DIR if that is set. Raises InstallError.
    """
    if skills_folder is not None:
        folder = folder_at(skills_folder)
        return [folder if folder.name == NAME else folder / NAME]
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"
    return [user_path(folder) / "skills" / NAME for folder in (claude, "~/.agents")]


def opencode_folder(project: str | None) -> Path:
    """Return the folder from which opencode loads tools, for the user or a project.

    Raises InstallError.
    """
    if project is not None:
        folder = folder_at(project)
        if not folder.is_dir():
            raise InstallError(f"{project!r} is not a folder. Pass the project's folder for --dir.")
        return folder if folder.name == ".opencode" else folder / ".opencode"
    config = os.environ.get("XDG_CONFIG_HOME", "")
    of_user = f"{config if os.path.isabs(config) else '~/.config'}/opencode"
    return folder_at(os.environ.get("OPENCODE_CONFIG_DIR") or of_user)
