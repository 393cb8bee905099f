"""The store's file: its tables, opening, locks, transactions, size and rights.

Many processes use one file at the same time. A file that is locked, full or read-only raises
nothing: use() returns what its caller names for this case, and warnings say why. A file that is
damaged, or that an earlier version made, is put aside, and a new one is begun.
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

DEFAULT_PATH = "~/.glsi/cache.db"  # GLSI's
SCHEMA_VERSION = 3  # in PRAGMA user_version; 0: a new file, or one that only GLSI has used
LOCK_SECONDS = 3.0  # wait for other processes: sixteen that write without a pause take 0.5

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


class StoreFile:
    """A call's access to the file, which is opened at first use; close() it at the end.

    path: the file; "" is $GLSI_DB_PATH, else ~/.glsi/cache.db. ":memory:" keeps nothing.
    warnings: what could not be used and what was put right, as sentences, each once.
    """

    def __init__(self, path: str = "") -> None:
        self.path = store_path(path)
        self.warnings: list[str] = []
        self._db: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None  # of the file that is open
        self._version = 0  # of the file's schema
        self._no_reading = self._no_writing = False

    def use(
        self, work: Callable[[sqlite3.Connection], Any], missed: Any, writing: bool = False
    ) -> Any:
        """Return what work(connection) returns, or missed if the store cannot be used.

        Writing happens in one transaction. A failure is told in warnings; it is not tried again,
        except in the new file that takes the place of a damaged one.
        """
        if self._no_reading or (writing and self._no_writing):
            return missed
        try:
            return self._work(work, missed, writing)
        except store_errors() as error:
            if not self._version and "no such table" in str(error):
                return missed  # GLSI's file, in which none of our tables has been made yet
            if not (is_damage(error) and self._put_aside(error)):
                self._give_up(error, writing)
                return missed
        try:
            return self._work(work, missed, writing)
        except store_errors() as error:
            self._give_up(error, writing)
            return missed

    def _work(self, work: Callable[[sqlite3.Connection], Any], missed: Any, writing: bool) -> Any:
        """Return what work(connection) returns, missed if there is no file to read.

        Raises store_errors().
        """
        db = patiently(lambda: self._open(writing))
        if db is None:
            return missed
        return transaction(db, work) if writing else patiently(lambda: work(db))

    def _open(self, writing: bool) -> sqlite3.Connection | None:
        """Return the open connection; None if there is nothing to read. Raises store_errors()."""
        db = self._db or self._open_file(writing)
        if db and writing and not self._version:
            prepare(db)
            self._version = SCHEMA_VERSION
            self._keep_private()
        return db

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
        self._identity = file_identity(self.path)
        db, version = self._connect()
        if version > SCHEMA_VERSION:
            db.close()
            raise OSError("a later version of this program made it")
        self._db, self._version = db, version
        if 0 < version < SCHEMA_VERSION:
            raise sqlite3.DatabaseError("an earlier version of this program made it")
        if version:
            self._keep_private()
        self._db.execute("PRAGMA synchronous = NORMAL")  # safe with WAL, one fsync less
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
        # short because patiently() waits.
        uri = address.startswith("file:")
        db = sqlite3.connect(address, timeout=0.05, isolation_level=None, uri=uri)
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

    def _put_aside(self, error: Exception) -> bool:
        """Move a file that cannot be used out of the way, and warn; return whether that worked.

        The next write makes a new file. An earlier file that was put aside is replaced.
        """
        identity, aside = self._identity, f"{self.path}.unusable"
        self.close()
        if file_identity(self.path) != identity:
            return True  # another process has put it aside
        try:
            for ending in ("", "-wal", "-shm"):  # with its journal it can still be repaired
                if os.path.exists(self.path + ending):
                    os.replace(self.path + ending, aside + ending)
        except OSError:
            return False
        self.warnings.append(
            f"The store {self.path} could not be used ({reason_of(error)}): it was put aside as "
            f"{aside}, and a new one is begun."
        )
        return True

    def _give_up(self, error: Exception, writing: bool) -> None:
        """Warn once, and use the store no more for writing, or for nothing."""
        reason = reason_of(error)
        if isinstance(error, ImportError):
            advice = "This Python was built without SQLite: use another one."
        elif "no such module" in reason:
            advice = "This Python's SQLite has no full-text search (FTS5): use another Python."
        elif "locked" in reason:
            advice = "Another program keeps it busy; end that, or set GLSI_DB_PATH to another file."
        elif "full" in reason or "space" in reason:
            advice = "Free some space, or set GLSI_DB_PATH to a file on another disk."
        else:
            advice = "Set GLSI_DB_PATH to another file, in a folder that is writable."
        self._no_writing = True
        self._no_reading = not writing or self._db is None or is_damage(error)
        verb = "used" if self._no_reading else "written"
        path = self.path or DEFAULT_PATH
        self.warnings.append(f"The store {path} cannot be {verb}: {reason}. {advice}")

    @property
    def is_full(self) -> bool:
        """Whether the file could not be written because its disk is full."""
        return self._no_writing and "is full" in self.warnings[-1]

    def remove_files(self) -> bool:
        """Remove the file and its journal; return whether that worked.

        Then a new one can be made, and the last warning holds no longer.
        """
        self.close()
        try:
            for ending in ("", "-wal", "-shm"):
                if os.path.exists(self.path + ending):
                    os.remove(self.path + ending)
        except OSError:
            return False
        self.warnings.pop()
        self._no_reading = self._no_writing = False
        return True

    def close(self) -> None:
        """Close the file; nothing if it was not opened."""
        db, self._db, self._version = self._db, None, 0
        if db is not None:
            try:
                db.close()
            except store_errors():
                pass  # what was committed is in the file or its journal


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


def make_private(path: str) -> bool:
    """Take the rights of group and others from the store's files; return whether that worked."""
    names = [name for name in (path, f"{path}-wal", f"{path}-shm") if os.path.exists(name)]
    try:
        for name in names:
            os.chmod(name, os.stat(name).st_mode & 0o700)
        return not os.stat(path).st_mode & 0o077  # some file systems ignore modes
    except OSError:  # it is another user's file
        return False


def file_identity(path: str) -> tuple[int, int] | None:
    """Return what stays with a file when it is renamed; None if there is no file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


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
    """Make the tables in a new file or in GLSI's; several processes may do so at once.

    Raises sqlite3.Error, and OSError for a database of another program.
    """
    import contextlib
    import sqlite3

    tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master")]
    if tables and "cache" not in tables:
        raise OSError("it is a database of another program")
    db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # takes effect in a new file only
    with contextlib.suppress(sqlite3.Error):  # a file system that cannot: SQLite's older journal
        patiently(lambda: db.execute("PRAGMA journal_mode = WAL").fetchone())

    def create(db: sqlite3.Connection) -> None:
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
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


def is_damage(error: Exception) -> bool:
    """Return whether an error tells of a file that is damaged, and not of the system.

    Python 3.10 has no error codes, so the error's words tell.
    """
    if isinstance(error, (OSError, ImportError)):
        return False
    words = ("locked", "full", "readonly", "unable to open", "I/O", "no such module")
    return not any(word in str(error) for word in words)


def reason_of(error: Exception) -> str:
    """Return why a store cannot be used, in a few words."""
    reason = one_line(getattr(error, "strerror", None) or str(error), 200)
    # Python 3.10 has no words for a schema that is no UTF-8.
    return "file is damaged" if isinstance(error, UnicodeError) or not reason else reason


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
