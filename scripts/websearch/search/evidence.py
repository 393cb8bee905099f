"""Measure how well the pages read answer the questions, and find words that no page has."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from urllib.parse import urlsplit

from websearch.base.calls import result_or_error
from websearch.kit import SearchError, one_line
from websearch.markdown.units import PageText, without_title
from websearch.passages.excerpts import (
    BEST_PLACES,
    answered_share,
    excerpts_of,
    held_shares,
    rank_pages,
)
from websearch.passages.selection import is_entry, telling_part
from websearch.passages.terms import misses_the_point
from websearch.reading.pages_document import searched_lengths
from websearch.search.read_sources import LEAST_SECONDS, merge_same_texts, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.markdown.units import Piece
    from websearch.passages.ranking import Scores
    from websearch.passages.selection import Excerpt
    from websearch.reading.page import Call
    from websearch.search.rank import Source

MAX_LATENESS = 1.0  # seconds after the deadline during which texts are still ranked
MAX_MISSING = 5  # words listed as missing from all pages
# Minimum share of a question's words in one passage of a page that answers it. The share is lower
# for one in ten questions whose page was read, and for half of those whose page was not.
ANSWERING_SHARE = 0.6
LEAST_ANSWER = 0.5  # minimum share of the best unit's score for a unit that also answers a question
LINE_CHARS = 120  # characters about a page without an answer
LEAST_OF_LINE = 0.5  # minimum share of a question's words in them
FURTHER_PAGES = 5  # additional pages read if no page answers


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits for a document: characters (0: no limit), time and sources.

    deadline: for its texts, on time.monotonic()'s clock. count: the maximum number of sources in a
    brief or recall.
    """

    max_chars: int
    deadline: float
    count: int = 0


@dataclass(slots=True)
class Evidence:
    """Sources, the texts of their pages, and how well each unit answers each question.

    queries: the questions. scores: for each question, the scores of each page. missing: for each
    question, the words that no page has; [] if a page was not searched completely.
    """

    sources: list[Source]
    queries: list[str]
    pages: list[PageText]
    scores: list[Scores]
    missing: list[list[str]]

    def keep(self, indexes: list[int]) -> None:
        """Keep only the sources at these indexes, in this order."""
        self.sources = [self.sources[index] for index in indexes]
        self.pages = [self.pages[index] for index in indexes]
        self.scores = [[of_question[index] for index in indexes] for of_question in self.scores]

    def strengths(self) -> list[list[float]]:
        """Return, for each question, how well the best unit of each source answers it."""
        return [
            [max(of_page, default=0.0) for of_page in of_question] for of_question in self.scores
        ]

    def best(self) -> list[float]:
        """Return how well each source's best unit answers any question; 0 if nothing is ranked."""
        bests = [max(of_source) for of_source in zip(*self.strengths(), strict=True)]
        return bests or [0.0] * len(self.sources)

    def strong_units(self, index: int, least: float) -> list[Piece]:
        """Return a source's units that score at least this much for some question."""
        scores = zip(*(of_question[index] for of_question in self.scores), strict=True)
        return [
            unit
            for unit, own in zip(self.pages[index].units, scores, strict=True)
            if max(own) >= least
        ]

    def line(self, index: int) -> str:
        """Return a line of a source's page with at least half of a question's words, or ""."""
        for query, of_question in zip(self.queries, self.scores, strict=False):
            page = self.pages[index]
            pairs = zip(of_question[index], page.units, strict=True)
            best = heapq.nlargest(BEST_PLACES, pairs, key=lambda pair: pair[0])
            texts = [one_line(page.of(unit), 10 * LINE_CHARS) for score, unit in best if score]
            lines = [
                text if len(text) <= LINE_CHARS else telling_part(text, LINE_CHARS, query, len)
                for text in texts
            ]
            shares = held_shares(lines, query)
            if max(shares, default=0.0) >= LEAST_OF_LINE:
                return lines[shares.index(max(shares))]
        return ""

    def answered_by(self, index: int, excerpt: Excerpt | None) -> list[int]:
        """Return the numbers of the questions that the shown text of a source answers.

        They include questions whose passages were chosen for another question. excerpt: None if
        the whole text is shown.
        """
        if not excerpt:
            return sorted(self.sources[index].questions)
        units = self.pages[index].units
        return [
            number
            for number, of_question in enumerate(self.scores, 1)
            if number - 1 in excerpt.questions
            or any(
                score >= LEAST_ANSWER and unit.index in excerpt.shown
                for unit, score in zip(units, of_question[index], strict=True)
            )
        ]

    def has_entry(self, question: str) -> bool:
        """Return whether a page's title or heading contains a symbol from a question."""
        headings = (
            words
            for page in self.pages
            for words in (page.title, *(piece.words for piece in page.pieces if piece.words))
        )
        return any(is_entry(words, question) for words in headings)

    def excerpts(self, room: int) -> list[Excerpt]:
        """Return the excerpts that answer, one per source, within room characters of JSON."""
        return excerpts_of(self.pages, self.queries, self.scores, room, self.missing)


