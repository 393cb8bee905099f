"""From a question to an answer: ask an engine, read the pages found, choose passages, keep them.

The work of web_search.py, in a module of its own: a file that is started is compiled anew each
time, a module is not, which saves every call 8 ms.
"""

from __future__ import annotations

import os
import re
import time

from websearch import common
from websearch.common import SearchError, dump_json, object_field

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.common import Document, ProgressCallback
    from websearch.store import PageStore

DEFAULT_COUNT = 5  # pages that are read: GLSI's default
MAX_COUNT = 20  # Brave's limit; more pages than that nobody reads
PAGE_TIMEOUT = 3.0  # seconds for one page, redirects included (GLSI's limit)
DEFAULT_TTL = "24h"  # GLSI's
SEARCH_SHARE = 0.7  # of the time that is left: the search's, the rest is for the pages
FIRST_SHARE = 0.6  # of the time that is left: one engine's, while another one may follow
LEAST_SECONDS = 0.1  # a shorter timeout is none
LOOK_SECONDS = 0.1  # one who waits for another process's answer looks this often
SNIPPET_BESIDE_TEXT = 200  # characters: where page text is given, the snippet says little more
MAX_SOURCE = 500_000  # characters of a page that passages are chosen from: a long book, in 0.1 s
EXCERPT_HINT = (
    "Texts are the passages that answer; --max-chars 0 gives whole pages, read_page.py URL one."
)
BRAVE_NOTE = (
    "Brave's results are asked for each time, since its terms forbid storing them; pages are kept "
    "(WEB_SEARCH_STORE=brave, if your plan has storage rights, keeps both)."
)

# ===== commands and their parameters ==============================================================

# fmt: off
ENGINES = ["brave", "serper", "searxng", "duckduckgo", "google", "wikipedia"]
PAID = ("brave", "serper")  # never asked in the place of an engine that costs nothing
# Parameters that an engine gets as they are, and that tell one kept answer from another.
FILTERS = ("since", "country", "language", "site", "exclude_site", "safe")
QUERY: dict[str, Any] = {
    "name": "query", "type": "str", "positional": True, "required": True, "aliases": ["q"],
    "flags": ["-q"], "help": "what to search for",
}
COUNT: dict[str, Any] = {
    "name": "count", "type": "int", "min": 1, "max": MAX_COUNT, "default": DEFAULT_COUNT,
    "flags": ["-n"], "help": "results, 1 to 20 (default: 5)",
}
SITE: dict[str, Any] = {
    "name": "site", "type": "csv",
    "help": "only these sites, for example docs.python.org,github.com",
}
COMMANDS: dict[str, dict[str, Any]] = {
    "search": {
        "help": "search, read the pages found, return the passages that answer",
        "expendable": ("attempts",),
        "params": [
            QUERY,
            COUNT,
            {"name": "force", "type": "bool", "flags": ["-f"], "default": False,
             "help": "ask again, whatever the cache holds"},
            {"name": "engine", "type": "str", "choices": ["auto", *ENGINES], "default": "auto",
             "values": {"ddg": "duckduckgo"},
             "help": "auto (default) goes on to the next engine where one fails; a named one "
                     "answers or the call fails"},
            {"name": "since", "type": "since",
             "choices": ["hour", "day", "week", "month", "year"],
             "values": {"h": "hour", "d": "day", "w": "week", "m": "month", "y": "year"},
             "help": "age of pages: hour, day, week, month, year or YYYY-MM-DD..YYYY-MM-DD"},
            {"name": "country", "type": "str",
             "help": "two-letter country of the results, for example us"},
            {"name": "language", "type": "str",
             "help": "language of the results, for example en or pt-br"},
            SITE,
            {"name": "exclude_site", "type": "csv", "help": "none of these sites"},
            {"name": "safe", "type": "str", "choices": ["off", "moderate", "strict"],
             "help": "filter for adult content"},
            {"name": "no_pages", "type": "bool", "help": "results alone; read no page"},
            {"name": "page_timeout", "type": "float", "min": 0.1, "max": 120,
             "default": PAGE_TIMEOUT, "help": "seconds for each page (default: 3)"},
            {"name": "ttl", "type": "str", "default": DEFAULT_TTL,
             "help": "use a kept answer younger than this, such as 30m or 7d (default: 24h)"},
            {"name": "stale", "type": "bool",
             "help": "where no engine answers, use a kept answer of any age"},
        ],
    },
    "recall": {
        "help": "search the pages read before, offline",
        "params": [{**QUERY, "help": "words to look for"}, COUNT, SITE],
        "cannot": dict.fromkeys(
            ("engine", "since", "country", "language", "safe", "exclude_site"),
            "recall asks no engine: it knows pages by their words and their --site.",
        ),
    },
    "cache": {
        "help": "stats: what is kept; clear: remove all, or the answers to one query",
        "params": [
            {"name": "action", "type": "str", "choices": ["stats", "clear"], "positional": True,
             "required": True, "help": "stats or clear"},
            {**QUERY, "required": False, "help": "clear only what was found for this query"},
        ],
    },
}
# fmt: on

