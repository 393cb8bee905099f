"""assets/mcp: each client's configuration is valid, contains no key and starts the server.

The only module to notice a configuration that its client would refuse.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
import tempfile
import unittest
from typing import TYPE_CHECKING, Any

from tests.support import ROOT, load_script
from tests.ways_in.mcp_support import LEGACY, Client

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "assets/mcp"
PLACE = "/path/to/web-search"
SCRIPT = f"{PLACE}/scripts/mcp_server.py"
NAME = "web-search"
# File -> the member that holds the servers, and how a variable of the client's environment is
# written; "" where the client takes names only, or fills nothing in.
CLIENTS = {
    "claude_code.json": ("mcpServers", "${%s:-}"),
    "claude_desktop.json": ("mcpServers", ""),
    "codex.toml": ("mcp_servers", ""),
    "cursor.json": ("mcpServers", "${env:%s}"),
    "gemini_cli.json": ("mcpServers", "${%s:-}"),
    "opencode.json": ("mcp", "{env:%s}"),
    "vscode.json": ("servers", "${env:%s}"),
}
KEYS = ["BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY"]


def read_toml(text: str) -> dict[str, Any]:
    """Read the little of TOML that codex.toml needs; Python 3.10 has no tomllib.

    Tables with a dotted name, and values that are strings, whole numbers or lists of strings.
    """
    document: dict[str, Any] = {}
    table = document
    lines = re.sub(r"(?m)^\s*#.*$", "", text)
    lines = re.sub(r"\[\s*\n[^\]]*\]", lambda found: found[0].replace("\n", " "), lines)
    for line in filter(None, map(str.strip, lines.splitlines())):
        if heading := re.fullmatch(r"\[([\w.-]+)\]", line):
            table = document
            for part in heading[1].split("."):
                table = table.setdefault(part, {})
            continue
        name, equals, value = line.partition(" = ")
        if not equals or not re.fullmatch(r"[\w-]+", name) or name in table:
            raise ValueError(line)
        table[name] = ast.literal_eval(value)
    return document


def read(path: Path) -> dict[str, Any]:
    """The document of a configuration file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        document: dict[str, Any] = json.loads(text)
        return document
    small = read_toml(text)
    try:
        import tomllib
    except ImportError:
        return small
    if tomllib.loads(text) != small:
        raise ValueError(f"read_toml understands {path.name} differently than tomllib")
    return small


def server(path: Path) -> dict[str, Any]:
    """The entry of the server in a configuration file."""
    entry: dict[str, Any] = read(path)[CLIENTS[path.name][0]][NAME]
    return entry


def command(path: Path) -> list[str]:
    """The words that a client starts the server with."""
    entry = server(path)
    if isinstance(entry["command"], list):  # opencode
        return list(entry["command"])
    return [entry["command"], *entry["args"]]


def variables(path: Path) -> dict[str, str]:
    """The variables that a configuration names, with their values."""
    entry = server(path)
    if "env_vars" in entry:  # Codex: names only
        return dict.fromkeys(entry["env_vars"], "")
    return dict(entry.get("environment") or entry["env"])


class Form(unittest.TestCase):
    def each(self) -> list[Path]:
        paths = sorted(path for path in FOLDER.iterdir() if path.suffix in (".json", ".toml"))
        self.assertEqual([path.name for path in paths], sorted(CLIENTS))
        return paths

    def test_each_configuration_has_only_this_server(self) -> None:
        for path in self.each():
            with self.subTest(path.name):
                document = read(path)
                self.assertEqual(set(document) - {"$schema"}, {CLIENTS[path.name][0]})
                self.assertEqual(list(document[CLIENTS[path.name][0]]), [NAME])

    def test_each_configuration_runs_uv_with_a_literal_path(self) -> None:
        self.assertTrue((ROOT / SCRIPT.removeprefix(f"{PLACE}/")).is_file())
        for path in self.each():
            with self.subTest(path.name):
                self.assertEqual(command(path), ["uv", "run", SCRIPT])
                self.assertEqual(path.read_text(encoding="utf-8").count(PLACE), 1)

    def test_each_says_stdio_in_its_clients_word(self) -> None:
        words = {
            "claude_code.json": "stdio",
            "cursor.json": "stdio",
            "opencode.json": "local",
            "vscode.json": "stdio",
        }
        for path in self.each():
            with self.subTest(path.name):
                self.assertEqual(server(path).get("type"), words.get(path.name))

    def test_configurations_send_no_keys_or_placeholders(self) -> None:
        for path in self.each():
            form = CLIENTS[path.name][1]
            with self.subTest(path.name):
                self.assertEqual(
                    variables(path), {name: form % name if form else "" for name in variables(path)}
                )

    def test_the_variables_are_those_that_the_reference_documents(self) -> None:
        reference = (ROOT / "references/keys_and_installing.md").read_text(encoding="utf-8")
        proxies = {"HTTPS_PROXY", "NO_PROXY"}  # the standard library's
        for path in self.each():
            names = list(variables(path))
            with self.subTest(path.name):
                self.assertLessEqual(set(KEYS), set(names))
                for name in set(names) - proxies:
                    self.assertIn(f"`{name}`", reference)

    def test_time_limits_are_in_the_clients_unit(self) -> None:
        entries = {path.name: server(path) for path in self.each()}
        self.assertEqual(entries["codex.toml"]["tool_timeout_sec"], 60)
        self.assertEqual(entries["gemini_cli.json"]["timeout"], 60_000)
        self.assertEqual(entries["opencode.json"]["timeout"], 60_000)

    def test_the_reader_of_toml_refuses_what_it_does_not_know(self) -> None:
        for text in ("a = b", "a=1", "[[a]]", 'a = 1\na = "2"', "just words"):
            with self.subTest(text), self.assertRaises(ValueError):
                read_toml(text)


