"""Show sources as the document of a search, brief or recall, within its budget."""

from __future__ import annotations

import re
import time

from websearch.base.calls import is_bug, result_or_error
from websearch.engines.base.days import dates_of, utc_day
from websearch.engines.base.ledger import budget_warnings
from websearch.kit import SearchError, drop_empty, dump_json, refused_keys, shorten
from websearch.markdown.units import PageText
from websearch.passages.excerpts import excerpt_text
from websearch.passages.selection import MOST_CUT, cut_sections, json_size
from websearch.passages.terms import misses_the_point
from websearch.search.answers import facts_of
from websearch.search.evidence import MAX_MISSING, gather_evidence, missing_notes
from websearch.search.plan import year_warning
from websearch.search.read_sources import SNIPPET_CHARS, author_of, best_sources, set_aside
from websearch.search.versions import has_version, version_of
from websearch.store.page_store import utc_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from websearch.kit import Document
    from websearch.markdown.units import PageText
    from websearch.passages.selection import Excerpt
    from websearch.search.answers import Outcome
    from websearch.search.evidence import Evidence, Limits
    from websearch.search.plan import Question
    from websearch.search.rank import Source
    from websearch.store.page_store import PageStore

# Fields of a result that a brief shows. final_url: only after a redirect to a different host.
SOURCE_FIELDS = (
    "final_url", "date", "age", "changed", "author", "license", "archived", "archived_url",
)  # fmt: skip
RESULT_FIELDS = ("title", "url", "snippet", *SOURCE_FIELDS)
TITLE_CHARS = 200  # characters per source; a longer title is a list of search words
LEAST_TEXT = 250  # characters of JSON per text; with less space, an item is omitted
MIN_ROOM = 40  # characters of JSON for all texts together; less space stays empty
HIGHEST_NUMBER = 20  # placeholder that reserves the width of a source's number
NO_LIMIT = 1_000_000_000  # characters; more than all pages in a document have
NO_PAGES_NOTE = "No page could be read: results and snippets only."
LEFT_OUT_HINT = "A larger {max_chars} shows more."
# In a question: 9.58, 1,250,000 or 2024, but not in COVID-19 or bm25, and not part of a date.
_NUMBER = (
    r"(?<![^\W\d_]-)(?<![A-Za-z\d_])(?:(?<![\d.,])\d{1,9}(?:\.\d{1,9}|,\d{1,3}|(?:[.,]\d{3}){2,3})(?![.,]?\d)"
    r"|\d{2,9})(?!-[^\W\d_])"
)
_YEAR = r"(?:1\d|20)\d\d"
# Characters reserved per page for the names of cut sections, and the maximum share of the space
# (1/20) that they take in total.
CUT_CHARS, CUT_SHARE = 60, 20
# Minimum share of the best unit's score for which a cut section is named.
LEAST_CUT_STRENGTH = 0.5
TEXT_FIELDS = ',"text":"","truncated":true,"chars":999999'  # the JSON around a text


# ===== documents ==================================================================================


def show_sources(
    show: Callable[[list[Source]], Document], sources: list[Source], *, verbose: bool
) -> Document:
    """Return the document that show makes from sources.

    A source whose text triggers a bug is reduced to a snippet, with a warning; the others are shown
    as usual. verbose: see result_or_error.
    """
    document: Document | SearchError = result_or_error(show, sources, verbose=verbose)
    if is_bug(document):
        for source in sources:
            if is_bug(error := result_or_error(show, [source])):
                set_aside(source, error)
        document = result_or_error(show, sources)
    if isinstance(document, SearchError):
        if not is_bug(document):
            raise document
        for source in sources:  # the bug needs several sources
            set_aside(source, document)
        return show(sources)
    return document


