"""Install the skill for agents, remove it, or pack it: `make install`, `uninstall`, `package`.

usage: install.py install|uninstall [--dir FOLDER]
       install.py package

install copies what an agent needs to web-search/ in ~/.claude/skills and ~/.agents/skills, or in
the skills folder that --dir names. A copy is replaced as a whole or not at all, files of an older
version go away, and a second run changes nothing. FILES.sha256 in the copy lists what is ours
(`sha256sum -c` checks it); any other file in that folder is the user's: it is kept, and it stays
when uninstall removes ours. A folder that does not hold this skill, a link, and a clone of the
repository are never touched.

package writes the same files to dist/web-search.skill, a zip file that is the same byte for byte
wherever and whenever it is made.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import os
import re
import shutil
import sys
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "web-search"  # of the skill, and of its folder, which must be the same
MANIFEST = "FILES.sha256"
SKILLS_FOLDERS = (".claude/skills", ".agents/skills")  # below the home folder
# What an agent or a user needs; patterns of pathlib. Evaluations are for developers.
PARTS = ("SKILL.md", "LICENSE", "scripts/**/*.py", "references/**/*", "assets/**/*")
LEFT_OUT = ("assets/evals",)
# Of the kinds of files that the skill has ("" is LICENSE's): what else lies there is no part of it.
SUFFIXES = ("", ".md", ".py", ".yaml", ".yml", ".json", ".toml", ".ts")
# Files of a clone, which git and not this program keeps.
CLONE_MARKS = (".git", "Makefile", "tests")
FIRST_DATE = 315_532_800  # 1980-01-01, the earliest that a zip file can hold; it counts by 2 s
DATE_RANGE = 40 * 365 * 86_400  # seconds; ends in 2019, so that no file is from the future
EXECUTABLE, PLAIN = 0o755, 0o644  # everyone may read the skill, only its owner may change it


class InstallError(Exception):
    """Why a folder was left as it was; the message says what to do."""


# ===== what the skill consists of =================================================================


def skill_files() -> dict[str, bytes]:
    """Return path -> content of every file of the skill, FILES.sha256 included, in order.

    Raises InstallError where the repository lacks a part or holds a link.
    """
    files = {}
    for pattern in PARTS:
        found = [path for path in ROOT.glob(pattern) if belongs(path.relative_to(ROOT))]
        if not found:
            raise InstallError(f"{ROOT} holds no {pattern}. Run this in the whole repository.")
        for path in found:
            if path.is_symlink():
                raise InstallError(f"{path} is a link; the skill holds none. Put a file there.")
            if path.is_file():
                files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    files = dict(sorted(files.items()))
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in files.items()]
    return {**files, MANIFEST: "".join(lines).encode()}


def belongs(path: Path) -> bool:
    """Return whether a path below a part is the skill's: no cache, no secret, no editor's copy."""
    hidden = any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    private = path.name == "secrets.yaml" or path.suffix not in SUFFIXES
    evaluation = path.as_posix().startswith(LEFT_OUT)
    return not (hidden or private or evaluation)


def mode_of(name: str, data: bytes) -> int:
    """Return a file's permissions, which do not depend on those of the repository."""
    return EXECUTABLE if name.startswith("scripts/") and data.startswith(b"#!") else PLAIN


def version(files: dict[str, bytes]) -> str:
    """Return the version that SKILL.md names."""
    found = re.search(r'(?m)^  version: "(.*)"', files["SKILL.md"].decode("utf-8"))
    return found[1] if found else "without a version"


# ===== where it goes ==============================================================================


def target_folders(skills_folder: str | None) -> list[Path]:
    """Return the folders that are the skill's; raises InstallError."""
    if skills_folder is None:
        home = Path("~").expanduser()
        if not home.is_absolute():
            raise InstallError("There is no home folder. Name a skills folder with DIR=.")
        return [home / folder / NAME for folder in SKILLS_FOLDERS]
    folder = Path(os.path.abspath(Path(skills_folder).expanduser()))
    if not skills_folder.strip() or (folder.exists() and not folder.is_dir()):
        raise InstallError(f"{skills_folder!r} is no folder. Name a skills folder with DIR=.")
    return [folder if folder.name == NAME else folder / NAME]


