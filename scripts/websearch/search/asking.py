"""Ask an engine of the table, whatever it is: a module of this package, or a script of its own."""

from __future__ import annotations

import time

from websearch.apis.table import ASKED_PARAMS, ENGINES, FILTERS, check_filters, has_key, load_module
from websearch.core.common import SearchError, drop_empty
from websearch.core.documents import deadline_of, run_operation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.apis.pacing import PacedEngine
    from websearch.core.common import Document, ProgressCallback


def wait_for_turn(
    name: str, params: dict[str, Any], report: ProgressCallback = None
) -> PacedEngine | None:
    """Wait for the turn of an engine that is asked in its pace; return None for other engines.

    What the engine cannot do is refused first, so that nobody waits for it. Raises SearchError; an
    engine that rests is refused, too.
    """
    from websearch.apis.pacing import PacedEngine, present_state

    if not is_paced(name):
        present_state(name).check_rest(name)
        return None
    check_filters(name, params)
    load_module(name).first_request(params)
    turn = PacedEngine(name, deadline_of(params), [], report)
    turn.take_turn()
    return turn


def is_paced(name: str) -> bool:
    """Return whether an engine is asked in its pace: it is asked without a key."""
    return not ("function" in ENGINES[name] or has_key(name))


def ask_engine(
    name: str,
    params: dict[str, Any],
    report: ProgressCallback = None,
    turn: PacedEngine | None = None,
) -> Document:
    """Search with an engine; return its own document, nothing cut. Never raises.

    params: query, count, filters, timeout, dry_run, verbose; others are left out. turn: of
    wait_for_turn, if the caller has waited for the engine.
    """
    passed = ("query", "count", "timeout", "dry_run", "verbose", *FILTERS)
    asked = {key: params[key] for key in passed if key in params}
    asked["max_chars"] = 0
    started = time.monotonic()
    document = send_question(name, asked, report, turn)
    if not is_paced(name) and not params.get("dry_run"):
        from websearch.apis.pacing import note_outcome

        error = None if document["ok"] else error_from_document(document)
        note_outcome(name, error, time.monotonic() - started)
    return document


def error_from_document(document: Document) -> SearchError:
    """Return the error that an error document stands for."""
    details = dict(document["details"])
    kind, hint = details.pop("kind"), details.pop("hint", "")
    return SearchError(kind, document["error"], hint, **details)


def send_question(
    name: str, asked: dict[str, Any], report: ProgressCallback, turn: PacedEngine | None
) -> Document:
    """Return the document of an engine of the table. Never raises."""
    entry = ENGINES[name]
    if "function" in entry:
        asked["count"] = min(asked["count"], entry["max_count"])
        search = getattr(load_module(name), entry["function"])
        document: Document = search({**asked, **entry["params"]}, report)
        return document
    from websearch.search.engine_search import search_engine

    def operation(params: dict[str, Any]) -> Document:
        return search_engine(name, params, report, turn)

    return run_operation(f"{name}.search", {"params": ASKED_PARAMS}, asked, operation)


def results_of(name: str, document: Document, count: int) -> list[dict[str, Any]]:
    """Return an engine's results; empty fields are left out.

    Fields: title, url, snippet, date, author and license if the terms of the source ask to show
    them, and text if the provider has read the page.
    """
    if "function" in ENGINES[name]:
        results = load_module(name).as_results(document)
    else:
        from websearch.search.engine_search import as_results

        results = as_results(document)
    names = ("title", "url", "snippet", "date", "author", "license", "text")
    return [drop_empty({key: item.get(key) for key in names}) for item in results[:count]]
