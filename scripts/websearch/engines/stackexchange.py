"""Stack Exchange (Stack Overflow and its sister sites), through its API 2.3."""

from __future__ import annotations

import re
import time

from websearch.engines.base.days import day_of, period
from websearch.engines.base.engine import HOURS, Engine
from websearch.engines.base.filters import site_filter
from websearch.engines.base.messages import EngineAnswer, Quota, ResultPage
from websearch.engines.base.open_sources import (
    FEWER_WORDS,
    api_request,
    bad_query,
    counted,
    good_answer,
    listed_items,
    refusal,
    search_words,
    source_result,
    text_of_html,
    too_fast,
)
from websearch.kit import (
    GZIP_START,
    MAX_BODY,
    Response,
    SearchError,
    decompressed,
    json_object,
    list_field,
    object_field,
    quoted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest

ENGINE = Engine(
    name="stackexchange",
    title="Stack Exchange",
    module=__name__,
    address=("STACKEXCHANGE_BASE_URL", "https://api.stackexchange.com"),
    sources=("code", "discussions"),
    is_fallback=True,
    page_interval=0.05,
    filters={"since": (*HOURS, "range"), "site": None},
    instead={
        "language": "Set {site} to a site in that language, such as es.stackoverflow.com.",
        "exclude_site": "Set {site}: each search covers one site of the network.",
    },
    operators=False,
    max_query=300,
    max_count=50,
)
DEFAULT_SITE = "stackoverflow"
QUOTA_SECONDS = 86_400  # the allowance of an IP address is per day
PAUSE_AFTER_THROTTLE = 60.0  # seconds, if a refusal states no wait
THROTTLED, BAD_PARAMETER = 502, 400  # its error_id, which is not an HTTP status
# The network's hosts, and its own short names for them, such as unix.
_SITES = (
    r"[a-z][a-z0-9]*|([a-z0-9-]+\.)+stackexchange\.com|((meta|[a-z]{2})\.)?stackoverflow(\.com)?"
    r"|(superuser|serverfault|askubuntu|stackapps)\.com|mathoverflow\.net"
)

# ===== requests ===================================================================================


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET request for a search, with a search for fewer words as "if_empty".

    Raises SearchError (invalid_input).
    """
    start, end = period(params["since"], time.time()) if "since" in params else (None, None)
    fields = {
        "site": api_site(params.get("site", [])),
        "q": search_words(ENGINE, params["query"]),
        "sort": "relevance",
        "order": "desc",
        "pagesize": str(params["count"]),
        "fromdate": start,
        "todate": end,
    }
    request = api_request(ENGINE, "/2.3/search/advanced", fields)
    fewer = search_words(ENGINE, params["query"], FEWER_WORDS)
    if fewer != fields["q"]:
        further = api_request(ENGINE, "/2.3/search/advanced", {**fields, "q": fewer})
        return request._replace(if_empty=further)
    return request


def api_site(sites: list[str]) -> str:
    """Return the site to search, a host or a short name; raises SearchError (invalid_input)."""
    hint = "Use one site in the network, such as superuser.com or unix."
    if len(sites) > 1:
        raise SearchError("invalid_input", "Stack Exchange searches one site at a time.", hint)
    if not sites:
        return DEFAULT_SITE
    site = site_filter("site", sites[0]).lower().removeprefix("www.")
    if not re.fullmatch(_SITES, site):
        raise SearchError("invalid_input", f"{quoted(site)} is not a Stack Exchange site.", hint)
    return site


# ===== responses ==================================================================================


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    items = read_items(response)
    results = [question_result(item) for item in items.value]
    return ResultPage(results=results, quota=items.quota, pause=items.pause)


def read_items(response: Response) -> EngineAnswer:
    """Return a response's items with its quota and pause; raises SearchError."""
    response = unpacked(response)
    if response.status != 200:
        raise api_error(response)
    answer = good_answer(ENGINE, response)
    remaining, pause = answer.get("quota_remaining"), answer.get("backoff")
    return EngineAnswer(
        listed_items(ENGINE, answer, "items"),
        quota=Quota(remaining, QUOTA_SECONDS) if isinstance(remaining, int) else None,
        pause=float(pause) if isinstance(pause, (int, float)) else 0.0,
    )


def unpacked(response: Response) -> Response:
    """Return a response decompressed.

    The responses are compressed even if their headers do not say so, but early errors are not:
    the first bytes show which.
    """
    if not response.body.startswith(GZIP_START):
        return response
    return Response(response.status, response.headers, decompressed(response.body, MAX_BODY)[0])


def api_error(response: Response) -> SearchError:
    """Return the SearchError for an API error; throttling has status 400."""
    answer = json_object(response) or {}
    reason = str(answer.get("error_message"))
    if answer.get("error_id") == THROTTLED:
        wait = re.search(r"(\d{1,7}) seconds?", reason)
        seconds = float(wait[1]) if wait else PAUSE_AFTER_THROTTLE
        return too_fast(ENGINE, response.status, seconds)
    if answer.get("error_id") == BAD_PARAMETER:
        return bad_query(ENGINE, response, reason, "Correct site, or use other words.")
    return refusal(ENGINE, response)


def question_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return a question as a result. Its license requires the author, license and link."""
    answers = counted(item.get("answer_count"), "answer")
    accepted = ", one accepted" if answers and item.get("accepted_answer_id") else ""
    score = item.get("score")
    facts = [
        ", ".join(list_field(item, "tags", str)),
        f"score {score}" if isinstance(score, int) else "",
        answers + accepted,
        "closed" if item.get("closed_date") else "",
    ]
    owner = object_field(item, "owner")
    return source_result(
        text_of_html(item.get("title")),
        item.get("link"),
        facts,
        date=day_of(item.get("creation_date")),
        author=text_of_html(text_of_html(owner.get("display_name"))),  # names are escaped twice
        license=text_of_html(item.get("content_license")),
    )
