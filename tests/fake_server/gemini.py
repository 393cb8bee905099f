"""Google's generative APIs: the Gemini API, Vertex AI, Code Assist, and the redirect links.

Keys and access tokens (NAME or NAME-anything): good is a paid one; free may not search with
Gemini 3 and later; together is answered as soon as two of its requests wait at once (proof that
they are parallel); throttle is refused once, with its second request; unthinking may not set
how much is thought; lazy and stubborn are answered without a search; if the question asks for one,
lazy gets it, and stubborn gets no answer.
Faults with an answer of Google's: see FAULT_BODIES; those of the transport: faults.py. The names
in gemini_answers.SHAPES give the odder shapes of an answer.
"""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from . import gemini_errors as errors
from .faults import delayed, fault_answer, fault_name
from .gemini_answers import REDIRECT_PATH, SHAPES, answer_redirect, grounded_answer
from .gemini_requests import MODELS, Question, check_question, read_body
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD_KEYS = {
    "good", "free", "together", "throttle", "unthinking", "lazy", "stubborn", "busy", "flaky",
    "slow", "slower", *SHAPES,
}  # fmt: skip
FAULT_BODIES: dict[str, Callable[[], Reply]] = {
    "bad": errors.unknown_key,
    "mistyped": errors.unknown_key_in_words,
    "standard": errors.old_key,
    "leaked": errors.leaked_key,
    "disabled": errors.service_disabled,
    "denied": errors.not_permitted,
    "invalid": lambda: errors.invalid("Request contains an invalid argument."),
    "place": errors.place_not_served,
    "busy": errors.too_many_requests,
    "limited": errors.forbidden_by_rate,
    "quota": errors.day_used_up,
    "unpaid": errors.no_quota_for_model,
    "crowded": errors.crowded,
    "flaky": errors.overloaded,
    "overloaded": errors.overloaded,
    "late": errors.too_late,
}
MODELS_PER_PAGE = 5  # the real one sends up to 1000, and may send fewer
TOGETHER_SECONDS = 10.0


def answer_models(request: RecordedRequest, state: ServerState) -> Answer:
    """GET /v1beta/models: a page of the list."""
    try:
        key = _api_key(request)
        fault = _fault(key, request, state)
    except errors.RefusedError as refused:
        return refused.reply
    if fault is not None:
        return fault
    start = int((request.query.get("pageToken") or ["0"])[0])
    size = min(MODELS_PER_PAGE, int((request.query.get("pageSize") or ["50"])[0]))
    models = [
        {
            "name": f"models/{model.name}",
            "displayName": model.name.replace("-", " ").title(),
            "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": list(model.methods),
        }
        for model in MODELS.values()
    ]
    page: dict[str, Any] = {"models": models[start : start + size]}
    if start + size < len(models):
        page["nextPageToken"] = str(start + size)
    return json_reply(page)


def answer_gemini(request: RecordedRequest, state: ServerState) -> Answer:
    """POST /v1beta/models/MODEL:generateContent."""
    version, model = request.path.split("/")[1], _model_name(request)
    return _answer(request, state, _api_key, lambda: _question(request, model, version, "gemini"))


def answer_vertex(request: RecordedRequest, state: ServerState) -> Answer:
    """POST .../projects/P/locations/L/publishers/google/models/MODEL:generateContent."""
    version, model = request.path.split("/")[1], _model_name(request)
    return _answer(
        request, state, _bearer_token, lambda: _question(request, model, version, "vertex"), True
    )


def answer_express(request: RecordedRequest, state: ServerState) -> Answer:
    """POST .../publishers/google/models/MODEL:generateContent, with an API key."""
    version, model = request.path.split("/")[1], _model_name(request)
    return _answer(
        request, state, _api_key, lambda: _question(request, model, version, "vertex"), True
    )


def answer_code_assist(request: RecordedRequest, state: ServerState) -> Answer:
    """POST /v1internal:generateContent: the request is wrapped, and so is the answer."""

    def question() -> Question:
        body = read_body(request)
        inner = body.pop("request", None)
        model = body.pop("model", "")
        body.pop("project", None)
        body.pop("userPromptId", None)
        if body or not isinstance(inner, dict):
            raise errors.RefusedError(errors.invalid("Request contains an invalid argument."))
        return _checked(str(model), "v1internal", inner, "gemini")

    answer = _answer(request, state, _bearer_token, question)
    if not isinstance(answer, Reply) or answer.status != HTTPStatus.OK:
        return answer
    inner = b'{"response": ' + answer.body + b', "traceId": "trace-1"}'
    return Reply(HTTPStatus.OK, inner, delay=answer.delay)


