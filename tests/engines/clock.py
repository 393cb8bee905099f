"""A clock for modules that wait: a wait takes no time."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.support import load_script

if TYPE_CHECKING:
    from collections.abc import Iterator

PACING = ("websearch.engines.base.pacing", "websearch.engines.base.turns")


class Clock:
    """Replaces a module's time: sleep() returns at once, and the clock advances.

    skipped: seconds that were slept.
    """

    def __init__(self) -> None:
        self.skipped = 0.0

    def time(self) -> float:
        """The wall clock, advanced."""
        return time.time() + self.skipped

    def monotonic(self) -> float:
        """The clock of deadlines, advanced."""
        return time.monotonic() + self.skipped

    def sleep(self, seconds: float) -> None:
        """Advance the clock."""
        self.skipped += seconds

    def __getattr__(self, name: str) -> Any:
        """Return any other attribute of the module time."""
        return getattr(time, name)


@contextlib.contextmanager
def skipped_waits(*modules: str) -> Iterator[Clock]:
    """Let the waits of modules take no time; return their clock."""
    clock = Clock()
    with contextlib.ExitStack() as stack:
        for name in modules:
            stack.enter_context(mock.patch.object(load_script(name), "time", clock))
        yield clock
