"""Read a single X post from its oEmbed answer: the page itself is empty without a login."""

from __future__ import annotations

import re

from websearch.base.written_dates import written_dates
from websearch.engines.base.messages import EngineAnswer
from websearch.engines.base.open_sources import api_request, refusal
from websearch.engines.table import host_of
from websearch.kit import SearchError, json_answer
from websearch.pages.page_content import PageContent
from websearch.pages.sites.site_api import facts_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Response
    from websearch.pages.sites.site_api import SiteApi

_POST = r"/(?:i/web|\w{1,20})/status(?:es)?/(\d{1,20})(?:/.{0,100})?"
NOTE = "This is only the post: X shows its thread and replies only after a login."


def known_page(path: str, query: str) -> dict[str, Any] | None:
    """Return the number of the post in a URL, or None."""
    found = re.fullmatch(_POST, path)
    return {"id": found[1]} if found else None


def read_site_page(api: SiteApi, wanted: dict[str, Any]) -> PageContent:
    """Return a post. Raises SearchError."""
    address = f"https://x.com/i/status/{wanted['id']}"
    request = api_request(
        host_of("x"), "/oembed", {"url": address, "omit_script": "1", "dnt": "true"}
    )
    answer = api.fetch(request, lambda _, got: EngineAnswer(good_embed(got))).value
    html, name = answer["html"], answer.get("author_name")
    # A quotation: the post's text, then a dash, its author and its date as a link.
    text, _, line = html.partition(">")[2].rpartition("&mdash;")
    author = name if isinstance(name, str) else ""
    days = written_dates(re.sub(r"<[^<>]*>", " ", line)[-60:], month_first=True)
    handle = re.search(r"\(@\w{1,20}\)", line)
    facts = facts_line(f"By {author} {handle[0] if handle else ''}", *(d.text for d in days[:1]))
    fields = {"title": f"Post by {author}", "author": author, "published": ""}
    fields["published"] = days[0].text if days else ""
    return PageContent(f"{facts}\n\n{api.markdown(text or html)}", fields, NOTE)


def good_embed(response: Response) -> dict[str, Any]:
    """Return the oEmbed answer for a post. Raises SearchError."""
    if response.status != 200:
        raise refusal(host_of("x"), response)
    answer = json_answer(response, "X")
    if not isinstance(answer.get("html"), str):
        raise SearchError("provider", "X's answer has no post (html).", "Try again later.")
    return answer
