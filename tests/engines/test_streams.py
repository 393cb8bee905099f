"""Batches as JSON Lines: in pieces, in order or as they come, resumed.

The only module to notice a batch line that is lost, repeated or half written.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import resource
import subprocess
import unittest
from typing import Any

from tests.support import (
    CANARY,
    LIKE_WINDOWS,
    PYTHON,
    SCRIPTS,
    FakeServerCase,
    call_main,
    clean_environment,
    load_script,
    new_folder,
)

KEY = "good-" + CANARY
NOTHING_LEFT = load_script("websearch.kit").NOTHING_LEFT.encode()
# Script -> the variable of its key, and that of its address.
BATCHES = {
    "serper_search.py": ("SERPER_API_KEY", "SERPER_BASE_URL"),
    "gemini_search.py": ("GEMINI_API_KEY", "GEMINI_BASE_URL"),
}


class StreamCase(FakeServerCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self)
        self.out = self.folder / "out.jsonl"

    def start(self, script: str, *words: str, key: str = KEY, **streams: Any) -> Any:
        name, address = BATCHES[script]
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / script), "batch", "@-", *words],
            env=clean_environment(**{name: key, address: self.server.url}),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **streams,
        )
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def answers(
        self, script: str, lines: list[str], *words: str, key: str = KEY, code: int = 0
    ) -> list[dict[str, Any]]:
        """Answer the lines with --jsonl; return the documents."""
        process = self.start(script, "--jsonl", *words, key=key, stdout=subprocess.PIPE)
        text = "".join(f"{line}\n" for line in lines)
        stdout, stderr = process.communicate(text.encode(), timeout=60)
        self.assertEqual((process.returncode, stderr), (code, b""), stdout)
        return [json.loads(line) for line in stdout.splitlines()]

    def resume(self, script: str, lines: list[str], key: str = KEY) -> list[dict[str, Any]]:
        """Run the command that starts and resumes; return all documents of the file."""
        with self.out.open("ab") as out:
            process = self.start(script, "--skip-done", str(self.out), key=key, stdout=out)
            text = "".join(f"{line}\n" for line in lines)
            _, stderr = process.communicate(text.encode(), timeout=60)
        self.assertIn(stderr, (b"", NOTHING_LEFT))
        return [json.loads(line) for line in self.out.read_bytes().splitlines()]


class Streams(StreamCase):
    def test_each_line_names_its_input(self) -> None:
        lines = ["guide", "sourdough", "guide"]
        for script in BATCHES:
            for words in ([], ["--ordered"], ["--output", "-"]):
                with self.subTest(script, words=words):
                    found = self.answers(script, ["", *lines, " ", "# a comment"], *words)
                    self.assertEqual(sorted(one["input"] for one in found), sorted(lines))
                    self.assertTrue(all(one["input"] == one["query"] for one in found))
                    if words == ["--ordered"]:
                        self.assertEqual([one["input"] for one in found], lines)

    def test_a_bad_line_is_an_error_of_its_own(self) -> None:
        lines = ["guide", "{bad", '{"query": "guide", "cuont": 1}', '{"query": "sourdough"}']
        found = self.answers("serper_search.py", lines)
        self.assertEqual([one["input"] for one in found], lines)
        self.assertEqual([one["ok"] for one in found], [True, False, False, True])
        self.assertEqual(found[3]["query"], "sourdough")

    def test_run_ends_when_its_reader_closes(self) -> None:
        lines = "".join(f"guide {number}\n" for number in range(400)).encode()
        for script in BATCHES:
            process = self.start(script, "--jsonl", stdout=subprocess.PIPE)
            process.stdin.write(lines)
            process.stdin.close()
            found = [json.loads(process.stdout.readline()) for _ in range(150)]
            process.stdout.close()
            with self.subTest(script):
                self.assertTrue(all(one["ok"] for one in found))
                self.assertEqual(process.wait(timeout=30), 0)
                self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()

    def test_answers_come_as_they_finish_or_in_query_order(self) -> None:
        lines = ["sourdough", "aurora", "chess", "guide"]
        given = [word for line in lines for word in ("--queries", line)]
        found = self.answers("gemini_search.py", [], *given, key="slow-" + CANARY)
        self.assertEqual(sorted(one["input"] for one in found), sorted(lines))
        found = self.answers("gemini_search.py", [], "--ordered", *given)
        self.assertEqual([one["input"] for one in found], lines)

    def test_serper_is_asked_for_a_hundred_at_once(self) -> None:
        queries = [f"harbour {number}" for number in range(250)]
        found = self.answers("serper_search.py", queries)
        self.assertEqual([one["input"] for one in found], queries)
        # A process that an earlier test has stopped may still have sent its own.
        bodies = [json.loads(one.body) for one in self.server.requests if b"harbour" in one.body]
        self.assertEqual([len(body) for body in bodies], [100, 100, 50])

    def test_an_input_over_a_megabyte_is_refused_and_not_cut(self) -> None:
        for script in BATCHES:
            found = self.answers(script, [json.dumps(["guide " * 20] * 10_000)], code=2)
            self.assertIn("is over 1000000 bytes long", found[0]["error"])
            found = self.answers(script, [json.dumps(["guide", "a\nb"])], "--ordered")
            self.assertEqual([one["input"] for one in found], ["guide", "a\nb"])
        self.assertEqual({one.path for one in self.server.requests} & {"/"}, set())

    def test_a_refused_key_and_a_used_up_quota_end_the_asking(self) -> None:
        lines = [f"guide {number}" for number in range(350)]
        for script, name, kind, code in (
            ("serper_search.py", "bad", "auth", 3),
            ("serper_search.py", "empty", "quota", 4),
            ("gemini_search.py", "bad", "auth", 3),
        ):
            found = self.answers(script, lines, key=f"{name}-{CANARY}", code=code)
            with self.subTest(script, name=name):
                self.assertEqual({one["details"]["kind"] for one in found}, {kind})
                self.assertLessEqual(len(found), 100)

    def test_without_a_key_one_document_says_so(self) -> None:
        for script in BATCHES:
            found = self.answers(script, ["guide", "sourdough"], key="", code=3)
            self.assertEqual([one["details"]["kind"] for one in found], ["auth"])

    def test_an_empty_input_prints_nothing_and_no_input_is_an_error(self) -> None:
        for script in BATCHES:
            self.assertEqual(self.answers(script, ["", " "]), [])
            run = self.run_script(script, "batch", "--jsonl")
            self.assertEqual(run.code, 2)
            run = self.run_script(script, "batch", "no-such-file", "--jsonl")
            self.assertIn("no-such-file", run.document["error"])


class Resumed(StreamCase):
    def test_interrupted_run_continues_without_repeating_requests(self) -> None:
        lines = [f"guide {number}" for number in range(130)]
        for script in BATCHES:
            self.out.write_bytes(b"")
            self.assertEqual(len(self.resume(script, lines)), 130)
            whole = self.out.read_bytes().splitlines(keepends=True)
            self.out.write_bytes(b"".join(whole[:40]) + whole[40][:30])
            self.server.clear()
            documents = self.resume(script, lines)
            with self.subTest(script):
                self.assertEqual(sorted(one["input"] for one in documents), sorted(lines))
                asked = [json.loads(one.body) for one in self.server.requests]
                self.assertEqual(sum(len(one) if isinstance(one, list) else 1 for one in asked), 90)

    def test_only_temporary_errors_are_retried_not_empty_answers(
        self,
    ) -> None:
        lines = ["guide", "zzzqqq", "{bad"]
        script = "serper_search.py"
        documents = self.resume(script, lines, key=f"bad-{CANARY}")
        kinds = [one["details"]["kind"] for one in documents]
        self.assertEqual(kinds, ["auth", "auth", "invalid_input"])
        self.assertEqual(len(self.resume(script, lines)), 5)
        self.server.clear()
        self.assertEqual(len(self.resume(script, lines)), 5)
        self.assertEqual(self.server.requests, [])

    def test_several_files_of_earlier_runs_are_one(self) -> None:
        words = []
        for name in "ab":
            path = self.folder / f"{name}.jsonl"
            words += ["--skip-done", str(path)]
            self.answers("serper_search.py", [f"guide {name}"], "--output", str(path))
        found = self.answers("serper_search.py", ["guide a", "guide b", "chess"], *words)
        self.assertEqual([one["input"] for one in found], ["chess"])

    def test_other_parameters_make_another_search_spellings_do_not(self) -> None:
        words = ("--skip-done", str(self.out), "--output", str(self.out))
        for given, asked in (
            ([], 1), (["--type", "search"], 0), (["--type", "news"], 1), (["--country", "de"], 1),
            (["--gl", "de", "--timeout", "50"], 0), (["--params-json", '{"gl": "de"}'], 0),
        ):  # fmt: skip
            process = self.start("serper_search.py", *words, *given, stdout=subprocess.PIPE)
            receipt = json.loads(process.communicate(b"guide", timeout=60)[0])
            self.assertEqual(receipt["answered"] + receipt["failed"], asked, given)

    def test_a_file_without_a_line_of_an_earlier_run_is_refused(self) -> None:
        other = self.folder / "other.jsonl"
        for text in (b"notes", b'{"input": "guide", "ok": true}\n', None):
            if text is not None:
                other.write_bytes(text)
            else:
                other.unlink()
            words = ("--skip-done", str(other), "--output", str(self.out))
            (found,) = self.answers("serper_search.py", ["guide"], *words, code=2)
            self.assertIn("skip_done: ", found["error"])
        other.write_bytes(b"")  # of runs that have not begun, as scale.md makes it
        self.answers("serper_search.py", ["guide"], *words)
        other.unlink()
        words = ("--skip-done", str(other), "--output", str(other))  # neither is there yet
        (receipt,) = self.answers("serper_search.py", ["guide"], *words)
        self.assertEqual(receipt["answered"], 1)
        other.write_bytes(b"notes\n{")
        self.answers("serper_search.py", ["guide"], *words, code=2)
        self.assertEqual(other.read_bytes(), b"notes\n{")

    def test_line_flags_exist_only_for_batches(self) -> None:
        for flag in ("--jsonl", "--ordered", "--skip-done=x"):
            run = self.run_script("serper_search.py", "guide", flag)
            self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
        self.assertNotIn("skip_done", json.dumps(self.definitions()))

    @staticmethod
    def definitions() -> Any:
        return load_script("websearch.ways_in.mcp_tools").tool_definitions()


class OutputFiles(StreamCase):
    """--output of a batch: paid results are never lost or replaced by fewer."""

    def into_file(
        self, script: str, lines: list[str], *words: str, **options: Any
    ) -> tuple[int, dict[str, Any], bytes]:
        """Run a batch with --output; return (exit code, receipt, stderr)."""
        words = ("--output", str(self.out), *words)
        process = self.start(script, *words, stdout=subprocess.PIPE, **options)
        stdout, stderr = process.communicate("\n".join(lines).encode(), timeout=60)
        return process.returncode, json.loads(stdout.splitlines()[-1]), stderr

    def inputs(self) -> list[str]:
        return [json.loads(line)["input"] for line in self.out.read_bytes().splitlines()]

    def test_with_the_same_file_of_an_earlier_run_is_appended_to(self) -> None:
        lines = [f"guide {number}" for number in range(30)]
        words = ("--skip-done", str(self.out))
        for script in BATCHES:
            self.out.unlink(missing_ok=True)
            code, receipt, _ = self.into_file(script, lines[:10], *words)
            self.assertEqual((code, receipt["skipped"], receipt["answered"]), (0, 0, 10))
            with self.out.open("ab") as file:
                file.write(b'{"input": "guide 12", "ok": tr')  # of a run that was killed
            code, receipt, _ = self.into_file(script, lines, *words)
            with self.subTest(script):
                counts = (receipt["skipped"], receipt["answered"], receipt["failed"])
                self.assertEqual((code, counts), (0, (10, 20, 0)))
                self.assertTrue(receipt.keys() & {"credits", "billed_queries"}, receipt)
                self.assertEqual(sorted(self.inputs()), sorted(lines))
                before = self.out.read_bytes()
                again = (
                    "--skip-done",
                    os.path.join(self.folder, "..", self.folder.name, "out.jsonl"),
                )
                code, receipt, stderr = self.into_file(script, lines, *again)
                self.assertEqual((code, receipt["answered"], stderr), (0, 0, NOTHING_LEFT))
                self.assertEqual(self.out.read_bytes(), before)

    def test_foreign_lines_are_skipped_and_a_torn_last_line_is_removed(self) -> None:
        foreign = (
            b'{"input":"guide","hash":["x"],"ok":true}\n'
            b'{"input":"guide","hash":{"x":1},"ok":true}\n'
            b'{"input":"guide","hash":"0","ok":false,"details":{"kind":["http"],"status":404}}\n'
            b'{"input":"guide","hash":"1","ok":false,"details":{"status":404}}\n'
        )
        for before, torn in itertools.product((foreign, b""), (b"{", b'{"i', b'{"input":"guide 1')):
            self.out.write_bytes(before + torn)
            words = ("--skip-done", str(self.out))
            code, receipt, _ = self.into_file("serper_search.py", ["guide"], *words)
            with self.subTest(before=before, torn=torn):
                self.assertEqual((code, receipt["answered"]), (0, 1), receipt)
                self.assertTrue(
                    self.out.read_bytes().startswith(before + b'{"input":"guide","hash"')
                )

    def test_file_with_content_is_refused_without_overwrite(self) -> None:
        for script, name in itertools.product(BATCHES, ("out.jsonl", "out.json")):
            self.out = self.folder / name
            self.out.write_text("before")
            code, receipt, _ = self.into_file(script, ["guide"])
            with self.subTest(script, name=name):
                self.assertEqual((code, receipt["details"]["kind"]), (2, "invalid_input"))
                self.assertIn("--overwrite replaces it", receipt["details"]["hint"])
                self.assertEqual(self.out.read_text(), "before")
                code, receipt, _ = self.into_file(script, ["guide"], "--overwrite")
                self.assertEqual((code, receipt["ok"]), (0, True), receipt)
                self.assertEqual(receipt["bytes"], self.out.stat().st_size)
                self.assertIn("guide", self.out.read_text())

    def test_a_dry_run_writes_and_counts_nothing(self) -> None:
        for script in BATCHES:
            for words in ((), ("--skip-done", str(self.out)), ("--overwrite",)):
                code, document, _ = self.into_file(script, ["guide"], "--dry-run", *words)
                self.assertEqual((code, "dry_run" in json.dumps(document)), (0, True))
                self.assertFalse(self.out.exists())

    def test_the_input_file_cannot_be_the_output(self) -> None:
        self.out.write_text("guide\n")
        link = self.folder / "link"
        link.symlink_to(self.out)
        for name in (str(self.out), f"@{self.out}", str(link)):
            run = self.run_script("serper_search.py", "batch", name, "--output", str(self.out))
            self.assertIn("is an input", run.document["error"])
        given = json.dumps({"input": str(self.out)})
        words = ("--params-json", given, "--overwrite", "--output", str(self.out))
        run = self.run_script("serper_search.py", "batch", *words)
        self.assertIn("is an input", run.document["error"])
        for script, *words in (
            ("web_search.py", "check", str(self.out)),
            ("read_page.py", "--urls-from", str(self.out)),
            ("web_search.py", "batch", str(self.out), "--overwrite"),
        ):
            run = self.run_script(script, *words, "--output", str(self.out))
            self.assertIn("is an input", run.document["error"])
        self.assertEqual(self.out.read_text(), "guide\n")

    @unittest.skipIf(LIKE_WINDOWS, "it has no FIFOs")
    def test_a_fifo_that_nobody_reads_is_refused_at_once(self) -> None:
        os.mkfifo(self.out)
        code, document, _ = self.into_file("serper_search.py", ["guide"])
        self.assertEqual((code, document["details"]["kind"]), (2, "invalid_input"))
        self.assertIn("nobody reads it", document["error"])

    def test_full_disk_prints_the_unwritten_lines(self) -> None:
        def small_files() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, 6_000))

        lines = [f"guide {number}" for number in range(20)]
        for script in BATCHES:
            self.out.unlink(missing_ok=True)
            words = ("--jsonl", "--output", str(self.out), "--max-chars", "2000")
            process = self.start(script, *words, stdout=subprocess.PIPE, preexec_fn=small_files)
            stdout, _ = process.communicate(
                "".join(f"{line}\n" for line in lines).encode(), timeout=60
            )
            *printed, receipt = [json.loads(line) for line in stdout.splitlines()]
            with self.subTest(script):
                self.assertEqual((process.returncode, receipt["ok"]), (2, False))
                self.assertIn("File too large", receipt["error"])
                inputs = [*self.inputs(), *(one["input"] for one in printed)]
                self.assertEqual(sorted(inputs), sorted(lines))

    def test_formats_without_lines_are_refused_once(self) -> None:
        packed, wide = self.folder / "packed", self.folder / "wide"
        packed.write_bytes(gzip.compress(b"guide\n" * 100))
        wide.write_bytes("guide\n".encode("utf-16-le"))  # without its mark
        self.set_environment(SERPER_API_KEY=KEY, SERPER_BASE_URL=self.server.url)
        for words in (
            ("@-", "--jsonl", "--format", "markdown"), ("@-", "--skip-done=x", "--pretty"),
            (str(packed), "--jsonl"), (str(wide), "--jsonl"), (str(packed),),
        ):  # fmt: skip
            run = call_main(load_script("serper_search"), "batch", *words)
            with self.subTest(words):
                self.assertEqual(run.code, 2, run.stdout)
        self.assertEqual(self.server.requests, [])


if __name__ == "__main__":
    unittest.main()
