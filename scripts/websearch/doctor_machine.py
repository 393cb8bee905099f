"""The checks of doctor.py that look at this machine and at the skill's files."""

from __future__ import annotations

import os
import re
import sys

from websearch import common, http_client
from websearch.common import shorten
from websearch.engines import ENGINES
from websearch.http_client import hide_credentials

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    Check = dict[str, Any]  # name, status (ok, warning, failed), message, hint; kind: see check

UV_TIMEOUT = 10.0  # seconds for `uv --version`, which takes a moment on a disk that is busy
MAX_NAMED = 5  # files or lines that a message names; a damaged folder has a fault in each
SCRIPTS_FOLDER = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SKILL_FOLDER = os.path.dirname(SCRIPTS_FOLDER)
INSTALL_COMMAND = "python3 scripts/install.py install"
INSTALL_HINT = f"Run {INSTALL_COMMAND} in the skill's repository, or copy the whole folder again."
# The commands of scripts/, but for those that the table of engines names.
COMMAND_FILES = (
    "web_search.py", "gemini_search.py", "keyless_search.py", "read_page.py", "mcp_server.py",
    "http_server.py", "doctor.py", "install.py",
)  # fmt: skip


def check(name: str, status: str, message: str, hint: str = "", kind: str = "") -> Check:
    """Return one line of the report.

    status: ok, warning or failed. hint: what to do, for every status but ok. kind: the kind of
    failure, if no search works because of it.
    """
    return common.drop_empty(
        {"name": name, "status": status, "message": message, "hint": hint, "kind": kind}
    )


