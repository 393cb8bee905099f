"""A session without any key: DuckDuckGo blocks, and every question gets sources all the same.

The only module to notice a long session that runs dry.
"""

from __future__ import annotations

import tempfile
import unittest
from typing import Any

from tests.fake_server import duckduckgo as fake_duckduckgo
from tests.fake_server.server import FakeServer
from tests.support import CannedServer, run_script, small_web_environment

# Twenty questions of all kinds: (focus, question).
QUESTIONS = (
    ("general", "how is a sourdough starter fed"),
    ("code", "How to cancel a Python asyncio task on timeout?"),
    ("general", "black holes"),
    ("papers", "quantum error correction"),
    ("discussions", "which mechanical keyboard do you still use"),
    ("reference", "what is an espresso"),
    ("general", "how do vaccines work"),
    ("code", "undo the last git commit"),
    ("papers", "sourdough bread fermentation"),
    ("discussions", "is rust worth learning for web backends"),
    ("reference", "northern lights"),
    ("general", "python tutorial"),
    ("code", "borrowed value does not live long enough"),
    ("papers", "evening light and sleep"),
    ("general", "chess openings"),
    ("discussions", "database index not used by the planner"),
    ("reference", "history of tea"),
    ("general", "artificial intelligence"),
    ("code", "sourdough hydration is:issue"),
    ("general", "mechanical keyboard switches"),
)
# path -> (requests, seconds): no more than that many in any so many seconds, as each source's rules
# say for callers who name a contact.
LIMITS = {
    "/w/api.php": (200, 60.0),
    "/2.3/search/advanced": (30, 1.0),
    "/api/v1/search": (10_000, 3_600.0),
    "/search/": (10, 60.0),
    "/works": (10, 1.0),
    "/api/query": (1, 3.0),
}


class KeylessSession(unittest.TestCase):
    def test_twenty_questions_all_get_sources_and_no_source_is_asked_too_fast(self) -> None:
        challenge = fake_duckduckgo.FAULTS["blocked"]()
        blocker = CannedServer()
        self.addCleanup(blocker.close)
        blocker.status, blocker.body = challenge.status, challenge.body
        with (
            FakeServer(local_links=True, limits=True) as server,
            tempfile.TemporaryDirectory() as f,
        ):
            environment = {
                **small_web_environment(server.url),
                "DUCKDUCKGO_BASE_URL": blocker.url,
                "SEARXNG_BASE_URL": "",
                "WEB_SEARCH_CONTACT": "ada@example.org",
                "GLSI_RATE_LIMIT": "200ms",
                "GLSI_DB_PATH": f"{f}/cache.db",
            }
            for focus, question in QUESTIONS:
                with self.subTest(question):
                    words = (question, "--focus", focus, "--timeout", "60")
                    document = run_script("web_search.py", *words, env=environment).document
                    self.assertTrue(document["ok"], document)
                    self.assertTrue(any(item.get("text") for item in document["results"]))
                    self.assert_only_duckduckgo_blocks(document)
            for path, (most, seconds) in LIMITS.items():
                times = [one.time for one in server.requests if one.path.startswith(path)]
                with self.subTest(path):
                    self.assertTrue(times)
                    for start in times:
                        held = sum(start <= one < start + seconds for one in times)
                        self.assertLessEqual(held, most)

    def assert_only_duckduckgo_blocks(self, document: dict[str, Any]) -> None:
        """No source refuses, and the sentence on who answered is there if DuckDuckGo was asked."""
        refused = {
            attempt["engine"]
            for attempt in document.get("attempts", [])
            if attempt["kind"] in ("blocked", "rate_limit", "quota")
        }
        self.assertLessEqual(refused, {"duckduckgo"})
        said = any("No search engine answered" in one for one in document.get("warnings", []))
        self.assertEqual(said, bool(refused))


if __name__ == "__main__":
    unittest.main()
