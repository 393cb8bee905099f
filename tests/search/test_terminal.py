"""The front door as a person meets it: a terminal, other commands, near misses.

The only module to notice what only a person sees.
"""

from __future__ import annotations

import json
import os
import pty
import re
import socket
import subprocess
import sys
import time
import unittest
import urllib.parse

from tests.search.scripted_web import GOOD_KEY
from tests.support import (
    PYTHON,
    SCRIPTS,
    SmallWebCase,
    clean_environment,
    load_script,
    run_script,
)
from websearch.markdown.units import PageText
from websearch.ways_in import best_passages, terminal, terminal_markdown


def plain(shown: str) -> str:
    """Return a text of a terminal without styles."""
    return re.sub(r"\x1b\[\d*m", "", shown)


class TerminalCase(SmallWebCase):
    def at_terminal(
        self,
        script: str,
        *words: str,
        typed: str | None = None,
        with_stderr: bool = False,
        **variables: str,
    ) -> tuple[int, str, str]:
        """Run a script whose stdout is a terminal; return (exit code, output, stderr).

        typed: what the person types; then standard input is the terminal, too. with_stderr: stderr
        is it, too.
        """
        main_end, other_end = pty.openpty()
        environment = clean_environment(
            **{
                **self.environment_of(self.server.url, ""),
                "GLSI_DB_PATH": self.store,
                "TERM": "xterm-256color",
                "COLUMNS": "72",
                "PAGER": "cat",
                **variables,
            }
        )
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / script), *words],
            env=environment,
            stdin=subprocess.DEVNULL if typed is None else other_end,
            stdout=other_end,
            stderr=other_end if with_stderr else subprocess.PIPE,
        )
        os.close(other_end)
        os.write(main_end, (typed or "").encode())
        shown = b""
        while piece := self.read_piece(main_end):
            shown += piece
        os.close(main_end)
        _, errors = process.communicate(timeout=60)
        return process.returncode, shown.decode().replace("\r\n", "\n"), (errors or b"").decode()

    def shown(self, *words: str, typed: str | None = None, **variables: str) -> str:
        code, shown, errors = self.at_terminal("web_search.py", *words, typed=typed, **variables)
        self.assertIn(code, (0, 2), shown)
        self.assertNotIn("Traceback", errors)
        return plain(shown)

    @staticmethod
    def read_piece(descriptor: int) -> bytes:
        try:
            return os.read(descriptor, 65_536)
        except OSError:  # Linux says so when the other end is closed
            return b""


class ForPeople(TerminalCase):
    def test_results_are_numbered_wrapped_and_without_fences(self) -> None:
        code, shown, _ = self.at_terminal("web_search.py", "sourdough starter", "-n", "2")
        self.assertEqual(code, 0, shown)
        self.assertRegex(shown, r"\x1b\[1m1\. Sourdough starter guide.*\x1b\[0m")
        self.assertRegex(
            shown, r"\x1b\[2m   http://.*(?: ·\x1b\[0m\n\x1b\[2m   | · )20\d\d-\d\d-\d\d\x1b\[0m"
        )
        self.assertNotIn("untrusted", shown)
        passages = [line for line in shown.split("\n") if line.startswith("   ")]
        self.assertTrue(passages)
        self.assertLessEqual(max(len(plain(line)) for line in passages), 72)

    def test_no_color_is_obeyed(self) -> None:
        _, shown, _ = self.at_terminal("web_search.py", "sourdough", "-n", "1", NO_COLOR="1")
        self.assertNotIn("\x1b", shown)

    def test_an_agent_at_a_terminal_gets_what_it_gets_in_a_pipe(self) -> None:
        for variables in ({"CLAUDECODE": "1"}, {"TERM": "dumb"}):
            with self.subTest(variables):
                words = ("web_search.py", "sourdough")
                _, shown, _ = self.at_terminal(*words, with_stderr=True, **variables)
                self.assertIn("untrusted page text", shown)
                self.assertNotRegex(shown, "[\x1b\r]")
        _, shown, _ = self.at_terminal(*words, with_stderr=True)
        self.assertIn("\r\x1b[K", shown)

    def test_a_terminal_of_unknown_width_has_80_columns(self) -> None:
        code, shown, _ = self.at_terminal("web_search.py", "sourdough", "-n", "1", COLUMNS="0")
        self.assertEqual(code, 0, shown)
        self.assertLessEqual(max(map(len, shown.split("\n"))), 140)  # with marks and an address

    def test_json_is_there_for_who_asks(self) -> None:
        _, shown, _ = self.at_terminal("web_search.py", "sourdough", "--format", "json")
        self.assertTrue(json.loads(shown)["ok"])

    def test_an_error_is_shown_once_as_a_line_and_a_hint(self) -> None:
        code, shown, errors = self.at_terminal("web_search.py", "x", "--engine", "bing")
        self.assertEqual((code, errors), (2, ""))
        self.assertIn("bing", shown)
        self.assertNotIn("{", shown)

    def test_the_single_files_print_json_everywhere(self) -> None:
        _, shown, _ = self.at_terminal("brave_search.py", "x")
        self.assertEqual(json.loads(shown)["details"]["kind"], "auth")

    def test_pages_and_the_doctor_are_also_shown_for_people(self) -> None:
        url = f"{self.server.url}/site/articles/lighthouse"
        _, shown, _ = self.at_terminal("read_page.py", url)
        self.assertNotIn("untrusted", shown)
        self.assertIn("\n\x1b[1mYear\x1b[0m \x1b[1m2\x1b[0m\n", shown)
        _, shown, _ = self.at_terminal("doctor.py")
        self.assertIn("python: 3.", shown)


