"""CSV, notebooks and JSON Feed as Markdown, by read_bytes: each as a server would send it."""

from __future__ import annotations

import json
import time
import unittest
from typing import Any

from websearch.reading import one_page


def text_of(data: str, name: str, media: str = "", **params: Any) -> str:
    """Return the text of a file with this name and type."""
    url, deadline = f"https://example.org/files/{name}", time.monotonic() + 10
    document = one_page.read_bytes(url, data.encode(), media, {"links": True, **params}, deadline)
    return str(document["text"])


# Files, and their first and last rows.
CSV = (
    ('Name;Price;Size\nBolt;0,15;small\nNut;0,05;"a; b"\n', "Name | Price | Size",
     "Nut | 0,05 | a; b"),
    ("Name\tPrice\nBolt, long\t1,5\n", "Name | Price", "Bolt, long | 1,5"),
    ("name|price\nbolt, long|1\nnut, small|2\n", "name | price", "nut, small | 2"),
    ("id|name, first|x\n1|a, b|2\n", "id | name, first | x", "1 | a, b | 2"),
    ("1,5;2\n2,5;3\n", "1,5 | 2", "2,5 | 3"),
    ("name,tags\nbolt,a;b\nnut,c;d\n", "name | tags", "nut | c;d"),
    ("sep=;\nname;x\n1,5;2,5\n", "name | x", "1,5 | 2,5"),
    ("Prices of May\nname;price\nbolt;1,5\nnut;2\nkey;3\n", "Prices of May | ", "key | 3"),
    ('name,note\nbolt,"two\nlines; here"\n', "name | note", "bolt | two lines; here"),
)  # fmt: skip


class Csv(unittest.TestCase):
    def test_the_separator_that_fits_most_rows_is_used(self) -> None:
        for data, first, last in CSV:
            with self.subTest(data):
                lines = text_of(data, "prices.csv", "text/csv").split("\n")
                self.assertEqual((lines[0], lines[-1]), (f"| {first} |", f"| {last} |"))


def cell(kind: str, source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    """Return a cell of a notebook."""
    lines = source.splitlines(keepends=True)
    return {"cell_type": kind, "metadata": {}, "source": lines, "outputs": list(outputs)}


CELLS = (
    cell("markdown", "# Harbors\n\nDepths in *meters*."),
    cell(
        "code",
        "depth = 40\ndepth",
        {"output_type": "stream", "name": "stdout", "text": ["deep\n", "er\n"]},
        {"output_type": "execute_result", "data": {"text/html": "<b>40</b>", "text/plain": ["40"]}},
        {"output_type": "display_data", "data": {"image/png": "aGlkZGVu"}},
        {"output_type": "error", "ename": "ValueError", "evalue": "too deep", "traceback": ["x"]},
    ),
    cell("code", "print(long)", {"output_type": "stream", "text": "a" * 5_000}),
)
NOTEBOOK = {
    "cells": CELLS,
    "metadata": {"kernelspec": {"language": "python", "name": "python3"}},
    "nbformat": 4,
}


class Notebooks(unittest.TestCase):
    def test_markdown_stays_code_is_fenced_outputs_are_cut(self) -> None:
        text = text_of(json.dumps(NOTEBOOK), "depth.ipynb", "application/json")
        begin = (
            "# Harbors\n\nDepths in *meters*.\n\n```python\ndepth = 40\ndepth\n```\n\n"
            "```\ndeep\ner\n```\n\n```\n40\n```\n\n```\nValueError: too deep\n```"
        )
        self.assertEqual(text[: len(begin)], begin)
        self.assertEqual(text.count("a" * 2_000), 1)
        self.assertIn("\n[…]\n", text)
        self.assertNotIn("hidden", text)

    def test_old_notebooks_are_read_and_other_json_stays(self) -> None:
        old = {"cell_type": "code", "input": ["x = 1"], "outputs": [], "language": "python"}
        book = {"metadata": {}, "nbformat": 3, "worksheets": [{"cells": [old]}]}
        self.assertEqual(text_of(json.dumps(book), "a.ipynb"), "```\nx = 1\n```")
        for data in ('{"cells": [1, {"source": 5}], "nbformat": 4}', '{"cells": [', '{"cells": 7}'):
            with self.subTest(data):
                self.assertIn("```json", text_of(data, "a.ipynb", "application/json"))


FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "Mill",
    "items": [
        {"id": "1", "title": "Gate <1>", "url": "https://mill.example/gate", "date_published":
         "2025-03-01T00:00:00Z", "content_html": "<p>The gate is <em>green</em>.</p>"},
        {"id": "2", "content_text": "Run <job_id>.\n\nTwice.", "external_url": "https://a.example"},
        "no item",
    ],
}  # fmt: skip


class Feeds(unittest.TestCase):
    def test_a_json_feed_is_read_like_atom(self) -> None:
        expected = (
            "## [Gate \\<1>](https://mill.example/gate)\n\n2025-03-01T00:00:00Z\n\n"
            "The gate is *green*.\n\n## [Untitled](https://a.example)\n\nRun <job_id>.\n\nTwice."
        )
        for media in ("application/feed+json", "application/json"):
            self.assertEqual(text_of(json.dumps(FEED), "feed", media), expected)

    def test_plain_text_in_atom_is_not_html(self) -> None:
        entry = (
            "<entry><title>Flag</title><content type='text'>Run &lt;job&gt; now</content></entry>"
        )
        text = text_of(f"<feed>{entry}</feed>", "feed.xml", "application/atom+xml")
        self.assertIn("Run \\<job> now", text)


if __name__ == "__main__":
    unittest.main()
