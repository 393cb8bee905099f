"""The store's file: one connection for all tables; locks, transactions, file modes, size.

Many processes use the file at once. A file that is locked, full, read-only or another program's
raises no error: use() returns the caller's fallback value, and a warning says why. A damaged store
is emptied, because everything in it can be fetched again, except the spending counts, which are
kept if readable. It is emptied, not deleted: other processes may be writing to it, and its journal
would be applied to a new file. For the same reason, a store of an earlier version is copied to a
file next to it, then emptied.
"""

from __future__ import annotations

import _thread  # contains threading's lock; importing threading takes 2 ms
import contextlib
import os
import time

from websearch.kit import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator
    from typing import Any

    Work = Callable[[sqlite3.Connection], Any]

DEFAULT_PATH = "~/.glsi/cache.db"  # the path that GLSI uses
SCHEMA_VERSION = 8  # PRAGMA user_version; 0: a new file or GLSI's
APPLICATION_ID = 0x77656273  # marks a store in the file header
LOCK_SECONDS = 2.0  # maximum wait for other programs
LOCKED_SECONDS = 10.0  # seconds after it in which this process's other connections hardly wait
SHORT_WAIT = 0.1  # seconds for which they hardly wait
RELEASED_AT_ONCE = 2_000  # file pages of 4 KB per step when the file shrinks

# AUTOINCREMENT: the newest pages have the highest ids, also after removals. The long texts are
# last, so SQLite reads the other columns without them.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS cache (
    query_hash TEXT PRIMARY KEY, content TEXT, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX IF NOT EXISTS cache_updated ON cache (updated_at);
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT UNIQUE, final_url TEXT, hosts TEXT,
    fetched_at REAL, truncated INTEGER, published TEXT, updated TEXT, title TEXT, author TEXT,
    text TEXT, outside TEXT);
CREATE INDEX IF NOT EXISTS pages_fetched ON pages (fetched_at);
CREATE INDEX IF NOT EXISTS pages_final ON pages (final_url);
CREATE TABLE IF NOT EXISTS history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, moment REAL, caller TEXT, kind TEXT, text TEXT,
    params TEXT, ok INTEGER);
CREATE INDEX IF NOT EXISTS history_moment ON history (moment);
CREATE TABLE IF NOT EXISTS spending (
    month TEXT, engine TEXT, requests INTEGER, PRIMARY KEY (month, engine));