# ===== parameters =================================================================================


def duration(name: str, text: str) -> float:
    """Return the seconds of a duration such as 90s, 30m, 1h30m or 7d; raises SearchError."""
    seconds = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
    parts = re.findall(r"(\d{1,9})([smhd])", text)
    if text == "0":
        return 0.0
    if not parts or "".join(number + unit for number, unit in parts) != text:
        message = f"{name} must be a duration such as 30m, 24h or 7d, not {text!r:.80}."
        raise SearchError("invalid_input", message, "Units are s, m, h and d.")
    return sum(float(number) * seconds[unit] for number, unit in parts)


def answer_key(engine: str, params: dict[str, Any]) -> str:
    """Return the key of an answer in the store: SHA-256 in hexadecimal.

    Over query (trimmed, lower case), engine, count and filters: GLSI's key was the query alone,
    which returned three pages to one who asked for ten.
    """
    import hashlib

    filters = {name: params[name] for name in FILTERS if name in params}
    asked = [params["query"].strip().lower(), engine, params["count"], sorted(filters.items())]
    return hashlib.sha256(dump_json(asked).encode("utf-8", "replace")).hexdigest()


def is_storable(engine: str) -> bool:
    """Return whether an engine's results may be kept: Brave's only where the user's plan says so.

    The user says it with WEB_SEARCH_STORE=brave (Brave's terms of use, "storage rights").
    """
    allowed = os.environ.get("WEB_SEARCH_STORE", "").lower().replace(",", " ").split()
    return engine != "brave" or "brave" in allowed


def is_configured(engine: str) -> bool:
    """Return whether a key or address is set for an engine; one that is malformed counts."""
    if engine == "searxng":
        return bool(os.environ.get("SEARXNG_BASE_URL", "").strip())
    names = {"brave": ("BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"), "serper": ("SERPER_API_KEY",)}
    try:
        return engine not in names or bool(common.configured_key(*names[engine])[1])
    except SearchError:
        return True


def engine_order(engine: str) -> list[str]:
    """Return the engines to ask, in order: a named one is strict.

    auto: $GLSI_SEARCH_ENGINE, then those that are configured, then DuckDuckGo; never from a
    keyless engine to a paid one. Raises SearchError (invalid_input).
    """
    if engine != "auto":
        return [engine]
    order = [name for name in ("brave", "serper", "searxng") if is_configured(name)]
    order.append("duckduckgo")
    preferred = os.environ.get("GLSI_SEARCH_ENGINE", "").strip().lower()
    if not preferred or preferred == "auto":
        return order
    if preferred not in ENGINES:
        message = f"GLSI_SEARCH_ENGINE must be one of {', '.join(ENGINES)}, not {preferred!r:.80}."
        raise SearchError("invalid_input", message, "Unset it to let the script choose.")
    left_out = () if preferred in PAID else PAID
    return [preferred, *(name for name in order if name not in (preferred, *left_out))]


# ===== what fits: page texts share the document's room ============================================


