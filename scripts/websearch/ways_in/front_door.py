"""The front door, web_search.py: its own commands, and the names of the other commands."""

from __future__ import annotations

import sys

from websearch import kit
from websearch.kit import SearchError, error_document
from websearch.search.defaults import user_defaults
from websearch.ways_in.terminal import (
    View,
    for_saving,
    is_persons,
    opening,
    result_urls,
    to_terminal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# First word -> the command of this folder that it starts, and the words that come first there.
OTHERS = {
    "read": ("read_page", []),
    "doctor": ("doctor", []),
    "key": ("doctor", ["key"]),
    "config": ("doctor", []),
    "install": ("install", ["install"]),
    "serve": ("http_server", []),
    "mcp": ("mcp_server", []),
    "completion": ("websearch.ways_in.completion", []),
}
# Words that are no commands here -> what to do instead; kit.SIBLINGS has more of them.
INSTEAD = {
    "news": "web_search.py 'QUERY' --focus news asks Brave and Serper, with a key; without one, "
    "web_search.py 'QUERY' --since week",
    "scholar": "Without a key: web_search.py 'QUERY' --focus papers. With one: serper_search.py "
    "scholar",
    "budget": "doctor.py shows what was spent; WEB_SEARCH_BUDGET sets a limit",
}
HISTORY_HINT = (  # for a single word that is no question
    "recall 'WORDS' searches the pages that were read; serve starts the desk, whose History lists "
    "every question. To search for the word, put -- before it."
)
MEANT = {"help": "--help", "version": "--version"}  # a single word that is no question


def default_format(words: list[str]) -> list[str]:
    """Return the flag of the user's own default format; [] if there is none or one is given."""
    given = ("--format", "--md", "--pretty", "--output", "--jsonl")
    if any(word.partition("=")[0] in given for word in words):
        return []
    name = user_defaults().get("format")
    return [f"--format={name}"] if name else []


def refuse(error: SearchError) -> int:
    """Print an error; return the exit code."""
    shown = {"to_markdown": kit.frame_markdown, "to_terminal": to_terminal}
    return kit.print_document(error_document(error), {}, shown)


def take(words: list[str], flag: str) -> bool:
    """Remove a flag from the words; return whether it was there."""
    is_there = flag in words
    if is_there:
        words.remove(flag)
    return is_there


def run(script: dict[str, Any], argv: list[str] | None) -> int:
    """Run the command line of web_search.py, or hand over to another command; return the exit code.

    script: as run_command_line takes it, but that its commands name their to_markdown. argv: the
    words after the program's name, None for sys.argv's.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    has_pager = not take(words, "--no-pager")
    view = View(is_full=take(words, "--full"))
    if words[:1] == ["help"] and words[1:] in (
        [name] for name in (*script["commands"], "open", *OTHERS)
    ):
        words = [words[1], "--help"]
    try:
        check_words(words)
        if is_persons():
            from websearch.ways_in import at_terminal

            return at_terminal.run(script, words, view, has_pager, start)
        return start(script, words, view)
    except SearchError as error:
        return refuse(error)


def check_words(words: list[str]) -> None:
    """Raise SearchError (invalid_input) for what is no question and no command."""
    if words == ["history"]:
        raise SearchError("invalid_input", "'history' is not a command.", HISTORY_HINT)
    if words[:1] == ["config"] and words[1:2] and not words[1].startswith("-"):
        hint = f"Write lines such as DEFAULT_COUNT: 3 into {kit.secrets_path()}. "
        hint += "For a key, run: key set NAME."
        raise SearchError("invalid_input", "config shows the settings; it changes none.", hint)


def start(script: dict[str, Any], words: list[str], view: View) -> int:
    """Run one command, or hand over to another one; return the exit code."""
    first = words[0] if words else ""
    formatting = default_format(words) if sys.stdout and not sys.stdout.isatty() else []
    if first in OTHERS:
        import importlib

        module, first_words = OTHERS[first]
        first_words = [*first_words, *(formatting if first == "read" else [])]
        return int(importlib.import_module(module).main([*first_words, *words[1:]]))
    if first.startswith("{"):
        words = ["--params-json", *words]
    if len(words) == 1:
        words = [MEANT.get(first, first)]
    shown: Callable[[dict[str, Any], Callable[[dict[str, Any]], str]], str] = view.show
    if take(words, "--urls"):
        words += [] if words[:1] in (["brief"], ["recall"]) else ["--no-pages"]
        shown = result_urls
    elif "--open" in words:
        index = words.index("--open")
        number = "".join(words[index + 1 : index + 2])
        if not number.isdecimal():
            raise SearchError("invalid_input", "--open takes a result's number.")
        del words[index : index + 2]
        view.opened = int(number)
        runs = script["run"].items()
        script = {**script, "run": {name: opening(run, view.opened) for name, run in runs}}
    if is_persons():
        runs = script["run"].items()
        script = {**script, "run": {name: view.noting(run) for name, run in runs}}
    command, is_named = kit.find_command(script["commands"], words)
    words[is_named:is_named] = formatting  # behind the command's name, which is the first word
    for_file = for_saving(script["commands"][command]["to_markdown"], words)
    script = {**script, "others": OTHERS, "instead": INSTEAD, "to_terminal": shown}
    return kit.run_command_line({**script, "to_markdown": for_file}, words)
