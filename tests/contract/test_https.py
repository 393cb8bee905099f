"""HTTPS, the way to every real API: certificates that are accepted, refused, and never sent.

The only module to notice a certificate that is not checked.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
import unittest
from unittest import mock

from tests.support import (
    CANARY,
    ROOT,
    SLACK,
    CannedServer,
    EnvironmentCase,
    Run,
    load_script,
    run_script,
)

CERTIFICATE = str(ROOT / "tests/fake_server/localhost.pem")
SCRIPT = "brave_search.py"
ANSWER = {"query": {"original": "x"}, "web": {"results": [{"url": "https://e.org", "title": "E"}]}}


class Https(EnvironmentCase):
    def serve_https(self) -> str:
        """Start a server that speaks TLS and answers one web result; return its address."""
        server = CannedServer(certificate=CERTIFICATE)
        self.addCleanup(server.close)
        server.body = ANSWER
        return server.url.replace("http://127.0.0.1", "https://localhost")

    def run_search(self, address: str, timeout: str = "20", **variables: str) -> Run:
        environment = {"BRAVE_SEARCH_BASE_URL": address, "BRAVE_SEARCH_API_KEY": CANARY}
        return run_script(SCRIPT, "x", "--timeout", timeout, env={**environment, **variables})

    def test_a_search_works_where_the_certificate_is_known(self) -> None:
        run = self.run_search(self.serve_https(), SSL_CERT_FILE=CERTIFICATE)
        self.assertEqual(run.code, 0, run.document)
        self.assertEqual(run.document["web_results"][0]["url"], "https://e.org")

    def test_an_unknown_certificate_is_refused_at_once_with_what_to_set(self) -> None:
        run = self.run_search(self.serve_https())
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "network"))
        self.assertIn("certificate of localhost", run.document["error"])
        self.assertRegex(run.document["error"], r"\(self.signed certificate\)")
        self.assertIn("SSL_CERT_FILE", run.document["details"]["hint"])
        self.assertFalse(run.document["details"]["retryable"])
        self.assertNotIn(CANARY.encode(), run.stdout)

    def test_one_that_has_expired_leads_to_the_clock(self) -> None:
        transport_error = load_script("websearch.base.http_client").transport_error
        for code, word in ((10, "clock"), (9, "clock"), (18, "SSL_CERT_FILE")):
            error = ssl.SSLCertVerificationError()
            error.verify_code, error.verify_message = code, "certificate has expired"
            found = transport_error(error, "https://example.org/")
            self.assertIn(word, found.hint)

    def test_a_certificate_for_another_name_is_refused(self) -> None:
        address = self.serve_https().replace("localhost", "127.1")  # the same machine
        run = self.run_search(address, SSL_CERT_FILE=CERTIFICATE)
        self.assertEqual(run.document["details"]["kind"], "network")
        self.assertIn("certificate", run.document["error"])

    def test_a_certificate_file_that_is_missing_is_no_defect(self) -> None:
        run = self.run_search(self.serve_https(), SSL_CERT_FILE="/no/such/file")
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "network"))
        self.assertIn("does not exist: '/no/such/file'", run.document["details"]["hint"])
        run = self.run_search(self.serve_https(), SSL_CERT_FILE="/etc")
        self.assertIn("names a folder: '/etc'", run.document["details"]["hint"])

    def test_the_file_of_a_company_is_taken_without_key_identifiers(self) -> None:
        for module in ("websearch.kit", "websearch.base.http_client"):
            load_script("websearch.base.http_client").tls_context.cache_clear()
            for path, is_strict in ((str(CERTIFICATE), False), ("", True)):
                strict = ssl.create_default_context()
                strict.verify_flags |= ssl.VERIFY_X509_STRICT  # as Python 3.13 does
                self.set_environment(SSL_CERT_FILE=path)
                load_script("websearch.base.http_client").tls_context.cache_clear()
                with mock.patch.object(ssl, "create_default_context", return_value=strict):
                    flags = load_script(module).tls_context().verify_flags
                self.assertEqual(bool(flags & ssl.VERIFY_X509_STRICT), is_strict)
        load_script("websearch.base.http_client").tls_context.cache_clear()

    def test_a_server_that_never_shakes_hands_ends_at_the_deadline(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = f"https://localhost:{listener.getsockname()[1]}"
            started = time.monotonic()
            run = self.run_search(address, timeout="1.5")
            self.assertLess(time.monotonic() - started, 1.5 + SLACK)
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "timeout"))

    def test_a_server_that_speaks_no_tls_is_a_network_error(self) -> None:
        server = CannedServer()
        self.addCleanup(server.close)
        run = self.run_search(server.url.replace("http://", "https://"))
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "network"))
        self.assertNotIn(CANARY.encode(), run.stdout)

    def test_a_dripping_tls_answer_ends_at_the_deadline(self) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        stopped = threading.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        self.addCleanup(stopped.set)

        def drip() -> None:
            accepted, _ = listener.accept()
            with (
                contextlib.suppress(OSError),  # the client gives up, as it should
                context.wrap_socket(accepted, server_side=True) as secure,
            ):
                secure.recv(65_536)
                secure.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while not stopped.wait(0.1):
                    secure.sendall(b"x")

        threading.Thread(target=drip, daemon=True).start()
        started = time.monotonic()
        address = f"https://localhost:{listener.getsockname()[1]}"
        run = self.run_search(address, timeout="1.5", SSL_CERT_FILE=CERTIFICATE)
        self.assertLess(time.monotonic() - started, 1.5 + SLACK)
        self.assertEqual((run.code, run.document["details"]["kind"]), (5, "timeout"))


if __name__ == "__main__":
    unittest.main()
