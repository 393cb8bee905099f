"""The tools of the MCP server: their table, schemas, calls, and results as text for a model.

This module knows no protocol: call_tool(name, arguments) returns the document of the command that
does the work, and its text for the model.
"""

from __future__ import annotations

import functools
import json
import re

from websearch.common import (
    DEFAULT_MAX_CHARS,
    SearchError,
    check_text,
    dump_json,
    error_document,
    error_markdown,
    fit_document,
    given_twice,
    internal_error,
    nearest,
    object_field,
    quoted,
    shorten,
    spelled_name,
)
from websearch.engines import ENGINES
from websearch.http_client import warn_once

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from websearch.common import Document, ProgressCallback

# What a hint about a missing key adds for the user of an MCP client.
CONFIGURATION_HINT = (
    "Many clients pass this server no environment: name the variable in its configuration."
)
MAX_TEXT = 8_990  # characters of a result; agents cut longer ones, Codex near 12,000

# ===== the tools ==================================================================================

# Clients run calls at the same time, and without asking, only where the first hint is true.
READS_THE_WEB = {"readOnlyHint": True, "openWorldHint": True}
# Codex with approvals off refuses a tool that writes unless both of the last two are false.
CLEARS_OWN_STORE = {
    "readOnlyHint": False,
    "idempotentHint": True,
    "destructiveHint": False,
    "openWorldHint": False,
}

