"""read_page.py with a list of URLs: JSON Lines of any length, polite to each host, resumed.

The only module to notice requests to a host that are too fast, and a resumed list that reads twice.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path
from typing import Any

import read_page as command
from tests.fake_server.server import FakeServer
from tests.fake_server.small_web import DOCUMENTS
from tests.reading.test_read_page import SCRIPT, SiteCase
from tests.support import (
    PYTHON,
    SCRIPTS,
    SLACK,
    CannedServer,
    call_main,
    clean_environment,
    load_script,
    new_folder,
    run_script,
)
from websearch import kit
from websearch.reading import lists
from websearch.reading import read_list as bulk
from websearch.reading import schedule as schedules

GOOD = ("articles/sourdough", "articles/bridges", "docs/timeouts", "shop/kettle", "text/notes.txt")
# The address of a page of the small web.
PAGE = next(name for name in DOCUMENTS if name.isascii() and "?" not in name)
PAUSE = 0.4  # seconds, where a test sees it
MEMORY = 25_000_000  # bytes that a process may grow between its 50th page and its last


class ListCase(SiteCase):
    """A test case that reads lists from the class's server."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self)
        self.out = self.folder / "pages.jsonl"

    def addresses(self, *paths: str) -> list[str]:
        return [self.address(path) for path in paths]

    def read_lines(
        self, lines: list[str], *words: str, servers: tuple[Any, ...] = ()
    ) -> list[dict[str, Any]]:
        """Read a list from standard input, without pauses by default; return documents."""
        allowed = ",".join(one.url[7:] for one in (self.server, *servers))
        run = run_script(
            SCRIPT,
            *("--urls-from", "-", "--host-pause", "0", *words),
            env={"WEB_SEARCH_ALLOW_PRIVATE": allowed},
            stdin="\n".join(lines),
        )
        self.assertEqual(run.stderr, "")
        documents = [json.loads(line) for line in run.stdout.splitlines()]
        worked = any(one["ok"] for one in documents)
        self.assertEqual(run.code == 0, worked or not documents)
        return documents

    def start(self, *words: str, **streams: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*PYTHON, str(SCRIPTS / SCRIPT), "--urls-from", "-", "--host-pause=0", *words],
            env=clean_environment(**self.environment),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **streams,
        )
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process: subprocess.Popen[bytes]) -> None:
        process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream and not stream.closed:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        process.wait()

    def feed_without_end(self, process: subprocess.Popen[bytes]) -> threading.Thread:
        """Write URLs to a process until it accepts no more."""

        def write() -> None:
            pages = [line.encode() + b"\n" for line in self.addresses(*GOOD)]
            try:
                for page in itertools.cycle(pages):
                    assert process.stdin
                    os.write(process.stdin.fileno(), page)  # not buffered
            except (OSError, ValueError):
                return

        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        return thread


