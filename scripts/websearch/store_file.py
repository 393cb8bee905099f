"""The store's file: its tables, opening, locks, transactions, size and rights.

Many processes use one file at the same time. A file that is damaged, locked, full or read-only
raises nothing: use() returns what its caller names for this case, and warnings say why.
"""

from __future__ import annotations

import os
import time

from websearch.common import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from typing import Any

    FileState = tuple[str, int, int, int, int, int]

DEFAULT_PATH = "~/.glsi/cache.db"  # GLSI's
# In PRAGMA user_version. 0: a new file, or one that only GLSI has used. 1: pages without published.
SCHEMA_VERSION = 2
LOCK_SECONDS = 3.0  # wait for other processes: sixteen that write without a pause take 0.5
MAX_KEPT = 8  # idle connections of a server: more calls than these seldom read at the same moment

# AUTOINCREMENT: the index may still know a page that was removed, so its id must not come back. The
# text stands last, so that SQLite reads no other column past it.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS cache (
    query_hash TEXT PRIMARY KEY, content TEXT, updated_at DATETIME DEFAULT CURRENT_TIMESTAMP);
CREATE INDEX IF NOT EXISTS cache_updated ON cache (updated_at);
CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT UNIQUE, final_url TEXT, hosts TEXT,
    fetched_at REAL, indexed INTEGER DEFAULT 0, published TEXT, title TEXT, text TEXT);
