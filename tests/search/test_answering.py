"""Whether what was read answers: what is said and shown if it does not, and which pages come first.

The only module to notice pages that share common words with a question and fill its document.
"""

from __future__ import annotations

import re
from typing import Any

from tests.search.brief_support import BriefCase

PARAGRAPH = (
    "The world championship of {sport} was held in the city in {year}, and the winner of the "
    "championship was a team of {year} that had won the world title of {sport} before."
)
TEXT = "\n\n".join(PARAGRAPH.format(sport="squash", year=year) for year in range(1990, 2020))
AUTHOR = '<script type="application/ld+json">{"@type": "Article", "author": "Ada Reed"}</script>'
MENU = "<ul>" + "".join(f"<li>{name}</li>" for name in ("Golf", "Curling", "Rugby", "Judo", "Polo"))


class AnsweringCase(BriefCase):
    engines = ("searxng",)

    def answer(self, *arguments: str) -> Any:
        """The document of a call that works."""
        run = self.run_here(*arguments)
        self.assertEqual(run.code, 0, run.document)
        return run.document


class NameThatNoPageHas(AnsweringCase):
    def pages(self, question: str, text: str = TEXT, folder: str = "") -> None:
        pages = (text, text.replace("squash", "billiards").replace("19", "18").replace("20", "19"))
        self.web.find(
            question, *(self.web.page(f"{folder}/{n}", one) for n, one in enumerate(pages))
        )

    def test_it_is_said_first_and_each_page_shows_three_lines(self) -> None:
        for question in (
            "Curling world championship winner",
            "which team won the 'Curling' title of the world championship",
        ):
            self.pages(question)
            document = self.answer(question)
            self.assertEqual(document["warnings"][0], "Not in the 2 pages read: Curling.")
            for result in document["results"]:
                self.assertLessEqual(result.get("text", "").count("was held"), 3)

    def test_pages_that_have_it_are_shown_as_ever(self) -> None:
        question = "world championship winner of squash or billiards"
        self.pages(question)
        document = self.answer(question)
        self.assertNotIn("warnings", document)
        self.assertGreater(sum(one["text"].count("was held") for one in document["results"]), 6)

    def test_the_words_of_a_name_on_different_pages_are_not_the_name(self) -> None:
        question = "world championship winner Joey Cheek"
        self.web.find(
            question,
            self.web.page("/joey", "Joey Ramone sang. " + TEXT),
            self.web.page(
                "/cheek", "Nina Cheek sang. " + TEXT.replace("19", "18").replace("20", "19")
            ),
        )
        self.assertEqual(
            self.answer(question)["warnings"][0], "Not in the 2 pages read: Joey Cheek."
        )

    def test_a_menu_does_not_hold_it(self) -> None:
        question = "Curling world championship winner"
        self.pages(question, f"{MENU}</ul>\n\n{TEXT}")
        self.assertEqual(self.answer(question)["warnings"][0], "Not in the 2 pages read: Curling.")

    def test_a_shorter_word_that_begins_it_is_not_the_name(self) -> None:
        cases = (
            ("Brandstetter", "Brands of beer paid for it."),
            ("Middlemarch", "It began in the middle of the city, with a march in March."),
            ("Georgetown", "George won it."),
            ("Charleston", "Charles of the town won it."),
            ("Cougar", "He had a cough."),
        )
        for number, (name, sentence) in enumerate(cases):
            question = f"world championship winner {name}"
            self.pages(question, f"{sentence} {TEXT}", f"/{number}")
            document = self.answer(question)
            self.assertEqual(document["warnings"], [f"Not in the 2 pages read: {name}."])
            for result in document["results"]:
                self.assertLessEqual(result.get("text", "").count("was held"), 3)

    def test_inflected_or_in_a_longer_word_it_is_the_name(self) -> None:
        cases = (
            ("Brandstetter", "Brandstetters Haus"),
            ("Brandstetter", "The street is Brandstetterstraße."),
            ("Wardein", "It is near Großwardein."),
            ("Germany", "A German won it."),
            ("Olympics", "An Olympic team won it."),
            ("Population", "The town is populated."),
            ("Spiderman", "Spider-Man won it."),
            ("Spiderman", "Spider Man won it."),
            ("Tchaikovsky", "Tchaikowsky won it."),
            ("Достоевский", "Это книга Достоевского."),
        )
        for number, (name, sentence) in enumerate(cases):
            question = f"world championship winner {name} {number}"
            self.pages(question, f"{sentence} {TEXT}", f"/{number}")
            self.assertNotIn("warnings", self.answer(question), (name, sentence))

    def test_a_name_in_a_title_is_on_the_page(self) -> None:
        question = "world championship winner Brandstetter"
        page = {"url": self.web.page("/title", f"Brands paid for it. {TEXT}")}
        self.web.find(question, {**page, "title": "The Brandstetters"})
        self.assertNotIn("warnings", self.answer(question))

    def test_in_a_question_of_capitalized_words_capitals_tell_nothing(self) -> None:
        question = "Responsibilities Of The World Championship Winner"
        self.pages(question, f"The winner is responsible for the city. {TEXT}")
        self.assertNotIn("warnings", self.answer(question))

    def test_a_german_noun_is_not_a_name(self) -> None:
        question = "Einwohnerzahl der Stadt"
        self.pages(
            question, "Die Stadt liegt an der Elbe und hat nach der Zählung 90 Einwohner. " * 9
        )
        self.assertNotIn("warnings", self.answer(question))

    def test_identifiers_are_whole_and_operators_count(self) -> None:
        question = "TaskGroup cancel tasks <@ pre_save"
        self.pages(
            question, "Tasks of a group of 19 can be cancelled. A squash task saves first. " * 9
        )
        (warning,) = self.answer(question)["warnings"]
        self.assertEqual(warning, "Not in the 2 pages read: TaskGroup, <@, pre_save.")

    def test_a_clause_in_capitals_is_whole(self) -> None:
        question = "Squash ON CHAMPIONSHIP winner ORDER BY"
        self.pages(question, TEXT.replace("before.", "before in order by year."))
        document = self.answer(question)
        self.assertEqual(document["warnings"][0], "Not in the 2 pages read: ON CHAMPIONSHIP.")
        for result in document["results"]:
            self.assertLessEqual(result.get("text", "").count("was held"), 3)
        question = "SQUASH ON CHAMPIONSHIP"
        self.pages(question)
        self.assertNotIn("warnings", self.answer(question))

    def test_a_page_without_the_identifier_that_another_has_shows_three_lines(self) -> None:
        question = "world championship winner of the city team titleHolder"
        other = TEXT.replace("19", "18").replace("20", "19").replace("a team", "the titleHolder")
        texts = (TEXT.replace("world title", "world title of a holder"), other)
        self.web.find(question, *(self.web.page(f"/{n}", one) for n, one in enumerate(texts)))
        without, holding = self.answer(question)["results"]
        self.assertLessEqual(without.get("text", "").count("was held"), 3)
        self.assertGreater(holding["text"].count("was held"), 3)

    def test_a_name_in_lower_case_is_one_and_a_word_that_says_the_form_is_not(self) -> None:
        question = "show the type of title that nujoma won in the world championship of the city"
        self.pages(question)
        document = self.answer(question)
        self.assertEqual(document["warnings"][0], "Not in the 2 pages read: nujoma.")
        for result in document["results"]:
            self.assertLessEqual(result["text"].count("was held"), 3)

    def test_a_word_that_compares_is_not_missed(self) -> None:
        question = "squash vs billiards world championship winner"
        self.pages(question)
        document = self.answer(question)
        self.assertNotIn("warnings", document)
        self.assertGreater(sum(one["text"].count("was held") for one in document["results"]), 6)

    def test_a_code_with_other_digits_is_another_thing_and_one_with_a_space_is_not(self) -> None:
        text = TEXT.replace("squash", "squash by F174 and Kappa 15")
        question = "winner of the world championship F172 or Kappa15"
        self.pages(question, text)
        self.assertEqual(self.answer(question)["warnings"][0], "Not in the 2 pages read: F172.")

    def test_a_measure_is_not_missed_where_it_has_another_word(self) -> None:
        question = "squash city height"
        self.pages(question, TEXT.replace("and the winner", "12 meters high, and the winner"))
        document = self.answer(question)
        self.assertNotIn("warnings", document)
        self.assertGreater(document["results"][0]["text"].count("was held"), 3)

    def test_a_word_that_pages_spell_otherwise_does_not_cost_their_passages(self) -> None:
        question = "winner of the world chamiponship"
        self.pages(question)
        results = self.answer(question)["results"]
        self.assertGreater(sum(one["text"].count("was held") for one in results), 6)


