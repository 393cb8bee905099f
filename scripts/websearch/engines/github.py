"""GitHub's REST search: issues and pull requests, and repositories."""

from __future__ import annotations

import os
import re
import time

from websearch.engines.base.days import period
from websearch.engines.base.engine import HOURS, Engine
from websearch.engines.base.filters import site_filter
from websearch.engines.base.messages import Quota, ResultPage
from websearch.engines.base.open_sources import (
    FEWER_WORDS,
    api_request,
    bad_query,
    counted,
    good_answer,
    key_words,
    listed_items,
    raw_text,
    refusal,
    source_result,
    too_fast,
    utc_time,
)
from websearch.engines.base.result_pages import header_signal, within_limit
from websearch.kit import (
    TRUE_WORDS,
    SearchError,
    configured_key,
    json_object,
    list_field,
    object_field,
    quoted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="github",
    title="GitHub",
    module=__name__,
    address=("GITHUB_BASE_URL", "https://api.github.com"),
    sources=("code",),
    # Ten searches per minute, thirty with a token; 60 seconds allow 60 / interval + burst requests.
    interval=7.5,
    burst=2,
    faster=("GITHUB_TOKEN", 2.2),
    serial=True,
    page_interval=0.0,  # 60 per hour; GitHub's headers count them
    pages_apart=True,
    filters={"since": (*HOURS, "range"), "site": None},
    instead={"language": "Add a qualifier such as language:python to the query."},
    operators=False,
    max_query=256,
    max_count=50,
)
TOKEN = "GITHUB_TOKEN"  # noqa: S105  the variable's name
PRIVATE = "WEB_SEARCH_GITHUB_PRIVATE"  # lets the token read private repositories
ISSUES, REPOSITORIES = "/search/issues", "/search/repositories"
# Words in a query that choose the search; without them, issues and repositories are searched.
_IS_ISSUE = r"(?<!\S)(?:is|type):(?:issue|pr|pull-request)(?!\S)"
_IS_REPOSITORY = r"(?<!\S)is:repo(?:sitory)?(?!\S)"
_MOMENT = "%Y-%m-%dT%H:%M:%SZ"

# ===== requests ===================================================================================


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET request for a search.

    For issues, "if_empty" is a search with fewer words, and "also" is a search for repositories.
    Raises SearchError (invalid_input, auth).
    """
    query = params["query"]
    sites = [site_qualifier(site) for site in params.get("site", [])]
    if re.search(_IS_REPOSITORY, query):
        words = re.sub(_IS_REPOSITORY, " ", query)
        return search_request(REPOSITORIES, params, key_words(words), sites)
    kind = [] if re.search(_IS_ISSUE, query) else ["is:issue"]  # without it, GitHub returns 422
    words, fewer = key_words(query), key_words(query, FEWER_WORDS)
    request = search_request(ISSUES, params, words, [*kind, *sites])
    wider = search_request(ISSUES, params, fewer, [*kind, *sites]) if fewer != words else None
    if kind:
        # Names and descriptions of repositories are short and contain few of a question's words.
        also = search_request(REPOSITORIES, params, fewer, sites)
        request = request._replace(also=also)
        wider = wider and wider._replace(also=also)
    return request._replace(if_empty=wider)


def site_qualifier(site: str) -> str:
    """Return a site below github.com as a qualifier: repo:, user:, or "" for all of GitHub.

    Raises SearchError (invalid_input).
    """
    address = site_filter("site", site).removeprefix("www.")
    host, _, path = address.partition("/")
    owner, _, rest = path.partition("/")
    if host.lower() != "github.com":
        hint = "Use github.com, github.com/OWNER or github.com/OWNER/REPOSITORY."
        raise SearchError("invalid_input", f"{quoted(address)} is not on GitHub.", hint)
    if rest:
        return f"repo:{owner}/{rest.partition('/')[0]}"
    return f"user:{owner}" if owner else ""


def search_request(
    path: str, params: dict[str, Any], words: str, qualifiers: list[str]
) -> EngineRequest:
    """Return the GET request for one search. Raises SearchError (invalid_input, auth)."""
    dates = ""
    if "since" in params:
        start, end = (utc_time(moment, _MOMENT) for moment in period(params["since"], time.time()))
        dates = f"{'created' if path == ISSUES else 'pushed'}:{start}..{end}"
    public = "is:public" if hides_private() else ""
    query = " ".join(word for word in (words, *qualifiers, public, dates) if word)
    fields = {"q": within_limit(ENGINE, query), "per_page": str(params["count"])}
    return rest_request(path, fields, "application/vnd.github.text-match+json")


def hides_private() -> bool:
    """Return whether a token is set whose private repositories must not be found or read.

    The token in the environment is usually for gh and similar tools: a link on a page must not give
    an agent access to the owner's private data.
    """
    is_allowed = os.environ.get(PRIVATE, "").strip().lower() in TRUE_WORDS
    return bool(configured_key(TOKEN)[1]) and not is_allowed


def rest_request(path: str, fields: dict[str, Any], media_type: str) -> EngineRequest:
    """Return the GET request for an API path, with the token if set; raises SearchError."""
    headers = {"Accept": media_type, "X-GitHub-Api-Version": "2022-11-28"}
    if token := configured_key(TOKEN)[1]:
        headers["Authorization"] = f"Bearer {token}"
    return api_request(ENGINE, path, fields, **headers)


# ===== responses ==================================================================================


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError.

    An empty result is a failure if GitHub stopped the search early.
    """
    if response.status != 200:
        raise api_error(response)
    answer = good_answer(ENGINE, response)
    items = listed_items(ENGINE, answer, "items")
    if not items and answer.get("incomplete_results") is True:
        message = "GitHub's search ran out of time before it found anything."
        raise SearchError("provider", message, "Use fewer words.", status=200, retryable=True)
    is_repositories = REPOSITORIES in request.url
    read_item = repository_result if is_repositories else issue_result
    results = [read_item(item) for item in items]
    return ResultPage(results=results, is_beside=is_repositories, quota=search_quota(response))


