"""Hints for the clients of a server, who know parameters by other names and have not all of them.

While a server runs, the parameters in hints stay marked, such as {timeout}: the same command
answers MCP tools, the HTTP API and the desk.
"""

from __future__ import annotations

import re

from websearch import common

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from websearch.common import Document

HINT_FIELDS = ("hint", "warnings")  # whose texts are the program's own


def keep_marks() -> None:
    """Leave parameters in hints marked, in this process from now on."""
    common.SPELLING["parameter"] = "{{{}}}".format


def spell_hints(document: Document, names: Mapping[str, str]) -> Document:
    """Return a document whose hints name the parameters that its client can give.

    names: parameter -> what the client calls it. A sentence that names another one is left out.
    """
    return {
        field: spelled(value, names) if field in HINT_FIELDS else walked(value, names)
        for field, value in document.items()
    }


def walked(value: Any, names: Mapping[str, str]) -> Any:
    """Return what a document holds, as spell_hints does."""
    if isinstance(value, list):
        return [walked(item, names) for item in value]
    return spell_hints(value, names) if isinstance(value, dict) else value


def spelled(value: Any, names: Mapping[str, str]) -> Any:
    """Return a hint, or a list of them, for a client; anything else as it is."""
    if isinstance(value, list):
        return [text for item in value if (text := spelled(item, names))]
    if not isinstance(value, str):
        return walked(value, names)
    mark = r"\{([a-z_]+)\}"
    sentences = [
        sentence
        for sentence in re.split(r"(?<=\.) ", value)
        if all(name in names for name in re.findall(mark, sentence))
    ]
    text = re.sub(r"^Or (\w)", lambda first: first[1].upper(), " ".join(sentences))
    return re.sub(mark, lambda found: names[found[1]], text)
