"""What was searched and read on this machine, when and by whom: the desk shows it.

An entry holds the question or address and the parameters that open its answer again, no answer.
Entries stand in the store and go with its pages after 30 days.
"""

from __future__ import annotations

import contextlib
import contextvars
import json
import time

from websearch.common import dump_json, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.store_file import StoreFile

MAX_ENTRIES = 500  # that are shown
LONGEST_TEXT = 300  # characters of a question or address
SHOWN_PARAMS = ("engine", "focus", "since", "site", "count")
# Who asks, for the calls of a context; without it, who this process serves: "command", or the MCP
# client that has started it.
_CALLER = contextvars.ContextVar("caller", default="")
_PROCESS = {"caller": "command"}


@contextlib.contextmanager
def called_by(caller: str) -> Iterator[None]:
    """Name who asks while the block runs."""
    token = _CALLER.set(one_line(caller, 60))
    try:
        yield
    finally:
        _CALLER.reset(token)


def serve_caller(caller: str) -> None:
    """Name whom this process serves from now on."""
    _PROCESS["caller"] = one_line(caller, 60)


def note(store: StoreFile, kind: str, text: str, params: dict[str, Any], is_good: bool) -> None:
    """Add an entry. kind: search, brief or read; text: the questions or addresses, a line each.

    params: of the call; those that open its answer again are kept. is_good: it has an answer.
    """
    shown = dump_json({name: params[name] for name in SHOWN_PARAMS if name in params})
    row = (
        time.time(),
        _CALLER.get() or _PROCESS["caller"],
        kind,
        text[:LONGEST_TEXT],
        shown,
        int(is_good),
    )

    def write(db: sqlite3.Connection) -> None:
        columns = "moment, caller, kind, text, params, ok"
        db.execute(f"INSERT INTO history ({columns}) VALUES (?, ?, ?, ?, ?, ?)", row)  # noqa: S608

    store.use(write, None, writing=True)


def noting_reads(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that reads pages as run does, and notes in the history which ones.

    run gets the store, so that it can keep the pages. Calls that are refused as invalid, and files
    of this machine, are not noted.
    """

    def run_and_note(params: dict[str, Any], *others: Any, **options: Any) -> Any:
        from websearch.store import PageStore

        with contextlib.closing(PageStore()) as store:
            document = run(params, *others, store=store, **options)
            pages = document.get("pages", []) if isinstance(document, dict) else []  # JSON Lines
            urls = [page["url"] for page in pages]
            if urls and all(url.startswith("http") for url in urls):
                note(store, "read", "\n".join(urls), params, document["ok"])
        return document

    return run_and_note


def entries(store: StoreFile) -> list[dict[str, Any]]:
    """Return the newest entries first: {id, moment, caller, kind, text, params, ok}."""

    def read(db: sqlite3.Connection) -> list[Any]:
        # SQLite keeps any type in any column, so a damaged file may hold another type than ours.
        columns = (
            "id, CAST(moment AS REAL), CAST(caller AS TEXT), CAST(kind AS TEXT), "
            "CAST(text AS TEXT), CAST(params AS TEXT), CAST(ok AS INTEGER)"
        )
        query = f"SELECT {columns} FROM history ORDER BY id DESC LIMIT ?"  # noqa: S608
        return db.execute(query, (MAX_ENTRIES,)).fetchall()

    names = ("id", "moment", "caller", "kind", "text", "params", "ok")
    found = [dict(zip(names, row, strict=True)) for row in store.use(read, [])]
    return [{**entry, "params": params_of(entry["params"])} for entry in found]


def params_of(text: Any) -> dict[str, Any]:
    """Return an entry's parameters, {} if they cannot be read."""
    try:
        params = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return params if isinstance(params, dict) else {}


def forget(store: StoreFile, number: int | None = None, day: str = "") -> None:
    """Remove an entry, those of a day (YYYY-MM-DD in local time), or, with neither, all."""

    def write(db: sqlite3.Connection) -> None:
        if number is not None:
            db.execute("DELETE FROM history WHERE id = ?", (number,))
        elif day:
            of_day = "date(moment, 'unixepoch', 'localtime') = ?"
            db.execute(f"DELETE FROM history WHERE {of_day}", (day,))  # noqa: S608  words of ours
        else:
            db.execute("DELETE FROM history")

    store.use(write, None, writing=True)
