"""Pages that scripts fill: their text from schema.org data and from versions that they name."""

from __future__ import annotations

import unittest

from tests.fake_server.script_pages import EVENING, MORNING
from tests.reading.test_read_page import SiteCase


class Data(SiteCase):
    def test_the_article_body_in_linked_data_is_the_text(self) -> None:
        self.assertEqual(self.page("scripts/article-body")["text"], f"{MORNING} {EVENING}")

    def test_data_without_content_leaves_the_page_empty(self) -> None:
        self.assertEqual(self.kind("scripts/noise"), "blocked")


class Alternates(SiteCase):
    def test_the_markdown_version_precedes_the_print_version(self) -> None:
        page = self.page("scripts/with-markdown")
        self.assertTrue(page["final_url"].endswith("/site/scripts/ferries.md"), page)
        self.assertIn(EVENING, page["text"])
        self.assertIn("the version that it links to", page["note"])
        self.assertEqual(page["url"], self.address("scripts/with-markdown"))

    def test_the_print_version_of_a_thin_page_is_read(self) -> None:
        page = self.page("scripts/with-print")
        self.assertTrue(page["final_url"].endswith("/site/scripts/print"), page)
        self.assertIn(MORNING, page["text"])

    def test_a_version_at_a_refused_address_is_not_fetched(self) -> None:
        for path in ("with-private", "with-file", "with-itself"):
            with self.subTest(path):
                self.assertEqual(self.kind(f"scripts/{path}"), "blocked")
        paths = [request.path for request in self.server.requests]
        self.assertEqual(len(paths), 3)

    def test_robots_rules_also_apply_to_the_version(self) -> None:
        page = self.page("scripts/with-print", robots=True)
        self.assertIn(MORNING, page["text"])
        self.assertIn("/robots.txt", [request.path for request in self.server.requests])


if __name__ == "__main__":
    unittest.main()
