"""Define the MCP server's tools: their table, schemas, calls, and results as text for a model.

This module is independent of the protocol: call_tool(name, arguments) runs a command and returns
its document, and the text for the model.
"""

from __future__ import annotations

import functools
import os
import re
import time
from typing import NamedTuple

from websearch.base.http_client import warn_once
from websearch.base.site_rules import OWNER_HINT, left_out_warning, without_refused
from websearch.engines.base.days import utc_day
from websearch.engines.table import ENGINES, open_focuses
from websearch.kit import (
    DEFAULT_MAX_CHARS,
    NO_SYNONYMS,
    NOT_GIVEN,
    SYNONYMS,
    TRUE_WORDS,
    SearchError,
    check_value,
    configured_key,
    dump_json,
    error_document,
    error_markdown,
    fit_document,
    internal_error,
    json_fields,
    nearest,
    object_field,
    one_line,
    parameter_names,
    quoted,
    read_params,
    shorten,
    spell_hints,
    spelled_name,
)
from websearch.ways_in.served import ServedCommand, parameter_schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import ModuleType
    from typing import Any

    from websearch.kit import Document, Parameter, ProgressCallback

# Added to the hint about a missing key.
CONFIGURATION_HINT = (
    "Many clients do not pass on their environment: set the variable for this server in the "
    "client's configuration."
)
TOOLS_VARIABLE = "WEB_SEARCH_TOOLS"  # tools that are always listed: comma-separated names, or all
# Characters per result (default: as for commands). Agents cut longer results; Codex cuts at about
# 12,000.
MAX_CHARS: Parameter = {
    "name": "max_chars", "type": "int", "min": 1_000, "max": 100_000, "help": "",
}  # fmt: skip

LEAST_LIKENESS = 0.8  # minimum similarity of an argument's name and a mistyped name, from 0 to 1

# ===== the tools ==================================================================================

# Clients run calls in parallel and without confirmation only if the first hint is true.
READS_THE_WEB = {"readOnlyHint": True, "openWorldHint": True}
READS_THE_STORE = {"readOnlyHint": True, "openWorldHint": False}
# If approvals are off, Codex refuses a tool that writes unless the last two hints are false.
CLEARS_OWN_STORE = {
    "readOnlyHint": False,
    "idempotentHint": True,
    "destructiveHint": False,
    "openWorldHint": False,
}


class Tool(NamedTuple):
    """A tool of the server.

    keys: variables; the tool is listed if one of them is set; (): it is listed only on request;
    None: it needs no key. doing: its progress text. arguments: those that a model needs, as (shown
    name, table's name) if the names differ. help: argument -> text that replaces the table's.
    more_choices: argument -> additional values, each with its own command. instead: argument that
    may replace the first argument -> its command. free_with: arguments that make a call to a paid
    engine free.
    """

    title: str
    command: ServedCommand
    description: str
    doing: str
    annotations: dict[str, bool]
    arguments: list[str | tuple[str, str]]
    keys: tuple[str, ...] | None = None
    help: Mapping[str, str] = {}
    more_choices: Mapping[str, tuple[str, ...]] = {}
    instead: Mapping[str, ServedCommand] = {}
    free_with: tuple[str, ...] = ()


