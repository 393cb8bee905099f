"""Run the front door, web_search.py: its own commands, and the other scripts as commands."""

from __future__ import annotations

import os
import sys

from websearch import kit
from websearch.kit import SearchError, error_document
from websearch.search.defaults import user_defaults
from websearch.ways_in.terminal import (
    View,
    for_saving,
    is_persons,
    is_piping,
    opening,
    result_urls,
    to_terminal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# First word -> the module that it starts, and the first words to pass to that module.
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
# Words that are not commands here -> a replacement; kit.SIBLINGS has more of them.
INSTEAD = {
    "news": "web_search.py 'QUERY' --focus news uses Brave and Serper, with a key. Without a key: "
    "web_search.py 'QUERY' --since week",
    "scholar": "Without a key: web_search.py 'QUERY' --focus papers. With a key: serper_search.py "
    "scholar",
    "budget": "doctor.py shows the spending; WEB_SEARCH_BUDGET sets a limit",
}
HISTORY_HINT = (
    "recall 'WORDS' searches pages read before; serve starts the desk, whose History lists every "
    "question. To search for the word, put -- before it."
)
# Flags that set the output format or imply it: URLs, JSON Lines.
FORMATS = "--format --md --pretty --output --urls --jsonl --ordered --skip-done --urls-from".split()
OTHER_FORMATS = ("--json", "--csv", "--sitemap", "--params-json", "--version")
NO_JSON = ("batch", "serve", "mcp", "install", "completion", "open", "version")
PIPE_NOTE = "Outside a terminal, the output is JSON. For text, add --md; --json hides this note.\n"
ALIASES = {"help": "--help", "version": "--version"}


def default_format(words: list[str]) -> list[str]:
    """Return the flag for the user's default format; [] if there is none or words set a format."""
    if any(word.partition("=")[0] in FORMATS for word in words):
        return []
    name = user_defaults().get("format")
    return [f"--format={name}"] if name else []


def refuse(error: SearchError) -> int:
    """Print an error; return the exit code."""
    shown = {"to_markdown": kit.frame_markdown, "to_terminal": to_terminal}
    if sys.stderr and not sys.stdout.isatty():
        sys.stderr.write(f"web_search.py: {error.message}\n")
    return kit.print_document(error_document(error), {}, shown)


def take(words: list[str], flag: str) -> bool:
    """Remove a flag from the words; return whether it was present."""
    is_there = flag in words
    if is_there:
        words.remove(flag)
    return is_there


def run(script: dict[str, Any], argv: list[str] | None) -> int:
    """Run web_search.py's command line or hand over to another script; return the exit code.

    script: as for run_command_line, but each command has its own to_markdown. argv: the words after
    the program's name (default: sys.argv's).
    """
    words = list(sys.argv[1:] if argv is None else argv)
    has_pager = not take(words, "--no-pager")
    view = View(is_full=take(words, "--full"))
    if words[:1] == ["help"] and words[1:2] and words[1] in (*script["commands"], "open", *OTHERS):
        words = [words[1], "--help"]  # drop flags such as --md; never search
    words[1:1] = ["list"] if words[:1] == ["key"] and not names_in(words[1:]) else []
    try:
        check_words(words)
        pipes = is_piping()
        if is_persons() or (pipes and asks_for_help(words)):
            from websearch.ways_in import at_terminal

            if pipes:
                os.environ["NO_COLOR"] = "1"
            return at_terminal.run(script, words, view, has_pager, start)
        if pipes and prints_json(words):
            sys.stderr.write(PIPE_NOTE)
        return start(script, words, view)
    except SearchError as error:
        return refuse(error)


def asks_for_help(words: list[str]) -> bool:
    """Return whether words ask for help."""
    return words in ([], ["help"]) or bool({"-h", "--help"} & {*words})


def prints_json(words: list[str]) -> bool:
    """Return whether the command prints JSON because words do not set another format."""
    is_said = any(word.partition("=")[0] in (*FORMATS, *OTHER_FORMATS) for word in words)
    return not (is_said or words[0] in NO_JSON or user_defaults().get("format"))


def names_in(words: list[str]) -> list[str]:
    """Return the words that are not flags, and --help."""
    return [word for word in words if word in ("-h", "--help") or not word.startswith("-")]


def check_words(words: list[str]) -> None:
    """Raise SearchError (invalid_input) for words that are neither a question nor a command."""
    if words[:1] == ["help"] and len(words) == 2 and words[1] != "--help":
        hint = "help alone lists the commands. To search for the words, put them in quotes."
        raise SearchError("invalid_input", f"There is no command {words[1]!r}.", hint)
    if words in (["history"], ["history", "--help"]):
        raise SearchError("invalid_input", "'history' is not a command.", HISTORY_HINT)
    if words[:1] == ["config"] and words[1:2] and not words[1].startswith("-"):
        hint = f"Write lines such as DEFAULT_COUNT: 3 to {kit.secrets_path()}. "
        hint += "For a key, run: key set NAME."
        raise SearchError(
            "invalid_input", "config shows the settings but cannot change them.", hint
        )


def start(script: dict[str, Any], words: list[str], view: View) -> int:
    """Run a command, or hand over to another script; return the exit code."""
    first = words[0] if words else ""
    formatting = default_format(words) if sys.stdout and not sys.stdout.isatty() else []
    if words == ["config", "--md"]:
        kit.print_text(script["settings"](view.program))
        return 0
    if first in OTHERS:
        import importlib

        module, first_words = OTHERS[first]
        first_words = [*first_words, *(formatting if first == "read" else [])]
        return int(importlib.import_module(module).main([*first_words, *words[1:]]))
    if first.startswith("{"):
        words = ["--params-json", *words]
    if len(words) == 1:
        words = [ALIASES.get(first, first)]
    shown: Callable[[dict[str, Any], Callable[[dict[str, Any]], str]], str] = view.show
    if take(words, "--urls"):
        words += [] if words[:1] in (["brief"], ["recall"]) else ["--no-pages"]
        shown = result_urls
    elif "--open" in words:
        index = words.index("--open")
        number = "".join(words[index + 1 : index + 2])
        if not number.isdecimal():
            raise SearchError("invalid_input", "--open needs the number of a result.")
        del words[index : index + 2]
        view.opened = int(number)
        runs = script["run"].items()
        script = {**script, "run": {name: opening(run, view.opened) for name, run in runs}}
    if is_persons():
        runs = script["run"].items()
        script = {**script, "run": {name: view.noting(run) for name, run in runs}}
    command, is_named = kit.find_command(script["commands"], words)
    words[is_named:is_named] = formatting  # after the command's name, the first word
    for_file = for_saving(script["commands"][command]["to_markdown"], words)
    script = {**script, "others": OTHERS, "instead": INSTEAD, "to_terminal": shown}
    return kit.run_command_line({**script, "to_markdown": for_file}, words)
