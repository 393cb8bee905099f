"""Installing and removing the skill, and its tool for opencode.

A copy is replaced as a whole or not at all, files of an older version are removed, and a second run
changes nothing. The user's files in the copy are kept. A folder that does not hold this skill, a
link, and a clone of the repository are never touched.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import time

from websearch.common import VERSION
from websearch.skill_files import (
    EXECUTABLE,
    MANIFEST,
    NAME,
    ROOT,
    InstallError,
    check_target,
    damaged_files,
    is_cache,
    is_clone,
    is_skill,
    is_up_to_date,
    mode_of,
    opencode_folder,
    own_files,
    present_files,
    replace_file,
    skill_files,
    target_folders,
    version,
)

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

LOCK_SECONDS = 60.0  # wait for another installation into the same folder; one takes under a second
OPENCODE_FOLDERS = ("tool", "plugin")  # names that every version of opencode knows
OPENCODE_MARK = b"// Part of the web-search skill"  # each of our files for opencode begins with it

# ===== installing and removing ====================================================================


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one installation at a time change a folder; raises InstallError, OSError."""
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            lock = take_lock(folder)
            break
        except (BlockingIOError, FileExistsError):
            if time.monotonic() > deadline:
                message = f"Another installation has been busy with {folder} for a minute."
                raise InstallError(f"{message} End it, then try again.") from None
        time.sleep(0.02)
    try:
        yield
    finally:
        os.close(lock)


def take_lock(folder: Path) -> int:
    """Return a file descriptor that holds a folder's lock until it is closed or the process ends.

    Raises BlockingIOError or FileExistsError while another process holds it.
    """
    if sys.platform == "win32":  # there a file that goes away when it is closed
        return os.open(folder / f".{NAME}.lock", os.O_CREAT | os.O_EXCL | os.O_TEMPORARY)
    import fcntl

    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise
    except OSError:  # NFS locks no folder: install without a lock there
        pass
    return lock


def install(target: Path) -> list[str]:
    """Bring a copy up to date and return what was done, a line each; raises InstallError, OSError.

    The new copy is built beside the old one and takes its place by renaming.
    """
    files = skill_files()
    if not target.parent.is_dir():
        check_target(target)  # so that nothing is made for a target that is refused
        target.parent.mkdir(parents=True, exist_ok=True)
    with locked(target.parent):
        recover(target)
        check_target(target)
        return replace_copy(target, files)


def replace_copy(target: Path, files: dict[str, bytes]) -> list[str]:
    """Replace a copy unless it is up to date, and keep the user's files in it; return the lines."""
    import shutil

    said = f"{target} ({len(files)} files, version {version(files)})"
    if target.exists() and is_up_to_date(target, files):
        return [f"unchanged: {said}"]
    update = target.exists() and is_skill(target)
    foreign = foreign_files(target, files) if update else []
    changed = damaged_files(target)[1] if update else []
    removed = sorted(own_files(target) - set(files)) if update else []
    new, old = copy_names(target)
    try:
        write_copy(new, files)
        for name in foreign:
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(target / name, new / name, follow_symlinks=False)
        swap(target, new, old)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    lines = [f"{'updated' if update else 'installed'}: {said}"]
    lines += [f"  removed, no longer part of the skill: {name}" for name in removed]
    lines += [f"  replaced, although it had been changed: {name}" for name in changed]
    return lines + [f"  kept, not part of the skill: {name}" for name in foreign]


def copy_names(target: Path) -> tuple[Path, Path]:
    """Return where the new copy is built and where the old one waits while they change places."""
    return target.with_name(f".{NAME}.new"), target.with_name(f".{NAME}.old")


def recover(target: Path) -> None:
    """Clean up what a killed run has left beside the target; the caller holds the lock."""
    import shutil

    new, old = copy_names(target)
    if is_skill(old) and not old.is_symlink():
        if os.path.lexists(target):
            shutil.rmtree(old)
        else:
            old.rename(target)
    if new.is_dir() and not new.is_symlink():
        shutil.rmtree(new)


