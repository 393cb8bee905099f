"""Pacing rules for engines without a key: when an engine accepts a request, and why it is paused.

The state of an engine is one row in the store's file, shared by all processes. A slot is reserved
in a short transaction. An engine is paused after a block and after several failures. The clock is
the wall clock, because processes share it. turns.py sends requests by these rules.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from dataclasses import asdict, dataclass, replace

from websearch.base.durations import seconds_of_duration, spoken
from websearch.engines.table import ENGINES, host_of
from websearch.kit import SearchError, read_secrets
from websearch.store.database import StoreFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.engines.base.messages import EngineAnswer, ResultPage

    StateChange = Callable[["EngineState"], Any]

DEFAULT_INTERVAL = "1s"  # seconds between two requests to an engine
REQUEST_SECONDS = 1.0  # minimum time left before the deadline when a caller's turn comes
FIRST_PAUSE = 600.0  # seconds of the pause after a block; each later block doubles it
LONGEST_REST = 21_600.0  # seconds: six hours, so an engine is tried again the same day
MOST_BLOCKS = 20  # most consecutive blocks counted; the pause reaches LONGEST_REST much earlier
FAILURES = 3  # failed calls within FAILURE_SECONDS pause an engine for FAILURE_REST
FAILURE_SECONDS = 600.0
FAILURE_REST = 300.0
PAGES = "pages"  # value of use for reading a source's pages; for searches it is ""

# ===== the rules ==================================================================================


@dataclass
class EngineState:
    """The shared state of an engine; times are seconds since 1970.

    now: time of the last read or change. signal: how the engine blocked a request; "" if failures
    paused it. blocks: in a row. failures: failed calls since failing_since. remaining: requests
    left of its quota until renewal; -1: unknown.
    """

    now: float = 0.0
    free_at: float = 0.0  # the next slot, if no burst is allowed
    rest_until: float = 0.0
    busy_until: float = 0.0  # the latest end of another caller's turn
    blocks: int = 0
    signal: str = ""
    failures: int = 0
    failing_since: float = 0.0
    remaining: int = -1
    renewal: float = 0.0

    def set_clock(self) -> EngineState:
        """Set now; if the clock was set back, move all times back, so no wait grows."""
        back = self.now - time.time()
        self.now -= back
        for name in ("free_at", "rest_until", "busy_until", "failing_since", "renewal"):
            setattr(self, name, getattr(self, name) - max(0.0, back))
        return self

    def rest_seconds(self) -> float:
        """Return the seconds until the engine's pause ends; 0 if it is not paused."""
        return max(0.0, self.rest_until - self.now)

    def queue_seconds(self, pace: tuple[float, int]) -> float:
        """Return the seconds until the engine accepts a request."""
        interval, burst = pace
        return max(0.0, self.free_at - interval * (burst - 1) - self.now)

    def reserve(
        self, engine: str, pace: tuple[float, int], left: float, is_serial: bool
    ) -> float | None:
        """Take the next slot; return the seconds until then, or None while the engine is busy.

        left: seconds until the caller's deadline. is_serial: the engine accepts one request at a
        time, so it is busy until the turn ends or, if this process is killed, until the deadline.
        Raises SearchError, without taking a slot: that of check_rest, or rate_limit if left is
        too short.
        """
        self.check_rest(engine)
        is_busy = is_serial and self.busy_until > self.now
        wait = self.busy_until - self.now if is_busy else self.queue_seconds(pace)
        if is_busy and left > REQUEST_SECONDS:
            return None
        if wait > 0 and wait + REQUEST_SECONDS > left:
            raise long_wait(engine, wait, left)
        self.free_at = max(self.free_at, self.now) + pace[0]
        self.busy_until = self.now + max(0.0, left) if is_serial else 0.0
        return wait

    def give_back(self, slot: float, interval: float) -> None:
        """Return an unused slot, unless a later slot has been taken.

        slot: free_at right after the slot was taken. The engine is no longer busy.
        """
        self.busy_until = 0.0
        if self.free_at == slot:
            self.free_at -= interval

    def check_rest(self, engine: str) -> None:
        """Raise SearchError while the engine is paused: blocked after a block, else provider."""
        if self.rest_seconds():
            raise rest_error(engine, self)

    def note_block(self, signal: str, at_least: float) -> EngineState:
        """Pause the engine after a block, twice as long after each later block; return self.

        Blocked requests that were sent before the pause began count as the same block.
        """
        if self.rest_until <= self.now or not self.signal:
            self.blocks = min(self.blocks + 1, MOST_BLOCKS)
            self.rest_until = self.now + min(FIRST_PAUSE * 2 ** (self.blocks - 1), LONGEST_REST)
        self.rest_until = max(self.rest_until, self.now + min(at_least, LONGEST_REST))
        self.signal = signal
        return self

    def note_failure(self, seconds: float) -> None:
        """Count a failed call, and pause the engine after several.

        seconds: duration of the call; one that began before the first failure counts with it.
        """
        if self.now - seconds < self.failing_since:
            return
        if self.failing_since < self.now - FAILURE_SECONDS:
            self.failures, self.failing_since = 0, self.now
        self.failures += 1
        if self.failures >= FAILURES and self.rest_until <= self.now:
            self.rest_until, self.signal = self.now + FAILURE_REST, ""

    def note_answer(self, answer: EngineAnswer | ResultPage, pace: tuple[float, int]) -> None:
        """Reset failures and blocks after a successful answer, unless a block came in the meantime.

        The quota and the pause in the answer are kept for later requests.
        """
        if self.rest_until <= self.now or not self.signal:
            self.rest_until, self.blocks, self.failures, self.signal = 0.0, 0, 0, ""
        self.note_limit(answer.pause, pace)
        if quota := answer.quota:
            self.remaining, self.renewal = quota.remaining, self.now + quota.seconds
            self.note_limit(quota.seconds if quota.remaining <= 0 else 0.0, pace)

    def note_limit(self, seconds: float, pace: tuple[float, int]) -> None:
        """Send nothing for the time that the engine set (Retry-After)."""
        if seconds > 0:
            end = self.now + min(seconds, LONGEST_REST) + pace[0] * (pace[1] - 1)
            self.free_at = max(self.free_at, end)

    def end_turn(self, pace: tuple[float, int]) -> None:
        """End a turn at an engine that accepts one request at a time.

        The interval counts from now, because the request may have taken long.
        """
        self.busy_until = 0.0
        if pace[1] == 1:
            self.free_at = max(self.free_at, self.now + pace[0])


