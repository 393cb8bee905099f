"""Several engines for one question, and for several: asked at once, one ranking.

The only module to notice a ranking of several lists that is wrong, and an engine that should rest.
"""

from __future__ import annotations

import subprocess
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.search.brief_support import HERON, OTTER, BriefCase
from tests.search.scripted_web import GOOD_KEY, HANG_SECONDS, seconds_of, story
from tests.support import PROCESS_TIMEOUT, PYTHON, SCRIPTS, SLACK, clean_environment, run_script


class SeveralEngines(BriefCase):
    """One question to several engines, and several questions to several engines."""

    engines = ("brave", "serper", "searxng")
    run_command = BriefCase.run_here

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

    def test_auto_and_all_are_not_combined_with_other_names(self) -> None:
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
        self.assertIn("brave, serper", markdown.stdout.decode())


class OneAsksForAll(BriefCase):
    """The same question many times at once: one request, all answered when it is."""

    engines = ("searxng", "serper")

    def test_each_engine_gets_one_request(self) -> None:
        self.web.find(OTTER, self.web.page("/otter", story("otter")))
        self.web.delays = dict.fromkeys(self.engines, 1.0)
        for engine, pace in (("serper", "0s"), ("searxng", "0s"), ("searxng", "3s")):
            with self.subTest(engine, pace=pace), ThreadPoolExecutor(6) as pool:
                self.use(*self.engines, GLSI_RATE_LIMIT=pace, GLSI_DB_PATH=self.store())
                self.web.forget()
                words = (OTTER, "--engine", engine, "--no-pages")
                runs = list(pool.map(lambda _: self.run_command(*words), range(6)))  # noqa: B023
                self.assertEqual([run.code for run in runs], [0] * 6)
                self.assertEqual(len(self.web.asked), 1)
                billed = [run.document["billed"] for run in runs if "billed" in run.document]
                self.assertEqual(billed, [{"serper": 1}] if engine == "serper" else [])

    def test_if_it_fails_the_others_ask_for_themselves(self) -> None:
        self.web.delays["serper"], self.web.statuses["serper"] = 1.0, 403
        with ThreadPoolExecutor(3) as pool:
            words = (OTTER, "--engine", "serper")
            runs = list(pool.map(lambda _: self.run_command(*words), range(3)))
        self.assertEqual([run.code for run in runs], [3] * 3)
        self.assertEqual(len(self.web.asked), 3)

    def test_force_asks_each_time(self) -> None:
        self.web.find(OTTER, self.web.page("/otter", story("otter")))
        self.web.delays["searxng"] = 1.0
        with ThreadPoolExecutor(2) as pool:
            words = (OTTER, "--engine", "searxng", "--no-pages", "--force")
            list(pool.map(lambda _: self.run_command(*words), range(2)))
        self.assertEqual(len(self.web.asked), 2)

    def test_a_caller_that_was_killed_is_waited_for_briefly(self) -> None:
        self.web.find(OTTER, self.web.page("/otter", story("otter")))
        self.web.delays["searxng"] = HANG_SECONDS
        words = (OTTER, "--engine", "searxng", "--no-pages")
        killed = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / "web_search.py"), *words],
            env=clean_environment(**self.variables), stdout=subprocess.DEVNULL,
        )  # fmt: skip
        end = time.monotonic() + PROCESS_TIMEOUT
        while not self.web.asked and time.monotonic() < end:
            time.sleep(0.02)
        killed.kill()
        killed.wait()
        self.web.delays.clear()
        self.assertEqual(self.run_command(*words).code, 0)


class AnEngineThatFails(BriefCase):
    """Three failures in ten minutes: the engine rests."""

    engines = ("serper", "searxng")

    run_command = BriefCase.run_here

    def test_it_rests_for_every_process_and_the_doctor_says_so(self) -> None:
        self.web.find(OTTER, self.web.page("/otter", story("otter")))
        for engine in self.engines:
            with self.subTest(engine):
                self.use(*self.engines, GLSI_DB_PATH=self.store())
                self.web.forget()
                self.web.statuses = {engine: 501}  # which is not tried again
                words = (OTTER, "--engine", engine, "--no-pages")
                kinds = [self.run_command(*words).document["details"]["kind"] for _ in range(3)]
                self.assertEqual(kinds, ["provider"] * 3)
                sent = len(self.web.asked)
                run = self.run_command(*words)
                self.assertEqual((run.code, run.document["details"]["kind"]), (5, "provider"))
                self.assertTrue(run.document["details"]["resting"])
                self.assertTrue(280 < run.document["details"]["retry_after"] <= 300)
                self.assertRegex(run.document["error"], "because 3 calls failed within 10 min")
                self.assertEqual(len(self.web.asked), sent)
                checks = run_script("doctor.py", env=self.variables).document["checks"]
                resting = [
                    line["message"] for line in checks if " is paused for " in line["message"]
                ]
                self.assertRegex(resting[0], r"\d (?:min|s): 3 calls failed within 10 min\.$")
                if engine == "searxng":
                    self.run_command("cache", "clear")
                    self.assertNotIn("resting", self.run_command(*words).document["details"])
                    continue
                # auto goes on to the other one at once.
                document = self.run_command(OTTER, "--no-pages", "--count", "2").document
                self.assertEqual({document["engine"]}, {*self.engines} - {engine})

    def test_a_good_answer_ends_the_count(self) -> None:
        self.web.find(OTTER, self.web.page("/otter", story("otter")))
        for engine in self.engines:
            for status in (501, 501, 200, 501, 501, 200):
                self.web.statuses = {engine: status}
                words = (OTTER, "--engine", engine, "--no-pages", "--force")
                with self.subTest(engine, status=status):
                    self.assertEqual(self.run_command(*words).code, 0 if status == 200 else 5)

    def test_what_is_not_the_engines_fault_counts_for_nothing(self) -> None:
        self.web.find(OTTER, self.web.page("/otter", story("otter")))
        words = (OTTER, "--engine", "searxng", "--no-pages", "--force")
        for _ in range(3):
            self.web.statuses["searxng"] = 400
            self.assertNotEqual(self.run_command(*words).code, 0)
            self.web.statuses.clear()
            self.web.delays["searxng"] = HANG_SECONDS  # a second is too short to judge by
            self.assertEqual(self.run_command(*words, "--timeout", "0.3").code, 5)
            self.web.delays.clear()
        self.assertEqual(self.run_command(*words).code, 0)


if __name__ == "__main__":
    unittest.main()
