"""Batches that are interrupted at many moments; the short form is in tests/contract."""

from __future__ import annotations

import unittest

from tests.contract import test_interrupts


class InterruptedAtManyMoments(test_interrupts.InterruptedBatches):
    moments = 20


if __name__ == "__main__":
    unittest.main()
