"""POST /mcp of http_server.py: MCP over HTTP in both eras, what its headers must say, attacks.

The only module to notice a header that contradicts its message, and a call from a foreign page.
"""

from __future__ import annotations

import base64
import http.client
import json
import random
import signal
import socket
import sys
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from typing import Any, ClassVar
from unittest import mock

from tests.fake_server import website
from tests.support import CANARY, SLACK, load_script, new_folder
from tests.ways_in.http_support import (
    TOKEN,
    Answer,
    ServerCase,
    ServerProcess,
    damaged,
    read_all,
    request,
    responses,
)
from tests.ways_in.mcp_support import LEGACY, META, MODERN, modern_meta
from websearch.ways_in import http_messages as messages
from websearch.ways_in import mcp_http

TOOLS = 7  # five that need no key, two of Brave's
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022
JSON, EVENTS = "application/json", "text/event-stream"
BRAVE_CALL = {"name": "brave_web_search", "arguments": {"query": "python"}}


def message(method: str, params: Any = None, request_id: Any = 1) -> dict[str, Any]:
    """A request of JSON-RPC; without an id it is a notification."""
    fields = {"id": request_id, "params": params}
    given = {name: value for name, value in fields.items() if value is not None}
    return {"jsonrpc": "2.0", "method": method, **given}


def modern(method: str, **params: Any) -> dict[str, Any]:
    """A request of the version without a handshake."""
    return message(method, {**params, "_meta": {**modern_meta(), **params.get("_meta", {})}})


def modern_headers(method: str, name: str | None = None) -> dict[str, str]:
    """The headers that such a request must have."""
    named = {} if name is None else {"Mcp-Name": name}
    return {"MCP-Protocol-Version": MODERN, "Mcp-Method": method, **named}


class McpHttpCase(ServerCase):
    def post(self, content: Any, accept: str | None = None, **headers: str) -> Answer:
        """Send a message (or a body as it is); the document of a stream is its events."""
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        sent = {"Content-Type": JSON, "Accept": accept or f"{JSON}, {EVENTS}", **headers}
        connection = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=30)
        try:
            connection.request("POST", "/mcp", data, sent)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        names = {name.lower(): value for name, value in answer.getheaders()}
        if names.get("content-type") == EVENTS:
            events = text.split("\n\n")
            self.assertEqual(events.pop(), "")
            document: Any = [json.loads(event.removeprefix("data: ")) for event in events]
        else:
            document = json.loads(text) if text else None
        return Answer(answer.status, names, document)

    def call_modern(self, name: str, header: str | None = None, **arguments: Any) -> Answer:
        """Call a tool in the version without a handshake."""
        content = modern("tools/call", name=name, arguments=arguments)
        return self.post(content, **modern_headers("tools/call", header or name))

    def assert_fault(self, answer: Answer, status: int, code: int, request_id: Any = 1) -> None:
        self.assertEqual((answer.status, answer.headers["content-type"]), (status, JSON), answer)
        self.assertEqual(answer.document["error"]["code"], code)
        self.assertEqual(answer.document["id"], request_id)


