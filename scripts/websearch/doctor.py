"""The report on what works on this machine: settings, engines, store, and the rest.

The checks of keys, addresses and engines are made from the table of engines, so a new engine
appears by itself. Nothing is sent without `live`. A key is never shown.
"""

from __future__ import annotations

import functools
import os
import re
import sys

from websearch import command_line, common, doctor_live, doctor_machine, http_client
from websearch.common import SearchError, quoted, shorten
from websearch.doctor_live import ANSWERING
from websearch.doctor_machine import INSTALL_HINT, MAX_NAMED, check
from websearch.engines import (
    ENGINES,
    GITHUB_RAW,
    READ_HOSTS,
    ask_engine,
    engine_address,
    engine_order,
    has_other_address,
    keyless_engines,
)
from websearch.http_client import hide_credentials
from websearch.ledger import BUDGET_VARIABLE, budget_warnings, budgets, paid_engines, this_month

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Document, ProgressCallback
    from websearch.doctor_machine import Check

# ===== commands and their parameters ==============================================================

# fmt: off
COMMANDS: dict[str, dict[str, Any]] = {
    "check": {
        "help": "check what works on this machine",
        "params": [
            {"name": "live", "type": "bool", "default": False,
             "help": "also ask the providers, with requests that cost nothing"},
        ],
        "cannot": {"query": "This command searches nothing; web_search.py does."},
    },
}

# name of a key -> its variables, of which the first that is set is used; what needs it.
KEYS: dict[str, tuple[tuple[str, ...], str]] = {
    **{name: (entry["keys"], f"{entry['module']}.py" if "function" in entry else f"engine {name}")
       for name, entry in ENGINES.items() if "keys" in entry},
    **{name: (variables, "gemini_search.py") for name, (_, variables) in ANSWERING.items()},
    "brave answers": (("BRAVE_ANSWERS_API_KEY",), "brave_search.py answers"),
    "brave suggest": (("BRAVE_SUGGEST_API_KEY",), "brave_search.py suggest"),
    "brave spellcheck": (("BRAVE_SPELLCHECK_API_KEY",), "brave_search.py spellcheck"),
}
# All variables that hold a key, also the one that only raises limits.
KEY_NAMES = [*(name for variables, _ in KEYS.values() for name in variables), "GITHUB_TOKEN"]
# Where to get a key, for the providers that have a line even without one.
KEY_SITES = {
    **{name: entry["key_site"] for name, entry in ENGINES.items() if "key_site" in entry},
    "gemini": "https://aistudio.google.com/apikey",
}
# Variables of addresses: those of the table, and those of other requests.
OWN_SERVERS = {entry["address"][0]: name for name, entry in ENGINES.items()
               if entry.get("own_server")}
ADDRESSES = (
    *(entry["address"][0] for entry in ENGINES.values() if not entry.get("own_server")),
    *(entry["address"][0] for entry in READ_HOSTS.values()), GITHUB_RAW[0],
    "SERPER_SCRAPE_BASE_URL", "GEMINI_BASE_URL", "VERTEX_BASE_URL", "CODE_ASSIST_BASE_URL",
)
# Variable of other programs for the address of a server -> the variable that is read here.
OTHER_SPELLINGS = {"SEARXNG_URL": "SEARXNG_BASE_URL", "SEARXNG_INSTANCE_URL": "SEARXNG_BASE_URL"}
# fmt: on

# ===== secrets.yaml and keys ======================================================================


def quietly(work: Callable[[], Any]) -> Any:
    """Return what work returns, without its warnings on stderr: the report has lines for those."""
    import contextlib
    import io

    with contextlib.redirect_stderr(io.StringIO()):
        return work()


