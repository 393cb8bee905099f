"""Requests and responses exchanged by an engine's module and the code that runs it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from websearch.base.http_client import is_key_header
from websearch.kit import WEB_ADDRESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(slots=True)
class EngineRequest:
    """One HTTP request to an engine, and the requests that may follow it.

    body: bytes of a form; json: data sent as JSON instead. max_body: bytes after which the response
    is truncated (0: it is refused, because truncated JSON is invalid). fields: the query string's
    fields, for the next result page. warning: a sentence for the document.
    """

    url: str
    headers: dict[str, str]
    method: str = "GET"
    body: bytes | None = None
    json: Any = None
    max_body: int = 0
    fields: dict[str, str] = field(default_factory=dict)
    warning: str = ""
    otherwise: EngineRequest | None = None  # sent if this request is answered with 403
    if_empty: EngineRequest | None = None  # sent if this request finds nothing
    also: EngineRequest | None = None  # always sent, for results of another kind

    def for_http(self) -> dict[str, Any]:
        """Return the request as http_client expects it."""
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
            name: value for name, value in self.headers.items() if not is_key_header(name)
        }
        if "json" in shown:
            shown["body"] = shown.pop("json")
        elif "body" in shown:
            shown["body"] = shown["body"].decode()
        return shown


@dataclass(slots=True)
class Quota:
    """The allowance that an engine reports: requests left, seconds until renewal."""

    remaining: int
    seconds: float


@dataclass(slots=True, kw_only=True)
class EngineAnswer:
    """A parsed response, with the limits that it sets for later requests.

    quota: see Quota. pause: seconds during which the engine wants no requests.
    """

    quota: Quota | None = None
    pause: float = 0.0


@dataclass(slots=True, kw_only=True)
class ApiValue(EngineAnswer):
    """The parsed value of a response to a request that is not a search."""

    value: Any


@dataclass(slots=True, kw_only=True)
class ResultPage(EngineAnswer):
    """One result page of an engine.

    results: [{title, url, snippet, date?, author?, license?, file_type?, text?}]; text is
    the page text from the provider. Results without a web address are omitted.
    """

    results: list[dict[str, Any]]
    is_empty: bool = False  # it contains the engine's own "nothing found" text
    signal: str = ""  # evidence that it is a bot wall
    is_beside: bool = False  # its ranking is separate
    is_html: bool = False  # SearXNG's HTML page, parsed instead of its JSON
    next_form: dict[str, str] = field(default_factory=dict)  # the form of the next result page
    answers: list[str] = field(default_factory=list)
    suggestions: list[str] = field(default_factory=list)
    unresponsive_engines: list[dict[str, str]] = field(default_factory=list)
    credits: int = 0  # cost of the request, if the provider reports it

    def __post_init__(self) -> None:
        """Omit results whose URL a browser would not open as a page."""
        self.results = [
            result for result in self.results if re.match(WEB_ADDRESS, str(result.get("url")))
        ]
