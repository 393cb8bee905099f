"""scripts/doctor.py: each line true, each that is not ok with what to do, no key ever shown.

The only module to notice a line of the doctor that is not true.
"""

from __future__ import annotations

import functools
import json
import os
import pty
import re
import shutil
import subprocess
import time
import unittest
from typing import TYPE_CHECKING, Any

import doctor as command
from tests.fake_server.server import FakeServer
from tests.support import (
    CANARY,
    PYTHON,
    ROOT,
    SCRIPTS,
    SLACK,
    EnvironmentCase,
    add_engine,
    call_main,
    clean_environment,
    load_script,
    new_folder,
    run_script,
)
from websearch.engines import table as engines
from websearch.engines.base import messages, pacing
from websearch.machine import doctor

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support import Run


STATUSES = {"ok", "warning", "failed"}
NO_ADDRESS = "http://127.0.0.1:9"  # nothing listens there


def lines_of(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The lines of a report that have a name."""
    return [line for line in document["checks"] if line["name"] == name]


def read_terminal(descriptor: int) -> bytes:
    """The next bytes of a terminal; b"" if its other end is closed, which is EIO on Linux."""
    try:
        return os.read(descriptor, 65_536)
    except OSError:
        return b""


class DoctorCase(EnvironmentCase):
    """A test case with a home folder of its own."""

    def setUp(self) -> None:
        self.home = new_folder(self)
        super().setUp()
        self.set_environment(HOME=str(self.home))

    def check(self, *arguments: str, **variables: str) -> dict[str, Any]:
        """Run the checks in this process with additional variables; return the document."""
        self.set_environment(**{"HOME": str(self.home), **variables})
        run = call_main(command, *arguments)
        self.assert_sound(run)
        document: dict[str, Any] = run.document
        return document

    def assert_sound(self, run: Run) -> None:
        """What every report keeps: one document, a hint for each line that is not ok, no key."""
        self.assertNotIn(CANARY, run.stdout.decode() + run.stderr)
        self.assertEqual(run.document["provider"], "doctor")
        self.assertEqual(run.code == 0, run.document["ok"], run.document.get("error"))
        for line in run.document["checks"]:
            self.assertIn(line["status"], STATUSES)
            self.assertTrue(line["message"].strip(), line)
            self.assertEqual("hint" in line, line["status"] != "ok", line)
            self.assertLessEqual(set(line), {"name", "status", "message", "hint"})

    def line(self, name: str, *arguments: str, **variables: str) -> dict[str, Any]:
        """The one line of a name."""
        found = lines_of(self.check(*arguments, **variables), name)
        self.assertEqual(len(found), 1, found)
        return found[0]

    def write_secrets(self, text: str, mode: int = 0o600) -> Path:
        """Write secrets.yaml to where it is looked for."""
        path = self.home / ".config/web-search/secrets.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path


class Report(DoctorCase):
    def test_without_keys_a_search_works_and_missing_keys_are_listed(self) -> None:
        run = run_script("doctor.py", env={"HOME": str(self.home)})
        self.assert_sound(run)
        self.assertEqual((run.code, run.stderr), (0, ""))
        names = {line["name"] for line in run.document["checks"]}
        self.assertLessEqual(
            {"python", "uv", "skill folder", "installed", "default engine", "secrets file",
             "brave key", "serper key", "gemini key", "addresses", "proxy", "certificates",
             "keyless engines", "sqlite", "store", "browser"},
            names,
        )  # fmt: skip
        self.assertIn("duckduckgo", lines_of(run.document, "default engine")[0]["message"])
        self.assertIn("SERPER_API_KEY", lines_of(run.document, "serper key")[0]["hint"])
        self.assertLess(len(run.stdout), 10_000)

    def test_key_names_are_those_that_the_scripts_read(self) -> None:
        brave, gemini = load_script("brave_search"), load_script("gemini_search")
        self.assertEqual(doctor.KEYS["brave"][0], brave.KEY_NAMES)
        self.assertEqual(doctor.KEYS["serper"][0], (load_script("serper_search").KEY_NAME,))
        self.assertEqual(doctor.KEYS["gemini"][0], gemini.KEY_NAMES)

    def test_markdown_has_a_line_per_check_and_a_verdict(self) -> None:
        text = call_main(command, "--format", "markdown").stdout.decode()
        checks = self.check()["checks"]
        self.assertEqual(len(re.findall(r"(?m)^- (?:ok|warning|failed) +\S", text)), len(checks))
        self.assertRegex(text, r"(?m)^Ready to search \(no engine was queried\): \d+ ok")
        broken = {"GLSI_SEARCH_ENGINE": "altavista"}
        run = run_script("doctor.py", "--format", "markdown", env=broken)
        self.assertIn("No search works: ", run.stdout.decode())
        self.assertIn("**Error (invalid_input):** GLSI_SEARCH_ENGINE", run.stdout.decode())

    def test_a_terminal_gets_text_and_a_pipe_gets_json(self) -> None:
        reading, writing = pty.openpty()
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / "doctor.py")],
            stdout=writing,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=clean_environment(HOME=str(self.home)),
        )
        os.close(writing)
        data = b""
        while piece := read_terminal(reading):
            data += piece
        os.close(reading)
        self.assertEqual(process.wait(30), 0)
        self.assertTrue(data.startswith(b"- ok python: "), data[:100])

    def test_words_and_unknown_flags_are_refused_as_by_every_script(self) -> None:
        for arguments in (["python asyncio"], ["--lives"], ["--timeout", "never"]):
            run = call_main(command, *arguments)
            self.assertEqual(run.code, 2)
            self.assertEqual(run.document["details"]["kind"], "invalid_input")
            self.assertTrue(run.document["error"])


class Keys(DoctorCase):
    def test_names_the_variable_in_use_and_where_it_is_set(self) -> None:
        self.write_secrets(f"GOOGLE_API_KEY: secret-{CANARY}\nSERPER_API_KEY: s-{CANARY}\n")
        variables = {"BRAVE_API_KEY": f"b-{CANARY}", "SERPER_API_KEY": f"e-{CANARY}"}
        document = self.check(**variables)
        messages = {line["name"]: line["message"] for line in document["checks"]}
        self.assertEqual(messages["brave key"], "set: BRAVE_API_KEY in the environment")
        self.assertEqual(messages["gemini key"], "set: GOOGLE_API_KEY in secrets.yaml")
        self.assertEqual(
            messages["serper key"],
            "set: SERPER_API_KEY in the environment; not used: SERPER_API_KEY in secrets.yaml",
        )
        self.assertIn("queries brave first, then serper", messages["default engine"])

    def test_what_cannot_be_a_key_is_named_as_the_scripts_name_it(self) -> None:
        line = self.line("serper key", SERPER_API_KEY="${SERPER_API_KEY}")
        self.assertEqual(line["status"], "warning")
        self.assertIn("SERPER_API_KEY contains a placeholder", line["message"])
        line = self.line("brave key", BRAVE_SEARCH_API_KEY=f"two words {CANARY}")
        self.assertEqual(line["status"], "warning")
        self.assertIn("characters that no key has", line["message"])

    def test_tells_nothing_of_a_key_not_even_its_length(self) -> None:
        documents = [
            self.check(BRAVE_SEARCH_API_KEY="k" * length, SERPER_API_KEY="q" * 2 * length)["checks"]
            for length in (9, 41)
        ]
        self.assertEqual(*documents)

    def test_other_plans_and_providers_are_listed_if_configured(self) -> None:
        line = self.line("brave answers key", BRAVE_ANSWERS_API_KEY=CANARY)
        self.assertEqual(line["message"], "set: BRAVE_ANSWERS_API_KEY in the environment")
        document = self.check(VERTEX_API_KEY=CANARY)
        self.assertEqual(lines_of(document, "gemini key")[0]["status"], "ok")
        self.assertIn("uses vertex", lines_of(document, "gemini key")[0]["message"])
        self.assertEqual(lines_of(self.check(), "vertex key"), [])

    def test_a_key_in_a_wrong_variable_is_also_hidden(self) -> None:
        key, folder = f"key-{CANARY}", self.home / f"key-{CANARY}"
        for variable, value in (
            ("BRAVE_SEARCH_BASE_URL", key), ("SEARXNG_BASE_URL", key), ("https_proxy", key),
            ("WEB_SEARCH_LOG", f"{folder}/log"), ("WEB_SEARCH_ALLOW_PRIVATE", key),
            ("GLSI_SEARCH_ENGINE", key), ("GLSI_RATE_LIMIT", key), ("SSL_CERT_FILE", key),
            ("WEB_SEARCH_SECRETS", str(folder)), ("GLSI_DB_PATH", f"{folder}/cache.db"),
        ):  # fmt: skip
            with self.subTest(variable):
                self.check(BRAVE_SEARCH_API_KEY=key, **{variable: value})
        self.check(GITHUB_TOKEN=key, https_proxy=key)


class KeyCommand(DoctorCase):
    """doctor.py key list, key set."""

    def run_key(self, *words: str, stdin: str = "", **variables: str) -> Run:
        run = run_script(
            "doctor.py", "key", *words, env={"HOME": str(self.home), **variables}, stdin=stdin
        )
        self.assertNotIn(CANARY, run.stdout.decode() + run.stderr)
        return run

    def test_set_writes_a_key_from_standard_input_and_keeps_others(self) -> None:
        path = self.home / ".config/web-search/secrets.yaml"
        for stdin, name in ((f"first-{CANARY}\n", "SERPER_API_KEY"), ("b\r\n", "BRAVE_API_KEY")):
            run = self.run_key("set", name, stdin=stdin)
            self.assertEqual((run.code, run.stderr), (0, ""))
            self.assertEqual((run.document["set"], run.document["path"]), (name, str(path)))
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.write_secrets(
            f"# mine\nSERPER_API_KEY: 'x'  # y\n\nDEFAULT_COUNTRY: de\nSERPER_API_KEY: {CANARY}\n",
            0o644,
        )
        self.assertEqual(self.run_key("set", "SERPER_API_KEY", stdin=f"k-{CANARY}").code, 0)
        self.assertEqual(
            path.read_text(encoding="utf-8"),
            f"# mine\nSERPER_API_KEY: k-{CANARY}\n\nDEFAULT_COUNTRY: de\n",
        )
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.assertEqual([item.name for item in path.parent.iterdir()], [path.name])
        self.assertEqual(self.line("serper key")["message"], "set: SERPER_API_KEY in secrets.yaml")

    def test_set_keeps_other_bytes_and_refuses_long_files(self) -> None:
        path = self.write_secrets("")
        for before, after in (
            (b"\xff: x\r\nSERPER_API_KEY: old\r\n# \xe4", b"\xff: x\r\nSERPER_API_KEY: k\n# \xe4"),
            (b"\xef\xbb\xbfA_KEY: x\nB: y", b"\xef\xbb\xbfA_KEY: x\nB: y\nSERPER_API_KEY: k\n"),
            (b"# " + b"x" * 999_000, b"# " + b"x" * 999_000 + b"\nSERPER_API_KEY: k\n"),
        ):  # fmt: skip
            path.write_bytes(before)
            self.assertEqual(self.run_key("set", "SERPER_API_KEY", stdin="k").code, 0)
            self.assertEqual(path.read_bytes(), after)
        path.write_text(f"A_KEY: x\n# {'x' * 1_000_000}\nB_KEY: y\n", encoding="utf-8")
        before = path.read_bytes()
        run = self.run_key("set", "SERPER_API_KEY", stdin="k")
        self.assertEqual((run.code, path.read_bytes()), (2, before))
        self.assertIn("longer than 1,000,000 characters", run.document["error"])

    def test_remove_deletes_the_lines_of_a_key_only(self) -> None:
        path = self.write_secrets("# mine\nSERPER_API_KEY: x\nA: y\nSERPER_API_KEY: z\n")
        run = self.run_key("remove", "SERPER_API_KEY", "--format", "markdown")
        self.assertEqual(run.stdout.decode(), f"SERPER_API_KEY is removed from {path}.\n")
        self.assertEqual(path.read_text(encoding="utf-8"), "# mine\nA: y\n")
        again = self.run_key("remove", "SERPER_API_KEY")
        self.assertEqual(again.code, 2)
        self.assertIn("SERPER_API_KEY is not set in ", again.document["error"])

    def test_set_refuses_invalid_keys_and_unknown_names(self) -> None:
        for words, stdin, said in (
            (["set", "SERPER_API_KEY"], "", "The key is empty"),
            (["set", "SERPER_API_KEY"], f"{CANARY} {CANARY}", "does not contain a key"),
            (["set", "SERPER_API_KEY"], f'"{CANARY}"', "does not contain a key"),
            (["set", "SERPER_API_KEY"], f"{CANARY}\n{CANARY}", "does not contain a key"),
            (["set", "SERPER_KEY"], CANARY, "No script reads 'SERPER_KEY'"),
            (["set"], CANARY, "key needs list, or set or remove with a name"),
            (["get", "SERPER_API_KEY"], "", "key needs list, or set or remove with a name"),
        ):
            with self.subTest(words, stdin=stdin):
                run = self.run_key(*words, stdin=stdin)
                self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
                self.assertIn(said, run.document["error"])
                self.assertTrue(run.document["details"]["hint"])
        self.assertFalse((self.home / ".config").exists())

    def test_list_names_keys_and_sources_but_not_values(self) -> None:
        self.assertEqual(self.run_key("list").document["keys"], [])
        self.write_secrets(f"GEMINI_API_KEY: {CANARY}\nSERPER_API_KEY: {CANARY}\n")
        run = self.run_key("list", SERPER_API_KEY=f"e-{CANARY}", GITHUB_TOKEN=f"t-{CANARY}")
        self.assertEqual(
            [(item["name"], item["source"]) for item in run.document["keys"]],
            [
                ("SERPER_API_KEY", "the environment"), ("GITHUB_TOKEN", "the environment"),
                ("SERPER_API_KEY", "secrets.yaml"), ("GEMINI_API_KEY", "secrets.yaml"),
            ],
        )  # fmt: skip
        text = self.run_key("list", "--format", "markdown").stdout.decode()
        self.assertIn("- SERPER_API_KEY: set in secrets.yaml", text)
        run = self.run_key("set", "SERPER_API_KEY", stdin="k", SERPER_API_KEY=f"e-{CANARY}")
        self.assertIn("also set in the environment", run.document["warnings"][0])

    def test_a_terminal_is_asked_without_echo(self) -> None:
        reading, writing = pty.openpty()
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / "doctor.py"), "key", "set", "SERPER_API_KEY"],
            stdin=writing, stdout=subprocess.PIPE, stderr=writing, start_new_session=True,
            env=clean_environment(HOME=str(self.home)),
        )  # fmt: skip
        os.close(writing)
        shown = b""
        while b"SERPER_API_KEY: " not in shown:
            shown += os.read(reading, 1_000)
        os.write(reading, f"typed-{CANARY}\n".encode())
        stdout, _ = process.communicate(timeout=30)
        while piece := read_terminal(reading):
            shown += piece
        os.close(reading)
        self.assertEqual(process.returncode, 0, stdout)
        self.assertNotIn(CANARY.encode(), shown + stdout)
        path = self.home / ".config/web-search/secrets.yaml"
        self.assertEqual(path.read_text(encoding="utf-8"), f"SERPER_API_KEY: typed-{CANARY}\n")


class SecretsFile(DoctorCase):
    def test_says_where_it_is_and_where_it_would_be(self) -> None:
        path = self.home / ".config/web-search/secrets.yaml"
        self.assertEqual(self.line("secrets file")["message"], f"none (it would be {path})")
        self.write_secrets("# mine\n\nSERPER_API_KEY: 'abc'  # one\nBRAVE_API_KEY: \"\"\n")
        self.assertEqual(self.line("secrets file")["message"], str(path))

    def test_others_may_not_read_it(self) -> None:
        path = self.write_secrets(f"SERPER_API_KEY: {CANARY}\n", 0o644)
        run = run_script("doctor.py", env={"HOME": str(self.home)})
        self.assert_sound(run)
        line = lines_of(run.document, "secrets file")[0]
        self.assertEqual((line["status"], line["hint"]), ("warning", f"Run: chmod 600 '{path}'"))

    def test_broken_lines_are_named_by_number_and_never_shown(self) -> None:
        self.write_secrets(f"SERPER_API_KEY={CANARY}\n{CANARY}\nBRAVE_API_KEY: a1\n# {CANARY}\n\n")
        message = self.line("secrets file")["message"]
        self.assertIn("not of the form NAME: value: line 1, line 2.", message)

    def test_every_line_of_the_example_is_known(self) -> None:
        example = (ROOT / "assets/secrets.example.yaml").read_text(encoding="utf-8")
        self.assertIn("GITHUB_TOKEN", example)
        self.write_secrets(example.replace('""', CANARY))
        self.assertEqual(self.line("secrets file")["status"], "ok")

    def test_any_bytes_are_survived(self) -> None:
        path = self.write_secrets("")
        path.write_bytes(b"\xff\xfe\x00" * 500)
        self.assertEqual(self.line("secrets file")["status"], "warning")

    def test_a_folder_in_its_place_or_a_wrong_variable_is_reported(self) -> None:
        place = self.home / "folder"
        place.mkdir()
        line = self.line("secrets file", WEB_SEARCH_SECRETS=str(place))
        self.assertIn("cannot be read: Is a directory", line["message"])
        line = self.line("secrets file", WEB_SEARCH_SECRETS=str(place / "none.yaml"))
        self.assertIn("which does not exist", line["message"])


class Addresses(DoctorCase):
    def test_each_variable_that_is_set_has_a_line(self) -> None:
        for variable, value, status, said in (
            ("GEMINI_BASE_URL", "http://mirror.example", "failed", "begins with https://"),
            ("VERTEX_BASE_URL", "mirror.example", "failed", "begins with https://"),
            ("WIKIPEDIA_BASE_URL", "https://u:pw-1@x.example", "failed", "https://[hidden]@x"),
            ("SEARXNG_BASE_URL", "http://box.lan:8080", "ok", "http://box.lan:8080"),
            ("SEARXNG_BASE_URL", "box.lan", "failed", "box.lan"),
        ):
            with self.subTest(variable, value=value):
                line = self.line(variable, **{variable: value})
                self.assertEqual(line["status"], status)
                self.assertIn(said, line["message"])
                self.assertNotIn("pw-1", line["message"])

    def test_api_addresses_share_a_line_except_those_on_this_machine(
        self,
    ) -> None:
        local = "http://127.0.0.1:8000"
        variables = {"BRAVE_SEARCH_BASE_URL": "https://mirror.example",
                     **dict.fromkeys(doctor.ADDRESSES[1:], local)}  # fmt: skip
        here, elsewhere = lines_of(self.check(**variables), "addresses")
        self.assertEqual((here["status"], elsewhere["status"]), ("warning", "ok"))
        self.assertEqual(here["message"].count("go to this machine"), 1)
        self.assertEqual(here["message"].count(f" ({local})"), len(doctor.ADDRESSES) - 1)
        self.assertEqual(
            elsewhere["message"],
            "requests go to other addresses: BRAVE_SEARCH_BASE_URL (https://mirror.example)",
        )

    def test_every_address_that_a_script_reads_is_known(self) -> None:
        read = set()
        for path in SCRIPTS.rglob("*.py"):
            read |= set(re.findall(r'base_url\(\s*"(\w+)"', path.read_text(encoding="utf-8")))
        self.assertIn("SERPER_SCRAPE_BASE_URL", read)
        read |= {"GITHUB_RAW_BASE_URL", "WAYBACK_BASE_URL"}  # named by constants
        self.assertEqual(read - set(doctor.ADDRESSES), set())

    def test_a_wrong_address_of_the_only_engine_fails_every_search(self) -> None:
        document = self.check(DUCKDUCKGO_BASE_URL="nowhere")
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertTrue(self.check(DUCKDUCKGO_BASE_URL="nowhere", SERPER_API_KEY=CANARY)["ok"])

    def test_proxies_are_shown_without_their_credentials(self) -> None:
        line = self.line("https_proxy", https_proxy="http://me:pw-1@proxy.example:3128")
        self.assertEqual(line["message"], "requests go through http://[hidden]@proxy.example:3128")
        line = self.line("https_proxy", https_proxy="'me:pw-1@proxy.example:3128/'")
        self.assertEqual(line["message"], "requests go through http://[hidden]@proxy.example:3128")
        document = self.check(http_proxy="me:pw-1@proxy.example", no_proxy="localhost,.lan")
        self.assertNotIn("pw-1", json.dumps(document))
        self.assertIn("localhost,.lan", lines_of(document, "no_proxy")[0]["message"])
        self.assertEqual(lines_of(document, "http_proxy")[0]["status"], "ok")
        self.assertEqual(self.line("all_proxy", all_proxy="http://proxy.example:1")["status"], "ok")

    def test_proxies_that_python_cannot_use_are_named(self) -> None:
        value = "socks5h://proxy.example:1080"
        for name in ("https_proxy", "all_proxy"):
            line = self.line(name, **{name: value})
            self.assertEqual(
                (line["status"], line["message"]), ("warning", f"Python cannot use {value}.")
            )

    def test_the_log_and_private_addresses_are_reported_if_set(self) -> None:
        line = self.line("log", WEB_SEARCH_LOG=str(self.home / "log.jsonl"))
        self.assertIn("every query is written to", line["message"])
        line = self.line("private addresses", WEB_SEARCH_ALLOW_PRIVATE="127.0.0.1:8080")
        self.assertIn("may fetch 127.0.0.1:8080", line["message"])


class Engines(DoctorCase):
    def test_the_default_engine_has_a_line(self) -> None:
        line = self.line("default engine", SERPER_API_KEY=CANARY, GLSI_SEARCH_ENGINE="wikipedia")
        self.assertEqual(line["message"], "web_search.py queries wikipedia first, then duckduckgo")
        line = self.line("default engine", SEARXNG_BASE_URL="http://box.lan")
        self.assertEqual(line["message"], "web_search.py queries searxng first, then duckduckgo")

    def test_an_unknown_engine_keeps_every_search_from_working(self) -> None:
        run = run_script("doctor.py", env={"GLSI_SEARCH_ENGINE": "altavista"})
        self.assert_sound(run)
        self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
        self.assertIn("altavista", run.document["error"])

    def test_settings_that_no_keyless_engine_can_use_are_named(self) -> None:
        for variable, value in (("GLSI_RATE_LIMIT", "often"), ("GLSI_USER_AGENT", "a\x07b")):
            with self.subTest(variable):
                document = self.check(**{variable: value})
                self.assertIn(variable, lines_of(document, "keyless engines")[0]["message"])
                self.assertEqual(document["details"]["kind"], "invalid_input")
                self.assertTrue(self.check(SERPER_API_KEY=CANARY, **{variable: value})["ok"])

    def test_a_paused_engine_is_named_with_an_alternative(self) -> None:
        self.set_environment(HOME=str(self.home))
        pacing.change_state("duckduckgo", lambda state: state.note_block("a challenge", 0), [])
        document = self.check(SERPER_API_KEY=CANARY)
        line = lines_of(document, "keyless engines")[0]
        self.assertRegex(line["message"], r"DuckDuckGo is paused for (10 min|9 min \d+ s):")
        self.assertIn("a challenge", line["message"])
        self.assertIn("wikipedia", line["hint"])
        self.assertTrue(document["ok"])
        document = self.check()
        self.assertEqual(document["details"]["kind"], "blocked")
        self.assertIn("SERPER_API_KEY", document["details"]["hint"])

    def test_each_source_is_listed_with_its_quota_and_pause(self) -> None:
        self.set_environment(HOME=str(self.home))
        for engine, quota in (("stackexchange", (0, 7_200.0)), ("github", (9, 60.0))):
            answer = messages.EngineAnswer(quota=messages.Quota(*quota))
            change = functools.partial(
                pacing.EngineState.note_answer, answer=answer, pace=pacing.pace_of(engine)
            )
            pacing.change_state(engine, change, [])
        signal = "HTTP 429 (Rate exceeded)"
        pacing.change_state("arxiv", lambda state: state.note_block(signal, 0), [])
        resting, others = lines_of(self.check(), "keyless engines")
        self.assertRegex(
            resting["message"], r"^arXiv is paused for .* with HTTP 429 \(Rate exceeded\)"
        )
        self.assertIn("crossref", resting["hint"])
        self.assertEqual(others["status"], "ok")
        for words in (
            r"stackexchange \(0 requests left, renewed in (2 h|1 h 59 min); next request in",
            r"github \(9 requests left, renewed in (1 min|59 s)\)",
            r"wikipedia, ", r", hackernews, ", r", crossref$",
        ):  # fmt: skip
            self.assertRegex(others["message"], words)


class Machine(DoctorCase):
    def run_code(self, code: str, **variables: str) -> Run:
        """Run the doctor as a process after some lines that change its interpreter."""
        script = self.home / "changed.py"
        script.write_text(
            f"import sys\nsys.path.insert(0, {str(SCRIPTS)!r})\n{code}\n"
            "import doctor\nsys.exit(doctor.main([]))\n",
            encoding="utf-8",
        )
        run = run_script(str(script), env={"HOME": str(self.home), **variables})
        self.assert_sound(run)
        return run

    def test_uv_is_found_or_an_alternative_is_named(self) -> None:
        folder = self.home / "bin"
        folder.mkdir()
        self.assertIn("python3", self.line("uv", PATH=str(folder))["hint"])
        program = folder / "uv"
        program.touch(0o755)
        self.assertEqual(self.line("uv", PATH=str(folder))["message"], str(program))

    def test_a_browser_is_named_and_missed_only_where_it_is_wanted(self) -> None:
        folder = self.home / "bin"
        folder.mkdir()
        line = self.line("browser", PATH=str(folder))
        self.assertEqual(line["status"], "ok")
        self.assertIn("none is installed", line["message"])
        line = self.line("browser", PATH=str(folder), WEB_SEARCH_BROWSER="1")
        self.assertEqual(line["status"], "warning")
        self.assertIn("apt install chromium", line["hint"])
        program = folder / "chromium"
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)
        for wanted, use in (("", "or --browser, it"), ("1", "it"), (str(program), "it")):
            line = self.line("browser", PATH=str(folder), WEB_SEARCH_BROWSER=wanted)
            self.assertEqual(line["status"], "ok")
            self.assertTrue(line["message"].startswith(f"{program}; "), line)
            self.assertTrue(line["message"].endswith(f" {use} renders pages that need JavaScript"))

    def test_missing_certificates_fail_every_search(self) -> None:
        empty = self.home / "empty"
        empty.mkdir()
        run = self.run_code(
            "from websearch.base import http_client; http_client.CA_BUNDLES = ()",
            SSL_CERT_FILE="/dev/null",
            SSL_CERT_DIR=str(empty),
        )
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "network"))
        self.assertIn("ca-certificates", run.document["details"]["hint"])

    def test_without_ssl_no_search_works_but_without_sqlite_it_does(self) -> None:
        run = self.run_code("sys.modules['ssl'] = sys.modules['_ssl'] = None")
        self.assertEqual(run.code, 5)
        self.assertIn("no ssl module", run.document["error"])
        run = self.run_code("sys.modules['sqlite3'] = None")
        self.assertEqual(run.code, 0)
        self.assertIn("built without SQLite", lines_of(run.document, "sqlite")[0]["message"])

    def test_a_home_that_is_missing_or_no_folder_costs_no_answer(self) -> None:
        environment = clean_environment()
        del environment["HOME"]
        command = [*PYTHON, str(SCRIPTS / "doctor.py")]
        for home in ({}, {"HOME": "/dev/null"}, {"HOME": "relative"}):
            run = subprocess.run(
                command, env={**environment, **home}, capture_output=True, check=False
            )
            with self.subTest(home):
                document = json.loads(run.stdout)
                self.assertEqual((run.returncode, run.stderr), (0, b""))
                self.assertTrue(document["ok"])
        self.assertEqual(lines_of(self.check(HOME="/dev/null"), "store")[0]["status"], "warning")

    def test_the_store_is_reported_with_path_and_size(self) -> None:
        path = self.home / "cache.db"
        line = self.line("store", GLSI_DB_PATH=str(path))
        self.assertEqual(line["message"], f"nothing stored yet (it would be {path})")
        self.assertEqual(list(self.home.iterdir()), [], "a check leaves nothing behind")
        line = self.line("store", GLSI_DB_PATH=":memory:")
        self.assertIn("nothing is stored", line["message"])
        store = load_script("websearch.store.page_store").PageStore(str(path))
        store.put_answer("key", {"query": "q", "urls": []})
        store.close()
        line = self.line("store", GLSI_DB_PATH=str(path))
        self.assertEqual(line["status"], "ok")
        self.assertRegex(line["message"], rf"^{path} \(\d+\.\d MB, answers: 1, pages: 0\)$")


TINY = """
from websearch.engines.base.engine import Engine

ENGINE = Engine(
    name="tiny",
    title="Tiny",
    module=__name__,
    keys=("TINY_API_KEY",),
    key_site="https://tiny.example/keys",
    address=("TINY_BASE_URL", "https://tiny.example"),
    sources=("web",),
    auto=True,
    filters={},
    max_query=300,
    max_count=50,
)
"""


class TableOfEngines(DoctorCase):
    """An engine of the table appears automatically."""

    def test_an_engine_with_a_key_and_an_address_has_its_lines(self) -> None:
        scripts = self.home / "skill/scripts"
        shutil.copytree(SCRIPTS, scripts, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(SCRIPTS.parent / "SKILL.md", scripts.parent)
        add_engine(scripts, "tiny", TINY)

        def lines(*arguments: str, **variables: str) -> dict[str, dict[str, Any]]:
            environment = {"HOME": str(self.home), **variables}
            run = run_script(str(scripts / "doctor.py"), *arguments, env=environment)
            self.assert_sound(run)
            return {line["name"]: line for line in run.document["checks"]}

        found = lines()
        self.assertIn("engine tiny cannot be used", found["tiny key"]["message"])
        self.assertIn("https://tiny.example/keys", found["tiny key"]["hint"])
        self.write_secrets(f"TINY_API_KEY: {CANARY}\n")
        found = lines(TINY_BASE_URL="http://tiny.example")
        self.assertEqual(found["secrets file"]["status"], "ok")
        self.assertEqual(found["tiny key"]["message"], "set: TINY_API_KEY in secrets.yaml")
        self.assertIn("queries duckduckgo first, then tiny", found["default engine"]["message"])
        self.assertIn("begins with https://", found["TINY_BASE_URL"]["message"])

    def test_no_line_names_an_engine_that_the_table_lacks(self) -> None:
        document = self.check()
        names = {line["name"] for line in document["checks"]}
        for name, engine in engines.ENGINES.items():
            has_line = bool(engine.keys) and not engine.keyless
            self.assertEqual(f"{name} key" in names, has_line, name)
        message = lines_of(document, "keyless engines")[0]["message"]
        self.assertEqual(
            message,
            "none is paused: " + ", ".join(n for n in engines.keyless_engines() if n != "searxng"),
        )


class SkillFolder(DoctorCase):
    def copy_of_the_skill(self) -> Path:
        """A copy of the scripts and SKILL.md as agents have it."""
        folder = self.home / "skill"
        shutil.copytree(SCRIPTS, folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(SCRIPTS.parent / "SKILL.md", folder)
        return folder

    def run_copy(self, folder: Path) -> Run:
        """Run a copy's doctor, from a home without a skill."""
        home = self.home / "home"
        home.mkdir(exist_ok=True)
        run = run_script(str(folder / "scripts/doctor.py"), env={"HOME": str(home)})
        self.assert_sound(run)
        return run

    def test_a_complete_copy_says_its_version(self) -> None:
        line = lines_of(self.run_copy(self.copy_of_the_skill()).document, "skill folder")[0]
        self.assertEqual(line["status"], "ok", line)
        version = load_script("websearch.kit").VERSION
        self.assertRegex(line["message"], rf" is a copy, version {version}$")

    def test_a_package_that_cannot_be_loaded_is_reported(self) -> None:
        folder = self.copy_of_the_skill()
        for content in (None, "def broken("):
            (folder / "scripts/websearch/kit.py").unlink()
            if content:
                (folder / "scripts/websearch/kit.py").write_text(content, encoding="utf-8")
            run = self.run_copy(folder)
            self.assertEqual((run.code, run.stderr), (70, ""))
            self.assertIn("websearch/", run.document["error"])
            (folder / "scripts/websearch/kit.py").touch()

    def test_copies_that_agents_find_are_listed(self) -> None:
        self.assertIn("scripts/install.py install", self.line("installed")["hint"])
        folder = self.copy_of_the_skill()
        project = self.home / "project/.claude/skills/web-search"
        project.parent.mkdir(parents=True)
        folder.rename(project)
        line = lines_of(self.run_copy(project).document, "installed")[0]
        self.assertEqual(line["message"], f"{os.path.realpath(project)} (this copy)")
        folder = project
        agents, claude = self.home / ".agents/skills", self.home / ".claude/skills"
        agents.mkdir(parents=True)
        claude.mkdir(parents=True)
        shutil.copytree(folder, agents / "web-search")
        (claude / "web-search").symlink_to(agents / "web-search")
        document = self.check()
        self.assertEqual(lines_of(document, "installed"), [])
        line = lines_of(document, "installed for Claude Code")[0]
        self.assertEqual(line["status"], "ok")
        self.assertIn(f"a link to {agents}/web-search", line["message"])
        skill = agents / "web-search/SKILL.md"
        text = skill.read_text(encoding="utf-8")
        skill.write_text(re.sub(r'version: ".*"', 'version: "0.1"', text), encoding="utf-8")
        self.assertIn("(0.1", self.line("installed for Claude Code")["message"])
        self.assertEqual(self.line("installed for Claude Code")["status"], "warning")
        skill.write_text("---\nname: other\n---\n", encoding="utf-8")
        self.assertIn("does not contain", self.line("installed for Claude Code")["message"])
        tool = self.home / ".config/opencode/tool/google_search.ts"
        tool.parent.mkdir(parents=True)
        tool.touch()
        self.assertIn(str(tool), self.line("installed for opencode")["message"])


class Live(DoctorCase):
    """The requests of --live, and the lines on their answers."""

    server: FakeServer

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = FakeServer()
        cls.addClassCleanup(cls.server.close)

    def setUp(self) -> None:
        super().setUp()
        self.server.clear()

    def live(self, *arguments: str, key: str = "good", **variables: str) -> dict[str, Any]:
        """The lines of --live by engine, each engine with the key."""
        addresses = ("BRAVE_SEARCH", "SERPER", "GEMINI", "SEARXNG", "DUCKDUCKGO")
        names = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY")
        environment = {
            **{f"{name}_BASE_URL": self.server.url for name in addresses},
            **dict.fromkeys(names, f"{key}-{CANARY}"),
            "GLSI_DB_PATH": str(self.home / "live.db"),
            "GLSI_RATE_LIMIT": "0s",
            **variables,
        }
        document = self.check(*arguments, **environment)
        self.assertTrue(document["ok"])
        return {
            line["name"].removesuffix(" live"): line
            for line in document["checks"]
            if line["name"].endswith(" live")
        }

    def test_nothing_is_sent_without_live_nor_with_dry_run(self) -> None:
        self.assertEqual(self.live(), {})
        names = {"SERPER_API_KEY": CANARY, "GEMINI_API_KEY": CANARY, "BRAVE_API_KEY": CANARY}
        self.set_environment(SERPER_BASE_URL=self.server.url, **names)
        run = call_main(command, "--live", "--dry-run")
        methods = [item["method"] for item in run.document["request"]]
        self.assertEqual(methods, ["GET", "POST", "POST", "GET"])
        self.assertEqual(run.document["request"][1]["url"], f"{self.server.url}/search")
        self.assertNotIn(CANARY, run.stdout.decode())
        self.assertEqual(self.server.requests, [])
        self.assertEqual(call_main(command, "--dry-run").document["request"], [])

    def test_each_engine_gets_a_question_with_time_and_cost(self) -> None:
        lines = self.live("--live")
        self.assertEqual(list(lines), ["brave", "serper", "searxng", "duckduckgo", "gemini"])
        for engine, cost in (("brave", "1 billed request"), ("searxng", "free")):
            message = lines[engine]["message"]
            self.assertRegex(message, rf"^[1-9]\d* results in \d+\.\d s, {cost}$")
        self.assertRegex(lines["gemini"]["message"], r"accepted; \d+ models, the default \S+ among")
        asked = [one for one in self.server.requests if one.path != "/v1beta/models"]
        self.assertEqual(len(asked), 4)
        for request in self.server.requests:
            self.assertNotIn(CANARY, request.target)
        spending = self.check(GLSI_DB_PATH=str(self.home / "live.db"))
        self.assertIn("brave 1, serper 1", lines_of(spending, "spending")[0]["message"])

    def test_only_the_owner_s_engines_are_asked(self) -> None:
        lines = self.live("--live", WEB_SEARCH_ENGINES="serper", GEMINI_API_KEY="")
        self.assertEqual(list(lines), ["serper"])

    def test_a_refused_key_an_empty_account_and_an_error_differ(self) -> None:
        refused = self.live("--live", key="bad")
        self.assertIn("refused the key", refused["serper"]["message"])
        self.assertIn("serper.dev", refused["serper"]["hint"])
        self.assertEqual(refused["gemini"]["status"], "failed")
        empty = self.live("--live", key="empty")["serper"]
        self.assertEqual(empty["status"], "failed")
        self.assertIn("credits", empty["message"])
        nobody = self.live("--live", SERPER_BASE_URL=NO_ADDRESS, SEARXNG_BASE_URL=NO_ADDRESS)
        self.assertIn("refused the connection", nobody["serper"]["message"])
        self.assertEqual(nobody["searxng"]["status"], "failed")

    def test_the_verdict_claims_only_what_was_tried(self) -> None:
        def line(name: str, status: str, message: str = "") -> dict[str, str]:
            return {"name": name, "status": status, "message": message}

        unresolved = "The name duckduckgo.com could not be resolved."
        good, bad = line("brave live", "ok"), line("serper live", "failed", "Refused.")
        rows = (
            ([line("python", "ok")], "Ready to search (no engine was queried)"),
            ([good, bad], "A search works, but not with serper"),
            ([good], "A search works"),
            ([bad], "No search works"),
            ([line("serper live", "failed", unresolved)], doctor.NO_NETWORK[:-1]),
            ([line("network", "warning", doctor.NO_NETWORK)], doctor.NO_NETWORK[:-1]),
        )
        for checks, expected in rows:
            with self.subTest(expected):
                self.assertEqual(doctor.verdict({"ok": True, "checks": checks}), expected)

    def test_a_model_that_the_key_cannot_ask_is_a_warning(self) -> None:
        line = self.live("--live", GEMINI_MODEL="gemini-0.1-none")["gemini"]
        self.assertEqual(line["status"], "warning")
        self.assertIn("gemini-0.1-none is not among them", line["message"])

    def test_the_timeout_covers_all_engines(self) -> None:
        started = time.monotonic()
        lines = self.live("--live", "--timeout", "1", key="hang")
        self.assertLess(time.monotonic() - started, 1 + SLACK)
        self.assertEqual(lines["serper"]["status"], "failed")
        self.assertIn("in time", lines["serper"]["message"])
        self.assertIn("A higher --timeout gives", lines["serper"]["hint"])
        self.assertEqual(lines["duckduckgo"]["status"], "ok")


if __name__ == "__main__":
    unittest.main()
