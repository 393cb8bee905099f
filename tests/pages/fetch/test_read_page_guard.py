"""The guard of read_page.py: it never connects to this machine or a private network.

The only module that detects a way around the guard or an ignored rule of robots.txt.
"""

from __future__ import annotations

import contextlib
import socket
import time
import unittest
from typing import TYPE_CHECKING, Any
from unittest import mock
from urllib.parse import urlsplit

from tests.reading.test_read_page import SiteCase
from tests.support import SLACK, CannedServer
from websearch.pages.fetch import archive, fetch
from websearch.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable


# Spellings of addresses that must not be reached, as hosts of a URL.
FORBIDDEN_HOSTS = (
    # loopback, with the short, octal, hexadecimal and decimal spellings that resolvers know
    "127.0.0.1", "127.0.0.2", "127.255.255.254", "127.1", "127.0.1", "2130706433", "0x7f000001",
    "0x7f.1", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.0x0.0.1", "0", "0.0.0.0", "0x0",
    "localhost", "LOCALHOST", "localhost.",
    # the same in other letters
    "①②⑦.⓪.⓪.①", "１２７.０.０.１", "127。0。0。1", "ⓛocalhost",
    # private, shared, link-local, metadata
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255",
    "100.64.0.1", "100.100.100.200", "169.254.169.254", "169.254.0.1", "0xa9fea9fe", "2852039166",
    "168.63.129.16", "192.0.0.192",
    # reserved, documentation, benchmarks, multicast, broadcast, relays
    "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "224.0.0.1", "239.255.255.250",
    "240.0.0.1", "255.255.255.255", "192.88.99.1",
    # IPv6: loopback, any, link-local, unique local, site-local, multicast, documentation, discard
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]",
    "[ff02::1]", "[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]",
    # IPv6 addresses with an IPv4 address: mapped, compatible, translated, NAT64, 6to4, Teredo
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:169.254.169.254]", "[::ffff:10.0.0.1]",
    "[::127.0.0.1]", "[::10.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[2001:0:7f00:1::1]",
)  # fmt: skip
PUBLIC_ADDRESSES = (
    "1.1.1.1", "8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1",
    "2606:4700:4700::1111", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2002:808:808::1",
)  # fmt: skip
OTHER_SCHEMES = (
    "file:///etc/passwd", "ftp://example.org/", "gopher://example.org/", "data:text/html,x",
    "javascript:alert(1)", "ws://example.org/", "dict://example.org:11211/",
)  # fmt: skip


