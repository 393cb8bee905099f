"""check: which quotations and numbers of a draft are in the pages that it cites.

Only this module notices a false quotation that passes, or a true quotation that is doubted.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import socket
import time
import unicodedata
import unittest
from typing import Any
from unittest import mock
from urllib.parse import urlencode

import web_search
from tests.pages.fetch.test_archive import ArchiveCase
from tests.support import SLACK, CannedCase, Run, call_main, new_folder, run_script
from tests.ways_in.http_support import ServerProcess
from websearch.base import matching
from websearch.check import computed, draft, draft_numbers, numbers
from websearch.check.check import run_check

PAGE = """<html><head><title>The report of the committee on tides</title></head><body><article>
<h1>The report of the committee on tides</h1>
<p>The committee found that <b>1,200</b> people were <i>not</i> affected by the new
rule,<sup>[3]</sup> which was published in 2019. It said:
&ldquo;costs rose by 12&nbsp;% &mdash; and that's too
much.&rdquo; Nobody asked why the harbour was closed for the whole of the winter, least of all
the fishermen of the town. The <a href="/minister">minister</a> resigned on 5 May 2020.</p>
<p>Next year three bridges are built for 1.4 million crowns, and one costs 0.75 of that.
Nobody asked who pays. 日本の首都は東京であり、人口は約1400万人です。</p>
</article></body></html>"""
MEASURES = """<article><p>The value fell to -12 million in May, and it rose by \u22124 % in June.
It measured 5*3 boxes, and the boat is 50" long. We cannot yet conclude whether the drug works.
There was no evidence of harm. The drug R0 was tested by the members of the com-<br>mittee.
The keeper kept 12 goats.</p><p>FILLER</p><p>The books are kept in the museum of the island.</p>
</article>""".replace(
    "FILLER", "Every day somebody wrote another line about the wind of the morning. " * 40
)
OTHER = """<html><body><article><p>The lighthouse keeper wrote down the weather every morning for
forty years, and his books are kept in the museum of the island until today.</p></article></body>
</html>"""
QUOTATIONS: tuple[tuple[str, str, list[tuple[str, str]]], ...] = (
    # quotation, verdict, (its words, the page's words) that differ
    ("Nobody asked why the harbour was closed", "verbatim", []),
    ("costs rose by 12% – and that’s too much", "verbatim", []),
    ("costs  rose\u00a0by 12 % -- and **that's** too much.", "verbatim", []),
    ("not affected by the new rule, which was published", "verbatim", []),
    ("[n]obody asked why the harbour was closed", "verbatim", []),
    ("the harbour was closed [...] least of all the fishermen", "verbatim", []),
    ("The committee found … The minister resigned", "verbatim", []),
    ("The [responsible] minister resigned on 5 May 2020.", "verbatim", []),
    ("日本の首都は東京であり、人口は約1400万人", "verbatim", []),
    ("The report of the committee on tides", "verbatim", []),
    ("The committee found that 1,300 people were not affected", "altered", [("1,300", "1,200")]),
    ("found that 1,200 people were affected by the new rule", "altered", [("", "not")]),
    ("200 people were not affected by the new rule", "altered", [("200", "1,200")]),
    ("the harbour was open for the whole of the winter", "altered", [("open", "closed")]),
    ("日本の首都は大阪であり、人口は約1400万人", "altered", [("大阪", "東京")]),
    ("The minister resigned … The committee found that 1,200", "altered", []),
    ("Every sailor knows a song about the moon and rain", "absent", []),
    ("the moon was not … for the whole of the year", "absent", []),
)
OWN = ("WEB_SEARCH_ALLOW_PRIVATE", "GLSI_DB_PATH")  # variables of a test
BULK_SECONDS = 30.0  # the default timeout


class CheckCase(CannedCase):
    """Pages at /tides and /keeper; any other path is also the page of the tides."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self)
        self.url = f"{self.server.url}/tides"
        self.serve(PAGE)
        self.server.count, self.server.status = 0, 200
        self.set_environment(
            WEB_SEARCH_ALLOW_PRIVATE=self.server.url.removeprefix("http://"),
            GLSI_DB_PATH=str(self.folder / "store.db"),
        )

    def serve(self, page: str) -> None:
        self.server.body = page.encode()
        self.server.headers = {"Content-Type": "text/html; charset=utf-8"}

    def own(self) -> dict[str, str]:
        return {name: os.environ[name] for name in OWN}

    def check(self, text: str, *options: str) -> Run:
        path = self.folder / "draft.md"
        path.write_text(text, encoding="utf-8")
        return call_main(web_search, "check", str(path), *options)

    def cite(self, *quotations: str) -> str:
        return "\n\n".join(f"It says: “{text}” ([source]({self.url}))." for text in quotations)


