"""scripts/web_search.py when many processes ask at once, and when one is killed.

The only module to notice many processes that ask an engine the same.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from tests.support import PYTHON, SCRIPTS, SmallWebCase, clean_environment, run_script

PROCESSES = 12


class ManyProcesses(SmallWebCase):
    def variables(self, **more: str) -> dict[str, str]:
        """The environment of a process of this test: its store, DuckDuckGo the only engine."""
        own = {"GLSI_DB_PATH": os.environ["GLSI_DB_PATH"], "SEARXNG_BASE_URL": ""}
        return {**self.environment, **own, **more}

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a search without waiting for it."""
        command = [*PYTHON, str(SCRIPTS / "web_search.py"), *arguments]
        environment = clean_environment(**self.variables())
        return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)

    def asked(self) -> int:
        """How many searches the engine received."""
        return sum(request.path.startswith("/html/") for request in self.server.requests)

    def test_many_processes_with_one_question_search_no_more_than_a_few_times(self) -> None:
        """Whoever has waited for the engine's pause looks into the store before it asks."""
        environment = self.variables(GLSI_RATE_LIMIT="1s")
        with ThreadPoolExecutor(PROCESSES) as pool:
            runs = pool.map(
                lambda _: run_script("web_search.py", "python asyncio", env=environment),
                range(PROCESSES),
            )
            documents = [run.document for run in runs]
        self.assertLess(self.asked(), PROCESSES // 3)
        for document in documents:
            self.assertTrue(document["ok"])
            self.assertNotIn("warnings", document)
            urls = [result["url"] for result in document["results"]]
            self.assertEqual(urls, [result["url"] for result in documents[0]["results"]])
            for result in document["results"]:  # a page that answers nothing keeps its snippet
                self.assertTrue({"text", "snippet"} & {*result}, result)

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