class FurtherResults(AnsweringCase):
    """Results after those that were asked for are read once if nothing answers."""

    question = "Kettle dam builder"

    def results(self, *, answers_at: int) -> list[str]:
        """Let the question find ten pages, of which one answers; return them."""
        others = [TEXT.replace("19", str(30 + n)).replace("20", str(50 + n)) for n in range(10)]
        others[answers_at] = "The builder of the Kettle dam was Ada Moor, in 1871. " * 2
        pages = [self.web.page(f"/{n}", text) for n, text in enumerate(others)]
        self.web.find(self.question, *pages)
        return pages

    def test_they_are_read_if_nothing_answers(self) -> None:
        pages = self.results(answers_at=7)
        document = self.answer(self.question)
        results = document["results"]
        self.assertEqual(len(results), 5)
        self.assertEqual(results[-1]["url"], pages[7])
        self.assertIn("Ada Moor", results[-1]["text"])
        self.assertNotIn("warnings", document)
        self.assertEqual(len(self.web.read), 10)

    def test_they_are_not_read_if_a_page_answers(self) -> None:
        pages = self.results(answers_at=2)
        document = self.answer(self.question)
        self.assertEqual([one["url"] for one in document["results"]], pages[:5])
        self.assertEqual(sorted(self.web.read), sorted(pages[:5]))

    def test_without_pages_only_as_many_results_as_asked_for_come(self) -> None:
        pages = self.results(answers_at=7)
        document = self.answer(self.question, "--no-pages")
        self.assertEqual([one["url"] for one in document["results"]], pages[:5])

    def test_a_stored_answer_keeps_them(self) -> None:
        self.results(answers_at=7)
        first = self.answer(self.question)
        self.web.forget()
        second = self.answer(self.question)
        self.assertEqual((self.web.asked, self.web.read), ([], []))
        self.assertEqual(second["results"], first["results"])