class Verdicts(CheckCase):
    def test_each_quotation_has_its_verdict_and_differences(self) -> None:
        run = self.check(self.cite(*(text for text, _, _ in QUOTATIONS)), "--max-chars", "0")
        found = {check["line"]: check for check in run.document["checks"]}
        for index, (text, verdict, differs) in enumerate(QUOTATIONS):
            check = found[2 * index + 1]
            with self.subTest(text):
                self.assertEqual(check["verdict"], verdict)
                self.assertEqual(check["url"], self.url)
                pairs = [(pair["quote"], pair["source"]) for pair in check.get("differs", [])]
                self.assertEqual(pairs, differs)
                self.assertEqual("source_text" in check, verdict == "altered")
        self.assertEqual(run.code, 1)
        self.assertEqual(self.server.count, 1)  # the page is read once
        verdicts = [check["verdict"] for check in run.document["checks"]]
        self.assertEqual(
            verdicts, ["altered"] * 6 + ["absent"] * 2 + ["verbatim"] * 10
        )  # wrong first
        self.assertEqual(run.document["counts"]["verbatim"], 10)

    def test_a_formula_is_found_in_any_notation(self) -> None:
        fill = "The mill stands at the river and has ground the corn of the valley since then. " * 3
        self.serve(
            "<article><p>Einstein wrote that the rest energy is <math><semantics><mi>E</mi>"
            "<annotation encoding='application/x-tex'>E = mc^2</annotation></semantics></math> for"
            f" each body, and it cost US$5 (A$7) to ship to $HOME/$PATH.</p><p>{fill}</p></article>"
        )
        for formula in ("$E = mc^2$", "E = mc^2", "E=mc²", "$E=mc^2$", "E = mc^3", "$E = mc^3$"):
            run = self.check(self.cite(f"the rest energy is {formula} for each body"))
            with self.subTest(formula):
                verdict = "altered" if "3" in formula else "verbatim"
                self.assertEqual(run.document["checks"][0]["verdict"], verdict)
        for text in ("and it cost US$5 (A$7) to ship", "(A$7) to ship to $HOME", "it cost US$5 ("):
            with self.subTest(text):
                run = self.check(self.cite(text))
                self.assertEqual(run.document["counts"]["verbatim"], 1)

    def test_text_beside_the_article_counts_and_hidden_text_does_not(self) -> None:
        box = "<div class='sidebar'><p>The harbour holds ninety boats in a winter.</p></div>"
        for wrap, verdict in (
            ("{}", "verbatim"), ("<div hidden>{}</div>", "absent"), ("<nav>{}</nav>", "absent"),
            ("<div style='opacity:0'>{}</div>", "absent"),
        ):  # fmt: skip
            self.serve(PAGE.replace("</article>", f"</article>{wrap.format(box)}"))
            run = self.check(self.cite("holds ninety boats in a winter"), "--force")
            check = run.document["checks"][0]
            self.assertEqual(check["verdict"], verdict, wrap)

    def test_a_number_beside_the_article_counts(self) -> None:
        box = "<div class='sidebar'><p>The harbour holds 7,431 boats in a winter.</p></div>"
        draft = f"The harbour holds 7,431 boats in a winter ([source]({self.url}))."
        for wrap in ("{}", "<nav>{}</nav>"):
            self.serve(PAGE.replace("</article>", f"</article>{wrap.format(box)}"))
            (number,) = self.check(draft, "--force").document["numbers"]
            self.assertEqual("missing" in number, wrap == "<nav>{}</nav>", number)

    def test_hidden_text_is_not_a_source(self) -> None:
        hidden = "<p style='font-size:0'>The harbour holds ninety boats in a winter.</p>"
        self.serve(PAGE.replace("</article>", f"{hidden}</article>"))
        run = self.check(self.cite("holds ninety boats in a winter"))
        self.assertEqual(run.document["checks"][0]["verdict"], "absent")

    def test_good_draft_has_exit_code_0_and_uses_the_store(self) -> None:
        text = self.cite("Nobody asked why the harbour was closed")
        for _ in range(2):
            run = self.check(text)
            self.assertEqual((run.code, run.document["ok"], self.server.count), (0, True, 1))
        self.assertEqual(self.check(text, "--force").code, 0)
        self.assertEqual(self.server.count, 2)
        self.assertEqual(self.check(text, "--offline").code, 0)
        run = self.check(text.replace("/tides", "/unknown"), "--offline")
        self.assertEqual((run.code, self.server.count), (1, 2))
        self.assertEqual(run.document["checks"][0]["verdict"], "unread")
        self.assertIn("not in the store", run.document["checks"][0]["error"])

    def test_another_cited_page_with_the_quotation_is_named(self) -> None:
        self.check(self.cite("Nobody asked why the harbour was closed"))
        self.serve(OTHER)
        keeper = self.url.replace("tides", "keeper")
        words = "wrote down the weather every morning"
        run = self.check(
            f"“{words}” ({self.url}).\n\nSee {keeper}: “his books are kept in the museum”"
        )
        absent, verbatim = run.document["checks"]
        self.assertEqual((absent["verdict"], absent["found_in"]), ("absent", keeper))
        self.assertEqual((verbatim["verdict"], verbatim["url"]), ("verbatim", keeper))

    def test_unreadable_page_says_why(self) -> None:
        self.server.status = 404
        run = self.check(self.cite("Nobody asked why the harbour was closed"))
        self.assertEqual(run.document["checks"][0]["verdict"], "unread")
        self.assertIn("404", run.document["checks"][0]["error"])
        run = self.check("“Nobody asked why the harbour was closed”")
        self.assertIn("cites no source", run.document["checks"][0]["error"])
        self.assertEqual(run.code, 1)

    def test_site_rules_and_guard_apply_to_stored_pages(self) -> None:
        text = self.cite("Nobody asked why the harbour was closed")
        self.assertEqual(self.check(text).code, 0)
        self.set_environment(**self.own(), WEB_SEARCH_BLOCK_SITES="127.0.0.1")
        self.assertIn("does not allow", self.check(text).document["checks"][0]["error"])
        self.set_environment(GLSI_DB_PATH=self.own()["GLSI_DB_PATH"])
        run = self.check(text.replace("/tides", "/new"))
        self.assertIn("no public address", run.document["checks"][0]["error"])
        self.assertEqual(self.server.count, 1)

    def test_numbers_are_found_in_any_notation(self) -> None:
        sentences = (
            ("In 2019 it was 1.200 people", []), ("it was 1 200 and 12 percent", []),
            ("1,400,000 crowns for 3 bridges, 0,75", []),
            ("some 1.3 million of 1200", ["1.3 million"]),
            ("between 5 and 13 %", ["13"]),
        )  # fmt: skip
        text = "\n\n".join(f"{words} ([source]({self.url}))." for words, _ in sentences)
        run = self.check(text)
        found = {item["line"]: item.get("missing", []) for item in run.document["numbers"]}
        self.assertEqual(list(found), [7, 9, 1, 3, 5])
        self.assertEqual([found[2 * i + 1] for i in range(5)], [lost for _, lost in sentences])
        self.assertEqual((run.code, run.document["counts"]["numbers_missing"]), (1, 2))

    def test_footnotes_and_percentages_prove_no_count(self) -> None:
        self.serve(
            "<p>It rose by 37 to 70 % [69] [70, 83]. A share of 0.93, and 12 of 60 boats.</p>"
        )
        sentences = (
            ("up by 70 percent, 37 % or 93%", []), ("some 83 boats", ["83"]),
            ("12% of the boats", ["12"]), ("60 boats [60]", []),
        )  # fmt: skip
        text = "\n\n".join(f"{words}, says [12]({self.url})." for words, _ in sentences)
        run = self.check(text)
        found = {item["line"]: item.get("missing", []) for item in run.document["numbers"]}
        self.assertEqual([found[2 * i + 1] for i in range(4)], [lost for _, lost in sentences])

    def test_uncited_numbers_are_named_by_line(self) -> None:
        text = f"# Of 1999\n\nIn 2018 it rose.\n\nIt was 1,200 ([s]({self.url})). By 7. By 8.\n"
        run = self.check(text)
        self.assertEqual((run.code, run.document["uncited_lines"]), (0, [3, 5]))
        for more, said in (("", "lines 3, 5."), ("\nAnd 9." * 9, "13, 14 and more.")):
            told = self.check(text + more, "--md").stdout.decode()
            self.assertIn("because uncited: numbers in ", told)
            self.assertIn(said, told)
        alone = self.check(text.replace("In 2018", "Then").replace("By 7. By 8.", "In 9."), "--md")
        self.assertIn("numbers in line 5.", alone.stdout.decode())
        self.assertNotIn("uncited_lines", self.check(self.cite("the tide of 1200")).document)

    def test_markdown_is_short_and_inactive(self) -> None:
        self.serve(PAGE.replace("fishermen", "[x](https://evil.example) &lt;img src=x> fishermen"))
        text = self.cite("least of all the old fishermen of the town", "one two three four")
        run = self.check(text, "--format", "markdown")
        text = run.stdout.decode()
        self.assertTrue(text.startswith("Verbatim: 0 of 2 quotations."), text)
        self.assertIn("- altered, line 1, ", text)
        for live in ("](", "<img"):
            self.assertNotIn(live, text)

    def judged(self, page: str, *quotations: str) -> list[Any]:
        """Return the checks of quotations of a page, in order."""
        self.serve(page)
        run = self.check(self.cite(*quotations), "--force", "--max-chars", "0")
        return sorted(run.document["checks"], key=lambda check: int(check["line"]))

    def test_cut_verbatim_quotations_are_not_told_in_markdown(self) -> None:
        right = self.cite(*["Nobody asked why the harbour was closed"] * 100)
        self.assertNotIn("Cut to fit", self.check(right, "--md").stdout.decode())
        document = self.check(right).document
        self.assertEqual([name in document for name in ("truncated", "never_shown")], [True] * 2)
        wrong = self.cite(*["Nobody asked why the harbour was open"] * 100)
        self.assertIn("Cut to fit", self.check(wrong, "--md").stdout.decode())
        text = f"Three bridges cost 1.4 million crowns ([s]({self.url}))."
        counted = "\n\n".join([text] * 12)
        document = self.check(counted, "--max-chars", "4000").document
        self.assertEqual(document["truncated"]["left_out"], ["proof"])
        run = self.check(counted, "--md", "--max-chars", "4000")
        self.assertNotIn("Cut to fit", run.stdout.decode())

    def test_a_character_that_changes_a_number_is_a_difference(self) -> None:
        for (text, differs), check in zip(
            cases := (
                ("The value fell to 12 million in May", [("", "-")]),
                ("12 million in May, and it rose", [("", "-")]),
                ("it rose by 4 % in June", [("", "\u2212")]),
                ("The keeper kept -12 goats", [("-", "")]),
                ("It measured 53 boxes", [("53", "5*3")]),
                ("the boat is 50' long", [("50′", "50″")]),
                ("The value fell to –12 million in May", []),
                ("the boat is 50″ long", []),
                ("It measured 5\\*3 boxes", []),
            ),
            self.judged(MEASURES, *(text for text, _ in cases)),
            strict=True,
        ):
            with self.subTest(text):
                pairs = [(pair["quote"], pair["source"]) for pair in check.get("differs", [])]
                self.assertEqual(pairs, differs)
                self.assertEqual(check["verdict"], "altered" if differs else "verbatim")

    def test_gap_shows_its_words_and_hides_no_negation(self) -> None:
        for (text, verdict, left_out, note), check in zip(
            cases := (
                ("We […] conclude whether the drug works", "altered", ["cannot yet"], "opposite"),
                ("There was [strong] evidence of harm", "altered", ["no"], "opposite"),
                ("[Strong] evidence of harm. The drug", "altered", [], "opposite"),
                ("We [...] conclude whether ... drug works", "altered", ["cannot yet", "the"], ""),
                ("It measured … and the boat is", "verbatim", ["5*3 boxes,"], ""),
                ("The value fell … kept in the museum", "verbatim", None, "offsets 0 and 3,"),
                ("The keeper kept 12 goats […] The drug R0 was tested", "altered", None, "order"),
                ("The keeper kept 12 goats. The books are kept in the museum", "altered", None,
                 "Joined from two places: offsets 2"),
            ),
            self.judged(MEASURES, *(text for text, *_ in cases)),
            strict=True,
        ):  # fmt: skip
            with self.subTest(text):
                self.assertEqual(check["verdict"], verdict)
                self.assertIn(note, check.get("note", ""))
                if left_out is not None:
                    self.assertEqual(check["left_out"], left_out)

    def test_quotation_that_begins_after_a_negation_is_altered(self) -> None:
        page = (
            "<p>There was no strong effect of the drug. The drug may have cured the patients of "
            "the town. It is a good book for cats.</p>"
        )
        denied, dropped, inserted, against, replaced, kept = self.judged(
            page,
            "strong effect of the drug", "The drug […] cured the patients",
            "It is [never] a good book for cats", "The drug may have [against] cured the patients",
            "It is a good [film] for cats", "no strong effect of the drug",
        )  # fmt: skip
        for check in (denied, dropped, inserted, against, replaced):
            self.assertEqual(check["verdict"], "altered", check)
        self.assertEqual((denied["differs"][0]["source"], kept["verdict"]), ("no", "verbatim"))
        run = self.check(f"It had no “strong effect of the drug” ([s]({self.url})).")
        self.assertEqual(run.document["checks"][0]["verdict"], "verbatim")

    def test_every_sign_of_code_counts(self) -> None:
        page = "<p>Then call <code>kettle --Boil -t 9</code> in the kitchen of the house.</p>"
        verdicts = [
            check["verdict"]
            for check in self.judged(
                page,
                "call kettle --Boil -t 9 in the kitchen", "Call `kettle --Boil -t 9` in the",
                "call kettle --boil -t 9 in the kitchen",
                "call kettle -Boil -t 9 in the kitchen", "call `kettle –Boil -t 9` in the kitchen",
            )
        ]  # fmt: skip
        self.assertEqual(verdicts, ["verbatim"] * 2 + ["altered"] * 3)

    def test_differences_in_spaces_only_are_noted(self) -> None:
        for text, check in zip(
            cases := (
                "The drug R 0 was tested", "tested bythe members of the",
                "by the membersofthe committee",
                "R 0 was … the committee. The",
            ),
            self.judged(MEASURES, *cases),
            strict=True,
        ):  # fmt: skip
            with self.subTest(text):
                self.assertEqual(check["verdict"], "verbatim")
                self.assertIn("spaces", check["note"])
        (check,) = self.judged("<p>It was 1 23 of them in all.</p>", "It was 12 3 of them in")
        self.assertNotEqual(check["verdict"], "verbatim")

    def test_long_quotation_meets_the_deadline(self) -> None:
        self.serve(f"<p>{'tide wind ' * 30_000}</p>")
        for quoted, found in (
            ("tide " * 12_000, "absent"),
            ("tide " * 20_000, "absent"),
            ("tide wind … " * 3_000, "verbatim"),
        ):
            text = self.cite(quoted)
            started = time.process_time()  # a busy machine does not count
            run = self.check(text, "--timeout", "2", "--page-timeout", "1")
            self.assertLess(time.process_time() - started, 2 + SLACK)
            self.assertIn(run.document["checks"][0]["verdict"], ("unread", found))


