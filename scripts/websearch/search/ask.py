"""Answer all questions at the same time, from the store or from engines at their own pace."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import replace

from websearch.base.calls import check_cancelled, in_context, result_or_error, waits
from websearch.engines.base.days import has_time, is_in_period, moment_of, with_day
from websearch.engines.base.ledger import begin_request, end_request, plan_request
from websearch.engines.table import CHAINS, ENGINES, engine_order, fallback_engines
from websearch.kit import (
    MIN_TIMEOUT,
    SearchError,
    check_interrupted,
    drop_empty,
    may_fall_back,
    quoted,
)
from websearch.search.answers import (
    Answer,
    exclusive_request,
    fallback_note,
    needs_fallback,
    no_engine_answered,
    outcome_of,
    planned_requests,
    store_answer,
    take_stored,
    total,
)
from websearch.search.engine_calls import RESULT_FIELDS, engine_call
from websearch.search.plan import compares_dates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import ProgressCallback
    from websearch.reading.page import Call
    from websearch.search.answers import Outcome
    from websearch.search.plan import Question
    from websearch.store.page_store import PageStore

FIRST_SHARE = 0.6  # one engine's share of the remaining time if another may follow
RESULT_PAGE = 10  # results per result page; all are stored, even if the question needs fewer
MAX_NAMED = 3  # values in a warning
OWN_DATES = (
    "{} cannot filter by date, so the results were filtered by their pages' dates. Results without "
    "a date were kept."
)
LATE_SECONDS = 0.5  # seconds from the deadline until a question is abandoned


def ask(questions: list[Question], call: Call) -> list[Outcome]:
    """Return the outcome of each question, in order.

    If auto fails and no other engine answers its question, the fallback engines are queried. A
    question that fails does not affect the others. Raises DryRun with the requests in a dry run,
    and SearchError there if no request is possible.
    """
    asked = [(question, engine) for question in questions for engine in question.engines]
    if call.report and len(asked) == 1:
        question, engine = asked[0]
        call.report(f"asking {engine_order(engine)[0]}", 0, question.wanted + 1)
    answers = ask_together(asked, call, None if len(asked) == 1 else call.report)
    failed = [answer for answer in answers if needs_fallback(answer) and not call.is_dry]
    done = {answer.number for answer in answers if not answer.error}
    asked = [
        (answer.question, engine)
        for answer in failed
        if answer.number not in done
        for engine in fallback_engines()
        if engine not in answer.question.engines
    ]
    answers += ask_together(asked, call, call.report) if asked else []
    numbers = {answer.number for answer in failed}
    good = [answer for answer in answers if not answer.error and answer.number in numbers]
    for answer in good:
        answer.warnings.append(fallback_note(good, len(questions)))
    outcomes = [
        outcome_of(question, [answer for answer in answers if answer.question is question])
        for question in questions
    ]
    if call.is_dry:
        raise planned_requests(answers, outcomes)
    return outcomes


def store_note(engine: str) -> str:
    """Return the warning that an engine's answers are not stored, with the reason."""
    title = ENGINES[engine].title
    return (
        f"{title}'s results are requested each time, because its terms forbid storing them; pages "
        f"are stored (WEB_SEARCH_STORE={engine}, if you have storage rights, stores both)."
    )


def ask_together(
    asked: list[tuple[Question, str]], call: Call, report: ProgressCallback
) -> list[Answer]:
    """Return the answers to pairs of (question, engine), in order; late answers become errors."""
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    pool = ThreadPoolExecutor(len(asked))
    futures = [pool.submit(in_context(answer_question), *pair, call) for pair in asked]
    left = set(futures)
    try:
        for pause in waits(call.deadline + LATE_SECONDS):  # then late_answer replaces the answer
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
    """Return a timeout error as the answer to a question that was not answered in time."""
    hint = "Raise {timeout}. Or ask fewer questions."
    error = SearchError("timeout", "No engine answered in time.", hint, retryable=True)
    return Answer(question, asked, error=error)


def answer_question(question: Question, asked: str, call: Call) -> Answer:
    """Return the answer from the first engine that answers. Never raises. Runs in a thread."""
    from websearch.store.page_store import PageStore

    answer = Answer(question, asked)
    with contextlib.closing(PageStore(call.store.path)) as store:
        own = replace(call, store=store)
        answer.error = result_or_error(ask_in_order, answer, own, verbose=call.verbose)
        answer.warnings += store.warnings
    return answer


