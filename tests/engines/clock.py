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
    """Stands in the place of a module's time: sleep() returns at once, and the clock moves on.

    skipped: seconds that were slept.
    """

    def __init__(self) -> None:
        self.skipped = 0.0

    def time(self) -> float:
        """The wall clock, moved on."""
        return time.time() + self.skipped

    def monotonic(self) -> float:
        """The clock of deadlines, moved on."""
        return time.monotonic() + self.skipped

    def sleep(self, seconds: float) -> None:
        """Move the clock on."""
        self.skipped += seconds

    def __getattr__(self, name: str) -> Any:
        """What else a module takes from time."""
        return getattr(time, name)


@contextlib.contextmanager
def skipped_waits(*modules: str) -> Iterator[Clock]:
    """Let the waits of modules take no time; return their clock."""
    clock = Clock()
    with contextlib.ExitStack() as stack:
        for name in modules:
            stack.enter_context(mock.patch.object(load_script(name), "time", clock))
        yield clock
