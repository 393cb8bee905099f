"""Lists of any length, from a file or standard input; only the command line reads them."""

from __future__ import annotations

import os
import re

from websearch.kit import (
    MAX_INPUT_BYTES,
    PIECE,
    SearchError,
    decode_input,
    file_name,
    queries_in,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

READ_SIZE = 65_536  # bytes of input per read
MAX_LINE = 100_000  # bytes per input line; a longer line is truncated, which makes it invalid


def input_pieces(path: str) -> Iterator[list[str]]:
    """Yield the queries in a file or standard input (- or @-), from lines or a JSON array.

    Each list has up to PIECE lines, all from one read, so no line waits for the next.
    Raises SearchError if the input is unreadable or not UTF-8: for a file before its first line.
    """
    name = path.removeprefix("@")
    hint = "Name a file with one line for each, or - for standard input."
    try:
        if name != "-" and os.path.isfile(file_name(name)):
            check_encoding(path, file_name(name))
        with open(0 if name == "-" else file_name(name), "rb") as file:
            data = file.read1(READ_SIZE).removeprefix(b"\xef\xbb\xbf")
            if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
                data = decode_input(data + file.read(MAX_INPUT_BYTES)).encode()
            if re.match(rb'\s*\[\s*(?:["{]|$)', data):
                data += file.read(MAX_INPUT_BYTES)
                if len(data) > MAX_INPUT_BYTES:
                    message = f"input: {path!r} is a JSON array over {MAX_INPUT_BYTES} bytes."
                    raise SearchError("invalid_input", message, hint)
                queries = queries_in(decode_input(data))
                yield from (queries[at : at + PIECE] for at in range(0, len(queries), PIECE))
                data = b""
            line = b""
            while data:
                *lines, line = (line + data).split(b"\n")
                line = line[:MAX_LINE]
                queries = queries_in("\n".join(map(decode_line, lines)))
                yield from (queries[at : at + PIECE] for at in range(0, len(queries), PIECE))
                data = file.read1(READ_SIZE)
            yield queries_in(decode_line(line))
    except UnicodeDecodeError as error:
        raise wrong_encoding(path, error.object) from None
    except (OSError, ValueError) as error:  # ValueError: a path contains NUL
        message = f"The list {path!r} could not be read: {getattr(error, 'strerror', error)}."
        raise SearchError("invalid_input", message, hint) from None


def decode_line(line: bytes) -> str:
    """Return a line as text, cut to MAX_LINE bytes; uncut lines may raise UnicodeDecodeError."""
    return line[:MAX_LINE].decode("utf-8", "strict" if len(line) < MAX_LINE else "replace")


def check_encoding(path: str, name: bytes) -> None:
    """Raise SearchError for a file that is not UTF-8; accept a file with a UTF-16 BOM."""
    from codecs import getincrementaldecoder

    decoder = getincrementaldecoder("utf-8")()
    with open(name, "rb") as file:
        data = file.read(READ_SIZE)
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return
        while True:
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError:
                raise wrong_encoding(path, data) from None
            if "\0" in text:
                raise wrong_encoding(path, b"")
            if not data:
                return
            data = file.read(READ_SIZE)


def wrong_encoding(path: str, data: bytes) -> SearchError:
    """Return the error for a list that is not UTF-8, with its encoding if one is likely."""
    from websearch.pages.fetch.charsets import likely_codec

    codec = likely_codec(data, "") if data else ""
    likely = f" It is probably in {codec}." if codec else ""
    message = f"input: {path!r} is not UTF-8 text.{likely}"
    hint = f"Convert it, for example: iconv -f {codec or 'cp1252'} -t UTF-8 FILE."
    return SearchError("invalid_input", message, hint)


def input_lines(path: str) -> Iterator[str]:
    """Yield the lines of input_pieces one by one; raises SearchError."""
    for piece in input_pieces(path):
        yield from piece