TOWNS = """<html><head><title>Towns of the coast</title></head><body><article>
<h1>Towns of the coast</h1>
<p>The harbour of Oslo has 59,000 berths and 43 million visitors. In 2019 two of 31 boats sank
within 5.0 days. The fee rose by 12 % to $50. A meeting of 50 people was held in Bergen.</p>
<p>There were 12 goats and 37 horses on the island. The share of wood was 0.64. The school opened
on March 4, 2020, and twenty-one pupils came.</p><h2>Cities</h2><table>
<tr><th>City</th><th>Area (km)</th><th>Population</th></tr>
<tr><td>Oslo</td><td>480</td><td>700,000</td></tr>
<tr><td>Bergen</td><td>465</td><td>285,000</td></tr>
<tr><td>Narvik</td><td>2,000</td><td>21,000</td></tr></table></article></body></html>"""


SOLAR = """<html><head><title>Solar power in Verden</title></head><body><article>
<h1>Solar power in Verden</h1><p>Solar capacity in Verden grew to 1.3 GW at the end of 2022, up from
900 MW a year earlier. Households paid on average €7,800 for a system of 6 kW, while firms paid
€21,000 for one of 20 kW. The first prizes were given in 2018 and 2020 by a club of engineers.</p>
<p>Minister Anna Holm said that the queue for permits had fallen from 19 weeks to 11.</p><table>
<tr><th>Year</th><th>Capacity (MW)</th><th>New systems</th></tr>
<tr><td>2020</td><td>610</td><td>4,800</td></tr><tr><td>2021</td><td>900</td><td>9,100</td></tr>
<tr><td>2022</td><td>1,300</td><td>14,500</td></tr></table></article></body></html>"""


