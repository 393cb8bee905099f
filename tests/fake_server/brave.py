"""The Brave Search API: endpoints, keys and plans.

Plans (a key is NAME or NAME-anything): good has everything, the legacy Summarizer included;
search, answers, suggest and spellcheck are today's plans, each with a key of its own.
Faults with an answer of Brave's: bad, plan, broke, busy, quota, flaky, missing; see faults.py
for those of the transport.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from . import brave_answers, brave_errors
from . import brave_parameters as table
from .brave_errors import RefusedError
from .brave_lookups import (
    answer_descriptions,
    answer_places,
    answer_pois,
    answer_rich,
    answer_spelling,
    answer_suggest,
)
from .brave_search import (
    Call,
    answer_context,
    answer_images,
    answer_news,
    answer_videos,
    answer_web,
)
from .faults import delayed, fault_answer, fault_name
from .messages import JSON_TYPE, Answer, RecordedRequest, Reply, Route, ServerState, route

if TYPE_CHECKING:
    from collections.abc import Callable

# Passing faults and the slow key have every plan once they let a request through.
ALL_PLANS = frozenset({"search", "legacy", "answers", "suggest", "spellcheck"})
PLANS = {
    **dict.fromkeys(("good", "busy", "flaky", "slow", "second"), ALL_PLANS),
    **{name: frozenset({name}) for name in ("search", "answers", "suggest", "spellcheck")},
}
FAULT_BODIES = {
    "bad": brave_errors.invalid_token,
    "plan": brave_errors.not_in_plan,
    "broke": brave_errors.credit_exhausted,
    "busy": brave_errors.rate_limited,
    "quota": brave_errors.quota_limited,
    "flaky": brave_errors.unavailable,
    "missing": brave_errors.missing_subscription,
}


@dataclass(frozen=True)
class Endpoint:
    """One path: which methods and plan it takes, its parameters, and what answers it."""

    path: str
    methods: str
    plan: str
    parameters: table.Table
    answer: Callable[[Call], Answer]


def handle(endpoint: Endpoint, request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a request to an endpoint: key, fault, plan, parameters, results, in this order."""
    try:
        key = _key(endpoint, request)
        answer = fault_answer(key, request, state, FAULT_BODIES)
        # One request a second; those that are refused count as well.
        if fault_name(key) == "second" and state.rate(key, request.time, 1.0) > 1:
            answer = brave_errors.rate_limited()
        if answer is None:
            answer = delayed(endpoint.answer(_checked(endpoint, request, state, key)), key)
    except RefusedError as refused:
        answer = refused.reply
    return _with_rate_headers(answer, rated=endpoint.plan != "answers")


def _key(endpoint: Endpoint, request: RecordedRequest) -> str:
    key = request.header("x-subscription-token")
    authorization = request.header("authorization") or ""
    if key is None and endpoint.plan == "answers" and authorization.startswith("Bearer "):
        key = authorization.removeprefix("Bearer ").strip()
    if key is None:
        location: list[str | int] = ["header", "x-subscription-token"]
        missing = brave_errors.problem(location, "missing", "Field required")
        raise RefusedError(brave_errors.invalid_parameters([missing]))
    return key


def _checked(endpoint: Endpoint, request: RecordedRequest, state: ServerState, key: str) -> Call:
    plans = PLANS.get(fault_name(key))
    if plans is None:
        raise RefusedError(brave_errors.invalid_token())
    if endpoint.plan not in plans:
        raise RefusedError(brave_errors.not_in_plan())
    return Call(request, state, key, plans, table.check(request, endpoint.parameters))


def _with_rate_headers(answer: Answer, rated: bool) -> Answer:
    if not isinstance(answer, Reply) or answer.content_type != JSON_TYPE:
        return answer
    others = tuple(pair for pair in answer.headers if not pair[0].startswith("X-RateLimit"))
    if not rated:
        return replace(answer, headers=others)
    if others != answer.headers:
        return answer
    return replace(answer, headers=(*others, *brave_errors.rate_headers().items()))


def _answer_summarizer(call: Call) -> Answer:
    """GET /summarizer/search."""
    return brave_answers.answer_summarizer(call.values, call.state)


def _answer_chat(call: Call) -> Answer:
    """POST /chat/completions."""
    return brave_answers.answer_chat(call.request, call.values)


BASE = "/res/v1"
READ = "GET"
READ_OR_POST = "GET POST"
ENDPOINTS = (
    Endpoint("/web/search", READ_OR_POST, "search", table.WEB, answer_web),
    Endpoint("/news/search", READ_OR_POST, "search", table.NEWS, answer_news),
    Endpoint("/videos/search", READ_OR_POST, "search", table.VIDEOS, answer_videos),
    Endpoint("/images/search", READ, "search", table.IMAGES, answer_images),
    Endpoint("/llm/context", READ_OR_POST, "search", table.CONTEXT, answer_context),
    Endpoint("/local/place_search", READ, "search", table.PLACES, answer_places),
    Endpoint("/local/pois", READ, "search", table.POIS, answer_pois),
    Endpoint("/local/descriptions", READ, "search", table.DESCRIPTIONS, answer_descriptions),
    Endpoint("/web/rich", READ, "search", table.RICH, answer_rich),
    Endpoint("/summarizer/search", READ, "legacy", table.SUMMARIZER, _answer_summarizer),
    Endpoint("/suggest/search", READ, "suggest", table.SUGGEST, answer_suggest),
    Endpoint("/spellcheck/search", READ, "spellcheck", table.SPELLING, answer_spelling),
    Endpoint("/chat/completions", "POST", "answers", table.ANSWERS, _answer_chat),
)


def _refuse_path(request: RecordedRequest, _state: ServerState) -> Answer:
    """What no endpoint takes: a wrong method, or an unknown path."""
    if any(request.path == BASE + endpoint.path for endpoint in ENDPOINTS):
        return brave_errors.method_not_allowed()
    return brave_errors.not_found("The path is unknown.")


def _endpoint_route(endpoint: Endpoint) -> Route:
    def handler(request: RecordedRequest, state: ServerState) -> Answer:
        return handle(endpoint, request, state)

    return route(re.escape(BASE + endpoint.path), endpoint.methods.split(), handler)


ROUTES: tuple[Route, ...] = (
    *map(_endpoint_route, ENDPOINTS),
    route(re.escape(BASE) + "/.*", (), _refuse_path),
)
