"""What every script promises: PEP 723 block, imports, one document on stdout, exit codes.

The only module to notice an import that points upwards, a hint that names a flag, a wrong place
of a key, and an address or proxy that shows a password.
"""

from __future__ import annotations

import ast
import graphlib
import gzip
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tests.support import (
    CANARY,
    PYTHON,
    ROOT,
    SCRIPTS,
    SLACK,
    CannedCase,
    CannedServer,
    FakeServerCase,
    call_main,
    clean_environment,
    load_script,
    new_folder,
    run_script,
)
from tests.tools.sync import STANDALONE
from websearch import kit

if TYPE_CHECKING:
    from collections.abc import Iterator

WITH_TABLES = (
    "brave_search",
    "gemini_search",
    "serper_search",
    "websearch.search.keyless",
    "websearch.reading.read_list",
    "websearch.search.commands",
    "websearch.ways_in.http_api",
)
ALL_SCRIPTS = sorted(path.name for path in SCRIPTS.glob("*.py"))
# The rooms of the package, from the top down: a module imports what stands below its room, or
# beside it. The single files stand on the ground, like core.
ROOMS = [
    "machine", "ways_in", "search", "check", "reading", "pages", "passages", "engines", "store",
    "markdown", "base",
]  # fmt: skip
HEAVY_MODULES = (
    "urllib.request", "http.client", "ssl", "sqlite3", "concurrent.futures", "threading", "typing",
    "logging", "dataclasses", "tempfile", "html.parser", "asyncio",
)  # fmt: skip


def imported_names(path: Path) -> set[str]:
    """Return what a file imports, wherever it does, with the module: websearch.base.common.x."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def imported_rooms(path: Path) -> set[str]:
    """Return the rooms of the package, and the single files, that a module imports."""
    rooms = set()
    for name in imported_names(path):
        parts = name.split(".")
        if parts[0] == "websearch":
            rooms.add(parts[1])
        elif parts[0] not in sys.stdlib_module_names:
            rooms.add(parts[0])
    return rooms


class EveryScript(unittest.TestCase):
    def test_begins_with_the_shebang_and_a_pep_723_block_without_dependencies(self) -> None:
        head = (
            "#!/usr/bin/env -S uv run --script\n# /// script\n"
            '# requires-python = ">=3.10"\n# dependencies = []\n# ///\n"""'
        )
        for name in ALL_SCRIPTS:
            with self.subTest(name):
                self.assertTrue((SCRIPTS / name).read_text(encoding="utf-8").startswith(head))

    def test_may_be_executed(self) -> None:
        for name in ALL_SCRIPTS:
            with self.subTest(name):
                self.assertTrue(os.access(SCRIPTS / name, os.X_OK))

    def test_a_command_imports_the_standard_library_and_the_package_a_single_file_the_first(
        self,
    ) -> None:
        for name in ALL_SCRIPTS:
            packages = {imported.partition(".")[0] for imported in imported_names(SCRIPTS / name)}
            own = packages - set(sys.stdlib_module_names)
            with self.subTest(name):
                self.assertLessEqual(own, set() if name in STANDALONE else {"websearch"})

    def test_no_modules_import_each_other_in_a_circle(self) -> None:
        modules = {
            ".".join(part for part in path.relative_to(SCRIPTS).with_suffix("").parts
                     if part != "__init__"): path
            for path in (SCRIPTS / "websearch").rglob("*.py")
        }  # fmt: skip
        imports: dict[str, set[str]] = {}
        for name, path in modules.items():
            names = imported_names(path)
            names |= {imported.rpartition(".")[0] for imported in names}
            imports[name] = names & modules.keys()
        self.assertGreater(sum(map(len, imports.values())), 400)
        graphlib.TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle

    def test_a_module_imports_only_what_stands_below_it_or_in_its_room(self) -> None:
        single_files = {name.removesuffix(".py") for name in STANDALONE}
        package = SCRIPTS / "websearch"
        self.assertEqual(ROOMS, [room for room in ROOMS if (package / room).is_dir()])
        for path in sorted(package.rglob("*.py")):
            room, *rest = path.relative_to(package).parts
            if not rest:
                self.assertIn(room, ("__init__.py", "kit.py"))
                continue
            with self.subTest(str(path)):
                below = {"kit", *ROOMS[ROOMS.index(room) :]}
                below |= set() if room == "base" else single_files
                self.assertLessEqual(imported_rooms(path), below)

    def test_a_command_is_thin(self) -> None:
        for name in set(ALL_SCRIPTS) - set(STANDALONE):
            with self.subTest(name):
                lines = (SCRIPTS / name).read_text(encoding="utf-8").splitlines()
                self.assertLess(len(lines), 80)

    def test_has_no_effect_when_it_is_imported(self) -> None:
        for name in ALL_SCRIPTS:
            stem = name.removesuffix(".py")
            code = (
                f"import sys, threading; sys.path.insert(0, {str(SCRIPTS)!r}); before = "
                f"dict(__import__('os').environ); import {stem}; "
                "assert threading.active_count() == 1; "
                "assert before == dict(__import__('os').environ)"
            )
            run = subprocess.run(
                [*PYTHON, "-c", code],
                capture_output=True,
                check=False,
                env=clean_environment(),
            )
            with self.subTest(name):
                self.assertEqual((run.returncode, run.stdout, run.stderr), (0, b"", b""))

    def test_help_and_version_import_nothing_heavy(self) -> None:
        further = {"inspect", "difflib", "websearch.search.pipeline"}
        of_package = {*HEAVY_MODULES} - {"typing"} | further
        calls = [
            (name, flag, HEAVY_MODULES) for name in STANDALONE for flag in ("--help", "--version")
        ]
        calls += [
            ("web_search.py", "--help", of_package),
            ("mcp_server.py", "--version", of_package),
            ("http_server.py", "--version", of_package),
        ]
        for name, flag, heavy in calls:
            code = (
                # What the help of argparse itself imports differs between versions of Python.
                "import argparse, sys; argparse.ArgumentParser().format_help(); "
                f"before = set(sys.modules); sys.argv = ['x', {flag!r}]; "
                f"sys.path.insert(0, {str(SCRIPTS)!r}); import {name[:-3]} as script; "
                "script.main(); new = set(sys.modules) - before; "
                f"print(sorted(new & set({[*heavy]!r})), file=sys.stderr)"
            )
            run = subprocess.run(
                [sys.executable, "-I", "-S", "-c", code],
                capture_output=True,
                check=False,
                env=clean_environment(),
            )
            with self.subTest(name, flag=flag):
                self.assertEqual(run.stderr.decode().strip(), "[]")
                self.assertIn(name, run.stdout.decode())

    def test_help_of_every_command_names_every_flag_with_its_meaning(self) -> None:
        for name in STANDALONE:
            module = load_script(name)
            for command, spec in module.COMMANDS.items():
                text = call_main(module, command, "--help").stdout.decode()
                self.assertIn("output: --md (Markdown)", text)
                self.assertLessEqual(len(text), 2_500, f"{name} {command}")
                for parameter in spec["params"]:
                    with self.subTest(name, command=command, parameter=parameter["name"]):
                        flag = "--" + parameter["name"].replace("_", "-")
                        self.assertRegex(text, rf"(?m)^  (-\w, )?{flag}\b[^:]*: ")
                        words = "".join(parameter["help"].split())
                        self.assertIn(words, "".join(text.split()))

    def test_every_example_of_a_help_can_be_run(self) -> None:
        for name in STANDALONE:
            module = load_script(name)
            for command, spec in module.COMMANDS.items():
                text = call_main(module, command, "--help").stdout.decode()
                for example in spec["examples"]:
                    with self.subTest(name, command=command, example=example):
                        self.assertIn(f"  {name} {command} {example}".rstrip() + "\n", text)
                        words = shlex.split(example)
                        if command == "batch" and not words[0].startswith("-"):
                            words[0] = "--queries=one"  # in place of a file
                        run = call_main(module, command, *words, "--dry-run")
                        self.assertEqual(run.code, 0, run.stdout)

    def test_help_of_a_script_is_short_and_names_where_the_other_flags_are(self) -> None:
        for name in STANDALONE:
            module = load_script(name)
            text = call_main(module, "--help").stdout.decode()
            default, spec = next(iter(module.COMMANDS.items()))
            self.assertLessEqual(len(text), 2_500, name)
            self.assertIn(f"more: {name} {default} --help", text)
            for parameter in spec["params"]:
                flag = "--" + parameter["name"].replace("_", "-")
                with self.subTest(name, parameter=parameter["name"]):
                    shown = re.search(rf"(?m)^  (-\w, )?{flag}\b", text)
                    self.assertEqual(shown is None, parameter.get("rare", False))

    def test_every_command_has_its_run_function_and_common_parts(self) -> None:
        for name in STANDALONE:
            module = load_script(name)
            for command in module.COMMANDS:
                with self.subTest(name, command=command):
                    document = module.RUN[command]({"no_such_parameter": 1})
                    self.assertEqual(document["details"]["kind"], "invalid_input")
                    self.assertTrue(callable(module.to_markdown))


