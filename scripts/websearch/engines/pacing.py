"""Pacing of the keyless engines: one row an engine in a small database, for every process.

A caller reserves the next slot in a short transaction, then sleeps without holding a lock; a caller
that is killed meanwhile leaves its slot unused. After a block the engine rests for all processes.
The clock is the wall clock, because processes share it. The rules are pure functions.
"""

from __future__ import annotations

import functools
import os
import time

from websearch.calls import check_cancelled
from websearch.common import SearchError
from websearch.durations import seconds_of_duration
from websearch.engines import (
    ENGINES,
    engine_address,
    entry_of,
    has_key,
    has_other_address,
    keyless_engines,
)
from websearch.http_client import FAULT_TRIES, read_secrets, send_within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from websearch.common import ProgressCallback
    from websearch.engines.messages import EngineAnswer, EngineRequest
    from websearch.http_client import Response

    Answer = TypeVar("Answer", bound=EngineAnswer)

    StateChange = Callable[[dict[str, Any], float], Any]  # gets an engine's state and the time

DEFAULT_INTERVAL = "1s"  # between two requests to an engine
REQUEST_SECONDS = 1.0  # what must be left of the deadline when a caller's turn comes
FIRST_REST = 600.0  # seconds without a request after a block; doubled by each further block
LONGEST_REST = 21_600.0  # seconds: six hours, so that an engine is tried again the same day
MOST_BLOCKS = 20  # blocks counted in a row: the rest has reached LONGEST_REST long before
LOOK_SECONDS = 1.0  # a waiting caller looks this often whether the engine has begun to rest
BUSY_LOOK_SECONDS = 0.2  # and this often whether an engine that takes one request is free again
PAGES = "pages"  # the use of an engine that reads pages of its source; searches have none
LOCK_SECONDS = 5.0  # a caller waits this long for the pacing database, then does without

# busy_until: the end of another caller's turn, at the latest. remaining: requests left of the
# engine's quota until the moment renewal; -1: not known.
COLUMNS = (
    "last_slot", "not_before", "rest_until", "blocks", "signal", "updated", "busy_until",
    "remaining", "renewal",
)  # fmt: skip
# States of this process, for when the database cannot be used; under "" the lock that guards them.
_LOCAL: dict[str, Any] = {}

# ===== the rules ==================================================================================


def fresh_state() -> dict[str, Any]:
    """Return the state of an engine that was never asked; moments are seconds of the epoch."""
    return dict(zip(COLUMNS, (0.0, 0.0, 0.0, 0, "", 0.0, 0.0, -1, 0.0), strict=True))


def follow_clock(state: dict[str, Any], now: float) -> None:
    """Move the moments of a state back if the clock was set back, so that no wait grows."""
    if state["updated"] > now:
        for name in ("last_slot", "not_before", "rest_until", "busy_until", "renewal"):
            state[name] -= state["updated"] - now
    state["updated"] = now


def check_rest(state: dict[str, Any], now: float, engine: str) -> None:
    """Raise SearchError (blocked) while the engine rests."""
    left = state["rest_until"] - now
    if left > 0:
        raise blocked_error(engine, state["signal"], left, resting=True)


def next_slot(state: dict[str, Any], pace: tuple[float, int]) -> float:
    """Return the moment from which on the engine takes a request; it may have passed."""
    interval, burst = pace
    free = state["last_slot"] + interval * (2 - burst) if interval else 0.0
    return float(max(state["not_before"], free))


def reserve_slot(
    state: dict[str, Any], now: float, engine: str, pace: tuple[float, int], left: float
) -> float:
    """Take the next slot of an engine; return the seconds until then.

    pace: see pace_of. left: until the caller's deadline. Raises SearchError: blocked while the
    engine rests, rate_limit if the wait is longer than what is left; then no slot is taken.
    """
    check_rest(state, now, engine)
    slot = max(now, next_slot(state, pace))
    wait = slot - now
    if wait > 0 and wait + REQUEST_SECONDS > left:
        raise long_wait(engine, wait, left, is_pause=state["not_before"] >= slot)
    if pace[0]:
        state["last_slot"] = max(slot, state["last_slot"] + pace[0])
    return wait


