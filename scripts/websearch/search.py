"""One question: an engine's results, the passages of their pages, one document; and the store."""

from __future__ import annotations

import re
import time

from websearch.common import (
    DEFAULT_MAX_CHARS,
    DryRun,
    SearchError,
    drop_empty,
    dump_json,
    fence_untrusted,
    frame_markdown,
    may_fall_back,
    object_field,
    quoted,
    run_operation,
    shorten,
)
from websearch.engines import (
    ENGINES,
    FOCUSES,
    SPELLINGS,
    ask_engine,
    chosen_engines,
    costs_money,
    engine_order,
    focus_sources,
    focused_filters,
    is_storable,
    stand_ins,
)
from websearch.fusion import without_error
from websearch.ledger import budget_warnings, budgets, this_month
from websearch.outcomes import (
    all_warnings,
    answered,
    ask_all,
    failed_attempts,
    failure_details,
    failure_of,
    needs_stand_ins,
    stand_in_note,
    total_billed,
)
from websearch.results import (
    MIN_TIMEOUT,
    SEARCH_SHARE,
    Question,
    answer_question,
    duration,
    error_of,
    storage_key,
    stored_content,
)
from websearch.sources import (
    NO_PAGES_NOTE,
    dated,
    gather_sources,
    parse_day,
    read_sources,
    utc_day,
    year_warning,
)

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Document, ProgressCallback
    from websearch.outcomes import Outcome
    from websearch.store import PageStore

DEFAULT_COUNT = 5  # pages that are read
MAX_COUNT = 20  # Brave's limit; nobody reads more pages than that
PAGE_TIMEOUT = 3.0  # seconds for one page, redirects included
DEFAULT_TTL = "24h"
LEAST_TEXT = 100  # characters of JSON: with less room for its text, the last result is left out
SNIPPET_BESIDE_TEXT = 200  # characters: beside page text, the snippet says little more
NO_LIMIT = 1_000_000_000  # characters: more than all pages of a document have
STALE_HINT = "Name one engine and no focus, or leave out stale."
EXCERPT_HINT = (
    "Texts are the passages that answer; read_page gives a whole page, max_chars 0 all of them."
)

# ===== commands and their parameters ==============================================================

