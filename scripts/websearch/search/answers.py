"""Answers from engines: their outcome, how they are stored and their part of a document."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import TypeVar

from websearch.engines.base.days import is_lasting
from websearch.engines.base.ledger import planned_cost
from websearch.engines.table import CHAINS, ENGINES
from websearch.kit import DryRun, SearchError, clean_text, drop_empty, dump_json, may_fall_back
from websearch.search.plan import folded_query
from websearch.store.page_store import CLAIM_SECONDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from websearch.reading.page import Call
    from websearch.search.plan import Question
    from websearch.store.page_store import PageStore

Number = TypeVar("Number", int, float)
FOCUS_HINT = "To use the usual engine, omit {focus}."
CLAIM_POLL_SECONDS = 0.1  # seconds between a waiting caller's checks for the answer
# Fields of a result.
STORED_FIELDS = ("title", "url", "snippet", "date", "age", "moment", "author", "license")


@dataclass(slots=True)
class Answer:
    """The outcome of one question sent to one engine or auto: results, or an error.

    asked: the requested engine, or "auto". engine: the engine that answered. fetched_at: when it
    answered (UTC). is_stale: the answer is from the store and older than the question allows.
    failures: the engines that failed first, with their errors. billed: engine -> requests that cost
    money. request: in a dry run, what would be sent.
    """

    question: Question
    asked: str
    engine: str = ""
    results: list[dict[str, Any]] = field(default_factory=list)
    fetched_at: str = ""
    from_cache: bool = False
    is_stale: bool = False
    error: SearchError | None = None
    failures: list[tuple[str, SearchError]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    billed: dict[str, int] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)

    @property
    def number(self) -> int:
        """The question's number."""
        return self.question.number


@dataclass(slots=True)
class Outcome:
    """The outcome of a question: the answers from its engines or, if there are none, the error.

    attempts: the engines that failed although another answered, with their errors. is_merged:
    several engines were queried at the same time. needed_request: not every answer was stored.
    """

    question: Question
    answers: list[Answer]
    error: SearchError | None
    attempts: list[tuple[str, SearchError]]
    warnings: list[str]
    billed: dict[str, int]
    is_merged: bool
    needed_request: bool

    @property
    def engines(self) -> list[str]:
        """The engines that answered."""
        return [answer.engine for answer in self.answers]


def outcome_of(question: Question, answers: list[Answer]) -> Outcome:
    """Return a question's outcome from the answer or error of each engine that was queried."""
    good = [answer for answer in answers if not answer.error]
    failures = [
        failure
        for answer in answers
        for failure in answer.failures or ([(answer.asked, answer.error)] if answer.error else [])
    ]
    return Outcome(
        question,
        good,
        None if good else failure_of(answers),
        failures if good else [],
        [text for answer in answers for text in answer.warnings],
        total(answer.billed for answer in answers),
        len(answers) > 1,
        not all(answer.from_cache for answer in answers),
    )


def total(counts: Iterable[dict[str, Number]]) -> dict[str, Number]:
    """Return the sums of several counts by name."""
    added: dict[str, Number] = {}
    for count in counts:
        for name, number in count.items():
            added[name] = added[name] + number if name in added else number
    return added


# ===== in the store ===============================================================================


def storage_key(question: Question, engine: str) -> str:
    """Return an answer's key in the store: SHA-256 of query, engine, filters, server and focus.

    The number of results is not part of the key: a stored answer serves every question that needs
    as many results or fewer.
    """
    import hashlib

    filters = sorted(question.filters_for(engine).items())
    asked: list[Any] = [folded_query(question.text), engine, filters]
    # A mirror of a web search returns the same answers; a private SearXNG, wiki or GitHub may not.
    if ENGINES[engine].own_server or "web" not in ENGINES[engine].sources:
        asked += filter(None, [ENGINES[engine].other_address()])
    asked += ["news"] if question.is_news(engine) else []
    return hashlib.sha256(dump_json(asked).encode("utf-8", "replace")).hexdigest()


