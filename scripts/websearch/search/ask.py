"""Answer every question at the same time: from the store, or from engines at their own pace."""

from __future__ import annotations

import time

from websearch.base.calls import check_cancelled, in_context, result_or_error, waits
from websearch.engines.base.days import is_in_period, moment_of, with_day
from websearch.engines.base.ledger import begin_request, end_request
from websearch.engines.table import CHAINS, ENGINES, engine_order, fallback_engines
from websearch.kit import MIN_TIMEOUT, SearchError, drop_empty, may_fall_back, quoted
from websearch.search.answers import (
    Answer,
    answered,
    exclusive_request,
    fallback_note,
    needs_fallback,
    no_engine_answered,
    store_answer,
    take_stored,
)
from websearch.search.engine_calls import RESULT_FIELDS, engine_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import ProgressCallback
    from websearch.search.plan import Question
    from websearch.store.page_store import PageStore

FIRST_SHARE = 0.6  # one engine's share of the remaining time if another may follow
RESULT_PAGE = 10  # results per result page; all are stored, even if the question needs fewer
MAX_NAMED = 3  # values in a warning
LATE_SECONDS = 0.5  # seconds after the deadline until a question is abandoned


def ask(
    questions: list[Question], store: PageStore, deadline: float, report: ProgressCallback = None
) -> list[Answer]:
    """Return an answer for each question and engine, in the order of the questions.

    If auto fails and no other engine answers its question, the fallback engines are queried. A
    question that fails does not affect the others. deadline: on time.monotonic()'s clock.
    """
    asked = [(question, engine) for question in questions for engine in question.engines]
    if report and len(asked) == 1:
        question, engine = asked[0]
        report(f"asking {engine_order(engine)[0]}", 0, question.count + 1)
    answers = ask_together(asked, store, deadline, None if len(asked) == 1 else report)
    failed = [answer for answer in answers if needs_fallback(answer)]
    done = {answer.number for answer in answered(answers)}
    asked = [
        (answer.question, engine)
        for answer in failed
        if answer.number not in done
        for engine in fallback_engines()
        if engine not in answer.question.engines
    ]
    answers += ask_together(asked, store, deadline, report) if asked else []
    numbers = {answer.number for answer in failed}
    good = [answer for answer in answered(answers) if answer.number in numbers]
    for answer in good:
        answer.warnings.append(fallback_note(good, len(questions)))
    return sorted(answers, key=lambda answer: answer.number)


def store_note(engine: str) -> str:
    """Return the warning that an engine's answers are not stored, with the reason."""
    title = ENGINES[engine].title
    return (
        f"{title}'s results are requested each time, because its terms forbid storing them; pages "
        f"are stored (WEB_SEARCH_STORE={engine}, if you have storage rights, stores both)."
    )


def ask_together(
    asked: list[tuple[Question, str]],
    store: PageStore,
    deadline: float,
    report: ProgressCallback,
) -> list[Answer]:
    """Return the answers to (question, engine) pairs, in order; late answers become errors."""
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    pool = ThreadPoolExecutor(len(asked))
    futures = [
        pool.submit(in_context(answer_question), *pair, store.path, deadline) for pair in asked
    ]
    left = set(futures)
    try:
        for pause in waits(deadline + LATE_SECONDS):  # a later answer is replaced by late_answer
            done, left = wait(left, pause, FIRST_COMPLETED)
            if report and done:
                report("answers", len(asked) - len(left), len(asked))
            if not left:
                break
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [
        future.result() if future.done() and not future.cancelled() else late_answer(*pair)
        for future, pair in zip(futures, asked, strict=True)
    ]


def late_answer(question: Question, asked: str) -> Answer:
    """Return a timeout error as the answer to a question not answered in time."""
    hint = "Raise {timeout}. Or ask fewer questions."
    error = SearchError("timeout", "No engine answered in time.", hint, retryable=True)
    return Answer(question, asked, error=error)


def answer_question(question: Question, asked: str, store_path: str, deadline: float) -> Answer:
    """Return the answer from the first engine that answers. Never raises."""
    from websearch.store.page_store import PageStore

    answer = Answer(question, asked)
    store = PageStore(store_path)
    try:
        answer.error = result_or_error(
            ask_in_order, answer, store, deadline, verbose=question.verbose
        )
    finally:
        answer.warnings += store.warnings
        store.close()
    return answer


def ask_in_order(answer: Answer, store: PageStore, deadline: float) -> None:
    """Fill an answer from the first engine that answers. Raises SearchError if none does.

    Every engine of auto gets only a share of the time, because a fallback engine may follow.
    """
    order = engine_order(answer.asked)
    share = FIRST_SHARE if answer.asked in CHAINS else 1.0
    for engine in order:
        seconds = max(MIN_TIMEOUT, (deadline - time.monotonic()) * share)
        error = error_of_engine(answer, engine, store, seconds)
        if error is None:
            return
        answer.failures.append((engine, error))
        # No status: the engine refused before sending, and another may accept the input.
        is_unsent = error.kind == "invalid_input" and not error.status
        if not (is_unsent or may_fall_back(error.kind)):
            break
    failure = no_engine_answered(answer.failures)
    if not may_fall_back(failure.kind) or not offer_stale(answer, order, store, failure):
        raise failure


