"""read_page with a real browser, and the desk in it (desk.py): `python3 tests/e2e/browser.py`.

Takes the Chromium or Chrome of this machine; where there is none, and this is root on Debian, it
installs Debian's chromium. As root, read_page runs as the user nobody, so that the browser has its
sandbox. Its pages come from a server on loopback; a second server, and a UDP socket, stand for
what is private: nothing may reach them.

Prints what it found, and at the end: N passed, N failed. Without a browser it says so, and the exit
code is 0.
"""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.e2e.scenarios import show
from tests.support import CANARY, SCRIPTS, load_script

browser: Any = load_script("websearch.pages.fetch.browser")
kit: Any = load_script("websearch.kit")
INSTALL_TIMEOUT = 600.0  # seconds
CALL_TIMEOUT = 60.0  # seconds; read_page itself ends at its own timeout
LOST_SECONDS = 5.0  # in which the processes of a browser must have ended
FILLING = "The tide tables of the harbour are filled in by a script, line by line, every morning. "
SCRIPTS_OF_PAGES = {
    "filled": "fetch('/data').then(a => a.text()).then(t => setTimeout(() => show(t), 700))",
    "loop": f"show({FILLING * 3!r}); while (true) {{}}",
    "endless": f"show({FILLING * 3!r}); fetch('/hang'); new Image().src = '/hang'; "
    "setInterval(() => document.title += 'x', 5)",
    "dialog": f"alert(1); confirm(2); prompt(3); window.onbeforeunload = () => 'stay'; "
    f"show({FILLING * 3!r}); alert(4)",
    "download": f"let a = document.createElement('a'); a.href = '/blob'; a.download = 'x.bin'; "
    f"document.body.append(a); a.click(); location = '/blob'; show({FILLING * 3!r})",
    "private": """
        const secret = 'http://SECRET', tries = [];
        const note = (name, promise) => tries.push(
            Promise.race([promise, new Promise((_, no) => setTimeout(() => no('late'), 3000))])
                .then(() => name + ' reached', () => name + ' refused'));
        note('fetch', fetch(secret + '/fetch', {mode: 'no-cors'}));
        note('localhost', fetch('http://localhost:SECRETPORT/name', {mode: 'no-cors'}));
        note('redirect', fetch('/to?' + secret + '/redirect', {mode: 'no-cors'}));
        note('tls', fetch('https://SECRET/tls', {mode: 'no-cors'}));
        note('metadata', fetch('http://169.254.169.254/latest', {mode: 'no-cors'}));
        for (const name of ['img', 'iframe', 'script', 'link', 'video', 'object']) {
            const one = document.createElement(name);
            one.src = one.href = one.data = secret + '/' + name; one.rel = 'stylesheet';
            document.body.append(one);
        }
        const frame = document.createElement('iframe'); frame.src = 'file:///etc/passwd';
        document.body.append(frame);
        note('socket', new Promise((yes, no) => {
            const one = new WebSocket('ws://SECRET/socket');
            one.onopen = yes; one.onerror = no; }));
        const call = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:UDPPORT'},
            {urls: 'turn:SECRET?transport=tcp', username: 'a', credential: 'b'}]});
        call.createDataChannel('x');
        call.createOffer().then(offer => call.setLocalDescription(offer));
        if (window.WebTransport) note('transport', new WebTransport('https://127.0.0.1:UDPPORT/').ready);
        navigator.sendBeacon(secret + '/beacon', 'x');
        open(secret + '/popup');
        Promise.all(tries).then(all => setTimeout(() => show(all.join(', ') + '. FILLING'), 1500));
    """,
    "leads": "location = 'http://SECRET/leads'",
    "file": "location = 'file:///etc/passwd'",
}


