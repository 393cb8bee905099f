"""Read the Internet Archive's newest copy of a page that no longer exists."""

from __future__ import annotations

import contextlib
import re
import time
from urllib.parse import quote

from websearch.base.http_client import identified_agent
from websearch.engines.base.messages import EngineAnswer, EngineRequest
from websearch.engines.base.turns import PacedEngine
from websearch.engines.table import host_of
from websearch.kit import SearchError, retry_after, status_error
from websearch.pages.fetch.fetch import (
    Fetched,
    check_unresolved_host,
    excepted_networks,
    fetch_page,
    host_and_port,
    is_excepted,
    is_public,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Response

NAME = "wayback"  # its name in READ_HOSTS
TITLE = "The Internet Archive"
READING_SECONDS = 10.0  # seconds to find and fetch a copy; the archive is slow
MARGIN = 0.3  # seconds reserved for reporting that the archive did not answer in time
PAUSE = 60.0  # seconds without requests after a refusal that does not state a waiting time


def newest_copy_of(error: SearchError, url: str, deadline: float) -> Fetched | SearchError:
    """Return the archived copy of a page that could not be read, or the page's error.

    URLs in private networks and query strings (which may be private) are never sent to the
    archive. Never raises SearchError.
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
        error.hint += f" {TITLE} could not be queried: {failure}"
        return error
    error.hint += f" {TITLE} has no copy."
    return error


def is_private(url: str) -> bool:
    """Return whether a URL's host is in a private network or exempted from the guard.

    If addresses or networks are exempted, only the addresses of the name show whether it is.
    """
    import socket

    host, port = host_and_port(url)
    try:
        check_unresolved_host(host, port)
    except SearchError:
        return True
    addresses: list[str] = []
    if excepted_networks():
        with contextlib.suppress(OSError):
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            addresses = [ip for ip in (str(one[4][0]) for one in found) if not is_public(ip)]
    return is_excepted(host, port, addresses) and not host_of(NAME).has_other_address()


# ===== the archive ================================================================================


def newest_copy(url: str, deadline: float) -> str:
    """Return the time of the newest good copy (14 digits), or "".

    Copies of error pages and redirects do not count. Raises SearchError.
    """
    fields = {"url": url, "output": "json", "fl": "timestamp", "filter": "statuscode:200"}
    query = "&".join(f"{name}={quote(value, safe='')}" for name, value in fields.items())
    address = f"{host_of(NAME).base_url()}/cdx/search/cdx?{query}&limit=-1"
    headers = {"User-Agent": identified_agent(), "Accept": "application/json"}
    request = EngineRequest(address, headers)
    return str(PacedEngine(NAME, deadline, []).fetch(request, read_captures).value)


def read_captures(_: EngineRequest, response: Response) -> EngineAnswer:
    """Return the time of the newest capture in a response, or ""; raises SearchError."""
    if response.status == 403 and "x-archive-wayback-runtime-error" in response.headers:
        return EngineAnswer("")  # the site's owner forbids copies
    if response.status in (403, 429):
        message = f"{TITLE} answered {response.status}: too many requests."
        seconds = retry_after(response) or PAUSE
        details = {"status": response.status, "retry_after": seconds}
        raise SearchError("rate_limit", message, "Try again later.", retryable=True, **details)
    if response.status != 200:
        raise status_error(response, TITLE)
    times = re.findall(r"\b[12]\d{13}\b", response.text())
    return EngineAnswer(max(times, default=""))


def fetch_copy(url: str, timestamp: str, deadline: float) -> Fetched:
    """Return an archived copy as the page's server originally sent it; raises SearchError."""
    fetched = fetch_page(copy_address(url, timestamp, "id_"), deadline, None)
    if fetched.response.status != 200:
        message = f"it answered {fetched.response.status}."
        raise SearchError("http", message, "Try again later.", status=fetched.response.status)
    copy = Fetched(url, fetched.response)
    shown = re.sub(r"(/web/\d{14})id_/", r"\1/", fetched.url, count=1)
    copy.copy = shown if archived_fields(shown) else copy_address(url, timestamp)
    return copy


def copy_address(url: str, timestamp: str, form: str = "") -> str:
    """Return the URL of a copy; form: "id_" for the original page without the archive's banner."""
    return f"{host_of(NAME).base_url()}/web/{timestamp}{form}/{url}"


def date_of(timestamp: str) -> str:
    """Return the date of a copy."""
    return f"{timestamp[:4]}-{timestamp[4:6]}-{timestamp[6:8]}"


def archived_fields(address: str) -> dict[str, str]:
    """Return {"archived": date of the copy} for a URL at the archive, {} for other URLs."""
    start = f"{host_of(NAME).base_url()}/web/"
    copy = re.match(re.escape(start) + r"(\d{14})(?:[a-z]{2}_)?/", address)
    return {"archived": date_of(copy[1])} if copy else {}