class Forbidden(SiteCase):
    def test_sixty_spellings_of_forbidden_targets_are_refused(self) -> None:
        self.assertGreaterEqual(len(FORBIDDEN_HOSTS), 60)
        for host in FORBIDDEN_HOSTS:
            with self.subTest(host):
                self.assertEqual(self.kind(f"http://{host}:9/", timeout=10), "refused")

    def test_public_addresses_are_allowed(self) -> None:
        for address in PUBLIC_ADDRESSES:
            self.assertTrue(fetch.is_public(address), address)

    def test_redirects_to_forbidden_targets_are_refused(self) -> None:
        for host in FORBIDDEN_HOSTS:
            with self.subTest(host):
                self.assertEqual(self.kind(f"redirect/to?http://{host}:9/latest"), "refused")
        for url in ("file:///etc/passwd", "ftp://example.org/", "http://user:pw@example.org/"):
            self.assertEqual(self.kind(f"redirect/to?{url}"), "refused")

    def test_a_redirect_to_an_invalid_url_is_a_server_error(self) -> None:
        for target in ("http://x:99999/", "http://[x/", "http://.../"):
            document = self.read(f"redirect/to?{target}")
            self.assertEqual(document["details"]["kind"], "http")
            self.assertIn("127.0.0.1 redirects to an invalid URL", document["error"])

    def test_a_redirect_to_itself_is_followed_with_its_cookie(self) -> None:
        self.assertTrue(self.read("redirect/cookie")["ok"])
        self.assertTrue(self.read("articles/sourdough", force=True)["ok"])
        names = [name.lower() for name, _ in self.server.requests[-1].headers]
        self.assertNotIn("cookie", names)

    def test_a_refresh_header_is_followed_under_the_guard(self) -> None:
        page = self.read("redirect/refresh?/site/articles/sourdough")
        self.assertTrue(page["ok"], page)
        self.assertEqual(self.kind(f"redirect/refresh?{self.server.other_url}/"), "refused")
        self.assertEqual(self.server.other_requests, [])

    def test_a_redirect_to_another_port_of_this_machine_is_refused(self) -> None:
        self.assertEqual(self.kind(f"redirect/to?{self.server.other_url}/"), "refused")
        self.assertEqual(self.server.other_requests, [])

    def test_other_schemes_and_credentials_are_never_sent(self) -> None:
        for url in OTHER_SCHEMES:
            with self.subTest(url):
                document = read.run_read({"urls": [url]})
                self.assertEqual(document["details"]["kind"], "refused")
        for url, kind in (
            ("http://name:secret@127.0.0.1/", "refused"), ("ftp://name:secret@h/", "refused"),
            ("http://name:secret@[x/", "invalid_input"), ("name:secret@x.example/", "refused"),
            ("http://name:secret@x.example:99999/", "invalid_input"),
        ):  # fmt: skip
            document = read.run_read({"urls": [url]})
            self.assertEqual(document["details"]["kind"], kind)
            self.assertNotIn("secret", str(document["error"]) + str(document["details"]))
        self.assertEqual(self.server.requests, [])

    def test_invalid_urls_are_bad_input(self) -> None:
        for url in (
            "", "nonsense", "http://", "http://[::1", "http://a b/", "http://x:99999/",
            "https://exa mple.org/", "http://.../", "http://a:0/", "http://\0/",
        ):  # fmt: skip
            with self.subTest(url):
                document = read.run_read({"urls": [url]})
                self.assertEqual(document["details"]["kind"], "invalid_input", document)


class Resolution(SiteCase):
    """Names are resolved once, and the checked address is connected to."""

    def resolve(self, *answers: list[str]) -> Callable[..., list[Any]]:
        """Let every name resolve to the next list of addresses; count the lookups."""
        waiting = [*answers]
        self.lookups = 0

        def lookup(_host: str, port: int, *_: Any, **__: Any) -> list[Any]:
            self.lookups += 1
            found = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            return [
                (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found
            ]

        return lookup

    def test_a_name_that_resolves_to_a_private_address_is_refused(self) -> None:
        for answer in (["127.0.0.1"], ["10.1.2.3"], ["93.184.216.34", "127.0.0.1"]):
            with mock.patch("socket.getaddrinfo", self.resolve(answer)):
                port = urlsplit(self.server.url).port
                self.assertEqual(
                    self.kind(f"http://rebind.example:{port}/site/list/news"), "refused"
                )
        self.assertEqual(self.server.requests, [])

    def test_a_name_that_changes_its_address_gains_nothing(self) -> None:
        port = urlsplit(self.server.url).port
        lookup = self.resolve(["93.184.216.34"], ["127.0.0.1"])
        reached: list[Any] = []

        def connect(_self: socket.socket, target: Any) -> None:
            reached.append(target)
            raise ConnectionRefusedError

        with mock.patch("socket.getaddrinfo", lookup), mock.patch("socket.socket.connect", connect):
            kind = self.kind(f"http://rebind.example:{port}/site/list/news")
        # The first try went to the address that was checked; later tries resolve and check again.
        self.assertEqual(kind, "refused")
        self.assertEqual(reached, [("93.184.216.34", port)])

    def test_each_connection_resolves_its_name_once(self) -> None:
        host = urlsplit(self.server.url)
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=f"pages.example:{host.port}")
        with mock.patch("socket.getaddrinfo", self.resolve(["127.0.0.1"])):
            document = read.run_read({"urls": [f"http://pages.example:{host.port}/site/list/news"]})
        self.assertTrue(document["ok"], document)
        self.assertEqual(self.lookups, 1)
        self.assertEqual(self.server.requests[0].header("host"), f"pages.example:{host.port}")


