"""DuckDuckGo and Google, asked as a browser asks them: headers, and what their answers mean.

Their result pages are made for people. A browser's User-Agent is sent, because DuckDuckGo answers
others with its challenge; there is no rotation, no TLS disguise and no solving of challenges.
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

# GLSI_USER_AGENT replaces it. The same for every request: DuckDuckGo binds the token of the next
# page to it.
BROWSER = (
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36"
)
ENGLISH = "en-US,en;q=0.9"  # Accept-Language if no language is asked for
# Statuses that DuckDuckGo and Google send to clients that they take for bots. DuckDuckGo's
# challenge has 202, and so may a page with results or with its word for none.
WALL_STATUSES = (202, 401, 402, 403, 418, 429)


def browser_headers(params: dict[str, Any], address: str) -> dict[str, str]:
    """Return the headers of a browser that submits the engine's own form, in a browser's order.

    DuckDuckGo looks at User-Agent, Referer and Sec-Fetch-*, and by several reports at the order
    (searxng #4824, #6596). Raises SearchError (invalid_input).
    """
    agent = os.environ.get("GLSI_USER_AGENT", "").strip() or BROWSER
    if not re.fullmatch(r"[ -~]+", agent):
        message = f"GLSI_USER_AGENT holds characters that no header has: {quoted(agent)}."
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
    """Return the header's value: the wanted language, then English."""
    wanted = locale_code(params)
    base = wanted.partition("-")[0]
    return ",".join(dict.fromkeys([wanted, f"{base};q=0.9", "en;q=0.5"])) if wanted else ENGLISH


def locale_code(params: dict[str, Any]) -> str:
    """Return language and country as de, pt-BR or de-CH; "" without a language."""
    language = language_code(params.get("language", ""))
    base, _, region = language.partition("-")
    region = country_code(params.get("country", "")) or region
    return f"{base}-{region.upper()}" if base and region else base


def judge_result_page(engine: Engine, response: Response, result_page: ResultPage) -> ResultPage:
    """Return a result page; one without results only if the engine says that it found nothing.

    Raises SearchError: blocked (a bot wall; details hold the signal), provider and others.
    """
    good = response.status in (200, 202)
    if good and result_page.results:  # a result that speaks of captchas is no captcha
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
