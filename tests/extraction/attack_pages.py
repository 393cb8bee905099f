"""Pages made to be slow: from every regular expression of the program, and by hand.

A pattern that takes time in proportion to the square of its input holds the interpreter, and no
deadline stops it. The patterns are found in the source, so a new one is attacked by itself.
"""

from __future__ import annotations

import ast
import contextlib
import html
import importlib
import itertools
import json
import math
import os
import random
import re
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tests.support import SCRIPTS, load_script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

T = TypeVar("T")

with warnings.catch_warnings():  # Python 3.10 has no re._parser, and 3.11 warns of sre_parse
    warnings.simplefilter("ignore", DeprecationWarning)
    sre_parse: Any = importlib.import_module(
        "sre_parse" if sys.version_info < (3, 11) else "re._parser"
    )

common: Any = load_script("websearch.core.common")

http_client: Any = load_script("websearch.core.http_client")
engines: Any = load_script("websearch.apis.table")
messages: Any = load_script("websearch.apis.messages")
fetch: Any = load_script("websearch.fetching.fetch")
passages: Any = load_script("websearch.passages.excerpts")
page_document: Any = load_script("websearch.reading.page_document")

SOURCES = [
    SCRIPTS / "websearch/core/html_tree.py",
    SCRIPTS / "websearch/core/escapes.py",
    SCRIPTS / "websearch/pdf/read_pdf.py",
    *(
        path
        for room in ("extraction", "fetching", "reading", "sites", "engines", "apis")
        for path in sorted((SCRIPTS / "websearch" / room).rglob("*.py"))
    ),
]
FILLERS = (" ", "<", '"', "'", "\n")
SAMPLES = "a1 -<\"'\n/=;:.#&x\xe9"  # characters for classes
MAX_SEQUENCES = 200  # of the alternatives of one pattern
MAX_BRIEF = 6  # attacks of one pattern where few are tried
LENGTH = 1_500  # characters of an attack; it is doubled twice
NOTICED = 0.05  # seconds; a shorter time says nothing about growth
TOO_LONG = 1.0  # seconds for a text of 6,000 characters, which takes 0.03
GROWTH = 3  # times the work for twice the input; square growth makes 4 of it
PAGE_BYTES = 4_900_000  # nearly the longest page that is read
ATTEMPTS = 3  # a busy machine must be slow three times in a row to fail


class Attack(NamedTuple):
    """A text of any length made from a pattern. is_brief: it is one of few where few are tried."""

    origin: str
    shape: Callable[[str, str, str, int], str]
    start: str  # the literal beginning of the pattern
    before: str  # what matches up to a repetition
    filler: str
    is_brief: bool

    def text(self, length: int) -> str:
        return self.shape(self.start, self.before, self.filler, length)


