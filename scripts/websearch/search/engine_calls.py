"""Send one question to one engine in the table: a module of this package, or a separate script.

An unsupported question is refused when the call is created, before anything waits for it. With a
key, requests are sent at once and retried like those to any API. Without a key, each request waits
for its turn, because all processes share the engine's pace.
"""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass, field

from websearch.base.calls import result_or_error
from websearch.base.http_client import exchange
from websearch.engines.base.engine import FILTERS
from websearch.engines.base.filters import site_filter
from websearch.engines.base.pacing import present_state
from websearch.engines.base.result_pages import (
    FILTERED_HINT,
    canonical_url,
    on_asked_sites,
    other_sites_warning,
    with_address,
)
from websearch.engines.base.turns import PacedEngine, note_outcome
from websearch.engines.table import ENGINES, load_module
from websearch.kit import MIN_TIMEOUT, SearchError, drop_empty, error_document, log_operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.engines.base.messages import EngineRequest, ResultPage
    from websearch.kit import Document, ProgressCallback, Response

    ReadAnswer = Callable[[EngineRequest, Response], ResultPage]

JSON_IS_OFF = (
    "JSON is disabled on this SearXNG, so its HTML page was read: add json to search.formats in "
    "its settings.yml."
)
RESULT_FIELDS = ("title", "url", "snippet", "date", "age", "author", "license", "text")


@dataclass(slots=True, kw_only=True)
class Reply:
    """The outcome of a call: results or an error, and the cost.

    results: [{title, url, snippet, date?, author?, license?, file_type?, text?}]; author and
    license if the source's terms require them, text if the provider returned the page's text.
    further: results beyond the requested count, in the same response. credits: the number that the
    provider charged; None if not reported. next_offset: the offset of a script's next result page;
    0 if there is none.
    """

    results: list[dict[str, Any]] = field(default_factory=list)
    error: SearchError | None = None
    warnings: list[str] = field(default_factory=list)
    credits: float | None = None
    next_offset: int = 0
    answers: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    unresponsive_engines: list[dict[str, str]] = field(default_factory=list)
    further: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class EngineCall:
    """One question to one engine.

    params: query, count, filters, verbose, focus (news); others are ignored. deadline: on
    time.monotonic()'s clock. Creating it raises SearchError if the engine does not support the
    question.
    """

    name: str
    params: dict[str, Any]
    deadline: float
    report: ProgressCallback = None

    def __post_init__(self) -> None:
        """Keep only engine parameters; limit the count to the engine's maximum."""
        passed = ("query", "count", "verbose", *FILTERS)
        self.is_news = self.params.get("focus") == "news"
        self.params = {key: self.params[key] for key in passed if key in self.params}
        self.wanted = self.params["count"]
        self.engine = ENGINES[self.name]
        self.filters = dict(self.params)  # for the results, which must match sites' paths
        if self.engine.hosts_only:
            self.params = with_hosts(self.params)
        self.params["count"] = min(self.wanted, self.engine.max_count)
        self.pages = 1  # requests that send() may make; a budget may allow fewer

    def planned_request(self) -> dict[str, Any]:
        """Return the first request for a dry run, without its key. Raises SearchError."""
        raise NotImplementedError

    def wait_for_turn(self) -> bool:
        """Wait until the engine accepts a request; return whether this took time.

        Raises SearchError, for example if the engine is paused.
        """
        present_state(self.name).check_rest(self.name)
        return False

    def give_back(self) -> None:
        """End a turn without a request."""

    def send(self) -> Reply:
        """Query the engine; a failure becomes part of the reply."""
        raise NotImplementedError