# fmt: off
TOOLS: dict[str, Tool] = {
    "web_search": Tool(
        title="Search the web",
        command=ServedCommand("websearch.search.commands", "search", noted=True),
        doing="searching", annotations=READS_THE_WEB,
        # No anyOf: model providers refuse a whole tool list for one at the top of a schema.
        description="For a question: search the web, read the pages found (a URL: "
        "read_page). Pass query or, to research, queries: one brief, numbered sources.",
        arguments=[
            "query", "queries", "count", "force", "engine", "focus", "since", "country", "language",
            "site", "exclude_site", "stale", "max_chars",
        ],
        instead={
            "queries": ServedCommand("websearch.search.commands", "brief", noted=True),
        },
        help={
            "queries": "instead of query: answered together",
            "count": "results; of queries: sources (8)",
            "focus": "add Stack Overflow, GitHub, papers, forums, Wikipedia",
            "force": "ignore stored answers",
            "stale": "if no engine answers, any stored answer",
            "engine": "{choices}; several, comma-separated, are merged",
        },
    ),
    "read_page": Tool(
        title="Read web pages",
        command=ServedCommand("websearch.reading.read", "read", noted=True),
        doing="reading", annotations=READS_THE_WEB,
        description="For known URLs: the pages as Markdown. Pass query for the passages "
        "that answer it.",
        arguments=[
            "urls", "query", "outline", "section", "find", "llms", "offset", "force", "links",
            "pages", "archived", "max_chars",
        ],
        help={"urls": "up to 50",
                 "query": "",
                 "outline": "headings with their offsets, no text",
                 "section": "heading of a section",
                 "find": "exact texts, such as an error code",
                 "llms": "the site's llms.txt",
                 "offset": "characters to skip; a cut page names the next",
                 "force": "ignore stored pages",
                 "pages": "of a PDF: 3-7 or 1,4",
                 "links": "keep link targets",
                 "archived": "a copy, if a page is gone or refuses"},
    ),
    "recall": Tool(
        title="Search pages read before",
        command=ServedCommand("websearch.search.commands", "recall"),
        doing="searching the store", annotations=READS_THE_STORE,
        description="Offline: search the pages read before.",
        arguments=["query", "count", "site", "max_chars"],
        help={"query": "words to look for"},
    ),
    "check_quotes": Tool(
        title="Check quotations",
        command=ServedCommand("websearch.check.check", "check"),
        doing="reading the sources", annotations=READS_THE_WEB,
        description="Before you answer: check your quotations and numbers against their sources.",
        arguments=["text"],
        help={"text": "the answer in Markdown, with a link after each quotation"},
    ),
    "grounded_search": Tool(
        title="Ask Google through Gemini",
        command=ServedCommand("gemini_search", "search"),
        keys=(
            "GEMINI_API_KEY", "GOOGLE_API_KEY", "VERTEX_API_KEY", "GOOGLE_CLOUD_PROJECT",
            "CODE_ASSIST_ACCESS_TOKEN",
        ),
        doing="asking Gemini", annotations=READS_THE_WEB,
        description="For a written answer: Gemini with Google search and sources.",
        arguments=[
            "query", "model", ("thinking_level", "thinking"), "focus", "since", "require_grounding",
            "max_chars",
        ],
        help={
            "thinking_level": "none: the model decides",
            "require_grounding": "fail without sources",
            "focus": "dev, docs, reddit: from developer sites, documentation, Reddit",
        },
        more_choices={"focus": ("dev", "docs", "reddit")},
    ),
    "google_search": Tool(
        title="Search Google",
        command=ServedCommand("serper_search", "search"),
        keys=ENGINES["serper"].keys,
        doing="searching Google", annotations=READS_THE_WEB,
        description="If Google's ranking or filters matter: its results.",
        arguments=[
            "query", "count", "page", "since", "country", "language", "site", "exclude_site",
            "max_chars",
        ],
        help={
            "count": "each 10 more: one more request",
            "page": "first page",
        },
    ),
    "brave_web_search": Tool(
        title="Search Brave",
        command=ServedCommand("brave_search", "web", run="run_web_search"),
        keys=ENGINES["brave"].keys,
        doing="searching Brave", annotations=READS_THE_WEB,
        description="For FAQ, discussions, news, videos: Brave's result list.",
        arguments=[
            "query", "count", "offset", "since", "country", "language", "site", "exclude_site",
            "extra_snippets", "summary", "max_chars",
        ],
        help={"offset": "pages to skip (not results)",
                 "extra_snippets": "more excerpts",
                 "summary": "ask for a key for brave_summarizer"},
    ),
    "brave_summarizer": Tool(
        title="Summary by Brave",
        command=ServedCommand("brave_search", "summarizer"),
        keys=(),
        doing="waiting for the summary", annotations=READS_THE_WEB,
        description="Brave's summary of a search: discontinued Pro AI plan only.",
        arguments=["query", "key", "entity_info", "inline_references"],
        help={"key": "of brave_web_search with summary",
                 "inline_references": "URLs of sources in the text",
                 "query": "instead of a key"},
        free_with=("key",),
    ),
    "brave_context": Tool(
        title="Passages by Brave",
        command=ServedCommand("brave_search", "context"),
        keys=ENGINES["brave"].keys,
        doing="collecting passages", annotations=READS_THE_WEB,
        description="For passages of many pages, by Brave.",
        arguments=[
            "query", "count", "since", "country", "site", "exclude_site", "threshold", "max_chars",
        ],
        help={"count": "pages", "threshold": "how well passages match"},
    ),
    "clear_cache": Tool(
        title="Clear the store",
        command=ServedCommand("websearch.search.commands", "cache", fixed={"action": "clear"}),
        doing="clearing", annotations=CLEARS_OWN_STORE,
        description="To forget what is stored: one query, or everything.",
        arguments=["query"],
        help={"query": "as it was searched; without it, everything"},
    ),
}
# fmt: on
# Clients pay for every byte of the list in each conversation, so common arguments get few words,
# and only errors contain long lists of choices.
BRIEF_HELP = {
    "query": "",
    "since": "{choices} or YYYY-MM-DD..YYYY-MM-DD",
    "country": "two-letter code",
    "language": "such as en or pt-br",
    "site": "only these, comma-separated",
    "exclude_site": "",
    "count": "",
}
# Name of a similar tool on other servers -> the tool.
OTHER_NAMES = {
    **dict.fromkeys(
        ("search", "brief", "research", "websearch", "duckduckgo_search"), "web_search"
    ),
    **dict.fromkeys(("fetch", "read", "web_fetch", "webfetch", "scrape", "open_url"), "read_page"),
    **dict.fromkeys(("ask", "answer", "gemini"), "grounded_search"),
}
# Fields of a no_results document that is shown the same way for every tool.
NOTHING_BUT_ERROR = {"ok", "error", "details", "provider", "query"}


