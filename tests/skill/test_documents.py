"""The documents agents and people read: the skill's format, links, sizes, and every command.

The only module to notice a document that is wrong about a command, too long, or with a dead link.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import re
import shlex
import tempfile
import unittest
from pathlib import Path
from typing import ClassVar

from tests.fake_server.server import FakeServer
from tests.support import (
    CANARY,
    ROOT,
    EnvironmentCase,
    Run,
    call_main,
    load_script,
    new_folder,
    run_script,
    small_web_environment,
)

SKILL = (ROOT / "SKILL.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "SKILL.md", ROOT / "README.md", *sorted((ROOT / "references").glob("*.md"))]
SKILL_FIELDS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
PLACE = "/path/to/web-search/"
SCRIPTS = ROOT / "scripts"
# Scripts whose file has no COMMANDS: their help is read instead.
WITHOUT_TABLE = ("doctor", "install", "mcp_server")
# Tables that `make sync` writes.
GENERATED = re.compile(r"(?s)<!-- (?:parameters:|engines|keys)[^\n]*-->\n.*?<!-- end of \w+ -->")
# Environment that leads every script to the fake server.
KEYS = (
    "BRAVE_SEARCH_API_KEY", "SERPER_API_KEY", "GEMINI_API_KEY",
)  # fmt: skip


def frontmatter() -> dict[str, str]:
    """Return the fields of SKILL.md's frontmatter that are one line each."""
    block = SKILL.split("---\n")[1]
    return dict(re.findall(r"^([\w-]+): ?(.*)$", block, re.MULTILINE))


