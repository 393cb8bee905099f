"""Query DuckDuckGo and Google like a browser: request headers, and checks of the responses.

Their result pages are made for people. A browser's User-Agent is sent, because DuckDuckGo sends
its challenge to other clients. User-Agents are not rotated, TLS is not disguised, and challenges
are not solved.
"""

from __future__ import annotations

import os
import re

from websearch.engines.base.filters import country_code, language_code
from websearch.engines.base.result_pages import header_signal, layout_error, wall_error
from websearch.kit import SearchError, quoted, status_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.engine import Engine
    from websearch.engines.base.messages import ResultPage
    from websearch.kit import Response

# GLSI_USER_AGENT replaces it. It is the same for every request, because DuckDuckGo ties the token
# for the next page to it.
BROWSER = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36"
)
ENGLISH = "en-US,en;q=0.9"  # Accept-Language if no language is requested
# Statuses that DuckDuckGo and Google send to suspected bots. DuckDuckGo's challenge has 202, but so
# may a page with results or with its "no results" message.
WALL_STATUSES = (202, 401, 402, 403, 418, 429)


def browser_headers(params: dict[str, Any], address: str) -> dict[str, str]:
    """Return a browser's headers for the engine's own form, in a browser's order.

    DuckDuckGo checks User-Agent, Referer and Sec-Fetch-*, and several reports say also the order
    (searxng #4824, #6596). Raises SearchError (invalid_input).
    """
    agent = os.environ.get("GLSI_USER_AGENT", "").strip() or BROWSER
    if not re.fullmatch(r"[ -~]+", agent):
        bad = f"characters that are not allowed in a header: {quoted(agent)}"
        message = f"GLSI_USER_AGENT contains {bad}."
        raise SearchError("invalid_input", message, "Write it in plain ASCII on one line.")
    return {
        "Upgrade-Insecure-Requests": "1",
        "User-Agent": agent,
        "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
        "Sec-Fetch-Site": "same-origin",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-User": "?1",
        "Sec-Fetch-Dest": "document",
        "Referer": f"{address}/",
        "Accept-Encoding": "gzip, deflate",
        "Accept-Language": accept_language(params),
    }


def accept_language(params: dict[str, Any]) -> str:
    """Return the value of Accept-Language: the requested language, then English."""
    wanted = locale_code(params)
    base = wanted.partition("-")[0]
    return ",".join(dict.fromkeys([wanted, f"{base};q=0.9", "en;q=0.5"])) if wanted else ENGLISH


def locale_code(params: dict[str, Any]) -> str:
    """Return a language and country such as de, pt-BR or de-CH; "" without a language."""
    language = language_code(params.get("language", ""))
    base, _, region = language.partition("-")
    region = country_code(params.get("country", "")) or region
    return f"{base}-{region.upper()}" if base and region else base


def judge_result_page(engine: Engine, response: Response, result_page: ResultPage) -> ResultPage:
    """Return the page of results; accept an empty page only if the engine found nothing.

    Raises SearchError: blocked (a bot wall; details contain the signal), provider and others.
    """
    good = response.status in (200, 202)
    if good and result_page.results:  # a result about captchas is not a captcha
        return result_page
    signal = header_signal(response) or result_page.signal
    if good and result_page.is_empty and not signal:
        return result_page
    if not signal and response.status in WALL_STATUSES:
        signal = f"HTTP {response.status} without results"
    if signal:
        raise wall_error(engine, response, signal)
    if response.status == 200:
        raise layout_error(engine, response)
    raise status_error(response, engine.title)
