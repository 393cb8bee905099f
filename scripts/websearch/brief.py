"""Several questions, one brief: results fused, each page once, and the passages that answer."""

from __future__ import annotations

import re
import time

from websearch.batch import read_queries, refuse_input
from websearch.common import (
    DEFAULT_TIMEOUT,
    DryRun,
    SearchError,
    drop_empty,
    dump_json,
    fence_untrusted,
    frame_markdown,
    markdown_link,
    run_operation,
    shorten,
)
from websearch.engines import chosen_engines
from websearch.ledger import budget_warnings
from websearch.outcomes import (
    all_warnings,
    answered,
    ask_all,
    failed_attempts,
    failure_details,
    failure_of,
    named_questions,
    query_state,
    total_billed,
)
from websearch.results import MIN_TIMEOUT, SEARCH_SHARE, Question
from websearch.search import COMMANDS as SEARCH_COMMANDS
from websearch.search import NO_LIMIT, escape_borders, planned_requests
from websearch.search import to_markdown as search_markdown
from websearch.sources import gather_sources, utc_day, year_warning

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from websearch.common import Document, ProgressCallback
    from websearch.outcomes import Outcome
    from websearch.sources import Source
    from websearch.store import PageStore

MIN_QUESTIONS, MAX_QUESTIONS = 2, 8
DEFAULT_SOURCES, MAX_SOURCES = 8, 20
RESULTS_OF_A_QUESTION = 10  # one result page of every engine: it costs one request
MIN_PASSAGE = 250  # characters of JSON: a source with less room for its text says nothing
MIN_ROOM = 40  # characters of JSON for all texts together: less room is not used
TITLE_CHARS = 200  # of a source; longer titles are lists of search words
SNIPPET_CHARS = 300  # of a source whose page could not be read
INPUT_HINT = "Name a file with one question a line, or @- for standard input."
SOURCE_FIELDS = ("date", "author", "license", "archived", "archived_url")  # of a result
CUT_HINT = "Texts are the passages that answer; read_page gives a whole page."

# ===== the command ================================================================================

_OF_SEARCH = {one["name"]: one for one in SEARCH_COMMANDS["search"]["params"]}
# fmt: off
COMMANDS: dict[str, dict[str, Any]] = {"brief": {
    "help": "several questions, one document: numbered sources with the passages that answer",
    "expendable": ("attempts",),
    "params": [
        {"name": "queries", "type": "list", "positional": True, "aliases": ["query", "q"],
         "flags": ["-q"], "help": f"the questions, {MIN_QUESTIONS} to {MAX_QUESTIONS}",
         "min_items": MIN_QUESTIONS, "max_items": MAX_QUESTIONS},
        {"name": "input", "type": "str", "verbatim": True,
         "help": "file with one question a line; @- is standard input"},
        {**_OF_SEARCH["count"], "max": MAX_SOURCES, "default": DEFAULT_SOURCES,
         "help": f"sources, 1 to {MAX_SOURCES} (default: {DEFAULT_SOURCES})"},
        *(_OF_SEARCH[name] for name in (
            "force", "engine", "focus", "since", "country", "language", "site", "exclude_site",
            "safe", "page_timeout", "ttl",
        )),
    ],
}}
# fmt: on


