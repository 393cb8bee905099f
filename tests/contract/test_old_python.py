"""A Python that is too old: every entry script says so in a document, and nothing else.

The only module that runs a Python before 3.10.
"""

from __future__ import annotations

import ast
import glob
import json
import os
import shutil
import subprocess
import unittest

from tests.support import SCRIPTS

SINGLE_FILES = ("brave_search.py", "gemini_search.py", "serper_search.py")
THIN_COMMANDS = sorted({path.name for path in SCRIPTS.glob("*.py")} - set(SINGLE_FILES))


def old_pythons() -> list[tuple[int, str]]:
    """The older interpreters of this machine: (minor version, path)."""
    found = []
    for minor in range(6, 10):
        paths = glob.glob(os.path.expanduser(f"~/.pyenv/versions/3.{minor}.*/bin/python3"))
        path = shutil.which(f"python3.{minor}") or next(iter(sorted(paths)), None)
        works = path and subprocess.run([path, "-c", ""], capture_output=True, check=False)
        if path and works and works.returncode == 0:
            found.append((minor, path))
    return found


class OldPython(unittest.TestCase):
    def test_thin_commands_can_be_read_by_3_6_and_single_files_by_3_8(self) -> None:
        package = SCRIPTS / "websearch/__init__.py"
        for path in (*(SCRIPTS / name for name in THIN_COMMANDS), package):
            with self.subTest(path.name):
                text = path.read_text(encoding="utf-8")
                ast.parse(text, feature_version=(3, 6))
                self.assertNotIn("from __future__ import annotations", text)  # new in 3.7
        for name in SINGLE_FILES:
            with self.subTest(name):
                ast.parse((SCRIPTS / name).read_text(encoding="utf-8"), feature_version=(3, 8))

    def test_each_script_says_which_python_it_is_and_what_to_do(self) -> None:
        for minor, python in old_pythons():
            names = THIN_COMMANDS if minor < 8 else [*THIN_COMMANDS, *SINGLE_FILES]
            for name in names:
                with self.subTest(name, minor=minor):
                    words = [python, str(SCRIPTS / name), "sourdough"]
                    finished = subprocess.run(words, capture_output=True, check=False)
                    document = json.loads(finished.stdout)
                    self.assertEqual((finished.returncode, finished.stderr), (2, b""))
                    self.assertEqual(document["details"]["kind"], "invalid_input")
                    self.assertIn(f"3.{minor}.", document["error"])
                    self.assertIn("3.10", document["error"])
                    self.assertIn("uv run", document["details"]["hint"])


if __name__ == "__main__":
    unittest.main()
