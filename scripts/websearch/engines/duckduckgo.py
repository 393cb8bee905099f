"""DuckDuckGo's HTML result pages: requests, results, its challenge."""

from __future__ import annotations

import re

from websearch.engines.base.browser_headers import browser_headers, judge_result_page
from websearch.engines.base.engine import DAYS, DAYS_HINT, PLACES, SAFE, Engine
from websearch.engines.base.filters import country_code, language_code, query_with_sites
from websearch.engines.base.messages import EngineRequest, ResultPage
from websearch.engines.base.result_pages import (
    MAX_BYTES,
    absolute_url,
    has_class,
    is_advertisement,
    is_on_host,
    query_value,
    read_nodes,
    result_blocks,
    shown_text,
    split_url,
    tidy_url,
    wall_signal,
    with_address,
    with_class,
    within_limit,
)
from websearch.kit import SearchError, drop_empty, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from websearch.base.html_tree import Node
    from websearch.kit import Response

ENGINE = Engine(
    name="duckduckgo",
    title="DuckDuckGo",
    module=__name__,
    address=("DUCKDUCKGO_BASE_URL", "https://html.duckduckgo.com"),
    sources=("web",),
    auto=True,
    filters={"since": DAYS, **PLACES, "safe": SAFE},
    instead={"since": DAYS_HINT},
    max_query=499,
    max_count=50,
)
PERIODS = {"day": "d", "week": "w", "month": "m", "year": "y"}
SAFE_CODES = {"strict": "1", "moderate": "-1", "off": "-2"}
# Regions (kl), country first; a country's or language's first region is its main one.
REGIONS = (
    "us-en uk-en au-en ca-en ie-en in-en nz-en za-en sg-en ph-en my-en id-en pk-en th-en vn-en "
    "il-en de-de at-de ch-de fr-fr ca-fr be-fr ch-fr es-es mx-es ar-es co-es cl-es pe-es us-es "
    "it-it br-pt pt-pt nl-nl be-nl pl-pl ru-ru jp-jp kr-kr cn-zh tw-tzh hk-tzh tr-tr se-sv dk-da "
    "no-no fi-fi cz-cs gr-el hu-hu ro-ro bg-bg hr-hr sk-sk sl-sl ee-et lv-lv lt-lt is-is ua-uk "
    "xa-ar es-ca ct-ca"
).split()
ALL_REGIONS = "wt-wt"
# Standard codes -> DuckDuckGo's codes.
REGION_COUNTRIES = {"gb": "uk", "sa": "xa", "si": "sl"}
REGION_LANGUAGES = {
    "ja": "jp", "ko": "kr", "nb": "no", "nn": "no", "zh-tw": "tzh", "zh-hk": "tzh",
}  # fmt: skip

# ===== requests ===================================================================================


def first_request(params: dict[str, Any]) -> EngineRequest:
    """Return the POST request for the search form. Raises SearchError (invalid_input)."""
    form = {"q": form_query(params), "b": "", "kl": region(params)}
    period, safe = PERIODS.get(params.get("since", "")), SAFE_CODES.get(params.get("safe", ""))
    request = form_request(params, {**form, **drop_empty({"df": period, "kp": safe})})
    if form["kl"] == ALL_REGIONS and params.get("language"):
        wanted = f"language {quoted(params['language'])}"
        warning = f"DuckDuckGo has no region for {wanted}: all regions were searched."
        return request._replace(warning=warning)
    return request


def next_request(
    params: dict[str, Any], request: EngineRequest, result_page: ResultPage, number: int
) -> EngineRequest | None:
    """Return the POST request for the form for the next page, or None.

    Requires the previous page's token (vqd): without it, DuckDuckGo blocks immediately.
    """
    form = result_page.next_form
    return form_request(params, form) if form else None


def form_request(params: dict[str, Any], form: Mapping[str, str]) -> EngineRequest:
    """Return the POST request for a form."""
    from urllib.parse import urlencode

    address = ENGINE.base_url()
    headers = {  # in a browser's order; a repeated name keeps its place
        "Upgrade-Insecure-Requests": "1",
        "Origin": address,
        "Content-Type": "application/x-www-form-urlencoded",
        **browser_headers(params, address),
    }
    body = urlencode(form).encode()
    return EngineRequest(f"{address}/html/", headers, "POST", body, max_body=MAX_BYTES)


def form_query(params: dict[str, Any]) -> str:
    """Return the query with site operators, and with !bangs and a leading backslash quoted.

    DuckDuckGo redirects those queries to another site.
    """
    query = re.sub(r"(?<!\S)([!\\][^\s\"]+)", r'"\1"', params["query"])
    return within_limit(ENGINE, query_with_sites(query, params))


