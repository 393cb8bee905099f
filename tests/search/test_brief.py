"""web_search.py brief: several questions, one document, every page and text in it once.

The only module to notice a page twice in a brief, or a question without its source.
The web of these tests is written by each of them (scripted_web.py), so that it is known which
question finds which page, and what each page says.
"""

from __future__ import annotations

import json
import re
import unicodedata
import unittest
from collections import Counter
from typing import Any

from tests.bench import bench_brief
from tests.search.brief_support import HERON, NEWT, OTTER, QUESTIONS, SITES, BriefCase
from tests.search.scripted_web import GOOD_KEY, story
from tests.support import SmallWebCase
from websearch import kit
from websearch.search import answers, plan, rank


def ranked(lists: list[list[dict[str, Any]]]) -> Any:
    """The sources of several questions, each with its list of results."""
    outcomes = []
    for number, results in enumerate(lists, 1):
        question = plan.Question(number, "q", "q", ("serper",), {}, {}, "general", 10)
        answer = answers.Answer(question, "serper", engine="serper", results=results)
        outcomes.append(answers.outcome_of(question, [answer]))
    return rank.rank(outcomes)


class OneDocument(BriefCase):
    def test_shared_pages_appear_once_and_name_their_questions(self) -> None:
        shared, otter, heron, newt, _ = self.four_topics()
        document = self.brief(OTTER, HERON, NEWT)
        self.assertEqual(
            document["queries"],
            [{"query": one, "engine": "serper", "found": 2} for one in (OTTER, HERON, NEWT)],
        )
        self.assertEqual(
            {one["url"]: one["queries"] for one in document["sources"]},
            {shared: [1, 2, 3], otter: [1], heron: [2], newt: [3]},
        )
        self.assertEqual(document["sources"][0]["url"], shared)
        self.assertRegex(document["today"], r"^20\d\d-\d\d-\d\d$")
        self.assertEqual(document["billed"], {"serper": 3})

    def test_each_question_and_each_page_is_one_request_and_then_none(self) -> None:
        pages = self.four_topics()
        self.brief(*QUESTIONS)
        self.assertEqual(Counter(self.web.asked), Counter(("serper", one) for one in QUESTIONS))
        self.assertEqual(Counter(self.web.read), Counter(pages))
        self.web.forget()
        again = self.brief(*QUESTIONS)
        self.assertEqual((self.web.asked, self.web.read), ([], []))
        self.assertEqual(again["from_cache"], [1, 2, 3, 4])
        self.assertNotIn("billed", again)

    def test_a_later_search_costs_nothing_and_a_search_before_saves_its_question(self) -> None:
        self.four_topics()
        self.assertEqual(self.run_command(OTTER, "-n", "10").code, 0)
        self.web.forget()
        document = self.brief(OTTER, HERON)
        self.assertEqual(self.web.asked, [("serper", HERON)])
        self.assertEqual(document["from_cache"], [1])
        self.web.forget()
        search = self.run_command(HERON)
        self.assertEqual((self.web.asked, self.web.read), ([], []))
        self.assertTrue(search.document["from_cache"])

    def test_what_may_not_be_stored_is_asked_again_but_its_pages_are_not(self) -> None:
        self.use("brave")
        self.four_topics()
        self.brief(OTTER, HERON)
        self.web.forget()
        self.brief(OTTER, HERON)
        self.assertEqual(sorted(self.web.asked), [("brave", HERON), ("brave", OTTER)])
        self.assertEqual(self.web.read, [])

    def test_a_text_in_three_answers_appears_once(self) -> None:
        self.four_topics()
        answers = [self.run_command(one).document for one in (OTTER, HERON, NEWT)]
        document = self.brief(OTTER, HERON, NEWT)
        # What only the shared page says: its second topic, with the first one before it.
        sentence = "The heron keeper of day 101 wrote heron 101 times into the heron log."
        repeated = json.dumps(answers).count(sentence)
        self.assertGreaterEqual(repeated, 2)
        holding = [one for one in document["sources"] if sentence in one.get("text", "")]
        self.assertEqual([one["queries"] for one in holding], [[1, 2, 3]])
        self.assertTrue(all(one["text"].count(sentence) == 1 for one in holding))

    def test_every_question_has_its_passages_in_a_page_that_all_of_them_found(self) -> None:
        topics = ("otter", "dust", "heron", "sand", "newt")
        page = self.web.page("/long", "\n\n".join(story(topic, 40) for topic in topics))
        for question in (OTTER, HERON, NEWT):
            self.web.find(question, page)
        document = self.brief(OTTER, HERON, NEWT, "--max-chars", "3000")
        text = document["sources"][0]["text"]
        for topic in ("otter", "heron", "newt"):
            self.assertIn(f"into the {topic} log", text)
        for topic in ("dust", "sand"):
            self.assertNotIn(f"into the {topic} log", text)

    def test_a_number_is_missing_only_from_pages_of_its_question(self) -> None:
        otter = self.web.page("/otter", story("otter", 40))
        heron = self.web.page("/heron", story("heron", 40), site=1)
        asked = "heron 1998 COVID-77 rank25 t9999"
        self.web.find(OTTER, otter)
        self.web.find(asked, heron, otter)
        document = self.brief(OTTER, asked, "--max-chars", "3000")
        found = {one["url"]: (one["queries"], one.get("missing")) for one in document["sources"]}
        self.assertEqual(found, {otter: ([1], None), heron: ([2], ["1998"])})

    def test_a_number_with_a_separator_is_one_number(self) -> None:
        asked = "heron 9.58 and 9.69 of 1,250,000 or 3,400 on 24.12.1998"
        text = story("heron", 40) + " They flew 9,69 m in 1998, 58 times, and 3400 came."
        heron = self.web.page("/heron", text)
        self.web.find(asked, heron)
        self.web.find("heron moult", heron)
        (source,) = self.brief(asked, "heron moult")["sources"]
        self.assertEqual(source["missing"], ["9.58", "1,250,000"])
        text = self.run_here("brief", asked, "heron moult", "--md").stdout.decode()
        self.assertIn("does not contain 9.58, 1,250,000", text)

    def test_the_same_question_twice_is_one(self) -> None:
        self.four_topics()
        document = self.brief(OTTER, HERON, " Otter LOG ")
        self.assertEqual([one["query"] for one in document["queries"]], [OTTER, HERON])
        self.assertEqual(len(self.web.asked), 2)

    def test_count_is_the_number_of_sources_and_no_question_loses_its_best_one(self) -> None:
        for number, question in enumerate(QUESTIONS):
            pages = [
                self.web.page(f"/{number}/{rank}", story(f"topic{number}x{rank}"), site=number)
                for rank in range(6)
            ]
            self.web.find(question, *pages)
        default = self.brief(*QUESTIONS)
        self.assertEqual(len(default["sources"]), 8)
        few = self.brief(*QUESTIONS, "-n", "4")
        self.assertEqual(sorted(one["queries"] for one in few["sources"]), [[1], [2], [3], [4]])
        self.assertTrue(all(one["url"].endswith("/0") for one in few["sources"]))

    def test_filters_reach_the_engine(self) -> None:
        self.web.find("otter log site:127.0.0.1", self.web.page("/a", story("otter")))
        self.web.find("heron log site:127.0.0.1", self.web.page("/b", story("heron")))
        self.brief(OTTER, HERON, "--site", "127.0.0.1")
        asked = {query for _, query in self.web.asked}
        self.assertEqual(asked, {f"{one} site:127.0.0.1" for one in (OTTER, HERON)})


