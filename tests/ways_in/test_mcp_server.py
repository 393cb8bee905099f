"""scripts/mcp_server.py: the protocol in both eras, the tools over stdio, errors, and its end.

The only module to notice a line that a client could not read, and a schema that is not the table's.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import signal
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import mcp_server as server
from tests.support import CANARY, SLACK, CannedServer, call_main, run_script
from tests.ways_in.mcp_support import LEGACY, META, MODERN, SERVER, Client, McpCase, modern_meta
from websearch.ways_in import mcp_protocol as protocol
from websearch.ways_in import mcp_tools as tools

KEYLESS = ["web_search", "read_page", "recall", "check_quotes", "clear_cache"]
NAMES = [  # with all keys
    "web_search", "read_page", "recall", "check_quotes", "grounded_search", "google_search",
    "brave_web_search", "brave_context", "clear_cache",
]  # fmt: skip
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602


class SharedClient(McpCase):
    """One server process for the class; each test leaves it alive and its output clean."""

    client: Client
    store: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.store = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.store.cleanup)
        cls.environment["GLSI_DB_PATH"] = str(Path(cls.store.name) / "cache.db")
        cls.client = Client(cls.environment)
        cls.addClassCleanup(cls.client.close)

    def tearDown(self) -> None:
        self.assertTrue(self.client.is_alive())
        self.assert_no_key(self.client)
        super().tearDown()


class ProtocolWithAHandshake(SharedClient):
    def test_initialize_answers_the_requested_or_newest_version(self) -> None:
        for asked in [*LEGACY, MODERN, "2099-01-01", "", None, 7, {}]:
            with self.subTest(asked):
                result = self.client.request("initialize", {"protocolVersion": asked})["result"]
                expected = asked if asked in LEGACY else LEGACY[0]
                self.assertEqual(result["protocolVersion"], expected)
                self.assertEqual(result["capabilities"], {"tools": {}})
                self.assertEqual(result["serverInfo"]["name"], "web-search")
                self.assertLessEqual(len(result["instructions"]), 600)

    def test_requests_are_served_without_initialize_or_params(self) -> None:
        client = self.start()
        self.assertEqual(client.request("ping"), {"jsonrpc": "2.0", "id": 1, "result": {}})
        self.assertEqual(len(client.request("tools/list")["result"]["tools"]), len(NAMES))
        self.assertIn("result", client.request("initialize"))

    def test_legacy_results_have_no_modern_fields(self) -> None:
        self.assertEqual(list(self.client.request("tools/list")["result"]), ["tools"])
        result = self.client.call("brave_web_search", query="python")
        self.assertEqual(sorted(result), ["content", "isError"])

    def test_an_id_comes_back_verbatim_with_its_type(self) -> None:
        for number in (0, -5, 7, 2**60, "7", "", "probe-1", "ü\u2028😀"):
            with self.subTest(number):
                self.client.send({"jsonrpc": "2.0", "id": number, "method": "ping"})
                answer = self.client.receive()
                self.assertEqual((answer["id"], type(answer["id"])), (number, type(number)))

    def test_notifications_and_responses_are_never_answered(self) -> None:
        for message in (
            {"method": "notifications/initialized"},
            {"method": "notifications/no_such_thing"},
            {"method": "tools/list"},
            {"method": "notifications/cancelled"},
            {"method": "notifications/cancelled", "params": {"requestId": 99}},
            {"method": "notifications/cancelled", "params": {"requestId": [1]}},
            {"method": "notifications/cancelled", "params": 7},
            {"id": 5, "result": {}},
            {"id": 5, "error": {"code": 1, "message": "x"}},
        ):
            self.client.send({"jsonrpc": "2.0", **message})
        self.client.send({"jsonrpc": "2.0", "id": "next", "method": "ping"})
        self.assertEqual(self.client.receive()["id"], "next")


class ProtocolWithoutAHandshake(SharedClient):
    def test_discover_lists_versions_capabilities_and_lifetime(self) -> None:
        result = self.client.request("server/discover", {"_meta": modern_meta()})["result"]
        self.assertEqual(result["supportedVersions"], [MODERN, *LEGACY])
        self.assertEqual(result["capabilities"], {"tools": {}})
        self.assert_modern(result, cacheable=True)

    def assert_modern(self, result: dict[str, Any], cacheable: bool) -> None:
        self.assertEqual(result["resultType"], "complete")
        self.assertEqual(result["_meta"][f"{META}serverInfo"]["name"], "web-search")
        if cacheable:
            self.assertGreaterEqual(result["ttlMs"], 0)
            self.assertIn(result["cacheScope"], ("public", "private"))

    def test_modern_list_and_call_have_the_version_s_fields(self) -> None:
        result = self.client.request("tools/list", {"_meta": modern_meta()})["result"]
        self.assert_modern(result, cacheable=True)
        self.assertEqual(result["tools"], self.client.request("tools/list")["result"]["tools"])
        for name, arguments, failed in (
            ("brave_web_search", {"query": "python"}, False),
            ("brave_web_search", {"query": ""}, True),
        ):
            params = {"name": name, "arguments": arguments, "_meta": modern_meta()}
            result = self.client.request("tools/call", params)["result"]
            self.assert_modern(result, cacheable=False)
            self.assertEqual(result["isError"], failed)

    def test_both_eras_are_served_in_turn_by_one_process(self) -> None:
        for _ in range(2):
            modern = self.client.request("tools/list", {"_meta": modern_meta()})["result"]
            self.assertIn("resultType", modern)
            legacy = self.client.request("initialize", {"protocolVersion": LEGACY[0]})["result"]
            self.assertNotIn("resultType", legacy)

    def test_methods_removed_from_the_version_are_not_found(self) -> None:
        for method in ("initialize", "ping", "logging/setLevel", "subscriptions/listen"):
            with self.subTest(method):
                answer = self.client.request(method, {"_meta": modern_meta()})
                self.assertEqual(answer["error"]["code"], METHOD_NOT_FOUND)

    def test_an_unknown_version_is_refused_with_the_supported_ones(self) -> None:
        for version in ("2099-01-01", "2025-11-25", ""):
            meta = modern_meta(**{f"{META}protocolVersion": version})
            error = self.client.request("tools/list", {"_meta": meta})["error"]
            self.assertEqual(error["code"], -32022)
            self.assertEqual(error["data"]["requested"], version)
            self.assertIn(MODERN, error["data"]["supported"])

    def test_meta_that_lacks_a_part_is_refused(self) -> None:
        version = {f"{META}protocolVersion": MODERN}
        for method, meta in (
            ("server/discover", None),
            ("server/discover", {}),
            ("server/discover", 7),
            ("tools/list", version),
            ("tools/list", {**version, f"{META}clientCapabilities": []}),
            ("tools/list", {f"{META}protocolVersion": 20260728}),
        ):
            with self.subTest(method, meta=meta):
                params = {} if meta is None else {"_meta": meta}
                error = self.client.request(method, params)["error"]
                self.assertEqual(error["code"], INVALID_PARAMS)


class Faults(SharedClient):
    """Edge inputs: invalid messages and requests, other encodings, too many bytes."""

    def test_invalid_input_is_answered_and_the_server_continues(self) -> None:
        request = b'{"jsonrpc":"2.0","id":1,"method":"ping"'
        for line, code, number in (
            (b"garbage", PARSE_ERROR, None),
            (b'{"jsonrpc":"2.0","id":1,', PARSE_ERROR, None),
            (b"\xff\xfe\x80 not UTF-8", PARSE_ERROR, None),
            (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', PARSE_ERROR, None),
            (b"[" * 20_000, PARSE_ERROR, None),
            (b'{"jsonrpc":"2.0","id":' + b"9" * 5_000 + b',"method":"ping"}', PARSE_ERROR, None),
            (b"[" + request + b"}]", INVALID_REQUEST, None),
            (b"[]", INVALID_REQUEST, None),
            (b"7", INVALID_REQUEST, None),
            (b'"text"', INVALID_REQUEST, None),
            (b"{}", INVALID_REQUEST, None),
            (b'{"id":1,"method":"ping"}', INVALID_REQUEST, 1),
            (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID_REQUEST, 1),
            (b'{"jsonrpc":"2.0","id":1}', INVALID_REQUEST, 1),
            (b'{"jsonrpc":"2.0","id":1,"method":["ping"]}', INVALID_REQUEST, 1),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
            (b'{"jsonrpc":"2.0","id":1.0,"method":"ping"}', INVALID_REQUEST, None),
            (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', INVALID_REQUEST, None),
            (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', INVALID_REQUEST, None),
            (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', INVALID_REQUEST, None),
            (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', INVALID_REQUEST, None),
            (request + b',"params":[1]}', INVALID_PARAMS, 1),
        ):
            with self.subTest(line[:60]):
                self.client.write(line + b"\n")
                answer = self.client.receive()
                self.assertEqual((answer["error"]["code"], answer["id"]), (code, number))

    def test_lists_of_any_depth_are_answered(self) -> None:
        # From Python 3.14 on, some hundred times as many levels as before are read.
        for depth in (900, 20_000, 200_000):
            deep = b"[" * depth + b"]" * depth
            call = b'{"name":"web_search","arguments":{"query":' + deep + b"}}"
            for line in (
                deep,
                b'{"jsonrpc":"2.0","id":' + deep + b',"method":"ping"}',
                b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":' + call + b"}",
            ):
                with self.subTest(line[:60], depth=depth):
                    self.client.write(line + b"\n")
                    answer = self.client.receive()
                    self.assertTrue("error" in answer or answer["result"]["isError"], answer)

    def test_blank_lines_crlf_and_a_byte_order_mark_are_accepted(self) -> None:
        ping = b'{"jsonrpc":"2.0","id":"x","method":"ping"}'
        for data in (b"\n  \n\r\n" + ping + b"\r\n", b"\xef\xbb\xbf" + ping + b"\n"):
            self.client.write(data)
            self.assertEqual(self.client.receive(), {"jsonrpc": "2.0", "id": "x", "result": {}})

    def test_a_line_over_the_limit_is_skipped_and_the_next_answered(self) -> None:
        long = (
            b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (protocol.MAX_MESSAGE + 70_000) + b'"}'
        )
        self.client.write(long + b"\n")
        error = self.client.receive()["error"]
        self.assertEqual(error["code"], INVALID_REQUEST)
        self.assertIn(str(protocol.MAX_MESSAGE), error["message"])

    def test_protocol_violations_are_protocol_errors(self) -> None:
        for method, params, code in (
            ("no/such", {}, METHOD_NOT_FOUND),
            ("x" * 100_000, {}, METHOD_NOT_FOUND),
            ("\ud800", {}, METHOD_NOT_FOUND),
            ("resources/list", {}, METHOD_NOT_FOUND),
            ("logging/setLevel", {"level": "info"}, METHOD_NOT_FOUND),
            ("tools/list", {"cursor": "x"}, INVALID_PARAMS),
            ("tools/call", {}, INVALID_PARAMS),
            ("tools/call", {"name": 7}, INVALID_PARAMS),
            ("tools/call", {"name": "web_serch"}, INVALID_PARAMS),
            ("tools/call", {"name": "\ud800" * 500}, INVALID_PARAMS),
        ):
            with self.subTest(method[:40], params=str(params)[:60]):
                error = self.client.request(method, params)["error"]
                self.assertEqual(error["code"], code)
                self.assertLess(len(error["message"]), 300)
        for name, nearest in (
            ("web_serch", "web_search"), ("search", "web_search"), ("fetch", "read_page"),
            ("Web_Fetch", "read_page"), ("qqq", "The tools are web_search, read_page"),
        ):  # fmt: skip
            error = self.client.request("tools/call", {"name": name})["error"]
            self.assertIn(nearest, error["message"])

    def test_errors_of_a_model_are_results_with_a_hint(self) -> None:
        for name, arguments, words in (
            ("google_search", {}, ["query is missing"]),
            ("google_search", {"query": "x", "count": 500}, ["count", "1 to 100", "500"]),
            ("google_search", {"query": "x", "count": float("nan")}, ["count", "1 to 100"]),
            ("google_search", {"query": "\ud800"}, ["query must be valid UTF-8 text"]),
            ("google_search", {"query": "Ume\0e5"}, ["query must be text without control"]),
            ("web_search", {"query": "Ume\0e5"}, ["query must be text without control"]),
            ("grounded_search", {"query": "Ume\0e5"}, ["query must be text without control"]),
            ("google_search", {"query": "x", "cuont": 5}, ["'cuont'", "nearest argument is count"]),
            ("google_search", {"query": "x", "q": "y"}, ["query is set twice"]),
            ("google_search", {"query": "x", "sites": "a.test"}, ["'sites'", "argument is site"]),
            ("google_search", {"query": "x", "search_site": "a.test"}, ["'search_site'"]),
            ("brave_web_search", {"prompt": "x", "id": 5}, ["'prompt'", "arguments are"]),
            ("clear_cache", {"query": "x", "toolCallId": "c1"}, ["'toolCallId'"]),
            ("clear_cache", {"topic": "x"}, ["'topic'"]),
            ("grounded_search", {"query": " "}, ["query cannot be empty"]),
            ("grounded_search", {"query": "x", "focus": "news"}, ["'news'", "reddit"]),
            ("read_page", {"urls": "http://10.0.0.1/"}, ["no public address"]),
            ("read_page", ["http://example.org"], ["must be an object"]),
        ):
            with self.subTest(name, arguments=str(arguments)):
                params = {"name": name, "arguments": arguments}
                result = self.client.request("tools/call", params)["result"]
                text = result["content"][0]["text"]
                self.assertTrue(result["isError"], text)
                for word in words:
                    self.assertIn(word, text)
                self.assertNotIn("--", text)
                self.assertNotIn(".py", text)
        self.assertEqual(self.server.requests, [])


class ListOfTools(SharedClient):
    def setUp(self) -> None:
        super().setUp()
        self.tools = self.client.request("tools/list")["result"]["tools"]

    def test_the_list_has_the_usable_tools_in_order_and_few_bytes(self) -> None:
        self.assertEqual(self.client.request("tools/list")["result"]["tools"], self.tools)
        brave = {"SERPER_API_KEY": "", "GEMINI_API_KEY": ""}
        none = {**brave, "BRAVE_SEARCH_API_KEY": ""}
        brave_names = [name for name in NAMES if name in KEYLESS or name.startswith("brave")]
        for variables, names, most in (
            ({}, NAMES, 8_000),
            (none, KEYLESS, 4_200),
            (
                {**none, "VERTEX_API_KEY": "x"},
                [*KEYLESS[:4], "grounded_search", "clear_cache"],
                5_400,
            ),
            (brave, brave_names, 6_000),
            ({**none, "WEB_SEARCH_TOOLS": "all"}, list(tools.TOOLS), 8_400),
            (
                {**brave, "WEB_SEARCH_TOOLS": "brave_summarizer, other"},
                [name for name in tools.TOOLS if name in brave_names or "summarizer" in name],
                7_000,
            ),
        ):
            with self.subTest(variables):
                listed = self.start(**variables).request("tools/list")["result"]["tools"]
                self.assertEqual([tool["name"] for tool in listed], names)
                size = len(json.dumps(listed, separators=(",", ":")))
                self.assertLessEqual(size, most, "shorten a description")

    def test_alternative_required_arguments_are_in_the_description(self) -> None:
        (tool,) = [tool for tool in self.tools if tool["name"] == "web_search"]
        # Model providers refuse a schema with one of these at its top.
        self.assertFalse({"anyOf", "oneOf", "allOf"} & tool["inputSchema"].keys())
        self.assertIn("Pass query or, to research, queries", tool["description"])
        result = self.client.call("web_search", count=2)
        self.assertIs(result["isError"], True)
        said = "web_search takes either query or queries; neither is set."
        self.assertIn(said, result["content"][0]["text"])

    def test_tools_that_take_a_period_name_the_day(self) -> None:
        today = time.strftime("Today is %Y-%m-%d", time.gmtime())
        for tool in self.tools:
            takes_period = "since" in tool["inputSchema"]["properties"]
            self.assertEqual(today in tool["description"], takes_period, tool["name"])

    def test_each_schema_is_flat_and_true_to_the_table_of_the_script(self) -> None:
        for tool in self.tools:
            entry = tools.TOOLS[tool["name"]]
            table = entry.command.spec()["params"]
            known = {
                name: item for item in table for name in (item["name"], *item.get("aliases", ()))
            }
            for label, other in entry.instead.items():
                others = other.spec()["params"]
                known |= {item["name"]: item for item in others if item["name"] == label}
            schema = tool["inputSchema"]
            self.assertEqual(schema["type"], "object")
            for label, one in schema["properties"].items():
                if label == "max_chars":  # of every command
                    self.assertEqual((one["minimum"], one["maximum"]), (1_000, 100_000))
                    continue
                with self.subTest(tool["name"], argument=label):
                    parameter = known[label]
                    self.assertNotIn("properties", one)
                    self.assertEqual(one.get("minimum"), parameter.get("min"))
                    self.assertEqual(one.get("maximum"), parameter.get("max"))
                    self.assertLessEqual(
                        set(parameter.get("choices", ())) if "enum" in one else set(),
                        set(one.get("enum", ())),
                    )
                    default = parameter.get("default", parameter.get("documented_default")) or None
                    default = ",".join(default) if isinstance(default, list) else default
                    self.assertEqual(one.get("default"), default)
                    self.assertEqual(one.get("minItems"), parameter.get("min_items"))
                    self.assertEqual(one.get("maxItems"), parameter.get("max_items"))
                    if parameter["type"] == "csv":  # an enum would forbid a list with commas
                        for choice in parameter.get("choices", ()):
                            self.assertIn(choice, one["description"])
            required = [item["name"] for item in table if item.get("required")]
            required = [] if tool["name"] in ("clear_cache", "web_search") else required
            self.assertEqual(schema.get("required", []), required)

    def test_has_text_results_only_and_short_descriptions(self) -> None:
        for tool in self.tools:
            self.assertNotIn("outputSchema", tool)
            self.assertTrue(tool["title"])
            self.assertLessEqual(len(tool["description"]), 300)

    def test_hints_allow_parallel_searches_and_clearing_unasked(self) -> None:
        for tool in self.tools:
            hints = tool["annotations"]
            if tool["name"] == "clear_cache":
                self.assertEqual(
                    hints,
                    {
                        "readOnlyHint": False,
                        "destructiveHint": False,
                        "idempotentHint": True,
                        "openWorldHint": False,
                    },
                )
            else:
                is_open = tool["name"] != "recall"
                self.assertEqual(hints, {"readOnlyHint": True, "openWorldHint": is_open})

    def test_tools_that_are_not_listed_answer_and_say_what_to_set(self) -> None:
        keys = {  # two of them as a host hands them over that has nothing to put in
            "BRAVE_SEARCH_API_KEY": "",
            "SERPER_API_KEY": "${user_config.serper_api_key}",
            "GEMINI_API_KEY": "${env:GEMINI_API_KEY}",
        }
        client = self.start(**keys)
        listed = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
        self.assertEqual(listed, KEYLESS)
        for name, key in (
            ("google_search", "SERPER_API_KEY"),
            ("brave_web_search", "BRAVE_SEARCH_API_KEY"),
            ("brave_context", "BRAVE_SEARCH_API_KEY"),
            ("grounded_search", "GEMINI_API_KEY"),
        ):
            result = client.call(name, query="python")
            self.assertTrue(result["isError"])
            self.assertIn(f"environment variable {key}", result["content"][0]["text"])
            self.assertIn("configuration", result["content"][0]["text"])
        self.assertEqual(self.server.requests, [])


class EveryTool(SharedClient):
    def test_answers_with_one_text_under_9000_characters(self) -> None:
        site = f"{self.server.url}/site"
        pages = [f"{site}/articles/{name}" for name in ("sourdough", "bridges", "tides")]
        for name, arguments, expected in (
            ("brave_web_search", {"query": "python", "count": 20}, "Python"),
            ("brave_context", {"query": "python", "count": 50}, "Python"),
            ("brave_summarizer", {"query": "python"}, "Python"),
            ("google_search", {"query": "python", "count": 30}, "## Results"),
            ("grounded_search", {"query": "python"}, "### Sources"),
            ("read_page", {"urls": [*pages, f"{site}/docs/timeouts"]}, "## http"),
            ("web_search", {"query": "python", "count": 20}, "ython"),
            ("recall", {"query": "python", "count": 3}, "Timeouts"),
            ("check_quotes", {"text": f"“Why the sourdough rises” {pages[0]}"}, "altered, line 1"),
            ("clear_cache", {}, ""),
        ):
            with self.subTest(name):
                result = self.client.call(name, **arguments)
                (block,) = result["content"]
                self.assertEqual((block["type"], result["isError"]), ("text", False), block["text"])
                self.assertIn(expected, block["text"])
                self.assertLess(len(block["text"]), 9_000)

    def test_max_chars_lets_a_text_be_shorter_or_longer(self) -> None:
        urls = [f"{self.server.url}/site/articles/lighthouse"]
        short, usual, long = (
            self.client.text("read_page", urls=urls, **limit)
            for limit in ({"max_chars": "2000"}, {}, {"max_chars": 60_000})
        )
        self.assertLess(len(short), 2_000)
        self.assertLess(len(usual), 9_000)
        self.assertGreater(len(long), 9_000)
        for wrong in (500, 0, 1_000_000):
            result = self.client.call("read_page", urls=urls, max_chars=wrong)
            self.assertTrue(result["isError"])
            self.assertIn("from 1000 to 100000", result["content"][0]["text"])

    def test_read_page_takes_pages_of_a_pdf_and_archived(self) -> None:
        url = f"{self.server.url}/site/pdf/report"
        error = self.client.call("read_page", urls=[url], pages="3-1")
        self.assertTrue(error["isError"])
        self.assertIn("pages", error["content"][0]["text"])
        gone = f"{self.server.url}/site/status/410"
        result = self.client.call("read_page", urls=[gone], archived=True)
        self.assertIn("410", result["content"][0]["text"])

    def test_hints_name_the_arguments_that_a_tool_has_and_no_others(self) -> None:
        shell = self.client.call("read_page", urls=[f"{self.server.url}/site/shell"])
        text = shell["content"][0]["text"]  # read_page over MCP starts no browser
        self.assertIn("Use the site's API", text)
        self.assertNotRegex(text, "[{}]|browser")
        gone = self.client.call("read_page", urls=[f"{self.server.url}/site/status/410"])
        self.assertIn("With archived, a copy from the Internet Archive", gone["content"][0]["text"])

    def test_understands_numbers_booleans_and_lists_sent_as_text(self) -> None:
        arguments = {"query": "python", "count": "2", "extra_snippets": "true", "site": []}
        text = self.client.text("brave_web_search", **arguments, country="", since=None)
        web = text.partition("## Web\n")[2].partition("\n## ")[0]
        self.assertEqual(len(re.findall(r"(?m)^\d+\. ", web)), 2)
        query = self.server.requests[-1].query
        self.assertEqual((query["count"], query["extra_snippets"]), (["2"], ["true"]))
        self.assertNotIn("country", query)
        page = f"{self.server.url}/site/articles/tides"
        for urls in (page, json.dumps([page]), [page]):
            self.assertIn("[untrusted page text", self.client.text("read_page", urls=urls))

    def test_empty_arguments_count_as_not_given(self) -> None:
        for empty in ("", [], "[]", [""], None, "null", "None", "undefined"):
            with self.subTest(empty):
                result = self.client.call("google_search", query="python", site=empty, page=empty)
                self.assertFalse(result["isError"], result)
                self.assertEqual(self.server.requests[-1].body, b'{"q":"python","num":5}')
                several = self.client.call("web_search", query="python", queries=empty)
                self.assertFalse(several["isError"], several)

    def test_arguments_that_a_client_adds_are_ignored_with_a_warning(self) -> None:
        added = {"toolCallId": "c1", "sessionId": "s", "action": "send", "chatInput": "hi"}
        page = f"{self.server.url}/site/articles/tides"
        for name, arguments in (
            ("google_search", {"query": "python"}),
            ("web_search", {"query": "python"}),
            ("read_page", {"urls": page}),
        ):
            result = self.client.call(name, **arguments, **added, tool=name)
            text = result["content"][0]["text"]
            self.assertFalse(result["isError"], text)
            self.assertIn(f"{name} has no such arguments: {', '.join([*added, 'tool'])}.", text)

    def test_all_arguments_may_come_as_one_json_text(self) -> None:
        params = {"name": "brave_web_search", "arguments": '{"query": "python", "count": 2}'}
        self.assertFalse(self.client.request("tools/call", params)["result"]["isError"])
        self.assertEqual(self.server.requests[-1].query["count"], ["2"])

    def test_several_addresses_in_one_text_are_read_each(self) -> None:
        page = f"{self.server.url}/site/articles/tides"
        for between in (", ", "\n", " ", ","):
            with self.subTest(between):
                text = self.client.text(
                    "read_page", urls=f"{page}?a,b{between}{page}?c", force=True
                )
                self.assertEqual(text.count("[untrusted page text"), 2)
                self.assertIn("?a,b", text)

    def test_empty_result_is_not_an_error(self) -> None:
        result = self.client.call("brave_web_search", query="zzqxvvw")
        self.assertFalse(result["isError"])
        self.assertIn("Nothing found", result["content"][0]["text"])

    def test_read_page_continues_where_a_long_page_was_cut(self) -> None:
        text = self.client.text("read_page", urls=[f"{self.server.url}/site/articles/lighthouse"])
        offset = re.search(r"(?m)offset (\d+) continues$", text)
        assert offset, text[-300:]
        more = self.client.text(
            "read_page", urls=[f"{self.server.url}/site/articles/lighthouse"], offset=offset[1]
        )
        self.assertNotEqual(text.splitlines()[5:9], more.splitlines()[5:9])

    def test_grounded_search_has_answer_sources_and_queries(self) -> None:
        text = self.client.text("grounded_search", query="bread prize", thinking_level="low")
        self.assertTrue(text.startswith("## Search Results\n"))
        self.assertRegex(text, r"### Sources\n1\. \[.+\]\(https://.+\) \([\w.-]+\)\n2\. ")
        self.assertRegex(text, r'### Search Queries Used\n- ".+"')
        body = self.server.requests[-1].json()
        self.assertIn("thinkingConfig", str(body))
        self.client.text("grounded_search", query="bread", model="gemini-2.5-flash")
        self.assertIn("models/gemini-2.5-flash", self.server.requests[-1].path)

    def test_grounded_search_can_require_sources(self) -> None:
        client = self.start(GEMINI_API_KEY=f"ungrounded-{CANARY}")
        self.assertFalse(client.call("grounded_search", query="bread").get("isError"))
        result = client.call("grounded_search", query="bread", require_grounding=True)
        self.assertIn("not grounded", result["content"][0]["text"])
        self.assertIs(result["isError"], True)

    def test_grounded_search_is_an_error_if_both_providers_fail(self) -> None:
        for first, second in (("quota", "invalid"), ("silent", "bad"), ("silent", "silent")):
            client = self.start(
                GEMINI_API_KEY=f"{first}-{CANARY}", VERTEX_API_KEY=f"{second}-{CANARY}"
            )
            result = client.call("grounded_search", query="bread")
            text = result["content"][0]["text"]
            with self.subTest(first=first, second=second):
                self.assertIs(result["isError"], True)
                self.assertTrue(text.startswith("## No Providers Available\n"), text)
                self.assertRegex(text, r"(?m)^- gemini: .+\n- vertex: ")

    def test_the_error_of_an_argument_names_it_as_the_tool_does(self) -> None:
        result = self.client.call("grounded_search", query="bread", thinking_level="enormous")
        self.assertIs(result["isError"], True)
        text = result["content"][0]["text"]
        self.assertIn("thinking_level must be one of none, minimal, low", text)

    def test_grounded_search_with_a_focus_runs_that_command(self) -> None:
        prompts = {}
        for focus in ("general", "code", "dev", "docs", "reddit"):
            self.client.text("grounded_search", query="async timeouts", focus=focus)
            body = self.server.requests[-1].json()
            prompts[focus] = body["contents"][0]["parts"][0]["text"]
        self.assertEqual(len(set(prompts.values())), len(prompts))
        self.assertIn("Stack Overflow", prompts["dev"])
        self.assertIn("reddit", prompts["reddit"].lower())

    def test_a_summarizer_key_of_the_search_returns_the_summary(self) -> None:
        found = self.client.text("brave_web_search", query="python", summary=True)
        key = re.search(r"Summarizer key: (.+)", found)
        assert key, found
        self.assertIn("Python", self.client.text("brave_summarizer", key=key[1]))

    def test_web_search_scrapes_caches_and_clear_cache_forgets(self) -> None:
        engine = CannedServer()  # its results are pages that the fake server has
        self.addCleanup(engine.close)
        names = ("sourdough", "bridges", "tides")
        pages = [f"{self.server.url}/site/articles/{name}" for name in names]
        results = [{"url": url, "title": url[-8:], "content": "A page."} for url in pages]
        engine.body = {"query": "bread", "results": results}
        client = self.start(SEARXNG_BASE_URL=engine.url)
        client.text("clear_cache")  # of pages that other tests have read

        def pages_fetched(**arguments: Any) -> int:
            self.server.clear()
            result = client.call("web_search", query="bread", engine="searxng", **arguments)
            self.assertFalse(result["isError"], result)
            self.assertIn(f"## {pages[0]}", result["content"][0]["text"])
            return len([one for one in self.server.requests if "articles" in one.path])

        self.assertEqual(pages_fetched(), len(pages))
        self.assertEqual(pages_fetched(), 0)
        self.assertEqual(pages_fetched(force="true"), len(pages))
        self.assertIn("1", client.text("clear_cache", query="bread"))
        engine.body = {"query": "bread", "results": results[:1]}
        self.assertNotIn(pages[1], client.text("web_search", query="bread", engine="searxng"))
        client.text("clear_cache")
        self.assertEqual(pages_fetched(), 1)


class FailuresOfProviders(McpCase):
    def test_are_results_that_name_the_problem_and_never_the_key(self) -> None:
        for fault, words in (("bad", ["auth"]), ("redirect", ["provider", "redirect"])):
            client = self.start(BRAVE_SEARCH_API_KEY=f"{fault}-{CANARY}")
            result = client.call("brave_web_search", query="python")
            with self.subTest(fault):
                self.assertTrue(result["isError"])
                for word in words:
                    self.assertIn(word, result["content"][0]["text"])
            client.close()
            self.assert_no_key(client)

    def test_a_rate_limit_longer_than_the_deadline_names_the_seconds(self) -> None:
        details = {"kind": "rate_limit", "retry_after": 61.0, "hint": "Wait a while."}
        document = {"ok": False, "error": "Too fast.", "details": details}
        text = tools.tool_text("brave_web_search", document)
        self.assertIn("Wait a while. Try again in 61 s.", text)

    def test_a_script_that_is_broken_costs_its_own_tools_only(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(SERVER.parent, folder, dirs_exist_ok=True)
            client = Client(self.environment, [sys.executable, f"{folder}/mcp_server.py"])
            self.addCleanup(client.close)
            (Path(folder) / "serper_search.py").write_text("this is no Python")
            listed = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
            self.assertEqual(set(NAMES) - set(listed), {"google_search"})
            self.assertFalse(client.call("brave_web_search", query="python")["isError"])
            result = client.call("google_search", query="python")
            self.assertTrue(result["isError"])
            self.assertIn("internal", result["content"][0]["text"])
            client.close()
            self.assertIn(b"google_search is not offered", client.errors)


class Calls(McpCase):
    hang = "hang-" + CANARY

    def call(self, client: Client, name: str, **more: Any) -> int:
        params = {"name": name, "arguments": {"query": "python"}, **more}
        return client.start_request("tools/call", params)

    def test_run_8_at_a_time_and_block_neither_ping_nor_list(self) -> None:
        client = self.start(BRAVE_SEARCH_API_KEY=self.hang)
        for _ in range(16):
            self.call(client, "brave_web_search")
        limit = time.monotonic() + 20
        while len(self.server.requests) < 8 and time.monotonic() < limit:
            time.sleep(0.01)
        for method in ("ping", "tools/list"):
            number = client.start_request(method)
            self.assertEqual(client.receive()["id"], number)
        time.sleep(0.3)  # in which a ninth would come
        self.assertEqual(len(self.server.requests), 8)

    def test_beyond_8_are_all_answered(self) -> None:
        client = self.start(BRAVE_SEARCH_API_KEY="slow-" + CANARY)
        numbers = {self.call(client, "brave_web_search") for _ in range(16)}
        self.assertEqual({client.receive()["id"] for _ in numbers}, numbers)

    def test_a_cancelled_call_is_never_answered_and_others_are(self) -> None:
        client = self.start(BRAVE_SEARCH_API_KEY="slow-" + CANARY)
        first, second = (self.call(client, "brave_web_search") for _ in range(2))
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        client.send({**note, "params": {"requestId": first, "reason": "user"}})
        self.assertEqual(client.receive()["id"], second)
        client.send({**note, "params": {"requestId": second}})  # as some do for finished ones
        time.sleep(0.3)
        ping = client.start_request("ping")
        self.assertEqual(client.receive()["id"], ping)

    def test_true_is_not_the_number_of_a_call(self) -> None:
        client = self.start(BRAVE_SEARCH_API_KEY="slow-" + CANARY)
        params = {"name": "brave_web_search", "arguments": {"query": "python"}}
        client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        client.send({**note, "params": {"requestId": True}})
        self.assertEqual(client.receive()["id"], 1)

    def test_progress_grows_and_needs_a_token(self) -> None:
        client = self.start()
        pages = [f"{self.server.url}/site/articles/{name}" for name in ("tides", "bridges")]
        for token in ("t", 0, 17):
            params = {
                "name": "read_page",
                "arguments": {"urls": pages},
                "_meta": {"progressToken": token},
            }
            number = client.start_request("tools/call", params)
            notes = []
            while "id" not in (message := client.receive()):
                notes.append(message)
            self.assertEqual(message["id"], number)
            values = [note["params"]["progress"] for note in notes]
            self.assertEqual(values, sorted(set(values)))
            totals = [note["params"].get("total") for note in notes]
            self.assertIsNone(totals[0])  # what there is to do is not known yet
            self.assertEqual(totals[-1], values[-1])
            for value, total in zip(values[1:], totals[1:], strict=True):
                self.assertGreaterEqual(total, value)
            texts = [note["params"]["message"] for note in notes]
            self.assertEqual(texts[0], "reading")
            self.assertIn("(2 of 2)", texts[-1])
            for note in notes:
                self.assertEqual(note["method"], "notifications/progress")
                self.assertEqual(note["params"]["progressToken"], token)
        for token in (None, 1.5, True, "\ud800", [1]):
            number = self.call(client, "google_search", _meta={"progressToken": token})
            self.assertEqual(client.receive()["id"], number)


class End(McpCase):
    def calling(self, fault: str) -> Client:
        """A server in the middle of a call whose answer has this fault."""
        client = self.start(BRAVE_SEARCH_API_KEY=f"{fault}-{CANARY}")
        params = {"name": "brave_web_search", "arguments": {"query": "python"}}
        client.start_request("tools/call", params)
        limit = time.monotonic() + 20
        while not self.server.requests and time.monotonic() < limit:
            time.sleep(0.01)
        return client

    def test_a_signal_during_a_call_ends_it_within_a_second(self) -> None:
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            self.server.clear()
            client = self.calling("hang")
            started = time.monotonic()
            client.process.send_signal(number)
            with self.subTest(number):
                self.assertEqual(client.wait(), code)
                self.assertLess(time.monotonic() - started, 1 + SLACK)
                self.assertEqual(client.errors, b"")

    def test_end_of_input_during_a_call_ends_it_within_a_second(self) -> None:
        client = self.calling("hang")
        started = time.monotonic()
        self.assertEqual(client.close(), 0)
        self.assertLess(time.monotonic() - started, 1 + SLACK)
        self.assertIn("input ended before the answer", client.receive()["error"]["message"])

    def test_end_of_input_lets_running_calls_answer(self) -> None:
        client = self.calling("slow")
        self.assertEqual(client.close(), 0)
        self.assertFalse(client.receive()["result"]["isError"])

    def test_comes_when_the_client_reads_no_more(self) -> None:
        command = ["/bin/sh", "-c", f"'{sys.executable}' '{SERVER}' | head -n 1"]
        client = Client(self.environment, command)
        self.addCleanup(client.close)
        self.assertTrue(client.is_alive())
        limit = time.monotonic() + 10
        while client.process.poll() is None and time.monotonic() < limit:
            with contextlib.suppress(OSError):
                client.start_request("ping")
            time.sleep(0.02)
        self.assertEqual(client.close(), 0)
        self.assertEqual(client.errors, b"")


class Output(McpCase):
    """Hazards of output: what hangs or kills a client must not be written."""

    def hostile(self, code: str) -> Client:
        """A server with this body of run_web_search."""
        program = (
            f"import sys; sys.path.insert(0, {str(SERVER.parent)!r})\n"
            "import brave_search, mcp_server\n"
            f"def run(params, report=None):\n    {code}\n"
            "brave_search.run_web_search = run\nmcp_server.main([])\n"
        )
        client = Client(self.environment, [sys.executable, "-c", program])
        self.addCleanup(client.close)
        return client

    def test_messages_have_no_surrogate_nan_or_line_break(self) -> None:
        poison = "a\\ud800b\\u2028c\\u0085d\\x00e\\r\\nf" + "g" * 60_000
        results = '[{"title": "t", "url": "u", "age": float("nan")}]'
        code = f'return {{"ok": True, "query": "{poison}", "web_results": {results}}}'
        client = self.hostile(code)
        result = client.call("brave_web_search", query="x")
        text = result["content"][0]["text"]
        self.assertLess(len(text), 9_000)
        client.close()
        text = client.everything.decode("utf-8")
        self.assertNotRegex(text, "[\ud800-\udfff]")
        self.assertNotIn("\\ud8", text)
        self.assertNotIn("NaN", text)
        self.assertEqual(text.count("\n"), 1)

    def test_prints_of_libraries_and_child_processes_go_to_stderr(self) -> None:
        code = (
            'import os, subprocess; print("printed", flush=True); os.write(1, b"written\\n"); '
            'subprocess.run(["/bin/sh", "-c", "echo child; cat"]); sys.stdout.write("late\\n"); '
            'return {"ok": True, "query": "x", "web_results": []}'
        )
        client = self.hostile(code)
        self.assertFalse(client.call("brave_web_search", query="x")["isError"])
        self.assertTrue(client.is_alive())  # the child has not read the server's input
        client.close()
        for line in client.everything.splitlines():
            self.assertEqual(json.loads(line)["jsonrpc"], "2.0")
        for word in (b"printed", b"written", b"child"):
            self.assertIn(word, client.errors)

    def test_a_defect_of_a_script_is_a_result_and_the_server_lives(self) -> None:
        for code in (
            "raise ValueError('secret detail')",
            "raise SystemExit(3)",
            "raise RecursionError",
            "return None",
            'return {"ok": True, "warnings": object()}',
            'return {"ok": False}',
        ):
            client = self.hostile(code)
            answer = client.request(
                "tools/call", {"name": "brave_web_search", "arguments": {"query": "x"}}
            )
            with self.subTest(code):
                failed = "error" in answer or answer["result"]["isError"]
                self.assertTrue(failed, answer)
                self.assertNotIn("secret detail", json.dumps(answer))
                self.assertTrue(client.is_alive())
            client.close()

    def test_closed_stderr_or_empty_stdin_does_not_matter(self) -> None:
        command = ["/bin/sh", "-c", f"exec '{sys.executable}' '{SERVER}' 2>&-"]
        client = Client(self.environment, command)
        self.addCleanup(client.close)
        self.assertFalse(client.call("brave_web_search", query="python")["isError"])


class Shell(McpCase):
    def run_words(self, *words: str, **variables: str) -> Any:
        self.set_environment(**variables)
        return call_main(server, *words)

    def test_call_prints_the_tool_s_text_and_sets_the_exit_code(self) -> None:
        run = self.run_words("call", "brave_web_search", '{"query": "python", "count": "1"}')
        self.assertEqual(run.code, 0)
        self.assertIn("1. [Python", run.stdout.decode())
        for words, code in (
            (["brave_web_search", '{"query": "zzqxvvw"}'], 1),
            (["brave_web_search", '{"query": "x", "cuont": 1}'], 2),
            (["brave_web_search", "{"], 2),
            (["brave_web_search", "[" * 20_000], 2),
            (["brave_web_search"], 2),
            (["web_serch", "{}"], 2),
        ):
            with self.subTest(words):
                run = self.run_words("call", *words)
                self.assertEqual(run.code, code, run.stdout)
                self.assertTrue(run.stdout.strip())
        run = self.run_words("call", "web_serch")
        self.assertIn("nearest tool is web_search", run.stdout.decode())
        arguments = '{"query": "python"}'
        run = self.run_words(
            "call", "google_search", arguments, SERPER_API_KEY="", WEB_SEARCH_SECRETS="/no/such"
        )
        self.assertEqual(run.code, 3)

    def test_call_reads_arguments_from_standard_input(self) -> None:
        words = ("call", "brave_web_search", "-")
        run = run_script("mcp_server.py", *words, env=self.environment, stdin='{"query": "python"}')
        self.assertEqual((run.code, run.stderr), (0, ""))
        self.assertIn(b"Python (programming language)", run.stdout)

    def test_a_mistyped_first_word_gets_the_nearest(self) -> None:
        for word, meant in (("--hlep", "--help"), ("tols", "tools")):
            run = self.run_words(word)
            self.assertEqual(run.code, 2)
            self.assertIn(f"The nearest word is {meant}.", run.stderr)

    def test_call_leaves_out_advice_that_its_tool_cannot_follow(self) -> None:
        site = CannedServer()
        self.addCleanup(site.close)
        site.body = b"<html><body><div id=root></div><script src=app.js></script></body></html>"
        site.headers = {"Content-Type": "text/html"}
        self.environment["WEB_SEARCH_ALLOW_PRIVATE"] = urlsplit(site.url).netloc
        arguments = json.dumps({"urls": [site.url]})
        run = run_script("mcp_server.py", "call", "read_page", arguments, env=self.environment)
        self.assertIn("only JavaScript fills", run.stdout.decode())
        self.assertIn("Use the site's API", run.stdout.decode())
        self.assertNotIn("browser", run.stdout.decode())

    def test_tools_lists_every_tool_and_help_and_version_are_there(self) -> None:
        text = self.run_words("tools").stdout.decode()
        for name in NAMES:
            self.assertIn(f"\n{name}\n", f"\n{text}")
        self.assertIn("Not listed: brave_summarizer (set WEB_SEARCH_TOOLS=brave_summarizer).", text)
        self.assertIn("mcp_server.py call TOOL", self.run_words("--help").stdout.decode())
        self.assertRegex(self.run_words("--version").stdout.decode(), r"^mcp_server\.py \d")

    def test_other_words_are_refused_on_stderr(self) -> None:
        for words in (["serve"], ["call"], ["call", "brave_web_search", "{}", "more"]):
            run = self.run_words(*words)
            self.assertEqual((run.code, run.stdout), (2, b""))
            self.assertIn("usage: mcp_server.py", run.stderr)


if __name__ == "__main__":
    unittest.main()
