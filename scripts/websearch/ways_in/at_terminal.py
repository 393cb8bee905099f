"""Run the front door for a person at a terminal: numbered results, settings, a pager.

A command's output is held until the command ends; long output can then go to the pager.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys

from websearch import kit
from websearch.engines.table import ENGINES
from websearch.kit import SearchError, drop_empty
from websearch.store.page_store import LAST_RESULTS, PageStore
from websearch.ways_in import terminal_help
from websearch.ways_in.terminal import (
    PROGRAM_VARIABLE,
    View,
    items_of,
    open_in_browser,
    opened_sentence,
    terminal_width,
)
from websearch.ways_in.terminal_markdown import Renderer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Document

    Start = Callable[[dict[str, Any], list[str], View], int]

# Commands and flags whose output is not held: they prompt, run indefinitely or stream lists.
STREAMING_COMMANDS = ("batch", "serve", "mcp", "install", "key")
STREAMING_FLAGS = ("--urls-from", "--jsonl", "--skip-done", "--params-json")
MAX_AGE = 7 * 24 * 3600.0  # seconds for which the last results remain usable
LESS = "FRX"  # options for less: quit if the text fits on one screen, keep styles, keep the screen


class Screen(io.TextIOWrapper):
    """Replaces stdout until a command ends."""

    def __init__(self) -> None:
        self.data = io.BytesIO()
        super().__init__(self.data, encoding="utf-8", errors="replace", newline="\n")

    def isatty(self) -> bool:
        """Return True, because the output is for a terminal."""
        return True


def run(script: dict[str, Any], words: list[str], view: View, has_pager: bool, start: Start) -> int:
    """Run a command line for a person; return the exit code. Raises SearchError.

    script: as for run_command_line, plus settings (program name -> Markdown). start: runs a
    command (script, words, view).
    """
    view.program = os.environ.get(PROGRAM_VARIABLE) or view.program
    first = words[0] if words else "help"
    is_help = "--help" in words or "-h" in words
    if first == "open" and not is_help:
        return open_result(words[1:])
    if first == "read" and words[1:2] and words[1].isdecimal():
        words[1] = last_result(words[1])["url"]
    if words[:2] == ["cache", "clear"] and "--dry-run" not in words and not may_clear():
        return 0
    is_streaming = first in STREAMING_COMMANDS or not set(STREAMING_FLAGS).isdisjoint(words)
    if is_streaming and not is_help:
        return start(script, words, view)
    screen = Screen()
    try:
        with contextlib.redirect_stdout(screen):
            code = run_on_screen(script, words, view, start)
    finally:
        screen.flush()
        text = screen.data.getvalue().decode("utf-8", "replace")
        text = terminal_help.wrapped_help(text, view.program, terminal_width()) if is_help else text
        show(receipt(text) if "output" in text[:40] else text, has_pager)
    if code == 0 and items_of(view.document):
        keep_results(view.document, view)
    return code


def run_on_screen(script: dict[str, Any], words: list[str], view: View, start: Start) -> int:
    """Run a command line that prints to a Screen; return the exit code."""
    if words in ([], ["help"], ["--help"], ["-h"]):
        kit.print_text(terminal_help.overview(script, view.program, terminal_width()))
        return 0
    if words == ["config"]:
        lines = Renderer(terminal_width()).lines(script["settings"](view.program))
        kit.print_text("\n".join(lines))
        return 0
    if words[:1] == ["open"]:  # the command's help
        about = terminal_help.GROUPS["Read"]["open"].capitalize()
        kit.print_text(f"usage: {view.program} open N\n\n{about}.")
        return 0
    return start(script, words, view)


def open_result(words: list[str]) -> int:
    """Open a result of the last search in a browser; return the exit code. Raises SearchError."""
    if len(words) != 1 or not words[0].isdecimal():
        hint = "To read a page here, run read with its URL or number."
        raise SearchError("invalid_input", "open needs the number of a result.", hint)
    item = last_result(words[0])
    if not open_in_browser(item["url"]):
        hint = f"Set BROWSER, or open it yourself: {item['url']}"
        raise SearchError("unsupported", "No browser was found.", hint)
    kit.print_text(opened_sentence(int(words[0]), item))
    return 0


def keep_results(document: Document, view: View) -> None:
    """Store the shown results for open and read, unless an engine forbids storing them.

    Clearing their query from the store also removes them.
    """
    outcomes = [document, *document.get("queries", [])]
    names = {name for item in outcomes for name in item.get("engines", [item.get("engine")])}
    may_be_stored = all(name not in ENGINES or ENGINES[name].is_storable() for name in names)
    items = items_of(document) if may_be_stored else []
    query = view.params.get("query") or "\n".join(map(str, view.params.get("queries", [])))
    pairs = [drop_empty({"title": item.get("title"), "url": item["url"]}) for item in items]
    content = {"query": query, "urls": [item["url"] for item in items], "results": pairs}
    with contextlib.closing(PageStore()) as store:
        store.put_answer(LAST_RESULTS, content)


def last_result(number: str) -> dict[str, Any]:
    """Return a result from the last search: {url, title?}. Raises SearchError (invalid_input)."""
    with contextlib.closing(PageStore()) as store:
        answer = store.get_answer(LAST_RESULTS, MAX_AGE) or {"content": {}}
    results = answer["content"].get("results") or []
    if not results:
        message = "No results from an earlier search are stored."
        hint = "Search first. Some engines do not allow storing their results."
        raise SearchError("invalid_input", message, hint)
    if not 0 < int(number[:9]) <= len(results):
        asked = answer["content"]["query"].replace("\n", " · ")
        message = f"There is no result {number}: the last search, {asked!r}, found {len(results)}."
        raise SearchError("invalid_input", message, f"Pass a number from 1 to {len(results)}.")
    result: dict[str, Any] = results[int(number) - 1]
    return result


def may_clear() -> bool:
    """Ask whether to clear the store; return the answer (True if there is no terminal)."""
    if not (sys.stdin and sys.stdin.isatty()):
        return True
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        answer = input("Clear the store? This cannot be undone. [y/N] ")
        return answer.strip().lower() in ("y", "yes")
    return False


def receipt(text: str) -> str:
    """Return a sentence for JSON that reports a written file; return other texts unchanged."""
    document = kit.json_fields(text) or {}
    if "output" not in document:
        return text
    return f"Wrote {document['bytes']:,} bytes to {document['output']}.\n"


def show(text: str, has_pager: bool) -> None:
    """Print a text; use $PAGER (default: less) if the text is longer than the screen."""
    size = shutil.get_terminal_size()
    command = shlex.split(os.environ.get("PAGER", "less")) if has_pager else []
    rows = sum(1 + len(line) // max(1, size.columns) for line in text.split("\n"))
    if rows <= size.lines or not command or not shutil.which(command[0]) or command == ["cat"]:
        kit.print_text(text.removesuffix("\n")) if text else None
        return
    environment = {"LESS": LESS, **os.environ}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # the pager handles Ctrl-C
    try:
        subprocess.run(command, input=text.encode(), env=environment, check=False)  # noqa: S603
    finally:
        signal.signal(signal.SIGINT, before)
