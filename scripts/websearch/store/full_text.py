"""Full-text search of stored pages: terms of texts and queries, ranking, index updates.

The index (page_index, FTS5) contains words only; the texts are in the table `pages`.
"""

from __future__ import annotations

import re

from websearch.base.words import ENGLISH_STOP_WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3

MAX_RANKED = 3_000  # matching pages that are ranked; ranking takes 5 ms per thousand
MAX_NEAR = 3  # words suggested for a word that no page contains
MOST_STEMS, LEAST_LIKE = 10, 0.75  # compared stems; minimum similarity of a suggested word
MAX_TERMS = 32  # terms per query; more terms make a long question slower
# Indexed characters per page: the normalized text can be 18 times as long as the original.
MAX_INDEXED = 1_000_000
# Characters normalized at once: sorting the combining marks of a letter takes quadratic time.
FOLDED_AT_ONCE = 200
CHARS_PER_BLOCK = 400  # characters of a new page per block of the index that its write merges
MERGED_AT_ONCE = 500  # index blocks of 4 KB: about 0.1 s

# The index contains only words (content=''); marks are part of words in Hindi and Thai.
_CREATE = """CREATE VIRTUAL TABLE IF NOT EXISTS page_index USING fts5(title, body, content='',
    prefix='1', tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'")"""

