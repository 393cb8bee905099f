"""The evaluations: their commands do what they expect; errors.md and choosing.md tell the truth."""

from __future__ import annotations

import concurrent.futures
import functools
import json
import re
import shlex
import subprocess
import tempfile
import unittest
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

from tests.fake_server.server import FakeServer
from tests.skill import test_documents
from tests.support import ROOT, SCRIPTS, EnvironmentCase, load_script

if TYPE_CHECKING:
    from collections.abc import Callable

EVALS_FOLDER = ROOT / "assets/evals"
EVALS = json.loads((EVALS_FOLDER / "evals.json").read_text(encoding="utf-8"))
TRIGGERS = json.loads((EVALS_FOLDER / "triggers.json").read_text(encoding="utf-8"))
WORKERS = 4  # evaluations at once; most of their time is the start of an interpreter
MOST_ALIKE = 0.5  # of the words of two trigger questions that are the same
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
                run = subprocess.run(
                    self.documents.filled(command),
                    capture_output=True,
                    check=False,
                    cwd=folder,
                    env=environment,
                    timeout=60,
                )
                stdout = run.stdout.decode("utf-8")
                try:
                    document = json.loads(stdout)
                except ValueError:  # a tool's text
                    document = None
                outcomes.append(Outcome(run.returncode, stdout, document))
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

    def test_an_expectation_that_does_not_hold_is_noticed(self) -> None:
        document = {"ok": True, "results": [{"url": "https://a.example/", "year": 2019}]}
        outcome = Outcome(0, json.dumps(document), document)
        wrong: list[tuple[str, str, Any]] = [
            ("", "exit_code", 2), ("answer", "exists", None), ("ok", "equals", False),
            ("results.0.year", "at_least", 2020), ("results.0.url", "contains", "b.example"),
            ("results.0.url", "matches", "^http:"), ("results", "length_at_least", 2),
            ("stdout", "length_at_most", 5), ("results", "each_has", ["url", "title"]),
            ("results.*.year", "each_at_least", 2020), ("results.*.url", "each_contains", "b."),
            ("results.*.url", "each_matches", "^http:"), ("results.*.url", "any_contains", "b."),
            ("results.*.title", "each_contains", ""), ("results.1.url", "exists", None),
        ]  # fmt: skip
        self.assertEqual({check for _, check, _ in wrong}, {*CHECKS, "exit_code"})
        for path, check, value in wrong:
            with self.subTest(check, path=path):
                expectation = {"path": path, "check": check, "value": value}
                self.assertFalse(agrees(expectation, outcome))


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

    def test_every_expectation_is_a_sentence_with_a_check(self) -> None:
        for evaluation in EVALS["evals"]:
            for expectation in evaluation["expectations"]:
                with self.subTest(evaluation["id"], expectation=expectation):
                    self.assertTrue(expectation["text"])
                    self.assertIn(expectation["check"], {*CHECKS, "exit_code"})
                    self.assertEqual("path" in expectation, expectation["check"] != "exit_code")
                    commands = len(evaluation["expected_commands"])
                    self.assertLess(expectation.get("command", 0), commands)

    def test_every_command_has_its_exit_code_checked(self) -> None:
        for evaluation in EVALS["evals"]:
            checked = [
                one.get("command", 0)
                for one in evaluation["expectations"]
                if one["check"] == "exit_code"
            ]
            with self.subTest(evaluation["id"]):
                self.assertEqual(checked, list(range(len(evaluation["expected_commands"]))))

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

    def test_no_prompt_and_no_command_stands_there_twice(self) -> None:
        prompts = [evaluation["prompt"] for evaluation in EVALS["evals"]]
        commands = [one for evaluation in EVALS["evals"] for one in evaluation["expected_commands"]]
        for values in (prompts, commands):
            self.assertEqual(len(values), len(set(values)))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


