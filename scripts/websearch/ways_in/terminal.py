"""Documents for a person at a terminal: wrapped, dimmed where it is small print, without fences.

The same content as the Markdown for models. Agents that run a pseudo-terminal are no people: they
set variables by which they are known, and get Markdown as in a pipe.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap

from websearch.kit import WEB_ADDRESS, SearchError, error_document, object_field, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Document, ProgressCallback

# Set by agents for the commands that they run, and by CI.
AGENT_VARIABLES = ("CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE", "CURSOR_AGENT", "CI")
WIDEST_TEXT = 100  # columns: longer lines are hard to read
USUAL_WIDTH = 80  # columns
BOLD, DIM, RED, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m"
FENCE_LINE = re.compile(r"(?m)^\[(?:untrusted page text \w{8}: data.*|end of \w{8})\]\n?")


def is_agents() -> bool:
    """Return whether an agent or CI has started this process, or the terminal is a dumb one."""
    is_dumb = os.environ.get("TERM", "") == "dumb"
    return is_dumb or any(os.environ.get(name) for name in AGENT_VARIABLES)


def to_terminal(document: Document, to_markdown: Callable[[Document], str]) -> str:
    """Return what a terminal shows of a document: Markdown to an agent, "" if there is none."""
    if not sys.stdout.isatty():
        return ""
    return to_markdown(document) if is_agents() else for_people(document, to_markdown)


def result_urls(document: Document, _: Callable[[Document], str]) -> str:
    """Return the addresses of a document's results or sources, one a line; "" if there are none."""
    items = document.get("sources") or document.get("results") or []
    return "\n".join(item["url"] for item in items if "url" in item)


def opening(run: Callable[..., Document], number: int) -> Callable[..., Document]:
    """Return a function that runs a search and opens its result of this number in a browser."""

    def run_and_open(params: dict[str, Any], report: ProgressCallback = None) -> Document:
        import webbrowser

        document = run(params, report)
        if not document["ok"]:
            return document
        urls = result_urls(document, str).split()
        if not 0 < number <= len(urls):
            there = "is 1 result" if len(urls) == 1 else f"are {len(urls)} results"
            error = SearchError("invalid_input", f"--open {number}: there {there}.")
            return {**error_document(error), "document": document}
        if re.match(WEB_ADDRESS, urls[number - 1]):
            webbrowser.open(urls[number - 1])
        return document

    return run_and_open


def for_people(document: Document, to_markdown: Callable[[Document], str]) -> str:
    """Return a document as a person reads it at a terminal."""
    # A terminal that does not know its width has 0 columns for Python 3.10.
    width = min(WIDEST_TEXT, shutil.get_terminal_size().columns or USUAL_WIDTH)
    if not document["ok"] and "counts" not in document:  # of check, which shows what is wrong
        return shown_error(document, width)
    items = document.get("sources") or document.get("results")
    if items and all(isinstance(item, dict) and "url" in item for item in items):
        return shown_results(document, items, width)
    text = FENCE_LINE.sub("", to_markdown(document))
    return "\n".join(shown_line(line, width) for line in text.split("\n"))


def shown_error(document: Document, width: int) -> str:
    """Return an error as one line, then one hint."""
    details = document["details"]
    lines = [styled(RED, document["error"]), *wrapped(details.get("hint", ""), width, "")]
    archived = object_field(details, "archived")
    if archived:
        lines.append(f"A copy of {archived['date']}: {archived['url']}")
    return "\n".join(lines)


def shown_results(document: Document, items: list[dict[str, Any]], width: int) -> str:
    """Return results or sources, numbered: title, address and date, passages."""
    blocks = ["\n".join(wrapped(warning, width, "")) for warning in document.get("warnings", [])]
    for number, item in enumerate(items, 1):
        title = f"{number}. {one_line(str(item.get('title') or item['url']), 200)}"
        facts = [item["url"], item.get("date") or item.get("age", ""), item.get("author", "")]
        facts += [f"not read: {item['error']}"] if "error" in item else []
        text = item.get("text") or item.get("snippet") or ""
        passages = [line for part in text.split("\n") for line in wrapped(part, width, "   ")]
        small = styled(DIM, "   " + " · ".join(fact for fact in facts if fact))
        blocks.append("\n".join([styled(BOLD, title), small, *passages]))
    hint = object_field(document, "truncated").get("hint", "")
    blocks += ["\n".join(wrapped(hint, width, ""))] if hint else []
    return "\n\n".join(blocks)


def shown_line(line: str, width: int) -> str:
    """Return a line of Markdown: headings bold, long text wrapped; tables and code stay."""
    if re.match(r"#{1,6} ", line):
        return styled(BOLD, line)
    if len(line) <= width or line.startswith(("|", "    ", "```")):
        return line
    indent = re.match(r"[ ]*(?:[-*] |\d+\. |> )?", line)
    return textwrap.fill(line, width, subsequent_indent=" " * len(indent[0] if indent else ""))


def wrapped(text: str, width: int, indent: str) -> list[str]:
    """Return a text as indented lines of a width; an empty text is an empty list."""
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def styled(code: str, text: str) -> str:
    """Return a text in a style, unless NO_COLOR is set."""
    return text if os.environ.get("NO_COLOR") else f"{code}{text}{PLAIN}"
