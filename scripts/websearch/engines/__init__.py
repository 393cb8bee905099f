"""The table of all search engines: what each is, costs, keeps and can filter by.

Everything that lists engines is made from this table: the choices of the commands and of the MCP
tools, the order in which `auto` asks, the checks of doctor.py, the fault matrix of the tests and
the tables in references/. To add an engine, write its module and one entry here (CONTRIBUTING.md).

An engine with a script of its own names the function that searches. Every other engine is a module
of this package with these functions, which keyless.py runs within the engine's pace:

- first_request(params) -> request (method, url, headers; what the next page needs)
- read_answer(request, response) -> result page; raises SearchError
- next_request(params, request, result_page, number) -> request, or None if there is no more; only
  if the results come in several pages

A request may hold others: otherwise (sent if this one is answered with 403), if_empty (sent if this
one finds nothing), also (sent in any case, for results of another kind); and a warning, which the
document then holds.
"""

from __future__ import annotations

import os

from websearch.common import SearchError, drop_empty, quoted
from websearch.http_client import base_url, configured_key, hide_credentials, scheme_of

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from websearch.common import Document, ProgressCallback

DAYS = ("day", "week", "month", "year")
HOURS = ("hour", *DAYS)
SAFE = ("off", "moderate", "strict")
PLACES: dict[str, Any] = dict.fromkeys(("country", "language", "site", "exclude_site"))  # any value
DAYS_HINT = "Give day, week, month or year; engine google also takes hour and a range of dates."
USE_ANOTHER = "Leave it out, or use another engine."

# name -> entry. The order is that of `auto`: keys first, because an engine with a key is reliable.
#
# title      its name in messages
# module     the module that searches; function and given: for engines with a script of their own,
#            the function and the parameters that it always gets
# keys       variables of its key, the first that is set; key_site: where to get one
# address    (variable, default address); own_server: the address is the user's own server,
#            without which it cannot be asked
# paid       each request costs money: it is never asked in the place of an engine without a key
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
        "given": {"result_filter": "web"},
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
        "given": {}, "keys": ("SERPER_API_KEY",), "key_site": "https://serper.dev",
        "address": ("SERPER_BASE_URL", "https://google.serper.dev"),
        "paid": True, "stored": "always", "sources": ("web",), "auto": True,
        "filters": {"since": (*HOURS, "range"), **PLACES},
        "instead": {"safe": "Serper has no filter for adult content; brave has one."},
        "max_query": 2_048, "max_count": 100,
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
            "country": "Give language: each has a Wikipedia of its own.",
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
            "language": "Give site: for example es.stackoverflow.com is in Spanish.",
            "exclude_site": "Give site: one site of the network is asked at a time.",
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
FILTERS = ("since", "country", "language", "site", "exclude_site", "safe")


def keyless_engines() -> list[str]:
    """Return the names of the engines that keyless.py asks."""
    return [name for name, entry in ENGINES.items() if "function" not in entry]


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


def has_other_address(name: str) -> bool:
    """Return whether a variable names another address than the engine's own."""
    return bool(os.environ.get(entry_of(name)["address"][0], "").strip())


def is_configured(name: str) -> bool:
    """Return whether an engine can be asked: its key or server is set, or it needs none.

    A key that is set but malformed counts: the engine's own error then says what is wrong.
    """
    entry = ENGINES[name]
    if entry.get("own_server"):
        return has_other_address(name)
    try:
        return "keys" not in entry or bool(configured_key(*entry["keys"])[1])
    except SearchError:
        return True


def configured_engines() -> list[str]:
    """Return the engines that `auto` may ask, in its order, and that can be asked."""
    return [name for name, entry in ENGINES.items() if entry["auto"] and is_configured(name)]


