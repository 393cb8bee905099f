"""Generate the OpenAPI description of the HTTP API from the tables that check its requests."""

from __future__ import annotations

import re

from websearch.kit import VERSION
from websearch.ways_in.http_messages import OPEN_PATHS, STATUSES
from websearch.ways_in.served import parameter_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Document, Parameter
    from websearch.ways_in.served import Operation

# The response of every command; references/ describes its fields.
DOCUMENT = {
    "type": "object",
    "required": ["ok", "status"],
    "properties": {
        "ok": {"type": "boolean"},
        "status": {"enum": ["ok", "no_results", "error"]},
        "error": {"type": "string"},
        "details": {"type": "object", "properties": {"kind": {"enum": list(STATUSES)}}},
    },
}
REFERENCE = {"$ref": "#/components/schemas/Document"}
# The body of a POST to /mcp.
MESSAGE = {
    "type": "object",
    "required": ["jsonrpc", "method"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "method": {"type": "string"},
        "id": {"type": ["string", "integer"]},
    },
}
TEXT = {"schema": {"type": "string"}}


def openapi_document(
    routes: dict[str, dict[str, Operation]],
    parameters_of: Callable[[Operation], dict[str, Parameter]],
    token: bool,
) -> Document:
    """Return the OpenAPI 3.1 description of the API.

    routes: path -> method -> operation. parameters_of: returns an operation's parameters by name.
    token: whether requests need a token.
    """
    paths: dict[str, dict[str, Any]] = {}
    for path, methods in routes.items():
        for method, operation in methods.items():
            is_command, takes_body = bool(operation.command), method == "POST"
            other = "text/markdown" if is_command else "text/event-stream"
            content = {other: TEXT} if is_command or takes_body else {}
            content = {**content, "application/json": {"schema": REFERENCE if is_command else {}}}
            responses = {"200": {"description": "The answer", "content": content}}
            if takes_body and not is_command:
                responses["202"] = {"description": "Accepted, without an answer"}
            responses["default"] = {"description": "Error", "content": content}
            described = {
                "operationId": method.lower() + re.sub(r"\W", "_", path),
                "summary": operation.summary,
                "parameters": [*map(parameter_object, parameters_of(operation).values())],
                "responses": responses,
            }
            if takes_body:
                described["requestBody"] = {"required": True, "content": body_content(operation)}
            if token and path not in OPEN_PATHS:
                described["security"] = [{"token": []}]
            paths.setdefault(path, {})[method.lower()] = described
    schemes = {"token": {"type": "http", "scheme": "bearer"}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "web-search", "version": VERSION},
        "paths": paths,
        "components": {"schemas": {"Document": DOCUMENT}, "securitySchemes": schemes},
    }


def body_content(operation: Operation) -> dict[str, Any]:
    """Return the schema for a POST body: the text of the body parameter, or an MCP message."""
    if not operation.body:
        return {"application/json": {"schema": MESSAGE}}
    name, text = operation.body, {"type": "string", "pattern": r"\S"}
    fields: dict[str, Any] = {"type": "object", "properties": {name: text}}
    fields |= {"required": [name], "additionalProperties": False}
    # There is no type, because validators parse a body such as 5 as a number.
    plain = {"pattern": text["pattern"]}
    return {"text/markdown": {"schema": plain}, "application/json": {"schema": fields}}


def parameter_object(parameter: Parameter) -> dict[str, Any]:
    """Return the OpenAPI description of a parameter; csv is comma-separated, list is repeated."""
    is_list = parameter["type"] in ("list", "csv")
    return {
        "name": parameter["name"],
        "in": "query",
        "description": parameter["help"],
        "required": bool(parameter.get("required") or "min_items" in parameter),
        "schema": parameter_schema(parameter),
        **({"style": "form", "explode": parameter["type"] == "list"} if is_list else {}),
    }
