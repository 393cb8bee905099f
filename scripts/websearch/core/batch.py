"""Batches: queries from a file or standard input, and their documents as JSON Lines.

gemini_search.py and serper_search.py carry a copy of the block; see common.py.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys

from websearch.core.command_line import (
    Stopped,
    cannot_write,
    check_is_text,
    file_name,
    write_stdout,
)
from websearch.core.common import (
    EXIT_CODES,
    SearchError,
    dump_json,
    error_document,
    object_field,
    spell_hints,
)
from websearch.core.parameters import MAX_INPUT_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.core.common import Document, Fields, ProgressCallback

# ===== shared block: batch (edit websearch/core/batch.py, then run `make sync`) ===================


def read_queries(params: Fields, hint: str) -> Fields:
    """Return the parameters of a batch with the queries of its input file added to "queries".

    The file holds a query or a JSON object a line, or one JSON array of them. Only the command line
    calls this: a server must not read files for its clients. Raises SearchError (invalid_input)
    with the hint.
    """
    if "input" not in params:
        return params
    try:
        queries = [query for piece in query_pieces(params) for query in piece]
    except SearchError as error:
        error.details["hint"] = hint
        raise
    if not queries:
        raise SearchError("invalid_input", f"input: {params['input']!r} holds no query.", hint)
    return {name: value for name, value in params.items() if name != "input"} | {"queries": queries}


def queries_in(text: str) -> list[str]:
    """Return the queries of a JSON array, or else of lines; objects as JSON text.

    Blank lines and those that begin with # are left out.
    """
    items: Any = None
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):  # lines that begin with a bracket
            items = None
    if not isinstance(items, list):
        lines = map(str.strip, text.splitlines())
        items = [line for line in lines if line and not line.startswith("#")]
    return [item if isinstance(item, str) else dump_json(item) for item in items]


def refuse_input(params: Fields) -> None:
    """Raise SearchError (invalid_input) if a batch that is not the command line's names a file."""
    if "input" in params:
        message = "input is read on the command line only."
        raise SearchError("invalid_input", message, "Give the queries themselves: queries.")


def batch_outcome(results: list[Document]) -> Document:
    """Return ok of a batch: true if one query worked, else with the first one's error."""
    if any(result["ok"] for result in results):
        return {"ok": True}
    return {"ok": False, "error": results[0]["error"], "details": results[0]["details"]}


# ----- batches without end, as JSON Lines

STREAM_PIECE = 100  # queries that are answered together
READ_SIZE = 65_536  # bytes of input that are read at a time
MAX_LINE = 100_000  # bytes of a line of input; a longer one is cut, which makes it a bad one
# Errors that the same line would meet again; a page that is gone (404, 410) is one, too.
SETTLED = ("no_results", "invalid_input", "refused", "unsupported")
NOTHING_LEFT = (
    "Nothing is left to do: every line has an answer, or an error that would come again; remove "
    "the documents of those from the file to try them.\n"
)
COSTS = ("credits", "billed_queries", "billed")  # fields that say what a document has cost


def wants_lines(options: Fields) -> bool:
    """Return whether the output options ask for JSON Lines: each of these three does."""
    return any(options.get(name) for name in ("jsonl", "ordered", "skip_done"))


def run_with_input(
    run: Callable[..., Document],
    hint: str,
    params: Fields,
    report: ProgressCallback,
    options: Fields,
) -> Document | int:
    """Run a batch for the command line: run is its run_batch, hint as for read_queries.

    With JSON Lines, which name their input, the queries are read and answered in pieces, so memory
    is bounded. Once the key is refused or the quota is used up, no more are asked. Returns the exit
    code, or the document of what is no JSON Lines. Raises SearchError for a bad input or output.
    """
    if not wants_lines(options) or not {"input", "queries"} & params.keys():
        return run(read_queries(params, hint), report)
    others = {name: value for name, value in params.items() if name != "input"}
    start = 0
    with LineWriter(options, "input") as writer:

        def emit(number: int, document: Document) -> None:
            writer.emit(start + number, {"input": queries[number], **document})

        for piece in query_pieces(params):
            queries = [query for query in piece if not writer.is_done(query)]
            if not queries:
                continue
            document = run({**others, "queries": queries}, report, emit)
            if "results" not in document:  # a dry run, or an error of the whole batch
                return document
            start += len(queries)
            code = 0 if document.get("ok", True) else EXIT_CODES[document["details"]["kind"]]
            if code in (3, 4) or writer.failure:
                break
        return writer.finish()


