"""Seeded fuzz of every way in: never a traceback, a defect's document, a hang, or broken JSON.

FUZZ_SECONDS (60): for all targets together; each has its share. FUZZ_SEED: another series.
FUZZ_CASE=NUMBER: this case alone. A case that fails prints the command that repeats it.
The only module to notice input that nobody thought of.
"""

from __future__ import annotations

import contextlib
import functools
import http.client
import http.server
import io
import json
import os
import random
import shutil
import signal
import sqlite3
import threading
import time
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import web_search
from tests.fake_server.server import FakeServer
from tests.support import (
    CANARY,
    ROOT,
    SCRIPTS,
    EnvironmentCase,
    HandlerServer,
    call_main,
    forget_rests,
    load_script,
    mutations,
    new_folder,
    small_web_environment,
)
from tests.tools.faults import SAMPLES
from tests.ways_in.http_support import ServerProcess, responses
from tests.ways_in.mcp_support import Client
from websearch import kit
from websearch.pages.extract import markdown
from websearch.passages import excerpts as passages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SECONDS = float(os.environ.get("FUZZ_SECONDS", "60"))
SEED = os.environ.get("FUZZ_SEED", "9011")
ONE_CASE = os.environ.get("FUZZ_CASE", "")
CASE_SECONDS = 30  # more than any case takes on a busy machine
TARGETS = 11  # test methods below; each gets an equal share of SECONDS
KEY = "good-" + CANARY
KEY_NAMES = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY")
MODULES = [
    load_script(path.stem)
    for path in sorted(SCRIPTS.glob("*.py"))
    if hasattr(load_script(path.stem), "COMMANDS")
]
# The thin commands, and the modules of the package that hold their functions.
HOMES = {
    "web_search": ("websearch.search.commands",),
    "keyless_search": ("websearch.search.keyless",),
    "read_page": ("websearch.reading.read",),
    "doctor": ("websearch.machine.doctor",),
    "http_server": ("websearch.ways_in.http_api",),
    "mcp_server": ("websearch.ways_in.mcp_stdio",),
}
PAGES = ROOT / "tests/fake_server/pages"
# Pages that are read through the APIs of their sites.
SITES = (
    "https://github.com/slowloop/asyncio-toolbox",
    "https://github.com/slowloop/asyncio-toolbox/issues/42",
    "https://github.com/breadlab/sourdough-calculator/pull/8",
    "https://stackoverflow.com/questions/70100101/how-to-cancel-a-python-asyncio-task-on-timeout",
    "https://news.ycombinator.com/item?id=40100201",
    "https://arxiv.org/abs/2401.00101",
)
KEYLESS = load_script("websearch.engines.table").keyless_engines()

TEXTS = [
    "", " ", "x", "京都 紅葉", "e\u0301", "\ud800", "\udcff", "\x00", "\x1b[31m", "\u202e",
    "\ufeff",
    "a" * 3_000, "-1", "1e999", "NaN", "true", "null", "@/etc/passwd", "@", "@/no/such/file", "-",
    "--", "http://x.y", "https://[::1", "https://e.org/z.goggle", "//x", "javascript:1",
    "file:///etc/passwd", "2024-02-30..2024-01-01", "2024-01-01..2024-02-01", "week", "24h", "7d9",
    "a,b,,c", ",", "{}", "[]", '["a"]', '{"query": "x"}', "\n\n", "a\tb", "$(id)", "'", '"', "\\",
    "{", "clear", "stats", "strict", "de", "us", "duckduckgo", "auto", "٣", "1_000", "0x10", "π",
    "data:text/html,x", "ftp://e.org/", "http://169.254.169.254/", "http://127.0.0.1:1/",
]  # fmt: skip
NUMBERS: list[Any] = [
    None, True, False, 0, -1, 1, 3, 21, 10**9, -(10**30), 10**400, 1.5, -0.0, 1e308, 1e-320,
    float("inf"), float("-inf"), float("nan"),
]  # fmt: skip


