"""The store: answers by key and pages by URL, in one SQLite file.

It does not know the engines. It never raises an error for the file's state: a store that is locked,
full or read-only is a miss with a warning, and the caller continues without it; a damaged store is
recreated.

The file may belong to GLSI, a Go program with the same variables: its only table, `cache`, also
contains these answers, and its schema never changes.
"""

from __future__ import annotations

import _thread  # contains threading's lock; importing threading takes 2 ms
import contextlib
import functools
import json
import os
import re
import time

from websearch.kit import json_fields
from websearch.store import database, full_text
from websearch.store.database import StoreFile, store_errors
from websearch.store.full_text import MERGED_AT_ONCE, TEXT, TITLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    Rows = dict[str, list[tuple[Any, ...]]]  # table -> whole rows

ONLY_CITED = "(cited) "  # in a page's hosts: no search or read has shown its URL
LAST_RESULTS = "last results at a terminal"  # key of these results; answers have hashes as keys
CLAIM = "claim "  # prefix of the key for an answer that a caller is requesting
MAX_STORE_BYTES = 256 * 1024 * 1024  # file size: about 10,000 pages with their index
# The maximum age of stored data: callers pass max_age, and is_young applies it. Searches and briefs
# use their ttl, unless force or stale is set; a read reuses parts of a page that its client is
# reading; recall uses everything.
DEFAULT_TTL = "24h"
PART_SECONDS = 3_600.0
KEEP_SECONDS = 30 * 86_400.0  # older answers, pages and history entries are removed
MAX_TEXT_CHARS = 500_000  # per page: a long book
MAX_OUTSIDE_CHARS = 20_000  # characters per page, in the text that rules dropped
MAX_TITLE_CHARS = 1_000  # a longer title is text, and the index weighs titles five times as much
MAX_DATE_CHARS = 100  # a longer value is not a date
# A file above its limit shrinks after the answer is out, in steps between which others write. It
# stays within a tenth above its limit.
UPKEEP_SECONDS = 1.0  # seconds for all steps of a call
WAIT_SECONDS = 0.5  # maximum wait for a server's answer; other programs wait for the end
REMOVED_PART = 32  # a step removes this part of the pages and answers, a call four such parts
REMOVED_PARTS = 4
PAGES_AT_ONCE = 25  # pages per step at most: about 0.1 s
STORED_UNTIL = 1.05  # share of the limit; a merge may temporarily add as much
TABLES = {"answers": "cache", "pages": "pages", "history": "history"}  # kind -> table
FORGET_SECONDS = 2.0  # for removing words from the index before the answer
FORGOTTEN_SECONDS = 60.0  # after the answer
CLAIM_SECONDS = 5.0  # longer than engines take; a killed caller blocks other callers for this long
NO_FULL_TEXT = (
    "Stored pages cannot be searched: the SQLite of this Python lacks FTS5. Use another Python, "
    "such as uv's."
)
ROUNDING_SECONDS = 1.0  # a stored time may be this far in the future
NEVER = float("inf")  # a time that never comes

_EPOCH = "(julianday(updated_at) - 2440587.5) * 86400.0"  # GLSI's times are UTC text
_TIMESTAMP = "strftime('%Y-%m-%d %H:%M:%f', ?, 'unixepoch')"
MOMENT = "max(0.0, min(253402300799.0, ifnull(CAST({} AS REAL), 0.0)))"  # until the year 9999
_FETCHED_AT = MOMENT.format("fetched_at")
_PAGE_FIELDS = (
    "url", "final_url", "published", "updated", "author", "truncated", "title", "text", "outside",
    "fetched_at",
)  # fmt: skip
_PAGES = (
    "SELECT CAST(url AS TEXT), ifnull(CAST(final_url AS TEXT), ''), "  # noqa: S608
    "ifnull(CAST(published AS TEXT), ''), ifnull(CAST(updated AS TEXT), ''), "
    "ifnull(CAST(author AS TEXT), ''), truncated, "
    f"{TITLE}, {TEXT}, ifnull(CAST(outside AS TEXT), ''), {_FETCHED_AT} FROM pages"
)
_SPENT = (
    "SELECT CAST(engine AS TEXT), CAST(requests AS INTEGER) FROM spending WHERE month = ? "
    "ORDER BY engine"
)
_upkeep = _thread.allocate_lock()  # one thread of this process at a time

