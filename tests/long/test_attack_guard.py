"""Every attack that the patterns of the program suggest, and attacks of nearly five megabytes."""

from __future__ import annotations

import re
import time
import unittest

from tests.pages.attack_pages import (
    PAGE_BYTES,
    all_attacks,
    fault_of,
    read_by_engines,
    read_everywhere,
)
from tests.pages.test_attack_guard import LATENESS, CannedPage, wait_for_readers
from tests.pages.test_read_page_extract import ATTACKS
from tests.support import SLACK

TIMEOUT = 1.0  # seconds for a call


class Patterns(unittest.TestCase):
    def test_no_pattern_takes_more_than_linear_time(self) -> None:
        for attack in all_attacks():
            works = [read_everywhere]
            if re.search("engines|html_tree", attack.origin):
                works.append(read_by_engines)
            for work in works:
                with self.subTest(attack.origin):
                    self.assertEqual(fault_of(attack, work), "")


class Deadline(CannedPage):
    def check(self, body: str) -> None:
        started = time.monotonic()
        self.read(body, timeout=TIMEOUT, links=True, query="some words")
        self.assertLess(time.monotonic() - started, TIMEOUT + LATENESS + SLACK)
        wait_for_readers()

    def test_no_page_made_from_a_pattern_holds_a_call_beyond_its_deadline(self) -> None:
        for attack in all_attacks():
            if attack.is_brief:
                with self.subTest(attack.origin):
                    self.check(attack.text(PAGE_BYTES)[:PAGE_BYTES])

    def test_no_broken_page_holds_a_call_beyond_its_deadline(self) -> None:
        for name, unit in ATTACKS.items():
            with self.subTest(name):
                self.check((unit * (PAGE_BYTES // len(unit) + 1))[:PAGE_BYTES])


if __name__ == "__main__":
    unittest.main()
