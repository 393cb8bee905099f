"""Implement the HTTP API: its routes, its responses, and starting its server.

MCP over HTTP is a route whose protocol is in mcp_http.py.

The API is compatible with GLSI, a Go program: the paths /search, /cache and /health, the fields
status, content, result_count and from_cache, and the port in GLSI_PORT.
"""

from __future__ import annotations

import os
import re
import sys

from websearch import kit
from websearch.base import http_client
from websearch.kit import (
    LEAST_MAX_CHARS,
    SearchError,
    check_value,
    frame_markdown,
    internal_error,
    nearest,
    quoted,
    run_operation,
    spell_hints,
)
from websearch.ways_in.http_messages import HttpError, check_token, document_answer, error_answer
from websearch.ways_in.openapi import openapi_document
from websearch.ways_in.served import Operation, ServedCommand

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Document, ProgressCallback
    from websearch.ways_in.http_connection import ApiServer
    from websearch.ways_in.http_messages import Answer, HttpRequest

DEFAULT_PORT = 8080  # GLSI's default
LOOPBACK = "127.0.0.1"
MIN_TOKEN_CHARS = 16  # a shorter token can be guessed
MAX_TOKEN_FILE = 10_000  # characters; a longer file is a mistake
MAX_REQUEST_TIME = 120  # maximum timeout in seconds: a request occupies one of few connections

# fmt: off
COMMANDS: dict[str, kit.Command] = {
    "serve": {
        "help": "serve the HTTP API until SIGTERM or Ctrl-C",
        "params": [
            {"name": "port", "type": "int", "min": 0, "max": 65_535, "flags": ["-p"],
             "help": f"port; 0: any free port (default: $GLSI_PORT, else {DEFAULT_PORT})"},
            {"name": "host", "type": "str", "default": LOOPBACK,
             "help": f"address to listen on; others need --token-file (default: {LOOPBACK})"},
            {"name": "token_file", "type": "str",
             "help": f"file with the bearer token, at least {MIN_TOKEN_CHARS} characters, that "
                     "requests must carry"},
            {"name": "allow_host", "type": "csv",
             "help": "comma-separated host names that clients use for this server"},
        ],
        "cannot": {
            "token": "Others can see a token on the command line in the process list. Use "
                     "token_file.",
        },
    },
}

# ===== routes ==================================================================================

# Path -> method -> operation.
ROUTES: dict[str, dict[str, Operation]] = {
    "/search": {"GET": Operation(
        command=ServedCommand("websearch.search.commands", "search", noted=True),
        names={"query": "q"},
        summary="Search the web; return ranked results and the text of their pages",
    )},
    "/brief": {"GET": Operation(
        command=ServedCommand("websearch.search.commands", "brief", noted=True),
        names={"queries": "q"},
        summary="Answer several questions with one list of numbered sources",
    )},
    "/read": {"GET": Operation(
        command=ServedCommand("websearch.reading.read", "read", noted=True),
        names={"urls": "url"},
        summary="Fetch web pages and return their content as Markdown",
    )},
    "/recall": {"GET": Operation(
        command=ServedCommand("websearch.search.commands", "recall"),
        names={"query": "q"},
        summary="Search the text of pages fetched before, offline",
    )},
    "/check": {"POST": Operation(
        # The fixed parameters are for a quotation without a draft.
        command=ServedCommand("websearch.check.check", "check", fixed={"quote": None, "url": None}),
        body="text",
        summary="Check a draft's quotations and numbers against the pages it cites",
    )},
    "/cache": {"DELETE": Operation(
        command=ServedCommand("websearch.search.commands", "cache", fixed={"action": "clear"}),
        names={"query": "q"},
        summary="Forget the stored answers to a query; without q, everything",
    )},
    "/mcp": {"POST": Operation(
        summary="Answer a message of MCP (Streamable HTTP, without sessions)",
    )},
    "/health": {"GET": Operation(summary="Report that the server is up")},
    "/openapi.json": {"GET": Operation(summary="Describe this API")},
}
# Parameters for every operation that runs a command.
LIMITS: list[kit.Parameter] = [
    {"name": "timeout", "type": "float", "min": 0.1, "max": MAX_REQUEST_TIME,
     "help": "seconds for the whole request (default: 30, or that of the server)"},
    {"name": "max_chars", "type": "int", "min": 0, "max": 10_000_000,
     "help": f"longest document in characters, {LEAST_MAX_CHARS} or more; 0: no limit "
             "(default: 0, or that of the server)"},
    {"name": "format", "type": "str", "choices": ["json", "markdown"], "default": "json",
     "help": "format of the answer; errors in parameters are always JSON"},
]
# fmt: on

