"""Paths as Windows has them. What Windows lacks is taken away by tests/tools/portability.py.

The only module to notice a path that is wrong on Windows alone.
"""

from __future__ import annotations

import ntpath
import os
import sys
import unittest
from unittest import mock

from websearch import kit
from websearch.pages.fetch import local_files
from websearch.store import database as store_file

HOME = r"C:\Users\Jürgen"


class Paths(unittest.TestCase):
    """The functions that make paths, with the rules of Windows for them."""

    def setUp(self) -> None:
        for patch in (
            mock.patch.dict(os.environ, {"USERPROFILE": HOME}, clear=True),
            mock.patch.object(os, "path", ntpath),
            mock.patch.object(os, "name", "nt"),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def test_the_users_files_lie_below_userprofile(self) -> None:
        self.assertEqual(
            ntpath.normpath(kit.secrets_path()), rf"{HOME}\.config\web-search\secrets.yaml"
        )
        self.assertEqual(ntpath.normpath(store_file.store_path("")), rf"{HOME}\.glsi\cache.db")

    def test_variables_with_backslashes_are_taken_as_they_are(self) -> None:
        os.environ["WEB_SEARCH_SECRETS"] = r"D:\keys\my secrets.yaml"
        os.environ["XDG_CONFIG_HOME"] = r"D:\config"
        self.assertEqual(kit.secrets_path(), r"D:\keys\my secrets.yaml")
        del os.environ["WEB_SEARCH_SECRETS"]
        self.assertEqual(kit.secrets_path(), r"D:\config\web-search\secrets.yaml")
        self.assertEqual(store_file.store_path(r"D:\store\x.db"), r"D:\store\x.db")
        self.assertEqual(store_file.store_path(r"~\x.db"), rf"{HOME}\x.db")

    def test_a_path_with_backslashes_is_a_local_file_and_no_address(self) -> None:
        for path in (r"C:\paper.pdf", r".\paper.pdf", r"..\paper.pdf", "c:/paper.pdf", r"~\x.pdf"):
            self.assertTrue(local_files.is_local(path), path)
        for address in ("example.org", "https://example.org/c:/x", r"paper\x.pdf"):
            self.assertFalse(local_files.is_local(address), address)

    def test_single_quotes_that_cmd_exe_leaves_in_put_words_together(self) -> None:
        for given, meant in (
            ("'python asyncio' -n 3", ["python asyncio", "-n", "3"]),
            ("brief 'a b' 'c' --site 'e.org'", ["brief", "a b", "c", "--site", "e.org"]),
            ("read 'https://e.org/x' --md", ["read", "https://e.org/x", "--md"]),
            ("don't stop", ["don't", "stop"]),
            ("'twas never closed", ["'twas", "never", "closed"]),
            ("' a '", [" a "]),
        ):
            with self.subTest(given), mock.patch.object(sys, "argv", ["x.py", *given.split(" ")]):
                self.assertEqual(kit.given_words(None), meant)
                self.assertEqual(kit.given_words(["'a", "b'"]), ["'a", "b'"])
                with mock.patch.object(os, "name", "posix"):
                    self.assertEqual(kit.given_words(None), given.split(" "))


if __name__ == "__main__":
    unittest.main()