class HangError(BaseException):
    """A case that did not come to its end; no handler of the scripts may catch it."""


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Raise HangError in the main thread if the body takes longer than CASE_SECONDS."""

    def ring(*_: object) -> None:
        raise HangError(f"no end after {CASE_SECONDS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, CASE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def random_value(source: random.Random, depth: int = 0) -> Any:
    """Random JSON data, of the kinds that break careless code."""
    chance = source.random()
    if depth < 3 and chance < 0.12:
        return [random_value(source, depth + 1) for _ in range(source.randint(0, 3))]
    if depth < 3 and chance < 0.18:
        return {random_text(source): random_value(source, depth + 1)}
    if chance < 0.2:
        deep: Any = "x"
        for _ in range(300):
            deep = [deep]
        return deep
    return source.choice(NUMBERS) if chance < 0.5 else random_text(source)


def random_text(source: random.Random) -> str:
    """A text of the list above, or a random one."""
    if source.random() < 0.7:
        return source.choice(TEXTS)
    ranges = [(0, 0x7F), (0, 0x2FF), (0x2000, 0x20FF), (0xD7F0, 0xE010), (0x1F300, 0x1F6FF)]
    start, end = source.choice(ranges)
    return "".join(chr(source.randint(start, end)) for _ in range(source.randint(1, 12)))


def table_names(spec: dict[str, Any]) -> list[str]:
    """Every name that a command's parameters have, and some that they have not."""
    names = ["timeout", "max_chars", "verbose", "no_such", "", "Count", "--query", " q "]
    for parameter in spec["params"]:
        names += [parameter["name"], *parameter.get("aliases", ())]
    return names


def allowed_value(source: random.Random, parameter: dict[str, Any]) -> Any:
    """A value that the table allows, mostly."""
    if "choices" in parameter:
        return source.choice([*parameter["choices"], *parameter.get("values", ())])
    if parameter["type"] in ("int", "float"):
        number = source.choice([parameter["min"], parameter["max"], parameter["min"] + 1])
        return source.choice([number, str(number)])
    if parameter["type"] == "bool":
        return source.choice([True, False, "yes", 0])
    if parameter["type"] in ("list", "csv"):
        return [random_text(source) for _ in range(source.randint(1, 3))]
    return random_text(source)


def damaged(source: random.Random, data: bytes) -> bytes:
    """Bytes with some of them cut, repeated, replaced or put in."""
    pieces = [
        b"<", b">", b"</div>", b"<table>", b'"', b"'", b"\0", b"\xff", b"&#x", b"<!--", b"<script>",
        b"{", b"}", b"[", b"\xed\xa0\x80", b"&#55296;", b"<svg>", b"<a href=", b"]]>", b"\x1b[2J",
    ]  # fmt: skip
    for _ in range(source.randint(1, 12)):
        start = source.randrange(len(data) + 1)
        end = min(len(data), start + source.randrange(300))
        change = source.randrange(5)
        if change == 0:
            data = data[:start] + data[end:]
        elif change == 1:
            data = data[:start] + source.choice(pieces) * source.randint(1, 30) + data[start:]
        elif change == 2:
            data = data[:end] + data[start:]
        elif change == 3:
            data = data[:start] + source.randbytes(source.randint(0, 8)) + data[end:]
        else:
            data = data[:start]
    return data


class BreakingServer(HandlerServer):
    """Hands each request to a fake server, and its answer back as `change` leaves it."""

    def __init__(self, fake: FakeServer) -> None:
        breaking = self
        self.change: Callable[[int, bytes], tuple[int, bytes]] = lambda status, body: (status, body)
        address = urlsplit(fake.url)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                other = http.client.HTTPConnection(address.hostname or "", address.port, timeout=20)
                with contextlib.closing(other):
                    headers = dict(self.headers.items()) | {"Accept-Encoding": "identity"}
                    other.request(self.command, self.path, body, headers)
                    answer = other.getresponse()
                    status, data = breaking.change(answer.status, answer.read())
                self.send_response(status)
                self.send_header("Content-Type", answer.headers.get("Content-Type", "text/html"))
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(data)

            do_POST = do_GET  # noqa: N815  http.server's name

            def log_message(self, *_: Any) -> None:
                """Keep stderr quiet."""

        super().__init__(Handler)


def function_of(module: Any, name: str) -> Any:
    """Return a function of a script, from the script or the package; None if there is none."""
    homes = [module, *map(load_script, HOMES.get(module.__name__, ()))]
    return next((getattr(one, name) for one in homes if hasattr(one, name)), None)