"""
# Count requests to a paid engine in a month; values: month, engine, requests.
ADD_SPENT = (
    "INSERT INTO spending VALUES (?, ?, ?) ON CONFLICT (month, engine) "
    "DO UPDATE SET requests = requests + excluded.requests"
)
_SPENT = "SELECT CAST(month AS TEXT), CAST(engine AS TEXT), CAST(requests AS INTEGER) FROM spending"
_ADVICE = (
    "Free disk space, stop a program that locks the file, or set GLSI_DB_PATH to a file in a "
    "writable folder."
)
_WRITING = _thread.allocate_lock()  # SQLite's own wait for a lock is not fair to threads
_locked: dict[str, float] = {}  # path -> time until which connections hardly wait for its lock
_kept: dict[str, sqlite3.Connection] | None = None  # a server's, by path


class StoreFile:
    """A call's access to the file, which is opened at first use. Call close() at the end.

    path: the file; "" means $GLSI_DB_PATH or ~/.glsi/cache.db. ":memory:" keeps nothing.
    warnings: sentences about failures and recreated stores.
    """

    def __init__(self, path: str = "") -> None:
        self.path = store_path(path)
        self.warnings: list[str] = []
        self._db: sqlite3.Connection | None = None
        self._version = 0  # schema version of the open file
        self._failed: set[bool] = set()  # kinds of use that failed: reading (False), writing (True)

    @property
    def has_failed(self) -> bool:
        """Whether reading or writing failed; the last warning says why."""
        return bool(self._failed)

    def use(self, work: Work, missed: object, writing: bool = False) -> Any:
        """Return the result of work(connection), or missed if the store cannot be used.

        Writing is one transaction (BEGIN IMMEDIATE): complete or not at all, one process at a time.
        A failure adds a warning and stops more attempts of its kind. If the file is damaged, it
        is recreated, and the work is done in the new store.
        """
        if writing in self._failed:
            return missed
        try:
            try:
                return self._work(work, missed, writing)
            except store_errors() as error:
                if not is_damage(error):
                    raise
            return self._work_again(work, missed, writing)
        except store_errors() as error:
            is_glsis = self._db is not None and not self._version  # it lacks the other tables
            if writing or not is_glsis or type(error).__name__ != "OperationalError":
                self._give_up(error, writing)
        return missed

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query; [] if the store cannot be read."""
        found: list[tuple[Any, ...]] = self.use(lambda db: db.execute(query, values).fetchall(), [])
        return found

    def _work(self, work: Work, missed: object, writing: bool) -> Any:
        """Return the result of work(connection), or missed if there is no file to read.

        Raises store_errors().
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
        if self._version < SCHEMA_VERSION:
            prepare(db)
            self.warnings += [] if self._version else keep_private(self.path)
            self._version = SCHEMA_VERSION
        return transaction(db, work)

    def _open(self) -> sqlite3.Connection:
        """Return the connection to the file, which must exist. Raises store_errors()."""
        self._db, self._version = open_store(self.path)
        self.warnings += keep_private(self.path) if self._version else []
        if 0 < self._version < SCHEMA_VERSION:
            try:
                with upkeep_lock(self.path, LOCK_SECONDS):
                    self._update(self._db)
            except store_errors():
                self.close()
                raise
        return self._db

    def _update(self, db: sqlite3.Connection) -> None:
        """Add to a store of the previous version what it lacks. Raises store_errors().

        A store of an earlier version is copied to a file and emptied.
        """
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version == SCHEMA_VERSION - 1:
            transaction(db, add_authors)
        elif version < SCHEMA_VERSION:  # otherwise another process was faster
            aside = f"{self.path}.version-{version}"
            create_file(aside)
            with contextlib.closing(connect(aside)) as copy:
                db.backup(copy, progress=refuse_to_wait)
            self._empty()
            message = f"The store {self.path} was from an earlier version of this program"
            self.warnings.append(f"{message}: it was moved to {aside}, and a new one was created.")
        self._version = SCHEMA_VERSION

    def _work_again(self, work: Work, missed: object, writing: bool) -> Any:
        """Empty a damaged file and warn, then return the result of work(connection).

        If another process has just emptied it, use its file. Raises store_errors(): an OSError
        if the file is not marked as a store.
        """
        if not is_store(self.path):
            raise OSError("it is damaged, or not a store")
        with upkeep_lock(self.path, LOCK_SECONDS):
            try:
                return self._work(work, missed, writing)
            except store_errors() as error:
                if not is_damage(error):
                    raise
                self._empty()
                message = f"The store {self.path} was damaged ({reason_of(error)})"
            self.warnings.append(f"{message} and has been recreated.")
        return self._work(work, missed, writing)

    def _empty(self) -> None:
        """Replace the file's content with an empty store that keeps the spending rows, if readable.

        SQLite's backup overwrites all pages in one transaction without reading them. Raises
        store_errors().
        """
        import sqlite3

        self._db = self._db or connect(self.path)
        spent: list[tuple[Any, ...]] = []
        with contextlib.suppress(*store_errors()):
            spent = self._db.execute(_SPENT).fetchall()
        self._db.execute("PRAGMA writable_schema = ON")  # otherwise SQLite refuses a truncated file
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as source:
            prepare(source)
            source.executemany(ADD_SPENT, spent)
            source.backup(self._db, progress=refuse_to_wait)
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._db.execute("PRAGMA writable_schema = OFF")
        self._version = SCHEMA_VERSION

    def clear_file(self) -> bool:
        """Empty the file except for the spending counts; return whether that worked.

        Stores of earlier versions are deleted.
        """
        for version in range(1, SCHEMA_VERSION):
            with contextlib.suppress(OSError):
                os.remove(f"{self.path}.version-{version}")
        self.use(lambda db: db.execute("SELECT 1 FROM cache LIMIT 1").fetchone(), None)
        could_read = False not in self._failed
        try:
            if could_read:
                with contextlib.suppress(*store_errors()):
                    self._empty()
                    return True
            # A full disk has no space for a journal or its index. In memory they need none, if
            # nobody else reads.
            self.close()
            self._db, self._version = open_store(self.path, alone=True)
            self._db.execute("PRAGMA journal_mode = MEMORY").fetchone()
            self._empty()
            self._db.execute("PRAGMA locking_mode = NORMAL")
            self._db.execute("PRAGMA journal_mode = WAL").fetchone()
        except store_errors() as error:
            if could_read:
                self._give_up(error, writing=True)
            return False
        if not could_read:
            self._failed.clear()
            self.warnings[-1:] = ["The disk is full: what was removed could not be counted."]
        return True

    def _give_up(self, error: Exception, writing: bool) -> None:
        """Warn, and stop writing to the store or stop using it."""
        is_readable = writing and self._db is not None
        self._failed = {True} if is_readable else {False, True}
        verb = "written" if is_readable else "used"
        reason, advice = reason_of(error), _ADVICE
        if "locked" in reason:
            _locked[self.path] = time.monotonic() + LOCKED_SECONDS
        if "not a store" in reason:
            advice = f"Delete {self.path} if it was one. Or set GLSI_DB_PATH to another file."
        message = f"The store {self.path or DEFAULT_PATH} cannot be {verb}: {reason}."
        self.warnings.append(f"{message} {advice}")

    def close(self) -> None:
        """Close the file if it was opened."""
        db, self._db, self._version = self._db, None, 0
        if db is not None:
            with contextlib.suppress(*store_errors()):  # committed data is in the file
                if _kept is not None and self.path not in _kept:
                    import atexit
                    import sqlite3

                    _kept[self.path] = sqlite3.connect(self.path, check_same_thread=False)
                    _kept[self.path].execute("PRAGMA schema_version").fetchone()  # opens the file
                    atexit.register(_kept[self.path].close)
                db.close()


# ===== the file on the disk =======================================================================


def store_path(path: str) -> str:
    """Return the absolute path of the store, ":memory:", or "" if there is no home folder."""
    path = path or os.environ.get("GLSI_DB_PATH", "").strip() or DEFAULT_PATH
    if path.startswith((":memory:", "file::memory:")):
        return ":memory:"
    if path[:2] in ("~", "~/") and os.name != "nt" and not os.environ.get("HOME"):
        return ""  # like GLSI: ignore the home folder in the password file
    expanded = os.path.expanduser(path)
    try:
        return "" if expanded.startswith("~") else os.path.abspath(expanded)
    except OSError:  # the current folder has been removed
        return expanded


def create_file(path: str) -> None:
    """Create an empty file that only its owner can read, and its folder. Raises OSError.

    SQLite would let others read the file; SQLite's other files copy its mode.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def keep_private(path: str) -> list[str]:
    """Restrict a store to its owner; return a warning if others had access.

    Raises OSError.
    """
    if os.name != "posix" or path == ":memory:":
        return []
    status = os.stat(path)
    is_mine, mode = status.st_uid == os.geteuid(), status.st_mode & 0o777
    if not mode & (0o077 if is_mine else 0o022):  # another user may share a store with readers
        return []
    could = f"Others could {'change' if mode & 0o022 else 'read'} the store {path}"
    with contextlib.suppress(OSError):  # another user's file
        for name in filter(os.path.exists, (path, f"{path}-wal", f"{path}-shm")):
            os.chmod(name, os.stat(name).st_mode & 0o700)
    if os.stat(path).st_mode & 0o077:  # some file systems ignore modes
        advice = "Set GLSI_DB_PATH to a file that only you can read."
        return [f"{could}, and its mode cannot be changed. {advice}"]
    doubt = " Clear it if you do not trust its content." if mode & 0o022 else ""
    return [f"{could}; now only you can.{doubt}"]


