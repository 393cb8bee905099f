"""A page that was read: what all parts of this room pass on, and the store and searches take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from websearch.kit import drop_empty, error_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Document, SearchError
    from websearch.pages.extract.thin_pages import OtherVersions


@dataclass(slots=True)
class Page:
    """A page that was read, or why it could not be read.

    url: as it was asked for. text: all of it, as Markdown. is_cut: the page goes on behind the
    text. fields: what else its document says: final_url, title, author, published, updated,
    license, language, note and more, as far as they are known. outside: what rules dropped of the
    page and a question may ask for, as Markdown; it is no part of the text. versions: of an HTML
    page that was fetched. bookmarks: (level, title, page) of each entry of a PDF file's outline.
    """

    url: str = ""
    text: str = ""
    is_cut: bool = False
    fields: Document = field(default_factory=dict)
    error: SearchError | None = None
    outside: str = ""
    versions: OtherVersions | None = None
    bookmarks: list[tuple[int, str, int]] = field(default_factory=list)

    def document(self) -> Document:
        """Return the document of the page: ok, its fields and the whole text, or its error."""
        head: Document = {"url": self.url} if self.url else {}
        if self.error:
            return {**head, **error_document(self.error)}
        cut = {"cut": True} if self.is_cut else {}
        return {**head, "ok": True, **self.fields, "text": self.text, **cut}

    def to_store(self) -> dict[str, Any]:
        """Return the page as PageStore.put_pages takes it."""
        kept = {"title": "", **self.fields, "text": self.text, "truncated": self.is_cut}
        kept["outside"] = self.outside
        return {**kept, "url": self.url, "fetched_at": time.time()}


def stored_page(stored: dict[str, Any]) -> Page:
    """Return a page that PageStore.get_pages gave."""
    names = ("final_url", "title", "published", "updated")
    fetched_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stored["fetched_at"]))
    fields: Document = drop_empty({name: stored.get(name) for name in names})
    fields |= {"from_cache": True, "fetched_at": fetched_at}
    text, outside = stored["text"], stored.get("outside", "")
    return Page(stored["url"], text, bool(stored["truncated"]), fields, outside=outside)