class FirstLook(TerminalCase):
    """The output of a search for a person, and the commands for more."""

    def test_results_show_what_answers_and_with_full_all(self) -> None:
        short = self.shown("sourdough starter", "-n", "2")
        last = short.strip().split("\n")[-1]
        self.assertRegex(
            last, r"^2 results, searxng, \d+\.\d s; web_search.py open 2, --full shows all$"
        )
        full = self.shown("sourdough starter", "-n", "2", "--full")
        self.assertLess(len(short), len(full))
        self.assertNotIn("--full", full)
        self.assertNotRegex(short, r"(?m)^ *#+ |\[…\]")

    def test_the_row_that_answers_is_shown_first_with_its_head(self) -> None:
        rows = "".join(f"| Name {n} | {1900 + n} |\n" for n in range(60))
        table = f"| Player | Year |\n| --- | --- |\n{rows}| Ada Example | 1977 |\n"
        other = "An opening sentence about nothing.\n\nBread rises.\n\n[…]\n\nMore text."
        item = {"title": "A list", "url": "https://a.example/", "text": f"Opening.\n\n{table}"}
        second = {"title": "B", "url": "https://b.example/", "text": other}
        document = {"ok": True, "results": [item, second], "engine": "own"}
        view = terminal.View(is_full=False, params={"query": "in which year did Ada Example play"})
        shown = view.for_people(document, str)
        self.assertIn("\x1b[31mAda\x1b[0m \x1b[31mExample\x1b[0m", shown)
        first, other, _ = plain(shown).split("\n\n")
        lines = first.split("\n")
        self.assertRegex(lines[2], r"^   Player +Year$")
        self.assertRegex(first, r"(?m)^   Ada Example +1977$")
        self.assertLessEqual(len(lines), 2 + 12)
        self.assertNotIn("[…]", other)
        document["results"] = [dict(item) for _ in range(5)]
        self.assertLessEqual(view.for_people(document, str).count("\n") + 1, 50)

    def test_of_names_and_values_only_those_in_the_question_displace_other_tables(self) -> None:
        facts = "".join(f"| Fact {n} | of the club |\n" for n in range(12))
        coaches = "".join(f"| Coach {n} | {1900 + n} |\n" for n in range(7))
        text = f"| Head coach | Ada |\n| --- | --- |\n| Head coach | Ada |\n{facts}\n"
        text += f"## Head coaches\n\n| Name | Since | Club |\n| --- | --- | --- |\n{coaches}"
        shown = self.passages("head coach of the longest time", text)
        self.assertIn("Coach 6  1906", shown)
        self.assertIn("Head coach  Ada", shown)
        self.assertIn("\n   …\n", shown)  # other facts are omitted

    def test_rows_of_the_page_s_subject_do_not_displace_the_sentence_that_answers(self) -> None:
        facts = ("Date | 26 October", "Course | A street", "Weather | Sunny", "Third | Ada | Red")
        table = "".join(f"| {fact} |\n" for fact in facts)
        text = f"| 1986 Kettle Race | | |\n| --- | --- | --- |\n{table}\nBo won by a lap.\n"
        shown = self.passages("who won the 1986 Kettle Race", text, "1986 Kettle Race")
        self.assertIn("Race\n   https://a.example/\n   Bo won by a lap.\n", shown)

    def test_a_row_s_neighbors_count_if_the_question_asks_for_one(self) -> None:
        page = PageText("| A | B | C |\n|---|---|---|\n" + "| aa | bb | cc |\n" * 4, "")
        for asked, last in (
            ("what came after bb", [1.0, 1.0, 1.0, 0.1]),
            ("bb", [0.2, 1.0, 0.3, 0.1]),
        ):
            self.assertEqual(best_passages.by_row(page, [0.2, 1.0, 0.3, 0.1], asked), last)

    def passages(self, question: str, text: str, title: str = "A list") -> str:
        """Return what a person sees of a single result for a question."""
        item = {"title": title, "url": "https://a.example/", "text": text}
        view = terminal.View(is_full=False, params={"query": question})
        return plain(view.for_people({"ok": True, "results": [item]}, str))

    def test_a_question_that_nothing_answers_is_named_at_the_end(self) -> None:
        source = {"title": "A", "url": "https://a.example/", "text": "Rye bread.", "queries": [1]}
        found = {"title": "B", "url": "https://b.example/", "snippet": "Flour.", "queries": [2]}
        queries = [{"query": "rye bread"}, {"query": "unicorn gliding"}]
        document = {"ok": True, "sources": [source, found], "queries": queries}
        shown = plain(terminal.View(is_full=False).for_people(document, str))
        self.assertIn("https://a.example/ · answers 1", shown)
        self.assertIn("https://b.example/ · found for 2", shown)
        self.assertEqual(shown.split("\n\n")[-2], "No page answers:\n2. unicorn gliding")

    def test_the_words_of_the_query_are_highlighted(self) -> None:
        _, shown, _ = self.at_terminal("web_search.py", "sourdough starter", "-n", "1")
        self.assertIn("\x1b[31msourdough\x1b[0m", shown)

    def test_results_are_opened_and_read_by_number(self) -> None:
        for words in (("open", "2"), ("read", "2")):
            self.assertIn("No results from an earlier search are stored.", self.shown(*words))
        found = self.shown("sourdough starter", "-n", "2")
        urls = re.findall(r"http://\S+", found)
        title = re.findall(r"(?m)^2\. (.*)", found)[0]
        self.server.clear()
        opened = f"{self.store}.opened"
        shown = self.shown("open", "2", BROWSER=f'sh -c "echo $0 > {opened}" %s')
        self.assertEqual(shown, f"Opened 2: {title}\n{urls[1]}\n")
        with open(opened, encoding="utf-8") as file:
            self.assertEqual(file.read().strip(), urls[1])
        self.assertIn(urls[1], self.shown("read", "2", "--outline"))
        self.assertIn("Pass a number from 1 to 2.", self.shown("read", "3"))
        self.assertEqual([each for each in self.server.requests if "search" in each.target], [])
        shown = self.shown("sourdough", "-n", "1", "--open", "1", BROWSER="true")
        self.assertIn("Opened 1: ", shown)
        self.shown("cache", "clear")
        self.assertIn("No results from an earlier search are stored.", self.shown("open", "1"))

    def test_results_that_may_not_be_stored_are_not_kept(self) -> None:
        self.shown("rye", "-n", "1", "--no-pages")
        key = {"BRAVE_SEARCH_API_KEY": GOOD_KEY}
        self.shown("sourdough", "-n", "1", "--no-pages", "--engine", "brave", **key)
        self.assertIn("No results from an earlier search are stored.", self.shown("open", "1"))

    def test_text_longer_than_the_screen_goes_to_the_pager(self) -> None:
        pager = "sed s/^/paged:/"
        variables = {"PAGER": pager, "LINES": "10"}
        self.assertIn("paged:1. ", self.shown("sourdough", "-n", "2", **variables))
        self.assertNotIn("paged:", self.shown("sourdough", "-n", "2", "--no-pager", **variables))
        self.assertNotIn("paged:", self.shown("version", **variables))
        self.assertIn("1. ", self.shown("sourdough", "-n", "2", PAGER="no-such-pager", LINES="10"))

    def test_a_brief_names_the_questions_that_each_source_answers(self) -> None:
        shown = self.shown("brief", "sourdough starter", "zzqx unicorn gliding")
        self.assertIn("1. sourdough starter\n2. zzqx unicorn gliding (", shown)
        self.assertRegex(shown, r"(?m)answers 1$")

    def test_undated_results_say_so_if_a_period_was_set(self) -> None:
        results = [{"title": "Of 2020", "url": "https://a.example/"}]
        document = {"ok": True, "engine": "arxiv", "results": results}
        for params, is_said in (({"since": "week"}, True), ({}, False)):
            shown = plain(terminal.View(params=params).for_people(document, str))
            self.assertEqual("https://a.example/ · no date" in shown, is_said)


