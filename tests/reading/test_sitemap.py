"""--sitemap: the URLs that a site's sitemaps list, one per line."""

from __future__ import annotations

import json
import unittest

from tests.reading.test_read_page import SCRIPT, SiteCase
from tests.support import run_script


class Sitemaps(SiteCase):
    def addresses(self, place: str, *words: str) -> list[str]:
        """Return the lines that the command prints, without the server's address."""
        run = self.run_script(SCRIPT, "--sitemap", f"{self.server.url}/{place}", *words)
        self.assertEqual(run.code, 0, run.stdout)
        return [line.replace(self.server.url, "") for line in run.stdout.decode().splitlines()]

    def test_robots_txt_names_an_index_whose_files_are_read(self) -> None:
        found = self.addresses("")
        wanted = ["/site/list/news", "/site/articles/sourdough", "/site/docs/one",
                  "/site/docs/two?a=1&b=2", "/site/docs2/three"]  # fmt: skip
        self.assertEqual(sorted(found), sorted(wanted))

    def test_only_addresses_in_the_folder_count(self) -> None:
        wanted = ["/site/docs/one", "/site/docs/two?a=1&b=2"]
        for place in ("site/docs", "site/docs/", "site/docs/start.html"):
            self.assertEqual(self.addresses(place), wanted)

    def test_a_sitemap_can_be_named_itself(self) -> None:
        found = self.addresses("site/sitemaps/news.xml")
        self.assertEqual(found, ["/site/list/news", "/site/articles/sourdough"])

    def test_the_list_ends_at_its_limit_and_says_so(self) -> None:
        found = self.addresses("site/sitemaps/loop.xml")
        self.assertEqual((len(found), found[-1][0]), (5_001, "#"))

    def test_the_lines_are_a_list_to_read(self) -> None:
        run = self.run_script(SCRIPT, "--sitemap", f"{self.server.url}/site/articles/")
        environment = self.environment_of(self.server.url, self.key)
        words = ("--urls-from", "-", "--host-pause", "0")
        pages = run_script(SCRIPT, *words, env=environment, stdin=run.stdout).stdout
        self.assertIn("Sourdough rises", json.loads(pages)["text"])

    def test_json_and_errors_are_documents(self) -> None:
        run = self.run_script(SCRIPT, "--sitemap", f"{self.server.url}/", "--json")
        document = json.loads(run.stdout)
        self.assertEqual((document["count"], len(document["sitemaps"])), (5, 3))
        run = self.run_script(SCRIPT, "--sitemap", f"{self.server.url}/site/nothing/")
        self.assertEqual(json.loads(run.stdout)["details"]["kind"], "no_results")
        run = self.run_script(SCRIPT, "--sitemap", "http://10.0.0.1/")
        self.assertEqual(json.loads(run.stdout)["details"]["kind"], "refused")


if __name__ == "__main__":
    unittest.main()