def share_by_rank(wanted: list[int], room: int) -> list[int]:
    """Return a share of room for each wish, in order of rank: the first gets the most.

    The weights fall with the square root of the rank; what one does not need, the others get.
    """
    shares = [0] * len(wanted)
    open_ranks = list(range(len(wanted)))
    while open_ranks:
        total = sum((rank + 1) ** -0.5 for rank in open_ranks)
        content = [rank for rank in open_ranks if wanted[rank] <= room * (rank + 1) ** -0.5 / total]
        for rank in content or open_ranks:
            shares[rank] = wanted[rank] if content else int(room * (rank + 1) ** -0.5 / total)
        if not content:
            return shares
        room -= sum(wanted[rank] for rank in content)
        open_ranks = [rank for rank in open_ranks if rank not in content]
    return shares


def excerpt(text: str, query: str, room: int) -> str:
    """Return what a page says about a query, in at most room characters of JSON.

    The passages that answer, in the page's order; else the page's beginning.
    """
    from websearch.pages import passages as page_passages
    from websearch.pages import read

    passages = page_passages.select_passages(text[:MAX_SOURCE], query, room * 9 // 10)
    while passages:
        parts = [f"{one['heading']}\n\n{one['text']}".strip() for one in passages]
        chosen = "\n\n[…]\n\n".join(parts)
        if read.json_size(chosen) <= room:
            return chosen
        passages.pop()
    return text[: read.slice_end(text, 0, room)]


def with_texts(document: Document, texts: dict[str, str], max_chars: int) -> None:
    """Put page texts (by URL) into a document's results, cut so that it stays below max_chars.

    0: no limit. A cut text is marked truncated; the document then says how to get the rest.
    """
    results = [item for item in document["results"] if texts.get(item["url"])]
    for item in results:
        if "snippet" in item:
            item["snippet"] = common.shorten(item["snippet"], SNIPPET_BESIDE_TEXT)
    if not max_chars:
        for item in results:
            item["text"] = texts[item["url"]]
        return
    wanted = [len(dump_json(texts[item["url"]])) for item in results]
    marks = len(results) * len(',"text":,"truncated":true')
    fixed = len(dump_json(document)) + marks + len(f',"truncated":{{"hint":"{EXCERPT_HINT}"}}')
    room = max(0, max_chars - fixed)
    for place, item in enumerate(results):
        # Shared out anew for each: what passages leave over goes to the pages that follow.
        share = share_by_rank(wanted[place:], room)[0]
        text = texts[item["url"]]
        if wanted[place] > share:
            text = excerpt(text, document["query"], share)
            item["truncated"] = True
            document["truncated"] = {"hint": EXCERPT_HINT}
        if text:
            item["text"] = text
        room -= len(dump_json(text))


# ===== asking an engine ===========================================================================


def ask_engine(engine: str, params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Return an engine's own document for a query; params may hold dry_run and timeout."""
    wanted = {
        name: params[name]
        for name in ("query", "count", "timeout", "dry_run", "verbose", *FILTERS)
        if name in params
    }
    wanted["max_chars"] = 0
    if engine == "brave":
        import brave_search

        return brave_search.run_web_search({**wanted, "result_filter": "web"}, report)
    if engine == "serper":
        import serper_search

        return serper_search.run_search(wanted, report)
    from websearch.engines import keyless as keyless_search

    return keyless_search.run_search({**wanted, "engine": engine}, report)


def engine_results(engine: str, document: Document, count: int) -> list[dict[str, Any]]:
    """Return an engine's results as this script's: position, title, url, snippet, date."""
    if engine == "brave":
        from brave_search import as_results
    elif engine == "serper":
        from serper_search import as_results
    else:
        from websearch.engines.keyless import as_results
    found = as_results(document)[:count]
    names = ("title", "url", "snippet", "date")
    return [
        {"position": place, **common.drop_empty({name: item.get(name) for name in names})}
        for place, item in enumerate(found, 1)
    ]


def failure_of(document: Document) -> SearchError:
    """Return an error document as the error that it stands for."""
    details = dict(document["details"])
    kind, hint = details.pop("kind"), details.pop("hint", "")
    return SearchError(kind, document["error"], hint, **details)


def no_engine(failures: list[tuple[str, SearchError]]) -> SearchError:
    """Return the error when no engine answered: a single one keeps its own.

    An engine that found nothing has answered: then that is the outcome.
    """
    if len(failures) == 1:
        engine, error = failures[0]
        error.details["engine"] = engine
        return error
    empty = [failure for failure in failures if failure[1].kind == "no_results"]
    # A filter that one engine cannot do is bad input only where none can.
    able = [failure for failure in failures if failure[1].kind != "invalid_input"]
    first = (empty or able or failures)[0][1]
    waits = [error.retry_after for _, error in failures if error.retry_after is not None]
    message = "; ".join(f"{engine}: {error.message}" for engine, error in failures)
    return SearchError(
        first.kind,
        f"No engine answered: {message}",
        first.details["hint"],
        retryable=any(error.retryable for _, error in failures),
        **({"retry_after": min(waits)} if waits else {}),
        attempts=[{"engine": engine, "kind": error.kind} for engine, error in failures],
    )


def attempt(engine: str, error: SearchError) -> dict[str, Any]:
    """Return one failed attempt as it stands in a document."""
    return {"engine": engine, "kind": error.kind, "error": error.message}


# ===== one call ===================================================================================


class Call:
    """One search: its checked parameters, the store, the deadline, and what was tried."""

    def __init__(self, params: dict[str, Any], store: PageStore, report: ProgressCallback) -> None:
        self.params = params
        self.store = store
        self.report = report
        self.deadline = common.deadline_of(params)
        self.max_age = duration("ttl", params["ttl"])
        self.max_chars: int = params.get("max_chars", common.DEFAULT_MAX_CHARS)
        self.warnings: list[str] = []
        self.failures: list[tuple[str, SearchError]] = []
        self.unkept: dict[str, Any] | None = None  # for those who wait for this process's answer

    def left(self) -> float:
        """Return the seconds until the deadline."""
        return self.deadline - time.monotonic()

    def progress(self, text: str, done: int, total: int) -> None:
        """ProgressCallback progress to the caller, if he wants to know."""
        if self.report:
            self.report(text, done, total)


def run_search(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search, read the pages found and return the passages that answer. Never raises.

    params: those of COMMANDS["search"], and timeout, max_chars, dry_run, verbose. Returns {ok,
    query, engine, results: [{position, title, url, snippet, date?, text or error}], from_cache,
    fetched_at, attempts, ...}, or an error document whose details may list the attempts.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.store import PageStore

        order = engine_order(params["engine"])
        if params.get("dry_run"):
            return planned(order, params)
        store = PageStore()
        try:
            return answer(Call(params, store, report), order)
        finally:
            store.close()

    return common.run_operation("web_search.search", COMMANDS["search"], params, operation)


def planned(order: list[str], params: dict[str, Any]) -> Document:
    """Return what --dry-run prints: the request of the first engine that can do what is asked."""
    duration("ttl", params["ttl"])
    documents = [(engine, ask_engine(engine, params)) for engine in order]
    engine, document = next((one for one in documents if one[1]["ok"]), documents[0])
    return {**document, "engine": engine} if document["ok"] else document


def answer(call: Call, order: list[str]) -> Document:
    """Return the document of the first engine that answers; raises SearchError if none does."""
    for position, engine in enumerate(order):
        last = position == len(order) - 1
        try:
            return with_warnings(call, answer_of(call, engine, last, strict=len(order) == 1))
        except SearchError as error:
            call.failures.append((engine, error))
            unsent = error.details.pop("unsent", False)
            if not (unsent or common.may_fall_back(error.kind)):
                break
    failure = no_engine(call.failures)
    if common.may_fall_back(failure.kind):
        found = (kept_content(call, answer_key(engine, call.params), None) for engine in order)
        kept = next((one for one in found if one), None)
        if kept and call.params.get("stale"):
            return with_warnings(call, stale_answer(call, kept, failure))
        if kept:
            hint = f"An answer of {kept['fetched_at']} is kept: --stale gives it."
            failure.details["hint"] = f"{failure.details['hint']} {hint}".strip()
    failure.details |= common.drop_empty({"warnings": call.store.warnings})
    raise failure


def with_warnings(call: Call, document: Document) -> Document:
    """Return a document with its call's attempts and warnings, each warning once."""
    attempts = [attempt(*failure) for failure in call.failures]
    if not document["from_cache"] and "stale" not in document:
        attempts.append({"engine": document["engine"]})
    warnings = [*document.get("warnings", []), *call.warnings, *call.store.warnings]
    return {
        **document,
        **common.drop_empty({"attempts": attempts, "warnings": list(dict.fromkeys(warnings))}),
    }


def answer_of(call: Call, engine: str, last: bool, strict: bool) -> Document:
    """Return one engine's answer: from the store, from another process, or asked for.

    last: no other engine may follow. strict: the engine was named. Raises SearchError.
    """
    key = answer_key(engine, call.params)
    if call.params["force"] or not is_storable(engine):
        return fresh_answer(call, engine, key, last, strict)
    content = kept_content(call, key, call.max_age) or wait_for_turn(call, key)
    if content:
        return kept_answer(call, key, content)
    call.unkept = None  # an engine that was asked before may have left something
    try:
        return fresh_answer(call, engine, key, last, strict)
    except SearchError as error:
        if error.kind != "timeout":  # one who has waited may have more time
            call.unkept = {"failure": common.error_document(error)}
        raise
    finally:
        call.store.release(key, call.unkept)


def wait_for_turn(call: Call, key: str) -> dict[str, Any] | None:
    """Return another process's answer to the same question, or None: it is this one's turn to ask.

    An answer that is not kept (a page failed that may work the next time) serves those who waited,
    and so does a failure. Raises SearchError.
    """
    begin = time.time()
    while not call.store.claim(key, call.left(), begin):
        time.sleep(min(LOOK_SECONDS, max(0.0, call.left())))
        content = kept_content(call, key, call.max_age)
        content = content or call.store.outcome(key, begin)
        if content and "failure" in content:
            raise failure_of(content["failure"])
        if content:
            return content
        if call.left() <= 0:
            hint = "Try again, or give more time with --timeout."
            message = "Another process asks the same question and has no answer yet."
            raise SearchError("timeout", message, hint, retryable=True)
    content = kept_content(call, key, call.max_age)  # it may have ended just before the claim
    if content:
        call.store.release(key)
    return content


def fresh_answer(call: Call, engine: str, key: str, last: bool, strict: bool) -> Document:
    """Ask an engine and read its pages; keep the answer if it is whole. Raises SearchError."""
    from websearch.store import utc_time

    if not strict:
        check_capable(engine, call.params)
    share = 1.0 if call.params.get("no_pages") else SEARCH_SHARE
    share *= 1.0 if last else FIRST_SHARE
    call.progress(f"asking {engine}", 0, call.params["count"] + 1)
    timeout = max(LEAST_SECONDS, call.left() * share)
    document = ask_engine(engine, {**call.params, "timeout": timeout})
    if not document["ok"]:
        raise failure_of(document)
    results = engine_results(engine, document, call.params["count"])
    call.warnings += document.get("warnings", [])
    content: Document = {
        "query": call.params["query"],
        "engine": engine,
        "results": results,
        "fetched_at": utc_time(time.time()),
        "urls": [item["url"] for item in results],
    }
    return finished_answer(call, key, content, from_cache=False)


def check_capable(engine: str, params: dict[str, Any]) -> None:
    """Raise SearchError (invalid_input, marked unsent) for a filter that the engine cannot do.

    Nothing is sent: with auto, another engine may be able to.
    """
    document = ask_engine(engine, {**params, "dry_run": True})
    if not document["ok"] and document["details"]["kind"] == "invalid_input":
        error = failure_of(document)
        error.details["unsent"] = True
        raise error


def kept_content(call: Call, key: str, max_age: float | None) -> Document | None:
    """Return a kept answer, None if there is none in the form that finished_answer gives it.

    Another version of this script may have written it.
    """
    kept = call.store.get_answer(key, max_age)
    content: Document = kept["content"] if kept else {}
    fields = object_field(object_field(content, "document"), "fields")
    whole = (
        all(isinstance(content.get(name), str) for name in ("query", "engine", "fetched_at"))
        and isinstance(content.get("urls"), list)
        and all(isinstance(url, str) for url in content["urls"])
        and are_results(content.get("results"))
        and ("document" not in content or are_results(fields.get("results")))
        and isinstance(object_field(fields, "truncated").get("hint", ""), str)
        and isinstance(fields.get("truncated", {}), dict)
    )
    return content if whole else None


def are_results(value: Any) -> bool:
    """Return whether a value is a list of results: objects with a URL whose fields are texts."""
    texts = ("title", "url", "snippet", "date", "text", "error")
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and item.get("url")
        and all(isinstance(item.get(name, ""), str) for name in texts)
        for item in value
    )


def kept_answer(call: Call, key: str, content: Document) -> Document:
    """Return the document of a kept answer; the finished one if its limit was the same."""
    finished = content.get("document")
    same = object_field(content, "document").get("max_chars") == call.max_chars
    if finished and same and not call.params.get("no_pages"):
        return {**shell_of(content, from_cache=True), **finished["fields"]}
    return finished_answer(call, key, content, from_cache=True)


def stale_answer(call: Call, content: Document, reason: SearchError) -> Document:
    """Return the document of a kept answer of any age, marked stale; nothing is fetched."""
    document = {**shell_of(content, from_cache=True), "stale": True}
    call.warnings.append(f"From an earlier search, because now: {reason.message}")
    if not call.params.get("no_pages"):
        pages = call.store.get_pages(content["urls"], None)
        with_texts(document, {url: page["text"] for url, page in pages.items()}, call.max_chars)
    return document


def shell_of(content: Document, from_cache: bool) -> Document:
    """Return the document of a kept or new answer without page texts."""
    return {
        "ok": True,
        "provider": "web_search",
        "query": content["query"],
        "engine": content["engine"],
        "results": [
            {name: value for name, value in item.items() if name != "error"}
            for item in content["results"]
        ],
        "from_cache": from_cache,
        "fetched_at": content["fetched_at"],
    }


def finished_answer(call: Call, key: str, content: Document, from_cache: bool) -> Document:
    """Return the document of an answer, its pages read and cut; keep it if it is whole.

    A page that failed for good (404, a wall) is part of a whole answer; one that may work the next
    time is not.
    """
    engine = content["engine"]
    document = shell_of(content, from_cache)
    whole = True
    if not call.params.get("no_pages"):
        texts, errors, fetched = read_results(call, content["results"])
        document["from_cache"] = from_cache and not fetched
        whole = not any(error.get("retryable") for error in errors.values())
        for item, kept in zip(document["results"], content["results"], strict=True):
            if item["url"] in errors:
                item["error"] = kept["error"] = errors[item["url"]]["message"]
        if errors and not texts:
            call.warnings.append("No page could be read: results and snippets only.")
        room = call.max_chars and max(1, call.max_chars - notes_size(call, engine))
        with_texts(document, texts, room)
        content["document"] = {
            "max_chars": call.max_chars,
            "fields": {
                name: document[name] for name in ("results", "truncated") if name in document
            },
        }
    if not is_storable(engine):
        call.warnings.append(BRAVE_NOTE)
    elif not whole:
        call.unkept = {**content, "is_partial": True}
    elif "is_partial" not in content:
        call.store.put_answer(key, content)
    return document


def notes_size(call: Call, engine: str) -> int:
    """Return the characters that the document's attempts and warnings take."""
    attempts = [*(attempt(*failure) for failure in call.failures), {"engine": engine}]
    notes = [*call.warnings, *call.store.warnings, "" if is_storable(engine) else BRAVE_NOTE]
    return len(dump_json({"attempts": attempts, "warnings": notes}))


def read_results(
    call: Call, results: list[dict[str, Any]]
) -> tuple[dict[str, str], dict[str, dict[str, Any]], bool]:
    """Return (texts by URL, {message, retryable} of failed pages by URL, whether any was fetched).

    Pages come from the store if they are young enough, else from the web; those are stored.
    """
    urls = list(dict.fromkeys(item["url"] for item in results))
    kept = {} if call.params["force"] else call.store.get_pages(urls, call.max_age)
    texts = {url: page["text"] for url, page in kept.items()}
    errors: dict[str, dict[str, Any]] = {  # a kept answer says that these failed for good
        item["url"]: {"message": item["error"]}
        for item in results
        if "error" in item and item["url"] not in texts
    }
    missing = [url for url in urls if url not in texts and url not in errors]
    if not missing:
        return texts, errors, False
    for page in fetch_pages(call, missing, len(urls) - len(missing), len(urls)):
        if page["ok"]:
            texts[page["url"]] = page["text"]
        else:
            retryable = page["details"]["retryable"] or page["details"]["kind"] == "internal"
            errors[page["url"]] = {"message": page["error"], "retryable": retryable}
    return texts, errors, True


def fetch_pages(call: Call, urls: list[str], done: int, total: int) -> list[Document]:
    """Fetch pages and keep the good ones; return read_page's part for each URL.

    done of total pages were there already. Where read_page did none, its error is each page's.
    """
    from websearch.pages import read

    def report(_: str, fetched: int, __: int) -> None:
        call.progress("pages read", done + fetched + 1, total + 1)

    wanted = {"urls": urls, "max_chars": 0, "page_timeout": call.params["page_timeout"]}
    document = read.run_read({**wanted, "timeout": max(LEAST_SECONDS, call.left())}, report)
    pages = document.get("pages") or [{"url": url, **document} for url in urls]
    now = time.time()
    fields = ("url", "final_url", "title", "text")
    call.store.put_pages(
        [
            {
                "title": "",
                **{name: page[name] for name in fields if name in page},
                "fetched_at": now,
            }
            for page in pages
            if page["ok"]
        ]
    )
    call.warnings += document.get("warnings", [])
    return pages


# ===== the other commands =========================================================================


def run_recall(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Search the pages that were read before, offline. Never raises.

    params: those of COMMANDS["recall"]. Returns {ok, query, results: [{position, title, url,
    text, fetched_at}]}.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.store import PageStore, utc_time

        store = PageStore()
        try:
            pages = store.recall(params["query"], params["count"], params.get("site", []))
        finally:
            store.close()
        if not pages:
            hint = "Search the web: web_search.py 'QUERY'. Every page that it reads is kept."
            message = "No page that was read before holds these words."
            raise SearchError("no_results", message, hint, warnings=store.warnings)
        document: Document = {
            "ok": True,
            "provider": "web_search",
            "query": params["query"],
            "results": [
                {
                    "position": place,
                    **common.drop_empty({"title": page["title"]}),
                    "url": page["url"],
                    "fetched_at": utc_time(page["fetched_at"]),
                }
                for place, page in enumerate(pages, 1)
            ],
            **common.drop_empty({"warnings": store.warnings}),
        }
        texts = {page["url"]: page["text"] for page in pages}
        with_texts(document, texts, params.get("max_chars", common.DEFAULT_MAX_CHARS))
        return document

    return common.run_operation("web_search.recall", COMMANDS["recall"], params, operation)


def run_cache(params: dict[str, Any], report: ProgressCallback = None) -> Document:
    """Tell what the store holds (action stats) or remove it (action clear). Never raises.

    Returns {ok, action, ...}: the fields of the store's stats, or how many answers and pages went.
    With dry_run, clear removes nothing.
    """

    def operation(params: dict[str, Any]) -> Document:
        from websearch.store import PageStore

        query = params.get("query", "")
        if params["action"] == "stats" and query:
            raise SearchError("invalid_input", "stats takes no query.", "clear does.")
        store = PageStore()
        if params["action"] == "clear" and params.get("dry_run"):
            asked = {"action": "clear", "query": query, "path": store.path}
            raise common.DryRun(common.drop_empty(asked))
        try:
            found = store.clear(query) if params["action"] == "clear" else store.stats()
        finally:
            store.close()
        if store.warnings and params["action"] == "clear":
            hint = "cache stats shows the file; GLSI_DB_PATH names another one."
            message = f"Nothing was cleared. {store.warnings[0]}"
            raise SearchError("invalid_input", message, hint)
        head = {"ok": True, "provider": "web_search", "action": params["action"]}
        notes = common.drop_empty({"query": query, "warnings": store.warnings})
        return {**head, **notes, **found}

    return common.run_operation("web_search.cache", COMMANDS["cache"], params, operation)


RUN: dict[str, Callable[..., Document]] = {
    "search": run_search,
    "recall": run_recall,
    "cache": run_cache,
}

# ===== the document for people and for other scripts ==============================================


def as_results(document: Document) -> list[dict[str, Any]]:
    """Return a document's results as [{title, url, snippet, date?}]."""
    names = ("title", "url", "snippet", "date")
    return [
        {
            "title": item["url"],
            "snippet": "",
            **{name: item[name] for name in names if name in item},
        }
        for item in document.get("results") or []
    ]


def escape_borders(text: str) -> str:
    """Return page text in which no line can be taken for a border between two pages."""
    return re.sub(r"(?m)^(?=[ \t]*(?:##[ \t]+\S*://|-{3,}[ \t]*$))", r"\\", text)


def consolidated_text(document: Document) -> str:
    """Return the page texts of a document as one: GLSI's format, "## URL", text, "---"."""
    sections = [
        f"## {item['url']}\n\n{escape_borders(item['text'])}"
        for item in document.get("results", [])
        if item.get("text")
    ]
    return "\n\n---\n\n".join(sections)


def to_markdown(document: Document) -> str:
    """Return a document as Markdown for a person or a model, what came from the web fenced."""
    if "request" in document:
        return f"```json\n{dump_json(document['request'], pretty=True)}\n```"
    if "action" in document:
        return cache_markdown(document)
    warnings = document.get("warnings") or document.get("details", {}).get("warnings", [])
    sections = "\n\n---\n\n".join(map(result_markdown, document.get("results", [])))
    facts = [
        f"Results from {document['engine']}" if "engine" in document else "",
        f"fetched {document['fetched_at']}" if "fetched_at" in document else "",
        "from the cache" if document.get("from_cache") else "",
        "out of date" if document.get("stale") else "",
    ]
    blocks = [
        "" if document["ok"] else common.error_markdown(document),
        *(f"> {warning}" for warning in warnings),
        *(
            f"> {one['engine']} was tried first: {one['error']}"
            for one in document.get("attempts", [])
            if "error" in one
        ),
        ", ".join(fact for fact in facts if fact),
        common.fence_untrusted(sections) if sections else "",
        document.get("truncated", {}).get("hint", ""),
    ]
    return "\n\n".join(block for block in blocks if block)


def result_markdown(item: dict[str, Any]) -> str:
    """Return one result's section: its URL, title and date, then its text or snippet."""
    title = " ".join(str(item.get("title", "")).split())
    facts = [f"**{title}**" if title else "", item.get("date") or item.get("fetched_at") or ""]
    body = escape_borders(item.get("text") or item.get("snippet") or "")
    failed = f"(page not read: {item['error']})" if "error" in item else ""
    blocks = [f"## {item['url']}", " · ".join(fact for fact in facts if fact), body, failed]
    return "\n\n".join(block for block in blocks if block)


def cache_markdown(document: Document) -> str:
    """Return what `cache` did or found as Markdown."""
    left_out = ("ok", "provider", "action", "warnings")
    facts = [f"- {name}: {value}" for name, value in document.items() if name not in left_out]
    title = "Removed from the cache:" if document["action"] == "clear" else "The cache:"
    return "\n".join([*(f"> {text}" for text in document.get("warnings", [])), title, *facts])
