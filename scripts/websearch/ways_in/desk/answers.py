"""Answer the desk's requests: the page for each path, and the actions of its forms.

Browsers (Accept: text/html) get pages; programs get JSON from the same paths. Both call the same
run_* functions. A form that changes something contains a token of this process, so a page on
another site cannot submit it.
"""

from __future__ import annotations

import functools
import os
import re
import time
from urllib.parse import parse_qs, urlencode

from websearch.base.calls import in_context
from websearch.engines.table import ENGINES, FOCUSES
from websearch.kit import internal_error, spell_hints
from websearch.store import history
from websearch.ways_in.desk import views
from websearch.ways_in.http_messages import COOKIE, HttpError, has_token, is_same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Generator, Iterator
    from typing import Any

    from websearch.kit import Document, ProgressCallback
    from websearch.store.page_store import Rows
    from websearch.ways_in.http_messages import Answer, HttpRequest

    Fields = dict[str, str]
    Settings = dict[str, Any]

HTML = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    # Not no-referrer: with it, browsers send "Origin: null" with the desk's own forms.
    "Referrer-Policy": "same-origin",
}
# Path -> the file in this package and its type.
FILES = {"/desk.css": ("style.css", "text/css"), "/desk.js": ("keys.js", "text/javascript")}
CALLER = "desk"  # the caller's name in the history
MAX_CHARS = 30_000  # characters of passages per results page
MAX_FIELDS = 50  # fields per query string or form
PAGE_CHARS = 100_000  # characters of a web page shown at once

# ===== requests ===================================================================================


def wants_page(request: HttpRequest, others: Container[str]) -> bool:
    """Return whether a request is for a page of the desk, not for the API.

    others: the API's paths. A browser gets a page for any unknown path.
    """
    if request.method == "POST":  # /check is also a path of the API
        is_for_people = "text/html" in request.header("accept")
        return request.path in FORMS and (is_for_people or request.path != "/check")
    if request.path in FILES:
        return True
    accepts_pages = "text/html" in request.header("accept") and "format" not in fields_of(request)
    is_ours = request.path in PAGES or request.path not in others
    return is_ours and request.method in ("GET", "HEAD") and accepts_pages


def answer_page(request: HttpRequest, settings: Settings) -> Answer:
    """Return the answer to a request that wants_page accepts. Raises HttpError."""
    if request.path in FILES:
        name, kind = FILES[request.path]
        return 200, file_text(name), {"Content-Type": f"{kind}; charset=utf-8"}
    if request.method == "POST":
        return FORMS[request.path](request, settings)
    if not has_token(request, settings):
        return sign_in_page(f"{request.path}?{request.query}", is_wrong=False)
    return show_page(request, settings)


def show_page(request: HttpRequest, settings: Settings) -> Answer:
    """Return the page for a path; the page is sent in pieces as they become ready."""
    fields = {**fields_of(request), "host": request.header("host")}
    if request.path != "/history" or "forgotten" not in fields:
        FORGOTTEN.clear()  # its page is left
    page = PAGES.get(request.path, missing_page)
    body = whole_page(page(fields, settings), settings["verbose"])
    status = 200 if request.path in PAGES else 404
    return status, body, {**HTML, "Connection": "close"}  # the length is not known yet


def whole_page(pieces: Iterator[str], verbose: bool) -> Iterator[bytes]:
    """Yield the pieces of a page as they become ready; an exception becomes an error box."""
    try:
        for piece in pieces:
            yield piece.encode("utf-8", "replace")
    except Exception as error:  # noqa: BLE001  a bug: the page still ends properly
        document = spell_hints(internal_error(error, verbose), {})
        yield (views.error_box(document) + views.FOOT).encode()


