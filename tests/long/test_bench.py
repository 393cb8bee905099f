"""Every row of `make bench` can be taken, in a run of one pair; its numbers are not looked at.

The only module to notice a row that cannot be taken any more.
"""

from __future__ import annotations

import subprocess
import sys
import unittest

from tests.bench import bench
from tests.support import ROOT, clean_environment

TIMEOUT = 600.0  # seconds


class EveryRow(unittest.TestCase):
    def test_is_in_the_table_and_none_has_failed(self) -> None:
        finished = subprocess.run(
            [sys.executable, str(ROOT / "tests/bench/bench.py"), "--quick"],
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
        lines = finished.stdout.splitlines()
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        for measure in bench.MEASURES:
            rows = [line for line in lines if line.startswith(f"| {measure.name} | ")]
            self.assertEqual(len(rows), 1, measure.name)
        self.assertNotIn("| failed: ", finished.stdout)


if __name__ == "__main__":
    unittest.main()