class LongValues(unittest.TestCase):
    """Values of any length are checked, planned and shown: no such time is left to the module."""

    CASES = (  # script, command, parameter beside the query
        ("brave_search.py", "web", "query"), ("brave_search.py", "web", "site"),
        ("brave_search.py", "web", "goggles"), ("brave_search.py", "web", "since"),
        ("serper_search.py", "search", "query"), ("serper_search.py", "search", "site"),
        ("serper_search.py", "maps", "ll"), ("serper_search.py", "search", "tbs"),
        ("serper_search.py", "search", "language"), ("gemini_search.py", "search", "query"),
        ("gemini_search.py", "search", "url"), ("gemini_search.py", "reddit", "subreddit"),
        ("gemini_search.py", "search", "model"),
    )  # fmt: skip

    def test_of_one_repeated_piece(self) -> None:
        for script, command, name in self.CASES:
            module = load_script(script)
            for piece in ("a", "a.", "-", "[", "<b ", "&", "1,", "http://", "\u0301"):
                params = {"query": "x", name: piece * (200_000 // len(piece)), "dry_run": True}
                with self.subTest(script, name=name, piece=piece):
                    self.assertTrue(module.to_markdown(module.RUN[command](params)))


class AddressesOfResults(CannedCase):
    """What a browser would run, or open elsewhere, is no address of a result."""

    BAD = ("javascript:alert(1)", "file:///etc/passwd", "//host/x", "--version", "smb://host/x")

    def test_of_brave_and_serper(self) -> None:
        self.set_environment(SERPER_BASE_URL=self.server.url, SERPER_API_KEY="good-" + CANARY)
        for address in (*self.BAD, "https://good.example/"):
            result = {"title": "One", "url": address, "link": address, "description": "text"}
            self.server.body = {"web": {"results": [result]}, "organic": [result]}
            for script in ("brave_search", "serper_search"):
                module = load_script(script)
                document = next(iter(module.RUN.values()))({"query": "x"})
                shown = f"{document}{module.to_markdown(document)}{module.as_results(document)}"
                with self.subTest(script, address=address):
                    self.assertIn("One", shown)
                    self.assertEqual(address in shown, address.startswith("https"))

    def test_of_the_other_engines(self) -> None:
        key = {"TAVILY_BASE_URL": self.server.url, "TAVILY_API_KEY": "good-" + CANARY}
        self.set_environment(SEARXNG_BASE_URL=self.server.url, GLSI_RATE_LIMIT="0", **key)
        addresses = (*self.BAD, "https://good.example/")
        results = [{"title": "One", "url": address, "content": "x"} for address in addresses]
        self.server.body = {"results": [*results, {}]}
        search = load_script("websearch.search.commands").run_search
        for engine in ("searxng", "tavily"):
            document = search({"query": "x", "engine": engine, "no_pages": True, "force": True})
            shown = [result["url"] for result in document["results"]]
            self.assertEqual(shown, ["https://good.example/"], engine)


class PackedAnswers(CannedCase):
    """Compressed responses of the APIs, and statuses of success."""

    GOOD: ClassVar[dict[str, Any]] = {
        "web": {"results": [{"title": "Tea", "url": "https://tea.example/"}]},
        "organic": [{"title": "Tea", "link": "https://tea.example/"}],
        "candidates": [{"content": {"parts": [{"text": "Tea."}]}}],
    }

    def ask(self, status: int, body: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield exit code and document of a call of each script that gets this response."""
        for name in ("BRAVE_SEARCH", "SERPER", "GEMINI"):
            self.set_environment(
                **{f"{name}_BASE_URL": self.server.url, f"{name}_API_KEY": f"good-{CANARY}"}
            )
            self.server.status, self.server.body = status, body
            self.server.headers = {"Content-Encoding": "gzip"}
            script = f"{name.partition('_')[0].lower()}_search"
            with self.subTest(script, status=status):
                run = call_main(load_script(script), "tea", "--timeout", "10")
                yield run.code, run.document

    def test_any_status_of_success_is_an_answer(self) -> None:
        body = gzip.compress(json.dumps(self.GOOD).encode())
        for status in (200, 201, 202, 203, 206):
            for code, document in self.ask(status, body):
                self.assertEqual(code, 0, document)

    def test_an_error_is_shown_unpacked(self) -> None:
        for _, document in self.ask(418, gzip.compress(b"<p>I am a teapot</p>")):
            self.assertIn("I am a teapot", document["error"])

    def test_a_body_that_cannot_be_unpacked_is_an_error(self) -> None:
        whole = gzip.compress(json.dumps(self.GOOD).encode() * 50)
        for body, kind in (
            (whole[:-20], "network"),
            (b"\x1f\x8bno gzip at all", "provider"),
            (gzip.compress(bytes(9_000_000)), "provider"),
        ):
            for _, document in self.ask(200, body):
                self.assertEqual(document["details"]["kind"], kind, document)


class MistypedCommands(FakeServerCase):
    """A first word that is nearly a command while the parameters come as JSON: nothing is sent."""

    CASES = (  # script, such a word, the command, JSON
        ("brave_search.py", "summarize", "summarizer", '{"key": "k"}'),
        ("brave_search.py", "serch", "search", '{"query": "x"}'),
        ("serper_search.py", "nwes", "news", '{"count": 3}'),
        ("gemini_search.py", "reddt", "reddit", "{}"),
        ("keyless_search.py", "serch", "search", '{"query": "x"}'),
        ("web_search.py", "recal", "recall", '{"query": "x"}'),
    )  # fmt: skip

    def test_it_is_no_query(self) -> None:
        for script, word, command, given in self.CASES:
            with self.subTest(script):
                run = self.run_script(script, word, "--params-json", given)
                message = f"{word!r} is not a command; did you mean {command}?"
                self.assertEqual((run.code, run.document["error"]), (2, message))
        self.assertEqual(self.server.requests, [])

    def test_a_command_of_another_script_is_no_query_and_the_hint_names_its_script(self) -> None:
        for script, words, hint in (
            ("web_search.py", ("fetch", "https://e.org/"), "web_search.py read reads a page."),
            ("web_search.py", ("news",), "--focus news uses Brave and Serper"),
            ("web_search.py", ("scholar", "yeast"), "--focus papers."),
            ("web_search.py", ("budget",), "doctor.py shows the spending"),
            ("keyless_search.py", ("images", "cats"), "serper_search.py has it, with a key."),
            ("brave_search.py", ("batch", "FILE"), "web_search.py has it."),
            ("keyless_search.py", ("batch", "FILE"), "web_search.py has it."),
            ("brave_search.py", ("scholar", "x"), "serper_search.py has it, with a key."),
            ("brave_search.py", ("read", "https://e.org/"), "web_search.py read reads a page."),
            ("serper_search.py", ("context", "x"), "brave_search.py has it, with a key."),
            ("gemini_search.py", ("news",), "serper_search.py has it, with a key."),
        ):
            with self.subTest(script, words=words):
                run = self.run_script(script, *words)
                error = f"{words[0]!r} is not a command of {script}."
                self.assertEqual((run.code, run.document["error"]), (2, error))
                self.assertIn(hint, run.document["details"]["hint"])
                self.assertIn("put -- before it", run.document["details"]["hint"])
        self.assertEqual(self.server.requests, [])
        for words in (("--", "scholar"), ("scholar yeast",), ("brief", "history", "of", "time")):
            run = self.run_script("brave_search.py", "--dry-run", *words)
            self.assertEqual(run.code, 0, words)


class AddressesAsQueries(FakeServerCase):
    """A URL in place of a query: refused before it is paid for, with the tool that reads it."""

    def test_the_error_names_read_page(self) -> None:
        url = "https://example.org/manual"
        for words in (
            ("brave_search.py", url), ("brave_search.py", "context", url),
            ("serper_search.py", "news", url), ("gemini_search.py", url),
            ("keyless_search.py", url), ("web_search.py", url.upper()),
            ("web_search.py", "brief", "sourdough", url),
        ):  # fmt: skip
            with self.subTest(words):
                run = self.run_script(*words)
                self.assertEqual(run.code, 2)
                self.assertIn("read_page", run.document["details"]["hint"])
        self.assertEqual(self.server.requests, [])


class NamesOfOtherTools(FakeServerCase):
    """What agents type because another search tool calls it so."""

    WORDS = (  # such a name, a value, the parameter it means
        ("limit", "3", "count"), ("num", "3", "count"), ("num_results", "3", "count"),
        ("max_results", "3", "count"), ("time_range", "week", "since"), ("lang", "de", "language"),
        ("domain", "docs.python.org", "site"), ("domains", "docs.python.org", "site"),
        ("include_domains", "docs.python.org", "site"),
        ("exclude_domains", "docs.python.org", "exclude_site"),
        ("allowed_domains", "docs.python.org", "site"), ("maxResults", "3", "count"),
        ("blockedDomains", "docs.python.org", "exclude_site"), ("search_lang", "de", "language"),
        ("max_length", "2000", "max_chars"),
    )  # fmt: skip
    SCRIPTS = ("brave_search.py", "serper_search.py", "keyless_search.py", "web_search.py")

    def dry_run(self, script: str, *words: str) -> Any:
        return call_main(load_script(script), *words, "--dry-run")

    def setUp(self) -> None:
        super().setUp()
        self.set_environment(SERPER_API_KEY="good-" + CANARY, GEMINI_API_KEY="good-" + CANARY)

    def test_are_understood_as_flags_and_in_json(self) -> None:
        for script in self.SCRIPTS:
            for word, value, name in self.WORDS:
                with self.subTest(script, word=word):
                    flag, own = (f"--{one.replace('_', '-')}={value}" for one in (word, name))
                    meant = self.dry_run(script, "python", own)
                    self.assertEqual(meant.code, 0)
                    self.assertEqual(self.dry_run(script, "python", flag).document, meant.document)
                    given = json.dumps({"query": "python", word: value})
                    run = self.dry_run(script, "--params-json", given)
                    self.assertEqual(run.document, meant.document)
            self.assertEqual(self.dry_run(script, "python", "--json").code, 0)

    def test_are_understood_as_arguments_of_a_tool(self) -> None:
        tools = load_script("websearch.ways_in.mcp_tools")
        for word, value, _ in self.WORDS:
            meant = tools.tool_params("web_search", {"query": "x", word: value}, [])
            self.assertEqual(len(meant.keys() - {"query"}), 1, word)

    def test_json_in_place_of_a_query_is_its_parameters(self) -> None:
        given = json.dumps({"query": "python", "num_results": 3})
        for script in self.SCRIPTS:
            with self.subTest(script):
                meant = self.dry_run(script, "python", "--count", "3")
                self.assertEqual(self.dry_run(script, given).document, meant.document)
        meant = self.dry_run("serper_search.py", "news", "python", "--count", "3")
        self.assertEqual(self.dry_run("serper_search.py", "news", given).document, meant.document)

    def test_an_error_names_a_parameter_as_its_caller_wrote_it(self) -> None:
        for script, word in (
            ("brave_search.py", "safesearch"), ("serper_search.py", "time_range"),
            ("web_search.py", "limit"), ("keyless_search.py", "safesearch"),
            ("gemini_search.py", "time_range"),
        ):  # fmt: skip
            run = self.dry_run(script, "--params-json", json.dumps({"query": "x", word: "foo"}))
            with self.subTest(script):
                self.assertEqual(run.code, 2)
                self.assertRegex(run.document["error"], rf"^{word} must be .*, not 'foo'\.$")

    def test_those_that_cannot_be_had_say_what_to_do(self) -> None:
        for script, flag, hint in (
            ("read_page.py", "--page", "To continue, set --offset."),
            ("brave_search.py", "--size", "For the number of results set --count."),
            ("web_search.py", "--page", "For more, raise --count."),
            ("gemini_search.py", "--page", "It has no result pages."),
            ("gemini_search.py", "--limit", "max_sources lists fewer of them"),
            ("gemini_search.py", "--include-domains", "name the site in the question"),
            ("gemini_search.py", "--lang", "in the language of the question"),
            ("read_page.py", "--limit", "It is for a search"),
            ("serper_search.py", "--safesearch", "Brave Search has one"),
        ):
            run = self.dry_run(script, "https://e.org/", flag, "2")
            with self.subTest(script, flag=flag):
                self.assertEqual(run.code, 2)
                self.assertIn(hint, run.document["details"]["hint"])


class Messages(unittest.TestCase):
    def test_messages_and_hints_name_parameters_not_flags_and_no_file(self) -> None:
        """The same sentence is right on the command line, over MCP and over HTTP."""
        # Only the command line runs these modules, and only it has these options.
        of_people = (
            "doctor.py",
            "doctor_live.py",
            "front_door.py",
            "installation.py",
            "mcp_stdio.py",
        )
        of_the_command_line = ("--output", "--open", "--help", "Put -- before", "{script['name']}")
        for path in sorted(SCRIPTS.rglob("*.py")):
            for line, text in message_texts(path) if path.name not in of_people else []:
                if any(words in text for words in of_the_command_line):
                    continue
                with self.subTest(path.name, line=line):
                    self.assertNotRegex(text, r"(?<!\S)--[a-z]|\w\.py\b")

    def test_parameters_in_hints_are_marked_and_known_to_every_way_in(self) -> None:
        """What the way in that shows a hint writes in its own spelling, or leaves out."""
        tables = [load_script(name).COMMANDS for name in WITH_TABLES]
        common_params = [*kit.COMMON_PARAMS, *kit.OUTPUT_PARAMS]
        known = {item["name"] for item in common_params} | {
            item["name"] for table in tables for spec in table.values() for item in spec["params"]
        }
        tools = load_script("websearch.ways_in.mcp_tools")
        takes = [
            {item["name"]: label for label, item in tools.tool_parameters(name).items()}
            for name in tools.TOOLS
        ]
        names = "timeout|page_timeout|browser|archived|stale|llms"
        bare = rf"\b(?:Give|Raise|With|Without|Leave) (?:{names})\b"
        texts = {text for path in SCRIPTS.rglob("*.py") for _, text in message_texts(path)}
        marked = {text for text in texts if re.search(r"\{[a-z_]+\}", text)}
        self.assertGreater(len(marked), 15)
        for text in texts:
            with self.subTest(text):
                self.assertLessEqual(set(re.findall(r"\{([a-z_]+)\}", text)), known)
                self.assertNotRegex(text, bare)
                for spelling in takes:
                    hint = kit.spell_hints({"hint": text}, spelling).get("hint", "")
                    self.assertNotRegex(hint, r"\{[a-z_]+\}")

    def test_a_hint_is_written_as_its_reader_writes_parameters(self) -> None:
        hint = "Try later. Raise {page_timeout}. Or {since} it."
        document = {"details": {"hint": hint}, "warnings": ["{since}.", "{x}."], "hint": "{a}?"}
        self.assertEqual(
            kit.spell_hints(document, {"since": "from"}),
            {"details": {"hint": "Try later. Or from it."}, "warnings": ["from."]},
        )
        plain = kit.spell_hints(document)["details"]["hint"]
        self.assertEqual(plain, "Try later. Raise page_timeout. Or since it.")


def message_texts(path: Path) -> list[tuple[int, str]]:
    """Return (line, source) of every text that a SearchError, a warning or a hint is made of."""
    source = path.read_text(encoding="utf-8")
    found = []
    for node in ast.walk(ast.parse(source)):
        texts: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("SearchError"):
            texts = node.args[1:]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            named = re.search("(?i)hint|message|warning|note|cannot|instead", node.targets[0].id)
            texts = [node.value] if named else []
        found += [
            (part.lineno, part.value)
            for text in texts
            for part in ast.walk(text)
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        ]
    return found


class SharedCode(unittest.TestCase):
    def test_copies_and_parameter_tables_are_those_of_the_source(self) -> None:
        run = subprocess.run(
            [sys.executable, str(ROOT / "tests/tools/sync.py"), "--check"],
            capture_output=True,
            check=False,
        )
        self.assertEqual(run.stdout.decode(), "")
        self.assertEqual(run.returncode, 0)

    def test_the_check_sees_a_copy_that_differs(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "skill"
            for part in ("scripts", "references", "assets"):
                shutil.copytree(ROOT / part, copy / part)
            (copy / "tests/tools").mkdir(parents=True)
            for name in ("tests/tools/sync.py", "server.json", "SKILL.md"):
                shutil.copy(ROOT / name, copy / name)
            script = copy / "scripts/brave_search.py"
            text = script.read_text(encoding="utf-8")
            script.write_text(text.replace("FAULT_TRIES = 3", "FAULT_TRIES = 4"), encoding="utf-8")
            check = [sys.executable, str(copy / "tests/tools/sync.py"), "--check"]
            run = subprocess.run(check, capture_output=True, check=False)
            self.assertEqual(run.returncode, 1)
            self.assertIn("differs: scripts/brave_search.py", run.stdout.decode())


class OneDocument(FakeServerCase):
    """The contract of stdout, shown with the Brave script."""

    script = "brave_search.py"

    def test_json_is_compact_in_a_pipe_and_indented_with_pretty(self) -> None:
        compact = self.run_script(self.script, "python")
        pretty = self.run_script(self.script, "python", "--pretty")
        self.assertEqual(compact.stdout.count(b"\n"), 1)
        self.assertGreater(pretty.stdout.count(b"\n"), 20)
        self.assertEqual(pretty.document["web_results"], compact.document["web_results"])

    def test_argument_errors_are_documents_with_exit_code_2(self) -> None:
        for arguments in (
            ["--no-such-flag"], ["python", "extra words"], ["--count"], ["python", "--count", "x"],
            ["--params-json", "{"], ["--params-json", "[]"], ["--params-json", "@/no/such/file"],
            ["python", "--format", "xml"], ["news"], ["-x"],
            ["a", "--query", "b"], ["python", "--no-spellcheck=true"],
            ["news", "python", "extra"], [],
        ):  # fmt: skip
            with self.subTest(arguments):
                run = call_main(load_script(self.script), *arguments)
                self.assertEqual(run.code, 2)
                self.assertEqual(run.document["details"]["kind"], "invalid_input")
                self.assertTrue(run.document["error"])
                self.assertEqual(run.stderr, "")
        self.assertEqual(self.server.requests, [])

    def test_an_error_in_markdown_names_kind_message_and_hint(self) -> None:
        for flags in (["--format", "markdown"], ["--md"], ["--md", "--format=md"]):
            run = self.run_script(self.script, "python", *flags, key="bad-" + CANARY)
            text = run.stdout.decode()
            with self.subTest(flags):
                self.assertEqual(run.code, 3)
                self.assertIn("**Error (auth):** Brave refused the key", text)
                self.assertIn("api-dashboard", text)
        run = self.run_script(self.script, "--no-such-flag", "--format=markdown")
        self.assertIn("**Error (invalid_input):**", run.stdout.decode())

    def test_the_word_markdown_in_a_query_is_no_format(self) -> None:
        self.assertTrue(self.run_script(self.script, "markdown").stdout.startswith(b"{"))

    def test_parameters_may_come_as_json_text_file_or_standard_input(self) -> None:
        given = json.dumps({"query": "python", "count": 1})
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8-sig") as file:
            file.write(given)
            file.flush()
            runs = [
                self.run_script(self.script, "--params-json", given),
                self.run_script(self.script, "--params-json", "@" + file.name),
                run_script(
                    self.script, "web", "--params-json", "-", env=self.environment, stdin=given
                ),
            ]
        for run in runs:
            self.assertEqual(len(run.document["web_results"]), 1)

    def test_a_flag_wins_over_params_json(self) -> None:
        given = json.dumps({"q": "python", "num": 3})
        run = self.run_script(self.script, "--params-json", given, "--count", "1")
        self.assertEqual(len(run.document["web_results"]), 1)

    def test_a_command_word_can_be_searched_for_as_the_message_says(self) -> None:
        hint = self.run_script(self.script, "news").document["details"]["hint"]
        self.assertIn("brave_search.py web 'news'", hint)
        self.run_script(self.script, "web", "news")
        self.assertEqual(self.server.requests[-1].query["q"], ["news"])

    def test_unquoted_words_are_one_query_wherever_the_flags_stand(self) -> None:
        for words in (
            "rust async --count 3 runtimes", "-n3 -- rust async runtimes",
            "rust --raw async runtimes", "web --spellcheck rust async runtimes",
            "'rust async runtimes' -n 3",  # as cmd.exe passes it
        ):  # fmt: skip
            call_main(load_script(self.script), *words.split())
            self.assertEqual(self.server.requests[-1].query["q"], ["rust async runtimes"], words)

    def test_a_word_beside_quoted_words_is_named_as_a_mistyped_command(self) -> None:
        run = call_main(load_script(self.script), "nwes", "climate change")
        self.assertEqual(run.document["error"], "'nwes' is not a command; did you mean news?")
        self.assertIn("The commands are web,", run.document["details"]["hint"])

    def test_a_switch_is_given_alone_with_a_value_or_negated(self) -> None:
        for flag, sent in (
            ("--spellcheck", "true"), ("--spellcheck=false", "false"), ("--no-spellcheck", "false"),
        ):  # fmt: skip
            call_main(load_script(self.script), flag, "python")
            self.assertEqual(self.server.requests[-1].query["spellcheck"], [sent], flag)

    def test_a_value_may_begin_with_a_dash(self) -> None:
        for words in (["--long", "-122.4"], ["--long=-122.4"]):
            call_main(load_script(self.script), "python", "--lat", "-33.8", *words)
            headers = dict(self.server.requests[-1].headers)
            self.assertEqual(headers["X-Loc-Lat"], "-33.8")
            self.assertEqual(headers["X-Loc-Long"], "-122.4")

    def test_flags_whose_hyphens_an_editor_made_a_dash_are_flags(self) -> None:
        for words in (
            ("python", "—count", "3"), ("python", "–count=3"), ("python", "–n", "3"),
            ("—count", "3", "python"), ("web", "python", "−−count", "3"), ("python", "‐‐count=3"),
        ):  # fmt: skip
            run = self.run_script(self.script, *words)
            with self.subTest(words):
                self.assertEqual(run.code, 0, run.document)
                query = self.server.requests[-1].query
                self.assertEqual((query["q"], query["count"]), (["python"], ["3"]))
        for words in (("rust — async",), ("rust", "—", "async"), ("--", "—count")):
            self.run_script(self.script, *words)
            self.assertEqual(self.server.requests[-1].query["q"], [" ".join(words).lstrip("- ")])
        self.assertIn(b"usage", self.run_script(self.script, "—help").stdout)

    def test_a_mistyped_flag_is_told_the_nearest_one(self) -> None:
        for script in (*STANDALONE, "web_search.py", "read_page.py", "doctor.py"):
            for flag, nearest in (("--hlep", "--help"), ("--verison", "--version")):
                hint = self.run_script(script, flag).document["details"]["hint"]
                self.assertIn(f"The nearest flag is {nearest}.", hint)

    def test_a_query_may_begin_with_a_dash_after_two_dashes(self) -> None:
        self.run_script(self.script, "--count", "1", "--", "--python")
        self.assertEqual(self.server.requests[-1].query["q"], ["--python"])

    def test_quotes_newlines_and_any_script_arrive_unchanged(self) -> None:
        query = "\"a\" 'b' $(touch x) `y` \\ 京都 紅葉 😀\nzwei"
        self.run_script(self.script, query)
        self.assertEqual(self.server.requests[-1].query["q"], [query])

    def test_a_query_that_is_no_utf_8_is_refused_by_name(self) -> None:
        command = [os.fsencode(sys.executable), os.fsencode(SCRIPTS / self.script), b"py\xffthon"]
        run = subprocess.run(command, capture_output=True, check=False, env=clean_environment())
        document = json.loads(run.stdout)
        self.assertEqual(run.returncode, 2)
        self.assertIn("query must be valid UTF-8 text", document["error"])
        given = ("--params-json", r'{"query": "Ume\u0000e5"}')
        for script in (*STANDALONE, "web_search.py", "keyless_search.py"):
            run = self.run_script(script, *given)
            self.assertEqual(run.code, 2, run.document)
            self.assertIn("query must be text without control characters", run.document["error"])

    def test_default_documents_stay_below_10000_characters_and_say_what_was_cut(self) -> None:
        short = self.run_script(self.script, "guide", "--count", "20", "--max-chars", "3000")
        self.assertLessEqual(len(short.stdout), 3_001)
        self.assertIn("--max-chars", short.document["truncated"]["hint"])
        self.assertGreater(short.document["truncated"]["items_dropped"]["web_results"], 0)
        for item in short.document["web_results"]:
            self.assertRegex(item["url"], r"^https://\S+[^…]$")
        whole = self.run_script(self.script, "guide", "--count", "20", "--max-chars", "0")
        self.assertEqual(len(whole.document["web_results"]), 20)
        self.assertLess(len(self.run_script(self.script, "guide").stdout.decode()), 10_000)

    def test_verbose_shows_no_hidden_characters_of_a_query(self) -> None:
        run = self.run_script(self.script, "a\u2066b\u202ec", "--verbose")
        self.assertIn('"query":"abc"', run.stderr)

    def test_verbose_shows_the_traceback_of_a_defect_and_nothing_else_does(self) -> None:
        code = (
            f"import sys; sys.path.insert(0, {str(SCRIPTS)!r}); import brave_search as script; "
            "script.web_document = None; raise SystemExit(script.main(sys.argv[1:]))"
        )
        for flags, shown in (([], False), (["--verbose"], True)):
            run = subprocess.run(
                [*PYTHON, "-c", code, "python", *flags],
                capture_output=True,
                check=False,
                env=clean_environment(**self.environment),
            )
            document = json.loads(run.stdout)
            self.assertEqual((run.returncode, document["details"]["kind"]), (70, "internal"))
            self.assertEqual(b"Traceback" in run.stderr, shown)

    def test_ctrl_c_prints_a_document_and_exits_with_130(self) -> None:
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / self.script), "python"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(**{**self.environment, "BRAVE_SEARCH_API_KEY": "hang-" + CANARY}),
        )
        limit = time.monotonic() + 20
        while not self.server.requests and time.monotonic() < limit:
            time.sleep(0.02)
        started = time.monotonic()
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=20)
        self.assertLess(time.monotonic() - started, SLACK)
        self.assertEqual(json.loads(stdout)["details"]["kind"], "interrupted")
        self.assertEqual((process.returncode, stderr), (130, b""))

    def test_a_reader_who_has_gone_is_no_error(self) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        run = subprocess.run(
            [*PYTHON, str(SCRIPTS / self.script), "python"],
            stdout=writing,
            check=False,
            stderr=subprocess.PIPE,
            env=clean_environment(**self.environment),
        )
        os.close(writing)
        self.assertEqual((run.returncode, run.stderr), (0, b""))

    @unittest.skipUnless(os.name == "posix", "a shell's 2>&-")
    def test_a_closed_stderr_loses_no_answer(self) -> None:
        run = subprocess.run(
            ["sh", "-c", '"$@" 2>&-', "sh", *PYTHON, str(SCRIPTS / self.script), "python"],
            capture_output=True,
            env=clean_environment(**self.environment),
            check=False,
        )
        self.assertEqual(run.returncode, 0)
        self.assertTrue(json.loads(run.stdout)["ok"])

    @unittest.skipUnless(Path("/dev/full").exists(), "Linux's device that is always full")
    def test_a_full_disk_is_one_line_on_stderr(self) -> None:
        for words in (["--dry-run", "python"], ["--help"]):
            with self.subTest(words), Path("/dev/full").open("wb") as full:
                run = subprocess.run(
                    [*PYTHON, str(SCRIPTS / self.script), *words],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    env=clean_environment(),
                    check=False,
                )
                line = b"brave_search.py: stdout could not be written: No space left on device\n"
                self.assertEqual((run.returncode, run.stderr), (74, line))

    def test_text_is_utf_8_whatever_the_locale(self) -> None:
        environment = {
            **self.environment,
            "LC_ALL": "C",
            "PYTHONUTF8": "0",
            "PYTHONIOENCODING": "ascii",
        }
        run = run_script(self.script, "京都 紅葉", "--language", "ja", env=environment)
        self.assertEqual(run.code, 0)
        self.assertIn("京都", run.document["web_results"][0]["title"])


class OutputFile(FakeServerCase):
    script = "brave_search.py"

    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self)

    def test_the_document_goes_into_the_file_and_a_receipt_to_stdout(self) -> None:
        path = self.folder / "result.json"
        run = self.run_script(self.script, "guide", "--count", "20", "--output", str(path))
        self.assertEqual(run.document["output"], str(path))
        self.assertEqual(run.document["bytes"], path.stat().st_size)
        self.assertEqual(len(json.loads(path.read_text("utf-8"))["web_results"]), 20)
        self.assertEqual(os.listdir(self.folder), ["result.json"])

    def test_markdown_goes_into_the_file_too(self) -> None:
        path = self.folder / "result.md"
        self.run_script(self.script, "python", "--format", "markdown", "--output", str(path))
        self.assertTrue(path.read_text("utf-8").startswith("## "))

    def test_an_error_leaves_the_file_as_it_was(self) -> None:
        path = self.folder / "result.json"
        path.write_text("before")
        run = self.run_script(self.script, "python", "--output", str(path), key="quota-" + CANARY)
        self.assertEqual((run.code, run.document["ok"]), (4, False))
        self.assertEqual(path.read_text(), "before")

    def test_a_place_that_cannot_be_written_is_refused_before_anything_is_sent(self) -> None:
        places = (self.folder / "missing" / "result.json", self.folder, Path("/proc/result.json"))
        for path in places:
            with self.subTest(path.name):
                run = self.run_script(self.script, "python", "--output", str(path))
                self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
                self.assertIn("could not be written", run.document["error"])
        self.assertEqual(self.server.requests, [])

    def test_a_file_keeps_its_mode(self) -> None:
        path = self.folder / "result.json"
        path.touch(mode=0o600)
        self.run_script(self.script, "python", "--output", str(path))
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.assertTrue(json.loads(path.read_text("utf-8"))["ok"])

    def test_a_device_is_written_to_and_stays_a_device(self) -> None:
        run = self.run_script(self.script, "python", "--output", "/dev/null")
        self.assertEqual(run.document["ok"], True)
        self.assertFalse(Path("/dev/null").is_file())

    def test_a_link_keeps_pointing_to_the_file_that_is_written(self) -> None:
        target, link = self.folder / "target.json", self.folder / "link.json"
        target.write_text("before")
        link.symlink_to(target)
        self.run_script(self.script, "python", "--output", str(link))
        self.assertTrue(link.is_symlink())
        self.assertTrue(json.loads(target.read_text("utf-8"))["ok"])


class AnyWayToRun(FakeServerCase):
    """The same command gives the same document, however the script is reached."""

    script = "brave_search.py"

    def document(self, command: list[str], cwd: str) -> object:
        run = subprocess.run(
            command,
            capture_output=True,
            check=False,
            cwd=cwd,
            env=clean_environment(**self.environment),
        )
        self.assertEqual(run.returncode, 0, run.stderr.decode())
        return json.loads(run.stdout)

    def test_directly_by_link_from_elsewhere_and_copied_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            alone = Path(folder) / "alone dir" / self.script
            alone.parent.mkdir()
            shutil.copy(SCRIPTS / self.script, alone)
            link = Path(folder) / "link.py"
            link.symlink_to(SCRIPTS / self.script)
            # Without news, whose time of day goes on between two calls.
            search = ["python", "--result-filter", "web,faq,videos,infobox,discussions"]
            here = self.document([*PYTHON, str(SCRIPTS / self.script), *search], str(ROOT))
            for path in (SCRIPTS / self.script, link, alone):
                with self.subTest(path.name):
                    command = [sys.executable, str(path), *search]
                    self.assertEqual(self.document(command, folder), here)
            self.assertEqual(os.listdir(alone.parent), [self.script])

    def test_isolated_and_with_a_safe_path(self) -> None:
        for flags in (["-I"], ["-W", "error"], ["-X", "utf8=0"], ["-S"]):
            with self.subTest(flags):
                command = [sys.executable, *flags, str(SCRIPTS / self.script), "python"]
                self.assertTrue(self.document(command, str(ROOT)))

    def test_through_uv_where_it_is_installed(self) -> None:
        uv = shutil.which("uv")
        if not uv:
            self.skipTest("uv is not installed")
        with tempfile.TemporaryDirectory() as folder:
            search = [str(SCRIPTS / self.script), "context", "python"]
            direct = self.document([*PYTHON, *search], folder)
            through_uv = self.document([uv, "run", "--python", sys.executable, *search], folder)
            self.assertEqual(through_uv, direct)
            self.assertEqual(os.listdir(folder), [])


class Keys(FakeServerCase):
    script = "brave_search.py"

    def setUp(self) -> None:
        super().setUp()
        folder = new_folder(self)
        self.secrets = folder / "web-search" / "secrets.yaml"
        self.secrets.parent.mkdir()
        self.place = {"BRAVE_SEARCH_BASE_URL": self.server.url, "XDG_CONFIG_HOME": str(folder)}

    def write(self, text: str, mode: int = 0o600) -> None:
        self.secrets.write_text(text, encoding="utf-8")
        self.secrets.chmod(mode)

    def sent_key(self, **variables: str) -> str | None:
        self.server.clear()
        run_script(self.script, "python", env={**self.place, **variables})
        return self.server.requests[0].header("X-Subscription-Token")

    def test_come_from_the_environment_then_from_the_file_narrow_name_first(self) -> None:
        first, second = f"good-file-{CANARY}", f"good-second-{CANARY}"
        self.write(f"BRAVE_SEARCH_API_KEY: {first}\nBRAVE_API_KEY: second-{first}\n")
        self.assertEqual(self.sent_key(), first)
        self.assertEqual(self.sent_key(BRAVE_API_KEY=second), second)
        both = {"BRAVE_API_KEY": second, "BRAVE_SEARCH_API_KEY": self.key}
        self.assertEqual(self.sent_key(**both), self.key)
        self.assertEqual(self.sent_key(BRAVE_SEARCH_API_KEY="  "), first)

    def test_in_the_file_may_be_quoted_and_commented(self) -> None:
        for line in (
            "BRAVE_SEARCH_API_KEY: good-x", 'BRAVE_SEARCH_API_KEY: "good-x"  # mine',
            "BRAVE_SEARCH_API_KEY: 'good-x'", "  BRAVE_SEARCH_API_KEY:good-x # mine",
            "\ufeffBRAVE_SEARCH_API_KEY: good-x", "# a\n\nb: [1, 2]\nBRAVE_SEARCH_API_KEY: good-x",
        ):  # fmt: skip
            with self.subTest(line):
                self.write(line.replace("good-x", self.key) + "\n")
                self.assertEqual(self.sent_key(), self.key)

    def test_in_the_environment_may_be_quoted(self) -> None:
        for quoted in (f'"{self.key}"', f"'{self.key}'", f' "{self.key}" '):
            self.assertEqual(self.sent_key(BRAVE_SEARCH_API_KEY=quoted), self.key)

    def test_file_can_be_named_by_a_variable(self) -> None:
        other = self.secrets.parent / "other.yaml"
        other.write_text(f"BRAVE_SEARCH_API_KEY: {self.key}\n")
        other.chmod(0o600)
        self.assertEqual(self.sent_key(WEB_SEARCH_SECRETS=str(other)), self.key)
        for path in (str(other.parent), "/dev/null", "none.yaml", "~nobody-here/x", "x" * 5_000):
            run = run_script(self.script, "x", env={**self.place, "WEB_SEARCH_SECRETS": path})
            self.assertEqual((run.code, run.document["details"]["kind"]), (3, "auth"), path)

    def test_values_may_hold_spaces_and_end_at_a_comment(self) -> None:
        lines = (
            "A_LIST: a.example, b.example  # mine", "A_KEY: abc#def", "QUOTED: 'x y'  # z",
            'EMPTY: ""', "# N: 1", "N: # 2",
        )  # fmt: skip
        self.write("\n".join(lines))
        self.set_environment(WEB_SEARCH_SECRETS=str(self.secrets))
        expected = {
            "A_LIST": "a.example, b.example",
            "A_KEY": "abc#def",
            "QUOTED": "x y",
            "EMPTY": "",
        }
        self.assertEqual(kit.read_secrets(), expected)

    def test_a_missing_key_names_variable_and_file_before_any_request(self) -> None:
        run = run_script(self.script, "python", env=self.place)
        self.assertEqual(run.code, 3)
        self.assertEqual(run.document["error"], "BRAVE_SEARCH_API_KEY is not set.")
        self.assertIn(str(self.secrets), run.document["details"]["hint"])
        self.assertEqual(self.server.requests, [])

    def test_secrets_in_the_current_directory_are_not_read(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("secrets.yaml", ".env"):
                (Path(folder) / name).write_text(f"BRAVE_SEARCH_API_KEY: {self.key}\n")
            run = run_script(self.script, "python", env=self.place, cwd=folder)
        self.assertEqual(run.code, 3)

    def test_a_key_that_no_header_can_carry_is_named_and_not_shown(self) -> None:
        for key in ("good\nX: y", "gööd-key", "good key", "“good”"):
            with self.subTest(key):
                run = run_script(
                    self.script, "python", env={**self.place, "BRAVE_SEARCH_API_KEY": key}
                )
                self.assertEqual((run.code, run.document["details"]["kind"]), (3, "auth"))
                self.assertIn("BRAVE_SEARCH_API_KEY", run.document["error"])
                self.assertNotIn(key.encode(), run.stdout)

    def test_a_placeholder_that_was_not_filled_in_is_no_key_and_is_not_sent(self) -> None:
        name = "BRAVE_SEARCH_API_KEY"
        placeholders = (
            f"${{{name}}}", f"${name}", f"%{name}%", f"{{env:{name}}}", f"${{env:{name}}}",
            "{{KEY}}", "<your key>", f'"${{{name}}}"',
        )  # fmt: skip
        for placeholder in placeholders:
            with self.subTest(placeholder):
                variables = {**self.place, name: placeholder}
                run = run_script(self.script, "python", env=variables)
                self.assertEqual((run.code, run.document["details"]["kind"]), (3, "auth"))
                self.assertIn(f"{name} contains a placeholder", run.document["error"])
        self.assertEqual(self.server.requests, [])
        self.write(f"{name}: {self.key}\n")
        self.assertEqual(self.sent_key(**{name: placeholders[0]}), self.key)

    def test_each_plan_prefers_a_key_of_its_own(self) -> None:
        names = {
            "answers": "BRAVE_ANSWERS_API_KEY",
            "suggest": "BRAVE_SUGGEST_API_KEY",
            "spellcheck": "BRAVE_SPELLCHECK_API_KEY",
        }
        for command, name in names.items():
            self.server.clear()
            own = f"{command}-own-{CANARY}"
            shared = f"search-{CANARY}"
            variables = {**self.place, "BRAVE_SEARCH_API_KEY": shared, name: own}
            run = run_script(self.script, command, "python", env=variables)
            with self.subTest(command):
                self.assertEqual(run.code, 0, run.document)
                key = self.server.requests[0].header("X-Subscription-Token")
                self.assertEqual(key, own)


class Addresses(FakeServerCase):
    script = "brave_search.py"

    def test_plain_http_is_for_loopback_only_and_the_variable_is_named(self) -> None:
        for address in (
            "http://api.example.com", "ftp://127.0.0.1", "https://", "https://user:pw@example.com",
            "http://127.0.0.1.example.com", "https://example.com/?key=1", "example.com",
            "http://127.0.0.1:port", "https://exämple.com", "http://[::1",
        ):  # fmt: skip
            with self.subTest(address):
                self.set_environment(BRAVE_SEARCH_BASE_URL=address)
                run = call_main(load_script(self.script), "python")
                self.assertEqual(run.code, 2, run.document)
                self.assertIn("BRAVE_SEARCH_BASE_URL", run.document["error"])

    def test_a_password_in_an_address_is_in_no_message_and_no_log(self) -> None:
        password = "pass/word-" + CANARY
        addresses = (
            f"https://user:{password}@api.example.com",
            f"user:{password}@api.example.com",
            f"http://{password}@127.0.0.1:9",
            f"https://api.example.com/?key={password}",
        )
        variables = {
            name: engine.address[0]
            for name, engine in load_script("websearch.engines.table").ENGINES.items()
        }
        proxy = {"https_proxy": f"http://user:{CANARY}@127.0.0.1:9"}
        runs = [(name, {variables[name]: one}) for name in variables for one in addresses]
        runs += [
            (name, {**proxy, variables[name]: "https://api.example.com"}) for name in variables
        ]
        keys = {"BRAVE_SEARCH_API_KEY": "k1", "SERPER_API_KEY": "k2", "GEMINI_API_KEY": "k3"}
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            for number, (engine, more) in enumerate(runs):
                self.set_environment(**keys, **more, WEB_SEARCH_LOG=str(log))
                # A query of its own: calls that ask the same share an answer.
                words = (f"python {number}", "--engine", engine, "--no-pages", "--verbose")
                run = call_main(load_script("web_search"), *words, "--timeout", "0.5")
                with self.subTest(engine, **more):
                    self.assertFalse(run.document["ok"], run.document)
                    self.assertNotIn(CANARY, run.stdout.decode() + run.stderr)
            self.assertIn("span", log.read_text("utf-8"))
            self.assertNotIn(CANARY, log.read_text("utf-8"))

    def test_loopback_bypasses_the_proxy_of_the_environment(self) -> None:
        proxies = {"http_proxy": self.server.other_url, "https_proxy": self.server.other_url}
        self.assertEqual(self.run_script(self.script, "python", **proxies).code, 0)
        self.assertEqual(self.server.other_requests, [])

    def test_a_proxy_of_the_environment_is_used_for_other_hosts(self) -> None:
        url, api = self.server.other_url, {"BRAVE_SEARCH_BASE_URL": "https://api.example.com"}
        for value in (url, f"{url.removeprefix('http://')}/", f'"{url}"', f" '{url}/'"):
            with self.subTest(value):
                self.server.clear()
                words = (self.script, "python", "--timeout", "5")
                run = self.run_script(*words, https_proxy=value, **api)
                self.assertEqual(run.code, 5)
                self.assertIn(f"https_proxy is '{url}'", run.document["details"]["hint"])
                (request, *_) = self.server.other_requests
                got = (request.method, request.target)
                self.assertEqual(got, ("CONNECT", "api.example.com:443"))
                self.assertNotIn(CANARY, str(request.headers))

    def test_all_proxy_is_used_where_no_other_is_named(self) -> None:
        variables = {"ALL_PROXY": self.server.other_url, "no_proxy": "other.example"}
        for host in ("api.example.com", "other.example"):
            address = {"BRAVE_SEARCH_BASE_URL": f"https://{host}"}
            self.run_script(self.script, "python", "--timeout", "3", **variables, **address)
        targets = {request.target for request in self.server.other_requests}
        self.assertEqual(targets, {"api.example.com:443"})

    def test_a_proxy_that_does_not_answer_is_named(self) -> None:
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        proxy = f"http://127.0.0.1:{silent.getsockname()[1]}"
        api = {"BRAVE_SEARCH_BASE_URL": "https://api.example.com", "no_proxy": "other.example"}
        page = ("read_page.py", "https://example.com/", "--page-timeout", "1")
        for words in ((self.script, "python", "--timeout", "2"), page):
            with self.subTest(words):
                run = self.run_script(*words, https_proxy=proxy, **api)
                self.assertEqual(run.document["details"]["kind"], "timeout")
                self.assertIn(f"The proxy {proxy} may not answer", run.document["details"]["hint"])
        api["BRAVE_SEARCH_BASE_URL"] = "https://other.example"
        run = self.run_script(self.script, "python", "--timeout", "2", https_proxy=proxy, **api)
        self.assertNotIn(proxy, run.document["details"]["hint"])

    def test_a_proxy_that_refuses_or_speaks_socks_is_named(self) -> None:
        refusing = CannedServer()  # which answers 501 to CONNECT
        self.addCleanup(refusing.close)
        self.assert_named("refused to connect to api.example.com (501)", refusing.url)
        self.assert_named("is a SOCKS proxy", "socks5h://127.0.0.1:9")

    def assert_named(self, words: str, proxy: str) -> None:
        """Assert that a single file and the package name what is wrong with a proxy."""
        variables = {"ALL_PROXY": proxy, "BRAVE_SEARCH_BASE_URL": "https://api.example.com"}
        run = self.run_script(self.script, "python", "--timeout", "5", **variables)
        self.assertIn(words, run.document["error"])
        self.assertIn("all_proxy", run.document["details"]["hint"])

    def test_the_hint_names_the_proxy_without_its_password(self) -> None:
        refusing = CannedServer()  # which answers 501 to CONNECT
        self.addCleanup(refusing.close)
        host = refusing.url.removeprefix("http://")
        rows = (
            (f"http://name:{CANARY}@{host}", f"https_proxy is 'http://[hidden]@{host}'"),
            ("http://127.0.0.1:9", "https_proxy is 'http://127.0.0.1:9'"),
            ("http://no-such-proxy.invalid:80", "https_proxy is 'http://no-such-proxy.invalid:80'"),
            (
                f"socks5://name:{CANARY}@127.0.0.1:9",
                "https_proxy is 'socks5://[hidden]@127.0.0.1:9'",
            ),
        )
        for proxy, words in rows:
            variables = {"https_proxy": proxy, "BRAVE_SEARCH_BASE_URL": "https://api.example.com"}
            run = self.run_script(self.script, "python", "--timeout", "5", **variables)
            with self.subTest(proxy):
                self.assertEqual((run.code, run.document["details"]["kind"]), (5, "network"))
                self.assertIn(words, run.document["details"]["hint"])
                self.assertNotIn(CANARY, run.stdout.decode() + run.stderr)

    def test_a_name_that_does_not_resolve_and_a_closed_port_are_network_errors(self) -> None:
        for address in ("https://no-such-host.invalid", "http://127.0.0.1:9"):
            with self.subTest(address):
                run = self.run_script(
                    self.script, "python", "--timeout", "8", BRAVE_SEARCH_BASE_URL=address
                )
                self.assertEqual(run.code, 5)
                self.assertIn(run.document["details"]["kind"], ("network", "timeout"))
                self.assertTrue(re.search(r"resolved|refused|in time", run.document["error"]))
                if "resolved" in run.document["error"]:
                    self.assertIs(run.document["details"]["retryable"], False)


if __name__ == "__main__":
    unittest.main()
