"""Report on this machine: settings, keys, engines, store and installation.

The checks of keys, addresses and engines use the table of engines, so new engines appear
automatically. Without `live`, nothing is sent. Keys are never shown.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import closing

from websearch import kit
from websearch.base.durations import spoken
from websearch.engines.base.ledger import UNCOUNTED, budget_warnings, this_month
from websearch.engines.table import (
    BUDGET_VARIABLE,
    ENGINES,
    GITHUB_RAW,
    OWN_ENGINES_ERROR,
    READ_HOSTS,
    TOTAL,
    budgets,
    engine_order,
    keyless_engines,
    paid_engines,
)
from websearch.kit import (
    SearchError,
    deadline_of,
    error_markdown,
    internal_error,
    run_operation,
    shorten,
)
from websearch.machine import doctor_machine as machine
from websearch.machine import key_file
from websearch.machine.doctor_machine import INSTALL_HINT, failed, ok, warning
from websearch.machine.key_file import KEY_NAMES, KEYS
from websearch.search.defaults import user_defaults
from websearch.search.engine_calls import planned_request
from websearch.ways_in.terminal import PROGRAM_VARIABLE, to_terminal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.engines.base.pacing import EngineState
    from websearch.kit import Command, Document, ProgressCallback
    from websearch.machine.doctor_machine import Line

# ===== commands and their parameters ==============================================================

# fmt: off
COMMANDS: dict[str, Command] = {
    "check": {
        "help": "check what works on this machine",
        "params": [
            {"name": "live", "type": "bool", "default": False,
             "help": "also send each engine of auto a question, which may cost money"},
        ],
        "cannot": {"query": "This command does not search. Use web_search.py."},
    },
    **key_file.COMMANDS,
}

# Where to get keys, for the providers that have a line in the report even without a key.
LOOKUP_SECONDS = 1.0  # seconds to look up the name that shows whether addresses are fake
NO_NETWORK = "No name can be looked up: this machine has no network or no name server."
UNRESOLVED = "could not be resolved"  # in the message of an engine's error
PROXY_VARIABLES = ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")
KEY_SITES = {
    **{name: engine.key_site for name, engine in ENGINES.items() if engine.key_site},
    "gemini": "https://aistudio.google.com/apikey",
}
# Variables for addresses: the user's own servers (-> engine), and all others.
OWN_SERVERS = {engine.address[0]: name for name, engine in ENGINES.items() if engine.own_server}
ADDRESSES = (
    *(engine.address[0] for engine in ENGINES.values()
      if engine.address[0] and not engine.own_server),
    *(host.address[0] for host in READ_HOSTS.values()), GITHUB_RAW[0],
    "SERPER_SCRAPE_BASE_URL", "GEMINI_BASE_URL", "VERTEX_BASE_URL", "CODE_ASSIST_BASE_URL",
)
# fmt: on

# ===== keys and addresses =========================================================================


def check_secrets_file() -> list[Line]:
    """Return the lines about secrets.yaml: its permissions, invalid lines and defaults.

    Invalid lines are shown only by number, because they may contain a key.
    """
    name, path = "secrets file", kit.secrets_path()
    try:
        text = key_file.read_text(path)
    except FileNotFoundError:
        if os.environ.get("WEB_SEARCH_SECRETS"):
            message = f"WEB_SEARCH_SECRETS points to {path}, which does not exist."
            return [warning(name, message, "Correct or unset WEB_SEARCH_SECRETS.")]
        return [ok(name, f"none (it would be {path})")]
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror}."
        return [failed(name, message, "Make it a file that you can read.")]
    lines = []
    if os.name == "posix" and os.stat(path).st_mode & 0o077:
        lines.append(warning(name, f"Others can read {path}.", f"Run: chmod 600 '{path}'"))
    invalid = [
        f"line {number}"
        for number, line in enumerate(text.splitlines(), 1)
        if not re.match(r"\s*(#|$|[A-Z][A-Z0-9_]*\s*:)", line)
    ]
    if invalid:
        message = f"{path}: not of the form NAME: value: {', '.join(invalid[:5])}."
        hint = "Write lines such as SERPER_API_KEY: ... or comments with #."
        lines.append(warning(name, message, hint))
    defaults = ", ".join(f"{name} {value}" for name, value in user_defaults().items())
    return lines or [ok(name, f"{path}; defaults: {defaults}" if defaults else path)]


def key_problem(names: tuple[str, ...]) -> kit.SearchError | None:
    """Return why the value set under these names cannot be a key; None if it can be a key."""
    try:
        kit.configured_key(*names)
    except kit.SearchError as error:
        return error
    return None


def check_keys() -> list[Line]:
    """Return lines about the providers' keys: whether and where each is set."""
    sources = key_file.key_sources(kit.read_secrets())
    lines, keyless = [], []
    for provider, (names, user) in KEYS.items():
        name = f"{provider} key"
        used, *others = [f"{key} in {source}" for source, key in sources if key in names] or [""]
        if used and (problem := key_problem(names)):
            lines.append(warning(name, problem.message, problem.hint))
        elif used:
            unused = f"; not used: {', '.join(others)}" if others else ""
            lines.append(ok(name, f"set: {used}{unused}"))
        elif provider == "gemini" and (other := other_gemini_provider()):
            lines.append(ok(name, f"{names[0]} is not set; {user} uses {other}."))
        elif provider in ENGINES and ENGINES[provider].keyless:
            keyless.append(provider)
        elif provider in KEY_SITES:
            program = os.environ.get(PROGRAM_VARIABLE, "doctor.py")
            hint = f"Get a key at {KEY_SITES[provider]}, then run: {program} key set {names[0]}"
            message = f"{names[0]} is not set, so {user} cannot be used."
            lines.append(warning(name, message, f"{hint}. The other scripts work without it."))
    if keyless:
        message = (
            f"no key for {', '.join(keyless)}: they answer without a key if you name them. Their "
            "operators see the query. To use them in auto, list them in WEB_SEARCH_ENGINES."
        )
        lines.append(ok("other keys", message))
    return lines


