"""The table of engines: a module and one entry make an engine, and everything else finds it.

The only module to notice a list of engines that is written by hand.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import unittest
from typing import TYPE_CHECKING

from tests.support import (
    CANARY,
    PYTHON,
    ROOT,
    SCRIPTS,
    SmallWebCase,
    add_engine,
    clean_environment,
    new_folder,
)
from websearch.engines import table as engines
from websearch.engines.base.engine import FILTERS

if TYPE_CHECKING:
    from pathlib import Path

KEY = "good-" + CANARY

# A tiny engine: the API that Wikipedia has, at another address and under another name.
MODULE = '''"""A tiny engine, for a test."""

from websearch.engines.base.engine import Engine
from websearch.engines.base.result_pages import get_request
from websearch.engines.wikipedia import read_answer

__all__ = ["ENGINE", "first_request", "read_answer"]

ENGINE = Engine(
    name="tiny",
    title="Tiny",
    module=__name__,
    address=("TINY_BASE_URL", "https://tiny.example"),
    sources=("reference",),
    filters={},
    max_query=300,
    max_count=50,
)


def first_request(params):
    """Return the GET of a search."""
    fields = {"action": "query", "list": "search", "srsearch": params["query"],
              "srlimit": str(params["count"]), "format": "json", "formatversion": "2",
              "srprop": "snippet|timestamp", "srinfo": "suggestion"}
    return get_request(f"{ENGINE.base_url()}/w/api.php", fields, {})
'''
# An engine with a key and a JSON body: the API that Serper has.
KEYED_MODULE = '''"""An engine with a key, for a test."""

from websearch.engines.base.engine import Engine
from websearch.engines.base.messages import EngineRequest, ResultPage
from websearch.kit import json_answer, status_error

ENGINE = Engine(
    name="vault",
    title="Vault",
    module=__name__,
    keys=("VAULT_API_KEY",),
    key_site="https://vault.example",
    address=("VAULT_BASE_URL", "https://vault.example"),
    paid=True,
    sources=("web",),
    auto=True,
    filters={},
    max_query=300,
    max_count=50,
)


def first_request(params):
    """Return the POST of a search."""
    headers = {"X-API-KEY": ENGINE.key()}
    body = {"q": params["query"], "num": params["count"]}
    return EngineRequest(f"{ENGINE.base_url()}/search", headers, "POST", json=body)


def read_answer(request, response):
    """Return the result page that an answer is."""
    if response.status != 200:
        raise status_error(response, "Vault")
    results = json_answer(response, "Vault").get("organic", [])
    return ResultPage(
        results=[
            {"title": one["title"], "url": one["link"], "snippet": one.get("snippet", "")}
            for one in results
        ],
        credits=2,
    )
'''


class AnEngineMore(SmallWebCase):
    """A copy of the scripts with one module more, seen through every way in."""

    scripts: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.scripts = new_folder(cls) / "skill/scripts"
        shutil.copytree(SCRIPTS, cls.scripts, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "SKILL.md", cls.scripts.parent)
        add_engine(cls.scripts, "tiny", MODULE)
        add_engine(cls.scripts, "vault", KEYED_MODULE)

    def run_command(self, *words: str, codes: tuple[int, ...] = (0, 1), **variables: str) -> str:
        """Run a command of the copy against the fake server; return its output."""
        environment = clean_environment(
            **self.environment_of(self.server.url, ""),
            GLSI_DB_PATH=self.store,
            TINY_BASE_URL=self.server.url,
            VAULT_BASE_URL=self.server.url,
            TEST_SCRIPTS=str(self.scripts),
        )
        environment |= variables
        finished = subprocess.run(
            [*PYTHON, *words], env=environment, cwd=ROOT, capture_output=True, check=False
        )
        self.assertIn(finished.returncode, codes, finished.stderr.decode())
        return finished.stdout.decode()

    def test_help_lists_it_and_it_can_be_searched(self) -> None:
        for script in ("web_search.py", "keyless_search.py"):
            with self.subTest(script):
                command = str(self.scripts / script)
                text = " ".join(self.run_command(command, "--help").split())
                self.assertRegex(text, r"--engine [A-Z](?:(?! --).)*\btiny\b")
                words = ("sourdough", "--engine", "tiny", "--count", "2")
                document = json.loads(self.run_command(command, *words))
                self.assertTrue(document["ok"], document)
                self.assertEqual(len(document["results"]), 2)

    def test_one_with_a_key_is_asked_as_easily(self) -> None:
        command = str(self.scripts / "web_search.py")
        words = (command, "sourdough", "--engine", "vault", "--no-pages", "--count", "2", "--force")
        document = json.loads(self.run_command(*words, codes=(3,)))
        self.assertEqual(document["details"]["kind"], "auth")
        self.assertIn("VAULT_API_KEY", document["error"])
        keyed = {"VAULT_API_KEY": KEY, "GLSI_RATE_LIMIT": "5m"}
        for spent in (2, 4):  # it has no pace, and its answer says what it has cost
            document = json.loads(self.run_command(*words, **keyed))
            self.assertEqual(len(document["results"]), 2)
            self.assertEqual(document["billed"], {"vault": 2})
            stats = json.loads(self.run_command(command, "cache", "stats"))
            self.assertIn({"vault": spent}, stats["spent"].values())
        request = json.loads(self.run_command(*words, "--dry-run", **keyed))["request"]
        self.assertEqual(request["body"], {"q": "sourdough", "num": 2})
        self.assertNotIn(KEY, str(request))
        tables = (str(self.scripts / "keyless_search.py"), "--help")
        self.assertNotIn("vault", self.run_command(*tables))

    def test_doctor_knows_its_address_and_its_pace(self) -> None:
        document = json.loads(self.run_command(str(self.scripts / "doctor.py")))
        lines = {line["name"]: line["message"] for line in document["checks"]}
        self.assertIn(f"TINY_BASE_URL ({self.server.url}", lines["addresses"])
        self.assertRegex(lines["keyless engines"], r"\btiny\b")

    def test_the_schema_of_the_mcp_tool_lists_it(self) -> None:
        text = self.run_command(str(self.scripts / "mcp_server.py"), "tools")
        self.assertRegex(text, r"(?m)^  - engine: .*\btiny\b")

    def test_the_fault_matrix_tries_it(self) -> None:
        code = (
            "import sys; sys.path.insert(0, '')\n"  # PYTHONSAFEPATH leaves it out
            "from tests.tools import faults\n"
            "cells = faults.all_cells()\n"
            "print(sorted({one.fault for one in cells if one.subject.provider == 'tiny'}))"
        )
        faults = self.run_command("-c", code)
        for fault in ("hang", "drip", "reset", "html", "redirect", "garbage"):
            self.assertIn(fault, faults)


class Entries(unittest.TestCase):
    def test_every_entry_is_complete_and_its_module_has_its_functions(self) -> None:
        for name, engine in engines.ENGINES.items():
            with self.subTest(name):
                module = engines.load_module(name)
                wanted = ["first_request", "read_answer"]
                wanted = [engine.function, "as_results"] if engine.function else wanted
                self.assertTrue(all(callable(getattr(module, one)) for one in wanted))
                # Results in several pages, or all in one answer: then there is no such function.
                self.assertTrue(callable(getattr(module, "next_request", callable)))
                self.assertLessEqual(set(engine.filters), set(FILTERS))
                self.assertTrue(engine.address[0].endswith("_BASE_URL"))
                self.assertIn(engine.stored, ("always", "if allowed"))

    def test_a_filter_that_an_engine_lacks_is_refused_by_name(self) -> None:
        table = (
            ("wikipedia", {"site": ["a.org"]}, "site 'a.org'"),
            ("duckduckgo", {"since": "hour"}, "since 'hour'"),
            ("google", {"safe": "moderate"}, "safe 'moderate'"),
            ("serper", {"safe": "off"}, "safe 'off'"),
        )
        for name, params, words in table:
            with self.subTest(name), self.assertRaises(engines.SearchError) as caught:
                engines.ENGINES[name].check_filters(params)
            self.assertEqual(caught.exception.kind, "invalid_input")
            self.assertIn(words, caught.exception.message)
            self.assertTrue(caught.exception.hint)


if __name__ == "__main__":
    unittest.main()
