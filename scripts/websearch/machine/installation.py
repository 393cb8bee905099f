"""Install and remove the skill, the opencode tool and plugin, and the command web-search.

A new copy is built next to the old one, including the user's own files, and replaces it by
renaming. Foreign folders, links and clones are never touched. Files in a copy's scripts/,
references/ and assets/ count as the skill's, any other as the user's.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import sys
from pathlib import Path

from websearch.kit import VERSION, nearest, quoted
from websearch.machine.skill_files import (
    EXECUTABLE,
    NAME,
    PLAIN,
    ROOT,
    InstallError,
    is_part,
    is_skill,
    mode_of,
    opencode_folder,
    present_files,
    replace_file,
    skill_files,
    skill_version,
    target_folders,
    user_path,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

COMMANDS = {
    "install": "copy the skill into the skills folders",
    "uninstall": "remove the skill",
    "package": "write dist/: the skill and a bundle for Claude Desktop",
    "opencode": "copy the opencode tool and plugin",
}
# Files that only a clone contains. Git updates clones; this program does not.
CLONE_FILES = (".git", "Makefile", "tests")
OPENCODE_FOLDERS = ("tool", "plugin")  # names known to every version of opencode
WORK = f".{NAME}-installing"  # the folder next to a copy in which an update is built
MARK = b"Part of the web-search skill"  # near the start of each file installed outside the skill

# ===== installing and removing ====================================================================


def check_target(target: Path) -> None:
    """Raise InstallError unless the target is free or a copy that may be replaced or removed."""
    real = Path(os.path.realpath(target))
    found = next((name for name in CLONE_FILES if os.path.lexists(target / name)), "")
    if target.is_symlink():
        raise InstallError(f"{target} is a link to {real}. Remove the link, then try again.")
    if ROOT in real.parents:
        raise InstallError(f"{target} is in the skill's own folder. Pass another folder for --dir.")
    if target.exists() and not target.is_dir():
        raise InstallError(f"{target} is not a folder. Move it elsewhere.")
    if target.exists() and not is_skill(target) and any(target.iterdir()):
        raise InstallError(
            f"{target} does not contain this skill. Move it elsewhere, then try again."
        )
    if found:
        raise InstallError(
            f"{target} is a clone of the repository (it contains {found}). Update it with git. Or "
            "move it away, then try again."
        )


def own_files(folder: Path) -> set[str]:
    """Return the skill's files in a copy of any version, with their bytecode; links also count."""
    present = present_files(folder)
    return {name for name in present if is_part(Path(name)) or "/__pycache__/" in name}


def install(target: Path) -> list[str]:
    """Install or update a copy; return the report. Raises InstallError and OSError."""
    files = skill_files()
    clear_work(target)
    check_target(target)
    about = f"{target} ({len(files)} files, version {skill_version(files['SKILL.md'])})"
    own = own_files(target)
    if set(files) <= own and all(is_current(target / name, name, files[name]) for name in files):
        return [f"unchanged: {about}"]
    work = target.with_name(WORK)
    new, old = work / "new", work / "old"
    work.mkdir(parents=True)
    try:
        if target.exists():
            shutil.copytree(target, new, symlinks=True)
            remove_files(new, own)
        write_copy(new, files)
        if target.exists():
            target.rename(old)
        new.rename(target)
    finally:  # also after Ctrl-C
        clear_work(target)
    return [f"{'replaced' if own else 'installed'}: {about}"]


def clear_work(target: Path) -> None:
    """Remove the folder of an interrupted update, and restore the copy if it was moved there."""
    work = target.with_name(WORK)
    if (work / "old").exists() and not target.exists():
        (work / "old").rename(target)
    if work.is_dir() and not work.is_symlink():
        shutil.rmtree(work)


def is_current(path: Path, name: str, data: bytes) -> bool:
    """Return whether a file in a copy has this content and the correct permissions."""
    is_mode = os.name != "posix" or path.stat().st_mode & 0o777 == mode_of(name, data)
    return not path.is_symlink() and path.read_bytes() == data and is_mode