def other_gemini_provider() -> str:
    """Return the provider that gemini_search.py can use in place of the Gemini API, or ""."""
    import gemini_search

    try:
        others = [name for name in gemini_search.provider_order() if name != "gemini"]
    except gemini_search.SearchError:  # GEMINI_PROVIDERS is invalid; the script reports it
        return ""
    return next((name for name in others if gemini_search.configuration_error(name) is None), "")


def check_addresses() -> list[Line]:
    """Return the lines about addresses that variables set."""
    name, lines = "addresses", []
    local: list[str] = []
    elsewhere: list[str] = []
    for variable in ADDRESSES:
        try:
            address = kit.base_url(variable, "https://default.example")
        except SearchError as error:
            lines.append(failed(variable, error.message, error.hint))
            continue
        if os.environ.get(variable, "").strip():
            is_local = kit.is_loopback(address)
            (local if is_local else elsewhere).append(f"{variable} ({address})")
    if local:
        message = f"Requests, keys included, go to this machine: {', '.join(local)}."
        lines.append(warning(name, message, "Unset these variables if you do not want that."))
    if elsewhere:
        lines.append(ok(name, f"requests go to other addresses: {', '.join(elsewhere)}"))
    for variable, engine in OWN_SERVERS.items():
        if ENGINES[engine].has_other_address():
            try:
                message = f"your {ENGINES[engine].title}: {ENGINES[engine].base_url()}"
                lines.append(ok(variable, message))
            except SearchError as error:
                lines.append(failed(variable, error.message, error.hint))
    return lines or [ok(name, "no variable changes the addresses of requests")]


# ===== engines ====================================================================================


def check_default_engine() -> list[Line]:
    """Return the line about web_search.py's default engines and whether they can answer now."""
    from websearch.engines.base import pacing

    name = "default engine"
    if OWN_ENGINES_ERROR:
        error = OWN_ENGINES_ERROR
        return [failed("own engines", error.message, error.hint, error.kind)]
    try:
        first, *others = engine_order("auto")
    except SearchError as error:
        return [failed(name, error.message, error.hint, error.kind)]
    states = pacing.engine_states()
    pauses = [states[engine].rest_seconds() for engine in (first, *others) if engine in states]
    if len(pauses) == 1 + len(others) and all(pauses):
        keys = [engine.keys[0] for engine in ENGINES.values() if engine.keys and engine.auto]
        message = f"Every engine is paused, the first for another {spoken(min(pauses))}."
        return [failed(name, message, f"Wait, or set a key: {' or '.join(keys)}.", "blocked")]
    question = {"query": "test", "count": 1}
    refusals = []
    for engine in (first, *others):
        plan = planned_request(engine, question)
        if not isinstance(plan, SearchError):
            break
        refusals.append(plan)
    else:
        first_error = refusals[0]
        return [failed(name, first_error.message, first_error.hint, first_error.kind)]
    then = f"then {', '.join(others)}" if others else "which needs no key"
    return [ok(name, f"web_search.py queries {first} first, {then}")]


