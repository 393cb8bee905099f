"""Full text over the pages of the store: terms of texts and queries, ranking, changes of the index.

The index (page_index, FTS5) holds words only; the texts are in the table `pages` of store.py.
"""

from __future__ import annotations

import re

from websearch.base.words import ENGLISH_STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

MAX_RANKED = 3_000  # pages that match a query: ranking all takes 5 ms for each thousand
MAX_TERMS = 32  # of a query; each one more makes a long question slower
# Characters of a page that are indexed: normal forms can be eighteen times as long as a text.
MAX_INDEXED = 1_000_000
# Characters that are brought into their normal form at once: marks on one letter are sorted in a
# time that grows with the square of their number.
FOLDED_AT_ONCE = 200
MERGED_AT_ONCE = 500  # blocks of the index, of 4 KB each: some 0.1 s

# Two characters are a term where no space separates words: most Chinese and Japanese words are that
# long.
_UNSPACED = (
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007"
    "\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)

_INSERT = "INSERT INTO page_index (rowid, title, body) VALUES (?, ?, ?)"
_DELETE = "INSERT INTO page_index (page_index, rowid, title, body) VALUES ('delete', ?, ?, ?)"
# SQLite keeps any type in any column, so a damaged file may hold another type than text.
TITLE, TEXT = (f"ifnull(CAST({name} AS TEXT), '')" for name in ("title", "text"))

# ===== terms ======================================================================================


def fold(text: str) -> str:
    """Return text in lower case, with one form for each character: full-width A becomes a."""
    if not text.isascii():
        from unicodedata import normalize

        pieces = re.findall(rf"(?s).{{1,{FOLDED_AT_ONCE}}}(?!\S)|.{{1,{FOLDED_AT_ONCE}}}", text)
        text = "".join(normalize("NFKC", piece) for piece in pieces)
    return text.lower()


def index_text(text: str) -> str:
    """Return text as it is indexed: each pair of characters where no space separates words.

    The last character of such a run is a token, too, so that every character begins a token, and
    one character can be found by its prefix.
    """

    def pairs(match: re.Match[str]) -> str:
        run = match[0]
        return f" {' '.join(run[index : index + 2] for index in range(len(run)))} "

    folded = fold(text)[:MAX_INDEXED]
    return folded if folded.isascii() else re.sub(f"{_UNSPACED}+", pairs, folded)


def query_terms(words: str) -> tuple[list[str], list[str]]:
    """Return the terms that a page must all hold, and the terms of which it may hold some.

    Terms are FTS5 strings, so that nothing in the user's words is syntax.
    """
    separated = re.sub(f"({_UNSPACED}+)", r" \1 ", fold(words))
    pieces = [piece for piece in separated.split() if any(map(str.isalnum, piece))]
    # Words of nearly every English page would rank nothing and cost the most.
    words_alone = ((piece, piece.strip(".,;:?!\"'()")) for piece in pieces)
    meaningful = [piece for piece, word in words_alone if word not in ENGLISH_STOP_WORDS]
    required: list[str] = []
    optional: list[str] = []
    for piece in list(dict.fromkeys(meaningful or pieces))[:MAX_TERMS]:
        if re.match(_UNSPACED, piece):
            pairs = [piece[index : index + 2] for index in range(len(piece) - 1)]
            required.append(fts5_string(" ".join(pairs)) if pairs else f"{fts5_string(piece)} *")
            optional += [fts5_string(pair) for pair in pairs] or [f"{fts5_string(piece)} *"]
        else:
            parts = re.findall("[a-z0-9]+", piece) if piece.isascii() else [piece]
            required.append(fts5_string(piece))
            optional += map(fts5_string, parts)
    return required, list(dict.fromkeys(optional))[:MAX_TERMS]


def fts5_string(text: str) -> str:
    """Return text as a string of FTS5's query language."""
    return '"' + text.replace('"', '""') + '"'


# ===== finding ====================================================================================


def find_pages(db: sqlite3.Connection, words: str, hosts: list[str], count: int) -> list[int]:
    """Return the ids of the best pages for some words; raises sqlite3.Error.

    Pages that hold all words come before pages that hold some. hosts: ".HOST " for each
    host whose pages count; [] means all.
    """
    required, optional = query_terms(words)
    if not required:
        return []
    ids = matching_pages(db, " AND ".join(required), hosts, count)
    if len(ids) < count and len(optional) > 1:
        ids += matching_pages(db, " OR ".join(optional), hosts, count)
    return list(dict.fromkeys(ids))[:count]


def count_pages(db: sqlite3.Connection, words: str) -> int:
    """Return how many pages hold all of some words, MAX_RANKED at most; raises sqlite3.Error."""
    required, _ = query_terms(words)
    return len(matching_pages(db, " AND ".join(required), [], MAX_RANKED)) if required else 0


def matching_pages(db: sqlite3.Connection, match: str, hosts: list[str], count: int) -> list[int]:
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
    of_hosts = " OR ".join(["instr(hosts, ?)"] * len(hosts)) or "1"
    # CROSS JOIN: the index goes first. A word in the title counts as five in the text.
    query = (
        "SELECT id FROM page_index CROSS JOIN pages ON id = page_index.rowid "  # noqa: S608
        "WHERE page_index MATCH ? AND page_index.rowid > ? AND rank MATCH 'bm25(5.0, 1.0)' "
        f"AND ({of_hosts}) ORDER BY rank LIMIT ?"
    )
    rows = db.execute(query, (match, first[0] if first else 0, *hosts, count)).fetchall()
    return [row[0] for row in rows]


# ===== writing, inside the caller's transaction ===================================================


def index_page(db: sqlite3.Connection, page_id: int, title: str, text: str) -> None:
    """Put a page's words into the index."""
    db.execute(_INSERT, (page_id, index_text(title), index_text(text)))


def unindex_page(db: sqlite3.Connection, page_id: int) -> None:
    """Remove a page's words from the index; the page is still in the table."""
    query = f"SELECT {TITLE}, {TEXT} FROM pages WHERE id = ?"  # noqa: S608
    for title, text in db.execute(query, (page_id,)).fetchall():
        db.execute(_DELETE, (page_id, index_text(title), index_text(text)))


def merge_index(db: sqlite3.Connection) -> bool:
    """Merge some parts of the index; return whether there may be more to merge.

    Only when all parts are one, the words of removed pages are gone and their space is free.
    """
    before = db.total_changes
    db.execute("INSERT INTO page_index (page_index, rank) VALUES ('merge', ?)", (-MERGED_AT_ONCE,))
    return db.total_changes - before > 1  # as SQLite's documentation of 'merge' says