# ===== from a request to an answer ================================================================


def answer_request(request: HttpRequest, settings: dict[str, Any]) -> Answer:
    """Return the response to a request. Never raises.

    settings: those of check_caller, and verbose and defaults (for parameters not in a request).
    """
    try:
        return find_answer(request, settings)
    except SearchError as error:
        return error_answer(error)
    except Exception as error:  # noqa: BLE001  a bug: the client still gets a document
        return document_answer(internal_error(error, settings["verbose"]))


def find_answer(request: HttpRequest, settings: dict[str, Any]) -> Answer:
    """Return the response to a request. Raises SearchError and HttpError."""
    from websearch.ways_in.desk import answers as desk

    if desk.wants_page(request, ROUTES):
        return desk.answer_page(request, settings)
    check_token(request, settings)
    operation = find_operation(request)
    params = read_query(operation, request.query)
    if operation.body:
        params |= read_body(operation, request)
    if operation.command:
        return command_answer(operation, operation.command, params, settings)
    if request.path == "/mcp":
        from websearch.ways_in.mcp_http import answer_post

        return answer_post(request)
    if request.path == "/openapi.json":
        return 200, openapi_document(ROUTES, parameters_of, bool(settings["token"])), {}
    return 200, {"status": "ok"}, {}


def find_operation(request: HttpRequest) -> Operation:
    """Return the requested operation. Raises HttpError (400, 404, 405).

    An unexpected body is refused. Otherwise a DELETE with its query in the body would clear
    everything.
    """
    if request.path not in ROUTES:
        hint = nearest(request.path, ROUTES, "path") or f"The paths are {', '.join(ROUTES)}."
        raise HttpError(404, f"There is no {quoted(request.path)} here.", hint)
    methods = ROUTES[request.path]
    operation = methods.get("GET" if request.method == "HEAD" else request.method)
    if operation is None:
        allowed = ", ".join([*methods, *(["HEAD"] if "GET" in methods else [])])
        message = f"{request.path} does not take {kit.shorten(request.method, 20)}."
        raise HttpError(405, message, f"It takes {allowed}.", headers={"Allow": allowed})
    if request.body is None and request.body_length():
        hint = "Put parameters in the query string."
        raise HttpError(400, f"{request.method} {request.path} takes no body.", hint)
    return operation


def command_answer(
    operation: Operation, command: ServedCommand, params: dict[str, Any], settings: dict[str, Any]
) -> Answer:
    """Run an operation's command; return the response with its document or Markdown."""
    as_markdown = params.pop("format", "json") == "markdown"
    fixed = {**command.fixed, "verbose": settings["verbose"]}
    document = command.call({**settings["defaults"], **params, **fixed}, "HTTP")
    names = {name: item["name"] for name, item in parameters_of(operation).items()}
    document = spell_hints(document, names)
    if as_markdown:
        status, _, headers = document_answer(document)
        text = command.to_markdown(document) + "\n"
        return status, text, {**headers, "Content-Type": "text/markdown; charset=utf-8"}
    found_nothing = not document["ok"] and document["details"]["kind"] == "no_results"
    if command.name == "search" and (document["ok"] or found_nothing):
        document = search_document(document, command.load().consolidated_text(document))
    return document_answer(document)


def search_document(document: Document, content: str) -> Document:
    """Return a search's document with GLSI's fields; page text is only in content."""
    results = [
        {name: value for name, value in result.items() if name != "text"}
        for result in document.get("results", [])
    ]
    return {
        **document,
        "results": results,
        "content": content,
        "result_count": len(results),
        "from_cache": bool(document.get("from_cache")),
    }


# ===== parameters =================================================================================