def default_engines() -> list[str]:
    """Return the engines of auto, in order; [] if that order is invalid."""
    try:
        return engine_order("auto")
    except SearchError:  # check_default_engine reports it
        return []


def check_paced_engines() -> list[Line]:
    """Return the lines about the pace of keyless engines, and on all paused engines."""
    from websearch.engines.base import browser_headers, pacing

    name = "keyless engines"
    try:
        pacing.request_interval()
        browser_headers.browser_headers({}, "https://example.org")
    except SearchError as error:  # GLSI_RATE_LIMIT or GLSI_USER_AGENT
        is_fatal = all(not ENGINES[engine].keys for engine in default_engines())
        kind = error.kind if is_fatal else ""
        return [failed(name, error.message, error.hint, kind)]
    lines, ready = [], []
    for key, state in pacing.engine_states().items():
        engine, _, use = key.partition(" ")
        title = ENGINES[engine].title
        if seconds := state.rest_seconds():
            message = f"{title} is paused for {spoken(seconds)}: {pacing.pause_reason(state)}."
            hint = f"Wait. Or use {pacing.other_engines(engine)}."
            lines.append(warning(name, message, hint))
        elif engine in keyless_engines() and not ENGINES[engine].has_key():
            ready.append(key + engine_facts(state, pacing.pace_of(engine, use)))
    which = "not paused" if lines else "none is paused"
    return [*lines, ok(name, f"{which}: {', '.join(ready)}")]


def engine_facts(state: EngineState, pace: tuple[float, int]) -> str:
    """Return an engine's known quota and the wait for its next request, or ""."""
    facts = []
    if state.remaining >= 0 and state.renewal > state.now:
        renewal = spoken(state.renewal - state.now)
        facts.append(f"{state.remaining} requests left, renewed in {renewal}")
    if seconds := state.queue_seconds(pace):
        facts.append(f"next request in {spoken(seconds)}")
    return f" ({'; '.join(facts)})" if facts else ""


# ===== store, log and permissions =================================================================


def check_store() -> list[Line]:
    """Return the lines about the store of answers and pages."""
    from websearch.store.page_store import PageStore

    with closing(PageStore()) as store:
        facts = store.stats()
    path, name, hint = facts["path"], "store", "Searches work without it."
    if store.warnings:
        return [warning(name, text, hint) for text in store.warnings]
    if path == ":memory:":
        return [ok(name, "nothing is stored (GLSI_DB_PATH is :memory:)")]
    if not path or not is_writable(path):
        message = (
            f"{path or 'Without a home folder, the store'} cannot be written, so nothing is stored."
        )
        hint += " To store them, set GLSI_DB_PATH to a file in a writable folder."
        return [warning(name, message, hint)]
    if not os.path.exists(path):
        return [ok(name, f"nothing stored yet (it would be {path})")]
    contents = f"answers: {facts['answers']}, pages: {facts['pages']}"
    return [ok(name, f"{path} ({facts['bytes'] / 1e6:.1f} MB, {contents})")]


def is_writable(path: str) -> bool:
    """Return whether a file can be written, or created with its folders."""
    path = os.path.abspath(path)
    if os.path.exists(path):
        return not os.path.isdir(path) and os.access(path, os.W_OK)
    while not os.path.exists(path) and path != os.path.dirname(path):  # Windows may lack a drive
        path = os.path.dirname(path)
    return os.path.isdir(path) and os.access(path, os.W_OK)