def check_target(target: Path) -> None:
    """Raise InstallError unless the target is free or a copy that may be replaced or removed."""
    if target.is_symlink():
        place = os.path.realpath(target)
        raise InstallError(f"{target} is a link to {place}. Remove the link, then try again.")
    real = Path(os.path.realpath(target))
    if real == ROOT or ROOT in real.parents:
        raise InstallError(f"{target} is in the repository itself. Name another folder with DIR=.")
    if not target.exists():
        return
    if not target.is_dir():
        raise InstallError(f"{target} is no folder. Move it away.")
    if not is_skill(target):
        if any(target.iterdir()):
            raise InstallError(f"{target} does not hold this skill. Move it away, then try again.")
        return
    for mark in CLONE_MARKS:
        if os.path.lexists(target / mark):
            raise InstallError(
                f"{target} is a clone of the repository (it holds {mark}). Update it with git, or "
                "move it away, then try again."
            )


def is_skill(folder: Path) -> bool:
    """Return whether a folder holds this skill, whatever its version."""
    try:
        text = (folder / "SKILL.md").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    head = text.removeprefix("\ufeff").partition("\n---")[0]  # without the text below
    return bool(re.search(rf"""(?m)^name:\s*["']?{NAME}["']?\s*$""", head))


# ===== what is there ==============================================================================


def present_files(folder: Path) -> set[str]:
    """Return the paths of all files below a folder; a link is a file, wherever it leads."""
    found = set()
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in [*names, *links]:
            found.add(Path(place, name).relative_to(folder).as_posix())
    return found


def is_cache(path: str) -> bool:
    """Return whether a file is Python's byte code of a script, which comes back by itself."""
    return bool(re.fullmatch(r"scripts/(.+/)?__pycache__/[^/]+\.pyc", path))


def listed_files(folder: Path) -> dict[str, str]:
    """Return path -> SHA-256 of what FILES.sha256 lists and the folder holds; {} without a list.

    A path that leads out of the folder, or through a link, is never among those that it holds.
    """
    try:
        text = (folder / MANIFEST).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    present = present_files(folder)
    lines = re.findall(r"(?m)^([0-9a-f]{64})  (.+)$", text)
    return {name: digest for digest, name in lines if name in present}


def own_files(folder: Path) -> set[str]:
    """Return which files below a folder are ours: the listed ones and FILES.sha256.

    A copy without that list was made by other means (unpacked, copied): there it is what lies where
    our files lie.
    """
    listed = listed_files(folder)
    if listed:
        return {*listed, MANIFEST}
    ours = rf"SKILL\.md|LICENSE|{MANIFEST}|scripts/.+\.py|references/.+\.md|assets/.+"
    return {
        name
        for name in present_files(folder)
        if re.fullmatch(ours, name)
        and (name == MANIFEST or belongs(Path(name)))
        and not (folder / name).is_symlink()
    }


def changed_by_user(folder: Path) -> list[str]:
    """Return which listed files no longer are as they were installed."""
    return [
        name
        for name, digest in listed_files(folder).items()
        if (folder / name).is_symlink()
        or hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]


def is_up_to_date(target: Path, files: dict[str, bytes]) -> bool:
    """Return whether a copy holds exactly these files of ours, with their permissions."""
    if own_files(target) != set(files):
        return False
    for name, data in files.items():
        path = target / name
        if path.is_symlink() or path.read_bytes() != data:
            return False
        if os.name == "posix" and path.stat().st_mode & 0o777 != mode_of(name, data):
            return False
    return True


# ===== installing and removing ====================================================================


def install(target: Path) -> list[str]:
    """Bring a copy up to date and return what was done, a line each; raises InstallError, OSError.

    The new copy is built beside the old one and takes its place by renaming.
    """
    files = skill_files()
    check_target(target)
    recover(target)
    check_target(target)  # recover may have put the old copy back
    if target.exists() and is_up_to_date(target, files):
        return [f"unchanged: {target} ({len(files)} files, version {version(files)})"]
    update = target.exists() and is_skill(target)
    foreign = foreign_files(target, files) if update else []
    changed = changed_by_user(target) if update else []
    removed = sorted(own_files(target) - set(files)) if update else []
    new, old = (target.with_name(f".{NAME}.{state}") for state in ("new", "old"))
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_copy(new, files)
        for name in foreign:
            copy_foreign(target / name, new / name)
        swap(target, new, old)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    word = "updated" if update else "installed"
    lines = [f"{word}: {target} ({len(files)} files, version {version(files)})"]
    lines += [f"  removed, no longer part of the skill: {name}" for name in removed]
    lines += [f"  replaced, although it had been changed: {name}" for name in changed]
    return lines + [f"  kept, not part of the skill: {name}" for name in foreign]


