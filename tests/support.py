"""What the test modules share: a clean environment, the scripts as processes and as modules.

run_script   runs a script as a process of its own, as a user does
load_script  imports a script whose name a table or a loop has
call_main    runs a script's main in this process, for tables of many command lines
FakeServerCase, CannedCase   test cases with a server and a key of their own
SmallWebCase                 the same where results lead to pages that can be read
small_web_environment        the variables that lead every script to such a server
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import importlib
import io
import json
import lzma
import os
import re
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock

from tests import SCRIPTS
from tests.fake_server.server import FakeServer
from tests.tools import capture

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import ModuleType

    from tests.fake_server.messages import RecordedRequest

ROOT = Path(__file__).resolve().parent.parent
# What tests/tools/portability.py changes in the environment of the scripts.
CHILD_ENVIRONMENT: dict[str, str | None] = json.loads(
    os.environ.get("TEST_CHILD_ENVIRONMENT", "{}")
)
LIKE_WINDOWS = "windows" in (CHILD_ENVIRONMENT.get("PYTHONPATH") or "")
# The scripts need the standard library alone: without site-packages nothing else can be found, and
# a process starts sooner. portability.py changes the interpreter by a module of `site`.
PYTHON = (sys.executable, *(() if CHILD_ENVIRONMENT else ("-S",)))
SLACK = 3.0  # seconds that a deadline may be late on a slow, busy machine
PROCESS_TIMEOUT = 60.0  # seconds after which a process that hangs is a failure
# The tail of a key that must be found nowhere; tests/tools/canary.py gives each run a new one.
CANARY = os.environ.get("WEB_SEARCH_TEST_CANARY") or "canary-0123456789abcdef"
KEPT = os.environ.get("WEB_SEARCH_TEST_KEPT")  # where tests/tools/canary.py wants everything kept
# A shell starts background jobs with it ignored, and their children would never end by Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
keeper = capture.start(KEPT, CANARY) if KEPT else None

# What the user's own environment could change in a test.
_PRIVATE = re.compile(
    r"WEB_SEARCH_.*|GLSI_.*|.*_API_KEY|.*_ACCESS_TOKEN|.*_BASE_URL|.*_proxy|XDG_CONFIG_HOME"
    r"|CI|TERM|NO_COLOR|CLAUDECODE|CODEX_SANDBOX|GEMINI_CLI|OPENCODE|CURSOR_AGENT"
    r"|GITHUB_TOKEN|GEMINI_MODEL|GEMINI_PROVIDERS|GOOGLE_CLOUD_.*"
    r"|PYTHON.*|SSL_CERT_.*",
    re.IGNORECASE,
)


class Run(NamedTuple):
    """What a process left behind; document is None where stdout is no JSON."""

    code: int
    document: Any
    stdout: bytes
    stderr: str


@functools.cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="web-search-home-")  # removed at exit


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's environment without the user's keys and settings, HOME an empty folder.

    TEST_CHILD_ENVIRONMENT, a JSON object, changes it once more before variables do; null removes
    one.
    """
    inherited = {n: value for n, value in os.environ.items() if not _PRIVATE.fullmatch(n)}
    # Byte code goes to the folder that run.py names, never into the repository.
    unwritten = {} if "PYTHONPYCACHEPREFIX" in inherited else {"PYTHONDONTWRITEBYTECODE": "1"}
    clean = {**inherited, "HOME": _home().name, **unwritten, **CHILD_ENVIRONMENT, **variables}
    return {name: value for name, value in clean.items() if value is not None}


def run_script(
    script: str,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    stdin: str | bytes = b"",
    cwd: str | Path | None = None,
) -> Run:
    """Run a script of scripts/ (or any path) in a clean environment plus env."""
    finished = subprocess.run(
        [*PYTHON, str(SCRIPTS / script), *arguments],
        env=clean_environment(**(env or {})),
        input=stdin.encode() if isinstance(stdin, str) else stdin,
        cwd=cwd or _home().name,
        capture_output=True,
        timeout=PROCESS_TIMEOUT,
        check=False,
    )
    document = _json_or_none(finished.stdout)
    return Run(finished.returncode, document, finished.stdout, finished.stderr.decode("utf-8"))


def samples_folder(name: str) -> Path | None:
    """Return the folder of ENGINE_SAMPLES that holds this file, or None."""
    folders = [
        Path(name) for name in os.environ.get("ENGINE_SAMPLES", "").split(os.pathsep) if name
    ]
    return next((folder for folder in folders if (folder / name).exists()), None)


