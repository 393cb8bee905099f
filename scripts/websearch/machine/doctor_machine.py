"""Run doctor.py's checks of this machine and of the skill's files."""

from __future__ import annotations

import os
import sys
from contextlib import closing

from websearch import kit
from websearch.base import http_client
from websearch.kit import shorten
from websearch.machine import skill_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    Line = dict[str, str]  # name, status, message, hint, kind

INSTALL_COMMAND = "python3 scripts/install.py install"
INSTALL_HINT = f"Run {INSTALL_COMMAND} in the skill's repository, or copy the whole folder again."


def ok(name: str, message: str) -> Line:
    """Return a report line about something that works."""
    return {"name": name, "status": "ok", "message": message}


def warning(name: str, message: str, hint: str) -> Line:
    """Return a report line about something that limits searches. hint: the remedy."""
    return {"name": name, "status": "warning", "message": message, "hint": hint}


def failed(name: str, message: str, hint: str, kind: str = "") -> Line:
    """Return a report line about something that does not work.

    kind: the error kind if this prevents all searches, else "".
    """
    line = {"name": name, "status": "failed", "message": message, "hint": hint}
    return {**line, "kind": kind} if kind else line


# ===== this machine ===============================================================================


def check_python() -> list[Line]:
    """Return the line about the Python interpreter; its version was checked at the start."""
    return [ok("python", f"{sys.version.split()[0]} at {sys.executable or 'an unknown path'}")]


def check_uv() -> list[Line]:
    """Return the line about uv, which the documents use to start the scripts."""
    import shutil

    if program := shutil.which("uv"):
        return [ok("uv", program)]
    hint = "Write python3 instead of `uv run`. Or install uv: https://docs.astral.sh/uv"
    return [warning("uv", "uv is not in PATH.", hint)]


def check_browser() -> list[Line]:
    """Return the line about the browser that renders pages that need JavaScript."""
    from websearch.pages.extract import thin_pages
    from websearch.pages.fetch import browser, fetch

    is_wanted = thin_pages.wants_browser({})
    try:
        program = browser.find_browser()
    except kit.SearchError as error:
        if is_wanted:
            return [warning("browser", str(error), error.hint)]
        return [ok("browser", "none is installed, so pages that need JavaScript are not read")]
    use = "it renders" if is_wanted else f"with {fetch.BROWSER_VARIABLE}=1 or --browser, it renders"
    return [ok("browser", f"{program}; {use} pages that need JavaScript")]


def check_certificates() -> list[Line]:
    """Return the line about the certificates for https."""
    name, message = "certificates", "There are no certificate authorities."
    try:
        import ssl

        count = http_client.tls_context().cert_store_stats()["x509_ca"]
        folder = ssl.get_default_verify_paths().capath  # certificates that are loaded on demand
        if count or (folder and os.path.isdir(folder) and os.listdir(folder)):
            source = f"{count} certificate authorities" if count else f"those in {folder}"
            return [ok(name, f"{source} ({ssl.OPENSSL_VERSION})")]
    except ImportError:
        message = "This Python has no ssl module."
    except OSError as error:  # also ssl.SSLError
        message = f"The certificates cannot be read ({type(error).__name__})."
    hint = "Install your system's ca-certificates, set SSL_CERT_FILE to a bundle or use uv's "
    return [failed(name, f"{message} No https server is trusted.", f"{hint}Python.", "network")]


def check_proxies() -> list[Line]:
    """Return the lines about the proxies for requests, without credentials."""
    from urllib.request import getproxies

    named, proxies, lines = getproxies(), kit.proxies(), []
    for scheme in [one for one in ("https", "http", "all") if one in named and one in proxies]:
        address = kit.hide_credentials(proxies[scheme])
        if address.lower().startswith("socks"):
            message = f"Python cannot use {address}."
            lines.append(warning(f"{scheme}_proxy", message, http_client.PROXY_HINT))
        else:
            lines.append(ok(f"{scheme}_proxy", f"requests go through {address}"))
    if lines and named.get("no"):
        lines.append(ok("no_proxy", f"these hosts bypass the proxy: {shorten(named['no'], 200)}"))
    return lines or [ok("proxy", "none; requests are direct")]


def check_sqlite() -> list[Line]:
    """Return the line about SQLite, which the store needs, and the full-text search for recall."""
    from websearch.store.database import StoreFile
    from websearch.store.full_text import has_full_text

    hint = "Use a Python whose SQLite has FTS5, such as uv's."
    with closing(StoreFile(":memory:")) as store:
        query = "SELECT sqlite_version()"
        version = store.use(lambda db: db.execute(query).fetchone()[0], "", writing=True)
        is_searchable = store.use(has_full_text, False)
    if not version:
        return [warning("sqlite", store.warnings[-1], f"{hint} Otherwise, nothing is paced.")]
    if not is_searchable:
        message = f"{version} lacks FTS5, so recall finds nothing"
        return [warning("sqlite", message, hint)]
    return [ok("sqlite", f"{version} with FTS5")]


# ===== the skill's files ==========================================================================


def check_skill_folder() -> list[Line]:
    """Return the line about this copy of the skill."""
    kind = skill_files.kind_of_copy()
    return [ok("skill folder", f"{skill_files.ROOT} is {kind}, version {kit.VERSION}")]


def check_installed() -> list[Line]:
    """Return the lines about the copies of the skill and the opencode tool that agents find."""
    try:
        targets = skill_files.target_folders(None)
    except skill_files.InstallError as error:
        return [warning("installed", str(error), "Set HOME.")]
    lines = [
        installed_line(f"installed for {agents}", folder)
        for folder, agents in zip(targets, skill_files.AGENTS, strict=True)
        if os.path.lexists(folder)
    ]
    root = skill_files.ROOT
    if not lines and root.name == skill_files.NAME and root.parent.name in ("skill", "skills"):
        lines.append(ok("installed", f"{root} (this copy)"))  # in a project's skills folder
    if not lines:
        message = f"No agent finds the skill: {' and '.join(map(str, targets))} do not exist."
        hint = f"Run {INSTALL_COMMAND} in the skill's repository, or copy this folder there."
        lines.append(warning("installed", message, hint))
    tool = skill_files.opencode_folder(None) / "tool/google_search.ts"
    return [*lines, ok("installed for opencode", f"tool {tool}")] if tool.is_file() else lines


def installed_line(name: str, folder: Path) -> Line:
    """Return the line about a copy of the skill that agents find."""
    if not skill_files.is_skill(folder):
        message = f"{folder} does not contain this skill."
        return warning(name, message, "Move it elsewhere, then install the skill.")
    version = skill_files.skill_version((folder / "SKILL.md").read_bytes())
    link = f", a link to {folder.resolve()}" if folder.is_symlink() else ""
    here = ", this copy" if folder.resolve() == skill_files.ROOT else ""
    message = f"{folder} ({version}{here}{link})"
    if version != kit.VERSION:
        return warning(name, f"{message}; this copy is {kit.VERSION}.", INSTALL_HINT)
    return ok(name, message)
