"""Each script as a whole process: one search, its version, a cached answer, and its memory.

A search is compared with ten lines of urllib that send the very request that the script sent; the
bar is 1.6 times that script for the single files. --version of the others is compared with an empty
interpreter; the bar is 1.5 times.
"""

from __future__ import annotations

import functools
import json
import statistics
from typing import TYPE_CHECKING, NamedTuple

from tests.bench.harness import (
    OWN_HEADERS,
    SCRIPTS,
    Measure,
    Result,
    against,
    interleaved,
    output_of,
    process_time,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.bench.harness import World

SEARCH_BAR, VERSION_BAR = 1.6, 1.5
SINGLE_FILES = ("brave_search.py", "serper_search.py", "gemini_search.py")
MEMORY_RUNS = 3  # the peak hardly changes from run to run
BARE_SCRIPT = """\
import json
import re
import urllib.request

request = urllib.request.Request(
    {url!r}, {data!r}, {headers!r}, method={method!r}
)
with urllib.request.urlopen(request, timeout=30) as response:
    body = response.read().decode()
print(json.dumps({expression}))
"""
# A process inherits the peak of the one that started it: so a small one does.
PEAK = """\
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(peak // 1024 if sys.platform == "darwin" else peak)
sys.exit(code)
"""
INITIALIZE = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n'
)


class Search(NamedTuple):
    """A search by a script, and what a bare script would print of the answer."""

    arguments: tuple[str, ...]
    expression: str


HTML_LINKS = """re.findall(r'class="result__a" href="(.*?)">(.*?)</a>', body)"""
SEARCHES = {
    "brave_search.py": Search(("sourdough",), 'json.loads(body)["web"]["results"]'),
    "serper_search.py": Search(("sourdough",), 'json.loads(body)["organic"]'),
    "gemini_search.py": Search(("sourdough",), 'json.loads(body)["candidates"]'),
    "keyless_search.py": Search(("sourdough",), HTML_LINKS),
    "read_page.py": Search(
        ("{address}/web/kitchen.example.com/bread/sourdough-starter-guide",),
        r're.sub(r"(?s)<(script|style).*?</\1>|<.*?>", "", body)',
    ),
    "web_search.py --no-pages (Brave)": Search(
        ("sourdough", "--no-pages", "--engine", "brave"), 'json.loads(body)["web"]["results"]'
    ),
    "web_search.py --no-pages (DuckDuckGo)": Search(
        ("sourdough", "--no-pages", "--engine", "duckduckgo", "--force"), HTML_LINKS
    ),
}
THIN_COMMANDS = (
    "keyless_search.py", "read_page.py", "web_search.py", "mcp_server.py", "http_server.py",
    "doctor.py",
)  # fmt: skip


def command_of(where: World, name: str) -> list[str]:
    """Return script and arguments of a search; its place says what it is to find."""
    arguments = (one.format(address=where.address) for one in SEARCHES[name].arguments)
    return [str(SCRIPTS / name.split(maxsplit=1)[0]), *arguments]


def bare_script(where: World, name: str) -> str:
    """Return the path of a script that sends the request that the search sent."""

    def write() -> str:
        where.received()
        output_of([where.python, *command_of(where, name)], where.environment)
        (request,) = where.received()
        headers = {
            key: value for key, value in request["headers"] if key.lower() not in OWN_HEADERS
        }
        text = BARE_SCRIPT.format(
            url=where.address + request["target"],
            data=request["body"].encode() or None,
            headers=headers,
            method=request["method"],
            expression=SEARCHES[name].expression,
        )
        return where.written(f"bare-{list(SEARCHES).index(name)}.py", text)

    path: str = where.kept(f"bare {name}", write)
    return path


def one_search(where: World, name: str) -> Result:
    """Compare a search with the bare script."""
    times = interleaved(
        process_time([where.python, *command_of(where, name)], where.environment),
        process_time([where.python, bare_script(where, name)], where.environment),
        where.pairs,
    )
    return against(times, SEARCH_BAR if name in SINGLE_FILES else 0.0)


def show_version(where: World, name: str) -> Result:
    """Compare --version with an empty interpreter."""
    times = interleaved(
        process_time(where.script(name, "--version"), where.environment),
        process_time([where.python, "-c", ""], where.environment),
        where.pairs,
    )
    return against(times, VERSION_BAR)


def cached_answer(where: World, more: tuple[str, ...]) -> Result:
    """Compare an answer of five pages from the store with an empty interpreter."""
    command = where.script("web_search.py", "how is a sourdough starter fed", *more)
    output_of(command, where.keyless)
    if not json.loads(output_of(command, where.keyless))["from_cache"]:
        raise RuntimeError("the answer is not from the cache")
    times = interleaved(
        process_time(command, where.keyless),
        process_time([where.python, "-c", ""], where.keyless),
        where.pairs,
    )
    return against(times)


def peak_kilobytes(where: World, command: list[str], stdin: bytes = b"") -> float:
    """Return the median of the most memory that runs of a command held."""
    launcher = [where.python, "-S", "-c", PEAK]
    runs = range(1 if where.quick else MEMORY_RUNS)
    return statistics.median(
        int(output_of([*launcher, *command], where.environment, stdin)) for _ in runs
    )


def memory(where: World, name: str) -> Result:
    """Compare the memory of a search with that of the bare script."""
    return megabytes(
        peak_kilobytes(where, [where.python, *command_of(where, name)]),
        peak_kilobytes(where, [where.python, bare_script(where, name)]),
    )


def server_memory(where: World) -> Result:
    """Compare the memory of an MCP server that was started with that of a bare interpreter."""
    return megabytes(
        peak_kilobytes(where, where.script("mcp_server.py"), INITIALIZE),
        peak_kilobytes(where, [where.python, "-c", ""]),
    )


def megabytes(ours: float, bare: float) -> Result:
    """Return the row of two peaks in kilobytes."""
    return Result(f"{ours / 1024:.1f} MB", f"{bare / 1024:.1f} MB", ours / bare)


def rows(text: str, take: Callable[..., Result], names: Iterable[str]) -> list[Measure]:
    """Return a measure for each name; text says what of it."""
    return [Measure(f"{name}: {text}", functools.partial(take, name=name)) for name in names]


MEASURES = [
    *rows("one search", one_search, SEARCHES),
    *rows("--version", show_version, THIN_COMMANDS),
    Measure("web_search.py: cache hit", functools.partial(cached_answer, more=())),
    Measure(
        "web_search.py: cache hit, --no-pages",
        functools.partial(cached_answer, more=("--no-pages",)),
    ),
    *rows("peak memory", memory, SEARCHES),
    Measure("mcp_server.py: peak memory", server_memory),
]