def recover(target: Path) -> None:
    """Put right what a run that was killed has left beside the target, under our two names."""
    new, old = (target.with_name(f".{NAME}.{state}") for state in ("new", "old"))
    if is_skill(old) and not old.is_symlink():
        if os.path.lexists(target):
            shutil.rmtree(old)
        else:
            old.rename(target)
    if new.is_dir() and not new.is_symlink():
        shutil.rmtree(new)


def foreign_files(target: Path, files: dict[str, bytes]) -> list[str]:
    """Return the user's files in a copy; raises InstallError where one is in the way of ours."""
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


def copy_foreign(source: Path, path: Path) -> None:
    """Copy a file of the user's into the new copy; a link stays a link."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, path, follow_symlinks=False)


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
    if not os.path.lexists(target):
        recover(target)
    if not os.path.lexists(target):
        return [f"nothing to remove: {target} is not there"]
    check_target(target)
    if not is_skill(target):
        return [f"nothing to remove: {target} is empty"]
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


# ===== packing ====================================================================================


def date_of(data: bytes) -> tuple[int, int, int, int, int, int]:
    """Return the date of a file in the zip file, made from nothing but its content.

    One date for all would be enough to have the same bytes each time; but Python takes a script of
    the same size and date for the one that its byte code was made from, so a newer version that is
    unpacked over an older one would not be seen.
    """
    seconds = int.from_bytes(hashlib.sha256(data).digest()[:4], "big") % DATE_RANGE
    year, month, day, hour, minute, second = time.gmtime(FIRST_DATE + seconds // 2 * 2)[:6]
    return year, month, day, hour, minute, second


def archive(files: dict[str, bytes]) -> bytes:
    """Return the zip file with the skill's folder at its top.

    Nothing is compressed: zlib's output differs between its versions, and the skill is small.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as packed:
        for name, data in files.items():
            entry = zipfile.ZipInfo(f"{NAME}/{name}", date_of(data))
            entry.create_system = 3  # Unix, whose permissions follow
            entry.external_attr = (0o100000 | mode_of(name, data)) << 16
            packed.writestr(entry, data)
    return buffer.getvalue()


def package() -> list[str]:
    """Write dist/web-search.skill and return what was done; raises InstallError or OSError."""
    files = skill_files()
    data = archive(files)
    path = ROOT / "dist" / f"{NAME}.skill"
    said = f"{path} ({len(files)} files, {len(data)} bytes, version {version(files)})"
    digest = f"  sha256: {hashlib.sha256(data).hexdigest()}"
    if path.is_file() and path.read_bytes() == data:
        return [f"unchanged: {said}", digest]
    path.parent.mkdir(exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return [f"written: {said}", digest]


# ===== command line ===============================================================================


def run_for_each(command: str, targets: list[Path]) -> int:
    """Install to or remove from each target; return 2 if one had to be left as it was."""
    work = install if command == "install" else uninstall
    code = 0
    for target in targets:
        place = os.path.realpath(target)
        others = [os.path.realpath(other) for other in targets if other != target]
        if place == str(ROOT) or (target.is_symlink() and place in others):
            what = f"a link to {place}" if target.is_symlink() else "the repository itself"
            print(f"left: {target} is {what}")
            continue
        try:
            print("\n".join(work(target)))
        except (InstallError, OSError) as error:
            print(f"error: {error}", file=sys.stderr)
            code = 2
    return code


def main(argv: list[str] | None = None) -> int:
    """Run a command; the exit code is 2 if something could not be done."""
    title, _, explanation = (__doc__ or "").partition("\n\nusage: ")
    usage, _, description = explanation.partition("\n\n")
    parser = argparse.ArgumentParser(
        usage=usage,
        description=f"{title}\n\n{description}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=["install", "uninstall", "package"])
    parser.add_argument("--dir", metavar="FOLDER", help="skills folder to use instead of both")
    arguments = parser.parse_args(argv)
    if arguments.command == "package" and arguments.dir is not None:
        parser.error("package takes no --dir: it writes dist/web-search.skill in the repository")
    try:
        if arguments.command == "package":
            print("\n".join(package()))
            return 0
        targets = target_folders(arguments.dir)
    except (InstallError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    code = run_for_each(arguments.command, targets)
    if arguments.command == "install" and code == 0:
        print(f"Start the agent anew. To check: uv run '{targets[0]}/scripts/doctor.py'")
    return code


if __name__ == "__main__":
    raise SystemExit(main())