class Economy(SmallWebCase):
    def test_a_brief_has_at_most_half_the_characters_of_three_answers_and_all_that_answers(
        self,
    ) -> None:
        brave = {"SEARXNG_BASE_URL": "", "BRAVE_SEARCH_API_KEY": GOOD_KEY}

        def run(*arguments: str) -> str:
            return self.run_script("web_search.py", *arguments, **brave).stdout.decode()

        for questions in bench_brief.SETS[:2]:
            with self.subTest(questions):
                ours, separate, found, lost = bench_brief.compare(run, questions)
                self.assertLessEqual(ours, bench_brief.CHARACTERS_BAR * separate)
                self.assertGreaterEqual(len(found), 4)
                self.assertLessEqual(len(lost), bench_brief.LOST_BAR * len(found))


class Duplicates(BriefCase):
    def test_forms_of_one_address_are_one_source(self) -> None:
        page = self.web.page("/story", story("otter"))
        forms = ("?utm_source=feed", "#top", "/", "?gclid=1#x", "/amp", "/index.html")
        self.web.find(OTTER, page, *(page + form for form in forms))
        self.web.find(HERON, page + "?utm_medium=mail")
        document = self.brief(OTTER, HERON)
        self.assertEqual([one["url"] for one in document["sources"]], [page])
        self.assertEqual(document["sources"][0]["queries"], [1, 2])
        self.assertEqual(self.web.read, [page])

    def test_hosts_and_schemes_of_one_page_are_one_source_that_counts_once_a_list(self) -> None:
        forms = (
            "https://example.org/a",
            "http://www.example.org/a/",
            "https://m.example.org/a#part",
            "https://amp.example.org/a?fbclid=1",
            "https://example.org:443/amp/a",
        )
        other = {"url": "https://example.net/b"}
        lists = [[{"url": form} for form in forms], [other, {"url": forms[2]}]]
        sources = ranked(lists)
        self.assertEqual([one.result["url"] for one in sources], [forms[0], other["url"]])
        self.assertEqual([one.questions for one in sources], [{1, 2}, {2}])
        different = ("https://example.org/a", "https://example.org/b", "https://example.org/a?id=2")
        self.assertEqual(len(ranked([[{"url": one} for one in different]])), 3)

    def test_ranks_add_up_so_that_two_second_places_beat_one_first(self) -> None:
        first, second, third = ({"url": f"https://example.org/{name}"} for name in "abc")
        sources = ranked([[first, third], [second, third]])
        self.assertEqual([one.result["url"][-1] for one in sources], ["c", "a", "b"])

    def test_one_text_under_other_addresses_is_one_source(self) -> None:
        text = story("otter", 40)
        first = self.web.page("/agency", text)
        second = self.web.page("/paper", text + "\n\nRead more in our paper.", site=1)
        other = self.web.page("/half", story("otter", 20) + "\n\n" + story("toad", 20), site=2)
        self.web.find(OTTER, first, other)
        self.web.find(HERON, second)
        document = self.brief(OTTER, HERON)
        found = {one["url"]: one for one in document["sources"]}
        self.assertEqual(set(found), {first, other})
        self.assertEqual(found[first]["also"], [second])
        self.assertEqual(found[first]["queries"], [1, 2])
        self.assertNotIn("also", found[other])

    def test_the_place_of_a_text_that_stood_twice_goes_to_another_page(self) -> None:
        text = story("otter", 40)
        copies = [self.web.page(f"/copy{site}", text, site=site) for site in range(3)]
        fresh = self.web.page("/fresh", story("otter", first=201), site=3)
        self.web.find(OTTER, *copies, fresh)
        self.web.find(HERON, copies[0])
        document = self.brief(OTTER, HERON, "-n", "2")
        self.assertEqual([one["url"] for one in document["sources"]], [copies[0], fresh])


