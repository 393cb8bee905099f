"""The commands of web_search: their parameter tables and run_* functions."""

from __future__ import annotations

import functools
import itertools
import math
import os

from websearch.check import check
from websearch.engines.base.engine import FILTER_PARAMS
from websearch.engines.base.ledger import UNCOUNTED, RunBudget, this_month
from websearch.engines.table import ENGINES, FOCUSES, SPELLINGS, TOTAL, budgets, focus_sources
from websearch.kit import (
    COMMON_PARAMS,
    DEFAULT_MAX_CHARS,
    DryRun,
    JsonLines,
    SearchError,
    batch_outcome,
    canonical_names,
    drop_empty,
    error_document,
    in_parallel,
    json_fields,
    quoted,
    read_queries,
    refuse_input,
    run_operation,
    run_pieces,
    run_with_input,
)
from websearch.search.defaults import checked_defaults
from websearch.search.plan import MAX_QUESTIONS, MIN_QUESTIONS
from websearch.search.show_markdown import (
    batch_markdown,
    brief_markdown,
    cache_markdown,
    consolidated_text,
    search_markdown,
)
from websearch.store import history
from websearch.store.page_store import DEFAULT_TTL, PageStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Command, Document, Parameter, ProgressCallback

__all__ = [
    "COMMANDS", "RUN", "consolidated_text", "run_brief", "run_cache", "run_recall", "run_search",
]  # fmt: skip
DEFAULT_COUNT = 5  # pages read per search
DEFAULT_SOURCES = 8  # sources per brief
MAX_COUNT = 50  # results that engines return in a few result pages
PAGE_TIMEOUT = 3.0  # seconds per page, redirects included
INPUT_HINT = "Name a file with one question per line, or @- for standard input."
WORKERS = 4  # concurrent searches of a batch; an engine without a key keeps its pace
ITEM_CHARS = 1_000  # characters per search in a batch document: fewer cannot answer

# ===== commands and their parameters ==============================================================

# fmt: off
QUERY: Parameter = {
    "name": "query", "type": "str", "positional": True, "required": True, "aliases": ["q"],
    "flags": ["-q"], "help": "what to search for", "searched": True,
}
COUNT: Parameter = {
    "name": "count", "type": "int", "min": 1, "max": MAX_COUNT, "default": DEFAULT_COUNT,
    "flags": ["-n"], "help": f"results, 1 to {MAX_COUNT} (default: 5)",
}
FORCE: Parameter = {
    "name": "force", "type": "bool", "flags": ["-f"], "default": False,
    "help": "ignore stored answers and pages; fetch everything again",
}
ENGINE_AND_FILTERS: list[Parameter] = [
    {"name": "engine", "type": "csv", "choices": ["auto", "keyless", "all", *ENGINES],
     "default": ["auto"], "values": SPELLINGS,
     "help": "auto (default) falls back to the next engine, a named engine does not; keyless: "
             "auto without keys; all, or several names: results are merged"},
    {"name": "focus", "type": "str", "choices": list(FOCUSES), "default": "general",
     "help": "also query sources of one kind (papers and news query only these): " + "; ".join(
         f"{focus}: {', '.join(focus_sources(focus))}" for focus in FOCUSES[1:])},
    *FILTER_PARAMS,
    {"name": "budget", "type": "int", "min": 0, "max": 1_000_000,
     "help": "paid requests that this call may make (default: no limit)"},
]
READING: list[Parameter] = [
    {"name": "page_timeout", "type": "float", "min": 0.1, "max": 120,
     "default": PAGE_TIMEOUT, "help": "seconds for each page (default: 3)"},
    {"name": "ttl", "type": "str", "default": DEFAULT_TTL,
     "help": "use a stored answer younger than this, such as 30m or 7d (default: 24h)"},
]
SEARCHING: list[Parameter] = [
    COUNT,
    FORCE,
    *ENGINE_AND_FILTERS,
    {"name": "no_pages", "type": "bool", "help": "list results without reading their pages"},
    *READING,
    {"name": "stale", "type": "bool",
     "help": "if no engine answers, use a stored answer of any age"},
]
PAGE_ONLY_PARAMS = dict.fromkeys(
    ("section", "find", "outline", "offset", "raw", "links", "archived", "browser", "pages"),
    "It applies to one page or file: use read.",
)
COMMANDS: dict[str, Command] = {
    "search": {
        "to_markdown": search_markdown,
        "help": "search, read the pages found, return the passages that answer",
        "expendable": ("attempts", "unread"),
        "params": [QUERY, *SEARCHING],
        "cannot": PAGE_ONLY_PARAMS,
    },
    "recall": {
        "to_markdown": search_markdown,
        "help": "search the pages read before, offline",
        "params": [
            {**QUERY, "searched": False, "help": "words to look for"},
            COUNT,
            *(parameter for parameter in FILTER_PARAMS if parameter["name"] == "site"),
        ],
        "cannot": dict.fromkeys(
            ("engine", "since", "country", "language", "safe", "exclude_site"),
            "recall queries no engine. It finds stored pages by their words and by site.",
        ),
    },
    "cache": {
        "to_markdown": cache_markdown,
        "help": "stats: list what is stored; clear: remove all of it, or the answers to one query",
        "params": [
            {"name": "action", "type": "str", "choices": ["stats", "clear"], "positional": True,
             "required": True, "help": "stats or clear"},
            {**QUERY, "required": False, "verbatim": True, "searched": False,
             "help": "clear only what was found for this query"},
        ],
    },
    "brief": {
        "to_markdown": brief_markdown,
        "help": "answer several questions, related or not, with one list of sources",
        "expendable": ("attempts", "unread"),
        "params": [
            {"name": "queries", "type": "list", "positional": True, "aliases": ["query", "q"],
             "flags": ["-q"], "help": f"the questions, {MIN_QUESTIONS} to {MAX_QUESTIONS}",
             "searched": True,
             "min_items": MIN_QUESTIONS, "max_items": MAX_QUESTIONS},
            {"name": "input", "type": "str", "verbatim": True,
             "help": "file with one question per line; @- is standard input"},
            {**COUNT, "default": DEFAULT_SOURCES,
             "help": f"sources, 1 to {MAX_COUNT} (default: {DEFAULT_SOURCES})"},
            FORCE,
            *ENGINE_AND_FILTERS,
            *READING,
        ],
    },
    **check.COMMANDS,
    "batch": {
        "to_markdown": batch_markdown,
        "help": "run many searches from a file or standard input; --jsonl streams one document "
                "per line",
        "batch": True,
        "expendable": ("attempts", "unread"),
        "params": [
            {"name": "input", "type": "str", "positional": True, "verbatim": True,
             "help": "file with a question or JSON object per line; @- is standard input"},
            {"name": "queries", "type": "list", "aliases": ["query"],
             "help": "the questions, or JSON objects as text; repeatable"},
            {"name": "workers", "type": "int", "min": 1, "max": 16, "default": WORKERS,
             "help": f"searches at once (default: {WORKERS})"},
            *SEARCHING,
        ],
    },
}
# fmt: on
SEARCH_NAMES = {item["name"] for item in (*SEARCHING, *COMMON_PARAMS)}

