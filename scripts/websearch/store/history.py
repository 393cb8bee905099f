"""The history of searches and reads on this machine, with time and caller, for the desk.

An entry has the question or URL and the parameters that reopen its answer, not the answer. Entries
are in the store and expire after 30 days, like its pages.
"""

from __future__ import annotations

import time

from websearch.kit import dump_json, json_fields, one_line
from websearch.store.page_store import MOMENT, PageStore, storable

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from typing import Any

    from websearch.store.page_store import Rows

MAX_ENTRIES = 500  # entries shown
LONGEST_TEXT = 300  # shown characters of a question or URL
SHOWN_PARAMS = ("engine", "focus", "since", "site", "count")
LONGEST_CALLER = 60
COMMAND_LINE = "command"  # the caller shown for the command line
SEARCH, BRIEF, READ = "search", "brief", "read"  # kinds of entries
# Kind of entry -> the parameter with the question; its lines are the entry's text.
ASKED = {READ: "urls", BRIEF: "queries", SEARCH: "query"}
_OF_DAY = "date(moment, 'unixepoch', 'localtime') = ?"


def note(store: PageStore, caller: str, kind: str, params: dict[str, Any], is_good: bool) -> None:
    """Add an entry for a call.

    caller: such as COMMAND_LINE. kind: SEARCH, BRIEF or READ. params: the call's; those that
    reopen its answer are kept. is_good: whether the call has an answer.
    """
    asked = params[ASKED[kind]]
    texts = asked if isinstance(asked, list) else [asked]
    shown = dump_json({name: params[name] for name in SHOWN_PARAMS if name in params})
    text = storable("\n".join(texts))
    row = (time.time(), one_line(caller, LONGEST_CALLER), kind, text, shown, int(is_good))
    columns = "moment, caller, kind, text, params, ok"
    statement = f"INSERT INTO history ({columns}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
    store.use(lambda db: db.execute(statement, row), None, writing=True)


def entries(store: PageStore) -> list[dict[str, Any]]:
    """Return the entries, newest first: {id, moment, caller, kind, text, params, ok}.

    SQLite stores any type in any column, so a damaged file may contain other types.
    """
    names = ("id", "moment", "caller", "kind", "text", "params", "ok")
    texts = ", ".join(f"ifnull(CAST({name} AS TEXT), '')" for name in names[2:6])
    columns = f"id, {MOMENT.format('moment')}, {texts}, ifnull(ok = 1, 0)"
    query = f"SELECT {columns} FROM history ORDER BY id DESC LIMIT {MAX_ENTRIES}"  # noqa: S608
    found = [dict(zip(names, row, strict=True)) for row in store.rows(query)]
    return [
        {
            **entry,
            "text": entry["text"][:LONGEST_TEXT],
            "params": json_fields(entry["params"]) or {},
        }
        for entry in found
    ]


def forget(store: PageStore, number: int | None = None, day: str = "") -> Rows:
    """Remove an entry, or the entries of a day (YYYY-MM-DD in local time), and their data.

    The data are the answers to their questions, and the pages of these answers or at their URLs.
    Without number and day, the whole store is cleared. Returns the removed rows of an entry or day,
    for PageStore.restore.
    """
    if number is None and not day:
        store.clear()
        return {}

    condition, value = ("id = ?", number) if number is not None else (_OF_DAY, day)

    def choose(db: sqlite3.Connection) -> tuple[list[str], list[str], list[int]]:
        query = f"SELECT id, kind, ifnull(CAST(text AS TEXT), '') FROM history WHERE {condition}"  # noqa: S608
        queries: list[str] = []
        urls: list[str] = []
        entries: list[int] = []
        for row_id, kind, text in db.execute(query, (value,)):
            (urls if kind == READ else queries).extend(text.split("\n"))
            entries.append(row_id)
        return queries, urls, entries

    return store.forget(choose) or {}
