"""The results that a person saw last at a terminal: open and read take them by number.

They are in the store, so `cache clear` and the desk's history remove them with their question.
Results that the engine's terms forbid to store are not kept.
"""

from __future__ import annotations

from contextlib import closing

from websearch.engines.table import ENGINES
from websearch.kit import SearchError, drop_empty
from websearch.store.page_store import PageStore
from websearch.ways_in.terminal import View, items_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document

KEY = "last results at a terminal"  # in the store; no answer's key, which is a hash
MAX_AGE = 7 * 24 * 3600.0  # seconds


def keep(document: Document, view: View) -> None:
    """Keep the results of a document that a person sees."""
    outcomes = [document, *document.get("queries", [])]
    names = {name for each in outcomes for name in each.get("engines", [each.get("engine")])}
    may_be_stored = all(name not in ENGINES or ENGINES[name].is_storable() for name in names)
    items = items_of(document) if may_be_stored else []
    query = view.params.get("query") or "\n".join(map(str, view.params.get("queries", [])))
    pairs = [drop_empty({"title": item.get("title"), "url": item["url"]}) for item in items]
    content = {"query": query, "urls": [item["url"] for item in items], "results": pairs}
    with closing(PageStore()) as store:
        store.put_answer(KEY, content)


def numbered(number: str) -> dict[str, Any]:
    """Return a result, {url, title?}, of the last ones. Raises SearchError (invalid_input)."""
    with closing(PageStore()) as store:
        answer = store.get_answer(KEY, MAX_AGE) or {"content": {}}
    results = answer["content"].get("results") or []
    if not results:
        message = "No results of a search are kept here."
        hint = "Search first. Results that an engine forbids to store are not kept."
        raise SearchError("invalid_input", message, hint)
    if not 0 < int(number[:9]) <= len(results):
        asked = answer["content"]["query"].replace("\n", " · ")
        message = f"There is no result {number}: the last search, {asked!r}, found {len(results)}."
        raise SearchError("invalid_input", message, f"Give a number from 1 to {len(results)}.")
    result: dict[str, Any] = results[int(number) - 1]
    return result
