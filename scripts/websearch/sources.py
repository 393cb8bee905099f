"""From ranked results to sources: several lists at once, fused; pages read once; dates settled."""

from __future__ import annotations

import re
import time

from websearch.common import SearchError, drop_empty, may_fall_back
from websearch.engines import ENGINES, focused_filters, is_storable, stand_ins
from websearch.fusion import fuse, same_texts
from websearch.results import MIN_TIMEOUT, Question, answer_question

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

    from websearch.common import Document, ProgressCallback

MAX_AT_ONCE = 8  # questions that are asked at the same time
MAX_KEYLESS_AT_ONCE = 4  # of them at each keyless engine, whose pace lets more only wait
SPARE_SOURCES = 4  # more pages are read than wanted: some turn out to hold the same text
DAY = 86_400.0  # seconds

# Words for "newest" and "now" in the languages of most queries: with a past year they ask for what
# no longer is.
_NOW_WORDS = (
    r"(?i)\b(latest|newest|current(?:ly)?|today|recent|neueste[nrs]?|aktuell\w*|heute|dernier[es]*"
    r"|actuel\w*|aujourd'hui|último\w*|última\w*|actual(?:es)?|hoy|ultim[aoei]|attual[ei]|oggi"
    r"|atual|hoje|laatste|nieuwste|vandaag|najnowsz\w*|aktualn\w*|dzisiaj|последн\w*|сегодня"
    r"|son|güncel|bugün)\b|最新|今日|今天|현재|오늘|最近"
)


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


# ===== several questions or engines at the same time ==============================================


class Outcome:
    """What became of one question at one engine (or at auto): its content, or its error.

    number: of the question, from 1. content: as the store holds it. failures: engines that were
    asked before. asked: engines that cost money and have answered a request.
    """

    def __init__(self, number: int, query: str, engine: str) -> None:
        self.number = number
        self.query = query
        self.engine = engine
        self.content: Document = {}
        self.error: SearchError | None = None
        self.from_cache = False
        self.attempts: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.billed: dict[str, int] = {}


def ask_all(
    queries: list[str], engines: list[str], params: dict[str, Any], report: ProgressCallback = None
) -> list[Outcome]:
    """Ask every question at every engine at the same time; return the outcomes in that order.

    engines: names; "auto" stands for the first configured engine that answers. If auto alone is
    asked and fails for a question, the sources that stand in for it are asked. params: those of one
    search. A question that fails costs no other one. Ends at the deadline of params.
    """
    deadline = time.monotonic() + float(params["timeout"])
    outcomes = [
        Outcome(number, query, engine)
        for number, query in enumerate(queries, 1)
        for engine in engines
    ]
    ask_together(outcomes, params, deadline, report)
    failed = [one for one in outcomes if one.error and needs_stand_ins(one.engine, one.error)]
    if engines != ["auto"] or not failed:
        return outcomes
    others = [Outcome(one.number, one.query, engine) for one in failed for engine in stand_ins()]
    ask_together(others, params, deadline, report)
    if note := stand_in_note(others):
        others[0].warnings.append(note)
    return sorted([*outcomes, *others], key=lambda outcome: outcome.number)


def needs_stand_ins(engine: str, error: SearchError) -> bool:
    """Return whether open sources may answer in place of auto after its error.

    That the web holds nothing is an answer.
    """
    return engine == "auto" and error.kind != "no_results" and may_fall_back(error.kind)


def stand_in_note(outcomes: list[Outcome]) -> str:
    """Return the sentence that says which sources have answered in place of auto, or ""."""
    answered = dict.fromkeys(ENGINES[one.engine]["title"] for one in outcomes if one.content)
    if not answered:
        return ""
    return f"No search engine answered, so these results are those of {', '.join(answered)} alone."


def ask_together(
    outcomes: list[Outcome],
    params: dict[str, Any],
    deadline: float,
    report: ProgressCallback = None,
) -> None:
    """Fill outcomes with what their engines answer, all asked at the same time."""
    import threading

    all_slots = threading.Semaphore(MAX_AT_ONCE)
    keyless_slots = {one.engine: threading.Semaphore(MAX_KEYLESS_AT_ONCE) for one in outcomes}

    def work(outcome: Outcome) -> None:
        entry = ENGINES.get(outcome.engine, {})
        keyless = "module" in entry and "function" not in entry and "own_server" not in entry
        with keyless_slots[outcome.engine] if keyless else all_slots:
            left = max(MIN_TIMEOUT, deadline - time.monotonic())
            filters = focused_filters(params, outcome.engine)
            ask_one(outcome, {**params, **filters, "timeout": left})

    threads = [threading.Thread(target=work, args=(one,), daemon=True) for one in outcomes]
    for thread in threads:
        thread.start()
    for done, thread in enumerate(threads, 1):
        thread.join(max(0.0, deadline - time.monotonic()) + 1)  # a little late: each ends by itself
        if report:
            report("questions answered", done, len(threads))
    for outcome in outcomes:
        if not outcome.content and outcome.error is None:
            hint = "Raise timeout, or ask fewer questions."
            outcome.error = SearchError("timeout", "There was no answer in time.", hint)


def ask_one(outcome: Outcome, params: dict[str, Any]) -> None:
    """Find the results of one question, and store them as a search does."""
    from websearch.store import PageStore

    store = PageStore()
    question = Question(
        {**params, "query": outcome.query, "engine": outcome.engine, "no_pages": True}, store
    )
    try:
        found = answer_question(question, keep_results)
        outcome.content, outcome.from_cache = found["content"], found["from_cache"]
    except SearchError as error:
        outcome.error = error
    finally:
        outcome.attempts = question.attempts()
        outcome.billed = question.billed
        outcome.warnings = [*question.warnings, *store.warnings]
        store.close()


