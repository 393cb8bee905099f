"""An engine's entry: its cost, storage terms and filters, and the interface of its module.

Each engine has a module in engines/ with its entry, `ENGINE = Engine(...)`, and the functions of
EngineModule. engines/table.py lists the entries. An engine with its own script (Brave, Serper) has
the name of a function in its entry instead, and a search API that takes one request has a row
(SearchApi). search/engine_calls.py runs all kinds.

For an engine with a key, the entry has keys, and first_request puts ENGINE.key() into a header that
http_client.is_key_header recognizes, so no dry run or error shows it. With a key, requests are sent
at once and retried. An engine with keyless also works without a key: ENGINE.key() is then "", and
requests are paced, paused after a block and free of charge. ResultPage.credits, if set, is counted
in the ledger; a result's "text" is page text from the provider and replaces fetching the page.
"""

from __future__ import annotations

import math
import os
import re
from typing import NamedTuple

from websearch.base.http_client import scheme_of
from websearch.kit import SearchError, base_url, configured_key, find_key, hide_credentials, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from websearch.engines.base.messages import EngineRequest, ResultPage
    from websearch.kit import Parameter, Response

    # Filter -> the values that an engine accepts; None for every value.
    Filters = Mapping[str, tuple[str, ...] | None]

    class EngineModule(Protocol):
        """The functions in an engine's module.

        first_request: params are query, count and the filters that the caller set. Raises
        SearchError (invalid_input, auth) for anything the engine cannot do: nothing has been sent
        yet, so `auto` may fall back to the next engine.

        read_answer raises SearchError: blocked (result_pages.wall_error) pauses an engine without a
        key; rate_limit with retry_after is retried after a wait; invalid_input with the response's
        status ends `auto`, because other engines would also refuse the query. A response with
        neither results nor the engine's own "no results" message is an error.

        A module with several result pages also has next_request(params, request, result_page,
        number): it returns the request for result page number (from 2 on), or None.
        """

        ENGINE: Engine

        def first_request(self, params: dict[str, Any]) -> EngineRequest: ...
        def read_answer(self, request: EngineRequest, response: Response) -> ResultPage: ...


