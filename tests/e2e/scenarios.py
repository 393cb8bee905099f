"""How the end-to-end programs run their scenarios and print the checks.

A scenario is a function that returns checks: (what is checked, whether it holds, what was seen).
"""

from __future__ import annotations

import concurrent.futures
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Check = tuple[str, bool, Any]
    Scenario = Callable[[], list[Check]]

AT_ONCE = 2  # scenarios


def perform(scenario: Scenario) -> list[Check]:
    """Run a scenario; what it raises is a failed check."""
    try:
        return scenario()
    except Exception:  # noqa: BLE001  the other scenarios go on
        return [(f"{scenario.__name__} comes to its end", False, traceback.format_exc())]


def perform_all(scenarios: list[Scenario], at_once: int = AT_ONCE) -> int:
    """Run the scenarios and print their checks; return the exit code."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        return show(check for checks in pool.map(perform, scenarios) for check in checks)


def show(checks: Iterable[Check]) -> int:
    """Print each check as soon as it is there, then their number; return the exit code."""
    passed = failed = 0
    for name, holds, seen in checks:
        passed, failed = passed + holds, failed + (not holds)
        print(f"{'ok' if holds else 'FAILED':<6} {name}", flush=True)
        if not holds:
            print(f"       seen: {seen if isinstance(seen, str) else repr(seen)}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0
