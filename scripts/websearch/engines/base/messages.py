"""What travels between the module of an engine and the code that runs it: requests and answers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from websearch.kit import KEY_HEADERS, WEB_ADDRESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(slots=True)
class EngineRequest:
    """One HTTP request to an engine, and the requests that may follow it.

    body: bytes of a form; json: data that is sent as JSON instead. max_body: bytes after which the
    answer is cut (0: a longer answer is refused, because cut JSON is broken). fields: those of the
    query string, for the request of the next result page. warning: a sentence for the document.
    """

    url: str
    headers: dict[str, str]
    method: str = "GET"
    body: bytes | None = None
    json: Any = None
    max_body: int = 0
    fields: dict[str, str] = field(default_factory=dict)
    warning: str = ""
    otherwise: EngineRequest | None = None  # sent if this one is answered with 403
    if_empty: EngineRequest | None = None  # sent if this one finds nothing
    also: EngineRequest | None = None  # sent in any case, for results of another kind

    def for_http(self) -> dict[str, Any]:
        """Return the request as http_client sends it."""
        sent: dict[str, Any] = {"method": self.method, "url": self.url, "headers": self.headers}
        if self.body is not None:
            sent["body"] = self.body
        if self.json is not None:
            sent["json"] = self.json
        if self.max_body:
            sent["max_body"] = self.max_body
        return sent

    def without_key(self) -> dict[str, Any]:
        """Return the request as a dry run shows it: with its body, without its key."""
        shown = self.for_http()
        shown.pop("max_body", None)
        shown["headers"] = {
            name: value for name, value in self.headers.items() if name.lower() not in KEY_HEADERS
        }
        if "json" in shown:
            shown["body"] = shown.pop("json")
        elif "body" in shown:
            shown["body"] = shown["body"].decode()
        return shown


@dataclass(slots=True)
class Quota:
    """What an engine says of its allowance: requests that are left, seconds until it is renewed."""

    remaining: int
    seconds: float


@dataclass(slots=True, kw_only=True)
class EngineAnswer:
    """An answer that was read, with what it says about later requests.

    quota: see Quota. pause: seconds in which the engine wants no request.
    """

    quota: Quota | None = None
    pause: float = 0.0


@dataclass(slots=True, kw_only=True)
class ApiValue(EngineAnswer):
    """An answer to a request that is no search: the value that was read from it."""

    value: Any


@dataclass(slots=True, kw_only=True)
class ResultPage(EngineAnswer):
    """One result page of an engine.

    results: [{title, url, snippet, date?, author?, license?, file_type?, text?}]; text is what the
    provider has read of the page already. One without an address of the web is left out.
    """

    results: list[dict[str, Any]]
    is_empty: bool = False  # the engine's own words for "nothing found" stand in it
    signal: str = ""  # what shows that it is a bot wall
    is_beside: bool = False  # its ranking is one of its own
    is_html: bool = False  # SearXNG's HTML page, read in place of its JSON
    next_form: dict[str, str] = field(default_factory=dict)  # the form of the next result page
    answers: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    unresponsive_engines: list[dict[str, str]] = field(default_factory=list)
    credits: int = 0  # that the request has cost, if the provider says so

    def __post_init__(self) -> None:
        """Leave out results whose address a browser would not open as a page."""
        self.results = [
            result for result in self.results if re.match(WEB_ADDRESS, str(result.get("url")))
        ]