# ===== search and brief ===========================================================================


def run_search(
    params: dict[str, Any],
    report: ProgressCallback = None,
    caller: str = history.COMMAND_LINE,
    budget: RunBudget | None = None,
) -> Document:
    """Search, read the pages found and return the passages that answer the query. Never raises.

    params: those of COMMANDS["search"], and timeout, max_chars (default 9,000; 0: whole pages),
    dry_run, verbose. caller: the calling interface, for the history. budget: for paid requests, if
    the search is part of a batch. Returns {ok, engine, results: [{title, url, date?, text? or
    snippet?, error?}], from_cache?, fetched_at?, ...}, or an error document whose details may list
    the attempts.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.search.pipeline import answer_document

        return answer_document(params, report, caller, history.SEARCH, budget)

    return run_with_defaults("search", params, ("engine", "count"), operation)


def run_brief(
    params: dict[str, Any], report: ProgressCallback = None, caller: str = history.COMMAND_LINE
) -> Document:
    """Answer several questions with one list of sources. Never raises.

    params: those of COMMANDS["brief"] without input. Returns {ok, today, queries: [{query, engine,
    found} or {query, error, kind}], sources: [{number, title, url, date?, queries, text or error,
    also?}], from_cache: the numbers of the questions that needed no request, ...}, or an error
    document.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.search.pipeline import answer_document

        refuse_input(params)
        return answer_document({"queries": [], **params}, report, caller, history.BRIEF)

    return run_with_defaults("brief", params, ("engine",), operation)


def run_with_defaults(
    command: str,
    params: dict[str, Any],
    names: tuple[str, ...],
    operation: Callable[[dict[str, Any]], Document],
) -> Document:
    """Run an operation with the user's defaults for these parameters. Never raises."""
    try:
        full = {**checked_defaults(names, COMMANDS[command]["params"], params), **params}
    except SearchError as error:
        return error_document(error)
    return run_operation(f"web_search.{command}", COMMANDS[command], full, operation)


