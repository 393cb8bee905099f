"""From ranked results to sources: lists fused, each page and each text once, dates settled."""

from __future__ import annotations

import re
import time

from websearch.common import drop_empty
from websearch.engines import is_storable
from websearch.fusion import fuse, same_texts, shingles
from websearch.outcomes import answered
from websearch.results import MIN_TIMEOUT

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from websearch.common import Document
    from websearch.outcomes import Outcome
    from websearch.results import Question

FURTHER_ROUNDS = 2  # of reading: they replace pages that failed or hold the text of another one
LEAST_SECONDS = 1.0  # that must be left to begin a further round
NO_PAGES_NOTE = "No page could be read: results and snippets only."
DAY = 86_400.0  # seconds

# Words for "newest" and "now" in the languages of most queries. A query with one of them and a past
# year asks for the newest of a year that is over.
_NOW_WORDS = (
    r"(?i)\b(latest|newest|current(?:ly)?|today|recent|neueste[nrs]?|aktuell\w*|heute|derni(?:er|ère)s?"
    r"|actuel\w*|aujourd'hui|último\w*|última\w*|actual(?:es)?|hoy|ultim[aoei]|attual[ei]|oggi"
    r"|atual|hoje|laatste|nieuwste|vandaag|najnowsz\w*|aktualn\w*|dzisiaj|последн\w*|сегодня"
    r"|son|güncel|bugün)\b|最新|今日|今天|현재|오늘|最近"
)

# ===== from lists to sources ======================================================================


class Source:
    """One source: a result, the numbers of the questions that found it, its engines, its page.

    also: other addresses of the same text. error: why the page could not be read.
    """

    def __init__(self, result: dict[str, Any], questions: set[int], engines: set[str]) -> None:
        self.result = result
        self.questions = questions
        self.engines = engines
        self.text = ""
        self.shingles: frozenset[int] = frozenset()  # of the text
        self.error = ""
        self.also: list[str] = []


def gather_sources(question: Question, outcomes: list[Outcome], count: int) -> list[Source]:
    """Return up to count sources of outcomes in order of rank, each page read once.

    Each question's best source is among them; pages that cannot be read come only if there is
    nothing else. Pages that hold the same text become one source. question: the pages are read with
    its store, deadline and parameters.
    """
    candidates = rank_sources(outcomes)
    chosen = with_best(candidates, count)
    if not question.reads_pages:
        return chosen
    errors = read_pages_of(question, chosen)
    for _ in range(FURTHER_ROUNDS):
        missing = count - len(with_distinct_texts(chosen))
        rest = [source for source in candidates if source not in chosen]
        if not (rest and missing and question.time_left() > LEAST_SECONDS):
            break
        numbers = {number for source in chosen if source.text for number in source.questions}
        others = with_best(rest, missing, numbers)
        errors |= read_pages_of(question, others)
        chosen = [source for source in candidates if source in chosen or source in others]
    keep_failures(question, outcomes, errors)
    if chosen and not any(source.text for source in chosen):
        question.warnings.append(NO_PAGES_NOTE)
    sources = merge_same_texts(chosen)
    kept = with_best(sorted(sources, key=lambda source: not source.text), count)
    return [source for source in sources if source in kept]


def rank_sources(outcomes: list[Outcome]) -> list[Source]:
    """Return the sources that outcomes hold, the best first, nothing read yet."""
    found = answered(outcomes)
    return [
        Source(
            one["result"],
            {found[place].number for place in one["lists"]},
            {found[place].content["engine"] for place in one["lists"]},
        )
        for one in fuse([outcome.content["results"] for outcome in found])
    ]