def tool_parameters(name: str) -> dict[str, Parameter]:
    """Return each tool argument's shown name -> an adapted copy of the command's parameter.

    Raises ImportError if the module is missing.
    """
    tool = TOOLS[name]
    table: dict[str, Parameter] = {MAX_CHARS["name"]: MAX_CHARS}
    for entry in (*tool.instead.values(), tool.command):  # its own command comes last and wins
        table |= {parameter["name"]: parameter for parameter in entry.spec()["params"]}
    shown = {}
    for argument in tool.arguments:
        label, original = argument if isinstance(argument, tuple) else (argument, argument)
        parameter = table[original].copy()
        if tool.instead:
            parameter.pop("required", None)
        if parameter["name"] == "focus" and "news" in parameter["choices"]:
            parameter["choices"] = open_focuses()  # tools that the keys allow
        text = tool.help.get(label, BRIEF_HELP.get(label, str(parameter["help"])))
        choices = ", ".join(parameter.get("choices", ()))
        parameter["help"] = text.replace("{choices}", choices)
        if label in tool.more_choices:
            parameter["choices"] = [*parameter["choices"], *tool.more_choices[label]]
        shown[label] = parameter
    return shown


def unknown_tool_hint(name: str) -> str:
    """Return the hint for a tool that does not exist."""
    if name.lower() in OTHER_NAMES:
        return f"The nearest tool is {OTHER_NAMES[name.lower()]}."
    return nearest(name, TOOLS, "tool") or f"The tools are {', '.join(listed_tools())}."


def property_schema(parameter: Parameter) -> dict[str, Any]:
    """Return an argument's JSON Schema: flat, with its choices, bounds and default."""
    schema = parameter_schema(parameter, flat=True)
    text = re.sub(r" \(default: [^()]*\)", "", parameter["help"])
    return {**schema, "description": text} if text else schema