def show_search(
    outcome: Outcome, evidence: Evidence, ranked: list[Source], store: PageStore, limits: Limits
) -> Document:
    """Return the document for one question: its results, with passages from their pages.

    ranked: all sources; the document names those that could not be read and are not shown. Pages
    about the version that the question names come first.
    """
    question, several = outcome.question, outcome.is_merged
    asked = [has_version(source, question.words) or False for source in evidence.sources]
    evidence.keep(sorted(range(len(asked)), key=lambda index: not asked[index]))
    sources = evidence.sources
    document: Document = {
        "ok": True,
        "provider": "web_search",
        "today": utc_day(time.time()),
        **named_engines(outcome),
        "results": [shown_result(source, [question], several) for source in sources],
        **notes([outcome], evidence, ranked, store),
    }
    if "attempts" in document and not several:
        document["attempts"].append({"engine": outcome.engines[0]})
    if not (outcome.needed_request or any(source.is_fetched for source in sources)):
        fetched_at = min(answer.fetched_at for answer in outcome.answers)
        document |= {"from_cache": True, "fetched_at": fetched_at}
    if outcome.answers[0].is_stale:
        document["stale"] = True
    fill_texts_in(document, evidence, limits)
    return document


def show_brief(
    outcomes: list[Outcome],
    evidence: Evidence,
    ranked: list[Source],
    store: PageStore,
    limits: Limits,
) -> Document:
    """Return the document for several questions: the outcome of each, and numbered sources.

    keep_those_that_answer chooses the sources. The queries of a source with a text are the
    questions that the text answers. A query is unanswered if no text answers it and no page is
    about a symbol in it. ranked: as in show_search.
    """
    questions = [outcome.question for outcome in outcomes]
    queries = query_outcomes(outcomes)
    with_entry = [query for query in queries if evidence.has_entry(query["query"])]
    keep_those_that_answer(evidence, limits)
    texts = [page.text for page in evidence.pages]
    for query, words in zip(queries, evidence.missing, strict=False):
        if misses_the_point(query["query"], words, texts):
            query["missing"] = words[:MAX_MISSING]
    stored = [one.question.number for one in outcomes if not one.needed_request]
    names_engines = any("engines" in query for query in queries)
    document: Document = {
        "ok": True,
        "provider": "web_search",
        "today": utc_day(time.time()),
        "queries": queries,
        "sources": [shown_source(source, questions, names_engines) for source in evidence.sources],
        **drop_empty({"from_cache": stored}),
        **notes(outcomes, evidence, ranked, store),
    }
    fill_texts_in(document, evidence, limits)
    items = document["sources"]
    for number, item in enumerate(items, 1):
        item["number"] = number
    keep_telling_numbers(items, questions)
    answered = {number for item in items if "text" in item for number in item["queries"]}
    for number, query in enumerate(queries, 1):
        if not ("error" in query or number in answered or query in with_entry):
            query["unanswered"] = True
    return document


def keep_telling_numbers(items: list[dict[str, Any]], questions: list[Question]) -> None:
    """Keep the missing numbers of a brief's sources that are in a question that a source answers.

    If another source of the question has a number, only a year is kept: a page about another year
    would look like an answer.
    """
    missing = [item.pop("missing", []) for item in items]
    for item, own in zip(items, missing, strict=True):
        asked = numbers_in(question for question in questions if question.number in item["queries"])
        others = [
            numbers
            for other, numbers in zip(items, missing, strict=True)
            if "text" in other and not set(item["queries"]).isdisjoint(other["queries"])
        ]
        telling = [
            number
            for number in own
            if number in asked
            and (re.fullmatch(_YEAR, number) or all(number in numbers for numbers in others))
        ]
        item.update(drop_empty({"missing": telling}))


