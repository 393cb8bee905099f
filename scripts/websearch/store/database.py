"""The store's file: one connection for all of its tables; locks, transactions, modes, size.

Many processes use one file at the same time. A file that is locked, full, read-only or another
program's raises nothing: use() returns the value that its caller passes for this case, and warnings
say why. A damaged store is emptied, because everything in it can be asked for again except what was
spent, which is kept if it can be read. It is emptied in place, and not deleted: what other
processes have written meanwhile would go with a deleted file, or its journal into the new one.
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
SCHEMA_VERSION = 5  # in PRAGMA user_version; 0: a new file, or one that only GLSI has used
LAST_OTHER_FORM = 2  # version 1.1.0 of the skill: pages and answers have another form
APPLICATION_ID = 0x77656273  # in the file's header, from version 4 on: this is a store
LOCK_SECONDS = 5.0  # wait for other processes

# AUTOINCREMENT: the newest pages have the highest ids, also after removals. The long texts are
# last, so that SQLite reads no other column past them. The index holds words only (content='');
# marks are part of words in Hindi and Thai.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS cache (
    query_hash TEXT PRIMARY KEY, content TEXT, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX IF NOT EXISTS cache_updated ON cache (updated_at);
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT UNIQUE, final_url TEXT, hosts TEXT,
    fetched_at REAL, truncated INTEGER, published TEXT, title TEXT, text TEXT, outside TEXT);
CREATE INDEX IF NOT EXISTS pages_fetched ON pages (fetched_at);
CREATE VIRTUAL TABLE IF NOT EXISTS page_index USING fts5(title, body, content='', prefix='1',
    tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'");
CREATE TABLE IF NOT EXISTS history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, moment REAL, caller TEXT, kind TEXT, text TEXT,
    params TEXT, ok INTEGER);
CREATE TABLE IF NOT EXISTS spending (
    month TEXT, engine TEXT, requests INTEGER, PRIMARY KEY (month, engine));
"""
# Count requests to a paid engine in a month; the values are those of the table's columns.
ADD_SPENT = (
    "INSERT INTO spending VALUES (?, ?, ?) ON CONFLICT (month, engine) "
    "DO UPDATE SET requests = requests + excluded.requests"
)
_SPENT = "SELECT CAST(month AS TEXT), CAST(engine AS TEXT), CAST(requests AS INTEGER) FROM spending"
_ADVICE = (
    "Free its disk if that is full, end a program that keeps it busy, or set GLSI_DB_PATH to "
    "another file, in a folder that is writable."
)