CREATE INDEX IF NOT EXISTS pages_fetched ON pages (fetched_at);
CREATE INDEX IF NOT EXISTS pages_unindexed ON pages (id) WHERE indexed = 0;
CREATE TABLE IF NOT EXISTS searches (key TEXT PRIMARY KEY, owner TEXT, expires REAL, outcome TEXT)
"""
# Made when it is first needed: a file that an earlier version made does not have it.
SPENDING = (
    "CREATE TABLE IF NOT EXISTS spending "
    "(month TEXT, engine TEXT, requests INTEGER, PRIMARY KEY (month, engine))"
)
_ADD_PUBLISHED = "ALTER TABLE pages ADD COLUMN published TEXT"


class StoreFile:
    """A call's access to the file, which is opened at first use; close() it at the end.

    path: the file; "" is $GLSI_DB_PATH, else ~/.glsi/cache.db. ":memory:" keeps nothing.
    warnings: what could not be used and what was put right, as sentences, each once.
    """

    def __init__(self, path: str = "") -> None:
        self.path = store_path(path)
        self.warnings: list[str] = []
        self._db: sqlite3.Connection | None = None
        self._state: FileState | None = None  # before it was opened
        self._version = 0  # of the file's schema
        self._is_prepared = False  # the tables are there and may be written
        self._no_reading = self._no_writing = False

    def use(
        self, work: Callable[[sqlite3.Connection], Any], missed: Any, writing: bool = False
    ) -> Any:
        """Return what work(connection) returns, or missed if the store cannot be used.

        Writing happens in one transaction. A failure is told in warnings; it is not tried again.
        """
        if self._no_reading or (writing and self._no_writing):
            return missed
        try:
            db = patiently(lambda: self._open(writing))
            if db is None:
                return missed
            return transaction(db, work) if writing else patiently(lambda: work(db))
        except store_errors() as error:
            if not self._version and "no such table" in str(error):
                return missed  # GLSI's file, in which none of our tables has been made yet
            self._give_up(error, writing)
            return missed

    def _open(self, writing: bool) -> sqlite3.Connection | None:
        """Return the open connection; None if there is nothing to read. Raises store_errors()."""
        db = self._db or self._take_kept() or self._open_file(writing)
        if db and writing and not self._is_prepared:
            if self._version < SCHEMA_VERSION:
                prepare(db)
                self._version = SCHEMA_VERSION
                self._keep_private()
            db.execute("PRAGMA synchronous = NORMAL")  # safe with WAL, one fsync less
            self._is_prepared = True
        return db

    def _take_kept(self) -> sqlite3.Connection | None:
        """Return a connection that was kept, or None."""
        self._state = file_state(self.path) if kept.room else None
        self._db, self._version = kept.take(self._state) or (None, 0)
        return self._db

    def _open_file(self, writing: bool) -> sqlite3.Connection | None:
        """Return a new connection, None if there is nothing to read; the file is made for writing.

        Raises store_errors().
        """
        import sqlite3

        if not self.path:
            raise OSError("there is no home folder (HOME is not set)")
        if self.path != ":memory:" and not os.path.exists(self.path):
            if not writing:
                return None
            create_file(self.path)
        self._db, self._version = self._connect()
        if self._version not in range(SCHEMA_VERSION + 1):
            raise sqlite3.DatabaseError("file is not a database of this version")
        if self._version:
            self._keep_private()
        return self._db

    def _connect(self) -> tuple[sqlite3.Connection, int]:
        """Return a connection and the file's schema version. Raises store_errors().

        A file in a folder that is not writable can be read, too, although SQLite cannot make the
        files there that it needs beside a file in WAL mode.
        """
        import sqlite3

        try:
            return self._connect_to(self.path)
        except sqlite3.OperationalError:
            writable = os.access(os.path.dirname(self.path), os.W_OK)
            if writable or size_on_disk(f"{self.path}-wal") or not os.path.isfile(self.path):
                raise
            return self._connect_to(f"{file_uri(self.path)}?mode=ro&immutable=1")

    def _connect_to(self, address: str) -> tuple[sqlite3.Connection, int]:
        """Return a connection to a path or file: URI, and its schema version."""
        import sqlite3

        if os.path.isfile(address) and 0 < os.path.getsize(address) < 512:
            raise sqlite3.DatabaseError("file is not a database")  # SQLite would write over it
        # isolation_level=None: transactions begin and end where this module says so. The timeout is
        # short because patiently() waits. A connection that is kept goes from thread to thread, but
        # serves one call at a time.
        db = sqlite3.connect(
            address,
            timeout=0.05,
            isolation_level=None,
            uri=address.startswith("file:"),
            check_same_thread=not kept.room,
        )
        try:
            db.text_factory = lenient_text
            return db, db.execute("PRAGMA user_version").fetchone()[0]
        except BaseException:
            db.close()
            raise

    def _keep_private(self) -> None:
        """Let only the owner read and write the file; warn if others could. Raises OSError."""
        if os.name != "posix" or self.path == ":memory:":
            return
        status = os.stat(self.path)
        is_mine, mode = status.st_uid == os.geteuid(), status.st_mode & 0o777
        if not mode & (0o077 if is_mine else 0o022):  # another user may let us read a store
            return
        could = f"Others could {'change' if mode & 0o022 else 'read'} the store {self.path}"
        if make_private(self.path):
            doubt = " Clear it if you do not trust what it holds." if mode & 0o022 else ""
            self.warnings.append(f"{could}; now only you can.{doubt}")
        else:
            advice = "Set GLSI_DB_PATH to a file that only you can read."
            self.warnings.append(f"{could}, and its mode cannot be changed. {advice}")

    def _give_up(self, error: Exception, writing: bool) -> None:
        """Warn once, and use the store no more for writing, or for nothing."""
        import_failed, system_failed = isinstance(error, ImportError), isinstance(error, OSError)
        reason = one_line(getattr(error, "strerror", None) or str(error), 200)
        is_damaged = not import_failed and not system_failed and may_be_damage(error)
        if isinstance(error, UnicodeError) or not reason:  # Python 3.10 has no words for it
            reason = "file is damaged"
        if is_damaged:
            advice = "Move it away and a new one is made, or set GLSI_DB_PATH to another file."
        elif "locked" in reason:
            advice = "Another program keeps it busy; end that, or set GLSI_DB_PATH to another file."
        elif "full" in reason or "space" in reason:
            advice = "Free some space, or set GLSI_DB_PATH to a file on another disk."
        elif import_failed:
            advice = "This Python was built without SQLite: use another one."
        else:
            advice = "Set GLSI_DB_PATH to a file in a folder that is writable."
        self._no_writing = True
        self._no_reading = is_damaged or not writing or self._db is None
        verb = "written" if writing and not is_damaged else "used"
        place = self.path or DEFAULT_PATH
        self.warnings.append(f"The store {place} cannot be {verb}: {reason}. {advice}")

    def close(self) -> None:
        """Close the file, or keep a connection that has only read; nothing if it was not opened."""
        if self._db is not None:
            db, self._db = self._db, None
            if self._is_prepared or self.warnings:
                close_connection(db)
            else:
                kept.put(self._state, db, self._version)


# ===== connections that a server keeps ============================================================


class KeptConnections:
    """Connections that have only read, kept open between the calls of a server.

    Opening the file takes two thirds of the time of a call that finds its answer in the store. A
    kept connection is used again only if the file is in the state in which it was opened.
    room: how many may be idle; 0, unless a server sets it: one command needs none.
    """

    def __init__(self) -> None:
        self.room = 0
        self.idle: list[tuple[FileState, sqlite3.Connection, int]] = []

    def put(self, state: FileState | None, db: sqlite3.Connection, version: int) -> None:
        """Keep a connection to a file in a state, and the version of its schema; or close it."""
        if state and len(self.idle) < self.room:
            self.idle.append((state, db, version))
        else:
            close_connection(db)

    def take(self, state: FileState | None) -> tuple[sqlite3.Connection, int] | None:
        """Return a connection to a file in a state, and the version of its schema; or None.

        If the file's state is another one, all are closed: this empties SQLite's journal, and what
        was put in the file's place is not mixed with it.
        """
        try:
            known, db, version = self.idle.pop()
        except IndexError:
            return None
        if known == state:
            return db, version
        close_connection(db)
        self.close()
        return None

    def close(self) -> None:
        """Close the connections that are idle."""
        while self.idle:
            close_connection(self.idle.pop()[1])


kept = KeptConnections()


def file_state(path: str) -> FileState | None:
    """Return what changes with the file at a path: another file, other content, other rights.

    None: there is no such file, or a part of it stands in SQLite's journal, because another call
    writes.
    """
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if size_on_disk(f"{path}-wal"):
        return None
    times = status.st_mtime_ns, status.st_ctime_ns
    return path, status.st_dev, status.st_ino, status.st_size, *times


def close_connection(db: sqlite3.Connection) -> None:
    """Close a connection."""
    try:
        db.close()
    except store_errors():
        pass  # what was committed is in the file or its journal


# ===== the file on the disk =======================================================================


def store_path(path: str) -> str:
    """Return the absolute path of the store, ":memory:", or "" if there is no home folder."""
    given = path or os.environ.get("GLSI_DB_PATH", "").strip() or DEFAULT_PATH
    if given.startswith((":memory:", "file::memory:")):
        return ":memory:"
    if given[:2] in ("~", "~/") and os.name != "nt" and not os.environ.get("HOME"):
        return ""  # as GLSI does: the home folder of the password file is not used
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


def make_private(path: str) -> bool:
    """Take the rights of group and others from the store's files; return whether that worked."""
    names = [name for name in (path, f"{path}-wal", f"{path}-shm") if os.path.exists(name)]
    try:
        for name in names:
            os.chmod(name, os.stat(name).st_mode & 0o700)
        return not os.stat(path).st_mode & 0o077  # some file systems ignore modes
    except OSError:  # it is another user's file
        return False


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


