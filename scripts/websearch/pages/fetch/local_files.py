"""Read files on this machine instead of pages; only the command line may do this."""

from __future__ import annotations

import os
import re

from websearch.kit import SearchError, quoted
from websearch.pages.fetch.fetch import MAX_PAGE_BYTES, Fetched, fetched_bytes, is_file
from websearch.pages.pdf.limits import MAX_FILE_BYTES

# Start of a path; without such a start, paper.pdf is a host's name unless the file exists.
_LOCAL = r"(?i)\s*(?:file:|\.{0,2}[/\\]|~|[a-z]:[/\\])"


def is_local(text: str) -> bool:
    """Return whether a text is a path, a file: URL, or the name of a file that exists."""
    return bool(re.match(_LOCAL, text)) or ("://" not in text and os.path.isfile(text))


def local_url(text: str) -> str:
    """Return the file: URL for a path or file: URL; raises SearchError (invalid_input)."""
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    path = os.path.expanduser(text.strip())
    if path.lower().startswith("file:"):
        try:
            parts = urlsplit(path)
        except ValueError:  # a misplaced bracket
            parts = None
        if not parts or parts.netloc not in ("", "localhost"):
            message = f"{quoted(text, 200)} is not the path of a file on this machine."
            raise SearchError("invalid_input", message, "Pass a path such as ./paper.pdf.")
        path = url2pathname(parts.path)
    return Path(os.path.abspath(path)).as_uri()  # pathname2url differs between Python versions


def read_local_file(url: str) -> Fetched:
    """Return a file as if a server had sent it; raises SearchError (invalid_input)."""
    from urllib.request import url2pathname

    path = url2pathname(url.removeprefix("file://"))
    hint = "Pass the path of a readable file, such as ./paper.pdf."
    if not os.path.isfile(path):  # a pipe or device could block forever
        raise SearchError("invalid_input", f"{quoted(path, 200)} is not a file.", hint)
    try:
        with open(path, "rb") as file:
            body = file.read(MAX_PAGE_BYTES + 1)
            if is_file(body):
                body += file.read(MAX_FILE_BYTES + 1 - len(body))
    except OSError as error:
        message = f"{quoted(path, 200)} cannot be read: {error.strerror}."
        raise SearchError("invalid_input", message, hint) from None
    return fetched_bytes(url, body)