class SmallRoom(AnsweringCase):
    def test_the_results_that_rank_first_are_shown_with_text(self) -> None:
        question = "which team won the squash title"
        texts = (TEXT.replace("19", str(30 + n)).replace("20", str(50 + n)) for n in range(10))
        pages = [self.web.page(f"/{n}", text) for n, text in enumerate(texts)]
        self.web.find(question, *pages)
        document = self.answer(question, "-n", "10", "--max-chars", "3000")
        shown = [one["url"] for one in document["results"]]
        self.assertEqual(shown, pages[: len(shown)])
        self.assertEqual(document["truncated"]["items_dropped"], {"results": 10 - len(shown)})
        self.assertGreater(sum(len(one.get("text", "")) for one in document["results"]), 1_000)


class RecallByPassages(AnsweringCase):
    def test_the_page_that_answers_comes_before_one_that_holds_the_words(self) -> None:
        scattered = "\n\n".join(
            f"The {word} of anthrax is told in chapter {n}, with all its signs and its history."
            for n, word in enumerate(("incubation", "period", "course", "symptoms") * 9)
        )
        measles = f"{'Measles spreads by air. ' * 60}\n\nIts incubation period is 10 to 14 days."
        self.web.find(
            "diseases",
            self.web.page("/incubation-period-of-anthrax", scattered),
            self.web.page("/measles", measles),
        )
        self.answer("diseases")
        first = self.answer("recall", "incubation period days")["results"][0]
        self.assertTrue(first["url"].endswith("/measles"))
        self.assertIn("10 to 14 days", first["text"])
        count = len(self.answer("recall", "incubation period days", "-n", "1")["results"])
        self.assertEqual(count, 1)


