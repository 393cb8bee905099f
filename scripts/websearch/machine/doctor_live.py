"""Send the requests of `doctor.py --live`: a question to each engine of `auto`, Gemini's models.

A question costs its usual price, counts toward the budget and ignores stored answers.
"""

from __future__ import annotations

import os
import time
from contextlib import closing

from websearch.engines.base.ledger import RunBudget
from websearch.engines.table import configured_engines
from websearch.kit import SearchError
from websearch.machine.doctor_machine import failed, ok, warning
from websearch.machine.key_file import KEYS
from websearch.reading.page import Call
from websearch.search.ask import answer_question
from websearch.search.engine_calls import planned_request
from websearch.search.plan import Question
from websearch.store.page_store import PageStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.machine.doctor_machine import Line

QUESTION = Question(1, "sourdough bread", "sourdough bread", ("auto",), {}, {}, "general", 3)


def live_engines(secrets: dict[str, str]) -> list[str]:
    """Return the engines of `auto`, and gemini if its key is set.

    secrets: the content of secrets.yaml. Another check reports a malformed list of engines.
    """
    try:
        engines = configured_engines()
    except SearchError:
        engines = []
    has_gemini = any(os.environ.get(name) or secrets.get(name) for name in KEYS["gemini"][0])
    return engines + ["gemini"] * has_gemini


def live_requests(engines: list[str]) -> list[dict[str, Any]]:
    """Return the requests to these engines, without keys; omit requests that cannot be sent."""
    import gemini_search

    requests = []
    for name in engines:
        if name == "gemini":
            request = gemini_search.run_models({"dry_run": True}).get("request")
        else:
            request = planned_request(name, QUESTION.for_engine(name))
        if isinstance(request, dict):
            requests.append(request)
    return [{"method": request["method"], "url": request["url"]} for request in requests]


def ask_all(engines: list[str], deadline: float) -> list[Line]:
    """Query all engines at once; return their report lines in the order of the engines."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(max(1, len(engines))) as pool:
        asks = [ask_gemini if engine == "gemini" else ask_one for engine in engines]
        return list(pool.map(lambda ask, engine: ask(engine, deadline), asks, engines))


def ask_one(engine: str, deadline: float) -> Line:
    """Return the line about an engine: the number of results, the seconds and the cost."""
    name, started = f"{engine} live", time.monotonic()
    with closing(PageStore()) as store:
        call = Call(store=store, deadline=deadline, budget=RunBudget())
        answer = answer_question(QUESTION, engine, call)
    seconds = time.monotonic() - started
    if answer.error and answer.error.kind != "no_results":
        return failed(name, answer.error.message, answer.error.hint)
    billed = sum(answer.billed.values())
    cost = f"{billed} billed request{'s' * (billed > 1)}" if billed else "free"
    message = f"{len(answer.results)} results in {seconds:.1f} s, {cost}"
    if not answer.results:
        hint = "Try another question. The engine may return nothing to automated requests."
        return warning(name, message, hint)
    return ok(name, message)


def ask_gemini(engine: str, deadline: float) -> Line:
    """Return the line about Gemini's list of models, which is free, unlike an answer."""
    import gemini_search

    name, seconds = f"{engine} live", max(0.1, deadline - time.monotonic())
    document = gemini_search.run_models({"timeout": seconds, "max_chars": 0})
    if not document["ok"]:
        return failed(name, document["error"], document["details"].get("hint", ""))
    models, default = [model["name"] for model in document["models"]], document["default_model"]
    message = f"The key is accepted; {len(models)} models, the default {default}"
    if default not in models:
        hint = "Set GEMINI_MODEL to a name listed by gemini_search.py models."
        return warning(name, f"{message} is not among them.", hint)
    return ok(name, f"{message} among them.")
