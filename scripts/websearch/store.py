"""The store of web_search: answers by key, pages by URL, and a full-text index, in one SQLite file.

A module of web_search.py that knows no provider. It never raises for the state of its file: a store
that is broken, locked, full or read-only is a miss and a sentence in warnings, and the caller goes
on without it.

The table `cache` is GLSI's own, so that GLSI's database can be opened; the pages, the searches in
flight and the index stand beside it.
"""

from __future__ import annotations

import json
import os
import re
import time

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

DEFAULT_PATH = "~/.glsi/cache.db"  # GLSI's
SCHEMA_VERSION = 1  # in PRAGMA user_version; 0 is a new file, or one that only GLSI has used
MAX_STORE_BYTES = 256 * 1024 * 1024  # of the file; some 15,000 pages with their index
KEEP_SECONDS = 30 * 86_400.0  # after that not even recall and --stale want them
MAX_TEXT_CHARS = 500_000  # of one page: a long book; more is a dump
MAX_TITLE_CHARS = 1_000  # a longer one is text, which would weigh five times in the index
LOCK_SECONDS = 3.0  # wait for others; where sixteen write without a pause, 0.5 at most
OUTCOME_SECONDS = 10.0  # what a claim ended with is there so long for those who waited
NEVER = float("inf")  # a time that does not come
ENDED = ""  # the owner of a claim that has ended
MAX_CLAIM_SECONDS = 3_600.0  # a claim that ends later was made by a clock that was wrong
CLOCK_SKEW = 300.0  # seconds; a row from further in the future has no known age
MAX_REPEATS = 20  # of a word in one page that a plain search counts: more is a list, no answer
INDEX_BATCH = 200  # pages a write catches up on when the index was not there before; some 0.2 s
MAX_RANKED = 3_000  # pages that match a full-text query; more are as good as these, but slow
MAX_TERMS = 32  # of a full-text query: a long question; each more makes it slower

# Two letters suffice where words are not separated: most Chinese and Japanese words are that long.
_UNSPACED = (
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007"
    "\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
# Words that nearly every English page holds: they would rank nothing and cost the most.
_STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from how i in is it its of on or so that the this to "
    "was what when where which who why will with you your".split()
)

# GLSI's table must stay as it is. AUTOINCREMENT: the index may still know a page that has gone, so
# its id must not come back. The text stands last, so that nothing else has to be read past it.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS cache (
    query_hash TEXT PRIMARY KEY, content TEXT, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX IF NOT EXISTS cache_updated ON cache (updated_at);
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT UNIQUE, final_url TEXT, hosts TEXT,
    fetched_at REAL, indexed INTEGER DEFAULT 0, title TEXT, text TEXT);
