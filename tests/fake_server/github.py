"""GitHub's REST search: GET /search/issues and /search/repositories.

A caller without User-Agent gets 403, a search of issues without is:issue or is:pull-request 422,
and so does an unknown repository. Ten searches a minute are allowed, thirty with a token; a token
that begins with "bad" is refused. Faults beside those of engine_pages.py:
  spent       403, nothing left until a reset in 40 seconds
  secondary   403 with Retry-After: 60; abuse: 403 that names the secondary limit and no time
  unfinished  200 without results, incomplete_results: true
  unknown     422: the repository does not exist
"""

from __future__ import annotations

import re
import time
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .engine_pages import query_fault
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route
from .open_sources import caller_of, created, documents_on, matching, number_of, utc

if TYPE_CHECKING:
    from .corpus import Document

MAX_QUERY = 256
FIELDS = {"q", "sort", "order", "per_page", "page"}
WINDOW = 60.0  # seconds
LIMIT, LIMIT_WITH_TOKEN = 10, 30
TEXT_MATCH = "application/vnd.github.text-match+json"
REFUSED_AGENT = (
    b"Request forbidden by administrative rules. Please make sure your request has a User-Agent "
    b"header (https://docs.github.com/en/rest/overview/resources-in-the-rest-api)."
)
RESET_SECONDS = 40


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: caller, token, limit, fields, fault, results, in this order."""
    if not caller_of(request):
        return Reply(HTTPStatus.FORBIDDEN, REFUSED_AGENT, "application/octet-stream")
    token = (request.header("authorization") or "").removeprefix("Bearer ")
    if token.startswith("bad"):
        return json_reply({"message": "Bad credentials", "status": "401"}, HTTPStatus.UNAUTHORIZED)
    most = LIMIT_WITH_TOKEN if token else LIMIT
    used = state.rate(f"github {token}", request.time, WINDOW) if state.limits else 1
    if used > most:
        return limited(most)
    answer = search_result(request, state)
    if not isinstance(answer, Reply):
        return answer
    # What the answer of a fault says of the limit stays.
    headers = {**dict(limit_headers(most, most - used)), **dict(answer.headers)}
    return replace(answer, headers=tuple(headers.items()))


def search_result(request: RecordedRequest, state: ServerState) -> Answer:
    """The answer to a search within the limit."""
    fields = dict(request.query_pairs)
    query, size = fields.get("q", ""), fields.get("per_page", "30")
    if set(fields) - FIELDS or not query.strip() or not size.isdecimal() or int(size) > 100:
        return invalid("The search contains a wrong parameter.")
    if len(query) > MAX_QUERY:
        return invalid("The search is longer than 256 characters.")
    is_issues = request.path.endswith("/issues")
    kinds = re.findall(r"(?:is|type):(issue|pr|pull-request)\b", query)
    if is_issues and not kinds:
        return invalid("Query must include 'is:issue' or 'is:pull-request'")
    if fault := query_fault(query, request, state, FAULTS):
        return fault
    places = documents_on("github.com")
    for repository in re.findall(r"(?<!\S)repo:(\S+)", query):
        places = [one for one in places if one.path.startswith(f"/{repository}")]
        if not places:
            return invalid(UNKNOWN)
    words = re.sub(r"(?<!\S)-?[a-z]+:\S+", " ", query)
    pattern = r"/issues/" if kinds == ["issue"] else r"/pull/" if kinds else r"^/[^/]+/[^/]+$"
    found = [one for one in matching(words, places) if re.search(pattern, one.path)]
    found = [one for one in found if in_period(one, query)]
    wants_matches = TEXT_MATCH in (request.header("accept") or "")
    show = issue if is_issues else repository_of
    items = [show(one, wants_matches) for one in found[: int(size)]]
    body = {"total_count": len(found), "incomplete_results": False, "items": items}
    return json_reply(body)


def in_period(document: Document, query: str) -> bool:
    """Whether a document satisfies the dates of a query."""
    found = re.search(r"(?:created|pushed):(\S+?)\.\.(\S+)", query)
    return not found or found[1] <= utc(created(document)) <= found[2]


def issue(document: Document, wants_matches: bool) -> dict[str, Any]:
    """An issue or pull request."""
    item = {
        "html_url": document.url,
        "number": int(document.path.rpartition("/")[2]),
        "title": document.title,
        "state": "open" if number_of(document) % 2 else "closed",
        "comments": number_of(document),
        "created_at": utc(created(document)),
        "body": "\r\n".join(document.text),
        "score": 1.0,
    }
    if "/pull/" in document.path:
        item["pull_request"] = {"html_url": document.url}
    if wants_matches:
        fragment = {"property": "body", "fragment": document.text[-1], "matches": []}
        title = {"property": "title", "fragment": document.title, "matches": []}
        item["text_matches"] = [title, fragment]
    return item


def repository_of(document: Document, _: bool) -> dict[str, Any]:
    """A repository."""
    return {
        "full_name": document.path.strip("/"),
        "html_url": document.url,
        "description": document.text[0],
        "stargazers_count": 100 * number_of(document),
        "language": "Python",
        "license": {"spdx_id": "MIT"},
        "topics": [],
        "pushed_at": utc(created(document)),
        "default_branch": "main",
    }


def limit_headers(most: int, left: int, seconds: int = int(WINDOW)) -> tuple[tuple[str, str], ...]:
    """What every answer says of the limit."""
    reset = str(int(time.time()) + seconds)
    named = {"Limit": str(most), "Remaining": str(left), "Reset": reset, "Resource": "search"}
    return tuple((f"X-RateLimit-{name}", value) for name, value in named.items())


def limited(most: int, seconds: int = int(WINDOW)) -> Reply:
    """The refusal of a caller whose limit is used up."""
    text = "API rate limit exceeded for 192.0.2.1. (But here's the good news: ...)"
    answer = json_reply({"message": text, "documentation_url": "x"}, HTTPStatus.FORBIDDEN)
    return replace(answer, headers=limit_headers(most, 0, seconds))


def invalid(reason: str) -> Reply:
    """A search that cannot be made."""
    body = {"message": "Validation Failed", "errors": [{"message": reason, "resource": "Search"}]}
    return json_reply(body, HTTPStatus.UNPROCESSABLE_ENTITY)


def secondary(headers: dict[str, str]) -> Reply:
    """The refusal of the secondary limit."""
    body = {"message": "You have exceeded a secondary rate limit."}
    return json_reply(body, HTTPStatus.FORBIDDEN, headers)


UNKNOWN = (
    "The listed users and repositories cannot be searched either because the resources do not "
    "exist or you do not have permission to view them."
)
FAULTS = {
    "blocked": lambda: Reply(HTTPStatus.FORBIDDEN, REFUSED_AGENT, "application/octet-stream"),
    "empty": lambda: json_reply({"total_count": 0, "incomplete_results": False, "items": []}),
    "spent": lambda: limited(LIMIT, RESET_SECONDS),
    "secondary": lambda: secondary({"Retry-After": "60"}),
    "abuse": lambda: secondary({}),
    "unfinished": lambda: json_reply({"total_count": 0, "incomplete_results": True, "items": []}),
    "unknown": lambda: invalid(UNKNOWN),
}

ROUTES: tuple[Route, ...] = (route("/search/(issues|repositories)", ("GET",), answer_search),)
