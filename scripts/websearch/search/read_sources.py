"""Read the pages of the first sources, each once; identical texts become one source."""

from __future__ import annotations

import re
import time

from websearch.base.calls import bug_warning, is_bug, result_or_error
from websearch.engines.base.days import changed_day, is_in_period, moment_of, settled_date
from websearch.kit import clean_text, drop_empty, one_line
from websearch.markdown.foreign_text import harmless_markdown
from websearch.reading.page import Page
from websearch.search.plan import compares_dates

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from websearch.kit import SearchError
    from websearch.reading.page import Call
    from websearch.search.rank import Source

EXTRA_ROUNDS = 2  # rounds that replace failed pages and repeated texts
LEAST_SECONDS = 1.0  # minimum seconds left for another round
SHINGLE_WORDS = 5  # consecutive words to compare: shorter runs occur in unrelated texts
SAME_TEXT = 0.8  # minimum share of shingles in common between two versions of a text
MIN_SHINGLES = 20  # a shorter text (an error page, a notice) is not compared
AUTHOR_CHARS = 60  # characters of a page's author; longer fields are not names
SNIPPET_CHARS = 300  # characters for a source whose page is not shown
MAX_SHINGLES = 2_000  # shingles per text: the first 2,000 words distinguish articles


def read(sources: list[Source], count: int, call: Call) -> list[Source]:
    """Return up to count sources in order of rank, with the texts and dates of their pages.

    Each question's best source is among them. Pages that cannot be read or that repeat another
    page's text are replaced by the next results. An unreadable page is returned only if no others
    are left. A page outside the call's period is also replaced.
    """
    chosen = best_sources(sources, count)
    read_pages(chosen, call)
    for _ in range(EXTRA_ROUNDS):
        missing = count - len(with_distinct_texts(chosen))
        rest = [source for source in sources if source not in chosen]
        if not (rest and missing and call.time_left() > LEAST_SECONDS):
            break
        numbers = {number for source in chosen if source.text for number in source.questions}
        others = best_sources(rest, missing, numbers)
        read_pages(others, call)
        chosen = [source for source in sources if source in chosen or source in others]
    merged = merge_same_texts(chosen)
    best = best_sources(sorted(merged, key=lambda source: not source.text), count)
    return [source for source in merged if source in best]


def best_sources(sources: list[Source], count: int, numbers: Iterable[int] = ()) -> list[Source]:
    """Choose count sources, in their order: each question's best source, then the next sources.

    numbers: questions that already have a source.
    """
    best: list[Source] = []
    done = set(numbers)
    for source in sources:
        if not source.questions <= done:
            best.append(source)
            done |= source.questions
    others = [source for source in sources if source not in best]
    chosen = best[:count] + others[: max(0, count - len(best))]
    return [source for source in sources if source in chosen]


# ===== pages ======================================================================================


def read_pages(sources: list[Source], call: Call) -> None:
    """Set the sources' texts, dates and errors from their provider, the store or the web."""
    from websearch.reading.pages_document import bug_warnings, proxy_notes
    from websearch.reading.read import pages

    urls = [source.result["url"] for source in sources if not source.result.get("text")]
    read = {page.url: page for page in pages(urls, call)}
    fetched = [page for page in read.values() if page.is_fetched()]
    warnings = [*proxy_notes(fetched), *bug_warnings(fetched)]
    for source in sources:
        page = read.get(source.result["url"], Page())
        source.is_fetched = page.is_fetched()
        source.warnings = warnings if source.is_fetched else []
        error = result_or_error(fill_source, source, page, verbose=call.verbose)
        if is_bug(error):
            set_aside(source, error)
        if is_outside(source, call.since, time.time()):
            source.is_outside, source.text, source.shingles = True, "", frozenset()


def fill_source(source: Source, page: Page) -> None:
    """Set a source's text, date and error from its provider or its page."""
    text = clean_text(str(source.result.pop("text", "")))  # text from a provider
    source.text = harmless_markdown(text) or page.text
    source.outside = "" if text else page.outside
    source.is_cut = page.is_cut
    source.shingles = shingles(source.text)
    source.error = page.error.message if page.error else ""
    source.result = {**author_of(page.fields), **source.result}
    source.result = dated_result(source.result, page.fields, time.time())
    if is_on_other_host(source.result["url"], page):
        source.result["final_url"] = page.fields["final_url"]