def foreign_files(target: Path, files: dict[str, bytes]) -> list[str]:
    """Return the user's files in a copy; raises InstallError if one is in the way of ours."""
    present = present_files(target)
    foreign = sorted(name for name in present - own_files(target) if not is_cache(name))
    for name in foreign:
        blocked = name in files or any(
            file.startswith(f"{name}/") or name.startswith(f"{file}/") for file in files
        )
        if blocked:
            raise InstallError(f"{target / name} is in the way. Move it away, then try again.")
    return foreign


def write_copy(folder: Path, files: dict[str, bytes]) -> None:
    """Write the skill's files into a new folder, with the same permissions under every umask."""
    folder.mkdir()
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(mode_of(name, data))
    for place in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        place.chmod(EXECUTABLE)


def swap(target: Path, new: Path, old: Path) -> None:
    """Put new in the target's place; if that fails, the target is as it was. Raises OSError."""
    if not target.exists():
        new.rename(target)
        return
    target.rename(old)
    try:
        new.rename(target)
    except BaseException:  # Ctrl-C, too
        old.rename(target)
        raise


def uninstall(target: Path) -> list[str]:
    """Remove our files and return what was done, a line each; raises InstallError, OSError."""
    if not target.parent.is_dir():
        return [f"nothing to remove: {target} is not there"]
    with locked(target.parent):
        recover(target)
        if not os.path.lexists(target):
            return [f"nothing to remove: {target} is not there"]
        check_target(target)
        if not is_skill(target):
            return [f"nothing to remove: {target} is empty"]
        return remove_copy(target)


def remove_copy(target: Path) -> list[str]:
    """Remove our files from a copy, and its folder if nothing else is in it; return the lines."""
    own = own_files(target)
    caches = {name for name in present_files(target) if is_cache(name)}
    # SKILL.md goes last: as long as it is there, a run that was cut off can be repeated.
    for name in sorted(own | caches, key=lambda name: (name == "SKILL.md", name == MANIFEST)):
        (target / name).unlink()
    for place, _, _ in os.walk(target, topdown=False):
        with contextlib.suppress(OSError):  # something is in it
            os.rmdir(place)
    if not target.exists():
        return [f"removed: {target} ({len(own)} files)"]
    kept = sorted(present_files(target))
    lines = [f"removed: {len(own)} files of {target}"]
    return lines + [f"  kept, not part of the skill: {name}" for name in kept]


# ===== the opencode tool and plugin ===============================================================


def opencode_files(target: Path) -> dict[Path, bytes]:
    """Return target path -> content of every file of the tool and the plugin.

    Raises InstallError.
    """
    source = ROOT / "assets/opencode"
    paths = [path for name in OPENCODE_FOLDERS for path in sorted((source / name).rglob("*.ts"))]
    if not paths:
        raise InstallError(f"{source} holds no tool. Run this in a whole copy of the skill.")
    return {target / path.relative_to(source): path.read_bytes() for path in paths}


def is_opencode_file(path: Path) -> bool:
    """Return whether a file was put there by this program."""
    try:
        return path.read_bytes().startswith(OPENCODE_MARK)
    except OSError:  # a folder, or a link to nothing
        return False


def check_opencode_folder(target: Path, files: Iterable[Path]) -> None:
    """Raise InstallError if a linked folder or a file of somebody else is in the way."""
    for folder in sorted({path.parent for path in files}):
        if folder.is_symlink():
            raise InstallError(
                f"{folder} is a link; opencode finds no packages through it. Make it a folder."
            )
        if folder.exists() and not folder.is_dir():
            raise InstallError(f"{folder} is no folder. Move it away.")
    for path in files:
        if path.exists() and not is_opencode_file(path):
            raise InstallError(
                f"{path} belongs to somebody else. Rename it (opencode loads every file of "
                f"{path.parent.relative_to(target)}/), then try again."
            )