def region(params: dict[str, Any]) -> str:
    """Return country and language as one of the regions.

    A language without a region is only requested in the header Accept-Language. Raises
    SearchError (invalid_input) with the nearest regions.
    """
    country = country_code(params.get("country", ""))
    language = language_code(params.get("language", ""))
    country = REGION_COUNTRIES.get(country, country)
    if "-" in language and not country:
        country = REGION_COUNTRIES.get(language[3:], language[3:])
    language = REGION_LANGUAGES.get(language, language.partition("-")[0])
    if language == "zh" and country in ("tw", "hk"):
        language = "tzh"
    if not country and not any(code.endswith(f"-{language}") for code in REGIONS):
        return ALL_REGIONS
    of_country = [code for code in REGIONS if not country or code.startswith(f"{country}-")]
    of_both = [code for code in of_country if not language or code.endswith(f"-{language}")]
    if of_both:
        return of_both[0]
    near = of_country if country else []
    names = [name for name in ("country", "language") if name in params]
    wanted = " and ".join(f"{name} {quoted(params[name])}" for name in names)
    hint = (
        f"Available regions: {', '.join(near)} (country-language)."
        if near
        else "Search without it."
    )
    raise SearchError("invalid_input", f"DuckDuckGo has no region for {wanted}.", hint)


# ===== result pages ===============================================================================


def read_answer(request: EngineRequest, response: Response) -> ResultPage:
    """Return the result page in a response. Raises SearchError (blocked, provider)."""
    return judge_result_page(ENGINE, response, parse_result_page(response.text()))


def parse_result_page(html: str) -> ResultPage:
    """Return the result page of the HTML endpoint."""
    nodes = read_nodes(html)
    results = with_address(
        parse_result(block)
        for block in result_blocks(nodes, "div")
        if not has_class(block[0], "result--ad", "result--no-result")
    )
    empty = with_class(nodes, "no-results", "result--no-result") is not None
    return ResultPage(
        results=results,
        is_empty=empty,
        signal=challenge_signal(nodes) or wall_signal(nodes, empty),
        next_form=next_form(nodes),
    )


def parse_result(block: list[Node]) -> dict[str, Any]:
    """Return the result in a block; {} if it has no URL."""
    link = with_class(block, "result__a")
    url = result_target(link.attributes.get("href", "")) if link else ""
    if not url:
        return {}
    kind = shown_text(with_class(block, "result__type"))
    day = re.search(
        r"(\d{4}-\d\d-\d\d)T\d\d:", shown_text(with_class(block, "result__extras__url"))
    )
    return {
        "title": shown_text(link).removeprefix(kind).strip() or url,
        "url": url,
        "snippet": shown_text(with_class(block, "result__snippet")),
        "date": day[1] if day else "",
        "file_type": kind,
    }


def result_target(href: str) -> str:
    """Return the URL of a result: DuckDuckGo's redirect (/l/?uddg=) is unwrapped once.

    "" for an advertisement (/y.js, wrapped or not) and for anything except a web URL.
    """
    url = absolute_url(href, "duckduckgo.com")
    host, path, query = split_url(url) or ("", "", "")
    if is_on_host(host, "duckduckgo.com") and path.rstrip("/") == "/l":
        url = tidy_url(query_value(query, "uddg"))
    return "" if is_advertisement(url) or not split_url(url) else url


def next_form(nodes: list[Node]) -> dict[str, str]:
    """Return the fields of the form for the next page; {} on the last page.

    Several forms may have a token (vqd), and one may go back a page: the form with the highest
    offset (s) is used.
    """
    best: dict[str, str] = {}
    fields: dict[str, str] = {}
    for node in nodes:
        get = node.attributes.get
        if node.tag == "form":
            fields = {}
        elif node.tag == "input" and get("type") == "hidden":
            fields[get("name", "")] = get("value", "")
            offset = fields.get("s", "")
            known = fields.get("vqd") and re.fullmatch(r"[1-9]\d{0,5}", offset)
            if known and int(offset) >= int(best.get("s", 0)):
                best = fields
    return best


def challenge_signal(nodes: list[Node]) -> str:
    """Return the signal of DuckDuckGo's challenge in a page, or "".

    Signals are looked for in tags, not in the text, which quotes the query.
    """
    for node in nodes:
        if node.attributes.get("id") == "challenge-form":
            return "its bot challenge (challenge-form)"
        if "/anomaly.js" in node.attributes.get("action", ""):
            return "its bot challenge (anomaly.js)"
        if has_class(node, "anomaly-modal__modal", "anomaly-modal__title"):
            return "its bot challenge (anomaly-modal)"
    return ""
