"""scripts/web_search.py when many processes ask at once, and when one is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.support import SCRIPTS, SmallWebCase, clean_environment, run_script

PROCESSES = 100


class ManyProcesses(SmallWebCase):
    def variables(self, **more: str) -> dict[str, str]:
        """The environment of a process of this test: its store, DuckDuckGo the only engine."""
        own = {"GLSI_DB_PATH": os.environ["GLSI_DB_PATH"], "SEARXNG_BASE_URL": ""}
        return {**self.environment, **own, **more}

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a search without waiting for it."""
        command = [sys.executable, str(SCRIPTS / "web_search.py"), *arguments]
        environment = clean_environment(**self.variables())
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)

    def run_all(self, query: str) -> list[Any]:
        """The documents of PROCESSES processes that ask the same at once."""
        with ThreadPoolExecutor(PROCESSES) as pool:
            runs = pool.map(
                lambda _: run_script(
                    "web_search.py", query, "--timeout", "60", env=self.variables()
                ),
                range(PROCESSES),
            )
            return [run.document for run in runs]

    def asked(self) -> int:
        """How many searches the engine received."""
        return sum(one.path.startswith("/html/") for one in self.server.requests)

    def test_a_hundred_processes_with_one_question_search_once(self) -> None:
        documents = self.run_all("python asyncio")
        self.assertEqual(self.asked(), 1)
        self.assertEqual(sum(one["from_cache"] for one in documents), PROCESSES - 1)
        for document in documents:
            self.assertTrue(document["ok"])
            self.assertNotIn("warnings", document)
            self.assertEqual(document["results"], documents[0]["results"])
            self.assertTrue(all(one["text"] for one in document["results"]))

    def test_an_answer_that_is_not_kept_is_still_shared_with_those_who_wait(self) -> None:
        documents = self.run_all("python asyncio pagefault:hang:2")
        for document in documents:
            self.assertTrue(document["ok"])
            self.assertIn("error", document["results"][1])
        # Those that come after its end ask again, since it was not kept.
        self.assertLess(self.asked(), PROCESSES // 4)

    def test_a_process_that_is_killed_while_it_asks_holds_nobody_up(self) -> None:
        first = self.start("python asyncio faultslow pagefault:hang:1", "--page-timeout", "20")
        begin = time.monotonic()
        while self.asked() == 0 and time.monotonic() < begin + 20:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        run = run_script(
            "web_search.py", "python asyncio faultslow pagefault:hang:1", env=self.variables()
        )
        self.assertTrue(run.document["ok"], run.document)
        self.assertEqual(self.asked(), 2)

    def test_interrupted_it_says_so_in_json(self) -> None:
        process = self.start("python asyncio pagefault:hang:1", "--page-timeout", "20")
        begin = time.monotonic()
        while self.asked() == 0 and time.monotonic() < begin + 20:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(json.loads(stdout)["details"]["kind"], "interrupted")
        again = run_script("web_search.py", "python asyncio", env=self.variables())
        self.assertTrue(again.document["ok"])


if __name__ == "__main__":
    unittest.main()
