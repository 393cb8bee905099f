"""Read Reddit threads from their Atom feeds: programs without a key get neither page nor API.

A feed has the post and its newest comments with authors and times, but no votes or nesting.
"""

from __future__ import annotations

import re

from websearch.base.untrusted import unescape
from websearch.engines.base.messages import EngineAnswer
from websearch.engines.base.open_sources import api_request, refusal
from websearch.engines.table import host_of
from websearch.kit import SearchError
from websearch.pages.page_content import PageContent
from websearch.pages.sites.arxiv import field
from websearch.pages.sites.site_api import facts_line, post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.kit import Response
    from websearch.pages.sites.site_api import SiteApi

_THREAD = r"((?:/(?:r|user|u)/[\w-]{1,50})?/comments/[a-z0-9]{1,12}(?:/[^/?#]{0,300}){0,2}?)/?"
NOTE = "This is the thread's feed: the post and some comments, without votes or nesting."


def known_page(path: str, query: str) -> dict[str, Any] | None:
    """Return the path of the thread or comment in a URL, or None."""
    thread = re.fullmatch(_THREAD, path)
    return {"path": thread[1]} if thread and not path.endswith(".rss") else None


def read_site_page(api: SiteApi, wanted: dict[str, Any]) -> PageContent:
    """Return a thread's post and comments. Raises SearchError."""
    request = api_request(
        host_of("reddit"), f"{wanted['path']}/.rss", {}, Accept="application/atom+xml"
    )
    entries = api.fetch(request, lambda _, answer: EngineAnswer(feed_entries(answer))).value
    first, *comments = entries
    title, author, day = field(first, "title"), field(first, "name"), field(first, "published")[:10]
    facts = facts_line(f"By {author}", day, f"{len(comments)} comments in the feed")
    blocks = [facts, api.markdown(content(first))]
    for comment in comments:
        moment = field(comment, "updated")[:16].replace("T", " ")
        heading = facts_line(f"Comment by {field(comment, 'name')}", moment)
        blocks.append(post(heading, api.markdown(content(comment))))
    fields = {"title": title, "author": author, "published": day}
    return PageContent("\n\n".join(filter(None, blocks)), fields, NOTE)


def feed_entries(response: Response) -> list[str]:
    """Return the entries of a thread's feed, the post first. Raises SearchError."""
    text = response.text()
    is_feed = "http://www.w3.org/2005/Atom" in text[:2_000]
    if response.status != 200 or not is_feed:
        raise refusal(host_of("reddit"), response)
    entries = re.split(r"<entry(?:\s[^<>]*)?>", text)[1:]
    if not entries:
        raise SearchError("provider", "Reddit's feed has no post.", "Check the URL.")
    return entries


def content(entry: str) -> str:
    """Return a post's or comment's HTML, without the links to itself that the feed adds."""
    found = re.search(r"<content(?:\s[^<>]*)?>([^<]*)</content>", entry)
    html = unescape(found[1]) if found else ""
    own, end, _ = html.partition("<!-- SC_OFF -->")[2].partition("<!-- SC_ON -->")
    return own if end else html