class Addresses(SiteCase):
    """Several addresses of a name, and those that a proxy program makes up."""

    def names(self, table: dict[str, list[str]]) -> Any:
        """Let names resolve as in a table, others not at all."""

        def lookup(host: str, port: int, *_: Any, **__: Any) -> list[Any]:
            found = [host] if host[0].isdigit() else table.get(host)
            if not found:
                raise socket.gaierror(socket.EAI_NONAME, "unknown")
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (ip, port)) for ip in found]

        return mock.patch("socket.getaddrinfo", lookup)

    def read_url(self, url: str) -> Any:
        return read.run_read({"urls": [url], "force": True})

    def wired(self) -> Any:
        """Let connections to addresses of 198.18.0.0/15 reach this machine."""
        connect = socket.socket.connect

        def near(self: socket.socket, target: Any) -> None:
            host = "127.0.0.1" if target[0].startswith("198.1") else target[0]
            connect(self, (host, *target[1:]))

        return mock.patch("socket.socket.connect", near)

    def test_address_that_answers_nothing_delays_the_next_a_moment(self) -> None:
        port = urlsplit(self.server.url).port
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=f"two.example:{port}")
        with socket.socket() as hole, contextlib.ExitStack() as stack:
            hole.bind(("127.0.0.9", port))
            hole.listen(0)
            for _ in range(4):  # its queue is full: further connections never come about
                full = stack.enter_context(socket.socket())
                full.setblocking(False)
                full.connect_ex(("127.0.0.9", port))
            table = {"two.example": ["127.0.0.9", "127.0.0.9", "127.0.0.1"]}
            started = time.monotonic()
            with self.names(table):
                self.assertTrue(self.read_url(f"http://two.example:{port}/site/list/news")["ok"])
            self.assertLess(time.monotonic() - started, 0.5 + SLACK)

    def test_address_that_refuses_leads_to_the_next(self) -> None:
        port = urlsplit(self.server.url).port
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=f"two.example:{port}")
        for ips, is_read in (["127.0.0.9", "127.0.0.1"], True), (["127.0.0.9", "127.0.0.8"], False):
            with self.names({"two.example": ips}):
                document = self.read_url(f"http://two.example:{port}/site/list/news")
            self.assertEqual(document["ok"], is_read, document)
        self.assertIn("refused the connection", document["error"])

    def test_fake_addresses_of_a_proxy_program_are_read_through_it(self) -> None:
        port = urlsplit(self.server.url).port
        table = {
            name: ["198.18.0.25"]
            for name in ("page.example", "metadata.google.internal", "nas.local", "intranet")
        }
        private = {"inner.example": ["10.0.0.1"], "both.example": ["198.18.0.25", "10.0.0.1"]}
        impossible = {fetch.IMPOSSIBLE_NAME: ["198.19.255.9"]}
        with self.wired(), self.names({**table, **private, **impossible}):
            self.assertTrue(self.read_url(f"http://page.example:{port}/site/list/news")["ok"])
            for host in (*private, *[*table][1:], "198.18.0.25"):
                document = self.read_url(f"http://{host}:{port}/site/list/news")
                self.assertEqual(document["details"]["kind"], "refused", host)
        for others in ({}, {fetch.IMPOSSIBLE_NAME: ["93.184.216.34"]}):
            with self.wired(), self.names({**table, **others}):
                document = self.read_url(f"http://page.example:{port}/site/list/news")
                self.assertEqual(document["details"]["kind"], "refused")
                self.assertIn("proxy program", document["details"]["hint"])
                self.assertIn("=198.18.0.0/15 in the environment", document["details"]["hint"])

    def test_networks_and_addresses_are_exempted_in_the_environment(self) -> None:
        port = urlsplit(self.server.url).port
        for value, is_read in (
            ("127.0.0.0/8", True), ("127.0.0.1/32, 10.0.0.0/8", True), ("10.0.0.0/8", False),
            ("127.0.0.0/99", False), ("/", False), ("::1/128", False),
            ("127.0.0.1", True), ("other:1,127.0.0.1", True), ("127.0.0.2,127.0.0", False),
            ("2130706433", False), ("::1", False),
        ):  # fmt: skip
            self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=value)
            with self.names({"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1", "172.16.0.1"]}):
                document = self.read_url(f"http://a.example:{port}/site/list/news")
                self.assertEqual(document["ok"], is_read, value)
                document = self.read_url(f"http://b.example:{port}/site/list/news")
                self.assertEqual(document["details"]["kind"], "refused")
                is_private = archive.is_private(f"http://a.example:{port}/")
                self.assertEqual(is_private, is_read, value)


