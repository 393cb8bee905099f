"""CSV, notebooks and JSON Feed as Markdown, by read_bytes: each as a server would send it."""

from __future__ import annotations

import time
import unittest
from typing import Any

from tests.support import load_script

one_page: Any = load_script("websearch.reading.one_page")


def text_of(data: str, name: str, media: str = "", **params: Any) -> str:
    """The text of a file with this name and type."""
    url, deadline = f"https://example.org/files/{name}", time.monotonic() + 10
    document = one_page.read_bytes(url, data.encode(), media, {"links": True, **params}, deadline)
    return str(document["text"])


# Files, and their first and last rows.
CSV = (
    ('Name;Price;Size\nBolt;0,15;small\nNut;0,05;"a; b"\n', "Name | Price | Size",
     "Nut | 0,05 | a; b"),
    ("Name\tPrice\nBolt, long\t1,5\n", "Name | Price", "Bolt, long | 1,5"),
    ("name|price\nbolt, long|1\nnut, small|2\n", "name | price", "nut, small | 2"),
    ("name,tags\nbolt,a;b\nnut,c;d\n", "name | tags", "nut | c;d"),
    ("sep=;\nname;x\n1,5;2,5\n", "name | x", "1,5 | 2,5"),
    ("Prices of May\nname;price\nbolt;1,5\nnut;2\nkey;3\n", "Prices of May | ", "key | 3"),
    ('name,note\nbolt,"two\nlines; here"\n', "name | note", "bolt | two lines; here"),
)  # fmt: skip


class Csv(unittest.TestCase):
    def test_the_separator_gives_most_rows_the_same_number_of_fields(self) -> None:
        for data, first, last in CSV:
            with self.subTest(data):
                lines = text_of(data, "prices.csv", "text/csv").split("\n")
                self.assertEqual((lines[0], lines[-1]), (f"| {first} |", f"| {last} |"))


if __name__ == "__main__":
    unittest.main()
