"""Stack Exchange's API 2.3: GET /2.3/search/advanced, and what a page shows.

/2.3/questions/N, /2.3/questions/N/answers and /2.3/answers/N/questions, with filter=withbody; N may
be several numbers with ; between them.

Answers are gzip whatever the client asked for, and say so; early errors are plain. A day has 300
requests, a second 30. Faults beside those of engine_pages.py (blocked stands for denied):
  throttled   400 throttle_violation that names 82235 seconds; violation: one that names none
  backoff     the answer, with backoff: 10; a request within that time is a violation
  spent       the answer, with nothing left of the quota
  unsaid      the answer, compressed without a header that says so
  broken      400 that is no JSON
"""

from __future__ import annotations

import gzip
import json
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .engine_pages import fault_word, query_fault, status_page
from .local_links import leading_here
from .messages import JSON_TYPE, Answer, RecordedRequest, Reply, Route, ServerState, route
from .open_sources import created, documents_on, is_too_fast, matching, number_of

if TYPE_CHECKING:
    from .corpus import Document

SITES = {
    "stackoverflow": "stackoverflow.com",
    "superuser": "superuser.com",
    "unix": "unix.stackexchange.com",
}
FIELDS = {"site", "q", "sort", "order", "pagesize", "page", "fromdate", "todate", "tagged"}
SORTS = ("activity", "votes", "creation", "relevance")
MAX_SIZE = 100
DAILY, EACH_SECOND = 300, 30
BACKOFF = 10  # seconds
THROTTLE = "too many requests from this IP, more requests available in 82235 seconds"
VIOLATION = "Violation of backoff parameter"


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: fields, fault, throttle, results, in this order."""
    fields = dict(request.query_pairs)
    query = fields.get("q", "")
    if refused := refusal(fields):
        return refused
    if fault := query_fault(query, request, state, FAULTS):
        return fault
    left = DAILY - state.count("stackexchange requests")
    # Without limits, callers who know nothing of each other share the server.
    pause = "stackexchange pause" if state.limits else f"stackexchange pause {query}"
    paused = float(state.noted(pause) or 0)
    if paused > request.time:
        return error(502, "throttle_violation", VIOLATION)
    if is_too_fast("stackexchange", request, state, EACH_SECOND, 1.0) or left < 0:
        return error(502, "throttle_violation", THROTTLE)
    answer = search_answer(fields, left if state.limits else DAILY - 1)
    if fault_word(query) == "backoff":
        state.note(pause, str(request.time + BACKOFF))
        answer["backoff"] = BACKOFF
    if fault_word(query) == "spent":
        answer["quota_remaining"] = 0
    return Reply(HTTPStatus.OK, json.dumps(answer).encode())


def compressed(request: RecordedRequest, state: ServerState) -> Answer:
    """The answer to a search, compressed if it is a good one."""
    answer = leading_here(route(".*", ("GET",), answer_search)).handler(request, state)
    if not isinstance(answer, Reply) or answer.content_type != JSON_TYPE or answer.headers:
        return answer
    if answer.status != HTTPStatus.OK and b"error_id" not in answer.body:
        return answer
    said = fault_word(dict(request.query_pairs).get("q", "")) != "unsaid"
    headers = (("Content-Encoding", "gzip"),) if said else ()
    # A type that the server does not compress once more.
    return Reply(answer.status, gzip.compress(answer.body), "application/octet-stream", headers)


def answer_posts(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a request for a question or its answers, compressed like every answer."""
    fields = dict(request.query_pairs)
    if refused := refusal({name: value for name, value in fields.items() if name != "filter"}):
        return refused
    left = DAILY - state.count("stackexchange requests")
    if is_too_fast("stackexchange", request, state, EACH_SECOND, 1.0) or left < 0:
        return error(502, "throttle_violation", THROTTLE)
    names = request.path.split("/")[2:]
    before = 1 if names[0] == "answers" else 0
    numbers = [int(number) - before for number in names[1].split(";")]
    site = SITES.get(fields["site"], fields["site"])
    found = [one for one in documents_on(site) if int(one.path.split("/")[2]) in numbers]
    items = [question(one) | {"body": html_of(one.text[0])} for one in found]
    if names[-1] == "answers":
        items = [one for document in found for one in answers(document)]
        items.sort(key=lambda one: -one["score"])
    items = items[: int(fields.get("pagesize", 30))]
    if fields.get("filter") != "withbody":
        items = [{key: item[key] for key in item if key != "body"} for item in items]
    body = {"items": items, "has_more": False, "quota_max": DAILY, "quota_remaining": left}
    headers = (("Content-Encoding", "gzip"),)
    packed = gzip.compress(json.dumps(body).encode())
    return Reply(HTTPStatus.OK, packed, "application/octet-stream", headers)