def request_interval() -> float:
    """Return the seconds between requests, from GLSI_RATE_LIMIT. Raises SearchError."""
    text = os.environ.get("GLSI_RATE_LIMIT", "").strip() or DEFAULT_INTERVAL
    return seconds_of_duration("GLSI_RATE_LIMIT", text, "1s or 500ms")


def pace_of(engine: str, use: str = "") -> tuple[float, int]:
    """Return an engine's pace: seconds between two requests, and requests allowed at once.

    The seconds come from GLSI_RATE_LIMIT, or from the engine's own interval if that is longer. In a
    minute, at most 60 / seconds + burst requests are sent. At a different address (a mirror, a test
    server), GLSI_RATE_LIMIT=0s also disables the engine's own interval. use: PAGES, or "" for
    searches. Raises SearchError (invalid_input).
    """
    host = host_of(engine)
    if use == PAGES and host.page_interval is not None:
        return host.page_interval, 1
    general, own = request_interval(), host.interval
    if host.faster and is_set(host.faster[0]):
        own = host.faster[1]
    if own <= general or (general == 0 and host.has_other_address()):
        return general, 1
    return own, host.burst


def is_set(variable: str) -> bool:
    """Return whether a variable is set in the environment or, for a token, in secrets.yaml.

    A contact counts only in the environment, where identified_agent looks for it.
    """
    secrets = read_secrets() if variable.endswith("_TOKEN") else {}
    return bool(os.environ.get(variable, "").strip() or secrets.get(variable))


# ===== where the states are kept ==================================================================

_MISSED = object()  # returned if the store cannot be used
_LOCAL: dict[str, EngineState] = {}  # states of this process, if the store cannot be used
_LOCAL_LOCK = threading.Lock()


def state_key(engine: str, use: str = "") -> str:
    """Return the key of an engine's row; a different address (a mirror) has its own row.

    So does reading pages (PAGES) if it has its own limit. An address is stored as a digest, because
    it may contain secrets. Raises SearchError for an invalid address.
    """
    host = host_of(engine)
    names = [engine, use if host.pages_apart else ""]
    if host.has_other_address():
        from hashlib import sha256

        names.append(sha256(host.base_url().encode()).hexdigest()[:16])
    return " ".join(name for name in names if name)


def change_state(engine: str, change: StateChange, warnings: list[str], use: str = "") -> Any:
    """Apply change(state) to an engine's state, exclusively; return its result.

    If the store cannot be used, the state is kept in this process, and a warning says so. If change
    raises, the state is unchanged.
    """
    key = state_key(engine, use)

    def write(db: Any) -> Any:
        db.execute("CREATE TABLE IF NOT EXISTS engines (engine PRIMARY KEY, state)")
        state = read_rows(db).get(key, EngineState()).set_clock()
        outcome = change(state)
        row = (key, json.dumps(asdict(state)))
        db.execute("INSERT OR REPLACE INTO engines VALUES (?, ?)", row)
        return outcome

    outcome = _MISSED
    with contextlib.closing(StoreFile()) as store:
        if store.path == ":memory:":
            store.warnings.append("GLSI_DB_PATH is :memory:.")
        else:
            outcome = store.use(write, _MISSED, writing=True)
    if outcome is _MISSED:
        store.warnings.append("Pacing works within this process only.")
    warnings += [text for text in store.warnings if text not in warnings]
    if outcome is not _MISSED:
        return outcome
    with _LOCAL_LOCK:
        return change(_LOCAL.setdefault(key, EngineState()).set_clock())