def write_copy(folder: Path, files: dict[str, bytes]) -> None:
    """Write the skill's files into a folder, with permissions independent of the umask.

    Raises InstallError if there is a link where a folder should be.
    """
    parents = {folder / parent for name in files for parent in Path(name).parents}
    for parent in sorted(parents):
        if parent.is_symlink():
            raise InstallError(f"{parent.name} is in the way. Move it elsewhere, then try again.")
        parent.mkdir(parents=True, exist_ok=True)
        parent.chmod(EXECUTABLE)
    for name, data in files.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(mode_of(name, data))


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files from a folder, and any folders that become empty. Raises OSError."""
    parents = {parent for name in names for parent in Path(name).parents}
    for name in names:
        (folder / name).unlink()
    for parent in sorted(parents, key=lambda path: len(path.parts), reverse=True):
        with contextlib.suppress(OSError):  # not empty
            (folder / parent).rmdir()


def uninstall(target: Path) -> list[str]:
    """Remove the skill's files; return the report. Raises InstallError and OSError."""
    clear_work(target)
    if not os.path.lexists(target):
        return [f"nothing to remove: {target} does not exist"]
    check_target(target)
    own = own_files(target)
    remove_files(target, own)
    kept = ", your other files are kept" if target.exists() else ""
    return [f"removed: {target} ({len(own)} files{kept})"]


# ===== files outside the skill: the opencode tool and plugin, the command web-search ==============


def is_ours(path: Path) -> bool:
    """Return whether this program wrote a file: MARK is near its start."""
    try:
        return MARK in path.read_bytes()[:200]
    except OSError:  # a folder, or a broken link
        return False


def write_marked(files: dict[Path, bytes], mode: int) -> list[str]:
    """Write files that contain MARK; return the report. Raises InstallError and OSError.

    Files are copied, never linked, because a linked tool breaks every prompt in opencode.
    """
    for path in files:
        if path.exists() and not is_ours(path):
            raise InstallError(
                f"{path} is not from this program. Move it elsewhere, then try again."
            )
    lines = []
    for path, data in files.items():
        is_same = path.is_file() and not path.is_symlink() and path.read_bytes() == data
        if not is_same:
            replace_file(path, data, mode)
        lines.append(f"{'unchanged' if is_same else 'written'}: {path}")
    return lines


def remove_marked(paths: Iterable[Path]) -> list[str]:
    """Remove those files that contain MARK; return the report. Raises OSError."""
    lines = []
    for path in filter(os.path.lexists, paths):
        if is_ours(path):
            path.unlink()
        verb = "kept, not from this program" if os.path.lexists(path) else "removed"
        lines.append(f"{verb}: {path}")
    return lines


def opencode_files(target: Path) -> dict[Path, bytes]:
    """Return target path -> content for every file in the tool and the plugin.

    Raises InstallError.
    """
    source = ROOT / "assets/opencode"
    paths = [path for name in OPENCODE_FOLDERS for path in sorted((source / name).rglob("*.ts"))]
    if not paths:
        raise InstallError(f"{source} contains no tool. Run this in a complete copy of the skill.")
    return {target / path.relative_to(source): path.read_bytes() for path in paths}


def install_opencode(target: Path) -> list[str]:
    """Copy the tool and the plugin; return the report. Raises InstallError and OSError."""
    files = opencode_files(target)
    if link := next((path.parent for path in files if path.parent.is_symlink()), None):
        message = f"{link} is a link, through which opencode finds no packages. Make it a folder."
        raise InstallError(message)
    where = (
        "The tool looks for the scripts in the skills folders of opencode. To use the scripts of "
    )
    where += f"this folder:\n  export WEB_SEARCH_SKILL_DIR='{ROOT}'"
    return [*write_marked(files, PLAIN), where, "Restart opencode; it loads tools when it starts."]


def uninstall_opencode(target: Path) -> list[str]:
    """Remove the tool and the plugin; return the report. Raises InstallError and OSError."""
    lines = remove_marked(opencode_files(target))
    for name in ("tool/shared", "tool", "plugin"):
        with contextlib.suppress(OSError):  # not empty, or missing
            (target / name).rmdir()
    return lines or [f"nothing to remove in {target}"]


def command_path() -> Path:
    """Return the path of the command, in ~/.local/bin, which uv and pip also use.

    Raises InstallError.
    """
    return user_path("~/.local/bin") / (f"{NAME}.cmd" if os.name == "nt" else NAME)