def ask_in_order(answer: Answer, call: Call) -> None:
    """Fill an answer from the first engine that answers. Raises SearchError if none answers.

    Every engine of auto gets only a share of the time, because a fallback engine may follow.
    """
    since = answer.question.filters.get("since", "")
    order = sorted(engine_order(answer.asked), key=lambda engine: compares_dates(engine, since))
    share = FIRST_SHARE if answer.asked in CHAINS else 1.0
    for engine in order:
        end = time.monotonic() + max(MIN_TIMEOUT, call.time_left() * share)
        error = error_of_engine(answer, engine, replace(call, deadline=end))
        if error is None:
            if compares_dates(engine, since):
                answer.warnings.append(OWN_DATES.format(ENGINES[engine].title))
            return
        answer.failures.append((engine, error))
        # A different engine may know the value or filter that this one does not.
        if error.kind != "invalid_input" and not may_fall_back(error.kind):
            break
    failure = no_engine_answered(answer.failures)
    can_be_stale = may_fall_back(failure.kind) and not call.is_dry
    if not (can_be_stale and offer_stale(answer, order, call.store, failure)):
        raise failure


def error_of_engine(answer: Answer, engine: str, call: Call) -> SearchError | None:
    """Fill an answer from an engine; return the error, or None if there is none."""
    try:
        (plan_answer if call.is_dry else fill_answer)(answer, engine, call)
    except SearchError as error:
        return error
    return None


def plan_answer(answer: Answer, engine: str, call: Call) -> None:
    """Fill an answer with the request to an engine and its cost, for a dry run.

    Raises SearchError if the engine does not support the question, or if its budget is used up.
    """
    planned = engine_call(engine, answer.question.for_engine(engine), math.inf).planned_request()
    answer.billed = plan_request(engine, answer.question.wanted, call.store, call.budget)
    answer.engine, answer.request = engine, planned


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
        hint = f"An answer from {stored.fetched_at} is stored: use {{stale}} to get it."
        reason.hint = f"{reason.hint} {hint}".strip()
        answer.warnings.append(hint)
        return False
    answer.engine, answer.results = stored.engine, stored.results
    answer.fetched_at = stored.fetched_at
    answer.from_cache = answer.is_stale = True
    answer.warnings.append(f"From an earlier search, because the new one failed: {reason.message}")
    return True


def fill_answer(answer: Answer, engine: str, call: Call) -> None:
    """Fill an answer from the store or, until call.deadline, the engine. Raises SearchError.

    If another caller is sending the same question, wait for its answer.
    """
    if take_stored(answer, engine, call.store, call.max_age):
        return
    with exclusive_request(answer.question, engine, call):
        if not take_stored(answer, engine, call.store, call.max_age):
            fill_from_engine(answer, engine, call)


def fill_from_engine(answer: Answer, engine: str, call: Call) -> None:
    """Query the engine, then fill and store the answer. Raises SearchError.

    After a wait for its turn, check the store again: another process may have stored the answer.
    """
    from websearch.store.page_store import utc_time

    question, store = answer.question, call.store
    check_cancelled()
    check_interrupted()
    params = {**question.for_engine(engine), "verbose": call.verbose}
    asked = engine_call(engine, params, call.deadline)
    if asked.wait_for_turn() and take_stored(answer, engine, store, call.max_age):
        asked.give_back()
        return
    begun = begin_request(engine, store, asked.pages, call.budget)
    asked.pages = begun[1]
    reply = asked.send()
    kind = reply.error.kind if reply.error else ""
    taken = end_request(engine, begun, kind, reply.credits, store)
    answer.billed = total([answer.billed, taken])
    if reply.error:
        raise reply.error
    answer.engine, answer.fetched_at = engine, utc_time(time.time())
    further = max(0, RESULT_PAGE - question.wanted)
    answer.results = [
        dated_result(drop_empty({name: result.get(name) for name in RESULT_FIELDS}), time.time())
        for result in [*reply.results[: question.wanted], *reply.further[:further]]
    ]
    answer.warnings += reply.warnings
    keep_to_filters(answer)
    if not ENGINES[engine].is_storable():
        answer.warnings.append(store_note(engine))
    store_answer(answer, store)


def dated_result(result: dict[str, Any], now: float) -> dict[str, Any]:
    """Return a result with its day and, if its date has a time, its moment in ISO 8601."""
    from websearch.store.page_store import utc_time

    words = result.get("date", "")
    moment = moment_of(words, now) if has_time(words) else None
    return {**with_day(result, now), **({"moment": utc_time(moment)} if moment else {})}


def moment_in(result: dict[str, Any], now: float) -> float | None:
    """Return the time of a result in seconds since 1970; None if the time is unknown."""
    return moment_of(result.get("moment") or result.get("age") or result.get("date", ""), now)


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
    since = filters.get("since") or answer.question.soft_filters.get("since", "")
    now = time.time()
    in_period = [result for result in on_sites if is_in_period(moment_in(result, now), since, now)]
    warnings = []
    if others := [result for result in answer.results if result not in on_sites]:
        warnings.append(other_sites_warning(ENGINES[engine], others))
    if len(in_period) < len(on_sites):
        left_out = len(on_sites) - len(in_period)
        results = "1 result" if left_out == 1 else f"{left_out} results"
        title = ENGINES[engine].title
        period = since if ".." in since else f"the last {since}"
        warnings.append(f"{results} from {title} left out: dated outside {period}.")
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
