"""Pages that scripts fill: their text is in their schema.org data or in another version."""

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
