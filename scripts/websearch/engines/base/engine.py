"""What an engine is, costs, keeps and can filter by; and what its module offers.

Each engine has a module in engines/ with its entry, `ENGINE = Engine(...)`, and the functions of
EngineModule. engines/table.py gathers the entries. An engine with a script of its own (Brave,
Serper) names the function that searches instead. search/engine_calls.py runs both.

A key: the entry has keys, and first_request puts ENGINE.key() into a header of
http_client.KEY_HEADERS, so no dry run and no error shows it. With a key set, requests go out at
once and are tried again. An engine that is also keyless answers without a key: ENGINE.key() is ""
then, the engine is asked within its pace, rests after a block and costs nothing.
ResultPage.credits, if set, is what the ledger counts; a result's "text" is what the provider has
read of the page and replaces fetching it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from websearch.base.http_client import scheme_of
from websearch.kit import SearchError, base_url, configured_key, find_key, hide_credentials, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from websearch.engines.base.messages import EngineRequest, ResultPage
    from websearch.kit import Parameter, Response

    # Filter -> the values that an engine takes, None for every value.
    Filters = Mapping[str, tuple[str, ...] | None]

    class EngineModule(Protocol):
        """The functions of an engine's module.

        first_request: params are query, count and the filters that the caller set. Raises
        SearchError (invalid_input, auth) for anything the engine cannot do: nothing has been sent
        yet, so `auto` may fall back to the next engine.

        read_answer raises SearchError: blocked (result_pages.wall_error) makes an engine without a
        key rest; rate_limit with retry_after is waited out; invalid_input with the status of the
        answer ends `auto`, because another engine would refuse it too. An answer that is neither
        results nor the engine's own words for none is an error.
        """

        ENGINE: Engine

        def first_request(self, params: dict[str, Any]) -> EngineRequest: ...
        def read_answer(self, request: EngineRequest, response: Response) -> ResultPage: ...

    class PagedEngineModule(EngineModule, Protocol):
        """A module whose results come in several result pages; number: the wanted one, from 2."""

        def next_request(
            self,
            params: dict[str, Any],
            request: EngineRequest,
            result_page: ResultPage,
            number: int,
        ) -> EngineRequest | None: ...


DAYS = ("day", "week", "month", "year")
HOURS = ("hour", *DAYS)
SAFE = ("off", "moderate", "strict")
PLACES: Filters = dict.fromkeys(("country", "language", "site", "exclude_site"))  # any value
DAYS_HINT = "Give day, week, month or year; engine google also takes hour and a range of dates."
USE_ANOTHER = "Leave it out, or use another engine."
# Parameters that a search passes on to its engine, and that tell one stored answer from another.
# fmt: off
FILTER_PARAMS: list[Parameter] = [
    {"name": "since", "type": "since", "aliases": ["freshness"],
     "choices": ["hour", "day", "week", "month", "year"],
     "values": {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"},
     "help": "age of pages: hour, day, week, month, year, 7d, 2w or YYYY-MM-DD..YYYY-MM-DD"},
    {"name": "country", "type": "str", "help": "two-letter country of the results, such as us"},
    {"name": "language", "type": "str",
     "help": "language of the results, such as en or pt-br"},
    {"name": "site", "type": "csv",
     "help": "only these sites, such as docs.python.org,github.com"},
    {"name": "exclude_site", "type": "csv", "help": "none of these sites"},
    {"name": "safe", "type": "str", "choices": ["off", "moderate", "strict"],
     "aliases": ["safesearch"],
     "help": "filter for adult content"},
]
# fmt: on
FILTERS = tuple(parameter["name"] for parameter in FILTER_PARAMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A host that is asked within a pace.

    name: in parameters and the store. title: in messages. address: (variable, default address).
    sources: what it has; see Engine.
    """

    name: str
    title: str
    address: tuple[str, str]
    sources: tuple[str, ...] = ()
    interval: float = 0.0  # seconds between two requests, if its limit asks for more than the pace
    burst: int = 1  # requests that may come at once
    faster: tuple[str, float] | None = None  # (variable, interval if that is set)
    serial: bool = False  # it takes one request at a time
    # Seconds between two requests that read pages of the source, if these do not have to wait for
    # the pace of its searches.
    page_interval: float | None = None
    pages_apart: bool = False  # requests that read pages have a limit of their own

    def base_url(self, language: str = "") -> str:
        """Return the address; raises SearchError (invalid_input).

        language: that of the wiki, for engines with an address for each language.
        """
        variable, default = self.address
        return base_url(variable, default.format(language=language or "en"))

    def other_address(self) -> str:
        """Return the address that a variable names in place of the host's own, "" if none does."""
        return first_set(self.address[0])

    def has_other_address(self) -> bool:
        """Return whether a variable names another address than the host's own."""
        return bool(self.other_address())


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine(Host):
    """A search engine.

    module: its module. function, params: for an engine with a script of its own, the function and
    the parameters that it always gets. sources: what it finds: web, code, discussions, papers,
    reference; except for web this is the focus that asks it.
    """

    module: str
    function: str = ""
    news: str = ""  # the function of that script that finds news, for this focus
    params: Mapping[str, Any] = field(default_factory=dict)
    keys: tuple[str, ...] = ()  # variables of its key, the first that is set
    key_site: str = ""  # where to get a key
    keyless: bool = False  # it has keys and also answers without one
    keyless_filters: Filters | None = None  # filters without a key, if they are others
    mcp: tuple[str, str] | None = None  # address of an MCP server for callers without a key
    own_server: bool = False  # the address is the user's own server, and has no default
    paid: bool = False  # a request with a key costs money: never asked in place of a free engine
    usd: float = 0.0  # of a request (or credit), if its price list names one price
    # Results that are asked for (so many or more) -> credits of the request, if it is paid in them.
    credits: Mapping[int, int] = field(default_factory=dict)
    stored: str = "always"  # or "if allowed": its terms forbid storing results (WEB_SEARCH_STORE)
    auto: bool = False  # `auto` asks it if it is configured
    stands_in: bool = False  # it answers a question without a focus if those of `auto` do not
    filters: Filters  # those not named here it lacks
    instead: Mapping[str, str] = field(default_factory=dict)  # filter -> what to do instead
    max_query: int  # characters, operators included: a longer query is cut or refused
    max_count: int  # results of one call; of one answer if its script has offset

    def base_url(self, language: str = "") -> str:
        """Return the address; raises SearchError (invalid_input, auth for a missing server)."""
        if self.own_server:
            return own_server_address(self.address[0])
        return Host.base_url(self, language)

    def mcp_url(self) -> str:
        """Return the address of the engine's MCP server; raises SearchError (invalid_input)."""
        assert self.mcp  # noqa: S101  only engines with one ask
        return base_url(*self.mcp)

    def other_address(self) -> str:
        """Return the address that a variable names in place of the engine's, "" if none does."""
        address = first_set(self.address[0], *(self.mcp or ())[:1])
        return without_login(address) if self.own_server else address

    def has_key(self) -> bool:
        """Return whether the key is set.

        A malformed key counts: the engine's own error then says what is wrong.
        """
        try:
            return bool(configured_key(*self.keys)[1])
        except SearchError:
            return True

    def key(self) -> str:
        """Return the key, "" if the engine answers without one; raises SearchError (auth)."""
        return (configured_key if self.keyless else find_key)(*self.keys)[1]

    def needs_no_key(self) -> bool:
        """Return whether the engine answers without a key."""
        return not self.keys or self.keyless

    def is_configured(self) -> bool:
        """Return whether the engine can be asked: its key or server is set, or it needs none."""
        if self.own_server:
            return self.has_other_address()
        return self.needs_no_key() or self.has_key()

    def costs_money(self) -> bool:
        """Return whether a request costs money: not if the engine is asked without a key."""
        return self.paid and (not self.keyless or self.has_key())

    def is_storable(self) -> bool:
        """Return whether the results may be stored.

        Brave's terms forbid it unless the plan has storage rights: WEB_SEARCH_STORE=brave says so.
        """
        allowed = os.environ.get("WEB_SEARCH_STORE", "").lower().replace(",", " ").split()
        return self.stored == "always" or self.name in allowed

    def present_filters(self) -> Filters:
        """Return the filters that the engine can apply now; without a key they may be others."""
        if self.keyless_filters is None or self.has_key():
            return self.filters
        return self.keyless_filters

    def check_filters(self, params: dict[str, Any]) -> None:
        """Raise SearchError (invalid_input) for a filter, or its value, that the engine lacks."""
        filters = self.present_filters()
        for name in FILTERS:
            if name not in params:
                continue
            value = params[name]
            word = "range" if name == "since" and ".." in value else value
            allowed = filters.get(name, ())
            if allowed is None or word in allowed:
                continue
            shown = ",".join(value) if isinstance(value, list) else value
            message = f"{self.title} cannot filter by {name} {quoted(shown)}."
            hint = self.instead.get(name, USE_ANOTHER)
            if name in self.filters and name not in filters:
                message = f"{self.title} filters by {name} only with {self.keys[0]}."
                hint = USE_ANOTHER
            raise SearchError("invalid_input", message, hint)


