"""The table of all search engines, gathered from their modules.

It is the source of every list of engines: the choices of the commands and MCP tools, the order of
`auto`, the checks of doctor.py, the tests' fault matrix and the tables in references/. To add an
engine, write its module (base/engine.py describes the interface) and add it here (see
CONTRIBUTING.md).
"""

from __future__ import annotations

import os

from websearch.base.site_rules import allowed_sites
from websearch.engines import (
    arxiv,
    brave,
    crossref,
    duckduckgo,
    github,
    google,
    hackernews,
    search_apis,
    searxng,
    serper,
    stackexchange,
    wikipedia,
)
from websearch.engines.base.engine import Engine
from websearch.engines.base.search_apis import ApiEngine
from websearch.engines.own_engines import own_engines
from websearch.kit import SearchError, quoted, read_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# name -> engine, in the order of `auto`: keys first, because an engine with a key is reliable.
ENGINES: dict[str, Engine] = {
    engine.name: engine
    for module in (
        brave, serper, search_apis, searxng, duckduckgo, google, wikipedia, stackexchange,
        hackernews, github, crossref, arxiv,
    )
    for engine in (module.ENGINES if module is search_apis else (module.ENGINE,))
}  # fmt: skip
# Addresses of hosts that are read but not searched: (variable, default address).
GITHUB_RAW = ("GITHUB_RAW_BASE_URL", "https://raw.githubusercontent.com")
# Hosts that are read at a limited pace, like engines.
READ_HOSTS = {
    "wayback": Engine(
        name="wayback",
        title="The Internet Archive",
        address=("WAYBACK_BASE_URL", "https://web.archive.org"),
        # It allows 30 look-ups per minute, and asks clients to stay below four fifths of that.
        interval=2.7,
        burst=2,
    ),
    "reddit": Engine(
        name="reddit",
        title="Reddit",
        address=("REDDIT_BASE_URL", "https://www.reddit.com"),
        interval=30.0,  # for feeds without a login; beyond that, Reddit answers with 429
    ),
    "x": Engine(name="x", title="X", address=("X_BASE_URL", "https://publish.x.com"), interval=1.0),
}
SPELLINGS = {  # what people write
    "ddg": "duckduckgo", "searx": "searxng", "wiki": "wikipedia", "stackoverflow": "stackexchange",
    "hn": "hackernews",
}  # fmt: skip
# Topics of questions. Engines that cover the topic are queried in addition to the general engine,
# which the parameter engine names.
FOCUSES = ("general", "code", "papers", "discussions", "reference", "news")
CHAINS = ("auto", "keyless")  # names for engines that are queried in turn
BUDGET_VARIABLE = "WEB_SEARCH_BUDGET"
TOTAL = "total"  # in a budget: requests to all engines together
# Ordinary result pages contain few papers, and mix old pages with the news.
WITHOUT_GENERAL_ENGINE = ("papers", "news")
# Where the general engine looks for discussions, in addition to the sources of that focus.
FORUM_SITES = ["reddit.com", "lobste.rs", "quora.com", "stackexchange.com"]
# The user's own engines are the first of auto; a mistake in engines.json stops every search.
OWN_ENGINES, OWN_ENGINES_ERROR = own_engines((*ENGINES, *SPELLINGS, *CHAINS, "all"))
ENGINES = {**OWN_ENGINES, **ENGINES} if OWN_ENGINES else ENGINES


def load_module(name: str) -> Any:
    """Return an engine's module, imported at first use, or the ApiEngine that runs its row."""
    import importlib

    if ENGINES[name].api:
        return ApiEngine(ENGINES[name])
    return importlib.import_module(ENGINES[name].module)


def keyless_engines() -> list[str]:
    """Return the names of the engines that answer without a key."""
    return [name for name, engine in ENGINES.items() if engine.needs_no_key()]


def host_of(name: str) -> Engine:
    """Return an engine, or a host that is read at a limited pace."""
    return ENGINES.get(name) or READ_HOSTS[name]


# ===== available engines ==========================================================================


def paid_engines() -> list[str]:
    """Return the names of the engines that cost money."""
    return [name for name, engine in ENGINES.items() if engine.paid]


