"""The store's file: one connection for all of its tables; locks, transactions, rights, size.

Many processes use one file at the same time. A file that is locked, full, read-only or another
program's raises nothing: use() returns what its caller names for this case, and warnings say why.
A damaged store is emptied where it stands: what it holds can be asked for again. It is not renamed,
because other processes may have it open: the last of them to close it would remove the new store's
journal.
"""

from __future__ import annotations

import contextlib
import os

from websearch.kit import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from typing import Any

    Work = Callable[[sqlite3.Connection], Any]

DEFAULT_PATH = "~/.glsi/cache.db"  # GLSI's
SCHEMA_VERSION = 4  # in PRAGMA user_version; 0: a new file, or one that only GLSI has used
LAST_OTHER_FORM = 2  # version 1.1.0 of the skill: pages and answers have another form
APPLICATION_ID = 0x77656273  # in the file's header, from version 4 on: this is a store
LOCK_SECONDS = 5.0  # wait for other processes

# AUTOINCREMENT: the newest pages have the highest ids, also after removals. The text stands last,
# so that SQLite reads no other column past it. The index holds words only (content=''); marks are
# part of words in Hindi and Thai.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS cache (
    query_hash TEXT PRIMARY KEY, content TEXT, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX IF NOT EXISTS cache_updated ON cache (updated_at);
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT UNIQUE, final_url TEXT, hosts TEXT,
    fetched_at REAL, truncated INTEGER, published TEXT, title TEXT, text TEXT);
CREATE INDEX IF NOT EXISTS pages_fetched ON pages (fetched_at);
CREATE VIRTUAL TABLE IF NOT EXISTS page_index USING fts5(title, body, content='', prefix='1',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'");
CREATE TABLE IF NOT EXISTS history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, moment REAL, caller TEXT, kind TEXT, text TEXT,
    params TEXT, ok INTEGER);
CREATE TABLE IF NOT EXISTS spending (
    month TEXT, engine TEXT, requests INTEGER, PRIMARY KEY (month, engine));
