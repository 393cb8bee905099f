"""Batches: queries from a file or standard input, and their documents as JSON Lines.

gemini_search.py and serper_search.py carry a copy of the block; see common.py.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import sys

from websearch.command_line import Stopped, file_name, read_argument, write_stdout
from websearch.common import EXIT_CODES, MAX_INPUT_BYTES, SearchError, dump_json, object_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from websearch.common import Document, Fields, ProgressCallback

# ===== shared block: batch (edit websearch/batch.py, then run `make sync`) ========================


def read_queries(params: Fields, hint: str) -> Fields:
    """Return the parameters of a batch with the queries of its input file added to "queries".

    The file holds a query or a JSON object a line, or one JSON array of them. Only the command line
    calls this: a server must not read files for its clients. Raises SearchError (invalid_input)
    with the hint.
    """
    if "input" not in params:
        return params
    path = str(params.pop("input"))
    try:
        text = read_argument(path if path.startswith("@") else f"@{path}", "input")
    except SearchError as error:
        error.details["hint"] = hint
        raise
    queries = queries_in(text)
    if not queries:
        raise SearchError("invalid_input", f"input: {path!r} holds no query.", hint)
    own = params.get("queries", [])
    return {**params, "queries": [*(own if isinstance(own, list) else [own]), *queries]}


def queries_in(text: str) -> list[str]:
    """Return the queries of a JSON array, or else of lines; objects as JSON text."""
    items: Any = None
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except (ValueError, RecursionError):  # lines that begin with a bracket
            items = None
    if not isinstance(items, list):
        items = [line.strip() for line in text.splitlines() if line.strip()]
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


def wants_lines(options: Fields) -> bool:
    """Return whether the output options ask for JSON Lines: each of these three does."""
    return any(options.get(name) for name in ("jsonl", "ordered", "skip_done"))


def run_with_input(
    run: Callable[..., Document],
    hint: str,
    params: Fields,
    report: ProgressCallback,
    options: Fields,
) -> Document:
    """Run a batch for the command line: run is its run_batch, hint as for read_queries.

    With JSON Lines, which name their input, the queries are read and answered in pieces, so memory
    is bounded. Once the key is refused or the quota is used up, no more are asked. Returns ok, or
    the first error if nothing worked. Raises SearchError for an input that cannot be read.
    """
    if not wants_lines(options) or not {"input", "queries"} & params.keys():
        return run(read_queries(params, hint), report)
    done = done_inputs(options, "input")
    writer = LineWriter(options)
    start = 0

    def emit(number: int, document: Document) -> None:
        writer.emit(start + number, {"input": queries[number], **document})

    for piece in query_pieces(params):
        queries = [query for query in piece if hash(query) not in done]
        others = {name: value for name, value in params.items() if name != "input"}
        document = run({**others, "queries": queries}, report, emit) if queries else {"results": []}
        if "results" not in document:  # a dry run, or an error of the whole batch
            return document
        start += len(queries)
        if not document.get("ok", True) and EXIT_CODES[document["details"]["kind"]] in (3, 4):
            break
    return writer.outcome


class LineWriter:
    """Prints the documents of a batch as JSON Lines, in the order of their numbers if ordered.

    outcome: ok if one of them is, else the first error.
    """

    def __init__(self, options: Fields) -> None:
        self.options, self.ordered = options, bool(options.get("ordered"))
        self.held: dict[int, Document] = {}
        self.printed = 0
        self.outcome: Document = {"ok": True}
        options["lines"] = []

    def emit(self, number: int, document: Document) -> int:
        """Print a document as soon as it is its turn; return how many were printed."""
        before = self.printed
        self.held[number] = document
        while (turn := self.printed if self.ordered else number) in self.held:
            document = self.held.pop(turn)
            if document["ok"] or not self.printed:
                self.outcome = batch_outcome([document])
            self.printed += 1
            self.print_line(dump_json(document))
        return self.printed - before

    def print_line(self, line: str) -> None:
        """Print a line at once; for --output, keep it until the end."""
        if "output" in self.options:
            self.options["lines"].append(line)
            return
        self.options["lines"] = [line]  # says that there are lines, without keeping all of them
        if not write_stdout(line):
            raise Stopped(0)


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
        message = f"input: {path!r} could not be read: {getattr(error, 'strerror', error)}."
        raise SearchError("invalid_input", message, hint) from None


def done_inputs(options: Fields, field: str) -> set[int]:
    """Return the hashes of the inputs that need not be asked again, by the file of skip_done.

    field: the field of a document that holds its input. An input is done if it has an answer, or
    an error that the same call would meet again; a missing file holds no inputs. A newline is
    printed if standard output is a file that may end in half a line. Raises SearchError.
    """
    done: set[int] = set()
    path = options.get("skip_done", "")
    name = file_name(path)
    line = b""
    try:
        if not os.path.exists(name):
            return done
        with open(name, "rb") as file:
            for line in file:
                try:
                    document = json.loads(line)
                except (ValueError, RecursionError):  # half a line, of a run that was killed
                    continue
                details = object_field(document, "details")
                code = EXIT_CODES.get(str(details.get("kind")))
                settled = code in (1, 2, 5) and not details.get("retryable")
                if isinstance(document, dict) and (document.get("ok") is True or settled):
                    done.add(hash(str(document.get(field))))
            printed = sys.stdout.fileno()
            same = os.path.sameopenfile(file.fileno(), printed)
            if os.fstat(printed).st_size and not (same and line.endswith(b"\n")):
                write_stdout("")
    except OSError as error:
        message = f"skip_done: {path!r} could not be read: {error.strerror}."
        hint = "Name the file that holds the output of the earlier run."
        raise SearchError("invalid_input", message, hint) from None
    return done


# ===== end of shared block: batch =================================================================

# ===== for the package alone ======================================================================


def input_lines(path: str) -> Iterator[str]:
    """Yield what input_pieces reads, one by one; raises SearchError."""
    for piece in input_pieces(path):
        yield from piece
