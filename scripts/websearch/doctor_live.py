"""What doctor.py asks with `live`: one question at each engine of `auto`, Gemini's list of models.

A question costs what it costs elsewhere, counts in the budget, and is answered by no store.
"""

from __future__ import annotations

import os
import time

from websearch.common import SearchError
from websearch.engines import configured_engines
from websearch.key_file import KEYS
from websearch.search.ask import answer_question
from websearch.search.plan import Question, planned_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.search.answers import Answer

    Outcome = tuple[str, str, str]  # status (ok, warning, failed), message, hint

QUESTION = Question(1, "sourdough bread", ("auto",), {}, {}, "general", 3, max_age=0.0)


def live_engines(secrets: dict[str, str]) -> list[str]:
    """Return what is asked: the engines of `auto`, and gemini if its key is set.

    secrets: what secrets.yaml holds. A malformed list has its own line in the report.
    """
    try:
        engines = configured_engines()
    except SearchError:
        engines = []
    has_gemini = any(os.environ.get(name) or secrets.get(name) for name in KEYS["gemini"][0])
    return engines + ["gemini"] * has_gemini


def live_requests(engines: list[str]) -> list[dict[str, Any]]:
    """Return the requests to these engines, without keys; what cannot be sent is left out."""
    import gemini_search

    documents = [
        gemini_search.run_models({"dry_run": True})
        if name == "gemini"
        else planned_request(QUESTION, name)
        for name in engines
    ]
    requests = [document["request"] for document in documents if document["ok"]]
    return [{"method": request["method"], "url": request["url"]} for request in requests]


def ask_all(engines: list[str], deadline: float) -> list[Outcome]:
    """Return what asking each engine shows, in their order; all are asked at the same time."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max(1, len(engines))) as pool:
        return list(pool.map(lambda name: ask_one(name, deadline), engines))


def ask_one(engine: str, deadline: float) -> Outcome:
    """Return what one question shows: the number of results, the seconds, and what it cost."""
    started = time.monotonic()
    if engine == "gemini":
        return gemini_outcome(deadline - started)
    answer = answer_question(QUESTION, engine, "", deadline)
    seconds = time.monotonic() - started
    if answer.error and answer.error.kind != "no_results":
        return "failed", answer.error.message, answer.error.details.get("hint", "")
    message = f"{len(answer.results)} results in {seconds:.1f} s, {cost(answer)}"
    if not answer.results:
        return "warning", message, "Ask it something else; it may answer strangers with nothing."
    return "ok", message, ""


def cost(answer: Answer) -> str:
    """Return what an answer cost, in words."""
    billed = sum(answer.billed.values())
    return f"{billed} billed request{'s' * (billed > 1)}" if billed else "free"


def gemini_outcome(seconds: float) -> Outcome:
    """Return what Gemini's list of models shows, which is free: an answer costs much more."""
    import gemini_search

    document = gemini_search.run_models({"timeout": max(0.1, seconds), "max_chars": 0})
    if not document["ok"]:
        return "failed", document["error"], document["details"].get("hint", "")
    names, default = [model["name"] for model in document["models"]], document["default_model"]
    message = f"The key is accepted; {len(names)} models, the default {default}"
    if default not in names:
        hint = "Set GEMINI_MODEL to one of the names that gemini_search.py models lists."
        return "warning", f"{message} is not among them.", hint
    return "ok", f"{message} among them.", ""
