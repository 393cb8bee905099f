"""Long work says how far it is, on a terminal only; Ctrl-C ends it with one document.

The only module to notice progress where nobody looks.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from tests.support import (
    CANARY,
    PYTHON,
    SCRIPTS,
    SLACK,
    SmallWebCase,
    clean_environment,
    small_web_environment,
)
from websearch.kit import GRACE

KEY_NAMES = ("GEMINI_API_KEY", "SERPER_API_KEY")
BATCH = ["python", "sourdough", "coffee"]


@unittest.skipUnless(hasattr(os, "openpty"), "there are no terminals here")
class Progress(SmallWebCase):
    def stderr_of(self, *command: str, terminal: bool) -> str:
        """Run a script to its end; return its stderr, a terminal or a pipe."""
        reading, writing = os.openpty() if terminal else os.pipe()
        keys = dict.fromkeys(KEY_NAMES, "good-" + CANARY)
        environment = {**small_web_environment(self.server.url), **keys, "GLSI_DB_PATH": self.store}
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / command[0]), *command[1:]],
            env=clean_environment(**environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=writing,
        )
        os.close(writing)
        stdout, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, stdout)
        self.assertTrue(json.loads(stdout)["ok"])
        data = b""
        with contextlib.suppress(OSError):  # a terminal whose other end is closed
            while piece := os.read(reading, 65_536):
                data += piece
        os.close(reading)
        return data.decode()

    def commands(self) -> dict[str, tuple[list[str], list[str]]]:
        """name -> (command, patterns of the lines that are shown)."""
        paths = ("articles/tides", "", "no-such-page")
        pages = [f"{self.server.url}/site/{path}" for path in paths]
        lines = "\n".join(BATCH)
        path = Path(self.store).parent.parent / "queries.txt"
        path.write_text(lines, encoding="utf-8")
        batch = ["batch", "--input", str(path), "--max-chars", "0"]
        return {
            "search with pages": (
                ["web_search.py", "python asyncio", "-n", "2"],
                [r"asking \w+ \(0 of 3\)", r"pages read \(2 of 3\)", r"pages read \(3 of 3\)"],
            ),
            "brief": (
                ["web_search.py", "brief", "python asyncio", "sourdough"],
                [r"answers \([12] of 2\)", r"answers \(2 of 2\)", r"pages read \((\d+) of \1\)"],
            ),
            "many pages": (["read_page.py", *pages], [r"\(1 of 3\)", r"\(2 of 3\)", r"\(3 of 3\)"]),
            "gemini batch": (
                ["gemini_search.py", *batch],
                [r"\(1 of 3\)", r"\(2 of 3\)", r"\(3 of 3\)"],
            ),
            "serper batch": (["serper_search.py", *batch], [r"\(3 of 3\)"]),
        }

    def test_is_shown_line_by_line_on_a_terminal(self) -> None:
        for name, (command, patterns) in self.commands().items():
            with self.subTest(name):
                shown = self.stderr_of(*command, terminal=True)
                for pattern in patterns:
                    self.assertRegex(shown, pattern)
                self.assertNotIn(CANARY, shown)

    def test_is_not_shown_in_a_pipe(self) -> None:
        for name, (command, _) in self.commands().items():
            with self.subTest(name):
                self.assertEqual(self.stderr_of(*command, terminal=False), "")


class CtrlC(SmallWebCase):
    """Without --jsonl: one document of kind interrupted, exit code 130, no traceback."""

    def interrupt(
        self, *command: str, requests: int = 1, **more: str
    ) -> tuple[int, Any, str, float]:
        """Interrupt a script after some of its requests; return its exit code and output."""
        environment = {**small_web_environment(self.server.url), "GLSI_DB_PATH": self.store, **more}
        self.server.clear()
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / command[0]), *command[1:]],
            env=clean_environment(**environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        limit = time.monotonic() + 20
        while len(self.server.requests) < requests and time.monotonic() < limit:
            time.sleep(0.02)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=20)
        seconds = time.monotonic() - started
        return process.returncode, json.loads(stdout), stderr.decode(), seconds

    def test_a_signal_ends_long_commands_at_once_with_a_document(self) -> None:
        hang = f"{self.server.url}/site/slow/hang"
        file = tempfile.NamedTemporaryFile("w", suffix=".txt")  # noqa: SIM115
        self.addCleanup(file.close)
        file.write("\n".join(BATCH))
        file.flush()
        hanging = dict.fromkeys(KEY_NAMES, "hang-" + CANARY)
        output = Path(self.store).parent.parent / "result.json"
        batch = ["batch", "--input", file.name, "--max-chars", "0"]
        cases: dict[str, tuple[list[str], int]] = {
            "pages": (["read_page.py", f"{self.server.url}/site/articles/tides", hang], 2),
            "one page": (["read_page.py", hang, "--page-timeout", "60"], 1),
            "search": (["web_search.py", "python asyncio pagefault:hang:1"], 2),
            "gemini batch": (["gemini_search.py", *batch], 3),
            "serper batch": (["serper_search.py", *batch], 1),
            "batch with a file": (["serper_search.py", *batch, "--output", str(output)], 1),
        }
        for name, (command, requests) in cases.items():
            with self.subTest(name):
                keys = hanging if "batch" in command else {}
                code, document, stderr, seconds = self.interrupt(
                    *command, requests=requests, **keys
                )
                self.assertEqual((code, document["details"]["kind"]), (130, "interrupted"))
                self.assertIn(stderr, ("", f"{command[0]}: Interrupted.\n"))
                self.assertLess(seconds, SLACK + (GRACE if "batch" in command else 0))
        self.assertFalse(output.exists())
        self.assertEqual([one.name for one in output.parent.glob("*.part")], [])


if __name__ == "__main__":
    unittest.main()
