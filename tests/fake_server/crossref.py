"""Crossref: GET /works.

Five requests a second, ten for callers with an e-mail in their User-Agent. Faults beside those of
engine_pages.py (blocked stands for denied):
  invalid   400, a validation failure; lost: 404 in plain text
"""

from __future__ import annotations

import re
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from .engine_pages import query_fault, status_page
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route
from .open_sources import caller_of, created, documents_on, is_too_fast, matching, utc

if TYPE_CHECKING:
    from .corpus import Document

FIELDS = {"query", "rows", "offset", "filter", "select", "sort", "order", "mailto"}
FILTERS = {"from-pub-date", "until-pub-date", "type", "has-abstract"}
SELECTABLE = set("DOI URL title container-title author issued abstract type published".split())
MAX_ROWS = 1000
PUBLIC, POLITE = 5, 10  # requests a second


def answer_works(request: RecordedRequest, state: ServerState) -> Answer:
    """Answer a search: fields, fault, limit, results, in this order."""
    fields = dict(request.query_pairs)
    query = fields.get("query", "")
    if refused := refusal(fields):
        return refused
    if fault := query_fault(query, request, state, FAULTS):
        return fault
    is_polite = "@" in caller_of(request) or "@" in fields.get("mailto", "")
    most = POLITE if is_polite else PUBLIC
    headers = (
        ("x-rate-limit-limit", str(most)),
        ("x-rate-limit-interval", "1s"),
        ("x-concurrency-limit", "3" if is_polite else "1"),
        ("x-api-pool", "polite" if is_polite else "public"),
    )
    if is_too_fast("crossref", request, state, most, 1.0):
        return Reply(HTTPStatus.TOO_MANY_REQUESTS, b"Too many requests", "text/plain", headers)
    filters = dict(one.split(":", 1) for one in fields.get("filter", "").split(",") if one)
    start, end = filters.get("from-pub-date", ""), filters.get("until-pub-date", "9999")
    found = [
        one
        for one in matching(query, documents_on("doi.org"), any_word=True)
        if start <= utc(created(one))[:10] <= end
    ]
    shown = [work(one) for one in found[: int(fields.get("rows", 20))]]
    if shown:  # noise that stands among the works
        shown.insert(1, {"DOI": "10.5555/fig", "URL": "https://doi.org/10.5555/fig",
                         "type": "component", "title": ["Figure 1"]})  # fmt: skip
    chosen = fields.get("select", "").split(",")
    items = [{key: one[key] for key in chosen if key in one} for one in shown]
    message = {"total-results": len(found), "items": items, "items-per-page": len(items)}
    body = {"status": "ok", "message-type": "work-list", "message": message}
    return replace(json_reply(body), headers=headers)


def refusal(fields: dict[str, str]) -> Reply | None:
    """The error of a request that cannot be answered; None for a good one."""
    for name in fields:
        if name not in FIELDS:
            return invalid("parameter-not-allowed", name)
    if not re.fullmatch(r"\d{1,4}", fields.get("rows", "20")) or int(fields["rows"]) > MAX_ROWS:
        return invalid("integer-not-valid", "rows")
    for one in filter(None, fields.get("filter", "").split(",")):
        if one.partition(":")[0] not in FILTERS:
            return invalid("filter-not-available", one)
    for one in filter(None, fields.get("select", "").split(",")):
        if one not in SELECTABLE:
            return invalid("field-not-valid", one)
    return None


def invalid(kind: str, value: str) -> Reply:
    """A validation failure."""
    reason = [{"type": kind, "value": value, "message": f"Parameter {value} is not allowed"}]
    body = {"status": "failed", "message-type": "validation-failure", "message": reason}
    return json_reply(body, HTTPStatus.BAD_REQUEST)


def work(document: Document) -> dict[str, Any]:
    """A work: its date has one to three parts, its title and journal are lists."""
    date = [int(number) for number in utc(created(document))[:10].split("-")]
    return {
        "DOI": document.path.strip("/"),
        "URL": document.url,
        "type": "journal-article",
        "title": [document.title.replace("starters", "<i>starters</i>")],
        "container-title": ["Journal of Fakes &amp; Doubles"],
        "author": [
            {"given": "Ada", "family": "Baker", "sequence": "first"},
            {"family": "Miller"},
            {"name": "The Bread Consortium"},
            {"given": "Di", "family": "Fourth"},
        ],
        "issued": {"date-parts": [date[: 1 + len(document.title) % 3]]},
        "abstract": f"<jats:p>{' '.join(document.text)}</jats:p>",
    }


FAULTS = {
    "blocked": lambda: status_page(HTTPStatus.FORBIDDEN),
    "empty": lambda: json_reply(
        {"status": "ok", "message-type": "work-list", "message": {"total-results": 0, "items": []}}
    ),
    "invalid": lambda: invalid("parameter-not-allowed", "query"),
    "lost": lambda: Reply(HTTPStatus.NOT_FOUND, b"Resource not found.", "text/plain"),
}

ROUTES: tuple[Route, ...] = (route("/works", ("GET",), answer_works),)