class LineWriter:
    """Prints the documents of a run as JSON Lines: to stdout, or to the file of --output.

    options: those of the command line. field: the field of a document that holds its input. done:
    the hashes of the inputs that the files of --skip-done hold, and the one that is appended to.
    skipped: how many inputs of this run are among them.

    Each line is written at once, so that a run that is killed loses none. The file of --output is
    appended to if it is new or --skip-done is given; half a last line is removed first. Another
    file is replaced at the end, if a line is an answer. No two runs write one file. A line that
    cannot be written goes to stdout, and failure says why. A context manager, which finish() ends.
    Raises SearchError (invalid_input).
    """

    def __init__(self, options: Fields, field: str) -> None:
        if options.get("format") == "markdown" or options.get("pretty"):
            hint = "Leave {format} and {pretty} out."
            raise SearchError("invalid_input", "JSON Lines are compact JSON.", hint)
        self.names, self.ordered = options["names"], bool(options.get("ordered"))
        self.path = options.get("output", "")
        self.target = os.path.realpath(file_name(self.path))
        self.held: dict[int, Document] = {}
        self.printed = self.answered = self.skipped = self.bytes = 0
        self.costs: Fields = {}
        self.first_error: Document = {}
        self.failure: SearchError | None = None
        self.locked: Any = None  # the file of --output
        self.file: Any = None  # what is written to: that file, or the part that will replace it
        self.part = b""
        paths = dict.fromkeys(options.get("skip_done") or [])
        if self.path:
            self.open_output(bool(paths))
            paths |= {self.path: None} if paths else {}
        for path in filter(is_stdout, paths):
            try:
                lock(sys.stdout, path)
            except SearchError as error:
                sys.stderr.write(f"{error.message}\n")  # that file is no place for a document
                raise SystemExit(EXIT_CODES[error.kind]) from None
            mend(file_name(path))
        self.done = {done for path in paths for done in done_inputs(path, field)}

    def open_output(self, is_resumed: bool) -> None:
        """Open and lock the file of --output; raises SearchError."""
        import tempfile

        replaces = os.path.isfile(self.target) and os.path.getsize(self.target) and not is_resumed
        try:
            self.locked = open(self.target, "rb" if replaces else "ab", buffering=0)  # noqa: SIM115
            lock(self.locked, self.path)
            self.file = self.locked
            if replaces:
                descriptor, self.part = tempfile.mkstemp(dir=os.path.dirname(self.target))
                os.chmod(self.part, os.stat(self.target).st_mode & 0o7777)
                self.file = open(descriptor, "wb", buffering=0)  # noqa: SIM115
            elif os.path.isfile(self.target):
                mend(self.target)
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def __enter__(self) -> LineWriter:
        return self

    def __exit__(self, *_: object) -> None:
        for number in sorted(self.held):  # a signal came before their turn
            self.print_line(dump_json(self.held.pop(number)))
        self.close()

    def close(self) -> None:
        """Close the file of --output; one that existed is replaced if a line is an answer."""
        for file in filter(None, (self.file, self.locked)):
            file.close()
        if self.part and self.answered and not self.failure:
            os.replace(self.part, self.target)
        elif self.part:
            os.unlink(self.part)
        self.file, self.part = None, b""

    def is_done(self, line: str) -> bool:
        """Return whether an earlier run has settled an input, and count those that it has."""
        is_done = hash(line) in self.done
        self.skipped += is_done
        return is_done

    def emit(self, number: int, document: Document) -> None:
        """Print a document as soon as it is its turn."""
        self.held[number] = document
        while (turn := self.printed if self.ordered else number) in self.held:
            document = spell_hints(self.held.pop(turn), self.names)
            self.printed += 1
            self.answered += document["ok"]
            if not document["ok"]:
                self.first_error = self.first_error or document
            self.add_costs(document)
            self.print_line(dump_json(document))

    def add_costs(self, document: Document) -> None:
        """Add what a document has cost: numbers, or engine -> number."""
        for name in COSTS:
            cost = document.get(name) or object_field(document, "details").get(name)
            if isinstance(cost, dict):
                known = self.costs.setdefault(name, {})
                known.update({key: known.get(key, 0) + number for key, number in cost.items()})
            elif cost:
                self.costs[name] = self.costs.get(name, 0) + cost

    def print_line(self, line: str) -> None:
        """Write a line; raises Stopped if nobody reads stdout any more."""
        if self.file and not self.failure:
            size, data = (
                os.fstat(self.file.fileno()).st_size,
                f"{line}\n".encode("utf-8", "replace"),
            )
            try:
                written = 0
                while written < len(data):
                    written += self.file.write(data[written:])
                self.bytes += len(data)
            except OSError as error:
                self.failure = cannot_write(self.path, error)
                if os.path.isfile(self.target):
                    self.file.truncate(size)
                if self.part:  # it replaces nothing now
                    with open(self.part, encoding="utf-8") as part:
                        line = "".join([*part, line])
        if (self.failure or not self.file) and not write_stdout(line):
            raise Stopped(0)

    def finish(self) -> int:
        """Print the receipt of --output; return the exit code."""
        is_left = bool(self.part) and not self.answered
        self.close()
        document: Document = {"ok": True}
        if self.failure:
            document = spell_hints(error_document(self.failure), self.names)
        elif self.printed and not self.answered:
            document = {name: self.first_error[name] for name in ("ok", "error", "details")}
        if not self.printed and self.skipped:
            sys.stderr.write(NOTHING_LEFT)
        if self.path:
            receipt: Fields = {
                **document,
                "output": self.path,
                "bytes": self.bytes,
                "answered": self.answered,
                "failed": self.printed - self.answered,
                "skipped": self.skipped,
                **self.costs,
            }
            if is_left:
                receipt["warnings"] = ["The file was left as it was: no line is an answer."]
            write_stdout(dump_json(receipt))
        return 0 if document["ok"] else EXIT_CODES[document["details"]["kind"]]


