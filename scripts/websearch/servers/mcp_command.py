"""The command line of mcp_server.py: serve, list the tools, call one tool from a shell."""

from __future__ import annotations

import json
import sys

from websearch import command_line, common
from websearch.servers import mcp_tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def print_tools() -> int:
    """Print the tools for people: name, description, arguments."""
    lines = []
    for tool in mcp_tools.tool_definitions():
        lines += [tool["name"], f"  {tool['description']}"]
        required = tool["inputSchema"].get("required", ())
        for label, schema in tool["inputSchema"]["properties"].items():
            note = "required" if label in required else ""
            note = f"default: {schema['default']}" if "default" in schema else note
            ending = f" ({note})" if note else ""
            meaning = schema.get("description") or schema["type"]
            choices = f"; one of {', '.join(schema['enum'])}" if "enum" in schema else ""
            lines.append(f"  - {label}: {meaning}{choices}{ending}")
        lines.append("")
    others = [name for name in mcp_tools.TOOLS if name not in mcp_tools.listed_tools()]
    if others:
        lines.append(f"Not listed, because their keys are not set: {', '.join(others)}.")
        lines.append(f"{mcp_tools.TOOLS_VARIABLE}=all lists every tool.")
    command_line.write_stdout("\n".join(lines).rstrip())
    return 0


def print_call(words: list[str]) -> int:
    """Run one tool and print its text; return the exit code of its document's kind."""
    try:
        name, arguments = shell_call(words)
        document, text = mcp_tools.call_tool(name, arguments)
    except common.SearchError as error:
        document = common.spell_hints(common.error_document(error))
        text = common.error_markdown(document)
    except KeyboardInterrupt:
        document = common.error_document(common.SearchError("interrupted", "Interrupted."))
        text = common.error_markdown(document)
    command_line.write_stdout(text)
    return 0 if document["ok"] else common.EXIT_CODES[document["details"]["kind"]]


def shell_call(words: list[str]) -> tuple[str, Any]:
    """Return (tool, arguments) of the words after call; raises SearchError (invalid_input)."""
    example = """For example: mcp_server.py call web_search '{"query": "..."}'."""
    if not 1 <= len(words) <= 2:
        raise common.SearchError("invalid_input", "call takes a tool and its arguments.", example)
    name = words[0]
    if name not in mcp_tools.TOOLS:
        message = f"There is no tool {common.quoted(name)}."
        raise common.SearchError("invalid_input", message, mcp_tools.unknown_tool_hint(name))
    arguments = words[1] if len(words) == 2 else "{}"
    text = command_line.read_argument("@-" if arguments == "-" else arguments, "arguments")
    try:
        return name, json.loads(text)
    except (ValueError, RecursionError):
        message = f"The arguments are not valid JSON: {common.quoted(text.strip())}."
        raise common.SearchError("invalid_input", message, example) from None


def main(description: str, argv: list[str] | None) -> int:
    """Serve, or run a command of the shell; return the exit code.

    description: the help text. argv: the words after the program's name, None for sys.argv's.
    """
    command_line.open_closed_streams()
    words = sys.argv[1:] if argv is None else argv
    if not words:
        from websearch.servers import mcp_stdio

        return mcp_stdio.serve()
    if "-h" in words or "--help" in words:
        command_line.write_stdout(description.strip())
        return 0
    if words == ["tools"]:
        return print_tools()
    if words[0] == "call":
        return print_call(words[1:])
    if words == ["--version"]:
        command_line.write_stdout(f"mcp_server.py {common.VERSION}")
        return 0
    message = f"mcp_server.py does not take {common.quoted(' '.join(words))}."
    hint = "Without words it serves; its commands are tools and call. --help tells more."
    error = common.SearchError("invalid_input", message, hint)
    sys.stderr.write(f"{common.error_markdown(common.error_document(error))}\n")
    return common.EXIT_CODES["invalid_input"]