_READ = (
    "SELECT 1 FROM pages WHERE (url IN (?1, ?2) OR final_url IN (?1, ?2)) "
    "AND NOT instr(hosts, '(cited)') LIMIT 1"
)
# Search queries for a URL that was shown, and the characters that follow it there.
_SHOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("SELECT 1 FROM cache WHERE instr(content, ?) OR instr(content, ?) LIMIT 1", ('"', '/"')),
    (_READ, ("", "/")),
    (
        "SELECT 1 FROM history WHERE kind = 'read' AND instr(text || char(10), ?) LIMIT 1",
        ("\n",),
    ),
)


class PageStore(StoreFile):
    """One call's access to the store, which is opened at first use. Call close() at the end.

    path: the file; "" means $GLSI_DB_PATH or ~/.glsi/cache.db. ":memory:" keeps nothing.
    max_bytes: the limit of the file; the oldest pages and answers are removed first.
    warnings: sentences about failures and repairs, each once.
    """

    def __init__(self, path: str = "", max_bytes: int = MAX_STORE_BYTES) -> None:
        super().__init__(path)
        self._max_bytes = max_bytes
        self._is_large = self._has_forgotten = False  # work for which the answer does not wait

    # ----- answers

    def get_answer(self, key: str, max_age: float | None) -> dict[str, Any] | None:
        """Return {content, updated_at (seconds since 1970)} of an answer younger than max_age.

        max_age of None means any age. A row without a JSON object (GLSI's text) is a miss.
        """
        query = f"SELECT content, {_EPOCH} FROM cache WHERE query_hash = ?"  # noqa: S608
        for text, updated_at in self.rows(query, key):
            content = json_fields(text)
            if content is not None and is_young(updated_at, max_age):
                return {"content": content, "updated_at": updated_at}
        return None

    def put_answer(self, key: str, content: dict[str, Any]) -> None:
        """Store an answer; content has "query" (the original text) and "urls" (a list).

        Its age counts from "fetched_at" (UTC) in content, or from now: completing an answer later
        does not make it younger.
        """
        text = storable(json.dumps(content, ensure_ascii=False, separators=(",", ":")))

        def write(db: sqlite3.Connection) -> None:
            moment = f"ifnull(strftime('%Y-%m-%d %H:%M:%f', ?), {_TIMESTAMP})"
            statement = f"INSERT OR REPLACE INTO cache VALUES (?, ?, {moment})"  # noqa: S608
            db.execute(statement, (key, text, content.get("fetched_at"), time.time()))

        self._put(write)

    def claim(self, key: str) -> bool:
        """Claim an answer for this caller; return whether no other caller has claimed it yet.

        A claim lasts at most CLAIM_SECONDS, because its caller may have been killed; release ends
        it. Without a store, every caller gets its claim.
        """
        now, row = time.time(), f"{CLAIM}{key}"

        def write(db: sqlite3.Connection) -> bool:
            old = "DELETE FROM cache WHERE query_hash = ? AND NOT "
            between = f"{_EPOCH} BETWEEN ? AND ?"  # a later time: the clock was set back
            bounds = (now - CLAIM_SECONDS, now + ROUNDING_SECONDS)
            db.execute(old + between, (row, *bounds))
            insert = f"INSERT OR IGNORE INTO cache VALUES (?, '', {_TIMESTAMP})"  # noqa: S608
            return bool(db.execute(insert, (row, now)).rowcount)

        return bool(self.use(write, True, writing=True))

    def release(self, key: str) -> None:
        """End a claim."""
        statement = "DELETE FROM cache WHERE query_hash = ?"
        self.use(lambda db: db.execute(statement, (f"{CLAIM}{key}",)), None, writing=True)

    # ----- pages

    def get_pages(self, urls: list[str], max_age: float | None) -> dict[str, dict[str, Any]]:
        """Return URL as requested -> page, for pages younger than max_age (None: any age).

        Fields of a page: url, final_url, published, title, text (texts, "" if unknown), truncated
        (whether the page continues after the text), fetched_at (seconds since 1970), and if not
        empty updated, author and outside (see reading.page.Page).
        """
        pages: dict[str, dict[str, Any]] = {}
        for start in range(0, len(urls), 500):  # SQLite allows at least 999 variables
            some = {storable(url): url for url in urls[start : start + 500]}
            marks = ", ".join("?" * len(some))
            for page in map(page_of, self.rows(f"{_PAGES} WHERE url IN ({marks})", *some)):
                if is_young(page["fetched_at"], max_age):
                    pages[some[page["url"]]] = page
        return {url: pages[url] for url in urls if url in pages}

    def put_pages(self, pages: list[dict[str, Any]], deadline: float = NEVER) -> None:
        """Store pages (url and the other fields of get_pages) and their words.

        Each page has its own transaction, so other processes can write in between. deadline: on the
        clock of time.monotonic(); pages are not stored after it.
        """
        for page in pages:
            if page.get("url") and time.monotonic() < deadline:
                self._put(functools.partial(put_page, row=page_row(page)))

    def has_shown(self, url: str) -> bool:
        """Return whether a search, a read or the text of a page has shown a URL."""
        url = storable(url).rstrip("/")
        if any(self.rows(query, *[f"{url}{end}" for end in ends]) for query, ends in _SHOWN):
            return True
        words = " ".join(re.findall(r"[^\W_]+", full_text.fold(url)))
        query = (
            "SELECT 1 FROM page_index CROSS JOIN pages ON id = page_index.rowid "
            "WHERE page_index MATCH ? AND instr(text, ?) LIMIT 1"
        )
        return bool(self.use(full_text.has_index, False)) and bool(
            self.rows(query, f"{full_text.fts5_string(words)} *", url)
        )

    def mark_cited(self, urls: Sequence[str]) -> None:
        """Mark pages that only a check has read, until a search or read stores them again."""
        statement = "UPDATE pages SET hosts = hosts || ? WHERE url = ? AND NOT instr(hosts, ?)"
        rows = [(ONLY_CITED, storable(url), ONLY_CITED) for url in urls]
        self.use(lambda db: db.executemany(statement, rows), None, writing=True)

    def recall(self, words: str, count: int, site: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Return up to count pages that contain the words, best first, with get_pages' fields.

        Pages with all words come before pages with some. site: hosts, subdomains included.
        """
        hosts = [f".{host_suffix(host)}" for host in site]
        count = max(0, min(count, 1_000))

        def read(db: sqlite3.Connection) -> list[Any]:
            ids = full_text.find_pages(db, storable(words), hosts, count)
            query = f"{_PAGES} WHERE id = ?"  # another caller may have removed the page
            return [row for page_id in ids for row in db.execute(query, (page_id,))]

        found = [page_of(row) for row in self.use(read, [])]
        if not self.use(full_text.has_full_text, True):
            self.warnings.append(NO_FULL_TEXT)
        return found

    def count_pages(self, words: str) -> int:
        """Count the pages that contain all words."""
        return int(self.use(lambda db: full_text.count_pages(db, storable(words)), 0))

    def near_words(self, words: str) -> list[str]:
        """Return words in stored pages that are spelled almost like these words."""
        found: list[str] = self.use(lambda db: full_text.near_words(db, storable(words)), [])
        return found

    # ----- requests that cost money

    def add_spent(self, month: str, engine: str, requests: int) -> dict[str, int]:
        """Count requests to a paid engine in a month (YYYY-MM); return spent(month), in one step.

        A negative number subtracts requests. Returns {} if they cannot be counted.
        """

        def write(db: sqlite3.Connection) -> dict[str, int]:
            db.execute(database.ADD_SPENT, (month, engine, requests))
            return dict(db.execute(_SPENT, (month,)))

        counts: dict[str, int] = self.use(write, {}, writing=True)
        return counts

    def spent(self, month: str) -> dict[str, int]:
        """Return engine -> requests in a month (YYYY-MM), without unused engines.

        SQLite stores any type in any column, so a damaged file may contain other types.
        """
        return {engine: requests for engine, requests in self.rows(_SPENT, month) if requests}

    # ----- housekeeping

    def clear(self, query: str = "") -> dict[str, int]:
        """Remove everything, or the data of a query; return the removed rows per kind.

        A query's data are its answers, their pages and its history entries. Queries are compared
        trimmed and in lower case. Removed data is overwritten and the file shrinks; spending counts
        are kept.
        """
        nothing = {"answers": 0, "pages": 0, "history": 0}
        if self._db is None and self.path and not os.path.lexists(self.path):
            return nothing  # do not create a file for this
        if query:
            removed = self.forget(lambda _: ([query], [], [])) or {}
            return {name: len(removed.get(table, ())) for name, table in TABLES.items()}
        counts = self.use(count_rows, nothing)
        return {name: counts[name] for name in nothing} if self.clear_file() else nothing

    def forget(
        self, choose: Callable[[sqlite3.Connection], tuple[list[str], list[str], list[int]]]
    ) -> Any:
        """Remove the data of queries and URLs; return the removed Rows; None if that failed.

        choose: returns the queries whose answers, pages and entries to remove, the pages' URLs, and
        the numbers of history entries.
        """

        def write(db: sqlite3.Connection) -> Rows:
            db.execute("PRAGMA secure_delete = ON")
            return take_queries(db, *choose(db))

        removed = self.use(write, None, writing=True)
        end = time.monotonic() + FORGET_SECONDS
        self._merge(-MERGED_AT_ONCE)  # only this removes the words from the index
        self._has_forgotten = not self.finish_merges(end)
        return removed

    def restore(self, rows: Rows) -> None:
        """Store rows again that forget removed, unless newer rows exist."""
        self.use(functools.partial(put_rows, rows=rows), None, writing=True)

    def finish_merges(self, end: float) -> bool:
        """Merge parts of the index until the time end; shrink the file; return whether all is done.

        end: on the clock of time.monotonic().
        """
        while is_left := self._merge(MERGED_AT_ONCE):
            if time.monotonic() >= end:
                break
        self._release(0, end)
        return not is_left

    def stats(self) -> dict[str, Any]:
        """Return path, bytes, answers, pages, history, oldest and newest (UTC)."""
        counts = self.use(count_rows, {"answers": 0, "pages": 0, "history": 0})
        size = database.size_on_disk(self.path) + database.size_on_disk(f"{self.path}-wal")
        return {"path": self.path, "bytes": size, **counts}

    def _merge(self, blocks: int) -> bool:
        """Merge parts of the index in a transaction; see full_text.merge_index."""
        merge = functools.partial(full_text.merge_index, blocks=blocks)
        return bool(self.use(merge, False, writing=True))

    def _used(self) -> int:
        """Return the used bytes of the file."""
        return int(self.use(database.file_bytes, (0, 0))[0])

    def _release(self, bound: int, end: float) -> None:
        """Shrink the file by its free parts; see database.release_bytes."""
        self.use(functools.partial(database.release_bytes, bound=bound, end=end), None)

    def _put(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Do work that stores something, unless the file is far above its limit."""

        def write(db: sqlite3.Connection) -> None:
            remove_expired(db)
            work(db)

        used = self._used()
        self._is_large = self._is_large or used > self._max_bytes
        if used < self._max_bytes * STORED_UNTIL:
            self.use(write, None, writing=True)

    def close(self) -> None:
        """Close the file. After the answer is out, finish forgetting and shrink a large file."""
        super().close()
        has_forgotten, is_large = self._has_forgotten, self._is_large
        self._has_forgotten = self._is_large = False
        if self.path != ":memory:" and (has_forgotten or (is_large and not _upkeep.locked())):
            import threading

            with contextlib.suppress(RuntimeError):  # the process is ending
                threading.Thread(target=self._keep_up, args=(has_forgotten,)).start()

    def _keep_up(self, has_forgotten: bool) -> None:
        """Do the remaining work on this thread's own connection unless another thread is shrinking.

        The process waits for the thread.
        """
        import threading

        threading.main_thread().join(WAIT_SECONDS)
        if not _upkeep.acquire(blocking=has_forgotten):
            return
        try:
            with contextlib.closing(PageStore(self.path, self._max_bytes)) as store:
                if has_forgotten:
                    store.finish_merges(time.monotonic() + FORGOTTEN_SECONDS)
                store.shrink(UPKEEP_SECONDS)
        finally:
            _upkeep.release()

    def shrink(self, seconds: float) -> None:
        """Remove the oldest data while the file is above its limit.

        seconds: the time limit; a later call continues. Only one process does this at a time.
        """
        end, self._is_large = time.monotonic() + seconds, False
        with contextlib.suppress(*store_errors()), database.upkeep_lock(self.path, 0.0):
            removals = REMOVED_PARTS
            while self._used() > self._max_bytes and time.monotonic() < end:
                removals -= 1
                is_done = removals < 0 or not self.use(remove_oldest, 0, writing=True)
                # Space for removed words becomes free when a merge of the whole index ends.
                if not self._merge(MERGED_AT_ONCE) and not self._merge(-MERGED_AT_ONCE) and is_done:
                    break
            self._release(self._max_bytes, end)


# ===== keeping and removing ======================================================================


def count_rows(db: sqlite3.Connection) -> dict[str, Any]:
    """Count the rows of a store and return its oldest and newest times.

    GLSI's file has only one table.
    """
    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master")]
    counts: dict[str, Any] = {"answers": 0, "pages": 0, "history": 0}
    times: list[float] = []
    moments = {"answers": ("cache", _EPOCH), "pages": ("pages", _FETCHED_AT)}
    for name, (table, moment) in {**moments, "history": ("history", "NULL")}.items():
        if table in tables:
            query = f"SELECT count(*), min({moment}), max({moment}) FROM {table}"  # noqa: S608
            others = f"query_hash != '{LAST_RESULTS}' AND query_hash NOT LIKE '{CLAIM}%'"
            query += f" WHERE {others}" if table == "cache" else ""
            counts[name], *ends = db.execute(query).fetchone()
            times += [end for end in ends if end is not None]
    if times:
        counts |= {"oldest": utc_time(min(times)), "newest": utc_time(max(times))}
    return counts


def remove_oldest(db: sqlite3.Connection) -> int:
    """Remove some of the oldest pages and answers; return their number."""
    query = (
        "WITH ages AS (SELECT fetched_at AS moment FROM pages UNION ALL "  # noqa: S608
        f"SELECT {_EPOCH} FROM cache) SELECT moment FROM ages WHERE moment IS NOT NULL "
        "ORDER BY moment LIMIT 1 OFFSET min(?, (SELECT count(moment) FROM ages) / ?)"
    )
    row = db.execute(query, (PAGES_AT_ONCE, REMOVED_PART)).fetchone()
    return remove_until(db, float(row[0])) if row else 0


def remove_until(db: sqlite3.Connection, moment: float) -> int:
    """Remove the answers up to a time, and some of the pages; return the removed rows."""
    statement = f"DELETE FROM cache WHERE updated_at <= {_TIMESTAMP}"  # noqa: S608
    answers = db.execute(statement, (moment,)).rowcount
    query = "SELECT id FROM pages WHERE fetched_at <= ? LIMIT ?"
    pages = [row[0] for row in db.execute(query, (moment, PAGES_AT_ONCE))]
    remove_pages(db, pages)
    return int(answers) + len(pages)


def remove_expired(db: sqlite3.Connection) -> None:
    """Remove data that is too old even for recall; remove only some pages at a time."""
    moment = time.time() - KEEP_SECONDS
    remove_until(db, moment)
    db.execute("DELETE FROM history WHERE moment < ?", (moment,))


def remove_pages(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Remove pages and their words in the index."""
    for page_id in ids:
        full_text.unindex_page(db, page_id)
        db.execute("DELETE FROM pages WHERE id = ?", (page_id,))


def take_queries(
    db: sqlite3.Connection, queries: list[str], urls: list[str], entries: list[int]
) -> Rows:
    """Remove the answers to queries with their pages and history entries; return the rows.

    Also removes the pages at URLs, and the history entries with these numbers.
    """
    wanted = {query.strip().lower() for query in queries}
    keys, urls = answers_to(db, wanted, urls)
    rows = db.execute("SELECT id, CAST(text AS TEXT) FROM history").fetchall()
    alike = {
        row_id
        for row_id, text in rows
        if not wanted.isdisjoint(line.strip().lower() for line in (text or "").split("\n"))
    }
    chosen = {"cache": ("query_hash", keys), "pages": ("url", urls),
              "history": ("id", alike.union(entries))}  # fmt: skip
    return {table: take_rows(db, table, *these) for table, these in chosen.items()}


def take_rows(
    db: sqlite3.Connection, table: str, column: str, values: Iterable[object]
) -> list[tuple[Any, ...]]:
    """Remove the rows of a table with these values in a column, and return them."""
    where = f"FROM {table} WHERE {column} = ?"
    rows = [row for value in values for row in db.execute(f"SELECT * {where}", (value,))]
    if table == "pages":
        remove_pages(db, [row[0] for row in rows])
    else:
        db.executemany(f"DELETE {where}", [(value,) for value in values])
    return rows


def put_rows(db: sqlite3.Connection, rows: Rows) -> None:
    """Insert rows that take_queries returned, and index their pages."""
    for table, found in rows.items():
        for row in found:
            marks = ", ".join("?" * len(row))
            done = db.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)  # noqa: S608
            if table == "pages" and done.rowcount > 0:
                query = "SELECT id, title, text FROM pages WHERE id = ?"
                full_text.index_page(db, *db.execute(query, row[:1]).fetchone())


def answers_to(
    db: sqlite3.Connection, wanted: set[str], urls: list[str]
) -> tuple[list[str], list[str]]:
    """Return the keys of all answers to queries, and urls plus the URLs in these answers."""
    import hashlib

    glsi_keys = {hashlib.sha256(query.encode("utf-8", "replace")).hexdigest() for query in wanted}
    keys, found = [], list(urls)
    for key, text in db.execute("SELECT query_hash, content FROM cache"):
        content = json_fields(text) or {}
        if key in glsi_keys or str(content.get("query", "")).strip().lower() in wanted:
            keys.append(key)
            found += [url for url in content.get("urls") or [] if isinstance(url, str)]
    return keys, list(dict.fromkeys(map(storable, found)))


# ===== rows =======================================================================================


def is_young(moment: float | None, max_age: float | None) -> bool:
    """Return whether a time is less than max_age seconds ago; None means any age.

    A time in the future (the clock was set back) does not count. Stored times are rounded.
    """
    if max_age is None:
        return True
    age = time.time() - moment if moment is not None else NEVER
    return max_age > 0 and -ROUNDING_SECONDS <= age < max_age


def storable(text: str) -> str:
    """Return text that SQLite can store: without NUL, with U+FFFD for lone surrogates."""
    text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def utc_time(seconds: float) -> str:
    """Return a time (seconds since 1970) as YYYY-MM-DDTHH:MM:SSZ."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def page_row(page: dict[str, Any]) -> dict[str, Any]:
    """Return the columns for a page, cleaned, cut and completed."""
    url = storable(page["url"])
    final_url = storable(page.get("final_url") or url)
    text = storable(page.get("text") or "")
    return {
        "url": url,
        "final_url": final_url,
        "hosts": "".join(f".{host_suffix(site)}" for site in dict.fromkeys((url, final_url))),
        "fetched_at": float(page.get("fetched_at") or time.time()),
        "truncated": bool(page.get("truncated")) or len(text) > MAX_TEXT_CHARS,
        "published": storable(page.get("published") or "")[:MAX_DATE_CHARS],
        "updated": storable(page.get("updated") or "")[:MAX_DATE_CHARS],
        "title": storable(page.get("title") or "")[:MAX_TITLE_CHARS],
        "author": storable(page.get("author") or "")[:MAX_TITLE_CHARS],
        "text": text[:MAX_TEXT_CHARS],
        "outside": storable(page.get("outside") or "")[:MAX_OUTSIDE_CHARS],
    }


def page_of(row: tuple[Any, ...]) -> dict[str, Any]:
    """Return a page in the form of get_pages."""
    page = dict(zip(_PAGE_FIELDS, row, strict=True))
    page["truncated"] = bool(page["truncated"])
    optional = ("outside", "updated", "author")
    return {name: item for name, item in page.items() if item or name not in optional}


def host_suffix(site: str) -> str:
    """Return a host, or a URL's host, with a space after it: hosts contain ".HOST "."""
    pattern = r"(?i)(?:[a-z][a-z0-9+.-]*://)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:\s]*)"
    host = re.match(pattern, storable(site).strip())
    return f"{host[1].lower().strip('*.') if host else ''} "


def put_page(db: sqlite3.Connection, row: dict[str, Any]) -> None:
    """Insert or replace a page; leave the index unchanged if the words are the same."""
    query = f"SELECT id, {TITLE}, {TEXT} FROM pages WHERE url = ?"  # noqa: S608
    old = db.execute(query, (row["url"],)).fetchone()
    if old and old[1:] == (row["title"], row["text"]):
        statement = (
            "UPDATE pages SET final_url = :final_url, hosts = :hosts, fetched_at = :fetched_at, "
            "published = :published, updated = :updated, truncated = :truncated, author = :author, "
            "outside = :outside WHERE url = :url"
        )
        db.execute(statement, row)
        return
    if old:
        remove_pages(db, [old[0]])
    names = ", ".join(row)
    values = ", ".join(f":{name}" for name in row)
    page_id = db.execute(f"INSERT INTO pages ({names}) VALUES ({values})", row).lastrowid  # noqa: S608
    full_text.index_page(db, page_id or 0, row["title"], row["text"])