# module and command: their COMMANDS describe the arguments. run: the module's function.
# arguments: those that a model needs; a pair (shown name, table's name) if the names differ.
# help: words for an argument that fit a model better than the table's. more_choices: further values
# of an argument -> the module's function for each. instead: an argument that may replace the first
# one -> the command that takes it. free_with: arguments with which a call of a paid engine costs
# nothing.
# fmt: off
TOOLS: dict[str, dict[str, Any]] = {
    "web_search": {
        "module": "websearch.search.commands", "command": "search", "run": "run_search",
        "doing": "searching", "annotations": READS_THE_WEB,
        "description": "Search the web and read the pages found. Start here; to research, give "
        "queries: one brief with numbered sources. Cached; needs no key.",
        "arguments": [
            "query", "queries", "count", "force", "engine", "focus", "since", "country", "language",
            "site", "exclude_site", "stale",
        ],
        "instead": {
            "queries": {
                "module": "websearch.search.commands", "command": "brief", "run": "run_brief",
            },
        },
        "help": {
            "queries": "instead of query: questions, answered together",
            "count": "results; with queries: sources (default 8)",
            "focus": "also ask Stack Overflow and GitHub, paper indexes, forums, Wikipedia",
            "force": "search anew instead of using the cache",
            "stale": "if no engine answers, use the cache of any age",
            "engine": "{choices}; several with commas are asked at once, as all are; auto: the "
            "first configured one that answers",
        },
    },
    "read_page": {
        "module": "websearch.pages.read", "command": "read", "run": "run_read",
        "doing": "reading", "annotations": READS_THE_WEB,
        "description": "Read web pages whose URLs are known, as Markdown. Give query for the "
        "passages of long pages that answer it; offset goes on.",
        "arguments": ["urls", "query", "offset", "links"],
        "help": {"urls": "http or https addresses, up to 50",
                 "query": "return the passages that answer this",
                 "offset": "characters to skip; a cut page names the next offset"},
    },
    "grounded_search": {
        "module": "gemini_search", "command": "search", "run": "run_search",
        "doing": "asking Gemini", "annotations": READS_THE_WEB,
        "description": "Answer a question from a Google search, written by Gemini, with sources "
        "and the queries used. For current facts and summaries. Needs GEMINI_API_KEY.",
        "arguments": [
            "query", "model", ("thinking_level", "thinking"), "focus", "since", "require_grounding",
        ],
        "help": {
            "thinking_level": "none: the model decides",
            "require_grounding": "fail without sources",
            "focus": "dev, docs, reddit: answer from developer sites, official documentation, "
            "Reddit",
        },
        "more_choices": {"focus": {"dev": "run_dev", "docs": "run_docs", "reddit": "run_reddit"}},
    },
    "google_search": {
        "module": "serper_search", "command": "search", "run": "run_search",
        "doing": "searching Google", "annotations": READS_THE_WEB,
        "description": "Google's result list: titles, URLs, snippets, answer box. When Google's "
        "ranking or filters matter. Needs SERPER_API_KEY.",
        "arguments": [
            "query", "count", "page", "since", "country", "language", "site", "exclude_site",
        ],
        "help": {
            "count": "each further 10 cost one more request",
            "page": "page to begin with, of at most 10 results",
        },
    },
    "brave_web_search": {
        "module": "brave_search", "command": "web", "run": "run_web_search",
        "doing": "searching Brave", "annotations": READS_THE_WEB,
        "description": "Brave's result list, with FAQ, discussions, news and videos. Needs "
        "BRAVE_SEARCH_API_KEY.",
        "arguments": [
            "query", "count", "offset", "since", "country", "language", "site", "exclude_site",
            "extra_snippets", "summary",
        ],
        "help": {"offset": "pages to skip (not results)",
                 "summary": "ask for a key for brave_summarizer (Pro AI plan)"},
    },
    "brave_summarizer": {
        "module": "brave_search", "command": "summarizer", "run": "run_summarizer",
        "doing": "waiting for the summary", "annotations": READS_THE_WEB,
        "description": "Brave's summary of a search. Give either query or key. Only with the "
        "discontinued Pro AI plan; else use brave_context.",
        "arguments": ["query", "key", "entity_info", "inline_references"],
        "help": {"key": "summarizer key of brave_web_search with summary, unchanged",
                 "query": "instead of a key: what to search for and summarize"},
        "free_with": ("key",),
    },
    "brave_context": {
        "module": "brave_search", "command": "context", "run": "run_context",
        "doing": "collecting passages", "annotations": READS_THE_WEB,
        "description": "Passages of many pages that answer a question, chosen by Brave. Needs "
        "BRAVE_SEARCH_API_KEY.",
        "arguments": ["query", "count", "since", "country", "site", "exclude_site", "threshold"],
        "help": {"count": "pages to draw from"},
    },
    "clear_cache": {
        "module": "websearch.search.commands", "command": "cache", "run": "run_cache",
        "doing": "clearing", "annotations": CLEARS_OWN_STORE,
        "description": "Forget what web_search stored: of one query, or everything.",
        "arguments": ["query"],
        "help": {"query": "as it was searched; without it, everything is cleared"},
        "fixed": {"action": "clear"},
    },
}
# fmt: on
# Every client pays for every byte of the list in each conversation. So the arguments that all
# searches have get few words, and a long list of choices is left to the error that names them.
BRIEF_HELP = {
    "query": "",
    "since": "{choices} or YYYY-MM-DD..YYYY-MM-DD",
    "country": "two-letter code",
    "language": "such as en or pt-br",
    "site": "only these, comma-separated",
    "exclude_site": "",
    "count": "",
}
LONG_LIST = 16  # choices
# Fields of a no_results document without anything of its own: it reads the same from every tool.
NOTHING_BUT_ERROR = {"ok", "error", "details", "provider", "query"}
# What a table calls the bounds of a value -> what JSON Schema calls them.
BOUNDS = {"min": "minimum", "max": "maximum", "min_items": "minItems", "max_items": "maxItems"}


def tool_parameters(name: str) -> dict[str, dict[str, Any]]:
    """Return a tool's arguments: shown name -> entry of the command's table, as the tool has it.

    Raises ImportError if the module is missing.
    """
    tool = TOOLS[name]
    others = tool.get("instead", {})
    table: dict[str, dict[str, Any]] = {}
    for entry in (*others.values(), tool):  # the tool's own command comes last, so that it wins
        command = load_module(entry["module"]).COMMANDS[entry["command"]]
        table |= {parameter["name"]: parameter for parameter in command["params"]}
    shown = {}
    for argument in tool["arguments"]:
        label, original = argument if isinstance(argument, tuple) else (argument, argument)
        parameter = dict(table[original])
        if others:
            parameter.pop("required", None)
        text = tool["help"].get(label, BRIEF_HELP.get(label, str(parameter["help"])))
        choices = ", ".join(parameter.get("choices", ()))
        parameter["help"] = text.replace("{choices}", choices)
        more = tool.get("more_choices", {}).get(label, {})
        if more:
            parameter["choices"] = [*parameter["choices"], *more]
        shown[label] = parameter
    return shown