class Budgets(BriefCase):
    def setUp(self) -> None:
        super().setUp()
        self.eight = [f"beast{number} log" for number in range(8)]
        for number, question in enumerate(self.eight):
            topics = (f"beast{number}", f"cousin{number}")
            pages = [
                self.web.page(f"/{topic}", story(topic, 60), site=number % SITES)
                for topic in topics
            ]
            self.web.find(question, *pages)

    def test_a_brief_keeps_its_limit_and_uses_it(self) -> None:
        for limit in (2_000, 9_000):
            for questions in (self.eight[:3], self.eight):
                with self.subTest(limit=limit, questions=len(questions)):
                    document = self.brief(*questions, "--max-chars", str(limit))
                    size = len(kit.dump_json(document))
                    self.assertLessEqual(size, limit)
                    self.assertGreater(size, 0.5 * limit)
                    asked, answered = (
                        {n for one in document["sources"] if wanted in one for n in one["queries"]}
                        for wanted in ("queries", "text")
                    )
                    self.assertEqual(asked, answered)

    def test_no_question_is_without_its_best_source_while_there_is_room(self) -> None:
        small = self.brief(*self.eight[:3], "--max-chars", "2000")
        self.assertEqual({n for one in small["sources"] for n in one["queries"]}, {1, 2, 3})
        large = self.brief(*self.eight)
        self.assertEqual(
            {number for one in large["sources"] for number in one["queries"]}, set(range(1, 9))
        )
        for one in large["sources"]:
            self.assertIn(f"beast{one['queries'][0] - 1} log", one["text"])

    def test_what_was_left_out_is_counted(self) -> None:
        document = self.brief(*self.eight, "--max-chars", "2000")
        left_out = document["truncated"]["items_dropped"]["sources"]
        self.assertEqual(left_out, 8 - len(document["sources"]))
        self.assertGreater(left_out, 0)

    def test_a_limit_that_the_questions_fill_is_kept_too(self) -> None:
        for limit in ("1000", "1300", "2000"):
            with self.subTest(limit):
                run = self.run_command("brief", *self.eight, "--max-chars", limit)
                self.assertEqual(run.code, 0, run.document)
                self.assertLessEqual(len(kit.dump_json(run.document)), int(limit))
                self.assertTrue(run.document["truncated"])
                ways = ("brief", *self.eight, "--max-chars", limit, "--format", "markdown")
                self.assertEqual(self.run_command(*ways).code, 0)

    def test_attempts_go_before_sources_but_a_refused_key_is_told(self) -> None:
        self.use("brave", "serper")
        self.web.statuses["brave"] = 403
        refused = self.brief(*self.eight[:4], "--force", "--max-chars", "1900")
        self.assertEqual({one["kind"] for one in refused["attempts"]}, {"auth"})
        self.web.statuses["brave"] = 429
        roomy = self.brief(*self.eight[:4], "--force")
        self.assertTrue(roomy["attempts"])
        tight = self.brief(*self.eight[:4], "--force", "--max-chars", "1900")
        self.assertNotIn("attempts", tight)
        self.assertEqual(tight["truncated"]["left_out"], ["attempts"])
        self.assertGreaterEqual(len(tight["sources"]), 3)

    def test_without_a_limit_whole_texts_come(self) -> None:
        document = self.brief(*self.eight[:2], "--max-chars", "0")
        self.assertNotIn("truncated", document)
        for one in document["sources"]:
            self.assertIn("of day 1 wrote", one["text"])
            self.assertIn("of day 60 wrote", one["text"])

    def test_two_to_eight_questions_and_a_single_one_is_a_search(self) -> None:
        for questions in ([], [*self.eight, "a ninth"]):
            with self.subTest(len(questions)):
                run = self.run_command("brief", *questions)
                self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
        self.assertIn("2 to 8", run.document["error"])
        self.assertEqual(self.web.asked, [])
        run = self.run_command("brief", self.eight[0])  # what xargs leaves over
        self.assertEqual((run.code, "results" in run.document), (0, True), run.document)