def keep_results(question: Question, key: str, content: Document, from_cache: bool) -> Document:
    """Store an engine's results if that is allowed; return them."""
    if not from_cache and is_storable(content["engine"]):
        question.store.put_answer(key, content)
    return {"content": content, "from_cache": from_cache}


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
        self.error = ""
        self.also: list[str] = []


def gather_sources(question: Question, outcomes: list[Outcome], count: int) -> list[Source]:
    """Return up to count sources of all outcomes in order of rank, each page read once.

    A question's best source is among them. Pages that hold the same text become one source.
    question: whose store, deadline and parameters the reading takes.
    """
    found = [outcome for outcome in outcomes if outcome.content]
    candidates = [
        Source(
            one["result"],
            {found[place].number for place in one["lists"]},
            {found[place].content["engine"] for place in one["lists"]},
        )
        for one in fuse([outcome.content["results"] for outcome in found])
    ]
    candidates = with_best(candidates, count + SPARE_SOURCES)
    if question.reads_pages:
        read_candidates(question, candidates)
        candidates = merge_same_texts(candidates)
    return with_best(candidates, count)


def with_best(sources: list[Source], count: int) -> list[Source]:
    """Return the first count sources; a question's best source takes the place of the last ones."""
    best: list[Source] = []
    answered: set[int] = set()
    for source in sources:
        if not source.questions <= answered:
            best.append(source)
            answered |= source.questions
    others = [source for source in sources if source not in best]
    chosen = best[:count] + others[: max(0, count - len(best))]
    return [source for source in sources if source in chosen]


def read_candidates(question: Question, candidates: list[Source]) -> None:
    """Read the pages of candidates and settle their dates."""
    today = utc_day(time.time())
    results = [source.result for source in candidates]
    pages, errors, fetched = read_sources(question, results)
    question.fetched_pages = fetched
    for source in candidates:
        page = pages.get(source.result["url"], {})
        source.text = str(page.get("text", ""))
        source.error = str(errors.get(source.result["url"], {}).get("message", ""))
        source.result = dated(source.result, page, today)


def merge_same_texts(sources: list[Source]) -> list[Source]:
    """Return sources without those whose text an earlier one has; it lists them in also."""
    first = same_texts([source.text for source in sources])
    for place, source in zip(first, sources, strict=True):
        keeper = sources[place]
        if keeper is not source:
            keeper.also.append(source.result["url"])
            keeper.questions |= source.questions
            keeper.engines |= source.engines
    return [source for place, source in enumerate(sources) if first[place] == place]


# ===== pages ======================================================================================


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

    wanted = {"urls": urls, "max_chars": 0, "page_timeout": question.params["page_timeout"]}
    timeout = max(MIN_TIMEOUT, question.time_left())
    document = run_read({**wanted, "timeout": timeout}, report)
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
    named = re.match(r"([A-Za-z]{3})[a-z]*\.? (\d{1,2}),? (\d{4})", text)
    named = named or re.match(r"(?P<day>\d{1,2}) ([A-Za-z]{3})[a-z]*\.? (\d{4})", text)
    if not named:
        return ""
    month, day, year = named.groups() if "day" not in named.groupdict() else (
        named[2], named["day"], named[3],
    )  # fmt: skip
    if month.lower() not in months:
        return ""
    written = f"{year}-{months.index(month.lower()) + 1:02}-{int(day):02}"
    return written if seconds_of(written) else ""


def seconds_of(day: str) -> float:
    """Return the seconds since 1970 of a day (YYYY-MM-DD) in UTC; 0.0 if it does not exist."""
    from datetime import datetime, timezone

    try:
        return datetime.fromisoformat(f"{day}T00:00:00+00:00").astimezone(timezone.utc).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def dated(item: dict[str, Any], page: dict[str, Any], today: str) -> dict[str, Any]:
    """Return a result with its date settled by its page."""
    date = settled_date(str(item.get("date", "")), str(page.get("published") or ""), today)
    return {**item, **drop_empty({"date": date})}


def query_state(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return how a document tells what became of one question, of which these are the outcomes.

    {query, engine or engines, found} or {query, error, kind}.
    """
    answered = [outcome for outcome in outcomes if outcome.content]
    if not answered:
        error = outcomes[0].error or SearchError("internal", "There is no outcome.")
        return {"query": outcomes[0].query, "error": error.message, "kind": error.kind}
    engines = [outcome.content["engine"] for outcome in answered]
    named = {"engine": engines[0]} if len(outcomes) == 1 else {"engines": engines}
    results = sum(len(outcome.content["results"]) for outcome in answered)
    return {"query": outcomes[0].query, **named, "found": results}


def failed_attempts(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return the engines that failed, with the number of the question if there are several."""
    several = len({outcome.number for outcome in outcomes}) > 1
    failures = []
    for outcome in outcomes:
        failed = list(outcome.attempts)
        if outcome.error and not failed:
            error = outcome.error
            failed = [{"engine": outcome.engine, "kind": error.kind, "error": error.message}]
        number = {"query": outcome.number} if several else {}
        failures += [{**number, **one} for one in failed]
    return failures


def total_billed(outcomes: list[Outcome]) -> dict[str, int]:
    """Return the requests by engine that cost money, of all outcomes together."""
    billed: dict[str, int] = {}
    for outcome in outcomes:
        for engine, requests in outcome.billed.items():
            billed[engine] = billed.get(engine, 0) + requests
    return billed
