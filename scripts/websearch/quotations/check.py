"""The command check: its table, the reading of the cited pages, its document and Markdown."""

from __future__ import annotations

import functools
import time

from websearch.core.untrusted import make_harmless, plain_address
from websearch.kit import (
    DryRun,
    SearchError,
    deadline_of,
    drop_empty,
    error_document,
    fence_untrusted,
    frame_markdown,
    one_line,
    read_argument,
    run_operation,
)

# draft, numbers and standing are imported where they are used: their patterns take 25 ms to
# compile, and every search imports this module for the table of its command.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document, ProgressCallback
    from websearch.quotations.draft import Cited
    from websearch.quotations.standing import ComparedText, Quotation
    from websearch.reading.page import Page

PAGE_TIMEOUT = 5.0  # seconds for one page, redirects included: nothing can stand for a source
STORED_SECONDS = 86_400.0  # a page that was read within a day is not read again
READING_SHARE = 0.7  # of the time that is left; the rest is for comparing
SHOWN_CHARS = 500  # of a quotation, in Markdown
MOST_LINES = 10  # with numbers that cite nothing, which are named in Markdown
VERDICTS = ("altered", "absent", "unread", "verbatim")  # in the order in which they are told
BEST_FIRST = ("verbatim", "altered", "unread", "absent")  # of several sources of one quotation
INPUT_HINT = "Name a file with the draft, or - for standard input; or give {quote} and {url}."
WRONG_HINT = (
    "Write what the source says (source_text), cite the page that says it (found_in), "
    "or leave it out."
)

# fmt: off
COMMANDS: dict[str, dict[str, Any]] = {
    "check": {
        "help": "do the quotations and numbers of a draft stand in the pages that it cites?",
        "params": [
            {"name": "input", "type": "str", "positional": True, "verbatim": True,
             "help": "file with the draft, in Markdown; - is standard input"},
            {"name": "text", "type": "str", "verbatim": True,
             "help": "the draft itself, with a link or [1] behind each quotation"},
            {"name": "quote", "type": "str", "help": "one quotation in place of a draft; with url"},
            {"name": "url", "type": "str", "help": "the source of what the draft names none for"},
            {"name": "offline", "type": "bool", "help": "read no page: those of the store alone"},
            {"name": "force", "type": "bool", "flags": ["-f"],
             "help": "read the pages again, whatever the store holds"},
            {"name": "page_timeout", "type": "float", "min": 0.1, "max": 120,
             "default": PAGE_TIMEOUT, "help": "seconds for each page (default: 5)"},
        ],
    },
}
# fmt: on


class SourcePage:
    """A page that a draft cites: its text, with its title, or why there is none."""

    def __init__(self, page: Page) -> None:
        self.error = page.error.message if page.error else ""
        self.is_cut = page.is_cut
        facts = [str(page.fields.get(name) or "") for name in ("title", "published", "updated")]
        self.head = " ".join(filter(None, facts))
        self.text = f"{facts[0]}\n\n{page.text}"
        if not (self.error or page.text.strip()):
            self.error = "The page has no text."

    @functools.cached_property
    def compared(self) -> ComparedText:
        """Return the text as quotations are compared with it."""
        from websearch.quotations.standing import ComparedText

        return ComparedText(self.text)

    @functools.cached_property
    def values(self) -> set[str]:
        """Return the values of the numbers of the page, its dates among them."""
        from websearch.quotations.numbers import values_in

        return values_in(f"{self.head}\n{self.text}")


