"""The command that searches with an engine that needs no key."""

from __future__ import annotations

import time

from websearch.base.untrusted import disarm_text
from websearch.base.words import script_language
from websearch.engines.base.days import with_day
from websearch.engines.base.engine import FILTER_PARAMS
from websearch.engines.table import ENGINES, SPELLINGS, keyless_engines
from websearch.kit import (
    DryRun,
    SearchError,
    deadline_of,
    drop_empty,
    error_document,
    frame_markdown,
    markdown_link,
    run_operation,
)
from websearch.search.engine_calls import RESULT_FIELDS, ModuleCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Command, Document, ProgressCallback
    from websearch.search.engine_calls import Reply

DEFAULT_COUNT = 10
MAX_COUNT = 50  # five result pages: more would trigger DuckDuckGo's challenge
__all__ = ["COMMANDS", "RUN", "as_results", "run_search", "to_markdown"]

# ===== commands and their parameters ==============================================================

# fmt: off
COMMANDS: dict[str, Command] = {
    "search": {
        "help": "web pages, from an engine that needs no key",
        "expendable": ("suggestions", "answers", "unresponsive_engines"),
        "params": [
            {"name": "query", "type": "str", "positional": True, "required": True,
             "aliases": ["q"], "searched": True, "help": "what to search for"},
            {"name": "engine", "type": "str", "choices": keyless_engines(),
             "default": "duckduckgo", "values": SPELLINGS,
             "help": "engine to query (default: duckduckgo); there is no fallback"},
            {"name": "count", "type": "int", "min": 1, "max": MAX_COUNT, "default": DEFAULT_COUNT,
             "flags": ["-n"], "help": "results, 1 to 50 (default: 10); each further page is one "
                                      "more request"},
            *FILTER_PARAMS,
        ],
        "cannot": {"page": "Ask for more results in one call: count 30."},
    },
}
# fmt: on

# ===== one search =================================================================================


def run_search(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search with one engine; return a document of its results. Never raises.

    params: those of COMMANDS["search"], and timeout, max_chars, dry_run, verbose.
    """

    def operation(params: dict[str, Any]) -> Document:
        language = script_language(params["query"])
        can_filter = "language" in ENGINES[params["engine"]].filters
        if language and can_filter and not {"language", "country"} & params.keys():
            params["language"] = language
        call = ModuleCall(params["engine"], params, deadline_of(params), report)
        if params.get("dry_run"):
            raise DryRun(call.planned_request())
        try:
            reply = call.ask()
        except SearchError as error:
            error.details["warnings"] = call.warnings
            raise
        return reply_document(params["engine"], reply)

    return run_operation("keyless.search", COMMANDS["search"], params, operation)


def reply_document(engine: str, reply: Reply) -> Document:
    """Return a reply's document; if nothing was found, the error keeps the reply's other fields."""
    now = time.time()
    fields = {
        "results": [with_day(result, now) for result in reply.results],
        "answers": reply.answers,
        "suggestions": reply.suggestions,
        "unresponsive_engines": reply.unresponsive_engines,
        "credits": reply.credits,
        "warnings": reply.warnings,
    }
    document: Document = {"ok": True, "provider": engine, **drop_empty(fields)}
    return document | (error_document(reply.error) if reply.error else {})


def as_results(document: Document) -> list[dict[str, Any]]:
    """Return a document's results as [{title, url, snippet, date?, author?, license?, text?}]."""
    return [
        {"snippet": "", **{name: item[name] for name in RESULT_FIELDS if name in item}}
        for item in document.get("results") or []
    ]


RUN: dict[str, Callable[..., Document]] = {"search": run_search}

# ===== Markdown ===================================================================================


def to_markdown(document: Document) -> str:
    """Return a document as Markdown."""
    failed = document.get("unresponsive_engines", [])
    return frame_markdown(
        document,
        *(f"## Answer\n\n{answer}" for answer in document.get("answers", [])),
        "\n".join(
            result_markdown(position, item)
            for position, item in enumerate(document.get("results", []), 1)
        ),
        labelled("Suggestions", document.get("suggestions", [])),
        labelled(
            "Engines that failed", [f"{engine['engine']} ({engine['reason']})" for engine in failed]
        ),
    )


def labelled(label: str, texts: list[str]) -> str:
    """Return "label: a, b", or "" if there are no texts."""
    return f"{label}: {', '.join(texts)}" if texts else ""


def result_markdown(position: int, item: dict[str, Any]) -> str:
    """Return a result as a numbered list item: linked title, date, snippet."""
    title = f"{item['title']} [{item['file_type']}]" if "file_type" in item else item["title"]
    line = f"{position}. {markdown_link(title, item['url'])}"
    facts = [item[name] for name in ("date", "age", "author", "license") if name in item]
    line = " · ".join([line, *facts])
    return f"{line}\n   {disarm_text(item['snippet'])}" if "snippet" in item else line