def run_brief_file(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Run a brief for the command line, optionally with questions from a file.

    A single question, such as the last one from xargs, runs a search.
    """
    params = read_queries(params, INPUT_HINT)
    queries = params.get("queries", [])
    lines = queries if isinstance(queries, list) else [queries]
    if line := next((text for text in lines if json_fields(text)), ""):
        hint = "Use the command batch for questions with their own parameters."
        raise SearchError("invalid_input", f"{quoted(line)} is JSON, not a question.", hint)
    if isinstance(queries, list) and len(queries) == 1:
        others = {name: value for name, value in params.items() if name != "queries"}
        return run_search({**others, "query": queries[0]}, report)
    return run_brief(params, report)


def run_batch(
    params: dict[str, Any],
    report: ProgressCallback = None,
    emit: Callable[[int, Document], None] | None = None,
    budget: RunBudget | None = None,
) -> Document:
    """Search for many questions; return their documents in results, in order. Never raises.

    params: those of COMMANDS["batch"] without input; timeout and, with emit, max_chars apply to
    each search. A question is text, or a JSON object with its own parameters. emit(number,
    document) is called for each document as soon as it is ready. budget: other batches' spending in
    the same run.
    """
    spent = budget or RunBudget()

    def operation(checked: dict[str, Any]) -> Document:
        refuse_input(checked)
        queries, max_chars = checked.pop("queries", []), checked.get("max_chars", DEFAULT_MAX_CHARS)
        if not queries:
            raise SearchError("invalid_input", "No question was passed.", INPUT_HINT)
        is_dry, spent.limit = checked.get("dry_run"), checked.pop("budget", math.inf)
        if not (emit or is_dry) and len(queries) * ITEM_CHARS > max_chars > 0:
            message = f"Results of {len(queries)} questions do not fit in {max_chars} characters."
            raise SearchError("invalid_input", message, "Use {jsonl}. Or set {max_chars} to 0.")
        given = canonical_names("batch", COMMANDS["batch"], params)
        shared = {name: value for name, value in given.items() if name in SEARCH_NAMES}
        shared["max_chars"] = 0 if is_dry else max_chars if emit else max_chars // len(queries)
        checked["max_chars"] = 0  # each document is fitted separately
        documents: dict[int, Document] = {}
        jobs = list(enumerate(queries))
        searches = in_parallel(
            lambda job: search_line(shared, job[1], spent), jobs, checked["workers"]
        )
        for (number, query), answer in searches:
            is_cut = isinstance(answer, SearchError)  # a signal arrived
            documents[number] = {"query": query, **error_document(answer)} if is_cut else answer
            if report:
                report("searches", len(documents), len(queries))
            if emit:
                emit(number, documents[number])
        results = [documents[number] for number in range(len(queries))]
        if is_dry:
            raise batch_plan(results, shared)
        return {**batch_outcome(results), "provider": "web_search", "results": results}

    return run_operation("web_search.batch", COMMANDS["batch"], params, operation)


def batch_plan(results: list[Document], shared: dict[str, Any]) -> DryRun:
    """Return a batch's dry run: the totals of its lines' dry runs and, with verbose, these runs.

    requests: engine -> first requests of the lines. cost: engine -> its total. left: engine (or
    total) -> requests that this month's budget leaves before the batch.
    """
    from websearch.search.answers import total

    requests: list[dict[str, int]] = []
    costs: dict[str, list[dict[str, float]]] = {}
    for result in filter(lambda document: document["ok"], results):
        planned = result["request"].get("requests", [result])
        requests += [{one["engine"]: 1} for one in planned if "error" not in one]
        for engine, cost in result.get("cost", {}).items():
            costs.setdefault(engine, []).append(cost)
    failed = [
        {"query": result["query"], "error": result["error"]}
        for result in results
        if not result["ok"]
    ]
    limits, store = budgets(), PageStore()
    spent = store.spent(this_month()) if limits else {}
    store.close()
    used = {**spent, TOTAL: sum(spent.values())}
    facts = {
        "requests": total(requests),
        "cost": {
            engine: {name: round(number, 4) for name, number in total(own).items()}
            for engine, own in costs.items()
        },
        "left": {name: max(0, most - used.get(name, 0)) for name, most in limits.items()},
        "failed": failed,
    }
    lines = {"results": results} if shared.get("verbose") else {}
    return DryRun({"lines": len(results), **drop_empty(facts), **lines})


def search_line(shared: dict[str, Any], line: str, budget: RunBudget) -> Document:
    """Return the document for a line in a batch: a question, or a JSON object with parameters."""
    if not (own := json_fields(line)):
        return {"query": line, **run_search({**shared, "query": line}, budget=budget)}
    try:
        own = canonical_names("search", COMMANDS["search"], own)
        for name in (*(parameter["name"] for parameter in COMMON_PARAMS), "budget"):
            if name in own:
                message = f"{name} is for the whole batch, not for one query."
                raise SearchError("invalid_input", message, "Pass it next to the queries.")
    except SearchError as error:
        return {"query": line, **error_document(error)}
    document = run_search({**shared, **own}, budget=budget)
    return {"query": str(own.get("query", line)), **document}


def run_batch_file(
    params: dict[str, Any], report: ProgressCallback = None, options: Any = None
) -> Document | int:
    """Run a batch for the command line, optionally with questions from a file."""
    from websearch.reading.lists import input_pieces

    options, spent = options or {}, RunBudget()
    run = functools.partial(run_batch, budget=spent)
    if params.get("dry_run") and options.get("skip_done"):
        params = left_to_do(read_queries(params, INPUT_HINT), options)
        nothing: Document = {"ok": True, "dry_run": True, "request": {"lines": 0}}
        return run(params, report) if params["queries"] else nothing
    if "input" not in params or params.get("dry_run") or not options.get("jsonl"):
        return run_with_input(run, INPUT_HINT, params, report, options)
    others = {name: item for name, item in params.items() if name not in ("input", "queries")}
    pieces = itertools.chain([params.get("queries", [])], input_pieces(str(params["input"])))
    return run_pieces(run, pieces, others, report, options)


def left_to_do(params: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of a batch without the queries that the files in skip_done settle."""
    files = [path for path in options["skip_done"] if os.path.exists(os.path.expanduser(path))]
    others = {name: item for name, item in params.items() if name != "queries"}
    queries = params.get("queries", [])
    queries = queries if isinstance(queries, list) else [queries]
    lines = JsonLines({**options, "skip_done": files}, "input", others)
    return {**others, "queries": [query for query in queries if not lines.is_done(query)]}


# ===== the other commands =========================================================================


def run_recall(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search the pages read before, offline. Never raises.

    params: those of COMMANDS["recall"]. Returns {ok, today, results: [{title?, url, date?,
    fetched_at, text? or snippet?}], ...}.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.search.pipeline import recall

        return recall(params)

    return run_operation("web_search.recall", COMMANDS["recall"], params, operation)


def run_cache(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Report the contents of the store (action stats) or remove them (action clear). Never raises.

    Returns {ok, action, ...}: the store's stats and the spending, or how many answers, pages and
    history entries were removed. With dry_run, clear removes nothing.
    """

    def operation(params: dict[str, Any]) -> Document:
        query, clears = params.get("query", ""), params["action"] == "clear"
        if query and not clears:
            raise SearchError("invalid_input", "stats takes no query.", "Omit {query}.")
        store = PageStore()
        if clears and params.get("dry_run"):
            raise DryRun(drop_empty({"action": "clear", "query": query, "path": store.path}))
        try:
            facts = store.clear(query) if clears else {**store.stats(), **spending(store)}
        finally:
            store.close()
        if clears and store.has_failed:
            hint = "The action stats shows the file; GLSI_DB_PATH sets another."
            message = f"Nothing was cleared. {store.warnings[-1]}"
            raise SearchError("invalid_input", message, hint)
        head = {"ok": True, "provider": "web_search", "action": params["action"]}
        return {**head, **drop_empty({"query": query, "warnings": store.warnings}), **facts}

    return run_operation("web_search.cache", COMMANDS["cache"], params, operation)


def spending(store: PageStore) -> dict[str, Any]:
    """Return spent (month -> engine -> requests) and budgets (engine -> requests), if any."""
    spent, limits = store.spent(this_month()), {}
    try:
        limits = budgets()
    except SearchError as error:
        store.warnings.append(error.message)
    facts = drop_empty({"spent": {this_month(): spent} if spent else {}, "budgets": limits})
    return {**facts, "uncounted": UNCOUNTED} if facts else {}


def run_search_line(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Run a search for the command line; refuse a file with a hint that names the right command.

    The refusal is a SearchError (invalid_input).
    """
    query = params.get("query")
    if isinstance(query, str) and query.startswith("@") and os.path.isfile(query[1:]):
        hint = "Use the command batch to search for each of its lines."
        raise SearchError("invalid_input", f"{quoted(query)} is a file, not a question.", hint)
    return run_search(params, report)


RUN: dict[str, Callable[..., Any]] = {
    "search": run_search_line,
    "recall": run_recall,
    "cache": run_cache,
    "brief": run_brief_file,
    "check": check.run_check_file,
    "batch": run_batch_file,
}
