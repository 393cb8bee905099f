"""Do documents of `search` hold the answer? Questions on the small web, by the room they have.

usage: bench_budget.py [--only WORD] [--pairs N] [--python PATH] [--quick]

Each question goes to the fake DuckDuckGo; ten pages are read and share the document's room. A
question counts as answered if the answer's words stand in the text of a result. The peer is the
same search without a limit: no sharing of room can answer more.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.bench.harness import Measure, Result, main, output_of

if TYPE_CHECKING:
    from tests.bench.harness import World


class Question(NamedTuple):
    """What is asked of the small web, and the words of its pages that answer."""

    text: str
    answer: str


BAR = 0.9  # of what whole texts answer
LIMITS = (2_000, 3_000, 4_500, 6_000, 9_000)  # characters of the document
QUESTIONS = (
    Question("how often to feed a sourdough starter", "Feed it once a day at room temperature"),
    Question("sourdough starter dark liquid on top", "hooch"),
    Question("which flour wakes a tired sourdough culture", "Whole rye flour"),
    Question("sourdough bread flat why less water", "longer bulk fermentation"),
    Question("how old is leavened sourdough bread", "three thousand years"),
    Question("bakery sourdough prize what did the jury praise", "malt & honey"),
    Question("python asyncio task exception lost", "must be awaited"),
    Question("python run blocking function in coroutine", "asyncio.to_thread"),
    Question("python list of lists flatten", "chain.from_iterable"),
    Question("python describe object without base class", "A Protocol describes"),
    Question("python release support oldest version ends", "in the same week"),
    Question("java generic type parameter at run time", "is erased"),
    Question("rust two mutable borrows", "The borrow checker rejects"),
    Question("database index which column first", "filter by equality first"),
    Question("git recover lost commit", "git reflog"),
    Question("http retry which status codes", "429, 502, 503 and 504"),
    Question("why add jitter to http retries", "march in step"),
    Question("aurora northern lights what colour does nitrogen glow", "blue and violet"),
    Question("black holes disc heat X-rays", "Friction heats the disc"),
    Question("how do scientists measure the volcano ground", "a few millimetres a day"),
    Question("quantum computer how many qubits needed", "thousands of such qubits"),
    Question("mars rover grey powder minerals", "clay minerals"),
    Question("how many hours of sleep do adults need", "seven to nine hours"),
    Question("coffee and sleep: when to stop drinking coffee", "after lunch"),
    Question("normal blood pressure value", "below 120/80 is normal"),
    Question("length of paved roman roads", "eighty thousand kilometres"),
    Question("printing press sheets an hour", "about 240 sheets"),
    Question("what went east on the silk road", "glass, wool and silver"),
    Question("marathon training longest run", "thirty kilometres"),
    Question("is being offside in football always an offence", "takes part in play"),
    Question("kyoto temples how many", "two thousand temples"),
    Question("iceland ring road length", "1,332 kilometres"),
    Question("weather forecast beyond ten days", "chaos wins"),
    Question("when does money double compound interest", "about ten years"),
    Question("why has inflation slowed", "energy became cheaper"),
    Question("keyboard comfort layout or switches", "matters more for comfort"),
    Question("first guitar chords for songs", "G, C, D, E minor"),
    Question("espresso tastes sour", "grind finer"),
    Question("espresso coffee how many seconds", "twenty-five seconds"),
    Question("Käsespätzle Zutaten Rezept", "geröstete Zwiebeln"),
    Question("wie lang war die Berliner Mauer", "150 Kilometer"),
    Question("coq au vin secret de la recette", "mariner la viande la veille"),
    Question("prise de la Bastille date révolution française", "14 juillet"),
    Question("paella valenciana fuego", "fuerte al principio"),
    Question("palos del flamenco más conocidos", "la soleá, la bulería"),
    Question("京都 紅葉 見頃", "十一月中旬から十二月上旬"),
    Question("味噌ラーメン 作り方 コツ", "香りを出す"),
    Question("麻婆豆腐 做法 特点", "麻、辣、烫、鲜"),
    Question("الحمص طريقة عمل نقع", "ليلة كاملة"),
    Question("борщ рецепт как сохранить цвет", "с уксусом"),
    Question("मसाला चाय बनाने की विधि कितने मिनट", "पाँच मिनट"),
)


def is_answered(where: World, question: Question, limit: int) -> bool:
    """Tell whether the document of a search within a limit (0: none) holds the answer."""
    command = where.script(
        "web_search.py", "search", question.text, "--engine", "duckduckgo", "--count", "10",
        "--max-chars", str(limit),
    )  # fmt: skip
    document = json.loads(output_of(command, where.keyless))
    return any(
        plain(question.answer) in plain(result.get("text", "")) for result in document["results"]
    )


def plain(text: str) -> str:
    """Return text without case, blanks and the marks of Markdown."""
    return "".join(sign for sign in text.casefold() if not sign.isspace() and sign not in "*\\`")


def answered(where: World, limit: int) -> int:
    """Return how many of the questions a limit answers; asked once for all measures."""
    asked = QUESTIONS[: where.amount(len(QUESTIONS), 3)]
    return where.kept(
        f"answered within {limit}",
        lambda: sum(is_answered(where, question, limit) for question in asked),
    )


def of_limit(where: World, limit: int) -> Result:
    """Compare the questions that a limit answers with those that whole texts answer."""
    ours, whole = answered(where, limit), answered(where, 0)
    asked = where.amount(len(QUESTIONS), 3)
    met = ours >= BAR * whole
    shares = f"{ours / asked:.0%}", f"{whole / asked:.0%} by whole texts"
    return Result(*shares, ours / whole, f">= {BAR}", met)


MEASURES = [
    Measure(
        f"search: {len(QUESTIONS)} questions answered in {limit:,} characters",
        functools.partial(of_limit, limit=limit),
    )
    for limit in LIMITS
]

if __name__ == "__main__":
    raise SystemExit(main(MEASURES))
