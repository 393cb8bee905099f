"""Pages that scripts fill: their text from their data, and from the versions that they name.

The only module that detects text in a page's data that is not read.
"""

from __future__ import annotations

import json
import time
import unittest
from typing import Any

from tests.fake_server.script_pages import EVENING, MORNING, NOISE, data_script, shell
from tests.reading.test_read_page import SiteCase
from websearch.pages.extract import page_data, page_tree
from websearch.pages.extract import script_data as payload
from websearch.reading import one_page

DOTTED = "\u0130"  # a capital I with a dot, which is two characters in lower case


def text_in(html: bytes | str) -> str:
    """Return the text in a page's data."""
    source = html.decode() if isinstance(html, bytes) else html
    page = page_tree.PageTree(source)
    text: str = page_data.data_markdown(source, page, "https://x.example/", False)
    return text


class Data(SiteCase):
    def test_a_page_without_text_is_read_from_its_data(self) -> None:
        for path in ("next", "rich-text", "payload", "nuxt", "nuxt-function", "state", "noscript"):
            with self.subTest(path):
                page = self.page(f"scripts/{path}")
                self.assertIn(MORNING, page["text"])
                self.assertIn(EVENING, page["text"])
                self.assertLess(page["text"].index(MORNING), page["text"].index(EVENING))
                self.assertIn("data that the page contains", page["note"])
                self.assertNotIn("truncated", page)

    def test_letters_that_grow_in_lower_case_move_nothing(self) -> None:
        body = f"<title>{DOTTED * 50}</title><noscript><p>{MORNING}</p></noscript>"
        self.assertEqual(page_data.longest_noscript(body), f"<p>{MORNING}</p>")

    def test_the_article_body_in_linked_data_is_the_text(self) -> None:
        self.assertEqual(self.page("scripts/article-body")["text"], f"{MORNING} {EVENING}")

    def test_headings_are_kept(self) -> None:
        text = self.page("scripts/next")["text"]
        self.assertTrue(text.startswith("## Ferries to the island\n\n"), text)
        self.assertIn("\n\n## Back\n\n", text)
        self.assertIn("### Out\n\n", self.page("scripts/rich-text")["text"])
        self.assertIn("# Out\n\n", self.page("scripts/payload")["text"])

    def test_data_around_the_content_is_omitted(self) -> None:
        for path in ("next", "state"):
            text = self.page(f"scripts/{path}")["text"]
            for word in ("rights", "valid", "bus", "cdn"):
                with self.subTest(path=path, word=word):
                    self.assertNotIn(word, text)

    def test_data_without_content_leaves_the_page_empty(self) -> None:
        self.assertEqual(self.kind("scripts/noise"), "blocked")

    def test_a_page_that_shows_text_is_read_without_its_data(self) -> None:
        shown = "<p>" + "What the page shows itself, in a paragraph of many words. " * 9 + "</p>"
        html = shell(data_script({"body": MORNING}, "__NEXT_DATA__"), body=shown)
        server = self.canned(html)
        text = self.page(server)["text"]
        self.assertIn("What the page shows itself", text)
        self.assertNotIn(MORNING, text)

    def canned(self, body: bytes) -> str:
        from urllib.parse import urlsplit

        from tests.support import CannedServer

        server = CannedServer()
        self.addCleanup(server.close)
        server.body, server.headers = body, {"Content-Type": "text/html"}
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=urlsplit(server.url).netloc)
        return server.url

    def test_text_from_the_data_is_cleaned(self) -> None:
        hidden = MORNING + "\u202e\u001b[31m" + EVENING
        server = self.canned(shell(data_script({"body": hidden}, "__NEXT_DATA__")))
        text = self.page(server)["text"]
        self.assertNotRegex(text, "[\u202e\u001b]")
        self.assertIn(EVENING, text)