def budgets() -> dict[str, int]:
    """Return engine (or TOTAL) -> requests per month, from WEB_SEARCH_BUDGET. Raises SearchError.

    The environment takes precedence over secrets.yaml.
    """
    value = os.environ.get(BUDGET_VARIABLE, "").strip() or read_secrets().get(BUDGET_VARIABLE, "")
    limits: dict[str, int] = {}
    for item in filter(None, map(str.strip, value.split(","))):
        name, _, number = item.partition(":")
        name, number = name.strip().lower(), number.strip()
        if name not in (*paid_engines(), TOTAL) or not (number.isascii() and number.isdecimal()):
            example = "engines and numbers such as brave:900,serper:2000 or total:3000"
            message = f"{BUDGET_VARIABLE} must be {example}, not {quoted(item)}."
            names = " or ".join((*paid_engines(), TOTAL))
            hint = f"Set a whole number of requests per month for {names}."
            raise SearchError("invalid_input", message, hint)
        limits[name] = int(number)
    return limits


def owner_engines() -> list[str]:
    """Return the engines in WEB_SEARCH_ENGINES; raises SearchError."""
    listed = os.environ.get("WEB_SEARCH_ENGINES", "").lower().replace(",", " ").split()
    return list(dict.fromkeys(known_engine("WEB_SEARCH_ENGINES", name) for name in listed))


def is_open(name: str) -> bool:
    """Return whether an engine is available and may be used although the caller did not name it.

    An engine that costs money needs the owner's consent: an entry in WEB_SEARCH_ENGINES, if that is
    set, and an entry in the budget, if there is a budget. Raises SearchError.
    """
    engine = ENGINES[name]
    if not (engine.is_configured() and engine.costs_money()):
        return engine.is_configured()
    listed, limits = owner_engines(), budgets()
    return (name in listed or not listed) and (bool({name, TOTAL} & limits.keys()) or not limits)


def is_keyless(name: str) -> bool:
    """Return whether requests to an engine carry no key."""
    return ENGINES[name].needs_no_key() and not ENGINES[name].has_key()


def configured_engines() -> list[str]:
    """Return the engines of `auto`, in its order.

    WEB_SEARCH_ENGINES sets them. By default they are the table's available engines; a company's
    engine is included only with a key, because without a key the company may keep the queries and
    learn from them. An engine that costs money never follows a free engine. Raises SearchError
    (invalid_input; auth or quota if no engine in WEB_SEARCH_ENGINES may be used).
    """
    listed = owner_engines()
    if listed and not any(ENGINES[name].is_configured() for name in listed):
        message = f"No engine in WEB_SEARCH_ENGINES is available: {', '.join(listed)} need a key."
        raise SearchError("auth", message, "Set a key, or add an engine that needs none.")
    order = [name for name in listed or ENGINES if is_open(name)]
    if not listed:
        order = [
            name
            for name in order
            if ENGINES[name].auto and (not ENGINES[name].keyless or ENGINES[name].has_key())
        ]
    if not order:
        message = f"{BUDGET_VARIABLE} has no entry for the engines in WEB_SEARCH_ENGINES."
        hint = f"Add one, such as {listed[0]}:100. Or name the {{engine}}."
        raise SearchError("quota", message, hint)
    free = [name for name in order if not ENGINES[name].costs_money()]
    first_free = order.index(free[0]) if free else len(order)
    return order[:first_free] + free


def known_engine(variable: str, text: str) -> str:
    """Return the engine in a variable's value; raises SearchError (invalid_input)."""
    name = SPELLINGS.get(text, text)
    if name in ENGINES:
        return name
    message = f"{variable} must be one of {', '.join(ENGINES)}, not {quoted(text)}."
    raise SearchError("invalid_input", message, "Unset it to let the program choose.")


