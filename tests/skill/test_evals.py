"""The evaluations: their commands do what they expect; the references tell the truth.

The only module to notice an evaluation that cannot be met.
"""

from __future__ import annotations

import concurrent.futures
import functools
import json
import re
import tempfile
import unittest
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

from tests.fake_server.server import FakeServer
from tests.skill import test_documents
from tests.support import ROOT, SCRIPTS, EnvironmentCase, load_script, run_script

if TYPE_CHECKING:
    from collections.abc import Callable

EVALS_FOLDER = ROOT / "assets/evals"
EVALS = json.loads((EVALS_FOLDER / "evals.json").read_text(encoding="utf-8"))
TRIGGERS = json.loads((EVALS_FOLDER / "triggers.json").read_text(encoding="utf-8"))
WORKERS = 4  # evaluations at once; most of their time is the start of an interpreter
COMMAND_FORM = rf"^uv run {test_documents.PLACE}scripts/(\w+\.py) "
NOTHING = object()  # what a path leads to that is not in the document


class Outcome(NamedTuple):
    """What one command of an evaluation left behind."""

    code: int
    stdout: str
    document: Any


def found(outcome: Outcome, path: str) -> Any:
    """Return what stands at a path such as results.0.url or results.*.url; NOTHING if nothing."""
    if path == "stdout":
        return outcome.stdout
    value: Any = outcome.document
    names = path.split(".")
    for place, name in enumerate(names):
        if name == "*":
            rest = ".".join(names[place + 1 :])
            items = value if isinstance(value, list) else []
            values = [found(outcome._replace(document=item), rest) for item in items]
            return [value for value in values if value is not NOTHING]
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return NOTHING
    return value


def every(got: Any, test: Callable[[Any], Any]) -> bool:
    """Return whether there are items and all of them pass a test."""
    return bool(got) and all(map(test, got))


# check -> whether what was found (never NOTHING) and the expected value agree.
CHECKS: dict[str, Callable[[Any, Any], bool]] = {
    "exists": lambda got, _: got not in (None, "", [], {}),
    "equals": lambda got, value: got == value,
    "at_least": lambda got, value: got >= value,
    "contains": lambda got, value: value in got,
    "matches": lambda got, value: re.search(value, got) is not None,
    "length_at_least": lambda got, value: len(got) >= value,
    "length_at_most": lambda got, value: len(got) <= value,
    "each_has": lambda got, names: every(got, lambda item: all(map(item.get, names))),
    "each_at_least": lambda got, value: every(got, lambda item: item >= value),
    "each_contains": lambda got, value: every(got, lambda item: value in item),
    "each_matches": lambda got, value: every(got, lambda item: re.search(value, item)),
    "any_contains": lambda got, value: any(value in item for item in got),
}


def agrees(expectation: dict[str, Any], outcome: Outcome) -> bool:
    """Return whether an outcome is as an expectation says."""
    if expectation["check"] == "exit_code":
        return bool(outcome.code == expectation["value"])
    got = found(outcome, expectation["path"])
    return got is not NOTHING and bool(CHECKS[expectation["check"]](got, expectation.get("value")))