@functools.cache
def file_text(name: str) -> str:
    """Return the content of a file in this package."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def fields_of(request: HttpRequest) -> Fields:
    """Return the fields in a form or query string, with the first value for each name.

    Raises HttpError (400).
    """
    text = (request.body or b"").decode("utf-8", "replace") or request.query
    try:
        fields = parse_qs(text, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise HttpError(400, f"There are more than {MAX_FIELDS} fields.") from None
    return {name: values[0].strip() for name, values in fields.items()}


# ===== pages ======================================================================================


def search_page(fields: Fields, settings: Settings) -> Iterator[str]:
    """Yield the search page: its form, the progress and the results."""
    lines = (fields.get("q", "") + "\n" + fields.get("more", "")).splitlines()
    questions = [line.strip() for line in lines if line.strip()]
    query = "\n".join(questions)
    yield views.head("/", questions[0] if len(questions) == 1 else "Search")
    yield views.search_form({**fields, "q": query}, ["", *ENGINES], FOCUSES)
    if questions:
        yield views.progress("Searching …")
        document = yield from with_progress(functools.partial(search, fields, questions, settings))
        yield views.search_results(document, query)
    yield views.FOOT


def search(
    fields: Fields, questions: list[str], settings: Settings, report: ProgressCallback
) -> Document:
    """Return the search document for one question, or the brief for several."""
    from websearch.search.commands import run_brief, run_search

    names = ("engine", "focus", "since", "site")
    params: dict[str, Any] = {name: fields[name] for name in names if fields.get(name)}
    params |= {"max_chars": MAX_CHARS, "verbose": settings["verbose"]}
    if len(questions) > 1:
        document = run_brief({**params, "queries": questions}, report, CALLER)
    else:
        document = run_search({**params, "query": questions[0]}, report, CALLER)
    return spell_hints(document, {name: name for name in names})


def read_page(fields: Fields, settings: Settings) -> Iterator[str]:
    """Yield the page that shows a web page's text as agents get it."""
    url = fields.get("url", "")
    yield views.head("/read", "Read")
    yield views.read_form(url)
    if url:
        yield views.progress("Reading …")
        document = yield from with_progress(functools.partial(read, fields, settings))
        pages = document.get("pages", [document])
        query = fields.get("q", "")
        yield "".join(
            f"<h2>{views.title_of({'url': url, **page})}</h2>\n{views.page_text(page, query)}"
            for page in pages
        )
    yield views.FOOT


def read(fields: Fields, settings: Settings, report: ProgressCallback) -> Document:
    """Return the document for a web page."""
    from websearch.reading.read import run_read

    params = {"urls": [fields["url"]], "max_chars": PAGE_CHARS, "verbose": settings["verbose"]}
    offset = fields.get("offset", "")
    params["offset"] = int(offset[:9]) if offset.isdecimal() else 0
    return spell_hints(run_read(params, report, caller=CALLER), {})


def check_page(fields: Fields, settings: Settings) -> Iterator[str]:
    """Yield the check page: the form for a draft, and the findings."""
    draft = fields.get("text", "")
    yield views.head("/check", "Check")
    yield views.check_form(draft)
    if draft:
        yield views.progress("Reading the sources …")
        document = yield from with_progress(functools.partial(check, draft, settings))
        yield views.check_results(document)
    yield views.FOOT


def check(draft: str, settings: Settings, report: ProgressCallback) -> Document:
    """Return the document of a check of a draft."""
    from websearch.check.check import run_check

    params = {"text": draft, "max_chars": PAGE_CHARS, "verbose": settings["verbose"]}
    return spell_hints(run_check(params, report), {})


def history_page(fields: Fields, settings: Settings) -> Iterator[str]:
    """Yield the history page, or the stored pages that match a query."""
    from websearch.search.commands import run_recall

    query, wanted = fields.get("q", ""), fields.get("filter", "")
    yield views.head("/history", "History")
    if FORGOTTEN:
        yield views.undo_form(form_token(), {name: len(rows) for name, rows in FORGOTTEN.items()})
    yield views.history_form(query, wanted)
    if query:
        document = run_recall({"query": query, "verbose": settings["verbose"]})
        document = spell_hints(document, {})
        yield views.search_results(document, query)
    else:
        yield views.history_list(shown_entries(wanted), form_token(), wanted)
    yield views.FOOT


def shown_entries(wanted: str = "") -> list[dict[str, str]]:
    """Return the history entries that contain a text, in the form of entry_of, newest first."""
    from websearch.store.page_store import PageStore

    store = PageStore()
    try:
        entries = history.entries(store)
        urls = [entry["text"].split("\n")[0] for entry in entries if entry["kind"] == "read"]
        pages = store.get_pages(urls, None)
    finally:
        store.close()
    shown = [entry_of(entry, pages) for entry in entries]
    return [entry for entry in shown if wanted.casefold() in entry["text"].casefold()]