def show_recall(query: str, sources: list[Source], warnings: list[str], limits: Limits) -> Document:
    """Return the document for a recall: stored pages, with the passages that answer the query.

    The pages with the best passages come first, because a page that contains all the words may not
    be about them. Without a character limit, nothing is ranked and the order remains.
    """
    now = time.time()
    evidence = gather_evidence(sources, [query], limits)
    best = evidence.best()
    in_order = sorted(range(len(sources)), key=lambda index: -best[index])
    evidence.keep(in_order[: limits.count])
    sources = evidence.sources
    warnings = [
        *missing_notes(sources, evidence.missing),
        *warnings,
        *(text for source in sources for text in source.warnings),
    ]
    document: Document = {
        "ok": True,
        "provider": "web_search",
        "today": utc_day(now),
        "results": [
            {
                **drop_empty({"title": source.result["title"]}),
                "url": source.result["url"],
                **dates_of(source.result, now),
                "fetched_at": utc_time(source.result["fetched_at"]),
                **author_of(source.result),
                **drop_empty({"snippet": source.result.get("snippet")}),
            }
            for source in sources
        ],
        **drop_empty({"warnings": warnings}),
    }
    fill_texts_in(document, evidence, limits)
    return document


def keep_those_that_answer(evidence: Evidence, limits: Limits) -> None:
    """Remove a brief's sources whose texts do not answer, and sources beyond limits.count.

    Each question keeps the source that answers it best, or else the first source found for it.
    The remaining places go to the best of the other sources that contain what a question names
    or, if there are none, to any. Without a character limit, each question's best-ranked source
    and the first others stay.
    """
    if not evidence.scores:
        best_found = best_sources(evidence.sources, limits.count)
        evidence.keep([evidence.sources.index(source) for source in best_found])
        return
    excerpts = evidence.excerpts(limits.max_chars)
    answering = [index for index, excerpt in enumerate(excerpts) if excerpt.shown]
    best = evidence.best()
    first = []
    unanswered = set()  # questions for which no source is about what they name
    for number, of_question in enumerate(evidence.strengths(), 1):
        found = [
            index for index, source in enumerate(evidence.sources) if number in source.questions
        ]
        able = [index for index in answering if of_question[index] > 0]
        first += [max(able, key=lambda index: of_question[index])] if able else found[:1]
        unanswered |= {number} if all(excerpts[index].is_aside for index in able) else set()
    others = [
        index
        for index in answering
        if not (
            excerpts[index].is_aside and evidence.sources[index].questions.isdisjoint(unanswered)
        )
    ]
    others.sort(key=lambda index: -best[index])
    chosen = list(dict.fromkeys([*first, *others]))[: limits.count]
    strengths = evidence.strengths()
    # The question that each source answers best; sources are sorted by this question.
    numbers = {
        index: max(range(len(strengths)), key=lambda number: strengths[number][index])
        for index in chosen
    }
    evidence.keep(sorted(chosen, key=lambda index: (numbers[index], index)))


def failure(outcomes: list[Outcome]) -> SearchError:
    """Return the first question's error, with all outcomes, for a call that answered none."""
    error = next(outcome.error for outcome in outcomes if outcome.error)
    queries = query_outcomes(outcomes) if len(outcomes) > 1 else []
    error.details |= {**drop_empty({"queries": queries}), **facts_of(outcomes)}
    return error


# ===== facts in documents =========================================================================


def notes(
    outcomes: list[Outcome], evidence: Evidence, ranked: list[Source], store: PageStore
) -> dict[str, Any]:
    """Return the document's fields attempts, warnings, unread and billed, without empty fields."""
    sources, facts = evidence.sources, facts_of(outcomes)
    warnings = [*missing_notes(sources, evidence.missing), *facts.get("warnings", ())]
    warnings += [text for source in sources for text in source.warnings]
    if any(source.error for source in sources) and not any(source.text for source in sources):
        warnings.append(NO_PAGES_NOTE)
    today = utc_day(time.time())
    warnings += [year_warning(outcome.question.words, today) for outcome in outcomes]
    warnings += [*budget_warnings(facts.get("billed", ()), store), *store.warnings]
    unread = [source for source in ranked if source.error and source not in sources]
    own = {
        "warnings": [text for text in dict.fromkeys(warnings) if text],
        "unread": [{"url": one.result["url"], "error": one.error} for one in unread],
    }
    return drop_empty({**facts, **own})


