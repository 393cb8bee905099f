"""The price of a product from the page's data, if its text lacks it.

The only module that detects a price that is lost, written twice, or of another product.
"""

from __future__ import annotations

import json
import time
import unittest
from typing import Any

from tests.support import SLACK
from websearch.pages.extract import offers, page_tree

IN_STOCK = "https://schema.org/InStock"
EURO = {"price": "84.50", "priceCurrency": "EUR", "availability": IN_STOCK}
# A product's "offers" -> the line.
DATA = (
    (EURO, "Price: 84.50 EUR, in stock"),
    ({"price": 84.5, "priceCurrency": "EUR"}, "Price: 84.50 EUR"),
    ({"price": 1299, "priceCurrency": "<b>", "availability": "x"}, "Price: 1299"),
    ({"lowPrice": "5", "highPrice": 9.5, "priceCurrency": "USD"}, "Price: 5 to 9.50 USD"),
    ({"priceSpecification": {"price": "7.00", "priceCurrency": "USD"}}, "Price: 7.00 USD"),
    (
        [{"name": "Basic", "price": "9"}, {"name": "Pro *", "price": "19"}],
        "Price: Basic: 9; Pro *: 19",
    ),
    ({"price": "on request"}, ""),
    ({"price": {"value": 3}}, ""),
    (None, ""),
    ([[]], ""),
)
# A price in the data, and a text that has it or lacks it.
TEXTS = (
    ("84.50", "It costs 84,50 € now.", True),
    ("84.5", "It costs $84.50.", True),
    ("84.50", "It costs 184.50.", False),
    ("84.50", "It costs 84.", False),
    ("1299.00", "Now 1.299,00 €.", True),
    ("1299", "Now $1,299!", True),
    ("1299", "Model 21299", False),
)
MARKED = (
    (
        '<i itemprop="price" content="84.50"></i><i itemprop="priceCurrency" content="EUR"></i>'
        f'<link itemprop="availability" href="{IN_STOCK}">'
    ),
    (
        '<meta property="product:price:amount" content="84.50">'
        '<meta property="product:price:currency" content="EUR">'
        '<meta property="product:availability" content="in stock">'
    ),
)


def line_of(html: str, text: str = "A heavy vice.") -> str:
    """Return the line for a page with this HTML and text."""
    line: str = offers.offer_line(page_tree.PageTree(html), text)
    return line


def data_page(*values: Any) -> str:
    """Return a page with products, each with its offers."""
    items = [
        {"@type": "Product", "name": f"Vice {number}", "offers": value}
        for number, value in enumerate(values)
    ]
    return f'<script type="application/ld+json">{json.dumps({"@graph": items})}</script>'


class Offers(unittest.TestCase):
    def test_the_price_in_json_ld_is_a_line(self) -> None:
        for value, line in DATA:
            with self.subTest(value):
                self.assertEqual(line_of(data_page(value)), line)

    def test_the_price_in_microdata_or_open_graph_is_a_line(self) -> None:
        for html in MARKED:
            with self.subTest(html):
                self.assertEqual(line_of(html), "Price: 84.50 EUR, in stock")

    def test_a_price_in_the_text_is_not_repeated(self) -> None:
        for price, text, has_it in TEXTS:
            with self.subTest((price, text)):
                line = line_of(data_page({"price": price}), text)
                self.assertEqual(line, "" if has_it else f"Price: {price}")

    def test_a_page_with_several_products_has_no_price(self) -> None:
        self.assertEqual(line_of(data_page(EURO, {"price": "9"})), "")
        self.assertEqual(line_of('<b itemprop="price">5</b><b itemprop="price">6</b>'), "")

    def test_long_data_is_read_in_limited_time(self) -> None:
        start = time.process_time()
        line_of(data_page(*([EURO] * 20_000)), "1" * 1_000_000)
        line_of(data_page({"price": "1 111 111 111.11"}), "1 " * 500_000)
        self.assertLess(time.process_time() - start, 6 * SLACK)


if __name__ == "__main__":
    unittest.main()
