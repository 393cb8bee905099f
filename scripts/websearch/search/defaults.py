"""Apply the user's search defaults: lines such as DEFAULT_COUNTRY: de in secrets.yaml.

A parameter that the caller passes wins. Country and language are soft filters: an engine that
lacks them is queried without them.
"""

from __future__ import annotations

from websearch.engines.table import chosen_engines
from websearch.kit import SearchError, check_value, object_field, read_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document, Parameter

NAMES = ("engine", "country", "language", "count", "format")
SOFT_FILTERS = ("country", "language")


def user_defaults() -> dict[str, str]:
    """Return the defaults that are set, by parameter name."""
    secrets = read_secrets()
    return {name: secrets[variable(name)] for name in NAMES if secrets.get(variable(name))}


def variable(name: str) -> str:
    """Return the name of the secrets.yaml line for a parameter's default."""
    return f"DEFAULT_{name.upper()}"


def with_defaults(params: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return search parameters, with the user's defaults filled in for these names."""
    defaults = user_defaults()
    return {**{name: defaults[name] for name in names if name in defaults}, **params}


def with_defaults_hint(
    document: Document, params: dict[str, Any], table: list[Parameter]
) -> Document:
    """Return a call's document; if its input is invalid, the hint lists the defaults at fault.

    params: those that the caller passed. table: the command's parameters.
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
    """Return whether a default is invalid for its parameter or refused by an engine."""
    from websearch.search.engine_calls import planned_request

    name = parameter["name"]
    try:
        checked = check_value(parameter, value)
        if name == "engine":
            chosen_engines(checked)
    except SearchError:
        return True
    if name not in SOFT_FILTERS:
        return False
    answers = [
        planned_request(engine, {"query": name, "count": 1, name: value})
        for engine in engines
        if engine != "auto"
    ]
    return any(
        isinstance(answer, SearchError) and answer.kind == "invalid_input" for answer in answers
    )