def check_secrets_file() -> list[Check]:
    """Return the lines on secrets.yaml: whether it can be read, by whom, and what it holds.

    Faults name lines by number only, because a faulty line may hold a key.
    """
    name, path = "secrets file", http_client.secrets_path()
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read(common.MAX_INPUT_BYTES)
            mode = os.fstat(file.fileno()).st_mode & 0o777
    except (FileNotFoundError, NotADirectoryError):
        if os.environ.get("WEB_SEARCH_SECRETS"):
            message = f"WEB_SEARCH_SECRETS names {path}, which is not there."
            return [check(name, "warning", message, "Correct or unset WEB_SEARCH_SECRETS.")]
        return [check(name, "ok", f"none (it would be {path})")]
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}."
        return [check(name, "failed", message, "Make it a file that you can read.")]
    lines = []
    if os.name == "posix" and mode & 0o077:
        message = f"Others can read {path}."
        lines.append(check(name, "warning", message, f"Run: chmod 600 '{path}'"))
    faults = secrets_faults(text)
    if faults:
        hint = "Write lines such as SERPER_API_KEY: ..., each name once, or comments with #."
        lines.append(check(name, "warning", f"{path}: {'; '.join(faults)}.", hint))
    return lines or [check(name, "ok", path)]


def secrets_faults(text: str) -> list[str]:
    """Return what is wrong in secrets.yaml, by line number, without showing the line."""
    faults, seen = [], set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = re.match(r"\s*([A-Z][A-Z0-9_]*)\s*:", line)
        # The value as http_client.read_secrets reads it: one word, or in quotation marks.
        value = r"""\s*("[^"]*"|'[^']*'|[^\s#'"]\S*)?\s*(#.*)?"""
        if not found or not re.fullmatch(value, line[found.end() :]):
            faults.append(f"line {number} is no NAME: value")
            continue
        name = found[1]
        if name in seen:
            shown = name if name in KEY_NAMES else "a name"
            faults.append(f"line {number} gives {shown} again")
        seen.add(name)
        if name not in KEY_NAMES:
            near = common.nearest(name, KEY_NAMES, "name")
            faults.append(f"line {number} has a name that no script reads. {near}".rstrip(" ."))
    more = len(faults) - MAX_NAMED
    return faults[:MAX_NAMED] + [f"{more} more lines"] * (more > 0)


def check_keys() -> list[Check]:
    """Return a line for each provider's key: whether and where it is set, and if it can be one."""
    secrets = quietly(http_client.read_secrets)
    lines = []
    for provider, (variables, user) in KEYS.items():
        found = [(variable, place, source[variable])
                 for place, source in (("the environment", os.environ), ("secrets.yaml", secrets))
                 for variable in variables if source.get(variable, "").strip()]  # fmt: skip
        name = f"{provider} key"
        others = quietly(gemini_alternatives) if provider == "gemini" and not found else []
        if found:
            lines.append(key_line(name, found))
        elif others:
            message = f"{variables[0]} is not set; {user} uses {others[0]}."
            lines.append(check(name, "ok", message))
        elif provider in KEY_SITES:
            empty = [variable for variable in variables if variable in {**os.environ, **secrets}]
            state = f"{empty[0]} is empty" if empty else f"{variables[0]} is not set"
            hint = f"Get a key at {KEY_SITES[provider]} and set {variables[0]} in the environment "
            hint += f"or in {http_client.secrets_path()}; no other script needs it."
            lines.append(check(name, "warning", f"{state}; {user} cannot be used.", hint))
    return lines


def gemini_alternatives() -> list[str]:
    """Return the providers that gemini_search.py can use instead of the Gemini API."""
    import gemini_search

    try:
        order = gemini_search.provider_order()
    except gemini_search.SearchError:  # GEMINI_PROVIDERS is wrong; the script itself says so
        return []
    others = [provider for provider in order if provider != "gemini"]
    return [name for name in others if gemini_search.configuration_error(name) is None]


