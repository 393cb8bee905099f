"""The attacks that the patterns of the program suggest: linear time for all of them.

Those with one beginning of the pattern are left out: there is the same one with many. All others
take half an hour: each run tries a part of them, for ATTACK_SECONDS (default: 60; 0 tries all), in
an order that ATTACK_SEED gives (default: the day). A failure names the attack.
"""

from __future__ import annotations

import re
import unittest

from tests.extraction.attack_pages import (
    SEED,
    after_one,
    all_attacks,
    fault_of,
    read_by_engines,
    read_everywhere,
    within_seconds,
)


class Patterns(unittest.TestCase):
    def test_no_pattern_takes_more_than_linear_time(self) -> None:
        attacks = [one for one in all_attacks() if one.shape is not after_one]
        tried = 0
        for attack in within_seconds(attacks):
            works = [read_everywhere]
            if re.search("engines|html_tree", attack.origin):
                works.append(read_by_engines)
            for work in works:
                with self.subTest(attack.origin, seed=SEED):
                    self.assertEqual(fault_of(attack, work), "")
            tried += 1
        self.assertGreater(tried, 0)


if __name__ == "__main__":
    unittest.main()
