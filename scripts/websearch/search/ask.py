"""Ask every question at its engines, at the same time: from the store, or an engine in its pace."""

from __future__ import annotations

import time

from websearch.base.calls import check_cancelled, in_context, result_or_error, waits
from websearch.engines.base.days import utc_day, with_day
from websearch.engines.base.ledger import begin_request, end_request
from websearch.engines.table import CHAINS, ENGINES, engine_order, stand_ins
from websearch.kit import MIN_TIMEOUT, SearchError, drop_empty, may_fall_back
from websearch.search.answers import (
    Answer,
    answered,
    asking_alone,
    needs_stand_ins,
    no_engine_answered,
    stand_in_note,
    store_answer,
    take_stored,
)
from websearch.search.engine_calls import RESULT_FIELDS, engine_call
from websearch.search.result_dates import is_in_period

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import ProgressCallback
    from websearch.search.plan import Question
    from websearch.store.page_store import PageStore

FIRST_SHARE = 0.6  # of the time that is left: one engine's, if another one may follow
RESULT_PAGE = 10  # results of one, which come whole: they are kept for a question of fewer, too
LATE_SECONDS = 0.5  # each question ends by itself at the deadline; this late it is given up


def ask(
    questions: list[Question], store: PageStore, deadline: float, report: ProgressCallback = None
) -> list[Answer]:
    """Return an answer for each question and engine, in the order of the questions.

    If auto fails and no other engine answers its question, the stand-ins are asked. deadline: on
    time.monotonic()'s clock. A question that fails does not affect the others.
    """
    asked = [(question, engine) for question in questions for engine in question.engines]
    if report and len(asked) == 1:
        question, engine = asked[0]
        report(f"asking {engine_order(engine)[0]}", 0, question.count + 1)
    answers = ask_together(asked, store, deadline, None if len(asked) == 1 else report)
    failed = [answer for answer in answers if needs_stand_ins(answer)]
    done = {answer.number for answer in answered(answers)}
    asked = [
        (answer.question, engine)
        for answer in failed
        if answer.number not in done
        for engine in stand_ins()
        if engine not in answer.question.engines
    ]
    answers += ask_together(asked, store, deadline, report) if asked else []
    numbers = {answer.number for answer in failed}
    good = [answer for answer in answered(answers) if answer.number in numbers]
    for answer in good:
        answer.warnings.append(stand_in_note(good, len(questions)))
    return sorted(answers, key=lambda answer: answer.number)


def store_note(engine: str) -> str:
    """Return the sentence that says why an engine is asked for the same question again."""
    title = ENGINES[engine].title
    return (
        f"{title}'s results are asked for each time, because its terms forbid storing them; pages "
        f"are stored (WEB_SEARCH_STORE={engine}, if you have storage rights, stores both)."
    )


def ask_together(
    asked: list[tuple[Question, str]],
    store: PageStore,
    deadline: float,
    report: ProgressCallback,
) -> list[Answer]:
    """Return the answers to pairs of question and engine, in their order; late ones are errors."""
    from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

    pool = ThreadPoolExecutor(len(asked))
    futures = [
        pool.submit(in_context(answer_question), *pair, store.path, deadline) for pair in asked
    ]
    left = set(futures)
    try:
        for pause in waits(deadline + LATE_SECONDS):  # late_answer stands for what comes later
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
    """Return the answer of an engine that did not answer in time."""
    hint = "Raise {timeout}. Or ask fewer questions."
    error = SearchError("timeout", "There was no answer in time.", hint, retryable=True)
    return Answer(question, asked, error=error)


def answer_question(question: Question, asked: str, store_path: str, deadline: float) -> Answer:
    """Return the answer of the first engine that gives one; never raises."""
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
    """Fill an answer from the first engine that gives one; raises SearchError if none does.

    Another engine may follow auto's last one, too: a stand-in.
    """
    order = engine_order(answer.asked)
    share = FIRST_SHARE if answer.asked in CHAINS else 1.0
    for engine in order:
        seconds = max(MIN_TIMEOUT, (deadline - time.monotonic()) * share)
        error = error_of_engine(answer, engine, store, seconds)
        if error is None:
            return
        answer.failures.append((engine, error))
        # What an engine refuses before it is sent (no status), another one may be able to do.
        is_unsent = error.kind == "invalid_input" and not error.status
        if not (is_unsent or may_fall_back(error.kind)):
            break
    failure = no_engine_answered(answer.failures)
    if not may_fall_back(failure.kind) or not offer_stale(answer, order, store, failure):
        raise failure