def page_texts(folder: Path) -> list[str]:
    """Return the HTML pages of a folder: *.html, *.html.gz, and the html of lines in *.jsonl.xz."""
    texts = [path.read_text("utf-8", "replace") for path in sorted(folder.glob("*.html"))]
    packed = sorted(folder.glob("*.html.gz"))
    texts += [gzip.decompress(path.read_bytes()).decode("utf-8", "replace") for path in packed]
    for path in sorted(folder.glob("*.jsonl.xz")):
        lines = lzma.decompress(path.read_bytes()).splitlines()
        texts += [str(json.loads(line)["html"]) for line in lines]
    return texts


def load_script(name: str) -> ModuleType:
    """Import a script of scripts/ by its name, for tables of several scripts."""
    return importlib.import_module(name.removesuffix(".py"))


def call_main(module: Any, *arguments: str) -> Run:
    """Run a script's main in this process, its output caught."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    err = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = module.main(list(arguments))
    out.flush()
    stdout = out.detach().getvalue()
    if keeper:
        keeper.keep_output(f"main of {module.__name__}", stdout + err.getvalue().encode())
    return Run(code, _json_or_none(stdout), stdout, err.getvalue())


def _json_or_none(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def new_folder(test: unittest.TestCase | type[unittest.TestCase]) -> Path:
    """A folder that is removed after the test or, for a class, after its last test."""
    folder = tempfile.TemporaryDirectory()
    add_cleanup = test.addClassCleanup if isinstance(test, type) else test.addCleanup
    add_cleanup(folder.cleanup)
    return Path(folder.name)


class EnvironmentCase(unittest.TestCase):
    """A test case whose process environment is clean, plus what the class sets in environment."""

    environment: dict[str, str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.environment = {}

    def setUp(self) -> None:
        super().setUp()
        self.set_environment()

    def set_environment(self, **variables: str) -> None:
        """Use the clean environment of the class plus variables until the test is over."""
        environment = clean_environment(**{**self.environment, **variables})
        patch = mock.patch.dict(os.environ, environment, clear=True)
        patch.start()
        self.addCleanup(patch.stop)


class FakeServerCase(EnvironmentCase):
    """A test case with a fake server for its class; its record is empty when a test begins."""

    key = "good-" + CANARY
    local_links = False  # whether results lead to pages of the same server
    server: FakeServer

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = FakeServer(local_links=cls.local_links)
        cls.addClassCleanup(cls.server.close)
        cls.environment = cls.environment_of(cls.server.url, cls.key)

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:
        """The variables that lead a script to a server; another provider's tests override it."""
        return {"BRAVE_SEARCH_BASE_URL": url, "BRAVE_SEARCH_API_KEY": key}

    def setUp(self) -> None:
        super().setUp()
        self.server.clear()

    def run_script(self, script: str, *arguments: str, key: str = "", **variables: str) -> Run:
        """Run a script as a process against the server of the class."""
        environment = self.environment_of(self.server.url, key or self.key)
        return run_script(script, *arguments, env={**environment, **variables})

    def requests_with_key(self, key: str) -> list[RecordedRequest]:
        """What the server received under a key."""
        return [
            request
            for request in self.server.requests
            if key in [value for _, value in request.headers]
        ]


def forget_rests(store: Path) -> None:
    """Let every engine be asked again: forget in a store what is known of their paces."""
    if store.exists():
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(sqlite3.connect(store, isolation_level=None)) as database,
        ):
            database.execute("DELETE FROM engines")


def add_engine(scripts: Path, name: str, module: str) -> None:
    """Add an engine's module to a copy of the scripts, and name it in the table of engines."""
    (scripts / f"websearch/engines/{name}.py").write_text(module, encoding="utf-8")
    table = scripts / "websearch/engines/table.py"
    text = table.read_text(encoding="utf-8")
    text = text.replace("    wikipedia,\n", f"    {name},\n    wikipedia,\n", 1)
    table.write_text(
        text.replace("\n    )\n    for", f" {name},\n    )\n    for", 1), encoding="utf-8"
    )


