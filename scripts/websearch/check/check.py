"""Run the command check: read the cited pages, compare them with the draft, build the document."""

from __future__ import annotations

import functools
import time

from websearch.base.calls import result_or_error
from websearch.check.show_markdown import VERDICTS, to_markdown
from websearch.kit import (
    DryRun,
    SearchError,
    clean_tree,
    deadline_of,
    drop_empty,
    error_document,
    is_loopback,
    proxy_for,
    read_argument,
    run_operation,
)

# draft, numbers and quotations are imported where they are used: compiling their patterns takes
# 25 ms, and every search imports this module for its command table.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.check.draft import Cited, CitedParts
    from websearch.check.page_numbers import PageNumbers
    from websearch.check.quotations import ComparedText, Quotation
    from websearch.kit import Command, Document, ProgressCallback
    from websearch.reading.page import Page

PAGE_TIMEOUT = 5.0  # seconds per page, redirects included; a source has no substitute
STORED_SECONDS = 86_400.0  # age up to which stored pages are not read again
READING_SHARE = 0.7  # share of the remaining time for reading; comparing gets the remainder
BEST_FIRST = ("verbatim", "altered", "unread", "absent")  # for a quotation with several sources
MOST_LOOKED_UP = 100  # links, and absent quotations, per draft that are searched for in the store
RECALLED_PAGES = 3  # stored pages searched for an absent quotation
INPUT_HINT = "Name a file with the draft, or - for standard input; or pass {quote} and {url}."
WRONG_QUOTATION = (
    "Write what the source says (source_text), cite the page that says it (found_in), or omit it."
)
WRONG_NUMBER = "Correct the number, cite a page that has it, or omit it."
UNREAD = "Check again later, or cite a page that can be read."
NO_NETWORK = "Not checked: no network."
OFFLINE = "Check again with a network connection; the links may work."
DEAD_LINK = "Cite a page that answers instead of a dead link."
KNOWN_NAME = "example.com"  # a working network resolves it (RFC 2606)

# fmt: off
COMMANDS: dict[str, Command] = {
    "check": {
        "to_markdown": to_markdown,
        "help": "check a draft's quotations and numbers against the pages it cites. Exit code 0: "
                "all were found; 1: a quotation is altered, absent or not checked, a number is "
                "missing, miscalculated or not checked, a link is dead, or (with --strict) a "
                "number is doubtful; 2: there is no draft",
        "params": [
            {"name": "input", "type": "str", "positional": True, "verbatim": True,
             "help": "file with the draft in Markdown (- for standard input)"},
            {"name": "text", "type": "str", "verbatim": True,
             "help": "the draft itself, with a link or [1] after each quotation"},
            {"name": "quote", "type": "str",
             "help": "one quotation to check instead of a draft; requires url"},
            {"name": "url", "type": "str", "help": "source to use where the draft cites none"},
            {"name": "offline", "type": "bool", "help": "use stored pages only; fetch nothing"},
            {"name": "force", "type": "bool", "flags": ["-f"],
             "help": "ignore stored pages; fetch everything again"},
            {"name": "page_timeout", "type": "float", "min": 0.1, "max": 120,
             "default": PAGE_TIMEOUT, "help": "seconds for each page (default: 5)"},
            {"name": "strict", "type": "bool",
             "help": "also use exit code 1 for doubtful numbers"},
        ],
        "expendable": ("proof",),
    },
}
# fmt: on


