"""Tables of command lines: what each sends, how it ends and what it prints, held in snapshots.

A table is snapshots/API/commands.txt. A line is what follows the script's name on a command line.
Words before it change what the script meets:

  NAME=value      a variable of the environment
  key=quota       the key, which asks the fake server for a fault or a plan
  answer=NAME     the server sends what snapshots/API/recorded.json holds under that name
  as=results      the snapshot shows what as_results makes of the document

{files} is the folder of the table. `[name]` begins the lines whose snapshots are in name.json.

`make snapshots` writes the snapshots anew, with API=keyless those of one folder; read the
difference before you commit it. "as of: LINE" stands for a document, or a member of one, that is
the same as that of an earlier line of the file.
"""

from __future__ import annotations

import difflib
import itertools
import json
import os
import random
import re
import shlex
from base64 import b64decode
from collections import ChainMap
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from unittest import mock

from tests.engines.clock import skipped_waits
from tests.fake_server.gemini_answers import TOKEN_START
from tests.fake_server.messages import JSON_TYPE, Reply
from tests.support import CANARY, FakeServerCase, call_main, load_script, mutations
from websearch.engines.table import ENGINES

if TYPE_CHECKING:
    from types import ModuleType

    from tests.fake_server.messages import RecordedRequest
    from tests.support import Run

SNAPSHOTS = Path(__file__).with_name("snapshots")
WRITE = "WRITE_SNAPSHOTS" in os.environ
LINE_CHARACTERS = 160  # JSON that is no longer stands on one line
# What every client sends; User-Agent has tests of its own.
USUAL_HEADERS = {"connection", "content-length", "host", "user-agent"}
MOST_CHARACTERS = 10_000  # of a document, unless the line says otherwise
# Words of lines that have no second spelling: JSON drops empty texts, the others change the output.
SINGULAR = {"", "--", "--format", "--jsonl"}
# Words that a line has for `key`, alone or behind a scheme.
USUAL_KEY = r"(?:Bearer )?[a-z]+"
BROKEN = 10  # broken copies of each recorded answer
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
# Dates that the fake server counts back from today, for its pages are so many days old. Those of
# recorded answers and those that a line names stay.
DATES = re.compile(
    r"(?:[A-Z][a-z]+day, )?\d{4}-\d\d-\d\d"
    r"(?:[T ]\d\d(?::|%3A)\d\d(?:(?::|%3A)\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?"
    r"|\b1[78]\d{8}\b|\b20\d{10}\b|(?<=\"date\": \")\d{4}(?:-\d\d)?(?=\")"
    r"|(?<=\"year\": )\d{4}|(?<= - )20\d\d(?= - )"
    rf"|(?:[A-Z][a-z]+day, )?(?:\d{{1,2}} {MONTH},?|{MONTH} \d{{1,2}},) \d{{4}}"
)
# The fake Google's redirect links are numbered as they are made: what they lead to is shown.
LINKS = re.compile(rf"{TOKEN_START}([\w-]+=*)")
# The fake Brave makes it of the key that asks, which is another one in each run.
HASHES = re.compile(r"(?<=results_hash\\\": \\\")[0-9a-f]{64}")
# Three engines or more, perhaps with what configures them: one more engine changes no snapshot.
ENGINE = rf"(?:{'|'.join(ENGINES)})\b(?: \([A-Z_]+\))?"
ENGINE_LIST = re.compile(rf"\b{ENGINE}(?:(?:, | or ){ENGINE})" + "{2,}")
# The fence around a page's text carries a mark that the page cannot guess.
MARKS = re.compile(r"(?<=page text )[0-9a-f]{8}|(?<=end of )[0-9a-f]{8}(?=\])")


class Row(NamedTuple):
    """A line of a table: the command-line words, and the settings before them."""

    line: str
    words: list[str]
    settings: dict[str, str]