def engine_order(engine: str) -> list[str]:
    """Return the engines to ask, in order; a named engine is the only one.

    auto: the engine that GLSI_SEARCH_ENGINE names, then those of the table that are configured. An
    engine that costs money is never asked after one that does not. Raises SearchError.
    """
    if engine != "auto":
        return [engine]
    order = configured_engines()
    preferred = os.environ.get("GLSI_SEARCH_ENGINE", "").strip().lower()
    preferred = SPELLINGS.get(preferred, preferred)
    if preferred in ("", "auto"):
        return order
    if preferred not in ENGINES:
        choices = ", ".join(ENGINES)
        message = f"GLSI_SEARCH_ENGINE must be one of {choices}, not {quoted(preferred)}."
        raise SearchError("invalid_input", message, "Unset it to let the program choose.")
    paid = ENGINES[preferred]["paid"]
    others = [name for name in order if paid or not ENGINES[name]["paid"]]
    return list(dict.fromkeys([preferred, *others]))


def chosen_engines(named: list[str], focus: str = "general") -> list[str]:
    """Return the engines that the parameters engine and focus mean; "auto" stands for itself.

    The sources of the focus come first. all: the engines of the table that search the whole web and
    can be asked. Raises SearchError (invalid_input) if auto or all stands beside others.
    """
    names = list(dict.fromkeys(named))
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


def focused_filters(params: dict[str, Any], engine: str) -> dict[str, Any]:
    """Return the filters that the focus of params adds for an engine (or auto)."""
    is_general = engine == "auto" or "web" in ENGINES[engine]["sources"]
    if params.get("focus") == "discussions" and is_general and "site" not in params:
        return {"site": FORUM_SITES}
    return {}


def is_storable(name: str) -> bool:
    """Return whether an engine's results may be stored.

    Brave's terms forbid it unless the plan has storage rights: WEB_SEARCH_STORE=brave says so.
    """
    allowed = os.environ.get("WEB_SEARCH_STORE", "").lower().replace(",", " ").split()
    return ENGINES[name]["stored"] == "always" or name in allowed


# ===== asking =====================================================================================


def check_filters(name: str, params: dict[str, Any]) -> None:
    """Raise SearchError (invalid_input) for a filter, or its value, that the engine cannot do."""
    entry = ENGINES[name]
    for filter_name in FILTERS:
        if filter_name not in params:
            continue
        value = params[filter_name]
        word = "range" if filter_name == "since" and ".." in value else value
        allowed = entry["filters"].get(filter_name, ())
        if allowed is None or word in allowed:
            continue
        shown = ",".join(value) if isinstance(value, list) else value
        message = f"{entry['title']} cannot filter by {filter_name} {quoted(shown)}."
        hint = entry["instead"].get(filter_name, USE_ANOTHER)
        raise SearchError("invalid_input", message, hint)


def ask_engine(name: str, params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search with an engine; return its own document, nothing cut. Never raises.

    params: query, count, filters, timeout, dry_run, verbose; others are left out.
    """
    passed = ("query", "count", "timeout", "dry_run", "verbose", *FILTERS)
    wanted = {key: params[key] for key in passed if key in params}
    wanted["max_chars"] = 0
    entry = ENGINES[name]
    if "function" not in entry:
        from websearch.engines import keyless

        return keyless.run_search({**wanted, "engine": name}, report)
    wanted["count"] = min(wanted["count"], entry["max_count"])
    search = getattr(load_module(name), entry["function"])
    document: Document = search({**wanted, **entry["given"]}, report)
    return document


def results_of(name: str, document: Document, count: int) -> list[dict[str, Any]]:
    """Return an engine's results; empty fields are left out.

    Fields: position, title, url, snippet, date, and author and license if the terms of the source
    ask to show them.
    """
    if "function" in ENGINES[name]:
        found = load_module(name).as_results(document)
    else:
        from websearch.engines import keyless

        found = keyless.as_results(document)
    names = ("title", "url", "snippet", "date", "author", "license")
    return [
        {"position": place, **drop_empty({key: item.get(key) for key in names})}
        for place, item in enumerate(found[:count], 1)
    ]
