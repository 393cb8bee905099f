"""Parts of long pages (outline, section, find), pages as they came, and the owner's rules.

The only module to notice a page part that begins or ends in the wrong place.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
import unittest
from pathlib import Path
from typing import Any
from urllib.parse import quote

import read_page
import web_search
from tests.support import CannedServer, SmallWebCase, call_main, small_web_environment
from tests.ways_in.http_support import ServerProcess
from tests.ways_in.mcp_support import Client
from websearch.base import site_rules
from websearch.kit import SearchError, dump_json
from websearch.markdown import sections, units
from websearch.reading import finding, one_page, pages_document, read
from websearch.search import show_markdown

TEXT = """# Guide

Intro.

## Timeouts

Text of timeouts.

```sh
# no heading
```

### Defaults

30 seconds.

## Retries

ERR_SOME_CODE and err_some_code.
"""

SET = """# Page

It waits for 30 seconds by
default, says the “manual – of 2024”; **bold** words, `code` and [a
link](https://example.org/x) end here.

| item | share |
| --- | --- |
| rye | 42 % |
"""
# What is looked for -> what stands there.
FOUND = {
    '"manual - of 2024"': "manual – of 2024”",
    "seconds by default": "seconds by\ndefault",
    "bold words, code and a link end": "bold** words",
    "30\u00a0seconds": "30 seconds",
    "42\u202f%": "42 %",
}


class Headings(unittest.TestCase):
    def test_a_line_in_backticks_opens_no_code_block(self) -> None:
        text = "# A\n\n```npm i```\n\n## B\n\n```\nx = 1\n```sh\n# comment\n```\n\n## C\n"
        self.assertEqual([one.text for one in sections.find_headings(text)], ["A", "B", "C"])
        kinds = [(piece.kind, piece.words) for piece in units.PageText(text).pieces]
        self.assertIn(("lead", "B"), kinds)
        self.assertEqual([kind for kind, _ in kinds].count("line"), 1)

    def test_an_outline_names_levels_places_and_lengths(self) -> None:
        outline = sections.outline_of(sections.find_headings(TEXT))
        self.assertEqual(
            [(one["level"], one["heading"]) for one in outline],
            [(1, "Guide"), (2, "Timeouts"), (3, "Defaults"), (2, "Retries")],
        )
        for one in outline:
            part = TEXT[one["offset"] : one["offset"] + one["chars"]]
            self.assertTrue(part.startswith("#" * one["level"] + " " + one["heading"]))
        self.assertIn("30 seconds", TEXT[outline[1]["offset"] :][: outline[1]["chars"]])
        self.assertNotIn("ERR_", TEXT[outline[1]["offset"] :][: outline[1]["chars"]])

    def test_a_section_is_the_nearest_heading(self) -> None:
        rows = {"timeouts": "Timeouts", "Default": "Defaults", "retires": "Retries"}
        rows["retries of requests"] = "Retries"
        for name, heading in rows.items():
            with self.subTest(name):
                self.assertEqual(
                    sections.find_section(sections.find_headings(TEXT), name).text, heading
                )

    def test_a_function_is_not_one_whose_name_begins_alike(self) -> None:
        names = (
            "fs.rmdir(path)", "`fs.rm(path[, options])`", "dir.read()", "handle.readFile(o)",
            "fs.readFile(path[, options])", "Tides (2024)", "Close notes", "fn close<T>(t)",
        )  # fmt: skip
        headings = sections.find_headings("".join(f"## {name}\n\nText.\n\n" for name in names))
        for asked, heading, note in (
            ("fs.rm", names[1], ""),
            ("fs.readFile()", names[4], ""),
            ("fs.readFile(path, callback)", names[4], ""),
            ("`dir.read`", names[2], ""),
            ("readFile", names[3], f"Also 'readFile': headings at offset {headings[4].start}."),
            ("Tides (2024)", names[5], ""),
            ("Handle::rm()", names[1], ""),
            ("Handle::close", names[7], ""),
        ):
            with self.subTest(asked):
                section = sections.find_section(headings, asked)
                self.assertEqual(section.text, heading)
                self.assertEqual(sections.section_note(headings, section, asked), note)

    def test_an_entry_of_a_list_is_a_section(self) -> None:
        text = (
            "# Guide\n\nA guide of dry-run lists.\n\n"
            "- **-n \\<n>**\n  **--dry-run=\\<n>**\n  Tries.\n\n  Tries more.\n"
            "- **timeout**\n  In seconds.\n- **--dry**\n  Dries.\n"
            "- **--[no-]wet**\n  Wets.\n\n## Descriptions\n\nEnd."
        )
        tries = text[text.index("- **-n") : text.index("\n- **timeout")]
        for asked, part in (
            ("--dry-run", tries),
            ("dry-run", tries),
            ("--dry-run=<n>", tries),
            ("-n", tries),
            ("--wet", "- **--[no-]wet**\n  Wets."),
            ("timeout", "- **timeout**\n  In seconds."),
            ("--dry", "- **--dry**\n  Dries."),
        ):
            with self.subTest(asked):
                headings = sections.find_headings(text)
                section = sections.find_section(headings, asked, text)
                self.assertEqual(text[section.start : section.end], part)
                self.assertEqual(sections.section_note(headings, section, asked), "")

    def test_a_fragment_names_a_heading_an_entry_or_a_text(self) -> None:
        text = (
            "# Guide\n\nIt begins, and goes on.\n\n## `server.keepAlive(ms)`\n\nWaits.\n\n"
            "- **os.path.join(path)**\n  Joins paths.\n\n#### `pub fn drain<R>(&mut self)`\n\nEnd."
        )
        for fragment, beginning in (
            ("serverkeepalivems", "## `server"),
            ("server.keepAlive-ms", "## `server"),
            ("os.path.join", "- **os.path"),
            ("method.drain", "#### `pub"),
            (":~:text=Joins%20paths", "\n- **os.path"),
            ("guide:~:text=waits,end", "\nWaits."),
            ("nothing", "# Guide"),
            ("method.nothing", "# Guide"),
            ("", "# Guide"),
        ):
            with self.subTest(fragment):
                offset = sections.fragment_offset(text, fragment)
                self.assertTrue(text[offset:].startswith(beginning), text[offset:][:30])

    def test_section_that_is_only_similar_is_said(self) -> None:
        headings = sections.find_headings(TEXT)
        for name, note in (("retires", "No heading contains 'retires'"), ("Default", "")):
            section = sections.find_section(headings, name)
            self.assertTrue(sections.section_note(headings, section, name).startswith(note))
        self.assertEqual(sections.section_note(headings, section, "Defaults"), "")

    def test_sentences_with_a_text_are_all_counted(self) -> None:
        result = finding.PageFinder(TEXT).find("err_some_code", 9)
        self.assertEqual((result["places_in_all"], len(result["places"])), (1, 1))
        self.assertEqual(TEXT[result["places"][0]["offset"] :][:13], "ERR_SOME_CODE")
        self.assertEqual(result["places"][0]["heading"], "Guide > Retries")
        result = finding.PageFinder("ab, and so on and on.\n\n" * 10_000).find("ab", 9)
        self.assertEqual((len(result["places"]), result["places_in_all"]), (9, 10_000))

    def test_option_is_shown_with_its_description(self) -> None:
        for text in (
            "- **-d**\n  **--depth=N**\n  Limits what is fetched.\n- **-q**\n  Says nothing.\n",
            "**--depth=N**\n\nLimits what is fetched.\n\n**-q**\n\nSays nothing.\n",
        ):
            (place,) = finding.PageFinder(text).find("--depth", 9)["places"]
            self.assertIn("Limits what is fetched.", place["text"])
            self.assertNotIn("nothing", place["text"])

    def test_option_of_several_paragraphs_is_whole_or_marked(self) -> None:
        more = "\n\n".join(f"  Paragraph {n} limits the depth." for n in range(90))
        for text, has_gap in ((more[:300], False), (more, True)):
            options = (
                f"- **--depth=N**\n  Limits what is fetched.\n\n{text}\n- **-q**\n  Says nothing.\n"
            )
            (place,) = finding.PageFinder(options).find("--depth", 9)["places"]
            self.assertIn("Paragraph 7 limits the depth.", place["text"])
            self.assertEqual(place["text"].endswith("\n\n[…]"), has_gap)
            self.assertNotIn("nothing", place["text"])

    def test_how_a_text_is_set_makes_no_difference(self) -> None:
        finder = finding.PageFinder(SET)
        for wanted, found in FOUND.items():
            with self.subTest(wanted):
                (place,) = finder.find(wanted, 9)["places"]
                self.assertTrue(SET[place["offset"] :].startswith(found), place)
        row = finder.find("42 %", 9)["places"][0]["text"]
        self.assertEqual(row, "| item | share |\n| --- | --- |\n| rye | 42 % |")

    def test_letters_are_found_in_composed_and_decomposed_form(self) -> None:
        for text in ("Die Küche", "ガイドブックは受付に", "학점인정 신청은 삼월에"):
            parts = unicodedata.normalize("NFD", text)
            for held, wanted in ((text, parts), (parts, text)):
                with self.subTest(held=held, wanted=wanted):
                    found = finding.PageFinder(f"Seite: {held}.").find(wanted, 9)
                    self.assertEqual(found["places"][0]["offset"], 7)

    def test_missing_text_gets_the_nearest_passage_and_its_differences(self) -> None:
        finder = finding.PageFinder(SET)
        for wanted, differs in {
            "waits for 45 seconds by default": '"30", not "45"',
            "it waits seconds by default": 'also "for 30"',
            "it waits for 30 long seconds": 'no "long"',
        }.items():
            with self.subTest(wanted):
                result = finder.find(wanted, 9)
                self.assertEqual(result["places_in_all"], 0)
                self.assertIn("waits for 30 seconds", result["nearest"]["text"])
                self.assertEqual(result["nearest"]["differs"], differs)
        self.assertNotIn("nearest", finder.find("zebra", 9))

    def test_headings_of_readmes_are_known(self) -> None:
        text = (
            "<h1 align=center>My <b>Tool</b></h1>\n\nIntro\n=====\n\ntext\n\nUsage\n---\n\na | b\n"
            "--- | ---\n\n- x\n---\n\n```\nc\n===\n```\n\n## Last\n"
        )
        found = [(heading.level, heading.text) for heading in sections.find_headings(text)]
        self.assertEqual(found, [(1, "My Tool"), (1, "Intro"), (2, "Usage"), (2, "Last")])
        self.assertTrue(text[sections.find_headings(text)[1].start :].startswith("Intro"))


class LowerHeadings(unittest.TestCase):
    def test_the_highest_is_of_the_level_and_code_stays(self) -> None:
        code = "```sh\n\n# not a heading\n\n```"
        for text, lowered in (
            ("# A\n\ntext\n\n## B\n\nmore", "### A\n\ntext\n\n#### B\n\nmore"),
            ("text\n\n## B", "text\n\n### B"),
            ("# A\n\n##### E\n\n###### F", "### A\n\n###### E\n\n###### F"),
            (f"## A\n\n{code}", f"### A\n\n{code}"),
            ("# a comment\nimport os\n# another\n", "# a comment\nimport os\n# another\n"),
            ("#### D\n\n##### E", "#### D\n\n##### E"),
            ("#hash\n\n#", "#hash\n\n#"),
            ("", ""),
        ):
            with self.subTest(text):
                self.assertEqual(sections.lower_headings(text, 3), lowered)
                self.assertEqual(sections.lower_headings(lowered, 3), lowered)

    def test_pages_are_below_their_urls_in_markdown(self) -> None:
        page = {"url": "https://a.example/x", "title": "T", "text": "# T\n\nWords.\n\n## Part"}
        result = {"ok": True, "results": [page]}
        self.assertIn("### T\n\nWords.\n\n#### Part", show_markdown.consolidated_text(result))
        self.assertIn("\n### T\n", show_markdown.search_markdown(result))
        document = {"ok": True, "pages": [{**page, "ok": True, "chars": 30}]}
        self.assertIn("\n### Part", read.to_markdown(document))
        document["pages"][0]["note"] = one_page.RAW_NOTE
        self.assertIn("\n## Part", read.to_markdown(document))


class Slices(unittest.TestCase):
    def test_a_slice_cuts_no_code_or_bold_and_ends_with_no_heading(self) -> None:
        code = "```\n" + "run. it\n" * 6 + "```"
        text = "\n\n".join(
            f"## Part {n}\n\n### Of {n}\n\nProse of {n}. **Bold words. In two.** More.\n\n{code}"
            for n in range(40)
        )
        for room in (500, 700, 1_200):
            slices, start = [], 0
            while start < len(text):
                end = pages_document.slice_end(text, start, room)
                self.assertGreater(end, start)
                slices.append(text[start:end])
                start = end
            self.assertEqual("".join(slices), text)
            for part in slices:
                self.assertEqual((part.count("```") % 2, part.count("**") % 2), (0, 0), part)
                self.assertNotRegex(part, r"\n#+ [^\n]*\s*$")
        self.assertGreater(pages_document.slice_end("```\n" + "run. it\n" * 900, 0, 500), 300)


class Reading(SmallWebCase):
    def read(self, path: str, *words: str) -> dict[str, Any]:
        """The document of one page of the fake web."""
        document: dict[str, Any] = call_main(read_page, self.url(path), *words).document
        return document

    def url(self, path: str) -> str:
        return f"{self.server.url}/site/{path}"

    def test_outline_is_limited_to_the_requested_words_and_section(self) -> None:
        def headings(*words: str) -> list[str]:
            page = self.read("docs/timeouts", "--outline", *words)["pages"][0]
            self.noted = page.get("note", "")
            return [entry["heading"] for entry in page["outline"]]

        every = headings()
        self.assertEqual(headings("--find", "TIMEOUT"), [one for one in every if "timeout" in one])
        self.assertEqual(headings("--query", "timeouts of kinds"), ["Kinds of timeouts"])
        self.assertEqual(self.noted, "")
        self.assertEqual(headings("--query", "terms of zebras"), ["Terms"])
        self.assertEqual(headings("--section", "Terms"), ["Terms"])
        self.assertEqual(headings("--find", "zebra"), every)
        self.assertEqual(self.noted, "No heading contains these words; all headings are listed.")

    def test_an_outline_leads_to_a_section_and_an_offset(self) -> None:
        page = self.read("docs/timeouts", "--outline")["pages"][0]
        self.assertNotIn("text", page)
        entry = page["outline"][-1]
        by_name = self.read("docs/timeouts", "--section", entry["heading"])["pages"][0]
        self.assertEqual(by_name["section"], entry["heading"])
        self.assertEqual(by_name["section_offset"], entry["offset"])
        by_offset = self.read("docs/timeouts", "--offset", str(entry["offset"]))["pages"][0]
        self.assertTrue(by_offset["text"].startswith(by_name["text"][:50]))

    def test_offsets_count_in_the_page_whatever_section_is_read(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        parts = (
            f"<h2>{name}</h2>" + "".join(f"<p>{name} has boat {n} at sea.</p>" for n in range(99))
            for name in ("Harbour", "Lighthouse", "Market")
        )
        server.body = f"<h1>Kettle</h1>{''.join(parts)}".encode()
        server.headers = {"Content-Type": "text/html"}
        allowed = {"WEB_SEARCH_ALLOW_PRIVATE": server.url.removeprefix("http://")}

        def read(*words: str) -> dict[str, Any]:
            page: dict[str, Any] = self.run_script(
                "read_page.py", server.url, *words, **allowed
            ).document["pages"][0]
            return page

        text = read("--max-chars", "0")["text"]
        section = ("--section", "Lighthouse")
        begin, end = text.index("## Lighthouse"), text.index("## Market")
        part = read(*section, "--max-chars", "1500")
        self.assertEqual((part["chars"], part["truncated"]), (end - begin, True))
        self.assertEqual(part["text"], text[begin : part["next_offset"]])
        onward = ("--offset", str(part["next_offset"]), "--max-chars", "0")
        self.assertEqual(read(*section, *onward)["text"], text[part["next_offset"] : end])
        self.assertEqual(read(*onward)["text"], text[part["next_offset"] :])
        above = read(*section, "--offset", "9", "--max-chars", "0")
        self.assertEqual(above["text"], text[begin:end])
        texts = ("--find", "boat 98 at", "--find", "Lighthouse has nine boat at sea")
        place, nearest = read(*section, *texts)["found"]
        self.assertEqual(text[place["places"][0]["offset"] :][:10], "boat 98 at")
        self.assertEqual(text[nearest["nearest"]["offset"] :][:14], "Lighthouse has")
        passages = read(*section, "--query", "boat at sea", "--max-chars", "1500")
        self.assertIn("Lighthouse", passages["passages"][0]["text"])
        self.assertNotIn("next_offset", passages)  # it would jump over what is omitted

    def serve(self, html: str) -> tuple[str, dict[str, str]]:
        """Return a page's URL, and the environment in which it may be read."""
        server = CannedServer()
        self.addCleanup(server.close)
        server.body, server.headers = html.encode(), {"Content-Type": "text/html"}
        return server.url, {"WEB_SEARCH_ALLOW_PRIVATE": server.url.removeprefix("http://")}

    def test_a_section_a_little_over_the_room_is_whole(self) -> None:
        for chars, is_whole in ((9_600, True), (11_000, False)):
            body = "<p>A boat is at sea, and it is late.</p>" * (chars // 36)
            url, allowed = self.serve(f"<h1>Kettle</h1><h2>Boats</h2>{body}<h2>Ends</h2><p>x.</p>")
            read = ("read_page.py", url, "--section", "Boats")
            document = self.run_script(*read, **allowed).document
            self.assertEqual("truncated" not in document["pages"][0], is_whole)
            self.assertLessEqual(len(dump_json(document)), 10_350)
            capped = self.run_script(*read, "--max-chars", "9000", **allowed).document
            self.assertTrue(capped["pages"][0]["truncated"])
            client = Client({**self.environment, **allowed})
            self.addCleanup(client.close)
            answer = str(client.call("read_page", urls=[url], section="Boats"))
            self.assertEqual(" continues" not in answer and "truncated" not in answer, is_whole)

    def test_sections_of_one_page_and_of_several_come_in_one_call(self) -> None:
        urls, environment = [], {}
        for name in ("Kettle", "Harbour"):
            parts = "".join(f"<h2>{one}</h2><p>{name}, {one}.</p>" for one in ("A1", "B2"))
            url, allowed = self.serve(f"<h1>{name}</h1>{parts}<h2>Ends</h2><p>Last.</p>")
            urls.append(url)
            for key, value in allowed.items():
                environment[key] = ",".join(filter(None, [environment.get(key), value]))

        def read(*words: str) -> list[str]:
            document = self.run_script("read_page.py", *words, **environment).document
            return [page["text"].strip() for page in document["pages"]]

        kettle, harbour = urls
        both = ("--section", "B2", "--section", "A1")
        self.assertEqual(read(kettle, *both), ["## B2\n\nKettle, B2.", "## A1\n\nKettle, A1."])
        texts = ["## B2\n\nKettle, B2.", "## A1\n\nHarbour, A1."]
        self.assertEqual(read(kettle, harbour, *both), texts)
        texts = ["## A1\n\nKettle, A1.", "## A1\n\nHarbour, A1."]
        self.assertEqual(read(kettle, harbour, "--section", "A1"), texts)
        self.assertEqual(len(read(kettle, harbour, *both, "--section", "A1")), 6)  # all of each

    def test_a_long_page_begins_where_the_fragment_of_its_url_points(self) -> None:
        body = "".join(f"<h2>Boat {n}</h2><p>Boat {n} is at sea, and late.</p>" for n in range(300))
        url, allowed = self.serve(f"<h1>Kettle</h1>{body}")

        def read(*words: str) -> dict[str, Any]:
            document = self.run_script("read_page.py", *words, **allowed).document
            page: dict[str, Any] = document["pages"][0]
            return page

        page = read(f"{url}#boat-77")
        self.assertTrue(page["text"].startswith("## Boat 77\n"))
        self.assertIn("Begins at the place that the URL's # names", page["note"])
        for words in ((url,), (f"{url}#boat-777",), (f"{url}#boat-77", "--max-chars", "0")):
            self.assertTrue(read(*words)["text"].startswith("## Boat 0\n"), words)
        self.assertNotIn("note", read(f"{url}#boat-777"))

    def test_code_that_is_cut_has_its_mark_and_both_fences(self) -> None:
        lines = "\n".join(f"boat = {n}" for n in range(200))
        code = f"<pre><code class='language-python'>{lines}</code></pre>"
        url, allowed = self.serve(f"<h1>Kettle</h1>{code}<p>The end of the boats.</p>")

        def read(*words: str) -> dict[str, Any]:
            document = self.run_script("read_page.py", url, *words, **allowed).document
            page: dict[str, Any] = document["pages"][0]
            return page

        first = read("--max-chars", "1500")
        self.assertTrue(first["text"].endswith("\n[…]\n```"), first["text"][-40:])
        second = read("--offset", str(first["next_offset"]))["text"]
        self.assertTrue(second.startswith("```python\nboat = "), second[:40])
        self.assertTrue(second.endswith("boat = 199\n```\n\nThe end of the boats."))
        shown = re.findall(r"boat = (\d+)", first["text"] + second)
        self.assertEqual(shown, [str(n) for n in range(200)])
        self.assertNotIn("…", read("--max-chars", "0")["text"])

    def test_headings_of_the_same_name_are_counted_with_their_places(self) -> None:
        part = "<h2>{0}</h2><p>{0} opens.</p><h3>Options</h3><p>Options of {0} are few.</p>"
        url, allowed = self.serve("<h1>Kettle</h1>" + part.format("Lid") + part.format("Spout"))

        def read(*words: str) -> dict[str, Any]:
            document = self.run_script("read_page.py", url, *words, **allowed).document
            page: dict[str, Any] = document["pages"][0]
            return page

        page = read("--section", "options")
        self.assertIn("Options of Lid", page["text"])
        self.assertIn("2 headings have this name. This is the first", page["note"])
        offset = re.findall(r"\d+", page["note"])[-1]
        self.assertTrue(
            read("--offset", offset)["text"].startswith("### Options\n\nOptions of Spout")
        )
        self.assertNotIn("note", read("--section", "Spout"))

    def test_missing_section_lists_existing_headings_as_data(self) -> None:
        document = self.read("docs/timeouts", "--section", "Zebra crossings")
        self.assertEqual(document["details"]["kind"], "no_results")
        hint = "Use --outline to list its headings, or --find for an entry or other text."
        self.assertEqual(document["details"]["hint"], hint)
        self.assertIn("imeout", " ".join(document["details"]["headings"]))

    def test_literal_text_is_found_with_its_context(self) -> None:
        page = self.read("docs/timeouts", "--find", "TIMEOUT")["pages"][0]
        self.assertGreater(page["places_in_all"], 0)
        self.assertIn("timeout", page["places"][0]["text"].lower())
        document = self.read("docs/timeouts", "--find", "zebra")
        self.assertEqual(document["details"]["kind"], "no_results")
        self.assertIn("does not contain 'zebra'", document["error"])

    def test_each_of_several_texts_has_its_own_result(self) -> None:
        words = ("--find", "timeout", "--find", "a timeout of nine weeks", "--find", "zebra")
        page = self.read("docs/timeouts", *words)["pages"][0]
        timeout, weeks, zebra = page["found"]
        self.assertGreater(timeout["places_in_all"], 1)
        self.assertEqual(len(timeout["places"]), min(5, timeout["places_in_all"]))
        self.assertIn("timeout", weeks["nearest"]["text"].lower())
        self.assertEqual(zebra, {"find": "zebra", "places_in_all": 0})
        run = call_main(read_page, self.url("docs/timeouts"), *words[2:], "--format", "markdown")
        text = run.stdout.decode()
        self.assertEqual(run.code, 1)
        self.assertIn("Nearest, at ", text[text.index("[untrusted") :])

    def test_find_shows_whole_code_one_table_head_and_partial_words(self) -> None:
        text = (
            "# Otters\n\n```sh\nimport otter\n\nfor n in pond:\n    otter.dive(n)\n```\n\n"
            "| otter | age |\n| --- | --- |\n| otter Ada | 3 |\n| otter Moor | 4 |\n\nTwo otters."
        )
        server = CannedServer()
        self.addCleanup(server.close)
        server.body, server.headers = text.encode(), {"Content-Type": "text/markdown"}
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=server.url.removeprefix("http://"))
        page = call_main(read_page, f"{server.url}/a.md", "--find", "otter").document["pages"][0]
        texts = [place["text"] for place in page["places"]]
        code = next(one for one in texts if "dive" in one)
        self.assertTrue(code.startswith("```sh\n") and code.endswith("\n```"))
        self.assertEqual(sum("| age |" in one for one in texts), 1)
        self.assertEqual(page["in_longer_words"], 2)
        self.assertNotIn("Two otters.", texts)
        run = call_main(read_page, f"{server.url}/a.md", "--find", "otter", "--md")
        self.assertIn(", 2 in longer words", run.stdout.decode())

    def test_markdown_shows_the_urls_of_links_in_the_places_found(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        server.body, server.headers = b"[Report](/r.pdf) of 2024", {"Content-Type": "text/markdown"}
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=server.url.removeprefix("http://"))
        run = call_main(read_page, f"{server.url}/a.md", "--links", "--find", ".pdf", "--md")
        self.assertIn(f"Report ({server.url}/r.pdf) of 2024", run.stdout.decode())

    def test_markdown_shows_outline_and_places_inside_the_fence(self) -> None:
        for words, part in ((("--outline",), "(offset "), (("--find", "timeout"), "Places of ")):
            run = call_main(read_page, self.url("docs/timeouts"), *words, "--format", "markdown")
            text = run.stdout.decode()
            self.assertIn(part, text[text.index("[untrusted") :])

    def test_parts_of_a_page_that_was_read_need_no_request(self) -> None:
        self.read("docs/timeouts")
        self.server.clear()
        for words in (("--outline",), ("--find", "timeout"), ("--offset", "10"), ("-q", "timeout")):
            page = self.read("docs/timeouts", *words)["pages"][0]
            self.assertTrue(page["from_cache"], words)
            self.assertIn("fetched_at", page)
        self.assertEqual(self.server.requests, [])
        self.assertNotIn("from_cache", self.read("docs/timeouts")["pages"][0])
        self.assertNotIn("from_cache", self.read("docs/timeouts", "--find", "a", "--links"))

    def test_force_reads_again_by_one_request_on_every_way_in(self) -> None:
        address = self.url("docs/timeouts")
        variables = {**small_web_environment(self.server.url), "GLSI_DB_PATH": self.store}
        client, server = Client(variables), ServerProcess(**variables)
        self.addCleanup(client.close)
        self.addCleanup(server.stop)
        query = f"/read?url={quote(address)}&find=timeout"
        ways: dict[str, Any] = {
            "command line": lambda words: self.read("docs/timeouts", "--find", "timeout", *words),
            "MCP": lambda words: client.call(
                "read_page", urls=[address], find="timeout", **dict.fromkeys(words, True)
            ),
            "HTTP": lambda words: server.fetch(query + "".join(f"&{word}=true" for word in words)),
        }
        self.read("docs/timeouts")
        for name, way in ways.items():
            for words, requests in (([], 0), (["--force" if "line" in name else "force"], 1)):
                self.server.clear()
                way(words)
                with self.subTest(name, words=words):
                    paths = [one.path for one in self.server.requests]
                    self.assertEqual(paths, ["/site/docs/timeouts"] * requests)

    def test_a_page_that_the_owner_has_blocked_since_is_not_shown(self) -> None:
        self.read("docs/timeouts")
        self.set_environment(WEB_SEARCH_BLOCK_SITES="127.0.0.1")
        document = self.read("docs/timeouts", "--find", "timeout")
        self.assertEqual(document["details"]["kind"], "refused")

    def test_tables_are_listed_and_one_is_printed_also_as_csv(self) -> None:
        rows = "".join(
            f"<tr><td><b>Boat {n}</b>, big</td><td>{n} | 9</td></tr>" for n in range(900)
        )
        head = "<tr><th>Name</th><th>Crew</th></tr>"
        url, allowed = self.serve(
            f"<h1>Kettle</h1><h2>Boats</h2><p>In the harbor:</p><table>{head}{rows}</table>"
            f"<h2>Few</h2><table>{head}<tr><td>-</td><td>--</td></tr></table>"
        )
        read = ("read_page.py", url, "--tables")
        page = self.run_script(*read, **allowed).document["pages"][0]
        first, second = page["tables"]
        place = {"number": 2, "heading": "Few", "columns": ["Name", "Crew"], "rows": 1}
        self.assertEqual({**second, **place}, second)
        self.assertEqual((first["caption"], first["rows"]), ("In the harbor:", 900))
        page = self.run_script(*read, "1", **allowed).document["pages"][0]
        self.assertEqual((page["table"], page["truncated"]), (1, True))
        self.assertEqual(page["text"].split("\n")[2], "| **Boat 0**, big | 0 \\| 9 |")
        onward = ("1", "--offset", str(page["next_offset"]))
        page = self.run_script(*read, *onward, **allowed).document["pages"][0]
        self.assertEqual(page["text"].split("\n")[0], "| Name | Crew |")
        data = self.run_script(*read, "1", "--csv", **allowed).stdout.decode()
        self.assertEqual(data.split("\n")[:2], ["Name,Crew", '"Boat 0, big",0 | 9'])
        self.assertEqual(len(data.strip().split("\n")), 901)
        data = self.run_script(*read, "2", "--csv", **allowed).stdout.decode()
        self.assertEqual(data, "Name,Crew\n-,--\n")
        for words, kind in ((("7",), "no_results"), (("7", "--csv"), "no_results"),
                            (("--csv",), "invalid_input")):  # fmt: skip
            error = self.run_script(*read, *words, **allowed).document
            self.assertEqual(error["details"]["kind"], kind)
        self.assertIn(
            "only tables 1 to 2", self.run_script(*read, "7", **allowed).document["error"]
        )

    def test_csv_is_a_table_that_is_cut_by_rows(self) -> None:
        page = self.read("data/tides.csv", "--max-chars", "1000")["pages"][0]
        lines = page["text"].rstrip("\n").split("\n")
        self.assertEqual(lines[:3], ["| day | height |", "| --- | --- |", "| 1 | 3.1 \\| 3.2 |"])
        self.assertTrue(page["truncated"])
        self.assertTrue(all(line.endswith(" |") for line in lines))
        more = self.read(
            "data/tides.csv", "--max-chars", "1000", "--offset", str(page["next_offset"])
        )["pages"][0]
        self.assertTrue(more["text"].startswith("| day | height |\n| --- | --- |\n| "))
        rows = len(lines) - 2
        self.assertRegex(page["note"], rf"^The table is cut after {rows} of \d+ rows\.$")
        self.assertTrue(more["text"].split("\n")[2].startswith(f"| {rows + 1} |"))
        raw = self.read("data/tides.csv", "--raw")["pages"][0]["text"]
        self.assertTrue(raw.startswith("day,height\n"))
        with tempfile.TemporaryDirectory() as folder:  # a file of this machine has no media type
            Path(folder, "tides.csv").write_text(raw, encoding="utf-8")
            run = call_main(read_page, f"{folder}/tides.csv")
        self.assertTrue(run.document["pages"][0]["text"].startswith("| day | height |\n"))

    def test_raw_is_the_answer_as_it_came(self) -> None:
        page = self.read("docs/timeouts", "--raw")["pages"][0]
        self.assertIn("<", page["text"][:20])
        self.assertIn("unconverted", page["note"])


class OwnersRules(SmallWebCase):
    def test_addresses_match_whatever_their_spelling(self) -> None:
        rows = [
            ("https://Docs.Example.com/a", "example.com", True),
            ("https://example.com.", "example.com", True),
            ("http://example.com:8080/x", "example.com", True),
            ("https://badexample.com", "example.com", False),
            ("https://example.com", "*.example.com", False),
            ("https://a.example.com", "*.example.com", True),
            ("https://example.com/docs/x", "example.com/docs", True),
            ("https://example.com/docsx", "example.com/docs", False),
            ("https://example.com//docs/../docs", "example.com/docs", True),
            ("https://example.com/%64ocs", "example.com/docs", True),
            ("https://example.com/docs/../secret", "example.com/docs", False),
            ("https://example.com/x/%2e%2e/docs", "example.com/docs", True),
            ("https://bücher.example", "xn--bcher-kva.example", True),
        ]
        for url, rule, expected in rows:
            with self.subTest(url, rule=rule):
                found = site_rules.matches(
                    site_rules.plain_address(url), site_rules.plain_address(rule)
                )
                self.assertEqual(found, expected)

    def test_a_blocked_site_is_neither_shown_nor_read_nor_led_to(self) -> None:
        self.set_environment(GLSI_DB_PATH=self.store, WEB_SEARCH_BLOCK_SITES="127.0.0.1/web")
        run = call_main(web_search, "sourdough", "--no-pages")
        self.assertEqual(run.document["details"]["kind"], "no_results")
        self.assertIn("WEB_SEARCH_BLOCK_SITES", run.document["error"])
        url = f"{self.server.url}/web/kitchen.example.com/bread/sourdough-starter-guide"
        for address in (url, f"https://web.archive.org/web/2024/{url}"):
            run = call_main(read_page, address)
            self.assertEqual(run.document["details"]["kind"], "refused")
            self.assertIn("does not allow", run.document["error"])

    def test_a_copy_in_the_archive_is_its_page_however_it_is_spelled(self) -> None:
        self.set_environment(WEB_SEARCH_BLOCK_SITES="evil.example,archive.org/web/1999")
        for rest in (
            "web.archive.org:80/web/2020/http://evil.example/x",
            "web.archive.org//web/2020/http://evil.example/x",
            "web.archive.org/%77eb/2020/http://evil.example/x",
            "WEB.archive.org./web/2020id_/http:/evil.example/x",
            "web.archive.org/web/2020/http%3A//evil.example/x",
            "web.archive.org/web/http%253A%252F%252Fwww.evil.example",
            "web.archive.org/web/2020*/evil.example:80/x",
            "web.archive.org/2020/https://evil.example/",
            "web.archive.org/web/2020id_/web/2020/http://evil.example/x",
            "web.archive.org/web/2020id_/save/http://evil.example/x",
            "web.archive.org/save/https://evil.example/",
            "web.archive.org/web/2020/http://web.archive.org/web/2019/http://evil.example/",
            "archive.org/web/1999/http://good.example/",
        ):
            for scheme in ("http", "https"):
                with self.subTest(rest):
                    self.assertTrue(site_rules.refusing_rule(f"{scheme}://{rest}"))
        for url in (
            "https://web.archive.org/web/2020/http://good.example/evil.example",
            "https://archive.org/details/evil.example",
            "https://good.example/web/2020/http://evil.example/",
        ):
            with self.subTest(url):
                self.assertFalse(site_rules.refusing_rule(url))
        for url in ("https://evil.example\\@good.example/", "https://user@good.example/"):
            self.assertTrue(site_rules.has_unclear_host(url))
            with self.assertRaisesRegex(SearchError, re.escape(f"does not allow {url!r}")):
                site_rules.check_site(url)
            self.assertTrue(site_rules.refusing_rule(url))
        self.assertFalse(site_rules.has_unclear_host("https://good.example/@user\\x?a@b"))
        self.set_environment(WEB_SEARCH_ALLOW_SITES="good.example,blog.archive.org")
        for url, rule in (
            ("https://web.archive.org/web/2020/http://good.example/", ""),
            ("https://web.archive.org/web/2020/http://evil.example/good.example", "ALLOW"),
            ("https://blog.archive.org/2020/05/01/title", ""),
        ):
            with self.subTest(url):
                self.assertIn(rule, site_rules.refusing_rule(url))
                self.assertEqual(bool(rule), bool(site_rules.refusing_rule(url)))

    def test_no_tool_shows_a_blocked_site(self) -> None:
        self.set_environment(GLSI_DB_PATH=self.store)
        call_main(web_search, "sourdough")
        keys = dict.fromkeys(("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY"), self.key)
        kitchen, web = "kitchen.example.com", "127.0.0.1/web"
        for blocked, left in ((f"{web}/{kitchen}", True), (web, False)):
            client = Client(
                {**self.environment, **keys, "GLSI_DB_PATH": self.store,
                 "WEB_SEARCH_BLOCK_SITES": blocked}
            )  # fmt: skip
            self.addCleanup(client.close)
            for tool in (
                "web_search",
                "google_search",
                "brave_web_search",
                "brave_context",
                "recall",
            ):
                with self.subTest(tool, blocked=blocked):
                    text = client.text(tool, query="sourdough")
                    self.assertIn("owner's rules", text)
                    self.assertNotIn(f"web/{kitchen}", text)
                    self.assertEqual("/web/" in text, left)

    def test_with_a_list_of_allowed_sites_engines_are_asked_for_them(self) -> None:
        self.set_environment(GLSI_DB_PATH=self.store, WEB_SEARCH_ALLOW_SITES="kitchen.example.com")
        self.server.clear()
        call_main(web_search, "sourdough", "--no-pages", "--engine", "duckduckgo")
        body = self.server.requests[0].body.decode()
        self.assertIn("site%3Akitchen.example.com", body)

    def test_nothing_that_a_caller_gives_changes_the_rules(self) -> None:
        self.set_environment(GLSI_DB_PATH=self.store, WEB_SEARCH_ALLOW_SITES="example.org")
        run = call_main(read_page, f"{self.server.url}/site/docs/timeouts", "--archived", "--raw")
        self.assertEqual(run.document["details"]["kind"], "refused")


if __name__ == "__main__":
    unittest.main()
