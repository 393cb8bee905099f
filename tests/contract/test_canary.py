"""tests/tools/canary.py: a canary that is planted is found, wherever and however it is kept."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path
from typing import Any

from tests.support import ROOT, SLACK
from tests.tools import canary as search

# In two parts: what looks for the canary reads the command lines of these very tests, too.
PLANTED = "canary-" + "fedcba9876543210"
# A test module that leaks in every way, as the tests of this project run.
LEAKING = f"""
import os, subprocess, sys, tempfile, unittest, urllib.request
from tests.support import FakeServerCase, CANARY, run_script, call_main

class Leak(FakeServerCase):
    def test_all(self):
        assert CANARY == {PLANTED!r}
        folder = tempfile.TemporaryDirectory()
        with folder:
            script = folder.name + "/leak.py"
            with open(script, "w") as file:
                file.write("import os, sys; key = os.environ['BRAVE_SEARCH_API_KEY'];"
                           "print('out', key); print('err', key, file=sys.stderr)")
            run_script(script, env={{"BRAVE_SEARCH_API_KEY": self.key}})
            with open(folder.name + "/cache.db", "w") as file:
                file.write("kept: " + self.key)
            with open(folder.name + "/secrets.yaml", "w") as file:
                file.write("BRAVE_SEARCH_API_KEY: " + self.key)
            read = subprocess.Popen([sys.executable, "-c", "input(); print('read', input())"],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            read.stdin.write(f"x\\n{{self.key}}\\n".encode())
            read.stdin.close()
            assert b"read" in read.stdout.readline()
            read.stdout.close()
            read.wait()
        class Module:
            __name__ = "leaking"
            main = staticmethod(lambda words: print(self.key) or 0)
        call_main(Module)
        good = urllib.request.Request(self.server.url + "/site/shell")
        good.add_header("X-Api-Key", self.key)
        for request in (good, self.server.url + "/site/shell?key=" + self.key,
                        urllib.request.Request(self.server.other_url, self.key.encode()),
                        urllib.request.Request(self.server.other_url, headers={{"X-Api-Key":
                                                                               self.key}})):
            urllib.request.urlopen(request).close()
        print("told", self.key, file=sys.stderr)
        bare = urllib.request.Request(self.server.url + "/site/shell")
        bare.add_header("X-Api-Key", "a-key-of-another-kind")
        urllib.request.urlopen(bare).close()
        run_script("brave_search.py", "python", "--count", "1",
                   env={{"BRAVE_SEARCH_BASE_URL": self.server.url,
                        "BRAVE_SEARCH_API_KEY": self.key}})
"""


def found_in(data: bytes) -> int:
    """How many places show the planted canary."""
    return len(list(search.search_bytes("here", data, search.forms_of(PLANTED))))


class TheSearch(unittest.TestCase):
    def test_finds_a_canary_as_it_is_and_in_base64_wherever_it_begins(self) -> None:
        for before in (b"", b"x", b"ab", b"Bearer good-", b"\0\xff\0"):
            for after in (b"", b"y", b"zz", b"\n"):
                data = before + PLANTED.encode() + after
                self.assertEqual(found_in(data), 1, data)
                self.assertEqual(found_in(b"x" + base64.b64encode(data)), 1, data)

    def test_finds_nothing_where_there_is_none(self) -> None:
        for data in (b"", b"canary-", PLANTED[:-1].encode(), b"canary-0123456789abcdef", b"(key)"):
            self.assertEqual(found_in(data), 0, data)

    def test_names_the_output_and_shows_what_stands_around(self) -> None:
        data = f"\n===== stdout of a\nfine\n===== stderr of b\nthe key {PLANTED} it is".encode()
        (finding,) = search.search_bytes("output", data, search.forms_of(PLANTED))
        self.assertEqual(finding.place, "output stderr of b")
        self.assertIn(f"the key {PLANTED} it is", finding.text)

    @unittest.skipUnless(Path("/proc/self/cmdline").exists(), "there is no /proc here")
    def test_sees_the_command_line_of_a_process_that_lives_for_a_moment(self) -> None:
        watch = search.ProcessWatch(PLANTED)
        with watch:
            command = [sys.executable, "-c", "import time; time.sleep(0.5)", f"--key={PLANTED}"]
            subprocess.run(command, check=True, timeout=10 + SLACK)
        self.assertGreater(watch.looks, 3)
        self.assertEqual(len(watch.findings), 1)
        self.assertIn(f"--key={PLANTED}", next(iter(watch.findings.values())).text)


class WhatIsKept(unittest.TestCase):
    """A test module that leaks in every way, run as tests/tools/canary.py runs all of them."""

    findings: list[search.Finding]
    counts: dict[str, int]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        kept, module = Path(folder.name) / "kept", Path(folder.name) / "module"
        (kept / "temporary").mkdir(parents=True)
        module.mkdir()
        (module / "leaking.py").write_text(textwrap.dedent(LEAKING))
        environment = {
            **os.environ,
            "TMPDIR": str(kept / "temporary"),
            "PYTHONPATH": f"{ROOT}{os.pathsep}{module}",
            "WEB_SEARCH_TEST_KEPT": str(kept),
            "WEB_SEARCH_TEST_CANARY": PLANTED,
        }
        run = subprocess.run(
            [sys.executable, "-m", "unittest", "leaking"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert run.returncode == 0, run.stderr.decode()
        cls.findings, cls.counts = search.search_kept(kept, PLANTED)

    def places(self, words: str) -> list[Any]:
        return [one for one in self.findings if words in f"{one.place} {one.text}"]

    def test_holds_what_processes_write_and_what_a_test_reads_of_them(self) -> None:
        self.assertTrue(self.places("output stdout of"))
        self.assertTrue(self.places("output stderr of"))
        self.assertTrue(self.places("read good-"))
        self.assertGreater(self.counts["outputs"], 4)

    def test_holds_what_a_main_prints_in_the_test_s_own_process(self) -> None:
        self.assertTrue(self.places("main of Module"))
        self.assertTrue(self.places("output stderr of the tests"))

    def test_holds_stores_but_not_the_files_that_give_a_key(self) -> None:
        self.assertTrue(self.places("cache.db"))
        self.assertFalse(self.places("secrets.yaml"))

    def test_holds_requests_that_show_a_key_outside_its_header(self) -> None:
        shown = [one.place for one in self.findings if one.place.startswith("request")]
        self.assertIn("request to the main port, /site/shell, target", shown)
        self.assertIn("request to the other port, /, body", shown)
        self.assertIn("request to the other port, /, X-Api-Key", shown)
        self.assertEqual(len(shown), 4)
        (bare,) = self.places("a key without the canary")
        self.assertIn("'a-key-of-another-kind'; end it in tests.support.CANARY", bare.text)
        self.assertEqual(self.counts["requests"], 2)  # the good ones, that prove the key was used

    def test_a_script_that_keeps_its_key_is_in_no_finding(self) -> None:
        self.assertFalse(self.places("brave_search.py"))

    def test_notes_show_where_not_what(self) -> None:
        titles = [one.place for one in self.findings]
        self.assertNotIn(PLANTED, json.dumps(titles))


if __name__ == "__main__":
    unittest.main()
