"""The matrix of faults: every command x every fault x every way in, and that it sees what is new.

Printed as a table by `make faults`.
"""

from __future__ import annotations

import json
import types
import unittest
from typing import Any
from unittest import mock

from tests.support import CANARY, Run, load_script
from tests.tools import faults
from tests.tools.faults import Cell, MissingError, Subject

SUBJECT = Subject("brave_search", "web", "brave", {"query": "x"})


class Matrix(unittest.TestCase):
    def test_every_cell_is_as_expected_and_the_servers_live_on(self) -> None:
        outcomes, wrong = faults.run_matrix()
        self.assertEqual(faults.complaints(outcomes) + wrong, [])
        self.assertEqual(len(outcomes), len(faults.all_cells()))
        for line in faults.table_lines(outcomes):
            self.assertNotIn("!", line)
            self.assertNotIn("(not run)", line)

    def test_every_way_in_is_tried_with_every_script_that_has_it(self) -> None:
        ways: dict[str, set[str]] = {}
        for cell in faults.all_cells():
            ways.setdefault(cell.way, set()).add(cell.subject.script)
        providers = {"brave_search", "serper_search", "gemini_search"}
        every = {*providers, "keyless_search", "read_page", "web_search"}
        self.assertEqual(ways["alone"], every)
        self.assertEqual(ways["process"], every)
        self.assertEqual(ways["batch"], {"serper_search", "gemini_search"})
        self.assertEqual(ways["mcp"], {*providers, "read_page", "web_search"})
        self.assertEqual(ways["http"], {"read_page", "web_search"})

    def test_every_network_tool_and_path_of_the_servers_is_tried(self) -> None:
        cells = faults.all_cells()
        tools, routes = (
            load_script("websearch.servers.mcp_tools"),
            load_script("websearch.servers.http_api").ROUTES,
        )
        tried = {faults.tool_of(one.subject, tools)[0] for one in cells if one.way == "mcp"}  # type: ignore[index]
        self.assertEqual(tried, set(tools.TOOLS) - {"clear_cache", "recall"})
        paths = {faults.route_of(one.subject, routes)[0] for one in cells if one.way == "http"}  # type: ignore[index]
        self.assertEqual(paths, {"/search", "/brief", "/read"})


class WhatIsNew(unittest.TestCase):
    """Something new is named, with what to add."""

    def script(self, name: str, **commands: Any) -> Any:
        module = types.SimpleNamespace(COMMANDS=commands)
        module.__name__ = name
        return module

    def refusal(self, module: Any) -> str:
        with self.assertRaises(MissingError) as caught:
            list(faults.subjects_of(module))
        return str(caught.exception)

    def test_a_command_without_a_sample(self) -> None:
        text = self.refusal(self.script("brave_search", weather={"params": []}))
        self.assertIn("brave_search.weather is new: add ('brave_search', 'weather')", text)
        self.assertIn("SAMPLES in tests/tools/faults.py", text)

    def test_a_required_parameter_without_a_value(self) -> None:
        params = [{"name": "query", "required": True}, {"name": "place", "required": True}]
        text = self.refusal(self.script("brave_search", web={"params": params}))
        self.assertIn("new required parameter, place", text)

    def test_an_engine_without_expectations(self) -> None:
        params = [{"name": "query"}, {"name": "engine", "choices": ["duckduckgo", "mojeek"]}]
        text = self.refusal(self.script("keyless_search", search={"params": params}))
        self.assertIn("has a new engine, mojeek", text)

    def test_a_fault_of_the_fake_server_without_a_kind(self) -> None:
        known = faults.SERVER_FAULTS["serper"]
        words = "new fault of serper, strike: add the kind"
        with (
            mock.patch.dict(faults.SERVER_FAULTS, serper=known | {"strike"}),
            self.assertRaisesRegex(MissingError, words),
        ):
            faults.faults_of("serper")


class TheJudge(unittest.TestCase):
    """What the matrix would complain about."""

    def wrong(self, fault: str, stdout: str, code: int, seconds: float = 0, log: str = "") -> Any:
        document = json.loads(stdout.splitlines()[0])
        run = Run(code, document, stdout.encode(), "")
        return faults.judge_run(Cell(SUBJECT, fault, "alone"), run, seconds, log).wrong

    def test_accepts_what_is_right(self) -> None:
        error = '{"ok":false,"error":"x","details":{"kind":"auth","hint":"y"}}\n'
        self.assertEqual(self.wrong("bad", error, 3), [])
        self.assertEqual(self.wrong("flaky", '{"ok":true}\n', 0), [])

    def test_sees_a_wrong_kind_code_time_and_a_missing_hint(self) -> None:
        error = '{"ok":false,"error":"x","details":{"kind":"auth"}}\n'
        self.assertEqual(
            self.wrong("quota", error, 70, 60.0),
            ["is auth, not quota", "took 60.0 s of 15 s", "has exit code 70", "gives no hint"],
        )

    def test_sees_an_internal_error_and_a_result_where_an_error_should_be(self) -> None:
        defect = '{"ok":false,"error":"x","details":{"kind":"internal","hint":"y"}}\n'
        self.assertIn("is internal, not network", self.wrong("reset", defect, 70))
        self.assertIn("has exit code 70", self.wrong("reset", defect, 70))
        self.assertEqual(self.wrong("reset", '{"ok":true}\n', 0), ["is ok, not network"])

    def test_sees_a_key_a_traceback_and_a_second_line(self) -> None:
        document = '{"ok":true,"x":"%s"}\n'
        self.assertEqual(self.wrong("flaky", document % CANARY, 0), ["shows the key"])
        self.assertEqual(self.wrong("flaky", document % "Traceback", 0), ["shows a traceback"])
        self.assertEqual(self.wrong("flaky", '{"ok":true}\n', 0, log=CANARY), ["shows the key"])
        self.assertEqual(self.wrong("flaky", '{"ok":true}\n{}\n', 0), ["printed 2 lines"])

    def test_sees_a_tool_call_whose_text_and_mark_disagree(self) -> None:
        cell = Cell(SUBJECT, "bad", "mcp")
        for text, marked, wrong in (
            ("**Error (auth):** no", True, []),
            ("**Error (auth):** no", False, ["has isError False"]),
            ("**Error (quota):** no", True, ["is quota, not auth"]),
            ("All is well.", True, ["is ok, not auth", "has isError True"]),
            ("## Authentication Error\n\nno", True, []),
        ):
            message = {"result": {"content": [{"text": text}], "isError": marked}}
            with self.subTest(text):
                self.assertEqual(faults.judge_tool(cell, message, 0.0, b"").wrong, wrong)


if __name__ == "__main__":
    unittest.main()