def first_set(*variables: str) -> str:
    """Return the first address that one of the variables names, "" if none does."""
    addresses = (os.environ.get(variable, "").strip().rstrip("/") for variable in variables)
    return next(filter(None, addresses), "")


def without_login(address: str) -> str:
    """Return a server's address without a user name and password."""
    scheme, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def own_server_login(variable: str, key: str) -> dict[str, str]:
    """Return the header with the login (Basic) of the user's own server, {} if it has none.

    variable: of its address, which may hold user:password@. key: the variable that names
    user:password otherwise. Raises SearchError (auth).
    """
    from base64 import b64encode
    from urllib.parse import unquote

    login, at, _ = first_set(variable).partition("://")[2].partition("/")[0].rpartition("@")
    login = unquote(login) if at else configured_key(key)[1]
    if not login:
        return {}
    return {"Authorization": f"Basic {b64encode(login.encode('utf-8', 'replace')).decode()}"}


def own_server_address(variable: str) -> str:
    """Return the address of the user's own server, which may be plain http anywhere.

    A user name and password in it are left out: own_server_login has them.
    """
    named = first_set(variable)
    address = without_login(named)
    if not address:
        hint = "Set it to the address of your server, for example http://localhost:8080."
        raise SearchError("auth", f"{variable} is not set", hint)
    if scheme_of(address) not in ("http", "https") or len(address.split()) > 1:
        shown = quoted(hide_credentials(named))
        message = f"{variable} is {shown}; it must be an http or https address."
        raise SearchError("invalid_input", message, "For example http://localhost:8080.")
    return address
