"""The MCP server over standard input and output: one client, a message a line."""

from __future__ import annotations

import os
import re
import sys
import time

from websearch import history
from websearch.common import EXIT_CODES, object_field
from websearch.servers import mcp_tools
from websearch.servers.mcp_protocol import (
    BATCH_VERSION,
    INVALID_REQUEST,
    NO_BATCHES,
    ProtocolError,
    answer_batch,
    busy_message,
    encode_message,
    error_message,
    immediate_result,
    internal_fault,
    is_token,
    parse_message,
    progress_message,
    read_request,
    run_request,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from websearch.servers.mcp_protocol import McpRequest

WORKERS = 8  # calls that run at the same time; they mostly wait for the network
MAX_WAITING = 200  # calls that wait for a worker; others are refused
MAX_LINE = 4_000_000  # bytes of one message, far more than a call needs; a longer one is skipped
READ_SIZE = 65_536  # bytes read at a time
DRAIN_SECONDS = 1.0  # for running calls at the end of input; clients send SIGTERM after 2 s


class PendingCall:
    """A request that a worker answers."""

    def __init__(self, request: McpRequest) -> None:
        self.request = request
        self.cancelled = False
        self.finished = False  # from then on no progress may be sent
        self.reports = 0


class StdioServer:
    """One client: the main thread reads its messages, and workers run its calls.

    reading and writing are file descriptors.
    """

    def __init__(self, reading: int, writing: int) -> None:
        import _thread  # threading's own lock, without the 2 ms of its import

        self.reading = reading
        self.writing = writing
        self.lock = _thread.allocate_lock()  # for the writing descriptor and the calls
        self.calls: list[PendingCall] = []  # waiting and running
        self.queue: Any = None  # made with the workers, after the first answer
        self.accepts_batches = False

    def serve(self) -> None:
        """Answer messages until the end of input; then wait a moment for running calls."""
        for line in read_lines(self.reading):
            self.receive(line)
            if self.queue is None:
                self.start_workers()
        limit = time.monotonic() + DRAIN_SECONDS
        while self.calls and time.monotonic() < limit:
            time.sleep(0.01)

    def start_workers(self) -> None:
        """Start what the first answer should not wait for: workers, and a thread that imports."""
        import queue
        import signal
        import threading

        for number in (signal.SIGINT, signal.SIGTERM):  # even if they were ignored at the start
            signal.signal(number, end_by_signal)

        self.queue = queue.SimpleQueue()
        for target in [*[self.work] * WORKERS, warm_up]:
            threading.Thread(target=target, daemon=True).start()

    # ----- messages in

    def receive(self, line: bytes | None) -> None:
        """Handle one line of input; None stands for one that was too long."""
        try:
            if line is None:
                message = f"Invalid request: longer than {MAX_LINE} bytes"
                raise ProtocolError(INVALID_REQUEST, message)
            data = parse_message(line)
            if isinstance(data, list):
                self.start_batch(data)
            else:
                self.handle(data)
        except ProtocolError as fault:
            self.send(error_message(fault))
        except Exception as error:  # noqa: BLE001  no message may end the server
            self.send(error_message(internal_fault(error)))

    def handle(self, message: Any) -> None:
        """Answer one message, at once or from a worker; raises ProtocolError."""
        request = read_request(message)
        if request is None:
            if message.get("method") == "notifications/cancelled":
                self.cancel(object_field(message, "params").get("requestId"))
            return
        result = immediate_result(request)
        if result is None:
            self.start_call(PendingCall(request))
            return
        if request.method == "initialize":
            self.accepts_batches = result["protocolVersion"] == BATCH_VERSION
            history.serve_caller(request.caller() or "MCP")
        self.send(request.finished(result))

    # ----- calls

    def start_batch(self, messages: list[Any]) -> None:
        """Let a worker answer a batch, as one list; raises ProtocolError."""
        if not self.accepts_batches:
            raise ProtocolError(INVALID_REQUEST, NO_BATCHES)

        def run() -> None:
            try:
                answers = answer_batch(messages)
            except ProtocolError as fault:
                self.send(error_message(fault))
            else:
                if answers:
                    self.send(answers)

        self.queue.put(run)  # accepts_batches: there was an answer, and so there are workers

    def start_call(self, call: PendingCall) -> None:
        """Hand a request to the workers, or answer at once that too many are waiting."""
        with self.lock:
            full = len(self.calls) >= WORKERS + MAX_WAITING
            if not full:
                self.calls.append(call)
        if full:
            self.send(busy_message(call.request))
            return
        if self.queue is None:
            self.start_workers()
        self.queue.put(lambda: self.run_call(call))

    def work(self) -> None:
        """Run what the queue brings, for ever."""
        while True:
            self.queue.get()()

    def run_call(self, call: PendingCall) -> None:
        """Run a call and send its answer, unless it was cancelled."""
        answer = None
        if not call.cancelled:
            answer = run_request(
                call.request, lambda text, left: self.send_progress(call, text, left)
            )
        with self.lock:
            call.finished = True
        if answer and not call.cancelled:
            self.send(answer)
        with self.lock:
            self.calls.remove(call)

    def cancel(self, request_id: Any) -> None:
        """Drop the answer of a call; some clients send ids that are unknown or finished."""
        with self.lock:
            for call in self.calls:
                if is_token(request_id) and call.request.id == request_id:
                    call.cancelled = True

    def send_progress(self, call: PendingCall, text: str, left: int | None) -> None:
        """Report the progress of a call, if its client gave a token for it."""
        if call.request.token is None:
            return
        with self.lock:
            if call.finished or call.cancelled:
                return
            call.reports += 1
            message = progress_message(call.request.token, call.reports, text, left)
            self.write(encode_message(message))

    # ----- messages out

    def send(self, message: Any) -> None:
        """Send a message, or a list of them."""
        line = encode_message(message)
        with self.lock:
            self.write(line)

    def write(self, line: bytes) -> None:
        """Write one line, with the lock held; end the process if the client has gone."""
        left = memoryview(line)
        try:
            while left:
                left = left[os.write(self.writing, left) :]
        except OSError:
            os._exit(0)


def read_lines(descriptor: int) -> Iterator[bytes | None]:
    """Yield the lines of a descriptor that are not blank; None for one longer than MAX_LINE."""
    buffer = bytearray()
    too_long = False
    ended = False
    while not ended:
        piece = os.read(descriptor, READ_SIZE)
        ended = not piece
        buffer += piece or b"\n"  # the last line may lack its end
        if b"\n" in piece or ended:
            *lines, rest = bytes(buffer).split(b"\n")
            buffer = bytearray(rest)
            for line in lines:
                if too_long or len(line) > MAX_LINE:
                    yield None
                elif line.strip():
                    yield line
                too_long = False
        elif len(buffer) > MAX_LINE:
            too_long = True
            buffer.clear()


def warm_up() -> None:
    """Import what the first list and the first call need, while the client reads the answer."""
    import contextlib
    import importlib

    mcp_tools.tool_definitions()
    for name in ("urllib.request", "ssl", "http.client", "sqlite3", "zlib"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def protocol_descriptors() -> tuple[int, int]:
    """Return descriptors for reading and writing that only the protocol uses.

    From now on, libraries and child processes print to stderr and read nothing.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    reading, writing = os.dup(0), os.dup(1)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    if os.name == "posix":
        for descriptor in (reading, writing):
            os.set_blocking(descriptor, True)
    return reading, writing


def drop_placeholders() -> None:
    """Remove variables whose value is a placeholder, such as ${user_config.serper_api_key}.

    A client without a value for it hands over the placeholder itself, which would count as a key.
    """
    for name, value in list(os.environ.items()):
        if re.fullmatch(r"\$\{[^{}]*\}", value):
            del os.environ[name]


def end_by_signal(number: int, frame: object) -> None:
    """End at once: running calls would otherwise hold the process until their deadline."""
    os._exit(128 + number)


def serve() -> int:
    """Serve the client on standard input and output until it ends, then end the process."""
    drop_placeholders()
    if sys.stdin.isatty():
        sys.stderr.write("Waiting for an MCP client on standard input; --help tells more.\n")
    try:
        StdioServer(*protocol_descriptors()).serve()
    except KeyboardInterrupt:  # before the first answer; end_by_signal does it from then on
        os._exit(EXIT_CODES["interrupted"])
    os._exit(0)
