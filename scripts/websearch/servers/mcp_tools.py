"""The tools of the MCP server: their table, schemas, calls, and results as text for a model.

A module of mcp_server.py without any protocol in it: run_tool(name, arguments) returns the
document of the script that does the work, tool_text(name, document) the text for the model.
"""

from __future__ import annotations

import functools
import json
import re

from websearch import common

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from websearch.common import Document, ProgressCallback

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

# script and command: whose COMMANDS describe the arguments. run: the script's function.
# arguments: what a model needs of them; a pair (shown name, table's name) where they differ.
# help: words for an argument where the table speaks of the command line. more_choices: values of
# an argument for which the script has a function of its own.
# fmt: off
TOOLS: dict[str, dict[str, Any]] = {
    "web_search": {
        "module": "websearch.search", "command": "search", "run": "run_search",
        "doing": "searching", "annotations": READS_THE_WEB,
        "description": "Search the web and read the pages found: ranked results with page text, "
        "cached. Start here. Needs no key.",
        "arguments": [
            "query", "count", "force", "engine", "since", "country", "language", "site",
            "exclude_site",
        ],
        "help": {
            "force": "search anew instead of using the cache",
            "engine": "engine to ask; auto: the first configured one that answers",
        },
    },
    "read_page": {
        "module": "websearch.pages.read", "command": "read", "run": "run_read",
        "doing": "reading", "annotations": READS_THE_WEB,
        "description": "Read web pages whose URLs are known, as Markdown. Give query for the "
        "passages of long pages that answer it; offset goes on.",
        "arguments": ["urls", "query", "offset", "links"],
        "help": {"offset": "characters of the text to skip; a cut page names the next offset"},
    },
    "grounded_search": {
        "module": "gemini_search", "command": "search", "run": "run_search",
        "doing": "asking Gemini", "annotations": READS_THE_WEB,
        "description": "Answer a question from a Google search, written by Gemini, with sources "
        "and the queries used. For current facts and summaries. Needs GEMINI_API_KEY.",
        "arguments": ["query", "model", ("thinking_level", "thinking"), "focus", "since"],
        "help": {
            "focus": "what to concentrate on; dev, docs, reddit: answer from developer sites, "
            "official documentation, Reddit",
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
            "page": "page to begin with; a page holds count results, at most 10",
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
        "description": "Brave's summary of a search. Give either query or the summarizer key of "
        "brave_web_search. Only with the discontinued Pro AI plan; else use brave_context.",
        "arguments": ["query", "key", "entity_info", "inline_references"],
        "help": {"key": "summarizer key of brave_web_search with summary, unchanged",
                 "query": "instead of a key: what to search for and summarize"},
    },
    "brave_context": {
        "module": "brave_search", "command": "context", "run": "run_context",
        "doing": "collecting passages", "annotations": READS_THE_WEB,
        "description": "Passages of many pages to answer a question from, chosen by Brave. For "
        "facts without reading pages one by one. Needs BRAVE_SEARCH_API_KEY.",
        "arguments": ["query", "count", "since", "country", "site", "exclude_site", "threshold"],
        "help": {"count": "pages to draw from"},
    },
    "clear_cache": {
        "module": "websearch.search", "command": "cache", "run": "run_cache",
        "doing": "clearing", "annotations": CLEARS_OWN_STORE,
        "description": "Forget what web_search stored: of one query, or everything.",
        "arguments": ["query"],
        "help": {"query": "the query as it was searched; without it, everything is cleared"},
        "fixed": {"action": "clear"},
    },
}
# fmt: on
# Every client pays for every byte of the list with each conversation, so that what all the
# searches have is said briefly; a long list of choices is left to the error that names them.
BRIEF_HELP = {
    "since": "{choices} or YYYY-MM-DD..YYYY-MM-DD",
    "country": "two-letter code",
    "language": "such as en or pt-br",
    "site": "only these, comma-separated",
    "exclude_site": "",
    "count": "",
}
LONG_LIST = 12  # choices


def tool_parameters(name: str) -> dict[str, dict[str, Any]]:
    """Return a tool's arguments: shown name -> entry of the script's COMMANDS, as the tool has it.

    Raises ImportError if the script is missing.
    """
    tool = TOOLS[name]
    command = load_script(tool["module"]).COMMANDS[tool["command"]]
    table = {parameter["name"]: parameter for parameter in command["params"]}
    shown = {}
    for argument in tool["arguments"]:
        label, original = argument if isinstance(argument, tuple) else (argument, argument)
        parameter = dict(table[original])
        brief = BRIEF_HELP.get(label, str(parameter["help"]))
        brief = brief.replace("{choices}", ", ".join(parameter.get("choices", ())))
        parameter["help"] = tool["help"].get(label, brief)
        more = tool.get("more_choices", {}).get(label, {})
        if more:
            parameter["choices"] = [*parameter["choices"], *more]
        shown[label] = parameter
    return shown


def load_script(name: str) -> ModuleType:
    """Import a script beside this one, when it is first needed; raises ImportError."""
    import importlib

    return importlib.import_module(name)


def property_schema(parameter: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of one argument: flat, with its choices, bounds and default."""
    kinds = {"int": "integer", "float": "number", "bool": "boolean", "list": "array"}
    schema: dict[str, Any] = {"type": kinds.get(parameter["type"], "string")}
    if parameter["type"] == "list":
        schema["items"] = {"type": "string"}
    # A period may be a range of dates as well, which an enum would forbid.
    listed = parameter.get("choices", ()) if parameter["type"] != "since" else ()
    if 0 < len(listed) <= LONG_LIST:
        schema["enum"] = list(listed)
    text = re.sub(r" \(default: [^()]*\)", "", parameter["help"])
    for bound, keyword in (("min", "minimum"), ("max", "maximum")):
        if bound in parameter:
            schema[keyword] = parameter[bound]
    if parameter.get("default"):
        schema["default"] = parameter["default"]
    return {**schema, "description": text} if text else schema


def tool_definition(name: str) -> dict[str, Any] | None:
    """Return a tool as tools/list shows it; None, with a warning, if its script does not work."""
    try:
        parameters = tool_parameters(name)
    except Exception as error:  # noqa: BLE001  a broken script costs its own tools only
        common.warn_once(f"the tool {name} is not offered: {type(error).__name__}: {error}")
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
    """Return all tools, made once; one whose script does not work is left out."""
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
        document = common.internal_error(error, verbose=False)
        return document, tool_text(name, document)


def run_tool(name: str, arguments: Any, report: ProgressCallback = None) -> Document:
    """Run a tool's script and return its document; never raises."""
    try:
        tool = TOOLS[name]
        script = load_script(tool["module"])
        params = tool_params(name, arguments)
        function = tool["run"]
        for label, choices in tool.get("more_choices", {}).items():
            if params.get(label) in choices:
                function = choices[params.pop(label)]
        document: Document = getattr(script, function)({**tool.get("fixed", {}), **params}, report)
    except common.SearchError as error:
        document = common.error_document(error)
    except Exception as error:  # noqa: BLE001  a defect of ours: the client still gets an answer
        document = common.internal_error(error, verbose=False)
    return document


def tool_params(name: str, arguments: Any) -> dict[str, Any]:
    """Return a client's arguments under the names of the script's table.

    Not given are null, and what models write for it: an optional argument that is "" or []. A list
    may come as JSON text. Raises SearchError (invalid_input) for an unknown argument.
    """
    if not isinstance(arguments, dict):
        message = (
            f"The arguments of {name} must be an object, not {common.shorten(repr(arguments), 80)}."
        )
        example = common.dump_json({TOOLS[name]["arguments"][0]: "..."})
        raise common.SearchError("invalid_input", message, f"For example {example}.")
    parameters = tool_parameters(name)
    known: dict[str, str] = {}
    for label, parameter in parameters.items():
        known |= dict.fromkeys([label, parameter["name"], *parameter.get("aliases", ())], label)
    given: dict[str, Any] = {}
    for key, value in arguments.items():
        spelled = key.strip().lstrip("-").replace("-", "_").lower()
        if spelled not in known:
            raise unknown_argument(name, key, spelled, list(parameters))
        parameter = parameters[known[spelled]]
        if value is None or (value in ("", []) and not parameter.get("required")):
            continue
        if given.setdefault(parameter["name"], value) is not value:
            message = f"{known[spelled]} is given twice, once as {key!r}."
            raise common.SearchError("invalid_input", message, "Give it once.")
        if parameter["type"] == "list":
            given[parameter["name"]] = read_list(value)
        elif known[spelled] in TOOLS[name].get("more_choices", {}):
            given[parameter["name"]] = common.check_text(parameter, value)
    return given


def unknown_argument(name: str, key: str, spelled: str, labels: list[str]) -> common.SearchError:
    """Return the error for an argument that a tool does not have; spelled as in the table."""
    tool = TOOLS[name]
    command = load_script(tool["module"]).COMMANDS[tool["command"]]
    reason = tool_words(command.get("cannot", {}).get(spelled, ""), labels)
    hint = reason or common.nearest(spelled, labels, "argument")
    hint = f"{hint} The arguments are {', '.join(labels)}.".strip()
    message = f"{name} has no argument {common.shorten(repr(key), 80)}."
    return common.SearchError("invalid_input", message, hint)


def read_list(value: Any) -> Any:
    """Return a list that came as JSON text as a list, anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


# ----- the document as text for a model

CUT_NOTE = "Shortened to fit. Ask for fewer results, or narrow the query, to see more of each."
# What to do next where the script's own hint speaks of the command line only.
USUAL_HINTS = {
    "timeout": "Try again, or ask for less.",
    "invalid_input": "The tool's schema says what is allowed.",
    "rate_limit": "Wait, then try again, or use another tool.",
}
DEFECT_HINT = "This is a defect of the tool: report it, and use another one."
CONFIGURATION_HINT = "A client may hand this server no environment: name it in its configuration."


def tool_text(name: str, document: Document) -> str:
    """Return a tool's document in its script's Markdown, of at most MAX_TEXT characters.

    Hints speak of arguments instead of flags. Raises what a document of another form makes fail.
    """
    to_markdown: Callable[[Document], str] = common.error_markdown
    labels: list[str] = []
    if document["ok"] or document["details"]["kind"] != "internal":  # then the script works
        to_markdown = load_script(TOOLS[name]["module"]).to_markdown
        parameters = tool_parameters(name)
        labels = [*parameters, *(item["name"] for item in parameters.values())]
    text = ""
    for limit in (common.DEFAULT_MAX_CHARS, 7_500, 6_000, 4_500, 3_000):
        common.fit_document(document, limit, ())
        say_hints(document, labels)
        text = to_markdown(document)
        if (
            common.object_field(document, "details").get("kind") == "no_results"
        ):  # an answer, no error
            heading = r"\*\*Error \(no_results\):\*\*|^## Search Error$"
            text = re.sub(heading, "**Nothing found:**", text, count=1, flags=re.MULTILINE)
        text = re.sub(r"(?m)--offset (\d+)$", r"offset \1", text)
        if len(text) <= MAX_TEXT:
            return text
    return common.shorten(text, MAX_TEXT - len(CUT_NOTE) - 2) + f"\n\n{CUT_NOTE}"


def say_hints(value: Any, labels: list[str]) -> None:
    """Put every hint of a document, in place, into a tool's words."""
    for item in value if isinstance(value, list) else list(value.values()):
        if isinstance(item, (dict, list)):
            say_hints(item, labels)
    if not isinstance(value, dict):
        return
    if isinstance(value.get("truncated"), dict):
        value["truncated"]["hint"] = CUT_NOTE
    details = value.get("details")
    if isinstance(details, dict) and "kind" in details and value.get("ok") is False:
        details["hint"] = error_hint(details, str(value.get("error")), labels)


def error_hint(details: dict[str, Any], error: str, labels: list[str]) -> str:
    """Return what to do next after an error, in a tool's words."""
    hint = tool_words(str(details.get("hint") or ""), labels)
    if details["kind"] == "internal":
        return DEFECT_HINT
    if details["kind"] == "auth" and "not set" in error:
        hint = f"{hint} {CONFIGURATION_HINT}" if CONFIGURATION_HINT not in hint else hint
    seconds = details.get("retry_after")
    if isinstance(seconds, (int, float)) and seconds > 0 and "Try again in" not in hint:
        hint = f"{hint} Try again in {seconds:.0f} s."
    return hint.strip() or USUAL_HINTS.get(details["kind"], "Try again, or use another tool.")


def tool_words(hint: str, labels: list[str]) -> str:
    """Return a hint without its flags' dashes; sentences about what the tool lacks are left out."""
    kept = []
    for sentence in re.split(r"(?<=[.;]) ", hint):
        flags = re.findall(r"(?<!\S)--([a-z][a-z-]*)", sentence)
        if not re.search(r"\w\.py\b", sentence) and all(
            flag.replace("-", "_") in labels for flag in flags
        ):
            kept.append(sentence)
    text = re.sub(r";$", ".", " ".join(kept))
    return re.sub(r"(?<!\S)--([a-z][a-z-]*)", lambda flag: flag[1].replace("-", "_"), text)


def is_failure(document: Document) -> bool:
    """Return whether a document is an error; that nothing was found is an answer."""
    return not document["ok"] and document["details"]["kind"] != "no_results"
