"""Lists without end, from a file or standard input: only the command line reads them."""

from __future__ import annotations

import re

from websearch.kit import (
    MAX_INPUT_BYTES,
    PIECE,
    SearchError,
    file_name,
    is_binary,
    queries_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_SIZE = 65_536  # bytes of input that are read at a time
MAX_LINE = 100_000  # bytes of a line of input; a longer one is cut, which makes it a bad one


def input_pieces(path: str) -> Iterator[list[str]]:
    """Yield the queries of a file, or of standard input (- or @-): its lines, or a JSON array.

    Each list has up to PIECE of the lines that one read completes: none waits for the next one.
    Raises SearchError if the file cannot be read.
    """
    name = path.removeprefix("@")
    hint = "Name a file with a line for each, or - for standard input."
    try:
        with open(0 if name == "-" else file_name(name), "rb") as file:
            data = file.read1(READ_SIZE).removeprefix(b"\xef\xbb\xbf")
            if is_binary(data):
                raise SearchError("invalid_input", f"input: {path!r} is not UTF-8 text.", hint)
            if re.match(rb'\s*\[\s*(?:["{]|$)', data):
                data += file.read(MAX_INPUT_BYTES)
                if len(data) > MAX_INPUT_BYTES:
                    message = f"input: {path!r} is a JSON array over {MAX_INPUT_BYTES} bytes."
                    raise SearchError("invalid_input", message, hint)
                queries = queries_in(data.decode("utf-8", "replace"))
                yield from (queries[at : at + PIECE] for at in range(0, len(queries), PIECE))
                data = b""
            line = b""
            while data:
                *lines, line = (line + data).split(b"\n")
                line = line[:MAX_LINE]
                text = b"\n".join(whole[:MAX_LINE] for whole in lines)
                queries = queries_in(text.decode("utf-8", "replace"))
                yield from (queries[at : at + PIECE] for at in range(0, len(queries), PIECE))
                data = file.read1(READ_SIZE)
            yield queries_in(line.decode("utf-8", "replace"))
    except (OSError, ValueError) as error:  # ValueError: a path with NUL
        message = f"The list {path!r} could not be read: {getattr(error, 'strerror', error)}."
        raise SearchError("invalid_input", message, hint) from None


def input_lines(path: str) -> Iterator[str]:
    """Yield what input_pieces reads, one by one; raises SearchError."""
    for piece in input_pieces(path):
        yield from piece
