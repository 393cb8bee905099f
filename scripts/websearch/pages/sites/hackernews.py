"""Read threads on Hacker News; long threads are cut to the comments with the most replies."""

from __future__ import annotations

import re

from websearch.engines.base.days import day_of_text
from websearch.engines.base.messages import EngineAnswer
from websearch.engines.base.open_sources import api_request, counted, good_answer, text_of_html
from websearch.engines.hackernews import ENGINE, ITEM
from websearch.kit import SearchError, list_field
from websearch.pages.page_content import PageContent
from websearch.pages.sites.site_api import facts_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from websearch.pages.sites.site_api import SiteApi

MOST_COMMENTS = 5_000  # comments per thread; the longest have about 3,000
DEEPEST = 8  # displayed levels of replies; deeper replies are put on the last level
LINE_CHARS = 60  # estimated characters in a comment's heading and markup


class Comment:
    """A comment in a thread. parent: the comment that it answers; None for the story."""

    def __init__(self, item: dict[str, Any], parent: Comment | None) -> None:
        self.author = text_of_html(item.get("author")) or "[deleted]"
        self.day = day_of_text(item.get("created_at"))
        self.html = item["text"] if isinstance(item.get("text"), str) else ""
        points = item.get("points")
        self.points = points if isinstance(points, int) else 0
        self.parent = parent
        self.depth: int = parent.depth + 1 if parent else 0
        self.replies = 0
        self.value = 0.0

    def size(self) -> int:
        """Return the approximate length of the comment as Markdown, in characters."""
        return (
            len(self.html)
            + LINE_CHARS
            + 2 * min(self.depth, DEEPEST) * (3 + self.html.count("<p>"))
        )


def known_page(path: str, query: str) -> dict[str, Any] | None:
    """Return the number of the story or comment in a URL, or None."""
    item = re.fullmatch(r"(?:.{0,200}&)?id=(\d{1,12})(?:&.*)?", query) if path == "/item" else None
    return {"id": item[1]} if item else None


def read_site_page(api: SiteApi, wanted: dict[str, Any]) -> PageContent:
    """Return a story or comment and its replies. Raises SearchError."""
    request = api_request(ENGINE, f"/api/v1/items/{wanted['id']}", {})
    item = api.fetch(request, lambda _, answer: EngineAnswer(good_answer(ENGINE, answer))).value
    if not isinstance(item.get("children"), list):
        raise SearchError("provider", "Hacker News's answer has no thread.", "Try again later.")
    comments = comments_of(item)
    title = text_of_html(item.get("title")) or f"Comment by {text_of_html(item.get('author'))}"
    facts = facts_line(
        f"By {text_of_html(item.get('author'))}",
        counted(item.get("points"), "point"),
        day_of_text(item.get("created_at")),
        counted(len(comments), "comment"),
    )
    url = item.get("url")
    text = item.get("text")
    head = [facts, f"Link: {url}" if isinstance(url, str) and url.startswith("http") else ""]
    head.append(api.markdown(text) if isinstance(text, str) else "")
    head.append(f"Thread: {ITEM}{wanted['id']}")
    opening = "\n\n".join(block for block in head if block)
    shown = chosen_comments(comments, api.budget - len(opening)) if api.budget else comments
    blocks = [opening, *(comment_markdown(api, comment) for comment in shown)]
    left = len(comments) - len(shown)
    note = (
        f"Only {len(shown)} of {len(comments)} comments are shown, preferring those with the most "
        "replies. Pass query to search all of them, or a larger max_chars to see more."
    )
    fields = {
        "title": title,
        "author": text_of_html(item.get("author")),
        "published": day_of_text(item.get("created_at")),
    }
    return PageContent("\n\n".join(blocks), fields, note if left else "", is_cut=left > 0)


def comments_of(item: dict[str, Any]) -> list[Comment]:
    """Return the comments below an item in the order of the thread, with their reply counts."""
    comments: list[Comment] = []
    waiting: list[tuple[Any, Comment | None]] = [(child, None) for child in item["children"][::-1]]
    while waiting and len(comments) < MOST_COMMENTS:
        reply, parent = waiting.pop()
        if not isinstance(reply, dict) or reply.get("type", "comment") != "comment":
            continue
        comment = Comment(reply, parent)
        children = list_field(reply, "children")
        if not comment.html and not children:  # deleted comments without replies
            continue
        comments.append(comment)
        waiting += [(child, comment) for child in children[::-1]]
    for comment in comments[::-1]:
        if comment.parent:
            comment.parent.replies += 1 + comment.replies
    return comments


def chosen_comments(comments: list[Comment], budget: int) -> list[Comment]:
    """Return the best comments that fit into budget characters, in the order of the thread.

    A comment's value depends on its points and replies, halved per deeper level, but is at least
    the value of its best reply. Replies to an omitted comment are also omitted.
    """
    for comment in comments[::-1]:  # replies come before their parents
        worth = (1 + comment.points + comment.replies) / 2 ** min(comment.depth, 60)
        comment.value = max(comment.value, worth)
        if comment.parent:
            comment.parent.value = max(comment.parent.value, comment.value)
    chosen: set[Comment] = set()
    for comment in sorted(comments, key=lambda each: -each.value):  # stable: parents first
        if (comment.parent is None or comment.parent in chosen) and comment.size() <= budget:
            chosen.add(comment)
            budget -= comment.size()
    return [comment for comment in comments if comment in chosen]


def comment_markdown(api: SiteApi, comment: Comment) -> str:
    """Return a comment as a section if it answers the story, else as a nested quotation."""
    text = api.markdown(comment.html)
    if not comment.depth:
        return f"## {facts_line(f'Comment by {comment.author}', comment.day)}\n\n{text}".strip()
    lines = [facts_line(f"**Reply by {comment.author}**", comment.day), "", *text.split("\n")]
    mark = ">" * min(comment.depth, DEEPEST)
    return "\n".join(f"{mark} {line}".rstrip() for line in lines)
