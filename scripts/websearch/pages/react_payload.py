"""React server payloads: the elements of a page, which Next.js sends as data for its scripts."""

from __future__ import annotations

import re
from html import escape

from websearch.pages.page_data import MAX_DEPTH, MAX_VALUES, parse_json

TYPE_CHECKING = False  # typing.TYPE_CHECKING without its import, which costs 5 ms
if TYPE_CHECKING:
    from typing import Any

_TAG = r"(?!script|style|template)[a-z][a-z0-9-]{0,30}"


def payload_rows(texts: list[str]) -> dict[str, Any]:
    """Return the rows of a React server payload by name: JSON data, or text.

    texts: what the scripts of the page push; together they are the payload. A row is "name:JSON" up
    to the end of the line, or "name:Tlength,text" with the length in hexadecimal bytes. Rows of
    other kinds (modules, hints) are left out.
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
    """Return the elements in the rows of a React server payload as HTML, each row once."""
    writer = HtmlWriter(rows)
    for name, row in rows.items():
        if name not in writer.done and not isinstance(row, str):
            writer.done.add(name)
            writer.write(row, 0)
    return "".join(writer.written)


class HtmlWriter:
    """Writes the elements of React server payloads as HTML; done: the rows that were written."""

    def __init__(self, rows: dict[str, Any]) -> None:
        self.rows = rows
        self.written: list[str] = []
        self.done: set[str] = set()
        self.values = MAX_VALUES

    def write(self, value: Any, depth: int) -> None:
        """Write a value: a text, a reference to a row, an element or a list of these."""
        self.values -= 1
        if depth > MAX_DEPTH or self.values < 0:
            return
        if isinstance(value, str):
            self.write_text(value, depth)
        elif isinstance(value, list) and len(value) >= 4 and value[0] == "$":
            self.write_element(value[1], value[3], depth)
        elif isinstance(value, list):
            for one in value:
                self.write(one, depth + 1)

    def write_text(self, text: str, depth: int) -> None:
        """Write a text, or the row that it refers to ("$1a", "$L1a")."""
        reference = re.fullmatch(r"\$[L@]?([0-9a-f]{1,8})", text)
        if reference and reference[1] in self.rows:
            if reference[1] not in self.done:
                self.done.add(reference[1])
                self.write(self.rows[reference[1]], depth + 1)
        elif not text.startswith("$"):
            self.written.append(escape(text))

    def write_element(self, tag: Any, properties: Any, depth: int) -> None:
        """Write an element with what is in it; of a component ("$L1a") only what is in it."""
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
