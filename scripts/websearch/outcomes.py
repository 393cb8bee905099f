"""Several questions, or several engines, asked at the same time, and what became of each."""

from __future__ import annotations

import time

from websearch.common import SearchError, drop_empty, internal_error, may_fall_back
from websearch.engines import ENGINES, focused_filters, is_storable, keyless_engines, stand_ins
from websearch.results import (
    MIN_TIMEOUT,
    Question,
    answer_question,
    error_of,
    no_engine_answered,
)

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Iterable
    from threading import Semaphore
    from typing import Any

    from websearch.common import Document, ProgressCallback

MAX_KEYLESS_AT_ONCE = 4  # questions at one keyless engine, whose pace lets more only wait
LATE_SECONDS = 0.5  # each question ends by itself at the deadline; this late it is given up


class Outcome:
    """What became of one question at one engine (or at auto): its content, or its error.

    number: of the question, from 1. key, content: as the store holds them. attempts: engines that
    failed before another one answered. billed: engine -> requests that cost money.
    """

    def __init__(self, number: int, query: str, engine: str) -> None:
        self.number = number
        self.query = query
        self.engine = engine
        self.key = ""
        self.content: Document = {}
        self.error: SearchError | None = None
        self.from_cache = False
        self.attempts: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.billed: dict[str, int] = {}


def ask_all(
    queries: list[str], engines: list[str], params: dict[str, Any], report: ProgressCallback = None
) -> list[Outcome]:
    """Ask every question at every engine at the same time; return the outcomes in that order.

    engines: names; "auto" stands for the first configured engine that answers. If auto fails and no
    other engine answers the question, the stand-ins are asked. params: those of a search; timeout
    is for all questions together. A question that fails does not affect the others.
    """
    deadline = time.monotonic() + float(params["timeout"])
    asked = [
        Outcome(number, query, engine)
        for number, query in enumerate(queries, 1)
        for engine in engines
    ]
    outcomes = ask_together(asked, params, deadline, report)
    failed = [one for one in outcomes if one.error and needs_stand_ins(one.engine, one.error)]
    done = {outcome.number for outcome in answered(outcomes)}
    others = [engine for engine in stand_ins() if engine not in engines]
    asked = [
        Outcome(one.number, one.query, engine)
        for one in failed
        if one.number not in done
        for engine in others
    ]
    outcomes += ask_together(asked, params, deadline, report) if asked else []
    numbers = {outcome.number for outcome in failed}
    good = [outcome for outcome in answered(outcomes) if outcome.number in numbers]
    for outcome in good:
        outcome.warnings.append(stand_in_note(good, len(queries)))
    return sorted(outcomes, key=lambda outcome: outcome.number)


def needs_stand_ins(engine: str, error: SearchError) -> bool:
    """Return whether open sources may answer in place of auto after its error.

    no_results is an answer of the web, so it needs no other.
    """
    return engine == "auto" and error.kind != "no_results" and may_fall_back(error.kind)


def stand_in_note(outcomes: list[Outcome], questions: int = 1) -> str:
    """Return the sentence that says which sources have answered in place of auto.

    questions: how many were asked. If auto has answered some, the sentence names the others.
    """
    good = answered(outcomes)
    sources = ", ".join(dict.fromkeys(ENGINES[outcome.engine]["title"] for outcome in good))
    numbers = {outcome.number for outcome in good}
    if len(numbers) == questions:
        return f"No search engine answered: these results are from {sources} alone."
    return f"No search engine answered {named_questions(numbers)}: only {sources} did."


def named_questions(numbers: Iterable[int]) -> str:
    """Return questions by their numbers, as in a sentence."""
    ordered = sorted(numbers)
    return f"question{'s' if len(ordered) > 1 else ''} {', '.join(map(str, ordered))}"


def ask_together(
    asked: list[Outcome], params: dict[str, Any], deadline: float, report: ProgressCallback
) -> list[Outcome]:
    """Fill outcomes with what their engines answer; return them, those that are late replaced."""
    import queue
    import threading

    give_up = deadline + LATE_SECONDS
    params = {**params, "timeout": max(MIN_TIMEOUT, deadline - time.monotonic())}
    slots = {name: threading.Semaphore(MAX_KEYLESS_AT_ONCE) for name in keyless_engines()}
    done: queue.Queue[int] = queue.Queue()

    def work(place: int) -> None:
        try:
            ask_one(asked[place], params, slots)
        finally:
            done.put(place)

    for place in range(len(asked)):
        threading.Thread(target=work, args=(place,), daemon=True).start()
    finished: set[int] = set()
    while len(finished) < len(asked):
        try:
            finished.add(done.get(timeout=max(0.0, give_up - time.monotonic())))
        except queue.Empty:
            break
        if report:
            report("answers", len(finished), len(asked))
    # A question that is late may still change its own outcome, so that it is replaced.
    return [one if place in finished else late(one) for place, one in enumerate(asked)]


