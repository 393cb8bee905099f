"""Sites that show programs nothing: YouTube's data is read, Reddit's refusal has a hint."""

from __future__ import annotations

import json
import time
import unittest
from typing import Any

from websearch import kit
from websearch.pages.fetch import fetch
from websearch.reading import one_page

URL = "https://www.youtube.com/watch?v=abc"
VIDEO = {
    "videoDetails": {
        "title": "How a mill works", "author": "Old Mills", "lengthSeconds": "3725",
        "shortDescription": "The wheel; turns {slowly}.\n0:00 Start\n1:02 Stones",
        "keywords": ["mill", "water"],
    },
    "microformat": {"playerMicroformatRenderer": {"publishDate": "2024-05-03T10:00:00-07:00"}},
}  # fmt: skip


def read(url: str, html: str) -> dict[str, Any]:
    """Return the document of a page from its HTML."""
    page = one_page.read_bytes(url, html.encode(), "text/html", {}, time.monotonic() + 10)
    return dict(page)


def video_page(data: object) -> str:
    """Return a page of YouTube with this data."""
    script = f"var ytInitialPlayerResponse = {json.dumps(data)};var meta = {{}};"
    return f"<html><body><div id=player></div><script>{script}</script></body></html>"


class YouTube(unittest.TestCase):
    def test_title_channel_date_and_description_are_read(self) -> None:
        page = read(URL, video_page(VIDEO))
        self.assertEqual(page["title"], "How a mill works")
        self.assertEqual((page["author"], page["published"]), ("Old Mills", "2024-05-03"))
        for text in ("The wheel; turns {slowly}.", "1:02 Stones", "1:02:05", "Channel: Old Mills"):
            self.assertIn(text, page["text"])

    def test_data_of_other_shapes_or_sites_is_ignored(self) -> None:
        for data in ({}, {"videoDetails": []}, {"videoDetails": {"title": 7}}, [1]):
            self.assertFalse(read(URL, video_page(data))["ok"])
        self.assertFalse(read("https://example.org/", video_page(VIDEO))["ok"])
        self.assertFalse(read(URL, "<script>ytInitialPlayerResponse = {" + "[" * 90_000)["ok"])


class Reddit(unittest.TestCase):
    def test_a_refusal_is_blocked_with_a_working_hint(self) -> None:
        address = "https://www.reddit.com/r/mills/comments/1/wheel/"
        answer = fetch.Fetched(address, kit.Response(403, {}, b"<html><body></body></html>"))
        for page in (
            one_page.read_page(answer, {}, time.monotonic() + 10).document(),
            read("https://www.reddit.com/login/?dest=x", "<html><body>Log in</body></html>"),
        ):
            self.assertEqual(page["details"]["kind"], "blocked")
            self.assertIn(".rss", page["details"]["hint"])


if __name__ == "__main__":
    unittest.main()
