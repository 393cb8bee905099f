"""The archive of an office file: its parts, unpacked within limits, and their XML as elements.

Nothing is written to disk, no part's name becomes a path, and XML cannot define entities.
"""

from __future__ import annotations

import io
import posixpath
import re
import struct
import time
import zipfile
import zlib
from typing import NamedTuple
from urllib.parse import unquote
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from websearch.base.calls import is_bug, result_or_error
from websearch.base.html_tree import NO_TEXT
from websearch.kit import SearchError
from websearch.pages.pdf.limits import MAX_FILE_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

MAX_ENTRIES = 10_000  # of one archive; a book has a file for each chapter and picture
# Unpacked bytes of one part, and of all parts that are read. The XML of real files unpacks to ten
# or twenty times its size, of sheets that repeat one value to a hundred times.
MAX_PART, MAX_UNPACKED = 200_000_000, 400_000_000
MAX_RATIO, RATIO_FREE = 500, 10_000_000  # a part of fewer bytes than the second may have any ratio
MAX_ELEMENTS = 600_000  # of one part that are in memory at once: some 150 MB
MAX_CHARS = 20_000_000  # of text of these elements
MAX_TOKEN = 5_000_000  # bytes of one tag; expat reads it again with each piece
MAX_DEPTH = 100  # of elements in each other; a table in a table in a text box has 30
CHUNK = 65_536  # unpacked bytes between two looks at the clock
BUG = "This is a bug of the program: report it. A section of the file is missing."
DAMAGED = "The file is damaged; some of its text is missing."
LATE = "The time for this file was over; some of its text is missing."
TOO_LARGE = "The file is larger than what is read of one; some of its text is missing."
# What a damaged archive makes zipfile raise.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError, LookupError,
    OverflowError, struct.error,
)  # fmt: skip
_DELETE_NO_TEXT = str.maketrans("", "", NO_TEXT)


class Relation(NamedTuple):
    """What a part of an Office Open XML file refers to by an id: a part's name, or an address."""

    kind: str
    target: str
    is_external: bool


class Archive:
    """The parts of an office file by their names.

    notes: why text is missing, as sentences. deadline: on time.monotonic()'s clock; the text of
    parts that are read later is missing. verbose: see result_or_error. Raises SearchError
    (unsupported).
    """

    def __init__(self, data: bytes, deadline: float, *, verbose: bool = False) -> None:
        self.deadline, self.verbose = deadline, verbose
        self.notes: dict[str, None] = {}
        self.unpacked = 0
        # Counted before zipfile makes an object of each; 25 MB hold half a million of them.
        if data.count(b"PK\x01\x02") > MAX_ENTRIES:
            raise unreadable(f"an archive of more than {MAX_ENTRIES} files, too many to be read")
        try:
            self.zip = zipfile.ZipFile(io.BytesIO(data))
        except DAMAGE:
            is_large = len(data) >= MAX_FILE_BYTES  # where what is fetched ends
            what = f"an archive of more than {MAX_FILE_BYTES // 1_000_000} MB, too large to be read"
            raise unreadable(what if is_large else "a damaged archive") from None
        self.parts = {part_name("", entry.filename): entry for entry in self.zip.infolist()}

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a part in pieces; fewer if it is damaged, or beyond a limit."""
        entry = self.parts.get(name.lower())
        if not entry:
            return
        packed = max(1, entry.compress_size)
        is_bomb = entry.file_size > RATIO_FREE and entry.file_size > MAX_RATIO * packed
        self.unpacked += entry.file_size
        if is_bomb or entry.file_size > MAX_PART or self.unpacked > MAX_UNPACKED:
            self.notes[TOO_LARGE] = None
            return
        # The only methods that these formats allow; the ratio of others has no bound.
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            self.notes[DAMAGED] = None
            return
        try:
            with self.zip.open(entry) as part:
                while chunk := part.read(CHUNK):
                    if self.is_late():
                        return
                    yield chunk
        except DAMAGE:
            self.notes[DAMAGED] = None

    def is_late(self) -> bool:
        """Return whether the deadline has passed; then a note says so."""
        if time.monotonic() < self.deadline:
            return False
        self.notes[LATE] = None
        return True

    def contained(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return what work yields for one section of the file, nothing if it meets a bug.

        A note says so then, and the other sections are read as ever. Raises SearchError.
        """
        items: list[Any] | SearchError = result_or_error(
            lambda: list(work(*arguments)), verbose=self.verbose
        )
        if not isinstance(items, SearchError):
            return items
        if not is_bug(items):
            raise items
        self.notes[f"{items.message} {BUG}"] = None
        return []

    def read(self, name: str, limit: int) -> bytes:
        """Return the first bytes of a part; b"" if there is none."""
        data = b""
        for chunk in self.chunks(name):
            data += chunk
            if len(data) > limit:
                self.notes[TOO_LARGE] = None
                break
        return data[:limit]

    def elements(self, name: str, *tags: str) -> Iterator[Element]:
        """Yield the elements of these names in a part of XML, each as soon as it is complete.

        Without names, the root, as far as the part can be read. An element is emptied when the next
        one is asked for.
        """
        reader = XmlReader(tags)
        for chunk in self.chunks(name):
            if not reader.feed(chunk):
                break
            yield from reader.completed()
        if reader.root is not None and not reader.problem and LATE not in self.notes:
            reader.feed(b"", is_last=True)
        yield from reader.completed()
        if reader.problem:
            self.notes[reader.problem] = None
        if not tags and reader.root is not None:
            yield reader.root

    def tree(self, name: str) -> Element:
        """Return the root of a part of XML; an empty element if there is none."""
        return next(self.elements(name), Element(""))

    def part(self, name: str, kind: str) -> str:
        """Return the name of the part of a kind that a part refers to, or ""."""
        relations = self.relations(name).values()
        return next((relation.target for relation in relations if relation.kind == kind), "")

    def relations(self, name: str) -> dict[str, Relation]:
        """Return what a part refers to, by the ids that it uses for that; "" is the file itself."""
        folder, base = posixpath.split(name)
        found: dict[str, Relation] = {}
        for relation in self.tree(posixpath.join(folder, "_rels", f"{base}.rels")):
            get = relation.get
            target, is_external = get("Target", ""), get("TargetMode") == "External"
            target = target if is_external else part_name(folder, target)
            kind = get("Type", "").rpartition("/")[2]
            found[get("Id", "")] = Relation(kind, target, is_external)
        return found


