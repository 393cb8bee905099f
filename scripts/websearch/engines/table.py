"""The table of all search engines: what each is, costs, keeps and can filter by.

Everything that lists engines is made from this table: the choices of the commands and of the MCP
tools, the order in which `auto` asks, the checks of doctor.py, the fault matrix of the tests and
the tables in references/. To add an engine, write its module and one entry here (CONTRIBUTING.md).

An engine with a script of its own names the function that searches. Every other engine is a module
of this package; search/engine_calls.py runs it. It offers these functions (classes: messages.py):

- first_request(params) -> EngineRequest. params: query, count, and the filters of FILTERS that the
  caller gives. Raises SearchError (invalid_input, auth) for what the engine cannot do: nothing has
  been sent yet, so `auto` may go on to the next engine.
- read_answer(request: EngineRequest, response: Response) -> ResultPage. Raises SearchError: blocked
  (result_pages.wall_error) makes an engine without a key rest; rate_limit with retry_after is
  waited out; invalid_input with the status of the answer ends `auto`, because another engine would
  refuse it, too. An answer that is neither results nor the engine's word for none is an error, too.
- next_request(params, request, result_page, number) -> EngineRequest or None, only if the results
  come in several pages; number: of the wanted result page, from 2.

A key: the entry has "keys", and first_request puts engine_key(NAME) into a header of
http_client.KEY_HEADERS, so that no dry run and no error shows it. With a key set, requests go out
at once and are tried again (engine_calls.py). An entry with "keyless" answers without a
key, too: engine_key is "" then, the engine is asked within its pace, rests after a block and costs
nothing. ResultPage.credits, if it is set, is what the ledger counts; a result's "text" is what the
provider has read of the page, and takes the place of fetching it.
"""

from __future__ import annotations

import os

from websearch.base.http_client import scheme_of
from websearch.base.site_rules import allowed_sites
from websearch.kit import SearchError, base_url, configured_key, find_key, hide_credentials, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

DAYS = ("day", "week", "month", "year")
HOURS = ("hour", *DAYS)
SAFE = ("off", "moderate", "strict")
PLACES: dict[str, Any] = dict.fromkeys(("country", "language", "site", "exclude_site"))  # any value
DAYS_HINT = "Give day, week, month or year; engine google also takes hour and a range of dates."
USE_ANOTHER = "Leave it out, or use another engine."

