"""Find numbers that the author marks as counted or computed: "69 (computed: 83 - 14)"."""

from __future__ import annotations

import ast
import operator
import re
from decimal import Decimal

from websearch.base.numbers import decimals, numbers_of, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from websearch.base.numbers import Number
    from websearch.kit import Document

# "(counted)", "(computed: 83 - 14)", "<!-- computed -->" after a number.
_MARK = re.compile(
    r"(?i)\s{0,9}(?:\((?:counted|computed)(?::((?:[^()]|\([^()]{0,100}\)){0,200}))?\)"
    r"|<!--\s{0,9}(?:counted|computed)\s{0,9}(?::([^<>]{0,200}))?-->)"
)
MOST_EXPRESSION = 200  # characters of an expression
MOST_MARKS = 20  # marks per sentence
BEFORE_CHARS = 60  # characters before a mark in which its number is searched for
MOST_VALUE = Decimal(10) ** 18  # maximum result of an expression
_OPERATORS: dict[type, Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def without_marked(text: str, language: str) -> tuple[str, list[Document]]:
    """Return a sentence without the numbers marked as the author's own, and these numbers.

    The marks are (counted), (computed), (computed: 83 - 14) or the same as HTML comments. A number
    is {number, expression?, result?, is_wrong?}; result: the value of the expression.
    """
    marked: list[Document] = []
    for found in [*_MARK.finditer(text)][: -MOST_MARKS - 1 : -1]:
        begin = max(0, found.start() - BEFORE_CHARS)
        before = numbers_of(text[begin : found.start()], language)
        expression = (found[1] or found[2] or "").strip()
        number: Document = {"number": before[-1].text if before else ""}
        result = value_of(expression)
        if expression:
            number["expression"] = expression
        if result is not None:
            number["result"] = shown(round(result, 6))
            number["is_wrong"] = not (before and states(before[-1], result))
        marked.insert(0, number)
        start = begin + before[-1].start if before else found.start()
        text = text[:start] + "\u2060" + text[found.end() :]
    return text, marked


def states(number: Number, result: Decimal) -> bool:
    """Return whether a number equals a result at the number's precision.

    A percentage may also equal a result from 0 to 1.
    """
    results = (result, result * 100) if number.unit == "%" else (result,)
    digits = len(re.sub(r"\D+$", "", number.text).partition(".")[2])
    half = Decimal(1).scaleb(number.power - digits) / 2
    stated = decimals(number.scaled or number.plain)
    return any(abs(value - one) <= half for value in stated for one in results)


def value_of(expression: str) -> Decimal | None:
    """Return the value of an expression with + - * and /; None for any other text."""
    text = re.sub(r"(?<=\d)[,'’ \u00a0\u202f](?=\d{3}(?!\d))", "", expression[:MOST_EXPRESSION])
    text = text.translate(str.maketrans("−–×·÷:", "--**//"))
    is_sum = set(text) <= set("0123456789.()+*/- ") and any(sign.isdecimal() for sign in text)
    if not is_sum or "**" in text or "//" in text:
        return None

    def value(node: ast.AST) -> Decimal:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return Decimal(str(node.value))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise ValueError(node)

    try:
        result = value(ast.parse(text.strip(), mode="eval").body)
        return result if abs(result) < MOST_VALUE else None
    except (SyntaxError, ValueError, ArithmeticError):
        return None