def check_spending() -> list[Line]:
    """Return the line about paid requests and budgets, if there are any."""
    from websearch.store.page_store import PageStore

    name = "spending"
    try:
        limits = budgets()
    except SearchError as error:
        return [failed(name, error.message, error.hint, error.kind)]
    with closing(PageStore()) as store:
        spent = store.spent(this_month())
        is_near = budget_warnings(limits, store)
    if TOTAL in limits:
        spent[TOTAL] = sum(spent.values())
    parts = [
        f"{engine} {spent.get(engine, 0)}" + (f" of {limits[engine]}" if engine in limits else "")
        for engine in (*paid_engines(), TOTAL)
        if engine in spent or engine in limits
    ]
    message = f"paid requests in {this_month()}: {', '.join(parts)}. {UNCOUNTED}"
    hint = f"An engine that reaches its limit in {BUDGET_VARIABLE} is no longer queried."
    if is_near:
        return [warning(name, message, hint)]
    return [ok(name, message)] if parts else []


def check_log() -> list[Line]:
    """Return the line about the query log, if there is a log."""
    path = os.environ.get("WEB_SEARCH_LOG", "")
    return [ok("log", f"every query is written to {path} (WEB_SEARCH_LOG)")] if path else []


def check_private_addresses() -> list[Line]:
    """Return the line about the private addresses that read_page.py may fetch."""
    allowed = os.environ.get("WEB_SEARCH_ALLOW_PRIVATE", "").strip()
    message = f"read_page.py may fetch {shorten(allowed, 200)}"
    return [ok("private addresses", message)] if allowed else []


def check_network() -> list[Line]:
    """Return the line about the network, if names are looked up in an unusual way or not at all."""
    import threading

    from websearch.pages.fetch.fetch import FAKE_ADDRESSES, has_fake_addresses

    # Without a name server the lookup takes many seconds.
    found: list[bool | None] = []
    lookup = threading.Thread(target=lambda: found.append(has_fake_addresses()), daemon=True)
    lookup.start()
    lookup.join(LOOKUP_SECONDS)
    if any(found):
        message = f"a proxy program answers all names with addresses of {FAKE_ADDRESSES}"
        return [ok("fake addresses", f"{message}; pages are read through it")]
    if found != [None] or any(map(os.environ.get, PROXY_VARIABLES)):
        return []
    hint = "Connect this machine, or set HTTPS_PROXY to its proxy."
    return [warning("network", NO_NETWORK, hint)]


# ===== the report =================================================================================

CHECKS: dict[str, Callable[[], list[Line]]] = {
    "python": machine.check_python,
    "uv": machine.check_uv,
    "skill folder": machine.check_skill_folder,
    "installed": machine.check_installed,
    "default engine": check_default_engine,
    "secrets file": check_secrets_file,
    "keys": check_keys,
    "addresses": check_addresses,
    "proxy": machine.check_proxies,
    "certificates": machine.check_certificates,
    "keyless engines": check_paced_engines,
    "sqlite": machine.check_sqlite,
    "browser": machine.check_browser,
    "store": check_store,
    "spending": check_spending,
    "log": check_log,
    "private addresses": check_private_addresses,
    "network": check_network,
}


def run_one_check(name: str, work: Callable[[], list[Line]]) -> list[Line]:
    """Return one check's lines; an exception becomes a line and does not stop the other checks."""
    try:
        return work()
    except ImportError as error:
        message, hint = f"{error.name} cannot be loaded.", INSTALL_HINT
    except Exception as error:  # noqa: BLE001  this script must run on broken machines
        reason = internal_error(error, verbose=False)["error"]
        message, hint = f"This check failed. {reason}", "Please report this message."
    return [failed(name, message, hint, "internal" if name == "default engine" else "")]