def small_web_environment(url: str) -> dict[str, str]:
    """The variables that lead every script to a fake server, without pauses, and to its pages.

    There are no keys among them. SEARXNG_BASE_URL alone makes that engine a configured one; set
    it to "" where another engine is to answer first.
    """
    engines = load_script("websearch.engines.table").ENGINES
    others = "SERPER_SCRAPE GEMINI VERTEX CODE_ASSIST GITHUB_RAW WAYBACK REDDIT X".split()
    addresses = {
        engine.address[0]: f"{url}/{name}" if engine.keys and not engine.function else url
        for name, engine in engines.items()
    }
    return {
        **addresses,
        **{f"{name}_BASE_URL": url for name in others},
        "WEB_SEARCH_ALLOW_PRIVATE": url.removeprefix("http://"),
        "GLSI_RATE_LIMIT": "0s",
    }


class SmallWebCase(FakeServerCase):
    """A test case whose server is a small web: results lead to pages on it.

    Each test has a store of its own. No key is set: a test names those that it means.
    """

    local_links = True
    store: str  # GLSI_DB_PATH

    @staticmethod
    def environment_of(url: str, key: str) -> dict[str, str]:  # noqa: ARG004  no key here
        return small_web_environment(url)

    def setUp(self) -> None:
        super().setUp()
        self.store = f"{new_folder(self)}/glsi/cache.db"
        self.set_environment(GLSI_DB_PATH=self.store)

    def run_script(self, script: str, *arguments: str, key: str = "", **variables: str) -> Run:
        """Run a script as a process against the server of the class, with the test's store."""
        variables = {"GLSI_DB_PATH": self.store, **variables}
        return super().run_script(script, *arguments, key=key, **variables)


class HandlerServer:
    """A server on loopback with a request handler; a thread for each connection.

    certificate: a file with a certificate and its key, for a server that speaks TLS.
    """

    def __init__(
        self, handler: type[http.server.BaseHTTPRequestHandler], certificate: str = ""
    ) -> None:
        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                """Keep stderr quiet: a client that leaves early is what some tests are about."""

        self._server = Server(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # The handshake is left to the thread of each connection: one that fails there, as a
            # client does that refuses the certificate, must not end the server.
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class CannedServer(HandlerServer):
    """A server on loopback that answers every request with what the test says.

    answer: status, headers and body (bytes, or data that becomes JSON) of the next answers.
    certificate: a file with a certificate and its key, for a server that speaks TLS.
    """

    def __init__(self, certificate: str = "") -> None:
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body: Any = {}
        self.delay = 0.0  # seconds before an answer
        self.count = 0  # of requests
        self.received: tuple[str, Any] = ("", {})  # target and headers of the last request
        canned = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                canned.count += 1
                canned.received = self.path, self.headers
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                time.sleep(canned.delay)
                data = canned.body
                data = data if isinstance(data, bytes) else json.dumps(data).encode()
                self.send_response(canned.status)
                for name, value in canned.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET  # noqa: N815  http.server's name

            def log_message(self, *_: Any) -> None:
                """Keep stderr quiet."""

            def setup(self) -> None:
                super().setup()
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        super().__init__(Handler, certificate)


class CannedCase(EnvironmentCase):
    """A test case that decides what the server answers, for shapes no real server should send."""

    server: CannedServer

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = CannedServer()
        cls.addClassCleanup(cls.server.close)
        cls.environment = {
            "BRAVE_SEARCH_BASE_URL": cls.server.url,
            "BRAVE_SEARCH_API_KEY": "good-" + CANARY,
        }

    def setUp(self) -> None:
        super().setUp()
        self.server.status, self.server.headers, self.server.body = 200, {}, {}


def copy_json(value: Any) -> Any:
    """Return a copy of JSON data that shares nothing with it."""
    return json.loads(json.dumps(value))


def mutations(value: Any, random: Any, times: int) -> Iterator[Any]:
    """Yield copies of JSON data, each with one to four places broken: gone, null, another type."""
    broken: tuple[Any, ...] = (
        None,
        "",
        "text",
        0,
        -1,
        3.5,
        True,
        [],
        [None],
        ["x", 1],
        {},
        {"a": None},
        [[]],
    )
    for _ in range(times):
        copy = copy_json(value)
        for _ in range(random.randint(1, 4)):
            holders = list(_holders(copy))
            if not holders:
                break
            holder = random.choice(holders)
            index = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if random.random() < 0.25:
                del holder[index]
            else:
                holder[index] = copy_json(random.choice(broken))
        yield copy


def _holders(value: Any) -> Iterator[Any]:
    """Yield every list and object in JSON data that has members."""
    if isinstance(value, (dict, list)) and value:
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _holders(item)