def tool_definition(name: str) -> dict[str, Any] | None:
    """Return a tool's definition for tools/list; None, with a warning, if its module fails."""
    try:
        parameters = tool_parameters(name)
    except Exception as error:  # noqa: BLE001  a broken module only affects its own tools
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
        "title": TOOLS[name].title,
        "description": tool_description(name),
        "inputSchema": schema,
        "annotations": TOOLS[name].annotations,
    }


def tool_description(name: str) -> str:
    """Return a tool's description, with today's date if the tool takes a period.

    Without the date, models put the last year of their training data into queries.
    """
    today = f" Today is {utc_day(time.time())}." if "since" in TOOLS[name].arguments else ""
    return f"{TOOLS[name].description}{today}"


def tool_definitions(every: bool = False) -> list[dict[str, Any]]:
    """Return the definitions of the listed tools, or of every tool, with today's date."""
    return definitions_of_day(utc_day(time.time()), every)


@functools.cache
def definitions_of_day(_: str, every: bool) -> list[dict[str, Any]]:
    """Return the definitions of the listed tools, or of every tool, except broken ones.

    The result is cached for the day, because the list must not change.
    """
    names = TOOLS if every else listed_tools()
    return [definition for name in names if (definition := tool_definition(name))]


def listed_tools() -> list[str]:
    """Return the tools usable with the configured keys, and those listed in WEB_SEARCH_TOOLS.

    Calls to the other tools are also answered.
    """
    requested = os.environ.get(TOOLS_VARIABLE, "").replace(" ", "").split(",")
    return [
        name
        for name, tool in TOOLS.items()
        if tool.keys is None or {name, "all"} & {*requested} or is_configured(tool.keys)
    ]


def how_to_list(name: str) -> str:
    """Return a tool's name and the variable to set for it to be listed."""
    keys = TOOLS[name].keys
    return f"{name} (set {keys[0] if keys else f'{TOOLS_VARIABLE}={name}'})"


def is_configured(keys: tuple[str, ...]) -> bool:
    """Return whether one of these variables is set, even to an invalid key."""
    try:
        return bool(configured_key(*keys)[1])
    except SearchError:
        return True


# ===== calling a tool =============================================================================


def call_tool(
    name: str, arguments: object, report: ProgressCallback = None, caller: str = "MCP"
) -> tuple[Document, str]:
    """Run a tool with a client's arguments; return its document and its text for a model.

    caller: the caller's name in the history. Never raises: a bug becomes an error document.
    """
    document, command = run_tool(name, arguments, report, caller)
    given = arguments if isinstance(arguments, dict) else {}
    limit, usual = str(given.get("max_chars")), DEFAULT_MAX_CHARS
    if given.get("section"):
        from websearch.reading.pages_document import SECTION_MAX_CHARS

        usual = SECTION_MAX_CHARS
    max_chars = int(limit) if re.fullmatch(r"[0-9]{4,6}", limit) else usual
    try:
        return document, tool_text(name, document, max_chars, command)
    except Exception as error:  # noqa: BLE001  a bug: the client still gets an answer
        document = internal_error(error, verbose=False)
        return document, tool_text(name, document)


def run_tool(
    name: str, arguments: object, report: ProgressCallback, caller: str
) -> tuple[Document, ServedCommand]:
    """Run a tool's command; return its document and the command. Never raises."""
    command = TOOLS[name].command
    warnings: list[str] = []
    try:
        params = tool_params(name, arguments, warnings)
        command = chosen_command(name, params)
        params = {**command.fixed, **params}
        document = run_metered(TOOLS[name], params, lambda: command.call(params, caller, report))
        if any(engine.module == command.module for engine in ENGINES.values()):
            keep_to_rules(document, command.load())  # the standalone scripts ignore the rules
    except SearchError as error:
        document = error_document(error)
    except Exception as error:  # noqa: BLE001  a bug: the client still gets an answer
        document = internal_error(error, verbose=False)
    if warnings:
        document["warnings"] = [*document.get("warnings", []), *warnings]
    return document, command