def search_quota(response: Response) -> Quota | None:
    """Return the quota in the headers; None if they contain none."""
    names = ("x-ratelimit-remaining", "x-ratelimit-reset")
    values = [response.headers.get(name, "") for name in names]
    if not all(re.fullmatch(r"\d{1,11}", value) for value in values):
        return None
    return Quota(int(values[0]), max(1.0, int(values[1]) - time.time()))


def api_error(response: Response) -> SearchError:
    """Return the SearchError for an API error."""
    quota = search_quota(response)
    is_refused = response.status in (403, 429) and not header_signal(response)
    if is_refused and quota and quota.remaining == 0:
        return too_fast(ENGINE, response.status, quota.seconds)
    if response.status == 422 and (answer := json_object(response)):
        reasons = [error.get("message") for error in (*list_field(answer, "errors"), answer)]
        reason = next((text for text in reasons if isinstance(text, str)), "no reason given")
        hint = "Check the qualifiers: a repository may be private, renamed or misspelled."
        return bad_query(ENGINE, response, reason, hint)
    error = refusal(ENGINE, response)
    if response.status == 401:
        error.hint = f"Correct {TOKEN}, or unset it: the search also works without it."
    return error


def issue_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return an issue or pull request as a result."""
    kind = "pull request" if "pull_request" in item else "issue"
    facts = [
        f"{raw_text(item.get('state'))} {kind}".strip(),
        counted(item.get("comments"), "comment"),
        matched_fragment(item) or raw_text(item.get("body")),
    ]
    day = raw_text(item.get("created_at"))[:10]
    return source_result(raw_text(item.get("title")), item.get("html_url"), facts, date=day)


def matched_fragment(item: dict[str, Any]) -> str:
    """Return the part of an item's text that contains the query's words, or ""."""
    fragments = [
        raw_text(match.get("fragment"))
        for match in list_field(item, "text_matches")
        if match.get("property") == "body"
    ]
    return next(filter(None, fragments), "")


def repository_result(item: dict[str, Any]) -> dict[str, Any]:
    """Return a repository as a result."""
    license_name = raw_text(object_field(item, "license").get("spdx_id"))
    facts = [
        raw_text(item.get("description")),
        counted(item.get("stargazers_count"), "star"),
        raw_text(item.get("language")),
        license_name if license_name != "NOASSERTION" else "",
    ]
    day = raw_text(item.get("pushed_at"))[:10]
    return source_result(raw_text(item.get("full_name")), item.get("html_url"), facts, date=day)