class Markdown(unittest.TestCase):
    """Markdown as lines of a terminal."""

    def lines(self, markdown: str, width: int = 30) -> list[str]:
        return [plain(line) for line in terminal_markdown.Renderer(width, []).lines(markdown)]

    def test_marks_become_styles(self) -> None:
        [line] = terminal_markdown.Renderer(60, []).lines("a **b** *c* `d` [e](https://f.example/)")
        wanted = "a \x1b[1mb\x1b[0m \x1b[3mc\x1b[0m \x1b[35md\x1b[0m e"
        self.assertEqual(line, f"{wanted} \x1b[2m(https://f.example/)\x1b[0m")
        self.assertEqual(self.lines("## Head"), ["Head"])
        self.assertEqual(self.lines("**`a` b**"), ["a b"])

    def test_cells_of_a_table_are_wrapped_and_not_its_rows(self) -> None:
        table = "| name | what it means |\n|---|---|\n| a | one two three four five six |\n| b |"
        self.assertEqual(self.lines(table, 24), [
            "name  what it means", "a     one two three four", "      five six", "b",
        ])  # fmt: skip
        many = "|" + "head|" * 9 + "\n|" + "-|" * 9 + "\n|" + "cell|" * 9
        self.assertEqual(self.lines(many)[0], "head: cell · head: cell ·")

    def test_columns_are_as_wide_as_they_need(self) -> None:
        words = "one two three four five six seven eight nine"
        table = f"| no | price | empty | text |\n|---|---|---|---|\n| 1 | 1,234.50 | | {words} |"
        self.assertEqual(self.lines(table, 30), [
            "no  price     text", "1   1,234.50  one two three",
            "              four five six", "              seven eight nine",
        ])  # fmt: skip
        table = "| name | x | y |\n|---|---|---|\n| unforgettable | one two three four | five six |"
        self.assertEqual(self.lines(table, 34)[1], "unforgettable  one two    five six")
        table = f"| no | price | empty | text |\n|---|---|---|---|\n| 1 | 1,234.50 | | {words} |"
        wide = terminal_markdown.Renderer(20, [], 60).lines(table)
        self.assertEqual(plain(wide[1]), f"1   1,234.50  {words}")

    def test_a_line_of_code_in_three_backticks_opens_no_block(self) -> None:
        self.assertEqual(self.lines("```npm install```\n\n- **a**"), ["npm install", "", "- a"])
        self.assertEqual(
            self.lines("- b\n    ```\n    x\n    ```\n**c**"), ["- b", "        x", "c"]
        )

    def test_lists_keep_their_indentation_and_code_is_as_it_is(self) -> None:
        text = "- one two three four five six seven\n  - nested one two three four five"
        self.assertEqual(self.lines(text), [
            "- one two three four five six", "  seven", "  - nested one two three four", "    five",
        ])  # fmt: skip
        code = "x = 1  # " + "long " * 9
        self.assertEqual(self.lines(f"```py\n{code}\n**a**\n```"), [f"    {code}", "    **a**"])

    def test_wide_characters_take_two_columns(self) -> None:
        self.assertEqual(self.lines("\u4e2d" * 20), ["\u4e2d" * 15, "\u4e2d" * 5])