def with_hosts(params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters without paths in site, and without exclude_site entries that have a path.

    Raises SearchError (invalid_input).
    """
    names = [name for name in ("site", "exclude_site") if name in params]
    sites: dict[str, Any] = {
        name: [site_filter(name, site) for site in params[name]] for name in names
    }
    if "site" in sites:
        hosts = [site.partition("/")[0] for site in sites["site"]]
        sites["site"] = list(dict.fromkeys(hosts))
    if "exclude_site" in sites:
        sites["exclude_site"] = [site for site in sites["exclude_site"] if "/" not in site]
    return drop_empty({**params, **sites})


def engine_call(name: str, params: dict[str, Any], deadline: float) -> EngineCall:
    """Return the call to an engine in the table. Raises SearchError."""
    return (ScriptCall if ENGINES[name].function else ModuleCall)(name, params, deadline)


def planned_request(name: str, params: dict[str, Any]) -> dict[str, Any] | SearchError:
    """Return the first request to an engine for a dry run, or the error that prevents it."""
    try:
        return engine_call(name, params, math.inf).planned_request()
    except SearchError as error:
        return error


# ===== engines with their own script ==============================================================


class ScriptCall(EngineCall):
    """A question to an engine that has its own script, which returns a document."""

    def __post_init__(self) -> None:
        """Count the result pages that the question needs. Raises SearchError."""
        super().__post_init__()
        self.pages = self.engine.requests_for(self.wanted)

    def ask_script(self, **options: Any) -> Document:
        """Return the document from the script's function."""
        engine, module = self.engine, load_module(self.name)
        search = getattr(module, engine.news if self.is_news else engine.function)
        fixed = {} if self.is_news else engine.params
        asked = {**self.params, **fixed, **options, "max_chars": 0}
        document: Document = search(asked, self.report)
        return document

    def planned_request(self) -> dict[str, Any]:
        """Return the request from the script's dry run. Raises SearchError."""
        document = self.ask_script(dry_run=True)
        if not document["ok"]:
            raise error_from_document(document)
        request: dict[str, Any] = document["request"]
        return request

    def send(self) -> Reply:
        """Call the script once per result page; build the reply from the script's documents."""
        reply = page = self.ask_page()
        pages = 1
        for number in range(1, self.engine.requests_for(self.wanted)):
            if reply.error or not page.next_offset:
                break
            if number >= self.pages:
                text = f"Only {len(reply.results)} of {self.wanted} results: no budget for more."
                reply.warnings.append(text)
                break
            page = self.ask_page(offset=page.next_offset)
            reply.warnings += [text for text in page.warnings if text not in reply.warnings]
            pages += page.error is None or page.error.kind in ("no_results", "timeout")
            if page.error:
                text = f"Only {len(reply.results)} of {self.wanted} results: {page.error.message}"
                reply.warnings.append(text)
                break
            known = {canonical_url(result["url"]) for result in reply.results}
            reply.results += [
                item for item in page.results if canonical_url(item["url"]) not in known
            ]
        if pages > 1 and reply.credits is None:
            reply.credits = pages  # counted in the ledger by the script
        return reply

    def ask_page(self, **options: Any) -> Reply:
        """Return the reply from one call to the script."""
        started = time.monotonic()
        document = self.ask_script(timeout=max(MIN_TIMEOUT, self.deadline - started), **options)
        error = None if document["ok"] else error_from_document(document)
        note_outcome(self.name, error, time.monotonic() - started)
        return Reply(
            results=[] if error else load_module(self.name).as_results(document),
            error=error,
            warnings=document.get("warnings", []),
            credits=document.get("credits"),
            next_offset=document.get("next_offset", 0),
        )


def error_from_document(document: Document) -> SearchError:
    """Return the error in a script's error document."""
    details = dict(document["details"])
    kind, hint = details.pop("kind"), details.pop("hint", "")
    return SearchError(kind, document["error"], hint, **details)


# ===== engines that are modules of this package ===================================================


class ModuleCall(EngineCall):
    """A question to an engine that is a module of this package."""

    def __post_init__(self) -> None:
        """Check the filters and create the first request. Raises SearchError."""
        super().__post_init__()
        self.engine.check_filters(self.params)
        self.request: EngineRequest = load_module(self.name).first_request(self.params)
        self.warnings = [self.request.warning] if self.request.warning else []
        if self.wanted > self.params["count"]:
            self.warnings.append(
                f"{self.engine.title} returns at most {self.params['count']} results."
            )

    @functools.cached_property
    def turns(self) -> PacedEngine | None:
        """The call's turns; None with a key. Raises SearchError."""
        if self.engine.has_key():
            return None
        return PacedEngine(self.name, self.deadline, self.warnings, self.report)

    def planned_request(self) -> dict[str, Any]:
        """Return the first request, which already exists."""
        return self.request.without_key()

    def wait_for_turn(self) -> bool:
        if not self.turns:
            return super().wait_for_turn()
        self.turns.take_turn()
        return self.turns.has_waited

    def give_back(self) -> None:
        if self.turns:
            self.turns.give_back()

    def send(self) -> Reply:
        """Query the engine and log the operation; a failure becomes part of the reply."""
        started = time.monotonic()
        verbose = bool(self.params.get("verbose"))
        answer: Reply | SearchError = result_or_error(self.ask, verbose=verbose)
        if isinstance(answer, SearchError):
            answer = Reply(error=answer, warnings=self.warnings)
        reply = answer
        if self.engine.has_key():
            note_outcome(self.name, reply.error, time.monotonic() - started)
        logged: Document = {"ok": True, "results": reply.results}
        logged = error_document(reply.error) if reply.error else logged
        log_operation(f"{self.name}.search", self.params, logged)
        return reply

    def ask(self) -> Reply:
        """Return the reply from the result pages. Raises SearchError if the first page fails.

        Without a key, requests wait for their turn.
        """
        fetch = self.turns.fetch if self.turns else self.fetch_at_once
        pages, failure = self.fetch_result_pages(fetch)
        merged = merged_results(pages)
        asked = on_asked_sites(self.engine, merged, self.filters)
        results = asked[: self.params["count"]]
        warnings = self.warnings
        others = [result for result in merged if result not in asked]
        if others and results:
            warnings.append(other_sites_warning(self.engine, others))
        if any(page.is_html for page in pages):
            warnings.append(JSON_IS_OFF)
        if failure:
            text = f"Only {len(results)} of {self.params['count']} results: {failure.message}"
            warnings.append(f"{text} {failure.hint}".strip())
        return Reply(
            results=results,
            error=None if results else self.nothing_found(others),
            warnings=warnings,
            credits=sum(page.credits for page in pages) or None,
            answers=[*pages[0].answers],
            suggestions=[*pages[0].suggestions],
            unresponsive_engines=[*pages[0].unresponsive_engines],
            further=asked[len(results) :],
        )

    def nothing_found(self, others: list[dict[str, Any]]) -> SearchError:
        """Return the error for result pages whose results, if any, are all from the wrong sites."""
        if others:
            message = other_sites_warning(self.engine, others)
            return SearchError("no_results", message, FILTERED_HINT)
        message = f"{self.engine.title} found nothing"
        hint = "Use fewer or more general words, or drop filters."
        return SearchError("no_results", message, hint)

    def fetch_at_once(self, request: EngineRequest, read: ReadAnswer) -> ResultPage:
        """Send a request with a key; return read(request, response).

        Failures and rate limits are retried within the deadline. Raises SearchError.
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

    def fetch_result_pages(
        self, fetch: Callable[[EngineRequest, ReadAnswer], ResultPage]
    ) -> tuple[list[ResultPage], SearchError | None]:
        """Return the result pages with the requested results, and any error that ended the reading.

        Stops at a result page without new results, after sending any if_empty and also
        requests. Raises SearchError if the first request fails.
        """
        module, count = load_module(self.name), self.params["count"]
        pages: list[ResultPage] = []
        following: EngineRequest | None = self.request
        total = 0
        while following:
            request = following
            try:
                page = fetch(request, module.read_answer)
            except SearchError as error:
                if not pages:
                    raise
                return pages, error
            pages.append(page._replace(results=with_address(page.results)))
            results = on_asked_sites(self.engine, merged_results(pages), self.filters)
            before, total = total, len(results)
            following = request.also
            if not pages[-1].results and request.if_empty:
                following = request.if_empty
            if not following and before < total < count and hasattr(module, "next_request"):
                following = module.next_request(self.params, request, pages[-1], len(pages) + 1)
            if following and self.report:
                self.report(f"{self.engine.title}: results", total, count)
        return pages, None


def merged_results(result_pages: list[ResultPage]) -> list[dict[str, Any]]:
    """Return the results from all result pages, each URL once.

    A result page continues the previous page's ranking. A page of another kind (is_beside) starts
    its own ranking; the rankings are interleaved.
    """
    ranked: list[tuple[int, dict[str, Any]]] = []
    before = 0  # number of earlier results in the same ranking
    for result_page in result_pages:
        before = 0 if result_page.is_beside else before
        ranked += enumerate(result_page.results, before)
        before += len(result_page.results)
    results: dict[str, dict[str, Any]] = {}
    for _, result in sorted(ranked, key=lambda pair: pair[0]):
        results.setdefault(canonical_url(result["url"]), drop_empty(result))
    return list(results.values())
