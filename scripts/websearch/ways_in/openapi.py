"""The OpenAPI description of the HTTP API, made from the tables that requests are checked with."""

from __future__ import annotations

import re

from websearch.kit import LEAST_MAX_CHARS, VERSION, drop_empty
from websearch.ways_in.http_messages import OPEN_PATHS, STATUSES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Document

# What the values of some parameters look like, by the API's names.
PAGES = "[1-9][0-9]{0,5}(-[1-9][0-9]{0,5})?"  # numbers of pages, or a range of them
VALUE_SCHEMAS: dict[str, dict[str, Any]] = {
    "url": {"pattern": r"^https?://[^\s]+$", "format": "uri"},
    "country": {"pattern": r"^[A-Za-z]{2}$"},
    "language": {"pattern": r"^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$"},
    "pages": {"pattern": rf"^{PAGES}(,{PAGES})*$"},
    "ttl": {"pattern": r"^(0|([0-9]{1,9}[smhd])+)$"},
    "max_chars": {"anyOf": [{"const": 0}, {"minimum": LEAST_MAX_CHARS}]},
}

# What every command answers; its fields are described in references/.
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
    routes: dict[str, dict[str, dict[str, Any]]],
    parameters_of: Callable[[dict[str, Any]], dict[str, dict[str, Any]]],
    token: bool,
) -> Document:
    """Return the OpenAPI 3.1 description of the API.

    routes: path -> method -> operation. parameters_of: returns an operation's parameters by name.
    token: whether requests must carry one.
    """
    paths: dict[str, dict[str, Any]] = {}
    for path, methods in routes.items():
        for method, operation in methods.items():
            is_command, takes_body = "command" in operation, method == "POST"
            other = "text/markdown" if is_command else "text/event-stream"
            content = {other: TEXT} if is_command or takes_body else {}
            content = {**content, "application/json": {"schema": REFERENCE if is_command else {}}}
            responses = {"200": {"description": "The answer", "content": content}}
            if takes_body and not is_command:
                responses["202"] = {"description": "Taken; there is nothing to answer"}
            responses["default"] = {"description": "What went wrong", "content": content}
            described = {
                "operationId": method.lower() + re.sub(r"\W", "_", path),
                "summary": operation["summary"],
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


def body_content(operation: dict[str, Any]) -> dict[str, Any]:
    """Return what a POST takes: the text that its parameter is, or a message of MCP."""
    if "body" not in operation:
        return {"application/json": {"schema": MESSAGE}}
    name, text = operation["body"], {"type": "string", "pattern": r"\S"}
    alone: dict[str, Any] = {"type": "object", "properties": {name: text}}
    alone |= {"required": [name], "additionalProperties": False}
    # Whatever is sent as text is one, so that has no type.
    plain = {"pattern": text["pattern"]}
    return {"text/markdown": {"schema": plain}, "application/json": {"schema": alone}}


def parameter_schema(parameter: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a parameter's values."""
    kind = parameter["type"]
    if kind in ("int", "float"):
        number = "integer" if kind == "int" else "number"
        schema = {"type": number, "minimum": parameter["min"], "maximum": parameter["max"]}
    elif kind == "bool":
        schema = {"type": "boolean"}
    elif kind == "since":
        dates = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d(\.\.|to)\d{4}-\d\d-\d\d$"}
        schema = {"anyOf": [{"enum": list(parameter["choices"])}, dates]}
    elif "choices" in parameter:
        schema = {"type": "string", "enum": list(parameter["choices"])}
    else:
        # Blank as Python takes it: these separators are no white space in other languages.
        schema = {"type": "string", "pattern": r"[^\s\x1c-\x1f\x85]"}
    schema |= VALUE_SCHEMAS.get(parameter["name"], {})
    if kind in ("list", "csv"):
        bounds = {"minItems": parameter.get("min_items", 1), "maxItems": parameter.get("max_items")}
        schema = {"type": "array", "items": schema, **drop_empty(bounds)}
    return {**schema, **drop_empty({"default": parameter.get("default")})}


def parameter_object(parameter: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI description of a parameter; csv is one value with commas, list many."""
    is_list = parameter["type"] in ("list", "csv")
    return {
        "name": parameter["name"],
        "in": "query",
        "description": parameter["help"],
        "required": bool(parameter.get("required") or "min_items" in parameter),
        "schema": parameter_schema(parameter),
        **({"style": "form", "explode": parameter["type"] == "list"} if is_list else {}),
    }