class NumbersOfDrafts(CheckCase):
    """Numbers of sentences that cite the page of the towns."""

    def setUp(self) -> None:
        super().setUp()
        self.serve(TOWNS)

    def sentences(self, *texts: str) -> dict[str, Any]:
        """Return the check of each sentence, None if it is not listed."""
        draft_text = "\n\n".join(f"{text} ([s]({self.url}))." for text in texts)
        run = self.check(draft_text, "--max-chars", "0")
        found = {item["line"]: item for item in run.document.get("numbers", [])}
        return {text: found.get(2 * index + 1) for index, text in enumerate(texts)}

    def verdicts(self, *texts: str) -> list[tuple[list[str], list[str]]]:
        """Return the missing and the doubtful numbers of each sentence."""
        return [
            (item.get("missing", []), [number["number"] for number in item.get("doubtful", [])])
            for item in self.sentences(*texts).values()
        ]

    def assert_doubted(self, true: tuple[str, ...], false: tuple[str, ...]) -> None:
        """Assert that the false sentences have a missing or doubtful number, and no true one."""
        for text, (missing, doubtful) in zip(
            true + false, self.verdicts(*true, *false), strict=True
        ):
            with self.subTest(text):
                self.assertEqual(bool(missing or doubtful), text in false, (missing, doubtful))

    def test_a_milliwatt_is_no_megawatt(self) -> None:
        self.serve("<p>The lamp of the harbour takes 40 mW and the mill takes 70 MW a day.</p>")
        self.assertEqual(
            self.verdicts("The lamp takes 40 MW", "The lamp takes 40 mW", "The mill takes 70 mw"),
            [(["40"], []), ([], []), ([], [])],
        )

    def test_doubts_are_only_where_the_page_has_another_value(self) -> None:
        self.serve(
            "<html lang=en><title>Report</title><article><p>Exports of Belsund fell from $4.2 "
            "billion in 2021 to $3.9 billion in 2022. In SARS CoV samples from Chinese clinics 8 "
            "were positive in these 16 patients.</p><p>One hundred and nineteen boats were lost, "
            "and 10,800 people left. Version 2.2.9 The next one came late. The delay was 220 "
            "milliseconds. The mean stay was 5.0 days (95% CI: 4.1, 6.3). At least 40 schools "
            "closed, 2,061 homes had no water, and wages increased by 12 percent.</p><p>On 27 May "
            "2007 the lowest temperature was \u22125 °C, and 31 sailors died per day. The library "
            "needs Python 3.8 or greater and Ant 1.4. The bridge opened on May 27, 1937.</p><p>The "
            "robot Heron 16 carried 101 crates to the mill, Heron 20 carried 55 crates, and Heron "
            "24 carried 170 crates.</p>"
        )
        self.check("x " + self.url, "--force")
        true = (
            "Exports were $4.2 billion in 2021", "Exports were $3.9 billion in 2022",
            "Exports fell from 4.2 to 3.9 billion", "Of 16 patients in China 8 were positive",
            "SARS-CoV was found in 8 of 16 patients", "119 boats were lost",
            "10.8 thousand people left", "Version 2.2 came late", "The delay was 0.22 seconds",
            "The mean stay was 5.0 days, with a 95 % CI from 4.1 to 6.3",
            "A minimum of 40 schools closed", "Over 2,000 homes had no water",
            "The bridge opened on 1937-05-27", "On 27 May 2007 it was −5 °C cold",
            "Heron 24 carried 170 crates and Heron 20 carried 55 of them",
            "The library needs Python 3.8 or newer", "One in five left of 119 boats lost",
        )  # fmt: skip
        false = (
            "Exports were $3.9 billion in 2021", "Exports were $4.2 billion in 2022",
            "Exports rose by 12 %, as wages decreased by 12 percent",
            "At most 40 schools closed", "The delay was 220 seconds", "It was 5 °C on 27 May 2007",
            "On 27 June 2007 it was −5 °C", "31 sailors died per month",
            "The library needs Python 3.9 or greater", "The library needs `python>=3.7`",
            "The library needs Python 3.8 or older", "The bridge opened on May 28, 1937",
            "Heron 16 carried 170 crates", "Heron 20 carried 170 crates to the mill",
            "Wages increased by 12 percentage points", "16 of 8 patients were positive",
        )  # fmt: skip
        self.assert_doubted(true, false)

    def test_months_rates_signs_and_bare_versions_count(self) -> None:
        self.serve(
            "<html lang=en><title>Study</title><article><p>The clinic of Corrie enrolled children "
            "from July 2007 to June 2010. The pump checks 400 valves per second. Fatality rates "
            "were &gt;2.5% in Corrie. The tool needs Node.js version 22 or higher. The old rate "
            "was 48Á0 %.</p><p>IAV, RSV and HRV were found in 348 (36 %), 296 (31 %) and 209 (21 "
            "%) cases, respectively.</p></article>"
        )
        self.check("x " + self.url, "--force")
        true = (
            "Children came to the clinic of Corrie from July 2007 until June 2010",
            "400 valves are checked each second", "Fatality rates were above 2.5% in Corrie",
            "It needs Node.js version 22 or newer", "The old rate was 48%",
            "The clinic of Corrie enrolled children until June 2010, three years later",
            "Influenza was found in 348 cases and RSV in 296",
        )  # fmt: skip
        false = (
            "Children came to the clinic of Corrie from July 2007 until June 2009",
            "The pump checks 400 valves per minute", "Fatality rates were below 2.5% in Corrie",
            "It needs Node.js version 22 or older", "It needs Node.js version 20",
            "The clinic had 209 children in 2007, of whom 348 were cases",
        )  # fmt: skip
        self.assert_doubted(true, false)

    def test_columns_of_months_and_years_and_parts_of_a_whole_count(self) -> None:
        self.serve(
            "<html lang=en><title>Belsund</title><article><p>About 5.2 million guests came to "
            "Belsund, 3.1 million of them by sea. A force of 55,000 or 60,000 sailors met there in "
            "the 17th century. The pipe carries 63 billion cubic meters a year.</p><table><tr>"
            "<th>Month</th><th>Jun</th><th>Jul</th><th>Sep</th></tr><tr><td>Sunshine hours</td><td>"
            "201.5</td><td>319.3</td><td>219.0</td></tr></table><table><tr><th>Belsund</th><th></th>"
            "<th></th><th></th></tr><tr><td>Year</td><td>1992</td><td>2001</td><td>2011</td></tr><tr><td>"
            "Population</td><td>25,256</td><td>31,289</td><td>33,487</td></tr></table></article>"
        )
        self.check("x " + self.url, "--force")
        true = (
            "In July there are 319.3 hours of sunshine", "By 2011 the population was 33,487",
            "The population grew from 25,256 in 1992 to 33,487 in 2011",
            "5.2 million guests came, of whom 3.1 million by sea",
            "At least 55,000 sailors met there",
            "The pipe carries 63 billion m³ a year", "Of the guests, Sea 5.2 million came",
        )  # fmt: skip
        false = (
            "In July there are 219.0 hours of sunshine", "By 2011 the population was 31,289",
            "3.1 million guests came, of whom 5.2 million by sea",
            "The pipe carries 63 billion m² a year",
        )  # fmt: skip
        self.assert_doubted(true, false)

    def test_markdown_names_what_passed_and_what_was_not_checked(self) -> None:
        text = (
            f"Oslo has 480 km ([s]({self.url})).\n\nHalf is in Figure 3 ([s]({self.url})).\n\n"
            f"It has 9 (computed: 3 + 3) ([s]({self.url})).\n\nBergen has 7 boats [4]."
        )
        run = self.check(text, "--md")
        said = run.stdout.decode()
        self.assertEqual(run.code, 1)
        self.assertIn("Not checked: Figure 3 (line 3), Half (line 3).", said)
        self.assertIn("Passed: numbers in line 1.", said)
        self.assertTrue(said.rstrip().endswith("links (1); not names or other claims."), said)
        mixed = f"Oslo has 480 km ([s]({self.url})). Oslo has 99 km ([s]({self.url}))."
        self.assertNotIn("Passed", self.check(mixed, "--md").stdout.decode())
        self.assertIn("The draft does not say what [4] is.", said)
        self.assertLess(said.index("miscalculated"), said.index("[4]"))
        run = self.check("\n\n".join([text] * 100), "--md", "--max-chars", "3000")
        said = run.stdout.decode()
        self.assertIn("miscalculated", said)
        self.assertNotIn("fewer results", said)

    def test_cited_page_without_the_number_is_noted(self) -> None:
        self.check(f"[s]({self.url})")
        self.serve(OTHER)
        other = self.url.replace("tides", "keeper")
        (item,) = self.check(f"Narvik has 21,000 ([s]({self.url}), [t]({other})).").document[
            "numbers"
        ]
        self.assertEqual(item["without"], [other])

    def test_a_gap_in_a_table_and_a_name_in_a_later_clause_are_no_reason_for_doubt(self) -> None:
        self.serve(
            "<article><h1>The race of Brno</h1><p>Kimi Aalto was demoted ten places on the grid "
            "after a failure of his engine on Friday.</p><table><tr><th>Pos<th>Driver<th>Laps"
            "<th>Time/Retired<tr><td>1<td>Juan Rossi<td>60<td>1:24:29.588<tr><td>2<td>Fernando "
            "Blanco<td>60<td>+2.739</table><p>The stewards said that the grid was right, and that "
            "the flags were shown in time by the marshals of the town.</p><p>It has a runway, "
            "12/30, which is 2,501 m (8,205 ft) long and 60 m (197 ft) wide.</p></article>"
        )
        for (text, missing, doubtful), verdict in zip(
            cases := (
                ("Fernando Blanco was second, 2.739 seconds behind", [], []),
                ("Fernando Blanco was second, 2.793 seconds behind", ["2.793"], []),
                ("Juan Rossi won in 1:24:29.588", [], []),
                ("Juan Rossi won in 1:24:29.585", ["1:24:29.585"], []),
                ("Kimi Aalto was demoted ten places on the grid, and Juan Rossi won", [], []),
                ("The runway of the town is 60 m wide", [], []),
                ("The runway of the town is 2,501 m long", [], []),
            ),
            self.verdicts(*(text for text, _, _ in cases)),
            strict=True,
        ):
            with self.subTest(text):
                self.assertEqual(verdict, (missing, doubtful))

    def test_unit_scale_word_row_and_order_count(self) -> None:
        for (text, missing, doubtful), verdict in zip(
            cases := (
                ("The harbour of Oslo has 59,000 berths and 43 million visitors", [], []),
                ("The harbour of Oslo has 59 million berths", ["59 million"], []),
                ("The harbour has 43 thousand visitors", ["43 thousand"], []),
                ("Boats sank within 5.0 days", [], []),
                ("Boats sank within 5.0 weeks", ["5.0"], []),
                ("The fee rose to 50 million", ["50 million"], []),
                ("The fee rose by 12 days", ["12"], []),
                ("Two of 31 boats sank", [], []),
                ("Three of 31 boats sank", ["Three"], []),
                ("There were 37 goats and 12 horses", [], ["37", "12"]),
                ("There were 12 goats and 37 horses", [], []),
                ("Bergen has a population of 285,000", [], []),
                ("Oslo has a population of 285,000", [], ["285,000"]),
                ("The area of Bergen is 285,000", [], ["285,000"]),
                ("Every lamp needs 37 candles", [], ["37"]),
            ),
            self.verdicts(*(text for text, _, _ in cases)),
            strict=True,
        ):
            with self.subTest(text):
                self.assertEqual(verdict, (missing, doubtful))

    def test_words_near_a_number_decide(self) -> None:
        self.serve(SOLAR)
        for (text, doubtful), verdict in zip(
            cases := (
                ("Within a year, capacity rose from 900 MW to 1.3 GW", []),
                ("Within a year, capacity rose from 1.3 GW to 900 MW", ["1.3", "900"]),
                ("Waiting for permits fell from 19 to 11 weeks", []),
                ("Waiting for permits fell from 11 to 19 weeks", ["11", "19"]),
                ("A typical household pays €7,800 for its 6 kW", []),
                ("A typical household pays €21,000 for its 6 kW", ["21,000"]),
                ("The first prizes came in 2018 and 2020", []),
                ("The first prizes came in 2020 and 2018", []),
                ("In 2021, 9,100 systems were installed", []),
                ("In 2021, 4,800 systems were installed", ["4,800"]),
                ("There were 9,100 new systems in 2020 and 4,800 in 2021", ["9,100"]),
                ("There were 4,800 new systems in 2020 and 9,100 in 2021", []),
                ("Companies spend €21,000 on 20 kW", []),
            ),
            self.verdicts(*(text for text, _ in cases)),
            strict=True,
        ):
            with self.subTest(text):
                self.assertEqual(verdict, ([], doubtful))
        ((missing, _),) = self.verdicts("By the end of 2022 Verden had 1.3 MW of solar capacity")
        self.assertEqual(missing, ["1.3"])

    def test_numbers_of_a_list_belong_to_words_in_order(self) -> None:
        self.serve(
            "<html lang=en><p>The yields of wheat and barley were 3.1 and 5.4 tons per hectare, "
            "respectively.</p><p>Narvik, Oslo and Bergen have 7, 12 and 31 ferries.</p>"
            "<p>The north tower and the south tower are 30 and 50 m high, respectively.</p>"
        )
        for (text, doubtful), verdict in zip(
            cases := (
                ("The yields of wheat and barley were 3.1 and 5.4 tons per hectare", []),
                ("The yields of wheat and barley were 5.4 and 3.1 tons", ["5.4", "3.1"]),
                ("Barley yielded 5.4 tons and wheat 3.1 tons per hectare", []),
                ("Wheat yielded 5.4 tons and barley 3.1 tons", ["5.4", "3.1"]),
                ("The yield of wheat was 3.1 tons per hectare", []),
                ("The yield of wheat was 5.4 tons per hectare", ["5.4"]),
                ("Oslo has 12 ferries and Bergen has 31", []),
                ("The north tower is 30 m high and the south tower 50 m", []),
                ("Oslo has 31 ferries and Bergen has 12", ["31", "12"]),
            ),
            self.verdicts(*(text for text, _ in cases)),
            strict=True,
        ):
            with self.subTest(text):
                self.assertEqual(verdict, ([], doubtful))

    def test_powers_of_ten_are_numbers(self) -> None:
        self.serve(
            "<html lang=en><p>The cluster holds 10<sup>9</sup> stars, emits 3 × 10<sup>8</sup> "
            "watts and moves 1.5e-3 degrees.</p>"
        )
        right = (
            "The cluster holds 10^9 stars", "The cluster holds 10⁹ stars",
            "The cluster holds 1e9 stars", "The cluster holds 1 billion stars",
            "The cluster emits 3×10⁸ watts", "The cluster emits 300 million watts",
            "The cluster moves 0.0015 degrees", "The cluster moves 1.5 × 10⁻³ degrees",
        )  # fmt: skip
        wrong = (
            "The cluster holds 10^8 stars", "The cluster holds 10⁸ stars",
            "The cluster emits 3×10^9 watts", "The cluster moves 1.5 × 10^3 degrees",
        )  # fmt: skip
        for text, (missing, doubtful) in zip(
            (*right, *wrong), self.verdicts(*right, *wrong), strict=True
        ):
            with self.subTest(text):
                self.assertEqual((bool(missing), doubtful), (text in wrong, []))

    def test_other_notations_are_the_same_number(self) -> None:
        texts = (
            "64 % of it, the share of wood", "The share of wood was 0,64", "The fee rose by 0.12",
            "The school opened on 2020-03-04", "21 pupils came to the school",
            "Twenty-one pupils came", "The population of Narvik is 21 thousand",
        )  # fmt: skip
        for text, verdict in zip(texts, self.verdicts(*texts), strict=True):
            with self.subTest(text):
                self.assertEqual(verdict, ([], []))
        for day in ("2020-03-05", "March 5, 2020"):
            (verdict,) = self.verdicts(f"The school opened on {day}")
            self.assertIn("2020-03-05", verdict[0])

    def test_year_cell_and_unit_of_a_number_count(self) -> None:
        self.serve(
            "<html lang=en><p>Lisle had 27,620 citizens at the 2010 census. The mayor came in 2000."
            "</p><p>Just 15 crops give 90 percent of the food. The boat and its ships carry 2666 "
            "passengers and 1045 sailors.</p><p>Mean stay of visitors: 3.5 days.</p><table>"
            "<tr><th>Speed<td>18.2 knots surfaced, 7.7 knots submerged</tr></table>"
        )
        self.check("x " + self.url, "--force")
        true = (
            "Lisle had 27,620 citizens at the 2010 census", "The speed was 18.2 knots surfaced",
            "Ships carry 2666 passengers and 1045 sailors",
        )  # fmt: skip
        false = (
            "Lisle had 27,620 citizens at the 2000 census", "The speed was 18.2 knots submerged",
            "The boat carries 1045 passengers and 2666 sailors", "Just 90 crops give food",
        )  # fmt: skip
        for text, (missing, doubtful) in zip(
            true + false, self.verdicts(*true, *false), strict=True
        ):
            with self.subTest(text):
                self.assertEqual((missing, bool(doubtful)), ([], text in false))
        ((missing, _),) = self.verdicts("Lisle had 3,500 visitors")
        self.assertEqual(missing, ["3,500"])

    def test_correctly_rounded_numbers_are_found_with_a_note(self) -> None:
        self.serve(
            "<html lang=en><p>Narvik had 4,512,000 visitors in 1998, of whom 59.6% came by sea and "
            "7,204 by air. The budget was $1,530 per head.</p>"
            "<table><tr><th>Town<th>Exports (in millions)</tr>"
            "<tr><td>Belsund<td>813.2</tr><tr><td>Oslo<td>12.1</tr></table>"
        )
        self.check("x " + self.url, "--force")
        right = (
            "Narvik had about 4.5 million visitors", "Narvik had more than 4.5 million visitors",
            "nearly 60% of the visitors came by sea", "60% of the visitors came by sea",
            "over 7,000 of the visitors came by air", "Narvik hatte rund 4,5 Millionen Besucher",
            "Exports of Belsund were some 813 million",
        )  # fmt: skip
        wrong = (
            "Narvik had nearly 4.5 million visitors", "nearly 59% of the visitors came by sea",
            "about 4.7 million visitors came to Narvik", "over 60% of the visitors came by sea",
            "Narvik had visitors in about 2000", "almost 4.5 million came by sea",
        )  # fmt: skip
        for text, item in self.sentences(*right, *wrong).items():
            with self.subTest(text):
                self.assertEqual("missing" in item, text in wrong)
                if text in right:
                    self.assertIn("Rounded from", item["proof"][0]["note"])
        told = self.check(f"{right[0]} ([s]({self.url})).", "--md").stdout.decode()
        self.assertIn("4.5 million: Rounded from 4,512,000.", told)
        (item,) = self.sentences("The budget was $1,500 per head").values()
        self.assertEqual([one["note"] for one in item["doubtful"]], ["Rounded from 1,530."])

    def test_day_that_only_a_reference_has_is_doubtful(self) -> None:
        self.serve(
            "<html lang=en><p>The bridge of Lisle opened on 7 May 2020, after years of work.</p>"
            "<h2>References</h2><ol><li>Smith: The bridge of Lisle. 9 May 2020.</ol>"
        )
        self.check("x " + self.url, "--force")
        for text, verdict in (
            ("The bridge of Lisle opened on 7 May 2020", ([], [])),
            ("The bridge of Lisle opened on 2020-05-07", ([], [])),
            ("The bridge of Lisle opened on 9 May 2020", ([], ["2020-05-09"])),
            ("The bridge of Lisle opened on 2020-05-09", ([], ["2020-05-09"])),
            ("The bridge of Lisle opened on 8 May 2020", (["2020-05-08"], [])),
        ):
            with self.subTest(text):
                self.assertEqual(self.verdicts(text), [verdict])

    def test_code_that_is_a_number_is_a_number(self) -> None:
        for text, missing in (
            ("The default is `59,000` berths", []),
            ("The default is `58,000` berths", ["58,000"]),
            ("The default is `58 * 1024` bytes", ["58", "1024"]),
            ("The default is `port58`", None),
        ):
            (item,) = self.sentences(text).values()
            with self.subTest(text):
                self.assertEqual(item and item.get("missing", []), missing)

    def test_value_in_a_table_names_no_other_row(self) -> None:
        self.serve(
            "<html lang=en><table><tr><th>Place<th>Country<th>Points<th>Appearances</tr><tr><td>1"
            "<td>Ireland<td>155<td>398</tr><tr><td>4<td>Malta<td>123<td>60</tr><tr><td>23"
            "<td>Finland<td>4<td>71</tr></table><p>The 20 league teams had 30 players.</p>"
        )
        texts = (
            "Ireland won with 155 points and Finland came last with 4 points",
            "Ireland made 398 league appearances",
        )
        for text, verdict in zip(texts, self.verdicts(*texts), strict=True):
            with self.subTest(text):
                self.assertEqual(verdict, ([], []))

    def test_markdown_says_what_was_doubted_or_that_nothing_was_checked(self) -> None:
        for text, told in (
            ("Oslo has a population of 285,000", "1 of 1 sentences, 1 doubtful."),
            ("The option is `foo`", "Nothing to check: no quotation and no number with a link."),
        ):
            run = self.check(f"{text} ([s]({self.url})).", "--md")
            self.assertIn(told, run.stdout.decode())

    def test_names_in_code_tell_what_a_number_is(self) -> None:
        self.serve(
            "<html lang=en><h1>Server</h1><p>The <code>keepAlive</code> option is 5 seconds by "
            "default.</p><h2>History</h2><p>The first draft had 60 pages, said its author.</p>"
            "<h2>Profiles</h2><p>The <code>release</code> profile has these settings:</p>"
            "<pre>[profile.release]\nopt-level = 3\ndebug = false</pre><h2>Overrides</h2>"
            "<p>Set the settings of a package in its profile:</p>"
            "<pre># Set the settings.\n[profile.dev.package]\nopt-level = 3</pre>"
        )
        self.check("x " + self.url, "--force")
        for text, doubtful in (
            ("`keepAlive` is 5 seconds by default", []),
            ("`keepAlive` is 5", []),
            ("`keepAlive` is 60", ["60"]),
        ):
            with self.subTest(text):
                self.assertEqual(self.verdicts(text), [([], doubtful)])
        (item,) = self.sentences("The profile `release` sets `opt-level` to 3").values()
        self.assertIn("[profile.release]", item["proof"][0]["text"])

    def test_labels_are_not_numbers(self) -> None:
        texts = (
            "Figure 8 and Table 3 show it", "See section 2.4 and step 7", "COVID-19 came, and F8",
            "It follows ISO 8601 and RFC 9110", "It runs on Python 3.12", "At the Web Summit 2023",
            "The Web Summit 2023 showed it",
        )  # fmt: skip
        for text, item in self.sentences(*texts, "There were 38 goats").items():
            with self.subTest(text):
                self.assertEqual(item and item["missing"], ["38"] if "goats" in text else None)

    def test_version_with_two_points_is_a_fact_with_or_without_v(self) -> None:
        self.serve(
            "<html lang=en><article><h1>Globals</h1><h2>structuredClone(value)</h2><p>Added in: "
            "v17.0.0</p><p>The method structuredClone clones a value, and takes 2 arguments.</p>"
            "<h2>Class: AbortSignal</h2><table><tr><th>Version<th>Changes<tr><td>v20.1.0<td>The "
            "signal of AbortSignal has a reason.<tr><td>v16.7.0<td>AbortSignal is stable.</table>"
            "<h2>fetch(url)</h2><p>Added in: 18.0.0. Deprecated since: v4.7</p></article>"
        )
        self.check("x " + self.url, "--force")
        cases = (
            ("`structuredClone` was added in 17.0.0", []),
            ("`structuredClone` was added in v17.0.0", []),
            ("structuredClone was added in version 17.0.0", []),
            ("structuredClone takes 2 arguments since V17.0.0", []),
            ("AbortSignal is stable since Node 16.7.0", []),
            ("The signal of AbortSignal has a reason since 20.1.0", []),
            ("fetch was added in v18.0.0", []),
            ("fetch is deprecated since 4.7", []),
            ("fetch is deprecated since v4.8", None),
            ("fetch works since Node 12", None),
            ("fetch works since Node.js 12", None),
            ("structuredClone was added in v19.9.0", ["v19.9.0"]),
            ("structuredClone was added in `v19.9.0`", ["v19.9.0"]),
            ("structuredClone was added in version 19.9.0", ["19.9.0"]),
            ("structuredClone was added in versions 16.5 and 19.9.0", ["19.9.0"]),
            ("It came with release 19.9.0", ["19.9.0"]),
            ("structuredClone is there since Node 19.9.0", ["19.9.0"]),
            ("Since Node 19.9.0 there is structuredClone", ["19.9.0"]),
            ("Node-19.9.0 has structuredClone", ["19.9.0"]),
            ("structuredClone came with v20.3.0", ["v20.3.0"]),
            ("See section 19.9.0 on structuredClone", None),
        )
        for (text, missing), item in zip(
            cases, self.sentences(*(text for text, _ in cases)).values(), strict=True
        ):
            with self.subTest(text):
                self.assertEqual(item and item.get("missing", []), missing)
                self.assertNotIn("doubtful", item or {})

    def test_proof_is_returned_and_verbose_shows_it(self) -> None:
        text = "Narvik has a population of 21,000"
        (item,) = self.sentences(text).values()
        (proof,) = item["proof"]
        self.assertEqual((proof["number"], proof["url"]), ("21,000", self.url))
        self.assertIn("Population", proof["text"])
        self.assertIn("| Narvik | 2,000 | 21,000 |", proof["text"])
        draft_text = f"{text} ([s]({self.url}))."
        for options, is_told in ((("--md",), False), (("--md", "--verbose"), True)):
            told = self.check(draft_text, *options).stdout.decode()
            self.assertEqual("21,000 is in: " in told, is_told)
        self.assertNotIn("verbose", self.check(draft_text).document)

    def test_doubtful_numbers_fail_only_if_strict(self) -> None:
        text = f"Oslo has a population of 285,000 ([s]({self.url}))."
        run = self.check(text)
        self.assertEqual((run.code, run.document["counts"]["numbers_doubtful"]), (0, 1))
        self.assertEqual(self.check(text, "--strict").code, 1)
        self.assertIn("doubtful: 285,000, line 1", self.check(text, "--md").stdout.decode())

    def test_number_words_of_other_languages_are_read(self) -> None:
        for page, right, wrong in (
            ("<p>Von den Booten sind einundzwanzig mit der Flut gesunken.</p>",
             "Es sind 21 Boote gesunken, mit der Flut",
             "Es sind zweiundzwanzig Boote mit der Flut und 21 gesunken"),
            ("<p>Les marins ont perdu soixante-douze bateaux dans le port.</p>",
             "Ils ont perdu 72 bateaux dans le port", "Ils ont perdu dix et 72 bateaux"),
        ):  # fmt: skip
            with self.subTest(page):
                self.serve(page)
                self.check("x " + self.url, "--force")
                self.assertEqual(self.verdicts(right)[0][0], [])
                self.assertEqual(len(self.verdicts(wrong)[0][0]), 1)

    def test_each_number_needs_one_of_several_links(self) -> None:
        other = self.url.replace("tides", "keeper")
        self.check(f"[s]({self.url})")
        self.serve(OTHER.replace("forty", "44"))
        text = f"Narvik has 21,000, and the books 44 years ([s]({self.url}), [t]({other}))."
        (item,) = self.check(text).document["numbers"]
        self.assertNotIn("missing", item)
        proof = {number["number"]: number["url"] for number in item["proof"]}
        self.assertEqual(proof, {"21,000": self.url, "44": other})

    def test_marked_numbers_are_listed_and_recomputed(self) -> None:
        for text, wrong, code in (
            ("25 (computed: 37 − 12) more horses than goats", False, 0),
            ("26 (computed: 37 - 12) more horses than goats", True, 1),
            ("32 % (computed: 12 / 37) as many goats", False, 0),
            ("67.6 % (computed: (37 − 12) / 37) fewer goats", False, 0),
            ("3 towns (counted)", None, 0), ("99 <!-- computed --> points", None, 0),
        ):  # fmt: skip
            with self.subTest(text):
                run = self.check(f"There are {text} ([s]({self.url})).")
                (own,) = run.document["computed"]
                self.assertEqual((own.get("is_wrong"), run.code), (wrong, code))
        run = self.check(f"24 (computed: 37 − 13) more ([s]({self.url})).")
        self.assertEqual(run.document["numbers"][0]["missing"], ["13"])

    def test_table_of_a_draft_has_its_sources(self) -> None:
        other = self.url.replace("tides", "other")
        text = (
            f"From the [statistics]({self.url}):\n\n| City | Population | [Area]({other}) |\n"
            f"|---|---|---|\n| Narvik | 21,000 | 2,000 |\n| Oslo | 285,000 | 480 ([s]({other})) |\n"
        )
        found = self.check(text, "--max-chars", "0").document["numbers"]
        cited = {(item["line"], item["url"]): item for item in found}
        self.assertEqual({*cited}, {(5, self.url), (5, other), (6, other)})
        self.assertEqual(cited[6, other]["doubtful"][0]["number"], "285,000")
        self.assertNotIn("doubtful", cited[5, self.url])


