"""Every regular expression of scripts/ by itself: its time grows no faster than its text.

A pattern that takes time in proportion to the square of a stranger's text holds the interpreter,
and no deadline stops it. Each pattern is found in the source, with the way in which it is used
(search or match, and the length that its text is cut to), and is applied to texts that are made of
its own parts. A pattern that a module only hands on counts as searched in a text of any length.
The only module that notices a slow pattern; it measures growth, in processor time, not speed.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import operator
import re
import time
import unittest
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.pages.extract import attack_pages
from tests.support import SCRIPTS, load_script

if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTHS = [16 * 2**doubling for doubling in range(10)]  # characters of a text, up to 8,192
SHORT = 2_000  # characters; the square of a shorter text takes no noticeable time
MAX_TEXTS = 40  # of one pattern
GROWTH = 1.3  # exponent; linear time is 1, and the rest is for a busy machine
NOTICED = 0.01  # seconds; a shorter time says nothing about growth
SETTLED = 2_048  # characters; below, a repeat of up to 300 still grows with the square
TOO_LONG = 0.5  # seconds: no machine is so busy
ATTEMPTS = 4  # a busy machine must be slow so many times in a row to fail
TEXT_METHODS = ("join", "replace", "escape")  # which constants are put together with
FLAGS = ("DOTALL", "S", "IGNORECASE", "I", "MULTILINE", "M", "VERBOSE", "X", "ASCII", "A")
FUNCTIONS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")


class Use(NamedTuple):
    """A pattern (text or bytes) and how a line uses it.

    function: search, match or fullmatch. bound: characters that its text has at most, 0: any.
    is_call: a call of re names it; else it is only handed on.
    """

    origin: str
    pattern: Any
    flags: int
    function: str
    bound: int
    is_call: bool = True


# ===== finding them ===============================================================================


@functools.cache
def all_uses() -> list[Use]:
    """The uses of all patterns of scripts/, each once."""
    uses: dict[tuple[Any, ...], Use] = {}
    for path in sorted(SCRIPTS.rglob("*.py")):
        parts = path.relative_to(SCRIPTS).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        namespace = vars(load_script(name))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for use in uses_in(tree, namespace, str(path.relative_to(SCRIPTS))):
            uses.setdefault(use[1:], use)
    called = {use.pattern for use in uses.values() if use.is_call}
    return [use for use in uses.values() if use.is_call or use.pattern not in called]


def uses_in(tree: ast.Module, namespace: dict[str, Any], file: str) -> Iterator[Use]:
    """The uses of patterns in one module: the calls of re, then what no call names directly."""
    called: set[Any] = set()
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for block in [*functions[::-1], tree]:  # the inner ones first
        names = {**namespace, **local_constants(block, namespace)}
        for node in ast.walk(block):
            if isinstance(node, ast.Call) and is_of_re(node.func, (*FUNCTIONS, "compile")):
                pattern = value_of(node.args[0], names)
                if not isinstance(pattern, (str, bytes)) or not compiled(pattern):
                    continue
                called.add(pattern)
                yield use_of(node, pattern, names, tree, f"{file}:{node.lineno}")
    for line, text in constants_of(tree, namespace):
        if re.search(r"[*+]|\{\d|\[.+\]|\(\?", str(text)) and text not in called and compiled(text):
            for flags in (0, re.DOTALL):
                yield Use(f"{file}:{line}", text, flags, "search", 0, is_call=False)


def local_constants(block: ast.AST, namespace: dict[str, Any]) -> dict[str, Any]:
    """The names that a function sets to constant values."""
    if not isinstance(block, ast.FunctionDef):
        return {}
    values = {}
    for node in ast.walk(block):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = value_of(node.value, namespace)
            if isinstance(value, (str, bytes)):
                values[node.targets[0].id] = value
    return values


def use_of(
    call: ast.Call, pattern: Any, namespace: dict[str, Any], tree: ast.Module, origin: str
) -> Use:
    """How a call of re uses a pattern; one that it compiles is used as its name is."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if function == "compile":
        functions = {
            node.attr
            for assigned in ast.walk(tree)
            if isinstance(assigned, ast.Assign) and assigned.value is call
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in FUNCTIONS
            and ast.unparse(node.value) == ast.unparse(assigned.targets[0])
        }  # fmt: skip
        function = min(functions) if functions <= {"match", "fullmatch"} and functions else ""
    flags = [value_of(word.value, namespace) for word in call.keywords if word.arg == "flags"]
    flags += [value_of(flag, namespace) for flag in call.args[1:] if is_of_re(flag, FLAGS)]
    text = call.args[2:3] if function in ("sub", "subn") else call.args[1:2]
    bound = length_of(text[0], namespace) if text else 0
    function = function if function in ("match", "fullmatch") else "search"
    return Use(origin, pattern, functools.reduce(operator.or_, flags, 0), function, bound)


def is_of_re(function: ast.expr, names: tuple[str, ...]) -> bool:
    """Whether an expression is re.NAME."""
    return (
        isinstance(function, ast.Attribute)
        and function.attr in names
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
    )


class Names(dict[str, Any]):
    """Names of a module; what only a call knows is a letter."""

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        return "x"


