"""Algolia's search of Hacker News: GET /api/v1/search, and a thread: GET /api/v1/items/NUMBER.

Every page of the corpus is a story that links to it; Ask HN threads and comments have no address
of their own (where results lead to pages of this server there are none of those, since clients make
their addresses themselves). Faults: those of engine_pages.py (blocked stands for denied).
"""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .engine_pages import query_fault, status_page
from .messages import Answer, RecordedRequest, Route, ServerState, json_reply, route
from .open_sources import WEB_PAGES, created, documents_on, is_too_fast, matching, number_of, utc

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {
    "query": r"(?s).*",
    "tags": r"\(?(story|comment)(,(story|comment))*\)?",
    "numericFilters": r"\w+[<>]=?\d+(,\w+[<>]=?\d+)*",
    "hitsPerPage": r"\d{1,3}|1000",
    "page": r"\d+",
    "typoTolerance": "true|false",
}
EACH_HOUR = 10_000


def answer_search(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: fields, fault, limit, results, in this order."""
    fields = dict(request.query_pairs)
    for name, value in request.query_pairs:
        if name not in FIELDS or not re.fullmatch(FIELDS[name], value):
            text = {"message": f"Unknown parameter: {name}", "status": 400}
            return json_reply(text, HTTPStatus.BAD_REQUEST)
    query = fields.get("query", "")
    if fault := query_fault(query, request, state, FAULTS):
        return fault
    if is_too_fast("hackernews", request, state, EACH_HOUR, 3600.0):
        return status_page(HTTPStatus.TOO_MANY_REQUESTS)
    threads = [] if state.local_links else documents_on("news.ycombinator.com")
    kept = [
        document
        for document in matching(query, [*threads, *WEB_PAGES])
        if in_period(created(document), fields.get("numericFilters", ""))
    ]
    size = int(fields.get("hitsPerPage", 20))
    hits = [hit(document) for document in kept[:size]]
    return json_reply(
        {
            "hits": hits,
            "nbHits": len(kept),
            "nbPages": 1,
            "page": 0,
            "hitsPerPage": size,
            "params": "advancedSyntax=true",
        }
    )


def in_period(moment: float, filters: str) -> bool:
    """Whether a moment satisfies numericFilters of created_at_i."""
    for sign, value in re.findall(r"created_at_i([<>])=?(\d+)", filters):
        if (sign == ">") != (moment >= int(value)):
            return False
    return True


def hit(document: Document) -> dict[str, Any]:
    """A story, an Ask HN, or (for the last of those) a comment."""
    moment = created(document)
    found = re.fullmatch(r"/item\?id=(\d+)", document.path)
    identity = found[1] if found else str(30_000_000 + sum(document.url.encode()))
    text = f'<p>{escape(document.text[0])}<p><a href="https://a.example&#x2F;b">more</a>'
    common = {
        "objectID": identity,
        "author": "ada",
        "created_at": utc(moment),
        "created_at_i": int(moment),
        "_tags": ["story", f"story_{identity}"],
        "_highlightResult": {"title": {"value": f"<em>{escape(document.title)}</em>"}},
    }
    if identity == "40100202":
        parent = {"story_title": document.title, "story_id": 40100000, "comment_text": text}
        return common | parent
    story = {"title": document.title, "points": number_of(document), "num_comments": 3}
    return common | story | ({"story_text": text} if found else {"url": document.url})


FAULTS = {
    "blocked": lambda: status_page(HTTPStatus.FORBIDDEN),
    "empty": lambda: json_reply({"hits": [], "nbHits": 0, "page": 0}),
}

BRANCHES, LEVELS = 12, 4  # of a thread


def answer_item(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a request for a thread: the story with its comments, each below what it answers.

    The first branches have the most replies; deleted comments are absent, a banned one has no text.
    """
    number = request.path.rpartition("/")[2]
    for document in documents_on("news.ycombinator.com"):
        if document.path.endswith(f"id={number}"):
            if is_too_fast("hackernews", request, state, EACH_HOUR, 3600.0):
                return status_page(HTTPStatus.TOO_MANY_REQUESTS)
            return json_reply(thread(document, int(number)))
    return json_reply({"status": 404, "error": "Not Found"}, HTTPStatus.NOT_FOUND)


def thread(document: Document, number: int) -> dict[str, Any]:
    """A story with BRANCHES comments; the n-th has LEVELS - n levels of replies below it."""
    moment = utc(created(document))
    common = {"created_at": moment, "points": None, "title": None, "url": None, "story_id": number}

    def comment(branch: int, level: int) -> dict[str, Any]:
        text = f"Branch {branch}, level {level}: my <i>old</i> board still types.<p># Not a heading"
        if (branch, level) == (BRANCHES - 1, 0):
            text = "The buckling spring of 1986 outlives us all."
        deeper = [comment(branch, level + 1)] if level < LEVELS - branch else []
        author = f"user{branch}_{level}"
        return {**common, "type": "comment", "author": author, "text": text, "children": deeper}

    children = [comment(branch, 0) for branch in range(BRANCHES)]
    children.insert(1, {**common, "type": "comment", "author": None, "text": None, "children": []})
    return {
        **common,
        "id": number,
        "type": "story",
        "title": document.title,
        "author": "ada",
        "points": 35,
        "text": f"<p>{escape(document.text[0])}",
        "children": children,
    }


ROUTES: tuple[Route, ...] = (
    route("/api/v1/search", ("GET",), answer_search),
    route(r"/api/v1/items/\d+", ("GET",), answer_item),
)
