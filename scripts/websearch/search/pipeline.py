"""Run a search, a brief or a recall: plan -> ask -> rank -> read -> weigh -> show."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace

from websearch.base.durations import seconds_of_duration
from websearch.base.site_rules import OWNER_HINT, left_out_warning, refusing_rule
from websearch.engines.base.ledger import RunBudget
from websearch.engines.base.result_pages import FILTERED_HINT, is_on_asked_site
from websearch.kit import DEFAULT_MAX_CHARS, SearchError, deadline_of, quoted
from websearch.reading.page import Call
from websearch.search.ask import ask
from websearch.search.evidence import Limits, gather_evidence, with_further
from websearch.search.plan import plan
from websearch.search.rank import Source, rank
from websearch.search.read_sources import best_sources, read
from websearch.search.show import failure, show_brief, show_recall, show_search, show_sources
from websearch.store import history
from websearch.store.page_store import PageStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document, ProgressCallback
    from websearch.search.answers import Outcome
    from websearch.search.plan import Question

PAGES_OF_A_QUESTION = 5  # pages read per question in a brief: any of them may contain the answer
SEARCH_SHARE = 0.7  # the engines' share of the remaining time if pages are read afterward
MOST_RECALLED = 100  # pages fetched from the store if the owner's rules exclude some
RANKED_OF_RECALL = 20  # pages ranked by their passages; more would take time and find little


def answer_document(
    params: dict[str, Any],
    report: ProgressCallback,
    caller: str,
    kind: str,
    budget: RunBudget | None = None,
) -> Document:
    """Return the document for a search or a brief, and note it in the history.

    kind: history.SEARCH or history.BRIEF. Raises SearchError or DryRun. budget: see run_search.
    """
    questions = plan(params)
    max_age = seconds_of_duration("ttl", params["ttl"], "30m, 24h or 7d")
    with closing(PageStore()) as store:
        call = Call(
            store=store,
            deadline=deadline_of(params),
            budget=budget or RunBudget(params.get("budget", math.inf)),
            max_age=0.0 if params["force"] else max_age,
            since=params.get("since", ""),
            page_timeout=params["page_timeout"],
            report=report,
            is_dry=bool(params.get("dry_run")),
            verbose=bool(params.get("verbose")),
        )
        document: Document = {}
        try:
            document = searched(questions, params, call)
        except SearchError as error:
            add_recall_hint(error, questions[0].words, store)
            raise
        finally:
            if not call.is_dry:
                history.note(store, caller, kind, params, bool(document))
        return document


def searched(questions: list[Question], params: dict[str, Any], call: Call) -> Document:
    """Return the document for a search, which has one question, or a brief.

    Raises SearchError, or DryRun.
    """
    is_brief, reads_pages = "queries" in params, not params.get("no_pages")
    share = SEARCH_SHARE if reads_pages else 1.0
    asking_ends = call.deadline - (1 - share) * call.time_left()
    outcomes = ask(questions, replace(call, deadline=asking_ends))
    if not any(outcome.answers for outcome in outcomes):
        raise failure(outcomes)
    ranked = rank(outcomes)
    if any(answer.is_stale for outcome in outcomes for answer in outcome.answers):
        call = replace(call, max_age=None, is_offline=True)
    count = PAGES_OF_A_QUESTION * len(questions) if is_brief else params["count"]
    sources = read(ranked, count, call) if reads_pages else best_sources(ranked, count)
    sources = in_period(sources, ranked, outcomes[0], call.since)
    limits = Limits(params.get("max_chars", DEFAULT_MAX_CHARS), call.deadline, params["count"])
    texts = [question.words or question.text for question in questions]

    def show(some: list[Source]) -> Document:
        evidence = gather_evidence(some, texts, limits)
        if is_brief:
            return show_brief(outcomes, evidence, ranked, call.store, limits)
        if reads_pages and some is sources:
            evidence = with_further(evidence, ranked, call, limits)
        return show_search(outcomes[0], evidence, ranked, call.store, limits)

    return show_sources(show, sources, verbose=call.verbose)


def in_period(
    sources: list[Source], ranked: list[Source], outcome: Outcome, since: str
) -> list[Source]:
    """Return the sources that are not outside the period; a warning counts the others in ranked.

    Raises SearchError (no_results) if none is left.
    """
    if left_out := sum(source.is_outside for source in ranked):
        what = "1 page" if left_out == 1 else f"{left_out} pages"
        outcome.warnings.append(f"{what} left out: the page's own date is outside {since}.")
    inside = [source for source in sources if not source.is_outside]
    if sources and not inside:
        raise SearchError("no_results", outcome.warnings[-1], FILTERED_HINT)
    return inside


def add_recall_hint(error: SearchError, query: str, store: PageStore) -> None:
    """Suggest recall in a failed search's hint if stored pages match."""
    is_out_of_reach = error.kind in ("blocked", "network", "timeout", "rate_limit", "quota")
    pages = store.count_pages(query) if is_out_of_reach else 0
    if pages:
        some = f"{pages} stored page{'s contain' if pages > 1 else ' contains'} these words"
        error.hint = f"{error.hint} {some}: use recall.".strip()


def recall(params: dict[str, Any]) -> Document:
    """Return the document for stored pages that match. Raises SearchError (no_results)."""
    deadline = deadline_of(params)
    with closing(PageStore()) as store:
        pages, left_out = recalled_pages(store, params)
        near = [] if pages else store.near_words(params["query"])
    if left_out:
        store.warnings.append(left_out_warning(left_out))
        if not pages:
            raise SearchError("no_results", store.warnings[-1], OWNER_HINT)
    if not pages:
        wider = "Omit site, or search" if "site" in params else "Search"
        hint = f"{wider} the web instead. The store has only web pages, not local files."
        similar = [f"Stored pages contain {', '.join(near)}."] if near else []
        hint = " ".join([*store.warnings, *similar, hint])
        message = f"No stored page contains a word of {quoted(params['query'])}."
        raise SearchError("no_results", message, hint)
    sources = [
        Source(page, questions={1}, text=page["text"], outside=page.get("outside", ""))
        for page in pages
    ]
    limits = Limits(params.get("max_chars", DEFAULT_MAX_CHARS), deadline, params["count"])
    return show_sources(
        lambda some: show_recall(params["query"], some, store.warnings, limits),
        sources,
        verbose=bool(params.get("verbose")),
    )


def recalled_pages(store: PageStore, params: dict[str, Any]) -> tuple[list[dict[str, Any]], int]:
    """Return the matching stored pages that the owner's rules allow, and the number omitted.

    There may be more than count pages, because their passages decide which pages are shown.
    """

    def addresses(page: dict[str, Any]) -> list[str]:
        return [page[name] for name in ("url", "final_url") if page.get(name)]

    def is_asked(url: str) -> bool:
        return is_on_asked_site(url, params)

    count = max(params["count"], RANKED_OF_RECALL)
    for most in (count, MOST_RECALLED):  # the second pass replaces omitted pages
        found = store.recall(params["query"], most, params.get("site", []))
        pages = [page for page in found if any(map(is_asked, addresses(page)))]
        shown = [page for page in pages if not any(map(refusing_rule, addresses(page)))]
        if len(shown) >= count or len(found) < most:
            break
    return shown[:count], len(pages) - len(shown)