class SourcePage:
    """A page that a draft cites: its title and all its text, or the reason why it has none."""

    def __init__(self, url: str, page: Page) -> None:
        from websearch.pages.fetch.archive import archived_fields
        from websearch.pages.fetch.fetch import UnknownNameError

        self.url = url
        self.error = page.error.message if page.error else ""
        status = page.error.status if page.error else None
        is_dead = status in (404, 410) or isinstance(page.error, UnknownNameError)
        copy = "" if archived_fields(url) else page.fields.get("final_url", "")
        copied = archived_fields(copy)
        self.dead_link: Document = {"error": self.error} if is_dead else {}
        if copied:
            message = f"The page is gone; its copy of {copied['archived']} was compared."
            self.dead_link = {"error": message, "archived_url": copy}
        self.is_cut = page.is_cut
        facts = [str(page.fields.get(name) or "") for name in ("title", "published", "updated")]
        self.head = " ".join(filter(None, facts))
        self.lead = f"{facts[0]}\n\n"
        self.text = "\n\n".join(filter(None, (self.lead + page.text, page.outside)))
        if not (self.error or page.text.strip()):
            self.error = "The page has no text."

    @functools.cached_property
    def compared(self) -> ComparedText:
        """Return the text in the form for comparing quotations."""
        from websearch.check.quotations import ComparedText

        return ComparedText(self.text, len(self.lead))

    @functools.cached_property
    def numbers(self) -> PageNumbers:
        """Return the numbers in the page, with the words around them."""
        from websearch.check.page_numbers import PageNumbers

        return PageNumbers(self.url, self.head, self.text[len(self.lead) :])


