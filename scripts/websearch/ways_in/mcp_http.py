"""Serve MCP over HTTP (Streamable HTTP), without sessions: one message and response per POST.

A response is JSON. If a call has a progress token and the client accepts text/event-stream, the
response is a stream of events: the progress, then the result. http_messages.py decides which
callers are served.
"""

from __future__ import annotations

from websearch.base.calls import start_thread
from websearch.kit import object_field
from websearch.ways_in.http_messages import HttpError
from websearch.ways_in.mcp_protocol import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY_VERSIONS,
    META,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    ProtocolError,
    answer_request,
    check_message,
    encode_message,
    error_message,
    parse_message,
    progress_message,
    read_request,
    unsupported_version,
    usable_id,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from websearch.ways_in.http_messages import Answer, HttpRequest
    from websearch.ways_in.mcp_protocol import McpRequest, Message

VERSION_HEADER = "mcp-protocol-version"
EVENT_STREAM = "text/event-stream"
# HTTP status for each JSON-RPC error (default: 200). Legacy clients expect most errors in a
# response with status 200.
LEGACY_STATUSES = dict.fromkeys(
    (PARSE_ERROR, INVALID_REQUEST, HEADER_MISMATCH, UNSUPPORTED_VERSION), 400
)
MODERN_STATUSES = {**LEGACY_STATUSES, INVALID_PARAMS: 400, METHOD_NOT_FOUND: 404}
# X-Accel-Buffering tells proxies such as nginx not to buffer.
STREAM_HEADERS = {
    "Content-Type": EVENT_STREAM, "X-Accel-Buffering": "no", "Connection": "close",
}  # fmt: skip


def answer_post(http_request: HttpRequest) -> Answer:
    """Return the response to a POST. Raises HttpError if its body is not declared as JSON.

    Notifications and unsolicited responses get a 202.
    """
    if media_types(http_request, "content-type") != ["application/json"]:
        hint = "Send the header Content-Type: application/json."
        raise HttpError(415, "The body of a message must be JSON.", hint)
    message = None
    is_modern = http_request.header(VERSION_HEADER) == MODERN_VERSION
    try:
        message = parse_message(http_request.body or b"")
        is_modern = is_modern or body_version(message) is not None
        check_headers(http_request, message)
        request = read_request(message)
    except ProtocolError as error:
        error.request_id = usable_id(message)
        return message_answer(error_message(error), is_modern)
    if request is None:
        return 202, None, {"Content-Length": "0"}
    wants_events = EVENT_STREAM in media_types(http_request, "accept")
    if request.method == "tools/call" and request.token is not None and wants_events:
        return 200, event_stream(request), STREAM_HEADERS
    return message_answer(answer_request(request), is_modern)


def message_answer(message: Message, is_modern: bool) -> Answer:
    """Return the response for a message, with the HTTP status for any error in it."""
    statuses = MODERN_STATUSES if is_modern else LEGACY_STATUSES
    return statuses.get(object_field(message, "error").get("code", 0), 200), message, {}


def event_stream(request: McpRequest) -> Iterator[bytes]:
    """Yield the progress of a request as it is reported, then its result, each as an event."""
    import queue

    news: queue.SimpleQueue[Any] = queue.SimpleQueue()  # reports, then the result
    start_thread(lambda: news.put(answer_request(request, lambda *report: news.put(report))))
    count = 0
    while isinstance(item := news.get(), tuple):
        count += 1
        yield b"data: " + encode_message(progress_message(request.token, count, *item)) + b"\n"
    yield b"data: " + encode_message(item) + b"\n"


# ===== headers ====================================================================================


def media_types(http_request: HttpRequest, header: str) -> list[str]:
    """Return the media types in a header, without their parameters."""
    ranges = http_request.header(header).lower().split(",")
    return [item.partition(";")[0].strip() for item in ranges]


def body_version(message: object) -> Any:
    """Return the version in a message's _meta, or None."""
    meta = object_field(object_field(message, "params"), "_meta")
    return meta.get(f"{META}protocolVersion")


def check_headers(http_request: HttpRequest, message: Any) -> None:
    """Raise ProtocolError unless the headers agree with the body.

    A proxy may act on the headers, while the server acts on the body. Versions with a handshake
    have only the version header; a client without it uses one of the oldest versions. The
    specification does not require headers for notifications.
    """
    check_message(message)
    header, version = http_request.header(VERSION_HEADER), body_version(message)
    is_known = header in ("", MODERN_VERSION, *LEGACY_VERSIONS)
    is_negotiated = message.get("method") == "initialize"  # its response contains a version
    if not (is_known or is_negotiated) and version in (None, header):
        raise unsupported_version(header)
    if "id" not in message or (version is None and header != MODERN_VERSION):
        return
    expected = {VERSION_HEADER: version or MODERN_VERSION, "mcp-method": message.get("method")}
    if message.get("method") == "tools/call":
        expected["mcp-name"] = object_field(message, "params").get("name")
    for name, value in expected.items():
        sent = http_request.header(name)
        if (decode_header(sent) if name == "mcp-name" else sent) != value:
            text = f"Header mismatch: {name} must agree with the body"
            raise ProtocolError(HEADER_MISMATCH, text)
    if version is None:
        raise ProtocolError(INVALID_PARAMS, f"Invalid params: _meta lacks {META}protocolVersion")


def decode_header(value: str) -> str:
    """Return the value of Mcp-Name; decode it if it is base64, which encodes non-ASCII names.

    A value that cannot be decoded counts as missing.
    """
    import base64

    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return ""
