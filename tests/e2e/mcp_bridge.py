"""A stdio MCP server behind Streamable HTTP, for clients that speak nothing else.

    with Bridge([sys.executable, "scripts/mcp_server.py"], environment) as bridge:
        print(bridge.url)

It serves one endpoint, for both eras of the protocol: what a request's headers must say, which
status an answer has, and when it is a stream of events. Requests of all connections go to one
process under numbers of the bridge's own. A tool for tests: it has no sessions and no limits.
"""

from __future__ import annotations

import base64
import contextlib
import http.server
import itertools
import json
import queue
import subprocess
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

PATH = "/mcp"
META = "io.modelcontextprotocol/"
LEGACY = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
LOCAL_NAMES = {"127.0.0.1", "localhost", "[::1]"}
ANSWER_TIMEOUT = 60.0  # seconds
STOP_TIMEOUT = 5.0  # seconds
HEADER_MISMATCH, INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR = -32020, -32602, -32601, -32700
# HTTP status of an error of 2026-07-28; the others are answered 200.
STATUSES = {METHOD_NOT_FOUND: 404, HEADER_MISMATCH: 400, -32021: 400, -32022: 400}
# What the header Mcp-Name repeats.
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Waiting(NamedTuple):
    """A request that the process has: its messages go to the queue, under the client's names."""

    messages: queue.SimpleQueue[dict[str, Any] | None]  # None: the process has ended
    request_id: Any
    token: Any


class RefusedError(Exception):
    """A request that is answered without asking the process."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"code": code, "message": message}


class Bridge:
    """A server process, and an HTTP server on a free port of loopback that leads to it."""

    def __init__(self, command: list[str], environment: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.waiting: dict[int, Waiting] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        handler = type("BridgeHandler", (Handler,), {"bridge": self})
        self._server = QuietServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}{PATH}"
        for target in (self._server.serve_forever, self._read):
            threading.Thread(target=target, daemon=True).start()

    def __enter__(self) -> Bridge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self.process.stdin:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        try:
            self.process.wait(STOP_TIMEOUT)
        finally:
            self.process.kill()
            self.process.wait()

    def send(self, message: dict[str, Any]) -> None:
        """Write a message to the process."""
        if self.process.stdin is None:
            raise RuntimeError("the process has no stdin")
        with self._lock:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def forward(self, message: dict[str, Any]) -> tuple[int, Waiting]:
        """Send a client's request under a number of our own, which is its progress token, too."""
        params = message.get("params") or {}
        meta = params.get("_meta") or {}
        number = next(self._numbers)
        waiting = Waiting(queue.SimpleQueue(), message["id"], meta.get("progressToken"))
        self.waiting[number] = waiting
        if waiting.token is not None:
            params = {**params, "_meta": {**meta, "progressToken": number}}
            message = {**message, "params": params}
        self.send({**message, "id": number})
        return number, waiting

    def _read(self) -> None:
        """Hand what the process writes to those who wait for it."""
        for line in self.process.stdout or ():
            message = json.loads(line)
            if "method" in message:
                params = message.get("params") or {}
                waiting = self.waiting.get(params.get("progressToken", 0))
                if waiting:
                    params = {**params, "progressToken": waiting.token}
                    waiting.messages.put({**message, "params": params})
            elif waiting := self.waiting.get(message.get("id")):
                waiting.messages.put({**message, "id": waiting.request_id})
        for waiting in list(self.waiting.values()):
            waiting.messages.put(None)