def run_of(module: Any, command: str) -> Any:
    """Return the function that runs a command of a script."""
    return function_of(module, f"run_{command}") or function_of(module, "RUN")[command]


class FuzzCase(EnvironmentCase):
    """A clean environment, a folder to be in, and the loop over the cases of a target."""

    def setUp(self) -> None:
        self.folder = new_folder(self)
        before = Path.cwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        super().setUp()
        self.set_environment(**self.variables())

    def variables(self) -> dict[str, str]:
        """Nothing that is fuzzed may leave this machine."""
        return {
            **small_web_environment("http://127.0.0.1:9"),
            **dict.fromkeys(KEY_NAMES, KEY),
            "GLSI_DB_PATH": str(self.folder / "cache.db"),
        }

    def fuzz(self, check: Callable[[random.Random], None]) -> None:
        """Check case after case until the share of this target is used up."""
        end = time.monotonic() + SECONDS / TARGETS
        number = int(ONE_CASE or 0)
        while True:
            errors = io.StringIO()
            try:
                with watched(), contextlib.redirect_stderr(errors):
                    check(random.Random(f"{self.id()} {SEED} {number}"))
                # A fake server may stumble over what it gets back; a script may not.
                told = errors.getvalue()
                self.assertFalse("Traceback" in told and str(SCRIPTS) in told, told)
            except (Exception, HangError) as error:
                command = (
                    f"FUZZ_SEED={SEED} FUZZ_CASE={number} python3 -m unittest -k "
                    f"{self.id().rpartition('.')[2]} tests.long.test_fuzz"
                )
                raise AssertionError(f"case {number}: {error}\nagain: {command}") from error
            number += 1
            if ONE_CASE or time.monotonic() > end:
                break

    def check_document(
        self, module: Any, document: Any, told: object, command: str = "search"
    ) -> None:
        """A document of any kind but a defect's, which JSON and Markdown can hold."""
        self.assertIsInstance(document["ok"], bool)
        if not document["ok"]:
            self.assertIn(document["details"]["kind"], kit.EXIT_CODES)
            self.assertNotEqual(document["details"]["kind"], "internal", (document, told))
            self.assertTrue(document["error"], told)
        json.dumps(document, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
        own = getattr(module, "COMMANDS", {}).get(command, {}).get("to_markdown")
        self.assertTrue((own or function_of(module, "to_markdown"))(document), told)
        as_results = function_of(module, "as_results")
        if as_results:
            for item in as_results(document):
                self.assertTrue(item["url"], told)
                for name in ("title", "url", "snippet"):
                    self.assertIsInstance(item[name], str, (name, told))
                # Serper Scholar gives a year.
                self.assertIsInstance(item.get("date", ""), (str, int), told)


class Parameters(FuzzCase):
    def random_params(self, source: random.Random, spec: dict[str, Any]) -> dict[str, Any]:
        names = table_names(spec)
        chosen = source.sample(names, source.randint(0, min(4, len(names))))
        params = {name: random_value(source) for name in chosen}
        for parameter in spec["params"]:
            if source.random() < (0.9 if parameter.get("required") else 0.25):
                params[parameter["name"]] = allowed_value(source, parameter)
        return params

    def test_as_objects_to_every_command_of_every_script(self) -> None:
        commands = [
            (module, command)
            for module in MODULES
            for command in module.COMMANDS
            if command not in ("serve", "check")  # a server, and a look at this machine
        ]

        def check(source: random.Random) -> None:
            module, command = source.choice(commands)
            params = self.random_params(source, module.COMMANDS[command])
            params = {**params, "dry_run": True, "timeout": 5}
            function = run_of(module, command)
            self.check_document(module, function(params), (module.__name__, params), command)

        self.fuzz(check)

    def test_as_words_and_as_json_of_every_command_line(self) -> None:
        others = ("http_server", "doctor")  # a server, and a look at this machine
        modules = [one for one in MODULES if hasattr(one, "main") and one.__name__ not in others]
        # In this process, "-" would read and close the descriptor of the tests' own input.
        texts = [text for text in TEXTS if text not in ("-", "@-") and "\0" not in text]

        def check(source: random.Random) -> None:
            module = source.choice(modules)
            command = source.choice(list(module.COMMANDS))
            spec = module.COMMANDS[command]
            flags = [kit.flag_of(name) for name in kit.parameter_names(kit.all_params(spec))]
            words = [command] if source.random() < 0.8 else []
            for _ in range(source.randint(0, 5)):
                word = source.choice([*flags, "--params-json", "--format", "--output"])
                if source.random() < 0.2:
                    word += "=" + source.choice(texts)
                words.append(word)
                if source.random() < 0.7:
                    words.append(source.choice(texts))
            if source.random() < 0.3:
                params = self.random_params(source, spec)
                words += ["--params-json", json.dumps(params).replace("\0", "")]
            words = ["--dry-run" if one == "--verbose" else one for one in [*words, "--dry-run"]]
            if words[0] in ("serve", "mcp") or any("=-" in word for word in words):
                return
            # As the interpreter has them from the system: bytes that are no UTF-8 are surrogates.
            words = [os.fsdecode(one.encode("utf-8", "surrogatepass")) for one in words]
            run = call_main(module, *words)
            told = (module.__name__, words, run)
            self.assertNotIn("Traceback", run.stderr, told)
            self.assertIn(run.code, (0, 1, 2, 3, 4, 5), told)
            run.stdout.decode("utf-8")
            text_flags = ("--help", "-h", "--version", "--md")
            told_in_text = "markdown" in str(words) or any(
                word.startswith(text_flags) for word in words
            )
            lines = ("--jsonl", "--ordered", "--skip-done", "--urls-from")
            if not told_in_text and not any(word.startswith(lines) for word in words):
                self.assertIsInstance(run.document, dict, told)
            for path in self.folder.iterdir():
                if path.is_file() and path.name != "cache.db":
                    path.unlink()

        self.fuzz(check)


class Answers(FuzzCase):
    """The fake server's own answers, with something broken in each."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.fake = FakeServer()
        cls.addClassCleanup(cls.fake.close)
        cls.breaking = BreakingServer(cls.fake)
        cls.addClassCleanup(cls.breaking.close)

    fake: FakeServer
    breaking: BreakingServer

    def variables(self) -> dict[str, str]:
        url = self.breaking.url
        # The proxy refuses what the sites' own pages would be read with if their APIs fail.
        return {**super().variables(), **small_web_environment(url), "https_proxy": url}

    def fuzz_commands(
        self, scripts: tuple[str, ...], change: Callable[[random.Random, bytes], bytes]
    ) -> None:
        """Run commands of scripts with their usual parameters on broken answers."""
        commands = [
            (load_script(script), command, params)
            for (script, command), params in SAMPLES.items()
            if script in scripts
        ]

        def check(source: random.Random) -> None:
            module, command, params = source.choice(commands)
            # An engine that blocked or failed rests: it would not be asked any more.
            forget_rests(self.folder / "cache.db")
            lock = threading.Lock()
            said: list[bytes] = []

            def changed(status: int, body: bytes) -> tuple[int, bytes]:
                with lock:
                    data = change(source, body)
                    said.append(data[:2_000])
                    if source.random() < 0.05:
                        status = source.choice([200, 204, 301, 400, 401, 404, 418, 599])
                    return status, b"" if status in (204, 304) else data

            self.breaking.change = changed
            params = {**params, "timeout": 5}
            if module.__name__ == "keyless_search":
                params["engine"] = source.choice(KEYLESS)
            elif module.__name__ == "web_search":
                params |= {
                    "engine": source.choice(list(load_script("websearch.engines.table").ENGINES)),
                    "force": True,
                    "count": 2,
                }
            elif module.__name__ == "read_page":
                page = source.choice(sorted(PAGES.glob("*.html"))).stem
                pages = (f"{self.breaking.url}/site/articles/{page}", *SITES)
                params |= {"urls": [source.choice(pages)]}
            if source.random() < 0.3:
                params["max_chars"] = source.choice([1, 300, 2_000, 0])
            document = run_of(module, command)(params)
            self.check_document(module, document, (module.__name__, params, said), command)

        self.fuzz(check)

    @staticmethod
    def broken_json(source: random.Random, body: bytes) -> bytes:
        """JSON with places of another type; now and then bytes that are no JSON."""
        if source.random() < 0.1:
            return damaged(source, body)
        try:
            data = json.loads(body)
        except ValueError:
            return damaged(source, body)
        broken = next(mutations(data, source, 1))
        if source.random() < 0.1:
            broken = [broken, {"a": broken}, None, random_value(source)][source.randrange(4)]
        return json.dumps(broken).encode()

    def test_of_the_apis_to_every_command(self) -> None:
        self.fuzz_commands(("brave_search", "serper_search", "gemini_search"), self.broken_json)

    def test_of_the_engines_and_of_pages(self) -> None:
        def change(source: random.Random, body: bytes) -> bytes:
            is_json = body.lstrip()[:1] in (b"{", b"[")
            return self.broken_json(source, body) if is_json else damaged(source, body)

        self.fuzz_commands(("keyless_search", "read_page", "web_search"), change)


TAGS = (
    "html head body title div p span a ul ol li table thead tbody tr td th pre code h1 h2 h3 h6 "
    "article main section nav aside header footer form input select option textarea script style "
    "template noscript svg math iframe object img br hr b i em strong blockquote dl dt dd details "
    "summary figure figcaption video audio base meta link x-y"
).split()
ATTRIBUTES = (
    'class="content"', 'class="nav sidebar ad"', 'id="main"', "hidden", 'href="http://e.org/a?b=c"',
    'href="//["', "href=javascript:1", 'style="display:none"', 'aria-hidden="true"',
    'rowspan="999"',
    'colspan="99999999999"', 'start="1e9"', "a='\"", 'role="navigation"', 'lang="de"', "=", '"',
    'property="og:title" content="x"', 'datetime="2024-13-45"', 'src="data:x"', 'itemprop="author"',
)  # fmt: skip
WORDS = (
    "A sentence that says something, and then some more of it. ", "京都の紅葉。", "&amp;", "&#0;",
    "&#x",
    "&nbsp;", "|", "*", "```", "# x", "[a](b)", "<", "&#1114112;", "\u202e", "\x00", "1. ", "\n\n",
    "&lt;script&gt;", "]]>", "word" * 60, "\u0301" * 40,
)  # fmt: skip


def random_html(source: random.Random, size: int) -> str:
    """A random tree of about size characters, with broken tags, deep nesting, huge attributes."""
    parts: list[str] = []
    length = 0
    opened: list[str] = []
    depth = source.choice([3, 10, 2_000])
    while length < size:
        chance = source.random()
        if chance < 0.4 and len(opened) < depth:
            tag = source.choice(TAGS)
            attributes = " ".join(source.choices(ATTRIBUTES, k=source.randint(0, 3)))
            opened.append(tag)
            piece = f"<{tag} {attributes}>"
        elif chance < 0.65 and opened:
            tag = opened.pop() if source.random() < 0.8 else source.choice(opened)
            piece = f"</{tag}>"
        elif chance < 0.68:
            piece = source.choice(["<", "</", "<!--", "-->", "<![CDATA[", "<?x", "<a b='", "<p "])
        elif chance < 0.685:
            piece = f'<div class="{source.choice(WORDS) * source.randint(1, 300)}">'
        else:
            piece = source.choice(WORDS) * source.randint(1, 4)
        parts.append(piece)
        length += len(piece)
    return "".join(parts)


class Html(FuzzCase):
    def test_of_random_trees_is_read(self) -> None:
        def check(source: random.Random) -> None:
            html = random_html(source, source.choice([200, 2_000, 20_000, 100_000]))
            text = markdown.extract_markdown(html, "http://e.org/", source.random() < 0.5)
            words = source.choice(["sentence something", "京都", "\x00", "", "word " * 50])
            found = passages.select_passages(text, words, source.choice([1, 50, 2_000]))
            kit.dump_json({"text": text, "passages": found}).encode()
            self.assertNotRegex(text, r"[\0\x1b\u202e\ufeff]")

        self.fuzz(check)


class Mcp(FuzzCase):
    METHODS = (
        "initialize", "ping", "tools/list", "tools/call", "server/discover", "resources/list", "",
        "notifications/cancelled", "notifications/initialized", "logging/setLevel", "\ud800",
        "x" * 99,
    )  # fmt: skip

    def random_line(self, source: random.Random, tools: list[str]) -> bytes:
        """Return a message, or what is none, with the end of a line."""
        labels = ["query", "urls", "count", "timeout", "no_such", "", "summarizer_key", "offset"]
        arguments = {one: random_value(source) for one in source.sample(labels, 3)}
        params: Any = {"name": source.choice([*tools, "x"]), "arguments": arguments}
        if source.random() < 0.4:
            params = {**params, "_meta": random_value(source)}
        if source.random() < 0.3:
            params = random_value(source)
        data: Any = {
            "jsonrpc": source.choice(["2.0", "2.0", "2.0", random_value(source)]),
            "id": source.choice(["f", "", 7, -1, random_value(source)]),
            "method": source.choice([*self.METHODS, random_value(source)]),
            "params": params,
        }
        for name in source.sample(list(data), source.choice([0, 0, 0, 1, 2])):
            del data[name]
        data = source.choice([data, data, data, [data], [data] * 60, random_value(source)])
        line = json.dumps(data).encode()
        if source.random() < 0.2:
            line = damaged(source, line)
        return line.replace(b"\n", b" ") + source.choice([b"\n", b"\r\n", b"\n\n", b"\n \n"])

    def test_lines_leave_the_server_alive_and_its_answers_whole(self) -> None:
        fake = FakeServer(local_links=True)
        self.addCleanup(fake.close)
        variables = {**self.variables(), **small_web_environment(fake.url)}
        client = Client(variables)
        self.addCleanup(client.close)
        tools = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]

        def check(source: random.Random) -> None:
            for _ in range(source.randint(1, 6)):
                client.write(self.random_line(source, tools))
            number = client.start_request("tools/list", {})
            while True:
                try:
                    answer = client.receive()
                except ValueError as error:
                    raise AssertionError("a line that is no JSON") from error
                for one in answer if isinstance(answer, list) else [answer]:
                    self.check_message(one)
                if isinstance(answer, dict) and answer.get("id") == number:
                    return

        self.fuzz(check)
        code = client.close()
        self.assertEqual((code, client.errors), (0, b""))

    def test_bodies_over_http_get_whole_answers_and_never_500(self) -> None:
        fake = FakeServer(local_links=True)
        self.addCleanup(fake.close)
        variables = {**self.variables(), **small_web_environment(fake.url)}
        api = ServerProcess(**variables)
        self.addCleanup(lambda: api.process.poll() is None and api.stop())
        tools = list(load_script("websearch.ways_in.mcp_tools").TOOLS)
        versions = ["", "2025-11-25", "2025-03-26", "2026-07-28", "2099-01-01", "é"]

        def check(source: random.Random) -> None:
            body = self.random_line(source, tools)
            head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
                if source.random() < 0.4:
                    value = source.choice([*versions, *self.METHODS[:2], *tools, "=?base64?é?="])
                    head += f"{name}: {value}\r\n"
            data = f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body
            [answer] = responses(api.talk(data, ends=False))
            self.assertIn(answer.status, (200, 202, 400, 404), (data, answer))
            found = answer.document
            for one in found if isinstance(found, list) else [found] if found else []:
                self.check_message(one)

        self.fuzz(check)
        code, document, errors = api.stop()
        self.assertEqual((code, document["ok"], errors), (0, True, ""))

    def check_message(self, message: Any) -> None:
        self.assertEqual(message["jsonrpc"], "2.0")
        if "error" in message:
            self.assertNotEqual(message["error"]["code"], -32603, message)
        elif "method" not in message and "content" in message["result"]:
            text = message["result"]["content"][0]["text"]
            self.assertTrue(text)
            self.assertNotIn("(internal)", text)


class Http(FuzzCase):
    PATHS = (
        "/search", "/recall", "/read", "/cache", "/health", "/openapi.json", "/mcp", "/", "//",
        "/x",
    )  # fmt: skip

    def random_request(self, source: random.Random) -> bytes:
        names = "q count force engine url timeout max_chars since ttl x".split()
        pairs = []
        for name in source.sample(names, source.randint(0, 4)):
            value = source.choice([random_text(source), str(source.choice(NUMBERS))])
            data = value.encode("utf-8", "surrogatepass")
            pairs.append(f"{name}={quote(data)}" if source.random() < 0.9 else f"{name}=%F%{name}")
        target = source.choice(self.PATHS) + ("?" + "&".join(pairs) if pairs else "")
        method = source.choice(["GET"] * 6 + "HEAD POST DELETE OPTIONS PUT get X".split())
        lines = [f"{method} {target} HTTP/1.{source.choice('1110')}"]
        lines += source.choices(
            ["Host: localhost", "Host: 127.0.0.1:1", "Host: e.org", "Origin: null", "Accept: */*",
             "Connection: close", "Connection: keep-alive", "Content-Length: 0",
             "Expect: 100-continue", "Transfer-Encoding: chunked", "Content-Length: 3",
             "Authorization: Bearer x", "X: é"],
            k=source.randint(0, 3),
        )  # fmt: skip
        if source.random() < 0.8:
            lines.append("Host: localhost")
        data = "\r\n".join([*lines, "", ""]).encode()
        return damaged(source, data) if source.random() < 0.25 else data

    def test_requests_get_whole_answers_and_never_500(self) -> None:
        fake = FakeServer(local_links=True)
        self.addCleanup(fake.close)
        variables = {**self.variables(), **small_web_environment(fake.url)}
        api = ServerProcess(**variables)
        self.addCleanup(lambda: api.process.poll() is None and api.stop())

        def check(source: random.Random) -> None:
            data = b"".join(self.random_request(source) for _ in range(source.randint(1, 3)))
            heads = data.count(b"HEAD ")  # answers without the body that they announce
            told = api.talk(data)
            if not heads:
                for answer in responses(told):
                    self.assertNotEqual(answer.status, 500, (data, answer))
            self.assertNotIn(b'"kind":"internal"', told)
            self.assertNotIn(CANARY.encode(), told)

        self.fuzz(check)
        self.assertEqual(api.fetch("/health").status, 200)
        code, document, errors = api.stop()
        self.assertEqual((code, document["ok"], errors), (0, True, ""))


class Secrets(FuzzCase):
    def test_of_any_content_are_read_and_a_good_line_among_them_is_found(self) -> None:
        path = self.folder / "secrets.yaml"
        good = "GOOD_API_KEY: good-0123456789"
        os.environ["WEB_SEARCH_SECRETS"] = str(path)
        for name in KEY_NAMES:
            del os.environ[name]
        lines = [
            "# x", "BRAVE_API_KEY: a b", "SERPER_API_KEY:", "X: 'y", 'X: "y" z', "- a", "a: [1]",
            "\tA: b", "A: b # c", "A:b", "A: |", "  x", "---", "...", "%YAML 1.2", "A: &x b",
            "A: *x", "A: !!python/object:os.system x", "é: ü", "A: " + "x" * 9_999, ":", "A:: b",
            "GOOD_API_KEY",
        ]  # fmt: skip

        def check(source: random.Random) -> None:
            texts = [random_text(source) for _ in range(source.randint(0, 8))]
            texts += source.choices(lines, k=source.randint(0, 12))
            source.shuffle(texts)
            texts.insert(source.randint(0, len(texts)), good)
            data = source.choice(["\n", "\r\n", "\r"]).join(texts).encode("utf-8", "surrogatepass")
            has_good = True
            if source.random() < 0.3:
                data, has_good = damaged(source, data), False
            path.unlink(missing_ok=True)
            path.touch(mode=0o600)
            path.write_bytes(data)
            for names in (("GOOD_API_KEY",), ("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"), ("A",)):
                try:
                    found = kit.configured_key(*names)
                except kit.SearchError as error:
                    self.assertEqual(error.kind, "auth")
                    continue
                if has_good and names == ("GOOD_API_KEY",):
                    self.assertEqual(found, ("GOOD_API_KEY", "good-0123456789"), data)
            document = function_of(web_search, "run_search")({"query": "x", "dry_run": True})
            self.check_document(web_search, document, data)

        self.fuzz(check)


class StoredRows(FuzzCase):
    """What another program, another version or a fault of the disk has put into the store."""

    path: Path
    good: Path
    wanted: dict[str, Any]

    def setUp(self) -> None:
        super().setUp()
        fake = FakeServer(local_links=True)
        self.addCleanup(fake.close)
        self.set_environment(**{**self.variables(), **small_web_environment(fake.url)})
        self.path, self.good = self.folder / "cache.db", self.folder / "good.db"
        self.wanted = {"query": "python asyncio", "engine": "searxng", "count": 2}
        self.assertTrue(function_of(web_search, "run_search")(self.wanted)["ok"])
        self.assertTrue(function_of(web_search, "run_search")(self.wanted)["from_cache"])
        for extra in ("-wal", "-shm"):
            self.assertFalse(Path(f"{self.path}{extra}").exists(), "the store was not closed")
        shutil.copy(self.path, self.good)

    def random_cell(self, source: random.Random, old: Any) -> Any:
        kind = source.randrange(5)
        if kind == 0:
            return source.randbytes(source.randint(0, 40))
        if kind == 1 and isinstance(old, str):
            return damaged(source, old.encode("utf-8", "replace"))
        if kind == 2:
            return source.choice([None, 0, -1, 2**62, 1e300, "", "x", "9999-99-99 99:99:99"])
        if kind == 3:
            return source.choice(TEXTS).encode("utf-8", "replace").decode()
        return old

    def break_cells(self, source: random.Random, db: sqlite3.Connection) -> list[Any]:
        """Put random values into cells of the tables; return what was done."""
        db.text_factory = functools.partial(str, encoding="utf-8", errors="replace")
        names = "text text title final_url hosts fetched_at".split()
        places = [("pages", name) for name in names]
        places += [("cache", "content"), ("cache", "updated_at")]
        changes: list[Any] = []
        for _ in range(source.randint(1, 4)):
            table, column = source.choice(places)
            row_id, old = db.execute(
                f"SELECT rowid, {column} FROM {table} ORDER BY rowid = ? LIMIT 1",
                (source.randint(1, 2),),
            ).fetchone()
            value = self.random_cell(source, old)
            # Bytes go in as bytes, or as text that is no UTF-8.
            as_text = isinstance(value, bytes) and source.random() < 0.5
            mark = "CAST(? AS TEXT)" if as_text else "?"
            db.execute(f"UPDATE {table} SET {column} = {mark} WHERE rowid = ?", (value, row_id))
            changes.append((table, column, value))
        return changes

    def break_content(self, source: random.Random, db: sqlite3.Connection) -> list[Any]:
        """Make the kept answer JSON of another shape; return what was done."""
        (content,) = db.execute("SELECT content FROM cache").fetchone()
        broken = next(mutations(json.loads(content), source, 1))
        if source.random() < 0.1:
            broken = source.choice([{}, {"query": "x"}, {"document": broken}])
        db.execute("UPDATE cache SET content = ?", (json.dumps(broken),))
        return [broken]

    def check_store(
        self,
        source: random.Random,
        damage: Callable[[random.Random, sqlite3.Connection], list[Any]],
    ) -> None:
        """Every command works with a store that was damaged."""
        for old in self.folder.glob("cache.db*"):
            old.unlink()
        shutil.copy(self.good, self.path)
        with contextlib.closing(sqlite3.connect(self.path)) as db:
            changes = damage(source, db)
            db.commit()
        for more in ({}, {"stale": True, "ttl": "0"}, {"no_pages": True}):
            document = function_of(web_search, "run_search")({**self.wanted, **more, "timeout": 10})
            self.check_document(web_search, document, (more, changes))
            self.assertTrue(document["ok"], (document, changes))
            function_of(web_search, "consolidated_text")(document)
        recalled = function_of(web_search, "run_recall")(
            {"query": source.choice(["python", "x y", "京都"])}
        )
        self.check_document(web_search, recalled, changes)
        for given in ({"action": "stats"}, {"action": "clear", "query": self.wanted["query"]}):
            document = function_of(web_search, "run_cache")(given)
            self.check_document(web_search, document, changes, "cache")

    def test_with_cells_of_any_type_and_bytes_are_misses_or_text(self) -> None:
        self.fuzz(lambda source: self.check_store(source, self.break_cells))

    def test_with_an_answer_of_another_shape_are_misses(self) -> None:
        self.fuzz(lambda source: self.check_store(source, self.break_content))


if __name__ == "__main__":
    unittest.main()
