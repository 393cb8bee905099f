"""Every attack that the patterns of the program suggest: linear time for all of them."""

from __future__ import annotations

import re
import unittest

from tests.pages.attack_pages import all_attacks, fault_of, read_by_engines, read_everywhere


class Patterns(unittest.TestCase):
    def test_no_pattern_takes_more_than_linear_time(self) -> None:
        for attack in all_attacks():
            works = [read_everywhere]
            if re.search("engines|html_tree", attack.origin):
                works.append(read_by_engines)
            for work in works:
                with self.subTest(attack.origin):
                    self.assertEqual(fault_of(attack, work), "")


if __name__ == "__main__":
    unittest.main()
