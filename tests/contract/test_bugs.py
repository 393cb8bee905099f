"""A bug of the program on one page, file or quotation affects only that one.

No real page should raise, so a function of the package is made to raise for texts with a word.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import read_page
from tests.support import PROCESS_TIMEOUT, SCRIPTS, call_main
from websearch.check import check
from websearch.markdown import units
from websearch.passages import excerpts, ranking
from websearch.reading import page as reading
from websearch.reading import pages_document, read_list
from websearch.search import evidence, rank, show, show_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator


GOOD = "# Ferries\n\nThe ferry leaves the harbor at noon every day of the week."
BAD = "# Trains\n\nThe zyxword train meets the ferry at the station in the evening."
NAMES = ("https://good.example/", "https://bad.example/")


@contextlib.contextmanager
def raising(module: Any, name: str) -> Iterator[None]:
    """Let a function raise KeyError if an argument holds zyxword, as text or in its page."""
    original = getattr(module, name)

    @functools.wraps(original)
    def raises(*arguments: Any, **named: Any) -> Any:
        for one in arguments:
            texts = (one, getattr(one, "text", ""), getattr(getattr(one, "page", ""), "text", ""))
            if "zyxword" in str(texts) + str(one if isinstance(one, (dict, list)) else ""):
                raise KeyError("zyxword")
        return original(*arguments, **named)

    with mock.patch.object(module, name, raises):
        yield


# Loads typing slowly in one thread while another defines dataclasses.
SLOW_TYPING = """
import importlib, sys, threading, time
from importlib.machinery import PathFinder, SourceFileLoader

class Slow(SourceFileLoader):
    def exec_module(self, module):
        time.sleep(1)
        super().exec_module(module)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "typing":
            spec = PathFinder.find_spec(name)
            spec.loader = Slow(name, spec.origin)
            return spec

sys.meta_path.insert(0, Finder())
sys.path.insert(0, sys.argv[1])
import websearch.base.calls
name = "websearch.pages.extract.other_formats"
thread = threading.Thread(target=importlib.import_module, args=(name,))
thread.start()
time.sleep(0.3)
import websearch.search.rank
thread.join()
"""


def searched(**options: bool) -> dict[str, Any]:
    """The document of a recall of two pages, which splits, ranks and shows them."""
    sources = [
        rank.Source(
            {"title": "T", "url": url, "fetched_at": 0.0, "published": ""},
            questions={1},
            text=text,
        )
        for url, text in zip(NAMES, (GOOD, BAD), strict=True)
    ]
    limits = evidence.Limits(9_000, time.monotonic() + 20, count=2)
    document: dict[str, Any] = show.show_sources(
        lambda some: show.show_recall("ferry", some, [], limits),
        sources,
        verbose=options.get("verbose", False),
    )
    return document


class OnePage(unittest.TestCase):
    """A search shows the other pages as ever."""

    def test_a_bug_at_each_stage_leaves_a_page_its_beginning_and_a_warning(self) -> None:
        for module, name in (
            (units, "split_blocks"),
            (units, "sentence_spans"),
            (ranking, "units_aside"),
            (ranking, "with_context"),
            (ranking, "add_headings"),
            (ranking, "with_blocks"),
            (show, "excerpt_text"),
            (excerpts, "shown_text"),
        ):
            whole = searched()["results"][0]
            with self.subTest(name), raising(module, name):
                document = searched()
                good, bad = document["results"]
                self.assertEqual(good, whole)
                self.assertIn("zyxword train", bad.get("snippet") or bad["text"])
                if name != "shown_text":  # which a page that is shown whole does not need
                    (warning,) = document["warnings"]
                    self.assertIn(NAMES[1], warning)
                    self.assertIn("Internal error: KeyError at", warning)
                    self.assertIn("in the program", warning)

    def test_markdown_shows_the_other_items(self) -> None:
        document = searched()
        with raising(show_markdown, "page_text"):
            text = show_markdown.search_markdown(document)
        self.assertIn("leaves the harbor", text)
        self.assertIn("zyxword train", text)
        self.assertIn("KeyError", text)

    def test_verbose_shows_the_traceback(self) -> None:
        for verbose in (False, True):
            error = io.StringIO()
            with contextlib.redirect_stderr(error), raising(units, "split_blocks"):
                searched(verbose=verbose)
            self.assertEqual("Traceback" in error.getvalue(), verbose)


class OneFile(unittest.TestCase):
    """A page that is read keeps its beginning; a list goes on."""

    def test_a_page_that_is_read_shows_its_beginning(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("good.md", "bad.md")]
            for path, text in zip(paths, (GOOD, BAD), strict=True):
                Path(path).write_text(text, "utf-8")
            for module, name, options in (
                (units, "split_blocks", ("--query", "ferry")),
                (pages_document, "slice_end", ()),
                (pages_document, "find_headings", ("--outline",)),
                (pages_document, "found", ("--find", "ferry")),
            ):
                with self.subTest(name), raising(module, name):
                    run = call_main(read_page, *paths, *options, "--format", "json")
                    good, bad = run.document["pages"]
                    self.assertTrue(good["ok"])
                    self.assertIn("zyxword train", bad["text"])
                    self.assertIn("bad.md", run.document["warnings"][0])

    def test_a_line_of_a_list_has_its_error(self) -> None:
        page = reading.Page(NAMES[1], BAD, fields={"final_url": NAMES[1]})
        params = {"max_chars": 0, "offset": 0, "timeout": 5.0}
        with raising(read_list, "pages_document"):
            document = read_list.line_or_error(NAMES[1], page, params)
        self.assertEqual(document["url"], NAMES[1])
        self.assertEqual(document["details"]["kind"], "internal")


class OneQuotation(unittest.TestCase):
    """The other quotations have their verdicts."""

    def test_a_quotation_on_which_the_comparison_raises_is_unread(self) -> None:
        page = reading.Page(NAMES[0], GOOD, fields={"title": "Ferries"})
        draft = (
            '"The ferry leaves the harbor at noon" [1] and "The zyxword train meets the ferry" [1]'
            f"\n\n[1]: {NAMES[0]}\n"
        )
        sources = {NAMES[0]: check.SourcePage(NAMES[0], page)}
        original = check.check_quotation

        def raises(item: Any, *others: Any) -> Any:
            if "zyxword" in item.text:
                raise KeyError("zyxword")
            return original(item, *others)

        with (
            mock.patch.object(check, "read_sources", return_value=sources),
            mock.patch.object(check, "check_quotation", raises),
        ):
            document = check.run_check({"text": draft})
        verdicts = {one["quote"][:11]: one for one in document["checks"]}
        self.assertEqual(verdicts["The ferry l"]["verdict"], "verbatim")
        self.assertEqual(verdicts["The zyxword"]["verdict"], "unread")
        self.assertIn("Internal error: KeyError", verdicts["The zyxword"]["error"])


class Imports(unittest.TestCase):
    def test_the_first_calls_at_once_of_a_server_can_load_their_modules(self) -> None:
        command = [sys.executable, "-I", "-S", "-c", SLOW_TYPING, str(SCRIPTS)]
        run = subprocess.run(command, capture_output=True, check=False, timeout=PROCESS_TIMEOUT)
        self.assertEqual((run.returncode, run.stderr), (0, b""))


if __name__ == "__main__":
    unittest.main()
