"""Serve MCP over standard input and output: one client, one message per line.

Without arguments, mcp_server.py serves; its commands tools and call are for people at a shell.
"""

from __future__ import annotations

import _thread  # has threading's lock; importing threading itself takes 2 ms
import functools
import json
import os
import re
import signal
import sys
import time

from websearch import kit
from websearch.base import calls
from websearch.kit import error_markdown
from websearch.ways_in import mcp_tools
from websearch.ways_in.mcp_protocol import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    MAX_MESSAGE,
    ProtocolError,
    answer_request,
    bug_error,
    encode_message,
    error_message,
    is_token,
    parse_message,
    progress_message,
    read_request,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from concurrent.futures import ThreadPoolExecutor
    from typing import Any, BinaryIO

    from websearch.ways_in.mcp_protocol import McpRequest, Message

WORKERS = 8  # concurrent calls, most of which wait for the network
READ_SIZE = 65_536  # bytes per read
DRAIN_SECONDS = 1.0  # seconds for running calls at the end of input; clients send SIGTERM after 2
INPUT_ENDED = (
    "The input ended before the answer. Keep it open, or run: mcp_server.py call TOOL JSON"
)


class RunningCall:
    """A running call. is_open: neither answered nor cancelled. reports: the number sent so far."""

    def __init__(self, request: McpRequest) -> None:
        self.request = request
        self.is_open = True
        self.reports = 0


class StdioServer:
    """A server for one client: the main thread reads its messages, and workers run its calls.

    reading: a stream. writing: a file descriptor. client: the client information from initialize.
    """

    def __init__(self, reading: BinaryIO, writing: int) -> None:
        self.reading, self.writing = reading, writing
        self.client: dict[str, Any] = {}
        self.lock = _thread.allocate_lock()  # guards the writing descriptor and the calls
        self.calls: dict[str | int, RunningCall] = {}  # by request id

    @functools.cached_property
    def pool(self) -> ThreadPoolExecutor:
        """The workers, created at the first call, because clients wait for initialize."""
        from concurrent.futures import ThreadPoolExecutor

        return ThreadPoolExecutor(WORKERS)

    def serve(self) -> None:
        """Answer messages until the end of input; then wait a moment for running calls.

        Those that still run are answered with an error, because input from a pipe ends early.
        """
        for line in read_lines(self.reading):
            self.receive(line)
        limit = time.monotonic() + DRAIN_SECONDS
        while self.calls and time.monotonic() < limit:
            time.sleep(0.01)
        for request_id, call in list(self.calls.items()):
            error = ProtocolError(INTERNAL_ERROR, INPUT_ENDED)
            error.request_id = request_id
            self.finish(call, error_message(error))

    def receive(self, line: bytes | None) -> None:
        """Answer a line of input; None: the line was too long."""
        try:
            self.handle(line)
        except ProtocolError as error:
            self.send(error_message(error))
        except Exception as error:  # noqa: BLE001  no message may end the server
            self.send(error_message(bug_error(error)))

    def handle(self, line: bytes | None) -> None:
        """Answer a line, or pass its call to a worker. Raises ProtocolError."""
        if line is None:
            message = f"Invalid request: longer than {MAX_MESSAGE} bytes"
            raise ProtocolError(INVALID_REQUEST, message)
        data = parse_message(line)
        request = read_request(data)
        if request is None:
            if data.get("method") == "notifications/cancelled":
                self.cancel(kit.object_field(data, "params").get("requestId"))
        elif request.method == "tools/call":
            request.client = request.client or self.client
            call = self.calls[request.id] = RunningCall(request)
            self.pool.submit(self.run_call, call)
        else:
            if request.method == "initialize":
                self.client = request.client
            self.send(answer_request(request))

    # ----- calls

    def run_call(self, call: RunningCall) -> None:
        """Run a call and send its answer, unless it was cancelled."""
        if call.is_open:
            with calls.cancelled_if(lambda: not call.is_open):
                answer = answer_request(
                    call.request, lambda text, left: self.send_progress(call, text, left)
                )
        self.finish(call, answer)
        with self.lock:
            if self.calls.get(call.request.id) is call:
                del self.calls[call.request.id]

    def finish(self, call: RunningCall, answer: Message) -> None:
        """Send the answer to a call that has none yet and was not cancelled."""
        with self.lock:
            if call.is_open:
                call.is_open = False
                self.write(encode_message(answer))

    def cancel(self, request_id: object) -> None:
        """Stop a call and drop its answer; ignore ids of unknown or finished calls."""
        with self.lock:
            if is_token(request_id) and request_id in self.calls:
                self.calls[request_id].is_open = False

    def send_progress(self, call: RunningCall, text: str, left: int | None) -> None:
        """Report the progress of a call if its client sent a token."""
        with self.lock:
            if call.is_open and call.request.token is not None:
                call.reports += 1
                message = progress_message(call.request.token, call.reports, text, left)
                self.write(encode_message(message))

    # ----- messages out

    def send(self, message: Message) -> None:
        """Send a message."""
        line = encode_message(message)
        with self.lock:
            self.write(line)

    def write(self, line: bytes) -> None:
        """Write a line; the caller must hold the lock. End the process if the client is gone."""
        left = memoryview(line)
        try:
            while left:
                left = left[os.write(self.writing, left) :]
        except OSError:
            os._exit(0)