# ===== tables, errors, transactions ===============================================================


def lenient_text(data: bytes) -> str:
    """Return text of the file; another program may have put there what is no UTF-8."""
    return data.decode("utf-8", "replace")


def prepare(db: sqlite3.Connection) -> None:
    """Make the tables in a new file or in GLSI's, and the column that version 1 lacks.

    Several processes may do so at once. Raises sqlite3.Error.
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
        if "published" not in [row[1] for row in db.execute("PRAGMA table_info(pages)")]:
            db.execute(_ADD_PUBLISHED)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    transaction(db, create)


def store_errors() -> tuple[type[Exception], ...]:
    """Return what a store can fail with: errors of SQLite and the system, no sqlite3 at all.

    UnicodeError: sqlite3 raises it for a damaged file whose names stand in SQLite's message.
    """
    try:
        import sqlite3
    except ImportError:
        return (OSError, ImportError)
    return (OSError, UnicodeError, sqlite3.Error)


def may_be_damage(error: Exception) -> bool:
    """Return whether an SQLite error may come from a damaged file, and not from the system.

    Python 3.10 has no error codes, so the error's words tell.
    """
    words = ("locked", "full", "readonly", "unable to open", "I/O")
    return not any(word in str(error) for word in words)


def patiently(action: Callable[[], Any]) -> Any:
    """Return what action returns, tried again while another process holds the file.

    SQLite's own waiting looks once in 100 ms, too seldom if sixteen processes write: some would
    never have their turn.
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


def transaction(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], Any]) -> Any:
    """Return what work(db) returns, done whole or not at all. Raises store_errors()."""
    import contextlib
    import sqlite3

    patiently(lambda: db.execute("BEGIN IMMEDIATE"))
    try:
        result = work(db)
        patiently(lambda: db.execute("COMMIT"))
        return result
    finally:
        if db.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                db.execute("ROLLBACK")


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


def shrink_file(db: sqlite3.Connection) -> None:
    """Make the file as small as it can be after a removal, as far as other readers let it."""
    import contextlib
    import sqlite3

    with contextlib.suppress(sqlite3.Error):
        if not db.execute("SELECT 1 FROM pages UNION ALL SELECT 1 FROM cache LIMIT 1").fetchone():
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # a file that GLSI made gets it now
            db.execute("VACUUM")  # costs nothing: the file is empty
        release_bytes(db, 0)
