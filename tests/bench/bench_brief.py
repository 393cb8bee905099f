"""A brief against separate searches: characters, what is lost, and time.

Characters: sets of three questions on one subject go to the fake server, as three searches and as
one brief, both with their default limits. A sentence answers if it is one of the texts of the
corpus, stands in the answer to a question and holds one of its words; most must stand in the brief.

Time: four questions whose engine needs 0.8 s and whose pages need 0.2 s, as a brief and as one
search, every time from the network.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.bench.harness import Measure, Result, against, interleaved, output_of, process_time
from tests.fake_server.corpus import CORPUS
from tests.search.scripted_web import ScriptedWeb, story

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.bench.harness import World

CHARACTERS_BAR = 0.5  # of the three answers together
LOST_BAR = 0.25  # of the sentences that answer: a question of a brief shows a third of a document
TIME_BAR = 1.3  # times one search
LEAST_LETTERS = 4  # of a word of a question that a sentence that answers holds
SETS = (
    ("python asyncio timeout", "python asyncio tasks", "asyncio event loop cancel"),
    ("sourdough starter feeding", "sourdough hydration", "bread starter rye flour"),
    ("chess openings", "chess openings beginners", "italian game chess"),
    ("git rebase or merge", "git merge conflicts", "git rebase interactive"),
    ("quantum computer", "quantum error correction", "quantum computer qubits"),
    ("espresso at home", "espresso grinder", "how to make espresso at home"),
)
ENGINE_SECONDS, PAGE_SECONDS = 0.8, 0.2
SITES = 10  # two pages of one site are read at once
PAGES_OF_A_QUESTION = 5
QUESTIONS = ("otter log", "heron log", "newt log", "toad log")


def plain(items: Iterable[dict[str, Any]]) -> str:
    """Return the texts of results or sources as one, blanks made equal."""
    return " ".join(" ".join(item.get("text", "").split()) for item in items)


def answering(question: str, document: dict[str, Any]) -> set[str]:
    """Return the sentences of the corpus in an answer that hold a word of its question."""
    words = set(re.findall(rf"\w{{{LEAST_LETTERS},}}", question.lower()))
    shown = plain(document["results"])
    sentences = {" ".join(text.split()) for one in CORPUS.documents for text in one.text}
    return {
        one for one in sentences if one in shown and words & set(re.findall(r"\w+", one.lower()))
    }


def compare(
    run: Callable[..., str], questions: tuple[str, ...]
) -> tuple[int, int, set[str], set[str]]:
    """Return the characters of a brief and of the separate answers, what answers, what is lost.

    run: runs web_search.py with arguments and returns its JSON document as text.
    """
    answers = [run(question) for question in questions]
    brief = run("brief", *questions)
    found: set[str] = set()
    for question, answer in zip(questions, answers, strict=True):
        found |= answering(question, json.loads(answer))
    shown = plain(json.loads(brief)["sources"])
    lost = {one for one in found if one not in shown}
    return len(brief), sum(map(len, answers)), found, lost


def of_characters(where: World) -> Result:
    """Compare the characters of briefs and of separate answers, over all sets of questions."""

    def run(*arguments: str) -> str:
        return output_of(where.script("web_search.py", *arguments), where.environment).decode()

    ours = theirs = answers = 0
    missing: list[str] = []
    for questions in SETS[: where.amount(len(SETS), 1)]:
        brief, separate, found, lost = compare(run, questions)
        ours, theirs, answers = ours + brief, theirs + separate, answers + len(found)
        missing += sorted(lost)
    gone = f"; LOST {len(missing)}: {missing[0][:60]}" if missing else ""
    return Result(
        f"{ours:,} characters{gone}".replace("|", "\\|"),
        f"{theirs:,}; {answers} sentences answer",
        ours / theirs,
        f"<= {CHARACTERS_BAR:.0%}, <= {LOST_BAR:.0%} lost",
        ours <= CHARACTERS_BAR * theirs and len(missing) <= LOST_BAR * answers,
    )


def of_time(where: World) -> Result:
    """Compare the time of a brief of four questions with that of one search."""
    with ScriptedWeb(SITES) as web:
        for number, question in enumerate(QUESTIONS):
            places = range(number * PAGES_OF_A_QUESTION, (number + 1) * PAGES_OF_A_QUESTION)
            pages = [
                web.page(f"/{place}", story(f"beast{place}", 60), place % SITES, PAGE_SECONDS)
                for place in places
            ]
            web.find(question, *pages)
        web.delays["serper"] = ENGINE_SECONDS
        environment = {**where.keyless, **web.environment("serper")}

        def timed(*arguments: str) -> Callable[[], float]:
            command = where.script("web_search.py", *arguments, "--force")
            return process_time(command, environment)

        found = interleaved(timed("brief", *QUESTIONS), timed(QUESTIONS[0]), where.pairs)
    return against(found, TIME_BAR)


MEASURES = [
    Measure("web_search.py brief: characters, against three searches each", of_characters),
    Measure("web_search.py brief: four questions, against one search", of_time),
]
