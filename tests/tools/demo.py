"""Show the main jobs from end to end against a local fake server: no key, no network.

usage: demo.py

Each step prints the command and the beginning of what it prints, as a user would see it in a
terminal. The commands can be copied: they work as they stand, on the real web.
"""

from __future__ import annotations

import contextlib
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.fake_server.server import FakeServer  # noqa: E402  the path is set just above
from tests.support import clean_environment, small_web_environment  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_LINE = 300  # characters
LINES = 12  # of each step's output
KEYS = ("BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY")
QUESTION = "how often should a sourdough starter be fed"
MARKDOWN = ("--md",)
# The first step, which is also what the picture shows.
MAIN_JOB = ("web_search.py", QUESTION, "-n", "2", *MARKDOWN)


class Step(NamedTuple):
    """What a step shows, its command after scripts/, a key for all providers, and its exit code."""

    title: str
    command: tuple[str, ...]
    key: str = ""
    code: int = 0


STEPS = (
    Step("A question, answered by passages from the pages that a search finds", MAIN_JOB),
    Step("The same as JSON, from the cache: no request", MAIN_JOB[:-1]),
    Step(
        "Three questions on one subject, one brief: each page once, numbered to be cited",
        ("web_search.py", "brief", QUESTION, "sourdough hydration", "rye flour starter", *MARKDOWN),
    ),
    Step(
        "Every page that was read is found again, offline",
        ("web_search.py", "recall", "feed starter", "-n", "1", *MARKDOWN),
    ),
    Step(
        "Code: Stack Overflow and GitHub in addition to the search engine",
        ("web_search.py", "python asyncio task timeout", "--focus", "code", *MARKDOWN),
    ),
    Step(
        "One page: what it says about a question",
        ("read_page.py", "https://arxiv.org/abs/2401.00101", "--query", "bread", *MARKDOWN),
    ),
    Step("With a key: Brave", ("brave_search.py", "python asyncio", "-n", "3", *MARKDOWN), "good"),
    Step(
        "With a key: an answer that Gemini writes from Google Search, with its sources",
        ("gemini_search.py", QUESTION, *MARKDOWN),
        "good",
    ),
    Step(
        "With two engines: what a search would cost, before it is sent",
        ("web_search.py", "sourdough", "--engine", "brave,duckduckgo", "--dry-run"),
        "good",
    ),
    Step(
        "An error: a key that Brave refuses (exit code 3)",
        ("brave_search.py", "python asyncio"),
        "bad",
        3,
    ),
    Step(
        "The same search as an MCP tool, which needs no key",
        ("mcp_server.py", "call", "web_search", json.dumps({"query": QUESTION, "count": 1})),
    ),
)


@contextlib.contextmanager
def demo_environment() -> Iterator[dict[str, str]]:
    """Start a fake server; yield the variables that lead every script to it."""
    with FakeServer(local_links=True) as server, tempfile.TemporaryDirectory() as home:
        own = {"HOME": home, "GLSI_DB_PATH": f"{home}/cache.db", "SEARXNG_BASE_URL": ""}
        yield clean_environment(**{**small_web_environment(server.url), **own})


def run_step(step: Step, environment: dict[str, str]) -> tuple[str, int]:
    """Run a step's command as a user would; return (what it printed, its exit code)."""
    keys = dict.fromkeys(KEYS, step.key) if step.key else {}
    finished = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / step.command[0]), *step.command[1:]],
        env={**environment, **keys},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    output = (finished.stdout + finished.stderr).decode("utf-8", "replace")
    # The fake server's pages stand below its own address; a reader wants their own.
    return re.sub(r"http://127\.0\.0\.1:\d+/web/", "https://", output), finished.returncode


def command_line(step: Step) -> str:
    """Return a step's command as a user types it in the project's folder."""
    return f"python3 scripts/{shlex.join(step.command)}"


def shortened(output: str) -> Iterator[str]:
    """Yield the first lines of an output, long ones cut, and how much is left out."""
    lines = [line for line in output.splitlines() if line]
    for line in lines[:LINES]:
        cut = len(line) > LONGEST_LINE
        yield f"{line[:LONGEST_LINE]}... ({len(line):,} characters)" if cut else line
    if len(lines) > LINES:
        yield f"... ({len(lines) - LINES} more lines)"


def main() -> int:
    """Run the steps; the exit code is 1 if one did not end as it should."""
    print("Everything below runs on this machine, against a fake web: no key, no network.")
    print(
        "Pages at example.com and example.org exist only here. Commands with a key need your own."
    )
    failed = 0
    with demo_environment() as environment:
        for step in STEPS:
            print(f"\n--- {step.title}\n$ {command_line(step)}", flush=True)
            output, code = run_step(step, environment)
            print("\n".join(shortened(output)))
            if code != step.code:
                failed += 1
                print(f"!!! exit code {code}, not {step.code}")
    print(f"\n{len(STEPS)} jobs, {failed} failed. More: python3 scripts/web_search.py --help")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
