"""Attacks of nearly five megabytes: no call outlives its deadline, and its work soon ends, too.

The only module to notice work that grows with the square of a page: none of these takes a minute.
Each test takes ATTACK_SECONDS (default: 60; 0 tries all attacks), in an order that ATTACK_SEED
gives (default: the day), because each attack keeps a processor busy for seconds.
"""

from __future__ import annotations

import time
import unittest
from typing import Any

from tests.contract.test_patterns import all_uses
from tests.pages.extract.attack_pages import (
    PAGE_BYTES,
    SEED,
    pattern_attacks,
    repeated,
    within_seconds,
)
from tests.pages.extract.test_attack_guard import LATENESS, MAIN, CannedPage, wait_for_readers
from tests.pages.extract.test_read_page_extract import ATTACKS
from tests.support import SLACK

TIMEOUT = 1.0  # seconds for a call
ROOMS = ("core", "extraction", "fetching", "passages", "reading")  # whose patterns read a page
# Pages that once took many seconds.
HARD = {
    "shell": "<!--" + repeated("<div id=root ", PAGE_BYTES) + "-->",
    "authors": "<div class=author>" * 110 + "<i></i>" * 95_000,
    "data": ('<script type="application/ld+json">[' + "1," * 490_000 + "1]</script>") * 4,
    "end tags": "<b><table><tr><td>" + "<i>" * 110 + "</b>" * 1_200_000,
    "summaries": "<summary>" * 110 + "word " * 400_000,
    "terms": "<dl><dt>" * 55 + "word " * 600_000,
    "blocks in terms": "<dl><dt>" * 58 + "<p>a" * 95_000,
    "blocks in headings": "<h2><div>" * 58 + "<p>a" * 95_000,
    "blocks in links": "<a href=x><div>" * 58 + "<p>a" * 95_000,
    "code in code": "<table><tr><td>" + "<pre>" * 112 + "<b>a</b>" * 95_000,
    "terms without an end": "<dl><dt>" * 100_000 + "word",
    "spans": "<table>" + "<tr><td rowspan=1000000 colspan=1000000>x<td>y" * 90_000,
    "cells": "<table>" + ("<tr>" + "<td>1" * 10) * 100_000,
    "ids": ("<div id='" + "comments " * 110_000 + "'><h2>comments</h2><p>x") * 4,
}
# What the search for a date goes through.
DATES = (
    "<p class=date>1 2 3 4 5 6 7 8 9</p>", "<p class=date>1. 1. 1. 1. 1. 1. 1.",
    "<div class=date>" * 50 + "<b></b>" * 500, "<footer>", "<h1>A heading</h1>",
    "<time datetime=2020-01-01>", "<time datetime=2020-01-01></time>",
    "<b class=date>A few words</b>", "<table><tr><th>", "<title>" + "A heading " * 9 + "</title>",
    "<meta name=date content='" + "12 " * 90 + "'>", "2020-", "/2020/", "<h1><b><i>",
    '<script type=application/ld+json>{"@type": "WebPage"</script>',
)  # fmt: skip
# Texts whose sections, units and lines are looked for.
TEXTS = (
    "a\n===\n", "<h1>", "# a\n", "#" * 6 + " a\n", "```\n", "a" * 50 + "\n", "#", "word ",
    "Rain fell on the harbour. ", "harbour", "harbour ", "x\n\n", "```\n\nx\n\n", ". ",
    "- harbour\n", "| harbour | x |\n", "# harbour\n\nrain\n\n", "harbour. ", "....", " ",
    "港", "เรือ", "# ", "a.", "\n ", "~", "`",
)  # fmt: skip


class Deadline(CannedPage):
    def check(self, body: str, **params: Any) -> None:
        started = time.monotonic()
        self.read(body, timeout=TIMEOUT, query="some harbour rain", **params)
        self.assertLess(time.monotonic() - started, TIMEOUT + LATENESS + SLACK)
        self.assertTrue(wait_for_readers())

    def test_of_no_page_made_from_a_pattern(self) -> None:
        rooms = tuple(f"websearch/{room}/" for room in ROOMS)
        attacks = {}
        for use in all_uses():
            if use.origin.startswith(rooms) and isinstance(use.pattern, str):
                brief = [one for one in pattern_attacks(use.origin, use.pattern) if one.is_brief]
                attacks |= {attack.origin: attack for attack in brief[:1]}
        for attack in within_seconds(list(attacks.values())):
            with self.subTest(attack.origin, seed=SEED):
                self.check(attack.text(PAGE_BYTES)[:PAGE_BYTES], links=True)

    def test_of_no_broken_page(self) -> None:
        pages = {name: repeated(unit, PAGE_BYTES) for name, unit in ATTACKS.items()}
        pages |= {unit[:30]: MAIN + repeated(unit, 200_000) for unit in DATES}
        pages |= {name: MAIN + body for name, body in HARD.items()}
        for name, body in within_seconds(list(pages.items())):
            with self.subTest(name, seed=SEED):
                self.check(body, links=True)

    def test_of_no_text(self) -> None:
        for unit in within_seconds(list(TEXTS)):
            text = repeated(unit, 240_000)
            for params in ({}, {"outline": True}, {"find": "a`a“a"}):
                with self.subTest(unit, seed=SEED, **params):
                    self.check(text, headers={"Content-Type": "text/plain"}, **params)


if __name__ == "__main__":
    unittest.main()
