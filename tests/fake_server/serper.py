"""The serper.dev API: google.serper.dev and scrape.serper.dev on one address.

A search is a POST of a JSON object, or of an array of them, to the path of its kind; POST / is the
scraper, GET /account the balance. Other methods on these paths are left to other providers.

Keys (NAME or NAME-anything): good; pattern, a free account whose queries may hold no operators.
Faults with an answer of Serper's: bad, empty, contact, busy, flaky; see faults.py for those of the
transport. Bodies are the real ones, except for 429, 503 and refused parameters, whose real text is
not known; the real API is not known to refuse parameters either: here a misspelt one is seen.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from . import serper_results as results
from .faults import delayed, fault_answer, fault_name
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from collections.abc import Callable

    from .serper_results import Result

KNOWN_KEYS = frozenset({"good", "pattern", "slow", "busy", "flaky"})
MAX_ARRAY = 100
BALANCE = 2_418
RATE_LIMIT = 5
# What free accounts are refused: phrases, some operators, and more than 10 results.
_PAID_PATTERN = re.compile(r'"|\b(inurl|intitle|filetype):', re.IGNORECASE)
_PAID_NUM = 20


class RefusedError(Exception):
    """The request is answered with an error; carries the reply."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def error_reply(status: int, message: str) -> Reply:
    """An error in Serper's shape."""
    return json_reply({"message": message, "statusCode": int(status)}, status)


def unauthorized() -> Reply:
    """A missing or unknown key: 403, and not 401."""
    return error_reply(HTTPStatus.FORBIDDEN, "Unauthorized.")


def not_enough_credits() -> Reply:
    """The credits are used up: 400, and not 402."""
    return error_reply(HTTPStatus.BAD_REQUEST, "Not enough credits")


def query_not_allowed() -> Reply:
    """What a burst of requests may get."""
    return error_reply(HTTPStatus.BAD_REQUEST, "Query not allowed. Contact support.")


def free_account() -> Reply:
    """A query that only a paid plan may send."""
    text = "Query pattern not allowed for free accounts."
    return error_reply(HTTPStatus.BAD_REQUEST, text)


def missing_query() -> Reply:
    """No query in the body."""
    return error_reply(HTTPStatus.BAD_REQUEST, "Missing query parameter")


def too_many_requests() -> Reply:
    """Too many requests in this second."""
    return error_reply(HTTPStatus.TOO_MANY_REQUESTS, "Too many requests")


def unavailable() -> Reply:
    """The service is down for a moment."""
    return error_reply(HTTPStatus.SERVICE_UNAVAILABLE, "Service unavailable")


def invalid(what: str) -> Reply:
    """A parameter that is unknown, or a value that is not allowed."""
    return error_reply(HTTPStatus.BAD_REQUEST, f"Invalid parameter: {what}")


FAULT_BODIES = {
    "bad": unauthorized,
    "empty": not_enough_credits,
    "contact": query_not_allowed,
    "busy": too_many_requests,
    "flaky": unavailable,
}


@dataclass(frozen=True)
class Endpoint:
    """One kind of search: its parameters, those of which one must be there, and its answer."""

    name: str
    parameters: str
    required: str
    answer: Callable[[dict[str, Any]], Result]


WEB = "q gl hl location num page autocorrect tbs"
ENDPOINTS = (
    Endpoint("search", WEB, "q", results.answer_search),
    Endpoint("news", WEB, "q", results.answer_news),
    Endpoint("images", WEB, "q", results.answer_images),
    Endpoint("videos", WEB, "q", results.answer_videos),
    Endpoint("places", "q gl hl location autocorrect tbs page", "q", results.answer_places),
    Endpoint("maps", "q hl gl ll placeId cid page", "q placeId cid", results.answer_maps),
    Endpoint(
        "reviews",
        "fid cid placeId sortBy topicId nextPageToken gl hl",
        "fid cid placeId",
        results.answer_reviews,
    ),
    Endpoint("shopping", WEB, "q", results.answer_shopping),
    Endpoint("lens", "url gl hl q", "url", results.answer_lens),
    Endpoint(
        "scholar",
        "q gl hl location page autocorrect as_ylo as_yhi cites",
        "q",
        results.answer_scholar,
    ),
    Endpoint("patents", "q num page", "q", results.answer_patents),
    Endpoint("autocomplete", "q gl hl location", "q", results.answer_autocomplete),
)
SCRAPE = Endpoint("scrape", "url includeMarkdown", "url", results.answer_scrape)


