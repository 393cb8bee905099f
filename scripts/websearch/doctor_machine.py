"""The checks of doctor.py that look at this machine and at the skill's files."""

from __future__ import annotations

import os
import sys

from websearch import common, http_client, skill_files
from websearch.common import shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    Line = dict[
        str, str
    ]  # name, status (ok, warning, failed), message, hint; kind: see report_line

UV_TIMEOUT = 10.0  # seconds for `uv --version`, which takes a moment on a disk that is busy
MAX_FILES = 5  # files that a message names; a damaged folder has a fault in each
INSTALL_COMMAND = "python3 scripts/install.py install"
INSTALL_HINT = f"Run {INSTALL_COMMAND} in the skill's repository, or copy the whole folder again."


def report_line(name: str, status: str, message: str, hint: str = "", kind: str = "") -> Line:
    """Return one line of the report.

    status: ok, warning or failed. hint: what to do, for every status but ok. kind: the kind of
    failure, if no search works because of it.
    """
    line: Line = common.drop_empty(
        {
            "name": name,
            "status": status,
            "message": message,
            "hint": hint,
            "kind": kind,
        }
    )
    return line


# ===== this machine ===============================================================================


def check_python() -> list[Line]:
    """Return the line on the interpreter, whose version was checked before anything else."""
    path = sys.executable or "an unknown path"
    return [report_line("python", "ok", f"{sys.version.split()[0]} at {path}")]


def check_uv() -> list[Line]:
    """Return the line on uv, with which the documents start the scripts."""
    import shutil
    import subprocess

    hint = "Write python3 for `uv run`, or install uv: https://docs.astral.sh/uv"
    program = shutil.which("uv")
    if not program:
        return [report_line("uv", "warning", "It was not found in PATH.", hint)]
    try:
        run = subprocess.run(  # noqa: S603  the uv that the documents' commands start
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=UV_TIMEOUT,
            check=True,
        )
        version = run.stdout.decode("utf-8", "replace").split()[1]
    except (OSError, subprocess.SubprocessError, IndexError) as error:
        message = f"{program} does not run ({type(error).__name__})."
        return [report_line("uv", "warning", message, hint)]
    return [report_line("uv", "ok", f"{version} at {program}")]


def check_browser() -> list[Line]:
    """Return the line on the browser that can fill pages which only a script fills."""
    from websearch.pages import browser, thin_pages

    is_wanted = thin_pages.wants_browser({})
    try:
        program = browser.find_browser()
    except common.SearchError as error:
        if is_wanted:
            return [report_line("browser", "warning", str(error), error.details["hint"])]
        message = "none is installed; pages that only a script fills are not read"
        return [report_line("browser", "ok", message)]
    use = "used for" if is_wanted else f"{thin_pages.BROWSER_VARIABLE}=1 or browser lets it fill"
    return [report_line("browser", "ok", f"{program}; {use} pages that only a script fills")]


def check_certificates() -> list[Line]:
    """Return the line on the certificates that https needs."""
    name, hint = "certificates", "Use another Python, such as uv's."
    try:
        import ssl
    except ImportError:
        message = "This Python has no ssl module, so nothing can be asked over https."
        return [report_line(name, "failed", message, hint, "network")]
    hint = "Install your system's ca-certificates, or set SSL_CERT_FILE to a bundle."
    try:
        count = http_client.tls_context().cert_store_stats()["x509_ca"]
    except (ssl.SSLError, OSError) as error:
        message = f"The certificates cannot be read ({type(error).__name__})."
        return [report_line(name, "failed", message, hint, "network")]
    folder = ssl.get_default_verify_paths().capath  # read one by one, when they are needed
    if not count and not (folder and os.path.isdir(folder) and os.listdir(folder)):
        message = "There are no certificate authorities, so no https server is trusted."
        return [report_line(name, "failed", message, hint, "network")]
    source = f"{count} certificate authorities" if count else f"certificate authorities in {folder}"
    return [report_line(name, "ok", f"{source} ({ssl.OPENSSL_VERSION})")]


def check_proxies() -> list[Line]:
    """Return the lines on the proxies that requests go through; their credentials stay hidden."""
    from urllib.request import getproxies

    proxies = getproxies()
    lines = []
    for scheme in ("https", "http", "all"):
        if address := proxies.get(scheme):
            name, shown = f"{scheme}_proxy", http_client.hide_credentials(address)
            if scheme == "all" or address.lower().startswith("socks"):
                message = f"Python cannot use {shown}."
                lines.append(report_line(name, "warning", message, http_client.PROXY_HINT))
            else:
                lines.append(report_line(name, "ok", f"requests go through {shown}"))
    if lines and proxies.get("no"):
        message = f"asked directly: {shorten(proxies['no'], 200)}"
        lines.append(report_line("no_proxy", "ok", message))
    return lines or [report_line("proxy", "ok", "none; requests go out directly")]


