"""PDF files through read_page: from the web, from this machine, and refused by other interfaces.

The only module to notice a local file that a server would read.
"""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlencode

from tests.fake_server.pdf_builder import PdfBuilder, one_page
from tests.reading.test_read_page import SCRIPT, SiteCase
from tests.support import load_script, run_script
from tests.ways_in.mcp_support import Client
from tests.ways_in.test_http_server import ServerProcess
from websearch.pages.fetch import fetch, local_files
from websearch.reading import read

PAPER = "papers/lighthouse.pdf"


class FromTheWeb(SiteCase):
    """A PDF file is read like any other page."""

    def test_a_paper_is_read_page_by_page_with_its_title(self) -> None:
        run = self.run_script(SCRIPT, self.address(PAPER))
        self.assertEqual(run.code, 0, run.stdout)
        page = run.document["pages"][0]
        facts = [page[name] for name in ("title", "author", "published", "page_count")]
        self.assertEqual(facts, ["The lighthouse log", "Ann Keeper", "2024-01-31", 3])
        marks = [line for line in page["text"].split("\n") if "[page " in line]
        self.assertEqual(marks, ["## [page 1]", "## [page 2]", "## [page 3]"])
        self.assertIn("ninety-one notebooks, all of them kept.", page["text"])

    def test_the_body_decides_and_not_the_content_type(self) -> None:
        self.assertEqual(self.page("papers/lighthouse")["page_count"], 3)

    def test_pages_names_the_pages_to_read(self) -> None:
        run = self.run_script(SCRIPT, self.address(PAPER), "--pages", "2-3")
        text = run.document["pages"][0]["text"]
        self.assertNotIn("[page 1]", text)
        self.assertIn("[page 3]\n\nResults", text)
        self.assertEqual(self.page(PAPER, pages="1,3")["text"].count("[page "), 2)
        self.assertEqual(self.page("articles/sourdough", pages="2")["title"], "Why sourdough rises")

    def test_the_outline_is_that_of_the_file(self) -> None:
        """Entries point to pages by an array, an action or a name in the name tree."""
        outline = self.page("papers/manual.pdf", outline=True)["outline"]
        self.assertEqual(
            [(entry["level"], entry["heading"], entry["page"]) for entry in outline],
            [(1, "Setting up", 1), (2, "The first call", 2), (1, "Limits", 3)],
        )
        section = self.page("papers/manual.pdf", section="first call")
        self.assertIn("[page 2]", section["text"])
        self.assertNotIn("[page 1]", section["text"])
        whole = self.page("papers/manual.pdf", section="setting up")["text"]
        self.assertIn("[page 1]", whole)

    def test_without_an_outline_large_lines_are_headings(self) -> None:
        outline = self.page("papers/headings.pdf", outline=True)["outline"]
        self.assertEqual(
            [(entry["level"], entry["heading"]) for entry in outline],
            [(3, "Methods of the survey"), (4, "Sampling"), (3, "Results")],
        )
        section = self.page("papers/headings.pdf", section="methods")["text"]
        self.assertIn("# no heading", section)
        self.assertIn("went on to the second page", section)
        self.assertNotIn("Rain fell", section)

    def test_malformed_pages_are_bad_input_before_any_fetch(self) -> None:
        seen = len(self.server.requests)
        for pages in ("x", "0", "5-2"):
            run = self.run_script(SCRIPT, self.address(PAPER), "--pages", pages)
            self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
            self.assertIn("3-7", run.document["details"]["hint"])
        self.assertEqual(len(self.server.requests), seen)
        self.assertEqual(self.kind(PAPER, pages="7-9"), "invalid_input")

    def test_passages_name_their_page(self) -> None:
        page = self.page(PAPER, query="how many days of fog")
        texts = {one["heading"]: one["text"] for one in page["passages"]}  # short: shown whole
        self.assertEqual([*texts], [f"[page {number}]" for number in range(1, len(texts) + 1)])
        self.assertIn("61 days", texts["[page 3]"])

    def test_a_long_text_is_cut_and_continues_at_the_offset(self) -> None:
        page = self.page(PAPER, max_chars=400)
        self.assertTrue(page["truncated"])
        rest = self.page(PAPER, offset=page["next_offset"])
        whole = self.page(PAPER)["text"]
        self.assertEqual(page["text"] + rest["text"], whole)

    def test_a_file_beyond_the_limit_of_a_page_is_read_whole(self) -> None:
        self.assertGreater(6_000_000, fetch.MAX_PAGE_BYTES)
        page = self.page("papers/large.pdf", page_timeout=20)
        self.assertIn("[page 2]\n\nThe last page of a large paper.", page["text"])
        self.assertNotIn("truncated", page)

    def test_a_file_beyond_the_limit_of_a_pdf_is_cut(self) -> None:
        with mock.patch.object(fetch, "MAX_FILE_BYTES", 5_500_000):
            document = self.read("papers/large.pdf", page_timeout=20)
        self.assertEqual(document["details"]["kind"], "unsupported")

    def test_scans_and_locked_files_are_named(self) -> None:
        run = self.run_script(SCRIPT, self.address("papers/scan.pdf"))
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "unsupported"))
        self.assertIn("a scan: its pages are images", run.document["error"])
        run = self.run_script(SCRIPT, self.address("papers/locked.pdf"))
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "refused"))
        self.assertIn("password", run.document["error"])

    def test_as_markdown_the_text_is_in_the_fence(self) -> None:
        run = self.run_script(SCRIPT, self.address(PAPER), "--format", "markdown")
        _, _, fenced = run.stdout.decode().partition("[untrusted page text")
        self.assertIn("**The lighthouse log**", fenced)
        self.assertIn("## [page 2]", fenced)

    def test_a_note_says_where_reading_ended(self) -> None:
        pdf = load_script("websearch.pages.pdf.read_pdf")
        with mock.patch.object(pdf, "MAX_PAGES", 2):
            page = self.page(PAPER)
            passages = self.page(PAPER, query="log")
        self.assertIn("Reading ended on page 3", page["note"])
        self.assertTrue(page["truncated"])
        self.assertIn("Reading ended on page 3", passages["note"])


