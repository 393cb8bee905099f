"""Requests and responses exchanged by an engine's module and the code that runs it."""

from __future__ import annotations

from typing import NamedTuple

from websearch.base.http_client import is_key_header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class EngineRequest(NamedTuple):
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
    fields: Mapping[str, str] = {}
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


class Quota(NamedTuple):
    """The allowance that an engine reports: requests left, seconds until renewal."""

    remaining: int
    seconds: float


class EngineAnswer(NamedTuple):
    """The parsed value of a response to a request that is not a search.

    quota, pause: as for ResultPage.
    """

    value: Any = None
    quota: Quota | None = None
    pause: float = 0.0


class ResultPage(NamedTuple):
    """One result page of an engine.

    results: [{title, url, snippet, date?, author?, license?, file_type?, text?}]; text is
    the page text from the provider. quota, pause (seconds during which the engine wants no
    requests): limits for later requests.
    """

    results: list[dict[str, Any]]
    is_empty: bool = False  # it contains the engine's own "nothing found" text
    signal: str = ""  # evidence that it is a bot wall
    is_beside: bool = False  # its ranking is separate
    is_html: bool = False  # SearXNG's HTML page, parsed instead of its JSON
    next_form: Mapping[str, str] = {}  # the form of the next result page
    answers: Sequence[str] = ()
    suggestions: Sequence[str] = ()
    unresponsive_engines: Sequence[dict[str, str]] = ()
    credits: int = 0  # cost of the request, if the provider reports it
    quota: Quota | None = None
    pause: float = 0.0