def commands(path: Path) -> list[str]:
    """Return the commands of a document's bash blocks."""
    blocks = re.findall(r"```bash\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


def example_key() -> str:
    """Return the summarizer key that the document of the two-step workflow shows as a word."""
    steps = commands(ROOT / "references/brave_summarizer_workflow.md")
    words = [shlex.split(step) for step in steps if " summarizer --inline-references " in step]
    return words[0][-1]


class SkillFormat(unittest.TestCase):
    """The six rules of the agentskills.io specification, and the project's own limits."""

    def test_frontmatter_has_only_the_six_fields_of_the_specification(self) -> None:
        self.assertTrue(SKILL.startswith("---\n"))
        self.assertLessEqual(set(frontmatter()), SKILL_FIELDS)

    def test_frontmatter_is_yaml_that_every_agent_reads(self) -> None:
        # A plain value of YAML ends at ": " and at " #": an agent then refuses the whole skill.
        for name, value in frontmatter().items():
            if not value.startswith('"'):
                self.assertNotRegex(value, r":(\s|$)| #", name)

    def test_name_fits_its_rule_and_the_folder(self) -> None:
        self.assertEqual(frontmatter()["name"], "web-search")
        self.assertRegex(frontmatter()["name"], r"^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$")

    def test_description_says_when_within_1024_characters_and_without_tags(self) -> None:
        description = frontmatter()["description"]
        self.assertTrue(0 < len(description) <= 1024)
        self.assertNotRegex(description, r"[<>]")
        self.assertIn("Use whenever", description)
        self.assertIn("Not for", description)

    def test_compatibility_is_within_500_characters(self) -> None:
        self.assertTrue(0 < len(frontmatter()["compatibility"]) <= 500)

    def test_metadata_is_text_and_its_version_that_of_the_scripts(self) -> None:
        version = re.search(r'^  version: "(.*)"$', SKILL, re.MULTILINE)
        assert version is not None
        self.assertEqual(version[1], load_script("websearch.kit").VERSION)

    def test_it_is_below_130_lines_and_6800_bytes(self) -> None:
        self.assertLess(len(SKILL.splitlines()), 130)
        self.assertLessEqual(len(SKILL.encode()), 6_800)

    def test_it_has_the_parts_that_an_agent_needs(self) -> None:
        for heading in (
            "Purpose", "When to use", "Configuration", "Workflows", "Errors and fallbacks",
            "References",
        ):  # fmt: skip
            self.assertIn(f"\n## {heading}\n", SKILL)
        for code in sorted(set(load_script("websearch.kit").EXIT_CODES.values()) - {130, 143}):
            self.assertRegex(SKILL, rf"(?m)^\| {code} \|")

    def test_every_reference_is_named(self) -> None:
        references = sorted((ROOT / "references").glob("*.md"))
        self.assertLessEqual(len(references), 16)
        for path in references:
            with self.subTest(path.name):
                self.assertRegex(SKILL, rf"\]\(references/{path.name}\)")


class EveryDocument(unittest.TestCase):
    def test_links_lead_to_files_that_exist(self) -> None:
        for path in DOCUMENTS:
            text = path.read_text(encoding="utf-8")
            for link in re.findall(r"\]\(([^)#\s]+)\)", text):
                if not link.startswith(("http://", "https://", "url")):
                    with self.subTest(path.name, link=link):
                        self.assertTrue((path.parent / link).exists())

    def test_files_that_are_named_without_a_link_exist_too(self) -> None:
        for path in DOCUMENTS:
            for name in re.findall(r"(?<![\w/.*])[a-z_]+\.md\b", path.read_text(encoding="utf-8")):
                with self.subTest(path.name, name=name):
                    self.assertTrue((ROOT / "references" / name).exists())

    def test_a_reference_is_short_says_when_to_read_it_and_lists_its_sections(self) -> None:
        for path in sorted((ROOT / "references").glob("*.md")):
            text = path.read_text(encoding="utf-8")
            written = GENERATED.sub("", text)  # an engine or option more is not the writer's
            with self.subTest(path.name):
                self.assertLessEqual(len(written.encode()), 12 * 1_024, "shorten its text")
                self.assertLessEqual(len(text.encode()), 13 * 1_024, "shorten its text")
                self.assertRegex(text[:120], r"\A# .+\n\nRead this (?:to|if|before|when) ")
            contents = re.search(r"(?s)\n## Contents\n\n(.*?)\n\n", text)
            if contents is None:
                continue
            titles = " ".join(contents[1].split()).split(" · ")
            self.assertEqual(["Contents", *titles], re.findall(r"(?m)^## (.*)$", text))

    def test_nothing_that_agents_replace_stands_in_a_code_block(self) -> None:
        for path in DOCUMENTS:
            with self.subTest(path.name):
                text = path.read_text(encoding="utf-8")
                self.assertNotRegex(text, r"\$\d|\$ARGUMENTS|\$\{CLAUDE|!`")

    def test_commands_begin_with_uv_run_and_one_literal_path(self) -> None:
        for path in DOCUMENTS:
            if path.name == "README.md":
                continue
            for command in commands(path):
                with self.subTest(command):
                    self.assertRegex(command, rf"^uv run {PLACE}scripts/\w+\.py ")
                    self.assertNotRegex(command, r'"[^"]*\$|`|\\$')

    def test_long_references_open_with_their_contents(self) -> None:
        for path in sorted((ROOT / "references").glob("*.md")):
            text = path.read_text(encoding="utf-8")
            if len(text.splitlines()) > 100:
                with self.subTest(path.name):
                    self.assertRegex(text[:700], r"\nContents: |\n## Contents\n")


def named_commands(text: str) -> list[tuple[str, str]]:
    """Return (script, words) for each command line that stands in a code block or between marks."""
    blocks = re.findall(r"(?s)```\w*\n(.*?)```", text)
    marked = re.findall(r"`([^`\n]+)`", re.sub(r"(?s)```.*?```", "", text))
    lines = [line for block in blocks for line in block.splitlines()] + marked
    found = [re.search(r"(?:^|[\s/'])([a-z_]+)\.py\b ?(.*)", line) for line in lines]
    return [(one[1], one[2]) for one in found if one and (SCRIPTS / f"{one[1]}.py").exists()]


@functools.cache
def known_words(script: str) -> tuple[set[str], set[str]]:
    """Return the commands and the flags of a script."""
    if script in WITHOUT_TABLE:
        told = run_script(f"{script}.py", "--help").stdout.decode()
        commands = set(re.findall(rf"{script}\.py ([a-z]+)", told))
        helps = [run_script(f"{script}.py", name, "--help").stdout.decode() for name in commands]
        return commands, set(re.findall(r"--?[a-z-]+", " ".join([told, *helps])))
    told = call_main(load_script(script), "--help").stdout.decode()
    commands = set(re.findall(rf"{script}\.py ([a-z]+)", told))
    for others in re.findall(r"(?m)^More commands: ([a-z, ]+)", told):
        commands |= set(others.replace(",", "").split())
    core, table = load_script("websearch.kit"), load_script(script).COMMANDS
    parameters = [*core.COMMON_PARAMS, *core.OUTPUT_PARAMS]
    parameters += [one for command in table.values() for one in command["params"]]
    flags = {flag for one in parameters for flag in one.get("flags", ())}
    names = {name for one in parameters for name in (one["name"], *one.get("aliases", ()))}
    negations = {f"no_{one['name']}" for one in parameters if one["type"] == "bool"}
    long_flags = {f"--{name.replace('_', '-')}" for name in names | negations}
    return commands | set(table), flags | long_flags | {"--help", "--version"}


class CommandLines(unittest.TestCase):
    """Each command line that a document names, placeholders included, has a command and flags."""

    def test_every_command_and_flag_exists(self) -> None:
        known = {path.stem: known_words(path.stem) for path in SCRIPTS.glob("*.py")}
        seen = 0
        for path in [*DOCUMENTS, ROOT / "CONTRIBUTING.md"]:
            for script, line in named_commands(path.read_text(encoding="utf-8")):
                names, flags = known[script]
                words = re.sub(r"'[^']*'|[';|>)#].*", "", line).split()
                with self.subTest(path.name, script=script, line=line):
                    command = [word for word in words[:1] if re.fullmatch(r"[a-z][a-z-]*", word)]
                    self.assertLessEqual(set(command), names)
                    used = {word.split("=")[0] for word in words if re.match("--?[a-z]", word)}
                    self.assertEqual(used - flags, set())
                    seen += 1
        self.assertGreater(seen, 100)

    def test_every_flag_that_is_named_alone_exists(self) -> None:
        known = {flag for path in SCRIPTS.glob("*.py") for flag in known_words(path.stem)[1]}
        known |= {"--no-sandbox"}  # the browser's
        for path in DOCUMENTS:
            if path.name not in (
                "README.md",
                "keys_and_installing.md",
                "opencode.md",
                "servers.md",
                "scale.md",
            ):  # other programs'
                flags = re.findall(r"(?<![\w-])--[a-z][a-z-]+", path.read_text(encoding="utf-8"))
                with self.subTest(path.name):
                    self.assertEqual(set(flags) - known, set())


class EveryCommand(EnvironmentCase):
    """Each command of each document works as it stands, from any directory."""

    server: FakeServer
    placeholders: dict[str, str]  # what an agent replaces by what it read before
    started: ClassVar[set[str]] = set()  # scripts that have run as a process

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.server = FakeServer(local_links=True)
        cls.addClassCleanup(cls.server.close)
        variables = small_web_environment(cls.server.url)
        variables |= dict.fromkeys(KEYS, f"good-{CANARY}")
        cls.environment = variables
        live = run_script("brave_search.py", "weather", "--enable-rich-callback", env=variables)
        summary = run_script("brave_search.py", "python asyncio", "--summary", env=variables)
        key, example = summary.document["summarizer_key"], example_key()
        cls.placeholders = {
            "CALLBACK_KEY": live.document["rich"]["hint"]["callback_key"],
            example: key,
            json.dumps(example)[1:-1]: json.dumps(key)[1:-1],
            "https://docs.python.org/3/library/asyncio-task.html": (
                f"{cls.server.url}/site/docs/timeouts"
            ),
            "docs.python.org": "python.example.org",  # the fake server's documents are made up
            "https://kettle.example.org": f"{cls.server.url}/site",
        }

    def run_words(self, script: str, words: list[str]) -> Run:
        """Run a command: the first of a script as a process, further ones in this process."""
        if script not in self.started or not hasattr(load_script(script), "COMMANDS"):
            self.started.add(script)
            return run_script(script, *words, env=self.environment)
        return call_main(load_script(script), *words)

    def filled(self, command: str) -> tuple[str, list[str]]:
        """Return script and words as an agent would run them: the path and keys filled in."""
        words = shlex.split(command)
        for placeholder, value in self.placeholders.items():
            words = [word.replace(placeholder, value) for word in words]
        return words[2].removeprefix(f"{PLACE}scripts/"), words[3:]

    def test_it_ends_with_exit_code_0_and_a_document(self) -> None:
        seen = 0
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(new_folder(self))
        for path in DOCUMENTS:
            for command in commands(path):
                if not command.startswith(f"uv run {PLACE}"):
                    continue
                seen += 1
                run = self.run_words(*self.filled(command))
                with self.subTest(path.name, command=command):
                    self.assertEqual(run.code, 0, run.stdout.decode())
                    self.assertTrue(run.stdout.strip())
                    self.assertEqual(run.stderr, "")
        self.assertGreater(seen, 20)

    def test_each_command_of_the_skills_table_works_with_its_words_filled_in(self) -> None:
        table = re.findall(r"(?m)^\| .*\.py .*$", SKILL)
        named = [one for row in table for one in re.findall(r"`([a-z_]+\.py [^`]+)`", row)]
        self.assertGreater(len(named), 12)
        page = f"{self.server.url}/site/docs/timeouts"
        with tempfile.TemporaryDirectory() as folder:
            urls, queries = Path(folder, "urls.txt"), Path(folder, "queries.txt")
            urls.write_text(f"{page}\n", encoding="utf-8")
            queries.write_text("python\n", encoding="utf-8")
            words = {"URL": page, "OUT": f"{folder}/answers.jsonl"}
            for command in named:
                words["FILE"] = str(queries if " batch " in command else urls)
                filled = re.sub(r"\b(URL|FILE|OUT)\b", lambda word: words[word[1]], command)
                script, *rest = shlex.split(filled)
                with self.subTest(command):
                    run = self.run_words(script, rest)
                    self.assertIn(run.code, (0, 1), run.stdout)


class BraveDocuments(unittest.TestCase):
    """What Brave's documents promise beside working commands."""

    def test_the_workflows_of_a_summary_are_payloads_with_a_key_of_real_shape(self) -> None:
        steps = commands(ROOT / "references/brave_summarizer_workflow.md")
        key = example_key()
        self.assertRegex(key, r'^\{"query": "python asyncio", .*"results_hash": "[0-9a-f]+\}$')
        with self.assertRaises(ValueError):  # like Brave's own, it looks like JSON and is not
            json.loads(key)
        words = [shlex.split(step)[3:] for step in steps if "--params-json" in step]
        payloads = [(command, json.loads(payload)) for command, _, payload in words]
        self.assertEqual([command for command, _ in payloads], ["web", "web", "summarizer"])
        self.assertNotIn("summary", payloads[0][1])
        self.assertIs(payloads[1][1]["summary"], True)
        self.assertEqual(
            payloads[2][1], {"key": key, "entity_info": False, "inline_references": True}
        )

    def test_each_example_has_its_payload_and_the_shape_of_its_output(self) -> None:
        text = (ROOT / "references/brave_search_examples.md").read_text(encoding="utf-8")
        examples = re.split(r"(?m)^## (?=\d)", text)[1:]
        self.assertEqual(len(examples), 4)
        with FakeServer() as server:
            variables = {
                "BRAVE_SEARCH_API_KEY": f"good-{CANARY}",
                "BRAVE_SEARCH_BASE_URL": server.url,
            }
            for example in examples:
                asked = re.findall(r"```bash\n(.*)\n```", example)
                shown = re.findall(r"```json\n(.*)\n```", example)
                self.assertEqual((len(asked), bool(asked)), (len(shown), True), example)
                for command, shape in zip(asked, shown, strict=True):
                    words = shlex.split(command)[3:]
                    self.assertIn("query", json.loads(words[words.index("--params-json") + 1]))
                    run = run_script("brave_search.py", *words, env=variables)
                    with self.subTest(command=command):
                        self.assert_shape(json.loads(shape), run.document, "document")

    def assert_shape(self, shape: object, value: object, place: str) -> None:
        """A value has every field that a shape shows, and each list at least one such item."""
        if isinstance(shape, dict):
            assert isinstance(value, dict), place
            for name, inner in shape.items():
                self.assertIn(name, value, place)
                self.assert_shape(inner, value[name], f"{place}.{name}")
        elif isinstance(shape, list):
            assert isinstance(value, list) and value, place
            self.assert_shape(shape[0], value[0], f"{place}[0]")
        else:
            self.assertIs(type(value), type(shape), place)

    def test_the_tables_name_the_type_and_the_default_of_every_parameter(self) -> None:
        rows = 0
        for path in sorted((ROOT / "references").glob("brave_*.md")):
            text = path.read_text(encoding="utf-8")
            for table in re.findall(r"(?ms)^\| parameter .*?(?=^\n|^<)", text):
                head, _, *lines = [line.split(" | ") for line in table.strip().splitlines()]
                columns = head.index("type"), head.index("default")
                for line in lines:
                    with self.subTest(path.name, parameter=line[0]):
                        self.assertTrue(all(line[column].strip() for column in columns))
                    rows += 1
        self.assertGreater(rows, 60)


class Configuration(unittest.TestCase):
    """The table of variables has every variable that a script or opencode's tools read."""

    text = (ROOT / "references/keys_and_installing.md").read_text(encoding="utf-8")

    def test_every_environment_variable_that_a_script_reads_is_in_a_table(self) -> None:
        names: set[str] = set()
        for path in sorted(SCRIPTS.rglob("*.py")):
            source = path.read_text(encoding="utf-8")
            names |= set(re.findall(r'environ(?:\.get\(|\[)"([A-Z_]+)"', source))
            names |= set(re.findall(r'"([A-Z][A-Z_]*_(?:API_KEY|BASE_URL|TOKEN))"', source))
            names |= set(re.findall(r'"((?:WEB_SEARCH|GLSI|GEMINI|GOOGLE_CLOUD)_[A-Z_]+)"', source))
        for path in sorted((ROOT / "assets/opencode").rglob("*.ts")):
            names |= set(re.findall(r"process\.env\.([A-Z_]+)", path.read_text(encoding="utf-8")))
        names -= {
            "HOME",
            "PATH",
            "COMPUTERNAME",
            "USERPROFILE",
            "TMPDIR",
        }  # the system's, not to be set
        self.assertLessEqual({"BRAVE_SEARCH_API_KEY", "ARXIV_BASE_URL", "WEB_SEARCH_BUDGET"}, names)
        rows = "\n".join(re.findall(r"(?m)^\|.*$", self.text))
        self.assertEqual({name for name in names if f"`{name}`" not in rows}, set())


SHORT = 6  # lines of a function that its name alone may explain


def imported_names(tree: ast.Module) -> set[tuple[str, str]]:
    """Return (module's last name, name) of what a module takes from others of the project."""
    names: set[tuple[str, str]] = set()
    modules: dict[str, str] = {}  # as it is called here -> its last name
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            origin = (node.module or "").rpartition(".")[2]
            for alias in node.names:
                names.add((origin, alias.name))
                modules[alias.asname or alias.name] = alias.name
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add((modules.get(node.value.id, ""), node.attr))
    return names


class Docstrings(unittest.TestCase):
    """Functions longer than six lines, and those that other modules import, say what they do."""

    def test_every_longer_or_imported_function_has_one(self) -> None:
        trees = {
            path: ast.parse(path.read_text(encoding="utf-8"))
            for path in sorted(SCRIPTS.rglob("*.py"))
        }
        imported = {name for tree in trees.values() for name in imported_names(tree)}
        for path, tree in trees.items():
            module = path.parent.name if path.stem == "__init__" else path.stem
            owners = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
            for function in (node for owner in owners for node in owner.body):
                if not isinstance(function, ast.FunctionDef) or ast.get_docstring(function):
                    continue
                name, first = function.name, function.body[0]
                lines = (function.end_lineno or 0) - first.lineno + 1
                with self.subTest(f"{path.relative_to(ROOT)}:{function.lineno} {name}"):
                    self.assertFalse((module, name) in imported, "another module imports it")
                    self.assertTrue(name.startswith("__") or lines <= SHORT, f"{lines} lines")


class Pictures(unittest.TestCase):
    def test_they_are_of_this_version(self) -> None:
        version = load_script("websearch.kit").VERSION
        for theme in ("light", "dark"):
            text = (ROOT / f"assets/terminal-{theme}.svg").read_text(encoding="utf-8")
            self.assertIn(f"<title>web-search {version}:", text, "run make picture")


class Readme(unittest.TestCase):
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    def test_it_is_a_screen_of_commands(self) -> None:
        self.assertLessEqual(len(self.text.splitlines()), 84)

    def test_every_script_stands_in_it(self) -> None:
        names = {path.name for path in (ROOT / "scripts").glob("*.py")}
        self.assertEqual({name for name in names if name not in self.text}, set())

    def test_its_make_targets_exist(self) -> None:
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in set(re.findall(r"make ([a-z][a-z0-9-]*)", self.text)) - {"it"}:
            with self.subTest(target):
                self.assertRegex(makefile, rf"(?m)^{target}:")


if __name__ == "__main__":
    unittest.main()