"""
LASTING_TABLES = ("spending",)  # their rows are kept when a damaged or full file is begun anew

# What to do about a failure whose reason holds these words.
_ADVICE = {
    "locked": "Another program keeps it busy; end that, or set GLSI_DB_PATH to another file.",
    "full": "Free some space, or set GLSI_DB_PATH to a file on another disk.",
    "no such module": "This Python's SQLite has no full-text search (FTS5): use another Python.",
    "sqlite3": "This Python was built without SQLite: use another one.",
    "not a store": "Move it away, or set GLSI_DB_PATH to another file.",
    "it is damaged": "The next search that is stored begins a new one.",
    "": "Set GLSI_DB_PATH to another file, in a folder that is writable.",
}


class StoreFile:
    """A call's access to the file, which is opened at first use; close() it at the end.

    path: the file; "" is $GLSI_DB_PATH, else ~/.glsi/cache.db. ":memory:" keeps nothing.
    warnings: what could not be used and what was put right, as sentences, each once.
    """

    def __init__(self, path: str = "") -> None:
        self.path = store_path(path)
        self.warnings: list[str] = []
        self._db: sqlite3.Connection | None = None
        self._version = 0  # of the schema of the file that is open
        self._unwritable: Exception | None = None  # why the open file can only be read
        self._failed: set[bool] = set()  # what is not tried again: reading (False), writing (True)
        self._told = ""  # the warning of the last failure
        self._broken: Work | None = None  # the work that has met damage
        self._is_new = False  # whether a damaged file was begun anew

    @property
    def has_failed(self) -> bool:
        """Whether something could not be read or written; the last of warnings says why."""
        return bool(self._failed)

    def use(self, work: Work, missed: Any, writing: bool = False) -> Any:
        """Return what work(connection) returns, or missed if the store cannot be used.

        Writing happens in one transaction (BEGIN IMMEDIATE): as a whole or not at all, one process
        at a time. A failure is told in warnings, and nothing of its kind is tried again. Writing
        begins a damaged store anew; reading changes nothing.
        """
        if writing in self._failed:
            return missed
        try:
            if writing and self._broken:
                self._begin_anew(self._broken)
            return self._work(work, missed, writing)
        except store_errors() as error:
            failure = error
        if not writing and self._version < SCHEMA_VERSION and "no such" in str(failure):
            return missed  # a table or column that GLSI and earlier versions do not have
        if is_damage(failure) and not self._is_new:
            if is_store(self.path):
                self._broken = work
                if writing:
                    return self.use(work, missed, writing)
                failure = OSError(f"it is damaged ({reason_of(failure)})")
            else:
                failure = OSError("it is damaged, or not a store")
        self._give_up(failure, writing)
        return missed

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query, [] if the store cannot be read."""
        found: list[tuple[Any, ...]] = self.use(lambda db: db.execute(query, values).fetchall(), [])
        return found

    def _work(self, work: Work, missed: Any, writing: bool, is_kept: bool = True) -> Any:
        """Return what work(connection) returns, missed if there is no file to read.

        is_kept: whether what is written stays. Raises store_errors().
        """
        if not self.path:
            raise OSError("there is no home folder (HOME is not set)")
        if not self._db and self.path != ":memory:" and not os.path.exists(self.path):
            if not writing:
                return missed
            create_file(self.path)
        db = self._db or self._open()
        if not writing:
            return work(db)
        if self._unwritable:
            raise self._unwritable
        if self._version < SCHEMA_VERSION:
            prepare(db)
            self.warnings += [] if self._version else keep_private(self.path)
            self._version = SCHEMA_VERSION
        return transaction(db, work, is_kept)

    def _open(self) -> sqlite3.Connection:
        """Return the connection to the file, which exists. Raises store_errors().

        On a full disk and in a folder that is not writable SQLite cannot make the files that it
        needs beside a file in WAL mode; the file can be read all the same.
        """
        import sqlite3

        try:
            self._db, self._version = open_store(self.path)
        except sqlite3.OperationalError as error:
            is_closed = os.path.isfile(self.path) and not size_on_disk(f"{self.path}-wal")
            if not is_closed or "locked" in str(error):
                raise
            self._db, self._version = open_store(f"{file_uri(self.path)}?mode=ro&immutable=1")
            self._unwritable = error
        self.warnings += keep_private(self.path) if self._version else []
        return self._db

    def _begin_anew(self, broken: Work) -> None:
        """Empty a damaged file, and warn; raises store_errors().

        broken: the work that has met the damage. If it can be done now, another process has begun
        the store anew.
        """
        self._broken, self._is_new = None, True
        with upkeep_lock(self.path, LOCK_SECONDS):
            try:
                self._work(broken, None, writing=True, is_kept=False)
            except store_errors() as error:
                if not is_damage(error):
                    raise
                self._renew(lasting_rows(self._db) if self._db else {})
                told = f"The store {self.path} could not be used ({reason_of(error)})"
                self.warnings.append(f"{told}: a new one is begun.")
        self._forget_failure()

    def _renew(self, rows: dict[str, list[Any]]) -> None:
        """Put an empty store in the place of what the file holds; rows: of LASTING_TABLES.

        SQLite's backup writes over all pages in one transaction, and reads none of them. Raises
        store_errors().
        """
        import sqlite3

        if self._unwritable:
            raise self._unwritable
        target = self._db = self._db or connect(self.path)
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as source:
            prepare(source)
            for table, values in rows.items():
                for value in values:
                    marks = ", ".join("?" * len(value))
                    source.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", value)  # noqa: S608
            source.backup(target, progress=refuse_to_wait)
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._version = SCHEMA_VERSION

    def clear_file(self) -> bool:
        """Empty the file, but for LASTING_TABLES.

        A file whose disk is so full that SQLite cannot empty it is removed, and a new one is made.
        Return whether that worked.
        """
        rows = self.use(lasting_rows, {})
        if True in self._failed and "full" not in self._told:
            return False
        try:
            try:
                self._renew(rows)
            except store_errors() as error:
                if "full" not in reason_of(error):
                    raise
                self.close()
                for ending in ("", "-wal", "-shm"):
                    with contextlib.suppress(FileNotFoundError):
                        os.remove(self.path + ending)
                create_file(self.path)
                self._renew(rows)
        except store_errors() as error:
            self._give_up(error, writing=True)
            return False
        self._forget_failure()
        return True

    def _forget_failure(self) -> None:
        """Take back the warning of a failure that is put right."""
        self._failed.clear()
        self._broken = None
        self.warnings[:] = [text for text in self.warnings if text != self._told]

    def _give_up(self, error: Exception, writing: bool) -> None:
        """Warn once, and use the store no more for writing, or for nothing."""
        reason = reason_of(error)
        advice = next(text for words, text in _ADVICE.items() if words in reason)
        if self._broken:
            self._failed, verb = {False}, "read"
        elif writing and self._db and not is_damage(error):
            self._failed, verb = {True}, "written"
        else:
            self._failed, verb = {False, True}, "used"
        self._told = f"The store {self.path or DEFAULT_PATH} cannot be {verb}: {reason}. {advice}"
        self.warnings.append(self._told)

    def close(self) -> None:
        """Close the file; nothing if it was not opened."""
        db, self._db, self._version, self._unwritable = self._db, None, 0, None
        if db is not None:
            with contextlib.suppress(*store_errors()):  # what was committed is in the file
                db.close()