def error_of_engine(
    answer: Answer, engine: str, store: PageStore, seconds: float
) -> SearchError | None:
    """Fill an answer from an engine; return why it could not, or None."""
    try:
        fill_answer(answer, engine, store, seconds)
    except SearchError as error:
        return error
    return None


def offer_stale(answer: Answer, order: list[str], store: PageStore, reason: SearchError) -> bool:
    """Fill an answer with a stored one of any age, if the caller wants that; else say that it is.

    Returns whether the answer is filled. reason: why no engine answered; its hint is completed.
    """
    if answer.question.stale is None:
        return False
    stored = Answer(answer.question, answer.asked)
    if not any(take_stored(stored, engine, store, None) for engine in order):
        return False
    if not answer.question.stale:
        hint = f"An answer of {stored.fetched_at} is stored: {{stale}} gives it."
        reason.hint = f"{reason.hint} {hint}".strip()
        answer.warnings.append(hint)
        return False
    answer.engine, answer.results, answer.fetched_at = (
        stored.engine,
        stored.results,
        stored.fetched_at,
    )
    answer.from_cache = answer.is_stale = True
    answer.warnings.append(f"From an earlier search, because now: {reason.message}")
    return True


def fill_answer(answer: Answer, engine: str, store: PageStore, seconds: float) -> None:
    """Fill an answer from the store, or ask the engine within seconds. Raises SearchError.

    If another caller asks the same at this moment, its answer is waited for.
    """
    end = time.monotonic() + seconds
    if take_stored(answer, engine, store, answer.question.max_age):
        return
    with asking_alone(answer.question, engine, store, end):
        if not take_stored(answer, engine, store, answer.question.max_age):
            fill_from_engine(answer, engine, store, end)


def fill_from_engine(answer: Answer, engine: str, store: PageStore, end: float) -> None:
    """Ask the engine, and fill and store the answer. Raises SearchError.

    After waiting for its turn a caller looks into the store once more, because another process may
    have asked the same meanwhile. end: on time.monotonic()'s clock.
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
    today, further = utc_day(time.time()), max(0, RESULT_PAGE - question.count)
    answer.results = [
        with_day(drop_empty({name: result.get(name) for name in RESULT_FIELDS}), today)
        for result in [*reply.results[: question.count], *reply.further[:further]]
    ]
    answer.warnings += reply.warnings
    keep_to_filters(answer)
    if not ENGINES[engine].is_storable():
        answer.warnings.append(store_note(engine))
    store_answer(answer, store)


def keep_to_filters(answer: Answer) -> None:
    """Leave out the results that the question's filters exclude, and count them in warnings.

    Engines take filters for wishes. Raises SearchError (no_results) if nothing is left.
    """
    from websearch.engines.base.result_pages import (
        FILTERED_HINT,
        on_asked_sites,
        other_sites_warning,
    )

    engine, filters = answer.engine, answer.question.filters_for(answer.engine)
    on_sites = on_asked_sites(ENGINES[engine], answer.results, filters)
    since, today = filters.get("since", ""), utc_day(time.time())
    in_time = [
        result
        for result in on_sites
        if is_in_period(result.get("date") or result.get("age", ""), since, today)
    ]
    warnings = []
    if others := [result for result in answer.results if result not in on_sites]:
        warnings.append(other_sites_warning(ENGINES[engine], others))
    if len(in_time) < len(on_sites):
        left_out = len(on_sites) - len(in_time)
        results = "1 result" if left_out == 1 else f"{left_out} results"
        title = ENGINES[engine].title
        period = since if ".." in since else f"the last {since}"
        warnings.append(f"{results} of {title} left out: the date is not in {period}.")
    if answer.results and not in_time:
        raise SearchError("no_results", " ".join(warnings), FILTERED_HINT)
    answer.results = in_time
    answer.warnings += warnings
