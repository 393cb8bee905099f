"""Rank the results of several answers by reciprocal rank: one address is one source."""

from __future__ import annotations

from dataclasses import dataclass, field

from websearch.search.answers import answered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.search.answers import Answer

# Cormack, Clarke and Büttcher (2009) chose 60 for reciprocal rank fusion; later work kept it.
RANK_CONSTANT = 60


@dataclass(slots=True, eq=False)
class Source:
    """One source: a result, the numbers of the questions that it answers, its engines, its page.

    text: of the page; outside: see reading.page.Page; shingles: see read.shingles. is_cut: the text
    is not the whole page. error: why the page could not be read. also: other addresses of the same
    text. is_fetched: the page was asked for, not in the store.
    """

    result: dict[str, Any]
    questions: set[int] = field(default_factory=set)
    engines: set[str] = field(default_factory=set)
    score: float = 0.0
    best_rank: int = 0  # from 1, in any list
    text: str = ""
    outside: str = ""
    shingles: frozenset[int] = frozenset()
    is_cut: bool = False
    error: str = ""
    also: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    is_fetched: bool = False


def rank(answers: list[Answer]) -> list[Source]:
    """Return the sources in answers, the best first, nothing read yet.

    A source scores the sum of 1 / (RANK_CONSTANT + rank) over the answers that contain it; a URL
    counts once in each. Equal scores keep the order of the answers, so one list keeps its order.
    URLs whose host is unclear are omitted. The result is that of the best rank, with the fields
    that only others have (such as a date).
    """
    from websearch.base.site_rules import has_unclear_host
    from websearch.engines.base.result_pages import canonical_url  # 10 ms, for what has been found

    sources: dict[str, Source] = {}
    for answer in answered(answers):
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
    return sorted(sources.values(), key=lambda source: -source.score)
