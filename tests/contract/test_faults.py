"""Each fault of each provider, met by its commands in turn: a sample of the matrix of faults.

The only module of `make test` to notice a fault that becomes another kind, or a call that outlives
its deadline.
"""

from __future__ import annotations

import unittest

from tests.tools import faults


class Sample(unittest.TestCase):
    def test_each_fault_becomes_its_kind_and_exit_code_in_time_and_shows_no_key(self) -> None:
        cells = [*filter(faults.is_in_tests, faults.sampled(faults.all_cells()))]
        self.assertGreater(len(cells), 300)
        outcomes, wrong = faults.run_matrix(cells)
        self.assertEqual(faults.complaints(outcomes) + wrong, [])


if __name__ == "__main__":
    unittest.main()
