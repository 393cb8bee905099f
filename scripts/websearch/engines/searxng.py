"""The user's own SearXNG server: its JSON, or its HTML pages if JSON is disabled there."""

from __future__ import annotations

import re

from websearch.engines.base.browser_headers import accept_language, locale_code
from websearch.engines.base.engine import DAYS, DAYS_HINT, PLACES, SAFE, Engine, own_server_login
from websearch.engines.base.filters import query_with_sites
from websearch.engines.base.messages import ResultPage
from websearch.engines.base.result_pages import (
    api_result,
    api_text,
    api_texts,
    get_request,
    has_class,
    header_signal,
    layout_error,
    read_nodes,
    result_blocks,
    shown_text,
    tidy_url,
    wall_error,
    wall_signal,
    with_address,
    with_class,
    within_limit,
)
from websearch.kit import (
    SearchError,
    clean_text,
    drop_empty,
    dump_json,
    hide_credentials,
    json_answer,
    list_field,
    shorten,
    status_error,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.base.html_tree import Node
    from websearch.engines.base.messages import EngineRequest
    from websearch.kit import Response

ENGINE = Engine(
    name="searxng",
    title="SearXNG",
    module=__name__,
    own_server=True,
    address=("SEARXNG_BASE_URL", ""),
    sources=("web",),
    auto=True,
    filters={"since": DAYS, **PLACES, "safe": SAFE},
    instead={"since": DAYS_HINT},
    max_query=2_048,
    max_count=50,
)
LOGIN = "SEARXNG_AUTH"  # user:password, if the address does not contain them
FEWEST_RESULTS = 5  # a page with fewer results is the last one
MOST_FAILURES = 8  # failed engines listed in a message
SAFE_CODES = {"strict": "2", "moderate": "1", "off": "0"}
STATUS_HINTS = {
    401: "It asks for a login: set SEARXNG_AUTH to user:password.",
    403: "Its limiter or a proxy in front of it refuses this client; allow this address there.",
    407: "The proxy asks for a login: add user:password@ to the proxy variable.",
    404: "SEARXNG_BASE_URL must be the URL of its start page.",
    429: "Its limiter refuses this client: allow this address in limiter.toml, or switch "
    "server.limiter off.",
}

# ===== requests ===================================================================================


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the GET request for the server's JSON, with one for its HTML page as "otherwise".

    Raises SearchError (invalid_input, auth).
    """
    if params.get("country") and not params.get("language"):
        message = "SearXNG filters by country within a language only."
        raise SearchError("invalid_input", message, "Also set {language}, for example de with ch.")
    # Words with these signs change the engine, language or timeout, or redirect to another site.
    query = re.sub(r"(?<!\S)((?:[!:][^\s\"]|<\d)[^\s\"]*)", r'"\1"', params["query"])
    fields = {
        "q": within_limit(ENGINE, query_with_sites(query, params)),
        "categories": "general",
        "language": locale_code(params),
        "time_range": params.get("since"),
        "safesearch": SAFE_CODES.get(params.get("safe", "")),
        "pageno": "1",
    }
    headers = {
        # SearXNG's limiter requires text/html among the types, and a language.
        "Accept": "application/json,text/html;q=0.9",
        "Accept-Language": accept_language(params),
        **own_server_login(ENGINE.address[0], LOGIN),
    }
    url = f"{ENGINE.base_url()}/search"
    html_page = get_request(url, drop_empty(fields), headers)
    json_page = get_request(url, {**html_page.fields, "format": "json"}, headers)
    return json_page._replace(otherwise=html_page)


def next_request(
    params: dict[str, Any], request: EngineRequest, result_page: ResultPage, number: int
) -> EngineRequest | None:
    """Return the GET request for a result page (number: from 2 on), or None after the last page."""
    if len(result_page.results) < FEWEST_RESULTS:
        return None
    fields = {**request.fields, "pageno": str(number)}
    if result_page.is_html:  # JSON is disabled: do not request it again
        fields.pop("format", None)
    return get_request(request.url.partition("?")[0], fields, request.headers)


# ===== responses ==================================================================================


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response.

    Raises SearchError: blocked, auth, rate_limit, provider. An empty result counts as a failure if
    some of the server's engines failed.
    """
    result_page = ResultPage(results=[])  # a JSON error of SearXNG repeats only its status
    if response.body.lstrip()[:1] != b"{":
        result_page = parse_html(response.text())
    elif response.status == 200:
        result_page = parse_json(json_answer(response, "SearXNG"))
    signal = "" if result_page.results else header_signal(response) or result_page.signal
    if signal:
        raise wall_error(ENGINE, response, signal)
    if response.status != 200:
        raise server_error(response)
    failures = result_page.unresponsive_engines
    if result_page.results or (result_page.is_empty and not failures):
        return result_page
    if not result_page.is_empty:
        raise layout_error(ENGINE, response)
    reasons = ", ".join(
        f"{engine['engine']} ({engine['reason']})" for engine in failures[:MOST_FAILURES]
    )
    message = f"SearXNG found nothing, and {len(failures)} of its engines failed: {reasons}"
    hint = "See the server's engine statistics (/stats), or use engine duckduckgo."
    details = {"status": 200, "retryable": True, "unresponsive_engines": failures}
    raise SearchError("provider", message, hint, **details)


def server_error(response: Response) -> SearchError:
    """Return the SearchError for a status from the server."""
    error = status_error(response, "SearXNG")
    error.kind = {401: "auth", 403: "provider"}.get(response.status, error.kind)
    if response.status in STATUS_HINTS:
        error.hint = STATUS_HINTS[response.status]
    if location := response.headers.get("location"):
        from urllib.parse import urljoin

        target = urljoin(f"{ENGINE.base_url()}/search", clean_text(location))
        start = target.partition("/search")[0]
        error.hint = f"Set SEARXNG_BASE_URL to its new address: {hide_credentials(start)}"
    return error


def parse_json(answer: dict[str, Any]) -> ResultPage:
    """Return the result page of the server's JSON; raises SearchError (provider)."""
    if not isinstance(answer.get("results"), list):
        message = f"SearXNG's answer contains no results: {shorten(dump_json(answer), 200)}"
        raise SearchError("provider", message, "Check the server's log.", status=200)
    results = with_address(
        api_result(*(item.get(name) for name in ("title", "url", "content", "publishedDate")))
        for item in list_field(answer, "results")
    )
    suggestions = (api_texts(answer.get(name), "title") for name in ("corrections", "suggestions"))
    return ResultPage(
        results=results,
        is_empty=True,
        unresponsive_engines=failed_engines(answer.get("unresponsive_engines")),
        answers=api_texts(answer.get("answers"), "answer"),
        suggestions=[text for texts in suggestions for text in texts],
    )


def parse_html(html: str) -> ResultPage:
    """Return the result page in the server's own HTML."""
    nodes = read_nodes(html)
    results = with_address(parse_article(block) for block in result_blocks(nodes, "article"))
    failures, name = [], ""
    for node in nodes:
        if has_class(node, "engine-name"):
            name = shown_text(node)
        elif has_class(node, "response-error"):
            failures.append([name, shown_text(node)])
    empty = with_class(nodes, "dialog-error") is not None
    return ResultPage(
        results=results,
        is_empty=empty,
        signal=wall_signal(nodes, empty),
        unresponsive_engines=failed_engines(failures),
        is_html=True,
    )


def parse_article(block: list[Node]) -> dict[str, Any]:
    """Return the result in an article; {} if it has no URL."""
    heading = next((node for node in block if node.tag == "h3"), None)
    if not heading:
        return {}
    links = block[block.index(heading) :]
    link = next((node for node in links if node.tag == "a"), None)
    url = tidy_url(link.attributes.get("href", "")) if link else ""
    dated = with_class(block, "published_date")
    moment = dated.attributes.get("datetime", "") if dated else ""
    return api_result(shown_text(heading), url, shown_text(with_class(block, "content")), moment)


def failed_engines(pairs: object) -> list[dict[str, str]]:
    """Return SearXNG's [[engine, reason], ...] as objects."""
    return [
        {"engine": api_text(pair[0]), "reason": api_text(pair[1])}
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, list) and len(pair) == 2
    ]