def store_answer(answer: Answer, store: PageStore) -> None:
    """Store an answer if its engine's terms allow that; omit ages such as "2 days ago"."""
    if not ENGINES[answer.engine].is_storable():
        return
    results = [
        {
            name: result[name]
            for name in STORED_FIELDS
            if name in result and (name != "age" or is_lasting(result[name]))
        }
        for result in answer.results
    ]
    content = {
        "query": answer.question.text,
        "engine": answer.engine,
        "count": answer.question.wanted,
        "results": results,
        "fetched_at": answer.fetched_at,
        "urls": [result["url"] for result in results],
    }
    store.put_answer(storage_key(answer.question, answer.engine), content)


@contextlib.contextmanager
def exclusive_request(question: Question, engine: str, call: Call) -> Iterator[None]:
    """Claim a question to an engine for this caller, after waiting for any other caller's claim.

    Answers that are not stored need no claim.
    """
    if call.max_age == 0 or not ENGINES[engine].is_storable():
        yield
        return
    key, store, is_ours = storage_key(question, engine), call.store, False
    end = min(call.deadline, time.monotonic() + CLAIM_SECONDS)
    try:
        while not (is_ours := store.claim(key)) and time.monotonic() < end:
            time.sleep(CLAIM_POLL_SECONDS)
        yield
    finally:
        if is_ours:
            store.release(key)


def take_stored(answer: Answer, engine: str, store: PageStore, max_age: float | None) -> bool:
    """Fill an answer from the store; return whether the store has a suitable one.

    max_age: seconds; None: any age. The stored request must have asked for at least as many results
    as the question needs. The answer's format is checked, because another version of this program
    may have written it. Only known text fields are used.
    """
    if max_age == 0 or not ENGINES[engine].is_storable():
        return False
    stored = store.get_answer(storage_key(answer.question, engine), max_age)
    content: dict[str, Any] = stored["content"] if stored else {}
    count, results, fetched_at = map(content.get, ("count", "results", "fetched_at"))
    usable = (
        isinstance(count, int)
        and count >= answer.question.wanted
        and content.get("engine") == engine
        and isinstance(fetched_at, str)
        and isinstance(results, list)
        and all(isinstance(result, dict) and is_text(result.get("url")) for result in results)
    )
    if not usable:
        return False
    answer.engine, answer.fetched_at, answer.from_cache = engine, clean_text(str(fetched_at)), True
    answer.results = [
        {name: clean_text(result[name]) for name in STORED_FIELDS if is_text(result.get(name))}
        for result in results or []
    ]
    return True


def is_text(value: object) -> bool:
    """Return whether a value is a nonempty string."""
    return isinstance(value, str) and bool(value)


# ===== failures ===================================================================================


def no_engine_answered(failures: list[tuple[str, SearchError]]) -> SearchError:
    """Return the combined error if no engine answered; a single engine keeps its own error.

    If an engine found nothing, the kind is no_results, because that engine did answer. The kind is
    invalid_input only if every engine refuses the input. The hint names invalid settings, too.
    """
    if len(failures) == 1:
        engine, error = failures[0]
        error.details["engine"] = engine
        return error
    empty = [failure for failure in failures if failure[1].kind == "no_results"]
    able = [failure for failure in failures if failure[1].kind != "invalid_input"]
    first = (empty or able or failures)[0][1]
    if not able and len({error.message for _, error in failures}) == 1:  # do not repeat the hint
        return first
    waits = [error.retry_after for _, error in failures if error.retry_after is not None]
    reasons = [f"{engine}: {error.message.removesuffix('.')}" for engine, error in failures]
    wrong = [error.hint for _, error in failures if error.kind == "invalid_input"]
    summary = "No engine found anything" if empty else "No engine answered"
    return SearchError(
        first.kind,
        f"{summary}: {'; '.join(reasons)}.",
        " ".join(filter(None, dict.fromkeys([first.hint, *wrong]))),
        retryable=any(error.retryable for _, error in failures),
        attempts=[{"engine": engine, "kind": error.kind} for engine, error in failures],
        **drop_empty({"retry_after": min(waits, default=None)}),
    )


