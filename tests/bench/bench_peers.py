"""The same searches by others: google-genai, ddgs, and Brave's own MCP server.

usage: bench_peers.py [--only WORD] [--pairs N] [--python PATH] [--quick]

They are taken from ${XDG_CACHE_HOME:-~/.cache}/web-search-dev/peers; BENCH_PEERS=1 installs them
there from PyPI and npm. A row says so where one is missing. All of them ask the fake server.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # run by its path: the packages beside it can be found
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.bench import bench_tokens
from tests.bench.harness import (
    CACHE,
    KEY,
    Measure,
    Result,
    World,
    against,
    interleaved,
    main,
    milliseconds,
    output_of,
    process_time,
)

FOLDER = CACHE / "peers"
PYTHON = FOLDER / "venv/bin/python"
PACKAGES = ("google-genai==3.4.0", "ddgs==9.16.1")
NPM_PACKAGE, NPM_VERSION = "@brave/brave-search-mcp-server", "2.1.4"
BRAVE_SERVER = FOLDER / "node_modules" / NPM_PACKAGE / "dist/index.js"
PRELOAD = Path(__file__).with_name("brave_mcp_preload.mjs")
INSTALL_SECONDS = 600.0
ABSENT = "not installed: BENCH_PEERS=1 installs it"
TOOL = "brave_web_search"  # has the same name in both servers
SECTIONS = "web,query"  # what Brave's server asks for
GOOGLE_GENAI = """\
import sys
from google import genai
from google.genai import types
options = types.HttpOptions(base_url=sys.argv[1])
client = genai.Client(api_key=sys.argv[2], http_options=options)
search = types.Tool(google_search=types.GoogleSearch())
answer = client.models.generate_content(
    model="gemini-3.8-flash",
    contents="sourdough",
    config=types.GenerateContentConfig(tools=[search]),
)
print(answer.text, answer.candidates[0].grounding_metadata.grounding_chunks)
"""
DDGS = """\
import json, sys
from ddgs import DDGS
from ddgs.engines.duckduckgo import Duckduckgo
send = Duckduckgo.request
url = sys.argv[1] + "/html/"
form = {"data": {"q": "sourdough", "b": ""}, "headers": {"Referer": url}}
Duckduckgo.request = lambda self, method, *_, **__: send(self, method, url, **form)
print(json.dumps(DDGS().text("sourdough", backend="duckduckgo", max_results=10)))
"""
LIBRARIES = {
    "google-genai": ("google/genai", GOOGLE_GENAI, "gemini_search.py"),
    "ddgs": ("ddgs", DDGS, "keyless_search.py"),
}


# ===== installing =================================================================================


def library_is_there(module: str) -> bool:
    """Return whether the folder's interpreter has a package."""
    return any(FOLDER.glob(f"venv/lib/python3*/site-packages/{module}/__init__.py"))


def install() -> None:
    """Install what is missing, if BENCH_PEERS=1 asks for it; raises where that fails."""
    if os.environ.get("BENCH_PEERS") != "1":
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not all(library_is_there(module) for module, _, _ in LIBRARIES.values()):
        run_installer([sys.executable, "-m", "venv", str(FOLDER / "venv")])
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run_installer([*pip, *PACKAGES])
    if not BRAVE_SERVER.exists() and shutil.which("npm"):
        wanted = {"private": True, "dependencies": {NPM_PACKAGE: NPM_VERSION}}
        (FOLDER / "package.json").write_text(json.dumps(wanted), encoding="utf-8")
        options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        run_installer(["npm", "install", *options])


def run_installer(command: list[str]) -> None:
    """Run a command in the folder of the peers."""
    subprocess.run(
        command, cwd=FOLDER, check=True, stdout=subprocess.DEVNULL, timeout=INSTALL_SECONDS
    )


def with_peers(where: World) -> None:
    """Install what is missing, once a run."""
    where.kept("peers", install)


