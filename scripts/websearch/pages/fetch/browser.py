"""Pages that only a script fills, read in an installed Chromium or Chrome without a window.

The browser has a profile of its own, which is deleted, no keys in its environment, its sandbox, and
no way to the web but browser_proxy.py. It is controlled through a pipe (DevTools protocol), which
no other process can reach, and killed with all its children when its time is over.

--dump-dom would need no protocol, but gives nothing of a page with an alert or with a script
that never ends, waits for requests that never end, and does not tell the final address: the text
of the page that a script leads to would stand under the address of the first one.
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

from websearch.base.http_client import proxy_for
from websearch.kit import Response, SearchError, clean_text, one_line
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

ARGUMENTS = "WEB_SEARCH_BROWSER_ARGS"  # further arguments of the browser, such as --no-sandbox
PAGE_SECONDS = 15.0  # for one page, the start of the browser included
LEAST_SECONDS = 2.0  # a browser takes a second to start
CLEANING_SECONDS = 0.5  # kept free before the deadline, to end the browser and delete its profile
LAST_WRITE_SECONDS = 0.1  # a child that was killed has ended its last write after so long
LEFT_SECONDS = 60.0  # a profile that is older was left behind by a process that was killed
PROFILE = "web-search-browser-"  # the beginning of a profile's name
# Of one message of the browser: MAX_PAGE_BYTES characters can take six bytes each.
MAX_MESSAGE = 7 * MAX_PAGE_BYTES
LOOK_SECONDS = 0.25  # between two looks at what the page shows
QUIET_SECONDS = 1.0  # a page with text that does not grow any more for so long is filled
SCRIPT_SECONDS = 2.0  # a page that does not answer for so long is stopped
EMPTY_QUIET_SECONDS = 4.0  # the same for a page with next to no text, which may yet be filled
ENOUGH_TEXT = 200  # characters; less is next to no text
NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome",
    "microsoft-edge",
)  # fmt: skip
PATHS = (  # where browsers are installed on macOS and Windows
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"%ProgramFiles%\Google\Chrome\Application\chrome.exe",
    r"%ProgramFiles(x86)%\Google\Chrome\Application\chrome.exe",
    r"%LocalAppData%\Google\Chrome\Application\chrome.exe",
    r"%ProgramFiles(x86)%\Microsoft\Edge\Application\msedge.exe",
)
# The only variables that a browser gets; its home and its temporary files are in its profile.
PASSED_VARIABLES = ("PATH", "LANG", "LC_ALL", "SystemRoot", "SystemDrive", "windir")
FLAGS = (
    "--headless=new", "--no-first-run", "--no-default-browser-check", "--mute-audio",
    "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-breakpad",
    "--disable-crash-reporter", "--disable-default-apps", "--no-pings", "--password-store=basic",
    "--use-mock-keychain", "--blink-settings=imagesEnabled=false",
    # Everything goes through the proxy, loopback too; no names are resolved, nothing goes by UDP.
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
        message = f"{BROWSER_VARIABLE} names {one_line(path, 200)}, which is not a program."
        raise SearchError("unsupported", message, INSTALL_HINT)
    paths = [*map(shutil.which, NAMES), *map(os.path.expandvars, PATHS)]
    for program in paths:
        if program and os.path.isfile(program):
            return program
    raise SearchError("unsupported", "No browser is installed.", INSTALL_HINT)


def read_in_browser(url: str, deadline: float, running: set[Browser]) -> Fetched:
    """Return a page as a browser shows it once its scripts have filled it. Raises SearchError.

    running: holds the browser as long as it runs, so that another thread can close it.
    """
    if proxy_for(url):
        message = "A browser cannot be used where the web is behind a proxy."
        raise SearchError("unsupported", message, "Use another source.")
    limit = min(deadline - CLEANING_SECONDS, time.monotonic() + PAGE_SECONDS)
    if limit - time.monotonic() < LEAST_SECONDS:
        message = "No time was left to start a browser."
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
    if not final_url.startswith(("http://", "https://")):  # the browser's own page for errors
        host = one_line(" ".join(sorted(proxy.refused)) or "an address that failed", 200)
        message = f"The scripts of the page led the browser to {host}."
        raise SearchError("refused", message, "Use another source.")
    body = html.encode("utf-8", "replace")
    response = Response(200, {"content-type": "text/html; charset=utf-8"}, body[:MAX_PAGE_BYTES])
    return Fetched(normal_url(final_url), response)


# ===== the browser ================================================================================


class Browser:
    """A browser in a process of its own, with a new profile, controlled through a pipe.

    Raises SearchError if it cannot be started.
    """

    def __init__(self, command: list[str], deadline: float, running: set[Browser]) -> None:
        self.deadline = deadline
        self.running = running
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.session = ""
        self.number = 0
        self.lock = threading.Lock()  # for the pipe: another thread may close it
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
        """Load a page, wait until it is filled; return its final address and its HTML."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = self.ask("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        self.ask("Page.enable")
        self.ask("Browser.setDownloadBehavior", behavior="deny")
        loaded = self.ask("Page.navigate", url=url)
        if loaded.get("errorText"):
            reason = one_line(str(loaded["errorText"]), 100)
            message = f"The browser could not load the page ({reason})."
            raise SearchError("network", message, "Leave {browser} out, or use another source.")
        self.wait_until_filled()
        html = str(self.value_of(_PAGE))
        return str(self.value_of("location.href")), html

    def wait_until_filled(self) -> None:
        """Wait until the page has text that does not grow any more, or most of the time is over.

        A script that never ends is stopped; what the page shows then is what there is.
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
            time.sleep(LOOK_SECONDS)

    def value_of(self, expression: str) -> Any:
        """Return the value of an expression in the page, stopping a script that never ends."""
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
        """Return the result of a command, closing dialogs that open meanwhile."""
        while True:
            try:
                message = self.messages.get(timeout=max(0.0, limit - time.monotonic()))
            except queue.Empty:
                text = "The browser did not finish the page in time."
                raise SearchError("timeout", text, "Raise {timeout}.", retryable=True) from None
            if message is None:
                raise self.ended()
            if message.get("method") == DIALOG:
                self.send("Page.handleJavaScriptDialog", {"accept": False})
            elif message.get("id") == number:
                result: dict[str, Any] = message.get("result", {})
                return result

    def read_messages(self) -> None:
        """Put answers and dialogs into messages, None at the end; a message ends with a NUL."""
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
        """Return the error of a browser that has ended by itself."""
        try:
            with open(complaint_file(self.profile), encoding="utf-8", errors="replace") as file:
                said = clean_text(file.read(20_000))
        except OSError:
            said = ""
        hint = "Try the browser by hand, or leave {browser} out."
        unlocked = f"set {ARGUMENTS}=--no-sandbox where the container is the sandbox"
        if "--no-sandbox" in said:
            message = "The browser does not start as root, because its sandbox needs a user."
            hint = f"Run as another user, or {unlocked}."
        elif "sandbox" in said.lower():
            message = "The browser does not start, because this system lets it have no sandbox."
            hint = f"Allow user namespaces, or {unlocked}."
        else:
            lines = [line for line in said.splitlines() if "ERROR" in line or "rror:" in line]
            message = f"The browser ended by itself. {one_line(' '.join(lines[-1:]), 200)}".strip()
        return SearchError("unsupported", message, hint)

    def close(self) -> None:
        """Kill the browser and all its children, wait for its end, delete its profile."""
        with self.lock:
            if not self.is_open:
                return
            self.is_open = False
            os.close(self.writer)
            kill_process(self.process)
            shutil.rmtree(self.profile, ignore_errors=True)
            if os.path.exists(self.profile):  # a child that was killed was still writing
                time.sleep(LAST_WRITE_SECONDS)
                shutil.rmtree(self.profile, ignore_errors=True)
            self.running.discard(self)


def remove_left_profiles() -> None:
    """Delete the profiles that processes of this user left behind when they were killed."""
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
    """Return the file with what a browser writes to stderr."""
    return os.path.join(profile, "stderr.txt")


def start_process(command: list[str], profile: str) -> tuple[int, int, Any]:
    """Start a browser; return the pipe's end to write to, the one to read from, and its process.

    On Windows, the handles of the pipe are arguments. Elsewhere, the pipe is at 3 and 4, and the
    browser leads a process group of its own.
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
    """Start a browser that leads a process group; return the number of its process.

    subprocess cannot put a pipe at 3 and 4 without running Python code after the fork, which is
    unsafe in a process with threads.
    """
    import fcntl

    # Neither is at 3 or 4, and no browser that another thread starts inherits them.
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
    """Start a browser that inherits the ends of the pipe; their handles are arguments."""
    import msvcrt

    windows: Any = subprocess  # STARTUPINFO exists only there
    get_handle: Any = vars(msvcrt)["get_osfhandle"]
    handles = [int(get_handle(end)) for end in pipe]
    for handle in handles:
        vars(os)["set_handle_inheritable"](handle, True)
    start = windows.STARTUPINFO(lpAttributeList={"handle_list": handles})
    numbers = ",".join(map(str, handles))
    arguments = ["--remote-debugging-pipe", f"--remote-debugging-io-pipes={numbers}"]
    return subprocess.Popen(  # noqa: S603  a program that the user has installed
        [command[0], *arguments, *command[1:], "about:blank"],
        env=environment, startupinfo=start, close_fds=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


def kill_process(process: Any) -> None:
    """Kill a browser and its children, and wait for its end."""
    if sys.platform == "win32":
        command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        subprocess.run(command, capture_output=True, check=False)  # noqa: S603
        process.wait()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process, 0)