class Handler(http.server.BaseHTTPRequestHandler):
    """The site with the pages, and, where its server is the secret one, a record of requests."""

    server: Any

    def do_GET(self) -> None:
        name = self.path.strip("/").partition("?")[0]
        self.server.paths.append(self.path)
        if name == "hang":
            time.sleep(CALL_TIMEOUT)
            return
        script = SCRIPTS_OF_PAGES.get(name)
        body = FILLING * 3
        if script:
            for word, value in self.server.words.items():
                script = script.replace(word, value)
            body = (
                "<!DOCTYPE html><html><head><title>Tides</title></head><body><div id=root></div>"
                "<script>const show = text => { document.getElementById('root').innerHTML = "
                f"'<p>' + text; }};{script}</script></body></html>"
            )
        self.send_response(302 if name == "to" else 200)
        if name == "to":
            self.send_header("Location", self.path.partition("?")[2])
        kind = "application/octet-stream" if name == "blob" else "text/html"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body.encode())

    do_POST = do_GET  # noqa: N815  http.server's name

    def log_message(self, *_: Any) -> None:
        """Keep stderr quiet."""


def start_server(words: dict[str, str]) -> Any:
    """A server on loopback; paths: what was asked for."""
    server: Any = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.paths, server.words = [], words
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Place:
    """Where read_page runs: a copy of the scripts that the user nobody can read, and a home."""

    def __init__(self, folder: Path, site: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.temporary = folder / "tmp"
        for one in (self.home, self.temporary):
            one.mkdir()
            one.chmod(0o777)
        folder.chmod(0o755)
        shutil.copytree(SCRIPTS, folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        self.environment = {
            "PATH": "/usr/bin:/bin:/usr/local/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "WEB_SEARCH_ALLOW_PRIVATE": site,
            "BRAVE_SEARCH_API_KEY": CANARY,
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        self.user: dict[str, Any] = {}
        self.python = sys.executable
        if os.geteuid() == 0:
            self.user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            self.python = "/usr/bin/python3"
        if self.user and not Path(self.python).exists():
            self.user, self.python = {}, sys.executable
            self.environment["WEB_SEARCH_BROWSER_ARGS"] = "--no-sandbox"
            print("note: no Python that nobody can run; the browser runs as root, without sandbox")

    def start(self, url: str, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start read_page --browser."""
        command = [self.python, str(self.folder / "scripts/read_page.py"), url, "--browser", *words]
        return subprocess.Popen(
            command, env={**self.environment, **variables}, cwd="/", stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **self.user,
        )  # fmt: skip

    def read(self, url: str, *words: str, **variables: str) -> dict[str, Any]:
        """The document of read_page --browser."""
        process = self.start(url, *words, **variables)
        output, complaint = process.communicate(timeout=CALL_TIMEOUT)
        if complaint:
            print(complaint.decode()[:2_000])
        document: dict[str, Any] = json.loads(output)
        return document

    def left_behind(self) -> list[str]:
        """Profiles and processes that are still there a while after a call."""
        ends = time.monotonic() + LOST_SECONDS
        found: list[str] = []
        while time.monotonic() < ends:
            found = [str(one) for one in self.temporary.glob("web-search-browser-*")]
            for status in Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    if str(self.temporary).encode() in status.read_bytes():
                        found.append(status.parent.name)
            if not found:
                break
            time.sleep(0.2)
        return found


def text_of_page(document: dict[str, Any]) -> str:
    """The text of the only page, or what failed."""
    if not document["ok"]:
        return f"{document['details']['kind']}: {document['error']} {document['details']['hint']}"
    return str(document["pages"][0]["text"])


def installed_browser() -> str:
    """The path of a browser, installed if need be; "" if there is none."""
    with contextlib.suppress(kit.SearchError):
        return str(browser.find_browser())
    if os.geteuid() == 0 and shutil.which("apt-get"):
        for words in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(
                    ["apt-get", "-qq", *words], capture_output=True, check=False,
                    timeout=INSTALL_TIMEOUT,
                    env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                )  # fmt: skip
    with contextlib.suppress(kit.SearchError):
        return str(browser.find_browser())
    return ""


def check_pages(place: Place, site: str) -> list[tuple[str, bool, Any]]:
    """What the pages come to that a script fills, never stops, or that ask and download."""
    checks = []
    for name in ("filled", "loop", "endless", "dialog", "download"):
        begin = time.monotonic()
        document = place.read(f"http://{site}/{name}", "--timeout", "20")
        seconds = time.monotonic() - begin
        text = text_of_page(document)
        is_read = text.count("tide tables") == 3 and seconds < 21
        checks.append((f"{name}: the text is read, {seconds:.1f} s", is_read, text[:300]))
    left = [path for path in place.home.rglob("*") if ".glsi" not in path.parts]  # but the store
    checks.append(("no download is left", not left, str(left)))
    return checks


def check_guard(place: Place, site: str, secret: Any, udp: Any) -> list[tuple[str, bool, Any]]:
    """What pages reach that want something private."""
    text = text_of_page(place.read(f"http://{site}/private", "--timeout", "25"))
    checks = [("private: the page is read, and nothing it tried was reached",
               "fetch refused" in text and "reached" not in text, text[:600])]  # fmt: skip
    for name in ("leads", "file"):
        text = text_of_page(place.read(f"http://{site}/{name}", "--timeout", "20"))
        checks.append((f"{name}: nothing of it is read", "root:" not in text
                       and "tide tables" not in text, text[:300]))  # fmt: skip
    packets = []
    with contextlib.suppress(BlockingIOError):
        packets.append(udp.recv(2_000))
    checks.append(("the private server got no request", not secret.paths, secret.paths))
    checks.append(("the private UDP socket got no packet", not packets, packets))
    return checks


def check_surroundings(place: Place, site: str, path: str) -> list[tuple[str, bool, Any]]:
    """What the browser gets to see, and what is left when a call ends or is ended."""
    wrapper, seen = place.folder / "wrapper", place.home / "seen"
    wrapper.write_text(f'#!/bin/sh\nenv > "{seen}"\nexec "{path}" "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    text = text_of_page(place.read(f"http://{site}/filled", WEB_SEARCH_BROWSER=str(wrapper)))
    variables = seen.read_text(encoding="utf-8") if seen.exists() else ""
    checks = [
        ("a browser that is named by its path is used", "tide tables" in text, text[:300]),
        ("its environment holds no key", bool(variables) and CANARY not in variables, variables),
        ("its home is its profile", f"HOME={place.temporary}/web-search-browser-" in variables,
         variables),
        ("nothing is left of the browsers", not place.left_behind(), place.left_behind()),
    ]  # fmt: skip
    for name in ("SIGTERM", "SIGKILL"):
        process = place.start(f"http://{site}/loop", "--timeout", "20")
        time.sleep(3.0)
        process.send_signal(getattr(signal, name))
        process.communicate(timeout=CALL_TIMEOUT)
        # The processes end; the profile is deleted when a browser next starts.
        left = [one for one in place.left_behind() if one.isdigit()]
        checks.append((f"{name}: the browser ends with read_page", not left, left))
    return checks


def check_errors(place: Place, site: str) -> list[tuple[str, bool, Any]]:
    """What the errors say to do."""
    document = place.read(f"http://{site}/filled", PATH="/nowhere")
    checks = [("without a browser: what to install", "apt install chromium" in
               text_of_page(document), text_of_page(document))]  # fmt: skip
    if os.geteuid() == 0:
        user, place.user = place.user, {}
        document = place.read(f"http://{site}/filled", WEB_SEARCH_BROWSER_ARGS="")
        place.user = user
        text = text_of_page(document)
        checks.append(("as root: why it does not start", "Run as another user" in text, text))
    return checks


def main() -> int:
    """Run all checks; return the exit code."""
    path = installed_browser()
    if not path:
        print("skipped: there is no browser, and none can be installed here")
        return 0
    print(f"browser: {path}")
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.setblocking(False)
    secret = start_server({})
    port = str(secret.server_address[1])
    words = {"SECRETPORT": port, "SECRET": f"127.0.0.1:{port}", "FILLING": FILLING * 3,
             "UDPPORT": str(udp.getsockname()[1])}  # fmt: skip
    server = start_server(words)
    site = f"127.0.0.1:{server.server_address[1]}"
    with tempfile.TemporaryDirectory(prefix="e2e-") as folder:
        place = Place(Path(folder), site)
        checks = check_pages(place, site)
        checks += check_guard(place, site, secret, udp)
        checks += check_surroundings(place, site, path)
        checks += check_errors(place, site)
    from tests.e2e import desk  # which takes the browser that this module has found

    return show([*checks, *desk.checks(path)])


if __name__ == "__main__":
    raise SystemExit(main())