CREATE INDEX IF NOT EXISTS pages_fetched ON pages (fetched_at);
CREATE INDEX IF NOT EXISTS pages_unindexed ON pages (id) WHERE indexed = 0;
CREATE TABLE IF NOT EXISTS searches (key TEXT PRIMARY KEY, owner TEXT, expires REAL, outcome TEXT)
"""
# Contentless: the words only, the text is in pages. Marks are part of words in Hindi and Thai.
_INDEX_SCHEMA = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS page_index USING fts5(title, body, content='', prefix='1', "
    "tokenize = \"porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'\")"
)
_INSERT_WORDS = "INSERT INTO page_index (rowid, title, body) VALUES (?, ?, ?)"
_DELETE_WORDS = "INSERT INTO page_index (page_index, rowid, title, body) VALUES ('delete', ?, ?, ?)"
# Negative: all of the index into one, as far as so many of its pages reach. What was removed from
# a contentless index goes, and frees space, only when its parts are merged.
_MERGE = "INSERT INTO page_index (page_index, rank) VALUES ('merge', ?)"
_EPOCH = "(julianday(updated_at) - 2440587.5) * 86400.0"  # GLSI's times are text, in UTC
_TIMESTAMP = "strftime('%Y-%m-%d %H:%M:%f', ?, 'unixepoch')"
_PAGE_FIELDS = ("url", "final_url", "title", "text", "fetched_at")
_PAGE_ID = "SELECT id FROM pages WHERE url = ?"
# SQLite keeps any type in any column: what another program put there is read as what it should be.
_TITLE, _TEXT = (f"ifnull(CAST({name} AS TEXT), '')" for name in ("title", "text"))
_FETCHED_AT = "max(0.0, min(253402300799.0, ifnull(CAST(fetched_at AS REAL), 0.0)))"  # year 9999
_SELECT_PAGES = (
    f"SELECT CAST(url AS TEXT), ifnull(CAST(final_url AS TEXT), ''), {_TITLE}, {_TEXT}, "  # noqa: S608
    f"{_FETCHED_AT} FROM pages"
)


class PageStore:
    """One call's way to the store, opened at first use; close() it at the end.

    path: the file; "" is $GLSI_DB_PATH, else ~/.glsi/cache.db. ":memory:" keeps nothing.
    max_bytes: the size that the file is kept within; the oldest pages and answers go first.
    warnings: what could not be used, as sentences, each once.
    """

    def __init__(self, path: str = "", max_bytes: int = MAX_STORE_BYTES) -> None:
        self.path = store_path(path)
        self.warnings: list[str] = []
        self._max_bytes = max_bytes
        self._db: sqlite3.Connection | None = None
        self._is_ready = self._is_prepared = False  # tables are there; they may be written
        self._no_reading = self._no_writing = False
        self._owner = f"{host_name()} {os.getpid()} {os.urandom(4).hex()}"

    # ----- answers

    def get_answer(self, key: str, max_age: float | None) -> dict[str, Any] | None:
        """Return {content, updated_at (seconds since 1970)} of an answer younger than max_age.

        max_age of None means any age. A row that holds no JSON object (GLSI's text) is a miss.
        """

        def read(db: sqlite3.Connection) -> Any:
            query = f"SELECT content, {_EPOCH} FROM cache WHERE query_hash = ?"  # noqa: S608
            return db.execute(query, (key,)).fetchone()

        row = self._attempt(read, None)
        content = json_object(row[0]) if row else None
        if content is None or not is_young(row[1], max_age):
            return None
        return {"content": content, "updated_at": row[1]}

    def put_answer(self, key: str, content: dict[str, Any]) -> None:
        """Keep an answer; content has "query" (as asked) and "urls" (a list)."""
        text = storable(json.dumps(content, ensure_ascii=False, separators=(",", ":")))

        def write(db: sqlite3.Connection) -> None:
            statement = f"INSERT OR REPLACE INTO cache VALUES (?, ?, {_TIMESTAMP})"  # noqa: S608
            db.execute(statement, (key, text, time.time()))
            remove_expired(db)

        self._attempt(write, None, writing=True)
        self._keep_bound()

    # ----- pages

    def get_pages(self, urls: list[str], max_age: float | None) -> dict[str, dict[str, Any]]:
        """Return the pages younger than max_age (None: any), each under the URL asked for."""

        def read(db: sqlite3.Connection) -> list[Any]:
            rows: list[Any] = []
            for start in range(0, len(urls), 500):  # SQLite takes 999 variables or more
                some = [storable(url) for url in urls[start : start + 500]]
                marks = ", ".join("?" * len(some))
                rows += db.execute(f"{_SELECT_PAGES} WHERE url IN ({marks})", some).fetchall()
            return rows

        rows = self._attempt(read, []) if urls else []
        pages = {row[0]: dict(zip(_PAGE_FIELDS, row, strict=True)) for row in rows}
        found = {url: pages[storable(url)] for url in urls if storable(url) in pages}
        return {url: page for url, page in found.items() if is_young(page["fetched_at"], max_age)}

    def put_pages(self, pages: list[dict[str, Any]]) -> None:
        """Keep pages (the fields of get_pages) and their words, in one transaction."""
        rows = [page_row(page) for page in pages if page.get("url")]

        def write(db: sqlite3.Connection) -> None:
            for row in rows:
                put_page(db, row)
            index_pages(db, max(INDEX_BATCH, len(rows)))
            remove_expired(db)

        if rows:
            self._attempt(write, None, writing=True)
            self._keep_bound()

    def recall(self, words: str, count: int, site: Sequence[str] = ()) -> list[dict[str, Any]]:
        """Return up to count pages that hold the words, the best first: the fields of get_pages.

        Pages with all words come before those with some. site: hosts, subdomains included.
        """
        terms = query_terms(words)
        hosts = [f".{host_suffix(host)}" for host in site]
        count = max(0, min(count, 1_000))
        broken: list[bool] = []

        def read(db: sqlite3.Connection) -> list[Any]:
            import sqlite3

            try:
                found = indexed_matches(db, terms, hosts, count)
                plain = plain_matches(db, terms[2], hosts, unindexed=True)
            except sqlite3.DatabaseError as error:  # there is no index, or it is broken
                if not is_index_failure(error):
                    raise
                broken.append(is_index_damage(error))
                found, plain = ([], []), plain_matches(db, terms[2], hosts, unindexed=False)
            ids = dict.fromkeys([*found[0], *plain[0], *found[1], *plain[1]])
            query = f"{_SELECT_PAGES} WHERE id = ?"
            return [db.execute(query, (one,)).fetchone() for one in list(ids)[:count]]

        rows = self._attempt(read, []) if terms[0] else []
        if any(broken):
            self._attempt(drop_index, None, writing=True)
        return [dict(zip(_PAGE_FIELDS, row, strict=True)) for row in rows]

    # ----- searches in flight

    def claim(self, key: str, seconds: float, since: float = NEVER) -> bool:
        """Return whether this process shall do the work of a key, for at most these seconds.

        False: another one that lives is at it, or has ended since a time (seconds since 1970) with
        an outcome, to be read by outcome(). True also where the store cannot be used.
        """
        now = time.time()
        seconds = min(max(0.0, seconds), MAX_CLAIM_SECONDS)

        def write(db: sqlite3.Connection) -> bool:
            query = "SELECT owner, expires FROM searches WHERE key = ?"
            row = db.execute(query, (key,)).fetchone()
            owner, expires = row or (self._owner, now)
            taken = owner not in (self._owner, ENDED) and 0 < expires - now <= MAX_CLAIM_SECONDS
            ended_since = owner == ENDED and expires >= since + OUTCOME_SECONDS
            if ended_since or (taken and may_live(owner)):
                return False
            values = (key, self._owner, now + seconds)
            db.execute("INSERT OR REPLACE INTO searches VALUES (?, ?, ?, NULL)", values)
            return True

        return bool(self._attempt(write, True, writing=True))

    def release(self, key: str, outcome: dict[str, Any] | None = None) -> None:
        """End this store's own claim, if it still stands.

        outcome: what is not to be kept, but may serve those who have waited for it.
        """
        text = storable(json.dumps(outcome, ensure_ascii=False)) if outcome else None

        def write(db: sqlite3.Connection) -> None:
            if text:
                statement = (
                    "UPDATE searches SET owner = ?, expires = ?, outcome = ? "
                    "WHERE key = ? AND owner = ?"
                )
                ends = time.time() + OUTCOME_SECONDS
                db.execute(statement, (ENDED, ends, text, key, self._owner))
            else:
                statement = "DELETE FROM searches WHERE key = ? AND owner = ?"
                db.execute(statement, (key, self._owner))

        self._attempt(write, None, writing=True)

    def outcome(self, key: str, since: float) -> dict[str, Any] | None:
        """Return what a claim ended with since a time (seconds since 1970), or None."""

        def read(db: sqlite3.Connection) -> Any:
            query = "SELECT outcome FROM searches WHERE key = ? AND owner = ? AND expires >= ?"
            return db.execute(query, (key, ENDED, since + OUTCOME_SECONDS)).fetchone()

        row = self._attempt(read, None)
        return json_object(row[0]) if row else None

    # ----- housekeeping

    def clear(self, query: str = "") -> dict[str, int]:
        """Remove everything, or the answers to a query and their pages; return how many went.

        Queries are compared trimmed and in lower case. What is removed is overwritten, and the
        file becomes smaller.
        """

        def write(db: sqlite3.Connection) -> dict[str, int]:
            db.execute("PRAGMA secure_delete = ON")
            if query:
                keys, urls = answers_to(db, query)
                ids = [row[0] for url in urls for row in db.execute(_PAGE_ID, (storable(url),))]
                remove_pages(db, ids)
                change_index(db, _MERGE, [(-1_000_000,)])  # only now are the words really gone
                db.executemany("DELETE FROM cache WHERE query_hash = ?", [(key,) for key in keys])
                return {"answers": len(keys), "pages": len(ids)}
            pages = db.execute("DELETE FROM pages").rowcount
            drop_index(db)
            return {"answers": db.execute("DELETE FROM cache").rowcount, "pages": pages}

        removed: dict[str, int] = {"answers": 0, "pages": 0}
        if self._db is None and self.path and not os.path.lexists(self.path):
            return removed  # there is nothing, and no file is made to say so
        removed = self._attempt(write, removed, writing=True)
        self._attempt(give_back, None)
        return removed

    def stats(self) -> dict[str, Any]:
        """Return path, bytes, answers, pages, oldest, newest (UTC), full_text (fts5 or plain)."""

        def read(db: sqlite3.Connection) -> dict[str, Any]:
            tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master")]
            found: dict[str, Any] = {"answers": 0, "pages": 0}
            times: list[float] = []
            for name, table, moment in (
                ("answers", "cache", _EPOCH),
                ("pages", "pages", _FETCHED_AT),
            ):
                if table in tables:
                    query = f"SELECT count(*), min({moment}), max({moment}) FROM {table}"  # noqa: S608
                    found[name], *ends = db.execute(query).fetchone()
                    times += [end for end in ends if end is not None]
            if times:
                found |= {"oldest": utc_time(min(times)), "newest": utc_time(max(times))}
            return found

        found = self._attempt(read, {"answers": 0, "pages": 0})
        full_text = self._attempt(has_full_text, None)
        if full_text is None:  # there is no file, or it cannot be read
            memory = PageStore(":memory:")
            full_text = memory._attempt(has_full_text, False)
            memory.close()
        found["full_text"] = "fts5" if full_text else "plain"
        files = [self.path, f"{self.path}-wal"]
        return {"path": self.path, "bytes": sum(map(size_on_disk, files)), **found}

    def close(self) -> None:
        """Close the file; nothing happens if it was not opened."""
        if self._db is not None:
            db, self._db = self._db, None
            try:
                db.close()
            except store_errors():
                pass  # the work is done; what was committed is in the file or its journal

    # ----- the file

    def _attempt(
        self, operation: Callable[[sqlite3.Connection], Any], missed: Any, writing: bool = False
    ) -> Any:
        """Return what operation(connection) returns, or missed where the store cannot be used.

        Writing happens in one transaction. What fails is told in warnings and not tried again.
        """
        if self._no_reading or (writing and self._no_writing):
            return missed
        try:
            db = patiently(lambda: self._open(writing))
            if db is None:
                return missed
            return transaction(db, operation) if writing else patiently(lambda: operation(db))
        except store_errors() as error:
            if not self._is_ready and "no such table" in str(error):
                return missed  # GLSI's own file, in which nothing of ours was written yet
            self._give_up(error, writing)
            return missed

    def _open(self, writing: bool) -> sqlite3.Connection | None:
        """Return the open connection; None if there is nothing to read. Raises store_errors()."""
        import sqlite3

        if self._db is None:
            if not self.path:
                raise OSError("there is no home folder (HOME is not set)")
            if self.path != ":memory:" and not os.path.exists(self.path):
                if not writing:
                    return None
                create_file(self.path)
            self._db, version = self._connect()
            if version not in (0, SCHEMA_VERSION):
                raise sqlite3.DatabaseError(f"file is not a database of version {SCHEMA_VERSION}")
            self._is_ready = version == SCHEMA_VERSION
        if writing and not self._is_prepared:
            if not self._is_ready:
                prepare(self._db, self.path)
            self._db.execute("PRAGMA synchronous = NORMAL")  # safe with WAL, one fsync less
            self._is_ready = self._is_prepared = True
        return self._db

    def _connect(self) -> tuple[sqlite3.Connection, int]:
        """Return a connection and the file's schema version. Raises store_errors().

        A file that is not writable can be read all the same, also in a folder where SQLite cannot
        make the files that it needs beside one in WAL mode.
        """
        import sqlite3

        try:
            return self._connect_to(self.path)
        except sqlite3.OperationalError:
            journal = f"{self.path}-wal"
            writable = os.access(os.path.dirname(self.path), os.W_OK)
            if writable or size_on_disk(journal) or not os.path.isfile(self.path):
                raise
            return self._connect_to(f"{file_uri(self.path)}?mode=ro&immutable=1")

    def _connect_to(self, address: str) -> tuple[sqlite3.Connection, int]:
        """Return a connection to a path or file: URI, and its schema version."""
        import sqlite3

        # isolation_level=None: transactions begin and end where this module says so. The timeout is
        # short because patiently does the waiting.
        uri = address.startswith("file:")
        if os.path.isfile(address) and 0 < os.path.getsize(address) < 512:
            raise sqlite3.DatabaseError("file is not a database")  # SQLite would write over it
        db = sqlite3.connect(address, timeout=0.05, isolation_level=None, uri=uri)
        try:
            db.text_factory = lenient_text
            return db, db.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error:
            db.close()
            raise

    def _give_up(self, error: Exception, writing: bool) -> None:
        """Warn once, and use the store no more for writing, or for nothing."""
        reason = getattr(error, "strerror", None) or str(error)
        damaged = "not a database" in reason or "malformed" in reason
        if damaged:
            advice = "Move it away and a new one is made, or set GLSI_DB_PATH to another file."
        elif "locked" in reason:
            advice = "Another program keeps it busy; end that, or set GLSI_DB_PATH to another file."
        elif "full" in reason or "space" in reason:
            advice = "Free some space, or set GLSI_DB_PATH to a file on another disk."
        elif isinstance(error, ImportError):
            advice = "This Python was built without SQLite: use another one."
        else:
            advice = "Set GLSI_DB_PATH to a file in a folder that is writable."
        self._no_writing = True
        self._no_reading = damaged or not writing or self._db is None
        verb = "written" if writing and not damaged else "used"
        place = self.path or DEFAULT_PATH
        self.warnings.append(f"The store {place} cannot be {verb}: {reason}. {advice}")

    def _keep_bound(self) -> None:
        """Remove the oldest pages and answers until the file is within max_bytes."""
        bound = self._max_bytes
        if self._attempt(file_bytes, (0, 0))[1] > bound:
            while self._attempt(lambda db: remove_oldest(db, bound), 0, writing=True):
                continue
            self._attempt(lambda db: release_bytes(db, bound), None)


# ===== the file ===================================================================================


def store_path(path: str) -> str:
    """Return the absolute path of the store, ":memory:", or "" where there is no home folder."""
    given = path or os.environ.get("GLSI_DB_PATH", "").strip() or DEFAULT_PATH
    if given.startswith((":memory:", "file::memory:")):
        return ":memory:"
    if given[:2] in ("~", "~/") and os.name != "nt" and not os.environ.get("HOME"):
        return ""  # GLSI says the same; the password file's idea of a home is not asked
    expanded = os.path.expanduser(given)
    try:
        return "" if expanded.startswith("~") else os.path.abspath(expanded)
    except OSError:  # the current folder has been removed
        return expanded


def create_file(path: str) -> None:
    """Make an empty file that only its owner can read, and its folder. Raises OSError.

    SQLite would let others read it; the files that it puts beside it take over its mode.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def size_on_disk(path: str) -> int:
    """Return a file's size, 0 where there is none: the last process to close removes a journal."""
    try:
        return os.path.getsize(path) if os.path.isfile(path) else 0
    except OSError:  # it has just gone
        return 0


def file_uri(path: str) -> str:
    """Return the file: URI of an absolute path, as SQLite reads it."""
    path = path.replace("\\", "/") if os.name == "nt" else path
    path = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file://{'' if path.startswith('/') else '/'}{path}"


def prepare(db: sqlite3.Connection, path: str) -> None:
    """Make the tables in a new file or in GLSI's. Raises sqlite3.Error.

    Several processes may do so at once.
    """
    import contextlib
    import sqlite3

    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master")]
    if tables and "cache" not in tables:
        raise sqlite3.DatabaseError("file is not a database of this program")
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # takes effect in a new file only
    with contextlib.suppress(sqlite3.Error):  # a file system that cannot: SQLite's older journal
        patiently(lambda: db.execute("PRAGMA journal_mode = WAL").fetchone())

    def create(db: sqlite3.Connection) -> None:
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    transaction(db, create)
    with contextlib.suppress(OSError):  # GLSI lets others read its file
        os.chmod(path, 0o600)


def store_errors() -> tuple[type[Exception], ...]:
    """Return what a store can fail with: SQLite's errors, the system's, no sqlite3 at all."""
    try:
        import sqlite3
    except ImportError:
        return (OSError, ImportError)
    return (OSError, sqlite3.Error)


def patiently(action: Callable[[], Any]) -> Any:
    """Return what action returns, tried again while another process holds the file.

    SQLite's own waiting looks once in 100 ms, too seldom where sixteen processes write: some would
    never come to their turn.
    """
    import sqlite3

    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(0.001 + os.urandom(1)[0] / 25_000)  # 1 to 11 ms


def transaction(db: sqlite3.Connection, operation: Callable[[sqlite3.Connection], Any]) -> Any:
    """Return what operation(db) returns, done whole or not at all. Raises sqlite3.Error."""
    import contextlib
    import sqlite3

    patiently(lambda: db.execute("BEGIN IMMEDIATE"))
    try:
        result = operation(db)
        patiently(lambda: db.execute("COMMIT"))
        return result
    finally:
        if db.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")


def file_bytes(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the bytes of a file that are in use, and all of its bytes."""
    names = ("page_count", "freelist_count", "page_size")
    count, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return (count - free) * size, count * size


def release_bytes(db: sqlite3.Connection, bound: int) -> None:
    """Give free pages of the file back until it has bound bytes; a file of GLSI's has to stay."""
    size = db.execute("PRAGMA page_size").fetchone()[0]
    pages = -((bound - file_bytes(db)[1]) // size)
    if pages > 0:  # executescript, because execute stops after the first page
        db.executescript(f"PRAGMA incremental_vacuum({pages})")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # only now the file is smaller


def give_back(db: sqlite3.Connection) -> None:
    """Make the file as small as it can be after a removal, as far as other readers let it."""
    import contextlib
    import sqlite3

    with contextlib.suppress(sqlite3.Error):
        if not db.execute("SELECT 1 FROM pages UNION ALL SELECT 1 FROM cache LIMIT 1").fetchone():
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # a file that GLSI made gets it now
            db.execute("VACUUM")  # costs nothing: there is nothing left
        release_bytes(db, 0)


# ===== rows =======================================================================================


def is_young(moment: float | None, max_age: float | None) -> bool:
    """Return whether a time is less than max_age seconds ago; None means any age."""
    if max_age is None:
        return True
    age = time.time() - moment if moment is not None else max_age
    return age > -CLOCK_SKEW and max(0.0, age) < max_age


def json_object(text: Any) -> dict[str, Any] | None:
    """Return the JSON object that a text holds, None if it holds something else."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def lenient_text(data: bytes) -> str:
    """Return text of the file; another program may have put there what is no UTF-8."""
    return data.decode("utf-8", "replace")


def storable(text: str) -> str:
    """Return text without what SQLite cannot keep: NUL goes, lone surrogates become U+FFFD."""
    text = text.replace("\0", "")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text


def utc_time(seconds: float) -> str:
    """Return a time (seconds since 1970) as YYYY-MM-DDTHH:MM:SSZ."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def page_row(page: dict[str, Any]) -> tuple[Any, ...]:
    """Return a page as (url, final_url, hosts, fetched_at, title, text)."""
    url = storable(page["url"])
    final_url = storable(page.get("final_url") or url)
    hosts = "".join(f".{host_suffix(one)}" for one in dict.fromkeys((url, final_url)))
    title = storable(page.get("title") or "")[:MAX_TITLE_CHARS]
    text = storable(page.get("text") or "")[:MAX_TEXT_CHARS]
    return url, final_url, hosts, float(page.get("fetched_at") or time.time()), title, text


def host_suffix(site: str) -> str:
    """Return the host of a URL or the host itself, and a space: ".HOST " is in a page's hosts."""
    pattern = r"(?i)(?:[a-z][a-z0-9+.-]*://)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:\s]*)"
    host = re.match(pattern, storable(site).strip())
    return f"{host[1].lower().strip('*.') if host else ''} "


def put_page(db: sqlite3.Connection, row: tuple[Any, ...]) -> None:
    """Insert a page or replace it; one whose text is the same only becomes younger."""
    url, final_url, hosts, fetched_at, title, text = row
    query = f"SELECT id, {_TITLE}, {_TEXT} FROM pages WHERE url = ?"  # noqa: S608
    old = db.execute(query, (url,)).fetchone()
    if old and old[1:] == (title, text):
        statement = "UPDATE pages SET final_url = ?, hosts = ?, fetched_at = ? WHERE id = ?"
        db.execute(statement, (final_url, hosts, fetched_at, old[0]))
        return
    if old:
        remove_pages(db, [old[0]])
    statement = (
        "INSERT INTO pages (url, final_url, hosts, fetched_at, title, text) "
        "VALUES (?, ?, ?, ?, ?, ?)"
    )
    db.execute(statement, row)


def remove_pages(db: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Remove pages and their words in the index."""
    for page_id in ids:
        query = f"SELECT {_TITLE}, {_TEXT} FROM pages WHERE id = ? AND indexed = 1"  # noqa: S608
        words = db.execute(query, (page_id,)).fetchone()
        if words:
            change_index(db, _DELETE_WORDS, words_of([(page_id, *words)]))
        db.execute("DELETE FROM pages WHERE id = ?", (page_id,))


def remove_expired(db: sqlite3.Connection) -> None:
    """Remove what nobody wants any more; of the pages only some at a time."""
    now = time.time()
    statement = f"DELETE FROM cache WHERE updated_at < {_TIMESTAMP}"  # noqa: S608
    db.execute(statement, (now - KEEP_SECONDS,))
    query = "SELECT id FROM pages WHERE fetched_at < ? LIMIT ?"
    expired = db.execute(query, (now - KEEP_SECONDS, INDEX_BATCH)).fetchall()
    remove_pages(db, [row[0] for row in expired])
    db.execute("DELETE FROM searches WHERE expires < ?", (now,))


def remove_oldest(db: sqlite3.Connection, bound: int) -> int:
    """Remove some of the oldest pages and answers from a file beyond its bound; return how many."""
    excess = file_bytes(db)[0] - int(bound * 0.98)  # so that not each write has to remove some
    if excess <= 0:
        return 0
    columns = "id, length(text), fetched_at FROM pages ORDER BY fetched_at LIMIT 50"
    pages = db.execute(f"SELECT 'page', {columns}").fetchall()
    columns = f"rowid, length(content), {_EPOCH} FROM cache ORDER BY updated_at LIMIT 50"
    answers = db.execute(f"SELECT 'answer', {columns}").fetchall()
    removed = 0
    for kind, row_id, length, _ in sorted([*pages, *answers], key=lambda row: row[3] or 0.0)[:50]:
        if kind == "page":
            remove_pages(db, [row_id])
        else:
            db.execute("DELETE FROM cache WHERE rowid = ?", (row_id,))
        removed, excess = removed + 1, excess - length
        if excess <= 0:
            break
    if file_bytes(db)[0] < 16_000_000:  # a larger index shrinks bit by bit: this would take seconds
        change_index(db, _MERGE, [(-1_000_000,)])
    if not removed:
        drop_index(db)  # what is left of it is of no use
    return removed


def answers_to(db: sqlite3.Connection, query: str) -> tuple[list[str], list[str]]:
    """Return the keys of all answers to a query, and the URLs in them."""
    import hashlib

    wanted = query.strip().lower()
    of_glsi = hashlib.sha256(wanted.encode("utf-8", "replace")).hexdigest()
    keys, urls = [], []
    for key, text in db.execute("SELECT query_hash, content FROM cache"):
        content = json_object(text) or {}
        if key == of_glsi or str(content.get("query", "")).strip().lower() == wanted:
            keys.append(key)
            urls += [url for url in content.get("urls") or [] if isinstance(url, str)]
    return keys, list(dict.fromkeys(urls))


def host_name() -> str:
    """Return this machine's name, without spaces."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return name.replace(" ", "-")


def may_live(owner: str) -> bool:
    """Return whether the process that made a claim may still be there.

    Only a process of this machine can be looked for, and not on Windows, where os.kill ends it.
    """
    host, _, rest = owner.partition(" ")
    number = rest.partition(" ")[0]
    if os.name == "nt" or host != host_name() or not number.isdigit():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it is another user's
        return True
    return True


# ===== full text ==================================================================================


def fold(text: str) -> str:
    """Return text in lower case, with one form for each character: full-width A becomes a."""
    text = storable(text)
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKC", text)
    return text.lower()


def index_text(text: str) -> str:
    """Return text as it is indexed: where words are not separated, each pair of characters.

    The last character of such a run stands alone too, so that every character begins a token and
    one character can be found by its prefix.
    """

    def pairs(match: re.Match[str]) -> str:
        run = match[0]
        return f" {' '.join(run[place : place + 2] for place in range(len(run)))} "

    folded = fold(text)
    return folded if folded.isascii() else re.sub(f"{_UNSPACED}+", pairs, folded)


def query_terms(words: str) -> tuple[list[str], list[str], list[str]]:
    """Return (terms that all must match, terms of which some may, words for a plain search).

    Terms are quoted, so that nothing in the user's words is syntax of FTS5.
    """
    separated = re.sub(f"({_UNSPACED}+)", r" \1 ", fold(words))
    pieces = [piece for piece in separated.split() if any(map(str.isalnum, piece))]
    meaningful = [piece for piece in pieces if piece.strip(".,;:?!\"'()") not in _STOP_WORDS]
    strict: list[str] = []
    loose: list[str] = []
    plain: list[str] = []
    for piece in list(dict.fromkeys(meaningful or pieces))[:MAX_TERMS]:
        if re.match(_UNSPACED, piece):
            pairs = [piece[place : place + 2] for place in range(len(piece) - 1)]
            strict.append(quoted(" ".join(pairs)) if pairs else f"{quoted(piece)} *")
            loose += [quoted(pair) for pair in pairs] or [f"{quoted(piece)} *"]
            plain += pairs or [piece]
        else:
            parts = re.findall("[a-z0-9]+", piece) if piece.isascii() else [piece]
            strict.append(quoted(piece))
            loose += [quoted(one) for one in parts]
            plain += parts
    return strict, list(dict.fromkeys(loose))[:MAX_TERMS], list(dict.fromkeys(plain))[:MAX_TERMS]


def quoted(text: str) -> str:
    """Return text as a string of FTS5's query language."""
    return '"' + text.replace('"', '""') + '"'


def in_hosts(hosts: list[str]) -> str:
    """Return the SQL condition that a page is of one of the hosts, which are its variables."""
    return " OR ".join(["instr(hosts, ?)"] * len(hosts)) or "1"


def indexed_matches(
    db: sqlite3.Connection,
    terms: tuple[list[str], list[str], list[str]],
    hosts: list[str],
    count: int,
) -> tuple[list[int], list[int]]:
    """Return the ids of the best pages with all terms, and, if those are few, with some of them.

    Raises sqlite3.DatabaseError where the index is not there or is broken.
    """
    strict, loose, _ = terms
    found = ranked_matches(db, " AND ".join(strict), hosts, count)
    some: list[int] = []
    if len(found) < count and len(loose) > 1:
        some = ranked_matches(db, " OR ".join(loose), hosts, count)
    return found, some


def ranked_matches(db: sqlite3.Connection, match: str, hosts: list[str], count: int) -> list[int]:
    """Return the ids of the best pages for a query of FTS5. Raises sqlite3.DatabaseError.

    Of a query that thousands of pages match, the newest MAX_RANKED are ranked: any of them is as
    good, and ranking all of them takes 5 ms for each thousand.
    """
    first = None
    if not hosts:  # a site may be among the oldest
        newest = (
            "SELECT rowid FROM page_index WHERE page_index MATCH ? "  # noqa: S608
            f"ORDER BY rowid DESC LIMIT 1 OFFSET {MAX_RANKED}"
        )
        first = db.execute(newest, (match,)).fetchone()
    # CROSS JOIN: the index goes first. A word in the title counts as five in the text.
    query = (
        "SELECT id FROM page_index CROSS JOIN pages ON id = page_index.rowid "  # noqa: S608
        "WHERE page_index MATCH ? AND page_index.rowid > ? AND rank MATCH 'bm25(5.0, 1.0)' "
        f"AND ({in_hosts(hosts)}) ORDER BY rank LIMIT ?"
    )
    rows = db.execute(query, (match, first[0] if first else 0, *hosts, count)).fetchall()
    return [row[0] for row in rows]


def plain_matches(
    db: sqlite3.Connection, words: list[str], hosts: list[str], unindexed: bool
) -> tuple[list[int], list[int]]:
    """Return the ids of the best pages with all words, and with some, by reading every text."""
    condition = "indexed = 0" if unindexed else "1"
    query = (
        f"SELECT id, {_TITLE}, {_TEXT} FROM pages "  # noqa: S608
        f"WHERE {condition} AND ({in_hosts(hosts)}) ORDER BY id DESC"
    )
    patterns = [word_pattern(word) for word in words]
    scored = []
    for page_id, title, text in db.execute(query, hosts):
        weighted = f"{fold(title)}\n" * 5 + fold(text)  # a word in the title counts as five
        counts = [min(MAX_REPEATS, len(re.findall(pattern, weighted))) for pattern in patterns]
        found = len(counts) - counts.count(0)
        if found:
            scored.append((-found, -sum(counts), page_id))
    ranked = [(-found == len(words), page_id) for found, _, page_id in sorted(scored)]
    return [one for whole, one in ranked if whole], [one for whole, one in ranked if not whole]


def word_pattern(word: str) -> str:
    """Return the pattern of a word's beginning, its plural's -s left out; of a pair, anywhere."""
    if re.match(_UNSPACED, word):
        return re.escape(word)
    return r"\b" + re.escape(word[:-1] if len(word) > 3 and word.endswith("s") else word)


def index_pages(db: sqlite3.Connection, count: int) -> None:
    """Put up to count pages into the index that are not in it, the newest first."""
    query = f"SELECT id, {_TITLE}, {_TEXT} FROM pages WHERE indexed = 0 ORDER BY id DESC LIMIT ?"  # noqa: S608
    pages = db.execute(query, (count,)).fetchall()
    if change_index(db, _INSERT_WORDS, words_of(pages)):
        indexed = [(page[0],) for page in pages]
        db.executemany("UPDATE pages SET indexed = 1 WHERE id = ?", indexed)


def words_of(pages: list[Any]) -> Iterable[tuple[Any, ...]]:
    """Return pages (id, title, text) as rows of the index, each when it is needed."""
    return ((number, index_text(title), index_text(text)) for number, title, text in pages)


def change_index(db: sqlite3.Connection, statement: str, rows: Iterable[tuple[Any, ...]]) -> bool:
    """Execute one of the index's statements for each row; return whether that was possible.

    It is not where SQLite has no FTS5. An index that is broken is dropped, and its pages are
    indexed anew by later writes.
    """
    import sqlite3

    db.execute("SAVEPOINT change_index")
    try:
        db.execute(_INDEX_SCHEMA)
        db.executemany(statement, rows)
        done = True
    except sqlite3.DatabaseError as error:
        if not db.in_transaction or not is_index_failure(error):
            raise
        db.execute("ROLLBACK TO change_index")
        if is_index_damage(error):
            drop_index(db)
        done = False
    db.execute("RELEASE change_index")
    return done


def drop_index(db: sqlite3.Connection) -> None:
    """Remove the index, if it can be removed; a later write makes it anew."""
    import sqlite3

    db.execute("SAVEPOINT drop_index")
    try:
        db.execute("DROP TABLE IF EXISTS page_index")
    except sqlite3.DatabaseError as error:
        if not db.in_transaction or not is_index_failure(error):
            raise
        db.execute("ROLLBACK TO drop_index")
    db.execute("UPDATE pages SET indexed = 0 WHERE indexed = 1")
    db.execute("RELEASE drop_index")


def is_index_failure(error: Exception) -> bool:
    """Return whether an error is the index's own: SQLite names it in words only."""
    return not any(word in str(error) for word in ("full", "locked", "readonly", "I/O"))


def is_index_damage(error: Exception) -> bool:
    """Return whether the index is broken, and not just unknown to this SQLite."""
    return any(word in str(error) for word in ("malformed", "corrupt", "constructor failed"))


def has_full_text(db: sqlite3.Connection) -> bool:
    """Return whether recall can use FTS5 on this file."""
    import sqlite3

    try:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'page_index'").fetchone():
            db.execute("SELECT rowid FROM page_index WHERE page_index MATCH 'x' LIMIT 1").fetchone()
        else:
            db.execute("CREATE VIRTUAL TABLE temp.probe USING fts5(text)")
            db.execute("DROP TABLE temp.probe")
    except sqlite3.DatabaseError:
        return False
    return True
