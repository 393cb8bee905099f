"""The desk in a real browser: `python3 tests/e2e/desk.py [FOLDER]`; e2e/browser.py runs it, too.

Drives http_server.py's pages for people with puppeteer-core, and looks at them with axe-core (npm;
skipped without). A hostile site on loopback stands for strangers. FOLDER: where screenshots go.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.e2e import installing
from tests.e2e.browser import installed_browser
from tests.e2e.scenarios import show
from tests.fake_server.server import FakeServer
from tests.support import small_web_environment
from tests.ways_in.http_support import ServerProcess
from tests.ways_in.mcp_support import Client
from tests.ways_in.test_desk import HOSTILE

if TYPE_CHECKING:
    from tests.e2e.scenarios import Check

FOLDER = installing.CACHE / "desk"
PACKAGES = ("puppeteer-core@24", "axe-core@4")
INSTALL_TIMEOUT = 600.0  # seconds
RUN_TIMEOUT = 180.0  # seconds
PAGE = "\n\n".join(["# <script>alert(1)</script> title", *HOSTILE, "The harmless end."])


class HostileSite(http.server.BaseHTTPRequestHandler):
    """Answers everything with Markdown that is meant to do harm."""

    def do_GET(self) -> None:
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/markdown; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Keep stderr quiet."""


def install() -> bool:
    """Install the packages; return whether they are there."""
    if all((FOLDER / "node_modules" / name.rpartition("@")[0]).exists() for name in PACKAGES):
        return True
    if not shutil.which("npm"):
        return False
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(FOLDER), *PACKAGES]
    done = subprocess.run(command, capture_output=True, timeout=INSTALL_TIMEOUT, check=False)
    return done.returncode == 0


def checks(browser: str, shots: str = "") -> list[Check]:
    """What the desk shows, does, and keeps out."""
    if not install():
        print("skipped: npm cannot give puppeteer-core and axe-core")
        return []
    hostile = http.server.ThreadingHTTPServer(("127.0.0.1", 0), HostileSite)
    hostile.daemon_threads = True
    threading.Thread(target=hostile.serve_forever, daemon=True).start()
    address = f"127.0.0.1:{hostile.server_address[1]}"
    with FakeServer(local_links=True) as web, tempfile.TemporaryDirectory() as folder:
        environment = {**small_web_environment(web.url), "GLSI_DB_PATH": f"{folder}/cache.db"}
        environment["WEB_SEARCH_ALLOW_PRIVATE"] += f",{address}"
        client = Client(environment)
        who = {"name": "e2e-client", "version": "1"}
        asked = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who}
        client.request("initialize", asked)
        client.call("web_search", query="rye flour")
        client.close()
        desk = ServerProcess(**environment)
        try:
            words = {
                "url": desk.url, "hostile": f"http://{address}/page", "browser": browser,
                "shots": shots, "sandbox": os.geteuid() != 0,
            }  # fmt: skip
            script = Path(__file__).with_suffix(".mjs")
            done = subprocess.run(
                ["node", str(script), json.dumps(words)], cwd=FOLDER, capture_output=True,
                text=True, timeout=RUN_TIMEOUT, check=False,
            )  # fmt: skip
        finally:
            desk.stop()
    hostile.shutdown()
    if done.returncode:
        return [("the desk is driven to the end", False, done.stderr[-3_000:])]
    return [(f"desk: {name}", holds, seen) for name, holds, seen in json.loads(done.stdout)]


def main() -> int:
    """Run all checks; return the exit code."""
    browser = installed_browser()
    if not browser:
        print("skipped: there is no browser, and none can be installed here")
        return 0
    return show(checks(browser, *sys.argv[1:2]))


if __name__ == "__main__":
    raise SystemExit(main())