class Links(CheckCase):
    def test_dead_link_is_named(self) -> None:
        self.check(f"[s]({self.url})")
        self.server.status = 404
        dead = self.url.replace("tides", "gone")
        run = self.check(f"Tides [are]({self.url}) known.\n\nThey [rise]({dead}).")
        ((link),) = run.document["dead_links"]
        self.assertEqual((link["url"], link["line"], run.code), (dead, 3, 1))
        self.assertIn("404", link["error"])
        self.assertIn("dead link, line 1", self.check(f"It [is]({dead}).", "--md").stdout.decode())

    def test_hint_is_about_what_failed(self) -> None:
        right = f"The committee found that 1,200 people were not affected ([s]({self.url}))."
        dead = f"[s]({self.url.replace('tides', 'gone')})"
        self.check(right)  # the page is stored
        self.server.status = 404
        for text, *cures in (
            (dead, "dead link"),
            (f"{right} {dead}", "dead link"),
            (f"{right.replace('1,200', '1,300')} {dead}", "Correct the number", "dead link"),
            (self.cite("Every sailor knows a song about the moon"), "source_text"),
        ):
            hint = self.check(text).document["details"]["hint"]
            for cure in ("dead link", "Correct the number", "source_text"):
                with self.subTest(text, cure=cure):
                    self.assertEqual(cure in hint, cure in cures)

    def test_unknown_host_is_dead_only_if_the_network_resolves_names(self) -> None:
        def resolve(host: str, *arguments: Any, **options: Any) -> Any:
            if is_working and host == "example.com":
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.215.14", 443))]
            raise socket.gaierror(socket.EAI_NONAME, "no")

        text = "They [rise](http://gone.example.org/x) by 12 %."
        for is_working in (True, False):
            with mock.patch("socket.getaddrinfo", resolve):
                document = self.check(text).document
            self.assertEqual("dead_links" in document, is_working)
            self.assertEqual("no network" in document["error"], not is_working)
            self.assertEqual("network" in document["details"]["hint"], not is_working)
        self.set_environment(**self.own(), http_proxy="http://127.0.0.1:9")
        self.assertNotIn("dead_links", self.check(text).document)

    def test_draft_sends_no_control_characters_to_a_terminal(self) -> None:
        text = f"It [rose]({self.url}/\x1b[31m\u009b2J\u202ered) by 12 % ([b]({self.url}\u202e))."
        for options in ((), ("--md",)):
            said = self.check(text, *options).stdout.decode()
            self.assertEqual([sign for sign in "\x1b\u009b\u202e" if sign in said], [])

    def test_link_that_nothing_has_shown_is_noted(self) -> None:
        text = f"Tides [are]({self.url}) known."
        run = self.check(text)
        self.assertEqual(run.document["never_shown"], [{"url": self.url, "line": 1}])
        self.assertEqual(run.code, 0)
        for options in ((), ("--force",)):  # check itself has read the page, nothing else
            again = self.check(text, *options).document["never_shown"]
            self.assertEqual(again, run.document["never_shown"])
        call_main(web_search, "read", self.url)
        self.assertNotIn("never_shown", self.check(text).document)

    def test_uncited_stored_page_with_the_quotation_is_named(self) -> None:
        self.check(f"[s]({self.url})")
        self.serve(OTHER)
        other = self.url.replace("tides", "keeper")
        quoted = f"“least of all the fishermen of the town” ([s]({other}))"
        (check,) = self.check(quoted).document["checks"]
        self.assertEqual((check["verdict"], check["found_in"]), ("absent", self.url))

    def test_another_link_of_the_sentence_may_be_the_source(self) -> None:
        self.check(f"[s]({self.url})")
        self.serve(OTHER)
        other = self.url.replace("tides", "keeper")
        text = f"“the fishermen of the town” stand in [a]({other}), or in [b]({self.url})."
        (check,) = self.check(text).document["checks"]
        self.assertEqual((check["verdict"], check["url"]), ("verbatim", self.url))


