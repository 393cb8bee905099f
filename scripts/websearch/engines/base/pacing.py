"""The rules of pacing engines without a key: when one takes a request, when it rests, and why.

What is known of an engine is one row in the store's file, for every process. A slot is reserved in
a short transaction. An engine rests after a block, and after several failures. The clock is the
wall clock, because processes share it. turns.py sends requests by these rules.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from dataclasses import asdict, dataclass, replace

from websearch.base.durations import seconds_of_duration, spoken
from websearch.engines.base.messages import EngineAnswer
from websearch.engines.table import ENGINES, host_of
from websearch.kit import SearchError, read_secrets
from websearch.store.database import StoreFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.engines.base.messages import EngineAnswer

    StateChange = Callable[["EngineState"], Any]

DEFAULT_INTERVAL = "1s"  # between two requests to an engine
REQUEST_SECONDS = 1.0  # what must be left of the deadline when a caller's turn comes
FIRST_REST = 600.0  # seconds without a request after a block; doubled by each further block
LONGEST_REST = 21_600.0  # seconds: six hours, so that an engine is tried again the same day
MOST_BLOCKS = 20  # blocks counted in a row: the rest has reached LONGEST_REST long before
FAILURES = 3  # calls that fail within FAILURE_SECONDS make an engine rest for FAILURE_REST
FAILURE_SECONDS = 600.0
FAILURE_REST = 300.0
PAGES = "pages"  # the use of an engine that reads pages of its source; searches have none

# ===== the rules ==================================================================================


@dataclass
class EngineState:
    """What all processes know of an engine; moments are seconds since 1970.

    now: when the state was read or changed last. signal: what the engine blocked a request with; ""
    if it rests because of failures. blocks: in a row. failures: of calls, since failing_since.
    remaining: requests left of its quota until renewal; -1: not known.
    """

    now: float = 0.0
    free_at: float = 0.0  # the next slot, if no burst is allowed
    rest_until: float = 0.0
    busy_until: float = 0.0  # the end of another caller's turn, at the latest
    blocks: int = 0
    signal: str = ""
    failures: int = 0
    failing_since: float = 0.0
    remaining: int = -1
    renewal: float = 0.0

    def set_clock(self) -> EngineState:
        """Set now; if the clock was set back, move all moments back, so that no wait grows."""
        back = self.now - time.time()
        self.now -= back
        for name in ("free_at", "rest_until", "busy_until", "failing_since", "renewal"):
            setattr(self, name, getattr(self, name) - max(0.0, back))
        return self

    def rest_seconds(self) -> float:
        """Return the seconds until the engine's rest ends; 0 if it does not rest."""
        return max(0.0, self.rest_until - self.now)

    def queue_seconds(self, pace: tuple[float, int]) -> float:
        """Return the seconds until the engine takes a request."""
        interval, burst = pace
        return max(0.0, self.free_at - interval * (burst - 1) - self.now)

    def reserve(
        self, engine: str, pace: tuple[float, int], left: float, is_serial: bool
    ) -> float | None:
        """Take the next slot; return the seconds until then, or None while the engine is busy.

        left: until the caller's deadline. is_serial: the engine takes one request at a time: it is
        busy from now on, until the turn ends or, if this process is killed, until the deadline.
        Raises SearchError: that of check_rest, or rate_limit if what is left is too short to wait;
        then no slot is taken.
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
        """Give back a slot that was not used, unless a later one has been taken meanwhile.

        slot: what free_at was set to when the slot was taken. The engine is busy no longer.
        """
        self.busy_until = 0.0
        if self.free_at == slot:
            self.free_at -= interval

    def check_rest(self, engine: str) -> None:
        """Raise SearchError while the engine rests: blocked after a block, else provider."""
        if self.rest_seconds():
            raise rest_error(engine, self)

    def note_block(self, signal: str, at_least: float) -> EngineState:
        """Let the engine rest after a block, twice as long after each further one; return self.

        Blocks of requests that were sent before the rest began belong to the same one.
        """
        if self.rest_until <= self.now or not self.signal:
            self.blocks = min(self.blocks + 1, MOST_BLOCKS)
            self.rest_until = self.now + min(FIRST_REST * 2 ** (self.blocks - 1), LONGEST_REST)
        self.rest_until = max(self.rest_until, self.now + min(at_least, LONGEST_REST))
        self.signal = signal
        return self

    def note_failure(self, seconds: float) -> None:
        """Count a call that failed, and let the engine rest if there were several.

        seconds: that the call took: if it had begun before the first failure, it belongs to that.
        """
        if self.now - seconds < self.failing_since:
            return
        if self.failing_since < self.now - FAILURE_SECONDS:
            self.failures, self.failing_since = 0, self.now
        self.failures += 1
        if self.failures >= FAILURES and self.rest_until <= self.now:
            self.rest_until, self.signal = self.now + FAILURE_REST, ""

    def note_answer(self, answer: EngineAnswer, pace: tuple[float, int]) -> None:
        """Forget failures and blocks after a good answer, unless a block came meanwhile.

        The quota and the pause that the answer names are kept for later requests.
        """
        if self.rest_until <= self.now or not self.signal:
            self.rest_until, self.blocks, self.failures, self.signal = 0.0, 0, 0, ""
        self.note_limit(answer.pause, pace)
        if quota := answer.quota:
            self.remaining, self.renewal = quota.remaining, self.now + quota.seconds
            self.note_limit(quota.seconds if quota.remaining <= 0 else 0.0, pace)

    def note_limit(self, seconds: float, pace: tuple[float, int]) -> None:
        """Ask nothing for as long as the engine has said (Retry-After)."""
        if seconds > 0:
            end = self.now + min(seconds, LONGEST_REST) + pace[0] * (pace[1] - 1)
            self.free_at = max(self.free_at, end)

    def end_turn(self, pace: tuple[float, int]) -> None:
        """Let the next caller of an engine that takes one request at a time have its turn.

        Its pause counts from now, since the request may have been on its way for a while.
        """
        self.busy_until = 0.0
        if pace[1] == 1:
            self.free_at = max(self.free_at, self.now + pace[0])


def request_interval() -> float:
    """Return the seconds between requests, from GLSI_RATE_LIMIT; raises SearchError."""
    text = os.environ.get("GLSI_RATE_LIMIT", "").strip() or DEFAULT_INTERVAL
    return seconds_of_duration("GLSI_RATE_LIMIT", text, "1s or 500ms")


def pace_of(engine: str, use: str = "") -> tuple[float, int]:
    """Return an engine's pace: seconds between two requests, and how many may come at once.

    The seconds are those of GLSI_RATE_LIMIT, or the engine's own interval if that is longer. In any
    minute there are at most 60 / seconds + that many requests. At another address (a mirror, a test
    server) GLSI_RATE_LIMIT=0s lifts the engine's own interval, too. use: PAGES, or "" for searches.
    Raises SearchError (invalid_input).
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
    """Return whether a variable is set: in the environment, or, if it is a token, in secrets.yaml.

    A contact counts in the environment alone, because identified_agent looks for it there.
    """
    secrets = read_secrets() if variable.endswith("_TOKEN") else {}
    return bool(os.environ.get(variable, "").strip() or secrets.get(variable))


