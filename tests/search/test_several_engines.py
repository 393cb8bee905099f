"""Several engines for one question, and for several: asked at once, one ranking."""

from __future__ import annotations

import unittest
from typing import Any

from tests.search.brief_support import HERON, OTTER, BriefCase
from tests.search.scripted_web import GOOD_KEY, HANG_SECONDS, seconds_of, story
from tests.support import SLACK


class SeveralEngines(BriefCase):
    """One question to several engines, and several questions to several engines."""

    engines = ("brave", "serper", "searxng")

    def setUp(self) -> None:
        super().setUp()
        self.pages = [
            self.web.page(f"/{rank}", story(f"otter{rank}"), site=rank) for rank in range(4)
        ]
        first, second, third, fourth = self.pages
        self.web.find(OTTER, first, second, engine="brave")
        self.web.find(OTTER, second + "?utm_source=x", third, engine="serper")
        self.web.find(OTTER, second, fourth, engine="searxng")

    def search(self, *arguments: str) -> Any:
        """The document of a search that works."""
        run = self.run_command(OTTER, *arguments)
        self.assertEqual(run.code, 0, run.document)
        return run.document

    def test_two_engines_make_one_ranking_in_which_every_result_names_its_engines(self) -> None:
        document = self.search("--engine", "brave,serper")
        self.assertEqual(sorted(self.web.asked), [("brave", OTTER), ("serper", OTTER)])
        first, second, third, _ = self.pages
        found = {one["url"].partition("?")[0]: one["engines"] for one in document["results"]}
        self.assertEqual(found, {second: ["brave", "serper"], first: ["brave"], third: ["serper"]})
        self.assertEqual(document["results"][0]["engines"], ["brave", "serper"])
        self.assertEqual(len(document["results"]), 3)
        self.assertEqual(document["engines"], ["brave", "serper"])
        self.assertEqual(document["billed"], {"brave": 1, "serper": 1})
        self.assertEqual(len(self.web.read), 3)
        self.assertTrue(all(one["text"] for one in document["results"]))

    def test_a_page_that_failed_is_no_concern_of_a_search_without_pages(self) -> None:
        locked = self.web.page("/locked", story("otter"), status=403)
        for engine in ("serper", "searxng"):
            self.web.find(OTTER, locked, engine=engine)
        named = ("--engine", "serper,searxng")
        self.assertIn("403", self.search(*named)["results"][0]["error"])
        document = self.search(*named, "--no-pages")
        self.assertTrue(document["from_cache"])
        self.assertNotIn("error", document["results"][0])

    def test_all_asks_the_configured_engines_and_the_keyless_general_ones(self) -> None:
        document = self.search("--engine", "all")
        self.assertEqual({engine for engine, _ in self.web.asked}, set(self.engines))
        self.assertEqual(document["engines"], list(self.engines))
        # Nobody listens at the address of DuckDuckGo.
        self.assertEqual([one["engine"] for one in document["attempts"]], ["duckduckgo"])
        self.assertEqual(document["billed"], {"brave": 1, "serper": 1})

    def test_a_dry_run_says_what_costs_money(self) -> None:
        run = self.run_command(OTTER, "--engine", "all", "--dry-run")
        request = run.document["request"]
        self.assertEqual(
            [one["engine"] for one in request["requests"]],
            ["brave", "serper", "searxng", "duckduckgo"],
        )
        self.assertTrue(all(one["url"].startswith("http") for one in request["requests"]))
        self.assertEqual(request["billed"], {"brave": 1, "serper": 1})
        self.assertNotIn(GOOD_KEY, run.stdout.decode())
        self.assertEqual(self.web.asked, [])

    def test_an_engine_that_fails_is_an_attempt_and_costs_nothing(self) -> None:
        self.web.statuses["brave"] = 403
        document = self.search("--engine", "brave,serper")
        self.assertEqual(document["engines"], ["serper"])
        self.assertEqual([one["engine"] for one in document["attempts"]], ["brave"])
        self.assertEqual(document["billed"], {"serper": 1})

    def test_an_engine_that_hangs_costs_no_other_one(self) -> None:
        self.web.delays["brave"] = HANG_SECONDS
        seconds, document = seconds_of(
            lambda: self.search("--engine", "brave,serper", "--timeout", "4")
        )
        self.assertLess(seconds, 4 + SLACK)
        self.assertEqual(document["engines"], ["serper"])
        self.assertTrue(all("text" in one for one in document["results"]))

    def test_all_down_is_one_error_that_names_them(self) -> None:
        self.web.statuses |= {"brave": 403, "serper": 403}
        run = self.run_command(OTTER, "--engine", "brave,serper")
        self.assertEqual((run.code, run.document["details"]["kind"]), (3, "auth"))
        for engine in ("brave", "serper"):
            self.assertIn(engine, run.document["error"])
        self.assertRegex(run.document["error"], r"[^.]; serper: .*[^.]\.$")
        self.assertNotIn("billed", run.document["details"])  # neither has answered

    def test_what_found_nothing_was_paid_for_all_the_same(self) -> None:
        run = self.run_command("no such words", "--engine", "brave,serper")
        self.assertEqual((run.code, run.document["details"]["kind"]), (1, "no_results"))
        self.assertEqual(run.document["details"]["billed"], {"brave": 1, "serper": 1})

    def test_auto_and_all_stand_alone(self) -> None:
        for engines in ("auto,brave", "serper,all"):
            with self.subTest(engines):
                run = self.run_command(OTTER, "--engine", engines)
                self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
        self.assertEqual(self.web.asked, [])

    def test_a_brief_of_several_engines_names_them_at_each_source(self) -> None:
        self.web.find(HERON, self.pages[2])
        document = self.brief(OTTER, HERON, "--engine", "brave,serper")
        self.assertEqual(document["queries"][0]["engines"], ["brave", "serper"])
        self.assertEqual(document["billed"], {"brave": 2, "serper": 2})
        found = {one["url"].partition("?")[0]: one for one in document["sources"]}
        self.assertEqual(found[self.pages[1]]["engines"], ["brave", "serper"])
        self.assertEqual(found[self.pages[0]]["engines"], ["brave"])
        self.assertEqual(found[self.pages[2]]["queries"], [1, 2])
        self.assertEqual(len(self.web.asked), 4)
        markdown = self.run_command(
            "brief", OTTER, HERON, "--engine", "brave,serper", "--format", "markdown"
        )
        self.assertIn("brave · serper", markdown.stdout.decode())


if __name__ == "__main__":
    unittest.main()
