"""Render pages that need JavaScript in an installed, headless Chromium or Chrome.

The browser has a temporary profile, no keys in its environment and its own sandbox. It reaches the
web only through browser_proxy.py. It is controlled through a pipe (DevTools protocol) that no other
process can reach, and is killed with all its children at the deadline.

--dump-dom would need no protocol, but it prints nothing for a page with an alert or an endless
script, waits for requests that never end, and does not report the final URL. After a redirect by
script, the text would be listed under the wrong URL.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from websearch.kit import Response, SearchError, clean_text, one_line, proxy_for
from websearch.pages.fetch.browser_proxy import GuardProxy
from websearch.pages.fetch.fetch import (
    BROWSER_VARIABLE,
    MAX_PAGE_BYTES,
    Fetched,
    normal_url,
    page_headers,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ARGUMENTS = "WEB_SEARCH_BROWSER_ARGS"  # additional arguments for the browser, such as --no-sandbox
PAGE_SECONDS = 15.0  # seconds per page, including the start of the browser
LEAST_SECONDS = 2.0  # minimum seconds for starting a browser; the start takes about 1 second
CLEANING_SECONDS = 0.5  # seconds before the deadline to end the browser and delete its profile
LAST_WRITE_SECONDS = 0.1  # seconds that a killed child needs for its last write
LEFT_SECONDS = 60.0  # seconds; an older profile belongs to a killed process
PROFILE = "web-search-browser-"  # prefix of a profile's name
# Bytes per message from the browser: each of MAX_PAGE_BYTES characters may take six bytes.
MAX_MESSAGE = 7 * MAX_PAGE_BYTES
POLL_SECONDS = 0.25  # seconds between two checks of the page's text
QUIET_SECONDS = 1.0  # seconds without a change after which a page with text is complete
SCRIPT_SECONDS = 2.0  # seconds without an answer after which the page's script is stopped
EMPTY_QUIET_SECONDS = 4.0  # QUIET_SECONDS for a page with almost no text, which may still load
ENOUGH_TEXT = 200  # characters; a page with fewer has almost no text
NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge",
)  # fmt: skip
PATHS = (  # browsers on macOS and Windows
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
    r"%ProgramFiles(x86)%\Google\Chrome\Application\chrome.exe",
    r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
    r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe",
)
# The only variables passed to the browser; its home and temporary files are in its profile.
PASSED_VARIABLES = ("PATH", "LANG", "LC_ALL", "SystemRoot", "SystemDrive", "windir")
FLAGS = (
    "--headless=new", "--no-first-run", "--no-default-browser-check", "--mute-audio",
    "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-breakpad",
    "--disable-crash-reporter", "--disable-default-apps", "--no-pings", "--password-store=basic",
    "--use-mock-keychain", "--blink-settings=imagesEnabled=false",
    # All traffic, including loopback, goes through the proxy; no DNS lookups, no UDP.
    "--proxy-bypass-list=<-loopback>", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic", "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)  # fmt: skip
INSTALL_HINT = (
    "Install Chromium or Chrome (Debian, Ubuntu: apt install chromium; Fedora: dnf install "
    "chromium; macOS: brew install chromium), or set WEB_SEARCH_BROWSER to its path."
)
DIALOG = "Page.javascriptDialogOpening"
_TEXT_LENGTH = "document.readyState + ' ' + (document.body ? document.body.innerText.length : 0)"
_PAGE = f"document.documentElement.outerHTML.slice(0, {MAX_PAGE_BYTES})"


def find_browser() -> str:
    """Return the path of an installed browser; raises SearchError (unsupported)."""
    path = os.environ.get(BROWSER_VARIABLE, "").strip()
    if os.path.sep in path:
        if os.access(path, os.X_OK):
            return path
        message = f"{BROWSER_VARIABLE} is {one_line(path, 200)}, which is not a program."
        raise SearchError("unsupported", message, INSTALL_HINT)
    paths = [*map(shutil.which, NAMES), *map(os.path.expandvars, PATHS)]
    for program in paths:
        if program and os.path.isfile(program):
            return program
    raise SearchError("unsupported", "No browser is installed.", INSTALL_HINT)


def read_in_browser(url: str, deadline: float, running: set[Browser]) -> Fetched:
    """Return a page as a browser shows it after its scripts have run; raises SearchError.

    running: set that contains the browser while it runs, so another thread can close it.
    """
    if proxy_for(url):
        message = "The browser cannot be used behind a proxy."
        raise SearchError("unsupported", message, "Use another source.")
    limit = min(deadline - CLEANING_SECONDS, time.monotonic() + PAGE_SECONDS)
    if limit - time.monotonic() < LEAST_SECONDS:
        message = "Too little time was left to start a browser."
        raise SearchError("timeout", message, "Raise {timeout}.", retryable=True)
    program = find_browser()
    with contextlib.closing(GuardProxy(url, limit)) as proxy:
        command = [
            program, *FLAGS, f"--proxy-server=http://127.0.0.1:{proxy.port}",
            f"--user-agent={page_headers()['User-Agent']}",
            *shlex.split(os.environ.get(ARGUMENTS, "")),
        ]  # fmt: skip
        with contextlib.closing(Browser(command, limit, running)) as browser:
            final_url, html = browser.show(url)
    if not final_url.startswith(("http://", "https://")):  # the browser's own error page
        host = one_line(" ".join(sorted(proxy.refused)) or "a URL that failed", 200)
        message = f"The page's scripts sent the browser to {host}."
        raise SearchError("refused", message, "Use another source.")
    body = html.encode("utf-8", "replace")
    response = Response(200, {"content-type": "text/html; charset=utf-8"}, body[:MAX_PAGE_BYTES])
    return Fetched(normal_url(final_url), response)


# ===== the browser ================================================================================


class Browser:
    """A browser process with a new profile, controlled through a pipe.

    Raises SearchError if the browser cannot be started.
    """

    def __init__(self, command: list[str], deadline: float, running: set[Browser]) -> None:
        self.deadline = deadline
        self.running = running
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.session = ""
        self.number = 0
        self.lock = threading.Lock()  # guards the pipe, which another thread may close
        self.is_open = True
        remove_left_profiles()
        self.profile = tempfile.mkdtemp(prefix=PROFILE)
        try:
            started = start_process([*command, f"--user-data-dir={self.profile}"], self.profile)
        except SearchError:
            shutil.rmtree(self.profile, ignore_errors=True)
            raise
        self.writer, self.reader, self.process = started
        running.add(self)
        threading.Thread(target=self.read_messages, daemon=True).start()

    def show(self, url: str) -> tuple[str, str]:
        """Load a page and wait until it is complete; return its final URL and its HTML."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        self.ask("Page.enable")
        self.ask("Browser.setDownloadBehavior", behavior="deny")
        loaded = self.ask("Page.navigate", url=url)
        if loaded.get("errorText"):
            reason = one_line(str(loaded["errorText"]), 100)
            message = f"The browser could not load the page ({reason})."
            raise SearchError("network", message, "Omit {browser}. Or use another source.")
        self.wait_until_filled()
        html = str(self.value_of(_PAGE))
        return str(self.value_of("location.href")), html

    def wait_until_filled(self) -> None:
        """Wait until the page's text stops changing, or until SCRIPT_SECONDS before the deadline.

        Stop an endless script; the page is then used in its current state.
        """
        patience = self.deadline - SCRIPT_SECONDS
        before, since = "", time.monotonic()
        while (now := time.monotonic()) < patience:
            shown = str(self.value_of(_TEXT_LENGTH))
            if shown != before:
                before, since = shown, now
            state, _, length = shown.partition(" ")
            has_text = length.isdigit() and int(length) >= ENOUGH_TEXT
            quiet = QUIET_SECONDS if has_text else EMPTY_QUIET_SECONDS
            if state == "complete" and now - since >= quiet:
                return
            time.sleep(POLL_SECONDS)

    def value_of(self, expression: str) -> Any:
        """Return the value of an expression in the page; stop an endless script."""
        asked: dict[str, Any] = {"expression": expression, "returnByValue": True}
        limit = min(self.deadline, time.monotonic() + SCRIPT_SECONDS)
        number = self.send("Runtime.evaluate", asked)
        try:
            answer = self.answer_to(number, limit)
        except SearchError:
            self.send("Runtime.terminateExecution", {})
            answer = self.answer_to(number, self.deadline)
        return answer.get("result", {}).get("value", "")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its result; raises SearchError."""
        return self.answer_to(self.send(method, params), self.deadline)

    def send(self, method: str, params: dict[str, Any]) -> int:
        """Send a command; return its number."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if self.session and not method.startswith(("Browser.", "Target.")):
            message["sessionId"] = self.session
        with self.lock:
            if not self.is_open:
                raise self.ended()
            try:
                os.write(self.writer, json.dumps(message).encode() + b"\0")
            except OSError:
                raise self.ended() from None
        return self.number

    def answer_to(self, number: int, limit: float) -> dict[str, Any]:
        """Return the result of a command; close dialogs that open in the meantime."""
        while True:
            try:
                message = self.messages.get(timeout=max(0.0, limit - time.monotonic()))
            except queue.Empty:
                text = "The browser did not finish loading the page in time."
                raise SearchError("timeout", text, "Raise {timeout}.", retryable=True) from None
            if message is None:
                raise self.ended()
            if message.get("method") == DIALOG:
                self.send("Page.handleJavaScriptDialog", {"accept": False})
            elif message.get("id") == number:
                result: dict[str, Any] = message.get("result", {})
                return result

    def read_messages(self) -> None:
        """Put answers and dialogs into self.messages, then None; messages end with NUL."""
        waiting = bytearray()
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(self.reader, 1 << 16):
                waiting += data
                if b"\0" in data:
                    *whole, waiting = waiting.split(b"\0")
                    for message in map(json.loads, whole):
                        if "id" in message or message.get("method") == DIALOG:
                            self.messages.put(message)
                if len(waiting) > MAX_MESSAGE:
                    break
        os.close(self.reader)
        self.messages.put(None)

    def ended(self) -> SearchError:
        """Return the error for a browser that ended unexpectedly."""
        try:
            with open(complaint_file(self.profile), encoding="utf-8", errors="replace") as file:
                said = clean_text(file.read(20_000))
        except OSError:
            said = ""
        hint = "Start the browser manually to see why. Or omit {browser}."
        unlocked = f"if the container is the sandbox, set {ARGUMENTS}=--no-sandbox."
        if "--no-sandbox" in said:
            message = "The browser does not start as root: its sandbox needs another user."
            hint = f"Run as another user. Or, {unlocked}"
        elif "sandbox" in said.lower():
            message = "The browser does not start: this system does not allow its sandbox."
            hint = f"Allow user namespaces. Or, {unlocked}"
        else:
            lines = [line for line in said.splitlines() if "ERROR" in line or "rror:" in line]
            message = f"The browser ended early. {one_line(' '.join(lines[-1:]), 200)}".strip()
        return SearchError("unsupported", message, hint)

    def close(self) -> None:
        """Kill the browser and all its children, wait until it ends and delete its profile."""
        with self.lock:
            if not self.is_open:
                return
            self.is_open = False
            os.close(self.writer)
            kill_process(self.process)
            shutil.rmtree(self.profile, ignore_errors=True)
            if os.path.exists(self.profile):  # a killed child was still writing
                time.sleep(LAST_WRITE_SECONDS)
                shutil.rmtree(self.profile, ignore_errors=True)
            self.running.discard(self)