def value_of(expression: ast.expr, namespace: dict[str, Any]) -> Any:
    """The value of an expression of constants; None if there is none, or if it calls functions."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") not in TEXT_METHODS:
            return None
    code = compile(ast.Expression(expression), "", "eval")
    try:
        return eval(code, {}, Names(namespace))
    except Exception:  # noqa: BLE001  whatever is missing
        return None


def length_of(text: ast.expr, namespace: dict[str, Any]) -> int:
    """The longest text that an expression such as text[:2000] can be; 0: any."""
    if isinstance(text, ast.Subscript) and isinstance(text.slice, ast.Slice) and text.slice.upper:
        lower = value_of(text.slice.lower, namespace) if text.slice.lower else 0
        upper = value_of(text.slice.upper, namespace)
        if isinstance(upper, int) and isinstance(lower, int) and upper > lower >= 0:
            return upper - lower
    return 0


def constants_of(tree: ast.Module, namespace: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """The constant texts of a module with their lines: of its own and of its formatted texts.

    Left out: docstrings, what methods of texts are given, and the pieces of formatted texts and of
    texts that are joined.
    """
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in dir(str):
            inside |= set(node.args)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(node.value)  # a docstring
        elif isinstance(node, (ast.JoinedStr, ast.BinOp)) and node not in inside:
            inside |= set(ast.walk(node))
            value = value_of(node, namespace)
            if isinstance(value, (str, bytes)):
                yield node.lineno, value
        elif isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            yield from [] if node in inside else [(node.lineno, node.value)]


def compiled(pattern: Any, flags: int = 0) -> re.Pattern[Any] | None:
    """A compiled pattern; None for a text that is none."""
    with warnings.catch_warnings(), contextlib.suppress(re.error, OverflowError, RecursionError):
        warnings.simplefilter("ignore")
        return re.compile(pattern, flags)
    return None


# ===== trying them ================================================================================


def slowest(use: Use) -> str:
    """What is wrong with a use of a pattern: the text and its times; "" if nothing is."""
    pattern = compiled(use.pattern, use.flags)
    if pattern is None or (use.bound and use.bound <= SHORT):
        return ""
    source = use.pattern if isinstance(use.pattern, str) else use.pattern.decode("latin-1")
    attacks = attack_pages.pattern_attacks("", source)
    attacks = list({attack.text(LENGTHS[0]): attack for attack in attacks}.values())
    own = [attack for attack in attacks if attack.is_brief]
    others = [attack for attack in attacks if not attack.is_brief]
    for attack in [*own, *others[:: len(others) // MAX_TEXTS + 1]][:MAX_TEXTS]:
        times: list[float] = []
        for _ in range(ATTEMPTS):
            times = times_of(use, pattern, attack)
            if not grows(times) or times[-1] > TOO_LONG:
                break
        if grows(times):
            shown = ", ".join(f"{seconds * 1_000:.1f}" for seconds in times)
            return f"{use.function} {source[:80]!r}: {shown} ms ({attack.origin.strip()})"
    return ""


def times_of(use: Use, pattern: re.Pattern[Any], attack: attack_pages.Attack) -> list[float]:
    """The processor time for the attack at each of LENGTHS, up to the first that is noticed."""
    times: list[float] = []
    for length in LENGTHS:
        text: Any = attack.text(length)[: use.bound or None]
        text = text + "\1" if use.function == "fullmatch" else text
        text = text.encode("utf-8") if isinstance(pattern.pattern, bytes) else text
        begin = time.process_time()
        if use.function == "search":
            for _ in pattern.finditer(text):
                pass
        else:
            getattr(pattern, use.function)(text)
        times.append(time.process_time() - begin)
        if len(times) > 2 and times[-1] > (NOTICED if length >= SETTLED else TOO_LONG):
            break
    return times


def grows(times: list[float]) -> bool:
    """Whether times grow faster than n to the power of GROWTH."""
    return times[-1] > NOTICED and times[-1] > max(times[-3], 1e-5) * 4**GROWTH


class Patterns(unittest.TestCase):
    def test_those_of_all_files_are_found(self) -> None:
        files = {use.origin.rpartition(":")[0] for use in all_uses()}
        for file in ("brave_search.py", "websearch/base/html_tree.py",
                     "websearch/pages/fetch/fetch.py",
                     "websearch/pages/pdf/read_pdf.py", "websearch/pages/extract/other_formats.py",
                     "websearch/engines/google.py", "websearch/store/page_store.py"):  # fmt: skip
            self.assertIn(file, files)
        self.assertGreater(len(all_uses()), 300)
        self.assertTrue(any(isinstance(use.pattern, bytes) for use in all_uses()))
        self.assertTrue(any(use.bound for use in all_uses()))

    def test_growth_is_noticed_where_a_text_may_be_long(self) -> None:
        square = Use("", r"(?i)charset\s*=\s*[\"']?\s*([\w:.-]+)", 0, "search", 0)
        cubic = Use("", rb"[ \t]*(.*?)[ \t]*\r\n", 0, "search", 0)
        self.assertTrue(slowest(square))
        self.assertTrue(slowest(cubic))
        self.assertFalse(slowest(square._replace(bound=500)))
        self.assertFalse(slowest(Use("", r"(?i)charset\s{0,9}=", 0, "search", 0)))

    def test_none_takes_more_time_than_its_text_is_long(self) -> None:
        for use in all_uses():
            with self.subTest(use.origin):
                fault = slowest(use)
                self.assertFalse(fault, fault)


if __name__ == "__main__":
    unittest.main()
