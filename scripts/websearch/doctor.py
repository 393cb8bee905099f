"""Check what of the skill works on this machine, and say what to do where something does not.

Examples:
  doctor.py
  doctor.py --live
  doctor.py --format markdown

Without --live nothing is sent. With it, Serper is asked for the account's balance, Gemini for its
list of models, your SearXNG for its settings: requests that cost nothing. Keys are never shown.
On a terminal the checks are printed as text, in a pipe as JSON.

Exit codes: 0 a search works (the checks may hold warnings and failures), 2 a setting keeps every
search from working, 5 no usable Python, certificates or engine, 70 the skill's files are not
complete, 130 interrupted.
"""

from __future__ import annotations

import os
import re
import sys
import time

from websearch import common
from websearch.common import SearchError, shorten

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Document, ProgressCallback

    Check = dict[str, Any]  # name, status (ok, warning, failed), message, hint; kind: see check

UV_TIMEOUT = 10.0  # seconds for `uv --version`, which takes a moment on a disk that is busy
LIVE_TIMEOUT = 10.0  # seconds for one provider; one that hangs must not cost the others
SHORTEST_SECRET = 8  # characters; a shorter value may be a word of the messages themselves
MAX_FAULTS = 5  # lines of secrets.yaml that are named; another kind of file has a fault in each
SCRIPTS_FOLDER = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SKILL_FOLDER = os.path.dirname(SCRIPTS_FOLDER)
INSTALL_HINT = "Run make install in the skill's repository, or copy the whole folder again."

# ===== commands and their parameters ==============================================================

# fmt: off
COMMANDS: dict[str, dict[str, Any]] = {
    "check": {
        "help": "check what works on this machine",
        "params": [
            {"name": "live", "type": "bool", "default": False,
             "help": "also ask the providers, with requests that cost nothing"},
        ],
        "cannot": {"query": "doctor.py searches nothing; web_search.py does."},
    },
}

# The scripts of the skill. A search needs the first group.
ESSENTIAL = (
    "web_search", "websearch/common", "websearch/search", "websearch/store",
    "websearch/engines/keyless", "websearch/pages/read",
)
OTHERS = (
    "brave_search", "serper_search", "gemini_search", "keyless_search", "read_page", "mcp_server",
    "http_server", "doctor", "install",
)

