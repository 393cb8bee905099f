"""Find results for a question: in the store, from another process that asks, or from an engine."""

from __future__ import annotations

import re
import time

from websearch.common import (
    DEFAULT_MAX_CHARS,
    SearchError,
    deadline_of,
    drop_empty,
    dump_json,
    error_document,
    may_fall_back,
    object_field,
    quoted,
)
from websearch.engines import (
    FILTERS,
    ask_engine,
    engine_order,
    is_storable,
    results_of,
)
from websearch.ledger import ask_metered

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Semaphore
    from typing import Any

    from websearch.common import Document, ProgressCallback
    from websearch.store import PageStore

    # Makes a document of what an engine found: complete(question, key, content, from_cache).
    Complete = Callable[["Question", str, Document, bool], Document]

SEARCH_SHARE = 0.7  # of the time that is left: the engine's, if pages are to be read afterwards
FIRST_SHARE = 0.6  # of the time that is left: one engine's, if another one may follow
MIN_TIMEOUT = 0.1  # seconds: the shortest timeout that the commands accept
TEXT_FIELDS = {"title", "url", "snippet", "date", "author", "license", "text", "error"}
LOOK_SECONDS = 0.1  # a process that waits for another one's answer looks this often
STORE_NOTE = (
    "Brave's results are asked for each time, because its terms forbid storing them; pages are "
    "stored (WEB_SEARCH_STORE=brave, if your plan has storage rights, stores both)."
)


class Question:
    """One question on its way: its checked parameters, the store, the deadline, its failures.

    reads_pages: whether to leave time for the pages. unstored: an answer that is not stored, for
    the processes that have waited for it. billed: engine -> requests that cost money. slots: engine
    -> how many questions of a call it may be asked at once, for engines with such a limit.
    """

    def __init__(
        self, params: dict[str, Any], store: PageStore, report: ProgressCallback = None
    ) -> None:
        self.params = params
        self.store = store
        self.report = report
        self.deadline = deadline_of(params)
        self.max_age = duration("ttl", params["ttl"])
        self.max_chars: int = params.get("max_chars", DEFAULT_MAX_CHARS)
        self.reads_pages = not params.get("no_pages")
        self.warnings: list[str] = []
        self.failures: list[tuple[str, SearchError]] = []
        self.unstored: dict[str, Any] | None = None
        self.billed: dict[str, int] = {}
        self.slots: dict[str, Semaphore] = {}
        self.fetched_pages = False  # whether a page came from the web

    def time_left(self) -> float:
        """Return the seconds until the deadline."""
        return self.deadline - time.monotonic()

    def progress(self, text: str, done: int, total: int) -> None:
        """Report progress, if a callback was given."""
        if self.report:
            self.report(text, done, total)

    def attempts(self) -> list[dict[str, Any]]:
        """Return the engines that failed, as they stand in a document."""
        return [
            {"engine": engine, "kind": error.kind, "error": error.message}
            for engine, error in self.failures
        ]


def duration(name: str, text: str) -> float:
    """Return the seconds of a duration such as 90s, 30m, 1h30m or 7d; raises SearchError."""
    seconds = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
    parts = re.findall(r"(\d{1,9})([smhd])", text[:100])
    if text == "0":
        return 0.0
    if not parts or "".join(number + unit for number, unit in parts) != text:
        message = f"{name} must be a duration such as 30m, 24h or 7d, not {quoted(text)}."
        raise SearchError("invalid_input", message, "Units are s, m, h and d.")
    return sum(float(number) * seconds[unit] for number, unit in parts)


def storage_key(engine: str, params: dict[str, Any]) -> str:
    """Return the key of an answer in the store: SHA-256 over query, engine and filters.

    The query counts trimmed and in lower case. The answer itself says for how many results its
    engine was asked: it serves every question that wants as many or fewer.
    """
    import hashlib

    filters = {name: params[name] for name in FILTERS if name in params}
    asked = [params["query"].strip().lower(), engine, sorted(filters.items())]
    return hashlib.sha256(dump_json(asked).encode("utf-8", "replace")).hexdigest()


