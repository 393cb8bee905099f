"""Read a product's price from the page's data: JSON-LD, Open Graph or microdata.

Many shops show prices by script, so only the page's data for search engines contains them
(schema.org Product and Offer; developers.google.com, structured data for merchants).
"""

from __future__ import annotations

import itertools
import re

from websearch.base.html_tree import text_beginning
from websearch.base.untrusted import disarm_text
from websearch.kit import one_line
from websearch.pages.extract.metadata import linked_data, meta_values, types_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.extract.page_tree import PageTree

MAX_ITEMS = 500  # JSON-LD items to examine
MAX_OFFERS = 6  # offers in the output line
MAX_NAME = 60  # characters of an offer's name
MAX_AMOUNT = 20  # characters of a price
# Types of items for sale; offers in an article or a product list are not the page's subject.
_SOLD = r"Product|SoftwareApplication|WebApplication|MobileApplication|Vehicle|Book|Course|Event"
_AMOUNT = r"\d{1,9}(?:[.,'\u00a0 ]\d{3}){0,3}(?:[.,]\d{1,4})?"
AVAILABILITY = {
    "instock": "in stock", "outofstock": "out of stock", "soldout": "sold out",
    "preorder": "pre-order", "presale": "pre-sale", "backorder": "back order",
    "discontinued": "discontinued", "limitedavailability": "limited availability",
    "onlineonly": "online only", "instoreonly": "in store only", "madetoorder": "made to order",
}  # fmt: skip


def offer_line(page: PageTree, text: str) -> str:
    """Return a line with the price of the page's product; "" if the page's text contains the price.

    text: text of the page. Pages that sell several products get no line.
    """
    offers = data_offers(page) or marked_offers(page)
    lacking = [offer for offer in offers if not has_amount(text, offer["price"])]
    if not lacking:
        return ""
    lines = dict.fromkeys(offer_text(offer, len(offers) > 1) for offer in lacking[:MAX_OFFERS])
    return f"Price: {'; '.join(lines)}"


def offer_text(offer: dict[str, str], is_named: bool) -> str:
    """Return an offer as text: its name (if is_named), price and availability."""
    price = " ".join(filter(None, (offer["price"], offer["currency"])))
    price = ", ".join(filter(None, (price, offer["availability"])))
    name = disarm_text(one_line(offer["name"], MAX_NAME)) if is_named else ""
    return f"{name}: {price}" if name else price


def has_amount(text: str, price: str) -> bool:
    """Return whether a text contains the amount of a price, with any separators."""
    return any(re.search(amount_pattern(amount), text) for amount in re.findall(_AMOUNT, price))


def amount_pattern(amount: str) -> str:
    """Return a pattern for an amount with any separators: 1299.00 matches 1.299,- and 1 299."""
    cents = re.search(r"[.,](\d{1,2})$", amount)
    whole = re.sub(r"\D", "", amount[: cents.start()] if cents else amount)
    groups = re.findall(r"\d{1,3}", whole[::-1])
    digits = r"[.,'\u00a0\u202f ]?".join(group[::-1] for group in groups[::-1])
    part = cents[1].ljust(2, "0") if cents else "00"
    ending = r"(?:[.,]00)?" if part == "00" else rf"[.,^\s]{{0,2}}{part.removesuffix('0')}"
    return rf"(?<!\d)(?<!\d[.,]){digits}{ending}"


# ===== offers in the data =========================================================================


def data_offers(page: PageTree) -> list[dict[str, str]]:
    """Return the offers of the only product in the page's JSON-LD, or []."""
    sold = [item for data in linked_data(page, '"offers"') for item in sold_items(data)]
    if len({str(item.get("name")) for item in sold}) != 1:
        return []
    return [offer for value in offers_in(sold[0].get("offers")) if (offer := read_offer(value))]


def sold_items(data: object) -> list[dict[str, Any]]:
    """Return the items in a JSON-LD value that are for sale and have offers."""
    items, sold = [data], []
    for item in itertools.islice(items, MAX_ITEMS):  # the loop extends items
        if isinstance(item, list):
            items += item
        elif isinstance(item, dict):
            items += [item[name] for name in ("@graph", "mainEntity") if name in item]
            if "offers" in item and re.search(_SOLD, types_of(item)):
                sold.append(item)
    return sold


def offers_in(value: object) -> list[dict[str, Any]]:
    """Return the offers in the value of "offers": an object or a list of objects."""
    values = value if isinstance(value, list) else [value]
    return [offer for offer in values[:MAX_OFFERS] if isinstance(offer, dict)]


def read_offer(offer: dict[str, Any]) -> dict[str, str]:
    """Return the name, price, currency and availability of a JSON-LD offer; {} without a price."""
    named = next(iter(offers_in(offer.get("priceSpecification"))), {})
    low, high = (amount_of(offer.get(name)) for name in ("lowPrice", "highPrice"))
    span = f"{low} to {high}" if low and high and low != high else low
    price = amount_of(offer.get("price")) or span or amount_of(named.get("price"))
    if not price:
        return {}
    name = offer.get("name")
    return {
        "name": name if isinstance(name, str) else "",
        "price": price,
        "currency": currency_of(offer.get("priceCurrency") or named.get("priceCurrency")),
        "availability": availability_of(offer.get("availability")),
    }


def marked_offers(page: PageTree) -> list[dict[str, str]]:
    """Return the page's only offer in Open Graph elements or microdata, or []."""
    marked: dict[str, list[str]] = {"price": [], "priceCurrency": [], "availability": []}
    for node in page.nodes:
        name = node.attributes.get("itemprop", "") if node.attributes else ""
        if name in marked:
            get = node.attributes.get
            value = get("content") or get("href") or text_beginning(node, MAX_AMOUNT)
            marked[name].append(value)
    meta = meta_values(page)
    prices = {amount_of(value) for value in marked["price"]}
    price = next(iter(prices)) if len(prices) == 1 else ""
    price = price or amount_of(meta.get("product:price:amount") or meta.get("og:price:amount"))
    if not price:
        return []
    currency = meta.get("product:price:currency") or meta.get("og:price:currency")
    state = meta.get("product:availability") or meta.get("og:availability")
    return [
        {
            "name": "",
            "price": price,
            "currency": currency_of(next(iter(marked["priceCurrency"]), currency)),
            "availability": availability_of(next(iter(marked["availability"]), state)),
        }
    ]


def amount_of(value: object) -> str:
    """Return a price as the page writes it, or a number with at most two decimals, or ""."""
    if isinstance(value, float):
        value = f"{value:.2f}".removesuffix(".00") if 0 <= value < 1e12 else ""
    if not isinstance(value, str):
        return ""
    found = re.search(_AMOUNT, value[: 2 * MAX_AMOUNT])
    return found[0] if found else ""


def currency_of(value: object) -> str:
    """Return a value if it is a currency code, else ""."""
    return value if isinstance(value, str) and re.fullmatch(r"[A-Z]{3}", value) else ""


def availability_of(value: object) -> str:
    """Return plain words for a schema.org availability, or ""."""
    name = value.rpartition("/")[2] if isinstance(value, str) else ""
    return AVAILABILITY.get(re.sub(r"[\W_]", "", name[:MAX_NAME]).lower(), "")
