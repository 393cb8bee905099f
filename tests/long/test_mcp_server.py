"""scripts/mcp_server.py over a long life: 1,000 calls, 8 at a time, with faults among them.

The only module to notice what grows from call to call.
"""

from __future__ import annotations

import os
import random
import tempfile
import unittest
from pathlib import Path
from typing import Any

from tests.support import CANARY
from tests.ways_in.mcp_support import McpCase

CALLS = 1_000
AT_ONCE = 8


@unittest.skipUnless(Path("/proc/self/fd").is_dir(), "memory and descriptors are read in /proc")
class LongLife(McpCase):
    def test_1000_calls_8_at_a_time_are_all_answered_in_flat_memory_without_a_leak(self) -> None:
        choose = random.Random(7)
        with tempfile.TemporaryDirectory() as folder:
            client = self.start(
                GLSI_DB_PATH=str(Path(folder) / "cache.db"),
                SERPER_API_KEY="reset-" + CANARY,  # this tool's calls all fail
            )
            client.request("initialize", {"protocolVersion": "2025-11-25"})
            client.request("tools/list")
            waiting: set[int] = set()
            answered = failed = 0
            memory: list[int] = []
            descriptors: list[int] = []
            for number in range(CALLS):
                if len(waiting) == AT_ONCE:
                    failed += self.take_answer(client, waiting)
                    answered += 1
                waiting.add(client.start_request("tools/call", self.random_call(choose)))
                if choose.random() < 0.05:
                    client.write(choose.choice([b"{broken\n", b"\xff\xfe\n", b"[[[[\n", b"7\n"]))
                if number % 100 == 99:
                    while waiting:
                        failed += self.take_answer(client, waiting)
                        answered += 1
                    memory.append(self.resident(client.process.pid))
                    descriptors.append(len(os.listdir(f"/proc/{client.process.pid}/fd")))
            self.assertEqual(answered, CALLS)
            self.assertGreater(failed, CALLS // 10)
            self.assertLess(failed, CALLS // 2)
            self.assertLess(memory[-1], memory[len(memory) // 2 - 1] * 1.1, memory)
            # SQLite closes a file only when no connection of the process holds a lock on it: up to
            # one descriptor a call at a time is still open. A leak would be one of each call.
            self.assertLessEqual(max(descriptors), descriptors[0] + AT_ONCE, descriptors)
            self.assertTrue(client.is_alive())
            self.assertEqual(client.close(), 0)
        self.assert_no_key(client)

    def random_call(self, choose: random.Random) -> dict[str, Any]:
        """The params of a good call, or of one that fails."""
        site = f"{self.server.url}/site"
        query = choose.choice(["python", "bread", "python asyncio", "zzqxvvw"])
        name, arguments = choose.choice(
            [
                ("brave_web_search", {"query": query}),
                ("brave_context", {"query": query}),
                ("grounded_search", {"query": query}),
                ("read_page", {"urls": [f"{site}/articles/tides", f"{site}/no-such-page"]}),
                ("web_search", {"query": query, "engine": "duckduckgo", "count": 2}),
                ("google_search", {"query": query, "count": 500}),
                ("brave_web_search", {"query": ""}),
            ]
            # A broken connection is tried three times, with pauses: only a few of these.
            if choose.random() < 0.97
            else [("google_search", {"query": query})]
        )
        return {"name": name, "arguments": arguments}

    def take_answer(self, client: Any, waiting: set[int]) -> bool:
        """Take the next answer to a call from the client; return whether it is an error."""
        while (message := client.receive()).get("id") is None:
            self.assertIn("error", message)  # to a broken line
        waiting.remove(message["id"])
        self.assertTrue(message["result"]["content"][0]["text"])
        return bool(message["result"]["isError"])

    @staticmethod
    def resident(process: int) -> int:
        """The memory of a process in kilobytes."""
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0])


if __name__ == "__main__":
    unittest.main()
