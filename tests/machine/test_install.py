"""scripts/install.py: the copy is complete and works, and foreign files are never touched.

The only module to notice a file of somebody else's that is touched.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path
from unittest import mock

from tests.fake_server.server import FakeServer
from tests.support import CANARY, ROOT, clean_environment, load_script, new_folder, run_script
from websearch.machine import installation, packing, skill_files

PARTS = (
    "SKILL.md", "LICENSE", "Makefile", "server.json", "references", "assets/opencode",
    "assets/mcp/codex.toml", "assets/secrets.example.yaml",
)  # fmt: skip
# What install.py itself needs, and some commands.
FEW_SCRIPTS = (
    "install.py", "brave_search.py", "mcp_server.py", "web_search.py",
    *(f"websearch/{name}.py"
      for name in ("__init__", "kit", "machine/skill_files", "machine/installation",
                   "machine/packing")),
    "websearch/ways_in/desk/style.css", "websearch/ways_in/desk/keys.js",
)  # fmt: skip
NAME = "web-search"


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Path -> (content or link, permissions) of everything below a folder, folders included."""
    found = {}
    for path in sorted(folder.rglob("*")):
        content = b""
        if path.is_symlink():
            content = os.fsencode(os.readlink(path))
        elif path.is_file():
            content = path.read_bytes()
        found[path.relative_to(folder).as_posix()] = (content, path.lstat().st_mode)
    return found