def engine_order(engine: str) -> list[str]:
    """Return the engines to query, in order; if an engine is named, only that engine.

    auto: the engine in GLSI_SEARCH_ENGINE, then configured_engines(). keyless: those that need no
    key. Raises SearchError.
    """
    if engine not in CHAINS:
        return [engine]
    order = configured_engines()
    if engine == "keyless":
        order = [name for name in order if is_keyless(name)]
        if not order:
            message = "No engine in WEB_SEARCH_ENGINES answers without a key."
            raise SearchError("auth", message, "Add one that does, such as duckduckgo.")
        return order
    preferred = os.environ.get("GLSI_SEARCH_ENGINE", "").strip().lower()
    if preferred in ("", "auto"):
        return order
    first = known_engine("GLSI_SEARCH_ENGINE", preferred)
    if not ENGINES[first].costs_money():
        order = [name for name in order if not ENGINES[name].costs_money()]
    return list(dict.fromkeys([first, *order]))


def chosen_engines(engines: list[str], focus: str = "general") -> list[str]:
    """Return the engines for the parameters engine and focus; names of CHAINS stay.

    The sources of the focus come first: those that the parameter engine allows. all: every
    available engine that searches the whole web. Raises SearchError (invalid_input) if such a word
    is not the only name, if engine allows no source of the focus, or if engines.json has a mistake.
    """
    if OWN_ENGINES_ERROR:
        raise OWN_ENGINES_ERROR
    names = list(dict.fromkeys(engines))
    if len(names) > 1 and not {"all", *CHAINS}.isdisjoint(names):
        message = "engine must be auto, keyless, all, or names of engines, "
        message += f"not {quoted(','.join(names))}."
        hint = "Pass only engine names. Or pass only auto, keyless or all."
        if "keyless" in names:
            hint += f" keyless means {', '.join(filter(is_keyless, configured_engines()))}."
        raise SearchError("invalid_input", message, hint)
    sources = [name for name in focus_sources(focus) if is_allowed(name, names)]
    if focus in WITHOUT_GENERAL_ENGINE:
        if not sources:
            raise no_source(focus, names)
        return sources
    names = configured_engines() if names == ["all"] else names
    return list(dict.fromkeys([*sources, *names]))


def focus_sources(focus: str) -> list[str]:
    """Return the engines that a focus queries in addition to the general engine."""
    return [name for name, engine in ENGINES.items() if focus in engine.sources]


def open_focuses() -> list[str]:
    """Return the focuses that auto has an engine for."""
    return [
        focus for focus in FOCUSES if focus == "general" or any(map(is_open, focus_sources(focus)))
    ]


def is_allowed(name: str, engines: list[str]) -> bool:
    """Return whether the parameter engine (a list) lets a focus query an engine."""
    if engines == ["keyless"]:
        return is_keyless(name)
    return name in engines or (engines in (["auto"], ["all"]) and is_open(name))


def no_source(focus: str, engines: list[str]) -> SearchError:
    """Return the error for a focus none of whose sources the parameter engine allows."""
    able = focus_sources(focus)
    without_focus = "omit {focus}" + (" and set {since} to week" if focus == "news" else "")
    if not any(ENGINES[name].is_configured() for name in able):
        keys = " or ".join(ENGINES[name].keys[0] for name in able)
        message = f"The {focus} engines need a key, and none is set."
        return SearchError("auth", message, f"Set {keys}. Or {without_focus}.")
    message = f"focus {focus} needs {' or '.join(able)}, which engine {','.join(engines)} excludes."
    useful = " or ".join(name for name in able if ENGINES[name].is_configured())
    return SearchError("invalid_input", message, f"Set {{engine}} to {useful}. Or {without_focus}.")


def fallback_engines() -> list[str]:
    """Return the engines for a question without a focus if the engines of `auto` fail."""
    return [name for name, engine in ENGINES.items() if engine.is_fallback]


def focused_filters(engine: str, focus: str, filters: dict[str, Any]) -> dict[str, Any]:
    """Return the filters that a focus and the owner's rules add to the caller's filters."""
    is_general = "web" in ENGINES[engine].sources
    if "site" in filters or not is_general:
        return {}
    if focus == "discussions":
        return {"site": FORUM_SITES}
    sites = allowed_sites() if "site" in ENGINES[engine].filters else []
    return {"site": sites} if sites else {}
