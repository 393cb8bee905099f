"""CSV, notebooks, JSON Feed, mail and calendars, by read_bytes: each as a server sends it."""

from __future__ import annotations

import json
import time
import unittest
from typing import Any

from websearch.reading import one_page


def page_of(data: str, name: str, media: str = "", **params: Any) -> dict[str, Any]:
    """Return the document of a file with this name and type."""
    url, deadline = f"https://example.org/files/{name}", time.monotonic() + 10
    params = {"links": True, **params}
    return dict(one_page.read_bytes(url, data.encode(), media, params, deadline))


def text_of(data: str, name: str, media: str = "", **params: Any) -> str:
    """Return the text of a file with this name and type."""
    return str(page_of(data, name, media, **params)["text"])


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

    def test_the_first_line_of_output_keeps_its_spaces(self) -> None:
        output = {"output_type": "stream", "text": ["    boat  load\n", "0  Heron  18\n"]}
        cell = {"cell_type": "code", "source": "load()", "outputs": [output]}
        text = text_of(json.dumps({"cells": [cell], "nbformat": 4}), "a.ipynb")
        self.assertIn("```\n    boat  load\n0  Heron  18\n```", text)

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


MAIL = (
    "From: =?utf-8?Q?J=C3=BCrgen?= <j@mill.example>\nSubject: =?utf-8?B?RsOkaHJl?=\n"
    "Date: Tue, 4 Mar 2025 09:12:00 +0100\nContent-Type: multipart/mixed; boundary=b\n\n"
    "--b\nContent-Type: text/{}; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    "{}\n--b\nContent-Type: application/pdf; name=gate.pdf\n\nx\n--b--\n"
)
CALENDAR = (
    "BEGIN:VCALENDAR\r\nX-WR-CALNAME:Mill\r\nBEGIN:VEVENT\r\nDTSTART;TZID=Europe/Oslo:"
    "20250304T183000\r\nDTEND:20250304T190000Z\r\nSUMMARY:Gate\\, spring\r\nDESCRIPTION:Bring "
    "a la\r\n mp.\\nCoffee at 18.\r\nBEGIN:VALARM\r\nDESCRIPTION:no\r\nEND:VALARM\r\n"
    "END:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20250305\r\nSUMMARY:Fair\r\nEND:VEVENT\r\n"
)


class Messages(unittest.TestCase):
    def test_a_mail_is_its_head_its_text_and_the_names_of_attachments(self) -> None:
        for kind, body, expected in (
            ("plain", "12 =E2=82=AC", "12 €"),
            ("html", "<p>12 =E2=82=AC <b>now</b></p>", "12 € **now**"),
        ):
            page = page_of(MAIL.format(kind, body), "letter.eml", "message/rfc822")
            head = (
                "From: Jürgen <j@mill.example>  \nDate: Tue, 4 Mar 2025 09:12:00 +0100  \n"
                "Attachments: gate.pdf"
            )
            self.assertEqual(page["text"], f"{head}\n\n{expected}")
            fields = [page[name] for name in ("title", "author", "published")]
            self.assertEqual(fields, ["Fähre", "Jürgen", "2025-03-04"])

    def test_a_deeply_nested_mail_stays_text(self) -> None:
        parts = "".join(
            f"Content-Type: multipart/mixed; boundary=b{number}\n\n--b{number}\n"
            for number in range(2_000)
        )
        self.assertIn("boundary=b7", text_of(parts, "letter.eml", "message/rfc822"))

    def test_events_of_a_calendar_are_items(self) -> None:
        self.assertEqual(
            text_of(CALENDAR, "fair", "text/calendar"),
            "- 2025-03-04 18:30 (Europe/Oslo) to 2025-03-04 19:00 UTC: Gate, spring. "
            "Bring a lamp. Coffee at 18.\n- 2025-03-05: Fair",
        )


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