class OutsideOfTheArticle(AnsweringCase):
    """A row of a box beside the article is found by a search, a brief and a recall."""

    PROSE = (
        "<p>Playa PLYA said on Monday that it had agreed to be bought, and that its shareholders "
        "would vote on the plan in the summer of the year.</p>"
    )
    QUOTE = (
        '<div class="column--aside"><h3>Quote</h3><table><tr><th>Market Cap</th><td>$1.25B</td>'
        "</tr><tr><th>Volume</th><td>3,904</td></tr></table></div>"
    )

    def setUp(self) -> None:
        super().setUp()
        html = (
            "<html lang=en><head><title>PLYA stock</title><meta property=og:type content=article>"
            f"</head><body><article><h1>A sale</h1>{self.PROSE * 6}</article>{self.QUOTE}</body>"
        )
        self.question = "PLYA market cap"
        self.url = self.web.file("/quote.html", html.encode())
        for query in (self.question, "PLYA shareholders vote"):
            self.web.find(query, self.url)

    def shown(self, *arguments: str) -> str:
        document = self.answer(*arguments)
        self.assertNotIn("Not in the", str(document))
        (item,) = document.get("results") or document["sources"]
        return str(item.get("text", ""))

    def test_every_command_that_answers_shows_the_row(self) -> None:
        for arguments in (
            (self.question,),
            ("brief", self.question, "PLYA shareholders vote"),
            ("recall", self.question),
        ):
            text = self.shown(*arguments)
            self.assertIn("### Quote\n\n| Market Cap | $1.25B |", text, arguments)


class BriefFollowsItsQuestions(AnsweringCase):
    def test_sources_are_in_the_order_of_the_questions_and_absent_names_are_told(self) -> None:
        questions = ("otter dam of Kettle", "heron nest of Moor", "newt pond of Zyxburg")
        texts = ("The otter dam of Kettle is old.", "The heron nest of Moor is new.")
        texts = (*texts, "A newt lives in a pond of the town.")
        pages = [self.web.page(f"/{n}", f"{text} " * 3) for n, text in enumerate(texts)]
        for question in questions:
            self.web.find(question, *reversed(pages))
        document = self.answer("brief", *questions)
        self.assertEqual([one["url"] for one in document["sources"]], pages)
        missing = [one.get("missing") for one in document["queries"]]
        self.assertEqual(missing, [None, None, ["Zyxburg"]])
        text = self.run_here("brief", *questions, "--md").stdout.decode()
        self.assertIn("No page that was read answers question 3 (none has: Zyxburg).", text)

    def test_a_number_is_missed_only_if_no_other_page_has_it_unless_it_is_a_year(self) -> None:
        texts = (
            "In 2019 the 4,210 otters of Kettle dam were counted.",
            "Otters of Kettle dam rest.",
        )
        pages = [self.web.page(f"/{n}", f"{text} " * 4) for n, text in enumerate(texts)]
        for number, missing in (("4,210", None), ("2019", ["2019"]), ("5,377", ["5,377"])):
            with self.subTest(number):
                questions = (f"{number} otters Kettle dam", f"{number} otters Kettle dam rest")
                for question in questions:
                    self.web.find(question, *pages)
                sources = self.answer("brief", *questions)["sources"]
                (own,) = (one for one in sources if one["url"] == pages[1])
                self.assertEqual(own.get("missing"), missing)

    def test_a_question_whose_symbol_is_a_heading_is_never_said_to_be_unanswered(self) -> None:
        entry = "<h2><code>heron_open()</code></h2><p>Waits."
        page = self.web.page("/entry", f"The heron log. {entry}")
        other = self.web.page("/other", "The otter dam of Kettle is old. " * 30)
        questions = ("otter dam of Kettle", "heron_open arguments", "heron_close arguments")
        self.web.find(questions[0], other)
        for question in questions[1:]:
            self.web.find(question, page)
        text = self.run_here("brief", *questions, "--md", "--max-chars", "900").stdout.decode()
        self.assertIn("No page that was read answers question 3 (none has: heron_close, ", text)


class Authors(AnsweringCase):
    def test_a_page_from_the_store_has_its_author(self) -> None:
        page = self.web.page("/nest", f"{AUTHOR}{'The heron nest of Moor is new. ' * 9}")
        self.web.find("heron nest", page)
        for words in (("heron nest",), ("heron nest", "--force"), ("recall", "heron nest")):
            self.assertEqual(self.answer(*words)["results"][0].get("author"), "Ada Reed", words)
        (read,) = self.answer("read", page, "--query", "heron")["pages"]
        self.assertEqual((read["author"], read["from_cache"]), ("Ada Reed", True))