def parameters_of(operation: Operation) -> dict[str, kit.Parameter]:
    """Return name in the command's table -> entry with the API's name, for all parameters.

    The parameters are those of the operation and LIMITS.
    """
    if not operation.command:
        return {}
    names, table = operation.names, operation.command.spec()["params"]
    # A server does not read files for its clients.
    omitted = {"input", operation.body, *operation.command.fixed}
    return {
        item["name"]: {**item, "name": names.get(item["name"], item["name"])}
        for item in [*table, *LIMITS]
        if item["name"] not in omitted
    }


def read_query(operation: Operation, query: str) -> dict[str, Any]:
    """Return a query string's parameters under the API's names, which are aliases in the tables.

    An empty optional parameter counts as not set. Raises SearchError (invalid_input) for a
    parameter that is unknown, repeated or outside the LIMITS; the command checks the others.
    """
    from urllib.parse import parse_qsl

    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        message = f"{quoted(query)} is not percent-encoded UTF-8."
        raise SearchError("invalid_input", message, "Encode the text as UTF-8.") from None
    entries = parameters_of(operation)
    clears = operation.command is not None and operation.command.name == "cache"
    table = kit.parameter_names([*entries.values()]) | entries
    for key, text in pairs:
        word = kit.spelled_name(key)
        if word not in table:
            names = [item["name"] for item in entries.values()]
            hint = kit.NO_SYNONYMS.get(word) or nearest(word, names, "parameter")
            hint = hint or (f"The parameters are {', '.join(names)}." if names else "Pass none.")
            message = f"There is no parameter {quoted(key)} here."
            raise SearchError("invalid_input", message, hint)
        item = table[word]
        # Without this error, a DELETE would clear everything.
        if not text.strip() and (item.get("required") or clears):
            message = f"{item['name']} is empty."
            raise SearchError("invalid_input", message, f"It is: {item['help']}.")
    params = kit.read_params(table, pairs, once=True)
    for item in LIMITS:
        if item["name"] in params:
            params[item["name"]] = check_value(item, params[item["name"]])
    check_max_chars(params)
    return params


def read_body(operation: Operation, request: HttpRequest) -> dict[str, Any]:
    """Return the parameter in a request's body, which is plain text or a JSON object.

    Raises HttpError (400) and SearchError (invalid_input).
    """
    import json

    name = operation.body
    try:
        text = (request.body or b"").decode("utf-8-sig")
        if "json" not in request.header("content-type").lower():
            return {name: text}
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise HttpError(400, "The body is not JSON in UTF-8.") from None
    if not isinstance(body, dict) or body.keys() != {name} or not isinstance(body[name], str):
        example = kit.dump_json({name: "..."})
        raise HttpError(
            400, f"The body must be a JSON object with only {name}.", f"Send {example}."
        )
    return body


def check_max_chars(params: dict[str, Any]) -> None:
    """Raise SearchError (invalid_input) for a limit below LEAST_MAX_CHARS that is not 0."""
    limit = params.get("max_chars", 0)
    if 0 < limit < LEAST_MAX_CHARS:
        message = f"max_chars must be 0 or {LEAST_MAX_CHARS} or more, not {limit}."
        raise SearchError("invalid_input", message, "0 means no limit.")


# ===== starting and stopping ======================================================================


