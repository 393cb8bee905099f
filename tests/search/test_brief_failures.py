"""web_search.py brief: what fails, hangs and waits, and what is asked at once.

The only module to notice a question that costs the others their answers.
"""

from __future__ import annotations

import unittest

from tests.search.brief_support import HERON, OTTER, QUESTIONS, BriefCase
from tests.search.scripted_web import HANG_SECONDS, seconds_of, story
from tests.support import SLACK


class Failures(BriefCase):
    run_command = BriefCase.run_here

    def test_a_question_that_finds_nothing_does_not_fail_the_brief(self) -> None:
        self.four_topics()
        document = self.brief(OTTER, "nothing at all", HERON)
        state = document["queries"][1]
        self.assertEqual(state["kind"], "no_results")
        self.assertTrue(state["error"])
        self.assertEqual({n for one in document["sources"] for n in one["queries"]}, {1, 3})

    def test_an_engine_that_is_down_is_an_attempt_of_the_questions_that_another_answers(
        self,
    ) -> None:
        self.use("brave", "serper")
        self.four_topics()
        self.web.statuses["brave"] = 403
        document = self.brief(OTTER, HERON)
        self.assertEqual({one["engine"] for one in document["queries"]}, {"serper"})
        self.assertEqual([one["engine"] for one in document["attempts"]], ["brave"])
        self.assertEqual(document["attempts"][0]["queries"], [1, 2])
        self.assertEqual(document["billed"], {"serper": 2})

    def test_an_engine_that_hangs_leaves_time_for_another_one_and_the_pages(self) -> None:
        self.use("brave", "serper")
        self.four_topics()
        self.web.delays["brave"] = HANG_SECONDS
        seconds, document = seconds_of(lambda: self.brief(*QUESTIONS, "--timeout", "6"))
        self.assertLess(seconds, 6 + SLACK)
        self.assertEqual({one["engine"] for one in document["queries"]}, {"serper"})
        self.assertEqual([one["kind"] for one in document["attempts"]], ["timeout"])
        self.assertTrue(any("text" in one for one in document["sources"]))

    def test_one_page_that_hangs_costs_no_other_one(self) -> None:
        pages = self.four_topics()
        self.web.page("/otter", story("otter"), delay=HANG_SECONDS)
        seconds, document = seconds_of(lambda: self.brief(*QUESTIONS, "--page-timeout", "1"))
        self.assertLess(seconds, 1 + 2 * SLACK)
        self.assertNotIn(pages[1], [one["url"] for one in document["sources"]])
        texts = " ".join(one.get("text", "") for one in document["sources"])
        for topic in ("heron", "newt", "toad"):
            self.assertEqual(texts.count(f"The {topic} keeper of day 5 "), 1, topic)

    def test_if_all_fail_the_error_is_that_of_a_search(self) -> None:
        self.four_topics()
        for status, kind, code in ((403, "auth", 3), (429, "rate_limit", 4), (501, "provider", 5)):
            with self.subTest(status):
                self.web.statuses["serper"] = status
                # The sources that stand in for auto are not asked: their addresses refuse.
                named = ("--engine", "serper", "--timeout", "2")
                search = self.run_command(OTTER, *named)
                run = self.run_command("brief", OTTER, HERON, *named)
                self.assertEqual((run.code, search.code), (code, code), run.document)
                details = run.document["details"]
                self.assertEqual(details["kind"], kind)
                self.assertEqual(run.document["error"], search.document["error"])
                self.assertEqual(details["hint"], search.document["details"]["hint"])
                self.assertEqual([one["kind"] for one in details["queries"]], [kind, kind])

    def test_if_all_hang_the_error_comes_in_time(self) -> None:
        self.four_topics()
        self.web.delays["serper"] = HANG_SECONDS
        named = ("brief", *QUESTIONS, "--engine", "serper", "--timeout", "2")
        seconds, run = seconds_of(lambda: self.run_command(*named))
        self.assertLess(seconds, 2 + SLACK)
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "timeout"))
        self.assertEqual(run.document["details"]["billed"], {"serper": 4})

    def test_if_all_find_nothing_that_is_said(self) -> None:
        run = self.run_command("brief", "no such words", "nor these")
        self.assertEqual((run.code, run.document["details"]["kind"]), (1, "no_results"))

    def test_a_brief_without_a_readable_page_has_snippets(self) -> None:
        gone = self.web.page("/gone", story("otter"), status=404)
        self.web.find(OTTER, gone)
        self.web.find(HERON, gone)
        document = self.brief(OTTER, HERON)
        (source,) = document["sources"]
        self.assertIn("404", source["error"])
        self.assertEqual(source["snippet"], f"About {OTTER}.")
        self.assertTrue(any("No page could be read" in one for one in document["warnings"]))

    def test_a_page_that_cannot_be_read_gives_its_place_to_one_that_can(self) -> None:
        gone = self.web.page("/gone", story("otter"), status=404)
        pages = [self.web.page(f"/{rank}", story(f"newt{rank}"), site=rank) for rank in range(3)]
        self.web.find(OTTER, gone, *pages)
        self.web.find(HERON, gone, *pages)
        document = self.brief(OTTER, HERON, "-n", "3")
        self.assertEqual([one["url"] for one in document["sources"]], pages)
        found = self.run_command(OTTER, "-n", "3").document
        self.assertEqual([one["url"] for one in found["results"]], pages)
        for document in (found, self.brief(OTTER, HERON, "-n", "3")):
            (unread,) = document["unread"]
            self.assertEqual(unread["url"], gone)
            self.assertIn("404", unread["error"])
        for words in ((OTTER,), ("brief", OTTER, HERON)):
            text = self.run_command(*words, "-n", "3", "--md").stdout.decode()
            self.assertIn(f"Not read, replaced by the next results: {gone} (", text)


class Time(BriefCase):
    def test_four_questions_are_asked_at_the_same_time(self) -> None:
        self.four_topics()
        self.web.delays["serper"] = 1.0
        self.brief(*QUESTIONS)
        self.assertEqual(self.web.most_at_once, len(QUESTIONS))


class Keyless(BriefCase):
    engines = ("searxng",)

    def test_the_pace_of_the_engine_is_kept(self) -> None:
        self.four_topics()
        self.use("searxng", GLSI_RATE_LIMIT="400ms")
        self.brief(*QUESTIONS)
        moments = self.web.moments
        self.assertEqual(len(moments), 4)
        # A slot is kept by the clock of the caller; on the way a request may lose some time, so
        # that two pauses together say more than each: 0.8 seconds.
        pauses = [late - early for early, late in zip(moments, moments[2:], strict=False)]
        self.assertGreater(min(pauses), 0.3)
        self.assertGreater(moments[-1] - moments[0], 0.8)


if __name__ == "__main__":
    unittest.main()