def read_table(folder: Path) -> dict[str, list[Row]]:
    """The rows of a table by the name of their snapshot file."""
    table: dict[str, list[Row]] = {}
    rows: list[Row] = []
    for line in (folder / "commands.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            rows = table.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("# "):
            words = shlex.split(line.replace("{files}", str(folder)))
            before = [*itertools.takewhile(re.compile(r"(key|answer|as|[A-Z_]+)=").match, words)]
            settings = dict(word.split("=", 1) for word in before)
            rows.append(Row(line, words[len(before) :], settings))
    return table


def layout(value: Any, indent: int = 0) -> str:
    """JSON with one line per member, unless all of it fits on one line."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, (dict, list)) or len(text) + indent <= LINE_CHARACTERS:
        return text
    begin, end = "{}" if isinstance(value, dict) else "[]"
    space = " " * (indent + 1)
    members = (
        [f"{json.dumps(name)}: {layout(one, indent + 1)}" for name, one in value.items()]
        if isinstance(value, dict)
        else [layout(one, indent + 1) for one in value]
    )
    return f"{begin}\n{space}" + f",\n{space}".join(members) + f"\n{' ' * indent}{end}"


def shown_key(value: str) -> str:
    """A header's value: "the key" for the usual key, another key by its name."""
    own = value.replace(f"-{CANARY}", "")
    return "the key" if CANARY in value and re.fullmatch(USUAL_KEY, own) else own


class WireCase(FakeServerCase):
    """A table of one script. A subclass names the script and the folder of its snapshots.

    modules: those that hold the script's main, its COMMANDS, and what reads a command line.
    waiting: those whose waits take no time here.
    """

    modules: ClassVar[tuple[str, ...]]
    waiting: ClassVar[tuple[str, ...]]
    folder: ClassVar[str]
    script: ClassVar[ModuleType]
    code: ClassVar[SimpleNamespace]  # the names of all modules
    table: ClassVar[dict[str, list[Row]]]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        loaded = [load_script(name) for name in cls.modules]
        cls.script = loaded[0]
        cls.code = SimpleNamespace(**dict(ChainMap(*map(vars, loaded))))
        cls.table = read_table(SNAPSHOTS / cls.folder)
        answers = SNAPSHOTS / cls.folder / "recorded.json"
        cls.answers: dict[str, Any] = json.loads(answers.read_text("utf-8"))

    def recorded(self, row: Row) -> list[dict[str, Any]]:
        """A line's recorded responses; empty if the fake server answers itself."""
        found = self.answers[row.settings["answer"]] if "answer" in row.settings else []
        return found if isinstance(found, list) else [found]

    def run_row(self, row: Row, *more: str) -> Run:
        """Run a line and more words; the server's record then contains its requests."""
        self.server.clear()
        settings = dict(row.settings)
        settings.pop("answer", "")
        self.server.answers[:] = [reply_of(one) for one in self.recorded(row)]
        settings.pop("as", "")
        key = settings.pop("key", "good")
        usual = self.environment_of(self.server.url, f"{key}-{CANARY}")
        for name, value in settings.items():  # a key of the table's own
            if name.endswith(("_KEY", "_TOKEN")) and value:
                settings[name] = f"{value}-{CANARY}"
        self.set_environment(**{**usual, **settings})
        with skipped_waits(*self.waiting):
            run = call_main(self.script, *row.words, *more)
        self.assertNotIn(CANARY, run.stdout.decode() + run.stderr, row.line)
        return run

    def record(self, row: Row) -> dict[str, Any]:
        """The requests, exit code and output of one line."""
        run = self.run_row(row)
        shown = run.document
        if shown is None:
            shown = run.stdout.decode().splitlines()
        elif "as" in row.settings:
            shown = self.code.as_results(shown)
        if run.code == 0 and "--max-chars" not in row.line and "--jsonl" not in row.line:
            self.assertLess(len(run.stdout.decode()), MOST_CHARACTERS, row.line)
        # Redirect links are asked at once, in any order: by path, behind the search.
        heads = [one for one in self.server.requests if one.method == "HEAD"]
        requests = [one for one in self.server.requests if one not in heads]
        requests += sorted(heads, key=lambda one: one.path)
        record = {
            "exit": run.code,
            "sent": [self.sent(request) for request in requests],
            "stderr": run.stderr.splitlines(),
            "document": shown,
        }
        if self.server.other_requests:
            self.fail(f"{row.line}: a request went to another server")
        return {
            name: self.steady(row, part, dates=name == "document" and "answer" in row.settings)
            for name, part in record.items()
            if part or name in ("exit", "document")
        }

    def steady(self, row: Row, value: Any, dates: bool = False) -> Any:
        """JSON data without parts that vary between runs; dates: whether its dates are fixed."""
        text = json.dumps(value)
        host = self.server.url.removeprefix("http://")
        text = text.replace(host, "api").replace(os.environ["HOME"], "HOME")
        text = ENGINE_LIST.sub("ENGINES", HASHES.sub("HASH", text))
        text = MARKS.sub("MARK", text.replace(str(SNAPSHOTS), "SNAPSHOTS"))
        if not dates:
            text = LINKS.sub(lambda link: json.loads(b64decode(link[1], "-_"))[1], text)
            text = DATES.sub(lambda date: undated(date[0], row.line), text)
        return json.loads(text)

    def sent(self, request: RecordedRequest) -> dict[str, Any]:
        """A request without the headers of every client; the key only by its header's name."""
        headers = {
            name.lower(): shown_key(value)
            for name, value in request.headers
            if name.lower() not in USUAL_HEADERS
        }
        found: dict[str, Any] = {request.method: request.path}
        self.assertNotIn(CANARY, request.target + request.body.decode())
        if request.query:
            found["query"] = {
                name: values[0] if len(values) == 1 else values
                for name, values in request.query.items()
            }
        if request.body:
            is_json = headers.get("content-type") == JSON_TYPE
            found["body"] = request.json() if is_json else request.body.decode()
            if is_json:
                del headers["content-type"]  # the body's form says it
        return {**found, "headers": headers}

    def test_every_line_matches_its_snapshot(self) -> None:
        for name, rows in self.table.items():
            records = {row.line: self.record(row) for row in rows}
            self.assertEqual(len(records), len(rows), f"a line stands twice in [{name}]")
            path = SNAPSHOTS / self.folder / f"{name}.json"
            text = layout(without_repetition(records)) + "\n"
            if WRITE:
                path.write_text(text, "utf-8")
            known = path.read_text("utf-8") if path.exists() else ""
            with self.subTest(snapshot=name):
                changes = difflib.unified_diff(
                    known.splitlines(), text.splitlines(), path.name, "now", lineterm="", n=8
                )
                self.assertEqual(known, text, "\n" + "\n".join(itertools.islice(changes, 60)))

    def test_no_snapshot_is_left_over(self) -> None:
        found = {path.stem for path in (SNAPSHOTS / self.folder).glob("*.json")} - {"recorded"}
        self.assertEqual(found, set(self.table))
        used = {row.settings["answer"] for _, row in self.rows() if "answer" in row.settings}
        self.assertEqual(used, set(self.answers))

    def test_every_parameter_works_alike_in_every_spelling(
        self,
    ) -> None:
        """As a flag, under each alias and in JSON: one request."""
        seen: set[tuple[str, str]] = set()
        for command, row in self.rows():
            params = self.parsed(command, row)
            plain = self.run_row(row, "--dry-run")
            if params is None or plain.code != 0 or SINGULAR & {*row.words}:
                continue
            new = {name for name in params if (command, name) not in seen}
            seen |= {(command, name) for name in new}
            with self.subTest(row.line):
                for words in self.other_spellings(command, params, new):
                    run = self.run_row(row._replace(words=[command, *words]), "--dry-run")
                    same = self.steady(row, [run.document, plain.document])
                    self.assertEqual(*same, words)
        wanted = {
            (command, parameter["name"])
            for command, spec in self.code.COMMANDS.items()
            for parameter in spec["params"]
        }
        missing = wanted - seen
        self.assertEqual(missing, set())

    def test_good_answers_with_broken_places_become_documents(self) -> None:
        chance = random.Random(20_260_401)
        as_results = getattr(self.code, "as_results", lambda _: [])  # Gemini's has none
        for _, row in self.rows():
            whole = self.recorded(row)
            if not whole or "status" in whole[0] or not isinstance(whole[0]["body"], (dict, list)):
                continue
            for body in mutations(whole[0]["body"], chance, BROKEN):
                with self.subTest(row.line, body=body):
                    name = row.settings["answer"]
                    with mock.patch.dict(self.answers, {name: [{**whole[0], "body": body}]}):
                        run = self.run_row(row)
                    self.assertNotIn(run.code, (2, 70), run.stdout)
                    if run.document is not None:
                        self.assertIsInstance(self.code.to_markdown(run.document), str)
                        self.assertIsInstance(as_results(run.document), list)

    def rows(self) -> list[tuple[str, Row]]:
        """Every row with the name of its command."""
        commands = self.code.COMMANDS
        rows = [row for rows in self.table.values() for row in rows]
        return [(self.code.find_command(commands, row.words)[0], row) for row in rows]

    def parsed(self, command: str, row: Row) -> dict[str, Any] | None:
        """A line's parameters; None if it is refused or if they are in JSON."""
        is_named = row.words[:1] == [command]
        script = {"name": self.modules[0], "description": "", "commands": self.code.COMMANDS}
        try:
            words = row.words[is_named:]
            options = {"spec": script["commands"][command]}
            found = self.code.parse_arguments(script, command, words, is_named, options)
        except self.code.SearchError:
            return None
        return None if "--params-json" in row.words else found

    def other_spellings(
        self, command: str, params: dict[str, Any], names: set[str]
    ) -> list[list[str]]:
        """The same parameters in other forms: all in JSON, these names in each spelling."""
        spellings = [["--params-json", json.dumps(params)]]
        table = {one["name"]: one for one in self.code.COMMANDS[command]["params"]}
        for name in names & table.keys():
            others = {other: value for other, value in params.items() if other != name}
            for alias in [name, *table[name].get("aliases", ()), *table[name].get("flags", ())]:
                words = flag_words(alias, params[name])
                spellings.append(["--params-json", json.dumps(others), *words])
        return spellings


def undated(date: str, line: str) -> str:
    """A date's replacement in a snapshot: the date in the line, else a word or 0."""
    return date if date in line else "0" if date.isdecimal() else "DATE"


def flag_words(name: str, value: Any) -> list[str]:
    """A parameter as words of a command line."""
    flag = name if name.startswith("-") else "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [flag if value else flag.replace("--", "--no-", 1)]
    items = value if isinstance(value, list) else [value]
    joined = ([f"{flag}={item}"] if "--" in flag else [flag, str(item)] for item in items)
    return [word for words in joined for word in words]


def reply_of(recorded: dict[str, Any]) -> Reply:
    """A recorded response: status, headers and body, which is text or becomes JSON."""
    body = recorded["body"]
    data = body if isinstance(body, str) else json.dumps(body)
    headers = tuple(recorded.get("headers", {}).items())
    kind = recorded.get("type", JSON_TYPE)
    return Reply(recorded.get("status", 200), data.encode(), kind, headers)


def without_repetition(records: dict[str, Any]) -> dict[str, Any]:
    """The records of a file: what all requests share at its head, nothing long twice.

    Shared are headers, and long members of JSON bodies; documents and their members stand once.
    """
    requests = [sent for one in records.values() for sent in one.get("sent", [])]
    shared: dict[str, Any] = {}
    for place in ("headers", "body"):
        parts = [sent[place] for sent in requests if isinstance(sent.get(place), dict)]
        common = {
            name: value
            for name, value in (parts[0] if parts else {}).items()
            if all(part.get(name) == value for part in parts)
            and (place == "headers" or len(json.dumps(value)) > LINE_CHARACTERS)
        }
        for part in parts:
            for name in common:
                del part[name]
        shared |= {f"{place} of every request": common} if common else {}
    for sent in requests:
        if not sent["headers"]:
            del sent["headers"]
    first: dict[str, str] = {}
    for line, one in records.items():
        place_once(one, "document", line, first)
        if isinstance(one["document"], dict):
            for name in one["document"]:
                place_once(one["document"], name, line, first)
    return {**shared, **records}


def place_once(holder: dict[str, Any], name: str, line: str, first: dict[str, str]) -> None:
    """Write a long value in full in the first line that has it; later lines refer to that line."""
    value = json.dumps({name: holder[name]})
    known = first.setdefault(value, line)
    if known != line and len(value) > LINE_CHARACTERS:
        holder[name] = f"as of: {known}"