def read_rows(db: Any) -> dict[str, EngineState]:
    """Return the states in the store by state_key, without malformed values."""
    states: dict[str, EngineState] = {}
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'engines'").fetchone():
        return states
    for key, text in db.execute("SELECT engine, state FROM engines").fetchall():
        state = states[key] = EngineState()
        with contextlib.suppress(TypeError, ValueError, AttributeError):
            for name, value in json.loads(text).items():
                if type(value) is type(getattr(state, name, None)):
                    setattr(state, name, value)
    return states


def stored_states() -> dict[str, EngineState]:
    """Return all states by state_key without changing or creating a file."""
    with contextlib.closing(StoreFile()) as store:
        states: dict[str, EngineState] = store.use(read_rows, {})
    for key, state in list(_LOCAL.items()):
        if key not in states or states[key].now < state.now:
            states[key] = replace(state)
    return {key: state.set_clock() for key, state in states.items()}


def present_state(engine: str, use: str = "") -> EngineState:
    """Return an engine's state without changing it. Raises SearchError."""
    return stored_states().get(state_key(engine, use)) or EngineState().set_clock()


def engine_states() -> dict[str, EngineState]:
    """Return the states of all engines with a valid address. Never raises.

    The state of a separate limit for pages is under "ENGINE pages".
    """
    stored, states = stored_states(), {}
    for engine in ENGINES:
        with contextlib.suppress(SearchError):
            host_of(engine).base_url()
            states[engine] = stored.get(state_key(engine)) or EngineState().set_clock()
            if state_key(engine, PAGES) != state_key(engine) and state_key(engine, PAGES) in stored:
                states[f"{engine} {PAGES}"] = stored[state_key(engine, PAGES)]
    return states


# ===== errors =====================================================================================


def long_wait(engine: str, wait: float, left: float) -> SearchError:
    """Return the error for a wait that exceeds the caller's deadline."""
    message = (
        f"{host_of(engine).title} accepts the next request in {spoken(wait)}, but this call has "
        f"only {spoken(max(0.0, left))} left."
    )
    hint = f"Raise {{timeout}} to {int(wait) + 30} seconds. Or try later."
    if wait + 30 > 600:  # the longest timeout
        hint = f"Try later; until then use {other_engines(engine)}."
    return SearchError("rate_limit", message, hint, retryable=True, retry_after=round(wait, 1))


def rest_error(engine: str, state: EngineState, **details: Any) -> SearchError:
    """Return the error for a paused engine.

    details: the response's status, if the engine blocked just now.
    """
    title, left = host_of(engine).title, spoken(state.rest_seconds())
    message = f"{title} is paused for another {left} because {pause_reason(state)}."
    if details:
        message = f"{title} blocked the request: it answered with {state.signal}."
    details = details or {"resting": True}
    return SearchError(
        "blocked" if state.signal else "provider",
        message,
        f"Wait {left}; until then use {other_engines(engine)}.",
        retryable=True,
        retry_after=round(state.rest_seconds()),
        signal=state.signal,
        **details,
    )


def pause_reason(state: EngineState) -> str:
    """Return why an engine is paused, as a clause."""
    if state.signal:
        return f"it blocked an earlier request with {state.signal}"
    return f"{state.failures} calls failed within {spoken(FAILURE_SECONDS)}"


def other_engines(engine: str) -> str:
    """Return the engines to use instead, with the variables that configure them.

    Paused engines are omitted. A separate sentence lists companies that answer without a key.
    """
    similar, states = {*host_of(engine).sources} - {"web"}, engine_states()
    names, free = [], []
    for name, other in ENGINES.items():
        is_resting = name in states and states[name].rest_seconds()
        if is_resting or name == engine:
            continue
        if other.keyless:
            free.append(name)
        elif other.auto or other.is_fallback or not similar.isdisjoint(other.sources):
            own_server = other.address if other.own_server else ()
            need = [*other.keys, *own_server][:1]
            names.append(f"{name} ({need[0]})" if need else name)
    others = f"engine {', '.join(names[:-1])} or {names[-1]}"
    if not free:
        return others
    return (
        f"{others}. Engines {', '.join(free)} answer without a key; their operators see the query"
    )