def remove_left_profiles() -> None:
    """Delete the profiles that killed processes of this user left behind."""
    folder = tempfile.gettempdir()
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        with contextlib.suppress(OSError):
            status = os.lstat(path)
            is_mine = os.name == "nt" or status.st_uid == os.geteuid()
            is_old = time.time() - status.st_mtime > LEFT_SECONDS
            if name.startswith(PROFILE) and is_mine and is_old:
                shutil.rmtree(path)


# ===== processes ==================================================================================


def complaint_file(profile: str) -> str:
    """Return the file for the browser's stderr."""
    return os.path.join(profile, "stderr.txt")


def start_process(command: list[str], profile: str) -> tuple[int, int, Any]:
    """Start a browser; return the writing and reading ends of its pipe, and its process.

    On Windows, the handles of the pipe are passed as arguments. Elsewhere, the pipe is at file
    descriptors 3 and 4, and the browser leads its own process group.
    """
    in_reader, in_writer = os.pipe()
    out_reader, out_writer = os.pipe()
    environment = {name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ}
    environment |= dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "USERPROFILE"), profile)
    try:
        if sys.platform == "win32":
            process: Any = start_on_windows(command, environment, (in_reader, out_writer))
        else:
            process = spawn(command, environment, complaint_file(profile), (in_reader, out_writer))
    except OSError as error:
        os.close(in_writer)
        os.close(out_reader)
        message = f"The browser could not be started: {error.strerror}."
        raise SearchError("unsupported", message, INSTALL_HINT) from None
    finally:
        os.close(in_reader)
        os.close(out_writer)
    return in_writer, out_reader, process