class InstallCase(unittest.TestCase):
    """A small repository with everything in it that must not be installed, and a home.

    whole: whether it has all scripts.
    """

    whole = False

    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self).resolve()
        self.home = self.folder / "home"
        self.home.mkdir()
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        scripts = ["scripts"] if self.whole else [f"scripts/{name}" for name in FEW_SCRIPTS]
        for part in (*PARTS, *scripts):
            target = self.repository / part
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / part).is_dir():
                shutil.copytree(ROOT / part, target)
            else:
                shutil.copy(ROOT / part, target)
        for name in (
            ".git/config", "scripts/__pycache__/common.cpython-310.pyc", "scripts/.common.py.swp",
            "scripts/common.py~", "secrets.yaml", "assets/secrets.yaml", "assets/evals/evals.json",
            "references/.DS_Store", "tests/test_some.py", "assets/opencode/node_modules.pyc",
        ):  # fmt: skip
            path = self.repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("SERPER_API_KEY: not-to-be-copied", encoding="utf-8")

    def run_install(self, *arguments: str, umask: int = 0o022) -> tuple[int, str, str]:
        """Run the repository's install.py in this process; return exit code, stdout and stderr."""
        out, err, before = io.StringIO(), io.StringIO(), os.umask(umask)
        try:
            with (
                mock.patch.dict(os.environ, HOME=str(self.home)),
                mock.patch.object(skill_files, "ROOT", self.repository),
                mock.patch.object(installation, "ROOT", self.repository),
                mock.patch.object(packing, "ROOT", self.repository),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                code = installation.main("", list(arguments))
        except SystemExit as ended:  # argparse
            code = int(ended.code or 0)
        finally:
            os.umask(before)
        return code, out.getvalue(), err.getvalue()

    def run_process(self, folder: Path, *arguments: str, **more: str) -> tuple[int, str, str]:
        """Run install.py of the repository or of a copy as a process; more: variables."""
        finished = subprocess.run(
            [sys.executable, str(folder / "scripts/install.py"), *arguments],
            env=clean_environment(**{"HOME": str(self.home), **more}),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return finished.returncode, finished.stdout, finished.stderr

    def installed(self, umask: int = 0o022) -> Path:
        """Install into a skills folder; return the copy."""
        code, _, stderr = self.run_install(
            "install", "--dir", str(self.folder / "skills"), umask=umask
        )
        self.assertEqual((code, stderr), (0, ""))
        return self.folder / "skills" / NAME

    def assert_refused(self, message: str, *arguments: str) -> None:
        """Nothing may change; the error says why."""
        before = snapshot(self.folder)
        code, _, stderr = self.run_install(*arguments)
        self.assertEqual(code, 2)
        self.assertRegex(stderr, message)
        self.assertEqual(snapshot(self.folder), before)


class Install(InstallCase):
    def test_both_folders_get_a_copy_and_a_second_run_is_harmless(self) -> None:
        code, stdout, stderr = self.run_process(self.repository, "install")
        self.assertEqual((code, stderr), (0, ""))
        copies = [self.home / ".claude/skills" / NAME, self.home / ".agents/skills" / NAME]
        for copy in copies:
            self.assertIn(f"installed: {copy} (", stdout)
            self.assertTrue((copy / "SKILL.md").is_file())
        self.assertIn("doctor.py", stdout)
        times = [path.stat().st_mtime_ns for copy in copies for path in copy.rglob("*")]
        code, stdout, _ = self.run_process(self.repository, "install")
        self.assertEqual(
            (code, stdout.count("unchanged: "), stdout.count("installed: ")), (0, 2, 0)
        )
        after = [path.stat().st_mtime_ns for copy in copies for path in copy.rglob("*")]
        self.assertEqual(times, after)

    def test_the_folder_of_claude_config_dir_is_used(self) -> None:
        for folder in (str(self.folder / "work settings"), "~/settings"):
            place = Path(folder.replace("~", str(self.home))) / "skills" / NAME
            code, stdout, _ = self.run_process(self.repository, "install", CLAUDE_CONFIG_DIR=folder)
            self.assertEqual(code, 0)
            self.assertIn(f"installed: {place} (", stdout)
            self.assertTrue((self.home / ".agents/skills" / NAME / "SKILL.md").is_file())
            self.assertFalse((self.home / ".claude").exists())
            _, stdout, _ = self.run_process(self.repository, "uninstall", CLAUDE_CONFIG_DIR=folder)
            self.assertIn(f"removed: {place} (", stdout)
            self.assertFalse(place.exists())

    def test_without_a_home_is_an_error_that_names_the_way_out(self) -> None:
        for arguments in (["install"], ["install", "--command"], ["uninstall"], ["opencode"],
                          ["install", "--dir", "~/skills"]):  # fmt: skip
            with self.subTest(arguments):
                code, _, stderr = self.run_process(self.repository, *arguments, HOME="")
                self.assertEqual(code, 2)
                expected = "error: There is no home folder. Set HOME, or pass a folder for --dir.\n"
                self.assertEqual(stderr, expected)
        place = self.folder / "skills"
        code, _, stderr = self.run_process(self.repository, "install", "--dir", str(place), HOME="")
        self.assertEqual((code, stderr), (0, ""))

    def test_copies_all_that_an_agent_needs_and_nothing_else(self) -> None:
        copy = self.installed()
        names = {path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()}
        scripts = {f"scripts/{name}" for name in FEW_SCRIPTS}
        references = {f"references/{path.name}" for path in (ROOT / "references").glob("*.md")}
        wanted = {"SKILL.md", "LICENSE", "assets/secrets.example.yaml",
                  "assets/opencode/tool/google_search.ts"}  # fmt: skip
        self.assertLessEqual(wanted | scripts | references, names)
        for name in names - wanted - scripts - references:
            self.assertRegex(name, r"^assets/(opencode|mcp)/")
        for path in copy.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"not-to-be-copied", path.read_bytes())
        self.assertEqual([path for path in copy.parent.iterdir() if path != copy], [])

    def test_permissions_do_not_depend_on_umask_or_source(self) -> None:
        for path in (self.repository / "scripts").glob("*.py"):
            path.chmod(0o600)
        copy = self.installed(umask=0o077)
        for path in copy.rglob("*"):
            command = path.is_dir() or (
                path.parent.name == "scripts" and path.read_bytes().startswith(b"#!")
            )
            with self.subTest(path.name):
                self.assertEqual(path.stat().st_mode & 0o777, 0o755 if command else 0o644)
        self.assertEqual(copy.stat().st_mode & 0o777, 0o755)

    def test_a_folder_with_spaces_or_the_skills_own_name_is_taken(self) -> None:
        place = self.folder / "my project's skills" / "ünter"
        self.assertEqual(self.run_install("install", "--dir", str(place))[0], 0)
        self.assertTrue((place / NAME / "scripts/web_search.py").is_file())
        _, stdout, _ = self.run_install("install", "--dir", str(place / NAME))
        self.assertIn(f"unchanged: {place / NAME} ", stdout)


class Update(InstallCase):
    def test_an_older_version_is_replaced_and_users_files_are_kept(self) -> None:
        (self.repository / "scripts/old_search.py").write_text("#!/bin/sh\n", encoding="utf-8")
        (self.repository / "assets/old").mkdir()
        (self.repository / "assets/old/gone.json").write_text("{}", encoding="utf-8")
        copy = self.installed()
        notes, link = copy / "notes/mine.txt", copy / "link"
        notes.parent.mkdir()
        notes.write_text("mine", encoding="utf-8")
        link.symlink_to(self.home)
        cache = copy / "scripts/__pycache__"
        cache.mkdir()
        (cache / "old_search.cpython-310.pyc").touch()
        (copy / "SKILL.md").write_text("---\nname: web-search\n---\nchanged", encoding="utf-8")
        (self.repository / "scripts/old_search.py").unlink()
        shutil.rmtree(self.repository / "assets/old")
        (self.repository / "references/new.md").write_text("# New\n", encoding="utf-8")
        code, stdout, _ = self.run_install("install", "--dir", str(copy.parent))
        self.assertEqual(code, 0)
        self.assertIn(f"replaced: {copy} (", stdout)
        for gone in ("scripts/old_search.py", "assets/old", "scripts/__pycache__"):
            self.assertFalse((copy / gone).exists(), gone)
        self.assertEqual(notes.read_text(encoding="utf-8"), "mine")
        self.assertEqual(os.readlink(link), str(self.home))
        self.assertTrue((copy / "references/new.md").is_file())
        self.assertEqual((copy / "SKILL.md").read_bytes(), (ROOT / "SKILL.md").read_bytes())
        self.assertIn("unchanged: ", self.run_install("install", "--dir", str(copy.parent))[1])
        self.assertEqual([path for path in copy.parent.iterdir() if path != copy], [])

    def test_missing_and_broken_files_and_permissions_are_restored(self) -> None:
        copy = self.installed()
        whole = snapshot(copy)
        for damage in (
            (copy / "scripts/websearch/kit.py").unlink,
            lambda: (copy / "scripts/brave_search.py").write_bytes(b""),
            lambda: (copy / "scripts/web_search.py").chmod(0o644),
        ):
            damage()
            self.assertIn("replaced: ", self.run_install("install", "--dir", str(copy.parent))[1])
            self.assertEqual(snapshot(copy), whole)

    def test_users_folders_are_kept_with_their_modes_even_if_empty(self) -> None:
        copy = self.installed()
        mine = {"notes": 0o700, "notes/empty": 0o750, "scripts/empty": 0o700}
        for name, mode in mine.items():
            (copy / name).mkdir(mode=mode)
        (copy / "notes/mine.txt").touch(0o600)
        (copy / "LICENSE").unlink()
        self.assertIn("replaced: ", self.run_install("install", "--dir", str(copy.parent))[1])
        self.assertEqual({name: (copy / name).stat().st_mode & 0o777 for name in mine}, mine)
        self.assertEqual((copy / "notes/mine.txt").stat().st_mode & 0o777, 0o600)
        self.run_install("uninstall", "--dir", str(copy.parent))
        self.assertEqual(set(snapshot(copy)), {*mine, "scripts", "notes/mine.txt"})

    def test_a_foreign_hidden_folder_next_to_it_is_not_touched(self) -> None:
        copy = self.installed()
        (copy / "LICENSE").unlink()
        for name in (f".{NAME}.new", f".{NAME}.old"):
            shutil.copytree(copy, copy.with_name(name))
        before = {name: snapshot(copy.with_name(name)) for name in (f".{NAME}.new", f".{NAME}.old")}
        self.assertIn("replaced: ", self.run_install("install", "--dir", str(copy.parent))[1])
        for name, content in before.items():
            self.assertEqual(snapshot(copy.with_name(name)), content)

    def test_a_link_in_a_copy_is_replaced_not_written_through(self) -> None:
        copy, outside = self.installed(), self.folder / "precious.md"
        outside.write_text("precious", encoding="utf-8")
        (self.repository / "references/new.md").write_text("# New\n", encoding="utf-8")
        (copy / "LICENSE").unlink()
        for name in ("references/new.md", "LICENSE"):
            (copy / name).symlink_to(outside)
        self.run_install("install", "--dir", str(copy.parent))
        self.assertEqual(outside.read_text(encoding="utf-8"), "precious")
        self.assertEqual((copy / "references/new.md").read_text(encoding="utf-8"), "# New\n")
        self.assertFalse((copy / "LICENSE").is_symlink())

    def test_a_killed_update_is_cleared_and_loses_no_file(self) -> None:
        copy = self.installed()
        whole = snapshot(copy)
        work = copy.with_name(f".{NAME}-installing")
        for command, is_moved in (("install", True), ("install", False), ("uninstall", True)):
            with self.subTest(command, is_moved=is_moved):
                self.run_install("install", "--dir", str(copy.parent))
                (copy / "mine.txt").touch()
                shutil.copytree(self.repository / "references", work / "new")
                if is_moved:
                    copy.rename(work / "old")
                self.run_install(command, "--dir", str(copy.parent))
                self.assertEqual([*copy.parent.iterdir()], [copy])
                left = {"mine.txt"} | (set(whole) if command == "install" else set())
                self.assertEqual(set(snapshot(copy)), left)

    def test_a_step_that_fails_leaves_the_copy_as_it_was(self) -> None:
        copy = self.installed()
        (copy / "LICENSE").unlink()
        before = snapshot(copy.parent)
        rename = Path.rename

        def fail(path: Path, target: Path) -> Path:
            if path.name == "new":
                raise OSError(errno.EIO, "disk failed")
            return rename(path, target)

        with mock.patch.object(Path, "rename", fail):
            code, _, stderr = self.run_install("install", "--dir", str(copy.parent))
        self.assertEqual((code, snapshot(copy.parent)), (2, before))
        self.assertIn("disk failed", stderr)


class FromAPlainCopy(InstallCase):
    """install.py of a folder that was copied by hand: it has no list of its files."""

    def test_it_installs_without_what_only_a_repository_has(self) -> None:
        for name in ("LICENSE", "Makefile", "server.json"):
            (self.repository / name).unlink()
        copy = self.installed()
        self.assertFalse((copy / "LICENSE").exists())
        self.assertTrue((copy / "scripts/websearch/kit.py").is_file())
        self.assertEqual(set(snapshot(copy)), set(snapshot(self.installed())))
        self.assert_refused("Run package in a clone of the repository", "package")


class FromACopy(InstallCase):
    """install.py of an installed copy, without the repository."""

    def setUp(self) -> None:
        super().setUp()
        self.copy = self.installed()
        shutil.rmtree(self.repository)

    def run_copy(self, *arguments: str) -> tuple[int, str, str]:
        return self.run_process(self.copy, *arguments)

    def test_a_copy_installs_itself_without_the_user_s_files(self) -> None:
        whole = snapshot(self.copy)
        (self.copy / "mine.py").touch()
        code, _, stderr = self.run_copy("install")
        self.assertEqual((code, stderr), (0, ""))
        for skills in (".claude/skills", ".agents/skills"):
            self.assertEqual(snapshot(self.home / skills / NAME), whole)

    def test_leaves_itself_as_it_is(self) -> None:
        before = snapshot(self.copy)
        code, stdout, _ = self.run_copy("install", "--dir", str(self.copy.parent))
        self.assertEqual((code, snapshot(self.copy)), (0, before))
        self.assertIn(f"kept: this program runs in {self.copy}", stdout)

    def test_cannot_make_a_package_and_says_so(self) -> None:
        code, _, stderr = self.run_copy("package")
        self.assertEqual(code, 2)
        self.assertIn(f"{self.copy} is a copy", stderr)
        self.assertFalse((self.copy / "dist").exists())

    def test_removes_itself_also_if_it_was_damaged(self) -> None:
        (self.copy / "LICENSE").unlink()
        code, stdout, stderr = self.run_copy("uninstall", "--dir", str(self.copy.parent))
        self.assertEqual((code, stderr), (0, ""))
        self.assertIn(f"removed: {self.copy} (", stdout)
        self.assertFalse(self.copy.exists())


class Refusals(InstallCase):
    def test_a_folder_of_somebody_else_is_not_touched(self) -> None:
        skills = self.folder / "skills"
        (skills / NAME).mkdir(parents=True)
        other = skills / NAME / "SKILL.md"
        for text in (
            "---\nname: web-search-2\n---\n",
            "# web-search\n",
            "---\n---\nname: web-search",
        ):
            other.write_text(text, encoding="utf-8")
            for command in ("install", "uninstall"):
                self.assert_refused("does not contain this skill", command, "--dir", str(skills))
        other.unlink()
        (skills / NAME / "thesis.txt").touch()
        self.assert_refused("does not contain this skill", "install", "--dir", str(skills))

    def test_links_are_not_followed(self) -> None:
        elsewhere = self.installed().rename(self.folder / "elsewhere")
        link = self.folder / "skills" / NAME
        link.symlink_to(elsewhere)
        for command in ("install", "uninstall"):
            self.assert_refused("is a link to", command, "--dir", str(link.parent))
        link.unlink()
        copy = self.installed()
        shutil.move(copy / "scripts", self.folder / "scripts")
        (copy / "scripts").symlink_to(self.folder / "scripts")
        self.assert_refused("scripts is in the way", "install", "--dir", str(copy.parent))
        self.run_install("uninstall", "--dir", str(copy.parent))
        self.assertTrue((self.folder / "scripts/websearch/kit.py").exists())
        self.assertTrue((copy / "scripts").is_symlink())

    def test_clones_and_the_repository_are_not_touched(self) -> None:
        clone = self.folder / "skills" / NAME
        shutil.copytree(self.repository, clone)
        for command in ("install", "uninstall"):
            self.assert_refused("is a clone of the repository", command, "--dir", str(clone.parent))
        inside = str(self.repository / "assets")
        self.assert_refused("in the skill's own folder", "install", "--dir", inside)
        skills = self.home / ".claude/skills"
        skills.mkdir(parents=True)
        (skills / NAME).symlink_to(self.repository)
        code, stdout, _ = self.run_install("install")
        self.assertEqual(code, 0)
        self.assertIn(f"kept: {skills / NAME} is a link to {self.repository}", stdout)
        self.assertIn(f"installed: {self.home}/.agents", stdout)

    def test_a_link_between_the_two_folders_is_not_an_error(self) -> None:
        skills = self.home / ".claude/skills"
        skills.mkdir(parents=True)
        (skills / NAME).symlink_to(self.home / ".agents/skills" / NAME)
        code, stdout, _ = self.run_install("install")
        self.assertEqual(code, 0)
        self.assertIn(f"kept: {skills / NAME} is a link to {self.home}/.agents", stdout)
        self.assertTrue((skills / NAME / "SKILL.md").is_file())

    def test_wrong_arguments_and_a_broken_repository_are_reported(self) -> None:
        (self.folder / "file").touch()
        self.assert_refused("is not a folder", "install", "--dir", str(self.folder / "file"))
        self.assert_refused("is not a folder", "install", "--dir", " ")
        self.assert_refused("The nearest word is install.", "reinstall")
        self.assert_refused("The nearest word is --help.", "--hlep")
        link = self.repository / "references/link.md"
        link.symlink_to(self.folder / "file")
        self.assert_refused("link.md is a link", "install")
        self.assert_refused("link.md is a link", "package")
        link.unlink()
        shutil.rmtree(self.repository / "references")
        self.assert_refused("contains no references/", "install")


class Uninstall(InstallCase):
    def test_uninstall_removes_both_copies_with_their_byte_code(self) -> None:
        self.run_install("install")
        copy = self.home / ".claude/skills" / NAME
        cache = copy / "scripts/__pycache__"
        cache.mkdir()
        (cache / "common.cpython-311.pyc").touch()
        code, stdout, stderr = self.run_install("uninstall")
        self.assertEqual((code, stderr, stdout.count("removed: ")), (0, "", 2))
        self.assertFalse(copy.exists())
        self.assertTrue(copy.parent.is_dir())
        _, stdout, _ = self.run_install("uninstall")
        self.assertEqual(stdout.count("nothing to remove: "), 2)

    def test_leaves_the_users_own_files(self) -> None:
        copy = self.installed()
        for name in ("mine.py", "secrets.yaml", "assets/secrets.yaml"):
            (copy / name).write_text("mine", encoding="utf-8")
        _, stdout, _ = self.run_install("uninstall", "--dir", str(copy.parent))
        self.assertIn("your other files are kept", stdout)
        kept = {"mine.py", "assets", "assets/secrets.yaml", "secrets.yaml"}
        self.assertEqual(set(snapshot(copy)), kept)


class Package(InstallCase):
    def test_packages_are_reproducible(self) -> None:
        code, stdout, stderr = self.run_install("package")
        self.assertEqual((code, stderr), (0, ""))
        dist = self.repository / "dist"
        first = {path.name: path.read_bytes() for path in dist.iterdir()}
        self.assertEqual(set(first), {"web-search.skill", "web-search.mcpb", "server.json"})
        for data in first.values():
            self.assertIn(hashlib.sha256(data).hexdigest(), stdout)
        shutil.rmtree(dist)
        for file in self.repository.rglob("*"):
            os.utime(file, (10**9, 10**9))
            if file.is_file():
                file.chmod(0o600)
        moved = self.folder / "elsewhere"
        self.repository.rename(moved)
        self.repository = moved
        self.run_install("package", umask=0o077)
        again = {path.name: path.read_bytes() for path in (moved / "dist").iterdir()}
        self.assertEqual(again, first)

    def test_the_package_has_the_installed_files_in_one_folder(self) -> None:
        copy = self.installed()
        self.run_install("package")
        with zipfile.ZipFile(self.repository / "dist/web-search.skill") as archive:
            self.assertIsNone(archive.testzip())
            packed = {entry.filename: entry for entry in archive.infolist()}
            files = {f"{NAME}/{path.relative_to(copy).as_posix()}": path
                     for path in copy.rglob("*") if path.is_file()}  # fmt: skip
            self.assertEqual(
                list(packed), sorted(packed, key=lambda name: list(packed).index(name))
            )
            self.assertEqual(set(packed), set(files))
            for name, path in files.items():
                self.assertEqual(archive.read(name), path.read_bytes())
                mode = packed[name].external_attr >> 16 & 0o777
                self.assertEqual(mode, path.stat().st_mode & 0o777, name)
        self.assertIn(f"{NAME}/SKILL.md", packed)
        for name in packed:
            self.assertNotRegex(name, r"test|__pycache__|evals|\.git|/secrets\.yaml|\.pyc$")
        size = (self.repository / "dist/web-search.skill").stat().st_size
        self.assertLess(size, 30_000_000)  # the limit for uploads

    def test_an_unpacked_package_can_be_updated_and_uninstalled(self) -> None:
        self.run_install("package")
        skills = self.folder / "skills"
        with zipfile.ZipFile(self.repository / "dist/web-search.skill") as archive:
            archive.extractall(skills)
        (skills / NAME / "mine.txt").touch()
        run = run_script(str(skills / NAME / "scripts/brave_search.py"), "--version")
        self.assertEqual(run.code, 0)
        _, stdout, _ = self.run_install("install", "--dir", str(skills))
        self.assertIn("replaced: ", stdout)  # unzipping loses the permissions
        self.run_install("uninstall", "--dir", str(skills))
        self.assertEqual(set(snapshot(skills / NAME)), {"mine.txt"})


class Bundle(InstallCase):
    """dist/web-search.mcpb; the official tool reads it in tests/e2e/packages.py."""

    def setUp(self) -> None:
        super().setUp()
        self.run_install("package")
        self.path = self.repository / "dist/web-search.mcpb"
        with zipfile.ZipFile(self.path) as bundle:
            self.files = {one.filename: bundle.read(one) for one in bundle.infolist()}
        self.manifest = json.loads(self.files["manifest.json"])

    def test_the_bundle_has_only_the_scripts_and_the_manifest(self) -> None:
        copy = self.installed()
        scripts = {
            path.relative_to(copy).as_posix(): path.read_bytes()
            for path in (copy / "scripts").rglob("*.*")
        }
        found = {name: data for name, data in self.files.items() if name.startswith("scripts/")}
        self.assertEqual(found, scripts)
        others = {"manifest.json", "pyproject.toml", "LICENSE"}
        self.assertEqual(set(self.files) - set(scripts), others)

    def test_the_bundle_runs_uv_with_secret_and_optional_keys(self) -> None:
        server = self.manifest["server"]
        self.assertEqual((server["type"], server["entry_point"]), ("uv", "scripts/mcp_server.py"))
        self.assertIn(server["entry_point"], self.files)
        options = self.manifest["user_config"]
        self.assertEqual(
            server["mcp_config"]["env"],
            {name.upper(): f"${{user_config.{name}}}" for name in options},
        )
        for option in options.values():
            self.assertEqual(
                (option["sensitive"], option["required"], option["default"]), (True, False, "")
            )

    def test_it_names_every_tool(self) -> None:
        tools = load_script("websearch.ways_in.mcp_tools").TOOLS
        self.assertEqual([tool["name"] for tool in self.manifest["tools"]], list(tools))

    def test_the_registry_entry_has_the_bundle_s_digest(self) -> None:
        entry = json.loads((self.repository / "dist/server.json").read_bytes())
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        self.assertEqual(entry["packages"][0].pop("fileSha256"), digest)
        self.assertEqual(entry, json.loads((self.repository / "server.json").read_bytes()))


class WholeSkill(InstallCase):
    """The real skill, installed or packed, is used."""

    whole = True

    def test_the_copy_has_every_script(self) -> None:
        copy = self.installed()
        for path in (ROOT / "scripts").rglob("*.py"):
            self.assertTrue((copy / path.relative_to(ROOT)).is_file(), path)

    def test_links_between_the_documents_work_in_the_copy(self) -> None:
        copy = self.installed()
        for path in [copy / "SKILL.md", *(copy / "references").glob("*.md")]:
            for link in re.findall(r"\]\(([^)#\s]+)\)", path.read_text(encoding="utf-8")):
                if not link.startswith(("http://", "https://", "url")):
                    with self.subTest(path.name, link=link):
                        self.assertTrue((path.parent / link).exists())

    def test_the_copy_works_without_the_repository_from_any_folder(self) -> None:
        copy = self.installed()
        shutil.rmtree(self.repository)
        empty = self.folder / "empty"
        empty.mkdir()
        with FakeServer() as server:
            environment = {
                "HOME": str(self.home),
                "BRAVE_SEARCH_BASE_URL": server.url,
                "BRAVE_SEARCH_API_KEY": f"good-{CANARY}",
            }
            for script, arguments in (
                ("brave_search.py", ["python asyncio"]),
                ("web_search.py", ["python asyncio", "--no-pages"]),
                ("doctor.py", []),
            ):
                place = copy / "scripts" / script
                run = run_script(str(place), *arguments, env=environment, cwd=empty)
                with self.subTest(script):
                    self.assertEqual((run.code, run.stderr), (0, ""))
                    self.assertTrue(run.document["ok"])
            lines = [line for line in run.document["checks"] if line["name"] == "skill folder"]
            self.assertEqual([line["status"] for line in lines], ["ok"], lines)
            executed = subprocess.run(
                [str(copy / "scripts/brave_search.py"), "--version"],
                env=clean_environment(PATH=f"{self.uv_folder()}:{os.environ['PATH']}"),
                cwd=empty,
                capture_output=True,
                check=False,
            )
        self.assertEqual(executed.returncode, 0, executed.stderr)
        self.assertEqual(list(empty.iterdir()), [])

    def uv_folder(self) -> Path:
        """A folder with a fake uv, which starts a script with this Python."""
        folder = self.folder / "bin"
        folder.mkdir()
        program = folder / "uv"
        program.write_text(f'#!/bin/sh\nshift 2\nexec {sys.executable} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
        return folder

    def test_unpacked_the_server_starts_and_lists_its_tools(self) -> None:
        self.run_install("package")
        place = self.folder / "Größe mit Leerzeichen"
        with zipfile.ZipFile(self.repository / "dist/web-search.mcpb") as bundle:
            bundle.extractall(place)
        run = run_script(str(place / "scripts/mcp_server.py"), "tools")
        self.assertIn(b"web_search", run.stdout)


class CommandWebSearch(InstallCase):
    whole = True

    def test_the_command_runs_the_installed_copy_until_uninstall(self) -> None:
        code, stdout, stderr = self.run_process(self.repository, "install", "--command")
        self.assertEqual((code, stderr), (0, ""))
        path = self.home / ".local/bin/web-search"
        self.assertIn(f"written: {path}", stdout)
        self.assertIn(f"{path.parent} is not in PATH", stdout)
        environment = clean_environment(HOME=str(self.home), PATH="/usr/bin:/bin")
        environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
        run = subprocess.run(
            [str(path), "help"], env=environment, capture_output=True, text=True, check=True
        )
        self.assertIn("web_search.py brief 'how do tokio", run.stdout)
        self.assertIn("removed: ", self.run_process(self.repository, "uninstall")[1])
        self.assertFalse(path.exists())

    def test_a_file_of_somebody_else_stays(self) -> None:
        path = self.home / ".local/bin/web-search"
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\necho other\n", encoding="utf-8")
        code, _, stderr = self.run_process(self.repository, "install", "--command")
        self.assertEqual(code, 2)
        self.assertIn(f"{path} is not from this program.", stderr)
        self.run_process(self.repository, "uninstall")
        self.assertIn("echo other", path.read_text(encoding="utf-8"))


class Repository(unittest.TestCase):
    def test_no_file_of_the_skill_contains_a_secret(self) -> None:
        secret = r"AIza[\w-]{20,}|\bsk-[A-Za-z0-9]{20,}|BSA[\w-]{20,}|ghp_\w{20,}|-----BEGIN"
        for name, data in skill_files.skill_files().items():
            with self.subTest(name):
                self.assertNotRegex(data.decode(), secret)


if __name__ == "__main__":
    unittest.main()
