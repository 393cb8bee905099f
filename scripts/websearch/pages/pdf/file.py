"""Read the objects and pages of a PDF file (ISO 32000-1, 7.5 and 7.7.3).

The cross-reference tables and streams are read first. If an object is not at its listed position
or no page can be found, the file is scanned for objects.
"""

from __future__ import annotations

import itertools
import re

from websearch.pages.pdf.crypt import Decryptor
from websearch.pages.pdf.limits import (
    MAX_CACHED_ITEMS,
    MAX_REFERENCES,
    MAX_SLOW_INPUT,
    MAX_TREE_NODES,
    Budget,
)
from websearch.pages.pdf.stream_filters import apply_filters
from websearch.pages.pdf.syntax import SPACE, Reference, Stream, parse_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_TRAILERS = 10_000  # trailers per scanned file
MAX_NESTED_LOADS = 30  # objects read in order to read one object, such as a stream's length
END_WINDOW = 2_048  # bytes at the end of a file to search for startxref
MAX_SHIFT = 20  # bytes between an object and its position according to the cross-reference table
INHERITED = ("Resources", "MediaBox", "CropBox", "Rotate")  # fields that a page inherits

OBJECT_HEAD = re.compile(rb"[%b]*(\d{1,10})[%b]{1,9}(\d{1,5})[%b]{1,9}obj" % ((SPACE,) * 3))
STREAM_HEAD = re.compile(rb"[%b]*stream(?:\r\n|\n|\r)?" % SPACE)
STREAM_END = re.compile(rb"[%b]*endstream" % SPACE)
TABLE_HEAD = re.compile(rb"[%b]*xref" % SPACE)
TABLE_ENTRY = re.compile(
    rb"[%b]*(\d{1,10})[%b]{1,9}(\d{1,10})(?:[%b]{1,9}([nf])(?![a-z]))?" % ((SPACE,) * 3)
)
TRAILER = re.compile(rb"[%b]*trailer" % SPACE)
# Parts that the scan of a broken file searches for.
LANDMARK = re.compile(
    rb"(?<!\d)(?P<number>\d{1,10})[%b]{1,9}\d{1,5}[%b]{1,9}obj(?![a-z])"
    rb"|/(?P<type>ObjStm|XRef|Catalog|Page)(?![A-Za-z])"
    rb"|(?P<trailer>trailer)" % ((SPACE,) * 2)
)
LONGEST_LANDMARK = 64  # bytes, including the lookahead
SCANNED_AT_ONCE = 1 << 20  # bytes between two checks of the clock