class ServersDocument(unittest.TestCase):
    reference = (ROOT / "references/servers.md").read_text(encoding="utf-8")
    text = reference[reference.index("\n## MCP server\n") :]

    def row(self, name: str) -> str:
        """The line of a table that begins with a name."""
        found = re.search(rf"(?m)^\| `{re.escape(name)}` \|.*$", self.text)
        assert found is not None, name
        return found[0]

    def test_it_names_each_configuration(self) -> None:
        for name in CLIENTS:
            with self.subTest(name):
                self.assertIn(".", self.row(name))

    def test_the_reference_lists_every_tool_argument_with_its_bounds(self) -> None:
        for tool in load_script("websearch.ways_in.mcp_tools").tool_definitions(every=True):
            cells = self.row(tool["name"]).split(" | ")
            schema = tool["inputSchema"]
            with self.subTest(tool["name"]):
                named = set(re.findall(r"`(\w+)`", cells[2])) - {"brave_web_search"}
                self.assertEqual(named - {"summary"}, set(schema["properties"]) - {"summary"})
                required = re.findall(r"\*\*`(\w+)`\*\*", cells[2])
                self.assertEqual(required, schema.get("required", []))
                if count := schema["properties"].get("count"):
                    bounds = f"`count` {count['minimum']}-{count['maximum']} ({count['default']})"
                    self.assertIn(bounds, cells[2])

    def test_its_table_has_each_endpoint_with_exactly_its_parameters(self) -> None:
        server = load_script("websearch.ways_in.http_api")
        everywhere = {"timeout", "max_chars", "format"}
        for path, methods in server.ROUTES.items():
            for method, operation in methods.items():
                cells = self.row(f"{method} {path}").split(" | ")
                parameters = {item["name"] for item in server.parameters_of(operation).values()}
                with self.subTest(path):
                    named = set(re.findall(r"`(\w+)`", cells[1]))
                    self.assertEqual(named, parameters - everywhere)

    def test_it_explains_every_status_that_the_api_answers_with(self) -> None:
        section = self.text.partition("### Statuses")[2].partition("\n##")[0]
        statuses = set(load_script("websearch.ways_in.http_messages").STATUSES.values())
        for path in sorted((ROOT / "scripts/websearch/ways_in").glob("*http*.py")):
            text = path.read_text(encoding="utf-8")
            statuses |= set(map(int, re.findall(r"HttpError\((\d{3})", text)))
        self.assertLessEqual({200, 403, 404, 408, 431}, statuses)
        for status in statuses:
            with self.subTest(status):
                self.assertRegex(section, rf"(?m)^\|[\d, ]*\b{status}\b")


class Start(unittest.TestCase):
    def test_each_documented_command_starts_a_server_that_answers(self) -> None:
        answers = {}
        with tempfile.TemporaryDirectory(prefix="web search ") as folder:  # a space in the path
            place = f"{folder}/skill"
            shutil.copytree(ROOT / "scripts", f"{place}/scripts")
            for path in sorted(FOLDER / name for name in CLIENTS):
                words = [word.replace(PLACE, place) for word in command(path)]
                if not shutil.which("uv"):  # then the user writes python3 for `uv run`
                    words = [sys.executable, *words[2:]]
                with self.subTest(path.name):
                    # The value that a client fills in for an unset variable.
                    client = Client(dict.fromkeys(variables(path), ""), words)
                    self.addCleanup(client.close)
                    params = {"protocolVersion": LEGACY[0], "capabilities": {}}
                    answers[path.name] = client.request("initialize", params)["result"]
                    text = client.text("google_search", query="python")
                    self.assertIn("SERPER_API_KEY is not set", text)
                    self.assertEqual(client.close(), 0)
        self.assertEqual({one["serverInfo"]["name"] for one in answers.values()}, {NAME})
        self.assertEqual(len(answers), len(CLIENTS))


if __name__ == "__main__":
    unittest.main()