def key_line(name: str, found: list[tuple[str, str, str]]) -> Check:
    """Return the line on a key; found holds (variable, place, value), the first one is used."""
    variable, place, value = found[0]
    value = value.strip()
    where = f"{variable} in {place}"
    hint = f"Copy the key into {variable} again, without quotation marks or spaces."
    if not re.fullmatch(r"[!-~]+", value):  # as http_client.configured_key sees it
        return check(name, "failed", f"{where} holds characters that no key has.", hint)
    if value[0] in "\"'" or value[-1] in "\"'":
        return check(name, "failed", f"{where} has quotation marks around it.", hint)
    if re.search(r"^\$|\$\{|^%.*%$|^<.*>$|your[-_]|api[-_]?key|changeme|^x{3,}$", value.lower()):
        message = f"{where} looks like a placeholder that nobody has replaced."
        return check(name, "warning", message, f"Set {variable} to the key itself.")
    others = [f"{other} in {where_else}" for other, where_else, _ in found[1:]]
    unused = f"; not used: {', '.join(others)}" if others else ""
    return check(name, "ok", f"set: {where}{unused}")


# ===== addresses ==================================================================================


def check_addresses() -> list[Check]:
    """Return a line for each address that a variable sets."""
    lines = [address_line(name) for name in ADDRESSES if os.environ.get(name, "").strip()]
    lines += [own_server_line(variable, engine) for variable, engine in OWN_SERVERS.items()
              if has_other_address(engine)]  # fmt: skip
    lines += [
        check(name, "warning", f"No script reads {name}.", f"Set {variable} to that address.")
        for name, variable in OTHER_SPELLINGS.items()
        if os.environ.get(name, "").strip() and not os.environ.get(variable, "").strip()
    ]
    return lines or [check("addresses", "ok", "no variable changes where requests go")]


def address_line(variable: str) -> Check:
    """Return the line on the address of an API or of an engine's result pages."""
    try:
        address = http_client.base_url(variable, "")
    except SearchError:
        engines = [name for name, entry in ENGINES.items() if entry["address"][0] == variable]
        kind = "invalid_input" if engines and not works_without(engines) else ""
        shown = hide_credentials(os.environ[variable].strip())
        message = f"{variable} is {quoted(shown)}, which is not the address of an API."
        hint = f"Unset {variable}, or begin it with https:// (http:// on loopback only)."
        return check(variable, "failed", message, hint, kind)
    if http_client.is_loopback(address):
        message = f"{address}: requests, keys included, go to this machine."
        hint = f"Unset {variable}, if that is not what you want."
        return check(variable, "warning", message, hint)
    return check(variable, "ok", f"requests go to {address}")


def own_server_line(variable: str, engine: str) -> Check:
    """Return the line on the address of the user's own server."""
    try:
        return check(variable, "ok", f"your {ENGINES[engine]['title']}: {engine_address(engine)}")
    except SearchError:
        shown = hide_credentials(os.environ[variable].strip())
        message = f"{variable} is {quoted(shown)}, which is not an address."
        return check(variable, "failed", message, "For example http://localhost:8080.")


# ===== engines ====================================================================================


def works_without(engines: list[str]) -> bool:
    """Return whether an automatic search can ask another engine than these; nothing is sent.

    True also if the order of engines is invalid, which is another line's failure.
    """

    def can_be_asked(engine: str) -> bool:
        plan = {"query": "test", "count": 1, "dry_run": True}
        return bool(quietly(lambda: ask_engine(engine, plan))["ok"])

    try:
        others = [engine for engine in default_engines() if engine not in engines]
        return any(map(can_be_asked, others))
    except (ImportError, SearchError):
        return True


def default_engines() -> list[str]:
    """Return the engines that an automatic search asks, in order; raises SearchError."""
    order: list[str] = quietly(lambda: engine_order("auto"))
    return order


