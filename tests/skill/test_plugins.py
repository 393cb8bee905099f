"""The files at the top that agents' plugin systems look for: valid, in step, and no more.

The only module to notice manifests that disagree.
"""

from __future__ import annotations

import json
import re
import unittest
from typing import Any

from tests.support import ROOT
from websearch.kit import VERSION


def read(path: str) -> Any:
    """Return the data of a JSON file of the repository."""
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


class ClaudeCode(unittest.TestCase):
    """.claude-plugin/; Claude Code itself reads it in tests/e2e/claude_code.py."""

    plugin = read(".claude-plugin/plugin.json")
    marketplace = read(".claude-plugin/marketplace.json")

    def test_the_marketplace_has_the_repository_as_its_one_plugin(self) -> None:
        [entry] = self.marketplace["plugins"]
        self.assertEqual((entry["name"], entry["source"]), (self.plugin["name"], "./"))
        self.assertTrue(self.marketplace["owner"]["name"])

    def test_the_plugin_has_the_name_and_version_of_the_skill(self) -> None:
        head = (ROOT / "SKILL.md").read_text(encoding="utf-8").split("\n---\n")[0]
        self.assertIn(f"\nname: {self.plugin['name']}\n", head)
        self.assertEqual(self.plugin["version"], VERSION)

    def test_the_skill_lies_where_a_plugin_without_a_skills_folder_has_it(self) -> None:
        # With a skills folder, or a path to one, Claude Code does not look for SKILL.md at the top.
        self.assertFalse((ROOT / "skills").exists())
        self.assertNotIn("skills", {**self.plugin, **self.marketplace["plugins"][0]})

    def test_it_starts_no_server_because_the_skill_needs_none(self) -> None:
        self.assertFalse((ROOT / ".mcp.json").exists())
        self.assertNotIn("mcpServers", self.plugin)


class Registry(unittest.TestCase):
    """server.json; its published schema is asked in tests/e2e/packages.py."""

    entry = read("server.json")

    def test_it_names_the_server_its_version_and_its_bundle(self) -> None:
        self.assertRegex(self.entry["name"], r"^[a-zA-Z0-9.-]+/web-search$")
        self.assertLessEqual(len(self.entry["description"]), 100)
        self.assertEqual(self.entry["version"], VERSION)
        [package] = self.entry["packages"]
        self.assertEqual(
            (package["registryType"], package["transport"]), ("mcpb", {"type": "stdio"})
        )
        release = rf"https://github\.com/[\w-]+/web-search/releases/download/v{VERSION}/"
        self.assertRegex(package["identifier"], f"^{release}web-search\\.mcpb$")
        owner = re.findall(r"github\.com/([\w-]+)/|github\.([\w-]+)/", json.dumps(self.entry))
        self.assertEqual(len({first or second for first, second in owner}), 1)

    def test_every_variable_is_a_secret_that_the_mcp_configurations_have_too(self) -> None:
        variables = self.entry["packages"][0]["environmentVariables"]
        configured = read("assets/mcp/claude_desktop.json")["mcpServers"]["web-search"]["env"]
        self.assertEqual({one["name"] for one in variables}, set(configured))
        for one in variables:
            self.assertTrue(one["isSecret"] and one["description"])
            self.assertNotIn("isRequired", one)


if __name__ == "__main__":
    unittest.main()