# ===== the file on the disk =======================================================================


def store_path(path: str) -> str:
    """Return the absolute path of the store, ":memory:", or "" if there is no home folder."""
    path = path or os.environ.get("GLSI_DB_PATH", "").strip() or DEFAULT_PATH
    if path.startswith((":memory:", "file::memory:")):
        return ":memory:"
    if path[:2] in ("~", "~/") and os.name != "nt" and not os.environ.get("HOME"):
        return ""  # as GLSI does: the home folder of the password file is not used
    expanded = os.path.expanduser(path)
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


def keep_private(path: str) -> list[str]:
    """Let only the owner read and write a store; return a warning if others could.

    Raises OSError.
    """
    if os.name != "posix" or path == ":memory:":
        return []
    status = os.stat(path)
    is_mine, mode = status.st_uid == os.geteuid(), status.st_mode & 0o777
    if not mode & (0o077 if is_mine else 0o022):  # another user may let us read a store
        return []
    could = f"Others could {'change' if mode & 0o022 else 'read'} the store {path}"
    with contextlib.suppress(OSError):  # it is another user's file
        for name in filter(os.path.exists, (path, f"{path}-wal", f"{path}-shm")):
            os.chmod(name, os.stat(name).st_mode & 0o700)
    if os.stat(path).st_mode & 0o077:  # some file systems ignore modes
        advice = "Set GLSI_DB_PATH to a file that only you can read."
        return [f"{could}, and its mode cannot be changed. {advice}"]
    doubt = " Clear it if you do not trust what it holds." if mode & 0o022 else ""
    return [f"{could}; now only you can.{doubt}"]


def size_on_disk(path: str) -> int:
    """Return a file's size, 0 if there is no file: the last process to close removes a journal."""
    try:
        return os.path.getsize(path) if os.path.isfile(path) else 0
    except OSError:  # it has just gone
        return 0


def file_uri(path: str) -> str:
    """Return the file: URI of an absolute path, as SQLite reads it."""
    path = path.replace("\\", "/") if os.name == "nt" else path
    path = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return f"file://{'' if path.startswith('/') else '/'}{path}"