# name -> entry. The order is that of `auto`: keys first, because an engine with a key is reliable.
#
# title      its name in messages
# module     the module that searches; function and params: for engines with a script of their own,
#            the function and the parameters that it always gets
# keys       variables of its key, the first that is set; key_site: where to get one; keyless: it
#            also answers without a key, with the filters of keyless_filters if they are others
# address    (variable, default address); own_server: the address is the user's own server,
#            without which it cannot be asked; mcp: the address for callers without a key, if it
#            is another one, of an MCP server
# paid       each request (with a key) costs money: it is never asked in the place of a free engine
# stored     "always", or "if allowed": its terms forbid storing results (WEB_SEARCH_STORE)
# sources    what it finds: web, code, discussions, papers, reference; except for web this is the
#            focus that asks it
# stands_in  it answers a question without a focus if the engines of `auto` do not
# auto       whether `auto` asks it by itself if it is configured
# interval   seconds between two requests, if its own limit asks for more than GLSI_RATE_LIMIT;
#            burst: requests that may come at once; faster: (variable, interval if that is set)
# serial     it takes one request at a time
# page_interval  seconds between two requests that read pages of the source, if these do not have to
#            wait for the pace of its searches; pages_apart: they have a limit of their own
# filters    filter -> the values it takes, or None for every value; it lacks those not named here
# instead    filter -> what to do instead
# max_query  characters of a query, operators included: an engine cuts a longer one or refuses it
# max_count  results of one call
ENGINES: dict[str, dict[str, Any]] = {
    "brave": {
        "title": "Brave", "module": "brave_search", "function": "run_web_search",
        "params": {"result_filter": "web"},
        "keys": ("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"),
        "key_site": "https://api-dashboard.search.brave.com",
        "address": ("BRAVE_SEARCH_BASE_URL", "https://api.search.brave.com"),
        "paid": True, "stored": "if allowed", "sources": ("web",), "auto": True,
        "filters": {"since": (*DAYS, "range"), **PLACES, "safe": SAFE},
        "instead": {"since": "Brave filters by days: give day, week, month, year or a range."},
        "max_query": 600, "max_count": 20,
    },
    "serper": {
        "title": "Google (Serper)", "module": "serper_search", "function": "run_search",
        "params": {}, "keys": ("SERPER_API_KEY",), "key_site": "https://serper.dev",
        "address": ("SERPER_BASE_URL", "https://google.serper.dev"),
        "paid": True, "stored": "always", "sources": ("web",), "auto": True,
        "filters": {"since": (*HOURS, "range"), **PLACES},
        "instead": {"safe": "Serper has no filter for adult content; brave has one."},
        "max_query": 2_048, "max_count": 100,
    },
    "tavily": {
        "title": "Tavily", "module": "websearch.engines.tavily",
        "keys": ("TAVILY_API_KEY",), "key_site": "https://app.tavily.com", "keyless": True,
        "address": ("TAVILY_BASE_URL", "https://api.tavily.com"),
        "paid": True, "stored": "always", "sources": ("web",), "auto": True,
        "filters": {
            "since": (*DAYS, "range"), "language": None, "site": None, "exclude_site": None,
            "safe": SAFE,
        },
        "instead": {
            "since": "Give day, week, month, year or a range of dates.",
            "country": "Name the country in the query: Tavily takes it as a wish only.",
        },
        "max_query": 400, "max_count": 20,
    },
    "exa": {
        "title": "Exa", "module": "websearch.engines.exa",
        "keys": ("EXA_API_KEY",), "key_site": "https://dashboard.exa.ai", "keyless": True,
        "address": ("EXA_BASE_URL", "https://api.exa.ai"),
        "mcp": ("EXA_MCP_BASE_URL", "https://mcp.exa.ai"),
        "paid": True, "stored": "if allowed", "sources": ("web",), "auto": True,
        "filters": {
            "since": (*HOURS, "range"), "country": None, "site": None, "exclude_site": None,
            "safe": SAFE,
        },
        "keyless_filters": {},
        "instead": {"language": "Ask in the language of the pages."},
        "max_query": 2_000, "max_count": 50,
    },
    "you": {
        "title": "You.com", "module": "websearch.engines.you",
        "keys": ("YDC_API_KEY",), "key_site": "https://you.com/platform", "keyless": True,
        "address": ("YOU_BASE_URL", "https://api.you.com"),
        "paid": True, "stored": "always", "sources": ("web",), "auto": True,
        "filters": {"since": (*DAYS, "range"), **PLACES, "safe": SAFE},
        "instead": {"since": "Give day, week, month, year or a range of dates."},
        "max_query": 2_000, "max_count": 50,
    },
    "parallel": {
        "title": "Parallel", "module": "websearch.engines.parallel",
        "keys": ("PARALLEL_API_KEY",), "key_site": "https://platform.parallel.ai", "keyless": True,
        "address": ("PARALLEL_BASE_URL", "https://api.parallel.ai"),
        "mcp": ("PARALLEL_MCP_BASE_URL", "https://search.parallel.ai"),
        "paid": True, "stored": "if allowed", "sources": ("web",), "auto": True,
        "filters": {"since": DAYS, "country": None, "site": None, "exclude_site": None},
        "keyless_filters": {},
        "instead": {"since": "Parallel knows a first day only: give day, week, month or year."},
        "max_query": 2_000, "max_count": 20,
    },
    "keenable": {
        "title": "Keenable", "module": "websearch.engines.keenable",
        "keys": ("KEENABLE_API_KEY",), "key_site": "https://keenable.ai", "keyless": True,
        "address": ("KEENABLE_BASE_URL", "https://api.keenable.ai"),
        "paid": True, "stored": "always", "sources": ("web",), "auto": True,
        "filters": {"since": (*DAYS, "range"), "site": None, "exclude_site": None},
        "instead": {"since": "Give day, week, month, year or a range of dates."},
        "max_query": 2_000, "max_count": 50,
    },
    "kagi": {
        "title": "Kagi", "module": "websearch.engines.kagi",
        "keys": ("KAGI_API_KEY",), "key_site": "https://kagi.com/settings/api",
        "address": ("KAGI_BASE_URL", "https://kagi.com"),
        "paid": True, "stored": "if allowed", "sources": ("web",), "auto": True,
        "filters": {
            "since": (*DAYS, "range"), "country": None, "site": None, "exclude_site": None,
            "safe": SAFE,
        },
        "instead": {"language": "Give {country}: Kagi filters by region."},
        "max_query": 2_000, "max_count": 50,
    },
    "searxng": {
        "title": "SearXNG", "module": "websearch.engines.searxng", "own_server": True,
        "address": ("SEARXNG_BASE_URL", ""),
        "paid": False, "stored": "always", "sources": ("web",), "auto": True,
        "filters": {"since": DAYS, **PLACES, "safe": SAFE},
        "instead": {"since": DAYS_HINT},
        "max_query": 2_048, "max_count": 50,
    },
    "duckduckgo": {
        "title": "DuckDuckGo", "module": "websearch.engines.duckduckgo",
        "address": ("DUCKDUCKGO_BASE_URL", "https://html.duckduckgo.com"),
        "paid": False, "stored": "always", "sources": ("web",), "auto": True,
        "filters": {"since": DAYS, **PLACES, "safe": SAFE},
        "instead": {"since": DAYS_HINT},
        "max_query": 499, "max_count": 50,
    },
    "google": {
        "title": "Google", "module": "websearch.engines.google",
        "address": ("GOOGLE_BASE_URL", "https://www.google.com"),
        "paid": False, "stored": "always", "sources": ("web",), "auto": False,
        "filters": {"since": (*HOURS, "range"), **PLACES, "safe": ("off", "strict")},
        "instead": {"safe": "Give off or strict."},
        "max_query": 2_048, "max_count": 50,
    },
    "wikipedia": {
        "title": "Wikipedia", "module": "websearch.engines.wikipedia",
        "address": ("WIKIPEDIA_BASE_URL", "https://{language}.wikipedia.org"),
        "paid": False, "stored": "always", "sources": ("reference",), "auto": False,
        "stands_in": True,
        # Ten requests a minute, or two hundred with a contact in the User-Agent.
        "interval": 7.5, "burst": 2, "faster": ("WEB_SEARCH_CONTACT", 0.4),
        "filters": {"language": None},
        "instead": {
            "since": "Leave it out: articles are always of today.",
            "country": "Give {language}: each has a Wikipedia of its own.",
        },
        "max_query": 300, "max_count": 50,
    },
    "stackexchange": {
        "title": "Stack Exchange", "module": "websearch.engines.stackexchange",
        "address": ("STACKEXCHANGE_BASE_URL", "https://api.stackexchange.com"),
        "paid": False, "stored": "always", "sources": ("code", "discussions"), "auto": False,
        "stands_in": True, "page_interval": 0.05,
        "filters": {"since": (*HOURS, "range"), "site": None},
        "instead": {
            "language": "Give {site}: for example es.stackoverflow.com is in Spanish.",
            "exclude_site": "Give {site}: one site of the network is asked at a time.",
        },
        "max_query": 300, "max_count": 50,
    },
    "hackernews": {
        "title": "Hacker News", "module": "websearch.engines.hackernews",
        "address": ("HACKERNEWS_BASE_URL", "https://hn.algolia.com"),
        "paid": False, "stored": "always", "sources": ("discussions",), "auto": False,
        "stands_in": True, "page_interval": 0.05,
        "filters": {"since": (*HOURS, "range")},
        "instead": {"site": "Write the site's name among the words of the query."},
        "max_query": 500, "max_count": 50,
    },
    "github": {
        "title": "GitHub", "module": "websearch.engines.github",
        "address": ("GITHUB_BASE_URL", "https://api.github.com"),
        "paid": False, "stored": "always", "sources": ("code",), "auto": False,
        # Ten searches a minute, thirty with a token; in 60 seconds come 60 / interval + burst.
        "interval": 7.5, "burst": 2, "faster": ("GITHUB_TOKEN", 2.2), "serial": True,
        "page_interval": 0.0, "pages_apart": True,  # sixty an hour, which its headers count
        "filters": {"since": (*HOURS, "range"), "site": None},
        "instead": {"language": "Write language:python and the like into the query."},
        "max_query": 256, "max_count": 50,
    },
    "crossref": {
        "title": "Crossref", "module": "websearch.engines.crossref",
        "address": ("CROSSREF_BASE_URL", "https://api.crossref.org"),
        "paid": False, "stored": "always", "sources": ("papers",), "auto": False, "serial": True,
        "filters": {"since": (*DAYS, "range")},
        "instead": {"since": "Give day, week, month, year or a range of dates."},
        "max_query": 1_000, "max_count": 50,
    },
    "arxiv": {
        "title": "arXiv", "module": "websearch.engines.arxiv",
        "address": ("ARXIV_BASE_URL", "https://export.arxiv.org"),
        "paid": False, "stored": "always", "sources": ("papers",), "auto": False,
        # Its terms: one request in three seconds, one at a time. The tenth is for the way there.
        "interval": 3.1, "serial": True,
        "filters": {"since": (*DAYS, "range")},
        "instead": {"since": "Give day, week, month, year or a range of dates."},
        "max_query": 500, "max_count": 50,
    },
}  # fmt: skip
# Addresses of hosts that are read, not searched: (variable, default address).
GITHUB_RAW = ("GITHUB_RAW_BASE_URL", "https://raw.githubusercontent.com")
# Hosts that are read within a pace, as engines are asked: entries with the same fields.
READ_HOSTS: dict[str, dict[str, Any]] = {
    "wayback": {
        "title": "The Internet Archive", "address": ("WAYBACK_BASE_URL", "https://web.archive.org"),
        "sources": (),
        # It takes thirty look-ups a minute, and asks its clients to stay below four fifths of that.
        "interval": 2.7, "burst": 2,
    },
}  # fmt: skip
SPELLINGS = {  # what people write
    "ddg": "duckduckgo", "searx": "searxng", "wiki": "wikipedia", "stackoverflow": "stackexchange",
    "hn": "hackernews",
}  # fmt: skip
# What a question is about. The engines whose sources hold that word are asked beside the general
# engine, which the parameter engine names.
FOCUSES = ("general", "code", "papers", "discussions", "reference")
WITHOUT_GENERAL_ENGINE = ("papers",)  # result pages for people hold few papers
# Where the general engine looks for discussions, beside the sources that are asked themselves.
FORUM_SITES = ["reddit.com", "lobste.rs", "quora.com", "stackexchange.com"]
# Parameters that a search passes on to its engine, and that tell one stored answer from another.
# fmt: off
FILTER_PARAMS: list[dict[str, Any]] = [
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


def keyless_engines() -> list[str]:
    """Return the names of the engines that answer without a key."""
    return [name for name, entry in ENGINES.items() if "keys" not in entry or "keyless" in entry]


def entry_of(name: str) -> dict[str, Any]:
    """Return the entry of an engine, or of a host that is read within a pace."""
    return ENGINES.get(name) or READ_HOSTS[name]


def load_module(name: str) -> ModuleType:
    """Return an engine's module, imported when it is first needed."""
    import importlib

    return importlib.import_module(ENGINES[name]["module"])


# ===== which engines can be asked =================================================================


def engine_address(name: str, language: str = "") -> str:
    """Return the address of an engine; raises SearchError (invalid_input, auth).

    language: that of the wiki, for engines with an address for each language.
    """
    entry = entry_of(name)
    variable, default = entry["address"]
    if entry.get("own_server"):
        return own_server_address(variable)
    return base_url(variable, default.format(language=language or "en"))


def mcp_address(name: str) -> str:
    """Return the address of an engine's MCP server; raises SearchError (invalid_input)."""
    return base_url(*ENGINES[name]["mcp"])


def own_server_address(variable: str) -> str:
    """Return the address of the user's own server, which may be plain http anywhere."""
    address = os.environ.get(variable, "").strip().rstrip("/")
    if not address:
        hint = "Set it to the address of your server, for example http://localhost:8080."
        raise SearchError("auth", f"{variable} is not set", hint)
    if scheme_of(address) not in ("http", "https") or len(address.split()) > 1:
        shown = quoted(hide_credentials(address))
        message = f"{variable} is {shown}; it must be an http or https address."
        raise SearchError("invalid_input", message, "For example http://localhost:8080.")
    return address


def other_address(name: str) -> str:
    """Return the address that a variable names in place of the engine's own, "" if none does."""
    entry = entry_of(name)
    variables = [entry[field][0] for field in ("address", "mcp") if field in entry]
    addresses = [os.environ.get(variable, "").strip().rstrip("/") for variable in variables]
    return next(filter(None, addresses), "")


def has_other_address(name: str) -> bool:
    """Return whether a variable names another address than the engine's own."""
    return bool(other_address(name))


def is_configured(name: str) -> bool:
    """Return whether an engine can be asked: its key or server is set, or it needs none."""
    entry = ENGINES[name]
    if entry.get("own_server"):
        return has_other_address(name)
    return "keys" not in entry or "keyless" in entry or has_key(name)


def has_key(name: str) -> bool:
    """Return whether an engine's key is set.

    A malformed key counts: the engine's own error then says what is wrong.
    """
    try:
        return bool(configured_key(*ENGINES.get(name, {}).get("keys", ()))[1])
    except SearchError:
        return True


def engine_key(name: str) -> str:
    """Return an engine's key, "" if it answers without one; raises SearchError (auth)."""
    entry = ENGINES[name]
    return (configured_key if "keyless" in entry else find_key)(*entry["keys"])[1]


def costs_money(name: str) -> bool:
    """Return whether a request to an engine costs money: not if it is asked without a key."""
    entry = ENGINES[name]
    return bool(entry["paid"]) and ("keyless" not in entry or has_key(name))


def configured_engines() -> list[str]:
    """Return the engines that `auto` asks, in its order.

    WEB_SEARCH_ENGINES names them. Without it they are those of the table that can be asked; a
    company's engine then only with a key, because without one the company may keep and learn from
    the queries. An engine that costs money is never asked after one that does not. Raises
    SearchError (invalid_input).
    """
    order = owner_engines() or [
        name
        for name, entry in ENGINES.items()
        if entry["auto"] and is_configured(name) and ("keyless" not in entry or has_key(name))
    ]
    first_free = next((i for i, name in enumerate(order) if not costs_money(name)), len(order))
    return order[:first_free] + [name for name in order[first_free:] if not costs_money(name)]


def owner_engines() -> list[str]:
    """Return the engines of WEB_SEARCH_ENGINES that can be asked; raises SearchError."""
    listed = os.environ.get("WEB_SEARCH_ENGINES", "").lower().replace(",", " ").split()
    names = [known_engine("WEB_SEARCH_ENGINES", name) for name in listed]
    if names and not any(map(is_configured, names)):
        message = f"No engine of WEB_SEARCH_ENGINES can be asked: {', '.join(names)} need a key."
        raise SearchError("auth", message, "Set a key, or name an engine that needs none.")
    return [name for name in dict.fromkeys(names) if is_configured(name)]


def known_engine(variable: str, text: str) -> str:
    """Return the name of the engine that a variable names; raises SearchError (invalid_input)."""
    name = SPELLINGS.get(text, text)
    if name in ENGINES:
        return name
    message = f"{variable} must be one of {', '.join(ENGINES)}, not {quoted(text)}."
    raise SearchError("invalid_input", message, "Unset it to let the program choose.")


def engine_order(engine: str) -> list[str]:
    """Return the engines to ask, in order; a named engine is the only one.

    auto: the engine that GLSI_SEARCH_ENGINE names, then configured_engines(). Raises SearchError.
    """
    if engine != "auto":
        return [engine]
    order = configured_engines()
    preferred = os.environ.get("GLSI_SEARCH_ENGINE", "").strip().lower()
    if preferred in ("", "auto"):
        return order
    first = known_engine("GLSI_SEARCH_ENGINE", preferred)
    others = [name for name in order if costs_money(first) or not costs_money(name)]
    return list(dict.fromkeys([first, *others]))


def chosen_engines(engines: list[str], focus: str = "general") -> list[str]:
    """Return the engines that the parameters engine and focus mean; "auto" stands for itself.

    The sources of the focus come first. all: the engines of the table that search the whole web and
    can be asked. Raises SearchError (invalid_input) if auto or all stands beside others.
    """
    names = list(dict.fromkeys(engines))
    if len(names) > 1 and not {"auto", "all"}.isdisjoint(names):
        message = f"engine must be auto, all, or names of engines, not {quoted(','.join(names))}."
        raise SearchError("invalid_input", message, "Name the engines alone.")
    if names == ["all"]:
        names = configured_engines()
    if names == ["auto"] and focus in WITHOUT_GENERAL_ENGINE:
        names = []
    return list(dict.fromkeys([*focus_sources(focus), *names]))


def focus_sources(focus: str) -> list[str]:
    """Return the engines that a focus asks beside the general engine."""
    return [name for name, entry in ENGINES.items() if focus in entry["sources"]]


def stand_ins() -> list[str]:
    """Return the engines that answer a question without a focus if those of `auto` do not."""
    return [name for name, entry in ENGINES.items() if entry.get("stands_in")]


def focused_filters(engine: str, focus: str, filters: dict[str, Any]) -> dict[str, Any]:
    """Return the filters that a focus and the owner's rules add to those of the caller."""
    is_general = "web" in ENGINES[engine]["sources"]
    if "site" in filters or not is_general:
        return {}
    if focus == "discussions":
        return {"site": FORUM_SITES}
    sites = allowed_sites() if "site" in filters_of(engine) else []
    return {"site": sites} if sites else {}


def is_storable(name: str) -> bool:
    """Return whether an engine's results may be stored.

    Brave's terms forbid it unless the plan has storage rights: WEB_SEARCH_STORE=brave says so.
    """
    allowed = os.environ.get("WEB_SEARCH_STORE", "").lower().replace(",", " ").split()
    return ENGINES[name]["stored"] == "always" or name in allowed


# ===== filters ====================================================================================


def filters_of(name: str) -> dict[str, Any]:
    """Return the filters that an engine can do; without a key they may be others."""
    entry = ENGINES[name]
    without_key = entry.get("keyless_filters", entry["filters"])
    filters: dict[str, Any] = entry["filters"] if has_key(name) else without_key
    return filters


def check_filters(name: str, params: dict[str, Any]) -> None:
    """Raise SearchError (invalid_input) for a filter, or its value, that the engine cannot do."""
    entry = ENGINES[name]
    filters = filters_of(name)
    for filter_name in FILTERS:
        if filter_name not in params:
            continue
        value = params[filter_name]
        word = "range" if filter_name == "since" and ".." in value else value
        allowed = filters.get(filter_name, ())
        if allowed is None or word in allowed:
            continue
        shown = ",".join(value) if isinstance(value, list) else value
        message = f"{entry['title']} cannot filter by {filter_name} {quoted(shown)}."
        hint = entry["instead"].get(filter_name, USE_ANOTHER)
        if filter_name in entry["filters"] and filter_name not in filters:
            message = f"{entry['title']} filters by {filter_name} only with {entry['keys'][0]}."
            hint = USE_ANOTHER
        raise SearchError("invalid_input", message, hint)
