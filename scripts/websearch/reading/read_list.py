"""Read the pages in a list of any length; print JSON Lines.

Memory is bounded, and hosts are treated politely: few connections per host, a pause between
requests, and a longer pause if a host asks for it. A slow host does not delay the others.
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import replace

from websearch.base.calls import cancelled_if, result_or_error, start_thread
from websearch.base.http_client import warn_once
from websearch.kit import (
    DryRun,
    Interrupts,
    JsonLines,
    SearchError,
    check_params,
    deadline_of,
    error_document,
    fit_document,
    log_operation,
    retry_after,
    run_operation,
)
from websearch.pages.fetch.fetch import Fetched, host_and_port, page_headers
from websearch.reading.lists import input_lines
from websearch.reading.page import Page
from websearch.reading.page_reading import PageReading
from websearch.reading.pages_document import pages_document
from websearch.reading.read import COMMANDS as READ_COMMANDS
from websearch.reading.read import run_read, target_of
from websearch.reading.schedule import HostSchedule, Item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.kit import Command, Document, Parameter, ProgressCallback
    from websearch.pages.page_content import PageContent

CONNECTIONS = 16  # pages fetched at once
HOST_PAUSE = 1.0  # seconds between requests to one host, as with well-behaved crawlers
# URLs kept in memory at once.
MAX_ADDRESSES = 10_000
MAX_HOST_ADDRESSES = 100  # URLs per host; more wait in a file, so other hosts get their turn
MAX_IN_FILE = 100_000  # URLs, about 10 MB; with more, the list waits

# fmt: off
# For the command line only. Servers do not read lists; they use READ_COMMANDS.
COMMANDS: dict[str, Command] = {
    "read": {
        **READ_COMMANDS["read"],
        "batch": "urls_from",
        "params": [
            *READ_COMMANDS["read"]["params"],
            {"name": "csv", "type": "bool",
             "help": "with tables N: print that table as CSV, whole"},
            {"name": "urls_from", "type": "str", "verbatim": True,
             "help": "file with one URL per line (- for standard input); prints JSON Lines; "
                     "timeout is per page"},
            {"name": "sitemap", "type": "bool",
             "help": "list the URLs below this one in the site's sitemaps, one per line, up to "
                     "5,000, for urls_from"},
            {"name": "connections", "type": "int", "rare": True,
             "min": 1, "max": 64, "default": CONNECTIONS,
             "help": f"with urls_from: pages fetched at once (default: {CONNECTIONS})"},
            {"name": "host_pause", "type": "float", "rare": True,
             "min": 0, "max": 600, "default": HOST_PAUSE,
             "help": "with urls_from: seconds between requests to one host "
                     f"(default: {HOST_PAUSE:g})"},
        ],
    },
}
# fmt: on


# ===== from a list to pages =======================================================================


class ListReading(PageReading):
    """Reads the pages in a list; a separate thread puts the URLs into the schedule.

    free_slots limits the URLs between the list and the caller, who releases a slot for each
    finished page. failure: the error that stopped the list before its end.
    """

    def __init__(self, params: dict[str, Any], is_done: Callable[[str], bool]) -> None:
        import threading

        # The response at the URL itself is read: no site API and no other version.
        reading = {**params, "raw_html": True}
        super().__init__(HostSchedule(params["host_pause"]), reading, params["connections"])
        self.is_done = is_done
        self.free_slots = threading.Semaphore(MAX_ADDRESSES)
        self.failure: SearchError | None = None
        self.under_way: set[int] = set()  # the numbers of items that were requested but not yielded

    def pages(self) -> Iterator[tuple[Item, Page]]:
        """Yield items and pages as they arrive; raises SearchError for an invalid list.

        After a signal, no more pages are requested, and running requests get time to finish.
        """
        Interrupts.is_held = True
        try:
            with cancelled_if(self.is_ended):
                start_thread(self.read_list)
                for item, page in super().pages():
                    self.under_way.discard(item.number)
                    yield item, page
        except SearchError as error:
            if error.kind != "interrupted":
                raise
        if self.failure:
            raise self.failure

    def is_ended(self) -> bool:
        """Return whether a signal has arrived and there is no running work left to wait for."""
        is_late = not self.under_way or time.monotonic() >= Interrupts.until
        return Interrupts.has_come and is_late

    def read_list(self) -> None:
        """Put every URL in the list that is not done into the schedule.

        If a host has many waiting URLs, the others go to a file and are scheduled at the end.
        """
        import json
        import tempfile

        try:
            with tempfile.TemporaryFile() as later:
                number, room = 0, MAX_IN_FILE
                listed = input_lines(self.params["urls_from"]) if "urls_from" in self.params else ()
                for line in itertools.chain(self.params.get("urls", []), listed):
                    if self.is_done(line):
                        continue
                    if not self.put(number, line, MAX_HOST_ADDRESSES if room else 0):
                        later.write(json.dumps(line).encode() + b"\n")
                        room -= 1
                    number += 1
                later.seek(0)
                for data in later:
                    self.put(number, json.loads(data), 0)
                    number += 1
        except SearchError as error:
            self.failure = error
        except OSError as error:
            message = f"The temporary file of waiting URLs failed: {error.strerror}."
            hint = "Set TMPDIR to a folder with free space."
            self.failure = SearchError("internal", message, hint)
        finally:
            self.schedule.close()

    def put(self, number: int, line: str, limit: int) -> bool:
        """Schedule a URL; return False if limit URLs of its host are already waiting."""
        self.free_slots.acquire()
        address = result_or_error(target_of, line, False)
        if isinstance(address, SearchError):
            self.done.put((Item(number, line, ""), Page(error=address)))
        elif not self.schedule.put(Item(number, line, address), limit):
            self.free_slots.release()
            return False
        return True

    def ask(self, item: Item) -> Fetched | PageContent | SearchError | None:
        """Fetch an item's page; None if the item waits because its host asked for a pause."""
        answer: Fetched | PageContent | SearchError
        if Interrupts.has_come:
            self.schedule.give_back(item)
            return None
        if seconds := self.schedule.seconds_aside(item.address):
            self.schedule.give_back(item)
            return set_aside_error(item, seconds)
        self.under_way.add(item.number)
        answer = self.fetch(item.address)
        rest = requested_pause(answer)
        if not rest:
            self.schedule.give_back(item)
        elif self.schedule.rest(item, rest):
            self.under_way.discard(item.number)
            return None
        return answer