# Each run of a long test tries a part of its attacks, for SECONDS (0: all of them).
SECONDS = float(os.environ.get("ATTACK_SECONDS") or 60)
SEED = int(os.environ.get("ATTACK_SEED") or time.time() // 86_400)  # of the order: the day


def within_seconds(attacks: list[T]) -> Iterator[T]:
    """Yield attacks in the order of SEED until SECONDS have passed, one at least."""
    ends = time.monotonic() + SECONDS
    for number, attack in enumerate(random.Random(SEED).sample(attacks, len(attacks))):
        if number and SECONDS and time.monotonic() > ends:
            return
        yield attack


# ===== from a pattern to texts ====================================================================


def find_patterns() -> dict[str, str]:
    """The regular expressions of the sources, by file and line."""
    found: dict[str, str] = {}
    for path in SOURCES:
        for line, text in texts_of(path):
            if re.search(r"[*+]|\{\d|\[.+\]|\(\?", text) and is_pattern(text):
                found.setdefault(f"{path.relative_to(SCRIPTS)}:{line}", text)
    return found


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """The constant texts of a module that may be patterns, docstrings left out, with their lines.

    What a formatted text takes from elsewhere is replaced by its value, or by a letter.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    values = vars(importlib.import_module(module_name(path)))
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(node.value)  # a docstring
        elif isinstance(node, ast.JoinedStr):
            inside |= set(node.values)
            yield node.lineno, "".join(formatted_piece(piece, values) for piece in node.values)
        elif isinstance(node, ast.Constant) and node not in inside:
            if isinstance(node.value, bytes):
                yield node.lineno, node.value.decode("latin-1")
            elif isinstance(node.value, str):
                yield node.lineno, node.value


def module_name(path: Path) -> str:
    parts = path.relative_to(SCRIPTS).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def formatted_piece(piece: ast.expr, values: dict[str, Any]) -> str:
    if isinstance(piece, ast.Constant):
        return str(piece.value)
    inner = piece.value if isinstance(piece, ast.FormattedValue) else piece
    value = values.get(inner.id) if isinstance(inner, ast.Name) else None
    return value if isinstance(value, str) else "x"


def is_pattern(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def sequences(pattern: str) -> list[list[tuple[str, bool]]]:
    """The ways through a pattern as pieces (text, repeated): what matches, and what may go on."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ways(sre_parse.parse(pattern))


def ways(parsed: Any) -> list[list[tuple[str, bool]]]:
    """The ways through a parsed pattern; at most MAX_SEQUENCES."""
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
    """A character that a literal, a class or any sign matches."""
    if name == "LITERAL":
        return chr(argument)
    if name != "IN":
        return "a"
    negated = str(argument[0][0]) == "NEGATE"
    for character in (*SAMPLES, "\u0301"):  # a mark is neither a word nor a blank
        if negated != any(is_member(character, *item) for item in argument):
            return character
    operation, value = argument[0]
    return chr(value[0] if str(operation) == "RANGE" else value)


def is_member(character: str, operation: Any, value: Any) -> bool:
    """Whether a character is in one item of a class."""
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
    """The attacks of a pattern: each beginning of it that something repeated follows.

    The filler is what the pattern repeats there, or a sign that parsers stumble over. Patterns
    without repetition are repeated as a whole.
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


def all_attacks() -> list[Attack]:
    """The attacks of all patterns, each text once."""
    found: dict[str, Attack] = {}
    for origin, pattern in find_patterns().items():
        for attack in pattern_attacks(origin, pattern):
            found.setdefault(attack.text(LENGTH), attack)
    return list(found.values())


# ===== the ways into the program ==================================================================


def answer(body: str, headers: dict[str, str] | None = None, status: int = 200) -> Any:
    """An answer as it was fetched."""
    named = {"content-type": "text/html; charset=utf-8", **(headers or {})}
    return http_client.Response(status, named, body.encode("utf-8", "replace"))


def read_answer(response: Any, url: str = "http://x.example/") -> None:
    """Read a page as far as it can be read, and look for passages."""
    try:
        fetched = fetch.Fetched(url, response)
        page = page_document.read_answer(fetched, {"links": True, "explain": True}, math.inf)
        passages.select_passages(page["text"], "some words", 2_000)
    except common.SearchError as error:
        common.error_document(error)


def read_everywhere(text: str) -> None:
    """Let the text come in by every way: as page, title, heading, attribute, header, and so on."""
    safe = html.escape(text)
    data = json.dumps({"@type": "Article", "headline": text, "articleBody": text})
    page = (
        f'<html lang="{safe}"><head><title>{safe}</title><base href="{safe}">'
        f'<meta name=author content="{safe}"><meta http-equiv=refresh content="0;url={safe}">'
        f'<script type="application/ld+json">{data}</script></head><body><main>'
        f'<h1>{safe}</h1><h2>{safe}</h2><p class="{safe}" id="{safe}" style="{safe}">{safe}</p>'
        f'<a href="{safe}">{safe}</a><img alt="{safe}" src="{safe}"><code>{safe}</code>'
        f'<pre class="{safe}">{safe}</pre><ul><li>{safe}</ul><time datetime="{safe}">{safe}</time>'
        f"<table><tr><td>{safe}<td>{safe}</table></main></body></html>"
    )
    read_answer(answer(page))
    read_answer(answer(text))
    for script in data_scripts(text):
        read_answer(answer(script))
    read_answer(answer(text, {"content-type": f"text/plain; charset={text}"}))
    read_answer(answer(text, {"content-type": text}))
    read_answer(answer(f"<rss><title>{text}</title><item>{text}", {"content-type": "text/xml"}))
    read_answer(answer(f"{{{text}", {"content-type": "application/json"}))
    read_answer(answer(text, {"retry-after": text, "x-other": text}, 503))
    fetch.robots_allow(f"User-agent: *\nDisallow: /{text}", f"/{text}"[:8_000])
    for address in (text, f"http://{text}", f"/{text}"):
        with contextlib.suppress(common.SearchError):
            fetch.redirect_target("http://x.example/", address)


def data_scripts(text: str) -> list[str]:
    """Pages whose scripts hold the text as data: as a value, as a name, as markup."""
    fields = {"title": text, text: text, "body": f"<p>{text}", "children": [{"text": text}]}
    row = json.dumps(["$", "p", None, {"href": text, "children": [text, f"${text}"]}])
    push = json.dumps([1, f"0:{row}\n{text}"])
    return [
        f'<script type="application/json">{json.dumps(fields)}</script>',
        f"<script>self.__next_f.push({push})</script>",
        f"<script>window.__A__ = {text}</script>",
        f"<script>{text}</script><noscript>{text}</noscript><link rel=alternate href=x {text}>",
    ]


def read_by_engines(text: str) -> None:
    """Let the text be the result page of every keyless engine, and stand in one's results."""
    safe = html.escape(text)
    block = (
        f'<div class="result results_links {safe}"><a class=result__a href="{safe}"><h3>{safe}</h3>'
        f"</a><div class=result__snippet>{safe}</div></div><title>{safe}</title>"
    )
    found = {"title": text, "url": f"http://{text}", "content": text, "publishedDate": text}
    data = json.dumps({"results": [found], "query": {"search": [found]}, "answers": [text]})
    for name in engines.keyless_engines():
        module = engines.load_module(name)
        for body in (text, block, data):
            request = messages.EngineRequest("http://x.example/w/api.php", {})
            try:
                module.read_answer(request, answer(body, {"location": text}))
            except common.SearchError as error:
                common.error_document(error)


# ===== time =======================================================================================


def seconds(work: Callable[[str], None], text: str) -> float:
    started = time.process_time()
    work(text)
    return time.process_time() - started


def fault_of(attack: Attack, work: Callable[[str], None]) -> str:
    """What is wrong with the time that an attack takes, "" if nothing is."""
    times: list[float] = []
    for _ in range(ATTEMPTS):
        times = []
        for size in (1, 2, 4):
            times.append(seconds(work, attack.text(LENGTH * size)))
            if times[-1] > TOO_LONG:
                break
        steps = itertools.pairwise(times)
        grows = any(after > NOTICED and after > GROWTH * before for before, after in steps)
        if not grows and max(times) < TOO_LONG:
            return ""
    return f"{attack.origin}: {', '.join(f'{one:.3f}' for one in times)} s"
