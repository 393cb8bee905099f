"""The opencode files and their installer, as far as that shows without opencode.

The only module to notice a tool of opencode's that its script does not match.
What the real opencode makes of them is checked by tests/e2e/opencode.py.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import unittest
from typing import TYPE_CHECKING

from tests.support import PYTHON, ROOT, SCRIPTS, clean_environment, new_folder

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = ROOT / "assets/opencode"
FILES = {"plugin/index.ts", "tool/google_search.ts", "tool/shared/search_tools.ts"}
# Tools of opencode: one of the same name would replace it, or be hidden (websearch).
BUILT_IN = (
    "bash edit glob grep list read skill task todoread todowrite webfetch websearch write question"
).split()
REFERENCE = (ROOT / "references/opencode.md").read_text(encoding="utf-8")


def source(name: str) -> str:
    """Return the text of a file of assets/opencode without its comments."""
    text = (SOURCE / name).read_text(encoding="utf-8")
    return re.sub(r"(?s:/\*\*.*?\*/)|(?<!\S)//.*", "", text)


def tool_names() -> list[str]:
    """Return the names of the tools in the table."""
    table = source("tool/shared/search_tools.ts").split("SEARCH_TOOLS:")[1].split("\n}\n")[0]
    return re.findall(r"(?m)^  (\w+): (?:\{|GOOGLE_SEARCH,)$", table)


class Form(unittest.TestCase):
    """What opencode wants of the files, whose breach shows as a broken session or not at all."""

    def test_the_folders_hold_these_files_and_one_of_them_is_a_tool_by_itself(self) -> None:
        self.assertEqual({str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.ts")}, FILES)
        tools = [path.name for path in (SOURCE / "tool").iterdir() if path.is_file()]
        self.assertEqual(tools, ["google_search.ts"])  # a second one would list its tools twice

    def test_each_file_has_one_export(self) -> None:
        for name, form in (
            ("tool/google_search.ts", r'export default makeTool\("google_search", GOOGLE_SEARCH\)'),
            ("plugin/index.ts", r"export const WebSearch: Plugin = async \(.*\) => .*"),
        ):
            [export] = re.findall(r"(?m)^export .*$", source(name))
            self.assertRegex(export, f"^{form}$")
        self.assertNotRegex(source("tool/google_search.ts"), r'(from|import\()\s*"\.')

    def test_no_tool_has_the_name_of_one_of_opencodes_own(self) -> None:
        self.assertIn("google_search", tool_names())
        self.assertEqual(len(tool_names()), 6)
        self.assertEqual(set(tool_names()) & set(BUILT_IN), set())

    def test_each_file_imports_and_says_what_opencode_can_load(self) -> None:
        for name in FILES:
            with self.subTest(name):
                text = (SOURCE / name).read_text(encoding="utf-8")
                self.assertTrue(text.startswith("// Part of the web-search skill"))
                self.assertNotIn(".default(", source(name))  # opencode ignores it
                for module in re.findall(r'from "(.*)"', source(name)):
                    form = r"^(node:\w+|@opencode-ai/plugin(/tool)?|\.\.?/.*\.ts)$"
                    self.assertRegex(module, form)
                for line in re.findall(r'import .* from "@opencode-ai/plugin"', source(name)):
                    self.assertTrue(line.startswith("import type "), line)  # the rest is heavy


class Reference(unittest.TestCase):
    def test_it_names_every_tool_with_its_script_and_its_arguments(self) -> None:
        text = source("tool/shared/search_tools.ts")
        scripts = re.findall(r'script: "(\w+\.py)"', text)
        for name, script in zip(tool_names(), scripts, strict=True):
            self.assertRegex(REFERENCE, rf"(?m)^\| `{name}` \| `{script}` \| `(query|urls|text)`")

    def test_its_json_examples_are_json(self) -> None:
        blocks = re.findall(r"```json\n(.*?)```", REFERENCE, re.DOTALL)
        self.assertTrue(blocks)
        for block in blocks:
            json.loads(block)


class Installer(unittest.TestCase):
    """`scripts/install.py opencode`, run as `make install-opencode` runs it."""

    def setUp(self) -> None:
        folder = new_folder(self)
        self.home = folder / "home"
        self.project = folder / "a project"
        self.config = self.home / ".config/opencode"
        for path in (self.home, self.project):
            path.mkdir()

    def run_installer(
        self, *arguments: str, script: Path = SCRIPTS / "install.py", **variables: str
    ) -> tuple[int, str, str]:
        """Run the installer; return its exit code and what it said on stdout and stderr."""
        environment = clean_environment(HOME=str(self.home))
        environment.pop("OPENCODE_CONFIG_DIR", None)
        finished = subprocess.run(
            [sys.executable, str(script), "opencode", *arguments],
            env={**environment, **variables},
            cwd=self.home,
            capture_output=True,
            text=True,
            check=False,
        )
        return finished.returncode, finished.stdout, finished.stderr

    def assert_installed(self, folder: Path) -> None:
        """The folder holds the files, as files of its own."""
        for name in FILES:
            path = folder / name
            self.assertFalse(path.is_symlink(), path)
            self.assertEqual(path.read_bytes(), (SOURCE / name).read_bytes())
            self.assertNotEqual(path.stat().st_ino, (SOURCE / name).stat().st_ino)

    def all_paths(self) -> set[Path]:
        """Every path below the home and the project."""
        return {*self.home.rglob("*"), *self.project.rglob("*")}

    def test_it_copies_into_the_users_folder_and_says_so(self) -> None:
        code, said, _ = self.run_installer()
        self.assertEqual(code, 0)
        self.assert_installed(self.config)
        for name in FILES:
            self.assertIn(f"written: {self.config / name}\n", said)
        self.assertIn(f"export WEB_SEARCH_SKILL_DIR='{ROOT}'", said)

    def test_it_heeds_the_variables_that_move_the_users_folder(self) -> None:
        self.run_installer(XDG_CONFIG_HOME=str(self.home / "xdg"))
        self.assert_installed(self.home / "xdg/opencode")
        self.run_installer(OPENCODE_CONFIG_DIR=str(self.home / "own"))
        self.assert_installed(self.home / "own")
        self.assertFalse(self.config.exists())

    def test_with_dir_it_copies_into_the_projects_opencode_folder(self) -> None:
        self.assertEqual(self.run_installer("--dir", str(self.project))[0], 0)
        self.assert_installed(self.project / ".opencode")
        self.assertFalse(self.config.exists())
        again = self.run_installer("--dir", str(self.project / ".opencode"))[1]
        self.assertNotIn("written", again)

    def test_a_second_run_changes_nothing_and_says_so(self) -> None:
        self.run_installer()
        before = {path: path.stat().st_mtime_ns for path in self.all_paths()}
        code, said, _ = self.run_installer()
        self.assertEqual(code, 0)
        self.assertEqual(said.count("unchanged: "), len(FILES))
        self.assertNotRegex(said, "written")
        self.assertEqual({path: path.stat().st_mtime_ns for path in self.all_paths()}, before)

    def test_an_older_copy_of_ours_is_updated(self) -> None:
        self.run_installer()
        path = self.config / "plugin/index.ts"
        path.write_text("// Part of the web-search skill: older\n", encoding="utf-8")
        self.assertIn(f"written: {path}\n", self.run_installer()[1])
        self.assert_installed(self.config)

    def test_a_link_is_replaced_by_a_copy_and_its_target_stays(self) -> None:
        path = self.config / "tool/google_search.ts"
        path.parent.mkdir(parents=True)
        for target in (SOURCE / "tool/google_search.ts", self.home / "gone.ts"):
            path.unlink(missing_ok=True)
            path.symlink_to(target)
            self.assertEqual(self.run_installer()[0], 0)
            self.assert_installed(self.config)

    def test_a_linked_folder_is_refused_because_opencode_finds_no_packages_through_it(self) -> None:
        self.config.mkdir(parents=True)
        (self.home / "elsewhere").mkdir()
        (self.config / "tool").symlink_to(self.home / "elsewhere")
        before = self.all_paths()
        code, _, said = self.run_installer()
        self.assertEqual(code, 2)
        self.assertIn("is a link", said)
        self.assertEqual(self.all_paths(), before)

    def test_a_file_of_somebody_else_is_neither_replaced_nor_removed(self) -> None:
        path = self.config / "plugin/index.ts"
        path.parent.mkdir(parents=True)
        path.write_text("export const Mine = async () => ({})\n", encoding="utf-8")
        before = self.all_paths()
        code, _, said = self.run_installer()
        self.assertEqual(code, 2)
        self.assertIn(f"{path} is not from this program", said)
        self.assertEqual(self.all_paths(), before)
        self.assertIn(f"kept, not from this program: {path}", self.run_installer("--uninstall")[1])
        self.assertIn("Mine", path.read_text(encoding="utf-8"))

    def test_uninstall_removes_what_was_copied_and_leaves_the_rest(self) -> None:
        self.run_installer()
        other = self.config / "tool/weather.ts"
        other.write_text("export default {}\n", encoding="utf-8")
        code, said, _ = self.run_installer("--uninstall")
        self.assertEqual(code, 0)
        self.assertEqual(said.count("removed: "), len(FILES))
        left = {str(path.relative_to(self.config)) for path in self.config.rglob("*")}
        self.assertEqual(left, {"tool", "tool/weather.ts"})
        self.assertIn("nothing to remove", self.run_installer("--uninstall")[1])

    def test_an_installed_copy_can_do_it_without_the_repository(self) -> None:
        skills = self.project / "skills"
        command = [*PYTHON, str(SCRIPTS / "install.py"), "install", "--dir", str(skills)]
        subprocess.run(command, env=clean_environment(), capture_output=True, check=True)
        script = skills / "web-search/scripts/install.py"
        code, said, _ = self.run_installer(script=script)
        self.assertEqual(code, 0)
        self.assert_installed(self.config)
        self.assertIn(f"export WEB_SEARCH_SKILL_DIR='{skills}/web-search'", said)
        self.assertEqual(self.run_installer("--uninstall", script=script)[0], 0)
        self.assertEqual([*self.config.rglob("*")], [])
        shutil.rmtree(script.parents[1] / "assets")
        code, _, complaint = self.run_installer(script=script)
        self.assertEqual(code, 2)
        self.assertIn("assets/opencode contains no tool", complaint)

    def test_a_folder_that_cannot_be_used_is_an_error_that_names_it(self) -> None:
        (self.project / ".opencode").write_text("a file\n", encoding="utf-8")
        for name, words in (
            ("/no/such/project", "'/no/such/project' is not a folder"),
            ("", "'' is not a folder"),
            (str(self.project), f"{self.project}/.opencode"),
        ):
            with self.subTest(name):
                code, stdout, stderr = self.run_installer("--dir", name)
                self.assertEqual((code, stdout), (2, ""))
                self.assertIn(words, stderr)
                self.assertNotIn("Traceback", stderr)


if __name__ == "__main__":
    unittest.main()
