"""The user's own defaults of searches: lines such as DEFAULT_COUNTRY: de in secrets.yaml.

What a caller gives wins. Country and language are wishes: an engine that cannot filter by them is
asked without them.
"""

from __future__ import annotations

from websearch.kit import read_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document

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


def naming_defaults(document: Document, params: dict[str, Any]) -> Document:
    """Return the document of a call; if its input is refused, the hint names defaults in use.

    params: what the caller gave.
    """
    details = document.get("details", {})
    if details.get("kind") == "invalid_input":
        lines = [
            f"{variable(name)}: {value}"
            for name, value in user_defaults().items()
            if name not in params and name in document["error"]
        ]
        if lines:
            hint = f"{details.get('hint', '')} Defaults in secrets.yaml: {', '.join(lines)}."
            details["hint"] = hint.strip()
    return document