# ===== engine after engine ========================================================================


def answer_question(question: Question, complete: Complete) -> Document:
    """Return the document of the first engine that answers.

    complete makes a document of an engine's results, and stores them. Raises SearchError if no
    engine answers; its details list the attempts.
    """
    order = engine_order(question.params["engine"])
    for position, engine in enumerate(order):
        last = position == len(order) - 1
        try:
            return engine_answer(question, engine, complete, last, is_named=len(order) == 1)
        except SearchError as error:
            question.failures.append((engine, error))
            unsent = error.details.pop("unsent", False)
            if not (unsent or may_fall_back(error.kind)):
                break
    raise no_engine_answered(question.failures)


def engine_answer(
    question: Question, engine: str, complete: Complete, last: bool, is_named: bool
) -> Document:
    """Return one engine's answer: from the store, from another process, or asked for.

    last: no other engine may follow. is_named: the user chose the engine. Raises SearchError.
    """
    key = storage_key(engine, question.params)
    if question.params["force"] or not is_storable(engine):
        content = ask_for_results(question, engine, last, is_named)
        return complete(question, key, content, False)
    claim = f"{key} {question.params['count']}"  # a wish for more results does not wait for fewer
    stored = stored_content(question, key, question.max_age) or wait_for_turn(question, key, claim)
    if stored:
        return complete(question, key, stored, True)
    question.unstored = None  # an engine that was asked before may have left something
    try:
        content = ask_for_results(question, engine, last, is_named)
        return complete(question, key, content, False)
    except SearchError as error:
        if error.kind != "timeout":  # a process that has waited may have more time
            question.unstored = {"failure": error_document(error)}
        raise
    finally:
        question.store.release(claim, question.unstored)


def wait_for_turn(question: Question, key: str, claim: str) -> dict[str, Any] | None:
    """Return another process's answer to the same question; None if it is this one's turn to ask.

    key: of the answer; claim: of the work. An answer that is not stored (a page failed that may
    work the next time) serves the processes that have waited, and so does a failure. Raises
    SearchError.
    """
    begin = time.time()
    while not question.store.claim(claim, question.time_left(), begin):
        time.sleep(min(LOOK_SECONDS, max(0.0, question.time_left())))
        content = stored_content(question, key, question.max_age)
        content = content or question.store.outcome(claim, begin)
        if content and "failure" in content:
            raise error_of(content["failure"])
        if content:
            return content
        if question.time_left() <= 0:
            hint = "Try again, or raise timeout."
            message = "Another process asks the same question and has no answer yet."
            raise SearchError("timeout", message, hint, retryable=True)
    content = stored_content(question, key, question.max_age)  # it may have ended before the claim
    if content:
        question.store.release(claim)
    return content


def ask_for_results(question: Question, engine: str, last: bool, is_named: bool) -> Document:
    """Ask an engine; return the content of an answer. Raises SearchError.

    Content, as it is stored: query, engine, count (the results asked for), results, fetched_at
    (UTC), urls.
    """
    from websearch.store import utc_time

    params = question.params
    if not is_named:
        check_capable(engine, params)
    share = (SEARCH_SHARE if question.reads_pages else 1.0) * (1.0 if last else FIRST_SHARE)
    question.progress(f"asking {engine}", 0, params["count"] + 1)

    def ask() -> Document:
        timeout = max(MIN_TIMEOUT, question.time_left() * share)
        return ask_engine(engine, {**params, "timeout": timeout})

    slots = take_slot(question, engine)
    try:
        document, billed = ask_metered(engine, ask, question.store)
    finally:
        if slots:
            slots.release()
    for name, requests in billed.items():
        question.billed[name] = question.billed.get(name, 0) + requests
    if not document["ok"]:
        raise error_of(document)
    results = results_of(engine, document, params["count"])
    if not is_storable(engine):
        question.warnings.append(STORE_NOTE)
    question.warnings += document.get("warnings", [])
    return {
        "query": params["query"],
        "engine": engine,
        "count": params["count"],
        "results": results,
        "fetched_at": utc_time(time.time()),
        "urls": [item["url"] for item in results],
    }


