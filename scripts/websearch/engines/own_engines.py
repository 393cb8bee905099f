"""The user's own search APIs: rows in engines.json, next to secrets.yaml.

The file is a JSON object: the name of an engine -> its row. references/how_it_works.md explains the
fields; base/search_apis.py lists the placeholders.
"""

from __future__ import annotations

import json
import os
import re

from websearch.engines.base.engine import Engine, SearchApi
from websearch.engines.base.search_apis import PLACEHOLDERS, filters_of, placeholders
from websearch.kit import MAX_INPUT_BYTES, SearchError, base_url, nearest, quoted, secrets_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

# Field of a row -> its JSON type, and whether it is required.
FIELDS: dict[str, tuple[type, bool]] = {
    "title": (str, False), "url": (str, True), "method": (str, False), "key": (str, False),
    "key_site": (str, False), "headers": (dict, False), "send": (dict, True),
    "results": (str, True), "fields": (dict, False), "used_up": (list, False),
    "max_count": (int, False), "max_query": (int, False), "paid": (bool, False),
    "auto": (bool, False),
}  # fmt: skip
RESULT_FIELDS = ("title", "url", "snippet", "date", "text")
TYPES = {str: "a text", dict: "an object", list: "a list", int: "a whole number", bool: "a boolean"}
MAX_COUNT, MAX_QUERY = 20, 2_000  # results per request, characters; a row may set its own
KEY_HINT = "Put {key} only into Authorization or a header whose name ends with key or token."


def engines_path() -> str:
    """Return the path of the file with the user's engines; it may not exist."""
    return os.path.join(os.path.dirname(secrets_path()), "engines.json")


def own_engines(taken: Collection[str]) -> tuple[dict[str, Engine], SearchError | None]:
    """Return the user's engines and, if the file has a mistake, no engines and its error.

    taken: names that the user's engines cannot have.
    """
    path = engines_path()
    try:
        with open(path, "rb") as file:
            rows = json.loads(file.read(MAX_INPUT_BYTES))
        if not isinstance(rows, dict):
            raise mistake("the file", "must be an object: name -> row")
        return {name: own_engine(name, row, taken) for name, row in rows.items()}, None
    except (OSError, ValueError, RecursionError) as error:
        if not os.path.isfile(path):
            return {}, None
        message = f"{path} cannot be read: {error}"
        return {}, SearchError("invalid_input", message, "Correct the file, or remove it.")
    except SearchError as error:
        error.message = f"{path}: {error.message}"
        return {}, error


def mistake(place: str, problem: str, hint: str = "Correct the field.") -> SearchError:
    """Return the error for a mistake in a row. place: engine and field, such as "acme.send"."""
    return SearchError("invalid_input", f"{place} {problem}.", hint)


def own_engine(name: str, row: Any, taken: Collection[str]) -> Engine:
    """Return the engine in a row; raises SearchError, which names the field."""
    if name in taken:
        raise mistake(quoted(name), "is a built-in name", "Give your engine another name.")
    if not re.fullmatch(r"[a-z][a-z0-9_]{1,30}", name):
        hint = "Use lower case letters, digits and underscores; begin with a letter."
        raise mistake(quoted(name), "cannot name an engine", hint)
    check_types(name, row)
    key = row.get("key", "")
    if key and not re.fullmatch(r"[A-Z][A-Z0-9_]*", key):
        raise mistake(
            f"{name}.key", f"must name a variable such as ACME_API_KEY, not {quoted(key)}"
        )
    address, path = address_of(name, row["url"])
    fields = row.get("fields", {})
    for field in fields:
        check_name(f"{name}.fields", field, RESULT_FIELDS)
    snippet = fields.get("snippet", "snippet")
    api = SearchApi(
        method=method_of(name, row),
        path=path,
        headers=headers_of(name, row),
        send=row["send"],
        results=row["results"],
        title=str(fields.get("title", "title")),
        url=str(fields.get("url", "url")),
        snippet=tuple(map(str, snippet)) if isinstance(snippet, list) else (str(snippet),),
        date=str(fields.get("date", "date")),
        text=str(fields.get("text", "")),
        used_up=tuple(row.get("used_up", [402])),
    )
    sent = placeholders(row["send"])
    for placeholder in sorted(sent):
        check_name(f"{name}.send", placeholder, PLACEHOLDERS)
    if "query" not in sent:
        raise mistake(f"{name}.send", "has no {query}")
    return Engine(
        name=name,
        title=row.get("title", name),
        api=api,
        keys=(key,) if key else (),
        key_site=row.get("key_site", ""),
        address=("", address),
        paid=row.get("paid", bool(key)),
        sources=("web",),
        auto=row.get("auto", False),
        filters=filters_of(api),
        max_query=row.get("max_query", MAX_QUERY),
        max_count=row.get("max_count", MAX_COUNT),
    )


def check_types(name: str, row: Any) -> None:
    """Raise SearchError for a field that is unknown, missing or of the wrong type."""
    if not isinstance(row, dict):
        raise mistake(name, "must be an object")
    for field, value in row.items():
        check_name(name, field, FIELDS)
        wanted = FIELDS[field][0]
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise mistake(f"{name}.{field}", f"must be {TYPES[wanted]}")
    for field, (_, is_required) in FIELDS.items():
        if is_required and not row.get(field):
            raise mistake(name, f"needs {field}")


def check_name(place: str, name: str, allowed: Collection[str]) -> None:
    """Raise SearchError for a name that is not allowed; the hint suggests the nearest one."""
    if name not in allowed:
        hint = nearest(name, allowed, "name") or f"Known are {', '.join(allowed)}."
        raise mistake(f"{place}.{name}", "is unknown", hint)


def address_of(name: str, url: str) -> tuple[str, str]:
    """Return an API's address and path; raises SearchError for an unsafe address."""
    parts = re.fullmatch(r"(https?://[^/?#\s@{}]+)(/[^?#\s{}]*)?", url)
    if not parts:
        raise mistake(f"{name}.url", f"must be an address without a query, not {quoted(url)}")
    try:
        return base_url("", parts[1]), parts[2] or ""
    except SearchError:
        raise mistake(f"{name}.url", f"must use https, not {quoted(url)}") from None


def method_of(name: str, row: dict[str, Any]) -> str:
    """Return a row's method; raises SearchError."""
    method: str = row.get("method", "POST")
    if method not in ("GET", "POST"):
        raise mistake(f"{name}.method", f"must be GET or POST, not {quoted(method)}")
    return method


def headers_of(name: str, row: dict[str, Any]) -> dict[str, str]:
    """Return a row's headers; raises SearchError for a key that a dry run would show."""
    from websearch.base.http_client import is_key_header

    headers: dict[str, str] = row.get("headers", {})
    for header, value in headers.items():
        if not isinstance(value, str):
            raise mistake(f"{name}.headers.{header}", "must be text")
        for placeholder in placeholders(value):
            check_name(f"{name}.headers", placeholder, ("key", "program"))
        if "{key}" in value and not (row.get("key") and is_key_header(header)):
            hint = KEY_HINT if row.get("key") else "Set the field key to the variable's name."
            raise mistake(f"{name}.headers.{header}", "cannot have {key}", hint)
    return headers