def with_best(sources: list[Source], count: int, numbers: Iterable[int] = ()) -> list[Source]:
    """Return count sources, in their order: the best one of each question, then the first others.

    numbers: questions that have a source already.
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


def with_distinct_texts(sources: list[Source]) -> list[Source]:
    """Return the sources that have a text, each text once."""
    first = same_texts([source.shingles for source in sources])
    return [
        one for place, one in zip(first, sources, strict=True) if sources[place] is one and one.text
    ]


def merge_same_texts(sources: list[Source]) -> list[Source]:
    """Return sources without those whose text an earlier one has; it lists them in also."""
    first = same_texts([source.shingles for source in sources])
    for place, source in zip(first, sources, strict=True):
        keeper = sources[place]
        if keeper is not source:
            keeper.also.append(source.result["url"])
            keeper.questions |= source.questions
            keeper.engines |= source.engines
    return [one for place, one in zip(first, sources, strict=True) if sources[place] is one]


def keep_failures(
    question: Question, outcomes: list[Outcome], errors: dict[str, dict[str, Any]]
) -> None:
    """Store with the answers which of their pages failed for good: those are not read again."""
    final = {url: error["message"] for url, error in errors.items() if not error.get("retryable")}
    for outcome in answered(outcomes):
        failed = [
            result
            for result in outcome.content["results"]
            if result["url"] in final and "error" not in result
        ]
        for result in failed:
            result["error"] = final[result["url"]]
        if (
            failed
            and is_storable(outcome.content["engine"])
            and "is_partial" not in outcome.content
        ):
            question.store.put_answer(outcome.key, outcome.content)


# ===== pages ======================================================================================


def read_pages_of(question: Question, sources: list[Source]) -> dict[str, dict[str, Any]]:
    """Read the pages of sources and settle their dates; return the errors as read_sources does."""
    today = utc_day(time.time())
    pages, errors, fetched = read_sources(question, [source.result for source in sources])
    question.fetched_pages = question.fetched_pages or fetched
    for source in sources:
        url = source.result["url"]
        page = pages.get(url, {})
        source.text = str(page.get("text", ""))
        source.shingles = shingles(source.text)
        source.error = str(errors.get(url, {}).get("message", ""))
        source.result = dated(source.result, page, today)
    return errors


def read_sources(
    question: Question, results: list[dict[str, Any]]
) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]], bool]:
    """Return (pages by URL, {message, retryable} of failed pages by URL, whether any was fetched).

    Pages come from the store if they are young enough, else from the web; those are stored. A page
    has text, and title, published and archived if they are known.
    """
    urls = list(dict.fromkeys(item["url"] for item in results))
    pages = {} if question.params["force"] else question.store.get_pages(urls, question.max_age)
    errors: dict[str, dict[str, Any]] = {  # a stored answer says that these failed for good
        item["url"]: {"message": item["error"]}
        for item in results
        if "error" in item and item["url"] not in pages
    }
    missing = [url for url in urls if url not in pages and url not in errors]
    if not missing:
        return pages, errors, False
    for page in read_and_store(question, missing, len(urls) - len(missing), len(urls)):
        if page["ok"]:
            pages[page["url"]] = page
        else:
            details = page["details"]
            retryable = details["retryable"] or details["kind"] == "internal"
            errors[page["url"]] = {"message": page["error"], "retryable": retryable}
    return pages, errors, True


def read_and_store(question: Question, urls: list[str], done: int, total: int) -> list[Document]:
    """Read pages from the web and store the good ones; return the document of each.

    done of total pages were there already. If the whole reading failed, its error is each page's.
    """
    from websearch.pages.read import run_read

    def report(_: str, fetched: int, __: int) -> None:
        question.progress("pages read", done + fetched + 1, total + 1)

    wanted = {
        "urls": urls,
        "max_chars": 0,
        "timeout": max(MIN_TIMEOUT, question.time_left()),
        "page_timeout": question.params["page_timeout"],
        "archived": True,
    }
    document = run_read(wanted, report)
    pages = document.get("pages") or [{"url": url, **document} for url in urls]
    names = ("url", "final_url", "title", "published", "text")
    now = time.time()
    question.store.put_pages(
        [
            {"title": "", **{name: page[name] for name in names if name in page}, "fetched_at": now}
            for page in pages
            if page["ok"]
        ]
    )
    question.warnings += document.get("warnings", [])
    return pages


# ===== dates ======================================================================================


def utc_day(moment: float) -> str:
    """Return the day of a time (seconds since 1970) as YYYY-MM-DD."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment))


def year_warning(query: str, today: str) -> str:
    """Return a warning if a query asks for the latest of a past year, else "".

    Models search for the "latest" of the year that their training ended in.
    """
    years = [int(year) for year in re.findall(r"(?<!\d)(?:19|20)\d\d(?!\d)", query)]
    this_year = int(today[:4])
    if not years or max(years) >= this_year or not re.search(_NOW_WORDS, query):
        return ""
    return f"The query names {max(years)} and asks for the latest: it is {this_year} now."


def settled_date(found: str, published: str, today: str) -> str:
    """Return the date of a result: the engine's, or the page's if the engine has none.

    If the two differ by more than a day, the page's own date wins and "(page)" says so.
    """
    page_day = parse_day(published, today)
    if not page_day or not found:
        return found or page_day
    engine_day = parse_day(found, today)
    if not engine_day or abs(seconds_of(engine_day) - seconds_of(page_day)) <= DAY:
        return found
    return f"{page_day} (page)"


def parse_day(text: str, today: str) -> str:
    """Return a date as YYYY-MM-DD, "" if it is not understood.

    Understood: ISO 8601, "3 days ago" and the like, "May 2, 2024", "2 May 2024".
    """
    text = text.strip()[:60]
    if iso := re.match(r"(\d{4}-\d\d-\d\d)(?!\d)", text):
        return iso[1] if seconds_of(iso[1]) else ""
    lengths = {"minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}
    if ago := re.match(r"(?i)(\d{1,4}) (minute|hour|day|week|month|year)s? ago", text):
        return utc_day(seconds_of(today) - int(ago[1]) * lengths[ago[2].lower()] * DAY)
    months = "jan feb mar apr may jun jul aug sep oct nov dec".split()
    month, day, year = r"(?P<month>[A-Za-z]{3})[a-z]*\.?", r"(?P<day>\d{1,2})", r"(?P<year>\d{4})"
    named = re.match(f"{month} {day},? {year}", text) or re.match(f"{day} {month} {year}", text)
    if not named or named["month"].lower() not in months:
        return ""
    number = months.index(named["month"].lower()) + 1
    written = f"{named['year']}-{number:02}-{int(named['day']):02}"
    return written if seconds_of(written) else ""


def seconds_of(day: str) -> float:
    """Return the seconds since 1970 of a day (YYYY-MM-DD) in UTC; 0.0 if it does not exist."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp()
    except (ValueError, OverflowError):
        return 0.0


def dated(item: dict[str, Any], page: dict[str, Any], today: str) -> dict[str, Any]:
    """Return a result with its date settled by its page, and marked if that is an archived copy."""
    from websearch.pages.archive import archived_fields

    date = settled_date(str(item.get("date", "")), str(page.get("published") or ""), today)
    address = str(page.get("final_url") or "")
    copy = archived_fields(address)
    if copy:
        copy["archived_url"] = address
    return {**item, **drop_empty({"date": date}), **copy}