class Lines(ListCase):
    def test_each_line_has_its_url_and_a_single_reads_content(self) -> None:
        found = {one["url"]: one for one in self.read_lines(self.addresses(*GOOD))}
        self.assertEqual(set(found), set(self.addresses(*GOOD)))
        for path in GOOD:
            alone = self.read(path, max_chars=0)["pages"][0]
            found[self.address(path)].pop("hash")
            self.assertEqual(found[self.address(path)], alone)

    def test_slow_page_uses_its_timeout_and_delays_no_other_page(self) -> None:
        lines = self.addresses("articles/tides", "huge/endless")
        documents = {
            one["url"]: one
            for one in self.read_lines(lines, "--timeout", "0.5", "--page-timeout", "20")
        }
        late = documents[lines[1]]
        self.assertEqual((late["ok"], late["details"]["kind"]), (False, "timeout"))
        self.assertIn("its time ran out before it was read", late["error"])
        self.assertTrue(documents[lines[0]]["ok"])

    def test_list_in_another_encoding_is_refused_at_once(self) -> None:
        for codec, words in (
            ("cp1251", "высота плотины на реке"),
            ("cp932", "ダムの高さは何メートルですか"),
        ):
            path = self.folder / codec
            path.write_bytes(f"guide\n{words}\n".encode(codec))
            for given in (str(path), f"@{path}"):
                with self.assertRaises(kit.SearchError) as caught:
                    next(lists.input_pieces(given))
                self.assertIn(
                    f"is not UTF-8 text. It is probably in {codec}", str(caught.exception)
                )
        path.write_bytes("höhe\nguide\n".encode("utf-16"))
        self.assertEqual(next(lists.input_pieces(str(path))), ["höhe", "guide"])
        path.write_bytes(b"guide\n" + "ü".encode() * 100_000 + b"\nlast\n")
        read = [line for piece in lists.input_pieces(str(path)) for line in piece]
        self.assertEqual((read[0], len(read), read[2]), ("guide", 3, "last"))

    def test_each_bad_line_is_an_error_and_blank_lines_are_skipped(self) -> None:
        bad = ["not an address", "ftp://example.org/x", "http://10.0.0.1/", '{"url": 1}']
        bad += ["x" * 9_000, "http://[::1", "http://example.org:99999/", "\ufffd\x07"]
        good = self.address("articles/tides")
        documents = self.read_lines(["", *bad, " ", good, "\r"])
        self.assertEqual({one["url"] for one in documents}, {*bad, good})
        kinds = {one["url"]: one["details"]["kind"] for one in documents if not one["ok"]}
        self.assertEqual(set(kinds), set(bad))
        self.assertEqual(set(kinds.values()), {"invalid_input", "refused"})

    def test_lines_come_in_the_order_in_which_they_finish(self) -> None:
        lines = self.addresses("slow/late", *GOOD, "status/404")
        found = [one["url"] for one in self.read_lines(lines)]
        self.assertEqual(sorted(found), sorted(lines))
        self.assertNotEqual(found[0], lines[0])

    def test_a_file_of_windows_and_a_json_array_are_lists_too(self) -> None:
        lines = self.addresses("articles/tides", "articles/bridges")
        for text in ("\ufeff" + "\r\n".join(lines), json.dumps(lines), json.dumps(lines, indent=1)):
            path = self.folder / "urls.txt"
            path.write_text(text, encoding="utf-8")
            run = self.run_script(SCRIPT, "--urls-from", str(path), "--host-pause", "0")
            found = [json.loads(line)["url"] for line in run.stdout.splitlines()]
            self.assertEqual(sorted(found), sorted(lines))

    def test_max_chars_and_query_are_for_each_page(self) -> None:
        lines = self.addresses("articles/lighthouse", "huge/six-megabytes")
        for one in self.read_lines(lines, "--max-chars", "1000"):
            self.assertLessEqual(len(json.dumps(one, ensure_ascii=False)), 1_060)
            self.assertTrue(one["truncated"])
        lines = self.addresses("articles/sourdough", "articles/bridges")
        for one in self.read_lines(lines, "--query", "flour"):
            self.assertEqual("passages" in one, "sourdough" in one["url"])

    def test_addresses_of_the_command_line_become_lines_with_jsonl(self) -> None:
        lines = self.addresses("articles/tides", "status/404")
        run = self.run_script(SCRIPT, *lines, "--jsonl", "--host-pause", "0")
        found = {one["url"]: one["ok"] for one in map(json.loads, run.stdout.splitlines())}
        self.assertEqual(found, dict(zip(lines, (True, False), strict=True)))

    def test_an_empty_list_prints_nothing_and_is_not_an_error(self) -> None:
        self.assertEqual(self.read_lines([""]), [])

    def test_without_pages_the_first_error_sets_the_exit_code(self) -> None:
        run = run_script(SCRIPT, "--urls-from=-", stdin="http://10.0.0.1/\n")
        self.assertEqual((run.code, len(run.stdout.splitlines())), (5, 1))

    def test_a_list_that_cannot_be_read_is_named(self) -> None:
        for path in ("no-such-list.txt", str(self.folder)):
            run = call_main(command, "--urls-from", path)
            self.assertEqual((run.code, run.document["details"]["kind"]), (2, "invalid_input"))
            self.assertIn(path, run.document["error"])
        run = call_main(command, "--urls-from", os.devnull, "--skip-done", str(self.folder))
        self.assertIn("skip_done", run.document["error"])

    def test_a_list_names_no_files_of_this_machine(self) -> None:
        document = self.read_lines([f"file://{__file__}", "./test_read_list.py"])
        self.assertEqual([one["ok"] for one in document], [False, False])

    def test_no_server_takes_a_list(self) -> None:
        document = load_script("websearch.reading.read").run_read({"urls_from": "/etc/hosts"})
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertIn("no parameter 'urls_from'", document["error"])
        tools = load_script("websearch.ways_in.mcp_tools").tool_definitions()
        self.assertNotIn("urls_from", json.dumps(tools))


