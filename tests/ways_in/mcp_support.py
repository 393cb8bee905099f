"""Shared by the tests of mcp_server.py: a client that speaks the protocol line by line."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
from typing import TYPE_CHECKING, Any

from tests.support import CANARY, PYTHON, SCRIPTS, FakeServerCase, clean_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVER = SCRIPTS / "mcp_server.py"
ANSWER_SECONDS = 20.0  # more than any answer takes on a busy machine
MODERN = "2026-07-28"
LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
META = "io.modelcontextprotocol/"

# Byte code is kept for the processes of one test run, as it is for users between two.
_BYTE_CODE = tempfile.TemporaryDirectory(prefix="web-search-byte-code-")


def modern_meta(**more: Any) -> dict[str, Any]:
    """The _meta of a request of the version without a handshake."""
    return {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}, **more}


class Client:
    """A server process and its lines. Every line that it writes must be one JSON message."""

    def __init__(self, environment: Mapping[str, str], command: list[str] | None = None) -> None:
        self.process = subprocess.Popen(
            command or [*PYTHON, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(**environment),
        )
        self.lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.everything = b""  # that the process wrote to stdout
        self.errors = b""  # that it wrote to stderr
        self._threads = [
            threading.Thread(target=target, daemon=True)
            for target in (self._read_output, self._read_errors)
        ]
        for thread in self._threads:
            thread.start()
        self._last_id = 0

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.everything += line
            self.lines.put(line)
        self.lines.put(b"")

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self.errors = self.process.stderr.read()

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        """Send JSON data as a line."""
        self.write(json.dumps(message).encode() + b"\n")

    def receive(self) -> Any:
        """The next message of the server."""
        line = self.lines.get(timeout=ANSWER_SECONDS)
        if not line:
            raise EOFError(self.errors.decode("utf-8", "replace"))
        return json.loads(line)

    def start_request(self, method: str, params: Any = None, **more: Any) -> int:
        """Send a request; return its id."""
        self._last_id += 1
        fields = {} if params is None else {"params": params}
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, **fields, **more}
        self.send(message)
        return self._last_id

    def request(self, method: str, params: Any = None) -> Any:
        """The answer (result or error) to a request; notifications before it are passed over."""
        number = self.start_request(method, params)
        while (message := self.receive()).get("id") != number:
            assert "method" in message, message
        return message

    def call(self, name: str, **arguments: Any) -> Any:
        """The result of a tool call."""
        return self.request("tools/call", {"name": name, "arguments": arguments})["result"]

    def text(self, name: str, **arguments: Any) -> str:
        """The text of a tool call."""
        return str(self.call(name, **arguments)["content"][0]["text"])

    def is_alive(self) -> bool:
        """Whether the server still answers."""
        return bool(self.request("ping")["result"] == {})

    def close(self) -> int:
        """End the input and return the exit code; check that no process remains."""
        with contextlib.suppress(OSError):
            if self.process.stdin:
                self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        """Wait for the end of the process; return its exit code."""
        try:
            code = self.process.wait(ANSWER_SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            for thread in self._threads:
                thread.join(5)
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                with contextlib.suppress(OSError):
                    if stream:
                        stream.close()
        return code


class McpCase(FakeServerCase):
    """A fake server, and an environment that leads every script to it, with keys and a store."""

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:
        names = (
            "BRAVE_SEARCH SERPER SERPER_SCRAPE GEMINI VERTEX CODE_ASSIST DUCKDUCKGO GOOGLE "
            "WIKIPEDIA"
        ).split()
        keys = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY")
        return {
            **{f"{name}_BASE_URL": url for name in names},
            **dict.fromkeys(keys, key),
            "WEB_SEARCH_ALLOW_PRIVATE": url.split("/")[2],
            "GLSI_RATE_LIMIT": "0s",
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": _BYTE_CODE.name,
        }

    def start(self, **variables: str) -> Client:
        """A client of a new server process, which ends with the test."""
        client = Client({**self.environment, **variables})
        self.addCleanup(client.close)
        return client

    def assert_no_key(self, client: Client) -> None:
        """No key in anything that an ended server wrote."""
        self.assertNotIn(CANARY.encode(), client.everything + client.errors)