def read_lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines of a stream, except blank lines; None for lines longer than MAX_MESSAGE."""
    while line := stream.readline(MAX_MESSAGE + 1):
        if len(line) <= MAX_MESSAGE:
            if line.strip():
                yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(READ_SIZE)
        yield None


# ===== the process ================================================================================


def protocol_streams() -> tuple[BinaryIO, int]:
    """Return a stream to read from and a descriptor to write to, reserved for the protocol.

    Afterward, libraries and child processes print to stderr and read nothing.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    reading, writing = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if os.name == "posix":
        for descriptor in (reading, writing):
            os.set_blocking(descriptor, True)
    return os.fdopen(reading, "rb"), writing


def drop_placeholders() -> None:
    """Remove variables whose value is a placeholder, such as ${user_config.serper_api_key}.

    A client that has no value passes the placeholder itself, which would count as a key.
    """
    for name, value in list(os.environ.items()):
        if re.fullmatch(r"\$\{[^{}]*\}", value):
            del os.environ[name]


def end_by_signal(number: int, frame: object) -> None:
    """End at once, because running calls would keep the process alive until their deadline."""
    os._exit(128 + number)


def serve() -> None:
    """Serve the client on standard input and output until it disconnects; end the process."""
    for number in (signal.SIGINT, signal.SIGTERM):  # even if the parent process ignored them
        signal.signal(number, end_by_signal)
    drop_placeholders()
    if sys.stdin.isatty():
        sys.stderr.write(
            "Waiting for an MCP client on standard input; for help, run with --help.\n"
        )
    server = StdioServer(*protocol_streams())  # keeps its stream open
    server.serve()
    os._exit(0)


# ===== at a shell =================================================================================


def print_tools() -> int:
    """Print the tools in readable form: name, description and arguments; return the exit code."""
    lines = []
    for tool in mcp_tools.tool_definitions():
        schema = tool["inputSchema"]
        lines.append(f"{tool['name']}\n  {tool['description']}")
        for label, value in schema["properties"].items():
            facts = [value.get("description") or value["type"]]
            facts += [f"one of {', '.join(value['enum'])}"] if "enum" in value else []
            facts += [f"default: {value['default']}"] if "default" in value else []
            facts += ["required"] if label in schema.get("required", ()) else []
            lines.append(f"  - {label}: {'; '.join(facts)}")
    others = [name for name in mcp_tools.TOOLS if name not in mcp_tools.listed_tools()]
    lines += [f"Not listed: {', '.join(map(mcp_tools.how_to_list, others))}."] if others else []
    kit.print_text("\n".join(lines))
    return 0


def print_call(name: str, source: str) -> int:
    """Run a tool and print its text; return the exit code.

    source: the arguments as JSON, @FILE, or - for standard input.
    """
    error = None
    try:
        if name not in mcp_tools.TOOLS:
            message = f"There is no tool {kit.quoted(name)}."
            hint = mcp_tools.unknown_tool_hint(name)
            raise kit.SearchError("invalid_input", message, hint)
        text = kit.read_argument("@-" if source == "-" else source, "arguments")
        document, text = mcp_tools.call_tool(name, json.loads(text))
    except kit.SearchError as failure:
        error = failure
    except (ValueError, RecursionError):
        example = """Pass an object, such as '{"query": "..."}'."""
        error = kit.SearchError("invalid_input", "The arguments are not valid JSON.", example)
    if error:
        document = kit.error_document(error)
        text = error_markdown(document)
    kit.print_text(text)
    return 0 if document["ok"] else kit.EXIT_CODES[document["details"]["kind"]]


def main(description: str, argv: list[str] | None) -> int:
    """Serve, or run a command for a person at a shell; return the exit code.

    description: the help text. argv: the words after the program's name (default: sys.argv's).
    """
    given = sys.argv[1:] if argv is None else argv
    if not given:
        serve()
    import argparse

    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "mcp_server.py", description=description, formatter_class=style
    )
    parser.add_argument("--version", action="version", version=f"mcp_server.py {kit.VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("tools")
    call = commands.add_parser("call")
    call.add_argument("tool")
    call.add_argument("arguments", nargs="?", default="{}")
    known = (*commands.choices, "-h", "--help", "--version")
    try:
        if given[0] not in known and (hint := kit.nearest(given[0], known, "word")):
            parser.error(f"{kit.quoted(given[0])} is not a command. {hint}")
        words = parser.parse_args(given)
        return (
            print_tools() if words.command == "tools" else print_call(words.tool, words.arguments)
        )
    except SystemExit as done:  # --help, --version or invalid arguments
        return int(done.code or 0)
    except KeyboardInterrupt:
        return kit.EXIT_CODES["interrupted"]