class VersionsWithAHandshake(McpHttpCase):
    def test_initialize_is_answered_without_a_session(self) -> None:
        for version in LEGACY:
            answer = self.post(message("initialize", {"protocolVersion": version}))
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, JSON))
            self.assertEqual(answer.document["result"]["protocolVersion"], version)
            self.assertEqual(answer.document["result"]["capabilities"], {"tools": {}})
            self.assertNotIn("mcp-session-id", answer.headers)

    def test_notifications_and_responses_get_202_without_a_body(self) -> None:
        for content in (
            message("notifications/initialized", request_id=None),
            message("notifications/cancelled", {"requestId": 1}, request_id=None),
            {"jsonrpc": "2.0", "id": 5, "result": {}},
            {"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "x"}},
        ):
            answer = self.post(content, **{"MCP-Protocol-Version": LEGACY[0]})
            self.assertEqual((answer.status, answer.document), (202, None))
            self.assertEqual(answer.headers["content-length"], "0")
            self.assertNotIn("content-type", answer.headers)

    def test_requests_are_served_in_every_version_or_without_header(self) -> None:
        for version in [*LEGACY, None]:
            with self.subTest(version):
                headers = {} if version is None else {"MCP-Protocol-Version": version}
                listed = self.post(message("tools/list"), **headers)
                self.assertEqual(len(listed.document["result"]["tools"]), TOOLS)
                called = self.post(message("tools/call", BRAVE_CALL), **headers)
                self.assertIs(called.document["result"]["isError"], False)
                self.assertEqual(called.headers["content-type"], JSON)

    def test_an_unsupported_version_gets_400_and_the_supported_ones(
        self,
    ) -> None:
        for content, request_id in (
            (message("tools/list"), 1),
            (message("notifications/initialized", request_id=None), None),
        ):
            answer = self.post(content, **{"MCP-Protocol-Version": "2099-01-01"})
            self.assert_fault(answer, 400, UNSUPPORTED_VERSION, request_id)
            data = answer.document["error"]["data"]
            self.assertEqual(data, {"supported": [MODERN, *LEGACY], "requested": "2099-01-01"})

    def test_an_unknown_header_version_of_initialize_is_negotiated(self) -> None:
        content = message("initialize", {"protocolVersion": "2099-01-01"})
        answer = self.post(content, **{"MCP-Protocol-Version": "2099-01-01"})
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.document["result"]["protocolVersion"], LEGACY[0])

    def test_a_body_in_chunks_is_read(self) -> None:
        data = json.dumps(message("ping")).encode()
        sent = request("/mcp", "POST", f"Content-Type: {JSON}", "Transfer-Encoding: chunked")
        chunks = b"".join(b"%x;a=b\r\n%s\r\n" % (len(part), part) for part in (data[:7], data[7:]))
        whole = sent + chunks + b"0\r\nX-Trailer: y\r\n\r\n"
        answers = responses(self.api.talk(whole + request("/health")))
        self.assertEqual([answer.status for answer in answers], [200, 200])
        self.assertEqual(answers[0].document["result"], {})
        self.assertEqual(answers[1].document, {"status": "ok"})

    def test_failed_requests_get_200_and_broken_messages_400(self) -> None:
        for content, status, code, request_id in (
            (message("no/such"), 200, METHOD_NOT_FOUND, 1),
            (message("tools/call", {"name": "no_such"}), 200, INVALID_PARAMS, 1),
            (message("tools/list", {"cursor": "x"}), 200, INVALID_PARAMS, 1),
            (b"", 400, PARSE_ERROR, None),
            (b"[" * 100_000, 400, PARSE_ERROR, None),
            (b"7", 400, INVALID_REQUEST, None),
            ([message("ping")], 400, INVALID_REQUEST, None),
            ({"id": 1, "method": "ping"}, 400, INVALID_REQUEST, 1),
            ({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}, 400, INVALID_REQUEST, None),
        ):
            with self.subTest(content):
                self.assert_fault(self.post(content), status, code, request_id)

    def test_a_byte_order_mark_and_line_breaks_disturb_nothing(self) -> None:
        data = b"\xef\xbb\xbf" + json.dumps(message("ping"), indent=2).encode()
        self.assertEqual(self.post(data).document["result"], {})


