"""Format help for a person at a terminal: grouped, wrapped, with the name that the user typed."""

from __future__ import annotations

import re

from websearch.ways_in.terminal_markdown import BOLD, filled, styled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Group -> command -> its help ("": use the help in the table of commands).
GROUPS: dict[str, dict[str, str]] = {
    "Search": {"search": "", "brief": "", "batch": ""},
    "Read": {
        "read": "read pages or files: URLs, paths, or the number of a result from the last search",
        "open": "open a result from the last search in the browser, by its number",
    },
    "Check": {"check": ""},
    "Look back": {"recall": "", "cache": ""},
    "Set up": {
        "config": "show the settings and where each comes from",
        "key": "list the keys that are set, or set one",
        "doctor": "check what works on this machine",
        "install": "copy the skill to where agents look for it",
        "completion": "print the completion script for bash, zsh or fish",
        "serve": "serve the desk (web pages for you) and the HTTP API",
        "mcp": "start the MCP server, or try its tools",
    },
}
FLAGS = {
    "--full": "show all passages of each result (default: the best two)",
    "--open N": "also open result N in the browser",
    "--urls": "print only the URLs of the results, one per line",
    "--no-pager": "print long output without $PAGER",
}
EXAMPLES = (
    "'how do tokio and async-std differ'",
    "open 2",
    "read 2 --query 'scheduler'",
    "brief 'what is tokio' 'is async-std maintained'",
)
INDENT = 6  # columns before the second line of an option's help
# Script -> its command at the front door.
PROGRAMS = {"web_search": "", "read_page": "read", "http_server": "serve", "mcp_server": "mcp",
            "doctor": "doctor", "install": "install"}  # fmt: skip


def overview(script: dict[str, Any], program: str, width: int) -> str:
    """Return the front door's help; script: as for run_command_line."""
    commands, lines = script["commands"], [f"usage: {program} 'QUESTION' [options]"]
    lines += [f"       {program} COMMAND ...", f"       {program} help COMMAND", ""]
    for title, group in GROUPS.items():
        lines.append(styled(BOLD, title))
        for name, text in group.items():
            about = text or commands[name]["help"].partition(". ")[0]
            lines += filled(about, width, f"  {name:<12}")
    lines += ["", styled(BOLD, "Options at a terminal")]
    for flag, text in FLAGS.items():
        lines += filled(f"{flag}: {text}", width, "  ", INDENT)
    more = f"{program} help search lists the options of search: -n, --since, --site, --engine ..."
    lines += ["", *filled(more, width)]
    return "\n".join(
        [*lines, "", styled(BOLD, "Examples"), *(f"  {program} {e}" for e in EXAMPLES)]
    )


def wrapped_help(text: str, program: str, width: int) -> str:
    """Return a command's help, wrapped, with script names replaced by those that the user types."""
    text = re.sub(r"\bdoctor\.py(?= key\b)", program, text)
    for name, word in PROGRAMS.items():
        pattern = rf"\b{name}\.py(?: {word}\b)?" if word else rf"\b{name}\.py"
        text = re.sub(pattern, f"{program} {word}".strip(), text)
    lines = []
    text = re.sub(r"(?m)^(\S.*)\n(?=\S)", r"\1 ", text)  # a paragraph is one line
    for line in text.split("\n"):
        start = line[: len(line) - len(line.lstrip())]
        is_long = len(line) > width
        hang = INDENT if start else 2 * line.startswith(("output:", "call:"))
        lines += filled(line.strip(), width, start, hang) if is_long else [line]
    return "\n".join(lines)
