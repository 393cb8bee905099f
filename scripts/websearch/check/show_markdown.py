"""Convert the document of a check to Markdown."""

from __future__ import annotations

import re

from websearch.base.untrusted import disarm_text, plain_address
from websearch.kit import fence_untrusted, frame_markdown, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Document

SHOWN_CHARS = 500  # characters per quotation or note
MOST_LINES = 10  # lines with uncited numbers that are listed
SENTENCE_CHARS = 150  # characters per sentence in the draft
FAULTS = {"missing", "error", "doubtful"}
VERDICTS = ("altered", "absent", "unread", "verbatim")  # in the order of the document


def to_markdown(document: Document) -> str:
    """Return a document as Markdown: a summary, then the errors, fenced as untrusted."""
    if "counts" not in document:
        return frame_markdown(document)
    counts = document["counts"]
    checks, numbers = sum(counts[verdict] for verdict in VERDICTS), counts["numbers"]
    links = counts["links"]
    right = numbers - counts["numbers_missing"] - counts["numbers_unread"]
    doubted = f", {counts['numbers_doubtful']} doubtful" if counts["numbers_doubtful"] else ""
    summary = [
        f"Verbatim: {counts['verbatim']} of {checks} quotations." if checks else "",
        f"Numbers found in their sources: {right} of {numbers} sentences{doubted}."
        if numbers
        else "",
        "" if checks or numbers else "Nothing to check: no quotation and no number with a link.",
        "Not checked: no network." if document.get("no_network") else "",
        *(
            lines_sentence(document.get(name, []), what)
            for name, what in (
                ("uncited_lines", "Not checked, because uncited: numbers in"),
                ("unclosed_lines", "Unclosed quotation mark in"),
            )
        ),
    ]
    is_verbose = bool(document.get("verbose"))
    computed = document.get("computed", [])
    found = [computed_markdown(item) for item in computed if item.get("is_wrong")]
    found += [check_markdown(item) for item in document["checks"] if item["verdict"] != "verbatim"]
    found += [
        numbers_markdown(item, is_verbose)
        for item in document["numbers"]
        if is_verbose or {"missing", "error", "doubtful", "without"} & {*item} or noted(item)
    ]
    found += [computed_markdown(item) for item in computed if not item.get("is_wrong")]
    found += [
        f"- {what}, line {link['line']}: {plain_address(link['url'])}"
        + (f", copy: {plain_address(link['archived_url'])}" if "archived_url" in link else "")
        for name, what in (
            ("dead_links", "dead link"),
            ("never_shown", "link not shown by any search or page"),
        )
        for link in document.get(name, [])
    ]
    faulty = {item["line"] for item in document["numbers"] if FAULTS & {*item}}
    passed = {item["line"] for item in document["numbers"]} - faulty
    skipped = [
        f"{line_of(item['text'])} (line {item['line']})" for item in document.get("skipped", [])
    ]
    named = ", ".join(skipped[:MOST_LINES]) + " and more" * (len(skipped) > MOST_LINES)
    last = [
        lines_sentence(sorted(passed), "Passed: numbers in"),
        f"Not checked: {named}." if skipped else "",
        f"Compared: quotations ({checks}), sentences with numbers ({numbers}), links ({links});",
        "not names or other claims.",
    ]
    hint = [] if document["ok"] else [re.sub(r" \(\w+_\w+\)", "", document["details"]["hint"])]
    advice = [fence_untrusted("\n".join(found)), *hint] if found else []
    cut = {} if is_whole_in_markdown(document) else document.get("truncated", {})
    framed = {**document, "ok": True, "truncated": cut}
    return frame_markdown(
        framed, " ".join(filter(None, summary)), *advice, " ".join(filter(None, last))
    )


def is_whole_in_markdown(document: Document) -> bool:
    """Return whether the document lacks only what the Markdown omits.

    These are verbatim quotations and, unless it is verbose, the evidence.
    """
    cut, counts = document.get("truncated", {}), document["counts"]
    wrong = sum(item["verdict"] != "verbatim" for item in document["checks"])
    all_wrong = sum(counts[verdict] for verdict in VERDICTS if verdict != "verbatim")
    omitted = set() if document.get("verbose") else {"proof"}
    is_omitted = {*cut.get("left_out", ())} <= omitted and "texts_shortened_to" not in cut
    return is_omitted and {*cut.get("items_dropped", ())} <= {"checks"} and wrong == all_wrong


