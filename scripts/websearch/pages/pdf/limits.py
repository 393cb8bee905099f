"""Limit the time and memory that reading a damaged or malicious PDF file can take."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    Item = TypeVar("Item")

MAX_FILE_BYTES = 25_000_000  # bytes per file; the remaining bytes are not read
MAX_PAGES = 2_000  # pages per call
MAX_TREE_NODES = 100_000  # nodes in the page tree
MAX_TEXT = 4_000_000  # characters per call: a book of 1,500 pages
MAX_PAGE_LINES = 40_000  # lines per page
MAX_LINE_PIECES = 5_000  # shown strings per line
MAX_LINE_GLYPHS = 100_000  # glyphs with positions per right-to-left line: about 25 MB
MAX_FORM_DEPTH = 20  # nested form XObjects
MAX_STATES = 500  # saved graphics states per page
MAX_DEPTH = 100  # nested arrays and dictionaries; real files stay below 20
MAX_ITEMS = 100_000  # items per object; a longer array is cut
MAX_CACHED_ITEMS = 100_000  # items in all cached objects: about 10 MB
MAX_STRING = 1_000_000  # bytes per string
MAX_SHOWN = 65_536  # bytes per shown string; the format allows 32,767
MAX_REFERENCES = 50  # levels of references to references
MAX_CODE_TEXT = 12  # characters per code
MAX_CMAP_BYTES = 4_000_000  # bytes per map; 65,536 codes with texts take half of this
MAX_CMAP_ENTRIES = 65_536  # per map from codes to text; a font with two-byte codes has no more
# Objects per file, limited by the file's size because each takes 200 bytes of memory.
BASE_OBJECTS, BYTES_PER_OBJECT = 50_000, 20
# Unpacked bytes per stream: a base plus a multiple of the file's size, up to a maximum. Up to three
# streams are in memory at once: the page's content, an object stream and a font.
BASE_STREAM, STREAM_RATIO, MAX_STREAM = 6_000_000, 3, 40_000_000
MAX_FILTERS = 8  # filters per stream; real streams have up to two
CHECK_EVERY = 16_384  # loop steps between two checks of the clock
MAX_SLOW_INPUT = 4_000_000  # bytes for a filter or cipher written in Python: 2 to 4 s
BASE_UNPACKED, UNPACKED_RATIO = 400_000_000, 40  # unpacked bytes in all streams


class OutOfBudgetError(Exception):
    """Raised if reading must end early; the message states the limit."""


class Budget:
    """The remaining time and unpacked bytes for a file."""

    def __init__(self, size: int, deadline: float) -> None:
        self.deadline = deadline
        self.max_objects = BASE_OBJECTS + size // BYTES_PER_OBJECT
        self.max_stream = min(MAX_STREAM, BASE_STREAM + STREAM_RATIO * size)
        self.unpacked = BASE_UNPACKED + UNPACKED_RATIO * size

    def check_time(self) -> None:
        """Raise OutOfBudgetError after the deadline."""
        if time.monotonic() > self.deadline:
            raise OutOfBudgetError("the time for this file ran out")

    def watch(self, items: Iterable[Item]) -> Iterator[Item]:
        """Yield the items of a long loop; raises OutOfBudgetError after the deadline."""
        for number, item in enumerate(items):
            if number % CHECK_EVERY == 0:
                self.check_time()
            yield item

    def spend(self, size: int) -> None:
        """Count unpacked bytes; raises OutOfBudgetError."""
        self.check_time()
        self.unpacked -= size
        if self.unpacked < 0:
            raise OutOfBudgetError("its streams unpack to too many bytes")