class QuietServer(http.server.ThreadingHTTPServer):
    """A server whose clients may leave as they like."""

    daemon_threads = True

    def handle_error(self, *_: Any) -> None:
        """Keep stderr quiet."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    bridge: Bridge

    def log_message(self, *_: Any) -> None:
        """Keep stderr quiet."""

    def do_GET(self) -> None:
        """There is no stream that the server begins."""
        self.answer(405 if self.is_local() else 403, None, {"Allow": "POST"})

    do_DELETE = do_GET  # noqa: N815  http.server's name

    def do_POST(self) -> None:
        """Pass a message on; answer with what the process says to it."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        message: Any = None
        try:
            if not self.is_local():
                raise RefusedError(403, -32600, "Forbidden: not from this machine")
            if self.path != PATH:
                raise RefusedError(404, -32600, f"Not found: the endpoint is {PATH}")
            message = read_message(body)
            modern = self.check_headers(message)
        except RefusedError as fault:
            request_id = message.get("id") if isinstance(message, dict) else None
            answer = {"jsonrpc": "2.0", "id": request_id, "error": fault.error}
            self.answer(fault.status, answer)
            return
        if "method" not in message or "id" not in message:
            self.bridge.send(message)
            self.answer(202, None)
            return
        number, waiting = self.bridge.forward(message)
        try:
            if waiting.token is None:
                self.answer_at_once(waiting, modern)
            else:
                self.answer_as_stream(waiting)
        except OSError:
            params = {"requestId": number}
            notification = {"method": "notifications/cancelled", "params": params}
            self.bridge.send({"jsonrpc": "2.0", **notification})
            self.close_connection = True
        finally:
            del self.bridge.waiting[number]

    def is_local(self) -> bool:
        """Whether Host and Origin are this machine's: the guard against DNS rebinding."""
        origin = self.headers.get("Origin")
        named = [self.headers.get("Host") or ""]
        named += [origin.rpartition("://")[2]] if origin is not None else []
        return all(name.rpartition(":")[0] in LOCAL_NAMES or name in LOCAL_NAMES for name in named)

    def check_headers(self, message: dict[str, Any]) -> bool:
        """Whether a message speaks 2026-07-28; raises RefusedError where its headers say else."""
        method = message.get("method")
        params = message.get("params") or {}
        meta = params.get("_meta") or {}
        version = self.headers.get("MCP-Protocol-Version")
        said = meta.get(f"{META}protocolVersion")
        if method is None or "id" not in message:
            return False
        if said is None and (version is None or version in LEGACY):
            return False
        if method == "initialize":
            raise RefusedError(404, METHOD_NOT_FOUND, "Method not found: initialize")
        wanted = {"MCP-Protocol-Version": said or version, "Mcp-Method": method}
        if params.get(NAMED_BY.get(method, "")) is not None:
            wanted["Mcp-Name"] = params[NAMED_BY[method]]
        for name, value in wanted.items():
            if decoded(self.headers.get(name)) != value:
                raise RefusedError(400, HEADER_MISMATCH, f"Header mismatch: {name}")
        if said is None or not isinstance(meta.get(f"{META}clientCapabilities"), dict):
            raise RefusedError(400, INVALID_PARAMS, "Invalid params: a field of _meta is missing")
        return True

    def answer(self, status: int, message: Any, headers: Mapping[str, str] | None = None) -> None:
        """Send an answer with JSON, or without a body."""
        data = b"" if message is None else json.dumps(message).encode()
        self.send_response(status)
        if message is not None:
            self.send_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def answer_at_once(self, waiting: Waiting, modern: bool) -> None:
        """Wait for the answer of the process, and send it."""
        message = waiting.messages.get(timeout=ANSWER_TIMEOUT)
        if message is None:
            self.answer(500, None)
            return
        code: int = (message.get("error") or {}).get("code", 0)
        self.answer(STATUSES.get(code, 200) if modern else 200, message)

    def answer_as_stream(self, waiting: Waiting) -> None:
        """Send progress as it comes, then the answer, as server-sent events."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        while message := waiting.messages.get(timeout=ANSWER_TIMEOUT):
            self.wfile.write(b"data: " + json.dumps(message).encode() + b"\n\n")
            self.wfile.flush()
            if "method" not in message:
                break


def read_message(body: bytes) -> dict[str, Any]:
    """The message of a body; raises RefusedError."""
    try:
        message = json.loads(body)
    except ValueError:
        raise RefusedError(400, PARSE_ERROR, "Parse error") from None
    if not isinstance(message, dict):
        raise RefusedError(400, -32600, "Invalid request: a message is an object")
    return message


def decoded(value: str | None) -> str | None:
    """A header's value without blanks, decoded if it is in the form for what is not ASCII."""
    value = value.strip() if value else value
    if value and value.startswith("=?base64?") and value.endswith("?="):
        return base64.b64decode(value[9:-2]).decode()
    return value