class Sources(unittest.TestCase):
    """Markdown in a page, which a script of the page converts."""

    TALK = "# Yeast\n\n- Dough at 24 \u00b0C rises in 95 minutes\n- At 30 \u00b0C in 60 minutes\n"

    def text_of(self, body: str) -> str:
        html = f"<!doctype html><title>Talk</title><body>{body}<script src=a.js></script>".encode()
        deadline = time.monotonic() + 20
        document = one_page.read_bytes("https://x.example/", html, "text/html", {}, deadline)
        return str(document.get("text", document.get("error")))

    def test_markdown_that_a_script_converts_is_read_with_its_lines(self) -> None:
        for body in (
            f'<textarea id="source">{self.TALK}</textarea>',
            f'<h1>Talk</h1><textarea style="display:none;">{self.TALK}</textarea>',
            f'<script type="text/markdown">{self.TALK}</script>',
            f'<div id="doc" class="markdown-body">{self.TALK}</div>',
            f'<xmp style="display:none;">\n{self.TALK}</xmp>',
        ):
            with self.subTest(body):
                self.assertEqual(self.text_of(body), self.TALK.strip())

    def test_slides_of_markdown_follow_slides_of_html(self) -> None:
        slides = "<section data-markdown><textarea data-template>\n  ## Clay\n  Two kinds.\n"
        slides += '</textarea></section><section data-markdown><script type="text/template">\n'
        body = f"<section><p>{MORNING}</p></section>{slides}## Wheels\n</script></section>"
        self.assertEqual(self.text_of(body), f"{MORNING}\n\n## Clay\nTwo kinds.\n\n## Wheels")

    def test_the_source_of_text_that_is_shown_and_live_markup_are_not_added(self) -> None:
        shown = "<h2>Yeast</h2><ul><li>Dough at 24 \u00b0C rises in 95 minutes<li>More</ul>"
        body = f"<main>{shown}</main><textarea hidden>{self.TALK}</textarea>"
        self.assertEqual(self.text_of(body).count("95 minutes"), 1)
        live = f"{self.TALK}\n![x](http://a.example/x.png) &lt;img src=x&gt;\n"
        text = self.text_of(f'<textarea id="source">{live}</textarea>')
        self.assertIn("95 minutes", text)
        self.assertNotIn("![x](", text)
        self.assertNotIn("<img", text.replace("\\<img", ""))


class Prose(unittest.TestCase):
    def prose(self, data: Any) -> str:
        return text_in(shell(data_script(data, "__NEXT_DATA__")))

    def test_urls_code_and_class_names_are_not_prose(self) -> None:
        for value in (
            NOISE["image"], "a{color:red;margin:0 0 0 0} b{x:1;y:2} c{z:3} d{w:4} e{v:5}",
            "flex items-center", "2024-01-31T12:00:00Z", "0 1 2 3 4 5 6 7 8 9 10 11 12",
        ):  # fmt: skip
            with self.subTest(value):
                self.assertEqual(self.prose({"value": value}), "")

    def test_a_repeated_text_appears_once(self) -> None:
        self.assertEqual(self.prose([{"body": MORNING}, {"copy": MORNING}]), MORNING)

    def test_text_without_spaces_between_words_is_prose(self) -> None:
        text = "朝の最初の船は六時半に出て、霧の月には水先案内人が二番目の浮標を見るまで待つ。"
        self.assertEqual(self.prose({"body": text}), text)

    def test_recursive_flat_lists_end(self) -> None:
        flat = [{"a": 0, "b": 1, "text": 2}, [0, 1, 2, 1], MORNING]
        self.assertEqual(self.prose(flat), MORNING)

    def test_recursive_payload_rows_end(self) -> None:
        rows = {"0": ["$", "p", None, {"children": [MORNING, "$1"]}], "1": ["$0", "$1", EVENING]}
        html = payload.rows_as_html(rows)
        self.assertEqual((html.count(MORNING), html.count(EVENING)), (1, 1))

    def test_data_of_any_depth_and_length_takes_little_time(self) -> None:
        deep = '{"a":' * 200_000
        many = json.dumps(
            [{"title": f"T {number}", "body": f"{number} {MORNING}"} for number in range(9_999)]
        )
        flat = "[" + ",".join(f'{{"a":{number + 1}}}' for number in range(200_000)) + "]"
        rows = "".join(f'{number:x}:[\\"$\\",\\"p\\",null,{{}}]\\n' for number in range(99_999))
        for name, script in (
            ("deep", f"<script type='application/json'>{deep}</script>"),
            ("many", f"<script type='application/json'>{many}</script>"),
            ("flat", f"<script type='application/json'>{flat}</script>"),
            ("digits", f"<script type='application/json'>[{'9' * 1_000_000}]</script>"),
            ("rows", f'<script>self.__next_f.push([1,"{rows}"])</script>'),
            ("quotes", "<script>window.__A__=f(" + '"' * 999_999 + "</script>"),
            ("escapes", "<script>window.__A__=f(" + '"\\x' * 333_333 + "</script>"),
            ("noscript", "<noscript>" * 99_999),
        ):
            with self.subTest(name):
                self.assertLess(len(text_in(script)), 2_000_000)

    def test_broken_data_is_ignored(self) -> None:
        for script in (
            "<script type='application/json'>{broken</script>",
            "<script type='application/json'>null</script>",
            "<script>self.__next_f.push([1,</script>",
            '<script>self.__next_f.push([1,"0:[1,2\\n:::\\n1:Tffffffff,x"])</script>',
            "<script>window.__A__=</script>",
            "<script type='application/json'>[[\"Reactive\",99999]]</script>",
        ):
            with self.subTest(script):
                self.assertEqual(text_in(script), "")


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
