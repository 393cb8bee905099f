"""The keyless engines as one command: result pages at an engine's pace, in one document."""

from __future__ import annotations

from websearch.common import (
    DryRun,
    SearchError,
    deadline_of,
    drop_empty,
    error_document,
    frame_markdown,
    markdown_link,
    run_operation,
)
from websearch.engines import ENGINES, SPELLINGS, check_filters, keyless_engines, load_module
from websearch.engines.pacing import PacedEngine
from websearch.engines.result_pages import canonical_url
from websearch.http_client import KEY_HEADERS

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Document, ProgressCallback

DEFAULT_COUNT = 10
MAX_COUNT = 50  # five pages: more draws DuckDuckGo's challenge, and nobody reads further
JSON_IS_OFF = (
    "This SearXNG has JSON switched off, so its HTML page was read: add json to search.formats in "
    "its settings.yml."
)

# ===== commands and their parameters ==============================================================

# fmt: off
COMMANDS: dict[str, dict[str, Any]] = {
    "search": {
        "help": "web pages, from an engine that needs no key",
        "expendable": ("suggestions", "answers", "unresponsive_engines"),
        "params": [
            {"name": "query", "type": "str", "positional": True, "required": True,
             "aliases": ["q"], "help": "what to search for"},
            {"name": "engine", "type": "str", "choices": keyless_engines(),
             "default": "duckduckgo", "values": SPELLINGS,
             "help": "engine to ask (default: duckduckgo); it answers or the call fails"},
            {"name": "count", "type": "int", "min": 1, "max": MAX_COUNT, "default": DEFAULT_COUNT,
             "flags": ["-n"], "help": "results, 1 to 50 (default: 10); each further page is one "
                                      "more request"},
            {"name": "since", "type": "since",
             "choices": ["hour", "day", "week", "month", "year"],
             "values": {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"},
             "help": "age of pages: hour, day, week, month, year or YYYY-MM-DD..YYYY-MM-DD; a "
                     "filter that the engine lacks is refused"},
            {"name": "country", "type": "str",
             "help": "two-letter country of the results, for example us"},
            {"name": "language", "type": "str",
             "help": "language of the results, for example en or pt-br"},
            {"name": "site", "type": "csv",
             "help": "only these sites, for example docs.python.org,github.com; stackexchange: "
                     "one of its sites; github: an owner or repository"},
            {"name": "exclude_site", "type": "csv", "help": "none of these sites"},
            {"name": "safe", "type": "str", "choices": ["off", "moderate", "strict"],
             "help": "filter for adult content"},
        ],
        "cannot": {"page": "Ask for more results in one call: count 30."},
    },
}
# fmt: on

# ===== one search =================================================================================


def run_search(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search with one engine; return the document of its results. Never raises.

    params: those of COMMANDS["search"], and timeout, max_chars, dry_run, verbose.
    """

    def operation(params: dict[str, Any]) -> Document:
        name = params["engine"]
        check_filters(name, params)
        request = load_module(name).first_request(params)
        warnings = [request["warning"]] if "warning" in request else []
        if params.get("dry_run"):
            raise DryRun(shown_request(request))
        engine = PacedEngine(name, deadline_of(params), warnings, report)
        try:
            result_pages, failure = fetch_result_pages(engine, params, request)
        except SearchError as error:
            error.details["warnings"] = warnings
            raise
        return results_document(params, result_pages, warnings, failure)

    return run_operation("keyless.search", COMMANDS["search"], params, operation)


def shown_request(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request as a dry run shows it, without a key."""
    headers = {k: v for k, v in request["headers"].items() if k.lower() not in KEY_HEADERS}
    shown = {"method": request["method"], "url": request["url"], "headers": headers}
    return {**shown, "body": request["body"].decode()} if "body" in request else shown


def fetch_result_pages(
    engine: PacedEngine, params: dict[str, Any], request: dict[str, Any]
) -> tuple[list[dict[str, Any]], SearchError | None]:
    """Return the result pages that hold the wanted results, and the error that ended them early.

    Ends when a result page brings nothing new; requests that the first one holds (if_empty, also)
    are sent first. Raises SearchError if the first one fails.
    """
    next_request = getattr(load_module(engine.engine), "next_request", lambda *_: None)
    read_answer = load_module(engine.engine).read_answer
    pages: list[dict[str, Any]] = []
    following: dict[str, Any] | None = request
    found = 0
    while following:
        request = following
        try:
            pages.append(engine.fetch(request, read_answer))
        except SearchError as error:
            if not pages:
                raise
            return pages, error
        before, found = found, len(merged_results(pages))
        names = ["also"] if pages[-1]["results"] else ["if_empty", "also"]
        following = next((request[name] for name in names if name in request), None)
        if not following and before < found < params["count"]:
            following = next_request(params, request, pages[-1], len(pages) + 1)
        if following and engine.report:
            engine.report(f"{ENGINES[engine.engine]['title']}: results", found, params["count"])
    return pages, None


def merged_results(result_pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the results of all result pages, each page of the web once.

    A result page goes on with the ranking of the one before. One of another kind (is_beside) has a
    ranking of its own: the first of each kind come first.
    """
    ranked: list[tuple[int, dict[str, Any]]] = []
    before = 0  # results of the same ranking
    for result_page in result_pages:
        before = 0 if result_page.get("is_beside") else before
        ranked += enumerate(result_page["results"], before)
        before += len(result_page["results"])
    results: dict[str, dict[str, Any]] = {}
    for _, result in sorted(ranked, key=lambda one: one[0]):
        results.setdefault(canonical_url(result["url"]), drop_empty(result))
    return list(results.values())


def results_document(
    params: dict[str, Any],
    result_pages: list[dict[str, Any]],
    warnings: list[str],
    failure: SearchError | None,
) -> Document:
    """Return the document of result pages; nothing found is an error of its own kind.

    failure: the error that kept a further result page from coming.
    """
    found = merged_results(result_pages)[: params["count"]]
    if any(result_page.get("is_html") for result_page in result_pages):
        warnings.append(JSON_IS_OFF)
    if failure:
        text = f"Only {len(found)} of {params['count']} results: {failure.message}"
        warnings.append(f"{text} {failure.details['hint']}".strip())
    first = result_pages[0]
    document = drop_empty(
        {
            "ok": True,
            "provider": params["engine"],
            "query": params["query"],
            "results": [{"position": place, **item} for place, item in enumerate(found, 1)],
            "answers": first.get("answers"),
            "suggestions": first.get("suggestions"),
            "unresponsive_engines": first.get("unresponsive_engines"),
            "warnings": warnings,
        }
    )
    if not found:
        message = f"{ENGINES[params['engine']]['title']} found nothing"
        hint = "Use fewer or more general words, or drop filters."
        document |= error_document(SearchError("no_results", message, hint))
    return document


RUN: dict[str, Callable[..., Document]] = {"search": run_search}

# ===== the document for people and for other scripts ==============================================


def as_results(document: Document) -> list[dict[str, Any]]:
    """Return a document's results as [{title, url, snippet, date?, author?, license?}]."""
    names = ("title", "url", "snippet", "date", "author", "license")
    return [
        {"snippet": "", **{name: item[name] for name in names if name in item}}
        for item in document.get("results") or []
    ]


def to_markdown(document: Document) -> str:
    """Return a document as Markdown for a person or a model."""
    failed = document.get("unresponsive_engines", [])
    return frame_markdown(
        document,
        *(f"## Answer\n\n{answer}" for answer in document.get("answers", [])),
        "\n".join(map(result_markdown, document.get("results", []))),
        labelled("Suggestions", document.get("suggestions", [])),
        labelled("Engines that failed", [f"{one['engine']} ({one['reason']})" for one in failed]),
    )


def labelled(label: str, texts: list[str]) -> str:
    """Return "label: a, b", or "" if there are no texts."""
    return f"{label}: {', '.join(texts)}" if texts else ""


def result_markdown(item: dict[str, Any]) -> str:
    """Return a result as a numbered list entry: linked title, date, snippet."""
    title = f"{item['title']} [{item['file_type']}]" if "file_type" in item else item["title"]
    line = f"{item['position']}. {markdown_link(title, item['url'])}"
    facts = [item[name] for name in ("date", "author", "license") if name in item]
    line = " · ".join([line, *facts])
    return f"{line}\n   {item['snippet']}" if "snippet" in item else line