# ===== where the states are kept ==================================================================

_MISSED = object()  # what the store gives if it cannot be used
_LOCAL: dict[str, EngineState] = {}  # states of this process, for that case
_LOCAL_LOCK = threading.Lock()


def state_key(engine: str, use: str = "") -> str:
    """Return the key of an engine's row; at another address (a mirror) it has a row of its own.

    So has the use PAGES, if a limit of its own holds for it. An address stands there as a digest,
    because it may hold what is secret. Raises SearchError for a wrong address.
    """
    host = host_of(engine)
    names = [engine, use if host.pages_apart else ""]
    if host.has_other_address():
        from hashlib import sha256

        names.append(sha256(host.base_url().encode()).hexdigest()[:16])
    return " ".join(name for name in names if name)


def change_state(engine: str, change: StateChange, warnings: list[str], use: str = "") -> Any:
    """Apply change(state) to an engine's state, alone among all processes; return its result.

    If the store cannot be used, the state is kept in this process, and a warning says so. What
    change raises is passed on, and the state stays as it was.
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
        store.warnings[-1] = f"Pacing holds within this process only. {store.warnings[-1]}"
    warnings += [text for text in store.warnings if text not in warnings]
    if outcome is not _MISSED:
        return outcome
    with _LOCAL_LOCK:
        return change(_LOCAL.setdefault(key, EngineState()).set_clock())


def read_rows(db: Any) -> dict[str, EngineState]:
    """Return the states in the store by state_key; what makes no sense in them is left out."""
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
    """Return all states by state_key, without changing anything: no file is made."""
    with contextlib.closing(StoreFile()) as store:
        states: dict[str, EngineState] = store.use(read_rows, {})
    for key, state in list(_LOCAL.items()):
        if key not in states or states[key].now < state.now:
            states[key] = replace(state)
    return {key: state.set_clock() for key, state in states.items()}


def present_state(engine: str, use: str = "") -> EngineState:
    """Return an engine's state without changing anything. Raises SearchError."""
    return stored_states().get(state_key(engine, use)) or EngineState().set_clock()


def engine_states() -> dict[str, EngineState]:
    """Return the states of all engines whose address is set and right; never raises.

    What is known of a limit for pages alone stands under "ENGINE pages".
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
    """Return the error of a wait that the caller's deadline does not allow."""
    message = (
        f"{host_of(engine).title} takes the next request in {spoken(wait)}, and "
        f"{spoken(max(0.0, left))} of the call are left."
    )
    hint = f"Raise {{timeout}} to {int(wait) + 30} seconds. Or try later."
    if wait + 30 > 600:  # the longest timeout
        hint = f"Try later; until then use {other_engines(engine)}."
    return SearchError("rate_limit", message, hint, retryable=True, retry_after=round(wait, 1))


def rest_error(engine: str, state: EngineState, **details: Any) -> SearchError:
    """Return the error of an engine that is not asked because it rests.

    details: the status of an answer, if that has just been a block.
    """
    title, left = host_of(engine).title, spoken(state.rest_seconds())
    message = f"{title} is not asked for another {left}, because {why_it_rests(state)}."
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


def why_it_rests(state: EngineState) -> str:
    """Return why an engine rests, as a clause."""
    if state.signal:
        return f"it blocked an earlier request with {state.signal}"
    return f"{state.failures} calls failed within {spoken(FAILURE_SECONDS)}"


def other_engines(engine: str) -> str:
    """Return the engines to use instead of one that blocks, with what configures them.

    None of them rests. Companies that answer without a key come in a sentence of their own.
    """
    similar, states = {*host_of(engine).sources} - {"web"}, engine_states()
    names, free = [], []
    for name, other in ENGINES.items():
        is_resting = name in states and states[name].rest_seconds()
        if is_resting or name == engine:
            continue
        if other.keyless:
            free.append(name)
        elif other.auto or other.stands_in or not similar.isdisjoint(other.sources):
            own_server = other.address if other.own_server else ()
            need = [*other.keys, *own_server][:1]
            names.append(f"{name} ({need[0]})" if need else name)
    others = f"engine {', '.join(names[:-1])} or {names[-1]}"
    if not free:
        return others
    return (
        f"{others}. Engines {', '.join(free)} answer without a key; their operators see the query"
    )
