"""Pages in a browser: its proxy, command line and end. With a real browser: tests/e2e/browser.py.

The only module that detects a browser that outlives its call or bypasses its proxy.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from tests.fake_server.script_pages import shell
from tests.pages.fetch import fake_browser
from tests.reading.test_read_page import SiteCase
from tests.support import CANARY, SLACK, CannedServer, EnvironmentCase, new_folder
from websearch.pages.extract import thin_pages
from websearch.pages.fetch import browser, browser_proxy

MODES = ("page", "dialog", "stuck", "silent", "root", "lost", "flood")


def is_running(process: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split(")")[1][1] != "Z"
    except OSError:
        return False


def ends(process: int) -> bool:
    """Return whether a process ends within the slack: killed processes need CPU time to end."""
    limit = time.monotonic() + SLACK
    while is_running(process) and time.monotonic() < limit:
        time.sleep(0.02)
    return not is_running(process)


@unittest.skipIf(sys.platform == "win32", "the fake browser takes its pipe from 3 and 4")
class Pages(SiteCase):
    def setUp(self) -> None:
        super().setUp()
        self.folder = new_folder(self)
        for mode in MODES:
            program = self.folder / mode
            fake = Path(fake_browser.__file__)
            text = f'#!/bin/sh\nexec "{sys.executable}" "{fake}" "$0" "$@"\n'
            program.write_text(text, encoding="utf-8")
            program.chmod(0o755)
        self.server_of_shell = CannedServer()
        self.addCleanup(self.server_of_shell.close)
        self.server_of_shell.body = shell()
        self.server_of_shell.headers = {"Content-Type": "text/html"}

    def read_with(self, mode: str, **params: Any) -> dict[str, Any]:
        """Return the document of an empty page that the fake browser fills."""
        url = self.server_of_shell.url
        self.set_environment(
            WEB_SEARCH_BROWSER=str(self.folder / mode),
            WEB_SEARCH_ALLOW_PRIVATE=urlsplit(url).netloc,
            TMPDIR=str(self.folder),
            BRAVE_SEARCH_API_KEY=CANARY,
        )
        with mock.patch("tempfile.tempdir", str(self.folder)):
            document: dict[str, Any] = self.read(url + "/page", **params)
        self.assertEqual(list(self.folder.glob("web-search-browser-*")), [])
        return document

    def seen(self, mode: str) -> dict[str, Any]:
        """Return the arguments and variables that the fake browser saw."""
        found: dict[str, Any] = json.loads((self.folder / f"{mode}.json").read_text("utf-8"))
        return found

    def test_a_page_is_read_as_the_browser_shows_it(self) -> None:
        page = self.read_with("page")["pages"][0]
        self.assertIn("written by a script", page["text"])
        self.assertEqual(page["final_url"], "http://127.0.0.1/final")
        self.assertIn("from a browser that ran the page's scripts", page["note"])

    def test_dialogs_are_closed_and_endless_scripts_stopped(self) -> None:
        for mode in ("dialog", "stuck"):
            with self.subTest(mode):
                self.assertIn("by a script", self.read_with(mode)["pages"][0]["text"])

    def test_the_browser_gets_no_keys_and_its_own_home(self) -> None:
        self.read_with("page")
        variables = self.seen("page")["variables"]
        self.assertNotIn(CANARY, json.dumps(variables))
        self.assertTrue(Path(variables["HOME"]).name.startswith("web-search-browser-"))
        self.assertEqual(variables["HOME"], variables["TMPDIR"])

    def test_a_second_browser_inherits_no_pipe(self) -> None:
        spawn, inherited = os.posix_spawn, []

        def look_and_spawn(*arguments: Any, **options: Any) -> int:
            ends = [
                action[1] for action in options["file_actions"] if action[0] == os.POSIX_SPAWN_DUP2
            ]
            inherited.extend(map(os.get_inheritable, ends))
            return spawn(*arguments, **options)

        with mock.patch("os.posix_spawn", look_and_spawn):
            self.read_with("page")
        self.assertEqual(inherited, [False, False])

    def test_the_browser_sends_everything_through_the_proxy(self) -> None:
        self.environment = {**self.environment, "WEB_SEARCH_BROWSER_ARGS": "--lang=de '--x=a b'"}
        self.read_with("page")
        arguments = self.seen("page")["arguments"]
        self.assertTrue(
            any(word.startswith("--proxy-server=http://127.0.0.1:") for word in arguments)
        )
        for flag in ("--proxy-bypass-list=<-loopback>", "--disable-quic", "--lang=de", "--x=a b"):
            self.assertIn(flag, arguments)
        self.assertNotIn("--no-sandbox", arguments)

    def test_an_idle_browser_and_its_children_die_at_the_deadline(self) -> None:
        begin = time.monotonic()
        document = self.read_with("silent", timeout=3)
        self.assertLess(time.monotonic() - begin, 3 + SLACK)
        self.assertEqual(document["details"]["kind"], "timeout")
        seen = self.seen("silent")
        self.assertTrue(ends(seen["process"]) and ends(seen["child"]))

    def test_the_next_browser_deletes_a_killed_ones_profile(self) -> None:
        for name, age in (("old", browser.LEFT_SECONDS + 5), ("new", 0)):
            profile = self.folder / f"{browser.PROFILE}{name}"
            (profile / "Default").mkdir(parents=True)
            os.utime(profile, (time.time() - age,) * 2)
        with mock.patch("tempfile.tempdir", str(self.folder)):
            browser.remove_left_profiles()
        self.assertEqual([path.name for path in self.folder.glob(f"{browser.PROFILE}*")],
                         [f"{browser.PROFILE}new"])  # fmt: skip

    def test_an_endless_message_ends_the_browser(self) -> None:
        with mock.patch.object(browser, "MAX_MESSAGE", 1_000_000):
            document = self.read_with("flood")
        self.assertEqual(document["details"]["kind"], "unsupported")

    def test_children_end_after_a_good_page(self) -> None:
        self.read_with("page")
        self.assertTrue(ends(self.seen("page")["child"]))

    def test_errors_say_what_to_do(self) -> None:
        for mode, kind, said in (
            ("root", "unsupported", "Run as another user"), ("lost", "network", "EMPTY_RESPONSE"),
            ("missing", "unsupported", "apt install chromium"),
        ):  # fmt: skip
            with self.subTest(mode):
                details = (document := self.read_with(mode))["details"]
                self.assertEqual(details["kind"], kind)
                self.assertIn(said, document["error"] + details["hint"])

    def test_no_browser_without_time_or_behind_a_proxy(self) -> None:
        document = self.read_with("page", timeout=1)
        self.assertEqual(document["details"]["kind"], "timeout")
        with mock.patch.object(browser, "proxy_for", return_value="http://proxy.example"):
            self.assertIn("behind a proxy", self.read_with("page")["error"])

    def test_no_browser_starts_unless_it_is_asked_for(self) -> None:
        self.assertFalse(self.read_with("page", browser=False)["ok"])
        self.assertFalse((self.folder / "page.json").exists())
        for value, wanted in (("", False), ("0", False), ("false", False), ("1", True)):
            self.set_environment(WEB_SEARCH_BROWSER=value)
            self.assertIs(thin_pages.wants_browser({}), wanted)
            self.assertIs(thin_pages.wants_browser({"browser": True}), True)

    def test_a_bot_wall_is_not_shown_to_a_browser(self) -> None:
        self.set_environment(WEB_SEARCH_BROWSER=str(self.folder / "page"))
        for path in ("wall/captcha", "wall/challenge"):
            self.assertEqual(self.kind(path, browser=True), "blocked")
        self.assertFalse((self.folder / "page.json").exists())


class Proxy(EnvironmentCase):
    def setUp(self) -> None:
        super().setUp()
        self.site = CannedServer()
        self.addCleanup(self.site.close)
        self.site.body, self.site.headers = b"seen", {"Content-Type": "text/plain"}
        self.host = urlsplit(self.site.url).netloc
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=self.host)
        self.proxy = browser_proxy.GuardProxy(self.site.url, time.monotonic() + 20)
        self.addCleanup(self.proxy.close)

    def send(self, text: str) -> bytes:
        """Return the proxy's answer to a request."""
        with socket.create_connection(("127.0.0.1", self.proxy.port), 5) as connection:
            connection.sendall(text.replace("\n", "\r\n").encode())
            parts = []
            while data := connection.recv(65_536):
                parts.append(data)
        return b"".join(parts)

    def test_requests_and_tunnels_to_allowed_hosts_pass(self) -> None:
        answer = self.send(f"GET {self.site.url}/x HTTP/1.1\nHost: a\nProxy-Connection: x\n\n")
        self.assertTrue(answer.endswith(b"seen"), answer)
        inner = f"GET /x HTTP/1.1\nHost: {self.host}\nConnection: close\n\n"
        answer = self.send(f"CONNECT {self.host} HTTP/1.1\nHost: a\n\n{inner}")
        self.assertTrue(answer.startswith(b"HTTP/1.1 200"), answer)
        self.assertTrue(answer.endswith(b"seen"), answer)

    def test_the_host_of_the_url_counts_not_the_header(self) -> None:
        with mock.patch.object(browser_proxy, "guarded_connect") as connect:
            connect.return_value.side_effect = OSError
            self.send(f"GET http://one.example:81/ HTTP/1.1\nHost: {self.host}\n\n")
        connect.assert_called_once_with("one.example", 81, excepts=False)

    def test_an_exception_allows_only_reading_the_pages_own_host(self) -> None:
        other = CannedServer()
        self.addCleanup(other.close)
        other.body = b"seen"
        host = urlsplit(other.url).netloc
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=f"{self.host},{host}")
        for request, is_answered in (
            (f"GET {self.site.url}/x HTTP/1.1\n\n", True),
            (f"HEAD {self.site.url}/x HTTP/1.1\n\n", True),
            (f"POST {self.site.url}/x HTTP/1.1\nContent-Length: 0\n\n", False),
            (f"DELETE {self.site.url}/x HTTP/1.1\n\n", False),
            (f"GET {other.url}/x HTTP/1.1\n\n", False),
            (f"CONNECT {host} HTTP/1.1\n\n", False),
        ):
            with self.subTest(request):
                self.assertEqual(bool(self.send(request)), is_answered)

    def test_requests_to_private_hosts_get_no_answer(self) -> None:
        other = CannedServer()
        self.addCleanup(other.close)
        port = urlsplit(other.url).port
        for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0"):
            for request in (
                f"GET http://{host}:{port}/ HTTP/1.1\nHost: a\n\n",
                f"CONNECT {host}:{port} HTTP/1.1\n\n",
            ):
                with self.subTest(request):
                    self.assertEqual(self.send(request), b"")
        self.assertTrue(self.proxy.refused)

    def test_metadata_and_the_proxy_itself_are_refused(self) -> None:
        for target in (f"127.0.0.1:{self.proxy.port}", "169.254.169.254:80", "10.0.0.1:443"):
            self.assertEqual(self.send(f"CONNECT {target} HTTP/1.1\n\n"), b"")
            self.assertIn(target, self.proxy.refused)

    def test_nonsense_gets_no_answer(self) -> None:
        for request in (
            "\n\n", "GET\n\n", "GET file:///etc/passwd HTTP/1.1\n\n", "CONNECT x HTTP/1.1\n\n",
            "CONNECT x:99999999 HTTP/1.1\n\n", "GET http://user:word@x/ HTTP/1.1\n\n",
            "GET /path HTTP/1.1\n\n",
        ):  # fmt: skip
            with self.subTest(request):
                self.assertEqual(self.send(request), b"")

    def test_a_page_that_loads_too_much_is_cut_off(self) -> None:
        self.site.body = b"x" * 900_000
        self.proxy.bytes_left = 200_000
        answer = self.send(f"GET {self.site.url}/x HTTP/1.1\nHost: a\n\n")
        self.assertLess(len(answer), 400_000)


if __name__ == "__main__":
    unittest.main()