class Politeness(ListCase):
    def times(self, server: FakeServer) -> list[float]:
        return sorted(one.time for one in server.requests)

    def test_a_host_is_asked_with_a_pause_and_others_meanwhile(self) -> None:
        with FakeServer() as second:
            others = [f"{second.url}/site/{path}" for path in GOOD[:2]]
            lines = [*self.addresses(*GOOD), *others]
            words = ["--host-pause", str(PAUSE)]
            documents = self.read_lines(lines, *words, servers=(second,))
            self.assertTrue(all(one["ok"] for one in documents))
            times, other_times = self.times(self.server), self.times(second)
        self.assertEqual((len(times), len(other_times)), (len(GOOD), 2))
        # A busy machine's server sees the first late, and so the others sooner after it.
        self.assertGreater(times[-1] - times[0], PAUSE * (len(GOOD) - 2))
        self.assertLess(other_times[-1], times[-1])

    def test_schedule_keeps_a_hosts_pause_and_serves_others_meanwhile(self) -> None:
        schedule = schedules.HostSchedule(PAUSE)
        for number in range(3):
            schedule.put(schedules.Item(number, "", f"https://one.example/{number}"))
        schedule.put(schedules.Item(3, "", "https://two.example/"))
        schedule.close()
        taken: list[tuple[str, float]] = []
        while (item := schedule.take()) is not None:
            taken.append((item.address.split("/")[2], time.monotonic()))
            schedule.give_back(item)
        self.assertEqual([host for host, _ in taken].index("two.example"), 1)
        ones = [moment for host, moment in taken if host == "one.example"]
        gaps = [after - before for before, after in itertools.pairwise(ones)]
        self.assertEqual(len(gaps), 2)
        self.assertGreater(min(gaps), PAUSE * 0.6)  # the moments are taken a little later

    def test_host_gets_few_connections_and_delays_no_other(self) -> None:
        with FakeServer() as second:
            slow = [f"{second.url}/site/slow/hang?{number}" for number in range(8)]
            words = ["--page-timeout", "1"]
            started = time.monotonic()
            documents = self.read_lines([*slow, *self.addresses(*GOOD)], *words, servers=(second,))
            seconds = time.monotonic() - started
            self.assertEqual([one["ok"] for one in documents[:5]], [True] * 5)
            errors = {(one["details"]["kind"], one["details"]["hint"]) for one in documents[5:]}
            self.assertEqual(
                errors, {("timeout", "Try again. A higher --page-timeout gives it more time.")}
            )
            self.assertEqual(len(documents), 13)
            times = self.times(second)
        self.assertLess(seconds, 4 + SLACK)
        at_once = [sum(0 <= one - first < 0.5 for one in times) for first in times]
        self.assertEqual(max(at_once), schedules.MAX_HOST_CONNECTIONS)

    def test_short_pause_is_observed_then_its_pages_are_retried(self) -> None:
        page = f"{self.server.url}/web/fault-busy/{PAGE}"
        documents = self.read_lines([f"{page}?{number}" for number in range(4)])
        times = self.times(self.server)
        self.assertEqual([one["ok"] for one in documents], [True] * 4)
        # Two are asked at once; after their 429 with Retry-After: 1 the host rests.
        self.assertEqual(len(times), 6)
        self.assertGreater(times[2] - times[1], 0.9)

    def test_host_that_asks_for_long_or_endless_pauses_is_set_aside(self) -> None:
        for seconds, most in (("3600", 2), ("1", 2 * schedules.MAX_RESTS + 3)):
            server = CannedServer()
            self.addCleanup(server.close)
            server.status, server.headers, server.body = 429, {"Retry-After": seconds}, b"later"
            lines = [f"{server.url}/{number}" for number in range(30)]
            other = self.address("articles/tides")
            documents = self.read_lines([*lines, other], servers=(server,))
            failed = [one["details"] for one in documents if not one["ok"]]
            with self.subTest(seconds):
                self.assertEqual(sorted(one["url"] for one in documents), sorted([*lines, other]))
                self.assertLessEqual(server.count, most)
                self.assertEqual(
                    {(one["status"], one["retryable"]) for one in failed}, {(429, True)}
                )
                if seconds == "3600":
                    self.assertTrue(all(one["retry_after"] > 3_500 for one in failed), failed)

    def test_many_urls_of_one_host_block_no_other_host(self) -> None:
        count = 3 * bulk.MAX_HOST_ADDRESSES
        with FakeServer() as second:
            many = [f"{second.url}/site/articles/tides?{number}" for number in range(count)]
            last = self.address("articles/bridges")
            documents = self.read_lines([*many, last], servers=(second,))
        order = [one["url"] for one in documents]
        self.assertEqual(sorted(order), sorted([*many, last]))
        # Pages that are fetched while the list is still being read may come first, but not all.
        self.assertLess(order.index(last), 2 * bulk.MAX_HOST_ADDRESSES)


