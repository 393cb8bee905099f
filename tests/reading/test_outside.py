"""Parts of a page next to its text: a question finds them, a reader without one sees the text.

The only module to notice figures next to an article that --query and --find miss.
"""

from __future__ import annotations

import time
import unittest
from typing import Any

from tests.reading.test_read_page import SiteCase
from websearch.pages.fetch import fetch
from websearch.reading import one_page
from websearch.reading import pages_document as documents

URL = "https://example.org/news"
PROSE = (
    "<p>The company said on Monday that it had agreed to be bought, and that its shareholders "
    "would vote on the plan in the summer of the year.</p>"
)
QUOTE = (
    '<div class="column--aside"><h3>Quote</h3><table><tr><th>Market Cap</th><td>$1.25B</td></tr>'
    "<tr><th>Volume</th><td>3,904</td></tr></table><nav>Markets index</nav></div>"
)
PAGE = (
    "<html><head><title>A sale</title><meta property=og:type content=article></head>"
    "<body><nav>Dividend menu</nav><article>"
    f"<h1>A sale is agreed</h1>{PROSE * 6}</article>{QUOTE}"
    '<aside style="display:none">Hidden dividend</aside><form>Dividend search</form>'
    "<footer>Dividend of the site</footer></body></html>"
)


def read(html: str = PAGE, **params: Any) -> dict[str, Any]:
    """Return the document of a page read from bytes."""
    answer = fetch.fetched_bytes(URL, html.encode(), "text/html")
    page = one_page.read_page(answer, params, time.monotonic() + 10)
    page.url = URL
    params = {"offset": 0, "max_chars": 9_000, **params}
    document: dict[str, Any] = documents.pages_document([page], params, time.monotonic() + 10)
    return document


class Outside(unittest.TestCase):
    def test_the_text_of_the_page_is_as_before(self) -> None:
        page = read()["pages"][0]
        self.assertNotIn("Market Cap", page["text"])
        self.assertNotIn("outside", page)

    def test_a_question_looks_at_both_in_the_order_of_the_page(self) -> None:
        vote = PAGE.replace("</article>", "<p>Each of the owners has one vote.</p></article>")
        passages = read(vote, query="vote of the owners, market cap")["pages"][0]["passages"]
        self.assertEqual([one["heading"] for one in passages], ["", "Quote"])
        self.assertIn("owners", passages[0]["text"])
        self.assertIn("$1.25B", passages[1]["text"])

    def test_a_heading_of_the_text_is_not_above_the_row(self) -> None:
        html = PAGE.replace("</article>", f"<h2>References</h2>{PROSE}</article>")
        html = html.replace("<h3>Quote</h3>", "")
        passages = read(html, query="market cap")["pages"][0]["passages"]
        self.assertEqual(passages[0]["heading"], "")
        self.assertIn("$1.25B", passages[0]["text"])

    def test_headlines_leave_some_space_for_the_row(self) -> None:
        news = "".join(
            f"<li><a>Headline {number} on the market</a><p>Story {number} tells how it went."
            for number in range(99)
        )
        html = PAGE.replace("</article>", f"<ul>{news}</ul></article>")
        passages = read(html, query="market cap", max_chars=3_000)["pages"][0]["passages"]
        self.assertIn("$1.25B", str(passages))

    def test_menus_forms_feet_and_hidden_parts_are_not_kept(self) -> None:
        self.assertNotIn("passages", read(query="dividend")["pages"][0])
        self.assertNotIn("passages", read(query="index")["pages"][0])

    def test_data_values_are_found_for_short_pages_only(
        self,
    ) -> None:
        data = (
            '<script type="application/ld+json">{"@type": "Event", "name": "Sale", "doorTime": '
            '"19:30", "location": {"name": "Kettle Hall", "url": "https://x.example.org/hall"}}'
            '</script><script type="application/json">{"props": {"isOn": true, "seats": [431, 17]}}'
            '</script><div itemscope><meta itemprop="duration" content="90 minutes"></div>'
        )
        for page_html, count in ((PAGE, 1), (PAGE.replace(PROSE, PROSE * 9), 0)):
            html = page_html.replace("</article>", f"</article>{data}")
            for query, value in (
                ("seats", "props seats: 431"), ("seats", "props seats: 17"),
                ("location hall", "location name: Kettle Hall"),
                ("duration", "duration: 90 minutes"),
            ):  # fmt: skip
                page = read(html, query=query)["pages"][0]
                self.assertEqual(str(page.get("passages")).count(value), count, query)
            self.assertNotIn("431", read(html)["pages"][0]["text"])
            self.assertNotIn("x.example.org", str(read(html, query="url hall")))

    def test_find_looks_there_last_and_says_so(self) -> None:
        document = read(find=["$1.25B"])
        place = document["pages"][0]["places"][0]
        self.assertEqual(place["heading"], "Quote")
        self.assertNotIn("offset", place)
        self.assertIn("Next to the text, under Quote:", documents.to_markdown(document))
        self.assertFalse(read(find=["dividend"])["ok"])

    def test_dropped_text_of_a_long_page_is_limited(self) -> None:
        rows = "".join(f"<tr><td>Figure {number}</td></tr>" for number in range(9_000))
        answer = fetch.fetched_bytes(
            URL, PAGE.replace("<tr><th>Volume", rows + "<tr><th>").encode()
        )
        page = one_page.read_page(answer, {}, time.monotonic() + 30)
        self.assertLessEqual(len(page.outside), 20_000)


class Shown(unittest.TestCase):
    def test_found_code_is_exact(self) -> None:
        code = "asio::post([&](error_code e) { run(e); });"
        html = PAGE.replace("</article>", f"<pre><code>{code}\nnext();</code></pre></article>")
        html = html.replace("&]", "&amp;]")
        self.assertIn(code, documents.to_markdown(read(html, find=["run(e)"])))

    def test_passages_end_with_a_way_to_the_others_that_exists(self) -> None:
        prose = "".join(f"<p>On day {n}, the sun was seen over the bay.</p>" for n in range(300))
        for heading, way in (("", "without --query"), ("<h2>Bay</h2>", "--section 'HEADING'")):
            html = PAGE.replace("</article>", f"{heading}{prose}</article>")
            shown = documents.to_markdown(read(html, query="sun over the bay"))
            self.assertTrue(shown.endswith(f"more {way}" if not heading else way), shown[-200:])


class Stored(SiteCase):
    def test_the_store_keeps_it(self) -> None:
        for _ in range(2):
            page = self.page("articles/quote", query="market cap")
            self.assertIn("$1.25B", page["passages"][-1]["text"])
        self.assertTrue(page["from_cache"])


if __name__ == "__main__":
    unittest.main()
