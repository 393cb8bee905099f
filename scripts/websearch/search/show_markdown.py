"""Convert the documents of web_search to Markdown, with one function per command."""

from __future__ import annotations

import re

from websearch.base.calls import result_or_error
from websearch.base.untrusted import disarm_text, plain_address
from websearch.kit import (
    SearchError,
    batch_blocks,
    dump_json,
    fence_untrusted,
    frame_markdown,
    object_field,
    one_line,
    quoted,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document


SECTION_CHARS = 100  # characters per heading
REASON_CHARS = 100  # characters per page that was not read


def page_text(text: str) -> str:
    """Return page text to put below "## URL": no line looks like a border or a higher heading.

    Code stays as it is.
    """
    from websearch.markdown.foreign_text import outside_code
    from websearch.markdown.sections import lower_headings

    return lower_headings(outside_code(text, without_borders), 3)


def without_borders(text: str) -> str:
    """Return text in which a backslash precedes each line that looks like a border."""
    border = r"(?m)\n(?=[ \t]*(?:##[ \t]+\S*://|-{3,}[ \t]*$))"  # re finds \n quickly
    return re.sub(border, r"\n\\", f"\n{text}")[1:]


def consolidated_text(document: Document) -> str:
    """Return a document's page texts as one: "## URL", the text, and "---" between pages.

    A page without an answer shows its snippet. Programs split the text at the borders, so none
    stands in code either.
    """
    sections = [
        f"## {item['url']}\n\n{page_text(without_borders(text))}"
        for item in document.get("results", [])
        if (text := item.get("text") or ("error" not in item and item.get("snippet")))
    ]
    return "\n\n---\n\n".join(sections)


def batch_markdown(document: Document) -> str:
    """Return a batch's documents as Markdown, each below its question."""
    return frame_markdown(document, *batch_blocks(document.get("results", []), search_markdown))


def search_markdown(document: Document) -> str:
    """Return the results of a search or recall as Markdown, with web text fenced."""
    if "request" in document and "billed" in document:
        return f"{frame_markdown(document)}\n\nThis costs money: {', '.join(document['billed'])}."
    sections = joined_sections(document.get("results", []))
    facts = [
        f"Results from {document['engine']}" if "engine" in document else "",
        f"Results from {', '.join(document['engines'])}" if "engines" in document else "",
        f"fetched {document['fetched_at']}" if "fetched_at" in document else "",
        "from the store" if document.get("from_cache") else "",
        "out of date" if document.get("stale") else "",
        f"today is {document['today']}" if "today" in document else "",
    ]
    summary = ", ".join(filter(None, facts))
    return frame_markdown(
        document,
        summary[:1].upper() + summary[1:],
        fence_untrusted(sections) if sections else "",
        *last_lines(document),
    )


def last_lines(document: dict[str, Any]) -> list[str]:
    """Return the end of a search or brief: pages that were not read and paid requests."""
    reasons = [
        f"{plain_address(page['url'])} ({disarm_text(one_line(page['error'], REASON_CHARS))})"
        for page in document.get("unread", [])
    ]
    billed = document.get("billed") or object_field(document, "details").get("billed") or {}
    paid = ", ".join(f"{engine} {requests}" for engine, requests in billed.items())
    return [
        f"Not read, replaced by the next results: {'; '.join(reasons)}." if reasons else "",
        f"Billed requests: {paid}." if paid else "",
    ]


def joined_sections(items: list[dict[str, Any]]) -> str:
    """Return the sections of results or sources, with "---" before and after each whole page."""
    sections: list[str] = []
    was_whole = False
    for item in items:
        is_whole = bool(item.get("text")) and "chars" not in item
        sections += ["---"] if sections and (was_whole or is_whole) else []
        sections.append(section_of(item))
        was_whole = is_whole
    return "\n\n".join(sections)


def section_of(item: dict[str, Any]) -> str:
    """Return an item's section, or the beginning of its text if a bug prevents the section."""
    from websearch.search.read_sources import SNIPPET_CHARS

    section: str | SearchError = result_or_error(item_markdown, item)
    if isinstance(section, SearchError):
        address = plain_address(item["url"])
        beginning = one_line(disarm_text(item.get("text", "")), SNIPPET_CHARS)
        return f"## {address}\n\n{beginning}\n\n(not shown whole: {section.message})"
    return section


def item_markdown(item: dict[str, Any]) -> str:
    """Return the section of a result or source: its URL, title and facts, then text or snippet."""
    from websearch.search.answers import spoken_questions

    title = disarm_text(" ".join(str(item.get("title", "")).split()))
    number = f"[{item['number']}] " if "number" in item else ""
    read = f"read {item['fetched_at']}" if "fetched_at" in item else ""
    changed = f", changed {item['changed']}" if "changed" in item else ""
    date = item.get("date") or item.get("age") or read
    version = f"version {item['version']}" if "version" in item else ""
    facts = [version, date + changed, item.get("author", ""), item.get("license", "")]
    facts += [spoken_questions(item["queries"])] if "queries" in item else []
    facts.append(", ".join(item.get("engines", [])))
    facts.append(f"archived {item['archived']}" if "archived" in item else "")
    facts.append(f"redirects to {item['final_url']}" if "final_url" in item else "")
    facts.append(f"does not contain {', '.join(item['missing'])}" if "missing" in item else "")
    facts.append(shown_part(item))
    also = ", ".join(map(plain_address, item.get("also", [])))
    blocks = [
        f"## {plain_address(item['url'])}",
        " · ".join(filter(None, [number + f"**{title}**" * bool(title), *map(disarm_text, facts)])),
        page_text(item.get("text") or disarm_text(item.get("snippet", ""))),
        cut_line(item),
        f"(the same text: {also})" if also else "",
        f"(page not read: {disarm_text(item['error'])})" if "error" in item else "",
    ]
    return "\n\n".join(block for block in blocks if block)


def cut_line(item: dict[str, Any]) -> str:
    """Return how to read partly shown sections completely; "" if there are none."""
    address, names = plain_address(item["url"]), section_names(item, "cut")
    sections = "sections" if len(names) > 1 else "section"
    return (
        f"(cut {sections}; whole: read '{address}' --section {' or '.join(names)})" if names else ""
    )


def section_names(item: dict[str, Any], field: str) -> list[str]:
    """Return the headings in a field of an item, quoted."""
    names = [disarm_text(one_line(name, SECTION_CHARS)) for name in item.get(field, [])]
    return [quoted(name, SECTION_CHARS) for name in names]


def shown_part(item: dict[str, Any]) -> str:
    """Return a phrase for how much of a page an item shows; "" if the item shows everything."""
    if "chars" not in item:
        return ""
    whole = "".join(f", all of {name}" for name in section_names(item, "whole"))
    return f"{len(item['text']):,} of {item['chars']:,} characters{whole}"


def brief_markdown(document: Document) -> str:
    """Return a brief as Markdown: the questions, then the sources.

    A document with a single question is shown as a search.
    """
    if "queries" not in document:
        return search_markdown(document)
    sources = document.get("sources", [])
    questions, unanswered = [], []
    for number, query in enumerate(document["queries"], 1):
        failed = f" (failed: {query['error']})" if "error" in query else ""
        questions.append(f"{number}. {query['query']}{failed}")
        if "missing" in query or "unanswered" in query:
            lacking = f" (none has: {', '.join(query.get('missing', []))})"
            unanswered.append(f"question {number}{lacking if 'missing' in query else ''}")
    sections = joined_sections(sources)
    return frame_markdown(
        document,
        "\n".join(["Questions:", *questions]),
        f"Today is {document['today']}." if sources else "",
        fence_untrusted(sections) if sections else "",
        f"No page that was read answers {'; '.join(unanswered)}." if unanswered else "",
        *last_lines(document),
    )


def cache_markdown(document: Document) -> str:
    """Return the result of `cache` as Markdown."""
    if not document["ok"] or "request" in document:
        return frame_markdown(document)
    left_out = ("ok", "provider", "action", "warnings")
    facts = [
        f"- {name}: {dump_json(value) if isinstance(value, dict) else value}"
        for name, value in document.items()
        if name not in left_out
    ]
    title = "Removed from the cache:" if document["action"] == "clear" else "The cache:"
    return "\n".join([*(f"> {text}" for text in document.get("warnings", [])), title, *facts])