def keep_to_rules(document: Document, module: ModuleType) -> None:
    """Remove results that the owner's rules do not allow, with a warning that counts them.

    If no result remains, the document becomes a no_results error.
    """
    had_results = bool(module.as_results(document))
    if left_out := without_refused(document):
        text = left_out_warning(left_out)
        document["warnings"] = [*document.get("warnings", []), text]
        if had_results and not module.as_results(document):
            document |= error_document(SearchError("no_results", text, OWNER_HINT))


def chosen_command(name: str, params: dict[str, Any]) -> ServedCommand:
    """Return the command that a tool's arguments select. Raises SearchError.

    Either the first argument or its replacement must be set. A list belongs to the replacement,
    unless it has one item. An empty first argument is passed to its command, which refuses it. A
    choice with its own command is removed from params.
    """
    tool = TOOLS[name]
    first = str(tool.arguments[0])
    for label, other in tool.instead.items():
        given = [params.pop(item) for item in (first, label) if isinstance(params.get(item), list)]
        for items in given:
            params |= {first: items[0]} if len(items) == 1 else {label: items}
        present = [item for item in (first, label) if params.get(item) not in (None, "", [])]
        if len(present) != 1 and not (first in params and label not in params):
            verb = "both are" if present else "neither is"
            message = f"{name} takes either {first} or {label}; {verb} set."
            hint = f"Pass {first} for one question, {label} for several."
            raise SearchError("invalid_input", message, hint)
        if present == [label]:
            return other
    for label, choices in tool.more_choices.items():
        if params.get(label) in choices:
            return ServedCommand(tool.command.module, params.pop(label))
    return tool.command


def run_metered(tool: Tool, params: dict[str, Any], run: Callable[[], Document]) -> Document:
    """Return run()'s document; count a paid request within its budget. Raises SearchError.

    The commands of web_search count their own requests.
    """
    from websearch.engines.base.ledger import begin_request, budget_warnings, end_request
    from websearch.store.page_store import PageStore

    module = tool.command.module
    paid = [name for name, engine in ENGINES.items() if engine.paid and engine.module == module]
    if not paid or any(params.get(name) for name in tool.free_with):
        return run()
    store = PageStore()
    try:
        begun = begin_request(paid[0], store)
        document = run()
        kind = "" if document["ok"] else document["details"]["kind"]
        billed = end_request(paid[0], begun, kind, document.get("credits"), store)
        warnings = [*budget_warnings(billed, store), *store.warnings]
    finally:
        store.close()
    if warnings:
        document["warnings"] = [*document.get("warnings", []), *warnings]
    return document


def read_arguments(arguments: object) -> Any:
    """Return a call's arguments; models may send them as JSON text, or "null" for no arguments."""
    if not isinstance(arguments, str):
        return {} if arguments is None else arguments
    fields = {} if arguments.strip() in NOT_GIVEN else json_fields(arguments)
    return arguments if fields is None else fields


def tool_params(name: str, arguments: object, warnings: list[str]) -> dict[str, Any]:
    """Return a client's arguments under the names of the command's table.

    Values that count as not set are omitted. An unknown argument is ignored with a warning, because
    some clients add their own. Raises SearchError (invalid_input) if it may be a mistake.
    """
    if not isinstance(arguments, dict):
        message = f"The arguments of {name} must be an object, not {quoted(arguments)}."
        example = dump_json({TOOLS[name].arguments[0]: "..."})
        raise SearchError("invalid_input", message, f"For example {example}.")
    parameters = tool_parameters(name)
    table = parameter_names([*parameters.values()]) | parameters
    unknown = [key for key in arguments if spelled_name(key) not in table]
    if unknown:
        warnings.append(ignored_arguments(name, unknown, len(unknown) == len(arguments), table))
    params = read_params(table, arguments.items(), once=True)
    for label, parameter in parameters.items():  # with the argument's own bounds and choices
        own = parameter["name"]
        if own in params and (own == "max_chars" or label in TOOLS[name].more_choices):
            params[own] = check_value(parameter, params[own])
    return params


