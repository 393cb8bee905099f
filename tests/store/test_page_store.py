"""The store: answers, pages, full text; and what happens when its file is not usable.

The only module to notice what is lost from the store, kept too long, or open to others.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import resource
import sqlite3
import stat
import subprocess
import sys
import threading
import time
import unittest
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from unittest import mock

from tests.support import PYTHON, SCRIPTS, SLACK, EnvironmentCase, clean_environment, load_script
from websearch.store import database as store_file
from websearch.store import page_store

if TYPE_CHECKING:
    from collections.abc import Iterator

PageStore = page_store.PageStore
SEED = 6_002


def page(url: str, text: str, title: str = "", age: float = 0.0) -> dict[str, Any]:
    return {
        "url": url,
        "final_url": url,
        "published": "",
        "truncated": False,
        "title": title,
        "text": text,
        "fetched_at": time.time() - age,
    }


def removed(answers: int = 0, pages: int = 0, history: int = 0) -> dict[str, int]:
    return {"answers": answers, "pages": pages, "history": history}


class StoreCase(EnvironmentCase):
    """A test case with a folder of its own and stores that are closed at its end."""

    def setUp(self) -> None:
        super().setUp()
        folder = TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "kept" / "cache.db"

    def open(self, path: object = "", **options: Any) -> Any:
        store = PageStore(str(path or self.path), **options)
        self.addCleanup(store.close)
        return store

    def execute(self, statement: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as db:
            return db.execute(statement, values).fetchall()

    def age(self, seconds: float) -> None:
        """Make everything in the file older."""
        moment = f"-{seconds} seconds"
        self.execute("UPDATE cache SET updated_at = datetime(updated_at, ?)", moment)
        self.execute("UPDATE pages SET fetched_at = fetched_at - ?", seconds)

    def urls(self, store: Any, words: str, count: int = 9, site: tuple[str, ...] = ()) -> list[str]:
        return [one["url"] for one in store.recall(words, count, site)]


class Answers(StoreCase):
    def test_answer_is_read_back_by_another_store(self) -> None:
        content = {
            "query": "京都 😀",
            "urls": ["https://a.example/"],
            "results": [{"n": None}],
            "x": 1.5,
        }
        self.open().put_answer("key", content)
        found = self.open().get_answer("key", 60.0)
        self.assertEqual(found["content"], content)
        self.assertAlmostEqual(found["updated_at"], time.time(), delta=SLACK)

    def test_answer_with_another_key_or_too_old_is_a_miss(self) -> None:
        store = self.open()
        store.put_answer("key", {"query": "q", "urls": []})
        self.assertIsNone(store.get_answer("other", None))
        self.assertIsNone(store.get_answer("key", 0.0))
        self.age(3_600)
        self.assertIsNone(store.get_answer("key", 3_599.0))
        self.assertTrue(store.get_answer("key", 3_700.0))
        self.assertTrue(store.get_answer("key", None))

    def test_answer_replaces_an_older_one(self) -> None:
        store = self.open()
        for number in (1, 2):
            store.put_answer("key", {"query": "q", "urls": [], "n": number})
        self.assertEqual(store.get_answer("key", 60.0)["content"]["n"], 2)
        self.assertEqual(store.stats()["answers"], 1)

    def test_answer_may_contain_surrogates_and_nul(self) -> None:
        store = self.open()
        store.put_answer("key", {"query": "a\ud800b\0c", "urls": []})
        self.assertEqual(store.get_answer("key", 60.0)["content"]["query"], "a\ufffdb\0c")
        self.assertEqual(store.warnings, [])

    def test_next_write_removes_answers_after_30_days(self) -> None:
        store = self.open()
        store.put_answer("old", {"query": "q", "urls": []})
        store.put_pages([page("https://old.example/", "oldword")])
        self.age(29 * 86_400)
        store.put_answer("new", {"query": "q", "urls": []})
        self.assertTrue(store.get_answer("old", None))
        self.age(2 * 86_400)
        store.put_answer("newer", {"query": "q", "urls": []})
        self.assertIsNone(store.get_answer("old", None))
        self.assertEqual(store.get_pages(["https://old.example/"], None), {})
        self.assertEqual(store.recall("oldword", 5), [])


class Pages(StoreCase):
    def test_page_is_read_back_by_url_with_all_fields(self) -> None:
        given = page("https://a.example/", "text\nmore", "title") | {
            "final_url": "https://b.example/"
        }
        self.open().put_pages([given, page("https://c.example/", "c")])
        found = self.open().get_pages(["https://a.example/", "https://no.example/"], 60.0)
        self.assertEqual(found, {"https://a.example/": given})

    def test_page_that_is_too_old_is_a_miss(self) -> None:
        store = self.open()
        store.put_pages([page("https://a.example/", "a", age=100)])
        self.assertEqual(store.get_pages(["https://a.example/"], 99.0), {})
        self.assertEqual(len(store.get_pages(["https://a.example/"], 101.0)), 1)
        self.assertEqual(len(store.get_pages(["https://a.example/"], None)), 1)

    def test_2000_pages_are_read_at_once(self) -> None:
        store = self.open()
        urls = [f"https://a.example/{number}" for number in range(2_000)]
        store.put_pages([page(url, "short") for url in urls])
        self.assertEqual(list(store.get_pages(urls, None)), urls)

    def test_page_is_cut_cleaned_and_completed(self) -> None:
        store = self.open()
        store.put_pages(
            [{"url": "https://a.example/\ud800", "text": "x\0" * 600_000}, {"text": "no url"}]
        )
        (found,) = store.get_pages(["https://a.example/\ud800"], 60.0).values()
        self.assertEqual(found["text"], "x" * page_store.MAX_TEXT_CHARS)
        self.assertTrue(found["truncated"])
        self.assertEqual((found["title"], found["final_url"]), ("", "https://a.example/\ufffd"))
        self.assertEqual((store.stats()["pages"], store.warnings), (1, []))

    def test_new_text_replaces_the_old_one_in_the_index(self) -> None:
        store = self.open()
        store.put_pages([page("https://a.example/", "walrus")])
        store.put_pages([page("https://a.example/", "heron"), page("https://a.example/", "egret")])
        self.assertEqual(self.urls(store, "egret"), ["https://a.example/"])
        self.assertEqual(self.urls(store, "walrus") + self.urls(store, "heron"), [])
        self.assertEqual(store.stats()["pages"], 1)

    def test_page_knows_whether_it_is_truncated(self) -> None:
        store = self.open()
        for truncated in (True, False):
            store.put_pages([page("https://a.test/", "heron") | {"truncated": truncated}])
            for found in (*store.get_pages(["https://a.test/"], None).values(),
                          *store.recall("heron", 1)):  # fmt: skip
                self.assertIs(found["truncated"], truncated)

    def test_pages_after_the_deadline_are_not_stored(self) -> None:
        store = self.open()
        pages = [page(f"https://a.test/{number}", "heron " * 50_000) for number in range(200)]
        begin = time.monotonic()
        store.put_pages(pages, begin + 0.3)
        self.assertLess(time.monotonic() - begin, 0.3 + SLACK)
        self.assertLess(store.stats()["pages"], 200)
        self.assertGreater(store.stats()["pages"], 0)
        self.assertEqual(store.warnings, [])

    def test_same_text_again_only_becomes_younger(self) -> None:
        store = self.open()
        store.put_pages([page("https://a.example/", "walrus", age=1_000)])
        ids = self.execute("SELECT id FROM pages")
        store.put_pages([page("https://a.example/", "walrus")])
        self.assertEqual(self.execute("SELECT id FROM pages"), ids)
        self.assertEqual(len(store.get_pages(["https://a.example/"], 100.0)), 1)


class Recall(StoreCase):
    def filled(self) -> Any:
        store = self.open()
        store.put_pages(
            [
                page("https://docs.rust.example/", "Tasks have a scheduler. " * 9, "Tokio runtime"),
                page("https://blog.example/1", "Once tokio is named. " + "Bread at length. " * 9),
                page("https://blog.example/2", "async-std's scheduler; C++ has executors", "Async"),
                page("https://cafe.example/", "Cafés in Zürich; İstanbul too", "Naïve guide"),
                page("https://ja.example/", "東京都庁は新宿にある。天気は晴れ、ﾃﾞｰﾀ", "日本語"),
                page("https://zh.example/", "如何安装编译器:下载并运行安装程序", "中文"),
                page("https://th.example/", "ภาษาไทยเป็นภาษาที่มีระดับเสียง", "ไทย"),
                page("https://ko.example/", "서울에서 부산까지 기차로 간다", "한국어"),
                page("https://hi.example/", "हिन्दी भाषा भारत में बोली जाती है", "हिन्दी"),
            ]
        )  # fmt: skip
        return store

    def test_pages_with_all_words_come_before_those_with_some(self) -> None:
        found = self.urls(self.filled(), "how does the tokio scheduler work")
        self.assertEqual(found[0], "https://docs.rust.example/")
        self.assertEqual(set(found[1:]), {"https://blog.example/1", "https://blog.example/2"})

    def test_word_in_the_title_weighs_more(self) -> None:
        self.assertEqual(self.urls(self.filled(), "tokio", 1), ["https://docs.rust.example/"])

    def test_case_accents_width_and_plural_make_no_difference(self) -> None:
        store = self.filled()
        for words in ("cafe", "CAFÉ", "cafés", "zurich guides", "ＣＡＦＥ"):
            self.assertEqual(self.urls(store, words), ["https://cafe.example/"], words)
        self.assertEqual(self.urls(store, "schedulers executor")[0], "https://blog.example/2")

    def test_words_of_scripts_without_spaces_are_found(self) -> None:
        store = self.filled()
        for name, words in {
            "ja": "庁 晴 都庁 天気 東京都 新宿にある データ 東京都庁",
            "zh": "装 编译 安装 编译器 安装程序",
            "th": "ไทย ภาษา เสียง ระดับเสียง",
            "ko": "서울 부산 기차 서울에서",
            "hi": "हिन्दी भारत भाषा",
        }.items():
            for word in words.split():
                self.assertEqual(self.urls(store, word, 1), [f"https://{name}.example/"], word)

    def test_question_without_spaces_finds_the_best_page(self) -> None:
        store = self.filled()
        self.assertEqual(self.urls(store, "怎么安装编译器?")[0], "https://zh.example/")
        self.assertEqual(self.urls(store, "明日の東京の天気は")[0], "https://ja.example/")

    def test_words_that_no_page_has_are_not_found(self) -> None:
        store = self.filled()
        for words in ("zebra", "大阪", "京東", "", "  ", "\"'*-+()", "\0"):
            self.assertEqual(store.recall(words, 5), [], words)
        self.assertEqual(store.warnings, [])

    def test_query_text_is_never_syntax(self) -> None:
        store = self.filled()
        for words in (
            'tokio"', '"tokio', "tokio AND", "OR tokio", "NOT tokio", "NEAR(tokio", "tokio*",
            "-tokio", "title:tokio", "{title}:tokio", "^tokio", "(tokio", "tokio\0", "tokio \ud800",
            "tokio'; DROP TABLE pages; --",
        ):  # fmt: skip
            self.assertIn("https://docs.rust.example/", self.urls(store, words), words)
        marks = list("ab \"'*()^:-+{},;\0東京\ud800ไ์ทย\n")
        letters = [*marks, "NEAR", " AND ", " OR ", " NOT "]
        source = random.Random(SEED)
        for _ in range(300):
            words = "".join(source.choices(letters, k=source.randint(1, 12)))
            store.recall(words, 3, (words,))
        self.assertEqual(store.warnings, [])
        self.assertEqual(store.stats()["pages"], 9)

    def test_site_includes_its_subdomains_only(self) -> None:
        store = self.open()
        urls = [
            "https://example.org/", "https://docs.example.org:8080/a", "https://badexample.org/",
            "https://user@example.org.evil.test/", "https://t.test/?https://example.org/",
        ]  # fmt: skip
        moved = page("https://short.test/", "heron") | {"final_url": "https://www.example.org/x"}
        store.put_pages([*(page(url, "heron") for url in urls), moved])
        expected = {*urls[:2], "https://short.test/"}
        for site in ("example.org", "EXAMPLE.org", ".example.org", "https://example.org/path"):
            self.assertEqual(set(self.urls(store, "heron", site=(site,))), expected, site)
        self.assertEqual(self.urls(store, "heron", site=("docs.example.org",)), urls[1:2])
        both = self.urls(store, "heron", site=("docs.example.org", "short.test"))
        self.assertEqual(set(both), {urls[1], "https://short.test/"})
        self.assertEqual(self.urls(store, "heron", site=("%", "_")), [])

    def test_rare_page_of_a_site_is_found_below_better_ones(self) -> None:
        store = self.open()
        store.put_pages([page(f"https://many.test/{n}", "heron " * 9, "heron") for n in range(300)])
        store.put_pages([page("https://one.test/", "x " * 900 + "heron")])
        self.assertEqual(self.urls(store, "heron", 5, ("one.test",)), ["https://one.test/"])

    def test_count_limits_the_pages(self) -> None:
        store = self.open()
        store.put_pages([page(f"https://a.test/{n}", "heron") for n in range(30)])
        self.assertEqual(
            [len(store.recall("heron", n)) for n in (0, 1, 20, 10**30)], [0, 1, 20, 30]
        )


class Published(StoreCase):
    """When a page was published."""

    def test_outside_is_stored_replaced_and_returned(self) -> None:
        store = self.open()
        given = page("https://a.test/", "walrus") | {"published": "2024-05-06"}
        store.put_pages([given, page("https://b.test/", "walrus") | {"published": None}])
        self.assertEqual(store.get_pages(["https://a.test/"], None), {"https://a.test/": given})
        dates = {found["url"]: found["published"] for found in store.recall("walrus", 9)}
        self.assertEqual(dates, {"https://a.test/": "2024-05-06", "https://b.test/": ""})
        for published, expected in (("2025-01-01", "2025-01-01"), ("x\0" * 9_000, "x" * 100)):
            store.put_pages([given | {"published": published}])  # the text is the same
            (found,) = store.get_pages(["https://a.test/"], None).values()
            self.assertEqual(found["published"], expected)
        self.assertEqual(store.warnings, [])


class Clear(StoreCase):
    def filled(self) -> Any:
        store = self.open()
        store.put_answer(
            "1", {"query": " Rust Async ", "urls": ["https://a.test/1", "https://a.test/2"]}
        )
        store.put_answer("2", {"query": "rust async", "urls": ["https://a.test/2"]})
        store.put_answer("3", {"query": "bread", "urls": ["https://a.test/3"]})
        words = ("zebraword", "heronword", "breadword")
        store.put_pages([page(f"https://a.test/{n}", word) for n, word in enumerate(words, 1)])
        return store

    def kept_bytes(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.path.parent.iterdir())

    def test_clearing_a_query_removes_its_answers_and_pages_only(self) -> None:
        store = self.filled()
        self.assertEqual(store.clear("RUST async "), removed(2, 2))
        self.assertIsNone(store.get_answer("1", None))
        self.assertTrue(store.get_answer("3", None))
        self.assertEqual(self.urls(store, "zebraword heronword breadword"), ["https://a.test/3"])
        kept = self.kept_bytes()
        for word, is_kept in ((b"zebraword", False), (b"Rust Async", False), (b"breadword", True)):
            self.assertEqual(word in kept, is_kept, word)
        self.assertEqual(store.clear("rust async"), removed())

    def test_clearing_everything_frees_the_bytes(self) -> None:
        store = self.filled()
        source = random.Random(SEED)
        texts = [" ".join(f"w{source.randrange(10**6)}" for _ in range(500)) for _ in range(200)]
        store.put_pages([page(f"https://b.test/{n}", text) for n, text in enumerate(texts)])
        before = store.stats()
        self.assertEqual(store.clear(), removed(3, 203))
        after = store.stats()
        self.assertEqual((after["answers"], after["pages"]), (0, 0))
        self.assertLess(after["bytes"] * 10, before["bytes"])
        self.assertNotIn(b"zebraword", self.kept_bytes())
        self.assertEqual((store.recall("zebraword", 5), store.warnings), ([], []))
        store.put_pages([page("https://a.test/", "zebraword")])
        self.assertEqual(self.urls(store, "zebraword"), ["https://a.test/"])

    def test_clearing_leaves_no_byte_of_a_query_in_the_file(self) -> None:
        def note_all(store: Any) -> None:
            for number in range(3):  # asked again: the earlier answers were replaced
                content = {"query": "Secretword one", "urls": ["https://a.test/1"], "n": number}
                store.put_answer("1", {**content, "text": "x" * 2_000 * number})
                history.note(store, "command", history.SEARCH, {"query": "Secretword one"}, True)
            history.note(
                store, "desk", history.BRIEF, {"queries": ["bread", "secretword ONE"]}, True
            )
            history.note(store, "desk", history.SEARCH, {"query": "bread\ud800"}, True)
            store.put_pages([page("https://a.test/1", "secretword")])

        history = load_script("websearch.store.history")
        for query, entries in (("secretword one", 4), ("", 5)):
            store = self.open()
            note_all(store)
            self.assertEqual(store.clear(query), removed(1, 1, entries))
            self.assertEqual(len(history.entries(store)), 5 - entries)
            self.assertNotIn(b"secretword", self.kept_bytes().lower())
            store.clear()
            store.close()
        note_all(store)
        newest = history.entries(store)
        history.forget(store, number=newest[1]["id"])  # the brief
        self.assertEqual([one["text"] for one in history.entries(store)], ["bread\ufffd"])
        self.assertNotIn(b"secretword", self.kept_bytes().lower())
        history.note(store, "MCP", history.READ, {"urls": ["https://a.test/1"]}, True)
        store.put_pages([page("https://a.test/1", "secretword")])
        history.forget(store, day=time.strftime("%Y-%m-%d"))
        self.assertEqual((history.entries(store), store.stats()["pages"]), ([], 0))

    def test_clearing_a_query_rewrites_no_file_and_ends_in_time(self) -> None:
        store = self.filled()
        statements: list[str] = []
        store.use(lambda db: db.set_trace_callback(statements.append), None)
        begin = time.monotonic()
        self.assertEqual(store.clear("rust async"), removed(2, 2))
        self.assertLess(time.monotonic() - begin, page_store.FORGET_SECONDS + SLACK)
        self.assertEqual([text for text in statements if text.startswith("VACUUM")], [])

    def test_words_that_are_left_after_the_answer_leave_the_file_before_the_process_ends(
        self,
    ) -> None:
        limits = {"FORGET_SECONDS": 0.0, "WAIT_SECONDS": 0.0, "MERGED_AT_ONCE": 5}
        for name, number in limits.items():
            self.addCleanup(setattr, page_store, name, getattr(page_store, name))
            setattr(page_store, name, number)
        store = self.filled()
        source = random.Random(SEED)
        texts = [" ".join(f"{source.getrandbits(40):x}" for _ in range(500)) for _ in range(30)]
        store.put_pages([page(f"https://b.test/{n}", text) for n, text in enumerate(texts)])
        self.assertEqual(store.clear("rust async"), removed(2, 2))
        self.assertIn(b"heronword", self.kept_bytes())
        store.close()
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join(SLACK)
        self.assertNotIn(b"heronword", self.kept_bytes())

    def test_clearing_nothing_is_not_an_error_and_makes_no_file(self) -> None:
        store = self.open()
        for query in ("", "rust"):
            self.assertEqual(store.clear(query), removed())
        self.assertEqual((store.warnings, list(self.folder.iterdir())), ([], []))


class GlsiDatabase(StoreCase):
    """A database of the Go program: its one table, and text that is no JSON."""

    def setUp(self) -> None:
        super().setUp()
        self.path.parent.mkdir()
        self.key = hashlib.sha256(b"golang channels").hexdigest()
        self.execute(
            "CREATE TABLE cache (query_hash TEXT PRIMARY KEY, content TEXT, "
            "updated_at DATETIME DEFAULT CURRENT_TIMESTAMP)"
        )
        insert = "INSERT INTO cache (query_hash, content) VALUES (?, ?)"
        self.execute(insert, self.key, "## https://go.example\n\ntext")
        self.execute(insert, "other", b"\xff\xfe")
        self.path.chmod(0o644)  # as GLSI leaves it
        self.told = f"Others could read the store {self.path}; now only you can."

    def test_glsi_file_keeps_its_rows_and_takes_new_ones(self) -> None:
        store = self.open()
        self.assertIsNone(store.get_answer(self.key, None))
        self.assertEqual(store.get_pages(["https://go.example"], None), {})
        self.assertEqual(store.recall("golang", 5), [])
        self.assertEqual(store.stats()["answers"], 2)
        store.put_answer("key", {"query": "q", "urls": []})
        store.put_pages([page("https://go.example", "goroutines")])
        self.assertTrue(store.get_answer("key", 60.0))
        self.assertEqual(self.urls(store, "goroutine"), ["https://go.example"])
        rows = self.execute("SELECT content FROM cache WHERE query_hash = ?", self.key)
        self.assertEqual(rows, [("## https://go.example\n\ntext",)])
        self.assertEqual(store.warnings, [self.told])

    def test_glsi_table_keeps_its_schema(self) -> None:
        self.open().put_answer("key", {"query": "q", "urls": []})
        columns = self.execute("PRAGMA table_info(cache)")
        self.path = self.folder / "new.db"
        self.open().put_answer("key", {"query": "q", "urls": []})
        self.assertEqual(self.execute("PRAGMA table_info(cache)"), columns)
        (updated,) = self.execute("SELECT updated_at FROM cache")[0]
        self.assertRegex(updated, r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$")

    def test_clear_finds_glsi_rows_by_key_and_clears_all(self) -> None:
        store = self.open()
        self.assertEqual(store.clear(" Golang Channels"), removed(1))
        self.assertEqual(store.clear(), removed(1))
        self.assertEqual(store.warnings, [self.told])


class Place(StoreCase):
    def test_path_is_the_variable_or_glsis_default(self) -> None:
        home = str(self.folder)
        self.set_environment(HOME=home)
        self.assertEqual(PageStore().path, f"{home}/.glsi/cache.db")
        for given, expected in (
            ("~/x/c.db", f"{home}/x/c.db"),
            ("/y/c.db", "/y/c.db"),
            (" ", f"{home}/.glsi/cache.db"),
        ):
            self.set_environment(HOME=home, GLSI_DB_PATH=given)
            self.assertEqual(PageStore().path, expected)

    def test_path_may_be_relative(self) -> None:
        before = Path.cwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        store = self.open("cache.db")
        os.chdir("/")
        store.put_answer("key", {"query": "q", "urls": []})
        self.assertEqual(store.warnings, [])
        self.assertTrue((self.folder / "cache.db").is_file())

    def test_path_may_contain_any_character(self) -> None:
        for name in ("100% #1?.db", "file:x.db", "京都 ü.db", "a'b\".db"):
            store = self.open(self.folder / name)
            store.put_answer("key", {"query": "q", "urls": []})
            self.assertTrue(store.get_answer("key", 60.0), name)
            self.assertTrue((self.folder / name).is_file())

    def test_memory_store_lasts_until_closed_without_a_file(self) -> None:
        before = os.listdir()
        store = self.open(":memory:")
        self.assertIsNone(store.get_answer("key", None))
        store.put_answer("key", {"query": "q", "urls": []})
        store.put_pages([page("https://a.test/", "heron")])
        self.assertTrue(store.get_answer("key", 60.0))
        self.assertEqual(self.urls(store, "heron"), ["https://a.test/"])
        self.assertEqual(store.clear(), removed(1, 1))
        self.assertEqual((store.warnings, os.listdir()), ([], before))

    def test_without_a_home_there_is_a_warning_and_no_file(self) -> None:
        for home in ("", None):
            self.set_environment(HOME="")
            if home is None:
                del os.environ["HOME"]
            store = PageStore()
            self.assertIsNone(store.get_answer("key", None))
            store.put_answer("key", {"query": "q", "urls": []})
            (warning,) = store.warnings
            self.assertIn("HOME is not set", warning)
            self.assertIn("GLSI_DB_PATH", warning)
        self.assertFalse(Path("/.glsi").exists())

    def test_only_its_owner_can_read_it(self) -> None:
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        store = self.open()
        store.put_answer("key", {"query": "q", "urls": []})
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode) for path in self.path.parent.iterdir()
        }
        names = ["cache.db", "cache.db-wal", "cache.db-shm"]
        self.assertEqual(modes, dict.fromkeys(names, 0o600))
        self.assertEqual(stat.S_IMODE(self.path.parent.stat().st_mode), 0o700)

    def test_file_that_others_can_use_is_reported_and_restricted(self) -> None:
        for mode, said, left in (
            (0o666, "change", 0o600),
            (0o620, "change", 0o600),
            (0o644, "read", 0o600),
            (0o440, "read", 0o400),
        ):
            with self.subTest(oct(mode)):
                self.path.unlink(missing_ok=True)
                first = self.open()
                first.put_answer("key", {"query": "q", "urls": []})
                files = [*self.path.parent.iterdir()]
                self.assertEqual(len(files), 3)
                for path in files:
                    path.chmod(mode)
                store = self.open()
                self.assertTrue(store.get_answer("key", 60.0))
                self.assertTrue(store.get_answer("key", 60.0))
                (warning,) = store.warnings
                self.assertIn(f"Others could {said} the store {self.path}; now only you", warning)
                self.assertEqual("Clear it if you do not trust" in warning, said == "change")
                self.assertEqual({stat.S_IMODE(path.stat().st_mode) for path in files}, {left})
                again = self.open()
                self.assertTrue(again.get_answer("key", 60.0))
                self.assertEqual(again.warnings, [])
                for one in (first, store, again):
                    one.close()

    def test_another_users_writable_file_causes_a_warning(self) -> None:
        store = self.open()
        store.put_answer("key", {"query": "q", "urls": []})
        store.close()
        if os.getuid() != 0:
            self.skipTest("only root can let a process of another user look at its file")
        os.chmod(self.folder, 0o755)
        os.chmod(self.path.parent, 0o777)  # SQLite writes its journal there
        os.chmod(self.path, 0o666)

        def look() -> list[Any]:
            other = PageStore(str(self.path))
            answer = other.get_answer("key", 60.0)
            other.close()
            return [answer is not None, other.warnings]

        found, warnings = unprivileged(look)
        self.assertTrue(found)
        self.assertEqual(len(warnings), 1)
        self.assertIn("Others could change the store", warnings[0])
        self.assertIn("mode cannot be changed", warnings[0])

    def test_reading_makes_no_file(self) -> None:
        store = self.open()
        store.get_answer("key", None)
        store.get_pages(["https://a.test/"], None)
        store.recall("heron", 5)
        found = store.stats()
        self.assertEqual((found["bytes"], found["answers"], found["pages"]), (0, 0, 0))
        self.assertEqual((store.warnings, list(self.folder.iterdir())), ([], []))


class Unusable(StoreCase):
    """A store that cannot be used is a miss and one warning; the work goes on."""

    def use(self, store: Any) -> list[Any]:
        """Call everything; return what came back."""
        store.put_answer("new", {"query": "q", "urls": []})
        store.put_pages([page("https://new.test/", "heron")])
        return [
            store.get_answer("new", None),
            store.get_pages(["https://new.test/"], None),
            store.recall("heron", 5),
            store.clear("q"),
            store.stats()["answers"],
        ]

    missed = [None, {}, [], removed(), 0]  # noqa: RUF012

    def filled(self) -> None:
        store = self.open()
        store.put_answer("key", {"query": "kept", "urls": []})
        store.put_pages([page("https://a.test/", "walrus")])
        store.add_spent("2026-11", "brave", 7)
        store.close()

    def damage(self, data: bytes) -> None:
        """Put data in the place of the store, which was closed."""
        for path in self.path.parent.iterdir():
            path.unlink()
        self.path.write_bytes(data)
        self.path.chmod(0o600)

    def test_damaged_store_is_recreated_by_any_call(self) -> None:
        self.filled()
        good = self.path.read_bytes()
        self.execute("DELETE FROM page_index_data")
        without_index = self.path.read_bytes()
        self.execute("DROP TABLE page_index_config")
        damaged = [without_index, self.path.read_bytes()]
        for name in (b"CREATE TABLE cache", b"CREATE TABLE spending"):
            self.assertEqual(good.count(name), 1)
            damaged.append(good.replace(name, name[:8] + b"\xff" + name[9:]))
        for number, data in enumerate(damaged):
            for reads in (True, False):
                with self.subTest(number, reads=reads):
                    self.damage(data)
                    store = self.open()
                    if reads:
                        self.assertEqual(store.recall("walrus", 5), [])
                    else:
                        store.put_pages([page("https://new.test/", "heron")])
                    self.assertEqual(self.use(store)[0]["content"]["query"], "q")
                    (warning,) = store.warnings
                    self.assertIn(f"The store {self.path} was damaged", warning)
                    self.assertIn("has been recreated", warning)
                    self.assertTrue(warning.isprintable(), ascii(warning))
                    self.assertEqual(store.clear(), removed(0, 1))
                    store.close()
                    again = self.open()
                    self.assertEqual(self.use(again)[0]["content"]["query"], "q")
                    self.assertEqual(again.warnings, [])
                    again.close()

    def test_spending_counts_survive_damage(self) -> None:
        for number in (1, 2):
            self.filled()
            self.execute("DELETE FROM page_index_data")
            self.use(self.open())
            self.assertEqual(self.open().spent("2026-11"), {"brave": 7 * number})

    def test_clearing_a_damaged_store_leaves_nothing(self) -> None:
        self.filled()
        self.execute("DELETE FROM page_index_data")
        store = self.open()
        self.assertEqual(store.recall("walrus", 5), [])
        store.clear()
        self.assertEqual(len(store.warnings), 1)
        self.assertEqual(self.urls(store, "walrus"), [])
        self.assertEqual(self.use(store)[0]["content"]["query"], "q")

    def test_processes_with_a_damaged_store_lose_nothing(self) -> None:
        code = (
            f"import sys; sys.path.insert(0, {str(SCRIPTS)!r})\n"
            "from websearch.store.page_store import PageStore\n"
            f"store = PageStore({str(self.path)!r})\nsys.stdin.readline()\n"
            "for part in range(3): store.put_pages([{'url': f'https://{sys.argv[1]}.test/{part}', "
            "'text': 'heron'}])\nprint(len(store.warnings))"
        )
        for _ in range(3):
            self.filled()
            self.execute("DELETE FROM page_index_data")
            processes = [
                subprocess.Popen([*PYTHON, "-c", code, str(number)], text=True,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                for number in range(6)
            ]  # fmt: skip
            for process in processes:
                assert process.stdin
                process.stdin.write("go\n")
                process.stdin.flush()
            told = [int(process.communicate(timeout=60)[0]) for process in processes]
            store = self.open()
            self.assertEqual((sum(told), len(store.recall("heron", 50))), (1, 18))
            self.assertEqual(store.warnings, [])
            store.clear()
            store.close()

    def test_work_is_done_once_if_the_store_was_just_recreated(self) -> None:
        self.filled()
        self.execute("DELETE FROM page_index_data")
        store = self.open()

        def work(db: sqlite3.Connection) -> None:
            db.execute("INSERT INTO page_index (rowid, title) VALUES (9, 'heron')")
            db.execute("INSERT INTO history (text) VALUES ('once')")

        thread = threading.Thread(target=store.use, args=(work, None, True))
        with store_file.upkeep_lock(str(self.path), 1.0):
            thread.start()
            time.sleep(0.5)  # it has failed, and waits for the lock
            self.open().clear()
        thread.join()
        self.assertEqual(self.execute("SELECT count(*) FROM history"), [(1,)])
        self.assertEqual(store.warnings, [])

    def test_foreign_files_are_never_changed(self) -> None:
        def other_database(version: int) -> bytes:
            self.damage(b"")
            self.execute("CREATE TABLE pages (url TEXT)")
            self.execute(f"PRAGMA user_version = {version}")
            return self.path.read_bytes()

        self.path.parent.mkdir()
        others = [other_database(version) for version in (0, 1, 2, 3, 99)]
        others += [b"x", b"notes of mine\n" * 1_000, os.urandom(9_000)]
        others.append(b"SQLite format 3\0" + b"\xff" * 5_000)
        for data in others:
            self.damage(data)
            for read in (True, False):
                store = self.open()
                if read:
                    self.assertEqual(store.recall("walrus", 5), [])
                else:
                    self.assertEqual([*self.use(store), store.clear()], [*self.missed, removed()])
                (warning,) = store.warnings
                self.assertIn("not a store", warning)
                self.assertIn("GLSI_DB_PATH", warning)
                store.close()
                self.assertEqual(self.path.read_bytes(), data)
                self.assertEqual(os.listdir(self.path.parent), ["cache.db"])

    def test_store_of_a_later_version_is_never_changed(self) -> None:
        self.filled()
        self.execute("PRAGMA user_version = 99")
        before = self.path.read_bytes()
        store = self.open()
        self.assertEqual([*self.use(store), store.clear()], [*self.missed, removed()])
        (warning,) = store.warnings
        self.assertIn("a later version", warning)
        store.close()
        self.assertEqual(self.path.read_bytes(), before)

    def test_store_of_the_previous_version_is_kept(self) -> None:
        self.filled()
        names = [name for _, name, *_ in self.execute("PRAGMA table_info(pages)")]
        columns = ", ".join(name for name in names if name != "author")
        self.execute(f"CREATE TABLE of_version_7 AS SELECT {columns} FROM pages")
        self.execute("DROP TABLE pages")
        self.execute("ALTER TABLE of_version_7 RENAME TO pages")
        self.execute("PRAGMA user_version = 7")
        store = self.open()
        (old,) = store.recall("walrus", 5)
        self.assertNotIn("author", old)
        store.put_pages([{**page("https://b.example/", "A seal."), "author": "Ada Reed"}])
        new = store.get_pages(["https://b.example/"], None)
        self.assertEqual(new["https://b.example/"]["author"], "Ada Reed")
        self.assertEqual(store.warnings, [])

    def test_store_of_an_earlier_version_is_put_aside_and_named(self) -> None:
        for reads in (True, False):
            self.filled()
            self.execute("PRAGMA user_version = 3")
            self.execute("PRAGMA application_id = 0")
            self.execute("DROP TABLE history")
            aside = Path(f"{self.path}.version-3")
            store = self.open()
            if reads:
                self.assertEqual(store.recall("walrus", 5), [])
            self.assertEqual(self.use(store)[0]["content"]["query"], "q")
            (warning,) = store.warnings
            self.assertIn(f"The store {self.path} was from an earlier version", warning)
            self.assertIn(f"it was moved to {aside}, and a new one was created", warning)
            self.assertEqual(store.spent("2026-11"), {"brave": 7})
            with closing(sqlite3.connect(aside)) as db:
                self.assertEqual(db.execute("SELECT text FROM pages").fetchall(), [("walrus",)])
            self.assertEqual(stat.S_IMODE(aside.stat().st_mode), 0o600)
            store.close()
            again = self.open()
            self.assertEqual(self.use(again)[0]["content"]["query"], "q")
            self.assertEqual(again.warnings, [])
            again.clear()
            self.assertFalse(aside.exists())
            again.close()
            self.damage(b"")

    def test_both_dates_of_a_page_are_kept(self) -> None:
        store = self.open()
        dates = {"published": "2020-01-02", "updated": "2022-05-06"}
        store.put_pages([{**page("https://b.test/", "heron"), **dates}])
        (found,) = store.get_pages(["https://b.test/"], None).values()
        self.assertLessEqual(dates.items(), found.items())

    def test_file_that_was_cut_off_is_recreated(self) -> None:
        store = self.open()
        store.put_pages([page(f"https://a.test/{n}", f"walrus{n} " * 9_000) for n in range(20)])
        store.close()
        good = self.path.read_bytes()
        for size in (len(good) - 4_096, len(good) // 2, 5_000):
            self.damage(good[:size])
            store = self.open()
            store.recall("walrus1", 5)
            self.assertEqual(self.use(store)[0]["content"]["query"], "q", size)
            (warning,) = store.warnings
            self.assertIn("has been recreated", warning)
            store.close()

    def test_advice_for_an_overwritten_header_names_the_file_to_delete(self) -> None:
        self.filled()
        self.damage(b"x" * 100 + self.path.read_bytes()[100:])
        store = self.open()
        self.assertEqual(self.use(store), self.missed)
        (warning,) = store.warnings
        self.assertIn(f"Delete {self.path} if it was one", warning)
        self.assertNotIn("disk space", warning)

    def test_wrong_bytes_never_raise_and_cause_a_warning(self) -> None:
        self.filled()
        good = self.path.read_bytes()
        source = random.Random(SEED)
        warned = []
        for number in range(180):
            damaged = bytearray(good)
            if number % 3:
                for _ in range(source.choice((1, 8, 64))):
                    damaged[source.randrange(100, 4_096)] = source.choice((0, 0xFF, 0x80, 0x20))
            else:
                start = source.randrange(len(good))
                size = len(damaged[start : start + 4_096])
                damaged[start : start + size] = source.randbytes(size)
            self.damage(damaged)
            store = self.open()
            store.get_answer("key", None)
            pages = [*store.get_pages(["https://a.test/"], None).values()]
            for found in [*pages, *store.recall("walrus", 5)]:
                self.assertTrue(all(type(found[name]) is str for name in ("title", "text")))
                page_store.utc_time(found["fetched_at"])
            self.use(store)
            warned += store.warnings
            store.close()
        self.assertGreater(len(warned), 40)
        for warning in warned:
            self.assertRegex(warning, "has been recreated|cannot be (used|written)")
            self.assertTrue(warning.isprintable(), ascii(warning))

    def test_folder_for_the_file_and_file_for_the_folder(self) -> None:
        self.path.mkdir(parents=True)
        below = self.folder / "file"
        below.write_text("x")
        for place in (self.path, below / "cache.db", below / "deep" / "cache.db"):
            store = self.open(place)
            self.assertEqual(self.use(store), self.missed, place)
            self.assertEqual(len(store.warnings), 1)
            self.assertIn(str(place), store.warnings[0])

    def test_full_disk_keeps_the_data_and_warns_once(self) -> None:
        self.filled()
        with files_up_to(self.path.stat().st_size + 8_192):
            store = self.open()
            store.put_pages([page("https://big.test/", os.urandom(200_000).hex())])
            store.put_answer("new", {"query": "x" * 400_000, "urls": []})
            (warning,) = store.warnings
            self.assertRegex(warning, r"cannot be written: .*(full|I/O).*\. Free disk space")
            self.assertTrue(store.get_answer("key", None))
            self.assertIsNone(store.get_answer("new", None))
            self.assertEqual(self.urls(store, "walrus"), ["https://a.test/"])

    def test_full_disk_can_be_cleared(self) -> None:
        store = self.open()
        store.clear()
        store.put_answer("key", {"query": "q", "urls": []})
        store.clear()
        store.close()
        empty = self.path.stat().st_size
        store = self.open()
        store.put_pages([page(f"https://a.test/{n}", f"walrus{n} " * 9_000) for n in range(20)])
        store.close()
        self.assertGreater(self.path.stat().st_size, 2 * empty)
        with files_up_to(empty):  # the journal of an empty store is longer
            store = self.open()
            self.assertEqual((store.clear(), store.warnings), (removed(0, 20), []))
            store.close()
        self.assertLessEqual(self.path.stat().st_size, empty)
        self.assertEqual(self.use(self.open())[0]["content"]["query"], "q")

    def test_disk_without_space_for_a_byte_can_be_cleared(self) -> None:
        self.path.parent.mkdir()
        disk = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(self.path.parent)]
        if sys.platform != "linux" or subprocess.call(disk):
            self.skipTest("only root can make a small disk")
        self.addCleanup(subprocess.call, ["umount", str(self.path.parent)])
        self.filled()
        with (
            contextlib.suppress(OSError),
            (self.path.parent / "fill").open("wb", buffering=0) as fill,
        ):
            while fill.write(bytes(4_096)):
                pass
        store = self.open()
        store.clear()
        self.assertEqual(
            (store.warnings, store.has_failed),
            (["The disk is full: what was removed could not be counted."], False),
        )
        store.close()
        self.assertEqual(self.urls(self.open(), "walrus"), [])

    def test_sqlite_without_full_text_stores_everything_else(self) -> None:
        class WithoutFullText(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> Any:
                if "fts5" in sql.lower():
                    raise sqlite3.OperationalError("no such module: fts5")
                return super().execute(sql, *values)

        connect = sqlite3.connect

        def without_fts5(path: str, **options: Any) -> sqlite3.Connection:
            return connect(path, factory=WithoutFullText, **options)

        for fills in (False, True):  # the file, before, with full text
            if fills:
                self.filled()
            with mock.patch("sqlite3.connect", without_fts5):
                store = self.open()
                store.put_answer("new", {"query": "q", "urls": []})
                store.put_pages([page("https://a.test/", "egret"), page("https://b.test/", "gull")])
                self.assertTrue(store.get_answer("new", 60.0))
                self.assertEqual(len(store.get_pages(["https://a.test/"], 60.0)), 1)
                self.assertEqual(store.add_spent("2026-10", "brave", 3), {"brave": 3})
                self.assertEqual(store.warnings, [])
                self.assertEqual(store.recall("egret", 5), [])
                (warning,) = store.warnings
                self.assertIn("lacks FTS5", warning)
                self.assertNotIn("disk space", warning)
                self.assertEqual(store.clear("q"), removed(1))
                store.close()
            store = self.open()
            store.put_pages([page("https://b.test/", "heron"), page("https://c.test/", "heron")])
            self.assertEqual(self.urls(store, "heron"), ["https://b.test/", "https://c.test/"])
            self.assertEqual((self.urls(store, "walrus"), store.warnings), ([], []))
            store.clear()
            store.close()
            self.damage(b"")

    def test_lock_of_another_program_costs_one_bounded_wait(self) -> None:
        self.filled()
        with closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            store = self.open()
            started = time.monotonic()
            store.put_answer("new", {"query": "q", "urls": []})
            self.assertTrue(store.get_answer("key", None))  # reading goes on
            self.assertLess(time.monotonic() - started, store_file.LOCK_SECONDS + SLACK)
            self.assertEqual(len(store.warnings), 1)
            self.assertIn("locked", store.warnings[0])
            started = time.monotonic()  # the others of a search know of it
            for number in range(5):
                self.assertEqual(self.open().add_spent("2026-11", "brave", number), {})
            self.assertLess(time.monotonic() - started, store_file.LOCK_SECONDS)

    def test_read_only_file_still_answers(self) -> None:
        self.filled()
        os.chmod(self.folder, 0o755)
        os.chmod(self.path, 0o444)
        os.chmod(self.path.parent, 0o777)
        found = unprivileged(self.read_and_write)
        self.assertEqual(found[:2], ["kept", ["https://a.test/"]], found)
        self.assertEqual(len(found[2]), 1)
        self.assertRegex(found[2][0], r"cannot be written: .*writable")

    def test_read_only_folder_misses_everything_and_warns_once(self) -> None:
        self.filled()
        os.chmod(self.folder, 0o755)
        os.chmod(self.path, 0o644)
        os.chmod(self.path.parent, 0o555)
        self.addCleanup(os.chmod, self.path.parent, 0o700)

        def work() -> list[Any]:
            store = PageStore(str(self.path))
            found = self.use(store)
            return [found, store.warnings]

        found, warnings = unprivileged(work)
        self.assertEqual(found, self.missed)
        self.assertEqual(len(warnings), 1)
        self.assertRegex(warnings[0], r"cannot be used: .*writable")

    def read_and_write(self) -> list[Any]:
        store = PageStore(str(self.path))
        content = store.get_answer("key", None)["content"]
        urls = self.urls(store, "walrus")
        store.put_answer("new", {"query": "q", "urls": []})
        store.close()
        return [content["query"], urls, store.warnings]

    def test_file_system_without_wal_gets_the_older_journal(self) -> None:
        connect = sqlite3.connect

        def without_wal(path: str, **options: Any) -> sqlite3.Connection:
            # SQLite's dot-file locking represents such a file system.
            return connect(f"file://{path}?vfs=unix-dotfile", uri=True, **options)

        store = self.open()
        with mock.patch("sqlite3.connect", without_wal):
            store.put_answer("key", {"query": "q", "urls": []})
        self.assertTrue(store.get_answer("key", 60.0))
        self.assertEqual(store.warnings, [])
        store.close()
        self.assertEqual(self.execute("PRAGMA journal_mode"), [("delete",)])


@contextlib.contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Let this process write no file beyond a size: so a full disk looks to SQLite."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def unprivileged(action: Any) -> Any:
    """Return what action returns in a process that file modes bind, also where this one is root."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65_534)
                os.setuid(65_534)
            found = action()
        except BaseException as error:  # noqa: BLE001  whatever it is, the test must see it
            found = repr(error)
        os.write(writing, json.dumps(found).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    os.waitpid(process, 0)
    return json.loads(data)


class Size(StoreCase):
    def test_size_stays_in_its_limit_and_the_oldest_go_first(self) -> None:
        bound = 4 * 1024 * 1024
        store = self.open(max_bytes=bound)
        source = random.Random(SEED)
        for number in range(90):  # each page is seen twice, with other words
            words = " ".join(f"{source.getrandbits(40):x}" for _ in range(5_000))
            address = f"https://a.test/{number // 2}"
            store.put_pages([page(address, f"{words} heron{number}", age=1_000 - number)])
            self.assertEqual(self.urls(store, f"heron{number}"), [address])
            self.assertLessEqual(self.path.stat().st_size, bound * 1.1)
            store.shrink(60.0)
            self.assertLessEqual(self.path.stat().st_size, bound)
        numbers = [n for n in range(45) if store.get_pages([f"https://a.test/{n}"], None)]
        self.assertEqual(numbers, list(range(45 - len(numbers), 45)))
        self.assertGreater(len(numbers), 8)
        self.assertEqual(self.urls(store, "heron1"), [])
        self.assertEqual(store.warnings, [])

    def test_old_answers_go_before_young_pages(self) -> None:
        store = self.open(max_bytes=1_000_000)
        store.put_answer("old", {"query": "q", "urls": [], "text": "x" * 300_000})
        self.age(86_400)
        store.put_pages([page(f"https://a.test/{n}", "heron " * 5_000) for n in range(12)])
        store.put_answer("new", {"query": "q", "urls": [], "text": "x" * 500_000})
        store.shrink(60.0)
        self.assertIsNone(store.get_answer("old", None))
        self.assertTrue(store.get_answer("new", None))
        self.assertGreater(store.stats()["pages"], 5)

    def large(self, pages: int) -> Any:
        """Return a store far above its limit, which nobody has made smaller yet."""
        source = random.Random(SEED)
        texts = [" ".join(f"w{source.randrange(9_999)}" for _ in range(900)) for _ in range(pages)]
        store = self.open(max_bytes=10**9)
        store.put_pages(
            [page(f"https://a.test/{n}", text, age=9_999 - n) for n, text in enumerate(texts)]
        )
        store.close()
        return self.open(max_bytes=store.stats()["bytes"] // 2)

    def test_nothing_is_stored_a_tenth_above_the_limit(self) -> None:
        store = self.large(60)
        before = store.stats()["bytes"]
        store.put_pages([page("https://new.test/", "gull " * 9_000)])
        store.put_answer("new", {"query": "q", "urls": []})
        self.assertEqual((store.stats()["bytes"], store.warnings), (before, []))
        self.assertEqual((store.get_answer("new", None), self.urls(store, "gull")), (None, []))
        self.assertEqual(store.add_spent("2026-11", "brave", 1), {"brave": 1})

    def test_removal_takes_an_eighth_at_most_and_stops_in_time(self) -> None:
        store = self.large(400)
        for seconds in (0.0, 0.3):
            before, begin = store.stats()["pages"], time.monotonic()
            store.shrink(seconds)
            self.assertLess(time.monotonic() - begin, seconds + SLACK)
            self.assertGreaterEqual(store.stats()["pages"], before * 7 // 8 - 4)
        store.shrink(60.0)
        self.assertGreaterEqual(store.stats()["pages"], 400 * 6 // 8)

    def test_large_store_shrinks_when_the_call_is_over(self) -> None:
        store = self.large(60)
        store.put_answer("new", {"query": "q", "urls": []})
        self.assertEqual(store.stats()["pages"], 60)
        store.close()
        end = time.monotonic() + 3 * SLACK
        while store.stats()["pages"] == 60 and time.monotonic() < end:
            time.sleep(0.05)
        self.assertLess(store.stats()["pages"], 60)
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join()

    def test_merging_between_writes_does_not_grow_the_file(self) -> None:
        blocks = "SELECT sum(length(block)) FROM page_index_data"
        store = self.large(300)
        store._merge(-50)
        ((before,),) = store.rows(blocks)
        for number in range(30):
            writer = self.open()
            writer.put_pages([page(f"https://new.test/{number}", f"gull{number}")])
            writer.close()
            store._merge(50)
        self.assertLess(store.rows(blocks)[0][0], before * 1.2)


class Process(StoreCase):
    def test_server_keeps_the_journal_between_calls(self) -> None:
        code = f"""
import os, sys
sys.path.insert(0, {str(SCRIPTS)!r})
from websearch.store import database, page_store
def call():
    store = page_store.PageStore({str(self.path)!r})
    store.put_answer("key", {{"query": "q", "urls": []}})
    store.close()
    return os.path.exists({f"{self.path}-wal"!r})
assert not call()
os.remove({str(self.path)!r})
database.keep_open()
assert call() and call()
"""
        command = [sys.executable, "-W", "error", "-X", "dev", "-c", code]
        run = subprocess.run(command, capture_output=True, check=False, env=clean_environment())
        self.assertEqual((run.returncode, run.stderr.decode()), (0, ""))
        self.assertFalse(Path(f"{self.path}-wal").exists())

    def test_link_that_nothing_has_shown_is_looked_up_in_the_index(self) -> None:
        store = self.open()
        link = "https://b.test/Ünï/x_y?z=1#part"
        store.put_pages([page("https://a.test/", f"heron [here]({link}) gull")])
        statements: list[str] = []
        store.use(lambda db: db.set_trace_callback(statements.append), None)
        shown = ("https://a.test", "https://b.test/", link, link[:-3], "https://b.test/Ünï/x_")
        self.assertEqual([store.has_shown(url) for url in shown], [True] * len(shown))
        for url in ("https://b.test/x", "https://c.test/", "https://b.test/Ünï/x_y?z=2"):
            self.assertFalse(store.has_shown(url), url)
        texts = [text for text in statements if "instr(text, " in text]
        self.assertTrue(texts and all("page_index MATCH" in text for text in texts), texts)

    def test_normal_use_neither_warns_nor_imports_much(self) -> None:
        code = f"""
import sys
sys.path.insert(0, {str(SCRIPTS)!r})
before = set(sys.modules)
from websearch.store import page_store
heavy = {{"sqlite3", "hashlib", "urllib.parse", "random", "typing"}}
assert not heavy & (set(sys.modules) - before)
store = page_store.PageStore({str(self.path)!r})
store.put_answer("key", {{"query": "q", "urls": []}})
store.put_pages([{{"url": "https://a.test/", "text": "\\u6771\\u4eac heron"}}])
assert store.get_answer("key", 60.0) and store.recall("heron", 5)
store.clear("q")
store.close()
store.close()
assert not store.warnings, store.warnings
for path in ("/dev/null/x", "/no/such/file"):
    page_store.PageStore(path).get_answer("key", None)
    page_store.PageStore(path).stats()
"""
        command = [sys.executable, "-W", "error", "-X", "dev", "-c", code]
        run = subprocess.run(command, capture_output=True, check=False, env=clean_environment())
        self.assertEqual((run.returncode, run.stderr.decode()), (0, ""))

    def test_hit_reads_the_answer_and_no_index(self) -> None:
        store = self.open()
        store.put_answer("key", {"query": "q", "urls": []})
        store.put_pages([page("https://a.test/", "heron")])
        store.close()
        self.execute("DROP TABLE pages")
        reader = self.open()
        statements: list[str] = []
        reader.use(lambda db: db.set_trace_callback(statements.append), None)
        self.assertTrue(reader.get_answer("key", 60.0))
        self.assertEqual(len(statements), 1)


if __name__ == "__main__":
    unittest.main()