class WithoutEnd(ListCase):
    def test_memory_is_bounded_and_the_process_ends_without_its_reader(self) -> None:
        process = self.start(stdout=subprocess.PIPE)
        feeder = self.feed_without_end(process)
        assert process.stdout
        assert process.stderr
        memory = []
        for number in range(1, 251):
            self.assertTrue(json.loads(process.stdout.readline())["ok"])
            if number in (50, 250):
                memory.append(self.memory_of(process))
        self.assertLess(memory[1] - memory[0], MEMORY)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(process.stderr.read(), b"")
        feeder.join(timeout=30)

    @staticmethod
    def memory_of(process: subprocess.Popen[bytes]) -> int:
        """Return the bytes that a process has in memory; 0 if the system does not report it."""
        try:
            pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def test_an_address_is_read_before_the_next_one_comes(self) -> None:
        process = self.start(stdout=subprocess.PIPE)
        assert process.stdin
        assert process.stdout
        for address in self.addresses("articles/tides", "articles/bridges"):
            process.stdin.write(address.encode() + b"\n")
            process.stdin.flush()
            self.assertEqual(json.loads(process.stdout.readline())["url"], address)
        process.stdin.close()
        self.assertEqual(process.stdout.read(), b"")
        self.assertEqual(process.wait(timeout=20), 0)

    def test_ctrl_c_and_sigterm_leave_whole_lines(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.start(stdout=subprocess.PIPE)
            self.feed_without_end(process)
            assert process.stdout
            first = process.stdout.readline()
            process.send_signal(number)
            lines = [first, *process.stdout.read().splitlines(keepends=True)]
            with self.subTest(number):
                self.assertEqual(process.wait(timeout=20), 130)
                *documents, last = [json.loads(line) for line in lines]
                self.assertTrue(all("url" in one for one in documents))
                count = len(documents)
                text = f"Interrupted: {count} sent, {count} kept, 0 lost."
                self.assertEqual(last["error"], text)


class Resumed(ListCase):
    def resume(self, lines: list[str]) -> list[dict[str, Any]]:
        """Run the command that starts and resumes; return all documents of the file."""
        with self.out.open("ab") as out:
            process = self.start("--skip-done", str(self.out), stdout=out)
            _, stderr = process.communicate("\n".join(lines).encode(), timeout=60)
        self.assertIn(stderr, (b"", load_script("websearch.kit").NOTHING_LEFT.encode()))
        return [
            json.loads(line) for line in self.out.read_bytes().splitlines() if line[-1:] == b"}"
        ]

    def test_a_killed_run_continues_where_it_ended(self) -> None:
        lines = [f"{self.address('articles/tides')}?{number}" for number in range(60)]
        with self.out.open("ab") as out:
            process = self.start("--skip-done", str(self.out), stdout=out)
            assert process.stdin
            process.stdin.write("\n".join(lines).encode())
            process.stdin.flush()  # it stays open: the run cannot end before it is killed
            while self.out.stat().st_size < 5_000:
                time.sleep(0.005)
            process.kill()
            process.wait()
        before = self.out.read_bytes()
        whole = before.count(b"\n")
        self.assertTrue(0 < whole < 60)
        self.out.write_bytes(before[:-20])  # as if the last line had been cut
        self.server.clear()
        documents = self.resume(lines)
        self.assertEqual(sorted(one["url"] for one in documents), sorted(lines))
        self.assertTrue(all(one["ok"] for one in documents))
        late = len(self.server.requests) - (60 - (whole - 1))  # requests of the run that was killed
        self.assertIn(late, range(schedules.MAX_HOST_CONNECTIONS + 1))
        # And there is nothing left to do.
        self.server.clear()
        self.assertEqual(len(self.resume(lines)), 60)
        self.assertEqual(self.server.requests, [])

    def test_errors_that_may_pass_are_tried_again_and_others_are_not(self) -> None:
        flaky, gone, unknown = "status/500", "status/404", "http://no-such-name.invalid/"
        lines = [*self.addresses("articles/tides", flaky, gone), "bad line", unknown]
        self.assertEqual(len(self.resume(lines)), 5)
        self.server.clear()
        found = self.resume(lines)[5:]
        self.assertEqual([one.path for one in self.server.requests], [f"/site/{flaky}"])
        again = {one["url"]: one["details"]["retryable"] for one in found}
        self.assertEqual(again, {self.address(flaky): True, unknown: False})  # not at once

    def test_one_file_for_output_and_skip_done_is_appended_to(self) -> None:
        lines = [f"{self.address('articles/tides')}?{number}" for number in range(20)]
        words = ("--output", str(self.out), "--skip-done", str(self.out))

        def run(count: int) -> tuple[int, Any, bytes]:
            process = self.start(*words, stdout=subprocess.PIPE)
            stdout, _ = process.communicate("\n".join(lines[:count]).encode(), timeout=60)
            return process.returncode, json.loads(stdout), self.out.read_bytes()

        code, receipt, data = run(10)
        self.assertEqual((code, receipt["answered"], data.count(b"\n")), (0, 10, 10))
        self.out.write_bytes(data + b'{"url": "http')  # half a line, of a run that was killed
        code, receipt, data = run(20)
        self.assertEqual((code, receipt["skipped"], receipt["answered"]), (0, 10, 10))
        self.assertEqual(sorted(json.loads(one)["url"] for one in data.splitlines()), sorted(lines))
        self.assertEqual(run(20)[2], data)

    def test_a_file_without_a_line_of_an_earlier_run_is_refused(self) -> None:
        content = b'\n[1]\nnull\n{"ok": true}\n\xff\n{"url": 5, "ok": true}\n{"ok"\n'
        self.out.write_bytes(content)
        words = ("--output", str(self.out), "--skip-done", str(self.out))
        process = self.start(*words, stdout=subprocess.PIPE)
        stdout, _ = process.communicate(self.address("articles/tides").encode(), timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertIn("skip_done: ", json.loads(stdout)["error"])
        self.assertEqual(self.out.read_bytes(), content)


if __name__ == "__main__":
    unittest.main()