def install_opencode(target: Path) -> list[str]:
    """Copy the tool and the plugin and return the lines; raises InstallError or OSError.

    Files are copied, never linked: opencode cannot load a linked tool, and then no prompt works.
    """
    files = opencode_files(target)
    check_opencode_folder(target, files)
    lines = []
    for path, content in files.items():
        if not path.is_symlink() and path.exists() and path.read_bytes() == content:
            lines.append(f"unchanged: {path}")
            continue
        lines.append(f"{'updated' if path.exists() else 'copied'}: {path}")
        replace_file(path, content)
    lines.append(
        "The tool looks for the scripts in the folders where opencode finds skills. To use those "
        f"of this folder:\n  export WEB_SEARCH_SKILL_DIR='{ROOT}'"
    )
    return [*lines, "Start opencode anew; it loads tools when it starts."]


def uninstall_opencode(target: Path) -> list[str]:
    """Remove what install_opencode copied and return the lines; raises InstallError or OSError."""
    lines = []
    files = opencode_files(target)
    for path in files:
        if is_opencode_file(path):
            path.unlink()
            lines.append(f"removed: {path}")
        elif os.path.lexists(path):
            lines.append(f"left, it belongs to somebody else: {path}")
    folders = {path.parent for path in files}
    for folder in sorted(folders, key=lambda path: len(path.parts), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()
    return lines or [f"nothing to remove in {target}"]


# ===== command line ===============================================================================


def run_for_each(work: Callable[[Path], list[str]], targets: list[Path]) -> int:
    """Run work on each target and print its lines; return the exit code, 2 if one failed."""
    code = 0
    for target in targets:
        place = os.path.realpath(target)
        others = [os.path.realpath(other) for other in targets if other != target]
        is_own = place == str(ROOT) and (target.is_symlink() or is_clone() or work is install)
        if is_own or (target.is_symlink() and place in others):
            what = f"a link to {place}" if target.is_symlink() else "where this program runs"
            print(f"left: {target} is {what}")
            continue
        try:
            print("\n".join(work(target)))
        except (InstallError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            code = 2
    return code


def run_install(arguments: argparse.Namespace) -> int:
    """Install the skill; return the exit code. Raises InstallError, OSError."""
    targets = target_folders(arguments.dir)
    code = run_for_each(install, targets)
    if code == 0:
        print(f"Start the agent anew. To check: uv run '{targets[0]}/scripts/doctor.py'")
    return code


def run_uninstall(arguments: argparse.Namespace) -> int:
    """Remove the skill; return the exit code. Raises InstallError, OSError."""
    return run_for_each(uninstall, target_folders(arguments.dir))


def run_package(_: argparse.Namespace) -> int:
    """Pack the skill; return the exit code. Raises InstallError, OSError."""
    from websearch.packing import package

    print("\n".join(package()))
    return 0


def run_opencode(arguments: argparse.Namespace) -> int:
    """Copy or remove the opencode tool; return the exit code. Raises InstallError, OSError."""
    target = opencode_folder(arguments.dir)
    work = uninstall_opencode if arguments.uninstall else install_opencode
    print("\n".join(work(target)))
    return 0


def argument_parser(description: str) -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="install.py",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {VERSION}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    skills_folder = "skills folder to use instead of both"
    for name, run, help_text, folder in (
        ("install", run_install, "copy the skill into the skills folders", skills_folder),
        ("uninstall", run_uninstall, "remove it again", skills_folder),
        ("package", run_package, "write dist/: the skill, a bundle for Claude Desktop", ""),
        ("opencode", run_opencode, "copy the opencode tool and plugin",
         "a project, instead of the user's folder"),
    ):  # fmt: skip
        command = commands.add_parser(name, help=help_text, description=help_text)
        command.set_defaults(run=run)
        if folder:
            command.add_argument("--dir", metavar="FOLDER", help=folder)
        if name == "opencode":
            command.add_argument("--uninstall", action="store_true", help="remove them again")
    return parser


def main(description: str, argv: list[str] | None) -> int:
    """Run a command; return 2 if something could not be done.

    description: the help text. argv: the words after the program's name, None for sys.argv's.
    """
    arguments = argument_parser(description).parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):  # pipes of Windows know few letters of a path
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return int(arguments.run(arguments))
    except (InstallError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