def size_on_disk(path: str) -> int:
    """Return a file's size; 0 if there is no file: the last process to close removes a journal."""
    try:
        return os.path.getsize(path) if os.path.isfile(path) else 0
    except OSError:  # the file has just been removed
        return 0


@contextlib.contextmanager
def upkeep_lock(path: str, seconds: float) -> Iterator[None]:
    """Let one process at a time repair or shrink a store. Raises sqlite3.Error after seconds.

    SQLite locks an empty file next to the store, which works on every system.
    """
    import sqlite3

    name = path if path == ":memory:" else f"{path}-lock"
    with contextlib.closing(sqlite3.connect(name, timeout=seconds, isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield


def is_store(path: str) -> bool:
    """Return whether a file, damaged or not, is marked as a store.

    SQLite must read the mark: if this process opened and closed the file itself, the locks of its
    other connections would end.
    """
    with contextlib.suppress(*store_errors()), contextlib.closing(connect(path)) as db:
        db.execute("PRAGMA writable_schema = ON")  # otherwise SQLite refuses a truncated file
        return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)
    return False


def refuse_to_wait(status: int, *_: int) -> None:
    """Raise sqlite3.Error if a backup step meets a lock, instead of waiting for the lock."""
    import sqlite3

    if status in (5, 6):  # SQLITE_BUSY, SQLITE_LOCKED; Python 3.10 has no names for them
        raise sqlite3.OperationalError("database is locked")


# ===== connections, tables, transactions ==========================================================


def connect(path: str) -> sqlite3.Connection:
    """Return a connection to a path or :memory:. Raises store_errors()."""
    import sqlite3

    if os.path.isfile(path) and 0 < os.path.getsize(path) < 512:
        raise sqlite3.DatabaseError("file is not a database")  # SQLite would overwrite it
    wait = SHORT_WAIT if time.monotonic() < _locked.get(path, 0.0) else LOCK_SECONDS
    # isolation_level=None: transaction() begins and ends transactions.
    db = sqlite3.connect(path, timeout=wait, isolation_level=None)
    # Another program may have written bytes that are not UTF-8.
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    return db


def keep_open() -> None:
    """Let this process, a server, keep one idle connection to each store that it uses.

    Closing the last connection to a file costs a checkpoint and a sync, 10 to 30 ms.
    """
    global _kept  # noqa: PLW0603  a property of the process
    _kept = {} if _kept is None else _kept


def open_store(path: str, alone: bool = False) -> tuple[sqlite3.Connection, int]:
    """Return a connection to a store, and its schema version: 0 for a new file or GLSI's.

    alone: lock the file against others; then SQLite needs no file for the index of its journal.
    Removed rows are overwritten in the file. Raises sqlite3.Error, and OSError for a database of
    another program or a later version.
    """
    with contextlib.ExitStack() as stack:
        db = stack.enter_context(contextlib.closing(connect(path)))
        if alone:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
        version, program = (
            db.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("user_version", "application_id")
        )
        if program != APPLICATION_ID:
            tables = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
            if tables and "query_hash" not in str(tables.get("cache")):
                raise OSError("it is another program's database, not a store")
        if version > SCHEMA_VERSION:
            raise OSError("it was made by a later version of this program")
        db.execute("PRAGMA synchronous = NORMAL")  # safe with WAL and saves an fsync
        db.execute("PRAGMA secure_delete = FAST")  # without additional writes
        stack.pop_all()  # the caller closes it
        return db, version


def prepare(db: sqlite3.Connection) -> None:
    """Create the tables in a new file or GLSI's file; the full-text table only if SQLite has FTS5.

    Several processes may do this at once. Raises sqlite3.Error.
    """
    import sqlite3

    from websearch.store.full_text import create_index

    db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # takes effect in a new file only
    with contextlib.suppress(sqlite3.Error):  # file systems without WAL get the older journal
        db.execute("PRAGMA journal_mode = WAL").fetchone()

    def create(db: sqlite3.Connection) -> None:
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        create_index(db)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    transaction(db, create)


def add_authors(db: sqlite3.Connection) -> None:
    """Add the column for authors, which version 7 lacks."""
    db.execute("ALTER TABLE pages ADD COLUMN author TEXT")
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


def transaction(db: sqlite3.Connection, work: Work) -> Any:
    """Return the result of work(db), done completely or not at all. Raises store_errors()."""
    import sqlite3

    if not _WRITING.acquire(timeout=LOCK_SECONDS):
        raise sqlite3.OperationalError("database is locked")
    try:
        db.execute("BEGIN IMMEDIATE")
        result = work(db)
        db.execute("COMMIT")
        return result
    finally:
        if db.in_transaction:
            with contextlib.suppress(*store_errors()):
                db.execute("ROLLBACK")
        _WRITING.release()


def store_errors() -> tuple[type[Exception], ...]:
    """Return the exceptions that a store raises: SQLite's, the system's, and for a missing sqlite3.

    UnicodeDecodeError: sqlite3 raises it if SQLite's message quotes a damaged file's names.
    """
    try:
        import sqlite3
    except ImportError:
        return (OSError, ImportError)
    return (OSError, UnicodeDecodeError, sqlite3.Error)


def is_damage(error: Exception) -> bool:
    """Return whether an error means a damaged file, not a system error or an invalid statement.

    Python raises this class itself, not a subclass, for SQLITE_CORRUPT and SQLITE_NOTADB.
    """
    return isinstance(error, UnicodeError) or type(error).__name__ == "DatabaseError"


def reason_of(error: Exception) -> str:
    """Return a short reason why a store cannot be used."""
    if isinstance(error, ImportError):
        return "this Python was built without SQLite"
    if isinstance(error, UnicodeError):
        return "its schema is not UTF-8"
    return one_line(getattr(error, "strerror", None) or str(error), 200)


# ===== size =======================================================================================


def file_bytes(db: sqlite3.Connection) -> tuple[int, int]:
    """Return the used bytes of a file, and its size."""
    names = ("page_count", "freelist_count", "page_size")
    count, free, size = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
    return (count - free) * size, count * size


def release_bytes(db: sqlite3.Connection, bound: int, end: float) -> None:
    """Shrink the file toward bound bytes by its free parts, if others allow it; not GLSI's file.

    end: when to stop, on the clock of time.monotonic().
    """
    before, size = 0, db.execute("PRAGMA page_size").fetchone()[0]
    with contextlib.suppress(*store_errors()):
        while bound < (now := file_bytes(db)[1]) != before and time.monotonic() < end:
            before, surplus = now, min(RELEASED_AT_ONCE, -((bound - now) // size))
            db.executescript(f"PRAGMA incremental_vacuum({surplus})")  # execute stops after a step
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # only this shrinks the file
