"""Each fault of each provider, met by its commands in turn: a sample of the matrix of faults."""

from __future__ import annotations

import unittest

from tests.tools import faults


class Sample(unittest.TestCase):
    def test_each_fault_becomes_its_kind_and_exit_code_in_time_and_shows_no_key(self) -> None:
        # What takes seconds, and the same code for every provider, comes from a few of them here.
        cells = [
            cell
            for cell in faults.sampled(faults.all_cells())
            if cell.way == "alone"
            and (
                cell.fault not in ("bomb", "huge", *faults.ENDLESS)
                or cell.subject.provider in ("brave", "duckduckgo", "pages")
            )
        ]
        self.assertGreater(len(cells), 300)
        outcomes, wrong = faults.run_matrix(cells)
        self.assertEqual(faults.complaints(outcomes) + wrong, [])


if __name__ == "__main__":
    unittest.main()