class Exceptions(SiteCase):
    def test_exceptions_are_hosts_with_ports_and_addresses_in_the_environment(self) -> None:
        host, port = urlsplit(self.server.url).hostname, urlsplit(self.server.url).port
        for value, allowed in (
            (f"{host}:{port}", True), (f"other:1, {host}:{port} ", True), (f"{host}", True),
            (f"{host}:{port}0", False), ("", False), (f"localhost:{port}", False), ("*", False),
        ):  # fmt: skip
            self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=value)
            with self.subTest(value):
                self.assertEqual(self.read("list/news")["ok"], allowed)

    def test_no_parameter_can_lift_the_guard(self) -> None:
        self.set_environment()
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE="")
        document = self.read("list/news", allow_private=True)
        self.assertEqual(document["details"]["kind"], "invalid_input")
        self.assertEqual(self.server.requests, [])


class Proxy(SiteCase):
    """Behind a proxy only literal addresses can be checked, and a note says so."""

    def setUp(self) -> None:
        super().setUp()
        self.set_environment(http_proxy=self.server.url, https_proxy=self.server.url)

    def test_a_note_says_that_names_could_not_be_checked(self) -> None:
        host = self.server.url.removeprefix("http://")
        for value in (self.server.url, f"{host}/", f'"{host}"'):
            self.set_environment(http_proxy=value)
            document = read.run_read({"urls": ["http://pages.example/site/list/news"]})
            self.assertTrue(document["ok"], document)
            self.assertIn("through a proxy", document["warnings"][0])
            self.assertEqual(self.server.requests[-1].target, "http://pages.example/site/list/news")

    def test_private_addresses_in_the_url_are_still_refused(self) -> None:
        for host in ("10.0.0.1", "169.254.169.254", "0xa9fea9fe", "[fd00::1]", "nas.local"):
            document = read.run_read({"urls": [f"http://{host}/"]})
            self.assertEqual(document["details"]["kind"], "refused")
        self.assertEqual(self.server.requests, [])

    def test_hosts_that_resolvers_may_read_as_address_are_refused(self) -> None:
        for host in (
            "010.000.000.001", "4294967296", "383.0.0.1", "1.2.3", "8.8.8.8.8", "08.8.8.8",
            "0x8.8.8.8", "8.8.8.0x8", "1.2.3.4.0x", "example.1", "99999999999", "8.8.8.256",
            "[::ffff:8.8.8.8.8]", "１.2.3",
        ):  # fmt: skip
            with self.subTest(host):
                document = read.run_read({"urls": [f"http://{host}/"]})
                self.assertIn(document["details"]["kind"], ("refused", "invalid_input"))
        self.assertEqual(self.server.requests, [])

    def test_names_of_this_machine_and_of_its_network_are_refused(self) -> None:
        for host in (
            "ip6-localhost", "metadata", "instance-data", "LOCALHOST.", "intranet", "db.lan",
            "metadata.google.internal", "x.localhost", "printer.home.arpa", "wiki.corp",
            "box.example",
        ):  # fmt: skip
            with self.subTest(host), mock.patch("socket.gethostname", lambda: "Box.example"):
                document = read.run_read({"urls": [f"http://{host}/"]})
                self.assertEqual(document["details"]["kind"], "refused")
        self.assertEqual(self.server.requests, [])

    def test_public_addresses_and_names_are_fetched(self) -> None:
        for host in ("8.8.8.8", "pages.example", "3com.example", "1.2.3.4.example", "x.de"):
            with self.subTest(host):
                document = read.run_read({"urls": [f"http://{host}/site/list/news"]})
                self.assertTrue(document["ok"], document)


