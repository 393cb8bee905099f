"""Show the main jobs from end to end against a local fake server: no key, no network.

usage: demo.py

Each step prints the command and then what it prints, as a user would see it in a terminal.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from tests.fake_server.server import FakeServer  # noqa: E402  the path is set just above

LONGEST_LINE = 600  # characters
NO_KEYS = dict.fromkeys(("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY"), "")
QUESTION = "how is a sourdough starter fed"
RESEARCH = [QUESTION, "sourdough hydration", "rye flour starter"]
# (what it shows, the command after scripts/, environment beside the fake server's, exit code)
STEPS: list[tuple[str, list[str], dict[str, str], int]] = [
    (
        "The main job, without any key: a question, answered by passages of the pages found",
        ["web_search.py", QUESTION, "-n", "3", "--max-chars", "2500", "--format", "markdown"],
        NO_KEYS,
        0,
    ),
    (
        "The same again, as JSON: from the cache, without a request",
        ["web_search.py", QUESTION, "-n", "3", "--max-chars", "2500"],
        NO_KEYS,
        0,
    ),
    (
        "Three questions on one subject, one brief: each page once, numbered to be cited",
        ["web_search.py", "brief", *RESEARCH, "--max-chars", "3000", "--format", "markdown"],
        NO_KEYS,
        0,
    ),
    (
        "One question to two engines at once, one ranking: what it costs, before",
        ["web_search.py", "sourdough", "--engine", "brave,duckduckgo", "--dry-run"],
        {},
        0,
    ),
    (
        "... and the results, each with its engines",
        ["web_search.py", "sourdough", "--engine", "brave,duckduckgo", "--no-pages", "-n", "3"],
        {"WEB_SEARCH_BUDGET": "brave:900"},
        0,
    ),
    (
        "What the store holds, and what was spent this month",
        ["web_search.py", "cache", "stats", "--format", "markdown"],
        {"WEB_SEARCH_BUDGET": "brave:900"},
        0,
    ),
    (
        "Every page that was read can be found again, offline",
        ["web_search.py", "recall", "feed starter", "-n", "1", "--format", "markdown"],
        NO_KEYS,
        0,
    ),
    (
        "A web search (Brave), as Markdown",
        ["brave_search.py", "python asyncio", "--count", "3", "--format", "markdown"],
        {},
        0,
    ),
    (
        "The same as JSON, as an agent reads it",
        ["brave_search.py", "python asyncio", "--count", "2", "--result-filter", "web"],
        {},
        0,
    ),
    (
        "A summary in one call: search, key, summary",
        ["brave_search.py", "summarizer", "--query", "sourdough", "--inline-references"],
        {},
        0,
    ),
    (
        "A summary in two calls: first the key ...",
        ["brave_search.py", "web", "sourdough", "--summary", "--count", "1"],
        {},
        0,
    ),
    (
        "... then the summary of that key",
        ["brave_search.py", "summarizer", "KEY", "--format", "markdown"],
        {},
        0,
    ),
    (
        "Passages to answer from",
        ["brave_search.py", "context", "sourdough", "--count", "2", "--format", "markdown"],
        {},
        0,
    ),
    (
        "The same question to Google, through serper.dev",
        ["serper_search.py", "sourdough", "--count", "3", "--format", "markdown"],
        {},
        0,
    ),
    (
        "An answer written by Gemini from Google Search",
        ["gemini_search.py", "how is a sourdough starter fed", "--format", "markdown"],
        {},
        0,
    ),
    (
        "A search without any key (DuckDuckGo)",
        ["keyless_search.py", "sourdough", "--count", "3", "--format", "markdown"],
        {},
        0,
    ),
    (
        "A page, read: the passages that answer a question",
        ["read_page.py", "PAGE", "--query", "feed the starter", "--format", "markdown"],
        {},
        0,
    ),
    (
        "A PDF file, page by page",
        ["read_page.py", "SITE/papers/lighthouse.pdf", "--pages", "2-3", "--format", "markdown"],
        {},
        0,
    ),
    (
        "A page that a script fills: read from the data that it holds",
        ["read_page.py", "SITE/scripts/rich-text", "--format", "markdown"],
        {},
        0,
    ),
    (
        "A page that is gone: the newest copy of the Internet Archive",
        ["read_page.py", "SITE/gone/bread", "--archived", "--max-chars", "900"],
        {},
        0,
    ),
    (
        "Code, without any key: Stack Overflow and GitHub beside the search engine",
        [
            "web_search.py",
            "python asyncio task timeout",
            "--focus",
            "code",
            "-n",
            "3",
            "--max-chars",
            "2500",
            "--format",
            "markdown",
        ],
        NO_KEYS,
        0,
    ),
    (
        "An issue of GitHub's with its discussion, through its API: the comments that answer",
        [
            "read_page.py",
            "https://github.com/slowloop/asyncio-toolbox/issues/42",
            "--query",
            "flux capacitor",
            "--max-chars",
            "1500",
            "--format",
            "markdown",
        ],
        NO_KEYS,
        0,
    ),
    (
        "The same search as an MCP tool",
        ["mcp_server.py", "call", "web_search", json.dumps({"query": QUESTION, "count": 1})],
        NO_KEYS,
        0,
    ),
    (
        "An error: a key that Brave refuses (exit code 3)",
        ["brave_search.py", "python asyncio"],
        {"BRAVE_SEARCH_API_KEY": "bad"},
        3,
    ),
]


def run_step(command: list[str], environment: dict[str, str]) -> tuple[str, int]:
    """Run one command as a user would; return (what it printed, its exit code)."""
    finished = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / command[0]), *command[1:]],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return (finished.stdout + finished.stderr).decode("utf-8", "replace"), finished.returncode


def shown(line: str) -> str:
    """Return a line as the demo prints it: a long JSON document is cut, and its length said."""
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]} ... ({len(line)} characters, cut by this demo)"


def summarizer_key(output: str) -> str:
    """Return the summarizer key of a web search's JSON document."""
    return str(json.loads(output)["summarizer_key"])


