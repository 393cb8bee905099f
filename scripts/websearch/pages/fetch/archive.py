"""Pages that are gone: the newest copy that the Internet Archive has of them."""

from __future__ import annotations

import re
import time
from urllib.parse import quote

from websearch.base.http_client import identified_agent
from websearch.engines.base.messages import ApiValue, EngineRequest
from websearch.engines.base.turns import PacedEngine
from websearch.engines.table import host_of
from websearch.kit import SearchError, retry_after, status_error
from websearch.pages.fetch.fetch import (
    Fetched,
    check_status,
    check_unresolved_host,
    fetch_page,
    host_and_port,
    is_excepted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Response

NAME = "wayback"  # its entry in READ_HOSTS
TITLE = "The Internet Archive"
READING_SECONDS = 10.0  # to find a copy and to fetch it; the archive is slow
MARGIN = 0.3  # seconds of the call that are left when the archive is given up, to say so
PAUSE = 60.0  # seconds without a request after a refusal that does not say how long


def newest_copy_of(error: SearchError, url: str, deadline: float) -> Fetched | SearchError:
    """Return the archived copy of a page that could not be read, or its error.

    The archive hears nothing of addresses in private networks and of what stands after a question
    mark, which may be private, too. Never raises SearchError.
    """
    if is_private(url):
        return error
    limit = min(deadline - MARGIN, time.monotonic() + READING_SECONDS)
    address = url.partition("?")[0]
    try:
        timestamp = newest_copy(address, limit)
        if timestamp:
            return fetch_copy(address, timestamp, limit)
    except SearchError as failure:
        error.retryable = True
        error.hint += f" {TITLE} could not be asked: {failure}"
        return error
    error.hint += f" {TITLE} has no copy."
    return error


def failure_of(gone: Fetched | SearchError) -> SearchError:
    """Return the error that an answer is."""
    if isinstance(gone, SearchError):
        return gone
    try:
        check_status(gone)
    except SearchError as error:
        return error
    return SearchError("internal", "The page is not gone.")


def is_private(url: str) -> bool:
    """Return whether the host of an address is in a private network, or excepted from the guard."""
    host, port = host_and_port(url)
    try:
        check_unresolved_host(host, port)
    except SearchError:
        return True
    return is_excepted(host, port) and not host_of(NAME).has_other_address()


# ===== the archive ================================================================================


def newest_copy(url: str, deadline: float) -> str:
    """Return the time of the newest good copy (14 digits), "" if there is none. Raises SearchError.

    Copies of error pages and redirects do not count.
    """
    fields = {"url": url, "output": "json", "fl": "timestamp", "filter": "statuscode:200"}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in fields.items())
    address = f"{host_of(NAME).base_url()}/cdx/search/cdx?{query}&limit=-1"
    headers = {"User-Agent": identified_agent(), "Accept": "application/json"}
    request = EngineRequest(address, headers)
    return str(PacedEngine(NAME, deadline, []).fetch(request, read_captures).value)


def read_captures(_: EngineRequest, response: Response) -> ApiValue:
    """Return the time of the newest capture in an answer, "" without one. Raises SearchError."""
    if response.status == 403 and "x-archive-wayback-runtime-error" in response.headers:
        return ApiValue(value="")  # the site's owner wants no copies shown
    if response.status in (403, 429):
        message = f"{TITLE} answered {response.status}: too many requests."
        seconds = retry_after(response) or PAUSE
        details = {"status": response.status, "retry_after": seconds}
        raise SearchError("rate_limit", message, "Try later.", retryable=True, **details)
    if response.status != 200:
        raise status_error(response, TITLE)
    times = re.findall(r"\b[12]\d{13}\b", response.text())
    return ApiValue(value=max(times, default=""))


def fetch_copy(url: str, timestamp: str, deadline: float) -> Fetched:
    """Return an archived copy as its server had sent the page; raises SearchError."""
    fetched = fetch_page(copy_address(url, timestamp, "id_"), deadline, None)
    if fetched.response.status != 200:
        message = f"it answered {fetched.response.status}."
        raise SearchError("http", message, "Try later.", status=fetched.response.status)
    copy = Fetched(url, fetched.response)
    shown = re.sub(r"(/web/\d{14})id_/", r"\1/", fetched.url, count=1)
    copy.copy = shown if archived_fields(shown) else copy_address(url, timestamp)
    return copy


def copy_address(url: str, timestamp: str, form: str = "") -> str:
    """Return the address of a copy; form id_: as it was captured, without the archive's frame."""
    return f"{host_of(NAME).base_url()}/web/{timestamp}{form}/{url}"


def date_of(timestamp: str) -> str:
    """Return the day of a copy."""
    return f"{timestamp[:4]}-{timestamp[4:6]}-{timestamp[6:8]}"


def archived_fields(address: str) -> dict[str, str]:
    """Return the day of a copy at an address of the archive as archived; {} for other addresses."""
    start = f"{host_of(NAME).base_url()}/web/"
    copy = re.match(re.escape(start) + r"(\d{14})(?:[a-z]{2}_)?/", address)
    return {"archived": date_of(copy[1])} if copy else {}
