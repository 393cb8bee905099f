"""Copy the opencode tool and plugin to where opencode loads them: `make install-opencode`.

usage: install_opencode.py [--dir PROJECT] [--uninstall]

Without --dir they go to the user's folder ($OPENCODE_CONFIG_DIR, else ~/.config/opencode), with it
to PROJECT/.opencode. Files are copied, never linked: opencode cannot load a linked tool, and then
no prompt works at all. The folders are called tool and plugin, which every version of opencode
knows. A file of somebody else is neither replaced nor removed.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCE = ROOT / "assets/opencode"
FOLDERS = ("tool", "plugin")
MARK = "// Part of the web-search skill"  # each of our files begins with it


class InstallError(Exception):
    """Why nothing was changed; the message says what to do."""


def config_folder(project: str | None) -> Path:
    """Return the folder that holds tool and plugin; raises InstallError."""
    if project is not None:
        folder = Path(project).expanduser().resolve()
        if not project.strip() or not folder.is_dir():
            raise InstallError(f"{project!r} is no folder. Name the project's folder with DIR=.")
        return folder if folder.name == ".opencode" else folder / ".opencode"
    if named := os.environ.get("OPENCODE_CONFIG_DIR"):
        return Path(named).expanduser().resolve()
    config = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(config) if os.path.isabs(config) else Path.home() / ".config") / "opencode"


def planned_files(target: Path) -> dict[Path, bytes]:
    """Return target path -> content of every file of the tool and the plugin."""
    sources = [path for name in FOLDERS for path in sorted((SOURCE / name).rglob("*.ts"))]
    return {target / path.relative_to(SOURCE): path.read_bytes() for path in sources}


def is_ours(path: Path) -> bool:
    """Return whether a file was put there by this program."""
    try:
        return path.read_bytes().startswith(MARK.encode())
    except OSError:  # a folder, or a link to nothing
        return False


def check_target(target: Path, files: dict[Path, bytes]) -> None:
    """Raise InstallError if a linked folder or a file of somebody else is in the way."""
    for folder in sorted({path.parent for path in files}):
        if folder.is_symlink():
            raise InstallError(
                f"{folder} is a link; opencode finds no packages through it. Make it a folder."
            )
        if folder.exists() and not folder.is_dir():
            raise InstallError(f"{folder} is no folder. Move it away.")
    for path in files:
        if path.exists() and not is_ours(path):
            raise InstallError(
                f"{path} belongs to somebody else. Rename it (opencode loads every file of "
                f"{path.parent.relative_to(target)}/), then try again."
            )


def install(target: Path) -> list[str]:
    """Copy the files and return what was done, a line each; raises InstallError or OSError."""
    files = planned_files(target)
    check_target(target, files)
    lines = []
    for path, content in files.items():
        if not path.is_symlink() and path.exists() and path.read_bytes() == content:
            lines.append(f"unchanged: {path}")
            continue
        lines.append(f"{'updated' if path.exists() else 'copied'}: {path}")
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        part.write_bytes(content)
        part.replace(path)  # whole or not at all; a link is replaced by the file
    return lines


def uninstall(target: Path) -> list[str]:
    """Remove what install copied and return what was done, a line each; raises OSError."""
    lines = []
    files = planned_files(target)
    for path in files:
        if path.is_symlink() or path.exists():
            if is_ours(path):
                path.unlink()
                lines.append(f"removed: {path}")
            else:
                lines.append(f"left, it belongs to somebody else: {path}")
    folders = {path.parent for path in files}
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return lines or [f"nothing to remove in {target}"]


def main(argv: list[str] | None = None) -> int:
    """Install or uninstall; the exit code is 2 if nothing could be done."""
    parser = argparse.ArgumentParser(description="Copy the opencode tool and plugin.")
    parser.add_argument("--dir", metavar="PROJECT", help="a project, instead of the user's folder")
    parser.add_argument("--uninstall", action="store_true", help="remove what was copied")
    arguments = parser.parse_args(argv)
    try:
        target = config_folder(arguments.dir)
        lines = uninstall(target) if arguments.uninstall else install(target)
    except (InstallError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    if not arguments.uninstall:
        print(
            "The tool looks for the scripts in the folders where opencode finds skills. To use "
            f"those of this folder:\n  export WEB_SEARCH_SKILL_DIR='{ROOT}'\n"
            "Start opencode anew; it loads tools when it starts."
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