def unknown_tool_hint(name: str) -> str:
    """Return what to call instead of a tool that does not exist."""
    return nearest(name, TOOLS, "tool") or f"The tools are {', '.join(TOOLS)}."


def load_module(name: str) -> ModuleType:
    """Return a module, imported when it is first needed; raises ImportError."""
    import importlib

    return importlib.import_module(name)


def property_schema(parameter: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one argument: flat, with its choices, bounds and default."""
    kinds = {"int": "integer", "float": "number", "bool": "boolean", "list": "array"}
    schema: dict[str, Any] = {"type": kinds.get(parameter["type"], "string")}
    if parameter["type"] == "list":
        schema["items"] = {"type": "string"}
    # A period may be a range of dates as well, and a text with commas several choices, which an
    # enum would forbid.
    listed = parameter.get("choices", ()) if parameter["type"] not in ("since", "csv") else ()
    if 0 < len(listed) <= LONG_LIST:
        schema["enum"] = list(listed)
    text = re.sub(r" \(default: [^()]*\)", "", parameter["help"])
    for bound, keyword in BOUNDS.items():
        if bound in parameter:
            schema[keyword] = parameter[bound]
    if default := parameter.get("default"):
        schema["default"] = ",".join(default) if isinstance(default, list) else default
    return {**schema, "description": text} if text else schema


def tool_definition(name: str) -> dict[str, Any] | None:
    """Return a tool as tools/list shows it; None, with a warning, if its module does not work."""
    try:
        parameters = tool_parameters(name)
    except Exception as error:  # noqa: BLE001  a broken module costs its own tools only
        warn_once(f"the tool {name} is not offered: {type(error).__name__}: {error}")
        return None
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {label: property_schema(item) for label, item in parameters.items()},
        "additionalProperties": False,
    }
    if required := [label for label, item in parameters.items() if item.get("required")]:
        schema["required"] = required
    return {
        "name": name,
        "description": TOOLS[name]["description"],
        "inputSchema": schema,
        "annotations": TOOLS[name]["annotations"],
    }


@functools.cache
def tool_definitions() -> list[dict[str, Any]]:
    """Return all tools, made once; a tool whose module does not work is left out."""
    return [definition for name in TOOLS if (definition := tool_definition(name))]


# ===== calling a tool =============================================================================


def call_tool(name: str, arguments: Any, report: ProgressCallback = None) -> tuple[Document, str]:
    """Run a tool of TOOLS with a client's arguments; return its document, and its text for a model.

    Never raises: a defect becomes an error document.
    """
    document = run_tool(name, arguments, report)
    try:
        return document, tool_text(name, document)
    except Exception as error:  # noqa: BLE001  a defect of ours: the client still gets an answer
        document = internal_error(error, verbose=False)
        return document, tool_text(name, document)


def run_tool(name: str, arguments: Any, report: ProgressCallback = None) -> Document:
    """Run a tool's command and return its document; never raises."""
    try:
        params = tool_params(name, arguments)
        tool = chosen_command(name, params)
        function = tool["run"]
        for label, choices in tool.get("more_choices", {}).items():
            if params.get(label) in choices:
                function = choices[params.pop(label)]
        run = getattr(load_module(tool["module"]), function)
        given = {**tool.get("fixed", {}), **params}
        document = run_metered(tool, given, lambda: run(given, report))
    except SearchError as error:
        document = error_document(error)
    except Exception as error:  # noqa: BLE001  a defect of ours: the client still gets an answer
        document = internal_error(error, verbose=False)
    return document


def chosen_command(name: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return a tool with the command that its arguments ask for; raises SearchError.

    Of the first argument and one that stands in its place, exactly one must be given. A blank first
    argument is left to its own command, which says so.
    """
    tool = TOOLS[name]
    for label, other in tool.get("instead", {}).items():
        first = tool["arguments"][0]
        given = [one for one in (first, label) if params.get(one) not in (None, "", [])]
        if len(given) != 1 and not (first in params and label not in params):
            state = "both are" if given else "neither is"
            message = f"{name} takes either {first} or {label}; {state} given."
            hint = f"Give {first} for one question, {label} for several."
            raise SearchError("invalid_input", message, hint)
        if given == [label]:
            return {**tool, **other}
    return tool


def run_metered(
    tool: dict[str, Any], params: dict[str, Any], run: Callable[[], Document]
) -> Document:
    """Return what run() returns; a request to a paid engine is counted and keeps its budget.

    The commands of web_search count their requests themselves. Raises SearchError.
    """
    from websearch.ledger import begin_request, budget_warnings, end_request
    from websearch.store import PageStore

    paid = [
        name for name, one in ENGINES.items() if one["paid"] and one["module"] == tool["module"]
    ]
    if not paid or any(params.get(name) for name in tool.get("free_with", ())):
        return run()
    store = PageStore()
    try:
        month = begin_request(paid[0], store)
        document = run()
        billed = end_request(paid[0], month, document, store)
        warnings = [*budget_warnings(billed, store), *store.warnings]
    finally:
        store.close()
    if warnings:
        document["warnings"] = [*document.get("warnings", []), *warnings]
    return document


def tool_params(name: str, arguments: Any) -> dict[str, Any]:
    """Return a client's arguments under the names of the command's table.

    A list may come as JSON text, and null means not given, because models write so. Raises
    SearchError (invalid_input) for an unknown argument.
    """
    if not isinstance(arguments, dict):
        message = f"The arguments of {name} must be an object, not {quoted(arguments)}."
        example = dump_json({TOOLS[name]["arguments"][0]: "..."})
        raise SearchError("invalid_input", message, f"For example {example}.")
    parameters = tool_parameters(name)
    known = {label: label for label in parameters}
    for label, parameter in parameters.items():
        for other in (parameter["name"], *parameter.get("aliases", ())):
            known.setdefault(other, label)
    given: dict[str, Any] = {}
    for key, value in arguments.items():
        spelled = spelled_name(key)
        if spelled not in known:
            raise unknown_argument(name, key, spelled, list(parameters))
        parameter = parameters[known[spelled]]
        if value is None:
            continue
        first = given.setdefault(parameter["name"], value)
        if first is not value and first != value:
            raise given_twice(known[spelled], first, value)
        if parameter["type"] == "list":
            given[parameter["name"]] = read_list(value)
        elif known[spelled] in TOOLS[name].get("more_choices", {}) and value != "":
            given[parameter["name"]] = check_text(parameter, value)
    return given


def unknown_argument(name: str, key: str, spelled: str, labels: list[str]) -> SearchError:
    """Return the error for an argument that a tool does not have; spelled as in the table."""
    tool = TOOLS[name]
    command = load_module(tool["module"]).COMMANDS[tool["command"]]
    reason = command.get("cannot", {}).get(spelled, "")
    hint = reason or nearest(spelled, labels, "argument")
    hint = f"{hint} The arguments are {', '.join(labels)}.".strip()
    return SearchError("invalid_input", f"{name} has no argument {quoted(key)}.", hint)


def read_list(value: Any) -> Any:
    """Return a list that came as JSON text as a list, anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


# ----- the document as text for a model


def tool_text(name: str, document: Document) -> str:
    """Return a tool's document in its command's Markdown, of at most MAX_TEXT characters.

    Raises whatever the command's to_markdown raises for a document of another form.
    """
    to_markdown: Callable[[Document], str] = error_markdown
    details = object_field(document, "details")
    is_bare = details.get("kind") == "no_results" and document.keys() <= NOTHING_BUT_ERROR
    if details.get("kind") != "internal" and not is_bare:  # after an internal error it may not work
        tool = TOOLS[name]
        for label, other in tool.get("instead", {}).items():
            tool = other if label in document else tool
        to_markdown = load_module(tool["module"]).to_markdown
    lacks_key = details.get("kind") == "auth" and "not set" in str(document.get("error"))
    if lacks_key and CONFIGURATION_HINT not in details["hint"]:
        details["hint"] = f"{details['hint']} {CONFIGURATION_HINT}"
    text = ""
    for limit in (DEFAULT_MAX_CHARS, 7_500, 6_000, 4_500, 3_000):
        fit_document(document, limit)
        text = to_markdown(document)
        if len(text) <= MAX_TEXT:
            return text
    return shorten(text, MAX_TEXT)


def is_failure(document: Document) -> bool:
    """Return whether a document is an error; no_results is an answer."""
    return not document["ok"] and document["details"]["kind"] != "no_results"