class Archived(ArchiveCase):
    def test_dead_link_with_an_archived_copy_is_named(self) -> None:
        url = self.address("gone/bread")
        text = f"Bread [needs]({url}) flour."
        document = run_check({"text": text})
        ((link),) = document["dead_links"]
        self.assertEqual((link["url"], document["ok"]), (url, False))
        self.assertEqual(link["archived_url"], f"{self.server.url}/web/20240131120000/{url}")
        self.assertIn("2024-01-31", link["error"])
        cited = text.replace(url, link["archived_url"].replace("0/http", "0id_/http"))
        self.assertTrue(run_check({"text": cited})["ok"])


class Interfaces(CheckCase):
    def test_one_quotation_without_a_draft(self) -> None:
        quote = ("--quote", "the harbour was open for the whole of the winter", "--url", self.url)
        run = run_script("web_search.py", "check", *quote, env=self.own())
        self.assertEqual((run.code, run.document["checks"][0]["verdict"]), (1, "altered"))

    def test_standard_input_and_lines_of_windows(self) -> None:
        quoted = "> Nobody asked why the harbour\n> was closed"
        text = f"Tides.\n\nIt says:\n\n{quoted}\n\n— {self.url}\n".replace("\n", "\r\n")
        run = run_script("web_search.py", "check", "-", env=self.own(), stdin=text)
        (check,) = run.document["checks"]
        self.assertEqual((run.code, check["verdict"], check["line"]), (0, "verbatim", 5))

    def test_bad_input_names_the_cure(self) -> None:
        for words, code, message in (
            (["check", str(self.folder / "none.md")], 2, "could not be read"),
            (["check"], 2, "check requires input"),
            (["check", "--quote", "one two three four"], 2, "needs url"),
            (["check", "--text", "No quotation at all."], 1, "has no quotation"),
            (["check", "--params-json", '{"text": "x", "quotes": 1}'], 2, "no parameter"),
        ):
            with self.subTest(words):
                run = call_main(web_search, *words)
                self.assertEqual(run.code, code)
                self.assertIn(message, run.document["error"])

    def test_http_takes_the_draft_as_body_and_the_desk_as_form(self) -> None:
        text = self.cite("the harbour was open for the whole of the winter")
        server = ServerProcess(**self.own())
        self.addCleanup(server.stop)
        form, browser = "application/x-www-form-urlencoded", "text/html"
        for kind, accept, body, status, words in (
            ("text/markdown", "*/*", text, 200, '"verdict":"altered"'),
            (form, "*/*", text, 200, '"verdict":"altered"'),  # what curl says by itself
            ("application/json", "*/*", json.dumps({"text": text}), 200, '"verdict":"altered"'),
            ("application/json", "*/*", '{"draft": "x"}', 400, "with only text"),
            ("application/json", "*/*", "{", 400, "not JSON in UTF-8"),
            ("text/markdown", "*/*", "", 400, "The draft is missing"),
            (form, browser, urlencode({"text": text}), 200, ">altered</strong> line 1"),
            (
                form,
                browser,
                urlencode({"text": "no quotation"}),
                200,
                'role="alert"><p><strong>The ',
            ),
        ):
            with self.subTest(body, kind=kind, accept=accept):
                headers = {"Content-Type": kind, "Accept": accept}
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
                self.addCleanup(connection.close)
                connection.request("POST", "/check", body.encode(), headers)
                answer = connection.getresponse()
                self.assertIn(words, answer.read().decode())
                self.assertEqual(answer.status, status)