class VersionWithoutAHandshake(McpHttpCase):
    def test_modern_discover_list_and_call_have_the_version_s_fields(self) -> None:
        discovered = self.post(modern("server/discover"), **modern_headers("server/discover"))
        self.assertEqual(discovered.document["result"]["supportedVersions"], [MODERN, *LEGACY])
        listed = self.post(modern("tools/list"), **modern_headers("tools/list"))
        self.assertEqual(len(listed.document["result"]["tools"]), TOOLS)
        called = self.call_modern("brave_web_search", query="python")
        self.assertIn("## Web", called.document["result"]["content"][0]["text"])
        for answer in (discovered, listed, called):
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, JSON))
            self.assertEqual(answer.document["result"]["resultType"], "complete")
            meta = answer.document["result"]["_meta"]
            self.assertEqual(meta[f"{META}serverInfo"]["name"], "web-search")
            self.assertNotIn("mcp-session-id", answer.headers)

    def test_headers_that_do_not_say_what_the_body_says_are_refused(self) -> None:
        good = modern_headers("tools/call", "read_page")
        content = modern("tools/call", name="read_page", arguments={"urls": ["http://x.y/"]})
        encoded = base64.b64encode(b"read_page").decode()
        for name, value in (
            ("MCP-Protocol-Version", None),
            ("MCP-Protocol-Version", LEGACY[0]),
            ("MCP-Protocol-Version", "2099-01-01"),
            ("Mcp-Method", None),
            ("Mcp-Method", "tools/list"),
            ("Mcp-Name", None),
            ("Mcp-Name", "web_search"),
            ("Mcp-Name", "=?base64?cmVhZF9wYWdl"),
            ("Mcp-Name", "=?base64?/w==?="),
            ("Mcp-Name", f"=?BASE64?{encoded}?="),
            ("Mcp-Method", f"=?base64?{base64.b64encode(b'tools/call').decode()}?="),
        ):
            with self.subTest(name, value=value):
                headers = {**good, name: value or ""}
                if value is None:
                    del headers[name]
                self.assert_fault(self.post(content, **headers), 400, HEADER_MISMATCH)
        self.assertEqual(self.server.requests, [])
        for value in ("read_page", " read_page ", f"=?base64?{encoded}?="):
            answer = self.post(content, **{**good, "Mcp-Name": value})
            self.assertEqual(answer.status, 200, value)

    def test_a_version_missing_in_the_header_is_refused(self) -> None:
        content = modern("tools/list", _meta={f"{META}protocolVersion": "2099-01-01"})
        answer = self.post(content, **modern_headers("tools/list"))
        self.assert_fault(answer, 400, HEADER_MISMATCH)

    def test_a_repeated_header_is_refused(self) -> None:
        body = json.dumps(modern("tools/list")).encode()
        lines = [f"{name}: {value}" for name, value in modern_headers("tools/list").items()]
        lines += [lines[1], f"Content-Type: {JSON}", f"Content-Length: {len(body)}"]
        lines.append("Connection: close")
        [answer] = responses(self.api.talk(request("/mcp", "POST", *lines) + body))
        self.assert_fault(answer, 400, HEADER_MISMATCH)

    def test_statuses_of_errors_are_those_of_the_version(self) -> None:
        for content, headers, status, code in (
            (modern("no/such"), modern_headers("no/such"), 404, METHOD_NOT_FOUND),
            (modern("initialize"), modern_headers("initialize"), 404, METHOD_NOT_FOUND),
            (message("ping"), modern_headers("ping"), 400, INVALID_PARAMS),
            (
                modern("tools/call", name="no_such"),
                modern_headers("tools/call", "no_such"),
                400,
                INVALID_PARAMS,
            ),
            (modern("tools/list", cursor="x"), modern_headers("tools/list"), 400, INVALID_PARAMS),
            (
                message("tools/list", {"_meta": {f"{META}protocolVersion": MODERN}}),
                modern_headers("tools/list"),
                400,
                INVALID_PARAMS,
            ),
            (
                modern("tools/list", _meta={f"{META}protocolVersion": "2099-01-01"}),
                {**modern_headers("tools/list"), "MCP-Protocol-Version": "2099-01-01"},
                400,
                UNSUPPORTED_VERSION,
            ),
        ):
            with self.subTest(content, headers=headers):
                self.assert_fault(self.post(content, **headers), status, code)

    def test_notifications_need_no_other_header(self) -> None:
        content = message("notifications/x", {"_meta": modern_meta()}, request_id=None)
        for headers in ({"MCP-Protocol-Version": MODERN}, {}):
            answer = self.post(content, **headers)
            self.assertEqual((answer.status, answer.document), (202, None))