def error_of_engine(
    answer: Answer, engine: str, store: PageStore, seconds: float
) -> SearchError | None:
    """Fill an answer from an engine; return the error, or None on success."""
    try:
        fill_answer(answer, engine, store, seconds)
    except SearchError as error:
        return error
    return None


def offer_stale(answer: Answer, order: list[str], store: PageStore, reason: SearchError) -> bool:
    """Use a stored answer of any age if the caller allows it; otherwise mention it in the hint.

    Returns whether the answer was filled. reason: why no engine answered; its hint is extended.
    """
    if answer.question.stale is None:
        return False
    stored = Answer(answer.question, answer.asked)
    if not any(take_stored(stored, engine, store, None) for engine in order):
        return False
    if not answer.question.stale:
        hint = f"An answer of {stored.fetched_at} is stored: use {{stale}} to get it."
        reason.hint = f"{reason.hint} {hint}".strip()
        answer.warnings.append(hint)
        return False
    answer.engine, answer.results, answer.fetched_at = (
        stored.engine,
        stored.results,
        stored.fetched_at,
    )
    answer.from_cache = answer.is_stale = True
    answer.warnings.append(f"From an earlier search, because the new one failed: {reason.message}")
    return True


def fill_answer(answer: Answer, engine: str, store: PageStore, seconds: float) -> None:
    """Fill an answer from the store or, within these seconds, the engine. Raises SearchError.

    If another caller is sending the same question, wait for its answer.
    """
    end = time.monotonic() + seconds
    if take_stored(answer, engine, store, answer.question.max_age):
        return
    with exclusive_request(answer.question, engine, store, end):
        if not take_stored(answer, engine, store, answer.question.max_age):
            fill_from_engine(answer, engine, store, end)


def fill_from_engine(answer: Answer, engine: str, store: PageStore, end: float) -> None:
    """Query the engine, then fill and store the answer. Raises SearchError.

    After a wait for its turn, check the store again: another process may have stored the answer.
    end: on time.monotonic()'s clock.
    """
    from websearch.store.page_store import utc_time

    question = answer.question
    check_cancelled()
    call = engine_call(engine, question.for_engine(engine), end)
    if call.wait_for_turn() and take_stored(answer, engine, store, question.max_age):
        call.give_back()
        return
    begun = begin_request(engine, store, call.pages)
    call.pages = begun[1]
    reply = call.send()
    kind = reply.error.kind if reply.error else ""
    for name, requests in end_request(engine, begun, kind, reply.credits, store).items():
        answer.billed[name] = answer.billed.get(name, 0) + requests
    if reply.error:
        raise reply.error
    answer.engine, answer.fetched_at = engine, utc_time(time.time())
    further = max(0, RESULT_PAGE - question.count)
    answer.results = [
        dated_result(drop_empty({name: result.get(name) for name in RESULT_FIELDS}), time.time())
        for result in [*reply.results[: question.count], *reply.further[:further]]
    ]
    answer.warnings += reply.warnings
    keep_to_filters(answer)
    if not ENGINES[engine].is_storable():
        answer.warnings.append(store_note(engine))
    store_answer(answer, store)


def dated_result(result: dict[str, Any], now: float) -> dict[str, Any]:
    """Return an engine's result with its day, and its moment in ISO 8601 if that is known."""
    from websearch.store.page_store import utc_time

    moment = moment_of(result.get("date", ""), now)
    return {**with_day(result, now), **({"moment": utc_time(moment)} if moment else {})}


def moment_in(result: dict[str, Any], now: float) -> float | None:
    """Return the time of a result in seconds since 1970, None if it is unknown."""
    return moment_of(result.get("moment") or result.get("date", ""), now)


def keep_to_filters(answer: Answer) -> None:
    """Omit the results that the question's filters exclude; count them in warnings.

    Engines do not always obey filters. Raises SearchError (no_results) if no results remain.
    """
    from websearch.engines.base.result_pages import (
        FILTERED_HINT,
        on_asked_sites,
        other_sites_warning,
    )

    engine, filters = answer.engine, answer.question.filters_for(answer.engine)
    on_sites = on_asked_sites(ENGINES[engine], answer.results, filters)
    since, now = filters.get("since", ""), time.time()
    in_period = [
        result for result in on_sites if is_in_period(moment_in(result, now), since, now)
    ]
    warnings = []
    if others := [result for result in answer.results if result not in on_sites]:
        warnings.append(other_sites_warning(ENGINES[engine], others))
    if len(in_period) < len(on_sites):
        left_out = len(on_sites) - len(in_period)
        results = "1 result" if left_out == 1 else f"{left_out} results"
        title = ENGINES[engine].title
        period = since if ".." in since else f"the last {since}"
        warnings.append(f"{results} from {title} left out: the date is not in {period}.")
    unclear = [
        written
        for result in in_period
        if since and (written := result.get("age")) and moment_in(result, now) is None
    ]
    if unclear:
        named = ", ".join(map(quoted, unclear[:MAX_NAMED]))
        warnings.append(f"Kept, because their dates were not understood: {named}.")
    if answer.results and not in_period:
        raise SearchError("no_results", " ".join(warnings), FILTERED_HINT)
    answer.results = in_period
    answer.warnings += warnings