def check_default_engine() -> list[Check]:
    """Return the line on what web_search.py asks by default, and whether that can answer now."""
    from websearch.engines import pacing

    name = "default engine"
    try:
        first, *others = default_engines()
    except SearchError as error:
        return [check(name, "failed", error.message, error.details["hint"], error.kind)]
    states = pacing.engine_states()
    resting = [engine for engine in (first, *others) if states.get(engine, {}).get("resting")]
    if len(resting) == 1 + len(others):
        seconds = min(states[engine]["rest_seconds"] for engine in resting)
        message = "Every engine rests after a block; the first for "
        message += f"{pacing.spoken(seconds)} more."
        keys = [entry["keys"][0] for entry in ENGINES.values() if "keys" in entry and entry["auto"]]
        hint = f"Wait, or set a key: {' or '.join(keys)}."
        return [check(name, "failed", message, hint, "blocked")]
    message = f"web_search.py asks {first} first"
    message += f", then {', '.join(others)}" if others else ", which needs no key"
    return [check(name, "ok", message)]


def check_keyless_engines() -> list[Check]:
    """Return the lines on the settings and the pacing of the engines that need no key."""
    from websearch.engines import browser_headers, pacing

    name = "keyless engines"
    lines = []
    try:
        pacing.request_interval()
        browser_headers.browser_headers({}, "https://example.org")
    except SearchError as error:  # GLSI_RATE_LIMIT or GLSI_USER_AGENT
        kind = "" if works_without(keyless_engines()) else error.kind
        lines.append(check(name, "failed", error.message, error.details["hint"], kind))
    states = pacing.engine_states()
    for engine, state in states.items():
        if state["resting"]:
            source = engine.partition(" ")[0]
            message = f"{ENGINES[source]['title']} rests for {pacing.spoken(state['rest_seconds'])}"
            message += f" more, because it blocked a request with {state['signal']}."
            hint = f"Wait; until then use {pacing.other_engines(source)}."
            lines.append(check(name, "warning", message, hint))
    path = pacing.pacing_path()
    if not path or not is_writable(path):
        message = f"Their pacing cannot be kept in {path or 'a home folder'}: it holds within one "
        message += "process only, so parallel calls may draw a block."
        hint = "Set HOME, or GLSI_DB_PATH to a file in a writable folder."
        lines.append(check(name, "warning", message, hint))
    ready = [
        engine + engine_facts(state) for engine, state in states.items() if not state["resting"]
    ]
    rest = "none rests" if len(ready) == len(states) else "the others can be asked"
    return [*lines, check(name, "ok", f"{rest}: {', '.join(ready)}")] if ready else lines


def engine_facts(state: dict[str, Any]) -> str:
    """Return what is known of an engine's quota and of the wait for its next request, or ""."""
    from websearch.engines.pacing import spoken

    facts = []
    if "remaining" in state:
        renewal = spoken(state["renewal_seconds"])
        facts.append(f"{state['remaining']} requests left, renewed in {renewal}")
    if state.get("queue_seconds"):
        facts.append(f"next request in {spoken(state['queue_seconds'])}")
    return f" ({'; '.join(facts)})" if facts else ""


# ===== what is kept, logged and allowed ===========================================================


def check_store() -> list[Check]:
    """Return the lines on the store of answers and pages."""
    from contextlib import closing

    from websearch.store import PageStore

    with closing(PageStore()) as store:
        facts = store.stats()
    place, name = facts["path"], "store"
    if store.warnings:
        return [
            check(name, "warning", text, "Searches work without it.") for text in store.warnings
        ]
    if place == ":memory:":
        return [check(name, "ok", "kept nowhere (GLSI_DB_PATH is :memory:)")]
    if not place or not is_writable(place):
        message = f"{place or 'Without a home folder it'} cannot be written, so nothing is kept."
        hint = "Searches work without it. Set GLSI_DB_PATH to a file in a writable folder."
        return [check(name, "warning", message, hint)]
    if not os.path.exists(place):
        return [check(name, "ok", f"nothing kept yet (it would be {place})")]
    size = f"{facts['bytes'] / 1e6:.1f} MB"
    held = f"{facts['answers']} answers, {facts['pages']} pages"
    return [check(name, "ok", f"{place} ({size}, {held})")]


def asks_paid_engine() -> bool:
    """Return whether an automatic search may ask an engine that costs money.

    False also if the order of engines is invalid, which is another line's failure.
    """
    try:
        return any(ENGINES[engine]["paid"] for engine in default_engines())
    except SearchError:
        return False


