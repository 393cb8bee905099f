"""The front door as a person meets it: a terminal, other commands, near misses.

The only module to notice what only a person sees.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import unittest
import urllib.parse

from tests.support import PYTHON, SCRIPTS, SmallWebCase, clean_environment, run_script


class TerminalCase(SmallWebCase):
    def at_terminal(self, script: str, *words: str, **variables: str) -> tuple[int, str, str]:
        """Run a script whose stdout is a terminal; return (exit code, what it shows, stderr)."""
        main_end, other_end = pty.openpty()
        environment = clean_environment(
            **{
                **self.environment_of(self.server.url, ""),
                "GLSI_DB_PATH": self.store,
                "TERM": "xterm-256color",
                "COLUMNS": "72",
                **variables,
            }
        )
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / script), *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=other_end,
            stderr=subprocess.PIPE,
        )
        os.close(other_end)
        shown = b""
        while piece := self.read_piece(main_end):
            shown += piece
        os.close(main_end)
        _, errors = process.communicate(timeout=60)
        return process.returncode, shown.decode().replace("\r\n", "\n"), errors.decode()

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
        self.assertRegex(shown, r"\x1b\[2m   http://.* · 20\d\d-\d\d-\d\d\x1b\[0m")
        self.assertNotIn("untrusted", shown)
        passages = [line for line in shown.split("\n") if line.startswith("   ")]
        self.assertTrue(passages)
        self.assertLessEqual(max(map(len, passages)), 72)

    def test_without_colour_where_none_is_wanted(self) -> None:
        _, shown, _ = self.at_terminal("web_search.py", "sourdough", "-n", "1", NO_COLOR="1")
        self.assertNotIn("\x1b", shown)

    def test_an_agent_at_a_terminal_gets_what_it_gets_in_a_pipe(self) -> None:
        for variables in ({"CLAUDECODE": "1"}, {"TERM": "dumb"}):
            with self.subTest(variables):
                _, shown, _ = self.at_terminal("web_search.py", "sourdough", **variables)
                self.assertIn("untrusted page text", shown)
                self.assertNotIn("\x1b", shown)

    def test_a_terminal_that_does_not_know_its_width_is_a_usual_one(self) -> None:
        code, shown, _ = self.at_terminal("web_search.py", "sourdough", "-n", "1", COLUMNS="0")
        self.assertEqual(code, 0, shown)
        self.assertLessEqual(max(map(len, shown.split("\n"))), 140)  # with marks and an address

    def test_json_is_there_for_who_asks(self) -> None:
        _, shown, _ = self.at_terminal("web_search.py", "sourdough", "--format", "json")
        self.assertTrue(json.loads(shown)["ok"])

    def test_an_error_is_one_line_and_one_hint_and_is_shown_once(self) -> None:
        code, shown, errors = self.at_terminal("web_search.py", "x", "--engine", "bing")
        self.assertEqual((code, errors), (2, ""))
        self.assertIn("bing", shown)
        self.assertNotIn("{", shown)

    def test_the_single_files_print_json_everywhere(self) -> None:
        _, shown, _ = self.at_terminal("brave_search.py", "x")
        self.assertEqual(json.loads(shown)["details"]["kind"], "auth")

    def test_pages_and_the_doctor_are_shown_for_people_too(self) -> None:
        url = f"{self.server.url}/site/articles/lighthouse"
        _, shown, _ = self.at_terminal("read_page.py", url)
        self.assertNotIn("untrusted", shown)
        self.assertIn("\x1b[1m#", shown)
        _, shown, _ = self.at_terminal("doctor.py")
        self.assertIn("python: 3.", shown)


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

    def test_words_that_are_no_questions_cost_no_search(self) -> None:
        self.assertIn("Examples:", self.run_words("help")[1])
        self.assertRegex(self.run_words("version")[1], r"^web_search.py \d+\.\d+\.\d+\n$")
        code, text = self.run_words("https://example.org/page")
        self.assertEqual(code, 2)
        self.assertIn("The command read reads the page", text)
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

    def test_commands_of_other_scripts_are_named_with_the_keyless_way(self) -> None:
        code, text = self.run_words("news", "python")
        hint = json.loads(text)["details"]["hint"]
        self.assertEqual(code, 2)
        self.assertIn("web_search.py 'QUERY' --since week", hint)
        self.assertIn("serper_search.py news", hint)
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
        self.assertEqual(run.document["error"], "Standard input held nothing.")

    def test_a_search_that_fails_names_what_the_store_holds(self) -> None:
        self.run_words("read", f"{self.server.url}/site/articles/sourdough")
        nobody = {"DUCKDUCKGO_BASE_URL": "http://127.0.0.1:9"}  # where nothing listens
        for query, is_stored in (("the gluten network", True), ("gluten unicorn", False)):
            run = self.run_script("web_search.py", query, "--engine", "duckduckgo", **nobody)
            self.assertEqual((run.code, run.document["details"]["kind"]), (5, "network"))
            hint = "1 stored page holds these words: recall shows them."
            with self.subTest(query):
                self.assertEqual(hint in run.document["details"]["hint"], is_stored)

    def test_the_users_defaults_hold_until_a_call_gives_others(self) -> None:
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
        _, pairs = asked("rye", "--no-pages", "--engine", "wikipedia")  # which knows no countries
        self.assertEqual(pairs["srlimit"], "2")
        for words in (("help",), ("version",)):  # are no questions with a default format either
            run = self.run_script("web_search.py", *words, WEB_SEARCH_SECRETS=secrets)
            self.assertIn("web_search.py", run.stdout.decode())
        self.assertEqual(self.server.requests, [])
        shown, pairs = asked('{"query": "bread", "no_pages": true}')
        self.assertEqual((pairs["q"], "## http" in shown), ("bread", True))
        with open(secrets, "a", encoding="utf-8") as file:
            file.write("DEFAULT_COUNT: many\n")
        run = self.run_script("web_search.py", "x", "--format=json", WEB_SEARCH_SECRETS=secrets)
        self.assertEqual(run.code, 2)
        self.assertIn("secrets.yaml: DEFAULT_COUNT: many.", run.document["details"]["hint"])

    def test_a_question_after_an_address_is_asked_of_the_page(self) -> None:
        url = f"{self.server.url}/site/articles/sourdough"
        run = self.run_script("read_page.py", url, "what does the gluten network do")
        self.assertEqual(run.document["query"], "what does the gluten network do")
        self.assertEqual(len(run.document["pages"]), 1)

    def test_closed_streams_are_no_defect(self) -> None:
        script = str(SCRIPTS / "web_search.py")
        for closed in ("<&-", "2>&-", "<&- 2>&-"):
            command = f"exec {sys.executable} {script} version {closed}"
            run = subprocess.run(["sh", "-c", command], env=clean_environment(), check=False)
            with self.subTest(closed):
                self.assertEqual(run.returncode, 0)

    def test_urls_prints_addresses_alone(self) -> None:
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
        for number, words in (("0", ""), ("x", "a result's number"), ("4", "are 2 results")):
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
            (code, json.loads(text)["details"]["hint"]), (2, "Give bash, zsh or fish.")
        )

    def test_a_question_of_unquoted_words_is_searched(self) -> None:
        code, text = self.run_words("sourdough", "starter", "--no-pages")
        self.assertEqual(code, 0)
        self.assertTrue(json.loads(text)["ok"])
        request = self.server.requests[0]
        self.assertIn("q=sourdough+starter", f"{request.target} {request.body.decode()}")


if __name__ == "__main__":
    unittest.main()