def named(items: list[str]) -> str:
    """Return the first items for a message, and how many more there are."""
    more = len(items) - MAX_NAMED
    return ", ".join(items[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


# ===== this machine ===============================================================================


def check_python() -> list[Check]:
    """Return the line on the interpreter, whose version was checked before anything else."""
    place = sys.executable or "an unknown place"
    return [check("python", "ok", f"{sys.version.split()[0]} at {place}")]


def check_uv() -> list[Check]:
    """Return the line on uv, with which the documents start the scripts."""
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


def check_browser() -> list[Check]:
    """Return the line on the browser that can fill pages which only a script fills."""
    from websearch.pages import browser, thin_pages

    is_wanted = thin_pages.wants_browser({})
    status = "warning" if is_wanted else "ok"
    try:
        program = browser.find_browser()
    except common.SearchError as error:
        if not is_wanted:
            message = "none is installed; pages that only a script fills are not read"
            return [check("browser", "ok", message)]
        return [check("browser", status, str(error), error.details["hint"])]
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    if is_root and "--no-sandbox" not in os.environ.get(browser.ARGUMENTS, ""):
        message = f"{program} does not start as root, because its sandbox needs a user."
        hint = f"Run as another user, or set {browser.ARGUMENTS} (see references/web_search.md)."
        return [check("browser", status, message, hint if is_wanted else "")]
    use = "used for" if is_wanted else f"{thin_pages.BROWSER_VARIABLE}=1 or browser lets it fill"
    return [check("browser", "ok", f"{program}; {use} pages that only a script fills")]


def check_certificates() -> list[Check]:
    """Return the line on the certificates that https needs."""
    name = "certificates"
    try:
        import ssl
    except ImportError:
        message = "This Python has no ssl module, so nothing can be asked over https."
        return [check(name, "failed", message, "Use another Python, such as uv's.", "network")]
    lines = []
    bundle = os.environ.get("SSL_CERT_FILE", "")
    if bundle and not os.path.isfile(bundle):
        message = f"SSL_CERT_FILE names {bundle}, which is no file."
        lines.append(check(name, "warning", message, "Correct or unset SSL_CERT_FILE."))
    hint = "Install your system's ca-certificates, or set SSL_CERT_FILE to a bundle."
    try:
        count = http_client.tls_context().cert_store_stats()["x509_ca"]
    except (ssl.SSLError, OSError) as error:
        message = f"The certificates cannot be read ({type(error).__name__})."
        return [*lines, check(name, "failed", message, hint, "network")]
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
        message = f"{shown}: Python cannot use a {parts.scheme} proxy, so requests will fail."
        return check(name, "failed", message, hint)
    return check(name, "ok", f"requests go through {shown}")


def check_sqlite() -> list[Check]:
    """Return the line on SQLite, which the store needs."""
    from contextlib import closing

    from websearch.full_text import has_full_text

    try:
        import sqlite3
    except ImportError:
        message = "This Python has no sqlite3: nothing is kept, and engines are not paced."
        return [check("sqlite", "warning", message, "Use another Python, such as uv's.")]
    with closing(sqlite3.connect(":memory:")) as database:
        fts5 = has_full_text(database)
    if not fts5:
        message = f"{sqlite3.sqlite_version}, without FTS5: nothing is kept."
        return [check("sqlite", "warning", message, "Use another Python, such as uv's.")]
    return [check("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")]


# ===== the skill's files ==========================================================================


def check_skill_folder() -> list[Check]:
    """Return the lines on this copy of the skill: complete, of one version, executable."""
    name = "skill folder"
    lines = file_lines(name)
    scripts = sorted(one for one in os.listdir(SCRIPTS_FOLDER) if one.endswith(".py"))
    paths = {script: os.path.join(SCRIPTS_FOLDER, script) for script in scripts}
    versions = {script: text_in(paths[script], r'^VERSION = "(.*)"') for script in scripts}
    skill = os.path.join(SKILL_FOLDER, "SKILL.md")
    versions["SKILL.md"] = text_in(skill, r'^  version: "(.*)"')
    other = [f"{file} {found}" for file, found in versions.items()
             if found not in ("", common.VERSION)]  # fmt: skip
    if other:
        message = f"The files are not of one version ({common.VERSION}): {named(other)}."
        lines.append(check(name, "warning", message, INSTALL_HINT))
    if not os.path.isfile(skill):
        message = f"{SKILL_FOLDER} has no SKILL.md: agents do not find the skill here."
        lines.append(check(name, "warning", message, INSTALL_HINT))
    if os.name == "posix":
        commands = [script for script in scripts if text_in(paths[script], r"\A(#!)")]
        stuck = [script for script in commands if not os.access(paths[script], os.X_OK)]
        if stuck:
            message = f"These files are not executable: {named(stuck)}."
            hint = f"Run: chmod +x '{SCRIPTS_FOLDER}'/*.py (`uv run` and python3 work as it is)."
            lines.append(check(name, "warning", message, hint))
    return lines or [check(name, "ok", f"{SKILL_FOLDER} is complete, version {common.VERSION}")]


def file_lines(name: str) -> list[Check]:
    """Return the lines on files that are missing or not as they were installed."""
    from pathlib import Path

    from websearch import skill_files

    changed: list[str] = []
    if skill_files.is_clone():
        missing = [f"scripts/{file}" for file in missing_code()]
    else:
        missing, changed = skill_files.damaged_files(Path(SKILL_FOLDER))
    lines = []
    if missing:
        kind = "internal" if any(map(is_needed, missing)) else ""
        message = f"{SKILL_FOLDER} lacks {named(missing)}."
        lines.append(check(name, "failed", message, INSTALL_HINT, kind))
    if changed:
        message = f"{SKILL_FOLDER} is not as it was installed; changed: {named(changed)}."
        lines.append(check(name, "warning", message, INSTALL_HINT))
    return lines


def missing_code() -> list[str]:
    """Return which commands, and which modules of the table of engines, cannot be found."""
    modules = [entry["module"].replace(".", "/") + ".py" for entry in ENGINES.values()]
    files = dict.fromkeys([*COMMAND_FILES, *modules])
    return [file for file in files if not os.path.isfile(os.path.join(SCRIPTS_FOLDER, file))]


def is_needed(file: str) -> bool:
    """Return whether every search needs a file: it is not a server's, nor a single engine's."""
    single = [entry["module"].replace(".", "/") for entry in ENGINES.values()]
    code = file.removeprefix("scripts/").removesuffix(".py")
    in_package = code.startswith("websearch/") and not code.startswith("websearch/servers/")
    return code == "web_search" or (in_package and code not in single)


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
    from websearch import skill_files

    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        message = "There is no home folder in which agents could look for skills."
        return [check("installed", "warning", message, "Set HOME.")]
    lines = [
        installed_line(agents, os.path.join(home, place, skill_files.NAME))
        for place, agents in skill_files.SKILLS_FOLDERS.items()
        if os.path.lexists(os.path.join(home, place, skill_files.NAME))
    ]
    if not lines and re.search(r"[/\\]skills?[/\\]web-search$", SKILL_FOLDER):  # a project's
        lines.append(check("installed", "ok", f"{SKILL_FOLDER} (this copy)"))
    if not lines:
        places = " and ".join(f"~/{place}/web-search" for place in skill_files.SKILLS_FOLDERS)
        message = f"No agent finds the skill: {places} are not there."
        hint = f"Run {INSTALL_COMMAND} in the skill's repository, or copy this folder there."
        lines.append(check("installed", "warning", message, hint))
    tool = os.path.join(skill_files.opencode_folder(None), "tool", "google_search.ts")
    if os.path.isfile(tool):
        lines.append(check("installed for opencode", "ok", f"tool {tool}"))
    return lines


def installed_line(agents: str, folder: str) -> Check:
    """Return the line on one copy of the skill that agents find."""
    from pathlib import Path

    from websearch import skill_files

    name = f"installed for {agents}"
    if not skill_files.is_skill(Path(folder)):
        message = f"{folder} does not hold this skill."
        return check(name, "warning", message, "Move it away, then install the skill.")
    found = text_in(os.path.join(folder, "SKILL.md"), r'^  version: "(.*)"')
    found = found or "of an unknown version"
    target = os.path.realpath(folder)
    linked = f", a link to {target}" if target != os.path.abspath(folder) else ""
    here = ", this copy" if target == SKILL_FOLDER else ""
    message = f"{folder} ({found}{here}{linked})"
    if found != common.VERSION:
        return check(name, "warning", f"{message}; this copy is {common.VERSION}.", INSTALL_HINT)
    return check(name, "ok", message)