class StoreFile:
    """A call's access to the file, which is opened at first use; close() it at the end.

    path: the file; "" is $GLSI_DB_PATH, else ~/.glsi/cache.db. ":memory:" keeps nothing.
    warnings: what could not be used and what was begun again, as sentences.
    """

    def __init__(self, path: str = "") -> None:
        self.path = store_path(path)
        self.warnings: list[str] = []
        self._db: sqlite3.Connection | None = None
        self._version = 0  # of the schema of the file that is open
        self._failed: set[bool] = set()  # what is not tried again: reading (False), writing (True)

    @property
    def has_failed(self) -> bool:
        """Whether something could not be read or written; the last of warnings says why."""
        return bool(self._failed)

    def use(self, work: Work, missed: Any, writing: bool = False) -> Any:
        """Return what work(connection) returns, or missed if the store cannot be used.

        Writing happens in one transaction (BEGIN IMMEDIATE): as a whole or not at all, one process
        at a time. A failure is added to warnings, and nothing of its kind is tried again. If the
        file is damaged, a new one is begun, and work is done there.
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
            # GLSI's file and those of earlier versions lack tables and columns.
            is_older = self._db is not None and self._version < SCHEMA_VERSION
            if writing or not is_older or type(error).__name__ != "OperationalError":
                self._give_up(error, writing)
        return missed

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query, [] if the store cannot be read."""
        found: list[tuple[Any, ...]] = self.use(lambda db: db.execute(query, values).fetchall(), [])
        return found

    def _work(self, work: Work, missed: Any, writing: bool) -> Any:
        """Return what work(connection) returns, missed if there is no file to read.

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
        """Return the connection to the file, which exists. Raises store_errors()."""
        self._db, self._version = open_store(self.path)
        self.warnings += keep_private(self.path) if self._version else []
        return self._db

    def _work_again(self, work: Work, missed: Any, writing: bool) -> Any:
        """Empty a damaged file and warn, then return what work(connection) returns in it.

        If another process has just emptied it, the work is done in what is there. Raises
        store_errors(): an OSError if the file does not say that it is a store.
        """
        if not is_store(self.path):
            raise OSError("it is damaged, or not a store")
        with upkeep_lock(self.path, LOCK_SECONDS):
            try:
                return self._work(work, missed, writing)
            except store_errors() as error:
                if not is_damage(error):
                    raise
                spent: list[tuple[Any, ...]] = []
                with contextlib.suppress(*store_errors()):
                    spent = spending_of(self._db) if self._db else []
                self._empty(spent)
                told = f"The store {self.path} was damaged ({reason_of(error)})"
            self.warnings.append(f"{told}: a new one is begun.")
        return self._work(work, missed, writing)

    def _empty(self, spent: list[tuple[Any, ...]]) -> None:
        """Replace what the file contains by an empty store with the rows of what was spent.

        SQLite's backup writes over all pages in one transaction, and reads none of them. Raises
        store_errors().
        """
        import sqlite3

        self._db = self._db or connect(self.path)
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as source:
            prepare(source)
            source.executemany(ADD_SPENT, spent)
            source.backup(self._db, progress=refuse_to_wait)
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self._version = SCHEMA_VERSION

    def clear_file(self) -> bool:
        """Empty the file, except of what was spent; return whether that worked."""
        spent = self.use(spending_of, [])
        if not self._failed:
            try:
                self._empty(spent)
            except store_errors() as error:
                self._give_up(error, writing=True)
        return not self._failed

    def _give_up(self, error: Exception, writing: bool) -> None:
        """Warn, and use the store no more for writing, or for nothing."""
        is_readable = writing and self._db is not None
        self._failed = {True} if is_readable else {False, True}
        verb = "written" if is_readable else "used"
        told = f"The store {self.path or DEFAULT_PATH} cannot be {verb}: {reason_of(error)}."
        self.warnings.append(f"{told} {_ADVICE}")

    def close(self) -> None:
        """Close the file; nothing if it was not opened."""
        db, self._db, self._version = self._db, None, 0
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


def is_store(path: str) -> bool:
    """Return whether a file, damaged or not, says of itself that it is a store.

    SQLite has to read that: closing a file that this process opened by itself would end the locks
    of its other connections.
    """
    with contextlib.suppress(*store_errors()), contextlib.closing(connect(path)) as db:
        return bool(db.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID)
    return False


def refuse_to_wait(status: int, *_: int) -> None:
    """Raise sqlite3.Error if a step of a backup met a lock, which backup() would wait for."""
    import sqlite3

    if status in (5, 6):  # SQLITE_BUSY, SQLITE_LOCKED; Python 3.10 has no names for them
        raise sqlite3.OperationalError("database is locked")


# ===== connections, tables, transactions ==========================================================


def connect(path: str) -> sqlite3.Connection:
    """Return a connection to a path or :memory:. Raises store_errors()."""
    import sqlite3

    if os.path.isfile(path) and 0 < os.path.getsize(path) < 512:
        raise sqlite3.DatabaseError("file is not a database")  # SQLite would write over it
    # isolation_level=None: transactions begin and end where transaction() says so.
    db = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None)
    # Another program may have put there what is no UTF-8.
    db.text_factory = lambda data: data.decode("utf-8", "replace")
    return db


def open_store(path: str) -> tuple[sqlite3.Connection, int]:
    """Return a connection to a store and its schema version: 0 of a new file and of GLSI's.

    Raises OSError for a database of another program or of a later version, and sqlite3.Error.
    """
    with contextlib.ExitStack() as stack:
        db = stack.enter_context(contextlib.closing(connect(path)))
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
        columns = [row[1] for row in db.execute("PRAGMA table_info(pages)")]
        if "outside" not in columns:  # before version 5
            db.execute("ALTER TABLE pages ADD COLUMN outside TEXT")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    transaction(db, create)


def spending_of(db: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """Return the rows of what was spent. Raises sqlite3.Error."""
    return db.execute(_SPENT).fetchall()


def transaction(db: sqlite3.Connection, work: Work) -> Any:
    """Return what work(db) returns, done as a whole or not at all. Raises store_errors()."""
    db.execute("BEGIN IMMEDIATE")
    try:
        result = work(db)
        db.execute("COMMIT")
        return result
    finally:
        if db.in_transaction:
            with contextlib.suppress(*store_errors()):
                db.execute("ROLLBACK")


def store_errors() -> tuple[type[Exception], ...]:
    """Return what a store can fail with: errors of SQLite and the system, no sqlite3 at all.

    UnicodeDecodeError: sqlite3 raises it if a damaged file's names are in SQLite's message.
    """
    try:
        import sqlite3
    except ImportError:
        return (OSError, ImportError)
    return (OSError, UnicodeDecodeError, sqlite3.Error)


def is_damage(error: Exception) -> bool:
    """Return whether an error means a damaged file, and not the system or a wrong statement.

    Python raises this class itself, and none below it, for SQLITE_CORRUPT and SQLITE_NOTADB.
    """
    return isinstance(error, UnicodeError) or type(error).__name__ == "DatabaseError"


def reason_of(error: Exception) -> str:
    """Return why a store cannot be used, in a few words."""
    if isinstance(error, ImportError):
        return "this Python was built without SQLite"
    if isinstance(error, UnicodeError):
        return "its schema is not UTF-8"
    return one_line(getattr(error, "strerror", None) or str(error), 200)


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
