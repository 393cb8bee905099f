"""What takes longer: 2,000 mutated pages, and random addresses for the guard.

The only module to notice a damaged page that raises, or an address that passes the guard.
"""

from __future__ import annotations

import ipaddress
import random
import unittest

from tests.pages.extract.test_read_page_extract import fuzz
from websearch.pages.fetch import fetch


class Fuzz(unittest.TestCase):
    def test_two_thousand_mutated_pages_never_fail(self) -> None:
        fuzz(self, seed=23, pages=2_000)


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