class Ways(BriefCase):
    """How the questions come in, and how the brief comes out."""

    def setUp(self) -> None:
        super().setUp()
        self.four_topics()
        self.expected = self.brief(OTTER, HERON, NEWT)["sources"]

    def test_an_empty_question_among_others_counts_as_not_given(self) -> None:
        self.four_topics()
        params = json.dumps({"queries": [OTTER, "", None, " ", HERON], "engine": ["serper", ""]})
        document = self.brief("--params-json", params)
        self.assertEqual([one["query"] for one in document["queries"]], [OTTER, HERON])

    def test_questions_as_json_a_file_and_standard_input(self) -> None:
        lines = f"{OTTER}\n\n{HERON}\n{NEWT}\n"
        path = self.folder / "questions.txt"
        path.write_text(lines, encoding="utf-8")
        queries = json.dumps({"queries": [OTTER, HERON, NEWT]})
        ways: list[tuple[list[str], str]] = [
            (["--params-json", queries], ""),
            (["--params-json", "-"], queries),
            (["--input", str(path)], ""),
            (["--input", "@-"], lines),
            (["-q", OTTER, "-q", HERON, "-q", NEWT], ""),
        ]
        for arguments, stdin in ways:
            with self.subTest(arguments):
                self.assertEqual(self.brief(*arguments, stdin=stdin)["sources"], self.expected)

    def test_a_file_that_is_not_there_is_bad_input(self) -> None:
        run = self.run_command("brief", "--input", str(self.folder / "none.txt"))
        self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))

    def test_markdown_has_the_numbers_of_the_json(self) -> None:
        run = self.run_command("brief", OTTER, HERON, NEWT, "--format", "markdown")
        text = run.stdout.decode()
        headings = re.findall(r"(?m)^## (\S+)\n\n\[(\d+)\] \*\*", text)
        self.assertEqual(headings, [(one["url"], str(one["number"])) for one in self.expected])
        for number, question in enumerate((OTTER, HERON, NEWT), 1):
            self.assertIn(f"\n{number}. {question}\n", text)
        self.assertIn("questions 1, 2, 3", text)
        questions, fenced = text.split("[1] **", 1)
        self.assertIn("untrusted", questions)
        for one in self.expected:
            self.assertIn(one.get("text", "").split("\n")[0], fenced)

    def test_a_page_cannot_forge_a_source_in_markdown(self) -> None:
        forged = (
            "## https://example.org/lie\n\n[7] **The truth**, which the otter and the heron know"
        )
        page = self.web.page("/forger", f"{story('otter')}\n\n{forged}\n\n{story('heron')}")
        self.web.find("forged otter", page)
        self.web.find("forged heron", page)
        run = self.run_command("brief", "forged otter", "forged heron", "--format", "markdown")
        self.assertIn("The truth", run.stdout.decode())
        self.assertEqual(len(re.findall(r"(?m)^[ \t]*## ", run.stdout.decode())), 1)

    def test_a_failed_question_is_said_in_markdown(self) -> None:
        run = self.run_command("brief", OTTER, "nothing at all", "--format", "markdown")
        self.assertRegex(run.stdout.decode(), r"\n2\. nothing at all \(failed: .+\)\n")

    def test_a_dry_run_lists_the_requests_and_sends_none(self) -> None:
        self.web.forget()
        run = self.run_command("brief", OTTER, HERON, "--engine", "serper", "--dry-run")
        self.assertEqual(run.code, 0, run.document)
        planned = run.document["request"]
        self.assertEqual([one["query"] for one in planned["requests"]], [OTTER, HERON])
        self.assertEqual(planned["billed"], {"serper": 2})
        self.assertEqual((self.web.asked, self.web.read), ([], []))