def spawn(
    command: list[str], environment: dict[str, str], complaint: str, pipe: tuple[int, int]
) -> int:
    """Start a browser that leads a process group; return its process ID.

    subprocess cannot put a pipe at file descriptors 3 and 4 without running Python code after the
    fork, which is unsafe in a process with threads.
    """
    import fcntl

    # The copies avoid 3 and 4, and browsers started by other threads do not inherit them.
    copies = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pipe]
    try:
        actions: list[Any] = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, complaint, os.O_WRONLY | os.O_CREAT, 0o600),
            (os.POSIX_SPAWN_DUP2, copies[0], 3),
            (os.POSIX_SPAWN_DUP2, copies[1], 4),
        ]
        arguments = [command[0], "--remote-debugging-pipe", *command[1:], "about:blank"]
        return os.posix_spawn(
            command[0], arguments, environment, file_actions=actions, setpgroup=0,
            setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGPIPE],
        )  # fmt: skip
    finally:
        for copy in copies:
            os.close(copy)


def start_on_windows(
    command: list[str], environment: dict[str, str], pipe: tuple[int, int]
) -> subprocess.Popen[bytes]:
    """Start a browser that inherits the pipe ends; pass their handles as arguments."""
    import msvcrt

    windows: Any = subprocess  # STARTUPINFO exists only on Windows
    get_handle: Any = vars(msvcrt)["get_osfhandle"]
    handles = [int(get_handle(end)) for end in pipe]
    for handle in handles:
        vars(os)["set_handle_inheritable"](handle, True)
    start = windows.STARTUPINFO(lpAttributeList={"handle_list": handles})
    numbers = ",".join(map(str, handles))
    arguments = ["--remote-debugging-pipe", f"--remote-debugging-io-pipes={numbers}"]
    return subprocess.Popen(  # noqa: S603  a program that the user installed
        [command[0], *arguments, *command[1:], "about:blank"],
        env=environment, startupinfo=start, close_fds=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def kill_process(process: Any) -> None:
    """Kill a browser and its children, and wait until it ends."""
    if sys.platform == "win32":
        command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(command, capture_output=True, check=False)  # noqa: S603
        process.wait()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)