def long_wait(engine: str, wait: float, left: float, is_pause: bool) -> SearchError:
    """Return the error of a wait that the caller's deadline does not allow.

    is_pause: the engine has asked for it; else it is the queue of the calls before.
    """
    title = entry_of(engine)["title"]
    reason = f"{title}'s queue is {spoken(wait)} long"
    if is_pause:
        reason = f"{title} wants no request for {spoken(wait)}"
    message = f"{reason}, and {spoken(max(0.0, left))} of the call are left."
    hint = f"Raise {{timeout}} to {int(wait) + 30} seconds. Or try later."
    if wait + 30 > 600:  # the longest timeout
        hint = f"Try later; until then use {other_engines(engine)}."
    return SearchError("rate_limit", message, hint, retryable=True, retry_after=round(wait, 1))


def free_engine(state: dict[str, Any], now: float, pace: tuple[float, int]) -> None:
    """Let the next caller of an engine that takes one request at a time have its turn.

    Its pause counts from now, since the request may have been on its way for a while.
    """
    state["busy_until"] = 0.0
    if pace[1] == 1:
        state["last_slot"] = max(state["last_slot"], now)


def note_block(state: dict[str, Any], now: float, signal: str, at_least: float) -> float:
    """Let the engine rest after a block; return for how many seconds.

    Each further block doubles the rest. Blocks of requests that were sent before the rest began
    belong to the same one.
    """
    if state["rest_until"] <= now:
        state["blocks"] = min(state["blocks"] + 1, MOST_BLOCKS)
        rest = min(FIRST_REST * 2 ** (state["blocks"] - 1), LONGEST_REST)
        state["rest_until"] = now + rest
    state["rest_until"] = max(state["rest_until"], now + min(at_least, LONGEST_REST))
    state["signal"] = signal
    return float(state["rest_until"] - now)


def note_answer(state: dict[str, Any], now: float, answer: EngineAnswer) -> None:
    """Forget earlier blocks after a good answer, unless a block came while it was on its way.

    The quota and the pause that the answer names are kept for later requests.
    """
    if state["rest_until"] <= now:
        state["blocks"], state["signal"] = 0, ""
    seconds = answer.pause
    if quota := answer.quota:
        state["remaining"], state["renewal"] = quota.remaining, now + quota.seconds
        seconds = max(seconds, quota.seconds) if quota.remaining <= 0 else seconds
    note_limit(state, now, seconds)


def note_limit(state: dict[str, Any], now: float, seconds: float) -> None:
    """Ask nothing for as long as the engine has said (Retry-After)."""
    state["not_before"] = max(state["not_before"], now + min(seconds, LONGEST_REST))


def spoken(seconds: float) -> str:
    """Return a duration for people: 0.5 s, 42 s, 10 min, 9 min 40 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else rest, "s")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


def request_interval() -> float:
    """Return the seconds between requests, from GLSI_RATE_LIMIT; raises SearchError."""
    text = os.environ.get("GLSI_RATE_LIMIT", "").strip() or DEFAULT_INTERVAL
    return seconds_of_duration("GLSI_RATE_LIMIT", text, "1s or 500ms")


def pace_of(engine: str) -> tuple[float, int]:
    """Return an engine's pace: seconds between two requests, and how many may come at once.

    The seconds are those of GLSI_RATE_LIMIT, or the engine's own interval if that is longer. In any
    minute there are at most 60 / seconds + that many requests. At another address (a mirror, a test
    server) GLSI_RATE_LIMIT=0s lifts the engine's own interval, too. Raises SearchError
    (invalid_input).
    """
    entry, general = entry_of(engine), request_interval()
    own: float = entry.get("interval", 0.0)
    if "faster" in entry and is_set(entry["faster"][0]):
        own = entry["faster"][1]
    if own <= general or (general == 0 and has_other_address(engine)):
        return general, 1
    return own, entry.get("burst", 1)


def page_pace_of(engine: str) -> tuple[float, int]:
    """Return the pace of requests that read pages of a source. Raises SearchError."""
    entry = entry_of(engine)
    return (entry["page_interval"], 1) if "page_interval" in entry else pace_of(engine)


def is_set(variable: str) -> bool:
    """Return whether a variable is set: in the environment, or, if it is a token, in secrets.yaml.

    A contact counts in the environment alone, because identified_agent looks for it there.
    """
    secrets = read_secrets() if variable.endswith("_TOKEN") else {}
    return bool(os.environ.get(variable, "").strip() or secrets.get(variable))


# ===== where the states are kept ==================================================================


def pacing_path() -> str:
    """Return the file of the pacing database, beside the store; "" if there is no home folder."""
    cache = os.environ.get("GLSI_DB_PATH", "").strip()
    folder = os.path.dirname(os.path.expanduser(cache)) or "." if cache else "~/.glsi"
    folder = os.path.expanduser(folder)
    if cache == ":memory:" or folder.startswith("~"):
        return ""
    return os.path.join(os.path.abspath(folder), "engines.db")


def state_key(engine: str, use: str = "") -> str:
    """Return the key of an engine's row; at another address (a mirror) it has a row of its own.

    So has the use PAGES, if a limit of its own holds for it. An address stands there as a digest,
    because it may hold what is secret.
    """
    names = [engine, use if "pages_apart" in entry_of(engine) else ""]
    if has_other_address(engine):
        from hashlib import sha256

        names.append(sha256(engine_address(engine).encode()).hexdigest()[:16])
    return " ".join(name for name in names if name)


def change_state(engine: str, change: StateChange, warnings: list[str], use: str = "") -> Any:
    """Apply change(state, now) to an engine's state, alone among all processes; return its result.

    If the database cannot be used, the state is kept in this process, and a warning says so. What
    change raises is passed on, and the state stays as it was.
    """
    path, key = pacing_path(), state_key(engine, use)
    try:
        if not path:
            raise OSError("there is no home folder")
        return change_row(path, key, change)
    except (OSError, ImportError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        text = f"Pacing holds within this process only: {path or 'engines.db'}: {reason}."
        hint = " Set GLSI_DB_PATH to a file in a writable folder; a broken file may be removed."
        if text + hint not in warnings:
            warnings.append(text + hint)
    import threading

    with _LOCAL.setdefault("", threading.Lock()):
        return changed(_LOCAL.setdefault(key, fresh_state()), change)


def changed(state: dict[str, Any], change: StateChange) -> Any:
    """Apply change(state, now) with the clock's present time."""
    now = time.time()
    follow_clock(state, now)
    return change(state, now)


