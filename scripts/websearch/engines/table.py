"""The table of all search engines, gathered from their modules.

It is the source of every list of engines: the choices of the commands and MCP tools, the order of
`auto`, the checks of doctor.py, the tests' fault matrix and the tables in references/. To add an
engine, write its module (base/engine.py) and add it here (CONTRIBUTING.md).
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
from websearch.engines.base.engine import Host
from websearch.engines.base.search_apis import ApiEngine
from websearch.engines.own_engines import own_engines
from websearch.kit import SearchError, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.engine import Engine

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
    "wayback": Host(
        name="wayback",
        title="The Internet Archive",
        address=("WAYBACK_BASE_URL", "https://web.archive.org"),
        # It allows 30 look-ups per minute, and asks clients to stay below four fifths of that.
        interval=2.7,
        burst=2,
    ),
    "reddit": Host(
        name="reddit",
        title="Reddit",
        address=("REDDIT_BASE_URL", "https://www.reddit.com"),
        interval=30.0,  # for feeds without a login; more requests are answered with 429
    ),
    "x": Host(name="x", title="X", address=("X_BASE_URL", "https://publish.x.com"), interval=1.0),
}
SPELLINGS = {  # what people write
    "ddg": "duckduckgo", "searx": "searxng", "wiki": "wikipedia", "stackoverflow": "stackexchange",
    "hn": "hackernews",
}  # fmt: skip
# Topics of a question. Engines with sources on the topic are queried in addition to the general
# engine, which the parameter engine names.
FOCUSES = ("general", "code", "papers", "discussions", "reference", "news")
CHAINS = ("auto", "keyless")  # names for engines that are queried in turn
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


def host_of(name: str) -> Host:
    """Return an engine, or a host that is read at a limited pace."""
    return ENGINES.get(name) or READ_HOSTS[name]


# ===== available engines ==========================================================================


def configured_engines() -> list[str]:
    """Return the engines of `auto`, in its order.

    WEB_SEARCH_ENGINES sets them. By default they are the table's available engines; a company's
    engine is included only with a key, because without a key the company may keep the queries and
    learn from them. An engine that costs money never follows a free engine. Raises SearchError
    (invalid_input).
    """
    order = owner_engines() or [
        name
        for name, engine in ENGINES.items()
        if engine.auto and engine.is_configured() and (not engine.keyless or engine.has_key())
    ]
    free = [name for name in order if not ENGINES[name].costs_money()]
    first_free = order.index(free[0]) if free else len(order)
    return order[:first_free] + free


def owner_engines() -> list[str]:
    """Return the available engines of WEB_SEARCH_ENGINES; raises SearchError."""
    listed = os.environ.get("WEB_SEARCH_ENGINES", "").lower().replace(",", " ").split()
    names = [known_engine("WEB_SEARCH_ENGINES", name) for name in listed]
    if names and not any(ENGINES[name].is_configured() for name in names):
        message = f"No engine of WEB_SEARCH_ENGINES is available: {', '.join(names)} need a key."
        raise SearchError("auth", message, "Set a key, or add an engine that needs none.")
    return [name for name in dict.fromkeys(names) if ENGINES[name].is_configured()]


def known_engine(variable: str, text: str) -> str:
    """Return the engine in a variable's value; raises SearchError (invalid_input)."""
    name = SPELLINGS.get(text, text)
    if name in ENGINES:
        return name
    message = f"{variable} must be one of {', '.join(ENGINES)}, not {quoted(text)}."
    raise SearchError("invalid_input", message, "Unset it to let the program choose.")


def engine_order(engine: str) -> list[str]:
    """Return the engines to query, in order; a named engine is the only one.

    auto: the engine in GLSI_SEARCH_ENGINE, then configured_engines(). keyless: those that need no
    key. Raises SearchError.
    """
    if engine not in CHAINS:
        return [engine]
    order = configured_engines()
    if engine == "keyless":
        order = [name for name in order if not ENGINES[name].has_key()]
        if not order:
            message = "No engine of WEB_SEARCH_ENGINES answers without a key."
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

    The sources of the focus come first. all: every available engine that searches the whole web.
    Raises SearchError (invalid_input) if such a word is not the only name, or if engines.json has a
    mistake.
    """
    if OWN_ENGINES_ERROR:
        raise OWN_ENGINES_ERROR
    names = list(dict.fromkeys(engines))
    if len(names) > 1 and not {"all", *CHAINS}.isdisjoint(names):
        message = "engine must be auto, keyless, all, or names of engines, "
        message += f"not {quoted(','.join(names))}."
        raise SearchError(
            "invalid_input", message, "Pass only engine names. Or pass only auto, keyless or all."
        )
    if names == ["all"]:
        names = configured_engines()
    if names[0] in CHAINS and focus in WITHOUT_GENERAL_ENGINE:
        names = []
    sources = news_engines(names) if focus == "news" else focus_sources(focus)
    return list(dict.fromkeys([*sources, *names]))


def focus_sources(focus: str) -> list[str]:
    """Return the engines that a focus queries in addition to the general engine."""
    return [name for name, engine in ENGINES.items() if focus in engine.sources]


def news_engines(named: list[str]) -> list[str]:
    """Return the engines to query for news: those named or, by default, those with a key.

    Raises SearchError.

    Engines without a key do not search news separately.
    """
    able = focus_sources("news")
    chosen = [name for name in able if name in named]
    chosen = chosen or [name for name in able if ENGINES[name].has_key()]
    if not chosen:
        keys = " or ".join(ENGINES[name].keys[0] for name in able)
        hint = f"Set {keys}. Or omit {{focus}} and set {{since}} to week."
        raise SearchError("auth", "The news engines need a key, and none is set.", hint)
    return chosen


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
