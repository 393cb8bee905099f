"""Full text over the pages of the store: an FTS5 index, the terms of a query, the ranking.

The index holds words only; the texts are in the table `pages` of store.py, whose column `indexed`
says which pages the index knows. Pages that it does not know are found by reading their texts: all
of them if SQLite has no FTS5 or the index is damaged. That is slower and finds the same pages.
"""

from __future__ import annotations

import re

from websearch.store_file import may_be_damage

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from typing import Any

MAX_RANKED = 3_000  # pages that match a query: ranking all takes 5 ms for each thousand
MAX_TERMS = 32  # of a query; each one more makes a long question slower
MAX_REPEATS = 20  # of a word in one page that the plain search counts: a page with more is a list

# Two characters are a term where no space separates words: most Chinese and Japanese words are that
# long.
_UNSPACED = (
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007"
    "\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
# Words of nearly every English page: they would rank nothing and cost the most.
_STOP_WORDS = frozenset(
    "a an and are as at be by can do does for from how i in is it its of on or so that the this to "
    "was what when where which who why will with you your".split()
)

# Contentless: the words only. Marks are part of words in Hindi and Thai.
_INDEX_SCHEMA = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS page_index USING fts5(title, body, content='', prefix='1', "
    "tokenize = \"porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'\")"
)
_INSERT = "INSERT INTO page_index (rowid, title, body) VALUES (?, ?, ?)"
_DELETE = "INSERT INTO page_index (page_index, rowid, title, body) VALUES ('delete', ?, ?, ?)"
_MERGE = "INSERT INTO page_index (page_index, rank) VALUES ('merge', ?)"
# SQLite keeps any type in any column, so a damaged file may hold no text where text belongs.
TITLE, TEXT = (f"ifnull(CAST({name} AS TEXT), '')" for name in ("title", "text"))

# ===== terms ======================================================================================


def fold(text: str) -> str:
    """Return text in lower case, with one form for each character: full-width A becomes a."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKC", text)
    return text.lower()


def index_text(text: str) -> str:
    """Return text as it is indexed: each pair of characters where no space separates words.

    The last character of such a run is a token, too, so that every character begins a token, and
    one character can be found by its prefix.
    """

    def pairs(match: re.Match[str]) -> str:
        run = match[0]
        return f" {' '.join(run[place : place + 2] for place in range(len(run)))} "

    folded = fold(text)
    return folded if folded.isascii() else re.sub(f"{_UNSPACED}+", pairs, folded)


def query_terms(words: str) -> tuple[list[str], list[str], list[str]]:
    """Return the terms that a page must all hold, terms of which it may hold some, and plain words.

    Terms are FTS5 strings, so that nothing in the user's words is syntax. Plain words are for the
    search without an index.
    """
    separated = re.sub(f"({_UNSPACED}+)", r" \1 ", fold(words))
    pieces = [piece for piece in separated.split() if any(map(str.isalnum, piece))]
    meaningful = [piece for piece in pieces if piece.strip(".,;:?!\"'()") not in _STOP_WORDS]
    required: list[str] = []
    optional: list[str] = []
    plain: list[str] = []
    for piece in list(dict.fromkeys(meaningful or pieces))[:MAX_TERMS]:
        if re.match(_UNSPACED, piece):
            pairs = [piece[place : place + 2] for place in range(len(piece) - 1)]
            required.append(fts5_string(" ".join(pairs)) if pairs else f"{fts5_string(piece)} *")
            optional += [fts5_string(pair) for pair in pairs] or [f"{fts5_string(piece)} *"]
            plain += pairs or [piece]
        else:
            parts = re.findall("[a-z0-9]+", piece) if piece.isascii() else [piece]
            required.append(fts5_string(piece))
            optional += map(fts5_string, parts)
            plain += parts
    return (
        required,
        list(dict.fromkeys(optional))[:MAX_TERMS],
        list(dict.fromkeys(plain))[:MAX_TERMS],
    )


def fts5_string(text: str) -> str:
    """Return text as a string of FTS5's query language."""
    return '"' + text.replace('"', '""') + '"'


# ===== finding ====================================================================================


def find_pages(
    db: sqlite3.Connection, words: str, hosts: list[str], count: int
) -> tuple[list[int], bool]:
    """Return the ids of the best pages for some words, and whether the index is damaged.

    Pages that hold all words come before pages that hold some. hosts: ".HOST " for each
    host whose pages may be found; [] means all. Raises sqlite3.Error.
    """
    import sqlite3

    required, optional, plain_words = query_terms(words)
    if not required:
        return [], False
    is_damaged = False
    some: list[int] = []
    try:
        every = indexed_matches(db, " AND ".join(required), hosts, count)
        if len(every) < count and len(optional) > 1:
            some = indexed_matches(db, " OR ".join(optional), hosts, count)
        plain_every, plain_some = plain_matches(db, plain_words, hosts, "indexed = 0")
    except sqlite3.DatabaseError as error:
        if not may_be_damage(error):
            raise
        is_damaged = str(error) != "no such table: page_index"
        every, some = [], []
        plain_every, plain_some = plain_matches(db, plain_words, hosts, "1")
    return list(dict.fromkeys([*every, *plain_every, *some, *plain_some]))[:count], is_damaged


def indexed_matches(db: sqlite3.Connection, match: str, hosts: list[str], count: int) -> list[int]:
    """Return the ids of the best pages for an FTS5 query; raises sqlite3.Error.

    If more than MAX_RANKED pages match, only the newest of them are ranked: any of them is as good.
    """
    first = None
    if not hosts:  # the pages of a host may be among the oldest
        newest = (
            "SELECT rowid FROM page_index WHERE page_index MATCH ? "  # noqa: S608
            f"ORDER BY rowid DESC LIMIT 1 OFFSET {MAX_RANKED}"
        )
        first = db.execute(newest, (match,)).fetchone()
    # CROSS JOIN: the index goes first. A word in the title counts as five in the text.
    query = (
        "SELECT id FROM page_index CROSS JOIN pages ON id = page_index.rowid "  # noqa: S608
        "WHERE page_index MATCH ? AND page_index.rowid > ? AND rank MATCH 'bm25(5.0, 1.0)' "
        f"AND ({host_condition(hosts)}) ORDER BY rank LIMIT ?"
    )
    rows = db.execute(query, (match, first[0] if first else 0, *hosts, count)).fetchall()
    return [row[0] for row in rows]


def plain_matches(
    db: sqlite3.Connection, words: list[str], hosts: list[str], condition: str
) -> tuple[list[int], list[int]]:
    """Return the ids of the best pages with all words, and with some, by reading their texts.

    condition: which pages are read, in SQL.
    """
    query = (
        f"SELECT id, {TITLE}, {TEXT} FROM pages "  # noqa: S608
        f"WHERE {condition} AND ({host_condition(hosts)}) ORDER BY id DESC"
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


def host_condition(hosts: list[str]) -> str:
    """Return the SQL condition that a page is of one of the hosts, which are its variables."""
    return " OR ".join(["instr(hosts, ?)"] * len(hosts)) or "1"


def word_pattern(word: str) -> str:
    """Return the pattern of a word's beginning, without a plural's -s; of a pair, anywhere."""
    if re.match(_UNSPACED, word):
        return re.escape(word)
    return r"\b" + re.escape(word[:-1] if len(word) > 3 and word.endswith("s") else word)


def has_full_text(db: sqlite3.Connection) -> bool:
    """Return whether SQLite has FTS5 and can read the index, if there is one."""
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


# ===== writing, inside the caller's transaction ===================================================


def index_pages(db: sqlite3.Connection, count: int) -> None:
    """Put up to count pages into the index that it does not know, the newest first."""
    query = f"SELECT id, {TITLE}, {TEXT} FROM pages WHERE indexed = 0 ORDER BY id DESC LIMIT ?"  # noqa: S608
    pages = db.execute(query, (count,)).fetchall()
    rows = ((number, index_text(title), index_text(text)) for number, title, text in pages)
    if change_index(db, _INSERT, rows):
        indexed = [(page[0],) for page in pages]
        db.executemany("UPDATE pages SET indexed = 1 WHERE id = ?", indexed)


def unindex_page(db: sqlite3.Connection, page_id: int) -> None:
    """Remove a page's words from the index; the page is still in the table."""
    query = f"SELECT {TITLE}, {TEXT} FROM pages WHERE id = ? AND indexed = 1"  # noqa: S608
    texts = db.execute(query, (page_id,)).fetchone()
    if texts:
        change_index(db, _DELETE, [(page_id, *map(index_text, texts))])


def merge_index(db: sqlite3.Connection) -> None:
    """Merge the parts of the index: only then are removed words gone and their space is free."""
    change_index(db, _MERGE, [(-1_000_000,)])  # negative: all parts, up to so many database pages


def change_index(db: sqlite3.Connection, statement: str, rows: Iterable[tuple[Any, ...]]) -> bool:
    """Execute a statement of the index for each row; return whether that was possible.

    A damaged index is dropped. Raises sqlite3.Error for what is not the index's own failure.
    """
    import sqlite3

    db.execute("SAVEPOINT change_index")
    try:
        db.execute(_INDEX_SCHEMA)
        db.executemany(statement, rows)
        done = True
    except sqlite3.DatabaseError as error:
        if not may_be_damage(error):
            raise
        db.execute("ROLLBACK TO change_index")
        drop_index(db)
        done = False
    db.execute("RELEASE change_index")
    return done


def drop_index(db: sqlite3.Connection) -> None:
    """Remove the index; later writes make it anew, some pages each.

    An SQLite without FTS5 cannot remove it, and leaves it for one that can.
    """
    import sqlite3

    db.execute("SAVEPOINT drop_index")
    try:
        db.execute("DROP TABLE IF EXISTS page_index")
        db.execute("UPDATE pages SET indexed = 0 WHERE indexed = 1")
    except sqlite3.DatabaseError as error:
        if not may_be_damage(error):
            raise
        db.execute("ROLLBACK TO drop_index")
    db.execute("RELEASE drop_index")