def run_check(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Check whether each quotation and number in a draft is in its source. Never raises.

    params: those of COMMANDS["check"] without input, and timeout, max_chars, dry_run, verbose.
    Returns {ok, checks: [{quote, url, verdict, source_text?, differs?, left_out?, found_in?, note?,
    error?, line}], numbers: [{sentence, url, missing?, doubtful?: [{number, note}], proof?:
    [{number, url, text, note?}], error?, line}], computed?, counts, dead_links?, never_shown?,
    uncited_lines?, unclosed_lines?}, errors first. ok is true only if all quotations are verbatim,
    no number is missing, unread or miscalculated, no link is dead and, with strict, no number is
    doubtful; otherwise the kind is no_results.
    """

    def operation(params: dict[str, Any]) -> Document:
        deadline = deadline_of(params)
        cited = cited_in(params)
        every = (*cited.quotations, *cited.sentences, *cited.links)
        urls = list(
            dict.fromkeys(page_of(url) for item in every for url in (*item.urls, *item.also))
        )
        if params.get("dry_run"):
            raise DryRun({"requests": [{"method": "GET", "url": url} for url in urls]})
        unknown = never_shown(cited.links, deadline)
        unshown = {page_of(link["url"]) for link in unknown}
        pages = read_sources(urls, params, deadline, report, unshown)
        verbose = bool(params.get("verbose"))
        checks = [
            or_unread(check_quotation, item, pages, deadline, verbose) for item in cited.quotations
        ]
        name_stored_holders(checks, urls, deadline)
        linked = [item for item in cited.sentences if item.urls or item.undefined]
        numbers = [or_unread(check_numbers, item, pages, deadline, verbose) for item in linked]
        lines = [item.line for item in cited.sentences if item not in linked]
        facts = {
            "links": len(cited.links),
            "dead_links": dead_links(cited.links, pages),
            "never_shown": unknown,
            "no_network": sum(page.error == NO_NETWORK for page in pages.values()),
            "uncited_lines": list(dict.fromkeys(lines)),
            "unclosed_lines": cited.unclosed_lines,
            **({"verbose": True} if verbose else {}),
        }
        return outcome(checks, numbers, facts, bool(params.get("strict")))

    return run_operation("web_search.check", COMMANDS["check"], params, operation)


def run_check_file(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Run a check for the command line, optionally with the draft from a file.

    Raises SearchError (invalid_input) if the file cannot be read.
    """
    path = params.get("input")
    if not isinstance(path, str):
        return run_check(params, report)
    try:
        text = read_argument(f"@{path.removeprefix('@')}", "input")
    except SearchError as error:
        hint = f"{INPUT_HINT} To search for it, use the command search."
        raise SearchError("invalid_input", error.message, hint) from None
    others = {name: value for name, value in params.items() if name != "input"}
    return run_check({**others, "text": text}, report)


def cited_in(params: dict[str, Any]) -> CitedParts:
    """Return the parts of a draft to check.

    Raises SearchError: invalid_input if the draft is missing or url is malformed, no_results if the
    draft has nothing to check.
    """
    from websearch.check.draft import Cited, CitedParts, Draft
    from websearch.pages.fetch.fetch import copied_url, normal_url

    url = params.get("url", "")
    if url:
        normal_url(copied_url(url))
    if "input" in params:
        message = "input works on the command line only."
        raise SearchError("invalid_input", message, "Pass the draft itself as text.")
    if "quote" in params:
        if not url or "text" in params:
            message = "quote replaces a draft and needs url."
            raise SearchError("invalid_input", message, "Pass {quote} and {url} only.")
        return CitedParts([Cited(params["quote"], 1, [url])], [], [], [])
    if "text" not in params:
        raise SearchError("invalid_input", "The draft is missing.", INPUT_HINT)
    draft = Draft(params["text"], url)
    parts = CitedParts(
        draft.quotations(),
        [item for item in draft.sentences() if is_counting(item)],
        draft.cited_links(),
        draft.unclosed_lines(),
    )
    if not (parts.quotations or parts.links or any(item.urls for item in parts.sentences)):
        message = "The draft has no quotation, no link and no number with a source."
        hint = "A quotation is four or more words in quotation marks (two or more next to a link), "
        hint += "or lines that start with >."
        raise SearchError("no_results", message, hint)
    return parts


def is_counting(item: Cited) -> bool:
    """Return whether a sentence has a number; labels count only if the sentence has a source."""
    from websearch.check.draft_numbers import numbers_in
    from websearch.check.page_numbers import days_of, versions_of

    numbers, skipped = numbers_in(item.text, item.language)
    return bool(
        numbers or days_of(item.text) or (item.urls and (skipped or versions_of(item.text)))
    )


# ===== pages ======================================================================================


def page_of(url: str) -> str:
    """Return a URL without its fragment."""
    return url.partition("#")[0]


def read_sources(
    urls: list[str],
    params: dict[str, Any],
    deadline: float,
    report: ProgressCallback,
    unshown: set[str],
) -> dict[str, SourcePage]:
    """Return the pages at some URLs, each once, from the store or the web.

    unshown: URLs that appear only in the draft; their pages are marked as cited in the store.
    """
    from contextlib import closing

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
            read = read_for_search(some, params, reading_ends, report, store)
            pages |= {page.url: page for page in read}
        store.mark_cited([url for url in missing if url in unshown])
    kinds = {url: page.error.kind for url, page in pages.items() if page.error}
    unreached = [url for url, kind in kinds.items() if kind == "network" and not is_loopback(url)]
    if unreached and lacks_network(unreached[0]):
        offline = Page(error=SearchError("network", NO_NETWORK))
        pages |= dict.fromkeys(unreached, offline)
    unread = "The page is not in the store, and offline fetches nothing."
    unknown = Page(error=SearchError("no_results", unread))
    return {url: SourcePage(url, pages.get(url, unknown)) for url in urls}


def lacks_network(url: str) -> bool:
    """Return whether an unread page is behind a proxy, or this machine cannot resolve any name."""
    import socket

    try:
        return bool(proxy_for(url) or not socket.getaddrinfo(KNOWN_NAME, None))
    except OSError:
        return True


def dead_links(links: list[Cited], pages: dict[str, SourcePage]) -> list[Document]:
    """Return {url, error, archived_url?, line} for each dead link: 404, 410 or an unknown host.

    A link whose page was replaced by an archived copy is also dead.
    """
    read = ((link, pages[page_of(link.urls[0])]) for link in links)
    return [
        {"url": link.urls[0], **page.dead_link, "line": link.line}
        for link, page in read
        if page.dead_link
    ]


def never_shown(links: list[Cited], deadline: float) -> list[Document]:
    """Return {url, line} for the links that appear in no stored search or page."""
    from contextlib import closing

    from websearch.store.page_store import PageStore

    unknown: list[Document] = []
    with closing(PageStore()) as store:
        for link in links[:MOST_LOOKED_UP]:
            is_late = time.monotonic() > deadline
            if not (is_late or store.has_shown(page_of(link.urls[0]))):
                unknown.append({"url": link.urls[0], "line": link.line})
        return [] if store.has_failed else unknown


def name_stored_holders(checks: list[Document], cited: list[str], deadline: float) -> None:
    """Add found_in, an uncited stored page that contains the quotation, to absent quotations."""
    from contextlib import closing

    from websearch.check.quotations import ComparedText, Quotation
    from websearch.reading.read import target_of
    from websearch.store.page_store import PageStore

    absent = [check for check in checks if check["verdict"] == "absent" and "found_in" not in check]
    with closing(PageStore()) as store:
        for check in absent[:MOST_LOOKED_UP]:
            for page in store.recall(check["quote"], RECALLED_PAGES):
                is_other = page["url"] not in cited and time.monotonic() < deadline
                if not is_other or isinstance(
                    result_or_error(target_of, page["url"], False), SearchError
                ):
                    continue
                if Quotation(check["quote"], deadline).is_in(ComparedText(page["text"])):
                    check["found_in"] = page["url"]
                    break


# ===== verdicts ===================================================================================


def or_unread(
    check: Callable[[Cited, dict[str, SourcePage], float], Document],
    item: Cited,
    pages: dict[str, SourcePage],
    deadline: float,
    verbose: bool,
) -> Document:
    """Return the result of check_quotation or check_numbers; if they have a bug, an error."""
    answer: Document | SearchError = result_or_error(check, item, pages, deadline, verbose=verbose)
    if not isinstance(answer, SearchError):
        return answer
    head: Document = {"sentence": item.shown}
    if check is check_quotation:
        head = {"quote": " ".join(item.text.split()), "verdict": "unread"}
    url = {"url": item.urls[0]} if item.urls else {}
    return {**head, **url, "error": answer.message, "line": item.line}


def check_quotation(item: Cited, pages: dict[str, SourcePage], deadline: float) -> Document:
    """Return the verdict on a quotation; the best verdict if it has several sources."""
    from websearch.check.quotations import LATE, Quotation, is_verbatim

    quotation = Quotation(item.text, deadline, item.context)
    head, line = {"quote": " ".join(item.text.split())}, {"line": item.line}
    if time.monotonic() > deadline:
        return {**head, **({"url": item.urls[0]} if item.urls else {}), **LATE, **line}
    answers = [{"url": url, **judged(quotation, pages[page_of(url)])} for url in item.urls]
    answers = answers or [{"verdict": "unread", "error": "The draft cites no source for it."}]
    best = min(answers, key=lambda answer: BEST_FIRST.index(answer["verdict"]))
    if best["verdict"] != "verbatim":  # another link in the sentence may be the quotation's source
        also = [{"url": url, **judged(quotation, pages[page_of(url)])} for url in item.also]
        best = next(filter(is_verbatim, also), best)
    if best["verdict"] != "verbatim":
        cited = {page_of(url) for url in item.urls}
        others = ((url, page) for url, page in pages.items() if not (page.error or url in cited))
        holder = next((url for url, page in others if quotation.is_in(page.compared)), "")
        if holder and not cited:
            best = {"url": holder, "verdict": "verbatim"}
        elif holder:
            best["found_in"] = holder
    return {**head, **best, **line}


def judged(quotation: Quotation, page: SourcePage) -> Document:
    """Return the verdict on a quotation in a page; unread, with an error, for an unusable page."""
    if page.error:
        return {"verdict": "unread", "error": page.error}
    answer = quotation.judged(page.compared)
    if page.is_cut and answer["verdict"] == "absent":
        return {"verdict": "unread", "error": "The page is longer than the part that was read."}
    return answer


def check_numbers(item: Cited, pages: dict[str, SourcePage], deadline: float) -> Document:
    """Return the numbers that a sentence's pages lack or use for something else, with evidence."""
    from websearch.check.computed import without_marked
    from websearch.check.numbers import ComparedNumbers
    from websearch.check.quotations import LATE_ERROR

    if not item.urls:
        error = f"The draft does not say what {item.undefined} is."
        return {"sentence": item.shown, "error": error, "line": item.line}
    cited = [pages[page_of(url)] for url in dict.fromkeys(item.urls)]
    read = [page for page in cited if not page.error]
    answer: Document = {"sentence": item.shown, "url": item.urls[0]}
    text, own = without_marked(item.text, item.language)
    marked = {"computed": own} if own else {}
    if not read or time.monotonic() > deadline:
        error = cited[0].error if not read else LATE_ERROR
        return {**answer, "error": error, **marked, "line": item.line}
    parts = " ".join(number.get("expression", "") for number in own)
    sources = [page.numbers for page in read]
    try:
        compared = ComparedNumbers(text, item.context, sources, item.language, deadline)
        counted = ComparedNumbers(parts, "", sources, item.language, deadline)
    except TimeoutError:
        return {**answer, "error": LATE_ERROR, **marked, "line": item.line}
    used = {page.url for candidates in compared.candidates for page, _ in candidates}
    unused = [page.url for page in read if page.url not in used] if used else []
    facts = {
        "missing": compared.missing() + counted.missing(), "doubtful": compared.doubtful(),
        "proof": compared.proof(), "without": unused,
    }  # fmt: skip
    skipped = {"skipped": compared.skipped, "line": item.line}
    if not (compared.numbers or compared.days or compared.is_versioned or own):
        return skipped
    return {**answer, **drop_empty(facts), **marked, **skipped}


def outcome(
    checks: list[Document], numbers: list[Document], facts: Document, strict: bool
) -> Document:
    """Return the document of a check, errors first. facts: the document's other fields."""
    checks.sort(key=lambda check: VERDICTS.index(check["verdict"]))
    computed = [
        {"sentence": item["sentence"], **number, "line": item["line"]}
        for item in numbers
        for number in item.pop("computed", ())
    ]
    computed.sort(key=lambda number: not number.get("is_wrong"))
    skipped = [
        {"text": text, "line": item["line"]} for item in numbers for text in item.pop("skipped", ())
    ]
    numbers = [item for item in numbers if "sentence" in item]
    order = ("missing", "error", "doubtful")
    numbers.sort(key=lambda sentence: [name not in sentence for name in order])
    verdicts = [check["verdict"] for check in checks]
    counts = {verdict: verdicts.count(verdict) for verdict in reversed(VERDICTS)}
    counts["numbers"] = len(numbers)
    counts["links"] = facts.pop("links")
    for count, name in (("missing", "missing"), ("unread", "error"), ("doubtful", "doubtful")):
        counts[f"numbers_{count}"] = sum(name in sentence for sentence in numbers)
    errors = errors_of(len(checks), counts, computed, facts, strict)
    head: Document = {"ok": True}
    if errors:
        message = "; ".join(phrase for phrase, _ in errors)
        hint = " ".join(dict.fromkeys(hint for _, hint in errors))
        head = error_document(SearchError("no_results", f"{message}.", hint))
    found = {"checks": checks, "numbers": numbers, "counts": counts}
    more = drop_empty({"computed": computed, "skipped": skipped, **facts})
    cleaned: Document = clean_tree({**head, "provider": "web_search", **found, **more})
    return cleaned


def errors_of(
    checks: int, counts: dict[str, int], computed: list[Document], facts: Document, strict: bool
) -> list[tuple[str, str]]:
    """Return a draft's errors as (phrase, hint); if there are none, the exit code is 0."""
    unread_quotes = counts["unread"]
    altered = checks - counts["verbatim"] - unread_quotes
    later = OFFLINE if facts["no_network"] else UNREAD
    wrong = sum(bool(number.get("is_wrong")) for number in computed)
    sentences = f"of {counts['numbers']} sentences with"
    missing, unread = counts["numbers_missing"], counts["numbers_unread"]
    doubtful, dead = counts["numbers_doubtful"] if strict else 0, len(facts["dead_links"])
    lines = (
        (altered, f"of {checks} quotations not verbatim", WRONG_QUOTATION),
        (unread_quotes, f"of {checks} quotations not checked", later),
        (missing, f"{sentences} a number that is not in the source", WRONG_NUMBER),
        (unread, f"{sentences} numbers whose source could not be read", later),
        (doubtful, f"{sentences} a doubtful number", WRONG_NUMBER),
        (wrong, "miscalculated", WRONG_NUMBER),
        (dead, "dead links" if dead > 1 else "dead link", DEAD_LINK),
        (facts["no_network"], "links not checked: no network", OFFLINE),
    )
    return [(f"{count} {what}", hint) for count, what, hint in lines if count]
