"""The requests of gemini_search.py are those of Google's own SDK for the same search.

Compared is what arrives at the server, apart from the API version and the SDK's own headers.
Where google-genai is not installed nothing is compared, and nothing is counted.
The only module to notice a request that Google's SDK would not send.
"""

from __future__ import annotations

import re
import unittest
from datetime import datetime, timezone
from typing import Any

import gemini_search as gemini
from tests.engines.gemini_support import GeminiCase
from tests.support import CANARY

try:
    from google import genai
    from google.genai import types
    from google.oauth2.credentials import Credentials
except ImportError:
    print("google-genai is not installed: requests were not compared with those of the SDK.")
    raise SystemExit(0) from None

MODEL = "gemini-3.8-flash"
PLAIN = {"query": "sourdough", "thinking": "none"}  # the SDK sends no thinking level by itself
OWN_HEADERS = {
    "accept", "accept-encoding", "connection", "content-length", "host", "user-agent",
    "x-goog-api-client", "x-server-timeout",
}  # fmt: skip


def as_the_api_reads_it(value: Any) -> Any:
    """Return JSON with one spelling for each field name, and for each time."""
    if isinstance(value, list):
        return [as_the_api_reads_it(item) for item in value]
    if isinstance(value, dict):
        return {
            re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name): as_the_api_reads_it(item)
            for name, item in value.items()
        }
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}(Z|\+00:00)", value):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value


class SameRequest(GeminiCase):
    def client(self, **options: Any) -> Any:
        """A client of the SDK whose requests go to the fake server."""
        version = "v1beta1" if options.get("vertexai") else "v1beta"
        http_options = types.HttpOptions(base_url=self.server.url, api_version=version)
        return genai.Client(**options, http_options=http_options)

    def sent(
        self, client: Any, search: Any = None, tools: tuple[Any, ...] = (), **config: Any
    ) -> Any:
        """Let the SDK send the last search; return both requests as (path, headers, body)."""
        ours = self.server.requests[-1]
        body = ours.json()
        client.models.generate_content(
            model=MODEL,
            contents=body["contents"][0]["parts"][0]["text"],
            config=types.GenerateContentConfig(
                system_instruction=body["systemInstruction"]["parts"][0]["text"],
                tools=[types.Tool(google_search=search or types.GoogleSearch()), *tools],
                **config,
            ),
        )
        pairs = []
        for request in (ours, self.server.requests[-1]):
            headers = {name.lower(): value for name, value in request.headers}
            kept = {name: headers[name] for name in headers.keys() - OWN_HEADERS}
            path = re.sub(r"^/v1(beta1?)?/", "/", request.target)
            pairs.append((path, kept, request.json()))
        self.assertIsNot(ours, self.server.requests[-1])
        return pairs

    def test_for_a_plain_search_byte_for_byte_in_its_json(self) -> None:
        for command, query in (("search", "sourdough"), ("dev", "python"), ("docs", "python")):
            params = {**PLAIN, "query": query}
            self.assertTrue(getattr(gemini, f"run_{command}")(params)["ok"])
            ours, theirs = self.sent(self.client(api_key="good-" + CANARY))
            self.assertEqual(ours, theirs)

    def test_for_thinking_and_thoughts(self) -> None:
        params = {"query": "sourdough", "thinking": "low", "include_thoughts": True}
        self.assertTrue(gemini.run_search(params)["ok"])
        config = types.ThinkingConfig(thinking_level="LOW", include_thoughts=True)
        ours, theirs = self.sent(self.client(api_key="good-" + CANARY), thinking_config=config)
        self.assertEqual(as_the_api_reads_it(ours[2]), as_the_api_reads_it(theirs[2]))

    def test_for_a_time_range(self) -> None:
        params = {**PLAIN, "query": "python", "since": "2026-01-01..2026-01-31"}
        self.assertTrue(gemini.run_search(params)["ok"])
        interval = types.Interval(
            start_time=datetime(2026, 1, 1, tzinfo=timezone.utc),
            end_time=datetime(2026, 2, 1, tzinfo=timezone.utc),
        )
        search = types.GoogleSearch(time_range_filter=interval)
        ours, theirs = self.sent(self.client(api_key="good-" + CANARY), search)
        self.assertEqual(as_the_api_reads_it(ours[2]), as_the_api_reads_it(theirs[2]))

    def test_for_pages_to_read(self) -> None:
        params = {**PLAIN, "url": ["https://encyclopedia.example.org/wiki/Sourdough"]}
        self.assertTrue(gemini.run_search(params)["ok"])
        tools = (types.Tool(url_context=types.UrlContext()),)
        ours, theirs = self.sent(self.client(api_key="good-" + CANARY), tools=tools)
        self.assertEqual(ours, theirs)

    def test_for_vertex_with_a_project(self) -> None:
        self.set_environment(GOOGLE_CLOUD_PROJECT="p1", VERTEX_ACCESS_TOKEN="good-" + CANARY)
        self.assertTrue(gemini.run_search({**PLAIN, "provider": "vertex"})["ok"])
        client = self.client(
            vertexai=True, project="p1", location="global",
            credentials=Credentials("good-" + CANARY),
        )  # fmt: skip
        ours, theirs = self.sent(client)
        self.assertEqual(ours, theirs)

    def test_for_vertex_in_express_mode(self) -> None:
        self.set_environment(VERTEX_API_KEY="good-" + CANARY)
        self.assertTrue(gemini.run_search({**PLAIN, "provider": "vertex"})["ok"])
        ours, theirs = self.sent(self.client(vertexai=True, api_key="good-" + CANARY))
        self.assertEqual(ours, theirs)


if __name__ == "__main__":
    unittest.main()