def change_row(path: str, key: str, change: StateChange) -> Any:
    """Apply change to a row of the database in one transaction; raises OSError, ImportError."""

    def work(database: Any) -> Any:
        # A power cut may lose a second of pacing; waiting for the disk would cost every call.
        database.execute("PRAGMA synchronous = OFF")
        database.execute("BEGIN IMMEDIATE")
        state = read_row(database, key)
        outcome = changed(state, change)
        marks = ", ".join("?" * (1 + len(COLUMNS)))
        row = [key, *(state[name] for name in COLUMNS)]
        database.execute(f"INSERT OR REPLACE INTO engines VALUES ({marks})", row)  # noqa: S608
        database.execute("COMMIT")
        return outcome

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite would let others read it
    return use_database(path, work)


def use_database(address: str, work: Callable[[Any], Any]) -> Any:
    """Return work(database) of the database at a path or URL; raises OSError, ImportError."""
    import sqlite3
    from contextlib import closing

    is_url = address.startswith("file:")
    try:
        connection = sqlite3.connect(
            address, timeout=LOCK_SECONDS, isolation_level=None, uri=is_url
        )
        with closing(connection) as database:
            return work(database)
    # If a damaged name stands in SQLite's message, sqlite3 raises UnicodeError, and on Python 3.10
    # an error without words.
    except sqlite3.Error as error:
        raise OSError(str(error) or "file is damaged") from None
    except UnicodeError:
        raise OSError("file is damaged") from None


def read_row(database: Any, key: str) -> dict[str, Any]:
    """Return an engine's state from the database, whose table is made if it is missing.

    The table of version 1.1.0 is replaced: it holds nothing but some hours of pacing.
    """
    columns = [column[1] for column in database.execute("PRAGMA table_info(engines)")]
    if columns == ["engine", *COLUMNS[:6]]:
        database.execute("DROP TABLE engines")
    database.execute(
        "CREATE TABLE IF NOT EXISTS engines (engine TEXT PRIMARY KEY, last_slot REAL, "
        "not_before REAL, rest_until REAL, blocks INTEGER, signal TEXT, updated REAL, "
        "busy_until REAL, remaining INTEGER, renewal REAL)"
    )
    names = ", ".join(COLUMNS)
    query = f"SELECT {names} FROM engines WHERE engine = ?"  # noqa: S608  names of ours
    fresh, row = fresh_state(), database.execute(query, (key,)).fetchone()
    if not row or [type(value) for value in row] != [type(value) for value in fresh.values()]:
        return fresh
    return dict(zip(COLUMNS, row, strict=True))


