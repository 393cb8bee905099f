"""The content of a page: the type that every reader of a format or site returns."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from websearch.kit import Document
    from websearch.pages.extract.thin_pages import OtherVersions


@dataclass(slots=True)
class PageContent:
    """The text of a page and its metadata, as untrusted as the page.

    text: the whole text as Markdown. fields: title, author, published, updated, license, language,
    page_count and source, if known, with explain dropped. note: anything unusual about the text.
    is_cut: the page continues after the text. is_foreign: the text may contain the page's own
    Markdown. outside, versions, bookmarks: as in websearch.reading.page.Page.
    """

    text: str
    fields: Document = field(default_factory=dict)
    note: str = ""
    is_cut: bool = False
    is_foreign: bool = False
    outside: str = ""
    versions: OtherVersions | None = None
    bookmarks: list[tuple[int, str, int]] = field(default_factory=list)
