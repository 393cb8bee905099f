"""Parameters: those that every command takes, and the check of what is given against a table.

The three single files carry a copy of the block; see common.py.
"""

from __future__ import annotations

import re

from websearch.core.common import SearchError, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.core.common import Fields

# ===== shared block: parameters (edit websearch/core/parameters.py, then run `make sync`) =========

MIN_TIMEOUT = 0.1  # seconds
DEFAULT_TIMEOUT = 30.0  # seconds for a whole call, retries included
LEAST_MAX_CHARS = 1_000  # that command line and HTTP take: less holds no answer
DEFAULT_MAX_CHARS = 9_000  # agents cut output near 12,000 characters; this leaves room for theirs
FIRST_DAY = "1990-01-01"  # of a range without a beginning: before there were pages
MAX_INPUT_BYTES = 1_000_000  # of a file or standard input; a longer one was given by mistake

TRUE_WORDS, FALSE_WORDS = ("true", "1", "yes", "on"), ("false", "0", "no", "off")

# fmt: off
# Parameters that every command takes, in the form of a COMMANDS table.
MAX_CHARS: Fields = {
    "name": "max_chars", "type": "int", "min": 0, "max": 10_000_000,
    "help": "longest document in characters; 0: no limit (default: 9000, none with --output)",
}
COMMON_PARAMS: list[Fields] = [
    {"name": "timeout", "type": "float", "min": MIN_TIMEOUT, "max": 600,
     "help": "seconds for the whole call, retries included (default: 30, unless said)"},
    MAX_CHARS,
    {"name": "dry_run", "type": "bool", "help": "print the request without the key; send nothing"},
    {"name": "verbose", "type": "bool", "help": "log each API operation on stderr"},
]
# Options that only the command line has.
OUTPUT_PARAMS: list[Fields] = [
    {"name": "params_json", "type": "str", "metavar": "JSON",
     "help": "parameters as JSON, @FILE or - (stdin)"},
    {"name": "format", "type": "str", "choices": ["json", "markdown"],
     "values": {"md": "markdown"}, "help": "default: json"},
    {"name": "md", "type": "bool", "help": "short for --format markdown"},
    {"name": "output", "type": "str", "metavar": "FILE",
     "help": "write to this file and print a receipt"},
    {"name": "pretty", "type": "bool", "help": "indent the JSON"},
    {"name": "quiet", "type": "bool", "help": "show no progress on a terminal"},
    {"name": "jsonl", "type": "bool", "batch": True,
     "help": "one document a line, each at once; there may be any number of them"},
    {"name": "ordered", "type": "bool", "batch": True,
     "help": "jsonl in the order of the input, not as the answers come"},
    {"name": "skip_done", "type": "list", "batch": True, "metavar": "FILE",
     "help": "jsonl without what this file, the output of an earlier run, holds; may be repeated"},
]
# fmt: on


def check_params(command: str, spec: Fields, params: Fields) -> Fields:
    """Return checked parameters under their table names, defaults filled in; raises SearchError."""
    values = canonical_names(command, spec, params)
    checked: Fields = {}
    for parameter in [*spec["params"], *COMMON_PARAMS]:
        name = parameter["name"]
        if name in values:
            checked[name] = check_value(parameter, values[name])
        elif parameter.get("required"):
            hint = f"Give {name}: {parameter['help']}."
            raise SearchError("invalid_input", f"{name} is missing.", hint)
        elif "default" in parameter:
            checked[name] = parameter["default"]
    return checked


def canonical_names(command: str, spec: Fields, params: Fields) -> Fields:
    """Return the given parameters under their table names; aliases are matched.

    null counts as not given, and so do empty items of a list, and empty text and empty lists for
    optional parameters. Raises SearchError for an unknown name and for a parameter given twice with
    different values.
    """
    table = {}
    for parameter in [*spec["params"], *COMMON_PARAMS]:
        names = (parameter["name"], *parameter.get("aliases", ()))
        table.update(dict.fromkeys(names, parameter))
    values: Fields = {}
    for key, item in params.items():
        spelled = spelled_name(key)
        if spelled not in table:
            hint = spec.get("cannot", {}).get(spelled) or nearest(spelled, table, "parameter")
            raise SearchError("invalid_input", f"{command} has no parameter {quoted(key)}.", hint)
        name, required = table[spelled]["name"], table[spelled].get("required")
        is_list = isinstance(item, list) and table[spelled]["type"] in ("list", "csv")
        value = [part for part in item if part not in (None, "")] if is_list else item
        if value is None or (value in ("", []) and not required):
            continue
        first = values.setdefault(name, value)
        if first is not value and first != value:
            raise given_twice(name, first, value)
    return values


def spelled_name(name: Any) -> str:
    """Return a parameter's name as the tables spell it: --Max-Chars is max_chars."""
    return str(name).strip().lstrip("-").replace("-", "_").lower()


def given_twice(name: str, first: Any, second: Any) -> SearchError:
    """Return the error for a parameter that was given with two values."""
    message = f"{name} is given twice: {quoted(first)} and {quoted(second)}."
    return SearchError("invalid_input", message, "Give it once.")