def run_brief(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Answer several questions with one list of sources. Never raises.

    params: those of COMMANDS["brief"] without input. Returns {ok, today, queries: [{query, engine,
    found} or {query, error, kind}], sources: [{number, title, url, date?, queries, text or error,
    also?}], from_cache: numbers of the questions that cost no request, ...}, or an error document.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.store import PageStore

        refuse_input(params)
        queries = distinct_queries(params.get("queries", []))
        params = {"timeout": DEFAULT_TIMEOUT, **params}
        if params.get("dry_run"):
            asked = {**params, "count": RESULTS_OF_A_QUESTION}
            engines = chosen_engines(params["engine"], params["focus"])
            raise DryRun(planned_requests(queries, engines, asked))
        store = PageStore()
        try:
            return brief(queries, params, store, report)
        finally:
            store.close()

    return run_operation("web_search.brief", COMMANDS["brief"], params, operation)


def run_brief_file(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Run a brief for the command line, which may read the questions from a file."""
    return run_brief(read_queries(params, INPUT_HINT), report)


def distinct_queries(queries: list[str]) -> list[str]:
    """Return the questions, each once; raises SearchError (invalid_input) for too few or many."""
    if not MIN_QUESTIONS <= len(queries) <= MAX_QUESTIONS:
        limits = f"{MIN_QUESTIONS} to {MAX_QUESTIONS}"
        message = f"A brief takes {limits} questions in queries, not {len(queries)}."
        few = "Ask a single question as query of a search."
        many = "Ask the others in a second brief."
        hint = few if len(queries) < MIN_QUESTIONS else many
        raise SearchError("invalid_input", message, hint)
    distinct: dict[str, str] = {}
    for query in queries:
        distinct.setdefault(query.strip().lower(), query.strip())
    return list(distinct.values())


# ===== one brief ==================================================================================


def brief(
    queries: list[str], params: dict[str, Any], store: PageStore, report: ProgressCallback
) -> Document:
    """Return the document of a brief; raises the first question's SearchError if all failed."""
    deadline = time.monotonic() + float(params["timeout"])
    timeout = params["timeout"] * SEARCH_SHARE
    asked = {**params, "count": RESULTS_OF_A_QUESTION, "timeout": timeout}
    engines = chosen_engines(params["engine"], params["focus"])
    outcomes = ask_all(queries, engines, asked, report)
    if not answered(outcomes):
        error = failure_of(of_question(outcomes, 1))
        error.details |= {"queries": states(queries, outcomes), **failure_details(outcomes)}
        raise error
    left = max(MIN_TIMEOUT, deadline - time.monotonic())
    reading = Question({**params, "query": "\n".join(queries), "timeout": left}, store, report)
    sources = gather_sources(reading, outcomes, params["count"])
    document = brief_head(queries, outcomes)
    warnings = [*all_warnings(outcomes), *(year_warning(one, document["today"]) for one in queries)]
    warnings += [*reading.warnings, *budget_warnings(total_billed(outcomes), store)]
    warnings = [text for text in dict.fromkeys([*warnings, *store.warnings]) if text]
    document |= drop_empty({"warnings": warnings})
    fill_brief(document, sources, queries, reading.max_chars)
    return document


def of_question(outcomes: list[Outcome], number: int) -> list[Outcome]:
    """Return the outcomes of one question, at every engine."""
    return [outcome for outcome in outcomes if outcome.number == number]


def states(queries: list[str], outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return what became of each question, in their order."""
    return [query_state(of_question(outcomes, number)) for number in range(1, len(queries) + 1)]


def brief_head(queries: list[str], outcomes: list[Outcome]) -> Document:
    """Return a brief's document without its warnings and sources."""
    fresh = {outcome.number for outcome in outcomes if not outcome.from_cache}
    notes = {
        "from_cache": sorted({outcome.number for outcome in outcomes} - fresh),
        "attempts": failed_attempts(outcomes),
        "billed": total_billed(outcomes),
    }
    return {
        "ok": True,
        "provider": "web_search",
        "today": utc_day(time.time()),
        "queries": states(queries, outcomes),
        "sources": [],
        **drop_empty(notes),
    }


def fill_brief(
    document: Document, sources: list[Source], queries: list[str], max_chars: int
) -> None:
    """Put sources and their passages into a brief, within max_chars (0: no limit).

    The room is shared by rank. If it is too small for a passage of each source, the attempts go
    first, then the last sources; the only source of a question goes last.
    """
    from websearch.pages.budget import fill_texts

    names_engines = any("engines" in state for state in document["queries"])
    kept, limit = list(sources), max_chars or NO_LIMIT
    document["sources"] = shown = [shown_source(source, names_engines) for source in kept]
    document["truncated"] = {"hint": CUT_HINT}  # its room is kept free

    def room() -> int:
        return limit - len(dump_json(document)) - len(shown) * len(',"text":,"truncated":true')

    if room() < MIN_PASSAGE * len(shown) and document.pop("attempts", None):
        document["truncated"]["left_out"] = ["attempts"]
    while len(shown) > 1 and room() < MIN_PASSAGE * len(shown):
        place = last_to_spare(shown)
        del shown[place], kept[place]
        document["truncated"]["items_dropped"] = {"sources": len(sources) - len(kept)}
    texts = [source.text for source in kept]
    asked = ["\n".join(queries[number - 1] for number in sorted(one.questions)) for one in kept]
    # With less than MIN_ROOM, one source is left, and the questions take the room.
    is_cut = room() < MIN_ROOM or fill_texts(shown, texts, asked, room())
    if not is_cut and len(document["truncated"]) == 1:
        del document["truncated"]
    for number, item in enumerate(shown, 1):
        item["number"] = number


def last_to_spare(shown: list[dict[str, Any]]) -> int:
    """Return the place of the last source that is not the only one of a question, else the last."""
    for place in range(len(shown) - 1, -1, -1):
        others = [one["queries"] for index, one in enumerate(shown) if index != place]
        if set(shown[place]["queries"]) <= {number for numbers in others for number in numbers}:
            return place
    return len(shown) - 1


def shown_source(source: Source, names_engines: bool) -> dict[str, Any]:
    """Return a source as it stands in a document, without its text; its number comes later."""
    result = source.result
    shown = {
        "number": MAX_SOURCES,
        "title": shorten(result.get("title", ""), TITLE_CHARS),
        "url": result["url"],
        **{name: result.get(name) for name in SOURCE_FIELDS},
        "queries": sorted(source.questions),
        "engines": sorted(source.engines) if names_engines else None,
        "also": source.also,
        "error": source.error,
        "snippet": "" if source.text else shorten(result.get("snippet", ""), SNIPPET_CHARS),
    }
    return drop_empty(shown)


# ===== the document for people ====================================================================


def to_markdown(document: Document) -> str:
    """Return a brief as Markdown: the questions, then numbered sources to cite as [1].

    The document of another command is shown as that command shows it.
    """
    if "sources" not in document and "queries" not in document:
        return search_markdown(document)
    questions = [
        f"{number}. {one['query']}" + (f" (failed: {one['error']})" if "error" in one else "")
        for number, one in enumerate(document.get("queries", []), 1)
    ]
    sources = "\n\n".join(map(source_markdown, document.get("sources", [])))
    return frame_markdown(
        document,
        "\n".join(["Questions:", *questions]),
        f"Today is {document['today']}. Cite sources as [1]." if sources else "",
        fence_untrusted(sources) if sources else "",
    )


def source_markdown(source: dict[str, Any]) -> str:
    """Return one source's section: its number, link and date, then its passages.

    No line of a page can look like the heading of a source: such a line gets a backslash.
    """
    link = markdown_link(str(source.get("title") or source["url"]), source["url"])
    facts = [source.get(name, "") for name in ("date", "author", "license")]
    facts += [named_questions(source["queries"]), *source.get("engines", [])]
    facts += [f"archived {source['archived']}"] if "archived" in source else []
    text = escape_borders(source.get("text") or source.get("snippet") or "")
    blocks = [
        f"[{source['number']}] {link}",
        " · ".join(fact for fact in facts if fact),
        re.sub(r"(?m)^(?=[ \t]*\[\d+\][ \t]*\[)", r"\\", text),
        f"(the same text: {', '.join(source['also'])})" if "also" in source else "",
        f"(page not read: {source['error']})" if "error" in source else "",
    ]
    return "\n\n".join(block for block in blocks if block)