def html_of(text: str) -> str:
    """The HTML of a post: a paragraph, a heading, code."""
    return (
        f"<p>{escape(text)}</p>\n<h2>Answer by nobody</h2>\n"
        '<pre class="lang-py"><code># a comment\nawait task\n</code></pre>'
    )


def answers(document: Document) -> list[dict[str, Any]]:
    """The answers to a question by votes; the accepted one has the fewest."""
    number = int(document.path.split("/")[2])
    texts = document.text[1:]
    return [
        {
            "answer_id": number + place,
            "question_id": number,
            "owner": {"display_name": f"Answerer {place}"},
            "is_accepted": place == len(texts),
            "score": 100 - place,
            "creation_date": int(created(document)) + 86_400,
            "content_license": "CC BY-SA 4.0",
            "body": html_of(text),
        }
        for place, text in enumerate(texts, 1)
    ]


def refusal(fields: dict[str, str]) -> Reply | None:
    """The error of a request that cannot be answered; None for a good one."""
    site = fields.get("site", "")
    if not site:
        return error(400, "bad_parameter", "site is required", plain=True)
    if site not in SITES and site not in SITES.values():
        return error(400, "bad_parameter", f"No site found for name `{site}`")
    wrong = [name for name in fields if name not in FIELDS]
    wrong += ["sort"] if fields.get("sort", "activity") not in SORTS else []
    wrong += ["order"] if fields.get("order", "desc") not in ("asc", "desc") else []
    numbers = {name: fields[name] for name in ("pagesize", "fromdate", "todate") if name in fields}
    wrong += [name for name, value in numbers.items() if not value.isdecimal()]
    if not wrong and int(fields.get("pagesize", 1)) > MAX_SIZE:
        wrong = ["pagesize"]
    return error(400, "bad_parameter", wrong[0]) if wrong else None


def search_answer(fields: dict[str, str], left: int) -> dict[str, Any]:
    """The answer to a search on one site."""
    found = matching(fields["q"], documents_on(SITES.get(fields["site"], fields["site"])))
    start, end = float(fields.get("fromdate", 0)), float(fields.get("todate", "inf"))
    kept = [document for document in found if start <= created(document) <= end]
    size = int(fields.get("pagesize", 30))
    return {
        "items": [question(document) for document in kept[:size]],
        "has_more": len(kept) > size,
        "quota_max": DAILY,
        "quota_remaining": left,
    }


def question(document: Document) -> dict[str, Any]:
    """A question; its title and its author's name come escaped, the name twice."""
    number = int(document.path.split("/")[2])
    answers = len(document.text) - 1
    item = {
        "tags": [word for word in ("python", "rust", "git", "database") if word in document.path],
        "owner": {"user_id": number % 1000, "display_name": "Ada &amp;amp; Bo"},
        "is_answered": answers > 0,
        "answer_count": answers,
        "score": number_of(document),
        "creation_date": int(created(document)),
        "question_id": number,
        "content_license": "CC BY-SA 4.0",
        "link": document.url,
        "title": escape(document.title).replace("&#x27;", "&#39;"),
    }
    return item | ({"accepted_answer_id": number + 1} if answers > 1 else {})


def error(code: int, name: str, message: str, plain: bool = False) -> Reply:
    """An error of the API, whose status is 400; an early one is plain text with a header."""
    body = {"error_id": code, "error_message": message, "error_name": name}
    headers = (("X-Early", "1"),) if plain else ()
    return Reply(HTTPStatus.BAD_REQUEST, json.dumps(body).encode(), JSON_TYPE, headers)


FAULTS = {
    "blocked": lambda: status_page(HTTPStatus.FORBIDDEN),
    "empty": lambda: Reply(HTTPStatus.OK, b'{"items":[],"has_more":false,"quota_remaining":9}'),
    "throttled": lambda: error(502, "throttle_violation", THROTTLE),
    "violation": lambda: error(502, "throttle_violation", VIOLATION),
    "broken": lambda: Reply(HTTPStatus.BAD_REQUEST, b"Bad Request", "text/plain"),
}
OTHER_FAULTS = frozenset({"backoff", "spent", "unsaid"})

ROUTES: tuple[Route, ...] = (
    route(r"/2\.3/search/advanced", ("GET",), compressed),
    route(
        r"/2\.3/questions/[\d;]+(/answers)?|/2\.3/answers/[\d;]+/questions", ("GET",), answer_posts
    ),
)
