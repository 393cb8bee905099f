"""Passages of many more draws of five pages, also of real ones in folders of PAGE_SAMPLES."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

from tests.passages.test_any_pages import draw, markdown_of
from tests.support import ROOT

DRAWS = 300


class AnyPages(unittest.TestCase):
    """Drawn from the pages of the tests, then from real ones."""

    def test_nothing_raises(self) -> None:
        named = os.environ.get("PAGE_SAMPLES", "")
        folders = [Path(name) for name in named.split(os.pathsep) if name]
        for folder in (ROOT / "tests/fake_server/pages", *folders):
            texts = markdown_of([folder])
            for seed in range(DRAWS):
                with self.subTest(folder.name, seed=seed):
                    draw(texts, seed)


if __name__ == "__main__":
    unittest.main()
