"""Several questions, one brief: results fused, each page once, and the passages that answer."""

from __future__ import annotations

import time

from websearch.common import (
    DEFAULT_MAX_CHARS,
    DEFAULT_TIMEOUT,
    DryRun,
    SearchError,
    drop_empty,
    dump_json,
    fence_untrusted,
    frame_markdown,
    markdown_link,
    read_queries,
    refuse_input,
    run_operation,
    shorten,
)
from websearch.engines import chosen_engines
from websearch.results import MIN_TIMEOUT, SEARCH_SHARE, Question, error_of
from websearch.search import COMMANDS as SEARCH_COMMANDS
from websearch.search import escape_borders, planned_request
from websearch.sources import (
    Outcome,
    Source,
    ask_all,
    failed_attempts,
    gather_sources,
    query_state,
    total_billed,
    utc_day,
    year_warning,
)

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from websearch.common import Document, ProgressCallback

MAX_QUESTIONS = 8
DEFAULT_SOURCES, MAX_SOURCES = 8, 20
RESULTS_OF_A_QUESTION = 10  # one result page of every engine: it costs one request
MIN_PASSAGE = 250  # characters of JSON: a source with less room for its text says nothing
SNIPPET_CHARS = 300  # of a source whose page could not be read
INPUT_HINT = "Name a file with one question a line, or @- for standard input."
CUT_HINT = "Texts are the passages that answer; read_page gives a whole page."

# ===== the command ================================================================================

