"""Make slow inputs for a regular expression by repeating its own parts.

A pattern that needs quadratic time blocks the interpreter, and no deadline stops it.
"""

from __future__ import annotations

import importlib
import os
import random
import re
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

with warnings.catch_warnings():  # Python 3.10 has no re._parser, and 3.11 warns of sre_parse
    warnings.simplefilter("ignore", DeprecationWarning)
    sre_parse: Any = importlib.import_module(
        "sre_parse" if sys.version_info < (3, 11) else "re._parser"
    )

FILLERS = (" ", "<", '"', "'", "\n")
SAMPLES = "a1 -<\"'\n/=;:.#&x\xe9"  # characters for classes
MAX_SEQUENCES = 200  # sequences of alternatives per pattern
MAX_BRIEF = 6  # attacks per pattern in a brief run
PAGE_BYTES = 4_900_000  # nearly the longest page that is read


class Attack(NamedTuple):
    """A text of any length made from a pattern. is_brief: whether it is part of a brief run."""

    origin: str
    shape: Callable[[str, str, str, int], str]
    start: str  # the literal beginning of the pattern
    before: str  # the text that matches up to a repetition
    filler: str
    is_brief: bool

    def text(self, length: int) -> str:
        return self.shape(self.start, self.before, self.filler, length)


# Each run of a long test tries attacks for SECONDS (0: all attacks).
SECONDS = float(os.environ.get("ATTACK_SECONDS") or 60)
SEED = int(
    os.environ.get("ATTACK_SEED") or time.time() // 86_400
)  # order of the attacks: a new one each day


def within_seconds(attacks: list[T]) -> Iterator[T]:
    """Yield attacks in the order of SEED until SECONDS have passed, at least one."""
    ends = time.monotonic() + SECONDS
    for number, attack in enumerate(random.Random(SEED).sample(attacks, len(attacks))):
        if number and SECONDS and time.monotonic() > ends:
            return
        yield attack


def sequences(pattern: str) -> list[list[tuple[str, bool]]]:
    """Return the ways through a pattern as pieces (matching text, whether it may repeat)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ways(sre_parse.parse(pattern))


def ways(parsed: Any) -> list[list[tuple[str, bool]]]:
    """Return the ways through a parsed pattern, at most MAX_SEQUENCES."""
    found: list[list[tuple[str, bool]]] = [[]]
    for operation, argument in parsed:
        name = str(operation)
        following: list[list[tuple[str, bool]]] = [[]]
        if name in ("LITERAL", "NOT_LITERAL", "ANY", "IN"):
            following = [[(sample(name, argument), False)]]
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            following = [[("".join(text for text, _ in way), True)] for way in ways(argument[2])]
        elif name == "SUBPATTERN":
            following = ways(argument[3])
        elif name == "BRANCH":
            following = [way for branch in argument[1] for way in ways(branch)]
        found = [[*way, *more] for way in found for more in following][:MAX_SEQUENCES]
    return found


def sample(name: str, argument: Any) -> str:
    """Return a character that a literal, a class or "." matches."""
    if name == "LITERAL":
        return chr(argument)
    if name != "IN":
        return "a"
    negated = str(argument[0][0]) == "NEGATE"
    # A combining mark is neither a word character nor a space; a control is hardly ever allowed.
    for character in (*SAMPLES, "\u0301", "\x01"):
        if negated != any(is_member(character, *item) for item in argument):
            return character
    operation, value = argument[0]
    return chr(value[0] if str(operation) == "RANGE" else value)


def is_member(character: str, operation: Any, value: Any) -> bool:
    """Return whether a character is in an item of a class."""
    name = str(operation)
    if name == "LITERAL":
        return ord(character) == value
    if name == "RANGE":
        return bool(value[0] <= ord(character) <= value[1])
    categories = {"SPACE": r"\s", "DIGIT": r"\d", "WORD": r"\w"}
    category = str(value).rpartition("_")[2]
    found = name == "CATEGORY" and bool(re.match(categories[category], character))
    return found != ("_NOT_" in str(value))


def pattern_attacks(origin: str, pattern: str) -> list[Attack]:
    """Return the attacks on a pattern: each beginning of it that a repetition follows.

    The filler is the text that the pattern repeats there, or a character that confuses parsers.
    Patterns without repetition are repeated as a whole.
    """
    beginnings: dict[tuple[str, str, str], None] = {}
    for way in sequences(pattern):
        before = start = ""
        for text, is_repeated in way:
            if is_repeated:
                beginnings[start, before, text] = None
            elif start == before:
                start += text
            before += text
        beginnings[before, before, ""] = None
    attacks = []
    for start, before, own in beginnings:
        for filler in dict.fromkeys((own, *FILLERS)) if own else (" ",):
            for shape in (after_one, after_starts, in_turn) if own else (in_turn,):
                is_brief = shape is after_starts and filler == own
                name = f"{origin} {before[:40]!r} {filler[:9]!r} {shape.__name__}"
                attacks.append(Attack(name, shape, start, before, filler, is_brief))
    kept = [attack for attack in attacks if attack.is_brief][:MAX_BRIEF]
    return [attack._replace(is_brief=attack in kept) for attack in attacks]


def after_one(_: str, before: str, filler: str, length: int) -> str:
    return before + repeated(filler, length)


def after_starts(start: str, before: str, filler: str, length: int) -> str:
    return start * 58 + before + repeated(filler, length)


def in_turn(_: str, before: str, filler: str, length: int) -> str:
    return repeated(before + filler, length)


def repeated(unit: str, length: int) -> str:
    return (unit * (length // len(unit) + 1))[:length]
