"""Rank the results of all answers by reciprocal rank; each URL becomes one source."""

from __future__ import annotations

from dataclasses import dataclass, field

from websearch.base.site_rules import OWNER_HINT, left_out_warning, refusing_rule
from websearch.kit import SearchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.search.answers import Outcome

# Cormack, Clarke and Büttcher (2009) chose 60 for reciprocal rank fusion; later work kept it.
RANK_CONSTANT = 60


@dataclass(slots=True, eq=False)
class Source:
    """A source: a result, the numbers of its questions, its engines and its page.

    text: the page's text. outside: see reading.page.Page. shingles: see read_sources.shingles.
    is_cut: the text is not the whole page. error: why the page could not be read. also: other URLs
    with the same text. is_fetched: the page came from the web, not from the store. is_outside: the
    page's own date is not in the period of the call.
    """

    result: dict[str, Any]
    questions: set[int] = field(default_factory=set)
    engines: set[str] = field(default_factory=set)
    score: float = 0.0
    best_rank: int = 0  # best rank in any list, from 1
    text: str = ""
    outside: str = ""
    shingles: frozenset[int] = frozenset()
    is_cut: bool = False
    error: str = ""
    also: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    is_fetched: bool = False
    is_outside: bool = False


def rank(outcomes: list[Outcome]) -> list[Source]:
    """Return the sources in outcomes, best first, without reading their pages.

    A source scores the sum of 1 / (RANK_CONSTANT + rank) over the answers that contain it; a URL
    counts once per answer. Equal scores keep the order of the answers, so a single answer keeps its
    order. If several answers contain a URL, the result with the best rank wins; fields that it
    lacks (such as a date) come from the others. News are sorted by their moment, latest first.

    URLs whose host is unclear are omitted, and those that the owner's rules refuse: a warning
    counts these. Raises SearchError (no_results) if the rules allow none.
    """
    from websearch.base.site_rules import has_unclear_host
    from websearch.engines.base.result_pages import canonical_url  # takes 10 ms to import

    sources: dict[str, Source] = {}
    for outcome in outcomes:
        for answer in outcome.answers:
            seen: set[str] = set()
            for position, result in enumerate(answer.results, 1):
                address = canonical_url(result["url"])
                if address in seen or has_unclear_host(result["url"]):
                    continue
                seen.add(address)
                source = sources.setdefault(address, Source(result, best_rank=position))
                source.questions.add(answer.number)
                source.engines.add(answer.engine)
                source.score += 1 / (RANK_CONSTANT + position)
                if position < source.best_rank:
                    source.best_rank = position
                    source.result = {**source.result, **result}
                else:
                    source.result = {**result, **source.result}
    ranked = sorted(sources.values(), key=lambda source: -source.score)
    if outcomes[0].question.focus == "news":
        ranked.sort(key=moment_of, reverse=True)
    return within_rules(ranked, outcomes)


def moment_of(source: Source) -> str:
    """Return when a source was published, in ISO 8601; "" if that is unknown."""
    return str(source.result.get("moment") or source.result.get("date", ""))


def within_rules(sources: list[Source], outcomes: list[Outcome]) -> list[Source]:
    """Return the sources that the owner's rules allow; a warning counts the others.

    Raises SearchError (no_results) if the rules allow none.
    """
    shown = [source for source in sources if not refusing_rule(source.result["url"])]
    if left_out := len(sources) - len(shown):
        text = left_out_warning(left_out)
        if not shown:
            raise SearchError("no_results", text, OWNER_HINT)
        outcomes[0].warnings.append(text)
    return shown