def children(parent: Element) -> Iterator[Element]:
    """Yield what an element shows: of alternatives for several programs, the first."""
    for child in parent:
        if child.tag == "AlternateContent":
            yield from next(iter(child), ())
        else:
            yield child


def address_of(relations: dict[str, Relation], link: Element, anchor: str = "") -> str:
    """Return the address outside of the file that an element leads to by its id; "" if none."""
    relation = relations.get(link.get("r:id", ""))
    if not relation or not relation.is_external:
        return ""
    return f"{relation.target}#{anchor}" if anchor else relation.target


class XmlReader:
    """Makes elements of XML: their names, and those of attributes, are without a namespace.

    Only attributes that name a relation keep a prefix, "r:". tags: see Archive.elements. root: the
    outermost element. problem: why reading ended early, or "".
    """

    def __init__(self, tags: tuple[str, ...] = ()) -> None:
        self.tags = tags
        self.root: Element | None = None
        self.problem = ""
        self.builder = TreeBuilder()
        self.depth = self.count = self.chars = self.fed = 0
        self.ready: list[Element] = []
        self.names: dict[str, str] = {}  # of elements and attributes, without their namespaces
        parser = self.parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.StartDoctypeDeclHandler = self.doctype

    def feed(self, data: bytes, is_last: bool = False) -> bool:
        """Read a piece of the XML; return whether more can be read."""
        self.fed += len(data)
        try:
            self.parser.Parse(data, is_last)
            if self.fed - self.parser.CurrentByteIndex > MAX_TOKEN:
                raise XmlLimitError
        except XmlLimitError:
            self.problem = TOO_LARGE
        except (expat.ExpatError, ValueError, LookupError):  # an encoding that is unknown, too
            self.problem = DAMAGED
        return not self.problem

    def completed(self) -> Iterator[Element]:
        """Yield the elements of the wanted names that are complete; each is emptied after it."""
        ready, self.ready = self.ready, []
        for element in ready:
            yield element
            element.clear()

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        self.depth += 1
        self.count += 1
        if self.depth > MAX_DEPTH or self.count > MAX_ELEMENTS:
            raise XmlLimitError
        named: dict[str, str] = {}
        for attribute, value in attributes.items():
            named.setdefault(self.names.get(attribute) or self.local_name(attribute), value)
        element = self.builder.start(self.names.get(name) or self.local_name(name), named)
        if self.root is None:
            self.root = element

    def end(self, name: str) -> None:
        """End an element."""
        self.depth -= 1
        element = self.builder.end(self.names[name])
        if element.tag in self.tags:
            self.ready.append(element)
            self.count = self.chars = 0

    def text(self, text: str) -> None:
        """Add text without characters that writers of Markdown use as marks."""
        self.chars += len(text)
        if self.chars > MAX_CHARS:
            raise XmlLimitError
        self.builder.data(text if text.isascii() else text.translate(_DELETE_NO_TEXT))

    def doctype(self, _name: str, _system: object, _public: object, has_definitions: bool) -> None:
        """Refuse a document that defines entities or default values, which may multiply."""
        if has_definitions:
            raise XmlLimitError

    def local_name(self, name: str) -> str:
        """Return a name without its namespace, and remember it."""
        namespace, _, local = name.rpartition(" ")
        self.names[name] = f"r:{local}" if namespace.endswith("/relationships") else local
        return self.names[name]


class XmlLimitError(Exception):
    """Raised in XML that is too deep, too large, or defines entities."""


def number_of(text: str | None, default: int = 0, most: int = 10**9) -> int:
    """Return a number from 0 on that an attribute holds, at most most; default for others."""
    return min(int(text), most) if text and re.fullmatch(r"[0-9]{1,12}", text) else default


def part_name(folder: str, target: str) -> str:
    """Return the name of a part in small letters; target: relative to a folder, or from the top."""
    path = posixpath.join("/", folder, unquote(target.partition("#")[0]).replace("\\", "/"))
    return posixpath.normpath(path).lstrip("/").lower()


def unreadable(what: str, hint: str = "") -> SearchError:
    """Return the error for a file of which no text can be read."""
    message = f"The file is {what}."
    hint = hint or "Look for an HTML or PDF version of it; one often stands beside it."
    return SearchError("unsupported", message, hint)
