"""Wikipedia, through MediaWiki's search API."""

from __future__ import annotations

import re

from websearch.base.http_client import identified_agent
from websearch.engines.base.engine import Engine
from websearch.engines.base.filters import language_code
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.result_pages import (
    api_result,
    api_text,
    get_request,
    header_signal,
    wall_error,
    within_limit,
)
from websearch.kit import (
    SearchError,
    dump_json,
    json_answer,
    list_field,
    object_field,
    retry_after,
    shorten,
    status_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="wikipedia",
    title="Wikipedia",
    module=__name__,
    address=("WIKIPEDIA_BASE_URL", "https://{language}.wikipedia.org"),
    sources=("reference",),
    is_fallback=True,
    # Ten requests per minute, or 200 with a contact in the User-Agent.
    interval=7.5,
    burst=2,
    faster=("WEB_SEARCH_CONTACT", 0.4),
    filters={"language": None},
    instead={
        "since": "Omit it: articles are always current.",
        "country": "Set {language}: each language has its own Wikipedia.",
    },
    operators=False,
    max_query=300,
    max_count=50,
)
LICENSE = "CC BY-SA 4.0"  # of the articles; results must name it


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET request for a search, for up to 50 results. Raises SearchError."""
    fields = {
        "action": "query",
        "list": "search",
        "srsearch": within_limit(ENGINE, params["query"]),
        "srlimit": str(params["count"]),
        "srprop": "snippet|timestamp",
        "srinfo": "suggestion",
        "format": "json",
        "formatversion": "2",
    }
    # Each language has a wiki; en-gb, pt-br and zh-tw use the wiki of their first part.
    language = re.sub(r"-([a-z]{2}|hans|hant)$", "", language_code(params.get("language", "")))
    url = f"{ENGINE.base_url(language)}/w/api.php"
    headers = {"Accept": "application/json", "User-Agent": identified_agent()}
    request = get_request(url, fields, headers)
    if params.get("language") and ENGINE.has_other_address():
        warning = "WIKIPEDIA_BASE_URL is a single wiki, so language was not applied."
        return request._replace(warning=warning)
    return request


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError."""
    if response.status == 403 or header_signal(response):
        raise wall_error(ENGINE, response, header_signal(response) or "HTTP 403")
    if response.status != 200:
        raise status_error(response, "Wikipedia")
    answer = json_answer(response, "Wikipedia")
    if isinstance(answer.get("error"), dict):
        raise api_error(answer["error"], response)
    result = object_field(answer, "query")
    if not isinstance(result.get("search"), list):
        message = f"Wikipedia's response contains no results: {shorten(dump_json(answer), 200)}"
        raise SearchError("provider", message, "Try again later.", status=200)
    wiki = request.url.partition("/w/api.php")[0]
    results = [
        api_result(title, article_url(wiki, title), item.get("snippet"), item.get("timestamp"))
        | {"license": LICENSE}
        for item in list_field(result, "search")
        if (title := api_text(item.get("title")))
    ]
    suggestion = api_text(object_field(result, "searchinfo").get("suggestion"))
    return ResultPage(results=results, suggestions=[suggestion] if suggestion else [])


def api_error(error: dict[str, Any], response: Response) -> SearchError:
    """Return the SearchError for MediaWiki's error object, which comes with status 200."""
    code, text = api_text(error.get("code")), api_text(error.get("info"))
    message = f"Wikipedia answered {code or 'with an error'}: {shorten(text, 200)}"
    details = {"status": response.status, "code": code}
    if code in ("ratelimited", "maxlag"):
        details |= {"retryable": True, "retry_after": retry_after(response)}
        return SearchError("rate_limit", message, "Wait, then try again.", **details)
    return SearchError("provider", message, "Try again, or use other words.", **details)


def article_url(wiki: str, title: str) -> str:
    """Return an article's URL, as MediaWiki writes it."""
    from urllib.parse import quote

    return f"{wiki}/wiki/{quote(title.replace(' ', '_'), safe='/:@!$*(),;~')}"
