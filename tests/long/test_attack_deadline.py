"""Attacks of nearly five megabytes: no call outlives its deadline.

Each test takes ATTACK_SECONDS (default: 60; 0 tries all attacks), in an order that ATTACK_SEED
gives (default: the day), because each attack keeps a processor busy for seconds.
"""

from __future__ import annotations

import time
import unittest

from tests.extraction.attack_pages import PAGE_BYTES, SEED, all_attacks, repeated, within_seconds
from tests.extraction.test_attack_guard import LATENESS, CannedPage, wait_for_readers
from tests.extraction.test_read_page_extract import ATTACKS
from tests.support import SLACK

TIMEOUT = 1.0  # seconds for a call


class Deadline(CannedPage):
    def check(self, body: str) -> None:
        started = time.monotonic()
        self.read(body, timeout=TIMEOUT, links=True, query="some words")
        self.assertLess(time.monotonic() - started, TIMEOUT + LATENESS + SLACK)
        wait_for_readers()

    def test_no_page_made_from_a_pattern_holds_a_call_beyond_its_deadline(self) -> None:
        brief = [attack for attack in all_attacks() if attack.is_brief]
        first = {attack.origin.partition(" ")[0]: attack for attack in reversed(brief)}
        for attack in within_seconds(list(first.values())):
            with self.subTest(attack.origin, seed=SEED):
                self.check(attack.text(PAGE_BYTES)[:PAGE_BYTES])

    def test_no_broken_page_holds_a_call_beyond_its_deadline(self) -> None:
        for name, unit in within_seconds(list(ATTACKS.items())):
            with self.subTest(name):
                self.check(repeated(unit, PAGE_BYTES))


if __name__ == "__main__":
    unittest.main()