def check_sqlite() -> list[Line]:
    """Return the line on SQLite and its full text search, which the store needs."""
    from contextlib import closing

    from websearch.full_text import has_full_text

    try:
        import sqlite3
    except ImportError:
        message = "This Python has no sqlite3: nothing is kept, and engines are not paced."
        return [report_line("sqlite", "warning", message, "Use another Python, such as uv's.")]
    with closing(sqlite3.connect(":memory:")) as database:
        fts5 = has_full_text(database)
    if not fts5:
        message = f"{sqlite3.sqlite_version}, without FTS5: nothing is kept."
        return [report_line("sqlite", "warning", message, "Use another Python, such as uv's.")]
    return [report_line("sqlite", "ok", f"{sqlite3.sqlite_version} with FTS5")]


# ===== the skill's files ==========================================================================


def check_skill_folder() -> list[Line]:
    """Return the lines on this copy of the skill, which FILES.sha256 describes."""
    name, lines = "skill folder", []
    missing, changed = skill_files.damaged_files(skill_files.ROOT)
    if missing:
        kind = "internal" if any(is_needed(file) for file in missing) else ""
        message = f"{skill_files.ROOT} lacks {first_files(missing)}."
        lines.append(report_line(name, "failed", message, INSTALL_HINT, kind))
    if changed:
        message = f"{skill_files.ROOT} is not as it was installed; changed: {first_files(changed)}."
        lines.append(report_line(name, "warning", message, INSTALL_HINT))
    state = "a clone" if skill_files.is_clone() else "complete"
    message = f"{skill_files.ROOT} is {state}, version {common.VERSION}"
    return lines or [report_line(name, "ok", message)]


def first_files(files: list[str]) -> str:
    """Return the first files for a message, and how many more there are."""
    more = len(files) - MAX_FILES
    return ", ".join(files[:MAX_FILES]) + (f" and {more} more" if more > 0 else "")


def is_needed(file: str) -> bool:
    """Return whether every search needs a file: it is not a server's, nor a single engine's."""
    of_package = file.startswith("scripts/websearch/")
    of_some = file.startswith(("scripts/websearch/servers/", "scripts/websearch/engines/"))
    return file == "scripts/web_search.py" or (of_package and not of_some)


def check_installed() -> list[Line]:
    """Return the lines on where agents find the skill and the opencode tool."""
    try:
        targets = skill_files.target_folders(None)
    except skill_files.InstallError as error:
        return [report_line("installed", "warning", str(error), "Set HOME.")]
    lines = [
        installed_line(agents, folder)
        for folder, agents in zip(targets, skill_files.SKILLS_FOLDERS.values(), strict=True)
        if os.path.lexists(folder)
    ]
    root = skill_files.ROOT
    if not lines and root.name == skill_files.NAME and root.parent.name in ("skill", "skills"):
        lines.append(report_line("installed", "ok", f"{root} (this copy)"))  # a project's
    if not lines:
        message = f"No agent finds the skill: {' and '.join(map(str, targets))} are not there."
        hint = f"Run {INSTALL_COMMAND} in the skill's repository, or copy this folder there."
        lines.append(report_line("installed", "warning", message, hint))
    tool = skill_files.opencode_folder(None) / "tool/google_search.ts"
    if tool.is_file():
        lines.append(report_line("installed for opencode", "ok", f"tool {tool}"))
    return lines


def installed_line(agents: str, folder: Path) -> Line:
    """Return the line on one copy of the skill that agents find."""
    name = f"installed for {agents}"
    if not skill_files.is_skill(folder):
        message = f"{folder} does not hold this skill."
        return report_line(name, "warning", message, "Move it away, then install the skill.")
    version = skill_files.skill_version((folder / "SKILL.md").read_bytes())
    target = folder.resolve()
    link = f", a link to {target}" if folder.is_symlink() else ""
    here = ", this copy" if target == skill_files.ROOT else ""
    message = f"{folder} ({version}{here}{link})"
    if version != common.VERSION:
        message = f"{message}; this copy is {common.VERSION}."
        return report_line(name, "warning", message, INSTALL_HINT)
    return report_line(name, "ok", message)
