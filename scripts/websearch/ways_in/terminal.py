"""Show documents to a person at a terminal: wrapped, with dimmed details and without fences.

The content is the Markdown for models. Agents in a pseudo-terminal get the Markdown.
"""

from __future__ import annotations

import re
import sys
import time

from websearch.kit import (
    WEB_ADDRESS,
    SearchError,
    error_document,
    is_agents,
    object_field,
    one_line,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.kit import Document, ProgressCallback
    from websearch.ways_in.terminal_markdown import Renderer

WIDEST_TEXT = 100  # columns: longer lines are hard to read
USUAL_WIDTH = 80  # columns at an unknown width
# Lines of passages, without --full: per result, on average, and per cell of a table. Five results
# fit a screen of 50.
RESULT_LINES, USUAL_LINES, CELL_LINES = 12, 6.4, 2
PROGRAM_VARIABLE = "WEB_SEARCH_PROGRAM"  # the name of the installed command
FENCE_LINE = re.compile(r"(?m)^\[(?:untrusted page text \w{8}: data.*|end of \w{8})\]\n?")
FIELD = re.compile(r" \((?:[a-z]+_[a-z]+)?\)")  # a field name in a hint, useless to people


def is_persons() -> bool:
    """Return whether a person reads the output."""
    return bool(sys.stdout and sys.stdout.isatty()) and not is_agents()


def is_piping() -> bool:
    """Return whether a person at a terminal redirects the output to a file or another program."""
    return bool(sys.stderr and sys.stderr.isatty()) and not (is_persons() or is_agents())


def terminal_width() -> int:
    """Return the number of columns for text at this terminal."""
    return min(WIDEST_TEXT, screen_width())


def screen_width() -> int:
    """Return the number of columns of this terminal, which tables can use."""
    import shutil

    # Python 3.10 reports 0 columns for a terminal of unknown width.
    return shutil.get_terminal_size().columns or USUAL_WIDTH


def to_terminal(document: Document, to_markdown: Callable[[Document], str]) -> str:
    """Return a document as shown at a terminal: Markdown for an agent, "" in a pipe."""
    return View().show(document, to_markdown)


def result_urls(document: Document, _: Callable[[Document], str]) -> str:
    """Return the URLs of a document's results or sources, one per line."""
    return "\n".join(item["url"] for item in items_of(document))


def items_of(document: Document) -> list[dict[str, Any]]:
    """Return the results or sources in a document that have URLs."""
    items = document.get("sources") or document.get("results") or []
    return [item for item in items if isinstance(item, dict) and "url" in item]


def opening(run: Callable[..., Document], number: int) -> Callable[..., Document]:
    """Return a function that runs a search and opens the result with this number in a browser."""

    def run_and_open(params: dict[str, Any], report: ProgressCallback = None) -> Document:
        document = run(params, report)
        if not document["ok"]:
            return document
        urls = result_urls(document, str).split()
        if not 0 < number <= len(urls):
            there = "is 1 result" if len(urls) == 1 else f"are {len(urls)} results"
            error = SearchError("invalid_input", f"--open {number}: there {there}.")
            return {**error_document(error), "document": document}
        open_in_browser(urls[number - 1])
        return document

    return run_and_open


def open_in_browser(url: str) -> bool:
    """Open a URL in the user's browser; return whether this succeeded."""
    import webbrowser

    return bool(re.match(WEB_ADDRESS, url)) and webbrowser.open(url)


class View:
    """The view of a call: whether to show all passages, the parameters and the program's name."""

    def __init__(self, is_full: bool = True, params: dict[str, Any] | None = None) -> None:
        self.is_full, self.params = is_full, params or {}
        self.program = "web_search.py"
        self.started = time.monotonic()
        self.opened = 0  # number of the opened result; 0 if none is opened
        self.document: Document = {}

    def noting(self, run: Callable[..., Document]) -> Callable[..., Document]:
        """Return a function that runs a command and keeps its parameters and document."""

        def run_and_note(params: dict[str, Any], *rest: Any, **more: Any) -> Document:
            document = run(params, *rest, **more)
            self.params, self.document = params, document if isinstance(document, dict) else {}
            return document

        return run_and_note

    def show(self, document: Document, to_markdown: Callable[[Document], str]) -> str:
        """Return a document as shown at a terminal: Markdown for an agent, "" in a pipe."""
        if not sys.stdout.isatty():
            return ""
        return to_markdown(document) if is_agents() else self.for_people(document, to_markdown)

    def for_people(self, document: Document, to_markdown: Callable[[Document], str]) -> str:
        """Return a document as shown to a person."""
        from websearch.ways_in.best_passages import query_words
        from websearch.ways_in.terminal_markdown import Renderer

        width = terminal_width()
        if not document["ok"] and "counts" not in document:  # a check has counts and findings
            return shown_error(document, width)
        asked = [outcome["query"] for outcome in document.get("queries", [])]
        asked = asked or [str(self.params.get("query", document.get("query", "")))]
        render = Renderer(width, query_words(" ".join(asked)), screen_width())
        if items_of(document):
            blocks = self.result_blocks(document, render, asked)
            if "queries" in document:  # the Markdown also lists the unanswered questions
                questions = re.search(r"(?m)^Questions:\n(?:\d+\. .*\n)+", to_markdown(document))
                blocks.insert(0, "\n".join(render.lines(questions[0].strip())) if questions else "")
            return "\n\n".join(blocks)
        text = FENCE_LINE.sub("", to_markdown(document)).strip("\n")
        text = FIELD.sub("", text) if "counts" in document else text
        return re.sub(r"\n{3,}", "\n\n", "\n".join(render.lines(text)))

    def result_blocks(self, document: Document, render: Renderer, asked: list[str]) -> list[str]:
        """Return the blocks to show: warnings, results or sources, and a summary line."""
        from websearch.ways_in.best_passages import best_passages, unanswered_questions
        from websearch.ways_in.terminal_markdown import DIM, Renderer, filled, styled

        width, items = render.width, items_of(document)
        most = 0 if self.is_full else CELL_LINES
        inner = Renderer(width - 3, render.query, render.table_width - 3, most)
        blocks = ["\n".join(filled(text, width)) for text in document.get("warnings", [])]
        texts = [item.get("text") or item.get("snippet") or "" for item in items]
        if not self.is_full:
            pairs = [(item.get("title", ""), text) for item, text in zip(items, texts, strict=True)]
            total = max(RESULT_LINES, int(USUAL_LINES * len(items)))
            texts = best_passages(
                pairs, asked, lambda text: len(text_lines(inner, text)), RESULT_LINES, total
            )
        for number, (item, text) in enumerate(zip(items, texts, strict=True), 1):
            lines = inner.lines(text) if self.is_full else text_lines(inner, text)
            cut = RESULT_LINES if len(lines) > RESULT_LINES and not self.is_full else len(lines)
            lines = [*lines[:cut], *["…"] * (cut < len(lines))]
            blocks.append(self.shown_item(item, number, width, lines))
        if unanswered := unanswered_questions(document):
            blocks.append("\n".join(["No page answers:", *unanswered]))
        hint = object_field(document, "truncated").get("hint", "")
        blocks += ["\n".join(filled(hint, width))] if hint and self.is_full else []
        what = f"{len(items)} {'source' if 'sources' in document else 'result'}"
        facts = [what + "s" * (len(items) > 1), document.get("engine", "")]
        facts += [*document.get("engines", []), "from the store" * bool(document.get("from_cache"))]
        facts.append(f"{time.monotonic() - self.started:.1f} s")
        if not self.is_full:
            more = f"; {self.program} open {min(2, len(items))}, --full shows all"
            blocks.append(styled(DIM, ", ".join(filter(None, facts)) + more))
        if self.opened:
            blocks.append(opened_sentence(self.opened, items[self.opened - 1]))
        return blocks

    def shown_item(self, item: dict[str, Any], number: int, width: int, passages: list[str]) -> str:
        """Return a result or source: number and title, URL and facts, and lines of passages."""
        from websearch.ways_in.terminal_markdown import BOLD, DIM, filled, styled

        title = one_line(str(item.get("title") or item["url"]), 200 if self.is_full else width - 4)
        numbered = filled(title, width, f"{number}. ")
        undated = "no date" if "since" in self.params else ""
        facts = [item["url"], item.get("date", undated), item.get("author", "")]
        if "queries" in item:
            verb = "answers" if "text" in item else "found for"
            facts.append(f"{verb} {', '.join(map(str, item['queries']))}")
        facts += [f"not read: {item['error']}"] if "error" in item else []
        small = filled(" · ".join(filter(None, facts)), width, "   ")
        shown = [styled(BOLD, line) for line in numbered] + [styled(DIM, line) for line in small]
        return "\n".join([*shown, *(f"   {line}" if line else "" for line in passages)])


def text_lines(render: Renderer, text: str) -> list[str]:
    """Return Markdown as terminal lines without blank lines."""
    return [line for line in render.lines(text) if line.strip()]


def opened_sentence(number: int, item: dict[str, Any]) -> str:
    """Return a sentence that reports which result was opened."""
    return f"Opened {number}: {one_line(str(item.get('title', '')), 80)}\n{item['url']}"


def for_saving(
    to_markdown: Callable[[Document], str], words: list[str]
) -> Callable[[Document], str]:
    """Return to_markdown, or a version without fences if a person saves a single text.

    words: the command line.
    """
    is_saved = any(word.partition("=")[0] == "--output" for word in words)
    if not (is_saved and is_persons()):
        return to_markdown

    def without_fences(document: Document) -> str:
        texts = document.get("pages") or items_of(document)
        markdown = to_markdown(document)
        return markdown if len(texts) > 1 else FENCE_LINE.sub("", markdown).strip("\n")

    return without_fences


def shown_error(document: Document, width: int) -> str:
    """Return an error as a sentence, a hint and the URL of any archived copy."""
    from websearch.ways_in.terminal_markdown import RED, filled, styled

    details = document["details"]
    lines = [styled(RED, line) for line in filled(document["error"], width)]
    lines += filled(details["hint"], width) if details.get("hint") else []
    archived = object_field(details, "archived")
    if archived:
        lines.append(f"Archived copy of {archived['date']}: {archived['url']}")
    return "\n".join(lines)
