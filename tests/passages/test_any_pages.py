"""Passages of any five pages, in any room: nothing raises.

tests/long draws more often, also from the folders that PAGE_SAMPLES names.
"""

from __future__ import annotations

import random
import re
import unittest
from typing import TYPE_CHECKING

from tests.support import ROOT, page_texts
from websearch.markdown import units
from websearch.pages.extract import markdown
from websearch.passages import excerpts

if TYPE_CHECKING:
    from pathlib import Path


DRAWS = 12
ROOMS = range(1_000, 13_000, 1_000)
# What pages hold that converters and people leave behind: items and terms of markup only.
ODD_PAGES = (
    "# Operators\n\n- *****\n\n  Multiplies two numbers.\n\n- **\\***\n\n  Escaped.\n",
    "# Steps\n\n- ```sh\n  make test\n  ```\n\n  Runs the tests.\n\n**:**\n\nNothing more.\n",
    "# Keys\n\n| |\n|---|\n\n1. **\n   Press it.\n\n- `` ` ``\n\n  The backtick.\n",
)


def markdown_of(folders: list[Path]) -> list[str]:
    """The texts of the pages in folders, those of this module among them."""
    found = [markdown.extract_markdown(html) for one in folders for html in page_texts(one)]
    return [*ODD_PAGES, *filter(None, found)]


def draw(texts: list[str], seed: int) -> None:
    """Show what five pages say about a heading of one of them, in rooms of every size."""
    chance = random.Random(seed)
    five = chance.sample(texts, min(5, len(texts)))
    headings = [name for text in five for name in re.findall(r"(?m)^#{1,6} +(.+)", text)]
    query = chance.choice(headings or ["harbor"])
    pages = [units.PageText(text, query) for text in five]
    scores, _ = excerpts.rank_pages(pages, [query])
    for room in ROOMS:
        for excerpt in excerpts.excerpts_of(pages, [query], scores, room):
            excerpts.excerpt_text(excerpt)
        for page in pages[:1]:
            excerpts.passages_within(page, query, room, lambda found: len(str(found)))


class AnyPages(unittest.TestCase):
    """Drawn from the pages of the tests."""

    def test_nothing_raises(self) -> None:
        texts = markdown_of([ROOT / "tests/fake_server/pages"])
        for seed in range(DRAWS):
            with self.subTest(seed=seed):
                draw(texts, seed)
        for seed, page in enumerate(ODD_PAGES):
            with self.subTest(page):
                draw([page, *texts[-4:]], seed)


if __name__ == "__main__":
    unittest.main()
