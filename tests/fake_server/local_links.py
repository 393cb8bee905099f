"""Makes the results of the search providers lead to pages of the same server (small_web.py).

Where it is switched on (FakeServer(local_links=True), server.py --local-links), the absolute
address of a document of the corpus in an answer of Brave, Serper, DuckDuckGo, Google, SearXNG or an
open source, plain or percent-encoded, is http://127.0.0.1:PORT/web/HOST/PATH instead. Wikipedia's
answers name titles, of which its clients make http://127.0.0.1:PORT/wiki/TITLE. Streams stay as
they are, and so do answers to a query with site:, because no address of this server is on a site.

A word of the query makes pages of its results fail; the results and their order stay the same:
  pagefault:NAME        the pages of results 2, 4, 6, ...
  pagefault:NAME:3      the page of result 3 alone
  pagefault:NAME:all    every page
NAME is a fault of small_web.py. Of several words the first that fits a result counts. Results are
counted as they come, each address once, over all the pages of results of a query.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, unquote

from .corpus import PAGE_FAULT
from .messages import Answer, RecordedRequest, Reply, Route, ServerState
from .small_web import DOCUMENTS, FAULT_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

# Up to its end, so that one that goes on, as a link to an archive does, is left alone.
_ADDRESS = re.compile(r"https(?:://|%3A%2F%2F)([\w.~%/:()!*,;=@+$-]+)")
# Serper puts an answer box and the like before the results.
_FIRST_RESULTS = '"organic":['
_SITE = re.compile(r"(?<!-)\bsite:")
_JSON_QUERY = re.compile(r'"q" ?: ?"(.*?)(?<!\\)"')


def page_fault(query: str, place: int) -> str:
    """The fault that the words of a query ask for, for the page of the result in this place."""
    for match in PAGE_FAULT.finditer(query):
        which = (match["which"] or "").lower()
        if which == "all" or (str(place) == which if which else place % 2 == 0):
            return match["name"].lower()
    return ""


def leading_here(provider_route: Route) -> Route:
    """The same route; its answers lead to pages of this server where that is switched on."""

    def handler(request: RecordedRequest, state: ServerState) -> Answer:
        if not state.local_links or _SITE.search(query_of(request)):
            return provider_route.handler(request, state)
        web = f"http://127.0.0.1:{request.port}/web/"
        # A client may ask for a page by the address that it was given: Serper's scraper.
        asked = request.body.replace(web.encode(), b"https://")
        answer = provider_route.handler(replace(request, body=asked), state)
        if not isinstance(answer, Reply) or "Content-Encoding" in dict(answer.headers):
            return answer
        text = answer.body.decode("utf-8", "surrogateescape")
        text = rewritten(text, web, _fault_chooser(request, state))
        return replace(answer, body=text.encode("utf-8", "surrogateescape"))

    return replace(provider_route, handler=handler)


def rewritten(text: str, web: str, fault_of: Callable[[str], str]) -> str:
    """A text whose addresses of documents lead to this server, encoded as they were.

    fault_of gets the address of each document without its scheme, first in the order of results.
    """

    def local(match: re.Match[str]) -> str:
        rest = unquote(match[1])
        if rest not in DOCUMENTS:
            return match[0]
        fault = fault_of(rest)
        address = f"{web}{FAULT_PREFIX}{fault}/{rest}" if fault else f"{web}{rest}"
        if match[0].startswith("https%"):  # DuckDuckGo's, which writes even a hyphen as its code
            return quote(address, safe="").replace("-", "%2D")
        return quote(address, safe=":/") if "%" in match[0] else address

    # Once through the results, so that they are counted before what stands above them.
    for match in _ADDRESS.finditer(text, max(text.find(_FIRST_RESULTS), 0)):
        local(match)
    return _ADDRESS.sub(local, text)


def _fault_chooser(request: RecordedRequest, state: ServerState) -> Callable[[str], str]:
    """What tells the fault of a document's page in the answers to a request's query."""
    query = query_of(request)
    if not PAGE_FAULT.search(query):
        return lambda _: ""
    # Google and SearXNG share a path; keyless.py tells them apart by hl, too.
    name = f"{request.path} {'hl' in request.query} {query}"
    return lambda rest: page_fault(query, state.place(name, rest))


def query_of(request: RecordedRequest) -> str:
    """The query in a request's address, form or JSON; of several in an array the first."""
    body = request.body.decode("utf-8", "replace")
    found = _JSON_QUERY.search(body)
    fields = dict([*request.query_pairs, *parse_qsl(body)])
    names = ("q", "query", "search_query")
    return found[1] if found else next((fields[name] for name in names if name in fields), "")