class Drafts(unittest.TestCase):
    A, B = "https://a.example/x", "https://b.example/y_(z)"

    def test_source_is_in_after_or_listed_below_the_quotation(self) -> None:
        a, b = self.A, self.B
        for text, *expected in (
            (f"“one two three four” ([s]({a}))", [a]),
            (f"[“one two three four”]({a}) [s]({b})", [a]),
            (f"„eins zwei drei vier“, {b}.", [b]),
            (f"« un deux trois quatre » <{a}>", [a]),
            (f"「これは引用された文章です」（{a}）", [a]),
            (f"\"one two three don't\" [1]\n\n[1]: {a}", [a]),
            (f"'one two three don't' [^n]\n\n[^n]: Title, {a}.", [a]),
            (f"“one two three four” [1, 2]\n\n1. T. {a}\n2. [U]({b})", [a, b]),
            (f'“one two three four” [s][ref]\n\n[ref]: <{a}> "Title"', [a]),
            (f"[A]({a}) says “one two three four”, [B]({b}) “five six seven eight”", [a], [b]),
            (f"[A]({a}) says “one two three four.” The second [B]({b}) came.", [a, b]),
            (f"[A]({a}) came. “One two three four.” says [B]({b}).", [b]),
            (f"“one two three four” ([s]({a})) and “five six seven eight” ([s]({b}))", [a], [b]),
            (f"“one two three four” and “five six seven eight” ([s]({a}))", [a], [a]),
            (f"> one two three\n> four\n>\n> — [s]({a})", [a]),
            (f"The [page]({a}) says:\n\n> one two three four", [a]),
            (f"> one two three four\n\n— [s]({a})", [a]),
            (f"“one two three four”\n\n{a}", []),
            (f"`“one two three four”` “short” {a}\n\n```\n“one two three four” {a}\n```",),
            (f"> [!NOTE] one two three four {a}",),
            (f"[1]: “one two three four” {a}",),
        ):  # fmt: skip
            with self.subTest(text):
                found = draft.Draft(str(text)).quotations()
                self.assertEqual([item.urls for item in found], expected)

    def test_marks_of_html_tex_and_other_scripts(self) -> None:
        a = self.A
        for text, *expected in (
            (f"&ldquo;one two three four&rdquo; ([s]({a}))", "one two three four"),
            (f"&quot;one two three four&quot; ([s]({a}))", "one two three four"),
            (f"``one two three four'' ([s]({a})), ``a b c d''", "one two three four", "a b c d"),
            (f"<q>one two &amp; three four</q> ([s]({a}))", "one two & three four"),
            (f"<blockquote>one <b>two</b> three four</blockquote> {a}", "one  two  three four"),
            (f"״אחת שתיים צה״ל ארבע״ ([s]({a}))", "אחת שתיים צה״ל ארבע"),
            (f"＂one two three four＂ ([s]({a}))", "one two three four"),
            (f"〝one two three four〟 ([s]({a}))", "one two three four"),
            (f"“two words” ([s]({a}))", "two words"),
            (f"[“Two words”]({a}) of it",), ("“two words” of it",),
            (f"“two words” of it. Then [s]({a})",),
        ):  # fmt: skip
            with self.subTest(text):
                self.assertEqual([item.text for item in draft.Draft(text).quotations()], expected)

    def test_unclosed_mark_names_its_line(self) -> None:
        text = 'It “is open.\n\nA 5" pipe of 6".\n\nIt "is open, too.\n\n“Closed” and "closed".'
        self.assertEqual(draft.Draft(text).unclosed_lines(), [1, 5])

    def test_a_link_with_a_small_number_is_a_marker(self) -> None:
        for text, count in (
            (f"It has 7 boats [1]({self.A}).", 1),
            (f"It has [7]({self.A}) boats.", 1),
            (f"Boats came [1]({self.A})[2]({self.B}).", 0),
        ):
            found = [draft_numbers.numbers_in(one.text)[0] for one in draft.Draft(text).sentences()]
            self.assertEqual(sum(map(len, found)), count, text)

    def test_url_is_the_source_of_uncited_text(self) -> None:
        (item,) = draft.Draft("“one two three four”", self.A).quotations()
        self.assertEqual(item.urls, [self.A])

    def test_sentence_has_the_links_in_it_and_right_after_it(self) -> None:
        text = (
            f"It rose by 12 %. ([s]({self.A})) It fell to 3,5 in 2020 [s]({self.B}). No 7 source. "
            f"“Five of 6 were gone” ([s]({self.A})).\n\n1. Item of 8 ({self.A})\n\n"
            f"He called “the 4 of us” right in `f(2)` of 9 cases ([s]({self.A}))."
        )
        found = [(item.text, item.urls) for item in draft.Draft(text).sentences()]
        self.assertEqual(
            found,
            [
                ("It rose by 12 %. ()", [self.A]),
                ("It fell to 3,5 in 2020 s.", [self.B]),
                ("No 7 source.", []),
                ("Item of 8 ()", [self.A]),
                ("He called “” right in of 9 cases ().", [self.A]),
            ],
        )
        last = draft.Draft(text).sentences()[-1]
        self.assertEqual(last.shown, "He called “the 4 of us” right in `f(2)` of 9 cases (s).")


