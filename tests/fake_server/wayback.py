"""The Internet Archive: GET /cdx/search/cdx lists captures, GET /web/TIMEid_/URL gives one.

It has copies of the pages of this server that are gone or refuse: /site/gone/..., /site/wall/...,
/site/status/500, and those of small_web.py with the faults gone-NAME. /site/gone/NAME and
gone-NAME decide what the archive does:
  never       it has no copy               refused    its owner wants none shown (403)
  busy        429 without Retry-After      broken     it has a copy that cannot be fetched (503)
  odd         no JSON                      hang       never an answer
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING

from . import small_web, website
from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route

if TYPE_CHECKING:
    from .connection import Connection

# Of the second and the third, only the third is a good copy; the last was made of an error page.
CAPTURES = (("20200102030405", "200"), ("20231224000000", "301"), ("20240131120000", "200"),
            ("20250505050505", "404"))  # fmt: skip
PARAMETERS = {"url", "output", "fl", "filter", "limit"}
GONE = (
    r"https?://[^/]+/(?:site/gone/|site/status/500|site/wall/|web/fault-gone-?)"
    r"(?P<fault>\w*)/?(?P<document>.*)"
)
MEMENTO = (("memento-datetime", "Wed, 31 Jan 2024 12:00:00 GMT"),)


def answer_captures(request: RecordedRequest, _state: ServerState) -> Answer:
    """GET /cdx/search/cdx: a list of lists, the first of which names the columns."""
    fields = dict(request.query_pairs)
    url = fields.get("url", "")
    is_known = set(fields) <= PARAMETERS and fields.get("output") == "json"
    if not is_known or not re.match(r"https?://", url):
        return Reply(HTTPStatus.BAD_REQUEST, b"Bad request", "text/plain")
    gone = re.match(GONE, url)
    if not gone or gone["fault"] == "never":
        return json_reply([])
    if gone["fault"] in FAULTS:
        return FAULTS[gone["fault"]]
    status = fields.get("filter", "").removeprefix("statuscode:")
    found = [[time] for time, code in CAPTURES if status in ("", code)]
    return json_reply([["timestamp"], *found[int(fields.get("limit", "-1")) :]])


def answer_copy(request: RecordedRequest, _state: ServerState) -> Answer:
    """GET /web/TIMEid_/URL: the page as it was."""
    time, url = request.target.removeprefix("/web/").split("id_/", 1)
    gone = re.match(GONE, url)
    if not gone or time != CAPTURES[2][0]:
        return Reply(HTTPStatus.NOT_FOUND, b"No capture", "text/plain")
    if gone["fault"] == "broken":
        return Reply(HTTPStatus.SERVICE_UNAVAILABLE, b"Try later", "text/plain")
    document = small_web.DOCUMENTS.get(gone["document"])
    body = small_web.page_of(document).encode() if document else website.old_page()
    return Reply(HTTPStatus.OK, body, website.HTML, MEMENTO)


def _hang(connection: Connection) -> None:
    connection.closed_within(None)


BLOCKED = "org.archive.util.io.RuntimeIOException: Blocked Site Error"
FAULTS: dict[str, Answer] = {
    "busy": Reply(HTTPStatus.TOO_MANY_REQUESTS, b"Too many requests", "text/plain"),
    "refused": Reply(
        HTTPStatus.FORBIDDEN, BLOCKED.encode(), "text/plain",
        (("X-Archive-Wayback-Runtime-Error", BLOCKED),),
    ),
    "odd": Reply(HTTPStatus.OK, b"<html>Sorry</html>", "text/html"),
    "hang": _hang,
}  # fmt: skip

ROUTES: tuple[Route, ...] = (
    route("/cdx/search/cdx", ("GET",), answer_captures),
    route(r"/web/\d{14}id_/.*", ("GET",), answer_copy),
)
