"""Which passages of a page are chosen, in every language and of every kind of block.

The only module to notice a passage that is cut where it is not understood, or a room that is
exceeded.
"""

from __future__ import annotations

import itertools
import json
import random
import re
import time
import unittest
from pathlib import Path
from typing import Any

from websearch.markdown import units
from websearch.passages import excerpts

GAP = "[…]"
ALPHABET = "abcdefghijklmnopqrstuvwxyz"
# Language -> a page of three paragraphs, and questions with the words that answer them.
PAGES: dict[str, tuple[str, list[list[str]]]] = {
    language: ("\n\n".join(entry["paragraphs"]), entry["questions"])
    for language, entry in json.loads(
        Path(__file__).with_name("passage_pages.json").read_text("utf-8")
    ).items()
}
MANUAL = (
    "Opening words about the island.\n\n# Climate\n\nRain falls on two hundred days.\n\n"
    "## Winter\n\nStorms close the harbour for weeks.\n\n"
    "## Summer\n\nThe warm months are dry.\n\n"
    "# Getting there\n\n```sh\nferry --from north\n\nferry --back\n```\n\n"
    "The ferry takes an hour."
)
OPTIONS = (
    "# Tide(1)\n\n```\ntide [--mark-from-buoy=<mode>] [--quiet]\n```\n\n"
    "## Buoy\n\nA buoy floats on a chain of twelve meters, and is painted red or green in spring. "
    "The crew lifts it from the water when ice comes, in November.\n\n"
    "## Options\n\n- **-q**\n  **--quiet**\n"
    "  Print nothing about the harbors that were skipped, not even their number, for scripts.\n"
    "- **--mark-from-buoy=\\<mode>**\n  Controls which lights of the chart are drawn.\n\n"
    "  If `<mode>` is `first`, the first light.\n\n  If `<mode>` is `none`, nothing.\n"
    "- **--deep**\n  Draw depths of more than forty meters in a darker ink, and number lines.\n"
    "- **--wide**\n  Draw a chart as wide as the sheet, with its margins cut and its scale below.\n"
)
# Below it, a page is too long to be shown whole.
LONG = f"\n\n# Whales\n\n{'Whales swim past the rocks at night. ' * 80}"


def select(markdown: str, query: str, max_chars: int = 0) -> list[dict[str, str]]:
    found: list[dict[str, str]] = excerpts.select_passages(markdown, query, max_chars)
    return found


def texts_of(markdown: str, query: str, max_chars: int = 0) -> str:
    """The texts of all passages, one after the other."""
    return "\n\n".join(one["text"] for one in select(markdown, query, max_chars))


def unit_texts(markdown: str) -> list[str]:
    page = units.PageText(markdown)
    return [page.of(unit) for unit in page.units]


def shown(
    texts: dict[str, str], questions: str | list[str], room: int = 9_000, **more: Any
) -> list[str]:
    """What is shown of each page, by its title, of what answers questions within a room."""
    asked = [questions] if isinstance(questions, str) else questions
    pages = [units.PageText(text, title) for title, text in texts.items()]
    scores, missing = excerpts.rank_pages(pages, asked, **more)
    found = excerpts.excerpts_of(pages, asked, scores, room, missing)
    parts = [excerpts.excerpt_text(excerpt) for excerpt in found]
    size = sum(len(json.dumps(part, ensure_ascii=False)) - 2 for part in parts)
    assert size <= room, (size, room)
    return parts


class Entries(unittest.TestCase):
    """The entry that a question names is shown whole, and little else."""

    def test_an_option_is_whole_and_named_with_or_without_its_dashes(self) -> None:
        for question in ("mark-from-buoy", "tide --mark-from-buoy modes", "--mark-from-buoy"):
            with self.subTest(question):
                text = texts_of(OPTIONS + LONG, question)
                self.assertIn("- **--mark-from-buoy=", text)
                self.assertIn("If `<mode>` is `none`, nothing.", text)
                for other in ("floats on a chain", "Draw depths", "Print nothing"):
                    self.assertNotIn(other, text)
        self.assertIn("- **-q**\n  **--quiet**\n  Print", texts_of(OPTIONS, "tide --quiet"))

    def test_a_heading_inside_a_list_item_is_an_entry(self) -> None:
        crew = "The crew lifts its oars then, and rows on until the lamp at the pier is seen."
        items = "\n".join(f"  - **{name}**\n    {crew}" for name in ("EBB", "LOW", "UP", "OFF"))
        page = (
            f"# Tides\n\n{crew} The values of a tide.\n\n- **INVERT**\n  {crew}\n\n"
            f"  ## Values of the handler\n\n{items}\n\n  ## Others\n\n  {crew * 9}\n"
            f"- **NONE**\n  {crew}"
        )
        leads = {lead.words for one in units.PageText(page).units for lead in one.leads}
        self.assertIn("Values of the handler", leads)
        self.assertIn(
            f"## Values of the handler\n\n{items}", texts_of(page, "values of handler", 900)
        )

    def test_a_question_with_a_short_entry_leaves_its_room_to_the_others(self) -> None:
        storms = " ".join(f"Storm {n} closed the harbour for {n + 3} weeks." for n in range(60))
        texts = {
            "Tide": f"{OPTIONS}\n\n## More\n\n{'A tide rises to the mark. ' * 60}",
            "Storms": storms,
        }
        tide, harbour = shown(texts, ["tide --mark-from-buoy", "storm closed harbour weeks"], 2_000)
        self.assertIn("is `none`, nothing.", tide)
        self.assertLess(len(tide), 500)
        self.assertGreater(len(harbour), 1_200)