class Progress(McpHttpCase):
    def call(self, accept: str, **meta: Any) -> Answer:
        """A call that reads two pages that are not in the store."""
        number = len(self.server.requests)
        urls = [self.page(f"articles/{name}?{number}") for name in ("tides", "sourdough")]
        arguments = {"urls": urls, "query": "tide"}
        params = {"name": "read_page", "arguments": arguments, "_meta": meta}
        return self.post(message("tools/call", params, "r-1"), accept)

    def test_comes_as_a_stream_that_ends_with_the_answer(self) -> None:
        for token in (7, "t\u2028"):
            answer = self.call(f"{JSON}, {EVENTS};q=0.9", progressToken=token)
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, EVENTS))
            self.assertEqual(answer.headers["x-accel-buffering"], "no")
            self.assertEqual(answer.headers["connection"], "close")
            *reports, last = answer.document
            self.assertEqual((last["id"], last["result"]["isError"]), ("r-1", False))
            numbers = [one["params"]["progress"] for one in reports]
            self.assertEqual(numbers, list(range(1, len(reports) + 1)))
            self.assertEqual({one["params"]["progressToken"] for one in reports}, {token})
            self.assertIn("(2 of 2)", reports[-1]["params"]["message"])

    def test_is_not_sent_unasked_or_to_a_client_that_takes_no_stream(self) -> None:
        for accept, meta in (
            (f"{JSON}, {EVENTS}", {}),
            (JSON, {"progressToken": 7}),
            ("*/*", {"progressToken": 7}),
            (f"{JSON}, {EVENTS}", {"progressToken": 1.5}),
            (f"{JSON}, {EVENTS}", {"progressToken": None}),
        ):
            answer = self.call(accept, **meta)
            self.assertEqual((answer.status, answer.headers["content-type"]), (200, JSON))
            self.assertEqual(answer.document["id"], "r-1")

    def test_comes_while_the_call_runs(self) -> None:
        arguments = {"urls": [self.page("slow/late")]}  # its answer comes after 0.6 s
        params = {"name": "read_page", "arguments": arguments, "_meta": {"progressToken": 1}}
        with self.open_stream(params) as client:
            started = time.monotonic()
            data = b""
            while b"notifications/progress" not in data:
                data += client.recv(65_536)
            first = time.monotonic() - started
            data += read_all(client)
            last = time.monotonic() - started
        self.assertIn(b'"result":', data)
        self.assertGreater(last - first, 0.2)

    def open_stream(self, params: dict[str, Any]) -> socket.socket:
        """Send a call that is answered as a stream; return its connection."""
        body = json.dumps(message("tools/call", params)).encode()
        lines = [f"Content-Type: {JSON}", f"Accept: {EVENTS}", f"Content-Length: {len(body)}"]
        client = self.api.connect()
        client.sendall(request("/mcp", "POST", *lines) + body)
        return client

    def test_a_client_that_leaves_ends_nothing_but_its_own_call(self) -> None:
        arguments = {"urls": [self.page("slow/late")]}
        params = {"name": "read_page", "arguments": arguments, "_meta": {"progressToken": 1}}
        for _ in range(5):
            with self.open_stream(params) as client:
                client.recv(1)
                linger = (1).to_bytes(4, sys.byteorder) + bytes(4)  # the connection is reset
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.assertEqual(self.post(message("ping")).document["result"], {})

    def test_a_stream_that_runs_is_finished_at_a_signal(self) -> None:
        arguments = {"urls": [self.page("slow/late")]}
        params = {"name": "read_page", "arguments": arguments, "_meta": {"progressToken": 1}}
        with self.open_stream(params) as client:
            data = client.recv(65_536)
            self.api.process.send_signal(signal.SIGTERM)
            data += read_all(client)
        self.assertIn(b'"isError":false', data)
        code, _, stderr = self.api.wait()
        self.assertEqual((code, stderr), (0, ""))
        type(self).api = self.start()  # for the other tests of this class


class Calls(McpHttpCase):
    def test_of_several_clients_run_at_the_same_time(self) -> None:
        slow = {"name": "read_page", "arguments": {"urls": [self.page("slow/late")]}}
        self.server.clear()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(self.post, [message("tools/call", slow)] * 8))
        self.assertEqual({one.status for one in answers}, {200})
        arrived = [one.time for one in self.server.requests if one.path.endswith("slow/late")]
        self.assertGreater(len(arrived), 1)  # a call after the first would find its page stored
        self.assertLess(arrived[1] - arrived[0], website.LATE_SECONDS)

    def test_one_connection_carries_many_messages(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.api.port, timeout=20)
        sockets = set()
        for content, status in ((message("ping"), 200), (message("x", request_id=None), 202)) * 10:
            headers = {"Content-Type": JSON}
            connection.request("POST", "/mcp", json.dumps(content).encode(), headers)
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, status)
            sockets.add(connection.sock.getsockname()[1])
        connection.close()
        self.assertEqual(len(sockets), 1)

    def test_the_longest_body_is_read_with_expect_continue(self) -> None:
        limit = messages.BODY_PATHS["/mcp"]
        content = message("tools/call", {**BRAVE_CALL, "x": ""})
        content["params"]["x"] = "y" * (limit - len(json.dumps(content)))
        body = json.dumps(content).encode()
        self.assertEqual(len(body), limit)
        lines = [f"Content-Type: {JSON}; charset=utf-8", f"Content-Length: {limit}"]
        lines += ["Expect: 100-continue", "Connection: close"]
        with self.api.connect() as client:
            client.sendall(request("/mcp", "POST", *lines))
            self.assertEqual(client.recv(65_536), b"HTTP/1.1 100 Continue\r\n\r\n")
            client.sendall(body)
            [answer] = responses(read_all(client))
        self.assertIs(answer.document["result"]["isError"], False)

    def test_a_body_may_come_byte_by_byte(self) -> None:
        body = json.dumps(message("ping")).encode()
        lines = [f"Content-Type: {JSON}", f"Content-Length: {len(body)}", "Connection: close"]
        with self.api.connect() as client:
            for byte in request("/mcp", "POST", *lines) + body:
                client.sendall(bytes([byte]))
            self.assertEqual(responses(read_all(client))[0].document["result"], {})

    def test_a_bug_becomes_an_error_and_the_server_continues(self) -> None:
        run = mock.Mock(side_effect=RuntimeError(f"secret {CANARY}"))
        headers = Message()
        headers["Content-Type"] = JSON
        request_of = messages.HttpRequest("POST", "/mcp", headers)
        request_of.body = json.dumps(message("tools/call", BRAVE_CALL)).encode()
        with mock.patch.object(load_script("websearch.ways_in.mcp_tools"), "call_tool", run):
            status, answer, _ = mcp_http.answer_post(request_of)
        self.assertEqual((status, answer["error"]["code"]), (200, -32603))
        self.assertNotIn(CANARY, json.dumps(answer))


