"""The front door, web_search.py: its own commands, and the names of the other commands."""

from __future__ import annotations

import sys

from websearch import kit
from websearch.kit import SearchError, error_document
from websearch.search.defaults import user_defaults
from websearch.ways_in.terminal import opening, result_urls, to_terminal

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
    "news": "Without a key: web_search.py 'QUERY' --since week. With one: serper_search.py news",
    "scholar": "Without a key: web_search.py 'QUERY' --focus papers. With one: serper_search.py "
    "scholar",
    "budget": "doctor.py shows what was spent; WEB_SEARCH_BUDGET sets a limit",
}
MEANT = {"help": "--help", "version": "--version"}  # a single word that is no question


def default_format(words: list[str]) -> list[str]:
    """Return the flag of the user's own default format; [] if there is none or one is given."""
    given = ("--format", "--md", "--pretty", "--output", "--jsonl")
    if any(word.partition("=")[0] in given for word in words):
        return []
    name = user_defaults().get("format")
    return [f"--format={name}"] if name else []


def refuse(error: SearchError, script: dict[str, Any]) -> int:
    """Print an error; return the exit code."""
    return kit.print_document(error_document(error), {}, script)


def run(script: dict[str, Any], argv: list[str] | None) -> int:
    """Run the command line of web_search.py, or hand over to another command; return the exit code.

    script: as run_command_line takes it. argv: the words after the program's name, None for
    sys.argv's.
    """
    words = list(sys.argv[1:] if argv is None else argv)
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
    shown: Callable[[dict[str, Any], Callable[[dict[str, Any]], str]], str] = to_terminal
    if "--urls" in words:
        words.remove("--urls")
        words += [] if words[:1] in (["brief"], ["recall"]) else ["--no-pages"]
        shown = result_urls
    elif "--open" in words:
        index = words.index("--open")
        number = "".join(words[index + 1 : index + 2])
        if not number.isdecimal():
            return refuse(SearchError("invalid_input", "--open takes a result's number."), script)
        del words[index : index + 2]
        runs = script["run"].items()
        script = {**script, "run": {name: opening(run, int(number)) for name, run in runs}}
    script = {**script, "others": OTHERS, "instead": INSTEAD, "to_terminal": shown}
    return kit.run_command_line(script, [*formatting, *words])