def run_check(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Say of each quotation and number of a draft whether its source holds it. Never raises.

    params: those of COMMANDS["check"] without input, and timeout, max_chars, dry_run, verbose.
    Returns {ok, checks: [{quote, url, verdict, source_text?, differs?, found_in?, note?, error?,
    line}], numbers: [{sentence, url, missing?, error?, line}], counts, uncited_lines?}; what is
    wrong comes first. uncited_lines: of sentences with numbers that cite nothing. ok is false, and
    the kind no_results, unless all quotations are verbatim and no number is missing.
    """

    def operation(params: dict[str, Any]) -> Document:
        deadline = deadline_of(params)
        quotations, sentences = cited_in(params)
        urls = list(
            dict.fromkeys(page_of(url) for item in quotations + sentences for url in item.urls)
        )
        if params.get("dry_run"):
            raise DryRun({"requests": [{"method": "GET", "url": url} for url in urls]})
        pages = read_sources(urls, params, deadline, report)
        checks = [checked(item, pages, deadline) for item in quotations]
        numbers = [counted(item, pages, deadline) for item in sentences if item.urls]
        uncited = [item.line for item in sentences if not item.urls]
        return outcome(checks, numbers, list(dict.fromkeys(uncited)))

    return run_operation("web_search.check", COMMANDS["check"], params, operation)


def run_check_file(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Run a check for the command line, which may read the draft from a file.

    Raises SearchError (invalid_input) if it cannot be read.
    """
    path = params.get("input")
    if not isinstance(path, str):
        return run_check(params, report)
    try:
        text = read_argument(f"@{path.removeprefix('@')}", "input")
    except SearchError as error:
        hint = f"{INPUT_HINT} If it is a query, begin with the command search."
        raise SearchError("invalid_input", error.message, hint) from None
    others = {name: value for name, value in params.items() if name != "input"}
    return run_check({**others, "text": text}, report)


def cited_in(params: dict[str, Any]) -> tuple[list[Cited], list[Cited]]:
    """Return the quotations and the sentences with numbers that are to be checked.

    Raises SearchError: invalid_input without a draft or for a url that is none, no_results if there
    is nothing in the draft.
    """
    from websearch.fetching.fetch import normal_url
    from websearch.quotations.draft import Cited, Draft

    url = params.get("url", "")
    if url:
        normal_url(url)
    if "input" in params:
        message = "input is read on the command line only."
        raise SearchError("invalid_input", message, "Give the draft itself: text.")
    if "quote" in params:
        if not url or "text" in params:
            message = "quote stands in place of a draft, and needs url."
            raise SearchError("invalid_input", message, "Give {quote} and {url}.")
        return [Cited(params["quote"], 1, [url])], []
    if "text" not in params:
        raise SearchError("invalid_input", "There is no draft.", INPUT_HINT)
    draft = Draft(params["text"], url)
    quotations, sentences = draft.quotations(), draft.sentences()
    if not quotations and not any(sentence.urls for sentence in sentences):
        message = "The draft holds no quotation, and no number with a source."
        hint = (
            "A quotation is four words or more between quotation marks, or lines that begin with >."
        )
        raise SearchError("no_results", message, hint)
    return quotations, sentences


# ===== pages ======================================================================================


def page_of(url: str) -> str:
    """Return the address of the page that an address leads into."""
    return url.partition("#")[0]


def read_sources(
    urls: list[str], params: dict[str, Any], deadline: float, report: ProgressCallback
) -> dict[str, SourcePage]:
    """Return the pages of some addresses: from the store, else from the web, each once."""
    from contextlib import closing

    from websearch.reading.one_page import result_or_error
    from websearch.reading.page import Page, stored_page
    from websearch.reading.read import MAX_URLS, read_for_search, target_of
    from websearch.store.page_store import PageStore

    pages: dict[str, Page] = {}
    for url in urls:
        error = result_or_error(target_of, url, False)
        if isinstance(error, SearchError):
            pages[url] = Page(error=error)
    allowed = [url for url in urls if url not in pages]
    is_offline = params.get("offline")
    with closing(PageStore()) as store:
        if is_offline or not params.get("force"):
            stored = store.get_pages(allowed, None if is_offline else STORED_SECONDS)
            pages |= {
                url: stored_page(page)
                for url, page in stored.items()
                if is_offline or not page["truncated"]
            }
        missing = [url for url in allowed if url not in pages]
        reading_ends = time.monotonic() + READING_SHARE * (deadline - time.monotonic())
        for start in range(0, 0 if is_offline else len(missing), MAX_URLS):
            some = missing[start : start + MAX_URLS]
            read = read_for_search(some, params["page_timeout"], reading_ends, report, store)
            pages |= {page.url: page for page in read}
    unread = "The page is not in the store, and nothing was read."
    unknown = Page(error=SearchError("no_results", unread))
    return {url: SourcePage(pages.get(url, unknown)) for url in urls}


# ===== verdicts ===================================================================================


def checked(item: Cited, pages: dict[str, SourcePage], deadline: float) -> Document:
    """Return the check of a quotation: of several sources, the one that is nearest to it."""
    from websearch.quotations.standing import Quotation

    quotation = Quotation(item.text)
    head, line = {"quote": " ".join(item.text.split())}, {"line": item.line}
    if time.monotonic() > deadline:
        late = {"verdict": "unread", "error": "No time was left to compare it."}
        return {**head, **({"url": item.urls[0]} if item.urls else {}), **late, **line}
    answers = [{"url": url, **judged(quotation, pages[page_of(url)])} for url in item.urls]
    answers = answers or [{"verdict": "unread", "error": "The draft names no source for it."}]
    best = min(answers, key=lambda answer: BEST_FIRST.index(answer["verdict"]))
    if best["verdict"] != "verbatim":
        cited = {page_of(url) for url in item.urls}
        others = ((url, page) for url, page in pages.items() if not (page.error or url in cited))
        holder = next((url for url, page in others if quotation.stands_in(page.compared)), "")
        if holder and not cited:
            best = {"url": holder, "verdict": "verbatim"}
        elif holder:
            best["found_in"] = holder
    return {**head, **best, **line}


def judged(quotation: Quotation, page: SourcePage) -> Document:
    """Return the verdict on a quotation in a page, unread with an error if the page has no say."""
    if page.error:
        return {"verdict": "unread", "error": page.error}
    answer = quotation.judged(page.compared)
    if page.is_cut and answer["verdict"] == "absent":
        return {"verdict": "unread", "error": "The page is longer than what was read of it."}
    return answer


def counted(item: Cited, pages: dict[str, SourcePage], deadline: float) -> Document:
    """Return which numbers of a sentence do not stand in any page that it cites."""
    from websearch.quotations.numbers import numbers_in

    cited = [pages[page_of(url)] for url in item.urls]
    read = [page for page in cited if not page.error]
    answer: Document = {"sentence": item.shown, "url": item.urls[0]}
    if not read or time.monotonic() > deadline:
        error = cited[0].error if not read else "No time was left to compare it."
        return {**answer, "error": error, "line": item.line}
    values = set().union(*(page.values for page in read))
    missing = [number for number, possible in numbers_in(item.text) if not possible & values]
    return {**answer, **({"missing": missing} if missing else {}), "line": item.line}


def outcome(checks: list[Document], numbers: list[Document], uncited: list[int]) -> Document:
    """Return the document of a check, what is wrong first; uncited: lines of the draft."""
    checks.sort(key=lambda check: VERDICTS.index(check["verdict"]))
    numbers.sort(key=lambda sentence: ("missing" not in sentence, "error" not in sentence))
    verdicts = [check["verdict"] for check in checks]
    counts = {verdict: verdicts.count(verdict) for verdict in reversed(VERDICTS)}
    counts["numbers"] = len(numbers)
    counts["numbers_missing"] = sum("missing" in sentence for sentence in numbers)
    counts["numbers_unread"] = sum("error" in sentence for sentence in numbers)
    altered = len(checks) - counts["verbatim"]
    wrong = [
        f"{altered} of {len(checks)} quotations not verbatim" if altered else "",
        *(
            f"{counts[name]} of {len(numbers)} sentences with {what}" if counts[name] else ""
            for name, what in (
                ("numbers_missing", "a number that is not in the source"),
                ("numbers_unread", "numbers whose source could not be read"),
            )
        ),
    ]
    message = "; ".join(filter(None, wrong))
    head: Document = {"ok": True}
    if message:
        head = error_document(SearchError("no_results", f"{message}.", WRONG_HINT))
    facts = {"checks": checks, "numbers": numbers, "counts": counts}
    return {**head, "provider": "web_search", **facts, **drop_empty({"uncited_lines": uncited})}


# ===== the document for people ====================================================================


def to_markdown(document: Document) -> str:
    """Return a document as Markdown: how much is right, then what is wrong, fenced as untrusted."""
    if "counts" not in document:
        return frame_markdown(document)
    counts = document["counts"]
    checks, numbers = sum(counts[verdict] for verdict in VERDICTS), counts["numbers"]
    right = numbers - counts["numbers_missing"] - counts["numbers_unread"]
    summary = [
        f"Verbatim: {counts['verbatim']} of {checks} quotations." if checks else "",
        f"Somewhere in their sources: the numbers of {right} of {numbers} sentences."
        if numbers
        else "",
        uncited_sentence(document.get("uncited_lines", [])),
    ]
    wrong = [check_markdown(item) for item in document["checks"] if item["verdict"] != "verbatim"]
    wrong += [
        numbers_markdown(item) for item in document["numbers"] if {"missing", "error"} & {*item}
    ]
    advice = [fence_untrusted("\n".join(wrong)), document["details"]["hint"]] if wrong else []
    return frame_markdown({**document, "ok": True}, " ".join(filter(None, summary)), *advice)


def uncited_sentence(lines: list[int]) -> str:
    """Return a sentence that names the lines with numbers that cite nothing; "" without any."""
    if not lines:
        return ""
    named = ", ".join(map(str, lines[:MOST_LINES])) + " and more" * (len(lines) > MOST_LINES)
    return (
        f"Not checked, because they cite nothing: numbers of line{'s' * (len(lines) > 1)} {named}."
    )


def check_markdown(check: Document) -> str:
    """Return a quotation that is not verbatim as an item of a list: what the page says instead."""
    lines = [f"- {check['verdict']}, {place_of(check)}: “{line_of(check['quote'])}”"]
    if "source_text" in check:
        lines.append(f"The page: “{line_of(check['source_text'])}”")
    if "differs" in check:
        pairs = (f"“{pair['quote']}” for “{pair['source']}”" for pair in check["differs"])
        lines.append(f"It differs: {line_of('; '.join(pairs))}")
    if "found_in" in check:
        lines.append(f"It stands in {plain_address(check['found_in'])}")
    lines += [line_of(check[name]) for name in ("note", "error") if name in check]
    return "\n  ".join(lines)


def numbers_markdown(item: Document) -> str:
    """Return a sentence whose numbers are not in its source as an item of a list."""
    what = (
        "numbers unread" if "error" in item else f"not in the source: {', '.join(item['missing'])}"
    )
    lines = [
        f"- {what}, {place_of(item)}: {line_of(item['sentence'])}",
        line_of(item.get("error", "")),
    ]
    return "\n  ".join(filter(None, lines))


def place_of(item: Document) -> str:
    """Return where an item stands in the draft, and the address that it cites."""
    address = plain_address(item["url"]) if "url" in item else "no source"
    return f"line {item['line']}, {address}"


def line_of(text: str) -> str:
    """Return text of a draft or page in one line, with nothing live in it."""
    return one_line(make_harmless(text), SHOWN_CHARS)