def requested_pause(answer: Fetched | PageContent | SearchError) -> float:
    """Return the seconds that a response asks clients to wait; 0.0 if it asks for none."""
    if isinstance(answer, Fetched) and answer.response.status in (429, 503):
        return retry_after(answer.response) or 0.0
    return 0.0


def set_aside_error(item: Item, seconds: float) -> SearchError:
    """Return the error for a page whose host asks for a longer pause than a list can wait."""
    host = host_and_port(item.address)[0]
    message = f"{host} asked for no requests for {math.ceil(seconds)} seconds."
    details = {"status": 429, "retryable": True, "retry_after": math.ceil(seconds)}
    return SearchError("http", message, "Read this page later.", **details)


# ===== from pages to lines ========================================================================


def run_list(params: dict[str, Any], options: dict[str, Any]) -> int:
    """Read the pages in a list and print a document for each, with the line as its url.

    Returns the exit code. Raises SearchError for invalid parameters.
    """
    command = COMMANDS["read"]
    optional: list[Parameter] = [{**param, "required": False} for param in command["params"]]
    checked = check_params("read", {**command, "params": optional}, params)
    checked.setdefault("max_chars", 0)
    for is_given, message, hint in (
        (checked.get("dry_run"), "dry_run does not work with a list.", "Pass some URLs as {urls}."),
        (checked.get("browser"), "browser does not work with a list: it takes seconds per page.",
         "Pass up to 50 of the URLs as {urls}."),
        (len(checked.get("section", [])) > 1, "A list takes one section for all its pages.",
         "Pass a single {section}, or some URLs as {urls}."),
        (options.get("ordered"), "ordered is for batches of queries: pages come as they are read.",
         "Omit {ordered}: each line has its url."),
    ):  # fmt: skip
        if is_given:
            raise SearchError("invalid_input", message, hint)
    lines = JsonLines(options, "url", checked)
    reading = ListReading(checked, lines.is_done)
    for item, page in reading.pages():
        lines.emit(item.number, item.line, line_or_error(item.line, page, checked))
        reading.free_slots.release()
        if lines.failure:
            break
    lines.lost = len(reading.under_way)
    return lines.finish()