def present_state(engine: str, use: str = "") -> dict[str, Any]:
    """Return an engine's state without changing anything: no file is made."""
    path, key = pacing_path(), state_key(engine, use)
    state = {**_LOCAL.get(key, fresh_state())}
    if path and os.path.exists(path):
        from contextlib import suppress
        from urllib.parse import quote

        address = f"file:{quote(os.fsencode(path))}?mode=ro"
        with suppress(OSError, ImportError):  # what this process knows must do
            stored = use_database(address, functools.partial(read_row, key=key))
            state = max(state, stored, key=lambda state: state["updated"])
    follow_clock(state, time.time())
    return state


def engine_states() -> dict[str, dict[str, Any]]:
    """Return how each engine's pacing stands, for all processes; never raises.

    engine -> resting (bool), and if they are not zero: rest_seconds, blocks (in a row), signal (of
    the last block), queue_seconds (until the next free slot). With a quota that the engine has told
    and not yet renewed: remaining, renewal_seconds. An engine that is not configured is left out.
    What is known of a limit for pages alone stands under "ENGINE pages".
    """
    from contextlib import suppress

    states = {}
    for engine in [name for name in keyless_engines() if not has_key(name)]:
        with suppress(SearchError):  # it is not configured, or a variable is wrong
            engine_address(engine)
            states[engine] = shown_state(present_state(engine), pace_of(engine))
            if "pages_apart" in entry_of(engine):
                of_pages = shown_state(present_state(engine, PAGES), page_pace_of(engine))
                states |= {f"{engine} {PAGES}": of_pages} if len(of_pages) > 1 else {}
    return states


def shown_state(state: dict[str, Any], pace: tuple[float, int]) -> dict[str, Any]:
    """Return what engine_states tells of one state."""
    now = time.time()
    facts = {
        "rest_seconds": round(max(0.0, state["rest_until"] - now), 1),
        "blocks": state["blocks"],
        "signal": state["signal"],
        "queue_seconds": round(max(0.0, next_slot(state, pace) - now), 1),
    }
    renewal = state["renewal"] - now
    known = state["remaining"] >= 0 and renewal > 0
    quota = {"remaining": state["remaining"], "renewal_seconds": round(renewal)} if known else {}
    is_resting = {"resting": state["rest_until"] > now}
    return {**is_resting, **{name: value for name, value in facts.items() if value}, **quota}


# ===== requests in their turn =====================================================================


def blocked_error(
    engine: str, signal: str, seconds: float, status: int | None = None, resting: bool = False
) -> SearchError:
    """Return the error of an engine that has blocked this address, or rests after a block."""
    title = entry_of(engine)["title"]
    message = f"{title} blocked the request: it answered with {signal}."
    if resting:
        message = (
            f"{title} is not asked for another {spoken(seconds)}, because it blocked an earlier "
            f"request with {signal}."
        )
    details = {"signal": signal, "status": status, "resting": resting or None}
    hint = f"Wait {spoken(seconds)}; until then use {other_engines(engine)}."
    return SearchError(
        "blocked", message, hint, retryable=True, retry_after=round(seconds), **details
    )


def rests(engine: str) -> bool:
    """Return whether an engine rests after a block; one with a wrong address does not."""
    try:
        return bool(present_state(engine)["rest_until"] > time.time())
    except SearchError:
        return False


def other_engines(engine: str) -> str:
    """Return the engines to use instead of one that blocks, with what configures them.

    None of them rests. Companies that answer without a key come in a sentence of their own.
    """
    left_out = (engine, "google")  # which blocks every plain client
    entries = {
        name: entry for name, entry in ENGINES.items() if name not in left_out and not rests(name)
    }
    similar = {"web", *entry_of(engine)["sources"]}
    names = []
    for name, entry in entries.items():
        needs = [*entry.get("keys", ())[:1]]
        needs += entry["address"][:1] if entry.get("own_server") else ()
        useful = not similar.isdisjoint(entry["sources"]) or "stands_in" in entry
        if useful and "keyless" not in entry:
            names.append(f"{name} ({needs[0]})" if needs else name)
    free = [name for name, entry in entries.items() if "keyless" in entry]
    others = f"engine {', '.join(names[:-1])} or {names[-1]}"
    if not free:
        return others
    return (
        f"{others}. Engines {', '.join(free)} answer without a key; their operators see the query"
    )