def run_check(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Run all checks; return a document of their lines. Never raises.

    ok is false only if no search works; error and details then give the reason.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.machine import doctor_live

        deadline = deadline_of(params)
        secrets = kit.read_secrets()
        engines = doctor_live.live_engines(secrets) if params["live"] else []
        if params.get("dry_run"):
            raise kit.DryRun(doctor_live.live_requests(engines))
        checks = [line for name, work in CHECKS.items() for line in run_one_check(name, work)]
        if report and engines:
            report(f"querying {', '.join(engines)}", 1, 2)
        checks += doctor_live.ask_all(engines, deadline)
        return report_document(checks, secrets)

    return run_operation("doctor.check", COMMANDS["check"], params, operation)


def report_document(checks: list[Line], secrets: dict[str, str]) -> Document:
    """Return a document of all lines; an error document if no search works.

    secrets: the content of secrets.yaml. Keys are hidden in every line, because a variable for an
    address may contain a key by mistake.
    """
    fatal = next((line for line in checks if "kind" in line), None)
    document: Document = {"ok": True}
    if fatal:
        reason = SearchError(fatal.pop("kind"), fatal["message"], fatal["hint"])
        document = kit.error_document(reason)
    lines = [{name: text for name, text in line.items() if name != "kind"} for line in checks]
    text = kit.dump_json(kit.clean_tree({**document, "provider": "doctor", "checks": lines}))
    keys = {source.get(name, "").strip() for source in (os.environ, secrets) for name in KEY_NAMES}
    for key in sorted(keys, key=len, reverse=True):
        if len(key) >= kit.SHORTEST_KEY:
            text = text.replace(json.dumps(key, ensure_ascii=False)[1:-1], "[key]")
    hidden: Document = json.loads(text)
    return hidden


RUN: dict[str, Callable[..., Document]] = {"check": run_check, **key_file.RUN}

# ===== the settings ===============================================================================


def settings_markdown(program: str) -> str:
    """Return a table of every setting with its value and source; values of keys are not shown.

    program: the name under which the user runs web_search.py.
    """
    path, defaults = kit.secrets_path(), user_defaults()
    usual = {"engine": "auto", "country": "any", "language": "any", "count": "5", "format": "text"}
    rows = [
        (name, defaults.get(name, value), "secrets.yaml" if name in defaults else "default")
        for name, value in usual.items()
    ]
    rows.append(("engines of auto", ", ".join(default_engines()) or "invalid", "this machine"))
    prefixes = ("WEB_SEARCH_", "GLSI_")
    for name, value in sorted(os.environ.items()):
        is_setting = name.startswith(prefixes) and name != PROGRAM_VARIABLE
        if is_setting or name in (*ADDRESSES, *OWN_SERVERS):
            rows.append((name, kit.hide_credentials(shorten(value, 200)), "the environment"))
    rows += [(name, "set", source) for source, name in key_file.key_sources(kit.read_secrets())]
    cells = [" | ".join(text.replace("|", "\\|") for text in row) for row in rows]
    table = "\n".join(f"| {row} |" for row in ("Setting | Value | Comes from", "-|-|-", *cells))
    return (
        f"{table}\n\nDefaults and keys are lines in {path}, such as DEFAULT_COUNT: 3.\n"
        f"{program} key set NAME sets a key, key remove NAME removes it.\n"
        f"{program} doctor checks what works on this machine."
    )


# ===== Markdown ===================================================================================


def to_markdown(document: Document) -> str:
    """Return the report as a Markdown list, one line per check."""
    if "checks" not in document:
        if isinstance(document.get("request"), list):  # a dry run
            plans = [f"- {item['method']} {item['url']}" for item in document["request"]]
            return "\n".join(plans) or "Nothing would be sent."
        return key_file.to_markdown(document)
    lines = [
        f"- {line['status']} {line['name']}: {line['message']} {line.get('hint', '')}".rstrip()
        for line in document["checks"]
    ]
    statuses = [line["status"] for line in document["checks"]]
    counts = {status: statuses.count(status) for status in ("ok", "warning", "failed")}
    summary = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    reason = "" if document["ok"] else f"\n\n{error_markdown(document)}"
    return "\n".join(lines) + f"\n\n{verdict(document)}: {summary}.{reason}"


def verdict(document: Document) -> str:
    """Return whether a search works, to the extent that it was tested."""
    checks = document["checks"]
    asked = [line for line in checks if line["name"].endswith(" live")]
    failures = [line for line in asked if line["status"] == "failed"]
    unresolved = [line for line in failures if UNRESOLVED in line["message"]]
    if any(line["message"] == NO_NETWORK for line in checks) or (asked and unresolved == asked):
        return NO_NETWORK.rstrip(".")
    if not document["ok"] or (asked and failures == asked):
        return "No search works"
    names = ", ".join(line["name"].removesuffix(" live") for line in failures)
    works = f"A search works, but not with {names}" if names else "A search works"
    return works if asked else "Ready to search (no engine was queried)"


def main(description: str, argv: list[str] | None) -> int:
    """Run the command line; return the exit code.

    description: the help text. argv: the words after the program's name (default: sys.argv's).
    """
    script = {
        "name": "doctor.py",
        "description": description,
        "commands": COMMANDS,
        "run": RUN,
        "to_markdown": to_markdown,
        "to_terminal": to_terminal,
    }
    return kit.run_command_line(script, argv)
