"""Completion for shells: the commands and flags of web_search.py, made from its tables."""

from __future__ import annotations

from websearch.kit import (
    COMMON_PARAMS,
    OUTPUT_PARAMS,
    SearchError,
    error_document,
    flag_of,
    print_document,
    print_text,
)
from websearch.search.commands import COMMANDS
from websearch.ways_in.front_door import OTHERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMES = "web-search web_search.py"  # of the programs that are completed
BASH = """_web_search() {{
  local words='{first}'
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _web_search {names}"""


def flags_of(command: str) -> list[str]:
    """Return the flags of a command, the common ones included."""
    params: list[dict[str, Any]] = [*COMMANDS[command]["params"], *COMMON_PARAMS, *OUTPUT_PARAMS]
    return [
        flag_of(param["name"])
        for param in params
        if not param.get("batch") and not param.get("positional")
    ]


def script_for(shell: str) -> str:
    """Return the completion script of a shell. Raises SearchError (invalid_input)."""
    commands = " ".join([*COMMANDS, *OTHERS, "help", "version"])
    first = f"{commands} {' '.join(flags_of('search'))}"
    cases = [f"    {name}) words='{' '.join(flags_of(name))}';;" for name in COMMANDS]
    bash = BASH.format(first=first, cases="\n".join(cases), names=NAMES)
    if shell == "bash":
        return bash
    if shell == "zsh":
        return f"autoload -U +X bashcompinit && bashcompinit\n{bash}"
    if shell != "fish":
        message = f"There is no completion for {shell!r}." if shell else "completion needs a shell."
        raise SearchError("invalid_input", message, "Give bash, zsh or fish.")
    start = "complete -c web-search -n"
    lines = [f"{start} __fish_use_subcommand -f -a '{commands}'"]
    for name in COMMANDS:
        seen = f"__fish_seen_subcommand_from {name}"
        if name == "search":  # the default command, which nobody names
            seen = f"not __fish_seen_subcommand_from {commands.replace('search ', '')}"
        lines += [f"{start} '{seen}' -l {flag[2:]}" for flag in flags_of(name)]
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Print the completion script for the shell that is named; return the exit code."""
    try:
        print_text(script_for(" ".join(argv)))
    except SearchError as error:
        return print_document(error_document(error), {}, {"to_markdown": str})
    return 0
