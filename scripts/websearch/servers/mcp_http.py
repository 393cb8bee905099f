"""The MCP server over HTTP (Streamable HTTP), without sessions: one POST, one message, one answer.

An answer is JSON; a call whose client asks for progress and takes text/event-stream gets a stream
of events: the progress, then the answer. http_messages.py decides which callers are served.
"""

from __future__ import annotations

from websearch.common import object_field
from websearch.servers.http_messages import HttpError
from websearch.servers.mcp_protocol import (
    BATCH_VERSION,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY_VERSIONS,
    META,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
    NO_BATCHES,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    ProtocolError,
    answer_batch,
    check_message,
    encode_message,
    error_message,
    immediate_result,
    parse_message,
    progress_message,
    read_request,
    run_request,
    unsupported_version,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from websearch.servers.http_messages import Answer, HttpRequest
    from websearch.servers.mcp_protocol import McpRequest, Message

VERSION_HEADER = "mcp-protocol-version"
EVENT_STREAM = "text/event-stream"
# HTTP status of a JSON-RPC error; 200 for the others. Clients of versions with a handshake look for
# an error of their request in an answer of status 200 only.
LEGACY_STATUSES = dict.fromkeys(
    (PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION), 400
)
MODERN_STATUSES = {**LEGACY_STATUSES, INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404}
NOTHING: Answer = (202, None, {"Content-Length": "0"})  # to a message that needs no answer
# No session: each event belongs to the request alone. X-Accel-Buffering is for proxies (nginx).
STREAM_HEADERS = {
    "Content-Type": EVENT_STREAM, "X-Accel-Buffering": "no", "Connection": "close",
}  # fmt: skip


def answer_post(http_request: HttpRequest) -> Answer:
    """Return the answer to a POST whose body is read; raises HttpError for a body that is no JSON.

    A notification, and a response that nobody has asked for, get a 202.
    """
    if media_types(http_request, "content-type") != ["application/json"]:
        hint = "Send the header Content-Type: application/json."
        raise HttpError(415, "The body of a message is JSON.", hint)
    modern = True  # until the message says something else; the first faults have one status in both
    try:
        data = parse_message(http_request.body or b"")
        if isinstance(data, list):
            if http_request.header(VERSION_HEADER) not in ("", BATCH_VERSION):
                raise ProtocolError(INVALID_REQUEST, NO_BATCHES)
            answers = answer_batch(data)
            return (200, answers, {}) if answers else NOTHING
        modern = check_headers(data, http_request)
        request = read_request(data)
        result = immediate_result(request) if request else None
    except ProtocolError as fault:
        return message_answer(error_message(fault), modern)
    if request is None:
        return NOTHING
    if result is not None:
        return message_answer(request.finished(result), modern)
    if request.token is not None and EVENT_STREAM in media_types(http_request, "accept"):
        return 200, event_stream(request), STREAM_HEADERS
    return message_answer(run_request(request, lambda *_: None), modern)


def message_answer(message: Message, modern: bool) -> Answer:
    """Return the answer that sends a message, with the HTTP status of its error."""
    statuses = MODERN_STATUSES if modern else LEGACY_STATUSES
    code = object_field(message, "error").get("code", 0)
    return statuses.get(code, 200), message, {}


def event_stream(request: McpRequest) -> Iterator[bytes]:
    """Yield the progress of a request as it comes, then its answer, each as an event."""
    import queue
    import threading

    news: queue.SimpleQueue[Any] = queue.SimpleQueue()  # arguments of reports, then the answer

    def work() -> None:
        news.put(run_request(request, lambda *report: news.put(report)))

    threading.Thread(target=work, daemon=True).start()
    count = 0
    while isinstance(item := news.get(), tuple):
        count += 1
        yield b"data: " + encode_message(progress_message(request.token, count, *item)) + b"\n"
    yield b"data: " + encode_message(item) + b"\n"


# ===== headers ====================================================================================


def media_types(http_request: HttpRequest, header: str) -> list[str]:
    """Return the media types of a header, without their parameters."""
    ranges = http_request.header(header).lower().split(",")
    return [item.partition(";")[0].strip() for item in ranges]


def check_headers(message: Any, http_request: HttpRequest) -> bool:
    """Return whether a message speaks MODERN_VERSION; raises ProtocolError.

    Headers and body must agree, because a proxy may decide by the headers and the server acts on
    the body. Versions with a handshake have the version's header only; without it, a client speaks
    one of the oldest versions.
    """
    check_message(message)
    version = http_request.header(VERSION_HEADER)
    params = object_field(message, "params")
    body_version = object_field(params, "_meta").get(f"{META}protocolVersion")
    request_id = message.get("id")
    known = version in ("", MODERN_VERSION, *LEGACY_VERSIONS)
    if not known and body_version in (None, version):
        raise unsupported_version(version, request_id)
    if body_version is None and version != MODERN_VERSION:
        return False
    if request_id is None:
        return True  # the specification says nothing of the headers of notifications
    method = message.get("method")
    pairs = [
        (VERSION_HEADER, version, body_version or MODERN_VERSION),
        ("mcp-method", http_request.header("mcp-method"), method),
    ]
    if method == "tools/call":
        name = decode_header(http_request.header("mcp-name"))
        pairs.append(("mcp-name", name, params.get("name")))
    for name, value, wanted in pairs:
        if value != wanted:
            text = f"Header mismatch: {name} must say what the body says"
            raise ProtocolError(HEADER_MISMATCH, text, request_id=request_id)
    if body_version is None:
        text = f"Invalid params: _meta must hold {META}protocolVersion"
        raise ProtocolError(INVALID_PARAMS, text, request_id=request_id)
    return True


def decode_header(value: str) -> str:
    """Return the value of Mcp-Name, decoded if it is in base64, the form for names beyond ASCII.

    A value that cannot be decoded counts as missing.
    """
    import base64

    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return ""