class Attacks(McpHttpCase):
    """Requests of foreign pages, broken clients and callers without the token."""

    BODY = json.dumps(message("tools/call", {"name": "clear_cache"})).encode()

    def body_request(self, *lines: str, body: bytes = BODY) -> bytes:
        """A POST with valid headers and additional lines."""
        known = [f"Content-Type: {JSON}", f"Content-Length: {len(body)}"]
        return request("/mcp", "POST", *known, *lines) + body

    def test_get_delete_and_others_are_405_and_say_post(self) -> None:
        for method in ("GET", "HEAD", "DELETE", "PUT", "OPTIONS"):
            answer = self.api.fetch("/mcp", method)
            self.assertEqual((answer.status, answer.headers["allow"]), (405, "POST"))
            self.assertFalse([name for name in answer.headers if name.startswith("access-control")])

    def test_foreign_callers_are_refused_before_the_body_is_read(self) -> None:
        for line in (
            "Origin: https://evil.example", "Origin: null", "Origin: http://localhost:1",
            "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site",
        ):  # fmt: skip
            with self.subTest(line):
                [answer] = responses(self.api.talk(self.body_request(line)))
                self.assert_error(answer, 403, "refused")
                self.assertEqual(answer.headers["connection"], "close")
        rebound = self.body_request().replace(b"Host: localhost", b"Host: evil.example")
        [answer] = responses(self.api.talk(rebound))
        self.assert_error(answer, 403, "refused")
        unread = self.body_request("Origin: null").removesuffix(self.BODY)
        with self.api.connect() as client:
            client.sendall(unread)
            started = time.monotonic()
            self.assertEqual(responses(read_all(client))[0].status, 403)
            self.assertLess(time.monotonic() - started, SLACK)

    def test_its_own_origin_may_call(self) -> None:
        own = f"127.0.0.1:{self.api.port}"
        self.assertEqual(self.post(message("ping"), Origin=f"http://{own}").status, 200)

    def test_bodies_that_a_form_of_a_page_could_send_are_refused(self) -> None:
        for media_type in (
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
            "", "application/jsonp", f"{JSON}, text/plain",
        ):  # fmt: skip
            with self.subTest(media_type):
                answer = self.post(message("ping"), **{"Content-Type": media_type})
                self.assert_error(answer, 415)

    REFUSED: ClassVar = {
        "too long": (["Content-Length: 1000001"], b"x", 413),
        "chunks too long": (["Transfer-Encoding: chunked"], b"F4241\r\nx\r\n", 413),
        "length and chunks": (["Content-Length: 1", "Transfer-Encoding: chunked"], b"x", 400),
        "two lengths": (["Content-Length: 2", "Content-Length: 2"], b"{}", 400),
        "no number": (["Content-Length: 0x2"], b"{}", 400),
    }

    def test_bodies_of_unclear_or_excessive_length_are_not_read(self) -> None:
        for name, (lines, body, status) in self.REFUSED.items():
            with self.subTest(name):
                data = request("/mcp", "POST", f"Content-Type: {JSON}", *lines) + body
                [answer] = responses(self.api.talk(data + request()))
                self.assert_error(answer, status)
                self.assertEqual(answer.headers["connection"], "close")

    def test_a_body_that_ends_too_early_is_refused(self) -> None:
        [answer] = responses(self.api.talk(self.body_request()[:-1]))
        self.assert_error(answer, 400)
        self.assertIn("in the middle of its body", answer.document["error"])

    def test_bytes_after_a_body_are_the_next_request(self) -> None:
        ping = self.body_request(body=json.dumps(message("ping")).encode())
        last = request("/health", "GET", "Connection: close")
        raw = responses(self.api.talk(ping + ping + last))
        self.assertEqual([one.status for one in raw], [200, 200, 200])

    def test_only_post_on_this_path_takes_a_body(self) -> None:
        for method, path, status in (
            ("DELETE", "/mcp", 405), ("OPTIONS", "/mcp", 405), ("POST", "/search", 405),
            ("POST", "/mcp/x", 404), ("DELETE", "/cache", 400),
        ):  # fmt: skip
            length = f"Content-Length: {len(self.BODY)}"
            data = request(path, method, f"Content-Type: {JSON}", length) + self.BODY
            [answer] = responses(self.api.talk(data + request()))
            with self.subTest(path, method=method):
                self.assert_error(answer, status)
                self.assertEqual(answer.headers["connection"], "close")

    def test_parameters_in_the_address_are_refused(self) -> None:
        data = self.body_request("Connection: close").replace(b"/mcp ", b"/mcp?verbose=1 ")
        self.assert_error(responses(self.api.talk(data))[0], 400)

    def test_poison_in_a_message_does_not_come_back(self) -> None:
        for content in (
            b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
            b'{"jsonrpc":"2.0","id":1e999,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":1,"method":"\\ud800\\u001b[31m"}',
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\\ud800\\n"}}',
        ):
            with self.subTest(content):
                answer = self.post(content)
                self.assertIn("error", answer.document)
                text = json.dumps(answer.document, ensure_ascii=False)
                self.assertNotRegex(text, "[\ud800-\udfff\x1b]")

    def test_random_and_damaged_bodies_never_hang_or_end_it(self) -> None:
        seeded = random.Random(11)
        whole = json.dumps(modern("tools/list", cursor="x")).encode()

        cases = list(damaged(whole, seeded, 200))
        headers = modern_headers("tools/list")
        with ThreadPoolExecutor(8) as pool:
            answers = pool.map(lambda body: self.post(body, **headers), cases)
            for case, answer in zip(cases, answers, strict=True):
                with self.subTest(case):
                    self.assertIn(answer.status, (202, 400, 404))
        self.assertEqual(self.api.fetch("/health").status, 200)

    def test_slow_bodies_do_not_delay_others(self) -> None:
        clients = [self.api.connect() for _ in range(30)]
        try:
            for client in clients:
                client.sendall(self.body_request()[:-5])
            started = time.monotonic()
            self.assertEqual(self.post(message("ping")).status, 200)
            self.assertLess(time.monotonic() - started, SLACK)
        finally:
            for client in clients:
                client.close()


