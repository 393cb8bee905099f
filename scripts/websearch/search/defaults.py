"""The user's own defaults of searches: lines such as DEFAULT_COUNTRY: de in secrets.yaml.

What a caller gives wins. Country and language are wishes: an engine that cannot filter by them is
asked without them.
"""

from __future__ import annotations

from websearch.engines.table import chosen_engines
from websearch.kit import SearchError, check_value, object_field, read_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document, Parameter

NAMES = ("engine", "country", "language", "count", "format")
WISHES = ("country", "language")


def user_defaults() -> dict[str, str]:
    """Return the defaults that are set, by the names of their parameters."""
    secrets = read_secrets()
    return {name: secrets[variable(name)] for name in NAMES if secrets.get(variable(name))}


def variable(name: str) -> str:
    """Return the name of a default's line."""
    return f"DEFAULT_{name.upper()}"


def with_defaults(params: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return parameters of a search with those of the user's defaults that are not given."""
    defaults = user_defaults()
    return {**{name: defaults[name] for name in names if name in defaults}, **params}


def naming_defaults(document: Document, params: dict[str, Any], table: list[Parameter]) -> Document:
    """Return the document of a call; if its input is refused, the hint names refused defaults.

    params: what the caller gave. table: the parameters of the command.
    """
    details = object_field(document, "details")
    if details.get("kind") == "invalid_input":
        asked = [item.get("engine") for item in (details, *details.get("attempts", ()))]
        lines = [
            f"{variable(parameter['name'])}: {value}"
            for parameter in table
            if (value := user_defaults().get(parameter["name"]))
            and parameter["name"] not in params
            and is_refused(parameter, value, list(filter(None, asked)))
        ]
        if lines:
            hint = f"{details.get('hint', '')} Defaults in secrets.yaml: {', '.join(lines)}."
            details["hint"] = hint.strip()
    return document


def is_refused(parameter: Parameter, value: str, engines: list[str]) -> bool:
    """Return whether a default is no value of its parameter, or one of the engines refuses it."""
    from websearch.search.engine_calls import planned_request

    name = parameter["name"]
    try:
        checked = check_value(parameter, value)
        if name == "engine":
            chosen_engines(checked)
    except SearchError:
        return True
    if name not in WISHES:
        return False
    answers = [
        planned_request(engine, {"query": name, "count": 1, name: value})
        for engine in engines
        if engine != "auto"
    ]
    return any(
        isinstance(answer, SearchError) and answer.kind == "invalid_input" for answer in answers
    )