class FromThisMachine(unittest.TestCase):
    """Paths and file: URLs on the command line."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="papers ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "my paper.pdf").write_bytes(one_page("Text of a local paper."))
        (self.folder / "notes.html").write_text("<h1>Notes</h1><p>Text of local notes.</p>")

    def read_here(self, *arguments: str) -> Any:
        return run_script(SCRIPT, *arguments, cwd=self.folder)

    def test_paths_and_file_addresses_are_read(self) -> None:
        path = self.folder / "my paper.pdf"
        address = path.as_uri()
        for name in ("./my paper.pdf", f"../{self.folder.name}/my paper.pdf", str(path), address,
                     address.replace("file://", "file://localhost")):  # fmt: skip
            with self.subTest(name):
                run = self.read_here(name)
                self.assertEqual(run.code, 0, run.stdout)
                page = run.document["pages"][0]
                self.assertIn("Text of a local paper.", page["text"])
                self.assertEqual(page["final_url"], path.resolve().as_uri())

    def test_the_home_folder_is_known(self) -> None:
        with mock.patch.dict(os.environ, {"HOME": str(self.folder)}):
            self.assertTrue(local_files.local_url("~/x.pdf").endswith("/x.pdf"))
            self.assertNotIn("~", local_files.local_url("~/x.pdf"))

    def test_other_files_are_read_as_pages_are(self) -> None:
        run = self.read_here("./notes.html")
        self.assertIn("Text of local notes.", run.document["pages"][0]["text"])

    def test_pages_and_markdown_work_on_local_files(self) -> None:
        run = self.read_here("./my paper.pdf", "--pages", "1", "--format", "markdown")
        self.assertIn("## [page 1]", run.stdout.decode())
        self.assertIn("## file:///", run.stdout.decode())

    def test_a_path_without_a_file_is_bad_input(self) -> None:
        os.mkfifo(self.folder / "pipe")
        for name in (
            "./missing.pdf",
            ".//",
            "./pipe",
            "/dev/zero",
            "file://other.example/x.pdf",
            "file://[",
        ):
            with self.subTest(name):
                run = self.read_here(name)
                self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
                self.assertTrue(run.document["details"]["hint"])

    def test_a_file_without_text_is_unsupported(self) -> None:
        (self.folder / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
        run = self.read_here("./photo.png")
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "unsupported"))

    def test_files_are_read_to_their_limits(self) -> None:
        builder = PdfBuilder()
        builder.add_text("first")
        builder.add_stream(bytes(9_000))
        builder.add_text("last")
        (self.folder / "large.pdf").write_bytes(builder.build())
        (self.folder / "large.txt").write_text("word " * 2_000)
        limits = {"MAX_PAGE_BYTES": 5_000, "MAX_FILE_BYTES": 8_000}
        with mock.patch.multiple(local_files, **limits), mock.patch.multiple(fetch, **limits):
            for name, size in (("large.pdf", 8_000), ("large.txt", 5_000)):
                url = local_files.local_url(str(self.folder / name))
                response = local_files.read_local_file(url).response
                self.assertEqual((len(response.body), response.cut), (size, True))

    def test_a_dry_run_names_the_file(self) -> None:
        run = self.read_here("./my paper.pdf", "--dry-run")
        self.assertTrue(run.document["request"]["url"].endswith("my%20paper.pdf"))

    def test_a_file_that_exists_is_read_by_its_bare_name(self) -> None:
        run = self.read_here("notes.html")
        self.assertTrue(run.document["ok"], run.document)
        self.assertTrue(run.document["pages"][0]["final_url"].endswith("/notes.html"))

    def test_names_without_a_path_stay_hosts(self) -> None:
        for text in ("paper.pdf", "example.org/x.pdf", "https://example.org/./x.pdf", "a/../b"):
            self.assertFalse(local_files.is_local(text), text)

    def test_only_the_command_line_reads_local_files(self) -> None:
        address = (self.folder / "my paper.pdf").as_uri()
        for name in (address, str(self.folder / "my paper.pdf"), "./my paper.pdf"):
            with self.subTest(name):
                document = read.run_read({"urls": [name]})
                self.assertFalse(document["ok"])
                self.assertIn(document["details"]["kind"], ("refused", "invalid_input"))
        client = Client({})
        self.addCleanup(client.close)
        answer = client.call("read_page", urls=[address])
        self.assertTrue(answer["isError"], answer)
        self.assertNotIn("Text of a local paper", str(answer))
        server = ServerProcess()
        self.addCleanup(server.stop)
        response = server.fetch("/read?" + urlencode({"url": address}))
        self.assertEqual(response.document["details"]["kind"], "refused")

    def test_a_redirect_to_a_file_is_refused(self) -> None:
        kit = load_script("websearch.kit")
        with self.assertRaises(kit.SearchError) as caught:
            fetch.redirect_target("https://example.org/", "file:///etc/hosts")
        self.assertEqual(caught.exception.kind, "refused")


if __name__ == "__main__":
    unittest.main()
