"""Calls: a cancelled call stops, and a bug affects only the part of a call in which it occurs.

A server passes each call a function that tells whether the call is cancelled. A call's threads are
started here, so they also have this function; code that waits long checks it regularly.
"""

from __future__ import annotations

import contextlib
import contextvars
import time

# Imported before any thread starts: a dataclass looks for typing in sys.modules, and fails if
# another thread is still importing it.
from typing import TypeVar

from websearch.kit import SearchError, bug_error, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import queue
    import threading
    from collections.abc import Callable, Iterator
    from typing import Any, TypeGuard

Result = TypeVar("Result")
WARNED_CHARS = 200  # characters of a URL in a warning
POLL_SECONDS = 0.2  # seconds between a waiting caller's checks for cancellation
_IS_CANCELLED: contextvars.ContextVar[Callable[[], bool]] = contextvars.ContextVar(
    "is_cancelled", default=lambda: False
)


@contextlib.contextmanager
def cancelled_if(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Cancel the calls made in the block as soon as is_cancelled() is true."""
    token = _IS_CANCELLED.set(is_cancelled)
    try:
        yield
    finally:
        _IS_CANCELLED.reset(token)


def check_cancelled() -> None:
    """Raise SearchError (interrupted) if the running call is cancelled."""
    if _IS_CANCELLED.get()():
        message = "The call was cancelled: the client disconnected, or the server is stopping."
        raise SearchError("interrupted", message, "Ask again.")


def waits(deadline: float) -> Iterator[float]:
    """Yield the seconds to wait next, until the deadline. Raises like check_cancelled.

    deadline: as time.monotonic(). If it has passed, a single wait of 0 seconds is yielded.
    """
    left = deadline - time.monotonic()
    while True:
        check_cancelled()
        yield max(0.0, min(left, POLL_SECONDS))
        left = deadline - time.monotonic()
        if left <= 0:
            return


def wait_for(event: threading.Event, seconds: float) -> bool:
    """Wait like threading.Event.wait. Raises like check_cancelled."""
    return any(event.wait(pause) for pause in waits(time.monotonic() + seconds))


def take(items: queue.Queue[Any], deadline: float) -> Any:
    """Return a queue's next item. Raises queue.Empty at the deadline, or like check_cancelled."""
    import queue

    for pause in waits(deadline):
        with contextlib.suppress(queue.Empty):
            return items.get(timeout=pause)
    raise queue.Empty


def put(item: object, items: queue.Queue[Any], deadline: float) -> None:
    """Put an item into a queue. Raises queue.Full at the deadline, or like check_cancelled."""
    import queue

    for pause in waits(deadline):
        with contextlib.suppress(queue.Full):
            return items.put(item, timeout=pause)
    raise queue.Full


def in_context(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the work in another thread as part of the running call."""
    context = contextvars.copy_context()
    return lambda *arguments: context.run(work, *arguments)


def start_thread(work: Callable[..., None], *arguments: Any) -> None:
    """Start a thread for the running call that does not keep the process alive."""
    import threading

    target, name = in_context(work), work.__name__
    threading.Thread(target=target, args=arguments, name=name, daemon=True).start()


# ===== bugs =======================================================================================


def result_or_error(
    work: Callable[..., Result], *arguments: Any, verbose: bool = False
) -> Result | SearchError:
    """Return work(*arguments), or the SearchError that it raises.

    Any other exception is a bug in this program: it becomes a SearchError (internal), so it does
    not affect the call's other pages, files or quotations. verbose: write its traceback to stderr.
    """
    try:
        return work(*arguments)
    except SearchError as error:
        return error
    except Exception as error:  # noqa: BLE001  see above
        return bug_error(error, verbose)


def is_bug(result: object) -> TypeGuard[SearchError]:
    """Return whether result_or_error returned a bug."""
    return isinstance(result, SearchError) and result.kind == "internal"


def bug_warning(what: str, error: SearchError) -> str:
    """Return the warning about a bug. what: the page or file that it affects."""
    return f"{one_line(what, WARNED_CHARS)}: {error.message} {error.hint}"