def take_slot(question: Question, engine: str) -> Semaphore | None:
    """Wait until an engine may be asked; return the slot to release, None without a limit.

    Raises SearchError (timeout).
    """
    slots = question.slots.get(engine)
    if slots and not slots.acquire(timeout=max(0.0, question.time_left())):
        message = f"The questions before this one took all the time of {engine}."
        raise SearchError("timeout", message, "Raise timeout, or ask fewer questions.")
    return slots


def check_capable(engine: str, params: dict[str, Any]) -> None:
    """Raise SearchError (invalid_input, marked unsent) for a filter that the engine cannot do.

    Nothing is sent, so that auto may go on to another engine.
    """
    document = ask_engine(engine, {**params, "dry_run": True})
    if not document["ok"] and document["details"]["kind"] == "invalid_input":
        error = error_of(document)
        error.details["unsent"] = True
        raise error


# ===== what the store holds =======================================================================


def stored_content(question: Question, key: str, max_age: float | None) -> Document | None:
    """Return the content of a stored answer; None if no answer serves the question.

    The answer must hold as many results as the question wants. Its form is checked, because another
    version of this program may have written it.
    """
    stored = question.store.get_answer(key, max_age)
    content: Document = stored["content"] if stored else {}
    fields = object_field(object_field(content, "document"), "fields")
    count = content.get("count")
    usable = (
        isinstance(count, int)
        and count >= question.params["count"]
        and all(isinstance(content.get(name), str) for name in ("query", "engine", "fetched_at"))
        and isinstance(content.get("urls"), list)
        and all(isinstance(url, str) for url in content["urls"])
        and are_results(content.get("results"))
        and ("document" not in content or are_results(fields.get("results")))
        and isinstance(object_field(fields, "truncated").get("hint", ""), str)
        and isinstance(fields.get("truncated", {}), dict)
    )
    return content if usable else None


def are_results(value: Any) -> bool:
    """Return whether a value is a list of results: objects with a URL whose fields are texts."""
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and item.get("url")
        and all(isinstance(item[name], str) for name in TEXT_FIELDS & item.keys())
        for item in value
    )


# ===== failures ===================================================================================


def error_of(document: Document) -> SearchError:
    """Return the error that an error document stands for."""
    details = dict(document["details"])
    kind, hint = details.pop("kind"), details.pop("hint", "")
    return SearchError(kind, document["error"], hint, **details)


def no_engine_answered(failures: list[tuple[str, SearchError]]) -> SearchError:
    """Return the error if no engine answered; the error of a single engine stays as it is.

    If an engine found nothing, the kind is no_results, because that engine has answered. It is
    invalid_input only if every engine refuses the input.
    """
    if len(failures) == 1:
        engine, error = failures[0]
        error.details["engine"] = engine
        return error
    empty = [failure for failure in failures if failure[1].kind == "no_results"]
    able = [failure for failure in failures if failure[1].kind != "invalid_input"]
    first = (empty or able or failures)[0][1]
    waits = [error.retry_after for _, error in failures if error.retry_after is not None]
    reasons = [f"{engine}: {error.message.removesuffix('.')}" for engine, error in failures]
    return SearchError(
        first.kind,
        f"No engine answered: {'; '.join(reasons)}.",
        first.details["hint"],
        retryable=any(error.retryable for _, error in failures),
        attempts=[{"engine": engine, "kind": error.kind} for engine, error in failures],
        **drop_empty({"retry_after": min(waits, default=None)}),
    )