class EvalCommands(unittest.TestCase):
    """The commands of evals.json, run as the documents' commands are."""

    documents: test_documents.EveryCommand

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.addClassCleanup(test_documents.EveryCommand.doClassCleanups)
        # Results lead to pages that can be read, which web_search.py and recall need.
        small_web = functools.partial(FakeServer, local_links=True)
        with mock.patch.object(test_documents, "FakeServer", small_web):
            test_documents.EveryCommand.setUpClass()
        cls.documents = test_documents.EveryCommand("filled")

    def run_commands(self, evaluation: dict[str, Any]) -> list[Outcome]:
        """Run an evaluation's commands one after the other, with a store of their own."""
        outcomes = []
        with tempfile.TemporaryDirectory() as folder:
            environment = {**self.documents.environment, "GLSI_DB_PATH": f"{folder}/cache.db"}
            for command in evaluation["expected_commands"]:
                script, words = self.documents.filled(command)
                run = run_script(script, *words, env=environment, cwd=folder)
                outcomes.append(Outcome(run.code, run.stdout.decode(), run.document))
        return outcomes

    def filled_value(self, value: Any) -> Any:
        """Return an expected text as it is where placeholders are filled in."""
        if isinstance(value, str):
            for placeholder, filling in self.documents.placeholders.items():
                value = value.replace(placeholder, filling)
        return value

    def test_every_expectation_of_every_evaluation_holds(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            all_outcomes = list(pool.map(self.run_commands, EVALS["evals"]))
        for evaluation, outcomes in zip(EVALS["evals"], all_outcomes, strict=True):
            for expectation in evaluation["expectations"]:
                outcome = outcomes[expectation.get("command", 0)]
                filled = {**expectation, "value": self.filled_value(expectation.get("value"))}
                with self.subTest(evaluation["id"], expectation=expectation["text"]):
                    self.assertTrue(
                        agrees(filled, outcome), f"{outcome.code} {outcome.stdout:.600}"
                    )


class EvalFile(unittest.TestCase):
    """The form that agentskills.io and the skill-creator use, and the project's own limits."""

    def test_it_has_twelve_or_more_evaluations_of_the_published_form(self) -> None:
        self.assertEqual(EVALS["skill_name"], "web-search")
        self.assertGreaterEqual(len(EVALS["evals"]), 12)
        fields = [
            "id", "prompt", "expected_output", "files", "expected_commands", "expectations",
            "assertions",
        ]  # fmt: skip
        for number, evaluation in enumerate(EVALS["evals"], 1):
            with self.subTest(number):
                self.assertEqual(list(evaluation), fields)
                self.assertEqual(evaluation["id"], number)
                self.assertTrue(evaluation["assertions"])
                self.assertTrue(all(isinstance(text, str) for text in evaluation["assertions"]))

    def test_every_expectation_has_a_check_and_every_command_its_exit_code_checked(self) -> None:
        for evaluation in EVALS["evals"]:
            with self.subTest(evaluation["id"]):
                codes = []
                for item in evaluation["expectations"]:
                    self.assertTrue(item["text"])
                    self.assertIn(item["check"], {*CHECKS, "exit_code"})
                    self.assertEqual("path" in item, item["check"] != "exit_code")
                    codes += [item.get("command", 0)] if item["check"] == "exit_code" else []
                self.assertEqual(codes, list(range(len(evaluation["expected_commands"]))))

    def test_commands_are_written_as_the_skill_teaches(self) -> None:
        for evaluation in EVALS["evals"]:
            for command in evaluation["expected_commands"]:
                with self.subTest(command):
                    self.assertRegex(f"{command} ", COMMAND_FORM)
                    self.assertNotRegex(command, r'"[^"]*\$|`|\$\d')

    def test_every_script_that_is_a_command_is_covered(self) -> None:
        run = {
            match[1]
            for evaluation in EVALS["evals"]
            for command in evaluation["expected_commands"]
            if (match := re.match(COMMAND_FORM, f"{command} "))
        }
        scripts = {
            path.name
            for path in SCRIPTS.glob("*.py")
            if '\nif __name__ == "__main__":' in path.read_text(encoding="utf-8")
        }
        self.assertEqual(run, scripts - {"install.py"})  # for people, not for agents


class Triggers(unittest.TestCase):
    """Questions that should load the skill, and near misses that should not."""

    def test_there_are_forty_of_each(self) -> None:
        verdicts = [trigger["should_trigger"] for trigger in TRIGGERS]
        self.assertEqual((verdicts.count(True), verdicts.count(False)), (40, 40))
        self.assertEqual(len({trigger["query"] for trigger in TRIGGERS}), 80)
        self.assertEqual({tuple(trigger) for trigger in TRIGGERS}, {("query", "should_trigger")})


# Filter -> the values that are tried.
VALUES = {
    "since": ("hour", "day", "week", "month", "year", "2026-01-01..2026-03-31"),
    "country": ("de",), "language": ("de",), "site": ("docs.python.org",),
    "exclude_site": ("example.com",), "safe": ("off", "moderate", "strict"),
}  # fmt: skip
# Engine -> a site that it has, if it takes only its own.
SITES = {"stackexchange": "superuser.com", "github": "github.com/python"}


def table_rows(path: str, title: str) -> list[list[str]]:
    """Return the cells of the table below a heading of a reference, its head first."""
    text = (ROOT / "references" / path).read_text(encoding="utf-8")
    section = text.split(title, 1)[1]
    block = re.search(r"\n((?:\|.*\n)+)", section)
    assert block is not None
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in block[1].splitlines()]
    return [row for row in rows if not set("".join(row)) <= {"-"}]