def named_engines(outcome: Outcome) -> dict[str, Any]:
    """Return the field engines or engine: the engines that answered a question."""
    return {"engines": outcome.engines} if outcome.is_merged else {"engine": outcome.engines[0]}


def query_outcomes(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return each question's outcome: {query, engine or engines, found} or {query, error, kind}."""
    return [
        {"query": outcome.question.text, "error": outcome.error.message, "kind": outcome.error.kind}
        if outcome.error
        else {
            "query": outcome.question.text,
            **named_engines(outcome),
            "found": sum(len(answer.results) for answer in outcome.answers),
        }
        for outcome in outcomes
    ]


def shown_result(source: Source, questions: list[Question], names_engines: bool) -> dict[str, Any]:
    """Return a source as a search result, without its text, which replaces the snippet later."""
    result = {name: source.result.get(name) for name in RESULT_FIELDS}
    if source.text:
        del result["snippet"]
    facts = {
        "engines": sorted(source.engines) if names_engines else None,
        "also": source.also,
        "error": source.error,
        "missing": missing_numbers(source, questions),
        "version": shown_version(source, questions),
    }
    return drop_empty({**result, **facts})


def shown_version(source: Source, questions: list[Question]) -> str:
    """Return the version that a page documents, if its questions name a version; else ""."""
    words = " ".join(one.words for one in questions if one.number in source.questions)
    return "" if has_version(source, words) is None else version_of(source)


def missing_numbers(source: Source, questions: list[Question]) -> list[str]:
    """Return the numbers in a source's questions, such as years, that its page does not contain.

    Without these, a page about a different year would look like an answer.
    """
    if not source.text:
        return []
    text = f"{source.result.get('title', '')} {source.text} {source.outside}"
    numbers = numbers_in(one for one in questions if one.number in source.questions)
    return [number for number in numbers if not re.search(number_pattern(number), text)]


def number_pattern(number: str) -> str:
    """Return a pattern for a number with the decimal and thousands separators of any country."""
    first, *others = re.split(r"[.,]", number)
    separator = r"[.,'\u2019\s]?" if all(len(digits) == len("000") for digits in others) else "[.,]"
    return rf"(?<!\d){separator.join([first, *others])}(?!\d)"


def numbers_in(questions: Iterable[Question]) -> list[str]:
    """Return the numbers in questions, each once."""
    return list(dict.fromkeys(re.findall(_NUMBER, " ".join(one.words for one in questions))))


def shown_source(source: Source, questions: list[Question], names_engines: bool) -> dict[str, Any]:
    """Return a source as shown in a brief, without its text and with a placeholder number."""
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
            "missing": missing_numbers(source, questions),
            "version": shown_version(source, questions),
            "snippet": "" if source.text else shorten(result.get("snippet", ""), SNIPPET_CHARS),
        }
    )


# ===== texts within the budget ====================================================================