def check_value(parameter: Fields, value: Any) -> Any:
    """Return the value in its parameter's type: str, int, float, bool, since, list, csv or any.

    Numbers and booleans may come as text; csv takes a list or text with commas, list takes a list
    or one text; any is not checked. Raises SearchError (invalid_input) that names what is allowed.
    """
    kind = parameter["type"]
    if kind == "any":
        return value
    if kind in ("list", "csv"):
        items = value if isinstance(value, list) else [value]
        if len(items) > 1:  # an empty one among others counts as not given
            items = [item for item in items if item is not None and str(item).strip()]
        if kind == "csv":
            items = [word for item in items for word in str(item).split(",") if word.strip()]
        if not items:
            raise wrong_value(parameter, value, "at least one value")
        return [check_text(parameter, item) for item in items]
    if kind == "bool":
        word = str(value).strip().lower()
        if word not in (*TRUE_WORDS, *FALSE_WORDS):
            raise wrong_value(parameter, value, "true or false")
        return word in TRUE_WORDS
    if kind in ("int", "float"):
        return check_number(parameter, value)
    return check_text(parameter, value)


def check_text(parameter: Fields, value: Any) -> str:
    """Return text that is not blank; if the table lists choices, one of them or a range of dates.

    Upper and lower case of a choice are mended; the table's "values" maps other spellings, its
    "names" what is no choice to the one that is meant. Only the type since takes a range.
    """
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        raise wrong_value(parameter, value, "text")
    text = str(value)
    if not text.strip():
        hint = f"Give {parameter['name']}: {parameter['help']}."
        raise SearchError("invalid_input", f"{parameter['name']} is blank.", hint)
    if re.search("[\ud800-\udfff]", text):
        raise wrong_value(parameter, value, "valid UTF-8 text")
    if not parameter.get("verbatim"):
        text = text.strip()
    choices = parameter.get("choices")
    if not choices:
        return text
    spellings = {choice.lower(): choice for choice in choices} | parameter.get("values", {})
    if text.lower() in spellings:
        return str(spellings[text.lower()])
    if parameter["type"] == "since":
        return check_dates(parameter, text)
    if meant := parameter.get("names", {}).get(text.lower()):
        message = f"{parameter['name']} must be a code, not {quoted(value)}."
        raise SearchError("invalid_input", message, f"Did you mean {meant}?")
    raise wrong_value(parameter, value, "one of " + ", ".join(choices))


def check_number(parameter: Fields, value: Any) -> int | float:
    """Return an int or float within the table's bounds."""
    low, high, whole = parameter["min"], parameter["max"], parameter["type"] == "int"
    try:
        number = float(value) if not isinstance(value, bool) else float("nan")
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not low <= number <= high or (whole and number != int(number)):
        allowed = f"a {'whole ' if whole else ''}number from {low} to {high}"
        raise wrong_value(parameter, value, allowed)
    return int(number) if whole else number


def check_dates(parameter: Fields, text: str) -> str:
    """Return a range of dates that exist as YYYY-MM-DD..YYYY-MM-DD.

    A date alone, a range without its end, and a time such as 7d or 2 weeks last until today.
    """
    from datetime import date, datetime, timedelta, timezone

    today = datetime.now(timezone.utc).date()
    span = re.fullmatch(r"(\d{1,4})\s?(d|w|m|y|days?|weeks?|months?|years?)", text.lower())
    if span:
        days = int(span[1]) * {"d": 1, "w": 7, "m": 30, "y": 365}[span[2][0]]
        words = {1: "day", 7: "week", 30: "month", 365: "year"}
        if words.get(days) in parameter["choices"]:
            return words[days]
        text = f"{today - timedelta(days)}.."
    day = r"(\d{4}-\d\d-\d\d)"
    dates = re.fullmatch(rf"{day}?(?:\.\.|to){day}|{day}(?:\.\.)?", text)
    if not dates:
        allowed = f"{', '.join(parameter['choices'])}, 7d, 2w, YYYY-MM-DD or YYYY-MM-DD..YYYY-MM-DD"
        raise wrong_value(parameter, text, allowed)
    try:
        start = date.fromisoformat(dates[1] or dates[3] or FIRST_DAY)
        end = date.fromisoformat(dates[2]) if dates[2] else today
    except ValueError:
        raise wrong_value(parameter, text, "a range of dates that exist") from None
    if start > today:
        raise wrong_value(parameter, text, f"a range that begins by today, {today}")
    if start > end:
        raise wrong_value(parameter, text, "a range whose earlier date comes first")
    return f"{start}..{end}"


def wrong_value(parameter: Fields, value: Any, allowed: str) -> SearchError:
    """Return the error for a value that is not allowed, with the table's note as hint."""
    hint = parameter.get("note") or nearest(str(value), parameter.get("choices", ()), "value")
    message = f"{parameter['name']} must be {allowed}, not {quoted(value)}."
    return SearchError("invalid_input", message, hint)


def nearest(name: str, known: Any, what: str) -> str:
    """Return a hint that names the known word nearest to a mistyped one, or ""."""
    import difflib

    words = {word.lower(): word for word in known}
    matches = difflib.get_close_matches(name.lower()[:100], words, 1)
    return f"The nearest {what} is {words[matches[0]]}." if matches else ""


# ===== end of shared block: parameters ============================================================