def entry_of(entry: dict[str, Any], pages: dict[str, dict[str, Any]]) -> dict[str, str]:
    """Return a history entry as shown, with the URL that opens its answer.

    pages: URL -> stored page, for the title.
    """
    moment = time.localtime(entry["moment"])
    is_read = entry["kind"] == "read"
    path, name = ("/read", "url") if is_read else ("/", "q")
    params = {} if is_read else {k: v for k, v in entry["params"].items() if k != "count"}
    shown = {k: ",".join(map(str, v)) if isinstance(v, list) else str(v) for k, v in params.items()}
    text = entry["text"].split("\n")[0] if is_read else entry["text"]
    return {
        "id": str(entry["id"]),
        "day": time.strftime("%Y-%m-%d", moment),
        "time": time.strftime("%H:%M", moment),
        "minute": str(int(entry["moment"]) // 60),
        "caller": entry["caller"],
        "kind": entry["kind"] if entry["ok"] else f"{entry['kind']} (failed)",
        "text": pages.get(text, {}).get("title") or entry["text"].replace("\n", " · "),
        "is_page": "yes" * is_read,
        "address": f"{path}?{urlencode({name: text, **shown})}",
    }


def forget_page(fields: Fields, settings: Settings) -> Iterator[str]:
    """Yield the page that asks for confirmation before forgetting a day or everything."""
    from websearch.search.commands import run_cache

    day = fields.get("day", "")
    yield views.head("/history", f"Forget {views.day_name(day) if day else 'everything'}?")
    if day:
        entries = [entry for entry in shown_entries() if entry["day"] == day]
        yield views.forget_day_question(form_token(), day, entries)
    else:
        yield views.forget_question(form_token(), run_cache({"action": "stats"}))
    yield views.FOOT


def state_page(fields: Fields, settings: Settings) -> Iterator[str]:
    """Yield the status page: checks of this machine, spending and the store's contents."""
    from websearch.search.commands import run_cache

    yield views.head("/state", "Status")
    yield views.state_tables(settings["check_machine"](), run_cache({"action": "stats"}))
    yield views.FOOT


def api_page(fields: Fields, settings: Settings) -> Iterator[str]:
    """Yield the page with instructions for programs that call this server."""
    yield views.head("/docs", "API") + views.api_text(fields["host"]) + views.FOOT


def missing_page(fields: Fields, settings: Settings) -> Iterator[str]:
    """Yield the page for a path that does not exist."""
    yield views.head("", "There is no such page") + views.MISSING + views.FOOT


def with_progress(
    run: Callable[[ProgressCallback], Document],
) -> Generator[str, None, Document]:
    """Yield a line for each progress report from a run; return the run's document."""
    from concurrent.futures import ThreadPoolExecutor
    from queue import SimpleQueue

    lines: SimpleQueue[str | None] = SimpleQueue()

    def report(text: str, _: int, __: int) -> None:
        lines.put(text)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(in_context(run), report)
        future.add_done_callback(lambda _: lines.put(None))
        while (text := lines.get()) is not None:
            yield views.progress(text)
    document: Document = future.result()
    return document


# ===== forms ======================================================================================


@functools.cache
def form_token() -> str:
    """Return the token that this process puts into its forms."""
    import secrets

    return secrets.token_urlsafe(16)


# The rows that were just forgotten, in memory alone, until the page that offers an undo is left.
FORGOTTEN: Rows = {}


def forget(request: HttpRequest, settings: Settings) -> Answer:
    """Forget an entry, a day or everything, or undo that. Raises HttpError (400, 403)."""
    from websearch.store.page_store import PageStore

    fields = fields_of(request)
    if not is_same(fields.get("token", ""), form_token()):
        raise HttpError(403, "The form is not from this server.", "Load the history again.")
    store, removed = PageStore(), {}
    try:
        if re.fullmatch("[0-9]{1,18}", fields.get("id", "")):
            removed = history.forget(store, number=int(fields["id"]))
        elif "day" in fields:
            removed = history.forget(store, day=fields["day"])
        elif fields.get("undo") == "yes":
            store.restore({**FORGOTTEN})
        elif fields.get("all") == "yes":
            history.forget(store)
        else:
            raise HttpError(400, "The form does not say what to forget.")
    finally:
        store.close()
    FORGOTTEN.clear()
    FORGOTTEN.update(removed)
    return 303, None, {"Location": "/history?forgotten=yes" if removed else "/history"}


def sign_in(request: HttpRequest, settings: Settings) -> Answer:
    """Return a redirect that sets the session cookie if the token is correct, else the form."""
    fields = fields_of(request)
    target = fields.get("next", "")
    # Browsers treat // and /\\ as the start of another server's URL.
    target = target if re.fullmatch(r"/(?![/\\])[!-~]*", target) else "/"
    if not settings["token"]:
        return 303, None, {"Location": target}
    if not is_same(fields.get("token", ""), settings["token"]):
        return sign_in_page(target, is_wrong=True)
    cookie = f"{COOKIE}={settings['session']}; HttpOnly; SameSite=Strict; Path=/"
    return 303, None, {"Location": target, "Set-Cookie": cookie}


def sign_in_page(target: str, is_wrong: bool) -> Answer:
    """Return the page that asks for the token; target: the path to open afterward."""
    page = views.head("", "Sign in") + views.token_form(target, is_wrong) + views.FOOT
    return 401, page, HTML


PAGES: dict[str, Callable[[Fields, Settings], Iterator[str]]] = {
    "/": search_page,
    "/read": read_page,
    "/check": check_page,
    "/history": history_page,
    "/history/forget": forget_page,
    "/state": state_page,
    "/docs": api_page,
}
FORMS: dict[str, Callable[[HttpRequest, Settings], Answer]] = {
    "/check": show_page,
    "/history/forget": forget,
    "/sign-in": sign_in,
}
