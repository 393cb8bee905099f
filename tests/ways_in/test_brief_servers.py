"""A brief over MCP (web_search with queries) and over HTTP (GET /brief).

The only module to notice a brief that differs by its way in.
"""

from __future__ import annotations

import json
import re
import unittest
from typing import Any
from urllib.parse import urlencode

from tests.search.scripted_web import ScriptedWeb, story
from tests.support import new_folder, run_script
from tests.ways_in.http_support import Answer, ServerProcess
from tests.ways_in.mcp_support import Client

OTTER, HERON = QUESTIONS = ["otter log", "heron log"]


class BriefCase(unittest.TestCase):
    """A web in which two questions share a page, and a store."""

    def setUp(self) -> None:
        self.web = ScriptedWeb(2)
        self.addCleanup(self.web.close)
        self.variables = self.web.environment("serper", GLSI_DB_PATH=f"{new_folder(self)}/cache.db")
        self.shared = self.web.page("/shared", story("otter") + "\n\n" + story("heron"))
        self.own = self.web.page("/heron", story("heron", 60), site=1)
        self.web.find(OTTER, self.shared)
        self.web.find(HERON, self.own, self.shared)

    def sources_of_the_command(self) -> Any:
        """The sources of the command line for the same questions."""
        run = run_script("web_search.py", "brief", *QUESTIONS, env=self.variables)
        self.assertTrue(run.document["ok"], run.document)
        return run.document["sources"]


class OverMcp(BriefCase):
    def setUp(self) -> None:
        super().setUp()
        self.client = Client(self.variables)
        self.addCleanup(self.client.close)

    def test_queries_return_one_text_with_the_command_s_numbers(self) -> None:
        result = self.client.call("web_search", queries=QUESTIONS)
        self.assertFalse(result["isError"])
        text = result["content"][0]["text"]
        self.assertLess(len(text), 9_000)
        numbered = re.findall(r"(?m)^## (\S+)\n\n\[(\d+)\] \*\*", text)
        sources = self.sources_of_the_command()
        self.assertEqual(numbered, [(one["url"], str(one["number"])) for one in sources])
        self.assertIn("1. otter log\n2. heron log\n", text)
        self.assertEqual(len(self.web.asked), 2)
        self.assertEqual(sorted(self.web.read), sorted([self.shared, self.own]))

    def test_queries_may_come_as_json_text_and_with_other_arguments(self) -> None:
        text = self.client.text("web_search", queries=json.dumps(QUESTIONS), count="1")
        self.assertEqual(re.findall(r"(?m)^\[(\d+)\] \*\*", text), ["1"])
        for query in ("", "null"):
            empty = self.client.text(
                "web_search", queries="\n".join(QUESTIONS), query=query, count=1
            )
            self.assertEqual(re.findall(r"(?m)^\[(\d+)\] \*\*", empty), ["1"])

    def test_arguments_unknown_to_a_brief_are_refused_by_name(self) -> None:
        for arguments, said in (
            ({}, "neither is set"),
            ({"query": "", "queries": []}, "neither is set"),
            ({"query": OTTER, "queries": QUESTIONS}, "both are set"),
            ({"query": " "}, "neither is set"),
            ({"queries": 9 * [OTTER]}, "2 to 8"),
            ({"queries": QUESTIONS, "stale": True}, "no parameter 'stale'"),
        ):
            with self.subTest(arguments):
                result = self.client.call("web_search", **arguments)
                self.assertTrue(result["isError"])
                self.assertIn(said, result["content"][0]["text"])
        self.assertEqual(self.web.asked, [])

    def test_a_list_of_one_is_a_question_and_a_query_that_is_a_list_a_brief(self) -> None:
        for arguments in ({"queries": [OTTER]}, {"query": [OTTER]}, {"q": OTTER}):
            with self.subTest(arguments):
                self.assertNotIn("Questions:", self.client.text("web_search", **arguments))
        self.assertIn("Questions:", self.client.text("web_search", query=QUESTIONS))

    def test_a_brief_reports_progress(self) -> None:
        meta = {"_meta": {"progressToken": "p"}}
        call = {"name": "web_search", "arguments": {"queries": QUESTIONS}, **meta}
        number = self.client.start_request("tools/call", call)
        told = []
        while (message := self.client.receive()).get("id") != number:
            told.append(message["params"]["message"])
        self.assertTrue(any("answers" in one for one in told), told)
        self.assertTrue(any("pages read" in one for one in told), told)


class OverHttp(BriefCase):
    def setUp(self) -> None:
        super().setUp()
        self.api = ServerProcess(**self.variables)
        self.addCleanup(self.api.stop)

    def brief(self, *questions: str, **params: Any) -> Answer:
        """The answer to a brief."""
        pairs = [*(("q", one) for one in questions), *params.items()]
        return self.api.fetch("/brief?" + urlencode(pairs))

    def test_each_q_is_a_question_and_texts_come_whole(self) -> None:
        answer = self.brief(*QUESTIONS)
        self.assertEqual((answer.status, answer.document["status"]), (200, "ok"), answer)
        document = answer.document
        self.assertEqual([one["query"] for one in document["queries"]], QUESTIONS)
        found = {one["url"]: one["queries"] for one in document["sources"]}
        self.assertEqual(found, {self.shared: [1, 2], self.own: [2]})
        self.assertNotIn("truncated", document)
        self.assertIn("of day 60 wrote", json.dumps(document))
        self.assertEqual(len(self.web.asked), 2)
        cut = self.brief(*QUESTIONS, max_chars=2_000, count=1)
        self.assertEqual(len(cut.document["sources"]), 1)
        text = json.dumps(cut.document, ensure_ascii=False, separators=(",", ":"))
        self.assertLess(len(text), 2_100)  # status and the like are added to the document

    def test_failures_have_the_statuses_of_a_search(self) -> None:
        for questions in ([], [OTTER]):
            answer = self.brief(*questions)
            self.assertEqual((answer.status, answer.document["status"]), (400, "error"))
            self.assertIn("q", answer.document["error"])
        self.assertEqual(self.web.asked, [])
        empty = self.brief("no such words", "nor these")
        self.assertEqual((empty.status, empty.document["status"]), (200, "no_results"))
        self.web.statuses["serper"] = 403
        refused = self.brief("otter log 2", "heron log 2", engine="serper")
        self.assertEqual((refused.status, refused.document["details"]["kind"]), (503, "auth"))

    def test_the_description_has_the_parameters_of_a_brief(self) -> None:
        described = self.api.fetch("/openapi.json").document
        operation = described["paths"]["/brief"]["get"]
        parameters = {one["name"]: one for one in operation["parameters"]}
        self.assertTrue(parameters["q"]["required"])
        self.assertTrue(parameters["q"]["explode"])
        bounds = parameters["q"]["schema"]
        self.assertEqual((bounds["type"], bounds["minItems"], bounds["maxItems"]), ("array", 2, 8))
        self.assertEqual(parameters["count"]["schema"]["default"], 8)


if __name__ == "__main__":
    unittest.main()