@contextlib.contextmanager
def upkeep_lock(path: str, seconds: float) -> Iterator[None]:
    """Let one process at a time repair or shrink a store; raises sqlite3.Error after seconds.

    SQLite locks an empty file beside the store, which works on every system.
    """
    import sqlite3

    name = path if path == ":memory:" else f"{path}-lock"
    with contextlib.closing(sqlite3.connect(name, timeout=seconds, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield


# ===== a damaged file =============================================================================


def is_store(path: str) -> bool:
    """Return whether a file, damaged or not, says of itself that it is a store."""
    with contextlib.suppress(*store_errors()), contextlib.closing(connect(path)) as db:
        return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)
    return False


def refuse_to_wait(status: int, *_: int) -> None:
    """Raise sqlite3.Error if a step of a backup met a lock, which backup() would wait for."""
    import sqlite3

    if status in (5, 6):  # SQLITE_BUSY, SQLITE_LOCKED; Python 3.10 has no names for them
        raise sqlite3.OperationalError("database is locked")


# ===== connections, tables, transactions ==========================================================


def connect(address: str) -> sqlite3.Connection:
    """Return a connection to a path, :memory: or a file: URI. Raises store_errors()."""
    import sqlite3

    if os.path.isfile(address) and 0 < os.path.getsize(address) < 512:
        raise sqlite3.DatabaseError("file is not a database")  # SQLite would write over it
    # isolation_level=None: transactions begin and end where transaction() says so.
    uri = address.startswith("file:")
    db = sqlite3.connect(address, timeout=LOCK_SECONDS, isolation_level=None, uri=uri)
    # Another program may have put there what is no UTF-8.
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    return db


def open_store(address: str) -> tuple[sqlite3.Connection, int]:
    """Return a connection to a store and its schema version: 0 of a new file and of GLSI's.

    Raises OSError for a database of another program or of a later version, and sqlite3.Error.
    """
    with contextlib.ExitStack() as stack:
        db = stack.enter_context(contextlib.closing(connect(address)))
        version, program = (
            db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("user_version", "application_id")
        )
        if program != APPLICATION_ID:
            tables = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
            if tables and "query_hash" not in str(tables.get("cache")):
                raise OSError("it is a database of another program, not a store")
        if version > SCHEMA_VERSION:
            raise OSError("a later version of this program made it")
        db.execute("PRAGMA synchronous = NORMAL")  # safe with WAL, one fsync less
        stack.pop_all()  # the caller closes it
        return db, version


def prepare(db: sqlite3.Connection) -> None:
    """Make the tables in a new file, in GLSI's or in that of an earlier version.

    Several processes may do so at once. Raises sqlite3.Error.
    """
    import sqlite3

    db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # takes effect in a new file only
    with contextlib.suppress(sqlite3.Error):  # a file system that cannot: SQLite's older journal
        db.execute("PRAGMA journal_mode = WAL").fetchone()

    def create(db: sqlite3.Connection) -> None:
        if 0 < db.execute("PRAGMA user_version").fetchone()[0] <= LAST_OTHER_FORM:
            for table in ("pages", "page_index", "searches"):
                db.execute(f"DROP TABLE IF EXISTS {table}")
            db.execute("DELETE FROM cache WHERE content LIKE '{%'")  # GLSI's are no JSON
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    transaction(db, create)


def lasting_rows(db: sqlite3.Connection) -> dict[str, list[Any]]:
    """Return the rows of LASTING_TABLES, as far as they can be read."""
    rows: dict[str, list[Any]] = {}
    for table in LASTING_TABLES:
        with contextlib.suppress(*store_errors()):
            rows[table] = db.execute(f"SELECT * FROM {table}").fetchall()  # noqa: S608
    return rows


def transaction(db: sqlite3.Connection, work: Work, is_kept: bool = True) -> Any:
    """Return what work(db) returns, done as a whole or not at all. Raises store_errors()."""
    db.execute("BEGIN IMMEDIATE")
    try:
        result = work(db)
        if is_kept:
            db.execute("COMMIT")
        return result
    finally:
        if db.in_transaction:
            with contextlib.suppress(*store_errors()):
                db.execute("ROLLBACK")


def store_errors() -> tuple[type[Exception], ...]:
    """Return what a store can fail with: errors of SQLite and the system, no sqlite3 at all.

    UnicodeDecodeError: sqlite3 raises it if a damaged file's names stand in SQLite's message.
    """
    try:
        import sqlite3
    except ImportError:
        return (OSError, ImportError)
    return (OSError, UnicodeDecodeError, sqlite3.Error)


def is_damage(error: Exception) -> bool:
    """Return whether an error tells of a damaged file, and not of the system or of a wrong call.

    Python 3.10 has no error codes, so the error's words tell.
    """
    kinds = ("DatabaseError", "OperationalError", "IntegrityError", "InternalError")
    words = ("locked", "full", "readonly", "unable to open", "I/O", "no such module")
    is_of_system = any(word in str(error) for word in words)
    return isinstance(error, UnicodeError) or (type(error).__name__ in kinds and not is_of_system)


def reason_of(error: Exception) -> str:
    """Return why a store cannot be used, in a few words."""
    reason = one_line(getattr(error, "strerror", None) or str(error), 200)
    if "disk I/O error" in reason:  # so SQLite calls a file that must not grow, too
        return f"its disk is full, or fails ({reason})"
    # Python 3.10 has no words for a schema that is no UTF-8.
    return "file is damaged" if isinstance(error, UnicodeError) or not reason else reason


# ===== size =======================================================================================


def file_bytes(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the bytes of a file that are in use, and all of its bytes."""
    names = ("page_count", "freelist_count", "page_size")
    count, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return (count - free) * size, count * size


def release_bytes(db: sqlite3.Connection, bound: int) -> None:
    """Give free parts of the file back until it has bound bytes; a file that GLSI made stays."""
    size = db.execute("PRAGMA page_size").fetchone()[0]
    surplus = -((bound - file_bytes(db)[1]) // size)
    if surplus > 0:  # executescript, because execute stops after the first step
        db.executescript(f"PRAGMA incremental_vacuum({surplus})")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # only now the file is smaller


def rewrite_file(db: sqlite3.Connection) -> None:
    """Write the file anew with nothing but what it holds, as far as other readers let that."""
    import sqlite3

    with contextlib.suppress(sqlite3.Error):
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # a file that GLSI made gets it now
        db.execute("VACUUM")
    with contextlib.suppress(sqlite3.Error):
        release_bytes(db, 0)