class Triggers(unittest.TestCase):
    """Questions that should load the skill, and near misses that should not."""

    def test_there_are_twenty_of_each(self) -> None:
        verdicts = [trigger["should_trigger"] for trigger in TRIGGERS]
        self.assertEqual((verdicts.count(True), verdicts.count(False)), (20, 20))
        self.assertEqual(len(TRIGGERS), 40)
        self.assertEqual({tuple(trigger) for trigger in TRIGGERS}, {("query", "should_trigger")})

    def test_no_two_are_alike(self) -> None:
        for place, trigger in enumerate(TRIGGERS):
            for other in TRIGGERS[:place]:
                mine, its = words(trigger["query"]), words(other["query"])
                with self.subTest(trigger["query"], other=other["query"]):
                    self.assertLess(len(mine & its) / len(mine | its), MOST_ALIKE)

    def test_near_misses_speak_of_what_the_skill_is_about(self) -> None:
        near = (
            r"search|google|\bweb\b|\burls?\b|https?:|\bhtml\b|\bpage\b|look up|latest|\bdocs?\b|"
            r"duckduckgo|\bapi key\b|sources|robots\.txt|hits"
        )
        for trigger in TRIGGERS:
            if not trigger["should_trigger"]:
                with self.subTest(trigger["query"]):
                    self.assertRegex(trigger["query"].lower(), near)


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
        rows = table_rows("errors.md", "# When a command failed")[1:]
        kinds = {row[0].strip("`"): (int(row[1]), int(row[2])) for row in rows}
        statuses = load_script("websearch.servers.http_messages").STATUSES
        expected = {
            kind: (code, statuses.get(kind, 500))
            for kind, code in load_script("websearch.common").EXIT_CODES.items()
        }
        self.assertEqual(kinds, expected)

    def test_its_examples_of_kinds_have_the_form_of_error_documents(self) -> None:
        text = (ROOT / "references/errors.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
        errors = [json.loads(line) for block in blocks for line in block.splitlines()]
        shown = [error["details"]["kind"] for error in errors if "details" in error]
        self.assertEqual(
            set(shown),
            set(load_script("websearch.common").EXIT_CODES)
            - {"internal", "interrupted", "terminated"},
        )


class ChoosingReference(EnvironmentCase):
    """Each cell of the table of filters is what a dry run does."""

    def setUp(self) -> None:
        super().setUp()
        keys = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY")
        self.set_environment(**dict.fromkeys(keys, "key"), SEARXNG_BASE_URL="http://localhost:1")
        rows = table_rows("choosing.md", "\n## Filters\n")
        self.engines, self.rows = rows[0][1:], rows[1:]

    def dry_run(self, engine: str, **params: Any) -> str:
        """Return "yes" if an engine would be asked with these parameters, else the error's kind."""
        module = engine if engine in ("brave", "serper", "gemini") else "keyless"
        name = "run_web_search" if engine == "brave" else "run_search"
        script = "websearch.engines.keyless" if module == "keyless" else f"{module}_search"
        run = getattr(load_script(script), name)
        if module == "keyless":
            params["engine"] = engine
        document = run({"query": "python", "dry_run": True, **params})
        return "yes" if document["ok"] else str(document["details"]["kind"])

    def params_of(self, flags: str) -> dict[str, Any]:
        """Return the parameters of a row's first cell, such as `--site docs.python.org`."""
        flag, value = shlex.split(flags.strip("`"))
        return {flag.removeprefix("--").replace("-", "_"): value}

    def test_filters(self) -> None:
        seen = 0
        for flags, *cells in self.rows:
            if "`--count` up to" in flags:
                continue
            for engine, cell in zip(self.engines, cells, strict=True):
                expected = "yes" if cell in ("yes", "in words") else "invalid_input"
                seen += 1
                with self.subTest(engine, flags=flags):
                    self.assertEqual(self.dry_run(engine, **self.params_of(flags)), expected)
                    if cell == "with language":
                        both = {**self.params_of(flags), "language": "de"}
                        self.assertEqual(self.dry_run(engine, **both), "yes")
        self.assertEqual(seen, 14 * 7)

    def test_most_results(self) -> None:
        (cells,) = [row[1:] for row in self.rows if "`--count` up to" in row[0]]
        for engine, cell in zip(self.engines, cells, strict=True):
            with self.subTest(engine):
                most = 0 if cell == "no" else int(cell)
                if most:
                    self.assertEqual(self.dry_run(engine, count=most), "yes")
                self.assertEqual(self.dry_run(engine, count=most + 1), "invalid_input")


if __name__ == "__main__":
    unittest.main()