class Robots(SiteCase):
    """robots.txt, RFC 9309."""

    def test_it_is_fetched_with_the_flag_only_once_per_host(self) -> None:
        self.read("private/diary", "list/news")
        self.assertNotIn("/robots.txt", [request.path for request in self.server.requests])
        document = self.read("private/diary", "list/news", robots=True)
        self.assertEqual([page["ok"] for page in document["pages"]], [False, True])
        self.assertEqual(document["pages"][0]["details"]["kind"], "refused")
        self.assertIn("robots.txt", document["pages"][0]["error"])
        paths = [request.path for request in self.server.requests]
        self.assertEqual(paths.count("/robots.txt"), 1)
        self.assertEqual(paths.count("/site/private/diary"), 1)

    def test_a_redirect_to_a_disallowed_page_is_refused(self) -> None:
        path = f"redirect/to?{self.address('private/diary')}"
        self.assertEqual(self.kind(path, robots=True), "refused")

    def test_rules_are_read_as_the_standard_says(self) -> None:
        group = "User-agent: *\n"
        ours = "User-agent: Web-Search-Skill/9\n"
        for text, path, allowed in (
            ("", "/a", True),
            (group + "Disallow:", "/a", True),
            (group + "Disallow: /", "/a", False),
            (group + "Disallow: /a", "/abc", False),
            (group + "Disallow: /a/", "/a", True),
            (group + "Disallow: /a\nAllow: /a/b", "/a/b/c", True),
            (group + "Allow: /a\nDisallow: /a", "/a", True),
            (group + "Disallow: /*.pdf$", "/x/y.pdf", False),
            (group + "Disallow: /*.pdf$", "/x/y.pdf?z", True),
            (group + "Disallow: /a*b*c", "/a1b2c3", False),
            (group + "Disallow: /$", "/", False),
            (group + "Disallow: /$", "/x", True),
            (group + "Disallow: /%7ejoe/", "/~joe/x", False),
            (group + "Disallow: /é", "/%C3%A9", False),
            (group + "Disallow: /a # comment", "/a", False),
            (group + "disallow : /a", "/a", False),
            (ours + "Allow: /\n\n" + group + "Disallow: /", "/a", True),
            (ours + "Disallow: /a\n" + group + "Disallow: /", "/b", True),
            ("User-agent: other\nUser-agent: *\nDisallow: /a", "/a", False),
            ("User-agent: other\nDisallow: /", "/a", True),
            ("Disallow: /", "/a", True),
            ("\ufeffnonsense\n:::\n" + group + "Crawl-delay: 5\nDisallow: /a", "/a", False),
            (group + "Disallow: /" + "*a" * 2_000 + "b", "/" + "a" * 5_000, True),
        ):
            with self.subTest(text[:60], path=path[:20]):
                self.assertIs(fetch.robots_allow(text, path), allowed)

    def test_a_failing_file_disallows_and_a_missing_file_allows(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        self.set_environment(WEB_SEARCH_ALLOW_PRIVATE=urlsplit(server.url).netloc)
        server.body = b"User-agent: *\nDisallow: /"
        for status, kind in (
            (200, "refused"), (404, "http"), (403, "http"), (500, "refused"), (503, "refused"),
            (429, "refused"),
        ):  # fmt: skip
            server.status = status  # of robots.txt, and of the page if it is allowed
            with self.subTest(status):
                details = self.read(server.url + "/page", robots=True)["details"]
                self.assertEqual(details["kind"], kind)
                self.assertIs(details["retryable"], status >= 429)


if __name__ == "__main__":
    unittest.main()