def fill_texts_in(document: Document, evidence: Evidence, limits: Limits) -> None:
    """Put the passages that answer into a document's results or sources, within its limits.

    evidence: that of these items. If there is no space for a passage from each text, the attempts
    are removed first, then items in the order of last_to_spare. A cut text gets the fields
    truncated and chars, the length of the page's text.
    """
    name = "sources" if "sources" in document else "results"
    items: list[dict[str, Any]] = document[name]
    limit = limits.max_chars or NO_LIMIT
    cut: dict[str, Any] = {}

    def readable() -> list[int]:
        return [index for index, page in enumerate(evidence.pages) if page.text]

    def room() -> int:
        """Return the number of characters left for texts."""
        shown = {**document, **({"truncated": {**cut, "hint": LEFT_OUT_HINT}} if cut else {})}
        return limit - len(dump_json(shown)) - len(readable()) * len(TEXT_FIELDS)

    def is_full() -> bool:
        return room() < LEAST_TEXT * len(readable())

    cut |= drop_empty({"left_out": drop_extras(document, is_full)})
    while len(items) > 1 and is_full():
        index = last_to_spare(evidence)
        del items[index]
        evidence.keep([other for other in range(len(evidence.sources)) if other != index])
        cut["items_dropped"] = {name: cut.get("items_dropped", {name: 0})[name] + 1}
    if cut:
        document["truncated"] = {**cut, "hint": LEFT_OUT_HINT}
    # With less than MIN_ROOM, one item is left, and its other fields use the space.
    rest = room() if room() >= MIN_ROOM else 0
    rest -= min(CUT_CHARS * len(readable()), rest // CUT_SHARE)
    excerpts = evidence.excerpts(rest) if limits.max_chars else [None] * len(items)
    for index in readable():
        fill_item(items[index], evidence.sources[index], evidence.pages[index], excerpts[index])
        if "queries" in items[index] and "text" in items[index]:
            items[index]["queries"] = evidence.answered_by(index, excerpts[index])
    for index, (item, excerpt) in enumerate(zip(items, excerpts, strict=True)):
        if excerpt and not excerpt.is_aside and "truncated" in item:
            strong = evidence.strong_units(index, LEAST_CUT_STRENGTH)
            names = cut_sections(excerpt, evidence.queries, strong)
            put_if_it_fits(document, item, "cut", names, limit)
            leads = [*{lead.words: 0 for lead in excerpt.whole if lead.words not in names}]
            whole = [entry_name(words) for words in leads[:MOST_CUT]]
            put_if_it_fits(document, item, "whole", whole, limit)
    for index, item in enumerate(items):
        if evidence.pages[index].text and "text" not in item:
            put_if_it_fits(document, item, "snippet", evidence.line(index), limit)


def entry_name(words: str) -> str:
    """Return the words that begin an entry as a name; an option without its value's placeholder."""
    return re.sub(r"^(-\S*\w)[=\[]*<.*", r"\1", re.sub(r"[`*\\]", "", words))


def drop_extras(document: Document, is_full: Callable[[], bool]) -> list[str]:
    """Remove the attempts, except refused keys, then unread, from a full document; return them."""
    refused = refused_keys(document)
    names = ("attempts", "unread")
    dropped = [name for name in names if is_full() and document.pop(name, None)]
    if refused and "attempts" in dropped:
        document["attempts"] = refused
    return dropped


def put_if_it_fits(
    document: Document, item: dict[str, Any], name: str, value: object, limit: int
) -> None:
    """Set an item's field if it has a value and the document stays within its limit."""
    if value:
        item[name] = value
        if len(dump_json(document)) > limit:
            del item[name]


def fill_item(
    item: dict[str, Any], source: Source, page: PageText, excerpt: Excerpt | None
) -> None:
    """Put an excerpt of a page into an item; if excerpt is None, put the whole text."""
    text = excerpt_text(excerpt) if excerpt else page.text
    if text and json_size(page.text) - json_size(text) <= len(TEXT_FIELDS):
        text = page.text  # the omitted text takes no more space than the fields that report it
    if not text:
        return
    item["text"] = text
    if text not in (page.text, page.text[: page.own_end]) or source.is_cut:
        item |= {"truncated": True, "chars": len(source.text) + len(source.outside)}


def last_to_spare(evidence: Evidence) -> int:
    """Return the index of the source to omit first.

    For one question, this is the last source: first among those that do not answer, then among the
    others, except the best. For several questions, it is the source that answers worst. A
    question's only source is omitted only after all others.
    """
    sources, best = evidence.sources, evidence.best()
    if len(evidence.queries) == 1:
        best = [float(strength > 0) + (strength == max(best) > 0) for strength in best]

    def needed(index: int) -> bool:
        others = [source.questions for number, source in enumerate(sources) if number != index]
        return not sources[index].questions <= set().union(*others)

    return min(range(len(sources)), key=lambda index: (needed(index), best[index], -index))