def author_of(page: dict[str, Any]) -> dict[str, str]:
    """Return the author of a page as a field of a result; {} if the author is unknown."""
    return drop_empty({"author": one_line(str(page.get("author") or ""), AUTHOR_CHARS)})


def dated_result(result: dict[str, Any], page: dict[str, Any], now: float) -> dict[str, Any]:
    """Return a result with its date checked against its page, plus any archived-copy fields."""
    from websearch.pages.fetch.archive import archived_fields

    date = settled_date(str(result.get("date", "")), str(page.get("published") or ""), now)
    address = str(page.get("final_url") or "")
    copy = archived_fields(address)
    if copy:
        copy["archived_url"] = address
    changed = changed_day(date, str(page.get("updated") or ""), now)
    return {**result, **drop_empty({"date": date, "changed": changed}), **copy}


def is_outside(source: Source, since: str, now: float) -> bool:
    """Return whether a page's own dates are outside a period for which no engine filtered."""
    days = [source.result[name] for name in ("date", "changed") if name in source.result]
    is_compared = all(compares_dates(engine, since) for engine in source.engines)
    moments = [moment_of(day, now) for day in days] if is_compared else []
    return bool(moments) and not any(is_in_period(moment, since, now) for moment in moments)


def set_aside(source: Source, error: SearchError) -> None:
    """Reduce a source to its snippet or the beginning of its text; add a warning about the bug."""
    snippet = source.result.get("snippet") or one_line(source.text, SNIPPET_CHARS)
    source.result = {**source.result, "snippet": snippet}
    source.text, source.shingles, source.is_cut = "", frozenset(), True
    source.warnings = [*source.warnings, bug_warning(source.result["url"], error)]


def is_on_other_host(url: str, page: Page) -> bool:
    """Return whether a page was read from a different host than its URL's.

    In a damaged store, the final URL can be any value.
    """
    host = r"(?i)https?://(?:www\.)?([^/?#]*)"
    first, last = (re.match(host, str(text)) for text in (url, page.fields.get("final_url")))
    has_moved = bool(first and last and first[1].lower() != last[1].lower())
    return has_moved and bool(page.text) and "archived" not in page.fields


# ===== the same text at several URLs ==============================================================


def with_distinct_texts(sources: list[Source]) -> list[Source]:
    """Return the sources that have a text, one for each distinct text."""
    first = same_texts([source.shingles for source in sources])
    return [source for index, source in enumerate(sources) if first[index] == index and source.text]


def merge_same_texts(sources: list[Source]) -> list[Source]:
    """Return sources without later copies of a text; the first copy lists their URLs in also."""
    first = same_texts([source.shingles for source in sources])
    for index, source in enumerate(sources):
        earlier = sources[first[index]]
        if earlier is not source:
            earlier.also.append(source.result["url"])
            earlier.questions |= source.questions
            earlier.engines |= source.engines
    return [source for index, source in enumerate(sources) if first[index] == index]


def same_texts(sets: list[frozenset[int]]) -> list[int]:
    """Return, for each text, the index of the first text that matches it, perhaps its own index.

    sets: the texts' shingles. Two texts match if they share more than SAME_TEXT of their shingles:
    syndicated articles differ in only a few lines. A teaser does not match its article.
    """
    first: list[int] = []
    for index, own in enumerate(sets):
        same = (
            earlier
            for earlier in range(index)
            if first[earlier] == earlier
            and min(len(own), len(sets[earlier])) >= MIN_SHINGLES
            and len(own & sets[earlier]) > SAME_TEXT * len(own | sets[earlier])
        )
        first.append(next(same, index))
    return first


def shingles(text: str) -> frozenset[int]:
    """Return a text's runs of SHINGLE_WORDS terms, as hashes that are valid in this process."""
    words = re.findall(r"\w+", text[: 20 * MAX_SHINGLES].lower())[:MAX_SHINGLES]
    starts = range(len(words) - SHINGLE_WORDS + 1)
    return frozenset(hash(tuple(words[start : start + SHINGLE_WORDS])) for start in starts)
