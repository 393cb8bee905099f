"""Pages that scripts fill: what they say lies in them as data, or in another version."""

from __future__ import annotations

import json
from typing import Any

HEAD = "<!DOCTYPE html><html lang=en><head><title>Ferries</title>"
MORNING = (
    "The first ferry of the day leaves the mainland at half past six, and in the months of fog it "
    "waits until the pilot can see the second buoy."
)
EVENING = (
    "The last one comes back after dark, when the lamps of the quay are lit and the nets have been "
    "taken in for the night."
)
NOISE = {
    "footer": {"text": "All rights are reserved by the people who run this page, and by no other."},
    "messages": {"email": "Please enter a valid address in this field and then try to go on."},
    "relatedPosts": [
        {"excerpt": "Another page tells of the bus that meets the ferry at the quay."}
    ],
    "image": "https://cdn.example.org/images/ferry-at-dawn-1920x1080.jpg?width=1920&quality=75",
}


def shell(*scripts: str, head: str = "", body: str = "") -> bytes:
    """A page whose body is empty until a script runs."""
    text = f"{HEAD}{head}</head><body><div id=root></div>{body}{''.join(scripts)}</body></html>"
    return text.encode()


def data_script(data: Any, name: str) -> str:
    text = json.dumps(data).replace("<", "\\u003c")
    return f'<script id="{name}" type="application/json">{text}</script>'


def next_page() -> bytes:
    """Next.js: the content as HTML among the properties of the page."""
    post = {"title": "Ferries to the island", "html": f"<p>{MORNING}</p><h2>Back</h2><p>{EVENING}"}
    return shell(data_script({"props": {"pageProps": {"post": post, **NOISE}}}, "__NEXT_DATA__"))


def rich_text_page() -> bytes:
    """Next.js: the content as rich text, cut into a piece for each change of style."""
    before, _, after = MORNING.partition("half past six")
    pieces: list[dict[str, Any]] = [
        {"type": "text", "text": before},
        {"type": "text", "text": "half past six", "marks": [{"type": "bold"}]},
        {"type": "link", "attrs": {}, "content": [{"type": "text", "text": after}]},
    ]
    content = [
        {"type": "heading", "attrs": {"level": 3}, "content": [{"type": "text", "text": "Out"}]},
        {"type": "paragraph", "content": pieces},
        {"type": "paragraph", "content": [{"type": "text", "text": EVENING}]},
    ]
    return shell(data_script({"doc": {"type": "doc", "content": content}}, "__NEXT_DATA__"))


def payload_page() -> bytes:
    """Next.js: React server payload, whose rows are cut anywhere between the scripts."""
    paragraph = ["$", "p", None, {"children": [MORNING, " ", ["$", "b", None, {"children": "!"}]]}]
    main = ["$", "main", None, {"children": [["$", "h1", None, {"children": "Out"}], "$L2"]}]
    rows = [
        '1:I["831","static/chunks/831.js","Frame"]',
        f"0:{json.dumps(['$', '$L1', None, {'children': main}])}",
        f"2:{json.dumps(['$', 'div', None, {'children': [paragraph, '$3']}])}",
        f"3:T{len(EVENING):x},{EVENING}",
    ]
    payload = "\n".join(rows)
    pushes = [[1, payload[start : start + 90]] for start in range(0, len(payload), 90)]
    scripts = [f"<script>self.__next_f.push({json.dumps(push)})</script>" for push in pushes]
    return shell("<script>(self.__next_f=self.__next_f||[]).push([0])</script>", *scripts)


def nuxt_page() -> bytes:
    """Nuxt 3: a flat list, whose objects hold the places of their values."""
    flat = [["ShallowReactive", 1], {"data": 2}, {"page": 3}, {"title": 4, "body": 5, "self": 3},
            "Ferries to the island", [6, 7], MORNING, EVENING]  # fmt: skip
    return shell(data_script(flat, "__NUXT_DATA__"))


def nuxt_function_page() -> bytes:
    """Nuxt 2: a function that is called with the texts."""
    texts = ",".join(map(json.dumps, (MORNING, EVENING)))
    return shell(
        f"<script>window.__NUXT__=(function(a,b){{return {{x:[a,b]}}}}({texts}));</script>"
    )


def state_page() -> bytes:
    """The state of a store, as JSON within a text."""
    state = json.dumps(json.dumps({"article": {"body": [MORNING, EVENING]}, **NOISE}))
    return shell(f"<script>window.__INITIAL_STATE__ = JSON.parse({state});</script>")


def noscript_page() -> bytes:
    copy = f"<noscript><h1>Ferries</h1><p>{MORNING}<p>{EVENING}</noscript>"
    menu = "<nav>" + "".join(f"<a href=/{one}>Island {one}</a> " for one in range(99)) + "</nav>"
    return shell(body=menu + copy)


def article_body_page() -> bytes:
    data = json.dumps({"@type": "NewsArticle", "articleBody": f"{MORNING} {EVENING}"})
    return shell(f'<script type="application/ld+json">{data}</script>')


def noise_page() -> bytes:
    """Data without content."""
    return shell(data_script({"props": NOISE}, "__NEXT_DATA__"))


MARKDOWN = f"# Ferries to the island\n\n{MORNING}\n\n{EVENING}\n".encode()
PRINT = f"{HEAD}<body><main><p>{MORNING}</p><p>{EVENING}</p></main></body></html>".encode()
HTML = "text/html; charset=utf-8"
# Path below /site/scripts/ -> (body, content type).
PAGES: dict[str, tuple[bytes, str]] = {
    "next": (next_page(), HTML),
    "rich-text": (rich_text_page(), HTML),
    "payload": (payload_page(), HTML),
    "nuxt": (nuxt_page(), HTML),
    "nuxt-function": (nuxt_function_page(), HTML),
    "state": (state_page(), HTML),
    "noscript": (noscript_page(), HTML),
    "article-body": (article_body_page(), HTML),
    "noise": (noise_page(), HTML),
    "ferries.md": (MARKDOWN, "text/markdown"),
    "print": (PRINT, HTML),
    "with-markdown": (
        shell(
            head="<link rel=alternate media=print href=print>"
            "<link rel=alternate type=text/markdown href=/site/scripts/ferries.md>"
        ),
        HTML,
    ),
    "with-print": (shell(head='<link rel="alternate" media="print" href="print">'), HTML),
    "with-private": (
        shell(head="<link rel=alternate type=text/markdown href='http://127.0.0.1:9/x.md'>"),
        HTML,
    ),
    "with-file": (
        shell(head="<link rel=alternate type=text/markdown href='file:///etc/passwd'>"),
        HTML,
    ),
    "with-itself": (shell(head="<link rel=alternate type=text/markdown href=with-itself>"), HTML),
}
