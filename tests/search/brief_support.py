"""What the tests of briefs and of several engines share: a web that each test writes itself."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from tests.search.scripted_web import ScriptedWeb, story
from tests.support import (
    CANARY,
    EnvironmentCase,
    Run,
    call_main,
    load_script,
    new_folder,
    run_script,
)
from websearch.engines.base import result_pages

OTTER, HERON, NEWT, TOAD = QUESTIONS = ("otter log", "heron log", "newt log", "toad log")
SITES = 4


class BriefCase(EnvironmentCase):
    """A web and a store of its own for each test; the engine is Serper."""

    engines: tuple[str, ...] = ("serper",)

    def setUp(self) -> None:
        super().setUp()
        self.web = ScriptedWeb(SITES)
        self.addCleanup(self.web.close)
        self.folder = new_folder(self)
        self.use(*self.engines)

    def store(self) -> str:
        """The path of a new store."""
        return str(Path(tempfile.mkdtemp(dir=self.folder), "cache.db"))

    def use(self, *engines: str, **more: str) -> None:
        """Configure these engines, and no other one."""
        store = str(self.folder / "cache.db")
        self.variables = self.web.environment(*engines, **{"GLSI_DB_PATH": store, **more})

    def run_command(self, *arguments: str, **options: Any) -> Run:
        """Run web_search.py as a process; its document keeps the contract of every document."""
        run = run_script("web_search.py", *arguments, env=self.variables, **options)
        self.assertNotIn(CANARY, run.stdout.decode() + run.stderr)
        return run

    def run_here(self, *arguments: str, **_: Any) -> Run:
        """Run web_search.py in this process, where its start is not the point."""
        self.set_environment(**self.variables)
        return call_main(load_script("web_search"), *arguments)

    def brief(self, *arguments: str, **options: Any) -> Any:
        """The document of a brief that works, checked for what is true of every brief."""
        run = self.run_command("brief", *arguments, **options)
        self.assertEqual(run.code, 0, run.document)
        document = run.document
        self.assertTrue(document["ok"])
        sources = document["sources"]
        self.assertEqual([one["number"] for one in sources], [*range(1, len(sources) + 1)])
        addresses = [one["url"] for one in sources] + [
            url for one in sources for url in one.get("also", [])
        ]
        canonical = [result_pages.canonical_url(url) for url in addresses]
        self.assertEqual(len(set(canonical)), len(canonical), "a page appears twice")
        for one in sources:
            numbers = one["queries"]
            self.assertTrue(numbers and numbers == sorted(set(numbers)))
            self.assertTrue(set(numbers) <= set(range(1, len(document["queries"]) + 1)))
        return document

    def four_topics(self) -> list[str]:
        """Let each of QUESTIONS find a page of its own and one that all find; return the pages.

        The page that all find tells of other days.
        """
        stories = [story(topic, first=101) for topic in ("otter", "heron", "newt")]
        shared = self.web.page("/shared", "\n\n".join(stories))
        own = [
            self.web.page(f"/{topic}", story(f"{topic}"), site=site)
            for site, topic in enumerate(("otter", "heron", "newt", "toad"))
        ]
        for question, page in zip(QUESTIONS, own, strict=True):
            self.web.find(question, page, shared)
        return [shared, *own]