def gather_evidence(sources: list[Source], queries: list[str], limits: Limits) -> Evidence:
    """Return the sources with ranked pages; set is_cut for pages not searched completely."""
    return weigh(sources, page_texts(sources, limits), queries, limits)


def page_texts(sources: list[Source], limits: Limits) -> list[PageText]:
    """Return the part of each source's page that can be searched; set is_cut if it is not all."""
    titles = [str(source.result.get("title", "")) for source in sources]
    texts = [
        without_title(source.text, title) for source, title in zip(sources, titles, strict=True)
    ]
    lengths = [len(text) for text in texts]
    if limits.max_chars:
        lengths = searched_lengths(texts, limits.deadline)
    pages = []
    for source, title, text, length in zip(sources, titles, texts, lengths, strict=True):
        # Only the URL of a page that was read is certainly valid.
        host = urlsplit(str(source.result["url"])).hostname if text else ""
        outside = source.outside if limits.max_chars else ""
        page = PageText(text[:length], title, outside, host or "")
        source.is_cut = source.is_cut or len(page.text) < len(text)
        pages.append(page)
    return pages


def weigh(
    sources: list[Source], pages: list[PageText], queries: list[str], limits: Limits
) -> Evidence:
    """Return the sources with their pages, ranked together."""
    found = [
        [index for index, source in enumerate(sources) if number in source.questions]
        for number, _ in enumerate(queries, 1)
    ]
    limit = limits.deadline + MAX_LATENESS
    scores, missing = rank_pages(pages, queries, found, limit) if limits.max_chars else ([], [])
    for own, words in zip(found, missing, strict=False):
        # A page that was not searched completely may contain these words.
        if any(sources[index].is_cut for index in own):
            words.clear()
    return Evidence([*sources], queries, pages, scores, missing)


def answers_poorly(evidence: Evidence) -> bool:
    """Return whether no page seems to answer the call's only question."""
    if not evidence.scores:
        return False
    (question,) = evidence.queries
    texts = [page.text for page in evidence.pages]
    if misses_the_point(question, evidence.missing[0], texts):
        return True
    share = answered_share(evidence.pages, question, evidence.scores[0])
    return share < ANSWERING_SHARE


def with_further(evidence: Evidence, ranked: list[Source], call: Call, limits: Limits) -> Evidence:
    """Return the evidence for a question; if no page answers yet, add the pages of more results.

    ranked: all results. This is tried once, in the remaining time. If a bug occurs on these pages,
    the evidence is returned unchanged.
    """
    was_read = {url for one in evidence.sources for url in (one.result["url"], *one.also)}
    was_read |= {one.result["url"] for one in ranked if one.error or one.is_outside}
    further = [one for one in ranked if one.result["url"] not in was_read]
    if not (further and call.time_left() > LEAST_SECONDS and answers_poorly(evidence)):
        return evidence
    more = result_or_error(read_further, evidence, further, call, limits, verbose=call.verbose)
    return evidence if isinstance(more, SearchError) else more


def read_further(evidence: Evidence, further: list[Source], call: Call, limits: Limits) -> Evidence:
    """Return evidence with the best of the old and new sources; their number does not change.

    further: results to read; results whose pages cannot be read are dropped.
    """
    others = [source for source in read(further, FURTHER_PAGES, call) if source.text]
    merged = merge_same_texts([*evidence.sources, *others])
    new = page_texts(merged[len(evidence.sources) :], limits)
    both = weigh(merged, [*evidence.pages, *new], evidence.queries, limits)
    best = both.best()
    in_order = sorted(range(len(merged)), key=lambda index: -best[index])
    both.keep(sorted(in_order[: len(evidence.sources)]))
    warnings = [text for source in merged for text in source.warnings]
    both.sources[0].warnings = list(dict.fromkeys(warnings))  # also the warnings of dropped pages
    return both


def missing_notes(sources: list[Source], missing: list[list[str]]) -> list[str]:
    """Return a sentence for each question with words that no page contains.

    missing: these words, for each question. A question for which no page was read gets no sentence.
    Snippets do not count: they may come from a menu or an older version of a page.
    """
    notes = []
    for number, words in enumerate(missing, 1):
        own = [source for source in sources if number in source.questions]
        read = sum(bool(source.text) for source in own)
        if not (words and read):
            continue
        pages = f"{read} page{'s' * (read > 1)} read"
        of_query = f" for query {number}" if len(missing) > 1 else ""
        notes.append(f"Not in the {pages}{of_query}: {', '.join(words[:MAX_MISSING])}.")
    return notes
