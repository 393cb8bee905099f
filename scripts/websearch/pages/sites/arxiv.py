"""Read abstract pages on arXiv, with the URL of the paper's PDF file."""

from __future__ import annotations

import re

from websearch.base.untrusted import unescape
from websearch.engines.arxiv import ENGINE, feed_entries
from websearch.engines.base.messages import EngineAnswer
from websearch.engines.base.open_sources import api_request
from websearch.kit import SearchError
from websearch.pages.page_content import PageContent
from websearch.pages.sites.site_api import facts_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.sites.site_api import SiteApi

_ABSTRACT = r"/abs/((?:\d{4}\.\d{4,5}|[a-z-]{2,20}(?:\.[A-Z]{2})?/\d{7})(?:v\d{1,3})?)/?"
_CATEGORY = r'<(?:arxiv:primary_)?category[^<>]{0,200}?term="([^"<>]{1,40})"'


def known_page(path: str, query: str) -> dict[str, Any] | None:
    """Return the identifier of the paper at an abstract page's URL, or None."""
    paper = re.fullmatch(_ABSTRACT, path)
    return {"id": paper[1]} if paper else None


def read_site_page(api: SiteApi, wanted: dict[str, Any]) -> PageContent:
    """Return a paper's abstract and metadata. Raises SearchError."""
    fields = {"id_list": wanted["id"], "max_results": "1"}
    request = api_request(ENGINE, "/api/query", fields, Accept="application/atom+xml")
    entries = api.fetch(request, lambda _, answer: EngineAnswer(feed_entries(answer))).value
    if not entries:
        raise SearchError("http", f"arXiv has no paper {wanted['id']}.", "Check the URL.")
    entry = entries[0]
    authors = [tidy(name) for name in re.findall(r"<name>([^<]{1,500})</name>", entry)]
    submitted, updated = (field(entry, name)[:10] for name in ("published", "updated"))
    category = re.search(_CATEGORY, entry)
    facts = facts_line(
        tidy(category[1]) if category else "",
        f"submitted {submitted}" if submitted else "",
        f"updated {updated}" if updated not in ("", submitted) else "",
        field(entry, "arxiv:journal_ref"),
        field(entry, "arxiv:comment"),
        f"doi:{doi}" if (doi := field(entry, "arxiv:doi")) else "",
    )
    pdf = f"PDF: https://arxiv.org/pdf/{wanted['id']}"
    blocks = [", ".join(authors), facts, "## Abstract", field(entry, "summary"), pdf]
    fields = {"title": field(entry, "title"), "author": ", ".join(authors), "published": submitted}
    return PageContent("\n\n".join(block for block in blocks if block), fields)


def field(entry: str, name: str) -> str:
    """Return the text of an entry's first element with this name, on one line."""
    element = re.search(rf"<{name}(?:\s[^<>]{{0,500}})?>([^<]*)</{name}>", entry)
    return tidy(element[1]) if element else ""


def tidy(text: str) -> str:
    """Return decoded XML text on one line."""
    return " ".join(unescape(text).split())