def command_text(skill: Path) -> bytes:
    """Return the text of the launcher, which starts web_search.py in a copy of the skill."""
    script = str(skill / "scripts/web_search.py")
    mark = f"{MARK.decode()}: install.py uninstall removes it."
    if os.name == "nt":
        start = f'@set WEB_SEARCH_PROGRAM={NAME}\n@uv run --quiet --script "{script}" %*\n'
        return f"@rem {mark}\n{start}".encode()
    quoted = shlex.quote(script)
    return (
        f"#!/bin/sh\n# {mark}\nexport WEB_SEARCH_PROGRAM={NAME}\n"
        f'if command -v uv >/dev/null 2>&1; then exec uv run --quiet --script {quoted} "$@"; fi\n'
        f'exec python3 {quoted} "$@"\n'
    ).encode()


def install_command(skill: Path) -> list[str]:
    """Write the command; return the report. Raises InstallError and OSError."""
    path = command_path()
    lines = write_marked({path: command_text(skill)}, EXECUTABLE)
    if str(path.parent) not in os.environ.get("PATH", "").split(os.pathsep):
        lines.append(f"  {path.parent} is not in PATH; add it, or type the whole path.")
    return lines


# ===== command line ===============================================================================


def run_for_each(work: Callable[[Path], list[str]], targets: list[Path]) -> int:
    """Run work on each target and print its report; return the exit code, 2 after any failure."""
    code = 0
    for target in targets:
        end = os.path.realpath(target)
        others = [os.path.realpath(other) for other in targets if other != target]
        if target.is_symlink() and end in (str(ROOT), *others):
            print(f"kept: {target} is a link to {end}")
        elif end == str(ROOT) and work is install:
            print(f"kept: this program runs in {target}")
        else:
            try:
                print("\n".join(work(target)))
            except (InstallError, OSError) as error:
                advice = (
                    "" if isinstance(error, InstallError) else ". Pass another folder for --dir."
                )
                print(f"error: {error}{advice}", file=sys.stderr)
                code = 2
    return code


def argument_parser(description: str) -> argparse.ArgumentParser:
    """Return the command-line parser."""
    import argparse

    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("install.py", description=description, formatter_class=form)
    parser.add_argument("--version", action="version", version=f"%(prog)s {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    parsers = {name: commands.add_parser(name, help=text) for name, text in COMMANDS.items()}
    for name in ("install", "uninstall"):
        parsers[name].add_argument("--dir", help="skills folder to use instead of both")
    command_help = f"also write the command {NAME} to ~/.local/bin"
    parsers["install"].add_argument("--command", dest="with_command", action="store_true",
                                    help=command_help)  # fmt: skip
    opencode = parsers["opencode"]
    opencode.add_argument("--dir", help="project folder to use instead of the user's folder")
    opencode.add_argument("--uninstall", action="store_true", help="remove the tool and the plugin")
    return parser


def run_command(arguments: argparse.Namespace) -> int:
    """Run a command and print its report; return the exit code. Raises InstallError, OSError."""
    if arguments.command == "package":
        from websearch.machine.packing import package

        print("\n".join(package()))
        return 0
    if arguments.command == "opencode":
        work = uninstall_opencode if arguments.uninstall else install_opencode
        print("\n".join(work(opencode_folder(arguments.dir))))
        return 0
    targets = target_folders(arguments.dir)
    if arguments.command == "uninstall":
        if not arguments.dir and is_ours(command_path()):
            print("\n".join(remove_marked([command_path()])))
        return run_for_each(uninstall, targets)
    code = run_for_each(install, targets)
    if code == 0 and arguments.with_command:
        print("\n".join(install_command(targets[0].absolute())))
    if code == 0:
        print(f"Restart the agent. To check: uv run '{targets[0]}/scripts/doctor.py'")
        if not arguments.with_command and sys.stdout.isatty():  # only a person types commands
            print("For the command web-search in your terminal, run install --command.")
    return code


def main(description: str, argv: list[str] | None) -> int:
    """Run a command; return the exit code, 2 after any failure.

    description: the help text. argv: the words after the program's name (default: sys.argv's).
    """
    given, parser = sys.argv[1:] if argv is None else argv, argument_parser(description)
    known = (*COMMANDS, "-h", "--help", "--version")
    hint = nearest(given[0], known, "word") if given else ""
    if hint and given[0] not in known:
        parser.error(f"{quoted(given[0])} is not a command. {hint}")
    arguments = parser.parse_args(given)
    if isinstance(sys.stdout, io.TextIOWrapper):  # pipes on Windows cannot encode many characters
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return run_command(arguments)
    except (InstallError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