# fmt: off
QUERY: dict[str, Any] = {
    "name": "query", "type": "str", "positional": True, "required": True, "aliases": ["q"],
    "flags": ["-q"], "help": "what to search for",
}
COUNT: dict[str, Any] = {
    "name": "count", "type": "int", "min": 1, "max": MAX_COUNT, "default": DEFAULT_COUNT,
    "flags": ["-n"], "help": "results, 1 to 20 (default: 5)",
}
SITE: dict[str, Any] = {
    "name": "site", "type": "csv",
    "help": "only these sites, for example docs.python.org,github.com",
}
COMMANDS: dict[str, dict[str, Any]] = {
    "search": {
        "help": "search, read the pages found, return the passages that answer",
        "expendable": ("attempts",),
        "params": [
            QUERY,
            COUNT,
            {"name": "force", "type": "bool", "flags": ["-f"], "default": False,
             "help": "ask again, whatever the store holds"},
            {"name": "engine", "type": "csv", "choices": ["auto", "all", *ENGINES],
             "default": ["auto"], "values": SPELLINGS,
             "help": "auto (default) goes on to the next engine if one fails; a named engine "
                     "answers or the call fails; all, or several names: asked at once, fused"},
            {"name": "focus", "type": "str", "choices": list(FOCUSES), "default": "general",
             "help": "sources to ask beside the engine (papers: in place of auto): " + "; ".join(
                 f"{focus}: {', '.join(focus_sources(focus))}" for focus in FOCUSES[1:])},
            {"name": "since", "type": "since",
             "choices": ["hour", "day", "week", "month", "year"],
             "values": {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"},
             "help": "age of pages: hour, day, week, month, year or YYYY-MM-DD..YYYY-MM-DD"},
            {"name": "country", "type": "str",
             "help": "two-letter country of the results, for example us"},
            {"name": "language", "type": "str",
             "help": "language of the results, for example en or pt-br"},
            SITE,
            {"name": "exclude_site", "type": "csv", "help": "none of these sites"},
            {"name": "safe", "type": "str", "choices": ["off", "moderate", "strict"],
             "help": "filter for adult content"},
            {"name": "no_pages", "type": "bool", "help": "results alone; read no page"},
            {"name": "page_timeout", "type": "float", "min": 0.1, "max": 120,
             "default": PAGE_TIMEOUT, "help": "seconds for each page (default: 3)"},
            {"name": "ttl", "type": "str", "default": DEFAULT_TTL,
             "help": "use a stored answer younger than this, such as 30m or 7d (default: 24h)"},
            {"name": "stale", "type": "bool",
             "help": "if no engine answers, use a stored answer of any age"},
        ],
    },
    "recall": {
        "help": "search the pages read before, offline",
        "params": [{**QUERY, "help": "words to look for"}, COUNT, SITE],
        "cannot": dict.fromkeys(
            ("engine", "since", "country", "language", "safe", "exclude_site"),
            "recall asks no engine: it finds pages by their words and by site.",
        ),
    },
    "cache": {
        "help": "stats: what is stored; clear: remove all, or the answers to one query",
        "params": [
            {"name": "action", "type": "str", "choices": ["stats", "clear"], "positional": True,
             "required": True, "help": "stats or clear"},
            {**QUERY, "required": False, "help": "clear only what was found for this query"},
        ],
    },
}
# fmt: on

# ===== one search =================================================================================


def run_search(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search, read the pages found and return the passages that answer. Never raises.

    params: those of COMMANDS["search"], and timeout, max_chars, dry_run, verbose. Returns {ok,
    query, engine, results: [{position, title, url, snippet, date?, text or error}], from_cache,
    fetched_at, attempts, ...}, or an error document whose details may list the attempts.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.store import PageStore

        engines = chosen_engines(params["engine"], params["focus"])
        if len(engines) > 1 and params.get("stale"):
            message = f"stale asks one engine, or auto, not {quoted(', '.join(engines))}."
            raise SearchError("invalid_input", message, STALE_HINT)
        if params.get("dry_run"):
            if len(engines) > 1:
                raise DryRun(planned_requests([params["query"]], engines, params))
            return planned_request({**params, "engine": engines[0]})
        store = PageStore()
        try:
            if len(engines) > 1:
                return fused_search(Question(params, store, report), engines)
            return search(Question({**params, "engine": engines[0]}, store, report))
        finally:
            store.close()

    return run_operation("web_search.search", COMMANDS["search"], params, operation)


def planned_requests(
    queries: list[str], engines: list[str], params: dict[str, Any]
) -> dict[str, Any]:
    """Return the first request of each question to each engine, and which of them cost money.

    {requests: [{query, engine, method, url, ...} or {query, engine, error}], billed: {engine:
    requests}}. Raises SearchError if no request can be sent.
    """
    requests: list[dict[str, Any]] = []
    billed: dict[str, int] = {}
    failures: list[SearchError] = []
    for query in queries:
        for engine in engines:
            document = planned_request({**params, "query": query, "engine": engine})
            planned = {"query": query, "engine": document.get("engine", engine)}
            if not document["ok"]:
                failures.append(error_of(document))
            for name, number in document.get("billed", {}).items():
                billed[name] = billed.get(name, 0) + number
            requests.append(
                {**planned, **document.get("request", {"error": document.get("error")})}
            )
    if len(failures) == len(requests):
        raise failures[0]
    return {"requests": requests, **drop_empty({"billed": billed})}


def planned_request(params: dict[str, Any]) -> Document:
    """Return what a dry run shows: the request of the first engine that can do what is asked."""
    duration("ttl", params["ttl"])
    order = engine_order(params["engine"])
    asked = {**params, **focused_filters(params, params["engine"])}
    documents = [(engine, ask_engine(engine, asked)) for engine in order]
    engine, document = next((one for one in documents if one[1]["ok"]), documents[0])
    if not document["ok"]:
        return document
    billed = {engine: 1} if costs_money(engine) else {}
    return {**document, "engine": engine, **drop_empty({"billed": billed})}


def search(question: Question) -> Document:
    """Return the document of a question; raises SearchError if no engine answers.

    With stale, a stored answer of any age stands in for an engine that does not answer; else open
    sources stand in for auto.
    """
    try:
        return answer_question(question, complete_answer)
    except SearchError as error:
        if may_fall_back(error.kind):
            order = engine_order(question.params["engine"])
            keys = (storage_key(engine, question.params) for engine in order)
            stored = next(filter(None, (stored_content(question, key, None) for key in keys)), None)
            if stored and question.params.get("stale"):
                return stale_answer(question, stored, error)
            if stored:
                hint = f"An answer of {stored['fetched_at']} is stored: stale gives it."
                error.details["hint"] = f"{error.details['hint']} {hint}".strip()
                question.warnings.append(hint)
            if document := stand_in_answer(question, error):
                return document
        notes = {"warnings": question.store.warnings, "billed": question.billed}
        error.details |= drop_empty(notes)
        raise


def fused_search(question: Question, engines: list[str]) -> Document:
    """Return the results of several engines, asked at the same time, as one ranking.

    Raises SearchError if no engine answers.
    """
    outcomes = ask_engines(question, engines)
    if not answered(outcomes):
        error = failure_of(outcomes)
        error.details |= failure_details(outcomes)
        raise error
    question.billed = total_billed(outcomes)
    return fused_answer(question, outcomes)


def stand_in_answer(question: Question, error: SearchError) -> Document | None:
    """Return the answer of the sources that stand in for auto after its error, or None.

    If no stand-in answers, the error stays and lists them: they do not hold the web.
    """
    if not needs_stand_ins(question.params["engine"], error):
        return None
    outcomes = ask_engines(question, stand_ins())
    if answered(outcomes):
        question.warnings.append(stand_in_note(outcomes))
        return fused_answer(question, outcomes)
    failures = [*question.failures, *((one.engine, one.error) for one in outcomes if one.error)]
    error.details["attempts"] = [{"engine": name, "kind": fault.kind} for name, fault in failures]
    return None


def ask_engines(question: Question, engines: list[str]) -> list[Outcome]:
    """Ask several engines at the same time, so that time is left to read the pages."""
    share = SEARCH_SHARE if question.reads_pages else 1.0
    asked = {**question.params, "timeout": max(MIN_TIMEOUT, question.time_left() * share)}
    return ask_all([question.params["query"]], engines, asked, question.report)


def fused_answer(question: Question, outcomes: list[Outcome]) -> Document:
    """Return the document of what several engines have answered."""
    params, good = question.params, answered(outcomes)
    sources = gather_sources(question, outcomes, params["count"])
    question.warnings += all_warnings(outcomes)
    document = {
        "ok": True,
        "provider": "web_search",
        "today": utc_day(time.time()),
        "query": params["query"],
        "engines": [outcome.content["engine"] for outcome in good],
        "results": [
            {
                **without_error(source.result),
                "position": position,
                "engines": sorted(source.engines),
                **drop_empty({"also": source.also, "error": source.error}),
            }
            for position, source in enumerate(sources, 1)
        ],
        "from_cache": all(one.from_cache for one in good) and not question.fetched_pages,
        "fetched_at": min(outcome.content["fetched_at"] for outcome in good),
        **drop_empty({"attempts": failed_attempts(outcomes)}),
    }
    document = with_notes(question, document)
    texts = {source.result["url"]: source.text for source in sources}
    fill_results(document, texts, question.max_chars)
    return document


def complete_answer(question: Question, key: str, content: Document, from_cache: bool) -> Document:
    """Return the document of an answer: its pages are read, and it is stored if it is whole.

    A page that failed for good (404, a wall) is part of a whole answer; a page that may work the
    next time is not. A finished document of the same size is stored with the answer and used again.
    """
    size = {"count": question.params["count"], "max_chars": question.max_chars}
    finished = object_field(content, "document")
    if from_cache and question.reads_pages and size.items() <= finished.items():
        document = {**answer_head(question, content, True), **finished["fields"]}
        return with_notes(question, document)
    document = answer_head(question, content, from_cache)
    is_whole = True
    texts: dict[str, str] = {}
    if question.reads_pages:
        wanted = content["results"][: question.params["count"]]
        pages, errors, fetched = read_sources(question, wanted)
        texts = {url: page["text"] for url, page in pages.items()}
        document["from_cache"] = from_cache and not fetched
        is_whole = not any(error.get("retryable") for error in errors.values())
        for stored in wanted:
            if stored["url"] in errors:
                stored["error"] = errors[stored["url"]]["message"]
        document["results"] = with_pages(wanted, pages)
        if errors and not texts:
            question.warnings.append(NO_PAGES_NOTE)
    document = with_notes(question, document)
    if question.reads_pages:
        fill_results(document, texts, question.max_chars)
        fields = {name: document[name] for name in ("results", "truncated") if name in document}
        content["document"] = {**size, "fields": fields}
    if is_storable(content["engine"]) and not is_whole:
        question.unstored = {**content, "is_partial": True}
    elif is_storable(content["engine"]) and "is_partial" not in content:
        question.store.put_answer(key, content)
    return document


def with_pages(
    results: list[dict[str, Any]], pages: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return results with their dates settled by their pages; a page that was read has no error."""
    today = utc_day(time.time())
    found = [dated(item, pages.get(item["url"], {}), today) for item in results]
    for item in found:
        if item["url"] in pages:
            item.pop("error", None)
    return found


def stale_answer(question: Question, content: Document, reason: SearchError) -> Document:
    """Return the document of a stored answer of any age, marked stale; nothing is fetched."""
    question.warnings.append(f"From an earlier search, because now: {reason.message}")
    document = with_notes(question, {**answer_head(question, content, True), "stale": True})
    if question.reads_pages:
        pages = question.store.get_pages(content["urls"], None)
        document["results"] = with_pages(document["results"], pages)
        texts = {url: page["text"] for url, page in pages.items()}
        fill_results(document, texts, question.max_chars)
    return document


def answer_head(question: Question, content: Document, from_cache: bool) -> Document:
    """Return the document of an answer without page texts: as many results as are wanted."""
    return {
        "ok": True,
        "provider": "web_search",
        "today": utc_day(time.time()),
        "query": content["query"],
        "engine": content["engine"],
        "results": list(map(without_error, content["results"][: question.params["count"]])),
        "from_cache": from_cache,
        "fetched_at": content["fetched_at"],
    }


def with_notes(question: Question, document: Document) -> Document:
    """Return a document with its question's attempts and warnings, each warning once."""
    attempts = [*question.attempts(), *document.get("attempts", [])]
    if "engine" in document and not document["from_cache"] and "stale" not in document:
        attempts.append({"engine": document["engine"]})
    warnings = [*question.warnings, year_warning(document["query"], document["today"])]
    warnings += budget_warnings(question.billed, question.store)
    notes = {
        "attempts": attempts,
        "warnings": [text for text in dict.fromkeys([*warnings, *question.store.warnings]) if text],
        "billed": question.billed,
    }
    return {**document, **drop_empty(notes)}


def fill_results(document: Document, texts: dict[str, str], max_chars: int) -> None:
    """Put page texts (by URL) into a document's results, within max_chars (0: no limit).

    A text that was cut is marked truncated; the document then says how to get the rest.
    """
    from websearch.pages.budget import fill_texts

    results, limit = document["results"], max_chars or NO_LIMIT
    for item in results:
        if "snippet" in item and texts.get(item["url"]):
            item["snippet"] = shorten(item["snippet"], SNIPPET_BESIDE_TEXT)

    def read() -> list[Document]:
        return [item for item in results if texts.get(item["url"])]

    def room() -> int:
        return limit - len(dump_json(document)) - len(read()) * len(',"text":,"truncated":true')

    count = len(results)
    document["truncated"] = {"hint": EXCERPT_HINT}  # its room is kept free
    while len(results) > 1 and room() < LEAST_TEXT * len(read()):
        results.pop()
        document["truncated"]["items_dropped"] = {"results": count - len(results)}
    wanted = [texts[item["url"]] for item in read()]
    is_cut = fill_texts(read(), wanted, [document["query"]] * len(wanted), max(0, room()))
    if not is_cut and len(results) == count:
        del document["truncated"]


# ===== the other commands =========================================================================


def run_recall(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search the pages that were read before, offline. Never raises.

    params: those of COMMANDS["recall"]. Returns {ok, query, today, results: [{position, title,
    url, date?, fetched_at, text}]}.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.store import PageStore, utc_time

        store = PageStore()
        try:
            pages = store.recall(params["query"], params["count"], params.get("site", []))
        finally:
            store.close()
        if not pages:
            wider = "Leave out site, or search" if "site" in params else "Search"
            hint = f"{wider} the web instead: every page that a search reads is stored."
            message = f"No page that was read before holds a word of {quoted(params['query'])}."
            raise SearchError("no_results", message, hint, warnings=store.warnings)
        today = utc_day(time.time())
        document: Document = {
            "ok": True,
            "provider": "web_search",
            "query": params["query"],
            "today": today,
            "results": [
                {
                    "position": place,
                    **drop_empty({"title": page["title"]}),
                    "url": page["url"],
                    **drop_empty({"date": parse_day(page["published"], today)}),
                    "fetched_at": utc_time(page["fetched_at"]),
                }
                for place, page in enumerate(pages, 1)
            ],
            **drop_empty({"warnings": store.warnings}),
        }
        texts = {page["url"]: page["text"] for page in pages}
        fill_results(document, texts, params.get("max_chars", DEFAULT_MAX_CHARS))
        return document

    return run_operation("web_search.recall", COMMANDS["recall"], params, operation)


def run_cache(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Tell what the store holds (action stats) or remove it (action clear). Never raises.

    Returns {ok, action, ...}: the store's stats and the spending, or how many answers and pages
    were removed.
    With dry_run, clear removes nothing.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.store import PageStore

        query, clears = params.get("query", ""), params["action"] == "clear"
        if query and not clears:
            raise SearchError("invalid_input", "stats takes no query.", "Leave query out.")
        store = PageStore()
        if clears and params.get("dry_run"):
            raise DryRun(drop_empty({"action": "clear", "query": query, "path": store.path}))
        try:
            found = store.clear(query) if clears else {**store.stats(), **spending(store)}
        finally:
            store.close()
        if clears and store.warnings:
            hint = "The action stats shows the file; GLSI_DB_PATH names another one."
            message = f"Nothing was cleared. {store.warnings[0]}"
            raise SearchError("invalid_input", message, hint)
        head = {"ok": True, "provider": "web_search", "action": params["action"]}
        notes = drop_empty({"query": query, "warnings": store.warnings})
        return {**head, **notes, **found}

    return run_operation("web_search.cache", COMMANDS["cache"], params, operation)


def spending(store: PageStore) -> dict[str, Any]:
    """Return spent (month -> engine -> requests) and budgets (engine -> requests), if any."""
    spent, limits = store.spent(this_month()), {}
    try:
        limits = budgets()
    except SearchError as error:
        store.warnings.append(error.message)
    return drop_empty({"spent": {this_month(): spent} if spent else {}, "budgets": limits})


RUN: dict[str, Callable[..., Document]] = {
    "search": run_search,
    "recall": run_recall,
    "cache": run_cache,
}

# ===== the document for people and for other scripts ==============================================


def as_results(document: Document) -> list[dict[str, Any]]:
    """Return a document's results as [{title, url, snippet, date?, author?, license?}]."""
    names = ("title", "url", "snippet", "date", "author", "license")
    return [
        {
            "title": item["url"],
            "snippet": "",
            **{name: item[name] for name in names if name in item},
        }
        for item in document.get("results") or []
    ]


def escape_borders(text: str) -> str:
    """Return page text in which no line looks like a border between two pages."""
    border = r"(?m)\n(?=[ \t]*(?:##[ \t]+\S*://|-{3,}[ \t]*$))"  # \n, for which re looks quickly
    return re.sub(border, r"\n\\", f"\n{text}")[1:]


def consolidated_text(document: Document) -> str:
    """Return the page texts of a document as one: "## URL", text, and "---" between two pages."""
    sections = [
        f"## {item['url']}\n\n{escape_borders(item['text'])}"
        for item in document.get("results", [])
        if item.get("text")
    ]
    return "\n\n---\n\n".join(sections)


def to_markdown(document: Document) -> str:
    """Return a document as Markdown for a person or a model, text from the web fenced."""
    if "action" in document:
        return cache_markdown(document)
    if "request" in document and "billed" in document:
        return f"{frame_markdown(document)}\n\nThis costs money: {', '.join(document['billed'])}."
    sections = "\n\n---\n\n".join(map(result_markdown, document.get("results", [])))
    facts = [
        f"Results from {document['engine']}" if "engine" in document else "",
        f"Results from {', '.join(document['engines'])}" if "engines" in document else "",
        f"fetched {document['fetched_at']}" if "fetched_at" in document else "",
        "from the store" if document.get("from_cache") else "",
        "out of date" if document.get("stale") else "",
        f"today is {document['today']}" if "today" in document else "",
    ]
    return frame_markdown(
        {**document, "query": ""},  # the reader has just asked it
        ", ".join(fact for fact in facts if fact),
        fence_untrusted(sections) if sections else "",
    )


def result_markdown(item: dict[str, Any]) -> str:
    """Return one result's section: its URL, title and date, then its text or snippet."""
    title = " ".join(str(item.get("title", "")).split())
    date = item.get("date") or item.get("fetched_at") or ""
    facts = [f"**{title}**" if title else "", date, item.get("author", ""), item.get("license", "")]
    facts.append(", ".join(item.get("engines", [])))
    facts.append(f"archived {item['archived']}" if "archived" in item else "")
    body = escape_borders(item.get("text") or item.get("snippet") or "")
    failed = f"(page not read: {item['error']})" if "error" in item else ""
    blocks = [f"## {item['url']}", " · ".join(fact for fact in facts if fact), body, failed]
    return "\n\n".join(block for block in blocks if block)


def cache_markdown(document: Document) -> str:
    """Return what `cache` did or found as Markdown."""
    left_out = ("ok", "provider", "action", "warnings")
    facts = [
        f"- {name}: {dump_json(value) if isinstance(value, dict) else value}"
        for name, value in document.items()
        if name not in left_out
    ]
    title = "Removed from the cache:" if document["action"] == "clear" else "The cache:"
    return "\n".join([*(f"> {text}" for text in document.get("warnings", [])), title, *facts])