# provider -> its variables (the first that is set is used), what needs them, where keys are had.
# The first three are always listed, the others where they are set.
KEYS: dict[str, tuple[tuple[str, ...], str, str]] = {
    "brave": (("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"), "brave_search.py",
              "https://api-dashboard.search.brave.com"),
    "serper": (("SERPER_API_KEY",), "serper_search.py", "https://serper.dev"),
    "gemini": (("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini_search.py",
               "https://aistudio.google.com/apikey"),
    "brave answers": (("BRAVE_ANSWERS_API_KEY",), "brave_search.py answers", ""),
    "brave suggest": (("BRAVE_SUGGEST_API_KEY",), "brave_search.py suggest", ""),
    "brave spellcheck": (("BRAVE_SPELLCHECK_API_KEY",), "brave_search.py spellcheck", ""),
    "vertex": (("VERTEX_ACCESS_TOKEN", "VERTEX_API_KEY"), "gemini_search.py", ""),
    "code assist": (("CODE_ASSIST_ACCESS_TOKEN",), "gemini_search.py", ""),
}
MAIN_PROVIDERS = ("brave", "serper", "gemini")
ADDRESSES = (
    "BRAVE_SEARCH_BASE_URL", "SERPER_BASE_URL", "SERPER_SCRAPE_BASE_URL", "GEMINI_BASE_URL",
    "VERTEX_BASE_URL", "CODE_ASSIST_BASE_URL", "DUCKDUCKGO_BASE_URL", "GOOGLE_BASE_URL",
    "WIKIPEDIA_BASE_URL",
)
# What other programs call the address of a SearXNG.
SEARXNG_SPELLINGS = ("SEARXNG_URL", "SEARXNG_INSTANCE_URL")
# Where agents look for skills: (agent, folder below the home folder).
SKILL_FOLDERS = (
    ("Claude Code", ".claude/skills/web-search"),
    ("Codex, Gemini CLI, Cursor, opencode", ".agents/skills/web-search"),
)
# fmt: on


def check(name: str, status: str, message: str, hint: str = "", kind: str = "") -> Check:
    """Return one line of the report.

    status: ok, warning or failed. hint: what to do, for every status but ok. kind: the kind of
    failure, where no search works because of it.
    """
    fields = {"name": name, "status": status, "message": message, "hint": hint, "kind": kind}
    return {field: value for field, value in fields.items() if value}


# ===== this machine ===============================================================================


def check_python() -> list[Check]:
    """Return the line on the interpreter, whose version was checked before anything else."""
    place = sys.executable or "an unknown place"
    return [check("python", "ok", f"{sys.version.split()[0]} at {place}")]


def check_uv() -> list[Check]:
    """Return the line on uv, which the documents call the scripts with."""
    import shutil
    import subprocess

    hint = "Write python3 for `uv run`, or install uv: https://docs.astral.sh/uv"
    program = shutil.which("uv")
    if not program:
        places = [os.path.expanduser(f"~/{folder}/uv") for folder in (".local/bin", ".cargo/bin")]
        found = [place for place in places if os.path.exists(place)]
        if found:
            message = f"{found[0]} is there, but its folder is not in PATH."
            return [check("uv", "warning", message, "Add the folder to PATH in the agent's shell.")]
        return [check("uv", "warning", "It was not found in PATH.", hint)]
    try:
        run = subprocess.run(  # noqa: S603  the uv that the documents' commands start
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=UV_TIMEOUT,
            check=False,
        )
        words, code = run.stdout.decode("utf-8", "replace").split(), run.returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        words, code = [type(error).__name__], 1
    if code or len(words) < 2:
        message = f"{program} does not run ({shorten(' '.join(words), 80) or f'exit code {code}'})."
        return [check("uv", "warning", message, hint)]
    return [check("uv", "ok", f"{words[1]} at {program}")]


def check_certificates() -> list[Check]:
    """Return the line on the certificates that https needs."""
    name = "certificates"
    try:
        import ssl
    except ImportError:
        message = "This Python has no ssl module, so nothing can be asked over https."
        return [check(name, "failed", message, "Use another Python, such as uv's.", "network")]
    lines = []
    named = os.environ.get("SSL_CERT_FILE", "")
    if named and not os.path.isfile(named):
        message = f"SSL_CERT_FILE names {named}, which is no file."
        lines.append(check(name, "warning", message, "Correct or unset SSL_CERT_FILE."))
    hint = "Install your system's ca-certificates, or set SSL_CERT_FILE to a bundle."
    try:
        count = common.tls_context().cert_store_stats()["x509_ca"]
    except (ssl.SSLError, OSError) as error:
        message = f"The certificates cannot be read ({type(error).__name__})."
        return [check(name, "failed", message, hint, "network")]
    folder = ssl.get_default_verify_paths().capath  # read one by one, when they are needed
    if not count and not (folder and os.path.isdir(folder) and os.listdir(folder)):
        message = "There are no certificate authorities, so no https server is trusted."
        return [*lines, check(name, "failed", message, hint, "network")]
    found = f"{count} certificate authorities" if count else f"certificate authorities in {folder}"
    return lines or [check(name, "ok", f"{found} ({ssl.OPENSSL_VERSION})")]


def check_proxies() -> list[Check]:
    """Return the lines on the proxies that requests go through; their credentials stay hidden."""
    from urllib.request import getproxies

    proxies = getproxies()
    without = proxies.pop("no", "")
    lines = [proxy_line(scheme, proxies[scheme]) for scheme in ("https", "http", "all")
             if proxies.get(scheme)]  # fmt: skip
    if lines and without:
        lines.append(check("no_proxy", "ok", f"asked directly: {shorten(without, 200)}"))
    return lines or [check("proxy", "ok", "none; requests go out directly")]


def proxy_line(scheme: str, address: str) -> Check:
    """Return the line on the proxy of one scheme."""
    from urllib.parse import urlsplit

    name, shown = f"{scheme}_proxy", hide_credentials(address)
    try:
        parts = urlsplit(address if "://" in address else f"http://{address}")
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    hint = f"Set {name} to an address such as http://proxy.example:8080, or unset it."
    if scheme == "all":
        return check(name, "warning", f"{shown} is not used by Python.", "Set https_proxy.")
    if not valid:
        return check(name, "failed", f"{shown} is no address of a proxy.", hint)
    if parts.scheme not in ("http", "https"):
        message = f"{shown}: Python speaks no {parts.scheme} to a proxy, so requests will fail."
        return check(name, "failed", message, hint)
    return check(name, "ok", f"requests go through {shown}")


def hide_credentials(address: str) -> str:
    """Return an address without user name and password."""
    return re.sub(r"^([a-zA-Z][\w+.-]*://)?[^/]*@", r"\1[hidden]@", address)


def check_sqlite() -> list[Check]:
    """Return the line on SQLite, which the store needs."""
    try:
        import sqlite3
        from contextlib import closing

        with closing(sqlite3.connect(":memory:")) as database:
            try:
                database.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
                fts5 = True
            except sqlite3.Error:
                fts5 = False
    except ImportError:
        message = "This Python has no sqlite3: nothing is kept, and engines are not paced."
        return [check("sqlite", "warning", message, "Use another Python, such as uv's.")]
    if not fts5:
        message = f"{sqlite3.sqlite_version}, without FTS5: recall is slower and ranks less well."
        return [check("sqlite", "warning", message, "Use another Python, such as uv's.")]
    return [check("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")]


# ===== the skill's files ==========================================================================


def check_skill_folder() -> list[Check]:
    """Return the lines on this copy of the skill: complete, of one version, executable."""
    name = "skill folder"
    names = [f"{stem}.py" for stem in (*ESSENTIAL, *OTHERS)]
    paths = {script: os.path.join(SCRIPTS_FOLDER, script) for script in names}
    missing = [script for script in names if not os.path.isfile(paths[script])]
    present = [script for script in names if script not in missing]
    lines = []
    if missing:
        needed = any(script[:-3] in ESSENTIAL for script in missing)
        message = f"{SCRIPTS_FOLDER} lacks {', '.join(missing)}."
        lines.append(check(name, "failed", message, INSTALL_HINT, "internal" if needed else ""))
    versions = {script: text_in(paths[script], r'^VERSION = "(.*)"') for script in present}
    skill = os.path.join(SKILL_FOLDER, "SKILL.md")
    versions["SKILL.md"] = text_in(skill, r'^  version: "(.*)"')
    other = [f"{file} {found}" for file, found in versions.items()
             if found not in ("", common.VERSION)]  # fmt: skip
    if other:
        message = f"The files are not of one version ({common.VERSION}): {', '.join(other)}."
        lines.append(check(name, "warning", message, INSTALL_HINT))
    if not os.path.isfile(skill):
        message = f"{SKILL_FOLDER} has no SKILL.md: agents do not find the skill here."
        lines.append(check(name, "warning", message, INSTALL_HINT))
    if os.name == "posix":
        commands = [script for script in present if text_in(paths[script], r"\A(#!)")]
        stuck = [script for script in commands if not os.access(paths[script], os.X_OK)]
        if stuck:
            message = f"These may not be executed: {', '.join(stuck)}."
            hint = f"Run: chmod +x '{SCRIPTS_FOLDER}'/*.py (`uv run` and python3 work as it is)."
            lines.append(check(name, "warning", message, hint))
    return lines or [check(name, "ok", f"{SKILL_FOLDER} is complete, version {common.VERSION}")]


def text_in(path: str, pattern: str) -> str:
    """Return what the pattern's group matches in a file, "" if nothing, or if it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return ""
    return found[1] if found else ""


def check_installed() -> list[Check]:
    """Return the lines on where agents find the skill and the opencode tool."""
    home = home_folder()
    if not home:
        message = "There is no home folder, so no agent has skills of its user's."
        return [check("installed", "warning", message, "Set HOME.")]
    lines = []
    for agent, place in SKILL_FOLDERS:
        folder = os.path.join(home, place)
        if os.path.lexists(folder):
            lines.append(installed_line(agent, folder))
    if not lines and re.search(r"[/\\]skills?[/\\]web-search$", SKILL_FOLDER):  # a project's
        lines.append(check("installed", "ok", f"{SKILL_FOLDER} (this copy)"))
    if not lines:
        places = " and ".join(f"~/{place}" for _, place in SKILL_FOLDERS)
        message = f"No agent finds the skill: {places} are not there."
        hint = "Run make install in the skill's repository, or copy this folder there."
        lines.append(check("installed", "warning", message, hint))
    tool = os.path.join(opencode_folder(home), "tool", "google_search.ts")
    if os.path.isfile(tool):
        lines.append(check("installed for opencode", "ok", f"tool {tool}"))
    return lines


def installed_line(agent: str, folder: str) -> Check:
    """Return the line on one copy of the skill that agents find."""
    name = f"installed for {agent}"
    skill = os.path.join(folder, "SKILL.md")
    if text_in(skill, r"^name: *[\"']?([\w-]+)") != "web-search":
        message = f"{folder} does not hold this skill."
        return check(name, "warning", message, "Move it away, then run make install.")
    found = text_in(skill, r'^  version: "(.*)"') or "of an unknown version"
    target = os.path.realpath(folder)
    linked = f", a link to {target}" if target != os.path.abspath(folder) else ""
    here = ", this copy" if target == SKILL_FOLDER else ""
    message = f"{folder} ({found}{here}{linked})"
    if found != common.VERSION:
        return check(name, "warning", f"{message}; this copy is {common.VERSION}.", INSTALL_HINT)
    return check(name, "ok", message)


def home_folder() -> str:
    """Return the user's home folder, "" if there is none."""
    home = os.path.expanduser("~")
    return home if os.path.isabs(home) else ""


def opencode_folder(home: str) -> str:
    """Return where opencode looks for tools of the user's."""
    named = os.environ.get("OPENCODE_CONFIG_DIR", "")
    if named:
        return os.path.expanduser(named)
    config = os.environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(config if os.path.isabs(config) else f"{home}/.config", "opencode")


# ===== settings ===================================================================================


def quietly(work: Callable[[], Any]) -> Any:
    """Return what work returns, without the warning on secrets.yaml, which has a line here."""
    import contextlib
    import io

    with contextlib.redirect_stderr(io.StringIO()):
        return work()


def check_secrets_file() -> list[Check]:
    """Return the lines on secrets.yaml: whether it can be read, by whom, and what it holds.

    Lines are named by number, because what is wrong with one may be that it holds a key.
    """
    name, path = "secrets file", common.secrets_path()
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            text = file.read(common.MAX_INPUT_CHARS)
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
    """Return what is wrong in secrets.yaml, by line, without showing what stands there."""
    known = [variable for variables, _, _ in KEYS.values() for variable in variables]
    faults, seen = [], set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = re.match(r"\s*([A-Z][A-Z0-9_]*)\s*:", line)
        # The value as common.read_secrets reads it: one word, or in quotation marks.
        value = r"""\s*("[^"]*"|'[^']*'|[^\s#'"]\S*)?\s*(#.*)?"""
        if not found or not re.fullmatch(value, line[found.end() :]):
            faults.append(f"line {number} is no NAME: value")
            continue
        name = found[1]
        if name in seen:
            faults.append(f"line {number} gives {name} again" if name in known else
                          f"line {number} gives a name again")  # fmt: skip
        seen.add(name)
        if name not in known:
            near = common.nearest(name, known, "name")
            faults.append(f"line {number} has a name that no script reads. {near}".rstrip(" ."))
    more = len(faults) - MAX_FAULTS
    return faults[:MAX_FAULTS] + [f"{more} more lines"] * (more > 0)


def check_keys() -> list[Check]:
    """Return a line for each provider's key: whether and where it is set, and if it can be one."""
    secrets = quietly(common.read_secrets)
    lines = []
    for provider, (variables, script, site) in KEYS.items():
        found = [(variable, place, source[variable])
                 for place, source in (("the environment", os.environ), ("secrets.yaml", secrets))
                 for variable in variables if source.get(variable, "").strip()]  # fmt: skip
        name = f"{provider} key"
        others = quietly(gemini_alternatives) if provider == "gemini" and not found else []
        if found:
            lines.append(key_line(name, found))
        elif others:
            message = f"{variables[0]} is not set; {script} uses {others[0]}."
            lines.append(check(name, "ok", message))
        elif provider in MAIN_PROVIDERS:
            empty = [variable for variable in variables if variable in {**os.environ, **secrets}]
            state = f"{empty[0]} is empty" if empty else f"{variables[0]} is not set"
            hint = f"Get a key at {site} and set {variables[0]} in the environment or in "
            hint += f"{common.secrets_path()}; no other script needs it."
            lines.append(check(name, "warning", f"{state}; {script} cannot be used.", hint))
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
    if not re.fullmatch(r"[!-~]+", value):  # as common.configured_key sees it
        return check(name, "failed", f"{where} holds characters that no key has.", hint)
    if value[0] in "\"'" or value[-1] in "\"'":
        return check(name, "failed", f"{where} has quotation marks around it.", hint)
    if re.search(r"^\$|\$\{|^%.*%$|^<.*>$|your[-_]|api[-_]?key|changeme|^x{3,}$", value.lower()):
        message = f"{where} looks like a placeholder that nobody has replaced."
        return check(name, "warning", message, f"Set {variable} to the key itself.")
    others = [f"{other} in {where_else}" for other, where_else, _ in found[1:]]
    unused = f"; not used: {', '.join(others)}" if others else ""
    return check(name, "ok", f"set: {where}{unused}")


def check_addresses() -> list[Check]:
    """Return a line for each address that a variable sets."""
    lines = []
    for variable in ADDRESSES:
        if not os.environ.get(variable, "").strip():
            continue
        try:
            address = common.base_url(variable, "")
        except SearchError:
            # DuckDuckGo stands at the end of every automatic search.
            is_last = variable.startswith("DUCKDUCKGO") and only_duckduckgo()
            kind = "invalid_input" if is_last else ""
            message = f"{variable} is {hide_credentials(os.environ[variable].strip())!r}, "
            message += "which is no address of an API."
            hint = f"Unset {variable}, or begin it with https:// (http:// on loopback only)."
            lines.append(check(variable, "failed", message, hint, kind))
            continue
        if common.is_loopback(address):
            message = f"{address}: requests, keys included, go to this machine."
            hint = f"Unset {variable}, if that is not what you want."
            lines.append(check(variable, "warning", message, hint))
        else:
            lines.append(check(variable, "ok", f"requests go to {address}"))
    lines += searxng_lines()
    return lines or [check("addresses", "ok", "no variable changes where requests go")]


def only_duckduckgo() -> bool:
    """Return whether an automatic search can ask no engine but DuckDuckGo; nothing is sent."""

    def can_be_asked(engine: str) -> bool:
        from websearch import search as search_and_read

        plan = {"query": "test", "count": 1, "dry_run": True}
        return bool(search_and_read.ask_engine(engine, plan)["ok"])

    try:
        others = [engine for engine in default_engines() if engine != "duckduckgo"]
        return not quietly(lambda: any(map(can_be_asked, others)))
    except (ImportError, SearchError):  # other lines say so
        return False


def searxng_lines() -> list[Check]:
    """Return the line on SEARXNG_BASE_URL, or on a variable that was meant to be it."""
    from websearch.engines import keyless as keyless_search

    variable = "SEARXNG_BASE_URL"
    if os.environ.get(variable, "").strip():
        try:
            return [check(variable, "ok", f"your SearXNG: {keyless_search.searxng_address()}")]
        except SearchError:
            shown = hide_credentials(os.environ[variable].strip())
            message = f"{variable} is {shown!r}, which is no address."
            return [check(variable, "failed", message, "For example http://localhost:8080.")]
    return [
        check(name, "warning", f"No script reads {name}.", f"Set {variable} to that address.")
        for name in SEARXNG_SPELLINGS
        if os.environ.get(name, "").strip()
    ]


def check_log() -> list[Check]:
    """Return the line on the log of queries, where there is one."""
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
    """Return the line on private addresses that read_page.py may fetch, where there are some."""
    named = os.environ.get("WEB_SEARCH_ALLOW_PRIVATE", "").strip()
    if not named:
        return []
    wrong = [item for item in named.split(",") if not re.search(r"[^\s]:\d+\s*$", item)]
    if wrong:
        message = f"WEB_SEARCH_ALLOW_PRIVATE: {shorten(wrong[0].strip(), 80)!r} is no host:port."
        return [check("private addresses", "warning", message, "Write host:port,host:port.")]
    return [check("private addresses", "ok", f"read_page.py may fetch {shorten(named, 200)}")]


# ===== searching and keeping ======================================================================


def default_engines() -> list[str]:
    """Return the engines that web_search.py asks, in order; raises SearchError, ImportError."""
    from websearch import search as search_and_read

    order: list[str] = quietly(lambda: search_and_read.engine_order("auto"))
    return order


def check_default_engine() -> list[Check]:
    """Return the line on what web_search.py asks by default, and whether that can answer now."""
    name = "default engine"
    try:
        first, *others = default_engines()
    except SearchError as error:
        return [check(name, "failed", error.message, error.details["hint"], error.kind)]
    from websearch.engines import keyless as keyless_search

    states = keyless_search.engine_state()
    resting = [engine for engine in (first, *others) if states.get(engine, {}).get("resting")]
    message = f"web_search.py asks {first} first"
    message += f", then {', '.join(others)}" if others else ", which needs no key"
    if len(resting) == 1 + len(others):
        seconds = min(states[engine]["rest_seconds"] for engine in resting)
        message = "Every engine rests after a block; the first for "
        message += f"{keyless_search.spoken(seconds)} more."
        hint = "Wait, or set a key: BRAVE_SEARCH_API_KEY or SERPER_API_KEY."
        return [check(name, "failed", message, hint, "blocked")]
    return [check(name, "ok", message)]


def check_keyless_engines() -> list[Check]:
    """Return the lines on the pacing of the engines that need no key."""
    from websearch.engines import keyless as keyless_search

    name = "keyless engines"
    lines = []
    try:
        keyless_search.request_interval()
        keyless_search.browser_headers({}, "https://duckduckgo.com")
    except SearchError as error:  # GLSI_RATE_LIMIT or GLSI_USER_AGENT
        kind = error.kind if only_duckduckgo() else ""
        lines.append(check(name, "failed", error.message, error.details["hint"], kind))
    states = keyless_search.engine_state()
    for engine, state in states.items():
        if state["resting"]:
            rest = keyless_search.spoken(state["rest_seconds"])
            message = f"{keyless_search.NAMES[engine]} rests for {rest} more, because it blocked "
            message += f"a request with {state.get('signal', 'its bot wall')}."
            hint = f"Wait; until then use {keyless_search.INSTEAD[engine]}."
            lines.append(check(name, "warning", message, hint))
    path = keyless_search.pacing_path()
    if not path or not is_writable(path):
        message = f"Their pacing cannot be kept in {path or 'a home folder'}: it holds within one "
        message += "process only, so parallel calls may draw a block."
        hint = "Set HOME, or GLSI_DB_PATH to a file in a writable folder."
        lines.append(check(name, "warning", message, hint))
    return lines or [check(name, "ok", f"none rests: {', '.join(states)}")]


def check_store() -> list[Check]:
    """Return the lines on the store of answers and pages."""
    from websearch.store import PageStore

    store = PageStore()
    try:
        facts = store.stats()
    finally:
        store.close()
    place, name = str(facts.get("path") or ""), "store"
    hint = "Searches work without it. Set GLSI_DB_PATH to a file in a writable folder"
    if store.warnings:
        hint += ", or move a broken file away."
        return [check(name, "warning", text, hint) for text in store.warnings]
    if place == ":memory:":
        return [check(name, "ok", "kept nowhere (GLSI_DB_PATH is :memory:)")]
    if not place or not is_writable(place):
        message = f"{place or 'Without a home folder it'} cannot be written, so nothing is kept."
        return [check(name, "warning", message, f"{hint}.")]
    if not os.path.exists(place):
        return [check(name, "ok", f"nothing kept yet (it would be {place})")]
    size = f"{facts.get('bytes', 0) / 1e6:.1f} MB"
    held = f"{facts.get('answers', 0)} answers, {facts.get('pages', 0)} pages"
    return [check(name, "ok", f"{place} ({size}, {held})")]


# ===== live: requests that cost nothing ===========================================================

# Providers that have none -> their name, and how a key is tried for the price of one request.
NOT_TRIED = {
    "brave": ("Brave", "brave_search.py 'test' --count 1"),
    "vertex": ("Vertex AI", "gemini_search.py 'test' --provider vertex"),
    "code assist": ("Code Assist", "gemini_search.py 'test' --provider code-assist"),
}


def live_requests() -> list[str]:
    """Return the providers that --live asks: those that are configured."""
    secrets = quietly(common.read_secrets)
    wanted = []
    for provider in (*MAIN_PROVIDERS, *NOT_TRIED):
        values = [source.get(name, "") for name in KEYS[provider][0]
                  for source in (os.environ, secrets)]  # fmt: skip
        if provider not in wanted and any(value.strip() for value in values):
            wanted.append(provider)
    return wanted + ["searxng"] * bool(os.environ.get("SEARXNG_BASE_URL", "").strip())


def planned_requests() -> list[dict[str, Any]]:
    """Return the requests of --live, without keys: a provider at a wrong address has none."""
    import gemini_search
    import serper_search

    from websearch.engines import keyless as keyless_search

    plans: dict[str, Callable[[], dict[str, Any]]] = {
        "serper": lambda: serper_search.build_request("account", None),
        "gemini": lambda: gemini_search.models_request(""),
        "searxng": lambda: searxng_request(keyless_search.searxng_address()),
    }
    requests = []
    for provider in live_requests():
        try:
            request = plans[provider]() if provider in plans else {}
        except (serper_search.SearchError, gemini_search.SearchError, SearchError):
            continue
        if request:
            requests.append({"method": request["method"], "url": request["url"]})
    return requests


def ask_provider(provider: str, timeout: float) -> Check:
    """Return the line on one provider, after asking it; raises nothing that it may meet."""
    if provider in NOT_TRIED:
        title, command = NOT_TRIED[provider]
        message = f"{title} has no request that costs nothing, so its key was not tried."
        hint = f"To try it, for the price of one request: {command}"
        return check(f"{provider} live", "warning", message, hint)
    if provider == "serper":
        return ask_serper(timeout)
    return ask_gemini(timeout) if provider == "gemini" else ask_searxng(timeout)


def ask_serper(timeout: float) -> Check:
    """Return the line on Serper's account."""
    import serper_search

    document = serper_search.run_account({"timeout": timeout})
    if not document["ok"]:
        return failed_line("serper live", document)
    balance, rate = document["balance"], document.get("rate_limit")
    limit = f", {rate} requests a second" if rate else ""
    message = f"The key is accepted; {balance} credits left{limit}."
    if isinstance(balance, (int, float)) and balance <= 0:
        return check("serper live", "failed", message, "Buy credits at https://serper.dev.")
    return check("serper live", "ok", message)


def ask_gemini(timeout: float) -> Check:
    """Return the line on Gemini's list of models."""
    import gemini_search

    document = gemini_search.run_models({"timeout": timeout, "max_chars": 0})
    if not document["ok"]:
        return failed_line("gemini live", document)
    names, wanted = [model["name"] for model in document["models"]], document["default_model"]
    message = f"The key is accepted; {len(names)} models, the default {wanted}"
    if wanted not in names:
        hint = "Set GEMINI_MODEL to one of the names that gemini_search.py models lists."
        return check("gemini live", "warning", f"{message} is not among them.", hint)
    return check("gemini live", "ok", f"{message} among them.")


def searxng_request(address: str) -> dict[str, Any]:
    """Return the request for a SearXNG's public settings, with the headers of its searches."""
    from websearch.engines import keyless as keyless_search

    headers = {**keyless_search.browser_headers({}, address), "Accept": "application/json"}
    return {"method": "GET", "url": f"{address}/config", "headers": headers}


def ask_searxng(timeout: float) -> Check:
    """Return the line on the user's SearXNG: its version and how many engines it asks."""
    from websearch.engines import keyless as keyless_search

    name = "searxng live"
    try:
        request = searxng_request(keyless_search.searxng_address())
    except SearchError as error:
        return check(name, "failed", hide_credentials(error.message), error.details["hint"])
    try:
        response = common.exchange(request, time.monotonic() + timeout, lambda _: None)
    except SearchError as error:
        hint = "Start your SearXNG, or correct SEARXNG_BASE_URL."
        return check(name, "failed", error.message, hint)
    try:
        settings: Any = common.clean_tree(response.json()) if response.status == 200 else {}
        engines = [item for item in settings["engines"] if item["enabled"]]
        version = shorten(str(settings["version"]), 40)
    except (ValueError, RecursionError, KeyError, TypeError):
        message = f"It answers {response.status} to /config, which shows no SearXNG's settings."
        hint = "Check that SEARXNG_BASE_URL is its start page; a proxy before it may hide /config: "
        hint += "keyless_search.py 'test' --engine searxng shows whether it searches."
        return check(name, "warning", message, hint)
    if not engines:
        hint = "Enable engines in its settings.yml."
        return check(name, "failed", f"SearXNG {version} has no engine enabled.", hint)
    return check(name, "ok", f"SearXNG {version}, {len(engines)} engines enabled.")


def failed_line(name: str, document: Document) -> Check:
    """Return the line on a provider that answered with an error."""
    hint = document["details"].get("hint") or "Run the script itself with --verbose."
    return check(name, "failed", document["error"], hint)


# ===== operation ==================================================================================

CHECKS: dict[str, Callable[[], list[Check]]] = {
    "python": check_python,
    "uv": check_uv,
    "skill folder": check_skill_folder,
    "installed": check_installed,
    "default engine": check_default_engine,
    "secrets file": check_secrets_file,
    "keys": check_keys,
    "addresses": check_addresses,
    "proxy": check_proxies,
    "certificates": check_certificates,
    "keyless engines": check_keyless_engines,
    "sqlite": check_sqlite,
    "store": check_store,
    "log": check_log,
    "private addresses": check_private_addresses,
}


def guarded(name: str, work: Callable[[], list[Check]]) -> list[Check]:
    """Return the lines of one check; one that breaks is a line, too, and costs no other."""
    try:
        return work()
    except ImportError as error:
        message, hint = f"It could not be checked: {error.name} cannot be loaded.", INSTALL_HINT
    except Exception as error:  # noqa: BLE001  a broken machine is what this script is run on
        place = common.internal_error(error, verbose=False)["error"]
        message, hint = (
            f"It could not be checked. {place}",
            "ProgressCallback it, with what stands here.",
        )
    kind = "internal" if name == "default engine" else ""
    return [check(name, "failed", message, hint, kind)]


def run_check(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Check everything; the document holds a line for each check. Never raises.

    ok is false only if no search works; error and details then say why.
    """

    def operation(params: dict[str, Any]) -> Document:
        deadline = common.deadline_of(params)
        if params.get("dry_run"):
            raise common.DryRun(planned_requests() if params["live"] else [])
        checks = [line for name, work in CHECKS.items() for line in guarded(name, work)]
        providers = live_requests() if params["live"] else []
        for number, provider in enumerate(providers, 1):
            if report:
                report(f"asking {provider}", number, len(providers))
            checks += guarded(f"{provider} live", lambda: [ask_in_time(provider, deadline)])  # noqa: B023  called at once
        return report_document(checks)

    return common.run_operation("doctor.check", COMMANDS["check"], params, operation)


def ask_in_time(provider: str, deadline: float) -> Check:
    """Return the line on a provider, asked within what is left of the time."""
    left = min(LIVE_TIMEOUT, deadline - time.monotonic())
    if left < 0.1:
        message = f"There was no time left to ask {provider}."
        return check(f"{provider} live", "warning", message, "Give more with --timeout.")
    return ask_provider(provider, left)


def report_document(checks: list[Check]) -> Document:
    """Return the document of all lines; it is an error's if a line says that no search works."""
    fatal = [line for line in checks if "kind" in line]
    lines = [{name: value for name, value in line.items() if name != "kind"} for line in checks]
    document: Document = {"ok": not fatal, "provider": "doctor"}
    if fatal:
        reason = SearchError(fatal[0]["kind"], fatal[0]["message"], fatal[0]["hint"])
        document = {**common.error_document(reason), "provider": "doctor"}
    cleaned: Document = common.clean_tree(hide_keys({**document, "checks": lines}))
    return cleaned


def hide_keys(value: Any) -> Any:
    """Return the document without any key: one may stand where an address was meant to be."""
    names = [name for variables, _, _ in KEYS.values() for name in variables]
    sources = (os.environ, quietly(common.read_secrets))
    keys = {source.get(name, "").strip() for source in sources for name in names}
    secrets = sorted((key for key in keys if len(key) >= SHORTEST_SECRET), key=len, reverse=True)

    def hidden(item: Any) -> Any:
        if isinstance(item, str):
            for key in secrets:
                item = item.replace(key, "[key]")
            return item
        if isinstance(item, dict):
            return {name: hidden(part) for name, part in item.items()}
        return [hidden(part) for part in item] if isinstance(item, list) else item

    return hidden(value)


RUN: dict[str, Callable[..., Document]] = {"check": run_check}

# ===== the document for people ====================================================================


def to_markdown(document: Document) -> str:
    """Return the report as a Markdown list, a line for each check."""
    if "checks" not in document:
        if document["ok"]:  # --dry-run
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
    common.open_closed_streams()
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
    return common.run_command_line(script, words)