_OF_SEARCH = {one["name"]: one for one in SEARCH_COMMANDS["search"]["params"]}
# fmt: off
COMMANDS: dict[str, dict[str, Any]] = {"brief": {
    "help": "several questions, one document: fused sources with the passages that answer",
    "expendable": ("attempts",),
    "params": [
        {"name": "queries", "type": "list", "positional": True, "aliases": ["query", "q"],
         "flags": ["-q"], "help": f"the questions, 2 to {MAX_QUESTIONS}; repeat it"},
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

    params: those of COMMANDS["brief"]. Returns {ok, today, queries: [{query, engine, found} or
    {query, error, kind}], sources: [{number, title, url, date?, queries, text or error, also?}],
    from_cache: the numbers of the questions that cost no request, ...}, or an error document.
    """

    def operation(params: dict[str, Any]) -> Document:
        refuse_input(params)
        queries = check_queries(params.get("queries", []))
        params = {"timeout": DEFAULT_TIMEOUT, **params}
        if params.get("dry_run"):
            raise DryRun({"requests": planned_requests(queries, params)})
        return brief(queries, params, report)

    return run_operation("web_search.brief", COMMANDS["brief"], params, operation)


def run_brief_file(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Run a brief for the command line, which may read the questions from a file."""
    return run_brief(read_queries(params, INPUT_HINT), report)


def check_queries(queries: list[str]) -> list[str]:
    """Return the questions, each once; raises SearchError (invalid_input) for too few or many."""
    distinct = list({query.strip().lower(): query.strip() for query in queries}.values())
    if 2 <= len(distinct) <= MAX_QUESTIONS:
        return distinct
    message = f"A brief takes 2 to {MAX_QUESTIONS} different questions, not {len(distinct)}."
    few = len(distinct) < 2
    hint = "Ask a single question with search." if few else "Ask the others in a second brief."
    raise SearchError("invalid_input", message, hint)


def planned_requests(queries: list[str], params: dict[str, Any]) -> list[Any]:
    """Return the request that each question would send first to each engine."""
    asked = {**params, "count": RESULTS_OF_A_QUESTION}
    documents = [
        planned_request({**asked, "query": query, "engine": engine})
        for query in queries
        for engine in chosen_engines(params["engine"], params["focus"])
    ]
    planned = [document["request"] for document in documents if document["ok"]]
    if not planned:
        raise error_of(documents[0])
    return planned


# ===== one brief ==================================================================================


def brief(queries: list[str], params: dict[str, Any], report: ProgressCallback) -> Document:
    """Return the document of a brief; raises the first question's SearchError if all failed."""
    from websearch.store import PageStore

    deadline = time.monotonic() + float(params["timeout"])
    timeout = params["timeout"] * SEARCH_SHARE
    asked = {**params, "count": RESULTS_OF_A_QUESTION, "timeout": timeout}
    engines = chosen_engines(params["engine"], params["focus"])
    outcomes = ask_all(queries, engines, asked, report)
    if not any(outcome.content for outcome in outcomes):
        raise all_failed(queries, outcomes)
    store = PageStore()
    left = max(MIN_TIMEOUT, deadline - time.monotonic())
    question = Question({**asked, "query": queries[0], "timeout": left}, store, report)
    try:
        sources = gather_sources(question, outcomes, params["count"])
    finally:
        store.close()
    document = brief_head(queries, outcomes, [*question.warnings, *store.warnings])
    fill_brief(document, sources, queries, params.get("max_chars", DEFAULT_MAX_CHARS))
    return document


def all_failed(queries: list[str], outcomes: list[Outcome]) -> SearchError:
    """Return the first question's error, with what became of the others."""
    error = outcomes[0].error or SearchError("internal", "A question has no outcome.")
    error.details["queries"] = states(queries, outcomes)
    return error


def states(queries: list[str], outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return what became of each question, in their order."""
    numbers = range(1, len(queries) + 1)
    return [query_state([one for one in outcomes if one.number == number]) for number in numbers]


def brief_head(queries: list[str], outcomes: list[Outcome], warnings: list[str]) -> Document:
    """Return a brief's document without its sources."""
    today = utc_day(time.time())
    fresh = {one.number for one in outcomes if not one.from_cache}
    notes = [text for outcome in outcomes for text in outcome.warnings]
    notes += [*(year_warning(query, today) for query in queries), *warnings]
    return {
        "ok": True,
        "provider": "web_search",
        "today": today,
        "queries": states(queries, outcomes),
        "sources": [],
        **drop_empty(
            {
                "from_cache": sorted({one.number for one in outcomes} - fresh),
                "attempts": failed_attempts(outcomes),
                "billed": total_billed(outcomes),
                "warnings": [text for text in dict.fromkeys(notes) if text],
            }
        ),
    }


def fill_brief(
    document: Document, sources: list[Source], queries: list[str], max_chars: int
) -> None:
    """Put sources and their passages into a brief, so that it keeps max_chars (0: no limit).

    The room is shared by rank. If it is too small for a passage of each, the last sources are left
    out, but a question's best source stays as long as there is room for one passage.
    """
    from websearch.pages.passages import fill_texts

    names_engines = any("engines" in state for state in document["queries"])
    document["sources"] = shown = [shown_source(one, names_engines) for one in sources]
    texts = [source.text for source in sources]
    asked = ["\n".join(queries[number - 1] for number in sorted(one.questions)) for one in sources]
    if not max_chars:
        for item, text in zip(shown, texts, strict=True):
            item.update(drop_empty({"text": text}))
    else:
        hint = {"truncated": {"hint": CUT_HINT}}
        marks = len(shown) * len(',"number":20,"text":,"truncated":true')
        room = max_chars - len(dump_json({**document, **hint})) - marks
        while len(shown) > 1 and room < MIN_PASSAGE * len(shown):
            place = last_to_spare(shown)
            room += len(dump_json(shown.pop(place))) + marks // len(sources)
            texts.pop(place)
            asked.pop(place)
        if fill_texts(shown, texts, asked, max(0, room)) or len(shown) < len(sources):
            document |= hint
    for number, item in enumerate(shown, 1):
        shown[number - 1] = {"number": number, **item}


def last_to_spare(shown: list[dict[str, Any]]) -> int:
    """Return the place of the last source that is not the only one of a question, else the last."""
    for place in range(len(shown) - 1, -1, -1):
        others = {
            number for index, one in enumerate(shown) if index != place for number in one["queries"]
        }
        if set(shown[place]["queries"]) <= others:
            return place
    return len(shown) - 1


def shown_source(source: Source, names_engines: bool) -> dict[str, Any]:
    """Return a source as it stands in a document, without its number and text."""
    result = source.result
    shown = {
        "title": result.get("title"),
        "url": result["url"],
        "date": result.get("date"),
        "author": result.get("author"),
        "license": result.get("license"),
        "queries": sorted(source.questions),
        "engines": sorted(source.engines) if names_engines else None,
        "also": source.also,
        "error": source.error,
    }
    if not source.text:
        shown["snippet"] = shorten(result.get("snippet", ""), SNIPPET_CHARS)
    return drop_empty(shown)


# ===== the document for people ====================================================================


def to_markdown(document: Document) -> str:
    """Return a brief as Markdown: the questions, then numbered sources to cite as [1]."""
    questions = [
        f"{number}. {one['query']}" + (f" (failed: {one['error']})" if "error" in one else "")
        for number, one in enumerate(document.get("queries", []), 1)
    ]
    sources = "\n\n".join(map(source_markdown, document.get("sources", [])))
    return frame_markdown(
        document,
        "\n".join(["Questions:", *questions]) if questions else "",
        f"Today is {document['today']}. Cite sources as [1]." if sources else "",
        fence_untrusted(sources) if sources else "",
    )


def source_markdown(source: dict[str, Any]) -> str:
    """Return one source's section: its number, link and date, then its passages."""
    link = markdown_link(str(source.get("title") or source["url"]), source["url"])
    answers = ", ".join(map(str, source["queries"]))
    facts = [source.get(name, "") for name in ("date", "author", "license")]
    facts += [f"questions {answers}", ", ".join(source.get("engines", []))]
    failed = f"(page not read: {source['error']})" if "error" in source else ""
    body = escape_borders(source.get("text") or source.get("snippet") or "")
    blocks = [
        f"[{source['number']}] {link}",
        " · ".join(fact for fact in facts if fact),
        body,
        failed,
    ]
    return "\n\n".join(block for block in blocks if block)