def _answer(
    request: RecordedRequest,
    state: ServerState,
    key_of: Callable[[RecordedRequest], str],
    question_of: Callable[[], Question],
    names_domain: bool = False,
) -> Answer:
    """Answer a question: key, fault, request, tier, shape, in this order."""
    try:
        key = key_of(request)
        fault = _fault(key, request, state)
        if fault is not None:
            return fault
        question = question_of()
        if fault_name(key) == "free" and question.searches and question.model.levels:
            return errors.no_search_in_tier()
        if fault_name(key) == "unthinking" and question.thinking_set:
            return errors.no_thinking()
        told = "Search Google" in question.text
        if fault_name(key) == "stubborn" and told:
            return fault_answer("hang", request, state, {}) or errors.too_late()
        answer = grounded_answer(question, state, names_domain)
    except errors.RefusedError as refused:
        return refused.reply
    if fault_name(key) in ("lazy", "stubborn") and not told:
        SHAPES["ungrounded"](answer)
    if fault_name(key) in SHAPES:
        SHAPES[fault_name(key)](answer)
    return delayed(json_reply(answer), key)


def _fault(key: str, request: RecordedRequest, state: ServerState) -> Answer | None:
    name = fault_name(key)
    fault = fault_answer(key, request, state, FAULT_BODIES)
    if fault is not None:
        return fault
    if name not in GOOD_KEYS:
        raise errors.RefusedError(
            errors.old_key() if request.header("authorization") else errors.unknown_key()
        )
    if name == "throttle" and state.count(f"{key} throttle") == 2:
        return errors.too_many_requests()
    if name == "together":
        _wait_for_another(key, state)
    return None


def _wait_for_another(key: str, state: ServerState) -> None:
    """Wait until a second request of the key is here; refuse when none comes."""
    waiting = f"{key} together"
    if state.count(waiting) % 2 == 0:
        state.note(f"{waiting} met", "yes")
        return
    limit = time.monotonic() + TOGETHER_SECONDS
    while state.noted(f"{waiting} met") is None:
        if time.monotonic() > limit:
            raise errors.RefusedError(errors.invalid("No other request came at the same time."))
        time.sleep(0.01)


def _api_key(request: RecordedRequest) -> str:
    key = request.header("x-goog-api-key")
    if not key:
        raise errors.RefusedError(errors.missing_key())
    return key


def _bearer_token(request: RecordedRequest) -> str:
    kind, _, token = (request.header("authorization") or "").partition(" ")
    if kind != "Bearer" or not token:
        raise errors.RefusedError(errors.old_key())
    return token


def _model_name(request: RecordedRequest) -> str:
    return request.path.rpartition("/")[2].partition(":")[0]


def _question(request: RecordedRequest, model: str, version: str, api: str) -> Question:
    return _checked(model, version, read_body(request), api)


def _checked(model: str, version: str, body: dict[str, Any], api: str) -> Question:
    known = MODELS.get(model)
    if known is None or "generateContent" not in known.methods:
        raise errors.RefusedError(errors.unknown_model(model, version))
    return check_question(known, body, api)


def _refuse_path(_request: RecordedRequest, _state: ServerState) -> Answer:
    return errors.unknown_path()


MODEL = r"models/[^/:]+:generateContent"
PUBLISHED = r"publishers/google/" + MODEL
ROUTES: tuple[Route, ...] = (
    route(r"/(v1|v1beta)/models", ["GET"], answer_models),
    route(r"/(v1|v1beta)/" + MODEL, ["POST"], answer_gemini),
    route(r"/(v1|v1beta1)/projects/[^/]+/locations/[^/]+/" + PUBLISHED, ["POST"], answer_vertex),
    route(r"/(v1|v1beta1)/" + PUBLISHED, ["POST"], answer_express),
    route(r"/v1internal:generateContent", ["POST"], answer_code_assist),
    route(REDIRECT_PATH + ".+", ["GET", "HEAD"], answer_redirect),
    route(r"/(v1|v1beta|v1beta1|v1internal)[/:].*", (), _refuse_path),
)
