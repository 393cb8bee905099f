"""Read the formats in which frameworks put data into the scripts of a page.

They are JSON, the flat list of Nuxt 3, quoted texts in JavaScript and Next.js's React server
payload.
"""

from __future__ import annotations

import json
import re
from html import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_DEPTH = 80  # levels of data, including data in its texts
MAX_VALUES = 100_000  # values to examine
NEXT_PUSH = "self.__next_f.push("
_TAG = r"(?!script|style|template)[a-z][a-z0-9-]{0,30}"


# ===== JSON and JavaScript ========================================================================


def parse_json(text: str) -> Any:
    """Parse JSON; None if the text is not JSON."""
    try:
        return json.loads(text, strict=False, parse_int=short_number)
    except (ValueError, RecursionError):
        return None


def short_number(digits: str) -> int | float:
    """Parse an integer: an int if it is short, else a float, which is fast for a million digits."""
    return int(digits) if len(digits) < 10 else float(digits[:300])


def quoted_texts(script: str, start: int) -> Iterator[str]:
    """Yield the texts in double quotes after start in a script, at most MAX_VALUES."""
    for _ in range(MAX_VALUES):
        start = script.find('"', start)
        end = closing_quote(script, start) if start >= 0 else -1
        if end < 0:
            return
        value = parse_json(script[start : end + 1])
        if isinstance(value, str):
            yield value
        start = end + 1


def closing_quote(script: str, start: int) -> int:
    """Return the index of the quote that closes the quote at start, or -1.

    A quote after an odd number of backslashes is part of the text.
    """
    end = script.find('"', start + 1)
    while end >= 0:
        backslashes = 0
        while script[end - 1 - backslashes] == "\\":
            backslashes += 1
        if backslashes % 2 == 0:
            break
        end = script.find('"', end + 1)
    return end


def is_flat(data: list[Any]) -> bool:
    """Return whether a list is a flattened tree: its containers have indexes into it (devalue)."""
    first = data[0]
    if isinstance(first, list):
        return len(first) == 2 and isinstance(first[0], str) and isinstance(first[1], int)
    return isinstance(first, dict) and all(isinstance(index, int) for index in first.values())


def unflatten(flat: list[Any]) -> Any:
    """Return the tree that a flat list represents; a container appears only once."""
    seen: set[int] = set()

    def value_at(index: object, depth: int) -> Any:
        if not isinstance(index, int) or not 0 <= index < len(flat) or depth > MAX_DEPTH:
            return None
        value = flat[index]
        if not isinstance(value, (dict, list)):
            return value
        if index in seen:
            return None
        seen.add(index)
        if isinstance(value, dict):
            return {name: value_at(inner, depth + 1) for name, inner in value.items()}
        return [value_at(inner, depth + 1) for inner in value if isinstance(inner, int)]

    return value_at(0, 0)


# ===== React server payload =======================================================================


def pushed_text(script: str) -> str:
    """Return the text that a script appends to the payload, or ""."""
    start = script.find(NEXT_PUSH) + len(NEXT_PUSH)
    pushed = parse_json(script[start : script.rfind(")")])
    is_text = isinstance(pushed, list) and len(pushed) == 2 and isinstance(pushed[1], str)
    return str(pushed[1]) if is_text else ""


def payload_rows(texts: list[str]) -> dict[str, Any]:
    """Return the rows of a React server payload by name, as JSON data or text.

    A row is "name:JSON" up to the end of the line, or "name:Tlength,text" with a hexadecimal length
    in bytes. Other rows (modules, hints) are omitted. texts: the parts of the payload.
    """
    payload = "".join(texts).encode("utf-8", "replace")
    long_text = re.compile(rb"T([0-9a-f]{1,8}),")
    rows: dict[str, Any] = {}
    position = 0
    while position < len(payload) and len(rows) < MAX_VALUES:
        colon = payload.find(b":", position, position + 20)
        text = long_text.match(payload, colon + 1) if colon >= 0 else None
        if text:
            end = text.end() + int(text[1], 16)
            name = payload[position:colon].decode("ascii", "replace")
            rows[name] = payload[text.end() : end].decode("utf-8", "replace")
            position = end
            continue
        end = payload.find(b"\n", position)
        end = len(payload) if end < 0 else end
        if colon >= 0 and payload[colon + 1 : colon + 2] in (b"[", b"{", b'"'):
            data = parse_json(payload[colon + 1 : end].decode("utf-8", "replace"))
            if data is not None:
                rows[payload[position:colon].decode("ascii", "replace")] = data
        position = end + 1
    return rows


def rows_as_html(rows: dict[str, Any]) -> str:
    """Return the elements in a React server payload's rows as HTML; each row appears once."""
    writer = HtmlWriter(rows)
    for name, row in rows.items():
        if name not in writer.done and not isinstance(row, str):
            writer.done.add(name)
            writer.write(row, 0)
    return "".join(writer.written)


class HtmlWriter:
    """Writes the elements of React server payloads as HTML; done: names of written rows."""

    def __init__(self, rows: dict[str, Any]) -> None:
        self.rows = rows
        self.written: list[str] = []
        self.done: set[str] = set()
        self.values = MAX_VALUES

    def write(self, value: object, depth: int) -> None:
        """Write a value: a text, a reference to a row, an element or a list of these."""
        self.values -= 1
        if depth > MAX_DEPTH or self.values < 0:
            return
        if isinstance(value, str):
            self.write_text(value, depth)
        elif isinstance(value, list) and len(value) >= 4 and value[0] == "$":
            self.write_element(value[1], value[3], depth)
        elif isinstance(value, list):
            for item in value:
                self.write(item, depth + 1)

    def write_text(self, text: str, depth: int) -> None:
        """Write a text, or the row that it refers to ("$1a", "$L1a")."""
        reference = re.fullmatch(r"\$[L@]?([0-9a-f]{1,8})", text)
        if reference and reference[1] in self.rows:
            if reference[1] not in self.done:
                self.done.add(reference[1])
                self.write(self.rows[reference[1]], depth + 1)
        elif not text.startswith("$"):
            self.written.append(escape(text))

    def write_element(self, tag: object, properties: object, depth: int) -> None:
        """Write an element with its children; for a component ("$L1a"), only the children."""
        if not isinstance(properties, dict) or not isinstance(tag, str):
            return
        is_tag = bool(re.fullmatch(_TAG, tag))
        address, inner = properties.get("href"), properties.get("dangerouslySetInnerHTML")
        link = f' href="{escape(address)}"' if isinstance(address, str) else ""
        if is_tag:
            self.written.append(f"<{tag}{link}>")
            if isinstance(inner, dict) and isinstance(inner.get("__html"), str):
                self.written.append(inner["__html"])
        self.write(properties.get("children"), depth + 1)
        if is_tag:
            self.written.append(f"</{tag}>")