def lines_sentence(lines: list[int], what: str) -> str:
    """Return a sentence that lists lines in the draft; "" if there are no lines."""
    if not lines:
        return ""
    named = ", ".join(map(str, lines[:MOST_LINES])) + " and more" * (len(lines) > MOST_LINES)
    return f"{what} line{'s' * (len(lines) > 1)} {named}."


def computed_markdown(item: Document) -> str:
    """Return a list item for a number that the author counted or computed."""
    what = "miscalculated" if item.get("is_wrong") else "counted or computed"
    result = f" = {item['result']}" if "result" in item else ""
    sum_ = f", {item['expression']}{result}" if "expression" in item else ""
    return f"- {what}, line {item['line']}: {line_of(item['number'] + sum_)}"


def check_markdown(check: Document) -> str:
    """Return a list item for a quotation that is not verbatim, with the page's text."""
    lines = [f"- {check['verdict']}, {place_of(check)}: “{line_of(check['quote'])}”"]
    if "source_text" in check:
        lines.append(f"The page: “{line_of(check['source_text'])}”")
    if "differs" in check:
        pairs = (f"“{pair['quote']}” for “{pair['source']}”" for pair in check["differs"])
        lines.append(f"It differs: {line_of('; '.join(pairs))}")
    if check.get("left_out"):
        lines.append(f"Omitted: {line_of(' […] '.join(check['left_out']))}")
    if "found_in" in check:
        lines.append(f"Found in {plain_address(check['found_in'])}")
    lines += [line_of(check[name]) for name in ("note", "error") if name in check]
    return "\n  ".join(lines)


def numbers_markdown(item: Document, is_verbose: bool) -> str:
    """Return a list item for a sentence with numbers: its errors, doubts and notes.

    is_verbose: also show the evidence.
    """
    what = ["numbers unread"] if "error" in item else []
    if "missing" in item:
        what.append(f"not in the source: {', '.join(item['missing'])}")
    doubtful = item.get("doubtful", [])
    if doubtful:
        what.append(f"doubtful: {', '.join(number['number'] for number in doubtful)}")
    proof = item.get("proof", [])
    sentence = line_of(item["sentence"], SENTENCE_CHARS)
    lines = [
        f"- {'; '.join(what) or 'numbers'}, {place_of(item)}: {sentence}",
        line_of(item.get("error", "")),
        *doubt_lines(doubtful),
        *(f"Not on this page: {plain_address(url)}" for url in item.get("without", [])),
        *(f"{one['number']}: {one['note']}" for one in noted(item) if not is_verbose),
        *(
            line_of(f"{number['number']} is in: {number['text']} {number.get('note', '')}")
            for number in (proof if is_verbose else [])
        ),
    ]
    return "\n  ".join(filter(None, lines))


def noted(item: Document) -> list[Document]:
    """Return the evidence that has a note, such as "Rounded from", except for doubtful numbers."""
    doubtful = [number["number"] for number in item.get("doubtful", [])]
    proof = item.get("proof", [])
    return [one for one in proof if "note" in one and one["number"] not in doubtful]


def doubt_lines(doubtful: list[Document]) -> list[str]:
    """Return why numbers are doubtful, each with the page's sentence or row, shown only once."""
    lines: list[str] = []
    texts = [number.get("text", "") for number in doubtful]
    for number, text, following in zip(doubtful, texts, [*texts, ""][1:], strict=True):
        is_last = text and text != following
        page = f" The page: “{line_of(text)}”" if is_last else ""
        lines.append(line_of(f"{number['number']}: {number['note']}") + page)
    return lines


def place_of(item: Document) -> str:
    """Return an item's line in the draft, and the URL that the item cites."""
    address = plain_address(item["url"]) if "url" in item else "no source"
    return f"line {item['line']}, {address}"


def line_of(text: str, limit: int = SHOWN_CHARS) -> str:
    """Return text from a draft or page on one line, without active Markdown."""
    return one_line(disarm_text(text), limit)
