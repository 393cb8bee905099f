"""Durations: parse what people write (90s, 30m, 1h30m, 7d, 500ms), and format them for people."""

from __future__ import annotations

import re

from websearch.kit import SearchError, quoted

SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def seconds_of_duration(name: str, text: str, example: str) -> float:
    """Return a duration in seconds. Raises SearchError (invalid_input).

    name: the parameter or variable that the error names. example: durations for the error.
    """
    if text == "0":
        return 0.0
    parts = re.findall(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|m|h|d)", text[:100])
    if not parts or "".join(number + unit for number, unit in parts) != text:
        message = f"{name} must be a duration such as {example}, not {quoted(text)}."
        raise SearchError(
            "invalid_input", message, "Use a number with ms, s, m, h or d. 0 means no time."
        )
    return sum(float(number) * SECONDS[unit] for number, unit in parts)


def spoken(seconds: float) -> str:
    """Return a duration for people: 0.5 s, 42 s, 10 min, 9 min 40 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [(hours, "h"), (minutes, "min"), (0 if hours else rest, "s")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number)
