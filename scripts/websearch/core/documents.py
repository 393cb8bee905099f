"""Documents: how a command makes its own, how it is cut to fit, how it is shown as Markdown.

The three single files carry a copy of the block; see common.py.
"""

from __future__ import annotations

import os
import sys
import time

from websearch.core.common import (
    DryRun,
    SearchError,
    clean_tree,
    drop_empty,
    dump_json,
    error_document,
    make_harmless,
    object_field,
    one_line,
    shorten,
)
from websearch.core.parameters import DEFAULT_MAX_CHARS, DEFAULT_TIMEOUT, check_params

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from websearch.core.common import Document, Fields

# ===== shared block: documents (edit websearch/core/documents.py, then run `make sync`) ===========

# Fields that are useless once cut: a shortened URL or key is a wrong one.
_NEVER_CUT = frozenset(
    "url link id key summarizer_key callback_key query hint kind provider engine fetched_at "
    "warnings attempts".split()
)
# How a document is cut until it fits, in this order: what -> the least that stays of it.
_CUTS = (
    ("fields", 0),  # those that the command's table names in expendable
    ("items", 3),  # of every list, the last ones first
    ("characters", 1_000),  # of every text
    ("items", 1),
    ("characters", 250),
    ("items", 0),
    ("documents", 1),  # of a batch
)


def run_operation(
    span: str,
    spec: Fields,
    raw_params: Fields,
    operation: Callable[[Fields], Document],
    max_chars: int = DEFAULT_MAX_CHARS,
) -> Document:
    """Check the parameters, run the operation, and return its document; raise nothing but Ctrl-C.

    span is PROVIDER.COMMAND, as it appears in the log. operation(params) gets checked parameters
    and returns a document, or raises SearchError or DryRun. max_chars: the limit of the document if
    the parameters name none.
    """
    params: Fields = {}
    try:
        params = check_params(span.partition(".")[2], spec, raw_params)
        document = operation(params)
    except DryRun as planned:
        document = {"ok": True, "dry_run": True, "request": planned.args[0]}
    except SearchError as error:
        document = error_document(error)
    except Exception as error:  # noqa: BLE001  a defect of ours: the caller still gets a document
        document = internal_error(error, bool(params.get("verbose")))
    fit_document(document, params.get("max_chars", max_chars), spec.get("expendable", ()))
    log_operation(span, params, document)
    return document


def internal_error(error: Exception, verbose: bool) -> Document:
    """Return the document for a defect of the script; the traceback goes to stderr if verbose."""
    import traceback

    if verbose:
        traceback.print_exception(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(frame.filename)} line {frame.lineno}"
    message = f"Internal error: {type(error).__name__} at {where}."
    hint = "This is a defect of the program: report it. With {verbose} it says where it happened."
    return error_document(SearchError("internal", message, hint))


def deadline_of(params: Fields, default: float = DEFAULT_TIMEOUT) -> float:
    """Return the deadline of a call on time.monotonic()'s clock."""
    return time.monotonic() + float(params.get("timeout", default))


def log_operation(span: str, params: Fields, document: Document) -> None:
    """Append one JSON line for an API operation to $WEB_SEARCH_LOG, and to stderr if verbose.

    Silent otherwise, because queries are private. A log that cannot be written costs no answer.
    """
    path, verbose = os.environ.get("WEB_SEARCH_LOG"), params.get("verbose")
    if not path and not verbose:
        return
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    record = {"span": span, "time": now, **drop_empty({"query": params.get("query")})}
    record["hasResults"] = document["ok"]
    if document["ok"]:
        record["resultLen"] = len(document.get("text") or dump_json(document))
    else:
        record["error"] = document["error"]
    line = dump_json(clean_tree(record)) + "\n"
    if verbose:
        sys.stderr.write(line)
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        if path:
            with os.fdopen(os.open(os.path.expanduser(path), flags, 0o600), "ab") as log:
                log.write(line.encode("utf-8", "replace"))
    except OSError as error:
        sys.stderr.write(f"WEB_SEARCH_LOG could not be written: {error.strerror}\n")


