"""Show sources as the document of a search, a brief or a recall, within its budget."""

from __future__ import annotations

import time
from dataclasses import dataclass

from websearch.common import SearchError, drop_empty, dump_json, shorten, spell
from websearch.ledger import budget_warnings
from websearch.search.answers import (
    all_warnings,
    answered,
    failed_attempts,
    failure_of,
    total_billed,
)
from websearch.search.dates import utc_day, year_warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.common import Document
    from websearch.search.answers import Answer
    from websearch.search.plan import Question
    from websearch.search.rank import Source
    from websearch.store import PageStore

# Of a result, in a brief. final_url: only if a redirect has led to another host.
SOURCE_FIELDS = ("final_url", "date", "changed", "author", "license", "archived", "archived_url")
RESULT_FIELDS = ("title", "url", "snippet", *SOURCE_FIELDS)
TITLE_CHARS = 200  # of a source; longer titles are lists of search words
SNIPPET_CHARS = 300  # of a source whose page could not be read
# Characters of JSON: with less room for the text of each, the last result or source is left out.
LEAST_TEXT = {"results": 100, "sources": 250}
MIN_ROOM = 40  # characters of JSON for all texts together: less room is not used
HIGHEST_NUMBER = 20  # of a source, whose width is kept free until sources are numbered
MAX_LATENESS = 1.0  # seconds after the deadline in which texts are still ranked
NO_LIMIT = 1_000_000_000  # characters: more than all pages of a document have
NO_PAGES_NOTE = "No page could be read: results and snippets only."
CUT_HINTS = {
    "results": (
        "Texts are the passages that answer; read_page gives a whole page. A larger {max_chars} "
        "shows more."
    ),
    "sources": "Texts are the passages that answer; read_page gives a whole page.",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a document is shown within: characters (0: any number), and a deadline for its texts.

    deadline: on time.monotonic()'s clock.
    """

    max_chars: int
    deadline: float


# ===== documents ==================================================================================


def show_search(
    answers: list[Answer], sources: list[Source], store: PageStore, limits: Limits
) -> Document:
    """Return the document of one question: its results with the passages of their pages."""
    question, good = answers[0].question, answered(answers)
    several, engines = len(answers) > 1, [answer.engine for answer in good]
    document: Document = {
        "ok": True,
        "provider": "web_search",
        "today": utc_day(time.time()),
        **({"engines": engines} if several else {"engine": engines[0]}),
        "results": [shown_result(source, several) for source in sources],
        **notes([question], answers, sources, store),
    }
    if "attempts" in document and not several:
        document["attempts"].append({"engine": engines[0]})
    if are_stored(good, sources):
        fetched_at = min(answer.fetched_at for answer in good)
        document |= {"from_cache": True, "fetched_at": fetched_at}
    if good[0].is_stale:
        document["stale"] = True
    fill_texts_in(document, sources, [question.text], limits)
    return document


def show_brief(
    answers: list[Answer], sources: list[Source], store: PageStore, limits: Limits
) -> Document:
    """Return the document of several questions: what became of each, and numbered sources."""
    questions = questions_of(answers)
    queries = query_outcomes(answers)
    fresh = {answer.number for answer in answers if not answer.from_cache}
    stored = sorted({question.number for question in questions} - fresh)
    names_engines = any("engines" in query for query in queries)
    document: Document = {
        "ok": True,
        "provider": "web_search",
        "today": utc_day(time.time()),
        "queries": queries,
        "sources": [shown_source(source, names_engines) for source in sources],
        **drop_empty({"from_cache": stored}),
        **notes(questions, answers, sources, store),
    }
    texts = [question.text for question in questions]
    fill_texts_in(document, sources, texts, limits)
    for number, source in enumerate(document["sources"], 1):
        source["number"] = number
    return document


def failure(answers: list[Answer], is_brief: bool) -> SearchError:
    """Return the error of a call in which no question was answered: that of its first question."""
    error = failure_of([answer for answer in answers if answer.number == 1])
    queries = query_outcomes(answers) if is_brief else []
    billed, warnings = total_billed(answers), all_warnings(answers)
    error.details |= drop_empty({"queries": queries, "warnings": warnings, "billed": billed})
    return error


# ===== what documents say =========================================================================


def questions_of(answers: list[Answer]) -> list[Question]:
    """Return the questions of answers, each once."""
    return list({answer.number: answer.question for answer in answers}.values())


def are_stored(answers: list[Answer], sources: list[Source]) -> bool:
    """Return whether answers and pages cost no request."""
    fetched = any(source.is_fetched for source in sources)
    return not fetched and all(answer.from_cache for answer in answers)


def notes(
    questions: list[Question], answers: list[Answer], sources: list[Source], store: PageStore
) -> dict[str, Any]:
    """Return attempts, warnings and billed, as far as there is something to say."""
    billed, today = total_billed(answers), utc_day(time.time())
    warnings = all_warnings(answers)
    warnings += [text for source in sources for text in source.warnings]
    if any(source.error for source in sources) and not any(source.text for source in sources):
        warnings.append(NO_PAGES_NOTE)
    warnings += [year_warning(question.text, today) for question in questions]
    warnings += [*budget_warnings(billed, store), *store.warnings]
    return drop_empty(
        {
            "attempts": failed_attempts(answers),
            "warnings": [text for text in dict.fromkeys(warnings) if text],
            "billed": billed,
        }
    )


def query_outcomes(answers: list[Answer]) -> list[dict[str, Any]]:
    """Return what became of each question: {query, engine or engines, found} or error and kind."""
    outcomes = []
    for question in questions_of(answers):
        of_question = [answer for answer in answers if answer.number == question.number]
        good = answered(of_question)
        outcome: dict[str, Any] = {"query": question.text}
        if good:
            engines = [answer.engine for answer in good]
            several = len(of_question) > 1
            outcome |= {"engines": engines} if several else {"engine": engines[0]}
            outcome["found"] = sum(len(answer.results) for answer in good)
        else:
            error = failure_of(of_question)
            outcome |= {"error": error.message, "kind": error.kind}
        outcomes.append(outcome)
    return outcomes


def shown_result(source: Source, names_engines: bool) -> dict[str, Any]:
    """Return a source as a result of a search, without its text, which replaces the snippet."""
    result = {name: source.result.get(name) for name in RESULT_FIELDS}
    if source.text:
        del result["snippet"]
    facts = {
        "engines": sorted(source.engines) if names_engines else None,
        "also": source.also,
        "error": source.error,
    }
    return drop_empty({**result, **facts})


def shown_source(source: Source, names_engines: bool) -> dict[str, Any]:
    """Return a source of a brief, without its text; its number comes later."""
    result = source.result
    return drop_empty(
        {
            "number": HIGHEST_NUMBER,
            "title": shorten(result.get("title", ""), TITLE_CHARS),
            "url": result["url"],
            **{name: result.get(name) for name in SOURCE_FIELDS},
            "queries": sorted(source.questions),
            "engines": sorted(source.engines) if names_engines else None,
            "also": source.also,
            "error": source.error,
            "snippet": "" if source.text else shorten(result.get("snippet", ""), SNIPPET_CHARS),
        }
    )


# ===== texts within the budget ====================================================================


def fill_texts_in(
    document: Document, sources: list[Source], queries: list[str], limits: Limits
) -> None:
    """Put the texts of sources into a document's results or sources, within its limits.

    The room is shared by rank. If it is too small for a passage of each text, the attempts go
    first, then the last items; the only source of a question goes last. A text that was cut is
    marked truncated; the document then says how to get the rest.
    """
    from websearch.pages.budget import fill_texts

    name = "sources" if "sources" in document else "results"
    least = LEAST_TEXT[name]
    items: list[dict[str, Any]] = document[name]
    shown, limit = list(sources), limits.max_chars or NO_LIMIT
    cut: dict[str, Any] = {"hint": spell(CUT_HINTS[name])}
    document["truncated"] = cut  # its room is kept free

    def room() -> int:
        """Return the characters that are left for texts."""
        return limit - len(dump_json(document)) - with_text() * len(',"text":,"truncated":true')

    def with_text() -> int:
        return sum(bool(source.text) for source in shown)

    if room() < least * with_text() and document.pop("attempts", None):
        cut["left_out"] = ["attempts"]
    while len(items) > 1 and room() < least * with_text():
        index = last_to_spare(shown)
        del items[index], shown[index]
        cut["items_dropped"] = {name: len(sources) - len(shown)}
    read = [pair for pair in zip(items, shown, strict=True) if pair[1].text]
    holders = [item for item, _ in read]
    texts = [source.text for _, source in read]
    asked = [
        "\n".join(queries[number - 1] for number in sorted(source.questions)) for _, source in read
    ]
    rank_until = limits.deadline + MAX_LATENESS
    # With less than MIN_ROOM, one item is left, and what stands beside it takes the room.
    is_cut = bool(read) and (
        room() < MIN_ROOM or fill_texts(holders, texts, asked, room(), rank_until)
    )
    for item, source in read:
        if source.is_cut:
            item["truncated"] = is_cut = True
        if "text" not in item:  # no passage answers: the engine's snippet says more
            snippet = shorten(str(source.result.get("snippet") or ""), SNIPPET_CHARS)
            if room() > len(dump_json(snippet)):
                item.update(drop_empty({"snippet": snippet}))
    if not is_cut and len(cut) == 1:
        del document["truncated"]


def last_to_spare(sources: list[Source]) -> int:
    """Return the index of the last source that is not the only one of a question, else the last."""
    for index in range(len(sources) - 1, -1, -1):
        others = [source.questions for number, source in enumerate(sources) if number != index]
        if sources[index].questions <= set().union(*others):
            return index
    return len(sources) - 1