class Code(AnsweringCase):
    def test_it_is_the_same_in_passages_sections_and_places(self) -> None:
        code = "wade([&](depth_code code, List&lt;Heron> log) {\n    log[code](x &lt; 3);\n});"
        shown = code.replace("&lt;", "<")
        long = "".join(f"int heron_{n} = {n};\n" for n in range(150))
        span = "call <code>wade&lt;depth&gt;()</code> or <code>a[0](b)</code> first"
        page = self.web.page(
            "/code", f"About.</p><h2>Wade</h2><p>Herons {span}.</p><pre>{code}\n{long}</pre><p>End"
        )
        section = self.run_here("read", page, "--section", "Wade", "--md").stdout.decode()
        find = ("--find", "depth_code", "--find", "wade<depth>")
        places = self.run_here("read", page, *find, "--md").stdout.decode()
        passages = self.run_here("read", page, "--query", "wade depth_code", "--md").stdout.decode()
        for text in (section, places, passages):
            self.assertIn(shown.splitlines()[0], text)
            self.assertIn("call `wade<depth>()` or `a[0](b)` first", text)


class Versions(AnsweringCase):
    """Documentation of another version is labeled, and that of the asked one comes first."""

    def test_each_page_says_its_version_if_the_question_names_one(self) -> None:
        text = "The otter gate opens with gate.open(), which returns a key for the keeper. " * 3
        for other, asked, words in (
            ("/en/3.8/gate", "/en/3.12/gate", "3.12"),
            ("/docs/14/gate", "/docs/16/gate", "16"),
            ("/v1/gate", "/v2/gate", "v2"),
            ("/release-3.1/gate", "/release-4.2/gate", "4"),
            ("/6.x/gate", "/8.x/gate", "8"),
        ):
            question = f"otter gate.open {words}"
            numbers = {re.findall(r"[\d.]*\d", path)[0]: path for path in (other, asked)}
            old, new = (self.web.page(path, f"{path} {text}") for path in numbers.values())
            self.web.find(question, old, new)
            with self.subTest(question):
                results = self.answer(question)["results"]
                found = {one["url"]: one.get("version") for one in results}
                self.assertEqual(results[0]["url"], new)
                self.assertEqual(found, dict(zip((old, new), numbers, strict=True)))

    def test_a_question_without_a_version_shows_none(self) -> None:
        pages = [self.web.page(f"/{n}.2/gate", f"The otter gate {n} opens.") for n in (3, 4)]
        self.web.find("otter gate", *pages)
        document = self.answer("otter gate")
        self.assertEqual([one["url"] for one in document["results"]], pages)
        self.assertNotIn("version", str(document))


class Lines(AnsweringCase):
    """A page that does not answer shows one line with half of the question's words, or none."""

    def line(self, other: str) -> str:
        pages = {
            self.web.page(
                "/heron", "The herons of the lake nest in March on a dead elm. " * 9
            ): "H",
            self.web.page("/ship", f"<h1>Ships</h1><p>Ships were built here. {other}"): "Ships",
        }
        results = [{"url": url, "title": title, "snippet": "Nest."} for url, title in pages.items()]
        self.web.find("when do herons nest at lake", *results)
        document = self.answer("when do herons nest at lake")
        (found,) = (one for one in document["results"] if one["title"] == "Ships")
        self.assertNotIn("text", found)
        return str(found.get("snippet", ""))

    def test_the_line_is_the_sentence_with_the_words(self) -> None:
        far = "Then people left the harbor. " * 90
        told = (
            f"{far}</p><p>At the lake, gulls nest on the wrecks of it, which is loud.</p><p>{far}"
        )
        self.assertIn("At the lake, gulls nest", self.line(told))

    def test_without_the_words_there_is_no_line(self) -> None:
        self.assertEqual(self.line("People left the harbor. " * 200), "")