def fit_document(
    document: Document,
    max_chars: int,
    expendable: tuple[str, ...] = (),
    measure: Callable[[Document], int] | None = None,
) -> None:
    """Cut a document to max_chars characters (0: no limit); "truncated" says what was cut.

    expendable: fields that go first, the first of them before the others. measure: returns the
    length of a document as it will be printed, by default as JSON. _CUTS says what is cut in which
    order; of each no more than necessary.
    """
    from bisect import bisect_right

    measure = measure or (lambda document: len(dump_json(document)))
    length = measure(document)
    if not max_chars or length <= max_chars:
        return
    limits = dict.fromkeys(("items", "characters", "documents"), length)
    limits["fields"] = len(expendable)

    def cut(name: str, limit: int) -> Document:
        return cut_document(document, {**limits, name: limit}, expendable, max_chars)

    def cut_length(limit: int) -> int:
        return measure(cut(name, limit))

    for name, least in _CUTS:
        most, limits[name] = limits[name], min(least, limits[name])
        if cut_length(limits[name]) <= max_chars:
            limits[name] += bisect_right(range(limits[name] + 1, most), max_chars, key=cut_length)
            break
    shorter = cut(name, limits[name])
    document.clear()
    document.update(shorter)


def cut_document(
    document: Document, limits: dict[str, int], expendable: tuple[str, ...], max_chars: int
) -> Document:
    """Return a document within limits (see fit_document), with a note of what was cut."""
    note: Fields = {"left_out": [], "items_dropped": {}, **object_field(document, "truncated")}
    note["hint"] = (
        f"Cut to fit {{max_chars}} {max_chars}; a larger one shows more. Ask for fewer results, or "
        "narrow the query, to see more of each."
    )
    gone = expendable[: len(expendable) - limits["fields"]]
    left_out, dropped = dict.fromkeys(note["left_out"]), dict(note["items_dropped"])

    def trim(value: Any, field: str = "") -> Any:
        if isinstance(value, dict):
            left_out.update(dict.fromkeys(name for name in gone if value.get(name)))
            return {name: trim(item, name) for name, item in value.items() if name not in gone}
        if field in _NEVER_CUT:
            return value
        if isinstance(value, list):
            of_batch = value and isinstance(value[0], dict) and "ok" in value[0]
            limit = limits["documents" if of_batch else "items"]
            if len(value) > limit:
                dropped[field] = dropped.get(field, 0) + len(value) - limit
            return [trim(item, field) for item in value[:limit]]
        is_text = isinstance(value, str) and not value.startswith(("http://", "https://"))
        if is_text and len(value) > limits["characters"]:
            note["texts_shortened_to"] = limits["characters"]
            return shorten(value, limits["characters"])
        return value

    trimmed: Document = trim(document)
    note |= {"left_out": list(left_out), "items_dropped": dropped}
    return {**trimmed, "truncated": drop_empty(note)}


def frame_markdown(document: Document, *blocks: str) -> str:
    """Return a document as Markdown: what every command says, around the blocks of this one."""
    if "request" in document:
        return f"```json\n{dump_json(document['request'], pretty=True)}\n```"
    warnings = document.get("warnings") or object_field(document, "details").get("warnings", [])
    failed = [
        f"{attempt.get('engine') or attempt['provider']} failed: {attempt['error']}"
        for attempt in document.get("attempts", [])
        if "error" in attempt
    ]
    framed = [
        f"# {one_line(document['query'], 200)}" if document.get("query") else "",
        "" if document["ok"] else error_markdown(document),
        *(f"> {make_harmless(note)}" for note in (*warnings, *failed)),
        *blocks,
        object_field(document, "truncated").get("hint", ""),
    ]
    return "\n\n".join(block for block in framed if block)


def error_markdown(document: Document) -> str:
    """Return an error document as Markdown. That nothing was found is an answer, not an error."""
    kind = document["details"]["kind"]
    head = "**Nothing found:**" if kind == "no_results" else f"**Error ({kind}):**"
    return f"{head} {make_harmless(document['error'])}\n\n{error_advice(document)}".strip()


def error_advice(document: Document) -> str:
    """Return what an error document says to do next, and when to try again if it says so."""
    details = document["details"]
    wait = details.get("retry_after") or 0
    again = f"Try again in {max(1, round(wait))} s." if wait > 0 else ""
    return f"{details.get('hint', '')} {again}".strip()


# ===== end of shared block: documents =============================================================
