"""Define the commands that servers run, and the JSON Schema for their parameters."""

from __future__ import annotations

from typing import NamedTuple

from websearch.kit import LEAST_MAX_CHARS, drop_empty

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any

    from websearch.kit import Command, Document, Parameter, ProgressCallback

LONG_LIST = 16  # choices; a flat schema omits longer lists, which appear in errors
# Kind of a parameter -> its JSON type; other kinds accept text or lists.
JSON_TYPES = {"int": "integer", "float": "number", "bool": "boolean"}
# Parameter of the HTTP API -> schema for its values.
PAGES = "[1-9][0-9]{0,5}(-[1-9][0-9]{0,5})?"  # page numbers or ranges
CONTROLS = r"\x00-\x1f\x7f-\x9f"  # refused by check_text, or separators of items
VALUE_SCHEMAS: dict[str, dict[str, Any]] = {
    "url": {"pattern": r"^https?://[^\s]+$", "format": "uri"},
    "country": {"pattern": r"^[A-Za-z]{2}$"},
    "language": {"pattern": r"^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$"},
    "pages": {"pattern": rf"^{PAGES}(,{PAGES})*$"},
    "ttl": {"pattern": r"^(0|([0-9]{1,9}[smhd])+)$"},
    "max_chars": {"anyOf": [{"const": 0}, {"minimum": LEAST_MAX_CHARS}]},
}


class ServedCommand(NamedTuple):
    """A command that servers run.

    module, name: the module whose COMMANDS has the command's parameters. run: the function in
    the module (default: run_NAME). fixed: parameters with fixed values. noted: the function
    takes the caller, for the history.
    """

    module: str
    name: str
    run: str = ""
    fixed: Mapping[str, Any] = {}
    noted: bool = False

    def load(self) -> ModuleType:
        """Return the module, imported at first use. Raises ImportError."""
        import importlib

        return importlib.import_module(self.module)

    def spec(self) -> Command:
        """Return the command's entry in COMMANDS. Raises ImportError."""
        entry: Command = self.load().COMMANDS[self.name]
        return entry

    def to_markdown(self, document: Document) -> str:
        """Return one of the command's documents as Markdown. Raises ImportError."""
        module = self.load()
        # A module with only one kind of document has a single function for it.
        show = module.COMMANDS[self.name].get("to_markdown") or module.to_markdown
        text: str = show(document)
        return text

    def call(
        self, params: dict[str, Any], caller: str, report: ProgressCallback = None
    ) -> Document:
        """Run the command and return its document. Raises the command's errors and ImportError."""
        from websearch.store.database import keep_open

        keep_open()
        run = getattr(self.load(), self.run or f"run_{self.name}")
        asked_by = {"caller": caller} if self.noted else {}
        document: Document = run(params, report, **asked_by)
        return document


class Operation(NamedTuple):
    """An operation of the HTTP API; if it has no command, the API itself answers.

    names: parameter -> its name in the API, which is an alias in the command's table. body: the
    parameter in the body; "" if the operation takes no body.
    """

    summary: str
    command: ServedCommand | None = None
    names: Mapping[str, str] = {}
    body: str = ""


def parameter_schema(parameter: Parameter, flat: bool = False) -> dict[str, Any]:
    """Return the JSON Schema for a parameter's values.

    flat: for models; only a short list of choices constrains text, and lists are comma-separated.
    """
    kind, choices = parameter["type"], list(parameter.get("choices", ()))
    schema: dict[str, Any] = {"type": JSON_TYPES.get(kind, "string")}
    if kind in ("int", "float"):
        schema |= {"minimum": parameter["min"], "maximum": parameter["max"]}
    elif flat:
        # A period may also be a date range; comma-separated text may contain several choices.
        is_one_of = kind not in ("since", "csv") and 0 < len(choices) <= LONG_LIST
        schema |= {"enum": choices} if is_one_of else {}
    elif kind == "since":
        dates = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d(\.\.|to)\d{4}-\d\d-\d\d$"}
        schema = {"anyOf": [{"enum": choices}, dates]}
    elif choices:
        schema["enum"] = choices
    elif kind != "bool":
        # In Python, these separators are white space; in other languages they are not.
        visible = r"[^\s\x1c-\x1f\x85]"
        allowed = rf"[^{CONTROLS}]*"
        is_exact = parameter.get("verbatim")
        schema["pattern"] = visible if is_exact else rf"^{allowed}[^\s{CONTROLS}]{allowed}$"
    schema |= {} if flat else VALUE_SCHEMAS.get(parameter["name"], {})
    if kind == "list" or (kind == "csv" and not flat):
        least = parameter.get("min_items", None if flat else 1)
        bounds = {"minItems": least, "maxItems": parameter.get("max_items")}
        schema = {"type": "array", "items": schema, **drop_empty(bounds)}
    return {**schema, **drop_empty({"default": shown_default(parameter, flat)})}


def shown_default(parameter: Parameter, flat: bool) -> Any:
    """Return the default for a schema. flat: also use documented_default, unless it is false."""
    if not flat:
        return parameter.get("default")
    default = parameter.get("default", parameter.get("documented_default")) or None
    return ",".join(default) if isinstance(default, list) else default
