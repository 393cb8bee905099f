"""One search at an engine that is a module of this package: its result pages as one document.

With a key, requests go out at once and are tried again as every API's are. Without one, each waits
for its turn in the engine's pace, which all processes share.
"""

from __future__ import annotations

from websearch.apis.pacing import PacedEngine
from websearch.apis.result_pages import canonical_url, on_asked_sites, other_sites_warning
from websearch.apis.table import ENGINES, check_filters, has_key, load_module
from websearch.core.common import DryRun, SearchError, drop_empty, error_document
from websearch.core.documents import deadline_of
from websearch.core.http_client import exchange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.apis.messages import EngineRequest, ResultPage
    from websearch.core.common import Document, ProgressCallback
    from websearch.core.http_client import Response

    ReadAnswer = Callable[[EngineRequest, Response], ResultPage]

JSON_IS_OFF = (
    "This SearXNG has JSON switched off, so its HTML page was read: add json to search.formats in "
    "its settings.yml."
)
RESULT_FIELDS = ("title", "url", "snippet", "date", "author", "license", "text")


class KeyedEngine:
    """Sends the requests of one call to one engine that has a key.

    deadline: on time.monotonic()'s clock.
    """

    def __init__(self, engine: str, deadline: float) -> None:
        self.engine, self.deadline = engine, deadline

    def fetch(self, request: EngineRequest, read: ReadAnswer) -> ResultPage:
        """Send a request; return what read(request, response) makes of the answer.

        Faults and rate limits are waited out within the deadline. Raises SearchError.
        """
        pages: list[ResultPage] = []

        def error_in(response: Response) -> SearchError | None:
            try:
                pages.append(read(request, response))
            except SearchError as error:
                return error
            return None

        exchange(request.for_http(), self.deadline, error_in)
        return pages[-1]


def search_engine(
    name: str,
    params: dict[str, Any],
    report: ProgressCallback = None,
    turn: PacedEngine | None = None,
) -> Document:
    """Return the document of a search; raises SearchError, or DryRun with the first request.

    params: query, count, filters, timeout, dry_run. turn: the engine's, if the caller
    has waited for it.
    """
    check_filters(name, params)
    most = ENGINES[name]["max_count"]
    wanted, params = params["count"], {**params, "count": min(params["count"], most)}
    request = load_module(name).first_request(params)
    if params.get("dry_run"):
        raise DryRun(request.without_key())
    engine: PacedEngine | KeyedEngine
    if turn:
        engine, warnings = turn, turn.warnings
    elif has_key(name):
        engine, warnings = KeyedEngine(name, deadline_of(params)), []
    else:
        warnings = []
        engine = PacedEngine(name, deadline_of(params), warnings, report)
    if request.warning:
        warnings.append(request.warning)
    if wanted > most:
        warnings.append(f"{ENGINES[name]['title']} gives at most {most} results.")
    try:
        pages, failure = fetch_result_pages(engine, params, request, report)
    except SearchError as error:
        error.details["warnings"] = warnings
        raise
    return results_document(name, params, pages, warnings, failure)


def fetch_result_pages(
    engine: PacedEngine | KeyedEngine,
    params: dict[str, Any],
    request: EngineRequest,
    report: ProgressCallback,
) -> tuple[list[ResultPage], SearchError | None]:
    """Return the result pages that hold the wanted results, and the error that ended them early.

    Ends when a result page brings nothing new; requests that the first one holds (if_empty, also)
    are sent first. Raises SearchError if the first one fails.
    """
    module = load_module(engine.engine)
    pages: list[ResultPage] = []
    following: EngineRequest | None = request
    total = 0
    while following:
        request = following
        try:
            pages.append(engine.fetch(request, module.read_answer))
        except SearchError as error:
            if not pages:
                raise
            return pages, error
        results = on_asked_sites(engine.engine, merged_results(pages), params)
        before, total = total, len(results)
        following = request.also
        if not pages[-1].results and request.if_empty:
            following = request.if_empty
        if not following and before < total < params["count"] and hasattr(module, "next_request"):
            following = module.next_request(params, request, pages[-1], len(pages) + 1)
        if following and report:
            report(f"{ENGINES[engine.engine]['title']}: results", total, params["count"])
    return pages, None


def merged_results(result_pages: list[ResultPage]) -> list[dict[str, Any]]:
    """Return the results of all result pages, each page of the web once.

    A result page goes on with the ranking of the one before. One of another kind (is_beside) has a
    ranking of its own: the first of each kind come first.
    """
    ranked: list[tuple[int, dict[str, Any]]] = []
    before = 0  # results of the same ranking
    for result_page in result_pages:
        before = 0 if result_page.is_beside else before
        ranked += enumerate(result_page.results, before)
        before += len(result_page.results)
    results: dict[str, dict[str, Any]] = {}
    for _, result in sorted(ranked, key=lambda pair: pair[0]):
        results.setdefault(canonical_url(result["url"]), drop_empty(result))
    return list(results.values())


def results_document(
    name: str,
    params: dict[str, Any],
    result_pages: list[ResultPage],
    warnings: list[str],
    failure: SearchError | None,
) -> Document:
    """Return the document of result pages; nothing found is an error of its own kind.

    failure: the error that kept a further result page from coming.
    """
    merged = merged_results(result_pages)
    asked = on_asked_sites(name, merged, params)
    results = asked[: params["count"]]
    if len(asked) < len(merged):
        warnings.append(other_sites_warning(name, len(merged) - len(asked)))
    if any(result_page.is_html for result_page in result_pages):
        warnings.append(JSON_IS_OFF)
    if failure:
        text = f"Only {len(results)} of {params['count']} results: {failure.message}"
        warnings.append(f"{text} {failure.details['hint']}".strip())
    first = result_pages[0]
    document = drop_empty(
        {
            "ok": True,
            "provider": name,
            "results": results,
            "answers": first.answers,
            "suggestions": first.suggestions,
            "unresponsive_engines": first.unresponsive_engines,
            "credits": sum(result_page.credits for result_page in result_pages) or None,
            "warnings": warnings,
        }
    )
    if not results:
        message = f"{ENGINES[name]['title']} found nothing"
        if merged:
            message += f" on the asked sites: {len(merged)} results are of others"
        hint = "Use fewer or more general words, or drop filters."
        document |= error_document(SearchError("no_results", message, hint))
    return document


def as_results(document: Document) -> list[dict[str, Any]]:
    """Return a document's results as [{title, url, snippet, date?, author?, license?, text?}]."""
    return [
        {"snippet": "", **{name: item[name] for name in RESULT_FIELDS if name in item}}
        for item in document.get("results") or []
    ]
