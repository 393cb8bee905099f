"""Reddit's feed of a thread: GET /r/NAME/comments/ID/SLUG/.rss, and X's GET /oembed of a post.

One feed in 30 seconds is allowed. SLUG decides: walled answers 403, limited 429 with a time. The
HTML of a thread is always refused, as to every program.
"""

from __future__ import annotations

from html import escape
from http import HTTPStatus

from .messages import Answer, RecordedRequest, Reply, Route, ServerState, json_reply, route
from .open_sources import is_too_fast

SECONDS = 30.0
WALL = b"<html><body>You've been blocked by network security.</body></html>"
POSTS = (
    ("t3_1abc", "/u/ada", "2026-03-04T10:00:00+00:00", "The wheel squeaks",
     "<p>My <strong>wheel</strong> squeaks.</p>"),
    ("t1_k1", "/u/bo", "2026-03-04T11:20:30+00:00", "/u/bo on The wheel squeaks",
     "<p>Grease it.</p>"),
    ("t1_k2", "/u/cy", "2026-03-05T08:00:00+00:00", "/u/cy on The wheel squeaks",
     "<blockquote>\n<p>Grease it.</p>\n</blockquote>\n\n<p>That helped.</p>"),
)  # fmt: skip


def answer_feed(request: RecordedRequest, state: ServerState) -> Answer:
    """GET .../.rss: the post, then its comments."""
    if "/limited/" in request.target or is_too_fast("reddit", request, state, 1, SECONDS):
        headers = (("retry-after", "40"),)
        return Reply(HTTPStatus.TOO_MANY_REQUESTS, b"Too Many Requests", "text/plain", headers)
    if "/walled/" in request.target:
        return Reply(HTTPStatus.FORBIDDEN, WALL, "text/html")
    entries = "".join(entry(*fields) for fields in POSTS)
    feed = (
        '<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom">'
        '<category term="mills" label="r/mills"/><updated>2026-03-05T09:00:00+00:00</updated>'
        f"<title>The wheel squeaks : mills</title>{entries}</feed>"
    )
    return Reply(HTTPStatus.OK, feed.encode(), "application/atom+xml; charset=UTF-8")


def entry(number: str, author: str, moment: str, title: str, html: str) -> str:
    """An entry of a feed; only the post names its day of publication."""
    below = '&#32; submitted by &#32; <a href="https://www.reddit.com/user/ada"> /u/ada </a>'
    is_post = number.startswith("t3")
    content = f'<!-- SC_OFF --><div class="md">{html}\n</div><!-- SC_ON -->{below * is_post}'
    published = f"<published>{moment}</published>" * is_post
    return (
        f"<entry><author><name>{author}</name><uri>https://www.reddit.com/user/x</uri></author>"
        f'<category term="mills" label="r/mills"/><content type="html">{escape(content)}</content>'
        f'<id>{number}</id><link href="https://www.reddit.com/r/mills/comments/1abc/wheel/"/>'
        f"<updated>{moment}</updated>{published}<title>{title}</title></entry>"
    )


def answer_page(_request: RecordedRequest, _state: ServerState) -> Answer:
    """GET /r/NAME/comments/...: the wall that programs get."""
    return Reply(HTTPStatus.FORBIDDEN, WALL, "text/html")


def answer_embed(request: RecordedRequest, _state: ServerState) -> Answer:
    """GET /oembed?url=...: the post as X's embedded posts have it."""
    fields = dict(request.query_pairs)
    if not fields.get("url", "").startswith("https://x.com/"):
        return Reply(HTTPStatus.NOT_FOUND, b"", "text/plain")
    html = (
        '<blockquote class="twitter-tweet" data-dnt="true"><p lang="en" dir="ltr">The '
        "<b>wheel</b> turns.<br>All day.</p>&mdash; Ada (@ada_mills) "
        f'<a href="{fields["url"]}?ref_src=twsrc%5Etfw">March 4, 2026</a></blockquote>\n'
    )
    return json_reply(
        {
            "url": fields["url"],
            "author_name": "Ada",
            "author_url": "https://x.com/ada_mills",
            "html": html,
            "type": "rich",
            "provider_name": "X",
            "version": "1.0",
        }
    )


ROUTES: tuple[Route, ...] = (
    route(r"/r/\w+/comments/.*/\.rss", ("GET",), answer_feed),
    route(r"/r/\w+/comments/.*", ("GET",), answer_page),
    route("/oembed", ("GET",), answer_embed),
)
