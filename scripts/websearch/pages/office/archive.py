"""Unpack the parts of an office file within limits, and parse their XML.

Nothing is written to disk, part names never become paths, and XML cannot define entities.
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

MAX_ENTRIES = 10_000  # files per archive; a book has a file for each chapter and picture
# Unpacked bytes per part, and in all parts that are read. XML in real files unpacks to 10 or 20
# times its size; sheets that repeat a value unpack to 100 times.
MAX_PART, MAX_UNPACKED = 200_000_000, 400_000_000
MAX_RATIO, RATIO_FREE = 500, 10_000_000  # up to RATIO_FREE bytes, a part may have any ratio
MAX_ELEMENTS = 600_000  # elements per part, in memory at once: about 150 MB
MAX_CHARS = 20_000_000  # characters of text in these elements
MAX_TOKEN = 5_000_000  # bytes per tag; expat scans a tag again with each piece
MAX_DEPTH = 100  # nested elements; a table in a table in a text box has 30
CHUNK = 65_536  # unpacked bytes between two checks of the clock
BUG = "This is a bug in the program: report it. A section of the file is missing."
DAMAGED = "The file is damaged; some of its text is missing."
LATE = "The time for this file ran out; some of its text is missing."
TOO_LARGE = "The file exceeds the size limits; some of its text is missing."
# Exceptions that zipfile raises for damaged archives.
DAMAGE = (
    zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError, LookupError,
    OverflowError, struct.error,
)  # fmt: skip
_DELETE_NO_TEXT = str.maketrans("", "", NO_TEXT)


class Relation(NamedTuple):
    """The target of a relation id in an Office Open XML file: a part name or an external URL."""

    kind: str
    target: str
    is_external: bool


class Archive:
    """The parts of an office file, by name. Creating it raises SearchError (unsupported).

    notes: the reasons that text is missing, as sentences. deadline: on time.monotonic()'s clock;
    parts are not read after it. verbose: see result_or_error.
    """

    def __init__(self, data: bytes, deadline: float, *, verbose: bool = False) -> None:
        self.deadline, self.verbose = deadline, verbose
        self.notes: dict[str, None] = {}
        self.unpacked = 0
        # Count entries before zipfile creates an object for each: 25 MB may contain half a million.
        if data.count(b"PK\x01\x02") > MAX_ENTRIES:
            raise unreadable(f"an archive of more than {MAX_ENTRIES} files, too many to read")
        try:
            self.zip = zipfile.ZipFile(io.BytesIO(data))
        except DAMAGE:
            is_large = len(data) >= MAX_FILE_BYTES  # the fetch stopped at the limit
            large = f"an archive of more than {MAX_FILE_BYTES // 1_000_000} MB, too large to read"
            raise unreadable(large if is_large else "a damaged archive") from None
        self.parts = {part_name("", entry.filename): entry for entry in self.zip.infolist()}

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the bytes of a part in pieces, as far as damage and limits allow."""
        entry = self.parts.get(name.lower())
        if not entry:
            return
        packed = max(1, entry.compress_size)
        is_bomb = entry.file_size > RATIO_FREE and entry.file_size > MAX_RATIO * packed
        self.unpacked += entry.file_size
        if is_bomb or entry.file_size > MAX_PART or self.unpacked > MAX_UNPACKED:
            self.notes[TOO_LARGE] = None
            return
        # Office formats allow no other methods, whose ratio would be unlimited.
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
        """Return whether the deadline has passed, and add a note if so."""
        if time.monotonic() < self.deadline:
            return False
        self.notes[LATE] = None
        return True

    def contained(self, work: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Return the items that work returns for a section, or [] and a note if there is a bug.

        This way, a bug does not prevent reading the other sections. Raises SearchError.
        """
        items: list[Any] | SearchError = result_or_error(
            lambda: list(work(*arguments) or ()), verbose=self.verbose
        )
        if not isinstance(items, SearchError):
            return items
        if not is_bug(items):
            raise items
        self.notes[f"{items.message} {BUG}"] = None
        return []

    def read(self, name: str, limit: int) -> bytes:
        """Return the first bytes of a part, up to limit; b"" if the part does not exist."""
        data = b""
        for chunk in self.chunks(name):
            data += chunk
            if len(data) > limit:
                self.notes[TOO_LARGE] = None
                break
        return data[:limit]

    def elements(self, name: str, *tags: str) -> Iterator[Element]:
        """Yield the elements with these tags in an XML part, each as soon as it is complete.

        Without tags, yield the root with all readable content. Each element is cleared when the
        next one is requested.
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
        """Return the root of an XML part; an empty element if the part does not exist."""
        return next(self.elements(name), Element(""))

    def part(self, name: str, kind: str) -> str:
        """Return the name of the related part of this kind, or ""."""
        relations = self.relations(name).values()
        return next((relation.target for relation in relations if relation.kind == kind), "")

    def relations(self, name: str) -> dict[str, Relation]:
        """Return relation id -> relation for a part. name: the part's name; "": the file itself."""
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
    """Yield an element's children, replacing AlternateContent by its first choice's children."""
    for child in parent:
        if child.tag == "AlternateContent":
            yield from next(iter(child), ())
        else:
            yield child


def address_of(relations: dict[str, Relation], link: Element, anchor: str = "") -> str:
    """Return the external URL that an element links to by relation id, or ""."""
    relation = relations.get(link.get("r:id", ""))
    if not relation or not relation.is_external:
        return ""
    return f"{relation.target}#{anchor}" if anchor else relation.target


class XmlReader:
    """A parser that builds elements from XML and drops the namespaces of names.

    Only attributes that refer to a relation keep the prefix "r:". tags: see Archive.elements. root:
    the outermost element. problem: why reading ended early, or "".
    """

    def __init__(self, tags: tuple[str, ...] = ()) -> None:
        self.tags = tags
        self.root: Element | None = None
        self.problem = ""
        self.builder = TreeBuilder()
        self.depth = self.count = self.chars = self.fed = 0
        self.ready: list[Element] = []
        self.names: dict[str, str] = {}  # original name -> local name of elements and attributes
        parser = self.parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text
        parser.StartDoctypeDeclHandler = self.doctype

    def feed(self, data: bytes, is_last: bool = False) -> bool:
        """Parse a piece of the XML; return whether more can be parsed."""
        self.fed += len(data)
        try:
            self.parser.Parse(data, is_last)
            if self.fed - self.parser.CurrentByteIndex > MAX_TOKEN:
                raise XmlLimitError
        except XmlLimitError:
            self.problem = TOO_LARGE
        except (expat.ExpatError, ValueError, LookupError):  # LookupError: unknown encoding
            self.problem = DAMAGED
        return not self.problem

    def completed(self) -> Iterator[Element]:
        """Yield the complete elements with the requested tags; clear each afterward."""
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
        """Add text, except for characters that the Markdown writer reserves."""
        self.chars += len(text)
        if self.chars > MAX_CHARS:
            raise XmlLimitError
        self.builder.data(text if text.isascii() else text.translate(_DELETE_NO_TEXT))

    def doctype(self, _name: str, _system: object, _public: object, has_definitions: bool) -> None:
        """Refuse entity definitions and default values, because they can multiply text."""
        if has_definitions:
            raise XmlLimitError

    def local_name(self, name: str) -> str:
        """Return a name without its namespace, and remember it."""
        namespace, _, local = name.rpartition(" ")
        self.names[name] = f"r:{local}" if namespace.endswith("/relationships") else local
        return self.names[name]


class XmlLimitError(Exception):
    """Raised for XML that is too deep or too large, or that defines entities."""


def number_of(text: str | None, default: int = 0, most: int = 10**9) -> int:
    """Return the whole number in an attribute, at most most; default if it is not a number."""
    return min(int(text), most) if text and re.fullmatch(r"[0-9]{1,12}", text) else default


def part_name(folder: str, target: str) -> str:
    """Return a part's name in lower case. target: a path relative to the folder or the root."""
    path = posixpath.join("/", folder, unquote(target.partition("#")[0]).replace("\\", "/"))
    return posixpath.normpath(path).lstrip("/").lower()


def unreadable(kind: str, hint: str = "Look for an HTML or PDF version of it.") -> SearchError:
    """Return the error for a file whose text cannot be read."""
    return SearchError("unsupported", f"The file is {kind}.", hint)
