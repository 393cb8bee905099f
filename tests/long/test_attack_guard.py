"""The attacks that the patterns of the program suggest: linear time for all of them.

Those that tests/pages/test_attack_guard.py tries are left out, and so are those with one beginning
of the pattern where there is the same one with many.
"""

from __future__ import annotations

import re
import unittest

from tests.pages.attack_pages import (
    after_one,
    all_attacks,
    fault_of,
    read_by_engines,
    read_everywhere,
)


class Patterns(unittest.TestCase):
    def test_no_pattern_takes_more_than_linear_time(self) -> None:
        for attack in all_attacks():
            if attack.is_brief or attack.shape is after_one:
                continue
            works = [read_everywhere]
            if re.search("engines|html_tree", attack.origin):
                works.append(read_by_engines)
            for work in works:
                with self.subTest(attack.origin):
                    self.assertEqual(fault_of(attack, work), "")


if __name__ == "__main__":
    unittest.main()