def handle(endpoint: Endpoint, request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a POST: key, fault, body, parameters, results, in this order."""
    key = request.header("x-api-key") or ""
    answer = fault_answer(key, request, state, FAULT_BODIES)
    if answer is None:
        try:
            answer = delayed(json_reply(_answer_body(endpoint, request, key)), key)
        except RefusedError as refused:
            answer = refused.reply
    return answer


def _answer_body(endpoint: Endpoint, request: RecordedRequest, key: str) -> Any:
    _check_key(key)
    body = _read_body(request)
    if not isinstance(body, list):
        return _answer_query(endpoint, body, key)
    if endpoint is SCRAPE or not 1 <= len(body) <= MAX_ARRAY:
        raise RefusedError(invalid("array"))
    return [_answer_item(endpoint, query, key) for query in body]


def _check_key(key: str) -> None:
    if fault_name(key) not in KNOWN_KEYS:
        raise RefusedError(unauthorized())


def _read_body(request: RecordedRequest) -> Any:
    if (request.header("content-type") or "").partition(";")[0] != "application/json":
        raise RefusedError(invalid("Content-Type"))
    try:
        return request.json()
    except ValueError:
        raise RefusedError(invalid("body")) from None


def _answer_item(endpoint: Endpoint, query: Any, key: str) -> Any:
    """Answer one query of an array: what it lacks is its own error.

    A query that the plan does not hold refuses the whole array: how the real API does it is not
    known, and clients must cope with both.
    """
    try:
        return _answer_query(endpoint, query, key)
    except RefusedError as refused:
        body = json.loads(refused.reply.body)
        if body["message"] == json.loads(free_account().body)["message"]:
            raise
        return body


def _answer_query(endpoint: Endpoint, query: Any, key: str) -> Result:
    if not isinstance(query, dict):
        raise RefusedError(invalid("body"))
    if not set(endpoint.required.split()) & query.keys():
        raise RefusedError(missing_query())
    for name, value in query.items():
        if name == "q" and (not isinstance(value, str) or not value.strip()):
            raise RefusedError(missing_query())
        if name not in endpoint.parameters.split():
            raise RefusedError(invalid(name))
    if endpoint.name == "maps" and int(query.get("page", 1)) > 1 and "ll" not in query:
        raise RefusedError(invalid("ll"))
    paid = _PAID_PATTERN.search(query.get("q", "")) or int(query.get("num", 0)) >= _PAID_NUM
    if fault_name(key) == "pattern" and paid:
        raise RefusedError(free_account())
    try:
        answer = endpoint.answer(query)
    except results.UnknownError:
        raise RefusedError(error_reply(HTTPStatus.BAD_REQUEST, "Unknown page or place")) from None
    if endpoint is SCRAPE:
        return answer
    parameters = {**query, "type": endpoint.name, "engine": "google"}
    return {"searchParameters": parameters, **answer}


def answer_account(request: RecordedRequest, state: ServerState) -> Answer:
    """GET /account: what is left, which is not what a search has cost."""
    key = request.header("x-api-key") or ""
    answer = fault_answer(key, request, state, {**FAULT_BODIES, "empty": _no_balance})
    if answer is not None:
        return answer
    if fault_name(key) not in KNOWN_KEYS:
        return unauthorized()
    return delayed(json_reply({"balance": BALANCE, "rateLimit": RATE_LIMIT}), key)


def _no_balance() -> Reply:
    return json_reply({"balance": 0, "rateLimit": RATE_LIMIT})


def _endpoint_route(pattern: str, endpoint: Endpoint) -> Route:
    def handler(request: RecordedRequest, state: ServerState) -> Answer:
        return handle(endpoint, request, state)

    return route(pattern, ("POST",), handler)


ROUTES: tuple[Route, ...] = (
    *(_endpoint_route(f"/{endpoint.name}", endpoint) for endpoint in ENDPOINTS),
    _endpoint_route("/", SCRAPE),
    route("/account", ("GET",), answer_account),
)