DAYS = ("day", "week", "month", "year")
HOURS = ("hour", *DAYS)
SAFE = ("off", "moderate", "strict")
PLACES: Filters = dict.fromkeys(("country", "language", "site", "exclude_site"))  # any value
DAYS_HINT = "Use day, week, month or year. A search that reads pages also takes a range of dates."
USE_ANOTHER = "Omit it, or use another engine."
# Parameters that a search passes to its engine, and that distinguish stored answers.
# fmt: off
FILTER_PARAMS: list[Parameter] = [
    {"name": "since", "type": "since", "aliases": ["freshness"],
     "choices": ["hour", "day", "week", "month", "year"],
     "values": {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"},
     "help": "age of pages: hour, day, week, month, year, 7d, 2w or YYYY-MM-DD..YYYY-MM-DD"},
    {"name": "country", "type": "str",
     "help": "two-letter country code for the results, such as us"},
    {"name": "language", "type": "str",
     "help": "language of the results, such as en or pt-br"},
    {"name": "site", "type": "csv",
     "help": "only these sites, such as docs.python.org,github.com"},
    {"name": "exclude_site", "type": "csv", "help": "omit these sites"},
    {"name": "safe", "type": "str", "choices": ["off", "moderate", "strict"],
     "aliases": ["safesearch"],
     "help": "filter for adult content"},
]
# fmt: on
FILTERS = tuple(parameter["name"] for parameter in FILTER_PARAMS)


class SearchApi(NamedTuple):
    """A search API as data: one request, one list of results (base/search_apis.py).

    path: follows the engine's address. headers, send: contain placeholders; send is the body of a
    POST or the fields of a GET. keyless_path, keyless_headers: used without a key, if they differ.
    results: the path of the list, such as "data.web". title, url, date, text: a result's fields;
    snippet: the first field with text is used; the strings of a list are joined.
    """

    path: str
    send: Mapping[str, Any]
    results: str
    snippet: tuple[str, ...]
    method: str = "POST"
    headers: Mapping[str, str] = {}
    keyless_path: str = ""
    keyless_headers: Mapping[str, str] = {}
    countries: tuple[str, ...] = ()  # the countries that it accepts, if it refuses others
    codes: Mapping[str, str] = {}  # its own codes for countries and languages
    title: str = "title"
    url: str = "url"
    date: str = ""
    text: str = ""
    has_entities: bool = False  # titles and snippets contain HTML entities
    used_up: tuple[int, ...] = (402,)  # statuses that mean used-up credits
    keyless_used_up: tuple[int, ...] = ()  # statuses that mean a used-up allowance without a key


class Engine(NamedTuple):
    """A search engine, or a host that is only read (READ_HOSTS), which has no filters and limits.

    name: in parameters and the store. title: in messages. address: (variable, default address).
    module: its module; api: its row instead. function, params: for an engine with its own script,
    the function and its fixed parameters. sources: the content that it finds: web, code,
    discussions, papers, reference; except for web, this is also the focus that queries it.
    """

    name: str
    title: str
    address: tuple[str, str]
    # ----- its pace
    interval: float = 0.0  # seconds between requests, if its limit requires more than the default
    burst: int = 1  # requests allowed in a burst
    faster: tuple[str, float] | None = None  # (variable, interval if the variable is set)
    serial: bool = False  # it accepts one request at a time
    # Seconds between two requests that read the source's pages, if these requests have their own
    # pace, not that of its searches.
    page_interval: float | None = None
    pages_apart: bool = False  # requests that read pages have their own limit
    # ----- its interface
    module: str = ""
    api: SearchApi | None = None
    function: str = ""
    news: str = ""  # that script's function for the focus news
    params: Mapping[str, Any] = {}
    # ----- its key and cost
    keys: tuple[str, ...] = ()  # variables for its key; the first that is set is used
    key_site: str = ""  # where to get a key
    keyless: bool = False  # its key is optional
    own_server: bool = False  # the address is the user's own server, and has no default
    paid: bool = False  # a request with a key costs money: it never replaces a free engine
    usd: float = 0.0  # price per request (or credit), if there is a single price
    # Requested results (minimum) -> credits per request, if it is paid in credits.
    credits: Mapping[int, int] = {}
    stored: str = "always"  # "if allowed": its terms forbid storing results (see WEB_SEARCH_STORE)
    # ----- its questions
    sources: tuple[str, ...] = ()
    auto: bool = False  # `auto` uses it if it is configured
    is_fallback: bool = False  # it answers questions without a focus if the engines of `auto` fail
    filters: Mapping[str, tuple[str, ...] | None] = {}  # filters not listed here are not supported
    hosts_only: bool = False  # its filters site and exclude_site do not accept paths
    operators: bool = True  # a query may have operators such as filetype:pdf
    instead: Mapping[str, str] = {}  # filter -> alternative
    max_query: int = 0  # characters, including operators: longer queries are truncated or refused
    max_count: int = 0  # results per call; per response if its script has an offset

    def base_url(self, language: str = "") -> str:
        """Return the address; raises SearchError (invalid_input, auth for a missing server).

        language: selects the wiki, for engines with an address per language.
        """
        variable, default = self.address
        if self.own_server:
            return own_server_address(variable)
        return base_url(variable, default.format(language=language or "en"))

    def other_address(self) -> str:
        """Return the address in the variable that overrides the engine's; "" if it is not set."""
        address = first_set(self.address[0])
        return without_login(address) if self.own_server else address

    def has_other_address(self) -> bool:
        """Return whether a variable overrides the address."""
        return bool(self.other_address())

    def has_key(self) -> bool:
        """Return whether the key is set.

        A malformed key counts: the engine's own error then explains the problem.
        """
        try:
            return bool(configured_key(*self.keys)[1])
        except SearchError:
            return True

    def key(self) -> str:
        """Return the key; "" if the engine works without one; raises SearchError (auth)."""
        return (configured_key if self.keyless else find_key)(*self.keys)[1]

    def needs_no_key(self) -> bool:
        """Return whether the engine works without a key."""
        return not self.keys or self.keyless

    def is_configured(self) -> bool:
        """Return whether the engine is available: its key or server is set, or it needs none."""
        if self.own_server:
            return self.has_other_address()
        return self.needs_no_key() or self.has_key()

    def costs_money(self) -> bool:
        """Return whether a request costs money; without a key it is free."""
        return self.paid and (not self.keyless or self.has_key())

    def requests_for(self, count: int) -> int:
        """Return the number of requests that its script needs for count results, or else 1."""
        return math.ceil(count / self.max_count) if self.function else 1

    def is_storable(self) -> bool:
        """Return whether the results may be stored.

        Brave's terms forbid it unless the plan has storage rights (WEB_SEARCH_STORE=brave).
        """
        allowed = os.environ.get("WEB_SEARCH_STORE", "").lower().replace(",", " ").split()
        return self.stored == "always" or self.name in allowed

    def can_filter(self, name: str, value: Any) -> bool:
        """Return whether a filter and its value are supported."""
        word = "range" if name == "since" and ".." in value else value
        allowed = self.filters.get(name, ())
        return allowed is None or (isinstance(word, str) and word.lower() in allowed)

    def check_filters(self, params: dict[str, Any]) -> None:
        """Raise SearchError (invalid_input) for an unsupported filter or value."""
        for name in FILTERS:
            if name not in params:
                continue
            value = params[name]
            if self.can_filter(name, value):
                continue
            shown = ",".join(value) if isinstance(value, list) else value
            message = f"{self.title} cannot filter by {name} {quoted(shown)}."
            raise SearchError("invalid_input", message, self.instead.get(name, USE_ANOTHER))


def first_set(*variables: str) -> str:
    """Return the value of the first variable that is set; "" if none is."""
    addresses = (os.environ.get(variable, "").strip().rstrip("/") for variable in variables)
    return next(filter(None, addresses), "")


def without_login(address: str) -> str:
    """Return a server's address without a user name and password."""
    scheme, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def own_server_login(variable: str, key: str) -> dict[str, str]:
    """Return the Basic authentication header for the user's own server; {} without credentials.

    variable: contains the server's URL, which may include user:password@. key: the variable that
    contains user:password if the URL does not. Raises SearchError (auth).
    """
    from base64 import b64encode
    from urllib.parse import unquote

    login, at, _ = first_set(variable).partition("://")[2].partition("/")[0].rpartition("@")
    login = unquote(login) if at else configured_key(key)[1]
    if not login:
        return {}
    return {"Authorization": f"Basic {b64encode(login.encode('utf-8', 'replace')).decode()}"}


def own_server_address(variable: str) -> str:
    """Return the address of the user's own server, which may use plain http on any host.

    A user name and password in it are omitted: own_server_login returns them. So is a query, as in
    /search?q=<query>, which other programs want.
    """
    named = first_set(variable)
    address = re.sub(r"(?:/search)?/?\?.*", "", without_login(named))
    if not address:
        hint = "Set it to the address of your server, for example http://localhost:8080."
        raise SearchError("auth", f"{variable} is not set.", hint)
    if scheme_of(address) not in ("http", "https") or len(address.split()) > 1:
        shown = quoted(hide_credentials(named))
        message = f"{variable} is {shown}; it must be an http or https address."
        raise SearchError("invalid_input", message, "Use an address such as http://localhost:8080.")
    return address