def ignored_arguments(name: str, unknown: list[str], are_all: bool, known: Iterable[str]) -> str:
    """Return the warning that names unknown arguments. Raises SearchError (invalid_input).

    are_all: whether there are no other arguments. known: all names of the tool's arguments.
    """
    for key in unknown:
        if are_all or not key.isprintable() or may_be_mistaken(name, spelled_name(key), known):
            raise unknown_argument(name, key, spelled_name(key), [*tool_parameters(name)])
    names = one_line(", ".join(unknown), 200)
    return f"Ignored, because {name} has no such arguments: {names}."


def may_be_mistaken(name: str, spelled: str, known: Iterable[str]) -> bool:
    """Return whether an unknown argument may be a model's mistake, not a client's addition.

    It resembles an argument, contains its name, or is an argument of another tool. For a tool that
    removes something, every unknown argument counts: without its query, everything would be
    removed.
    """
    import difflib

    if not TOOLS[name].annotations["readOnlyHint"] or spelled in {**SYNONYMS, **NO_SYNONYMS}:
        return True
    cannot = TOOLS[name].command.spec().get("cannot", {})
    words = {*spelled.split("_")} & {*known} or spelled in cannot
    return bool(words or difflib.get_close_matches(spelled[:100], known, 1, LEAST_LIKENESS))


def unknown_argument(name: str, key: str, spelled: str, labels: list[str]) -> SearchError:
    """Return the error for an unknown argument. spelled: its name in the table's style."""
    cannot = TOOLS[name].command.spec().get("cannot", {})
    reason = cannot.get(spelled) or NO_SYNONYMS.get(spelled, "")
    hint = reason or nearest(spelled, labels, "argument")
    hint = f"{hint} The arguments are {', '.join(labels)}.".strip()
    return SearchError("invalid_input", f"{name} has no argument {quoted(key)}.", hint)


# ----- the document as text for a model


def tool_text(
    name: str,
    document: Document,
    max_chars: int = DEFAULT_MAX_CHARS,
    command: ServedCommand | None = None,
) -> str:
    """Return a tool's document as Markdown with fewer than max_chars characters.

    command: the command that made the document (default: the tool's own). Raises the errors of the
    command's to_markdown for a malformed document.
    """
    to_markdown: Callable[[Document], str] = error_markdown
    expendable: Sequence[str] = ()
    kind = object_field(document, "details").get("kind")
    is_usable = kind != "internal"  # otherwise the tool's module may not work
    known = tool_parameters(name) if is_usable else {}
    names = {item["name"]: label for label, item in known.items()}
    details = object_field(document, "details")
    is_bare = kind == "no_results" and document.keys() <= NOTHING_BUT_ERROR
    if is_usable and not is_bare:
        command = command or TOOLS[name].command
        to_markdown = command.to_markdown
        expendable = command.spec().get("expendable", ())
    lacks_key = kind == "auth" and "status" not in details  # no request was answered
    if lacks_key and CONFIGURATION_HINT not in details["hint"]:
        details["hint"] = f"{details['hint']} {CONFIGURATION_HINT}"

    def shown(cut: Document) -> str:
        return to_markdown(spell_hints(cut, names))

    fit_document(document, max_chars - 1, expendable, lambda cut: len(shown(cut)))
    return shorten(shown(document), max_chars - 1)


def is_failure(document: Document, arguments: object) -> bool:
    """Return whether a document is an error; no_results counts only if sources were required."""
    required = object_field({"arguments": arguments}, "arguments").get("require_grounding")
    is_required = str(required).lower() in TRUE_WORDS
    return not document["ok"] and (document["details"]["kind"] != "no_results" or is_required)