def is_stdout(path: str) -> bool:
    """Return whether standard output is the file at a path."""
    try:
        return os.path.samestat(os.stat(file_name(path)), os.fstat(1))
    except OSError:
        return False


def lock(file: Any, path: str) -> None:
    """Lock a file until it is closed; raises SearchError if another run writes it."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        message = f"{path!r} is written by another run."
        raise SearchError("invalid_input", message, "Wait until it has ended.") from None
    except (ImportError, OSError):  # Windows, or a file system without locks
        return


def mend(name: bytes) -> None:
    """Complete the last line of a file; remove it if it is half of one. Raises OSError."""
    size, line = 0, b"\n"
    with open(name, "rb") as file:
        for line in file:
            size += len(line)
    if line.endswith(b"\n"):
        return
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        if line.startswith(b"{"):
            os.truncate(name, size - len(line))
            return
    with open(name, "ab") as file:
        file.write(b"\n")


def done_inputs(path: str, field: str) -> Iterator[int]:
    """Yield the hashes of the inputs that need not be asked again, by a file of documents.

    field: the field of a document that holds its input. An input is done if it has an answer, or
    an error that it would meet again; a missing file holds none. Raises SearchError.
    """
    try:
        with open(file_name(path), "rb") as file:
            for line in file:
                try:
                    document = json.loads(line)
                except (ValueError, RecursionError):  # half a line, of a run that was killed
                    continue
                details = object_field(document, "details")
                is_gone = details.get("kind") == "http" and details.get("status") in (404, 410)
                if (
                    isinstance(document, dict)
                    and field in document
                    and (document.get("ok") is True or is_gone or details.get("kind") in SETTLED)
                ):
                    yield hash(str(document[field]))
    except FileNotFoundError:
        return
    except OSError as error:
        message = f"skip_done: {path!r} could not be read: {error.strerror}."
        hint = "Name the file that holds the output of the earlier run."
        raise SearchError("invalid_input", message, hint) from None


def query_pieces(params: Fields) -> Iterator[list[str]]:
    """Yield the queries of a batch and of its input in lists of up to STREAM_PIECE, as they come.

    Raises SearchError if the input cannot be read.
    """
    queries = params.get("queries", [])
    queries = queries if isinstance(queries, list) else [queries]
    texts = [query if isinstance(query, str) else dump_json(query) for query in queries]
    read = input_pieces(str(params["input"])) if "input" in params else ()
    for piece in itertools.chain([texts], read):
        for start in range(0, len(piece), STREAM_PIECE):
            yield piece[start : start + STREAM_PIECE]


def input_pieces(path: str) -> Iterator[list[str]]:
    """Yield the queries of a file, or of standard input (- or @-): its lines, or a JSON array.

    Each list holds the lines that one read completes, so that none waits for the next one. Raises
    SearchError if the file cannot be read.
    """
    name = path.removeprefix("@")
    hint = "Name a file with a line for each, or - for standard input."
    try:
        with open(0 if name == "-" else file_name(name), "rb") as file:
            data = file.read1(READ_SIZE).removeprefix(b"\xef\xbb\xbf")
            check_is_text(data, "input", path)
            if re.match(rb'\s*\[\s*(?:["{]|$)', data):
                data += file.read(MAX_INPUT_BYTES)
                if len(data) > MAX_INPUT_BYTES:
                    message = f"input: {path!r} is a JSON array over {MAX_INPUT_BYTES} bytes."
                    raise SearchError("invalid_input", message, hint)
                yield queries_in(data.decode("utf-8", "replace"))
                data = b""
            line = b""
            while data:
                *lines, line = (line + data).split(b"\n")
                line = line[:MAX_LINE]
                text = b"\n".join(whole[:MAX_LINE] for whole in lines)
                yield queries_in(text.decode("utf-8", "replace"))
                data = file.read1(READ_SIZE)
            yield queries_in(line.decode("utf-8", "replace"))
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        message = f"The list {path!r} could not be read: {getattr(error, 'strerror', error)}."
        raise SearchError("invalid_input", message, hint) from None


# ===== end of shared block: batch =================================================================

# ===== for the package alone ======================================================================


def input_lines(path: str) -> Iterator[str]:
    """Yield what input_pieces reads, one by one; raises SearchError."""
    for piece in input_pieces(path):
        yield from piece
