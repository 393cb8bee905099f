"""A page that was read: the type that this package, the store and searches share."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from websearch.kit import drop_empty, error_document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.engines.base.ledger import RunBudget
    from websearch.kit import Document, ProgressCallback, SearchError
    from websearch.pages.extract.thin_pages import OtherVersions
    from websearch.store.page_store import PageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the steps of a search share.

    deadline: as time.monotonic(). max_age: the maximum age in seconds of a stored answer or page to
    use (0: never, None: any age). since: the period of the search ("": any time). budget: the limit
    of paid requests. is_dry: requests are only planned. is_offline: no page is fetched. verbose:
    requests and bugs are logged to stderr.
    """

    store: PageStore
    deadline: float
    budget: RunBudget
    max_age: float | None = 0.0
    since: str = ""
    page_timeout: float = 3.0
    report: ProgressCallback = None
    is_dry: bool = False
    is_offline: bool = False
    verbose: bool = False

    def time_left(self) -> float:
        """Return the seconds until the deadline."""
        return self.deadline - time.monotonic()


@dataclass(slots=True)
class Page:
    """A page that was read, or why it could not be read.

    url: as requested. text: the whole text as Markdown. is_cut: the page continues after the text.
    fields: the document's other fields, if known: final_url, title, author, published, updated,
    license, language, note and more. outside: the parts that rules dropped but a question may need,
    as Markdown; not part of the text. versions: other versions of a fetched HTML page. bookmarks:
    (level, title, page) for each entry in a PDF file's outline.
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
        """Return the page's document: ok, its fields and the whole text, or its error."""
        head: Document = {"url": self.url} if self.url else {}
        if self.error:
            return {**head, **error_document(self.error)}
        cut = {"cut": True} if self.is_cut else {}
        return {**head, "ok": True, **self.fields, "text": self.text, **cut}

    def is_fetched(self) -> bool:
        """Return whether the page came from the web, not from the store."""
        return bool(self.fields or self.error) and "from_cache" not in self.fields

    def to_store(self) -> dict[str, Any]:
        """Return the page as PageStore.put_pages expects it."""
        kept = {"title": "", **self.fields, "text": self.text, "truncated": self.is_cut}
        kept["outside"] = self.outside
        return {**kept, "url": self.url, "fetched_at": time.time()}


def stored_page(stored: dict[str, Any]) -> Page:
    """Return the page for an entry from PageStore.get_pages."""
    names = ("final_url", "title", "published", "updated")
    fetched_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stored["fetched_at"]))
    fields: Document = drop_empty({name: stored.get(name) for name in names})
    fields |= {"from_cache": True, "fetched_at": fetched_at}
    text, outside = stored["text"], stored.get("outside", "")
    return Page(stored["url"], text, bool(stored["truncated"]), fields, outside=outside)