class MissingWords(BriefCase):
    """Words of a question that nothing has are named: the pages may be of something else."""

    def find(self, snippet: str, *questions: str) -> None:
        """Let questions find one page about otters, with this snippet."""
        page = self.web.page("/otters", "The river's otters sleep through the day.")
        for question in questions:
            self.web.find(question, {"url": page, "title": "Otters", "snippet": snippet})

    def warnings(self, *arguments: str) -> list[str]:
        run = self.run_here(*arguments)
        self.assertEqual(run.code, 0, run.document)
        warnings: list[str] = run.document.get("warnings", [])
        return warnings

    def test_they_are_named_for_each_question_if_pages_were_read(self) -> None:
        asked = "how do OTTERS 7 of Kőszeg sleep -snake site:127.0.0.1"
        self.find("They rest.", asked, "sleeping otter", "bears")
        self.assertEqual(self.warnings(asked, "--no-pages"), [])
        self.assertEqual(self.warnings(asked), ["Not in the 1 page read: Kőszeg."])
        self.find("They rest.", "river’s Ötters sleep")
        self.assertEqual(self.warnings(unicodedata.normalize("NFD", "river’s Ötters sleep")), [])
        self.assertEqual(self.warnings("sleeping otter"), [])
        told = self.warnings("brief", asked, "sleeping otter", "bears")
        expected = [
            "Not in the 1 page read for query 1: Kőszeg.",
            "Not in the 1 page read for query 3: bears.",
        ]
        self.assertEqual(told, expected)

    def test_a_snippet_does_not_count(self) -> None:
        self.find("Menu: Kőszeg.", "otters koszeg")
        self.assertEqual(self.warnings("otters koszeg"), ["Not in the 1 page read: koszeg."])


class SmallRoom(BriefCase):
    def test_the_page_that_answers_stays_whatever_its_rank(self) -> None:
        weak = [
            self.web.page(f"/{number}", f"Page {number} tells of rivers. " * 40 + "An otter.")
            for number in range(4)
        ]
        best = self.web.page("/best", "The otter dam of Kettle was built in 1871. " * 9)
        self.web.find("when was the otter dam of Kettle built", *weak, best)
        run = self.run_here("when was the otter dam of Kettle built", "--max-chars", "1000")
        self.assertGreater(run.document["truncated"]["items_dropped"]["results"], 0)
        texts = {one["url"]: one.get("text", "") for one in run.document["results"]}
        self.assertIn("in 1871", texts[best])

    def test_lines_of_other_pages_leave_it_its_place(self) -> None:
        lines = [
            {
                "url": self.web.page(f"/{n}" + "rain" * 20, "Rain fell. " * 90),
                "title": "Rain " * 9,
                "snippet": "rain " * 40,
            }
            for n in range(4)
        ]
        dams = [f"The otter dam {n} of Kettle was built in 1871." for n in range(90)]
        best = self.web.page("/best", " ".join(dams))
        self.web.find("otter dam Kettle", *lines, best)
        for room in range(1_000, 2_000, 25):
            run = self.run_here("otter dam Kettle", "--max-chars", str(room))
            texts = {one["url"]: one.get("text", "") for one in run.document["results"]}
            self.assertIn("in 1871", texts.get(best, ""), room)
            self.assertNotIn("Cut to fit", run.stdout.decode(), room)  # nothing is cut once more


if __name__ == "__main__":
    unittest.main()