def check_spending() -> list[Check]:
    """Return the line on requests that cost money and on budgets; none if there are neither."""
    from contextlib import closing

    from websearch.store import PageStore

    name = "spending"
    try:
        limits = budgets()
    except SearchError as error:
        kind = error.kind if asks_paid_engine() else ""
        return [check(name, "failed", error.message, error.details["hint"], kind)]
    with closing(PageStore()) as store:
        spent = store.spent(this_month())
        warnings = budget_warnings(limits, store)
    parts = [
        f"{engine} {spent.get(engine, 0)}" + (f" of {limits[engine]}" if engine in limits else "")
        for engine in paid_engines()
        if engine in spent or engine in limits
    ]
    if not parts:
        return []
    message = f"requests that cost money in {this_month()}: {', '.join(parts)}"
    hint = f"An engine is not asked once its number in {BUDGET_VARIABLE} is reached."
    return [check(name, "warning", message, hint) if warnings else check(name, "ok", message)]


def check_log() -> list[Check]:
    """Return the line on the log of queries; none if there is no log."""
    path = os.environ.get("WEB_SEARCH_LOG", "")
    if not path:
        return []
    if not is_writable(os.path.expanduser(path)):
        message = f"WEB_SEARCH_LOG names {path}, which cannot be written."
        return [check("log", "warning", message, "Name a file in a writable folder.")]
    return [check("log", "ok", f"every query is written to {path} (WEB_SEARCH_LOG)")]


def is_writable(path: str) -> bool:
    """Return whether a file can be written, or made in a folder that is there or can be made."""
    path = os.path.abspath(path)
    if os.path.exists(path):
        return not os.path.isdir(path) and os.access(path, os.W_OK)
    while not os.path.exists(path) and path != os.path.dirname(path):  # Windows may lack a drive
        path = os.path.dirname(path)
    return os.path.isdir(path) and os.access(path, os.W_OK)


def check_private_addresses() -> list[Check]:
    """Return the line on the private addresses that read_page.py may fetch; none without any."""
    given = os.environ.get("WEB_SEARCH_ALLOW_PRIVATE", "").strip()
    if not given:
        return []
    wrong = [item for item in given.split(",") if not re.search(r"[^\s]:\d+\s*$", item)]
    if wrong:
        message = f"WEB_SEARCH_ALLOW_PRIVATE: {quoted(wrong[0].strip())} is no host:port."
        return [check("private addresses", "warning", message, "Write host:port,host:port.")]
    return [check("private addresses", "ok", f"read_page.py may fetch {shorten(given, 200)}")]


# ===== operation ==================================================================================

CHECKS: dict[str, Callable[[], list[Check]]] = {
    "python": doctor_machine.check_python,
    "uv": doctor_machine.check_uv,
    "skill folder": doctor_machine.check_skill_folder,
    "installed": doctor_machine.check_installed,
    "default engine": check_default_engine,
    "secrets file": check_secrets_file,
    "keys": check_keys,
    "addresses": check_addresses,
    "proxy": doctor_machine.check_proxies,
    "certificates": doctor_machine.check_certificates,
    "keyless engines": check_keyless_engines,
    "sqlite": doctor_machine.check_sqlite,
    "browser": doctor_machine.check_browser,
    "store": check_store,
    "spending": check_spending,
    "log": check_log,
    "private addresses": check_private_addresses,
}


def guarded(name: str, work: Callable[[], list[Check]]) -> list[Check]:
    """Return the lines of one check; one that breaks becomes a line and stops no other check."""
    try:
        return work()
    except ImportError as error:
        message, hint = f"It could not be checked: {error.name} cannot be loaded.", INSTALL_HINT
    except Exception as error:  # noqa: BLE001  a broken machine is what this script is run on
        place = common.internal_error(error, verbose=False)["error"]
        message, hint = f"It could not be checked. {place}", "Report it, with this message."
    kind = "internal" if name == "default engine" else ""
    return [check(name, "failed", message, hint, kind)]


