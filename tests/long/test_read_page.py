"""What takes longer: 2,000 mutated pages, pages of 5 MB, and random addresses for the guard."""

from __future__ import annotations

import ipaddress
import random
import time
import unittest
from typing import Any

from tests.extraction.test_read_page_extract import ATTACKS, fuzz
from tests.support import load_script

fetch: Any = load_script("websearch.fetching.fetch")
markdown: Any = load_script("websearch.extraction.markdown")
BIG = 5_000_000  # characters, the cap of a page


class Fuzz(unittest.TestCase):
    def test_two_thousand_mutated_pages_never_fail(self) -> None:
        fuzz(self, seed=23, pages=2_000)


class Big(unittest.TestCase):
    def test_five_megabytes_of_anything_are_read_within_the_time_of_a_page_or_little_more(
        self,
    ) -> None:
        for name, unit in {**ATTACKS, "one line": "word ", "text": "<p>Some words, here. "}.items():
            with self.subTest(name):
                started = time.process_time()
                markdown.extract_markdown((unit * (BIG // len(unit) + 1))[:BIG])
                self.assertLess(time.process_time() - started, 12)

    def test_work_grows_with_the_length_over_three_sizes(self) -> None:
        for name, unit in ATTACKS.items():
            seconds = []
            for size in (50_000, 200_000, 800_000):
                started = time.process_time()
                markdown.extract_markdown((unit * size)[:size])
                seconds.append(time.process_time() - started)
            with self.subTest(name, seconds=seconds):
                # Broken quotes pair up or not with the length: the greater base counts.
                self.assertLess(seconds[2], 3 * max(16 * seconds[0], 4 * seconds[1]) + 0.3)


class Guard(unittest.TestCase):
    def test_no_address_of_a_special_network_is_public_and_most_others_are(self) -> None:
        generator = random.Random(7)
        for network in map(ipaddress.ip_network, fetch.REFUSED_NETWORKS):
            for _ in range(200):
                number = int(network.network_address) + generator.randrange(network.num_addresses)
                plain = type(network.network_address)(number)
                self.assertFalse(fetch.is_public(str(plain)), plain)
                if network.version == 4:
                    for form in (f"::ffff:{plain}", f"64:ff9b::{plain}", f"::{plain}"):
                        self.assertFalse(fetch.is_public(form), form)
        public = sum(
            fetch.is_public(str(ipaddress.IPv4Address(generator.randrange(2**32))))
            for _ in range(2_000)
        )
        self.assertGreater(public, 1_500)


if __name__ == "__main__":
    unittest.main()
