"""Apply the user's search defaults: lines such as DEFAULT_COUNTRY: de in secrets.yaml.

Parameters from the caller take precedence. Country and language are soft filters: an engine that
lacks them is queried without them.
"""

from __future__ import annotations

from websearch.engines.base.filters import country_code, language_code
from websearch.engines.table import chosen_engines
from websearch.kit import SearchError, check_value, read_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from websearch.kit import Parameter

NAMES = ("engine", "country", "language", "count", "format")
SOFT_FILTERS = ("country", "language")


def user_defaults() -> dict[str, str]:
    """Return the defaults that are set, by parameter name."""
    secrets = read_secrets()
    return {name: secrets[variable(name)] for name in NAMES if secrets.get(variable(name))}


def variable(name: str) -> str:
    """Return the name of the line in secrets.yaml with a parameter's default."""
    return f"DEFAULT_{name.upper()}"


def checked_defaults(
    names: tuple[str, ...], table: list[Parameter], given: Collection[str] = ()
) -> dict[str, Any]:
    """Return the user's defaults for these parameters, except those that the caller passed.

    table: the command's parameters. Raises SearchError (invalid_input), which names the line.
    """
    found = user_defaults()
    return {
        parameter["name"]: checked_default(parameter, found[parameter["name"]])
        for parameter in table
        if parameter["name"] in names
        and parameter["name"] in found
        and parameter["name"] not in given
    }


def checked_default(parameter: Parameter, value: str) -> Any:
    """Return a parameter's default, converted to its type; raises SearchError (invalid_input)."""
    name = parameter["name"]
    try:
        checked = check_value(parameter, value)
        if name == "engine":
            chosen_engines(checked)
        if name in SOFT_FILTERS:
            {"country": country_code, "language": language_code}[name](checked)
    except SearchError as error:
        message = f"{variable(name)} in secrets.yaml: {error.message}"
        raise SearchError("invalid_input", message, error.hint) from None
    return checked