class CutSections(AnsweringCase):
    def test_a_section_that_is_shown_in_part_names_the_command_that_shows_it(self) -> None:
        question = "heron --depth option"
        options = "".join(
            f"<li><code>--option-{n}</code> sets number {n} of the heron log, in fathoms."
            for n in range(80)
        )
        intro = "The heron log keeps what the herons of a pond do through the year, day by day."
        options += "<li><code>--depth</code> option: depth of the heron's pond."
        page = self.web.page(
            "/manual", f"{intro}</p><h2>Options of the log</h2><ul>{options}</ul><p>{intro}"
        )
        self.web.find(question, page)
        document = self.answer(question, "--max-chars", "1500")
        self.assertEqual(document["results"][0]["cut"], ["Options of the log"])
        shown = self.run_here(question, "--max-chars", "1500", "--md").stdout.decode()
        command = f"read '{page}' --section 'Options of the log'"
        self.assertIn(command, shown)
        section = self.answer("read", page, "--section", "Options of the log")["pages"][0]
        self.assertEqual(section["text"].count("- `--"), 81)

    def test_section_that_answers_weakly_is_not_named(self) -> None:
        question = "heron --depth of the pond"
        links = "".join(
            f"<li>Link {n} of a heron pond depth that is checked for an end." for n in range(80)
        )
        text = "The --depth of the heron's pond sets the depth to which a heron wades. " * 3
        page = self.web.page(
            "/two",
            f"About.</p><h2>Depth</h2><p>{text}</p><h2>Dead links</h2><ul>{links}</ul><p>End",
        )
        self.web.find(question, page)
        (result,) = self.answer(question)["results"]
        self.assertIn("Dead links", result["text"])  # a part of it is shown
        self.assertNotIn("cut", result)

    def test_page_of_something_else_names_none(self) -> None:
        question = "heron tarpaulin options"
        options = "".join(f"<li>Option {n} of the heron log, in fathoms." for n in range(80))
        page = self.web.page("/log", f"About.</p><h2>Options</h2><ul>{options}</ul><p>End")
        self.web.find(question, page)
        (result,) = self.answer(question)["results"]
        self.assertIn("Option", result["text"])
        self.assertNotIn("cut", result)

    def test_whole_sections_name_none(self) -> None:
        question = "heron options"
        page = self.web.page("/short", "About.</p><h2>Options</h2><ul><li>Heron one.<li>Two.</ul>")
        self.web.find(question, page)
        self.assertNotIn("cut", self.answer(question)["results"][0])


class Boilerplate(AnsweringCase):
    def test_a_sentence_that_a_page_repeats_is_shown_once_and_leaves_no_gap(self) -> None:
        note = "See also HERON OPTIONS below."
        names = ("walk", "fly", "nest", "fish", "sleep", "wade", "call")
        options = "".join(
            f"<h3>--{name}</h3><p>Lets the heron {name} at the pond of option {name}.</p>"
            f"<p>{note}</p><dl><dt>age</dt><dd>The age of the heron in years.</dd></dl>"
            f"<p>By default herons {name} in spring only.</p>"
            for name in names
        )
        intro = "The heron log keeps what the herons of a pond do through the year, day by day."
        page = self.web.page("/manual", f"{intro}</p><h2>Heron options</h2>{options}<p>{intro}")
        self.web.find("heron options", page)
        text = self.answer("heron options")["results"][0]["text"]
        self.assertEqual(text.count(note), 1)
        self.assertEqual(text.count("By default"), len(names))
        self.assertEqual(text.count("The age of the heron in years."), len(names))
        self.assertNotIn("[…]", text)


class NamedSections(AnsweringCase):
    def test_of_a_long_section_the_list_of_parameters_is_whole_before_examples(self) -> None:
        parameters = "".join(
            f"<li><code>p{n}</code> sets the {n}th depth at which a heron of the log dives."
            for n in range(30)
        )
        example = (
            "<pre>" + "\n".join(f"dive(heron, {n})  # a heron dives" for n in range(25)) + "</pre>"
        )
        examples = "".join(f"<p>Example {n} of how a heron dives:</p>{example}" for n in range(9))
        intro = "<p>The heron log keeps what the herons of a pond do through the year.</p>"
        page = self.web.page(
            "/api",
            f"Herons.</p>{intro}<h2>log.dive(heron[, options])</h2>{intro}<ul>{parameters}</ul>"
            f"{examples}<h2>log.walk(heron)</h2>{intro}{examples}<p>End.",
        )
        self.web.find("heron log dive", page)
        text = self.answer("heron log dive", "--max-chars", "5000")["results"][0]["text"]
        self.assertEqual(text.count("th depth at which"), 30)

    def test_what_a_sentence_announces_comes_with_it(self) -> None:
        filler = "<p>Other birds of the pond are told of in other books of this house.</p>" * 9
        page = self.web.page(
            "/steps",
            f"Herons.</p>{filler}<p>Feed the heron of Moor as follows.</p><p>Give it two fish at "
            f"noon.</p>{filler}<h2>Why?</h2><p>Does a heron of Moor sleep?</p><p>Only when the "
            f"moon is down.</p>{filler}<p>End.",
        )
        self.web.find("heron of Moor", page)
        text = self.answer("heron of Moor")["results"][0]["text"]
        self.assertIn("Give it two fish at noon.", text)
        self.assertIn("Only when the moon is down.", text)
