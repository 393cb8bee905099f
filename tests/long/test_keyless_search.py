"""What takes longer: many processes on one engine, kills at any moment.

The only module to notice two of a hundred processes that ask at the same moment.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from tests.support import FakeServerCase, Run, new_folder
from websearch.engines.base import pacing

SCRIPT = "keyless_search.py"
ENGINES = ["duckduckgo", "google", "searxng", "wikipedia"]
SEED = 6_004


class ManyProcesses(FakeServerCase):
    def setUp(self) -> None:
        super().setUp()
        folder = new_folder(self)
        self.path = folder / "cache.db"
        self.variables = {"GLSI_DB_PATH": f"{folder}/cache.db"}
        self.set_environment(**self.variables)

    @staticmethod
    def environment_of(url: str, _key: str) -> dict[str, str]:
        return {f"{engine.upper()}_BASE_URL": url for engine in ENGINES}

    def at_once(self, number: int, *words: str, **variables: str) -> list[Run]:
        """Run many processes, thirty at a time."""

        def start(_: int) -> Run:
            return self.run_script(SCRIPT, *words, **{**self.variables, **variables})

        with ThreadPoolExecutor(30) as pool:
            return list(pool.map(start, range(number)))

    def assert_apart(self, started: float, seconds: float) -> None:
        """No request came before its slot: the nth one not before n intervals."""
        times = sorted(request.time - started for request in self.server.requests)
        for number, moment in enumerate(times):
            self.assertGreaterEqual(moment, seconds * number - 0.05, number)

    def test_a_hundred_processes_get_a_hundred_slots_one_pause_apart(self) -> None:
        started = time.monotonic()
        runs = self.at_once(100, "guide", "--timeout", "120", GLSI_RATE_LIMIT="100ms")
        self.assertEqual([run.code for run in runs], [0] * 100)
        self.assertEqual([run.document.get("warnings") for run in runs], [None] * 100)
        self.assertEqual(len(self.server.requests), 100)
        self.assert_apart(started, 0.1)

    def test_a_queue_beyond_the_deadline_is_told_and_the_others_are_answered(self) -> None:
        started = time.monotonic()
        runs = self.at_once(30, "guide", "--timeout", "8", GLSI_RATE_LIMIT="1s")
        answered = [run for run in runs if run.code == 0]
        refused = [run for run in runs if run.code == 4]
        self.assertEqual(len(answered) + len(refused), 30)
        self.assertTrue(answered and refused)
        for run in refused:
            self.assertEqual(run.document["details"]["kind"], "rate_limit")
            self.assertGreater(run.document["details"]["retry_after"], 0)
        self.assertEqual(len(self.server.requests), len(answered))
        self.assert_apart(started, 1.0)

    def test_a_block_stops_all_processes_after_the_requests_on_their_way(self) -> None:
        runs = self.at_once(60, "faultblocked guide", "--timeout", "60", GLSI_RATE_LIMIT="300ms")
        self.assertEqual({run.document["details"]["kind"] for run in runs}, {"blocked"})
        self.assertLessEqual(len(self.server.requests), 5)
        self.assertEqual(pacing.present_state("duckduckgo").blocks, 1)
