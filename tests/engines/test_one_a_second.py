"""Several processes at once that ask an API which takes one request a second."""

from __future__ import annotations

import json
import subprocess
import unittest

from tests.support import CANARY, PYTHON, SCRIPTS, FakeServerCase, clean_environment

PROCESSES = 4


class OneASecond(FakeServerCase):
    def test_each_process_is_answered_within_its_time(self) -> None:
        processes = [
            subprocess.Popen(
                [*PYTHON, str(SCRIPTS / "brave_search.py"), "sourdough", "-n", str(number + 1)],
                env=clean_environment(
                    BRAVE_SEARCH_BASE_URL=self.server.url, BRAVE_SEARCH_API_KEY=f"second-{CANARY}"
                ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
            )
            for number in range(PROCESSES)
        ]
        documents = [json.loads(process.communicate(timeout=60)[0]) for process in processes]
        self.assertEqual([one.get("error") for one in documents], [None] * PROCESSES)
        self.assertGreater(len(self.server.requests), PROCESSES)  # some were refused first


if __name__ == "__main__":
    unittest.main()