def run_check(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Check everything; the document holds a line for each check. Never raises.

    ok is false only if no search works; error and details then say why.
    """

    def operation(params: dict[str, Any]) -> Document:
        deadline = common.deadline_of(params)
        secrets = quietly(http_client.read_secrets)
        providers = doctor_live.live_providers(secrets) if params["live"] else []
        if params.get("dry_run"):
            raise common.DryRun(doctor_live.planned_requests(providers))
        checks = [line for name, work in CHECKS.items() for line in guarded(name, work)]
        for number, provider in enumerate(providers, 1):
            if report:
                report(f"asking {provider}", number, len(providers))
            work = functools.partial(live_lines, provider, deadline)
            checks += guarded(f"{provider} live", work)
        return report_document(checks, secrets)

    return common.run_operation("doctor.check", COMMANDS["check"], params, operation)


def live_lines(provider: str, deadline: float) -> list[Check]:
    """Return the line on a provider that is asked now."""
    return [check(f"{provider} live", *doctor_live.ask_provider(provider, deadline))]


def report_document(checks: list[Check], secrets: dict[str, str]) -> Document:
    """Return the document of all lines: an error document if a line says that no search works.

    secrets: what secrets.yaml holds. Keys are hidden in every line, because a variable that should
    hold an address may hold a key by mistake.
    """
    keys = {source.get(name, "").strip() for source in (os.environ, secrets) for name in KEY_NAMES}
    long = (key for key in keys if len(key) >= http_client.SHORTEST_KEY)
    hidden = sorted(long, key=len, reverse=True)
    lines = []
    for line in checks:
        for key in hidden:
            line = {field: text.replace(key, "[key]") for field, text in line.items()}  # noqa: PLW2901
        lines.append(line)
    fatal = [line for line in lines if "kind" in line]
    document: Document = {"ok": not fatal, "provider": "doctor"}
    if fatal:
        reason = SearchError(fatal[0]["kind"], fatal[0]["message"], fatal[0]["hint"])
        document = {**common.error_document(reason), "provider": "doctor"}
    for line in lines:
        line.pop("kind", None)
    cleaned: Document = common.clean_tree({**document, "checks": lines})
    return cleaned


RUN: dict[str, Callable[..., Document]] = {"check": run_check}

# ===== the document for people ====================================================================


def to_markdown(document: Document) -> str:
    """Return the report as a Markdown list, a line for each check."""
    if "checks" not in document:
        if document["ok"]:  # a dry run
            plans = [f"- {item['method']} {item['url']}" for item in document["request"]]
            return "\n".join(plans) or "Nothing would be sent."
        return common.error_markdown(document)
    lines = []
    for line in document["checks"]:
        hint = f" {line['hint']}" if "hint" in line else ""
        lines.append(f"- {line['status']:<8} {line['name']}: {line['message']}{hint}")
    counts = {status: sum(line["status"] == status for line in document["checks"])
              for status in ("ok", "warning", "failed")}  # fmt: skip
    summary = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    verdict = "A search works" if document["ok"] else "No search works"
    reason = "" if document["ok"] else f"\n\n{common.error_markdown(document)}"
    return "\n".join(lines) + f"\n\n{verdict}: {summary}.{reason}"


def main(description: str, argv: list[str] | None) -> int:
    """Run the command line; return the exit code. On a terminal the default is Markdown.

    description: the help text. argv: the words after the program's name, None for sys.argv's.
    """
    command_line.open_closed_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    chosen = any(word.split("=")[0] in ("--format", "--pretty", "--output") for word in words)
    if sys.stdout.isatty() and not chosen:
        words += ["--format", "markdown"]
    script = {
        "name": "doctor.py",
        "description": description,
        "commands": COMMANDS,
        "run": RUN,
        "to_markdown": to_markdown,
    }
    return command_line.run_command_line(script, words)