# ===== libraries ==================================================================================


def library(where: World, name: str) -> Result:
    """Compare one search as a whole process with the same by a library's shortest script."""
    module, source, script = LIBRARIES[name]
    with_peers(where)
    if not library_is_there(module):
        return Result(ABSENT)
    file = where.written(f"peer-{name}.py", source)
    peer = [str(PYTHON), file, where.address, KEY]
    if b"ourdough" not in output_of(peer, where.environment):
        raise RuntimeError("the peer found nothing")
    ours = process_time(where.script(script, "sourdough"), where.environment)
    return against(interleaved(ours, process_time(peer, where.environment), where.pairs))


# ===== Brave's MCP server =========================================================================


def tool_texts(
    command: list[str], environment: dict[str, str], queries: tuple[str, ...]
) -> list[str]:
    """Start an MCP server, search for each query, and return the text of each answer."""
    initialize = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        ask(process, 0, "initialize", initialize)
        send(process, {"method": "notifications/initialized"})
        texts = []
        for number, query in enumerate(queries, 1):
            call = {"name": TOOL, "arguments": {"query": query}}
            result = ask(process, number, "tools/call", call)
            texts.append("\n".join(part["text"] for part in result["content"]))
        return texts
    finally:
        process.kill()
        process.communicate()


def send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    """Write a message as a line."""
    if process.stdin is None:
        raise RuntimeError("the server has no stdin")
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def ask(process: subprocess.Popen[bytes], number: int, method: str, params: Any) -> Any:
    """Return the result of a request; raises RuntimeError if it has none, or is a tool's error."""
    send(process, {"id": number, "method": method, "params": params})
    if process.stdout is None:
        raise RuntimeError("the server has no stdout")
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            if "result" not in message or message["result"].get("isError"):
                raise RuntimeError(str(message)[:300])
            return message["result"]
    raise RuntimeError("the server ended without an answer")


def brave_server(where: World) -> tuple[list[str], dict[str, str]] | None:
    """Return the command and environment of Brave's server; None where it is not installed."""
    with_peers(where)
    node = shutil.which("node")
    if not node or not BRAVE_SERVER.exists():
        return None
    command = [os.path.realpath(node), "--import", str(PRELOAD), str(BRAVE_SERVER)]
    return command, {**where.environment, "BRAVE_API_KEY": KEY, "BRAVE_LOCAL_URL": where.address}


def mcp_search(where: World) -> Result:
    """Compare the time from the start of an MCP server to the answer of its first search."""
    peer = brave_server(where)
    if peer is None:
        return Result(ABSENT)
    queries = ("sourdough",)
    ours = where.script("mcp_server.py"), where.environment
    return against(
        interleaved(
            lambda: milliseconds(lambda: tool_texts(*ours, queries)),
            lambda: milliseconds(lambda: tool_texts(*peer, queries)),
            where.pairs,
        )
    )


def mcp_characters(where: World) -> Result:
    """Compare the characters of documents with those of Brave's server for the same sections."""
    peer = brave_server(where)
    if peer is None:
        return Result(ABSENT)
    exchanges = bench_tokens.exchanges(where, "brave_search.py", ("--result-filter", SECTIONS))
    texts = tool_texts(*peer, bench_tokens.QUERIES[: len(exchanges)])
    ours, theirs = sum(len(one.text) for one in exchanges), sum(map(len, texts))
    return Result(f"{ours:,} characters", f"{theirs:,}", ours / theirs)


MEASURES = [
    *(
        Measure(f"{script}: one search, against {name}", functools.partial(library, name=name))
        for name, (_, _, script) in LIBRARIES.items()
    ),
    Measure("mcp_server.py: start and one search, against Brave's MCP server", mcp_search),
    Measure(
        "brave_search.py: characters for ten queries, against Brave's MCP server", mcp_characters
    ),
]

if __name__ == "__main__":
    raise SystemExit(main(MEASURES))
