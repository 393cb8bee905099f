"""Generate shell completion for web_search.py: commands and flags from its tables."""

from __future__ import annotations

from websearch.kit import (
    SearchError,
    all_params,
    error_document,
    flag_of,
    print_document,
    print_text,
)
from websearch.search.commands import COMMANDS
from websearch.ways_in.front_door import OTHERS
from websearch.ways_in.terminal import to_terminal

# Commands without a table -> their flags and words.
WORDS = {"install": ["--dir", "--command"], "mcp": ["tools", "call"]}
NAMES = "web-search web_search.py"  # programs to complete
# Commands whose table is in another module -> that module, and the command's name there.
TABLES = {
    "read": ("websearch.reading.read_list", "read"),
    "doctor": ("websearch.machine.doctor", "check"),
    "key": ("websearch.machine.doctor", "key"),
    "config": ("websearch.machine.doctor", "check"),
    "serve": ("websearch.ways_in.http_api", "serve"),
}
HELP = """usage: web_search.py completion bash|zsh|fish

Print the completion script for a shell. To use it:
  bash: eval "$(web-search completion bash)"
  zsh: eval "$(web-search completion zsh)"
  fish: web-search completion fish | source"""
BASH = """_web_search() {{
  local words='{first}'
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  case "${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
    completion) words='bash zsh fish';;
  esac
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _web_search {names}"""


def flags_of(command: str) -> list[str]:
    """Return a command's flags, including the common flags, and the words that it accepts."""
    import importlib

    if command in WORDS:
        return WORDS[command]
    module, name = TABLES.get(command, ("", command))
    commands = importlib.import_module(module).COMMANDS if module else COMMANDS
    params = all_params(commands[name])
    flags = [flag_of(item["name"]) for item in params if not item.get("positional")]
    flags += [word for item in params if item.get("positional") for word in item.get("choices", [])]
    if command == "key":
        names = importlib.import_module("websearch.machine.key_file").KEY_NAMES
        flags += ["list", "set", "remove", *names]
    is_search = command in ("search", "brief", "recall")
    return [*flags, "--no-pager", *(["--full", "--open", "--urls"] if is_search else [])]


def script_for(shell: str) -> str:
    """Return the completion script for a shell. Raises SearchError (invalid_input)."""
    commands = " ".join([*COMMANDS, *OTHERS, "open", "help", "version"])
    names = [*COMMANDS, *TABLES, *WORDS]
    values = {flag_of(item["name"]): " ".join(item["choices"])
              for item in all_params(COMMANDS["search"]) if "choices" in item}  # fmt: skip
    values["--since"] = "hour day week month year"
    first = f"{commands} {' '.join(flags_of('search'))}"
    cases = [f"    {name}) words='{' '.join(flags_of(name))}';;" for name in names]
    of_flags = "\n".join(f"    {flag}) words='{words}';;" for flag, words in values.items())
    bash = BASH.format(first=first, cases="\n".join(cases), values=of_flags, names=NAMES)
    if shell == "bash":
        return bash
    if shell == "zsh":
        return f"autoload -U +X bashcompinit && bashcompinit\n{bash}"
    if shell != "fish":
        message = f"There is no completion for {shell!r}." if shell else "completion needs a shell."
        raise SearchError("invalid_input", message, "Pass bash, zsh or fish.")
    start = "complete -c web-search -n"
    lines = [f"{start} __fish_use_subcommand -f -a '{commands}'"]
    for name in names:
        seen = f"__fish_seen_subcommand_from {name}"
        if name == "search":  # the default command is never typed
            seen = f"not __fish_seen_subcommand_from {commands.replace('search ', '')}"
        for word in flags_of(name):
            given = f" -x -a '{values[word]}'" if word in values else ""
            option = f"-l {word[2:]}" if word.startswith("--") else f"-f -a {word}"
            lines.append(f"{start} '{seen}' {option}{given}")
    return "\n".join(lines)


def main(argv: list[str]) -> int:
    """Print the completion script for a shell, or the help; return the exit code."""
    if {"-h", "--help"} & {*argv}:
        print_text(HELP)
        return 0
    try:
        print_text(script_for(" ".join(argv)))
    except SearchError as error:
        return print_document(
            error_document(error), {}, {"to_markdown": str, "to_terminal": to_terminal}
        )
    return 0