def late(outcome: Outcome) -> Outcome:
    """Return the outcome of a question that has not ended in time."""
    ended = Outcome(outcome.number, outcome.query, outcome.engine)
    hint = "Raise timeout, or ask fewer questions."
    ended.error = SearchError("timeout", "There was no answer in time.", hint, retryable=True)
    return ended


def ask_one(outcome: Outcome, params: dict[str, Any], slots: dict[str, Semaphore]) -> None:
    """Find the results of one question, and store them as a search does; never raises."""
    from websearch.store import PageStore

    store = PageStore()
    own = {"query": outcome.query, "engine": outcome.engine, "no_pages": True}
    asked = {**params, **focused_filters(params, outcome.engine), **own}

    def keep(question: Question, key: str, content: Document, from_cache: bool) -> Document:
        if not from_cache and is_storable(content["engine"]):
            question.store.put_answer(key, content)
        outcome.key, outcome.from_cache = key, from_cache
        return content

    try:
        question = Question(asked, store)
        question.slots = slots
        try:
            outcome.content = answer_question(question, keep)
        finally:
            outcome.attempts = question.attempts()
            outcome.warnings = [*question.warnings, *store.warnings]
            outcome.billed = question.billed
    except SearchError as error:
        outcome.error = error
    except Exception as error:  # noqa: BLE001  a defect of ours must not cost the other questions
        outcome.error = error_of(internal_error(error, bool(params.get("verbose"))))
    finally:
        store.close()


# ===== outcomes in a document =====================================================================


def answered(outcomes: list[Outcome]) -> list[Outcome]:
    """Return the outcomes that have content."""
    return [outcome for outcome in outcomes if outcome.content]


def failure_of(outcomes: list[Outcome]) -> SearchError:
    """Return the error of one question that no engine has answered, as a search gives it.

    If auto could not search the web, its error goes before those of the sources beside it.
    """
    failures = [(outcome.engine, outcome.error) for outcome in outcomes if outcome.error]
    general = next((error for name, error in failures if needs_stand_ins(name, error)), None)
    if general and len(failures) > 1:
        named = {"engine": general.details.get("engine", "auto"), "kind": general.kind}
        others = [
            {"engine": name, "kind": one.kind} for name, one in failures if one is not general
        ]
        # A new error: a brief asks for the error of its first question twice.
        attempts = [*general.details.get("attempts", [named]), *others]
        details = {**general.details, "attempts": attempts}
        return SearchError(general.kind, general.message, retryable=general.retryable, **details)
    return failures[0][1] if len(failures) == 1 else no_engine_answered(failures)


def query_state(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the state of one question for a document, from its outcomes.

    {query, engine or engines, found} or {query, error, kind}.
    """
    query, good = outcomes[0].query, answered(outcomes)
    if not good:
        error = failure_of(outcomes)
        return {"query": query, "error": error.message, "kind": error.kind}
    engines = [outcome.content["engine"] for outcome in good]
    named = {"engine": engines[0]} if len(outcomes) == 1 else {"engines": engines}
    return {"query": query, **named, "found": sum(len(one.content["results"]) for one in good)}


def failed_attempts(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return the engines that failed for questions that another one has answered.

    Each is {engine, kind, error}, and queries (the numbers of its questions) if there are several.
    """
    good = {outcome.number for outcome in answered(outcomes)}
    several = len({outcome.number for outcome in outcomes}) > 1
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for outcome in outcomes:
        failed = list(outcome.attempts)
        if outcome.error and not failed:
            error = outcome.error
            failed = [{"engine": outcome.engine, "kind": error.kind, "error": error.message}]
        for attempt in failed if outcome.number in good else []:
            entry = found.setdefault((attempt["engine"], attempt["error"]), attempt)
            if several:
                entry.setdefault("queries", []).append(outcome.number)
    return list(found.values())


def total_billed(outcomes: list[Outcome]) -> dict[str, int]:
    """Return the requests by engine that cost money, of all outcomes together."""
    billed: dict[str, int] = {}
    for outcome in outcomes:
        for engine, requests in outcome.billed.items():
            billed[engine] = billed.get(engine, 0) + requests
    return billed


def all_warnings(outcomes: list[Outcome]) -> list[str]:
    """Return the warnings of all outcomes, each once."""
    return list(dict.fromkeys(text for outcome in outcomes for text in outcome.warnings))


def failure_details(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the details that all outcomes of a failed call have in common: warnings and costs."""
    return drop_empty({"warnings": all_warnings(outcomes), "billed": total_billed(outcomes)})
