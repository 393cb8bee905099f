"""A clock for modules that wait: a wait takes no time."""

from __future__ import annotations

import time
from typing import Any


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