def needs_fallback(answer: Answer) -> bool:
    """Return whether auto failed and open sources may answer instead.

    no_results is an answer from the web, so it needs no fallback.
    """
    error = answer.error if answer.asked in CHAINS else None
    return error is not None and error.kind != "no_results" and may_fall_back(error.kind)


def failure_of(answers: list[Answer]) -> SearchError:
    """Return the error for a question that no engine answered; its hint covers the focus."""
    error = failure_of_engines(answers)
    hint = error.hint
    if answers[0].question.focus not in ("", "general") and FOCUS_HINT not in hint:
        error.hint = f"{hint} {FOCUS_HINT}".strip()
    return error


def failure_of_engines(answers: list[Answer]) -> SearchError:
    """Return the error for a question that no engine answered.

    If auto could not search the web, its error comes before the other sources' errors.
    """
    failures = [(answer.asked, answer.error) for answer in answers if answer.error]
    general = next((answer.error for answer in answers if needs_fallback(answer)), None)
    if not general or len(failures) == 1:
        return failures[0][1] if len(failures) == 1 else no_engine_answered(failures)
    of_auto = {"engine": general.details.get("engine", "auto"), "kind": general.kind}
    others = [
        {"engine": name, "kind": error.kind} for name, error in failures if error is not general
    ]
    general.details["attempts"] = [*general.details.get("attempts", [of_auto]), *others]
    return general


# ===== answers in documents =======================================================================


def facts_of(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the fields attempts, warnings and billed for outcomes, without empty fields."""
    warnings = dict.fromkeys(text for outcome in outcomes for text in outcome.warnings)
    billed = total(outcome.billed for outcome in outcomes)
    attempts = failed_attempts(outcomes)
    return drop_empty({"attempts": attempts, "warnings": [*warnings], "billed": billed})


def planned_requests(answers: list[Answer], outcomes: list[Outcome]) -> DryRun:
    """Return a dry run: the first request to each engine, and the cost.

    A search with one engine shows only its request. Raises SearchError if no request is possible.
    """
    good = [answer for answer in answers if not answer.error]
    if not good and outcomes[0].error:
        raise outcomes[0].error
    facts = facts_of(outcomes)
    cost = {
        engine: planned_cost(engine, [one.question.wanted for one in good if one.engine == engine])
        for engine in facts.get("billed", ())
    }
    facts |= drop_empty({"cost": cost})
    if len(answers) == 1:
        return DryRun(good[0].request, {"engine": good[0].engine, **facts})
    requests = [
        {"query": answer.question.text, "engine": answer.engine or answer.asked}
        | ({"error": answer.error.message} if answer.error else answer.request)
        for answer in answers
    ]
    return DryRun({"requests": requests, **facts})


def failed_attempts(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return the engines that failed for questions that another engine answered.

    Each is {engine, kind, error} and, for several questions, queries (their numbers).
    """
    attempts: dict[tuple[str, str], dict[str, Any]] = {}
    for outcome in outcomes:
        for engine, error in outcome.attempts:
            attempt: dict[str, Any] = {"engine": engine, "kind": error.kind, "error": error.message}
            attempt = attempts.setdefault((engine, error.message), attempt)
            if len(outcomes) > 1:
                attempt.setdefault("queries", []).append(outcome.question.number)
    return list(attempts.values())


def fallback_note(answers: list[Answer], questions: int) -> str:
    """Return a warning that lists the sources that answered instead of auto.

    questions: the total number of questions. If auto answered some, the warning names the others.
    """
    sources = ", ".join(dict.fromkeys(ENGINES[answer.engine].title for answer in answers))
    numbers = {answer.number for answer in answers}
    if len(numbers) == questions:
        return f"No search engine answered: these results are only from {sources}."
    return f"No search engine answered {spoken_questions(numbers)}: only {sources} did."


def spoken_questions(numbers: Iterable[int]) -> str:
    """Return a phrase for question numbers, such as "questions 1, 3"."""
    ordered = sorted(numbers)
    return f"question{'s' if len(ordered) > 1 else ''} {', '.join(map(str, ordered))}"