# Where no space separates words, two characters are a term: most Chinese and Japanese words have
# that length.
_UNSPACED = (
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17d3\u2e80-\u2fdf\u3005-\u3007"
    "\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)

_INSERT = "INSERT INTO page_index (rowid, title, body) VALUES (?, ?, ?)"
_DELETE = "INSERT INTO page_index (page_index, rowid, title, body) VALUES ('delete', ?, ?, ?)"
# SQLite stores any type in any column, so a damaged file may contain types other than text.
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
    """Return text for the index, as pairs of characters where no space separates words.

    The last character of such a run is also a token, so every character starts a token and a prefix
    search finds single characters.
    """

    def pairs(match: re.Match[str]) -> str:
        run = match[0]
        return f" {' '.join(run[index : index + 2] for index in range(len(run)))} "

    folded = fold(text)[:MAX_INDEXED]
    return folded if folded.isascii() else re.sub(f"{_UNSPACED}+", pairs, folded)


def query_terms(words: str) -> tuple[list[str], list[str]]:
    """Return the terms that a page must contain, and the terms of which some are enough.

    Terms are FTS5 strings, so the user's words are never syntax.
    """
    separated = re.sub(f"({_UNSPACED}+)", r" \1 ", fold(words))
    pieces = [piece for piece in separated.split() if any(map(str.isalnum, piece))]
    # Words of nearly every English page do not help with ranking and cost the most time.
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
    """Return text as a string in FTS5's syntax."""
    return '"' + text.replace('"', '""') + '"'


# ===== finding ====================================================================================


def find_pages(db: sqlite3.Connection, words: str, hosts: list[str], count: int) -> list[int]:
    """Return the ids of the pages that best match some words. Raises sqlite3.Error.

    Pages with all words come before pages with some. hosts: ".HOST " per host;
    [] means all.
    """
    required, optional = query_terms(words)
    if not required or not has_index(db):
        return []
    ids = matching_pages(db, " AND ".join(required), hosts, count)
    if len(ids) < count and len(optional) > 1:
        ids += matching_pages(db, " OR ".join(optional), hosts, count)
    return list(dict.fromkeys(ids))[:count]


def count_pages(db: sqlite3.Connection, words: str) -> int:
    """Count the pages that contain all words, up to MAX_RANKED. Raises sqlite3.Error."""
    required, _ = query_terms(words)
    if not required or not has_index(db):
        return 0
    return len(matching_pages(db, " AND ".join(required), [], MAX_RANKED))


def matching_pages(db: sqlite3.Connection, match: str, hosts: list[str], count: int) -> list[int]:
    """Return the ids of the best pages for an FTS5 query. Raises sqlite3.Error.

    If more than MAX_RANKED pages match, only the newest are ranked.
    """
    first = None
    if not hosts:  # a host's pages may be among the oldest pages
        newest = (
            "SELECT rowid FROM page_index WHERE page_index MATCH ? "  # noqa: S608
            f"ORDER BY rowid DESC LIMIT 1 OFFSET {MAX_RANKED}"
        )
        first = db.execute(newest, (match,)).fetchone()
    of_hosts = " OR ".join(["instr(hosts, ?)"] * len(hosts)) or "1"
    # CROSS JOIN: search the index first. A word in the title counts as five words in the text.
    query = (
        "SELECT id FROM page_index CROSS JOIN pages ON id = page_index.rowid "  # noqa: S608
        "WHERE page_index MATCH ? AND page_index.rowid > ? AND rank MATCH 'bm25(5.0, 1.0)' "
        f"AND ({of_hosts}) ORDER BY rank LIMIT ?"
    )
    rows = db.execute(query, (match, first[0] if first else 0, *hosts, count)).fetchall()
    return [row[0] for row in rows]


def near_words(db: sqlite3.Connection, words: str) -> list[str]:
    """Return words in stored pages that are spelled almost like these words. Raises sqlite3.Error.

    The first letter must be the same. The index contains stems; pages show their whole words.
    """
    import difflib

    found: list[str] = []
    if not has_index(db):
        return found
    vocabulary = (
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.stems USING fts5vocab(main, page_index, row)"
    )
    db.execute(vocabulary)
    for word in re.findall(r"[^\W\d_]{4,30}", fold(words))[:MAX_TERMS]:
        query = "SELECT term FROM temp.stems WHERE term > ? AND term < ? AND length(term) > 3"
        stems = [row[0] for row in db.execute(query, (word[0], f"{word[0]}\U0010ffff"))]
        near = difflib.get_close_matches(word, stems, MOST_STEMS)
        whole = {word for stem in near for word in whole_words(db, stem)}
        found += difflib.get_close_matches(word, whole, MAX_NEAR, LEAST_LIKE)
    return list(dict.fromkeys(found))[:MAX_NEAR]


def whole_words(db: sqlite3.Connection, stem: str) -> list[str]:
    """Return the words in a stored page that begin like a stem."""
    match = "SELECT rowid FROM page_index WHERE page_index MATCH ? LIMIT 1"
    query = f"SELECT {TITLE} || ' ' || {TEXT} FROM pages WHERE id = ({match})"  # noqa: S608
    row = db.execute(query, (fts5_string(stem),)).fetchone()
    return re.findall(rf"\b{re.escape(stem[:-1])}\w*", fold(row[0])) if row else []


# ===== writing, inside the caller's transaction ===================================================


def has_full_text(db: sqlite3.Connection) -> bool:
    """Return whether SQLite was built with FTS5; without it nothing is indexed or found."""
    import sqlite3

    query = "SELECT 1 FROM pragma_module_list WHERE name = 'fts5'"
    try:
        return bool(db.execute(query).fetchone())
    except sqlite3.OperationalError as error:
        return "module_list" in str(error)  # an old SQLite cannot tell


def has_index(db: sqlite3.Connection) -> bool:
    """Return whether the file has an index that SQLite can use."""
    query = "SELECT 1 FROM sqlite_master WHERE name = 'page_index'"
    return bool(db.execute(query).fetchone()) and has_full_text(db)


def create_index(db: sqlite3.Connection) -> None:
    """Create the index if it is missing and SQLite has FTS5."""
    if not has_index(db) and has_full_text(db):
        db.execute(_CREATE)
        # Merges then continue what they have begun, regardless of what was written in between.
        db.execute("INSERT INTO page_index (page_index, rank) VALUES ('usermerge', 2)")
        # Each merge of the whole index makes the merges that SQLite adds to a write larger.
        db.execute("INSERT INTO page_index (page_index, rank) VALUES ('automerge', 0)")


def index_page(db: sqlite3.Connection, page_id: int, title: str, text: str) -> None:
    """Add a page's words to the index."""
    create_index(db)
    if has_index(db):
        db.execute(_INSERT, (page_id, index_text(title), index_text(text)))
        merge_index(db, len(text) // CHARS_PER_BLOCK + 1)


def unindex_page(db: sqlite3.Connection, page_id: int) -> None:
    """Remove a page's words from the index, while the page is still in the table."""
    if not has_index(db):
        return
    # A page that was stored without FTS5 has no words in the index.
    query = f"SELECT {TITLE}, {TEXT} FROM pages JOIN page_index_docsize USING (id) WHERE id = ?"  # noqa: S608
    for title, text in db.execute(query, (page_id,)).fetchall():
        db.execute(_DELETE, (page_id, index_text(title), index_text(text)))


def merge_index(db: sqlite3.Connection, blocks: int = MERGED_AT_ONCE) -> bool:
    """Merge parts of the index; return whether there may be more to merge.

    The words of removed pages are deleted only when all parts are merged: negative blocks begin
    that merge, positive blocks continue it. Beginning again would copy what is merged so far.
    """
    before = db.total_changes
    if has_index(db):
        db.execute("INSERT INTO page_index (page_index, rank) VALUES ('merge', ?)", (blocks,))
    return db.total_changes - before > 1  # see 'merge' in SQLite's documentation