def main() -> int:
    """Run the steps; the exit code is 1 if one did not end as it should."""
    print("Everything below runs on this machine, against a fake server: no key, no network.")
    failed = 0
    key = ""
    with FakeServer(local_links=True) as server, tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "HOME": home,
            "XDG_CONFIG_HOME": home,
            "BRAVE_SEARCH_BASE_URL": server.url,
            "BRAVE_SEARCH_API_KEY": "good",
            "SERPER_BASE_URL": server.url,
            "SERPER_API_KEY": "good",
            "GEMINI_BASE_URL": server.url,
            "GEMINI_API_KEY": "good",
            "DUCKDUCKGO_BASE_URL": server.url,
            "WAYBACK_BASE_URL": server.url,
            "STACKEXCHANGE_BASE_URL": server.url,
            "GITHUB_BASE_URL": server.url,
            "GITHUB_TOKEN": "",
            "GLSI_DB_PATH": f"{home}/cache.db",
            "GLSI_RATE_LIMIT": "0s",
            "SEARXNG_BASE_URL": "",
            "GLSI_SEARCH_ENGINE": "",
            "WEB_SEARCH_ALLOW_PRIVATE": server.url.removeprefix("http://"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        for title, command, variables, expected in STEPS:
            places = {"KEY": key, "PAGE": f"{server.url}/site/articles/sourdough"}
            filled = [places.get(word, word) for word in command]
            filled = [word.replace("SITE/", f"{server.url}/site/") for word in filled]
            print(f"\n--- {title}\n$ uv run scripts/{shlex.join(filled)}")
            output, code = run_step(filled, {**environment, **variables})
            print("\n".join(shown(line) for line in output.rstrip().splitlines()))
            if "--summary" in command and code == 0:
                key = summarizer_key(output)
            failed += code != expected
    print("\nThe same commands work for real with a key: see README.md.")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