class Numbers(unittest.TestCase):
    def test_numbers_of_a_draft_and_a_page(self) -> None:
        for text, page, is_there in (
            ("1,200", "1200", True), ("1.200", "1 200", True), ("1200", "1\u202f200", True),
            ("1'200.50", "1.200,5", True), ("1.2 million", "1,200,000", True),
            ("1.2 million", "in millions: 1.2", True), ("1.2 million", "1.2 billion", False),
            ("3", "three", True), ("3.12.1", "3.12.1", True), ("3.12.1", "3.12.2", False),
            ("2", "H2O", False), ("0.5", "0,50", True), ("1.2万", "12000", True),
            ("300", "12 300 men", True), ("5", "05", True),
            ("10^9", "10^8", False), ("10⁹", "10^8", False), ("1e9", "10^8", False),
            ("3 × 10⁹", "3 x 10^8", False), ("10^9", "10", False), ("10^8", "10⁸", True),
            ("1e8", "10^8", True), ("3.2 × 10⁸", "3.2e8", True), ("10^8", "100,000,000", True),
            ("100 million", "10^8", True), ("2.5e-4", "2.5 × 10^−4", True),
            ("3·10^{8}", "300 million", True), ("10", "10³", False),
            ("1:20.502", "1:20,502", True), ("1:20.502", "1:20.503", False),
            ("80.502", "1:20.502", True), ("20", "1:20.5", False), ("10:30", "10:30", True),
            ("17.0.0", "v17.0.0", True), ("v17.0.0", "17.0.0", True), ("V17.0.0", "v17.0.0", True),
            ("v17.0.0", "v17.0.1", False), ("17.0", "v17.0.0", False), ("4.7", "v4.7", True),
            ("4.7 seconds", "v4.7", False), ("470 %", "v4.7", False), ("7", "v4.7", False),
            ("1.21.5", "go1.21.5", True), ("go1.21.6", "go1.21.5", False),
            ("17.0.0", "^17.0.0", True), ("v1.200.300", "1.200.300", True), ("12", "v12", False),
        ):  # fmt: skip
            with self.subTest(text, page=page):
                compared = numbers.ComparedNumbers(
                    text, "", [numbers.PageNumbers("u", "", page)], "en"
                )
                self.assertEqual(not compared.missing(), is_there)

    def test_a_scale_in_the_header_of_a_drafts_table_counts(self) -> None:
        page = numbers.PageNumbers("u", "", "Belsund exported 813,200,000 tons.")
        for head, missing in (("Exports (in millions)", []), ("Exports", ["813.2"])):
            text = "Belsund exported 813.2 tons"
            compared = numbers.ComparedNumbers(text, head, [page], "en")
            self.assertEqual(compared.missing(), missing)

    def test_long_sentence_is_shown_around_its_number(self) -> None:
        long = f"The bridge of Oslo, repaired by masons {'and smiths of the old guild ' * 12}"
        page = numbers.PageNumbers("u", "", f"{long} was 285 m long.\n\nA boat is 40 m long.")
        own, other = (
            numbers.ComparedNumbers(f"The bridge of Oslo, repaired by masons, is {value} m long",
                                    "", [page], "en")
            for value in (285, 40)
        )  # fmt: skip
        self.assertIn("285 m long", own.proof()[0]["text"])
        self.assertIn("285 m long", other.doubtful()[0]["text"])

    def test_no_text_raises(self) -> None:
        pick = random.Random(67)
        pieces = (
            "1,2,3 ", "3.4.5,6 ", "5", ".", ",", " ", "million", "%", "$", "-one ", "1/0", ")", "(",
            "(computed: ", "(counted)", "|", "\n", "[1]", "[a](https://x.y/z)", "“", "”", "²", "½",
            "Figure 8", "2020-03-04", "0,", "boats ", "The ", "''", "``", "<q>", "٣", "１２", "00",
        )  # fmt: skip
        for _ in range(300):
            text = "".join(pick.choice(pieces) for _ in range(pick.randrange(1, 40)))
            rest, _ = computed.without_marked(text, "en")
            compared = numbers.ComparedNumbers(
                rest, text[:20], [numbers.PageNumbers("u", "T", text)]
            )
            for facts in (compared.missing(), compared.doubtful(), compared.proof()):
                self.assertIsInstance(facts, list, text)
            parts = draft.Draft(text)
            for items in (parts.quotations(), parts.sentences(), parts.cited_links()):
                self.assertIsInstance(items, list, text)

    def test_long_draft_is_read_in_linear_time(self) -> None:
        for text in (
            "A draft of 12 boats and \"so on ``x'' “y. ", "| 1 | 2 | 3 |\n|---|---|\n",
            "[s](https://x.y/z) “a b” and ", "“a b c d”. ", "12 (computed: 1 + 1) and 13, ",
        ):  # fmt: skip
            started = time.process_time()  # a busy machine does not count
            parts = draft.Draft(text * (400_000 // len(text)))
            parts.quotations(), parts.sentences(), parts.unclosed_lines()
            self.assertLess(time.process_time() - started, 10 + SLACK, text)


class Compared(unittest.TestCase):
    def test_normal_form_and_offsets(self) -> None:
        for text, normal in (
            ("**Bold** _x_ `code` [link](http://x.y/a_(b) 't')", "Bold x code link"),
            ("it’s “so” — well – known", "it's so-well-known"),
            ("a\n\n- one\n  > two\n## Head", "a one two Head"),
            ("ﬁne e\u0301te\u0301 1²", "fine été 1^2"),
            (unicodedata.normalize("NFD", "ガイド 학점 신청"), "ガイド학점신청"),
            ("m², m^2, H₂O, V^7, 10⁶, 10^6", "m2, m2, H2O, V7, 10^6, 10^6"),
            ("[I]'ve, *Nina*’s, “*x*’ y”", "I've, Nina's, x y"),
            ("東京 は\n首都", "東京は首都"),
            ("wait . . . no... x", "wait … no… x"),
            ("to -12, 5-12, 5 - 12, (–3)", "to −12, 5-12, 5-12, (−3)"),
            ("5*3, 5\\*3, 5 * 3, *5* 3", "5*3, 5*3, 5 * 3, 5 3"),
        ):
            found, offsets = matching.normal_text_with_map(text)
            with self.subTest(text):
                self.assertEqual(found, normal)
                self.assertEqual(len(offsets), len(found))
                self.assertEqual(list(offsets), sorted(offsets))
                for sign, offset in zip(found, offsets, strict=True):
                    if sign.isascii() and sign.isalnum():
                        self.assertIn(sign, unicodedata.normalize("NFKC", text[offset]))


class Bulk(CheckCase):
    def test_1000_quotations_of_a_long_page_meet_the_deadline(self) -> None:
        pick = random.Random(46)
        words = [f"{pick.randrange(4_000) ** 2:x}" for _ in range(95_000)]
        lines = [" ".join(words[start : start + 90]) for start in range(0, len(words), 90)]
        self.serve("<article>" + "".join(f"<p>{line}.</p>" for line in lines) + "</article>")
        drawn = []
        for number in range(1_000):
            quoted = pick.choice(lines).split()[5:35]
            if number % 2:
                quoted[15] = "changed"
            drawn.append(" ".join(quoted))
        text = self.cite(*drawn)
        text += "\n\n" + "Further words of the draft. " * ((990_000 - len(text.encode())) // 28)
        started = time.process_time()  # a busy machine does not count
        run = self.check(text, "--max-chars", "0", "--page-timeout", "60", "--timeout", "110")
        self.assertLess(time.process_time() - started, BULK_SECONDS + SLACK)
        counts = run.document["counts"]
        self.assertEqual((counts["verbatim"], counts["altered"]), (500, 500))
        run = self.check(text, "--timeout", "1", "--force")  # what is late says so
        self.assertEqual(
            sum(
                run.document["counts"][name] for name in ("verbatim", "altered", "absent", "unread")
            ),
            1_000,
        )


if __name__ == "__main__":
    unittest.main()