class Tokens(McpHttpCase):
    @classmethod
    def setUpClass(cls) -> None:
        path = new_folder(cls) / "token"
        path.write_text(TOKEN + "\n", encoding="utf-8")
        path.chmod(0o600)
        cls.arguments = ("--token-file", str(path))
        super().setUpClass()

    def test_only_messages_with_the_bearer_token_are_answered(self) -> None:
        for value, status in ((None, 401), ("Bearer x", 401), (f"Bearer {TOKEN}", 200)):
            headers = {} if value is None else {"Authorization": value}
            answer = self.post(message("ping"), **headers)
            self.assertEqual(answer.status, status)
            if status == 401:
                self.assertIn("Bearer", answer.headers["www-authenticate"])
                self.assertEqual(answer.headers["connection"], "close")

    def test_the_body_of_a_caller_without_the_token_is_not_read(self) -> None:
        with self.api.connect() as client:
            client.sendall(request("/mcp", "POST", f"Content-Type: {JSON}", "Content-Length: 9"))
            started = time.monotonic()
            self.assertEqual(responses(read_all(client))[0].status, 401)
            self.assertLess(time.monotonic() - started, SLACK)


class Log(unittest.TestCase):
    def test_verbose_logs_path_and_status_but_not_the_message(self) -> None:
        server = ServerProcess("--verbose")
        body = json.dumps(message("tools/call", {"name": CANARY})).encode()
        lines = [f"Content-Type: {JSON}", f"Content-Length: {len(body)}", "Connection: close"]
        server.talk(request("/mcp", "POST", *lines) + body)
        _, document, stderr = server.stop()
        self.assertRegex(stderr, r"^POST /mcp -> 200 in \d+ ms\n")
        self.assertNotIn(CANARY, stderr)
        self.assertEqual(document["requests"], 1)


if __name__ == "__main__":
    unittest.main()
