"""Long texts made of one piece: work in proportion to the square of their length is noticed here.

In quadratic time each of them would take minutes, and the module has no such time.
"""

from __future__ import annotations

import tempfile
import unittest

from tests.long.test_attack_deadline import TEXTS
from tests.support import load_script
from websearch.passages import excerpts
from websearch.store import page_store

PARSERS = (
    load_script("websearch.engines.duckduckgo").parse_result_page,
    load_script("websearch.engines.google").parse_result_page,
    load_script("websearch.engines.searxng").parse_html,
)


def hostile_pages(size: int) -> dict[str, str]:
    """Pages on which careless parsers take quadratic time."""
    result = '<div class="result"><a class="result__a" href="https://a.example/'
    link = '<a href="https://a.example/">'
    vqd = "<form><input type=hidden name=vqd value=1><input type=hidden name=s value=9>"
    failure = '<td class="engine-name"><td class="response-error">'
    pieces = {
        "open tags": "<div ", "open quotes": '<a href="', "one quote each": "<a b='\" ",
        "equal signs": "<a =", "blanks": "<a          ", "slashes": "<a/", "open comments": "<!--",
        "open ends": "</", "ends without start": "</div>", "brackets": "<", "declarations": "<!",
        "questions": "<?", "scripts": "<script>", "entities": "&amp", "ampersands": "&a;&",
        "nested": "<div><b>", "nested and closed wrongly": "<div></p></b><i>",
        "results in a row": f'{result}">t</a></div>', "nested results": f'{result}">t',
        "unclosed results": result, "articles": '<article class="result"><h3><a href=x>',
        "nested headings": f"{link}<h3>", "forms": vqd, "failures": failure, "titles": "<title>",
        "snippets": f'{link}<h3></h3></a><div class="VwiC3b"><span class="f">',
    }  # fmt: skip
    return {name: piece * (size // len(piece)) for name, piece in pieces.items()}


class LongTexts(unittest.TestCase):
    def test_result_pages_are_parsed(self) -> None:
        for name, page in hostile_pages(100_000).items():
            for parse in PARSERS:
                with self.subTest(name, parser=parse.__module__):
                    parse(page)

    def test_passages_are_found(self) -> None:
        size = 480_000
        for piece in TEXTS:
            with self.subTest(piece):
                excerpts.select_passages((piece * size)[:size], "harbour rain 港 เรือ", 2_000)

    def test_pages_of_marks_or_of_long_normal_forms_are_stored(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = page_store.PageStore(f"{folder}/cache.db")
            self.addCleanup(store.close)
            for text in ("a" + "\u0300\u0316" * 250_000, "\ufdfa" * 500_000, "\u6771" * 500_000):
                for number in range(2):  # the second one removes the first
                    store.put_pages([{"url": "https://a.test/", "text": f"heron{number} {text}"}])
                found = [page["url"] for page in store.recall("heron1", 5)]
                self.assertEqual(found, ["https://a.test/"])


if __name__ == "__main__":
    unittest.main()