class HelpAndSettings(TerminalCase):
    def test_without_words_the_help_lists_every_command(self) -> None:
        front_door = load_script("websearch.ways_in.front_door")
        for words in ((), ("help",), ("--help",)):
            shown = self.shown(*words, COLUMNS="100")
            for name in ("search", "brief", "recall", "check", "batch", "open", *front_door.OTHERS):
                self.assertRegex(shown, rf"(?m)^  {name} +\w")
            self.assertLessEqual(max(map(len, shown.split("\n"))), 100)
            self.assertIn("--open N: ", shown)
            self.assertIn("--urls: ", shown)

    def test_it_is_called_as_it_was_started(self) -> None:
        shown = self.shown("help", WEB_SEARCH_PROGRAM="web-search")
        self.assertIn("usage: web-search 'QUESTION'", shown)
        self.assertNotIn("web_search.py", shown)
        shown = self.shown("help", "read", WEB_SEARCH_PROGRAM="web-search")
        self.assertIn("usage: web-search read 'URLS'", shown)
        self.assertLessEqual(max(map(len, shown.split("\n"))), 72)
        for name in ("check", "key", "open"):
            shown = self.shown("help", name, WEB_SEARCH_PROGRAM="web-search")
            self.assertIn(f"usage: web-search {name} ", shown)

    def test_who_pipes_at_a_terminal_gets_the_overview_and_a_note_on_json(self) -> None:
        def piped(*words: str) -> tuple[str, str]:
            main_end, other_end = pty.openpty()
            environment = clean_environment(
                **self.environment_of(self.server.url, ""), GLSI_DB_PATH=self.store, TERM="xterm"
            )
            command = [*PYTHON, str(SCRIPTS / "web_search.py"), *words]
            run = subprocess.run(command, env=environment, stdout=-1, stderr=other_end, check=False)
            os.close(other_end)
            said = self.read_piece(main_end).decode()
            os.close(main_end)
            return run.stdout.decode(), said

        text, said = piped("--help")
        self.assertRegex(text, r"(?m)\Ausage: web_search.py 'QUESTION'(?:.|\n)*^Look back$")
        self.assertIn("usage: web_search.py read 'URLS'", piped("help", "read")[0])
        text, said = piped("recall", "otter")
        self.assertFalse(json.loads(text)["ok"])
        self.assertIn("For text, add --md", said)
        for flag in ("--json", "--md"):
            self.assertNotIn("For text", piped("recall", "otter", flag)[1])

    def test_words_about_the_program_never_go_to_an_engine(self) -> None:
        for words in (
            ("help", "read"),
            ("help", "brief"),
            ("help", "open"),
            ("help", "nope"),
            ("history",),
        ):
            self.shown(*words)
            run = self.run_script("web_search.py", *words)
            self.assertIn(run.code, (0, 2))
        self.assertEqual(self.server.requests, [])

    def test_config_shows_each_setting_and_where_it_comes_from(self) -> None:
        key = {"SERPER_API_KEY": "secret-key-12345"}
        shown = self.shown("config", COLUMNS="100", WEB_SEARCH_LOG="/nowhere/log", **key)
        self.assertRegex(shown, r"count +5 +default")
        self.assertRegex(shown, r"WEB_SEARCH_LOG +/nowhere/log +the environment")
        self.assertRegex(shown, r"SERPER_API_KEY +set +the environment")
        self.assertNotIn("secret-key", shown)
        for words in (("config", "set", "count", "3"), ("key", "unset", "SERPER_API_KEY")):
            said = r"(?s)Write lines.*secrets\.yaml|Pass list, or set or remove"
            self.assertRegex(self.shown(*words), said)

    def test_the_store_is_cleared_after_a_yes_only(self) -> None:
        self.shown("sourdough", "-n", "1")
        self.assertNotIn("Removed", self.shown("cache", "clear", typed="\n"))
        self.assertIn("- answers: 1\n- pages: 1\n", self.shown("cache", "stats"))
        self.assertIn("Removed", self.shown("cache", "clear", typed="y\n"))
        self.assertIn("- pages: 0", self.shown("cache", "stats"))

    def test_receipts_and_errors_are_sentences(self) -> None:
        path = os.path.join(os.path.dirname(os.path.dirname(self.store)), "saved.md")
        url = f"{self.server.url}/site/articles/lighthouse"
        shown = self.shown("read", url, "--md", "--max-chars", "2000", "--output", path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(shown, f"Wrote {len(text.encode()):,} bytes to {path}.\n")
        self.assertLess(len(text), 2_100)
        self.assertNotIn("untrusted", text)
        self.shown("sourdough", "-n", "2", "--md", "--output", path)
        with open(path, encoding="utf-8") as file:
            self.assertIn("untrusted", file.read())
        self.assertEqual(
            self.shown("completion"), "completion needs a shell.\nPass bash, zsh or fish.\n"
        )
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            shown = self.shown("serve", "--port", port)
        self.assertNotIn("{", shown)
        self.assertIn(port, shown)


class FrontDoor(TerminalCase):
    def run_words(self, *words: str) -> tuple[int, str]:
        run = self.run_script("web_search.py", *words)
        return run.code, run.stdout.decode()

    def test_it_starts_the_other_commands(self) -> None:
        url = f"{self.server.url}/site/articles/lighthouse"
        rows = (
            (("read", url), '"provider":"read_page"'),
            (("doctor",), '"provider":"doctor"'),
            (("config",), '"provider":"doctor"'),
            (("key", "list"), '"provider":"doctor"'),
        )
        for words, part in rows:
            with self.subTest(words):
                self.assertIn(part, self.run_words(*words)[1])

    def test_command_like_words_never_start_a_search(self) -> None:
        self.assertIn("Examples:", self.run_words("help")[1])
        self.assertRegex(self.run_words("version")[1], r"^web_search.py \d+\.\d+\.\d+\n$")
        code, text = self.run_words("https://example.org/page")
        self.assertEqual(code, 2)
        self.assertIn("To read this page, use read_page.", text)
        self.assertEqual(self.server.requests, [])

    def test_json_in_place_of_a_query_is_its_parameters(self) -> None:
        code, text = self.run_words('{"query": "sourdough", "count": 1}', "--no-pages")
        self.assertEqual(code, 0, text)
        self.assertEqual(len(json.loads(text)["results"]), 1)

    def test_a_mistyped_command_is_named_and_nothing_is_sent(self) -> None:
        for words in (("seach", "rust"), ("recal", "x"), ("breif", "a", "b"), ("docter", "now")):
            with self.subTest(words):
                code, text = self.run_words(*words)
                self.assertEqual(code, 2, text)
                self.assertIn("did you mean", text)
        self.assertEqual(self.server.requests, [])

    def test_commands_of_other_scripts_are_named_with_alternatives(self) -> None:
        code, text = self.run_words("news", "python")
        hint = json.loads(text)["details"]["hint"]
        self.assertEqual(code, 2)
        self.assertIn("web_search.py 'QUERY' --since week", hint)
        self.assertIn("--focus news uses Brave and Serper", hint)
        self.assertEqual(self.server.requests, [])
        self.assertEqual(self.run_words("news python", "--no-pages")[0], 0)

    def test_search_and_web_are_one_command(self) -> None:
        key = {"BRAVE_SEARCH_API_KEY": "k" * 20, "SERPER_API_KEY": "k" * 20}
        rows = {"web_search.py": "web", "brave_search.py": "search", "serper_search.py": "web"}
        for script, word in rows.items():
            for words in ([word, "rye"], [word, "--params-json", '{"query": "rye"}']):
                run = self.run_script(script, *words, "--dry-run", **key)
                with self.subTest(script, words=words):
                    self.assertRegex(run.stdout.decode(), r'q(uery)?(=|": ?")rye')
        run = self.run_script("brave_search.py", "search", "engines", "now", "--dry-run", **key)
        self.assertIn("q=search+engines+now", run.document["request"]["url"])

    def test_too_few_characters_are_refused(self) -> None:
        code, text = self.run_words("sourdough", "--max-chars", "10")
        self.assertEqual(code, 2)
        self.assertIn("max_chars must be 0 or 500 or more, not 10.", text)

    def test_a_dash_reads_standard_input(self) -> None:
        url = f"{self.server.url}/site/articles/lighthouse"
        environment = {**self.environment_of(self.server.url, ""), "GLSI_DB_PATH": self.store}
        rows = (
            ("web_search.py", ("-", "--no-pages"), "sourdough starter\n", "results"),
            ("web_search.py", ("brief", "-"), "sourdough\n\ntides of the sea\n", "sources"),
            ("read_page.py", ("-",), f"{url}\n{url}?2\n", "pages"),
        )
        for script, words, stdin, part in rows:
            with self.subTest(words):
                run = run_script(script, *words, env=environment, stdin=stdin)
                self.assertEqual(run.code, 0, run.document)
                self.assertGreater(len(run.document[part]), 1)
        run = run_script("web_search.py", "-", env=environment, stdin="\n")
        self.assertEqual(run.code, 2)
        self.assertEqual(run.document["error"], "Standard input is empty.")

    def test_a_search_that_fails_names_what_the_store_holds(self) -> None:
        self.run_words("read", f"{self.server.url}/site/articles/sourdough")
        nobody = {"DUCKDUCKGO_BASE_URL": "http://127.0.0.1:9"}  # where nothing listens
        for query, is_stored in (("the gluten network", True), ("gluten unicorn", False)):
            run = self.run_script("web_search.py", query, "--engine", "duckduckgo", **nobody)
            self.assertEqual((run.code, run.document["details"]["kind"]), (5, "network"))
            hint = "1 stored page contains these words: use recall."
            with self.subTest(query):
                self.assertEqual(hint in run.document["details"]["hint"], is_stored)

    def test_an_engine_whose_connection_is_refused_is_asked_once(self) -> None:
        nobody = {"SEARXNG_BASE_URL": "http://127.0.0.1:9"}  # where nothing listens
        began = time.monotonic()
        run = self.run_script("web_search.py", "rye", "--engine", "searxng", **nobody,
                              GLSI_RATE_LIMIT="10s")  # fmt: skip
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "network"))
        self.assertLess(time.monotonic() - began, 15)  # two more tries would wait 20 s

    def test_the_user_s_defaults_apply_unless_a_call_sets_others(self) -> None:
        secrets = os.path.join(os.path.dirname(os.path.dirname(self.store)), "secrets.yaml")
        lines = {"COUNT": "2", "COUNTRY": "de", "ENGINE": "duckduckgo", "FORMAT": "markdown"}
        with open(secrets, "w", encoding="utf-8") as file:
            file.writelines(f"DEFAULT_{name}: {value}\n" for name, value in lines.items())
        os.chmod(secrets, 0o600)

        def asked(*words: str) -> tuple[str, dict[str, str]]:
            run = self.run_script("web_search.py", *words, WEB_SEARCH_SECRETS=secrets)
            [request] = self.server.requests
            self.server.clear()
            body = dict(urllib.parse.parse_qsl(request.body.decode()))
            return run.stdout.decode(), {**dict(request.query_pairs), **body}

        shown, pairs = asked("sourdough", "--no-pages")
        self.assertEqual((pairs["kl"], shown.count("## http")), ("de-de", 2))
        shown, pairs = asked("rye", "--no-pages", "--country", "fr", "-n", "1", "--format=json")
        self.assertEqual((pairs["kl"], len(json.loads(shown)["results"])), ("fr-fr", 1))
        shown, _ = asked("rye bread", "--urls")
        self.assertRegex(shown, r"\A(http://\S+\n){2}\Z")
        shown, _ = asked("batch", "--queries", "rye grain", "--no-pages", "--ordered")
        self.assertEqual(json.loads(shown)["input"], "rye grain")
        listed = f"{self.store}.txt"
        with open(listed, "w", encoding="utf-8") as file:
            file.write(f"{self.server.url}/site/articles/lighthouse\n")
        shown, _ = asked("read", "--urls-from", listed)
        self.assertTrue(json.loads(shown)["ok"])
        _, pairs = asked("rye", "--no-pages", "--engine", "wikipedia")  # which knows no countries
        self.assertEqual(pairs["srlimit"], "2")
        for words in (("help",), ("version",)):  # not questions, even with a default format
            run = self.run_script("web_search.py", *words, WEB_SEARCH_SECRETS=secrets)
            self.assertIn("web_search.py", run.stdout.decode())
        run = self.run_script("web_search.py", "cache", "stats", WEB_SEARCH_SECRETS=secrets)
        self.assertIn("\n- answers: ", run.stdout.decode())
        self.assertEqual(self.server.requests, [])
        shown, pairs = asked('{"query": "bread", "no_pages": true}')
        self.assertEqual((pairs["q"], "## http" in shown), ("bread", True))
        with open(secrets, "a", encoding="utf-8") as file:
            file.write("DEFAULT_COUNT: many\n")
        run = self.run_script("web_search.py", "x", "--format=json", WEB_SEARCH_SECRETS=secrets)
        self.assertEqual(run.code, 2)
        self.assertRegex(run.document["error"], "^DEFAULT_COUNT in secrets.yaml: .*'many'")

    def test_a_refusal_names_the_default_that_is_refused(self) -> None:
        secrets = os.path.join(os.path.dirname(os.path.dirname(self.store)), "secrets.yaml")
        for name, value in (("DEFAULT_COUNTRY", "atlantis"), ("DEFAULT_ENGINE", "auto,wikipedia")):
            lines = f"DEFAULT_COUNT: 2\n{name}: {value}\n"
            with open(secrets, "w", encoding="utf-8") as file:
                file.write(lines)
            run = self.run_script("web_search.py", "x", WEB_SEARCH_SECRETS=secrets)
            self.assertEqual(run.code, 2, lines)
            self.assertRegex(run.document["error"], f"^{name} in secrets.yaml: .*'{value}'")

    def test_a_question_after_an_address_is_asked_of_the_page(self) -> None:
        url = f"{self.server.url}/site/articles/sourdough"
        run = self.run_script("read_page.py", url, "what does the gluten network do")
        self.assertEqual(run.document["query"], "what does the gluten network do")
        self.assertEqual(len(run.document["pages"]), 1)

    def test_closed_streams_are_not_an_error(self) -> None:
        script = str(SCRIPTS / "web_search.py")
        for closed in ("<&-", "2>&-", "<&- 2>&-"):
            command = f"exec {sys.executable} {script} version {closed}"
            run = subprocess.run(["sh", "-c", command], env=clean_environment(), check=False)
            with self.subTest(closed):
                self.assertEqual(run.returncode, 0)

    def test_urls_prints_only_urls(self) -> None:
        code, text = self.run_words("sourdough starter", "--urls", "-n", "2")
        self.assertEqual(code, 0)
        self.assertRegex(text, r"\A(http://\S+\n){2}\Z")
        code, text = self.run_words("sourdough", "--urls", "--since", "never")
        self.assertEqual((code, json.loads(text)["ok"]), (2, False))

    def test_open_shows_a_result_in_the_browser(self) -> None:
        opened = f"{self.store}.opened"
        browser = f'sh -c "echo $0 > {opened}" %s'
        words = ("sourdough starter", "--no-pages", "--format", "json", "-n", "2")
        _, text = self.run_words(*words)
        urls = [item["url"] for item in json.loads(text)["results"]]
        for more in ((), ("--format", "json")):
            run = self.run_script(
                "web_search.py", *words[:2], *more, "--open", "2", BROWSER=browser
            )
            self.assertEqual(run.code, 0, run.stderr)
            with open(opened, encoding="utf-8") as file:
                self.assertEqual(file.read().strip(), urls[1])
            os.remove(opened)
        for number, words in (("0", ""), ("x", "number of a result"), ("4", "are 2 results")):
            more = ("--open", number, "-n", "2")
            run = self.run_script(
                "web_search.py", "sourdough", "--no-pages", *more, BROWSER=browser
            )
            with self.subTest(number):
                self.assertEqual(run.code, 2)
                self.assertIn(words, run.document["error"])
        run = self.run_script("web_search.py", "sourdough", "--no-pages", "-n", "1", "--open", "2")
        self.assertIn("there is 1 result.", run.document["error"])
        self.assertFalse(os.path.exists(opened))

    def test_shells_complete_its_words(self) -> None:
        _, script = self.run_words("completion", "bash")
        for line, at, wanted in (
            ("web-search rec", 1, {"recall"}),
            ("web-search search --sit", 2, {"--site"}),
            ("web-search brief --que", 2, set()),
            ("web-search cache --o", 2, {"--output"}),
            ("web-search read --outl", 2, {"--outline"}),
            ("web-search serve --tok", 2, {"--token-file"}),
            ("web-search brief --engine wiki", 3, {"wikipedia"}),
            ("web-search brief --engine key", 3, {"keyless"}),
            ("web-search completion f", 2, {"fish"}),
            ("web-search rye --since w", 3, {"week"}),
            ("web-search brief --focus pap", 3, {"papers"}),
            ("web-search cache st", 2, {"stats"}),
            ("web-search key rem", 2, {"remove"}),
            ("web-search key set SERPER", 3, {"SERPER_API_KEY"}),
        ):
            words = " ".join(map(repr, line.split()))
            asked = f"{script}\nCOMP_WORDS=({words}); COMP_CWORD={at}; _web_search"
            told = subprocess.run(
                ["bash", "-c", f'{asked}; echo "${{COMPREPLY[@]}}"'],
                capture_output=True,
                check=True,
                text=True,
            )
            with self.subTest(line):
                self.assertEqual(set(told.stdout.split()), wanted, told.stderr)
        for shell, part in (("zsh", "bashcompinit"), ("fish", "complete -c web-search")):
            self.assertIn(part, self.run_words("completion", shell)[1])
        code, text = self.run_words("completion", "tcsh")
        self.assertEqual(
            (code, json.loads(text)["details"]["hint"]), (2, "Pass bash, zsh or fish.")
        )

    def test_help_config_and_key_in_a_pipe_do_what_they_say(self) -> None:
        self.server.clear()
        code, text = self.run_words("help", "search", "--md")
        self.assertEqual((code, text[:13]), (0, "usage: web_se"))
        self.assertEqual(self.server.requests, [])
        self.assertIn("| Setting | Value |", self.run_words("config", "--md")[1])
        code, text = self.run_words("key")
        self.assertEqual((code, "keys" in json.loads(text)), (0, True))

    def test_each_command_that_the_help_names_has_its_help(self) -> None:
        listed = re.search(r"More commands: (.*?) \(", self.run_words("--help")[1])
        assert listed
        for command in listed[1].split(", "):
            with self.subTest(command):
                code, text = self.run_words(command, "--help")
                self.assertEqual((code, text[:7]), (0, "usage: "))

    def test_a_question_of_unquoted_words_is_searched(self) -> None:
        code, text = self.run_words("sourdough", "starter", "--no-pages")
        self.assertEqual(code, 0)
        self.assertTrue(json.loads(text)["ok"])
        request = self.server.requests[0]
        self.assertIn("q=sourdough+starter", f"{request.target} {request.body.decode()}")


if __name__ == "__main__":
    unittest.main()