class Answers(unittest.TestCase):
    """The sentence that answers is found, whatever the language."""

    def test_a_part_of_a_page_holds_the_answer_in_every_language(self) -> None:
        for language, (page, questions) in PAGES.items():
            for question, answer in questions:
                with self.subTest(language=language, question=question):
                    self.assertIn(answer, texts_of(page, question, len(page) * 2 // 5))

    def test_words_are_compared_without_case_accents_marks_and_endings(self) -> None:
        for text, query in (
            ("Le CAFÉ des îles", "cafes ile"),
            ("the bridges of the river", "Bridge?"),
            ("die Überschreitungen der Grenze", "überschreiten"),
            ("Straße ohne Ende", "STRASSE"),
            ("İstanbul'a giden yol", "istanbul"),
            ("построили крепость на горе", "постройка крепости"),
            ("الكِتَابُ في البيت", "كتاب"),
            ("हिन्दी की किताबें", "हिन्दी"),
            ("서울에서 부산까지", "서울"),
            ("read_page takes a url", "page"),
            ("He died in 1943", "when did he die"),
            ("Sie starben im Krieg; sein Sohn starb", "wann starb er"),
        ):
            with self.subTest(text=text):
                self.assertEqual(len(select(f"{text}\n\nnothing here 一二三", query)), 1)

    def test_what_an_apostrophe_joins_to_a_word_does_not_choose(self) -> None:
        text = (
            "The town's mayor's house is the baker's.\n\nWarsaw had people in 1901.\n\nD'Art ici."
        )
        self.assertIn("1901", texts_of(text, "what was Warsaw's harvest", 60))
        self.assertEqual(select("The mayor's house.", "Warsaw's harvest"), [])
        self.assertEqual(select("D'Art ici.", "prix d'Alger"), [])

    def test_vowel_signs_do_not_end_a_word(self) -> None:
        self.assertEqual(select("हिम और हवा", "हिन्दी"), [])

    def test_languages_without_spaces_are_searched_by_groups_of_characters(self) -> None:
        text = (
            "# 一\n\n潮の満ち引きは月の引力で起こる。\n\n# 二\n\n港では魚を売っている。\n\n"
            "# 三\n\nเรือออกทุกเช้า"
        )
        for query, heading in (("魚はどこ", "二"), ("月の引力", "一"), ("เรือ", "三")):
            self.assertEqual(select(text + LONG, query)[0]["heading"], heading)

    def test_nothing_is_found_where_no_word_is_held(self) -> None:
        for text, query in (
            (MANUAL, "zebra"), (MANUAL, "what is the zebra"), (MANUAL, "stove, hound, warden"),
            ("", "ferry"), (" \n\n ", "ferry"), (MANUAL, ""), (MANUAL, "?!"), ("# Ferry", "ferry"),
        ):  # fmt: skip
            with self.subTest(text=text[:20], query=query):
                self.assertEqual(select(text, query, 500), [])

    def test_each_of_several_questions_gets_its_best_passage(self) -> None:
        page, questions = PAGES["en"]
        query = "\n".join(question for question, _ in questions)
        found = texts_of(page, query, 650)
        for _, answer in questions:
            self.assertIn(answer, found)

    def test_a_heading_counts_for_the_text_below_it(self) -> None:
        text = "# Spring\n\nThe gates open at nine.\n\n# Winter\n\nThe gates open at ten."
        self.assertIn("at ten", texts_of(text, "when do the gates open in winter", 50))

    def test_an_answer_below_a_heading_that_asks_comes_before_text_with_the_same_words(
        self,
    ) -> None:
        talk = (
            "A sourdough starter is a mixture of flour and water. Bakers have often fed one for "
            "years and carried it from town to town. Sourdough bread keeps for a week. "
        ) * 5
        text = (
            f"# Sourdough\n\n{talk}\n\n## How often should a sourdough starter be fed?\n\n"
            "Once a day at room temperature.\n\n## What does a starter smell of?\n\nApples."
        )
        for query in ("how often should a sourdough starter be fed", "sourdough starter often fed"):
            self.assertIn("Once a day", texts_of(text, query, 150))

    def test_words_that_only_ask_do_not_choose(self) -> None:
        text = (
            "What the town did was this: it did what it does when it is asked what to do.\n\n"
            "The bridge was built in 1904.\n\nWas war das, und wie ist das? Das ist das.\n\n"
        ) + "Some other words stand here. " * 20
        for query in ("what is it that the bridge is", "wie und was ist das mit der Bridge"):
            self.assertIn("1904", texts_of(text, query, 60))

    def test_a_question_of_such_words_alone_is_answered_too(self) -> None:
        self.assertIn("The Who", texts_of("Rain fell.\n\nThe Who played loud.", "the who", 60))

    def test_the_sentence_after_the_one_that_answers_is_shown_with_it(self) -> None:
        strategy = "Several strategies for catching the giant squid have been proposed by sailors."
        answer = "One of them hangs lamps of many colours below the keel, and waits for the night."
        other = "A squid was seen by sailors off the coast of the island, far from every giant. "
        text = f"{other * 9}\n\n{strategy} {answer}\n\n{other * 9}"
        self.assertIn(answer, texts_of(text, "strategies for catching giant squid", 400))

    def test_a_box_of_names_and_values_shows_the_row_that_answers(self) -> None:
        rows = "".join(f"| Part {n} | {n} spars of pine, and a keel |\n" for n in range(20))
        box = f"| The ferry |  |\n| --- | --- |\n{rows}| Draft | 4 feet |\n"
        found = texts_of(f"{box}\n{'It sails on. ' * 200}", "draft of the vessel", 9_000)
        self.assertIn("| Draft | 4 feet |", found)
        self.assertIn("[… 19 rows]", found)

    def test_a_read_on_one_fact_prints_its_paragraph_whole_and_little_else(self) -> None:
        fact = (
            "The harbour was dredged in spring. The dredging cost nine barrels of herring. "
            "Nobody complained afterwards, except the gulls of the northern pier."
        )
        other = "Bread is baked in the square every other day, and sold before noon by weight. "
        lamps = "Lamps are lit along the street at dusk by the keeper and both of his sons. "
        page = "\n\n".join([lamps * 3, other, fact, other, "The herring is a fish.", lamps * 30])
        found = texts_of(page, "how many barrels of herring did the dredging cost", 9_000)
        self.assertIn(fact, found)
        self.assertNotIn("Lamps", found)


class Shape(unittest.TestCase):
    """What passages look like: order, headings, gaps, room."""

    def test_they_have_their_path_of_headings_and_the_order_of_the_page(self) -> None:
        found = select(MANUAL + LONG, "winter storms\nferry back")
        self.assertEqual([one["heading"] for one in found], ["Climate > Winter", "Getting there"])
        self.assertIn("ferry --from north\n\nferry --back\n```", found[1]["text"])

    def test_gaps_are_marked_and_neighbours_are_joined_as_they_stand_on_the_page(self) -> None:
        filler = "".join(
            f"Nothing of it stands in {n} words, which go on for a while. " for n in "123456789"
        )
        text = f"First the red boat left the pier of the town. {filler}Then the red boat came back."
        found = texts_of(text, "red boat", 200)
        self.assertRegex(found, r"^First the red boat.+ \[…\] .*Then the red boat came back\.$")
        block = f"{filler}\n\nThe red boat left.\n\nThe red boat came back.\n\n{filler}"
        self.assertIn("The red boat left.\n\nThe red boat came back.", texts_of(block, "red boat"))

    def test_what_is_shown_stands_on_the_page(self) -> None:
        for page, questions in PAGES.values():
            for (question, _), limit in itertools.product(questions, (60, 150, 300, 600)):
                found = texts_of(page, question, limit)
                for piece in re.split(r"\s*\[…\]\s*|\n\n|… ", found):
                    self.assertIn(piece.strip("… "), page)

    def test_they_stay_within_the_room_and_use_it(self) -> None:
        generator = random.Random(5)
        words = ["harbour", "ferry", "storm", "rain", "lamp", "keeper"]
        blocks = []
        for number in range(60):
            if number % 7 == 0:
                blocks.append(f"## Part {number}")
            blocks.append(" ".join(generator.choices(words, k=generator.randrange(5, 200))) + ".")
        text = "\n\n".join(blocks)
        for max_chars in (100, 500, 2_000, 9_000):
            found = select(text, "storm lamp", max_chars)
            used = sum(len(one["text"]) + len(one["heading"]) + 2 for one in found)
            self.assertTrue(0.8 * max_chars < used <= max_chars, (used, max_chars))
            for one, other in itertools.pairwise(found):
                first = one["text"].split(GAP)[0].strip("… ")[:40]
                second = other["text"].split(GAP)[0].strip("… ")[:40]
                self.assertLess(text.find(first), text.rfind(second))

    def test_the_last_one_is_cut_to_the_room_that_is_left_and_no_fragment_is_shown(self) -> None:
        page, questions = PAGES["de"]
        for limit in range(60, 700, 7):
            for piece in texts_of(page, questions[0][0], limit).removeprefix(GAP).split(GAP):
                self.assertLessEqual(len(piece), limit)
                self.assertGreaterEqual(len(piece.split()), 5, piece)

    def test_a_long_sentence_is_cut_to_the_part_with_the_words_of_the_question(self) -> None:
        filler = "which goes on and on without a word that matters to anybody " * 4
        sentence = f"A sentence, {filler}, says that the lighthouse keeper lived alone, {filler}."
        found = texts_of(f"{sentence}\n\n{filler}.", "lighthouse keeper", 150)
        self.assertRegex(found, r"^… .*lighthouse keeper lived alone.*…$")

    def test_cut_text_of_an_item_stays_indented(self) -> None:
        told = "Raises the anchor while " + "the crew sings of the sea and " * 9 + "rows."
        found = texts_of(f"- **-a**\n  **--anchor**\n  {told}", "raises anchor", 120)
        self.assertRegex(found, r"\n  Raises the anchor while .*…$")

    def test_long_headings_leave_room_for_text(self) -> None:
        long = "word " * 60
        text = f"# {long}\n\n## {long}\n\n### Boats\n\nThe ferry to the island leaves at noon."
        self.assertEqual(
            select("# A long heading of many words\n\nFerry.", "ferry")[0]["heading"],
            "A long heading of many words",
        )
        found = select(text, "ferry noon", 0)
        self.assertEqual(found[0]["heading"].split(" > ")[-1], "Boats")
        self.assertLess(len(found[0]["heading"]), 200)
        self.assertIn("at noon", select(text, "ferry noon", 60)[0]["text"])

    def test_text_right_below_a_heading_belongs_to_its_section(self) -> None:
        text = f"Intro\n## Boats\nThe ferry leaves at noon.\n## Cars\nNone.{LONG}"
        found = select(text, "ferry")
        self.assertEqual(found, [{"heading": "Boats", "text": "The ferry leaves at noon."}])


class Blocks(unittest.TestCase):
    """Code, tables and lists are cut at lines; sentences where they end."""

    functions = "\n".join(
        f"def function_{one}(value):\n    return value + {one}\n" for one in range(40)
    )
    code = f"```python\n{functions}```"
    table = "| Town | People |\n|---|---|\n" + "\n".join(
        f"| Town {one} | {one}000 people live there |" for one in range(60)
    )
    items = "\n".join(
        f"- The setting named option{one} changes how the program behaves" for one in range(40)
    )

    def lines_of(self, block: str, query: str, limit: int) -> list[str]:
        """What is shown of a block; each line must be one of it."""
        before, after = "These words stand before it.", "These words stand after it."
        text = f"{before}\n\n{block}\n\n{after}"
        lines = texts_of(text, query, limit).split("\n")
        for line in lines:
            if not re.fullmatch(r"(?:\| )?\[… \d+ (?:row|line)s?\](?: \|)?", line):
                self.assertIn(line, [before, *block.split("\n"), GAP, "…", "", after])
        return lines

    def test_code_is_cut_at_lines_and_keeps_its_fences(self) -> None:
        for limit in (180, 300, 700):
            lines = self.lines_of(self.code, "function_17", limit)
            self.assertIn("    return value + 17", lines)
            self.assertEqual(lines.count("```python"), lines.count("```"))
            self.assertEqual((lines[0], lines[-1]), ("```python", "```"))

    def test_a_table_is_cut_at_rows_and_keeps_its_head(self) -> None:
        for limit in (300, 700):
            lines = self.lines_of(self.table, "how many people live in Town 33", limit)
            self.assertIn("| Town 33 | 33000 people live there |", lines)
            self.assertEqual(lines[:2], ["| Town | People |", "|---|---|"])

    def test_a_table_of_a_single_line_is_a_passage(self) -> None:
        line = "| Offered since | March 4, 1973 |\n| --- | --- |"
        rain = "Rain fell on every day of that week. " * 9
        self.assertEqual(texts_of(f"{rain}\n\n{line}\n\n{rain}", "offered since"), line)

    def test_a_list_is_cut_at_its_items(self) -> None:
        for limit in (150, 300, 700):
            lines = self.lines_of(self.items, "option25", limit)
            self.assertIn("- The setting named option25 changes how the program behaves", lines)

    def test_short_code_stays_whole_with_its_empty_lines_and_indentation(self) -> None:
        code = "~~~\n    first\n\n# no heading\n\n    second\n~~~"
        self.assertEqual(texts_of(f"Before it.\n\n{code}{LONG}", "second"), f"Before it.\n\n{code}")

    def test_sentences_are_not_cut_behind_abbreviations_ordinals_and_initials(self) -> None:
        for sentence in (
            "Er wurde am 5. August 1850 in der kleinen Stadt an der Küste geboren",
            "König Ludwig XIV. Bourbon regierte lange und baute das große Schloss",
            "Use a short name, e.g. This one or another that is easy to remember",
            "Das gilt z. B. Für Berlin und für alle anderen großen Städte im Land",
            "Dr. Müller traf Prof. J. R. Meier vor dem Haus Nr. 12 am alten Markt",
            "The U.S. Senate met Mr. Smith of Acme Inc. Boston early that morning",
            "В 1971 г. Москва и другие города получили новые большие библиотеки",
            "La Sra. García vive en la Av. Central desde hace muchos años seguidos",
            "Mr. Will and Dr. May met the author J. R. R. Tolkien in the old town",
        ):
            text = " ".join([f"{sentence}." for _ in range(9)])
            for window in unit_texts(text):
                with self.subTest(window=window):
                    self.assertTrue(window.endswith(sentence[-9:] + "."))

    def test_sentences_end_in_every_script(self) -> None:
        for sentence in (
            "This is a sentence of some words! ", "Is this (perhaps) “a question?” ",
            "This was found by others before [6] [7] . ", "This stands in the table (of page 2) . ",
            "They all sang “the song of the sea”. ", "The king came in the year 39. ",
            "The patients all had hepatitis B. ",
            "यह एक छोटा सा वाक्य है। ", "هل هذا سؤال قصير؟ ", "これは短い文です。",
            "「これは何ですか？」", "ይህ አጭር ዓረፍተ ነገር ነው። ", "ဒါက ဝါကျတိုလေးပါ။ ", "ประโยคสั้นๆ ที่นี่ ",
        ):  # fmt: skip
            with self.subTest(sentence=sentence):
                found = unit_texts(sentence * 30)
                self.assertGreater(len(found), 1)
                for window in found:
                    self.assertLessEqual(len(window), units.JOINED_CHARS)
                    endings = [word[-2:] for word in sentence.split()]  # phrases of some scripts
                    self.assertIn(window[-2:].strip(), endings)

    def test_a_label_goes_with_what_follows_it(self) -> None:
        before = "These words say nothing about that. " * 9
        self.assertEqual(
            texts_of(f"{before}\n\nOpening hours\n\nFrom nine to five.", "opening", 70),
            "Opening hours\n\nFrom nine to five.",
        )

    def test_every_word_of_the_page_is_in_one_piece(self) -> None:
        pages = [page for page, _ in PAGES.values()]
        for text in (MANUAL, self.code, self.table, self.items, *pages):
            spans = [(one.start, one.end) for one in units.PageText(text).pieces]
            self.assertEqual(spans, sorted(spans))
            for (_, end), (start, _) in itertools.pairwise([(0, 0), *spans, (len(text), 0)]):
                self.assertEqual(text[end:start].strip(), "")

    def test_one_endless_line_is_cut_at_spaces_or_anywhere(self) -> None:
        for unit, joint in (("word ", " "), ("x", ""), ("港", ""), ("one\ntwo three ", " ")):
            text = (unit * 20_000).strip()
            found = unit_texts(text)
            longest = units.MAX_SENTENCE + units.FRAGMENT_CHARS
            self.assertLessEqual(max(map(len, found)), longest)
            self.assertEqual(" ".join(joint.join(found).split()), " ".join(text.split()))


class ManyPages(unittest.TestCase):
    """The units of all pages of a question compete for a document's room."""

    pages = tuple(page for page, _ in PAGES.values())
    day = "On day {day} the lighthouse of the {place} was closed to all {visitors} visitors."

    def test_texts_stay_within_the_room_and_use_it(self) -> None:
        texts = {
            place: " ".join(
                self.day.format(day=day, place=place, visitors=day * 7) for day in range(90)
            )
            for place in ("island", "harbour", "village", "coast")
        }
        for room in range(900, 12_000, 370):
            with self.subTest(room=room):
                found = shown(texts, "lighthouse closed to visitors", room)
                self.assertGreater(sum(map(len, found)), 0.7 * min(room, 9_000))

    def test_the_answer_is_found_on_whatever_page_it_stands(self) -> None:
        page = "\n\n".join(self.pages)
        filler = "Rain fell on the town, and the terns of the town flew in spring rain. " * 40
        for place in range(4):
            texts = {f"page {number}": filler for number in range(3)}
            texts = dict([*texts.items()][:place]) | {"own": page} | dict([*texts.items()][place:])
            self.assertIn("terns breed", shown(texts, "terns breed stairs spring", 700)[place])

    def test_a_page_without_an_answer_gives_nothing(self) -> None:
        empty, answer = shown({"a": "Rain fell on the town. " * 200, "b": "\n\n".join(self.pages)},
                              "terns in spring", 900)  # fmt: skip
        self.assertEqual(empty, "")
        self.assertIn("terns breed", answer)

    def test_room_that_no_answer_needs_stays_empty_and_a_larger_one_shows_more(self) -> None:
        text = {"a": "\n\n".join(self.pages)}
        sizes = [len(shown(text, "terns in spring", room)[0]) for room in (3_000, 9_000, 60_000)]
        self.assertEqual(sizes[0], sizes[1])
        self.assertLess(sizes[1], 1_500)
        self.assertGreaterEqual(sizes[2], sizes[1])
        words = ["harbour", "ferry", "storm", "rain", "lamp", "keeper"]
        text = {"a": "\n\n".join(
            f"The {' '.join(random.Random(number).choices(words, k=9))} of day {number}."
            for number in range(900)
        )}  # fmt: skip
        sizes = [len(shown(text, "storm lamp", room)[0]) for room in (9_000, 18_000, 36_000)]
        self.assertEqual(sizes, sorted(set(sizes)))

    def test_questions_share_the_room_and_an_excerpt_says_whose_it_is(self) -> None:
        page, questions = PAGES["de"]
        asked = [question for question, _ in questions]
        pages = [units.PageText(text) for text in ("Ein Vogel singt. " * 300, page)]
        scores, _ = excerpts.rank_pages(pages, asked)
        empty, found = excerpts.excerpts_of(pages, asked, scores, 700)
        for _, answer in questions:
            self.assertIn(answer, excerpts.excerpt_text(found))
        self.assertEqual((empty.questions, found.questions), (set(), {0, 1, 2}))

    def test_irregular_forms_match(self) -> None:
        rain = "It rained on every day of that long week, and nobody came.\n\n" * 9
        text = f"{rain}Feed the starter with flour.\n\n{rain}"
        self.assertIn("flour", texts_of(text, "how is a sourdough fed", 100))

    def test_lines_of_a_card_are_shown_together(self) -> None:
        cards = "".join(
            f"{name} {letter}.\n\n**{price}/hour**\n\n### Teaches at {place}\n\n(2{price})\n\n"
            for name, letter, price, place in (("Ada", "B", 75, "home"), ("Ivo", "D", 95, "sea"))
        )
        rain = "It rained on every day of that long week, and nobody taught. " * 60
        found = texts_of(f"{rain}\n\n{cards}{rain}", "hourly price of Ivo D.", 300)
        self.assertIn("95/hour", found)
        specification = "".join(
            f"###### {name}\n\n##### {value}\n\n"
            for name, value in (("Rating", "IP 33"), ("Speaker", "90 dB"), ("Clip", "10 s"))
        )
        found = texts_of(f"{rain}\n\n{specification}{rain}", "which rating", 300)
        self.assertIn("IP 33", found)

    def test_a_label_alone_comes_with_the_card_that_it_belongs_to(self) -> None:
        rain = "It rained on every day of that long week, and nobody rowed.\n\n" * 60
        card = "New\n\nRaft\n\nIt carries you from the pier to the island.\n\nComing in May"
        for found in (
            texts_of(f"{rain}{card}\n\n{rain}", "what is coming in May", 9_000),
            *shown({"Pier": f"{rain}{card}\n\n{rain}"}, "what is coming in May"),
        ):
            self.assertIn(card, found)
            self.assertLess(len(found), 500)

    def test_rows_that_hold_the_asked_value_are_all_shown_or_counted(self) -> None:
        names = ("Truman", "Ford", "Carter", "Nixon", "Hoover")
        judges = [f"| {number} | Judge {number} | {names[number % 5]} |" for number in range(60)]
        table = "\n".join(["| number | name | appointed by |", "| --- | --- | --- |", *judges])
        (found,) = shown({"Court": table}, "last judge appointed by Truman", 3_000)
        self.assertIn("| 55 | Judge 55 | Truman |\n| 56 |", found)
        self.assertEqual(found.count("Truman"), 12)
        (found,) = shown({"Court": table}, "a judge appointed by Truman", 530)
        hidden = sum(map(int, re.findall(r"(\d+) with Truman", found)))
        self.assertEqual(found.count("Truman |") + hidden, 12)
        self.assertGreater(hidden, 0)

    def test_a_unit_with_a_value_as_asked_comes_first(self) -> None:
        text = "The ferry to the bay costs a lot.\n\nRain fell.\n\nThe ferry to the bay is $ 12."
        self.assertIn("12", texts_of(text, "how much is the ferry to the bay", 40))

    def test_the_row_with_the_most_or_least_of_a_named_column_comes_first(self) -> None:
        piers = [f"Pier {one}{other}" for one in "abcdef" for other in "uvwxyz"]
        visitors = {pier: 200 + 7 * (n * 11 % 36) for n, pier in enumerate(piers)}
        visitors |= {"Pier cw": 9_000, "Pier dz": 3}
        rows = "".join(f"| {pier} | {count} |\n" for pier, count in visitors.items())
        text = f"| Pier | Visitors |\n| --- | --- |\n{rows}"
        for question in ("pier with the most visitors", "which pier has the fewest visitors"):
            chosen = texts_of(text, question, 150)
            self.assertIn("| Pier cw | 9000 |", chosen)
            self.assertIn("| Pier dz | 3 |", chosen)

    def test_the_largest_few_come_before_shorter_rows(self) -> None:
        areas = {f"Lake {name}": 90 - number for number, name in enumerate("abcdefghijklmnopqrs")}
        large = {f"Lake {name}": area for name, area in (("Una", 900), ("Duo", 800), ("Tri", 700))}
        place = "in the hills of the north, a day's walk from the last town of the valley"
        rows = [f"| {name} | {area} | {place} |" for name, area in large.items()]
        rows += [f"| {name} | {area} | |" for name, area in areas.items()]
        text = "\n".join(["| Name | Area | Place |", "| --- | --- | --- |", *rows])
        found = texts_of(text, "three largest lakes by area", 520)
        for row in rows[:3]:
            self.assertIn(row, found)

    def test_what_one_question_does_not_need_the_others_get(self) -> None:
        long = " ".join(self.day.format(day=day, place="bay", visitors=day) for day in range(90))
        texts = {"a": "The ferry leaves at noon.", "b": long}
        both = shown(texts, ["when does the ferry leave", "lighthouse closed visitors"], 3_000)
        self.assertIn("noon", both[0])
        self.assertGreater(len(both[1]), 2_000)

    def test_a_short_page_that_answers_is_shown_whole(self) -> None:
        rain = "Rain fell on the harbor of the town for the whole day. "
        for most, is_whole in ((1, True), (60, False)):
            text = f"The ferry leaves at noon.\n\n{rain * most}\n\nAdults pay 4 crowns."
            (found,) = shown({"Town": text}, "ferry leaves")
            for one in (found, texts_of(text, "ferry leaves")):
                self.assertEqual("4 crowns" in one, is_whole)

    def test_a_page_without_the_name_or_number_that_another_has_shows_two_lines(self) -> None:
        for word in ("Zybourne", "74,854"):
            rows = "| match | attendance |\n| --- | --- |\n"
            rows += "\n".join(f"| cup match {number} | {number}0,111 |" for number in range(1, 99))
            texts = {"a": f"The attendance at {word} was the largest.", "b": rows}
            question = f"the largest attendance of a cup match at {word}"
            found, other = shown(texts, question, 4_000)
            self.assertIn(word, found)
            self.assertLessEqual(other.count("cup match"), 2)

    def test_a_page_about_something_else_is_no_measure_for_the_page_that_answers(self) -> None:
        sails = "Which sails were added? The sails that were added in spring are the added sails. "
        ports = "".join(f"## Port {n}\n\nBoats lie at anchor in port {n}.\n\n" for n in range(99))
        texts = {"Which sails were added": f"# Which sails were added\n\n{sails * 3}"}
        texts["Ports"] = f"{ports}## Zybourne\n\n- jib, genoa and spinnaker\n\n{ports}"
        _, found = shown(texts, "which sails were added in Zybourne", 4_000)
        self.assertIn("genoa", found)

    def test_a_word_that_no_page_has_leaves_out_nothing_if_the_names_are_there(self) -> None:
        weaker = "The mates of Zybourne row home."
        text = f"Zybourne rows home at dawn.\n\n{self.day * 30}\n\n{weaker}{LONG}"
        found = shown({"Town": text}, "Zybourne rows home at dawn")
        self.assertIn(weaker, found[0])
        self.assertEqual(found, shown({"Town": text}, "Zybourne rows home gleefully at dawn"))

    def test_a_name_in_the_host_is_not_missing(self) -> None:
        for host, missing in (("www.zybourne.example", []), ("www.zy.example", ["Zybourne"])):
            page = units.PageText("The ferry leaves at noon.", "Ferries", host=host)
            self.assertEqual(excerpts.rank_pages([page], ["ferry by Zybourne"])[1], [missing])

    def test_what_one_page_has_said_no_other_repeats(self) -> None:
        notice = (
            "The ferry to the island leaves the northern pier at noon on every day of the week."
        )
        texts = {name: f"{notice}\n\n{name} adds that the ferry is {colour}, as it has always been."
                 for name, colour in (("The harbour", "red"), ("The captain", "blue"))}  # fmt: skip
        for room in (5_000, 300):
            found = "".join(shown(texts, "when does the ferry leave for the island", room))
            self.assertEqual(found.count("leaves the northern pier"), 1)
        boilerplate = "".join(f"## Day {day}\n\n{notice}\n\nRain {day}.\n\n" for day in range(9))
        self.assertEqual(texts_of(boilerplate, "ferry leaves at noon").count(notice), 1)

    def test_without_room_there_is_no_text(self) -> None:
        for room in (0, 10, 30):
            texts = {"a": self.pages[0], "b": MANUAL * 9}
            self.assertEqual(shown(texts, "lighthouse ferry", room), ["", ""])

    def test_of_what_could_not_be_ranked_in_time_the_beginning_is_shown(self) -> None:
        filling = " ".join(f"Sentence {number} says nothing at all." for number in range(400))
        texts = {"a": f"The beginning of it. {filling} The walrus answers.", "b": "A short text."}
        first, second = shown(texts, "walrus", 600, deadline=time.monotonic() - 1)
        self.assertTrue(first.startswith("The beginning of it."))
        self.assertNotIn("walrus", first)
        self.assertEqual(second, "A short text.")
        self.assertIn("walrus", shown(texts, "walrus", 600)[0])
        self.assertEqual(shown(texts, "zebra", 600), ["", ""])  # in time, nothing answers

    def test_passages_of_a_pdf_file_name_their_page(self) -> None:
        text = f"## [page 1]\n\n{self.pages[1]}\n\n## [page 2]\n\nThe ferry leaves at noon."
        self.assertEqual(
            shown({"": text}, "when does the ferry leave", 300),
            ["## [page 2]\n\nThe ferry leaves at noon."],
        )


class Usable(unittest.TestCase):
    """What is shown can be understood and quoted as it stands."""

    rain = "Rain fell on the harbour of the town for the whole day. "

    def test_rows_that_are_left_out_are_counted_where_they_are_missing(self) -> None:
        rows = [f"| Town {number} | {number * 7} |" for number in range(1, 41)]
        rows[9], rows[11] = "| Salem | 70 |", "| Salem North | 84 |"
        table = "\n".join(["| Town | People |", "| --- | --- |", *rows])
        (found,) = shown({"": f"{self.rain * 9}\n\n{table}\n\n{self.rain * 9}"}, "Salem", 400)
        lines = found.split("\n")
        self.assertEqual(lines[:2], table.split("\n")[:2])
        self.assertLessEqual({rows[9], rows[11]}, set(lines))
        missing = [int(number) for number in re.findall(r"(?m)^\| \[… (\d+) rows?\] \|$", found)]
        self.assertEqual(sum(missing) + len(set(lines) & set(rows)), len(rows))
        self.assertGreater(missing[-1], 20)
        last = "Salem lies at the sea."
        (found,) = shown({"": f"{table}\n\n{self.rain * 9}\n\n{last}"}, "Salem", 400)
        # The count concerns the rows; the text omitted after them has its own mark.
        self.assertRegex(found, rf"\[… \d+ rows\] \|\n\n\[…\]\n\n{last}$")

    def test_a_head_stands_once_for_each_table_and_never_without_a_row(self) -> None:
        head = "| Option | Meaning of the ferry |\n| --- | --- |"
        rows = "\n".join(f"| option {number} | {self.rain}|" for number in range(30))
        wide = f"| {self.rain * 30}| ferry |"
        for room in range(100, 2_000, 150):
            (found,) = shown({"": f"{head}\n{wide}\n{rows}"}, "option 7 ferry", room)
            with self.subTest(room=room):
                self.assertEqual(found.count(head), bool(found))
                self.assertEqual("option 7 |" in found, bool(found))
                for line in found.split("\n")[2:]:
                    self.assertRegex(line, r"^\| (option|\[…).*\|$")

    def test_a_sentence_that_needs_the_one_before_it_is_shown_with_it(self) -> None:
        subject = "The option strict_mode makes the parser refuse every unknown name in a file."
        leaning = "The default value is false since the third release of the program."
        text = f"{self.rain * 20}\n\n{subject} {leaning}\n\n{self.rain * 20}"
        (found,) = shown({"": text}, "default value false third release", 400)
        self.assertIn(f"{subject} {leaning}", found)

    def test_a_label_below_a_label_belongs_to_it(self) -> None:
        prizes = (("Best revival", "Becky", "Cats"), ("Best actor", "Nathan", "Mark"))
        text = "\n\n".join(f"**{one}**\n\n**{two}**\n\nWINNER: {won}" for one, two, won in prizes)
        (found,) = shown({"": text}, "best actor", 40)
        self.assertEqual(found, "WINNER: Mark")

    def test_a_definition_keeps_its_term(self) -> None:
        terms = "\n".join(
            f"- **`option_{number}`**\n  This property must point to file {number} of the folder.\n"
            "  - **Type:** text"
            for number in range(30)
        )
        (found,) = shown({"": terms}, "property point to file 17", 300)
        self.assertIn("- **`option_17`**\n  This property must point to file 17", found)
        (found,) = shown({"": terms.replace("property", "key")}, "option_17 kind", 900)
        self.assertNotIn("file 18", found)  # it is no continuation of another term's
        bold = "".join(f"**setting {number}**\n\nMust point to file {number}, a key.\n\n"
                       for number in range(30))  # fmt: skip
        (found,) = shown({"": bold}, "point to file 17", 200)
        self.assertIn("**setting 17**\n\nMust point to file 17", found)

    def test_text_of_an_item_comes_with_its_first_line_or_a_mark(self) -> None:
        told = "tells the mates on the deck which of the ropes are wet and which of them are dry."
        items = [
            f"  - `rope{number}` \\<string> {told} {self.rain} Knots of kind {number} hold well"
            " in a storm, and the mates may loosen them.\n"
            f"    - `splice{number}` joins two ends of hemp."
            for number in range(40)
        ]
        page = f"## Ropes\n\n- `options` \\<Object> {told}\n" + "\n".join(items)
        for question in ("knots of kind 17 hold", "splice17 joins ends of hemp"):
            for room in (300, 700, 1_500):
                (found,) = shown({"": page}, question, room)
                with self.subTest(question=question, room=room):
                    self.assertRegex(found, r"Knots of kind 17|`splice17`")
                    if room == 1_500:
                        self.assertIn("`rope17`", found)
                    for number in re.findall(r"Knots of kind (\d+)", found):
                        own = rf"(?:`rope{number}` .*dry\.|\[…\]) Rain .* Knots of kind {number} "
                        self.assertRegex(found, own)
                    for number in re.findall(r"`splice(\d+)`", found):
                        own = rf"(?:`rope{number}` .*|\[…\].*)\n+ *- `splice{number}`"
                        self.assertRegex(found, own)

    def test_options_that_several_entries_share_are_in_each_or_marked(self) -> None:
        options = "\n".join(
            f"- `{name}` \\<boolean> hauls the {name} of the boat in as far as it goes. The mates"
            f" haul it out again at the turn of the tide. **Default:** `{name} is out`.\n"
            f"- `{name}Mode` \\<number> the mode of the {name} in KIND."
            for name in ("anchor", "rope", "sail", "mast", "keel", "net")
        )
        entries = [f"## `{kind}.haul(boat)`\n\n{options.replace('KIND', kind)}" for kind in "abcde"]
        page = "\n\n".join(entries)
        for room in (1_000, 2_000, 4_000, 6_000):
            (found,) = shown({"": page}, "b.haul sail mode default", room)
            for segment in found.split(GAP):
                with self.subTest(room=room, segment=segment[:40]):
                    self.assertIn(" ".join(segment.split()), " ".join(page.split()))

    def test_a_list_that_goes_on_after_the_last_item_is_marked(self) -> None:
        items = [f"- `rope{number}` holds. {self.rain}" for number in range(30)]
        (found,) = shown({"": "\n".join(items)}, "rope5 holds", 400)
        self.assertRegex(found, rf"\n{re.escape(GAP)}$")
        (found,) = shown({"": "\n".join(items)}, "rope29 holds", 200)
        self.assertRegex(found, r"`rope29` holds\. Rain .* day\.$")
        first = f"- `rope` holds the boat at the pier {'of the town and ' * 4}of the island."
        (found,) = shown({"": f"{first}\n\n  {self.rain * 9}"}, "rope holds the boat", 140)
        self.assertEqual(found, f"{first}\n{GAP}")

    def test_a_start_within_a_paragraph_is_marked_and_a_quotation_remains_one(self) -> None:
        told = f"{self.rain * 9}The captain sold nine ferries to the bishop. {self.rain * 9}"
        for before, mark in (("", ""), ("> ", "> "), (f"> {self.rain}\n>\n> ", "> ")):
            (found,) = shown({"": f"{before}{told}"}, "captain sold ferries to bishop", 400)
            self.assertRegex(found, rf"^{mark}\[…\] (Rain .*)?The captain")
        page = f"The ferry is late.\n\n{self.rain * 60}\n\n> {told}\n\n{self.rain * 60}"
        (found,) = shown({"": page}, "captain sold the late ferry, ferries to bishop", 400)
        self.assertRegex(found, r"late\.\n\n> \[…\] (Rain .*)?The captain")
        page = f"- The ferry is late.\n\n  {self.rain * 60}\n\n  {told}\n\n{self.rain * 60}"
        (found,) = shown({"": page}, "captain sold the late ferry, ferries to bishop", 400)
        self.assertRegex(found, r"late\.\n\n  \[…\] (Rain .*)?The captain")

    def test_a_table_is_not_followed_by_a_part_of_a_list_without_a_mark(self) -> None:
        rows = "\n".join(f"| v{number} | {'rope ' * 20}|" for number in range(40))
        items = "\n".join(f"- `net{number}` is wet. {self.rain}" for number in range(40))
        page = f"| Version | Changes |\n| --- | --- |\n| v99 | anchor |\n{rows}\n\n{items}"
        (found,) = shown({"": page}, "anchor net20", 700)
        self.assertRegex(found, rf"rows\] \|\n\n{re.escape(GAP)}\n\n- `net")

    def test_an_item_is_not_cut_before_its_default(self) -> None:
        items = "\n".join(
            f"- `rope{number}` {'tows the boat to the pier of the town, ' * 4}default: {number}."
            for number in range(40)
        )
        for room in range(500, 1_200, 50):
            (found,) = shown({"": items}, "rope7 default", room)
            with self.subTest(room=room):
                self.assertNotRegex(found, r"…(?!\])")

    def test_code_has_no_hole_that_saves_less_than_its_mark(self) -> None:
        parts = "\n".join(
            f"haul('rope {number} of the boat', {{ {'wet: true, ' * 6}}}, (mates) => {{\n"
            f"  throw new Error('rope {number} is lost');\n}});\n"
            for number in range(40)
        )
        (found,) = shown({"": f"```js\n{parts}```"}, "haul rope 7 wet mates", 1_500)
        for count in re.findall(r"\[… (\d+) lines?\]", found):
            self.assertGreater(int(count), 2)

    def test_code_that_is_cut_says_so_inside_its_fence_which_is_closed(self) -> None:
        code = "\n".join(f"value_{number} = compute({number})" for number in range(200))
        text = f"{self.rain * 9}\n\n```python\n{code}\n```\n\n{self.rain * 9}"
        (found,) = shown({"": text}, "value_100", 700)
        lines = found.split("\n")
        self.assertEqual((lines[0], lines[-1]), ("```python", "```"))
        self.assertIn("value_100 = compute(100)", lines)
        self.assertRegex(lines[1], r"^\[… \d+ lines\]$")
        self.assertRegex(lines[-2], r"^\[… \d+ lines\]$")
        nested = f"- An item with code:\n\n  ```\n  first()\n\n  second()\n  ```\n\n{self.rain * 9}"
        (found,) = shown({"": nested}, "second", 400)
        self.assertEqual(found.count("```"), 2)
        for mark in ("- ", "12. ", "- - "):
            first = f"{mark}```\n  make harbor\n  ```\n\n{self.rain * 9}\n\nThe ferry leaves."
            (found,) = shown({"": first}, "make harbor", 200)
            self.assertEqual(found.count("```"), 2, mark)
            (found,) = shown({"": first}, "ferry leaves", 100)
            self.assertNotIn("```", found)  # the text after it is not code

    def test_references_and_notices_are_no_passages_unless_rare_words_stand_only_there(
        self,
    ) -> None:
        answer = "The icebreaker Arktika reached the pole in the summer of that year."
        asides = [
            '## References\n\n- Smith. "The icebreaker Arktika at the pole". Retrieved 2009-05-02.',
            "- *This list is incomplete; you can help by expanding it*.",
            "This article about an icebreaker at the pole is a stub.",
            "[image: icebreaker at the pole]",
        ]
        text = "\n\n".join([answer, self.rain * 40, *asides[1:], asides[0]])
        (found,) = shown({"Icebreaker": text}, "icebreaker reached the pole")
        self.assertTrue(found.startswith(answer))
        for word in ("Smith", "incomplete", "stub", "image"):
            self.assertNotIn(word, found)
        (found,) = shown({"Icebreaker": text}, "Smith")
        self.assertIn("Smith.", found)

    def test_headings_look_as_they_do_in_the_page(self) -> None:
        text = (
            f"# Boats\n\n{self.rain * 5}\n\n## Ferry\n\nThe ferry leaves at noon.\n\n## Raft\n\nNo."
        )
        self.assertEqual(
            shown({"": text}, "when does the ferry leave", 300),
            ["# Boats\n\n[…]\n\n## Ferry\n\nThe ferry leaves at noon."],
        )

    def test_what_stands_below_a_heading_that_names_what_was_asked_for_is_shown(self) -> None:
        told = "The kind parameter says which algorithm is used. The rounds are an odd number."
        text = (
            f"# 8. Hashing\n\n## 8.1. make_salt()\n\n```\nmake_salt(kind, rounds)\n```\n\n"
            f"{told}\n\n"
            f"**Table 8.1. Speeds**\n\n| kind | speed |\n| --- | --- |\n| md5 | 9 |\n\n"
            f"## 8.2. Others\n\n{self.rain * 5} A hash needs make_salt() at times."
        )
        (found,) = shown({"Hashing": text}, "make_salt arguments", 400)
        self.assertIn(told, found)

    def test_a_list_is_shown_with_the_sentence_that_introduces_it(self) -> None:
        text = (
            f"{self.rain * 5}\n\nIt contains the following ferries:\n\n- Arktika, by day\n"
            f"- Lenin, by night\n\n{self.rain * 5}"
        )
        (found,) = shown({"": text}, "Lenin by night", 300)
        self.assertIn("the following ferries:\n\n", found)

    def test_an_option_keeps_all_of_its_names(self) -> None:
        text = (
            f"{self.rain * 5}\n\n- **-r**\n  **--rebase[=false]**\n  When true, it is moved.\n"
            f"- **-q**\n  Says nothing.\n\n{self.rain * 5}"
        )
        (found,) = shown({"": text}, "what does true rebase", 300)
        self.assertIn("**-r**\n  **--rebase[=false]**\n  When true, it is moved.", found)

    def test_code_in_a_sentence_is_not_cut(self) -> None:
        text = (
            f"{self.rain * 5}\n\nThe operator `data ? 'ferry' ? 'noon'` finds keys. It is fast.\n"
        )
        (found,) = shown({"": text}, "operator that finds keys ferry", 200)
        self.assertIn("The operator `data ? 'ferry' ? 'noon'` finds keys.", found)

    def test_items_and_terms_of_nothing_but_markup_do_not_stop_the_search(self) -> None:
        for bare in ("- *****", "- `` ` ``", "- ```", "1. **", "**:**"):
            page = f"# Harbor\n\n{bare}\n\n  The ferry leaves the harbor at noon.\n\n- More.\n"
            for query, answer in (("ferry", "ferry leaves"), ("harbor", "# Harbor")):
                with self.subTest(bare=bare, query=query):
                    (text,) = shown({"Timetable": page}, query)
                    self.assertIn(answer, text)
        (passage,) = select("# Harbor\n\n**:**\n\nThe ferry leaves at noon.", "ferry")
        self.assertEqual(passage["heading"], "Harbor")

    def test_a_title_is_not_repeated(self) -> None:
        for heading, title, is_repeated in (
            ("Ferries", "Ferries", True), ("Ferries", "ferries - Harbour News", True),
            ("Boats", "Ferries", False),
        ):  # fmt: skip
            text = f"# {heading}\n\nNoon."
            with self.subTest(heading=heading, title=title):
                expected = "Noon." if is_repeated else text
                self.assertEqual(units.without_title(text, title), expected)

    def test_for_the_most_and_least_the_rows_with_the_extremes_are_shown(self) -> None:
        rows = [f"| County {number} | {(number * 37) % 101 + 5} |" for number in range(60)]
        table = "\n".join(["| County | Votes for Obama |", "| --- | --- |", *rows])
        counts = [(number * 37) % 101 + 5 for number in range(60)]
        (found,) = shown({"": table}, "which county had the least votes for obama", 300)
        self.assertIn(rows[counts.index(min(counts))], found)


class Whole(unittest.TestCase):
    """What is begun and short is shown whole: a list that is cut looks finished."""

    FILLER = "\n\n".join(f"Sailors tell story {number} of the sea." for number in range(60))

    def page(self, body: str) -> str:
        return f"# Runner\n\n{self.FILLER}\n\n{body}\n\n# Credits\n\n{self.FILLER}"

    def one(self, body: str, question: str, room: int = 9_000) -> str:
        (text,) = shown({"Manual": self.page(body)}, question, room)
        self.assertLess(len(text), len(self.FILLER))  # the rest of the page is left out
        return text

    def test_of_a_list_table_or_code_that_is_begun_nothing_is_missing(self) -> None:
        names = ("concurrency", "only", "signal", "skip", "timeout", "todo", "plan")
        for body in (
            "\n".join(f"- `{name}`: as told." for name in names),
            "| Name | Use |\n| --- | --- |\n"
            + "\n".join(f"| {name} | as told |" for name in names),
            "```js\n" + "\n".join(f"  {name}({'x' * 90});" for name in names) + "\n```",
        ):
            with self.subTest(body=body[:20]):
                text = self.one(f"## Settings\n\n{body}", "timeout")
                self.assertIn(body, text)

    def test_a_list_that_is_too_long_is_shown_in_part(self) -> None:
        items = "\n".join(f"- `flag{number}`: {'tides ' * 9}" for number in range(80))
        text = self.one(f"## Flags\n\n{items}\n- `anchor`: holds the boat.", "anchor boat")
        self.assertIn("holds the boat", text)
        self.assertNotIn("flag3`", text)

    def test_a_colon_brings_what_it_announces(self) -> None:
        code = "```sh\nstop\nbrake --loosen\nwait\n```"
        body = f"It is lowered by the crew at night as follows:\n\n{code}"
        best = "An anchor is let down at night by the crew with a lamp."
        text = self.one(f"{best}\n\n## Order\n\n{body}", "crew anchor down at night with a lamp")
        self.assertIn(body, text)

    def test_a_section_that_a_question_names_is_whole_with_what_stands_below_it(self) -> None:
        section = (
            "## Hoisting sails\n\nSails go up slowly.\n\nOnly then the crew eats.\n\n"
            "### Storm\n\nNobody sleeps.\n\n```sh\nwinch --up\n```"
        )
        other = "## Lowering\n\nRopes are wet."
        for question in ("hoisting sails", "hoisting sails cookbook"):  # no page has the last word
            text = self.one(f"{section}\n\n{other}", question)
            self.assertIn(section, text)
            self.assertNotIn("Ropes are wet", text)

    def test_a_section_that_is_too_long_is_not_shown_whole(self) -> None:
        text = self.one(f"## Hoisting sails\n\nSails go up.\n\n{self.FILLER * 3}", "hoisting sails")
        self.assertIn("Sails go up", text)

    def test_an_entry_in_a_list_that_a_question_names_is_whole_without_its_siblings(self) -> None:
        told = "\n\n".join(f"    Mate {number} told it to the crew." for number in range(15))
        entries = {
            name: f"- ### {name}\n\n    public long {name}(Deck deck)\n\n{told}\n"
            f"    - **Returns:**\n      the {name[3:].lower()} of the deck"
            for name in (
                "getSail",
                "getMast",
                "getHull",
                "getWind",
                "getDeck",
                "getRope",
                "getKeel",
            )
        }
        text = self.one("## Methods\n\n" + "\n".join(entries.values()), "methods getWind")
        self.assertIn(entries["getWind"], text)
        self.assertNotIn("getHull", text)

    def test_passages_of_one_page_complete_the_list_that_answers(self) -> None:
        names = ("concurrency", "only", "signal", "skip", "timeout", "todo", "plan")
        items = "\n".join(f"- `{name}`: as told." for name in names)
        (found,) = select(self.page(f"## Settings\n\n{items}"), "timeout", 4_000)
        self.assertEqual(found["text"], items)

    def test_list_of_a_section_that_does_not_fit_is_shown(self) -> None:
        items = "\n".join(f"- `{mate * 3}` as told by the captain." for mate in ALPHABET[:8])
        told = "\n\n".join(
            f"After the timeout number {number}, the sail is hauled in by the timeout of the mast."
            for number in range(30)
        )
        text = self.one(f"### `sail()`\n\n{items}\n\n{told}", "timeout of sail()", 1_200)
        self.assertIn(items, text)

    def test_section_of_a_function_named_with_parentheses_leads(self) -> None:
        body = "- `name`: of the sail.\n- `fn`: hauls it.\n- `depth`: of the water."
        entry = f"### `sail([name][, fn])`\n\n**History**\n\n| 1 | Added. |\n\n{body}"
        others = "\n\n".join(
            f"### Sail options {number}\n\nSet options of each sail before a sail test."
            for number in range(9)
        )
        text = self.one(f"## Sailing\n\n{others}\n\n{entry}", "sail test sail() options", 700)
        self.assertIn(body, text)

    def test_first_list_of_a_long_section_keeps_the_name_of_its_first_option(self) -> None:
        options = "\n".join(f"- **-{mate}**\n  {'Rows on. ' * 9}".strip() for mate in ALPHABET)
        mates = f"### Mates\n\n{self.FILLER}\n\n{self.FILLER}"
        page = self.page(f"## Rowing\n\n{options}\n\n{mates}")
        self.assertIn(options, shown({"Manual": page}, "rowing")[0])

    def test_text_below_an_option_comes_with_its_definition(self) -> None:
        definition = "  Says how the crew hauls in a calm, and what it does when the tide turns."
        others = "\n".join(f"- **-{mate}**\n  {'Rows on. ' * 9}" for mate in ALPHABET)
        body = f"- **-R**\n  **--reef**\n{definition}\n\n  With `spinnaker`, the sail is doubled."
        best = "\n\n".join(
            f"The spinnaker sail is doubled by mate {number}, who doubles each spinnaker sail."
            for number in range(9)
        )
        question = "spinnaker sail is doubled"
        text = self.one(f"## Sails\n\n{best}\n\n## Options\n\n{others}\n{body}", question)
        self.assertIn(body, text)

    def test_what_does_not_fit_into_the_room_stays_cut(self) -> None:
        items = "\n".join(f"- `flag{number}`: {'tides ' * 9}" for number in range(9))
        text = self.one(f"## Flags\n\n{items}\n- `anchor`: holds the boat.", "anchor boat", 300)
        self.assertIn("holds the boat", text)
        self.assertNotIn("flag3`", text)


class Limits(unittest.TestCase):
    """Long queries are cut, and a deadline is kept."""

    def test_of_a_long_query_the_first_lines_choose_and_it_is_said(self) -> None:
        for query in ("\n".join(f"word{number}" for number in range(600)), "word " * 20_000):
            questions, note = excerpts.limit_query(query)
            self.assertLessEqual(len("\n".join(questions)), excerpts.MAX_QUERY_CHARS)
            self.assertLessEqual(len(questions), excerpts.MAX_QUESTIONS)
            self.assertIn("first 8 lines, up to 2,000 characters", note)
        self.assertEqual(excerpts.limit_query(" one \n\ntwo"), (["one", "two"], ""))

    def test_ranking_ends_at_its_deadline(self) -> None:
        page = units.PageText("\ufdfa " * 200_000 + "The ferry leaves at noon.")
        started = time.monotonic()
        found = excerpts.passages_within(page, "ferry", 500, len, started + 0.2)
        self.assertLess(time.monotonic() - started, 5)
        self.assertEqual(found, [])


class WholeTables(unittest.TestCase):
    def test_a_table_that_is_shown_whole_in_a_part_of_a_page_says_so(self) -> None:
        prose = "".join(f"## Day {n}\n\nShips left the harbor on day {n}.\n\n" for n in range(99))
        for count, is_told in ((3, False), (6, True)):
            rows = "\n".join(f"| Otter {n} | {n} kg |" for n in range(count))
            table = f"## Otter weights\n\n| Name | Weight |\n|---|---|\n{rows}\n\n"
            for page in (prose + table, table + prose):
                found = excerpts.select_passages(page, "otter weights", 2_000)
                text = " ".join(one["text"] for one in found)
                self.assertIn(rows, text)
                self.assertEqual(f"\n| [all {count} rows] |" in text, is_told)