class PacedEngine:
    """Sends the requests of one call to one engine, each in its turn.

    deadline: on time.monotonic()'s clock. warnings: sentences are added to it. report: progress.
    use: PAGES, or "" for searches.
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
        entry = entry_of(engine)
        is_apart = use == PAGES and "page_interval" in entry
        self.is_serial = "serial" in entry and not is_apart
        self.blocks = 0  # in a row, when the turn was taken
        self.has_turn = False  # the next slot is taken, and its moment has come
        self.has_waited = False  # for the last turn

    def change(self, change: StateChange) -> Any:
        """Apply a change to the engine's state, and return its result."""
        return change_state(self.engine, change, self.warnings, self.use)

    def pace(self) -> tuple[float, int]:
        """Return the pace of this use. Raises SearchError (invalid_input)."""
        return page_pace_of(self.engine) if self.use == PAGES else pace_of(self.engine)

    def take_turn(self) -> None:
        """Wait for the engine's next slot. Raises SearchError (blocked, rate_limit)."""
        self.has_waited = False
        while (wait := self.change(self.reserve)) is None:
            self.has_waited = True
            time.sleep(BUSY_LOOK_SECONDS)
            check_cancelled()
        self.has_waited = self.has_waited or wait > 0
        turn_comes = time.monotonic() + wait
        try:
            if wait > 0 and self.report:
                title = entry_of(self.engine)["title"]
                self.report(f"{title}: {spoken(wait)} until our turn", 0, 1)
            while (pause := turn_comes - time.monotonic()) > 0:
                time.sleep(min(pause, LOOK_SECONDS))
                check_cancelled()
                check_rest(present_state(self.engine, self.use), time.time(), self.engine)
        except BaseException:  # another caller has been blocked meanwhile, or Ctrl-C
            self.end_turn()
            raise
        self.has_turn = True

    def reserve(self, state: dict[str, Any], now: float) -> float | None:
        """Return the seconds until the slot that was taken; None while the engine is busy.

        An engine that takes one request at a time is busy from now on, until the turn ends or, if
        this process is killed, until the deadline.
        """
        left = self.deadline - time.monotonic()
        self.blocks = state["blocks"]
        busy = state["busy_until"] - now if self.is_serial else 0.0
        if busy > 0 and left > REQUEST_SECONDS:
            return None
        if busy > 0:
            raise long_wait(self.engine, busy, left, is_pause=False)
        wait = reserve_slot(state, now, self.engine, self.pace(), left)
        if self.is_serial:
            state["busy_until"] = now + max(0.0, left)
        return wait

    def send(self, request: EngineRequest) -> Response:
        """Send a request whose turn has come; return the answer, whatever its status."""
        try:
            return send_within(request.for_http(), self.deadline)
        finally:
            self.end_turn()

    def end_turn(self) -> None:
        """End the turn; an engine that takes one request at a time is free again."""
        self.has_turn = False
        if self.is_serial:
            self.change(functools.partial(free_engine, pace=self.pace()))

    def fetch(
        self, request: EngineRequest, read: Callable[[EngineRequest, Response], Answer]
    ) -> Answer:
        """Send a request in its turn; return what read(request, response) makes of the answer.

        Every try takes a turn of its own. A 403 is answered with the request's "otherwise", if it
        has one. A block or rate limit is noted for all processes. Raises SearchError.
        """
        fault: SearchError | None = None
        for _ in range(FAULT_TRIES):
            try:
                if not self.has_turn:
                    self.take_turn()
            except SearchError as error:
                raise fault or error from None
            try:
                response = self.send(request)
                if response.status == 403 and request.otherwise:
                    request = request.otherwise
                    continue
                answer = read(request, response)
            except SearchError as error:
                fault = self.noted(error)
                if not is_passing_fault(fault):
                    raise fault from None
            else:
                if self.blocks or answer.quota or answer.pause:
                    self.change(functools.partial(note_answer, answer=answer))
                return answer
        raise fault or SearchError("internal", "No request was sent.")

    def noted(self, error: SearchError) -> SearchError:
        """Keep in the engine's state what an error means for later requests; return the error."""
        if error.kind == "blocked":
            signal, at_least = error.details["signal"], error.retry_after or 0.0
            rest = self.change(lambda state, now: note_block(state, now, signal, at_least))
            return blocked_error(self.engine, signal, rest, error.details["status"])
        if error.kind == "rate_limit" and error.retry_after:
            seconds = error.retry_after
            self.change(lambda state, now: note_limit(state, now, seconds))
        return error


def is_passing_fault(error: SearchError) -> bool:
    """Return whether a request may be sent again at once, in its next turn."""
    passing = error.kind == "provider" and error.details.get("status") in (500, 502, 503, 504)
    waits = error.kind == "rate_limit" and error.retry_after is not None
    return error.retryable and (passing or waits or error.kind == "network")