def line_or_error(line: str, page: Page, params: dict[str, Any]) -> Document:
    """Return one page's document, or its error if a bug prevents this."""
    verbose = bool(params.get("verbose"))
    document: Any = result_or_error(line_document, line, page, params, verbose=verbose)
    if isinstance(document, SearchError):
        return {"url": line, **error_document(document)}
    item: Document = document
    return item


def line_document(line: str, page: Page, params: dict[str, Any]) -> Document:
    """Return one page's document: {ok, url, final_url, title, ..., text}, or the error."""
    document = pages_document([replace(page, url=line)], params, deadline_of(params))
    item = {"url": line, **(document["pages"][0] if document["ok"] else document)}
    for warning in document.get("warnings", []):
        warn_once(warning)
    fit_document(item, params["max_chars"], READ_COMMANDS["read"]["expendable"])
    log_operation("read_page.read", params, item)
    return item


def run_sitemap(params: dict[str, Any]) -> Document:
    """Return the URLs listed in a site's sitemaps: {ok, url, sitemaps, count, urls}."""
    from websearch.reading.sitemap import list_addresses

    def operation(checked: dict[str, Any]) -> Document:
        target = target_of(checked["urls"][0], False)
        if len(checked["urls"]) > 1:
            raise SearchError("invalid_input", "sitemap takes one URL.", "Pass one URL only.")
        if checked.get("dry_run"):
            robots = "/".join([*target.split("/")[:3], "robots.txt"])
            raise DryRun({"method": "GET", "url": robots, "headers": page_headers()})
        return list_addresses(target, checked)

    return run_operation("read_page.read", COMMANDS["read"], params, operation, max_chars=0)


def with_table_number(words: list[str]) -> list[str]:
    """Return the words of a command line with a number after each --tables: 0 if there is none."""
    after = [*words[1:], ""]
    return [f"{word}=0" if word == "--tables" and not next_word.isdecimal() else word
            for word, next_word in zip(words, after, strict=True)]  # fmt: skip


def run_csv(params: dict[str, Any], report: ProgressCallback) -> Document:
    """Return {ok, url, csv} for a table of a page, which is not cut; or the error."""
    if len(params.get("urls", [])) != 1 or str(params.get("tables", 0)) == "0":
        hint = "Pass one URL and the number of a table with {tables}; {tables} 0 lists them."
        error = SearchError("invalid_input", "csv needs one table of one page.", hint)
        return error_document(error)
    document = run_read({**params, "max_chars": 0}, report, local_files=True)
    if not document["ok"] or document.get("dry_run"):
        return document
    page = document["pages"][0]
    from websearch.reading.page_tables import as_csv

    return {"ok": True, "url": page["url"], "csv": as_csv(page["text"])}


def run_command(
    params: dict[str, Any],
    report: ProgressCallback,
    options: dict[str, Any],
) -> Document | int:
    """Read the pages on the command line: as one document, or as JSON Lines.

    A last word that contains a space is the question, because no URL contains spaces.
    """
    *urls, last = params.get("urls") or [""]
    if urls and "query" not in params and " " in last.strip():
        params = {**params, "urls": urls, "query": last}
    if params.get("sitemap"):
        document = run_sitemap(params)
        if document["ok"] and not document.get("dry_run"):
            options.setdefault("format", "markdown")  # this prints one line per page
        return document
    if params.pop("csv", False) not in (False, "false"):
        document = run_csv(params, report)
        if document["ok"]:
            options.setdefault("format", "markdown")  # which prints the CSV alone
        return document
    if "urls_from" in params or (params.get("urls") and options.get("jsonl")):
        return run_list(params, options)
    return run_read(params, report, local_files=True)
