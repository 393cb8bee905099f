"""Requests to engines without a key, each in its turn.

A caller reserves the next slot, then sleeps without holding a lock. If it is killed, its slot stays
unused; a cancelled call returns it.
"""

from __future__ import annotations

import time
from functools import partial

from websearch.base.calls import check_cancelled
from websearch.base.durations import spoken
from websearch.base.http_client import send_within
from websearch.engines.base.messages import EngineAnswer
from websearch.engines.base.pacing import (
    PAGES,
    EngineState,
    change_state,
    pace_of,
    present_state,
    rest_error,
)
from websearch.engines.table import ENGINES, host_of
from websearch.kit import FAULT_TRIES, NAME_NOT_RESOLVED, SearchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from websearch.engines.base.messages import EngineRequest, ResultPage
    from websearch.engines.base.pacing import StateChange
    from websearch.kit import ProgressCallback, Response

    Answer = TypeVar("Answer", EngineAnswer, ResultPage)

FAIR_SECONDS = 3.0  # seconds; a timeout sooner than this does not count as a failure
POLL_SECONDS = 1.0  # seconds between a waiting caller's checks for a new pause
ABSENT_SERVER = (
    "Start the server, or set {} to its address. In a container, localhost is the container itself."
)
BUSY_POLL_SECONDS = 0.2  # seconds between checks whether a busy engine is free


class PacedEngine:
    """Sends the requests of one call to one engine, each in its turn.

    deadline: as time.monotonic(). warnings: a list to add sentences to. report: progress. use:
    PAGES, or "" for searches. Raises SearchError (invalid_input) for a wrong GLSI_RATE_LIMIT.
    """

    def __init__(
        self,
        engine: str,
        deadline: float,
        warnings: list[str],
        report: ProgressCallback = None,
        use: str = "",
    ) -> None:
        self.engine, self.use, self.deadline = engine, use, deadline
        self.warnings, self.report = warnings, report
        self.pace = pace_of(engine, use)
        host = host_of(engine)
        is_page = use == PAGES and host.page_interval is not None
        self.is_serial = host.serial and not is_page
        self.has_turn = False  # the slot is taken, and its time has come
        self.has_waited = False  # reserved for the last turn
        self.slot = 0.0  # see EngineState.give_back
        self.has_failed = False  # the engine had failures or blocks when the turn began

    def change(self, change: StateChange) -> Any:
        """Apply a change to the engine's state, and return its result."""
        return change_state(self.engine, change, self.warnings, self.use)

    def take_turn(self) -> None:
        """Wait for the engine's next slot. Raises SearchError (blocked, provider, rate_limit)."""
        self.has_waited = False
        while (wait := self.change(self.reserve)) is None:
            self.has_waited = True
            time.sleep(BUSY_POLL_SECONDS)
            check_cancelled()
        self.has_waited = self.has_waited or wait > 0
        turn_comes = time.monotonic() + wait
        try:
            if wait > 0 and self.report:
                title = host_of(self.engine).title
                self.report(f"{title}: waiting {spoken(wait)}", 0, 1)
            while (pause := turn_comes - time.monotonic()) > 0:
                time.sleep(min(pause, POLL_SECONDS))
                check_cancelled()
                present_state(self.engine, self.use).check_rest(self.engine)
        except BaseException:  # another caller was blocked, the call was cancelled, or Ctrl-C
            self.give_back()
            raise
        self.has_turn = True

    def reserve(self, state: EngineState) -> float | None:
        """Take the next slot; see EngineState.reserve."""
        left = self.deadline - time.monotonic()
        self.has_failed = bool(state.blocks or state.failures)
        wait = state.reserve(self.engine, self.pace, left, self.is_serial)
        self.slot = state.free_at
        return wait

    def give_back(self) -> None:
        """End a turn in which no request was sent."""
        self.has_turn = False
        self.change(lambda state: state.give_back(self.slot, self.pace[0]))

    def end_turn(self) -> None:
        """End the turn; an engine that accepts one request at a time is free again."""
        self.has_turn = False
        if self.is_serial:
            self.change(lambda state: state.end_turn(self.pace))

    def send(self, request: EngineRequest) -> Response:
        """Send a request in its turn; return the answer, with any status."""
        return send_within(request.for_http(), self.deadline)

    def fetch(
        self, request: EngineRequest, read: Callable[[EngineRequest, Response], Answer]
    ) -> Answer:
        """Send a request in its turn; return read(request, response).

        Each attempt takes its own turn. After a 403, the request's "otherwise" is sent, if any. The
        outcome is recorded for all processes. Raises SearchError.
        """
        fault: SearchError | None = None
        for _ in range(FAULT_TRIES):
            try:
                if not self.has_turn:
                    self.take_turn()
            except SearchError as error:
                raise fault or error from None
            sent = time.monotonic()
            try:
                response = self.send(request)
                if response.status == 403 and request.otherwise:
                    request = request.otherwise
                    continue
                answer = read(request, response)
            except SearchError as error:
                fault = self.recorded(error)
                if not is_passing_fault(fault):
                    break
            else:
                if self.has_failed or answer.quota or answer.pause:
                    self.change(partial(EngineState.note_answer, answer=answer, pace=self.pace))
                return answer
            finally:
                self.end_turn()
        seconds = time.monotonic() - sent
        if fault and is_failure(fault, seconds):
            self.change(lambda state: state.note_failure(seconds))
        raise fault or SearchError("internal", "No request was sent.")

    def recorded(self, error: SearchError) -> SearchError:
        """Record a block or a rate limit for all processes; return the error with its hint."""
        if error.kind == "blocked":
            signal, at_least = error.details["signal"], error.retry_after or 0.0
            state = self.change(lambda state: state.note_block(signal, at_least))
            return rest_error(self.engine, state, status=error.status)
        if error.kind == "rate_limit" and error.retry_after:
            seconds = error.retry_after
            self.change(lambda state: state.note_limit(seconds, self.pace))
        engine = ENGINES.get(self.engine)
        if engine and engine.own_server and is_absent(error):
            error.hint = ABSENT_SERVER.format(engine.address[0])
        return error


def is_passing_fault(error: SearchError) -> bool:
    """Return whether a request may be retried in its next turn."""
    passing = error.kind == "provider" and error.status in (500, 502, 503, 504)
    waits = error.kind == "rate_limit" and error.retry_after is not None
    # Nothing listens there, and this does not change during a call.
    is_passing = error.kind == "network" and not is_absent(error)
    return error.retryable and (passing or waits or is_passing)


def is_absent(error: SearchError) -> bool:
    """Return whether the error means that no server listens at the address."""
    return "refused the connection" in error.message


# ===== outcomes ===================================================================================


def is_failure(error: SearchError, seconds: float) -> bool:
    """Return whether an error is the engine's, not the caller's or the local network's.

    seconds: the time that the engine had to answer.
    """
    if error.kind == "network":
        return error.details.get("code") != NAME_NOT_RESOLVED
    if error.kind == "provider":
        return not 400 <= error.status < 500
    return error.kind == "timeout" and seconds >= FAIR_SECONDS


def note_outcome(engine: str, error: SearchError | None, seconds: float) -> None:
    """Record the outcome of a call to an unpaced engine for later calls.

    error: None if it answered. seconds: duration of the call.
    """
    if error and is_failure(error, seconds):
        change_state(engine, lambda state: state.note_failure(seconds), [])
    elif not error and present_state(engine).failures:
        change_state(engine, lambda state: state.note_answer(EngineAnswer(), (0.0, 1)), [])