class ErrorsReference(unittest.TestCase):
    def test_its_table_has_every_kind_with_its_exit_code_and_http_status(self) -> None:
        rows = table_rows("troubleshooting.md", "\n## Errors\n")[1:]
        kinds = {row[0].strip("`"): (int(row[1]), int(row[2])) for row in rows}
        statuses = load_script("websearch.ways_in.http_messages").STATUSES
        expected = {
            kind: (code, statuses.get(kind, 500))
            for kind, code in load_script("websearch.kit").EXIT_CODES.items()
        }
        self.assertEqual(kinds, expected)

    def test_its_example_has_the_form_of_an_error_document(self) -> None:
        text = (ROOT / "references/troubleshooting.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```json\n(.*)\n```", text.partition("\n## Errors\n")[2])
        errors = [json.loads(block) for block in blocks]
        self.assertTrue(errors)
        for error in errors:
            self.assertLessEqual({"ok", "error", "details"}, set(error))
            self.assertIn(error["details"]["kind"], load_script("websearch.kit").EXIT_CODES)
            self.assertLessEqual({"retryable", "hint"}, set(error["details"]))


class EnginesReference(EnvironmentCase):
    """Each cell of the table of engines is what a dry run does.

    The table is made from ENGINES (tests/tools/sync.py); the scripts of Brave and Serper, and the
    engines' modules, check filters by rules of their own.
    """

    def setUp(self) -> None:
        super().setUp()
        table = load_script("websearch.engines.table").ENGINES
        keys = [engine.keys[0] for engine in table.values() if engine.keys]
        self.set_environment(
            **dict.fromkeys([*keys, "GEMINI_API_KEY"], "key"), SEARXNG_BASE_URL="http://localhost:1"
        )
        head, *rows = table_rows("engines.md", "\n## Engines\n")
        names = [name.strip("`") for name in head]
        self.rows = {row[0].strip("`"): dict(zip(names, row, strict=True)) for row in rows}
        self.text = (ROOT / "references/engines.md").read_text(encoding="utf-8")

    def dry_run(self, engine: str, **params: Any) -> str:
        """Return "yes" if an engine would be asked with these parameters, else the error's kind."""
        params = {"query": "python", "dry_run": True, **params}
        if engine == "brave":
            document = load_script("brave_search").run_web_search(params)
        elif engine in ("serper", "gemini"):
            document = load_script(f"{engine}_search").run_search(params)
        else:
            # As web_search.py asks: some engines need a key, which keyless_search.py does not take.
            calls = load_script("websearch.search.engine_calls")
            lists = {name: [params[name]] for name in ("site", "exclude_site") if name in params}
            request = calls.planned_request(engine, {"count": 5, **params, **lists})
            return "yes" if isinstance(request, dict) else str(request.kind)
        return "yes" if document["ok"] else str(document["details"]["kind"])

    def test_it_has_every_engine(self) -> None:
        self.assertEqual(list(self.rows), list(load_script("websearch.engines.table").ENGINES))

    def test_filters(self) -> None:
        for engine, row in self.rows.items():
            for name, values in VALUES.items():
                cell = row[name].split(", ")
                for value in values:
                    word = "range" if ".." in value else value
                    takes = cell == ["yes"] or word in cell
                    params = {name: SITES.get(engine, value) if name == "site" else value}
                    if (engine, name) == ("searxng", "country"):  # as a note below the table says
                        self.assertEqual(self.dry_run(engine, **params), "invalid_input")
                        params["language"] = "de"
                    with self.subTest(engine, **params):
                        expected = "yes" if takes else "invalid_input"
                        self.assertEqual(self.dry_run(engine, **params), expected)

    def test_notes(self) -> None:
        self.assertIn("`brave` filters by host only", self.text)
        for engine in ("brave", "serper", "duckduckgo", "searxng", "google"):
            self.assertEqual(self.dry_run(engine, site="docs.python.org/3"), "yes")
        self.assertIn("Gemini (`gemini_search.py`) has one filter, `since`", self.text)
        for name, values in VALUES.items():
            for value in values:
                takes = name == "since" and value != "hour"
                with self.subTest("gemini", name=name, value=value):
                    expected = "yes" if takes else "invalid_input"
                    self.assertEqual(self.dry_run("gemini", **{name: value}), expected)

    def test_most_results(self) -> None:
        for engine, row in self.rows.items():
            with self.subTest(engine):
                most = int(row["count"])
                self.assertEqual(self.dry_run(engine, count=most), "yes")
                if engine in ("brave", "serper"):  # web_search.py asks the others for no more
                    self.assertEqual(self.dry_run(engine, count=most + 1), "invalid_input")

    def test_order_of_auto(self) -> None:
        places = {
            int(row["auto"]): engine for engine, row in self.rows.items() if row["auto"] != "no"
        }
        order = load_script("websearch.engines.table").engine_order("auto")
        self.assertEqual([places[place] for place in sorted(places)], order)


if __name__ == "__main__":
    unittest.main()