def run_serve(
    params: dict[str, Any],
    report: ProgressCallback = None,
    check_machine: Callable[[], Document] = dict,
) -> Document:
    """Serve until a signal; return {ok, provider, address, requests}.

    params: those of COMMANDS["serve"], and timeout, max_chars (defaults for requests), dry_run,
    verbose. check_machine: returns doctor's document, for the desk. Must run in the main thread.
    Raises KeyboardInterrupt after a second signal.
    """
    import secrets

    def operation(params: dict[str, Any]) -> Document:
        # These limits apply to requests: max_chars must not cut this command's errors.
        names = [name for name in ("timeout", "max_chars") if name in params]
        limits: dict[str, Any] = {name: params.pop(name) for name in names}
        check_max_chars(limits)
        port = params["port"] if "port" in params else port_from_environment()
        family, address = resolve(params["host"], port)
        loopback = kit.is_loopback(url_of(address))
        token = read_token(params["token_file"]) if "token_file" in params else ""
        if not loopback and not token:
            message = f"Other machines can reach host {quoted(params['host'])}."
            hint = f"Also set {{token_file}}. Or use {LOOPBACK} as {{host}}."
            raise SearchError("invalid_input", message, hint)
        if params.get("dry_run"):
            raise kit.DryRun({"listen": url_of(address), "token": bool(token)})
        settings = {
            "loopback": loopback,
            "names": {name.lower() for name in [params["host"], *params.get("allow_host", [])]},
            "token": token,
            "session": secrets.token_urlsafe(),
            "verbose": bool(params.get("verbose")),
            "check_machine": check_machine,
            # Clients are programs, which get the whole text by default.
            "defaults": {"max_chars": 0, **limits},
        }
        server = open_server(family, address, settings)
        return serve_until_signal(server)

    return run_operation("http_server.serve", COMMANDS["serve"], params, operation)


def open_server(family: int, address: tuple[Any, ...], settings: dict[str, Any]) -> ApiServer:
    """Return a server that listens on an address. Raises SearchError if it cannot."""
    from websearch.ways_in.http_connection import ApiServer

    try:
        return ApiServer(
            family, address, lambda request: answer_request(request, settings), settings
        )
    except OSError as error:
        message = f"Port {address[1]} of {address[0]} cannot be used: {error.strerror}."
        hint = "Use a port above 1023 and an address of this machine, or 0 for any free port."
        raise SearchError("invalid_input", message, hint) from None


def serve_until_signal(server: ApiServer) -> Document:
    """Serve until SIGTERM or SIGINT, then finish running requests; return the summary."""
    import signal

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, server.stop)
    address = url_of(server.server_address)
    sys.stderr.write(f"listening on {address}\n")
    sys.stderr.flush()
    server.serve()
    return {"ok": True, "provider": "http_server", "address": address, "requests": server.requests}


def port_from_environment() -> int:
    """Return the port from $GLSI_PORT, or the default. Raises SearchError."""
    value = os.environ.get("GLSI_PORT", "").strip()
    if not value:
        return DEFAULT_PORT
    port: kit.Parameter = {**COMMANDS["serve"]["params"][0], "name": "GLSI_PORT"}
    return int(check_value(port, value))


def read_token(path: str) -> str:
    """Return the token in a file; warn if other users can read the file. Raises SearchError."""
    try:
        with open(os.path.expanduser(path), encoding="utf-8", errors="replace") as file:
            token = file.read(MAX_TOKEN_FILE).strip()
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        token, mode, reason = "", 0, f"could not be read: {error.strerror}"
    else:
        reason = f"must contain a token of {MIN_TOKEN_CHARS} or more ASCII characters, no spaces"
    if not re.fullmatch(rf"[!-~]{{{MIN_TOKEN_CHARS},}}", token):
        hint = "Create it: (umask 077; openssl rand -hex 32 > FILE)"
        raise SearchError("invalid_input", f"token_file {path!r} {reason}.", hint)
    if os.name == "posix" and mode & 0o077:
        http_client.warn_once(f"others can read {path}; run: chmod 600 {path}")
    return token


def resolve(host: str, port: int) -> tuple[int, tuple[Any, ...]]:
    """Return the (address family, address) to listen on. Raises SearchError for an unknown host."""
    import socket

    name = host.strip("[]")
    try:
        infos = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        message = f"host {quoted(host)} is not an address or name of this machine."
        hint = f"Use an address such as {LOOPBACK} or 0.0.0.0."
        raise SearchError("invalid_input", message, hint) from None
    return infos[0][0], infos[0][4]


def url_of(address: tuple[Any, ...]) -> str:
    """Return a socket's address as a URL."""
    host = f"[{address[0]}]" if ":" in address[0] else address[0]
    return f"http://{host}:{address[1]}"


RUN: dict[str, Callable[..., Document]] = {"serve": run_serve}


def to_markdown(document: Document) -> str:
    """Return a document as Markdown."""
    if not document["ok"] or "request" in document:
        return frame_markdown(document)
    served = f"Served {document['requests']} requests at {document['address']}."
    return frame_markdown(document, served)