class PdfFile:
    """The objects of a PDF file. Raises SearchError (refused) and OutOfBudgetError."""

    def __init__(self, data: bytes, budget: Budget) -> None:
        self.data, self.budget = data, budget
        self.offsets: dict[int, int] = {}  # object -> position; -1: deleted
        self.packed: dict[int, int] = {}  # object -> the object stream that contains it
        self.trailer: dict[str, Any] = {}
        self.decryptor: Decryptor | None = None
        self.rebuilt = False
        self.page_numbers: list[int] = []  # page objects that a scan found
        self.page_objects: list[int] = []  # page objects so far, in order; -1: unknown
        self.cache: dict[int, Any] = {}
        self.cached_items = 0
        self.loading: set[int] = set()
        self.object_stream: tuple[int, bytes, dict[int, int]] = (-1, b"", {})  # the last unpacked
        self.stream_gap = (0, -1)  # start and end of the last range without "endstream"
        self.header = max(0, data.find(b"%PDF-", 0, 1_024))  # origin of some offsets
        self.read_references()
        self.unlock()
        if not isinstance(self.field(self.root(), "Pages"), dict):
            self.rebuild()

    # ----- objects

    def resolve(self, value: object) -> Any:
        """Return the target of a reference, or any other value unchanged."""
        for _ in range(MAX_REFERENCES):
            if not isinstance(value, Reference):
                return value
            value = self.load(value.number)
        return None

    def field(self, container: object, name: str) -> Any:
        """Return the resolved field of a dictionary or stream; None if the field is missing."""
        fields = container.fields if isinstance(container, Stream) else container
        return self.resolve(fields.get(name)) if isinstance(fields, dict) else None

    def fields(self, container: object, name: str) -> dict[str, Any]:
        """Return a field that should be a dictionary; {} if it is not."""
        value = self.field(container, name)
        return value if isinstance(value, dict) else {}

    def items(self, container: object, name: str) -> list[Any]:
        """Return the resolved items of a field that should be an array."""
        value = self.field(container, name)
        return [self.resolve(item) for item in value] if isinstance(value, list) else []

    def numbers(self, container: object, name: str, count: int) -> list[float] | None:
        """Return a field that should be an array of count numbers; None if it is not."""
        values = self.items(container, name)
        good = len(values) == count and all(isinstance(value, (int, float)) for value in values)
        return [float(value) for value in values] if good else None

    def root(self) -> dict[str, Any]:
        """Return the catalog."""
        return self.fields(self.trailer, "Root")

    def load(self, number: int) -> Any:
        """Return an object by its number; None if it is missing or unreadable."""
        if number in self.cache:
            return self.cache[number]
        # For example, the length of a stream may be the stream itself.
        if number in self.loading or len(self.loading) > MAX_NESTED_LOADS:
            return None
        self.budget.check_time()
        self.loading.add(number)
        try:
            value, size = self.read_object(number)
        finally:
            self.loading.discard(number)
        if self.cached_items + size > MAX_CACHED_ITEMS:
            self.cache.clear()
            self.cached_items = 0
        self.cache[number] = value
        self.cached_items += size
        return value

    def read_object(self, number: int) -> tuple[Any, int]:
        """Return an object and its number of items."""
        if number in self.packed:
            return self.read_packed(number, self.packed[number])
        offset = self.offsets.get(number, -1)
        if offset < 0:
            return None, 1
        head = self.find_head(number, offset)
        if head is None and not self.rebuilt:
            self.rebuild()
            return self.read_object(number)
        if head is None:
            return None, 1
        value, position, size = parse_value(self.data, head.end())
        generation = int(head[2])
        if self.decryptor:
            value = self.decrypt_strings(value, number, generation)
        stream = STREAM_HEAD.match(self.data, position) if isinstance(value, dict) else None
        if stream:
            value = Stream(value, stream.end(), number, generation)
        return value, size

    def find_head(self, number: int, offset: int) -> re.Match[bytes] | None:
        """Return the match for an object's header at or near an offset."""
        for start in (offset, offset + self.header):
            head = OBJECT_HEAD.match(self.data, start)
            if head and int(head[1]) == number:
                return head
        near = re.compile(rb"(?<!\d)(%d)[ \r\n]+(\d{1,5})[ \r\n]+obj" % number)
        return near.search(self.data, max(0, offset - MAX_SHIFT), offset + 2 * MAX_SHIFT)

    def decrypt_strings(self, value: object, number: int, generation: int) -> Any:
        """Return an object with its strings decrypted; MAX_DEPTH limits the recursion."""
        if isinstance(value, bytes) and self.decryptor:
            self.budget.check_time()
            return self.decryptor.decrypt(value, number, generation, self.decryptor.string_filter)
        if isinstance(value, list):
            return [self.decrypt_strings(item, number, generation) for item in value]
        if isinstance(value, dict):
            pairs = value.items()
            return {name: self.decrypt_strings(item, number, generation) for name, item in pairs}
        return value

    def read_packed(self, number: int, stream_number: int) -> tuple[Any, int]:
        """Return an object from an object stream, and its number of items."""
        if self.object_stream[0] != stream_number:
            self.object_stream = (stream_number, *self.unpack_object_stream(stream_number))
        _, data, places = self.object_stream
        if number not in places:
            return None, 1
        value, _, size = parse_value(data, places[number])
        return value, size

    def unpack_object_stream(self, number: int) -> tuple[bytes, dict[int, int]]:
        """Return an object stream's bytes and the position of each object in the stream."""
        stream = self.load(number) if number not in self.packed else None
        if not isinstance(stream, Stream):
            return b"", {}
        data = self.stream_data(stream) or b""
        first, count = self.field(stream, "First"), self.field(stream, "N")
        if not isinstance(first, int) or not isinstance(count, int):
            return b"", {}
        pairs = re.compile(rb"(\d{1,10})[%b]+(\d{1,10})" % SPACE).finditer(data, 0, max(0, first))
        count = max(0, min(count, self.budget.max_objects))
        return data, {int(pair[1]): first + int(pair[2]) for pair in itertools.islice(pairs, count)}

    # ----- streams

    def stream_data(self, stream: Stream, limit: int = 0) -> bytes | None:
        """Return a stream's decrypted and unpacked bytes; None for image data.

        limit: maximum number of bytes (default: the budget for a stream).
        """
        limit = min(limit, self.budget.max_stream) if limit else self.budget.max_stream
        names, params = self.stream_filters(stream)
        raw = self.data[stream.start : self.stream_end(stream)]
        decryptor, kind = self.decryptor, stream.fields.get("Type")
        if decryptor and kind != "XRef" and (kind != "Metadata" or decryptor.encrypts_metadata):
            is_own = names[:1] == ["Crypt"]
            crypt = params[0].get("Name", "Identity") if is_own else decryptor.stream_filter
            raw = raw[:MAX_SLOW_INPUT]
            raw = decryptor.decrypt(raw, stream.number, stream.generation, crypt)
        data = apply_filters(raw, names, params, limit, self.budget)
        self.budget.spend(len(data or b""))
        return None if data is None else data[:limit]

    def stream_filters(self, stream: Stream) -> tuple[list[str], list[dict[str, Any]]]:
        """Return the names and parameters of a stream's filters."""
        names = [name for name in self.listed(stream, "Filter") if isinstance(name, str)]
        params = self.listed(stream, "DecodeParms") + [None] * len(names)
        return names, [
            {name: self.resolve(value) for name, value in options.items()}
            if isinstance(options, dict)
            else {}
            for options in params[: len(names)]
        ]

    def listed(self, stream: Stream, name: str) -> list[Any]:
        """Return the resolved items of a field that is an array or a single item."""
        value = self.field(stream, name)
        return [self.resolve(item) for item in (value if isinstance(value, list) else [value])]

    def stream_end(self, stream: Stream) -> int:
        """Return a stream's end: by Length if "endstream" follows, else the next "endstream"."""
        length = self.field(stream, "Length")
        if isinstance(length, int) and length >= 0:
            end = stream.start + length
            if STREAM_END.match(self.data, end):
                return end
        # Many streams may lack an end, so no bytes are searched twice.
        start, end = self.stream_gap
        if not start <= stream.start <= end:
            end = self.data.find(b"endstream", stream.start)
            end = len(self.data) if end < 0 else end
            self.stream_gap = (stream.start, end)
        return end

    # ----- encryption

    def unlock(self) -> None:
        """Prepare decryption if the file is encrypted. Raises SearchError."""
        encrypt = self.field(self.trailer, "Encrypt")
        if not isinstance(encrypt, dict):
            return
        file_id = (self.items(self.trailer, "ID") or [b""])[0]
        encrypt = {name: self.resolve(value) for name, value in encrypt.items()}
        encrypt["CF"] = {
            name: self.resolve(value) for name, value in self.fields(encrypt, "CF").items()
        }
        self.decryptor = Decryptor(encrypt, file_id if isinstance(file_id, bytes) else b"")
        self.cache.clear()

    # ----- cross-references (7.5.4, 7.5.8)

    def read_references(self) -> None:
        """Read all cross-reference sections, newest first."""
        tail = self.data.rfind(b"startxref", max(0, len(self.data) - END_WINDOW))
        match = re.compile(rb"startxref[%b]*(\d{1,10})" % SPACE).match(self.data, max(0, tail))
        waiting = [int(match[1])] if match else []
        visited: set[int] = set()
        while waiting:
            offset = waiting.pop()
            if offset in visited:
                continue
            visited.add(offset)
            self.budget.check_time()
            trailer = self.read_section(offset)
            self.trailer = {**trailer, **self.trailer}
            previous = self.resolve(trailer.get("Prev"))
            if isinstance(previous, int):
                waiting.append(previous)

    def read_section(self, offset: int) -> dict[str, Any]:
        """Read the cross-reference section at an offset; return its trailer, or {}."""
        for start in (offset, offset + self.header):
            table = TABLE_HEAD.match(self.data, start)
            if table:
                return self.read_table(table.end())
            stream = self.read_stream_at(start)
            if stream:
                self.read_reference_stream(stream)
                return stream.fields
        return {}

    def read_table(self, position: int) -> dict[str, Any]:
        """Read a cross-reference table; return its trailer."""
        entries: list[tuple[int, int]] = []
        number = 0
        while match := TABLE_ENTRY.match(self.data, position):
            position = match.end()
            if match[3] is None:
                number = int(match[1])
                continue
            # Some tables give the first object, which is always free, the number 1.
            if match[3] == b"f" and match[2] == b"65535" and not entries:
                number = 0
            entries.append((number, int(match[1]) if match[3] == b"n" else -1))
            number += 1
            if len(entries) > self.budget.max_objects:
                break
        head = TRAILER.match(self.data, position)
        trailer = parse_value(self.data, head.end())[0] if head else {}
        trailer = trailer if isinstance(trailer, dict) else {}
        # In a hybrid file, the stream lists objects that are free in the table.
        hybrid = trailer.get("XRefStm")
        stream = self.read_stream_at(hybrid) if isinstance(hybrid, int) else None
        if stream:
            self.read_reference_stream(stream)
        for number, offset in entries:
            self.add_entry(number, self.offsets, offset)
        return trailer

    def read_stream_at(self, offset: int) -> Stream | None:
        """Return the stream object at an offset; None if the offset has no stream."""
        head = OBJECT_HEAD.match(self.data, offset) if offset >= 0 else None
        if not head:
            return None
        value, position, _ = parse_value(self.data, head.end())
        start = STREAM_HEAD.match(self.data, position)
        if not start or not isinstance(value, dict):
            return None
        return Stream(value, start.end(), int(head[1]), int(head[2]))

    def read_reference_stream(self, stream: Stream) -> None:
        """Read the entries of a cross-reference stream."""
        widths = stream.fields.get("W")
        if not isinstance(widths, list) or len(widths) < 3:
            return
        if not all(isinstance(width, int) and 0 <= width <= 8 for width in widths):
            return
        index = stream.fields.get("Index") or [0, stream.fields.get("Size")]
        stream.fields["Type"] = "XRef"  # such streams are never encrypted
        data = self.stream_data(stream) or b""
        first, second, row = widths[0], widths[0] + widths[1], sum(widths)
        place = 0
        for start, count in zip(index[::2], index[1::2], strict=False):
            if not isinstance(start, int) or not isinstance(count, int) or not row:
                return
            known = min(count, (len(data) - place) // row, self.budget.max_objects)
            for number in self.budget.watch(range(start, start + known)):
                kind = int.from_bytes(data[place : place + first], "big") if first else 1
                value = int.from_bytes(data[place + first : place + second], "big")
                place += row
                if kind == 2:
                    self.add_entry(number, self.packed, value)
                else:
                    self.add_entry(number, self.offsets, value if kind == 1 else -1)

    def add_entry(self, number: int, table: dict[int, int], value: int) -> None:
        """Add an entry to self.offsets or self.packed unless a newer section lists the object."""
        known = number in self.offsets or number in self.packed
        if not known and len(self.offsets) + len(self.packed) < self.budget.max_objects:
            table[number] = value

    # ----- files with broken cross-references

    def rebuild(self) -> None:
        """Find the objects by scanning the whole file; the last object with a number wins."""
        if self.rebuilt:
            return
        self.rebuilt = True
        self.cache.clear()
        self.offsets, self.packed = {}, {}
        catalogs, object_streams = self.scan()
        if not self.decryptor:
            self.unlock()
        for number in object_streams:
            for inner in self.unpack_object_stream(number)[1]:
                if self.offsets.get(inner, -1) < self.offsets[number]:  # the later object wins
                    self.offsets.pop(inner, None)
                    self.add_entry(inner, self.packed, number)
        if not isinstance(self.field(self.root(), "Pages"), dict):
            self.find_lost_pages(catalogs)

    def scan(self) -> tuple[list[int], list[int]]:
        """Find objects and trailers; return the numbers of the catalogs and object streams."""
        number = 0
        catalogs: list[int] = []
        object_streams: list[int] = []
        trailers: list[int] = []
        for match in self.landmarks():
            kind = match["type"]
            if match["number"]:
                number = int(match["number"])
                if number in self.offsets or len(self.offsets) < self.budget.max_objects:
                    self.offsets[number] = match.start()
            elif kind == b"Catalog":
                catalogs += [number] if catalogs[-1:] != [number] else []
            elif kind == b"Page":
                self.page_numbers += [number] if self.page_numbers[-1:] != [number] else []
            elif kind == b"ObjStm":
                object_streams += [number] if object_streams[-1:] != [number] else []
            elif len(trailers) < MAX_TRAILERS:
                # The dictionary of a cross-reference stream is also a trailer.
                trailers.append(match.end() if match["trailer"] else self.offsets.get(number, 0))
        for position in trailers:
            self.budget.check_time()
            head = OBJECT_HEAD.match(self.data, position)
            trailer = parse_value(self.data, head.end() if head else position)[0]
            if isinstance(trailer, dict):
                self.trailer.update(trailer)
        known = [number for number in dict.fromkeys(object_streams) if number in self.offsets]
        return catalogs, known

    def landmarks(self) -> Iterator[re.Match[bytes]]:
        """Yield the matches of LANDMARK in the file; raises OutOfBudgetError after the deadline."""
        for begin in range(0, len(self.data), SCANNED_AT_ONCE):
            self.budget.check_time()
            end = begin + SCANNED_AT_ONCE
            for match in LANDMARK.finditer(self.data, begin, end + LONGEST_LANDMARK):
                if match.start() < end:
                    yield match

    def find_lost_pages(self, catalogs: list[int]) -> None:
        """Find the catalog, or else all pages, among the objects in a broken file."""
        for number in [*reversed(catalogs), *self.packed]:
            value = self.load(number)
            if isinstance(value, dict) and isinstance(self.field(value, "Pages"), dict):
                self.trailer["Root"] = value
                return
            if isinstance(value, dict) and value.get("Type") == "Page":
                self.page_numbers.append(number)

    # ----- pages

    def pages(self) -> Iterator[dict[str, Any]]:
        """Yield the dictionary of each page in order, including inherited fields."""
        has_pages = False
        for page in self.walk_pages():
            has_pages = True
            yield page
        if not has_pages and not self.rebuilt:
            self.rebuild()
            yield from self.pages()
        elif not has_pages:
            for number in dict.fromkeys(self.page_numbers):
                page = self.load(number)
                if isinstance(page, dict) and page.get("Type") == "Page":
                    yield page

    def walk_pages(self) -> Iterator[dict[str, Any]]:
        """Yield the pages of the page tree, which may have cycles."""
        visited: set[int] = set()
        self.page_objects.clear()
        waiting: list[tuple[Any, dict[str, Any]]] = [(self.root().get("Pages"), {})]
        for _ in range(MAX_TREE_NODES):
            if not waiting:
                return
            value, above = waiting.pop()
            if isinstance(value, Reference):
                if value.number in visited:
                    continue
                visited.add(value.number)
            node = self.resolve(value)
            if node is None and not self.rebuilt:  # a page that the tables omit
                self.rebuild()
                node = self.resolve(value)
            if not isinstance(node, dict):
                continue
            inherited = {**above, **{name: node[name] for name in INHERITED if name in node}}
            kids = self.field(node, "Kids")
            if isinstance(kids, list) and len(waiting) < MAX_TREE_NODES:
                waiting += [(kid, inherited) for kid in reversed(kids)]
            else:
                self.page_objects.append(value.number if isinstance(value, Reference) else -1)
                yield {**inherited, **node}
